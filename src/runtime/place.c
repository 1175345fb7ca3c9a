/* Paths of the host: where the command works, what a grant may not reach, and how a grant is opened. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime.h"
#include "sys.h"

bool rt_path_within(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    if (n == 1)
        return true; /* the root holds everything */
    return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

bool rt_grant_shows(const char *path, const char *granted)
{
    return rt_path_within(path, granted) || rt_path_within(granted, path);
}

/* ---- Working folder and TMPDIR ----------------------------------------------------------------------- */

static bool is_real_folder(const char *path)
{
    struct stat st;
    int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC | O_DIRECTORY, SYS_RESOLVE_NO_SYMLINKS);
    if (fd < 0)
        return false;
    bool is = !fstat(fd, &st) && S_ISDIR(st.st_mode);
    close(fd);
    return is;
}

/* --cwd or the caller's folder, without links; NULL with errno. */
static const char *wanted_folder(struct rt_run *run)
{
    char real[PATH_MAX];
    /* Of a folder that is unlinked or outside the root, getcwd gives ENOENT or no absolute path. */
    if (!realpath(run->options.cwd ? run->options.cwd : ".", real))
        return NULL;
    return rt_strn(run, real, strlen(real));
}

bool rt_place_workdir(struct rt_run *run, bool (*sees)(struct rt_run *run, const char *path))
{
    const char *wanted = wanted_folder(run);
    int error = errno;
    if (wanted && wanted[0] == '/' && is_real_folder(wanted) && sees(run, wanted)) {
        run->workdir = wanted;
        return true;
    }
    if (run->options.cwd && !wanted)
        return rt_fail_errno(run, error, "workdir", "`%s`", run->options.cwd);
    if (run->options.cwd)
        return rt_fail(run, "workdir", "`%s` is not a folder inside the sandbox", wanted);
    if (!run->policy.skill_dir)
        return rt_fail(run, "workdir", "`%s` is not inside the sandbox; give --cwd", wanted ? wanted : ".");
    if (!is_real_folder(run->policy.skill_dir) || !sees(run, run->policy.skill_dir))
        return rt_fail(run, "workdir", "neither `%s` nor the skill's `%s` is a folder inside the sandbox",
                       wanted ? wanted : ".", run->policy.skill_dir);
    run->workdir = run->policy.skill_dir;
    return true;
}

bool rt_place_on_host(struct rt_run *run, bool (*sees)(struct rt_run *run, const char *path))
{
    if (!rt_place_workdir(run, sees))
        return false;
    if (!run->policy.confine)
        return true;
    for (size_t i = 0; i < run->policy.tmpdirs.n; i++) {
        const char *dir = run->policy.tmpdirs.items[i];
        if (rt_path_within(run->workdir, dir) || !is_real_folder(dir))
            continue;
        run->tmpdir = dir;
        return true;
    }
    return rt_fail(run, "tmpdir",
                   "none of the artifact's %zu places for the private TMPDIR is a folder here that "
                   "leaves the working folder `%s` alone",
                   run->policy.tmpdirs.n, run->workdir);
}

/* ---- Walking a path ---------------------------------------------------------------------------------- */

enum { LINKS_MAX = 40 };

static bool protect_one(struct rt_run *run, const struct stat *st, const char *of)
{
    for (size_t i = 0; i < run->n_protect; i++)
        if (run->protect[i].dev == st->st_dev && run->protect[i].ino == st->st_ino)
            return true;
    if (run->n_protect == RT_PROTECTED_MAX)
        return rt_fail(run, "self-writable", "%s lies too deep", of);
    run->protect[run->n_protect++] = (struct rt_protected){st->st_dev, st->st_ino, of, false};
    return true;
}

/* From "/" on, component by component, through links. */
struct walk {
    int dir;
    bool roots; /* every folder so far belongs to root, and nobody else may write it */
    bool any;   /* links of whoever are followed, not those of root alone */
    bool blind; /* who root is cannot be seen: not even "/" shows as root's */
    int links;
    struct rt_run *protect; /* each folder on the way is protected there; NULL: none is */
    const char *of;
    char rest[2 * PATH_MAX]; /* what is still to be walked */
};

static bool enter(struct walk *w, int fd)
{
    struct stat st;
    if (fd < 0)
        return false;
    if (w->dir >= 0)
        close(w->dir);
    w->dir = fd;
    if (fstat(fd, &st))
        return false;
    w->roots = w->roots && !st.st_uid && !(st.st_mode & 022);
    return !w->protect || protect_one(w->protect, &st, w->of);
}

static bool restart(struct walk *w)
{
    struct stat st;
    w->roots = true;
    if (!enter(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) || fstat(w->dir, &st))
        return false;
    w->blind = st.st_uid;
    return true;
}

/* Puts a link's target in front of the rest. */
static bool follow(struct walk *w, int link)
{
    char target[PATH_MAX];
    struct stat st;
    if (fstat(link, &st))
        return false;
    if (w->blind && !w->any) {
        errno = EOVERFLOW;
        return false;
    }
    errno = ELOOP;
    if ((!w->any && (!w->roots || st.st_uid)) || w->links++ == LINKS_MAX)
        return false;
    ssize_t n = readlinkat(link, "", target, sizeof target);
    if (n <= 0)
        return false;
    size_t len = (size_t)n, rest = strlen(w->rest);
    if (len + 1 + rest >= sizeof w->rest) {
        errno = ENAMETOOLONG;
        return false;
    }
    memmove(w->rest + len + 1, w->rest, rest + 1);
    memcpy(w->rest, target, len);
    w->rest[len] = '/';
    return target[0] != '/' || restart(w);
}

