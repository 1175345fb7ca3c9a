/* Landlock: a binary blob (artifact.h) that the runtime applies with its own system calls.
 *
 * One ruleset handles every right of the newest ABI known here, so that whatever is not granted is refused
 * as far as the running kernel knows it; the needs say what it must know at least. Landlock has no deny: a
 * decrease beneath an increase is refused at compile time. What it leaves open (families of sockets, io_uring,
 * modes and times) is closed by the seccomp programs and by the private view.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../artifact.h"
#include "../filters.h"
#include "../landlock_words.h"
#include "../sha256.h"
#include "backend.h"
#include "runsec.h"

struct emitter {
    const struct ir_policy *p;
    struct buf rules, needs, filters, run, strings, code;
};

static uint32_t intern(struct emitter *e, const char *s)
{
    uint32_t at = (uint32_t)e->strings.len;
    buf_put(&e->strings, s, strlen(s) + 1);
    return at;
}

/* ---- Rules ---------------------------------------------------------------------------------------------- */

/* A device is no grant of writing: its node stays read-only in the view, and can be written all the same. */
static bool is_sink(const struct ir_rule *r)
{
    static const char *const SINKS[] = {ARTIFACT_SINKS};
    if (r->root != IR_ROOT_SLASH || !ir_path_within(r->path, "/dev"))
        return false;
    for (size_t i = 0; i < sizeof SINKS / sizeof *SINKS; i++)
        if (!strcmp(r->path, SINKS[i]))
            return true;
    return false;
}

static bool is_proc(const struct ir_rule *r)
{
    return r->root == IR_ROOT_SLASH && !strcmp(r->path, "/proc");
}

static uint8_t type_of(const struct ir_rule *r)
{
    if (is_sink(r))
        return LL_TYPE_FILE;
    if (is_proc(r))
        return LL_TYPE_DIR;
    switch ((enum ir_type)r->type) {
    case IR_TYPE_DIR:
        return LL_TYPE_DIR;
    case IR_TYPE_FILE:
        return LL_TYPE_FILE;
    case IR_TYPE_ANY:
    case IR_TYPE_NONE:
        return LL_TYPE_ANY;
    }
    return LL_TYPE_ANY;
}

static uint64_t rights(const struct ir_rule *r)
{
    uint64_t access = 0;
    if (r->allow & IR_READ)
        access |= LL_FS_TO_READ;
    if (r->allow & IR_WRITE)
        access |= LL_FS_TO_WRITE;
    if (r->allow & IR_EXEC)
        access |= LL_FS_TO_EXEC;
    return type_of(r) == LL_TYPE_FILE ? access & LL_FS_OF_FILE : access;
}

static uint16_t rule_flags(const struct ir_rule *r)
{
    unsigned flags = 0;
    bool host = r->origin == IR_DECLARED || r->origin == IR_SKILL_DIR;
    if (is_proc(r))
        return LL_PROC;
    if (r->flags & IR_OPTIONAL)
        flags |= LL_OPTIONAL;
    if (r->flags & IR_FOLLOW)
        flags |= LL_FOLLOW;
    if ((r->allow & IR_WRITE) && !is_sink(r))
        flags |= LL_WRITABLE | (host ? 0 : LL_PRIVATE);
    return (uint16_t)flags;
}

static void put_rule(struct emitter *e, const struct ir_rule *r)
{
    buf_u64(&e->rules, is_proc(r) ? LL_FS_TO_READ : rights(r));
    buf_u32(&e->rules, intern(e, r->path));
    buf_byte(&e->rules, r->root == IR_ROOT_TMPDIR ? LL_ROOT_TMPDIR : LL_ROOT_SLASH);
    buf_byte(&e->rules, type_of(r));
    buf_u16(&e->rules, rule_flags(r));
}

/* Why a rule cannot be held, or NULL. A decrease cannot be told to the kernel in any ABI so far; listing the
 * siblings of the path would leave it open to be renamed, and new files out of reach. */
static const char *obstacle(const struct ir_rule *r)
{
    /* The floor's /proc is a mount of its own, read-only whatever holds above it. */
    if (r->origin == IR_FLOOR)
        return NULL;
    if (r->deny)
        return "landlock cannot take away beneath a path what it grants at the path";
    if (r->root == IR_ROOT_SLASH && ir_path_within(r->path, "/proc"))
        return "landlock cannot hold this clause: /proc is the sandbox's own";
    return NULL;
}

