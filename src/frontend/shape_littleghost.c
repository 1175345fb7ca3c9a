/* LittleGhost: the options of its workspace and its sandbox.
 *
 * `files` and `runtime_paths` hold names. `workspace` says which paths they stand for; a name that it has not
 * is a parameter. The file is the profile `main`, and each entry of `profiles` a scope of it: one that says
 * one of the two maps keeps the other, so both are written out in its rules, and what root_filesystem gives.
 */
#include "shapes.h"

#include <inttypes.h>
#include <string.h>

/* A name and what is granted there. */
struct grant {
    const struct yaml_node *name; /* a scalar */
    int access;                   /* 0 read_only, 1 read_write; -1: was reported, nothing is granted */
};

struct grants {
    struct grant *items;
    size_t n, cap;
};

struct ghost {
    struct shape_reader *r;
    const struct yaml_node *root;            /* of workspace, the path of the name `root`, or NULL */
    const struct yaml_node *paths;           /* of workspace, the paths of all other names, or NULL */
    const struct yaml_node *root_filesystem; /* or NULL */
    int root_mode;                           /* isolated, read_only, read_write */
    struct grants files, runtime;
};

static const struct yaml_node *marker(const struct yaml_node *root)
{
    const struct yaml_node *runtime = yaml_get(root, "runtime_paths");
    return runtime ? runtime : yaml_get(root, "root_filesystem");
}

/* ---- Names and their paths --------------------------------------------------------------------------- */

