/* LINK: src/diag.c src/diag_json.c src/source.c src/buf.c src/arena.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "diag_json.h"

static struct arena arena;
static struct diag_list list;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, NULL, NULL);
    diag_init(&list, &arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct source *text(const char *t)
{
    return source_new(&arena, "web.sbx", t, strlen(t));
}

static void expect_render(const char *expected)
{
    struct buf out = {0};
    diag_render(&list, &out);
    assert_true(buf_ok(&out));
    assert_string_equal(out.data, expected);
    buf_done(&out);
}

static void one_error_with_line_and_caret(void **state)
{
    (void)state;
    const struct source *s = text("profile web {\n  listen 70000\n}\n");
    struct diag *d = diag_add(&list, DIAG_BAD_VALUE, (struct span){s, 23, 5}, "port %d is outside", 70000);
    diag_also(&list, d, (struct span){s, 0, 7}, "ports are limited by this profile");
    diag_hint(&list, d, "write 1 to 65535");
    assert_int_equal(list.n_errors, 1);
    expect_render("web.sbx:2:10: error: port 70000 is outside [bad-value]\n"
                  "    listen 70000\n"
                  "           ^~~~~\n"
                  "web.sbx:1:1: note: ports are limited by this profile\n"
                  "  profile web {\n"
                  "  ^~~~~~~\n"
                  "  hint: write 1 to 65535\n");
}

static void no_place_is_the_compilers_own(void **state)
{
    (void)state;
    diag_add(&list, DIAG_NO_IMAGE, (struct span){0}, "docker needs an image");
    expect_render("sbxc: error: docker needs an image [no-image]\n");
}

static void messages_come_in_source_order(void **state)
{
    (void)state;
    const struct source *s = text("one\ntwo\nthree\n");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 8, 5}, "third");
    diag_add(&list, DIAG_SKIPPED_PATH, (struct span){s, 0, 3}, "first");
    diag_add(&list, DIAG_GRANTS_ALL, (struct span){s, 4, 3}, "second");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 4, 3}, "second again");
    assert_int_equal(list.n_errors, 2);
    expect_render("web.sbx:1:1: note: first [skipped-path]\n  one\n  ^~~\n"
                  "web.sbx:2:1: warning: second [grants-all]\n  two\n  ^~~\n"
                  "web.sbx:2:1: error: second again [syntax]\n  two\n  ^~~\n"
                  "web.sbx:3:1: error: third [syntax]\n  three\n  ^~~~~\n");
}

/* Tabs line up under tabs, CR is not shown, control bytes and broken UTF-8 are spelt out. */
static void hostile_lines_are_shown_safely(void **state)
{
    (void)state;
    const struct source *s = text("\tread\t\"x\"\r\n");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 6, 3}, "tab");
    expect_render("web.sbx:1:7: error: tab [syntax]\n  \tread\t\"x\"\n  \t    \t^~~\n");

    diag_init(&list, &arena);
    s = text("a\x1b[31mb\xff" "c\xc2\x9b" "d e");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 13, 1}, "escape");
    struct buf out = {0};
    diag_render(&list, &out);
    assert_non_null(strstr(out.data, "  a\\x1b[31mb\\xffc\\xc2\\x9bd e\n"));
    for (size_t i = 0; i < out.len; i++) {
        unsigned char c = (unsigned char)out.data[i];
        assert_true(c == '\n' || (c >= 0x20 && c < 0x7f));
    }
    /* The caret stands under the byte meant, although what is before it grew. */
    const char *caret = strchr(out.data, '^');
    assert_non_null(caret);
    const char *line = caret;
    while (line > out.data && line[-1] != '\n')
        line--;
    assert_int_equal(caret - line, 2 + strlen("a\\x1b[31mb\\xffc\\xc2\\x9bd "));
    buf_done(&out);
}

