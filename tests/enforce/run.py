"""Tries to get out of real sandboxes: Landlock and bwrap, as root and as an ordinary user.

    run.py BUILD

attempts.py says what is tried. Each attempt runs unconfined first, where it must work; then under sbxrun, where
it must work or fail as said there; after that nothing beside the grants may have changed.
"""
import contextlib
import fcntl
import os
import pty
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import termios
import threading
import time

import job
from attempts import ATTEMPTS

USER = 1001
NOBODY = 65534
ENGINES = ["landlock", "bwrap"]
NO_VIEW = "landlock without a view"
SUFFIX = {"landlock": ".landlock", "bwrap": ".bwrap", NO_VIEW: "-no-view.landlock"}
SHARED_MEMORY = "/dev/shm"
DECLARATION = """profile enforce {
  read "%(top)s/ro" "%(top)s/bin"
  write "%(top)s/ws" "%(top)s/one" "%(top)s/socks"
  network %(network)s
  timeout 20s
  env { allow "SBX_PASSED"; set GREETING "hello" }
}
"""


class Count:
    passed = failed = skipped = 0

    def ok(self, what):
        self.passed += 1
        if os.environ.get("VERBOSE"):
            print("ok %s" % what)

    def fail(self, what, why):
        self.failed += 1
        print("FAIL %s: %s" % (what, why), flush=True)

    def skip(self, what, why):
        self.skipped += 1
        print("skip %s: %s" % (what, why), flush=True)


