#include "ceiling.h"

#include <string.h>

#include "network.h"
#include "pattern.h"
#include "units.h"

/* ---- Paths ----------------------------------------------------------------------------------------------
 */

static const char *kinds(unsigned set)
{
    if (set & IR_READ)
        return set & IR_WRITE ? "reading and writing" : "reading";
    return set & IR_WRITE ? "writing" : "executing";
}

/* What is left beneath a rule that lost something at its own path: the ceiling's roots there. */
static void list_rest(struct ask_context *c, struct diag *d, const struct rule_list *left,
                      const struct ir_rule *r, unsigned lost)
{
    size_t first, n = rules_beneath(left, r->root, r->path, &first);
    for (size_t i = first, shown = 0; i < first + n; i++) {
        const struct ir_rule *rest = &left->items[i];
        if (!(rest->allow & lost))
            continue;
        if (++shown > 3) {
            diag_hint(c->diags, d, "and more beneath it");
            return;
        }
        diag_hint(c->diags, d, "%s is left beneath %s", kinds(rest->allow & lost),
                  ask_shown(c, rest->root, rest->path));
    }
}

static bool rest_beneath(const struct rule_list *left, const struct ir_rule *r, unsigned lost)
{
    size_t first, n = rules_beneath(left, r->root, r->path, &first);
    for (size_t i = first; i < first + n; i++)
        if (left->items[i].allow & lost)
            return true;
    return false;
}

static void report_cut(struct ask_context *c, const struct ir_rule *r, unsigned lost,
                       const struct rule_list *left, struct span ceiling)
{
    bool some = rest_beneath(left, r, lost);
    bool all = !some && lost == r->allow;
    const char *path = ask_shown(c, r->root, r->path);
    struct diag *d = diag_add(c->diags, all ? DIAG_CEILING_ALL : DIAG_CEILING_CUT, r->span,
                              some  ? "the ceiling narrows %s of %s"
                              : all ? "the ceiling allows nothing of this clause: no %s of %s"
                                    : "the ceiling allows no %s of %s",
                              kinds(lost), path);
    diag_also(c->diags, d, ceiling, "this ceiling");
    list_rest(c, d, left, r, lost);
}

/* What the ceiling denies beneath a path that was asked for. */
static void report_deny(struct ask_context *c, const struct ir_rule *denied, const struct ir_rule *asked)
{
    if (!asked)
        return;
    struct diag *d = diag_add(c->diags, DIAG_CEILING_CUT, asked->span, "the ceiling allows no %s of %s",
                              kinds(denied->deny), ask_shown(c, denied->root, denied->path));
    diag_also(c->diags, d, denied->span, "this ceiling");
}

/* The clause of a ceiling that decides at a rule's path; else its head. */
static struct span clause_at(const struct ask *ceiling, const struct ir_rule *r)
{
    const struct ir_rule *by = rules_nearest(&ceiling->rules, r->root, r->path);
    return by && by->span.src ? by->span : ceiling->decl->span;
}

static void cut_rules(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    uint8_t *lost = arena_array(c->arena, asked->rules.n, 1);
    struct rule_list left = rules_intersect(&asked->rules, &ceiling->rules, lost, c->arena), denies = {0};
    for (size_t i = 0; i < asked->rules.n; i++) {
        const struct ir_rule *r = &asked->rules.items[i];
        /* An exec that nobody named is no loss. */
        unsigned named = lost[i] & ~(r->flags & IR_WEAK_EXEC && lost[i] == IR_EXEC ? (unsigned)IR_EXEC : 0);
        if (named)
            report_cut(c, r, lost[i], &left, clause_at(ceiling, r));
    }
    for (size_t i = 0; i < left.n; i++)
        if (left.items[i].deny && !rules_at(&asked->rules, left.items[i].root, left.items[i].path))
            report_deny(c, &left.items[i],
                        rules_nearest(&asked->rules, left.items[i].root, left.items[i].path));
    /* What the ceiling alone names and does not exist grants nothing. */
    size_t w = 0;
    for (size_t i = 0; i < left.n; i++)
        if (left.items[i].type != IR_TYPE_NONE || left.items[i].deny)
            left.items[w++] = left.items[i];
    left.n = w;
    /* Denies of the declaration still cut what presets grant. */
    for (size_t i = 0; i < asked->rules.n; i++) {
        const struct ir_rule *r = &asked->rules.items[i];
        const struct ir_rule *there = r->deny ? rules_at(&left, r->root, r->path) : NULL;
        if (there) {
            struct ir_rule *l = &left.items[there - left.items];
            l->deny |= (uint8_t)(r->deny & ~(unsigned)l->allow);
        } else if (r->deny) {
            struct ir_rule deny = *r;
            deny.allow = 0;
            rules_add(&denies, c->arena, deny);
        }
    }
    for (size_t i = 0; i < denies.n; i++)
        rules_add(&left, c->arena, denies.items[i]);
    rules_sort(&left);
    asked->rules = left;
}

