/* What back ends write and the runtime reads: byte layouts, run section, words.
 *
 * This header (with fixed.h) is the only thing that the two sides share. An artifact is hostile input to the
 * reader: it checks magic, version, length and every offset before use and refuses unknown bits, keys and words.
 * docs/artifacts.md describes the same layouts for people.
 */
#ifndef SBX_ARTIFACT_H
#define SBX_ARTIFACT_H

#include <stdint.h>

#include "fixed.h"

/* Of sbxc and sbxrun, which are released together. */
#define SBX_VERSION "0.1.0"

enum { ARTIFACT_FORMAT = 1 };

/* ---- Run section -------------------------------------------------------------------------------------
 * All that the native tool does not express, as a sequence of KEY=VALUE strings, in the order of this
 * table. Values are bytes without NUL. In
 *   .landlock  the strings stand NUL-terminated in the run area
 *   .bwrap     each is a NUL-terminated word `sbx:KEY=VALUE` behind the word `--`
 *   .docker    each is a pair of words `--label` `sbx.KEY=VALUE`, at the end of the file
 *   .sb        each is a line `;; sbx:KEY=VALUE` at the top, with bytes below 0x20, 0x7f and `%` as %XX
 * X(enum, "key", how often), ONE being exactly once, OPT at most once. */
#define RUN_KEYS(X)                                                                                            \
    X(RUN_FORMAT, "format", RUN_ONE)               /* ARTIFACT_FORMAT */                                       \
    X(RUN_TARGET, "target", RUN_ONE)               /* seatbelt bwrap landlock docker */                        \
    X(RUN_PROFILE, "profile", RUN_ONE)             /* the profile's name */                                    \
    X(RUN_POLICY_DIGEST, "policy-digest", RUN_ONE) /* 64 hex digits */                                         \
    X(RUN_BODY_DIGEST, "body-digest", RUN_OPT)     /* 64 hex digits; text formats only, the blob has a field */ \
    X(RUN_CONFINE, "confine", RUN_ONE)             /* yes | no (trust core was granted) */                     \
    X(RUN_TIMEOUT, "timeout-ms", RUN_ONE)          /* 0: none */                                               \
    X(RUN_KILL_AFTER, "kill-after-ms", RUN_ONE)                                                                \
    X(RUN_NETWORK, "network", RUN_ONE)             /* none | open */                                           \
    X(RUN_ENV_PASS, "env-pass", RUN_ANY)           /* a name, or a prefix and `*` */                           \
    X(RUN_ENV_SET, "env-set", RUN_ANY)             /* NAME=VALUE */                                            \
    X(RUN_SKILL_DIR, "skill-dir", RUN_OPT)         /* absolute path */                                         \
    X(RUN_TMPDIR, "tmpdir", RUN_ANY)               /* candidates for the private TMPDIR, first that exists */  \
    X(RUN_IMAGE, "image", RUN_OPT)                 /* docker */                                                \
    X(RUN_ACCEPT, "accept", RUN_ANY)               /* name of an accepted loss */

enum run_often { RUN_ONE, RUN_OPT, RUN_ANY };
enum run_key {
#define X(id, name, often) id,
    RUN_KEYS(X)
#undef X
    RUN_KEY_COUNT
};

#define RUN_PREFIX_BWRAP "sbx:"
#define RUN_PREFIX_DOCKER "sbx."
#define RUN_PREFIX_SB ";; sbx:"

/* body-digest: SHA-256 of the file's bytes before the digest's own bytes, then those behind them. */

/* ---- Landlock blob -----------------------------------------------------------------------------------
 * Little-endian, position independent, every area 8-byte aligned, no gaps but zero padding; areas stand in
 * the order rules, ports, needs, filters, run, strings, code. Strings hold the paths of the rules, then the
 * clauses of the needs, each once and in their order. Used from a read-only mapping.
 *
 *   0        8        12       16                    48       52
 *   +--------+--------+--------+---------------------+--------+--------+
 *   | magic  | format | size   | body digest (32)    | header | flags  |
 *   +--------+--------+--------+---------------------+--------+--------+
 *   56                64               72               80
 *   +-----------------+----------------+----------------+
 *   | handled fs      | handled net    | scoped         |
 *   +-----------------+----------------+----------------+
 *   80: seven areas of {u32 offset, u32 count}: rules, ports, needs, filters (elements);
 *       run, strings, code (bytes)                                   ends at 136 = header size
 */
#define LL_MAGIC "\x89SBXLL\r\n" /* 8 bytes; not text, and damaged by newline translation */
enum { LL_MAGIC_LEN = 8, LL_HEADER_SIZE = 136, LL_DIGEST_OFFSET = 16 };

struct ll_area {
    uint32_t offset, count;
};

struct ll_header {
    char magic[8];
    uint32_t format; /* ARTIFACT_FORMAT */
    uint32_t size;   /* of the whole file, bytes */
    unsigned char body_digest[32];
    uint32_t header_size; /* LL_HEADER_SIZE */
    uint32_t flags;       /* set of ll_flag */
    uint64_t handled_fs, handled_net, scoped;
    struct ll_area rules, ports, needs, filters, run, strings, code;
};

enum ll_flag {
    LL_UNCONFINED = 1 << 0, /* trust core: no rules, no filter; only time and environment are ours */
    LL_VIEW = 1 << 1,       /* the private view must be made (not set with `--accept metadata`) */
};

