/* bubblewrap: NUL-ended words for `bwrap --args FD`, and the run section behind `--` (bwrap_words.h).
 *
 * A root of nothing but what is put there: an empty tmpfs, the grants bound at their own places, the
 * sandbox's own /proc, the device sinks and a private TMPDIR, then all of it read-only that is no grant of
 * writing. bwrap applies file operations strictly in order and a later mount covers an earlier one, so they
 * are sorted by destination, folders before what is beneath them.
 *
 * What the words leave open is closed by the seccomp program that the file asks for on descriptor 11: Unix
 * sockets by path (a network namespace does not cut them off), other address families, nested namespaces
 * (hence no --disable-userns, which older versions lack and which costs a second namespace).
 */
#include <string.h>

#include "../artifact.h"
#include "../bwrap_words.h"
#include "../sort.h"
#include "backend.h"
#include "runsec.h"

static const char *const WORDS[BW_WORD_COUNT] = {
#define X(id, word, first, second, place, confined, core) [id] = word,
    BWRAP_WORDS(X)
#undef X
};

/* One file operation, or one link. */
struct op {
    const char *dest;
    const char *target; /* BW_SYMLINK: what the link holds */
    const char *mode;   /* --perms before the word, or NULL */
    enum bw_word word;
    bool folder; /* binds: the source is written with a final slash, which only a folder can have */
};

struct emitter {
    const struct ir_policy *p;
    struct arena *a;
    struct diag_list *diags;
    struct op *ops;
    size_t n_ops, cap_ops;
    struct op *links;
    size_t n_links, cap_links;
    struct buf *out;
    bool failed;
};

static void cannot(struct emitter *e, struct span at, const char *text)
{
    diag_add(e->diags, DIAG_CANNOT, at, "bwrap cannot hold this clause: %s", text);
    e->failed = true;
}

/* ---- Rules to operations ----------------------------------------------------------------------------- */

static struct op *add_op(struct emitter *e, enum bw_word word, const char *dest)
{
    e->ops = arena_grow(e->a, e->ops, &e->cap_ops, e->n_ops + 1, sizeof *e->ops);
    struct op *op = &e->ops[e->n_ops++];
    *op = (struct op){.word = word, .dest = dest};
    return op;
}

static void add_private(struct emitter *e, const char *dest, const char *mode)
{
    add_op(e, BW_TMPFS, dest)->mode = mode;
}

static bool beneath(const char *path, const char *dir)
{
    return ir_path_within(path, dir) && strcmp(path, dir) != 0;
}

/* Devices are bound by --dev-bind: any other bind is nodev, and opening a node fails. /dev/shm holds
 * ordinary files. */
static bool has_devices(const char *path)
{
    return ir_path_within("/dev", path) || (beneath(path, "/dev") && !ir_path_within(path, "/dev/shm"));
}

static bool is_sink(const char *path)
{
    static const char *const SINKS[] = {ARTIFACT_SINKS};
    for (size_t i = 0; i < sizeof SINKS / sizeof *SINKS; i++)
        if (!strcmp(path, SINKS[i]))
            return true;
    return false;
}

static bool is_device(const struct ir_rule *r)
{
    return is_sink(r->path) || (beneath(r->path, "/dev") && has_devices(r->path) && r->type != IR_TYPE_DIR);
}

/* /dev/fd and its like are links into /proc, made as links: a bind would follow them on the host. */
static const char *const DEV_LINKS[][2] = {
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stderr", "/proc/self/fd/2"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
};
enum { N_DEV_LINKS = sizeof DEV_LINKS / sizeof *DEV_LINKS };

static bool is_dev_link(const char *path)
{
    for (size_t i = 0; i < N_DEV_LINKS; i++)
        if (!strcmp(path, DEV_LINKS[i][0]))
            return true;
    return false;
}

/* A folder that a preset or the floor grants for writing is the run's own, never the host's. */
static bool is_private(const struct ir_rule *r)
{
    return (r->origin == IR_PRESET || r->origin == IR_FLOOR) && (r->allow & IR_WRITE) && !is_device(r);
}

