/* Composition: profiles that are used, and scopes that narrow a parent. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "network.h"
#include "pattern.h"
#include "units.h"

static void two_values(struct ask_context *c, const char *what, struct span a, struct span b)
{
    bool later = a.src == b.src && b.start > a.start;
    struct diag *d =
        diag_add(c->diags, DIAG_CLASH, later ? b : a, "the profiles used here differ in %s", what);
    diag_also(c->diags, d, later ? a : b, "the other is here");
    diag_hint(c->diags, d, "write the one that is meant in the profile that uses them");
}

/* ---- use: paths -----------------------------------------------------------------------------------------
 */

static void path_clash(struct ask_context *c, const struct ir_rule *a, const struct ir_rule *b)
{
    struct diag *d = diag_add(c->diags, DIAG_CLASH, a->span, "the profiles used here allow and deny %s",
                              ask_shown(c, a->root, a->path));
    diag_also(c->diags, d, b->span, "the other clause is here");
    diag_hint(c->diags, d, "write the one that is meant in the profile that uses them");
}

/* Rules of used profiles on one path. `own` is the using profile's rule there, or NULL: what it says is
 * decided. */
static void unite_used(struct ask_context *c, struct ir_rule *into, const struct ir_rule *from,
                       const struct ir_rule *own)
{
    unsigned decided = own ? (unsigned)own->allow | own->deny : 0;
    unsigned clash = ((into->allow & from->deny) | (into->deny & from->allow)) & ~decided;
    /* An exec by default yields to a `deny exec`. */
    if (clash & IR_EXEC && (into->allow & IR_EXEC ? into : from)->flags & IR_WEAK_EXEC)
        clash &= ~(unsigned)IR_EXEC;
    if (clash)
        path_clash(c, into, from);
    into->flags = (uint8_t)((into->flags & from->flags & IR_OPTIONAL) | rules_exec_flags(into, from) |
                            ((into->flags | from->flags) & ~(unsigned)(IR_OPTIONAL | IR_WEAK_EXEC)));
    into->deny |= from->deny;
    into->allow = (uint8_t)((into->allow | from->allow) & ~(unsigned)into->deny);
}

/* The using profile's own words come first, but for an exec that it has by default only. */
static void unite_own(struct ir_rule *own, const struct ir_rule *used)
{
    if (own->flags & IR_WEAK_EXEC && used->deny & IR_EXEC) {
        own->allow &= (uint8_t)~IR_EXEC;
        own->flags &= (uint8_t)~IR_WEAK_EXEC;
    }
    unsigned decided = (unsigned)own->allow | own->deny;
    own->allow |= (uint8_t)(used->allow & ~decided);
    own->deny |= (uint8_t)(used->deny & ~decided);
    own->flags |= (uint8_t)(used->flags & (IR_CREATE | IR_STUB | IR_NAME));
    if (used->allow & IR_EXEC & ~decided)
        own->flags |= (uint8_t)(used->flags & IR_WEAK_EXEC);
    if (!(own->allow & IR_EXEC))
        own->flags |= (uint8_t)(used->flags & IR_NO_EXEC);
}

static void join_rules(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n)
{
    struct rule_list all = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < used[i]->rules.n; j++)
            rules_add(&all, c->arena, used[i]->rules.items[j]);
    rules_sort(&all);
    struct rule_list out = {0};
    for (size_t i = 0, j = 0; i < all.n || j < own->rules.n;) {
        const struct ir_rule *o = j < own->rules.n ? &own->rules.items[j] : NULL;
        int order = i == all.n ? 1 : !o ? -1 : rules_order(&all.items[i], o);
        struct ir_rule used_here = order <= 0 ? all.items[i] : (struct ir_rule){0};
        if (order <= 0)
            for (i++; i < all.n && !rules_order(&all.items[i], &used_here); i++)
                unite_used(c, &used_here, &all.items[i], order ? NULL : o);
        struct ir_rule r = order < 0 ? used_here : *o;
        if (!order)
            unite_own(&r, &used_here);
        j += order >= 0;
        rules_add(&out, c->arena, r);
    }
    own->rules = out;
    rules_weak_exec(&own->rules);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < used[i]->patterns.n; j++) {
            struct pattern_list *l = &own->patterns;
            l->items = arena_grow(c->arena, l->items, &l->cap, l->n + 1, sizeof *l->items);
            l->items[l->n++] = used[i]->patterns.items[j];
        }
    ask_sort_patterns(&own->patterns);
}

