#include <string.h>

#include "../sha256.h"
#include "load.h"
#include "sys.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a blob is little-endian and used in place");

static const char STEP[] = "artifact";

enum { AREA_COUNT = 7, FILTER_MAX = 4096 /* BPF_MAXINSNS */ };

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

const struct ll_port *ll_ports(const struct rt_artifact *a)
{
    return at(a, ll_header(a)->ports);
}

const struct ll_need *ll_needs(const struct rt_artifact *a)
{
    return at(a, ll_header(a)->needs);
}

const char *ll_string(const struct rt_artifact *a, uint32_t offset)
{
    return (const char *)at(a, ll_header(a)->strings) + offset;
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

/* ---- Elements ---------------------------------------------------------------------------------------- */

/* Absolute, no `//`, `.` or `..`, no final slash but that of "/". */
static bool is_canonical(const char *path)
{
    if (!strcmp(path, "/"))
        return true;
    do {
        size_t len = *path == '/' ? strcspn(path + 1, "/") : 0;
        if (!len || (len == 1 && path[1] == '.') || (len == 2 && path[1] == '.' && path[2] == '.'))
            return false;
        path += len + 1;
    } while (*path);
    return true;
}

static bool check_string(const struct rt_artifact *a, uint32_t offset)
{
    return offset < ll_header(a)->strings.count;
}

static bool check_rule(const struct rt_artifact *a, const struct ll_rule *r)
{
    const unsigned known = LL_OPTIONAL | LL_FOLLOW | LL_WRITABLE | LL_PRIVATE | LL_PROC;
    if (!r->access || r->access & ~ll_header(a)->handled_fs || r->flags & ~known)
        return false;
    if (r->root > LL_ROOT_TMPDIR || r->type > LL_TYPE_FILE)
        return false;
    if (!check_string(a, r->path) || !check_string(a, r->clause))
        return false;
    const char *path = ll_string(a, r->path);
    if (strlen(path) != r->path_len)
        return false;
    if (r->root == LL_ROOT_TMPDIR) {
        /* TMPDIR itself is a tmpfs in any case. */
        if (r->flags & (LL_FOLLOW | LL_PROC) || (*path && (!is_canonical(path) || !path[1])))
            return false;
    } else if (!is_canonical(path) || (r->flags & LL_PRIVATE && !path[1])) {
        return false;
    }
    if (r->flags & LL_PROC && (strcmp(path, "/proc") != 0 || r->flags & (LL_WRITABLE | LL_PRIVATE)))
        return false;
    if (r->flags & LL_PRIVATE && !(r->flags & LL_WRITABLE))
        return false;
    return r->type != LL_TYPE_FILE || !(r->access & ~LL_FS_OF_FILE);
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

static bool check_rules(const struct rt_artifact *a)
{
    const struct ll_rule *r = ll_rules(a);
    for (uint32_t i = 0; i < ll_header(a)->rules.count; i++) {
        if (!check_rule(a, &r[i]))
            return false;
        if (i && (r[i].root < r[i - 1].root ||
                  (r[i].root == r[i - 1].root &&
                   path_cmp(ll_string(a, r[i - 1].path), ll_string(a, r[i].path)) >= 0)))
            return false;
    }
    return true;
}

static bool check_ports(const struct rt_artifact *a)
{
    const struct ll_port *p = ll_ports(a);
    for (uint32_t i = 0; i < ll_header(a)->ports.count; i++)
        if (!p[i].access || p[i].access & ~ll_header(a)->handled_net || p[i].port > 65535)
            return false;
    return true;
}

static bool check_needs(const struct rt_artifact *a)
{
    const unsigned known = LL_BY_FILTER | LL_BY_PID_NAMESPACE | LL_BY_VIEW;
    const struct ll_need *n = ll_needs(a);
    for (uint32_t i = 0; i < ll_header(a)->needs.count; i++)
        if (!check_string(a, n[i].clause) || n[i].mechanisms & ~known || (!n[i].min_abi && !n[i].mechanisms))
            return false;
    return true;
}

/* Programs stand one behind the other and fill the area. What an instruction does the kernel checks. */
static bool check_filters(const struct rt_artifact *a)
{
    const struct ll_header *h = ll_header(a);
    const struct ll_filter *f = at(a, h->filters);
    uint32_t end = 0, seen[2] = {0, 0};
    for (uint32_t i = 0; i < h->filters.count; i++) {
        if (f[i].arch != SBX_ARCH_X86_64 && f[i].arch != SBX_ARCH_AARCH64)
            return false;
        if (seen[f[i].arch == SBX_ARCH_AARCH64]++ || f[i].reserved || f[i].offset != end)
            return false;
        if (!f[i].count || f[i].count > FILTER_MAX || f[i].count > (h->code.count - end) / 8)
            return false;
        end += f[i].count * 8;
    }
    return end == h->code.count;
}

/* A confined policy handles every file right of this format: what is not handled is allowed to all. */
static bool check_masks(const struct ll_header *h, bool confine)
{
    if (h->flags & LL_UNCONFINED)
        return !confine && h->flags == LL_UNCONFINED && !h->handled_fs && !h->handled_net && !h->scoped &&
               !h->rules.count && !h->ports.count && !h->needs.count && !h->filters.count;
    return confine && !(h->flags & ~(uint32_t)LL_VIEW) && h->handled_fs == LL_FS_ALL &&
           !(h->handled_net & ~LL_NET_ALL) && !(h->scoped & ~LL_SCOPE_ALL);
}

bool ll_load(struct rt_run *run)
{
    const struct rt_artifact *a = &run->artifact;
    if (!check_masks(ll_header(a), run->policy.confine))
        return rt_fail(run, STEP, "the blob's flags and masks are none that sbxc writes");
    if (!check_rules(a))
        return rt_fail(run, STEP, "the blob holds a rule that sbxc does not write");
    if (!check_ports(a))
        return rt_fail(run, STEP, "the blob holds a port that sbxc does not write");
    if (!check_needs(a))
        return rt_fail(run, STEP, "the blob holds a need that sbxc does not write");
    if (!check_filters(a))
        return rt_fail(run, STEP, "the blob's filters are not as sbxc writes them");
    return true;
}
