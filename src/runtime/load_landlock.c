#include <string.h>

#include "../filters.h"
#include "../landlock_words.h"
#include "../sha256.h"
#include "load.h"
#include "sys.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a blob is little-endian and used in place");

static const char STEP[] = "artifact";

enum { AREA_COUNT = 7 };

/* ---- What stands where ------------------------------------------------------------------------------- */

const struct ll_header *ll_header(const struct rt_artifact *a)
{
    return (const struct ll_header *)(const void *)a->data;
}

static const void *at(const struct rt_artifact *a, struct ll_area area)
{
    return a->data + area.offset;
}

const struct ll_rule *ll_rules(const struct rt_artifact *a)
{
    return at(a, ll_header(a)->rules);
}

const struct ll_need *ll_needs(const struct rt_artifact *a)
{
    return at(a, ll_header(a)->needs);
}

const char *ll_string(const struct rt_artifact *a, uint32_t offset)
{
    return (const char *)at(a, ll_header(a)->strings) + offset;
}

const char *ll_clause(struct rt_run *run, const struct ll_rule *r)
{
    const char *text = rt_printf(run, "%s \"%s%s\"", r->access & LL_FS_WRITE_FILE ? "write" : "read",
                                 r->root == LL_ROOT_TMPDIR ? "$TMPDIR" : "", ll_string(&run->artifact, r->path));
    return text ? text : "a grant";
}

const void *ll_filter(const struct rt_artifact *a, uint32_t *out_n)
{
    const struct ll_header *h = ll_header(a);
    const struct ll_filter *filters = at(a, h->filters);
    for (uint32_t i = 0; i < h->filters.count; i++)
        if (filters[i].arch == SYS_AUDIT_ARCH) {
            *out_n = filters[i].count;
            return (const unsigned char *)at(a, h->code) + filters[i].offset;
        }
    return NULL;
}

/* ---- Header ------------------------------------------------------------------------------------------ */

/* Areas follow one another without gaps, each 8-byte aligned, zeros between them. */
static bool check_areas(const struct rt_artifact *a)
{
    const struct ll_header *h = ll_header(a);
    const struct {
        struct ll_area area;
        size_t size;
    } areas[AREA_COUNT] = {
        {h->rules, sizeof(struct ll_rule)},
        {h->ports, sizeof(struct ll_port)},
        {h->needs, sizeof(struct ll_need)},
        {h->filters, sizeof(struct ll_filter)},
        {h->run, 1},
        {h->strings, 1},
        {h->code, 1},
    };
    size_t end = LL_HEADER_SIZE;
    for (size_t i = 0; i < AREA_COUNT; i++) {
        size_t start = (end + 7) / 8 * 8;
        if (areas[i].area.offset != start || start > a->len ||
            areas[i].area.count > (a->len - start) / areas[i].size)
            return false;
        for (; end < start; end++)
            if (a->data[end])
                return false;
        end = start + areas[i].area.count * areas[i].size;
    }
    return end == a->len;
}

/* An area of strings is empty or ends in NUL, so that every string in it ends. */
static bool is_closed(const struct rt_artifact *a, struct ll_area area)
{
    return !area.count || !a->data[area.offset + area.count - 1];
}

static void digest_of(const struct rt_artifact *a, unsigned char out[SHA256_LEN])
{
    size_t rest = LL_DIGEST_OFFSET + SHA256_LEN;
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, a->data, LL_DIGEST_OFFSET);
    sha256_add(&s, a->data + rest, a->len - rest);
    sha256_end(&s, out);
}

bool ll_open(struct rt_run *run, size_t *out_start, size_t *out_end)
{
    const struct rt_artifact *a = &run->artifact;
    const struct ll_header *h = ll_header(a);
    unsigned char digest[SHA256_LEN];
    if (a->len < LL_HEADER_SIZE)
        return rt_fail(run, STEP, "the blob is cut short: %zu bytes", a->len);
    if (h->format != ARTIFACT_FORMAT)
        return rt_fail(run, STEP, "the blob has format %u; this sbxrun reads %d", h->format, ARTIFACT_FORMAT);
    if (h->size != a->len || h->header_size != LL_HEADER_SIZE)
        return rt_fail(run, STEP, "the blob says %u bytes, the file has %zu", h->size, a->len);
    digest_of(a, digest);
    if (memcmp(digest, h->body_digest, SHA256_LEN) != 0)
        return rt_fail(run, STEP, "the blob is damaged: its body digest is not that of its bytes");
    if (!check_areas(a) || !is_closed(a, h->run) || !is_closed(a, h->strings))
        return rt_fail(run, STEP, "the blob's areas do not follow one another as format %d has them",
                       ARTIFACT_FORMAT);
    *out_start = h->run.offset;
    *out_end = (size_t)h->run.offset + h->run.count;
    return true;
}

