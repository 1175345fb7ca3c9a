/* docker and podman: the words of the artifact, checked, with what only the launch knows.
 *
 * The engine is a service (docker) or keeps its containers apart from the client (podman), so the end of the
 * client is not the end of the command: the container has a name of our own, by which it is ended whenever
 * the client's end does not say that it is gone, and a guard does so if sbxrun itself is killed.
 *
 * The client runs with a fixed environment: DOCKER_HOST, DOCKER_CONTEXT, proxies and loader variables of the
 * caller would send the run to another engine or code into the client. Values for the command go by a memory
 * file, never by the client's environment or command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine_docker.h"
#include "runtime.h"
#include "sys.h"

/* Descriptors of the client. */
enum { PROFILE_FD = 12, VALUES_FD = 13 };
#define PROFILE_WORD "seccomp=/proc/self/fd/12"
#define VALUES_WORD "/proc/self/fd/13"

/* How long a client that ends or removes a container may take: an engine that hangs must not hang sbxrun. */
enum { HELPER_SECONDS = 15 };

enum { NAME_RANDOM_BYTES = 10 };

struct own {
    struct docker_words words;
    char **argv; /* of the client */
    size_t n_argv, cap_argv;
    char **client_env;
    const char *name; /* of the container */
    int profile, values;
    bool podman;
    bool *missing;   /* per mount: optional, and not there */
    bool may_remain; /* the client was started and has not said that the container is gone */
    pid_t guard;
    int guard_pipe; /* the guard acts when it closes without a byte */
};

static const char *const PLACES[] = {"/usr/bin/docker", "/usr/local/bin/docker", "/usr/bin/podman", NULL};

/* ---- Load and check ---------------------------------------------------------------------------------- */

static bool load(struct rt_run *run)
{
    const char *data = (const char *)run->artifact.data;
    size_t len = run->artifact.body_end, n = 0;
    struct own *own = rt_alloc(run, 1, sizeof *own);
    for (size_t i = 0; i < len; i++)
        n += data[i] == '\0';
    if (!own)
        return false;
    *own = (struct own){.profile = -1, .values = -1, .guard_pipe = -1};
    own->words.words = rt_alloc(run, n + 1, sizeof *own->words.words);
    own->words.mounts = rt_alloc(run, n / 2 + 1, sizeof *own->words.mounts);
    own->words.paths = rt_alloc(run, 2 * len + 1, 1);
    if (!own->words.words || !own->words.mounts || !own->words.paths)
        return false;
    run->own = own;
    const char *wrong = docker_read(data, len, &run->policy, &own->words);
    return wrong ? rt_fail(run, "artifact", "not a file that sbxc wrote: %s", wrong) : true;
}

static bool check(struct rt_run *run)
{
    struct own *own = run->own;
    const char *slash = strrchr(run->tool, '/');
    own->podman = strstr(slash ? slash : run->tool, "podman") != NULL;
    /* The engine is asked by `run` itself: whatever it lacks ends that with 125 before the command starts. */
    return true;
}

/* ---- Grants ------------------------------------------------------------------------------------------ */

static const char *clause(struct rt_run *run, const struct docker_mount *m)
{
    const char *text = rt_printf(run, "%s \"%s\"", m->write ? "write" : "read", m->source);
    return text ? text : "a grant";
}

/* The engine takes sources by path only, so this look says what is wrong early; it holds nothing in place. */
static bool check_source(struct rt_run *run, const struct docker_mount *m, bool *out_missing)
{
    struct stat st;
    int fd = rt_open_grant(m->source, false);
    if (fd < 0) {
        *out_missing = m->optional && (errno == ENOENT || errno == ENOTDIR);
        return *out_missing ? true : rt_fail_errno(run, errno, "grant", "%s", clause(run, m));
    }
    bool known = !fstat(fd, &st);
    int error = errno;
    close(fd);
    if (!known)
        return rt_fail_errno(run, error, "grant", "%s", clause(run, m));
    if (m->folder && !S_ISDIR(st.st_mode))
        return rt_fail(run, "grant", "%s: it is no folder any more", clause(run, m));
    /* By its other names a grant may be a part of a larger one, whose own mount was looked at. */
    if (!m->folder && S_ISDIR(st.st_mode) && !strcmp(m->source, m->dest))
        return rt_fail(run, "grant", "%s: it has become a folder", clause(run, m));
    return m->write ? rt_check_grant(run, &st, clause(run, m)) : true;
}

