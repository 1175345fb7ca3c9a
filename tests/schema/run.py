"""Holds the JSON Schema of the YAML to the compiler. Usage: run.py BUILD

  - docs/declaration.schema.json is what tools/genschema makes of the key table
  - every golden declaration in native YAML that sbxc understands is valid by it
  - what `sbxc dump --json` prints of them is valid by docs/dump.schema.json
  - every one that sbxc refuses is invalid, or stands in tests/schema/beyond with what a schema cannot say
"""
import hashlib
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.path.join(TOP, "tests", "golden")
passed = failed = 0


def check(name, good, text=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL %s %s" % (name, text))


def loader(yaml):
    """YAML as sbxc reads it: only true and false are booleans, no dates, no octal numbers."""
    class Core(yaml.SafeLoader):
        pass
    Core.yaml_implicit_resolvers = {}
    for tag, regexp, first in (
            ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"), ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
            ("int", r"^[-+]?[0-9]+$", "-+0123456789"), ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789")):
        Core.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(regexp), list(first))

    def number(node_loader, node):
        # A leading zero is no number here, and no text either: nothing of the schema takes it.
        text = node.value.lstrip("+-")
        return int(node.value) if not (len(text) > 1 and text[0] == "0") and node.value[0] != "+" else float("inf")
    Core.add_constructor("tag:yaml.org,2002:int", number)

    def mapping(node_loader, node):
        names = [node_loader.construct_object(key) for key, _ in node.value]
        if len(set(map(str, names))) != len(names):
            raise yaml.YAMLError("a key stands twice")
        return {str(key): node_loader.construct_object(value, deep=True) for key, (_, value) in zip(names, node.value)}
    Core.add_constructor("tag:yaml.org,2002:map", mapping)
    return Core


def beyond():
    """`CASE: why` or `[id]: why`, one a line: a case by its name, or every one whose errors are all of such ids."""
    with open(os.path.join(HERE, "beyond")) as f:
        lines = [l.rstrip("\n") for l in f if l.strip() and not l.startswith("#")]
    return dict(l.split(": ", 1) for l in lines)


def dumps(build, jsonschema):
    """What dump --json prints is valid by docs/dump.schema.json. Nothing is looked up, so no tree is needed."""
    with open(os.path.join(TOP, "docs", "dump.schema.json")) as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    tried = 0
    for name in sorted(os.listdir(GOLDEN)):
        for file in ("input.sbx", "input.yml", "SKILL.md"):
            path = os.path.join(GOLDEN, name, file)
            if not os.path.exists(path):
                continue
            words = [os.path.join(build, "sbxc"), "dump", "--resolve", "none", "-D", "HOME=/home/u", "--base", "/ws", "-t"]
            for target in ("landlock", "seatbelt"):
                text = subprocess.run(words + [target, path], capture_output=True)
                r = subprocess.run(words + [target, "--json", path], capture_output=True)
                if r.returncode != text.returncode or r.returncode == 0 and text.returncode == 0 and not r.stdout:
                    check("%s/%s: dump and dump --json end differently" % (name, file), False)
                if r.returncode:
                    continue
                tried += 1
                policy = json.loads(r.stdout)
                check("%s/%s: dump --json" % (name, file), not list(validator.iter_errors(policy)), list(validator.iter_errors(policy))[:1])
                # The same policy: as many rules as the text has lines of them, and the digest of that text.
                digest = hashlib.sha256(text.stdout).hexdigest()
                check("%s/%s: the digest is that of the dump" % (name, file), policy["policy-digest"] == digest)
    check("there are dumps", tried > 100)


def main():
    build = sys.argv[1]
    try:
        import jsonschema
        import yaml
    except ImportError as e:
        print("skip the schema is not tried: %s" % e)
        print("schema: 0 passed, 0 failed, 1 skipped")
        return 0
    made = subprocess.run([os.path.join(build, "gen", "genschema")], capture_output=True, check=True).stdout
    with open(os.path.join(TOP, "docs", "declaration.schema.json"), "rb") as f:
        check("docs/declaration.schema.json is not what make schema writes", f.read() == made)
    schema = json.loads(made)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    listed, used, core = beyond(), set(), loader(yaml)
    good = bad = 0
    for name in sorted(os.listdir(GOLDEN)):
        path, folder = os.path.join(GOLDEN, name, "input.yml"), os.path.join(GOLDEN, name)
        if not os.path.exists(path) or (name.startswith("shape-") and name != "shape-native"):
            continue
        with open(os.path.join(folder, "expect", "status")) as f:
            status = f.read().strip()
        understood = status == "0" or os.path.exists(os.path.join(folder, "dump"))
        try:
            with open(path, "rb") as f:
                errors = [e.message for e in validator.iter_errors(yaml.load(f, Loader=core))]
        except (yaml.YAMLError, UnicodeDecodeError, ValueError) as e:
            errors = [str(e)]
        good, bad = good + understood, bad + (not understood)
        if understood:
            check("%s: sbxc understands it, the schema does not:" % name, not errors, errors[:1])
        elif errors:
            check(name + " stands in tests/schema/beyond, but the schema refuses it", name not in listed)
        else:
            with open(os.path.join(folder, "expect", "stderr.yml"), errors="replace") as f:
                ids = set(re.findall(r"(?:: | )error: .*(\[[a-z-]+\])$", f.read(), re.M))
            by_id = ids and ids <= set(listed)
            used |= ids if by_id else {name}
            check("%s: refused by sbxc (%s), not by the schema, and not in tests/schema/beyond" % (name, " ".join(sorted(ids))),
                  by_id or name in listed)
    check("tests/schema/beyond names cases that are not there: %s" % (set(listed) - used), set(listed) == used)
    check("there are declarations of both kinds", good > 50 and bad > 30)
    dumps(build, jsonschema)
    print("schema: %d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
