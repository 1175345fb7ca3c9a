/* Escaping, in one place: how a value is spelt in each format that a back end writes.
 *
 * A quoter appends to out and returns true, or returns false and appends nothing when the format has no
 * spelling for the value; the caller says so at the clause. Values are bytes and may hold anything.
 */
#ifndef SBX_QUOTE_H
#define SBX_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "../buf.h"

/* A string literal of the sandbox profile language, quotes included. Only `"` and `\` are escaped there:
 * control characters and bytes that are no UTF-8 have no spelling on which all systems agree. */
bool quote_scheme(struct buf *out, const char *s, size_t len);

/* One field of the CSV record that `docker run --mount` takes: as it is, or quoted as a whole with its quotes
 * doubled. No spelling: bytes that are no UTF-8, which the engine's JSON turns into U+FFFD, and CR LF, which
 * its CSV reader turns into LF even within quotes. */
bool quote_csv_field(struct buf *out, const char *s, size_t len);

/* For values that a format takes as they are, if they are UTF-8. */
bool quote_is_utf8(const char *s, size_t len);

#endif
