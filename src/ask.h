/* What one profile asks for on one system: paths resolved and merged, the exec default decided, and the
 * profiles that it uses or narrows composed into it (compose.c).
 *
 * Declarations and ceilings both become a `struct ask`; ceiling.c narrows one by another, and policy.c makes
 * the struct ir_policy. Presets and the floor are not part of it.
 */
#ifndef SBX_ASK_H
#define SBX_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "decl.h"
#include "diag.h"
#include "env_names.h"
#include "ir.h"
#include "resolve.h"
#include "rules.h"

/* Without a word: 60 s until the deadline, 2 s from TERM to KILL. */
enum { ASK_TIMEOUT_MS = 60000, ASK_KILL_AFTER_MS = 2000 };

/* Patterns of one ask, sorted by root and glob, each once. */
struct pattern_list {
    struct ir_pattern *items;
    size_t n, cap;
};

struct ask {
    const struct decl_profile *decl;
    /* One rule a path, sorted; allow and deny are what is said there, the exec of the exec default included.
     */
    struct rule_list rules;
    struct pattern_list patterns;
    bool exec_default;
    struct span exec_span;

    struct ir_network network;            /* span.src NULL: not said, `none` */
    struct env_names env_allow, env_deny; /* the preset's names included; normalised */
    struct ir_text env_preset;            /* text NULL: not said */
    struct ir_env_set *env_set;
    size_t n_env_set;
    struct ir_limit limits[IR_LIMIT_COUNT];

    struct ir_text preset; /* text NULL: not said */
    struct ir_text image, user;
    struct ir_workdir workdir;
    struct span spawn_span;
    struct ir_fd *fds; /* sorted */
    size_t n_fds;
    enum ir_tty tty;
    struct span tty_span;
    enum decl_trust trust;
    struct span trust_span;
    enum decl_skill_dir skill_dir; /* never unsaid */
    bool skill_dir_said;           /* by a clause, of this profile or of one that it uses */
    const char *skill_dir_path;    /* of DECL_SKILL_DIR_PATH, as written in an absolute spelling */
    struct span skill_dir_span;
};

/* All that asks of one system share. */
struct ask_context {
    struct arena *arena;
    struct diag_list *diags;
    struct resolver *resolver;
    /* All profiles that names may mean, sorted by name, and what became of each. */
    const struct decl_profile *const *profiles;
    size_t n_profiles;
    struct ask_made *made;
    enum resolve_want want;                  /* of allowed paths: WANT_PATH, or WANT_NAME for ceilings */
    const struct decl_profile *env_standard; /* the preset of names */
};

void ask_begin(struct ask_context *c, struct arena *a, struct diag_list *diags, struct resolver *r);
/* The profiles of one file and those that it includes. */
void ask_profiles(struct ask_context *c, struct decl_profile *const *profiles, size_t n);

/* The profile with all that it uses. Never NULL; what is wrong stands in diags. Made once for each profile.
 */
const struct ask *ask_make(struct ask_context *c, const struct decl_profile *p);

/* What stands in the profile itself. */
struct ask *ask_own(struct ask_context *c, const struct decl_profile *p);
/* A path for messages. */
const char *ask_shown(const struct ask_context *c, uint8_t root, const char *path);
/* Normal forms: sorted, each once, the first place wins. */
void ask_sort_patterns(struct pattern_list *l);
void ask_sort_network(struct ir_network *n);
void ask_sort_fds(struct ask *k);
/* Reports allows at or beneath what a deny pattern can match. */
void ask_check_patterns(struct ask_context *c, const struct ask *k);

/* Does `k` surely allow all that an allow pattern can match? Equal patterns, or a folder granted as a whole.
 */
bool ask_pattern_within(struct ask_context *c, const struct ir_pattern *x, const struct ask *k);

/* compose.c: joins the asks of used profiles into `own`; makes a scope from its parent. */
void compose_use(struct ask_context *c, struct ask *own, const struct ask *const *used, size_t n);
struct ask *compose_scope(struct ask_context *c, const struct ask *own, const struct ask *parent);

#endif
