"""Golden cases: each folder beside this file is a declaration and what sbxc makes of it.

    run.py [--update] BUILD [CASE...]

A case is
    about                  one sentence: what breaks for a user if this fails
    setup                  (optional) sh script that makes the tree in $1; /ws, /home/u and /skill are there
    input.sbx input.yml SKILL.md    one or more; all of them must give byte-equal artifacts
    ceiling*.yml           (optional) each becomes a --ceiling
    args                   (optional) further words for sbxc, one a line
    dump                   (optional, empty) no target holds it: dump must print it all the same, the same for all inputs
    command                (optional) replaces the common words below as well, one a line
    expect/status          exit status
    expect/stderr.EXT      what is said about each input
    expect/seatbelt.sb     the artifact
    expect/{bwrap.argv,landlock.txt,docker.argv}    its text form
    expect/ir.txt          the policy behind them, as `sbxc dump` prints it
    expect/sha256          of every artifact, byte for byte

A file in expect/ is a check, an absent one is not; but every case checks status, stderr and sha256. What dump prints is
a declaration too: compiled again it must give the same dump and the same artifacts.
"""
import concurrent.futures
import difflib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SUFFIX = {"seatbelt": ".sb", "bwrap": ".bwrap", "landlock": ".landlock", "docker": ".docker"}
TEXT = {"seatbelt": "seatbelt.sb", "bwrap": "bwrap.argv", "landlock": "landlock.txt", "docker": "docker.argv"}
INPUTS = ["input.sbx", "input.yml", "SKILL.md"]
COMMON = ["--base", "/ws", "-D", "HOME=/home/u", "-D", "WORK_DIR=/ws", "-D", "SKILL_DIR=/skill", "--image", "test:1"]
# What stands at the output path before a compile that fails, and must stand there afterwards.
OLD = b"older artifact\n"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def words(path):
    return read(path).decode().splitlines() if os.path.exists(path) else []


