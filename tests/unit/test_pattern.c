/* LINK: src/pattern.c src/arena.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pattern.h"

/* ---- Text ---------------------------------------------------------------------------------------------- */

static void good_text(void **state)
{
    (void)state;
    static const char *const good[] = {
        "/*",           "/**",   "/a/*",    "/a/**",       "/a/**/b",        "/a/*b*", "**/x",
        "a*",           "*",     "/a/[!a]", "/[a-z0-9]",   "/[-a]",          "/[!-a]", "/[*]",
        "/[[]",         "/[]]",  "/[{]",    "/[\\]",       "/[\\][*]",       "/?",     "/[a]]",
        "/x\\y*",       "/(a)*", "/a}*",    "/..//./a/b*", "/caf\303\251/*", "/a/..*", "/[!!]",
        "/plain/../x/", "/[.]",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t at;
        const char *why = pattern_problem(good[i], strlen(good[i]), &at);
        if (why)
            fail_msg("%s: %s", good[i], why);
    }
}

static void bad_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *why; /* part of it */
    } bad[] = {
        {"/[", 1, "not closed"},
        {"/x[a", 2, "not closed"},
        {"/[]", 1, "not closed"},
        {"/[!]", 1, "not closed"},
        {"/[a/b]", 1, "not closed"},
        {"/[^a]", 2, "[!...]"},
        {"/[a-]", 3, "`-`"},
        {"/[a-c-e]", 5, "`-`"},
        {"/[z-a]", 2, "range"},
        {"/[A-z]", 2, "range"},
        {"/[+-9]", 2, "range"},
        {"/[--a]", 2, "range"},
        {"/[[:alpha:]]", 2, "classes"},
        {"/[a[.x.]]", 3, "classes"},
        {"/[\303\251]", 2, "ASCII"},
        {"/{", 1, "braces"},
        {"/{a,b}", 1, "braces"},
        {"/a*{,x}", 3, "braces"},
        {"/\\*", 1, "backslash"},
        {"/\\[a]", 1, "backslash"},
        {"/\\{a", 1, "backslash"},
        {"/[\\]]", 2, "backslash"},
        {"/[a\\]", 3, "backslash"},
        {"/[\\a]", 2, "backslash"},
        {"/!(x)", 1, "lists"},
        {"/a/+(x)", 3, "lists"},
        {"/*(x)", 1, "lists"},
        {"/a**", 2, "alone"},
        {"/**b", 1, "alone"},
        {"/***", 1, "alone"},
        {"/a*/", 3, "empty"},
        {"/a*//b", 4, "empty"},
        {"/*/./b", 3, "`..`"},
        {"/**/../b", 4, "`..`"},
        {"/**/", 3, "empty"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t at = 999;
        const char *why = pattern_problem(bad[i].text, strlen(bad[i].text), &at);
        if (!why || at != bad[i].at || !strstr(why, bad[i].why))
            fail_msg("%s: %s at %zu", bad[i].text, why ? why : "accepted", at);
        assert_true(pattern_is(bad[i].text, strlen(bad[i].text)));
    }
    char text[1200] = "/plain/";
    size_t plain = strlen(text), at;
    memset(text + plain, '*', 1);
    memset(text + plain + 1, 'a', sizeof text - plain - 1);
    assert_null(pattern_problem(text, plain + 1024, &at));
    assert_non_null(strstr(pattern_problem(text, plain + 1025, &at), "1024 bytes"));
    assert_int_equal(at, plain + 1024);
}

static void which_texts_are_patterns(void **state)
{
    (void)state;
    static const char *const plain[] = {"", "/", "/a b", "/(a)", "/a)+b", "/]", "/}", "/a\\b", "/!x", "+"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_false(pattern_is(plain[i], strlen(plain[i])));
    assert_false(pattern_is("/a*", 2));
    assert_true(pattern_is("/a*", 3));
}

static void prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        size_t len;
    } cases[] = {{"/a/b/c*d/e", 4}, {"/*", 0}, {"/**/x", 0}, {"/a/**", 2},     {"/a/b", 4},
                 {"/", 0},          {"a*", 0}, {"", 0},      {"/a/[b]/c*", 2}, {"/ab/?", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pattern_prefix(cases[i].pattern), cases[i].len);
}

