"""Tests of the docker target against the real CLI (with a stub for an engine) and against real engines.

Prints a line for each check and ends with counts; status 1 if one failed.
"""
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from stub import Stub  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
SBXC, SBXRUN, PROBE = (os.path.join(BUILD, n) for n in ("sbxc", "sbxrun", "tests/probe"))
USER = 1001
IMAGE = "bb:1"
counts = {"ok": 0, "FAIL": 0, "skip": 0}


def report(word, name, why=""):
    counts[word] += 1
    print(f"{word} {name}{': ' + why if why else ''}", flush=True)


def check(name, good, why="", shown=None):
    if good:
        report("ok", name)
    else:
        report("FAIL", name, f"{why}{'' if shown is None else ' ' + repr(shown)[:600]}")


def equal(name, got, want):
    check(name, got == want, f"got {got!r}, not {want!r}"[:900])


def run(argv, timeout=60, **more):
    """Ends the whole group on timeout, so that nothing is left behind."""
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    if "input" in more:
        data = more.pop("input")
        more["stdin"] = subprocess.PIPE
    else:
        data = None
    p = subprocess.Popen(argv, start_new_session=True, **more)
    try:
        out, err = p.communicate(data, timeout)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
        err = (err or b"") + b" [the test's own timeout]"
    return subprocess.CompletedProcess(argv, p.returncode, out, err)


def quote(data):
    """A DSL string that holds these bytes."""
    return '"' + "".join(chr(b) if 0x20 <= b < 0x7F and b not in b'"\\' else f"\\x{b:02x}" for b in data) + '"'


def write(path, text, mode=0o644):
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def attempt(test, *args):
    """A test that breaks off is a failure like any other; what follows is still run."""
    try:
        test(*args)
    except Exception as broken:  # whatever a missing answer led to
        report("FAIL", test.__name__, f"{type(broken).__name__}: {broken}")


class Scratch:
    def __init__(self):
        # Short: paths of Unix sockets are limited to 107 bytes.
        self.dir = tempfile.mkdtemp(prefix="sbx-dk-", dir="/tmp")
        os.chmod(self.dir, 0o755)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def folder(self, *names):
        path = self.path(*names)
        os.makedirs(path, exist_ok=True)
        return path

    def compile(self, name, clauses, expect=0):
        """The artifact of a profile; None if the compiler says something else than was expected."""
        source = write(self.path(name + ".sbx"), f'profile {name} {{\n  image "{IMAGE}"\n' + clauses + "\n}\n")
        out = self.path(name + ".docker")
        p = run([SBXC, "-t", "docker", source, "-o", out], cwd="/")
        if p.returncode != expect:
            report("FAIL", f"compile {name}", p.stderr.decode(errors="replace"))
            return None
        return out if p.returncode == 0 else p.stderr.decode(errors="replace")


def words(artifact):
    with open(artifact, "rb") as f:
        return f.read().split(b"\0")[:-1]


# ---- The CLI, parsing -----------------------------------------------------------------------------------

HOSTILE = [
    b"a,b", b'q"q', b"new\nline", b"sp ace ", b" front", b"-dash", b"co:lon", b"back\\s", "\u00fc\u00e9".encode(),
    b"x,readonly=false", b'y",dst=', b"cr\rmid", b"tab\t", b"=eq", b"#hash", b"$HOMEx", b"'", b"%41", b"\x01",
]


def clients():
    """Every docker CLI that is here; podman has no `create` against a socket of docker's."""
    found = []
    for path in ("/usr/bin/docker", "/usr/local/bin/docker"):
        if os.access(path, os.X_OK):
            p = run([path, "--version"])
            if p.stdout.startswith(b"Docker version "):
                found.append((path, p.stdout.decode().split()[2].rstrip(",").split("+")[0]))
    return found


