/* LINK: src/runtime/engine_bwrap_read.c src/backends/bwrap.c src/backends/runsec.c src/sort.c src/ir.c src/pattern.c src/units.c src/network.c src/diag.c src/source.c src/arena.c src/buf.c src/sha256.c */
/* The bwrap emitter (words, their order, what is refused) and the reader of what it writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "bwrap_words.h"
#include "runtime/engine_bwrap.h"

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
        .exec_default = true,
        .preset = {.text = "none"},
        .rules = f->rules,
        .limits[IR_LIMIT_TIMEOUT].value = 60000,
        .limits[IR_LIMIT_KILL_AFTER].value = 2000,
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
    *r = (struct ir_rule){
        .path = path, .path_len = (uint32_t)strlen(path), .allow = (uint8_t)allow, .type = (uint8_t)type};
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
#define HEAD(net)                                                                                \
    "--unshare-user\n--unshare-ipc\n--unshare-pid\n" net "--unshare-uts\n--unshare-cgroup-try\n" \
    "--die-with-parent\n--new-session\n--cap-drop\nALL\n--seccomp\n11\n--clearenv\n"
#define ENVIRONMENT \
    "--setenv\nPATH\n/usr/local/bin:/usr/bin:/bin\n--setenv\nHOME\n/tmp/home\n--setenv\nTMPDIR\n/tmp\n"
#define PROC "--proc\n/proc\n--remount-ro\n/proc\n"
#define TMP "--perms\n0700\n--tmpfs\n/tmp\n--perms\n0700\n--dir\n/tmp/home\n"
#define DEV_LINKS                                                                  \
    "--symlink\n/proc/self/fd\n/dev/fd\n--symlink\n/proc/self/fd/2\n/dev/stderr\n" \
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
    f.p.network.mode = IR_NETWORK_OPEN;
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--unshare-user"), HEAD("") ENVIRONMENT
                        "--ro-bind-try\n/bin\n/bin\n"
                        "--dev-bind\n/dev/null\n/dev/null\n"
                        "--perms\n1777\n--tmpfs\n/dev/shm\n"
                        "--ro-bind\n/etc/hosts\n/etc/hosts\n"
                        "--ro-bind-try\n/opt/x/\n/opt/x\n" PROC "--ro-bind\n/srv/\n/srv\n"
                        "--bind\n/srv/out/\n/srv/out\n"
                        "--bind\n/srv/out.log\n/srv/out.log\n" TMP "--ro-bind\n/usr/\n/usr\n" DEV_LINKS END);
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
    f.p.tmpdirs[0] = "/a!"; /* none that the reader takes, but one that stands among the grants */
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
    static const char *const NAMES[] = {"/\n--bind\n/", "/ --share-net", "/\"q\\",
                                        "/--",          "/\xff\xfe",     "/a,b:c=d"};
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
    assert_string_equal(
        words_from(&f, "--setenv"),
        "--setenv\nHOME\n/tmp/home\n--setenv\nTMPDIR\n/tmp\n--setenv\nPATH\n/x\n" PROC TMP DEV_LINKS END);
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
    assert_string_equal(words_from(&f, "--dev-bind"), "--dev-bind\n/\n/\n" PROC TMP);
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

/* A sink is bound as the device that it is, whatever a declaration says beside. */
static void test_sinks(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 2);
    rule(&f, "/dev/full", IR_READ | IR_WRITE, IR_TYPE_DIR)->origin = IR_FLOOR; /* no folder at launch */
    rule(&f, "/dev/zero", READ, IR_TYPE_FILE)->flags = IR_OPTIONAL;
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--dev-bind"),
                        "--dev-bind\n/dev/full\n/dev/full\n--dev-bind-try\n/dev/zero\n/dev/zero\n" PROC TMP DEV_LINKS END);
    teardown(&f);
}

