/* LINK: src/units.c */
/* Durations, sizes, counts, thousandths: one meaning for each spelling, and no spelling that is nearly one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "units.h"

static const uint64_t UNTOUCHED = UINT64_C(0x5555555555555555);

/* In memory of its own size without a NUL, so that a sanitizer sees any byte read beyond. */
static const char *parse(const char *(*f)(const char *, size_t, uint64_t *), const char *s, size_t len,
                         uint64_t *ms)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, s, len);
    const char *why = f(copy, len, ms);
    free(copy);
    return why;
}

static void test_durations(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t ms;
    } good[] = {
        {"1", 1000},
        {"60", 60000},
        {"60s", 60000},
        {"1m", 60000},
        {"1h", 3600000},
        {"1ms", 1},
        {"250ms", 250},
        {"1500ms", 1500},
        {"1h30m", 5400000},
        {"1h30m15s", 5415000},
        {"1h1ms", 3600001},
        {"90m", 5400000},
        {"1h0m5s", 3605000},
        {"0h5s", 5000},
        {"1m2s3ms", 62003},
        {"31536000000", UINT64_C(31536000000000)},
        {"31536000000000ms", UINT64_C(31536000000000)},
        {"8760000h", UINT64_C(31536000000000)},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t ms = UNTOUCHED;
        assert_null(parse(units_duration, good[i].text, strlen(good[i].text), &ms));
        assert_int_equal(ms, good[i].ms);
    }
}

static void test_no_durations(void **state)
{
    (void)state;
    const char *const bad[] = {
        "",
        " ",
        "0",
        "00",
        "0s",
        "0ms",
        "0h0m",
        "-1",
        "+1",
        "+10",
        "010",
        "0o10",
        "0x10",
        "0b1",
        "1_0",
        "10.0",
        "1e1",
        " 10",
        "10 ",
        "\xef\xbc\x91\xef\xbc\x90",
        "1h 30m",
        "30m1h",
        "1h1h",
        "1s1s",
        "1ms1s",
        "1.5h",
        ".5s",
        "5.s",
        "1h30",
        "60 s",
        "60S",
        "60sec",
        "1M",
        "1d",
        "1w",
        "PT1H",
        "00:01:00",
        "999us",
        "0.0001s",
        "s",
        "ms",
        "h1",
        "1mss",
        "1sm",
        "1,5",
        "nan",
        "inf",
        "none",
        "1h-5m",
        "1h+5m",
        "1h05m",
        "01s",
        "60s\n",
        "31536000001",
        "31536000000001ms",
        "8760000h1ms",
        "8760001h",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551617s",
        "99999999999999999999999999999999999999h",
        "5124095576030431h",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t ms = UNTOUCHED;
        const char *why = parse(units_duration, bad[i], strlen(bad[i]), &ms);
        assert_non_null(why);
        assert_int_equal(ms, UNTOUCHED);
    }
    uint64_t ms = UNTOUCHED;
    assert_non_null(parse(units_duration, "5s\0", 3, &ms));
    assert_non_null(parse(units_duration, "5\0", 2, &ms));
    assert_int_equal(ms, UNTOUCHED);
}

static void test_seconds(void **state)
{
    (void)state;
    uint64_t ms = 0;
    assert_null(parse(units_seconds, "60", 2, &ms));
    assert_int_equal(ms, 60000);
    const char *const bad[] = {"",   "0",   "60s", "1m", "1.5", "-1",
                               "+1", "007", " 1",  "1 ", "1e3", "31536000001"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ms = UNTOUCHED;
        assert_non_null(parse(units_seconds, bad[i], strlen(bad[i]), &ms));
        assert_int_equal(ms, UNTOUCHED);
    }
}

