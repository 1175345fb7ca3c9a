#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"
#include "seal.h"
#include "sys.h"

struct stage {
    const struct stage_plan *plan;
    int control;
    int children; /* signalfd of SIGCHLD */
    int events;   /* epoll of both. poll(2) takes no more entries than RLIMIT_NOFILE, which the command can set
                   * for us by prlimit(2) */
    pid_t command;
    pid_t terminal_group; /* had the terminal when the command stopped; 0: one outside */
    bool ended;           /* the command has, and it was reported */
    bool draining;        /* SIGNAL_ALL came: stay until nobody is left */
};

static void send_message(int control, enum stage_kind kind, enum stage_step step, int value, uint32_t detail)
{
    const struct stage_message m = {kind, step, value, detail};
    /* Whether it arrives is of no use to us: the other end is sbxrun, and without it all ends. */
    ssize_t n = write(control, &m, sizeof m);
    (void)n;
}

bool stage_report(int control, enum stage_step step, int error, size_t detail)
{
    send_message(control, STAGE_FAILED, step, error, (uint32_t)detail);
    return false;
}

static _Noreturn void give_up(int control, enum stage_step step)
{
    stage_report(control, step, errno, 0);
    _exit(RT_EXIT_REFUSED);
}

/* ---- The command ------------------------------------------------------------------------------------- */

/* Sets errno as execve does. Only absolute folders of PATH count: no other stands for the same place
 * whatever the working folder is. */
static void execute(const struct stage_plan *plan)
{
    char *const *argv = plan->argv;
    if (strchr(argv[0], '/')) {
        execve(argv[0], argv, plan->envp);
        return;
    }
    const char *path = rt_env_get(plan->envp, "PATH");
    int error = ENOENT;
    for (size_t n; path && *path; path += n + (path[n] == ':')) {
        char file[PATH_MAX];
        size_t name = strlen(argv[0]);
        n = strcspn(path, ":");
        if (*path != '/' || !name || n + 1 + name >= sizeof file)
            continue;
        memcpy(file, path, n);
        file[n] = '/';
        memcpy(file + n + 1, argv[0], name + 1);
        execve(file, argv, plan->envp);
        if (errno == EACCES)
            error = EACCES; /* perhaps a later folder has one that may be executed */
        else if (errno != ENOENT && errno != ENOTDIR)
            return;
    }
    errno = error;
}

static bool join_session(unsigned flags)
{
    if (!(flags & STAGE_TERMINAL))
        return setsid() >= 0;
    /* A background group that sets the foreground gets TTOU, which is blocked here. */
    return !setpgid(0, 0) && (!(flags & STAGE_FOREGROUND) || !tcsetpgrp(STDIN_FILENO, getpid()));
}

static _Noreturn void run_command(const struct stage *s, stage_confine *confine, void *ctx)
{
    sigset_t none;
    sigemptyset(&none);
    if (!join_session(s->plan->flags))
        give_up(s->control, STAGE_SESSION);
    if (sys_close_range(STDERR_FILENO + 1, ~0u, true))
        give_up(s->control, STAGE_FORK);
    if (confine && !confine(ctx, s->control))
        _exit(RT_EXIT_REFUSED);
    if (sigprocmask(SIG_SETMASK, &none, NULL))
        give_up(s->control, STAGE_FORK);
    execute(s->plan);
    give_up(s->control, STAGE_EXEC);
}

/* ---- Relay ------------------------------------------------------------------------------------------- */

static void reap(struct stage *s)
{
    struct signalfd_siginfo info;
    while (read(s->children, &info, sizeof info) == (ssize_t)sizeof info)
        ;
    bool terminal = s->plan->flags & STAGE_TERMINAL;
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | (terminal ? WUNTRACED : 0))) > 0) {
        if (pid != s->command)
            continue;
        if (WIFSTOPPED(status)) {
            s->terminal_group = tcgetpgrp(STDIN_FILENO);
            kill(-1, SIGSTOP);
            send_message(s->control, STAGE_STOPPED, 0, WSTOPSIG(status), s->terminal_group > 0);
            continue;
        }
        send_message(s->control, STAGE_ENDED, 0, status, 0);
        s->ended = true;
    }
    if (s->ended && (!s->draining || pid < 0))
        _exit(0); /* of pid 1: the kernel kills whatever is left */
}

