/* LINK: src/ask.c src/compose.c src/resolve.c src/rules.c src/sort.c src/pattern.c src/ir.c src/network.c src/units.c src/env_names.c src/decl.c src/frontend/dsl.c src/frontend/keys.c gen/policy.tab.c gen/policy.lex.c src/diag.c src/source.c src/arena.c src/buf.c */
/* Profiles that are used, and scopes that narrow a parent. */
#include "asks.h"

/* ---- use --------------------------------------------------------------------------------------------------
 */

struct decision {
    const char *text, *path, *want;
};

static const struct ask *made(struct world *w, const char *text)
{
    return ask_of(w, text, "p");
}

static void test_use_of_paths(void **state)
{
    (void)state;
    const struct decision cases[] = {
        {"profile a { read \"/a\" }; profile p { use a; write \"/b\" }", "/a", "r-x"},
        {"profile a { read \"/a\" }; profile p { use a; write \"/b\" }", "/b", "rwx"},
        {"profile a { deny \"/a/b\" }; profile p { use a; write \"/a\" }", "/a/b", "---"},
        {"profile a { deny \"/a/b\" }; profile p { use a; write \"/a\"; read \"/a/b\" }", "/a/b", "r--"},
        {"profile a { read \"/a\" }; profile b { deny \"/a\" }; profile p { use a b; read \"/a\" }", "/a",
         "r--"},
        {"profile a { read \"/a\" }; profile b { deny \"/a\" }; profile p { use a b; deny \"/a\" }", "/a",
         "---"},
        /* Each decides its own exec default. */
        {"profile a { read \"/a\" }; profile p { use a; read \"/b\"; exec \"/x\" }", "/a", "r-x"},
        {"profile a { read \"/a\" }; profile p { use a; read \"/b\"; exec \"/x\" }", "/b", "r--"},
        {"profile a { read \"/a\"; exec none }; profile p { use a; read \"/b\" }", "/a", "r--"},
        {"profile a { deny exec \"/a\" }; profile p { use a; read \"/a\" }", "/a", "r--"},
        {"profile a { deny exec \"/a\" }; profile p { use a; read \"/a/b\" }", "/a/b", "r--"},
        {"profile a { deny \"/a\" }; profile p { use a; read \"/a/b\" }", "/a/b", "r-x"},
        /* Reading without exec in a further profile makes no listed program of a path. */
        {"profile a { read \"/a/b\" }; profile b { exec \"/x\"; read \"/a/b\" }; profile c { deny exec "
         "\"/a\" }; "
         "profile p { use a b c }",
         "/a/b", "r--"},
        {"profile a { read \"/a/b\" }; profile c { deny exec \"/a\" }; profile p { use a c; exec \"/x\"; "
         "read \"/a/b\" }",
         "/a/b", "r--"},
        {"profile a { exec \"/a/b\" }; profile b { read \"/a/b\" }; profile c { deny exec \"/a\" }; profile "
         "p { use a b c }",
         "/a/b", "r-x"},
        /* `deny exec` of one and `deny` of another on one path are both. */
        {"profile a { deny exec \"/a\" }; profile b { deny \"/a\" }; profile p { use a b; read \"/a/b\" }",
         "/a/b", "r--"},
        {"profile a { deny exec \"/a\" }; profile p { use a; deny \"/a\"; read \"/a/b\" }", "/a/b", "r--"},
        /* A scope is a profile as well. */
        {"profile r { read \"/a/b\" }; scope a of r { deny write \"/a/b\" }; profile c { deny exec \"/a\" }; "
         "profile p { use a c }",
         "/a/b", "r--"},
        {"profile r { write \"/a\"; deny exec \"/a\" }; scope a of r { deny write \"/a\" }; profile p { use "
         "a; read \"/a/b\" }",
         "/a/b", "r--"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *k = made(&w, cases[i].text);
        const char *got = at(&w, &k->rules, cases[i].path);
        if (w.diags.n_errors || strcmp(got, cases[i].want) != 0)
            fail_msg("%s at %s: %s, not %s", cases[i].text, cases[i].path, got, cases[i].want);
        world_end(&w);
    }
}

/* Texts, and how often the id is said; no other error. */
struct verdict {
    const char *text;
    size_t n;
    const char *part; /* of a message, or NULL */
};

static void assert_verdicts(enum diag_id id, const struct verdict *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world w;
        world_begin(&w);
        made(&w, cases[i].text);
        if (count_of(&w, id) != cases[i].n || w.diags.n_errors != cases[i].n)
            fail_msg("%s: %zu of %s, %zu errors", cases[i].text, count_of(&w, id), diag_name(id),
                     w.diags.n_errors);
        if (cases[i].part && !says(&w, id, cases[i].part))
            fail_msg("%s: nothing says `%s`, but %s", cases[i].text, cases[i].part, w.diags.items[0]->text);
        world_end(&w);
    }
}
#define VERDICTS(id, list) assert_verdicts(id, list, sizeof(list) / sizeof *(list))

