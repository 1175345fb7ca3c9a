/* LINK: src/runtime/load.c src/runtime/load_landlock.c src/runtime/place.c src/runtime/run.c src/runtime/sys.c
 *       src/backends/landlock.c src/backends/runsec.c src/ir.c src/pattern.c src/units.c src/network.c src/diag.c src/source.c src/arena.c src/buf.c
 *       src/sha256.c gen/filters.c */
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

#include "backends/backend.h"
#include "blob.h"
#include "runtime/load.h"
#include "runtime/sys.h"

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

enum { READ = LL_FS_TO_READ | LL_FS_TO_EXEC, WRITE = LL_FS_TO_READ | LL_FS_TO_WRITE | LL_FS_TO_EXEC };

/* Every sort of rule that the back end writes. */
static void build(void)
{
    blob_begin(&blob, true, "2000");
    blob_run(&blob, "env-pass=LANG");
    blob_run(&blob, "env-pass=LC_*");
    blob_run(&blob, "env-set=TZ=UTC");
    blob_run(&blob, "skill-dir=/srv/skill");
    blob_run(&blob, "tmpdir=/tmp");
    blob_run(&blob, "tmpdir=/mnt");
    blob_run(&blob, "accept=late-names");
    blob_rule(&blob, LL_ROOT_SLASH, "/dev/null", LL_TYPE_FILE, LL_OPTIONAL, WRITE & LL_FS_OF_FILE);
    blob_rule(&blob, LL_ROOT_SLASH, "/dev/shm", LL_TYPE_ANY,
              LL_OPTIONAL | LL_FOLLOW | LL_WRITABLE | LL_PRIVATE, WRITE);
    blob_rule(&blob, LL_ROOT_SLASH, "/proc", LL_TYPE_DIR, LL_PROC, LL_FS_TO_READ);
    blob_rule(&blob, LL_ROOT_SLASH, "/srv/a", LL_TYPE_DIR, LL_WRITABLE, WRITE);
    blob_rule(&blob, LL_ROOT_SLASH, "/srv/a/b", LL_TYPE_FILE, 0, READ & LL_FS_OF_FILE);
    blob_rule(&blob, LL_ROOT_SLASH, "/srv/a-b", LL_TYPE_ANY, LL_OPTIONAL | LL_FOLLOW, READ);
    blob_rule(&blob, LL_ROOT_TMPDIR, "", LL_TYPE_DIR, LL_WRITABLE | LL_PRIVATE, WRITE);
    blob_needs_and_filters(&blob, false, true);
}
enum { NULL_RULE, SHM_RULE, PROC_RULE, WRITE_RULE, FILE_RULE, PRESET_RULE, TMPDIR_RULE };

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
    assert_int_equal(n, filter_find("none", SYS_AUDIT_ARCH)->count);
    const struct ll_rule *r = ll_rules(&run.artifact);
    assert_string_equal(ll_string(&run.artifact, r[FILE_RULE].path), "/srv/a/b");
    assert_string_equal(ll_clause(&run, &r[FILE_RULE]), "read \"/srv/a/b\"");
    assert_string_equal(ll_clause(&run, &r[WRITE_RULE]), "write \"/srv/a\"");
    assert_string_equal(ll_clause(&run, &r[TMPDIR_RULE]), "write \"$TMPDIR\"");
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

/* ---- With a right digest ------------------------------------------------------------------------------ */

/* The rule that the back end must have been given to write this one. */
static struct ir_rule rule_behind(const struct ll_rule *r)
{
    const char *path = ll_string(&run.artifact, r->path);
    struct ir_rule out = {.path = path, .path_len = (uint32_t)strlen(path), .origin = IR_DECLARED};
    static const uint8_t types[] = {IR_TYPE_ANY, IR_TYPE_DIR, IR_TYPE_FILE};
    out.type = types[r->type];
    out.allow = (uint8_t)(IR_READ | (r->access & LL_FS_WRITE_FILE ? IR_WRITE : 0) |
                          (r->access & LL_FS_EXECUTE ? IR_EXEC : 0));
    out.flags = (uint8_t)((r->flags & LL_OPTIONAL ? IR_OPTIONAL : 0) | (r->flags & LL_FOLLOW ? IR_FOLLOW : 0));
    out.root = r->root == LL_ROOT_TMPDIR ? IR_ROOT_TMPDIR : IR_ROOT_SLASH;
    if (r->flags & LL_FOLLOW)
        out.origin = IR_PRESET;
    if (r->flags & LL_PROC || r->root == LL_ROOT_TMPDIR)
        out.origin = IR_FLOOR;
    return out;
}

