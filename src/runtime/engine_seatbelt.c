/* Seatbelt: the profile, checked, handed to sandbox-exec, which confines itself and becomes the command.
 *
 * The bytes that were checked are the ones that are used: they go as an argument (-p), not as a file that
 * could change in between. TMPDIR is a fresh folder, given as a parameter and removed afterwards.
 *
 * sandbox-exec ends with 65 for a profile that does not compile and with 71 for one that cannot be applied or
 * a command that cannot be executed, which its command may do too. So both are ruled out before: the profile
 * is tried on a program that cannot exist, and the command is looked up here, by the rules of the profile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine_seatbelt.h"
#include "runtime.h"
#include "sys.h"
#include "tree.h"

/* sysexits(3), as sandbox-exec uses them. */
enum { SB_DOES_NOT_COMPILE = 65, SB_OS_ERROR = 71 };

/* Words of the command line before the command. */
enum { N_WORDS = 6 };

struct own {
    const char *profile; /* from SB_VERSION to the end, NUL-terminated */
    size_t len;
    char *path; /* room for one path of the profile */
    const char *command; /* run->argv[0], found */
    const char **argv;
    bool made; /* run->tmpdir exists */
};

static const char *const PLACES[] = {"/usr/bin/sandbox-exec", NULL};

/* ---- Load -------------------------------------------------------------------------------------------- */

static bool load(struct rt_run *run)
{
    const struct rt_artifact *a = &run->artifact;
    struct own *own = rt_alloc(run, 1, sizeof *own);
    if (!own)
        return false;
    run->own = own;
    size_t at = a->body_start;
    if (at == a->body_end || a->data[at] != '\n')
        return rt_fail(run, "artifact", "not a file that sbxc wrote: no empty line behind the run section");
    own->len = a->body_end - ++at;
    /* A NUL would end the argument early; sb_check() passes none. */
    own->profile = rt_strn(run, (const char *)a->data + at, own->len);
    own->path = rt_alloc(run, own->len + 1, 1);
    if (!own->profile || !own->path)
        return false;
    const char *wrong =
        sb_check(own->profile, own->len, run->policy.confine, !strcmp(run->policy.network, "open"));
    return !wrong || rt_fail(run, "artifact", "not a file that sbxc wrote: %s", wrong);
}

/* ---- Check: does this system take the profile? ------------------------------------------------------- */

enum { SAID_MAX = 512, TRIAL_SECONDS = 10 };

static void fill_words(const struct rt_run *run, const char **argv, const char *define)
{
    const struct own *own = run->own;
    const char *const words[N_WORDS] = {run->tool, "-p", own->profile, "-D", define, "--"};
    memcpy(argv, words, sizeof words);
}

/* In the child: never returns. */
static _Noreturn void try_profile(const struct rt_run *run, int out)
{
    static char *const NO_ENVIRONMENT[] = {NULL};
    const char *argv[N_WORDS + 2] = {0};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    fill_words(run, argv, "TMPDIR=/private/var/empty");
    argv[N_WORDS] = "/dev/null/none"; /* beneath a device nothing can exist */
    if (null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(out, 2) == 2 &&
        !sys_close_range(3, ~0u, true))
        execve(run->tool, (char *const *)argv, NO_ENVIRONMENT);
    _exit(RT_EXIT_NOT_FOUND);
}

/* What the tool says, cut at SAID_MAX - 1 bytes; false if it says nothing to the end for too long. */
static bool listen_to(int fd, char said[SAID_MAX])
{
    size_t len = 0;
    for (;;) {
        char more[SAID_MAX];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, TRIAL_SECONDS * 1000) != 1)
            return false;
        ssize_t n = read(fd, more, sizeof more);
        if (n <= 0)
            return n == 0;
        size_t room = SAID_MAX - 1 - len;
        size_t take = (size_t)n < room ? (size_t)n : room;
        memcpy(said + len, more, take);
        len += take;
        said[len] = '\0';
    }
}