void ll_digest(const struct rt_artifact *a, char out_hex[65])
{
    sha256_hex(ll_header(a)->body_digest, out_hex);
}

/* ---- Elements ----------------------------------------------------------------------------------------
 * Exactly what the back end writes for the run section's confine, network and accept. */

/* Strings stand in the order in which they are named, and fill the area: *next is where the next one begins. */
static bool take_string(const struct rt_artifact *a, uint32_t offset, uint32_t *next)
{
    if (offset != *next || offset >= ll_header(a)->strings.count)
        return false;
    *next += (uint32_t)strlen(ll_string(a, offset)) + 1;
    return true;
}

static bool is_sink(const char *path)
{
    static const char *const SINKS[] = {ARTIFACT_SINKS};
    for (size_t i = 0; i < sizeof SINKS / sizeof *SINKS; i++)
        if (!strcmp(path, SINKS[i]))
            return true;
    return false;
}

/* Reading, and as the case may be writing and executing; a file has no rights of folders. */
static bool check_access(const struct ll_rule *r)
{
    uint64_t want = LL_FS_TO_READ;
    if (r->access & LL_FS_WRITE_FILE)
        want |= LL_FS_TO_WRITE;
    if (r->access & LL_FS_TO_EXEC)
        want |= LL_FS_TO_EXEC;
    return r->access == (r->type == LL_TYPE_FILE ? want & LL_FS_OF_FILE : want);
}

/* On a path of the declaration, of its folder or of a preset. Only a preset is followed through links, and what
 * a preset grants for writing is a folder of the run's own. */
static bool check_flags(const struct ll_rule *r, const char *path)
{
    unsigned want = r->flags & (LL_OPTIONAL | LL_FOLLOW);
    bool write = r->access & LL_FS_WRITE_FILE;
    if (write)
        want |= LL_WRITABLE;
    if (r->flags & LL_FOLLOW) {
        if (r->type != LL_TYPE_ANY || !(r->flags & LL_OPTIONAL) || (write && !path[1]))
            return false;
        want |= write ? LL_PRIVATE : 0;
    }
    return r->flags == want;
}

static bool check_rule(const struct ll_rule *r, const char *path)
{
    bool write = r->access & LL_FS_WRITE_FILE, exec = r->access & LL_FS_TO_EXEC;
    if (r->type > LL_TYPE_FILE || !check_access(r))
        return false;
    if (r->root == LL_ROOT_TMPDIR) /* the whole of it */
        return !*path && r->type == LL_TYPE_DIR && r->flags == (LL_WRITABLE | LL_PRIVATE) && write && exec;
    if (r->root != LL_ROOT_SLASH || !rt_is_path(path))
        return false;
    if (rt_path_within(path, "/proc"))
        return !path[5] && r->type == LL_TYPE_DIR && r->flags == LL_PROC && !write && !exec;
    if (is_sink(path))
        return r->type == LL_TYPE_FILE && write && !(r->flags & ~(unsigned)LL_OPTIONAL);
    return check_flags(r, path);
}

/* Byte order with '/' below every other byte: a folder before all that is beneath it. */
static int path_cmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    int x = *a == '/' ? 1 : *a ? (unsigned char)*a + 1 : 0;
    int y = *b == '/' ? 1 : *b ? (unsigned char)*b + 1 : 0;
    return x - y;
}

