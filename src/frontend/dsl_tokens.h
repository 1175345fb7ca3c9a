/* Between the generated scanner and parser (grammar/) and dsl.c: token values, scan state, builder calls. */
#ifndef SBX_DSL_TOKENS_H
#define SBX_DSL_TOKENS_H

#include <stdbool.h>

#include "frontend/keys.h"
#include "source.h"

struct dsl_scan;

/* The scanner's hooks. `at` is set to the token's span; the token functions fill the value. A broken string
 * or byte is reported there and stands as a string, so that one mistake gives one message. */
void dsl_scan_at(struct dsl_scan *s, struct span *at, size_t len);
int dsl_scan_word(struct dsl_scan *s, struct key_value *v, struct span at);
int dsl_scan_string(struct dsl_scan *s, struct key_value *v, struct span at);
int dsl_scan_unclosed(struct dsl_scan *s, struct key_value *v, struct span at);
int dsl_scan_stray(struct dsl_scan *s, struct key_value *v, struct span at);

/* The parser's actions. A statement begins with its word, has values, and ends or opens a block. */
void dsl_begin(struct dsl_scan *s, const struct key_value *word);
void dsl_value(struct dsl_scan *s, const struct key_value *v);
void dsl_end(struct dsl_scan *s, const struct span *at);
void dsl_open(struct dsl_scan *s, const struct span *at);
void dsl_close(struct dsl_scan *s, const struct span *at);
/* A token that fits nowhere here; at the end of the file the blocks still open are named. */
void dsl_unexpected(struct dsl_scan *s, const char *token, struct span at, bool end_of_file);
/* After a syntax error: the statement in hand is dropped. */
void dsl_recover(struct dsl_scan *s);

/* For fmt: where each token of a text stands, in order. Line ends and `;` are tokens; comments and blanks are what
 * stands between tokens. Nothing is reported: the text has been parsed before. */
void dsl_each_token(const struct source *src, struct arena *a, void (*see)(void *ctx, struct span at), void *ctx);

#endif
