"""Random declarations in the language, with all of its clauses and names that are hard to quote."""

# Harmless ones, and what one reader or the other takes for syntax, a number, a boolean or a line break.
ODD = ["a", "b", "0", " ", "  ", '"', "'", "\\", "\t", "\n", "\r", "\x01", "\x7f", "#", " #", ": ", ":", "- ", "{", "}", "[", "]",
       ",", "&", "!", "|", ">", "%", "@", "`", "=", "<<", "\u00e9", "\u0085", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff",
       "\U0001f600", "~", ";"]
# Plain, some reader of YAML takes these for something else than this text, or for no YAML at all.
NOT_PLAIN = [spelled for word in ("true", "false", "null", "yes", "no", "on", "off", "y", "n") for spelled in (word, word.capitalize(), word.upper())] + [
    "", "~", "1", "1.5", "0x1f", "0o7", "1e3", "1_000", ".5", ".inf", ".NaN", "+1", "-1", "-", "--- a", "...", "=", "<<", "!x", "*x", "&x",
    "2026-01-01", "12:30", "a: b", "a:", "a #b", "?", "? a", ":", "%x", "@x", "`x", "[a", "{a", "'a", '"a', "|", ">", " a", "a ", "a, b"]
TEXTS = NOT_PLAIN + ["optional", "of", "literal", "n" * 1100]
WORDS = {  # behind a path of the clause
    "read": ["optional", "snapshot", "create", "create file"], "write": ["optional", "snapshot", "create", "create file"],
    "read only": ["optional", "create"], "write-only": ["optional", "create file"], "exec": ["optional"], "deny": ["stub"],
    "deny read": ["stub"], "deny write": ["stub"], "deny exec": [],
}
LIMITS = {"kill-after": ["5s", "250ms", "1h30m"], "memory": ["1G", "512MiB", "100MB", "1234567"], "processes": ["5"], "cpu": ["1", "0.125", "2.5"],
          "cpu-weight": ["1", "10000"], "cpu-time": ["90", "1m1ms"], "file-size": ["1kB"], "open-files": ["64"], "output": ["1MB", "3"]}
ENTRIES = ["a.example:443", ".b.example:*", "192.0.2.0/24:53", "[2001:db8::1]:80", "B\u00fccher.example:1", "unix:/run/x.sock", "unix:/run/a b#"]
PARAMS = ["no", "null", "y", "A", "_1", "literal", "p" * 1100, "unused"]


def quoted(rng, text):
    """As a string of the language; what need not be escaped sometimes is."""
    out = ""
    for c in text:
        plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}.get(c, c)
        if (ord(c) < 32 and plain == c and c != "\t") or c == "\x7f" or rng.random() < 0.05:
            plain = "".join("\\x%02x" % b for b in c.encode("utf-8", "surrogateescape"))
        out += plain
    return '"%s"' % out


def text(rng, printable=False):
    s = rng.choice(TEXTS) if rng.random() < 0.4 else "".join(rng.choice(ODD) for _ in range(rng.randint(1, 6)))
    return "".join(c for c in s if not printable or (ord(c) >= 32 and c != "\x7f")) or "x"


def word_or_string(rng, name):
    plain = all(c.isascii() and (c.isalnum() or c in "_-.~+:=<!*&@?%") for c in name)
    return name if plain and rng.random() < 0.5 else quoted(rng, name)


