# SPDX-License-Identifier: MIT
"""Makes the wheel: pip's hooks (PEP 517, PEP 660), by the standard library and `make` alone.

The library is built by the project's Makefile in a directory of its own and laid beside the
package. Nothing is left in the checkout. What libwakewatt itself uses (libusb, libftdi,
libgpiod, libcurl, ...) is linked dynamically and never copied: it stays replaceable.

Environment: the Makefile's variables (CC, CFLAGS, WITH_USB=0, ...), and WAKEWATT_BUILD, a
directory of `make B=` to build in and keep.
"""
import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SONAME = "libwakewatt.so.0"
METADATA = """\
Metadata-Version: 2.1
Name: wakewatt
Version: {version}
Summary: Watts of a machine and its way through suspend-to-RAM, read from traces
License: MIT
License-File: LICENSE
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: System :: Hardware
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Provides-Extra: notebook
Requires-Dist: numpy; extra == "notebook"
Requires-Dist: pandas; extra == "notebook"
Requires-Dist: xarray; extra == "notebook"
Requires-Dist: matplotlib; extra == "notebook"
Requires-Dist: pyarrow; extra == "notebook"
Description-Content-Type: text/markdown

{readme}"""


def _read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def _top():
    """The directory of the Makefile: this one in an archive of sources, else the checkout's."""
    for top in (HERE, os.path.dirname(os.path.dirname(HERE))):
        if os.path.exists(os.path.join(top, "include", "wakewatt.h")):
            return top
    sys.exit("wakewatt: the sources of libwakewatt are not here; build from the whole checkout: "
             "pip install CHECKOUT/bindings/python")


def _version():
    return re.search(r"^VERSION := (\S+)$", _read(_top(), "Makefile"), re.M).group(1)


def _metadata():
    return METADATA.format(version=_version(), readme=_read(HERE, "README.md")).encode()


def _package():
    """[(name in the archive, path)]"""
    folder = os.path.join(HERE, "wakewatt")
    return [(f"wakewatt/{n}", os.path.join(folder, n)) for n in sorted(os.listdir(folder))
            if n.endswith(".py") or n == "py.typed"]


# --- the library


def _run(*command):
    """Exit status; 127 as in a shell where there is no such program."""
    try:
        return subprocess.run(command, check=False).returncode
    except FileNotFoundError:
        return 127


def _make(build):
    """Builds it; gives its path. Ends with the compiler's words and what to install."""
    made = os.path.join(build, "lib", f"libwakewatt.so.{_version()}")
    wrong = ""
    for package in ("sqlite3", "libzstd"):
        if _run(os.environ.get("PKGCONF", "pkg-config"), "--exists", package):
            wrong = f"pkg-config does not know {package}"
    if not wrong and _run("make", "--no-print-directory", "-C", _top(),
                          f"-j{os.cpu_count() or 1}", f"B={build}", made):
        wrong = "make failed"
    if wrong:
        sys.exit(f"wakewatt: libwakewatt was not built: {wrong}. It is made by make, a C compiler, "
                 "pkg-config, and the development packages that\n"
                 f"    sh {os.path.join(_top(), 'tests', 'deps.sh')} build\n"
                 "installs on Debian; SQLite and zstd are always needed.")
    return made


def _library():
    """The library's bytes, without what only a debugger reads."""
    with tempfile.TemporaryDirectory(prefix="wakewatt-wheel-") as temporary:
        made = _make(os.path.abspath(os.environ.get("WAKEWATT_BUILD") or
                                     os.path.join(temporary, "build")))
        copy = os.path.join(temporary, SONAME)
        shutil.copyfile(made, copy)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        with open(copy, "rb") as f:
            return f.read()


# --- archives


def _moment():
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800)


class _Wheel:
    def __init__(self, directory, tag):
        self.version, self.tag = _version(), tag
        self.name = f"wakewatt-{self.version}-{tag}.whl"
        self.info = f"wakewatt-{self.version}.dist-info"
        self.zip = zipfile.ZipFile(os.path.join(directory, self.name), "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, time.gmtime(_moment())[:6])
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self):
        pure = "true" if self.tag.endswith("any") else "false"
        self.add(f"{self.info}/METADATA", _metadata())
        self.add(f"{self.info}/LICENSE", _read(_top(), "LICENSE").encode())
        self.add(f"{self.info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: wakewatt {self.version}\n"
                                        f"Root-Is-Purelib: {pure}\nTag: {self.tag}\n").encode())
        record = f"{self.info}/RECORD"
        self.add(record, ("".join(self.record) + f"{record},,\n").encode())
        self.zip.close()
        return self.name


def _tag():
    """Any Python 3 on this platform: nothing is compiled against Python."""
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


# --- hooks


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = _library()
    wheel = _Wheel(wheel_directory, _tag())
    for name, path in _package():
        with open(path, "rb") as f:
            wheel.add(name, f.read())
    wheel.add(f"wakewatt/{SONAME}", library, 0o755)
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The checkout itself, with the library of its build/lib: `make` it there."""
    wheel = _Wheel(wheel_directory, "py3-none-any")
    wheel.add("wakewatt.pth", f"{HERE}\n".encode())
    return wheel.close()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = f"wakewatt-{_version()}.dist-info"
    os.mkdir(os.path.join(metadata_directory, info))
    with open(os.path.join(metadata_directory, info, "METADATA"), "wb") as f:
        f.write(_metadata())
    return info


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory, config_settings=None):
    """The package and the sources of the library: a wheel can be built of it."""
    top, base = _top(), f"wakewatt-{_version()}"
    files = _package() + [(n, os.path.join(HERE, n)) for n in
                          ("pyproject.toml", "backend.py", "README.md")]
    files += [(n, os.path.join(top, n)) for n in ("Makefile", "LICENSE", "tests/deps.sh")]
    for part in ("include", "lib"):
        for folder, _, names in sorted(os.walk(os.path.join(top, part))):
            files += [(os.path.relpath(os.path.join(folder, n), top), os.path.join(folder, n))
                      for n in sorted(names) if not n.startswith(".")]
    name = f"{base}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as tar:
        def add(inside, data, mode=0o644):
            entry = tarfile.TarInfo(f"{base}/{inside}")
            entry.size, entry.mode, entry.mtime = len(data), mode, _moment()
            tar.addfile(entry, io.BytesIO(data))

        add("PKG-INFO", _metadata())
        for inside, path in files:
            with open(path, "rb") as f:
                add(inside, f.read(), 0o755 if inside.endswith(".sh") else 0o644)
    return name
