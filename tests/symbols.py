#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the built library exports, keeps and calls. `symbols.py [BUILD]`, else $B or build.

- every exported symbol is declared in wakewatt.h, and every declared one exported
- no object keeps anything that can change (.data, .bss, thread-local)
- nothing prints, exits, or touches what belongs to the whole process
- a layer calls only the layers that it may include, through whatever header
- the Python binding names public symbols only
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

import layers

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROCESS = """printf vprintf puts putchar putc fputs perror stdout stderr stdin exit abort signal
    sigaction setlocale setenv putenv unsetenv srand rand random strtok gmtime localtime ctime
    asctime atexit chdir umask daemon syslog openlog""".split()
# SQLite finds it by this name when it loads the library as an extension.
ENTRY = {"sqlite3_wakewatt_init"}
# A child between fork and exec is a process of its own.
CHILD = {"control": {"signal", "sigaction"}, "bus": {"sigaction"}}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared():
    text = (ROOT / "include" / "wakewatt.h").read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return set(re.findall(r"\bWW_API\b[^;{]*?\b(ww_\w+)\s*\(", text))


def exported(so):
    names = {line.split()[-1].split("@")[0]
             for line in run("nm", "-D", "--defined-only", str(so)).splitlines()}
    return {n for n in names if not n.startswith("WAKEWATT_")}


def objects(build):
    return sorted((build / "obj" / "lib").glob("*/*.o"))


def check_exports(build):
    so = build / "lib" / "libwakewatt.so"
    have, want = exported(so), declared()
    for name in sorted(have - want - ENTRY):
        yield f"{so.name} exports {name}, which wakewatt.h does not declare"
    for name in sorted(want - have):
        yield f"wakewatt.h declares {name}, which {so.name} does not export"


def check_state(build):
    """Constants with addresses in them lie in .data.rel.ro; that is read-only once loaded."""
    for obj in objects(build):
        for line in run("objdump", "-t", str(obj)).splitlines():
            found = re.match(r"[0-9a-f]+ .{7} (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$", line)
            if not found or found[2].startswith("."):
                continue
            section = found[1]
            if section.startswith(".data.rel.ro"):
                continue
            if section == "*COM*" or re.match(r"\.(data|bss|tdata|tbss)\b", section):
                yield f"{obj.parent.name}/{obj.stem}.c keeps {found[2]} in {section}"


def check_calls(build):
    allowed = layers.table(ROOT / "lib" / "README.md")
    home, calls = {}, collections.defaultdict(set)
    for obj in objects(build):
        for line in run("nm", str(obj)).splitlines():
            kind, name = line.split()[-2:]
            name = re.sub(r"^__(\w+)_chk$", r"\1", name)
            if kind == "U":
                calls[obj].add(name)
            elif kind in "TRDB":
                home[name] = obj.parent.name
    for obj, names in calls.items():
        layer, where = obj.parent.name, f"{obj.parent.name}/{obj.stem}.c"
        for name in sorted(names):
            if name in PROCESS and name not in CHILD.get(layer, ()):
                yield f"{where} uses {name}, which is the program's business"
            other = home.get(name)
            if other and not layers.may(allowed, layer, other, obj.stem):
                yield f"{where} calls {name}: {layer} may not use {other}"


def check_python():
    public = declared() | set(re.findall(r"\b(?:struct|enum) (ww_\w+)",
                                         (ROOT / "include" / "wakewatt.h").read_text()))
    for path in sorted((ROOT / "bindings").rglob("*.py")):
        for name in sorted(set(re.findall(r"\bww_\w+", path.read_text(encoding="utf-8")))):
            if name not in public and not any(p.startswith(name) for p in public):
                yield f"{path.relative_to(ROOT)}: {name} is not public"


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("B", ROOT / "build"))
    sources = {p.relative_to(ROOT / "lib").with_suffix("") for p in (ROOT / "lib").glob("*/*.c")}
    built = {o.relative_to(build / "obj" / "lib").with_suffix("") for o in objects(build)}
    if sources - built:
        sys.exit(f"symbols: {build} lacks {', '.join(map(str, sorted(sources - built)))}: make first")
    bad = [*check_exports(build), *check_state(build), *check_calls(build), *check_python()]
    for line in bad:
        print(line)
    print(f"symbols: {len(built)} objects, {len(declared())} public functions, {len(bad)} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
