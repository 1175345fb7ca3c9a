#include "shapes.h"

#include <string.h>

#include "../units.h"

const struct shape *const shapes[] = {&shape_clawtool, &shape_littleghost, &shape_rustyclaw};
const size_t n_shapes = sizeof shapes / sizeof *shapes;

const struct shape *shape_find(const char *name)
{
    for (size_t i = 0; i < n_shapes; i++)
        if (!strcmp(shapes[i]->name, name))
            return shapes[i];
    return NULL;
}

/* robot_lab's keys stand in native YAML as well; here they only count as a marker beside another. */
static const struct yaml_node *robot_lab(const struct yaml_node *root)
{
    static const char *const own[] = {"enabled", "fs_read", "fs_write", "network", "timeout"};
    const struct yaml_node *section = yaml_get(root, "sandbox");
    for (size_t i = 0; section && i < sizeof own / sizeof *own; i++)
        if (yaml_get(section, own[i]))
            return yaml_get(section, own[i]);
    const struct yaml_node *top = yaml_get(root, "fs_read");
    return top ? top : yaml_get(root, "fs_write");
}

static const struct yaml_node *native_path(const struct yaml_node *root)
{
    for (const struct yaml_node *e = root->first; e; e = e->next) {
        const struct key *k = keys_find(key_profile, KEY_YAML, e->key->text, e->key->size);
        if (k && k->type == KEY_PATH && k->shape == KEY_LIST && strncmp(k->yaml, "fs_", 3) != 0 &&
            strncmp(k->yaml, "deny_", 5) != 0)
            return e;
    }
    return NULL;
}

const struct shape *shape_marked(struct diag_list *diags, const struct yaml_node *root, bool *out_wrong)
{
    const struct shape *found = NULL;
    const struct yaml_node *mark = NULL, *other = robot_lab(root);
    *out_wrong = false;
    for (size_t i = 0; i < n_shapes; i++) {
        const struct yaml_node *m = shapes[i]->marker(root);
        other = m && mark ? m : other;
        found = m ? shapes[i] : found;
        mark = m && !mark ? m : mark;
    }
    if (mark && !other)
        other = native_path(root);
    if (!mark || !other)
        return found;
    struct diag *d =
        diag_add(diags, DIAG_MISPLACED_KEY, other->key->span, "keys of two shapes stand in one declaration");
    diag_also(diags, d, mark->key->span, "the other is known by this key");
    *out_wrong = true;
    return NULL;
}

/* ---- For the shapes ---------------------------------------------------------------------------------- */

void shape_begin(struct shape_reader *r, struct decl_profile *p)
{
    keys_begin(&r->builder, r->arena, r->diags, p);
}

struct decl_profile *shape_profile(struct shape_reader *r, const struct yaml_node *entry)
{
    struct decl_profile *p = decl_new_profile(r->file, r->arena, entry->key->span);
    const struct key_value name = {
        .text = entry->key->text, .len = entry->key->size, .span = entry->key->span};
    shape_begin(r, p);
    keys_name(&r->builder, &name, &p->name);
    return p;
}

static const struct key *row(const char *name)
{
    const struct key *table = key_profile;
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1)
        table = keys_find(table, KEY_YAML, name, (size_t)(dot - name))->children;
    return keys_find(table, KEY_YAML, name, strlen(name));
}

static void put(struct shape_reader *r, const char *name, const char *text, size_t len, struct span at,
                unsigned path_flags)
{
    const struct key *k = row(name);
    const struct key_value v = {.text = text,
                                .len = len,
                                .span = at,
                                .quoted = k->type == KEY_PATH,
                                .path_flags = path_flags | (k->type == KEY_PATH ? DECL_YAML : 0)};
    keys_put(&r->builder, k, &v);
}

void shape_put(struct shape_reader *r, const char *name, const char *word, const struct yaml_node *at)
{
    put(r, name, word, strlen(word), at->span, 0);
}

void shape_put_path(struct shape_reader *r, const char *name, const char *text, size_t len,
                    const struct yaml_node *at, unsigned path_flags)
{
    put(r, name, text, len, at->span, path_flags);
}

void shape_put_text(struct shape_reader *r, const char *name, const struct yaml_node *n, unsigned path_flags)
{
    if (yaml_is_text(r->diags, n, name, row(name)->expect))
        put(r, name, n->text, n->size, n->span, path_flags);
}

