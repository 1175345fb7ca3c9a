/* YAML: values of the tree become clauses of the key table. Syntax is yaml_tree.c's. */
#include "yaml.h"

#include <string.h>

#include "keys.h"
#include "shapes.h"
#include "yaml_tree.h"

_Static_assert((int)YAML_MAX_DEPTH == (int)KEYS_MAX_DEPTH, "both syntaxes nest alike");

struct reader {
    struct arena *arena;
    struct diag_list *diags;
    struct key_builder builder;
    struct decl_file *file;
    const struct yaml_node *shape_key, *native_path_key; /* first fs_read or fs_write; first read or write */
};

static struct key_value value_of(const struct yaml_node *n)
{
    return (struct key_value){.text = n->text, .len = n->size, .span = n->span, .quoted = n->quoted};
}

static bool one_of(const struct yaml_node *n, const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (yaml_is_word(n, words[i]))
            return true;
    return false;
}

static const struct key *find(const struct key *table, const struct yaml_node *entry)
{
    return keys_find(table, KEY_YAML, entry->key->text, entry->key->size);
}

/* ---- Values ---------------------------------------------------------------------------------------------
 */

/* One scalar. `alone`: a word of the clause may stand in place of its values. */
static void put(struct reader *r, const struct key *k, const struct yaml_node *n, unsigned path_flags,
                bool alone)
{
    struct key_value v = value_of(n);
    bool word = alone && keys_is_word(k, &v);
    if (keys_is_text(k) && !word && !yaml_is_text(r->diags, n, k->yaml, k->expect))
        return;
    v.quoted |= k->type == KEY_PATH && !word;
    v.path_flags = path_flags | (k->type == KEY_PATH ? DECL_YAML : 0);
    keys_put(&r->builder, k, &v);
}

static const char *const PROPERTIES[] = {"path", "literal", "optional", "create", "snapshot", "stub"};
enum { N_PROPERTIES = sizeof PROPERTIES / sizeof *PROPERTIES };
#define PATH_FORM "a path is a text, or a map of path, literal, optional, create, snapshot and stub"

/* One entry of a path's map beside the path; returns the word's flag if it is true. */
static unsigned read_property(struct reader *r, const struct key *k, const struct yaml_node *e)
{
    unsigned flag = keys_path_word(e->key->text, e->key->size);
    bool create = flag == DECL_CREATE;
    if (!flag || flag == DECL_CREATE_FILE)
        yaml_unknown_key(r->diags, e, "a path", PROPERTIES, N_PROPERTIES);
    else if (create && yaml_is_word(e, "file"))
        return keys_path_word_fits(&r->builder, k, DECL_CREATE_FILE, e->key->span) ? DECL_CREATE_FILE : 0;
    else if (e->kind != YAML_SCALAR || e->quoted || (!yaml_is_word(e, "true") && !yaml_is_word(e, "false")))
        yaml_wrong(r->diags, e, arena_strn(r->arena, e->key->text, e->key->size),
                   create ? "true, false or file" : "true or false");
    else if (yaml_is_word(e, "true") && keys_path_word_fits(&r->builder, k, flag, e->key->span))
        return flag;
    return 0;
}

/* A map without `path`. If what is there was reported, or is a slip of a known word, that is message enough.
 */
static void no_path(struct reader *r, const struct yaml_node *map)
{
    bool slip = false;
    for (const struct yaml_node *e = map->first; e; e = e->next) {
        bool near = diag_nearest(e->key->text, e->key->size, PROPERTIES, N_PROPERTIES) != NULL;
        if (near && !keys_path_word(e->key->text, e->key->size)) {
            yaml_unknown_key(r->diags, e, "a path", PROPERTIES, N_PROPERTIES);
            slip = true;
        }
    }
    if (slip || map->pruned)
        return;
    struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, map->span, "this map has no `path`");
    if (map->first && memchr(map->first->key->text, '/', map->first->key->size))
        diag_hint(r->diags, d, "a text that holds `: ` stands in quotes");
    else
        diag_hint(r->diags, d, PATH_FORM);
}

/* {path: P, literal: true, optional: true} */
static void read_path_map(struct reader *r, const struct key *k, const struct yaml_node *map)
{
    const struct yaml_node *path = yaml_get(map, "path");
    unsigned flags = 0;
    if (!path) {
        no_path(r, map);
        return;
    }
    for (const struct yaml_node *e = map->first; e; e = e->next)
        if (e != path)
            flags |= read_property(r, k, e);
    if (path->kind == YAML_SCALAR)
        put(r, k, path, flags, false);
    else
        yaml_wrong(r->diags, path, "path", "a path");
}

