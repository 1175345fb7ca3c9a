"""sbxc convert: every golden declaration in the other syntax, and back, means the same. Usage: run.py BUILD

Nothing is looked up (--resolve none), so no tree is needed. What cannot be written in YAML must be refused.
"""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
COMMON = ["--resolve", "none", "--base", "/ws", "-D", "HOME=/home/u", "-D", "WORK_DIR=/ws", "-D", "SKILL_DIR=/skill"]
passed = failed = 0
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


def main():
    tool = Tool(sys.argv[1])
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
        os.mkdir(os.path.join(scratch, "x"))
        with open(os.path.join(scratch, "x", "bad.sbx"), "w") as f:
            f.write('raed "/srv"\n')
        with open(os.path.join(scratch, "x", "old.yml"), "w") as f:
            f.write("old\n")
        r = tool.run(["convert", "bad.sbx", "-o", "old.yml"], os.path.join(scratch, "x"))
        with open(os.path.join(scratch, "x", "old.yml")) as f:
            check("a file with a mistake is not converted", r.returncode == 1 and f.read() == "old\n")
        for text, says in (('# why\nread "/srv"\n', True), ('read "/srv#1"\n', False)):
            with open(os.path.join(scratch, "x", "a.sbx"), "w") as f:
                f.write(text)
            r = tool.run(["convert", "a.sbx"], os.path.join(scratch, "x"))
            check("comments are lost with a note", r.returncode == 0 and (b"[comments]" in r.stderr) == says, r.stderr.decode())
        r = tool.run(["convert", "--to", "toml", "bad.sbx"], os.path.join(scratch, "x"))
        check("an unknown syntax", r.returncode == 2 and b"--to takes" in r.stderr)
    check("there are declarations to convert", tried > 150, str(tried))
    print("convert: %d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
