/* Builds Landlock blobs for tests, from parts that a test may spoil before or after. Static memory; header
 * only, so that each test program links nothing more. */
#ifndef SBX_TEST_BLOB_H
#define SBX_TEST_BLOB_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters.h"
#include "landlock_words.h"
#include "sha256.h"

enum { BLOB_MAX = 1 << 20, BLOB_STRINGS_MAX = 1 << 14, BLOB_RULES_MAX = 64 };

struct blob {
    struct ll_header header; /* flags and masks; the rest is filled when it is laid out */
    struct ll_rule rules[BLOB_RULES_MAX];
    struct ll_port ports[4];
    struct ll_need needs[8];
    struct ll_filter filters[4];
    char run[BLOB_STRINGS_MAX], strings[BLOB_STRINGS_MAX];
    uint64_t code[8192];
    uint32_t n_rules, n_ports, n_needs, n_filters, n_run, n_strings, n_code;
    _Alignas(8) unsigned char bytes[BLOB_MAX]; /* as mapped memory is */
    size_t len;
};

static uint32_t blob_string(struct blob *b, const char *s)
{
    uint32_t at = b->n_strings;
    memcpy(b->strings + at, s, strlen(s) + 1);
    b->n_strings += (uint32_t)strlen(s) + 1;
    return at;
}

static void blob_run(struct blob *b, const char *s)
{
    memcpy(b->run + b->n_run, s, strlen(s) + 1);
    b->n_run += (uint32_t)strlen(s) + 1;
}

static struct ll_rule *blob_rule(struct blob *b, unsigned root, const char *path, unsigned type,
                                 unsigned flags, uint64_t access)
{
    struct ll_rule *r = &b->rules[b->n_rules++];
    *r = (struct ll_rule){access, blob_string(b, path), (uint8_t)root, (uint8_t)type, (uint16_t)flags};
    return r;
}

static void blob_filter(struct blob *b, uint32_t arch, const uint64_t *code, uint32_t n)
{
    b->filters[b->n_filters++] = (struct ll_filter){arch, b->n_code * 8, n, 0};
    memcpy(b->code + b->n_code, code, n * sizeof *code);
    b->n_code += n;
}

/* What stands behind the rules of a confined blob. */
static void blob_needs_and_filters(struct blob *b, bool open, bool view)
{
#define X(clause, min_abi, mechanisms, when)                                                        \
    if (when == LL_ALWAYS || when == (open ? LL_NETWORK_OPEN : LL_NETWORK_NONE) ||                  \
        (view && when == LL_WITH_VIEW))                                                             \
        b->needs[b->n_needs++] = (struct ll_need){blob_string(b, clause), min_abi, mechanisms};
    LL_NEEDS(X)
#undef X
    for (size_t i = 0; i < n_filter_programs; i++)
        if (!strcmp(filter_programs[i].network, open ? "open" : "none"))
            blob_filter(b, filter_programs[i].arch, filter_programs[i].code, filter_programs[i].count);
}

/* SHA-256 over all but the digest, written into the header. */
static inline void blob_seal(unsigned char *bytes, size_t len)
{
    struct sha256 s;
    size_t rest = LL_DIGEST_OFFSET + SHA256_LEN;
    sha256_init(&s);
    sha256_add(&s, bytes, LL_DIGEST_OFFSET);
    sha256_add(&s, bytes + rest, len - rest);
    sha256_end(&s, bytes + LL_DIGEST_OFFSET);
}

static struct ll_area blob_area(struct blob *b, const void *data, uint32_t n, size_t size)
{
    while (b->len % 8)
        b->bytes[b->len++] = 0;
    struct ll_area area = {(uint32_t)b->len, n};
    if (n)
        memcpy(b->bytes + b->len, data, n * size);
    b->len += n * size;
    return area;
}

/* Fills bytes and len. */
static void blob_lay_out(struct blob *b)
{
    struct ll_header *h = &b->header;
    memcpy(h->magic, LL_MAGIC, sizeof h->magic);
    h->format = ARTIFACT_FORMAT;
    h->header_size = LL_HEADER_SIZE;
    b->len = LL_HEADER_SIZE;
    h->rules = blob_area(b, b->rules, b->n_rules, sizeof *b->rules);
    h->ports = blob_area(b, b->ports, b->n_ports, sizeof *b->ports);
    h->needs = blob_area(b, b->needs, b->n_needs, sizeof *b->needs);
    h->filters = blob_area(b, b->filters, b->n_filters, sizeof *b->filters);
    h->run = blob_area(b, b->run, b->n_run, 1);
    h->strings = blob_area(b, b->strings, b->n_strings, 1);
    h->code = blob_area(b, b->code, b->n_code * 8, 1);
    h->size = (uint32_t)b->len;
    memcpy(b->bytes, h, sizeof *h);
    blob_seal(b->bytes, b->len);
}

#define BLOB_DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A run section, and masks that handle everything (core: nothing), with nothing granted. */
static void blob_begin(struct blob *b, bool confine, const char *timeout_ms)
{
    char timeout[64];
    memset(b, 0, sizeof *b);
    b->header.flags = LL_UNCONFINED;
    if (confine) {
        b->header.flags = LL_VIEW;
        b->header.handled_fs = LL_FS_ALL;
        b->header.handled_net = LL_NET_ALL;
        b->header.scoped = LL_SCOPE_ALL;
    }
    blob_run(b, "format=1");
    blob_run(b, "target=landlock");
    blob_run(b, "profile=main");
    blob_run(b, "policy-digest=" BLOB_DIGITS);
    blob_run(b, confine ? "confine=yes" : "confine=no");
    snprintf(timeout, sizeof timeout, "timeout-ms=%s", timeout_ms);
    blob_run(b, timeout);
    blob_run(b, "kill-after-ms=300");
    blob_run(b, "network=none");
}

#endif