static void a_quoted_path_matches_itself(void **state)
{
    (void)state;
    static const char *const paths[] = {"/a*b", "/[x]/{a,b}", "/\\*/\\]", "/+(x)",
                                        "/?",   "/plain",     "/a\\/[",   ""};
    struct arena arena;
    arena_init(&arena, NULL, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *quoted = pattern_quote(&arena, paths[i], strlen(paths[i]));
        size_t at;
        assert_null(pattern_problem(quoted, strlen(quoted), &at));
        assert_true(pattern_matches(quoted, paths[i]));
        assert_false(pattern_matches(quoted, "/aXb"));
        assert_false(pattern_matches(quoted, "/x/a"));
        char *tail = arena_printf(&arena, "%s/[*]?", quoted), *path = arena_printf(&arena, "%s/*z", paths[i]);
        assert_null(pattern_problem(tail, strlen(tail), &at));
        assert_true(pattern_matches(tail, path));
    }
    arena_done(&arena);
}

/* ---- Meaning ------------------------------------------------------------------------------------------- */

static void known_matches(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool matches, covers;
    } cases[] = {
        {"/a/*", "/a/b", true, true},
        {"/a/*", "/a/b/c", false, true},
        {"/a/*", "/a", false, false},
        {"/a/**", "/a", true, true},
        {"/a/**", "/a/b/c", true, true},
        {"/a/**/b", "/a/b", true, true},
        {"/a/**/b", "/a/x/y/b", true, true},
        {"/a/**/b", "/a/x/y/bb", false, false},
        {"/**", "/", true, true},
        {"/*", "/.hidden", true, true},
        {"/?", "/ab", false, false},
        {"/[!a]", "/\303", true, true},
        {"/[!a]", "/a", false, false},
        {"/[]]", "/]", true, true},
        {"/[a-c]x", "/bx", true, true},
        {"/[a-c]x", "/-x", false, false},
        {"/[-a]", "/-", true, true},
        {"/[*]", "/*", true, true},
        {"/[*]", "/a", false, false},
        {"/*.log", "/a.log/x", false, true},
        {"/*a*b", "/xaxbxab", true, true},
        {"/*a*b", "/xaxbxa", false, false},
        {"/[!!]", "/!", false, false},
        {"/A", "/a", false, false},
        {"/a", "/a/b", false, true},
        {"", "/a", false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (pattern_matches(cases[i].pattern, cases[i].path) != cases[i].matches ||
            pattern_covers(cases[i].pattern, cases[i].path) != cases[i].covers)
            fail_msg("%s on %s", cases[i].pattern, cases[i].path);
    }
}

/* Written apart from the code under test: by recursion, on whole texts, over the alphabet of the enumeration.
 */
static bool naive_name(const char *p, const char *s)
{
    bool p_ends = !*p || *p == '/', s_ends = !*s || *s == '/';
    if (p_ends)
        return s_ends;
    if (*p == '*')
        return naive_name(p + 1, s) || (!s_ends && naive_name(p, s + 1));
    if (s_ends)
        return false;
    if (!strncmp(p, "[ab]", 4))
        return (*s == 'a' || *s == 'b') && naive_name(p + 4, s + 1);
    if (!strncmp(p, "[!a]", 4))
        return *s != 'a' && naive_name(p + 4, s + 1);
    return (*p == '?' || *p == *s) && naive_name(p + 1, s + 1);
}

static const char *naive_rest(const char *s)
{
    const char *slash = strchr(s + 1, '/');
    return slash ? slash : s + strlen(s);
}

static bool naive(const char *p, const char *s)
{
    if (!*p)
        return !*s;
    const char *p_rest = naive_rest(p);
    if (!strncmp(p, "/**", 3))
        return naive(p_rest, s) || (*s && naive(p, naive_rest(s)));
    return *s && naive_name(p + 1, s + 1) && naive(p_rest, naive_rest(s));
}

static bool naive_covers(const char *p, const char *s)
{
    char above[64];
    for (size_t i = 0; i <= strlen(s); i++) {
        if (s[i] && s[i] != '/')
            continue;
        snprintf(above, sizeof above, "%.*s", (int)i, s);
        if (naive(p, above))
            return true;
    }
    return false;
}

