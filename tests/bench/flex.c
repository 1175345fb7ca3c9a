/* How long the scanner of the language alone takes for one file: the tokens are counted and forgotten.
 * Usage: flex FILE; prints `scan NANOSECONDS`. */
#include "bench.h"
#include "frontend/dsl_tokens.h"
#include "policy.tab.h"

typedef void *yyscan_t;
#include "policy.lex.h"

/* The scanner hands out what it sees to these; the compiler's own are in frontend/dsl.c. */
struct dsl_scan {
    uint32_t offset;
};

void dsl_scan_at(struct dsl_scan *s, struct span *at, size_t len)
{
    *at = (struct span){NULL, s->offset, (uint32_t)len};
    s->offset += (uint32_t)len;
}

int dsl_scan_word(struct dsl_scan *s, struct key_value *v, struct span at)
{
    (void)s, (void)v, (void)at;
    return DSL_WORD;
}

int dsl_scan_string(struct dsl_scan *s, struct key_value *v, struct span at)
{
    (void)s, (void)v, (void)at;
    return DSL_STRING;
}

int dsl_scan_unclosed(struct dsl_scan *s, struct key_value *v, struct span at)
{
    return dsl_scan_string(s, v, at);
}

int dsl_scan_stray(struct dsl_scan *s, struct key_value *v, struct span at)
{
    return dsl_scan_word(s, v, at);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    size_t len, tokens = 0;
    char *text = bench_read(argv[1], &len);
    uint64_t start = bench_now_ns();
    struct dsl_scan s = {0};
    yyscan_t scanner;
    if (dsl_flex_lex_init_extra(&s, &scanner) || !dsl_flex__scan_bytes(text, (int)len, scanner))
        return 2;
    DSL_YYSTYPE value;
    DSL_YYLTYPE at;
    while (dsl_flex_lex(&value, &at, scanner) != DSL_YYEOF)
        tokens++;
    dsl_flex_lex_destroy(scanner);
    printf("scan %llu\n", (unsigned long long)(bench_now_ns() - start));
    free(text);
    return tokens ? 0 : 1;
}
