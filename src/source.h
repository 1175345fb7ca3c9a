/* Input text and where things stand in it.
 *
 * A source owns one input (a file, standard input, an embedded preset, a -D option) for the whole
 * compilation: tokens, IR strings and diagnostics may point into `text`. Offsets and lengths are bytes.
 * Lines and columns count from 1, columns in bytes, a tab being 1. A line ends at LF; a CR before it
 * belongs to the line end and never to the text shown.
 */
#ifndef SBX_SOURCE_H
#define SBX_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"

struct source {
    const char *name; /* as the user gave it, for messages */
    const char *text; /* len bytes and a NUL; a leading UTF-8 byte order mark is already skipped */
    char *scratch;    /* the same memory with two NULs, where a scanner may put its marks while it reads; or NULL */
    uint32_t len;
    uint32_t skipped; /* bytes of the file before text: 3 of a byte order mark, or 0 */
    const uint32_t *lines; /* offset of each line's first byte */
    uint32_t n_lines;
};

/* A stretch of one source; src == NULL means "no place" (a command-line default). */
struct span {
    const struct source *src;
    uint32_t start, len;
};

/* Inputs above this many bytes are refused: no declaration is near it, offsets fit 32 bits with room to spare,
 * and memory stays bounded (the text, the scanner's copy, an index of lines). */
#define SOURCE_MAX_BYTES ((size_t)SOURCE_MAX_MIB * 1024 * 1024)
enum { SOURCE_MAX_MIB = 16 };

/* Wraps text that the arena (or the program) already owns; len <= SOURCE_MAX_BYTES. */
const struct source *source_new(struct arena *a, const char *name, const char *text, size_t len);

/* Reads a file whole ("-" is standard input). Returns NULL with errno set; EFBIG above the limit,
 * EISDIR for a folder. */
const struct source *source_read(struct arena *a, const char *path);

struct source_pos {
    uint32_t line, column;   /* from 1 */
    const char *text;        /* the line's first byte */
    uint32_t len;            /* of the line, without its line end */
};
struct source_pos source_locate(const struct source *s, uint32_t offset);

/* From the first byte of a to the last of b (same source). */
struct span span_join(struct span a, struct span b);

#endif