/* Whatever is granted above it, /proc is the sandbox's own, and read-only. */
static void test_proc(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 2);
    rule(&f, "/", WRITE, IR_TYPE_DIR);
    floor_rule(&f, "/proc", IR_READ);
    f.rules[1].deny = IR_WRITE | IR_EXEC;
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--dev-bind"), "--dev-bind\n/\n/\n" PROC TMP);
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
    assert_string_equal(words_from(&f, "--ro-bind"),
                        "--ro-bind\n/dev/shm/box/\n/dev/shm/box\n" PROC TMP DEV_LINKS END);
    teardown(&f);
}

static void test_links(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 4);
    struct ir_link links[] = {
        {"/bin", "/usr/bin", NULL},          /* a preset is bound there */
        {"/data", "/srv/real", NULL},        /* nothing else shows it */
        {"/srv/shown/l", "/srv/real", NULL}, /* shows beneath a grant */
        {"/tmp/l", "/srv/real", NULL},       /* in the private TMPDIR */
    };
    f.p.links = links;
    f.p.n_links = 4;
    preset(&f, "/bin", READ);
    rule(&f, "/srv/real", WRITE, IR_TYPE_DIR);
    rule(&f, "/srv/shown", READ, IR_TYPE_DIR);
    assert_true(emit(&f));
    assert_string_equal(words_from(&f, "--symlink"),
                        "--symlink\n/srv/real\n/data\n" DEV_LINKS "--symlink\n/srv/real\n/tmp/l\n" END);
    teardown(&f);
}

static void test_link_that_is_a_folder(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 2);
    struct ir_link links[] = {{"/data", "/srv/real", NULL}};
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
        {"/srv/secret", 0, IR_ALL}, {"/srv/ro", READ, IR_WRITE}, {"/spool", IR_WRITE, 0},
        {"/data", IR_READ, 0},      {"/proc/sys", READ, 0},      {"/dev/sda", IR_READ, 0},
        {"/proc", WRITE, 0},
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
                        "--unshare-pid\n--die-with-parent\n--new-session\n--dev-bind\n/\n/\n--proc\n/proc\n");
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

/* ---- The reader -------------------------------------------------------------------------------------- */

/* A policy that uses every word of a confined file but those of "/". */
static void emit_sample(struct fixture *f)
{
    static struct ir_link links[] = {{"/zdata", "/srv/real", NULL}};
    static struct ir_env_set sets[] = {{.name = "TZ", .value = "--"}};
    setup(f, 16);
    preset(f, "/bin", READ);
    floor_rule(f, "/dev/null", IR_READ | IR_WRITE);
    preset(f, "/dev/tty", IR_READ | IR_WRITE);
    preset(f, "/dev/shm", WRITE);
    rule(f, "/opt/x", WRITE, IR_TYPE_DIR)->flags = IR_OPTIONAL;
    rule(f, "/srv/real", READ, IR_TYPE_DIR);
    rule(f, "/srv/real/out", WRITE, IR_TYPE_DIR);
    f->p.links = links;
    f->p.n_links = 1;
    f->p.env_set = sets;
    f->p.n_env_set = 1;
    assert_true(emit(f));
}

static const char *read_whole(const char *data, size_t len)
{
    struct bwrap_words w;
    const char *wrong = bwrap_check(data, len, &w);
    return wrong ? wrong : bwrap_check_counts(&w, true, true);
}

static void test_read_back(void **state)
{
    (void)state;
    struct fixture f;
    emit_sample(&f);
    struct bwrap_words w;
    assert_null(bwrap_check(f.out.data, f.out.len, &w));
    assert_null(bwrap_check_counts(&w, true, true));
    assert_non_null(bwrap_check_counts(&w, true, false));
    assert_non_null(bwrap_check_counts(&w, false, true));
    assert_int_equal(w.n_words, count(&f));
    assert_memory_equal(w.run, "sbx:format=1", sizeof "sbx:format=1");
    assert_ptr_equal(w.run + w.run_len, f.out.data + f.out.len);

    /* Walking gives each word once, with its operands, and ends at `--`. */
    const char *at = f.out.data;
    struct bwrap_item item;
    while (bwrap_next(&w, &item)) {
        at += strlen(at) + 1;
        if (item.first) {
            assert_ptr_equal(item.first, at);
            at += strlen(at) + 1;
        }
        if (item.second) {
            assert_ptr_equal(item.second, at);
            at += strlen(at) + 1;
        }
    }
    assert_string_equal(at, "--");
    teardown(&f);
}

