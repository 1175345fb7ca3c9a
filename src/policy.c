#include "policy.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "ask.h"
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
    struct ask_context context; /* of the declaration */
    struct ask ask;
    const struct ask **ceilings;
    struct rule_list rules;
    const struct ir_rule *cut_by, *cut_first; /* of the note on cuts that is in the making */
    size_t cuts;
};

/* ---- What was asked for ---------------------------------------------------------------------------------
 */

static const char *preset_file(struct maker *m, const char *name)
{
    return arena_printf(m->a, "%s.%s", name, m->q->system == IR_MACOS ? "macos" : "linux");
}

static const struct ask *ask_of(struct maker *m, struct ask_context *c, const struct policy_input *in,
                                struct resolver *r, enum resolve_want want)
{
    ask_begin(c, m->a, m->diags, r);
    c->want = want;
    c->env_standard = m->q->preset("env-standard", m->a, m->diags);
    ask_profiles(c, in->profiles, in->n_profiles);
    return ask_make(c, in->profile);
}

static void ask_declaration(struct maker *m)
{
    resolve_init(&m->resolver, m->q->env, m->q->system, m->a, m->diags);
    m->ask = *ask_of(m, &m->context, &m->q->declaration, &m->resolver, WANT_PATH);
    /* Without a word. */
    struct ask *k = &m->ask;
    if (!k->preset.text)
        k->preset = (struct ir_text){"standard", {0}};
    if (!k->limits[IR_LIMIT_TIMEOUT].said)
        k->limits[IR_LIMIT_TIMEOUT].value = ASK_TIMEOUT_MS;
    if (!k->limits[IR_LIMIT_KILL_AFTER].said)
        k->limits[IR_LIMIT_KILL_AFTER].value = ASK_KILL_AFTER_MS;
}

static void ask_ceilings(struct maker *m)
{
    m->ceilings = arena_array(m->a, m->q->n_ceilings + 1, sizeof *m->ceilings);
    for (size_t i = 0; i < m->q->n_ceilings; i++) {
        struct ask_context *c = arena_alloc(m->a, sizeof *c);
        struct resolver *r = arena_alloc(m->a, sizeof *r);
        resolve_init(r, m->q->env, m->q->system, m->a, m->diags);
        r->said_unresolved = r->quiet = true;
        m->ceilings[i] = ask_of(m, c, &m->q->ceilings[i], r, WANT_NAME);
    }
}

/* What stands in the floor as the program's own is not granted again: the private TMPDIR, and on Linux /proc,
 * which can be read whole and never be written (as uid 0 much of /proc/sys could be, without capabilities).
 */
static bool is_floor(struct maker *m, const struct ir_rule *r)
{
    if (r->deny ||
        (r->root != IR_ROOT_TMPDIR &&
         (m->q->system != IR_LINUX || !ir_path_within(r->path, "/proc") || r->root != IR_ROOT_SLASH)))
        return false;
    if (r->root == IR_ROOT_SLASH && r->allow & IR_WRITE)
        diag_add(m->diags, DIAG_CANNOT, r->span, "/proc is the sandbox's own and cannot be written");
    return true;
}

static void leave_floor_alone(struct maker *m)
{
    struct rule_list *l = &m->ask.rules;
    size_t w = 0;
    if (!rules_within(l, IR_ROOT_SLASH, "/proc").n && !rules_within(l, IR_ROOT_TMPDIR, "").n)
        return;
    for (size_t i = 0; i < l->n; i++)
        if (!is_floor(m, &l->items[i]))
            l->items[w++] = l->items[i];
    l->n = w;
}

static void report_reopened(void *ctx, const struct ir_rule *r, unsigned kinds, const struct ir_rule *above)
{
    struct maker *m = ctx;
    struct diag *d = diag_add(m->diags, DIAG_REOPENED, r->span, "%s of %s is allowed beneath a deny",
                              kinds & IR_READ    ? "reading"
                              : kinds & IR_WRITE ? "writing"
                                                 : "executing",
                              ask_shown(&m->context, r->root, r->path));
    diag_also(m->diags, d, above->span, "the deny is here");
}

