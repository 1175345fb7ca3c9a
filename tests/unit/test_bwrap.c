/* LINK: src/backends/bwrap.c src/backends/runsec.c src/ir.c src/diag.c src/source.c src/arena.c src/buf.c src/sha256.c */
/* The bwrap emitter: words, their order, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "bwrap_words.h"

enum { READ = IR_READ | IR_EXEC, WRITE = IR_READ | IR_WRITE | IR_EXEC };

struct fixture {
    struct arena arena;
    struct diag_list diags;
    struct buf out;
    struct ir_policy p;
    struct ir_rule *rules;
};

static void setup(struct fixture *f, size_t cap)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, NULL, NULL);
    diag_init(&f->diags, &f->arena);
    f->rules = arena_array(&f->arena, cap, sizeof *f->rules);
    f->p = (struct ir_policy){
        .system = IR_LINUX,
        .name = "main",
        .rules = f->rules,
        .timeout_ms = 60000,
        .kill_after_ms = 2000,
        .tmpdirs = {"/tmp", "/var/tmp"},
        .n_tmpdirs = 2,
    };
    memset(f->p.digest, 'a', 64);
}

static void teardown(struct fixture *f)
{
    buf_done(&f->out);
    arena_done(&f->arena);
}

static struct ir_rule *rule(struct fixture *f, const char *path, unsigned allow, enum ir_type type)
{
    struct ir_rule *r = &f->rules[f->p.n_rules++];
    *r = (struct ir_rule){.path = path, .path_len = (uint32_t)strlen(path), .allow = (uint8_t)allow,
                          .type = (uint8_t)type};
    return r;
}

static void preset(struct fixture *f, const char *path, unsigned allow)
{
    struct ir_rule *r = rule(f, path, allow, IR_TYPE_ANY);
    r->origin = IR_PRESET;
    r->flags = IR_OPTIONAL | IR_FOLLOW;
}

static void floor_rule(struct fixture *f, const char *path, unsigned allow)
{
    rule(f, path, allow, IR_TYPE_ANY)->origin = IR_FLOOR;
}

static bool emit(struct fixture *f)
{
    return be_bwrap.emit(&f->p, &f->arena, &f->diags, &f->out);
}

/* The words from the n-th on up to `--`, one a line. */
static const char *words_from(struct fixture *f, const char *first)
{
    struct buf b = {0};
    bool on = false;
    for (const char *w = f->out.data; strcmp(w, "--") != 0; w += strlen(w) + 1) {
        on |= !strcmp(w, first);
        if (on) {
            buf_str(&b, w);
            buf_byte(&b, '\n');
        }
    }
    char *s = arena_strn(&f->arena, b.data ? b.data : "", b.len);
    buf_done(&b);
    return s;
}

/* All that every confined file begins with. */
#define HEAD(net)                                                                                              \
    "--unshare-user\n--unshare-ipc\n--unshare-pid\n" net "--unshare-uts\n--unshare-cgroup-try\n"               \
    "--die-with-parent\n--new-session\n--cap-drop\nALL\n--seccomp\n11\n--clearenv\n"
#define ENVIRONMENT                                                                                            \
    "--setenv\nPATH\n/usr/local/bin:/usr/bin:/bin\n--setenv\nHOME\n/tmp/home\n--setenv\nTMPDIR\n/tmp\n"
#define PROC "--proc\n/proc\n--remount-ro\n/proc\n"
#define TMP "--perms\n0700\n--tmpfs\n/tmp\n--perms\n0700\n--dir\n/tmp/home\n"
#define DEV_LINKS                                                                                              \
    "--symlink\n/proc/self/fd\n/dev/fd\n--symlink\n/proc/self/fd/2\n/dev/stderr\n"                             \
    "--symlink\n/proc/self/fd/0\n/dev/stdin\n--symlink\n/proc/self/fd/1\n/dev/stdout\n"
#define END "--remount-ro\n/\n"

static void test_empty(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1);
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--unshare-user"),
                        HEAD("--unshare-net\n") ENVIRONMENT PROC TMP DEV_LINKS END);
    teardown(&f);
}

static void test_grants(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 16);
    preset(&f, "/bin", READ);
    floor_rule(&f, "/dev/null", IR_READ | IR_WRITE);
    preset(&f, "/dev/shm", WRITE);
    rule(&f, "/etc/hosts", READ, IR_TYPE_FILE);
    rule(&f, "/opt/x", READ, IR_TYPE_DIR)->flags = IR_OPTIONAL;
    floor_rule(&f, "/proc", IR_READ);
    rule(&f, "/srv", READ, IR_TYPE_DIR);
    rule(&f, "/srv/out", WRITE, IR_TYPE_DIR);
    rule(&f, "/srv/out.log", WRITE, IR_TYPE_FILE);
    rule(&f, "/usr", READ, IR_TYPE_DIR)->origin = IR_SKILL_DIR;
    f.p.network = IR_NETWORK_OPEN;
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--unshare-user"),
                        HEAD("") ENVIRONMENT
                        "--ro-bind-try\n/bin\n/bin\n"
                        "--dev-bind\n/dev/null\n/dev/null\n"
                        "--perms\n1777\n--tmpfs\n/dev/shm\n"
                        "--ro-bind\n/etc/hosts\n/etc/hosts\n"
                        "--ro-bind-try\n/opt/x/\n/opt/x\n" PROC
                        "--ro-bind\n/srv/\n/srv\n"
                        "--bind\n/srv/out/\n/srv/out\n"
                        "--bind\n/srv/out.log\n/srv/out.log\n" TMP
                        "--ro-bind\n/usr/\n/usr\n" DEV_LINKS END);
    teardown(&f);
}

