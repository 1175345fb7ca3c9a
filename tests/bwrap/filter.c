/* Writes the seccomp program of one network variant to stdout, for bwrap used alone. */
#include <stdio.h>
#include <string.h>

#include "filters.h"

#if defined __x86_64__
#define ARCH 0xC000003Eu
#else
#define ARCH 0xC00000B7u
#endif

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < n_filter_programs; i++) {
        const struct filter_program *f = &filter_programs[i];
        if (f->arch == ARCH && !strcmp(f->network, argv[1]))
            return fwrite(f->code, sizeof *f->code, f->count, stdout) == f->count ? 0 : 1;
    }
    return 2;
}
