# SPDX-License-Identifier: MIT
"""What the tests of the programs share."""
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("WW_BUILD", os.path.join(ROOT, "build")))


def tool(name):
    return os.path.join(BUILD, "bin", name)


def run(*args, stdin=None, timeout=60, **kw):
    """Run a program; its name is looked up in the build. Gives (exit, stdout, stderr)."""
    p = subprocess.run([tool(args[0]), *args[1:]], input=stdin, capture_output=True,
                       timeout=timeout, check=False,
                       stdin=subprocess.DEVNULL if stdin is None else None, **kw)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def js(*args, **kw):
    code, out, err = run(*args, **kw)
    assert code == 0, (code, err)
    return json.loads(out)


def wait_for(what, seconds=20.0):
    """Poll until what() is true; its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("nothing in %s s" % seconds)


class Terminal:
    """A program on a pseudo-terminal: what it shows, and keys typed to it."""

    def __init__(self, *args, columns=0, **kw):
        self.master, slave = pty.openpty()
        self.mode = termios.tcgetattr(slave)
        if columns:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        fcntl.fcntl(self.master, fcntl.F_SETFL, os.O_NONBLOCK)
        self.p = subprocess.Popen([tool(args[0]), *args[1:]], stdin=slave, stdout=slave,
                                  stderr=slave, start_new_session=True,
                                  preexec_fn=lambda: fcntl.ioctl(0, 0x540E, 0), **kw)
        os.close(slave)
        self.text = ""

    def read(self):
        try:
            while select.select([self.master], [], [], 0)[0]:
                data = os.read(self.master, 65536)
                if not data:
                    break
                self.text += data.decode(errors="replace")
        except OSError:
            pass
        return self.text

    def wait(self, text, seconds=20.0):
        try:
            wait_for(lambda: text in self.read(), seconds)
        except AssertionError:
            raise AssertionError("no %r in %r" % (text, self.text)) from None

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self, seconds=20.0):
        wait_for(lambda: (self.read(), self.p.poll() is not None)[1], seconds)
        self.read()
        self.restored = termios.tcgetattr(self.master) == self.mode
        os.close(self.master)
        return self.p.returncode

    def kill(self):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGKILL)
            self.p.wait()


class Case(unittest.TestCase):
    """A test with a folder of its own."""
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ww-cli-")
        self.addCleanup(shutil.rmtree, self.dir, True)

    def path(self, name):
        return os.path.join(self.dir, name)
