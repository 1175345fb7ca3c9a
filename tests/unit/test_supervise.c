/* LINK: src/runtime/supervise.c src/runtime/run.c src/runtime/sys.c */
/* Deadline, signals and ends, with an engine that starts an ordinary process: statuses pass, TERM, grace and
 * KILL come in time, and nobody is left. Each run is a process of its own, as sbxrun is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/runtime.h"

/* Far apart, so that a busy machine does not blur which of the two came. */
enum { DEADLINE_MS = 200, GRACE_MS = 1500 };

struct result {
    bool ok;
    struct rt_outcome outcome;
    int error;
    char why[256];
    bool childless; /* after the run, but for the foreign child */
    bool foreign_left;
    int64_t ms;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- The engine -------------------------------------------------------------------------------------- */

static const char *script;
static bool with_foreign; /* the next run starts as a process that has a child already */
static struct rt_fd *fds;
static size_t n_fds;

static char *no_env[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};

/* setsid makes it a group of its own, which the engine's kill() takes as a whole. */
static bool start(struct rt_run *run)
{
    char *argv[] = {(char[]){"setsid"}, (char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)script, NULL};
    return rt_spawn(run, -1, "/usr/bin/setsid", argv, no_env, fds, n_fds);
}

static bool start_missing(struct rt_run *run)
{
    char *argv[] = {(char[]){"x"}, NULL};
    return rt_spawn(run, -1, "/nonexistent/x", argv, no_env, NULL, 0);
}

static void deliver(struct rt_run *run, int sig, bool all)
{
    kill(all ? -run->child : run->child, sig);
}

static void end(struct rt_run *run)
{
    kill(-run->child, SIGKILL);
}

static void (*ending)(struct rt_run *) = end;

/* ---- One run ----------------------------------------------------------------------------------------- */

static pid_t start_foreign(void)
{
    pid_t pid = fork();
    if (!pid) {
        alarm(20);
        pause();
        _exit(0);
    }
    return pid;
}

/* It is there, alive, and not waited for. */
static bool end_foreign(pid_t pid)
{
    int status;
    return !kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
}

static _Noreturn void be_sbxrun(bool (*how)(struct rt_run *), uint64_t timeout_ms, uint64_t option_ms,
                                int report)
{
    const struct rt_engine engine = {
        .target = "fake", .start = how, .signal = deliver, .kill = ending, .adopts = true};
    static char scratch[1 << 16];
    static struct rt_run run;
    run.engine = &engine;
    run.control = run.tool_fd = -1;
    run.scratch = scratch;
    run.scratch_cap = sizeof scratch;
    run.policy.timeout_ms = timeout_ms;
    run.policy.kill_after_ms = GRACE_MS;
    run.options.timeout_ms = option_ms;
    struct result r = {0};
    pid_t foreign = with_foreign ? start_foreign() : 0;
    int64_t started = now_ms();
    r.ok = rt_supervise(&run);
    r.ms = now_ms() - started;
    r.foreign_left = foreign > 0 && end_foreign(foreign);
    r.outcome = run.outcome;
    r.error = run.error.status;
    memcpy(r.why, run.error.why, sizeof r.why - 1);
    r.childless = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
    ssize_t n = write(report, &r, sizeof r);
    _exit(n == (ssize_t)sizeof r ? 0 : 1);
}

static pid_t begin(bool (*how)(struct rt_run *), const char *text, uint64_t timeout_ms, uint64_t option_ms,
                   int *out_fd)
{
    int report[2];
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    script = text;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        be_sbxrun(how, timeout_ms, option_ms, report[1]);
    close(report[1]);
    *out_fd = report[0];
    return pid;
}

static struct result finish(pid_t pid, int fd)
{
    struct result r = {0};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, 1, 10000);
    if (ready != 1)
        kill(pid, SIGKILL);
    assert_int_equal(ready, 1);
    assert_int_equal(read(fd, &r, sizeof r), sizeof r);
    close(fd);
    waitpid(pid, NULL, 0);
    return r;
}

static struct result run_script(const char *text, uint64_t timeout_ms)
{
    int fd;
    pid_t pid = begin(start, text, timeout_ms, 0, &fd);
    return finish(pid, fd);
}

/* ---- Tests ------------------------------------------------------------------------------------------- */

static void statuses_pass(void **state)
{
    (void)state;
    struct result r = run_script("exit 0", 5000);
    assert_true(r.ok && r.outcome.known && !r.outcome.timed_out && r.childless);
    assert_true(WIFEXITED(r.outcome.wait) && !WEXITSTATUS(r.outcome.wait));
    r = run_script("exit 42", 5000);
    assert_true(WIFEXITED(r.outcome.wait) && WEXITSTATUS(r.outcome.wait) == 42);
    r = run_script("kill -9 $$", 5000);
    assert_true(WIFSIGNALED(r.outcome.wait) && WTERMSIG(r.outcome.wait) == SIGKILL);
}

static void term_comes_at_the_deadline(void **state)
{
    (void)state;
    struct result r = run_script("sleep 30", DEADLINE_MS);
    assert_true(r.outcome.timed_out && r.childless);
    assert_in_range(r.ms, DEADLINE_MS, DEADLINE_MS + GRACE_MS - 1);
}

static void kill_comes_after_the_grace(void **state)
{
    (void)state;
    struct result r = run_script("trap '' TERM INT HUP; while :; do sleep 1; done", DEADLINE_MS);
    assert_true(r.outcome.timed_out && r.childless);
    assert_in_range(r.ms, DEADLINE_MS + GRACE_MS, 9000);
}