static void warn_of_everything(struct maker *m)
{
    const struct ir_rule *r = rules_at(&m->ask.rules, IR_ROOT_SLASH, "/");
    if (r && r->allow)
        diag_add(m->diags, DIAG_GRANTS_ALL, r->span, "this grants %s the whole file system",
                 r->allow & IR_WRITE ? "writing to" : "reading");
}

/* ---- Programs ---------------------------------------------------------------------------------------------
 */

/* A listed script runs its interpreter, and a program its loader: without them it would not start, and which
 * they are the file itself says. The loaders of the system come with every list. */
static void check_program(struct maker *m, const struct ir_rule *r)
{
    char text[INTERPRETER_BYTES];
    if (!resolve_interpreter(&m->resolver, r->path, text))
        return;
    /* Entries of presets stand as written: the loaders are found by the very name that programs have of them.
     */
    const struct ir_rule *named = rules_at(&m->rules, IR_ROOT_SLASH, text);
    if (named && named->allow & IR_EXEC)
        return;
    struct decl_path p = {.text = text,
                          .len = (uint32_t)strlen(text),
                          .allow = IR_EXEC,
                          .flags = DECL_LITERAL,
                          .span = r->span};
    struct ir_rule at;
    bool pattern = false;
    size_t names = m->resolver.n_aliases, links = m->resolver.n_links;
    if (resolve_path(&m->resolver, &p, WANT_NAME, &at, &pattern) != RESOLVED)
        return;
    m->resolver.n_aliases = names;
    m->resolver.n_links = links;
    if (rules_allow(&m->rules, at.root, at.path, IR_EXEC))
        return;
    struct diag *d = diag_add(m->diags, DIAG_INTERPRETER, r->span, "%s is run by %s, which is not listed",
                              diag_escape(m->a, r->path, r->path_len), diag_escape(m->a, text, strlen(text)));
    diag_hint(m->diags, d, "write exec \"%s\" as well", diag_escape(m->a, text, strlen(text)));
}

static void check_programs(struct maker *m)
{
    if (m->ask.exec_default || !m->q->env->host)
        return;
    for (size_t i = 0; i < m->rules.n; i++) {
        const struct ir_rule *r = &m->rules.items[i];
        bool own = r->origin == IR_DECLARED && r->root == IR_ROOT_SLASH;
        if (own && r->allow & IR_EXEC && r->type == IR_TYPE_FILE)
            check_program(m, r);
    }
}

/* ---- Presets ----------------------------------------------------------------------------------------------
 */

static void add_skill_dir(struct maker *m, struct rule_list *l)
{
    const struct ask *k = &m->ask;
    const char *named = k->skill_dir == DECL_SKILL_DIR_PATH ? k->skill_dir_path : m->q->env->skill_dir;
    if (k->skill_dir == DECL_SKILL_DIR_NONE || !named)
        return;
    const char *path = resolve_folder(&m->resolver, named);
    if (!path) {
        diag_add(m->diags, DIAG_PATH_ACCESS, k->skill_dir_span,
                 "the declaration's folder %s cannot be looked at", diag_escape(m->a, named, strlen(named)));
        return;
    }
    m->p->skill_dir = path;
    rules_add(l, m->a,
              (struct ir_rule){.path = path,
                               .path_len = (uint32_t)strlen(path),
                               .allow = (uint8_t)(IR_READ | (k->exec_default ? IR_EXEC : 0)),
                               .origin = IR_SKILL_DIR,
                               .type = m->q->env->host ? IR_TYPE_DIR : IR_TYPE_ANY,
                               .span = k->skill_dir_span});
}

/* A folder that is private to the run would hide what the declaration grants beneath it, or lend it writing.
 */