static struct ir_policy policy_behind(struct arena *a)
{
    const struct rt_policy *p = &run.policy;
    const struct ll_header *h = ll_header(&run.artifact);
    struct ir_rule *rules = arena_array(a, h->rules.count + 1, sizeof *rules);
    struct ir_policy out = {.system = IR_LINUX, .name = p->profile, .rules = rules, .n_rules = h->rules.count};
    for (uint32_t i = 0; i < h->rules.count; i++)
        rules[i] = rule_behind(&ll_rules(&run.artifact)[i]);
    memcpy(out.digest, p->policy_digest, 64);
    out.core = !p->confine;
    out.limits[IR_LIMIT_TIMEOUT].value = p->timeout_ms;
    out.limits[IR_LIMIT_KILL_AFTER].value = p->kill_after_ms;
    out.network.mode = strcmp(p->network, "open") ? IR_NETWORK_NONE : IR_NETWORK_OPEN;
    out.skill_dir = p->skill_dir;
    out.n_tmpdirs = p->tmpdirs.n;
    for (size_t i = 0; i < p->tmpdirs.n; i++)
        out.tmpdirs[i] = p->tmpdirs.items[i];
    out.accepted = p->accept.items;
    out.n_accepted = p->accept.n;
    out.n_env_pass = p->env_pass.n;
    out.env_pass = arena_array(a, p->env_pass.n + 1, sizeof *out.env_pass);
    for (size_t i = 0; i < p->env_pass.n; i++)
        out.env_pass[i].name = p->env_pass.items[i];
    out.n_env_set = p->env_set.n;
    out.env_set = arena_array(a, p->env_set.n + 1, sizeof *out.env_set);
    for (size_t i = 0; i < p->env_set.n; i++) {
        const char *equals = strchr(p->env_set.items[i], '=');
        out.env_set[i].name = arena_strn(a, p->env_set.items[i], (size_t)(equals - p->env_set.items[i]));
        out.env_set[i].value = equals + 1;
    }
    return out;
}

/* Would the compiler write just these bytes for a policy? */
static bool is_emitted(const unsigned char *bytes, size_t len)
{
    struct arena a;
    struct diag_list diags;
    struct buf out = {0};
    arena_init(&a, NULL, NULL);
    diag_init(&diags, &a);
    struct ir_policy p = policy_behind(&a);
    bool same = be_landlock.emit(&p, &a, &diags, &out) && out.len == len && !memcmp(out.data, bytes, len);
    buf_done(&out);
    arena_done(&a);
    return same;
}

/* Whoever edits a blob can write its digest anew. What is loaded then must still be what sbxc writes: a blob of
 * another name, path, time or right, and nothing beside. */
static void sealed_flips_are_refused_or_emitted(void **state)
{
    (void)state;
    size_t loaded = 0;
    build();
    blob_lay_out(&blob);
    assert_true(load(blob.bytes, blob.len));
    assert_true(is_emitted(blob.bytes, blob.len));
    const uint32_t code = blob.header.code.offset;
    for (size_t bit = 0; bit < blob.len * 8; bit++) {
        unsigned char copy[sizeof blob.bytes / 8];
        memcpy(copy, blob.bytes, blob.len);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        blob_seal(copy, blob.len);
        if (!load(copy, blob.len))
            continue;
        loaded++;
        if (bit / 8 >= code || !is_emitted(copy, blob.len))
            fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
    }
    assert_true(loaded > 0); /* a letter of a path */
}

