/* LINK: src/runtime/engine_seatbelt_read.c src/backends/seatbelt.c src/backends/quote.c src/backends/runsec.c
 * src/sort.c src/ir.c src/pattern.c src/units.c src/network.c src/diag.c src/source.c src/arena.c src/buf.c src/sha256.c */
/* The profile: what is written, what is refused, and that the runtime reads exactly that. What the rules
 * mean is asked of a Scheme interpreter in tests/seatbelt/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "runtime/engine_seatbelt.h"

enum { READ = IR_READ | IR_EXEC, WRITE = IR_READ | IR_WRITE | IR_EXEC };

struct fixture {
    struct arena arena;
    struct diag_list diags;
    struct buf out;
    struct ir_policy p;
    struct ir_rule rules[16];
    struct ir_link links[2];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    arena_init(&f->arena, NULL, NULL);
    diag_init(&f->diags, &f->arena);
    f->p = (struct ir_policy){
        .system = IR_MACOS,
        .name = "main",
        .exec_default = true,
        .preset = {.text = "none"},
        .rules = f->rules,
        .links = f->links,
        .limits[IR_LIMIT_TIMEOUT].value = 60000,
        .limits[IR_LIMIT_KILL_AFTER].value = 2000,
    };
    memset(f->p.digest, 'a', 64);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    buf_done(&f->out);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static struct ir_rule *rule(struct fixture *f, const char *path, unsigned allow, enum ir_type type)
{
    struct ir_rule *r = &f->rules[f->p.n_rules++];
    *r = (struct ir_rule){
        .path = path, .path_len = (uint32_t)strlen(path), .allow = (uint8_t)allow, .type = (uint8_t)type};
    return r;
}

static void tmpdir_rule(struct fixture *f, const char *path)
{
    rule(f, path, WRITE, *path ? IR_TYPE_ANY : IR_TYPE_DIR)->root = IR_ROOT_TMPDIR;
}

static bool emit(struct fixture *f)
{
    f->out.len = 0;
    bool ok = be_seatbelt.emit(&f->p, &f->arena, &f->diags, &f->out);
    buf_byte(&f->out, '\0');
    f->out.len--;
    assert_true(buf_ok(&f->out));
    return ok;
}

/* From SB_VERSION to the end. */
static const char *profile(struct fixture *f)
{
    const char *p = strstr(f->out.data, "\n\n" SB_VERSION);
    assert_non_null(p);
    return p + 2;
}

static const char *check(struct fixture *f, const char *text)
{
    return sb_check(text, strlen(text), !f->p.core, f->p.network.mode == IR_NETWORK_OPEN);
}

static void has(struct fixture *f, const char *lines)
{
    if (!strstr(f->out.data, lines))
        fail_msg("missing:\n%s\nin:\n%s", lines, profile(f));
}

static void has_not(struct fixture *f, const char *lines)
{
    if (strstr(f->out.data, lines))
        fail_msg("unexpected:\n%s", lines);
}

static void refused(struct fixture *f, enum diag_id id)
{
    assert_false(emit(f));
    assert_int_equal(f->diags.n_errors, 1);
    assert_int_equal(f->diags.items[0]->id, id);
}

static void everything(struct fixture *f)
{
    rule(f, "/System", READ, IR_TYPE_ANY);
    rule(f, "/Users/u/a \"b\\;(#|\xc3\xa9", READ, IR_TYPE_DIR);
    rule(f, "/Users/u/w", WRITE, IR_TYPE_DIR);
    rule(f, "/bin", READ, IR_TYPE_ANY)->origin = IR_PRESET;
    rule(f, "/dev/null", IR_READ | IR_WRITE, IR_TYPE_ANY)->origin = IR_FLOOR;
    rule(f, "/private/tmp/x", IR_READ | IR_WRITE, IR_TYPE_FILE);
    tmpdir_rule(f, "");
    tmpdir_rule(f, "/y");
    f->links[0] = (struct ir_link){.link = "/Users/u/lnk", .target = "/Users/u/w"};
    f->p.n_links = 1;
}

/* ---- What is written --------------------------------------------------------------------------------- */

