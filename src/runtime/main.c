/* sbxrun: runs one command under one artifact.
 *
 * Files, in the order in which a run passes through them:
 *   main.c               options, order of steps, message and exit status
 *   load.c               bytes, kind, run section, digest
 *   load_landlock.c      the blob's body; engine_*_read.c: the text formats' bodies
 *   engines.c            the table of engines
 *   place.c              working folder, TMPDIR, opening of grants
 *   env.c                the command's environment
 *   engine_*.c           one target each: what this host can enforce, preparing, starting
 *   supervise.c          deadline, signals, end
 *   stage.c              first process inside the sandbox; view.c: its private view; seal.c: bwrap's, sealed
 *   run.c, sys.c         failures, memory, children; system calls
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../units.h"
#include "runtime.h"
#include "stage.h"
#include "sys.h"

/* ---- Options ----------------------------------------------------------------------------------------- */

enum option_id { OPTION_TOOL, OPTION_CWD, OPTION_TIMEOUT, OPTION_EXPECT_DIGEST, OPTION_HELP, OPTION_VERSION };

static const struct option {
    const char *name;
    enum option_id id;
    const char *value; /* NULL: it takes none */
    const char *help;
} OPTIONS[] = {
    {"--tool", OPTION_TOOL, "PATH",
     "the engine's tool (bwrap, docker, sandbox-exec), instead of its fixed places"},
    {"--cwd", OPTION_CWD, "DIR", "working folder of the command; it must be inside the sandbox"},
    {"--timeout", OPTION_TIMEOUT, "TIME",
     "a deadline shorter than the artifact's: 250ms, 60, 60s, 5m, 1h30m"},
    {"--expect-digest", OPTION_EXPECT_DIGEST, "HEX", "refuse an artifact of another body digest"},
    {"--help", OPTION_HELP, NULL, "print this and end"},
    {"--version", OPTION_VERSION, NULL, "print the version and end"},
};
enum { N_OPTIONS = sizeof OPTIONS / sizeof *OPTIONS };

static void print_help(void)
{
    printf("Usage: sbxrun [OPTIONS] ARTIFACT -- COMMAND [ARG...]\n"
           "Runs COMMAND confined as ARTIFACT, made by sbxc, says.\n\n");
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option *o = &OPTIONS[i];
        printf("  %s%s%-*s %s\n", o->name, o->value ? " " : "",
               (int)(24 - strlen(o->name) - (o->value ? 1 : 0)), o->value ? o->value : "", o->help);
    }
    printf(
        "\nCOMMAND without a slash is looked up in the PATH that it will have inside.\n"
        "Exit status: the command's own; 128 + n if signal n ended it; 124 timed out; 125 sbxrun refused or\n"
        "failed, the command did not start; 126 it cannot be executed; 127 it was not found.\n");
}

/* Does the argument name the option? *out_value is set if it does so as --name=VALUE. */
static bool names(const char *arg, const struct option *o, const char **out_value)
{
    size_t n = strlen(o->name);
    *out_value = NULL;
    if (strncmp(arg, o->name, n) != 0)
        return false;
    if (o->value && arg[n] == '=')
        *out_value = arg + n + 1;
    return !arg[n] || *out_value;
}

static bool set_option(struct rt_run *run, const struct option *o, const char *value)
{
    struct rt_options *to = &run->options;
    const char *why;
    switch (o->id) {
    case OPTION_TOOL:
        to->tool = value;
        return *value == '/' || rt_fail(run, "usage", "--tool `%s` is not absolute", value);
    case OPTION_CWD:
        to->cwd = value;
        return true;
    case OPTION_TIMEOUT:
        why = units_duration(value, strlen(value), &to->timeout_ms);
        return !why || rt_fail(run, "usage", "--timeout `%s`: %s", value, why);
    case OPTION_EXPECT_DIGEST:
        to->expect_digest = value;
        return (strlen(value) == 64 && strspn(value, "0123456789abcdef") == 64) ||
               rt_fail(run, "usage", "--expect-digest `%s` is not 64 lower-case hexadecimal digits", value);
    case OPTION_HELP:
    case OPTION_VERSION:
        break;
    }
    return true;
}

