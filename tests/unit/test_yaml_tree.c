/* LINK: src/frontend/yaml_tree.c src/diag.c src/source.c src/arena.c src/buf.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/yaml_tree.h"

_Static_assert(sizeof(struct yaml_node) <= 64, "a million of them must fit beside the text");

static struct arena arena;
static struct diag_list diags;
static const struct source *src;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, NULL, NULL);
    diag_init(&diags, &arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct yaml_node *parse(const char *text)
{
    diag_init(&diags, &arena);
    src = source_new(&arena, "x.yml", text, strlen(text));
    return yaml_parse(src, 0, src->len, &arena, &diags);
}

static struct yaml_node *vetted(const char *text)
{
    struct yaml_node *root = parse(text);
    assert_non_null(root);
    assert_true(yaml_vet(&diags, root));
    return root;
}

static void expect_node(const struct yaml_node *n, enum yaml_node_kind kind, const char *spelt)
{
    assert_non_null(n);
    assert_int_equal(n->kind, kind);
    assert_int_equal(n->span.len, strlen(spelt));
    assert_memory_equal(src->text + n->span.start, spelt, n->span.len);
}

static void expect_scalar(const struct yaml_node *n, const char *spelt, const char *text)
{
    expect_node(n, YAML_SCALAR, spelt);
    assert_int_equal(n->size, strlen(text));
    assert_memory_equal(n->text, text, n->size);
}

/* Exactly one message so far, of that id, at that text; its notes hold `also` (or nothing is asked of them). */
static void expect_one(enum diag_id id, const char *at, const char *also)
{
    assert_int_equal(diags.n, 1);
    const struct diag *d = diags.items[0];
    assert_int_equal(d->id, id);
    assert_true(d->span.start + strlen(at) <= src->len);
    assert_memory_equal(src->text + d->span.start, at, strlen(at));
    bool found = !also;
    for (const struct diag_note *n = d->notes; n; n = n->next)
        found |= also && strstr(n->text, also);
    assert_true(found);
}

static void expect_refused(const char *text, enum diag_id id, const char *at, const char *also)
{
    assert_null(parse(text));
    expect_one(id, at, also);
}

/* ---- What the tree holds -------------------------------------------------------------------------------- */

