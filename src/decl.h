/* What a profile asks for, as written: the front ends' product.
 *
 * Both syntaxes fill it through the key table (frontend/keys.h). Nothing is resolved, merged or judged
 * here; every value keeps its place. resolve.c, ceiling.c and policy.c turn it into a struct ir_policy.
 */
#ifndef SBX_DECL_H
#define SBX_DECL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "ir.h"
#include "source.h"

enum decl_path_flag {
    DECL_LITERAL = 1 << 0,     /* `$`, `~` and pattern characters are plain */
    DECL_OPTIONAL = 1 << 1,    /* missing: skipped with a note */
    DECL_CREATE = 1 << 2,      /* missing: made at launch, a folder */
    DECL_CREATE_FILE = 1 << 3, /* missing: made at launch, an empty file */
    DECL_SNAPSHOT = 1 << 4,    /* a pattern stands for what it matches now */
    DECL_STUB = 1 << 5,        /* deny of a missing name: an empty object stands there meanwhile */
    DECL_READ_ONLY = 1 << 6,   /* said as `read only` */
    DECL_YAML = 1 << 7,        /* hints show YAML's spelling */
};

struct decl_path {
    const char *text; /* len bytes and a NUL; may hold any byte (a NUL is an error of resolution) */
    uint32_t len;
    uint8_t allow, deny; /* sets of ir_access, without the exec of the exec default */
    uint8_t flags;       /* set of decl_path_flag */
    struct span span;
};

enum decl_trust { DECL_TRUST_UNSAID, DECL_TRUST_EXTERNAL, DECL_TRUST_CORE };
enum decl_exec { DECL_EXEC_UNSAID, DECL_EXEC_DEFAULT, DECL_EXEC_NONE };
enum decl_skill_dir { DECL_SKILL_DIR_UNSAID, DECL_SKILL_DIR_READ, DECL_SKILL_DIR_NONE, DECL_SKILL_DIR_PATH };

/* A variable of paths: given by -D, else its default, else --late. */
struct decl_param {
    const char *name;
    struct decl_path value; /* text NULL: none */
    struct span span;
};

struct decl_fd {
    int fd;
    struct span span;
};

struct decl_profile {
    struct ir_text name, description, image, user;
    struct ir_text preset;     /* of `system`: "standard", "minimal", "none" */
    struct ir_text env_preset; /* of `env`: "standard", "none" */
    struct ir_text scope_of;   /* a scope: the name of its parent */

    /* Paths of all clauses that take them, in the order written. */
    struct decl_path *paths;
    size_t n_paths, cap_paths;
    enum decl_exec exec;
    struct span exec_span;

    bool network_said; /* a mode in words */
    enum ir_network_mode network;
    struct span network_span;
    struct ir_endpoint *endpoints; /* of `network allow` */
    size_t n_endpoints, cap_endpoints;
    struct decl_path *sockets; /* unix: entries, without that word */
    size_t n_sockets, cap_sockets;
    struct ir_port *listen;
    size_t n_listen, cap_listen;

    struct ir_limit limits[IR_LIMIT_COUNT]; /* timeout said with value 0: `none` */

    struct ir_env_name *env_allow, *env_deny;
    size_t n_env_allow, cap_env_allow, n_env_deny, cap_env_deny;
    struct ir_env_set *env_set;
    size_t n_env_set, cap_env_set;

    struct decl_path workdir; /* text NULL: not said */
    struct span spawn_span;   /* .src set: `spawn deny` */
    struct decl_fd *fds;
    size_t n_fds, cap_fds;
    enum ir_tty tty;
    struct span tty_span;

    enum decl_trust trust;
    struct span trust_span;

    enum decl_skill_dir skill_dir;
    struct decl_path skill_dir_path; /* of DECL_SKILL_DIR_PATH */
    struct span skill_dir_span;
    bool skill_dir_default; /* unsaid means read: SKILL.md */

    bool only_said; /* a ceiling that lets pass what it does not speak of */

    struct decl_param *params;
    size_t n_params, cap_params;
    struct ir_text *uses;
    size_t n_uses, cap_uses;

    struct span span; /* the profile's head, or the first byte of the file */
};

/* One input file. */
struct decl_file {
    const struct source *src;
    const char *shape; /* the name of another system's shape that was asked for, or NULL: known by its marker */
    struct decl_profile **profiles; /* scopes too */
    size_t n_profiles, cap_profiles;
    struct ir_text *includes; /* names of files, as written */
    size_t n_includes, cap_includes;
};

struct decl_profile *decl_new_profile(struct decl_file *f, struct arena *a, struct span at);

#endif
