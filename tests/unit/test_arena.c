/* LINK: src/arena.c -Wl,--wrap=calloc -Wl,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"

/* The n-th calloc or realloc from now on fails; 0: none does. */
static unsigned fail_at;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
    if (fail_at && --fail_at == 0)
        return NULL;
    return __real_realloc(p, size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    if (fail_at && --fail_at == 0)
        return NULL;
    return __real_calloc(n, size);
}

static jmp_buf out_of_memory;
static unsigned oom_calls;

static void jump(void *ctx)
{
    ++*(unsigned *)ctx;
    longjmp(out_of_memory, 1);
}

/* Did the work take the path of no memory? All that it made is freed either way. */
static bool runs_out(void (*work)(struct arena *a, const size_t *arg), const size_t *arg)
{
    struct arena a;
    oom_calls = 0;
    arena_init(&a, jump, &oom_calls);
    if (!setjmp(out_of_memory))
        work(&a, arg);
    arena_done(&a);
    assert_in_range(oom_calls, 0, 1);
    return oom_calls == 1;
}

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    char *last = NULL;
    size_t last_size = 0;
    /* Sizes around the block sizes as well: the first block is 16 KiB, from 64 KiB on each has its own. */
    static const size_t sizes[] = {0,     1,     7,     16,      17, 4096, 16383, 16384,
                                   16385, 65535, 65536, 3u << 20, 0,  1,    65537, 40000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = arena_alloc(&a, sizes[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(p[j], 0);
        memset(p, 0xAA, sizes[i]);
        assert_true(!last || p >= last + last_size || p + sizes[i] <= last);
        assert_ptr_not_equal(p, last);
        last = p;
        last_size = sizes[i];
    }
    arena_done(&a);
    assert_null(a.head);
    assert_null(a.large);
}

/* Three arrays that grow side by side, so that blocks move while others stand before and behind them. */
static void growing_keeps_what_was_there(void **state)
{
    (void)state;
    enum { LISTS = 3, N = 200000 };
    struct arena a;
    arena_init(&a, NULL, NULL);
    uint32_t *list[LISTS] = {NULL};
    size_t cap[LISTS] = {0};
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < LISTS; k++) {
            list[k] = arena_grow(&a, list[k], &cap[k], i + 1, sizeof **list);
            list[k][i] = i * LISTS + k;
        }
    for (uint32_t k = 0; k < LISTS; k++) {
        assert_true(cap[k] >= N);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(list[k][i], i * LISTS + k);
        /* Enough room: the same array. */
        assert_ptr_equal(arena_grow(&a, list[k], &cap[k], cap[k], sizeof **list), list[k]);
    }
    /* And back: to a large block, to a small one that then grows as small ones do, to nothing. */
    static const size_t kept[LISTS] = {N / 2, 7, 0};
    for (size_t k = 0; k < LISTS; k++) {
        list[k] = arena_shrink(&a, list[k], &cap[k], kept[k], sizeof **list);
        assert_int_equal(cap[k], kept[k]);
        list[k] = arena_grow(&a, list[k], &cap[k], kept[k] + 1, sizeof **list);
        for (uint32_t i = 0; i < kept[k]; i++)
            assert_int_equal(list[k][i], i * LISTS + k);
    }
    arena_done(&a);
}

static void strings_keep_every_byte(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    const char raw[] = "a\0b\xff";
    char *copy = arena_strn(&a, raw, 4);
    assert_memory_equal(copy, raw, 5);
    assert_string_equal(arena_str(&a, ""), "");
    assert_string_equal(arena_strn(&a, NULL, 0), "");
    assert_string_equal(arena_printf(&a, "%s-%d", "x", 42), "x-42");
    assert_memory_equal(arena_join(&a, "/x", "y\0z", 3), "/xy\0z", 6);
    assert_string_equal(arena_join(&a, "", NULL, 0), "");
    /* Strings stand anywhere; what follows them is aligned all the same. */
    assert_int_equal((uintptr_t)arena_alloc(&a, 8) % _Alignof(max_align_t), 0);
    char *longest = arena_printf(&a, "%0*d", 100000, 7);
    assert_int_equal(strlen(longest), 100000);
    arena_done(&a);
}

static void ask_array(struct arena *a, const size_t *arg)
{
    arena_array(a, arg[0], arg[1]);
}

static void ask_string(struct arena *a, const size_t *arg)
{
    arena_strn(a, "", arg[0]);
}

/* A size that overflows is "out of memory", never a small block. */
static void overflow_takes_the_oom_path(void **state)
{
    (void)state;
    static const size_t asked[][2] = {
        {SIZE_MAX, 2}, {SIZE_MAX / 2, 3},  {SIZE_MAX / 8 + 1, 8}, {SIZE_MAX - 1, SIZE_MAX},
        {SIZE_MAX, 1}, {SIZE_MAX - 16, 1}, {SIZE_MAX - 32, 1},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        assert_true(runs_out(ask_array, asked[i]));
    assert_true(runs_out(ask_string, &(size_t){SIZE_MAX}));
    assert_false(runs_out(ask_array, (const size_t[]){1000, 8}));
}

/* Work that needs several blocks. */
static void work(struct arena *a, const size_t *arg)
{
    (void)arg;
    size_t cap = 0;
    char **list = NULL;
    for (size_t i = 0; i < 20000; i++) {
        list = arena_grow(a, list, &cap, i + 1, sizeof *list);
        list[i] = arena_printf(a, "string %zu", i);
    }
    assert_string_equal(list[19999], "string 19999");
}

/* Each allocation fails once; the leak checker of the san build watches. */
static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    unsigned n = 0;
    do
        fail_at = ++n;
    while (n < 100 && runs_out(work, NULL));
    fail_at = 0;
    assert_in_range(n, 3, 99); /* several failed, and one run went through */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart), cmocka_unit_test(growing_keeps_what_was_there),
        cmocka_unit_test(strings_keep_every_byte),            cmocka_unit_test(overflow_takes_the_oom_path),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
