#include "policy.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "ceiling.h"
#include "fixed.h"
#include "rules.h"
#include "sha256.h"

struct maker {
    const struct policy_request *q;
    struct arena *a;
    struct diag_list *diags;
    struct ir_policy *p;
    struct resolver resolver;
    struct rule_list rules;
    struct env_names env;
    struct ir_text preset;
};

/* ---- What was asked for --------------------------------------------------------------------------------- */

/* A profile without an exec list may execute wherever it may read. */
static uint8_t with_exec(uint8_t allow)
{
    return (uint8_t)(allow | (allow & IR_READ ? IR_EXEC : 0));
}

/* What stands in the floor as the program's own is not granted again: the private TMPDIR, and on Linux /proc,
 * which can be read whole and never be written (as uid 0 much of /proc/sys could be, without capabilities). */
static bool is_floor(struct maker *m, const struct ir_rule *r, bool declaration)
{
    if (r->root == IR_ROOT_TMPDIR)
        return true;
    if (m->q->system != IR_LINUX || !ir_path_within(r->path, "/proc"))
        return false;
    if (declaration && r->allow & IR_WRITE)
        diag_add(m->diags, DIAG_CANNOT, r->span, "/proc is the sandbox's own and cannot be written");
    return true;
}

static void add_paths(struct maker *m, struct resolver *r, const struct decl_profile *p, bool must_exist,
                      struct rule_list *out)
{
    for (size_t i = 0; i < p->n_paths; i++) {
        struct ir_rule rule;
        if (resolve_path(r, &p->paths[i], must_exist, &rule) != RESOLVED)
            continue;
        rule.allow = with_exec(p->paths[i].allow);
        rule.origin = IR_DECLARED;
        if (is_floor(m, &rule, must_exist))
            continue;
        rules_add(out, m->a, rule);
    }
    rules_merge(out);
}

static void warn_of_everything(struct maker *m)
{
    for (size_t i = 0; i < m->rules.n; i++) {
        const struct ir_rule *r = &m->rules.items[i];
        if (strcmp(r->path, "/") == 0)
            diag_add(m->diags, DIAG_GRANTS_ALL, r->span, "this grants %s the whole file system",
                     r->allow & IR_WRITE ? "writing to" : "reading");
    }
}

static void add_skill_dir(struct maker *m)
{
    const char *named = m->q->env->skill_dir;
    if (!m->q->profile->skill_dir || !named)
        return;
    const char *path = resolve_folder(&m->resolver, named);
    if (!path) {
        diag_add(m->diags, DIAG_PATH_ACCESS, m->q->profile->span, "the declaration's folder %s cannot be looked at",
                 diag_escape(m->a, named, strlen(named)));
        return;
    }
    m->p->skill_dir = path;
    rules_add(&m->rules, m->a,
              (struct ir_rule){.path = path,
                               .path_len = (uint32_t)strlen(path),
                               .allow = IR_READ | IR_EXEC,
                               .origin = IR_SKILL_DIR,
                               .type = m->q->env->host ? IR_TYPE_DIR : IR_TYPE_ANY,
                               .span = m->q->profile->span});
}

static const char *preset_file(struct maker *m, const char *name)
{
    return arena_printf(m->a, "%s.%s", name, m->q->system == IR_MACOS ? "macos" : "linux");
}

/* A folder that is private to the run would hide what the declaration grants beneath it, or lend it writing. */
static bool makes_way(struct maker *m, const struct decl_path *p)
{
    const char *path = arena_strn(m->a, p->text, p->len);
    for (size_t i = 0; i < m->rules.n; i++) {
        const struct ir_rule *r = &m->rules.items[i];
        bool own = r->origin == IR_DECLARED || r->origin == IR_SKILL_DIR;
        if (!own || !strcmp(r->path, path) || !ir_path_within(r->path, path))
            continue;
        diag_add(m->diags, DIAG_PRESET_CUT, r->span, "the private %s of the preset makes way for this grant", path);
        return true;
    }
    return false;
}

/* Entries of presets are looked up at launch: they may be missing, or links that only root could have made. */
static void add_preset(struct maker *m)
{
    if (!strcmp(m->preset.text, "none"))
        return;
    const struct decl_profile *p = m->q->preset(preset_file(m, m->preset.text), m->a, m->diags);
    for (size_t i = 0; p && i < p->n_paths; i++) {
        if (p->paths[i].allow & IR_WRITE && makes_way(m, &p->paths[i]))
            continue;
        rules_add(&m->rules, m->a,
                  (struct ir_rule){.path = arena_strn(m->a, p->paths[i].text, p->paths[i].len),
                                   .path_len = p->paths[i].len,
                                   .allow = with_exec(p->paths[i].allow),
                                   .origin = IR_PRESET,
                                   .flags = IR_OPTIONAL | IR_FOLLOW,
                                   .span = p->paths[i].span});
    }
}

