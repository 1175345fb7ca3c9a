#include "ceiling.h"

#include <stdlib.h>
#include <string.h>

#include "units.h"

/* ---- Paths ---------------------------------------------------------------------------------------------- */

static const char *kinds(unsigned set)
{
    if (set & IR_READ)
        return set & IR_WRITE ? "reading and writing" : "reading";
    return set & IR_WRITE ? "writing" : "executing";
}

/* What is left beneath a rule that lost something at its own path: the ceiling's roots there. */
static void list_rest(struct diag_list *diags, struct diag *d, const struct rule_list *left, const struct ir_rule *r,
                      unsigned lost)
{
    size_t first, n = rules_beneath(left, r->root, r->path, &first);
    for (size_t i = first, shown = 0; i < first + n; i++) {
        const struct ir_rule *rest = &left->items[i];
        if (!(rest->allow & lost))
            continue;
        if (++shown > 3) {
            diag_hint(diags, d, "and more beneath it");
            return;
        }
        diag_hint(diags, d, "%s is left beneath %s", kinds(rest->allow & lost),
                  diag_escape(diags->arena, rest->path, rest->path_len));
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

static void report_cut(struct diag_list *diags, const struct ir_rule *r, unsigned lost, const struct rule_list *left,
                       struct span ceiling)
{
    bool some = rest_beneath(left, r, lost);
    bool all = !some && lost == r->allow;
    const char *path = diag_escape(diags->arena, r->path, r->path_len);
    struct diag *d = diag_add(diags, all ? DIAG_CEILING_ALL : DIAG_CEILING_CUT, r->span,
                              some  ? "the ceiling narrows %s of %s"
                              : all ? "the ceiling allows nothing of this clause: no %s of %s"
                                    : "the ceiling allows no %s of %s",
                              kinds(lost), path);
    diag_also(diags, d, ceiling, "this ceiling");
    list_rest(diags, d, left, r, lost);
}

void ceiling_rules(struct rule_list *asked, const struct rule_list *cap, const struct decl_profile *ceiling,
                   struct arena *a, struct diag_list *diags)
{
    uint8_t *lost = arena_array(a, asked->n, 1);
    struct rule_list left = rules_intersect(asked, cap, lost, a);
    for (size_t i = 0; i < asked->n; i++)
        if (lost[i])
            report_cut(diags, &asked->items[i], lost[i], &left, ceiling->span);
    *asked = left;
}

/* ---- Network, time, presets ----------------------------------------------------------------------------- */

void ceiling_network(struct ir_policy *p, const struct decl_profile *ceiling, struct diag_list *diags)
{
    bool open = ceiling->network_said && ceiling->network == IR_NETWORK_OPEN;
    if (p->network == IR_NETWORK_NONE || open)
        return;
    struct diag *d = diag_add(diags, DIAG_CEILING_ALL, p->network_span, "the ceiling allows no network");
    diag_also(diags, d, ceiling->network_said ? ceiling->network_span : ceiling->span,
              ceiling->network_said ? "this ceiling" : "this ceiling does not speak of the network: none");
    p->network = IR_NETWORK_NONE;
}

void ceiling_timeout(struct ir_policy *p, const struct decl_profile *ceiling, struct diag_list *diags)
{
    if (!ceiling->timeout_said || !ceiling->timeout_ms || (p->timeout_ms && p->timeout_ms <= ceiling->timeout_ms))
        return;
    char asked[32] = "none", cap[32];
    if (p->timeout_ms)
        units_print_duration(p->timeout_ms, asked);
    units_print_duration(ceiling->timeout_ms, cap);
    /* The default is nobody's wish: shortening it is no cut. */
    if (p->timeout_span.src) {
        struct diag *d = diag_add(diags, DIAG_CEILING_CUT, p->timeout_span, "the ceiling cuts the timeout from %s to %s",
                                  asked, cap);
        diag_also(diags, d, ceiling->timeout_span, "this ceiling");
    }
    p->timeout_ms = ceiling->timeout_ms;
}

static int strength(const char *preset)
{
    return !strcmp(preset, "standard") ? 2 : !strcmp(preset, "minimal") ? 1 : 0;
}

struct ir_text ceiling_preset(struct ir_text asked, const struct decl_profile *ceiling, struct diag_list *diags)
{
    if (!ceiling->preset.text || strength(ceiling->preset.text) >= strength(asked.text))
        return asked;
    struct diag *d = diag_add(diags, DIAG_CEILING_CUT, asked.span.src ? asked.span : ceiling->preset.span,
                              "the ceiling cuts system %s to %s", asked.text, ceiling->preset.text);
    if (asked.span.src)
        diag_also(diags, d, ceiling->preset.span, "this ceiling");
    return ceiling->preset;
}

/* ---- Environment ---------------------------------------------------------------------------------------- */

void ceiling_env(struct env_names *asked, const struct env_names *cap, const struct decl_profile *ceiling,
                 struct arena *a, struct diag_list *diags)
{
    struct env_names left = {0};
    for (size_t i = 0; i < asked->n; i++) {
        const struct ir_env_name *x = &asked->items[i];
        if (env_names_cover(cap, x->name)) {
            env_names_add(&left, a, x->name, x->span);
            continue;
        }
        /* A prefix meets longer prefixes and names of the ceiling: those are what is left. */
        size_t first = 0, n = x->name[strlen(x->name) - 1] == '*' ? env_names_with_prefix(cap, x->name, &first) : 0;
        for (size_t j = first; j < first + n; j++)
            if (!env_names_loader(cap->items[j].name))
                env_names_add(&left, a, cap->items[j].name, x->span);
        if (!x->span.src)
            continue;
        struct diag *d = diag_add(diags, n ? DIAG_CEILING_CUT : DIAG_CEILING_ALL, x->span,
                                  n ? "the ceiling narrows what %s lets pass" : "the ceiling does not let %s pass",
                                  diag_escape(a, x->name, strlen(x->name)));
        diag_also(diags, d, ceiling->span, "this ceiling");
    }
    *asked = left;
}

void ceiling_env_set(struct ir_policy *p, const struct env_names *cap, const struct decl_profile *ceiling,
                     struct diag_list *diags)
{
    size_t w = 0;
    for (size_t i = 0; i < p->n_env_set; i++) {
        const struct ir_env_set *x = &p->env_set[i];
        if (env_names_cover(cap, x->name)) {
            p->env_set[w++] = *x;
            continue;
        }
        struct diag *d = diag_add(diags, DIAG_CEILING_ALL, x->span, "the ceiling does not let %s be set",
                                  diag_escape(diags->arena, x->name, strlen(x->name)));
        diag_also(diags, d, ceiling->span, "this ceiling");
    }
    p->n_env_set = w;
}
