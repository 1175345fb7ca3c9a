/* `sbxc fmt`: the declaration language in its usual layout, by its tokens alone.
 *
 *   - one statement a line, two blanks a block, one blank between values, `{` at the end of its clause's line
 *   - a block that stands on one line stays there if the line has no more than FMT_COLUMNS columns
 *   - comments stay where they are: on lines of their own, or behind a statement
 *   - at most one blank line in a row, none where a block or the file begins or ends
 *   - LF at the end of every line, no byte order mark, no blanks before a line end
 *
 * Values are never touched: the tokens before and after are the same, and formatting twice changes nothing more.
 */
#ifndef SBX_FMT_H
#define SBX_FMT_H

#include "buf.h"
#include "diag.h"

enum { FMT_COLUMNS = 100 };

/* Appends the text of src in its usual layout. False, with nothing appended, if src has errors: they are in diags. */
bool fmt_text(const struct source *src, struct arena *a, struct diag_list *diags, struct buf *out);

#endif
