/* The private view of the landlock engine: in the sandbox's own mount namespace everything is read-only but
 * the write grants, TMPDIR and private folders are fresh, and /proc shows the sandbox alone. It closes what
 * Landlock never judges: modes, owners, times and attributes outside the grants. */
#ifndef SBX_VIEW_H
#define SBX_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One folder or file of the host, as the parent opened and checked it. */
struct view_object {
    const char *path;
    dev_t dev;
    ino_t ino;
    size_t rule; /* for messages */
    int fd;      /* filled by view_make(): a private folder's new root, or -1 */
};

struct view {
    bool confine;       /* false: nothing but an own /proc */
    bool read_only;     /* all but the write grants */
    const char *tmpdir; /* becomes a tmpfs with the folder `home` */
    struct view_object *writable, *private;
    size_t n_writable, n_private;
    int tmpdir_fd, proc_fd; /* filled by view_make(): the new roots */
};

/* In the new mount namespace, before anything else is done there. On failure it was told to the control
 * socket (stage.h) and false is returned. */
bool view_make(struct view *v, int control);

#endif
