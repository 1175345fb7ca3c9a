/* From the first process to the last: deadline, signals, the command's end, and nobody left behind. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"
#include "stage.h"

static const int FORWARDED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { N_FORWARDED = sizeof FORWARDED / sizeof *FORWARDED };

/* What the deadline has done so far. */
enum phase { RUNNING, TERMINATED, KILLED };

struct watch {
    struct rt_run *run;
    int signals, timer;
    enum phase phase;
    bool staged; /* reports come over the control socket */
    bool child_gone;
    bool swept; /* end_all() was called after it had gone */
    bool none_left;
};

/* ---- Set-up ------------------------------------------------------------------------------------------ */

/* All signals are blocked for good: what arrives is read, so none is lost and none interrupts; and a kill
 * can never follow a wait for the same process. */
static bool open_signals(struct watch *w)
{
    sigset_t all, ours;
    sigfillset(&all);
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    for (int i = 0; i < N_FORWARDED; i++)
        sigaddset(&ours, FORWARDED[i]);
    /* An ignored SIGCHLD, inherited, would let the kernel throw the status away. */
    if (sigprocmask(SIG_SETMASK, &all, NULL) || signal(SIGCHLD, SIG_DFL) == SIG_ERR)
        return false;
    w->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    return w->signals >= 0;
}

static bool arm(struct watch *w, uint64_t ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = ms ? (long)(ms % 1000) * 1000000 : 1}};
    return !timerfd_settime(w->timer, 0, &when, NULL);
}

static uint64_t deadline_ms(const struct rt_run *run)
{
    return run->options.timeout_ms ? run->options.timeout_ms : run->policy.timeout_ms;
}