static bool fits(const struct ir_policy *p, struct diag_list *diags)
{
    bool ok = true;
    size_t writable = 0;
    for (size_t i = 0; i < p->n_rules; i++) {
        const char *why = obstacle(&p->rules[i]);
        if (why)
            diag_add(diags, DIAG_CANNOT, p->rules[i].span, "%s", why);
        ok &= !why;
        if (!(rule_flags(&p->rules[i]) & LL_WRITABLE) || ++writable != LL_WRITABLE_MAX + 1)
            continue;
        struct diag *d = diag_add(diags, DIAG_LIMIT_EXCEEDED, p->rules[i].span,
                                  "landlock: more than %d grants of writing", LL_WRITABLE_MAX);
        diag_hint(diags, d, "grant a folder above them");
        ok = false;
    }
    return ok;
}

/* ---- Needs, filters, run section ------------------------------------------------------------------------ */

static bool accepts(const struct ir_policy *p, const char *loss)
{
    for (size_t i = 0; i < p->n_accepted; i++)
        if (!strcmp(p->accepted[i], loss))
            return true;
    return false;
}

static bool applies(const struct ir_policy *p, enum ll_when when)
{
    switch (when) {
    case LL_ALWAYS:
        return true;
    case LL_WITH_VIEW:
        return !accepts(p, LL_NO_VIEW);
    case LL_NETWORK_NONE:
        return p->network.mode == IR_NETWORK_NONE;
    case LL_NETWORK_OPEN:
        return p->network.mode == IR_NETWORK_OPEN;
    }
    return true;
}

static void put_needs(struct emitter *e)
{
    static const struct {
        const char *clause;
        uint16_t min_abi, mechanisms;
        enum ll_when when;
    } NEEDS[] = {
#define X(clause, min_abi, mechanisms, when) {clause, min_abi, mechanisms, when},
        LL_NEEDS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof NEEDS / sizeof *NEEDS; i++) {
        if (!applies(e->p, NEEDS[i].when))
            continue;
        buf_u32(&e->needs, intern(e, NEEDS[i].clause));
        buf_u16(&e->needs, NEEDS[i].min_abi);
        buf_u16(&e->needs, NEEDS[i].mechanisms);
    }
}

static const char *network_word(const struct ir_policy *p)
{
    return p->network.mode == IR_NETWORK_OPEN ? "open" : "none";
}

static void put_filters(struct emitter *e)
{
    for (size_t i = 0; i < n_filter_programs; i++) {
        const struct filter_program *f = &filter_programs[i];
        if (strcmp(f->network, network_word(e->p)) != 0)
            continue;
        buf_u32(&e->filters, f->arch);
        buf_u32(&e->filters, (uint32_t)e->code.len);
        buf_u32(&e->filters, f->count);
        buf_u32(&e->filters, 0);
        for (uint32_t k = 0; k < f->count; k++)
            buf_u64(&e->code, f->code[k]);
    }
}

static void put_run_string(struct buf *out, const char *s, size_t len)
{
    buf_put(out, s, len);
    buf_byte(out, 0);
}

/* ---- The file ------------------------------------------------------------------------------------------- */

static void put_area(struct buf *out, uint32_t *offset, const struct buf *area, size_t element)
{
    buf_u32(out, *offset);
    buf_u32(out, (uint32_t)(area->len / element));
    *offset += (uint32_t)((area->len + 7) / 8 * 8);
}

static void put_body(struct buf *out, size_t start, const struct buf *area)
{
    buf_put(out, area->data, area->len);
    while ((out->len - start) % 8 && buf_ok(out))
        buf_byte(out, 0);
}

static void put_header(struct emitter *e, struct buf *out, uint32_t size)
{
    const struct ir_policy *p = e->p;
    static const unsigned char no_digest[32];
    unsigned flags = p->core ? LL_UNCONFINED : accepts(p, LL_NO_VIEW) ? 0 : LL_VIEW;
    bool open = p->network.mode == IR_NETWORK_OPEN;
    buf_put(out, LL_MAGIC, LL_MAGIC_LEN);
    buf_u32(out, ARTIFACT_FORMAT);
    buf_u32(out, size);
    buf_put(out, no_digest, sizeof no_digest);
    buf_u32(out, LL_HEADER_SIZE);
    buf_u32(out, flags);
    buf_u64(out, p->core ? 0 : LL_FS_ALL);
    buf_u64(out, p->core || open ? 0 : LL_NET_ALL);
    buf_u64(out, p->core ? 0 : LL_SCOPE_ALL);
}

static void seal(struct buf *out, size_t start)
{
    if (!buf_ok(out))
        return;
    unsigned char *digest = (unsigned char *)out->data + start + LL_DIGEST_OFFSET;
    size_t behind = LL_DIGEST_OFFSET + SHA256_LEN;
    struct sha256 s;
    unsigned char sum[SHA256_LEN];
    sha256_init(&s);
    sha256_add(&s, out->data + start, LL_DIGEST_OFFSET);
    sha256_add(&s, out->data + start + behind, out->len - start - behind);
    sha256_end(&s, sum);
    memcpy(digest, sum, SHA256_LEN);
}