static void obey(struct stage *s, const struct stage_message *m)
{
    switch ((enum stage_kind)m->kind) {
    case STAGE_SIGNAL:
        /* Right after fork the command has no group of its own yet. */
        if (!s->ended && kill(-s->command, m->value))
            kill(s->command, m->value);
        break;
    case STAGE_SIGNAL_ALL:
        s->draining = true;
        kill(-1, m->value);
        kill(-1, SIGCONT);
        break;
    case STAGE_RESUME:
        if (m->value)
            tcsetpgrp(STDIN_FILENO, s->terminal_group > 0 ? s->terminal_group : s->command);
        kill(-1, SIGCONT);
        break;
    case STAGE_HERE:
    case STAGE_FAILED:
    case STAGE_ENDED:
    case STAGE_STOPPED:
        break;
    }
}

static bool watch(struct stage *s)
{
    s->events = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event control = {.events = EPOLLIN, .data.fd = s->control};
    struct epoll_event children = {.events = EPOLLIN, .data.fd = s->children};
    return s->events >= 0 && !epoll_ctl(s->events, EPOLL_CTL_ADD, s->control, &control) &&
           !epoll_ctl(s->events, EPOLL_CTL_ADD, s->children, &children);
}

static _Noreturn void relay(struct stage *s)
{
    for (;;) {
        struct stage_message m;
        struct epoll_event event;
        int n = epoll_wait(s->events, &event, 1, -1);
        if (n < 0 && errno == EINTR)
            continue; /* stopped and continued by someone outside (signal(7)) */
        if (n != 1)
            break;
        if (event.data.fd == s->children) {
            reap(s);
        } else {
            if (read(s->control, &m, sizeof m) != (ssize_t)sizeof m)
                break; /* sbxrun is gone */
            obey(s, &m);
        }
    }
    _exit(RT_EXIT_REFUSED);
}

/* sbxrun's own environment, which /proc/1/environ shows to whoever may trace us. */
static void forget_environment(void)
{
    for (char **e = environ; e && *e; e++)
        memset(*e, 0, strlen(*e));
}

static bool block_signals(int *out_children)
{
    sigset_t all, children;
    sigfillset(&all);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    if (sigprocmask(SIG_SETMASK, &all, NULL) || signal(SIGCHLD, SIG_DFL) == SIG_ERR)
        return false;
    *out_children = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    return *out_children >= 0;
}

/* Has sbxrun gone, or given up, while the sandbox was made? */
static bool is_missed(int control)
{
    struct pollfd fd = {.fd = control, .events = POLLRDHUP};
    return poll(&fd, 1, 0) != 0;
}

_Noreturn void stage_run(const struct stage_plan *plan, int control, stage_confine *confine, void *ctx)
{
    struct stage s = {.plan = plan, .control = control};
    /* Only the end of pid 1 takes everything along; and kill(-1) elsewhere would reach the host. */
    errno = ECHILD;
    if (getpid() != 1)
        give_up(control, STAGE_PLAN);
    forget_environment();
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || !block_signals(&s.children) || !watch(&s))
        give_up(control, STAGE_FORK);
    if (chdir(plan->cwd))
        give_up(control, STAGE_CWD);
    if (is_missed(control))
        _exit(RT_EXIT_REFUSED);
    s.command = fork();
    if (s.command < 0)
        give_up(control, STAGE_FORK);
    if (!s.command)
        run_command(&s, confine, ctx);
    relay(&s);
}

/* ---- Plan -------------------------------------------------------------------------------------------- */

/* In the memory file: this head, then NUL-terminated strings: cwd, arguments, environment. */
struct plan_head {
    uint32_t flags, n_args, n_env;
};

