/* LINK: src/network.c src/arena.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "network.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct ir_endpoint entry(const char *text)
{
    struct ir_endpoint e;
    size_t at;
    const char *hint, *why = network_entry(&arena, text, strlen(text), &e, &at, &hint);
    if (why)
        fail_msg("%s: %s at %zu", text, why, at);
    return e;
}

/* ---- Text ---------------------------------------------------------------------------------------------- */

static void canonical_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"example.com:443", "example.com:443"},
        {"EXAMPLE.com:443", "example.com:443"},
        {"example.com.:443", "example.com:443"},
        {"example.com:*", "example.com:*"},
        {".example.com:65535", ".example.com:65535"},
        {".Example.Com.:1", ".example.com:1"},
        {"localhost:8080", "localhost:8080"},
        {".local:80", ".local:80"},
        {"r3---sn-x.example.com:443", "r3---sn-x.example.com:443"},
        {"1.example:80", "1.example:80"},
        {"0xg:80", "0xg:80"},
        {"b\303\274cher.example:443", "xn--bcher-kva.example:443"},
        {".B\303\234CHER.example:443", ".xn--bcher-kva.example:443"},
        {"fa\303\237.example:443", "xn--fa-hia.example:443"},
        {"XN--bcher-KVA.example:443", "xn--bcher-kva.example:443"},
        {"\344\276\213\343\200\202example:1", "xn--fsq.example:1"},
        {"192.0.2.7:53", "192.0.2.7:53"},
        {"192.0.2.7/32:53", "192.0.2.7:53"},
        {"192.0.2.0/24:53", "192.0.2.0/24:53"},
        {"0.0.0.0/0:*", "0.0.0.0/0:*"},
        {"[2001:DB8:0::1]:443", "[2001:db8::1]:443"},
        {"[2001:db8::/32]:*", "[2001:db8::/32]:*"},
        {"[::1/128]:80", "[::1]:80"},
        {"[::/0]:80", "[::/0]:80"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ir_endpoint e = entry(cases[i].text);
        assert_string_equal(network_text(&arena, &e), cases[i].canonical);
        struct ir_endpoint again = entry(cases[i].canonical);
        assert_int_equal(network_cmp(&e, &again), 0);
    }
}