/* Returns what stands behind `--`, or NULL: after a failure, or with *out_info set to what is to print. */
static char **parse(struct rt_run *run, char **args, const struct option **out_info)
{
    for (; *args && strcmp(*args, "--") != 0; args++) {
        const struct option *o = NULL;
        const char *value = NULL;
        for (size_t i = 0; i < N_OPTIONS && !o; i++)
            if (names(*args, &OPTIONS[i], &value))
                o = &OPTIONS[i];
        if (!o && **args == '-')
            return rt_fail(run, "usage", "unknown option `%s`; try --help", *args), NULL;
        if (o && !o->value) {
            *out_info = o;
            return NULL;
        }
        if (!o) {
            if (run->options.artifact)
                return rt_fail(run, "usage", "`%s` behind the artifact; the command stands behind `--`",
                               *args),
                       NULL;
            run->options.artifact = *args;
            continue;
        }
        if (!value && !(value = *++args))
            return rt_fail(run, "usage", "%s needs a %s", o->name, o->value), NULL;
        if (!set_option(run, o, value))
            return NULL;
    }
    if (!run->options.artifact)
        return rt_fail(run, "usage", "no artifact is named; try --help"), NULL;
    if (!args[0] || !args[1] || !*args[1])
        return rt_fail(run, "usage", "no command is named behind `--`; try --help"), NULL;
    return args + 1;
}

/* ---- Steps ------------------------------------------------------------------------------------------- */

/* What the caller left us of signals must not decide how we end. An ignored SIGCHLD would let the kernel throw
 * away the status of every child. PIPE (stderr is closed) and XFSZ (ulimit -f) would end us with a status that
 * reads as the command's; blocked, the call fails, and that is said. They are not ignored, because that would
 * be inherited: whoever starts a program here unblocks all, and leaves it what the caller ignores. */
static bool tame_signals(void)
{
    sigset_t fatal;
    sigemptyset(&fatal);
    sigaddset(&fatal, SIGPIPE);
    sigaddset(&fatal, SIGXFSZ);
    return signal(SIGCHLD, SIG_DFL) != SIG_ERR && !sigprocmask(SIG_SETMASK, &fatal, NULL);
}

/* Stands in for a closed standard stream: reads end at once, writes fail, as they would without it. It has no
 * place on the host, so nothing there can be changed through it: of /dev/null a command as root could change
 * mode and times. Takes the lowest descriptor that is free, and is inherited. */
static int open_nothing(void)
{
    int fd = memfd_create("closed", MFD_ALLOW_SEALING);
    if (fd < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
        return -1;
    return fd;
}

/* A missing standard stream would become the next file opened. A folder among them is a way out of any view
 * of files: paths can be opened relative to it. So is a descriptor opened for a path alone. */
static bool check_streams(struct rt_run *run)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        struct stat st;
        int flags = fcntl(fd, F_GETFL);
        if (flags < 0) {
            if (open_nothing() != fd)
                return rt_fail_errno(run, errno, "streams", "nothing can stand in for descriptor %d", fd);
        } else if (flags & O_PATH || fstat(fd, &st) || S_ISDIR(st.st_mode)) {
            return rt_fail(run, "streams", "descriptor %d is a folder or names a path alone", fd);
        }
    }
    return true;
}