class Cli:
    """One client in front of the stub."""

    def __init__(self, scratch, path, version):
        self.scratch, self.path, self.version = scratch, path, version
        self.socket = scratch.path(f"stub-{version}.sock")
        self.stub = Stub(self.socket)
        self.environment = scratch.path(f"environment-{version}")
        # What sbxrun calls: `run` becomes `create`, whose flags are the same; the container is never there.
        self.wrapper = write(
            scratch.path(f"client-{version}"),
            f'#!/bin/sh\n[ "$1" = run ] || exit 1\nshift\nenv > {self.environment}\n'
            f'exec {path} -H unix://{self.socket} create "$@"\n', 0o755)

    def create(self, artifact):
        argv = [self.path, "-H", "unix://" + self.socket, "create", *words(artifact), IMAGE, "/bin/true"]
        p = run(argv)
        return p, self.stub.last()[1]

    def launch(self, artifact, *options, command=("/bin/true",), **more):
        p = run([SBXRUN, "--tool", self.wrapper, *options, artifact, "--", *command], **more)
        path, asked = self.stub.last()
        return p, path, asked


def mounts_of(asked):
    return sorted((m["Source"], m["Target"], m.get("ReadOnly", False)) for m in asked["HostConfig"].get("Mounts") or [])


def test_file_alone(cli, s):
    name = f"cli {cli.version}: "
    s.folder("in"), s.folder("out")
    one = s.path("out", "one.txt")
    write(one, "")
    artifact = s.compile("alone", f'  read "{s.path("in")}"\n  write "{one}"\n  env {{ set A "b c\\nd" }}')
    p, asked = cli.create(artifact)
    if not asked:
        report("FAIL", name + "takes the file", p.stderr.decode())
        return
    host = asked["HostConfig"]
    equal(name + "binds", mounts_of(asked), [(s.path("in") + "/", s.path("in"), True), (one, one, False)])
    equal(name + "all of them binds", {m["Type"] for m in host["Mounts"]}, {"bind"})
    equal(name + "no -v", host.get("Binds"), None)
    equal(name + "network none", host["NetworkMode"], "none")
    equal(name + "read-only root", host["ReadonlyRootfs"], True)
    equal(name + "no capabilities", (host["CapDrop"], host.get("CapAdd")), (["ALL"], None))
    equal(name + "no new privileges", host["SecurityOpt"], ["no-new-privileges"])
    equal(name + "private ipc", host["IpcMode"], "private")
    equal(name + "init and remove", (host["Init"], host["AutoRemove"]), (True, True))
    equal(name + "not privileged", host["Privileged"], False)
    equal(name + "no log on the host", host["LogConfig"]["Type"], "none")
    options = "rw,exec,nosuid,nodev,mode=1777"
    equal(name + "tmpfs", host["Tmpfs"], {"/var/tmp": options, "/var/tmp/home": options})
    equal(name + "environment", sorted(asked["Env"]), [  # docker's order is a map's
        "A=b c\nd", "HOME=/var/tmp/home", "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/var/tmp"])
    labels = asked["Labels"]
    equal(name + "run section", (labels.get("sbx.target"), labels.get("sbx.network"), labels.get("sbx.image")),
          ("docker", "none", IMAGE))
    p, asked = cli.create(s.compile("bridged", "  network open"))
    equal(name + "network open", asked["HostConfig"]["NetworkMode"], "bridge")


def test_hostile_names(cli, s):
    name = f"cli {cli.version}: "
    top = s.folder("hostile").encode()
    clauses, want = [], []
    for i, last in enumerate(HOSTILE):
        path = os.path.join(top, last)
        os.makedirs(path, exist_ok=True)
        clauses.append(f"  {'write' if i % 2 else 'read'} literal {quote(path)}")
        want.append((path.decode() + "/", path.decode(), not i % 2))
    artifact = s.compile("hostile_names", "\n".join(clauses))
    for way in ("file alone", "by sbxrun"):
        if way == "file alone":
            p, asked = cli.create(artifact)
        else:
            p, _, asked = cli.launch(artifact, "--cwd", "/")
        if not asked:
            report("FAIL", name + "hostile names, " + way, p.stderr.decode())
            continue
        got = mounts_of(asked)
        equal(f"{name}{len(HOSTILE)} hostile names, {way}", got, sorted(want))