static bool check_sources(struct rt_run *run)
{
    struct own *own = run->own;
    own->missing = rt_alloc(run, own->words.n_mounts, sizeof *own->missing);
    if (!own->missing)
        return false;
    for (size_t i = 0; i < own->words.n_mounts; i++)
        if (!check_source(run, &own->words.mounts[i], &own->missing[i]))
            return false;
    return true;
}

static bool sees(struct rt_run *run, const char *path)
{
    const struct own *own = run->own;
    if (!strcmp(path, "/"))
        return true;
    for (size_t i = 0; i < own->words.n_mounts; i++)
        if (!own->missing[i] && rt_grant_shows(path, own->words.mounts[i].dest))
            return true;
    return false;
}

static bool place(struct rt_run *run)
{
    if (!check_sources(run) || !rt_place_on_host(run, sees))
        return false;
    run->tmpdir = run->policy.tmpdirs.items[0]; /* in the container, whatever stands there on the host */
    return true;
}

/* ---- The client's command line ------------------------------------------------------------------------ */

static void add(struct own *own, const char *word)
{
    if (own->n_argv < own->cap_argv)
        own->argv[own->n_argv] = (char *)word; /* execve takes them so, and changes nothing */
    own->n_argv++;
}

static void add_pair(struct own *own, const char *option, const char *value)
{
    add(own, option);
    add(own, value);
}

/* TMPDIR and HOME belong to the user alone, now that it is known. podman has its own word for it. */
static const char *narrow_tmpfs(struct rt_run *run, const char *word)
{
    const struct own *own = run->own;
    size_t n = strlen(word) - strlen("mode=1777");
    if (own->podman)
        return rt_printf(run, "%.*smode=0700,U", (int)n, word);
    return rt_printf(run, "%.*smode=0700,uid=%u,gid=%u", (int)n, word, (unsigned)getuid(),
                     (unsigned)getgid());
}

static bool add_words(struct rt_run *run)
{
    struct own *own = run->own;
    const struct docker_words *w = &own->words;
    for (size_t i = 0, m = 0; i < w->n_words; i++) {
        if (m < w->n_mounts && w->mounts[m].at == i) {
            size_t last = i + (w->mounts[m].optional ? 3 : 1);
            for (size_t k = i; k <= last && !own->missing[m]; k++)
                add(own, w->words[k]);
            i = last;
            m++;
        } else if (!strcmp(w->words[i], "--tmpfs")) {
            const char *narrowed = narrow_tmpfs(run, w->words[++i]);
            if (!narrowed)
                return false;
            add_pair(own, "--tmpfs", narrowed);
        } else {
            add(own, w->words[i]);
        }
    }
    return true;
}

static bool choose_name(struct rt_run *run)
{
    struct own *own = run->own;
    unsigned char random[NAME_RANDOM_BYTES];
    char hex[2 * NAME_RANDOM_BYTES + 1];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return rt_fail_errno(run, errno, "docker", "no random bytes for the container's name");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(hex + 2 * i, 3, "%02x", random[i]);
    own->name = rt_printf(run, "sbx-%s", hex);
    return own->name != NULL;
}

static bool add_launch(struct rt_run *run)
{
    struct own *own = run->own;
    const char *user = rt_printf(run, "%u:%u", (unsigned)getuid(), (unsigned)getgid());
    if (!user || !choose_name(run))
        return false;
    /* podman's --read-only leaves /run, /tmp and /var/tmp writable. */
    if (own->podman)
        add(own, "--read-only-tmpfs=false");
    add_pair(own, "--name", own->name);
    add_pair(own, "--user", user);
    add_pair(own, "--security-opt", PROFILE_WORD);
    add_pair(own, "--env-file", VALUES_WORD);
    add_pair(own, "--entrypoint", ""); /* the image's own would get the command as arguments */
    add_pair(own, "--workdir", run->workdir);
    add(own, "--interactive");
    if (run->terminal && isatty(STDOUT_FILENO))
        add(own, "--tty");
    add_pair(own, "--", run->policy.image);
    for (size_t i = 0; run->argv[i]; i++)
        add(own, run->argv[i]);
    return true;
}

/* ---- Mounts beneath grants of reading ------------------------------------------------------------------ */

/* The mount of the file that decides on a path of the host: the deepest at or above it, by its source. */
static const struct docker_mount *deciding(const struct own *own, const char *path)
{
    const struct docker_mount *found = NULL;
    for (size_t i = 0; i < own->words.n_mounts; i++) {
        const struct docker_mount *m = &own->words.mounts[i];
        if (rt_path_within(path, m->source) && (!found || strlen(m->source) > strlen(found->source)))
            found = m;
    }
    return found;
}

