/* LINK: src/ir.c src/pattern.c src/network.c src/decl.c src/frontend/dsl.c src/frontend/keys.c src/env_names.c src/units.c src/diag.c src/source.c
   src/arena.c src/buf.c gen/policy.tab.c gen/policy.lex.c */
/* The order of paths, decisions of a policy, and that what is quoted is read back byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "frontend/frontend.h"
#include "ir.h"
#include "pattern.h"

/* ---- Order ------------------------------------------------------------------------------------------- */

/* In order, by definition: a folder, all beneath it, then its neighbours by bytes. */
static const char *const SORTED[] = {
    "",     "/",      "/a",       "/a/",     "/a/\x01",    "/a/a",  "/a/a/z", "/a/a b", "/a/a-b",
    "/a/b", "/a\x01", "/a\x01/x", "/a b",    "/a!",        "/a-",   "/a-/x",  "/a.",    "/a.b",
    "/a0",  "/aa",    "/b",       "/b/\xff", "/b\xc3\xa4", "/\x7f", "/\x80",  "/\xff",
};
enum { N_SORTED = sizeof SORTED / sizeof *SORTED };

static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTED; i++)
        for (size_t j = 0; j < N_SORTED; j++) {
            int c = ir_path_cmp(SORTED[i], SORTED[j]);
            assert_int_equal(c, i < j ? -1 : i > j);
        }
}

