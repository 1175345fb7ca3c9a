/* Lists of rules: sorting, one rule a path, decisions by the nearest rule, and their intersection.
 *
 * A list in normal form is sorted by (root, path), holds one rule for each, and no rule that repeats what
 * the nearest rule above it decides. All operations are linear in sorted lists.
 */
#ifndef SBX_RULES_H
#define SBX_RULES_H

#include <stddef.h>

#include "arena.h"
#include "ir.h"

struct rule_list {
    struct ir_rule *items;
    size_t n, cap;
};

void rules_add(struct rule_list *l, struct arena *a, struct ir_rule r);
/* Sorts and makes one rule of those on one path: decisions are united, the strongest origin speaks (a
 * declared rule replaces that of a preset; the floor stays). */
void rules_merge(struct rule_list *l);
/* Takes out rules that change nothing, but none of the declaration's beneath a preset's, and makes each `allow`
 * the whole set that holds at its path and each `deny` what it takes away from above: one meaning, one list.
 * Needs a merged list. */
void rules_fold(struct rule_list *l);

/* At every path of either list: what both allow. Both are merged; places, types and flags come from `asked`
 * where it has the path, else from `cap`. The result is in normal form. out_lost[i] is the set of kinds that
 * asked->items[i] allows and `cap` does not, at that very path. */
struct rule_list rules_intersect(const struct rule_list *asked, const struct rule_list *cap, uint8_t *out_lost,
                                 struct arena *a);

/* The rules of a merged list that lie strictly beneath a path: index of the first, and how many. */
size_t rules_beneath(const struct rule_list *l, uint8_t root, const char *path, size_t *out_first);

/* The rule of a merged list on that very path, or NULL. */
const struct ir_rule *rules_at(const struct rule_list *l, uint8_t root, const char *path);

#endif