static void long_lines_show_the_part_that_matters(void **state)
{
    (void)state;
    static char line[5000];
    memset(line, 'a', sizeof line - 1);
    memcpy(line + 3000, "HERE", 4);
    const struct source *s = text(line);
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 3000, 4}, "long");
    struct buf out = {0};
    diag_render(&list, &out);
    assert_true(out.len < 1000);
    assert_non_null(strstr(out.data, ":1:3001: error"));
    const char *here = strstr(out.data, "HERE"), *caret = strstr(out.data, "^~~~\n");
    assert_non_null(here);
    assert_non_null(caret);
    const char *shown = here, *marks = caret;
    while (shown[-1] != '\n')
        shown--;
    while (marks[-1] != '\n')
        marks--;
    assert_int_equal(here - shown, caret - marks);
    buf_done(&out);

    /* A line of 64 KiB of three-byte characters: the window's ends fall into characters, and are moved. */
    diag_init(&list, &arena);
    enum { CHARACTERS = 64 * 1024 / 3 };
    char *wide = arena_alloc(&arena, 3 * CHARACTERS + 1);
    for (size_t i = 0; i < CHARACTERS; i++)
        memcpy(wide + 3 * i, "\xe6\x97\xa5", 3);
    s = text(wide);
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 3 * 10000, 3 * 5000}, "long");
    diag_render(&list, &out);
    assert_true(out.len < 1000);
    assert_null(strstr(out.data, "\\x"));
    assert_non_null(strstr(out.data, "\n  ...\xe6"));
    assert_non_null(strstr(out.data, "\xa5...\n     "));
    buf_done(&out);
}

static void a_flood_is_cut_and_counted(void **state)
{
    (void)state;
    const struct source *s = text("x\n");
    for (int i = 0; i < 50; i++)
        diag_add(&list, DIAG_SYNTAX, (struct span){s, 0, 1}, "error %d", i);
    assert_int_equal(list.n_errors, 50);
    struct buf out = {0};
    diag_render(&list, &out);
    assert_non_null(strstr(out.data, "error 19 "));
    assert_null(strstr(out.data, "error 20 "));
    assert_non_null(strstr(out.data, "sbxc: 30 more errors not shown\n"));
    buf_done(&out);
}

/* The caret stands below its character for whoever looks at a terminal: wide ones take two columns, marks none. */
static void carets_stand_below_what_is_seen(void **state)
{
    (void)state;
    static const struct {
        const char *line, *token, *marks;
    } rows[] = {
        {"read \"\xc3\xa4\xc3\xb6\" X", "X", "            ^"}, /* two bytes, one column */
        {"read \"\xe6\x97\xa5\xe6\x9c\xac\" X", "X", "              ^"}, /* three bytes, two columns */
        {"read \"\xf0\x9f\x98\x80\" X", "X", "            ^"}, /* four bytes, two columns */
        {"read \"a\xcc\x88\" X", "X", "           ^"}, /* a combining mark */
        {"read \"\xe6\x97\xa5\" X", "\"\xe6\x97\xa5\"", "       ^~~~"}, /* the span itself is wide */
        {"\ta\t\"b\" X", "X", "  \t \t    ^"}, /* tabs stand below tabs */
        {"a \x01 X", "\x01 X", "    ^~~~~~"}, /* \x01 takes four */
        {"a \xff X", "\xff", "    ^~~~"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        diag_init(&list, &arena);
        const struct source *s = text(arena_printf(&arena, "%s\r\nnext line\r\n", rows[i].line));
        uint32_t at = (uint32_t)(strstr(s->text, rows[i].token) - s->text);
        diag_add(&list, DIAG_SYNTAX, (struct span){s, at, (uint32_t)strlen(rows[i].token)}, "here");
        struct buf out = {0};
        diag_render(&list, &out);
        const char *marks = strchr(strchr(out.data, '\n') + 1, '\n') + 1;
        assert_string_equal(marks, arena_printf(&arena, "%s\n", rows[i].marks));
        assert_non_null(strstr(out.data, arena_printf(&arena, "web.sbx:1:%u: ", at + 1)));
        buf_done(&out);
    }
}

/* The line end itself, the end of the file, and what runs on: always the line where it begins. */
static void spans_at_ends_and_over_lines(void **state)
{
    (void)state;
    const struct source *s = text("one {\r\ntwo\r\n");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 5, 2}, "the line end");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 4, 7}, "two lines");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 12, 0}, "the end");
    expect_render("web.sbx:1:5: error: two lines [syntax]\n  one {\n      ^\n"
                  "web.sbx:1:6: error: the line end [syntax]\n  one {\n       ^\n"
                  "web.sbx:3:1: error: the end [syntax]\n");
    diag_init(&list, &arena);
    s = text("one {");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 5, 0}, "the end");
    expect_render("web.sbx:1:6: error: the end [syntax]\n  one {\n       ^\n");
    diag_init(&list, &arena);
    s = text("");
    diag_add(&list, DIAG_SYNTAX, (struct span){s, 0, 0}, "the end");
    expect_render("web.sbx:1:1: error: the end [syntax]\n");
}