static void test_use_clashes(void **state)
{
    (void)state;
    const struct verdict cases[] = {
        {"profile a { read \"/a\" }; profile b { deny \"/a\" }; profile p { use a b }", 1, "/a"},
        {"profile a { deny \"/a/\" }; profile b { read \"//a\" }; profile p { use a b }", 1, "/a"},
        {"profile a { exec \"/a\" }; profile b { deny exec \"/a\" }; profile p { use a b }", 1, "/a"},
        {"profile a { read \"/a\" }; profile b { deny exec \"/a\" }; profile p { use a b }", 0, NULL},
        {"profile a { timeout 1 }; profile b { timeout 2 }; profile p { use a b }", 1, "timeout"},
        {"profile a { timeout 1 }; profile b { timeout 1 }; profile p { use a b }", 0, NULL},
        {"profile a { timeout 1 }; profile b { timeout 2 }; profile p { use a b; timeout 3 }", 0, NULL},
        {"profile a { limits { memory 1M } }; profile b { limits { memory 2M } }; profile p { use a b }", 1,
         "memory"},
        {"profile a { system none }; profile b { system minimal }; profile p { use a b }", 1, "system"},
        {"profile a { image \"x\" }; profile b { image \"y\" }; profile p { use a b }", 1, "image"},
        {"profile a { tty none }; profile b { tty inherit }; profile p { use a b }", 1, "tty"},
        {"profile a { tty none }; profile b { tty inherit }; profile p { use a b; tty none }", 0, NULL},
        {"profile a { trust core }; profile b { trust external }; profile p { use a b }", 1, "trust"},
        {"profile a { workdir \"/a\" }; profile b { workdir \"/b\" }; profile p { use a b }", 1, "workdir"},
        {"profile a { skill-dir \"/a\" }; profile b { skill-dir none }; profile p { use a b }", 1,
         "skill-dir"},
        {"profile a { env { set A \"1\" } }; profile b { env { set A \"2\" } }; profile p { use a b }", 1,
         "A"},
        {"profile a { env { set A \"1\" } }; profile b { env { set A \"2\" } }; profile p { use a b; env { "
         "set A \"3\" } }",
         0, NULL},
        {"profile a { network loopback }; profile b { network allow \"x.example:1\" }; profile p { use a b }",
         1, "network"},
        {"profile a { network open }; profile b { network loopback }; profile p { use a b }", 0, NULL},
        {"profile a { network open }; profile p { use a; network none }", 1, "network none"},
        {"profile a { network none }; profile p { use a; network open }", 0, NULL},
        /* A diamond is made once, and does not differ from itself. */
        {"profile r { timeout 1; read \"/a\"; env { set A \"1\" } }; profile a { use r }; profile b { use r "
         "}; "
         "profile p { use a b }",
         0, NULL},
    };
    VERDICTS(DIAG_CLASH, cases);
}

