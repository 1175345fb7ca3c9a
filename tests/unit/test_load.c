/* LINK: src/runtime/load.c src/runtime/load_landlock.c src/runtime/run.c src/runtime/sys.c src/sha256.c */
/* Artifacts are hostile input: what is damaged, cut, unknown or out of order is refused, never read past. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blob.h"
#include "runtime/load.h"

/* The engines whose bodies are not looked at here. */
static bool take(struct rt_run *run)
{
    return run->artifact.body_end <= run->artifact.len;
}
static const struct rt_engine landlock = {.target = "landlock", .load = ll_load};
static const struct rt_engine bwrap = {.target = "bwrap", .load = take};
static const struct rt_engine docker = {.target = "docker", .load = take};
static const struct rt_engine seatbelt = {.target = "seatbelt", .load = take};
const struct rt_engine *const rt_engines[] = {&landlock, &bwrap, &docker, &seatbelt};
const size_t rt_n_engines = sizeof rt_engines / sizeof *rt_engines;

static struct blob blob;
static struct rt_run run;
static char scratch[1 << 20];
static int file = -1;

/* Loads the bytes as a file; the outcome is in `run`, with the artifact still mapped. */
static bool load(const void *bytes, size_t len)
{
    char path[64];
    if (run.artifact.data)
        munmap((void *)(uintptr_t)run.artifact.data, run.artifact.len + 1);
    memset(&run, 0, sizeof run);
    memset(scratch, 0, sizeof scratch);
    run.scratch = scratch;
    run.scratch_cap = sizeof scratch;
    if (file < 0)
        file = memfd_create("artifact", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    run.options.artifact = path;
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, bytes, len, 0), (ssize_t)len);
    return rt_load(&run);
}

static bool refused(const void *bytes, size_t len)
{
    return !load(bytes, len) && run.error.status == RT_EXIT_REFUSED && run.error.why[0];
}

static void build(void)
{
    static const uint64_t allow[] = {0x7fff000000000006}; /* return ALLOW */
    blob_begin(&blob, true, "2000");
    blob_run(&blob, "env-pass=LANG");
    blob_run(&blob, "env-pass=LC_*");
    blob_run(&blob, "env-set=TZ=UTC");
    blob_run(&blob, "skill-dir=/srv/skill");
    blob_run(&blob, "tmpdir=/tmp");
    blob_run(&blob, "tmpdir=/mnt");
    blob_run(&blob, "accept=late-names");
    const uint64_t read = LL_FS_READ_FILE | LL_FS_READ_DIR;
    blob_rule(&blob, LL_ROOT_SLASH, "/dev/shm", LL_TYPE_ANY, LL_OPTIONAL | LL_WRITABLE | LL_PRIVATE,
              LL_FS_ALL);
    blob_rule(&blob, LL_ROOT_SLASH, "/proc", LL_TYPE_DIR, LL_PROC, read);
    blob_rule(&blob, LL_ROOT_SLASH, "/srv/a", LL_TYPE_DIR, LL_WRITABLE, LL_FS_ALL);
    blob_rule(&blob, LL_ROOT_SLASH, "/srv/a/b", LL_TYPE_FILE, 0, LL_FS_READ_FILE);
    blob_rule(&blob, LL_ROOT_SLASH, "/srv/a-b", LL_TYPE_ANY, LL_OPTIONAL | LL_FOLLOW, read);
    blob_rule(&blob, LL_ROOT_TMPDIR, "", LL_TYPE_DIR, LL_WRITABLE | LL_PRIVATE, LL_FS_ALL);
    blob.ports[blob.n_ports++] = (struct ll_port){LL_NET_CONNECT_TCP, 443};
    blob.needs[blob.n_needs++] = (struct ll_need){blob_string(&blob, "paths"), 3, 0};
    blob.needs[blob.n_needs++] = (struct ll_need){blob_string(&blob, "network none"), 4, LL_BY_FILTER};
    blob_filter(&blob, SBX_ARCH_X86_64, allow, 1);
    blob_filter(&blob, SBX_ARCH_AARCH64, allow, 1);
}