/* ---- use: network, environment --------------------------------------------------------------------------
 */

/* A set: none and x is x, open and x is open; the loopbacks and a list are networks of different kinds. */
static void join_mode(struct ask_context *c, struct ir_network *n, const struct ir_network *from,
                      bool own_said)
{
    if (n->mode == from->mode || from->mode == IR_NETWORK_NONE)
        return;
    bool widens = n->mode == IR_NETWORK_NONE || from->mode == IR_NETWORK_OPEN;
    if (own_said && n->mode == IR_NETWORK_NONE) {
        struct diag *d =
            diag_add(c->diags, DIAG_CLASH, n->span, "`network none` beside a profile that opens it");
        diag_also(c->diags, d, from->span, "it is opened here");
    } else if (widens) {
        n->mode = from->mode;
        n->span = from->span;
    } else if (n->mode != IR_NETWORK_OPEN) {
        two_values(c, "the kind of network", n->span, from->span);
    }
}

static void join_entries(struct ask_context *c, struct ir_network *to, const struct ask *const *used,
                         size_t n)
{
    struct ir_network all = {.n_endpoints = 0};
    size_t caps[3] = {0};
    for (size_t i = 0; i <= n; i++) {
        const struct ir_network *from = i ? &used[i - 1]->network : to;
        all.endpoints = arena_append(c->arena, all.endpoints, &all.n_endpoints, &caps[0], from->endpoints,
                                     from->n_endpoints, sizeof *all.endpoints);
        all.sockets = arena_append(c->arena, all.sockets, &all.n_sockets, &caps[1], from->sockets,
                                   from->n_sockets, sizeof *all.sockets);
        all.listen = arena_append(c->arena, all.listen, &all.n_listen, &caps[2], from->listen, from->n_listen,
                                  sizeof *all.listen);
    }
    all.mode = to->mode;
    all.span = to->span;
    *to = all;
}

static void join_network(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n)
{
    struct ir_network *to = &own->network;
    bool own_said = own->decl->network_said;
    for (size_t i = 0; i < n; i++)
        join_mode(c, to, &used[i]->network, own_said);
    join_entries(c, to, used, n);
    if (to->mode != IR_NETWORK_ALLOW)
        to->n_endpoints = 0;
    ask_sort_network(to);
}

/* One variable with its place in the order of profiles, the own one first. */
struct set_item {
    const struct ir_env_set *set;
    size_t order;
};

static int by_name_and_order(const void *x, const void *y)
{
    const struct set_item *a = x, *b = y;
    int order = strcmp(a->set->name, b->set->name);
    return order ? order : a->order < b->order ? -1 : a->order > b->order;
}

/* What the using profile sets is decided; else the profiles that are used must agree. */
static void join_sets(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n)
{
    size_t n_own = own->n_env_set, total = n_own, w = 0;
    for (size_t i = 0; i < n; i++)
        total += used[i]->n_env_set;
    struct set_item *items = arena_array(c->arena, total + 1, sizeof *items);
    for (size_t i = 0, k = 0; i <= n; i++) {
        const struct ask *from = i ? used[i - 1] : own;
        for (size_t j = 0; j < from->n_env_set; j++, k++)
            items[k] = (struct set_item){&from->env_set[j], k};
    }
    qsort(items, total, sizeof *items, by_name_and_order);
    struct ir_env_set *out = arena_array(c->arena, total + 1, sizeof *out);
    for (size_t i = 0, first = 0; i < total; i++) {
        const struct ir_env_set *x = items[i].set, *o = items[first].set;
        if (!i || strcmp(x->name, o->name) != 0) {
            first = i;
            out[w++] = *x;
        } else if (items[first].order >= n_own && strcmp(x->value, o->value) != 0) {
            const char *name = diag_escape(c->arena, x->name, strlen(x->name));
            two_values(c, arena_printf(c->arena, "the value of %s", name), o->span, x->span);
        }
    }
    own->env_set = out;
    own->n_env_set = w;
}

