#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks double up to a bound: a 20-line policy touches one block, a large one few. What is as large as LARGE
 * has a block of its own, which can grow where it is (realloc of such sizes moves pages, not bytes). */
enum { FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 1024 * 1024, LARGE = 64 * 1024 };

struct arena_block {
    struct arena_block *next, *previous;
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

static void free_list(struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
}

void arena_done(struct arena *a)
{
    free_list(a->head);
    free_list(a->large);
    a->head = a->large = NULL;
}

static void insert(struct arena_block **list, struct arena_block *b)
{
    b->next = *list;
    if (b->next)
        b->next->previous = b;
    *list = b;
}

static struct arena_block *new_block(struct arena *a, struct arena_block **list, size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(struct arena_block))
        out_of_memory(a);
    struct arena_block *b = calloc(1, sizeof *b + size);
    if (!b)
        out_of_memory(a);
    b->size = size;
    insert(list, b);
    return b;
}

static struct arena_block *block_with(struct arena *a, size_t need)
{
    struct arena_block *b = a->head;
    if (b && b->size - b->used >= need)
        return b;
    size_t size = b ? b->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    return new_block(a, &a->head, size < need ? need : size);
}

static void *take(struct arena *a, size_t size, size_t align)
{
    if (size >= LARGE) {
        struct arena_block *own = new_block(a, &a->large, size);
        own->used = size;
        return own->data;
    }
    struct arena_block *b = block_with(a, (size ? size : 1) + align - 1);
    b->used = (b->used + align - 1) & ~(align - 1);
    void *p = (char *)b->data + b->used;
    b->used += size ? size : 1;
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    return take(a, size, sizeof(max_align_t));
}

static size_t array_bytes(struct arena *a, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        out_of_memory(a);
    return bytes;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    return arena_alloc(a, array_bytes(a, n, size));
}

/* `old` is the data of a block of its own. */
static void *regrow(struct arena *a, void *old, size_t bytes)
{
    if (bytes > PTRDIFF_MAX - sizeof(struct arena_block))
        out_of_memory(a);
    struct arena_block *b = (void *)((char *)old - offsetof(struct arena_block, data));
    struct arena_block *moved = realloc(b, sizeof *b + bytes);
    if (!moved)
        out_of_memory(a);
    moved->used = moved->size = bytes;
    if (moved->next)
        moved->next->previous = moved;
    if (moved->previous)
        moved->previous->next = moved;
    else
        a->large = moved;
    return moved->data;
}

void *arena_grow(struct arena *a, void *old, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return old;
    size_t cap2 = *cap ? *cap * 2 : 8;
    if (cap2 < need)
        cap2 = need;
    size_t had = *cap * size, bytes = array_bytes(a, cap2, size);
    void *p;
    if (old && had >= LARGE) {
        p = regrow(a, old, bytes);
    } else {
        p = arena_alloc(a, bytes);
        if (old)
            memcpy(p, old, had);
    }
    *cap = cap2;
    return p;
}

void *arena_shrink(struct arena *a, void *old, size_t *cap, size_t n, size_t size)
{
    if (n >= *cap || *cap * size < LARGE)
        return old;
    *cap = n;
    return regrow(a, old, n * size);
}

char *arena_strn(struct arena *a, const char *s, size_t len)
{
    if (len == SIZE_MAX)
        out_of_memory(a);
    char *p = take(a, len + 1, 1);
    if (len)
        memcpy(p, s, len);
    p[len] = '\0';
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
    char *p = take(a, (size_t)n + 1, 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

char *arena_join(struct arena *a, const char *s, const char *t, size_t len)
{
    size_t n = strlen(s);
    if (len > SIZE_MAX - 1 - n)
        out_of_memory(a);
    char *p = take(a, n + len + 1, 1);
    memcpy(p, s, n);
    if (len)
        memcpy(p + n, t, len);
    p[n + len] = '\0';
    return p;
}

void *arena_append(struct arena *a, void *items, size_t *n, size_t *cap, const void *more, size_t m,
                   size_t size)
{
    if (!m)
        return items;
    if (m > SIZE_MAX - *n)
        out_of_memory(a);
    items = arena_grow(a, items, cap, *n + m, size);
    memcpy((char *)items + *n * size, more, m * size);
    *n += m;
    return items;
}

void *arena_concat(struct arena *a, const void *x, size_t n, const void *y, size_t m, size_t size)
{
    char *both = arena_array(a, n + m, size);
    if (n)
        memcpy(both, x, n * size);
    if (m)
        memcpy(both + n * size, y, m * size);
    return both;
}