static void cut(struct ask_context *c, enum diag_id id, struct span at, struct span ceiling, const char *text,
                const char *what)
{
    struct diag *d = diag_add(c->diags, id, at, text, what);
    diag_also(c->diags, d, ceiling, "this ceiling");
}

/* An allow pattern stays whole or goes; what a ceiling denies by a pattern is final here too. */
static void cut_patterns(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    struct pattern_list left = {0};
    for (size_t i = 0; i < asked->patterns.n; i++) {
        const struct ir_pattern *x = &asked->patterns.items[i];
        bool stays = x->deny || ask_pattern_within(c, x, ceiling);
        if (!stays)
            cut(c, DIAG_CEILING_ALL, x->span, ceiling->decl->span,
                "the ceiling allows not all of what %s can match, so nothing of it",
                ask_shown(c, x->root, x->glob));
        if (stays) {
            left.items = arena_grow(c->arena, left.items, &left.cap, left.n + 1, sizeof *left.items);
            left.items[left.n++] = *x;
        }
    }
    for (size_t i = 0; i < ceiling->patterns.n; i++) {
        const struct ir_pattern *deny = &ceiling->patterns.items[i];
        if (!deny->deny)
            continue;
        size_t w = 0;
        for (size_t j = 0; j < asked->rules.n; j++) {
            struct ir_rule *r = &asked->rules.items[j];
            bool gone = r->root == deny->root && r->allow & deny->deny && pattern_covers(deny->glob, r->path);
            if (gone)
                cut(c, DIAG_CEILING_ALL, r->span, deny->span, "a pattern of the ceiling denies %s",
                    ask_shown(c, r->root, r->path));
            /* What else the rule says of its path stays: a deny gone would give back what stands above. */
            if (gone)
                r->allow &= (uint8_t)~deny->deny;
            if (r->allow | r->deny)
                asked->rules.items[w++] = *r;
        }
        asked->rules.n = w;
        left.items = arena_grow(c->arena, left.items, &left.cap, left.n + 1, sizeof *left.items);
        left.items[left.n++] = *deny;
    }
    size_t w = 0;
    for (size_t i = 0; i < left.n; i++) {
        const struct ir_pattern *x = &left.items[i];
        bool gone = false;
        for (size_t j = 0; j < left.n && x->allow && !gone; j++)
            gone = left.items[j].deny & x->allow && left.items[j].root == x->root &&
                   pattern_meets(left.items[j].glob, x->glob);
        if (gone)
            cut(c, DIAG_CEILING_ALL, x->span, ceiling->decl->span,
                "a pattern of the ceiling denies what %s can match", ask_shown(c, x->root, x->glob));
        else
            left.items[w++] = *x;
    }
    left.n = w;
    ask_sort_patterns(&left);
    asked->patterns = left;
}

void ceiling_presets(struct ask_context *c, struct rule_list *granted, const struct ask *ceiling,
                     bool loaders)
{
    struct rule_list cap = {0};
    bool exec = loaders || ceiling->exec_default;
    uint8_t all = (uint8_t)(IR_READ | IR_WRITE | (exec ? IR_EXEC : 0));
    /* Beside an allow of ours on that path its denies of everything would count for nothing. */
    const struct ir_rule *top = rules_at(&ceiling->rules, IR_ROOT_SLASH, "/");
    if (top)
        all &= (uint8_t)~top->deny;
    rules_add(&cap, c->arena, (struct ir_rule){.path = "/", .path_len = 1, .allow = all});
    for (size_t i = 0; i < ceiling->rules.n; i++)
        rules_add(&cap, c->arena, ceiling->rules.items[i]);
    rules_merge(&cap);
    uint8_t *lost = arena_array(c->arena, granted->n, 1);
    struct rule_list left = rules_intersect(granted, &cap, lost, c->arena);
    /* What a preset lost stays to be seen. */
    for (size_t i = 0; i < granted->n; i++) {
        const struct ir_rule *r = &granted->items[i];
        unsigned named = exec ? lost[i] : lost[i] & ~(unsigned)IR_EXEC;
        const struct ir_rule *there = rules_at(&left, r->root, r->path);
        if (named && !there) {
            struct ir_rule mark = *r;
            mark.allow = 0;
            mark.cut |= (uint8_t)named;
            rules_add(&left, c->arena, mark);
            rules_sort(&left);
        } else if (named) {
            left.items[there - left.items].cut |= (uint8_t)named;
        }
        if (named)
            cut(c, DIAG_PRESET_CUT, r->span.src ? r->span : ceiling->decl->span, clause_at(ceiling, r),
                "the ceiling takes %s from what every program has", ask_shown(c, r->root, r->path));
    }
    *granted = left;
}

