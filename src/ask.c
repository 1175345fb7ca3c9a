#include "ask.h"

#include <stdlib.h>
#include <string.h>

#include "network.h"
#include "pattern.h"

/* ---- Paths ----------------------------------------------------------------------------------------------
 */

const char *ask_shown(const struct ask_context *c, uint8_t root, const char *path)
{
    return resolve_shown(c->resolver->env, c->arena, root, path);
}

static const char *kinds(unsigned set)
{
    return set & IR_READ ? "reading" : set & IR_WRITE ? "writing" : "executing";
}

/* Two clauses on one path: what they say of each kind must agree. */
static void unite(struct ask_context *c, struct ir_rule *into, const struct ir_rule *from)
{
    unsigned clash = (into->allow & from->deny) | (into->deny & from->allow);
    if (clash) {
        bool later = into->span.src == from->span.src && from->span.start > into->span.start;
        struct diag *d = diag_add(c->diags, DIAG_CLASH, later ? from->span : into->span,
                                  "%s of %s is both allowed and denied", kinds(clash),
                                  ask_shown(c, into->root, into->path));
        diag_also(c->diags, d, later ? into->span : from->span, "the other clause is here");
    }
    /* What is taken away is what messages are about. */
    if (from->deny & ~(unsigned)into->deny)
        into->span = from->span;
    into->allow |= from->allow;
    into->deny = (uint8_t)((into->deny | from->deny) & ~(unsigned)into->allow);
    uint8_t both = (uint8_t)(into->flags & from->flags & IR_OPTIONAL);
    into->flags = (uint8_t)(((into->flags | from->flags) & ~(unsigned)IR_OPTIONAL) | both);
    if (into->type == IR_TYPE_NONE || into->type == IR_TYPE_ANY)
        into->type = from->type;
}

static void merge(struct ask_context *c, struct rule_list *l)
{
    size_t w = 0;
    rules_sort(l);
    for (size_t i = 1; i < l->n; i++) {
        rules_look_ahead(l, i);
        if (rules_order(&l->items[w], &l->items[i]) == 0)
            unite(c, &l->items[w], &l->items[i]);
        else
            l->items[++w] = l->items[i];
    }
    l->n = l->n ? w + 1 : 0;
}

static void add_pattern(struct ask_context *c, struct ask *k, const struct ir_rule *r)
{
    struct pattern_list *l = &k->patterns;
    /* A pattern of both signs (`read only`) is two. */
    const uint8_t sets[2][2] = {{r->allow, 0}, {0, r->deny}};
    for (size_t i = 0; i < 2; i++) {
        if (!sets[i][0] && !sets[i][1])
            continue;
        l->items = arena_grow(c->arena, l->items, &l->cap, l->n + 1, sizeof *l->items);
        l->items[l->n++] = (struct ir_pattern){.glob = r->path,
                                               .glob_len = r->path_len,
                                               .allow = sets[i][0],
                                               .deny = sets[i][1],
                                               .root = r->root,
                                               .span = r->span};
    }
}

static void add_path(struct ask_context *c, struct ask *k, const struct decl_path *p)
{
    struct ir_rule rule;
    bool pattern = false;
    enum resolve_want want = p->allow ? c->want : WANT_NAME;
    if (resolve_path(c->resolver, p, want, &rule, &pattern) != RESOLVED)
        return;
    rule.allow = p->allow;
    rule.deny = p->deny;
    rule.origin = IR_DECLARED;
    if (p->deny & IR_EXEC && !(p->deny & IR_READ))
        rule.flags |= IR_NO_EXEC;
    if (!pattern)
        rules_add(&k->rules, c->arena, rule);
    else if (p->flags & DECL_SNAPSHOT)
        resolve_snapshot(c->resolver, p, &rule, &k->rules);
    else
        add_pattern(c, k, &rule);
}

static bool lists_programs(const struct decl_profile *p)
{
    for (size_t i = 0; i < p->n_paths; i++)
        if (p->paths[i].allow & IR_EXEC)
            return true;
    return false;
}

