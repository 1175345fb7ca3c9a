#include "units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A thousand years: far beyond any use, and sums stay clear of overflow. */
#define LONGEST_MS UINT64_C(31536000000000)

static const struct {
    const char *unit;
    uint64_t ms;
} UNITS[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
enum { N_UNITS = sizeof UNITS / sizeof *UNITS };

static size_t digits(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && s[n] >= '0' && s[n] <= '9')
        n++;
    return n;
}

static const char *number(const char **s, const char *end, uint64_t *out)
{
    const char *start = *s;
    uint64_t v = 0;
    for (; *s < end && **s >= '0' && **s <= '9'; ++*s) {
        v = v * 10 + (uint64_t)(**s - '0');
        if (v > LONGEST_MS)
            return "it is too large";
    }
    if (*s == start)
        return "a whole number is expected";
    if (*start == '0' && *s - start > 1)
        return "a number does not begin with 0";
    *out = v;
    return NULL;
}

/* The index of the unit at *s, or N_UNITS. */
static size_t unit_at(const char **s, const char *end)
{
    const char *word = *s;
    while (*s < end && !(**s >= '0' && **s <= '9'))
        ++*s;
    size_t len = (size_t)(*s - word);
    for (size_t i = 0; i < N_UNITS; i++)
        if (strlen(UNITS[i].unit) == len && !memcmp(UNITS[i].unit, word, len))
            return i;
    return N_UNITS;
}

const char *units_seconds(const char *s, size_t len, uint64_t *out_ms)
{
    const char *end = s + len;
    uint64_t v;
    const char *why = number(&s, end, &v);
    if (why)
        return why;
    if (s != end)
        return "a whole number of seconds is expected";
    if (!v)
        return "it is zero";
    if (v > LONGEST_MS / 1000)
        return "it is too large";
    *out_ms = v * 1000;
    return NULL;
}

const char *units_duration(const char *s, size_t len, uint64_t *out_ms)
{
    const char *end = s + len;
    if (digits(s, len) == len)
        return units_seconds(s, len, out_ms);
    uint64_t sum = 0;
    size_t next = 0; /* units still allowed: from large to small, each once */
    do {
        uint64_t v;
        const char *why = number(&s, end, &v);
        if (why)
            return why;
        size_t u = unit_at(&s, end);
        if (u == N_UNITS)
            return "its unit is not one of ms, s, m, h";
        if (u < next)
            return "its parts are not from large to small";
        next = u + 1;
        if (v > LONGEST_MS / UNITS[u].ms || (sum += v * UNITS[u].ms) > LONGEST_MS)
            return "it is too large";
    } while (s < end);
    if (!sum)
        return "it is zero";
    *out_ms = sum;
    return NULL;
}

static const struct {
    const char *unit;
    uint64_t bytes;
} SIZES[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20},   {"KiB", 1 << 10}, {"G", 1 << 30}, {"M", 1 << 20},
             {"K", 1 << 10},   {"GB", 1000000000}, {"MB", 1000000},  {"kB", 1000},   {"B", 1},
             {"", 1}};
enum { N_SIZES = sizeof SIZES / sizeof *SIZES };

/* Beyond any memory or file: sums and products stay clear of overflow, also as a signed number. */
#define LARGEST_BYTES (UINT64_C(1) << 60)

const char *units_size(const char *s, size_t len, uint64_t *out_bytes)
{
    const char *end = s + len;
    uint64_t v;
    const char *why = number(&s, end, &v);
    if (why)
        return why;
    size_t rest = (size_t)(end - s);
    for (size_t i = 0; i < N_SIZES; i++) {
        if (strlen(SIZES[i].unit) != rest || memcmp(SIZES[i].unit, s, rest) != 0)
            continue;
        if (!v)
            return "it is zero";
        if (v > LARGEST_BYTES / SIZES[i].bytes)
            return "it is too large";
        *out_bytes = v * SIZES[i].bytes;
        return NULL;
    }
    if (rest && (*s == '.' || *s == ','))
        return "a whole number is expected";
    return "its unit is not one of B, K, KiB, M, MiB, G, GiB, kB, MB, GB";
}

const char *units_count(const char *s, size_t len, uint64_t least, uint64_t most, uint64_t *out)
{
    const char *end = s + len;
    uint64_t v;
    const char *why = number(&s, end, &v);
    if (why)
        return why;
    if (s != end)
        return "a whole number is expected";
    if (v < least)
        return v ? "it is too small" : "it is zero";
    if (v > most)
        return "it is too large";
    *out = v;
    return NULL;
}

const char *units_milli(const char *s, size_t len, uint64_t *out)
{
    const char *end = s + len;
    uint64_t whole, part = 0;
    const char *why =
        len && (*s < '0' || *s > '9') ? "a number such as 1 or 0.5 is expected" : number(&s, end, &whole);
    if (why)
        return why;
    if (s < end && *s == '.') {
        size_t n = digits(s + 1, (size_t)(end - s - 1));
        if (!n || n > 3)
            return n ? "it is finer than a thousandth" : "a digit is expected behind the point";
        for (size_t i = 0; i < 3; i++)
            part = part * 10 + (i < n ? (uint64_t)(s[1 + i] - '0') : 0);
        s += 1 + n;
    }
    if (s != end)
        return "a number such as 1 or 0.5 is expected";
    if (!whole && !part)
        return "it is zero";
    if (whole > 1000000)
        return "it is too large";
    *out = whole * 1000 + part;
    return NULL;
}

void units_print_size(uint64_t bytes, char out[32])
{
    for (size_t i = 0; i < N_SIZES; i++) {
        if (bytes % SIZES[i].bytes || !SIZES[i].unit[0])
            continue;
        /* K and its like are spellings to read, not to write; plain bytes need no unit. */
        bool written = strlen(SIZES[i].unit) > 1;
        if (written) {
            snprintf(out, 32, "%" PRIu64 "%s", bytes / SIZES[i].bytes, SIZES[i].unit);
            return;
        }
    }
    snprintf(out, 32, "%" PRIu64, bytes);
}

void units_print_milli(uint64_t milli, char out[32])
{
    int n = snprintf(out, 32, "%" PRIu64 ".%03" PRIu64, milli / 1000, milli % 1000);
    while (out[n - 1] == '0')
        out[--n] = '\0';
    if (out[n - 1] == '.')
        out[--n] = '\0';
}

void units_print_duration(uint64_t ms, char out[32])
{
    if (ms % 1000) {
        snprintf(out, 32, "%" PRIu64 "ms", ms);
        return;
    }
    uint64_t s = ms / 1000;
    size_t n = 0;
    out[0] = '\0';
    if (s >= 3600)
        n += (size_t)snprintf(out + n, 32 - n, "%" PRIu64 "h", s / 3600);
    if (s % 3600 >= 60)
        n += (size_t)snprintf(out + n, 32 - n, "%" PRIu64 "m", s % 3600 / 60);
    if (s % 60 || !n)
        snprintf(out + n, 32 - n, "%" PRIu64 "s", s % 60);
}