static void bad_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *why, *hint; /* parts of them */
    } bad[] = {
        {"", 0, "empty", NULL},
        {"example.com", 11, "missing", "example.com:443"},
        {"example.com:", 12, "missing", NULL},
        {":443", 0, "host is missing", NULL},
        {"h:0", 2, "1 to 65535", NULL},
        {"h:080", 2, "begin with 0", NULL},
        {"h:65536", 2, "1 to 65535", NULL},
        {"h:99999999999999999999", 2, "1 to 65535", NULL},
        {"h:-1", 2, "number", NULL},
        {"h:+1", 2, "number", NULL},
        {"h:http", 2, "number", NULL},
        {"h:80-90", 4, "one number", NULL},
        {"h:80,81", 4, "one number", NULL},
        {"h:80/tcp", 4, "number", NULL},
        {"h:*0", 3, "number", NULL},
        {"a:b:c", 2, "number", NULL},
        {"h:443 ", 5, "blank", NULL},
        {" h:443", 0, "blank", NULL},
        {"h\n:443", 1, "blank", NULL},
        {"*", 0, "no host", "network open"},
        {"*:443", 0, "no host", "network open"},
        {"*.example.com:443", 0, "without the `*`", "write .example.com:443"},
        {"exa*mple.com:443", 3, "pattern", NULL},
        {"my_host:443", 2, "letters", NULL},
        {"user@host:443", 4, "letters", NULL},
        {"https://example.com", 0, "URL", NULL},
        {"example.com:443/x", 15, "number", NULL},
        {"example.com/24:443", 11, "only an address", NULL},
        {"a..b:1", 2, "empty", NULL},
        {"..example.com:1", 1, "empty", NULL},
        {".:1", 1, "empty", NULL},
        {"example.com..:1", 12, "empty", NULL},
        {"x.-a:1", 2, "`-`", NULL},
        {"a-.x:1", 0, "`-`", NULL},
        {"1.2.3:80", 4, "number", NULL},
        {"127.1:80", 4, "number", NULL},
        {"0x7f.1:80", 5, "number", NULL},
        {"0X7F000001:80", 0, "number", NULL},
        {"0x:80", 0, "number", NULL},
        {"0177.0.0.1:80", 9, "number", NULL},
        {"1.2.3.256:80", 6, "number", NULL},
        {"1.2.3.4.:80", 6, "number", NULL},
        {".1.2.3.4:80", 7, "number", NULL},
        {"2130706433:80", 0, "number", NULL},
        {"10.0.0.1/8:80", 0, "bits behind", "write 10.0.0.0/8:80"},
        {"10.0.0.0/33:80", 9, "0 to 32", NULL},
        {"10.0.0.0/08:80", 9, "0 to 32", NULL},
        {"10.0.0.0/:80", 8, "0 to 32", NULL},
        {"[2001:db8::1/32]:443", 1, "bits behind", "write [2001:db8::/32]:443"},
        {"[::1/129]:1", 5, "0 to 128", NULL},
        {"[::ffff:1.2.3.4]:80", 1, "IPv4", "write 1.2.3.4:80"},
        {"[::ffff:a00:0/104]:*", 1, "IPv4", "write 10.0.0.0/8:*"},
        {"[fe80::1%eth0]:80", 8, "zone", NULL},
        {"[::1", 0, "not closed", NULL},
        {"[::1]", 5, "missing", "write [::1]:443"},
        {"[::1]x:1", 5, "colon", NULL},
        {"[::]/0:80", 4, "within the brackets", NULL},
        {"[1.2.3.4]:80", 0, "only an IPv6", "write 1.2.3.4:80"},
        {"[example.com]:80", 1, "no IPv6", NULL},
        {"[]:80", 1, "no IPv6", NULL},
        {"::1", 0, "brackets", "[ADDRESS]"},
        {"2001:db8::1:443", 0, "brackets", "[ADDRESS]"},
        {"2001:db8::/32:443", 0, "brackets", "[ADDRESS]"},
        /* What IDNA does must not open what was closed. */
        {"\357\274\221\357\274\222\357\274\227.0.0.1:80", 0, "number", NULL}, /* full-width digits */
        {"x\357\274\212.example:80", 1, "ASCII", NULL},                       /* full-width star */
        {"\303\274*.example:80", 2, "pattern", NULL},
        {"a_\303\274.example:80", 1, "letters", NULL},
        {"x\377.example:80", 1, "ASCII", NULL},
        {"\343\200\202example:80", 0, "empty", NULL}, /* ideographic full stop */
        {"\342\230\203.example:80", 0, "ASCII", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ir_endpoint e = {.port = 7};
        size_t at = 999;
        const char *hint = "unset";
        const char *why = network_entry(&arena, bad[i].text, strlen(bad[i].text), &e, &at, &hint);
        if (!why || at != bad[i].at || !strstr(why, bad[i].why) ||
            (bad[i].hint && (!hint || !strstr(hint, bad[i].hint))))
            fail_msg("%s: %s at %zu, hint %s", bad[i].text, why ? why : "accepted", at, hint ? hint : "-");
        assert_int_equal(e.port, 7);
    }
}

/* A NUL must not hide what follows. */
static void a_nul_ends_nothing(void **state)
{
    (void)state;
    struct ir_endpoint e;
    size_t at;
    const char *hint;
    assert_non_null(network_entry(&arena, "1.2.3.4\0.x:80", 13, &e, &at, &hint));
    assert_int_equal(at, 7);
    assert_null(network_entry(&arena, "h:80garbage", 4, &e, &at, &hint));
    assert_int_equal(e.port, 80);
}

