/* Prints the seccomp programs as C: the table that src/filters.h declares.
 *
 * Run while the project is built; nothing links libseccomp afterwards. One program per network variant and
 * architecture. docs/filters.md lists the same refusals for people.
 *
 * Shape. The kernel runs a program once for every system-call number when it is installed (since Linux 5.11,
 * to learn which numbers are always allowed) and on every call that is not: so the path matters, not the
 * length. libseccomp lays a binary tree over the numbers and checks the architecture. Tests of arguments are
 * laid out here, because libseccomp can neither say "any value but these" under a default of ALLOW nor test
 * several bits at once: the leaf of such a call is made with an errno that no kernel knows, and is then
 * replaced by a jump to the test behind the tree.
 *
 * What the kernel reads as an int is compared as an int: the low 32 bits. The high half of the register is
 * undefined for honest callers and chosen by hostile ones.
 *
 * Default is ALLOW: the program is a second line that closes what mounts, Landlock and empty capability sets
 * leave open, and it must not break programs that use calls newer than this list.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { MAX_INSNS = 4096 }; /* BPF_MAXINSNS: the kernel takes no more */

enum { NET_NONE = 1, NET_OPEN = 2, NET_ANY = NET_NONE | NET_OPEN };

struct variant {
    const char *network;
    int bit;
};
static const struct variant variants[] = {{"none", NET_NONE}, {"open", NET_OPEN}};

struct arch {
    uint32_t token; /* libseccomp's tokens are the kernel's AUDIT_ARCH_* */
    const char *macro, *ident;
};
static const struct arch archs[] = {
    {SCMP_ARCH_X86_64, "0xC000003Eu", "x86_64"},
    {SCMP_ARCH_AARCH64, "0xC00000B7u", "aarch64"},
};

/* ---- Calls refused whatever their arguments ----------------------------------------------------------
 * EPERM is what the kernel says to a caller without the capability; ENOSYS makes a library take the older
 * call or do without, as on a kernel built without the feature. A name that an architecture lacks is left
 * out there. */
struct refusal {
    const char *call;
    int error;
    int networks;
};
static const struct refusal refusals[] = {
    /* Without a network every family is refused: a Unix socket reaches whatever socket file is visible, and
     * vsock, MPTCP, UDP and raw sockets are outside of what Landlock and a network namespace close. */
    {"socket", EACCES, NET_NONE},

    /* A ring opens and connects sockets in the kernel, past any filter. */
    {"io_uring_setup", ENOSYS, NET_ANY},
    {"io_uring_enter", ENOSYS, NET_ANY},
    {"io_uring_register", ENOSYS, NET_ANY},

    /* Its flags stand in memory, where no filter can look. The C libraries fall back to clone(). */
    {"clone3", ENOSYS, NET_ANY},

    /* Joining a namespace leaves the sandbox. Capabilities decide; a descriptor may have been handed in. */
    {"setns", EPERM, NET_ANY},

    /* Keys are held per user and session, not per mount or PID namespace: secrets of the caller's. */
    {"add_key", ENOSYS, NET_ANY},
    {"request_key", ENOSYS, NET_ANY},
    {"keyctl", ENOSYS, NET_ANY},

    /* Kernel surface with a long record of escapes that an ordinary program has no use for. */
    {"bpf", EPERM, NET_ANY},
    {"perf_event_open", EPERM, NET_ANY},
    {"userfaultfd", EPERM, NET_ANY},

    /* The view of files is fixed at launch: no call may change what a path means. chroot is one of them; it
     * needs a capability that is gone, and this holds if one is ever leaked. */
    {"mount", EPERM, NET_ANY},
    {"umount2", EPERM, NET_ANY},
    {"pivot_root", EPERM, NET_ANY},
    {"chroot", EPERM, NET_ANY},
    {"open_tree", EPERM, NET_ANY},
    {"move_mount", EPERM, NET_ANY},
    {"fsopen", EPERM, NET_ANY},
    {"fsconfig", EPERM, NET_ANY},
    {"fsmount", EPERM, NET_ANY},
    {"fspick", EPERM, NET_ANY},
    {"mount_setattr", EPERM, NET_ANY},

    /* Opens by inode number, past every folder and mount on the way. */
    {"open_by_handle_at", EPERM, NET_ANY},
    /* Takes a descriptor, so a connected socket, out of another process. */
    {"pidfd_getfd", EPERM, NET_ANY},

    /* The machine as a whole. All need a capability; refused here before the kernel's own code runs. */
    {"kexec_load", EPERM, NET_ANY},
    {"kexec_file_load", EPERM, NET_ANY},
    {"init_module", EPERM, NET_ANY},
    {"finit_module", EPERM, NET_ANY},
    {"delete_module", EPERM, NET_ANY},
    {"reboot", EPERM, NET_ANY},
    {"swapon", EPERM, NET_ANY},
    {"swapoff", EPERM, NET_ANY},
    {"acct", EPERM, NET_ANY},
    {"quotactl", EPERM, NET_ANY},
    {"quotactl_fd", EPERM, NET_ANY},
    {"settimeofday", EPERM, NET_ANY},
    {"clock_settime", EPERM, NET_ANY},
    {"iopl", EPERM, NET_ANY},
    {"ioperm", EPERM, NET_ANY},
    {"vhangup", EPERM, NET_ANY},
    /* The kernel's log is readable to anyone where kernel.dmesg_restrict is 0. */
    {"syslog", EPERM, NET_ANY},
    /* Path names out of the kernel's cache of them (gone since Linux 6.7). */
    {"lookup_dcookie", EPERM, NET_ANY},
};