def test_launch(cli, s):
    name = f"cli {cli.version}, sbxrun: "
    s.folder("in")
    artifact = s.compile("launch", f'  read "{s.path("in")}"\n  env {{ allow "OK_*"; set A "b" }}')
    env = {"PATH": "/evil", "OK_1": " v#'\"$x ", "NOT": "x", "DOCKER_HOST": "unix:///nowhere", "DOCKER_CONTEXT": "no",
           "LD_PRELOAD": "", "HTTPS_PROXY": "http://nowhere", "HOME": "/evil", "DOCKER_CONFIG": "/evil", "LANG": "C"}
    p, path, asked = cli.launch(artifact, cwd=s.path("in"), env=env, command=("sh", "-c", "x y", "--", "--rm"))
    if not asked:
        report("FAIL", name + "launches", p.stderr.decode())
        return
    host = asked["HostConfig"]
    uid, gid = os.getuid(), os.getgid()
    equal(name + "status of the client", p.returncode, 0)
    check(name + "random name", "name=sbx-" in path, "no name in", path)
    equal(name + "user", asked["User"], f"{uid}:{gid}")
    equal(name + "image and command", (asked["Image"], asked["Cmd"]), (IMAGE, ["sh", "-c", "x y", "--", "--rm"]))
    equal(name + "entrypoint cleared", asked["Entrypoint"] in (None, [], [""]), True)
    equal(name + "workdir", asked["WorkingDir"], s.path("in"))
    equal(name + "stdin", (asked["OpenStdin"], asked["Tty"]), (True, False))
    equal(name + "environment", sorted(asked["Env"]), sorted([
        "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/var/tmp/home", "TMPDIR=/var/tmp", "A=b", "LANG=C",
        "OK_1= v#'\"$x "]))
    options = f"rw,exec,nosuid,nodev,mode=0700,uid={uid},gid={gid}"
    equal(name + "tmpfs of the user", host["Tmpfs"], {"/var/tmp": options, "/var/tmp/home": options})
    equal(name + "no new privileges", "no-new-privileges" in host["SecurityOpt"], True)
    profile = [o for o in host["SecurityOpt"] if o.startswith("seccomp=")]
    rules = json.loads(profile[0][len("seccomp="):]) if len(profile) == 1 else {}
    equal(name + "seccomp refuses by default", rules.get("defaultAction"), "SCMP_ACT_ERRNO")
    sockets = [r for r in rules.get("syscalls", []) if "socket" in r["names"]]
    equal(name + "seccomp refuses sockets", [(r["action"], r.get("errnoRet")) for r in sockets], [("SCMP_ACT_ERRNO", 13)])
    with open(cli.environment) as f:
        names = {line.split("=")[0] for line in f} - {"PWD", "SHLVL", "_", "OLDPWD"}
    equal(name + "client's environment", names, {"PATH", "HOME", "DOCKER_CONFIG"})
    p, _, asked = cli.launch(artifact, cwd=s.path("in"), env={"OK_1": "two\nlines"})
    check(name + "a line break in a value is refused", p.returncode == 125 and not asked and b"OK_1" in p.stderr,
          "status, stderr", (p.returncode, p.stderr))
    p, _, asked = cli.launch(artifact, cwd="/usr")
    check(name + "a working folder outside is refused", p.returncode == 125 and not asked, "status", p.returncode)


