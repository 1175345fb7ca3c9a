/* LINK: src/rules.c src/sort.c src/ir.c src/pattern.c src/network.c src/units.c src/diag.c src/source.c src/arena.c src/buf.c */
/* Lists of rules against an evaluator that does nothing but look for the nearest rule. Random lists over a
 * small tree come from a fixed seed, so that a failure comes again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rules.h"

/* Every path that is asked about: names that are prefixes of each other, and bytes around '/'. */
static const char *const NAMES[] = {"a", "a-", "a.b", "b"};
enum {
    N_NAMES = sizeof NAMES / sizeof *NAMES,
    N_PATHS = 1 + N_NAMES + N_NAMES * N_NAMES + N_NAMES * N_NAMES * N_NAMES
};
enum { ROUNDS = 3000, MAX_RULES = 14 };

static char paths[N_PATHS][16];
static size_t parents[N_PATHS]; /* index of the folder; of "/" itself */

static int make_paths(void **state)
{
    (void)state;
    size_t n = 0;
    strcpy(paths[n++], "/");
    for (size_t at = 0; n < N_PATHS; at++)
        for (size_t i = 0; i < N_NAMES; i++) {
            snprintf(paths[n], sizeof *paths, "%s/%s", at ? paths[at] : "", NAMES[i]);
            parents[n++] = at;
        }
    return 0;
}

/* xorshift: the same numbers everywhere. */
static uint32_t seed;
static uint32_t draw(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

/* What a list means: at most one word for each path. */
struct meaning {
    uint8_t allow[N_PATHS], deny[N_PATHS];
};

static struct meaning random_meaning(bool denies)
{
    struct meaning m = {0};
    for (uint32_t n = draw(MAX_RULES) + 1; n; n--) {
        size_t p = draw(N_PATHS);
        m.allow[p] = (uint8_t)draw(IR_ALL + 1);
        m.deny[p] = denies ? (uint8_t)(draw(IR_ALL + 1) & ~m.allow[p]) : 0;
    }
    return m;
}

/* By definition: for each kind the nearest path at or above that speaks of it. */
static unsigned decides(const struct meaning *m, size_t p)
{
    unsigned result = 0;
    for (unsigned kind = 1; kind <= IR_ALL; kind <<= 1)
        for (size_t at = p;; at = parents[at]) {
            if ((m->allow[at] | m->deny[at]) & kind) {
                result |= m->allow[at] & kind;
                break;
            }
            if (!at)
                break;
        }
    return result;
}

static struct ir_rule rule(const char *path, unsigned allow, unsigned deny)
{
    return (struct ir_rule){
        .path = path, .path_len = (uint32_t)strlen(path), .allow = (uint8_t)allow, .deny = (uint8_t)deny};
}

/* The same meaning, said in several rules and in any order. */
static struct rule_list written(const struct meaning *m, struct arena *a)
{
    struct rule_list l = {0};
    for (size_t p = 0; p < N_PATHS; p++) {
        if (!(m->allow[p] | m->deny[p]))
            continue;
        unsigned part = draw(IR_ALL + 1);
        rules_add(&l, a, rule(paths[p], m->allow[p] & part, m->deny[p]));
        rules_add(&l, a, rule(paths[p], m->allow[p] & ~part, m->deny[p] & part));
        if (draw(2))
            rules_add(&l, a, rule(paths[p], m->allow[p], m->deny[p]));
    }
    for (size_t i = l.n; i > 1; i--) {
        size_t j = draw((uint32_t)i);
        struct ir_rule swap = l.items[i - 1];
        l.items[i - 1] = l.items[j];
        l.items[j] = swap;
    }
    return l;
}

static unsigned list_decides(const struct rule_list *l, const char *path)
{
    struct ir_policy p = {.rules = l->items, .n_rules = l->n};
    unsigned result = 0;
    for (unsigned kind = 1; kind <= IR_ALL; kind <<= 1)
        result |= ir_allows(&p, path, kind) ? kind : 0;
    return result;
}

static void assert_sorted(const struct rule_list *l)
{
    for (size_t i = 1; i < l->n; i++)
        assert_true(ir_path_cmp(l->items[i - 1].path, l->items[i].path) < 0);
}

/* Normal form as the header defines it: a rule where the decision differs from the folder's, and nowhere
 * else. */
static void assert_normal(const struct rule_list *l, const unsigned *decision)
{
    size_t n = 0;
    assert_sorted(l);
    for (size_t p = 0; p < N_PATHS; p++) {
        unsigned above = p ? decision[parents[p]] : 0;
        n += decision[p] != above;
    }
    assert_int_equal(l->n, n);
    for (size_t i = 0; i < l->n; i++) {
        size_t p = 0;
        while (strcmp(paths[p], l->items[i].path) != 0)
            p++;
        unsigned above = p ? decision[parents[p]] : 0;
        assert_int_not_equal(decision[p], above);
        assert_int_equal(l->items[i].allow, decision[p]);
        assert_int_equal(l->items[i].deny, above & ~decision[p]);
    }
}

static void test_merge_and_fold_keep_decisions(void **state)
{
    (void)state;
    seed = 1;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct arena a;
        arena_init(&a, NULL, NULL);
        struct meaning m = random_meaning(true);
        struct rule_list l = written(&m, &a);
        unsigned decision[N_PATHS];
        rules_merge(&l);
        assert_sorted(&l);
        for (size_t p = 0; p < N_PATHS; p++) {
            decision[p] = decides(&m, p);
            assert_int_equal(list_decides(&l, paths[p]), decision[p]);
        }
        rules_fold(&l);
        for (size_t p = 0; p < N_PATHS; p++)
            assert_int_equal(list_decides(&l, paths[p]), decision[p]);
        assert_normal(&l, decision);
        size_t n = l.n;
        rules_fold(&l);
        assert_int_equal(l.n, n);
        assert_normal(&l, decision);
        arena_done(&a);
    }
}

