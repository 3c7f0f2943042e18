"""pipewire_support.py: a PipeWire daemon for one check, with cameras of known bytes

The script's first arguments are MONOCLE and PROVIDER (pipewire_provider.c).
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time

from checks import at, skip
from live_support import PATIENCE, run

MONOCLE, PROVIDER = (os.path.abspath(name) for name in sys.argv[1:3])


def need_servers():
    """Skips the test if a server is missing."""
    for name in ("dbus-daemon", "pipewire", "wireplumber"):
        if not shutil.which(name):
            skip("%s is not installed" % name)


class Daemon:
    """dbus, pipewire and wireplumber in the directory of the running check. `root`: of pipewire and wireplumber."""

    def __init__(self, root=None):
        self.prefix = ["chroot", root] if root else []
        self.runtime = at("run")
        os.makedirs(self.runtime, mode=0o700, exist_ok=True)
        bus = "unix:path=" + os.path.join(self.runtime, "bus")
        self.env = {"XDG_RUNTIME_DIR": self.runtime, "HOME": at("home"), "XDG_CONFIG_HOME": at("config"),
                    "DBUS_SESSION_BUS_ADDRESS": bus}
        self.providers = []
        self.bus = self.spawn("dbus-daemon", "--session", "--address=" + bus, "--nofork", "--nopidfile")
        self.servers = []
        self.start()

    def spawn(self, *command):
        return subprocess.Popen(command, env={**os.environ, **self.env}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self.runtime, "pipewire-0"))  # of a killed daemon
        self.servers = [self.spawn(*self.prefix, "pipewire")]
        deadline = time.monotonic() + 10 * PATIENCE
        while not os.path.exists(os.path.join(self.runtime, "pipewire-0")) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.servers.append(self.spawn(*self.prefix, "wireplumber"))

    def stop(self, processes):
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()

    def kill(self):
        """Kills the servers."""
        self.stop(self.servers)

    def provide(self, name, pixels="nv12", size="64x48", rate="30", *more):
        """Starts a camera, and waits until it is listed."""
        process = self.spawn(PROVIDER, name, pixels, size, rate, *more)
        self.providers.append(process)
        deadline = time.monotonic() + 10 * PATIENCE
        while not any(node["id"] == name for node in self.cameras()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return process

    def cameras(self):
        text = run(MONOCLE, "cameras", "--json", **self.env)[1]
        return json.loads(text or "[]")

    def serial(self, name, other=None):
        """Returns the serial number of a camera, which is not `other`, when it is listed."""
        deadline = time.monotonic() + 10 * PATIENCE
        while time.monotonic() < deadline:
            found = [node["node"].split(":")[1] for node in self.cameras() if node["id"] == name]
            if found and found[0] != other:
                return found[0]
            time.sleep(0.1)
        raise AssertionError("there is no camera %s" % name)

    def destroy(self, name):
        """Makes the daemon remove a node."""
        def ask(*command):
            return subprocess.run(command, env={**os.environ, **self.env}, stdout=subprocess.PIPE, check=True).stdout

        node = [item["id"] for item in json.loads(ask("pw-dump"))
                if item.get("info", {}).get("props", {}).get("node.name") == name]
        ask("pw-cli", "destroy", str(node[0]))

    def remove(self, process):
        self.stop([process])
        self.providers.remove(process)

    def close(self):
        self.stop(self.providers + self.servers + [self.bus])


@contextlib.contextmanager
def daemon(root=None):
    server = Daemon(root)
    try:
        yield server
    finally:
        server.close()


def pixels(server, source, *more):
    """Returns the start event of a run of one frame, and the bytes of its picture."""
    png = at("picture.png")
    with contextlib.suppress(FileNotFoundError):
        os.remove(png)
    code, out, err = run(MONOCLE, "live", source, *more, "--headless", "-p", "cpu", "-n", "3", "--screenshot", png,
                         "--json", **server.env)
    events = [json.loads(line) for line in out.splitlines()]
    data = open(png, "rb").read() if os.path.exists(png) else b""
    return code, events[0] if events else {}, data, err


def equal(c, seen, expected, *what):
    c.check(seen == expected, *what, "is", seen, "instead of", expected)