static void add_bind(struct emitter *e, const struct ir_rule *r, bool write)
{
    bool optional = r->flags & IR_OPTIONAL;
    enum bw_word word;
    /* A folder of devices that is only read stays nodev, since a read-only mount does not keep a device
     * from being written. */
    bool dev = is_device(r) || (write && has_devices(r->path));
    if (dev)
        word = optional ? BW_DEV_BIND_TRY : BW_DEV_BIND;
    else if (write)
        word = optional ? BW_BIND_TRY : BW_BIND;
    else
        word = optional ? BW_RO_BIND_TRY : BW_RO_BIND;
    add_op(e, word, r->path)->folder = r->type == IR_TYPE_DIR && !is_device(r);
    if (!dev && has_devices(r->path))
        diag_add(e->diags, DIAG_STRICTER, r->span, "bwrap: devices beneath %s can be listed but not opened",
                 r->path);
}

/* `granted` is all that is allowed at the rule's path, its own decision and those above taken together. */
static void put_rule(struct emitter *e, const struct ir_rule *r, unsigned granted)
{
    if (r->deny && r->origin != IR_FLOOR) {
        cannot(e, r->span, "it takes away a part of what is granted above it");
        return;
    }
    if (r->root == IR_ROOT_TMPDIR)
        return; /* beneath the private TMPDIR all is allowed already */
    if (is_dev_link(r->path) || (r->origin == IR_FLOOR && !strcmp(r->path, "/proc")))
        return; /* always the sandbox's own */
    if (ir_path_within(r->path, "/proc")) {
        cannot(e, r->span, "/proc is the sandbox's own, and what is beneath it comes from the kernel");
        return;
    }
    if (!(granted & IR_READ)) {
        cannot(e, r->span, "what is mounted for writing can be read");
        return;
    }
    if (is_private(r)) {
        if (!strcmp(r->path, e->p->tmpdirs[0]))
            return; /* TMPDIR is mounted there */
        /* Shared scratch folders are open to everyone and sticky; programs check for it. */
        add_private(e, r->path, "1777");
        return;
    }
    if (is_device(r) && !(granted & IR_WRITE) && !is_sink(r->path) && r->origin == IR_DECLARED) {
        cannot(e, r->span, "a mount does not keep a device from being written");
        return;
    }
    if (!(granted & IR_EXEC) && !is_device(r)) {
        cannot(e, r->span, "what can be read can be executed");
        return;
    }
    add_bind(e, r, granted & IR_WRITE);
}

/* The rules above the one in hand, outermost first. */
struct above {
    const struct ir_rule *rule;
    unsigned granted;
};

/* What lies beneath a private folder is the host's again: nothing granted there reaches down to it. */
static unsigned inherited(const struct above *stack, size_t depth)
{
    if (!depth || is_private(stack[depth - 1].rule))
        return 0;
    return stack[depth - 1].granted;
}

static void put_rules(struct emitter *e)
{
    const struct ir_policy *p = e->p;
    struct above *stack = arena_array(e->a, p->n_rules + 1, sizeof *stack);
    size_t depth = 0;
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct ir_rule *r = &p->rules[i];
        if (r->root == IR_ROOT_TMPDIR) {
            put_rule(e, r, r->allow);
            continue;
        }
        while (depth && !ir_path_within(r->path, stack[depth - 1].rule->path))
            depth--;
        unsigned granted = (inherited(stack, depth) | r->allow) & ~(unsigned)r->deny;
        put_rule(e, r, granted);
        stack[depth++] = (struct above){r, granted};
    }
}

/* ---- Links ------------------------------------------------------------------------------------------- */

static void add_link(struct emitter *e, const char *link, const char *target)
{
    e->links = arena_grow(e->a, e->links, &e->cap_links, e->n_links + 1, sizeof *e->links);
    e->links[e->n_links++] = (struct op){.word = BW_SYMLINK, .dest = link, .target = target};
}

static bool is_bind(enum bw_word word)
{
    return word >= BW_BIND && word <= BW_DEV_BIND_TRY;
}

/* A link shows by itself beneath a bound folder, and a bind at its very place shows what it leads to. */
static bool shows(const struct emitter *e, const char *link)
{
    const struct op *nearest = NULL;
    for (size_t i = 0; i < e->n_ops; i++)
        if (ir_path_within(link, e->ops[i].dest))
            nearest = &e->ops[i];
    return nearest && (is_bind(nearest->word) || nearest->word == BW_PROCFS);
}

/* The clause that brought a link: the first one whose path lies where the link leads. */
static struct span link_span(const struct emitter *e, const struct ir_link *l)
{
    for (size_t i = 0; i < e->p->n_rules; i++)
        if (e->p->rules[i].origin == IR_DECLARED && ir_path_within(e->p->rules[i].path, l->target))
            return e->p->rules[i].span;
    return e->p->span;
}

