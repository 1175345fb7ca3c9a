/* LINK: src/runtime/place.c src/runtime/env.c src/runtime/run.c src/runtime/sys.c */
/* Where a command works, what its environment holds, which links a grant follows, what no grant may reach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/runtime.h"

#define SKIP(why)                            \
    do {                                     \
        print_message("skipped: %s\n", why); \
        skip();                              \
    } while (0)

static struct rt_run run;
static char scratch[1 << 18];
static char base[PATH_MAX]; /* a folder of this program's own, without links in its name */

static void reset(void)
{
    memset(&run, 0, sizeof run);
    memset(scratch, 0, sizeof scratch);
    run.scratch = scratch;
    run.scratch_cap = sizeof scratch;
    run.policy.confine = true;
}

static const char *under(const char *name)
{
    static char paths[8][PATH_MAX + 64];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    char made[] = "/var/tmp/sbx-place-XXXXXX";
    if (!mkdtemp(made) || !realpath(made, base) || chmod(base, 0755))
        return -1;
    return mkdir(under("d"), 0755) || mkdir(under("d/e"), 0755) || mkdir(under("open"), 0777) ||
           chmod(under("open"), 0777) || close(open(under("d/f"), O_CREAT | O_WRONLY, 0644)) ||
           symlink("d/f", under("relative")) || symlink(under("d"), under("absolute")) ||
           symlink("../d/e/../f", under("d/up")) || symlink("loop", under("loop")) ||
           symlink("../d/f", under("open/link"));
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"relative",  "absolute", "d/up", "loop",
                                        "open/link", "foreign",  "d/f"};
    static const char *const folders[] = {"d/e", "d", "open", "."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(under(names[i]));
    for (size_t i = 0; i + 1 < sizeof folders / sizeof *folders; i++)
        rmdir(under(folders[i]));
    return rmdir(base);
}

/* ---- Grants ------------------------------------------------------------------------------------------ */

/* 0, or the errno; and the object opened is `want`. */
static int opens(const char *path, bool follow, const char *want)
{
    struct stat a, b;
    int fd = rt_open_grant(path, follow);
    if (fd < 0)
        return errno;
    assert_int_equal(fstat(fd, &a), 0);
    assert_int_equal(stat(want, &b), 0);
    assert_true(a.st_dev == b.st_dev && a.st_ino == b.st_ino);
    close(fd);
    return 0;
}

static void links_are_not_followed(void **state)
{
    (void)state;
    assert_int_equal(opens(under("d/f"), false, under("d/f")), 0);
    assert_int_equal(opens(under("relative"), false, ""), ELOOP);
    assert_int_equal(opens(under("absolute/f"), false, ""), ELOOP);
    assert_int_equal(opens(under("d/none"), false, ""), ENOENT);
    assert_int_equal(opens(under("d/f/x"), false, ""), ENOTDIR);
}

static void links_of_root_are_followed_for_presets(void **state)
{
    (void)state;
    if (geteuid())
        SKIP("only root can make links of root's");
    struct stat var;
    assert_int_equal(stat("/var/tmp", &var), 0);
    /* /var/tmp itself may be written by all: nothing behind it counts as root's own. */
    assert_int_equal(opens(under("relative"), true, ""), ELOOP);
    const char *link = "/etc/sbx-place-link", *chain = "/etc/sbx-place-chain",
               *foreign = "/etc/sbx-place-foreign";
    unlink(link);
    unlink(chain);
    unlink(foreign);
    assert_int_equal(symlink("../usr/./bin/../bin", link), 0);
    assert_int_equal(symlink(link, chain), 0);
    assert_int_equal(symlink("/usr/bin", foreign), 0);
    assert_int_equal(lchown(foreign, 1001, 1001), 0);
    int follow = opens(chain, true, "/usr/bin"), plain = opens(chain, false, ""),
        other = opens(foreign, true, "");
    int tail = opens("/etc/sbx-place-chain/env", true, "/usr/bin/env");
    unlink(link);
    unlink(chain);
    unlink(foreign);
    assert_int_equal(follow, 0);
    assert_int_equal(tail, 0);
    assert_int_equal(plain, ELOOP);
    assert_int_equal(other, ELOOP);
}

static void links_of_others_are_not(void **state)
{
    (void)state;
    assert_int_equal(opens(under("open/link"), true, ""), ELOOP);
    assert_int_equal(opens(under("loop"), true, ""), ELOOP);
    /* What holds no link needs no owner. */
    assert_int_equal(opens(under("d/f"), true, under("d/f")), 0);
}

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* In a user namespace that maps but one user, and not to root, every owner is unknown. A link is not as good as
 * missing then: programs would be gone without a word. */
