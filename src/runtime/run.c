/* What all parts of a run share: failures, scratch memory, descriptors, child processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime.h"
#include "stage.h"
#include "sys.h"

/* ---- Failures ---------------------------------------------------------------------------------------- */

static void fail(struct rt_run *run, int error, const char *step, const char *fmt, va_list args)
{
    struct rt_error *e = &run->error;
    if (e->status)
        return;
    e->status = RT_EXIT_REFUSED;
    e->step = step;
    int n = vsnprintf(e->why, sizeof e->why, fmt, args);
    if (error && n >= 0 && (size_t)n < sizeof e->why)
        snprintf(e->why + n, sizeof e->why - (size_t)n, ": %s", strerror(error));
}

bool rt_fail(struct rt_run *run, const char *step, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail(run, 0, step, fmt, args);
    va_end(args);
    return false;
}

bool rt_fail_errno(struct rt_run *run, int error, const char *step, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail(run, error, step, fmt, args);
    va_end(args);
    return false;
}

/* ---- Scratch memory ---------------------------------------------------------------------------------- */

void *rt_alloc(struct rt_run *run, size_t n, size_t size)
{
    enum { ALIGN = 16 };
    size_t bytes;
    size_t at = (run->scratch_used + ALIGN - 1) / ALIGN * ALIGN;
    if (__builtin_mul_overflow(n, size, &bytes) || at > run->scratch_cap || bytes > run->scratch_cap - at) {
        rt_fail(run, "memory", "the run needs more than %zu bytes", run->scratch_cap);
        return NULL;
    }
    run->scratch_used = at + bytes;
    return run->scratch + at; /* fresh anonymous pages: zero */
}

char *rt_strn(struct rt_run *run, const char *s, size_t len)
{
    char *copy = rt_alloc(run, len + 1, 1);
    if (copy)
        memcpy(copy, s, len);
    return copy;
}

char *rt_printf(struct rt_run *run, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = n < 0 ? NULL : rt_alloc(run, (size_t)n + 1, 1);
    if (text) {
        va_start(args, fmt);
        vsnprintf(text, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    return text;
}

/* ---- Descriptors ------------------------------------------------------------------------------------- */

static bool write_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

int rt_memfd(struct rt_run *run, const char *name, const void *data, size_t len)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || !write_all(fd, data, len) || lseek(fd, 0, SEEK_SET) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) {
        rt_fail_errno(run, errno, "memory", "a memory file cannot be made");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

int rt_self(struct rt_run *run)
{
    int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    if (fd < 0)
        rt_fail_errno(run, errno, "stage", "sbxrun's own file cannot be opened by /proc/self/exe");
    return fd;
}

bool rt_control(struct rt_run *run, int *out_other)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return rt_fail_errno(run, errno, "stage", "the control socket cannot be made");
    run->control = pair[0];
    *out_other = pair[1];
    return true;
}

/* ---- Children ---------------------------------------------------------------------------------------- */

/* Moves every descriptor of the list to its place and marks all others close-on-exec. What is to move is
 * first moved above every place, so that nothing is overwritten before its turn. `keep` are moved along. */
static bool arrange(struct rt_fd *fds, size_t n, int *keep[2])
{
    int top = 3;
    for (size_t i = 0; i < n; i++)
        if (fds[i].to >= top)
            top = fds[i].to + 1;
    for (size_t i = 0; i < 2; i++)
        if (*keep[i] >= 0 && (*keep[i] = fcntl(*keep[i], F_DUPFD_CLOEXEC, top)) < 0)
            return false;
    for (size_t i = 0; i < n; i++)
        if (fds[i].from != fds[i].to && (fds[i].from = fcntl(fds[i].from, F_DUPFD_CLOEXEC, top)) < 0)
            return false;
    if (sys_close_range(3, ~0u, true))
        return false;
    for (size_t i = 0; i < n; i++)
        if (fds[i].from == fds[i].to ? fcntl(fds[i].to, F_SETFD, 0) : dup2(fds[i].from, fds[i].to) < 0)
            return false;
    return true;
}

/* A stage's maker is not tied to us by a signal (runtime.h), so it must not be stopped with us: it could not
 * see the stage end. Nor is a terminal's Ctrl-C for it: we forward that to the command. */
static bool tie(pid_t parent)
{
    if (!parent)
        return !setpgid(0, 0);
    /* The parent may have died before prctl: then there is no signal to come. */
    return !prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) && getppid() == parent;
}

/* In the child: never returns. `fds` is its own copy. It dies with `parent`, unless that is 0. */
static _Noreturn void become(pid_t parent, int report, int exec_fd, const char *path, char *const *argv,
                             char *const *envp, struct rt_fd *fds, size_t n_fds)
{
    sigset_t none;
    sigemptyset(&none);
    if (tie(parent) && arrange(fds, n_fds, (int *[2]){&report, &exec_fd}) &&
        !sigprocmask(SIG_SETMASK, &none, NULL)) {
        if (exec_fd >= 0)
            fexecve(exec_fd, argv, envp);
        else
            execve(path, argv, envp);
    }
    int error = errno;
    write_all(report, (const char *)&error, sizeof error);
    _exit(RT_EXIT_REFUSED);
}

bool rt_spawn(struct rt_run *run, int exec_fd, const char *path, char *const *argv, char *const *envp,
              const struct rt_fd *fds, size_t n_fds)
{
    struct rt_fd *own = rt_alloc(run, n_fds, sizeof *own);
    int failure[2];
    if (!own)
        return false;
    if (n_fds)
        memcpy(own, fds, n_fds * sizeof *fds);
    if (pipe2(failure, O_CLOEXEC))
        return rt_fail_errno(run, errno, "start", "a pipe cannot be made");
    pid_t parent = run->control < 0 ? getpid() : 0;
    pid_t pid = fork();
    int error = errno;
    if (!pid)
        become(parent, failure[1], exec_fd, path, argv, envp, own, n_fds);
    close(failure[1]);
    bool failed = pid < 0 || read(failure[0], &error, sizeof error) == (ssize_t)sizeof error;
    close(failure[0]);
    if (pid > 0)
        run->child = pid;
    if (failed)
        return rt_fail_errno(run, error, "start", "`%s` cannot be started", path ? path : argv[0]);
    return true;
}
