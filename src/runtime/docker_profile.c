/* The seccomp profile that a container gets in place of the engine's own (seccomp=FILE replaces it): JSON,
 * made at launch from a list of names, because written out it would be larger than the rest of sbxrun's text.
 *
 * Refused is what is not listed, so it is no weaker than the default profile of docker, which lists too; on
 * top go the families of the network variant (docs/filters.md says why each call is refused). There are no
 * rules for TIOCSTI: the terminal of a container is its own, and no terminal of the caller's is ever in it.
 *
 * Names that the engine's libseccomp does not know are skipped by it. No architecture is named: the engine
 * then takes its own only, and kills what enters by another one.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine_docker.h"

/* All calls of x86_64 and aarch64 that an ordinary program without capabilities has a use for. Not in it:
 * everything that docs/filters.md refuses, calls that need capabilities, and those that place memory on nodes
 * (mbind and its like) or look into other processes without ptrace (kcmp). */
static const char ALLOWED[] =
    "accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown "
    "clock_adjtime clock_getres clock_gettime clock_nanosleep close close_range connect copy_file_range "
    "creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd "
    "eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchmod "
    "fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr "
    "fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake "
    "futimesat get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid "
    "getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid "
    "getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr "
    "getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy "
    "io_getevents io_pgetevents io_setup io_submit ioctl ioprio_get ioprio_set kill landlock_add_rule "
    "landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listxattr "
    "listxattrat llistxattr lremovexattr lseek lsetxattr lstat madvise map_shadow_stack membarrier "
    "memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap modify_ldt "
    "mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl "
    "msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep newfstatat open "
    "openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll "
    "ppoll prctl pread64 preadv preadv2 prlimit64 process_mrelease process_vm_readv process_vm_writev "
    "pselect6 ptrace pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg "
    "recvmsg remap_file_pages removexattr removexattrat rename renameat renameat2 restart_syscall rmdir "
    "rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend "
    "rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity "
    "sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity "
    "sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop "
    "semtimedop sendfile sendmmsg sendmsg sendto set_robust_list set_thread_area set_tid_address setfsgid "
    "setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid "
    "setrlimit setsid setsockopt setuid setxattr setxattrat shmat shmctl shmdt shmget shutdown "
    "sigaltstack signalfd signalfd4 splice stat statfs statx symlink symlinkat sync sync_file_range "
    "syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime "
    "timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask uname unlink "
    "unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev";

/* Calls allowed for some arguments: (argument & mask) == value, for one argument or for two. */
struct test {
    unsigned index;
    unsigned mask, value;
};
struct conditional {
    const char *call;
    enum { ANY, OPEN } network;
    unsigned n_tests;
    struct test tests[2];
};

/* What the kernel reads as an int is compared as one. */
#define LOW 0xffffffffu

static const struct conditional CONDITIONALS[] = {
    {"socket", OPEN, 1, {{0, LOW, 2}}},                 /* AF_INET */
    {"socket", OPEN, 1, {{0, LOW, 10}}},                /* AF_INET6 */
    {"socket", OPEN, 1, {{0, LOW, 16}}},                /* AF_NETLINK */
    {"socketpair", ANY, 2, {{0, LOW, 1}, {1, 0xf, 1}}}, /* AF_UNIX, SOCK_STREAM */
    {"socketpair", ANY, 2, {{0, LOW, 1}, {1, 0xf, 5}}}, /* AF_UNIX, SOCK_SEQPACKET */
    {"clone", ANY, 1, {{0, 0x7e020000u, 0}}},           /* no new namespace */
    /* Linux as it is, the 32-bit uname, no address randomisation, both, and the question which it is. */
    {"personality", ANY, 1, {{0, LOW, 0}}},
    {"personality", ANY, 1, {{0, LOW, 0x8}}},
    {"personality", ANY, 1, {{0, LOW, 0x20000}}},
    {"personality", ANY, 1, {{0, LOW, 0x20008}}},
    {"personality", ANY, 1, {{0, LOW, LOW}}},
};

struct text {
    char *data;
    size_t len, cap;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...)
{
    va_list args;
    if (t->len >= t->cap)
        return;
    va_start(args, fmt);
    int n = vsnprintf(t->data + t->len, t->cap - t->len, fmt, args);
    va_end(args);
    t->len = n < 0 ? t->cap : t->len + (size_t)n;
}

static void put_names(struct text *t)
{
    const char *name = ALLOWED;
    put(t, "{\"names\":[");
    for (size_t n; *name; name += n + (name[n] == ' ')) {
        n = strcspn(name, " ");
        put(t, "%s\"%.*s\"", name == ALLOWED ? "" : ",", (int)n, name);
    }
    put(t, "],\"action\":\"SCMP_ACT_ALLOW\"}");
}

static void put_conditional(struct text *t, const struct conditional *c)
{
    put(t, ",\n{\"names\":[\"%s\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[", c->call);
    for (unsigned i = 0; i < c->n_tests; i++)
        put(t, "%s{\"index\":%u,\"value\":%u,\"valueTwo\":%u,\"op\":\"SCMP_CMP_MASKED_EQ\"}", i ? "," : "",
            c->tests[i].index, c->tests[i].mask, c->tests[i].value);
    put(t, "]}");
}

static void put_refusal(struct text *t, const char *names, int error)
{
    put(t, ",\n{\"names\":[%s],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%d}", names, error);
}

size_t docker_profile(char *data, size_t cap, bool network_open)
{
    struct text t = {data, 0, cap};
    put(&t, "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[\n");
    put_names(&t);
    /* The C libraries fall back to older calls after ENOSYS, not after EPERM. */
    put_refusal(&t, "\"clone3\",\"io_uring_setup\",\"io_uring_enter\",\"io_uring_register\"", ENOSYS);
    if (!network_open)
        put_refusal(&t, "\"socket\"", EACCES);
    for (size_t i = 0; i < sizeof CONDITIONALS / sizeof *CONDITIONALS; i++)
        if (network_open || CONDITIONALS[i].network == ANY)
            put_conditional(&t, &CONDITIONALS[i]);
    put(&t, "\n]}\n");
    return t.len < t.cap ? t.len : 0;
}
