/* SHA-256 (FIPS 180-4), for the policy digest and the body digest.
 *
 * The runtime links it too, and the runtime has no dependencies; so it is ours. It uses no memory but
 * the context and never fails. */
#ifndef SBX_SHA256_H
#define SBX_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_LEN = 32, SHA256_HEX_LEN = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_end(struct sha256 *s, unsigned char out[SHA256_LEN]);
/* Lower-case hexadecimal and a NUL. */
void sha256_hex(const unsigned char digest[SHA256_LEN], char out[SHA256_HEX_LEN + 1]);

#endif
