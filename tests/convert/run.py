"""sbxc convert: every golden declaration, and random ones, in the other syntax, and back, mean the same.

Usage: run.py BUILD [COUNT [SEED]]

Nothing is looked up (--resolve none), so no tree is needed. What cannot be written in YAML must be refused.
"""
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading

import declarations

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
COMMON = ["--resolve", "none", "--image", "test:1", "--base", "/ws", "-D", "HOME=/home/u", "-D", "WORK_DIR=/ws", "-D", "SKILL_DIR=/skill"]
TARGETS = ["landlock", "seatbelt", "bwrap", "docker"]
passed = failed = 0
# A declaration, and where its first comment stands.
COMMENTS = [
    ("a.sbx", '# why\nread "/srv"\n', b"1:1"), ("a.sbx", 'read "/srv #1"\n', None), ("a.sbx", 'read "/\\" # \\\\"#1\n', b"1:16"),
    ("a.yml", "read: ['/srv''s #1', \"/\\\" #\"]\n", None), ("a.yml", "description: it's#1 # why\n", b"1:21"),
    ("SKILL.md", "---\nname: x\n---\n# Title\n", None), ("SKILL.md", "---\nname: x\n# why\n---\n# Title\n", b"3:1"),
]
COUNTING = threading.Lock()


def check(name, good, text=""):
    global passed, failed
    with COUNTING:
        passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL %s %s" % (name, text))
    return good


class Tool:
    def __init__(self, build):
        self.sbxc = os.path.abspath(os.path.join(build, "sbxc"))

    def run(self, words, cwd):
        return subprocess.run([self.sbxc] + words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def dumps(self, file, args, cwd):
        """What it means on both systems; None where it cannot be told."""
        texts = []
        for target in ("landlock", "seatbelt"):
            r = self.run(["dump", "-t", target] + COMMON + args + [file], cwd)
            if r.returncode:
                return None
            texts.append(r.stdout)
        return texts


    def artifact(self, target, file, args, cwd):
        """None where that target does not hold it."""
        out = file + ".artifact"
        r = self.run(["-t", target, "-o", out] + COMMON + args + [file], cwd)
        if r.returncode:
            return None
        with open(os.path.join(cwd, out), "rb") as f:
            return f.read()

    def meaning(self, file, args, cwd, held):
        return self.dumps(file, args, cwd), [self.artifact(t, file, args, cwd) for t in TARGETS if held]


def arguments(folder):
    path = os.path.join(folder, "args")
    if not os.path.exists(path):
        return []
    with open(path) as f:
        words = f.read().split()
    at = words.index("--profile") if "--profile" in words else None
    return [] if at is None else words[at : at + 2]


def one(tool, name, file, folder, args):
    before = tool.dumps(file, args, folder)
    if before is None:
        return 0
    label = "%s/%s" % (name, file)
    for to, ext in (("yaml", ".yml"), ("dsl", ".sbx")):
        made, back = "made" + ext, "back" + (".sbx" if ext == ".yml" else ".yml")
        r = tool.run(["convert", "--to", to, file, "-o", made], folder)
        if r.returncode == 1 and to == "yaml" and b"[unquotable]" in r.stderr:
            check("%s: what YAML cannot spell leaves no file" % label, not os.path.exists(os.path.join(folder, made)))
            continue
        if not check("%s to %s" % (label, to), r.returncode == 0, r.stderr.decode(errors="replace")):
            continue
        check("%s to %s means the same" % (label, to), tool.dumps(made, args, folder) == before)
        if to == "dsl":
            r = tool.run(["fmt", "--check", made], folder)
            check("%s: the language as fmt writes it" % label, r.returncode == 0, r.stdout.decode(errors="replace"))
        r = tool.run(["convert", made, "-o", back], folder)
        if r.returncode == 1 and back.endswith(".yml") and b"[unquotable]" in r.stderr:
            continue
        check("%s to %s and back" % (label, to), r.returncode == 0 and tool.dumps(back, args, folder) == before, r.stderr.decode(errors="replace"))
    return 1


def one_random(tool, seed, folder):
    """The language, YAML, the language: the same text in the end, and the same meaning on the way. Returns how many
    dumps and artifacts could be compared."""
    text, include, profile, held = declarations.make(random.Random(seed))
    os.mkdir(folder)
    for name, data in (("x.sbx", text), ("in c#.sbx", include)):
        if data is not None:
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
    label = "seed %d" % seed
    args = [word for name in declarations.PARAMS for word in ("-D", name + "=/param")] + (["--profile", profile] if profile else [])
    r = tool.run(["convert", "x.sbx", "-o", "y.yml"], folder)
    if r.returncode == 1 and b"[unquotable]" in r.stderr:
        check("%s: what YAML cannot spell leaves no file" % label, not os.path.exists(os.path.join(folder, "y.yml")))
        check("%s: names that are no UTF-8" % label, b"\xff" in text.lower() or b"\\xff" in text)
        return 0, 0
    said = r.stderr.decode(errors="replace")
    for words in (["--to", "dsl", "x.sbx", "-o", "a.sbx"], ["y.yml", "-o", "b.sbx"], ["b.sbx", "-o", "z.yml"]):
        r = tool.run(["convert"] + words, folder)
        said += r.stderr.decode(errors="replace")
    if not check("%s is converted" % label, os.path.exists(os.path.join(folder, "z.yml")), said):
        return 0, 0
    for one, other in (("a.sbx", "b.sbx"), ("y.yml", "z.yml")):
        with open(os.path.join(folder, one), "rb") as f, open(os.path.join(folder, other), "rb") as g:
            check("%s: %s and %s are the same text" % (label, one, other), f.read() == g.read())
    check("%s: no comment is seen where there is none" % label, "[comments]" not in said, said)
    r = tool.run(["fmt", "--check", "a.sbx"], folder)
    check("%s: the language as fmt writes it" % label, r.returncode == 0, r.stdout.decode(errors="replace"))
    meant = tool.meaning("x.sbx", args, folder, held)
    for file in ("y.yml", "b.sbx"):
        check("%s: %s means the same" % (label, file), tool.meaning(file, args, folder, held) == meant)
    return meant[0] is not None, sum(a is not None for a in meant[1])


def randoms(tool, scratch, count, seed):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda n: one_random(tool, n, os.path.join(scratch, "random-%d" % n)), range(seed, seed + count)))
    dumps, artifacts = (sum(column) for column in zip(*told))
    check("most random declarations can be compared", dumps > count * 0.7 and artifacts > count * 0.5, "%d dumps, %d artifacts" % (dumps, artifacts))


