#include "rules.h"

#include <stdlib.h>
#include <string.h>

void rules_add(struct rule_list *l, struct arena *a, struct ir_rule r)
{
    l->items = arena_grow(a, l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = r;
}

static int by_place(const struct ir_rule *a, const struct ir_rule *b)
{
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    return ir_path_cmp(a->path, b->path);
}

/* Among rules of one path the strongest origin comes first, then the first written: order of writing has no
 * influence on meaning, only on which place a message names. */
static int by_place_and_origin(const void *x, const void *y)
{
    const struct ir_rule *a = x, *b = y;
    int c = by_place(a, b);
    if (c)
        return c;
    if (a->origin != b->origin)
        return a->origin < b->origin ? -1 : 1;
    return a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

static void unite(struct ir_rule *into, const struct ir_rule *from)
{
    /* A rule of the declaration, or for its folder, replaces that of a preset on the same path: what a preset
     * grants for writing would be the host's there. */
    if (into->origin < IR_PRESET && from->origin == IR_PRESET)
        return;
    if (into->origin == IR_PRESET && from->origin == IR_SKILL_DIR) {
        *into = *from;
        return;
    }
    /* What the floor has is its own (the sandbox's /proc, a sink), also where somebody asks for the name; but
     * more than the floor grants is asked of the host. */
    if (from->origin == IR_FLOOR && !(into->allow & ~(unsigned)from->allow & IR_WRITE))
        into->origin = IR_FLOOR;
    into->allow |= from->allow;
    into->deny |= from->deny;
    /* Required beats optional, a plain path beats one that may be a link. */
    into->flags &= from->flags;
}

void rules_merge(struct rule_list *l)
{
    if (l->n < 2)
        return;
    qsort(l->items, l->n, sizeof *l->items, by_place_and_origin);
    size_t w = 0;
    for (size_t i = 1; i < l->n; i++) {
        if (by_place(&l->items[w], &l->items[i]) == 0)
            unite(&l->items[w], &l->items[i]);
        else
            l->items[++w] = l->items[i];
    }
    l->n = w + 1;
}

static bool contains(const struct ir_rule *above, const struct ir_rule *r)
{
    return above->root == r->root && ir_path_within(r->path, above->path);
}

/* ---- Sweeping sorted lists ------------------------------------------------------------------------------ */

/* The rules at and above the current path, outermost first, with what holds beneath each. Depth is bounded
 * by the components of a path, so the stack grows with the longest path only. */
struct level {
    const struct ir_rule *rule;
    unsigned asked, cap, out;
};

struct sweep {
    struct level *levels;
    size_t n, cap;
    struct arena *arena;
};

static struct level *enter(struct sweep *s, const struct ir_rule *r)
{
    while (s->n && !contains(s->levels[s->n - 1].rule, r))
        s->n--;
    s->levels = arena_grow(s->arena, s->levels, &s->cap, s->n + 1, sizeof *s->levels);
    struct level above = s->n ? s->levels[s->n - 1] : (struct level){0};
    struct level *now = &s->levels[s->n++];
    *now = above;
    now->rule = r;
    return now;
}

static unsigned apply(unsigned above, const struct ir_rule *r)
{
    return (above & ~(unsigned)r->deny) | r->allow;
}

static struct ir_rule normal(const struct ir_rule *from, unsigned above, unsigned now)
{
    struct ir_rule r = *from;
    r.allow = (uint8_t)now;
    r.deny = (uint8_t)(above & ~now);
    return r;
}

/* Grants of the declaration, not of what stands below it. */
static bool is_own(const struct ir_rule *r)
{
    return r->origin == IR_DECLARED || r->origin == IR_SKILL_DIR;
}

/* Does the last level only say again what the one above it says? A preset is no such: where an image brings the
 * system it is left out, and where a folder of it is private to the run, what is beneath is not the host's. The
 * floor always speaks: its /proc and sinks are the sandbox's own, whatever is granted above them. */
static bool repeats(const struct sweep *s)
{
    if (s->n < 2)
        return s->levels[0].out == 0;
    const struct level *now = &s->levels[s->n - 1], *above = now - 1;
    if (now->rule->origin == IR_FLOOR)
        return false;
    return now->out == above->out && (!is_own(now->rule) || is_own(above->rule));
}

void rules_fold(struct rule_list *l)
{
    struct arena scratch;
    if (!l->n)
        return;
    arena_init(&scratch, NULL, NULL);
    struct sweep s = {.arena = &scratch};
    /* The stack points into the list, which shrinks as it goes: kept rules are copied for it. */
    struct ir_rule *kept = arena_array(&scratch, l->n, sizeof *kept);
    size_t w = 0;
    for (size_t i = 0; i < l->n; i++) {
        kept[w] = l->items[i];
        struct level *now = enter(&s, &kept[w]);
        unsigned above = s.n > 1 ? s.levels[s.n - 2].out : 0;
        now->out = apply(above, &kept[w]);
        if (repeats(&s)) {
            s.n--;
            continue;
        }
        kept[w] = normal(&kept[w], above, now->out);
        w++;
    }
    memcpy(l->items, kept, w * sizeof *kept);
    l->n = w;
    arena_done(&scratch);
}

struct rule_list rules_intersect(const struct rule_list *asked, const struct rule_list *cap, uint8_t *out_lost,
                                 struct arena *a)
{
    struct rule_list out = {0};
    struct sweep s = {.arena = a};
    size_t i = 0, j = 0;
    while (i < asked->n || j < cap->n) {
        const struct ir_rule *x = i < asked->n ? &asked->items[i] : NULL;
        const struct ir_rule *y = j < cap->n ? &cap->items[j] : NULL;
        int order = !y ? -1 : !x ? 1 : by_place(x, y);
        const struct ir_rule *at = order <= 0 ? x : y;
        struct level *now = enter(&s, at);
        if (order >= 0) {
            now->cap = apply(now->cap, y);
            j++;
        }
        if (order <= 0) {
            now->asked = apply(now->asked, x);
            out_lost[i++] = (uint8_t)(x->allow & ~now->cap);
        }
        unsigned above = now->out;
        now->out = now->asked & now->cap;
        if (now->out != above)
            rules_add(&out, a, normal(at, above, now->out));
    }
    return out;
}

/* The index of the first rule behind a path. */
static size_t behind(const struct rule_list *l, uint8_t root, const char *path)
{
    struct ir_rule probe = {.root = root, .path = path};
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (by_place(&l->items[mid], &probe) <= 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t rules_beneath(const struct rule_list *l, uint8_t root, const char *path, size_t *out_first)
{
    size_t n = *out_first = behind(l, root, path);
    while (n < l->n && l->items[n].root == root && ir_path_within(l->items[n].path, path))
        n++;
    return n - *out_first;
}

const struct ir_rule *rules_at(const struct rule_list *l, uint8_t root, const char *path)
{
    size_t i = behind(l, root, path);
    bool found = i && l->items[i - 1].root == root && !strcmp(l->items[i - 1].path, path);
    return found ? &l->items[i - 1] : NULL;
}