/* Never wider than either side, never narrower than both, whatever is written. */
static void test_intersection(void **state)
{
    (void)state;
    seed = 2;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct arena a;
        arena_init(&a, NULL, NULL);
        bool denies = round % 2;
        struct meaning x = random_meaning(denies), y = random_meaning(denies);
        struct rule_list asked = written(&x, &a), cap = written(&y, &a);
        uint8_t lost[MAX_RULES * 3];
        unsigned decision[N_PATHS];
        rules_merge(&asked);
        rules_merge(&cap);
        struct rule_list both = rules_intersect(&asked, &cap, lost, &a);
        for (size_t p = 0; p < N_PATHS; p++) {
            decision[p] = decides(&x, p) & decides(&y, p);
            assert_int_equal(list_decides(&both, paths[p]), decision[p]);
        }
        assert_normal(&both, decision);
        for (size_t i = 0; i < asked.n; i++)
            assert_int_equal(lost[i], asked.items[i].allow & ~list_decides(&cap, asked.items[i].path));
        arena_done(&a);
    }
}

static void test_intersection_of_nothing(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    struct rule_list none = {0}, one = {0};
    uint8_t lost[1] = {0};
    rules_add(&one, &a, rule("/a", IR_READ, 0));
    assert_int_equal(rules_intersect(&one, &none, lost, &a).n, 0);
    assert_int_equal(lost[0], IR_READ);
    assert_int_equal(rules_intersect(&none, &one, lost, &a).n, 0);
    assert_int_equal(rules_intersect(&none, &none, lost, &a).n, 0);
    rules_merge(&none);
    rules_fold(&none);
    assert_int_equal(none.n, 0);
    arena_done(&a);
}

/* A ceiling's root is what is left of a wider request; its place and type then come from the ceiling. */
static void test_places_of_an_intersection(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    struct rule_list asked = {0}, cap = {0};
    struct ir_rule wide = rule("/a", IR_READ, 0), same = rule("/b", IR_READ, 0),
                   root = rule("/a/b", IR_READ, 0);
    wide.type = IR_TYPE_DIR;
    same.type = IR_TYPE_FILE;
    same.span.start = 7;
    root.type = IR_TYPE_FILE;
    root.span.start = 9;
    rules_add(&asked, &a, wide);
    rules_add(&asked, &a, same);
    rules_add(&cap, &a, root);
    same.type = IR_TYPE_DIR;
    same.span.start = 11;
    rules_add(&cap, &a, same);
    uint8_t lost[2];
    struct rule_list both = rules_intersect(&asked, &cap, lost, &a);
    assert_int_equal(both.n, 2);
    assert_string_equal(both.items[0].path, "/a/b");
    assert_int_equal(both.items[0].span.start, 9);
    assert_int_equal(both.items[0].type, IR_TYPE_FILE);
    assert_int_equal(both.items[1].span.start, 7);
    assert_int_equal(both.items[1].type, IR_TYPE_FILE);
    arena_done(&a);
}

