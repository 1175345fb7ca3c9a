"""What compiling costs, beside what the scanner and libyaml alone cost, in one run.

    compile.py BUILD [LARGEST]

All times are the least of several runs that take turns, so that a busy machine slows all of them alike; still
only ratios within one run mean something, and no test looks at them. LARGEST (100000) shortens a run.

bwrap takes at most 9,000 words and Seatbelt 512 KiB, so 10^5 grants that all stay cannot become those two. Hence
    fold    a thousand rules stand beneath each granted folder and repeat it, so they fold away: four targets
    flat    each rule is a grant of its own: landlock and docker
    mixed   fold, written in no order; four targets
with `none` paths as written, with `host` each of them looked up.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

ALL = "seatbelt,bwrap,landlock,docker"
TARGETS = {"fold": ALL, "flat": "landlock,docker", "mixed": ALL}
CASES = [("fold", "none"), ("flat", "none"), ("mixed", "none"), ("fold", "host")]
ROUNDS = {10: 30, 100: 30, 1000: 20, 10000: 10, 100000: 7}
START_ROUNDS = 300
BYTES = ("text", "output", "rss")
FRONT = ("read", "parse")
SMALL = """profile purge "Removes old files" {
  system standard
  read "/srv/logs" "/opt/tool" optional
  read "/srv/inbox"
  read "/srv/config.yml"
  read "/usr/share/dict"
  write "/srv/out"
  write "/var/spool/purge"
  network none
  timeout 5m
  env {
    allow "LC_*"
    allow "PURGE_DAYS"
    set TZ "UTC"
    set MODE "batch"
  }
  image "debian:12"
  trust external
}
"""


def paths(shape, n, top):
    """n paths; where top is empty a line that holds one has 52 bytes."""
    leaf = "{}/srv/tree{:03d}/branch{:02d}/leaf{:06d}.rec.jsonl".format
    tree = "{}/srv/tree{:03d}".format
    found = [tree(top, i // 1000) if shape != "flat" and i % 1000 == 0 else leaf(top, i // 1000, i // 10 % 100, i)
             for i in range(n)]
    if shape == "mixed":
        random.Random(1).shuffle(found)
    return found


def write_policy(folder, name, rules):
    """One policy in both spellings; returns the files by syntax."""
    files = {"dsl": os.path.join(folder, name + ".sbx"), "yaml": os.path.join(folder, name + ".yml")}
    with open(files["dsl"], "w", encoding="ascii") as f:
        f.write("profile bench {\n" + "".join(f'  read "{p}"\n' for p in rules) + "}\n")
    with open(files["yaml"], "w", encoding="ascii") as f:
        f.write("name: bench\nread:\n" + "".join(f'  - "{p}"\n' for p in rules))
    return files


def make_tree(rules):
    for p in rules:
        folder = os.path.dirname(p) if "leaf" in p else p
        os.makedirs(folder, exist_ok=True)
        if folder != p:
            os.close(os.open(p, os.O_CREAT | os.O_WRONLY, 0o644))


class Result:
    """The least of everything measured of one policy."""

    def __init__(self, n, case, resolve):
        self.n, self.case, self.resolve = n, case, resolve
        self.whole = {"dsl": 1e9, "yaml": 1e9}  # seconds of sbxc, from spawn to exit
        self.memory = {"dsl": 0, "yaml": 0}     # bytes, at most
        self.stages = {"dsl": {}, "yaml": {}}   # seconds by stage; bytes of text, output, rss
        self.flex = self.libyaml = 1e9

    def front_of_yaml(self):
        """What YAML costs beyond the half that both syntaxes share, as a multiple of libyaml's events."""
        back = self.whole["dsl"] - sum(self.stages["dsl"][k] for k in FRONT)
        return (self.whole["yaml"] - back) / self.libyaml


