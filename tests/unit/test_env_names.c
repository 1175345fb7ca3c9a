/* LINK: src/env_names.c src/arena.c */
/* Names of the environment: what a list covers, and what no pattern stands for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "env_names.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct env_names list(const char *const *names, size_t n)
{
    struct env_names l = {0};
    for (size_t i = 0; i < n; i++)
        env_names_add(&l, &arena, names[i], (struct span){0});
    env_names_normalise(&l, &arena);
    return l;
}
#define LIST(...) list((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void normal_form_is_sorted_and_short(void **state)
{
    (void)state;
    struct env_names l = LIST("LC_ALL", "B", "A", "LC_*", "B", "LC_X*", "LC_*");
    assert_int_equal(l.n, 3);
    assert_string_equal(l.items[0].name, "A");
    assert_string_equal(l.items[1].name, "B");
    assert_string_equal(l.items[2].name, "LC_*");
}

static void what_needs_its_exact_name_stays(void **state)
{
    (void)state;
    struct env_names l = LIST("*", "LD_PRELOAD", "PATH", "FOO");
    assert_int_equal(l.n, 3);
    assert_true(env_names_cover(&l, "LD_PRELOAD"));
    assert_true(env_names_cover(&l, "ANYTHING"));
    assert_false(env_names_cover(&l, "LD_LIBRARY_PATH"));
    assert_false(env_names_cover(&l, "BASH_ENV"));
    assert_false(env_names_cover(&l, "HOME"));
}

static void prefixes_cover_by_letters(void **state)
{
    (void)state;
    struct env_names l = LIST("AB*", "X", "!*");
    assert_true(env_names_cover(&l, "AB"));
    assert_true(env_names_cover(&l, "ABC"));
    assert_true(env_names_cover(&l, "ABC*"));
    assert_true(env_names_cover(&l, "!x"));
    assert_false(env_names_cover(&l, "A"));
    assert_false(env_names_cover(&l, "A*"));
    assert_false(env_names_cover(&l, "X*"));
    assert_false(env_names_cover(&l, "XY"));
    assert_false(env_names_cover(&l, "*"));
}

static void names_with_a_prefix_stand_together(void **state)
{
    (void)state;
    struct env_names l = LIST("AA", "AB", "AC*", "B", "A!");
    size_t first;
    assert_int_equal(env_names_with_prefix(&l, "A*", &first), 4);
    assert_string_equal(l.items[first].name, "A!");
    assert_int_equal(env_names_with_prefix(&l, "Z*", &first), 0);
    assert_int_equal(env_names_with_prefix(&l, "*", &first), 5);
}

static void loaders_are_known(void **state)
{
    (void)state;
    assert_true(env_names_loader("LD_PRELOAD"));
    assert_true(env_names_loader("LD_*"));
    assert_true(env_names_loader("BASH_FUNC_x%%"));
    assert_true(env_names_loader("ENV"));
    assert_false(env_names_loader("ENVIRONMENT"));
    assert_false(env_names_loader("L*"));
    assert_false(env_names_loader("OLD_LD_X"));
}

static void long_lists_are_quick(void **state)
{
    (void)state;
    struct env_names l = {0};
    for (int i = 0; i < 50000; i++)
        env_names_add(&l, &arena, arena_printf(&arena, "N%d%s", i * 7919 % 50000, i % 3 ? "" : "*"), (struct span){0});
    env_names_normalise(&l, &arena);
    assert_true(l.n > 10 && l.n <= 50000);
    for (size_t i = 0; i < l.n; i++)
        assert_true(env_names_cover(&l, l.items[i].name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_form_is_sorted_and_short), cmocka_unit_test(what_needs_its_exact_name_stays),
        cmocka_unit_test(prefixes_cover_by_letters),       cmocka_unit_test(names_with_a_prefix_stand_together),
        cmocka_unit_test(loaders_are_known),               cmocka_unit_test(long_lists_are_quick),
    };
    return cmocka_run_group_tests_name("env_names", tests, set_up, tear_down);
}
