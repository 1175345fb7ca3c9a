/* YAML text as a tree of scalars, lists and maps; the readers of YAML walk it and never see libyaml.
 *
 * yaml_parse() reports what is no YAML at all, yaml_vet() what declarations do not use (tags, anchors, aliases,
 * merge keys) and keys that stand twice. The two are apart because a part of a text may be someone else's: foreign
 * front matter, the rest of an application's configuration. Nodes that were not vetted may only be skipped or
 * asked for their key. One mistake gives one message: what was reported is taken out of the tree.
 */
#ifndef SBX_YAML_TREE_H
#define SBX_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../arena.h"
#include "../diag.h"
#include "../source.h"

enum {
    YAML_MAX_DEPTH = 32,      /* of maps and lists in each other */
    YAML_MAX_NODES = 1 << 22, /* values and keys of one text: 200 MB of nodes */
};

enum yaml_node_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    uint8_t kind;  /* enum yaml_node_kind */
    bool quoted;   /* a scalar that is text for sure: in quotes, or a block of lines */
    bool feature;  /* has a tag or an anchor, or is an alias: yaml_vet() takes it out */
    bool pruned;   /* a map or list from which yaml_vet() took something: what is missing there was reported */
    uint32_t size; /* bytes of a scalar's text, entries of a map, items of a list */
    union {
        const char *text; /* escapes done, any byte; not NUL-terminated, may point into the source */
        struct yaml_node *first;
    };
    struct span span;      /* a scalar with its quotes; a collection's bracket or first byte */
    struct yaml_node *key; /* of an entry of a map; NULL elsewhere */
    struct yaml_node *next;
};

/* The document that text[start, start + len) of src is, or NULL if there is none that can be read; then an error
 * says so. Nodes live in the arena. */
struct yaml_node *yaml_parse(const struct source *src, uint32_t start, uint32_t len, struct arena *a,
                             struct diag_list *diags);

/* Reports what cannot be used in n and beneath it, and takes it out. False: n itself cannot be used. */
bool yaml_vet(struct diag_list *diags, struct yaml_node *n);
/* The same for one map and its keys alone: afterwards each key is a word and stands once. */
bool yaml_vet_keys(struct diag_list *diags, struct yaml_node *map);

/* The value at `key`, NULL if there is none or `map` is no map. */
struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
/* Is the key of this entry `word`? */
bool yaml_key_is(const struct yaml_node *entry, const char *word);
/* A list's items, or one value that stands without brackets: for (i = yaml_first(n); i; i = yaml_after(n, i)) */
const struct yaml_node *yaml_first(const struct yaml_node *list);
const struct yaml_node *yaml_after(const struct yaml_node *list, const struct yaml_node *item);

/* What a scalar is. Only true and false (also True, TRUE ...) without quotes are booleans; numbers are what other
 * readers may take for one. None of these holds for a map or list. */
bool yaml_is_word(const struct yaml_node *n, const char *word);
bool yaml_is_null(const struct yaml_node *n);
bool yaml_is_bool(const struct yaml_node *n);
bool yaml_is_number(const struct yaml_node *n);
/* Stores a boolean; false if n is none. */
bool yaml_bool(const struct yaml_node *n, bool *out);

/* Errors about a value: `what cannot have this value`, with the hint `write expect`. */
void yaml_wrong(struct diag_list *diags, const struct yaml_node *n, const char *what, const char *expect);
/* True if n is a scalar that is meant as text; else an error as above that says what it is. */
bool yaml_is_text(struct diag_list *diags, const struct yaml_node *n, const char *what, const char *expect);
/* The key of this entry is none of `names`: an error with the nearest one, or all of them. */
void yaml_unknown_key(struct diag_list *diags, const struct yaml_node *entry, const char *where,
                      const char *const *names, size_t n_names);

#endif