static void test_within(void **state)
{
    (void)state;
    const struct {
        const char *path, *dir;
        bool within;
    } cases[] = {
        {"/a", "/a", true},       {"/a/b", "/a", true},  {"/a/b/c", "/a", true}, {"/ab", "/a", false},
        {"/a-b", "/a", false},    {"/a", "/a/b", false}, {"/", "/", true},       {"/a", "/", true},
        {"/a/b", "/", true},      {"/", "/a", false},    {"/a b", "/a", false},  {"/a\x01", "/a", false},
        {"/A", "/a", false},      {"", "", true},        {"/x", "", true},       {"/a/b", "/a/b/c", false},
        {"/a/bc", "/a/b", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(ir_path_within(cases[i].path, cases[i].dir), cases[i].within);
}

/* Beneath a folder in the list stands all that lies within it, and nothing else: what sweeps rely on. */
static void test_order_keeps_trees_together(void **state)
{
    (void)state;
    for (size_t i = 1; i < N_SORTED; i++) {
        size_t end = i + 1;
        while (end < N_SORTED && ir_path_within(SORTED[end], SORTED[i]))
            end++;
        for (size_t j = 0; j < N_SORTED; j++)
            if (strcmp(SORTED[i], "/a/") != 0) /* no path ends so */
                assert_int_equal(ir_path_within(SORTED[j], SORTED[i]), j >= i && j < end);
    }
}

static void test_allows(void **state)
{
    (void)state;
    struct ir_rule rules[] = {
        {.path = "/", .allow = IR_READ},
        {.path = "/a", .allow = IR_WRITE},
        {.path = "/a/b", .deny = IR_READ | IR_WRITE},
        {.path = "/a/b/c", .allow = IR_READ},
        {.path = "", .root = IR_ROOT_TMPDIR, .allow = IR_ALL},
    };
    const struct ir_policy p = {.rules = rules, .n_rules = sizeof rules / sizeof *rules};
    assert_true(ir_allows(&p, "/x", IR_READ));
    assert_false(ir_allows(&p, "/x", IR_WRITE));
    assert_false(ir_allows(&p, "/x", IR_EXEC));
    assert_true(ir_allows(&p, "/a/x", IR_READ | IR_WRITE));
    assert_false(ir_allows(&p, "/a/x", IR_ALL));
    assert_false(ir_allows(&p, "/a/b/x", IR_READ));
    assert_true(ir_allows(&p, "/a/b/c/d", IR_READ));
    assert_false(ir_allows(&p, "/a/b/c/d", IR_WRITE));
    assert_false(ir_allows(&p, "/ab", IR_WRITE));
}

/* ---- Quoting ----------------------------------------------------------------------------------------- */

/* The one path of a DSL text; fails where the text is no declaration of exactly that. */
static const struct decl_path *read_back(struct arena *a, const char *text)
{
    struct diag_list diags;
    struct decl_file file = {0};
    diag_init(&diags, a);
    fe_dsl.parse(source_new(a, "back", text, strlen(text)), FE_DECLARATION, a, &diags, &file);
    assert_int_equal(diags.n_errors, 0);
    assert_int_equal(file.n_profiles, 1);
    assert_int_equal(file.profiles[0]->n_paths, 1);
    return file.profiles[0]->paths;
}

static const struct ir_policy PLAIN = {.exec_default = true, .preset = {.text = "none"}};

static void assert_round_trip(const char *path, uint32_t len)
{
    struct arena a;
    arena_init(&a, NULL, NULL);
    struct ir_rule r = {.path = path, .path_len = len, .allow = IR_READ | IR_EXEC};
    const char *clause = ir_clause(&a, &PLAIN, &r);
    /* One line of text, whatever the name: comments in artifacts rely on it. */
    for (const char *s = clause; *s; s++)
        assert_true((unsigned char)*s >= 0x20 && *s != 0x7f);
    const struct decl_path *back = read_back(&a, clause);
    assert_int_equal(back->len, len);
    assert_memory_equal(back->text, path, len);
    assert_int_equal(back->allow, IR_READ);
    assert_int_equal(!!(back->flags & DECL_LITERAL), strchr(path, '$') || pattern_is(path, len));
    arena_done(&a);
}

static void test_quoting_of_every_byte(void **state)
{
    (void)state;
    char path[8];
    for (int c = 1; c < 256; c++) {
        const char at_end[] = {'/', 'x', (char)c, '\0'}, inside[] = {'/', (char)c, 'x', '\0'};
        assert_round_trip(at_end, 3);
        assert_round_trip(inside, 3);
        /* Digits behind an escape must not be taken into it. */
        memcpy(path, (char[]){'/', (char)c, '4', '1', (char)c, 'f', '\0'}, 7);
        assert_round_trip(path, 6);
    }
}

static void test_quoting_of_random_names(void **state)
{
    (void)state;
    static const char SPECIAL[] = "\"\\\\\"\n\r\t$*?[]{};#' x/\x7f\x01\xff\xc2";
    uint32_t seed = 4;
    for (size_t round = 0; round < 5000; round++) {
        char path[24] = "/";
        size_t len = 1;
        while (len < 23) {
            seed = seed * 1103515245 + 12345;
            path[len++] = SPECIAL[(seed >> 16) % (sizeof SPECIAL - 1)];
        }
        assert_round_trip(path, (uint32_t)len);
    }
}

static void test_quote_keeps_nul(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    assert_string_equal(ir_quote(&a, "a\0b", 3), "\"a\\x00b\"");
    assert_string_equal(ir_quote(&a, "", 0), "\"\"");
    assert_string_equal(ir_quote(&a, "\"\\\n\r\t\x1b\x7f", 7), "\"\\\"\\\\\\n\\r\\t\\x1b\\x7f\"");
    arena_done(&a);
}

static void test_clauses(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    struct ir_rule r = {.path = "/a b", .path_len = 4, .allow = IR_ALL};
    assert_string_equal(ir_clause(&a, &PLAIN, &r), "write \"/a b\"");
    r = (struct ir_rule){.path = "/a*", .path_len = 3, .allow = IR_READ | IR_EXEC};
    assert_string_equal(ir_clause(&a, &PLAIN, &r), "read literal \"/a*\"");
    r = (struct ir_rule){.path = "/x", .path_len = 2, .allow = IR_ALL, .root = IR_ROOT_TMPDIR};
    assert_string_equal(ir_clause(&a, &PLAIN, &r), "write \"$TMPDIR/x\"");
    r = (struct ir_rule){.path = "", .allow = IR_ALL, .root = IR_ROOT_TMPDIR};
    assert_string_equal(ir_clause(&a, &PLAIN, &r), "write \"$TMPDIR\"");
    arena_done(&a);
}

/* ---- The whole policy -------------------------------------------------------------------------------- */

static const char *printed(const struct ir_policy *p, struct arena *a)
{
    struct buf out = {0};
    ir_print(p, &out);
    assert_true(buf_ok(&out));
    const char *s = arena_strn(a, out.data, out.len);
    buf_done(&out);
    return s;
}

/* Two policies that differ in any field differ in their text, which the digest is made of. */
static void test_print_shows_every_field(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    struct ir_rule rule = {.path = "/a", .path_len = 2, .allow = IR_READ | IR_EXEC};
    struct ir_alias alias = {"/n", "/a"};
    struct ir_link link = {"/n", "/a", NULL};
    struct ir_env_name pass = {.name = "X"};
    struct ir_env_set set = {.name = "X", .value = "1"};
    const char *loss = "metadata";
    const struct ir_policy base = {.name = "main", .exec_default = true, .preset = {.text = "none"}, .limits[IR_LIMIT_TIMEOUT].value = 1000, .limits[IR_LIMIT_KILL_AFTER].value = 2000};
    struct ir_policy other[12];
    size_t n = 0;
#define VARIANT(field, value) (other[n] = base, other[n++].field = (value))
    VARIANT(name, "other");
    VARIANT(limits[IR_LIMIT_TIMEOUT].value, 0);
    VARIANT(limits[IR_LIMIT_TIMEOUT].value, 1001);
    VARIANT(system, IR_MACOS);
    VARIANT(network.mode, IR_NETWORK_OPEN);
    VARIANT(core, true);
    VARIANT(image.text, "x");
    VARIANT(skill_dir, "/s");
#undef VARIANT
    other[n] = base, other[n].rules = &rule, other[n++].n_rules = 1;
    other[n] = base, other[n].env_pass = &pass, other[n++].n_env_pass = 1;
    other[n] = base, other[n].env_set = &set, other[n++].n_env_set = 1;
    other[n] = base, other[n].accepted = &loss, other[n++].n_accepted = 1;
    for (size_t i = 0; i < n; i++) {
        assert_string_not_equal(printed(&base, &a), printed(&other[i], &a));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(printed(&other[i], &a), printed(&other[j], &a));
    }
    struct ir_policy p = base;
    p.aliases = &alias;
    p.n_aliases = 1;
    assert_non_null(strstr(printed(&p, &a), "  deny \"/n\"  # is \"/a\"\n"));
    p.links = &link;
    p.n_links = 1;
    assert_non_null(strstr(printed(&p, &a), "# link \"/n\" to \"/a\""));
    arena_done(&a);
}

/* A name cannot add lines of its own, whatever it holds. */
static void test_print_of_hostile_names(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, NULL);
    struct ir_rule rule = {.path = "/a\n}\nnetwork open", .path_len = 18, .allow = IR_READ | IR_EXEC};
    struct ir_env_set set = {.name = "X", .value = "\"\n  network open\n"};
    struct ir_policy p = {
        .name = "x\" {\n network open", .exec_default = true, .preset = {.text = "none"}, .rules = &rule, .n_rules = 1, .env_set = &set, .n_env_set = 1};
    const char *text = printed(&p, &a);
    size_t lines = 0;
    for (const char *s = text; *s; s++)
        lines += *s == '\n';
    assert_int_equal(lines, 11);
    assert_null(strstr(text, "\n  network open"));
    assert_null(strstr(text, "\n network open"));
    assert_non_null(strstr(text, "\n  network none\n"));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_order_keeps_trees_together),
        cmocka_unit_test(test_allows),
        cmocka_unit_test(test_quoting_of_every_byte),
        cmocka_unit_test(test_quoting_of_random_names),
        cmocka_unit_test(test_quote_keeps_nul),
        cmocka_unit_test(test_clauses),
        cmocka_unit_test(test_print_shows_every_field),
        cmocka_unit_test(test_print_of_hostile_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
