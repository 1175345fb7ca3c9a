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

struct resolve_var {
    const char *name, *value; /* value: absolute */
};

/* Where paths are looked up and what names in them stand for. */
struct resolve_env {
    const char *sysroot;  /* NULL or a folder; paths are written without it */
    const char *base;     /* absolute: relative paths are beneath it */
    const char *home;     /* NULL: unknown */
    const char *work_dir; /* absolute */
    const char *temp_dir; /* NULL, or the builder's own: no path is made from it, a note names it */
    const char *skill_dir; /* absolute, NULL: the declaration has no folder (standard input) */
    const struct resolve_var *vars; /* of -D; they come before all others */
    size_t n_vars;
    bool host; /* resolve on this host; else take paths as written */
};

struct resolver {
    const struct resolve_env *env;
    struct arena *arena;
    struct diag_list *diags;
    enum ir_system system;
    /* The last folder found to be real, all its parents too: neighbours need no second look. */
    char *known;
    size_t known_len, known_cap;
    struct ir_alias *aliases;
    size_t n_aliases, cap_aliases;
    struct ir_link *links;
    size_t n_links, cap_links;
    bool said_unresolved;
};

void resolve_init(struct resolver *r, const struct resolve_env *env, enum ir_system system, struct arena *a,
                  struct diag_list *diags);

enum resolve_result {
    RESOLVED,
    RESOLVE_SKIP, /* missing, and that is no error */
    RESOLVE_ERROR /* said in an error */
};

/* Fills path, path_len, root, type, flags and span of *out; allow, deny and origin are the caller's.
 * `must_exist` false: a missing path is skipped without a word (a ceiling only narrows). */
enum resolve_result resolve_path(struct resolver *r, const struct decl_path *p, bool must_exist, struct ir_rule *out);

/* The canonical form of a folder that the compiler itself names (SKILL_DIR); NULL if it cannot be looked at. */
const char *resolve_folder(struct resolver *r, const char *path);

/* An absolute path of plain components: `a/./b//c/` beneath base; `..` is kept. NULL if it is empty. */
const char *resolve_absolute(struct arena *a, const char *base, const char *path);

#endif