/* A list, or one item without brackets. Only there a word of the clause can stand. */
static void read_list(struct reader *r, const struct key *k, const struct yaml_node *list)
{
    if (k->some && list->kind == YAML_LIST && !list->first && !list->pruned) {
        struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, list->span, "this list of %s is empty", k->yaml);
        diag_hint(r->diags, d, "write %s; or leave it out", k->expect);
    }
    for (const struct yaml_node *n = yaml_first(list); n; n = yaml_after(list, n)) {
        if (n->kind == YAML_SCALAR)
            put(r, k, n, 0, n == list);
        else if (n->kind == YAML_MAP && k->type == KEY_PATH)
            read_path_map(r, k, n);
        else
            yaml_wrong(r->diags, n, k->yaml, k->expect);
    }
}

static void read_pairs(struct reader *r, const struct key *k, const struct yaml_node *map)
{
    if (map->kind != YAML_MAP) {
        yaml_wrong(r->diags, map, k->yaml, k->expect);
        return;
    }
    for (const struct yaml_node *e = map->first; e; e = e->next) {
        struct key_value name = value_of(e->key), value;
        if (k->bare && yaml_is_null(e)) {
            k->pair(&r->builder, k, &name, NULL);
            continue;
        }
        bool number = k->type == KEY_TEXT && yaml_is_number(e); /* a port as a variable's value */
        if (!number && !yaml_is_text(r->diags, e, k->yaml, k->expect))
            continue;
        value = value_of(e);
        k->pair(&r->builder, k, &name, &value);
    }
}

static void read_block(struct reader *r, const struct key *table, const struct yaml_node *map);

static void read_value(struct reader *r, const struct key *k, const struct yaml_node *n)
{
    if (k->shape == KEY_LIST)
        read_list(r, k, n);
    else if (k->shape == KEY_PAIRS)
        read_pairs(r, k, n);
    else if (k->shape == KEY_BLOCK && n->kind == YAML_MAP)
        read_block(r, k->children, n);
    else if (k->shape == KEY_SCALAR && k->type == KEY_PATH && n->kind == YAML_MAP)
        read_path_map(r, k, n);
    else if (n->kind == YAML_SCALAR && k->scalar)
        put(r, k, n, 0, true);
    else
        yaml_wrong(r->diags, n, k->yaml, k->expect);
}

/* Notes which spelling of paths is used. */
static void note_spelling(struct reader *r, const struct key *k, const struct yaml_node *entry)
{
    bool shape = !strncmp(k->yaml, "fs_", 3);
    const struct yaml_node **first = shape ? &r->shape_key : &r->native_path_key;
    if (k->type == KEY_PATH && !*first)
        *first = entry->key;
}

/* A map whose keys are rows of the table. */
static void read_block(struct reader *r, const struct key *table, const struct yaml_node *map)
{
    for (const struct yaml_node *e = map->first; e; e = e->next) {
        const struct key *k = find(table, e);
        struct key_value name = value_of(e->key);
        if (!k)
            keys_unknown(&r->builder, table, KEY_YAML, &name);
        else if (keys_once(&r->builder, k, name.span))
            read_value(r, k, e);
    }
}

/* ---- Whole texts ----------------------------------------------------------------------------------------
 */

static void note_spellings(struct reader *r, const struct yaml_node *map)
{
    for (const struct yaml_node *e = map->first; e; e = e->next) {
        const struct key *k = e->key->kind == YAML_SCALAR ? find(key_profile, e) : NULL;
        if (k)
            note_spelling(r, k, e);
    }
}

static void mixed_shapes(struct reader *r)
{
    if (!r->shape_key || !r->native_path_key)
        return;
    bool native_last = r->native_path_key->span.start > r->shape_key->span.start;
    const struct yaml_node *last = native_last ? r->native_path_key : r->shape_key;
    struct diag *d = diag_add(r->diags, DIAG_MISPLACED_KEY, last->span,
                              "read and write do not stand beside fs_read and fs_write");
    diag_also(r->diags, d, native_last ? r->shape_key->span : r->native_path_key->span,
              "the other spelling is here");
    diag_hint(r->diags, d, "use one spelling in one declaration");
}