static void test_grants(void **state)
{
    struct fixture *f = *state;
    everything(f);
    assert_true(emit(f));
    has(f, "(version 1)\n(deny default)\n");
    has(f, "\n; read \"/bin\"\n"
           "(allow file-read* process-exec* file-map-executable (literal \"/bin\") (subpath \"/bin\"))\n");
    has(f, "\n; write \"/Users/u/w\"\n"
           "(allow file-read* file-write* process-exec* file-map-executable (subpath \"/Users/u/w\"))\n"
           "(deny file-write-create file-write-unlink (literal \"/Users/u/w\"))\n");
    has(f, "(allow file-read* file-write* "
           "(require-all (literal \"/dev/null\") (vnode-type CHARACTER-DEVICE)))\n");
    has(f, "\n; link \"/Users/u/lnk\"\n(allow file-read* (literal \"/Users/u/lnk\"))\n");
    has(f, "(subpath (string-append (param \"TMPDIR\") \"/y\"))");
    has(f, SB_TMPDIR_GUARD);
    has(f, "\n(allow file-read-metadata (literal \"/Users\"))\n(allow file-read-metadata (literal \"/Users/u\"))\n");
}

static void test_quoting_and_comments(void **state)
{
    struct fixture *f = *state;
    everything(f);
    f->p.name = "a\nb%c\x7f";
    assert_true(emit(f));
    has(f, "\n; read \"/Users/u/a \\\"b\\\\;(#|\xc3\xa9\"\n"
           "(allow file-read* process-exec* file-map-executable "
           "(subpath \"/Users/u/a \\\"b\\\\;(#|\xc3\xa9\"))\n");
    has(f, "\n;; sbx:profile=a%0Ab%25c%7F\n");
}

static void test_both_spellings(void **state)
{
    struct fixture *f = *state;
    rule(f, "/etc/hosts", IR_READ, IR_TYPE_FILE);
    rule(f, "/private/tmp/x", IR_READ, IR_TYPE_DIR);
    rule(f, "/private/variety", IR_READ, IR_TYPE_DIR);
    assert_true(emit(f));
    has(f, "(allow file-read* (literal \"/private/etc/hosts\") (literal \"/etc/hosts\"))\n");
    has(f, "(allow file-read* (subpath \"/private/tmp/x\") (subpath \"/tmp/x\"))\n");
    has(f, "(allow file-read* (subpath \"/private/variety\"))\n");
    has(f, "(allow file-read-metadata (literal \"/private/tmp\"))\n");
    has(f, "(allow file-read-metadata (literal \"/tmp\"))\n");
}

/* The object itself is its parent's: pinned, unless the parent may be written. */
static void test_pins(void **state)
{
    struct fixture *f = *state;
    rule(f, "/a", IR_READ | IR_WRITE, IR_TYPE_DIR);
    rule(f, "/a/b", WRITE, IR_TYPE_DIR);
    tmpdir_rule(f, "");
    assert_true(emit(f));
    has(f, "(deny file-write-create file-write-unlink (literal \"/a\"))\n");
    has(f, "(deny file-write-create file-write-unlink (literal (param \"TMPDIR\")))\n");
    has_not(f, "(deny file-write-create file-write-unlink (literal \"/a/b\"))\n");
}

static void test_root_has_no_parent(void **state)
{
    struct fixture *f = *state;
    rule(f, "/", WRITE, IR_TYPE_DIR);
    assert_true(emit(f));
    has(f, "file-map-executable (subpath \"/\"))\n");
    has_not(f, "(deny file-write-create");
    has_not(f, "(literal \"\")");
}

static void test_data_volume(void **state)
{
    struct fixture *f = *state;
    rule(f, "/System", WRITE, IR_TYPE_ANY);
    rule(f, "/System/Library", READ, IR_TYPE_ANY);
    assert_true(emit(f));
    has(f, "(deny file-read* file-write* process-exec* file-map-executable (literal \"/System/Volumes/Data\") "
           "(subpath \"/System/Volumes/Data\"))\n\n; read \"/System/Library\"\n");
}

static void test_network(void **state)
{
    struct fixture *f = *state;
    rule(f, "/bin", READ, IR_TYPE_ANY);
    assert_true(emit(f));
    has(f, SB_NETWORK_NONE);
    has(f, "sbx:network=none\n");
    f->p.network.mode = IR_NETWORK_OPEN;
    assert_true(emit(f));
    has(f, SB_NETWORK_OPEN);
    has_not(f, "network-outbound (local");
}

static void test_core(void **state)
{
    struct fixture *f = *state;
    everything(f);
    f->p.core = true;
    assert_true(emit(f));
    assert_string_equal(profile(f), SB_VERSION SB_ALLOW_DEFAULT);
    assert_null(check(f, profile(f)));
}

