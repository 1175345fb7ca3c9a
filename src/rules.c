#include "rules.h"

#include <string.h>

#include "sort.h"

void rules_add(struct rule_list *l, struct arena *a, struct ir_rule r)
{
    l->items = arena_grow(a, l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = r;
}

int rules_order(const struct ir_rule *a, const struct ir_rule *b)
{
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    return ir_path_order(a->path, a->path_len, b->path, b->path_len);
}

/* Among rules of one path the strongest origin comes first, then the first written: order of writing has no
 * influence on meaning, only on which place a message names. */
static int by_place_and_origin(const void *x, const void *y)
{
    const struct ir_rule *a = x, *b = y;
    int c = rules_order(a, b);
    if (c)
        return c;
    if (a->origin != b->origin)
        return a->origin < b->origin ? -1 : 1;
    return a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

uint8_t rules_exec_flags(const struct ir_rule *a, const struct ir_rule *b)
{
    bool listed = (a->allow & IR_EXEC && !(a->flags & IR_WEAK_EXEC)) ||
                  (b->allow & IR_EXEC && !(b->flags & IR_WEAK_EXEC));
    return (uint8_t)((a->flags | b->flags) & (IR_NO_EXEC | (listed ? 0 : IR_WEAK_EXEC)));
}

static void unite(struct ir_rule *into, const struct ir_rule *from)
{
    /* A rule of the declaration, or for its folder, replaces that of a preset on the same path: what a preset
     * grants for writing would be the host's there. */
    if (into->origin < IR_PRESET && from->origin == IR_PRESET) {
        uint8_t left = (uint8_t)(from->allow & ~(unsigned)into->deny);
        into->cut |= from->cut;
        if (into->allow || !left)
            return;
        /* Nothing but a deny: what it does not speak of is still the preset's. */
        into->allow = left;
        into->origin = from->origin;
        into->flags = from->flags;
        into->type = from->type;
        return;
    }
    if (into->origin == IR_PRESET && from->origin == IR_SKILL_DIR) {
        *into = *from;
        return;
    }
    /* What the floor has is its own (the sandbox's /proc, a sink), also where somebody asks for the name; but
     * more than the floor grants is asked of the host. */
    if (from->origin == IR_FLOOR && !(into->allow & ~(unsigned)from->allow & IR_WRITE))
        into->origin = IR_FLOOR;
    /* Required beats optional, a plain path beats one that may be a link. */
    const unsigned exec = IR_WEAK_EXEC | IR_NO_EXEC;
    into->flags = (uint8_t)((into->flags & from->flags & ~exec) | rules_exec_flags(into, from));
    into->allow |= from->allow;
    into->deny |= from->deny;
    into->cut |= from->cut;
}

void rules_reserve(struct rule_list *l, struct arena *a, size_t n)
{
    l->items = arena_grow(a, l->items, &l->cap, l->n + n, sizeof *l->items);
}

void rules_sort(struct rule_list *l)
{
    sort_list(l->items, l->n, sizeof *l->items, by_place_and_origin);
}

void rules_merge(struct rule_list *l)
{
    if (l->n < 2)
        return;
    rules_sort(l);
    size_t w = 0;
    for (size_t i = 1; i < l->n; i++) {
        if (rules_order(&l->items[w], &l->items[i]) == 0)
            unite(&l->items[w], &l->items[i]);
        else
            l->items[++w] = l->items[i];
    }
    l->n = w + 1;
}

void rules_join(struct rule_list *l, struct rule_list *more, struct arena *a)
{
    const size_t middle = l->n;
    rules_sort(more);
    for (size_t i = 0; i < more->n; i++) {
        const struct rule_list merged = {.items = l->items, .n = middle};
        const struct ir_rule *r = &more->items[i], *there = rules_at(&merged, r->root, r->path);
        bool again = l->n > middle && rules_order(&l->items[l->n - 1], r) == 0;
        if (there)
            unite(&l->items[there - l->items], r);
        else if (again)
            unite(&l->items[l->n - 1], r);
        else
            rules_add(l, a, *r);
    }
    sort_parts(l->items, middle, l->n, sizeof *l->items, by_place_and_origin);
}

bool rules_contain(const struct ir_rule *above, const struct ir_rule *r)
{
    size_t n = above->path_len;
    if (above->root != r->root || n > r->path_len)
        return false;
    /* "/" ends in the slash that others are followed by; "" is the root of a variable. */
    bool whole = n == r->path_len || r->path[n] == '/' || (n && above->path[n - 1] == '/');
    return whole && !memcmp(r->path, above->path, n);
}

/* ---- Sweeping sorted lists ------------------------------------------------------------------------------
 */

/* The rules at and above the current path, outermost first, with what holds beneath each. Depth is bounded
 * by the components of a path, so the stack grows with the longest path only. */
struct level {
    const struct ir_rule *rule;
    unsigned asked, cap, out;
    const struct ir_rule *by[2]; /* the nearest rules of `asked` and of `cap` */
};

struct sweep {
    struct level *levels;
    size_t n, cap;
    struct arena *arena;
};

static struct level *enter(struct sweep *s, const struct ir_rule *r)
{
    while (s->n && !rules_contain(s->levels[s->n - 1].rule, r))
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

/* Does the last level only say again what the one above it says? A preset is no such: where an image brings
 * the system it is left out, and where a folder of it is private to the run, what is beneath is not the
 * host's. The floor always speaks: its /proc and sinks are the sandbox's own, whatever is granted above them.
 */
static bool repeats(const struct sweep *s)
{
    if (s->n < 2)
        return s->levels[0].out == 0 && !s->levels[0].rule->cut;
    const struct level *now = &s->levels[s->n - 1], *above = now - 1;
    if (now->rule->origin == IR_FLOOR || now->rule->cut)
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
    /* In place: the stack points to rules that are kept, which stand where they will stay. */
    size_t w = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct ir_rule *r = &l->items[w];
        rules_look_ahead(l, i);
        *r = l->items[i];
        struct level *now = enter(&s, r);
        unsigned above = s.n > 1 ? s.levels[s.n - 2].out : 0;
        now->out = apply(above, r);
        if (repeats(&s)) {
            s.n--;
            continue;
        }
        *r = normal(r, above, now->out);
        w++;
    }
    l->n = w;
    arena_done(&scratch);
}

static bool denies_any(const struct rule_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].deny)
            return true;
    return false;
}