static void join_env(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < used[i]->env_allow.n; j++)
            if (used[i]->env_allow.items[j].span.src) /* the preset's names are the using profile's choice */
                env_names_add(&own->env_allow, c->arena, used[i]->env_allow.items[j].name,
                              used[i]->env_allow.items[j].span);
        for (size_t j = 0; j < used[i]->env_deny.n; j++)
            env_names_add(&own->env_deny, c->arena, used[i]->env_deny.items[j].name,
                          used[i]->env_deny.items[j].span);
    }
    env_names_normalise(&own->env_allow, c->arena);
    env_names_normalise_deny(&own->env_deny, c->arena);
    join_sets(c, own, used, n);
}

/* ---- use: single values ---------------------------------------------------------------------------------
 */

static void join_text(struct ask_context *c, const char *what, struct ir_text *own, bool own_said,
                      const struct ir_text *from)
{
    if (own_said || !from->text)
        return;
    if (own->text && strcmp(own->text, from->text) != 0)
        two_values(c, what, own->span, from->span);
    else if (!own->text)
        *own = *from;
}

static void join_texts(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n)
{
    const struct ask said = *own;
    for (size_t i = 0; i < n; i++) {
        join_text(c, "system", &own->preset, said.preset.text, &used[i]->preset);
        join_text(c, "the preset of env", &own->env_preset, said.env_preset.text, &used[i]->env_preset);
        join_text(c, "image", &own->image, said.image.text, &used[i]->image);
        join_text(c, "user", &own->user, said.user.text, &used[i]->user);
    }
}

static void join_limits(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n)
{
    for (size_t l = 0; l < IR_LIMIT_COUNT; l++) {
        bool said = own->limits[l].said;
        for (size_t i = 0; i < n && !said; i++) {
            const struct ir_limit *from = &used[i]->limits[l];
            if (own->limits[l].said && from->said && own->limits[l].value != from->value)
                two_values(c, ir_limit_word((enum ir_limit_index)l), own->limits[l].span, from->span);
            else if (from->said)
                own->limits[l] = *from;
        }
    }
}

static bool same_skill_dir(const struct ask *a, const struct ask *b)
{
    return a->skill_dir == b->skill_dir &&
           (a->skill_dir != DECL_SKILL_DIR_PATH || !a->skill_dir_path || !b->skill_dir_path ||
            !strcmp(a->skill_dir_path, b->skill_dir_path));
}

static void join_process(struct ask_context *c, struct ask *own, const struct ask *k, const struct ask *said)
{
    if (!said->workdir.path && k->workdir.path) {
        if (own->workdir.path &&
            (own->workdir.root != k->workdir.root || strcmp(own->workdir.path, k->workdir.path) != 0))
            two_values(c, "workdir", own->workdir.span, k->workdir.span);
        else
            own->workdir = k->workdir;
    }
    if (said->tty == IR_TTY_UNSAID && k->tty != IR_TTY_UNSAID) {
        if (own->tty != IR_TTY_UNSAID && own->tty != k->tty)
            two_values(c, "tty", own->tty_span, k->tty_span);
        own->tty = k->tty;
        own->tty_span = k->tty_span;
    }
    if (said->trust == DECL_TRUST_UNSAID && k->trust != DECL_TRUST_UNSAID) {
        if (own->trust != DECL_TRUST_UNSAID && own->trust != k->trust)
            two_values(c, "trust", own->trust_span, k->trust_span);
        own->trust = k->trust;
        own->trust_span = k->trust_span;
    }
    if (!said->skill_dir_said && k->skill_dir_said) {
        if (own->skill_dir_said && !same_skill_dir(own, k))
            two_values(c, "skill-dir", own->skill_dir_span, k->skill_dir_span);
        own->skill_dir = k->skill_dir;
        own->skill_dir_path = k->skill_dir_path;
        own->skill_dir_span = k->skill_dir_span;
        own->skill_dir_said = true;
    }
    if (!own->spawn_span.src)
        own->spawn_span = k->spawn_span;
}

static void join_fds(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n)
{
    struct ir_fd *all = NULL;
    size_t n_all = 0, cap = 0;
    for (size_t i = 0; i <= n; i++) {
        const struct ask *from = i ? used[i - 1] : own;
        all = arena_append(c->arena, all, &n_all, &cap, from->fds, from->n_fds, sizeof *all);
    }
    own->fds = all;
    own->n_fds = n_all;
    ask_sort_fds(own);
}

