/* sbxrun: applies one artifact to one command. This header is the contract between the pipeline (main.c,
 * load.c, place.c, supervise.c) and the engines (engine_*.c), one per target, in the table of engines.c.
 *
 * Order of a run, each step only after all before it succeeded:
 *
 *   read      the whole artifact into read-only memory; its kind is found by content          load.c
 *   load      run section; then the engine checks the body: only words, orders and fields that sbxc emits
 *   check     this host can enforce ALL of it, or the clause that it cannot is named          engine
 *   place     run->workdir and run->tmpdir, as the command will see them                      engine, place.c
 *   env       run->envp                                                                       env.c
 *   prepare   everything that can fail before a process exists: grants opened, argv built     engine
 *   start     one child process; the deadline runs already                                    engine
 *   supervise until no child is left; then done                                               supervise.c
 *
 * Any failure before the command's own execve: it never starts, exit 125, one line on stderr
 * (`sbxrun: STEP: WHY`). Functions that can fail return false after rt_fail(); nothing prints or exits but
 * main.c (and children, which report over the control socket: stage.h). Text given to rt_fail may hold any
 * byte; main.c escapes it.
 *
 * Memory: everything hangs off rt_run's scratch area, whose size is bounded by the artifact's and the command
 * line's; nothing is freed one by one. The process is single-threaded throughout.
 */
#ifndef SBX_RUNTIME_H
#define SBX_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "../artifact.h"

/* Exit statuses of sbxrun; else the command's own, or 128 + n when signal n ended it. */
enum rt_exit {
    RT_EXIT_TIMEOUT = 124,
    RT_EXIT_REFUSED = 125, /* sbxrun refused or failed; the command did not start, or its end is unknown */
    RT_EXIT_NOT_EXECUTABLE = 126,
    RT_EXIT_NOT_FOUND = 127,
};

/* ---- The artifact ------------------------------------------------------------------------------------ */

struct rt_artifact {
    const unsigned char *data; /* read-only private copy: later changes of the file do not reach it */
    size_t len;
    const char *kind; /* the target that this kind of file belongs to: "landlock", ... */
    /* Text formats: where the engine's words end and the run section begins, and the opposite for .sb. */
    size_t body_start, body_end;
    struct stat st; /* of the file as opened */
};

struct rt_list {
    const char **items;
    size_t n;
};

/* The run section. Strings are NUL-terminated and live as long as the run. */
struct rt_policy {
    const char *target, *profile, *policy_digest;
    bool confine;        /* false: trust core was granted; only time and process tree are ours */
    uint64_t timeout_ms; /* 0: none */
    uint64_t kill_after_ms;
    const char *network; /* "none" or "open" */
    struct rt_list env_pass, env_set, tmpdirs, accept;
    const char *skill_dir, *image; /* NULL: not said */
};

/* ---- One run ----------------------------------------------------------------------------------------- */

enum { RT_WHY_MAX = 1024, RT_PROTECTED_MAX = 256 };

struct rt_error {
    const char *step; /* one word, static */
    char why[RT_WHY_MAX];
    int status; /* enum rt_exit; 0: no failure yet */
};

struct rt_options {
    const char *artifact, *tool, *cwd, *expect_digest; /* NULL: not given */
    uint64_t timeout_ms;                               /* 0: not given */
};

/* Files and folders that no write grant may reach: artifact, sbxrun, tool, all folders above them and above
 * each link that their names lead through. */
struct rt_protected {
    dev_t dev;
    ino_t ino;
    const char *of; /* "the artifact", ... */
    bool linked;    /* a file of other names, or its folder: no write grant on this device */
};

/* How a command ended, filled by supervise.c. */
struct rt_outcome {
    bool known;     /* `wait` holds the command's own status */
    int wait;       /* as waitpid(2) gives it */
    bool timed_out; /* the deadline came first */
};

struct rt_engine;

struct rt_run {
    struct rt_options options;
    char *const *argv;       /* the command, NULL-terminated */
    char *const *caller_env; /* environ of sbxrun */
    bool terminal;           /* stdin is this session's terminal: the command stays in the session */
    bool foreground;         /* and this process group has it */

