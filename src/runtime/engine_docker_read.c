#include <string.h>

#include "engine_docker.h"

enum { PATH_BYTES_MAX = 4095 }; /* PATH_MAX without its NUL */

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

struct reader {
    const char *at, *end;
    const struct rt_policy *p;
    struct docker_words *out;
};

static bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

/* Does `s` begin with `start`? The rest, or NULL. */
static const char *behind(const char *s, const char *start)
{
    size_t n = strlen(start);
    return s && !strncmp(s, start, n) ? s + n : NULL;
}

static const char *peek(const struct reader *r)
{
    return r->at < r->end ? r->at : NULL;
}

static const char *take(struct reader *r)
{
    const char *word = peek(r);
    if (!word)
        return NULL;
    r->at += strlen(word) + 1;
    r->out->words[r->out->n_words++] = word;
    return word;
}

/* ---- Paths ------------------------------------------------------------------------------------------- */

/* Absolute, canonical, without a final slash but for "/". */
static bool is_path(const char *s)
{
    if (*s != '/' || strlen(s) > PATH_BYTES_MAX)
        return false;
    if (!s[1])
        return true;
    while (*s) {
        const char *name = ++s;
        s = strchrnul(s, '/');
        size_t n = (size_t)(s - name);
        if (!n || (n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.'))
            return false;
    }
    return true;
}

/* Path order: a folder, all that is beneath it, its neighbours. */
static bool before(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    unsigned x = *a == '/' ? 1 : *a ? (unsigned char)*a + 1u : 0;
    unsigned y = *b == '/' ? 1 : *b ? (unsigned char)*b + 1u : 0;
    return x < y;
}

/* By whole components. */
static bool within(const char *path, const char *dir)
{
    const char *rest = behind(path, dir);
    return rest && (!*rest || *rest == '/');
}

/* ---- Mounts ------------------------------------------------------------------------------------------ */

static const char *plain_end(const char *s)
{
    return s + strcspn(s, ",\"\n\r");
}

/* Takes `,KEY=PATH` off *s in the one spelling that the emitter has: quoted as a whole if and only if it must
 * be. Returns the path, in out->paths, or NULL. */
static char *take_field(struct reader *r, const char **s, const char *key)
{
    char *start = r->out->paths + r->out->paths_len, *to = start;
    const char *from = *s;
    bool special = false;
    if (*from++ != ',')
        return NULL;
    if (*from != '"') {
        const char *end = plain_end(from);
        memcpy(to, from, (size_t)(end - from));
        to += end - from;
        from = end;
        special = true;
    } else {
        for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
            special |= plain_end(from) == from;
            *to++ = *from;
            from += *from == '"';
        }
        if (*from++ != '"')
            return NULL;
    }
    *to++ = '\0';
    size_t n = strlen(key);
    if (!special || strncmp(start, key, n) || start[n] != '=')
        return NULL;
    r->out->paths_len += (size_t)(to - start);
    *s = from;
    return start + n + 1;
}

/* What an engine has of its own: nothing of the host's is mounted from there, or over it. */
static bool is_grantable(const char *source, const char *dest, const char *tmpdir)
{
    if (is(source, "/") || is(dest, "/") || within(source, "/proc") || within(dest, "/proc"))
        return false;
    return (!within(source, "/dev") || within(source, "/dev/shm")) && !within(dest, tmpdir);
}

static const char *read_bind(struct reader *r, const char *record, struct docker_mount *m)
{
    static const char WRONG[] = "a mount that sbxc does not write";
    const char *s = behind(record, "type=bind");
    char *source = s ? take_field(r, &s, "src") : NULL;
    char *dest = source ? take_field(r, &s, "dst") : NULL;
    if (!dest || (*s && !is(s, ",readonly")))
        return WRONG;
    size_t n = strlen(source);
    *m = (struct docker_mount){.source = source, .dest = dest, .write = !*s};
    if (n > 1 && source[n - 1] == '/') {
        source[n - 1] = '\0';
        m->folder = true;
    }
    if (!is_path(source) || !is_path(dest) || !is_grantable(source, dest, r->p->tmpdirs.items[0]))
        return WRONG;
    if (r->out->n_mounts && !before(m[-1].dest, dest))
        return "mounts are not in order";
    return NULL;
}

/* The mount whose destination is path[0, n), or NULL. */
static const struct docker_mount *mount_at(const struct docker_words *w, const char *path, size_t n)
{
    size_t low = 0, high = w->n_mounts;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *dest = w->mounts[middle].dest;
        if (!strncmp(dest, path, n) && !dest[n])
            return &w->mounts[middle];
        size_t same = 0;
        while (same < n && dest[same] == path[same])
            same++;
        if (same < n && before(dest + same, path + same))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* A mount by another name is a part of one at its own place, with the rights that the part has there. */
static const char *check_names(const struct docker_words *w)
{
    for (size_t i = 0; i < w->n_mounts; i++) {
        const struct docker_mount *m = &w->mounts[i], *own = NULL;
        if (is(m->source, m->dest))
            continue;
        for (size_t n = strlen(m->source); n && !own; n--) {
            if (!m->source[n] || m->source[n] == '/')
                own = mount_at(w, m->source, n);
            if (own && !is(own->source, own->dest))
                own = NULL;
        }
        if (!own || own->write != m->write || own->optional != m->optional)
            return "another name of what is not granted so by its own";
    }
    return NULL;
}

static const char *read_mounts(struct reader *r)
{
    const char *next;
    while ((next = peek(r)) && is(next, ROWS[DK_WORD_MOUNT].word)) {
        struct docker_mount *m = &r->out->mounts[r->out->n_mounts];
        size_t at = r->out->n_words;
        take(r);
        const char *record = take(r);
        const char *wrong = record ? read_bind(r, record, m) : "the last word is missing";
        if (wrong)
            return wrong;
        m->at = at;
        r->out->n_mounts++;
        if (!(next = peek(r)) || !is(next, ROWS[DK_WORD_OPTIONAL].word))
            continue;
        take(r);
        const char *source = behind(take(r), DOCKER_OPTIONAL);
        if (!source || !is(source, m->source))
            return "a label that is not of the mount before it";
        m->optional = true;
    }
    return check_names(r->out);
}

/* ---- Environment ------------------------------------------------------------------------------------- */

static bool is_set(const struct rt_policy *p, const char *name)
{
    for (size_t i = 0; i < p->env_set.n; i++) {
        const char *rest = behind(p->env_set.items[i], name);
        if (rest && *rest == '=')
            return true;
    }
    return false;
}

static bool is_passed(const struct rt_policy *p, const char *name)
{
    for (size_t i = 0; i < p->env_pass.n; i++)
        if (is(p->env_pass.items[i], name))
            return true;
    return false;
}

/* The next words are --env NAME=A and B together as its value. */
static bool take_variable(struct reader *r, const char *name, const char *a, const char *b)
{
    const char *word = take(r),
               *rest = word && is(word, ROWS[DK_WORD_ENV].word) ? behind(take(r), name) : NULL;
    rest = behind(rest, "=");
    rest = behind(rest, a);
    return rest && is(rest, b);
}

static const char *read_environment(struct reader *r)
{
    static const char WRONG[] = "the environment is not that of the run section";
    const struct rt_policy *p = r->p;
    const char *tmpdir = p->tmpdirs.items[0];
    if (!is_passed(p, "PATH") && !is_set(p, "PATH") && !take_variable(r, "PATH", DOCKER_PATH, ""))
        return WRONG;
    if (!is_passed(p, "HOME") && !is_set(p, "HOME") && !take_variable(r, "HOME", tmpdir, "/home"))
        return WRONG;
    if (!is_set(p, "TMPDIR") && !take_variable(r, "TMPDIR", tmpdir, ""))
        return WRONG;
    for (size_t i = 0; i < p->env_set.n; i++) {
        const char *word = take(r), *entry = word ? take(r) : NULL;
        if (!entry || !is(word, ROWS[DK_WORD_ENV].word) || !is(entry, p->env_set.items[i]))
            return WRONG;
    }
    return NULL;
}

/* ---- The whole --------------------------------------------------------------------------------------- */

static const char *read_tmpfs(struct reader *r, const char *below)
{
    const char *rest = behind(take(r), r->p->tmpdirs.items[0]);
    rest = behind(rest, below);
    return rest && is(rest, DOCKER_TMPFS) ? NULL : "a --tmpfs that is not TMPDIR's";
}

static const char *read_row(struct reader *r, const struct row *row)
{
    static const char WRONG[] = "a word that confines is missing or changed";
    const char *word, *operand;
    switch (row->operand) {
    case DK_VARIABLE:
        return read_environment(r);
    case DK_BIND:
        return read_mounts(r);
    case DK_SOURCE: /* read with its mount */
        return NULL;
    case DK_NOTHING:
        word = take(r);
        return word && is(word, row->word) ? NULL : WRONG;
    case DK_FIXED:
        word = take(r);
        operand = take(r);
        return operand && is(word, row->word) && is(operand, row->text) ? NULL : WRONG;
    case DK_TMPDIR:
    case DK_HOME:
        word = take(r);
        if (!word || !is(word, row->word))
            return WRONG;
        return read_tmpfs(r, row->operand == DK_HOME ? "/home" : "");
    }
    return WRONG;
}

static bool applies(const struct rt_policy *p, enum dk_often often)
{
    switch (often) {
    case DK_ONCE:
    case DK_ANY:
        return true;
    case DK_NONE:
        return is(p->network, "none");
    case DK_OPEN:
        return is(p->network, "open");
    }
    return true;
}

const char *docker_read(const char *data, size_t len, const struct rt_policy *policy,
                        struct docker_words *out)
{
    if (!len || data[len - 1] != '\0')
        return "the last word is cut";
    if (!policy->confine)
        return "a container is always confined";
    if (!policy->image || !policy->tmpdirs.n || !is_path(policy->tmpdirs.items[0]))
        return "the run section names no image or no tmpdir";
    struct reader r = {.at = data, .end = data + len, .p = policy, .out = out};
    for (int i = 0; i < DK_WORD_COUNT; i++) {
        const char *wrong = applies(policy, ROWS[i].often) ? read_row(&r, &ROWS[i]) : NULL;
        if (wrong)
            return wrong;
    }
    return r.at == r.end ? NULL : "a word that sbxc does not write";
}

size_t docker_csv_field(char *out, size_t cap, const char *key, const char *path)
{
    bool special = *plain_end(path) != '\0';
    size_t len = strlen(key) + 1 + strlen(path);
    for (const char *s = path; special && *s; s++)
        len += *s == '"';
    len += special ? 2 : 0;
    if (len >= cap)
        return 0;
    char *to = out;
    if (special)
        *to++ = '"';
    to = stpcpy(stpcpy(to, key), "=");
    for (const char *s = path; *s; s++) {
        if (*s == '"')
            *to++ = '"';
        *to++ = *s;
    }
    if (special)
        *to++ = '"';
    *to = '\0';
    return len;
}
