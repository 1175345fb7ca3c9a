/* Seatbelt: a profile in text for sandbox-exec, the run section in comment lines above it.
 *
 * seatbelt_words.h has the order of the file and says which rule wins. The kernel compares the physical path
 * of what is accessed, never the name that was used: so every rule names the physical path, the three linked
 * folders at the root are written both ways, and links on the way to a grant may be read themselves.
 */
#include <string.h>

#include "../artifact.h"
#include "../seatbelt_words.h"
#include "../sort.h"
#include "backend.h"
#include "quote.h"
#include "runsec.h"

static const char *const OPERATIONS[SB_OPERATION_COUNT] = {
#define X(id, word) [id] = word,
    SB_OPERATIONS(X)
#undef X
};

struct emitter {
    const struct ir_policy *p;
    struct arena *a;
    struct diag_list *diags;
    struct buf *out;
    const char **folders; /* above what is granted, unsorted, with duplicates */
    size_t n_folders, cap_folders;
    bool failed;
};

/* ---- Paths ------------------------------------------------------------------------------------------- */

/* Both spellings of a path beneath /tmp, /var or /etc, which are links into /private on every macOS.
 * Returns how many there are, the physical one first. */
static size_t spellings(struct emitter *e, const char *path, const char *out[2])
{
    static const char *const LINKED[] = {"/tmp", "/var", "/etc"};
    out[0] = path;
    for (size_t i = 0; i < sizeof LINKED / sizeof *LINKED; i++) {
        const char *physical = arena_printf(e->a, "/private%s", LINKED[i]);
        if (ir_path_within(path, physical)) {
            out[1] = path + strlen("/private");
            return 2;
        }
        if (ir_path_within(path, LINKED[i])) {
            out[0] = arena_printf(e->a, "/private%s", path);
            out[1] = path;
            return 2;
        }
    }
    return 1;
}

/* Every string of the file passes here; names are looked at once, by is_spellable(), before. */
static void put_string(struct emitter *e, const char *s)
{
    if (!quote_scheme(e->out, s, strlen(s)))
        e->failed = true;
}

static bool is_spellable(struct emitter *e, struct span at, const char *s)
{
    struct buf scratch = {0};
    bool ok = quote_scheme(&scratch, s, strlen(s));
    buf_done(&scratch);
    if (!ok) {
        diag_add(e->diags, DIAG_UNQUOTABLE, at,
                 "seatbelt has no spelling for `%s`: a profile holds neither control characters nor bytes that "
                 "are no UTF-8",
                 diag_escape(e->a, s, strlen(s)));
        e->failed = true;
    }
    return ok;
}

/* One filter for each spelling of the rule's path: word PATH close. */
static void put_filter(struct emitter *e, const struct ir_rule *r, const char *word, const char *close)
{
    if (r->root == IR_ROOT_TMPDIR) {
        buf_printf(e->out, " %s%s", word, r->path_len ? SB_APPEND : SB_PARAM);
        if (r->path_len) {
            put_string(e, r->path);
            buf_byte(e->out, ')');
        }
        buf_str(e->out, close);
        return;
    }
    const char *names[2];
    size_t n = spellings(e, r->path, names);
    for (size_t i = 0; i < n; i++) {
        buf_printf(e->out, " %s", word);
        put_string(e, names[i]);
        buf_str(e->out, close);
    }
}

/* ---- Folders above ----------------------------------------------------------------------------------- */