/* `readonly` holds for the mount itself: before docker 25, and in podman, what is mounted beneath the source
 * stays writable. So each such mount becomes one of its own. */
static bool add_mount_beneath(struct rt_run *run, const struct docker_mount *m, const char *path)
{
    struct own *own = run->own;
    enum { RECORD_MAX = 4 * 4096 };
    size_t n = strlen(m->source);
    const char *dest = rt_printf(run, "%s%s", m->dest, path + (n == 1 ? 0 : n));
    char *record = dest ? rt_alloc(run, RECORD_MAX, 1) : NULL;
    if (!record)
        return false;
    char *to = stpcpy(record, "type=bind,");
    size_t source = docker_csv_field(to, RECORD_MAX / 2, "src", path);
    to = stpcpy(to + source, ",");
    size_t rest = (size_t)(record + RECORD_MAX - to) - sizeof ",readonly";
    size_t target = docker_csv_field(to, rest, "dst", dest);
    if (!source || !target)
        return rt_fail(run, "grant", "`%s` is mounted beneath %s, and its name is too long", path,
                       clause(run, m));
    strcpy(to + target, ",readonly");
    add_pair(own, "--mount", record);
    return true;
}

static bool add_mounts_beneath(struct rt_run *run, const char *path)
{
    struct own *own = run->own;
    const struct docker_mount *deepest = deciding(own, path);
    if (!deepest || deepest->write || !strcmp(deepest->source, path))
        return true;
    for (size_t i = 0; i < own->words.n_mounts; i++) {
        const struct docker_mount *m = &own->words.mounts[i];
        bool here = !own->missing[i] && !strcmp(m->source, deepest->source);
        if (here && !add_mount_beneath(run, m, path))
            return false;
    }
    return true;
}

/* The mount point of a line of mountinfo (proc_pid_mountinfo(5)), with its \ooo taken back, in place. */
static char *mount_point(char *line)
{
    char *save, *field = strtok_r(line, " ", &save);
    for (int i = 0; i < 4 && field; i++)
        field = strtok_r(NULL, " ", &save);
    if (!field)
        return NULL;
    char *to = field;
    for (const char *s = field; *s; to++) {
        if (*s == '\\' && s[1] && s[2] && s[3]) {
            *to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
            s += 4;
        } else {
            *to = *s++;
        }
    }
    *to = '\0';
    return field;
}

static size_t count_mounts(FILE *f)
{
    size_t n = 0;
    for (int c; (c = getc(f)) != EOF;)
        n += c == '\n';
    rewind(f);
    return n;
}

static bool each_mount(struct rt_run *run, FILE *f)
{
    char *line = NULL, *path;
    size_t cap = 0;
    bool ok = true;
    while (ok && getline(&line, &cap, f) > 0)
        if ((path = mount_point(line)))
            ok = add_mounts_beneath(run, path);
    free(line);
    return ok;
}

/* ---- Environment ------------------------------------------------------------------------------------- */

static bool is_in_words(const struct own *own, const char *entry, size_t name_len)
{
    const struct docker_words *w = &own->words;
    for (size_t i = 0; i + 1 < w->n_words; i++)
        if (!strcmp(w->words[i], "--env") && !strncmp(w->words[i + 1], entry, name_len + 1))
            return true;
    return false;
}

/* The file of --env-file knows no quoting: a line is a variable, leading blanks and `#` are no part of a
 * name, and the CR of a CR LF is dropped. */
static bool fits_line(const char *entry)
{
    size_t name = strcspn(entry, "="), len = strlen(entry);
    for (size_t i = 0; i < name; i++)
        if (entry[i] <= ' ' || entry[i] > '~')
            return false;
    return name && entry[0] != '#' && !strchr(entry, '\n') && entry[len - 1] != '\r';
}

static bool make_values(struct rt_run *run)
{
    struct own *own = run->own;
    size_t len = 0;
    for (size_t i = 0; run->envp[i]; i++)
        len += strlen(run->envp[i]) + 1;
    char *text = rt_alloc(run, len + 1, 1), *to = text;
    if (!text)
        return false;
    for (size_t i = 0; run->envp[i]; i++) {
        const char *entry = run->envp[i];
        size_t name = strcspn(entry, "=");
        if (is_in_words(own, entry, name))
            continue;
        if (!fits_line(entry))
            return rt_fail(run, "environment",
                           "`%.*s` cannot be handed to the container: its name has blanks, or "
                           "its value a line break",
                           (int)name, entry);
        to = stpcpy(stpcpy(to, entry), "\n");
    }
    own->values = rt_memfd(run, "sbx-values", text, (size_t)(to - text));
    return own->values >= 0;
}

