"""`sbxc fmt`: what it makes of a text, that it loses nothing, and what it does to files.

    run.py BUILD        prints a line `ok NAME` or `FAIL NAME: why` for each case

The tokens and comments of a text are read here by a few lines of Python of their own, so that a slip of the scanner is
not the measure of itself. Each run is bounded by time.
"""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
SBXC = os.path.join(BUILD, "sbxc")
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}
SEED = 20261130
SOUPS = 300


class Wrong(Exception):
    pass


def demand(condition, why):
    if not condition:
        raise Wrong(why)


def run(args, stdin=b"", cwd=None):
    return subprocess.run([SBXC] + args, input=stdin, cwd=cwd, env=ENV, capture_output=True, timeout=60)


def fmt(text):
    """The formatted text, or None where it was refused."""
    r = run(["fmt", "--from", "dsl", "-"], text)
    demand(r.returncode in (0, 1), "status %d: %r" % (r.returncode, r.stderr[:300]))
    if r.returncode == 1:
        demand(not r.stdout and b": error: " in r.stderr, "refused, but prints %r, says %r" % (r.stdout, r.stderr))
        return None
    demand(not r.stderr, "says %r" % r.stderr[:300])
    return r.stdout


# ---- What a text holds -----------------------------------------------------------------------------------------

TOKEN = re.compile(rb'(?P<blank>[ \t]+)|(?P<end>\r?\n)|(?P<semi>;)|(?P<comment>#[^\n]*)|(?P<brace>[{}])'
                   rb'|(?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*")|(?P<word>[^\x00-\x20\x7f"{};#]+)')


def contents(text):
    """Tokens, with one `;` for what separates two statements, and comments."""
    if text.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    tokens, comments, at = [], [], 0
    while at < len(text):
        m = TOKEN.match(text, at)
        demand(m, "no token at byte %d: %r" % (at, text[at:at + 20]))
        at = m.end()
        if m.lastgroup in ("end", "semi"):
            tokens.append(b";")
        elif m.lastgroup == "comment":
            comments.append(m.group().rstrip(b" \t\r"))
        elif m.lastgroup != "blank":
            tokens.append(m.group())
    kept = []
    for i, t in enumerate(tokens):
        before = kept[-1] if kept else b";"
        after = next((x for x in tokens[i:] if x != b";"), b"}")
        if t != b";" or (before not in (b";", b"{") and after not in (b"{", b"}")):
            kept.append(t)
    return kept, comments


def check_layout(text):
    demand(not text or text.endswith(b"\n"), "no final line end")
    demand(b"\r\n" not in text and not text.startswith(b"\xef\xbb\xbf"), "CRLF or a byte order mark is left")
    demand(not text.startswith(b"\n") and b"\n\n\n" not in text, "blank lines")
    lines = text.split(b"\n")[:-1]
    depth = 0
    for i, line in enumerate(lines):
        demand(line == line.rstrip(b" \t"), "blanks end line %d" % (i + 1))
        code = [m for m in TOKEN.finditer(line) if m.lastgroup not in ("blank", "comment")]
        braces = [m.group() for m in code if m.lastgroup == "brace"]
        if line:
            inside = depth - 1 if line.lstrip().startswith(b"}") else depth
            demand(len(line) - len(line.lstrip(b" ")) == 2 * inside, "line %d is indented wrongly" % (i + 1))
        else:
            demand(lines[i + 1].strip() != b"}", "a blank line ends a block at line %d" % (i + 1))
        if braces.count(b"{") and braces.count(b"{") == braces.count(b"}"):
            width = len(line[:code[-1].end()].decode("utf-8", "replace"))
            demand(width <= 100, "a block of %d columns on line %d" % (width, i + 1))
        elif b"{" not in braces:
            demand(all(m.lastgroup != "semi" for m in code), "two statements on line %d" % (i + 1))
        if braces[-1:] == [b"{"]:
            demand(i + 1 < len(lines) and lines[i + 1] != b"", "a blank line begins a block at line %d" % (i + 2))
        depth += braces.count(b"{") - braces.count(b"}")


