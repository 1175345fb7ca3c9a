#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../artifact.h"

/* ---- Landlock ---------------------------------------------------------------------------------------- */

enum { CREATE_RULESET_VERSION = 1, RULE_PATH_BENEATH = 1 };

int sys_landlock_abi(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
}

struct sys_landlock_attr sys_landlock_known(int abi)
{
    struct sys_landlock_attr known = {LL_FS_REFER - 1, 0, 0};
    if (abi >= 2)
        known.handled_fs |= LL_FS_REFER;
    if (abi >= 3)
        known.handled_fs |= LL_FS_TRUNCATE;
    if (abi >= 4)
        known.handled_net |= LL_NET_BIND_TCP | LL_NET_CONNECT_TCP;
    if (abi >= 5)
        known.handled_fs |= LL_FS_IOCTL_DEV;
    if (abi >= 6)
        known.scoped |= LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL;
    if (abi >= 9)
        known.handled_fs |= LL_FS_RESOLVE_UNIX;
    if (abi >= 10)
        known.handled_net |= LL_NET_BIND_UDP | LL_NET_SEND_UDP;
    return known;
}

int sys_landlock_create(const struct sys_landlock_attr *attr)
{
    return (int)syscall(SYS_landlock_create_ruleset, attr, sizeof *attr, 0);
}

int sys_landlock_add_path(int ruleset, uint64_t access, int object)
{
    struct __attribute__((packed)) {
        uint64_t access;
        int32_t parent;
    } rule = {access, object};
    return (int)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
}

int sys_landlock_restrict(int ruleset)
{
    return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}

/* ---- Files and mounts -------------------------------------------------------------------------------- */

int sys_openat2(int dir, const char *path, int flags, uint64_t resolve)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = {(uint64_t)flags, 0, resolve};
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

int sys_clone_tree(int object)
{
    return (int)syscall(SYS_open_tree, object, "",
                        SYS_OPEN_TREE_CLONE | O_CLOEXEC | SYS_AT_EMPTY_PATH | SYS_AT_RECURSIVE);
}

int sys_new_fs(const char *type, const char *key, const char *value, unsigned attrs)
{
    enum { FSCONFIG_SET_STRING = 1, FSCONFIG_CREATE = 6, FS_CLOEXEC = 1 };
    int tree = -1, fs = (int)syscall(SYS_fsopen, type, FS_CLOEXEC);
    if (fs < 0)
        return -1;
    if ((!key || !syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0)) &&
        !syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0))
        tree = (int)syscall(SYS_fsmount, fs, FS_CLOEXEC, attrs);
    int error = errno;
    close(fs);
    errno = error;
    return tree;
}

int sys_put_tree(int tree, int object)
{
    return (int)syscall(SYS_move_mount, tree, "", object, "",
                        SYS_MOVE_MOUNT_F_EMPTY_PATH | SYS_MOVE_MOUNT_T_EMPTY_PATH);
}

int sys_mount_setattr(int dir, const char *path, uint64_t set, uint64_t propagation)
{
    struct {
        uint64_t set, clear, propagation, userns;
    } attr = {set, 0, propagation, 0};
    return (int)syscall(SYS_mount_setattr, dir, path, SYS_AT_RECURSIVE | (*path ? 0 : SYS_AT_EMPTY_PATH),
                        &attr, sizeof attr);
}

/* ---- Processes --------------------------------------------------------------------------------------- */

pid_t sys_clone(unsigned long namespaces)
{
    /* The order of the arguments differs between architectures, but all behind the flags are zero. */
    return (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0);
}

int sys_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int sys_pidfd_kill(int pidfd, int sig)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

int sys_close_range(unsigned first, unsigned last, bool on_exec)
{
    enum { CLOSE_RANGE_ON_EXEC = 4 };
    return (int)syscall(SYS_close_range, first, last, on_exec ? CLOSE_RANGE_ON_EXEC : 0);
}

struct cap_header {
    uint32_t version;
    int pid;
};
struct cap_data {
    uint32_t effective, permitted, inheritable;
};
static const struct cap_header CAP_SELF = {.version = 0x20080522}; /* version 3: two words of 32 bits */

bool sys_capable(unsigned capability)
{
    struct cap_header header = CAP_SELF;
    struct cap_data data[2];
    return !syscall(SYS_capget, &header, data) && data[capability / 32].effective >> capability % 32 & 1;
}

bool sys_drop_capabilities(void)
{
    /* NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off, NO_CAP_AMBIENT_RAISE, each with its lock: becoming uid 0 or
     * executing as uid 0 gives nothing. */
    enum { SECURE_BITS = 0x01 | 0x02 | 0x04 | 0x08 | 0x20 | 0x40 | 0x80, CAP_SETPCAP = 8 };
    if (sys_capable(CAP_SETPCAP)) {
        if (prctl(PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0))
            return false;
        for (int c = 0; !prctl(PR_CAPBSET_DROP, c, 0, 0, 0); c++)
            ;
        if (errno != EINVAL) /* one past the kernel's last capability */
            return false;
    }
    struct cap_header header = CAP_SELF;
    static const struct cap_data NONE[2];
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
        return false;
    return !syscall(SYS_capset, &header, NONE);
}

int sys_seccomp(const void *code, size_t n)
{
    enum { SET_MODE_FILTER = 1 };
    const struct {
        unsigned short len;
        const void *filter;
    } program = {(unsigned short)n, code};
    return (int)syscall(SYS_seccomp, SET_MODE_FILTER, 0, &program);
}