static bool makes_way(struct maker *m, const struct decl_path *p, const struct rule_list *skill)
{
    const char *path = arena_strn(m->a, p->text, p->len);
    const struct rule_list *lists[] = {&m->ask.rules, skill};
    for (size_t l = 0; l < 2; l++) {
        size_t first, n = rules_beneath(lists[l], IR_ROOT_SLASH, path, &first);
        for (size_t i = first; i < first + n; i++) {
            const struct ir_rule *r = &lists[l]->items[i];
            if (!r->allow)
                continue;
            diag_add(m->diags, DIAG_PRESET_CUT, r->span,
                     "the private %s of the preset makes way for this grant", path);
            return true;
        }
    }
    return false;
}

/* Entries of presets are looked up at launch: they may be missing, or links that only root could have made.
 */
static void add_preset(struct maker *m, const char *name, bool exec, struct rule_list *l,
                       const struct rule_list *skill)
{
    const struct decl_profile *p = m->q->preset(preset_file(m, name), m->a, m->diags);
    for (size_t i = 0; p && i < p->n_paths; i++) {
        const struct decl_path *path = &p->paths[i];
        if (path->allow & IR_WRITE && makes_way(m, path, skill))
            continue;
        uint8_t allow = (uint8_t)(path->allow | (exec && path->allow & IR_READ ? IR_EXEC : 0));
        rules_add(l, m->a,
                  (struct ir_rule){.path = arena_strn(m->a, path->text, path->len),
                                   .path_len = path->len,
                                   .allow = allow,
                                   .origin = IR_PRESET,
                                   .flags = IR_OPTIONAL | IR_FOLLOW,
                                   .span = path->span});
    }
}

/* One note for all that one clause cuts. */
static void say_cuts(struct maker *m)
{
    if (!m->cuts)
        return;
    const char *what = m->cut_first->origin == IR_SKILL_DIR ? "the declaration's own folder"
                       : m->cut_first->origin == IR_FLOOR   ? "the floor"
                                                            : "the preset";
    const char *path = ask_shown(&m->context, m->cut_first->root, m->cut_first->path);
    if (m->cuts == 1)
        diag_add(m->diags, DIAG_PRESET_CUT, m->cut_by->span, "this also cuts %s from %s", path, what);
    else
        diag_add(m->diags, DIAG_PRESET_CUT, m->cut_by->span, "this also cuts %zu entries from %s, such as %s",
                 m->cuts, what, path);
    m->cuts = 0;
}

static void report_cut(void *ctx, const struct ir_rule *cut, unsigned kinds, const struct ir_rule *by)
{
    struct maker *m = ctx;
    (void)kinds;
    if (m->cuts && (m->cut_by != by || m->cut_first->origin != cut->origin))
        say_cuts(m);
    if (!m->cuts++) {
        m->cut_by = by;
        m->cut_first = cut;
    }
}

/* What every program has beneath its declaration: the presets, the loaders of a list, the skill's folder. */
static void add_given(struct maker *m)
{
    struct rule_list given = {0}, loaders = {0}, skill = {0};
    add_skill_dir(m, &skill);
    if (strcmp(m->ask.preset.text, "none") != 0)
        add_preset(m, m->ask.preset.text, m->ask.exec_default, &given, &skill);
    for (size_t i = 0; i < m->q->n_ceilings; i++) {
        if (m->ask.exec_default && !m->ceilings[i]->exec_default)
            m->ask.exec_span = m->ceilings[i]->exec_span;
        m->ask.exec_default &= m->ceilings[i]->exec_default;
    }
    if (!m->ask.exec_default)
        add_preset(m, "loader", true, &loaders, &skill);
    for (size_t i = 0; i < skill.n; i++)
        rules_add(&given, m->a, skill.items[i]);
    rules_merge(&given);
    rules_merge(&loaders);
    for (size_t i = 0; i < m->q->n_ceilings; i++) {
        ceiling_presets(&m->context, &given, m->ceilings[i], false);
        ceiling_presets(&m->context, &loaders, m->ceilings[i], true);
    }
    for (size_t i = 0; i < loaders.n; i++)
        rules_add(&given, m->a, loaders.items[i]);
    rules_merge(&given);
    rules_cut(&given, &m->ask.rules, report_cut, m);
    say_cuts(m);
    for (size_t i = 0; i < given.n; i++)
        rules_add(&m->rules, m->a, given.items[i]);
}

