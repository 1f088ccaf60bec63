# SPDX-License-Identifier: MIT
"""The DUT's kernel and initramfs, and the lab's own small programs.

The stock kernel of this Debian is downloaded and unpacked into a cache, never
installed; what is built goes below build/lab.
"""
import contextlib
import fcntl
import glob
import gzip
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("WW_BUILD", os.path.join(TOP, "build")))
OUT = os.path.join(BUILD, "lab")
CACHE = os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "wakewatt")
VHCI = ("drivers/usb/common/usb-common", "drivers/usb/core/usbcore",
        "drivers/usb/usbip/usbip-core", "drivers/usb/usbip/vhci-hcd")


class LabError(Exception):
    pass


def say(text):
    print("lab: " + text, file=sys.stderr, flush=True)


def need(program, package):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if not path:
        raise LabError(f"{program} is missing: apt-get install {package}")
    return path


def with_fresh_lists(attempt):
    """attempt(), and again after apt-get update where that may be done."""
    found = attempt()
    if not found and os.getuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], capture_output=True)
        found = attempt()
    return found


def depends(name, pattern):
    """First dependency of a package that matches."""
    text = subprocess.run(["apt-cache", "depends", name], capture_output=True, text=True).stdout
    return re.findall(r"Depends: (" + pattern + ")", text)


def package(name, pattern):
    """The package that a meta package of this Debian stands for, or one that it needs."""
    found = with_fresh_lists(lambda: depends(name, pattern))
    if not found:
        raise LabError(f"apt knows no {name}: is this Debian, and was apt-get update run?")
    return found[0]


@contextlib.contextmanager
def fetching():
    """One at a time: apt's lists and the cache are everybody's."""
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def unpack(name):
    """Download a package into the cache and unpack it there; nothing is installed."""
    place = os.path.join(CACHE, name)
    if os.path.isdir(place):
        return place
    with fetching():
        return place if os.path.isdir(place) else fetch(name, place)


def fetch(name, place):
    work = f"{place}.{os.getpid()}"
    os.makedirs(work)
    say(f"fetching {name}")
    said = []

    def download():
        p = subprocess.run(["apt-get", "download", "-qq", name], cwd=work, capture_output=True,
                           text=True)
        said.append(p.stderr.strip())
        return glob.glob(os.path.join(work, "*.deb"))

    debs = with_fresh_lists(download)
    if not debs:
        shutil.rmtree(work)
        raise LabError(f"apt-get download {name}: {said[-1]}")
    subprocess.run(["dpkg", "-x", debs[0], os.path.join(work, "root")], check=True)
    os.unlink(debs[0])
    # Newer packages name /usr/lib, where /lib points to.
    if not os.path.exists(os.path.join(work, "root", "lib")):
        os.symlink("usr/lib", os.path.join(work, "root", "lib"))
    os.rename(os.path.join(work, "root"), place)
    shutil.rmtree(work)
    return place


def kernel():
    """Newest kernel in the cache, else that of this Debian. -> (release, folder)"""
    have = sorted(glob.glob(os.path.join(CACHE, "linux-image-*", "boot", "vmlinuz-*")))
    if not have:
        unpack(package("linux-image-amd64", r"linux-image-\S+"))
        have = sorted(glob.glob(os.path.join(CACHE, "linux-image-*", "boot", "vmlinuz-*")))
    boot = os.path.dirname(have[-1])
    return os.path.basename(have[-1])[len("vmlinuz-"):], os.path.dirname(boot)


def newer(target, *sources):
    return os.path.exists(target) and all(
        os.path.getmtime(target) >= os.path.getmtime(s) for s in sources)


def compile_c(source, target, *flags, cc="cc", more=()):
    """more: further sources, and headers"""
    files = [os.path.join(HERE, f) for f in (source, *more)]
    if not newer(target, *files):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        part = f"{target}.{os.getpid()}"
        subprocess.run([cc, "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", *flags, "-o", part,
                        *(f for f in files if f.endswith(".c"))], check=True)
        os.rename(part, target)
    return target


def relay_program():
    return compile_c("relay.c", os.path.join(OUT, "relay"))


def qmp_program():
    return compile_c("qmp.c", os.path.join(OUT, "qmp"))


def ttybeat():
    target = os.path.join(BUILD, "static", "ttybeat-x86_64")
    source = os.path.join(TOP, "tools", "ttybeat.c")
    if not newer(target, source):
        need("musl-gcc", "musl-tools")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        subprocess.run(["musl-gcc", "-std=c99", "-D_GNU_SOURCE", "-Os", "-s", "-static", "-o",
                        target, source], check=True)
    return target


