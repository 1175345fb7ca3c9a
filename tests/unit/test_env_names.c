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

static struct env_names denies(const char *const *names, size_t n)
{
    struct env_names l = {0};
    for (size_t i = 0; i < n; i++)
        env_names_add(&l, &arena, names[i], (struct span){0});
    env_names_normalise_deny(&l, &arena);
    return l;
}
#define DENIES(...) denies((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* Where something is taken away a prefix stands for all that begins so, loaders' names too. */
static void denied_prefixes_stand_for_all(void **state)
{
    (void)state;
    struct env_names l = DENIES("LD_*", "X", "AB*", "ABC", "LD_PRELOAD", "AB*");
    assert_int_equal(l.n, 3);
    assert_true(env_names_deny(&l, "LD_PRELOAD"));
    assert_true(env_names_deny(&l, "LD_*"));
    assert_true(env_names_deny(&l, "AB"));
    assert_true(env_names_deny(&l, "ABC*"));
    assert_false(env_names_deny(&l, "A"));
    assert_false(env_names_deny(&l, "A*"));
    assert_false(env_names_deny(&l, "XY"));
    assert_false(env_names_deny(&l, "X*"));
    l = DENIES("*");
    assert_true(env_names_deny(&l, "PATH"));
    assert_true(env_names_deny(&l, "LD_*"));
    l = (struct env_names){0};
    assert_false(env_names_deny(&l, "A"));
    assert_false(env_names_meet(&l, "*"));
}

/* A prefix meets a deny of any name that it stands for. */
static void some_of_a_prefix_is_denied(void **state)
{
    (void)state;
    struct env_names l = DENIES("AB", "CD*", "LD_X");
    assert_true(env_names_meet(&l, "A*"));
    assert_true(env_names_meet(&l, "AB*"));
    assert_true(env_names_meet(&l, "CDE*"));
    assert_true(env_names_meet(&l, "C*"));
    assert_true(env_names_meet(&l, "CDE"));
    assert_true(env_names_meet(&l, "*"));
    assert_false(env_names_meet(&l, "ABC*"));
    assert_false(env_names_meet(&l, "ABC"));
    assert_false(env_names_meet(&l, "A"));
    assert_false(env_names_meet(&l, "B*"));
    assert_true(env_names_overlap("A*", "AB*"));
    assert_true(env_names_overlap("AB", "A*"));
    assert_true(env_names_overlap("AB", "AB"));
    assert_false(env_names_overlap("AB", "ABC"));
    assert_false(env_names_overlap("AB*", "AC*"));
    assert_false(env_names_overlap("ABC", "ABD*"));
}

static uint32_t seed = 5;
static uint32_t draw(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static const char *random_entry(void)
{
    char one[5];
    size_t len = 0;
    do
        one[len++] = draw(2) ? 'A' : 'B';
    while (len < 3 && draw(3));
    if (!draw(3))
        one[len++] = '*';
    one[len] = '\0';
    return arena_str(&arena, one);
}

static bool stands_for(const char *entry, const char *name)
{
    size_t n = strlen(entry);
    return entry[n - 1] == '*' ? !strncmp(entry, name, n - 1) : !strcmp(entry, name);
}

/* Random lists over two letters, asked about every name of up to four letters of three: with the third no prefix
 * is ever used up by others. */
static void denies_are_what_their_entries_are(void **state)
{
    (void)state;
    enum { MOST = 3 + 9 + 27 + 81 };
    char names[MOST][5] = {"A", "B", "C"};
    for (size_t i = 0, n = 3; n < MOST; i++)
        for (char c = 'A'; c <= 'C'; c++, n++)
            snprintf(names[n], sizeof *names, "%.3s%c", names[i], c);
    for (size_t round = 0; round < 2000; round++) {
        const char *entries[6], *one = random_entry();
        for (size_t i = 0; i < 6; i++)
            entries[i] = random_entry();
        struct env_names l = denies(entries, 6);
        bool all = true, some = false;
        for (size_t i = 0; i < MOST; i++) {
            bool denied = false;
            for (size_t k = 0; k < 6; k++)
                denied |= stands_for(entries[k], names[i]);
            all &= denied || !stands_for(one, names[i]);
            some |= denied && stands_for(one, names[i]);
        }
        assert_int_equal(env_names_deny(&l, one), all);
        assert_int_equal(env_names_meet(&l, one), some);
    }
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
        cmocka_unit_test(loaders_are_known),               cmocka_unit_test(denied_prefixes_stand_for_all),
        cmocka_unit_test(some_of_a_prefix_is_denied),      cmocka_unit_test(denies_are_what_their_entries_are),
        cmocka_unit_test(long_lists_are_quick),
    };
    return cmocka_run_group_tests_name("env_names", tests, set_up, tear_down);
}