def test_sources(cli, s):
    name = f"cli {cli.version}, sbxrun: "
    base = s.folder("sources-" + cli.version)
    for sub in ("gone", "swapped", "file-to-folder", "maybe"):
        os.makedirs(os.path.join(base, sub), exist_ok=True)
    one = write(os.path.join(base, "one"), "")
    artifact = mark_optional(s.compile("sources_ok", f'  read "{base}/maybe"\n  read "{one}"'), f"{base}/maybe")
    gone = s.compile("sources_gone", f'  read "{base}/gone"')
    swapped = s.compile("sources_swapped", f'  write "{base}/swapped"')
    turned = s.compile("sources_turned", f'  read "{one}"')
    _, _, asked = cli.launch(artifact, "--cwd", "/")
    equal(name + "optional and there", len(mounts_of(asked)), 2)
    os.rmdir(os.path.join(base, "maybe"))
    _, _, asked = cli.launch(artifact, "--cwd", "/")
    equal(name + "optional and missing", [m[1] for m in mounts_of(asked)], [one])
    os.rmdir(os.path.join(base, "gone"))
    p, _, asked = cli.launch(gone, "--cwd", "/")
    check(name + "a missing source is refused", p.returncode == 125 and not asked, "status", p.returncode)
    os.rename(os.path.join(base, "swapped"), os.path.join(base, "moved"))
    os.symlink("/etc", os.path.join(base, "swapped"))
    p, _, asked = cli.launch(swapped, "--cwd", "/")
    check(name + "a source that became a link is refused", p.returncode == 125 and not asked, "status", p.returncode)
    os.unlink(one)
    os.mkdir(one)
    p, _, asked = cli.launch(turned, "--cwd", "/")
    check(name + "a file that became a folder is refused", p.returncode == 125 and not asked, "status", p.returncode)
    own = s.compile("own", f'  write "{s.dir}"')
    p, _, asked = cli.launch(own, "--cwd", "/")
    check(name + "a write grant on the artifact is refused", p.returncode == 125 and b"self-writable" in p.stderr,
          "status, stderr", (p.returncode, p.stderr))


def test_damage(cli, s):
    """A word more, sealed again so that the digest is right: the words themselves are judged."""
    name = f"cli {cli.version}, sbxrun: "
    artifact = s.compile("damage", "  network none")
    with open(artifact, "rb") as f:
        data = f.read()
    cases = {
        "a word more": data.replace(b"--read-only\0", b"--read-only\0--privileged\0", 1),
        "a word less": data.replace(b"--read-only\0", b"", 1),
        "another network": data.replace(b"--network\0none\0", b"--network\0host\0", 1),
        "a flipped byte": data[:9] + bytes([data[9] ^ 1]) + data[10:],
        "a cut": data[:-7],
    }
    for what, changed in cases.items():
        for way in ("as it is", "sealed again"):
            path = s.path("damaged.docker")
            with open(path, "wb") as f:
                f.write(seal(changed) if way == "sealed again" else changed)
            p, _, asked = cli.launch(path, "--cwd", "/")
            check(f"{name}{what} is refused, {way}", p.returncode == 125 and not asked, "status", p.returncode)


def mark_optional(artifact, source):
    """A mount that may be missing at launch, whatever clause of the language comes to say so."""
    with open(artifact, "rb") as f:
        data = f.read()
    record = f"type=bind,src={source}/,dst={source},readonly\0".encode()
    assert record in data
    with open(artifact, "wb") as f:
        f.write(seal(data.replace(record, record + f"--label\0sbx-optional={source}\0".encode())))
    return artifact


def seal(data):
    mark = b"--label\0sbx.body-digest="
    at = data.find(mark)
    if at < 0:
        return data
    at += len(mark)
    return data[:at] + hashlib.sha256(data[:at] + data[at + 64:]).hexdigest().encode() + data[at + 64:]


def test_mounts_beneath(cli, s):
    """What is mounted beneath a grant of reading gets a read-only mount of its own; beneath writing, none."""
    name = f"cli {cli.version}, sbxrun: mounts beneath grants"
    if os.getuid() != 0:
        report("skip", name, "mounting needs root")
        return
    for sub in ("ro/a b", "rw/c", "ro/rw/d"):
        s.folder("beneath", *sub.split("/"))
    top = s.path("beneath")
    artifact = s.compile("beneath", f'  read "{top}/ro"\n  write "{top}/rw"\n  write "{top}/ro/rw"')
    script = ('mount --make-rprivate / && mount -t tmpfs none "$1/ro/a b" && mkdir "$1/ro/a b/,x" && '
              'mount -t tmpfs none "$1/ro/a b/,x" && mount -t tmpfs none "$1/rw/c" && '
              'mount -t tmpfs none "$1/ro/rw/d" && shift && exec "$@"')
    p = run(["unshare", "-m", "sh", "-c", script, "sh", top, SBXRUN, "--tool", cli.wrapper, "--cwd", "/", artifact,
             "--", "/bin/true"])
    asked = cli.stub.last()[1]
    if not asked:
        report("FAIL", name, p.stderr.decode())
        return
    extra = [m for m in mounts_of(asked) if m[0] == m[1]]
    equal(name, extra, [(top + "/ro/a b", top + "/ro/a b", True), (top + "/ro/a b/,x", top + "/ro/a b/,x", True)])