class Case:
    def __init__(self, sbxc, name):
        self.sbxc = sbxc
        self.name = name
        self.dir = os.path.join(HERE, name)
        self.problems = []
        self.results = {}  # file name in expect/ -> bytes
        self.inputs = [i for i in INPUTS if os.path.exists(os.path.join(self.dir, i))]
        command = os.path.join(self.dir, "command")
        self.args = (words(command) if os.path.exists(command) else COMMON) + words(os.path.join(self.dir, "args"))
        for f in sorted(os.listdir(self.dir)):
            if f.startswith("ceiling") and f.endswith(".yml"):
                self.args += ["--ceiling", f]
        self.targets = list(SUFFIX)
        if "-t" in self.args:
            at = self.args.index("-t")
            self.targets = self.args[at + 1].split(",")
            del self.args[at : at + 2]

    def sbxc_run(self, args):
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        for name in os.environ:
            if name.endswith("SAN_OPTIONS"):
                env[name] = os.environ[name]
        return subprocess.run(
            [self.sbxc] + args, cwd=self.dir, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60
        )

    def run(self, scratch):
        self.scratch = scratch
        self.tree = os.path.join(scratch, "tree")
        for d in ("ws", "home/u", "skill"):
            os.makedirs(os.path.join(self.tree, d))
        setup = os.path.join(self.dir, "setup")
        if os.path.exists(setup):
            subprocess.run(["sh", "-eu", setup, self.tree], cwd=self.tree, check=True, timeout=60)
        first = None
        for name in self.inputs:
            got = self.compile(scratch, name)
            if first is None:
                first = (name, got)
            elif got != first[1]:
                differ = [k for k in set(got) | set(first[1]) if got.get(k) != first[1].get(k)]
                self.problems.append("%s and %s differ in %s" % (first[0], name, ", ".join(sorted(differ))))
        if first is None:
            self.problems.append("no input")
        elif first[1]["status"] == b"0\n":
            self.artifacts(first[0], first[1])
        elif os.path.exists(os.path.join(self.dir, "dump")):
            self.understood()
        self.results.update(first[1] if first else {})
        for key in [k for k in self.results if k.startswith(".")]:
            del self.results[key]

    def compile(self, scratch, name):
        """Compiles one input for all targets. Returns what must be equal among all inputs."""
        out = os.path.join(scratch, "out-" + name)
        os.mkdir(out)
        prefix = os.path.join(out, "a")
        for t in self.targets:
            with open(prefix + SUFFIX[t], "wb") as f:
                f.write(OLD)
        output = prefix if len(self.targets) > 1 else prefix + SUFFIX[self.targets[0]]
        base = ["-t", ",".join(self.targets), "--sysroot", self.tree] + self.args
        r = self.sbxc_run(base + ["-o", output, name])
        if r.stdout:
            self.problems.append("%s: unexpected standard output" % name)
        # A sanitizer's report or a crash is never an expectation.
        if r.returncode not in (0, 1, 2) or b"Sanitizer" in r.stderr or b"runtime error" in r.stderr:
            self.problems.append("%s: status %d\n%s" % (name, r.returncode, r.stderr.decode(errors="replace")))
        ext = os.path.splitext(name)[1]
        self.results["stderr" + ext] = r.stderr.replace(self.tree.encode(), b"$TREE")
        got = {"status": b"%d\n" % r.returncode}
        files = {f: read(os.path.join(out, f)) for f in sorted(os.listdir(out))}
        if set(files) != {"a" + SUFFIX[t] for t in self.targets}:
            self.problems.append("%s: files left at the output: %s" % (name, " ".join(files)))
        for f, data in files.items():
            if (data == OLD) == (r.returncode == 0):
                self.problems.append("%s: status %d, but %s %s" % (
                    name, r.returncode, f, "was not written" if data == OLD else "was touched"))
        if r.returncode == 0:
            for t in self.targets:
                got["." + t] = files.get("a" + SUFFIX[t], b"")
            got["sha256"] = b"".join(
                b"%s  %s\n" % (hashlib.sha256(got["." + t]).hexdigest().encode(), t.encode()) for t in self.targets
            )
        return got

    def dump(self, name, target, args):
        r = self.sbxc_run(["dump", "-t", target, "--sysroot", self.tree] + args + [name])
        if r.returncode:
            self.problems.append("dump of %s: %s" % (os.path.basename(name), r.stderr.decode(errors="replace")))
        return r.stdout

    def understood(self):
        """What no target holds yet is known all the same, in every spelling."""
        dumps = [self.dump(name, self.targets[-1], self.args) for name in self.inputs]
        self.results["ir.txt"] = dumps[0]
        for name, text in zip(self.inputs, dumps):
            if text != dumps[0]:
                self.problems.append("%s and %s differ in their dump\n%s" % (self.inputs[0], name, diff(dumps[0], text)))
        self.read_again(dumps[0], [self.targets[-1]], None)
        if "seatbelt" in self.targets[:-1]:
            self.read_again(self.dump(self.inputs[0], "seatbelt", self.args), ["seatbelt"], None)

    def read_again(self, text, targets, got):
        """A dump is a declaration: dumped and compiled again it is the same. The ceilings are in it already."""
        again = os.path.join(self.scratch, "again.sbx")
        with open(again, "wb") as f:
            f.write(text)
        args = list(self.args)
        for word in ("--ceiling", "--profile", "--from"):
            while word in args:
                at = args.index(word)
                del args[at : at + 2]
        args = [a for a in args if a not in ("--strict", "--portable", "--ceiling-env")]
        if b"\n  trust core\n" in text and "--trust-core" not in args:
            args.append("--trust-core")
        second = self.dump(again, targets[0], args)
        if second != text:
            self.problems.append("the dump for %s read again is another\n%s" % (targets[0], diff(text, second)))
        for t in targets if got else []:
            out = os.path.join(self.scratch, "again" + SUFFIX[t])
            r = self.sbxc_run(["-t", t, "--sysroot", self.tree] + args + ["-o", out, again])
            if r.returncode or read(out) != got["." + t]:
                self.problems.append("%s: the dump compiled is another artifact\n%s" % (t, r.stderr.decode(errors="replace")))

    def artifacts(self, name, got):
        """The forms that people review."""
        self.results["ir.txt"] = self.dump(name, self.targets[-1], self.args)
        for same in ([t for t in self.targets if t != "seatbelt"], [t for t in self.targets if t == "seatbelt"]):
            if same:
                self.read_again(self.dump(name, same[0], self.args), same, got)
        for t in self.targets:
            if t == "seatbelt":
                self.results[TEXT[t]] = got[".seatbelt"]
                continue
            base = ["-t", t, "--sysroot", self.tree] + self.args
            r = self.sbxc_run(base + ["--format", "text", "-o", "-", name])
            if r.returncode:
                self.problems.append("%s: --format text: %s" % (t, r.stderr.decode(errors="replace")))
            self.results[TEXT[t]] = r.stdout

    def check(self):
        expect = os.path.join(self.dir, "expect")
        files = set(os.listdir(expect)) if os.path.isdir(expect) else set()
        must = {f for f in self.results if f in ("status", "sha256") or f.startswith("stderr")}
        for f in sorted(files | must):
            want = read(os.path.join(expect, f)) if f in files else None
            got = self.results.get(f)
            if want is None:
                self.problems.append("expect/%s is missing; run make golden-update CASE=%s" % (f, self.name))
            elif got is None:
                self.problems.append("expect/%s: nothing of the kind was made" % f)
            elif want != got:
                self.problems.append("expect/%s differs\n%s" % (f, diff(want, got)))

    def update(self):
        expect = os.path.join(self.dir, "expect")
        shutil.rmtree(expect, ignore_errors=True)
        os.mkdir(expect)
        for f, data in self.results.items():
            with open(os.path.join(expect, f), "wb") as out:
                out.write(data)


def diff(want, got):
    a = want.decode(errors="backslashreplace").splitlines()
    b = got.decode(errors="backslashreplace").splitlines()
    lines = list(difflib.unified_diff(a, b, "expected", "got", lineterm="", n=2))
    return "\n".join(lines[:60])


def one(sbxc, name, update):
    case = Case(sbxc, name)
    scratch = tempfile.mkdtemp(prefix="sbx-golden-")
    try:
        case.run(scratch)
        if update and not case.problems:
            case.update()
        elif not update:
            case.check()
    except subprocess.SubprocessError as e:
        case.problems.append(str(e))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return name, case.problems


def main():
    args = sys.argv[1:]
    update = args[:1] == ["--update"]
    args = args[update:]
    sbxc = os.path.abspath(os.path.join(args[0], "sbxc"))
    names = args[1:] or sorted(n for n in os.listdir(HERE) if os.path.exists(os.path.join(HERE, n, "about")))
    passed = failed = 0
    for name in [n for n in names if not os.path.exists(os.path.join(HERE, n, "about"))]:
        print("FAIL %s: there is no such case" % name)
        failed += 1
        names.remove(name)
    # Two at a time: each waits for programs most of its time, and has a folder of its own.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, problems in pool.map(lambda name: one(sbxc, name, update), names):
            passed, failed = passed + (not problems), failed + bool(problems)
            print("FAIL %s: %s" % (name, "\n".join(problems)) if problems else "ok %s" % name)
    if not passed + failed:
        failed = 1
        print("FAIL no cases")
    print("golden: %d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
