/* LINK: src/ceiling.c src/ask.c src/compose.c src/resolve.c src/rules.c src/sort.c src/pattern.c src/ir.c src/network.c src/units.c src/env_names.c src/decl.c src/frontend/dsl.c src/frontend/keys.c gen/policy.tab.c gen/policy.lex.c src/diag.c src/source.c src/arena.c src/buf.c */
/* Ceilings: what is left is what both allow, in every axis, and each cut is said. */
#include "asks.h"

#include "ceiling.h"
#include "network.h"

/* What a ceiling leaves of a declaration. */
static struct ask *under(struct world *w, const char *declaration, const char *ceiling)
{
    const struct ask *cap = ask_of(w, ceiling, NULL);
    struct ask *k = ask_of(w, declaration, NULL);
    if (!k->preset.text)
        k->preset.text = "standard"; /* as policy.c has it */
    assert_int_equal(w->diags.n_errors, 0);
    ceiling_apply(&w->context, k, cap);
    return k;
}

struct decision {
    const char *declaration, *ceiling, *path, *want;
};

static void test_paths(void **state)
{
    (void)state;
    const struct decision cases[] = {
        {"read \"/a\"", "read \"/b\"", "/a", "---"},
        {"read \"/a\"", "read \"/a\"", "/a", "r-x"},
        {"write \"/a\"", "read \"/a\"", "/a", "r-x"},
        {"read \"/\"", "write \"/a/b\"", "/a/b", "r-x"},
        {"read \"/\"", "write \"/a/b\"", "/a", "---"},
        {"write \"/a\"", "write \"/a\"; deny \"/a/b\"", "/a/b", "---"},
        {"write \"/a\"", "write \"/a\"; deny write \"/a/b\"", "/a/b", "r-x"},
        {"write \"/a\"", "deny \"/a\"; write \"/a/b\"", "/a/b", "rwx"},
        {"write \"/a\"; deny \"/a/b\"", "write \"/\"", "/a/b", "---"},
        {"read \"/a\"", "read \"/a\"; exec none", "/a", "r--"},
        {"read \"/a\"", "read \"/a\"; exec \"/a/x\"", "/a/x", "r-x"},
        {"read \"/a\"; exec \"/a/x\"", "read \"/a\"", "/a/x", "r-x"},
        {"read \"/a\"; exec \"/a/x\"", "read \"/a\"; exec \"/a/y\"", "/a/x", "r--"},
        {"read \"/a\"", "", "/a", "---"},
        /* A deny pattern of the ceiling leaves what else the rule there says; writing is the pattern's to
           take. */
        {"write \"/a\"; write-only \"/a/sp\"", "write \"/a\"; deny write \"/a/s*\"", "/a/sp", "-w-"},
        {"write \"/a\"; write-only \"/a/sp\"; write \"/a/sp/x\"", "write \"/a\"; deny write \"/a/s*\"",
         "/a/sp", "-w-"},
        {"write \"/a\"; write \"/a/sp\"", "write \"/a\"; deny write \"/a/s*\"; write \"/a/t\"", "/a/t",
         "rwx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *k = under(&w, cases[i].declaration, cases[i].ceiling);
        const char *got = at(&w, &k->rules, cases[i].path);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("%s beneath %s at %s: %s, not %s", cases[i].declaration, cases[i].ceiling, cases[i].path,
                     got, cases[i].want);
        world_end(&w);
    }
}

/* Never wider than either, never narrower than what both allow; and where something was lost, it is said. */
static void test_decisions_intersect(void **state)
{
    (void)state;
    seed = 31;
    size_t cuts = 0;
    for (size_t round = 0; round < 3000; round++) {
        struct world w;
        world_begin(&w);
        const char *text[2];
        bool lists[2] = {draw(3) == 0, draw(3) == 0};
        struct said s[2];
        for (size_t i = 0; i < 2; i++) {
            s[i] = random_profile(&w, 7, lists[i], &text[i]);
            if (!lists[i])
                add_default(&s[i]);
        }
        const struct ask *k = under(&w, text[0], text[1]);
        bool lost = false;
        for (size_t p = 0; p < N_PATHS; p++) {
            const char *x = meant(&w, &s[0], p), *y = meant(&w, &s[1], p), *got = at(&w, &k->rules, paths[p]);
            for (size_t i = 0; i < IR_ACCESS_COUNT; i++) {
                if ((got[i] != '-') != (x[i] != '-' && y[i] != '-'))
                    fail_msg("%s: %s of %s and %s, by %s beneath %s", paths[p], got, x, y, text[0], text[1]);
                lost |= i != IR_INDEX_EXEC && x[i] != '-' && y[i] == '-';
            }
        }
        size_t said = count_of(&w, DIAG_CEILING_ALL) + count_of(&w, DIAG_CEILING_CUT);
        if (lost && !said)
            fail_msg("nothing is said: %s beneath %s", text[0], text[1]);
        cuts += lost;
        world_end(&w);
    }
    assert_in_range(cuts, 500, 3000);
}

static size_t denies(const struct ask *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->patterns.n; i++)
        n += k->patterns.items[i].deny != 0;
    return n;
}