def test_refusals(s):
    """Judged by the compiler; needs no client."""
    for what, clauses, word in (
        ("the root", '  read "/"', "[cannot]"),
        ("/proc", '  write "/proc/self"', "[cannot]"),
        ("a device", '  write "/dev/tty"', "[cannot]"),
        ("bytes that are no UTF-8", f"  read {quote(s.folder('utf').encode() + b'/x')}", "[unquotable]"),
    ):
        if word == "[unquotable]":
            path = s.path("utf").encode() + b"/\xff"
            os.makedirs(path, exist_ok=True)
            clauses = f"  read {quote(path)}"
        text = s.compile("refused", clauses, expect=1)
        check(f"compiler refuses {what}", text is not None and word in text, "said", text)
    source = write(s.path("noimage.sbx"), "profile p { network none }\n")
    p = run([SBXC, "-t", "docker", source, "-o", s.path("x.docker")])
    check("compiler refuses a file without image", p.returncode == 1 and b"[no-image]" in p.stderr, "said", p.stderr)


# ---- Real engines --------------------------------------------------------------------------------------


def make_image(s):
    """A root file system of busybox alone, as a tar file."""
    root = s.folder("image")
    for sub in ("bin", "etc", "proc", "sys", "dev", "tmp", "root"):
        os.makedirs(os.path.join(root, sub), exist_ok=True)
    shutil.copy("/bin/busybox", os.path.join(root, "bin", "busybox"))
    for applet in run(["/bin/busybox", "--list"]).stdout.decode().split():
        if applet != "busybox":
            os.symlink("busybox", os.path.join(root, "bin", applet))
    write(os.path.join(root, "etc", "passwd"), "root:x:0:0::/root:/bin/sh\n")
    write(os.path.join(root, "etc", "group"), "root:x:0:\n")
    tar = s.path("bb.tar")
    run(["tar", "-C", root, "-cf", tar, "."])
    shutil.rmtree(root)
    return tar


