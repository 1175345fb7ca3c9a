/* From the first process to the last: deadline, signals, the command's end, and nobody left behind. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"
#include "stage.h"
#include "sys.h"

static const int FORWARDED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
enum { N_FORWARDED = sizeof FORWARDED / sizeof *FORWARDED };

/* What the deadline has done so far. */
enum phase { RUNNING, TERMINATED, KILLED };

struct watch {
    struct rt_run *run;
    int signals, timer;
    enum phase phase;
    bool stopped; /* all in the sandbox is */
    bool staged;  /* reports come over the control socket */
    bool child_gone;
    bool swept; /* end_all() was called after it had gone */
    bool adopted_left;
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

/* Who is stopped reads no timer. From the deadline on the kernel continues this process itself, until it ends:
 * a SIGCONT does that even where it is blocked. */
static bool arm_continue(uint64_t ms)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000},
        .it_interval = {.tv_nsec = 100000000}};
    timer_t timer;
    return !timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &when, NULL);
}

static uint64_t deadline_ms(const struct rt_run *run)
{
    return run->options.timeout_ms ? run->options.timeout_ms : run->policy.timeout_ms;
}

/* The children of this process, from the kernel's own list; NULL if it cannot be read. */
static FILE *open_children(void)
{
    return fopen("/proc/thread-self/children", "re");
}

/* What it holds is never waited for, so that these numbers stay theirs. */
static bool remember_foreign(struct rt_run *run)
{
    size_t n = 0;
    int pid;
    FILE *list = open_children();
    if (!list)
        return rt_fail_errno(run, errno, "supervise", "/proc does not list the children");
    while (fscanf(list, "%d", &pid) == 1)
        n++;
    pid_t *foreign = rt_alloc(run, n, sizeof *foreign);
    rewind(list);
    while (foreign && run->n_foreign < n && fscanf(list, "%d", &pid) == 1)
        foreign[run->n_foreign++] = pid;
    fclose(list);
    run->foreign = foreign;
    return foreign;
}

bool rt_is_foreign(const struct rt_run *run, pid_t pid)
{
    for (size_t i = 0; i < run->n_foreign; i++)
        if (run->foreign[i] == pid)
            return true;
    return false;
}

static bool set_up(struct watch *w)
{
    struct rt_run *run = w->run;
    if (!open_signals(w))
        return rt_fail_errno(run, errno, "supervise", "signals cannot be read");
    if (run->engine->adopts) {
        if (!remember_foreign(run))
            return false;
        if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
            return rt_fail_errno(run, errno, "supervise", "sbxrun cannot become a subreaper");
    }
    w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    uint64_t ms = deadline_ms(run);
    if (w->timer < 0 || (ms && (!arm(w, ms) || !arm_continue(ms))))
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

/* ---- Terminal ---------------------------------------------------------------------------------------- */

static void resume(struct watch *w)
{
    w->stopped = false;
    tell(w->run, STAGE_RESUME, tcgetpgrp(STDIN_FILENO) == getpgrp());
}

/* Stops this job as Ctrl-Z would; true if it was stopped, and was continued since. The kernel does not stop a
 * group that no shell could continue: then, and where the caller ignores TSTP, it returns at once. */
static bool stop_job(void)
{
    static const struct timespec NOW;
    sigset_t stop, go_on;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigemptyset(&go_on);
    sigaddset(&go_on, SIGCONT);
    sigtimedwait(&go_on, NULL, &NOW); /* an old one */
    kill(0, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here */
    sigprocmask(SIG_BLOCK, &stop, NULL);
    return sigtimedwait(&go_on, NULL, &NOW) == SIGCONT;
}

/* The command and all with it is stopped. So is this job, the terminal back with it if the command had it; once
 * continued, everything goes on, in the foreground if this job is there again. If nobody could continue it, TSTP
 * is as good as ignored, as for any program; from other stops only a signal or the deadline leads on. */
static void stop_too(struct watch *w, const struct stage_message *m)
{
    if (m->detail)
        tcsetpgrp(STDIN_FILENO, getpgrp());
    w->stopped = true;
    bool go_on = stop_job() || m->value == SIGTSTP;
    expire(w); /* before anything runs again: it may be why we do */
    if (go_on)
        resume(w);
}

/* Nobody is left in the group that had the terminal. It is not taken from one that has it by now. */
static void take_terminal_back(void)
{
    pid_t group = tcgetpgrp(STDIN_FILENO);
    if (group > 0 && kill(-group, 0) && errno == ESRCH)
        tcsetpgrp(STDIN_FILENO, getpgrp());
}

/* ---- Messages ---------------------------------------------------------------------------------------- */

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
        stop_too(w, m);
        return;
    case STAGE_HERE: /* its descriptor was taken */
        return;
    case STAGE_SIGNAL:
    case STAGE_SIGNAL_ALL:
    case STAGE_RESUME:
        break;
    }
    rt_fail(run, "stage", "unknown message %u", m->kind);
}