static void test_patterns(void **state)
{
    (void)state;
    const struct {
        const char *declaration, *ceiling;
        size_t allows, denies, all;
    } cases[] = {
        {"read \"/a/*.c\"", "read \"/a\"", 1, 0, 0},
        {"read \"/a/*.c\"", "read \"/a/*.c\"", 1, 0, 0},
        {"read \"/a/*.c\"", "read \"/a/*\"", 0, 0, 1},
        {"write \"/a/*.c\"", "read \"/a\"", 0, 0, 1},
        {"read \"/a/*.c\"", "read \"/a\"; deny \"/a/b\"", 0, 0, 1},
        {"read \"/a/*.c\"", "", 0, 0, 1},
        {"read \"/a/*.c\"", "read \"/a\"; deny \"/a/k*\"", 0, 1, 1},
        {"read \"/a/b*\"", "read \"/a\"; deny \"/a/k*\"", 1, 1, 0},
        {"read \"/a\"", "read \"/a\"; deny \"/a/k*\"", 0, 1, 0},
        {"read \"/a/k\"", "read \"/a\"; deny \"/a/k*\"", 0, 1, 1},
        {"read \"/a\"; deny \"/a/x*\"", "read \"/a\"; deny \"/a/k*\"", 0, 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *k = under(&w, cases[i].declaration, cases[i].ceiling);
        if (k->patterns.n - denies(k) != cases[i].allows || denies(k) != cases[i].denies ||
            count_of(&w, DIAG_CEILING_ALL) != cases[i].all)
            fail_msg("%s beneath %s: %zu patterns, %zu denies, %zu cuts", cases[i].declaration,
                     cases[i].ceiling, k->patterns.n, denies(k), count_of(&w, DIAG_CEILING_ALL));
        world_end(&w);
    }
}

static void test_network(void **state)
{
    (void)state;
    static const char *const words[] = {"network none", "network loopback", "network loopback host",
                                        "network allow \"x.example:1\" \"y.example:*\"", "network open"};
    enum {
        N = IR_NETWORK_NONE,
        L = IR_NETWORK_LOOPBACK,
        H = IR_NETWORK_LOOPBACK_HOST,
        A = IR_NETWORK_ALLOW,
        O = IR_NETWORK_OPEN
    };
    static const int meets[5][5] = {
        {N, N, N, N, N}, {N, L, L, N, L}, {N, L, H, N, H}, {N, N, N, A, A}, {N, L, H, A, O},
    };
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            struct world w;
            world_begin(&w);
            const struct ask *k = under(&w, words[i], words[j]);
            assert_int_equal(k->network.mode, meets[i][j]);
            assert_int_equal(k->network.n_endpoints, meets[i][j] == A ? 2 : 0);
            size_t said = count_of(&w, DIAG_CEILING_ALL) + count_of(&w, DIAG_CEILING_CUT);
            assert_int_equal(said, meets[i][j] != (int)i);
            world_end(&w);
        }
    struct world w;
    world_begin(&w);
    const struct ask *k =
        under(&w, "network allow \"a.y.example:*\" \"x.example:1\" \"192.0.2.0/24:*\"; listen 1 2",
              "network allow \".y.example:5\" \"192.0.2.7:53\"; listen 2 3");
    assert_int_equal(k->network.n_endpoints, 2);
    for (size_t i = 0; i < 2; i++) {
        const char *text = network_text(&w.arena, &k->network.endpoints[i]);
        assert_true(!strcmp(text, "a.y.example:5") || !strcmp(text, "192.0.2.7:53"));
    }
    assert_int_equal(k->network.n_listen, 1);
    assert_int_equal(k->network.listen[0].port, 2);
    k = under(&w, "network allow \"x.example:1\" \"unix:/s\" \"unix:/t\"",
              "network allow \"y.example:1\" \"unix:/t\"");
    assert_int_equal(k->network.mode, IR_NETWORK_NONE);
    assert_int_equal(k->network.n_sockets, 1);
    assert_string_equal(k->network.sockets[0].path, "/t");
    k = under(&w, "network open; listen 1", "network open");
    assert_int_equal(k->network.n_listen, 1);
    k = under(&w, "network open; listen 1", "network none");
    assert_int_equal(k->network.n_listen, 0);
    world_end(&w);
}

