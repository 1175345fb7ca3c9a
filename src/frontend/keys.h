/* The one key table: what every clause is called in either syntax, what its value looks like, and what it
 * sets. The DSL parser and the YAML reader know syntax only; a new clause is one row here.
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

/* Which of the shapes that are no native ones a profile has; decides units and mode words. */
enum key_dialect { KEY_NATIVE, KEY_ROBOT_LAB };

struct key_builder {
    struct arena *arena;
    struct diag_list *diags;
    struct decl_profile *profile;
    enum key_dialect dialect;
    /* First place of each single-valued clause, by row of the table. */
    struct span *seen;
    bool said_implied_read; /* one note is enough */
};

struct key;
typedef void key_set(struct key_builder *b, const struct key *k, const struct key_value *v);
typedef void key_set_pair(struct key_builder *b, const struct key_value *name, const struct key_value *v);

struct key {
    const char *dsl, *yaml; /* spelling; NULL: not in that syntax */
    enum key_shape shape;
    bool path;       /* values are paths and take path words */
    bool text;       /* values are text: in YAML a plain null, boolean or number is an error */
    unsigned allow;  /* path clauses: set of ir_access */
    key_set *scalar; /* KEY_SCALAR, each item of KEY_LIST, and a block's one-word form */
    key_set_pair *pair;
    const struct key *children; /* KEY_BLOCK: ends with a row of NULLs */
    const char *expect;         /* "a duration such as 60s": for messages about a missing or wrong value */
};

/* Clauses that stand directly in a profile; ends with a row of NULLs. */
extern const struct key key_profile[];

void keys_begin(struct key_builder *b, struct arena *a, struct diag_list *diags, struct decl_profile *p);

/* The row of that spelling, or NULL. */
const struct key *keys_find(const struct key *table, enum key_syntax syntax, const char *word, size_t len);
/* Reports an unknown clause with the nearest known one. */
void keys_unknown(struct key_builder *b, const struct key *table, enum key_syntax syntax, const struct key_value *word);
/* Notes that clause k stands at `at`; false and an error if it is single-valued and was said before. */
bool keys_once(struct key_builder *b, const struct key *k, struct span at);
/* Path words: "optional", "literal". 0 if the word is none. */
unsigned keys_path_word(const char *word, size_t len);

/* Sizes of value that every reader bounds in the same way. */
enum { KEYS_MAX_DEPTH = 32 };

#endif