/* ---- Network --------------------------------------------------------------------------------------------
 */

static enum ir_network_mode meet(enum ir_network_mode a, enum ir_network_mode b)
{
    if (a == b || b == IR_NETWORK_OPEN)
        return a;
    if (a == IR_NETWORK_OPEN)
        return b;
    bool loop =
        a != IR_NETWORK_ALLOW && b != IR_NETWORK_ALLOW && a != IR_NETWORK_NONE && b != IR_NETWORK_NONE;
    return loop ? IR_NETWORK_LOOPBACK : IR_NETWORK_NONE;
}

static void cut_endpoints(struct ask_context *c, struct ir_network *n, const struct ask *ceiling)
{
    const struct ir_network *cap = &ceiling->network;
    struct ir_endpoint *left = NULL, both;
    size_t w = 0, room = 0;
    for (size_t i = 0; i < n->n_endpoints; i++) {
        size_t before = w;
        bool whole = false;
        for (size_t j = 0; j < cap->n_endpoints; j++) {
            if (network_meet(&n->endpoints[i], &cap->endpoints[j], &both)) {
                left = arena_grow(c->arena, left, &room, w + 1, sizeof *left);
                left[w] = both;
                left[w++].span = n->endpoints[i].span;
            }
            whole |= network_within(&n->endpoints[i], &cap->endpoints[j]);
        }
        if (!whole)
            cut(c, w > before ? DIAG_CEILING_CUT : DIAG_CEILING_ALL, n->endpoints[i].span, cap->span,
                w > before ? "the ceiling narrows %s" : "the ceiling does not let %s be reached",
                network_text(c->arena, &n->endpoints[i]));
    }
    n->endpoints = left;
    n->n_endpoints = w;
    if (!w)
        n->mode = IR_NETWORK_NONE;
}

static bool has_port(const struct ir_network *n, uint16_t port)
{
    for (size_t i = 0; i < n->n_listen; i++)
        if (n->listen[i].port == port)
            return true;
    return false;
}

static bool has_socket(const struct ir_network *n, const struct ir_socket *x)
{
    for (size_t i = 0; i < n->n_sockets; i++)
        if (n->sockets[i].root == x->root && !strcmp(n->sockets[i].path, x->path))
            return true;
    return false;
}

/* Ports and sockets are axes of their own; an open network of the ceiling lets every port be listened on. */
static void cut_ports(struct ask_context *c, struct ir_network *n, const struct ask *ceiling)
{
    const struct ir_network *cap = &ceiling->network;
    struct ir_port *ports = arena_array(c->arena, n->n_listen, sizeof *ports);
    struct ir_socket *sockets = arena_array(c->arena, n->n_sockets, sizeof *sockets);
    size_t n_ports = 0, n_sockets = 0;
    for (size_t i = 0; i < n->n_listen; i++) {
        if (cap->mode == IR_NETWORK_OPEN || has_port(cap, n->listen[i].port))
            ports[n_ports++] = n->listen[i];
        else
            cut(c, DIAG_CEILING_ALL, n->listen[i].span, ceiling->decl->span,
                "the ceiling does not let port %s be listened on",
                arena_printf(c->arena, "%u", (unsigned)n->listen[i].port));
    }
    for (size_t i = 0; i < n->n_sockets; i++) {
        if (has_socket(cap, &n->sockets[i]))
            sockets[n_sockets++] = n->sockets[i];
        else
            cut(c, DIAG_CEILING_ALL, n->sockets[i].span, ceiling->decl->span,
                "the ceiling does not let the socket %s be reached",
                ask_shown(c, n->sockets[i].root, n->sockets[i].path));
    }
    n->listen = ports;
    n->n_listen = n_ports;
    n->sockets = sockets;
    n->n_sockets = n_sockets;
}

