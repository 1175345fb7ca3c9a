/* Docker: options of `docker run` as NUL-ended words (docker_words.h), and the run section as labels.
 *
 * The system comes from the image, so presets and the floor emit nothing; what the declaration itself grants
 * is bound at its own place, and once more at each other name it was granted by. All the rest is the
 * engine's: namespaces, a read-only root, no capabilities.
 *
 * What the words leave open is closed by sbxrun: the engine's own seccomp profile lets sockets of every
 * family be made, and the engine follows links in sources.
 */
#include <string.h>

#include "../artifact.h"
#include "../docker_words.h"
#include "../sort.h"
#include "backend.h"
#include "quote.h"
#include "runsec.h"

static const struct row {
    const char *word;
    enum dk_operand operand;
    const char *text;
    enum dk_often often;
} ROWS[DK_WORD_COUNT] = {
#define X(id, word, operand, text, often) [id] = {word, operand, text, often},
    DOCKER_WORDS(X)
#undef X
};

struct mount {
    const char *source, *dest;
    const struct ir_rule *rule; /* that granted it */
};

struct emitter {
    const struct ir_policy *p;
    struct arena *a;
    struct diag_list *diags;
    struct mount *mounts;
    size_t n_mounts, cap_mounts;
    struct buf *out;
    struct buf field; /* scratch of put_field() */
    bool failed;
};

static void cannot(struct emitter *e, struct span at, const char *text)
{
    diag_add(e->diags, DIAG_CANNOT, at, "docker cannot hold this clause: %s", text);
    e->failed = true;
}

/* ---- Rules to mounts --------------------------------------------------------------------------------- */

static void add_mount(struct emitter *e, const struct ir_rule *r, const char *source, const char *dest)
{
    e->mounts = arena_grow(e->a, e->mounts, &e->cap_mounts, e->n_mounts + 1, sizeof *e->mounts);
    e->mounts[e->n_mounts++] = (struct mount){source, dest, r};
}

static bool comes_from_host(const struct ir_rule *r)
{
    return (r->origin == IR_DECLARED || r->origin == IR_SKILL_DIR) && r->root == IR_ROOT_SLASH &&
           strcmp(r->path, "/proc") != 0; /* always the container's own */
}

/* Why the engine has no mount for this rule, or NULL. */
static const char *obstacle(const struct ir_rule *r)
{
    if (r->deny)
        return "it takes away a part of what is granted above it";
    if (!(r->allow & IR_READ))
        return "what is mounted for writing can be read";
    if (!(r->allow & IR_EXEC))
        return "what can be read can be executed";
    if (!strcmp(r->path, "/"))
        return "nothing can be mounted on the root of a container";
    if (ir_path_within(r->path, "/proc"))
        return "/proc is the container's own, and the engine mounts nothing beneath it";
    /* The engine's device rules refuse what it has not been given with --device. */
    if (ir_path_within(r->path, "/dev") && !ir_path_within(r->path, "/dev/shm"))
        return "/dev is the container's own, and devices bound there cannot be opened";
    return NULL;
}

static void put_rules(struct emitter *e)
{
    for (size_t i = 0; i < e->p->n_rules; i++) {
        const struct ir_rule *r = &e->p->rules[i];
        if (r->origin == IR_FLOOR || (!comes_from_host(r) && !r->deny))
            continue;
        const char *why = obstacle(r);
        if (why)
            cannot(e, r->span, why);
        else
            add_mount(e, r, r->path, r->path);
    }
}

/* ---- Other names ------------------------------------------------------------------------------------- */

/* The host's link is seen beneath a bound folder, so the name works by itself. */
static bool shows(const struct emitter *e, const char *name)
{
    for (size_t i = 0; i < e->n_mounts; i++)
        if (ir_path_within(name, e->mounts[i].dest))
            return true;
    return false;
}

static const struct ir_rule *nearest(const struct ir_policy *p, const char *path)
{
    const struct ir_rule *found = NULL;
    for (size_t i = 0; i < p->n_rules; i++)
        if (comes_from_host(&p->rules[i]) && ir_path_within(path, p->rules[i].path))
            found = &p->rules[i];
    return found;
}