static bool judge(struct rt_run *run, int wait, const char *said)
{
    if (WIFEXITED(wait) && WEXITSTATUS(wait) == SB_DOES_NOT_COMPILE)
        return rt_fail(run, "host", "this system does not take the profile: %s", said);
    /* The kernel holds one sandbox a process: within another sandbox-exec it cannot be applied. */
    if (strstr(said, "sandbox_apply"))
        return rt_fail(run, "host", "the profile cannot be applied here: %s", said);
    if (!WIFEXITED(wait) || WEXITSTATUS(wait) != SB_OS_ERROR)
        return rt_fail(run, "host", "%s does not behave like sandbox-exec (%s %d): %s", run->tool,
                       WIFSIGNALED(wait) ? "signal" : "status",
                       WIFSIGNALED(wait) ? WTERMSIG(wait) : WEXITSTATUS(wait), said);
    return true;
}

static bool check(struct rt_run *run)
{
    char said[SAID_MAX] = "";
    int ends[2], wait = 0;
    if (!run->policy.confine)
        return true;
    if (pipe2(ends, O_CLOEXEC))
        return rt_fail_errno(run, errno, "host", "a pipe cannot be made");
    pid_t pid = fork();
    if (!pid)
        try_profile(run, ends[1]);
    int error = errno;
    close(ends[1]);
    bool ended = pid > 0 && listen_to(ends[0], said);
    close(ends[0]);
    if (pid < 0)
        return rt_fail_errno(run, error, "host", "%s cannot be started", run->tool);
    if (!ended)
        kill(pid, SIGKILL);
    while (waitpid(pid, &wait, 0) < 0 && errno == EINTR)
        ;
    if (!ended)
        return rt_fail(run, "host", "%s does not come to an end", run->tool);
    said[strcspn(said, "\n")] = '\0';
    return judge(run, wait, said);
}

/* ---- What the profile says of a path ----------------------------------------------------------------- */

/* As the kernel decides: the last rule that matches. The rules walked here name no operation twice at
 * different heights of its hierarchy, but for the folders above a grant, which only ever are allowed. */
static bool allows(struct rt_run *run, const char *path, unsigned operations)
{
    struct own *own = run->own;
    struct sb_rules rules;
    struct sb_item item;
    bool allowed = !run->policy.confine;
    sb_begin(&rules, own->profile, own->len);
    while (sb_next(&rules, &item)) {
        if (!(item.operations & operations) || item.tmpdir || item.filter == SB_IS_DEVICE)
            continue;
        sb_path(&item, own->path);
        if (item.filter == SB_IS_SUBPATH ? rt_path_within(path, own->path) : !strcmp(path, own->path))
            allowed = item.allow;
    }
    return allowed;
}

static bool sees(struct rt_run *run, const char *path)
{
    return !strcmp(path, "/") || allows(run, path, 1u << SB_FILE_READ | 1u << SB_METADATA);
}

/* ---- Place ------------------------------------------------------------------------------------------- */

/* A name for the fresh folder; made in prepare(), after which done() follows in any case. */
static bool place_tmpdir(struct rt_run *run)
{
    char real[PATH_MAX];
    unsigned char r[8];
    /* The kernel compares physical paths: on macOS /tmp is a link. */
    if (!realpath("/tmp", real))
        return rt_fail_errno(run, errno, "tmpdir", "/tmp");
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
        return rt_fail_errno(run, errno, "tmpdir", "no random name");
    run->tmpdir = rt_printf(run, "%s/sbx-%02x%02x%02x%02x%02x%02x%02x%02x", real, r[0], r[1], r[2], r[3], r[4],
                            r[5], r[6], r[7]);
    return run->tmpdir;
}

static bool place(struct rt_run *run)
{
    return rt_place_workdir(run, sees) && (!run->policy.confine || place_tmpdir(run));
}

