# SPDX-License-Identifier: MIT
"""A browser without a window, driven over a pipe (DevTools protocol). Python's library only."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
                if p), None)


class Browser:
    """One page at a time: `open`, `run` a script in it, `shot`."""

    def __init__(self, width=1400, height=900):
        self.dir = tempfile.mkdtemp(prefix="ww-browser-")
        to_r, self.to = os.pipe()
        self.out, from_w = os.pipe()
        self.log = open(os.path.join(self.dir, "log"), "wb")
        # The browser reads descriptor 3 and writes descriptor 4.
        self.p = subprocess.Popen(
            ["sh", "-c", "exec \"$@\" 3<&%d 4>&%d" % (to_r, from_w), "sh", PROGRAM, "--headless",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking",
             "--user-data-dir=" + os.path.join(self.dir, "profile"), "--remote-debugging-pipe",
             "--window-size=%d,%d" % (width, height), "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, pass_fds=(to_r, from_w),
            start_new_session=True)
        os.close(to_r)
        os.close(from_w)
        self.number, self.buffer, self.events = 0, b"", []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"]
                      if t["type"] == "page")
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.out], [], [], left)[0]:
                raise AssertionError("the browser does not answer")
            data = os.read(self.out, 1 << 20)
            if not data:
                raise AssertionError("the browser ended")
            self.buffer += data
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        m = {"id": self.number, "method": method, "params": params}
        if getattr(self, "session", None):
            m["sessionId"] = self.session
        data = json.dumps(m).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.monotonic() + 30
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def go(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 30
        # What was there before may answer for a moment.
        while self.run("location.href + ' ' + document.readyState") != url + " complete":
            if time.monotonic() > deadline:
                raise AssertionError("%s does not load" % url)
            time.sleep(.005)

    def open(self, path, fragment=""):
        """Load a file anew and wait until it is there; another fragment alone would not load it."""
        self.go("about:blank")
        self.go("file://" + path + fragment)

    def run(self, script):
        """The value of an expression; promises are waited for."""
        r = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                      awaitPromise=True)
        if "exceptionDetails" in r:
            raise AssertionError(r["exceptionDetails"].get("exception", {}).get("description")
                                 or r["exceptionDetails"]["text"])
        return r["result"].get("value")

    def frame(self):
        """Wait until what was asked for is drawn."""
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=phone)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def scripts(self, on):
        self.call("Emulation.setScriptExecutionDisabled", value=not on)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", type=kind,
                  touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])

    def key(self, name):
        text = name if len(name) == 1 else None
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def complaints(self):
        """What the console and the log said, and what was asked of a network."""
        out = []
        for e in self.events:
            p = e.get("params", {})
            if e["method"] == "Runtime.exceptionThrown":
                out.append(str(p["exceptionDetails"].get("exception", {}).get("description")))
            elif e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning"):
                out.append(json.dumps(p["args"]))
            elif e["method"] == "Log.entryAdded":
                out.append(p["entry"]["text"])
            elif e["method"] == "Network.requestWillBeSent" and \
                    not p["request"]["url"].startswith("file://"):
                out.append("asked for " + p["request"]["url"])
        return out

    def shot(self, path, whole=False):
        r = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(r["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.p.wait(5)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            os.killpg(self.p.pid, signal.SIGKILL)
            self.p.wait()
        os.close(self.to)
        os.close(self.out)
        self.log.close()
        shutil.rmtree(self.dir, True)