static void a_stopped_command_ends_too(void **state)
{
    (void)state;
    struct result r = run_script("kill -STOP $$", DEADLINE_MS);
    assert_true(r.outcome.timed_out && r.childless);
    assert_in_range(r.ms, DEADLINE_MS, 9000);
}

static void an_option_shortens(void **state)
{
    (void)state;
    int fd;
    pid_t pid = begin(start, "sleep 30", 20000, DEADLINE_MS, &fd);
    struct result r = finish(pid, fd);
    assert_true(r.outcome.timed_out);
    assert_in_range(r.ms, DEADLINE_MS, DEADLINE_MS + GRACE_MS - 1);
}

static void zero_is_no_deadline(void **state)
{
    (void)state;
    struct result r = run_script("sleep 0.3; exit 3", 0);
    assert_true(r.outcome.known && !r.outcome.timed_out);
    assert_int_equal(WEXITSTATUS(r.outcome.wait), 3);
}

/* Every process holds the pipe: its end says that all are gone. */
static void strays_are_ended_and_waited_for(void **state)
{
    (void)state;
    int p[2];
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    struct rt_fd held = {p[1], 9};
    fds = &held;
    n_fds = 1;
    int report;
    pid_t pid = begin(start, "sleep 30 & sh -c 'sleep 30 & sleep 30' & exit 5", 0, 0, &report);
    fds = NULL;
    n_fds = 0;
    close(p[1]);
    struct result r = finish(pid, report);
    assert_true(r.outcome.known && r.childless);
    assert_int_equal(WEXITSTATUS(r.outcome.wait), 5);
    char c;
    struct pollfd end_of_all = {.fd = p[0], .events = POLLIN};
    assert_int_equal(poll(&end_of_all, 1, 0), 1);
    assert_int_equal(read(p[0], &c, 1), 0);
    close(p[0]);
}

/* As a kill for all that has come to sbxrun. */
static void end_adopted(struct rt_run *run)
{
    char path[64];
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *list = fopen(path, "re");
    while (list && fscanf(list, "%d", &pid) == 1)
        if (!rt_is_foreign(run, pid))
            kill(pid, SIGKILL);
    if (list)
        fclose(list);
}

static void children_from_before_are_left_alone(void **state)
{
    (void)state;
    with_foreign = true;
    ending = end_adopted;
    struct result r = run_script("sleep 30 & exit 5", 5000);
    assert_true(r.outcome.known && !r.outcome.timed_out && r.childless && r.foreign_left);
    assert_int_equal(WEXITSTATUS(r.outcome.wait), 5);
    r = run_script("sleep 30", DEADLINE_MS);
    assert_true(r.outcome.timed_out && r.childless && r.foreign_left);
    with_foreign = false;
    ending = end;
}

static void signals_are_forwarded(void **state)
{
    (void)state;
    static const int sigs[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++) {
        char text[128];
        int fd;
        snprintf(text, sizeof text, "trap 'exit %d' %d; sleep 5 & wait", 50 + (int)i, sigs[i]);
        pid_t pid = begin(start, text, 0, 0, &fd);
        usleep(200000);
        kill(pid, sigs[i]);
        struct result r = finish(pid, fd);
        assert_true(r.outcome.known && !r.outcome.timed_out && r.childless);
        assert_int_equal(WEXITSTATUS(r.outcome.wait), 50 + (int)i);
    }
}

static void what_cannot_start_is_an_error(void **state)
{
    (void)state;
    int fd;
    pid_t pid = begin(start_missing, "", 0, 0, &fd);
    struct result r = finish(pid, fd);
    assert_false(r.ok);
    assert_int_equal(r.error, RT_EXIT_REFUSED);
    assert_non_null(strstr(r.why, "/nonexistent/x"));
    assert_true(r.childless);
}

/* The child of rt_spawn has 0-2 and what it was given, at the places named, and nothing else. */
static void only_named_descriptors_arrive(void **state)
{
    (void)state;
    int a[2], b[2];
    assert_int_equal(pipe(a), 0); /* inheritable on purpose */
    assert_int_equal(pipe(b), 0);
    assert_int_equal(write(a[1], "A", 1), 1);
    assert_int_equal(write(b[1], "B", 1), 1);
    /* They cross: each goes to where the other is. */
    struct rt_fd both[] = {{a[0], b[0]}, {b[0], a[0]}};
    char text[256];
    fds = both;
    n_fds = 2;
    snprintf(text, sizeof text,
             "[ $(head -c1 /dev/fd/%d) = B ] && [ $(head -c1 /dev/fd/%d) = A ] && [ $(ls /proc/$$/fd | wc -l) -le 6 ]",
             a[0], b[0]);
    struct result r = run_script(text, 5000);
    fds = NULL;
    n_fds = 0;
    assert_true(WIFEXITED(r.outcome.wait));
    assert_int_equal(WEXITSTATUS(r.outcome.wait), 0);
    for (int i = 0; i < 2; i++) {
        close(a[i]);
        close(b[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_pass),
        cmocka_unit_test(term_comes_at_the_deadline),
        cmocka_unit_test(kill_comes_after_the_grace),
        cmocka_unit_test(a_stopped_command_ends_too),
        cmocka_unit_test(an_option_shortens),
        cmocka_unit_test(zero_is_no_deadline),
        cmocka_unit_test(strays_are_ended_and_waited_for),
        cmocka_unit_test(children_from_before_are_left_alone),
        cmocka_unit_test(signals_are_forwarded),
        cmocka_unit_test(what_cannot_start_is_an_error),
        cmocka_unit_test(only_named_descriptors_arrive),
    };
    return cmocka_run_group_tests_name("supervise", tests, NULL, NULL);
}
