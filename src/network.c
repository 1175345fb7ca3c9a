#include "network.h"

#include <arpa/inet.h>
#include <idn2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LABEL = 63, MAX_NAME = 253 }; /* RFC 1035, without the root's empty label */

/* One entry while it is read. */
struct entry {
    struct arena *arena;
    const char *text;
    size_t len;
    struct ir_endpoint *out;
    size_t *at;
    const char **hint;
};

/* Everything that complains ends with this, so that place and words stand together. */
static const char *wrong(struct entry *e, size_t at, const char *hint, const char *why)
{
    *e->at = at;
    *e->hint = hint;
    return why;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A number of at most `max`, in decimal and without a leading zero. */
static bool number(const char *text, size_t len, unsigned max, unsigned *out)
{
    unsigned v = 0;
    if (!len || len > 5 || (len > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(text[i]))
            return false;
        v = v * 10 + (unsigned)(text[i] - '0');
    }
    *out = v;
    return v <= max;
}

bool network_port(const char *text, size_t len, uint16_t *out)
{
    unsigned v;
    if (!number(text, len, 65535, &v) || !v)
        return false;
    *out = (uint16_t)v;
    return true;
}

/* ---- Addresses ----------------------------------------------------------------------------------------- */

/* inet_pton(3) for a text without a NUL at its end. */
static bool address(int family, const char *text, size_t len, uint8_t out[16])
{
    char copy[INET6_ADDRSTRLEN];
    if (len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    memset(out, 0, 16);
    return inet_pton(family, copy, out) == 1;
}

/* The address and, if not all bits count, its prefix; an IPv6 address in brackets. */
static const char *address_text(struct arena *a, int family, const uint8_t *bytes, unsigned prefix)
{
    char text[INET6_ADDRSTRLEN], bits[16] = "";
    inet_ntop(family, bytes, text, sizeof text);
    if (prefix < (family == AF_INET ? 32 : 128))
        snprintf(bits, sizeof bits, "/%u", prefix);
    return arena_printf(a, family == AF_INET ? "%s%s" : "[%s%s]", text, bits);
}

static void clear_beyond(uint8_t bytes[16], unsigned prefix)
{
    for (unsigned i = prefix / 8; i < 16; i++)
        bytes[i] &= (uint8_t)(i == prefix / 8 ? 0xff00 >> prefix % 8 : 0);
}

/* The hint to write another host before text[rest..]. */
static const char *instead(struct entry *e, size_t rest, const char *host)
{
    return arena_printf(e->arena, "write %s%.*s", host, (int)(e->len - rest), e->text + rest);
}

/* Fills in the address at text[start..slash) and its prefix behind the slash up to `end`; `rest` is behind
 * all of the host. */
static const char *read_address(struct entry *e, int family, size_t start, size_t slash, size_t end,
                                size_t rest)
{
    unsigned all = family == AF_INET ? 32 : 128, prefix = all;
    struct ir_endpoint *out = e->out;
    if (slash < end && !number(e->text + slash + 1, end - slash - 1, all, &prefix))
        return wrong(e, slash + 1 < end ? slash + 1 : slash, NULL,
                     family == AF_INET ? "the bits of a network are a number from 0 to 32"
                                       : "the bits of a network are a number from 0 to 128");
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (family == AF_INET6 && prefix >= 96 && !memcmp(out->address, mapped, sizeof mapped)) {
        const char *v4 = address_text(e->arena, AF_INET, out->address + 12, prefix - 96);
        return wrong(e, start, instead(e, rest, v4), "it is an IPv4 address, and reached as one");
    }
    uint8_t given[16];
    memcpy(given, out->address, sizeof given);
    clear_beyond(out->address, prefix);
    if (memcmp(given, out->address, sizeof given) != 0) {
        const char *right = address_text(e->arena, family, out->address, prefix);
        return wrong(e, start, instead(e, rest, right), "its address has bits behind those of the network");
    }
    out->kind = IR_ADDRESS;
    out->family = family == AF_INET ? 4 : 6;
    out->prefix = (uint8_t)prefix;
    return NULL;
}

/* What stands in brackets, text[1..end). */
static const char *read_brackets(struct entry *e, size_t end)
{
    const char *inner = e->text + 1;
    const char *zone = memchr(inner, '%', end - 1), *slash = memchr(inner, '/', end - 1);
    size_t stop = slash ? (size_t)(slash - e->text) : end;
    if (zone)
        return wrong(e, (size_t)(zone - e->text), NULL, "a zone is of one machine and cannot be declared");
    if (address(AF_INET6, inner, stop - 1, e->out->address))
        return read_address(e, AF_INET6, 1, stop, end, end + 1);
    if (address(AF_INET, inner, stop - 1, e->out->address))
        return wrong(e, 0, instead(e, end + 1, arena_strn(e->arena, inner, end - 1)),
                     "only an IPv6 address stands in brackets");
    return wrong(e, 1, NULL, "what stands in brackets is no IPv6 address");
}

/* ---- Names --------------------------------------------------------------------------------------------- */

/* WHATWG URL, "ends in a number": inet_aton(3) and the resolver take such a name for an address, as `127.1`.
 */
static bool is_number(const char *label, size_t len)
{
    if (len >= 2 && label[0] == '0' && label[1] == 'x')
        return strspn(label + 2, "0123456789abcdef") >= len - 2;
    return strspn(label, "0123456789") >= len;
}

/* Checks a name in lower case, without a final dot. out_offset is that of what is wrong. */
static const char *name_problem(const char *name, size_t *out_offset)
{
    size_t len = strlen(name), start = 0, n;
    for (;; start += n + 1) {
        n = strcspn(name + start, ".");
        *out_offset = start;
        if (!n)
            return "a label of the name is empty";
        if (n > MAX_LABEL)
            return "a label of the name is longer than 63 bytes";
        if (name[start] == '-' || name[start + n - 1] == '-')
            return "a label of a name neither begins nor ends with `-`";
        for (size_t i = start; i < start + n; i++)
            if (!is_alnum(name[i]) && name[i] != '-')
                return "its name in ASCII would hold more than letters, digits and `-`";
        if (!name[start + n])
            break;
    }
    if (is_number(name + start, n))
        return "a name does not end in a number, and it is no IPv4 address of four decimal numbers";
    *out_offset = 0;
    return len > MAX_NAME ? "the name is longer than 253 bytes" : NULL;
}

/* The name in ASCII, or NULL and what is wrong. IDN2_USE_STD3_ASCII_RULES is no help: libidn2 2.3 drops the
 * characters that they forbid, so that `ü*.example` passes as `ü.example`. */
static char *to_ascii(struct arena *a, const char *name, const char **out_why)
{
    uint8_t *ascii = NULL;
    int rc = idn2_lookup_u8((const uint8_t *)name, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (rc != IDN2_OK) {
        *out_why = arena_printf(a, "it has no form in ASCII: %s", idn2_strerror(rc));
        return NULL;
    }
    char *copy = arena_str(a, (const char *)ascii);
    idn2_free(ascii);
    return copy;
}

static const char *stray_byte(struct entry *e, size_t start, size_t at, size_t end)
{
    if (e->text[at] != '*')
        return wrong(e, at, NULL, "a name is of letters, digits, `-` and dots");
    if (at == start && end - at > 2 && e->text[at + 1] == '.')
        return wrong(e, at, arena_printf(e->arena, "write %.*s", (int)(e->len - at - 1), e->text + at + 1),
                     "a domain with all names beneath it is written without the `*`");
    if (end - start == 1)
        return wrong(e, at, "write `network open`, or 0.0.0.0/0:PORT and [::/0]:PORT", "`*` is no host");
    return wrong(e, at, "a domain with all names beneath it is written .example.com:443",
                 "a name holds no pattern");
}

static const char *read_name(struct entry *e, size_t start, size_t end)
{
    size_t wide = end; /* the first byte that is no ASCII */
    for (size_t i = end; i-- > start;)
        if ((unsigned char)e->text[i] >= 0x80)
            wide = i;
    for (size_t i = start; i < end; i++)
        if ((unsigned char)e->text[i] < 0x80 && !is_alnum(e->text[i]) && !strchr("-.", e->text[i]))
            return stray_byte(e, start, i, end);
    if (end - start > 4 * MAX_NAME) /* of UTF-8; libidn2 shall not have to read megabytes */
        return wrong(e, start, NULL, "the name is too long");
    const char *why = NULL;
    char *name = arena_strn(e->arena, e->text + start, end - start);
    if (wide < end && !(name = to_ascii(e->arena, name, &why)))
        return wrong(e, wide, NULL, why);
    size_t len = strlen(name), offset;
    if (len && name[len - 1] == '.')
        name[len - 1] = '\0';
    for (char *c = name; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
    why = name_problem(name, &offset);
    if (why)
        return wrong(e, wide < end ? wide : start + offset, NULL, why);
    e->out->host = name;
    return NULL;
}

/* ---- Entries ------------------------------------------------------------------------------------------- */

/* The host that ends before text[end]. */
static const char *read_host(struct entry *e, size_t end)
{
    const char *slash = memchr(e->text, '/', end);
    size_t stop = slash ? (size_t)(slash - e->text) : end;
    if (!end)
        return wrong(e, 0, NULL, "the host is missing");
    if (address(AF_INET, e->text, stop, e->out->address))
        return read_address(e, AF_INET, 0, stop, end, end);
    memset(e->out->address, 0, sizeof e->out->address);
    e->out->kind = e->text[0] == '.' ? IR_SUFFIX : IR_HOST;
    const char *why = read_name(e, e->text[0] == '.', stop);
    if (!why && slash)
        return wrong(e, stop, NULL, "only an address has bits behind a slash");
    return why;
}

static const char *read_port(struct entry *e, size_t at)
{
    if (at == e->len)
        return wrong(e, at,
                     arena_printf(e->arena, "write %.*s:443, or %.*s:* for every port", (int)at, e->text,
                                  (int)at, e->text),
                     "its port is missing");
    if (e->text[at] != ':')
        return wrong(e, at, NULL, "a colon and the port are expected here");
    const char *port = e->text + at + 1;
    size_t len = e->len - at - 1, digits = 0;
    if (len == 1 && *port == '*')
        return NULL;
    if (network_port(port, len, &e->out->port))
        return NULL;
    while (digits < len && is_digit(port[digits]))
        digits++;
    if (!len)
        return wrong(e, e->len, "write the port, or `*` for every port", "its port is missing");
    if (digits == len)
        return wrong(e, at + 1, NULL,
                     *port == '0' && len > 1 ? "a port does not begin with 0" : "a port is from 1 to 65535");
    if (digits && strchr("-,", port[digits]))
        return wrong(e, at + 1 + digits, "write an entry for each port, or `*` for every port",
                     "a port is one number");
    return wrong(e, at + 1 + digits + (*port == '*'), NULL, "a port is a number from 1 to 65535, or `*`");
}

/* An IPv6 address without brackets, perhaps with bits or a port behind it? */
static bool is_bare_ipv6(const char *text, size_t len)
{
    uint8_t bytes[16];
    size_t stop = 0, last = len;
    while (stop < len && text[stop] != '/' && text[stop] != '%')
        stop++;
    while (last > 0 && text[last - 1] != ':')
        last--;
    return address(AF_INET6, text, stop, bytes) || (last && address(AF_INET6, text, last - 1, bytes));
}

static const char *read_entry(struct entry *e)
{
    if (!e->len)
        return wrong(e, 0, NULL, "it is empty");
    for (size_t i = 0; i < e->len; i++)
        if ((unsigned char)e->text[i] <= ' ' || e->text[i] == 0x7f)
            return wrong(e, i, NULL, "it holds a blank or a control byte");
    if (memmem(e->text, e->len, "://", 3))
        return wrong(e, 0, "write the host and the port alone, as in example.com:443", "an entry is no URL");
    if (is_bare_ipv6(e->text, e->len))
        return wrong(e, 0, "write [ADDRESS]:PORT or [ADDRESS/BITS]:PORT",
                     "an IPv6 address stands in brackets");
    size_t end;
    const char *why;
    if (e->text[0] == '[') {
        const char *close = memchr(e->text, ']', e->len);
        if (!close)
            return wrong(e, 0, NULL, "its bracket is not closed");
        end = (size_t)(close - e->text);
        why = read_brackets(e, end++);
        if (!why && end < e->len && e->text[end] == '/')
            return wrong(e, end, "write [ADDRESS/BITS]:PORT", "the bits stand within the brackets");
    } else {
        const char *colon = memchr(e->text, ':', e->len);
        end = colon ? (size_t)(colon - e->text) : e->len;
        why = read_host(e, end);
    }
    return why ? why : read_port(e, end);
}

const char *network_entry(struct arena *a, const char *text, size_t len, struct ir_endpoint *out,
                          size_t *out_at, const char **out_hint)
{
    struct ir_endpoint endpoint = {.host = NULL};
    struct entry e = {.arena = a, .text = text, .len = len, .out = &endpoint, .at = out_at, .hint = out_hint};
    const char *why = read_entry(&e);
    if (!why)
        *out = endpoint;
    return why;
}

const char *network_text(struct arena *a, const struct ir_endpoint *e)
{
    char port[8] = "*";
    if (e->port)
        snprintf(port, sizeof port, "%u", (unsigned)e->port);
    if (e->kind == IR_ADDRESS) {
        const char *host = address_text(a, e->family == 4 ? AF_INET : AF_INET6, e->address, e->prefix);
        return arena_printf(a, "%s:%s", host, port);
    }
    return arena_printf(a, "%s%s:%s", e->kind == IR_SUFFIX ? "." : "", e->host, port);
}

/* ---- Order and meaning --------------------------------------------------------------------------------- */

/* From the last byte to the first, the dot below every other: all names beneath a domain follow on it. */
static int cmp_names(const char *a, const char *b)
{
    size_t i = strlen(a), k = strlen(b);
    while (i && k && a[i - 1] == b[k - 1])
        i--, k--;
    int left = !i ? -1 : a[i - 1] == '.' ? 0 : (unsigned char)a[i - 1];
    int right = !k ? -1 : b[k - 1] == '.' ? 0 : (unsigned char)b[k - 1];
    return left - right;
}

/* What holds others comes before them, and nothing else between: network_normalise() relies on it. */
int network_cmp(const struct ir_endpoint *a, const struct ir_endpoint *b)
{
    int c = (a->kind == IR_ADDRESS) - (b->kind == IR_ADDRESS);
    if (!c && a->kind == IR_ADDRESS) {
        c = a->family - b->family;
        c = c ? c : memcmp(a->address, b->address, sizeof a->address);
        c = c ? c : a->prefix - b->prefix;
    } else if (!c) {
        c = cmp_names(a->host, b->host);
        c = c ? c : a->kind - b->kind; /* IR_HOST first: it is not within the IR_SUFFIX of its name */
    }
    return c ? c : a->port - b->port;
}

static bool place_within(const struct ir_endpoint *e, const struct ir_endpoint *cap)
{
    if ((e->kind == IR_ADDRESS) != (cap->kind == IR_ADDRESS))
        return false;
    if (e->kind == IR_ADDRESS) {
        uint8_t network[16];
        memcpy(network, e->address, sizeof network);
        clear_beyond(network, cap->prefix);
        return e->family == cap->family && e->prefix >= cap->prefix &&
               !memcmp(network, cap->address, sizeof network);
    }
    if (e->kind == cap->kind && !strcmp(e->host, cap->host))
        return true;
    size_t len = strlen(e->host), tail = strlen(cap->host);
    return cap->kind == IR_SUFFIX && len > tail && e->host[len - tail - 1] == '.' &&
           !strcmp(e->host + len - tail, cap->host);
}

bool network_within(const struct ir_endpoint *e, const struct ir_endpoint *cap)
{
    return (!cap->port || cap->port == e->port) && place_within(e, cap);
}

bool network_meet(const struct ir_endpoint *a, const struct ir_endpoint *b, struct ir_endpoint *out)
{
    if (a->port && b->port && a->port != b->port)
        return false;
    if (!place_within(a, b) && !place_within(b, a))
        return false;
    struct ir_endpoint both = place_within(a, b) ? *a : *b;
    both.port = a->port ? a->port : b->port;
    both.span = a->span;
    *out = both;
    return true;
}

bool network_mode_within(enum ir_network_mode mode, enum ir_network_mode cap)
{
    return mode == cap || mode == IR_NETWORK_NONE || cap == IR_NETWORK_OPEN ||
           (mode == IR_NETWORK_LOOPBACK && cap == IR_NETWORK_LOOPBACK_HOST);
}

static int cmp_with_spans(const void *left, const void *right)
{
    const struct ir_endpoint *a = left, *b = right;
    int c = network_cmp(a, b);
    if (!c && a->span.src && b->span.src && a->span.src != b->span.src)
        c = strcmp(a->span.src->name, b->span.src->name);
    return c ? c : (a->span.start > b->span.start) - (a->span.start < b->span.start);
}

/* Entries of one place with several ports, items[first..first + n), which hold the places that follow. */
struct level {
    size_t first, n;
};

static bool level_has(const struct ir_endpoint *items, struct level l, uint16_t port)
{
    if (!items[l.first].port)
        return true;
    size_t low = l.first, high = l.first + l.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].port == port)
            return true;
        if (items[middle].port < port)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

size_t network_normalise(struct ir_endpoint *items, size_t n)
{
    struct level
        levels[130]; /* one for each label of a name or bit of an address, nested, and the place itself */
    size_t depth = 0, kept = 0;
    if (n)
        qsort(items, n, sizeof *items, cmp_with_spans);
    for (size_t i = 0; i < n; i++) {
        struct ir_endpoint e = items[i];
        while (depth && !place_within(&e, &items[levels[depth - 1].first]))
            depth--;
        bool within = false;
        for (size_t k = 0; k < depth && !within; k++)
            within = level_has(items, levels[k], e.port);
        if (within)
            continue;
        if (depth && place_within(&items[levels[depth - 1].first], &e))
            levels[depth - 1].n++;
        else
            levels[depth++] = (struct level){kept, 1};
        items[kept++] = e;
    }
    return kept;
}
