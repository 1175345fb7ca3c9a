"""Hostile and odd inputs, in the language and in YAML: what is accepted means exactly what it says, what is refused
is refused at its byte, and nothing is written then.

    inputs.py SBXC        prints a line `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each case

Paths are looked up beneath a tree of the test's own. Every run is bounded: 5 s, 512 MiB of address space, 1 MiB
of stack (under a sanitizer, which needs more, only the time).
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

SBXC = os.path.abspath(sys.argv[1])
TREE = tempfile.mkdtemp(prefix="sbx-cli-")
ROOT = os.path.join(TREE, "root")
OUT = os.path.join(TREE, "out")
OLD = b"older artifact\n"
COMMON = ["--sysroot", ROOT, "--base", "/ws", "-D", "HOME=/home/u", "-D", "WORK_DIR=/work", "-D", "SKILL_DIR=/skill",
          "--image", "test:1"]
SUFFIX = {"seatbelt": ".sb", "bwrap": ".bwrap", "landlock": ".landlock", "docker": ".docker"}
LIMITED = True


def run(args, stdin=b""):
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
    bounds = "ulimit -c 0; ulimit -s 1024; ulimit -v 524288;" if LIMITED else ""
    return subprocess.run(["sh", "-c", bounds + 'exec "$@"', "sh", SBXC] + args, input=stdin, cwd=TREE, env=env,
                          capture_output=True, timeout=5 if LIMITED else 60)


# ---- What holds for every run ----------------------------------------------------------------------------------

class Wrong(Exception):
    pass


def demand(condition, why):
    if not condition:
        raise Wrong(why)


def check_stderr(err):
    """No byte that a terminal obeys, no crash, no flood."""
    text = err.decode("utf-8", "surrogateescape")
    for c in text:
        n = ord(c)
        demand(c in "\n\t" or n >= 0x20, "control byte 0x%02x on stderr" % n)
        demand(not 0x7f <= n < 0xa0 and not 0xdc80 <= n <= 0xdcff, "raw byte %r on stderr" % c)
        demand(n not in (0x2028, 0x2029) and not 0x202a <= n <= 0x202e, "disguise %r on stderr" % c)
    demand("Sanitizer" not in text and "runtime error" not in text, text[:2000])
    demand(len(re.findall(r"^\S.*: error: ", text, re.M)) <= 20, "more than 20 errors")
    return text


def files_in(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        st = os.stat(os.path.join(folder, name))
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = (f.read(), st.st_mtime_ns, st.st_ino)
    return found


def compile_(data, ext, targets="landlock", more=()):
    """Compiles data onto old artifacts. Returns status, stderr, and the new artifacts or None."""
    name = "in" + ext
    with open(os.path.join(TREE, name), "wb") as f:
        f.write(data)
    shutil.rmtree(OUT, ignore_errors=True)
    os.mkdir(OUT)
    names = targets.split(",")
    for t in names:
        with open(os.path.join(OUT, "a" + SUFFIX[t]), "wb") as f:
            f.write(OLD)
    before = files_in(OUT)
    prefix = os.path.join(OUT, "a") + ("" if len(names) > 1 else SUFFIX[names[0]])
    r = run(COMMON + ["-t", targets, "-o", prefix] + list(more) + [name])
    demand(r.returncode in (0, 1, 2), "status %d" % r.returncode)
    demand(not r.stdout, "something on standard output")
    text = check_stderr(r.stderr)
    after = files_in(OUT)
    demand(set(after) == set(before), "files at the output: %s" % " ".join(after))
    if r.returncode:
        demand(after == before, "an old artifact was touched by a failed run")
        return r.returncode, text, None
    demand(all(v[0] != OLD for v in after.values()), "status 0, and an artifact was not written")
    return 0, text, {k: v[0] for k, v in after.items()}


def dump(data, ext, more=()):
    name = "in" + ext
    with open(os.path.join(TREE, name), "wb") as f:
        f.write(data)
    r = run(["dump"] + COMMON + ["-t", "landlock"] + list(more) + [name])
    check_stderr(r.stderr)
    demand(r.returncode == 0, "dump: status %d\n%s" % (r.returncode, r.stderr.decode(errors="replace")))
    return r.stdout


# ---- Spelling --------------------------------------------------------------------------------------------------

def dsl(s):
    """A string of the language, or the clause's path with what it needs."""
    s = s.encode("utf-8", "surrogateescape")
    out = b"".join(b"\\" + bytes([c]) if c in b'"\\' else b"\\x%02x" % c if c < 0x20 or c == 0x7f else bytes([c]) for c in s)
    return b'"' + out + b'"'


def yml(s):
    out = "".join("\\" + c if c in '"\\' else "\\x%02x" % ord(c) if ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0
                  else "\\u%04x" % ord(c) if ord(c) in (0x2028, 0x2029, 0xfeff) else c for c in s)
    return b'"' + out.encode() + b'"'


def special(s):
    return any(c in s for c in "$*?[{") or re.search(r"[@!+]\(", s) is not None


def quoted(s):
    """As the dump quotes it."""
    names = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(names.get(c) or ("\\x%02x" % ord(c) if ord(c) < 0x20 or c == "\x7f" else c) for c in s) + '"'


# ---- Cases -----------------------------------------------------------------------------------------------------

CASES = []


def case(name, f, *args):
    CASES.append((name, f, args))


def grants_of(text):
    """The clauses of a dump that are no floor and no preset."""
    lines = [l.strip() for l in text.decode("utf-8", "surrogateescape").split("\n")]
    return sorted(l for l in lines if re.match("(read|write) ", l) and "  # " not in l)


def accepts(data, ext, grants=None, more=(), says=None):
    status, text, made = compile_(data, ext, more=more)
    demand(status == 0, "refused:\n" + text)
    if grants is not None:
        got = grants_of(dump(data, ext, more))
        demand(got == sorted(grants), "means %s, not %s" % (got, sorted(grants)))
    demand(says is None or says in text, "does not say %r:\n%s" % (says, text))
    return made


