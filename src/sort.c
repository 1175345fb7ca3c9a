#include "sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* More stretches than this are no order worth keeping. */
enum { MAX_RUNS = 64 };

struct list {
    char *base;
    size_t size;
    int (*cmp)(const void *a, const void *b);
    size_t starts[MAX_RUNS + 1]; /* of each sorted stretch, and the end */
    size_t n_runs;
};

static void *at(const struct list *l, size_t i)
{
    return l->base + i * l->size;
}

static bool find_runs(struct list *l, size_t n)
{
    l->starts[0] = 0;
    l->n_runs = 1;
    for (size_t i = 1; i < n; i++) {
        if (l->cmp(at(l, i - 1), at(l, i)) <= 0)
            continue;
        if (l->n_runs == MAX_RUNS)
            return false;
        l->starts[l->n_runs++] = i;
    }
    l->starts[l->n_runs] = n;
    return true;
}

/* Of the elements in [from, to) the first that stands behind `x`: searched from the end in growing steps,
 * since it is mostly near. */
static size_t rank_of(const struct list *l, size_t from, size_t to, const void *x)
{
    size_t step = 1, high = to;
    while (high > from && l->cmp(at(l, high - 1), x) > 0) {
        to = high - 1;
        high = to - from > step ? to - step : from;
        step *= 2;
    }
    size_t low = high;
    while (low < to) {
        size_t middle = low + (to - low) / 2;
        if (l->cmp(at(l, middle), x) > 0)
            to = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Merges stretch k and the one behind it, from their ends; only the second one is copied. */
static bool merge(struct list *l, size_t k)
{
    size_t from = l->starts[k], middle = l->starts[k + 1], end = l->starts[k + 2];
    size_t left = end - middle;
    char *copy = malloc(left * l->size);
    if (!copy)
        return false;
    memcpy(copy, at(l, middle), left * l->size);
    for (size_t to = middle, write = end; left;) {
        const char *x = copy + (left - 1) * l->size;
        size_t rank = rank_of(l, from, to, x), moved = to - rank;
        memmove(at(l, write - moved), at(l, rank), moved * l->size);
        write -= moved + 1;
        to = rank;
        memcpy(at(l, write), x, l->size);
        left--;
    }
    free(copy);
    memmove(&l->starts[k + 1], &l->starts[k + 2], (l->n_runs - k - 1) * sizeof *l->starts);
    l->n_runs--;
    return true;
}

/* The neighbours that are shortest together: what was added to a long list comes into order before that. */
static size_t shortest_pair(const struct list *l)
{
    size_t best = 0;
    for (size_t k = 1; k + 1 < l->n_runs; k++)
        if (l->starts[k + 2] - l->starts[k] < l->starts[best + 2] - l->starts[best])
            best = k;
    return best;
}

void sort_list(void *base, size_t n, size_t size, int (*cmp)(const void *a, const void *b))
{
    struct list l = {.base = base, .size = size, .cmp = cmp};
    if (n < 2)
        return;
    bool ok = find_runs(&l, n);
    while (ok && l.n_runs > 1)
        ok = merge(&l, shortest_pair(&l));
    if (!ok)
        qsort(base, n, size, cmp);
}

void sort_parts(void *base, size_t middle, size_t n, size_t size, int (*cmp)(const void *a, const void *b))
{
    struct list l = {.base = base, .size = size, .cmp = cmp, .starts = {0, middle, n}, .n_runs = 2};
    if (middle && middle < n && !merge(&l, 0))
        qsort(base, n, size, cmp);
}
