/* LINK: src/runtime/tree.c */
/* A folder goes away whatever a command left in it, and nothing outside is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/tree.h"

struct fixture {
    char base[64];
    int cwd, dir; /* the folder to remove is base/t */
    char path[80];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    strcpy(f->base, "/tmp/sbx-tree-XXXXXX");
    if (!mkdtemp(f->base))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/t", f->base);
    f->cwd = open(".", O_RDONLY | O_DIRECTORY);
    if (f->cwd < 0 || mkdir(f->path, 0700) || (f->dir = open(f->path, O_RDONLY | O_DIRECTORY)) < 0)
        return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    int left = fchdir(f->cwd);
    close(f->cwd);
    close(f->dir);
    left |= rmdir(f->base);
    free(f);
    return left;
}

static void file(int dir, const char *name)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0);
    assert_true(fd >= 0);
    close(fd);
}

static void gone(struct fixture *f)
{
    assert_true(tree_remove(f->path));
    assert_int_equal(access(f->path, F_OK), -1);
    assert_int_equal(errno, ENOENT);
}

static void test_files_and_folders(void **state)
{
    struct fixture *f = *state;
    file(f->dir, "a");
    file(f->dir, ".0");
    assert_int_equal(mkdirat(f->dir, ".1", 0700), 0);
    assert_int_equal(mkdirat(f->dir, ".1/x", 0700), 0);
    file(f->dir, ".1/x/y");
    assert_int_equal(mkdirat(f->dir, "empty", 0700), 0);
    assert_int_equal(mkfifoat(f->dir, "fifo", 0600), 0);
    gone(f);
}

static void test_follows_no_link(void **state)
{
    struct fixture *f = *state;
    char outside[80], canary[96];
    snprintf(outside, sizeof outside, "%s/outside", f->base);
    snprintf(canary, sizeof canary, "%s/canary", outside);
    assert_int_equal(mkdir(outside, 0500), 0);
    assert_int_equal(chmod(outside, 0700), 0);
    file(AT_FDCWD, canary);
    assert_int_equal(chmod(outside, 0500), 0);
    assert_int_equal(symlinkat(outside, f->dir, "l"), 0);
    assert_int_equal(mkdirat(f->dir, "d", 0700), 0);
    assert_int_equal(symlinkat(outside, f->dir, "d/l"), 0);
    gone(f);
    struct stat st;
    assert_int_equal(stat(canary, &st), 0);
    assert_int_equal(stat(outside, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0500);
    assert_int_equal(chmod(outside, 0700), 0);
    assert_int_equal(unlink(canary), 0);
    assert_int_equal(rmdir(outside), 0);
}

static void test_folders_without_rights(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdirat(f->dir, "a", 0700), 0);
    assert_int_equal(mkdirat(f->dir, "a/b", 0700), 0);
    file(f->dir, "a/b/c");
    assert_int_equal(fchmodat(f->dir, "a/b", 0, 0), 0);
    assert_int_equal(fchmodat(f->dir, "a", 0, 0), 0);
    gone(f);
}

/* Deeper than PATH_MAX and than the usual limit of descriptors. */
static void test_very_deep(void **state)
{
    enum { DEPTH = 4000 };
    struct fixture *f = *state;
    assert_int_equal(fchdir(f->dir), 0);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdir("d", 0700), 0);
        assert_int_equal(chdir("d"), 0);
    }
    assert_int_equal(fchdir(f->cwd), 0);
    gone(f);
}

static void test_says_what_it_cannot(void **state)
{
    struct fixture *f = *state;
    char missing[96];
    snprintf(missing, sizeof missing, "%s/none", f->path);
    assert_false(tree_remove(missing));
    assert_int_equal(errno, ENOENT);
    char link[96];
    snprintf(link, sizeof link, "%s/l", f->base);
    assert_int_equal(symlink(f->path, link), 0);
    assert_false(tree_remove(link));
    assert_int_equal(unlink(link), 0);
    gone(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_files_and_folders), TEST(test_follows_no_link), TEST(test_folders_without_rights),
        TEST(test_very_deep),         TEST(test_says_what_it_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
