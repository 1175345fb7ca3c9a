/* LINK: src/runtime/load.c src/runtime/load_landlock.c src/runtime/place.c src/runtime/env.c
 *       src/runtime/engine_landlock.c src/runtime/view.c src/runtime/stage.c src/runtime/seal.c
 *       src/runtime/supervise.c
 *       src/runtime/run.c src/runtime/sys.c src/sha256.c gen/filters.c */
/* The landlock engine for real, as root and as an ordinary user: a blob is built, read, and a shell runs
 * under it. What is to fail is first run unconfined, by the same user, to show that it would succeed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blob.h"
#include "filters.h"
#include "runtime/load.h"
#include "runtime/sys.h"

#define SKIP(why)                            \
    do {                                     \
        print_message("skipped: %s\n", why); \
        skip();                              \
    } while (0)

const struct rt_engine *const rt_engines[] = {&rt_engine_landlock};
const size_t rt_n_engines = 1;

enum { USER = 1001 };

static struct blob blob;
static char base[PATH_MAX];
static bool as_user;            /* the next run is by USER */
static const char *from = "in"; /* and from this folder of base */
static char why[RT_WHY_MAX];    /* of checks() */

static const uint64_t READ = LL_FS_TO_READ | LL_FS_TO_EXEC;
static const uint64_t WRITE = LL_FS_TO_READ | LL_FS_TO_WRITE;

/* ---- The tree and the blob --------------------------------------------------------------------------- */