static void put_link(struct emitter *e, const struct ir_link *l)
{
    if (is_dev_link(l->link) || shows(e, l->link))
        return;
    for (size_t i = 0; i < e->n_ops; i++) {
        if (!ir_path_within(e->ops[i].dest, l->link))
            continue;
        diag_add(e->diags, DIAG_CANNOT, link_span(e, l),
                 "bwrap cannot make the link %s: it has to be a folder for %s",
                 diag_escape(e->a, l->link, strlen(l->link)),
                 diag_escape(e->a, e->ops[i].dest, strlen(e->ops[i].dest)));
        e->failed = true;
        return;
    }
    add_link(e, l->link, l->target);
}

static void put_links(struct emitter *e)
{
    for (size_t i = 0; i < N_DEV_LINKS; i++)
        if (!shows(e, DEV_LINKS[i][0]))
            add_link(e, DEV_LINKS[i][0], DEV_LINKS[i][1]);
    for (size_t i = 0; i < e->p->n_links; i++)
        put_link(e, &e->p->links[i]);
}

/* A name that leads through a link which a preset binds read-only stays read-only: the grant itself is
 * mounted at the path that the link leads to. */
static void note_aliases(struct emitter *e)
{
    for (size_t i = 0; i < e->p->n_aliases; i++) {
        const struct ir_alias *alias = &e->p->aliases[i];
        if (!ir_allows(e->p, alias->path, IR_WRITE))
            continue;
        for (size_t k = 0; k < e->n_ops; k++) {
            if (e->ops[k].word != BW_RO_BIND_TRY || !beneath(alias->name, e->ops[k].dest))
                continue;
            diag_add(e->diags, DIAG_STRICTER, e->p->span,
                     "bwrap: %s cannot be written by this name, only as %s",
                     diag_escape(e->a, alias->name, strlen(alias->name)),
                     diag_escape(e->a, alias->path, strlen(alias->path)));
            break;
        }
    }
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static void put_text(struct emitter *e, const char *text)
{
    buf_put(e->out, text, strlen(text) + 1);
}

static void put(struct emitter *e, enum bw_word word, const char *first, const char *second)
{
    put_text(e, WORDS[word]);
    if (first)
        put_text(e, first);
    if (second)
        put_text(e, second);
}

static void put_op(struct emitter *e, const struct op *op)
{
    if (op->mode)
        put(e, BW_PERMS, op->mode, NULL);
    if (op->target)
        put(e, op->word, op->target, op->dest);
    else if (!is_bind(op->word))
        put(e, op->word, op->dest, NULL);
    else if (op->folder && strcmp(op->dest, "/") != 0)
        put(e, op->word, arena_printf(e->a, "%s/", op->dest), op->dest);
    else
        put(e, op->word, op->dest, op->dest);
}

static void put_head(struct emitter *e)
{
    if (e->p->core) {
        put(e, BW_UNSHARE_PID, NULL, NULL);
        put(e, BW_DIE_WITH_PARENT, NULL, NULL);
        put(e, BW_NEW_SESSION, NULL, NULL);
        return;
    }
    put(e, BW_UNSHARE_USER, NULL, NULL);
    put(e, BW_UNSHARE_IPC, NULL, NULL);
    put(e, BW_UNSHARE_PID, NULL, NULL);
    if (e->p->network.mode == IR_NETWORK_NONE)
        put(e, BW_UNSHARE_NET, NULL, NULL);
    put(e, BW_UNSHARE_UTS, NULL, NULL);
    put(e, BW_UNSHARE_CGROUP, NULL, NULL);
    put(e, BW_DIE_WITH_PARENT, NULL, NULL);
    put(e, BW_NEW_SESSION, NULL, NULL);
    put(e, BW_CAP_DROP, "ALL", NULL);
    put(e, BW_SECCOMP, BWRAP_FILTER_FD_TEXT, NULL);
    put(e, BW_CLEARENV, NULL, NULL);
}

static bool is_set(const struct ir_policy *p, const char *name)
{
    for (size_t i = 0; i < p->n_env_set; i++)
        if (!strcmp(p->env_set[i].name, name))
            return true;
    return false;
}

static void put_fixed(struct emitter *e, const char *name, const char *value)
{
    if (!is_set(e->p, name))
        put(e, BW_SETENV, name, value);
}

/* For bwrap alone: under sbxrun the whole environment comes from the run section. */
static void put_environment(struct emitter *e, const char *tmpdir, const char *home)
{
    if (!e->p->core) {
        put_fixed(e, "PATH", "/usr/local/bin:/usr/bin:/bin");
        put_fixed(e, "HOME", home);
        put_fixed(e, "TMPDIR", tmpdir);
    }
    for (size_t i = 0; i < e->p->n_env_set; i++) {
        const struct ir_env_set *s = &e->p->env_set[i];
        if (!*s->name || strchr(s->name, '=')) {
            diag_add(e->diags, DIAG_UNQUOTABLE, s->span, "bwrap cannot set a variable of this name");
            e->failed = true;
        } else if (*s->value) { /* no empty word may stand before `--` */
            put(e, BW_SETENV, s->name, s->value);
        }
    }
}

/* ---- The artifact ------------------------------------------------------------------------------------ */

static int op_cmp(const void *a, const void *b)
{
    return ir_path_cmp(((const struct op *)a)->dest, ((const struct op *)b)->dest);
}

static void put_files(struct emitter *e)
{
    for (size_t i = 0; i < e->n_ops; i++) {
        put_op(e, &e->ops[i]);
        if (e->ops[i].word == BW_PROCFS && !e->p->core)
            put(e, BW_REMOUNT_PROC, "/proc", NULL);
    }
    for (size_t i = 0; i < e->n_links; i++)
        put_op(e, &e->links[i]);
    if (!e->p->core && !ir_allows(e->p, "/", IR_WRITE))
        put(e, BW_REMOUNT_ROOT, "/", NULL);
}

static void collect_confined(struct emitter *e, const char *tmpdir, const char *home)
{
    put_rules(e);
    add_private(e, tmpdir, "0700");
    add_op(e, BW_DIR, home)->mode = "0700";
    add_op(e, BW_PROCFS, "/proc");
    sort_list(e->ops, e->n_ops, sizeof *e->ops, op_cmp);
    put_links(e);
    sort_list(e->links, e->n_links, sizeof *e->links, op_cmp);
    note_aliases(e);
}

static void put_run_word(struct buf *out, const char *string, size_t len)
{
    buf_str(out, RUN_PREFIX_BWRAP);
    buf_put(out, string, len);
    buf_byte(out, '\0');
}

static size_t count_words(const struct buf *out, size_t start)
{
    size_t n = 0;
    for (size_t i = start; i < out->len; i++)
        n += out->data[i] == '\0';
    return n;
}

static bool within_limit(struct emitter *e, size_t start)
{
    size_t n = count_words(e->out, start);
    if (n + BWRAP_WORDS_RESERVED <= BWRAP_WORDS_MAX)
        return true;
    struct diag *d =
        diag_add(e->diags, DIAG_LIMIT_EXCEEDED, e->p->span,
                 "the policy needs %zu words; bwrap takes %d, of which %d are kept for the command", n,
                 BWRAP_WORDS_MAX, BWRAP_WORDS_RESERVED);
    diag_hint(e->diags, d, "grant a folder instead of what is in it");
    return false;
}

static bool emit(const struct ir_policy *p, struct arena *a, struct diag_list *diags, struct buf *out)
{
    struct emitter e = {.p = p, .a = a, .diags = diags, .out = out};
    const char *tmpdir = p->tmpdirs[0];
    const char *home = arena_printf(a, "%s/home", tmpdir);
    size_t start = out->len;
    if (p->core) {
        add_op(&e, BW_DEV_BIND, "/");
        add_op(&e, BW_PROCFS, "/proc");
    } else {
        collect_confined(&e, tmpdir, home);
    }
    put_head(&e);
    put_environment(&e, tmpdir, home);
    put_files(&e);
    put_text(&e, "--");
    size_t digits = runsec_write(p, "bwrap", true, put_run_word, out);
    if (e.failed || !within_limit(&e, start))
        return false;
    runsec_seal(out, start, digits);
    return true;
}

/* ---- Text -------------------------------------------------------------------------------------------- */

static bool text(const char *data, size_t len, struct buf *out)
{
    static const char MARK[] = "--\0" RUN_PREFIX_BWRAP "format=";
    return runsec_words_text(data, len, MARK, sizeof MARK - 1, out);
}

const struct backend be_bwrap = {
    .name = "bwrap",
    .suffix = ".bwrap",
    .summary = "arguments for bubblewrap (Linux namespaces)",
    .system = IR_LINUX,
    .binary = true,
    .holds = 1 << IR_NEEDS_KILL_AFTER,
    .emit = emit,
    .text = text,
};