static void lengths_of_names(void **state)
{
    (void)state;
    char text[300];
    struct ir_endpoint e;
    size_t at;
    const char *hint;
    for (int n = 62; n <= 64; n++) {
        snprintf(text, sizeof text, "%.*s.x:1", n,
                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        assert_int_equal(!network_entry(&arena, text, strlen(text), &e, &at, &hint), n <= 63);
    }
    for (int n = 252; n <= 254; n++) {
        for (int i = 0; i < n; i++)
            text[i] = i % 2 && i < n - 1 ? '.' : 'a';
        strcpy(text + n, ":1");
        assert_int_equal(!network_entry(&arena, text, strlen(text), &e, &at, &hint), n <= 253);
    }
}

static void ports(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint16_t port; /* 0: none */
    } cases[] = {{"1", 1},       {"65535", 65535}, {"65536", 0}, {"0", 0},         {"", 0},
                 {"080", 0},     {"-1", 0},        {"+1", 0},    {"8 ", 0},        {" 8", 0},
                 {"8080", 8080}, {"*", 0},         {"0x1", 0},   {"4294967376", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t port = 0;
        assert_int_equal(network_port(cases[i].text, strlen(cases[i].text), &port), cases[i].port != 0);
        assert_int_equal(port, cases[i].port);
    }
    uint16_t port;
    assert_true(network_port("4433", 3, &port));
    assert_int_equal(port, 443);
}

/* ---- Meaning ------------------------------------------------------------------------------------------- */

/* One thing to connect to, as text: a name, or an address in IPv4 or IPv6. */
struct target {
    const char *host;
    uint16_t port;
};

static bool bits_agree(const uint8_t *a, const uint8_t *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if ((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

/* Written apart from the code under test. */
static bool member(const struct ir_endpoint *e, struct target t)
{
    uint8_t bytes[16];
    int family = inet_pton(AF_INET, t.host, bytes) == 1 ? 4 : inet_pton(AF_INET6, t.host, bytes) == 1 ? 6 : 0;
    if (e->port && e->port != t.port)
        return false;
    if (e->kind == IR_ADDRESS)
        return family == e->family && bits_agree(bytes, e->address, e->prefix);
    if (family)
        return false;
    if (e->kind == IR_HOST)
        return !strcmp(e->host, t.host);
    char tail[300];
    snprintf(tail, sizeof tail, ".%s", e->host);
    return strlen(t.host) > strlen(tail) && !strcmp(t.host + strlen(t.host) - strlen(tail), tail);
}

static const char *const POOL[] = {"a.com",
                                   "b.com",
                                   ".a.com",
                                   ".com",
                                   "x.a.com",
                                   ".x.a.com",
                                   "x-a.com",
                                   "xa.com",
                                   ".xa.com",
                                   "a-b.com",
                                   "com",
                                   "y.x.a.com",
                                   "10.0.0.0/8",
                                   "10.1.0.0/16",
                                   "10.1.2.3",
                                   "10.1.2.0/25",
                                   "0.0.0.0/0",
                                   "11.0.0.0/8",
                                   "10.1.2.128/25",
                                   "10.1.2.129",
                                   "[::/0]",
                                   "[2001:db8::/32]",
                                   "[2001:db8::1]",
                                   "[2001:db8:0:8000::/49]",
                                   "[2001:db8:0:8000::1]",
                                   "[a00::/8]",
                                   "x.com",
                                   ".x.com",
                                   "10.0.0.0/9",
                                   "10.0.0.0"};
static const char *const PORTS[] = {"80", "443", "81", "*"};
enum { N_POOL = sizeof POOL / sizeof *POOL, N_PORTS = sizeof PORTS / sizeof *PORTS };

static const char *const HOSTS[] = {"a.com",
                                    "x-a.com",
                                    "b.com",
                                    "x.a.com",
                                    "y.x.a.com",
                                    "z.y.x.a.com",
                                    "xa.com",
                                    "q.xa.com",
                                    "a-b.com",
                                    "com",
                                    "x.com",
                                    "y.x.com",
                                    "org",
                                    "10.0.0.0",
                                    "10.1.2.3",
                                    "10.1.2.129",
                                    "10.200.0.1",
                                    "11.1.1.1",
                                    "9.9.9.9",
                                    "::1",
                                    "a00::1",
                                    "2001:db8::1",
                                    "2001:db8:0:8000::1",
                                    "2001:db8:1::",
                                    "10.1.3.1",
                                    "10.1.2.127"};
enum { N_HOSTS = sizeof HOSTS / sizeof *HOSTS };
static const uint16_t TARGET_PORTS[] = {80, 443, 81, 9};

static uint32_t seed = 7;
static unsigned below(unsigned n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static struct ir_endpoint random_entry(void)
{
    return entry(arena_printf(&arena, "%s:%s", POOL[below(N_POOL)], PORTS[below(N_PORTS)]));
}

#define FOR_TARGETS(t)                      \
    for (size_t h_ = 0; h_ < N_HOSTS; h_++) \
        for (size_t p_ = 0; p_ < 4; p_++)   \
            for (struct target t = {HOSTS[h_], TARGET_PORTS[p_]}, *once_ = &t; once_; once_ = NULL)

static void meet_is_what_both_hold(void **state)
{
    (void)state;
    size_t met = 0;
    for (size_t i = 0; i < 5000; i++) {
        struct ir_endpoint a = random_entry(), b = random_entry(), both, other;
        bool meets = network_meet(&a, &b, &both);
        met += meets;
        assert_int_equal(network_meet(&b, &a, &other), meets);
        if (meets) {
            assert_int_equal(network_cmp(&both, &other), 0);
            assert_true(network_within(&both, &a) && network_within(&both, &b));
        }
        FOR_TARGETS(t)
        assert_int_equal(meets && member(&both, t), member(&a, t) && member(&b, t));
        /* Within, just if the common part is the whole. */
        assert_int_equal(network_within(&a, &b), meets && !network_cmp(&both, &a));
    }
    assert_true(met > 200);
}

static void meet_may_write_on_its_input(void **state)
{
    (void)state;
    struct ir_endpoint a = entry("x.a.com:*"), b = entry(".a.com:443");
    a.span.start = 11;
    b.span.start = 22;
    assert_true(network_meet(&b, &a, &b));
    assert_string_equal(network_text(&arena, &b), "x.a.com:443");
    assert_int_equal(b.span.start, 22);
}

static void modes(void **state)
{
    (void)state;
    /* Which caps hold a mode, in the order of enum ir_network_mode. */
    static const char *const within[] = {"11111", "01101", "00101", "00011", "00001"};
    for (int mode = IR_NETWORK_NONE; mode <= IR_NETWORK_OPEN; mode++)
        for (int cap = IR_NETWORK_NONE; cap <= IR_NETWORK_OPEN; cap++)
            assert_int_equal(network_mode_within((enum ir_network_mode)mode, (enum ir_network_mode)cap),
                             within[mode][cap] == '1');
}

static int sign(int c)
{
    return (c > 0) - (c < 0);
}

static void order_is_total(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5000; i++) {
        struct ir_endpoint a = random_entry(), b = random_entry(), c = random_entry();
        int ab = network_cmp(&a, &b);
        assert_int_equal(sign(ab), -sign(network_cmp(&b, &a)));
        assert_int_equal(!ab, !strcmp(network_text(&arena, &a), network_text(&arena, &b)));
        if (ab <= 0 && network_cmp(&b, &c) <= 0)
            assert_true(network_cmp(&a, &c) <= 0);
    }
}

static bool any_member(const struct ir_endpoint *items, size_t n, struct target t)
{
    for (size_t i = 0; i < n; i++)
        if (member(&items[i], t))
            return true;
    return false;
}

static void normalised_is_the_same_and_least(void **state)
{
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        struct ir_endpoint before[24], after[24];
        size_t n = below(24);
        for (size_t k = 0; k < n; k++) {
            before[k] = random_entry();
            before[k].span.start = (uint32_t)k;
        }
        memcpy(after, before, sizeof after);
        size_t kept = network_normalise(after, n);
        FOR_TARGETS(t)
        assert_int_equal(any_member(after, kept, t), any_member(before, n, t));
        for (size_t k = 0; k < kept; k++) {
            for (size_t j = 0; j < kept; j++)
                assert_true(k == j || !network_within(&after[k], &after[j]));
            assert_true(!k || network_cmp(&after[k - 1], &after[k]) < 0);
            for (size_t j = 0; j < after[k].span.start; j++) /* the first place */
                assert_true(network_cmp(&before[j], &after[k]) != 0);
        }
        for (size_t k = 0; k < n; k++) {
            bool held = false;
            for (size_t j = 0; j < kept; j++)
                held |= network_within(&before[k], &after[j]);
            assert_true(held);
        }
    }
    assert_int_equal(network_normalise(NULL, 0), 0);
}

/* As deep as networks nest, and as wide as ports go. */
static void normalise_at_its_bounds(void **state)
{
    (void)state;
    enum { BITS = 129, PORTS_EACH = 400, N = BITS * PORTS_EACH };
    struct ir_endpoint *items = arena_array(&arena, N + 1, sizeof *items);
    for (size_t i = 0; i < N; i++)
        items[i] = (struct ir_endpoint){.kind = IR_ADDRESS,
                                        .family = 6,
                                        .prefix = (uint8_t)(i % BITS),
                                        .port = (uint16_t)(1 + i % N / BITS + 300 * (i % BITS % 2))};
    assert_int_equal(network_normalise(items, N), 700);
    items[700] = entry("[::/0]:*");
    assert_int_equal(network_normalise(items, 701), 1);
    assert_string_equal(network_text(&arena, &items[0]), "[::/0]:*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_text),
        cmocka_unit_test(bad_text),
        cmocka_unit_test(a_nul_ends_nothing),
        cmocka_unit_test(lengths_of_names),
        cmocka_unit_test(ports),
        cmocka_unit_test(meet_is_what_both_hold),
        cmocka_unit_test(meet_may_write_on_its_input),
        cmocka_unit_test(modes),
        cmocka_unit_test(order_is_total),
        cmocka_unit_test(normalised_is_the_same_and_least),
        cmocka_unit_test(normalise_at_its_bounds),
    };
    return cmocka_run_group_tests_name("network", tests, setup, teardown);
}