static void cut_network(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    struct ir_network *n = &asked->network;
    const struct ir_network *cap = &ceiling->network;
    enum ir_network_mode was = (enum ir_network_mode)n->mode,
                         left = meet(was, (enum ir_network_mode)cap->mode);
    if (left != was) {
        struct diag *d = diag_add(
            c->diags, left == IR_NETWORK_NONE ? DIAG_CEILING_ALL : DIAG_CEILING_CUT, n->span,
            left == IR_NETWORK_NONE ? "the ceiling allows no network%s" : "the ceiling narrows the network%s",
            left == IR_NETWORK_NONE && cap->mode != IR_NETWORK_NONE ? " of this kind" : "");
        diag_also(c->diags, d, cap->span.src ? cap->span : ceiling->decl->span,
                  cap->span.src ? "this ceiling" : "this ceiling does not speak of the network: none");
    }
    n->mode = (uint8_t)left;
    if (left == IR_NETWORK_ALLOW && was == IR_NETWORK_OPEN) {
        n->endpoints = cap->endpoints;
        n->n_endpoints = cap->n_endpoints;
    } else if (left == IR_NETWORK_ALLOW && cap->mode == IR_NETWORK_ALLOW) {
        cut_endpoints(c, n, ceiling);
    } else if (left != IR_NETWORK_ALLOW) {
        n->n_endpoints = 0;
    }
    cut_ports(c, n, ceiling);
    ask_sort_network(n);
}

/* ---- Limits, presets ------------------------------------------------------------------------------------
 */

static const char *shown(struct ask_context *c, enum ir_limit_index i, uint64_t value)
{
    char text[32];
    if (!value)
        return "none";
    ir_limit_print(i, value, text);
    return arena_str(c->arena, text);
}

static void cut_limits(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    for (size_t i = 0; i < IR_LIMIT_COUNT; i++) {
        struct ir_limit *x = &asked->limits[i];
        const struct ir_limit *cap = &ceiling->limits[i];
        enum ir_limit_index k = (enum ir_limit_index)i;
        if (!cap->said || !cap->value || (x->value && x->value <= cap->value))
            continue;
        /* The default is nobody's wish: shortening it is no cut, nor is a limit where none was asked for. */
        if (x->span.src)
            cut(c, DIAG_CEILING_CUT, x->span, cap->span, "the ceiling cuts %s",
                arena_printf(c->arena, "%s from %s to %s",
                             i == IR_LIMIT_TIMEOUT ? "the timeout" : ir_limit_word(k), shown(c, k, x->value),
                             shown(c, k, cap->value)));
        *x = (struct ir_limit){cap->value, true, x->span.src ? x->span : cap->span};
    }
}

static int strength(const char *preset)
{
    return !strcmp(preset, "standard") ? 2 : !strcmp(preset, "minimal") ? 1 : 0;
}

static void cut_presets(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    if (ceiling->preset.text && strength(ceiling->preset.text) < strength(asked->preset.text)) {
        struct diag *d = diag_add(
            c->diags, DIAG_CEILING_CUT, asked->preset.span.src ? asked->preset.span : ceiling->preset.span,
            "the ceiling cuts system %s to %s", asked->preset.text, ceiling->preset.text);
        if (asked->preset.span.src)
            diag_also(c->diags, d, ceiling->preset.span, "this ceiling");
        asked->preset = ceiling->preset;
    }
    /* A folder that is named by its path is a request like `read`: only the declaration's real folder passes unasked. */
    bool named = asked->skill_dir == DECL_SKILL_DIR_PATH && asked->skill_dir_path;
    bool same = ceiling->skill_dir == DECL_SKILL_DIR_PATH && ceiling->skill_dir_path && named &&
                !strcmp(ceiling->skill_dir_path, asked->skill_dir_path);
    bool speaks = !ceiling->decl->only_said || ceiling->decl->n_paths;
    if (named && !same && speaks &&
        !rules_allow(&ceiling->rules, IR_ROOT_SLASH, asked->skill_dir_path, IR_READ)) {
        cut(c, DIAG_CEILING_ALL, asked->skill_dir_span, ceiling->decl->span, "the ceiling allows no reading of %s",
            diag_escape(c->arena, asked->skill_dir_path, strlen(asked->skill_dir_path)));
        asked->skill_dir = DECL_SKILL_DIR_NONE;
    }
    if (ceiling->skill_dir_said && ceiling->skill_dir == DECL_SKILL_DIR_NONE &&
        asked->skill_dir != DECL_SKILL_DIR_NONE) {
        cut(c, DIAG_CEILING_CUT, asked->skill_dir_span, ceiling->skill_dir_span,
            "the ceiling takes the declaration's own folder away%s", "");
        asked->skill_dir = DECL_SKILL_DIR_NONE;
    }
}