static const char *under(const char *name)
{
    static char paths[8][PATH_MAX + 64];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static void put_file(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* Everything belongs to whoever runs the command, and is open to all: only the sandbox stands in the way. */
static int set_up(void **state)
{
    (void)state;
    char made[] = "/var/tmp/sbx-launch-XXXXXX";
    if (!mkdtemp(made) || !realpath(made, base) || chmod(base, 0755))
        return -1;
    umask(0);
    static const char *const folders[] = {"in", "out", "secret"};
    for (size_t i = 0; i < 3; i++)
        if (mkdir(under(folders[i]), 0777))
            return -1;
    put_file(under("in/f"), "granted\n");
    put_file(under("secret/s"), "secret\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return system(command);
}

static void give_tree(uid_t uid)
{
    static const char *const names[] = {"in", "out", "secret", "in/f", "secret/s"};
    for (size_t i = 0; i < 5 && !geteuid(); i++)
        assert_int_equal(chown(under(names[i]), uid, uid), 0);
}

static void build(const char *timeout_ms)
{
    blob_begin(&blob, true, timeout_ms);
    blob_run(&blob, "tmpdir=/tmp");
    blob_run(&blob, "tmpdir=/mnt");
    const unsigned preset = LL_OPTIONAL | LL_FOLLOW;
    blob_rule(&blob, LL_ROOT_SLASH, "/bin", LL_TYPE_ANY, preset, READ);
    blob_rule(&blob, LL_ROOT_SLASH, "/dev/null", LL_TYPE_FILE, LL_OPTIONAL,
              WRITE & LL_FS_OF_FILE);
    blob_rule(&blob, LL_ROOT_SLASH, "/dev/shm", LL_TYPE_ANY, preset | LL_WRITABLE | LL_PRIVATE, WRITE);
    blob_rule(&blob, LL_ROOT_SLASH, "/etc/ld.so.cache", LL_TYPE_ANY, preset, LL_FS_TO_READ);
    blob_rule(&blob, LL_ROOT_SLASH, "/lib", LL_TYPE_ANY, preset, READ);
    blob_rule(&blob, LL_ROOT_SLASH, "/lib64", LL_TYPE_ANY, preset, READ);
    blob_rule(&blob, LL_ROOT_SLASH, "/proc", LL_TYPE_DIR, LL_PROC, LL_FS_TO_READ);
    blob_rule(&blob, LL_ROOT_SLASH, "/usr", LL_TYPE_ANY, preset, READ);
    blob_rule(&blob, LL_ROOT_SLASH, under("in"), LL_TYPE_DIR, 0, LL_FS_TO_READ);
    blob_rule(&blob, LL_ROOT_SLASH, under("out"), LL_TYPE_DIR, LL_WRITABLE, WRITE);
}

/* What stands behind the rules of build(), and the bytes. */
static void lay_out(void)
{
    blob_rule(&blob, LL_ROOT_TMPDIR, "", LL_TYPE_DIR, LL_WRITABLE | LL_PRIVATE, WRITE | LL_FS_TO_EXEC);
    blob_needs_and_filters(&blob, false, true);
    blob_lay_out(&blob);
}

/* ---- One run ----------------------------------------------------------------------------------------- */

struct result {
    int status; /* as sbxrun would exit */
    char step[32], why[RT_WHY_MAX];
    bool childless;
};

static void become_user(void)
{
    if (as_user && (setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(USER, USER, USER)))
        _exit(99);
}

static bool all_steps(struct rt_run *run)
{
    const struct rt_engine *e = &rt_engine_landlock;
    return rt_load(run) && e->check(run) && e->place(run) && rt_environment(run) && e->prepare(run) &&
           rt_supervise(run);
}

static _Noreturn void be_sbxrun(const char *script, const char *protect, int report)
{
    static struct rt_run run;
    static char scratch[1 << 20];
    char path[64];
    int file = memfd_create("blob", 0);
    if (file < 0 || write(file, blob.bytes, blob.len) != (ssize_t)blob.len)
        _exit(98);
    become_user();
    if (chdir(under(from)))
        _exit(97);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    run.options.artifact = path;
    run.argv = (char *[]){(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)script, NULL};
    run.caller_env = environ;
    run.control = run.tool_fd = -1;
    run.scratch = scratch;
    run.scratch_cap = sizeof scratch;
    struct result r = {.status = RT_EXIT_REFUSED};
    if ((!protect || rt_protect(&run, protect, "the artifact")) && all_steps(&run)) {
        int w = run.outcome.wait;
        r.status = run.outcome.timed_out ? RT_EXIT_TIMEOUT
                   : WIFSIGNALED(w)      ? 128 + WTERMSIG(w)
                                         : WEXITSTATUS(w);
    } else {
        r.status = run.error.status;
        snprintf(r.step, sizeof r.step, "%s", run.error.step ? run.error.step : "");
        snprintf(r.why, sizeof r.why, "%s", run.error.why);
    }
    r.childless = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
    _exit(write(report, &r, sizeof r) != (ssize_t)sizeof r);
}

/* stdout of the command is `out` if that is a descriptor, and stderr is silent. */
static pid_t begin(const char *script, const char *protect, int out, int *out_report)
{
    int report[2];
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDIN_FILENO);
        dup2(out >= 0 ? out : null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        be_sbxrun(script, protect, report[1]);
    }
    close(report[1]);
    *out_report = report[0];
    return pid;
}

static struct result finish(pid_t pid, int report)
{
    struct result r = {0};
    struct pollfd p = {.fd = report, .events = POLLIN};
    int ready = poll(&p, 1, 20000);
    if (ready != 1)
        kill(pid, SIGKILL);
    assert_int_equal(ready, 1);
    assert_int_equal(read(report, &r, sizeof r), sizeof r);
    close(report);
    waitpid(pid, NULL, 0);
    assert_true(r.childless);
    return r;
}

static struct result confined(const char *script)
{
    int report;
    pid_t pid = begin(script, NULL, -1, &report);
    return finish(pid, report);
}

static int unconfined(const char *script)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        become_user();
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        if (!chdir(under("in")))
            execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(96);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs a test for each user that this process can be: true once for each. */
static bool next_user(int *turn)
{
    bool root = !geteuid();
    int n = (*turn)++;
    as_user = root && n == 1;
    if (n < (root ? 2 : 1)) {
        give_tree(as_user ? USER : geteuid());
        return true;
    }
    as_user = false;
    return false;
}

static void need_landlock(void)
{
    if (sys_landlock_abi() < 3)
        SKIP("no Landlock of ABI 3 or more on this kernel");
}

/* ---- Tests ------------------------------------------------------------------------------------------- */

static void granted_things_work(void **state)
{
    (void)state;
    need_landlock();
    static const char *const scripts[] = {
        "cat f",
        "ls . >/dev/null",
        "echo x >../out/a && cat ../out/a && chmod 600 ../out/a && mv ../out/a ../out/b && rm ../out/b",
        "mkdir ../out/d && touch ../out/d/x && mv ../out/d/x ../out/y && rm ../out/y && rmdir ../out/d",
        "echo x >$TMPDIR/a && cd $HOME && echo y >b && [ $HOME = $TMPDIR/home ]",
        "cp /usr/bin/env $TMPDIR/e && $TMPDIR/e >/dev/null",
        "echo x >/dev/shm/a && cat /dev/shm/a",
        "echo x >/dev/null",
        "[ $(ls -d /proc/[0-9]* | wc -l) -le 5 ] && [ -r /proc/$$/status ]", /* only its own */
        "[ \"$(pwd -P)\" = \"$PWD\" ] && grep -q granted f",
        "grep -q '^CapBnd:.0*$' /proc/self/status && grep -q '^NoNewPrivs:.1' /proc/self/status",
    };
    build("10000");
    lay_out();
    for (int turn = 0; next_user(&turn);)
        for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
            struct result r = confined(scripts[i]);
            if (r.status)
                fail_msg("%s: `%s`: %d %s %s", as_user ? "user" : "caller", scripts[i], r.status, r.step,
                         r.why);
        }
}

/* The folder that the caller stood in is left behind, on the mount that is read-only now. */
static void relative_writes_reach_the_grant(void **state)
{
    (void)state;
    need_landlock();
    build("10000");
    lay_out();
    from = "out";
    for (int turn = 0; next_user(&turn);)
        assert_int_equal(confined("echo x >a && rm a").status, 0);
    from = "in";
}

static void what_is_not_granted_fails(void **state)
{
    (void)state;
    need_landlock();
    static const char *const scripts[] = {
        "cat ../secret/s",
        "ls ../secret",
        "echo x >>f",
        "echo x >new && rm new",
        "mkdir new && rmdir new",
        "ln -s f new && rm new",
        "mv f g && mv g f",
        "chmod 777 f",
        "chmod 777 .",
        "chmod 777 ../secret/s",
        "touch -d 2001-01-01 f",
        "touch -d 2001-01-01 ../secret/s",
        "truncate -s 8 f",
        "cp /usr/bin/env ../out/e && ../out/e; s=$?; rm ../out/e; exit $s", /* writable, not executable */
        "ln f ../out/f && rm ../out/f",
    };
    build("10000");
    lay_out();
    for (int turn = 0; next_user(&turn);)
        for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
            if (unconfined(scripts[i]))
                fail_msg("%s: `%s` fails unconfined already", as_user ? "user" : "caller", scripts[i]);
            struct result r = confined(scripts[i]);
            if (!r.status || r.step[0])
                fail_msg("%s: `%s`: %d %s", as_user ? "user" : "caller", scripts[i], r.status, r.why);
        }
    assert_int_equal(unconfined("[ \"$(cat f)\" = granted ] && [ \"$(cat ../secret/s)\" = secret ]"), 0);
}

