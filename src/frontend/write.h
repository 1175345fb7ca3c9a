/* A declaration as written, in either syntax: what `sbxc convert` prints. Nothing is resolved; comments are
 * lost. */
#ifndef SBX_WRITE_H
#define SBX_WRITE_H

#include "keys.h"

/* Appends the whole file; false after an error in diags (a path that is no UTF-8 has no spelling in YAML). */
bool write_declaration(const struct decl_file *f, enum key_syntax syntax, struct arena *a,
                       struct diag_list *diags, struct buf *out);

#endif