/* The descriptor that came with a message: the stage's. */
static void take_stage(struct rt_run *run, struct msghdr *message)
{
    struct cmsghdr *rights = CMSG_FIRSTHDR(message);
    if (!rights || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof run->stage))
        return;
    if (run->stage >= 0)
        close(run->stage);
    memcpy(&run->stage, CMSG_DATA(rights), sizeof run->stage);
}

static void take_messages(struct watch *w)
{
    struct rt_run *run = w->run;
    while (run->control >= 0) {
        struct stage_message m;
        union {
            struct cmsghdr head; /* aligns */
            char bytes[CMSG_SPACE(sizeof(int))];
        } more;
        struct iovec text = {&m, sizeof m};
        struct msghdr message = {
            .msg_iov = &text, .msg_iovlen = 1, .msg_control = more.bytes, .msg_controllen = sizeof more.bytes};
        ssize_t n = recvmsg(run->control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n < 0 && errno == EAGAIN)
            return;
        take_stage(run, &message);
        if (n == (ssize_t)sizeof m) {
            take_message(w, &m);
            continue;
        }
        close(run->control); /* nobody is left at the other end */
        run->control = -1;
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

static void reap_child(struct watch *w)
{
    struct rt_run *run = w->run;
    siginfo_t info = {0};
    int status;
    if (run->child <= 0 || w->child_gone ||
        waitid(P_PID, (id_t)run->child, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid != run->child)
        return;
    /* The maker of a sandbox may have been killed by someone else, and left it to run on. As long as it is not
     * waited for its number is its own. */
    if (w->staged)
        end_all(w);
    if (waitpid(run->child, &status, 0) == run->child)
        child_ended(w, status);
}

/* Waits for what has ended of all that came to us; true if some has not. */
static bool reap_adopted(const struct watch *w)
{
    bool left = false;
    int pid, status;
    FILE *list = open_children();
    while (list && fscanf(list, "%d", &pid) == 1)
        if (pid != w->run->child && !rt_is_foreign(w->run, pid) && !waitpid(pid, &status, WNOHANG))
            left = true;
    if (list)
        fclose(list);
    return left;
}

static void reap(struct watch *w)
{
    reap_child(w);
    if (!w->run->engine->adopts)
        return;
    w->adopted_left = reap_adopted(w);
    /* Once more, even if all was killed before: what a killed child has left may have come to us since. */
    if (w->child_gone && w->adopted_left && !w->swept) {
        w->swept = true;
        w->phase = KILLED;
        end_all(w);
    }
}

static void take_signals(struct watch *w)
{
    struct signalfd_siginfo info;
    while (read(w->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD) {
            forward(w->run, (int)info.ssi_signo, false);
            if (w->stopped && info.ssi_signo != SIGWINCH)
                resume(w);
        }
    reap(w);
}

static void stage_ended(struct rt_run *run)
{
    close(run->stage);
    run->stage = -1;
}

/* The child's end alone does not say it where it is not pid 1 of the sandbox. A stage that we have not heard of
 * yet still holds the other end of the control socket. */
static bool is_over(const struct watch *w)
{
    const struct rt_run *run = w->run;
    return (w->child_gone || run->child <= 0) && run->control < 0 && run->stage < 0 && !w->adopted_left;
}

static bool watch(struct watch *w)
{
    struct rt_run *run = w->run;
    while (!is_over(w)) {
        struct pollfd fds[4] = {{.fd = w->signals, .events = POLLIN},
                                {.fd = w->timer, .events = POLLIN},
                                {.fd = run->control, .events = POLLIN},
                                {.fd = run->stage, .events = POLLIN}};
        if (poll(fds, 4, -1) < 0 && errno != EINTR)
            return rt_fail_errno(run, errno, "supervise", "poll");
        if (fds[2].revents)
            take_messages(w); /* before the timer: an end that was reported in time is no timeout */
        if (fds[1].revents)
            expire(w);
        if (fds[0].revents)
            take_signals(w);
        if (fds[3].revents)
            stage_ended(run);
    }
    return true;
}

bool rt_supervise(struct rt_run *run)
{
    struct watch w = {.run = run, .signals = -1, .timer = -1, .staged = !run->engine->signal};
    run->stage = -1;
    if (!set_up(&w))
        return false;
    if (!run->engine->start(run))
        end_all(&w);
    reap(&w); /* what ended before signals were read */
    bool ok = watch(&w) && !run->error.status;
    if (run->foreground)
        take_terminal_back();
    return ok;
}