static void assemble(struct emitter *e, struct buf *out)
{
    const struct buf none = {0};
    const struct {
        const struct buf *buf;
        size_t element;
    } areas[] = {{&e->rules, sizeof(struct ll_rule)}, {&none, sizeof(struct ll_port)}, {&e->needs, sizeof(struct ll_need)},
                 {&e->filters, sizeof(struct ll_filter)}, {&e->run, 1}, {&e->strings, 1}, {&e->code, 1}};
    enum { N = sizeof areas / sizeof *areas };
    size_t start = out->len, size = LL_HEADER_SIZE;
    for (size_t i = 0; i < N; i++)
        size += (areas[i].buf->len + 7) / 8 * 8;
    put_header(e, out, (uint32_t)size);
    uint32_t offset = LL_HEADER_SIZE;
    for (size_t i = 0; i < N; i++)
        put_area(out, &offset, areas[i].buf, areas[i].element);
    for (size_t i = 0; i < N; i++) {
        out->failed |= areas[i].buf->failed;
        put_body(out, start, areas[i].buf);
    }
    seal(out, start);
}

static bool emit(const struct ir_policy *p, struct arena *a, struct diag_list *diags, struct buf *out)
{
    struct emitter e = {.p = p};
    (void)a;
    if (!p->core && !fits(p, diags))
        return false;
    if (!p->core) {
        for (size_t i = 0; i < p->n_rules; i++)
            put_rule(&e, &p->rules[i]);
        put_needs(&e);
        put_filters(&e);
    }
    runsec_write(p, "landlock", false, put_run_string, &e.run);
    assemble(&e, out);
    buf_done(&e.rules);
    buf_done(&e.needs);
    buf_done(&e.filters);
    buf_done(&e.run);
    buf_done(&e.strings);
    buf_done(&e.code);
    return buf_ok(out);
}

/* ---- Text for review ------------------------------------------------------------------------------------ */

static const char *const FS_NAMES[] = {"execute",     "write-file", "read-file",   "read-dir",  "remove-dir", "remove-file",
                                       "make-char",   "make-dir",   "make-reg",    "make-sock", "make-fifo",  "make-block",
                                       "make-sym",    "refer",      "truncate",    "ioctl-dev", "resolve-unix"};
static const char *const NET_NAMES[] = {"bind-tcp", "connect-tcp", "bind-udp", "send-udp"};
static const char *const SCOPE_NAMES[] = {"abstract-unix-socket", "signal"};

struct reader {
    const unsigned char *data;
    size_t len;
    struct buf *out;
};

static uint64_t number(const struct reader *r, size_t at, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes && at + i < r->len; i++)
        v |= (uint64_t)r->data[at + i] << (8 * i);
    return v;
}

static void put_bits(struct buf *out, uint64_t bits, const char *const *names, size_t n)
{
    if (!bits)
        buf_str(out, " -");
    for (size_t i = 0; i < n; i++)
        if (bits & UINT64_C(1) << i)
            buf_printf(out, " %s", names[i]);
}

#define PUT_BITS(out, bits, names) put_bits((out), (bits), (names), sizeof(names) / sizeof *(names))