static bool denies(const struct rule_list *l, uint8_t root, const char *path, struct ir_rule *floor)
{
    const struct ir_rule *r = rules_at(l, root, path);
    if (!r || !(r->deny & floor->allow))
        return false;
    floor->cut = (uint8_t)(r->deny & floor->allow);
    floor->allow &= (uint8_t)~r->deny;
    floor->span = r->span;
    return true;
}

static void add_floor_rule(struct maker *m, struct ir_rule r)
{
    struct ir_rule before = r;
    r.path_len = (uint32_t)strlen(r.path);
    r.origin = IR_FLOOR;
    if (denies(&m->ask.rules, r.root, r.path, &r)) {
        report_cut(m, &r, before.allow, rules_at(&m->ask.rules, r.root, r.path));
        say_cuts(m);
    }
    rules_add(&m->rules, m->a, r);
}

/* Below every preset: sinks and sources without content, the own /proc, the private TMPDIR. */
static void add_floor(struct maker *m)
{
    static const char *const sinks[] = {ARTIFACT_SINKS};
    for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++)
        add_floor_rule(m, (struct ir_rule){.path = sinks[i],
                                           .allow = IR_READ | IR_WRITE,
                                           .type = IR_TYPE_FILE,
                                           .flags = IR_OPTIONAL});
    if (m->q->system == IR_LINUX)
        add_floor_rule(
            m, (struct ir_rule){
                   .path = "/proc", .allow = IR_READ, .deny = IR_WRITE | IR_EXEC, .type = IR_TYPE_DIR});
    add_floor_rule(
        m, (struct ir_rule){.path = "", .allow = IR_ALL, .root = IR_ROOT_TMPDIR, .type = IR_TYPE_DIR});
}

/* ---- Environment ----------------------------------------------------------------------------------------
 */

/* Loader variables run code of the caller's choice in the program: that is said, whoever asked for it. */
static void warn_of_loaders(struct maker *m)
{
    const struct ask *k = &m->ask;
    for (size_t i = 0; i < k->env_allow.n; i++)
        if (env_names_loader(k->env_allow.items[i].name))
            diag_add(m->diags, DIAG_LOADER_VARIABLE, k->env_allow.items[i].span,
                     "%s decides what code the program loads",
                     diag_escape(m->a, k->env_allow.items[i].name, strlen(k->env_allow.items[i].name)));
    for (size_t i = 0; i < k->n_env_set; i++)
        if (env_names_loader(k->env_set[i].name))
            diag_add(m->diags, DIAG_LOADER_VARIABLE, k->env_set[i].span,
                     "%s decides what code the program loads",
                     diag_escape(m->a, k->env_set[i].name, strlen(k->env_set[i].name)));
}

/* What passes, less what is denied: names go, and a deny stays only where a prefix would let it pass. */
static void take_env(struct maker *m)
{
    struct ir_policy *p = m->p;
    const struct env_names *allow = &m->ask.env_allow, *deny = &m->ask.env_deny;
    p->env_pass = arena_array(m->a, allow->n, sizeof *p->env_pass);
    for (size_t i = 0; i < allow->n; i++)
        if (!env_names_deny(deny, allow->items[i].name))
            p->env_pass[p->n_env_pass++] = allow->items[i];
    const struct env_names left = {.items = p->env_pass, .n = p->n_env_pass};
    p->env_deny = arena_array(m->a, deny->n, sizeof *p->env_deny);
    for (size_t i = 0; i < deny->n; i++)
        if (env_names_meet(&left, deny->items[i].name))
            p->env_deny[p->n_env_deny++] = deny->items[i];
    p->env_set = m->ask.env_set;
    p->n_env_set = m->ask.n_env_set;
}

/* ---- Trust ------------------------------------------------------------------------------------------------
 */

