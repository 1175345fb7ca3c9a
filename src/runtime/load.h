/* Reading the Landlock blob (artifact.h). Everything in it is checked once, here; what ll_* gives afterwards
 * needs no check. */
#ifndef SBX_LOAD_H
#define SBX_LOAD_H

#include "runtime.h"

/* Absolute and canonical: no `//`, `.` or `..`, no final slash but that of "/", not longer than a path can be. */
bool rt_is_path(const char *path);

/* Magic, format, size, digest and areas; says where the strings of the run section stand. */
bool ll_open(struct rt_run *run, size_t *out_start, size_t *out_end);
/* The digest that the header holds, as 64 hex digits. */
void ll_digest(const struct rt_artifact *a, char out_hex[65]);
/* Masks, rules, needs and filters, held against the run section: the engine's load(). */
bool ll_load(struct rt_run *run);

const struct ll_header *ll_header(const struct rt_artifact *a);
const struct ll_rule *ll_rules(const struct rt_artifact *a);
const struct ll_need *ll_needs(const struct rt_artifact *a);
/* A path, or the clause of a need. */
const char *ll_string(const struct rt_artifact *a, uint32_t offset);
/* The clause that a rule serves, for messages: `write "/srv/x"`. Never NULL. */
const char *ll_clause(struct rt_run *run, const struct ll_rule *r);
/* The program for this machine, *out_n instructions, or NULL. */
const void *ll_filter(const struct rt_artifact *a, uint32_t *out_n);

#endif