static void links_of_unknown_owners_are_said_to_be(void **state)
{
    (void)state;
    char map[64];
    snprintf(map, sizeof map, "1001 %u 1", (unsigned)geteuid());
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        if (unshare(CLONE_NEWUSER) || !put("/proc/self/uid_map", map))
            _exit(99);
        int link = rt_open_grant(under("relative"), true), link_error = errno;
        int never = rt_open_grant(under("relative"), false), never_error = errno;
        int plain = rt_open_grant(under("d/f"), true);
        _exit(link >= 0 || link_error != EOVERFLOW || never >= 0 || never_error != ELOOP || plain < 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 99)
        SKIP("no user namespace can be made");
    assert_int_equal(WEXITSTATUS(status), 0);
    reset();
    assert_false(rt_grant_failed(&run, EOVERFLOW, "read \"/bin\""));
    assert_string_equal(run.error.step, "grant");
    assert_non_null(strstr(run.error.why, "read \"/bin\" is a link"));
}

static void no_grant_reaches_what_runs(void **state)
{
    (void)state;
    struct stat st;
    reset();
    assert_true(rt_protect(&run, under("relative"), "the artifact")); /* the file that it leads to */
    assert_int_equal(stat(under("d/e"), &st), 0);
    assert_true(rt_check_grant(&run, &st, "write \"e\""));
    static const char *const reached[] = {"d/f", "d", "."};
    for (size_t i = 0; i < sizeof reached / sizeof *reached; i++) {
        memset(&run.error, 0, sizeof run.error);
        assert_int_equal(stat(under(reached[i]), &st), 0);
        assert_false(rt_check_grant(&run, &st, "write"));
        assert_string_equal(run.error.step, "self-writable");
        assert_non_null(strstr(run.error.why, "the artifact"));
    }
    memset(&run.error, 0, sizeof run.error);
    assert_int_equal(stat("/", &st), 0);
    assert_false(rt_check_grant(&run, &st, "write \"/\""));
}

static bool grant_passes(const char *path)
{
    struct stat st;
    memset(&run.error, 0, sizeof run.error);
    assert_int_equal(stat(path, &st), 0);
    bool ok = rt_check_grant(&run, &st, "write");
    assert_true(ok || !strcmp(run.error.step, "self-writable"));
    return ok;
}

/* Who may exchange a link on the way decides what runs under that name the next time. */
static void names_of_what_runs_are_kept(void **state)
{
    (void)state;
    reset();
    assert_true(rt_protect(&run, under("d/f"), "the artifact"));
    assert_true(grant_passes(under("open")));
    reset();
    assert_true(rt_protect(&run, under("open/link"), "the artifact")); /* to d/f */
    assert_false(grant_passes(under("open")));
    assert_false(grant_passes(under("d")));
    assert_true(grant_passes(under("d/e")));

    /* By links of links, upwards, and by a name that is relative to the working folder. */
    assert_int_equal(symlink("../../open/link", under("d/e/chain")), 0);
    assert_int_equal(chdir(under("d")), 0);
    reset();
    bool relative = rt_protect(&run, "e/../../d/e/chain", "the artifact");
    bool object_first = run.n_protect && grant_passes("e") == false;
    struct stat f;
    assert_int_equal(stat("f", &f), 0);
    object_first &= run.protect[0].ino == f.st_ino && run.protect[0].dev == f.st_dev;
    bool kept = !grant_passes(under("open")) && !grant_passes(base) && !grant_passes("/");
    assert_int_equal(chdir("/"), 0);
    unlink(under("d/e/chain"));
    assert_true(relative && object_first && kept);

    reset();
    assert_false(rt_protect(&run, under("loop"), "the artifact"));
    assert_string_equal(run.error.step, "self-writable");
    reset();
    assert_false(rt_protect(&run, under("none"), "the artifact"));
}

static void hard_links_of_what_runs_are_kept(void **state)
{
    (void)state;
    struct stat here, shm;
    reset();
    assert_true(rt_protect(&run, under("d/f"), "the artifact"));
    assert_true(grant_passes(under("d/e")));
    assert_int_equal(link(under("d/f"), under("open/hard")), 0);
    reset();
    bool protected = rt_protect(&run, under("d/f"), "the artifact"), passes = grant_passes(under("d/e"));
    bool said = strstr(run.error.why, "hard links") && strstr(run.error.why, "the artifact");
    bool elsewhere = stat("/dev/shm", &shm) || stat(base, &here) || shm.st_dev == here.st_dev || grant_passes("/dev/shm");
    bool nearer = !grant_passes(under("d")) && strstr(run.error.why, "reaches");
    unlink(under("open/hard"));
    assert_true(protected && !passes && said && elsewhere && nearer);
}

