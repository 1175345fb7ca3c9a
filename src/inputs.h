/* Input files: a declaration or a ceiling, and the files that they include. */
#ifndef SBX_INPUTS_H
#define SBX_INPUTS_H

#include "arena.h"
#include "diag.h"
#include "frontend/frontend.h"
#include "policy.h"

struct inputs {
    struct arena *arena;
    struct diag_list *diags;
};

/* Reads the file `path` (`-`: standard input) of kind `from` (NULL: by its suffix) in the shape `shape`
 * (NULL: native, or by its marker) and all that it includes, and picks the profile `name` (NULL: the only
 * one). The front end that read it is *out_fe. False with *out_usage set if the file cannot be read; false
 * alone after an error in diags that leaves no profile. A profile with errors is returned as well: looking at
 * its paths tells of all mistakes in one run. */
bool inputs_read(struct inputs *in, const char *path, const char *from, const char *shape, enum fe_role role,
                 const char *name, struct policy_input *out, const struct frontend **out_fe,
                 const char **out_usage);

/* The ceiling that robot_lab's variables are. */
void inputs_environment(struct inputs *in, char *const *environ, struct policy_input *out);

/* The profile of an embedded preset, or NULL. */
const struct decl_profile *inputs_preset(const char *name, struct arena *a, struct diag_list *diags);

#endif
