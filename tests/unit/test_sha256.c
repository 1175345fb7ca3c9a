/* LINK: src/sha256.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sha256.h"

static void hash(const void *data, size_t len, size_t step, char hex[SHA256_HEX_LEN + 1])
{
    struct sha256 s;
    unsigned char digest[SHA256_LEN];
    sha256_init(&s);
    for (size_t at = 0; at < len; at += step)
        sha256_add(&s, (const char *)data + at, len - at < step ? len - at : step);
    sha256_end(&s, digest);
    sha256_hex(digest, hex);
}

/* Vectors of FIPS 180-4's examples, and sha256sum's answers for the lengths around the padding's borders. */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
         "mnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        char hex[SHA256_HEX_LEN + 1];
        hash(vectors[i].text, strlen(vectors[i].text), 64, hex);
        assert_string_equal(hex, vectors[i].hex);
    }
}

static void padding_borders(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        const char *hex;
    } vectors[] = {
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    static char text[1000000];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        char hex[SHA256_HEX_LEN + 1];
        hash(text, vectors[i].len, sizeof text, hex);
        assert_string_equal(hex, vectors[i].hex);
    }
}

static void pieces_do_not_matter(void **state)
{
    (void)state;
    unsigned char text[300];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * 7);
    char whole[SHA256_HEX_LEN + 1], pieces[SHA256_HEX_LEN + 1];
    hash(text, sizeof text, sizeof text, whole);
    for (size_t step = 1; step < sizeof text; step++) {
        hash(text, sizeof text, step, pieces);
        assert_string_equal(pieces, whole);
    }
}

/* A long text in one piece takes the processor's instructions where it has them, in short ones never. */
static void both_ways_agree(void **state)
{
    (void)state;
    static unsigned char text[300001];
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)((x = x * 1664525 + 1013904223) >> 24);
    char whole[SHA256_HEX_LEN + 1], pieces[SHA256_HEX_LEN + 1];
    for (size_t cut = 0; cut < 3; cut++) {
        hash(text + cut, sizeof text - cut, sizeof text, whole);
        hash(text + cut, sizeof text - cut, 1000, pieces);
        assert_string_equal(pieces, whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(padding_borders),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(both_ways_agree),
    };
    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