static void spans_are_bytes(void **state)
{
    (void)state;
    struct yaml_node *root = vetted("\xc3\xa9t\xc3\xa9: [\xe2\x82\xac, 'it''s', \"\\x41\xc3\xa9\"]\nb:\n  - x  # y\nc: {d: }\n");
    assert_int_equal(diags.n, 0);
    expect_node(root, YAML_MAP, "\xc3");
    assert_int_equal(root->size, 3);
    const struct yaml_node *list = root->first;
    expect_scalar(list->key, "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
    expect_node(list, YAML_LIST, "[");
    assert_int_equal(list->size, 3);
    expect_scalar(list->first, "\xe2\x82\xac", "\xe2\x82\xac");
    expect_scalar(list->first->next, "'it''s'", "it's");
    expect_scalar(list->first->next->next, "\"\\x41\xc3\xa9\"", "A\xc3\xa9");
    assert_null(list->first->next->next->next);
    expect_node(list->next, YAML_LIST, "-");
    expect_scalar(list->next->first, "x", "x");
    const struct yaml_node *map = list->next->next;
    expect_node(map, YAML_MAP, "{");
    expect_scalar(map->first, "", "");
    assert_true(yaml_is_null(map->first));
    assert_null(map->next);
}

static void a_text_spelt_as_it_reads_is_not_copied(void **state)
{
    (void)state;
    struct yaml_node *root = vetted("a: plain\nb: \"quoted\"\nc: 'single'\nd: \"esc\\u0061ped\"\n");
    const struct yaml_node *n = root->first;
    for (int i = 0; i < 3; i++, n = n->next)
        assert_true(n->text > src->text && n->text < src->text + src->len);
    expect_scalar(n, "\"esc\\u0061ped\"", "escaped");
    assert_false(n->text > src->text && n->text < src->text + src->len);
}

static void a_part_of_a_source_keeps_its_places(void **state)
{
    (void)state;
    const char *text = "---\n\xc3\xa9: [1, 2\n";
    diag_init(&diags, &arena);
    src = source_new(&arena, "x.md", text, strlen(text));
    assert_null(yaml_parse(src, 4, src->len - 4, &arena, &diags));
    expect_one(DIAG_YAML, "", "while parsing a flow sequence from here");
    assert_int_equal(diags.items[0]->notes->span.start, 8);
    struct yaml_node *root = yaml_parse(src, 4, 2, &arena, &diags);
    expect_scalar(root, "\xc3\xa9", "\xc3\xa9");
}

static void escapes_give_any_byte(void **state)
{
    (void)state;
    struct yaml_node *root = vetted("- \"a\\0b\"\n- \"\\P\"\n- |\n  x\n  y\n- >-\n  x\n  y\n");
    const struct yaml_node *n = root->first;
    assert_int_equal(n->size, 3);
    assert_memory_equal(n->text, "a\0b", 3);
    assert_true(yaml_is_word(n->next, "\xe2\x80\xa9"));
    assert_true(yaml_is_word(n->next->next, "x\ny\n"));
    assert_true(yaml_is_word(n->next->next->next, "x y"));
    assert_true(n->next->next->quoted);
}

/* ---- What is refused ------------------------------------------------------------------------------------ */

static void one_message_for_text_that_is_no_yaml(void **state)
{
    (void)state;
    expect_refused("read: [/ws\nnetwork: none\n", DIAG_YAML, ": none", "while parsing a flow sequence from here");
    expect_refused("a: b: c\n", DIAG_YAML, ": c", "stands in quotes");
    expect_refused("a:\n\t- b\n", DIAG_YAML, "\t", NULL);
    expect_refused("a: \xff\n", DIAG_BAD_BYTE, "\xff", NULL);
    expect_refused("a: b # x\rc: d\n", DIAG_BAD_BYTE, "\r", "end lines with LF");
    expect_refused("a: b\r\n# x\xc2\x85" "c: d\n", DIAG_BAD_BYTE, "\xc2\x85", NULL);
    expect_refused("# 0123456789\r\n# x\xe2\x80\xa9" "c: d\r", DIAG_BAD_BYTE, "\xe2\x80\xa9", NULL);
    expect_refused("# \xc3\xa9 0123456789\r", DIAG_BAD_BYTE, "\r", NULL);
    expect_refused("# x\xe2\x80\xa8" "c: d\n", DIAG_BAD_BYTE, "\xe2\x80\xa8", NULL);
    expect_refused("# nothing\n", DIAG_YAML, "# nothing", "write {}");
    expect_refused("%YAML 1.1\n--- {}\n", DIAG_YAML_FEATURE, "%YAML", NULL);
    expect_refused("%TAG ! tag:x,1:\n--- {}\n", DIAG_YAML_FEATURE, "%TAG", NULL);
}

static void a_second_document_leaves_the_first(void **state)
{
    (void)state;
    assert_non_null(parse("---\na: b\n---\nc: d\n"));
    expect_one(DIAG_YAML_FEATURE, "---\nc", "one file is one declaration");
    assert_non_null(parse("---\na: b\n...\n# end\n"));
    assert_int_equal(diags.n, 0);
}

static void nest(char *text, size_t depth)
{
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[2 * depth] = '\0';
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char text[4 * YAML_MAX_DEPTH];
    nest(text, YAML_MAX_DEPTH);
    assert_non_null(vetted(text));
    assert_int_equal(diags.n, 0);
    nest(text, YAML_MAX_DEPTH + 1);
    assert_null(parse(text));
    expect_one(DIAG_TOO_LARGE, "[]]", NULL);
    assert_int_equal(diags.items[0]->span.start, YAML_MAX_DEPTH);
}

static void the_number_of_values_is_bounded(void **state)
{
    (void)state;
    size_t n = YAML_MAX_NODES;
    char *text = malloc(2 * n + 3);
    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 0; i < n; i++)
        memcpy(text + 1 + 2 * i, "a,", 2);
    memcpy(text + 1 + 2 * n, "]", 2);
    struct yaml_node *root = parse(text);
    assert_null(root);
    expect_one(DIAG_TOO_LARGE, "a,]", NULL);
    free(text);
}

/* ---- What is taken out ---------------------------------------------------------------------------------- */