static void statuses_tell_what_happened(void **state)
{
    (void)state;
    need_landlock();
    build("1000");
    lay_out();
    for (int turn = 0; next_user(&turn);) {
        assert_int_equal(confined("exit 42").status, 42);
        assert_int_equal(confined("kill -9 $$").status, 137);
        assert_int_equal(confined("exec sleep 30").status, RT_EXIT_TIMEOUT);
        assert_int_equal(confined("trap '' TERM HUP; while :; do sleep 1; done").status, RT_EXIT_TIMEOUT);
        assert_int_equal(confined("kill -STOP $$").status, RT_EXIT_TIMEOUT);
    }
}

/* The pipe is held by every process of the sandbox: its end says that all are gone. */
static bool closes(int fd, int within_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char c;
    return poll(&p, 1, within_ms) == 1 && read(fd, &c, 1) == 0;
}

static void nobody_outlives_a_normal_end(void **state)
{
    (void)state;
    need_landlock();
    build("10000");
    lay_out();
    for (int turn = 0; next_user(&turn);) {
        int p[2], report;
        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        pid_t pid = begin("setsid sh -c 'trap \"\" TERM HUP; sleep 60; sleep 60' & sleep 60 & exit 3", NULL,
                          p[1], &report);
        close(p[1]);
        assert_int_equal(finish(pid, report).status, 3);
        assert_true(closes(p[0], 0)); /* not soon: at once */
        close(p[0]);
    }
}

static void nobody_outlives_sbxrun(void **state)
{
    (void)state;
    need_landlock();
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    build("20000");
    lay_out();
    for (int turn = 0; next_user(&turn);)
        for (int step = 0; step < 20; step++) {
            int p[2], report;
            assert_int_equal(pipe2(p, O_CLOEXEC), 0);
            pid_t pid = begin("setsid sleep 60 & trap '' TERM; sleep 60", NULL, p[1], &report);
            close(p[1]);
            usleep((useconds_t)(step < 19 ? step * 250 : 300000)); /* from its first moment to long after */
            kill(pid, SIGKILL);
            assert_true(closes(p[0], 5000));
            close(p[0]);
            close(report);
            while (waitpid(-1, NULL, 0) > 0)
                ;
        }
}

/* Of pid 1, which is sbxrun's own, nothing can be learnt; core may look, and finds it wiped. */
static void init_shows_nothing(void **state)
{
    (void)state;
    need_landlock();
    for (int turn = 0; next_user(&turn);) {
        build("5000");
        lay_out();
        assert_int_equal(confined("cat /proc/$$/environ").status, 0);
        assert_int_not_equal(confined("cat /proc/1/environ").status, 0);
        assert_int_not_equal(confined("ls /proc/1/root/").status, 0);
        assert_int_not_equal(confined("cat /proc/1/maps").status, 0);
        blob_begin(&blob, false, "5000");
        blob_lay_out(&blob);
        assert_int_equal(confined("[ -z \"$(tr -d '\\0' </proc/1/environ)\" ]").status, 0);
    }
}

