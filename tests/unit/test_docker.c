/* LINK: src/runtime/engine_docker_read.c src/runtime/docker_profile.c src/backends/docker.c
 * src/backends/quote.c src/backends/runsec.c src/sort.c src/ir.c src/pattern.c src/units.c src/network.c src/diag.c src/source.c src/arena.c src/buf.c
 * src/sha256.c */
/* The docker emitter (words, their order, what is refused), the reader of what it writes, and the profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "backends/quote.h"
#include "runtime/engine_docker.h"

enum { READ = IR_READ | IR_EXEC, WRITE = IR_READ | IR_WRITE | IR_EXEC, WORDS_MAX = 400 };

struct fixture {
    struct arena arena;
    struct diag_list diags;
    struct buf out;
    struct ir_policy p;
    struct ir_rule rules[16];
    struct ir_alias aliases[8];
    struct ir_env_set set[4];
    struct ir_env_name pass[4];
    /* The reader's side. */
    struct rt_policy run;
    const char *tmpdirs[1], *env_set[4], *env_pass[4];
    const char *words[WORDS_MAX];
    struct docker_mount mounts[WORDS_MAX / 2];
    char paths[32768];
    struct docker_words read;
};

static struct fixture *setup(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    arena_init(&f->arena, NULL, NULL);
    diag_init(&f->diags, &f->arena);
    f->p = (struct ir_policy){
        .system = IR_LINUX,
        .name = "main",
        .exec_default = true,
        .preset = {.text = "none"},
        .rules = f->rules,
        .aliases = f->aliases,
        .env_set = f->set,
        .env_pass = f->pass,
        .limits[IR_LIMIT_TIMEOUT].value = 60000,
        .limits[IR_LIMIT_KILL_AFTER].value = 2000,
        .image = {"bb:1", {0}},
        .tmpdirs = {"/tmp", "/var/tmp"},
        .n_tmpdirs = 2,
    };
    memset(f->p.digest, 'a', 64);
    return f;
}

static void teardown(struct fixture *f)
{
    buf_done(&f->out);
    arena_done(&f->arena);
    free(f);
}

static struct ir_rule *rule(struct fixture *f, const char *path, unsigned allow, enum ir_type type)
{
    struct ir_rule *r = &f->rules[f->p.n_rules++];
    *r = (struct ir_rule){
        .path = path, .path_len = (uint32_t)strlen(path), .allow = (uint8_t)allow, .type = (uint8_t)type};
    return r;
}

static void alias(struct fixture *f, const char *name, const char *path)
{
    f->aliases[f->p.n_aliases++] = (struct ir_alias){name, path};
}

static void set(struct fixture *f, const char *name, const char *value)
{
    f->set[f->p.n_env_set++] = (struct ir_env_set){name, value, {0}};
}

static bool emit(struct fixture *f)
{
    f->out.len = 0;
    return be_docker.emit(&f->p, &f->arena, &f->diags, &f->out);
}

/* What stands before the run section, in bytes. */
static size_t body_len(const struct fixture *f)
{
    static const char MARK[] = "--label\0sbx.format=1";
    const char *at = memmem(f->out.data, f->out.len, MARK, sizeof MARK);
    assert_non_null(at);
    return (size_t)(at - f->out.data);
}