/* The private TMPDIR is a tree of its own: "" there is not "/". */
static void test_roots_are_apart(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    struct rule_list l = {0};
    struct ir_rule tmp = rule("", IR_ALL, 0), beneath = rule("/a", IR_READ, 0);
    tmp.root = beneath.root = IR_ROOT_TMPDIR;
    rules_add(&l, &a, beneath);
    rules_add(&l, &a, tmp);
    rules_add(&l, &a, rule("/a", IR_READ, 0));
    rules_add(&l, &a, rule("/", IR_READ, 0));
    rules_merge(&l);
    assert_int_equal(l.n, 4);
    rules_fold(&l);
    assert_int_equal(l.n, 2);
    assert_int_equal(l.items[0].root, IR_ROOT_SLASH);
    assert_string_equal(l.items[0].path, "/");
    assert_int_equal(l.items[1].root, IR_ROOT_TMPDIR);
    assert_string_equal(l.items[1].path, "");
    arena_done(&a);
}

struct origins {
    enum ir_origin a, b;
    unsigned allow_a, allow_b;
    /* What one rule says after both were merged. */
    enum ir_origin origin;
    unsigned allow;
};

static void test_origins(void **state)
{
    (void)state;
    const unsigned rx = IR_READ | IR_EXEC, rw = IR_READ | IR_WRITE, all = IR_ALL;
    const struct origins cases[] = {
        /* A declared rule replaces that of a preset, also where it grants less. */
        {IR_DECLARED, IR_PRESET, rx, all, IR_DECLARED, rx},
        {IR_DECLARED, IR_PRESET, all, rx, IR_DECLARED, all},
        /* So does the rule for the folder of the skill. */
        {IR_SKILL_DIR, IR_PRESET, rx, rw, IR_SKILL_DIR, rx},
        {IR_DECLARED, IR_SKILL_DIR, rw, rx, IR_DECLARED, all},
        /* The floor stays, and stays the sandbox's own; but what it has not got comes from the host. */
        {IR_DECLARED, IR_FLOOR, rx, IR_READ, IR_FLOOR, rx},
        {IR_DECLARED, IR_FLOOR, rx, rw, IR_FLOOR, all},
        {IR_DECLARED, IR_FLOOR, all, rw, IR_FLOOR, all},
        {IR_DECLARED, IR_FLOOR, all, IR_READ, IR_DECLARED, all},
        {IR_PRESET, IR_FLOOR, rx, IR_READ, IR_FLOOR, rx},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const struct origins *c = &cases[i / 2];
        struct arena a;
        struct rule_list l = {0};
        struct ir_rule x = rule("/p", c->allow_a, 0), y = rule("/p", c->allow_b, 0);
        arena_init(&a, NULL, NULL);
        x.origin = (uint8_t)c->a;
        y.origin = (uint8_t)c->b;
        rules_add(&l, &a, i % 2 ? y : x);
        rules_add(&l, &a, i % 2 ? x : y);
        rules_merge(&l);
        assert_int_equal(l.n, 1);
        assert_int_equal(l.items[0].origin, c->origin);
        assert_int_equal(l.items[0].allow, c->allow);
        arena_done(&a);
    }
}

/* Required beats optional; a plain path beats one that may be a link. */
static void test_flags(void **state)
{
    (void)state;
    struct arena a;
    struct rule_list l = {0};
    struct ir_rule x = rule("/p", IR_READ, 0), y = x;
    arena_init(&a, NULL, NULL);
    x.flags = IR_OPTIONAL | IR_FOLLOW;
    y.flags = IR_OPTIONAL;
    rules_add(&l, &a, x);
    rules_add(&l, &a, y);
    rules_merge(&l);
    assert_int_equal(l.items[0].flags, IR_OPTIONAL);
    y.flags = 0;
    rules_add(&l, &a, y);
    rules_merge(&l);
    assert_int_equal(l.items[0].flags, 0);
    arena_done(&a);
}

/* A preset is not what the declaration repeats: where an image brings the system its rules are left out. */
static void test_own_rules_stay_beneath_a_preset(void **state)
{
    (void)state;
    struct arena a;
    struct rule_list l = {0};
    struct ir_rule preset = rule("/usr", IR_READ, 0), own = rule("/usr/x", IR_READ, 0),
                   more = rule("/usr/x/y", IR_READ, 0);
    struct ir_rule other = rule("/usr/z", IR_READ, 0);
    arena_init(&a, NULL, NULL);
    preset.origin = other.origin = IR_PRESET;
    rules_add(&l, &a, preset);
    rules_add(&l, &a, own);
    rules_add(&l, &a, more);
    rules_add(&l, &a, other);
    rules_fold(&l);
    assert_int_equal(l.n, 2);
    assert_string_equal(l.items[1].path, "/usr/x");
    arena_done(&a);
}