class Docker:
    name = "dockerd"
    users = (0, USER)

    def __init__(self, s):
        self.s = s
        self.dir = s.folder("d")
        self.socket = os.path.join(self.dir, "s")
        self.tool = write(s.path("docker"), f'#!/bin/sh\nexec /usr/bin/docker -H unix://{self.socket} "$@"\n', 0o755)
        self.log = open(s.path("dockerd.log"), "wb")
        d = self.dir
        self.daemon = subprocess.Popen(
            ["dockerd", "--data-root", d + "/data", "--exec-root", d + "/exec", "--pidfile", d + "/pid", "-H",
             "unix://" + self.socket, "--storage-driver", "vfs", "--iptables=false", "--ip6tables=false",
             "--bridge=none", "--ip-forward=false", "--ip-masq=false"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)

    def ready(self):
        for _ in range(150):
            if self.daemon.poll() is not None:
                return False
            if os.path.exists(self.socket) and run([self.tool, "info"]).returncode == 0:
                os.chmod(self.socket, 0o666)
                return True
            time.sleep(0.2)
        return False

    def why_not(self):
        self.log.flush()
        with open(self.log.name, errors="replace") as f:
            return "dockerd does not start: " + " ".join(f.read().split()[-60:])

    def left(self):
        return run([self.tool, "ps", "-aq"]).stdout.split()

    def close(self):
        self.daemon.terminate()
        try:
            self.daemon.wait(20)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
        self.log.close()
        # What the daemon may leave mounted would keep the folders from being removed.
        for mounted in ("exec/netns/default", "data"):
            run(["umount", os.path.join(self.dir, mounted)])


class Podman:
    name = "podman"
    users = (0,)  # another user's podman has images, limits and namespaces of its own to be set up

    def __init__(self, s):
        base = (f"podman --runtime runc --root {s.path('pr')} --runroot {s.path('prr')} --storage-driver vfs "
                "--cgroup-manager cgroupfs --events-backend file")
        # Without CAP_SYS_RESOURCE podman's own limits cannot be set.
        self.tool = write(s.path("podman"), f"""#!/bin/sh
command=$1
shift
[ "$command" != run ] || set -- --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "$@"
exec {base} "$command" "$@"
""", 0o755)

    def ready(self):
        return run([self.tool, "info"]).returncode == 0

    def why_not(self):
        return "podman info: " + run([self.tool, "info"]).stderr.decode(errors="replace")

    def left(self):
        return run([self.tool, "ps", "-aq"]).stdout.split()

    def close(self):
        pass


class Listener:
    """A TCP and a Unix socket of the host that answer."""

    def __init__(self, s):
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.path = os.path.join(s.folder("in"), "listener.sock")
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(self.path)
        os.chmod(self.path, 0o777)
        self.unix.listen(8)
        for server in (self.tcp, self.unix):
            threading.Thread(target=self.serve, args=(server,), daemon=True).start()

    def serve(self, server):
        while True:
            try:
                client, _ = server.accept()
                with client:
                    client.sendall(b"hello\n")
            except OSError:
                return

    def close(self):
        self.tcp.close()
        self.unix.close()


class Engine:
    """One engine with the tree, the artifact and the ways to ask it."""

    def __init__(self, engine, s, listener):
        self.engine, self.s, self.listener = engine, s, listener
        self.name = engine.name
        for sub in ("in", "out", "beside", "probes", "real"):
            s.folder(sub)
        write(s.path("in", "file"), "content\n")
        write(s.path("real", "file"), "real\n")
        write(s.path("beside", "canary"), "untouched\n", 0o666)
        os.chmod(s.path("beside"), 0o777)
        shutil.copy(PROBE, s.path("probes", "probe"))
        if not os.path.lexists(s.path("link")):
            os.symlink("real", s.path("link"))
        self.artifact = s.compile(
            "engine", "\n".join(f'  {kind} "{s.path(sub)}"' for kind, sub in (
                ("read", "in"), ("read", "probes"), ("read", "link"), ("write", "out"))) +
            '\n  env { allow "OK_*" }\n  timeout 40s')
        self.opened = s.compile("opened", f'  read "{s.path("probes")}"\n  read "{s.path("in")}"\n  network open')

    def run(self, *command, artifact=None, options=(), uid=0, **more):
        prefix = [] if uid == 0 else ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        more.setdefault("cwd", self.s.path("in"))
        return run([*prefix, SBXRUN, "--tool", self.engine.tool, *options, artifact or self.artifact, "--", *command],
                   **more)

    def check(self, what, good, p):
        check(f"{self.name}: {what}", good, "status, stdout, stderr", (p.returncode, p.stdout, p.stderr))

    def probe(self, what, *args, uid=0, refused=True, artifact=None):
        """First outside, where it must succeed; then in the container."""
        outside = run(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", self.s.path("probes", "probe"),
                       what, *args])
        if outside.returncode != 0:
            report("skip", f"{self.name}: {what}", "fails outside too, so a refusal proves nothing: "
                   + outside.stdout.decode(errors="replace").strip())
            return
        p = self.run(self.s.path("probes", "probe"), what, *args, uid=uid, artifact=artifact)
        self.check(f"uid {uid}, {what} {' '.join(args)}".rstrip() + (" refused" if refused else " works"),
                   p.returncode == (1 if refused else 0), p)