static void good_blob_is_read(void **state)
{
    (void)state;
    build();
    blob_lay_out(&blob);
    if (!load(blob.bytes, blob.len))
        fail_msg("%s", run.error.why);
    const struct rt_policy *p = &run.policy;
    assert_string_equal(p->profile, "main");
    assert_true(p->confine);
    assert_int_equal(p->timeout_ms, 2000);
    assert_int_equal(p->kill_after_ms, 300);
    assert_string_equal(p->network, "none");
    assert_int_equal(p->env_pass.n, 2);
    assert_string_equal(p->env_pass.items[1], "LC_*");
    assert_int_equal(p->env_set.n, 1);
    assert_string_equal(p->env_set.items[0], "TZ=UTC");
    assert_int_equal(p->tmpdirs.n, 2);
    assert_string_equal(p->tmpdirs.items[1], "/mnt");
    assert_string_equal(p->skill_dir, "/srv/skill");
    assert_null(p->image);
    assert_int_equal(p->accept.n, 1);
    assert_ptr_equal(run.engine, &landlock);
    uint32_t n = 0;
    assert_non_null(ll_filter(&run.artifact, &n));
    assert_int_equal(n, 1);
    assert_string_equal(ll_string(&run.artifact, ll_rules(&run.artifact)[3].path), "/srv/a/b");
}

static void every_flipped_bit_is_refused(void **state)
{
    (void)state;
    build();
    blob_lay_out(&blob);
    for (size_t bit = 0; bit < blob.len * 8; bit++) {
        blob.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (!refused(blob.bytes, blob.len))
            fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
        blob.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_true(load(blob.bytes, blob.len));
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    build();
    blob_lay_out(&blob);
    for (size_t len = 0; len < blob.len; len++)
        if (!refused(blob.bytes, len))
            fail_msg("%zu of %zu bytes", len, blob.len);
    for (size_t more = 1; more <= 16; more++)
        assert_true(refused(blob.bytes, blob.len + more));
}

/* Reads all that a loaded blob offers, as the engine does. */
static size_t visit(const struct rt_artifact *a)
{
    const struct ll_header *h = ll_header(a);
    size_t sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->rules.count; i++)
        sum += strlen(ll_string(a, ll_rules(a)[i].path)) + strlen(ll_string(a, ll_rules(a)[i].clause));
    for (uint32_t i = 0; i < h->needs.count; i++)
        sum += strlen(ll_string(a, ll_needs(a)[i].clause));
    for (uint32_t i = 0; i < h->ports.count; i++)
        sum += ll_ports(a)[i].port;
    const unsigned char *code = ll_filter(a, &n);
    for (size_t i = 0; code && i < n * 8u; i++)
        sum += code[i];
    return sum;
}

/* With a right digest a spoilt blob may be a blob like another; it must only never be read past its end. The
 * copy is as long as the blob to the byte, so that sanitizers see one byte too many. */
static void sealed_damage_never_reads_past(void **state)
{
    (void)state;
    size_t loaded = 0;
    build();
    blob_lay_out(&blob);
    for (size_t bit = 0; bit < blob.len * 8; bit++) {
        unsigned char *copy = malloc(blob.len);
        size_t start, end;
        memcpy(copy, blob.bytes, blob.len);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        blob_seal(copy, blob.len);
        struct rt_run r = {.artifact = {.data = copy, .len = blob.len}, .policy = {.confine = true}};
        if (ll_open(&r, &start, &end)) {
            assert_true(start <= end && end <= blob.len);
            if (ll_load(&r))
                loaded += visit(&r.artifact) > 0;
        }
        free(copy);
    }
    assert_true(loaded > 0); /* else nothing was visited */
}