static void test_limits(void **state)
{
    (void)state;
    const struct {
        const char *declaration, *ceiling;
        uint64_t ms;
        size_t cuts;
    } cases[] = {
        {"timeout 10", "timeout 5", 5000, 1},
        {"timeout 5", "timeout 10", 5000, 0},
        {"timeout 5", "timeout 5", 5000, 0},
        {"timeout none", "timeout 5", 5000, 1},
        {"timeout 5", "timeout none", 5000, 0},
        {"timeout 5", "read \"/a\"", 5000, 0},
        {"read \"/a\"", "read \"/a\"; timeout 5", 5000, 0}, /* nobody's wish */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *k = under(&w, cases[i].declaration, cases[i].ceiling);
        if (k->limits[IR_LIMIT_TIMEOUT].value != cases[i].ms ||
            count_of(&w, DIAG_CEILING_CUT) != cases[i].cuts)
            fail_msg("%s beneath %s", cases[i].declaration, cases[i].ceiling);
        world_end(&w);
    }
    /* Each limit by itself: the smaller one, and where only the ceiling has one, that. */
    static const char *const limits[] = {"kill-after %ds", "memory %dM",    "processes %d",
                                         "cpu %d",         "cpu-weight %d", "cpu-time %ds",
                                         "file-size %dM",  "open-files %d", "output %dM"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct world w;
        world_begin(&w);
        const char *text[6];
        for (int k = 1; k <= 5; k++) {
            char one[64];
            size_t at = (size_t)(strchr(limits[i], '%') - limits[i]);
            snprintf(one, sizeof one, "limits { %.*s%d%s }", (int)at, limits[i], k, limits[i] + at + 2);
            text[k] = arena_str(&w.arena, one);
        }
        const struct ask *small = under(&w, text[2], text[5]), *same = ask_of(&w, text[2], NULL),
                         *cut = under(&w, text[4], text[2]), *given = under(&w, "network none", text[2]);
        for (size_t l = 0; l < IR_LIMIT_COUNT; l++) {
            assert_int_equal(small->limits[l].value, same->limits[l].value);
            assert_int_equal(cut->limits[l].value, same->limits[l].value);
            assert_int_equal(given->limits[l].value, same->limits[l].value);
        }
        assert_int_equal(count_of(&w, DIAG_CEILING_CUT), 1);
        world_end(&w);
    }
}