    struct rt_artifact artifact;
    struct rt_policy policy;
    const struct rt_engine *engine;

    const char *tool; /* the engine's own tool, absolute as found, or NULL; never looked up in PATH */
    int tool_fd;      /* O_PATH, close-on-exec; -1: none */

    /* As the command sees them. */
    const char *workdir;
    const char *tmpdir; /* NULL: the engine has none */
    char *const *envp;  /* the command's whole environment */

    /* Set by start(). */
    pid_t child; /* the process whose end is the end of the run */
    int control; /* SOCK_SEQPACKET to the stage (stage.h), or -1 where the engine uses none */

    /* supervise.c's. */
    int stage;            /* pidfd of a stage that is not `child` and may still be there, or -1 */
    const pid_t *foreign; /* children that sbxrun had before it started any */
    size_t n_foreign;

    struct rt_protected protect[RT_PROTECTED_MAX];
    size_t n_protect;
    struct rt_outcome outcome;
    struct rt_error error;
    char *scratch;
    size_t scratch_used, scratch_cap;
    void *own; /* the engine's */
};

/* ---- Engines ----------------------------------------------------------------------------------------- */

struct rt_engine {
    const char *target; /* the run section's target */
    /* Fixed absolute places of its tool, best first, NULL-terminated; NULL: it needs no tool. The pipeline
     * finds run->tool (or takes --tool) before check(). */
    const char *const *places;

    /* Does the body hold only words, orders and fields that sbxc emits? */
    bool (*load)(struct rt_run *run);
    /* Can this host enforce all of it? */
    bool (*check)(struct rt_run *run);
    /* Chooses run->workdir and run->tmpdir; see rt_place_on_host(). */
    bool (*place)(struct rt_run *run);
    /* All that is left to do before a process exists. Calls rt_check_grant() for every write grant. */
    bool (*prepare)(struct rt_run *run);
    /* Starts the child with rt_spawn() or its own clone; sets run->child and, with a stage, run->control.
     * Signals are blocked here; the child's are reset by rt_spawn and by the stage. */
    bool (*start)(struct rt_run *run);

    /* NULL for engines with a stage: supervise.c sends over the control socket.
     * Delivers sig: to the command (all == false: a signal that sbxrun received), or to everything in the
     * sandbox (all == true: the deadline's TERM). Must not block for long. */
    void (*signal)(struct rt_run *run, int sig, bool all);
    /* Ends everything in the sandbox for certain. NULL: SIGKILL to run->child, which takes all with it. Of
     * engines with a stage it is also called right before run->child is waited for. */
    void (*kill)(struct rt_run *run);
    /* Without a stage: what processes of the sandbox leave behind becomes a child of sbxrun, and is waited
     * for; kill() must reach it. */
    bool adopts;
    /* NULL for engines with a stage, whose report is the outcome. Otherwise: what run->child's end says
     * about the command: fills run->outcome, or rt_fail()s. NULL without stage: the status is its own. */
    bool (*ended)(struct rt_run *run, int wait);
    /* What STAGE_FAILED's detail stands for, for the message. NULL: nothing. */
    const char *(*detail)(struct rt_run *run, uint32_t detail);
    /* Removes what prepare() or start() left on the host; called once nothing runs any more, also after a
     * failure in any step from prepare() on. NULL: nothing. */
    void (*done)(struct rt_run *run);
};

/* The engines, one a target (engines.c). */
extern const struct rt_engine *const rt_engines[];
extern const size_t rt_n_engines;
extern const struct rt_engine rt_engine_landlock, rt_engine_bwrap, rt_engine_docker, rt_engine_seatbelt;

/* ---- Shared by all ----------------------------------------------------------------------------------- */

/* Records the first failure, with exit status 125; later ones are dropped. Always returns false.
 * rt_fail_errno appends `: ` and the text of the errno value given. `step` must be static. */
