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

static bool enlarge(struct buf *b, size_t more)
{
    if (b->failed)
        return false;
    if (more >= SIZE_MAX / 2 - b->len) {
        b->failed = true;
        return false;
    }
    size_t need = b->len + more + 1;
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

/* Room for `more` bytes behind len, and one for a NUL that data[len] always holds. */
static bool reserve(struct buf *b, size_t more)
{
    return (!b->failed && more < b->cap - b->len) || enlarge(b, more);
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
    if (!reserve(b, 1))
        return;
    b->data[b->len++] = (char)c;
    b->data[b->len] = '\0';
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t room = b->failed ? 0 : b->cap - b->len;
    int n = vsnprintf(room ? b->data + b->len : NULL, room, fmt, ap);
    va_end(ap);
    if (n < 0)
        b->failed = true;
    else if ((size_t)n >= room && reserve(b, (size_t)n))
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
    va_end(again);
    if (!b->failed)
        b->len += (size_t)n;
}

static void little_endian(struct buf *b, uint64_t v, size_t bytes)
{
    if (!reserve(b, bytes))
        return;
    for (size_t i = 0; i < bytes; i++)
        b->data[b->len++] = (char)(unsigned char)(v >> (8 * i));
    b->data[b->len] = '\0';
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
