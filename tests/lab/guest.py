# SPDX-License-Identifier: MIT
"""A recording machine in a virtual machine: our programs on a stock kernel.

For buses that the machine running the tests lacks. Its root is an initramfs with the
programs, the libraries that they were linked to, and the modules asked for; its first
serial port takes commands, as a DUT's does.
"""
import base64
import gzip
import os
import re
import shutil
import stat
import subprocess

import lab
from image import (BUILD, CACHE, build_module, cpio_entry, fetching, kernel, module_bytes, need, say,
                   with_fresh_lists)

PROGRAMS = ("pwrlog", "resumetime", "wwtrace")

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox --install -s /bin
export PATH=/bin:/sbin LD_LIBRARY_PATH=/lib HOME=/
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/pts; mount -t devpts devpts /dev/pts
for m in $(cat /modules/order); do insmod /modules/$m; done
echo 1 > /proc/sys/kernel/printk
exec < /dev/ttyS0 > /dev/ttyS0 2>&1
stty -echo -onlcr -icrnl
while IFS= read -r line; do
	sh -c "$line"
done
"""


def with_sbin():
    return dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")


def module_order(wanted):
    """Files of the modules and of what they depend on, in the order of loading."""
    release, folder = kernel()
    files, order = {}, []
    for root, _, names in os.walk(os.path.join(folder, "lib/modules", release)):
        for n in names:
            if n.endswith((".ko", ".ko.xz")):
                files[n.split(".ko")[0].replace("-", "_")] = os.path.join(root, n)

    def add(name):
        path = name if os.path.isabs(name) else files.get(name.replace("-", "_"))
        if not path or path in order:
            return  # built in
        deps = subprocess.run(["modinfo", "-F", "depends", path], capture_output=True, text=True,
                              check=True, env=with_sbin()).stdout.strip()
        for d in filter(None, deps.split(",")):
            add(d)
        order.append(path)
    for m in wanted:
        add(m)
    return order


def libraries(programs):
    found = {}
    for p in programs:
        out = subprocess.run(["ldd", p], capture_output=True, text=True, check=False).stdout
        for name in re.findall(r"(/\S+) \(", out):
            found["lib/" + os.path.basename(name)] = os.path.realpath(name)
            if "ld-linux" in name:
                found[name.lstrip("/")] = os.path.realpath(name)
    return found


def make_image(target, init, modules, programs, more=()):
    """programs: name in /bin -> path. modules: names, or paths of built ones. more: further
    files, name -> path."""
    data = {"init": init.encode()}
    order = [(os.path.basename(p).split(".ko")[0] + ".ko", p) for p in module_order(modules)]
    for name, path in order:
        data["modules/" + name] = module_bytes(path)
    data["modules/order"] = "\n".join(name for name, _ in order).encode()
    files = {"bin/" + name: path for name, path in programs.items()}
    files["bin/busybox"] = need("busybox", "busybox-static")
    files.update(libraries(programs.values()))
    files.update(more)
    for name, path in files.items():
        with open(path, "rb") as f:
            data[name] = f.read()
    folders = {"dev"}
    for name in data:
        parts = name.split("/")
        folders.update("/".join(parts[:i]) for i in range(1, len(parts)))
    entries = ([(n, stat.S_IFDIR | 0o755, b"") for n in sorted(folders)]
               + [(n, stat.S_IFREG | 0o755, d) for n, d in sorted(data.items())]
               + [("TRAILER!!!", 0, b"")])
    with open(target, "wb") as f:
        for ino, entry in enumerate(entries, 1):
            f.write(cpio_entry(*entry, ino))


def kernel_sources(name, files):
    """Files of the kernel's source, of modules that Debian does not build, in the cache. ->
    their paths"""
    version = ".".join(kernel()[0].split(".")[:2])
    place = os.path.join(CACHE, f"{name}-{version}")
    top = "linux-source-" + version
    names = [f"{top}/{n}" for n in files]
    with fetching():
        if not os.path.isdir(place):
            fetch_sources(top, place, names)
    return [os.path.join(place, n) for n in names]


def fetch_sources(top, place, names):
    say("fetching " + top)
    work = f"{place}.{os.getpid()}"
    os.makedirs(work)

    def download():
        subprocess.run(["apt-get", "download", "-qq", top], cwd=work, capture_output=True)
        return [n for n in os.listdir(work) if n.endswith(".deb")]
    if not with_fresh_lists(download):
        raise lab.LabError(f"apt-get download {top} fails")
    # The archive is read no further than to the last of the files.
    subprocess.run(f"dpkg --fsys-tarfile *.deb | tar -xO --wildcards '*/{top}.tar.xz' "
                   f"| xz -dc | tar -x --occurrence=1 {' '.join(names)}; rm -f *.deb",
                   shell=True, cwd=work, stderr=subprocess.DEVNULL)
    os.rename(work, place)


def gpio_sim_module():
    sim, lib, irq = kernel_sources("gpio-sim", ("drivers/gpio/gpio-sim.c",
                                                "drivers/gpio/gpiolib.h",
                                                "kernel/irq/irq_sim.c"))
    # The function that it calls is not exported to modules; this says the same.
    edited = os.path.join(os.path.dirname(irq), "irq_sim_module.c")
    with open(irq) as f:
        text = f.read().replace("irq_to_desc(irqnum)",
                                "irq_data_to_desc(irq_get_irq_data(irqnum))")
    if not os.path.exists(edited):
        with open(edited, "w") as f:
            f.write(text)
    return build_module("gpio_simulator", "obj-m := gpio_simulator.o\n"
                        "gpio_simulator-y := gpio-sim.o irq_sim_module.o\n", [sim, lib, edited])


class Guest(lab.Dut):
    """Only its shell is a DUT's: start(), run(), check(), stop()."""

    def __init__(self, folder, modules, programs, cpu="max", more=()):
        super().__init__(folder)
        self.more = more
        self.cpu = cpu
        self.modules = modules
        self.programs = dict({p: os.path.join(BUILD, "bin", p) for p in PROGRAMS}, **programs)

    def start(self, timeout=90, serials=(), devices=()):
        """serials: QEMU's chardevs of /dev/ttyS1 and so on; devices: more of its options."""
        release, kern = kernel()
        qemu = need("qemu-system-x86_64", "qemu-system-x86")
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        make_image(self.path("guest.cpio"), INIT, self.modules, self.programs,
                   self.more)
        self._spawn("qemu", [
            qemu, "-machine", "pc", "-accel", os.environ.get("LAB_ACCEL", "tcg"),
            "-cpu", self.cpu, "-m", "384", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none",
            "-no-reboot", "-kernel", os.path.join(kern, "boot", "vmlinuz-" + release),
            "-initrd", self.path("guest.cpio"),
            "-append", "console=ttyS0,115200 quiet panic=-1",
            "-chardev", f"socket,id=con,path={self.path('console.sock')},server=on,wait=off",
            "-serial", "chardev:con",
            *(arg for i, s in enumerate(serials, 1)
              for arg in ("-chardev", f"socket,id=s{i},{s}", "-serial", f"chardev:s{i}")),
            *devices])
        self.wait_ready(timeout)

    def fetch(self, path):
        """Bring a file of the guest here. -> its path"""
        text = self.check(f"gzip -c {path} | base64", 60)
        target = self.path(os.path.basename(path))
        with open(target, "wb") as f:
            f.write(gzip.decompress(base64.b64decode(text)))
        return target

    def record(self, name, command):
        """Start a recorder in the guest, onto /tmp/NAME.wwt."""
        self.check(f"rm -f /tmp/{name}.*; {command} -o /tmp/{name}.wwt < /dev/null "
                   f"> /tmp/{name}.out 2>&1 & echo $! > /tmp/{name}.pid")

    def end(self, name, timeout=20):
        """End it. -> (path of its trace here, what it printed)"""
        self.check(f"kill -INT $(cat /tmp/{name}.pid) 2> /dev/null; true")
        self.wait_for(f"[ ! -d /proc/$(cat /tmp/{name}.pid) ]", f"end of {name}", timeout)
        return self.fetch(f"/tmp/{name}.wwt"), self.check(f"cat /tmp/{name}.out")

    def wait_for(self, condition, what, timeout=20):
        """Until a shell condition in the guest holds."""
        code, out = self.run(f"i=0; until {condition}; do [ $i -lt {10 * timeout} ] || exit 1; "
                             "usleep 100000; i=$((i+1)); done", timeout + 20)
        if code:
            raise lab.LabError(f"no {what} in {timeout} s: {out}")