def refuses(data, ext, place=None, says=None, more=()):
    """place: LINE:COL of the first error."""
    status, text, _ = compile_(data, ext, more=more)
    demand(status == 1, "status %d:\n%s" % (status, text))
    first = re.search(r"^(\S+):(\d+:\d+): error: ", text, re.M)
    demand(first, "no positioned error:\n" + text)
    demand(first.group(1) == "in" + ext or "ceiling" in first.group(1), "the error is in %s" % first.group(1))
    demand(place is None or first.group(2) == place, "points at %s, not %s:\n%s" % (first.group(2), place, text))
    demand(says is None or says in text, "does not say %r:\n%s" % (says, text))


def twins(a, b, targets="seatbelt,bwrap,landlock,docker"):
    results = [compile_(a, ".sbx", targets), compile_(b, ".yml", targets)]
    for status, text, _ in results:
        demand(status == 0, "refused:\n" + text)
    for name in results[0][2]:
        demand(results[0][2][name] == results[1][2][name], "the twins' %s differ" % name)
    return results[0][2]


def exact_path(name):
    """One name, both syntaxes, all targets: granted as it is, and nothing else."""
    path = "/ws/" + name
    os.makedirs(os.path.join(ROOT, "ws", name), exist_ok=True)
    a = b"system none\nread " + (b"literal " if special(name) else b"") + dsl(path) + b"\n"
    literal = b", literal: true" if special(name) else b""
    b = b"system: none\nread: [{path: " + yml(path) + literal + b"}]\n"
    grant = "read %s%s" % ("literal " if special(path) else "", quoted(path))
    # A profile of macOS is text: it has no spelling for control characters.
    made = twins(a, b, "seatbelt,bwrap,landlock,docker" if name.isprintable() or not name.isascii() else "bwrap,landlock,docker")
    demand(grants_of(dump(a, ".sbx")) == [grant], "means %s" % grants_of(dump(a, ".sbx")))
    demand(path.encode() in made["a.landlock"] and path.encode() in made["a.bwrap"], "the name is not in the artifact")


def dumps(data, ext, grants):
    """What no target holds yet is known all the same."""
    got = grants_of(dump(data, ext))
    demand(got == grants, "means %s" % got)


def both(name, f, value_dsl, value_yml, *args):
    """A clause that is the same but for its spelling."""
    case(name + " dsl", f, value_dsl, ".sbx", *args)
    case(name + " yaml", f, value_yml, ".yml", *args)


def timeout_is(data, ext, ms):
    made = accepts(data, ext)
    demand(b"timeout-ms=%d\0" % ms in made["a.landlock"], "the timeout is not %d ms" % ms)


def network_is(data, ext, word):
    made = accepts(data, ext)
    demand(b"network=%s\0" % word in made["a.landlock"], "the network is not %s" % word.decode())


def yaml_structure():
    y = ".yml"
    case("yaml: anchor", refuses, b'fs_read: &p ["/ws"]\n', y, "1:10", "[yaml-feature]")
    case("yaml: alias", refuses, b'fs_read: &p ["/ws"]\nfs_write: *p\n', y, "1:10", "2:11: error")
    case("yaml: merge key", refuses, b"<<: {read: [/]}\n", y, "1:1")
    case("yaml: duplicate key", refuses, b'read: ["/ws"]\nread: ["/ws/a"]\n', y, "2:1", "in.yml:1:1: note")
    case("yaml: duplicate quoted key", refuses, b'read: ["/ws"]\n"read": ["/ws/a"]\n', y, "2:1")
    case("yaml: unknown key", refuses, b'fs_raed: ["/ws"]\n', y, "1:1", "did you mean `fs_read`?")
    for tag in (b"!!binary L2E=", b'!python/object/apply:os.system ["touch pwned"]', b"!<tag:x> [/ws]", b"! /ws", b"!!str /ws"):
        case("yaml: tag %s" % tag.split()[0].decode(), refuses, b"read: " + tag + b"\n", y, "1:7")
    case("yaml: tag on a number", refuses, b"timeout: !!str 60\n", y, "1:10")
    case("yaml: %TAG", refuses, b"%TAG ! tag:x\n---\nread: [/ws]\n", y)
    case("yaml: %YAML", refuses, b"%YAML 1.2\n---\nread: [/ws]\n", y, None, "[yaml-feature]")
    case("yaml: two documents", refuses, b"---\nread: [/ws]\n---\nread: [/]\n", y, "3:1")
    case("yaml: empty second document", refuses, b"read: [/ws]\n---\n", y, "2:1")
    case("yaml: text behind the end", refuses, b"read: [/ws]\n...\nread: [/]\n", y)
    case("yaml: leading marker", accepts, b"---\nsystem: none\nread: [/ws]\n", y, ['read "/ws"'])
    for text in (b"", b"# nothing\n", b"---\n", b"\xef\xbb\xbf", b"- /ws\n", b"/ws\n", b"null\n", b"~\n", b"42\n", b'""\n', b"[]\n"):
        case("yaml: no map %r" % text, refuses, text, y)
    case("yaml: empty map", timeout_is, b"{}\n", y, 60000)
    case("yaml: one item without brackets", accepts, b"system: none\nfs_read: /ws\n", y, ['read "/ws"'])
    case("yaml: list for a scalar", refuses, b"network: [none, open]\n", y, "1:10")
    case("yaml: map for a scalar", refuses, b"network: {open: true}\n", y, "1:11")
    case("yaml: list in a list", refuses, b"fs_read: [[/ws]]\n", y, "1:11")
    case("yaml: map in a list", refuses, b"fs_read: [{a: b}]\n", y, "1:11")
    case("yaml: null in a list", refuses, b"read: [/ws, ~]\n", y, "1:13")
    case("yaml: empty item", refuses, b"read:\n  - /ws\n  -\n", y)
    case("yaml: boolean for a path", refuses, b"read: [true]\n", y, "1:8")
    case("yaml: number for a path", refuses, b"read: [42]\n", y, "1:8")
    case("yaml: block scalar keeps its newline", refuses, b"read:\n  - |\n    /ws\n", y, "2:5")
    case("yaml: folded scalar without newline", accepts, b"system: none\nread:\n  - >-\n    /ws\n", y, ['read "/ws"'])
    case("yaml: # within a word", accepts, b"system: none\nread:\n  - /ws/a#b\n", y, ['read "/ws/a#b"'])
    case("yaml: # behind a blank", accepts, b"system: none\nread:\n  - /ws/a #b\n", y, ['read "/ws/a"'])
    case("yaml: # in quotes", accepts, b'system: none\nread:\n  - "#"\n', y, ['read "/ws/#"'])
    case("yaml: # glued to a dash", refuses, b"read:\n-#/a\n", y)
    case("yaml: `- /a: b` is a map", refuses, b"read:\n  - /ws: b\n", y, "2:5")
    case("yaml: `- key: value`", refuses, b"read:\n  - key: value\n", y, "2:5")
    case("yaml: `- /a:b` is a text", accepts, b"system: none\nread:\n  - /ws/a:b\n", y, ['read "/ws/a:b"'])
    case("yaml: trailing comma", accepts, b"system: none\nread: [/ws,]\n", y, ['read "/ws"'])
    case("yaml: two commas", refuses, b"read: [/ws,,/ws/a]\n", y)
    case("yaml: bracket missing", refuses, b"read: [/ws\n", y, None, "in.yml:1:7: note")
    case("yaml: comma in a plain text", refuses, b"read: [/ws/a,none]\n", y, "1:14")
    case("yaml: sibling one column off", refuses, b"read: [/ws]\n timeout: 5s\n", y)
    case("yaml: list at its key's column", accepts, b"system: none\nread:\n- /ws\n", y, ['read "/ws"'])
    case("yaml: single quotes", accepts, b"system: none\nread: ['/ws/it''s']\n", y, ['read "/ws/it\'s"'])
    case("yaml: quote not closed", refuses, b"read: ['/ws]\n", y, None, "1:8: note")
    case("yaml: tab as indentation", refuses, b"read:\n\t- /ws\n", y)
    case("yaml: map of a path in a loop of keys", refuses, b"read:\n - {? &a {x: y} : z}\n", y)
    case("yaml: deep lists", refuses, b"read: " + b"[" * (1 << 20), y)
    case("yaml: deep maps", refuses, b"read: " + b"{a: " * (1 << 18), y)
    case("yaml: deep block lists", refuses, b"read:\n" + b"- " * (1 << 18), y)
    case("yaml: deep complex keys", refuses, b"? " * (1 << 18), y)