/* What is printed is read back as the same, for every order of magnitude. */
static void test_printing(void **state)
{
    (void)state;
    const struct {
        uint64_t ms;
        const char *text;
    } cases[] = {{1, "1ms"},      {1500, "1500ms"}, {1000, "1s"},         {60000, "1m"},
                 {61000, "1m1s"}, {3600000, "1h"},  {5400000, "1h30m"},   {3601000, "1h1s"},
                 {0, "0s"},       {250, "250ms"},   {90061000, "25h1m1s"}};
    char out[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        units_print_duration(cases[i].ms, out);
        assert_string_equal(out, cases[i].text);
    }
    for (uint64_t ms = 1; ms <= UINT64_C(31536000000000); ms = ms * 3 + 1) {
        uint64_t back = 0;
        units_print_duration(ms, out);
        assert_null(parse(units_duration, out, strlen(out), &back));
        assert_int_equal(back, ms);
        if (ms < 1000)
            continue;
        units_print_duration(ms / 1000 * 1000, out);
        assert_null(parse(units_duration, out, strlen(out), &back));
        assert_int_equal(back, ms / 1000 * 1000);
    }
    units_print_duration(UINT64_MAX, out);
    assert_string_equal(out, "18446744073709551615ms");
    units_print_duration(UINT64_MAX / 1000 * 1000, out);
    assert_string_equal(out, "5124095576030h25m51s");
}

static void test_sizes(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"1", 1},          {"512B", 512},      {"1K", 1024},           {"1KiB", 1024},
        {"1kB", 1000},     {"2M", 2097152},    {"2MiB", 2097152},      {"2MB", 2000000},
        {"3G", 3221225472}, {"3GiB", 3221225472}, {"3GB", 3000000000},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t bytes = UNTOUCHED;
        assert_null(parse(units_size, good[i].text, strlen(good[i].text), &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
    const char *const bad[] = {"",     "0",    "0K",  "-1",   "+1",   "01",  "1.5M", "1 M",  "1m",   "1k",   "1g",  "1KB",
                               "1mB",  "1T",   "1Mi", "M",    "1MM",  "1b",  "1e3",  "0x10", " 1",   "1 ",   "1_0", "none",
                               "1K1B", "18446744073709551616", "18014398509481984K", "17179869184G", "99999999999999999999G"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t bytes = UNTOUCHED;
        if (!parse(units_size, bad[i], strlen(bad[i]), &bytes) || bytes != UNTOUCHED)
            fail_msg("`%s` is a size", bad[i]);
    }
    char out[32];
    for (uint64_t bytes = 1; bytes < UINT64_C(1) << 40; bytes = bytes * 5 / 2 + 24) {
        uint64_t back = 0;
        units_print_size(bytes, out);
        assert_null(parse(units_size, out, strlen(out), &back));
        assert_int_equal(back, bytes);
    }
}

static const char *count(const char *s, size_t len, uint64_t *out)
{
    return units_count(s, len, 3, 10, out);
}

static void test_counts(void **state)
{
    (void)state;
    uint64_t n = UNTOUCHED;
    assert_null(parse(count, "3", 1, &n));
    assert_int_equal(n, 3);
    assert_null(parse(count, "10", 2, &n));
    assert_int_equal(n, 10);
    const char *const bad[] = {"", "2", "11", "0", "-3", "+3", "03", "3.0", "3 ", " 3", "3K", "18446744073709551620", "x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        n = UNTOUCHED;
        if (!parse(count, bad[i], strlen(bad[i]), &n) || n != UNTOUCHED)
            fail_msg("`%s` is a count", bad[i]);
    }
}

static void test_thousandths(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t milli;
    } good[] = {{"1", 1000}, {"0.5", 500}, {"1.25", 1250}, {"0.001", 1}, {"12.345", 12345}, {"1.0", 1000}, {"2.500", 2500}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t milli = UNTOUCHED;
        assert_null(parse(units_milli, good[i].text, strlen(good[i].text), &milli));
        assert_int_equal(milli, good[i].milli);
    }
    const char *const bad[] = {"",    "0",   "0.0", "0.000", ".5", "1.",   "1.2345", "01",  "00.5", "-1",
                               "+1",  "1,5", "1e1", "1 ",    " 1", "1..5", "1.5.5",  "nan", "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t milli = UNTOUCHED;
        if (!parse(units_milli, bad[i], strlen(bad[i]), &milli) || milli != UNTOUCHED)
            fail_msg("`%s` is a number of thousandths", bad[i]);
    }
    char out[32];
    for (uint64_t milli = 1; milli < 1000000; milli = milli * 3 / 2 + 1) {
        uint64_t back = 0;
        units_print_milli(milli, out);
        assert_null(parse(units_milli, out, strlen(out), &back));
        assert_int_equal(back, milli);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_no_durations),
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_printing),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_thousandths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