class Bench:
    """Artifacts go to `memory`, so that no disk that others use is measured; for start-up the disk is shown beside it."""

    def __init__(self, build, folder, memory):
        self.build, self.folder = build, folder
        self.sbxc = os.path.join(build, "sbxc")
        self.out = os.path.join(memory, "out")

    def tool(self, name):
        return os.path.join(self.build, "tests/bench", name)

    def spawn(self, rounds, *commands):
        """(seconds, bytes of memory) of each command."""
        words = [self.tool("spawn"), str(rounds)]
        for c in commands:
            words += ["--", *c]
        lines = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        found = [tuple(map(int, line.split())) for line in lines]
        for (_, _, status), c in zip(found, commands):
            if status:
                sys.exit(f"compile.py: status {status} of {' '.join(c)}")
        return [(ns / 1e9, kib * 1024) for ns, kib, _ in found]

    def numbers(self, *command):
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pairs = [line.split() for line in done.stdout.splitlines()]
        return {k: int(v) if k in BYTES else int(v) / 1e9 for k, v in pairs}

    def compile(self, file, targets, resolve):
        return [self.sbxc, file, "-t", targets, "--image", "debian:12", f"--resolve={resolve}", "-o", self.out]

    def measure(self, n, case, resolve, files):
        r = Result(n, case, resolve)
        for _ in range(ROUNDS[n]):
            runs = self.spawn(1, *[self.compile(files[s], TARGETS[case], resolve) for s in files])
            for s, (seconds, memory) in zip(files, runs):
                r.whole[s] = min(r.whole[s], seconds)
                r.memory[s] = max(r.memory[s], memory)
                for k, v in self.numbers(self.tool("stages"), files[s], TARGETS[case], resolve, self.out).items():
                    r.stages[s][k] = min(r.stages[s].get(k, v), v)
            r.flex = min(r.flex, self.numbers(self.tool("flex"), files["dsl"])["scan"])
            r.libyaml = min(r.libyaml, self.numbers(self.tool("libyaml"), files["yaml"])["events"])
        return r


def size(n):
    return f"10^{len(str(n)) - 1}"


def per_rule(r, first, syntax):
    """Seconds a rule, without what a policy of ten rules costs."""
    return (r.whole[syntax] - first.whole[syntax]) / (r.n - first.n)


def growth(results, i, syntax):
    return per_rule(results[i], results[0], syntax) / per_rule(results[i - 1], results[0], syntax)


def memory_per_rule(r, first, syntax):
    """Bytes a rule beyond what the text and the artifacts take themselves."""
    own = r.stages[syntax]["text"] + r.stages[syntax]["output"]
    return (r.memory[syntax] - first.memory[syntax] - own) / r.n


def show_whole(all_results):
    print("\nWhole runs of sbxc, from spawn to exit. us/rule: without the time of 10 rules; growth: of that, a decade;\n"
          "bytes/rule: memory beyond text and artifacts, without that of 10 rules; scan: by flex or libyaml alone\n")
    print("  case   paths  syntax   rules        ms  M rules/s  us/rule  growth  bytes/rule   scan ms  x scan")
    for results in all_results:
        first = results[0]
        for syntax in ("dsl", "yaml"):
            for i, r in enumerate(results):
                scan = r.flex if syntax == "dsl" else r.libyaml
                each = f"{per_rule(r, first, syntax) * 1e6:9.3f}" if i else "        -"
                more = f"{growth(results, i, syntax):8.2f}" if i > 2 else "       -"
                memory = f"{memory_per_rule(r, first, syntax):12.0f}" if i > 2 else "           -"
                print(f"  {r.case:6} {r.resolve:6} {syntax:6} {size(r.n):>7} {r.whole[syntax] * 1e3:9.2f} "
                      f"{r.n / r.whole[syntax] / 1e6:10.3f}{each}{more}{memory}{scan * 1e3:10.2f}{r.whole[syntax] / scan:8.1f}")