def bytes_and_sizes():
    both("CRLF", accepts, b'system none\r\nread "/ws"\r\n', b"system: none\r\nread:\r\n  - /ws\r\n", ['read "/ws"'])
    both("mixed line ends", accepts, b'system none\r\nread "/ws"\n', b"system: none\nread: [/ws]\r\n", ['read "/ws"'])
    both("lone CR", refuses, b'system none\rread "/ws"\n', b"system: none\rread: [/ws]\n", None, "[bad-byte]")
    case("lone CR at the end dsl", refuses, b'read "/ws"\r', ".sbx", "1:11")
    case("lone CR at the end yaml", refuses, b"read: [/ws]\r", ".yml", "1:12")
    for name, c in (("NEL", b"\xc2\x85"), ("LS", b"\xe2\x80\xa8"), ("PS", b"\xe2\x80\xa9")):
        case("%s in a YAML comment" % name, refuses, b"system: none # x" + c + b"read: [/]\n", ".yml", "1:17")
        case("%s in a YAML text" % name, refuses, b'read: ["/ws/a' + c + b'b"]\n', ".yml", "1:14")
    both("BOM", accepts, b'\xef\xbb\xbfsystem none\nread "/ws"\n', b"\xef\xbb\xbfsystem: none\nread: [/ws]\n", ['read "/ws"'])
    both("BOM does not shift columns", refuses, b'\xef\xbb\xbfraed "/ws"\n', b"\xef\xbb\xbfraed: [/ws]\n", "1:1")
    both("BOM in a path", refuses, b'read "\xef\xbb\xbf/ws"\n', b'read: ["\xef\xbb\xbf/ws"]\n', None, "[missing-path]")
    both("no newline at the end", accepts, b'system none;read "/ws"', b"{system: none, read: [/ws]}", ['read "/ws"'])
    both("invalid UTF-8 outside strings", refuses, b're\xffad "/ws"\n', b"re\xffad: [/ws]\n", None)
    both("NUL", refuses, b'read "/ws"\n\0\n', b"read: [/ws]\n\0\n", None)
    both("NUL in a path", refuses, b'read "/ws\\x00/a"\n', b'read: ["/ws\\0/a"]\n', None, "[bad-path]")
    both("terminal escapes", refuses, b'read "/ws/\\x1b]0;x\\x07\xc2\x9b31m"\n', b'read: ["/ws/\\e\\a\\N"]\n', None)
    for c in (b"\x01", b"\x1b", b"\x7f", b"\x08"):
        both("raw control byte %r" % c, refuses, b'read "/ws"' + c + b"\n", b"read: [/ws" + c + b"]\n", None)
    mib = 1 << 20
    both("10 MiB of blank lines", accepts, b'system none\nread "/ws"' + b"\n" * (10 * mib), b"system: none\nread: [/ws]" + b"\n" * (10 * mib),
         ['read "/ws"'])
    both("10 MiB of comment", accepts, b'system none\nread "/ws" ' + b"#" * (10 * mib), b"system: none\nread: [/ws] " + b"#" * (10 * mib),
         ['read "/ws"'])
    both("10 MiB of comments", accepts, b'system none\nread "/ws"\n' + b"#\n" * (5 * mib), b"system: none\nread: [/ws]\n" + b"#\n" * (5 * mib),
         ['read "/ws"'])
    both("a path of 10 MiB", refuses, b'read "/' + b"a" * (10 * mib) + b'"\n', b"read: [/" + b"a" * (10 * mib) + b"]\n", None, "[too-large]")
    both("a word of 10 MiB", refuses, b"a" * (10 * mib), b"a" * (10 * mib), "1:1")
    both("an equal rule 100,000 times", accepts, b"system none\n" + b'read "/ws"\n' * 100000,
         b"system: none\nread:\n" + b"- /ws\n" * 100000, ['read "/ws"'])
    both("10,000 errors", refuses, b'raed "/ws"\n' * 10000, b"read:\n" + b"- [/ws]\n" * 10000, None, "9980 more errors not shown")
    both("10,000 missing paths", refuses, b'read "/none"\n' * 10000, b"read:\n" + b"- /none\n" * 10000, None, "more errors not shown")
    entries = [b'"h%d.example:1"' % i for i in range(4097)]
    both("4,097 entries of the network", refuses, b"network allow " + b" ".join(entries) + b"\n",
         b"network: {allow: [" + b", ".join(entries) + b"]}\n", None, "more than 4096 entries")
    case("100,000 profiles", refuses, b"".join(b"profile p%d { }\n" % i for i in range(100000)), ".sbx", "1:1", "and others")
    case("100,000 keys", refuses, b"".join(b"k%d: 1\n" % i for i in range(100000)), ".yml")
    case("100,000 foreign keys", accepts, b"---\n" + b"".join(b"k%d: {a: [1]}\n" % i for i in range(100000)) + b"---\n", ".md")
    case("10,000 used profiles", accepts, b"profile p {\nsystem none\n" + b"".join(b"use q%d\n" % i for i in range(10000)) + b"}\n" +
         b"".join(b'profile q%d { env { set V%d "1" } }\n' % (i, i) for i in range(10000)),
         ".sbx", None, ("--profile", "p"))
    case("1,001 patterns", refuses, b"".join(b'deny "/p%d/*"\n' % i for i in range(1001)), ".sbx", None, "more than 1000 patterns")
    case("long patterns against each other", refuses, b"".join(b'%s "/%s%s%d"\n' % (word, b"*a" * 250, end, i) for i in range(400)
                                                             for word, end in ((b"deny", b"x"), (b"read", b"y"))),
         ".sbx", None, "too long and too many")
    case("front matter that never ends", refuses, b"---\n" + b"--\n" * (3 * mib), ".md", "1:1", "not closed")
    case("deep blocks", refuses, b"profile a {" + b" env {" * (1 << 18), ".sbx")
    case("deep blocks, closed", refuses, b"profile a " + b"{ env " * 5000 + b"}" * 5000, ".sbx")