void compose_use(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n)
{
    const struct ask said = *own;
    join_rules(c, own, used, n);
    join_network(c, own, used, n);
    join_env(c, own, used, n);
    join_texts(c, own, used, n);
    join_limits(c, own, used, n);
    for (size_t i = 0; i < n; i++)
        join_process(c, own, used[i], &said);
    join_fds(c, own, used, n);
}

/* ---- scope: what is mentioned replaces --------------------------------------------------------------------
 */

static struct diag *wider(struct ask_context *c, struct span at, const struct ask *parent, struct span theirs,
                          const char *what)
{
    struct diag *d =
        diag_add(c->diags, DIAG_WIDER, at, "this scope asks for more than its parent has: %s", what);
    diag_also(c->diags, d, theirs.src ? theirs : parent->decl->span,
              theirs.src ? "the parent's clause is here" : "the parent is here");
    return d;
}

/* A program that is listed. An exec by default goes with its path. */
static bool is_program(const struct ir_rule *r)
{
    return r->allow == (IR_READ | IR_EXEC) && !r->deny && !(r->flags & IR_WEAK_EXEC);
}

/* Denies alone take away from what the parent has, and replace nothing. */
static bool mentions_paths(const struct ask *k)
{
    for (size_t i = 0; i < k->rules.n; i++)
        if (k->rules.items[i].allow && !is_program(&k->rules.items[i]))
            return true;
    for (size_t i = 0; i < k->patterns.n; i++)
        if (k->patterns.items[i].allow)
            return true;
    return false;
}

static bool mentions_exec(const struct ask *k)
{
    return !k->exec_default || k->exec_span.src;
}

static void ignore(void *ctx, const struct ir_rule *cut, unsigned kinds, const struct ir_rule *by)
{
    (void)ctx, (void)cut, (void)kinds, (void)by;
}

/* Takes from `l` what the scope's own rules deny, there or above. */
static void take_away(struct rule_list *l, const struct ask *own)
{
    rules_cut(l, &own->rules, ignore, NULL);
    for (size_t i = 0; i < l->n; i++)
        l->items[i].cut = 0;
}

/* The scope's own paths; what may be executed is the parent's list. */
static struct rule_list with_paths(struct ask_context *c, const struct ask *own, const struct ask *parent)
{
    struct rule_list l = {0}, programs = {0};
    for (size_t i = 0; i < parent->rules.n; i++) {
        struct ir_rule r = parent->rules.items[i];
        bool listed = r.allow & IR_EXEC && !(r.flags & IR_WEAK_EXEC);
        r.allow = listed ? IR_READ | IR_EXEC : 0;
        r.deny &= IR_EXEC;
        if (r.allow || r.deny)
            rules_add(&programs, c->arena, r);
    }
    take_away(&programs, own);
    for (size_t i = 0; i < programs.n; i++)
        if (programs.items[i].deny || programs.items[i].allow == (IR_READ | IR_EXEC))
            rules_add(&l, c->arena, programs.items[i]);
    for (size_t i = 0; i < own->rules.n; i++) {
        struct ir_rule r = own->rules.items[i];
        if (r.flags & IR_WEAK_EXEC && !rules_allow(&parent->rules, r.root, r.path, IR_EXEC)) {
            r.allow &= (uint8_t)~IR_EXEC;
            r.flags &= (uint8_t)~IR_WEAK_EXEC;
        }
        rules_add(&l, c->arena, r);
    }
    rules_merge(&l);
    return l;
}

/* The parent's paths less the scope's denies, with the scope's own programs where it has a list. */
static struct rule_list with_programs(struct ask_context *c, const struct ask *own, const struct ask *parent)
{
    struct rule_list l = {0};
    for (size_t i = 0; i < parent->rules.n; i++) {
        struct ir_rule r = parent->rules.items[i];
        if (!own->exec_default)
            r.allow &= (uint8_t)~IR_EXEC;
        rules_add(&l, c->arena, r);
    }
    take_away(&l, own);
    for (size_t i = 0; i < own->rules.n; i++)
        rules_add(&l, c->arena, own->rules.items[i]);
    rules_merge(&l);
    return l;
}