static void sealed_cuts_never_read_past(void **state)
{
    (void)state;
    build();
    blob_lay_out(&blob);
    for (size_t len = LL_HEADER_SIZE; len < blob.len; len++) {
        unsigned char *copy = malloc(len);
        uint32_t size = (uint32_t)len;
        size_t start, end;
        memcpy(copy, blob.bytes, len);
        memcpy(copy + offsetof(struct ll_header, size), &size, sizeof size);
        blob_seal(copy, len);
        struct rt_run r = {.artifact = {.data = copy, .len = len}, .policy = {.confine = true}};
        assert_false(ll_open(&r, &start, &end) && ll_load(&r));
        free(copy);
    }
}

/* ---- One thing wrong at a time, with a right digest --------------------------------------------------- */

static bool spoilt_is_refused(void (*spoil)(void))
{
    build();
    spoil();
    blob_lay_out(&blob);
    return refused(blob.bytes, blob.len);
}

#define SPOIL(name, statement) \
    static void name(void)     \
    {                          \
        statement;             \
    }
SPOIL(unknown_flag, blob.header.flags |= 4)
SPOIL(unconfined_and_confined, blob.header.flags = LL_UNCONFINED)
SPOIL(right_not_handled, blob.header.handled_fs &= ~LL_FS_EXECUTE)
SPOIL(unknown_right, blob.header.handled_fs |= LL_FS_ALL + 1)
SPOIL(unknown_net, blob.header.handled_net |= LL_NET_ALL + 1)
SPOIL(unknown_scope, blob.header.scoped |= LL_SCOPE_ALL + 1)
SPOIL(rule_of_unknown_right, blob.rules[2].access |= LL_FS_ALL + 1)
SPOIL(rule_of_nothing, blob.rules[2].access = 0)
SPOIL(rule_of_unknown_root, blob.rules[5].root = 2)
SPOIL(rule_of_unknown_type, blob.rules[2].type = 3)
SPOIL(rule_of_unknown_flag, blob.rules[2].flags |= 32)
SPOIL(file_with_folder_rights, blob.rules[3].access |= LL_FS_READ_DIR)
SPOIL(rules_out_of_order, blob.rules[2].path = blob.rules[3].path; blob.rules[2].path_len = 8)
SPOIL(rule_twice, blob.rules[3] = blob.rules[2])
SPOIL(slash_behind_tmpdir, blob.rules[0].root = LL_ROOT_TMPDIR)
SPOIL(path_of_wrong_length, blob.rules[2].path_len++)
SPOIL(path_outside, blob.rules[2].path = blob.n_strings)
SPOIL(clause_outside, blob.rules[2].clause = UINT32_MAX)
SPOIL(proc_elsewhere, blob.rules[2].flags = LL_PROC)
SPOIL(private_not_writable, blob.rules[2].flags = LL_PRIVATE)
SPOIL(strings_not_closed, blob.strings[blob.n_strings++] = 'x')
SPOIL(run_not_closed, blob.run[blob.n_run++] = 'x')
SPOIL(port_not_handled, blob.ports[0].access = LL_NET_ALL + 1)
SPOIL(port_of_nothing, blob.ports[0].access = 0)
SPOIL(port_too_large, blob.ports[0].port = 65536)
SPOIL(need_of_nothing, blob.needs[0].min_abi = 0)
SPOIL(need_of_unknown_mechanism, blob.needs[0].mechanisms = 8)
SPOIL(need_outside, blob.needs[0].clause = blob.n_strings)
SPOIL(filter_of_unknown_machine, blob.filters[0].arch++)
SPOIL(filter_twice, blob.filters[1].arch = blob.filters[0].arch)
SPOIL(filter_reserved, blob.filters[0].reserved = 1)
SPOIL(filter_overlaps, blob.filters[1].offset = 0)
SPOIL(filter_empty, blob.filters[0].count = 0)
SPOIL(filter_too_long, blob.filters[1].count = 2)
SPOIL(code_left_over, blob.n_code++)

