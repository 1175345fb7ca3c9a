/* One attempt per run: tries something that a sandbox may forbid and says whether it worked.
 *
 *   probe WHAT [ARG...]
 *
 * Prints "WHAT: done" and exits 0 when it succeeded, "WHAT: ERRNO" and 1 when it was refused, 2 when it was
 * called wrongly. Every attempt is first run outside any sandbox, where it must succeed; else a refusal
 * inside would prove nothing. Static, so that it needs nothing of the view that it is run in.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <linux/vm_sockets.h>
#include <mqueue.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

enum { ANSWER_TIMEOUT_S = 2, VICTIM_LIFETIME_S = 3600, LARGEST_FD = 1024 };

/* An attempt: 0 when it worked, -1 with errno set when it did not. */
typedef int attempt(char **arg);

static int fail(int error)
{
    errno = error;
    return -1;
}

/* ---- Files --------------------------------------------------------------------------------------------- */

static int close_ok(int fd)
{
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int try_read(char **arg)
{
    char byte;
    int fd = open(arg[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, &byte, 1);
    close(fd);
    return n == 1 ? 0 : n == 0 ? fail(ENODATA) : -1;
}

static int try_list(char **arg)
{
    DIR *d = opendir(arg[0]);
    if (!d)
        return -1;
    size_t n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    /* `.` and `..` alone: a cover, not the folder. */
    return n > 2 ? 0 : fail(ENODATA);
}

static int try_write(char **arg)
{
    int fd = open(arg[0], O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, "x", 1);
    close(fd);
    return n == 1 ? 0 : -1;
}

static int try_open_write(char **arg)
{
    return close_ok(open(arg[0], O_WRONLY | O_CLOEXEC));
}

static int try_open_path(char **arg)
{
    return close_ok(open(arg[0], O_RDONLY | O_CLOEXEC));
}

static int try_create(char **arg)
{
    return close_ok(open(arg[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
}

static int try_tmpfile(char **arg)
{
    return close_ok(open(arg[0], O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644));
}

static int try_unlink(char **arg)
{
    return unlink(arg[0]);
}

static int try_rename(char **arg)
{
    return rename(arg[0], arg[1]);
}

static int try_exchange(char **arg)
{
    return renameat2(AT_FDCWD, arg[0], AT_FDCWD, arg[1], RENAME_EXCHANGE);
}

static int try_truncate(char **arg)
{
    return truncate(arg[0], 0);
}

/* Needs no right of writing where only O_WRONLY is judged. */
static int try_open_truncate(char **arg)
{
    return close_ok(open(arg[0], O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static int try_mkdir(char **arg)
{
    return mkdir(arg[0], 0755);
}

static int try_rmdir(char **arg)
{
    return rmdir(arg[0]);
}

static int try_link(char **arg)
{
    return link(arg[0], arg[1]);
}

static int try_symlink(char **arg)
{
    return symlink("target", arg[0]);
}

static int try_mkfifo(char **arg)
{
    return mkfifo(arg[0], 0644);
}

/* The device of /dev/null: harmless, but any device would do. */
static int try_mknod(char **arg)
{
    return mknod(arg[0], S_IFCHR | 0666, makedev(1, 3));
}

static int try_chmod(char **arg)
{
    return chmod(arg[0], 0777);
}

/* To the owner that it has: needs no privilege, and still changes the inode. */
static int try_chown(char **arg)
{
    return chown(arg[0], getuid(), getgid());
}

static int try_utimes(char **arg)
{
    const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    return utimensat(AT_FDCWD, arg[0], past, 0);
}

static int try_setxattr(char **arg)
{
    return setxattr(arg[0], "user.sbx", "x", 1, 0);
}

/* Replaces this program: `exec FILE ARG...`; FILE's own status is then ours. */
static int try_exec(char **arg)
{
    return execv(arg[0], arg);
}

static int try_chdir_read(char **arg)
{
    return chdir(arg[0]) < 0 ? -1 : try_read(arg + 1);
}

/* Would a set-user-ID file here give a program another user's rights? */
static int try_honours_setuid(char **arg)
{
    struct statvfs fs;
    if (statvfs(arg[0], &fs))
        return -1;
    return fs.f_flag & ST_NOSUID ? fail(EPERM) : 0;
}

/* For `exec` of a copy of this program that belongs to another user and is set-user-ID. */
static int try_other_uid(char **arg)
{
    (void)arg;
    return geteuid() != getuid() ? 0 : fail(EPERM);
}

/* ---- Sockets ------------------------------------------------------------------------------------------- */

/* A service answers with at least one byte. */
static int wait_answer(int fd)
{
    char answer[16];
    struct timeval limit = {.tv_sec = ANSWER_TIMEOUT_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ssize_t n = recv(fd, answer, sizeof answer, 0);
    int error = n < 0 ? errno : ENODATA;
    close(fd);
    return n > 0 ? 0 : fail(error);
}

static socklen_t internet_address(char **arg, struct sockaddr_storage *out)
{
    uint16_t port = htons((uint16_t)strtoul(arg[1], NULL, 10));
    memset(out, 0, sizeof *out);
    if (strchr(arg[0], ':')) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = port;
        inet_pton(AF_INET6, arg[0], &in6->sin6_addr);
        return sizeof *in6;
    }
    struct sockaddr_in *in = (struct sockaddr_in *)out;
    in->sin_family = AF_INET;
    in->sin_port = port;
    inet_pton(AF_INET, arg[0], &in->sin_addr);
    return sizeof *in;
}

static int close_fail(int fd)
{
    int error = errno;
    close(fd);
    return fail(error);
}

static int connect_stream(char **arg, int protocol)
{
    struct sockaddr_storage to;
    socklen_t len = internet_address(arg, &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, len) < 0)
        return close_fail(fd);
    return wait_answer(fd);
}

static int try_tcp(char **arg)
{
    return connect_stream(arg, 0);
}

static int try_mptcp(char **arg)
{
    return connect_stream(arg, IPPROTO_MPTCP);
}

/* The data travels with the SYN: a connection without connect(2). */
static int try_fast_open(char **arg)
{
    struct sockaddr_storage to;
    socklen_t len = internet_address(arg, &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&to, len) < 0)
        return close_fail(fd);
    return wait_answer(fd);
}

static int try_udp(char **arg)
{
    struct sockaddr_storage to;
    socklen_t len = internet_address(arg, &to);
    int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (sendto(fd, "x", 1, 0, (struct sockaddr *)&to, len) < 0)
        return close_fail(fd);
    return wait_answer(fd);
}

static int try_bind(char **arg)
{
    struct sockaddr_storage at;
    socklen_t len = internet_address(arg, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&at, len) < 0 || listen(fd, 1) < 0)
        return close_fail(fd);
    return close_ok(fd);
}

static int try_raw(char **arg)
{
    (void)arg;
    return close_ok(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
}

static int try_packet(char **arg)
{
    (void)arg;
    return close_ok(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
}

static int try_vsock(char **arg)
{
    (void)arg;
    return close_ok(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int try_netlink(char **arg)
{
    (void)arg;
    return close_ok(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
}

/* A name that begins with `@` is an abstract one. */
static socklen_t unix_address(const char *name, struct sockaddr_un *out)
{
    size_t len = strlen(name);
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (len >= sizeof out->sun_path)
        len = sizeof out->sun_path - 1;
    memcpy(out->sun_path, name, len);
    bool abstract = name[0] == '@';
    if (abstract)
        out->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + !abstract);
}

static int try_unix(char **arg)
{
    struct sockaddr_un to;
    socklen_t len = unix_address(arg[0], &to);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, len) < 0)
        return close_fail(fd);
    return wait_answer(fd);
}

static int try_unix_datagram(char **arg)
{
    struct sockaddr_un to;
    socklen_t len = unix_address(arg[0], &to);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (sendto(fd, "x", 1, 0, (struct sockaddr *)&to, len) < 0)
        return close_fail(fd);
    return close_ok(fd);
}

/* One end of a datagram pair can be sent anywhere: a Unix socket without socket(2). */
static int try_pair_datagram(char **arg)
{
    struct sockaddr_un to;
    socklen_t len = unix_address(arg[0], &to);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    if (sendto(pair[0], "x", 1, 0, (struct sockaddr *)&to, len) < 0)
        return close_fail(pair[0]);
    return close_ok(pair[0]);
}

static int try_socketpair(char **arg)
{
    (void)arg;
    int pair[2];
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
}

static int try_unix_bind(char **arg)
{
    struct sockaddr_un at;
    socklen_t len = unix_address(arg[0], &at);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&at, len) < 0)
        return close_fail(fd);
    return close_ok(fd);
}

/* ---- Other ways to the same calls ---------------------------------------------------------------------- */

static void *map_ring(int fd, size_t size, uint64_t offset)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);
}

/* A socket made by the kernel on behalf of a ring: no socket(2) that a filter could see. */
static int try_ring_socket(char **arg)
{
    (void)arg;
    struct io_uring_params p = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 4, &p);
    if (ring < 0)
        return -1;
    char *sq = map_ring(ring, p.sq_off.array + p.sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
    char *cq = map_ring(ring, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    struct io_uring_sqe *sqe = map_ring(ring, p.sq_entries * sizeof *sqe, IORING_OFF_SQES);
    if (sq == MAP_FAILED || cq == MAP_FAILED || sqe == MAP_FAILED)
        return -1;
    *sqe = (struct io_uring_sqe){.opcode = IORING_OP_SOCKET, .fd = AF_INET, .off = SOCK_STREAM};
    *(uint32_t *)(void *)(sq + p.sq_off.array) = 0;
    __atomic_store_n((uint32_t *)(void *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
        return -1;
    struct io_uring_cqe *cqe = (struct io_uring_cqe *)(void *)(cq + p.cq_off.cqes);
    return cqe->res < 0 ? fail(-cqe->res) : 0;
}

/* The 32-bit entry of a 64-bit kernel: numbers of its own, among them socket as 359. */
static int try_int80_socket(char **arg)
{
    (void)arg;
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(359L), "b"(2L), "c"(1L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
    int error = (int)result;
    return error < 0 ? fail(-error) : 0;
#else
    return fail(ENOSYS);
#endif
}

/* x32 numbers are those of x86_64 with bit 30 set; 39 is getpid. */
static int try_x32(char **arg)
{
    (void)arg;
#ifdef __x86_64__
    return syscall(0x40000000L | 39) < 0 ? -1 : 0;
#else
    return fail(ENOSYS);
#endif
}

/* ---- Processes, descriptors, environment --------------------------------------------------------------- */

/* Is anything but 0, 1 and 2 open? */
static int try_inherited(char **arg)
{
    (void)arg;
    int open_fds = 0;
    for (int fd = 3; fd < LARGEST_FD; fd++)
        open_fds += fcntl(fd, F_GETFD) >= 0;
    return open_fds ? 0 : fail(EBADF);
}

static int try_variable(char **arg)
{
    return getenv(arg[0]) ? 0 : fail(ENOENT);
}

static bool file_holds(const char *path, const char *needle)
{
    static char text[1 << 20];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    return n > 0 && memmem(text, (size_t)n, needle, strlen(needle));
}

/* Does any process that can be seen, pid 1 among them, hold this text in its environment? */
static int try_environ(char **arg)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return -1;
    bool found = false;
    for (struct dirent *e; !found && (e = readdir(proc));) {
        char path[300];
        snprintf(path, sizeof path, "/proc/%s/environ", e->d_name);
        found = e->d_name[0] >= '0' && e->d_name[0] <= '9' && file_holds(path, arg[0]);
    }
    closedir(proc);
    return found ? 0 : fail(ENOENT);
}

static pid_t pid_of(const char *text)
{
    return (pid_t)strtol(text, NULL, 10);
}

/* The victim ignores the signal. */
static int try_kill(char **arg)
{
    return kill(pid_of(arg[0]), SIGUSR1);
}

static int try_ptrace(char **arg)
{
    return ptrace(PTRACE_SEIZE, pid_of(arg[0]), NULL, NULL) < 0 ? -1 : 0;
}

static int try_memory(char **arg)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/mem", arg[0]);
    return close_ok(open(path, O_RDONLY | O_CLOEXEC));
}

/* Rights are asked before the address is looked at: one that is not mapped there says that they are enough. */
static int try_vm_read(char **arg)
{
    char byte;
    const struct iovec here = {&byte, 1}, there = {&byte, 1};
    return process_vm_readv(pid_of(arg[0]), &here, 1, &there, 1, 0) >= 0 || errno == EFAULT ? 0 : -1;
}

static int try_root_of(char **arg)
{
    char path[4096];
    snprintf(path, sizeof path, "/proc/%s/root%s", arg[0], arg[1]);
    return try_read((char *[]){path});
}

static int try_setns(char **arg)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/ns/mnt", arg[0]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    return setns(fd, CLONE_NEWNS) < 0 ? close_fail(fd) : close_ok(fd);
}

static int try_user_namespace(char **arg)
{
    (void)arg;
    return unshare(CLONE_NEWUSER);
}

/* With capabilities of its own in a new namespace: makes everything writable, then writes. */
static int try_remount(char **arg)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return -1;
    if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) < 0)
        return -1;
    return try_write(arg);
}

static int try_mount(char **arg)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return -1;
    return mount("none", arg[0], "tmpfs", 0, NULL);
}