def scalars():
    for word in ("no", "off", "NO", "n", "None", "NONE", "Off", "False", "null"):
        both("network %s" % word, refuses, b"network %s\n" % word.encode(), b"network: %s\n" % word.encode(), None, "none")
    for word in ("yes", "on", "Open", "True", "all", "loopback", "1", "0", "none,", "nope", '"none "', '""'):
        both("network %s" % word, refuses, b"network %s\n" % word.encode(), b"network: %s\n" % word.encode(), None)
    case("network without a value yaml", refuses, b"network:\n", ".yml", "1:9")
    case("network without a value dsl", refuses, b"network\n", ".sbx", "1:1")
    both("network none", network_is, b"network none\n", b"network: none\n", b"none")
    both("network false", network_is, b"network false\n", b"network: false\n", b"none")
    both("network open", network_is, b"network open\n", b"network: open\n", b"open")
    case("robot_lab network none", refuses, b"fs_read: [/ws]\nnetwork: none\n", ".yml", "2:10")
    case("robot_lab network false", network_is, b"fs_read: [/ws]\nnetwork: false\n", ".yml", b"none")
    case("robot_lab network quoted", refuses, b'fs_read: [/ws]\nnetwork: "true"\n', ".yml", "2:10")
    # What looks like a list but is none may not open the network.
    for text, at in ((b"[]", 10), (b"{allow: []}", 18), (b"{allow: [example.com]}", 19), (b'"*"', 10), (b"[open]", 10), (b"example.com:443", 10),
                     (b"{allow: ~}", 18), (b"{}", None)):
        if at:
            case("network: %s" % text.decode(), refuses, b"network: " + text + b"\n", ".yml", "1:%d" % at)
    for text in (b"allow", b'"*"', b"none open", b"open none", b'"example.com:443"', b"loopback none", b"loopback host host"):
        case("network %s" % text.decode(), refuses, b"network " + text + b"\n", ".sbx")
    for word, ms in (("60", 60000), ("60s", 60000), ("1m", 60000), ("1h", 3600000), ("1500ms", 1500), ("1h30m", 5400000), ("1ms", 1),
                     ('"60s"', 60000), ("none", 0)):
        both("timeout %s" % word, timeout_is, b"timeout %s\n" % word.encode(), b"timeout: %s\n" % word.encode(), ms)
    for word in ("1h 30m", "30m1h", "1h1h", "1.5h", ".5s", "5.s", "1h30", "60 s", "60S", "60sec", "1M", "1d", "1w", "PT1H", "00:01:00",
                 "999us", "0.0001s", "0", "0s", "-1", "+10", "010", "0o10", "0x10", "0b1", "1_0", "10.0", "1e1", "１０", "nan", "inf",
                 "None", "true", "18446744073709551616", "99999999999h", '" 10"', '""', "50%"):
        both("timeout %s" % word, refuses, b"timeout %s\n" % word.encode(), b"timeout: %s\n" % word.encode(), None)
    case("timeout null", refuses, b"timeout: ~\n", ".yml", "1:10")
    case("robot_lab timeout with a unit", refuses, b"fs_read: [/ws]\ntimeout: 60s\n", ".yml", "2:10")
    case("robot_lab timeout as text", refuses, b'fs_read: [/ws]\ntimeout: "60"\n', ".yml", "2:10")
    case("robot_lab timeout as float", refuses, b"fs_read: [/ws]\ntimeout: 60.0\n", ".yml", "2:10")
    for word in ("Core", "CORE", "true", "none", '"core "'):
        both("trust %s" % word, refuses, b"trust %s\n" % word.encode(), b"trust: %s\n" % word.encode(), None)
    for word in ("Standard", "full", "true", '"none "'):
        both("system %s" % word, refuses, b"system %s\n" % word.encode(), b"system: %s\n" % word.encode(), None)