/* All paths of at most three names of at most two letters. */
enum { N_NAMES = 12, N_PATHS = 1 + N_NAMES + N_NAMES * N_NAMES + N_NAMES * N_NAMES * N_NAMES };
static char all_paths[N_PATHS][12];

static int make_paths(void **state)
{
    (void)state;
    static const char *const names[N_NAMES] = {"a",  "b",  "c",  "aa", "ab", "ac",
                                               "ba", "bb", "bc", "ca", "cb", "cc"};
    size_t n = 1;
    for (size_t from = 0, to = 1, depth = 0; depth < 3; depth++, from = to, to = n)
        for (size_t i = from; i < to; i++)
            for (size_t k = 0; k < N_NAMES; k++)
                snprintf(all_paths[n++], sizeof *all_paths, "%.8s/%.2s", all_paths[i], names[k]);
    return n == N_PATHS ? 0 : -1;
}

static uint32_t seed = 1;
static unsigned below(unsigned n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* Up to `components` of up to `elements` each. */
static void random_pattern(char out[64], unsigned components, unsigned elements)
{
    static const char *const parts[] = {"a", "b", "c", "*", "*", "?", "[ab]", "[!a]"};
    out[0] = '\0';
    for (unsigned n = 1 + below(components); n > 0; n--) {
        strcat(out, "/");
        if (!below(4)) {
            strcat(out, "**");
            continue;
        }
        unsigned last = 99;
        for (unsigned k = 1 + below(elements); k > 0; k--) {
            unsigned part = below(sizeof parts / sizeof *parts);
            bool two_stars = last < 99 && parts[part][0] == '*' && parts[last][0] == '*';
            strcat(out, two_stars ? "a" : parts[part]);
            last = two_stars ? 0 : part;
        }
    }
}

static void matches_like_the_naive_matcher(void **state)
{
    (void)state;
    for (size_t i = 0; i < 600; i++) {
        char p[64];
        random_pattern(p, 3, 3);
        for (size_t k = 0; k < N_PATHS; k++) {
            bool m = naive(p, all_paths[k]), c = naive_covers(p, all_paths[k]);
            if (pattern_matches(p, all_paths[k]) != m || pattern_covers(p, all_paths[k]) != c)
                fail_msg("%s on %s: matches %d, covers %d", p, all_paths[k], m, c);
        }
    }
}

static bool witness_beneath(const char *p, const char *dir)
{
    size_t len = strlen(dir);
    for (size_t k = 0; k < N_PATHS; k++)
        if (!strncmp(all_paths[k], dir, len) && all_paths[k][len] == '/' && naive(p, all_paths[k]))
            return true;
    return false;
}

/* Exact as far as the enumeration goes: three names for a folder of at most one and two components of a
 * pattern. */
static void reaches_what_the_enumeration_finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < 1500; i++) {
        char p[64];
        bool exact = i % 2;
        random_pattern(p, exact ? 2 : 3, 2);
        const char *dir = all_paths[exact ? below(1 + N_NAMES) : below(1 + N_NAMES + N_NAMES * N_NAMES)];
        bool found = witness_beneath(p, dir), said = pattern_reaches(p, dir);
        if ((found && !said) || (exact && said != found))
            fail_msg("%s beneath %s: %d, not %d", p, dir, said, found);
    }
}

static bool witness_of_both(const char *a, const char *b)
{
    for (size_t k = 0; k < N_PATHS; k++)
        if (naive(b, all_paths[k]) && naive_covers(a, all_paths[k]))
            return true;
    return false;
}

/* Two components of two elements each have a witness in the enumeration, or none at all. */
static void meets_what_the_enumeration_finds(void **state)
{
    (void)state;
    size_t met = 0, apart = 0;
    for (size_t i = 0; i < 4000; i++) {
        char a[64], b[64];
        bool exact = i % 2;
        random_pattern(a, exact ? 2 : 3, exact ? 2 : 3);
        random_pattern(b, exact ? 2 : 3, exact ? 2 : 3);
        bool found = witness_of_both(a, b), said = pattern_meets(a, b);
        if ((found && !said) || (exact && said != found))
            fail_msg("%s and %s: %d, not %d", a, b, said, found);
        met += found;
        apart += !found;
    }
    assert_true(met > 500 && apart > 500);
}

