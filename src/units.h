/* Numbers with units, read whole or not at all: no sign, no blanks, no leading zeros, no overflow. */
#ifndef SBX_UNITS_H
#define SBX_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* 250ms, 60, 60s, 5m, 1h30m: parts from large to small, each unit once; a bare number is seconds.
 * Returns NULL and *out_ms > 0, or why it is none. */
const char *units_duration(const char *s, size_t len, uint64_t *out_ms);

/* A positive whole number of seconds. */
const char *units_seconds(const char *s, size_t len, uint64_t *out_ms);

/* "60s", "1h30m", "1500ms": the shortest spelling, for messages. Writes at most 32 bytes. */
void units_print_duration(uint64_t ms, char out[32]);

#endif
