#include "quote.h"

#include <string.h>

/* Bytes of the UTF-8 sequence at s, 0 if it is none: overlong forms, surrogates and code points above
 * U+10FFFF are refused (RFC 3629, table of section 4). */
static size_t utf8_len(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || left < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] > 0x9f;
    bool too_large = s[0] == 0xf4 && s[1] > 0x8f;
    return overlong || surrogate || too_large ? 0 : n;
}

/* How many bytes at the start are ASCII: nearly always all of them. At most seven fewer than there are. */
static size_t ascii_prefix(const char *s, size_t len)
{
    size_t i = 0;
    for (uint64_t x; len - i >= sizeof x; i += sizeof x) {
        memcpy(&x, s + i, sizeof x);
        if (x & UINT64_C(0x8080808080808080))
            break;
    }
    return i;
}

static bool is_plain_text(const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)s[i];
        size_t n = utf8_len((const unsigned char *)s + i, len - i);
        if (!n || c < 0x20 || c == 0x7f)
            return false;
        i += n;
    }
    return true;
}

bool quote_scheme(struct buf *out, const char *s, size_t len)
{
    if (!is_plain_text(s, len))
        return false;
    buf_byte(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '"' || s[i] == '\\')
            buf_byte(out, '\\');
        buf_byte(out, (unsigned char)s[i]);
    }
    buf_byte(out, '"');
    return true;
}

bool quote_is_utf8(const char *s, size_t len)
{
    for (size_t i = ascii_prefix(s, len), n; i < len; i += n) {
        n = utf8_len((const unsigned char *)s + i, len - i);
        if (!n)
            return false;
    }
    return true;
}

bool quote_csv_field(struct buf *out, const char *s, size_t len)
{
    const char *cr = memchr(s, '\r', len);
    bool special = cr || memchr(s, ',', len) || memchr(s, '"', len) || memchr(s, '\n', len);
    if (!quote_is_utf8(s, len) || (cr && memmem(s, len, "\r\n", 2)))
        return false;
    if (!special) {
        buf_put(out, s, len);
        return true;
    }
    buf_byte(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '"')
            buf_byte(out, '"');
        buf_byte(out, (unsigned char)s[i]);
    }
    buf_byte(out, '"');
    return true;
}
