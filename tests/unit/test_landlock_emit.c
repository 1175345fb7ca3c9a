/* LINK: src/backends/landlock.c src/backends/runsec.c src/ir.c src/pattern.c src/units.c src/network.c src/diag.c src/source.c src/arena.c src/buf.c
         src/sha256.c gen/filters.c */
/* The blob that the landlock back end writes, byte by byte, and its text form on damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "artifact.h"
#include "backends/backend.h"
#include "filters.h"
#include "sha256.h"

enum { READ = IR_READ | IR_EXEC, WRITE = IR_READ | IR_WRITE | IR_EXEC, MAX_RULES = 12 };

struct fixture {
    struct arena arena;
    struct diag_list diags;
    struct buf out;
    struct ir_rule rules[MAX_RULES];
    struct ir_policy p;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    arena_init(&f->arena, NULL, NULL);
    diag_init(&f->diags, &f->arena);
    f->p = (struct ir_policy){.name = "main",
        .exec_default = true,
        .preset = {.text = "none"},
                              .rules = f->rules,
                              .limits[IR_LIMIT_TIMEOUT].value = 60000,
                              .limits[IR_LIMIT_KILL_AFTER].value = 2000,
                              .tmpdirs = {"/tmp", "/var/tmp"},
                              .n_tmpdirs = 2};
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

static struct ir_rule *add(struct fixture *f, const char *path, unsigned allow, enum ir_type type,
                           enum ir_origin origin)
{
    struct ir_rule *r = &f->rules[f->p.n_rules++];
    *r = (struct ir_rule){.path = path,
                          .path_len = (uint32_t)strlen(path),
                          .allow = (uint8_t)allow,
                          .type = (uint8_t)type,
                          .origin = (uint8_t)origin};
    return r;
}

/* What a policy of some clauses has: floor, preset, grants of a file and a folder, odd names. */
static void add_all_sorts(struct fixture *f)
{
    add(f, "/dev/null", IR_READ | IR_WRITE, IR_TYPE_FILE, IR_FLOOR)->flags = IR_OPTIONAL;
    add(f, "/dev/shm", WRITE, IR_TYPE_ANY, IR_PRESET)->flags = IR_OPTIONAL | IR_FOLLOW;
    add(f, "/proc", IR_READ, IR_TYPE_DIR, IR_FLOOR);
    add(f, "/srv/a b", READ, IR_TYPE_DIR, IR_DECLARED);
    add(f, "/srv/f", WRITE, IR_TYPE_FILE, IR_DECLARED)->flags = IR_OPTIONAL;
    add(f, "/srv/out", WRITE, IR_TYPE_DIR, IR_DECLARED);
    add(f, "/srv/q\"\\\n\x01", READ, IR_TYPE_FILE, IR_DECLARED);
    add(f, "/skill", READ, IR_TYPE_DIR, IR_SKILL_DIR);
    add(f, "/usr", READ, IR_TYPE_ANY, IR_PRESET)->flags = IR_OPTIONAL | IR_FOLLOW;
    add(f, "", IR_ALL, IR_TYPE_DIR, IR_FLOOR)->root = IR_ROOT_TMPDIR;
}

static void emit(struct fixture *f)
{
    buf_done(&f->out);
    assert_true(be_landlock.emit(&f->p, &f->arena, &f->diags, &f->out));
    assert_int_equal(f->diags.n, 0);
}

static const struct ll_header *header(const struct fixture *f)
{
    return (const void *)f->out.data;
}

static const struct ll_rule *rules(const struct fixture *f)
{
    return (const void *)(f->out.data + header(f)->rules.offset);
}

static const char *string(const struct fixture *f, uint32_t offset)
{
    assert_true(offset < header(f)->strings.count);
    return f->out.data + header(f)->strings.offset + offset;
}

static const struct ll_rule *rule_of(const struct fixture *f, const char *path)
{
    for (uint32_t i = 0; i < header(f)->rules.count; i++)
        if (!strcmp(string(f, rules(f)[i].path), path))
            return &rules(f)[i];
    fail_msg("no rule for %s", path);
    return NULL;
}

/* ---- Layout ------------------------------------------------------------------------------------------ */