NAMES = ["a b", "b ", " b", 'q"q', "it's", "b\\s", "b\\", "(a)", "a;b", "#h", "a|b", "&", "$(id)", "`id`", "a,b", "a:b", "a=b",
         "a,readonly", "x,target=y", "-x", "--ro-bind", "new\nline", "tab\there", "cr\rx", "\x01\x1b[31m\x7f", "é 日本", "\u00a0",
         "\u3000", "\u2215", "\uff0f", "\u202e", "🔒", "{a,b}", "{", "!(x)", "+(x)", "%h", "~", "[a]", "[", "*", "?", "\\*", "...",
         "a\u2028b", "\ufeffx", "sbx:confine=no", ";; sbx", "x" * 255]


def paths():
    for name in NAMES:
        case("path %r" % name, exact_path, name)
    both("trailing blank warns", accepts, b'system none\nread "/ws/b "\n', b'system: none\nread: ["/ws/b "]\n', ['read "/ws/b "'], (),
         "[trailing-blank]")
    both("leading blank", refuses, b'read " /ws"\n', b'read: [" /ws"]\n', None)
    for text in ("", " ", "\t", "\n"):
        both("blank path %r" % text, refuses, b"read " + dsl(text) + b"\n", b"read: [" + yml(text) + b"]\n", None, "[bad-path]")
    for text in ("../..", "/..", "/../ws", "/ws/../..", "/ws/link/..", "/ws/link/sub/../.."):
        both("path %s" % text, refuses, b"read " + dsl(text) + b"\n", b"read: [" + yml(text) + b"]\n", None, "..")
    for text, path in (("//ws", "/ws"), ("/ws//a", "/ws/a"), ("/ws/a/", "/ws/a"), ("/ws/a/.", "/ws/a"), ("/ws/./a", "/ws/a"), (".", "/ws"),
                       ("./a", "/ws/a"), ("a", "/ws/a"), ("a/../b ", "/ws/b "), ("~", "/home/u"), ("~/", "/home/u"), ("$HOME", "/home/u"),
                       ("$WORK_DIR", "/work"), ("$SKILL_DIR", "/skill"), ("/ws/link", "/ws/a"), ("/ws/**", "/ws"), ("**", "/ws")):
        both("path %s" % text, accepts, b"system none\nread " + dsl(text) + b"\n", b"system: none\nread: [" + yml(text) + b"]\n",
             ['read "%s"' % path])
    for text in ("..", "//", "///", "/.", "/**"):
        both("path %s is everything" % text, accepts, b"system none\nread " + dsl(text) + b"\n", b"system: none\nread: [" + yml(text) + b"]\n",
             ['read "/"'], (), "[grants-all]")
    for text in ("~nosuchuser/x", "$NOSUCH/ws", "${HOME}/x", "$$", "${", "${X:-/}", "$HOMES", "/ws/$HOME", "$TMPDIR/.."):
        both("path %s" % text, refuses, b"read " + dsl(text) + b"\n", b"read: [" + yml(text) + b"]\n", None)
    both("$TMPDIR adds nothing", accepts, b'system none\nwrite "$TMPDIR/x"\n', b"system: none\nwrite: [$TMPDIR/x]\n", [])
    for text in ("C:\\x", "file:///ws", "\\\\srv\\x", "/WS", "/Ws/a", "a/b", "/ws/none", "/ws/file/x", "/ws/file/.."):
        both("missing %s" % text, refuses, b"read " + dsl(text) + b"\n", b"read: [" + yml(text) + b"]\n", None, "[missing-path]")
    for text in ("/ws/[", "/ws/[a", "/ws/[]", "/ws/[^a]", "/ws/[z-a]", "/ws/[[:alpha:]]", "/ws/\\*", "/ws/{", "/ws/{a,b}", "/ws/{,x}",
                 "/ws/!(x)", "/ws/+(x)", "/ws/a**", "/ws/***"):
        both("pattern %s" % text, refuses, b"read " + dsl(text) + b"\n", b"read: [" + yml(text) + b"]\n", None, "[pattern]")
    for text, glob in (("*", "/ws/*"), ("/*", "/*"), ("/ws/*", "/ws/*"), ("/ws/**/b", "/ws/**/b"), ("/ws/*b*", "/ws/*b*"), ("**/x", "/ws/**/x"),
                       ("a*", "/ws/a*"), ("/ws/[!a]", "/ws/[!a]"), ("/ws/?", "/ws/?"), ("~/*", "/home/u/*"), ("/ws/link/x*", "/ws/a/x*")):
        both("pattern %s" % text, refuses, b"read " + dsl(text) + b"\n", b"read: [" + yml(text) + b"]\n", None, "[cannot]")
        both("pattern %s means itself" % text, dumps, b"read " + dsl(text) + b"\n", b"read: [" + yml(text) + b"]\n", ['read "%s"' % glob])
    both("a FIFO warns and does not hang", accepts, b'system none\nread "/ws/fifo"\n', b"system: none\nread: [/ws/fifo]\n",
         ['read "/ws/fifo"'], (), "[device-path]")
    both("read and write of one path", accepts, b'system none\nread "/ws"\nwrite "/ws"\n', b"system: none\nread: [/ws]\nwrite: [/ws]\n",
         ['write "/ws"'])
    both("read beneath write", accepts, b'system none\nread "/ws/a"\nwrite "/ws"\n', b"system: none\nread: [/ws/a]\nwrite: [/ws]\n",
         ['write "/ws"'])
    both("write beneath read", accepts, b'system none\nwrite "/ws/a"\nread "/ws"\n', b"system: none\nwrite: [/ws/a]\nread: [/ws]\n",
         ['read "/ws"', 'write "/ws/a"'])
    both("nothing at all", accepts, b"system none\nenv none\n", b"system: none\nenv: none\n", [])
    both("everything", accepts, b'write "/"\nnetwork open\nenv { allow "*" }\n', b"write: [/]\nnetwork: open\nenv: {allow: ['*']}\n", None,
         (), "[grants-all]")
    case("a path that is no UTF-8", accepts, b'system none\nread "/ws/\xff"\n', ".sbx", ['read "/ws/\udcff"'])
    case("a path that is no UTF-8, escaped", accepts, b'system none\nread "/ws/\\xff"\n', ".sbx", ['read "/ws/\udcff"'])