def headers_tree(work):
    """The kernel's headers from the cache, put together in a folder. -> where to make"""
    release, _ = kernel()
    headers = unpack(f"linux-headers-{release}")
    arch_dir = os.path.join(headers, "usr/src", f"linux-headers-{release}")
    common = package(f"linux-headers-{release}", r"linux-headers-\S+-common")
    kbuild = package(f"linux-headers-{release}", r"linux-kbuild-\S+")
    common_dir = os.path.join(unpack(common), "usr/src", common)
    kbuild_dir = glob.glob(os.path.join(unpack(kbuild), "usr/lib/linux-kbuild-*"))[0]
    # The headers name each other by where they would be installed.
    shutil.copytree(arch_dir, os.path.join(work, "arch"), symlinks=True)
    for folder in ("scripts", "tools"):
        link = os.path.join(work, "arch", folder)
        if os.path.islink(link):
            os.unlink(link)
            os.symlink(os.path.join(kbuild_dir, folder), link)
    tree = os.path.join(work, "common")
    os.makedirs(tree)
    for name in os.listdir(common_dir):
        if name not in ("scripts", "tools"):
            os.symlink(os.path.join(common_dir, name), os.path.join(tree, name))
    for folder in ("scripts", "tools"):
        os.symlink(os.path.join(kbuild_dir, folder), os.path.join(tree, folder))
    makefile = os.path.join(work, "arch", "Makefile")
    with open(makefile) as f:
        text = re.sub(r"/usr/src/linux-headers-\S+-common", tree, f.read())
    with open(makefile, "w") as f:
        f.write(text)
    return os.path.join(work, "arch")


def build_module(name, makefile, sources):
    """NAME.ko of the kernel in the cache, from source files. -> its path"""
    target = os.path.join(OUT, f"{name}-{kernel()[0]}.ko")
    if newer(target, *sources):
        return target
    work = os.path.join(OUT, name)
    shutil.rmtree(work, ignore_errors=True)
    module = os.path.join(work, "module")
    os.makedirs(module)
    for source in sources:
        shutil.copy(source, module)
    with open(os.path.join(module, "Makefile"), "w") as f:
        f.write(makefile)
    # Newer kernels would have pahole add type information (BTF).
    made = subprocess.run(["make", "-C", headers_tree(work), "M=" + module,
                           "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"],
                          capture_output=True, text=True)
    if made.returncode:
        raise LabError(f"{name}.ko does not build:\n" + made.stdout + made.stderr)
    shutil.copy(os.path.join(module, name + ".ko"), target)
    shutil.rmtree(work)
    return target


def late_thaw_module():
    return build_module("latethaw", "obj-m := latethaw.o\n", [os.path.join(HERE, "latethaw.c")])


def cpio_entry(name, mode, data, ino):
    """newc format, by hand: the order and the owners are ours."""
    name = name.encode() + b"\0"
    fields = (ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % v for v in fields) + name
    head += b"\0" * (-len(head) % 4)
    return head + data + b"\0" * (-len(data) % 4)


def module_bytes(path):
    """Unpacked: busybox's insmod takes none that is compressed."""
    with lzma.open(path) if path.endswith(".xz") else open(path, "rb") as f:
        return f.read()


def image(late_thaw=False):
    """Path of the initramfs, built if something in it is newer."""
    release, folder = kernel()
    files = {"init": os.path.join(HERE, "init.sh"), "bin/ttybeat": ttybeat(),
             "bin/busyusb": compile_c("busyusb.c", os.path.join(OUT, "busyusb"), "-static", "-s"),
             "bin/busybox": need("busybox", "busybox-static"),
             "bin/rtcwake": need("rtcwake", "util-linux")}
    libs = subprocess.run(["ldd", files["bin/rtcwake"]], capture_output=True, text=True).stdout
    for lib in re.findall(r"(/\S+) \(", libs):
        files[lib.lstrip("/")] = os.path.realpath(lib)
    for module in VHCI:
        path = os.path.join(folder, "lib/modules", release, "kernel", module + ".ko")
        files["modules/" + os.path.basename(module) + ".ko"] = (
            path if os.path.exists(path) else path + ".xz")
    if late_thaw:
        files["modules/latethaw.ko"] = late_thaw_module()
    target = os.path.join(OUT, f"initramfs-{release}{'-late' if late_thaw else ''}.gz")
    if newer(target, __file__, *files.values()):
        return target
    folders = {"dev"}
    for name in files:
        parts = name.split("/")
        folders.update("/".join(parts[:i]) for i in range(1, len(parts)))
    out, ino = [], 1
    for name in sorted(folders):
        out.append(cpio_entry(name, stat.S_IFDIR | 0o755, b"", ino))
        ino += 1
    for name, path in sorted(files.items()):
        out.append(cpio_entry(name, stat.S_IFREG | 0o755, module_bytes(path), ino))
        ino += 1
    out.append(cpio_entry("TRAILER!!!", 0, b"", 0))
    os.makedirs(OUT, exist_ok=True)
    with gzip.open(f"{target}.{os.getpid()}", "wb", compresslevel=1) as f:
        f.write(b"".join(out))
    os.rename(f"{target}.{os.getpid()}", target)
    return target
