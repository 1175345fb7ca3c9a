/* Front ends are a table: text in, profiles as written out.
 *
 * parse() adds to diags and fills `out` as far as it understood; the caller looks at diags->n_errors.
 * Nothing is looked up on the host here.
 */
#ifndef SBX_FRONTEND_H
#define SBX_FRONTEND_H

#include <stdbool.h>
#include <stddef.h>

#include "../arena.h"
#include "../decl.h"
#include "../diag.h"
#include "../source.h"

enum fe_role {
    FE_DECLARATION, /* what a program asks for */
    FE_CEILING,     /* what it may get at most: also reads an application's `sandbox:` section */
};

struct frontend {
    const char *name;     /* --from NAME */
    const char *suffixes; /* ".yml .yaml", blank between */
    const char *summary;
    void (*parse)(const struct source *src, enum fe_role role, struct arena *a, struct diag_list *diags,
                  struct decl_file *out);
};

extern const struct frontend *const frontends[];
extern const size_t n_frontends;

const struct frontend *fe_find(const char *name);
const struct frontend *fe_by_suffix(const char *path);

extern const struct frontend fe_dsl, fe_yaml, fe_skill;

#endif