/* The clauses of one profile, in a map that was vetted. */
static void read_profile(struct reader *r, struct decl_profile *p, const struct yaml_node *map)
{
    keys_begin(&r->builder, r->arena, r->diags, p);
    r->shape_key = r->native_path_key = NULL;
    note_spellings(r, map);
    mixed_shapes(r);
    bool named = r->file->shape && !strcmp(r->file->shape, SHAPE_ROBOT_LAB);
    if (named && r->native_path_key && !r->shape_key) {
        struct diag *d = diag_add(r->diags, DIAG_MISPLACED_KEY, r->native_path_key->span,
                                  "this is no key of the shape that was named");
        diag_hint(r->diags, d, "its paths stand behind fs_read and fs_write");
    }
    if (named || r->shape_key)
        r->builder.dialect = KEY_ROBOT_LAB;
    read_block(r, key_profile, map);
}

/* ---- Files of several profiles
 * ----------------------------------------------------------------------------- */

static void read_parent(struct reader *r, struct decl_profile *p, struct yaml_node *map)
{
    struct yaml_node *of = yaml_get(map, "of");
    if (!of) {
        struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, map->key->span, "this scope has no parent");
        diag_hint(r->diags, d, "write of: NAME");
    } else if (yaml_is_text(r->diags, of, "of", "the name of a profile")) {
        struct key_value v = value_of(of);
        keys_name(&r->builder, &v, &p->scope_of);
    }
}

/* Without the entry: the key table has no row for it. */
static void take_out(struct yaml_node *map, const struct yaml_node *entry)
{
    struct yaml_node **at = &map->first;
    while (*at && *at != entry)
        at = &(*at)->next;
    if (*at)
        *at = (*at)->next;
}

/* profiles: {NAME: {...}}, scopes: {NAME: {of: PARENT, ...}} */
static void read_profiles(struct reader *r, struct yaml_node *map, bool scopes)
{
    if (map->kind != YAML_MAP) {
        yaml_wrong(r->diags, map, scopes ? "scopes" : "profiles",
                   "a map of names, each with a map of clauses");
        return;
    }
    for (struct yaml_node *e = map->first; e; e = e->next) {
        struct decl_profile *p = decl_new_profile(r->file, r->arena, e->key->span);
        struct key_value name = value_of(e->key);
        keys_begin(&r->builder, r->arena, r->diags, p);
        keys_name(&r->builder, &name, &p->name);
        if (e->kind != YAML_MAP) {
            yaml_wrong(r->diags, e, "a profile", "a map of clauses");
            continue;
        }
        if (scopes) {
            read_parent(r, p, e);
            take_out(e, yaml_get(e, "of"));
        }
        const struct ir_text own = p->name, of = p->scope_of;
        read_profile(r, p, e);
        const struct yaml_node *again = yaml_get(e, "name");
        if (again)
            diag_add(r->diags, DIAG_MISPLACED_KEY, again->key->span, "the name of this profile is its key");
        p->name = own;
        p->scope_of = of;
    }
}

static void read_includes(struct reader *r, const struct yaml_node *list)
{
    struct decl_file *f = r->file;
    for (const struct yaml_node *n = yaml_first(list); n; n = yaml_after(list, n)) {
        if (!yaml_is_text(r->diags, n, "include", "names of files"))
            continue;
        if (!n->size || memchr(n->text, '\0', n->size)) {
            yaml_wrong(r->diags, n, "include", "names of files");
            continue;
        }
        f->includes =
            arena_grow(r->arena, f->includes, &f->cap_includes, f->n_includes + 1, sizeof *f->includes);
        f->includes[f->n_includes++] = (struct ir_text){arena_strn(r->arena, n->text, n->size), n->span};
    }
}

/* Clauses at the top, or profiles and scopes. */
static void read_native(struct reader *r, struct yaml_node *root, struct decl_profile *first)
{
    if (!yaml_vet(r->diags, root))
        return;
    struct yaml_node *include = yaml_get(root, "include"), *profiles = yaml_get(root, "profiles"),
                     *scopes = yaml_get(root, "scopes");
    if (include)
        read_includes(r, include);
    if (include)
        take_out(root, include);
    if (!profiles && !scopes) {
        read_profile(r, first, root);
        return;
    }
    r->file->n_profiles = 0;
    if (profiles)
        read_profiles(r, profiles, false);
    if (scopes)
        read_profiles(r, scopes, true);
    for (const struct yaml_node *e = root->first; e; e = e->next) {
        if (e == profiles || e == scopes)
            continue;
        struct diag *d = diag_add(r->diags, DIAG_MISPLACED_KEY, e->key->span, "a clause beside `%s`",
                                  profiles ? "profiles" : "scopes");
        diag_hint(r->diags, d, "put it into one of the profiles");
    }
}