static void scope_rules(struct ask_context *c, struct ask *out, const struct ask *own,
                        const struct ask *parent)
{
    bool paths = mentions_paths(own), exec = mentions_exec(own);
    out->patterns = own->patterns;
    if (!paths) {
        out->patterns.items = arena_concat(c->arena, parent->patterns.items, parent->patterns.n,
                                           own->patterns.items, own->patterns.n, sizeof *out->patterns.items);
        out->patterns.cap = out->patterns.n = parent->patterns.n + own->patterns.n;
        ask_sort_patterns(&out->patterns);
    }
    if (paths)
        out->rules = exec || parent->exec_default ? own->rules : with_paths(c, own, parent);
    else if (exec || own->rules.n)
        out->rules = with_programs(c, own, parent);
    if (exec) {
        out->exec_default = own->exec_default;
        out->exec_span = own->exec_span;
    }
    if (exec && own->exec_default && !parent->exec_default)
        wider(c, own->exec_span, parent, parent->exec_span, "`exec default` beneath a list of programs");
    const char *path;
    unsigned kinds;
    const struct ir_rule *by[2];
    if (rules_beyond(&out->rules, &parent->rules, c->arena, &path, &kinds, by))
        wider(c, by[0] && by[0]->span.src ? by[0]->span : own->decl->span, parent,
              by[1] ? by[1]->span : (struct span){0},
              arena_printf(c->arena, "%s of %s",
                           kinds & IR_READ    ? "reading"
                           : kinds & IR_WRITE ? "writing"
                                              : "executing",
                           ask_shown(c, by[0] ? by[0]->root : IR_ROOT_SLASH, path)));
}

bool ask_pattern_within(struct ask_context *c, const struct ir_pattern *x, const struct ask *k)
{
    for (size_t i = 0; i < k->patterns.n; i++) {
        const struct ir_pattern *y = &k->patterns.items[i];
        if (y->root == x->root && !strcmp(x->glob, y->glob) && !(x->allow & ~(unsigned)y->allow))
            return true;
    }
    /* Within a folder that is granted as a whole: nothing is taken away beneath. */
    const char *folder = arena_strn(c->arena, x->glob, pattern_prefix(x->glob));
    const char *path = *folder ? folder : "/";
    const struct ir_rule at = {.path = path, .path_len = (uint32_t)strlen(path), .root = x->root};
    unsigned allowed = 0;
    for (size_t i = 0; i < k->rules.n; i++) {
        const struct ir_rule *r = &k->rules.items[i];
        if (rules_contain(r, &at))
            allowed = (allowed | r->allow) & ~(unsigned)r->deny;
        else if (rules_contain(&at, r) && r->deny & x->allow)
            return false;
    }
    return !(x->allow & ~allowed);
}

/* Could anything that is allowed lie at or beneath what a pattern matches, or hold it? */
static bool meets_allow(const struct ask *k, const struct ir_pattern *x)
{
    for (size_t i = 0; i < k->rules.n; i++) {
        const struct ir_rule *r = &k->rules.items[i];
        if (r->root == x->root && r->allow & x->deny &&
            (pattern_covers(x->glob, r->path) || pattern_reaches(x->glob, r->path)))
            return true;
    }
    for (size_t i = 0; i < k->patterns.n; i++)
        if (k->patterns.items[i].root == x->root && k->patterns.items[i].allow & x->deny)
            return true;
    return false;
}

static void scope_patterns(struct ask_context *c, const struct ask *out, const struct ask *parent)
{
    for (size_t i = 0; i < out->patterns.n; i++) {
        const struct ir_pattern *x = &out->patterns.items[i];
        if (x->allow && !ask_pattern_within(c, x, parent))
            wider(c, x->span, parent, (struct span){0}, ask_shown(c, x->root, x->glob));
    }
    /* What the parent denies by a pattern stays denied. */
    for (size_t i = 0; i < parent->patterns.n; i++) {
        const struct ir_pattern *x = &parent->patterns.items[i];
        bool kept = !x->deny || !meets_allow(out, x);
        for (size_t j = 0; j < out->patterns.n && !kept; j++) {
            const struct ir_pattern *y = &out->patterns.items[j];
            kept = y->root == x->root && !strcmp(x->glob, y->glob) && !(x->deny & ~(unsigned)y->deny);
        }
        if (!kept)
            diag_hint(c->diags,
                      wider(c, out->decl->span, parent, x->span, "what the parent denies by a pattern"),
                      "write that deny in the scope as well");
    }
}