def check_text(text):
    """Everything that holds for whatever is accepted. False if the text was refused."""
    once = fmt(text)
    if once is None:
        return False
    demand(fmt(once) == once, "formatting twice changes more:\n%s" % once.decode("utf-8", "replace"))
    before, after = contents(text), contents(once)
    demand(before[0] == after[0], "tokens: %r became %r" % (before[0], after[0]))
    demand(sorted(before[1]) == sorted(after[1]), "comments: %r became %r" % (before[1], after[1]))
    check_layout(once)
    return True


# ---- Texts and what they become --------------------------------------------------------------------------------

CASES = [
    ("nothing", b"", b""),
    ("only blank lines", b"\n \n\t\r\n;\n", b""),
    ("a final line end", b'read "/a"', b'read "/a"\n'),
    ("CRLF and a byte order mark", b'\xef\xbb\xbfread "/a"\r\n# c \t\r\n', b'read "/a"\n# c\n'),
    ("one statement a line", b'read "/a"; network none;;timeout 1s # last\n',
     b'read "/a"\nnetwork none\ntimeout 1s # last\n'),
    ("single blanks", b'  read\t"/a"   "/b""/c" optional#c\n', b'read "/a" "/b" "/c" optional #c\n'),
    ("strings stay as written", rb'read "/a\x41\"\\#{};  b" "/' + b"\xff\xc3\xa4\t\"\n",
     rb'read "/a\x41\"\\#{};  b" "/' + b"\xff\xc3\xa4\t\"\n"),
    ("blank lines between", b'\n\n# a\n\n\n\nread "/a"\n# b\n\nread "/b"\n\n\n', b'# a\n\nread "/a"\n# b\n\nread "/b"\n'),
    ("blank lines in blocks", b'env {\n\n\n  # a\n\n  allow "A"\n\n}\n\n\nread "/a"\n',
     b'env {\n  # a\n\n  allow "A"\n}\n\nread "/a"\n'),
    ("a blank line behind a comment at the brace", b'env { # a\n\n  allow "A"\n}\n', b'env { # a\n  allow "A"\n}\n'),
    ("a block on one line stays", b'env{allow "A";set B "c";}\n', b'env { allow "A"; set B "c" }\n'),
    ("empty statements on one line", b'env { ; ; allow "A" ;; allow "B" ; }\n', b'env { allow "A"; allow "B" }\n'),
    ("empty blocks", b'profile a {}\nprofile b {\n\n}\n', b'profile a { }\nprofile b {\n}\n'),
    ("blocks in a block on one line", b'profile a { env { allow "A" }; read "/a" }  # c\n',
     b'profile a { env { allow "A" }; read "/a" } # c\n'),
    ("the brace joins its clause", b'profile a\n\n{\nenv ; \n{ allow "A" }\n}\n', b'profile a {\n  env { allow "A" }\n}\n'),
    ("comments before the brace", b'profile a # 1\n\n  # 2\n{ # 3\n\nread "/a" }\n',
     b'profile a { # 1\n  # 2\n  # 3\n\n  read "/a"\n}\n'),
    ("a comment alone before the brace", b'env\n# 1\n{ allow "A" } # 2\n', b'env {\n  # 1\n  allow "A"\n} # 2\n'),
    ("comments are indented with their block", b'# 0\nprofile a {\n# 1\nread "/a" # 2\n# 3\n}# 4\n# 5',
     b'# 0\nprofile a {\n  # 1\n  read "/a" # 2\n  # 3\n} # 4\n# 5\n'),
    ("a closing brace behind a statement", b'env {\nallow "A"; allow "B" }\n', b'env {\n  allow "A"\n  allow "B"\n}\n'),
    ("NUL in a comment", b'# a\0b\0\nread "/a"\n', b'# a\0b\0\nread "/a"\n'),
    ("100 columns", b'env { allow "%s" }\n' % (b"\xc3\xa4" * 84), b'env { allow "%s" }\n' % (b"\xc3\xa4" * 84)),
    ("101 columns", b'env { allow "%s" }#c\n' % (b"a" * 85), b'env {\n  allow "%s"\n} #c\n' % (b"a" * 85)),
    ("the outer block is too long, the inner one is not",
     b'profile a { env { allow "A" }; read "/%s" }\n' % (b"a" * 80),
     b'profile a {\n  env { allow "A" }\n  read "/%s"\n}\n' % (b"a" * 80)),
    ("a long line without a block stays", b'read "/%s" "/b"\n' % (b"a" * 200), b'read "/%s" "/b"\n' % (b"a" * 200)),
    ("a profile without a block", b'profile a\n', None),
    ("an unclosed block", b"env {\n", None),
    ("an unclosed string", b'read "/a\n', None),
    ("an unknown clause", b'raed "/a"\n', None),
    ("a control byte", b'read "/a" \x01\n', None),
]