static void each_slip_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*spoil)(void);
    } slips[] = {
#define SLIP(name) {#name, name}
        SLIP(unknown_flag),
        SLIP(unconfined_and_confined),
        SLIP(right_not_handled),
        SLIP(unknown_right),
        SLIP(unknown_net),
        SLIP(unknown_scope),
        SLIP(rule_of_unknown_right),
        SLIP(rule_of_nothing),
        SLIP(rule_of_unknown_root),
        SLIP(rule_of_unknown_type),
        SLIP(rule_of_unknown_flag),
        SLIP(file_with_folder_rights),
        SLIP(rules_out_of_order),
        SLIP(rule_twice),
        SLIP(slash_behind_tmpdir),
        SLIP(path_of_wrong_length),
        SLIP(path_outside),
        SLIP(clause_outside),
        SLIP(proc_elsewhere),
        SLIP(private_not_writable),
        SLIP(strings_not_closed),
        SLIP(run_not_closed),
        SLIP(port_not_handled),
        SLIP(port_of_nothing),
        SLIP(port_too_large),
        SLIP(need_of_nothing),
        SLIP(need_of_unknown_mechanism),
        SLIP(need_outside),
        SLIP(filter_of_unknown_machine),
        SLIP(filter_twice),
        SLIP(filter_reserved),
        SLIP(filter_overlaps),
        SLIP(filter_empty),
        SLIP(filter_too_long),
        SLIP(code_left_over),
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
        if (!spoilt_is_refused(slips[i].spoil))
            fail_msg("%s was accepted", slips[i].name);
}

static void odd_paths_are_refused(void **state)
{
    (void)state;
    static const char *const odd[] = {"",       "srv", "//",      "/srv/",     "/srv//a", "/.",
                                      "/srv/.", "/..", "/srv/..", "/srv/../a", "/srv/./a"};
    static const char *const fine[] = {"/", "/srv/...", "/srv/.a", "/srv/a..", "/\xff\n"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd + sizeof fine / sizeof *fine; i++) {
        bool is_odd = i < sizeof odd / sizeof *odd;
        const char *path = is_odd ? odd[i] : fine[i - sizeof odd / sizeof *odd];
        blob_begin(&blob, true, "0");
        blob_rule(&blob, LL_ROOT_SLASH, path, LL_TYPE_DIR, 0, LL_FS_READ_FILE);
        blob_lay_out(&blob);
        if (load(blob.bytes, blob.len) == is_odd)
            fail_msg("`%s` %s", path, is_odd ? "was accepted" : run.error.why);
    }
}

/* ---- Run section ------------------------------------------------------------------------------------- */

/* The strings of build(), with `replace` in place of the one that starts with `key`; NULL leaves it out. */
static bool loads_with(const char *key, const char *replace)
{
    build();
    char old[BLOB_STRINGS_MAX];
    uint32_t n = blob.n_run;
    bool met = false;
    memcpy(old, blob.run, n);
    blob.n_run = 0;
    for (uint32_t at = 0; at < n; at += (uint32_t)strlen(old + at) + 1) {
        if (met || strncmp(old + at, key, strlen(key)) != 0) {
            blob_run(&blob, old + at);
            continue;
        }
        met = true;
        if (replace)
            blob_run(&blob, replace);
    }
    assert_true(met);
    blob_lay_out(&blob);
    return load(blob.bytes, blob.len);
}

