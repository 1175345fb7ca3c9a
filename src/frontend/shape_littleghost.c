/* LittleGhost: the options of its sandbox, and those of its workspace that give names their paths. The file
 * is the profile `main`; each entry of `profiles` is a scope of it. */
#include "shapes.h"

#include <inttypes.h>
#include <string.h>

struct ghost {
    struct shape_reader *r;
    const struct yaml_node *workspace_root, *paths; /* of `workspace` */
    const struct yaml_node *files, *runtime;        /* of the profile */
};

static const struct yaml_node *marker(const struct yaml_node *root)
{
    const struct yaml_node *runtime = yaml_get(root, "runtime_paths");
    return runtime ? runtime : yaml_get(root, "root_filesystem");
}

/* ---- Named paths -----------------------------------------------------------------------------------------
 */

/* The text of the workspace's root: relative paths begin at --base. */
static const char *root_text(struct ghost *g)
{
    return g->workspace_root ? arena_strn(g->r->arena, g->workspace_root->text, g->workspace_root->size)
                             : "$WORK_DIR";
}

/* A name without a path is a parameter. Once in a profile is enough. */
static const char *parameter(struct ghost *g, const struct yaml_node *at, const char *name)
{
    struct key_builder *b = &g->r->builder;
    const struct key *k = keys_find(key_profile, KEY_YAML, "param", 5);
    const struct key_value v = {.text = name, .len = strlen(name), .span = at->span};
    bool known = false;
    for (size_t i = 0; i < b->profile->n_params; i++)
        known |= !strcmp(b->profile->params[i].name, name);
    if (!known)
        k->pair(b, k, &v, NULL);
    return arena_printf(g->r->arena, "$%s", name);
}

/* What a name stands for; *out_flags are the words behind that path. */
static const char *path_of(struct ghost *g, const struct yaml_node *key, unsigned *out_flags)
{
    struct arena *a = g->r->arena;
    const char *name = arena_strn(a, key->text, key->size);
    *out_flags = 0;
    if (!strcmp(name, "root"))
        return root_text(g);
    const struct yaml_node *path = g->paths ? yaml_get(g->paths, name) : NULL;
    if (!path)
        return parameter(g, key, name);
    if (!yaml_is_text(g->r->diags, path, "a named path", "a path"))
        return NULL;
    const char *text = arena_strn(a, path->text, path->size);
    if (strchr("/~$", text[0]))
        return text;
    *out_flags = DECL_CREATE;
    return arena_printf(a, "%s/%s", root_text(g), text);
}

static void grant(struct ghost *g, const struct yaml_node *key, int access)
{
    unsigned flags;
    const char *path = path_of(g, key, &flags);
    if (path && access >= 0)
        shape_put(g->r, access ? "write" : "read_only", path, key, flags);
}

/* NAME: read_only | read_write */
static void read_access(struct ghost *g, const struct yaml_node *map, const char *what)
{
    if (map->kind != YAML_MAP) {
        yaml_wrong(g->r->diags, map, what, "a map of names, each read_only or read_write");
        return;
    }
    for (const struct yaml_node *e = map->first; e; e = e->next)
        grant(g, e->key, shape_word(g->r, e, what, "read_only|read_write"));
}

/* The access that the whole file gives to a name. */
static int access_of(struct ghost *g, const struct yaml_node *map, const struct yaml_node *name)
{
    const struct yaml_node *e = map ? yaml_get(map, arena_strn(g->r->arena, name->text, name->size)) : NULL;
    return !e ? -1 : yaml_is_word(e, "read_write");
}