def case(text, expected):
    got = fmt(text)
    demand(got == expected, "got %r" % got)
    if got is not None:
        check_text(text)


# ---- Random texts ----------------------------------------------------------------------------------------------

class Soup:
    """A declaration that parses, laid out as nobody would: any blanks, line ends, comments, empty statements."""

    def __init__(self, rng):
        self.rng = rng
        self.names = 0
        self.eol = rng.choice([b"\n", b"\r\n", b"\n", b"\r\n\n"])

    def pick(self, *choices):
        return self.rng.choice(choices)

    def blank(self):
        return self.pick(b" ", b" ", b"\t", b"   ", b" \t ")

    def comment(self):
        return b"#" + self.pick(b"", b" plain", b'"quoted"', b" { } ; #", b"\xff\xfe", b" ends in blanks \t ")

    def separator(self):
        end = self.pick(b"", b" ", b"\t") + self.pick(b"", b"", self.comment()) + self.eol
        return self.pick(b";", b" ; ", b";;", end, end, end + end, end + b"; " + end, end + self.comment() + self.eol)

    def string(self):
        parts = [b"/a", b"b c", rb"\"", rb"\\", rb"\x41", b"#", b"{", b"};", b"\xc3\xa4", b"\xe6\x97\xa5", b"\t"]
        return b'"/%s"' % b"".join(self.rng.choice(parts) for _ in range(self.rng.randrange(6)))

    def name(self):
        self.names += 1
        return b'"N%d"' % self.names

    def values(self, make):
        return b"".join(self.pick(self.blank(), b" ") + make() for _ in range(self.rng.randrange(1, 4)))

    def block(self, statement):
        gap = self.pick(b"", b" ", b" ", self.separator())
        inner = [statement() for _ in range(self.rng.randrange(4))]
        return gap + b"{" + self.join(inner) + b"}"

    def env(self):
        return self.pick(b"allow" + self.values(self.name),
                         b"set" + self.blank() + self.name() + self.blank() + self.string())

    def clause(self):
        kind = self.rng.randrange(4)
        if kind == 0:
            return b"env" + self.block(self.env)
        return self.pick(b"read", b"write") + self.values(self.string)

    def join(self, statements):
        space = lambda: self.pick(b"", b" ", self.separator())
        return space() + b"".join(s + self.separator() for s in statements[:-1]) + b"".join(statements[-1:]) + space()

    def text(self):
        n = self.rng.randrange(6)
        if self.rng.random() < 0.5:
            body = self.join([self.clause() for _ in range(n)])
        else:
            body = self.join([b"profile p%d" % i + self.block(self.clause) for i in range(n)])
        return self.pick(b"", b"\xef\xbb\xbf") + body


def soups():
    rng = random.Random(SEED)
    for i in range(SOUPS):
        text = Soup(rng).text()
        try:
            demand(check_text(text), "refused: %r" % run(["fmt", "--from", "dsl", "-"], text).stderr[:300])
        except Wrong as e:
            raise Wrong("seed %d, text %d, %r: %s" % (SEED, i, text, e))


def broken_soups():
    """Tokens in any order: mostly refused; what is accepted must hold all the same."""
    rng = random.Random(SEED + 1)
    parts = [b"{", b"}", b";", b"\n", b"\r\n", b" ", b"#c\n", b"env", b" allow ", b' "A"', b'read "/a"', b"profile p ", b"\r"]
    accepted = 0
    for i in range(SOUPS):
        text = b"".join(rng.choice(parts) for _ in range(rng.randrange(1, 9)))
        try:
            accepted += check_text(text)
        except Wrong as e:
            raise Wrong("seed %d, text %d, %r: %s" % (SEED + 1, i, text, e))
    demand(10 <= accepted <= SOUPS - 10, "%d of %d accepted: this says little" % (accepted, SOUPS))


