/* LINK: gen/filters.c */
/* The seccomp programs: both architectures' by an interpreter of classic BPF, and this machine's for real.
 *
 * Expectations are written by hand from docs/filters.md, with the numbers of the kernel's own tables, so that
 * a slip of the generator or of libseccomp's tables shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filters.h"

enum { X86 = 0, ARM = 1, N_ARCHS = 2 };
static const uint32_t arch_tokens[N_ARCHS] = {0xC000003Eu, 0xC00000B7u};

#define ALLOWED 0
#define HIGH UINT64_C(0xdeadbeef00000000)

/* ---- Interpreter ------------------------------------------------------------------------------------- */

/* What the program answers: 0 for ALLOW, an errno, or -1 for anything else and for any step out of bounds.
 * Counts the instructions run. */
static int run(const struct filter_program *p, const struct seccomp_data *data, unsigned *steps)
{
    uint32_t a = 0;

    *steps = 0;
    for (size_t pc = 0; pc < p->count; pc++) {
        uint64_t word = p->code[pc];
        unsigned code = word & 0xffff, jt = word >> 16 & 0xff, jf = word >> 24 & 0xff;
        uint32_t k = (uint32_t)(word >> 32);

        ++*steps;
        switch (code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (k % 4 != 0 || k > sizeof(*data) - 4)
                return -1;
            memcpy(&a, (const char *)data + k, 4);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= k;
            break;
        case BPF_JMP | BPF_JA:
            pc += k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            pc += a == k ? jt : jf;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            pc += a > k ? jt : jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            pc += a >= k ? jt : jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            pc += (a & k) ? jt : jf;
            break;
        case BPF_RET | BPF_K:
            if (k == SECCOMP_RET_ALLOW)
                return ALLOWED;
            return (k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO ? (int)(k & SECCOMP_RET_DATA) : -1;
        default:
            return -1;
        }
    }
    return -1;
}

static int ask(const char *network, uint32_t program, uint32_t arch, int nr, uint64_t a0, uint64_t a1)
{
    const struct filter_program *p = filter_find(network, program);
    struct seccomp_data data = {.nr = nr, .arch = arch, .args = {a0, a1}};
    unsigned steps;

    assert_non_null(p);
    return run(p, &data, &steps);
}

static void expect(const char *network, int arch, const char *what, int nr, uint64_t a0, uint64_t a1,
                   int want)
{
    int got = ask(network, arch_tokens[arch], arch_tokens[arch], nr, a0, a1);

    if (got != want)
        fail_msg("%s, %s: %s(%#llx, %#llx) gives %d, not %d", network, arch == X86 ? "x86_64" : "aarch64",
                 what, (unsigned long long)a0, (unsigned long long)a1, got, want);
}

/* ---- Numbers, from arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h -------- */

enum { SOCKET, SOCKETPAIR, IOCTL, CLONE, UNSHARE };
static const int nr_of[][N_ARCHS] = {
    [SOCKET] = {41, 198}, [SOCKETPAIR] = {53, 199}, [IOCTL] = {16, 29},
    [CLONE] = {56, 220},  [UNSHARE] = {272, 97},
};

/* -1: the architecture has no such call. */
static const struct {
    const char *name;
    int nr[N_ARCHS];
    int error;
} always[] = {
    {"io_uring_setup", {425, 425}, ENOSYS},
    {"io_uring_enter", {426, 426}, ENOSYS},
    {"io_uring_register", {427, 427}, ENOSYS},
    {"clone3", {435, 435}, ENOSYS},
    {"setns", {308, 268}, EPERM},
    {"add_key", {248, 217}, ENOSYS},
    {"request_key", {249, 218}, ENOSYS},
    {"keyctl", {250, 219}, ENOSYS},
    {"bpf", {321, 280}, EPERM},
    {"perf_event_open", {298, 241}, EPERM},
    {"userfaultfd", {323, 282}, EPERM},
    {"mount", {165, 40}, EPERM},
    {"umount2", {166, 39}, EPERM},
    {"pivot_root", {155, 41}, EPERM},
    {"chroot", {161, 51}, EPERM},
    {"open_tree", {428, 428}, EPERM},
    {"move_mount", {429, 429}, EPERM},
    {"fsopen", {430, 430}, EPERM},
    {"fsconfig", {431, 431}, EPERM},
    {"fsmount", {432, 432}, EPERM},
    {"fspick", {433, 433}, EPERM},
    {"mount_setattr", {442, 442}, EPERM},
    {"open_by_handle_at", {304, 265}, EPERM},
    {"pidfd_getfd", {438, 438}, EPERM},
    {"kexec_load", {246, 104}, EPERM},
    {"kexec_file_load", {320, 294}, EPERM},
    {"init_module", {175, 105}, EPERM},
    {"finit_module", {313, 273}, EPERM},
    {"delete_module", {176, 106}, EPERM},
    {"reboot", {169, 142}, EPERM},
    {"swapon", {167, 224}, EPERM},
    {"swapoff", {168, 225}, EPERM},
    {"acct", {163, 89}, EPERM},
    {"quotactl", {179, 60}, EPERM},
    {"quotactl_fd", {443, 443}, EPERM},
    {"settimeofday", {164, 170}, EPERM},
    {"clock_settime", {227, 112}, EPERM},
    {"iopl", {172, -1}, EPERM},
    {"ioperm", {173, -1}, EPERM},
    {"vhangup", {153, 58}, EPERM},
    {"syslog", {103, 116}, EPERM},
    {"lookup_dcookie", {212, 18}, EPERM},
};

static const char *const networks[] = {"none", "open"};
#define EACH_PROGRAM(net, arch)                    \
    for (int net##_i = 0; net##_i < 2; net##_i++)  \
        for (int arch = 0; arch < N_ARCHS; arch++) \
            for (const char *net = networks[net##_i]; net; net = NULL)

static bool is_special(int arch, int nr)
{
    for (size_t i = 0; i < sizeof(nr_of) / sizeof(nr_of[0]); i++)
        if (nr_of[i][arch] == nr)
            return true;
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        if (always[i].nr[arch] == nr)
            return true;
    return false;
}

static void table_is_complete(void **state)
{
    (void)state;
    assert_int_equal(n_filter_programs, 4);
    EACH_PROGRAM(net, arch)
    {
        const struct filter_program *p = filter_find(net, arch_tokens[arch]);
        assert_non_null(p);
        assert_int_equal(p->arch, arch_tokens[arch]);
        assert_in_range(p->count, 1, 4096);
    }
    assert_null(filter_find("none", 0x40000003u));
    assert_null(filter_find("loopback", arch_tokens[X86]));
}

/* Exactly the listed numbers are refused: every other number up to 999 passes, with any arguments. */
static void numbers_are_the_listed_ones(void **state)
{
    (void)state;
    EACH_PROGRAM(net, arch)
    {
        for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
            if (always[i].nr[arch] >= 0) {
                expect(net, arch, always[i].name, always[i].nr[arch], 0, 0, always[i].error);
                expect(net, arch, always[i].name, always[i].nr[arch], ~UINT64_C(0), ~UINT64_C(0),
                       always[i].error);
            }
        for (int nr = 0; nr < 1000; nr++)
            if (!is_special(arch, nr)) {
                expect(net, arch, "other call", nr, 0, 0, ALLOWED);
                expect(net, arch, "other call", nr, ~UINT64_C(0), ~UINT64_C(0), ALLOWED);
            }
    }
}

static void landlock_stays_allowed(void **state)
{
    (void)state;
    EACH_PROGRAM(net, arch)
    {
        for (int nr = 444; nr <= 446; nr++)
            expect(net, arch, "landlock", nr, 0, 0, ALLOWED);
    }
}

static void foreign_entries_are_refused(void **state)
{
    /* i386, x32's token is x86_64's, 32-bit ARM, riscv64, nothing */
    static const uint32_t foreign[] = {0x40000003u, 0x40000028u, 0xC00000F3u, 0, 0xffffffffu};
    static const int calls[] = {0, 1, 20, 41, 102, 198, 281, 359, 360};

    (void)state;
    EACH_PROGRAM(net, arch)
    {
        for (size_t f = 0; f < sizeof(foreign) / sizeof(foreign[0]); f++)
            for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
                assert_int_equal(ask(net, arch_tokens[arch], foreign[f], calls[c], 1, 1), ENOSYS);
        for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
            assert_int_equal(ask(net, arch_tokens[arch], arch_tokens[!arch], calls[c], 1, 1), ENOSYS);
    }
    for (int n = 0; n < 2; n++)
        for (int nr = 0; nr < 600; nr++) {
            expect(networks[n], X86, "x32", nr | 0x40000000, 1, 1, ENOSYS);
            expect(networks[n], X86, "x32, sign", (int)((unsigned)nr | 0xc0000000u), 1, 1, ENOSYS);
        }
}

static void socket_families(void **state)
{
    static const int allowed_when_open[] = {2, 10, 16};

    (void)state;
    for (int arch = 0; arch < N_ARCHS; arch++)
        for (unsigned family = 0; family < 300; family++) {
            int open = EACCES;
            for (int i = 0; i < 3; i++)
                if ((unsigned)allowed_when_open[i] == family)
                    open = ALLOWED;
            int nr = nr_of[SOCKET][arch];
            expect("none", arch, "socket", nr, family, 1, EACCES);
            expect("none", arch, "socket", nr, family | HIGH, 1, EACCES);
            expect("open", arch, "socket", nr, family, 1, open);
            /* The kernel reads an int: the high half neither opens nor closes anything. */
            expect("open", arch, "socket", nr, family | HIGH, 1, open);
            expect("open", arch, "socket", nr, family | UINT64_C(0x100000000), 1, open);
            /* High bits within the int are another family. */
            expect("open", arch, "socket", nr, family | 0x10000u, 1, EACCES);
            expect("open", arch, "socket", nr, family | 0x80000000u, 1, EACCES);
        }
}

static void socketpair_types(void **state)
{
    (void)state;
    EACH_PROGRAM(net, arch)
    {
        int nr = nr_of[SOCKETPAIR][arch];
        for (unsigned type = 0; type < 16; type++) {
            int want = type == 1 || type == 5 ? ALLOWED : EACCES;
            expect(net, arch, "socketpair", nr, 1, type, want);
            expect(net, arch, "socketpair", nr, 1, type | 02000000 | 04000, want); /* CLOEXEC, NONBLOCK */
            expect(net, arch, "socketpair", nr, 1 | HIGH, type | HIGH, want);
            for (unsigned family = 0; family < 50; family++)
                if (family != 1)
                    expect(net, arch, "socketpair", nr, family, type, EACCES);
            expect(net, arch, "socketpair", nr, UINT64_C(0x100000000), type, EACCES);
        }
    }
}

static void ioctl_requests(void **state)
{
    static const uint32_t fine[] = {0x5401, 0x5411, 0x5413, 0x541b, 0x541d, 0x5421, 0x15412, 0x80005412u, 0};

    (void)state;
    EACH_PROGRAM(net, arch)
    {
        int nr = nr_of[IOCTL][arch];
        expect(net, arch, "TIOCSTI", nr, 0, 0x5412, EPERM);
        expect(net, arch, "TIOCSTI", nr, 0, 0x5412 | HIGH, EPERM);
        expect(net, arch, "TIOCSTI", nr, 0x5401, 0x5412 | UINT64_C(0x100000000), EPERM);
        expect(net, arch, "TIOCLINUX", nr, 0, 0x541c, EPERM);
        expect(net, arch, "TIOCLINUX", nr, 0, 0x541c | HIGH, EPERM);
        for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
            expect(net, arch, "ioctl", nr, 0x5412, fine[i], ALLOWED);
    }
}

static void clone_and_unshare_flags(void **state)
{
    static const uint32_t namespaces[] = {0x00020000, 0x02000000, 0x04000000, 0x08000000,
                                          0x10000000, 0x20000000, 0x40000000};
    static const uint32_t thread = 0x003d0f00; /* what glibc's threads ask for */

    (void)state;
    EACH_PROGRAM(net, arch)
    {
        int clone_nr = nr_of[CLONE][arch], unshare_nr = nr_of[UNSHARE][arch];

        for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
            expect(net, arch, "clone", clone_nr, namespaces[i] | SIGCHLD, 0, EPERM);
            expect(net, arch, "clone", clone_nr, namespaces[i] | thread | HIGH, 0, EPERM);
            expect(net, arch, "unshare", unshare_nr, namespaces[i], 0, EPERM);
            expect(net, arch, "unshare", unshare_nr, namespaces[i] | 0x600 | HIGH, 0, EPERM);
        }
        expect(net, arch, "clone", clone_nr, SIGCHLD, 0, ALLOWED);
        expect(net, arch, "clone", clone_nr, 0x4100 | SIGCHLD, 0, ALLOWED);     /* VFORK, VM */
        expect(net, arch, "clone", clone_nr, 0x01200000 | SIGCHLD, 0, ALLOWED); /* fork() of glibc */
        expect(net, arch, "clone", clone_nr, thread, 0, ALLOWED);
        expect(net, arch, "clone", clone_nr, thread | HIGH, 0, ALLOWED);
        expect(net, arch, "unshare", unshare_nr, 0x80, 0, EPERM);           /* CLONE_NEWTIME */
        expect(net, arch, "unshare", unshare_nr, 0x00100000, 0, EPERM);     /* unknown */
        expect(net, arch, "unshare", unshare_nr, 0x400, 0, ALLOWED);        /* CLONE_FILES */
        expect(net, arch, "unshare", unshare_nr, 0x200 | HIGH, 0, ALLOWED); /* CLONE_FS */
        expect(net, arch, "unshare", unshare_nr, 0x40000, 0, ALLOWED);      /* CLONE_SYSVSEM */
    }
}

/* The kernel runs every number once when it installs the program: keep the paths short. */
static void paths_are_short(void **state)
{
    (void)state;
    EACH_PROGRAM(net, arch)
    {
        const struct filter_program *p = filter_find(net, arch_tokens[arch]);
        unsigned long sum = 0;
        for (int nr = 0; nr < 460; nr++) {
            struct seccomp_data data = {.nr = nr, .arch = arch_tokens[arch], .args = {99, 99}};
            unsigned steps;
            (void)run(p, &data, &steps);
            assert_in_range(steps, 1, 24);
            sum += steps;
        }
        assert_in_range(sum / 460, 1, 14);
    }
}

/* ---- For real ---------------------------------------------------------------------------------------- */

/* One call, made in a process of its own: 0, or its errno. */
struct probe {
    const char *name;
    int (*call)(void);
    int none, open; /* errno under each program; 0 passes */
};

static int result(long r)
{
    return r < 0 ? errno : 0;
}

static int p_inet(void)
{
    return result(syscall(SYS_socket, 2, 1, 0));
}
static int p_inet_high(void)
{
    return result(syscall(SYS_socket, 2 | HIGH, 1, 0));
}
static int p_inet6(void)
{
    return result(syscall(SYS_socket, 10, 2, 0));
}
static int p_mptcp(void)
{
    return result(syscall(SYS_socket, 2, 1, 262));
}
static int p_netlink(void)
{
    return result(syscall(SYS_socket, 16, 3, 0));
}
static int p_unix(void)
{
    return result(syscall(SYS_socket, 1, 1, 0));
}
static int p_unix_high(void)
{
    return result(syscall(SYS_socket, 1 | HIGH, 1, 0));
}
static int p_vsock(void)
{
    return result(syscall(SYS_socket, 40, 1, 0));
}
static int p_packet(void)
{
    return result(syscall(SYS_socket, 17, 3, 0));
}

static int pair_of(long type)
{
    int fds[2];
    return result(syscall(SYS_socketpair, 1, type, 0, fds));
}
static int p_pair_stream(void)
{
    return pair_of(SOCK_STREAM | SOCK_CLOEXEC);
}
static int p_pair_seqpacket(void)
{
    return pair_of(SOCK_SEQPACKET);
}
static int p_pair_dgram(void)
{
    return pair_of(SOCK_DGRAM | SOCK_NONBLOCK);
}

static int p_io_uring(void)
{
    char params[256] = {0};
    return result(syscall(425, 8, params));
}

static int p_keyctl(void)
{
    return result(syscall(SYS_keyctl, 0, -3, 0));
} /* id of the session keyring */
static int p_userfaultfd(void)
{
    return result(syscall(SYS_userfaultfd, 1));
} /* user mode only */
static int p_syslog(void)
{
    return result(syscall(SYS_syslog, 10, NULL, 0));
} /* size of the log */
static int p_unshare_user(void)
{
    return result(syscall(SYS_unshare, 0x10000000));
}
static int p_unshare_time(void)
{
    return result(syscall(SYS_unshare, 0x80));
}
static int p_unshare_files(void)
{
    return result(syscall(SYS_unshare, 0x400));
}
static int p_setns(void)
{
    int fd = open("/proc/self/ns/uts", O_RDONLY);
    return fd < 0 ? errno : result(syscall(SYS_setns, fd, 0));
}
static int p_mount(void)
{
    return result(syscall(SYS_mount, "none", "/", NULL, 1 << 18, NULL));
} /* MS_PRIVATE */
static int p_open_tree(void)
{
    return result(syscall(428, -100, "/", 0));
} /* as an O_PATH open: no capability */
static int p_chroot(void)
{
    return result(syscall(SYS_chroot, "/"));
}

static int p_clone_user(void)
{
    long pid = syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid((pid_t)pid, NULL, 0);
    return result(pid);
}

static int p_clone3(void)
{
    uint64_t args[8] = {[4] = SIGCHLD};
    long pid = syscall(435, args, sizeof(args));
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid((pid_t)pid, NULL, 0);
    return result(pid);
}

static int p_fork(void)
{
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "echo x | cat > /dev/null && exec true", (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return errno;
    return status == 0 ? 0 : ECHILD;
}

static int pty_ioctl(unsigned long request)
{
    int master, slave;
    char byte[sizeof(struct winsize)] = "x"; /* TIOCLINUX would read a subcode: 'x' is none of a pty's */
    if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
        return errno;
    if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
        return errno;
    return result(syscall(SYS_ioctl, slave, request, byte));
}
static int p_tiocsti(void)
{
    return pty_ioctl(0x5412);
}
static int p_tiocsti_high(void)
{
    return pty_ioctl(0x5412 | HIGH);
}
static int p_winsize(void)
{
    return pty_ioctl(TIOCGWINSZ);
}

#ifdef __x86_64__
/* socket() of the 32-bit table, by the 32-bit entry. */
static int p_int80(void)
{
    long r;
    __asm__ volatile("int $0x80"
                     : "=a"(r)
                     : "a"(359L), "b"(2L), "c"(1L), "d"(0L)
                     : "memory", "r8", "r9", "r10", "r11");
    return r < 0 ? (int)-r : 0;
}
static int p_x32(void)
{
    return result(syscall(0x40000000 | SYS_getpid));
}
#endif

static const struct probe probes[] = {
    {"socket(INET)", p_inet, EACCES, 0},
    {"socket(INET, high bits)", p_inet_high, EACCES, 0},
    {"socket(INET6)", p_inet6, EACCES, 0},
    {"socket(MPTCP)", p_mptcp, EACCES, 0},
    {"socket(NETLINK)", p_netlink, EACCES, 0},
    {"socket(UNIX)", p_unix, EACCES, EACCES},
    {"socket(UNIX, high bits)", p_unix_high, EACCES, EACCES},
    {"socket(VSOCK)", p_vsock, EACCES, EACCES},
    {"socket(PACKET)", p_packet, EACCES, EACCES},
    {"socketpair(STREAM)", p_pair_stream, 0, 0},
    {"socketpair(SEQPACKET)", p_pair_seqpacket, 0, 0},
    {"socketpair(DGRAM)", p_pair_dgram, EACCES, EACCES},
    {"io_uring_setup", p_io_uring, ENOSYS, ENOSYS},
    {"keyctl", p_keyctl, ENOSYS, ENOSYS},
    {"userfaultfd", p_userfaultfd, EPERM, EPERM},
    {"syslog", p_syslog, EPERM, EPERM},
    {"unshare(NEWUSER)", p_unshare_user, EPERM, EPERM},
    {"unshare(NEWTIME)", p_unshare_time, EPERM, EPERM},
    {"unshare(FILES)", p_unshare_files, 0, 0},
    {"clone(NEWUSER)", p_clone_user, EPERM, EPERM},
    {"clone3", p_clone3, ENOSYS, ENOSYS},
    {"fork and exec of a shell", p_fork, 0, 0},
    {"setns", p_setns, EPERM, EPERM},
    {"mount", p_mount, EPERM, EPERM},
    {"open_tree", p_open_tree, EPERM, EPERM},
    {"chroot", p_chroot, EPERM, EPERM},
    {"ioctl(TIOCSTI)", p_tiocsti, EPERM, EPERM},
    {"ioctl(TIOCSTI, high bits)", p_tiocsti_high, EPERM, EPERM},
    {"ioctl(TIOCGWINSZ)", p_winsize, 0, 0},
#ifdef __x86_64__
    {"int 0x80 socket", p_int80, ENOSYS, ENOSYS},
    {"x32 getpid", p_x32, ENOSYS, ENOSYS},
#endif
};

static int install(const char *network)
{
#ifdef __x86_64__
    const struct filter_program *p = filter_find(network, arch_tokens[X86]);
#else
    const struct filter_program *p = filter_find(network, arch_tokens[ARM]);
#endif
    struct sock_filter code[4096];
    struct sock_fprog prog = {.len = (unsigned short)p->count, .filter = code};

    memcpy(code, p->code, p->count * sizeof(code[0]));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* The probe's errno in a fresh process under a program; network == NULL: unfiltered. */
static int live(const struct probe *p, const char *network)
{
    int pipe_fds[2], got = -1, status;

    assert_int_equal(pipe(pipe_fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int r;
        alarm(20);
        if (network && install(network) < 0)
            _exit(1);
        r = p->call();
        _exit(write(pipe_fds[1], &r, sizeof(r)) == sizeof(r) ? 0 : 1);
    }
    close(pipe_fds[1]);
    ssize_t n = read(pipe_fds[0], &got, sizeof(got));
    close(pipe_fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (n != sizeof(got) || status != 0)
        fail_msg("%s under %s: the probe died, status %#x", p->name, network ? network : "nothing", status);
    return got;
}

static void live_probes(void **state)
{
    unsigned shown = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
        const struct probe *p = &probes[i];
        int bare = live(p, NULL), none = live(p, "none"), open = live(p, "open");

        if (bare != 0) /* the refusal proves nothing then; it is still checked */
            print_message("  not shown here, refused without a filter too: %s: %s\n", p->name,
                          strerror(bare));
        else
            shown++;
        if (none != p->none && !(p->none == 0 && none == bare))
            fail_msg("%s under none: errno %d, not %d", p->name, none, p->none);
        if (open != p->open && !(p->open == 0 && open == bare))
            fail_msg("%s under open: errno %d, not %d", p->name, open, p->open);
    }
    print_message("  %u of %zu probes succeed without a filter\n", shown, sizeof(probes) / sizeof(probes[0]));
    assert_true(shown >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_complete),      cmocka_unit_test(numbers_are_the_listed_ones),
        cmocka_unit_test(landlock_stays_allowed), cmocka_unit_test(foreign_entries_are_refused),
        cmocka_unit_test(socket_families),        cmocka_unit_test(socketpair_types),
        cmocka_unit_test(ioctl_requests),         cmocka_unit_test(clone_and_unshare_flags),
        cmocka_unit_test(paths_are_short),        cmocka_unit_test(live_probes),
    };
    return cmocka_run_group_tests_name("filters", tests, NULL, NULL);
}