static void test_beneath(void **state)
{
    (void)state;
    seed = 3;
    for (size_t round = 0; round < ROUNDS / 4; round++) {
        struct arena a;
        arena_init(&a, NULL, NULL);
        struct meaning m = random_meaning(false);
        struct rule_list l = written(&m, &a);
        rules_merge(&l);
        for (size_t p = 0; p < N_PATHS; p++) {
            size_t first, n = rules_beneath(&l, IR_ROOT_SLASH, paths[p], &first), expect = 0;
            for (size_t i = 0; i < l.n; i++)
                expect += strcmp(l.items[i].path, paths[p]) != 0 && ir_path_within(l.items[i].path, paths[p]);
            assert_int_equal(n, expect);
            for (size_t i = first; i < first + n; i++)
                assert_true(ir_path_within(l.items[i].path, paths[p]));
            const struct ir_rule *at = rules_at(&l, IR_ROOT_SLASH, paths[p]);
            assert_int_equal(at != NULL, (m.allow[p] | m.deny[p]) != 0);
            assert_true(!at || !strcmp(at->path, paths[p]));
            assert_null(rules_at(&l, IR_ROOT_TMPDIR, paths[p]));
        }
        arena_done(&a);
    }
}

/* A witness is found if and only if there is one, and it is one. */
static void test_beyond(void **state)
{
    (void)state;
    seed = 4;
    size_t within = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct arena a;
        arena_init(&a, NULL, NULL);
        struct meaning x = random_meaning(true), y = random_meaning(true);
        if (round % 2) /* often within: the same and a deny or two */
            for (size_t p = (y = x, 0); p < N_PATHS; p++)
                if (!(x.allow[p] | x.deny[p]) && draw(40) == 0)
                    x.deny[p] = IR_ALL;
        struct rule_list asked = written(&x, &a), cap = written(&y, &a);
        rules_merge(&asked);
        rules_merge(&cap);
        bool wider = false;
        for (size_t p = 0; p < N_PATHS; p++)
            wider |= (decides(&x, p) & ~decides(&y, p)) != 0;
        const char *path = NULL;
        unsigned kinds = 0;
        const struct ir_rule *by[2] = {NULL};
        assert_int_equal(rules_beyond(&asked, &cap, &a, &path, &kinds, by), wider);
        if (wider) {
            assert_int_equal(list_decides(&asked, path) & ~list_decides(&cap, path), kinds);
            assert_true(kinds && by[0] && ir_path_within(path, by[0]->path));
            assert_true(!by[1] || ir_path_within(path, by[1]->path));
        }
        within += !wider;
        arena_done(&a);
    }
    assert_in_range(within, ROUNDS / 10, ROUNDS - ROUNDS / 10);
}

static void test_looking_up(void **state)
{
    (void)state;
    seed = 5;
    for (size_t round = 0; round < ROUNDS / 4; round++) {
        struct arena a;
        arena_init(&a, NULL, NULL);
        struct meaning m = random_meaning(true);
        struct rule_list l = written(&m, &a);
        rules_merge(&l);
        for (size_t p = 0; p < N_PATHS; p++) {
            for (unsigned kinds = 1; kinds <= IR_ALL; kinds++)
                assert_int_equal(rules_allow(&l, IR_ROOT_SLASH, paths[p], kinds), !(kinds & ~decides(&m, p)));
            size_t up = p;
            while (up && !(m.allow[up] | m.deny[up]))
                up = parents[up];
            const struct ir_rule *r = rules_nearest(&l, IR_ROOT_SLASH, paths[p]);
            assert_int_equal(r != NULL, (m.allow[up] | m.deny[up]) != 0);
            assert_true(!r || !strcmp(r->path, paths[up]));
            struct rule_list in = rules_within(&l, IR_ROOT_SLASH, paths[p]);
            size_t expect = 0;
            for (size_t i = 0; i < l.n; i++)
                expect += ir_path_within(l.items[i].path, paths[p]);
            assert_int_equal(in.n, expect);
            for (size_t i = 0; i < in.n; i++)
                assert_true(ir_path_within(in.items[i].path, paths[p]));
        }
        arena_done(&a);
    }
}