unsigned stage_flags(const struct rt_run *run)
{
    return !run->terminal ? 0u : run->foreground ? STAGE_TERMINAL | STAGE_FOREGROUND : STAGE_TERMINAL;
}

static size_t count(char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

static size_t measure(char *const *list)
{
    size_t bytes = 0;
    for (; *list; list++)
        bytes += strlen(*list) + 1;
    return bytes;
}

static char *append(char *at, const char *s)
{
    size_t n = strlen(s) + 1;
    memcpy(at, s, n);
    return at + n;
}

int stage_plan_fd(struct rt_run *run, const struct stage_plan *plan)
{
    const struct plan_head head = {plan->flags, (uint32_t)count(plan->argv), (uint32_t)count(plan->envp)};
    size_t len = sizeof head + strlen(plan->cwd) + 1 + measure(plan->argv) + measure(plan->envp);
    char *data = rt_alloc(run, len, 1);
    if (!data)
        return -1;
    memcpy(data, &head, sizeof head);
    char *at = append(data + sizeof head, plan->cwd);
    for (char *const *s = plan->argv; *s; s++)
        at = append(at, *s);
    for (char *const *s = plan->envp; *s; s++)
        at = append(at, *s);
    return rt_memfd(run, "sbxrun-plan", data, len);
}

/* Points n entries and a NULL at strings; moves *at on. False if the file ends before. */
static bool point(char **list, size_t n, char **at, const char *end)
{
    for (size_t i = 0; i < n; i++) {
        char *nul = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
        if (!nul)
            return false;
        list[i] = *at;
        *at = nul + 1;
    }
    list[n] = NULL;
    return true;
}

static bool read_plan(int fd, struct stage_plan *out)
{
    struct stat st;
    struct plan_head head;
    errno = EINVAL;
    if (fstat(fd, &st) || (size_t)st.st_size < sizeof head)
        return false;
    size_t len = (size_t)st.st_size;
    char *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return false;
    memcpy(&head, data, sizeof head);
    char **lists = mmap(NULL, ((size_t)head.n_args + head.n_env + 4) * sizeof *lists, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (lists == MAP_FAILED)
        return false;
    char *at = data + sizeof head, *end = data + len;
    char **argv = lists + 2, **envp = argv + head.n_args + 1;
    errno = EINVAL;
    if (!head.n_args || !point(lists, 1, &at, end) || !point(argv, head.n_args, &at, end) ||
        !point(envp, head.n_env, &at, end))
        return false;
    *out = (struct stage_plan){argv, envp, lists[0], head.flags};
    return true;
}

/* Whoever made the sandbox is our parent, and may end before us: sbxrun has to know us too. */
static bool make_known(int control)
{
    struct stage_message m = {.kind = STAGE_HERE};
    union {
        struct cmsghdr head; /* aligns */
        char bytes[CMSG_SPACE(sizeof(int))];
    } more = {.bytes = {0}};
    struct iovec text = {&m, sizeof m};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = more.bytes, .msg_controllen = sizeof more.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    int pidfd = sys_pidfd(getpid());
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof pidfd);
    memcpy(CMSG_DATA(rights), &pidfd, sizeof pidfd);
    return pidfd >= 0 && sendmsg(control, &message, MSG_NOSIGNAL) == (ssize_t)sizeof m && !close(pidfd);
}

_Noreturn void stage_main(void)
{
    struct stage_plan plan;
    if (!make_known(STAGE_CONTROL_FD))
        give_up(STAGE_CONTROL_FD, STAGE_UNKNOWN);
    if (!read_plan(STAGE_PLAN_FD, &plan))
        give_up(STAGE_CONTROL_FD, STAGE_PLAN);
    if (sys_close_range(STAGE_CONTROL_FD + 1, ~0u, false))
        give_up(STAGE_CONTROL_FD, STAGE_PLAN);
    stage_run(&plan, STAGE_CONTROL_FD, plan.flags & STAGE_SEALED ? seal_view : NULL, NULL);
}
