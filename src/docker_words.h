/* The words of a .docker file: the one table that the emitter writes from and the runtime reads by.
 *
 * A .docker file is words that each end in NUL: options of `docker run` (podman takes the same ones), without
 * image and command. First those of this table, in its order, then the run section as labels (artifact.h). By
 * itself it is used as
 *
 *     xargs -0 -a FILE sh -c 'exec docker run "$@" IMAGE COMMAND' sh
 *
 * sbxrun reads the words, and adds what only the launch knows: name, user, seccomp profile, values of the
 * environment, working folder, image and command.
 *
 * Destinations of --mount rise in path order (a folder before all that is beneath it, whole components), so
 * no two are the same, which the engine would refuse.
 */
#ifndef SBX_DOCKER_WORDS_H
#define SBX_DOCKER_WORDS_H

enum dk_operand {
    DK_NOTHING,  /* no operand */
    DK_FIXED,    /* the text of the table */
    DK_TMPDIR,   /* the first tmpdir of the run section, then DOCKER_TMPFS */
    DK_HOME,     /* the same with "/home" behind the folder, then DOCKER_TMPFS */
    DK_VARIABLE, /* NAME=VALUE: PATH and HOME unless passed or set, TMPDIR unless set; then all of env-set */
    DK_BIND,     /* a CSV record: type=bind,src=PATH,dst=PATH[,readonly]; the source of a folder ends in / */
    DK_SOURCE,   /* DOCKER_OPTIONAL and the source of the mount before it, without final slash */
};

/* How often. DK_NONE, DK_OPEN: once if the network is that, else never. */
enum dk_often { DK_ONCE, DK_NONE, DK_OPEN, DK_ANY };

/* X(id, word, operand, text, how often)
 *   init           pid 1 passes signals on, and a command that is pid 1 could not be ended by most of them
 *   pull           a missing image is an error, not a download
 *   log-driver     else the engine keeps all output on the host's disk, without a limit
 *   ipc            podman's default lets other containers join
 *   network        the engine's own bridge: no other network of an engine is known to be there
 *   tmpfs          exec, since temporary programs are common and the engine's default is noexec; 1777, since
 *                  the file does not know the user (sbxrun narrows it); HOME has to be there and writable */
#define DOCKER_WORDS(X)                                                      \
    X(DK_WORD_RM, "--rm", DK_NOTHING, "", DK_ONCE)                           \
    X(DK_WORD_INIT, "--init", DK_NOTHING, "", DK_ONCE)                       \
    X(DK_WORD_PULL, "--pull", DK_FIXED, "never", DK_ONCE)                    \
    X(DK_WORD_LOG, "--log-driver", DK_FIXED, "none", DK_ONCE)                \
    X(DK_WORD_READ_ONLY, "--read-only", DK_NOTHING, "", DK_ONCE)             \
    X(DK_WORD_CAP_DROP, "--cap-drop", DK_FIXED, "ALL", DK_ONCE)              \
    X(DK_WORD_NNP, "--security-opt", DK_FIXED, "no-new-privileges", DK_ONCE) \
    X(DK_WORD_IPC, "--ipc", DK_FIXED, "private", DK_ONCE)                    \
    X(DK_WORD_NET_NONE, "--network", DK_FIXED, "none", DK_NONE)              \
    X(DK_WORD_NET_OPEN, "--network", DK_FIXED, "bridge", DK_OPEN)            \
    X(DK_WORD_TMPDIR, "--tmpfs", DK_TMPDIR, "", DK_ONCE)                     \
    X(DK_WORD_HOME, "--tmpfs", DK_HOME, "", DK_ONCE)                         \
    X(DK_WORD_ENV, "--env", DK_VARIABLE, "", DK_ANY)                         \
    X(DK_WORD_MOUNT, "--mount", DK_BIND, "", DK_ANY)                         \
    X(DK_WORD_OPTIONAL, "--label", DK_SOURCE, "", DK_ANY)

enum dk_word {
#define X(id, word, operand, text, often) id,
    DOCKER_WORDS(X)
#undef X
    DK_WORD_COUNT
};

#define DOCKER_TMPFS ":rw,exec,nosuid,nodev,mode=1777"
/* Behind a mount whose source may be missing at launch: sbxrun then leaves the mount out. No engine option
 * says so; an engine by itself refuses a missing source. */
#define DOCKER_OPTIONAL "sbx-optional="
#define DOCKER_PATH "/usr/local/bin:/usr/bin:/bin"

#endif
