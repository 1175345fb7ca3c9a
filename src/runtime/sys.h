/* System calls that the C libraries of older systems have no wrapper or no constants for, as thin as can be:
 * -1 and errno on failure, like the rest. Constants are our own, because musl-gcc has no <linux/...> and
 * glibc's <sys/mount.h> and <linux/mount.h> exclude each other. */
#ifndef SBX_SYS_H
#define SBX_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- Landlock (5.13) --------------------------------------------------------------------------------- */

/* The first three fields of struct landlock_ruleset_attr. A kernel that knows fewer takes it as long as the
 * rest is zero, one that knows more takes the missing ones as zero. */
struct sys_landlock_attr {
    uint64_t handled_fs, handled_net, scoped;
};

/* The ABI, 1 or more; or -1 (ENOSYS: not built in, EOPNOTSUPP: not enabled at boot). */
int sys_landlock_abi(void);
/* All that an ABI can handle; a bit that the kernel does not know is refused by it. */
struct sys_landlock_attr sys_landlock_known(int abi);
int sys_landlock_create(const struct sys_landlock_attr *attr);
/* `object` is any descriptor of the file or folder. */
int sys_landlock_add_path(int ruleset, uint64_t access, int object);
int sys_landlock_restrict(int ruleset);

/* ---- Files and mounts -------------------------------------------------------------------------------- */

enum { SYS_RESOLVE_NO_MAGICLINKS = 0x02, SYS_RESOLVE_NO_SYMLINKS = 0x04 };
int sys_openat2(int dir, const char *path, int flags, uint64_t resolve); /* 5.6 */

enum {
    SYS_OPEN_TREE_CLONE = 1,
    SYS_MOVE_MOUNT_F_EMPTY_PATH = 0x04,
    SYS_MOVE_MOUNT_T_EMPTY_PATH = 0x40,
    SYS_AT_EMPTY_PATH = 0x1000,
    SYS_AT_RECURSIVE = 0x8000,
};
enum sys_mount_attr {
    SYS_ATTR_RDONLY = 0x01,
    SYS_ATTR_NOSUID = 0x02,
    SYS_ATTR_NODEV = 0x04,
    SYS_ATTR_NOEXEC = 0x08
};
/* A detached, recursive copy of the mounts at and beneath the object (5.2). */
int sys_clone_tree(int object);
/* A new, detached file system of a type, `key` set to `value`, with a set of sys_mount_attr (5.2). */
int sys_new_fs(const char *type, const char *key, const char *value, unsigned attrs);
/* Mounts a detached tree on the object. */
int sys_put_tree(int tree, int object);
/* Sets attributes on all mounts at and beneath dir/path; propagation 0 leaves it (5.12). */
int sys_mount_setattr(int dir, const char *path, uint64_t set, uint64_t propagation);

/* ---- Processes --------------------------------------------------------------------------------------- */

/* fork() into new namespaces: CLONE_NEW* flags; the parent gets SIGCHLD. */
pid_t sys_clone(unsigned long namespaces);
/* A close-on-exec descriptor of a process: readable once it has ended, of pid 1 of a namespace once all of that
 * has (5.3). Where it is sent it keeps its meaning. */
int sys_pidfd(pid_t pid);
int sys_pidfd_kill(int pidfd, int sig); /* 5.1 */
/* Closes first..last, or marks them close-on-exec (5.9, flag 5.11). */
int sys_close_range(unsigned first, unsigned last, bool on_exec);
/* Is the capability in the effective set? */
bool sys_capable(unsigned capability);
/* Empties effective, permitted, inheritable, ambient and bounding set, and locks the secure bits. */
bool sys_drop_capabilities(void);
/* Installs a filter: n instructions of 8 bytes. */
int sys_seccomp(const void *code, size_t n);

enum { SYS_CAP_SYS_ADMIN = 21 };

#if defined __x86_64__
#define SYS_AUDIT_ARCH UINT32_C(0xC000003E)
#elif defined __aarch64__
#define SYS_AUDIT_ARCH UINT32_C(0xC00000B7)
#else
#error "no seccomp program is made for this architecture"
#endif

#endif
