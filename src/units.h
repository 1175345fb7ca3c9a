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

/* Bytes: 512, 512B, 64K, 64KiB, 512M, 512MiB, 1G, 1GiB (1024), 10kB, 10MB, 1GB (1000). Positive. */
const char *units_size(const char *s, size_t len, uint64_t *out_bytes);

/* A whole number between least and most. */
const char *units_count(const char *s, size_t len, uint64_t least, uint64_t most, uint64_t *out);

/* Thousandths of a positive number with up to three decimals: 1, 0.5, 1.25. */
const char *units_milli(const char *s, size_t len, uint64_t *out);

/* The shortest exact spelling: 512MiB, 10kB, 1500; 0.5. Writes at most 32 bytes. */
void units_print_size(uint64_t bytes, char out[32]);
void units_print_milli(uint64_t milli, char out[32]);

/* "60s", "1h30m", "1500ms": the shortest spelling, for messages. Writes at most 32 bytes. */
void units_print_duration(uint64_t ms, char out[32]);

#endif