def shipped(path, formatted):
    with open(path, "rb") as f:
        text = f.read()
    if not check_text(text):
        demand(not formatted, "is refused")
        return
    after = fmt(text)
    demand(not formatted or after == text, "is not formatted")
    dump = ["dump", "-t", "bwrap", "--from", "dsl", "--resolve", "none", "--base", "/ws", "-D", "HOME=/home/u", "-D",
            "WORK_DIR=/ws", "-D", "SKILL_DIR=/skill", "-"]
    a, b = run(dump, text), run(dump, after)
    demand(a.returncode == b.returncode and a.stdout == b.stdout, "the dump differs: %r" % b.stderr[:300])


# ---- Files -----------------------------------------------------------------------------------------------------

UGLY, NEAT, BAD = b'read   "/a"', b'read "/a"\n', b"raed\n"


class Folder:
    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="sbx-fmt-")
        for name, text in (("ugly.sbx", UGLY), ("other.sbx", UGLY), ("neat.sbx", NEAT), ("bad.sbx", BAD), ("odd", UGLY),
                           ("x.yml", b"read: /a\n")):
            self.write(name, text)

    def write(self, name, text):
        with open(os.path.join(self.path, name), "wb") as f:
            f.write(text)

    def state(self):
        """Names, bytes, inodes, modes, times: whatever a run could have changed."""
        all_files = {}
        for name in sorted(os.listdir(self.path)):
            st = os.lstat(os.path.join(self.path, name))
            with open(os.path.join(self.path, name), "rb") as f:
                all_files[name] = (f.read(), st.st_ino, st.st_mode, st.st_mtime_ns)
        return all_files

    def expect(self, args, status, stdout=b"", says=b"", changed=()):
        before = self.state()
        r = run(["fmt"] + args, cwd=self.path)
        after = self.state()
        demand(r.returncode == status, "status %d, not %d: %r" % (r.returncode, status, r.stderr))
        demand(r.stdout == stdout, "prints %r" % r.stdout)
        demand(says in r.stderr and bool(says) == bool(r.stderr), "says %r" % r.stderr)
        differ = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
        demand(differ == set(changed), "changed %r" % differ)
        return r


def prints(f):
    f.expect(["ugly.sbx", "neat.sbx"], 0, NEAT + NEAT)
    f.expect(["--from", "dsl", "odd"], 0, NEAT)


def goes_to_a_file(f):
    f.expect(["ugly.sbx", "-o", "new.sbx"], 0, changed=["new.sbx"])
    demand(f.state()["new.sbx"][0] == NEAT, "another text")
    f.expect(["ugly.sbx", "-o", "ugly.sbx"], 2, says=b"the output is the input")


def checks(f):
    f.expect(["--check", "neat.sbx"], 0)
    f.expect(["--check", "ugly.sbx", "neat.sbx", "other.sbx"], 1, b"ugly.sbx\nother.sbx\n")
    f.expect(["--check", "ugly.sbx", "bad.sbx"], 1, says=b"[unknown-key]")
    f.write("bom.sbx", b"\xef\xbb\xbf" + NEAT)
    f.expect(["--check", "bom.sbx"], 1, b"bom.sbx\n")


def writes(f):
    os.chmod(os.path.join(f.path, "ugly.sbx"), 0o640)
    os.chmod(os.path.join(f.path, "other.sbx"), 0o600)
    f.expect(["-w", "ugly.sbx", "neat.sbx", "other.sbx"], 0, changed=["ugly.sbx", "other.sbx"])
    state = f.state()
    demand(state["ugly.sbx"][0] == NEAT and state["ugly.sbx"][2] & 0o777 == 0o640, "ugly.sbx: %r" % (state["ugly.sbx"],))
    demand(state["other.sbx"][0] == NEAT and state["other.sbx"][2] & 0o777 == 0o600, "other.sbx: %r" % (state["other.sbx"],))
    f.expect(["--write", "ugly.sbx", "neat.sbx", "other.sbx"], 0)


