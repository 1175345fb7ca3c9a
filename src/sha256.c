#include "sha256.h"

#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { BLOCK = 64, MANY = 1024 };

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Eight rounds at a time, so that the variables change their names instead of their values. */
#define ROUND(a, b, c, d, e, f, g, h, at)                                                                \
    do {                                                                                                 \
        uint32_t t = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g))) + K[at] + w[at]; \
        d += t;                                                                                          \
        h = t + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));                    \
    } while (0)

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 16; i++)
        w[i] = big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    for (int i = 0; i < 64; i += 8) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    const uint32_t add[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state[i] += add[i];
}

static void compress_portable(uint32_t state[8], const unsigned char *data, size_t blocks)
{
    for (; blocks; blocks--, data += BLOCK)
        compress(state, data);
}

#ifdef __x86_64__
/* The processor's own instructions: about six times as fast. Intel 64 manual, volume 2, SHA256RNDS2 and its
 * neighbours. Two registers hold the eight words as (a b e f) and (c d g h), from the highest down. */
__attribute__((target("sha,sse4.1"))) static void compress_x86(uint32_t state[8], const unsigned char *data,
                                                               size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i *words = (__m128i *)(void *)state;
    __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
    __m128i abef = _mm_alignr_epi8(abcd, efgh, 8), cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);
    for (; blocks; blocks--, data += BLOCK) {
        __m128i w[4], abef0 = abef, cdgh0 = cdgh;
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)), swap);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i % 4], last = w[(i + 3) % 4];
            if (i >= 4) {
                __m128i seventh = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
                __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % 4]), seventh);
                *now = _mm_sha256msg2_epu32(sum, last);
            }
            __m128i sum = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(const void *)(K + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    abcd = _mm_shuffle_epi32(abef, 0x1b);
    efgh = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(words, _mm_blend_epi16(abcd, efgh, 0xf0));
    _mm_storeu_si128(words + 1, _mm_alignr_epi8(efgh, abcd, 8));
}

static bool has_sha(void)
{
    unsigned a, b, c, d, b7;
    if (!__get_cpuid_count(7, 0, &a, &b7, &c, &d) || !__get_cpuid(1, &a, &b, &c, &d))
        return false;
    return b7 & bit_SHA && c & bit_SSE4_1;
}
#endif

/* Asking the processor what it can do costs a virtual machine some 10 us, which only long texts earn back. */
static void compress_all(uint32_t state[8], const unsigned char *data, size_t blocks)
{
#ifdef __x86_64__
    if (blocks >= MANY && has_sha()) {
        compress_x86(state, data, blocks);
        return;
    }
#endif
    compress_portable(state, data, blocks);
}

void sha256_init(struct sha256 *s)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, initial, sizeof initial);
    s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
    const unsigned char *p = data;
    size_t have = s->bytes % BLOCK;
    s->bytes += len;
    while (len) {
        if (!have && len >= BLOCK) {
            size_t blocks = len / BLOCK;
            compress_all(s->state, p, blocks);
            p += blocks * BLOCK;
            len -= blocks * BLOCK;
            continue;
        }
        size_t n = BLOCK - have < len ? BLOCK - have : len;
        memcpy(s->block + have, p, n);
        have += n;
        p += n;
        len -= n;
        if (have == BLOCK) {
            compress_portable(s->state, s->block, 1);
            have = 0;
        }
    }
}

void sha256_end(struct sha256 *s, unsigned char out[SHA256_LEN])
{
    uint64_t bits = s->bytes * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    static const unsigned char pad[BLOCK] = {0x80};
    size_t have = s->bytes % BLOCK;
    sha256_add(s, pad, have < 56 ? 56 - have : 120 - have);
    sha256_add(s, length, sizeof length);
    for (int i = 0; i < SHA256_LEN; i++)
        out[i] = (unsigned char)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const unsigned char digest[SHA256_LEN], char out[SHA256_HEX_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < SHA256_LEN; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[SHA256_HEX_LEN] = '\0';
}