static void test_cycles(void **state)
{
    (void)state;
    const struct verdict cases[] = {
        {"profile p { use p }", 1, "itself"},
        {"profile a { use p }; profile p { use a }", 1, "itself"},
        {"profile a { use b }; profile b { use a }; profile p { use a }", 1, "itself"},
        {"scope p of p { }", 1, "itself"},
        {"profile a { use p }; scope p of a { }", 1, "itself"},
    };
    VERDICTS(DIAG_CYCLE, cases);
    for (int depth = 63; depth <= 66; depth++) {
        struct world w;
        world_begin(&w);
        const char *text = "profile n0 { read \"/a\" }; ";
        for (int i = 1; i < depth; i++)
            text = arena_printf(&w.arena, "%sprofile n%d { use n%d }; ", text, i, i - 1);
        text = arena_printf(&w.arena, "%sprofile p { use n%d }", text, depth - 1);
        const struct ask *k = made(&w, text);
        bool fits = depth <= 63;
        assert_int_equal(count_of(&w, DIAG_CYCLE), !fits);
        assert_string_equal(at(&w, &k->rules, "/a"), fits ? "r-x" : "---");
        world_end(&w);
    }
}

static void test_use_of_the_rest(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    const struct ask *k = made(
        &w,
        "profile a { network allow \"x.example:1\"; listen 9; fd 4; env { allow \"A*\"; deny \"AB\" }; spawn "
        "deny };"
        "profile b { network allow \"y.example:2\"; listen 8 9; fd 3 4; timeout 5; limits { open-files 7 } };"
        "profile p { use a b; env none; network allow \"x.example:1\" }");
    assert_int_equal(w.diags.n_errors, 0);
    assert_int_equal(k->network.mode, IR_NETWORK_ALLOW);
    assert_int_equal(k->network.n_endpoints, 2);
    assert_int_equal(k->network.n_listen, 2);
    assert_int_equal(k->network.listen[0].port, 8);
    assert_int_equal(k->n_fds, 2);
    assert_int_equal(k->fds[0].fd, 3);
    assert_true(env_names_cover(&k->env_allow, "AX"));
    assert_true(env_names_deny(&k->env_deny, "AB"));
    assert_non_null(k->spawn_span.src);
    assert_int_equal(k->limits[IR_LIMIT_TIMEOUT].value, 5000);
    assert_int_equal(k->limits[IR_LIMIT_OPEN_FILES].value, 7);
    world_end(&w);
}

/* What three profiles say together: the using profile's words at a path first; what another has by default
 * only yields to any deny. False where two used profiles contradict each other. */
static bool join(const struct said *own, const struct said used[2], struct said *out)
{
    memset(out, 0, sizeof *out);
    for (size_t p = 0; p < N_PATHS; p++) {
        unsigned allow = used[0].allow[p] | used[1].allow[p], deny = used[0].deny[p] | used[1].deny[p];
        bool weak = used[0].weak[p] || used[1].weak[p], no_exec = used[0].no_exec[p] || used[1].no_exec[p];
        bool own_weak = own->weak[p] && !(deny & IR_EXEC);
        unsigned decided = own->allow[p] | own->deny[p] | (own->weak[p] ? (unsigned)IR_EXEC : 0);
        if (allow & deny & ~decided)
            return false;
        decided = own->allow[p] | own->deny[p] | (own_weak ? (unsigned)IR_EXEC : 0);
        out->allow[p] = own->allow[p] | (allow & ~deny & ~decided);
        out->deny[p] = own->deny[p] | (deny & ~decided);
        out->weak[p] = !((out->allow[p] | out->deny[p]) & IR_EXEC) && (own_weak || weak);
        out->no_exec[p] = own->no_exec[p] || (no_exec && !(out->allow[p] & IR_EXEC));
    }
    for (size_t p = 0; p < N_PATHS; p++)
        if (out->weak[p] && exec_is_denied(out, p))
            out->weak[p] = false;
    return true;
}