/* ---- Front matter ---------------------------------------------------------------------------------------
 */

/* Keys that front matter of skills has for sandboxing; all others there belong to someone else. */
static const char *const CAPABILITY[] = {"fs_read", "fs_write", "network", "timeout", "trust"};
static const char *const NATIVE_ONLY[] = {"read", "write",     "read_only",  "write_only", "exec",
                                          "deny", "deny_read", "deny_write", "deny_exec",  "limits",
                                          "env",  "listen",    "system"};
enum {
    N_CAPABILITY = sizeof CAPABILITY / sizeof *CAPABILITY,
    N_NATIVE_ONLY = sizeof NATIVE_ONLY / sizeof *NATIVE_ONLY
};

/* The capability key that a foreign key was probably meant to be: two slips, or one in a short word that
 * begins alike, so that real keys of others (`tools`, `tags`) stay foreign. */
static const char *near_miss(const struct yaml_node *key)
{
    unsigned limit = key->size <= 5 ? 1 : 2;
    for (size_t i = 0; i < N_CAPABILITY; i++) {
        if (key->size <= 5 && key->size && key->text[0] != CAPABILITY[i][0])
            continue;
        if (diag_distance(key->text, key->size, CAPABILITY[i], strlen(CAPABILITY[i]), limit) <= limit)
            return CAPABILITY[i];
    }
    return NULL;
}

static void judge_foreign(struct reader *r, const struct yaml_node *key)
{
    if (one_of(key, NATIVE_ONLY, N_NATIVE_ONLY)) {
        struct diag *d = diag_add(r->diags, DIAG_MISPLACED_KEY, key->span, "`%.*s` belongs beneath `sbx:`",
                                  (int)key->size, key->text);
        diag_hint(r->diags, d, "write sbx: {%.*s: ...}", (int)key->size, key->text);
        return;
    }
    const char *near = near_miss(key);
    if (!near)
        return;
    struct diag *d = diag_add(r->diags, DIAG_FOREIGN_KEY, key->span, "`%s` is no capability",
                              diag_escape(r->arena, key->text, key->size));
    diag_hint(r->diags, d, "did you mean `%s`?", near);
}

static void read_sbx_section(struct reader *r, struct yaml_node *section)
{
    if (!yaml_vet(r->diags, section))
        return;
    if (section->kind != YAML_MAP) {
        diag_add(r->diags, DIAG_BAD_VALUE, section->span, "`sbx:` is a map of clauses");
        return;
    }
    r->builder.dialect = KEY_NATIVE;
    note_spellings(r, section);
    read_block(r, key_profile, section);
}

/* name and description are shown to people, not enforced: any scalar will do, as other readers take them. */
static void read_label(struct reader *r, const struct yaml_node *e)
{
    const struct key *k = find(key_profile, e);
    struct key_value v = value_of(e);
    if (e->kind == YAML_SCALAR && v.len)
        k->scalar(&r->builder, k, &v);
}

static void read_capability(struct reader *r, struct yaml_node *e)
{
    const struct key *k = find(key_profile, e);
    note_spelling(r, k, e);
    r->builder.dialect = KEY_ROBOT_LAB;
    if (keys_once(&r->builder, k, e->key->span) && yaml_vet(r->diags, e))
        read_value(r, k, e);
}

static void read_front_matter(struct reader *r, struct yaml_node *root)
{
    static const char *const labels[] = {"name", "description"};
    if (!yaml_vet_keys(r->diags, root))
        return;
    for (struct yaml_node *e = root->first; e; e = e->next) {
        if (one_of(e->key, CAPABILITY, N_CAPABILITY))
            read_capability(r, e);
        else if (one_of(e->key, labels, 2))
            read_label(r, e);
        else if (yaml_key_is(e, "sbx"))
            read_sbx_section(r, e);
        else
            judge_foreign(r, e->key);
    }
    mixed_shapes(r);
}

/* ---- The section of a configuration ---------------------------------------------------------------------
 */

static void read_section_key(struct reader *r, const struct yaml_node *e, bool *out_enabled)
{
    static const char *const names[] = {"enabled", "fs_read", "fs_write", "network", "timeout"};
    if (!one_of(e->key, names, sizeof names / sizeof *names))
        yaml_unknown_key(r->diags, e, "this section", names, sizeof names / sizeof *names);
    else if (!yaml_key_is(e, "enabled"))
        read_value(r, find(key_profile, e), e);
    else if (!yaml_bool(e, out_enabled))
        yaml_wrong(r->diags, e, "enabled", "true or false");
}