/* ---- Calls judged by their arguments ----------------------------------------------------------------- */

#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
/* Both architectures are little-endian: the low word comes first. */
#define LOAD_LOW(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n))
#define IF_EQ(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define IF_ANY_BIT(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (yes), (no))

/* One instruction a line. */
/* clang-format off */

/* socket(family, ...): the internet and netlink, which resolvers ask for the machine's addresses. Everything
 * else by default: a list of families to refuse would miss one. */
static const struct sock_filter on_socket[] = {
    LOAD_LOW(0),
    IF_EQ(2, 3, 0),  /* AF_INET */
    IF_EQ(10, 2, 0), /* AF_INET6 */
    IF_EQ(16, 1, 0), /* AF_NETLINK */
    REFUSE(EACCES),
    ALLOW,
};

/* socketpair(family, type, ...): a datagram end can be sent or connected to any Unix socket by path; an end
 * of a stream or seqpacket pair cannot. Flags stand above the low 4 bits of the type. */
static const struct sock_filter on_socketpair[] = {
    LOAD_LOW(0),
    IF_EQ(1, 0, 4), /* AF_UNIX */
    LOAD_LOW(1),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
    IF_EQ(1, 2, 0), /* SOCK_STREAM */
    IF_EQ(5, 1, 0), /* SOCK_SEQPACKET */
    REFUSE(EACCES),
    ALLOW,
};

/* ioctl(fd, request, ...): typing into the terminal that the caller reads from, and the console's selection,
 * which types what it holds. */
static const struct sock_filter on_ioctl[] = {
    LOAD_LOW(1),
    IF_EQ(0x5412, 1, 0), /* TIOCSTI */
    IF_EQ(0x541c, 0, 1), /* TIOCLINUX */
    REFUSE(EPERM),
    ALLOW,
};

/* clone(flags, ...): CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. A new user namespace
 * brings all capabilities back. Bit 0x80 is part of the exit signal here, not CLONE_NEWTIME. */
static const struct sock_filter on_clone[] = {
    LOAD_LOW(0),
    IF_ANY_BIT(0x7e020000u, 0, 1),
    REFUSE(EPERM),
    ALLOW,
};