enum ll_root { LL_ROOT_SLASH = 0, LL_ROOT_TMPDIR = 1 };
enum ll_type { LL_TYPE_ANY = 0, LL_TYPE_DIR = 1, LL_TYPE_FILE = 2 };
/* Write grants of one blob: the runtime holds two descriptors for each while it makes the view. */
enum { LL_WRITABLE_MAX = 256 };

enum ll_rule_flag {
    LL_OPTIONAL = 1 << 0, /* missing at launch: skip */
    LL_FOLLOW = 1 << 1,   /* links are followed where only root could have made them */
    LL_WRITABLE = 1 << 2, /* a grant of writing: put back into the read-only view */
    LL_PRIVATE = 1 << 3,  /* a tmpfs of the run's own is mounted here first (needs LL_WRITABLE) */
    LL_PROC = 1 << 4,     /* the sandbox's own /proc */
};

/* One path. For LL_TYPE_ANY the runtime masks `access` to file rights when it meets no folder. */
struct ll_rule {
    uint64_t access;
    uint32_t path; /* offset into strings, NUL-terminated there; "" is the root itself */
    uint8_t root, type;
    uint16_t flags;
};

/* No clause makes one yet, so a blob has none. */
struct ll_port {
    uint64_t access; /* LL_NET_* */
    uint64_t port;
};

/* What must hold on the running system for one clause: ABI >= min_abi (0: no ABI is enough), or any one of
 * the mechanisms. Nothing of both holds: the runtime refuses, naming the clause. */
enum ll_mechanism { LL_BY_FILTER = 1 << 0, LL_BY_PID_NAMESPACE = 1 << 1, LL_BY_VIEW = 1 << 2 };
struct ll_need {
    uint32_t clause; /* offset into strings */
    uint16_t min_abi;
    uint16_t mechanisms;
};

/* One seccomp program: struct sock_filter[count] in area code, for one AUDIT_ARCH. */
struct ll_filter {
    uint32_t arch;
    uint32_t offset; /* into area code, multiple of 8 */
    uint32_t count;  /* instructions, 1-4096 */
    uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct ll_header) == LL_HEADER_SIZE, "header layout");
_Static_assert(sizeof(struct ll_rule) == 16, "rule layout");
_Static_assert(sizeof(struct ll_port) == 16, "port layout");
_Static_assert(sizeof(struct ll_need) == 8, "need layout");
_Static_assert(sizeof(struct ll_filter) == 16, "filter layout");

/* Landlock constants under own names: <linux/landlock.h> of older systems lacks most of them.
 * Source: include/uapi/linux/landlock.h; the ABI that brought each stands behind it. */
#define LL_FS_EXECUTE (UINT64_C(1) << 0)       /* 1 */
#define LL_FS_WRITE_FILE (UINT64_C(1) << 1)    /* 1 */
#define LL_FS_READ_FILE (UINT64_C(1) << 2)     /* 1 */
#define LL_FS_READ_DIR (UINT64_C(1) << 3)      /* 1 */
#define LL_FS_REMOVE_DIR (UINT64_C(1) << 4)    /* 1 */
#define LL_FS_REMOVE_FILE (UINT64_C(1) << 5)   /* 1 */
#define LL_FS_MAKE_CHAR (UINT64_C(1) << 6)     /* 1 */
#define LL_FS_MAKE_DIR (UINT64_C(1) << 7)      /* 1 */
#define LL_FS_MAKE_REG (UINT64_C(1) << 8)      /* 1 */
#define LL_FS_MAKE_SOCK (UINT64_C(1) << 9)     /* 1 */
#define LL_FS_MAKE_FIFO (UINT64_C(1) << 10)    /* 1 */
#define LL_FS_MAKE_BLOCK (UINT64_C(1) << 11)   /* 1 */
#define LL_FS_MAKE_SYM (UINT64_C(1) << 12)     /* 1 */
#define LL_FS_REFER (UINT64_C(1) << 13)        /* 2, Linux 5.19 */
#define LL_FS_TRUNCATE (UINT64_C(1) << 14)     /* 3, Linux 6.2 */
#define LL_FS_IOCTL_DEV (UINT64_C(1) << 15)    /* 5, Linux 6.10 */
#define LL_FS_RESOLVE_UNIX (UINT64_C(1) << 16) /* 9, Linux 7.1 */
#define LL_NET_BIND_TCP (UINT64_C(1) << 0)     /* 4, Linux 6.7 */
#define LL_NET_CONNECT_TCP (UINT64_C(1) << 1)  /* 4 */
#define LL_NET_BIND_UDP (UINT64_C(1) << 2)     /* 10, Linux 7.2 */
#define LL_NET_SEND_UDP (UINT64_C(1) << 3)     /* 10: connect, and send with an address */
#define LL_SCOPE_ABSTRACT (UINT64_C(1) << 0)   /* 6, Linux 6.12 */
#define LL_SCOPE_SIGNAL (UINT64_C(1) << 1)     /* 6 */

#define LL_FS_ALL UINT64_C(0x1ffff)
#define LL_NET_ALL UINT64_C(0xf)
#define LL_SCOPE_ALL UINT64_C(0x3)
/* Rights that a rule on something else than a folder may carry; the kernel refuses others (EINVAL). */
#define LL_FS_OF_FILE                                                                                          \
    (LL_FS_EXECUTE | LL_FS_WRITE_FILE | LL_FS_READ_FILE | LL_FS_TRUNCATE | LL_FS_IOCTL_DEV | LL_FS_RESOLVE_UNIX)

#define SBX_ARCH_X86_64 UINT32_C(0xC000003E)
#define SBX_ARCH_AARCH64 UINT32_C(0xC00000B7)

#endif