static void second_section(struct reader *r, const struct yaml_node *first, const struct yaml_node *again)
{
    struct diag *d =
        diag_add(r->diags, DIAG_DUPLICATE_KEY, again->key->span, "`sandbox` stands twice in this file");
    diag_also(r->diags, d, first->key->span, "first said here");
}

/* `sandbox:` of an application's configuration, whose other keys are its own. A ceiling is a ceiling whether
 * `enabled` or not. */
static void read_section(struct reader *r, struct yaml_node *section)
{
    bool enabled = false;
    struct span at = section->key->span;
    r->builder.profile->span = at;
    r->builder.dialect = KEY_ROBOT_LAB;
    r->builder.said_implied_read = true; /* a ceiling asks for nothing */
    for (const struct yaml_node *e = section->next; e; e = e->next)
        if (yaml_key_is(e, "sandbox"))
            second_section(r, section, e);
    if (!yaml_vet(r->diags, section))
        return;
    if (section->kind != YAML_MAP) {
        diag_add(r->diags, DIAG_BAD_VALUE, section->span, "`sandbox:` is a map");
        return;
    }
    for (const struct yaml_node *e = section->first; e; e = e->next)
        read_section_key(r, e, &enabled);
    if (!enabled)
        diag_add(r->diags, DIAG_CEILING_DISABLED, at, "this ceiling holds although `enabled` is not true");
}

/* Another system's keys, by marker or by name. False: they are native, or robot_lab's. */
static bool read_shape(struct reader *r, struct yaml_node *root, struct decl_profile *first)
{
    bool wrong = false;
    const char *named = r->file->shape;
    const struct shape *shape = named ? shape_find(named) : shape_marked(r->diags, root, &wrong);
    if (wrong)
        return true;
    if (!shape)
        return false;
    if (named && !shape->marker(root)) {
        struct diag *d =
            diag_add(r->diags, DIAG_BAD_VALUE, root->span, "this is no file of the shape %s", named);
        diag_hint(r->diags, d, "docs/shapes.md has its keys");
        return true;
    }
    struct shape_reader s = {.arena = r->arena, .diags = r->diags, .file = r->file};
    if (yaml_vet(r->diags, root))
        shape->read(&s, root, first);
    return true;
}

static void read_root(struct reader *r, struct yaml_node *root, enum yaml_kind kind,
                      struct decl_profile *first)
{
    if (root->kind != YAML_MAP) {
        struct diag *d = diag_add(r->diags, DIAG_YAML, root->span, "a declaration is a map of clauses");
        diag_hint(r->diags, d, "write `read: [/srv/data]` and the like, or {} to ask for nothing");
        return;
    }
    struct yaml_node *section = kind == YAML_CEILING ? yaml_get(root, "sandbox") : NULL;
    if (kind == YAML_FRONT_MATTER)
        read_front_matter(r, root);
    else if (read_shape(r, root, first))
        return;
    else if (section)
        read_section(r, section);
    else
        read_native(r, root, first);
}

void yaml_read(const struct source *src, uint32_t start, uint32_t len, enum yaml_kind kind, struct arena *a,
               struct diag_list *diags, struct decl_file *file)
{
    struct reader r = {.arena = a, .diags = diags, .file = file};
    struct decl_profile *out = file->profiles[0];
    /* What is kept of the tree is copied: it is larger than all that comes of it. */
    struct arena nodes;
    arena_init(&nodes, a->oom, a->oom_ctx);
    struct yaml_node *root = yaml_parse(src, start, len, &nodes, diags);
    keys_begin(&r.builder, a, diags, out);
    if (root)
        read_root(&r, root, kind, out);
    arena_done(&nodes);
}

static void parse(const struct source *src, enum fe_role role, struct arena *a, struct diag_list *diags,
                  struct decl_file *out)
{
    out->src = src;
    decl_new_profile(out, a, (struct span){src, 0, 0});
    yaml_read(src, 0, src->len, role == FE_CEILING ? YAML_CEILING : YAML_DECLARATION, a, diags, out);
}

const struct frontend fe_yaml = {
    .name = "yaml", .suffixes = ".yml .yaml", .summary = "the same clauses as YAML", .parse = parse};