class Services:
    """Listeners of the outside, each answering one word. One thread each, ended with the process."""

    def __init__(self, folders, name):
        self.sockets = []
        self.ports = {"tcp": self.internet(socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1"),
                      "udp": self.internet(socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1"),
                      "tcp6": 1}
        with contextlib.suppress(OSError):
            self.ports["tcp6"] = self.internet(socket.AF_INET6, socket.SOCK_STREAM, "::1")
        for folder in folders:
            self.serve(socket.AF_UNIX, socket.SOCK_STREAM, folder + "/stream")
            self.serve(socket.AF_UNIX, socket.SOCK_DGRAM, folder + "/datagram")
            os.chmod(folder + "/stream", 0o777)
            os.chmod(folder + "/datagram", 0o777)
        self.serve(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + name)

    def internet(self, family, kind, host):
        return self.serve(family, kind, (host, 0)).getsockname()[1]

    def serve(self, family, kind, address):
        s = socket.socket(family, kind)
        s.bind(address)
        if kind == socket.SOCK_STREAM:
            s.listen(16)
        self.sockets.append(s)
        threading.Thread(target=self.answer, args=(s, kind), daemon=True).start()
        return s

    @staticmethod
    def answer(s, kind):
        while True:
            try:
                if kind == socket.SOCK_STREAM:
                    peer, _ = s.accept()
                    with peer:
                        peer.sendall(b"hello")
                else:
                    _, peer = s.recvfrom(16)
                    if peer:
                        s.sendto(b"hello", peer)
            except OSError:
                if s.fileno() < 0:
                    return

    def close(self):
        for s in self.sockets:
            s.close()


class World:
    """A tree of grants and canaries, owned by the one who runs the sandbox."""

    def __init__(self, build, uid):
        self.uid = uid
        self.who = "root" if uid == 0 else "uid %d" % uid
        self.as_user = {} if uid == os.getuid() else {"user": uid, "group": uid, "extra_groups": []}
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="sbx-enforce-"))
        os.chmod(self.top, 0o755)
        for d in ("bin", "art", "socks", "outsocks"):
            os.mkdir(self.path(d))
        for program in ("sbxc", "sbxrun"):
            shutil.copy(os.path.join(build, program), self.path("bin"))
        shutil.copy(os.path.join(build, "tests/probe"), self.path("bin"))
        self.name = os.path.basename(self.top)
        self.services = Services([self.path("socks"), self.path("outsocks")], self.name)
        self.words = {d: self.path(d) for d in ("out", "ws", "ro", "one", "home", "bin", "socks", "outsocks")}
        self.words.update({k: str(v) for k, v in self.services.ports.items()}, name=self.name)
        self.reset()
        self.give("art", "bin", "socks", "outsocks")
        os.chown(self.top, uid, -1)
        self.victim = subprocess.Popen([self.path("bin/probe"), "victim", "/" + self.name], stdout=subprocess.PIPE, **self.as_user)
        self.words.update(zip(("shm", "sem", "msg"), self.victim.stdout.readline().decode().split()))
        self.words["victim"] = self.words["init"] = str(self.victim.pid)
        self.shared = os.path.join(SHARED_MEMORY, self.name)
        if os.path.isdir(SHARED_MEMORY):
            self.file(self.shared)
            self.give(self.shared)
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.path("home"), "LC_ALL": "C.UTF-8",
            "SBX_SECRET": "secret", "SBX_PASSED": "passed",
        }
        for name in os.environ:
            if name.endswith("SAN_OPTIONS"):
                self.env[name] = os.environ[name]

    def close(self):
        self.victim.terminate()
        self.victim.wait(10)
        self.services.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.shared)
        shutil.rmtree(self.top)

    def path(self, name):
        return os.path.join(self.top, name)

    def give(self, *names):
        if self.uid == os.getuid():
            return
        for name in names:
            os.lchown(self.path(name), self.uid, self.uid)
            for at, dirs, files in os.walk(self.path(name)):
                for f in dirs + files:
                    os.lchown(os.path.join(at, f), self.uid, self.uid)

    def reset(self):
        """The tree as every attempt finds it."""
        for d in ("out", "ws", "ro", "home"):
            shutil.rmtree(self.path(d), ignore_errors=True)
            os.makedirs(self.path(d + "/sub"))
            os.mkdir(self.path(d + "/empty"))
            self.file(d + "/file")
        self.file("out/canary")
        self.file("home/secret")
        self.file("one")
        os.symlink("../out/canary", self.path("ws/link-out"))
        for d in ("out", "ro"):
            shutil.copy(self.path("bin/probe"), self.path(d + "/program"))
        self.give("out", "ws", "ro", "home", "one")
        # Of a third user, and for this one alone. Only root can make them; else what needs them is skipped.
        for d in ("ws", "ro"):
            shutil.copy(self.path("bin/probe"), self.path(d + "/set-uid"))
            if os.getuid() == 0:
                os.chown(self.path(d + "/set-uid"), NOBODY, self.uid)
                os.chmod(self.path(d + "/set-uid"), 0o4750)

    def file(self, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(name))
        with open(self.path(name), "w") as f:
            f.write("CANARY\n")

    def snapshot(self):
        """All that may not change: names, content, owner, mode, and ctime for what else there is."""
        seen = {}
        for d in ("out", "ro", "home", "bin", "art"):
            for at, dirs, files in os.walk(self.path(d)):
                for f in [""] + dirs + files:
                    p = os.path.join(at, f)
                    s = os.lstat(p)
                    text = b""
                    if stat.S_ISREG(s.st_mode) and s.st_size < 4096:
                        with open(p, "rb") as file:
                            text = file.read()
                    seen[p] = (s.st_mode, s.st_uid, s.st_nlink, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, text)
        return seen

    def compile(self, network):
        """All artifacts, made by the one who will run them."""
        source = self.path("art/%s.sbx" % network)
        with open(source, "w") as f:
            f.write(DECLARATION % {"top": self.top, "network": network})
        self.give("art")
        for words in (["-t", ",".join(ENGINES), "-o", self.path("art/" + network)],
                      ["-t", "landlock", "--accept", "metadata", "-o", self.artifact(NO_VIEW, network)]):
            r = self.run([self.path("bin/sbxc"), "-D", "HOME=" + self.path("home")] + words + [source])
            if r.returncode:
                raise SystemExit("FAIL compile as %s: %s\nenforce: 0 passed, 1 failed, 0 skipped" % (self.who, r.stderr))

    def artifact(self, engine, network):
        return self.path("art/" + network + SUFFIX[engine])

    def run(self, command, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        if not set(kw) & {"stdout", "stderr"}:
            kw["capture_output"] = True
        kw.setdefault("timeout", 60)
        return subprocess.run(command, cwd=self.path("ws"), env=self.env, text=True, **self.as_user, **kw)

    def status(self, command, seconds):
        """The status alone, as a number or as words."""
        try:
            return self.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            return "none within %d s" % seconds

    def confined(self, engine, network, command, **kw):
        return self.run([self.path("bin/sbxrun"), self.artifact(engine, network), "--"] + command, **kw)


def on_pty(world, command):
    """The command as leader of a session with a terminal of its own."""
    master, slave = pty.openpty()

    def own_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    try:
        os.fchown(slave, world.uid, -1)
        return world.run(command, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=own_terminal)
    finally:
        os.close(slave)
        os.close(master)


def with_descriptors(world, command):
    """The command inherits a file, a folder and a connected socket of the outside."""
    file = os.open(world.path("out/canary"), os.O_RDWR)
    folder = os.open(world.path("out"), os.O_RDONLY)
    connected = socket.create_connection(("127.0.0.1", world.services.ports["tcp"]))
    try:
        return world.run(command, pass_fds=(file, folder, connected.fileno()))
    finally:
        os.close(file)
        os.close(folder)
        connected.close()


HOW = {"pty": on_pty, "fds": with_descriptors, None: lambda world, command: world.run(command)}


def start(world, attempt, prefix):
    words = dict(world.words, init="1") if prefix else world.words
    args = [a.format(**words) for a in attempt.args]
    return HOW[attempt.via](world, prefix + [world.path("bin/probe"), attempt.name] + args)


def content(seen):
    """A snapshot without what `--accept metadata` gives up: mode and times."""
    return {p: (stat.S_IFMT(s[0]),) + s[1:4] + s[6:] for p, s in seen.items()}


def judge(world, attempt, may, r, before):
    """Why the result is wrong, or None. may is None where it may work or not, and change metadata."""
    said = (r.stdout + r.stderr).strip()
    if r.returncode not in (0, 1) or not r.stdout.strip():
        if r.returncode != 0 or attempt.name != "exec":
            return "the probe did not run (status %d): %s" % (r.returncode, said)
    if may and r.returncode:
        return "is granted, but: %s" % said
    if may is False and not r.returncode:
        return "is forbidden, but worked"
    after = world.snapshot()
    if may is None:
        before, after = content(before), content(after)
    changed = [p for p in sorted(set(before) | set(after)) if before.get(p) != after.get(p)]
    if changed:
        return "changed what no grant covers: %s" % ", ".join(changed)
    return None


def attempts(count, world, usable):
    for a in ATTEMPTS:
        what = "%s as %s" % (" ".join((a.name,) + a.args), world.who)
        if a.root and world.uid:
            continue
        world.reset()
        r = start(world, a, [])
        if r.returncode:
            why = "unconfined it does not work: %s" % (r.stdout + r.stderr).strip()
            count.skip(what, why) if a.host else count.fail(what, why)
            continue
        for engine in usable:
            for network in ("none", "open"):
                world.reset()
                before = world.snapshot()
                r = start(world, a, [world.path("bin/sbxrun"), world.artifact(engine, network), "--"])
                may = None if a.view and engine == NO_VIEW else getattr(a, network)
                wrong = judge(world, a, may, r, before)
                full = "%s, %s, network %s" % (what, engine, network)
                count.fail(full, wrong) if wrong else count.ok(full)


# ---- Can this host do it at all? Asked without sbxrun, so that a fault of sbxrun is no reason to skip. ----

def host_reason(world, engine):
    if engine == "bwrap":
        if not os.path.exists("/usr/bin/bwrap"):
            return "/usr/bin/bwrap is not installed"
        r = world.run(["/usr/bin/bwrap", "--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "/bin/true"])
        return "bwrap does not start here: %s" % r.stderr.strip() if r.returncode else None
    r = world.run(["/usr/bin/unshare", "--map-root-user", "--pid", "--fork", "--mount-proc", "/bin/true"])
    if r.returncode:
        return "no user, PID and mount namespace here: %s" % r.stderr.strip()
    import ctypes

    landlock_create_ruleset, version = 444, 1
    abi = ctypes.CDLL(None).syscall(landlock_create_ruleset, None, ctypes.c_size_t(0), version)
    return "Landlock ABI %d, 3 is needed" % abi if abi < 3 else None


def engine_works(count, world, engine):
    r = world.confined(engine, "none", [world.path("bin/probe"), "true"])
    if r.returncode == 0:
        count.ok("%s starts as %s" % (engine, world.who))
        return True
    why = host_reason(world, engine)
    what = "everything under %s as %s" % (engine, world.who)
    count.skip(what, why) if why else count.fail(what, "status %d: %s" % (r.returncode, r.stderr.strip()))
    return False


# ---- What else a run is ----------------------------------------------------------------------------------

def programs(count, world, engine):
    """Ordinary programs of the system work, and a command's status is its own."""
    rows = [
        ("python3", ["/usr/bin/python3", "-c", "import json, os, ssl, subprocess; print(os.getcwd())"], 0, world.path("ws") + "\n"),
        ("a pipeline", ["/bin/sh", "-c", "printf 'b\\na\\n' | sort | head -n 1"], 0, "a\n"),
        ("a background job", ["/bin/sh", "-c", "sleep 0 & wait; echo done"], 0, "done\n"),
        ("git", ["/usr/bin/git", "--version"], 0, None),
        ("looked up in PATH", ["env", "true"], 0, ""),
        ("own status", ["/bin/sh", "-c", "exit 42"], 42, ""),
        ("killed by itself", ["/bin/sh", "-c", "kill -9 $$"], 137, ""),
        ("not found", ["/nonexistent"], 127, ""),
        ("not in PATH", ["nonexistent-program"], 127, ""),
        ("not executable", [world.path("ws/file")], 126, ""),
        ("private TMPDIR", ["/bin/sh", "-c", 'echo x > "$TMPDIR/x" && cat "$TMPDIR/x" && echo y > "$HOME/y" && cd'], 0, "x\n"),
        ("set variable", ["/bin/sh", "-c", "echo $GREETING"], 0, "hello\n"),
    ]
    for name, command, status, output in rows:
        world.reset()
        r = world.confined(engine, "none", command)
        what = "%s as %s, %s" % (name, world.who, engine)
        if r.returncode != status or (output is not None and r.stdout != output):
            count.fail(what, "status %d, output %r, %s" % (r.returncode, r.stdout, r.stderr.strip()))
        else:
            count.ok(what)


def environment(count, world, engine):
    """Exactly the names that the declaration lets through."""
    r = world.confined(engine, "none", ["/usr/bin/env", "-0"])
    names = sorted(v.split("=")[0] for v in r.stdout.split("\0") if v)
    # PWD is what dash and bash would add; /usr/bin/env adds nothing.
    want = sorted(["PATH", "HOME", "TMPDIR", "LC_ALL", "GREETING", "SBX_PASSED"])
    what = "environment as %s, %s" % (world.who, engine)
    count.ok(what) if names == want else count.fail(what, "%s instead of %s" % (names, want))


def marked(mark):
    """Processes whose arguments hold this text."""
    found = []
    for pid in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if pid.isdigit() and mark in open("/proc/%s/cmdline" % pid, "rb").read():
                found.append(int(pid))
    return found


def gone_within(mark, seconds):
    end = time.monotonic() + seconds
    while marked(mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def processes(count, world, engine):
    """Nothing of a run outlives it, however it ends."""
    # A length of sleep that nobody else uses, found again in the list of processes.
    for i, (name, script, status) in enumerate([
        ("background children at a normal end", "setsid sleep %s & setsid sleep %s & exit 3", 3),
        ("children that ignore TERM at the deadline", "trap '' TERM INT HUP; setsid sleep %s & sleep %s", 124),
        ("a stopped command at the deadline", "sleep %s & setsid sleep %s & kill -STOP $$", 124),
    ]):
        number = "86%d.%d%d" % (os.getpid(), i, ENGINES.index(engine))
        mark = ("sleep\0" + number).encode()
        script = script.replace("%s", number)
        command = [world.path("bin/sbxrun")] + (["--timeout", "1s"] if status == 124 else [])
        begun = time.monotonic()
        r = world.run(command + [world.artifact(engine, "none"), "--", "/bin/sh", "-c", script])
        took = time.monotonic() - begun
        what = "%s as %s, %s" % (name, world.who, engine)
        left = marked(mark)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        if r.returncode != status or took > 10:
            count.fail(what, "status %d after %.1f s: %s" % (r.returncode, took, r.stderr.strip()))
        elif left:
            count.fail(what, "%d processes outlived sbxrun" % len(left))
        else:
            count.ok(what)
    killed(count, world, engine)


def killed(count, world, engine):
    number = "87%d.%d" % (os.getpid(), ENGINES.index(engine))
    mark = ("sleep\0" + number).encode()
    p = subprocess.Popen(
        [world.path("bin/sbxrun"), world.artifact(engine, "none"), "--", "/bin/sh", "-c", "setsid sleep %s & sleep %s" % (number, number)],
        stdin=subprocess.DEVNULL, cwd=world.path("ws"), env=world.env, **world.as_user)
    end = time.monotonic() + 10
    while len(marked(mark)) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    started = len(marked(mark))
    p.kill()
    p.wait()
    gone = gone_within(mark, 2)
    for pid in marked(mark):
        os.kill(pid, signal.SIGKILL)
    what = "SIGKILL of sbxrun as %s, %s" % (world.who, engine)
    if started < 2:
        count.fail(what, "the command did not start")
    elif not gone:
        count.fail(what, "processes outlived it")
    else:
        count.ok(what)


def end_marked(mark):
    left = marked(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return len(left)


def end_exe(path):
    """Ends the processes that run this program, and says how many there were."""
    left = 0
    for pid in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if pid.isdigit() and os.readlink("/proc/%s/exe" % pid) == path:
                os.kill(int(pid), signal.SIGKILL)
                left += 1
    return left


def bystanders(count, world, engine):
    """A program that becomes sbxrun may have children already: they are neither waited for nor ended."""
    number = "88%d.%d" % (os.getpid(), ENGINES.index(engine))
    mark = ("sleep\0" + number).encode()
    for name, script, status in [
        ("a normal end", "exit 3", 3),
        ("strays", "setsid sleep 60 & exit 3", 3),
        ("the deadline", "trap '' TERM; sleep 60", 124),
    ]:
        what = "children of the caller at %s as %s, %s" % (name, world.who, engine)
        # An orphan of such a child is not sbxrun's either. `cat` reads what the command writes, to its end.
        caller = '(sleep 0.2; sleep %s & ) & exec "$@" > >(exec cat >&2)' % number
        command = ["/bin/bash", "-c", caller, "-", world.path("bin/sbxrun"), "--timeout", "1s"]
        command += [world.artifact(engine, "none"), "--", "/bin/sh", "-c", "echo said; sleep 0.5; " + script]
        got = world.status(command, 6)
        left = end_marked(mark)
        if got != status:
            count.fail(what, "status %s" % got)
        elif left != 1:
            count.fail(what, "%d instead of 1 are left" % left)
        else:
            count.ok(what)
    world.reset()
    got = world.status(["/bin/bash", "-c", 'exec "$@" > >(sleep 0.3; exec cat > tee.out)', "-", world.path("bin/sbxrun"),
                        world.artifact(engine, "none"), "--", "echo", "said"], 6)
    what = "a child that reads the output as %s, %s" % (world.who, engine)
    end = time.monotonic() + 3
    said = ""
    while said != "said\n" and time.monotonic() < end:
        time.sleep(0.02)
        with contextlib.suppress(OSError), open(world.path("ws/tee.out")) as f:
            said = f.read()
    count.ok(what) if got == 0 and said else count.fail(what, "status %s, it wrote %r" % (got, said))


def children(pid):
    with contextlib.suppress(OSError), open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(p) for p in f.read().split()]
    return []


def outsiders(count, world, engine):
    """A process of sbxrun's that is ended by someone else ends the run, and sbxrun says so."""
    number = "89%d.%d" % (os.getpid(), ENGINES.index(engine))
    mark = ("sleep\0" + number).encode()
    for name, depth in (("the stage", 2),) if engine == "landlock" else (("the stage", 3), ("bwrap", 2)):
        what = "SIGKILL of %s as %s, %s" % (name, world.who, engine)
        p = subprocess.Popen(
            [world.path("bin/sbxrun"), world.artifact(engine, "none"), "--", "/bin/sh", "-c", "setsid sleep %s & sleep %s" % (number, number)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=world.path("ws"), env=world.env, **world.as_user)
        end = time.monotonic() + 10
        while len(marked(mark)) < 2 and time.monotonic() < end:
            time.sleep(0.02)
        victim = p.pid
        for _ in range(depth - 1):
            victim = (children(victim) or [0])[0]
        if victim:
            os.kill(victim, signal.SIGKILL)
        try:
            said = p.communicate(timeout=10)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            said = p.communicate()[1]
        left = end_marked(mark)
        if not victim or p.returncode != 125 or "sbxrun: stage: the sandbox ended by" not in said:
            count.fail(what, "status %d: %s" % (p.returncode, said))
        elif left:
            count.fail(what, "%d processes outlived sbxrun" % left)
        else:
            count.ok(what)


def jobs(count, world, engine):
    """As a job of a shell with a terminal: stopped, continued, interrupted, and still ended in time."""
    with open(job.__file__) as f:
        source = f.read()
    for scenario in job.SCENARIOS:
        name = scenario.__name__
        r = world.run(["/usr/bin/python3", "-c", source, name, world.path("bin/sbxrun"), world.artifact(engine, "none")])
        time.sleep(0.1)
        left = end_exe(world.path("bin/sbxrun"))
        what = "job, %s as %s, %s" % (name.replace("_", " "), world.who, engine)
        if r.returncode or r.stdout or left:
            count.fail(what, "%s%s; %d processes are left" % (r.stdout, r.stderr.strip(), left))
        else:
            count.ok(what)


# Takes every descriptor from pid 1, gives it an orphan to see to, and goes on.
STARVE = """
import os, resource, time
resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))
os.system('sleep 0.1 &')
time.sleep(0.4)
os._exit(3)
"""


def starvation(count, world, engine):
    """The command cannot take from the stage what that needs."""
    r = world.confined(engine, "none", ["/usr/bin/python3", "-c", STARVE])
    what = "limits of pid 1 as %s, %s" % (world.who, engine)
    count.ok(what) if r.returncode == 3 else count.fail(what, "status %d: %s" % (r.returncode, r.stderr.strip()))


def callers(count, world, engine):
    """What a caller has done to its own signals and limits neither ends sbxrun nor reads as the command's end."""
    says = "sbxrun: "
    for name, prepare, script, status, words in [
        ("SIGCHLD ignored", "trap '' CHLD", "exit 3", 3, ""),
        ("SIGPIPE default", ":", "kill -PIPE $$; exit 3", 141, ""),
        ("SIGPIPE ignored", "trap '' PIPE", "kill -PIPE $$; exit 3", 3, ""),
        ("SIGXFSZ default", ":", "kill -XFSZ $$; exit 3", 128 + signal.SIGXFSZ, ""),
        # Only bwrap's words need a file, of memory.
        ("no file may grow", "ulimit -f 0", "exit 3", 125 if engine == "bwrap" else 3, says if engine == "bwrap" else ""),
    ]:
        prefix = ["/bin/bash", "-c", prepare + '; exec "$@"', "-"]
        r = world.run(prefix + [world.path("bin/sbxrun"), world.artifact(engine, "none"), "--", "/bin/sh", "-c", script])
        what = "caller with %s as %s, %s" % (name, world.who, engine)
        if r.returncode != status or not r.stderr.startswith(words) or bool(words) != bool(r.stderr):
            count.fail(what, "status %d: %s" % (r.returncode, r.stderr.strip()))
        else:
            count.ok(what)
    reader, writer = os.pipe()
    os.close(reader)
    r = world.run([world.path("bin/sbxrun"), "/nonexistent", "--", "true"], stdout=subprocess.DEVNULL, stderr=writer)
    os.close(writer)
    what = "caller with a closed pipe for messages as %s" % world.who
    count.ok(what) if r.returncode == 125 else count.fail(what, "status %d" % r.returncode)


STREAMS = """
import os
for fd in range(3):
    s = os.fstat(fd)
    assert s.st_dev != os.stat('/dev').st_dev and s.st_rdev == 0, 'descriptor %d is a device' % fd
    os.utime(fd)
assert os.read(0, 1) == b''
for fd in 1, 2:
    try:
        os.write(fd, b'x')
    except OSError:
        continue
    os._exit(4)
os._exit(3)
"""


def closed_streams(count, world, engine):
    """What stands in for a closed standard stream is nothing of the host's."""
    null = os.stat("/dev/null")
    command = [world.path("bin/sbxrun"), world.artifact(engine, "none"), "--", "/usr/bin/python3", "-c", STREAMS]
    r = world.run(["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "-"] + command)
    now = os.stat("/dev/null")
    what = "closed streams as %s, %s" % (world.who, engine)
    if r.returncode != 3 or (now.st_mtime_ns, now.st_atime_ns) != (null.st_mtime_ns, null.st_atime_ns):
        count.fail(what, "status %d; times of /dev/null %s" % (r.returncode, "changed" if now != null else "kept"))
    else:
        count.ok(what)


def unfit_streams(count, world, engine):
    """A folder, or a name alone, as standard stream would be a way out of every view: status 125."""
    started = world.path("ws/started")
    command = [world.path("bin/sbxrun"), world.artifact(engine, "none"), "--", "/bin/sh", "-c", "echo x > " + started]
    for name, path, flags, status in [
        ("a file", "ro/file", os.O_RDONLY, 0),
        ("a folder", "out", os.O_RDONLY, 125),
        ("a folder's name", "out", os.O_PATH, 125),
        ("a file's name", "ro/file", os.O_PATH, 125),
    ]:
        for number, stream in enumerate(("stdin", "stdout", "stderr")):
            world.reset()
            fd = os.open(world.path(path), flags)
            streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: fd}
            r = world.run(command, **streams)
            os.close(fd)
            what = "%s as descriptor %d as %s, %s" % (name, number, world.who, engine)
            said = stream == "stderr" or not status or r.stderr.startswith("sbxrun: streams: ")
            if r.returncode != status or os.path.exists(started) != (status == 0) or not said:
                count.fail(what, "status %d: %s" % (r.returncode, (r.stderr or "").strip()))
            else:
                count.ok(what)


# Opens a descriptor anew, and says by its status whether that worked.
AGAIN = """
import os, sys
try:
    fd = os.open('/proc/self/fd/' + sys.argv[1], eval('|'.join('os.O_' + f for f in sys.argv[2:])))
    if os.isatty(fd):
        import termios
        termios.tcgetattr(fd)
except PermissionError:
    os._exit(3)
os._exit(0)
"""


def redirections(count, world, engine):
    """Files of the caller's that are standard streams cannot be opened anew for more than they were opened for."""
    def again(*words):
        return [world.path("bin/sbxrun"), world.artifact(engine, "none"), "--", "/usr/bin/python3", "-c", AGAIN, *words]

    # Without a rule for the stream Landlock opens nothing anew; bwrap what is no more than the descriptor.
    own = 0 if engine == "bwrap" else 3
    read, write, append = os.O_RDONLY, os.O_WRONLY, os.O_WRONLY | os.O_APPEND
    for name, stream, file, flags, words, status in [
        ("read, for writing", "stdin", "out/canary", read, "WRONLY", 3),
        ("read, for truncating", "stdin", "out/canary", read, "RDONLY TRUNC", 3),
        ("appended, for truncating", "stdout", "out/canary", append, "WRONLY TRUNC", 3),
        ("appended, for writing", "stdout", "out/canary", append, "WRONLY", 3),
        ("appended, for reading", "stdout", "out/canary", append, "RDONLY", 3),
        ("read, for reading", "stdin", "out/canary", read, "RDONLY", own),
        ("written, for writing", "stdout", "out/canary", write, "WRONLY", own),
        ("/dev/null", "stdin", "/dev/null", os.O_RDWR, "RDWR", 0),
    ]:
        world.reset()
        what = "stream %s as %s, %s" % (name, world.who, engine)
        fd = os.open(world.path(file), flags)
        r = world.run(again("0" if stream == "stdin" else "1", *words.split()), stderr=subprocess.PIPE, **{stream: fd})
        os.close(fd)
        with open(world.path("out/canary")) as f:
            kept = f.read() == "CANARY\n"
        if r.returncode != status or not kept:
            count.fail(what, "status %d%s: %s" % (r.returncode, "" if kept else ", the file was changed", r.stderr.strip()))
        else:
            count.ok(what)
    r = world.run(["/bin/bash", "-c", '"$@" | cat; exit ${PIPESTATUS[0]}', "-", *again("1", "WRONLY", "TRUNC")])
    what = "stream a pipe as %s, %s" % (world.who, engine)
    count.ok(what) if r.returncode == 0 else count.fail(what, "status %d: %s" % (r.returncode, r.stderr.strip()))
    r = on_pty(world, again("0", "RDWR"))
    what = "terminal opened anew as %s, %s" % (world.who, engine)
    count.ok(what) if r.returncode == own else count.fail(what, "status %d: %s" % (r.returncode, r.stderr.strip()))


def refusals(count, world, engine):
    """What cannot be enforced never starts: status 125, one line, canary untouched."""
    with open(world.artifact(engine, "none"), "rb") as f:
        whole = f.read()
    rows = [("a byte changed", whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]), ("cut short", whole[:-1]),
            ("a byte more", whole + b"\0"), ("empty", b""), ("no artifact at all", b"#!/bin/sh\n")]
    for name, data in rows:
        world.reset()
        path = world.path("art/damaged")
        with open(path, "wb") as f:
            f.write(data)
        world.give("art")
        r = world.run([world.path("bin/sbxrun"), path, "--", "/bin/sh", "-c", "echo started; echo x > %s" % world.path("ws/started")])
        what = "artifact with %s as %s, %s" % (name, world.who, engine)
        lines = r.stderr.strip().splitlines()
        if r.returncode != 125 or r.stdout or os.path.exists(world.path("ws/started")) or len(lines) != 1:
            count.fail(what, "status %d: %s" % (r.returncode, (r.stdout + r.stderr).strip()))
        else:
            count.ok(what)
        os.unlink(path)


TESTS = [
    environment,
    processes,
    jobs,
    bystanders,
    outsiders,
    starvation,
    callers,
    closed_streams,
    redirections,
    unfit_streams,
    refusals,
]


def half(count, build, uid):
    world = World(build, uid)
    try:
        for network in ("none", "open"):
            world.compile(network)
        usable = [e for e in SUFFIX if engine_works(count, world, e)]
        attempts(count, world, usable)
        for engine in usable:
            programs(count, world, engine)
            if engine == NO_VIEW:
                continue  # the rest is the same code as with one
            for test in TESTS:
                test(count, world, engine)
    finally:
        world.close()


def main():
    build = os.path.abspath(sys.argv[1])
    count = Count()
    os.umask(0o022)
    if os.getuid() == 0:
        half(count, build, 0)
        half(count, build, USER)
    else:
        half(count, build, os.getuid())
        count.skip("everything as root", "needs root")
    print("enforce: %d passed, %d failed, %d skipped" % (count.passed, count.failed, count.skipped))
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