static void other_places_on_the_line_are_marked_there(void **state)
{
    (void)state;
    const struct source *s = text("set A \"1\" A \"2\"\nset A \"3\"\n");
    struct diag *d = diag_add(&list, DIAG_DUPLICATE_KEY, (struct span){s, 10, 1}, "A is set twice");
    diag_also(&list, d, (struct span){s, 4, 1}, "first set here");
    d = diag_add(&list, DIAG_DUPLICATE_KEY, (struct span){s, 20, 1}, "A is set twice");
    diag_also(&list, d, (struct span){s, 4, 1}, "first set here");
    expect_render("web.sbx:1:11: error: A is set twice [duplicate-key]\n"
                  "  set A \"1\" A \"2\"\n"
                  "      -     ^\n"
                  "web.sbx:1:5: note: first set here\n"
                  "web.sbx:2:5: error: A is set twice [duplicate-key]\n"
                  "  set A \"3\"\n"
                  "      ^\n"
                  "web.sbx:1:5: note: first set here\n"
                  "  set A \"1\" A \"2\"\n"
                  "      ^\n");
}

/* One file's messages stay together, files come as they first spoke; what is said again is said once. */
static void files_in_order_of_first_use(void **state)
{
    (void)state;
    const struct source *a = source_new(&arena, "b.sbx", "x\ny\n", 4), *b = source_new(&arena, "a.sbx", "x\n", 2);
    diag_add(&list, DIAG_SYNTAX, (struct span){a, 2, 1}, "two");
    diag_add(&list, DIAG_SYNTAX, (struct span){b, 0, 1}, "three");
    diag_add(&list, DIAG_SYNTAX, (struct span){a, 0, 1}, "one");
    diag_add(&list, DIAG_SYNTAX, (struct span){a, 2, 1}, "two");
    diag_add(&list, DIAG_BAD_VALUE, (struct span){a, 2, 1}, "two");
    expect_render("b.sbx:1:1: error: one [syntax]\n  x\n  ^\n"
                  "b.sbx:2:1: error: two [syntax]\n  y\n  ^\n"
                  "b.sbx:2:1: error: two [bad-value]\n  y\n  ^\n"
                  "a.sbx:1:1: error: three [syntax]\n  x\n  ^\n");
}

/* Names and texts come from input too. */
static void names_and_texts_are_escaped(void **state)
{
    (void)state;
    const struct source *s = source_new(&arena, "a\nb\x1b.sbx", "x", 1);
    struct diag *d = diag_add(&list, DIAG_SYNTAX, (struct span){s, 0, 1}, "t\x1b\xff");
    diag_hint(&list, d, "h\n");
    expect_render("a\\x0ab\\x1b.sbx:1:1: error: t\\x1b\\xff [syntax]\n  x\n  ^\n  hint: h\\x0a\n");
}