static void what_changed_is_refused(void **state)
{
    (void)state;
    need_landlock();
    for (unsigned optional = 0; optional < 2; optional++) {
        build("1000");
        blob_rule(&blob, LL_ROOT_SLASH, under("secret/none"), LL_TYPE_ANY, optional ? LL_OPTIONAL : 0, READ);
        lay_out();
        struct result r = confined("exit 0");
        assert_int_equal(r.status, optional ? 0 : RT_EXIT_REFUSED);
        assert_string_equal(r.step, optional ? "" : "grant");
        assert_true(optional || strstr(r.why, "read \"/var/tmp/"));
        assert_true(optional || strstr(r.why, "/secret/none\""));
    }
    build("1000");
    blob.rules[8].type = LL_TYPE_FILE; /* the folder `in` */
    blob.rules[8].access = LL_FS_READ_FILE;
    lay_out();
    assert_string_equal(confined("exit 0").step, "grant");
}

/* What sbxc writes passes the loader only unchanged, so the step behind it is tried by itself. */
static bool checks(void)
{
    static char scratch[1 << 16];
    static struct rt_run run;
    memset(scratch, 0, sizeof scratch);
    run = (struct rt_run){.scratch = scratch, .scratch_cap = sizeof scratch};
    run.artifact.data = blob.bytes;
    run.policy.confine = true;
    bool ok = rt_engine_landlock.check(&run);
    snprintf(why, sizeof why, "%s", ok ? "" : run.error.why);
    return ok;
}

static void what_the_host_lacks_is_refused(void **state)
{
    (void)state;
    need_landlock();
    build("1000");
    lay_out();
    assert_true(checks());
    blob.needs[0].min_abi = 1000;
    blob_lay_out(&blob);
    assert_false(checks());
    assert_non_null(strstr(why, "`paths` needs Landlock ABI 1000"));
    assert_string_equal(confined("exit 0").step, "artifact");

    build("1000");
    lay_out();
    blob.header.flags = 0; /* no view, though a need names it */
    blob_lay_out(&blob);
    assert_false(checks());
    assert_non_null(strstr(why, "`metadata of files outside the grants`"));

    build("1000");
    lay_out();
    blob.n_filters = blob.n_code = 0;
    blob_lay_out(&blob);
    assert_false(checks());
    assert_non_null(strstr(why, "no filter"));
}

static void a_grant_on_itself_is_refused(void **state)
{
    (void)state;
    need_landlock();
    int report;
    build("1000");
    lay_out();
    put_file(under("out/artifact"), "x");
    pid_t pid = begin("exit 0", under("out/artifact"), -1, &report);
    struct result r = finish(pid, report);
    assert_int_equal(r.status, RT_EXIT_REFUSED);
    assert_string_equal(r.step, "self-writable");
    pid = begin("exit 0", under("in/f"), -1, &report); /* only read */
    assert_int_equal(finish(pid, report).status, 0);
}

static void core_is_timed_and_ended(void **state)
{
    (void)state;
    for (int turn = 0; next_user(&turn);) {
        blob_begin(&blob, false, "1000");
        blob_lay_out(&blob);
        struct result r =
            confined("cat ../secret/s && echo x >>f && [ $(ls -d /proc/[0-9]* | wc -l) -le 5 ]");
        if (r.status)
            fail_msg("%d %s %s", r.status, r.step, r.why);
        assert_int_equal(confined("setsid sleep 30 & exec sleep 30").status, RT_EXIT_TIMEOUT);
        put_file(under("in/f"), "granted\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(granted_things_work),
        cmocka_unit_test(relative_writes_reach_the_grant),
        cmocka_unit_test(what_is_not_granted_fails),
        cmocka_unit_test(statuses_tell_what_happened),
        cmocka_unit_test(nobody_outlives_a_normal_end),
        cmocka_unit_test(nobody_outlives_sbxrun),
        cmocka_unit_test(init_shows_nothing),
        cmocka_unit_test(what_changed_is_refused),
        cmocka_unit_test(what_the_host_lacks_is_refused),
        cmocka_unit_test(a_grant_on_itself_is_refused),
        cmocka_unit_test(core_is_timed_and_ended),
    };
    return cmocka_run_group_tests_name("launch", tests, set_up, tear_down);
}
