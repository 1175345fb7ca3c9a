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
 *   - A deny pattern is final: it beats every rule on what it matches and beneath. An allow pattern is a rule at
 *     each match, and loses against a deny on that very path.
 *   - exec is only granted together with read; write without read is `write-only`.
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
    IR_ROOT_LATE,   /* and above: path is beneath late[root - IR_ROOT_LATE], filled at launch: "" or "/x" */
};
enum { IR_LATE_MAX = 16 };

/* What stood at the path when it was resolved; the runtime refuses a grant that has changed its type. */
enum ir_type {
    IR_TYPE_ANY,  /* not looked at: presets, other systems */
    IR_TYPE_DIR,
    IR_TYPE_FILE, /* anything that is no folder */
    IR_TYPE_NONE, /* nothing: a deny of a name that may come to exist */
};

enum ir_rule_flag {
    IR_OPTIONAL = 1 << 0, /* may be missing at launch: then there is nothing to grant */
    IR_FOLLOW = 1 << 1,   /* may be a link at launch, followed where only root could have made it (presets) */
    IR_CREATE = 1 << 2,   /* made at launch if it is missing: a folder (0700) or an empty file, as its type says */
    IR_STUB = 1 << 3,     /* deny of a missing name: an empty object stands on the host while the program runs */
    IR_WEAK_EXEC = 1 << 5, /* until the policy is whole: may be executed by default only */
    IR_NO_EXEC = 1 << 6,   /* until the policy is whole: a `deny exec` is among what this rule says */
    IR_NAME = 1 << 4,     /* deny or read only of a link: the name itself cannot be removed, renamed, replaced */
};

struct ir_rule {
    const char *path; /* NUL-terminated, any byte but NUL; absolute, no `//`, `.`, `..`, no final slash but "/" */
    uint32_t path_len;
    uint8_t allow, deny; /* sets of ir_access, disjoint; a kind in neither is decided further up */
    uint8_t cut;         /* what a preset or the skill's folder would have here, had nobody denied it. A rule with
                          * neither allow nor deny is only such a mark; emit() never sees one */
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

/* One link met on the way to a grant at `end`: the name `link` (its own parents resolved) stands for `target`. */
struct ir_link {
    const char *link, *target, *end;
};

/* A path pattern (pattern.h). allow and deny are not both set. */
struct ir_pattern {
    const char *glob; /* as a rule's path, with pattern characters */
    uint32_t glob_len;
    uint8_t allow, deny;
    uint8_t root; /* enum ir_root */
    struct span span;
};

/* A root that the launcher fills. */
struct ir_late {
    const char *name; /* HOME, WORK_DIR, SKILL_DIR or a parameter */
    int under;        /* index of the late root that it may lie beneath, or -1: disjoint */
};

enum ir_network_mode {
    IR_NETWORK_NONE,
    IR_NETWORK_LOOPBACK,      /* a network of the sandbox's own */
    IR_NETWORK_LOOPBACK_HOST, /* the loopback of the host */
    IR_NETWORK_ALLOW,         /* `endpoints` only */
    IR_NETWORK_OPEN,          /* the internet protocols, out and in */
};

/* One entry of `network allow` (network.h). */
enum ir_endpoint_kind { IR_HOST, IR_SUFFIX, IR_ADDRESS };
struct ir_endpoint {
    const char *host;    /* IR_HOST, IR_SUFFIX (without the leading dot); NULL for an address */
    uint8_t kind;        /* enum ir_endpoint_kind */
    uint8_t family;      /* IR_ADDRESS: 4 or 6; else 0 */
    uint8_t prefix;      /* IR_ADDRESS: bits that count */
    uint8_t address[16]; /* IR_ADDRESS: network order, bits beyond prefix zero */
    uint16_t port;       /* 0: every port */
    struct span span;
};

/* A Unix socket of the outside. */
struct ir_socket {
    const char *path; /* as a rule's */
    uint8_t root;
    uint8_t flags; /* IR_OPTIONAL */
    struct span span;
};

struct ir_port {
    uint16_t port; /* TCP, 1-65535 */
    struct span span;
};

/* What may be reached. Lists are sorted, without duplicates; endpoints only in IR_NETWORK_ALLOW. Sockets and
 * listen are axes of their own, under every mode. */
struct ir_network {
    uint8_t mode; /* enum ir_network_mode */
    struct span span;
    struct ir_endpoint *endpoints;
    size_t n_endpoints;
    struct ir_socket *sockets;
    size_t n_sockets;
    struct ir_port *listen;
    size_t n_listen;
};

enum ir_unit {
    IR_UNIT_TIME,   /* milliseconds */
    IR_UNIT_BYTES,
    IR_UNIT_COUNT,
    IR_UNIT_MILLI,  /* thousandths */
    IR_UNIT_WEIGHT, /* 1-10000 */
};

enum ir_limit_index {
#define LIMIT(name, word, unit, meaning) IR_LIMIT_##name,
#include "ir_limits.def"
#undef LIMIT
    IR_LIMIT_COUNT
};

struct ir_limit {
    uint64_t value; /* 0: no limit */
    bool said;      /* by a clause or a ceiling, not by default */
    struct span span;
};

enum ir_tty { IR_TTY_UNSAID, IR_TTY_NONE, IR_TTY_INHERIT };

struct ir_fd {
    int fd; /* >= 3 */
    struct span span;
};

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
    struct span span; /* of the profile, for messages about the whole */