static void known_meetings(void **state)
{
    (void)state;
    assert_true(pattern_meets("/a/*.log", "/a/b*/c"));
    assert_true(pattern_meets("/a/*x", "/a/y*"));
    assert_true(pattern_meets("/a", "/a/b/*"));
    assert_false(pattern_meets("/a/b/*", "/a/b"));
    assert_false(pattern_meets("/a/*.log", "/a/*.txt"));
    assert_false(pattern_meets("/a/[0-9]", "/a/[a-z]"));
    assert_false(pattern_meets("/*/x/y", "/a/z/**"));
    assert_true(pattern_meets("/**/x", "/a/**"));
    assert_true(pattern_meets("", "/a"));
}

/* ---- Bounds -------------------------------------------------------------------------------------------- */

static char *repeat(struct arena *a, const char *part, size_t len, const char *end)
{
    size_t step = strlen(part);
    char *out = arena_alloc(a, len + strlen(end) + 1);
    for (size_t at = 0; at + step <= len; at += step)
        memcpy(out + at, part, step);
    return strcat(out, end);
}

/* Whoever tries all ways does not come to an end with any of them. */
static void hostile_names_end(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    alarm(60);
    const char *patterns[] = {repeat(&a, "*a", 1022, "b"), repeat(&a, "*a?", 1020, "c"),
                              repeat(&a, "*[!z]", 1020, "b")};
    const char *path = arena_printf(&a, "/%s", repeat(&a, "a", 4000, "c"));
    for (size_t i = 0; i < 3; i++) {
        patterns[i] = arena_printf(&a, "/%s", patterns[i]);
        assert_int_equal(pattern_matches(patterns[i], path), i == 1);
        for (size_t k = 0; k <= i; k++) /* those that end alike meet */
            assert_int_equal(pattern_meets(patterns[i], patterns[k]), (i == 1) == (k == 1));
    }
    alarm(0);
    arena_done(&a);
}

static void hostile_depths_end(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    alarm(60);
    const char *b = repeat(&a, "/a/**/*", 1015, "/b"), *c = repeat(&a, "/**/*a*", 1015, "/c");
    const char *path = repeat(&a, "/a", 4000, ""), *path_c = repeat(&a, "/a", 4000, "/c");
    assert_false(pattern_matches(b, path_c));
    assert_true(pattern_matches(c, path_c));
    assert_false(pattern_covers(b, path));
    assert_true(pattern_reaches(b, path));
    assert_true(pattern_meets(b, c));
    assert_false(pattern_meets(c, path));
    assert_true(pattern_meets(c, path_c));
    alarm(0);
    arena_done(&a);
}

/* Beyond its bounds pattern_meets() does not know, and says so by `true`. */
static void too_long_to_know(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    assert_true(pattern_meets(repeat(&a, "/a", 2 * 5000, "/b"), repeat(&a, "/a", 2 * 5000, "/c")));
    assert_false(pattern_meets(repeat(&a, "/a", 2 * 2500, "/b"), repeat(&a, "/a", 2 * 2500, "/c")));
    char *many = repeat(&a, "?", 1100, "*");
    assert_true(pattern_meets("/*x", arena_printf(&a, "/%sy", many)));
    assert_false(pattern_meets("/*x", arena_printf(&a, "/%sy", many + 200)));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text),
        cmocka_unit_test(bad_text),
        cmocka_unit_test(which_texts_are_patterns),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(a_quoted_path_matches_itself),
        cmocka_unit_test(known_matches),
        cmocka_unit_test(matches_like_the_naive_matcher),
        cmocka_unit_test(reaches_what_the_enumeration_finds),
        cmocka_unit_test(meets_what_the_enumeration_finds),
        cmocka_unit_test(known_meetings),
        cmocka_unit_test(hostile_names_end),
        cmocka_unit_test(hostile_depths_end),
        cmocka_unit_test(too_long_to_know),
    };
    return cmocka_run_group_tests_name("pattern", tests, make_paths, NULL);
}