/* A container has none of the host's links: what the name leads to is bound there too, with all that is
 * granted beneath it. */
static void put_alias(struct emitter *e, const struct ir_alias *alias)
{
    if (shows(e, alias->name))
        return;
    const struct ir_rule *r = nearest(e->p, alias->path);
    if (r)
        add_mount(e, r, alias->path, alias->name);
    for (size_t i = 0; i < e->p->n_rules; i++) {
        const struct ir_rule *inner = &e->p->rules[i];
        if (inner == r || !comes_from_host(inner) || !ir_path_within(inner->path, alias->path))
            continue;
        const char *rest = inner->path + strlen(alias->path);
        add_mount(e, inner, inner->path, arena_printf(e->a, "%s%s", alias->name, rest));
    }
}

static int mount_cmp(const void *a, const void *b)
{
    return ir_path_cmp(((const struct mount *)a)->dest, ((const struct mount *)b)->dest);
}

static void collect_mounts(struct emitter *e)
{
    put_rules(e);
    for (size_t i = 0; i < e->p->n_aliases && !e->failed; i++)
        put_alias(e, &e->p->aliases[i]);
    sort_list(e->mounts, e->n_mounts, sizeof *e->mounts, mount_cmp);
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static void put(struct emitter *e, const char *word)
{
    buf_put(e->out, word, strlen(word) + 1);
}

static void put_pair(struct emitter *e, enum dk_word word, const char *name, const char *value)
{
    put(e, ROWS[word].word);
    buf_str(e->out, name);
    put(e, value);
}

static bool is_passed_or_set(const struct ir_policy *p, const char *name)
{
    for (size_t i = 0; i < p->n_env_set; i++)
        if (!strcmp(p->env_set[i].name, name))
            return true;
    for (size_t i = 0; i < p->n_env_pass; i++)
        if (!strcmp(p->env_pass[i].name, name))
            return strcmp(name, "TMPDIR") != 0; /* always the private one */
    return false;
}

static void put_fixed_variable(struct emitter *e, const char *name, const char *value)
{
    if (!is_passed_or_set(e->p, name))
        put_pair(e, DK_WORD_ENV, arena_printf(e->a, "%s=", name), value);
}

static void put_environment(struct emitter *e, const char *tmpdir)
{
    put_fixed_variable(e, "PATH", DOCKER_PATH);
    put_fixed_variable(e, "HOME", arena_printf(e->a, "%s/home", tmpdir));
    put_fixed_variable(e, "TMPDIR", tmpdir);
    for (size_t i = 0; i < e->p->n_env_set; i++) {
        const struct ir_env_set *s = &e->p->env_set[i];
        if (!quote_is_utf8(s->name, strlen(s->name)) || !quote_is_utf8(s->value, strlen(s->value))) {
            diag_add(e->diags, DIAG_UNQUOTABLE, s->span,
                     "docker cannot set this variable: the engine takes values in UTF-8 only");
            e->failed = true;
            continue;
        }
        put_pair(e, DK_WORD_ENV, arena_printf(e->a, "%s=", s->name), s->value);
    }
}

static bool put_field(struct emitter *e, const char *key, const char *path, const char *end)
{
    struct buf *field = &e->field;
    field->len = 0;
    buf_str(field, key);
    buf_str(field, path);
    buf_str(field, end);
    e->out->failed |= field->failed;
    buf_byte(e->out, ',');
    return field->failed || quote_csv_field(e->out, field->data, field->len);
}

static void put_mount(struct emitter *e, const struct mount *m)
{
    /* A source that must be a folder is written with a final slash, which only a folder can have. */
    bool folder = m->rule->type == IR_TYPE_DIR && !strcmp(m->source, m->rule->path);
    put(e, ROWS[DK_WORD_MOUNT].word);
    buf_str(e->out, "type=bind");
    if (!put_field(e, "src=", m->source, folder ? "/" : "") || !put_field(e, "dst=", m->dest, "")) {
        diag_add(e->diags, DIAG_UNQUOTABLE, m->rule->span,
                 "docker cannot mount this path: it holds CR LF or bytes that are no UTF-8");
        e->failed = true;
    }
    put(e, m->rule->allow & IR_WRITE ? "" : ",readonly");
    if (m->rule->flags & IR_OPTIONAL)
        put_pair(e, DK_WORD_OPTIONAL, DOCKER_OPTIONAL, m->source);
}

static void put_mounts(struct emitter *e)
{
    for (size_t i = 0; i < e->n_mounts; i++)
        put_mount(e, &e->mounts[i]);
}

static bool applies(const struct emitter *e, enum dk_often often)
{
    switch (often) {
    case DK_ONCE:
    case DK_ANY:
        return true;
    case DK_NONE:
        return e->p->network.mode == IR_NETWORK_NONE;
    case DK_OPEN:
        return e->p->network.mode == IR_NETWORK_OPEN;
    }
    return false;
}

static void put_row(struct emitter *e, enum dk_word word, const char *tmpdir)
{
    const struct row *row = &ROWS[word];
    switch (row->operand) {
    case DK_NOTHING:
        put(e, row->word);
        return;
    case DK_FIXED:
        put_pair(e, word, row->text, "");
        return;
    case DK_TMPDIR:
        put_pair(e, word, tmpdir, DOCKER_TMPFS);
        return;
    case DK_HOME:
        put_pair(e, word, arena_printf(e->a, "%s/home", tmpdir), DOCKER_TMPFS);
        return;
    case DK_VARIABLE:
        put_environment(e, tmpdir);
        return;
    case DK_BIND:
        put_mounts(e);
        return;
    case DK_SOURCE: /* stands behind its mount */
        return;
    }
}

static void put_run_label(struct buf *out, const char *string, size_t len)
{
    buf_put(out, "--label", sizeof "--label");
    buf_str(out, RUN_PREFIX_DOCKER);
    buf_put(out, string, len);
    buf_byte(out, '\0');
}

/* ---- The artifact ------------------------------------------------------------------------------------ */

static bool fits(struct emitter *e)
{
    const struct ir_policy *p = e->p;
    if (p->core)
        cannot(e, p->trust_span, "a container is always confined");
    if (!p->image.text) {
        struct diag *d = diag_add(e->diags, DIAG_NO_IMAGE, p->span, "docker needs an image to run in");
        diag_hint(e->diags, d, "write `image \"NAME\"`, or give --image NAME");
        e->failed = true;
    }
    return !e->failed;
}

static bool emit(const struct ir_policy *p, struct arena *a, struct diag_list *diags, struct buf *out)
{
    struct emitter e = {.p = p, .a = a, .diags = diags, .out = out};
    size_t start = out->len;
    if (fits(&e))
        collect_mounts(&e);
    if (e.failed)
        return false;
    if (p->network.mode == IR_NETWORK_OPEN)
        diag_add(
            diags, DIAG_STRICTER, p->network.span,
            "docker: an open network is the engine's bridge, from which the host's loopback is not reached");
    for (int word = 0; word < DK_WORD_COUNT; word++)
        if (applies(&e, ROWS[word].often))
            put_row(&e, (enum dk_word)word, p->tmpdirs[0]);
    buf_done(&e.field);
    size_t digits = runsec_write(p, "docker", true, put_run_label, out);
    if (e.failed)
        return false;
    runsec_seal(out, start, digits);
    return true;
}

/* ---- Text -------------------------------------------------------------------------------------------- */

static bool text(const char *data, size_t len, struct buf *out)
{
    static const char MARK[] = "--label\0" RUN_PREFIX_DOCKER "format=";
    return runsec_words_text(data, len, MARK, sizeof MARK - 1, out);
}

const struct backend be_docker = {
    .name = "docker",
    .suffix = ".docker",
    .summary = "options of docker run and podman run",
    .system = IR_LINUX,
    .binary = true,
    .holds = 1 << IR_NEEDS_KILL_AFTER,
    .emit = emit,
    .text = text,
};