void shape_put_list(struct shape_reader *r, const char *name, const struct yaml_node *list)
{
    for (const struct yaml_node *n = yaml_first(list); n; n = yaml_after(list, n))
        shape_put_text(r, name, n, 0);
}

int shape_word(struct shape_reader *r, const struct yaml_node *n, const char *what, const char *words)
{
    const char *list[24] = {NULL};
    size_t count = 0;
    for (const char *w = words; *w && count < sizeof list / sizeof *list; count++) {
        size_t len = strcspn(w, "|");
        list[count] = arena_strn(r->arena, w, len);
        w += len + (w[len] == '|');
    }
    for (size_t i = 0; i < count; i++)
        if (n->kind == YAML_SCALAR && strlen(list[i]) == n->size && !memcmp(list[i], n->text, n->size))
            return (int)i;
    const char *near = n->kind == YAML_SCALAR ? diag_nearest(n->text, n->size, list, count) : NULL;
    struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, n->span, "%s cannot have this value", what);
    struct buf all = {0};
    for (size_t i = 0; i < count; i++)
        buf_printf(&all, "%s%s", !i ? "" : i + 1 < count ? ", " : " or ", list[i]);
    if (near)
        diag_hint(r->diags, d, "did you mean `%s`?", near);
    else
        diag_hint(r->diags, d, "write %s", all.data ? all.data : "");
    buf_done(&all);
    return -1;
}

bool shape_map(struct shape_reader *r, const struct yaml_node *n, const char *what, const char *const *names,
               size_t n_names)
{
    if (n->kind != YAML_MAP) {
        yaml_wrong(r->diags, n, what, "a map");
        return false;
    }
    for (const struct yaml_node *e = n->first; e; e = e->next) {
        bool known = false;
        for (size_t i = 0; i < n_names && !known; i++)
            known = yaml_key_is(e, names[i]);
        if (!known)
            yaml_unknown_key(r->diags, e, what, names, n_names);
    }
    return true;
}

bool shape_number(struct shape_reader *r, const struct yaml_node *n, const char *what, uint64_t least,
                  uint64_t most, uint64_t *out)
{
    const char *why = n->kind != YAML_SCALAR || n->quoted ? "a number without quotes is expected"
                                                          : units_count(n->text, n->size, least, most, out);
    if (!why)
        return true;
    struct diag *d = diag_add(r->diags, DIAG_BAD_NUMBER, n->span, "%s: %s", what, why);
    diag_hint(r->diags, d, "write a whole number; where none is meant, leave the key out");
    return false;
}

static bool is_own(const struct yaml_node *e, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (yaml_key_is(e, words[i]))
            return true;
    return false;
}

void shape_rest(struct shape_reader *r, const struct yaml_node *root, const char *const *own, size_t n_own)
{
    static const char *const files[] = {"profiles", "scopes", "include", "sbx"};
    const struct yaml_node *first = NULL;
    size_t n = 0;
    for (const struct yaml_node *e = root->first; e; e = e->next) {
        const struct yaml_node *k = e->key;
        if (is_own(e, own, n_own))
            continue;
        if (keys_find(key_profile, KEY_YAML, k->text, k->size) || is_own(e, files, 4)) {
            struct diag *d =
                diag_add(r->diags, DIAG_MISPLACED_KEY, k->span, "`%s` does not stand beside `%s`",
                         diag_escape(r->arena, k->text, k->size), own[0]);
            diag_hint(r->diags, d, "use one spelling in one declaration");
        } else if (diag_nearest(k->text, k->size, own, n_own)) {
            yaml_unknown_key(r->diags, e, "this file", own, n_own);
        } else {
            first = first ? first : e;
            n++;
        }
    }
    if (n)
        shape_not_applied(r, first,
                          n == 1
                              ? "it is the application's own"
                              : arena_printf(r->arena, "it and %zu more are the application's own", n - 1));
}

void shape_not_applied(struct shape_reader *r, const struct yaml_node *entry, const char *why)
{
    diag_add(r->diags, DIAG_NOT_APPLIED, entry->key->span, "`%s` has no part in the policy: %s",
             diag_escape(r->arena, entry->key->text, entry->key->size), why);
}