/* Joining is adding one by one and merging. */
static void test_join(void **state)
{
    (void)state;
    seed = 6;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct arena a;
        arena_init(&a, NULL, NULL);
        struct meaning x = random_meaning(true), y = random_meaning(true);
        struct rule_list l = written(&x, &a), more = written(&y, &a), both = {0};
        rules_merge(&l);
        for (size_t i = 0; i < more.n; i++)
            more.items[i].origin = (uint8_t)(IR_PRESET + round % 2);
        for (size_t i = 0; i < l.n; i++)
            rules_add(&both, &a, l.items[i]);
        for (size_t i = 0; i < more.n; i++)
            rules_add(&both, &a, more.items[i]);
        rules_merge(&both);
        rules_join(&l, &more, &a);
        assert_int_equal(l.n, both.n);
        for (size_t i = 0; i < l.n; i++) {
            assert_string_equal(l.items[i].path, both.items[i].path);
            assert_int_equal(l.items[i].allow, both.items[i].allow);
            assert_int_equal(l.items[i].deny, both.items[i].deny);
            assert_int_equal(l.items[i].origin, both.items[i].origin);
        }
        arena_done(&a);
    }
}

struct reports {
    size_t n;
    unsigned kinds[N_PATHS];
    bool by_is_nearest;
};

static size_t index_of(const char *path)
{
    size_t p = 0;
    while (strcmp(paths[p], path) != 0)
        p++;
    return p;
}

static void take(void *ctx, const struct ir_rule *r, unsigned kinds, const struct ir_rule *by)
{
    struct reports *said = ctx;
    said->n++;
    said->kinds[index_of(r->path)] = kinds;
    said->by_is_nearest &= by && by->deny & kinds && ir_path_within(r->path, by->path);
}

/* The nearest word on one kind, from a path upward: 1 allow, -1 deny, 0 none. */
static int word(const struct meaning *m, size_t p, unsigned kind)
{
    for (;; p = parents[p]) {
        if ((m->allow[p] | m->deny[p]) & kind)
            return m->allow[p] & kind ? 1 : -1;
        if (!p)
            return 0;
    }
}

/* What presets lose is just what the nearest word at or above denies; it is marked and said. */
static void test_cut(void **state)
{
    (void)state;
    seed = 7;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct arena a;
        arena_init(&a, NULL, NULL);
        struct meaning said = random_meaning(round % 4 != 0), given = random_meaning(false);
        struct rule_list l = written(&given, &a), by = written(&said, &a);
        rules_merge(&l);
        rules_merge(&by);
        struct reports out = {.by_is_nearest = true};
        rules_cut(&l, &by, take, &out);
        size_t cuts = 0;
        for (size_t i = 0; i < l.n; i++) {
            size_t p = index_of(l.items[i].path);
            unsigned lost = 0;
            for (unsigned kind = 1; kind <= IR_ALL; kind <<= 1)
                lost |= given.allow[p] & kind && word(&said, p, kind) < 0 ? kind : 0;
            assert_int_equal(l.items[i].allow, given.allow[p] & ~lost);
            assert_int_equal(l.items[i].cut, lost);
            assert_int_equal(out.kinds[p], lost);
            cuts += lost != 0;
        }
        assert_int_equal(out.n, cuts);
        assert_true(out.by_is_nearest);
        arena_done(&a);
    }
}

/* A grant whose kind the nearest word above denies is said, and no other. */
static void test_reopened(void **state)
{
    (void)state;
    seed = 8;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct arena a;
        arena_init(&a, NULL, NULL);
        struct meaning m = random_meaning(true);
        struct rule_list l = written(&m, &a);
        rules_merge(&l);
        struct reports out = {.by_is_nearest = true};
        rules_reopened(&l, take, &out);
        for (size_t p = 0; p < N_PATHS; p++) {
            unsigned again = 0;
            for (unsigned kind = 1; p && kind <= IR_ALL; kind <<= 1)
                again |= m.allow[p] & kind && word(&m, parents[p], kind) < 0 ? kind : 0;
            assert_int_equal(out.kinds[p], again);
        }
        assert_true(out.by_is_nearest);
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_and_fold_keep_decisions),
        cmocka_unit_test(test_intersection),
        cmocka_unit_test(test_intersection_of_nothing),
        cmocka_unit_test(test_places_of_an_intersection),
        cmocka_unit_test(test_roots_are_apart),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_own_rules_stay_beneath_a_preset),
        cmocka_unit_test(test_beneath),
        cmocka_unit_test(test_beyond),
        cmocka_unit_test(test_looking_up),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_reopened),
    };
    return cmocka_run_group_tests(tests, make_paths, NULL);
}