/* Hostile input makes many messages: what is kept and what is shown stay small, and the rest is counted. */
static void a_hundred_thousand_messages(void **state)
{
    (void)state;
    enum { N = 100000 };
    const struct source *s = text("x\n");
    for (int i = 0; i < N; i++) {
        struct diag *d = diag_add(&list, DIAG_SKIPPED_PATH, (struct span){s, 0, 1}, "%d is left out", i);
        assert_non_null(d);
        diag_also(&list, d, (struct span){s, 0, 1}, "there");
        diag_hint(&list, d, "so");
    }
    for (int i = 0; i < N; i++)
        diag_add(&list, DIAG_SYNTAX, (struct span){s, 0, 1}, "error %d", i);
    assert_int_equal(list.n, 2 * DIAG_MAX_KEPT);
    assert_int_equal(list.n_errors, N);
    assert_null(list.unkept.notes);
    struct buf out = {0};
    diag_render(&list, &out);
    assert_true(out.len < 2 * 1024 * 1024);
    assert_non_null(strstr(out.data, " 9999 is left out "));
    assert_null(strstr(out.data, " 10000 is left out "));
    assert_non_null(strstr(out.data, "sbxc: 99980 more errors not shown\nsbxc: 90000 more notes not shown\n"));
    buf_done(&out);
}

static void many_notes_of_one_message(void **state)
{
    (void)state;
    const struct source *s = text("x\ny\n");
    struct diag *d = diag_add(&list, DIAG_SYNTAX, (struct span){s, 0, 1}, "many");
    for (int i = 0; i < 100000; i++)
        diag_also(&list, d, (struct span){s, 2, 1}, "%d", i);
    assert_string_equal(d->notes->next->text, "1");
    assert_string_equal(d->last_note->text, "99999");
}

/* The n-th line as an object, which the caller gives back. */
static json_t *json_line(const struct buf *out, size_t n)
{
    const char *line = out->data;
    for (; n; n--)
        line = strchr(line, '\n') + 1;
    json_t *o = json_loadb(line, strcspn(line, "\n"), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(o);
    return o;
}

static void expect_place(json_t *o, const char *file, const int numbers[6])
{
    static const char *const keys[] = {"line", "column", "end_line", "end_column", "offset", "length"};
    assert_string_equal(json_string_value(json_object_get(o, "file")), file);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(json_integer_value(json_object_get(o, keys[i])), numbers[i]);
}

static void json_says_the_same(void **state)
{
    (void)state;
    const struct source *s = text("\xef\xbb\xbf" "a\xc3\xa4 b\r\nc\n");
    struct diag *d = diag_add(&list, DIAG_SYNTAX, (struct span){s, 7, 1}, "second \xff \"x\"");
    diag_also(&list, d, (struct span){s, 0, 3}, "note\n");
    diag_hint(&list, d, "hint");
    diag_also(&list, d, (struct span){s, 8, 0}, "another");
    diag_hint(&list, d, "other hint");
    diag_add(&list, DIAG_GRANTS_ALL, (struct span){s, 4, 4}, "first");
    diag_add(&list, DIAG_NO_IMAGE, (struct span){0}, "nowhere");
    struct buf out = {0};
    diag_render_json(&list, &out);
    assert_true(buf_ok(&out));
    json_t *o = json_line(&out, 0);
    assert_string_equal(json_string_value(json_object_get(o, "id")), "grants-all");
    assert_string_equal(json_string_value(json_object_get(o, "severity")), "warning");
    expect_place(o, "web.sbx", (const int[]){1, 5, 2, 2, 7, 4}); /* the mark of the file's start counts in offset alone */
    assert_int_equal(json_array_size(json_object_get(o, "hints")) + json_array_size(json_object_get(o, "notes")), 0);
    json_decref(o);
    o = json_line(&out, 1);
    assert_string_equal(json_string_value(json_object_get(o, "message")), "second \\xff \"x\"");
    expect_place(o, "web.sbx", (const int[]){2, 1, 2, 2, 10, 1});
    json_t *notes = json_object_get(o, "notes"), *hints = json_object_get(o, "hints");
    assert_int_equal(json_array_size(notes), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(notes, 0), "message")), "note\\x0a");
    expect_place(json_array_get(notes, 0), "web.sbx", (const int[]){1, 1, 1, 4, 3, 3});
    expect_place(json_array_get(notes, 1), "web.sbx", (const int[]){2, 2, 2, 2, 11, 0});
    assert_int_equal(json_array_size(hints), 2);
    assert_string_equal(json_string_value(json_array_get(hints, 1)), "other hint");
    json_decref(o);
    o = json_line(&out, 2);
    assert_string_equal(json_string_value(json_object_get(o, "id")), "no-image");
    assert_null(json_object_get(o, "file"));
    assert_null(json_object_get(o, "offset"));
    json_decref(o);
    assert_ptr_equal(strrchr(out.data, '\n'), out.data + out.len - 1);
    buf_done(&out);
}

