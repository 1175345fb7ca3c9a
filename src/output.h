/* Writing artifacts: whole or not at all. */
#ifndef SBX_OUTPUT_H
#define SBX_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

struct output {
    const char *path; /* "-" is standard output */
    const char *data;
    size_t len;
    bool edit; /* the file is one that exists, and keeps its mode and, where that is allowed, its owner */
    const char *target, *temp; /* used while writing: begin as NULL */
};

/* Writes n files. Regular ones are written beside their places and renamed when all the others are written, so
 * that old ones stay whole on any error; through a link its target is replaced; a device or FIFO is written in
 * place. Returns NULL, or why it failed, with the path in *out_path. */
const char *output_write(struct arena *a, struct output *files, size_t n, const char **out_path);

/* Do both names lead to one file? False if either does not exist. */
bool output_same_file(const char *a, const char *b);

#endif