static void test_same_policy_same_bytes(void **state)
{
    struct fixture *f = *state;
    everything(f);
    assert_true(emit(f));
    const char *first = arena_strn(&f->arena, f->out.data, f->out.len);
    assert_true(emit(f));
    assert_string_equal(f->out.data, first);
}

/* ---- What is refused --------------------------------------------------------------------------------- */

static void test_refuses_control_characters(void **state)
{
    struct fixture *f = *state;
    rule(f, "/a\n(allow default)", READ, IR_TYPE_ANY);
    refused(f, DIAG_UNQUOTABLE);
}

static void test_refuses_bytes_that_are_no_utf8(void **state)
{
    struct fixture *f = *state;
    rule(f, "/a\xff", READ, IR_TYPE_ANY);
    refused(f, DIAG_UNQUOTABLE);
}

static void test_refuses_links_without_spelling(void **state)
{
    struct fixture *f = *state;
    rule(f, "/a", READ, IR_TYPE_ANY);
    f->links[0] = (struct ir_link){.link = "/l\tx", .target = "/a"};
    f->p.n_links = 1;
    refused(f, DIAG_UNQUOTABLE);
}

static void test_refuses_every_bad_path_at_once(void **state)
{
    struct fixture *f = *state;
    rule(f, "/a\r", READ, IR_TYPE_ANY);
    rule(f, "/b\r", READ, IR_TYPE_ANY);
    assert_false(emit(f));
    assert_int_equal(f->diags.n_errors, 2);
}

static void test_refuses_decreases(void **state)
{
    struct fixture *f = *state;
    rule(f, "/a", READ, IR_TYPE_DIR);
    rule(f, "/a/b", 0, IR_TYPE_DIR)->deny = IR_WRITE;
    refused(f, DIAG_CANNOT);
}

static void test_refuses_what_no_argument_holds(void **state)
{
    struct fixture *f = *state;
    char *path = arena_alloc(&f->arena, SB_PROFILE_MAX);
    memset(path, 'x', SB_PROFILE_MAX - 1);
    path[0] = '/';
    rule(f, path, READ, IR_TYPE_DIR);
    refused(f, DIAG_LIMIT_EXCEEDED);
}

/* ---- What the runtime reads -------------------------------------------------------------------------- */

static void test_reader_accepts_what_is_written(void **state)
{
    struct fixture *f = *state;
    everything(f);
    for (int open = 0; open < 2; open++) {
        f->p.network.mode = open ? IR_NETWORK_OPEN : IR_NETWORK_NONE;
        assert_true(emit(f));
        const char *why = check(f, profile(f));
        if (why)
            fail_msg("%s", why);
        assert_non_null(sb_check(profile(f), strlen(profile(f)), true, !open));
        assert_non_null(sb_check(profile(f), strlen(profile(f)), false, open));
    }
}


static void test_reader_walks_the_rules(void **state)
{
    struct fixture *f = *state;
    rule(f, "/a \"\\", IR_READ, IR_TYPE_ANY);
    tmpdir_rule(f, "");
    assert_true(emit(f));
    static const struct {
        bool allow, tmpdir;
        enum sb_filter filter;
        unsigned long operations;
        const char *path;
    } expected[] = {
        {true, false, SB_IS_LITERAL, 1ul << SB_FILE_READ, "/a \"\\"},
        {true, false, SB_IS_SUBPATH, 1ul << SB_FILE_READ, "/a \"\\"},
        {true, true, SB_IS_SUBPATH, 1ul << SB_FILE_READ | 1ul << SB_FILE_WRITE | 1ul << SB_EXEC | 1ul << SB_MAP, ""},
        {false, true, SB_IS_LITERAL, 1ul << SB_CREATE | 1ul << SB_UNLINK, ""},
    };
    struct sb_rules r;
    struct sb_item item;
    char path[64];
    sb_begin(&r, profile(f), strlen(profile(f)));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(sb_next(&r, &item));
        assert_int_equal(item.allow, expected[i].allow);
        assert_int_equal(item.tmpdir, expected[i].tmpdir);
        assert_int_equal(item.filter, expected[i].filter);
        assert_int_equal(item.operations, expected[i].operations);
        sb_path(&item, path);
        assert_string_equal(path, expected[i].path);
    }
    assert_false(sb_next(&r, &item));
    assert_false(sb_next(&r, &item));
}

