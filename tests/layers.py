#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who includes whom: fails on every include that the table of lib/README.md does not allow.

tools/, examples/ and bindings/ see the public header only. `layers.py [ROOT]`.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ROW = re.compile(r"^\|\s*([a-z, ]+?)\s*\|\s*(.+?)\s*\|\s*$")
# Libraries of others, each behind one layer.
FOREIGN = {"sqlite3.h": {"trace"}, "zstd.h": {"trace", "import"}, "libusb.h": {"bus"},
           "ftdi.h": {"bus"}, "gpiod.h": {"bus"}, "curl/curl.h": {"bus"}, "jansson.h": {"meter"},
           "zlib.h": {"import"}, "lzma.h": {"import"}}


def table(readme):
    """{layer: {other layer: None, or the only files that may}} from the Markdown table."""
    allowed = {}
    for line in readme.read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if not row or row[1] == "layer":
            continue
        others = {}
        if row[2] != "nothing of ours":
            for item in re.split(r",\s*(?![^(]*\))", row[2]):
                name, _, only = item.partition(" (")
                only = re.fullmatch(r"(\w+(?:, \w+)*) only\)", only)
                others[name] = tuple(only[1].split(", ")) if only else None
        for layer in re.split(r",\s*", row[1]):
            allowed[layer] = others
    return allowed


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found[1] == '"', found[2]


def may(allowed, layer, other, stem):
    if other == layer:
        return True
    if other not in allowed.get(layer, {}):
        return False
    only = allowed[layer][other]
    return only is None or stem.startswith(only)


def check_lib(root, allowed):
    layers = {p.name for p in (root / "lib").iterdir() if p.is_dir()}
    for path in sorted((root / "lib").glob("*/*.[ch]")):
        layer = path.parent.name
        if layer not in allowed:
            yield f"{path}: layer '{layer}' is not in lib/README.md"
            continue
        for number, own, name in includes(path):
            where = f"{path}:{number}"
            other = name.split("/")[0]
            if not own:
                base = pathlib.Path(name).name
                if layer not in FOREIGN.get(base, {layer}):
                    owners = " and ".join(sorted(FOREIGN[base]))
                    yield f"{where}: <{name}> belongs to {owners} alone"
            elif name.count("/") != 1 or other not in layers:
                yield f"{where}: \"{name}\" does not name its layer, as in \"base/str.h\""
            elif not (root / "lib" / name).is_file():
                yield f"{where}: \"{name}\" does not exist"
            elif not may(allowed, layer, other, path.stem):
                yield f"{where}: {layer} may not include {other} (\"{name}\")"


def check_users(root):
    """Programs, examples and bindings: the public header, and files beside them."""
    lib = {f"{p.parent.name}/{p.name}" for p in (root / "lib").glob("*/*.h")}
    for folder in ("tools", "examples", "bindings"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            for number, own, name in includes(path):
                if own and not (path.parent / name).resolve().is_relative_to(
                        (root / folder).resolve()):
                    yield f"{path}:{number}: \"{name}\" is outside {folder}/"
                elif own and not (path.parent / name).is_file():
                    yield f"{path}:{number}: \"{name}\" does not exist beside it"
                elif not own and name in lib:
                    yield f"{path}:{number}: <{name}> is internal to the library"
    for number, own, name in includes(root / "include" / "wakewatt.h"):
        if own or name not in ("stddef.h", "stdint.h"):
            yield f"include/wakewatt.h:{number}: {name}: the public header needs no other"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    allowed = table(root / "lib" / "README.md")
    if "base" not in allowed or allowed["base"]:
        sys.exit("layers: the table of lib/README.md cannot be read")
    bad = [*check_lib(root, allowed), *check_users(root)]
    for line in bad:
        print(line)
    count = len(list((root / "lib").glob("*/*.[ch]")))
    print(f"layers: {count} files, {len(bad)} wrong includes")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