static void assert_areas(const struct fixture *f)
{
    const struct ll_header *h = header(f);
    const struct {
        struct ll_area area;
        size_t element;
    } areas[] = {{h->rules, sizeof(struct ll_rule)},
                 {h->ports, sizeof(struct ll_port)},
                 {h->needs, sizeof(struct ll_need)},
                 {h->filters, sizeof(struct ll_filter)},
                 {h->run, 1},
                 {h->strings, 1},
                 {h->code, 1}};
    size_t at = LL_HEADER_SIZE;
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
        assert_int_equal(areas[i].area.offset, at);
        assert_int_equal(at % 8, 0);
        at += areas[i].area.count * areas[i].element;
        for (; at % 8; at++)
            assert_int_equal(f->out.data[at], 0);
    }
    assert_int_equal(at, f->out.len);
    assert_int_equal(h->size, f->out.len);
}

static void assert_digest(const struct fixture *f)
{
    struct sha256 s;
    unsigned char sum[SHA256_LEN];
    sha256_init(&s);
    sha256_add(&s, f->out.data, 16);
    sha256_add(&s, f->out.data + 48, f->out.len - 48);
    sha256_end(&s, sum);
    assert_memory_equal(header(f)->body_digest, sum, SHA256_LEN);
}

static void test_header(void **state)
{
    struct fixture *f = *state;
    add_all_sorts(f);
    emit(f);
    const struct ll_header *h = header(f);
    assert_memory_equal(f->out.data, "\x89SBXLL\r\n\x01\0\0\0", 12);
    assert_int_equal(h->header_size, LL_HEADER_SIZE);
    assert_int_equal(h->flags, LL_VIEW);
    assert_int_equal(h->handled_fs, LL_FS_ALL);
    assert_int_equal(h->handled_net, LL_NET_ALL);
    assert_int_equal(h->scoped, LL_SCOPE_ALL);
    assert_int_equal(h->rules.count, f->p.n_rules);
    assert_int_equal(h->ports.count, 0);
    assert_areas(f);
    assert_digest(f);
}

/* Strings of every length: the areas behind stay aligned and without gaps. */
static void test_alignment(void **state)
{
    struct fixture *f = *state;
    char path[32] = "/", name[32] = "";
    for (size_t n = 1; n < 20; n++) {
        path[n] = name[n - 1] = 'x';
        f->p.n_rules = 0;
        f->p.name = name;
        add(f, path, READ, IR_TYPE_DIR, IR_DECLARED);
        emit(f);
        assert_areas(f);
        assert_digest(f);
        assert_string_equal(string(f, rules(f)[0].path), path);
    }
    f->p.n_rules = 0;
    emit(f);
    assert_areas(f);
}

/* Appended behind what the buffer holds, its offsets count from its own start. */
static void test_position_independent(void **state)
{
    struct fixture *f = *state;
    add_all_sorts(f);
    emit(f);
    struct buf behind = {0};
    buf_str(&behind, "12345");
    assert_true(be_landlock.emit(&f->p, &f->arena, &f->diags, &behind));
    assert_int_equal(behind.len, f->out.len + 5);
    assert_memory_equal(behind.data + 5, f->out.data, f->out.len);
    buf_done(&behind);
}

static void test_same_policy_same_bytes(void **state)
{
    struct fixture *f = *state;
    add_all_sorts(f);
    emit(f);
    struct buf first = f->out;
    f->out = (struct buf){0};
    for (size_t i = 0; i < f->p.n_rules; i++)
        f->rules[i].span.start = 77; /* places are no meaning */
    emit(f);
    assert_int_equal(first.len, f->out.len);
    assert_memory_equal(first.data, f->out.data, first.len);
    buf_done(&first);
}

static void test_strings(void **state)
{
    struct fixture *f = *state;
    add_all_sorts(f);
    emit(f);
    const struct ll_header *h = header(f);
    assert_int_equal(f->out.data[h->strings.offset + h->strings.count - 1], 0);
    for (uint32_t i = 0; i < h->rules.count; i++) {
        const struct ll_rule *r = &rules(f)[i];
        assert_string_equal(string(f, r->path), f->rules[i].path);
        assert_int_equal(r->root, f->rules[i].root == IR_ROOT_TMPDIR ? LL_ROOT_TMPDIR : LL_ROOT_SLASH);
    }
}

/* ---- Rights and flags -------------------------------------------------------------------------------- */

