/* A policy as JSON: what `sbxc dump --json` prints; docs/dump.schema.json is its schema. */
#ifndef SBX_DUMP_JSON_H
#define SBX_DUMP_JSON_H

#include "buf.h"
#include "ir.h"

/* Same meaning, same bytes, one final line end. Holds no source names or places. A text that is no UTF-8
 * becomes
 * {"hex": "..."}. out->failed is set when memory runs out. */
void dump_json(const struct ir_policy *p, struct buf *out);

#endif
