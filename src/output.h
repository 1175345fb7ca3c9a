/* Writing artifacts: whole or not at all. */
#ifndef SBX_OUTPUT_H
#define SBX_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

/* Writes len bytes to a path ("-" is standard output). A regular file is written beside its place and
 * renamed, so that an old one stays whole on any error; through a link its target is replaced; a device or
 * FIFO is written in place. Returns NULL, or why it failed. */
const char *output_write(struct arena *a, const char *path, const char *data, size_t len);

/* Do both names lead to one file? False if either does not exist. */
bool output_same_file(const char *a, const char *b);

#endif
