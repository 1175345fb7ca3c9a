/* What the programs of the benchmark share: a clock, and a file whole in memory. */
#ifndef SBX_BENCH_H
#define SBX_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t bench_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* NUL-terminated, the caller's to free. A benchmark has no use for going on without its input. */
static inline char *bench_read(const char *path, size_t *out_len)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) {
        perror(path);
        exit(2);
    }
    size_t len = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(1, len + 1);
    if (!text || fread(text, 1, len, f) != len) {
        perror(path);
        exit(2);
    }
    fclose(f);
    *out_len = len;
    return text;
}

#endif