/* The kernel refuses rights of folders on a file, so a rule on a file has none. */
static void test_rights(void **state)
{
    struct fixture *f = *state;
    const uint64_t read_dir = LL_FS_READ_FILE | LL_FS_READ_DIR;
    const uint64_t write_dir = LL_FS_WRITE_FILE | LL_FS_TRUNCATE | LL_FS_REMOVE_DIR | LL_FS_REMOVE_FILE |
                               LL_FS_MAKE_DIR | LL_FS_MAKE_REG | LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO |
                               LL_FS_MAKE_SYM | LL_FS_REFER;
    add_all_sorts(f);
    emit(f);
    assert_int_equal(rule_of(f, "/srv/a b")->access, read_dir | LL_FS_EXECUTE);
    assert_int_equal(rule_of(f, "/srv/out")->access, read_dir | write_dir | LL_FS_EXECUTE);
    assert_int_equal(rule_of(f, "/srv/f")->access,
                     LL_FS_READ_FILE | LL_FS_WRITE_FILE | LL_FS_TRUNCATE | LL_FS_EXECUTE);
    assert_int_equal(rule_of(f, "/srv/q\"\\\n\x01")->access, LL_FS_READ_FILE | LL_FS_EXECUTE);
    assert_int_equal(rule_of(f, "/usr")->access, read_dir | LL_FS_EXECUTE);
    assert_int_equal(rule_of(f, "/proc")->access, read_dir);
    assert_int_equal(rule_of(f, "/dev/null")->access, LL_FS_READ_FILE | LL_FS_WRITE_FILE | LL_FS_TRUNCATE);
    for (uint32_t i = 0; i < header(f)->rules.count; i++) {
        const struct ll_rule *r = &rules(f)[i];
        assert_int_equal(r->access & ~LL_FS_ALL, 0);
        /* A device node reaches beyond the folder that it is made in. */
        assert_int_equal(
            r->access & (LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK | LL_FS_IOCTL_DEV | LL_FS_RESOLVE_UNIX), 0);
        if (r->type == LL_TYPE_FILE)
            assert_int_equal(r->access & ~LL_FS_OF_FILE, 0);
    }
}

static void test_flags(void **state)
{
    struct fixture *f = *state;
    add_all_sorts(f);
    emit(f);
    assert_int_equal(rule_of(f, "/dev/null")->flags, LL_OPTIONAL);
    assert_int_equal(rule_of(f, "/dev/shm")->flags, LL_OPTIONAL | LL_FOLLOW | LL_WRITABLE | LL_PRIVATE);
    assert_int_equal(rule_of(f, "/proc")->flags, LL_PROC);
    assert_int_equal(rule_of(f, "/srv/a b")->flags, 0);
    assert_int_equal(rule_of(f, "/srv/f")->flags, LL_OPTIONAL | LL_WRITABLE);
    assert_int_equal(rule_of(f, "/srv/out")->flags, LL_WRITABLE);
    assert_int_equal(rule_of(f, "/skill")->flags, 0);
    assert_int_equal(rule_of(f, "/usr")->flags, LL_OPTIONAL | LL_FOLLOW);
    assert_int_equal(rule_of(f, "")->flags, LL_WRITABLE | LL_PRIVATE);
    assert_int_equal(rule_of(f, "/usr")->type, LL_TYPE_ANY);
    assert_int_equal(rule_of(f, "/srv/f")->type, LL_TYPE_FILE);
    assert_int_equal(rule_of(f, "/srv/out")->type, LL_TYPE_DIR);
}

/* A sink is a device and /proc the sandbox's own, whatever was looked at and granted on the way to it. */
static void test_floor(void **state)
{
    struct fixture *f = *state;
    add(f, "/", WRITE, IR_TYPE_DIR, IR_DECLARED);
    add(f, "/dev/null", WRITE, IR_TYPE_ANY, IR_FLOOR);
    add(f, "/dev/zero", WRITE, IR_TYPE_DIR, IR_FLOOR)->flags = IR_OPTIONAL;
    add(f, "/proc", READ, IR_TYPE_ANY, IR_FLOOR)->deny = IR_WRITE | IR_EXEC;
    emit(f);
    const uint64_t device = LL_FS_READ_FILE | LL_FS_WRITE_FILE | LL_FS_TRUNCATE | LL_FS_EXECUTE;
    assert_int_equal(rule_of(f, "/dev/null")->access, device);
    assert_int_equal(rule_of(f, "/dev/null")->type, LL_TYPE_FILE);
    assert_int_equal(rule_of(f, "/dev/null")->flags, 0);
    assert_int_equal(rule_of(f, "/dev/zero")->access, device);
    assert_int_equal(rule_of(f, "/dev/zero")->type, LL_TYPE_FILE);
    assert_int_equal(rule_of(f, "/dev/zero")->flags, LL_OPTIONAL);
    assert_int_equal(rule_of(f, "/proc")->access, LL_FS_READ_FILE | LL_FS_READ_DIR);
    assert_int_equal(rule_of(f, "/proc")->type, LL_TYPE_DIR);
    assert_int_equal(rule_of(f, "/proc")->flags, LL_PROC);
}