/* unshare(flags): all but CLONE_VM, FS, FILES, SIGHAND, THREAD and SYSVSEM, so that CLONE_NEWTIME (0x80) and
 * namespaces yet to come are among the refused. */
static const struct sock_filter on_unshare[] = {
    LOAD_LOW(0),
    IF_ANY_BIT(~0x00050f00u, 0, 1),
    REFUSE(EPERM),
    ALLOW,
};

/* clang-format on */

struct check {
    const char *call;
    int networks;
    const struct sock_filter *code;
    size_t count;
};
static const struct check checks[] = {
    {"socket", NET_OPEN, on_socket, COUNT(on_socket)},
    {"socketpair", NET_ANY, on_socketpair, COUNT(on_socketpair)},
    {"ioctl", NET_ANY, on_ioctl, COUNT(on_ioctl)},
    {"clone", NET_ANY, on_clone, COUNT(on_clone)},
    {"unshare", NET_ANY, on_unshare, COUNT(on_unshare)},
};

/* The errno that marks the leaf of checks[i]: below 4096, more libseccomp does not take, and far above those
 * in use. */
#define MARK(i) (4000u + (unsigned)(i))

struct program {
    struct sock_filter code[MAX_INSNS];
    size_t count;
};

static void die(const char *what, const char *name, int error)
{
    fprintf(stderr, "genfilter: %s %s: %s\n", what, name, strerror(error));
    exit(1);
}

static void append(struct program *p, struct sock_filter insn)
{
    if (p->count == MAX_INSNS)
        die("too long:", "program", E2BIG);
    p->code[p->count++] = insn;
}

static void add_rule(scmp_filter_ctx ctx, uint32_t action, const char *call, const struct arch *arch)
{
    int number = seccomp_syscall_resolve_name_arch(arch->token, call);

    if (number == __NR_SCMP_ERROR)
        die("libseccomp is too old to know", call, ENOSYS);
    if (number < 0) /* not a call of this architecture */
        return;
    /* Rules take the number of the machine that builds, whatever the filter's architecture. */
    int error = seccomp_rule_add(ctx, action, seccomp_syscall_resolve_name(call), 0);
    if (error != 0)
        die("rule", call, -error);
}

static scmp_filter_ctx build_tree(const struct variant *v, const struct arch *arch)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
    int error = ctx ? 0 : -ENOMEM;

    if (error == 0 && arch->token != seccomp_arch_native()) {
        error = seccomp_arch_add(ctx, arch->token);
        if (error == 0)
            error = seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE);
    }
    /* The 32-bit entry of a 64-bit kernel has numbers of its own, socketcall among them; x32 numbers are
     * refused the same way. ENOSYS: as on a kernel that was built without them. */
    if (error == 0)
        error = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    if (error == 0)
        error = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (error != 0)
        die("filter", arch->ident, -error);

    for (size_t i = 0; i < COUNT(refusals); i++)
        if (refusals[i].networks & v->bit)
            add_rule(ctx, SCMP_ACT_ERRNO((unsigned)refusals[i].error), refusals[i].call, arch);
    for (size_t i = 0; i < COUNT(checks); i++)
        if (checks[i].networks & v->bit)
            add_rule(ctx, SCMP_ACT_ERRNO(MARK(i)), checks[i].call, arch);
    return ctx;
}

/* Instructions as libseccomp writes them: in the byte order of the filter's architecture, little-endian. */
static void read_tree(scmp_filter_ctx ctx, struct program *p)
{
    FILE *f = tmpfile();
    unsigned char b[8];

    if (!f)
        die("open", "temporary file", errno);
    int error = seccomp_export_bpf(ctx, fileno(f));
    if (error != 0)
        die("export", "program", -error);
    rewind(f);
    while (fread(b, sizeof(b), 1, f) == 1) {
        struct sock_filter insn = {
            .code = (uint16_t)(b[0] | b[1] << 8),
            .jt = b[2],
            .jf = b[3],
            .k = (uint32_t)b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 | (uint32_t)b[7] << 24,
        };
        append(p, insn);
    }
    if (ferror(f) || p->count == 0)
        die("read", "temporary file", EIO);
    fclose(f);
}

