/* Compile-time memory: everything that one compilation allocates, freed once.
 *
 * Source text, IR nodes, strings and diagnostics live in one arena, so no front end or back end ever
 * frees anything. Running out of memory has one path: the arena's `oom` handler, which must not return.
 * All sizes are bytes. All pointers returned are valid until arena_done().
 */
#ifndef SBX_ARENA_H
#define SBX_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head;  /* blocks that are shared, newest first */
    struct arena_block *large; /* blocks that hold one thing each */
    void (*oom)(void *ctx);   /* called when memory runs out; longjmps or exits, never returns */
    void *oom_ctx;
};

/* Prepares an empty arena. With oom == NULL running out of memory aborts. */
void arena_init(struct arena *a, void (*oom)(void *ctx), void *oom_ctx);
void arena_done(struct arena *a);

/* Zeroed memory, aligned for any type. A request of 0 bytes gives a unique pointer. */
void *arena_alloc(struct arena *a, size_t size);
/* Zeroed memory for n elements; n * size is checked for overflow, here and nowhere else. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* Grows an array from *cap to at least `need` elements by doubling. Returns the new array and updates *cap; `old`
 * is gone, what was in it is kept, and the elements behind it hold anything. */
void *arena_grow(struct arena *a, void *old, size_t *cap, size_t need, size_t size);

/* Gives memory back that an array of *cap elements does not need beyond its first n. Returns the array, which may
 * have moved, and updates *cap. */
void *arena_shrink(struct arena *a, void *old, size_t *cap, size_t n, size_t size);

/* Adds the m items at `more` to an array that was made by arena_grow() (NULL: none yet) and holds *n. Returns the
 * array and updates *n and *cap. */
void *arena_append(struct arena *a, void *items, size_t *n, size_t *cap, const void *more, size_t m, size_t size);

/* A new array of the n items at x and the m items at y, each of `size` bytes. */
void *arena_concat(struct arena *a, const void *x, size_t n, const void *y, size_t m, size_t size);

/* A NUL-terminated copy of len bytes (which may hold NULs of their own). */
char *arena_strn(struct arena *a, const char *s, size_t len);
char *arena_str(struct arena *a, const char *s);
/* s, then len bytes of t. */
char *arena_join(struct arena *a, const char *s, const char *t, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))

#endif