/* A folder comes before what is beneath it, whatever the bytes of its neighbours. */
static void test_order(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8);
    rule(&f, "/a", READ, IR_TYPE_DIR);
    rule(&f, "/a/b", WRITE, IR_TYPE_DIR);
    rule(&f, "/a b", READ, IR_TYPE_DIR);
    rule(&f, "/a-b", READ, IR_TYPE_DIR);
    f.p.tmpdirs[0] = "/a!";
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--ro-bind"),
                        "--ro-bind\n/a/\n/a\n--bind\n/a/b/\n/a/b\n--ro-bind\n/a b/\n/a b\n"
                        "--perms\n0700\n--tmpfs\n/a!\n--perms\n0700\n--dir\n/a!/home\n"
                        "--ro-bind\n/a-b/\n/a-b\n" PROC DEV_LINKS END);
    teardown(&f);
}

static void test_hostile_names(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"/\n--bind\n/", "/ --share-net", "/\"q\\", "/--", "/\xff\xfe", "/a,b:c=d"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct fixture f;
        setup(&f, 1);
        rule(&f, NAMES[i], READ, IR_TYPE_FILE);
        assert_true(emit(&f));
        size_t found = 0;
        for (const char *w = f.out.data; strcmp(w, "--") != 0; w += strlen(w) + 1) {
            assert_true(*w != '\0');
            found += !strcmp(w, NAMES[i]);
        }
        assert_int_equal(found, 2);
        teardown(&f);
    }
}

/* bwrap stops reading at an empty word, without a message. */
static void test_no_empty_word(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1);
    struct ir_env_set sets[] = {{.name = "EMPTY", .value = ""}, {.name = "PATH", .value = "/x"}};
    f.p.env_set = sets;
    f.p.n_env_set = 2;
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--setenv"),
                        "--setenv\nHOME\n/tmp/home\n--setenv\nTMPDIR\n/tmp\n--setenv\nPATH\n/x\n" PROC TMP
                        DEV_LINKS END);
    const char set[] = "sbx:env-set=EMPTY=";
    assert_non_null(memmem(f.out.data, f.out.len, set, sizeof set));
    teardown(&f);
}

static void test_bad_variable(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1);
    struct ir_env_set sets[] = {{.name = "A=B", .value = "x"}};
    f.p.env_set = sets;
    f.p.n_env_set = 1;
    assert_false(emit(&f));
    assert_int_equal(f.diags.items[0]->id, DIAG_UNQUOTABLE);
    teardown(&f);
}

static void test_root(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 2);
    rule(&f, "/", READ, IR_TYPE_DIR);
    floor_rule(&f, "/dev/null", IR_READ | IR_WRITE);
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--ro-bind"),
                        "--ro-bind\n/\n/\n--dev-bind\n/dev/null\n/dev/null\n" PROC TMP END);
    assert_int_equal(f.diags.items[0]->id, DIAG_STRICTER);
    teardown(&f);

    setup(&f, 1);
    rule(&f, "/", WRITE, IR_TYPE_DIR);
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--dev-bind"), "--dev-bind\n/\n/\n--proc\n/proc\n" TMP);
    assert_int_equal(f.diags.n, 0);
    teardown(&f);
}

static void test_devices(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 3);
    rule(&f, "/dev/dri", WRITE, IR_TYPE_DIR);
    rule(&f, "/dev/shm/box", WRITE, IR_TYPE_DIR);
    rule(&f, "/dev/ttyUSB0", IR_READ | IR_WRITE, IR_TYPE_FILE);
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--dev-bind"),
                        "--dev-bind\n/dev/dri/\n/dev/dri\n--bind\n/dev/shm/box/\n/dev/shm/box\n"
                        "--dev-bind\n/dev/ttyUSB0\n/dev/ttyUSB0\n" PROC TMP DEV_LINKS END);
    teardown(&f);
}

/* A preset's private folder does not lend its writing to what the host has beneath it. */
static void test_beneath_private(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 2);
    preset(&f, "/dev/shm", WRITE);
    rule(&f, "/dev/shm/box", READ, IR_TYPE_DIR);
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--ro-bind"), "--ro-bind\n/dev/shm/box/\n/dev/shm/box\n" PROC TMP DEV_LINKS END);
    teardown(&f);
}

