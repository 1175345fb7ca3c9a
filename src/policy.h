/* From what was asked to what is granted: presets, floor, ceilings, trust, environment, digest.
 *
 * This is where rules of meaning live; neither syntax and no target has any of its own.
 */
#ifndef SBX_POLICY_H
#define SBX_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "decl.h"
#include "diag.h"
#include "ir.h"
#include "resolve.h"

struct policy_request {
    const struct decl_profile *profile;
    const struct decl_profile *const *ceilings;
    size_t n_ceilings;
    const struct resolve_env *env;
    enum ir_system system;
    bool trust_core;   /* --trust-core */
    const char *image; /* --image, or NULL */
    const char *const *accepted; /* --accept, any order */
    size_t n_accepted;
    /* Parses a preset of the DSL; NULL if it is not embedded. The compiler's driver knows the front ends. */
    const struct decl_profile *(*preset)(const char *name, struct arena *a, struct diag_list *diags);
};

/* Without a word in the declaration: 60 s until the deadline, 2 s from TERM to KILL. */
enum { POLICY_TIMEOUT_MS = 60000, POLICY_KILL_AFTER_MS = 2000 };

/* The policy for one system, or NULL after at least one error in diags. */
const struct ir_policy *policy_make(const struct policy_request *q, struct arena *a, struct diag_list *diags);

#endif