static void features_are_reported_where_they_stand(void **state)
{
    (void)state;
    static const struct {
        const char *text, *at;
        enum diag_id id;
    } cases[] = {
        {"a: !!str b\nz: 1\n", "!!str", DIAG_YAML_FEATURE},
        {"a: ! b\nz: 1\n", "! b", DIAG_YAML_FEATURE},
        {"a: &x [b, !t c]\nz: 1\n", "&x", DIAG_YAML_FEATURE},
        {"a: *x\nz: 1\n", "*x", DIAG_YAML_FEATURE},
        {"&k a: b\nz: 1\n", "&k a", DIAG_YAML_FEATURE},
        {"*x : b\nz: 1\n", "*x", DIAG_YAML_FEATURE},
        {"<<: *x\nz: 1\n", "<<", DIAG_YAML_FEATURE},
        {"<<: {a: *x}\nz: 1\n", "<<", DIAG_YAML_FEATURE},
        {"? [a, !t b]\n: !t c\nz: 1\n", "[a", DIAG_BAD_VALUE},
        {"? {a: b}\n: c\nz: 1\n", "{a", DIAG_BAD_VALUE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yaml_node *root = vetted(cases[i].text);
        expect_one(cases[i].id, cases[i].at, NULL);
        assert_int_equal(root->size, 1);
        assert_true(root->pruned);
        assert_true(yaml_key_is(root->first, "z"));
        assert_null(root->first->next);
    }
    assert_false(yaml_vet(&diags, parse("!t {a: b}\n")));
    expect_one(DIAG_YAML_FEATURE, "!t {", NULL);
}

static void items_and_deep_values_are_taken_out(void **state)
{
    (void)state;
    struct yaml_node *root = vetted("a: [x, !t y, {b: &z c, d: e}, *z]\n\"<<\": f\n");
    assert_int_equal(diags.n, 3);
    struct yaml_node *list = yaml_get(root, "a");
    assert_int_equal(list->size, 2);
    assert_true(list->pruned && !root->pruned);
    expect_scalar(list->first, "x", "x");
    assert_int_equal(list->first->next->size, 1);
    expect_scalar(yaml_get(list->first->next, "d"), "e", "e");
    assert_non_null(yaml_get(root, "<<"));
}

static void what_is_foreign_is_not_judged(void **state)
{
    (void)state;
    struct yaml_node *root = parse("theirs: &x {a: !t b, a: c}\nours: {d: e, d: f}\n? [g]\n: h\n");
    assert_int_equal(diags.n, 0);
    assert_true(yaml_vet(&diags, yaml_get(root, "ours")));
    expect_one(DIAG_DUPLICATE_KEY, "d: f", "first said here");
    diag_init(&diags, &arena);
    assert_true(yaml_vet_keys(&diags, root));
    expect_one(DIAG_BAD_VALUE, "[g]", NULL);
    assert_int_equal(root->size, 2);
    assert_false(yaml_vet_keys(&diags, parse("--- &all\na: b\n")));
    expect_one(DIAG_YAML_FEATURE, "&all", NULL);
}

/* n keys, of which one is said again at each of two places. */
static void expect_duplicates(int n)
{
    struct buf text = {0};
    for (int i = 0; i < n; i++)
        buf_printf(&text, "k%d: x\n", (i * 7919) % n);
    buf_str(&text, "\"k1\": y\n'k1': z\n");
    buf_byte(&text, '\0');
    struct yaml_node *root = vetted(text.data);
    assert_int_equal(diags.n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(diags.items[i]->id, DIAG_DUPLICATE_KEY);
        assert_memory_equal(src->text + diags.items[i]->span.start, i ? "'k1'" : "\"k1\"", 4);
        assert_memory_equal(src->text + diags.items[i]->notes->span.start, "k1: x", 5);
    }
    assert_int_equal(root->size, n);
    assert_true(yaml_is_word(yaml_get(root, "k1"), "x"));
    size_t left = 0;
    for (const struct yaml_node *e = root->first; e; e = e->next)
        left += yaml_is_word(e, "x");
    assert_int_equal(left, n);
    buf_done(&text);
}

static void keys_stand_once(void **state)
{
    (void)state;
    expect_duplicates(2);
    expect_duplicates(6); /* the most that are compared each with each */
    expect_duplicates(7);
    expect_duplicates(1000);
}

/* ---- Asking --------------------------------------------------------------------------------------------- */

static void scalars_are_what_they_look_like(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        char is; /* n: null, b: boolean, d: number, t: text */
    } cases[] = {
        {"- ~", 'n'},     {"- null", 'n'},  {"-", 'n'},       {"- NULL", 'n'},   {"- 'null'", 't'}, {"- nULL", 't'},
        {"- true", 'b'},  {"- False", 'b'}, {"- 'true'", 't'}, {"- yes", 't'},    {"- tRUE", 't'},   {"- truer", 't'},
        {"- 1", 'd'},     {"- -1.5e3", 'd'}, {"- 0x1f", 'd'},  {"- .5", 'd'},     {"- '1'", 't'},    {"- 60s", 't'},
        {"- 1/2", 't'},   {"- +", 't'},     {"- nan", 't'},   {"- /srv/1", 't'}, {"- |\n  1", 't'}, {"- \"1\\0\"", 't'},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct yaml_node *n = vetted(cases[i].text)->first;
        assert_int_equal(yaml_is_null(n), cases[i].is == 'n');
        assert_int_equal(yaml_is_bool(n), cases[i].is == 'b');
        assert_int_equal(yaml_is_number(n), cases[i].is == 'd');
        assert_int_equal(yaml_is_text(&diags, n, "read", "paths"), cases[i].is == 't');
        assert_int_equal(diags.n, cases[i].is != 't');
    }
    bool value = true;
    assert_true(yaml_bool(vetted("- False")->first, &value));
    assert_false(value);
    assert_true(yaml_bool(vetted("- TRUE")->first, &value));
    assert_true(value);
}