static void test_links(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 4);
    struct ir_link links[] = {
        {"/bin", "/usr/bin"},          /* a preset is bound there */
        {"/data", "/srv/real"},        /* nothing else shows it */
        {"/srv/shown/l", "/srv/real"}, /* shows beneath a grant */
        {"/tmp/l", "/srv/real"},       /* in the private TMPDIR */
    };
    f.p.links = links;
    f.p.n_links = 4;
    preset(&f, "/bin", READ);
    rule(&f, "/srv/real", WRITE, IR_TYPE_DIR);
    rule(&f, "/srv/shown", READ, IR_TYPE_DIR);
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--symlink"), "--symlink\n/srv/real\n/data\n" DEV_LINKS
                                                     "--symlink\n/srv/real\n/tmp/l\n" END);
    teardown(&f);
}

static void test_link_that_is_a_folder(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 2);
    struct ir_link links[] = {{"/data", "/srv/real"}};
    f.p.links = links;
    f.p.n_links = 1;
    preset(&f, "/data/x", READ);
    rule(&f, "/srv/real", WRITE, IR_TYPE_DIR);
    assert_false(emit(&f));
    assert_int_equal(f.diags.items[0]->id, DIAG_CANNOT);
    teardown(&f);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        unsigned allow, deny;
    } CASES[] = {
        {"/srv/secret", 0, IR_ALL},
        {"/srv/ro", IR_READ, IR_WRITE},
        {"/spool", IR_WRITE, 0},
        {"/data", IR_READ, 0},
        {"/proc/sys", READ, 0},
        {"/dev/sda", IR_READ, 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct fixture f;
        setup(&f, 1);
        rule(&f, CASES[i].path, CASES[i].allow, IR_TYPE_FILE)->deny = (uint8_t)CASES[i].deny;
        assert_false(emit(&f));
        assert_int_equal(f.diags.n_errors, 1);
        assert_int_equal(f.diags.items[0]->id, DIAG_CANNOT);
        teardown(&f);
    }
}

static void test_core(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1);
    rule(&f, "/srv", READ, IR_TYPE_DIR);
    f.p.core = true;
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, f.out.data),
                        "--unshare-pid\n--die-with-parent\n--new-session\n--clearenv\n"
                        "--setenv\nPATH\n/usr/local/bin:/usr/bin:/bin\n--dev-bind\n/\n/\n--proc\n/proc\n");
    teardown(&f);
}

/* n read grants of three words each. */
static bool emit_many(struct fixture *f, size_t n)
{
    setup(f, n);
    for (size_t i = 0; i < n; i++)
        rule(f, arena_printf(&f->arena, "/d/%05zu", i), READ, IR_TYPE_DIR);
    return emit(f);
}

static size_t count(const struct fixture *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->out.len; i++)
        n += f->out.data[i] == '\0';
    return n;
}

static void test_limit(void **state)
{
    (void)state;
    struct fixture f;
    assert_true(emit_many(&f, 1));
    size_t rest = count(&f) - 3;
    teardown(&f);
    size_t most = (BWRAP_WORDS_MAX - BWRAP_WORDS_RESERVED - rest) / 3;
    assert_true(emit_many(&f, most));
    assert_true(count(&f) + BWRAP_WORDS_RESERVED <= BWRAP_WORDS_MAX);
    teardown(&f);
    assert_false(emit_many(&f, most + 1));
    assert_int_equal(f.diags.items[0]->id, DIAG_LIMIT_EXCEEDED);
    assert_non_null(strstr(f.diags.items[0]->text, "words"));
    teardown(&f);
}

static void test_same_bytes(void **state)
{
    (void)state;
    struct fixture f, g;
    assert_true(emit_many(&f, 20));
    assert_true(emit_many(&g, 20));
    assert_int_equal(f.out.len, g.out.len);
    assert_memory_equal(f.out.data, g.out.data, f.out.len);
    assert_int_equal(f.out.data[f.out.len - 1], '\0');
    teardown(&f);
    teardown(&g);
}

static void test_text(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1);
    rule(&f, "/a\nb", READ, IR_TYPE_FILE);
    assert_true(emit(&f));
    struct buf t = {0};
    assert_true(be_bwrap.text(f.out.data, f.out.len, &t));
    buf_byte(&t, '\0');
    assert_non_null(strstr(t.data, "--ro-bind\n\"/a\\nb\"\n\"/a\\nb\"\n"));
    assert_non_null(strstr(t.data, "\n--\nsbx:format=1\nsbx:target=bwrap\n"));
    t.len = 0;
    assert_false(be_bwrap.text(f.out.data, f.out.len - 1, &t));
    assert_false(be_bwrap.text("--\0x", 5, &t));
    assert_false(be_bwrap.text("", 0, &t));
    buf_done(&t);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_grants),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_no_empty_word),
        cmocka_unit_test(test_bad_variable),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_beneath_private),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_link_that_is_a_folder),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
