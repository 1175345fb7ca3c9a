/* What `sbxc convert` cannot carry over. */
#ifndef SBX_COMMENTS_H
#define SBX_COMMENTS_H

#include <stdbool.h>

#include "frontend.h"

/* Has this text, which fe has read without an error, a comment? Of SKILL.md the front matter counts. Stores
 * the place of the first. In YAML a `#` within a block of lines is taken for one too. */
bool comments_first(const struct source *src, const struct frontend *fe, struct span *out);

#endif