static void run_section_is_strict(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
        bool good;
    } cases[] = {
        {"format=", "format=2", false},
        {"format=", "format=01", false},
        {"format=", NULL, false},
        {"target=", "target=bwrap", false},
        {"profile=", "profile=", false},
        {"profile=", "profile=x y\n", true},
        {"policy-digest=", "policy-digest=abc", false},
        {"confine=", "confine=no", false}, /* the header says otherwise */
        {"confine=", "confine=", false},
        {"timeout-ms=", "timeout-ms=-1", false},
        {"timeout-ms=", "timeout-ms=1x", false},
        {"timeout-ms=", "timeout-ms=", false},
        {"timeout-ms=", "timeout-ms=007", false},
        {"timeout-ms=", "timeout-ms=0", true},
        {"timeout-ms=", "timeout-ms=31536000000001", false},
        {"timeout-ms=", "timeout-ms=99999999999999999999999", false},
        {"kill-after-ms=", NULL, false},
        {"network=", "network=all", false},
        {"network=", "network=open", true},
        {"env-pass=", "env-pass=", false},
        {"env-pass=", "env-pass=A=B", false},
        {"env-pass=", "env-pass=A*B", false},
        {"env-pass=", "env-pass=*", true},
        {"env-pass=", NULL, true},
        {"env-set=", "env-set=TZ", false},
        {"env-set=", "env-set==x", false},
        {"env-set=", "env-set=TZ=", true},
        {"skill-dir=", "skill-dir=srv", false},
        {"skill-dir=", NULL, true},
        {"tmpdir=", "tmpdir=tmp", false},
        {"tmpdir=", "image=x", false}, /* out of order */
        {"accept=", "accept=", false},
        {"accept=", "accept=A b", false},
        {"accept=", "body-digest=" BLOB_DIGITS, false},
        {"accept=", "unknown=x", false},
        {"accept=", "", false},
        {"accept=", "accept", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (loads_with(cases[i].key, cases[i].value) != cases[i].good)
            fail_msg("%s -> %s: %s", cases[i].key, cases[i].value ? cases[i].value : "left out",
                     run.error.why);
}

static void key_twice_is_refused(void **state)
{
    (void)state;
    build();
    blob_lay_out(&blob);
    assert_true(load(blob.bytes, blob.len));
    build();
    blob.n_run = 0;
    blob_run(&blob, "format=1");
    blob_run(&blob, "format=1");
    blob_lay_out(&blob);
    assert_true(refused(blob.bytes, blob.len));
    assert_non_null(strstr(run.error.why, "2 times"));
}

static void expected_digest_pins(void **state)
{
    (void)state;
    build();
    blob_lay_out(&blob);
    assert_true(load(blob.bytes, blob.len));
    char digest[65];
    ll_digest(&run.artifact, digest);
    for (int other = 0; other < 2; other++) {
        memset(&run, 0, sizeof run);
        run.scratch = scratch;
        run.scratch_cap = sizeof scratch;
        run.options.expect_digest = digest;
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        run.options.artifact = path;
        assert_int_equal(rt_load(&run), !other);
        digest[63] = digest[63] == '0' ? '1' : '0';
    }
}

/* ---- Text formats ------------------------------------------------------------------------------------ */

struct text {
    const char *target, *body, *before, *prefix, *after; /* around each string of the run section */
    char end;
    bool body_last;
};
static const struct text texts[] = {
    {"bwrap", "--unshare-all\0--\0", "", "sbx:", "", '\0', false},
    {"docker", "--init\0", "--label\0", "sbx.", "", '\0', false},
    {"seatbelt", "\n(version 1)\n", "", ";; sbx:", "", '\n', true},
};

static size_t put(char *out, size_t at, const char *data, size_t len)
{
    memcpy(out + at, data, len);
    return at + len;
}

static size_t body_len(const struct text *t)
{
    return t->end                        ? strlen(t->body)
           : !strcmp(t->target, "bwrap") ? sizeof "--unshare-all\0--"
                                         : sizeof "--init";
}

/* A whole file with a right digest. */
static size_t build_text(const struct text *t, const char *set, char *out)
{
    char target[32];
    snprintf(target, sizeof target, "target=%s", t->target);
    const char *const strings[] = {"format=1",     target,
                                   "profile=a",    "policy-digest=" BLOB_DIGITS,
                                   "body-digest=", "confine=yes",
                                   "timeout-ms=5", "kill-after-ms=6",
                                   "network=none", set};
    size_t at = 0, digits = 0;
    if (!t->body_last)
        at = put(out, at, t->body, body_len(t));
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        if (*t->before)
            at = put(out, at, t->before, strlen(t->before) + 1);
        at = put(out, at, t->prefix, strlen(t->prefix));
        at = put(out, at, strings[i], strlen(strings[i]));
        if (!strcmp(strings[i], "body-digest=")) {
            digits = at;
            at = put(out, at, BLOB_DIGITS, 64);
        }
        at = put(out, at, &t->end, 1);
    }
    if (t->body_last)
        at = put(out, at, t->body, body_len(t));
    unsigned char digest[SHA256_LEN];
    char hex[SHA256_HEX_LEN + 1];
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, out, digits);
    sha256_add(&s, out + digits + 64, at - digits - 64);
    sha256_end(&s, digest);
    sha256_hex(digest, hex);
    memcpy(out + digits, hex, 64);
    return at;
}