static bool make_profile(struct rt_run *run)
{
    struct own *own = run->own;
    char *text = rt_alloc(run, DOCKER_PROFILE_MAX, 1);
    if (!text)
        return false;
    size_t len = docker_profile(text, DOCKER_PROFILE_MAX, !strcmp(run->policy.network, "open"));
    if (!len)
        return rt_fail(run, "seccomp", "the profile does not fit");
    own->profile = rt_memfd(run, "sbx-profile", text, len);
    return own->profile >= 0;
}

/* Of this user in /etc/passwd: podman keeps images and settings there. HOME of the caller could lead
 * elsewhere. */
static const char *home(struct rt_run *run)
{
    const char *found = "/";
    char *line = NULL;
    size_t cap = 0;
    FILE *f = fopen("/etc/passwd", "re");
    while (f && getline(&line, &cap, f) > 0) {
        char *field[7], *rest = line;
        size_t n = 0;
        while (n < 7 && (field[n] = strsep(&rest, ":\n")))
            n++;
        if (n < 7 || strtoul(field[2], NULL, 10) != getuid() || field[5][0] != '/')
            continue;
        found = rt_strn(run, field[5], strlen(field[5]));
        break;
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

static bool make_client_env(struct rt_run *run)
{
    struct own *own = run->own;
    const char *folder = home(run);
    char **env = rt_alloc(run, 4, sizeof *env);
    if (!folder || !env)
        return false;
    env[0] = rt_printf(run, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    env[1] = rt_printf(run, "HOME=%s", folder);
    /* docker: nothing of the caller's contexts, proxies and plug-ins. podman would take the name for that of
     * a file with passwords, and miss it; rootless, it keeps its state where the second leads. */
    env[2] = own->podman ? rt_printf(run, "XDG_RUNTIME_DIR=/run/user/%u", (unsigned)getuid())
                         : rt_printf(run, "DOCKER_CONFIG=/nonexistent");
    own->client_env = env;
    return env[0] && env[1] && env[2];
}

/* ---- Prepare ----------------------------------------------------------------------------------------- */

static bool make_argv(struct rt_run *run, FILE *mounts)
{
    struct own *own = run->own;
    size_t n_command = 0;
    while (run->argv[n_command])
        n_command++;
    enum { OWN_WORDS = 32 };
    own->cap_argv =
        own->words.n_words + 2 * count_mounts(mounts) * (own->words.n_mounts + 1) + n_command + OWN_WORDS;
    own->argv = rt_alloc(run, own->cap_argv, sizeof *own->argv);
    if (!own->argv)
        return false;
    add_pair(own, run->tool, "run");
    if (!add_words(run) || !each_mount(run, mounts) || !add_launch(run))
        return false;
    /* The last element stays NULL. */
    return own->n_argv < own->cap_argv ? true : rt_fail(run, "docker", "the words do not fit");
}

static bool prepare(struct rt_run *run)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    if (!mounts)
        return rt_fail_errno(run, errno, "grant", "mounts cannot be listed by /proc/self/mountinfo");
    bool ok = make_argv(run, mounts);
    fclose(mounts);
    return ok && make_profile(run) && make_values(run) && make_client_env(run);
}

/* ---- Ending the container ---------------------------------------------------------------------------- */

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

static pid_t spawn_silent(const struct rt_run *run, char *const *argv)
{
    const struct own *own = run->own;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    pid_t pid = -1;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files))
        return -1;
    if (!posix_spawnattr_init(&attr)) {
        bool ok = !posix_spawnattr_setsigmask(&attr, &none) &&
                  !posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
        for (int fd = 0; fd < 3 && ok; fd++)
            ok = !posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
        if (!ok || posix_spawn(&pid, run->tool, &files, &attr, argv, own->client_env))
            pid = -1;
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* Runs the client with the words and the container's name; true if it ended with 0 in time. */
static bool ask(const struct rt_run *run, const char *first, const char *second)
{
    const struct own *own = run->own;
    const char *argv[] = {run->tool, first, second, own->name, NULL};
    enum { STEP_MS = 5 };
    int wait = -1;
    pid_t pid = spawn_silent(run, (char *const *)argv);
    for (long ms = 0; pid > 0; ms += STEP_MS) {
        pid_t got = waitpid(pid, &wait, WNOHANG);
        if (got == pid)
            return WIFEXITED(wait) && !WEXITSTATUS(wait);
        if (got < 0 && errno != EINTR)
            return false;
        if (ms >= HELPER_SECONDS * 1000) {
            kill(pid, SIGKILL);
            waitpid(pid, &wait, 0);
            return false;
        }
        pause_ms(STEP_MS);
    }
    return false;
}

/* If sbxrun is killed, so is its client (rt_spawn), and the engine goes on: somebody has to be left. The
 * client may have asked for the container right before its end, so one look is not enough. */
static _Noreturn void guard(struct rt_run *run, int pipe)
{
    char byte;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    if (dup2(pipe, 3) != 3 || sys_close_range(4, ~0u, false))
        _exit(1);
    ssize_t n;
    while ((n = read(3, &byte, 1)) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < 3 && !n; i++) {
        pause_ms(i * 700);
        ask(run, "rm", "-f");
    }
    _exit(0);
}

static bool start_guard(struct rt_run *run)
{
    struct own *own = run->own;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return rt_fail_errno(run, errno, "docker", "a pipe cannot be made");
    own->guard = fork();
    if (!own->guard) {
        close(ends[1]);
        guard(run, ends[0]);
    }
    int error = errno;
    close(ends[0]);
    own->guard_pipe = ends[1];
    return own->guard > 0 ? true : rt_fail_errno(run, error, "docker", "the guard cannot be started");
}

static void dismiss_guard(struct own *own)
{
    if (own->guard_pipe < 0)
        return;
    while (write(own->guard_pipe, "", 1) < 0 && errno == EINTR)
        ;
    close(own->guard_pipe);
    own->guard_pipe = -1;
    while (waitpid(own->guard, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- Run --------------------------------------------------------------------------------------------- */

static bool start(struct rt_run *run)
{
    struct own *own = run->own;
    const struct rt_fd fds[] = {{own->profile, PROFILE_FD}, {own->values, VALUES_FD}};
    if (!start_guard(run))
        return false;
    own->may_remain = true;
    /* By path: a wrapper script cannot be run from a descriptor that closes on exec. */
    return rt_spawn(run, -1, run->tool, own->argv, own->client_env, fds, sizeof fds / sizeof *fds);
}

/* Not yet waited for, so that its number is still its own. */
static bool is_child(pid_t pid)
{
    siginfo_t info;
    return pid > 0 && !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
}

/* The client passes signals on to the container's init, and that to the command alone: an engine has no way
 * to reach all processes of a container but to end it. */
static void pass_signal(struct rt_run *run, int sig, bool all)
{
    (void)all;
    if (is_child(run->child))
        kill(run->child, sig);
}

static void end(struct rt_run *run)
{
    /* Not created yet or gone already: then only the client is left. */
    if (!ask(run, "kill", "--signal=KILL") && is_child(run->child))
        kill(run->child, SIGKILL);
    dismiss_guard(run->own); /* else its end would be waited for */
}

static bool ended(struct rt_run *run, int wait)
{
    struct own *own = run->own;
    int status = WIFEXITED(wait) ? WEXITSTATUS(wait) : -1;
    /* After its end the client waits for --rm. With a terminal a key sequence detaches it, which looks the
     * same. */
    own->may_remain = status < 0 || status == RT_EXIT_REFUSED || run->terminal;
    dismiss_guard(own);
    if (run->outcome.timed_out)
        return true;
    if (status < 0)
        return rt_fail(run, "docker", "the client `%s` was ended by signal %d", run->tool, WTERMSIG(wait));
    if (status == RT_EXIT_REFUSED)
        return rt_fail(run, "docker", "`%s run` refused or failed (status 125)", run->tool);
    run->outcome.known = true;
    run->outcome.wait = wait; /* 126, 127 and 128 + n mean the same to the engine */
    return true;
}

static void done(struct rt_run *run)
{
    struct own *own = run->own;
    if (own->may_remain)
        ask(run, "rm", "-f");
    dismiss_guard(own);
}

const struct rt_engine rt_engine_docker = {
    .target = "docker",
    .places = PLACES,
    .load = load,
    .check = check,
    .place = place,
    .prepare = prepare,
    .start = start,
    .signal = pass_signal,
    .kill = end,
    .ended = ended,
    .done = done,
};
