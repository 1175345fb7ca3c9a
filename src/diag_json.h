/* Diagnostics for programs: `--diagnostics=json`. One JSON object a line, of the same messages in the same order as
 * diag_render() shows them:
 *
 *   {"id", "severity", "message", PLACE, "hints": [TEXT...], "notes": [{"message", PLACE}...]}
 *   PLACE: "file", "line", "column", "end_line", "end_column", "offset", "length"
 *
 * A message without a place has no PLACE keys. Lines and columns count from 1, columns, offset and length in bytes;
 * the end is the byte behind the last one. offset counts from the file's first byte, a byte order mark included.
 * Texts are escaped as diag_escape() does. Where messages are left out, a last object {"omitted": N} counts them.
 */
#ifndef SBX_DIAG_JSON_H
#define SBX_DIAG_JSON_H

#include "diag.h"

void diag_render_json(const struct diag_list *l, struct buf *out);

/* A command line or a file that was no good, before any declaration was looked at: id "usage", no place. */
void diag_json_usage(const char *text, struct buf *out);

#endif