/* Takes the first component off the rest; *out_last says that no other follows. */
static const char *component(struct walk *w, char name[NAME_MAX + 1], bool *out_last)
{
    char *start = w->rest + strspn(w->rest, "/");
    size_t len = strcspn(start, "/");
    if (len > NAME_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    memcpy(name, start, len);
    name[len] = '\0';
    char *next = start + len + strspn(start + len, "/");
    *out_last = !*next;
    memmove(w->rest, next, strlen(next) + 1);
    return len ? name : ".";
}

/* One step; -1 with errno, 0 to go on, else the object's descriptor is in *out. */
static int step(struct walk *w, int *out)
{
    char name[NAME_MAX + 1];
    struct stat st;
    bool last;
    const char *c = component(w, name, &last);
    int fd = c ? openat(w->dir, c, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0)
        return -1;
    if (!fstat(fd, &st)) {
        if (S_ISLNK(st.st_mode)) {
            bool ok = follow(w, fd);
            int error = errno;
            close(fd);
            errno = error;
            return ok ? 0 : -1;
        }
        if (last) {
            *out = fd;
            return 1;
        }
        if (S_ISDIR(st.st_mode))
            return enter(w, fd) ? 0 : -1;
        errno = ENOTDIR;
    }
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* The object, or -1 with errno; w->dir is the folder that holds it, if it is no folder, and is to be closed. */
static int walk_to_end(struct walk *w, const char *path)
{
    int fd = -1, more = 0;
    if (strlen(path) >= sizeof w->rest) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strncpy(w->rest, path, sizeof w->rest - 1);
    if (restart(w))
        while (!(more = step(w, &fd)))
            ;
    return more == 1 ? fd : -1;
}

static void walk_done(struct walk *w)
{
    int error = errno;
    if (w->dir >= 0)
        close(w->dir);
    errno = error;
}

/* ---- What no grant may reach ------------------------------------------------------------------------- */

/* Could the file be changed by another name? Only by who owns it or may write it: the command has no
 * capabilities. */
static bool has_other_names(int fd, const struct stat *st)
{
    if (S_ISDIR(st->st_mode) || st->st_nlink < 2)
        return false;
    if (!geteuid() || st->st_uid == geteuid())
        return true;
    /* Linux before 5.8 cannot be asked. */
    return !faccessat(fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) || (errno != EACCES && errno != EROFS);
}

/* The device of the folder counts too: on an overlay a file may show another one. */
static void mark_linked(struct rt_run *run, const struct stat *file, int dir)
{
    struct stat st;
    bool known = dir >= 0 && !fstat(dir, &st);
    for (size_t i = 0; i < run->n_protect; i++) {
        struct rt_protected *p = &run->protect[i];
        if ((p->dev == file->st_dev && p->ino == file->st_ino) ||
            (known && p->dev == st.st_dev && p->ino == st.st_ino))
            p->linked = true;
    }
}

static const char *absolute(struct rt_run *run, const char *path)
{
    char cwd[PATH_MAX];
    if (*path == '/')
        return path;
    if (!getcwd(cwd, sizeof cwd))
        return NULL;
    return rt_printf(run, "%s/%s", cwd, path);
}

bool rt_protect(struct rt_run *run, const char *path, const char *of)
{
    struct walk w = {.dir = -1, .any = true, .protect = run, .of = of};
    struct stat st, end;
    const char *name = absolute(run, path);
    if (!name || stat(path, &st))
        return rt_fail_errno(run, errno, "self-writable", "`%s` (%s)", path, of);
    if (!protect_one(run, &st, of))
        return false;
    int fd = walk_to_end(&w, name);
    bool ok = fd >= 0 && !fstat(fd, &end) && protect_one(run, &end, of);
    if (!ok)
        rt_fail_errno(run, errno, "self-writable", "`%s` (%s)", path, of);
    else if (has_other_names(fd, &end))
        mark_linked(run, &end, w.dir);
    if (fd >= 0)
        close(fd);
    walk_done(&w);
    return ok;
}


bool rt_check_grant(struct rt_run *run, const struct stat *st, const char *clause)
{
    const struct rt_protected *linked = NULL;
    for (size_t i = 0; i < run->n_protect; i++) {
        const struct rt_protected *p = &run->protect[i];
        if (p->dev != st->st_dev)
            continue;
        if (p->ino == st->st_ino)
            return rt_fail(run, "self-writable", "%s reaches %s", clause, p->of);
        if (p->linked)
            linked = p;
    }
    return !linked ||
           rt_fail(run, "self-writable", "%s may reach %s, which has other names on this file system (hard links)",
                   clause, linked->of);
}

/* ---- Opening a grant --------------------------------------------------------------------------------- */

static int open_followed(const char *path)
{
    struct walk w = {.dir = -1};
    int fd = walk_to_end(&w, path);
    walk_done(&w);
    return fd;
}

bool rt_grant_failed(struct rt_run *run, int error, const char *clause)
{
    if (error == EOVERFLOW)
        return rt_fail(run, "grant",
                       "%s is a link here, and whose it is cannot be seen: root has no number in this user namespace",
                       clause);
    return rt_fail_errno(run, error, "grant", "%s", clause);
}

int rt_open_grant(const char *path, bool follow_links)
{
    int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC, SYS_RESOLVE_NO_SYMLINKS);
    if (fd >= 0 || errno != ELOOP || !follow_links)
        return fd;
    return open_followed(path);
}