static bool is_return_of(const struct sock_filter *insn, uint32_t action)
{
    return insn->code == (BPF_RET | BPF_K) && insn->k == action;
}

/* Puts the test of one call behind the tree, and turns the leaves that stand for it into jumps there. */
static void place_check(struct program *p, size_t tree, size_t i)
{
    size_t start = p->count, leaves = 0;

    for (size_t at = 0; at < tree; at++) {
        if (!is_return_of(&p->code[at], SECCOMP_RET_ERRNO | MARK(i)))
            continue;
        p->code[at] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)(start - at - 1));
        leaves++;
    }
    if (leaves == 0)
        die("no leaf for", checks[i].call, EINVAL);
    for (size_t n = 0; n < checks[i].count; n++)
        append(p, checks[i].code[n]);
}

/* Every way out is one that was meant; in particular no mark is left. */
static void verify(const struct program *p)
{
    for (size_t at = 0; at < p->count; at++) {
        const struct sock_filter *insn = &p->code[at];

        if (BPF_CLASS(insn->code) != BPF_RET)
            continue;
        if (!is_return_of(insn, SECCOMP_RET_ALLOW) && !is_return_of(insn, SECCOMP_RET_ERRNO | EPERM) &&
            !is_return_of(insn, SECCOMP_RET_ERRNO | EACCES) &&
            !is_return_of(insn, SECCOMP_RET_ERRNO | ENOSYS))
            die("unexpected", "return", EINVAL);
    }
}

static size_t print_program(const struct variant *v, const struct arch *arch)
{
    static struct program p;
    scmp_filter_ctx ctx = build_tree(v, arch);

    p.count = 0;
    read_tree(ctx, &p);
    seccomp_release(ctx);

    size_t tree = p.count;
    for (size_t i = 0; i < COUNT(checks); i++)
        if (checks[i].networks & v->bit)
            place_check(&p, tree, i);
    verify(&p);

    printf("static const uint64_t code_%s_%s[] = {", v->network, arch->ident);
    for (size_t at = 0; at < p.count; at++) {
        const struct sock_filter *insn = &p.code[at];
        uint64_t word =
            insn->code | (uint64_t)insn->jt << 16 | (uint64_t)insn->jf << 24 | (uint64_t)insn->k << 32;

        printf("%s0x%016llxu,", at % 5 == 0 ? "\n    " : " ", (unsigned long long)word);
    }
    printf("\n};\n\n");
    return p.count;
}

int main(void)
{
    size_t counts[COUNT(variants)][COUNT(archs)];

    printf("/* Made by tools/genfilter.c. */\n#include \"filters.h\"\n\n#include <string.h>\n\n");
    for (size_t v = 0; v < COUNT(variants); v++)
        for (size_t a = 0; a < COUNT(archs); a++)
            counts[v][a] = print_program(&variants[v], &archs[a]);

    printf("const struct filter_program filter_programs[] = {\n");
    for (size_t v = 0; v < COUNT(variants); v++)
        for (size_t a = 0; a < COUNT(archs); a++)
            printf("    {\"%s\", %s, %zu, code_%s_%s},\n", variants[v].network, archs[a].macro, counts[v][a],
                   variants[v].network, archs[a].ident);
    printf("};\nconst size_t n_filter_programs = %zu;\n\n", COUNT(variants) * COUNT(archs));
    printf(
        "const struct filter_program *filter_find(const char *network, uint32_t arch)\n"
        "{\n"
        "    for (size_t i = 0; i < n_filter_programs; i++)\n"
        "        if (filter_programs[i].arch == arch && strcmp(filter_programs[i].network, network) == 0)\n"
        "            return &filter_programs[i];\n"
        "    return NULL;\n"
        "}\n");
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