static void test_proc_is_refused(void **state)
{
    struct fixture *f = *state;
    add(f, "/proc/self", READ, IR_TYPE_DIR, IR_SKILL_DIR);
    assert_false(be_landlock.emit(&f->p, &f->arena, &f->diags, &f->out));
    assert_int_equal(f->diags.items[0]->id, DIAG_CANNOT);
}

/* ---- Needs, programs, run section -------------------------------------------------------------------- */

static const struct ll_need *need_of(const struct fixture *f, const char *clause)
{
    const struct ll_need *n = (const void *)(f->out.data + header(f)->needs.offset);
    for (uint32_t i = 0; i < header(f)->needs.count; i++)
        if (!strcmp(string(f, n[i].clause), clause))
            return &n[i];
    return NULL;
}

static void test_needs(void **state)
{
    struct fixture *f = *state;
    emit(f);
    assert_int_equal(need_of(f, "paths")->min_abi, 3);
    assert_int_equal(need_of(f, "paths")->mechanisms, 0);
    assert_int_equal(need_of(f, "network none")->min_abi, 0);
    assert_int_equal(need_of(f, "network none")->mechanisms, LL_BY_FILTER);
    assert_int_equal(need_of(f, "metadata of files outside the grants")->mechanisms, LL_BY_VIEW);
    assert_int_equal(need_of(f, "signals to the outside")->min_abi, 6);
    assert_int_equal(need_of(f, "signals to the outside")->mechanisms, LL_BY_PID_NAMESPACE);
    const char *accepted = "metadata";
    f->p.accepted = &accepted;
    f->p.n_accepted = 1;
    emit(f);
    assert_null(need_of(f, "metadata of files outside the grants"));
    assert_int_equal(header(f)->flags, 0);
    assert_non_null(need_of(f, "paths"));
}

static void test_programs(void **state)
{
    struct fixture *f = *state;
    for (int open = 0; open < 2; open++) {
        f->p.network.mode = open ? IR_NETWORK_OPEN : IR_NETWORK_NONE;
        emit(f);
        const struct ll_header *h = header(f);
        const struct ll_filter *programs = (const void *)(f->out.data + h->filters.offset);
        assert_int_equal(h->filters.count, 2);
        assert_int_not_equal(programs[0].arch, programs[1].arch);
        assert_int_equal(h->handled_net, open ? 0 : LL_NET_ALL);
        for (uint32_t i = 0; i < 2; i++) {
            const struct filter_program *want = filter_find(open ? "open" : "none", programs[i].arch);
            assert_non_null(want);
            assert_int_equal(programs[i].count, want->count);
            assert_int_equal(programs[i].reserved, 0);
            assert_int_equal(programs[i].offset % 8, 0);
            assert_true(programs[i].offset + programs[i].count * 8 <= h->code.count);
            assert_memory_equal(f->out.data + h->code.offset + programs[i].offset, want->code,
                                want->count * 8);
        }
    }
}

static bool runs(const struct fixture *f, const char *want)
{
    const char *s = f->out.data + header(f)->run.offset, *end = s + header(f)->run.count;
    for (; s < end; s += strlen(s) + 1)
        if (!strcmp(s, want))
            return true;
    return false;
}

static void test_run_section(void **state)
{
    struct fixture *f = *state;
    struct ir_env_set set = {.name = "A", .value = "x=y\n"};
    struct ir_env_name pass = {.name = "LC_*"};
    f->p.env_set = &set;
    f->p.env_pass = &pass;
    f->p.n_env_set = f->p.n_env_pass = 1;
    f->p.skill_dir = "/skill";
    emit(f);
    const char *const want[] = {"format=1",         "target=landlock",  "profile=main",       "confine=yes",
                                "timeout-ms=60000", "network=none",     "kill-after-ms=2000", "env-pass=LC_*",
                                "env-set=A=x=y\n",  "skill-dir=/skill", "tmpdir=/var/tmp"};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_true(runs(f, want[i]));
    assert_int_equal(f->out.data[header(f)->run.offset + header(f)->run.count - 1], 0);
}

/* `trust core` that was granted: nothing confines, and nothing pretends to. */
static void test_unconfined(void **state)
{
    struct fixture *f = *state;
    add_all_sorts(f);
    f->p.core = true;
    emit(f);
    const struct ll_header *h = header(f);
    assert_int_equal(h->flags, LL_UNCONFINED);
    assert_int_equal(h->handled_fs | h->handled_net | h->scoped, 0);
    assert_int_equal(h->rules.count + h->needs.count + h->filters.count + h->code.count, 0);
    assert_true(runs(f, "confine=no"));
    assert_true(runs(f, "timeout-ms=60000"));
    assert_areas(f);
    assert_digest(f);
}