static bool same_text(const struct yaml_node *a, const struct yaml_node *b)
{
    return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

static const struct yaml_node *path_of(const struct ghost *g, const struct yaml_node *name)
{
    for (const struct yaml_node *e = g->paths ? g->paths->first : NULL; e; e = e->next)
        if (same_text(e->key, name))
            return e;
    return NULL;
}

static bool is_absolute(const struct yaml_node *path)
{
    return path->size && memchr("/~$", path->text[0], 3);
}

/* Has it a component `..`? */
static bool climbs(const struct yaml_node *path)
{
    for (size_t i = 0; i + 1 < path->size; i++) {
        bool starts = !i || path->text[i - 1] == '/', ends = i + 2 == path->size || path->text[i + 2] == '/';
        if (starts && ends && !memcmp(path->text + i, "..", 2))
            return true;
    }
    return false;
}

/* A name without a path. It is declared once in each profile. */
static void put_parameter(struct ghost *g, const char *clause, const struct yaml_node *name)
{
    struct key_builder *b = &g->r->builder;
    const struct key *row = keys_find(key_profile, KEY_YAML, "param", 5);
    const struct key_value v = {.text = name->text, .len = name->size, .span = name->span};
    struct decl_profile *p = b->profile;
    bool known = false;
    for (size_t i = 0; i < p->n_params && !known; i++)
        known = strlen(p->params[i].name) == v.len && !memcmp(p->params[i].name, v.text, v.len);
    size_t before = p->n_params;
    if (!known)
        row->pair(b, row, &v, NULL);
    if (!known && p->n_params == before)
        return; /* no name for a parameter: said */
    const char *text = arena_join(g->r->arena, "$", v.text, v.len);
    shape_put_path(g->r, clause, text, v.len + 1, name, 0);
}

static void put_root(struct ghost *g, const char *clause, const struct yaml_node *at)
{
    if (g->root)
        shape_put_path(g->r, clause, g->root->text, g->root->size, g->root, 0);
    else
        shape_put_path(g->r, clause, "$WORK_DIR", 9, at, 0);
}

/* A relative path lies beneath the root, and is made when it is not there. */
static void put_beneath_root(struct ghost *g, const char *clause, const struct yaml_node *path)
{
    const char *root = g->root ? g->root->text : "$WORK_DIR";
    size_t root_len = g->root ? g->root->size : strlen(root);
    char *text = arena_alloc(g->r->arena, root_len + 1 + path->size);
    memcpy(text, root, root_len);
    text[root_len] = '/';
    memcpy(text + root_len + 1, path->text, path->size);
    shape_put_path(g->r, clause, text, root_len + 1 + path->size, path, DECL_CREATE);
}

static void put_grant(struct ghost *g, const struct grant *x)
{
    const char *clause = x->access ? "write" : "read_only";
    const struct yaml_node *path = path_of(g, x->name);
    if (x->access < 0)
        return;
    if (yaml_is_word(x->name, "root"))
        put_root(g, clause, x->name);
    else if (!path)
        put_parameter(g, clause, x->name);
    else if (path->kind == YAML_SCALAR && (is_absolute(path) || !path->size))
        shape_put_path(g->r, clause, path->text, path->size, path, 0);
    else if (path->kind == YAML_SCALAR && !climbs(path)) /* else reported with the workspace */
        put_beneath_root(g, clause, path);
}

/* All paths of the profile in hand. */
static void put_paths(struct ghost *g, const struct grants *files, const struct grants *runtime)
{
    if (g->root_mode > 0)
        shape_put(g->r, g->root_mode == 1 ? "read" : "write", "/", g->root_filesystem);
    for (size_t i = 0; i < files->n; i++)
        put_grant(g, &files->items[i]);
    for (size_t i = 0; i < runtime->n; i++)
        put_grant(g, &runtime->items[i]);
}

/* ---- Maps of names ----------------------------------------------------------------------------------- */

static void add_grant(struct ghost *g, struct grants *l, const struct yaml_node *name, int access)
{
    l->items = arena_grow(g->r->arena, l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = (struct grant){name, access};
}

static const struct grant *find_grant(const struct grants *l, const struct yaml_node *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (same_text(l->items[i].name, name))
            return &l->items[i];
    return NULL;
}

static void not_of_main(struct ghost *g, const struct grants *all, const struct yaml_node *name,
                        const char *what)
{
    struct arena *a = g->r->arena;
    const char **names = arena_array(a, all->n + 1, sizeof *names);
    for (size_t i = 0; i < all->n; i++)
        names[i] = arena_strn(a, all->items[i].name->text, all->items[i].name->size);
    struct diag *d = diag_add(g->r->diags, DIAG_WIDER, name->span, "`%s` is none of the names in %s above",
                              diag_escape(a, name->text, name->size), what);
    const char *near = diag_nearest(name->text, name->size, names, all->n);
    if (near)
        diag_hint(g->r->diags, d, "did you mean `%s`?", near);
    else
        diag_hint(g->r->diags, d, "a profile only takes away: write the name there first");
}

/* NAME: read_only | read_write. `all` are the names that may stand there, or NULL. */
static void read_access(struct ghost *g, const struct yaml_node *map, const char *what,
                        const struct grants *all, struct grants *out)
{
    if (map->kind != YAML_MAP) {
        yaml_wrong(g->r->diags, map, what, "a map of names, each read_only or read_write");
        return;
    }
    for (const struct yaml_node *e = map->first; e; e = e->next) {
        if (all && !find_grant(all, e->key)) {
            not_of_main(g, all, e->key, what);
            continue;
        }
        add_grant(g, out, e->key, shape_word(g->r, e, what, "read_only|read_write"));
    }
}

/* Of a profile: a map as above, or names that keep their access. */
static void read_narrowed(struct ghost *g, const struct yaml_node *n, const char *what,
                          const struct grants *all, struct grants *out)
{
    if (n->kind == YAML_MAP) {
        read_access(g, n, what, all, out);
        return;
    }
    for (const struct yaml_node *i = yaml_first(n); i; i = yaml_after(n, i)) {
        if (!yaml_is_text(g->r->diags, i, what, "names, or a map of names and their access"))
            continue;
        const struct grant *x = find_grant(all, i);
        if (x)
            add_grant(g, out, i, x->access);
        else
            not_of_main(g, all, i, what);
    }
}

/* ---- workspace --------------------------------------------------------------------------------------- */

static void check_path(struct ghost *g, const struct yaml_node *path)
{
    const char *name = diag_escape(g->r->arena, path->key->text, path->key->size);
    if (!yaml_is_text(g->r->diags, path, name, "a path") || is_absolute(path) || !climbs(path))
        return;
    struct diag *d = diag_add(g->r->diags, DIAG_DOT_DOT, path->span,
                              "a relative path of the workspace stays beneath its root");
    diag_hint(g->r->diags, d, "write an absolute path");
}

static void read_workspace(struct ghost *g, const struct yaml_node *n)
{
    static const char *const names[] = {"provider", "root", "paths"};
    if (!n || !shape_map(g->r, n, "workspace", names, 3))
        return;
    const struct yaml_node *root = yaml_get(n, "root"), *paths = yaml_get(n, "paths");
    if (root && yaml_is_text(g->r->diags, root, "root", "a path")) {
        /* Empty it would make absolute paths of relative ones. */
        if (root->size)
            g->root = root;
        else
            diag_add(g->r->diags, DIAG_BAD_PATH, root->span, "the path of the root is empty");
    }
    if (paths && paths->kind != YAML_MAP) {
        yaml_wrong(g->r->diags, paths, "paths", "a map of names and their paths");
        return;
    }
    for (const struct yaml_node *e = paths ? paths->first : NULL; e; e = e->next)
        check_path(g, e);
    g->paths = paths;
}

/* ---- Other keys -------------------------------------------------------------------------------------- */

static void read_network(struct ghost *g, const struct yaml_node *n)
{
    static const char *const names[] = {"mode", "allow"};
    const struct yaml_node *mode = n, *allow = NULL;
    if (n->kind == YAML_MAP) {
        if (!shape_map(g->r, n, "network", names, 2))
            return;
        mode = yaml_get(n, "mode");
        allow = yaml_get(n, "allow");
    }
    int word = mode ? shape_word(g->r, mode, "network",
                                 n->kind == YAML_MAP ? "none|inherit|allowlist" : "none|inherit")
                    : -1;
    bool entries = allow && (allow->kind != YAML_LIST || allow->first || allow->pruned);
    if (!mode || (word == 2) != entries) {
        if ((!mode || word >= 0) && !n->pruned) {
            struct diag *d = diag_add(g->r->diags, DIAG_BAD_VALUE, n->span,
                                      "entries and the mode allowlist stand together");
            diag_hint(g->r->diags, d, "write {mode: allowlist, allow: [HOST:PORT]}");
        }
    } else if (word == 2) {
        shape_put_list(g->r, "network.allow", allow);
    } else if (word >= 0) {
        shape_put(g->r, "network", word ? "open" : "none", mode);
    }
}

static void read_variables(struct ghost *g, const struct yaml_node *map)
{
    const struct key *env = keys_find(key_profile, KEY_YAML, "env", 3);
    const struct key *pairs = keys_find(env->children, KEY_YAML, "set", 3);
    if (map->kind != YAML_MAP) {
        yaml_wrong(g->r->diags, map, "environment", "a map of variables, or of inherit and set");
        return;
    }
    for (const struct yaml_node *e = map->first; e; e = e->next) {
        const struct key_value name = {.text = e->key->text, .len = e->key->size, .span = e->key->span};
        const struct key_value v = {.text = e->text, .len = e->size, .span = e->span, .quoted = e->quoted};
        if (yaml_is_text(g->r->diags, e, diag_escape(g->r->arena, name.text, name.len), "a text"))
            pairs->pair(&g->r->builder, pairs, &name, &v);
    }
}

/* With one of inherit and set the map holds options, else variables. */
static void read_environment(struct ghost *g, const struct yaml_node *n)
{
    static const char *const names[] = {"inherit", "set"};
    const struct yaml_node *inherit = yaml_get(n, "inherit"), *set = yaml_get(n, "set");
    bool yes = false;
    if (!inherit && !set) {
        read_variables(g, n);
        return;
    }
    shape_map(g->r, n, "environment", names, 2);
    if (inherit && !yaml_bool(inherit, &yes))
        yaml_wrong(g->r->diags, inherit, "inherit", "true or false");
    if (yes)
        shape_not_applied(g->r, inherit, "no call asks for the caller's environment here");
    if (set)
        read_variables(g, set);
}

static void put_environment(struct ghost *g, const struct yaml_node *n, const struct yaml_node *root)
{
    g->r->builder.profile->env_preset = (struct ir_text){"none", n ? n->key->span : root->span};
    if (n) {
        read_environment(g, n);
        return;
    }
    shape_put(g->r, "env.allow", "LANG", root);
    shape_put(g->r, "env.allow", "LC_ALL", root);
}

static void read_limits(struct ghost *g, const struct yaml_node *n)
{
    static const struct {
        const char *name, *clause, *unit;
    } LIMITS[] = {{"wall_seconds", "limits.timeout", "s"},
                  {"cleanup_seconds", "limits.kill-after", "s"},
                  {"memory_bytes", "limits.memory", "B"},
                  {"cpu_seconds", "limits.cpu-time", "s"},
                  {"file_bytes", "limits.file-size", "B"},
                  {"output_bytes", "limits.output", "B"},
                  {"read_bytes", NULL, NULL},
                  {"write_bytes", NULL, NULL},
                  {"list_entries", NULL, NULL},
                  {"source_bytes", NULL, NULL},
                  {"programs", NULL, NULL},
                  {"tool_calls", NULL, NULL},
                  {"concurrency", NULL, NULL}};
    enum { N = sizeof LIMITS / sizeof *LIMITS };
    const char *names[N];
    for (size_t i = 0; i < N; i++)
        names[i] = LIMITS[i].name;
    if (!shape_map(g->r, n, "limits", names, N))
        return;
    for (const struct yaml_node *e = n->first; e; e = e->next)
        for (size_t i = 0; i < N; i++) {
            uint64_t value;
            if (!yaml_key_is(e, LIMITS[i].name))
                continue;
            if (!LIMITS[i].clause)
                shape_not_applied(g->r, e, "it is a limit of its tools, not of a program");
            else if (shape_number(g->r, e, LIMITS[i].name, 1, UINT64_C(1) << 50, &value))
                shape_put(g->r, LIMITS[i].clause,
                          arena_printf(g->r->arena, "%" PRIu64 "%s", value, LIMITS[i].unit), e);
        }
}

/* ---- Scopes ------------------------------------------------------------------------------------------ */

/* What its tools may do in the application's process changes nothing; starting other programs does. */
static void read_capabilities(struct ghost *g, const struct yaml_node *list)
{
    static const char WORDS[] =
        "filesystem_read|filesystem_list|filesystem_write|filesystem_replace|process_execute|process_spawn";
    bool spawn = false;
    for (const struct yaml_node *n = yaml_first(list); n; n = yaml_after(list, n))
        spawn |= shape_word(g->r, n, "capabilities", WORDS) == 5;
    if (!spawn)
        shape_put(g->r, "spawn", "deny", list);
}

/* true keeps the network of main. */
static void read_scope_network(struct ghost *g, const struct yaml_node *n)
{
    bool keep = false;
    if (n->kind == YAML_MAP || yaml_is_word(n, "none") || yaml_is_word(n, "inherit"))
        read_network(g, n);
    else if (!yaml_bool(n, &keep))
        yaml_wrong(g->r->diags, n, "network", "true, false, none, inherit, or {mode, allow}");
    else if (!keep)
        shape_put(g->r, "network", "none", n);
}

static void read_scope(struct ghost *g, const struct yaml_node *n)
{
    static const char *const names[] = {"files", "runtime_paths", "capabilities", "network"};
    struct decl_profile *p = shape_profile(g->r, n);
    p->scope_of = (struct ir_text){"main", n->key->span};
    if (!shape_map(g->r, n, "a profile", names, 4))
        return;
    const struct yaml_node *files = yaml_get(n, "files"), *runtime = yaml_get(n, "runtime_paths");
    const struct yaml_node *capabilities = yaml_get(n, "capabilities"), *network = yaml_get(n, "network");
    struct grants own_files = {0}, own_runtime = {0};
    if (files)
        read_narrowed(g, files, "files", &g->files, &own_files);
    if (runtime)
        read_narrowed(g, runtime, "runtime_paths", &g->runtime, &own_runtime);
    if (files || runtime)
        put_paths(g, files ? &own_files : &g->files, runtime ? &own_runtime : &g->runtime);
    if (capabilities)
        read_capabilities(g, capabilities);
    if (network)
        read_scope_network(g, network);
}

static void read_scopes(struct ghost *g, const struct yaml_node *n)
{
    if (n->kind != YAML_MAP) {
        yaml_wrong(g->r->diags, n, "profiles", "a map of names, each with a map of keys");
        return;
    }
    for (const struct yaml_node *e = n->first; e; e = e->next)
        read_scope(g, e);
}

/* ---- The whole --------------------------------------------------------------------------------------- */

static void read_main_paths(struct ghost *g, struct yaml_node *root)
{
    const struct yaml_node *files = yaml_get(root, "files"), *runtime = yaml_get(root, "runtime_paths");
    g->root_filesystem = yaml_get(root, "root_filesystem");
    read_workspace(g, yaml_get(root, "workspace"));
    if (g->root_filesystem)
        g->root_mode =
            shape_word(g->r, g->root_filesystem, "root_filesystem", "isolated|read_only|read_write");
    if (files) {
        read_access(g, files, "files", NULL, &g->files);
    } else {
        struct yaml_node *name = ARENA_NEW(g->r->arena, struct yaml_node);
        *name = (struct yaml_node){.kind = YAML_SCALAR, .size = 4, .text = "root", .span = root->span};
        add_grant(g, &g->files, name, 0);
    }
    if (runtime)
        read_access(g, runtime, "runtime_paths", NULL, &g->runtime);
    put_paths(g, &g->files, &g->runtime);
}

static void read_main(struct ghost *g, struct yaml_node *root)
{
    const struct yaml_node *network = yaml_get(root, "network"), *limits = yaml_get(root, "limits"),
                           *provider = yaml_get(root, "provider");
    read_main_paths(g, root);
    put_environment(g, yaml_get(root, "environment"), root);
    if (network)
        read_network(g, network);
    if (limits)
        read_limits(g, limits);
    if (provider && shape_word(g->r, provider, "provider", "native|seatbelt|bubblewrap|unrestricted") >= 0)
        diag_add(g->r->diags, DIAG_TARGET_HINT, provider->span,
                 "targets are chosen on the command line, and no provider unconfines the program");
}

static void read(struct shape_reader *r, struct yaml_node *root, struct decl_profile *first)
{
    static const char *const names[] = {"workspace",     "provider",        "files",
                                        "runtime_paths", "root_filesystem", "network",
                                        "environment",   "limits",          "profiles"};
    struct ghost g = {.r = r};
    shape_begin(r, first);
    first->name = (struct ir_text){"main", root->span};
    if (!shape_map(r, root, "this file", names, sizeof names / sizeof *names))
        return;
    read_main(&g, root);
    if (yaml_get(root, "profiles"))
        read_scopes(&g, yaml_get(root, "profiles"));
}

const struct shape shape_littleghost = {.name = "littleghost", .marker = marker, .read = read};