static void test_read_core_and_root(void **state)
{
    (void)state;
    struct fixture f;
    struct bwrap_words w;
    setup(&f, 1);
    f.p.core = true;
    assert_true(emit(&f));
    assert_null(bwrap_check(f.out.data, f.out.len, &w));
    assert_null(bwrap_check_counts(&w, false, true));
    assert_non_null(bwrap_check_counts(&w, true, true));
    teardown(&f);

    setup(&f, 1);
    rule(&f, "/", WRITE, IR_TYPE_DIR);
    assert_true(emit(&f));
    assert_null(read_whole(f.out.data, f.out.len));
    teardown(&f);
}

/* Without the words behind the cut something that confines is missing, or `--` is. Exact copies, so that
 * ASan sees a read past the end. */
static void test_every_truncation(void **state)
{
    (void)state;
    struct fixture f;
    emit_sample(&f);
    struct bwrap_words w;
    assert_null(bwrap_check(f.out.data, f.out.len, &w));
    size_t words = (size_t)(w.run - f.out.data);
    for (size_t len = 0; len < f.out.len; len++) {
        char *copy = malloc(len ? len : 1);
        assert_non_null(copy);
        memcpy(copy, f.out.data, len);
        bool cut_a_word = !len || copy[len - 1] != '\0';
        if (len < words || cut_a_word)
            assert_non_null(read_whole(copy, len));
        else
            read_whole(copy, len);
        free(copy);
    }
    teardown(&f);
}

static bool near(const struct fixture *f, size_t i, const char *word)
{
    return memmem(f->out.data + i - 16, 32, word, strlen(word)) != NULL;
}

/* A changed byte is refused here, or changes but the value of a variable, the target of a link or the run
 * section, which the digest guards. In the words that confine no change passes at all. */
static void test_every_byte(void **state)
{
    (void)state;
    struct fixture f;
    emit_sample(&f);
    size_t env = (size_t)((char *)memmem(f.out.data, f.out.len, "--setenv", 8) - f.out.data);
    size_t files = (size_t)((char *)memmem(f.out.data, f.out.len, "--ro-bind", 9) - f.out.data);
    size_t links = (size_t)((char *)memmem(f.out.data, f.out.len, "--symlink", 9) - f.out.data);
    char *copy = malloc(f.out.len);
    assert_non_null(copy);
    for (size_t i = 0; i < f.out.len; i++) {
        for (unsigned x = 1; x < 256; x++) {
            memcpy(copy, f.out.data, f.out.len);
            copy[i] = (char)((unsigned char)copy[i] ^ x);
            const char *wrong = read_whole(copy, f.out.len);
            if (i < env)
                assert_non_null(wrong);
            /* Of what is mounted both names would have to change alike; a private folder has but one. */
            if (i >= files && i < links && !wrong)
                assert_true(near(&f, i, "/tmp") || near(&f, i, "/dev/shm"));
        }
    }
    free(copy);
    teardown(&f);
}

/* The sample with `words` (n bytes, NULs included) put in before the first word `before`, or before the end.
 */
static const char *inject(const char *before, const char *words, size_t n)
{
    struct fixture f;
    emit_sample(&f);
    struct buf b = {0};
    const char *at = f.out.data;
    while (strcmp(at, before) != 0 && strcmp(at + strlen(at) + 1, "sbx:format=1") != 0)
        at += strlen(at) + 1;
    buf_put(&b, f.out.data, (size_t)(at - f.out.data));
    buf_put(&b, words, n);
    buf_put(&b, at, f.out.len - (size_t)(at - f.out.data));
    const char *wrong = read_whole(b.data, b.len);
    buf_done(&b);
    teardown(&f);
    return wrong;
}
#define INJECT(before, words) inject(before, words, sizeof(words))
/* In the one place where the order of destinations lets it stand. */
#define IN_PROC(words) assert_string_equal(INJECT("--ro-bind", words), "something is mounted in /proc")