def test_files(e):
    s = e.s
    p = e.run("cat", s.path("in", "file"), s.path("link", "file"))
    e.check("reads, also by the name of a link", p.returncode == 0 and p.stdout == b"content\nreal\n", p)
    for uid in e.engine.users:
        os.chown(s.path("out"), uid, uid)
        made = s.path("out", f"made-{uid}")
        p = e.run("sh", "-c", f"echo x > {made} && echo ok", uid=uid)
        e.check(f"uid {uid}: writes", p.stdout == b"ok\n" and os.path.exists(made) and os.stat(made).st_uid == uid, p)
        p = e.run("sh", "-c", 'cd "$TMPDIR" && printf "#!/bin/sh\\necho ran" > t && chmod +x t && ./t && '
                  'echo x > "$HOME/x" && stat -c %a "$TMPDIR"', uid=uid)
        e.check(f"uid {uid}: TMPDIR and HOME are writable, private, executable", p.stdout == b"ran\n700\n", p)
        for what, path in (("beside a grant", s.path("beside", "canary")), ("a granted folder", s.path("in", "new")),
                           ("the image", "/etc/x")):
            p = e.run("sh", "-c", f"echo x > {path}", uid=uid)
            e.check(f"uid {uid}: writing {what} fails", p.returncode not in (0, 124, 125), p)
        p = e.run("cat", s.path("beside", "canary"), uid=uid)
        e.check(f"uid {uid}: reading beside a grant fails", p.returncode == 1 and b"untouched" not in p.stdout, p)
    with open(s.path("beside", "canary")) as f:
        check(f"{e.name}: the canary is untouched", f.read() == "untouched\n", "changed")
    check(f"{e.name}: nothing new in the granted folder", not os.path.exists(s.path("in", "new")), "made")


def test_escapes(e):
    port = str(e.listener.port)
    e.probe("true", refused=False)
    for uid in e.engine.users:
        e.probe("tcp", "127.0.0.1", port, uid=uid)
        e.probe("unix", e.listener.path, uid=uid)
        e.probe("ring-socket", uid=uid)
        e.probe("vsock", uid=uid)
        e.probe("user-namespace", uid=uid)
        e.probe("socketpair", uid=uid, refused=False)
    e.probe("mptcp", "127.0.0.1", port)
    for what in ("packet", "raw", "add-key"):
        e.probe(what)
    p = e.run(e.s.path("probes", "probe"), "int80-socket")
    e.check("the 32-bit entry is no way to a socket", p.returncode != 0, p)
    e.probe("unix", e.listener.path, artifact=e.opened)
    e.probe("vsock", artifact=e.opened)
    p = e.run("grep", "-E", "^(CapEff|CapBnd|NoNewPrivs|Seccomp):", "/proc/self/status")
    want = b"CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
    e.check("no capabilities, no new privileges, a filter", p.stdout == want, p)


def test_environment(e):
    env = {"OK_1": "secret value", "NOT_OK": "x", "LANG": "C", "PATH": "/evil"}
    p = e.run("env", env=env)
    got = dict(line.split("=", 1) for line in p.stdout.decode().splitlines())
    for extra in ("HOSTNAME", "container", "TERM"):  # the engines' own
        got.pop(extra, None)
    equal(f"{e.name}: environment", got, {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/var/tmp/home",
                                          "TMPDIR": "/var/tmp", "OK_1": "secret value", "LANG": "C"})


