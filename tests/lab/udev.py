# SPDX-License-Identifier: MIT
"""systemd's udevd of this Debian for a guest: the real one, so that rules are tried as they
are. Unpacked into the cache, never installed."""
import glob
import os
import subprocess

from image import LabError, TOP, unpack

RULES = ("50-udev-default.rules", "73-seat-late.rules")


def files():
    """name in the guest -> path here; LabError where there is none that runs here."""
    udev, systemd = unpack("udev"), unpack("systemd")
    program = os.path.join(udev, "bin", "udevadm")
    if not os.path.exists(program):
        program = os.path.join(udev, "usr", "bin", "udevadm")
    said = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    if not said or "not found" in said:
        raise LabError("udevadm does not run here: " + said)
    found = {"bin/udevadm": program}
    for name in RULES:
        paths = [p for d in (udev, systemd)
                 for p in glob.glob(os.path.join(d, "**", "rules.d", name), recursive=True)]
        if not paths:
            raise LabError("no " + name)
        found["lib/udev/rules.d/" + name] = paths[0]
    found["lib/udev/rules.d/60-wakewatt.rules"] = os.path.join(
        TOP, "lib", "bus", "60-wakewatt.rules")
    return found


# A seat at which user 1000 sits, as logind would tell. The daemon has a name of its own: it
# is one program with udevadm.
START = "; ".join((
    "mkdir -p /run/udev /run/systemd/seats /etc /lib/systemd",
    r"printf 'root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/:/bin/sh\n' > /etc/passwd",
    r"printf 'root:x:0:\nuser:x:1000:\ntty:x:5:\ndialout:x:20:\nplugdev:x:46:\n' > /etc/group",
    r"printf 'IS_SEAT0=1\nACTIVE=c1\nACTIVE_UID=1000\n' > /run/systemd/seats/seat0",
    "ln -sf /bin/udevadm /lib/systemd/systemd-udevd",
    "/lib/systemd/systemd-udevd --daemon --resolve-names=never > /tmp/udevd.log 2>&1",
    "udevadm trigger --action=add",
    "udevadm settle --timeout=20"))