static void test_injected(void **state)
{
    (void)state;
    assert_null(inject("END", "", 0));
    /* The place is right: what follows is refused for itself. */
    assert_null(INJECT("--bind", "--ro-bind\0/srv/real/a\0/srv/real/a"));
    assert_null(INJECT("--setenv", "--setenv\0A\0b"));

    /* Words of bwrap's that sbxc does not write. */
    assert_non_null(INJECT("--setenv", "--share-net"));
    assert_non_null(INJECT("--setenv", "--cap-add\0ALL"));
    assert_non_null(INJECT("--setenv", "--unshare-all"));
    assert_non_null(INJECT("--setenv", "--help"));
    assert_non_null(INJECT("--setenv", "--args\0"
                                       "12"));
    assert_non_null(INJECT("--setenv", "--add-seccomp-fd\0"
                                       "11"));
    assert_non_null(INJECT("--symlink", "--file\0"
                                        "0\0/x"));
    assert_non_null(INJECT("--symlink", "--chmod\0"
                                        "0777\0/x"));
    assert_non_null(INJECT("--symlink", "--overlay-src\0/x"));
    assert_non_null(INJECT("--symlink", "sh"));
    assert_non_null(INJECT("--symlink", ""));
    assert_non_null(INJECT("--unshare-ipc", "--"));

    /* Wrong operands. */
    assert_non_null(INJECT("--bind", "--ro-bind\0/etc\0/srv/real/a"));
    assert_non_null(INJECT("--bind", "--ro-bind\0/srv/real/a//\0/srv/real/a"));
    assert_non_null(INJECT("--bind", "--ro-bind\0/srv/real/../a\0/srv/real/../a"));
    assert_non_null(INJECT("--bind", "--ro-bind\0srv\0srv"));
    assert_non_null(INJECT("--bind", "--dev-bind\0/srv/real/a\0/srv/real/a"));
    assert_non_null(INJECT("--setenv", "--setenv\0A=B\0c"));
    assert_non_null(INJECT("--setenv", "--setenv\0A\0"));
    assert_non_null(INJECT("--symlink", "--perms\0"
                                        "0777\0--tmpfs\0/zz"));
    assert_non_null(INJECT("--symlink", "--proc\0/zz"));

    /* Wrong places, or too often. */
    assert_non_null(INJECT("--unshare-ipc", "--unshare-user"));
    assert_non_null(INJECT("--setenv", "--seccomp\0"
                                       "11"));
    assert_non_null(INJECT("--bind", "--setenv\0A\0b"));
    assert_non_null(INJECT("--bind", "--ro-bind\0/srv\0/srv"));
    assert_non_null(INJECT("--bind", "--remount-ro\0/proc"));
    assert_non_null(INJECT("--symlink", "--perms\0"
                                        "0700"));
    assert_non_null(INJECT("--symlink", "--tmpfs\0/zz"));
    assert_non_null(INJECT("--symlink", "--perms\0"
                                        "0700\0--dir\0/zz"));
    assert_non_null(INJECT("--symlink", "--remount-ro\0/"));
    assert_non_null(INJECT("END", "--remount-ro\0/"));
    assert_non_null(INJECT("END", "--ro-bind\0/zz\0/zz"));
    assert_non_null(INJECT("--symlink", "--symlink\0x\0/zz"));

    /* Places of the sandbox's own, and places that sbxc would refuse. */
    assert_non_null(INJECT("--proc", "--ro-bind\0/proc\0/proc"));
    assert_non_null(INJECT("--proc", "--perms\0"
                                     "1777\0--tmpfs\0/proc"));
    assert_non_null(INJECT("--symlink", "--bind\0/proc/sys/\0/proc/sys"));
    IN_PROC("--bind\0/proc/sys/\0/proc/sys");
    IN_PROC("--ro-bind\0/proc/1/\0/proc/1");
    IN_PROC("--perms\0"
                                       "1777\0--tmpfs\0/proc/sys");
    assert_non_null(INJECT("--dev-bind", "--perms\0"
                                         "1777\0--tmpfs\0/"));
    assert_non_null(INJECT("--dev-bind", "--perms\0"
                                         "0700\0--tmpfs\0/boot"));
    assert_non_null(INJECT("--dev-bind", "--bind\0/dev/full\0/dev/full"));
    assert_non_null(INJECT("--dev-bind", "--ro-bind\0/dev/full\0/dev/full"));
    assert_non_null(INJECT("--dev-bind", "--dev-bind\0/dev/full/\0/dev/full"));
    assert_null(INJECT("--dev-bind", "--dev-bind\0/dev/full\0/dev/full"));
    assert_non_null(INJECT("--symlink", "--symlink\0/x\0/proc/self"));
    assert_non_null(INJECT("--symlink", "--symlink\0/x\0/proc"));

    /* A link on the host, and one that something is mounted through. */
    assert_null(INJECT("--symlink", "--symlink\0x\0/a"));
    assert_non_null(INJECT("--symlink", "--symlink\0x\0/bin/x"));
    assert_non_null(INJECT("--symlink", "--symlink\0x\0/dev"));
}

