/* LINK: src/sort.c -Wl,--wrap=malloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sort.h"

static bool no_memory;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

struct item {
    uint32_t key, id;
    char rest[12];
};

static size_t compared;

static int by_key(const void *x, const void *y)
{
    const struct item *a = x, *b = y;
    compared++;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

enum { N = 3000 };
static struct item list[N], expected[N];

static uint32_t next_random(uint32_t *x)
{
    return (*x = *x * 1664525 + 1013904223) >> 8;
}

/* `runs` sorted stretches of random length one after the other. */
static void fill(size_t n, size_t runs, uint32_t seed)
{
    uint32_t x = seed, key = 0;
    size_t left = runs;
    for (size_t i = 0; i < n; i++) {
        if (left && next_random(&x) % (n / runs + 1) == 0) {
            left--;
            key = 0;
        }
        key += next_random(&x) % 3;
        list[i] = (struct item){.key = key, .id = (uint32_t)(i * 7919 % N)};
        memset(list[i].rest, (int)(i & 0x7f), sizeof list[i].rest);
    }
}

static void check(size_t n)
{
    memcpy(expected, list, n * sizeof *list);
    qsort(expected, n, sizeof *expected, by_key);
    sort_list(list, n, sizeof *list, by_key);
    assert_memory_equal(list, expected, n * sizeof *list);
}

static void any_list_is_sorted(void **state)
{
    (void)state;
    sort_list(NULL, 0, sizeof *list, by_key);
    for (uint32_t seed = 1; seed < 400; seed++) {
        fill(seed % 50, seed % 7 + 1, seed);
        check(seed % 50);
    }
    for (size_t runs = 1; runs < N; runs = runs * 3 / 2 + 1) {
        fill(N, runs, (uint32_t)runs);
        check(N);
    }
    for (size_t i = 0; i < N; i++)
        list[i] = (struct item){.key = (uint32_t)(N - i)};
    check(N);
}

static void order_costs_one_look(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        list[i] = (struct item){.key = (uint32_t)i / 2, .id = (uint32_t)i};
    compared = 0;
    sort_list(list, N, sizeof *list, by_key);
    assert_int_equal(compared, N - 1);
    /* A few behind a long list: each is looked up, the list is not sorted again. */
    for (size_t i = N - 20; i < N; i++)
        list[i].key = (uint32_t)(i * 37 % 1000);
    compared = 0;
    sort_list(list, N, sizeof *list, by_key);
    assert_in_range(compared, N - 1, 2 * N);
    for (size_t i = 1; i < N; i++)
        assert_true(by_key(&list[i - 1], &list[i]) <= 0);
}

static void two_parts_are_joined(void **state)
{
    (void)state;
    for (size_t middle = 0; middle <= N; middle += 500) {
        fill(N, 1, (uint32_t)middle);
        sort_list(list, middle, sizeof *list, by_key);
        sort_list(list + middle, N - middle, sizeof *list, by_key);
        memcpy(expected, list, sizeof list);
        qsort(expected, N, sizeof *expected, by_key);
        sort_parts(list, middle, N, sizeof *list, by_key);
        assert_memory_equal(list, expected, sizeof list);
    }
    /* A few join many at the price of looking each up. */
    for (size_t i = 0; i < N; i++)
        list[i] = (struct item){.key = (uint32_t)(i < N - 10 ? 10 * i : (i + 10 - N) * 2000), .id = (uint32_t)i};
    compared = 0;
    sort_parts(list, N - 10, N, sizeof *list, by_key);
    assert_in_range(compared, 10, 10 * 2 * 13);
    for (size_t i = 1; i < N; i++)
        assert_true(by_key(&list[i - 1], &list[i]) <= 0);
}

static void without_memory_it_sorts_all_the_same(void **state)
{
    (void)state;
    fill(N, 5, 1);
    memcpy(expected, list, sizeof list);
    qsort(expected, N, sizeof *expected, by_key);
    no_memory = true;
    sort_list(list, N, sizeof *list, by_key);
    no_memory = false;
    assert_memory_equal(list, expected, sizeof list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_list_is_sorted),
        cmocka_unit_test(order_costs_one_look),
        cmocka_unit_test(two_parts_are_joined),
        cmocka_unit_test(without_memory_it_sorts_all_the_same),
    };
    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