def environment():
    for name in ("", "A=B", "=x", "A\0", "A\nB", "A*B", "*A", "\x1b[31m"):
        both("env allow %r" % name, refuses, b"env { allow " + dsl(name) + b" }\n", b"env: {allow: [" + yml(name) + b"]}\n", None, "[bad-name]")
    for name in ("", "A=B", "A\0", "A*", "*"):
        both("env set %r" % name, refuses, b"env { set " + dsl(name) + b' "1" }\n', b"env: {set: {" + yml(name) + b": x}}\n", None, "[bad-name]")
    for name in ("1A", "A-B", "A B", "PATH ", "ä", "A", "LC_*", "*", "x" * 65536):
        case("env allow %.10r twins" % name, twins, b"env { allow " + dsl(name) + b" }\n", b"env: {allow: [" + yml(name) + b"]}\n",
             "seatbelt,bwrap,landlock")
    both("env value with NUL", refuses, b'env { set A "x\\x00y" }\n', b'env: {set: {A: "x\\0y"}}\n', None, "[bad-byte]")
    case("env value null", refuses, b"env: {set: {A: ~}}\n", ".yml", "1:16")
    case("env value boolean", refuses, b"env: {set: {A: true}}\n", ".yml", "1:16")
    case("env set twice dsl", refuses, b'env { set A "1" A "2" }\n', ".sbx", "1:17")
    case("env set twice yaml", refuses, b"env: {set: {A: x, A: y}}\n", ".yml", "1:19")
    for value in ("", " ", "a=b", '"\\', "line\nbreak", "$HOME", "\u202e", "=", "-x"):
        case("env value %r twins" % value, twins, b"env { set A " + dsl(value) + b" }\n", b"env: {set: {A: " + yml(value) + b"}}\n",
             "seatbelt,bwrap,landlock")
    for name in ("", "-x", "a b", "a\nb", "a\0"):
        both("image %r" % name, refuses, b"image " + dsl(name) + b"\n", b"image: " + yml(name) + b"\n", None)


def language():
    s = ".sbx"
    for text, place in ((b'raed "/ws"', "1:1"), (b"read", "1:1"), (b"timeout 5s 6s", "1:12"), (b'read "/ws', "1:6"), (b"}", "1:1"),
                        (b'read "/ws" )', "1:12"), (b'read\n"/ws"', "1:1"), (b'read"/ws"', "1:5"), (b"read /ws", "1:6"), (b"{", "1:1"),
                        (b'"read" "/ws"', "1:1"), (b'read "/ws" {', "1:12"), (b"env {", "2:1"), (b'read "\\q"', "1:7"), (b'read "\\x4"', "1:7"),
                        (b'read "\\xzz"', "1:7"), (b'read "/ws\\', "1:6"), (b'read optional "/ws"', "1:6"), (b"read literal", "1:1"),
                        (b'read "/ws" optionl', "1:12"), (b"profile", "1:1"), (b'env { alow "A" }', "1:7"), (b"env { set A }", "1:7"),
                        (b'env "none" "none"', "1:12"), (b"timeout 5s\ntimeout 6s", "2:1"), (b"read 'x'", "1:6"), (b"read: [/ws]", "1:1"),
                        (b'read "/ws", "/ws/a"', "1:11"), (b"/* x */", "1:1"), (b'profile a { }\nread "/ws"', "2:1")):
        case("dsl: %s" % text.decode(), refuses, text + b"\n", s, place)
    for text in (b'#"\nread "/ws"', b'read "/ws" # "/ws/a"', b'read "/ws"# }', b'# read "/\nread "/ws"', b'read "/ws"#', b"read\t\"/ws\"",
                 b'  read   "/ws"  ;;  ', b';\n;read "/ws"', b'profile a { read "/ws" }', b'profile a\n{\nread "/ws"\n}\n', b'profile "a" "d" {read "/ws"}'):
        # `system none` goes into the profile where there is one.
        none = text.replace(b'read "/ws"', b'system none;read "/ws"', 1).replace(b"read\t", b"system none;read\t")
        none = none.replace(b"read   ", b"system none; read   ")
        case("dsl: %s" % text.decode(), accepts, none, s, ['read "/ws"'])
    case("dsl: # in a string", accepts, b'system none\nread "/ws/a#b"\n', s, ['read "/ws/a#b"'])
    case("dsl: every escape", accepts, b'system none\nread "\\x2fws\\x2F\\x61"\n', s, ['read "/ws/a"'])
    case("dsl: a name with NUL", refuses, b'profile "a\\x00b" { read "/ws" }\n', s, "1:9")
    case("dsl: two profiles of one name", refuses, b'profile a { }\nprofile a { read "/ws" }\n', s, None, "2:9: error", ("--profile", "a"))