static void json_cuts_where_text_cuts(void **state)
{
    (void)state;
    const struct source *s = text("x\n");
    struct buf out = {0};
    for (int i = 0; i < 20; i++)
        diag_add(&list, DIAG_SYNTAX, (struct span){s, 0, 1}, "error %d", i);
    diag_render_json(&list, &out);
    assert_null(strstr(out.data, "omitted"));
    buf_done(&out);
    for (int i = 20; i < 23; i++)
        diag_add(&list, DIAG_SYNTAX, (struct span){s, 0, 1}, "error %d", i);
    diag_render_json(&list, &out);
    json_t *o = json_line(&out, 20);
    assert_int_equal(json_object_size(o), 1);
    assert_int_equal(json_integer_value(json_object_get(o, "omitted")), 3);
    json_decref(o);
    assert_null(strstr(out.data, "error 20"));
    buf_done(&out);
}

static void json_of_a_usage_error(void **state)
{
    (void)state;
    struct buf out = {0};
    diag_json_usage("a\x1b", &out);
    assert_string_equal(out.data, "{\"id\":\"usage\",\"severity\":\"error\",\"message\":\"a\\\\x1b\",\"hints\":[],\"notes\":[]}\n");
    buf_done(&out);
}

static void strict_turns_warnings_and_cuts_into_errors(void **state)
{
    (void)state;
    const struct source *s = text("x\n");
    list.strict = true;
    diag_add(&list, DIAG_SKIPPED_PATH, (struct span){s, 0, 1}, "note");
    assert_int_equal(list.n_errors, 0);
    diag_add(&list, DIAG_CEILING_CUT, (struct span){s, 0, 1}, "cut");
    assert_int_equal(list.n_errors, 1);
    diag_add(&list, DIAG_GRANTS_ALL, (struct span){s, 0, 1}, "warning");
    assert_int_equal(list.n_errors, 2);
}

