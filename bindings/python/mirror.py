#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the mirror of wakewatt.h that the package loads: mirror.py [--check]

_structs.py, _enums.py and _functions.py of the package hold what the header declares, in its
order and with its names, and nothing that a person typed. A test runs this with --check, and
compares every size and offset with a compiler's.
"""
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE.parents[1] / "include" / "wakewatt.h"

PLAIN = {"int": "c_int", "unsigned": "c_uint", "char": "c_char", "double": "c_double",
         "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64",
         "uint64_t": "c_uint64", "size_t": "c_size_t", "uint8_t": "c_uint8"}

# These give a negative number that is no error, or an error without a sentence of its own.
NO_ERROR = {"ww_trace_fd", "ww_plan_state"}
ERROR_WITHOUT_TEXT = {"ww_trace_wall", "ww_action_when", "ww_resume_kernel_time"}
HEAD = '# SPDX-License-Identifier: MIT\n"""{doc}\n\nMade from wakewatt.h by mirror.py.\n"""\n'


def read():
    text = re.sub(r"/\*.*?\*/", " ", HEADER.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"WW_PRINTF\([^)]*\)", "", text)
    macros = dict(re.findall(r"^#define (WW_\w+)[ \t]+(?:\\\n[ \t]*)?(\S[^\n]*)$", text, re.M))
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M), macros


def enums(text):
    """[(name, [(member, value)])], anonymous ones left out."""
    found = []
    for name, body in re.findall(r"enum (\w+) \{(.*?)\};", text, re.S):
        value, members, known = -1, [], {}
        for member in filter(None, (m.strip() for m in body.split(","))):
            key, _, given = (p.strip() for p in member.partition("="))
            value = (known[given] if given in known else int(given, 0)) if given else value + 1
            known[key] = value
            members.append((key, value))
        found.append((name, members))
    return found


def ctype(words, stars, structs):
    """ctypes' name of a type. Pointers to what the header does not open are c_void_p."""
    words = [w for w in words if w not in ("const", "struct", "enum")]
    base = words[-1]
    if base == "void":
        return "c_void_p" if stars == 1 else "POINTER(c_void_p)" if stars else "None"
    if base == "char" and stars:
        return "c_char_p" if stars == 1 else "POINTER(c_char_p)"
    if base in PLAIN:
        out = PLAIN[base]
    elif base in structs:
        out = base
    else:  # a handle: opaque
        return "c_void_p" if stars == 1 else "POINTER(c_void_p)"
    for _ in range(stars):
        out = f"POINTER({out})"
    return out


def declarator(text):
    """'const char *const *name[3]' -> (words, stars, name, arrays)"""
    arrays = re.findall(r"\[(\w*)\]", text)
    text = re.sub(r"\[\w*\]", "", text)
    stars = text.count("*")
    words = text.replace("*", " ").split()
    return words, stars, words[-1], arrays


def members(body, structs, constants):
    for statement in filter(None, (s.strip() for s in body.split(";"))):
        first, *rest = (p.strip() for p in statement.split(","))
        words, stars, name, arrays = declarator(first)
        base = words[:-1]
        entries = [(stars, name, arrays)]
        for part in rest:
            _, more, other, sizes = declarator(part)
            entries.append((more, other, sizes))
        for n, name, sizes in entries:
            kind = ctype(base, n, structs)
            for size in sizes:
                kind += f" * {constants.get(size, size)}"
            yield name, kind


def layout(head, items, tail, indent):
    """Items after a head, in lines of 96 columns; none is divided."""
    lines = [head]
    for i, item in enumerate(items):
        item += tail if i + 1 == len(items) else ","
        if len(lines[-1]) + len(item) + 1 > 96:
            lines.append(" " * indent + item)
        else:
            lines[-1] += ("" if lines[-1].endswith(("(", "[")) else " ") + item
    return "\n".join(lines)


def structs_py(text, structs, constants):
    out = [HEAD.format(doc="Structures, in the order and with the names of the header."),
           "from __future__ import annotations\n",
           "from ctypes import (POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int32, "
           "c_int64,\n                    c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)\n"]
    for name, body in structs.items():
        fields = [f'("{m}", {k})' for m, k in members(body, structs, constants)]
        out.append(f"\nclass {name}(Structure):\n"
                   + layout("    _fields_ = [", fields, "]\n", 16))
    out.append("\n" + layout("STRUCTURES = (", list(structs), ")\n", 14))
    return "\n".join(out)