/* The words before the run section from a given one on, one a line. */
static const char *words_from(struct fixture *f, const char *first)
{
    struct buf b = {0};
    bool on = false;
    const char *end = f->out.data + body_len(f);
    for (const char *w = f->out.data; w < end; w += strlen(w) + 1) {
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

static bool said(const struct fixture *f, enum diag_id id)
{
    for (size_t i = 0; i < f->diags.n; i++)
        if (f->diags.items[i]->id == id)
            return true;
    return false;
}

static const char *read_bytes(struct fixture *f, const char *data, size_t len)
{
    f->run = (struct rt_policy){.confine = true, .image = f->p.image.text, .tmpdirs = {f->tmpdirs, 1}};
    f->run.network = f->p.network.mode == IR_NETWORK_OPEN ? "open" : "none";
    f->tmpdirs[0] = f->p.tmpdirs[0];
    for (size_t i = 0; i < f->p.n_env_set; i++)
        f->env_set[i] = arena_printf(&f->arena, "%s=%s", f->set[i].name, f->set[i].value);
    for (size_t i = 0; i < f->p.n_env_pass; i++)
        f->env_pass[i] = f->pass[i].name;
    f->run.env_set = (struct rt_list){f->env_set, f->p.n_env_set};
    f->run.env_pass = (struct rt_list){f->env_pass, f->p.n_env_pass};
    f->read = (struct docker_words){.words = f->words, .mounts = f->mounts, .paths = f->paths};
    return docker_read(data, len, &f->run, &f->read);
}

static const char *read_back(struct fixture *f)
{
    return read_bytes(f, f->out.data, body_len(f));
}

#define HEAD(net)                                                                                     \
    "--rm\n--init\n--pull\nnever\n--log-driver\nnone\n--read-only\n--cap-drop\nALL\n--security-opt\n" \
    "no-new-privileges\n--ipc\nprivate\n--network\n" net "\n"                                         \
    "--tmpfs\n/tmp:rw,exec,nosuid,nodev,mode=1777\n--tmpfs\n/tmp/home:rw,exec,nosuid,nodev,mode=1777\n"
#define ENVIRONMENT "--env\nPATH=/usr/local/bin:/usr/bin:/bin\n--env\nHOME=/tmp/home\n--env\nTMPDIR=/tmp\n"

static void test_empty(void **state)
{
    (void)state;
    struct fixture *f = setup();
    assert_true(emit(f));
    assert_string_equal(words_from(f, "--rm"), HEAD("none") ENVIRONMENT);
    assert_null(read_back(f));
    assert_int_equal(f->read.n_mounts, 0);
    f->p.network.mode = IR_NETWORK_OPEN;
    assert_true(emit(f));
    assert_string_equal(words_from(f, "--rm"), HEAD("bridge") ENVIRONMENT);
    assert_true(said(f, DIAG_STRICTER));
    assert_null(read_back(f));
    teardown(f);
}

static void test_grants(void **state)
{
    (void)state;
    struct fixture *f = setup();
    rule(f, "/dev/null", IR_READ | IR_WRITE, IR_TYPE_FILE)->origin = IR_FLOOR;
    rule(f, "/etc/hosts", READ, IR_TYPE_FILE)->flags = IR_OPTIONAL;
    rule(f, "/proc", IR_READ, IR_TYPE_DIR)->origin = IR_FLOOR;
    rule(f, "/skill", READ, IR_TYPE_DIR)->origin = IR_SKILL_DIR;
    rule(f, "/srv", READ, IR_TYPE_DIR);
    rule(f, "/srv/out", WRITE, IR_TYPE_DIR);
    rule(f, "/srv/out.log", WRITE, IR_TYPE_FILE);
    rule(f, "/usr", READ, IR_TYPE_ANY)->origin = IR_PRESET;
    rule(f, "", IR_ALL, IR_TYPE_DIR)->root = IR_ROOT_TMPDIR;
    assert_true(emit(f));
    assert_string_equal(words_from(f, "--mount"),
                        "--mount\ntype=bind,src=/etc/hosts,dst=/etc/hosts,readonly\n"
                        "--label\nsbx-optional=/etc/hosts\n"
                        "--mount\ntype=bind,src=/skill/,dst=/skill,readonly\n"
                        "--mount\ntype=bind,src=/srv/,dst=/srv,readonly\n"
                        "--mount\ntype=bind,src=/srv/out/,dst=/srv/out\n"
                        "--mount\ntype=bind,src=/srv/out.log,dst=/srv/out.log\n");
    assert_null(read_back(f));
    assert_int_equal(f->read.n_mounts, 5);
    assert_true(f->read.mounts[0].optional && !f->read.mounts[0].folder && !f->read.mounts[0].write);
    assert_true(!f->read.mounts[3].optional && f->read.mounts[3].folder && f->read.mounts[3].write);
    assert_string_equal(f->read.mounts[3].source, "/srv/out");
    teardown(f);
}

static void test_other_names(void **state)
{
    (void)state;
    struct fixture *f = setup();
    rule(f, "/data", READ, IR_TYPE_DIR);
    rule(f, "/data/out", WRITE, IR_TYPE_DIR);
    alias(f, "/data/in-it", "/data/x"); /* the link is seen there */
    alias(f, "/home/u/d", "/data");
    alias(f, "/home/u/d/out", "/data/out"); /* beneath the one before */
    alias(f, "/home/u/sub", "/data/sub");   /* a part of a grant */
    assert_true(emit(f));
    assert_string_equal(words_from(f, "--mount"),
                        "--mount\ntype=bind,src=/data/,dst=/data,readonly\n"
                        "--mount\ntype=bind,src=/data/out/,dst=/data/out\n"
                        "--mount\ntype=bind,src=/data/,dst=/home/u/d,readonly\n"
                        "--mount\ntype=bind,src=/data/out/,dst=/home/u/d/out\n"
                        "--mount\ntype=bind,src=/data/sub,dst=/home/u/sub,readonly\n");
    assert_null(read_back(f));
    teardown(f);
}

/* Names that end, split or extend the record if they are not quoted as a whole. */
static void test_hostile_names(void **state)
{
    static const char *const NAMES[] = {
        "/a,readonly=false", "/b\"", "/c\",dst=/etc", "/d\nx", "/e\rx", "/f\\n", "/g=h", "/h:i", "/i j ",
        "/j\xc3\xa9",        "/-k",  "/l\"\"\n,"};
    static const char *const RECORDS[] = {
        "type=bind,\"src=/a,readonly=false\",\"dst=/a,readonly=false\",readonly",
        "type=bind,\"src=/b\"\"\",\"dst=/b\"\"\",readonly",
        "type=bind,\"src=/c\"\",dst=/etc\",\"dst=/c\"\",dst=/etc\",readonly",
        "type=bind,\"src=/d\nx\",\"dst=/d\nx\",readonly",
        "type=bind,\"src=/e\rx\",\"dst=/e\rx\",readonly",
        "type=bind,src=/f\\n,dst=/f\\n,readonly",
        "type=bind,src=/g=h,dst=/g=h,readonly",
        "type=bind,src=/h:i,dst=/h:i,readonly",
        "type=bind,src=/i j ,dst=/i j ,readonly",
        "type=bind,src=/j\xc3\xa9,dst=/j\xc3\xa9,readonly",
        "type=bind,src=/-k,dst=/-k,readonly",
        "type=bind,\"src=/l\"\"\"\"\n,\",\"dst=/l\"\"\"\"\n,\",readonly",
    };
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct fixture *f = setup();
        rule(f, NAMES[i], READ, IR_TYPE_FILE);
        assert_true(emit(f));
        assert_null(read_back(f));
        assert_int_equal(f->read.n_mounts, 1);
        assert_string_equal(f->read.words[f->read.mounts[0].at + 1], RECORDS[i]);
        assert_string_equal(f->read.mounts[0].source, NAMES[i]);
        assert_string_equal(f->read.mounts[0].dest, NAMES[i]);
        char field[256];
        size_t n = docker_csv_field(field, sizeof field, "src", NAMES[i]);
        assert_memory_equal(field, RECORDS[i] + strlen("type=bind,"), n);
        teardown(f);
    }
}

static void test_unquotable(void **state)
{
    static const char *const NAMES[] = {"/a\r\nb", "/\xff", "/\xc3", "/\xed\xa0\x80", "/\xc0\xaf"};
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct fixture *f = setup();
        rule(f, NAMES[i], READ, IR_TYPE_FILE);
        assert_false(emit(f));
        assert_true(said(f, DIAG_UNQUOTABLE));
        teardown(f);
    }
    struct fixture *f = setup();
    set(f, "A", "\xff");
    assert_false(emit(f));
    assert_true(said(f, DIAG_UNQUOTABLE));
    teardown(f);
}

