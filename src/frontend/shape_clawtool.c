/* clawtool: `sandboxes:` of its configuration, profiles by name. */
#include "shapes.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const struct yaml_node *marker(const struct yaml_node *root)
{
    return yaml_get(root, "sandboxes");
}

/* `${NAME}` at the start is `$NAME`. */
static void put_path(struct shape_reader *r, const char *clause, const struct yaml_node *n, unsigned flags)
{
    const char *end = n->size > 3 && !memcmp(n->text, "${", 2) ? memchr(n->text, '}', n->size) : NULL;
    if (!end) {
        shape_put_path(r, clause, n->text, n->size, n, flags);
        return;
    }
    size_t name = (size_t)(end - n->text) - 2, rest = n->size - name - 3;
    char *text = arena_alloc(r->arena, 1 + name + rest);
    text[0] = '$';
    memcpy(text + 1, n->text + 2, name);
    memcpy(text + 1 + name, end + 1, rest);
    shape_put_path(r, clause, text, 1 + name + rest, n, flags);
}

static void read_path(struct shape_reader *r, const struct yaml_node *n)
{
    static const char *const names[] = {"path", "mode"};
    if (!shape_map(r, n, "paths", names, 2))
        return;
    const struct yaml_node *path = yaml_get(n, "path"), *mode = yaml_get(n, "mode");
    int word = mode ? shape_word(r, mode, "mode", "ro|rw|none") : 0;
    if (!path) {
        if (n->pruned)
            return;
        struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, n->span, "this map has no `path`");
        diag_hint(r->diags, d, "write {path: P, mode: ro}");
    } else if (word >= 0 && yaml_is_text(r->diags, path, "path", "a path")) {
        static const char *const clauses[] = {"read_only", "write", "deny"};
        put_path(r, clauses[word], path, word < 2 ? DECL_OPTIONAL : 0);
    }
}

static void read_network(struct shape_reader *r, const struct yaml_node *n)
{
    static const char *const names[] = {"policy", "allow"};
    if (!shape_map(r, n, "network", names, 2))
        return;
    const struct yaml_node *policy = yaml_get(n, "policy"), *allow = yaml_get(n, "allow");
    int word = policy ? shape_word(r, policy, "policy", "none|loopback|allowlist|open") : 0;
    static const char *const modes[] = {"none", "loopback", NULL, "open"};
    bool entries = allow && (allow->kind != YAML_LIST || allow->first || allow->pruned);
    if (word == 2 && !entries) {
        if (n->pruned)
            return;
        struct diag *d =
            diag_add(r->diags, DIAG_BAD_VALUE, policy->span, "policy cannot have this value without entries");
        diag_hint(r->diags, d, "write allow: and a list of entries, HOST:PORT each");
    } else if (word == 2) {
        shape_put_list(r, "network.allow", allow);
    } else if (word >= 0 && entries) {
        struct diag *d = diag_add(r->diags, DIAG_CLASH, allow->key->span,
                                  "entries beside a policy that does not read them");
        diag_hint(r->diags, d, "write policy: allowlist");
    } else if (word >= 0 && policy) {
        shape_put(r, "network", modes[word], policy);
    }
}

/* A number with at most six decimals, so that its product with an hour in nanoseconds stays in range. */
static bool part(const char **s, const char *end, uint64_t *out_whole, uint64_t *out_frac,
                 uint64_t *out_scale)
{
    size_t n = 0;
    *out_whole = *out_frac = 0;
    *out_scale = 1;
    for (; *s < end && **s >= '0' && **s <= '9'; ++*s, n++)
        if ((*out_whole = *out_whole * 10 + (uint64_t)(**s - '0')) > 1000000000)
            return false;
    if (*s < end && **s == '.')
        for (++*s; *s < end && **s >= '0' && **s <= '9' && *out_scale < 1000000; ++*s, n++) {
            *out_frac = *out_frac * 10 + (uint64_t)(**s - '0');
            *out_scale *= 10;
        }
    return n > 0;
}