def enums_py(found, macros):
    out = [HEAD.format(doc="Constants of the header."),
           "from __future__ import annotations\n",
           "from enum import IntEnum\n"]
    for name, entries in found:
        prefix = "_".join(common(e[0] for e in entries if e[0].startswith("WW_")))
        out.append(f"\nclass {name}(IntEnum):")
        for key, value in entries:
            short = key[len(prefix) + 1:] if prefix else key
            out.append(f"    {short if not short[0].isdigit() else '_' + short} = {value}")
        out.append("")
    out.append("")
    for key, value in macros.items():
        value = value.strip()
        if re.fullmatch(r'"[^"]*"|\d+', value):
            out.append(f"{key[3:]} = {value}")
    out.append("TIME_MIN = MISSING = -(2**63)\nTIME_MAX = 2**63 - 1\nOVER = MISSING + 1\n"
               "UNDER = MISSING + 2\nCODE_MIN = MISSING + 16\n")
    return "\n".join(out)


def common(names):
    """The leading words that all have."""
    split = [n.split("_") for n in names]
    if len(split) == 1:
        return split[0][:-1]
    out = []
    for words in zip(*split):
        if len(set(words)) != 1 or any(len(s) == len(out) + 1 for s in split):
            break
        out.append(words[0])
    return out


def argument_type(text, words, stars, structs):
    """Bytes go as bytes; text that is handed over keeps its address, to be freed."""
    if text.startswith("char **"):
        return "POINTER(c_void_p)"
    return "c_char_p" if "uint8_t" in words and stars == 1 else ctype(words, stars, structs)


def functions_py(text, structs):
    rows = []
    for result, name, inside in re.findall(
            r"WW_API\s+([^;(]*?)\b(ww_\w+)\s*\(([^;]*?)\)\s*;", text, re.S):
        words, stars = result.replace("*", " ").split(), result.count("*")
        arguments = []
        for argument in ([] if inside.strip() == "void" else inside.split(",")):
            argument = " ".join(argument.split())
            if argument == "struct ww_error *err":
                arguments.append("ERR")
                continue
            w, n, _, arrays = declarator(argument)
            arguments.append(argument_type(argument, w[:-1], n + len(arrays), structs))
        if name in NO_ERROR or not (stars == 0 and words[-1] in ("int", "int64_t")):
            kind = "PLAIN"
        elif arguments and arguments[-1] == "ERR" and name != "ww_error_clear":
            kind = "FALLIBLE"
        else:
            kind = "BARE" if name in ERROR_WITHOUT_TEXT else "PLAIN"
        items = arguments[:] or [""]
        items[0] = "[" + items[0]
        items[-1] += "]"
        rows.append(layout(f'    "{name}": (', [ctype(words, stars, structs), *items, kind], "),",
                           8))
    return "\n".join([
        HEAD.format(doc="Functions of the header: name -> (result, arguments, how it fails)."),
        "from __future__ import annotations\n",
        "from ctypes import (  # noqa: F401\n    POINTER, c_char_p, c_double, c_int, c_int32, "
        "c_int64, c_size_t, c_uint, c_uint8, c_uint32,\n    c_uint64, c_void_p)",
        "from typing import Any, Dict, List, Tuple\n",
        "from ._structs import (  # noqa: F401",
        textwrap.fill(", ".join(structs), 96, initial_indent="    ", subsequent_indent="    "),
        ")\n",
        "#: gives no error; gives a negative errno and a sentence; a negative errno alone",
        "PLAIN, FALLIBLE, BARE = range(3)",
        "ERR = POINTER(ww_error)\n",
        "FUNCTIONS: Dict[str, Tuple[Any, List[Any], int]] = {", *rows, "}\n"])


def main():
    text, macros = read()
    found = enums(text)
    constants = {m: str(v) for _, members_ in found for m, v in members_}
    constants.update({k: v for k, v in macros.items() if v.isdigit()})
    structs = dict(re.findall(r"^struct (ww_\w+) \{(.*?)\n\};", text, re.S | re.M))
    stale = []
    for name, body in (("_structs.py", structs_py(text, structs, constants)),
                       ("_enums.py", enums_py(found, macros)),
                       ("_functions.py", functions_py(text, structs))):
        path = HERE / "wakewatt" / name
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text(encoding="utf-8") != body:
                stale.append(name)
        else:
            path.write_text(body, encoding="utf-8")
    if stale:
        sys.exit(f"mirror: {', '.join(stale)} differ from wakewatt.h: run "
                 "bindings/python/mirror.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