/* Of a scope: a map, or a list of names that keep their access. */
static void read_narrowed(struct ghost *g, const struct yaml_node *said, const struct yaml_node *parent,
                          const char *what)
{
    if (!said && parent)
        read_access(g, parent, what);
    if (!said || said->kind == YAML_MAP) {
        if (said)
            read_access(g, said, what);
        return;
    }
    for (const struct yaml_node *n = yaml_first(said); n; n = yaml_after(said, n)) {
        int access = n->kind == YAML_SCALAR ? access_of(g, parent, n) : -1;
        if (access >= 0)
            grant(g, n, access);
        else
            yaml_wrong(g->r->diags, n, what, "names that the file gives an access");
    }
}

/* ---- Other keys
 * -------------------------------------------------------------------------------------------- */

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
    bool entries = allow && (allow->kind != YAML_LIST || allow->first);
    if (!mode || (word == 2) != entries) {
        if (!mode || word >= 0) {
            struct diag *d = diag_add(g->r->diags, DIAG_BAD_VALUE, n->span,
                                      "entries and the mode allowlist stand together");
            diag_hint(g->r->diags, d, "write {mode: allowlist, allow: [HOST:PORT]}");
        }
    } else if (word == 2) {
        shape_put_list(g->r, "network.allow", allow);
    } else if (word >= 0) {
        shape_put(g->r, "network", word ? "open" : "none", mode, 0);
    }
}

static void read_environment(struct ghost *g, const struct yaml_node *n)
{
    const struct yaml_node *inherit = yaml_get(n, "inherit"), *set = yaml_get(n, "set");
    const struct key *env = keys_find(key_profile, KEY_YAML, "env", 3),
                     *pairs = keys_find(env->children, KEY_YAML, "set", 3);
    bool options = inherit || (set && set->kind == YAML_MAP), yes = false;
    if (n->kind != YAML_MAP) {
        yaml_wrong(g->r->diags, n, "environment", "a map of variables, or of inherit and set");
        return;
    }
    if (inherit && !yaml_bool(inherit, &yes))
        yaml_wrong(g->r->diags, inherit, "inherit", "true or false");
    if (yes)
        shape_not_applied(g->r, inherit, "no call asks for the caller's environment here");
    const struct yaml_node *map = options ? set : n;
    for (const struct yaml_node *e = options ? n->first : NULL; e; e = e->next)
        if (e != inherit && e != set) {
            static const char *const names[] = {"inherit", "set"};
            yaml_unknown_key(g->r->diags, e, "environment", names, 2);
        }
    for (const struct yaml_node *e = map && map->kind == YAML_MAP ? map->first : NULL; e; e = e->next) {
        const struct key_value name = {.text = e->key->text, .len = e->key->size, .span = e->key->span};
        if (!yaml_is_text(g->r->diags, e, "a variable", "a text, in quotes where it could be anything else"))
            continue;
        const struct key_value v = {.text = e->text, .len = e->size, .span = e->span, .quoted = e->quoted};
        pairs->pair(&g->r->builder, pairs, &name, &v);
    }
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
                          arena_printf(g->r->arena, "%" PRIu64 "%s", value, LIMITS[i].unit), e, 0);
        }
}

static void read_workspace(struct ghost *g, const struct yaml_node *n)
{
    static const char *const names[] = {"provider", "root", "paths"};
    if (!n || !shape_map(g->r, n, "workspace", names, 3))
        return;
    g->workspace_root = yaml_get(n, "root");
    g->paths = yaml_get(n, "paths");
    if (g->workspace_root && !yaml_is_text(g->r->diags, g->workspace_root, "root", "a path"))
        g->workspace_root = NULL;
    if (g->paths && g->paths->kind != YAML_MAP) {
        yaml_wrong(g->r->diags, g->paths, "paths", "a map of names and their paths");
        g->paths = NULL;
    }
}

/* ---- Scopes
 * ------------------------------------------------------------------------------------------------ */

static void read_capabilities(struct ghost *g, const struct yaml_node *list)
{
    static const char WORDS[] =
        "filesystem_read|filesystem_list|filesystem_write|filesystem_replace|process_execute|process_spawn";
    bool spawn = false;
    for (const struct yaml_node *n = yaml_first(list); n; n = yaml_after(list, n))
        spawn |= shape_word(g->r, n, "capabilities", WORDS) == 5;
    if (!spawn)
        shape_put(g->r, "spawn", "deny", list, 0);
}

