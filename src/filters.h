/* The seccomp programs, made by tools/genfilter.c with libseccomp when the project is built, and embedded.
 *
 * One program per network variant and architecture. The table is in build/<variant>/gen/filters.c; both the
 * compiler (for the blob) and the runtime (for bwrap) link it. docs/filters.md says what each refuses and why.
 */
#ifndef SBX_FILTERS_H
#define SBX_FILTERS_H

#include <stddef.h>
#include <stdint.h>

struct filter_program {
    const char *network; /* "none" or "open": the value of the run section's network */
    uint32_t arch;       /* AUDIT_ARCH_* */
    uint32_t count;      /* instructions */
    const uint64_t *code; /* struct sock_filter, one per element: code | jt << 16 | jf << 24 | k << 32 */
};

extern const struct filter_program filter_programs[];
extern const size_t n_filter_programs;

/* NULL if there is none. */
const struct filter_program *filter_find(const char *network, uint32_t arch);

#endif
