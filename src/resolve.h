/* Paths as written become paths as they are: variables, base, links, missing tails.
 *
 * For the running system links are resolved here and now, beneath --sysroot where one is given; for another
 * system paths are taken as written. Nothing is opened, only lstat and readlink are asked.
 */
#ifndef SBX_RESOLVE_H
#define SBX_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "decl.h"
#include "diag.h"
#include "ir.h"
#include "rules.h"

struct resolve_var {
    const char *name, *value; /* value: absolute */
};

/* Where paths are looked up and what names in them stand for. */
struct resolve_env {
    const char *sysroot;            /* NULL or a folder; paths are written without it */
    const char *base;               /* absolute: relative paths are beneath it */
    const char *home;               /* NULL: unknown */
    const char *work_dir;           /* absolute */
    const char *temp_dir;           /* NULL, or the builder's own: no path is made from it, a note names it */
    const char *skill_dir;          /* absolute, NULL: the declaration has no folder (standard input) */
    const struct resolve_var *vars; /* of -D; they come before all others */
    size_t n_vars;
    const struct ir_late *late; /* of --late: they come before -D */
    size_t n_late;
    bool host; /* resolve on this host; else take paths as written */
};

struct resolver {
    const struct resolve_env *env;
    struct arena *arena;
    struct diag_list *diags;
    enum ir_system system;
    const struct decl_param *params; /* of the profile in hand */
    size_t n_params;
    /* The last folder found to be real, all its parents too: neighbours need no second look. */
    char *known;
    size_t known_len, known_cap;
    char *walked, *on_host; /* used again by each walk */
    size_t walked_cap, on_host_cap;
    struct ir_alias *aliases;
    size_t n_aliases, cap_aliases;
    struct ir_link *links;
    size_t n_links, cap_links;
    bool said_unresolved;
    bool quiet; /* a ceiling: no notes on what is looked at */
};

void resolve_init(struct resolver *r, const struct resolve_env *env, enum ir_system system, struct arena *a,
                  struct diag_list *diags);

enum resolve_result {
    RESOLVED,
    RESOLVE_SKIP, /* missing, and that is no error */
    RESOLVE_ERROR /* said in an error */
};

enum resolve_want {
    WANT_PATH, /* a missing one is an error, or skipped, or made at launch, as the words behind it say */
    WANT_NAME, /* may be missing: denies, and ceilings */
};

/* Fills path, path_len, root, type, flags and span of *out; allow, deny, cut and origin are the caller's.
 * *out_pattern: the path is a pattern, of which only the literal folders were resolved. */
enum resolve_result resolve_path(struct resolver *r, const struct decl_path *p, enum resolve_want want,
                                 struct ir_rule *out, bool *out_pattern);
/* Adds to `found` a rule for all that a pattern matches now, each like `like` with its own path and type;
 * false after an error. */
bool resolve_snapshot(struct resolver *r, const struct decl_path *p, const struct ir_rule *like,
                      struct rule_list *found);

/* A rule's path for messages: with the variable that it begins with, and without control bytes. */
const char *resolve_shown(const struct resolve_env *env, struct arena *a, uint8_t root, const char *path);

enum { INTERPRETER_BYTES = 4096 };
/* What the kernel runs for a file: the word behind `#!`, or the loader that an ELF program names. False if
 * there is none, or the file cannot be read. */
bool resolve_interpreter(struct resolver *r, const char *path, char out[INTERPRETER_BYTES]);

/* The canonical form of a folder that the compiler itself names (SKILL_DIR); NULL if it cannot be looked at.
 */
const char *resolve_folder(struct resolver *r, const char *path);

/* An absolute path of plain components: `a/./b//c/` beneath base; `..` is kept. NULL if it is empty. */
const char *resolve_absolute(struct arena *a, const char *base, const char *path);

#endif
