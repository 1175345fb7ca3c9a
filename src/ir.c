#include "ir.h"

#include <inttypes.h>
#include <string.h>

#include "buf.h"

/* '/' sorts below every byte but the end: "/a" < "/a/b" < "/a-b", so a folder is followed by all that is
 * beneath it before its neighbours. */
static unsigned rank(unsigned char c)
{
    return c == '/' ? 1 : c ? c + 1u : 0;
}

/* Eight bytes at a time: lists of paths are sorted by this, and neighbours begin alike. */
static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, n = a_len < b_len ? a_len : b_len;
    for (uint64_t x, y; n - i >= sizeof x; i += sizeof x) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        if (x != y)
            break;
    }
    while (i < n && a[i] == b[i])
        i++;
    unsigned x = i < a_len ? rank((unsigned char)a[i]) : 0, y = i < b_len ? rank((unsigned char)b[i]) : 0;
    return x < y ? -1 : x > y;
}

int ir_path_cmp(const char *a, const char *b)
{
    return compare(a, strlen(a), b, strlen(b));
}

bool ir_path_within(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    if (strncmp(path, dir, n) != 0)
        return false;
    return path[n] == '\0' || path[n] == '/' || (n && dir[n - 1] == '/');
}

static const struct ir_rule *rule_at(const struct ir_policy *p, const char *path, size_t len)
{
    size_t lo = 0, hi = p->n_rules;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct ir_rule *r = &p->rules[mid];
        int order = r->root != IR_ROOT_SLASH ? 1 : compare(r->path, strlen(r->path), path, len);
        if (!order)
            return r;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* The rules at and above a path are looked up one folder after the other, so that asking for every rule of a
 * long policy stays near linear. */
bool ir_allows(const struct ir_policy *p, const char *path, unsigned access)
{
    unsigned allowed = 0;
    for (size_t n = 1, len = strlen(path); n <= len; n++) {
        bool whole = n == 1 || n == len || path[n] == '/';
        const struct ir_rule *r = whole ? rule_at(p, path, n) : NULL;
        if (r)
            allowed = (allowed | r->allow) & ~(unsigned)r->deny;
    }
    return (allowed & access) == access;
}

static void put_quoted(struct buf *out, const char *s, size_t len)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        switch (c) {
        case '"':
        case '\\':
            buf_byte(out, '\\');
            buf_byte(out, c);
            break;
        case '\n':
            buf_str(out, "\\n");
            break;
        case '\r':
            buf_str(out, "\\r");
            break;
        case '\t':
            buf_str(out, "\\t");
            break;
        default:
            /* Bytes above 0x7f stay as they are: the DSL's strings are bytes, and UTF-8 stays readable. */
            if (c < 0x20 || c == 0x7f)
                buf_printf(out, "\\x%02x", c);
            else
                buf_byte(out, c);
        }
    }
    buf_byte(out, '"');
}

static const char *keep(struct arena *a, struct buf *b)
{
    const char *s = arena_strn(a, b->data ? b->data : "", b->len);
    if (!buf_ok(b) && a->oom)
        a->oom(a->oom_ctx);
    buf_done(b);
    return s;
}

const char *ir_quote(struct arena *a, const char *s, size_t len)
{
    struct buf b = {0};
    put_quoted(&b, s, len);
    return keep(a, &b);
}

/* `$` and pattern characters are plain only behind `literal`. */
static bool needs_literal(const char *path)
{
    return strpbrk(path, "$*?[") != NULL;
}

static void put_clause(struct buf *out, const struct ir_rule *r)
{
    buf_str(out, r->allow & IR_WRITE ? "write " : "read ");
    if (r->root == IR_ROOT_TMPDIR) {
        struct buf path = {0};
        buf_str(&path, "$TMPDIR");
        buf_str(&path, r->path);
        put_quoted(out, path.data ? path.data : "", path.len);
        out->failed |= path.failed;
        buf_done(&path);
        return;
    }
    if (needs_literal(r->path))
        buf_str(out, "literal ");
    put_quoted(out, r->path, r->path_len);
}