static void test_use_joins_decisions(void **state)
{
    (void)state;
    seed = 21;
    size_t clashes = 0;
    for (size_t round = 0; round < 3000; round++) {
        struct world w;
        world_begin(&w);
        const char *text[3];
        struct said said[3], all;
        for (size_t i = 0; i < 3; i++) {
            bool list = draw(3) == 0;
            said[i] = random_profile(&w, 6, list, &text[i]);
            if (!list)
                add_default(&said[i]);
        }
        bool agree = join(&said[0], &said[1], &all);
        const char *whole = arena_printf(&w.arena, "profile p { %suse %s }; profile a { %s}; profile b { %s}",
                                         text[0], round % 2 ? "a b" : "b a", text[1], text[2]);
        const struct ask *k = made(&w, whole);
        if (agree != !count_of(&w, DIAG_CLASH))
            fail_msg("%zu clashes in %s", count_of(&w, DIAG_CLASH), whole);
        assert_int_equal(w.diags.n_errors, count_of(&w, DIAG_CLASH));
        if (agree)
            assert_means(&w, &all, &k->rules, whole);
        clashes += !agree;
        world_end(&w);
    }
    assert_in_range(clashes, 50, 1000);
}

/* A deny of a used profile holds at its path, unless the using profile speaks of that kind there. */
static void test_a_used_deny_holds(void **state)
{
    (void)state;
    seed = 22;
    for (size_t round = 0; round < 2000; round++) {
        struct world w;
        world_begin(&w);
        const char *text[2];
        bool list = draw(3) == 0;
        struct said own = random_profile(&w, 6, list, &text[0]),
                    used = random_profile(&w, 6, false, &text[1]);
        const char *whole =
            arena_printf(&w.arena, "profile p { %suse a }; profile a { %s}", text[0], text[1]);
        const struct ask *k = made(&w, whole);
        assert_int_equal(w.diags.n_errors, 0);
        for (size_t p = 0; p < N_PATHS; p++)
            for (size_t i = 0; i < IR_ACCESS_COUNT; i++)
                if (used.deny[p] & ~own.allow[p] & 1u << i && at(&w, &k->rules, paths[p])[i] != '-')
                    fail_msg("%s of %s, by: %s", at(&w, &k->rules, paths[p]), paths[p], whole);
        world_end(&w);
    }
}

/* ---- scope ------------------------------------------------------------------------------------------------
 */

#define BASE                                                                                                \
    "profile r { read \"/a\"; write \"/b\"; deny \"/a/d\"; network allow \"x.example:1\" \".y.example:*\" " \
    "\"192.0.2.0/24:5\"; "                                                                                  \
    "listen 80; env { allow \"A*\" \"X\"; deny \"AB\" \"AC*\" }; timeout 10; limits { memory 1M; "          \
    "kill-after 1s }; "                                                                                     \
    "system minimal; fd 3; tty none }; "

static void test_scopes_within(void **state)
{
    (void)state;
    const struct verdict cases[] = {
        {BASE "scope p of r { }", 0, NULL},
        {BASE "scope p of r { read \"/a/b\" }", 0, NULL},
        {BASE "scope p of r { read \"/a\"; deny \"/a/d\" }", 0, NULL},
        {BASE "scope p of r { deny \"/\" }", 0, NULL},
        {BASE "scope p of r { network none }", 0, NULL},
        {BASE "scope p of r { network allow \"z.y.example:7\" \"192.0.2.128/25:5\" }", 0, NULL},
        {BASE "scope p of r { env { allow \"AX*\" \"X\" } }", 0, NULL},
        {BASE "scope p of r { env { allow \"A*\"; deny \"AB\" \"AC*\" } }", 0, NULL},
        {BASE "scope p of r { env { allow \"A*\"; deny \"AB*\" \"A*\" } }", 0, NULL},
        {BASE "scope p of r { timeout 10; limits { memory 1M; cpu 2 } }", 0, NULL},
        {BASE "scope p of r { system none }", 0, NULL},
        {BASE "scope p of r { fd 3; tty none; listen 80 }", 0, NULL},
        {"profile r { read \"/a/*.c\" }; scope p of r { read \"/a/*.c\" }", 0, NULL},
        {"profile r { read \"/a\" }; scope p of r { read \"/a/*.c\" }", 0, NULL},
        {"profile r { read \"/a\"; deny \"/a/*.k\" }; scope p of r { read \"/a\"; deny \"/a/*.k\" }", 0,
         NULL},
    };
    VERDICTS(DIAG_WIDER, cases);
}

