#include "robot_env.h"

#include <string.h>

#include "keys.h"

#define PREFIX "ROBOT_LAB_SANDBOX__"

struct reader {
    struct key_builder builder;
    struct decl_profile *profile;
};

static const struct key *row(const char *name)
{
    return keys_find(key_profile, KEY_YAML, name, strlen(name));
}

static void put(struct reader *r, const char *name, const char *text, size_t len, struct span at)
{
    const struct key *k = row(name);
    const struct key_value v = {.text = text, .len = len, .span = at, .quoted = k->type == KEY_PATH};
    keys_put(&r->builder, k, &v);
}

/* Split at commas, blanks around them trimmed. */
static void put_list(struct reader *r, const char *name, const char *text, struct span at)
{
    for (const char *s = text;;) {
        size_t n = strcspn(s, ","), skip = strspn(s, " \t"), len = n > skip ? n - skip : 0;
        while (len && strchr(" \t", s[skip + len - 1]))
            len--;
        struct span span = {at.src, at.start + (uint32_t)(s + skip - text), (uint32_t)len};
        put(r, name, s + skip, len, span);
        if (!s[n])
            return;
        s += n + 1;
    }
}

static void unknown(struct reader *r, const char *name, size_t len, struct span at)
{
    static const char *const names[] = {"ENABLED", "FS_READ", "FS_WRITE", "NETWORK", "TIMEOUT"};
    struct diag *d =
        diag_add(r->builder.diags, DIAG_UNKNOWN_KEY, at, "`%s` is no variable of robot_lab's sandbox",
                 diag_escape(r->builder.arena, name, len));
    const char *near = diag_nearest(name, len, names, 5);
    if (near)
        diag_hint(r->builder.diags, d, "did you mean `%s`?", near);
    else
        diag_hint(r->builder.diags, d, "variables are ENABLED, FS_READ, FS_WRITE, NETWORK and TIMEOUT");
}

/* One line of the text: its name begins at `line`. */
static void read_variable(struct reader *r, const struct source *src, uint32_t line, uint32_t len)
{
    const char *name = src->text + line + strlen(PREFIX), *end = src->text + line + len,
               *equal = memchr(name, '=', (size_t)(end - name));
    size_t n = (size_t)(equal - name);
    const char *value = arena_strn(r->builder.arena, equal + 1, (size_t)(end - equal - 1));
    struct span at = {src, (uint32_t)(equal + 1 - src->text), (uint32_t)strlen(value)};
    static const struct {
        const char *name, *clause;
    } NAMES[] = {
        {"FS_READ", "fs_read"}, {"FS_WRITE", "fs_write"}, {"NETWORK", "network"}, {"TIMEOUT", "timeout"}};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strlen(NAMES[i].name) != n || memcmp(NAMES[i].name, name, n) != 0)
            continue;
        if (i < 2)
            put_list(r, NAMES[i].clause, value, at);
        else
            put(r, NAMES[i].clause, value, strlen(value), at);
        return;
    }
    if (n == 7 && !memcmp(name, "ENABLED", 7)) {
        if (strcmp(value, "true") != 0)
            diag_add(r->builder.diags, DIAG_CEILING_DISABLED, at,
                     "these variables hold although ENABLED is not true");
    } else {
        unknown(r, name, n, (struct span){src, line, len});
    }
}

/* Where only one of the two lists is said, the other kind passes: reading anywhere, writing wherever is read.
 */
static void pass_the_other(struct reader *r)
{
    struct decl_profile *p = r->profile;
    bool reads = false, writes = false;
    for (size_t i = 0; i < p->n_paths; i++) {
        writes |= (p->paths[i].allow & IR_WRITE) != 0;
        reads |= !(p->paths[i].allow & IR_WRITE);
    }
    for (size_t i = 0; reads && !writes && i < p->n_paths; i++)
        p->paths[i].allow |= IR_WRITE;
    if (writes && !reads)
        put(r, "fs_read", "/", 1, p->span);
}

void robot_env_read(char *const *environ, struct arena *a, struct diag_list *diags, struct decl_file *out)
{
    struct buf text = {0};
    for (char *const *e = environ; *e; e++) {
        if (strncmp(*e, PREFIX, strlen(PREFIX)) != 0 || !strchr(*e, '='))
            continue;
        if (strchr(*e, '\n'))
            diag_add(diags, DIAG_BAD_BYTE, (struct span){0}, "a line break stands in %s",
                     diag_escape(a, *e, strcspn(*e, "=")));
        else
            buf_printf(&text, "%s\n", *e);
    }
    const struct source *src =
        source_new(a, "environment", arena_strn(a, text.data ? text.data : "", text.len), text.len);
    buf_done(&text);
    out->src = src;
    struct reader r = {.profile = decl_new_profile(out, a, (struct span){src, 0, 0})};
    keys_begin(&r.builder, a, diags, r.profile);
    r.builder.dialect = KEY_ROBOT_LAB;
    r.builder.said_implied_read = true; /* a ceiling asks for nothing */
    r.profile->only_said = true;
    for (uint32_t line = 0; line < src->len;) {
        uint32_t len = (uint32_t)strcspn(src->text + line, "\n");
        read_variable(&r, src, line, len);
        line += len + 1;
    }
    pass_the_other(&r);
}
