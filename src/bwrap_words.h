/* The words of a .bwrap file: the one table that the emitter writes from and the runtime reads by.
 *
 * A .bwrap file is data for `bwrap --args FD`: words that each end in NUL, first those of this table, then
 * the word `--`, then the run section (artifact.h), where bwrap stops reading without a message. So no word
 * before `--` is ever empty, and none but an option stands where bwrap expects one.
 *
 * Order is part of the format. `place` never falls from one word to the next. Within BW_FILES the
 * destinations rise in path order (a folder before all that is beneath it, whole components), so that a
 * parent is mounted before its children; within BW_LINKS the links rise the same way.
 */
#ifndef SBX_BWRAP_WORDS_H
#define SBX_BWRAP_WORDS_H

/* bwrap's own limit: all words of its command line, the command's included, and of all --args data. */
enum { BWRAP_WORDS_MAX = 9000 };
/* Of these are kept free: `bwrap --args N --` and the command with its arguments, or what the runtime puts
 * there in their stead. */
enum { BWRAP_WORDS_RESERVED = 256 };

/* The descriptor on which bwrap finds the seccomp program. The file itself holds none: bwrap alone stops
 * with "Can't read seccomp data" unless its caller gives one. */
#define BWRAP_FILTER_FD 11
#define BWRAP_FILTER_FD_TEXT "11"

enum bw_operand {
    BW_NONE,
    BW_ALL,    /* the word ALL */
    BW_FILTER, /* BWRAP_FILTER_FD_TEXT */
    BW_NAME,   /* of an environment variable: not empty, no `=` */
    BW_VALUE,  /* not empty */
    BW_MODE,   /* 0700 or 1777 */
    BW_SOURCE, /* an absolute path; a final slash says that it must be a folder */
    BW_DEST,   /* an absolute path without final slash; the same as the source where there is one */
    BW_TARGET, /* what a link holds: not empty */
    BW_LINK,   /* where the link stands: as BW_DEST, but never a source's equal */
    BW_PROC,   /* /proc */
    BW_SLASH,  /* / */
};

/* Where a word may stand. Words of one place before BW_FILES stand in the order of the table. */
enum bw_place { BW_HEAD, BW_ENV, BW_FILES, BW_LINKS, BW_LAST };

/* How often. BW_NET: once if and only if the network is none. BW_OPT: at most once. */
enum bw_often { BW_NEVER, BW_ONCE, BW_OPT, BW_NET, BW_ANY };

/* X(id, word, first operand, second operand, place, how often confined, how often in core)
 * bwrap has all of them since 0.5.0.
 *   cgroup-try   the host may lack the namespace; nothing is granted through it
 *   die-with-parent, unshare-pid: only both together leave no process behind
 *   cap-drop     a root caller would keep all capabilities, and could remount what is read-only
 *   perms        stands directly before tmpfs or dir, which never stand without it
 *   dir          HOME, directly behind the private TMPDIR
 *   remount-ro /proc  uid 0 could write much of /proc/sys without any capability
 *   remount-ro / the root is a writable tmpfs at first; nothing can be made in it afterwards */
#define BWRAP_WORDS(X)                                                                                         \
    X(BW_UNSHARE_USER, "--unshare-user", BW_NONE, BW_NONE, BW_HEAD, BW_ONCE, BW_NEVER)                         \
    X(BW_UNSHARE_IPC, "--unshare-ipc", BW_NONE, BW_NONE, BW_HEAD, BW_ONCE, BW_NEVER)                           \
    X(BW_UNSHARE_PID, "--unshare-pid", BW_NONE, BW_NONE, BW_HEAD, BW_ONCE, BW_ONCE)                            \
    X(BW_UNSHARE_NET, "--unshare-net", BW_NONE, BW_NONE, BW_HEAD, BW_NET, BW_NEVER)                            \
    X(BW_UNSHARE_UTS, "--unshare-uts", BW_NONE, BW_NONE, BW_HEAD, BW_ONCE, BW_NEVER)                           \
    X(BW_UNSHARE_CGROUP, "--unshare-cgroup-try", BW_NONE, BW_NONE, BW_HEAD, BW_ONCE, BW_NEVER)                 \
    X(BW_DIE_WITH_PARENT, "--die-with-parent", BW_NONE, BW_NONE, BW_HEAD, BW_ONCE, BW_ONCE)                    \
    X(BW_NEW_SESSION, "--new-session", BW_NONE, BW_NONE, BW_HEAD, BW_ONCE, BW_ONCE)                            \
    X(BW_CAP_DROP, "--cap-drop", BW_ALL, BW_NONE, BW_HEAD, BW_ONCE, BW_NEVER)                                  \
    X(BW_SECCOMP, "--seccomp", BW_FILTER, BW_NONE, BW_HEAD, BW_ONCE, BW_NEVER)                                 \
    X(BW_CLEARENV, "--clearenv", BW_NONE, BW_NONE, BW_HEAD, BW_ONCE, BW_NEVER)                                 \
    X(BW_SETENV, "--setenv", BW_NAME, BW_VALUE, BW_ENV, BW_ANY, BW_ANY)                                        \
    X(BW_BIND, "--bind", BW_SOURCE, BW_DEST, BW_FILES, BW_ANY, BW_NEVER)                                       \
    X(BW_BIND_TRY, "--bind-try", BW_SOURCE, BW_DEST, BW_FILES, BW_ANY, BW_NEVER)                               \
    X(BW_RO_BIND, "--ro-bind", BW_SOURCE, BW_DEST, BW_FILES, BW_ANY, BW_NEVER)                                 \
    X(BW_RO_BIND_TRY, "--ro-bind-try", BW_SOURCE, BW_DEST, BW_FILES, BW_ANY, BW_NEVER)                         \
    X(BW_DEV_BIND, "--dev-bind", BW_SOURCE, BW_DEST, BW_FILES, BW_ANY, BW_ONCE)                                \
    X(BW_DEV_BIND_TRY, "--dev-bind-try", BW_SOURCE, BW_DEST, BW_FILES, BW_ANY, BW_NEVER)                       \
    X(BW_PERMS, "--perms", BW_MODE, BW_NONE, BW_FILES, BW_ANY, BW_NEVER)                                       \
    X(BW_TMPFS, "--tmpfs", BW_DEST, BW_NONE, BW_FILES, BW_ANY, BW_NEVER)                                       \
    X(BW_DIR, "--dir", BW_DEST, BW_NONE, BW_FILES, BW_ONCE, BW_NEVER)                                          \
    X(BW_PROCFS, "--proc", BW_PROC, BW_NONE, BW_FILES, BW_ONCE, BW_ONCE)                                       \
    X(BW_REMOUNT_PROC, "--remount-ro", BW_PROC, BW_NONE, BW_FILES, BW_ONCE, BW_NEVER)                          \
    X(BW_SYMLINK, "--symlink", BW_TARGET, BW_LINK, BW_LINKS, BW_ANY, BW_NEVER)                                 \
    X(BW_REMOUNT_ROOT, "--remount-ro", BW_SLASH, BW_NONE, BW_LAST, BW_OPT, BW_NEVER)

enum bw_word {
#define X(id, word, first, second, place, confined, core) id,
    BWRAP_WORDS(X)
#undef X
    BW_WORD_COUNT
};

#endif
