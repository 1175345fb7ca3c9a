#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks double up to a bound: a 20-line policy touches one block, a large one few. */
enum { FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 1024 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    max_align_t data[];
};

static void out_of_memory(struct arena *a)
{
    if (a->oom)
        a->oom(a->oom_ctx);
    abort();
}

void arena_init(struct arena *a, void (*oom)(void *ctx), void *oom_ctx)
{
    *a = (struct arena){.oom = oom, .oom_ctx = oom_ctx};
}

void arena_done(struct arena *a)
{
    while (a->head) {
        struct arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
}

static struct arena_block *new_block(struct arena *a, size_t need)
{
    size_t size = a->head ? a->head->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < need)
        size = need;
    if (size > SIZE_MAX - sizeof(struct arena_block))
        out_of_memory(a);
    struct arena_block *b = calloc(1, sizeof *b + size);
    if (!b)
        out_of_memory(a);
    *b = (struct arena_block){.next = a->head, .size = size};
    a->head = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    const size_t align = sizeof(max_align_t);
    if (size > SIZE_MAX - align)
        out_of_memory(a);
    size = size ? (size + align - 1) / align * align : align;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < size)
        b = new_block(a, size);
    void *p = (char *)b->data + b->used;
    b->used += size;
    return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        out_of_memory(a);
    return arena_alloc(a, bytes);
}

void *arena_grow(struct arena *a, void *old, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return old;
    size_t cap2 = *cap ? *cap * 2 : 8;
    if (cap2 < need)
        cap2 = need;
    void *p = arena_array(a, cap2, size);
    if (old)
        memcpy(p, old, *cap * size);
    *cap = cap2;
    return p;
}

char *arena_strn(struct arena *a, const char *s, size_t len)
{
    if (len == SIZE_MAX)
        out_of_memory(a);
    char *p = arena_alloc(a, len + 1);
    if (len)
        memcpy(p, s, len);
    return p;
}

char *arena_str(struct arena *a, const char *s)
{
    return arena_strn(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        out_of_memory(a);
    char *p = arena_alloc(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}
