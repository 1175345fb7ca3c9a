/* The .sb file as the runtime reads it (seatbelt_words.h): checked whole, then walked.
 *
 * Nothing here touches the system. All pointers are into the caller's data.
 */
#ifndef SBX_ENGINE_SEATBELT_H
#define SBX_ENGINE_SEATBELT_H

#include <stdbool.h>
#include <stddef.h>

#include "../seatbelt_words.h"

enum sb_filter { SB_IS_LITERAL, SB_IS_SUBPATH, SB_IS_DEVICE };

/* One filter of one rule. */
struct sb_item {
    bool allow;
    unsigned operations; /* set of 1 << enum sb_operation */
    enum sb_filter filter;
    bool tmpdir;      /* the path is that of the private TMPDIR, and `path` what follows it */
    const char *path; /* len bytes as written, `"` and `\` behind a backslash; no NUL */
    size_t len;
};

struct sb_rules {
    const char *at, *end;
    bool allow; /* of the rule that is being read; nothing when operations == 0 */
    unsigned operations;
};

/* Checks a profile from SB_VERSION to its end. NULL, or why it is none of sbxc's. */
const char *sb_check(const char *profile, size_t len, bool confined, bool network_open);

/* Walks the rules behind the fixed part of a profile that sb_check() passed; `core` profiles have none. */
void sb_begin(struct sb_rules *r, const char *profile, size_t len);
bool sb_next(struct sb_rules *r, struct sb_item *out);

/* The path of an item as bytes, NUL-terminated; out holds item->len + 1. */
void sb_path(const struct sb_item *item, char *out);

#endif