static void test_reader_refuses_foreign_forms(void **state)
{
    struct fixture *f = *state;
    static const char *const foreign[] = {
        "(allow process-exec (with no-sandbox) (literal \"/bin/ps\"))\n",
        "(allow default)\n",
        "(allow file-read*)\n",
        "(allow file* (subpath \"/\"))\n",
        "(allow network* (subpath \"/\"))\n",
        "(allow file-read* (regex #\".*\"))\n",
        "(allow file-read* (subpath \"x\"))\n",
        "(allow file-read* (subpath \"/a\\nb\"))\n",
        "(allow file-read* (subpath \"/a\nb\"))\n",
        "(allow file-read* (subpath \"/a\"))",
        "(allow file-read* (subpath \"/a\")) \n",
        "(allow file-read* (subpath \"/a\")))\n",
        "(allow file-read*  (subpath \"/a\"))\n",
        "(allow file-read* file-read* (subpath \"/a\"))\n",
        "(allow file-write* file-read* (subpath \"/a\"))\n",
        "(allow process-exec* (subpath \"/a\"))\n",
        "(allow file-write-unlink (literal \"/a\"))\n",
        "(deny file-read-metadata (literal \"/a\"))\n",
        "(deny file-write-create file-write-unlink (subpath \"/a\"))\n",
        "(allow file-read-metadata (subpath \"/a\"))\n",
        "(allow file-read* (subpath (param \"HOME\")))\n",
        "(allow file-read* (subpath (param \"TMPDIR\")))\n",
        "(import \"system.sb\")\n",
        "(version 1)\n",
        "; \x01\n",
        ";;sbx\n",
        "\n\n",
        "#|\n",
        "(",
    };
    rule(f, "/bin", READ, IR_TYPE_ANY);
    assert_true(emit(f));
    const char *good = profile(f);
    assert_null(check(f, arena_printf(&f->arena, "%s(allow file-read* (subpath \"/a\"))\n", good)));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (!check(f, arena_printf(&f->arena, "%s%s", good, foreign[i])))
            fail_msg("accepted: %s", foreign[i]);
}

static void test_reader_wants_folders_before_grants(void **state)
{
    struct fixture *f = *state;
    rule(f, "/bin", READ, IR_TYPE_ANY);
    assert_true(emit(f));
    assert_non_null(
        check(f, arena_printf(&f->arena, "%s(allow file-read-metadata (literal \"/a\"))\n", profile(f))));
}

static void test_reader_stops_at_nul(void **state)
{
    struct fixture *f = *state;
    rule(f, "/bin", READ, IR_TYPE_ANY);
    assert_true(emit(f));
    size_t len = strlen(profile(f)) + 1;
    char *text = arena_strn(&f->arena, profile(f), len);
    assert_non_null(sb_check(text, len, true, false));
    /* In a string and in a comment, where any other byte may stand. */
    size_t whole = len - 1;
    for (size_t i = 0; i < whole; i++) {
        char old = text[i];
        text[i] = '\0';
        assert_non_null(sb_check(text, whole, true, false));
        text[i] = old;
    }
}

/* Every truncation in memory of that very size, so that a read behind the end is seen. */
static void test_reader_stays_within_bounds(void **state)
{
    struct fixture *f = *state;
    everything(f);
    assert_true(emit(f));
    size_t len = strlen(profile(f));
    for (size_t n = 0; n < len; n++) {
        char *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, profile(f), n);
        const char *why = sb_check(copy, n, true, false);
        if (n && copy[n - 1] != '\n')
            assert_non_null(why);
        struct sb_rules r;
        struct sb_item item;
        sb_begin(&r, copy, n);
        while (!why && sb_next(&r, &item))
            assert_true(item.operations != 0);
        free(copy);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_grants),
        TEST(test_quoting_and_comments),
        TEST(test_both_spellings),
        TEST(test_pins),
        TEST(test_root_has_no_parent),
        TEST(test_data_volume),
        TEST(test_network),
        TEST(test_core),
        TEST(test_same_policy_same_bytes),
        TEST(test_refuses_control_characters),
        TEST(test_refuses_bytes_that_are_no_utf8),
        TEST(test_refuses_links_without_spelling),
        TEST(test_refuses_every_bad_path_at_once),
        TEST(test_refuses_decreases),
        TEST(test_refuses_what_no_argument_holds),
        TEST(test_reader_accepts_what_is_written),
        TEST(test_reader_walks_the_rules),
        TEST(test_reader_refuses_foreign_forms),
        TEST(test_reader_wants_folders_before_grants),
        TEST(test_reader_stops_at_nul),
        TEST(test_reader_stays_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
