/* Declarations of other systems, read as they are (docs/shapes.md).
 *
 * A shape maps its own keys, words and units to clauses of the key table, so that a value is judged as
 * strictly as a native one. It is known by its marker, or named with --shape. One file a shape, one line in
 * the table.
 */
#ifndef SBX_SHAPES_H
#define SBX_SHAPES_H

#include "keys.h"
#include "yaml_tree.h"

struct shape_reader {
    struct arena *arena;
    struct diag_list *diags;
    struct decl_file *file;
    struct key_builder builder; /* of the profile in hand */
};

struct shape {
    const char *name; /* --shape NAME */
    /* The entry of the top map by which the shape is known, or NULL. */
    const struct yaml_node *(*marker)(const struct yaml_node *root);
    /* Reads a vetted map into `first` and further profiles of the file. */
    void (*read)(struct shape_reader *r, struct yaml_node *root, struct decl_profile *first);
};

/* Its keys are rows of the key table, read as a dialect: no struct shape. */
#define SHAPE_ROBOT_LAB "robot_lab"

extern const struct shape *const shapes[];
extern const size_t n_shapes;

const struct shape *shape_find(const char *name);
/* The shape whose marker the map has; NULL if none. Two of them are an error: then *out_wrong. */
const struct shape *shape_marked(struct diag_list *diags, const struct yaml_node *root, bool *out_wrong);

/* ---- For the shapes ---------------------------------------------------------------------------------- */

/* Begins the clauses of one profile. */
void shape_begin(struct shape_reader *r, struct decl_profile *p);
/* A profile or scope named by this entry's key. */
struct decl_profile *shape_profile(struct shape_reader *r, const struct yaml_node *entry);
/* Gives one word to the native clause `name` (its YAML spelling; "limits.memory" for a limit), at the place
 * of `at`. */
void shape_put(struct shape_reader *r, const char *name, const char *word, const struct yaml_node *at);
/* The same with a path of len bytes. It may hold any byte, as what stands in a file does. */
void shape_put_path(struct shape_reader *r, const char *name, const char *text, size_t len,
                    const struct yaml_node *at, unsigned path_flags);
/* The same with the node's own text, which must be text. */
void shape_put_text(struct shape_reader *r, const char *name, const struct yaml_node *n, unsigned path_flags);
/* Each item of a list, or one value without brackets. */
void shape_put_list(struct shape_reader *r, const char *name, const struct yaml_node *list);
/* Which of the words "a|b|c" the node is; -1 after an error. */
int shape_word(struct shape_reader *r, const struct yaml_node *n, const char *what, const char *words);
/* A map whose keys are all among `names`; false after an error about the node itself. Unknown keys are
 * reported. */
bool shape_map(struct shape_reader *r, const struct yaml_node *n, const char *what, const char *const *names,
               size_t n_names);
/* A whole number; false after an error. */
bool shape_number(struct shape_reader *r, const struct yaml_node *n, const char *what, uint64_t least,
                  uint64_t most, uint64_t *out);
/* Looks at the top of an application's configuration, of which `own` keys are the shape's. Words of sbxc and
 * near misses are errors: what they deny would be lost. One note says that all others are not read. */
void shape_rest(struct shape_reader *r, const struct yaml_node *root, const char *const *own, size_t n_own);
/* Notes that a key has no part in the policy. */
void shape_not_applied(struct shape_reader *r, const struct yaml_node *entry, const char *why);

extern const struct shape shape_clawtool, shape_littleghost, shape_rustyclaw;

#endif
