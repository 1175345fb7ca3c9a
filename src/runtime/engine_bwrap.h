/* The .bwrap file as the runtime reads it (bwrap_words.h): checked whole, then walked.
 *
 * The reader touches nothing of the system; all its pointers are into the caller's data.
 */
#ifndef SBX_ENGINE_BWRAP_H
#define SBX_ENGINE_BWRAP_H

#include <stdbool.h>
#include <stddef.h>

#include "../bwrap_words.h"

/* One word with its operands. */
struct bwrap_item {
    enum bw_word word;
    const char *first, *second; /* NULL where the word has none */
};

struct bwrap_words {
    const char *at, *end; /* the words before `--` */
    const char *run;      /* behind `--`: run_len bytes, NUL-terminated words */
    size_t run_len;
    size_t n_words; /* in the whole file */
    size_t n_of[BW_WORD_COUNT];
};

/* Checks every word, operand and place. NULL, or why the data is no file of sbxc's. */
const char *bwrap_check(const char *data, size_t len, struct bwrap_words *out);

/* Checks how often each word stands: what a confined file (or `core`) must have, and what it must not. */
const char *bwrap_check_counts(const struct bwrap_words *w, bool confined, bool network_none);

/* The next word before `--`; false at the end. Only on words that bwrap_check() passed. */
bool bwrap_next(struct bwrap_words *w, struct bwrap_item *out);

bool bwrap_is_bind(enum bw_word word);

/* What `bwrap --help` prints, NUL-terminated; NULL after rt_fail(). */
struct rt_run;
const char *bwrap_help(struct rt_run *run);
/* Does it list this option? */
bool bwrap_help_has(const char *help, const char *option);

#endif