/* The copy is as long as the blob to the byte, so that sanitizers see one byte too many. */
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
        struct rt_run r = {.artifact = {.data = copy, .len = blob.len},
                           .policy = {.confine = true, .network = "none"}};
        if (ll_open(&r, &start, &end)) {
            assert_true(start <= end && end <= blob.len);
            loaded += ll_load(&r);
        }
        free(copy);
    }
    assert_true(loaded > 0);
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
        struct rt_run r = {.artifact = {.data = copy, .len = len}, .policy = {.confine = true, .network = "none"}};
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
SPOIL(no_view, blob.header.flags = 0)
SPOIL(right_not_handled, blob.header.handled_fs &= ~LL_FS_EXECUTE)
SPOIL(unknown_right, blob.header.handled_fs |= LL_FS_ALL + 1)
SPOIL(network_not_handled, blob.header.handled_net = 0)
SPOIL(half_a_network, blob.header.handled_net = LL_NET_BIND_TCP | LL_NET_CONNECT_TCP)
SPOIL(unknown_net, blob.header.handled_net |= LL_NET_ALL + 1)
SPOIL(no_scope, blob.header.scoped = 0)
SPOIL(unknown_scope, blob.header.scoped |= LL_SCOPE_ALL + 1)
SPOIL(rule_of_unknown_right, blob.rules[WRITE_RULE].access |= LL_FS_ALL + 1)
SPOIL(rule_of_nothing, blob.rules[WRITE_RULE].access = 0)
SPOIL(rule_of_exec_alone, blob.rules[PRESET_RULE].access = LL_FS_EXECUTE)
SPOIL(rule_of_half_reading, blob.rules[PRESET_RULE].access &= ~LL_FS_READ_DIR)
SPOIL(rule_of_half_writing, blob.rules[WRITE_RULE].access &= ~LL_FS_TRUNCATE)
SPOIL(rule_of_one_write, blob.rules[PRESET_RULE].access |= LL_FS_REMOVE_FILE)
SPOIL(make_char, blob.rules[WRITE_RULE].access |= LL_FS_MAKE_CHAR)
SPOIL(make_block, blob.rules[WRITE_RULE].access |= LL_FS_MAKE_BLOCK)
SPOIL(ioctl_dev, blob.rules[WRITE_RULE].access |= LL_FS_IOCTL_DEV)
SPOIL(resolve_unix, blob.rules[WRITE_RULE].access |= LL_FS_RESOLVE_UNIX)
SPOIL(rule_of_unknown_root, blob.rules[TMPDIR_RULE].root = 2)
SPOIL(rule_of_unknown_type, blob.rules[WRITE_RULE].type = 3)
SPOIL(rule_of_unknown_flag, blob.rules[WRITE_RULE].flags |= 32)
SPOIL(file_with_folder_rights, blob.rules[FILE_RULE].access |= LL_FS_READ_DIR)
SPOIL(rules_out_of_order, blob.rules[FILE_RULE] = blob.rules[WRITE_RULE])
SPOIL(path_of_another_rule, blob.rules[FILE_RULE].path = blob.rules[WRITE_RULE].path)
SPOIL(slash_behind_tmpdir, blob.rules[NULL_RULE].root = LL_ROOT_TMPDIR)
SPOIL(path_outside, blob.rules[NULL_RULE].path = blob.n_strings)
SPOIL(written_and_not_writable, blob.rules[WRITE_RULE].flags = 0)
SPOIL(writable_and_not_written, blob.rules[FILE_RULE].flags = LL_WRITABLE)
SPOIL(proc_elsewhere, blob.rules[WRITE_RULE].flags = LL_PROC)
SPOIL(proc_not_own, blob.rules[PROC_RULE].flags = 0)
SPOIL(proc_writable, blob.rules[PROC_RULE].access = WRITE; blob.rules[PROC_RULE].flags |= LL_WRITABLE)
SPOIL(private_not_writable, blob.rules[SHM_RULE].flags &= (uint16_t)~LL_WRITABLE)
SPOIL(private_on_the_host, blob.rules[SHM_RULE].flags &= (uint16_t)~LL_PRIVATE)
SPOIL(private_of_the_declaration, blob.rules[WRITE_RULE].flags |= LL_PRIVATE)
SPOIL(followed_and_required, blob.rules[PRESET_RULE].flags = LL_FOLLOW)
SPOIL(followed_and_looked_at, blob.rules[PRESET_RULE].type = LL_TYPE_DIR)
SPOIL(declared_and_followed, blob.rules[WRITE_RULE].flags |= LL_FOLLOW)
SPOIL(sink_writable, blob.rules[NULL_RULE].flags |= LL_WRITABLE)
SPOIL(sink_folder, blob.rules[NULL_RULE].type = LL_TYPE_DIR; blob.rules[NULL_RULE].access = WRITE)
SPOIL(sink_only_read, blob.rules[NULL_RULE].access = READ & LL_FS_OF_FILE)
SPOIL(sink_followed, blob.rules[NULL_RULE].flags |= LL_FOLLOW)
SPOIL(tmpdir_optional, blob.rules[TMPDIR_RULE].flags |= LL_OPTIONAL)
SPOIL(tmpdir_on_the_host, blob.rules[TMPDIR_RULE].flags = LL_WRITABLE)
SPOIL(tmpdir_only_read, blob.rules[TMPDIR_RULE].access = READ)
SPOIL(strings_not_closed, blob.strings[blob.n_strings++] = 'x')
SPOIL(string_left_over, blob.n_strings++)
SPOIL(run_not_closed, blob.run[blob.n_run++] = 'x')
SPOIL(a_port, blob.ports[blob.n_ports++] = ((struct ll_port){LL_NET_CONNECT_TCP, 443}))
SPOIL(no_needs, blob.n_needs = 0)
SPOIL(need_left_out, blob.n_needs--)
SPOIL(need_twice, blob.needs[1] = blob.needs[0])
SPOIL(need_of_nothing, blob.needs[0].min_abi = 0)
SPOIL(need_of_less, blob.needs[0].min_abi = 1)
SPOIL(need_of_another_mechanism, blob.needs[2].mechanisms |= LL_BY_PID_NAMESPACE)
SPOIL(need_outside, blob.needs[0].clause = blob.n_strings)
SPOIL(need_by_another_name, blob.strings[blob.needs[0].clause] = 'x')
SPOIL(filter_of_unknown_machine, blob.filters[0].arch++)
SPOIL(filter_twice, blob.filters[1].arch = blob.filters[0].arch)
SPOIL(filter_reserved, blob.filters[0].reserved = 1)
SPOIL(filter_overlaps, blob.filters[1].offset = 0)
SPOIL(filter_empty, blob.filters[0].count = 0)
SPOIL(filter_too_long, blob.filters[1].count++)
SPOIL(filter_left_out, blob.n_filters = 1; blob.n_code = blob.filters[0].count)
SPOIL(code_left_over, blob.n_code++)
SPOIL(code_changed, blob.code[40] ^= 1)

