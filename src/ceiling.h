/* Ceilings: what a program may get at most, whatever its declaration asks for.
 *
 * A path and kind is allowed when the declaration's decision and the ceiling's allow it. Every cut is said with
 * both places: a note, or a warning where nothing is left of what a clause asked for. A ceiling never widens.
 */
#ifndef SBX_CEILING_H
#define SBX_CEILING_H

#include "ask.h"

/* Narrows `asked` by one ceiling: paths, patterns, network, environment, limits, presets, the skill's folder,
 * descriptors, terminal. Trust and what presets grant are the policy's to decide. */
void ceiling_apply(struct ask_context *c, struct ask *asked, const struct ask *ceiling);

/* What presets and the skill's folder grant, narrowed by what the ceiling denies and, where it lists programs, by
 * its list. `loaders`: what a list of programs brings by itself, which only a deny takes away. `granted` is merged. */
void ceiling_presets(struct ask_context *c, struct rule_list *granted, const struct ask *ceiling, bool loaders);

#endif
