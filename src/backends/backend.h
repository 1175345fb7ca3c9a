/* Back ends are a table: a policy in, an artifact out.
 *
 * emit() is pure: no I/O, clock, environment, locale or host look-ups. The same policy and options give the
 * same bytes on every machine. What a target cannot hold is a diagnostic at the clause and returns false;
 * nothing is dropped in silence.
 */
#ifndef SBX_BACKEND_H
#define SBX_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../buf.h"
#include "../ir.h"

struct backend {
    const char *name;    /* -t NAME */
    const char *suffix;  /* ".sb" */
    const char *summary; /* one line for --help */
    enum ir_system system;
    bool binary;      /* refused on a terminal */
    uint32_t holds;   /* features that it emits, 1 << enum ir_feature; a policy with any other is refused by name */
    /* Appends the artifact to out; false after at least one error in diags. `a` is for scratch. Called by
     * be_emit() only, so it never meets a feature that it does not hold, nor a rule that is a mark. */
    bool (*emit)(const struct ir_policy *p, struct arena *a, struct diag_list *diags, struct buf *out);
    /* Prints an artifact that emit() made as text for review; false if the bytes are no such artifact. */
    bool (*text)(const char *data, size_t len, struct buf *out);
};

extern const struct backend *const backends[];
extern const size_t n_backends;

const struct backend *be_find(const char *name, size_t len);
/* One artifact, or false after at least one error in diags. */
bool be_emit(const struct backend *b, const struct ir_policy *p, struct arena *a, struct diag_list *diags, struct buf *out);
/* By the suffix of a file name, or NULL. */
const struct backend *be_by_suffix(const char *path);

extern const struct backend be_seatbelt, be_bwrap, be_landlock, be_docker;

#endif