static void escapes(void **state)
{
    (void)state;
    assert_string_equal(diag_escape(&arena, "", 0), "");
    assert_string_equal(diag_escape(&arena, "a b\\\"", 5), "a b\\\"");
    assert_string_equal(diag_escape(&arena, "\n\t\0\x7f", 4), "\\x0a\\x09\\x00\\x7f");
    assert_string_equal(diag_escape(&arena, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    /* overlong, surrogate, above U+10FFFF, cut short */
    assert_string_equal(diag_escape(&arena, "\xc0\x80", 2), "\\xc0\\x80");
    assert_string_equal(diag_escape(&arena, "\xed\xa0\x80", 3), "\\xed\\xa0\\x80");
    assert_string_equal(diag_escape(&arena, "\xf4\x90\x80\x80", 4), "\\xf4\\x90\\x80\\x80");
    assert_string_equal(diag_escape(&arena, "\xe2\x82", 2), "\\xe2\\x82");
}

static void distances(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned distance;
    } rows[] = {
        {"", "", 0},           {"read", "read", 0},    {"raed", "read", 1}, {"rea", "read", 1},    {"reads", "read", 1},
        {"rfad", "read", 1},   {"write", "wirte", 1},  {"abc", "", 3},      {"network", "netwrk", 1},
        {"timeout", "tmeuot", 2}, {"kitten", "sitting", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t la = strlen(rows[i].a), lb = strlen(rows[i].b);
        assert_int_equal(diag_distance(rows[i].a, la, rows[i].b, lb, 9), rows[i].distance);
        assert_int_equal(diag_distance(rows[i].b, lb, rows[i].a, la, 9), rows[i].distance);
    }
    assert_int_equal(diag_distance("kitten", 6, "sitting", 7, 1), 2); /* capped at limit + 1 */
    char word[200];
    memset(word, 'a', sizeof word);
    assert_int_equal(diag_distance(word, sizeof word, "a", 1, 3), 4); /* longer than any key */
}

static void nearest_word(void **state)
{
    (void)state;
    static const char *const words[] = {"read", "write", "network", "timeout", "trust", "env"};
    const size_t n = sizeof words / sizeof *words;
    assert_string_equal(diag_nearest("raed", 4, words, n), "read");
    assert_string_equal(diag_nearest("netwrok", 7, words, n), "network");
    assert_string_equal(diag_nearest("timout", 6, words, n), "timeout");
    assert_null(diag_nearest("filesystem", 10, words, n));
    assert_null(diag_nearest("", 0, words, n));
    assert_null(diag_nearest("x", 1, words, n));
    assert_null(diag_nearest("read", 4, words, 0));
}

/* Names are what goldens, manuals and users quote: all there, all different, well spelt. */
static void the_table_is_whole(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DIAG_COUNT; i++) {
        const char *name = diag_name((enum diag_id)i);
        assert_non_null(name);
        assert_true(*name != '\0' && strspn(name, "abcdefghijklmnopqrstuvwxyz-") == strlen(name));
        assert_true(strlen(diag_summary((enum diag_id)i)) > 10);
        assert_true(*diag_severity_name(diag_default_severity((enum diag_id)i)) != '\0');
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(name, diag_name((enum diag_id)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_error_with_line_and_caret, begin, end),
        cmocka_unit_test_setup_teardown(no_place_is_the_compilers_own, begin, end),
        cmocka_unit_test_setup_teardown(messages_come_in_source_order, begin, end),
        cmocka_unit_test_setup_teardown(hostile_lines_are_shown_safely, begin, end),
        cmocka_unit_test_setup_teardown(long_lines_show_the_part_that_matters, begin, end),
        cmocka_unit_test_setup_teardown(a_flood_is_cut_and_counted, begin, end),
        cmocka_unit_test_setup_teardown(carets_stand_below_what_is_seen, begin, end),
        cmocka_unit_test_setup_teardown(spans_at_ends_and_over_lines, begin, end),
        cmocka_unit_test_setup_teardown(other_places_on_the_line_are_marked_there, begin, end),
        cmocka_unit_test_setup_teardown(files_in_order_of_first_use, begin, end),
        cmocka_unit_test_setup_teardown(names_and_texts_are_escaped, begin, end),
        cmocka_unit_test_setup_teardown(a_hundred_thousand_messages, begin, end),
        cmocka_unit_test_setup_teardown(many_notes_of_one_message, begin, end),
        cmocka_unit_test_setup_teardown(json_says_the_same, begin, end),
        cmocka_unit_test_setup_teardown(json_cuts_where_text_cuts, begin, end),
        cmocka_unit_test_setup_teardown(json_of_a_usage_error, begin, end),
        cmocka_unit_test_setup_teardown(strict_turns_warnings_and_cuts_into_errors, begin, end),
        cmocka_unit_test_setup_teardown(escapes, begin, end),
        cmocka_unit_test_setup_teardown(distances, begin, end),
        cmocka_unit_test_setup_teardown(nearest_word, begin, end),
        cmocka_unit_test_setup_teardown(the_table_is_whole, begin, end),
    };
    return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