/* ---- Environment ----------------------------------------------------------------------------------------
 */

static void cut_env(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    const struct env_names *cap = &ceiling->env_allow;
    struct env_names left = {0};
    for (size_t i = 0; i < asked->env_allow.n; i++) {
        const struct ir_env_name *x = &asked->env_allow.items[i];
        bool denied = env_names_deny(&ceiling->env_deny, x->name);
        if (env_names_cover(cap, x->name) && !denied) {
            env_names_add(&left, c->arena, x->name, x->span);
            continue;
        }
        /* A prefix meets longer prefixes and names of the ceiling: those are what is left. */
        bool prefix = x->name[strlen(x->name) - 1] == '*';
        size_t first = 0, n = prefix && !denied ? env_names_with_prefix(cap, x->name, &first) : 0;
        for (size_t j = first; j < first + n; j++)
            if (!env_names_loader(cap->items[j].name))
                env_names_add(&left, c->arena, cap->items[j].name, x->span);
        if (x->span.src)
            cut(c, n ? DIAG_CEILING_CUT : DIAG_CEILING_ALL, x->span, ceiling->decl->span,
                n ? "the ceiling narrows what %s lets pass" : "the ceiling does not let %s pass",
                diag_escape(c->arena, x->name, strlen(x->name)));
    }
    asked->env_allow = left;
    env_names_normalise(&asked->env_allow, c->arena);
    struct env_names denies = {0};
    for (size_t i = 0; i < asked->env_deny.n; i++)
        env_names_add(&denies, c->arena, asked->env_deny.items[i].name, asked->env_deny.items[i].span);
    for (size_t i = 0; i < ceiling->env_deny.n; i++)
        env_names_add(&denies, c->arena, ceiling->env_deny.items[i].name, ceiling->env_deny.items[i].span);
    env_names_normalise_deny(&denies, c->arena);
    asked->env_deny = denies;
}

static void cut_env_set(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    struct ir_env_set *left = arena_array(c->arena, asked->n_env_set, sizeof *left);
    size_t w = 0;
    for (size_t i = 0; i < asked->n_env_set; i++) {
        const struct ir_env_set *x = &asked->env_set[i];
        if (env_names_cover(&ceiling->env_allow, x->name) && !env_names_deny(&ceiling->env_deny, x->name))
            left[w++] = *x;
        else
            cut(c, DIAG_CEILING_ALL, x->span, ceiling->decl->span, "the ceiling does not let %s be set",
                diag_escape(c->arena, x->name, strlen(x->name)));
    }
    asked->env_set = left;
    asked->n_env_set = w;
}

/* ---- Descriptors, terminal ------------------------------------------------------------------------------
 */

static void cut_process(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    struct ir_fd *left = arena_array(c->arena, asked->n_fds, sizeof *left);
    size_t w = 0;
    for (size_t i = 0; i < asked->n_fds; i++) {
        bool passes = false;
        for (size_t j = 0; j < ceiling->n_fds && !passes; j++)
            passes = ceiling->fds[j].fd == asked->fds[i].fd;
        if (passes)
            left[w++] = asked->fds[i];
        else
            cut(c, DIAG_CEILING_ALL, asked->fds[i].span, ceiling->decl->span,
                "the ceiling does not pass descriptor %s on", arena_printf(c->arena, "%d", asked->fds[i].fd));
    }
    asked->fds = left;
    asked->n_fds = w;
    if (ceiling->tty == IR_TTY_NONE && asked->tty != IR_TTY_NONE) {
        if (asked->tty == IR_TTY_INHERIT)
            cut(c, DIAG_CEILING_ALL, asked->tty_span, ceiling->tty_span, "the ceiling gives no terminal%s",
                "");
        asked->tty = IR_TTY_NONE;
        asked->tty_span = ceiling->tty_span;
    }
    if (!asked->spawn_span.src)
        asked->spawn_span = ceiling->spawn_span;
}

void ceiling_apply(struct ask_context *c, struct ask *asked, const struct ask *ceiling)
{
    const struct decl_profile *d = ceiling->decl;
    cut_limits(c, asked, ceiling);
    cut_presets(c, asked, ceiling);
    if (!d->only_said || d->n_paths) {
        cut_rules(c, asked, ceiling);
        cut_patterns(c, asked, ceiling);
    }
    if (!d->only_said || d->network_said)
        cut_network(c, asked, ceiling);
    if (d->only_said)
        return;
    cut_env(c, asked, ceiling);
    cut_env_set(c, asked, ceiling);
    cut_process(c, asked, ceiling);
}
