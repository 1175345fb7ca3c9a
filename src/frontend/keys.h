/* The one key table: what every clause is called in either syntax, what its value looks like, and what it
 * sets. The DSL parser, the YAML reader, the writers of both and the JSON schema know syntax only; a new clause
 * is one row here.
 */
#ifndef SBX_KEYS_H
#define SBX_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "../arena.h"
#include "../decl.h"
#include "../diag.h"

enum key_syntax { KEY_DSL, KEY_YAML };

/* One value as either scanner saw it. */
struct key_value {
    const char *text; /* escapes done; not NUL-terminated */
    size_t len;
    struct span span;
    bool quoted; /* a string in quotes: never a number, boolean or null */
    bool broken; /* reported by the scanner already: not judged any further */
    unsigned path_flags; /* words behind or before a path: set of decl_path_flag */
};

enum key_shape {
    KEY_SCALAR, /* one value */
    KEY_LIST,   /* any number of values; may be repeated in the DSL */
    KEY_PAIRS,  /* names with a value each */
    KEY_BLOCK,  /* clauses of its own (children); a scalar is allowed where `scalar` is set */
};

/* What one value is. */
enum key_type {
    KEY_TEXT,
    KEY_WORD, /* one of `words` */
    KEY_PATH,
    KEY_NAME,     /* of a profile */
    KEY_VARIABLE, /* of the environment, exact */
    KEY_GLOB,     /* such a name, or a prefix and `*` */
    KEY_ENTRY,    /* of `network allow` */
    KEY_TIME,
    KEY_SIZE,
    KEY_COUNT,
    KEY_CPU, /* cores, with a fraction */
    KEY_WEIGHT,
    KEY_PORT,
    KEY_FD,
};

/* Which of the shapes that are no native ones a profile has; decides units and mode words. */
enum key_dialect { KEY_NATIVE, KEY_ROBOT_LAB };

struct key;
struct key_seen {
    const struct key *key;
    struct span span;
};

struct key_builder {
    struct arena *arena;
    struct diag_list *diags;
    struct decl_profile *profile;
    enum key_dialect dialect;
    /* First place of each single-valued clause. */
    struct key_seen *seen;
    size_t n_seen, cap_seen;
    bool said_implied_read, said_many_params; /* one note is enough */
};

typedef void key_set(struct key_builder *b, const struct key *k, const struct key_value *v);
/* v is NULL for a name without a value, where `bare` allows it. */
typedef void key_set_pair(struct key_builder *b, const struct key *k, const struct key_value *name,
                          const struct key_value *v);

struct key {
    const char *dsl, *yaml; /* spelling; NULL: not in that syntax. `dsl` may be two words: "deny write" */
    enum key_shape shape;
    enum key_type type;
    const char *words;    /* "default|none": words that stand in place of the value, or are the value */
    key_set *scalar;      /* KEY_SCALAR, each item of KEY_LIST, and a block's one-word form */
    key_set *word;        /* what sets one of `words`; NULL: scalar */
    key_set_pair *pair;
    const struct key *children; /* KEY_BLOCK: ends with a row of NULLs */
    const char *expect;         /* "a duration such as 60s": for messages about a missing or wrong value */
    const char *alone;          /* DSL: the value that is meant when none follows, or NULL */
    uint8_t allow, deny;        /* KEY_PATH: sets of ir_access */
    uint8_t path_flags;         /* KEY_PATH: what the clause itself adds, set of decl_path_flag */
    uint8_t path_words;         /* KEY_PATH: words that may stand behind the path beside `literal`, likewise */
    uint8_t limit;              /* of `limits`: enum ir_limit_index */
    bool some;                  /* an empty list is an error */
    bool bare;                  /* KEY_PAIRS: a name may stand without a value */
};

/* Clauses that stand directly in a profile; ends with a row of NULLs. */
extern const struct key key_profile[];

void keys_begin(struct key_builder *b, struct arena *a, struct diag_list *diags, struct decl_profile *p);

/* The row of that spelling, or NULL. */
const struct key *keys_find(const struct key *table, enum key_syntax syntax, const char *word, size_t len);
/* DSL: the row of two words, such as `deny write`, or NULL. */
const struct key *keys_find_two(const struct key *table, const struct key_value *first, const struct key_value *second);
/* Reports an unknown clause with the nearest known one. */
void keys_unknown(struct key_builder *b, const struct key *table, enum key_syntax syntax, const struct key_value *word);
/* Notes that clause k stands at `at`; false and an error if it is single-valued and was said before. */
bool keys_once(struct key_builder *b, const struct key *k, struct span at);
/* Is the value one of the row's `words`? In quotes it never is. */
bool keys_is_word(const struct key *k, const struct key_value *v);
/* Hands one value to the row's setter: its words, else its value. */
void keys_put(struct key_builder *b, const struct key *k, const struct key_value *v);
/* Must a value of this row be meant as text? (A plain null, boolean or number in YAML is a slip there.) */
bool keys_is_text(const struct key *k);

/* Path words: "optional", "literal", "create", "file" (behind create), "snapshot", "stub". 0 if it is none. */
unsigned keys_path_word(const char *word, size_t len);
/* May the word stand at a path of this clause? Else an error at `at`. */
bool keys_path_word_fits(struct key_builder *b, const struct key *k, unsigned flag, struct span at);

/* Names of profiles: of `profile` and `scope`, and of a parent. Reported if they cannot be one. */
bool keys_name(struct key_builder *b, const struct key_value *v, struct ir_text *out);

/* Sizes of value that every reader bounds in the same way. */
enum { KEYS_MAX_DEPTH = 32 };

#endif