static void test_environment(void **state)
{
    (void)state;
    struct fixture *f = setup();
    set(f, "A", "line\nline");
    set(f, "HOME", "/srv");
    f->pass[f->p.n_env_pass++] = (struct ir_env_name){"PATH", {0}};
    f->pass[f->p.n_env_pass++] = (struct ir_env_name){"TMPDIR", {0}};
    assert_true(emit(f));
    assert_string_equal(words_from(f, "--env"),
                        "--env\nTMPDIR=/tmp\n--env\nA=line\nline\n--env\nHOME=/srv\n");
    assert_null(read_back(f));
    teardown(f);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *path;
        unsigned allow, deny;
    } CASES[] = {
        {"/", READ, 0},     {"/proc/sys", READ, 0}, {"/dev", READ, 0},   {"/dev/tty", WRITE, 0},
        {"/a", IR_READ, 0}, {"/a", IR_WRITE, 0},    {"/a/b", 0, IR_ALL}, {"/a/b", READ, IR_WRITE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct fixture *f = setup();
        rule(f, CASES[i].path, CASES[i].allow, IR_TYPE_ANY)->deny = (uint8_t)CASES[i].deny;
        assert_false(emit(f));
        assert_true(said(f, DIAG_CANNOT));
        teardown(f);
    }
    struct fixture *f = setup();
    f->p.core = true;
    assert_false(emit(f));
    assert_true(said(f, DIAG_CANNOT));
    teardown(f);
    f = setup();
    f->p.image.text = NULL;
    assert_false(emit(f));
    assert_true(said(f, DIAG_NO_IMAGE));
    teardown(f);
}