/* realpath(3), getcwd(3) and node's module loader look at every folder from the root down. */
static void note_folders(struct emitter *e, const char *path)
{
    const char *names[2];
    size_t n = spellings(e, path, names);
    for (size_t i = 0; i < n; i++)
        for (const char *slash = strchr(names[i] + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
            e->folders = arena_grow(e->a, e->folders, &e->cap_folders, e->n_folders + 1, sizeof *e->folders);
            e->folders[e->n_folders++] = arena_strn(e->a, names[i], (size_t)(slash - names[i]));
        }
}

static int cmp_paths(const void *a, const void *b)
{
    return ir_path_cmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_folders(struct emitter *e)
{
    for (size_t i = 0; i < e->p->n_rules; i++)
        if (e->p->rules[i].root == IR_ROOT_SLASH)
            note_folders(e, e->p->rules[i].path);
    for (size_t i = 0; i < e->p->n_links; i++)
        note_folders(e, e->p->links[i].link);
    if (!e->n_folders)
        return;
    sort_list(e->folders, e->n_folders, sizeof *e->folders, cmp_paths);
    buf_str(e->out, SB_ANCESTORS);
    for (size_t i = 0; i < e->n_folders; i++) {
        if (i && !strcmp(e->folders[i], e->folders[i - 1]))
            continue;
        buf_printf(e->out, SB_ALLOW " %s " SB_LITERAL, OPERATIONS[SB_METADATA]);
        put_string(e, e->folders[i]);
        buf_str(e->out, "))\n");
    }
}

/* A grant through a link: the kernel asks for the link itself on the way, then for what it leads to. */
static void put_links(struct emitter *e)
{
    for (size_t i = 0; i < e->p->n_links; i++) {
        const char *link = e->p->links[i].link;
        if (!is_spellable(e, (struct span){0}, link))
            continue;
        buf_printf(e->out, "\n; link %s\n" SB_ALLOW " %s", ir_quote(e->a, link, strlen(link)),
                   OPERATIONS[SB_FILE_READ]);
        struct ir_rule r = {.path = link, .path_len = (uint32_t)strlen(link)};
        put_filter(e, &r, SB_LITERAL, ")");
        buf_str(e->out, ")\n");
    }
}

/* ---- Rules ------------------------------------------------------------------------------------------- */

static void put_operations(struct emitter *e, const char *action, unsigned access)
{
    buf_str(e->out, action);
    if (access & IR_READ)
        buf_printf(e->out, " %s", OPERATIONS[SB_FILE_READ]);
    if (access & IR_WRITE)
        buf_printf(e->out, " %s", OPERATIONS[SB_FILE_WRITE]);
    if (access & IR_EXEC)
        buf_printf(e->out, " %s %s", OPERATIONS[SB_EXEC], OPERATIONS[SB_MAP]);
}

/* A sink is only the device: were its node replaced, the name would grant a file. */
static bool is_sink(const struct ir_rule *r)
{
    return r->origin == IR_FLOOR && r->root == IR_ROOT_SLASH && ir_path_within(r->path, "/dev");
}

static void put_allow(struct emitter *e, const struct ir_rule *r)
{
    put_operations(e, SB_ALLOW, r->allow);
    if (is_sink(r)) {
        put_filter(e, r, SB_DEVICE_OPEN, SB_DEVICE_CLOSE);
    } else {
        /* Whether subpath matches the path itself when it is no folder is disputed: where the type is not
         * known, both are written. */
        bool tmpdir = r->root == IR_ROOT_TMPDIR && !r->path_len;
        if (r->type != IR_TYPE_DIR && !tmpdir)
            put_filter(e, r, SB_LITERAL, ")");
        if (r->type != IR_TYPE_FILE)
            put_filter(e, r, SB_SUBPATH, ")");
    }
    buf_str(e->out, ")\n");
}

static bool parent_writable(struct emitter *e, const struct ir_rule *r)
{
    if (r->root == IR_ROOT_TMPDIR)
        return r->path_len != 0;
    const char *slash = strrchr(r->path, '/');
    size_t len = slash == r->path ? 1 : (size_t)(slash - r->path);
    return ir_allows(e->p, arena_strn(e->a, r->path, len), IR_WRITE);
}

/* Whether the object itself may be made, replaced, removed or renamed is decided at its parent. */
static void put_pin(struct emitter *e, const struct ir_rule *r)
{
    if (!(r->allow & IR_WRITE) || !strcmp(r->path, "/") || parent_writable(e, r))
        return;
    buf_printf(e->out, SB_DENY " %s %s", OPERATIONS[SB_CREATE], OPERATIONS[SB_UNLINK]);
    put_filter(e, r, SB_LITERAL, ")");
    buf_str(e->out, ")\n");
}

/* The files of the data volume, homes included, are also found beneath /System/Volumes/Data: a grant of
 * /System does not mean them. */
static void put_data_volume(struct emitter *e, const struct ir_rule *r)
{
    if (strcmp(r->path, "/System") != 0 && strcmp(r->path, "/System/Volumes") != 0)
        return;
    static const char DATA[] = "/System/Volumes/Data";
    struct ir_rule volume = {.path = DATA, .path_len = sizeof DATA - 1};
    buf_str(e->out, SB_DATA_VOLUME);
    put_operations(e, SB_DENY, r->allow);
    put_filter(e, &volume, SB_LITERAL, ")");
    put_filter(e, &volume, SB_SUBPATH, ")");
    buf_str(e->out, ")\n");
}

static void put_rule(struct emitter *e, const struct ir_rule *r)
{
    if (r->deny) {
        diag_add(e->diags, DIAG_CANNOT, r->span,
                 "seatbelt cannot hold this clause: access is only granted, not taken away beneath a grant");
        e->failed = true;
        return;
    }
    if (!is_spellable(e, r->span, r->path))
        return;
    buf_printf(e->out, "\n; %s\n", ir_clause(e->a, e->p, r));
    put_allow(e, r);
    put_pin(e, r);
    if (r->root == IR_ROOT_SLASH)
        put_data_volume(e, r);
}

static void put_confined(struct emitter *e)
{
    buf_str(e->out, SB_DENY_DEFAULT SB_BASE);
    buf_str(e->out, e->p->network.mode == IR_NETWORK_OPEN ? SB_NETWORK_OPEN : SB_NETWORK_NONE);
    bool tmpdir = false;
    for (size_t i = 0; i < e->p->n_rules; i++)
        tmpdir |= e->p->rules[i].root == IR_ROOT_TMPDIR;
    if (tmpdir)
        buf_str(e->out, SB_TMPDIR_GUARD);
    put_folders(e);
    put_links(e);
    for (size_t i = 0; i < e->p->n_rules; i++)
        put_rule(e, &e->p->rules[i]);
}

/* ---- The artifact ------------------------------------------------------------------------------------ */

static void put_run_line(struct buf *out, const char *string, size_t len)
{
    buf_str(out, RUN_PREFIX_SB);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)string[i];
        if (c < 0x20 || c == 0x7f || c == '%')
            buf_printf(out, "%%%02X", c);
        else
            buf_byte(out, c);
    }
    buf_byte(out, '\n');
}