def not_plain(tool, folder):
    """What another reader of YAML would not take for this text stands in quotes."""
    with open(os.path.join(folder, "plain.sbx"), "w") as f:
        f.write("env {\n%s}\n" % "".join('set A%d "%s"\n' % (n, t.replace('"', '\\"')) for n, t in enumerate(declarations.NOT_PLAIN)))
    lines = tool.run(["convert", "plain.sbx"], folder).stdout.decode().splitlines()
    for n, t in enumerate(declarations.NOT_PLAIN):
        check("%r stands in quotes" % t, '    A%d: "%s"' % (n, t.replace('"', '\\"')) in lines)


def main():
    tool = Tool(sys.argv[1])
    count, seed = (int(sys.argv[2]) if len(sys.argv) > 2 else 100), (int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with tempfile.TemporaryDirectory() as scratch:
        def work(case):
            name, file = case
            folder = os.path.join(scratch, name + "-" + file)
            shutil.copytree(os.path.join(GOLDEN, name), folder)
            return one(tool, name, file, folder, arguments(folder))

        cases = [(name, file) for name in sorted(os.listdir(GOLDEN)) for file in ("input.sbx", "input.yml", "SKILL.md")
                 if os.path.exists(os.path.join(GOLDEN, name, file))]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            tried = sum(pool.map(work, cases))
        randoms(tool, scratch, count, seed)
        os.mkdir(os.path.join(scratch, "x"))
        with open(os.path.join(scratch, "x", "bad.sbx"), "w") as f:
            f.write('raed "/srv"\n')
        with open(os.path.join(scratch, "x", "old.yml"), "w") as f:
            f.write("old\n")
        r = tool.run(["convert", "bad.sbx", "-o", "old.yml"], os.path.join(scratch, "x"))
        with open(os.path.join(scratch, "x", "old.yml")) as f:
            check("a file with a mistake is not converted", r.returncode == 1 and f.read() == "old\n")
        for name, text, at in COMMENTS:
            with open(os.path.join(scratch, "x", name), "w") as f:
                f.write(text)
            r = tool.run(["convert", name], os.path.join(scratch, "x"))
            says = at is None and b"[comments]" not in r.stderr or at is not None and b"%s:%s: note: comments" % (name.encode(), at) in r.stderr
            check("comments are lost with a note: %r" % text, r.returncode == 0 and says, r.stderr.decode())
        not_plain(tool, os.path.join(scratch, "x"))
        r = tool.run(["convert", "--to", "toml", "bad.sbx"], os.path.join(scratch, "x"))
        check("an unknown syntax", r.returncode == 2 and b"--to takes" in r.stderr)
    check("there are declarations to convert", tried > 150, str(tried))
    print("convert: %d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