static void decide_exec(struct ask_context *c, struct ask *k)
{
    const struct decl_profile *p = k->decl;
    bool list = lists_programs(p);
    k->exec_default = p->exec == DECL_EXEC_DEFAULT || (p->exec == DECL_EXEC_UNSAID && !list);
    k->exec_span = p->exec_span;
    for (size_t i = 0; list && i < p->n_paths; i++) {
        if (!(p->paths[i].allow & IR_EXEC))
            continue;
        if (p->exec == DECL_EXEC_DEFAULT) {
            struct diag *d =
                diag_add(c->diags, DIAG_CLASH, p->paths[i].span, "a program is listed beside `exec default`");
            diag_also(c->diags, d, p->exec_span, "it is here");
        }
        if (!k->exec_span.src)
            k->exec_span = p->paths[i].span;
        return;
    }
}

/* ---- Patterns --------------------------------------------------------------------------------------------
 */

static int by_glob(const void *x, const void *y)
{
    const struct ir_pattern *a = x, *b = y;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    int order = strcmp(a->glob, b->glob);
    if (order)
        return order;
    /* Denies last: an allow of the same pattern is a clash, found by its neighbour. */
    return !a->allow - !b->allow           ? !a->allow - !b->allow
           : a->span.start < b->span.start ? -1
                                           : a->span.start > b->span.start;
}

void ask_sort_patterns(struct pattern_list *l)
{
    size_t w = 0;
    if (l->n < 2)
        return;
    qsort(l->items, l->n, sizeof *l->items, by_glob);
    for (size_t i = 1; i < l->n; i++) {
        struct ir_pattern *a = &l->items[w], *b = &l->items[i];
        if (a->root == b->root && !strcmp(a->glob, b->glob) && !a->allow == !b->allow) {
            a->allow |= b->allow;
            a->deny |= b->deny;
        } else {
            l->items[++w] = *b;
        }
    }
    l->n = w + 1;
}

static void pattern_clash(struct ask_context *c, const struct ir_pattern *deny, struct span at,
                          const char *path)
{
    struct diag *d =
        diag_add(c->diags, DIAG_CLASH, at, "%s may be allowed here and denied by a pattern, which is final",
                 ask_shown(c, deny->root, path));
    diag_also(c->diags, d, deny->span, "the pattern is here");
}

/* Each pattern is held against paths and other patterns, so there may not be any number of them. */
enum { MAX_PATTERNS = 1000 };
/* Bytes of one pattern times bytes of the other, of all pairs that begin alike: about a second. */
static const uint64_t MAX_PATTERN_WORK = 500 * 1000 * 1000;

static void bound_patterns(struct ask_context *c, struct ask *k)
{
    if (k->patterns.n <= MAX_PATTERNS)
        return;
    diag_add(c->diags, DIAG_TOO_LARGE, k->patterns.items[MAX_PATTERNS].span,
             "more than %d patterns in one profile", MAX_PATTERNS);
    k->patterns.n = MAX_PATTERNS;
}

/* Rules at and beneath the folder that holds whatever the pattern matches. */
static struct rule_list rules_near(struct ask_context *c, const struct ask *k, const struct ir_pattern *x)
{
    const char *folder = arena_strn(c->arena, x->glob, pattern_prefix(x->glob));
    return rules_within(&k->rules, x->root, folder);
}

static bool begin_alike(const struct ir_pattern *a, const struct ir_pattern *b)
{
    size_t n = pattern_prefix(a->glob), m = pattern_prefix(b->glob);
    return a->root == b->root && !memcmp(a->glob, b->glob, n < m ? n : m);
}

