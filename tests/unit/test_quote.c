/* LINK: src/backends/quote.c src/buf.c */
/* Escaping: each format gets every byte as it is, or refuses the value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/quote.h"

static void scheme_is(const char *in, const char *expected)
{
    struct buf b = {0};
    assert_true(quote_scheme(&b, in, strlen(in)));
    buf_byte(&b, '\0');
    assert_string_equal(b.data, expected);
    buf_done(&b);
}

static void scheme_refuses(const char *in, size_t len)
{
    struct buf b = {0};
    assert_false(quote_scheme(&b, in, len));
    assert_int_equal(b.len, 0);
    buf_done(&b);
}

static void test_scheme_escapes_two_bytes(void **state)
{
    (void)state;
    scheme_is("", "\"\"");
    scheme_is("/a b", "\"/a b\"");
    scheme_is("/q\"q", "\"/q\\\"q\"");
    scheme_is("/b\\s", "\"/b\\\\s\"");
    scheme_is("/I:\\", "\"/I:\\\\\"");
    scheme_is("/x\") (allow default) (\"", "\"/x\\\") (allow default) (\\\"\"");
    scheme_is("/it's (Removed);#|x|#", "\"/it's (Removed);#|x|#\"");
    scheme_is("-x,a:b=c", "\"-x,a:b=c\"");
}

static void test_scheme_keeps_utf8(void **state)
{
    (void)state;
    scheme_is("/\xc3\xa9", "\"/\xc3\xa9\"");                         /* U+00E9 */
    scheme_is("/\xef\xbc\x8f", "\"/\xef\xbc\x8f\"");                 /* U+FF0F, a look-alike of / */
    scheme_is("/\xf0\x9f\x98\x80", "\"/\xf0\x9f\x98\x80\"");         /* U+1F600 */
    scheme_is("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"");           /* U+10FFFF */
    scheme_is("\xed\x9f\xbf\xee\x80\x80", "\"\xed\x9f\xbf\xee\x80\x80\""); /* around the surrogates */
}

static void test_scheme_refuses_control_characters(void **state)
{
    (void)state;
    for (int c = 0; c < 0x20; c++) {
        char s[3] = {'/', (char)c, 'x'};
        scheme_refuses(s, sizeof s);
    }
    scheme_refuses("/\x7f", 2);
}

static void test_scheme_refuses_what_is_no_utf8(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",             /* continues nothing */
        "a\xc3",            /* cut off */
        "\xc3(",            /* not continued */
        "\xc0\xaf",         /* overlong '/' */
        "\xe0\x80\xaf",     /* overlong '/' in three bytes */
        "\xf0\x80\x80\xaf", /* in four */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "\xf5\x80\x80\x80",
        "\xff",
        "\xe2\x82",
        "\xf0\x9f\x98",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        scheme_refuses(bad[i], strlen(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scheme_escapes_two_bytes),
        cmocka_unit_test(test_scheme_keeps_utf8),
        cmocka_unit_test(test_scheme_refuses_control_characters),
        cmocka_unit_test(test_scheme_refuses_what_is_no_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