static void filter_that_allows_all(void)
{
    static const uint64_t allow[] = {0x7fff000000000006}; /* return ALLOW */
    blob.n_filters = blob.n_code = 0;
    blob_filter(&blob, SBX_ARCH_X86_64, allow, 1);
    blob_filter(&blob, SBX_ARCH_AARCH64, allow, 1);
}

static void filters_of_an_open_network(void)
{
    blob.n_filters = blob.n_code = 0;
    for (size_t i = 0; i < n_filter_programs; i++)
        if (!strcmp(filter_programs[i].network, "open"))
            blob_filter(&blob, filter_programs[i].arch, filter_programs[i].code, filter_programs[i].count);
}

static void filters_in_another_order(void)
{
    blob.n_filters = blob.n_code = 0;
    for (size_t i = n_filter_programs; i--;)
        if (!strcmp(filter_programs[i].network, "none"))
            blob_filter(&blob, filter_programs[i].arch, filter_programs[i].code, filter_programs[i].count);
}

/* A way around the check that no write grant reaches what runs. */
static void all_written_without_a_word(void)
{
    blob_begin(&blob, true, "2000");
    blob_rule(&blob, LL_ROOT_SLASH, "/", LL_TYPE_DIR, 0, WRITE);
    blob_needs_and_filters(&blob, false, true);
}

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
        SLIP(no_view),
        SLIP(right_not_handled),
        SLIP(unknown_right),
        SLIP(network_not_handled),
        SLIP(half_a_network),
        SLIP(unknown_net),
        SLIP(no_scope),
        SLIP(unknown_scope),
        SLIP(rule_of_unknown_right),
        SLIP(rule_of_nothing),
        SLIP(rule_of_exec_alone),
        SLIP(rule_of_half_reading),
        SLIP(rule_of_half_writing),
        SLIP(rule_of_one_write),
        SLIP(make_char),
        SLIP(make_block),
        SLIP(ioctl_dev),
        SLIP(resolve_unix),
        SLIP(rule_of_unknown_root),
        SLIP(rule_of_unknown_type),
        SLIP(rule_of_unknown_flag),
        SLIP(file_with_folder_rights),
        SLIP(rules_out_of_order),
        SLIP(path_of_another_rule),
        SLIP(slash_behind_tmpdir),
        SLIP(path_outside),
        SLIP(written_and_not_writable),
        SLIP(writable_and_not_written),
        SLIP(proc_elsewhere),
        SLIP(proc_not_own),
        SLIP(proc_writable),
        SLIP(private_not_writable),
        SLIP(private_on_the_host),
        SLIP(private_of_the_declaration),
        SLIP(followed_and_required),
        SLIP(followed_and_looked_at),
        SLIP(declared_and_followed),
        SLIP(sink_writable),
        SLIP(sink_folder),
        SLIP(sink_only_read),
        SLIP(sink_followed),
        SLIP(tmpdir_optional),
        SLIP(tmpdir_on_the_host),
        SLIP(tmpdir_only_read),
        SLIP(strings_not_closed),
        SLIP(string_left_over),
        SLIP(run_not_closed),
        SLIP(a_port),
        SLIP(no_needs),
        SLIP(need_left_out),
        SLIP(need_twice),
        SLIP(need_of_nothing),
        SLIP(need_of_less),
        SLIP(need_of_another_mechanism),
        SLIP(need_outside),
        SLIP(need_by_another_name),
        SLIP(filter_of_unknown_machine),
        SLIP(filter_twice),
        SLIP(filter_reserved),
        SLIP(filter_overlaps),
        SLIP(filter_empty),
        SLIP(filter_too_long),
        SLIP(filter_left_out),
        SLIP(code_left_over),
        SLIP(code_changed),
        SLIP(filter_that_allows_all),
        SLIP(filters_of_an_open_network),
        SLIP(filters_in_another_order),
        SLIP(all_written_without_a_word),
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
        if (!spoilt_is_refused(slips[i].spoil))
            fail_msg("%s was accepted", slips[i].name);
}

