/* LINK: src/buf.c -Wl,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"

static unsigned fail_at;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
    if (fail_at && --fail_at == 0)
        return NULL;
    return __real_realloc(p, size);
}

static void appends_any_bytes(void **state)
{
    (void)state;
    struct buf b = {0};
    assert_true(buf_ok(&b));
    buf_put(&b, "a\0b", 3);
    buf_str(&b, "cd");
    buf_byte(&b, 0xff);
    buf_put(&b, NULL, 0);
    buf_printf(&b, "%s/%03d", "x", 7);
    assert_true(buf_ok(&b));
    assert_int_equal(b.len, 11);
    assert_memory_equal(b.data, "a\0bcd\xffx/007", 12); /* and a NUL behind it */
    buf_done(&b);
    assert_null(b.data);
    assert_int_equal(b.len, 0);
}

static void grows_past_every_size(void **state)
{
    (void)state;
    struct buf b = {0};
    for (unsigned i = 0; i < 100000; i++)
        buf_byte(&b, (unsigned char)i);
    buf_printf(&b, "%0*d", 70000, 1);
    assert_int_equal(b.len, 170000);
    for (unsigned i = 0; i < 100000; i++)
        assert_int_equal((unsigned char)b.data[i], i & 0xff);
    assert_int_equal(b.data[169999], '1');
    assert_int_equal(b.data[b.len], '\0');
    buf_done(&b);
}

static void integers_are_little_endian(void **state)
{
    (void)state;
    struct buf b = {0};
    buf_u16(&b, 0x0102);
    buf_u32(&b, 0x03040506);
    buf_u64(&b, UINT64_C(0x0708090a0b0c0d0e));
    assert_int_equal(b.len, 14);
    assert_memory_equal(b.data, "\2\1\6\5\4\3\x0e\x0d\x0c\x0b\x0a\x09\x08\x07", 14);
    buf_align(&b, 8);
    assert_int_equal(b.len, 16);
    assert_memory_equal(b.data + 14, "\0\0", 2);
    buf_align(&b, 8);
    assert_int_equal(b.len, 16);
    buf_done(&b);
}

/* After a failure nothing is added, and one question at the end is enough. */
static void failure_is_sticky(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 4; n++) {
        struct buf b = {0};
        fail_at = n;
        for (unsigned i = 0; i < 3000; i++)
            buf_str(&b, "some text");
        bool failed = !buf_ok(&b);
        fail_at = 0;
        size_t len = b.len;
        buf_str(&b, "more");
        buf_byte(&b, 'x');
        buf_printf(&b, "%d", 1);
        buf_u64(&b, 1);
        buf_align(&b, 4096);
        assert_true(failed);
        assert_false(buf_ok(&b));
        assert_int_equal(b.len, len);
        buf_done(&b);
    }
}

static void an_impossible_length_fails(void **state)
{
    (void)state;
    struct buf b = {0};
    buf_put(&b, "x", SIZE_MAX);
    assert_false(buf_ok(&b));
    buf_done(&b);
    assert_true(buf_ok(&b));
    buf_put(&b, "x", SIZE_MAX / 2);
    assert_false(buf_ok(&b));
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_any_bytes),          cmocka_unit_test(grows_past_every_size),
        cmocka_unit_test(integers_are_little_endian), cmocka_unit_test(failure_is_sticky),
        cmocka_unit_test(an_impossible_length_fails),
    };
    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