static bool check_rules(const struct rt_artifact *a, uint32_t *next)
{
    const struct ll_rule *r = ll_rules(a);
    for (uint32_t i = 0; i < ll_header(a)->rules.count; i++) {
        if (!take_string(a, r[i].path, next) || !check_rule(&r[i], ll_string(a, r[i].path)))
            return false;
        if (i && (r[i].root < r[i - 1].root ||
                  (r[i].root == r[i - 1].root &&
                   path_cmp(ll_string(a, r[i - 1].path), ll_string(a, r[i].path)) >= 0)))
            return false;
    }
    return true;
}

static bool has_view(const struct rt_policy *p)
{
    for (size_t i = 0; i < p->accept.n; i++)
        if (!strcmp(p->accept.items[i], LL_NO_VIEW))
            return false;
    return true;
}

static bool is_open(const struct rt_policy *p)
{
    return !strcmp(p->network, "open");
}

static bool applies(const struct rt_policy *p, enum ll_when when)
{
    switch (when) {
    case LL_ALWAYS:
        return true;
    case LL_WITH_VIEW:
        return has_view(p);
    case LL_NETWORK_NONE:
        return !is_open(p);
    case LL_NETWORK_OPEN:
        return is_open(p);
    }
    return true;
}

static bool check_needs(const struct rt_artifact *a, const struct rt_policy *p, uint32_t *next)
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
    const struct ll_need *n = ll_needs(a), *end = n + ll_header(a)->needs.count;
    for (size_t i = 0; i < sizeof NEEDS / sizeof *NEEDS; i++) {
        if (!applies(p, NEEDS[i].when))
            continue;
        if (n == end || n->min_abi != NEEDS[i].min_abi || n->mechanisms != NEEDS[i].mechanisms)
            return false;
        if (!take_string(a, n->clause, next) || strcmp(ll_string(a, n->clause), NEEDS[i].clause) != 0)
            return false;
        n++;
    }
    return n == end;
}

/* The programs that are built in here too: an other one could allow anything. */
static bool check_filters(const struct rt_artifact *a, const struct rt_policy *p)
{
    const struct ll_header *h = ll_header(a);
    const struct ll_filter *f = at(a, h->filters), *end = f + h->filters.count;
    const unsigned char *code = at(a, h->code);
    uint32_t used = 0;
    for (size_t i = 0; i < n_filter_programs; i++) {
        const struct filter_program *want = &filter_programs[i];
        size_t bytes = want->count * sizeof *want->code;
        if (strcmp(want->network, p->network) != 0)
            continue;
        if (f == end || f->arch != want->arch || f->count != want->count || f->offset != used || f->reserved)
            return false;
        /* An element is a struct sock_filter: little-endian, as the blob. */
        if (bytes > h->code.count - used || memcmp(code + used, want->code, bytes) != 0)
            return false;
        used += (uint32_t)bytes;
        f++;
    }
    return f == end && used == h->code.count;
}

/* A confined policy handles every file right of this format: what is not handled is allowed to all. */
static bool check_masks(const struct ll_header *h, const struct rt_policy *p)
{
    if (!p->confine)
        return h->flags == LL_UNCONFINED && !h->handled_fs && !h->handled_net && !h->scoped &&
               !h->rules.count && !h->ports.count && !h->needs.count && !h->filters.count &&
               !h->strings.count && !h->code.count;
    return h->flags == (has_view(p) ? LL_VIEW : 0u) && h->handled_fs == LL_FS_ALL &&
           h->handled_net == (is_open(p) ? 0 : LL_NET_ALL) && h->scoped == LL_SCOPE_ALL && !h->ports.count;
}

bool ll_load(struct rt_run *run)
{
    const struct rt_artifact *a = &run->artifact;
    const struct rt_policy *p = &run->policy;
    uint32_t strings = 0;
    if (!check_masks(ll_header(a), p))
        return rt_fail(run, STEP, "the blob's flags and masks are none that sbxc writes");
    if (!p->confine)
        return true;
    if (!check_rules(a, &strings))
        return rt_fail(run, STEP, "the blob holds a rule that sbxc does not write");
    if (!check_needs(a, p, &strings))
        return rt_fail(run, STEP, "the blob's needs are not those of its run section");
    if (strings != ll_header(a)->strings.count)
        return rt_fail(run, STEP, "the blob holds strings that nothing names");
    if (!check_filters(a, p))
        return rt_fail(run, STEP, "the blob's filters are not those of this sbxrun");
    return true;
}
