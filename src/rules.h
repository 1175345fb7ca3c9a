/* Lists of rules: sorting, one rule a path, decisions by the nearest rule, and their intersection.
 *
 * A list in normal form is sorted by (root, path), holds one rule for each, and no rule that repeats what
 * the nearest rule above it decides. All operations are linear in sorted lists.
 */
#ifndef SBX_RULES_H
#define SBX_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "ir.h"

struct rule_list {
    struct ir_rule *items;
    size_t n, cap;
};

/* Paths of a sorted list lie anywhere in memory: asks for the one that is looked at eight rules later. */
static inline void rules_look_ahead(const struct rule_list *l, size_t i)
{
    if (i + 8 < l->n)
        __builtin_prefetch(l->items[i + 8].path);
}

void rules_add(struct rule_list *l, struct arena *a, struct ir_rule r);
/* Room for n more. */
void rules_reserve(struct rule_list *l, struct arena *a, size_t n);
/* By root and path; of one path the strongest origin first, then by place in the text. */
void rules_sort(struct rule_list *l);
/* The order of two rules' roots and paths. */
int rules_order(const struct ir_rule *a, const struct ir_rule *b);
/* Does rule r stand at or beneath the path of `above`? */
bool rules_contain(const struct ir_rule *above, const struct ir_rule *r);
/* Sorts and makes one rule of those on one path: decisions are united, the strongest origin speaks (a
 * declared rule replaces that of a preset; the floor stays). */
void rules_merge(struct rule_list *l);
/* Adds the rules of `more`, which is sorted by this, to a merged list as rules_add() and rules_merge() would. No rule
 * in `more` has a stronger origin than those of the list. */
void rules_join(struct rule_list *l, struct rule_list *more, struct arena *a);
/* Takes out rules that change nothing, but none of the declaration's beneath a preset's, and makes each
 * `allow` the whole set that holds at its path and each `deny` what it takes away from above: one meaning,
 * one list. Needs a merged list. */
void rules_fold(struct rule_list *l);

/* At every path of either list: what both allow. Both are merged; places, types and flags come from `asked`
 * where it has the path, else from `cap`. The result is in normal form. out_lost[i] is the set of kinds that
 * asked->items[i] allows and `cap` does not, at that very path. */
struct rule_list rules_intersect(const struct rule_list *asked, const struct rule_list *cap,
                                 uint8_t *out_lost, struct arena *a);

/* What the rules of `asked` allow and those of `cap` do not. False if nothing; else the first such path is
 * out->path, the kinds in *out_kinds, and the rules that decide there (NULL: none) in out_rules[0] and [1].
 */
bool rules_beyond(const struct rule_list *asked, const struct rule_list *cap, struct arena *a,
                  const char **out_path, unsigned *out_kinds, const struct ir_rule *out_rules[2]);

/* Takes from the rules of presets and of the skill's folder in `l` what the nearest rule of `said` at or
 * above denies, and marks it as cut. Both are merged. Calls report for each rule that lost kinds. */
void rules_cut(struct rule_list *l, const struct rule_list *said,
               void (*report)(void *ctx, const struct ir_rule *cut, unsigned kinds, const struct ir_rule *by),
               void *ctx);

/* The flags on executing (IR_WEAK_EXEC, IR_NO_EXEC) of two rules on one path, before they are made one: an exec is
 * weak as long as nobody listed it, and a `deny exec` stays. */
uint8_t rules_exec_flags(const struct ir_rule *a, const struct ir_rule *b);
/* The exec default: whatever may be read may be executed (IR_WEAK_EXEC marks what is so by default only).
 * `deny exec` (IR_NO_EXEC) takes that away, at its path and beneath, until a program is listed; a deny of reading
 * only as long as reading is denied. */
void rules_exec_default(struct rule_list *l);
/* After more rules have joined: takes a weak exec away where a `deny exec` stands above it now. */
void rules_weak_exec(struct rule_list *l);

/* Calls report for each rule that allows kinds which the nearest rule above it denies. */
void rules_reopened(const struct rule_list *l,
                    void (*report)(void *ctx, const struct ir_rule *r, unsigned kinds,
                                   const struct ir_rule *above),
                    void *ctx);

/* The rules of a merged list that lie strictly beneath a path: index of the first, and how many. */
size_t rules_beneath(const struct rule_list *l, uint8_t root, const char *path, size_t *out_first);

/* The rules of a merged list at and beneath a path: a part of it, not to be changed. */
struct rule_list rules_within(const struct rule_list *l, uint8_t root, const char *path);

/* The decision of a merged list at a path: are all these kinds allowed? */
bool rules_allow(const struct rule_list *l, uint8_t root, const char *path, unsigned kinds);

/* The rule of a merged list on the nearest path at or above, or NULL. */
const struct ir_rule *rules_nearest(const struct rule_list *l, uint8_t root, const char *path);

/* The rule of a merged list on that very path, or NULL. */
const struct ir_rule *rules_at(const struct rule_list *l, uint8_t root, const char *path);

#endif
