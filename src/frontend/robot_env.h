/* robot_lab's variables ROBOT_LAB_SANDBOX__*, read as a ceiling (--ceiling-env). They only narrow: what none
 * of them speaks of passes. */
#ifndef SBX_ROBOT_ENV_H
#define SBX_ROBOT_ENV_H

#include "frontend.h"

/* Fills out->profiles[0]. `environ` ends with NULL, each NAME=VALUE; other names are not looked at. */
void robot_env_read(char *const *environ, struct arena *a, struct diag_list *diags, struct decl_file *out);

#endif
