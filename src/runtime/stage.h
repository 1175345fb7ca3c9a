/* The stage: the first process inside a sandbox. It starts the command, passes signals on, reaps what is
 * orphaned and reports how the command ended. As pid 1 of a PID namespace its own end ends everything.
 *
 * Two ways in:
 *   - landlock: the engine's clone makes the view and then calls stage_run();
 *   - bwrap: bwrap starts sbxrun itself inside, as pid 1, with the two words STAGE_EXEC_PATH STAGE_NAME
 *     (bwrap sets argv[0] of its own choice only since 0.9.0); main() then calls stage_main(), which reads
 *     the plan from STAGE_PLAN_FD.
 * The stage is single-threaded, keeps no descriptor but 0-2 and the control socket, which the command never
 * inherits, is not dumpable (no ptrace, no /proc/1/mem or environ), and exits when the other end closes.
 */
#ifndef SBX_STAGE_H
#define SBX_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAGE_NAME "sbxrun-stage"         /* argv[1] */
#define STAGE_EXEC_PATH "/proc/self/fd/5" /* argv[0] */

/* Where stage_main() expects its descriptors; STAGE_EXEC_FD is its own program, to be closed. */
enum { STAGE_CONTROL_FD = 3, STAGE_PLAN_FD = 4, STAGE_EXEC_FD = 5 };

enum stage_flag {
    STAGE_TERMINAL = 1 << 0,   /* stdin is the session's terminal: an own process group, not a new session */
    STAGE_FOREGROUND = 1 << 1, /* that group takes the terminal at once; only with STAGE_TERMINAL */
    STAGE_SEALED = 1 << 2,     /* stage_main(): the command cannot open what is not in the view (seal.h) */
};

struct stage_plan {
    char *const *argv; /* of the command; argv[0] without slash is looked up in PATH of envp, inside */
    char *const *envp;
    const char *cwd; /* absolute, as seen inside */
    unsigned flags;  /* set of stage_flag: stage_flags() */
};

/* Messages on the control socket, one a packet. */
enum stage_kind {
    /* to the stage */
    STAGE_SIGNAL = 1, /* value: signal for the command's process group */
    STAGE_SIGNAL_ALL, /* value: signal for every process in the sandbox, followed by CONT; the stage then
                       * stays until all are gone */
    STAGE_RESUME,     /* after STAGE_STOPPED: all is continued; value 1: the terminal is given back */
    /* from the stage */
    STAGE_HERE,   /* with a pidfd of it: the first, of a stage that is no child of sbxrun */
    STAGE_FAILED, /* value: errno, step: enum stage_step; the command was not executed */
    STAGE_ENDED,  /* value: wait status of the command */
    STAGE_STOPPED, /* only with STAGE_TERMINAL: the command stopped, and all else with it, so that nothing
                    * runs on while sbxrun is stopped too; value: the signal, detail: had it the terminal? */
};

/* What failed before the command's execve. STAGE_STEP(enum, "step", "what") */
#define STAGE_STEPS(X)                                                                   \
    X(STAGE_PLAN, "stage", "it is not pid 1 of the sandbox, or its plan cannot be read") \
    X(STAGE_UNKNOWN, "stage", "it cannot make itself known")                             \
    X(STAGE_IDS, "namespace", "the user mapping cannot be written")                      \
    X(STAGE_PARENT, "stage", "sbxrun is gone")                                           \
    X(STAGE_PROPAGATION, "view", "mounts cannot be made private")                        \
    X(STAGE_CLONE, "view", "a write grant cannot be taken out of the read-only view")    \
    X(STAGE_CHANGED, "view", "a write grant is not the object that was checked")         \
    X(STAGE_READ_ONLY, "view", "the read-only view cannot be made")                      \
    X(STAGE_PUT_BACK, "view", "a write grant cannot be put back")                        \
    X(STAGE_PROC, "view", "an own /proc cannot be mounted")                              \
    X(STAGE_TMPDIR, "view", "the private TMPDIR cannot be made")                         \
    X(STAGE_PRIVATE, "view", "a private folder cannot be made")                          \
    X(STAGE_RULE, "landlock", "a rule inside the view cannot be added")                  \
    X(STAGE_CWD, "workdir", "the working folder cannot be entered inside the view")      \
    X(STAGE_FORK, "stage", "the command's process cannot be made")                       \
    X(STAGE_SESSION, "terminal", "the command's session or group cannot be made")        \
    X(STAGE_CAPS, "capabilities", "they cannot be dropped")                              \
    X(STAGE_NNP, "no_new_privs", "it cannot be set")                                     \
    X(STAGE_LANDLOCK, "landlock", "the ruleset cannot be enforced")                      \
    X(STAGE_SECCOMP, "seccomp", "the filter cannot be installed")                        \
    X(STAGE_EXEC, "exec", "")

enum stage_step {
#define X(id, step, what) id,
    STAGE_STEPS(X)
#undef X
        STAGE_STEP_COUNT
};

struct stage_message {
    uint32_t kind; /* enum stage_kind */
    uint32_t step; /* enum stage_step */
    int32_t value;
    uint32_t detail; /* STAGE_FAILED: index of the rule concerned plus 1, or 0; STAGE_STOPPED: above */
};

/* Confines the calling process, the command's, right before execve; on failure reports with stage_report()
 * and returns false. NULL: whoever started the stage did it. */
typedef bool stage_confine(void *ctx, int control);

/* Sends STAGE_FAILED; always returns false. */
bool stage_report(int control, enum stage_step step, int error, size_t detail);

/* Starts the command and stays until it has ended; control is the stage's end. Never returns. */
_Noreturn void stage_run(const struct stage_plan *plan, int control, stage_confine *confine, void *ctx);

/* main() of a process that was started as STAGE_NAME. */
_Noreturn void stage_main(void);

/* The flags that fit the caller's terminal. */
struct rt_run;
unsigned stage_flags(const struct rt_run *run);

/* The plan as bytes for STAGE_PLAN_FD: a sealed memory file, close-on-exec; -1 after rt_fail(). */
int stage_plan_fd(struct rt_run *run, const struct stage_plan *plan);

#endif
