#include "ir.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "network.h"
#include "pattern.h"
#include "units.h"

/* '/' sorts below every byte but the end: "/a" < "/a/b" < "/a-b", so a folder is followed by all that is
 * beneath it before its neighbours. */
static unsigned rank(unsigned char c)
{
    return c == '/' ? 1 : c ? c + 1u : 0;
}

/* Eight bytes at a time: lists of paths are sorted by this, and neighbours begin alike. */
int ir_path_order(const char *a, size_t a_len, const char *b, size_t b_len)
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
    return ir_path_order(a, strlen(a), b, strlen(b));
}

bool ir_path_within(const char *path, const char *dir)
{
    /* Most paths are neighbours by their first letter already, or none at all. */
    if (dir[0] && dir[0] == path[0] && dir[1] && dir[1] != path[1])
        return false;
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
        int order = r->root != IR_ROOT_SLASH ? 1 : ir_path_order(r->path, strlen(r->path), path, len);
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

/* Bytes above 0x7f stay as they are: the DSL's strings are bytes, and UTF-8 stays readable. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
}

static void put_escape(struct buf *out, unsigned char c)
{
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
        buf_printf(out, "\\x%02x", c);
    }
}

static void put_quoted(struct buf *out, const char *s, size_t len)
{
    buf_byte(out, '"');
    for (size_t i = 0, start; i < len; i++) {
        for (start = i; i < len && is_plain((unsigned char)s[i]);)
            i++;
        buf_put(out, s + start, i - start);
        if (i < len)
            put_escape(out, (unsigned char)s[i]);
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
    return strchr(path, '$') || pattern_is(path, strlen(path));
}

/* A path beneath a root, quoted, with `literal` before it where it needs that. */
static void put_path(struct buf *out, const struct ir_policy *p, uint8_t root, const char *path)
{
    if (root == IR_ROOT_SLASH) {
        if (needs_literal(path))
            buf_str(out, "literal ");
        put_quoted(out, path, strlen(path));
        return;
    }
    struct buf whole = {0};
    buf_byte(&whole, '$');
    buf_str(&whole, root == IR_ROOT_TMPDIR ? "TMPDIR" : p->late[root - IR_ROOT_LATE].name);
    buf_str(&whole, path);
    put_quoted(out, whole.data ? whole.data : "", whole.len);
    out->failed |= whole.failed;
    buf_done(&whole);
}

/* ---- Clauses --------------------------------------------------------------------------------------------
 */

struct printer {
    const struct ir_policy *p;
    struct buf *out;
    const char *before, *between; /* what stands before the first clause of a rule, and before each other */
    bool more;
};

static void begin_clause(struct printer *w, const char *words)
{
    buf_str(w->out, w->more ? w->between : w->before);
    buf_str(w->out, words);
    buf_byte(w->out, ' ');
    w->more = true;
}

static void put_words_of_path(struct buf *out, const struct ir_rule *r)
{
    if (r->flags & IR_OPTIONAL && r->allow)
        buf_str(out, " optional");
    if (r->flags & IR_CREATE)
        buf_str(out, r->type == IR_TYPE_FILE ? " create file" : " create");
    if (r->flags & IR_STUB)
        buf_str(out, " stub");
}

static void put_clause(struct printer *w, const char *words, const struct ir_rule *r)
{
    begin_clause(w, words);
    put_path(w->out, w->p, r->root, r->path);
    put_words_of_path(w->out, r);
}

/* What a rule says of reading and writing: at most one clause. */
static void put_allows(struct printer *w, const struct ir_rule *r, unsigned denied)
{
    if (r->allow & IR_WRITE)
        put_clause(w, r->allow & IR_READ ? "write" : "write-only", r);
    else if (r->allow & IR_READ && denied & IR_WRITE)
        put_clause(w, "read only", r);
    else if (r->allow & IR_READ)
        put_clause(w, "read", r);
}

/* In a policy without the exec default, exec is said where it is granted; with it, where it is not. */
static void put_exec(struct printer *w, const struct ir_rule *r, unsigned denied)
{
    bool reads = r->allow & IR_READ;
    if (!w->p->exec_default && r->allow & IR_EXEC)
        put_clause(w, "exec", r);
    else if (denied & IR_EXEC ||
             (w->p->exec_default && reads && !(r->allow & IR_EXEC) && r->origin != IR_FLOOR))
        put_clause(w, "deny exec", r);
}

static void put_rule(struct printer *w, const struct ir_rule *r)
{
    unsigned denied = (unsigned)r->deny | r->cut;
    bool write_only = r->allow & IR_WRITE && !(r->allow & IR_READ);
    if (denied & IR_READ && !write_only) {
        put_clause(w, "deny", r);
        return;
    }
    /* `read only` asks for a path that exists; what is denied of a missing one is said by itself. */
    if (r->type == IR_TYPE_NONE) {
        if (denied & IR_WRITE)
            put_clause(w, "deny write", r);
        if (denied & IR_EXEC)
            put_clause(w, "deny exec", r);
        return;
    }
    bool only = !write_only && r->allow & IR_READ && denied & IR_WRITE;
    /* `exec` implies reading and says all, where nothing else is to be said. */
    bool exec_says_all = !w->p->exec_default && r->allow == (IR_READ | IR_EXEC) && !only;
    if (!exec_says_all)
        put_allows(w, r, denied);
    if (!write_only)
        put_exec(w, r, denied);
    if (!r->allow && denied & IR_WRITE)
        put_clause(w, "deny write", r);
}

static void put_pattern(struct printer *w, const struct ir_pattern *x)
{
    unsigned kinds = x->allow;
    const char *words = x->deny & IR_READ                        ? "deny"
                        : x->deny & IR_WRITE                     ? "deny write"
                        : x->deny                                ? "deny exec"
                        : !(kinds & IR_READ)                     ? "write-only"
                        : kinds & IR_WRITE                       ? "write"
                        : kinds & IR_EXEC && !w->p->exec_default ? "exec"
                                                                 : "read";
    begin_clause(w, words);
    struct buf whole = {0};
    if (x->root >= IR_ROOT_LATE)
        buf_printf(&whole, "$%s", w->p->late[x->root - IR_ROOT_LATE].name);
    buf_str(&whole, x->glob);
    put_quoted(w->out, whole.data ? whole.data : "", whole.len);
    w->out->failed |= whole.failed;
    buf_done(&whole);
}

const char *ir_clause(struct arena *a, const struct ir_policy *p, const struct ir_rule *r)
{
    struct buf b = {0};
    struct printer w = {.p = p, .out = &b, .before = "", .between = "; "};
    struct ir_rule shown = *r;
    if (r->origin != IR_DECLARED)
        shown.flags = 0; /* nobody wrote words there */
    put_rule(&w, &shown);
    return keep(a, &b);
}

/* ---- Features and limits --------------------------------------------------------------------------------
 */

static const struct {
    const char *word;
    enum ir_unit unit;
} LIMITS[IR_LIMIT_COUNT] = {
#define LIMIT(name, text, kind, meaning) {text, kind},
#include "ir_limits.def"
#undef LIMIT
};

const char *ir_limit_word(enum ir_limit_index i)
{
    return LIMITS[i].word;
}

enum ir_unit ir_limit_unit(enum ir_limit_index i)
{
    return LIMITS[i].unit;
}

const char *ir_feature_words(enum ir_feature f)
{
    static const char *const WORDS[IR_FEATURE_COUNT] = {
#define FEATURE(name, words) words,
#include "ir_features.def"
#undef FEATURE
    };
    return WORDS[f];
}

static void need(struct ir_need out[], enum ir_feature f, struct span at)
{
    if (!out[f].needed)
        out[f] = (struct ir_need){true, at};
}

static void rule_features(const struct ir_policy *p, const struct ir_rule *r, struct ir_need out[])
{
    bool floor = r->origin == IR_FLOOR;
    if (r->root >= IR_ROOT_LATE)
        need(out, IR_NEEDS_LATE, r->span);
    if (floor && r->cut)
        need(out, IR_NEEDS_FLOOR, r->span);
    if (floor)
        return;
    if (r->root == IR_ROOT_TMPDIR)
        need(out, IR_NEEDS_TMPDIR_RULE, r->span);
    if (r->deny & IR_READ && !(r->allow & IR_WRITE))
        need(out, IR_NEEDS_DENY, r->span);
    else if (r->deny & IR_WRITE)
        need(out, IR_NEEDS_READ_ONLY, r->span);
    if (r->allow & IR_WRITE && !(r->allow & IR_READ))
        need(out, IR_NEEDS_WRITE_ONLY, r->span);
    if (r->allow & IR_READ && !(r->allow & IR_EXEC) == p->exec_default)
        need(out, IR_NEEDS_EXEC_LIST, r->span);
    if (r->flags & IR_CREATE)
        need(out, IR_NEEDS_CREATE, r->span);
    if (r->flags & IR_STUB)
        need(out, IR_NEEDS_STUB, r->span);
}

static void network_features(const struct ir_network *n, struct ir_need out[])
{
    switch ((enum ir_network_mode)n->mode) {
    case IR_NETWORK_LOOPBACK:
        need(out, IR_NEEDS_LOOPBACK, n->span);
        break;
    case IR_NETWORK_LOOPBACK_HOST:
        need(out, IR_NEEDS_LOOPBACK_HOST, n->span);
        break;
    case IR_NETWORK_ALLOW:
        need(out, IR_NEEDS_NETWORK_ALLOW, n->n_endpoints ? n->endpoints[0].span : n->span);
        break;
    case IR_NETWORK_NONE:
    case IR_NETWORK_OPEN:
        break;
    }
    if (n->n_sockets)
        need(out, IR_NEEDS_UNIX_SOCKET, n->sockets[0].span);
    if (n->n_listen)
        need(out, IR_NEEDS_LISTEN, n->listen[0].span);
}

static void limit_features(const struct ir_policy *p, struct ir_need out[])
{
    static const int FEATURES[IR_LIMIT_COUNT] = {
        [IR_LIMIT_TIMEOUT] = -1,
        [IR_LIMIT_KILL_AFTER] = IR_NEEDS_KILL_AFTER,
        [IR_LIMIT_MEMORY] = IR_NEEDS_MEMORY,
        [IR_LIMIT_PROCESSES] = IR_NEEDS_PROCESSES,
        [IR_LIMIT_CPU] = IR_NEEDS_CPU,
        [IR_LIMIT_CPU_WEIGHT] = IR_NEEDS_CPU_WEIGHT,
        [IR_LIMIT_CPU_TIME] = IR_NEEDS_CPU_TIME,
        [IR_LIMIT_FILE_SIZE] = IR_NEEDS_FILE_SIZE,
        [IR_LIMIT_OPEN_FILES] = IR_NEEDS_OPEN_FILES,
        [IR_LIMIT_OUTPUT] = IR_NEEDS_OUTPUT,
    };
    for (size_t i = 0; i < IR_LIMIT_COUNT; i++)
        if (p->limits[i].said && FEATURES[i] >= 0)
            need(out, (enum ir_feature)FEATURES[i], p->limits[i].span);
}

void ir_features(const struct ir_policy *p, struct ir_need out[IR_FEATURE_COUNT])
{
    memset(out, 0, IR_FEATURE_COUNT * sizeof *out);
    if (!p->exec_default)
        need(out, IR_NEEDS_EXEC_LIST, p->exec_span);
    for (size_t i = 0; i < p->n_rules; i++)
        rule_features(p, &p->rules[i], out);
    for (size_t i = 0; i < p->n_patterns; i++)
        need(out, IR_NEEDS_PATTERN, p->patterns[i].span);
    network_features(&p->network, out);
    limit_features(p, out);
    if (p->n_env_deny)
        need(out, IR_NEEDS_ENV_DENY, p->env_deny[0].span);
    if (p->workdir.path)
        need(out, IR_NEEDS_WORKDIR, p->workdir.span);
    if (p->spawn_span.src)
        need(out, IR_NEEDS_SPAWN, p->spawn_span);
    if (p->n_fds)
        need(out, IR_NEEDS_FD, p->fds[0].span);
    if (p->tty != IR_TTY_UNSAID)
        need(out, IR_NEEDS_TTY, p->tty_span);
    if (p->user.text)
        need(out, IR_NEEDS_USER, p->user.span);
}

/* ---- The whole ------------------------------------------------------------------------------------------
 */

static void line(struct buf *out, const char *words, const char *quoted)
{
    buf_printf(out, "  %s ", words);
    put_quoted(out, quoted, strlen(quoted));
    buf_byte(out, '\n');
}

/* Rules of presets, of the skill's folder and of the floor come back by themselves when the text is read
 * again: they are shown as comments, but for what was denied of them. */
static void print_rule(const struct ir_policy *p, const struct ir_rule *r, struct buf *out)
{
    static const char *const NOTES[] = {
        [IR_DECLARED] = "", [IR_PRESET] = "preset: ", [IR_SKILL_DIR] = "skill-dir: ", [IR_FLOOR] = "floor: "};
    struct printer w = {.p = p, .out = out, .before = "  ", .between = "\n  "};
    bool own = r->origin == IR_DECLARED;
    if (!own && r->allow) {
        struct ir_rule shown = *r;
        shown.cut = shown.deny = shown.flags = 0;
        w.between = "; ";
        buf_printf(out, "  # %s", NOTES[r->origin]);
        w.before = "";
        put_rule(&w, &shown);
        buf_byte(out, '\n');
    }
    if (own) {
        put_rule(&w, r);
        buf_byte(out, '\n');
    } else if (r->cut || (r->deny && r->origin != IR_FLOOR)) {
        const struct ir_rule cut = {
            .path = r->path, .path_len = r->path_len, .root = r->root, .cut = r->cut, .deny = r->deny};
        struct printer c = {.p = p, .out = out, .before = "  ", .between = "\n  "};
        put_rule(&c, &cut);
        buf_byte(out, '\n');
    }
}

/* The rule that decides at a path. */
static const struct ir_rule *nearest(const struct ir_policy *p, const char *path)
{
    const struct ir_rule *found = NULL;
    for (size_t n = 1, len = strlen(path); n <= len; n++) {
        bool whole = n == 1 || n == len || path[n] == '/';
        const struct ir_rule *r = whole ? rule_at(p, path, n) : NULL;
        found = r && (r->allow || r->deny) ? r : found;
    }
    return found;
}

/* Other names are clauses too: read again, they lead to the same path. */
static void print_names(const struct ir_policy *p, struct buf *out)
{
    for (size_t i = 0; i < p->n_aliases; i++) {
        const struct ir_alias *x = &p->aliases[i];
        const struct ir_rule *at = nearest(p, x->path);
        struct ir_rule r = at ? *at : (struct ir_rule){.cut = IR_READ};
        if (!at || strcmp(at->path, x->path) != 0)
            r.cut = r.deny = r.flags = 0, r.type = IR_TYPE_ANY;
        if (!r.allow && !r.deny)
            r.cut = IR_READ;
        r.path = x->name;
        r.path_len = (uint32_t)strlen(x->name);
        struct printer w = {.p = p, .out = out, .before = "  ", .between = "; "};
        put_rule(&w, &r);
        buf_str(out, "  # is ");
        put_quoted(out, x->path, strlen(x->path));
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

static void print_network(const struct ir_policy *p, struct buf *out)
{
    static const char *const MODES[] = {[IR_NETWORK_NONE] = "none",
                                        [IR_NETWORK_LOOPBACK] = "loopback",
                                        [IR_NETWORK_LOOPBACK_HOST] = "loopback host",
                                        [IR_NETWORK_OPEN] = "open"};
    struct arena a;
    const struct ir_network *n = &p->network;
    arena_init(&a, NULL, NULL);
    if (n->mode != IR_NETWORK_ALLOW)
        buf_printf(out, "  network %s\n", MODES[n->mode]);
    for (size_t i = 0; i < n->n_endpoints; i++)
        line(out, "network allow", network_text(&a, &n->endpoints[i]));
    for (size_t i = 0; i < n->n_sockets; i++) {
        const char *root =
            n->sockets[i].root >= IR_ROOT_LATE ? p->late[n->sockets[i].root - IR_ROOT_LATE].name : NULL;
        line(out, "network allow",
             arena_printf(&a, "unix:%s%s%s", root ? "$" : "", root ? root : "", n->sockets[i].path));
    }
    for (size_t i = 0; i < n->n_listen; i++)
        buf_printf(out, "  listen %u\n", (unsigned)n->listen[i].port);
    arena_done(&a);
}

static void print_names_of(struct buf *out, const char *word, const struct ir_env_name *names, size_t n,
                           bool *more)
{
    if (!n)
        return;
    buf_printf(out, "%s%s", *more ? "; " : " ", word);
    *more = true;
    for (size_t i = 0; i < n; i++) {
        buf_byte(out, ' ');
        put_quoted(out, names[i].name, strlen(names[i].name));
    }
}

static void print_environment(const struct ir_policy *p, struct buf *out)
{
    bool more = false;
    /* All names that pass are listed, so no preset may add its own when this is read again. */
    buf_str(out, "  env none\n");
    if (!p->n_env_pass && !p->n_env_set)
        return;
    buf_str(out, "  env {");
    print_names_of(out, "allow", p->env_pass, p->n_env_pass, &more);
    print_names_of(out, "deny", p->env_deny, p->n_env_deny, &more);
    for (size_t i = 0; i < p->n_env_set; i++) {
        buf_str(out, i || more ? "; set " : " set ");
        put_quoted(out, p->env_set[i].name, strlen(p->env_set[i].name));
        buf_byte(out, ' ');
        put_quoted(out, p->env_set[i].value, strlen(p->env_set[i].value));
    }
    buf_str(out, " }\n");
}

void ir_limit_print(enum ir_limit_index i, uint64_t value, char out[32])
{
    switch (ir_limit_unit(i)) {
    case IR_UNIT_TIME:
        units_print_duration(value, out);
        break;
    case IR_UNIT_BYTES:
        units_print_size(value, out);
        break;
    case IR_UNIT_MILLI:
        units_print_milli(value, out);
        break;
    case IR_UNIT_COUNT:
    case IR_UNIT_WEIGHT:
        snprintf(out, 32, "%" PRIu64, value);
        break;
    }
}

/* Both times always: what they are by default may change. */
static void print_limits(const struct ir_policy *p, struct buf *out)
{
    bool more = false;
    buf_str(out, "  limits {");
    for (size_t i = 0; i < IR_LIMIT_COUNT; i++) {
        if (!p->limits[i].value && i != IR_LIMIT_TIMEOUT)
            continue;
        buf_str(out, more ? ";" : "");
        char text[32] = "none";
        if (p->limits[i].value)
            ir_limit_print((enum ir_limit_index)i, p->limits[i].value, text);
        buf_printf(out, " %s %s", ir_limit_word((enum ir_limit_index)i), text);
        more = true;
    }
    buf_str(out, " }\n");
}

static void print_process(const struct ir_policy *p, struct buf *out)
{
    if (p->workdir.path) {
        buf_str(out, "  workdir ");
        put_path(out, p, p->workdir.root, p->workdir.path);
        buf_str(out, p->workdir.create ? " create\n" : "\n");
    }
    if (p->spawn_span.src)
        buf_str(out, "  spawn deny\n");
    for (size_t i = 0; i < p->n_fds; i++)
        buf_printf(out, "  fd %d\n", p->fds[i].fd);
    if (p->tty != IR_TTY_UNSAID)
        buf_printf(out, "  tty %s\n", p->tty == IR_TTY_NONE ? "none" : "inherit");
    buf_printf(out, "  trust %s\n", p->core ? "core" : "external");
    if (p->image.text)
        line(out, "image", p->image.text);
    if (p->user.text)
        line(out, "user", p->user.text);
}

/* Pieces are about this long. */
enum { PIECE_BYTES = 128 * 1024 };

struct taker {
    void (*take)(void *ctx, struct buf *piece);
    void *ctx;
};

static void hand_over(const struct taker *t, struct buf *out, size_t least)
{
    if (!t->take || out->len < least || !buf_ok(out))
        return;
    t->take(t->ctx, out);
    out->len = 0;
}

static void print_head(const struct ir_policy *p, struct buf *out)
{
    buf_printf(out, "# %s\n", p->system == IR_MACOS ? "macos" : "linux");
    for (size_t i = 0; i < p->n_late; i++)
        buf_printf(out, "# late %s%s%s\n", p->late[i].name, p->late[i].under >= 0 ? " under " : "",
                   p->late[i].under >= 0 ? p->late[p->late[i].under].name : "");
    for (size_t i = 0; i < p->n_accepted; i++)
        buf_printf(out, "# accept %s\n", p->accepted[i]);
    buf_str(out, "profile ");
    put_quoted(out, p->name, strlen(p->name));
    buf_printf(out, " {\n  system %s\n", p->preset.text);
    if (p->skill_dir) {
        buf_str(out, "  skill-dir ");
        put_path(out, p, IR_ROOT_SLASH, p->skill_dir);
        buf_byte(out, '\n');
    }
    buf_printf(out, "  exec %s\n", p->exec_default ? "default" : "none");
}

static void print_policy(const struct ir_policy *p, struct buf *out, const struct taker *t)
{
    print_head(p, out);
    for (size_t i = 0; i < p->n_rules; i++) {
        print_rule(p, &p->rules[i], out);
        hand_over(t, out, PIECE_BYTES);
    }
    struct printer w = {.p = p, .out = out, .before = "  ", .between = "\n  "};
    for (size_t i = 0; i < p->n_patterns; i++) {
        w.more = false;
        put_pattern(&w, &p->patterns[i]);
        buf_byte(out, '\n');
    }
    print_names(p, out);
    print_network(p, out);
    print_environment(p, out);
    print_limits(p, out);
    print_process(p, out);
    buf_str(out, "}\n");
    hand_over(t, out, 1);
}

void ir_print(const struct ir_policy *p, struct buf *out)
{
    print_policy(p, out, &(struct taker){0});
}

void ir_print_pieces(const struct ir_policy *p, struct buf *piece, void (*take)(void *ctx, struct buf *piece),
                     void *ctx)
{
    print_policy(p, piece, &(struct taker){take, ctx});
}
