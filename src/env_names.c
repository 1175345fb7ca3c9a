#include "env_names.h"

#include <stdlib.h>
#include <string.h>

#include "fixed.h"

static size_t prefix_len(const char *name)
{
    size_t n = strlen(name);
    return n && name[n - 1] == '*' ? n - 1 : n;
}

static bool is_prefix(const char *name)
{
    return name[prefix_len(name)] == '*';
}

bool env_names_loader(const char *name)
{
    static const char *const loader[] = {ARTIFACT_LOADER_NAMES};
    for (size_t i = 0; i < sizeof loader / sizeof *loader; i++) {
        size_t n = prefix_len(loader[i]);
        bool same = !strncmp(name, loader[i], n) && (is_prefix(loader[i]) || !name[n]);
        if (same)
            return true;
    }
    return false;
}

static bool exact_only(const char *name)
{
    static const char *const own[] = {ARTIFACT_OWN_NAMES};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(name, own[i]))
            return true;
    return !is_prefix(name) && env_names_loader(name);
}

void env_names_add(struct env_names *l, struct arena *a, const char *name, struct span span)
{
    l->items = arena_grow(a, l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = (struct ir_env_name){name, span};
}

static int by_name(const void *x, const void *y)
{
    const struct ir_env_name *a = x, *b = y;
    int c = strcmp(a->name, b->name);
    return c ? c : a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

/* Index of the first name that is not below the first n bytes of `name`. */
static size_t lower(const struct env_names *l, const char *name, size_t n)
{
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strncmp(l->items[mid].name, name, n) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool has_exact(const struct env_names *l, const char *name)
{
    size_t i = lower(l, name, strlen(name));
    return i < l->n && !strcmp(l->items[i].name, name);
}

/* Names items[lo..hi), which are alike up to some byte. */
struct alike {
    size_t lo, hi;
};

static unsigned char byte_at(const struct env_names *l, size_t i, size_t at)
{
    return (unsigned char)l->items[i].name[at];
}

/* Index of the first name of the range whose byte there is not below c. */
static size_t first_from(const struct env_names *l, struct alike r, size_t at, unsigned c)
{
    while (r.lo < r.hi) {
        size_t mid = r.lo + (r.hi - r.lo) / 2;
        if (byte_at(l, mid, at) < c)
            r.lo = mid + 1;
        else
            r.hi = mid;
    }
    return r.lo;
}

/* Is there a prefix shorter than `limit` bytes that the name begins with? Goes along the name byte by byte and
 * looks at one byte of names only, since thousands of long names may begin alike. */
static bool under_any_prefix(const struct env_names *l, const char *name, size_t limit)
{
    struct alike r = {0, l->n};
    for (size_t at = 0; at < limit && r.lo < r.hi; at++) {
        unsigned c = (unsigned char)name[at];
        if (c != '*' && byte_at(l, r.lo, at) == c && byte_at(l, r.hi - 1, at) == c)
            continue; /* all of them go on like the name */
        size_t star = first_from(l, r, at, '*');
        if (star < r.hi && byte_at(l, star, at) == '*' && !byte_at(l, star, at + 1))
            return true;
        if (!c)
            return false;
        r = (struct alike){first_from(l, r, at, c), first_from(l, r, at, c + 1)};
    }
    return false;
}

/* Does a prefix shorter than `limit` bytes of the list stand for the name? */
static bool under_prefix(const struct env_names *l, const char *name, size_t limit)
{
    return !exact_only(name) && under_any_prefix(l, name, limit);
}

bool env_names_cover(const struct env_names *l, const char *name)
{
    return has_exact(l, name) || under_prefix(l, name, prefix_len(name) + 1);
}

static void normalise(struct env_names *l, struct arena *a, bool (*under)(const struct env_names *, const char *, size_t))
{
    if (!l->n)
        return;
    qsort(l->items, l->n, sizeof *l->items, by_name);
    size_t w = 0;
    for (size_t i = 0; i < l->n; i++)
        if (!w || strcmp(l->items[w - 1].name, l->items[i].name) != 0)
            l->items[w++] = l->items[i];
    l->n = w;
    struct ir_env_name *kept = arena_array(a, l->n, sizeof *kept);
    w = 0;
    for (size_t i = 0; i < l->n; i++) {
        const char *name = l->items[i].name;
        if (!under(l, name, is_prefix(name) ? prefix_len(name) : prefix_len(name) + 1))
            kept[w++] = l->items[i];
    }
    l->items = kept;
    l->cap = l->n; /* as kept was made */
    l->n = w;
}

size_t env_names_with_prefix(const struct env_names *l, const char *name, size_t *out_first)
{
    size_t n = prefix_len(name), end = lower(l, name, n);
    *out_first = end;
    while (end < l->n && !strncmp(l->items[end].name, name, n))
        end++;
    return end - *out_first;
}

bool env_names_deny(const struct env_names *l, const char *name)
{
    return has_exact(l, name) || under_any_prefix(l, name, prefix_len(name) + 1);
}

bool env_names_meet(const struct env_names *l, const char *name)
{
    size_t first;
    return env_names_deny(l, name) || (is_prefix(name) && env_names_with_prefix(l, name, &first));
}

bool env_names_overlap(const char *a, const char *b)
{
    size_t n = prefix_len(a), m = prefix_len(b), both = n < m ? n : m;
    if (strncmp(a, b, both) != 0)
        return false;
    return n == m ? is_prefix(a) || is_prefix(b) || !strcmp(a, b) : is_prefix(n < m ? a : b);
}

void env_names_normalise(struct env_names *l, struct arena *a)
{
    normalise(l, a, under_prefix);
}

void env_names_normalise_deny(struct env_names *l, struct arena *a)
{
    normalise(l, a, under_any_prefix);
}