/* A duration as Go writes it, in milliseconds; NULL or what is wrong. */
static const char *go_duration(const char *s, size_t len, uint64_t *out_ms)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } UNITS[] = {{"ns", 1},         {"us", 1000},       {"ms", 1000000},
                 {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
    uint64_t ns = 0;
    for (const char *end = s + len; s < end;) {
        uint64_t whole, frac, scale, unit = 0;
        if (!part(&s, end, &whole, &frac, &scale))
            return "a number and a unit are expected";
        const char *word = s;
        while (s < end && *s >= 'a' && *s <= 'z')
            s++;
        for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
            if (strlen(UNITS[i].unit) == (size_t)(s - word) &&
                !memcmp(UNITS[i].unit, word, (size_t)(s - word)))
                unit = UNITS[i].ns;
        if (!unit)
            return "its unit is not one of ns, us, ms, s, m, h";
        if (whole > UINT64_C(1000000000000000000) / unit)
            return "it is too large";
        if (frac * unit % scale)
            return "it is finer than a millisecond";
        ns += whole * unit + frac * unit / scale;
        if (ns > UINT64_C(1000000000000000000))
            return "it is too large";
    }
    if (!ns)
        return "it is zero";
    if (ns % 1000000)
        return "it is finer than a millisecond";
    *out_ms = ns / 1000000;
    return NULL;
}

static void read_timeout(struct shape_reader *r, const struct yaml_node *n)
{
    uint64_t ms = 0;
    struct ir_limit *l = &r->builder.profile->limits[IR_LIMIT_TIMEOUT];
    if (!yaml_is_text(r->diags, n, "timeout", "a duration such as \"5m\" or \"1.5h\""))
        return;
    const char *why = go_duration(n->text, n->size, &ms);
    if (!why) {
        *l = (struct ir_limit){ms, true, n->span};
        return;
    }
    struct diag *d = diag_add(r->diags, DIAG_BAD_DURATION, n->span, "`%s` is no duration: %s",
                              diag_escape(r->arena, n->text, n->size), why);
    diag_hint(r->diags, d, "write a duration such as \"5m\" or \"1.5h\"; for no deadline leave the key out");
}

/* Digits and B, K, KB, M, MB, G, GB in any case, all of them powers of 1024; bare digits are bytes. */
static void read_memory(struct shape_reader *r, const struct yaml_node *n)
{
    static const char *const units[][2] = {{"", "B"},    {"B", "B"},    {"K", "KiB"}, {"KB", "KiB"},
                                           {"M", "MiB"}, {"MB", "MiB"}, {"G", "GiB"}, {"GB", "GiB"}};
    size_t digits = 0;
    while (n->kind == YAML_SCALAR && digits < n->size && n->text[digits] >= '0' && n->text[digits] <= '9')
        digits++;
    for (size_t i = 0; digits && i < sizeof units / sizeof *units; i++)
        if (strlen(units[i][0]) == n->size - digits &&
            !strncasecmp(units[i][0], n->text + digits, n->size - digits)) {
            const char *text = arena_printf(r->arena, "%.*s%s", (int)digits, n->text, units[i][1]);
            shape_put(r, "limits.memory", text, n);
            return;
        }
    struct diag *d =
        diag_add(r->diags, DIAG_BAD_SIZE, n->span, "memory is a number with B, K, KB, M, MB, G or GB");
    diag_hint(r->diags, d, "write a size such as 512MB");
}

/* Docker's shares: 1024 is a weight of 100. */
static void read_shares(struct shape_reader *r, const struct yaml_node *n)
{
    uint64_t shares;
    if (!shape_number(r, n, "cpu_shares", 2, 262144, &shares))
        return;
    uint64_t weight = (shares * 100 + 512) / 1024;
    weight = weight < 1 ? 1 : weight > 10000 ? 10000 : weight;
    shape_put(r, "limits.cpu-weight", arena_printf(r->arena, "%" PRIu64, weight), n);
}

static void read_limits(struct shape_reader *r, const struct yaml_node *n)
{
    static const char *const names[] = {"timeout", "memory", "cpu_shares", "process_count"};
    if (!shape_map(r, n, "limits", names, 4))
        return;
    uint64_t count;
    for (const struct yaml_node *e = n->first; e; e = e->next) {
        if (yaml_key_is(e, "timeout"))
            read_timeout(r, e);
        else if (yaml_key_is(e, "memory"))
            read_memory(r, e);
        else if (yaml_key_is(e, "cpu_shares"))
            read_shares(r, e);
        else if (yaml_key_is(e, "process_count") &&
                 shape_number(r, e, "process_count", 1, UINT32_MAX, &count))
            shape_put(r, "limits.processes", arena_strn(r->arena, e->text, e->size), e);
    }
}

/* Its names are shell patterns, sbxc's a prefix and `*`. What would be taken as it is spelt denies nothing.
 */
static void read_names(struct shape_reader *r, const char *clause, const struct yaml_node *list)
{
    for (const struct yaml_node *n = yaml_first(list); n; n = yaml_after(list, n)) {
        bool pattern = false;
        for (size_t i = 0; n->kind == YAML_SCALAR && i < n->size && !pattern; i++)
            pattern = n->text[i] && strchr("?[\\", n->text[i]);
        if (!pattern) {
            shape_put_text(r, clause, n, 0);
            continue;
        }
        struct diag *d =
            diag_add(r->diags, DIAG_BAD_NAME, n->span, "`%s` is a pattern that is not accepted here",
                     diag_escape(r->arena, n->text, n->size));
        diag_hint(r->diags, d, "write names, or a prefix and `*`");
    }
}

static void read_env(struct shape_reader *r, const struct yaml_node *n)
{
    static const char *const names[] = {"allow", "deny"};
    if (!shape_map(r, n, "env", names, 2))
        return;
    const struct yaml_node *allow = yaml_get(n, "allow"), *deny = yaml_get(n, "deny");
    if (allow)
        read_names(r, "env.allow", allow);
    if (deny)
        read_names(r, "env.deny", deny);
}

static void read_sandbox(struct shape_reader *r, const struct yaml_node *n)
{
    static const char *const names[] = {"description", "paths", "network", "limits", "env"};
    struct decl_profile *p = shape_profile(r, n);
    p->limits[IR_LIMIT_TIMEOUT] = (struct ir_limit){0, true, n->key->span};
    p->env_preset = (struct ir_text){"none", n->key->span};
    if (!shape_map(r, n, "a sandbox", names, 5))
        return;
    const struct yaml_node *paths = yaml_get(n, "paths");
    for (const struct yaml_node *e = n->first; e; e = e->next) {
        if (yaml_key_is(e, "description"))
            shape_put_text(r, "description", e, 0);
        else if (yaml_key_is(e, "network"))
            read_network(r, e);
        else if (yaml_key_is(e, "limits"))
            read_limits(r, e);
        else if (yaml_key_is(e, "env"))
            read_env(r, e);
    }
    for (const struct yaml_node *e = paths ? yaml_first(paths) : NULL; e; e = yaml_after(paths, e))
        read_path(r, e);
}

static void read(struct shape_reader *r, struct yaml_node *root, struct decl_profile *first)
{
    static const char *const own[] = {"sandboxes"};
    const struct yaml_node *all = yaml_get(root, "sandboxes");
    (void)first;
    shape_rest(r, root, own, 1);
    if (all->kind != YAML_MAP) {
        yaml_wrong(r->diags, all, "sandboxes", "a map of names, each with a map of keys");
        return;
    }
    r->file->n_profiles = 0;
    for (const struct yaml_node *e = all->first; e; e = e->next)
        read_sandbox(r, e);
    if (!r->file->n_profiles)
        decl_new_profile(r->file, r->arena, all->span);
}

const struct shape shape_clawtool = {.name = "clawtool", .marker = marker, .read = read};