    struct ir_rule *rules;
    size_t n_rules;
    struct ir_alias *aliases; /* sorted by name */
    size_t n_aliases;
    struct ir_link *links; /* sorted by link */
    size_t n_links;
    struct ir_pattern *patterns; /* sorted by root and glob */
    size_t n_patterns;
    const struct ir_late *late; /* in the order named */
    size_t n_late;

    bool exec_default; /* whatever may be read may be executed, outside the floor */
    struct span exec_span;

    struct ir_network network;
    struct ir_limit limits[IR_LIMIT_COUNT]; /* by enum ir_limit_index; timeout and kill-after have defaults */

    bool core; /* unconfined, still timed: `trust core` was asked for and granted */
    struct span trust_span;

    /* The environment: empty, then the caller's values of names that match `pass`, then `set`. PATH, HOME
     * and TMPDIR are the runtime's own unless passed by exact name. Both sorted by name, no duplicates. */
    struct ir_env_name *env_pass;
    size_t n_env_pass;
    struct ir_env_name *env_deny; /* names that a prefix of env_pass stands for, and that do not pass */
    size_t n_env_deny;
    struct ir_env_set *env_set;
    size_t n_env_set;

    struct ir_workdir {
        const char *path; /* as a rule's; NULL: the caller's where it is in view, else SKILL_DIR */
        uint8_t root;     /* enum ir_root */
        bool create;      /* made at launch if it is missing */
        struct span span;
    } workdir;
    struct span spawn_span; /* .src set: `spawn deny`, no process beside the command's own */
    struct ir_fd *fds;      /* sorted, passed on to the command */
    size_t n_fds;
    uint8_t tty; /* enum ir_tty */
    struct span tty_span;
    struct ir_text user; /* docker */

    struct ir_text preset; /* of system files: "standard", "minimal", "none"; its rules stand among `rules` */
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
/* The same where the lengths are known. */
int ir_path_order(const char *a, size_t a_len, const char *b, size_t b_len);
/* Is `path` equal to `dir` or beneath it, by whole components? */
bool ir_path_within(const char *path, const char *dir);

/* The decision of a policy on one path and one set of kinds: true if all are allowed. `path` is absolute
 * and canonical. */
bool ir_allows(const struct ir_policy *p, const char *path, unsigned access);

/* A set of features, by enum ir_feature. */
enum ir_feature {
#define FEATURE(name, words) IR_NEEDS_##name,
#include "ir_features.def"
#undef FEATURE
    IR_FEATURE_COUNT
};
_Static_assert(IR_FEATURE_COUNT <= 32, "a set of features fits 32 bits");

struct ir_need {
    bool needed;
    struct span at; /* where it is first asked for */
};
void ir_features(const struct ir_policy *p, struct ir_need out[IR_FEATURE_COUNT]);
const char *ir_feature_words(enum ir_feature f);

/* The word of a limit, its unit. */
const char *ir_limit_word(enum ir_limit_index i);
enum ir_unit ir_limit_unit(enum ir_limit_index i);
/* Its value with the shortest unit that is exact. */
void ir_limit_print(enum ir_limit_index i, uint64_t value, char out[32]);

/* The canonical clause or clauses that a rule stands for, e.g. `read "/usr"` or `write "$TMPDIR/x"`, in DSL
 * spelling. */
const char *ir_clause(struct arena *a, const struct ir_policy *p, const struct ir_rule *r);
/* A DSL string literal, quotes included. */
const char *ir_quote(struct arena *a, const char *s, size_t len);

/* The whole policy as canonical text: same meaning, same bytes. Holds no source names, lines or comments. */
struct buf;
void ir_print(const struct ir_policy *p, struct buf *out);
/* The same in pieces, for texts that nobody needs whole: take() is given each, and what it was given is gone. */
void ir_print_pieces(const struct ir_policy *p, struct buf *piece, void (*take)(void *ctx, struct buf *piece), void *ctx);

#endif