/* False when looking at all pairs would take too long. */
static bool check_pairs(struct ask_context *c, const struct ask *k, const struct ir_pattern *deny,
                        uint64_t *work)
{
    for (size_t j = 0; j < k->patterns.n; j++) {
        const struct ir_pattern *allow = &k->patterns.items[j];
        bool one = allow->span.src == deny->span.src && allow->span.start == deny->span.start; /* read only */
        if (one || !(allow->allow & deny->deny) || !begin_alike(allow, deny))
            continue;
        *work += (uint64_t)allow->glob_len * deny->glob_len;
        if (*work > MAX_PATTERN_WORK)
            return false;
        if (pattern_meets(deny->glob, allow->glob))
            pattern_clash(c, deny, allow->span, allow->glob);
    }
    return true;
}

/* A deny pattern is final: an allow at or beneath what it can match could only be a slip. */
void ask_check_patterns(struct ask_context *c, const struct ask *k)
{
    uint64_t work = 0;
    for (size_t i = 0; i < k->patterns.n; i++) {
        const struct ir_pattern *deny = &k->patterns.items[i];
        if (!deny->deny)
            continue;
        const struct rule_list near = rules_near(c, k, deny);
        for (size_t j = 0; j < near.n; j++) {
            const struct ir_rule *r = &near.items[j];
            if (r->allow & deny->deny && pattern_covers(deny->glob, r->path))
                pattern_clash(c, deny, r->span, r->path);
        }
        if (!check_pairs(c, k, deny, &work)) {
            diag_add(c->diags, DIAG_TOO_LARGE, deny->span,
                     "the patterns of this profile are too long and too many");
            return;
        }
    }
}

/* ---- Network, environment, the rest ----------------------------------------------------------------------
 */

static int by_port(const void *x, const void *y)
{
    const struct ir_port *a = x, *b = y;
    return a->port != b->port              ? (a->port < b->port ? -1 : 1)
           : a->span.start < b->span.start ? -1
                                           : a->span.start > b->span.start;
}

