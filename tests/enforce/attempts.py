"""What is tried, and what must come of it.

An attempt is run outside any sandbox first, where it must work; then in each sandbox. `none` and `open` say
whether it may work there under `network none` and `network open`.

Landlock is tried twice, the second time as `--accept metadata` compiles it: without a private view. There all
content is guarded by Landlock alone, and what `by_view` names may work or not.

Words in arguments: {out} a folder beside every grant, {ws} granted for writing, {ro} granted for reading,
{one} a file granted for writing, {socks} granted for writing and holding sockets of the outside, {outsocks} the
same without a grant, {home} the caller's home, {tcp} {tcp6} {udp} ports, {victim} a process outside, {init}
pid 1 of the sandbox (outside: the victim), {name} an abstract socket, a file in /dev/shm and a queue, {shm} {sem}
{msg} numbers of the outside, {bin} the folder of the probe.
"""
from collections import namedtuple

# host: the kernel or its settings may lack it; then it is skipped, with the reason, not failed.
# root: only root can do it even unconfined.  via: "pty" or "fds", how the runner starts it.
# view: only the private view forbids it.
Attempt = namedtuple("Attempt", "name args none open host root via view")


def forbidden(name, *args, host=False, root=False, via=None):
    return Attempt(name, args, False, False, host, root, via, False)


def by_view(name, *args, host=False):
    return Attempt(name, args, False, False, host, False, None, True)


def granted(name, *args, host=False):
    return Attempt(name, args, True, True, host, False, None, False)


def network(name, *args, host=False):
    """Works with an open network only."""
    return Attempt(name, args, False, True, host, False, None, False)


FILES = [
    forbidden("read", "{out}/canary"),
    forbidden("read", "{home}/secret"),
    forbidden("read", "{ws}/link-out"),
    forbidden("read", "{ws}/../out/canary"),
    forbidden("chdir-read", "{out}", "canary"),
    forbidden("list", "{out}"),
    forbidden("list", "{home}"),
    forbidden("open", "/etc/shadow", root=True),
    forbidden("write", "{out}/canary"),
    forbidden("write", "{ro}/file"),
    forbidden("write", "{ws}/link-out"),
    # Objects of the host itself: only opened, since the run outside does what it says.
    forbidden("open-write", "/usr/lib/os-release", root=True),
    forbidden("open-write", "/proc/sys/kernel/domainname", root=True),
    forbidden("create", "{out}/new"),
    forbidden("create", "{ro}/new"),
    forbidden("create", "{home}/new"),
    forbidden("tmpfile", "/usr", host=True, root=True),
    forbidden("tmpfile", "{out}", host=True),
    forbidden("tmpfile", "{ro}", host=True),
    forbidden("unlink", "{out}/canary"),
    forbidden("unlink", "{ro}/file"),
    forbidden("rename", "{out}/canary", "{out}/other"),
    forbidden("rename", "{out}/canary", "{ws}/taken"),
    forbidden("rename", "{ro}/file", "{ws}/taken"),
    forbidden("rename", "{ws}/file", "{out}/given"),
    forbidden("rename", "{ws}/file", "{ro}/given"),
    forbidden("rename", "{ws}", "{out}/moved"),
    forbidden("exchange", "{ws}/file", "{out}/canary"),
    forbidden("truncate", "{out}/canary"),
    forbidden("truncate", "{ro}/file"),
    forbidden("open-truncate", "{out}/canary"),
    forbidden("open-truncate", "{ro}/file"),
    forbidden("mkdir", "{out}/new"),
    forbidden("mkdir", "{ro}/new"),
    forbidden("rmdir", "{out}/empty"),
    forbidden("rmdir", "{ro}/empty"),
    forbidden("link", "{out}/canary", "{ws}/linked"),
    forbidden("link", "{ro}/file", "{ws}/linked"),
    forbidden("link", "{ws}/file", "{out}/linked"),
    forbidden("symlink", "{out}/new"),
    forbidden("symlink", "{ro}/new"),
    forbidden("mkfifo", "{out}/new"),
    forbidden("mkfifo", "{ro}/new"),
    forbidden("unlink", "{one}"),
    forbidden("rename", "{one}", "{ws}/taken"),
    forbidden("mknod", "{ws}/device", root=True),
    by_view("chmod", "{out}/canary"),
    by_view("chmod", "{ro}/file"),
    by_view("chown", "{out}/canary"),
    by_view("chown", "{ro}/file"),
    by_view("utimes", "{out}/canary"),
    by_view("utimes", "{ro}/file"),
    by_view("setxattr", "{out}/canary", host=True),
    by_view("setxattr", "{ro}/file", host=True),
    # The mount flag and no_new_privs each forbid it: both are asked for.
    by_view("honours-setuid", "{ws}", host=True),
    by_view("honours-setuid", "{one}", host=True),
    by_view("honours-setuid", "{ro}", host=True),
    forbidden("exec", "{ro}/set-uid", "other-uid", host=True),
    forbidden("exec", "{ws}/set-uid", "other-uid", host=True),
    forbidden("exec", "{out}/program", "true"),
    granted("read", "{ro}/file"),
    granted("read", "{ws}/file"),
    granted("read", "{one}"),
    granted("list", "{ro}"),
    granted("list", "{ws}"),
    granted("write", "{ws}/file"),
    granted("write", "{one}"),
    granted("truncate", "{one}"),
    granted("write", "/dev/null"),
    granted("read", "/dev/urandom"),
    granted("create", "{ws}/new"),
    granted("tmpfile", "{ws}", host=True),
    granted("unlink", "{ws}/file"),
    granted("rename", "{ws}/file", "{ws}/renamed"),
    granted("rename", "{ws}/file", "{ws}/sub/renamed"),
    granted("rename", "{ws}/sub", "{ws}/sub2"),
    granted("truncate", "{ws}/file"),
    granted("open-truncate", "{ws}/file"),
    granted("mkdir", "{ws}/new"),
    granted("rmdir", "{ws}/empty"),
    granted("link", "{ws}/file", "{ws}/sub/linked"),
    granted("symlink", "{ws}/new"),
    granted("mkfifo", "{ws}/new"),
    granted("chmod", "{ws}/file"),
    granted("utimes", "{ws}/file"),
    granted("setxattr", "{ws}/file", host=True),
    granted("exec", "{ro}/program", "true"),
    granted("exec", "{bin}/probe", "true"),
]

