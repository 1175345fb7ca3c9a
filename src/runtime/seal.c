#include "seal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../artifact.h"
#include "stage.h"
#include "sys.h"

/* The rights that give no more than the descriptor does. One that appends gives none to write: opened anew, the
 * file could be overwritten. */
static uint64_t rights_of(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &st) || S_ISDIR(st.st_mode))
        return 0;
    int mode = flags & O_ACCMODE;
    uint64_t rights = LL_FS_IOCTL_DEV;
    if (mode == O_RDONLY || mode == O_RDWR)
        rights |= LL_FS_READ_FILE;
    if ((mode == O_WRONLY || mode == O_RDWR) && !(flags & O_APPEND))
        rights |= LL_FS_WRITE_FILE | LL_FS_TRUNCATE;
    return rights;
}

static bool add_streams(int ruleset, uint64_t handled)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        uint64_t rights = rights_of(fd) & handled;
        /* BADFD: a pipe, a socket or a memory file, on a mount of the kernel's own, that is never refused. */
        if (rights && sys_landlock_add_path(ruleset, rights, fd) && errno != EBADFD)
            return false;
    }
    return true;
}

static bool add_view(int ruleset, uint64_t handled)
{
    int root = open("/", O_PATH | O_CLOEXEC);
    bool ok = root >= 0 && !sys_landlock_add_path(ruleset, handled, root);
    close(root);
    return ok;
}

bool seal_view(void *unused, int control)
{
    (void)unused;
    int abi = sys_landlock_abi();
    if (abi < 2) /* ABI 1 refuses every rename from one folder to another, whatever is granted */
        return abi > 0 || errno == ENOSYS || errno == EOPNOTSUPP ||
               stage_report(control, STAGE_LANDLOCK, errno, 0);
    const struct sys_landlock_attr all = {.handled_fs = sys_landlock_known(abi).handled_fs};
    int ruleset = sys_landlock_create(&all);
    bool ok = ruleset >= 0 && add_view(ruleset, all.handled_fs) && add_streams(ruleset, all.handled_fs) &&
              !sys_landlock_restrict(ruleset);
    if (!ok)
        return stage_report(control, STAGE_LANDLOCK, errno, 0);
    close(ruleset);
    return true;
}
