/* A command can nest folders deeper than any stack or limit of descriptors. So nothing descends: a folder
 * found in a folder is moved up to the top, and all are emptied there, one after the other. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct top {
    int fd;
    unsigned long moved; /* for names of what was moved up */
};

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

static bool is_folder(int dir, const char *name)
{
    struct stat st;
    return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

/* A folder of mode 0 can neither be read nor moved elsewhere, not even by its owner. The object is known to
 * be a folder: no link is followed. */
static bool open_up(int dir, const char *name)
{
    return !fchmodat(dir, name, 0700, 0);
}

static bool move_up(struct top *top, int dir, const char *name)
{
    char to[32];
    if (!open_up(dir, name))
        return false;
    do {
        snprintf(to, sizeof to, ".%lu", top->moved++);
        if (!renameat(dir, name, top->fd, to))
            return true;
        /* The command may have used the name. */
    } while (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR || errno == EISDIR);
    return false;
}

static DIR *open_folder(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d && fd >= 0)
        close(fd);
    return d;
}

/* Unlinks the files of a folder of the top and moves its folders up, then removes it. */
static bool empty(struct top *top, const char *name)
{
    DIR *d = open_up(top->fd, name) ? open_folder(top->fd, name) : NULL;
    if (!d)
        return false;
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));) {
        if (is_dots(e->d_name))
            continue;
        ok = is_folder(dirfd(d), e->d_name) ? move_up(top, dirfd(d), e->d_name)
                                            : !unlinkat(dirfd(d), e->d_name, 0);
    }
    int error = errno;
    closedir(d);
    errno = error;
    return ok && !unlinkat(top->fd, name, AT_REMOVEDIR);
}

/* One pass over the top; *out_found says whether there was anything: what was moved up while reading may or
 * may not have been seen. */
static bool pass(struct top *top, DIR *d, bool *out_found)
{
    *out_found = false;
    rewinddir(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (is_dots(e->d_name))
            continue;
        *out_found = true;
        if (!(is_folder(top->fd, e->d_name) ? empty(top, e->d_name) : !unlinkat(top->fd, e->d_name, 0)))
            return false;
    }
    return true;
}

bool tree_remove(const char *path)
{
    DIR *d = open_folder(AT_FDCWD, path);
    if (!d)
        return false;
    struct top top = {.fd = dirfd(d)};
    bool found = true, ok = true;
    while (ok && found)
        ok = pass(&top, d, &found);
    int error = errno;
    closedir(d);
    errno = error;
    return ok && !rmdir(path);
}