/* Any capability at all, in any set. */
static int try_capabilities(char **arg)
{
    (void)arg;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {0};
    if (syscall(SYS_capget, &header, sets) < 0)
        return -1;
    bool any = false;
    for (int i = 0; i < 2; i++)
        any |= sets[i].effective || sets[i].permitted || sets[i].inheritable;
    for (int cap = 0; cap <= 63; cap++)
        any |= prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1;
    return any ? 0 : fail(EPERM);
}

static int try_new_privileges(char **arg)
{
    (void)arg;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : fail(EPERM);
}

static int try_add_key(char **arg)
{
    (void)arg;
    const int process_keyring = -2;
    return syscall(SYS_add_key, "user", "sbx-probe", "x", 1, process_keyring) < 0 ? -1 : 0;
}

/* ---- Objects of the IPC namespace: numbers that the victim's first line tells --------------------------- */

static int id_of(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static int try_shared_memory(char **arg)
{
    void *at = shmat(id_of(arg[0]), NULL, SHM_RDONLY);
    return (intptr_t)at == -1 ? -1 : 0;
}

static int try_semaphore(char **arg)
{
    return semctl(id_of(arg[0]), 0, GETVAL) < 0 ? -1 : 0;
}

static int try_queue(char **arg)
{
    struct msqid_ds state;
    return msgctl(id_of(arg[0]), IPC_STAT, &state);
}

static int try_posix_queue(char **arg)
{
    return close_ok(mq_open(arg[0], O_RDONLY | O_CLOEXEC));
}

/* ---- Terminal ------------------------------------------------------------------------------------------ */

static int type_into(int fd)
{
    return ioctl(fd, TIOCSTI, "x");
}

static int try_type_stdin(char **arg)
{
    (void)arg;
    return type_into(STDIN_FILENO);
}

static int try_type_tty(char **arg)
{
    (void)arg;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    return fd < 0 ? -1 : type_into(fd);
}

/* ---- Helpers of the runner ----------------------------------------------------------------------------- */

static int try_true(char **arg)
{
    (void)arg;
    return 0;
}

/* A process outside for others to attack: `victim /NAME` prints the numbers of a shared memory, a semaphore
 * and a queue, and makes a POSIX queue of that name. Ignores the probe's signal. TERM, the end of its parent
 * or its own deadline ends it and all that it made. */
static int be_victim(char **arg)
{
    sigset_t ends;
    int signal_number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGALRM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    signal(SIGUSR1, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    alarm(VICTIM_LIFETIME_S);
    int memory = shmget(IPC_PRIVATE, 1, 0600);
    int semaphore = semget(IPC_PRIVATE, 1, 0600);
    int queue = msgget(IPC_PRIVATE, 0600);
    close_ok(mq_open(arg[0], O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600, NULL));
    printf("%d %d %d\n", memory, semaphore, queue);
    fflush(stdout);
    sigwait(&ends, &signal_number);
    shmctl(memory, IPC_RMID, NULL);
    semctl(semaphore, 0, IPC_RMID);
    msgctl(queue, IPC_RMID, NULL);
    mq_unlink(arg[0]);
    return 0;
}

/* ---- Table --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int n_args;
    attempt *run;
} attempts[] = {
    {"read", 1, try_read},
    {"list", 1, try_list},
    {"write", 1, try_write},
    {"open-write", 1, try_open_write},
    {"open", 1, try_open_path},
    {"create", 1, try_create},
    {"tmpfile", 1, try_tmpfile},
    {"unlink", 1, try_unlink},
    {"rename", 2, try_rename},
    {"exchange", 2, try_exchange},
    {"truncate", 1, try_truncate},
    {"open-truncate", 1, try_open_truncate},
    {"mkdir", 1, try_mkdir},
    {"rmdir", 1, try_rmdir},
    {"link", 2, try_link},
    {"symlink", 1, try_symlink},
    {"mkfifo", 1, try_mkfifo},
    {"mknod", 1, try_mknod},
    {"chmod", 1, try_chmod},
    {"chown", 1, try_chown},
    {"utimes", 1, try_utimes},
    {"setxattr", 1, try_setxattr},
    {"exec", 1, try_exec},
    {"chdir-read", 2, try_chdir_read},
    {"honours-setuid", 1, try_honours_setuid},
    {"other-uid", 0, try_other_uid},
    {"tcp", 2, try_tcp},
    {"mptcp", 2, try_mptcp},
    {"fast-open", 2, try_fast_open},
    {"udp", 2, try_udp},
    {"bind", 2, try_bind},
    {"raw", 0, try_raw},
    {"packet", 0, try_packet},
    {"vsock", 0, try_vsock},
    {"netlink", 0, try_netlink},
    {"unix", 1, try_unix},
    {"unix-datagram", 1, try_unix_datagram},
    {"pair-datagram", 1, try_pair_datagram},
    {"socketpair", 0, try_socketpair},
    {"unix-bind", 1, try_unix_bind},
    {"ring-socket", 0, try_ring_socket},
    {"int80-socket", 0, try_int80_socket},
    {"x32", 0, try_x32},
    {"inherited", 0, try_inherited},
    {"variable", 1, try_variable},
    {"environ", 1, try_environ},
    {"kill", 1, try_kill},
    {"ptrace", 1, try_ptrace},
    {"memory", 1, try_memory},
    {"vm-read", 1, try_vm_read},
    {"root-of", 2, try_root_of},
    {"setns", 1, try_setns},
    {"user-namespace", 0, try_user_namespace},
    {"remount", 1, try_remount},
    {"mount", 1, try_mount},
    {"capabilities", 0, try_capabilities},
    {"new-privileges", 0, try_new_privileges},
    {"add-key", 0, try_add_key},
    {"shared-memory", 1, try_shared_memory},
    {"semaphore", 1, try_semaphore},
    {"queue", 1, try_queue},
    {"posix-queue", 1, try_posix_queue},
    {"type-stdin", 0, try_type_stdin},
    {"type-tty", 0, try_type_tty},
    {"true", 0, try_true},
    {"victim", 1, be_victim},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc >= 2 && i < sizeof attempts / sizeof *attempts; i++) {
        if (strcmp(attempts[i].name, argv[1]) != 0 || argc - 2 < attempts[i].n_args)
            continue;
        errno = 0;
        if (attempts[i].run(argv + 2) == 0) {
            printf("%s: done\n", argv[1]);
            return 0;
        }
        printf("%s: %s\n", argv[1], strerrorname_np(errno));
        return 1;
    }
    fprintf(stderr, "probe: no such attempt, or arguments missing\n");
    return 2;
}
