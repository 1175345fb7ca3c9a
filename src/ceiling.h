/* Ceilings: what a program may get at most, whatever its declaration asks for.
 *
 * Each function narrows one axis by one ceiling and says every cut with both places: a note, or a warning
 * where nothing is left of what a clause asked for. A ceiling never widens.
 */
#ifndef SBX_CEILING_H
#define SBX_CEILING_H

#include "decl.h"
#include "diag.h"
#include "env_names.h"
#include "ir.h"
#include "rules.h"

void ceiling_rules(struct rule_list *asked, const struct rule_list *cap, const struct decl_profile *ceiling,
                   struct arena *a, struct diag_list *diags);
void ceiling_network(struct ir_policy *p, const struct decl_profile *ceiling, struct diag_list *diags);
void ceiling_timeout(struct ir_policy *p, const struct decl_profile *ceiling, struct diag_list *diags);
/* `cap` is what the ceiling lets pass: its preset's names and its own. Both are normalised. */
void ceiling_env(struct env_names *asked, const struct env_names *cap, const struct decl_profile *ceiling,
                 struct arena *a, struct diag_list *diags);
void ceiling_env_set(struct ir_policy *p, const struct env_names *cap, const struct decl_profile *ceiling,
                     struct diag_list *diags);
/* The weaker of two system presets. */
struct ir_text ceiling_preset(struct ir_text asked, const struct decl_profile *ceiling, struct diag_list *diags);

#endif