/* ---- Working folder and TMPDIR ----------------------------------------------------------------------- */

static const char *granted;

static bool sees(struct rt_run *r, const char *path)
{
    (void)r;
    return rt_grant_shows(path, granted);
}

static bool place(const char *from, const char *cwd, const char *grant, const char *skill)
{
    static const char *tmpdirs[] = {"/nonexistent", "/var/tmp", "/tmp"};
    reset();
    granted = grant;
    run.options.cwd = cwd;
    run.policy.skill_dir = skill;
    run.policy.tmpdirs = (struct rt_list){tmpdirs, 3};
    assert_int_equal(chdir(from), 0);
    bool ok = rt_place_on_host(&run, sees);
    assert_int_equal(chdir("/"), 0);
    return ok;
}

static void whole_components_count(void **state)
{
    (void)state;
    assert_true(rt_path_within("/a", "/a"));
    assert_true(rt_path_within("/a/b", "/a"));
    assert_true(rt_path_within("/a", "/"));
    assert_false(rt_path_within("/ab", "/a"));
    assert_false(rt_path_within("/", "/a"));
    assert_true(rt_grant_shows("/", "/a"));
    assert_true(rt_grant_shows("/a/b", "/a"));
    assert_false(rt_grant_shows("/b", "/a"));
}

static void workdir_is_seen_or_refused(void **state)
{
    (void)state;
    assert_true(place(under("d"), NULL, under("d"), NULL)); /* the grant */
    assert_string_equal(run.workdir, under("d"));
    assert_true(place(under("d/e"), NULL, under("d"), NULL)); /* beneath it */
    assert_true(place(base, NULL, under("d"), NULL));         /* a mere parent */
    assert_string_equal(run.workdir, base);
    assert_false(place(under("open"), NULL, under("d"), NULL));
    assert_string_equal(run.error.step, "workdir");
    assert_true(place(under("open"), NULL, under("d"), under("d/e"))); /* the skill's own */
    assert_string_equal(run.workdir, under("d/e"));
    assert_false(place(under("open"), NULL, under("d"), under("d/none")));
    /* What --cwd names is taken or refused, nothing else is. */
    assert_true(place("/", under("absolute/e"), under("d"), NULL));
    assert_string_equal(run.workdir, under("d/e"));
    assert_false(place(under("d"), under("open"), under("d"), under("d/e")));
    assert_false(place(under("d"), under("d/f"), under("d"), under("d/e")));
    assert_false(place(under("d"), under("d/none"), under("d"), under("d/e")));
}

static void tmpdir_leaves_the_workdir_alone(void **state)
{
    (void)state;
    assert_true(place(under("d"), NULL, under("d"), NULL));
    assert_string_equal(run.tmpdir, "/tmp"); /* /var/tmp holds the working folder */
    assert_true(place("/usr", NULL, "/usr", NULL));
    assert_string_equal(run.tmpdir, "/var/tmp");
    reset();
    granted = "/usr";
    assert_int_equal(chdir("/usr"), 0);
    assert_false(rt_place_on_host(&run, sees)); /* no candidate at all */
    assert_string_equal(run.error.step, "tmpdir");
    assert_int_equal(chdir("/"), 0);
}

/* ---- Environment ------------------------------------------------------------------------------------- */

static const char *value(const char *const *pass, size_t n_pass, const char *const *set, size_t n_set,
                         const char *name)
{
    char *caller[] = {(char[]){"LANG=C"},
                      (char[]){"LC_ALL=x"},
                      (char[]){"LD_PRELOAD=evil"},
                      (char[]){"PATH=/caller"},
                      (char[]){"HOME=/h"},
                      (char[]){"TMPDIR=/t"},
                      (char[]){"LANG=second"},
                      (char[]){"noequals"},
                      (char[]){"=x"},
                      (char[]){"SECRET=s"},
                      (char[]){"PATHX=/evil"},
                      (char[]){"EMPTY="},
                      NULL};
    bool confine = run.policy.confine;
    reset();
    run.policy.confine = confine;
    run.caller_env = caller;
    run.tmpdir = confine ? "/tmp" : NULL;
    run.policy.env_pass = (struct rt_list){(const char **)(uintptr_t)pass, n_pass};
    run.policy.env_set = (struct rt_list){(const char **)(uintptr_t)set, n_set};
    assert_true(rt_environment(&run));
    return rt_env_get(run.envp, name);
}
#define VALUE(pass, set, name) value(pass, sizeof pass / sizeof *pass, set, sizeof set / sizeof *set, name)

