#include "buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_done(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}

bool buf_ok(const struct buf *b)
{
    return !b->failed;
}

/* Room for `more` bytes behind len, and one for a NUL that data[len] always holds. */
static bool reserve(struct buf *b, size_t more)
{
    if (b->failed)
        return false;
    if (more >= SIZE_MAX / 2 - b->len) {
        b->failed = true;
        return false;
    }
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap * 2 : 512;
    if (cap < need)
        cap = need;
    char *p = realloc(b->data, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

void buf_put(struct buf *b, const void *data, size_t len)
{
    if (!reserve(b, len))
        return;
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
    buf_put(b, s, strlen(s));
}

void buf_byte(struct buf *b, unsigned char c)
{
    buf_put(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
        return;
    }
    if (!reserve(b, (size_t)n))
        return;
    va_start(ap, fmt);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

static void little_endian(struct buf *b, uint64_t v, size_t bytes)
{
    unsigned char out[8];
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(v >> (8 * i));
    buf_put(b, out, bytes);
}

void buf_u16(struct buf *b, uint16_t v)
{
    little_endian(b, v, 2);
}

void buf_u32(struct buf *b, uint32_t v)
{
    little_endian(b, v, 4);
}

void buf_u64(struct buf *b, uint64_t v)
{
    little_endian(b, v, 8);
}

void buf_align(struct buf *b, size_t align)
{
    while (!b->failed && b->len % align)
        buf_byte(b, 0);
}
