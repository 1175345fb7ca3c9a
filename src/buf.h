/* Growing output with a sticky error.
 *
 * Emitters append without checking; the one who writes the bytes out asks buf_ok() once. After a
 * failure (memory) the buffer stays failed and holds nothing useful. Lengths are bytes; the data may
 * hold NULs. The buffer owns its memory until buf_done().
 */
#ifndef SBX_BUF_H
#define SBX_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *data;
    size_t len, cap;
    bool failed;
};

void buf_done(struct buf *b);
bool buf_ok(const struct buf *b);

void buf_put(struct buf *b, const void *data, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_byte(struct buf *b, unsigned char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Little-endian integers, whatever the host. */
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
/* Zero bytes until len is a multiple of `align`. */
void buf_align(struct buf *b, size_t align);

#endif