def show_stages(all_results):
    names = [k for k in all_results[0][0].stages["dsl"] if k not in BYTES]
    print("\nStages in one process, ms\n")
    print("  case   paths  syntax   rules" + "".join(f"{k:>13}" for k in names))
    for results in all_results:
        for syntax in ("dsl", "yaml"):
            for r in results:
                found = r.stages[syntax]
                print(f"  {r.case:6} {r.resolve:6} {syntax:6} {size(r.n):>7}" +
                      "".join(f"{found[k] * 1e3:13.3f}" if k in found else f"{'-':>13}" for k in names))


def show_start(bench):
    small = os.path.join(bench.folder, "small.sbx")
    with open(small, "w", encoding="ascii") as f:
        f.write(SMALL)
    commands = {
        "/bin/true": ["/bin/true"],
        "sbxc --version": [bench.sbxc, "--version"],
        "20 lines, landlock": [bench.sbxc, small, "--resolve=none", "-o", bench.out + ".landlock"],
        "20 lines, landlock, on disk": [bench.sbxc, small, "--resolve=none", "-o", bench.folder + "/out.landlock"],
        "20 lines, four targets": [bench.sbxc, small, "--resolve=none", "-t", ALL, "-o", bench.out],
    }
    found = [seconds for seconds, _ in bench.spawn(START_ROUNDS, *commands.values())]
    print(f"\nStart-up, the least of {START_ROUNDS} runs\n\n{'us':>34}  x /bin/true")
    for name, seconds in zip(commands, found):
        print(f"  {name:28}{seconds * 1e6:6.0f}{seconds / found[0]:13.2f}")
    return found[2] / found[0]


class Bars:
    def __init__(self):
        self.met = self.missed = 0
        print("\nBars\n")

    def say(self, text, value, limit, least=False):
        met = value >= limit if least else value <= limit
        self.met, self.missed = self.met + met, self.missed + (not met)
        print(f"  {'met   ' if met else 'missed'} {text}: {value:.2f}, {'at least' if least else 'at most'} {limit}")


def judge(all_results, start):
    bars = Bars()
    for results in all_results:
        first, r = results[0], results[-1]
        what = f"{r.case}, {r.resolve}, {size(r.n)}"
        bars.say(f"M rules/s, dsl, {what}", r.n / r.whole["dsl"] / 1e6, 0.15 if r.resolve == "host" else 0.6, least=True)
        bars.say(f"(yaml - the dsl's back half) / libyaml, {what}", r.front_of_yaml(), 1.4)
        for syntax in ("dsl", "yaml"):
            bars.say(f"growth a decade, {syntax}, {what}", growth(results, len(results) - 1, syntax), 1.15)
            bars.say(f"bytes/rule, {syntax}, {what}", memory_per_rule(r, first, syntax), 200)
    bars.say("20 lines, landlock / true", start, 2)
    print(f"\nbench-compile: {bars.met} bars met, {bars.missed} missed")


def main():
    build = os.path.abspath(sys.argv[1])
    largest = int(sys.argv[2]) if len(sys.argv) > 2 else max(ROUNDS)
    sizes = [n for n in ROUNDS if n <= largest]
    # Not in /tmp: those paths have a second name on macOS, and the four targets two policies that differ.
    folder = tempfile.mkdtemp(prefix="bench.", dir=build)
    memory = tempfile.mkdtemp(prefix="sbx-bench.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        bench = Bench(build, folder, memory)
        all_results = []
        for case, resolve in CASES:
            top = folder if resolve == "host" else ""
            if top:
                make_tree(paths(case, largest, top))
            files = {n: write_policy(folder, f"{case}-{n}", paths(case, n, top)) for n in sizes}
            all_results.append([bench.measure(n, case, resolve, files[n]) for n in sizes])
        show_whole(all_results)
        show_stages(all_results)
        judge(all_results, show_start(bench))
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(memory)


if __name__ == "__main__":
    main()