/* ---- scope: the other groups ------------------------------------------------------------------------------
 */

static void scope_network(struct ask_context *c, struct ask *out, const struct ask *own,
                          const struct ask *parent)
{
    const struct ir_network *n = &own->network, *p = &parent->network;
    if (!n->span.src && !n->n_listen && !n->n_sockets)
        return;
    out->network = *n;
    if (!network_mode_within((enum ir_network_mode)n->mode, (enum ir_network_mode)p->mode))
        wider(c, n->span, parent, p->span, "another network");
    for (size_t i = 0; i < n->n_endpoints && p->mode == IR_NETWORK_ALLOW; i++) {
        bool within = false;
        for (size_t j = 0; j < p->n_endpoints && !within; j++)
            within = network_within(&n->endpoints[i], &p->endpoints[j]);
        if (!within)
            wider(c, n->endpoints[i].span, parent, p->span, network_text(c->arena, &n->endpoints[i]));
    }
    for (size_t i = 0; i < n->n_listen && p->mode != IR_NETWORK_OPEN; i++) {
        bool within = false;
        for (size_t j = 0; j < p->n_listen && !within; j++)
            within = n->listen[i].port == p->listen[j].port;
        if (!within)
            wider(c, n->listen[i].span, parent, (struct span){0},
                  arena_printf(c->arena, "port %u", (unsigned)n->listen[i].port));
    }
    for (size_t i = 0; i < n->n_sockets; i++) {
        bool within = false;
        for (size_t j = 0; j < p->n_sockets && !within; j++)
            within =
                n->sockets[i].root == p->sockets[j].root && !strcmp(n->sockets[i].path, p->sockets[j].path);
        if (!within)
            wider(c, n->sockets[i].span, parent, (struct span){0},
                  ask_shown(c, n->sockets[i].root, n->sockets[i].path));
    }
}

static bool passes(const struct ask *k, const char *name)
{
    return env_names_cover(&k->env_allow, name) && !env_names_meet(&k->env_deny, name);
}

/* The names of the standard preset are nobody's wish where the scope does not say it: what the parent lacks
 * goes. */
static struct env_names scope_names(struct ask_context *c, const struct ask *own, const struct ask *parent)
{
    struct env_names names = {0};
    for (size_t i = 0; i < own->env_allow.n; i++) {
        const struct ir_env_name *x = &own->env_allow.items[i];
        if (x->span.src || own->env_preset.text || passes(parent, x->name))
            env_names_add(&names, c->arena, x->name, x->span);
    }
    return names;
}

/* Denies alone take away from what the parent lets pass. */
static bool mentions_env(const struct ask *k)
{
    bool names = false;
    for (size_t i = 0; i < k->env_allow.n; i++)
        names |= k->env_allow.items[i].span.src != NULL;
    return names || k->env_preset.text || k->n_env_set;
}

static void add_denies(struct ask_context *c, struct ask *out, const struct env_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        env_names_add(&out->env_deny, c->arena, names->items[i].name, names->items[i].span);
}

static void scope_env(struct ask_context *c, struct ask *out, const struct ask *own, const struct ask *parent)
{
    const struct decl_profile *d = own->decl;
    if (!mentions_env(own)) {
        out->env_deny = (struct env_names){0};
        add_denies(c, out, &parent->env_deny);
        add_denies(c, out, &own->env_deny);
        env_names_normalise_deny(&out->env_deny, c->arena);
        return;
    }
    out->env_preset = own->env_preset;
    out->env_allow = scope_names(c, own, parent);
    out->env_deny = own->env_deny;
    out->env_set = own->env_set;
    out->n_env_set = own->n_env_set;
    for (size_t i = 0; i < out->env_allow.n; i++) {
        const struct ir_env_name *x = &out->env_allow.items[i];
        bool within = env_names_cover(&parent->env_allow, x->name);
        /* What the parent takes away must be taken away here too. */
        for (size_t j = 0; j < parent->env_deny.n && within; j++)
            within = !env_names_overlap(x->name, parent->env_deny.items[j].name) ||
                     env_names_deny(&own->env_deny, parent->env_deny.items[j].name);
        if (!within)
            wider(c, x->span.src ? x->span : d->span, parent, (struct span){0},
                  arena_printf(c->arena, "the variable %s", diag_escape(c->arena, x->name, strlen(x->name))));
    }
    for (size_t i = 0; i < own->n_env_set; i++) {
        const struct ir_env_set *x = &own->env_set[i];
        bool same = passes(parent, x->name);
        for (size_t j = 0; j < parent->n_env_set && !same; j++)
            same = !strcmp(parent->env_set[j].name, x->name) && !strcmp(parent->env_set[j].value, x->value);
        if (!same)
            wider(c, x->span, parent, (struct span){0},
                  arena_printf(c->arena, "a value of %s", diag_escape(c->arena, x->name, strlen(x->name))));
    }
}