static void collections_are_no_scalars(void **state)
{
    (void)state;
    const struct yaml_node *list = vetted("- []\n- {}\n");
    for (const struct yaml_node *n = list->first; n; n = n->next) {
        assert_false(yaml_is_null(n) || yaml_is_bool(n) || yaml_is_number(n) || yaml_is_word(n, ""));
        assert_false(yaml_is_text(&diags, n, "read", "paths"));
        assert_null(yaml_get(n, "a"));
    }
    assert_int_equal(diags.n, 2);
}

static void one_item_may_stand_without_brackets(void **state)
{
    (void)state;
    struct yaml_node *root = vetted("a: x\nb: [y, z]\nc: []\n");
    const struct yaml_node *a = yaml_get(root, "a"), *b = yaml_get(root, "b"), *c = yaml_get(root, "c");
    assert_ptr_equal(yaml_first(a), a);
    assert_null(yaml_after(a, a));
    assert_true(yaml_is_word(yaml_first(b), "y"));
    assert_true(yaml_is_word(yaml_after(b, yaml_first(b)), "z"));
    assert_null(yaml_first(c));
}

static void unknown_keys_have_a_nearest_one(void **state)
{
    (void)state;
    static const char *const names[] = {"path", "literal", "optional"};
    struct yaml_node *root = vetted("optoinal: true\nquite: other\n");
    yaml_unknown_key(&diags, root->first, "a path", names, 3);
    expect_one(DIAG_UNKNOWN_KEY, "optoinal", "did you mean `optional`?");
    diag_init(&diags, &arena);
    yaml_unknown_key(&diags, root->first->next, "a path", names, 3);
    expect_one(DIAG_UNKNOWN_KEY, "quite", "keys here are: path, literal, optional");
    assert_string_equal(diags.items[0]->text, "`quite` is no key of a path");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(spans_are_bytes),
        TEST(a_text_spelt_as_it_reads_is_not_copied),
        TEST(a_part_of_a_source_keeps_its_places),
        TEST(escapes_give_any_byte),
        TEST(one_message_for_text_that_is_no_yaml),
        TEST(a_second_document_leaves_the_first),
        TEST(depth_is_bounded),
        TEST(the_number_of_values_is_bounded),
        TEST(features_are_reported_where_they_stand),
        TEST(items_and_deep_values_are_taken_out),
        TEST(what_is_foreign_is_not_judged),
        TEST(keys_stand_once),
        TEST(scalars_are_what_they_look_like),
        TEST(collections_are_no_scalars),
        TEST(one_item_may_stand_without_brackets),
        TEST(unknown_keys_have_a_nearest_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