/* Two words that stand alone, exchanged. */
static void test_head_order(void **state)
{
    (void)state;
    static const char SWAPPED[] = "--unshare-ipc\0--unshare-user";
    struct fixture f;
    emit_sample(&f);
    memcpy(f.out.data, SWAPPED, sizeof SWAPPED);
    assert_non_null(read_whole(f.out.data, f.out.len));
    teardown(&f);
}

/* Each word that confines, left out with its operands. */
static void test_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        size_t words;
        const char *operand;
    } NEEDED[] = {
        {"--unshare-user", 1, NULL},     {"--unshare-ipc", 1, NULL},        {"--unshare-pid", 1, NULL},
        {"--unshare-net", 1, NULL},      {"--unshare-uts", 1, NULL},        {"--unshare-cgroup-try", 1, NULL},
        {"--die-with-parent", 1, NULL},  {"--new-session", 1, NULL},        {"--cap-drop", 2, NULL},
        {"--seccomp", 2, NULL},          {"--clearenv", 1, NULL},           {"--proc", 2, NULL},
        {"--remount-ro", 2, "/proc"},    {"--remount-ro", 2, "/"},          {"--perms", 4, "0700"},
    };
    struct fixture f;
    emit_sample(&f);
    char *copy = malloc(f.out.len);
    assert_non_null(copy);
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++) {
        const char *at = NULL;
        for (const char *w = f.out.data; strcmp(w, "sbx:format=1") != 0; w += strlen(w) + 1)
            if (!strcmp(w, NEEDED[i].word) && (!NEEDED[i].operand || !strcmp(w + strlen(w) + 1, NEEDED[i].operand)))
                at = w;
        assert_non_null(at);
        const char *rest = at;
        for (size_t k = 0; k < NEEDED[i].words; k++)
            rest += strlen(rest) + 1;
        size_t head = (size_t)(at - f.out.data), tail = f.out.len - (size_t)(rest - f.out.data);
        memcpy(copy, f.out.data, head);
        memcpy(copy + head, rest, tail);
        assert_non_null(read_whole(copy, head + tail));
    }
    free(copy);
    teardown(&f);
}

static void test_read_limit(void **state)
{
    (void)state;
    struct fixture f;
    assert_true(emit_many(&f, 2000));
    while (count(&f) <= BWRAP_WORDS_MAX - BWRAP_WORDS_RESERVED) {
        assert_null(read_whole(f.out.data, f.out.len));
        buf_put(&f.out, "sbx:accept=x", sizeof "sbx:accept=x");
    }
    assert_non_null(read_whole(f.out.data, f.out.len));
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
        cmocka_unit_test(test_sinks),
        cmocka_unit_test(test_proc),
        cmocka_unit_test(test_beneath_private),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_link_that_is_a_folder),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_read_core_and_root),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_injected),
        cmocka_unit_test(test_head_order),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_read_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