bool rt_fail(struct rt_run *run, const char *step, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool rt_fail_errno(struct rt_run *run, int error, const char *step, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Zeroed memory, aligned for any type, or NULL after rt_fail() when the bound is exceeded. */
void *rt_alloc(struct rt_run *run, size_t n, size_t size);
/* A NUL-terminated copy of len bytes, or NULL after rt_fail(). */
char *rt_strn(struct rt_run *run, const char *s, size_t len);
/* printf into scratch memory. */
char *rt_printf(struct rt_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Is absolute `path` equal to `dir` or beneath it, by whole components? */
bool rt_path_within(const char *path, const char *dir);

/* Fills run->workdir and run->tmpdir for engines whose view shows the host's own paths. workdir: --cwd or
 * the caller's folder if sees() says that it exists inside the view; else, without --cwd, skill-dir; else it
 * fails. tmpdir: the first candidate that is a real folder here and does not hold workdir. */
bool rt_place_on_host(struct rt_run *run, bool (*sees)(struct rt_run *run, const char *path));
/* Only run->workdir: for engines whose TMPDIR is a fresh folder. */
bool rt_place_workdir(struct rt_run *run, bool (*sees)(struct rt_run *run, const char *path));
/* For sees(): would a grant of `granted` make `path` exist: at or beneath it, or a parent of it? */
bool rt_grant_shows(const char *path, const char *granted);

/* Adds to run->protect the object, all folders of its name as given, and all those of each link that this name
 * leads through. `of` is what it is, for messages; static. */
bool rt_protect(struct rt_run *run, const char *path, const char *of);
/* Refuses (`self-writable`) a write grant on an object that is, or lies above, the artifact, sbxrun or the
 * tool. `clause` is for the message. */
bool rt_check_grant(struct rt_run *run, const struct stat *st, const char *clause);

/* Opens an absolute path as O_PATH|O_CLOEXEC. Without `follow` no component may be a link. With it links are
 * followed only while every folder and link on the way belongs to root and nobody else may write it.
 * Returns the descriptor, or -1 with errno: ELOOP for a link that may not be followed, EOVERFLOW for one of which
 * that cannot be said, as in a user namespace where root is not mapped; so never in one of our own making. */
int rt_open_grant(const char *path, bool follow);
/* Says why it failed. Always false. */
bool rt_grant_failed(struct rt_run *run, int error, const char *clause);

/* For engines whose body holds words that each end in NUL: the word at *at within [.., end), and moves *at
 * behind it; NULL at the end or if the last word is not closed. */
const char *rt_word(const struct rt_artifact *a, size_t *at, size_t end);

/* Starts a program as a child: fd `fds[i].from` becomes `fds[i].to` there (to >= 3, each once), all others
 * but 0-2 are closed, signals are unblocked, and SIGKILL follows the death of sbxrun, but not where a stage is
 * being started, which ends with the control socket: its maker is not killed half-way, and gets a process group
 * of its own. Sets run->child.
 * exec_fd is run if it is >= 0 (an O_PATH descriptor will do), else `path`. */
struct rt_fd {
    int from, to;
};
bool rt_spawn(struct rt_run *run, int exec_fd, const char *path, char *const *argv, char *const *envp,
              const struct rt_fd *fds, size_t n_fds);

/* An anonymous, sealed, close-on-exec memory file that holds the bytes, at offset 0; -1 after rt_fail(). */
int rt_memfd(struct rt_run *run, const char *name, const void *data, size_t len);
/* A close-on-exec descriptor of sbxrun's own program file, for starting the stage; -1 after rt_fail(). */
int rt_self(struct rt_run *run);

/* A SOCK_SEQPACKET pair, close-on-exec: run->control is one end, *out_other the stage's. */
bool rt_control(struct rt_run *run, int *out_other);

/* load.c: reads and verifies run->options.artifact; fills artifact, policy and engine; calls its load(). */
bool rt_load(struct rt_run *run);
/* env.c: fills run->envp. */
bool rt_environment(struct rt_run *run);
/* The value in an environment vector, or NULL. */
const char *rt_env_get(char *const *envp, const char *name);
/* supervise.c: start() and wait for the end of everything; run->outcome and run->error say how. */
bool rt_supervise(struct rt_run *run);
/* A child that is none of ours: whoever executed sbxrun had started it. It is neither waited for nor killed. */
bool rt_is_foreign(const struct rt_run *run, pid_t pid);

#endif