/* ---- Prepare ----------------------------------------------------------------------------------------- */

static bool check_grants(struct rt_run *run)
{
    struct own *own = run->own;
    struct sb_rules rules;
    struct sb_item item;
    struct stat st;
    sb_begin(&rules, own->profile, own->len);
    while (sb_next(&rules, &item)) {
        bool writes = item.allow && item.operations & 1u << SB_FILE_WRITE;
        if (!writes || item.tmpdir || item.filter == SB_IS_DEVICE)
            continue;
        sb_path(&item, own->path);
        const char *clause = rt_printf(run, "write \"%s\"", own->path);
        if (!clause || (!stat(own->path, &st) && !rt_check_grant(run, &st, clause)))
            return false;
    }
    return true;
}

/* May the file at this absolute path become the command? 0, or why not. */
static int try_command(struct rt_run *run, const char *path, char real[PATH_MAX])
{
    struct stat st;
    if (!realpath(path, real) || stat(real, &st))
        return errno;
    /* Set-uid programs never run in a sandbox: the kernel refuses them without a word. */
    bool set_id = run->policy.confine && st.st_mode & (S_ISUID | S_ISGID);
    if (!S_ISREG(st.st_mode) || access(real, X_OK) || set_id || !allows(run, real, 1u << SB_EXEC))
        return EACCES;
    return 0;
}

/* The command's place: as given, relative to the working folder, or the first in the PATH that it will have
 * at which it may be executed. 0, or why there is none. */
static int find_command(struct rt_run *run, char real[PATH_MAX])
{
    const char *name = run->argv[0];
    if (strchr(name, '/')) {
        const char *path = *name == '/' ? name : rt_printf(run, "%s/%s", run->workdir, name);
        return path ? try_command(run, path, real) : ENOMEM;
    }
    int error = ENOENT;
    const char *at = rt_env_get(run->envp, "PATH");
    while (at && *at) {
        size_t n = strcspn(at, ":");
        const char *path = rt_printf(run, "%.*s/%s", (int)n, at, name);
        /* A relative entry would be the caller's choice of program. */
        int why = *at == '/' && path ? try_command(run, path, real) : ENOENT;
        if (!why)
            return 0;
        if (why == EACCES)
            error = why;
        at += n + (at[n] == ':');
    }
    return error;
}

static bool prepare_command(struct rt_run *run)
{
    struct own *own = run->own;
    char real[PATH_MAX];
    int error = find_command(run, real);
    if (error) {
        rt_fail_errno(run, error, "exec", "`%s`", run->argv[0]);
        run->error.status = error == ENOENT || error == ENOTDIR ? RT_EXIT_NOT_FOUND : RT_EXIT_NOT_EXECUTABLE;
        return false;
    }
    return (own->command = rt_strn(run, real, strlen(real)));
}

static bool prepare_argv(struct rt_run *run)
{
    struct own *own = run->own;
    size_t n = 0;
    while (run->argv[n])
        n++;
    const char **argv = own->argv = rt_alloc(run, N_WORDS + n + 1, sizeof *argv);
    const char *define = rt_printf(run, "TMPDIR=%s", run->tmpdir ? run->tmpdir : "");
    if (!argv || !define)
        return false;
    size_t at = 0;
    if (run->policy.confine) {
        fill_words(run, argv, define);
        /* The path that was judged, so that nothing else is looked up inside. */
        argv[N_WORDS] = own->command;
        at = N_WORDS + 1;
    } else {
        argv[at++] = run->argv[0];
    }
    for (size_t i = 1; i < n; i++)
        argv[at++] = run->argv[i];
    return true;
}