class Maker:
    def __init__(self, rng, held):
        self.rng = rng
        self.held = held  # only what each target holds
        self.used = set()  # paths: none twice, so that nothing clashes
        self.bytes = rng.random() < 0.1  # names that are no UTF-8

    def some(self, chance):
        return self.rng.random() < chance

    def path(self):
        while True:
            name = text(self.rng).replace("/", "") + str(len(self.used))
            if self.bytes and self.some(0.3):
                name += "\udcff"
            path = self.rng.choice(["", "/srv", "/srv/a b"]) + "/" + name
            if path not in self.used:
                self.used.add(path)
                return path

    def path_value(self, clause):
        rng, path = self.rng, self.path()
        odd = any(c in path for c in "*?[]{}$\\")
        literal = odd or self.some(0.1)
        word = rng.choice(WORDS[clause]) if WORDS[clause] and self.some(0.3) and not self.held else ""
        if word == "snapshot":
            path, literal = rng.choice(["/srv/*.txt", "/srv/log-?", "/srv/[ab]"]), False
        return ("literal " if literal else "") + quoted(rng, path) + (" " + word if word else "")

    def paths(self, clauses):
        out = []
        for clause in clauses:
            if self.some(0.35) and (not self.held or clause in ("read", "write")):
                out.append(clause + " " + " ".join(self.path_value(clause) for _ in range(self.rng.randint(1, 3))))
        return out

    def env(self):
        rng, inner, out = self.rng, [], []
        names = [n for n in {text(rng, True).replace("=", "").replace("*", "") for _ in range(8)} if n.strip()]
        names.sort()
        rng.shuffle(names)
        for word in ("allow", "deny"):
            if names and self.some(0.4):
                inner.append(word + " " + word_or_string(rng, names.pop()) + (' "LC_*"' if word == "allow" else ' "AWS_*"'))
        for _ in range(rng.randint(0, 2)):
            if names:
                inner.append("set %s %s" % (word_or_string(rng, names.pop()), quoted(rng, text(rng))))
        if self.some(0.3):
            out.append("env " + rng.choice(["none", "standard"]))
        if inner and self.some(0.5):
            out.append("env {\n%s\n}" % "\n".join(inner))
        else:
            out += ["env " + i for i in inner]
        return out

    def limits(self):
        rng = self.rng
        lines = ["%s %s" % (k, rng.choice(v)) for k, v in LIMITS.items() if self.some(0.3) and not self.held]
        time = "timeout " + rng.choice(["none", "5m", "90", "1500ms", "1h1s"])
        if self.some(0.3):
            lines.append(time)
        elif self.some(0.4):
            return [time] + (["limits { %s }" % "; ".join(lines)] if lines else [])
        return ["limits { %s }" % "; ".join(lines)] if lines else []

    def network(self):
        mode = self.rng.choice(["none", "open", None] if self.held else ["none", "loopback", "loopback host", "open", None, None])
        out = ["network " + mode] if mode else []
        if mode != "open" and self.some(0.4) and not self.held:
            entries = ENTRIES if mode is None else [e for e in ENTRIES if e.startswith("unix:")]
            out.append("network allow " + " ".join(quoted(self.rng, e) for e in self.rng.sample(entries, self.rng.randint(1, len(entries)))))
        return out

    def words(self):
        rng = self.rng
        lines = ["system " + rng.choice(["standard", "minimal", "none"]), "skill-dir " + rng.choice(["read", "none", quoted(rng, "/s \u00e9")]),
                 "trust " + rng.choice(["core", "external"]), 'image "x/y:1"']
        more = ["user " + rng.choice(['"1"', '"0:0"', '"no"']), "tty " + rng.choice(["none", "inherit"]),
                "workdir " + rng.choice(['"/w"', 'literal "/w$"', '"/w" create']), "spawn deny", "listen 80 443", "fd 3 7"]
        return [line for line in lines + more if self.some(0.3) and (line in lines or not self.held)]

    def params(self):
        rng, out = self.rng, []
        names = rng.sample(PARAMS[:-1], 3)
        for name in names:
            if self.some(0.2):
                out += ["param %s %s" % (name, quoted(rng, self.path().replace("$", ""))), 'read "$%s/x"' % name]
        if self.some(0.1):
            out.append("param " + PARAMS[-1])
        return out

    def clauses(self, uses):
        path_clauses = list(WORDS)
        lines = self.words() + self.params() + self.paths(path_clauses) + self.env() + self.limits() + self.network()
        programs = any(line.startswith("exec ") for line in lines)
        if self.some(0.3) and not self.held:
            lines.append("exec none" if programs else "exec " + self.rng.choice(["default", "none"]))
        if uses and self.some(0.5):
            lines.append("use " + " ".join(word_or_string(self.rng, u) for u in uses))
        self.rng.shuffle(lines)
        return lines


def block(head, lines):
    return "%s {\n%s\n}" % (head, "\n".join(lines))


def make(rng):
    """(the declaration, an included file or None, the profile to take or None, do targets hold it?), files as bytes."""
    m, include = Maker(rng, rng.random() < 0.3), None
    head = []
    if rng.random() < 0.2:
        include = block("profile shared", m.paths(["read"]))
        head = ['include "in c#.sbx"']
    if rng.random() < 0.4:
        lines = m.clauses(["shared"] if include else [])
        if rng.random() < 0.5:
            lines.append("description " + quoted(rng, text(rng)))
        file, name = "\n".join(head + lines), None
    else:
        names = []
        while len(names) < rng.randint(1, 3):
            n = text(rng, True)
            if n not in names and n != "shared":
                names.append(n)
        called = [word_or_string(rng, n) for n in names]
        about = [" " + quoted(rng, text(rng)) if rng.random() < 0.5 else "" for _ in names]
        blocks = [block("profile %s%s" % (called[0], about[0]), m.clauses(["shared"] if include else []))]
        if len(names) > 1:  # asks for nothing that its parent has not
            head_of = "scope %s of %s%s" % (called[1], word_or_string(rng, names[0]), about[1])
            blocks.append(block(head_of, m.paths(["deny", "deny write"]) + ["network none"]))
        if len(names) > 2:
            lines = m.paths(["read", "write"]) + ["use " + word_or_string(rng, names[0])]
            blocks.append(block("profile %s%s" % (called[2], about[2]), lines))
        rng.shuffle(blocks)
        blocks.sort(key=lambda b: b.startswith("scope "))  # YAML has its scopes behind its profiles
        file, name = "\n".join(head + blocks), rng.choice(names)
    as_bytes = lambda s: (s + "\n").encode("utf-8", "surrogateescape")
    return as_bytes(file), include and as_bytes(include), name, m.held