static void test_env(void **state)
{
    (void)state;
    const struct {
        const char *declaration, *ceiling, *name;
        bool passes;
    } cases[] = {
        {"env allow \"A*\"", "env allow \"AB*\"", "ABC", true},
        {"env allow \"A*\"", "env allow \"AB*\"", "AC", false},
        {"env allow \"A*\"", "env allow \"AC\"", "AC", true},
        {"env allow \"AB\"", "env allow \"A*\"", "AB", true},
        {"env allow \"AB\"", "env { allow \"A*\"; deny \"AB\" }", "AB", false},
        {"env allow \"A*\"", "env { allow \"A*\"; deny \"AB\" }", "AB", false},
        {"env allow \"A*\"", "env { allow \"A*\"; deny \"AB\" }", "AC", true},
        {"env { allow \"A*\"; deny \"AB\" }", "env allow \"A*\"", "AB", false},
        {"env allow \"A\"", "network none", "A", false},
        {"env allow \"LD_PRELOAD\"", "env allow \"*\"", "LD_PRELOAD", false},
        {"env allow \"LD_PRELOAD\"", "env allow \"LD_PRELOAD\"", "LD_PRELOAD", true},
        {"env allow \"*\"", "env allow \"LD_PRELOAD\" \"A\"", "LD_PRELOAD", false},
        {"env allow \"*\"", "env allow \"LD_PRELOAD\" \"A\"", "A", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *k = under(&w, cases[i].declaration, cases[i].ceiling);
        bool passes =
            env_names_cover(&k->env_allow, cases[i].name) && !env_names_deny(&k->env_deny, cases[i].name);
        if (passes != cases[i].passes)
            fail_msg("%s beneath %s: %s", cases[i].declaration, cases[i].ceiling, cases[i].name);
        world_end(&w);
    }
    struct world w;
    world_begin(&w);
    under(&w, "env allow \"AB\"", "env { allow \"A*\"; deny \"AB\" }");
    assert_int_equal(count_of(&w, DIAG_CEILING_ALL), 1);
    const struct ask *k =
        under(&w, "env { set A \"1\" B \"2\" C \"3\" }", "env { allow \"A\" \"C*\"; deny \"C\" }");
    assert_int_equal(k->n_env_set, 1);
    assert_string_equal(k->env_set[0].name, "A");
    assert_int_equal(count_of(&w, DIAG_CEILING_ALL), 3);
    world_end(&w);
}

static void test_process(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    const struct ask *k = under(&w, "fd 3 4 5; tty inherit", "fd 4; tty none; spawn deny");
    assert_int_equal(k->n_fds, 1);
    assert_int_equal(k->fds[0].fd, 4);
    assert_int_equal(k->tty, IR_TTY_NONE);
    assert_non_null(k->spawn_span.src);
    assert_int_equal(count_of(&w, DIAG_CEILING_ALL), 3);
    k = under(&w, "tty none; spawn deny", "tty inherit");
    assert_int_equal(k->tty, IR_TTY_NONE);
    assert_non_null(k->spawn_span.src);
    world_end(&w);
}

static void test_system_and_folder(void **state)
{
    (void)state;
    static const char *const presets[] = {"none", "minimal", "standard"};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
            struct world w;
            world_begin(&w);
            const char *cap = j < 3 ? arena_printf(&w.arena, "system %s", presets[j]) : "network none";
            const struct ask *k = under(&w, arena_printf(&w.arena, "system %s", presets[i]), cap);
            assert_string_equal(k->preset.text, presets[j < i ? j : i]);
            assert_int_equal(count_of(&w, DIAG_CEILING_CUT), j < i);
            world_end(&w);
        }
    const struct {
        const char *declaration, *ceiling;
        enum decl_skill_dir left;
    } cases[] = {
        {"skill-dir read", "read \"/a\"", DECL_SKILL_DIR_READ},
        {"skill-dir read", "skill-dir none", DECL_SKILL_DIR_NONE},
        /* Any other folder is one that is asked for. */
        {"skill-dir \"/s\"", "read \"/a\"", DECL_SKILL_DIR_NONE},
        {"skill-dir \"/s\"", "write-only \"/s\"", DECL_SKILL_DIR_NONE},
        {"skill-dir \"/s\"", "read \"/\"; deny \"/s\"", DECL_SKILL_DIR_NONE},
        {"skill-dir \"/s\"", "read \"/s/x\"", DECL_SKILL_DIR_NONE},
        {"skill-dir \"/s\"", "read \"/\"", DECL_SKILL_DIR_PATH},
        {"skill-dir \"/s/x\"", "read \"/s\"", DECL_SKILL_DIR_PATH},
        {"skill-dir \"/s\"", "skill-dir \"/s\"", DECL_SKILL_DIR_PATH},
        {"skill-dir \"/s\"", "skill-dir \"/t\"", DECL_SKILL_DIR_NONE},
        {"skill-dir \"/s\"", "read \"/s\"; skill-dir none", DECL_SKILL_DIR_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *k = under(&w, cases[i].declaration, cases[i].ceiling);
        if (k->skill_dir != cases[i].left)
            fail_msg("%s beneath %s", cases[i].declaration, cases[i].ceiling);
        assert_int_equal(w.diags.n > 0, cases[i].left == DECL_SKILL_DIR_NONE);
        world_end(&w);
    }
}

/* A ceiling of variables lets pass what it does not speak of, and nothing else. */
static void test_only_what_is_said(void **state)
{
    (void)state;
    static const char *const texts[] = {"timeout 5", "read \"/a\"", "network open"};
    for (size_t i = 0; i < 3; i++) {
        struct world w;
        world_begin(&w);
        struct ask *cap = ask_of(&w, texts[i], NULL);
        struct decl_profile d = *cap->decl;
        d.only_said = true;
        cap->decl = &d;
        struct ask *k = ask_of(&w, "read \"/b\"; skill-dir \"/s\"; network loopback; timeout 9; fd 3", NULL);
        k->preset.text = "standard";
        ceiling_apply(&w.context, k, cap);
        bool of_paths = i == 1;
        assert_string_equal(at(&w, &k->rules, "/b"), of_paths ? "---" : "r-x");
        assert_int_equal(k->skill_dir, of_paths ? DECL_SKILL_DIR_NONE : DECL_SKILL_DIR_PATH);
        assert_int_equal(k->network.mode, IR_NETWORK_LOOPBACK);
        assert_int_equal(k->limits[IR_LIMIT_TIMEOUT].value, i == 0 ? 5000 : 9000);
        assert_int_equal(k->n_fds, 1);
        world_end(&w);
    }
}

/* What presets grant is narrowed by denies of the ceiling, and by its list of programs. */
static void test_presets(void **state)
{
    (void)state;
    const struct {
        const char *ceiling, *path, *want;
        bool loaders;
    } cases[] = {
        {"read \"/a\"", "/usr", "r-x", false},
        {"deny \"/usr\"", "/usr", "---", false},
        {"deny \"/usr/lib\"", "/usr/lib/x", "---", false},
        {"deny \"/usr/lib\"", "/usr/bin", "r-x", false},
        {"deny exec \"/usr\"", "/usr", "r--", false},
        {"deny write \"/shm\"", "/shm", "r-x", false},
        {"exec \"/usr/bin/sh\"", "/usr", "r--", false},
        {"exec \"/usr/bin/sh\"", "/usr/bin/sh", "r-x", false},
        {"exec \"/usr/bin/sh\"", "/usr", "r-x", true},
        {"exec \"/usr/bin/sh\"; deny \"/usr\"", "/usr", "---", true},
        {"deny \"/\"; read \"/usr\"", "/usr", "r-x", false},
        {"deny \"/\"; read \"/usr\"", "/shm", "---", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *cap = ask_of(&w, cases[i].ceiling, NULL);
        struct rule_list given = {0};
        const struct ir_rule usr = {.path = "/usr",
                                    .path_len = 4,
                                    .allow = IR_READ | IR_EXEC,
                                    .origin = IR_PRESET},
                             shm = {.path = "/shm", .path_len = 4, .allow = IR_ALL, .origin = IR_PRESET};
        rules_add(&given, &w.arena, usr);
        rules_add(&given, &w.arena, shm);
        rules_merge(&given);
        ceiling_presets(&w.context, &given, cap, cases[i].loaders);
        const char *got = at(&w, &given, cases[i].path);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("%s at %s: %s, not %s", cases[i].ceiling, cases[i].path, got, cases[i].want);
        world_end(&w);
    }
}

/* Of random presets nothing is left that a deny of the ceiling speaks of, and nothing joins them. */
static void test_presets_only_shrink(void **state)
{
    (void)state;
    seed = 32;
    for (size_t round = 0; round < 1500; round++) {
        struct world w;
        world_begin(&w);
        const char *text;
        bool list = draw(3) == 0;
        struct said s = random_profile(&w, 7, list, &text);
        if (!list)
            add_default(&s);
        const struct ask *cap = ask_of(&w, text, NULL);
        struct rule_list given = {0};
        for (uint32_t n = draw(6) + 1; n; n--) {
            struct ir_rule r = {.path = paths[draw(N_PATHS)], .origin = IR_PRESET};
            r.path_len = (uint32_t)strlen(r.path);
            r.allow = (uint8_t)(IR_READ | draw(IR_ALL + 1));
            rules_add(&given, &w.arena, r);
        }
        rules_merge(&given);
        const char *had[N_PATHS];
        for (size_t p = 0; p < N_PATHS; p++)
            had[p] = at(&w, &given, paths[p]);
        ceiling_presets(&w.context, &given, cap, false);
        /* A ceiling says nothing of presets but by its denies and its list. */
        struct said all = s;
        all.allow[0] |= IR_ALL & ~(unsigned)(IR_EXEC * list) & ~all.deny[0];
        for (size_t p = 0; p < N_PATHS; p++) {
            const char *got = at(&w, &given, paths[p]), *may = meant(&w, &all, p);
            for (size_t i = 0; i < IR_ACCESS_COUNT; i++)
                if ((got[i] != '-') != (had[p][i] != '-' && may[i] != '-'))
                    fail_msg("%s: %s of %s, by %s", paths[p], got, had[p], text);
        }
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),    cmocka_unit_test(test_decisions_intersect),
        cmocka_unit_test(test_patterns), cmocka_unit_test(test_network),
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_env),
        cmocka_unit_test(test_process),  cmocka_unit_test(test_system_and_folder), cmocka_unit_test(test_only_what_is_said),
        cmocka_unit_test(test_presets),  cmocka_unit_test(test_presets_only_shrink),
    };
    make_paths();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