def test_ends(e):
    p = e.run("sh", "-c", "exit 42")
    e.check("the command's status", p.returncode == 42, p)
    p = e.run("sh", "-c", "kill -9 $$")
    e.check("the command's signal", p.returncode == 137, p)
    if e.name == "podman":
        report("skip", "podman: not found, not executable", "its init reports neither; the run ends with 1")
    else:
        p = e.run("no-such-command")
        e.check("not found", p.returncode == 127, p)
        p = e.run("/etc/passwd")
        e.check("not executable", p.returncode == 126, p)
    p = e.run("cat", input=b"to stdin\n")
    e.check("stdin", p.stdout == b"to stdin\n", p)
    for what, script in (("", "sleep 60"), (" of one that ignores TERM", 'trap "" TERM; while :; do sleep 1; done')):
        start = time.monotonic()
        p = e.run("sh", "-c", script, options=("--timeout", "2s"))
        took = time.monotonic() - start
        e.check(f"timeout{what} ({took:.1f} s)", p.returncode == 124 and took < 12, p)
        equal(f"{e.name}: nothing left behind", e.engine.left(), [])
    for sig in (signal.SIGTERM, signal.SIGKILL):
        child = subprocess.Popen([SBXRUN, "--tool", e.engine.tool, e.artifact, "--", "sleep", "60"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 cwd=e.s.path("in"), start_new_session=True)
        for _ in range(100):
            if e.engine.left():
                break
            time.sleep(0.1)
        time.sleep(1)
        child.send_signal(sig)
        status = child.wait(30)
        check(f"{e.name}: {sig.name} to sbxrun ends it", status == (143 if sig == signal.SIGTERM else -9), "status", status)
        for _ in range(80):
            if not e.engine.left():
                break
            time.sleep(0.1)
        equal(f"{e.name}: nothing left after {sig.name}", e.engine.left(), [])


def test_image(e):
    s = e.s
    source = write(s.path("missing.sbx"), 'profile p { image "no/such:image" }\n')
    out = s.path("missing.docker")
    run([SBXC, "-t", "docker", source, "-o", out])
    p = e.run("true", artifact=out, options=("--cwd", "/"))
    e.check("a missing image is refused, not pulled", p.returncode == 125, p)


def test_mounted_beneath(e):
    """The recipe with the engine's own view: mounted where the daemon sees it, in a folder of the test's own."""
    s = e.s
    top = s.folder("mounted")
    sub = s.folder("mounted", "sub")
    if run(["mount", "-t", "tmpfs", "none", sub]).returncode != 0:
        report("skip", f"{e.name}: a mount beneath a grant of reading", "nothing can be mounted here")
        return
    try:
        artifact = s.compile("mounted", f'  read "{top}"')
        p = e.run("sh", "-c", f"echo x > {sub}/y", artifact=artifact, cwd=top)
        e.check("a mount beneath a grant of reading is read-only",
                p.returncode == 1 and b"Read-only" in p.stderr and not os.listdir(sub), p)
    finally:
        run(["umount", sub])


def test_engines(s):
    if os.environ.get("ENGINES", "0") != "1":
        report("skip", "real engines", "ENGINES=1 is not set: files, escapes, environment, timeouts and ends of "
               "containers under dockerd and podman are left out")
        return
    if os.getuid() != 0:
        report("skip", "real engines", "dockerd and podman are started by root here")
        return
    for binary in ("/bin/busybox", PROBE):
        if not os.path.exists(binary):
            report("skip", "real engines", f"{binary} is not there")
            return
    tar = make_image(s)
    listener = Listener(s)
    for kind, needs in ((Docker, "dockerd"), (Podman, "podman")):
        if not shutil.which(needs):
            report("skip", kind.name, f"{needs} is not installed")
            continue
        engine = kind(s)
        try:
            if not engine.ready():
                report("FAIL", kind.name, engine.why_not())
                continue
            p = run([engine.tool, "import", tar, IMAGE])
            if p.returncode != 0:
                report("FAIL", f"{kind.name}: import of the image", p.stderr.decode(errors="replace"))
                continue
            e = Engine(engine, s, listener)
            if USER not in engine.users:
                report("skip", f"{kind.name}: uid {USER}", "rootless podman is not set up by the tests")
            for test in (test_files, test_escapes, test_environment, test_ends, test_image, test_mounted_beneath):
                attempt(test, e)
            equal(f"{kind.name}: no container is left", engine.left(), [])
        finally:
            engine.close()
    listener.close()


def main():
    global SBXC, SBXRUN, PROBE
    s = Scratch()
    # The unprivileged user must reach what it runs, wherever this tree lies.
    SBXC, SBXRUN, PROBE = (shutil.copy2(p, s.path(os.path.basename(p))) for p in (SBXC, SBXRUN, PROBE))
    try:
        attempt(test_refusals, s)
        found = clients()
        if not found:
            report("skip", "flags by the CLI", "no docker client is installed")
        for path, version in found:
            cli = Cli(s, path, version)
            for test in (test_file_alone, test_hostile_names, test_launch, test_sources, test_damage,
                         test_mounts_beneath):
                attempt(test, cli, s)
        attempt(test_engines, s)
    finally:
        shutil.rmtree(s.dir, ignore_errors=True)
    print(f"docker: {counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