struct rule_list rules_intersect(const struct rule_list *asked, const struct rule_list *cap,
                                 uint8_t *out_lost, struct arena *a)
{
    struct rule_list out = {0};
    struct sweep s = {.arena = a};
    size_t i = 0, j = 0;
    while (i < asked->n || j < cap->n) {
        const struct ir_rule *x = i < asked->n ? &asked->items[i] : NULL;
        const struct ir_rule *y = j < cap->n ? &cap->items[j] : NULL;
        int order = !y ? -1 : !x ? 1 : rules_order(x, y);
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

bool rules_beyond(const struct rule_list *asked, const struct rule_list *cap, struct arena *a,
                  const char **out_path, unsigned *out_kinds, const struct ir_rule *out_rules[2])
{
    struct sweep s = {.arena = a};
    size_t i = 0, j = 0;
    while (i < asked->n || j < cap->n) {
        const struct ir_rule *x = i < asked->n ? &asked->items[i] : NULL;
        const struct ir_rule *y = j < cap->n ? &cap->items[j] : NULL;
        int order = !y ? -1 : !x ? 1 : rules_order(x, y);
        struct level *now = enter(&s, order <= 0 ? x : y);
        if (order >= 0) {
            now->cap = apply(now->cap, y);
            now->by[1] = y;
            j++;
        }
        if (order <= 0) {
            now->asked = apply(now->asked, x);
            now->by[0] = x;
            i++;
        }
        if (!(now->asked & ~now->cap))
            continue;
        *out_path = now->rule->path;
        *out_kinds = now->asked & ~now->cap;
        out_rules[0] = now->by[0];
        out_rules[1] = now->by[1];
        return true;
    }
    return false;
}

/* ---- Who decides ----------------------------------------------------------------------------------------
 */

/* For each kind the nearest rule that speaks of it. */
struct voices {
    const struct ir_rule *rule, *says[IR_ACCESS_COUNT];
};

struct hall {
    struct voices *items;
    size_t n, cap;
    struct arena *arena;
};

static struct voices *listen(struct hall *h, const struct ir_rule *r, bool speaks)
{
    while (h->n && !rules_contain(h->items[h->n - 1].rule, r))
        h->n--;
    h->items = arena_grow(h->arena, h->items, &h->cap, h->n + 1, sizeof *h->items);
    h->items[h->n] = h->n ? h->items[h->n - 1] : (struct voices){0};
    struct voices *now = &h->items[h->n++];
    now->rule = r;
    for (size_t k = 0; speaks && k < IR_ACCESS_COUNT; k++)
        if ((r->allow | r->deny) & 1u << k)
            now->says[k] = r;
    return now;
}

void rules_cut(struct rule_list *l, const struct rule_list *said,
               void (*report)(void *ctx, const struct ir_rule *cut, unsigned kinds, const struct ir_rule *by),
               void *ctx)
{
    struct arena scratch;
    if (!denies_any(said))
        return;
    arena_init(&scratch, NULL, NULL);
    struct hall h = {.arena = &scratch};
    for (size_t i = 0, j = 0; i < l->n; i++) {
        struct ir_rule *r = &l->items[i];
        for (; j < said->n && rules_order(&said->items[j], r) <= 0; j++)
            listen(&h, &said->items[j], true);
        struct voices *now = listen(&h, r, false);
        const struct ir_rule *by = NULL;
        unsigned lost = 0;
        for (size_t k = 0; k < IR_ACCESS_COUNT; k++) {
            bool denied = r->allow & 1u << k && now->says[k] && now->says[k]->deny & 1u << k;
            by = denied ? now->says[k] : by;
            lost |= denied ? 1u << k : 0;
        }
        if (!lost)
            continue;
        r->allow &= (uint8_t)~lost;
        r->cut |= (uint8_t)lost;
        report(ctx, r, lost, by);
    }
    arena_done(&scratch);
}

void rules_reopened(const struct rule_list *l,
                    void (*report)(void *ctx, const struct ir_rule *r, unsigned kinds,
                                   const struct ir_rule *above),
                    void *ctx)
{
    struct arena scratch;
    if (!denies_any(l))
        return;
    arena_init(&scratch, NULL, NULL);
    struct hall h = {.arena = &scratch};
    for (size_t i = 0; i < l->n; i++) {
        const struct ir_rule *r = &l->items[i], *by = NULL;
        struct voices *now = listen(&h, r, false);
        unsigned kinds = 0;
        for (size_t k = 0; k < IR_ACCESS_COUNT; k++) {
            bool again = r->allow & 1u << k && now->says[k] && now->says[k]->deny & 1u << k;
            by = again && !by ? now->says[k] : by;
            kinds |= again ? 1u << k : 0;
        }
        h.n--;
        listen(&h, r, true);
        if (kinds)
            report(ctx, r, kinds, by);
    }
    arena_done(&scratch);
}

/* ---- The exec default -----------------------------------------------------------------------------------
 */

static void sweep_exec(struct rule_list *l, bool grant)
{
    struct arena scratch;
    bool denies = denies_any(l);
    arena_init(&scratch, NULL, NULL);
    struct sweep s = {.arena = &scratch};
    for (size_t i = 0; i < l->n; i++) {
        struct ir_rule *r = &l->items[i];
        /* Without a deny all rules are alike, and none need be entered. */
        struct level *now = denies || !s.n ? enter(&s, r) : s.levels;
        if (r->flags & IR_NO_EXEC)
            now->out = 1;
        else if (r->allow & IR_EXEC && !(r->flags & IR_WEAK_EXEC))
            now->out = 0;
        if (grant && r->allow & IR_READ && !now->out && !(r->deny & IR_EXEC)) {
            r->allow |= IR_EXEC;
            r->flags |= IR_WEAK_EXEC;
        } else if (!grant && now->out && r->flags & IR_WEAK_EXEC) {
            r->allow &= (uint8_t)~IR_EXEC;
            r->flags &= (uint8_t)~IR_WEAK_EXEC;
        }
    }
    arena_done(&scratch);
}

void rules_exec_default(struct rule_list *l)
{
    sweep_exec(l, true);
}

void rules_weak_exec(struct rule_list *l)
{
    sweep_exec(l, false);
}

/* ---- Looking up -----------------------------------------------------------------------------------------
 */

/* The index of the first rule behind a path. */
static size_t behind(const struct rule_list *l, uint8_t root, const char *path)
{
    const struct ir_rule probe = {.root = root, .path = path, .path_len = (uint32_t)strlen(path)};
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rules_order(&l->items[mid], &probe) <= 0)
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

struct rule_list rules_within(const struct rule_list *l, uint8_t root, const char *path)
{
    size_t first, n = rules_beneath(l, root, path, &first);
    size_t itself = rules_at(l, root, path) != NULL; /* stands before all that is beneath it */
    return (struct rule_list){.items = l->n ? l->items + first - itself : NULL, .n = n + itself};
}

/* Looked up folder by folder, so that many questions of a long list stay near linear. */
const struct ir_rule *rules_nearest(const struct rule_list *l, uint8_t root, const char *path)
{
    struct arena scratch;
    arena_init(&scratch, NULL, NULL);
    char *up = arena_str(&scratch, path);
    const struct ir_rule *r = rules_at(l, root, up);
    while (!r && *up && strcmp(up, "/") != 0) {
        char *slash = strrchr(up, '/');
        slash[slash == up && root == IR_ROOT_SLASH] = '\0';
        r = rules_at(l, root, up);
    }
    arena_done(&scratch);
    return r;
}

bool rules_allow(const struct rule_list *l, uint8_t root, const char *path, unsigned kinds)
{
    struct arena scratch;
    unsigned allowed = 0;
    arena_init(&scratch, NULL, NULL);
    char *at = arena_str(&scratch, path);
    size_t len = strlen(path);
    for (size_t n = root == IR_ROOT_SLASH; n <= len; n++) {
        if (n > 1 && n < len && path[n] != '/')
            continue;
        memcpy(at, path, n);
        at[n] = '\0';
        const struct ir_rule *r = rules_at(l, root, at);
        allowed = r ? apply(allowed, r) : allowed;
    }
    arena_done(&scratch);
    return (allowed & kinds) == kinds;
}