# Every key, in both spellings.
PAIRS = [
    (b"", b"{}"),
    (b"system none", b"system: none"),
    (b"system minimal", b"system: minimal"),
    (b"system standard", b"system: standard"),
    (b'description "x: y"', b'description: "x: y"'),
    (b'read "/ws"', b"read: [/ws]"),
    (b'read "/ws" "/ws/a" optional', b"read: [/ws, {path: /ws/a, optional: true}]"),
    (b'read "/none" optional', b"read: [{path: /none, optional: true}]"),
    (b'read literal "/ws/*"', b"read: [{path: /ws/*, literal: true}]"),
    (b'read literal "/ws/[" "/ws/a"', b"read: [/ws/a, {path: '/ws/[', literal: true, optional: false}]"),
    (b'write "/ws/a"', b"write: /ws/a"),
    (b'write "/ws/a"\nread "/ws"', b"read: /ws\nwrite: /ws/a"),
    (b'read "~" "$WORK_DIR" "$SKILL_DIR/."', b"read: [$SKILL_DIR, $WORK_DIR/, '~/']"),
    (b"network none", b"network: none"),
    (b"network open", b"network: open"),
    (b"timeout 90s", b"timeout: 1m30s"),
    (b"timeout 60", b"timeout: 60"),
    (b"timeout none", b"timeout: none"),
    (b"trust external", b"trust: external"),
    (b"trust core", b"trust: core"),
    (b"env none", b"env: none"),
    (b"env standard", b"env: {preset: standard}"),
    (b'env { allow "A" "B_*" }', b"env: {allow: [B_*, A]}"),
    (b'env { set A "1" B "" }', b'env: {set: {B: "", A: "1"}}'),
    (b'env { allow "Z"; set A "1" }', b"env: {set: {A: '1'}, allow: Z}"),
    (b'env allow "A"', b"env: {allow: A}"),
    (b'image "debian:12"', b"image: debian:12"),
    (b'read "/ws/link" "/ws/link/sub"', b"read: [/ws/link/sub, /ws/link]"),
    (b'profile p { read "/ws" }', b"name: p\nread: /ws"),
    (b'read "/ws/"\nread "//ws"', b"read: [/ws/., //ws//]"),
]


def fixed_point(a):
    """What is printed says the same again."""
    first = dump(a, ".sbx")
    demand(dump(first, ".sbx") == first, "the dump read again gives another dump")


def ceilings():
    case("ceiling: alias for a key", refuses_ceiling, b"read: [/ws/a]\n*a : {x: y}\nnetwork: open\n", "[yaml-feature]")
    case("ceiling: anchor on a key's map", refuses_ceiling, b"? &a {x: y}\n: z\n", "[yaml-feature]")
    case("ceiling: deep lists", refuses_ceiling, b"x: " + b"[" * (1 << 20), "ceiling.yml:1:35: error")
    case("ceiling: two sections", refuses_ceiling, b"sandbox: {}\nsandbox: {}\n", "[duplicate-key]")
    case("ceiling: a section that is none", refuses_ceiling, b"sandbox: [/ws]\n", "`sandbox:` is a map")
    case("ceiling: a misspelt key", refuses_ceiling, b"sandbox: {fs_raed: [/ws]}\n", "did you mean `fs_read`?")
    case("ceiling: empty file", refuses_ceiling, b"", "[yaml]")


def pairs():
    for a, b in PAIRS:
        case("twins %s" % a.decode(), twins, a + b"\n", b + b"\n", "seatbelt,bwrap,landlock,docker")
    for a, _ in PAIRS:
        if b"link" not in a and b"trust core" not in a and b"system" not in a:
            case("dump again %s" % a.decode(), fixed_point, a.replace(b"{ read", b"{ system none; read") if b"profile" in a
                 else b"system none\n" + a + b"\n")
    case("dump again hostile names", fixed_point,
         b"system none\n" + b"".join(b"read literal " + dsl("/ws/" + n) + b"\n" for n in NAMES))


# ---- Mutations -------------------------------------------------------------------------------------------------

def mutate(rng, text):
    pieces = [b'"', b"'", b"\n", b"\r", b"\0", b"\xff", b"{", b"}", b"[", b"]", b": ", b"- ", b"#", b"&a ", b"*a", b"!t ", b"? ", b"---\n",
              b"/", b"..", b"$", b"\\", b"\t", b"profile ", b"env ", b"read ", b"true", b"~", b"|\n", b">\n", b"%", b",", b";", b"optional",
              b"literal ", b"\xe2\x80\xa8", b"\xc2\x9b", b"\x1b"]
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.randint(0, 8))
        kind = rng.randrange(4)
        if kind == 0 and at < len(text):
            text = text[:at] + bytes([text[at] ^ 1 << rng.randrange(8)]) + text[at + 1:]
        elif kind == 1:
            text = text[:at] + rng.choice(pieces) + text[at:]
        elif kind == 2:
            text = text[:at] + text[to:]
        else:
            text = text[:to] + text[at:]
    return text


def ceiling(data, more=()):
    """Compiles a declaration of everything below the ceiling `data`; returns status and stderr."""
    with open(os.path.join(TREE, "ceiling.yml"), "wb") as f:
        f.write(data)
    asks = b'system none\nread "/ws"\nwrite "/ws/a/sub"\nnetwork open\ntimeout none\nenv { allow "A" "*"; set "B" "1" }\n'
    return compile_(asks, ".sbx", more=["--ceiling", "ceiling.yml"] + list(more))[:2]


def refuses_ceiling(data, says):
    status, text = ceiling(data)
    demand(status == 1, "status %d:\n%s" % (status, text))
    demand(says in text, "does not say %r:\n%s" % (says, text))


def ceiling_mutations(seed, text, n):
    rng = random.Random(seed)
    accepted = 0
    for i in range(n):
        data = mutate(rng, text)
        try:
            accepted += ceiling(data)[0] == 0
        except (Wrong, subprocess.SubprocessError) as e:
            raise Wrong("%s\nmutation %d of seed %d: %r" % (e, i, seed, data))
    demand(0 < accepted < n, "%d of %d accepted: the mutations say nothing" % (accepted, n))


def mutations(seed, ext, text, n):
    """Whatever is changed: an answer that is documented, and what is accepted prints as what can be read."""
    rng = random.Random(seed)
    accepted = 0
    for i in range(n):
        data = mutate(rng, text)
        try:
            status, _, _ = compile_(data, ext)
            if status == 0:
                accepted += 1
                again = dump(data, ext)
                if b"# link" not in again and b"# name" not in again and b"trust core" not in again:
                    demand(compile_(again, ".sbx")[0] == 0, "the dump is refused")
        except (Wrong, subprocess.SubprocessError) as e:
            raise Wrong("%s\nmutation %d of seed %d: %r" % (e, i, seed, data))
    demand(0 < accepted < n, "%d of %d accepted: the mutations say nothing" % (accepted, n))


