/* qsort(3) for lists that mostly stand in order: linear where they do, and where a few are added behind them.
 *
 * Sorted stretches are found and merged; a list that has many is left to qsort. `cmp` decides every tie that
 * matters: elements that are equal to it keep no order. */
#ifndef SBX_SORT_H
#define SBX_SORT_H

#include <stddef.h>

/* base may be NULL where n is 0. */
void sort_list(void *base, size_t n, size_t size, int (*cmp)(const void *a, const void *b));

/* The same for a list of two parts that are sorted, the second from `middle` on: nothing else is looked at but what
 * the elements of the second meet. */
void sort_parts(void *base, size_t middle, size_t n, size_t size, int (*cmp)(const void *a, const void *b));

#endif
