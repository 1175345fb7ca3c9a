/* Writes the run section (artifact.h): the same strings in every format, wrapped by each its own way. */
#ifndef SBX_RUNSEC_H
#define SBX_RUNSEC_H

#include <stdbool.h>
#include <stddef.h>

#include "../buf.h"
#include "../ir.h"

/* How one format writes one string "KEY=VALUE" of len bytes. */
typedef void runsec_put(struct buf *out, const char *string, size_t len);

/* Appends all strings of the policy in table order. With `digest` a body-digest of 64 zeros is among them;
 * returns the offset in out of those digits for runsec_seal(), else 0. */
size_t runsec_write(const struct ir_policy *p, const char *target, bool digest, runsec_put *put, struct buf *out);

/* Prints an artifact of NUL-ended words for review, one a line, odd ones quoted as in the language. `mark` (of
 * mark_len bytes) begins its run section; false if the bytes are no such artifact. */
bool runsec_words_text(const char *data, size_t len, const char *mark, size_t mark_len, struct buf *out);

/* Once the artifact is whole (out[start..len)): fills in the 64 digits at offset `digits`. */
void runsec_seal(struct buf *out, size_t start, size_t digits);

#endif