static bool open_scratch(struct rt_run *run, char **argv)
{
    /* Pages count only once they are used; the bound keeps a run's memory in proportion to its input. */
    struct stat st;
    size_t text = stat(run->options.artifact, &st) ? 0 : (size_t)st.st_size;
    for (char **s = argv; *s; s++)
        text += strlen(*s) + 32;
    for (char *const *s = run->caller_env; *s; s++)
        text += strlen(*s) + 32;
    run->scratch_cap = ((size_t)4 << 20) + 16 * text;
    run->scratch = mmap(NULL, run->scratch_cap, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return run->scratch != MAP_FAILED || rt_fail_errno(run, errno, "memory", "%zu bytes", run->scratch_cap);
}

static bool check_timeout(struct rt_run *run)
{
    char longest[32];
    units_print_duration(run->policy.timeout_ms, longest);
    if (run->policy.timeout_ms && run->options.timeout_ms > run->policy.timeout_ms)
        return rt_fail(run, "usage", "--timeout may only shorten the artifact's %s", longest);
    return true;
}

static bool find_tool(struct rt_run *run)
{
    const char *const *places = run->engine->places;
    if (!places)
        return !run->options.tool || rt_fail(run, "usage", "%s needs no --tool", run->engine->target);
    const char *const given[] = {run->options.tool, NULL};
    for (const char *const *p = run->options.tool ? given : places; *p; p++) {
        run->tool_fd = open(*p, O_PATH | O_CLOEXEC);
        if (run->tool_fd < 0)
            continue;
        run->tool = *p;
        return true;
    }
    if (run->options.tool)
        return rt_fail_errno(run, errno, "host", "`%s`", run->options.tool);
    return rt_fail(run, "host", "the tool for %s is not here: there is no %s", run->engine->target,
                   places[0]);
}

/* The name that sbxrun was started by, which a link in a grant may have lent. Where it names another file by now,
 * or none, it is nobody's next start. */
static bool protect_own_name(struct rt_run *run)
{
    const char *name = (const char *)getauxval(AT_EXECFN);
    struct stat own, named;
    if (!name || stat("/proc/self/exe", &own) || stat(name, &named))
        return true;
    return own.st_dev != named.st_dev || own.st_ino != named.st_ino || rt_protect(run, name, "sbxrun");
}

static bool protect_self(struct rt_run *run)
{
    if (!rt_protect(run, run->options.artifact, "the artifact"))
        return false;
    if (run->protect[0].dev != run->artifact.st.st_dev || run->protect[0].ino != run->artifact.st.st_ino)
        return rt_fail(run, "artifact", "`%s` was exchanged while it was read", run->options.artifact);
    return rt_protect(run, "/proc/self/exe", "sbxrun") && protect_own_name(run) &&
           (!run->tool || rt_protect(run, run->tool, "the engine's tool"));
}

/* Every descriptor that the caller left open, but the standard streams and what was opened here. */
static bool close_inherited(struct rt_run *run)
{
    /* All of ours so far are closed again, but the tool. */
    int tool = run->tool_fd;
    unsigned first = STDERR_FILENO + 1;
    if (tool >= 0 && tool != (int)first) {
        if (dup3(tool, (int)first, O_CLOEXEC) < 0)
            return rt_fail_errno(run, errno, "descriptors", "one cannot be moved");
        run->tool_fd = (int)first;
    }
    if (sys_close_range(tool >= 0 ? first + 1 : first, ~0u, false))
        return rt_fail_errno(run, errno, "descriptors", "the inherited ones cannot be closed");
    return true;
}

/* The whole run, in order; see runtime.h. */
static bool run_all(struct rt_run *run)
{
    /* It would lend its rights to whoever calls it. */
    if (getauxval(AT_SECURE))
        return rt_fail(run, "host",
                       "sbxrun is not made to be set-user-ID, set-group-ID or to hold capabilities");
    if (!rt_load(run) || !check_timeout(run))
        return false;
    const struct rt_engine *e = run->engine;
    if (!find_tool(run) || !protect_self(run) || !close_inherited(run) || !e->check(run))
        return false;
    if (!e->place(run) || !rt_environment(run))
        return false;
    bool ok = e->prepare(run) && rt_supervise(run);
    if (e->done)
        e->done(run);
    return ok;
}

/* ---- Result ------------------------------------------------------------------------------------------ */

/* One line, whatever bytes the paths in it hold, in one write. */
static void print_error(const struct rt_error *e)
{
    char line[4 * RT_WHY_MAX + 64];
    size_t n = (size_t)snprintf(line, sizeof line, "sbxrun: %s: ", e->step);
    for (const char *c = e->why; *c && n + 5 < sizeof line; c++) {
        unsigned char b = (unsigned char)*c;
        if (b < 0x20 || b == 0x7f)
            n += (size_t)snprintf(line + n, sizeof line - n, "\\x%02x", b);
        else
            line[n++] = *c;
    }
    line[n++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, n);
    (void)written;
}

/* 124 may be the command's own status as well: the line tells them apart. */
static int timed_out(const struct rt_run *run)
{
    char limit[32];
    struct rt_error e = {.step = "timeout"};
    units_print_duration(run->options.timeout_ms ? run->options.timeout_ms : run->policy.timeout_ms, limit);
    snprintf(e.why, sizeof e.why, "`%.512s` was ended after %s", run->argv[0], limit);
    print_error(&e);
    return RT_EXIT_TIMEOUT;
}

static int exit_status(struct rt_run *run)
{
    const struct rt_outcome *o = &run->outcome;
    if (!run->error.status && o->timed_out)
        return timed_out(run);
    if (!run->error.status && o->known)
        return WIFSIGNALED(o->wait) ? 128 + WTERMSIG(o->wait) : WEXITSTATUS(o->wait);
    rt_fail(run, "supervise", "the command's end is unknown");
    print_error(&run->error);
    return run->error.status;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[0], STAGE_EXEC_PATH) && !strcmp(argv[1], STAGE_NAME))
        stage_main();
    static struct rt_run run; /* zero; too large for the stack's taste */
    const struct option *info = NULL;
    run.caller_env = environ;
    run.tool_fd = run.control = -1;
    if (!tame_signals() || !check_streams(&run) || !argc)
        return exit_status(&run);
    char **command = parse(&run, argv + 1, &info);
    if (info) {
        if (info->id == OPTION_HELP)
            print_help();
        else
            puts("sbxrun " SBX_VERSION);
        return fflush(stdout) ? RT_EXIT_REFUSED : 0;
    }
    pid_t group = tcgetpgrp(STDIN_FILENO);
    run.argv = command;
    run.terminal = group >= 0;
    run.foreground = group == getpgrp();
    if (command && open_scratch(&run, command))
        run_all(&run);
    return exit_status(&run);
}