const char *ir_clause(struct arena *a, const struct ir_rule *r)
{
    struct buf b = {0};
    put_clause(&b, r);
    return keep(a, &b);
}

static const char *origin_note(uint8_t origin)
{
    switch ((enum ir_origin)origin) {
    case IR_DECLARED:
        return "";
    case IR_PRESET:
        return "  # preset";
    case IR_SKILL_DIR:
        return "  # skill-dir";
    case IR_FLOOR:
        return "  # floor";
    }
    return "";
}

static void print_environment(const struct ir_policy *p, struct buf *out)
{
    /* All names that pass are listed, so no preset may add its own when this is read again. */
    buf_str(out, "  env none\n");
    if (!p->n_env_pass && !p->n_env_set)
        return;
    buf_str(out, "  env {");
    for (size_t i = 0; i < p->n_env_pass; i++) {
        buf_str(out, i ? " " : " allow ");
        put_quoted(out, p->env_pass[i].name, strlen(p->env_pass[i].name));
    }
    for (size_t i = 0; i < p->n_env_set; i++) {
        buf_str(out, i || p->n_env_pass ? "; set " : " set ");
        put_quoted(out, p->env_set[i].name, strlen(p->env_set[i].name));
        buf_byte(out, ' ');
        put_quoted(out, p->env_set[i].value, strlen(p->env_set[i].value));
    }
    buf_str(out, " }\n");
}

static void print_names(const struct ir_policy *p, struct buf *out)
{
    for (size_t i = 0; i < p->n_aliases; i++) {
        buf_str(out, "  # name ");
        put_quoted(out, p->aliases[i].name, strlen(p->aliases[i].name));
        buf_str(out, " is ");
        put_quoted(out, p->aliases[i].path, strlen(p->aliases[i].path));
        buf_byte(out, '\n');
    }
    for (size_t i = 0; i < p->n_links; i++) {
        buf_str(out, "  # link ");
        put_quoted(out, p->links[i].link, strlen(p->links[i].link));
        buf_str(out, " to ");
        put_quoted(out, p->links[i].target, strlen(p->links[i].target));
        buf_byte(out, '\n');
    }
}

void ir_print(const struct ir_policy *p, struct buf *out)
{
    buf_printf(out, "# %s\nprofile ", p->system == IR_MACOS ? "macos" : "linux");
    put_quoted(out, p->name, strlen(p->name));
    buf_str(out, " {\n  system none\n");
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct ir_rule *r = &p->rules[i];
        buf_str(out, "  ");
        put_clause(out, r);
        if (r->flags & IR_OPTIONAL)
            buf_str(out, " optional");
        buf_str(out, origin_note(r->origin));
        buf_byte(out, '\n');
    }
    print_names(p, out);
    buf_printf(out, "  network %s\n", p->network == IR_NETWORK_OPEN ? "open" : "none");
    print_environment(p, out);
    if (p->timeout_ms)
        buf_printf(out, "  timeout %" PRIu64 "ms\n", p->timeout_ms);
    else
        buf_str(out, "  timeout none\n");
    buf_printf(out, "  trust %s\n", p->core ? "core" : "external");
    if (p->image.text) {
        buf_str(out, "  image ");
        put_quoted(out, p->image.text, strlen(p->image.text));
        buf_byte(out, '\n');
    }
    if (p->skill_dir) {
        buf_str(out, "  # skill-dir ");
        put_quoted(out, p->skill_dir, strlen(p->skill_dir));
        buf_byte(out, '\n');
    }
    for (size_t i = 0; i < p->n_accepted; i++)
        buf_printf(out, "  # accept %s\n", p->accepted[i]);
    buf_str(out, "}\n");
}