/* A body made by hand: lines become words. */
static const char *read_lines(struct fixture *f, const char *lines)
{
    size_t len = strlen(lines);
    char *data = arena_strn(&f->arena, lines, len);
    for (size_t i = 0; i < len; i++)
        if (data[i] == '\n')
            data[i] = '\0';
    return read_bytes(f, data, len);
}

static void test_reader_refuses(void **state)
{
#define WHOLE HEAD("none") ENVIRONMENT
#define MOUNT "--mount\ntype=bind,src=/a/,dst=/a,readonly\n"
    static const char *const BAD[] = {
        "",
        HEAD("none"),
        HEAD("host") ENVIRONMENT,
        HEAD("bridge") ENVIRONMENT,
        ENVIRONMENT HEAD("none"),
        WHOLE "--privileged\n",
        WHOLE "--volume\n/:/host\n",
        WHOLE "--mount\n",
        WHOLE "--mount\ntype=bind,src=/a,dst=/\n",
        WHOLE "--mount\ntype=bind,src=a,dst=/a\n",
        WHOLE "--mount\ntype=bind,src=/a/../b,dst=/b\n",
        WHOLE "--mount\ntype=bind,src=/a//,dst=/a\n",
        WHOLE "--mount\ntype=bind,src=/a,dst=/a/\n",
        WHOLE "--mount\ntype=bind,source=/a,dst=/a\n",
        WHOLE "--mount\ntype=volume,src=/a,dst=/a\n",
        WHOLE "--mount\ntype=bind,src=/a,dst=/a,bind-propagation=shared\n",
        WHOLE "--mount\ntype=bind,src=/a,dst=/a,readonly,\n",
        WHOLE "--mount\ntype=bind,src=/a,dst=/a,readonly=false\n",
        WHOLE "--mount\ntype=bind,\"src=/a\",dst=/a\n",
        WHOLE "--mount\ntype=bind,src=/a\"b,dst=/a\n",
        WHOLE "--mount\ntype=bind,\"src=/a,b,dst=/a\n",
        WHOLE "--mount\ntype=bind,src=/,dst=/a\n",
        WHOLE "--mount\ntype=bind,src=/proc/sys/,dst=/proc/sys\n",
        WHOLE "--mount\ntype=bind,src=/dev/sda,dst=/dev/sda\n",
        WHOLE "--mount\ntype=bind,src=/tmp/x/,dst=/tmp/x\n",
        WHOLE MOUNT "--mount\ntype=bind,src=/a/,dst=/proc\n",
        WHOLE MOUNT "--mount\ntype=bind,src=/a/,dst=/tmp\n",
        WHOLE MOUNT "--mount\ntype=bind,src=/a/,dst=/b\n",
        WHOLE MOUNT "--mount\ntype=bind,src=/a/,dst=/b,readonly\n--label\nsbx-optional=/a\n",
        WHOLE MOUNT "--mount\ntype=bind,src=/c/,dst=/b,readonly\n",
        WHOLE MOUNT MOUNT,
        WHOLE "--mount\ntype=bind,src=/b/,dst=/b\n" MOUNT,
        WHOLE "--label\nsbx-optional=/a\n" MOUNT,
        WHOLE MOUNT "--label\nsbx-optional=/b\n",
        WHOLE MOUNT "--label\nother=/a\n",
        WHOLE MOUNT "--label\n",
        WHOLE "--env\nDOCKER_HOST\n",
        WHOLE "--env\nA=b\n",
        WHOLE MOUNT "bb:1\nsh\n",
    };
    (void)state;
    struct fixture *f = setup();
    assert_null(read_lines(f, WHOLE MOUNT "--label\nsbx-optional=/a\n"));
    assert_null(read_lines(f, WHOLE MOUNT "--mount\ntype=bind,src=/a/,dst=/b,readonly\n"));
    assert_null(read_lines(f, WHOLE "--mount\ntype=bind,src=/dev/shm/x,dst=/dev/shm/x\n"));
    /* A part of a grant by another name, found among neighbours; the nearest mount above it decides. */
    assert_null(read_lines(f, WHOLE MOUNT "--mount\ntype=bind,src=/a/w/,dst=/a/w\n"
                                          "--mount\ntype=bind,src=/a-b,dst=/a-b\n"
                                          "--mount\ntype=bind,src=/a/w/x,dst=/b\n"
                                          "--mount\ntype=bind,src=/a/x,dst=/c,readonly\n"));
    assert_non_null(read_lines(f, WHOLE MOUNT "--mount\ntype=bind,src=/a/w/,dst=/a/w\n"
                                              "--mount\ntype=bind,src=/a/w/x,dst=/b,readonly\n"));
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        if (!read_lines(f, BAD[i]))
            fail_msg("accepted: %s", BAD[i]);
    teardown(f);
}

