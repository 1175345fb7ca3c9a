/* The one contract between front ends and back ends.
 *
 * Front ends (DSL, YAML, SKILL.md) make a `struct decl_profile` (decl.h): what one profile asks for, as written,
 * every value with its place. resolve.c, ceiling.c and policy.c turn it into a `struct ir_policy`: what is
 * granted on one system. After that the policy is const, and a back end needs nothing but this header and
 * backend.h.
 *
 * Meaning of a policy
 *   - Default is deny. For a path and a kind of access the decision is that of the rule on the nearest
 *     path at or above it that speaks of that kind; order never matters.
 *   - Rules stand sorted by ir_path_cmp(): a folder before all that is beneath it, whole components
 *     ("/a", "/a/b", "/a-b"). No two rules have the same root and path. A rule that repeats what the
 *     nearest rule above it already decides is folded away, so rules are few and each one counts; but a
 *     grant of the declaration stays beneath a preset's, which not every target emits.
 *   - A rule on a folder speaks of the folder and all beneath it; whether the object itself may be removed,
 *     renamed or replaced is decided at its parent.
 *   - exec is only granted together with read, write only together with read.
 */
#ifndef SBX_IR_H
#define SBX_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "source.h"

enum ir_access_index {
#define IR_ACCESS(name, word, meaning) IR_INDEX_##name,
#include "ir_access.def"
#undef IR_ACCESS
    IR_ACCESS_COUNT
};

/* A set of kinds is an OR of these. */
enum ir_access {
#define IR_ACCESS(name, word, meaning) IR_##name = 1 << IR_INDEX_##name,
#include "ir_access.def"
#undef IR_ACCESS
};
enum { IR_ALL = (1 << IR_ACCESS_COUNT) - 1 };

/* The system whose file names and presets a policy speaks of. */
enum ir_system { IR_LINUX, IR_MACOS };

/* Who said a rule. Presets and the floor never grant writes to the host: a folder that they grant for
 * writing is private to the run (a tmpfs); a device node is the device. */
enum ir_origin {
    IR_DECLARED,  /* a clause of the declaration */
    IR_PRESET,    /* `system standard` and its like */
    IR_SKILL_DIR, /* the implicit read of the declaration's folder */
    IR_FLOOR,     /* device sinks, own /proc, private TMPDIR: below every preset */
};

/* Where a path begins. */
enum ir_root {
    IR_ROOT_SLASH,  /* path is absolute */
    IR_ROOT_TMPDIR, /* path is beneath the sandbox's private TMPDIR: "" or "/x" */
};

/* What stood at the path when it was resolved; the runtime refuses a grant that has changed its type. */
enum ir_type {
    IR_TYPE_ANY,  /* not looked at: presets, other systems */
    IR_TYPE_DIR,
    IR_TYPE_FILE, /* anything that is no folder */
};

enum ir_rule_flag {
    IR_OPTIONAL = 1 << 0, /* may be missing at launch: then there is nothing to grant */
    IR_FOLLOW = 1 << 1,   /* may be a link at launch, followed where only root could have made it (presets) */
};

struct ir_rule {
    const char *path; /* NUL-terminated, any byte but NUL; absolute, no `//`, `.`, `..`, no final slash but "/" */
    uint32_t path_len;
    uint8_t allow, deny; /* sets of ir_access, disjoint; a kind in neither is decided further up */
    uint8_t root;        /* enum ir_root */
    uint8_t origin;      /* enum ir_origin */
    uint8_t type;        /* enum ir_type */
    uint8_t flags;       /* set of ir_rule_flag */
    struct span span;    /* the path as the user wrote it */
};

/* A second name of a granted path: `name` leads to `path` through links. Both are absolute. */
struct ir_alias {
    const char *name, *path;
};

/* One link met on the way to a grant: the name `link` (its own parents resolved) stands for `target`. */
struct ir_link {
    const char *link, *target;
};

enum ir_network { IR_NETWORK_NONE, IR_NETWORK_OPEN };

struct ir_env_set {
    const char *name, *value;
    struct span span;
};

struct ir_env_name {
    const char *name; /* exact, or a prefix and a final `*` */
    struct span span;
};

struct ir_text {
    const char *text; /* NULL: not said */
    struct span span;
};

struct ir_policy {
    enum ir_system system;
    const char *name; /* of the profile, never NULL; "main" without a name */

    struct ir_rule *rules;
    size_t n_rules;
    struct ir_alias *aliases; /* sorted by name */
    size_t n_aliases;
    struct ir_link *links; /* sorted by link */
    size_t n_links;

    enum ir_network network;
    struct span network_span;

    uint64_t timeout_ms; /* 0: none was asked for in words */
    struct span timeout_span;
    uint64_t kill_after_ms;

    bool core; /* unconfined, still timed: `trust core` was asked for and granted */
    struct span trust_span;

    /* The environment: empty, then the caller's values of names that match `pass`, then `set`. PATH, HOME
     * and TMPDIR are the runtime's own unless passed by exact name. Both sorted by name, no duplicates. */
    struct ir_env_name *env_pass;
    size_t n_env_pass;
    struct ir_env_set *env_set;
    size_t n_env_set;

    struct ir_text image;  /* docker */
    const char *skill_dir; /* absolute, or NULL where the declaration does not grant its folder */

    /* Where the private TMPDIR may be mounted, best first: those of ARTIFACT_TMPDIRS that no grant or SKILL_DIR
     * lies at or beneath. Never empty for Linux; not used for macOS. */
    const char *tmpdirs[4];
    size_t n_tmpdirs;

    const char **accepted; /* names of accepted losses, sorted */
    size_t n_accepted;

    char digest[65]; /* SHA-256 of the canonical dump, lower-case hex */
};

/* Folder first, then all beneath it: byte order with '/' below every other byte. */
int ir_path_cmp(const char *a, const char *b);
/* Is `path` equal to `dir` or beneath it, by whole components? */
bool ir_path_within(const char *path, const char *dir);

/* The decision of a policy on one path and one set of kinds: true if all are allowed. `path` is absolute
 * and canonical. */
bool ir_allows(const struct ir_policy *p, const char *path, unsigned access);

/* The canonical clause that a rule stands for, e.g. `read "/usr"` or `write "$TMPDIR/x"`, in DSL spelling. */
const char *ir_clause(struct arena *a, const struct ir_rule *r);
/* A DSL string literal, quotes included. */
const char *ir_quote(struct arena *a, const char *s, size_t len);

/* The whole policy as canonical text: same meaning, same bytes. Holds no source names, lines or comments. */
struct buf;
void ir_print(const struct ir_policy *p, struct buf *out);

#endif