static void scope_limits(struct ask_context *c, struct ask *out, const struct ask *own,
                         const struct ask *parent)
{
    for (size_t i = 0; i < IR_LIMIT_COUNT; i++) {
        const struct ir_limit *x = &own->limits[i], *y = &parent->limits[i];
        if (!x->said)
            continue;
        out->limits[i] = *x;
        bool capped = y->said ? y->value != 0 : i == IR_LIMIT_TIMEOUT || i == IR_LIMIT_KILL_AFTER;
        uint64_t cap = y->said ? y->value : i == IR_LIMIT_TIMEOUT ? ASK_TIMEOUT_MS : ASK_KILL_AFTER_MS;
        if (capped && (!x->value || x->value > cap))
            wider(c, x->span, parent, y->span, ir_limit_word((enum ir_limit_index)i));
    }
}

static int strength(const struct ir_text *preset)
{
    return !preset->text || !strcmp(preset->text, "standard") ? 2 : !strcmp(preset->text, "minimal") ? 1 : 0;
}

static void scope_rest(struct ask_context *c, struct ask *out, const struct ask *own,
                       const struct ask *parent)
{
    if (own->preset.text) {
        out->preset = own->preset;
        if (strength(&own->preset) > strength(&parent->preset))
            wider(c, own->preset.span, parent, parent->preset.span,
                  arena_printf(c->arena, "system %s", own->preset.text));
    }
    if (own->trust != DECL_TRUST_UNSAID) {
        out->trust = own->trust;
        out->trust_span = own->trust_span;
        if (own->trust == DECL_TRUST_CORE && parent->trust != DECL_TRUST_CORE)
            wider(c, own->trust_span, parent, parent->trust_span, "trust core");
    }
    for (size_t i = 0; i < own->n_fds; i++) {
        bool within = false;
        for (size_t j = 0; j < parent->n_fds && !within; j++)
            within = parent->fds[j].fd == own->fds[i].fd;
        if (!within)
            wider(c, own->fds[i].span, parent, (struct span){0},
                  arena_printf(c->arena, "descriptor %d", own->fds[i].fd));
    }
    if (own->n_fds) {
        out->fds = own->fds;
        out->n_fds = own->n_fds;
    }
    if (own->tty == IR_TTY_INHERIT && parent->tty == IR_TTY_NONE)
        wider(c, own->tty_span, parent, parent->tty_span, "tty inherit");
    if (own->tty != IR_TTY_UNSAID) {
        out->tty = own->tty;
        out->tty_span = own->tty_span;
    }
    if (own->skill_dir_said) {
        out->skill_dir = own->skill_dir;
        out->skill_dir_path = own->skill_dir_path;
        out->skill_dir_span = own->skill_dir_span;
        if (own->skill_dir != DECL_SKILL_DIR_NONE && !same_skill_dir(own, parent))
            wider(c, own->skill_dir_span, parent, parent->skill_dir_span, "skill-dir");
    }
    if (own->workdir.path)
        out->workdir = own->workdir;
    if (own->spawn_span.src)
        out->spawn_span = own->spawn_span;
    if (own->image.text)
        out->image = own->image;
    if (own->user.text)
        out->user = own->user;
}

struct ask *compose_scope(struct ask_context *c, const struct ask *own, const struct ask *parent)
{
    struct ask *out = ARENA_NEW(c->arena, struct ask);
    *out = *parent;
    out->decl = own->decl;
    scope_rules(c, out, own, parent);
    scope_patterns(c, out, parent);
    scope_network(c, out, own, parent);
    scope_env(c, out, own, parent);
    scope_limits(c, out, own, parent);
    scope_rest(c, out, own, parent);
    return out;
}