static void test_decrease_is_refused(void **state)
{
    struct fixture *f = *state;
    add(f, "/srv", WRITE, IR_TYPE_DIR, IR_DECLARED);
    add(f, "/srv/x", READ, IR_TYPE_DIR, IR_DECLARED)->deny = IR_WRITE;
    assert_false(be_landlock.emit(&f->p, &f->arena, &f->diags, &f->out));
    assert_int_equal(f->diags.n_errors, 1);
    assert_int_equal(f->diags.items[0]->id, DIAG_CANNOT);
    assert_int_equal(f->out.len, 0);
}

/* ---- Text -------------------------------------------------------------------------------------------- */

/* In memory of its own size, so that a sanitizer sees any byte read beyond. */
static bool text_of(const char *data, size_t len, struct buf *out)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, data, len);
    bool ok = be_landlock.text(copy, len, out);
    free(copy);
    return ok;
}

static void test_text(void **state)
{
    struct fixture *f = *state;
    struct buf out = {0};
    add_all_sorts(f);
    emit(f);
    assert_true(text_of(f->out.data, f->out.len, &out));
    const char *const lines[] = {
        "rule \"/dev/null\" file optional: read write\n",
        "rule \"/dev/shm\" any optional follow writable private: read write exec\n",
        "rule \"/proc\" dir proc: read\n",
        "rule \"/srv/a b\" dir: read exec\n",
        "rule \"/srv/f\" file optional writable: read write exec\n",
        "rule \"/srv/q\\\"\\\\\\x0a\\x01\" file: read exec\n",
        "rule $TMPDIR \"\" dir writable private: read write exec\n",
        "need \"paths\" abi>=3\n",
        "run \"confine=yes\"\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(out.data, lines[i]))
            fail_msg("not in the text: %s\n%s", lines[i], out.data);
    buf_done(&out);
}

/* No blob is too short or too wrong to be looked at; what is no blob is said to be none. */
static void test_text_of_truncations(void **state)
{
    struct fixture *f = *state;
    add_all_sorts(f);
    emit(f);
    for (size_t len = 0; len <= f->out.len; len++) {
        struct buf out = {0};
        assert_int_equal(text_of(f->out.data, len, &out), len >= LL_HEADER_SIZE);
        buf_done(&out);
    }
}

static void test_text_of_bit_flips(void **state)
{
    struct fixture *f = *state;
    add_all_sorts(f);
    emit(f);
    char *copy = arena_strn(&f->arena, f->out.data, f->out.len);
    for (size_t bit = 0; bit < f->out.len * 8; bit++) {
        struct buf out = {0};
        copy[bit / 8] ^= (char)(1u << bit % 8);
        assert_int_equal(text_of(copy, f->out.len, &out), bit / 8 >= LL_MAGIC_LEN);
        buf_done(&out);
        copy[bit / 8] ^= (char)(1u << bit % 8);
    }
}

/* Areas that point anywhere and claim any size. */
static void test_text_of_wild_areas(void **state)
{
    struct fixture *f = *state;
    static const uint32_t wild[] = {0, 1, 7, 135, 136, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
    enum { N = sizeof wild / sizeof *wild };
    add(f, "/srv", READ, IR_TYPE_DIR, IR_DECLARED);
    emit(f);
    for (size_t area = 0; area < 7; area++)
        for (size_t i = 0; i < N * N; i++) {
            struct buf out = {0};
            char *copy = arena_strn(&f->arena, f->out.data, f->out.len);
            memcpy(copy + 80 + area * 8, &wild[i / N], 4);
            memcpy(copy + 84 + area * 8, &wild[i % N], 4);
            assert_true(text_of(copy, f->out.len, &out));
            buf_done(&out);
        }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_header),
        TEST(test_alignment),
        TEST(test_position_independent),
        TEST(test_same_policy_same_bytes),
        TEST(test_strings),
        TEST(test_rights),
        TEST(test_flags),
        TEST(test_floor),
        TEST(test_proc_is_refused),
        TEST(test_needs),
        TEST(test_programs),
        TEST(test_run_section),
        TEST(test_unconfined),
        TEST(test_decrease_is_refused),
        TEST(test_text),
        TEST(test_text_of_truncations),
        TEST(test_text_of_bit_flips),
        TEST(test_text_of_wild_areas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