/* Each kind of widening, with its witness. */
static void test_scopes_beyond(void **state)
{
    (void)state;
    const struct verdict cases[] = {
        {BASE "scope p of r { read \"/\" }", 1, "reading of /"},
        {BASE "scope p of r { write \"/a/b\" }", 1, "writing of /a/b"},
        {BASE "scope p of r { read \"/a\" }", 1, "reading of /a/d"},
        {BASE "scope p of r { read \"/a/d/x\" }", 1, "reading of /a/d/x"},
        {BASE "scope p of r { network open }", 1, "another network"},
        {BASE "scope p of r { network loopback }", 1, "another network"},
        {BASE "scope p of r { network allow \"x.example:2\" }", 1, "x.example:2"},
        {BASE "scope p of r { network allow \"y.example:2\" }", 1, "y.example:2"},
        {BASE "scope p of r { network allow \"192.0.2.0/23:5\" }", 1, "192.0.2.0/23:5"},
        {BASE "scope p of r { listen 81 }", 1, "port 81"},
        {BASE "scope p of r { network allow \"unix:/s\" }", 1, "/s"},
        {BASE "scope p of r { env { allow \"Y\" } }", 1, "variable Y"},
        {BASE "scope p of r { env { allow \"A*\" } }", 1, "variable A*"},
        {BASE "scope p of r { env { allow \"A*\"; deny \"AB\" } }", 1, "variable A*"},
        {BASE "scope p of r { env { set Z \"1\" } }", 1, "value of Z"},
        {BASE "scope p of r { env { set AB \"1\" } }", 1, "value of AB"},
        {BASE "scope p of r { timeout 11 }", 1, "timeout"},
        {BASE "scope p of r { timeout none }", 1, "timeout"},
        {BASE "scope p of r { limits { memory 2M } }", 1, "memory"},
        {BASE "scope p of r { limits { kill-after 2s } }", 1, "kill-after"},
        {BASE "scope p of r { system standard }", 1, "system standard"},
        {BASE "scope p of r { trust core }", 1, "trust core"},
        {BASE "scope p of r { fd 4 }", 1, "descriptor 4"},
        {BASE "scope p of r { tty inherit }", 1, "tty inherit"},
        {BASE "scope p of r { skill-dir \"/a\" }", 1, "skill-dir"},
        /* The parent's defaults are caps as well. */
        {"profile r { read \"/a\" }; scope p of r { timeout 61 }", 1, "timeout"},
        {"profile r { read \"/a\" }; scope p of r { limits { kill-after 3s } }", 1, "kill-after"},
        {"profile r { read \"/a\"; exec \"/x\" }; scope p of r { exec default }", 1, "exec default"},
        {"profile r { read \"/a\"; exec \"/x\" }; scope p of r { exec \"/a/y\" }", 1, "executing of /a/y"},
        {"profile r { read \"/a/*.c\" }; scope p of r { read \"/a/*\" }", 1, "/a/*"},
        {"profile r { read \"/a\"; deny \"/a/b\" }; scope p of r { read \"/a/*\" }", 1, "/a/*"},
        {"profile r { read \"/a\"; deny \"/a/*.k\" }; scope p of r { read \"/a\" }", 1, "by a pattern"},
        {"profile r { read \"/a\"; deny \"/a/*.k\" }; scope p of r { read \"/a\"; deny \"/a/*.x\" }", 1,
         "by a pattern"},
        {"profile r { read \"/a\"; deny \"/a/*.k\" }; scope p of r { read \"/a\"; deny write \"/a/*.k\" }", 1,
         "by a pattern"},
    };
    VERDICTS(DIAG_WIDER, cases);
}