static bool emit(const struct ir_policy *p, struct arena *a, struct diag_list *diags, struct buf *out)
{
    struct emitter e = {.p = p, .a = a, .diags = diags, .out = out};
    size_t start = out->len;
    size_t digits = runsec_write(p, be_seatbelt.name, true, put_run_line, out);
    buf_byte(out, '\n');
    size_t profile = out->len;
    buf_str(out, SB_VERSION);
    if (p->core)
        buf_str(out, SB_ALLOW_DEFAULT);
    else
        put_confined(&e);
    if (!e.failed && buf_ok(out) && out->len - profile > SB_PROFILE_MAX) {
        diag_add(diags, DIAG_LIMIT_EXCEEDED, p->span,
                 "seatbelt: the profile takes %zu bytes; one argument of sandbox-exec holds %d",
                 out->len - profile, (int)SB_PROFILE_MAX);
        e.failed = true;
    }
    runsec_seal(out, start, digits);
    return !e.failed;
}

static bool text(const char *data, size_t len, struct buf *out)
{
    if (len < strlen(RUN_PREFIX_SB) || memcmp(data, RUN_PREFIX_SB, strlen(RUN_PREFIX_SB)) != 0)
        return false;
    buf_put(out, data, len);
    return true;
}

const struct backend be_seatbelt = {
    .name = "seatbelt",
    .suffix = ".sb",
    .summary = "profile for sandbox-exec (macOS)",
    .system = IR_MACOS,
    .holds = 1 << IR_NEEDS_KILL_AFTER,
    .emit = emit,
    .text = text,
};