static void put_text(struct reader *r, const char *s, size_t max)
{
    buf_byte(r->out, '"');
    for (size_t i = 0; i < max && s[i]; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            buf_printf(r->out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buf_printf(r->out, "\\x%02x", c);
        else
            buf_byte(r->out, c);
    }
    buf_byte(r->out, '"');
}

static struct ll_area area(const struct reader *r, size_t index)
{
    size_t at = LL_HEADER_SIZE - 7 * 8 + index * 8;
    return (struct ll_area){(uint32_t)number(r, at, 4), (uint32_t)number(r, at + 4, 4)};
}

/* A string of the strings area, bounded by the file: the text form trusts nothing either. */
static void put_string(struct reader *r, uint64_t offset)
{
    struct ll_area strings = area(r, 5);
    size_t at = strings.offset + (size_t)offset;
    if (offset >= strings.count || at >= r->len)
        return;
    put_text(r, (const char *)r->data + at, r->len - at);
}

/* Rights by the word of the clause where they are all of it, else one by one. */
static void put_rights(struct buf *out, uint64_t access, bool file)
{
    const struct {
        const char *word;
        uint64_t rights;
    } sets[] = {{"read", LL_FS_TO_READ}, {"write", LL_FS_TO_WRITE}, {"exec", LL_FS_TO_EXEC}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        uint64_t all = file ? sets[i].rights & LL_FS_OF_FILE : sets[i].rights;
        if ((access & all) != all)
            continue;
        buf_printf(out, " %s", sets[i].word);
        access &= ~all;
    }
    if (access)
        PUT_BITS(out, access, FS_NAMES);
}

static void text_rules(struct reader *r)
{
    static const char *const types[] = {"any", "dir", "file"};
    static const char *const flags[] = {"optional", "follow", "writable", "private", "proc"};
    struct ll_area rules = area(r, 0);
    for (size_t i = 0; i < rules.count && rules.offset + i * sizeof(struct ll_rule) < r->len; i++) {
        size_t at = rules.offset + i * sizeof(struct ll_rule);
        unsigned type = (unsigned)number(r, at + 13, 1);
        buf_str(r->out, "rule ");
        if (number(r, at + 12, 1) == LL_ROOT_TMPDIR)
            buf_str(r->out, "$TMPDIR ");
        put_string(r, number(r, at + 8, 4));
        buf_printf(r->out, " %s", type < 3 ? types[type] : "?");
        if (number(r, at + 14, 2))
            PUT_BITS(r->out, number(r, at + 14, 2), flags);
        buf_byte(r->out, ':');
        put_rights(r->out, number(r, at, 8), type == LL_TYPE_FILE);
        buf_byte(r->out, '\n');
    }
}

static void text_needs(struct reader *r)
{
    static const char *const mechanisms[] = {"filter", "pid-namespace", "view"};
    struct ll_area needs = area(r, 2);
    for (size_t i = 0; i < needs.count && needs.offset + i * sizeof(struct ll_need) < r->len; i++) {
        size_t at = needs.offset + i * sizeof(struct ll_need);
        uint64_t abi = number(r, at + 4, 2), by = number(r, at + 6, 2);
        buf_str(r->out, "need ");
        put_string(r, number(r, at, 4));
        if (abi)
            buf_printf(r->out, " abi>=%" PRIu64, abi);
        if (by)
            PUT_BITS(r->out, by, mechanisms);
        buf_byte(r->out, '\n');
    }
}

static void text_filters(struct reader *r)
{
    struct ll_area filters = area(r, 3), code = area(r, 6);
    for (size_t i = 0; i < filters.count && filters.offset + i * sizeof(struct ll_filter) < r->len; i++) {
        size_t at = filters.offset + i * sizeof(struct ll_filter);
        uint64_t arch = number(r, at, 4), from = code.offset + number(r, at + 4, 4), count = number(r, at + 8, 4);
        unsigned char digest[SHA256_LEN];
        char hex[SHA256_HEX_LEN + 1];
        struct sha256 s;
        if (from > r->len || count * 8 > r->len - from)
            continue;
        sha256_init(&s);
        sha256_add(&s, r->data + from, (size_t)count * 8);
        sha256_end(&s, digest);
        sha256_hex(digest, hex);
        buf_printf(r->out, "filter %s %" PRIu64 " instructions sha256 %s\n",
                   arch == SBX_ARCH_X86_64    ? "x86_64"
                   : arch == SBX_ARCH_AARCH64 ? "aarch64"
                                              : "?",
                   count, hex);
    }
}

static void text_run(struct reader *r)
{
    struct ll_area run = area(r, 4);
    for (size_t at = run.offset, end = at + run.count; at < end && at < r->len;) {
        const char *s = (const char *)r->data + at;
        size_t n = strnlen(s, r->len - at);
        buf_str(r->out, "run ");
        put_text(r, s, n);
        buf_byte(r->out, '\n');
        at += n + 1;
    }
}

static bool text(const char *data, size_t len, struct buf *out)
{
    static const char *const flags[] = {"unconfined", "view"};
    struct reader r = {(const unsigned char *)data, len, out};
    if (len < LL_HEADER_SIZE || memcmp(data, LL_MAGIC, LL_MAGIC_LEN) != 0)
        return false;
    char hex[SHA256_HEX_LEN + 1];
    sha256_hex(r.data + LL_DIGEST_OFFSET, hex);
    buf_printf(out, "landlock blob, format %" PRIu64 ", %" PRIu64 " bytes\nbody-digest %s\nflags", number(&r, 8, 4),
               number(&r, 12, 4), hex);
    PUT_BITS(out, number(&r, 52, 4), flags);
    buf_str(out, "\nhandled-fs");
    PUT_BITS(out, number(&r, 56, 8), FS_NAMES);
    buf_str(out, "\nhandled-net");
    PUT_BITS(out, number(&r, 64, 8), NET_NAMES);
    buf_str(out, "\nscoped");
    PUT_BITS(out, number(&r, 72, 8), SCOPE_NAMES);
    buf_byte(out, '\n');
    text_run(&r);
    text_needs(&r);
    text_filters(&r);
    text_rules(&r);
    return true;
}

const struct backend be_landlock = {
    .name = "landlock",
    .suffix = ".landlock",
    .summary = "Linux Landlock and seccomp, applied by sbxrun",
    .system = IR_LINUX,
    .binary = true,
    .holds = 1 << IR_NEEDS_KILL_AFTER,
    .emit = emit,
    .text = text,
};