/* Trust is asked for by the declaration and granted by somebody else: the command line, or every ceiling. */
static void decide_trust(struct maker *m)
{
    const struct ask *k = &m->ask;
    if (k->trust != DECL_TRUST_CORE)
        return;
    bool granted = false;
    for (size_t i = 0; i < m->q->n_ceilings; i++)
        granted |= !m->ceilings[i]->decl->only_said;
    for (size_t i = 0; i < m->q->n_ceilings; i++)
        granted &= m->ceilings[i]->trust == DECL_TRUST_CORE || m->ceilings[i]->decl->only_said;
    m->p->core = granted || m->q->trust_core;
    m->p->trust_span = k->trust_span;
    if (m->p->core) {
        diag_add(m->diags, DIAG_TRUST_CORE, k->trust_span,
                 "the program runs unconfined: only its time is limited");
        return;
    }
    struct diag *e = diag_add(m->diags, DIAG_TRUST_REQUEST, k->trust_span,
                              "`trust core` was not granted: the program is confined");
    diag_hint(m->diags, e, "a ceiling that says `trust core`, or --trust-core, grants it");
}

/* ---- Names, TMPDIR, notes -------------------------------------------------------------------------------
 */

static int by_alias_name(const void *x, const void *y)
{
    return strcmp(((const struct ir_alias *)x)->name, ((const struct ir_alias *)y)->name);
}

static int by_link(const void *x, const void *y)
{
    return ir_path_cmp(((const struct ir_link *)x)->link, ((const struct ir_link *)y)->link);
}

static bool is_asked(const struct ir_rule *r)
{
    return r->origin == IR_DECLARED || r->origin == IR_SKILL_DIR;
}

/* Does the declaration still say anything at, above or beneath this path? What a scope left behind or a
 * ceiling cut away needs no second name, and presets have names of their own. */
static bool reachable(struct maker *m, const char *path)
{
    size_t first, n = rules_beneath(&m->rules, IR_ROOT_SLASH, path, &first);
    for (size_t i = first; i < first + n; i++)
        if (is_asked(&m->rules.items[i]))
            return true;
    /* Looked up component by component: there may be as many names as rules. */
    char *up = arena_str(m->a, path);
    for (;;) {
        const struct ir_rule *r = rules_at(&m->rules, IR_ROOT_SLASH, up);
        if (r && is_asked(r))
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
        if (!again && reachable(m, r->links[i].end ? r->links[i].end : r->links[i].target))
            p->links[p->n_links++] = r->links[i];
    }
}

static bool is_own(const struct ir_rule *r)
{
    return r->origin == IR_DECLARED || r->origin == IR_SKILL_DIR;
}

static bool holds_grant(const struct maker *m, const char *dir)
{
    const struct rule_list there = rules_within(&m->rules, IR_ROOT_SLASH, dir);
    for (size_t i = 0; i < there.n; i++)
        if (is_own(&there.items[i]) && there.items[i].allow)
            return true;
    if (m->ask.workdir.path && m->ask.workdir.root == IR_ROOT_SLASH &&
        ir_path_within(m->ask.workdir.path, dir))
        return true;
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
        diag_add(
            m->diags, DIAG_NO_TMPDIR, m->ask.decl->span,
            "no folder is left for the private TMPDIR: grants lie beneath /tmp, /var/tmp, /mnt and /media");
}

/* The first rule of the declaration or its folder that lies in a folder of the builder. */
static const struct ir_rule *first_within(const struct maker *m, const char *dir)
{
    if (!dir || !strcmp(dir, "/"))
        return NULL;
    const struct rule_list there = rules_within(&m->rules, IR_ROOT_SLASH, dir);
    const struct ir_rule *r = there.items, *end = r + there.n;
    while (r < end && !is_own(r))
        r++;
    return r < end ? r : NULL;
}

