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

/* One input: the profile that was picked, and all profiles that it may name (of its file and of those that the
 * file includes). */
struct policy_input {
    const struct decl_profile *profile;
    struct decl_profile *const *profiles;
    size_t n_profiles;
};

struct policy_request {
    struct policy_input declaration;
    const struct policy_input *ceilings;
    size_t n_ceilings;
    const struct resolve_env *env;
    enum ir_system system;
    bool trust_core;   /* --trust-core */
    bool portable;     /* --portable: paths of the builder are errors */
    const char *image; /* --image, or NULL */
    const char *const *accepted; /* --accept, any order */
    size_t n_accepted;
    /* Parses a preset of the DSL; NULL if it is not embedded. The compiler's driver knows the front ends. */
    const struct decl_profile *(*preset)(const char *name, struct arena *a, struct diag_list *diags);
};

/* The policy for one system, or NULL after at least one error in diags. */
const struct ir_policy *policy_make(const struct policy_request *q, struct arena *a, struct diag_list *diags);

#endif