/* Below every preset: sinks and sources without content, the own /proc, the private TMPDIR. */
static void add_floor(struct maker *m)
{
    static const char *const sinks[] = {ARTIFACT_SINKS};
    for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++)
        rules_add(&m->rules, m->a,
                  (struct ir_rule){.path = sinks[i],
                                   .path_len = (uint32_t)strlen(sinks[i]),
                                   .allow = IR_READ | IR_WRITE,
                                   .origin = IR_FLOOR,
                                   .type = IR_TYPE_FILE,
                                   .flags = IR_OPTIONAL});
    if (m->q->system == IR_LINUX)
        rules_add(&m->rules, m->a,
                  (struct ir_rule){.path = "/proc",
                                   .path_len = 5,
                                   .allow = IR_READ,
                                   .deny = IR_WRITE | IR_EXEC,
                                   .origin = IR_FLOOR,
                                   .type = IR_TYPE_DIR});
    rules_add(&m->rules, m->a,
              (struct ir_rule){.path = "", .allow = IR_ALL, .root = IR_ROOT_TMPDIR, .origin = IR_FLOOR, .type = IR_TYPE_DIR});
}

/* ---- Environment ---------------------------------------------------------------------------------------- */

static void add_env_names(struct maker *m, const struct decl_profile *p, struct env_names *out)
{
    if (!p->env_preset.text || !strcmp(p->env_preset.text, "standard")) {
        const struct decl_profile *preset = m->q->preset("env-standard", m->a, m->diags);
        for (size_t i = 0; preset && i < preset->n_env_allow; i++)
            env_names_add(out, m->a, preset->env_allow[i].name, (struct span){0});
    }
    for (size_t i = 0; i < p->n_env_allow; i++)
        env_names_add(out, m->a, p->env_allow[i].name, p->env_allow[i].span);
}

