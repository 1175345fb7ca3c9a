/* Lists of environment names: exact ones, and prefixes that end in `*`.
 *
 * A prefix never stands for a name that makes a loader, a shell or libc run something of the caller's choice
 * (ARTIFACT_LOADER_NAMES), nor for one that has a value of the sandbox's own: those are named exactly.
 */
#ifndef SBX_ENV_NAMES_H
#define SBX_ENV_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "ir.h"

struct env_names {
    struct ir_env_name *items;
    size_t n, cap;
};

void env_names_add(struct env_names *l, struct arena *a, const char *name, struct span span);
/* Sorted, each name once, and none that a prefix of the list stands for already. The first place wins. */
void env_names_normalise(struct env_names *l, struct arena *a);
/* Does a normalised list let every name pass that `name` stands for? */
bool env_names_cover(const struct env_names *l, const char *name);
/* Lists of denies: here a prefix stands for every name that begins so, loaders' too. */
void env_names_normalise_deny(struct env_names *l, struct arena *a);
/* Does a list of denies take away every name that `name` stands for? */
bool env_names_deny(const struct env_names *l, const char *name);
/* Does it take away any? */
bool env_names_meet(const struct env_names *l, const char *name);
/* Is there a name that both stand for? */
bool env_names_overlap(const char *a, const char *b);
/* The names of a normalised list that begin with the prefix `name`: index of the first, and how many. */
size_t env_names_with_prefix(const struct env_names *l, const char *name, size_t *out_first);
/* A loader's name, or a prefix that could only stand for some. */
bool env_names_loader(const char *name);

#endif