static void note_baked_paths(struct maker *m)
{
    const struct resolve_env *e = m->q->env;
    const struct {
        const char *name;
        const struct ir_rule *rule;
    } found[] = {{"home", first_within(m, e->home)},
                 {"working", first_within(m, e->work_dir)},
                 {"temporary", first_within(m, e->temp_dir)}};
    size_t first = 0;
    for (size_t i = 1; i < sizeof found / sizeof *found; i++)
        if (found[i].rule && (!found[first].rule || found[i].rule < found[first].rule))
            first = i;
    const struct ir_rule *r = found[first].rule;
    if (!r || m->diags->n_errors)
        return;
    diag_add(m->diags, m->q->portable ? DIAG_NOT_PORTABLE : DIAG_BAKED_PATH, r->span,
             "the artifact holds paths of this machine: %s lies in the %s folder",
             diag_escape(m->a, r->path, r->path_len), found[first].name);
}

/* ---- The whole ------------------------------------------------------------------------------------------
 */

static void take_ask(struct maker *m)
{
    const struct ask *k = &m->ask;
    struct ir_policy *p = m->p;
    p->system = m->q->system;
    p->name = k->decl->name.text ? k->decl->name.text : "main";
    p->span = k->decl->span;
    p->exec_default = k->exec_default;
    p->exec_span = k->exec_span;
    p->network = k->network;
    memcpy(p->limits, k->limits, sizeof p->limits);
    p->patterns = k->patterns.items;
    p->n_patterns = k->patterns.n;
    p->late = m->q->env->late;
    p->n_late = m->q->env->n_late;
    p->workdir = k->workdir;
    p->spawn_span = k->spawn_span;
    p->fds = k->fds;
    p->n_fds = k->n_fds;
    p->tty = (uint8_t)k->tty;
    p->tty_span = k->tty_span;
    p->user = k->user;
    p->preset = k->preset;
    p->image = m->q->image ? (struct ir_text){m->q->image, {0}} : k->image;
    take_env(m);
}

/* The declaration's list may be long: what is given is added to it, so that there is only one. */
static void join_rules(struct maker *m)
{
    struct rule_list given = m->rules;
    m->rules = m->ask.rules;
    m->ask.rules = (struct rule_list){0};
    rules_join(&m->rules, &given, m->a);
}

static void fold(struct rule_list *l, struct arena *a)
{
    rules_fold(l);
    l->items = arena_shrink(a, l->items, &l->cap, l->n, sizeof *l->items);
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

static void hash(void *ctx, struct buf *piece)
{
    sha256_add(ctx, piece->data, piece->len);
}

static void seal(struct maker *m)
{
    struct buf piece = {0};
    struct sha256 s;
    unsigned char digest[SHA256_LEN];
    m->p->rules = m->rules.items;
    m->p->n_rules = m->rules.n;
    sha256_init(&s);
    ir_print_pieces(m->p, &piece, hash, &s);
    if (!buf_ok(&piece) && m->a->oom)
        m->a->oom(m->a->oom_ctx);
    sha256_end(&s, digest);
    sha256_hex(digest, m->p->digest);
    buf_done(&piece);
}

const struct ir_policy *policy_make(const struct policy_request *q, struct arena *a, struct diag_list *diags)
{
    struct maker m = {.q = q, .a = a, .diags = diags, .p = ARENA_NEW(a, struct ir_policy)};
    size_t errors = diags->n_errors;
    ask_declaration(&m);
    ask_ceilings(&m);
    decide_trust(&m);
    leave_floor_alone(&m);
    rules_reopened(&m.ask.rules, report_reopened, &m);
    warn_of_loaders(&m);
    for (size_t i = 0; i < q->n_ceilings; i++)
        ceiling_apply(&m.context, &m.ask, m.ceilings[i]);
    warn_of_everything(&m);
    add_given(&m);
    add_floor(&m);
    join_rules(&m);
    check_programs(&m);
    fold(&m.rules, a);
    take_ask(&m);
    take_names(&m);
    choose_tmpdirs(&m);
    take_accepted(&m);
    note_baked_paths(&m);
    seal(&m);
    return diags->n_errors == errors ? m.p : NULL;
}