SOCKETS = [
    network("tcp", "127.0.0.1", "{tcp}"),
    network("tcp", "::1", "{tcp6}", host=True),
    network("fast-open", "127.0.0.1", "{tcp}"),
    network("udp", "127.0.0.1", "{udp}"),
    network("bind", "127.0.0.1", "0"),
    network("netlink"),
    # Under `open` too: MPTCP passes Landlock's eyes only, so it is allowed where TCP is.
    network("mptcp", "127.0.0.1", "{tcp}", host=True),
    forbidden("raw", root=True),
    forbidden("packet", root=True),
    forbidden("vsock", host=True),
    # Sockets of the outside are no part of `network open`, and a grant of their folder is no grant of them.
    forbidden("unix", "{outsocks}/stream"),
    forbidden("unix", "{socks}/stream"),
    forbidden("unix", "@{name}"),
    forbidden("unix-datagram", "{outsocks}/datagram"),
    forbidden("unix-datagram", "{socks}/datagram"),
    forbidden("pair-datagram", "{outsocks}/datagram"),
    forbidden("pair-datagram", "{socks}/datagram"),
    forbidden("ring-socket", host=True),
    forbidden("int80-socket", host=True),
    forbidden("x32", host=True),
    granted("socketpair"),
]

PROCESSES = [
    forbidden("inherited", via="fds"),
    forbidden("variable", "SBX_SECRET"),
    forbidden("environ", "SBX_SECRET="),
    forbidden("kill", "{victim}"),
    forbidden("ptrace", "{victim}"),
    forbidden("memory", "{victim}"),
    forbidden("vm-read", "{victim}"),
    forbidden("ptrace", "{init}"),
    forbidden("memory", "{init}"),
    forbidden("vm-read", "{init}"),
    forbidden("root-of", "{victim}", "{out}/canary"),
    forbidden("setns", "{victim}", root=True),
    forbidden("user-namespace", host=True),
    forbidden("mount", "{ws}/sub", host=True),
    forbidden("remount", "{out}/canary", host=True),
    forbidden("capabilities"),
    forbidden("new-privileges"),
    forbidden("add-key", host=True),
    forbidden("shared-memory", "{shm}", host=True),
    forbidden("semaphore", "{sem}", host=True),
    forbidden("queue", "{msg}", host=True),
    forbidden("posix-queue", "/{name}", host=True),
    forbidden("read", "/dev/shm/{name}", host=True),
    forbidden("type-stdin", host=True, via="pty"),
    forbidden("type-tty", host=True, via="pty"),
    granted("variable", "SBX_PASSED"),
]

ATTEMPTS = FILES + SOCKETS + PROCESSES