def writes_through_links(f):
    os.symlink("ugly.sbx", os.path.join(f.path, "link.sbx"))
    r = run(["fmt", "-w", "link.sbx"], cwd=f.path)
    demand(r.returncode == 0 and os.path.islink(os.path.join(f.path, "link.sbx")), "the link is gone: %r" % r.stderr)
    demand(f.state()["ugly.sbx"][0] == NEAT, "its target is as before")


def writes_all_or_nothing(f):
    f.expect(["-w", "ugly.sbx", "bad.sbx", "other.sbx"], 1, says=b"[unknown-key]")
    f.expect(["-w", "ugly.sbx", "none.sbx", "other.sbx"], 2, says=b"none.sbx: No such file")
    f.expect(["-w", "ugly.sbx", "other.sbx", "ugly.sbx"], 2, says=b"are one file")
    f.expect(["ugly.sbx", "bad.sbx"], 1, says=b"[unknown-key]")


def usage(f):
    for args, says in (([], b"which files?"), (["--check", "-w", "ugly.sbx"], b"exclude each other"),
                       (["-w", "-o", "x", "ugly.sbx"], b"--output is for one file"),
                       (["-o", "x", "ugly.sbx", "neat.sbx"], b"--output is for one file"),
                       (["-w", "--from", "dsl", "-"], b"standard input is no file"),
                       (["x.yml"], b"x.yml: no .sbx file"), (["odd"], b"odd: no .sbx file"),
                       (["--from", "yaml", "ugly.sbx"], b"--from: fmt is for"), (["none.sbx"], b"No such file")):
        f.expect(args, 2, says=says)
    r = run(["--check", "-t", "bwrap", "ugly.sbx"], cwd=f.path)
    demand(r.returncode == 2 and b"for `sbxc fmt`" in r.stderr, "--check without fmt: %r" % r.stderr)


def json_messages(f):
    r = f.expect(["--diagnostics=json", "bad.sbx"], 1, says=b'"id":"unknown-key"')
    o = json.loads(r.stderr)
    demand((o["file"], o["line"], o["column"], o["offset"], o["length"]) == ("bad.sbx", 1, 1, 0, 4), "%r" % o)
    r = f.expect(["--diagnostics=json", "none.sbx"], 2, says=b'"id":"usage"')
    demand("file" not in json.loads(r.stderr), "a usage error has a place")


def large(f):
    f.write("large.sbx", b"env {\n" + b'  set A%d "x";;\n\n\n# c\n' * 50000 % tuple(range(50000)) + b"}\n")
    r = run(["fmt", "large.sbx"], cwd=f.path)
    demand(r.returncode == 0 and r.stdout.count(b"\n") == 150002, "%d lines, %r" % (r.stdout.count(b"\n"), r.stderr))


def in_folder(test):
    f = Folder()
    try:
        test(f)
    finally:
        shutil.rmtree(f.path)


# ---- All of it -------------------------------------------------------------------------------------------------

def main():
    tests = [(name, lambda t=text, e=expected: case(t, e)) for name, text, expected in CASES]
    for path in sorted(glob.glob(os.path.join(TOP, "presets", "*.sbx"))):
        tests.append(("presets/" + os.path.basename(path), lambda p=path: shipped(p, True)))
    for path in sorted(glob.glob(os.path.join(TOP, "tests", "golden", "*", "input.sbx"))):
        tests.append(("golden " + os.path.basename(os.path.dirname(path)), lambda p=path: shipped(p, False)))
    tests += [("random texts", soups), ("random tokens", broken_soups)]
    for test in (prints, goes_to_a_file, checks, writes, writes_through_links, writes_all_or_nothing, usage, json_messages,
                 large):
        tests.append((test.__name__.replace("_", " "), lambda t=test: in_folder(t)))
    passed = failed = 0
    for name, test in tests:
        try:
            test()
            print("ok " + name)
            passed += 1
        except (Wrong, subprocess.TimeoutExpired) as e:
            print("FAIL %s: %s" % (name, e))
            failed += 1
    print("fmt: %d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


sys.exit(main())