static void texts_are_read_and_guarded(void **state)
{
    (void)state;
    static char out[1 << 14];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct text *t = &texts[i];
        size_t len = build_text(t, "env-set=TZ=UTC", out);
        if (!load(out, len))
            fail_msg("%s: %s", t->target, run.error.why);
        assert_string_equal(run.engine->target, t->target);
        assert_string_equal(run.policy.env_set.items[0], "TZ=UTC");
        assert_int_equal(run.policy.timeout_ms, 5);
        const char *body = (const char *)run.artifact.data + run.artifact.body_start;
        size_t has = run.artifact.body_end - run.artifact.body_start;
        assert_memory_equal(body, t->body, has);
        assert_true(has > 0);
        for (size_t bit = 0; bit < len * 8; bit++) {
            out[bit / 8] = (char)(out[bit / 8] ^ 1 << bit % 8);
            if (!refused(out, len))
                fail_msg("%s: bit %zu of byte %zu", t->target, bit % 8, bit / 8);
            out[bit / 8] = (char)(out[bit / 8] ^ 1 << bit % 8);
        }
        for (size_t cut = 0; cut < len; cut++)
            if (!refused(out, cut))
                fail_msg("%s: %zu of %zu bytes", t->target, cut, len);
    }
}

static void escapes_of_lines_are_strict(void **state)
{
    (void)state;
    static char out[1 << 14];
    static const struct {
        const char *set, *want;
    } cases[] = {
        {"env-set=A=%0A%25%7F\xc3\xa9", "A=\n%\x7f\xc3\xa9"},
        {"env-set=A=%", NULL},
        {"env-set=A=%0", NULL},
        {"env-set=A=%0a", NULL}, /* one spelling for one meaning */
        {"env-set=A=%41", NULL}, /* nothing that needs it */
        {"env-set=A=%00", NULL},
        {"env-set=A=\t", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool ok = load(out, build_text(&texts[2], cases[i].set, out));
        if (ok != (cases[i].want != NULL))
            fail_msg("%s: %s", cases[i].set, ok ? "accepted" : run.error.why);
        if (ok)
            assert_string_equal(run.policy.env_set.items[0], cases[i].want);
    }
}

static void other_files_are_refused(void **state)
{
    (void)state;
    static const char *const others[] = {"\x7f"
                                         "ELF",
                                         "#!/bin/sh\n",
                                         "\n",
                                         "(version 1)\n(allow default)\n",
                                         "--",
                                         ";; sbx:"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(refused(others[i], strlen(others[i])));
    memset(&run, 0, sizeof run);
    run.options.artifact = "/";
    assert_false(rt_load(&run));
    memset(&run.error, 0, sizeof run.error);
    run.options.artifact = "/dev/null";
    assert_false(rt_load(&run));
    memset(&run.error, 0, sizeof run.error);
    run.options.artifact = "/nonexistent/a";
    assert_false(rt_load(&run));
    run.artifact.data = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_blob_is_read),           cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_cut_is_refused),        cmocka_unit_test(sealed_damage_never_reads_past),
        cmocka_unit_test(sealed_cuts_never_read_past), cmocka_unit_test(each_slip_is_refused),
        cmocka_unit_test(odd_paths_are_refused),       cmocka_unit_test(run_section_is_strict),
        cmocka_unit_test(key_twice_is_refused),        cmocka_unit_test(expected_digest_pins),
        cmocka_unit_test(texts_are_read_and_guarded),  cmocka_unit_test(escapes_of_lines_are_strict),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