/* Each combination of the run section with what belongs to it. */
static void blobs_of_each_sort_are_read(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++)
        for (int view = 0; view < 2; view++) {
            build();
            blob.n_needs = blob.n_filters = blob.n_code = blob.n_run = 0;
            blob.n_strings = blob.needs[0].clause;
            blob_run(&blob, "format=1");
            blob_run(&blob, "target=landlock");
            blob_run(&blob, "profile=main");
            blob_run(&blob, "policy-digest=" BLOB_DIGITS);
            blob_run(&blob, "confine=yes");
            blob_run(&blob, "timeout-ms=0");
            blob_run(&blob, "kill-after-ms=0");
            blob_run(&blob, open ? "network=open" : "network=none");
            if (!view)
                blob_run(&blob, "accept=metadata");
            blob.header.flags = view ? LL_VIEW : 0;
            blob.header.handled_net = open ? 0 : LL_NET_ALL;
            blob_needs_and_filters(&blob, open, view);
            blob_lay_out(&blob);
            if (!load(blob.bytes, blob.len))
                fail_msg("open %d, view %d: %s", open, view, run.error.why);
            assert_true(is_emitted(blob.bytes, blob.len));
        }
    blob_begin(&blob, false, "0");
    blob_lay_out(&blob);
    assert_true(load(blob.bytes, blob.len));
    assert_true(is_emitted(blob.bytes, blob.len));
    blob_string(&blob, "stray");
    blob_lay_out(&blob);
    assert_true(refused(blob.bytes, blob.len));
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
        blob_rule(&blob, LL_ROOT_SLASH, path, LL_TYPE_DIR, 0, READ);
        blob_needs_and_filters(&blob, false, true);
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
        {"profile=", "profile=x \"y\xc3\xa9", true},
        {"profile=", "profile=x\ny", false},
        {"profile=", "profile=\x7f", false},
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
        {"network=", "network=open", false}, /* the masks, needs and filters are those of none */
        {"env-pass=", "env-pass=", false},
        {"env-pass=", "env-pass=A=B", false},
        {"env-pass=", "env-pass=A*B", false},
        {"env-pass=", "env-pass=*", true},
        {"env-pass=", "env-pass=A\nB", false},
        {"env-pass=", "env-pass=LC_*", false}, /* twice */
        {"env-pass=", "env-pass=M", false},    /* not sorted */
        {"env-pass=", NULL, true},
        {"env-set=", "env-set=TZ", false},
        {"env-set=", "env-set==x", false},
        {"env-set=", "env-set=TZ=", true},
        {"env-set=", "env-set=TZ=a\nb=c", true},
        {"env-set=", "env-set=T\nZ=", false},
        {"env-set=", "env-set=T*=", false},
        {"skill-dir=", "skill-dir=srv", false},
        {"skill-dir=", "skill-dir=/srv//skill", false},
        {"skill-dir=", "skill-dir=/srv/../skill", false},
        {"skill-dir=", "skill-dir=/srv/", false},
        {"skill-dir=", NULL, true},
        {"tmpdir=", "tmpdir=tmp", false},
        {"tmpdir=", "tmpdir=/srv", false},
        {"tmpdir=", "tmpdir=/home/u", false},
        {"tmpdir=", "tmpdir=/tmp/", false},
        {"tmpdir=", "tmpdir=/media", false}, /* before /mnt */
        {"tmpdir=", "tmpdir=/mnt", false},   /* twice */
        {"tmpdir=", "tmpdir=/var/tmp", true},
        {"tmpdir=", NULL, true},
        {"accept=", "image=debian:12", false}, /* of docker alone */
        {"tmpdir=", "image=x", false}, /* out of order */
        {"accept=", "accept=metadata", false}, /* the header has a view */
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