static bool set_up(struct watch *w)
{
    struct rt_run *run = w->run;
    if (!open_signals(w))
        return rt_fail_errno(run, errno, "supervise", "signals cannot be read");
    /* What an engine's helpers leave behind becomes our child, and is waited for. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        return rt_fail_errno(run, errno, "supervise", "sbxrun cannot become a subreaper");
    w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (w->timer < 0 || (deadline_ms(run) && !arm(w, deadline_ms(run))))
        return rt_fail_errno(run, errno, "supervise", "no timer can be set");
    return true;
}

/* ---- Out to the sandbox ------------------------------------------------------------------------------ */

static void tell(struct rt_run *run, enum stage_kind kind, int value)
{
    const struct stage_message m = {.kind = kind, .value = value};
    /* A stage that is gone or does not listen gets the SIGKILL that follows, or is reaped. */
    if (run->control >= 0)
        send(run->control, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void forward(struct rt_run *run, int sig, bool all)
{
    if (run->engine->signal)
        run->engine->signal(run, sig, all);
    else
        tell(run, all ? STAGE_SIGNAL_ALL : STAGE_SIGNAL, sig);
}

static void end_all(struct watch *w)
{
    struct rt_run *run = w->run;
    if (run->engine->kill)
        run->engine->kill(run);
    else if (run->child > 0 && !w->child_gone)
        kill(run->child, SIGKILL);
}

static void expire(struct watch *w)
{
    uint64_t times;
    if (read(w->timer, &times, sizeof times) != (ssize_t)sizeof times)
        return;
    struct rt_run *run = w->run;
    if (w->phase == RUNNING && !run->outcome.known && !w->child_gone) {
        run->outcome.timed_out = true;
        w->phase = TERMINATED;
        forward(run, SIGTERM, true);
        if (arm(w, run->policy.kill_after_ms))
            return;
    }
    if (w->phase == TERMINATED) {
        w->phase = KILLED;
        end_all(w);
    }
}

/* ---- Back from the sandbox --------------------------------------------------------------------------- */

static const struct {
    const char *step, *what;
} STEPS[STAGE_STEP_COUNT] = {
#define X(id, step, what) [id] = {step, what},
    STAGE_STEPS(X)
#undef X
};

static void not_started(struct rt_run *run, const struct stage_message *m)
{
    if (m->step == STAGE_EXEC) {
        rt_fail_errno(run, m->value, "exec", "`%s`", run->argv[0]);
        run->error.status =
            m->value == ENOENT || m->value == ENOTDIR ? RT_EXIT_NOT_FOUND : RT_EXIT_NOT_EXECUTABLE;
    } else if (m->step < STAGE_STEP_COUNT) {
        const char *clause = m->detail && run->engine->detail ? run->engine->detail(run, m->detail) : "";
        rt_fail_errno(run, m->value, STEPS[m->step].step, "%s%s%s", clause, *clause ? ": " : "",
                      STEPS[m->step].what);
    } else {
        rt_fail(run, "stage", "unknown step %u failed", m->step);
    }
}

/* The command and all with it is stopped. So is this job, the terminal back with whoever had it before; once
 * continued, everything goes on, in the foreground if this job is there again. */
static void stop_too(struct rt_run *run)
{
    tcsetpgrp(STDIN_FILENO, getpgrp());
    kill(0, SIGSTOP);
    tell(run, STAGE_RESUME, tcgetpgrp(STDIN_FILENO) == getpgrp());
}

static void take_message(struct watch *w, const struct stage_message *m)
{
    struct rt_run *run = w->run;
    switch ((enum stage_kind)m->kind) {
    case STAGE_FAILED:
        not_started(run, m);
        return;
    case STAGE_ENDED:
        run->outcome.wait = m->value;
        run->outcome.known = true;
        return;
    case STAGE_STOPPED:
        stop_too(run);
        return;
    case STAGE_SIGNAL:
    case STAGE_SIGNAL_ALL:
    case STAGE_RESUME:
        break;
    }
    rt_fail(run, "stage", "unknown message %u", m->kind);
}

static void take_messages(struct watch *w)
{
    struct stage_message m;
    ssize_t n;
    while (w->run->control >= 0 && (n = recv(w->run->control, &m, sizeof m, MSG_DONTWAIT)) >= 0) {
        if (n == (ssize_t)sizeof m) {
            take_message(w, &m);
            continue;
        }
        close(w->run->control);
        w->run->control = -1;
    }
}

/* ---- Ends -------------------------------------------------------------------------------------------- */

static void child_ended(struct watch *w, int status)
{
    struct rt_run *run = w->run;
    w->child_gone = true;
    take_messages(w); /* what was sent before the end is still there */
    if (run->outcome.known || run->error.status)
        return;
    if (run->engine->ended) {
        run->engine->ended(run, status);
    } else if (w->staged) {
        if (!run->outcome.timed_out)
            rt_fail(run, "stage", "the sandbox ended by %s %d without a word about the command",
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    } else {
        run->outcome.known = true;
        run->outcome.wait = status;
    }
}

static void reap(struct watch *w)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == w->run->child)
            child_ended(w, status);
    w->none_left = pid < 0;
    /* Once more, even if all was killed before: what a killed child has left may have come to us since. */
    if (w->child_gone && !w->none_left && !w->swept) {
        w->swept = true;
        w->phase = KILLED;
        end_all(w);
    }
}

static void take_signals(struct watch *w)
{
    struct signalfd_siginfo info;
    while (read(w->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD)
            forward(w->run, (int)info.ssi_signo, false);
    reap(w);
}

static bool watch(struct watch *w)
{
    while (!w->none_left) {
        struct pollfd fds[3] = {{.fd = w->signals, .events = POLLIN},
                                {.fd = w->timer, .events = POLLIN},
                                {.fd = w->run->control, .events = POLLIN}};
        if (poll(fds, 3, -1) < 0)
            return rt_fail_errno(w->run, errno, "supervise", "poll");
        if (fds[2].revents)
            take_messages(w); /* before the timer: an end that was reported in time is no timeout */
        if (fds[1].revents)
            expire(w);
        if (fds[0].revents)
            take_signals(w);
    }
    return true;
}

bool rt_supervise(struct rt_run *run)
{
    struct watch w = {.run = run, .signals = -1, .timer = -1, .staged = !run->engine->signal};
    if (!set_up(&w))
        return false;
    if (!run->engine->start(run))
        end_all(&w);
    reap(&w); /* sees whether there is any child at all */
    bool ok = watch(&w) && !run->error.status;
    if (run->foreground)
        tcsetpgrp(STDIN_FILENO, getpgrp());
    return ok;
}