static void environment_is_what_was_named(void **state)
{
    (void)state;
    static const char *const none[] = {"NOBODY"}, *const set_none[] = {"S=1"};
    reset();
    assert_null(VALUE(none, set_none, "LANG"));
    assert_null(VALUE(none, set_none, "SECRET"));
    assert_string_equal(VALUE(none, set_none, "PATH"), "/usr/local/bin:/usr/bin:/bin");
    assert_string_equal(VALUE(none, set_none, "HOME"), "/tmp/home");
    assert_string_equal(VALUE(none, set_none, "TMPDIR"), "/tmp");
    assert_string_equal(VALUE(none, set_none, "S"), "1");
    static const char *const all[] = {"*"};
    assert_string_equal(VALUE(all, set_none, "LANG"), "C"); /* the first, as getenv */
    assert_string_equal(VALUE(all, set_none, "EMPTY"), "");
    assert_null(VALUE(all, set_none, "LD_PRELOAD"));
    assert_string_equal(VALUE(all, set_none, "PATH"), "/usr/local/bin:/usr/bin:/bin");
    assert_string_equal(VALUE(all, set_none, "HOME"), "/tmp/home");
    assert_string_equal(VALUE(all, set_none, "PATHX"), "/evil");
    static const char *const prefix[] = {"LC_*"};
    assert_string_equal(VALUE(prefix, set_none, "LC_ALL"), "x");
    assert_null(VALUE(prefix, set_none, "LANG"));
    static const char *const exact[] = {"HOME", "LD_PRELOAD", "PATH", "TMPDIR"};
    assert_string_equal(VALUE(exact, set_none, "LD_PRELOAD"), "evil");
    assert_string_equal(VALUE(exact, set_none, "PATH"), "/caller");
    assert_string_equal(VALUE(exact, set_none, "HOME"), "/h");
    assert_string_equal(VALUE(exact, set_none, "TMPDIR"), "/tmp"); /* always the private one */
    assert_null(VALUE(exact, set_none, "PATHX"));
    static const char *const set[] = {"LANG=set", "PATH=/set"};
    assert_string_equal(VALUE(all, set, "LANG"), "set");
    assert_string_equal(VALUE(all, set, "PATH"), "/set");
    for (size_t i = 0; run.envp[i]; i++)
        assert_true(strchr(run.envp[i], '=') > run.envp[i]);
}

static void core_keeps_the_environment(void **state)
{
    (void)state;
    static const char *const none[] = {"NOBODY"}, *const set[] = {"LANG=set"};
    reset();
    run.policy.confine = false;
    assert_string_equal(VALUE(none, set, "SECRET"), "s");
    assert_string_equal(VALUE(none, set, "LD_PRELOAD"), "evil");
    assert_string_equal(VALUE(none, set, "TMPDIR"), "/t");
    assert_string_equal(VALUE(none, set, "LANG"), "set");
}

static void scratch_is_bounded(void **state)
{
    (void)state;
    reset();
    assert_non_null(rt_alloc(&run, 1, 1000));
    assert_null(rt_alloc(&run, SIZE_MAX / 2, 4));
    assert_int_equal(run.error.status, RT_EXIT_REFUSED);
    assert_null(rt_alloc(&run, 1, sizeof scratch));
    char *s = rt_printf(&run, "%s-%d", "a", 5);
    assert_string_equal(s, "a-5");
    assert_string_equal(rt_strn(&run, "abc", 2), "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(links_of_root_are_followed_for_presets),
        cmocka_unit_test(links_of_others_are_not),
        cmocka_unit_test(links_of_unknown_owners_are_said_to_be),
        cmocka_unit_test(no_grant_reaches_what_runs),
        cmocka_unit_test(names_of_what_runs_are_kept),
        cmocka_unit_test(hard_links_of_what_runs_are_kept),
        cmocka_unit_test(whole_components_count),
        cmocka_unit_test(workdir_is_seen_or_refused),
        cmocka_unit_test(tmpdir_leaves_the_workdir_alone),
        cmocka_unit_test(environment_is_what_was_named),
        cmocka_unit_test(core_keeps_the_environment),
        cmocka_unit_test(scratch_is_bounded),
    };
    return cmocka_run_group_tests_name("place", tests, set_up, tear_down);
}