static void read_scope(struct ghost *g, const struct yaml_node *n)
{
    static const char *const names[] = {"files", "runtime_paths", "capabilities", "network"};
    struct decl_profile *p = shape_profile(g->r, n);
    p->scope_of = (struct ir_text){"main", n->key->span};
    if (!shape_map(g->r, n, "a profile", names, 4))
        return;
    const struct yaml_node *files = yaml_get(n, "files"), *runtime = yaml_get(n, "runtime_paths"),
                           *network = yaml_get(n, "network");
    if (files || runtime) {
        read_narrowed(g, files, g->files, "files");
        read_narrowed(g, runtime, g->runtime, "runtime_paths");
    }
    if (yaml_get(n, "capabilities"))
        read_capabilities(g, yaml_get(n, "capabilities"));
    bool keep = false;
    if (network && !yaml_bool(network, &keep))
        yaml_wrong(g->r->diags, network, "network", "true or false");
    else if (network && !keep)
        shape_put(g->r, "network", "none", network, 0);
}

/* ---- The whole
 * --------------------------------------------------------------------------------------------- */

static void read_main(struct ghost *g, const struct yaml_node *root, struct decl_profile *first)
{
    const struct yaml_node *whole = yaml_get(root, "root_filesystem"),
                           *environment = yaml_get(root, "environment"),
                           *provider = yaml_get(root, "provider");
    first->name = (struct ir_text){"main", root->span};
    first->env_preset = (struct ir_text){"none", root->span};
    if (g->files)
        read_access(g, g->files, "files");
    else
        shape_put(g->r, "read_only", root_text(g), root, 0);
    if (g->runtime)
        read_access(g, g->runtime, "runtime_paths");
    int word = whole ? shape_word(g->r, whole, "root_filesystem", "isolated|read_only|read_write") : 0;
    if (word > 0)
        shape_put(g->r, word == 1 ? "read" : "write", "/", whole, 0);
    if (yaml_get(root, "network"))
        read_network(g, yaml_get(root, "network"));
    if (environment) {
        read_environment(g, environment);
    } else {
        shape_put(g->r, "env.allow", "LANG", root, 0);
        shape_put(g->r, "env.allow", "LC_ALL", root, 0);
    }
    if (yaml_get(root, "limits"))
        read_limits(g, yaml_get(root, "limits"));
    if (provider && shape_word(g->r, provider, "provider", "native|seatbelt|bubblewrap|unrestricted") >= 0)
        diag_add(g->r->diags, DIAG_TARGET_HINT, provider->span,
                 "targets are chosen on the command line, and no provider unconfines the program");
}

static void read(struct shape_reader *r, struct yaml_node *root, struct decl_profile *first)
{
    static const char *const names[] = {"workspace",     "provider",        "files",
                                        "runtime_paths", "root_filesystem", "network",
                                        "environment",   "limits",          "profiles"};
    struct ghost g = {.r = r, .files = yaml_get(root, "files"), .runtime = yaml_get(root, "runtime_paths")};
    const struct yaml_node *scopes = yaml_get(root, "profiles");
    shape_begin(r, first);
    if (!shape_map(r, root, "this file", names, sizeof names / sizeof *names))
        return;
    read_workspace(&g, yaml_get(root, "workspace"));
    read_main(&g, root, first);
    if (scopes && scopes->kind != YAML_MAP)
        yaml_wrong(r->diags, scopes, "profiles", "a map of names, each with a map of keys");
    for (const struct yaml_node *e = scopes && scopes->kind == YAML_MAP ? scopes->first : NULL; e;
         e = e->next)
        read_scope(&g, e);
}

const struct shape shape_littleghost = {.name = "littleghost", .marker = marker, .read = read};
