/* LINK: src/ask.c src/compose.c src/resolve.c src/rules.c src/sort.c src/pattern.c src/ir.c src/network.c src/units.c src/env_names.c src/decl.c src/frontend/dsl.c src/frontend/keys.c gen/policy.tab.c gen/policy.lex.c src/diag.c src/source.c src/arena.c src/buf.c */
/* What one profile asks for: clauses in any order, the exec default, clashes. */
#include "asks.h"

struct decision {
    const char *text, *path, *want;
};

static void assert_decisions(const struct decision *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *k = ask_of(&w, cases[i].text, NULL);
        const char *got = at(&w, &k->rules, cases[i].path);
        if (w.diags.n_errors || strcmp(got, cases[i].want) != 0)
            fail_msg("%s at %s: %s, not %s", cases[i].text, cases[i].path, got, cases[i].want);
        world_end(&w);
    }
}
#define DECISIONS(list) assert_decisions(list, sizeof(list) / sizeof *(list))

static void test_kinds(void **state)
{
    (void)state;
    const struct decision cases[] = {
        {"read \"/a\"", "/a/b", "r-x"},
        {"read \"/a\"", "/ab", "---"},
        {"write \"/a\"", "/a/b", "rwx"},
        {"write \"/a\"; read only \"/a/b\"", "/a/b/c", "r-x"},
        {"write \"/a\"; read only \"/a/b\"", "/a/c", "rwx"},
        {"write-only \"/a\"", "/a/b", "-w-"},
        {"write \"/a\"; write-only \"/a/b\"", "/a/b", "-w-"},
        {"write-only \"/a\"; write \"/a/b\"", "/a/b", "rwx"},
        {"write \"/a\"; deny \"/a/b\"", "/a/b", "---"},
        {"deny \"/a/b\"; write \"/a\"", "/a/b", "---"},
        {"write \"/a\"; deny write \"/a/b\"", "/a/b", "r-x"},
        {"deny \"/a\"; read \"/a/b\"", "/a/b", "r-x"},
        {"deny \"/a\"; read \"/a/b\"", "/a/c", "---"},
        {"read \"/a/b\"; write \"/a\"", "/a/b", "rwx"},
        {"read \"/a\"; read \"//a/./\"; deny \"/a/b/\"", "/a/b", "---"},
    };
    DECISIONS(cases);
}

static void test_exec_default(void **state)
{
    (void)state;
    const struct decision cases[] = {
        {"read \"/a\"; exec none", "/a", "r--"},
        {"read \"/a\"; exec default", "/a", "r-x"},
        {"read \"/a\"; exec \"/b\"", "/a", "r--"},
        {"read \"/a\"; exec \"/b\"", "/b", "r-x"},
        {"read \"/a\"; deny exec \"/a\"", "/a", "r--"},
        {"deny exec \"/a\"; read \"/a/b\"", "/a/b", "r--"},
        /* Reading that is opened again beneath a deny gets exec back, but not beneath a `deny exec`. */
        {"deny \"/a\"; read \"/a/b\"", "/a/b", "r-x"},
        {"deny exec \"/\"; deny \"/a\"; read \"/a/b\"", "/a/b", "r--"},
        {"deny exec \"/a\"; deny \"/a/b\"; read \"/a/b/c\"", "/a/b/c", "r--"},
        {"deny exec \"/a\"; deny \"/a\"; read \"/a/b\"", "/a/b", "r--"},
        {"deny exec \"/a\"; write-only \"/a/b\"; read \"/a/b/c\"", "/a/b/c", "rw-"},
        {"deny \"/a\"; deny exec \"/a/b\"; read \"/a/b/c\"", "/a/b/c", "r--"},
        /* A listed program is one beneath any deny. */
        {"deny exec \"/a\"; exec \"/a/b\"", "/a/b", "r-x"},
        {"deny exec \"/a\"; exec \"/a/b\"", "/a/c", "---"},
    };
    DECISIONS(cases);
}

static void test_clashes(void **state)
{
    (void)state;
    const struct {
        const char *text;
        size_t clashes;
    } cases[] = {
        {"read \"/a\"; deny \"/a\"", 1},
        {"deny \"//a/\"; read \"/a\"", 1},
        {"read \"/a/./\"; deny \"/a\"", 1},
        {"read only \"/a\"; write \"/a\"", 1},
        {"read \"/a\"; write-only \"/a\"", 1},
        {"exec \"/a\"; deny exec \"/a\"", 1},
        {"exec default; exec \"/a\"", 1},
        {"network none; network allow \"x.example:1\"", 1},
        {"deny \"/a*\"; read \"/ab/c\"", 1},
        {"deny \"/a*\"; read \"/a?\"", 1},
        {"read \"/a\"; deny write \"/a\"", 0},
        {"read \"/a\"; deny exec \"/a\"", 0},
        {"read \"/a\"; write \"/a\"; read \"/a\"", 0},
        {"deny \"/a\"; deny exec \"/a\"", 0},
        {"read \"/a\"; deny \"/a/b\"", 0},
        {"deny \"/a*\"; read \"/b\"", 0},
        {"deny write \"/a*\"; read \"/ab\"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        ask_of(&w, cases[i].text, NULL);
        if (count_of(&w, DIAG_CLASH) != cases[i].clashes || w.diags.n_errors != cases[i].clashes)
            fail_msg("%s: %zu clashes", cases[i].text, count_of(&w, DIAG_CLASH));
        world_end(&w);
    }
}

/* Each random profile means what its clauses say, the nearest one first, in whatever order they stand. */
static void test_nearest_clause_wins(void **state)
{
    (void)state;
    seed = 11;
    for (size_t round = 0; round < 2000; round++) {
        struct world w;
        world_begin(&w);
        const char *text;
        bool list = round % 3 == 0;
        struct said s = random_profile(&w, 9, list, &text);
        const struct ask *k = ask_of(&w, text, NULL);
        if (!list)
            add_default(&s);
        assert_int_equal(w.diags.n_errors, 0);
        assert_means(&w, &s, &k->rules, text);
        struct rule_list folded = k->rules;
        rules_fold(&folded);
        assert_means(&w, &s, &folded, text);
        world_end(&w);
    }
}

/* One more deny never grants anything. */
static void test_denies_only_take_away(void **state)
{
    (void)state;
    seed = 12;
    const char *const denies[] = {"deny", "deny write", "deny exec"};
    size_t n = 0;
    for (size_t round = 0; round < 2000; round++) {
        struct world w;
        world_begin(&w);
        const char *text;
        random_profile(&w, 9, round % 3 == 0, &text);
        const struct ask *before = ask_of(&w, text, NULL);
        const char *more = arena_printf(&w.arena, "%s%s \"%s\"", text, denies[draw(3)], paths[draw(N_PATHS)]);
        const struct ask *after = ask_of(&w, more, NULL);
        for (size_t p = 0; p < N_PATHS && !w.diags.n_errors; p++, n++) {
            const char *had = at(&w, &before->rules, paths[p]), *has = at(&w, &after->rules, paths[p]);
            for (size_t k = 0; k < IR_ACCESS_COUNT; k++)
                if (has[k] != '-' && had[k] == '-')
                    fail_msg("%s: %s was %s, by: %s", paths[p], has, had, more);
        }
        world_end(&w);
    }
    assert_true(n > 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_exec_default),
        cmocka_unit_test(test_clashes),
        cmocka_unit_test(test_nearest_clause_wins),
        cmocka_unit_test(test_denies_only_take_away),
    };
    make_paths();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
