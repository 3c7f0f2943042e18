"""browser.py: a page in Chromium without a window, driven over the DevTools protocol, with a profile of its own"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from checks import at
from live_support import PATIENCE

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-breakpad",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--remote-debugging-pipe"]


def pipe():
    """Returns the two ends of a pipe. Their numbers are not 3 or 4, which Chromium uses."""
    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10))
        os.close(end)
    return ends


class Browser:
    """A page of a file. `errors` has the errors of its scripts, of its console and of its requests."""

    def __init__(self, path, width=1280, height=900):
        home = tempfile.mkdtemp(dir=at())
        self.errors, self.number, self.session, self.rest, self.seen = [], 0, None, b"", []
        commands, self.to = pipe()
        self.answers, answers = pipe()

        def numbers():
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        env = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": home}
        self.process = subprocess.Popen([CHROMIUM, *ARGUMENTS, "--user-data-dir=" + home, "about:blank"], env=env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=(3, 4),
                                        stderr=subprocess.DEVNULL, preexec_fn=numbers)
        os.close(commands)
        os.close(answers)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.ask(domain + ".enable")
        self.resize(width, height)
        self.ask("Page.navigate", url="file://" + path)
        self.wait("Page.loadEventFired")

    def line(self):
        """Returns the next message of the browser."""
        end = time.monotonic() + 60 * PATIENCE
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], max(end - time.monotonic(), 0))[0]:
                raise AssertionError("Chromium sends nothing")
            more = os.read(self.answers, 1 << 16)
            if not more:
                raise AssertionError("Chromium ended with status %s" % self.process.wait(timeout=60))
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(text)
        method, values = message.get("method"), message.get("params", {})
        self.seen += [method] if method else []
        if method == "Runtime.exceptionThrown" or (method == "Log.entryAdded" and
                                                   values["entry"]["level"] in ("error", "warning")) or (
                method == "Runtime.consoleAPICalled" and values["type"] in ("error", "assert", "warning")):
            self.errors.append(values)
        return message

    def wait(self, method):
        while method not in self.seen:
            self.line()

    def ask(self, method, **values):
        """Sends a command. Returns its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": values}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while (message := self.line()).get("id") != self.number:
            pass
        if "error" in message:
            raise AssertionError("%s: %s" % (method, message["error"]))
        return message["result"]

    def value(self, expression):
        """Returns the value of an expression in the page, after the next frame."""
        frame = "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(%s))))" % expression
        found = self.ask("Runtime.evaluate", expression=frame, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise AssertionError("%s: %s" % (expression, found["exceptionDetails"]))
        return found["result"].get("value")

    def resize(self, width, height, mobile=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def picture(self):
        """Returns the whole page as a PNG file."""
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def pdf(self):
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self.session = None
        try:
            self.ask("Browser.close")
        except (AssertionError, BrokenPipeError):  # it may end before it answers
            pass
        os.close(self.to)
        try:
            self.process.wait(timeout=30 * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