static void test_scope_replaces_what_it_mentions(void **state)
{
    (void)state;
    const struct decision cases[] = {
        {BASE "scope p of r { timeout 1 }", "/b", "rwx"},
        {BASE "scope p of r { read \"/b\" }", "/b", "r-x"},
        {BASE "scope p of r { read \"/b\" }", "/a", "---"},
        {BASE "scope p of r { deny \"/a/b\" }", "/a/b", "---"},
        {BASE "scope p of r { deny \"/a/b\" }", "/a/c", "r-x"},
        {BASE "scope p of r { deny write \"/b\" }", "/b", "r-x"},
        {BASE "scope p of r { deny exec \"/\" }", "/b", "rw-"},
        {BASE "scope p of r { exec none }", "/b", "rw-"},
        {BASE "scope p of r { exec \"/a/x\" }", "/a/x", "r-x"},
        {BASE "scope p of r { exec \"/a/x\" }", "/a/y", "r--"},
        {"profile r { read \"/a\"; exec \"/x\" }; scope p of r { read \"/a/b\" }", "/x", "r-x"},
        {"profile r { read \"/a\"; exec \"/x\" }; scope p of r { read \"/a/b\" }", "/a/b", "r--"},
        {"profile r { read \"/a\"; exec \"/x\" }; scope p of r { read \"/a/b\"; deny \"/x\" }", "/x", "---"},
        {"profile r { read \"/a\"; exec \"/x\" }; scope p of r { read \"/a/b\"; deny exec \"/x\" }", "/x",
         "---"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        const struct ask *k = made(&w, cases[i].text);
        const char *got = at(&w, &k->rules, cases[i].path);
        if (w.diags.n_errors || strcmp(got, cases[i].want) != 0)
            fail_msg("%s at %s: %s, not %s", cases[i].text, cases[i].path, got, cases[i].want);
        world_end(&w);
    }
}

/* A random scope is never wider than its parent without a word, and denies alone never widen nor complain. */
static void test_scopes_lie_within(void **state)
{
    (void)state;
    seed = 23;
    size_t within = 0, beyond = 0;
    for (size_t round = 0; round < 3000; round++) {
        struct world w;
        world_begin(&w);
        const char *text[2];
        random_profile(&w, 7, draw(3) == 0, &text[0]);
        random_profile(&w, 4, draw(3) == 0, &text[1]);
        const char *whole = arena_printf(&w.arena, "scope p of r { %s}; profile r { %s}", text[1], text[0]);
        const struct ask *k = made(&w, whole), *r = ask_of(&w, whole, "r");
        const char *wide = NULL;
        for (size_t p = 0; p < N_PATHS; p++) {
            const char *has = at(&w, &k->rules, paths[p]), *may = at(&w, &r->rules, paths[p]);
            for (size_t i = 0; i < IR_ACCESS_COUNT; i++)
                if (has[i] != '-' && may[i] == '-')
                    wide = paths[p];
        }
        /* `exec default` beneath a list is said even where no path shows it. */
        if (wide && !count_of(&w, DIAG_WIDER))
            fail_msg("wider at %s, and nothing says so: %s", wide, whole);
        if (!wide && count_of(&w, DIAG_WIDER) && !says(&w, DIAG_WIDER, "exec default"))
            fail_msg("not wider, but `%s`: %s", w.diags.items[0]->text, whole);
        *(wide ? &beyond : &within) += 1;
        world_end(&w);
    }
    assert_true(within > 200 && beyond > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_use_of_paths),
        cmocka_unit_test(test_use_clashes),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_use_of_the_rest),
        cmocka_unit_test(test_use_joins_decisions),
        cmocka_unit_test(test_a_used_deny_holds),
        cmocka_unit_test(test_scopes_within),
        cmocka_unit_test(test_scopes_beyond),
        cmocka_unit_test(test_scope_replaces_what_it_mentions),
        cmocka_unit_test(test_scopes_lie_within),
    };
    make_paths();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