def all_mutations():
    text_dsl = b'profile p "d" {\n  system none\n  read "/ws" "/ws/a" optional\n  write literal "/ws/*"\n' \
               b'  env { allow "A" "B_*"; set C "1" }\n  network none\n  timeout 1m30s\n  trust external\n}\n'
    text_yml = b'name: p\nsystem: none\nread: [/ws, {path: /ws/a, optional: true}]\nwrite:\n  - "/ws/b "\n' \
               b'env: {allow: [A, "B_*"], set: {C: "1"}}\nnetwork: none\ntimeout: 1m30s\n'
    text_md = b"---\nname: x\ndescription: >-\n  folded\n  text\nallowed-tools: [Read]\nfs_read: [/ws]\nnetwork: false\ntimeout: 5\n" \
              b"sbx:\n  env: {allow: [A]}\n---\n# text\n"
    n = 150
    for seed, (ext, text) in enumerate(((".sbx", text_dsl), (".yml", text_yml), (".md", text_md))):
        case("%d mutations of %s" % (n, ext), mutations, seed, ext, text, n)
    config = b"web:\n  port: 80\nsandbox:\n  enabled: true\n  fs_read: [/ws/a, /ws/b]\n  fs_write: [/ws]\n  network: false\n" \
             b"  timeout: 5\nother: [1, {a: b}]\n"
    native = b"read: [/ws/a]\nenv: {allow: [A, 'B_*']}\nnetwork: open\ntimeout: 5s\ntrust: core\n"
    for seed, text in enumerate((config, native)):
        case("%d mutations of a ceiling, %d" % (n, seed), ceiling_mutations, seed, text, n)


# ---- Messages --------------------------------------------------------------------------------------------------

def one_error(data, ext):
    """One mistake is one error, and both forms of messages say the same of it."""
    words = ["-t", "landlock", "--from", "dsl" if ext == ".sbx" else "yaml", "-o", os.path.join(OUT, "none"), "-"] + COMMON
    text, lines = run(words, data), run(words + ["--diagnostics=json"], data)
    demand(text.returncode == 1 and lines.returncode == 1, "status %d, %d" % (text.returncode, lines.returncode))
    errors = re.findall(r"^<stdin>:(\d+):(\d+): (\w+): (.*) \[([a-z-]+)\]$", check_stderr(text.stderr), re.M)
    demand([e[2] for e in errors] == ["error"], "not one error: %r" % errors)
    objects = [json.loads(line) for line in lines.stderr.splitlines()]
    said = [(str(o["line"]), str(o["column"]), o["severity"], o["message"], o["id"]) for o in objects]
    demand(said == errors, "as JSON %r, as text %r" % (said, errors))
    start, end = objects[0]["offset"], objects[0]["offset"] + objects[0]["length"]
    for offset, line, column in ((start, "line", "column"), (end, "end_line", "end_column")):
        before = data[:offset].split(b"\n")
        demand((len(before), len(before[-1]) + 1) == (objects[0][line], objects[0][column]), "offsets: %r" % objects[0])


def messages():
    for i, text in enumerate((
            b'raed "/ws"\n', b'read "/ws\nnetwork none\n', b'env {\n allow "A\n}\nnetwork none\n', b'read "/ws"\n}\n',
            b'profile a {\n read "/ws"\n', b'foo {\n bar {\n  baz "x"\n }\n}\n', b'read"/ws"\n', b'{ read "/ws" }\n',
            b'profile a { read "/ws" } read "/ws"\n', b"network none none none\n", b"read /ws /bin /lib\n",
            b'profile {\n read "/ws"\n}\n', b"env { set A }\n", b"timeout\n", b'read "/w\x01s"\n', b'\r\n\tread "a\\q"\r\n')):
        case("one mistake dsl %d" % i, one_error, text, ".sbx")
    for i, text in enumerate((
            b"raed: [/ws]\n", b"read: [/ws\n", b'read: "/ws\nnetwork: none\n', b"read: [/ws]]\n", b"a: b: c\n", b"- a\n- b\n",
            b"foo: {a: {b: c}, d: [1, 2]}\n", b"read: [1, /ws]\n", b"\tread: /ws\n", b"read: [/ws]\nread: [/ws]\n",
            b"read: [/ws]\r\nnetwork: [none, open]\r\n", b"name: [x]\n")):
        case("one mistake yaml %d" % i, one_error, text, ".yml")


# ---- Running ---------------------------------------------------------------------------------------------------

def make_tree():
    for d in ("ws/a/sub", "ws/b ", "ws/a#b", "ws/#", "ws/a:b", "ws/it's", "home/u", "work", "skill", "proc", "dev"):
        os.makedirs(os.path.join(ROOT, d))
    for f in ("ws/file", "dev/null", "dev/zero", "dev/full", "dev/random", "dev/urandom"):
        open(os.path.join(ROOT, f), "w").close()
    for n in NAMES:
        os.makedirs(os.path.join(ROOT, "ws", n), exist_ok=True)
    os.makedirs(os.path.join(ROOT.encode(), b"ws/\xff"))
    os.mkfifo(os.path.join(ROOT, "ws/fifo"))
    os.symlink("a", os.path.join(ROOT, "ws/link"))


def main():
    global LIMITED
    make_tree()
    LIMITED = run(["--version"]).returncode == 0
    if not LIMITED:
        print("skip bounds of memory and stack: this build does not start within 512 MiB of address space")
    for part in (yaml_structure, bytes_and_sizes, scalars, paths, environment, language, ceilings, pairs, messages, all_mutations):
        part()
    for name, f, args in CASES:
        shown = name.encode("ascii", "backslashreplace").decode().replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        try:
            f(*args)
            print("ok %s" % shown)
        except Wrong as e:
            print("FAIL %s: %s" % (shown, str(e).encode("ascii", "backslashreplace").decode()))
        except subprocess.TimeoutExpired:
            print("FAIL %s: took too long" % shown)
        except Exception as e:  # a defect of this test counts as a failure, not as an end
            print("FAIL %s: %s: %r" % (shown, type(e).__name__, e))


try:
    main()
finally:
    shutil.rmtree(TREE, ignore_errors=True)