static void settings_rise_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        bool good;
    } cases[] = {
        {"env-set=A=z", "env-set=AB=a", true},
        {"env-set=AB=a", "env-set=A=z", false},
        {"env-set=A=1", "env-set=A=2", false},
        {"env-set=A=1", "env-set=A!=2", true},
        {"accept=a", "accept=b", true},
        {"accept=b", "accept=a", false},
        {"accept=a", "accept=a", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        blob_begin(&blob, true, "0");
        blob_run(&blob, cases[i].first);
        blob_run(&blob, cases[i].second);
        blob_needs_and_filters(&blob, false, true);
        blob_lay_out(&blob);
        if (load(blob.bytes, blob.len) != cases[i].good)
            fail_msg("%s %s", cases[i].first, cases[i].second);
    }
}

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

/* An image is a word of the engine's command line, and no option. */
static void images_are_names(void **state)
{
    (void)state;
    static char out[1 << 14];
    static const struct {
        const char *set;
        bool good;
    } cases[] = {
        {"image=debian:12", true}, {"image=a/b@sha256:00", true}, {"image=-v", false},        {"image=--privileged", false},
        {"image=", false},         {"image=a b", false},          {"image=a\tb", false},      {"image=a\x7f", false},
        {"tmpdir=/mnt", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            const char *target = texts[t].target;
            bool good = !strncmp(cases[i].set, "tmpdir", 6) ? strcmp(target, "seatbelt") != 0
                                                            : cases[i].good && !strcmp(target, "docker");
            if (load(out, build_text(&texts[t], cases[i].set, out)) != good)
                fail_msg("%s: %s", target, cases[i].set);
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
        cmocka_unit_test(sealed_flips_are_refused_or_emitted),
        cmocka_unit_test(blobs_of_each_sort_are_read),
        cmocka_unit_test(sealed_cuts_never_read_past), cmocka_unit_test(each_slip_is_refused),
        cmocka_unit_test(odd_paths_are_refused),       cmocka_unit_test(run_section_is_strict),
        cmocka_unit_test(key_twice_is_refused),        cmocka_unit_test(expected_digest_pins),
        cmocka_unit_test(texts_are_read_and_guarded),  cmocka_unit_test(escapes_of_lines_are_strict),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(settings_rise_by_name),       cmocka_unit_test(images_are_names),
    };
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
