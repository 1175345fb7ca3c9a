"""Properties of the meaning, over random declarations. Usage: run.py BUILD [COUNT [SEED]]

    - what sbxc grants is what an evaluator of its own says, written from docs/language.md ("Which rule wins")
    - the order of clauses changes nothing; the two spellings mean the same
    - beneath a ceiling a path is granted if the declaration and the ceiling grant it, and not otherwise
    - a dump is a declaration of the same meaning

Paths stand for no tree (--resolve none), and `system none` leaves the declaration alone. Seeds are fixed.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

KINDS = ("read", "write", "exec")
NAMES = ["a", "b", "a-b", "c"]
# What each clause allows and denies; the exec of the exec default is not among it.
CLAUSES = {
    "read": ({"read"}, set()), "write": ({"read", "write"}, set()), "read only": ({"read"}, {"write"}),
    "write-only": ({"write"}, {"read", "exec"}), "exec": ({"read", "exec"}, set()), "deny": (set(), set(KINDS)),
    "deny read": (set(), set(KINDS)), "deny write": (set(), {"write"}), "deny exec": (set(), {"exec"}),
}
OTHERS = [
    "network open", "network none", "network loopback", 'network allow "a.example:443" ".b.example:*"', "listen 80 443", "timeout 5m",
    "limits { memory 1G; processes 5 }", "limits { kill-after 5s; output 1MB }", 'env { allow "A" "LC_*"; deny "LC_ALL"; set B "1" }',
    "env none", "fd 3 7", "tty none", "spawn deny", 'workdir "/a"', 'image "x:1"', 'user "1"', "trust external",
]
passed = failed = 0


def check(name, good, text=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL %s\n%s" % (name, text))


def above(path):
    """The path and all above it, nearest first."""
    parts = path.strip("/").split("/")
    return ["/" + "/".join(parts[:n]) for n in range(len(parts), 0, -1)] + ["/"]


class Policy:
    """Rules by path: what is said there, after the exec default."""

    def __init__(self, clauses):
        self.said = {}
        for clause, path in clauses:
            allow, deny = self.said.setdefault(path, (set(), set()))
            allow |= CLAUSES[clause][0]
            deny |= CLAUSES[clause][1]
        if any(clause == "exec" for clause, _ in clauses):
            return
        for path, (allow, deny) in self.said.items():
            if "read" in allow and not self.exec_taken(path):
                allow.add("exec")

    def exec_taken(self, path):
        """Does the nearest deny of executing take it away although reading is allowed?"""
        for up in above(path):
            deny = self.said.get(up, (set(), set()))[1]
            if "exec" in deny:
                return "read" not in deny
        return False

    def allows(self, path, kind):
        for up in above(path):
            allow, deny = self.said.get(up, (set(), set()))
            if kind in allow or kind in deny:
                return kind in allow
        return False


def decisions(policy, path):
    """Of a dump in JSON, from the root down."""
    rules = {r["path"]: r for r in policy["rules"] if r["root"] == "/"}
    allowed = set()
    for up in reversed(above(path)):
        if up in rules:
            allowed = (allowed - set(rules[up]["deny"])) | set(rules[up]["allow"])
    return allowed


def some_path(rng):
    return "/" + "/".join(rng.choice(NAMES) for _ in range(rng.randint(1, 4)))


def some_clauses(rng):
    """Clauses that do not clash: those of one path say nothing opposite."""
    said, clauses = {}, []
    words = [c for c in CLAUSES if c != "exec" or rng.random() < 0.5]
    for _ in range(rng.randint(0, 12)):
        clause, path = rng.choice(words), some_path(rng)
        allow, deny = said.get(path, (set(), set()))
        new = CLAUSES[clause]
        if (allow | new[0]) & (deny | new[1]):
            continue
        said[path] = (allow | new[0], deny | new[1])
        clauses.append((clause, path))
    return clauses


def as_text(rng, clauses, others):
    lines = ['%s "%s"' % c for c in clauses] + others
    rng.shuffle(lines)
    return "system none\n" + "\n".join(lines) + "\n"


def others(rng):
    """At most one clause that begins alike."""
    chosen = {}
    for line in rng.sample(OTHERS, rng.randint(0, 8)):
        chosen.setdefault(line.split()[0] if not line.startswith("limits") else line, line)
    return list(chosen.values())


class Tool:
    def __init__(self, build, folder):
        self.sbxc = os.path.abspath(os.path.join(build, "sbxc"))
        self.folder = folder

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def run(self, *words):
        return subprocess.run([self.sbxc] + list(words), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def dump(self, name, *words):
        r = self.run("dump", "-t", "landlock", "--resolve", "none", "--base", "/ws", *words, name)
        if r.returncode:
            raise AssertionError("%s\n%s" % (r.stderr.decode(), open(os.path.join(self.folder, name)).read()))
        return r.stdout


def paths_of(rng, *lists):
    """Paths that rules name, those around them, and some others."""
    named = {p for clauses in lists for _, p in clauses}
    return sorted(named | {p + "/" + rng.choice(NAMES) for p in named} | {some_path(rng) for _ in range(20)})


def one(tool, rng, label):
    clauses, cap = some_clauses(rng), some_clauses(rng)
    rest = others(rng)
    tool.write("a.sbx", as_text(rng, clauses, rest))
    tool.write("b.sbx", as_text(rng, clauses, rest))
    tool.write("cap.sbx", as_text(rng, cap, []))
    text = tool.dump("a.sbx")
    source = open(os.path.join(tool.folder, "a.sbx")).read()
    check("%s: the order of clauses" % label, tool.dump("b.sbx") == text, source)
    r = tool.run("convert", "a.sbx", "-o", "c.yml")
    check("%s: the same as YAML" % label, r.returncode == 0 and tool.dump("c.yml") == text, source + r.stderr.decode())
    tool.write("again.sbx", text)
    check("%s: a dump read again" % label, tool.dump("again.sbx") == text, source)

    alone, mine, most = json.loads(tool.dump("a.sbx", "--json")), Policy(clauses), Policy(cap)
    wrong = [(p, k) for p in paths_of(rng, clauses, cap) for k in KINDS if (k in decisions(alone, p)) != mine.allows(p, k)]
    check("%s: the nearest rule decides" % label, not wrong, "%s\n%s" % (wrong[:5], source))
    under = json.loads(tool.dump("a.sbx", "--json", "--ceiling", "cap.sbx"))
    wrong = [(p, k) for p in paths_of(rng, clauses, cap) for k in KINDS
             if (k in decisions(under, p)) != (mine.allows(p, k) and most.allows(p, k))]
    check("%s: a ceiling leaves what both allow" % label, not wrong,
          "%s\n%s--\n%s" % (wrong[:5], source, open(os.path.join(tool.folder, "cap.sbx")).read()))
    tool.write("under.sbx", tool.dump("a.sbx", "--ceiling", "cap.sbx"))
    check("%s: what a ceiling left, read again" % label, tool.dump("under.sbx") == open(os.path.join(tool.folder, "under.sbx"), "rb").read(), source)


def main():
    count, seed = (int(sys.argv[2]) if len(sys.argv) > 2 else 150), (int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(sys.argv[1], folder)
        for n in range(seed, seed + count):
            try:
                one(tool, random.Random(n), "seed %d" % n)
            except AssertionError as e:
                check("seed %d: sbxc refuses" % n, False, str(e))
    print("property: %d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