static int by_set_name(const void *x, const void *y)
{
    const struct ir_env_set *a = x, *b = y;
    int c = strcmp(a->name, b->name);
    return c ? c : a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

/* Loader variables run code of the caller's choice in the program: that is said, whoever asked for it. */
static void warn_of_loaders(struct maker *m)
{
    const struct decl_profile *d = m->q->profile;
    for (size_t i = 0; i < d->n_env_allow; i++)
        if (env_names_loader(d->env_allow[i].name))
            diag_add(m->diags, DIAG_LOADER_VARIABLE, d->env_allow[i].span, "%s decides what code the program loads",
                     diag_escape(m->a, d->env_allow[i].name, strlen(d->env_allow[i].name)));
    for (size_t i = 0; i < d->n_env_set; i++)
        if (env_names_loader(d->env_set[i].name))
            diag_add(m->diags, DIAG_LOADER_VARIABLE, d->env_set[i].span, "%s decides what code the program loads",
                     diag_escape(m->a, d->env_set[i].name, strlen(d->env_set[i].name)));
}

static void finish_env(struct maker *m)
{
    env_names_normalise(&m->env, m->a);
    m->p->env_pass = m->env.items;
    m->p->n_env_pass = m->env.n;
}

static void take_env_set(struct maker *m)
{
    const struct decl_profile *d = m->q->profile;
    struct ir_policy *p = m->p;
    p->n_env_set = d->n_env_set;
    p->env_set = arena_array(m->a, d->n_env_set, sizeof *p->env_set);
    if (!d->n_env_set)
        return;
    memcpy(p->env_set, d->env_set, d->n_env_set * sizeof *p->env_set);
    qsort(p->env_set, p->n_env_set, sizeof *p->env_set, by_set_name);
    for (size_t i = 1; i < p->n_env_set; i++) {
        if (strcmp(p->env_set[i - 1].name, p->env_set[i].name) != 0)
            continue;
        struct diag *e = diag_add(m->diags, DIAG_DUPLICATE_KEY, p->env_set[i].span, "%s is set twice",
                                  diag_escape(m->a, p->env_set[i].name, strlen(p->env_set[i].name)));
        diag_also(m->diags, e, p->env_set[i - 1].span, "first set here");
    }
}

/* ---- Ceilings and trust --------------------------------------------------------------------------------- */

static void apply_ceiling(struct maker *m, const struct decl_profile *c)
{
    struct resolver r;
    struct rule_list cap = {0};
    struct env_names names = {0};
    resolve_init(&r, m->q->env, m->q->system, m->a, m->diags);
    r.said_unresolved = true;
    add_paths(m, &r, c, false, &cap);
    ceiling_rules(&m->rules, &cap, c, m->a, m->diags);
    ceiling_network(m->p, c, m->diags);
    ceiling_timeout(m->p, c, m->diags);
    m->preset = ceiling_preset(m->preset, c, m->diags);
    add_env_names(m, c, &names);
    env_names_normalise(&names, m->a);
    ceiling_env(&m->env, &names, c, m->a, m->diags);
    ceiling_env_set(m->p, &names, c, m->diags);
}

/* Trust is asked for by the declaration and granted by somebody else: the command line, or every ceiling. */
static void decide_trust(struct maker *m)
{
    const struct decl_profile *d = m->q->profile;
    if (d->trust != DECL_TRUST_CORE)
        return;
    bool granted = m->q->n_ceilings > 0;
    for (size_t i = 0; i < m->q->n_ceilings; i++)
        granted &= m->q->ceilings[i]->trust == DECL_TRUST_CORE;
    m->p->core = granted || m->q->trust_core;
    m->p->trust_span = d->trust_span;
    if (m->p->core) {
        diag_add(m->diags, DIAG_TRUST_CORE, d->trust_span, "the program runs unconfined: only its time is limited");
        return;
    }
    struct diag *e = diag_add(m->diags, DIAG_TRUST_REQUEST, d->trust_span, "`trust core` was not granted: the program is confined");
    diag_hint(m->diags, e, "a ceiling that says `trust core`, or --trust-core, grants it");
}

/* ---- Names, TMPDIR, notes ------------------------------------------------------------------------------- */

static int by_alias_name(const void *x, const void *y)
{
    return strcmp(((const struct ir_alias *)x)->name, ((const struct ir_alias *)y)->name);
}

static int by_link(const void *x, const void *y)
{
    return ir_path_cmp(((const struct ir_link *)x)->link, ((const struct ir_link *)y)->link);
}

/* Is anything granted at, above or beneath this path? What a ceiling cut away needs no second name. */
static bool reachable(struct maker *m, const char *path)
{
    size_t first;
    if (rules_beneath(&m->rules, IR_ROOT_SLASH, path, &first))
        return true;
    /* Looked up component by component: there may be as many names as rules. */
    char *up = arena_str(m->a, path);
    for (;;) {
        const struct ir_rule *r = rules_at(&m->rules, IR_ROOT_SLASH, up);
        if (r && r->origin != IR_FLOOR)
            return true;
        char *slash = strrchr(up, '/');
        if (!slash || !slash[1])
            return false;
        slash[slash == up] = '\0';
    }
}

static void take_names(struct maker *m)
{
    struct resolver *r = &m->resolver;
    struct ir_policy *p = m->p;
    p->aliases = r->aliases;
    p->links = r->links;
    if (r->n_aliases)
        qsort(r->aliases, r->n_aliases, sizeof *r->aliases, by_alias_name);
    if (r->n_links)
        qsort(r->links, r->n_links, sizeof *r->links, by_link);
    for (size_t i = 0; i < r->n_aliases; i++) {
        bool again = p->n_aliases && !strcmp(p->aliases[p->n_aliases - 1].name, r->aliases[i].name);
        if (!again && reachable(m, r->aliases[i].path))
            p->aliases[p->n_aliases++] = r->aliases[i];
    }
    for (size_t i = 0; i < r->n_links; i++) {
        bool again = p->n_links && !strcmp(p->links[p->n_links - 1].link, r->links[i].link);
        if (!again && reachable(m, r->links[i].target))
            p->links[p->n_links++] = r->links[i];
    }
}

static bool holds_grant(const struct maker *m, const char *dir)
{
    for (size_t i = 0; i < m->rules.n; i++) {
        const struct ir_rule *r = &m->rules.items[i];
        bool host = r->origin == IR_DECLARED || r->origin == IR_SKILL_DIR;
        if (host && r->root == IR_ROOT_SLASH && ir_path_within(r->path, dir))
            return true;
    }
    for (size_t i = 0; i < m->p->n_aliases; i++)
        if (ir_path_within(m->p->aliases[i].name, dir))
            return true;
    for (size_t i = 0; i < m->p->n_links; i++)
        if (ir_path_within(m->p->links[i].link, dir))
            return true;
    return false;
}

/* The private TMPDIR must neither hide a grant nor lie in one. */
static void choose_tmpdirs(struct maker *m)
{
    static const char *const candidates[] = {ARTIFACT_TMPDIRS};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (!holds_grant(m, candidates[i]))
            m->p->tmpdirs[m->p->n_tmpdirs++] = candidates[i];
    if (!m->p->n_tmpdirs && m->q->system == IR_LINUX)
        diag_add(m->diags, DIAG_NO_TMPDIR, m->q->profile->span,
                 "no folder is left for the private TMPDIR: grants lie beneath /tmp, /var/tmp, /mnt and /media");
}

static bool lies_in(const char *path, const char *dir)
{
    return dir && strcmp(dir, "/") != 0 && ir_path_within(path, dir);
}

static void note_baked_paths(struct maker *m)
{
    const struct resolve_env *e = m->q->env;
    for (size_t i = 0; i < m->rules.n && !m->diags->n_errors; i++) {
        const struct ir_rule *r = &m->rules.items[i];
        if (r->origin != IR_DECLARED && r->origin != IR_SKILL_DIR)
            continue;
        const char *what = lies_in(r->path, e->home)       ? "home"
                           : lies_in(r->path, e->work_dir) ? "working"
                           : lies_in(r->path, e->temp_dir) ? "temporary"
                                                           : NULL;
        if (!what)
            continue;
        diag_add(m->diags, DIAG_BAKED_PATH, r->span, "the artifact holds paths of this machine: %s lies in the %s folder",
                 diag_escape(m->a, r->path, r->path_len), what);
        return;
    }
}

/* ---- The whole ------------------------------------------------------------------------------------------ */

static void take_scalars(struct maker *m)
{
    const struct decl_profile *d = m->q->profile;
    struct ir_policy *p = m->p;
    p->system = m->q->system;
    p->name = d->name.text ? d->name.text : "main";
    p->network = d->network_said ? d->network : IR_NETWORK_NONE;
    p->network_span = d->network_span;
    p->timeout_ms = d->timeout_said ? d->timeout_ms : POLICY_TIMEOUT_MS;
    p->timeout_span = d->timeout_span;
    p->kill_after_ms = POLICY_KILL_AFTER_MS;
    p->image = m->q->image ? (struct ir_text){m->q->image, {0}} : d->image;
    m->preset = d->preset.text ? d->preset : (struct ir_text){"standard", {0}};
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void take_accepted(struct maker *m)
{
    struct ir_policy *p = m->p;
    p->accepted = arena_array(m->a, m->q->n_accepted, sizeof *p->accepted);
    for (size_t i = 0; i < m->q->n_accepted; i++)
        p->accepted[i] = m->q->accepted[i];
    if (m->q->n_accepted)
        qsort(p->accepted, m->q->n_accepted, sizeof *p->accepted, by_text);
    for (size_t i = 0; i < m->q->n_accepted; i++)
        if (!p->n_accepted || strcmp(p->accepted[p->n_accepted - 1], p->accepted[i]) != 0)
            p->accepted[p->n_accepted++] = p->accepted[i];
}

static void seal(struct maker *m)
{
    struct buf text = {0};
    struct sha256 s;
    unsigned char digest[SHA256_LEN];
    m->p->rules = m->rules.items;
    m->p->n_rules = m->rules.n;
    ir_print(m->p, &text);
    if (!buf_ok(&text) && m->a->oom)
        m->a->oom(m->a->oom_ctx);
    sha256_init(&s);
    sha256_add(&s, text.data, text.len);
    sha256_end(&s, digest);
    sha256_hex(digest, m->p->digest);
    buf_done(&text);
}

const struct ir_policy *policy_make(const struct policy_request *q, struct arena *a, struct diag_list *diags)
{
    struct maker m = {.q = q, .a = a, .diags = diags, .p = ARENA_NEW(a, struct ir_policy)};
    size_t errors = diags->n_errors;
    resolve_init(&m.resolver, q->env, q->system, a, diags);
    take_scalars(&m);
    decide_trust(&m);
    add_paths(&m, &m.resolver, q->profile, true, &m.rules);
    add_env_names(&m, q->profile, &m.env);
    env_names_normalise(&m.env, a);
    warn_of_loaders(&m);
    take_env_set(&m);
    for (size_t i = 0; i < q->n_ceilings; i++)
        apply_ceiling(&m, q->ceilings[i]);
    add_skill_dir(&m);
    warn_of_everything(&m);
    add_preset(&m);
    add_floor(&m);
    rules_merge(&m.rules);
    rules_fold(&m.rules);
    finish_env(&m);
    take_names(&m);
    choose_tmpdirs(&m);
    take_accepted(&m);
    note_baked_paths(&m);
    seal(&m);
    return diags->n_errors == errors ? m.p : NULL;
}