static bool make_tmpdir(struct rt_run *run)
{
    struct own *own = run->own;
    if (!run->tmpdir)
        return true;
    const char *home = rt_printf(run, "%s/home", run->tmpdir);
    own->made = home && !mkdir(run->tmpdir, 0700);
    if (!own->made || mkdir(home, 0700))
        return rt_fail_errno(run, errno, "tmpdir", "`%s` cannot be made", run->tmpdir);
    return true;
}

static bool prepare(struct rt_run *run)
{
    return check_grants(run) && prepare_command(run) && prepare_argv(run) && make_tmpdir(run);
}

/* ---- Start ------------------------------------------------------------------------------------------- */

/* In the child: never returns. With a terminal the command stays in this job, so that its keys reach both. */
static _Noreturn void become(const struct rt_run *run, pid_t parent, int report)
{
    const struct own *own = run->own;
    sigset_t none;
    sigemptyset(&none);
    bool ok = !prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) && getppid() == parent;
    ok = ok && (run->terminal || setsid() >= 0) && !chdir(run->workdir);
    if (ok && !sys_close_range(3, ~0u, true) && !sigprocmask(SIG_SETMASK, &none, NULL))
        execve(run->policy.confine ? run->tool : own->command, (char *const *)own->argv, run->envp);
    int error = errno;
    ssize_t written = write(report, &error, sizeof error);
    (void)written;
    _exit(RT_EXIT_REFUSED);
}

static bool start(struct rt_run *run)
{
    const struct own *own = run->own;
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC))
        return rt_fail_errno(run, errno, "start", "a pipe cannot be made");
    pid_t parent = getpid();
    pid_t pid = fork();
    if (!pid)
        become(run, parent, ends[1]);
    if (pid < 0)
        error = errno;
    close(ends[1]);
    bool failed = pid < 0 || read(ends[0], &error, sizeof error) == (ssize_t)sizeof error;
    close(ends[0]);
    if (pid > 0)
        run->child = pid;
    return !failed || rt_fail_errno(run, error, "start", "`%s` cannot be started", own->argv[0]);
}

/* ---- End --------------------------------------------------------------------------------------------- */

static void pass_signal(struct rt_run *run, int sig, bool all)
{
    /* Once its end is known it is reaped, and its number may be another's. */
    if (run->child <= 0 || run->outcome.known)
        return;
    /* For all: its session's first group; what has left that gets the KILL that follows. */
    kill(all && !run->terminal ? -run->child : run->child, sig);
}

/* SIGKILL for every child of ours that still runs; false if there is none. The end of the command
 * itself is left for supervise.c to see. */
static bool kill_children(const struct rt_run *run)
{
    char path[64];
    int pid, status;
    bool alive = false;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *list = fopen(path, "re");
    while (list && fscanf(list, "%d", &pid) == 1) {
        siginfo_t info = {0};
        if (rt_is_foreign(run, pid))
            continue;
        if (pid != run->child && waitpid(pid, &status, WNOHANG) == pid)
            continue;
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid)
            continue;
        kill(pid, SIGKILL);
        alive = true;
    }
    if (list)
        fclose(list);
    return alive;
}

/* sbxrun is a subreaper (supervise.c): when a child dies, what it leaves behind becomes a child of sbxrun,
 * whatever session it has gone to. So killing children until there are none ends all. */
static void kill_all(struct rt_run *run)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    enum { ROUNDS = 10000 };
    for (int i = 0; i < ROUNDS && kill_children(run); i++)
        nanosleep(&pause, NULL);
}

static void done(struct rt_run *run)
{
    struct own *own = run->own;
    if (own->made && !tree_remove(run->tmpdir))
        rt_fail_errno(run, errno, "tmpdir", "`%s` cannot be removed", run->tmpdir);
}

const struct rt_engine rt_engine_seatbelt = {
    .target = "seatbelt",
    .places = PLACES,
    .load = load,
    .check = check,
    .place = place,
    .prepare = prepare,
    .start = start,
    .signal = pass_signal,
    .kill = kill_all,
    .adopts = true,
    .done = done,
};
