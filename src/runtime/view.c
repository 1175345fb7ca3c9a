#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../artifact.h"
#include "stage.h"
#include "sys.h"

static bool report(int control, enum stage_step step)
{
    return stage_report(control, step, errno, 0);
}

static bool report_object(int control, enum stage_step step, const struct view_object *o)
{
    return stage_report(control, step, errno, o->rule + 1);
}

/* Opens the object in this namespace. Its owner could only be judged outside (in a user namespace root's
 * files show another one); so it must be the very object that was judged there. */
static int open_again(const struct view_object *o, int control)
{
    struct stat st;
    int fd = open(o->path, O_PATH | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &st)) {
        if (st.st_dev == o->dev && st.st_ino == o->ino)
            return fd;
        errno = ESTALE;
    }
    report_object(control, STAGE_CHANGED, o);
    return -1;
}

/* Copies the mounts of every write grant, while they still are writable; fd[i] is the place to put them. */
static bool take_out(struct view *v, int *places, int control)
{
    for (size_t i = 0; i < v->n_writable; i++) {
        struct view_object *o = &v->writable[i];
        places[i] = open_again(o, control);
        if (places[i] < 0)
            return false;
        o->fd = sys_clone_tree(places[i]);
        if (o->fd < 0 || sys_mount_setattr(o->fd, "", SYS_ATTR_NOSUID, 0))
            return report_object(control, STAGE_CLONE, o);
    }
    return true;
}

static bool put_back(struct view *v, const int *places, int control)
{
    for (size_t i = 0; i < v->n_writable; i++) {
        struct view_object *o = &v->writable[i];
        if (sys_put_tree(o->fd, places[i]))
            return report_object(control, STAGE_PUT_BACK, o);
        close(o->fd);
        close(places[i]);
        o->fd = -1;
    }
    return true;
}

/* No grant is "/": it would reach sbxrun itself, and was refused. */
static bool make_read_only(struct view *v, int *places, int control)
{
    if (!take_out(v, places, control))
        return false;
    if (sys_mount_setattr(AT_FDCWD, "/", SYS_ATTR_RDONLY | SYS_ATTR_NOSUID, 0))
        return report(control, STAGE_READ_ONLY);
    return put_back(v, places, control);
}

/* A fresh tmpfs on the object; its root, or -1. */
static int mount_tmpfs(int object, const char *mode)
{
    int tree = sys_new_fs("tmpfs", "mode", mode, SYS_ATTR_NOSUID | SYS_ATTR_NODEV);
    if (tree >= 0 && sys_put_tree(tree, object)) {
        int error = errno;
        close(tree);
        errno = error;
        return -1;
    }
    return tree;
}

static bool make_tmpdir(struct view *v, int control)
{
    int place = sys_openat2(AT_FDCWD, v->tmpdir, O_PATH | O_CLOEXEC | O_DIRECTORY, SYS_RESOLVE_NO_SYMLINKS);
    if (place >= 0) {
        v->tmpdir_fd = mount_tmpfs(place, "0700");
        close(place);
    }
    if (v->tmpdir_fd < 0 || mkdirat(v->tmpdir_fd, "home", 0700))
        return report(control, STAGE_TMPDIR);
    return true;
}

static bool make_private(struct view *v, int control)
{
    for (size_t i = 0; i < v->n_private; i++) {
        struct view_object *o = &v->private[i];
        int place = open_again(o, control);
        if (place < 0)
            return false;
        o->fd = mount_tmpfs(place, "1777"); /* what /dev/shm has everywhere */
        close(place);
        if (o->fd < 0)
            return report_object(control, STAGE_PRIVATE, o);
    }
    return true;
}

static bool make_proc(struct view *v, int control)
{
    const unsigned attrs = SYS_ATTR_NOSUID | SYS_ATTR_NODEV | SYS_ATTR_NOEXEC;
    int place = open("/proc", O_PATH | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW);
    /* Read-only: uid 0 without capabilities may still write much of /proc/sys. */
    v->proc_fd = place < 0 ? -1 : sys_new_fs("proc", NULL, NULL, attrs | (v->confine ? SYS_ATTR_RDONLY : 0u));
    if (v->proc_fd < 0 || sys_put_tree(v->proc_fd, place))
        return report(control, STAGE_PROC);
    close(place);
    return true;
}

bool view_make(struct view *v, int control)
{
    int places[LL_WRITABLE_MAX];
    v->tmpdir_fd = v->proc_fd = -1;
    /* Nothing done here may reach the host, and nothing that the host mounts later may appear here. */
    if (sys_mount_setattr(AT_FDCWD, "/", 0, MS_PRIVATE))
        return report(control, STAGE_PROPAGATION);
    if (!v->confine)
        return make_proc(v, control);
    if (v->read_only && !make_read_only(v, places, control))
        return false;
    return make_proc(v, control) && make_tmpdir(v, control) && make_private(v, control);
}