/* Every word dropped, doubled or changed: refused, and every cut too. */
static void test_reader_every_word(void **state)
{
    (void)state;
    struct fixture *f = setup();
    rule(f, "/a,b", READ, IR_TYPE_DIR)->flags = IR_OPTIONAL;
    rule(f, "/c\"d", WRITE, IR_TYPE_FILE);
    set(f, "A", "x");
    assert_true(emit(f));
    size_t len = body_len(f);
    char *copy = arena_alloc(&f->arena, 2 * len + 2);
    for (size_t cut = 0; cut < len; cut++) {
        memcpy(copy, f->out.data, cut);
        const char *wrong = read_bytes(f, copy, cut);
        /* Whole mounts may be missing: the digest over the file is what notices that. */
        bool whole = cut && !strcmp(f->out.data + cut, "--mount");
        whole |= cut && f->out.data[cut - 1] == '\0' && !strcmp(f->out.data + cut, "--label");
        if (!wrong != whole)
            fail_msg("cut at %zu: %s", cut, wrong ? wrong : "accepted");
    }
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, f->out.data, len);
            copy[i] = (char)(copy[i] ^ 1 << bit);
            if (read_bytes(f, copy, len))
                continue;
            /* Only in a path can a changed byte mean something else that is well formed. */
            assert_true(f->read.n_mounts == 2);
            assert_true(strcmp(f->mounts[0].source, "/a,b") || strcmp(f->mounts[0].dest, "/a,b") ||
                        strcmp(f->mounts[1].source, "/c\"d") || strcmp(f->mounts[1].dest, "/c\"d"));
        }
    teardown(f);
}

static void test_profile(void **state)
{
    (void)state;
    char none[DOCKER_PROFILE_MAX], open[DOCKER_PROFILE_MAX], tight[64];
    size_t n = docker_profile(none, sizeof none, false), m = docker_profile(open, sizeof open, true);
    assert_true(n > 1000 && m > n);
    assert_int_equal(strlen(none), n);
    assert_int_equal(docker_profile(tight, sizeof tight, true), 0);
    assert_non_null(strstr(none, "[\"socket\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":13"));
    assert_null(strstr(open, "[\"socket\"],\"action\":\"SCMP_ACT_ERRNO\""));
    static const char *const NEVER[] = {"\"mount\"",     "\"unshare\"", "\"setns\"",  "\"keyctl\"",
                                        "\"bpf\"",       "\"reboot\"",  "\"chroot\"", "\"open_by_handle_at\"",
                                        "\"pivot_root\""};
    for (size_t i = 0; i < sizeof NEVER / sizeof *NEVER; i++)
        assert_null(strstr(open, NEVER[i]));
}

static void test_text(void **state)
{
    (void)state;
    struct fixture *f = setup();
    struct buf out = {0};
    rule(f, "/a\"\nb", READ, IR_TYPE_FILE);
    assert_true(emit(f));
    assert_true(be_docker.text(f->out.data, f->out.len, &out));
    buf_byte(&out, '\0');
    assert_non_null(strstr(out.data, "--rm\n--init\n"));
    assert_non_null(
        strstr(out.data, "\"type=bind,\\\"src=/a\\\"\\\"\\nb\\\",\\\"dst=/a\\\"\\\"\\nb\\\",readonly\"\n"));
    assert_non_null(strstr(out.data, "--label\nsbx.format=1\n"));
    assert_false(be_docker.text("--rm\0", 5, &out));
    assert_false(be_docker.text("", 0, &out));
    buf_done(&out);
    teardown(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_grants),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_unquotable),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_reader_refuses),
        cmocka_unit_test(test_reader_every_word),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests_name("docker", tests, NULL, NULL);
}
