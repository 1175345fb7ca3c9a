/* What a profile asks for, as written: the front ends' product.
 *
 * Both syntaxes fill it through the key table (frontend/keys.h). Nothing is resolved, merged or judged
 * here; every value keeps its place. resolve.c, ceiling.c and policy.c turn it into a struct ir_policy.
 */
#ifndef SBX_DECL_H
#define SBX_DECL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "ir.h"
#include "source.h"

enum decl_path_flag {
    DECL_LITERAL = 1 << 0,  /* `$`, `~` and pattern characters are plain */
    DECL_OPTIONAL = 1 << 1, /* missing: skipped with a note */
    DECL_YAML = 1 << 2,     /* hints show YAML's spelling */
};

struct decl_path {
    const char *text; /* len bytes, may hold any byte (a NUL is an error of resolution) */
    uint32_t len;
    uint8_t allow; /* set of ir_access, without the exec of the exec default */
    uint8_t flags; /* set of decl_path_flag */
    struct span span;
};

enum decl_trust { DECL_TRUST_UNSAID, DECL_TRUST_EXTERNAL, DECL_TRUST_CORE };

struct decl_profile {
    struct ir_text name, description, image;
    struct ir_text preset;     /* of `system`: "standard", "minimal", "none" */
    struct ir_text env_preset; /* of `env`: "standard", "none" */

    bool network_said;
    enum ir_network network;
    struct span network_span;

    bool timeout_said;
    uint64_t timeout_ms; /* 0: `none` */
    struct span timeout_span;

    enum decl_trust trust;
    struct span trust_span;

    struct decl_path *paths;
    size_t n_paths, cap_paths;
    struct ir_env_name *env_allow;
    size_t n_env_allow, cap_env_allow;
    struct ir_env_set *env_set;
    size_t n_env_set, cap_env_set;

    bool skill_dir; /* grants reading of the declaration's own folder (SKILL.md) */
    struct span span; /* the profile's head, or the first byte of the file */
};

/* One input file. */
struct decl_file {
    const struct source *src;
    struct decl_profile **profiles;
    size_t n_profiles, cap_profiles;
};

struct decl_profile *decl_new_profile(struct decl_file *f, struct arena *a, struct span at);

#endif
