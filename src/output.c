#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *failure(struct arena *a, const char *what)
{
    return arena_printf(a, "%s: %s", what, strerror(errno));
}

static bool write_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static const char *write_in_place(struct arena *a, const char *path, const char *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return failure(a, "cannot be opened");
    bool ok = write_all(fd, data, len);
    const char *why = ok ? NULL : failure(a, "cannot be written");
    if (close(fd) < 0 && !why)
        why = failure(a, "cannot be written");
    return why;
}

/* The new file has the mode that creat(2) would give it (mkstemp's 0600 is widened by the umask), or that of
 * the file which it replaces. */
static bool set_mode(int fd, const struct stat *like)
{
    if (!like) {
        mode_t mask = umask(0);
        umask(mask);
        return fchmod(fd, 0666 & ~mask) == 0;
    }
    if (fchown(fd, like->st_uid, like->st_gid) < 0 && errno != EPERM)
        return false;
    return fchmod(fd, like->st_mode & 0777) == 0;
}

/* Only an edited file, which nothing can make again, waits for the disk: as with any compiler a power cut may
 * leave an artifact short, whose digest then does not match. */
static const char *write_beside(struct arena *a, const char *path, struct output *o, const struct stat *like)
{
    char *temp = arena_printf(a, "%s.XXXXXX", path);
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return failure(a, "cannot be made");
    o->temp = temp;
    o->target = path;
    const char *why = NULL;
    if (!write_all(fd, o->data, o->len) || !set_mode(fd, like) || (like && fsync(fd) < 0))
        why = failure(a, "cannot be written");
    if (close(fd) < 0 && !why)
        why = failure(a, "cannot be written");
    return why;
}

/* Does all that can fail and changes nothing: the file's content stands beside its place. */
static const char *stage(struct arena *a, struct output *o)
{
    struct stat st;
    if (!strcmp(o->path, "-"))
        return NULL;
    if (stat(o->path, &st) < 0) {
        if (errno != ENOENT)
            return failure(a, "cannot be looked at");
        /* A dangling link would be replaced by the file: say so instead. */
        if (lstat(o->path, &st) == 0)
            return "is a link that leads nowhere";
        return write_beside(a, o->path, o, NULL);
    }
    if (S_ISDIR(st.st_mode))
        return "is a folder";
    if (!S_ISREG(st.st_mode))
        return NULL;
    char *target = realpath(o->path, NULL);
    if (!target)
        return failure(a, "cannot be looked at");
    const char *kept = arena_str(a, target);
    free(target);
    return write_beside(a, kept, o, o->edit ? &st : NULL);
}

static const char *commit(struct arena *a, struct output *o)
{
    if (!strcmp(o->path, "-"))
        return write_all(STDOUT_FILENO, o->data, o->len) ? NULL : failure(a, "cannot be written");
    if (!o->temp)
        return write_in_place(a, o->path, o->data, o->len);
    if (rename(o->temp, o->target) < 0)
        return failure(a, "cannot be put in place");
    o->temp = NULL;
    return NULL;
}

const char *output_write(struct arena *a, struct output *files, size_t n, const char **out_path)
{
    const char *why = NULL;
    for (size_t i = 0; i < n && !why; i++) {
        *out_path = files[i].path;
        why = stage(a, &files[i]);
    }
    /* Renames come last: writing in place can still fail. */
    for (int renames = 0; renames < 2; renames++)
        for (size_t i = 0; i < n && !why; i++) {
            if ((files[i].temp != NULL) != renames)
                continue;
            *out_path = files[i].path;
            why = commit(a, &files[i]);
        }
    for (size_t i = 0; i < n; i++)
        if (files[i].temp)
            unlink(files[i].temp);
    return why;
}

bool output_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