static int by_socket(const void *x, const void *y)
{
    const struct ir_socket *a = x, *b = y;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    int order = strcmp(a->path, b->path);
    return order ? order : a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

void ask_sort_network(struct ir_network *n)
{
    size_t w = 0;
    n->n_endpoints = network_normalise(n->endpoints, n->n_endpoints);
    if (n->n_listen)
        qsort(n->listen, n->n_listen, sizeof *n->listen, by_port);
    for (size_t i = 0; i < n->n_listen; i++)
        if (!w || n->listen[w - 1].port != n->listen[i].port)
            n->listen[w++] = n->listen[i];
    n->n_listen = w;
    w = 0;
    if (n->n_sockets)
        qsort(n->sockets, n->n_sockets, sizeof *n->sockets, by_socket);
    for (size_t i = 0; i < n->n_sockets; i++)
        if (!w || n->sockets[w - 1].root != n->sockets[i].root ||
            strcmp(n->sockets[w - 1].path, n->sockets[i].path) != 0)
            n->sockets[w++] = n->sockets[i];
    n->n_sockets = w;
}

/* Each entry is held against each of a ceiling. */
enum { MAX_ENTRIES = 4096 };

static void own_network(struct ask_context *c, struct ask *k)
{
    const struct decl_profile *p = k->decl;
    struct ir_network *n = &k->network;
    if (p->n_endpoints > MAX_ENTRIES) {
        diag_add(c->diags, DIAG_TOO_LARGE, p->endpoints[MAX_ENTRIES].span,
                 "more than %d entries of the network in one profile", MAX_ENTRIES);
        return;
    }
    n->mode = (uint8_t)(p->network_said ? p->network : p->n_endpoints ? IR_NETWORK_ALLOW : IR_NETWORK_NONE);
    n->span = p->network_said ? p->network_span : p->n_endpoints ? p->endpoints[0].span : (struct span){0};
    if (p->network_said && p->n_endpoints) {
        struct diag *d = diag_add(c->diags, DIAG_CLASH, p->endpoints[0].span,
                                  "entries beside another word for the network");
        diag_also(c->diags, d, p->network_span, "it is here");
        diag_hint(c->diags, d, "write either `network allow` with entries, or the word");
    }
    n->endpoints = arena_array(c->arena, p->n_endpoints, sizeof *n->endpoints);
    for (size_t i = 0; i < p->n_endpoints; i++)
        n->endpoints[n->n_endpoints++] = p->endpoints[i];
    n->listen = arena_array(c->arena, p->n_listen, sizeof *n->listen);
    for (size_t i = 0; i < p->n_listen; i++)
        n->listen[n->n_listen++] = p->listen[i];
    n->sockets = arena_array(c->arena, p->n_sockets, sizeof *n->sockets);
    bool quiet = c->resolver->quiet;
    c->resolver->quiet = true; /* that it is a socket is what was said */
    for (size_t i = 0; i < p->n_sockets; i++) {
        struct ir_rule r;
        bool pattern = false;
        if (resolve_path(c->resolver, &p->sockets[i], c->want, &r, &pattern) != RESOLVED)
            continue;
        if (pattern)
            diag_add(c->diags, DIAG_PATTERN, p->sockets[i].span,
                     "a socket is named whole, without a pattern");
        else if (strchr(r.path, '$') || pattern_is(r.path, strlen(r.path)))
            diag_add(c->diags, DIAG_PATTERN, p->sockets[i].span, /* `literal` does not go before a socket */
                     "this socket is %s, and no socket is named with a `$` or a pattern character",
                     diag_escape(c->arena, r.path, strlen(r.path)));
        else
            n->sockets[n->n_sockets++] = (struct ir_socket){r.path, r.root, r.flags & IR_OPTIONAL, r.span};
    }
    c->resolver->quiet = quiet;
    ask_sort_network(n);
}

static void own_env(struct ask_context *c, struct ask *k)
{
    const struct decl_profile *p = k->decl;
    bool standard = !p->env_preset.text || !strcmp(p->env_preset.text, "standard");
    k->env_preset = p->env_preset;
    for (size_t i = 0; standard && c->env_standard && i < c->env_standard->n_env_allow; i++)
        env_names_add(&k->env_allow, c->arena, c->env_standard->env_allow[i].name, (struct span){0});
    for (size_t i = 0; i < p->n_env_allow; i++)
        env_names_add(&k->env_allow, c->arena, p->env_allow[i].name, p->env_allow[i].span);
    for (size_t i = 0; i < p->n_env_deny; i++)
        env_names_add(&k->env_deny, c->arena, p->env_deny[i].name, p->env_deny[i].span);
    env_names_normalise(&k->env_allow, c->arena);
    env_names_normalise_deny(&k->env_deny, c->arena);
}

static int by_set_name(const void *x, const void *y)
{
    const struct ir_env_set *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    return order ? order : a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

static void own_env_set(struct ask_context *c, struct ask *k)
{
    const struct decl_profile *p = k->decl;
    k->n_env_set = p->n_env_set;
    k->env_set = arena_array(c->arena, p->n_env_set, sizeof *k->env_set);
    if (!p->n_env_set)
        return;
    memcpy(k->env_set, p->env_set, p->n_env_set * sizeof *k->env_set);
    qsort(k->env_set, k->n_env_set, sizeof *k->env_set, by_set_name);
    for (size_t i = 1; i < k->n_env_set; i++) {
        if (strcmp(k->env_set[i - 1].name, k->env_set[i].name) != 0)
            continue;
        struct diag *d = diag_add(c->diags, DIAG_DUPLICATE_KEY, k->env_set[i].span, "%s is set twice",
                                  diag_escape(c->arena, k->env_set[i].name, strlen(k->env_set[i].name)));
        diag_also(c->diags, d, k->env_set[i - 1].span, "first set here");
    }
}

static int by_fd(const void *x, const void *y)
{
    const struct ir_fd *a = x, *b = y;
    return a->fd != b->fd                  ? (a->fd < b->fd ? -1 : 1)
           : a->span.start < b->span.start ? -1
                                           : a->span.start > b->span.start;
}

void ask_sort_fds(struct ask *k)
{
    size_t w = 0;
    if (k->n_fds)
        qsort(k->fds, k->n_fds, sizeof *k->fds, by_fd);
    for (size_t i = 0; i < k->n_fds; i++)
        if (!w || k->fds[w - 1].fd != k->fds[i].fd)
            k->fds[w++] = k->fds[i];
    k->n_fds = w;
}

static void own_workdir(struct ask_context *c, struct ask *k)
{
    struct ir_rule r;
    bool pattern = false;
    if (!k->decl->workdir.text ||
        resolve_path(c->resolver, &k->decl->workdir, c->want, &r, &pattern) != RESOLVED)
        return;
    if (pattern)
        diag_add(c->diags, DIAG_PATTERN, r.span, "the working folder is named whole, without a pattern");
    else if (r.type == IR_TYPE_FILE)
        diag_add(c->diags, DIAG_BAD_PATH, r.span, "the working folder is no folder");
    else
        k->workdir = (struct ir_workdir){
            .path = r.path, .root = r.root, .create = r.flags & IR_CREATE, .span = r.span};
}

static void own_rest(struct ask_context *c, struct ask *k)
{
    const struct decl_profile *p = k->decl;
    memcpy(k->limits, p->limits, sizeof k->limits);
    k->preset = p->preset;
    k->image = p->image;
    k->user = p->user;
    k->spawn_span = p->spawn_span;
    k->tty = p->tty;
    k->tty_span = p->tty_span;
    k->trust = p->trust;
    k->trust_span = p->trust_span;
    k->skill_dir = p->skill_dir != DECL_SKILL_DIR_UNSAID ? p->skill_dir
                   : p->skill_dir_default                ? DECL_SKILL_DIR_READ
                                                         : DECL_SKILL_DIR_NONE;
    k->skill_dir_said = p->skill_dir != DECL_SKILL_DIR_UNSAID;
    k->skill_dir_span = p->skill_dir_span.src ? p->skill_dir_span : p->span;
    struct ir_rule folder;
    bool pattern = false;
    if (k->skill_dir == DECL_SKILL_DIR_PATH &&
        resolve_path(c->resolver, &p->skill_dir_path, WANT_PATH, &folder, &pattern) == RESOLVED) {
        k->skill_dir_path = folder.path;
        if (pattern || folder.root != IR_ROOT_SLASH || folder.type == IR_TYPE_FILE)
            diag_add(c->diags, DIAG_BAD_PATH, folder.span,
                     "the declaration's folder is one folder that is known now");
    }
    k->fds = arena_array(c->arena, p->n_fds, sizeof *k->fds);
    for (size_t i = 0; i < p->n_fds; i++)
        k->fds[k->n_fds++] = (struct ir_fd){p->fds[i].fd, p->fds[i].span};
    ask_sort_fds(k);
}

struct ask *ask_own(struct ask_context *c, const struct decl_profile *p)
{
    struct ask *k = ARENA_NEW(c->arena, struct ask);
    k->decl = p;
    c->resolver->params = p->params;
    c->resolver->n_params = p->n_params;
    decide_exec(c, k);
    rules_reserve(&k->rules, c->arena, p->n_paths);
    for (size_t i = 0; i < p->n_paths; i++)
        add_path(c, k, &p->paths[i]);
    merge(c, &k->rules);
    if (k->exec_default) {
        rules_exec_default(&k->rules);
        for (size_t i = 0; i < k->patterns.n; i++)
            if (k->patterns.items[i].allow & IR_READ)
                k->patterns.items[i].allow |= IR_EXEC;
    }
    ask_sort_patterns(&k->patterns);
    own_network(c, k);
    own_env(c, k);
    own_env_set(c, k);
    own_workdir(c, k);
    own_rest(c, k);
    return k;
}

/* ---- Profiles by name ------------------------------------------------------------------------------------
 */

/* Of one profile: nothing yet, in the making (to be met again is a circle), or made. */
struct ask_made {
    const struct ask *ask;
    bool begun;
};

/* Deeper than anybody nests by hand; the stack stays small. */
enum { MAX_NESTING = 64 };

static int by_name(const void *x, const void *y)
{
    const struct ir_text *a = &(*(const struct decl_profile *const *)x)->name;
    const struct ir_text *b = &(*(const struct decl_profile *const *)y)->name;
    return strcmp(a->text ? a->text : "", b->text ? b->text : "");
}

void ask_begin(struct ask_context *c, struct arena *a, struct diag_list *diags, struct resolver *r)
{
    *c = (struct ask_context){.arena = a, .diags = diags, .resolver = r};
}

void ask_profiles(struct ask_context *c, struct decl_profile *const *profiles, size_t n)
{
    const struct decl_profile **sorted = arena_array(c->arena, n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = profiles[i];
    if (n > 1)
        qsort(sorted, n, sizeof *sorted, by_name);
    c->profiles = sorted;
    c->n_profiles = n;
    c->made = arena_array(c->arena, n + 1, sizeof *c->made);
    memset(c->made, 0, (n + 1) * sizeof *c->made);
}

static size_t find(const struct ask_context *c, const char *name)
{
    size_t lo = 0, hi = c->n_profiles;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const char *text = c->profiles[mid]->name.text;
        int order = strcmp(text ? text : "", name);
        if (!order)
            return mid;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return SIZE_MAX;
}

static void unknown(struct ask_context *c, const struct ir_text *name)
{
    const char **names = arena_array(c->arena, c->n_profiles + 1, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < c->n_profiles; i++)
        if (c->profiles[i]->name.text)
            names[n++] = c->profiles[i]->name.text;
    struct diag *d = diag_add(c->diags, DIAG_UNKNOWN_PROFILE, name->span, "there is no profile `%s`",
                              diag_escape(c->arena, name->text, strlen(name->text)));
    const char *near = diag_nearest(name->text, strlen(name->text), names, n);
    if (near)
        diag_hint(c->diags, d, "did you mean `%s`?", diag_escape(c->arena, near, strlen(near)));
}

static const struct ask *make(struct ask_context *c, const struct decl_profile *p, size_t depth);

static const struct ask *named(struct ask_context *c, const struct ir_text *name, size_t depth)
{
    size_t i = find(c, name->text);
    if (i == SIZE_MAX) {
        unknown(c, name);
        return NULL;
    }
    if (c->made[i].ask)
        return c->made[i].ask;
    if (c->made[i].begun || depth == MAX_NESTING) {
        struct diag *d =
            diag_add(c->diags, DIAG_CYCLE, name->span,
                     c->made[i].begun ? "this profile is made of itself" : "profiles are nested too deep");
        diag_also(c->diags, d, c->profiles[i]->span, "the profile");
        return NULL;
    }
    c->made[i].begun = true;
    c->made[i].ask = make(c, c->profiles[i], depth);
    return c->made[i].ask;
}

static const struct ask *make(struct ask_context *c, const struct decl_profile *p, size_t depth)
{
    const struct ask **used = arena_array(c->arena, p->n_uses + 1, sizeof *used);
    size_t n = 0;
    const struct ask *parent = p->scope_of.text ? named(c, &p->scope_of, depth + 1) : NULL;
    for (size_t i = 0; i < p->n_uses; i++) {
        const struct ask *k = named(c, &p->uses[i], depth + 1);
        if (k)
            used[n++] = k;
    }
    struct ask *own = ask_own(c, p);
    if (n)
        compose_use(c, own, used, n);
    bound_patterns(c, own);
    ask_check_patterns(c, own);
    return parent ? compose_scope(c, own, parent) : own;
}

const struct ask *ask_make(struct ask_context *c, const struct decl_profile *p)
{
    size_t i = p->name.text ? find(c, p->name.text) : SIZE_MAX;
    bool listed = i != SIZE_MAX && c->profiles[i] == p;
    if (listed)
        c->made[i].begun = true;
    const struct ask *k = make(c, p, 0);
    if (listed)
        c->made[i].ask = k;
    return k;
}
