"""live_support.py: runs of the program, the live view with its window and JSON events, small image and film files"""
import contextlib
import fcntl
import functools
import itertools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time
import zlib

import x_support
from checks import at, skip

SANITIZED = "LSAN_OPTIONS" in os.environ  # slower, and freed memory stays allocated for a while
EMULATED = os.uname().nodename == "vmguest"  # tests/vm
NO_EGL = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/proc/nowhere"}  # without a GL driver, whose start takes time
PATIENCE = 6 if SANITIZED or EMULATED else 1

# Under nohup every program inherits an ignored SIGHUP.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def environment(**more):
    """Returns the environment of a run, without the user's settings and tuning results. None removes a variable.

    MONOCLE_DRIVERS: the program does not ask the drivers in a child process, which takes time in each empty cache."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MONOCLE_")}
    env = {**env, "TERM": "xterm", "XDG_DATA_HOME": "/proc/nowhere", "XDG_CONFIG_HOME": "/proc/nowhere",
           "XDG_STATE_HOME": "/proc/nowhere", "MONOCLE_DRIVERS": "0:", **more}
    return {k: v for k, v in env.items() if v is not None}


def run(binary, *args, stdin=None, cwd=None, timeout=120, **env):
    """Returns the exit code, standard output (bytes) and standard error (text) of one run."""
    done = subprocess.run([binary, *args], input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, timeout=timeout,
                          env=environment(**env))
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def on_terminal(binary, *args, columns=80, cwd=None, **env):
    """Returns the exit code of one run, and the bytes that it wrote to standard error, a terminal of this width."""
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    said = b""
    with subprocess.Popen([binary, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal,
                          cwd=cwd, env=environment(**env)) as process:
        os.close(terminal)
        with contextlib.suppress(OSError):  # the other end is closed
            while more := os.read(master, 4096):
                said += more
    os.close(master)
    return process.returncode, said


def wait_until(test, seconds=60):
    """Returns true as soon as test() is true, false after this time."""
    end = time.monotonic() + seconds * PATIENCE
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def wait_idle(process):
    """Waits until the process blocks on its input or output: its main thread sleeps and uses no processor time."""
    def look():
        with open("/proc/%d/task/%d/stat" % (process.pid, process.pid)) as f:
            words = f.read().rpartition(")")[2].split()
        return words[0] == "S" and words[11:13]

    asleep = 0
    while process.poll() is None and asleep < 15:
        before = look()
        time.sleep(0.02)
        asleep = asleep + 1 if before and before == look() else 0


def events(out):
    """Returns the JSON lines of a run; each must be one object with an event."""
    lines = out.decode("utf-8").splitlines()
    objects = [json.loads(line) for line in lines]
    for o in objects:
        assert isinstance(o, dict) and "event" in o, o
    return objects


@functools.lru_cache
def has_opencl(binary):
    """Returns true if a driver lists a device. It compiles nothing, which would take seconds."""
    return "; devices: 0 " in run(binary, "live", "pattern:16x16", "-p", "opencl", "-d", "no such name")[2]


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Compiler:
    """A compiler that does not finish between begin() and end(), so tests do not depend on compile times or caches.
    monocle_misled uses it with the environment `env`. `how` is a TEST_MISBEHAVE of misled.c: "hang" in the child of a
    probe, "compile" or "stall" in the program itself. `caches` is a directory that several of them may share."""

    def __init__(self, how, caches=None):
        place = tempfile.mkdtemp(dir=at())
        self.in_child = how == "hang"
        self.when, self.noted = os.path.join(place, "when"), os.path.join(place, "noted")
        self.env = {"TEST_MISBEHAVE": how, "TEST_WHEN": self.when, "TEST_CHILDREN": self.noted,
                    "TEST_LIMIT_MS": "6000000", "XDG_CACHE_HOME": os.path.join(caches or place, "cache")}

    def begin(self):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.noted)
        with open(self.when, "w"):
            pass

    def end(self):
        os.remove(self.when)

    def wait(self, program):
        """Waits until the compiler runs. Returns the id of its process: the program or the child."""
        found = []

        def look():
            if os.path.exists(self.noted):
                with open(self.noted) as file:
                    found.extend(int(line) for line in file if (int(line) != program.pid) == self.in_child)
            return found or program.poll() is not None

        wait_until(look)
        assert found, "no compiler is at work"
        return found[-1]


def gradient(x, y):
    return x * 7 % 256, y * 5 % 256, (x + y) * 3 % 256


def png(path, width, height, pixel=gradient):
    """Writes a picture; `pixel` is a function from a place to three bytes."""
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


Y4M_PLANES = {"420jpeg": ((1, 1), (2, 2), (2, 2)), "422": ((1, 1), (2, 1), (2, 1)),
              "444": ((1, 1), (1, 1), (1, 1)), "mono": ((1, 1),)}


def y4m_picture_bytes(width, height, colour):
    return sum(-(-width // x) * -(-height // y) for x, y in Y4M_PLANES[colour])


def y4m(width, height, colour, frames, rate="50:1"):
    size = y4m_picture_bytes(width, height, colour)
    head = "YUV4MPEG2 W%d H%d F%s Ip A1:1 C%s\n" % (width, height, rate, colour)
    return head.encode() + b"".join(b"FRAME\n" + bytes((i * 31 + n * 7) % 256 for n in range(size))
                                    for i in range(frames))


def y4m_pictures(data):
    """Returns the frames of a recording; fails if the last one is incomplete."""
    at = data.index(b"\n") + 1
    words = data[:at].decode().split()
    assert words[0] == "YUV4MPEG2" and "C444" in words, words
    width = int([w for w in words if w[0] == "W"][0][1:])
    height = int([w for w in words if w[0] == "H"][0][1:])
    pictures, size = [], 3 * width * height
    while at < len(data):
        assert data[at:at + 6] == b"FRAME\n", data[at:at + 20]
        assert len(data) >= at + 6 + size, "the last picture is cut short"
        pictures.append(data[at + 6:at + 6 + size])
        at += 6 + size
    return pictures


def need_window():
    """Skips the test if there is no display or a tool is missing."""
    if not os.environ.get("DISPLAY"):
        skip("there is no display")
    need_tools()


def need_tools():
    """Skips the test if a tool for windows and screenshots is missing."""
    for tool in ("xdotool",):
        if not shutil.which(tool):
            skip("%s is not installed" % tool)


def unfiltered(data, bytes_of_row, step):
    """Returns the rows of a PNG's data without its filters."""
    above, rows = bytes(bytes_of_row), []
    for at_row in range(0, len(data), bytes_of_row + 1):
        kind, row = data[at_row], bytearray(data[at_row + 1:at_row + 1 + bytes_of_row])
        if kind == 1:
            for channel in range(step):
                row[channel::step] = bytes(v & 255 for v in itertools.accumulate(row[channel::step]))
        elif kind == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, above))
        elif kind:
            for i, up in enumerate(above):
                left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
                if kind == 4:
                    a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                    row[i] = (row[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255
                else:
                    row[i] = (row[i] + (left + up) // 2) & 255
        rows.append(bytes(row))
        above = row
    return rows


def picture(path):
    """Returns the RGB bytes of a PNG file of 8 bits."""
    with open(path, "rb") as file:
        data = file.read()
    place, packed = 8, b""
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place:place + 8])
        chunk = data[place + 8:place + 8 + size]
        assert struct.unpack(">I", data[place + 8 + size:place + 12 + size])[0] == zlib.crc32(kind + chunk), kind
        if kind == b"IHDR":
            width, _, bits, colour = struct.unpack(">IIBB", chunk[:10])
        packed += chunk if kind == b"IDAT" else b""
        place += size + 12
    step = {0: 1, 2: 3, 6: 4}[colour]
    assert bits == 8, bits
    rows = b"".join(unfiltered(zlib.decompress(packed), step * width, step))
    rgb = bytearray(len(rows) // step * 3)
    for channel in range(3):
        rgb[channel::3] = rows[channel if step > 1 else 0::step]
    return bytes(rgb)


class Live:
    """A live view and its JSON events. Waits for its first frame, unless `runs` is false. `asks` gives it a control
    socket."""
    sockets = tempfile.TemporaryDirectory(prefix="monocle-test-")
    count = 0

    def __init__(self, binary, cwd, *args, runs=True, asks=False, limit=None, **env):
        Live.count += 1
        self.client, self.place_of_socket = None, os.path.join(self.sockets.name, str(Live.count))
        args += ("--socket", self.place_of_socket) if asks else ()
        self.events, self.changed = [], threading.Condition()
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([binary, "live", *args, "--json"], stdout=subprocess.PIPE, stderr=self.errors,
                                        cwd=cwd, env=environment(**env), text=True, preexec_fn=limit)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if runs and asks:
            self.shown(1)
        elif runs:
            self.wait(lambda e: e["event"] == "progress" and e["frames"] > 0)

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()

    def find(self, test, since=0, seconds=90):
        """Waits for an event, from number `since` on, that passes the test. Returns its number."""
        end = time.monotonic() + seconds * PATIENCE
        with self.changed:
            while True:
                for number in range(since, len(self.events)):
                    if test(self.events[number]):
                        return number
                left = end - time.monotonic()
                if left <= 0 or not self.changed.wait(left):
                    raise AssertionError("nothing of the kind came: %s" % (self.events[-1:]))

    def wait(self, test, since=0):
        return self.events[self.find(test, since)]

    def state(self, since):
        """Waits for the end of all builds. Returns the state."""
        return self.wait(lambda e: e["event"] in ("state", "progress") and not e["building"], since=since)

    def control(self):
        self.client = self.client or Control(self.place_of_socket, process=self.process)
        return self.client

    def shown(self, frames):
        """Waits until this number of frames has been shown. Returns the status."""
        return self.control().ask_all(("wait_frame", frames), ("get_property", "status"))[1]

    def more(self, frames=1):
        """Waits for more frames. Returns the status."""
        return self.shown(self.control().get("frames") + frames)

    def settled(self):
        """Waits until the last frame has all changes. Returns the status."""
        return self.control().ask_all(("wait_frame",), ("get_property", "status"))[1]

    def until(self, test, seconds=90):
        """Waits for a status that passes the test. Returns it."""
        found = []

        def look():
            found[:] = [self.control().get("status")]
            return test(found[0])

        assert wait_until(look, seconds), "the status stays %s" % found
        return found[0]

    def after(self, *command):
        """Carries out a command. Returns the status when the last frame has its changes, and the message at once."""
        now, _, state = self.control().ask_all(command, ("get_property", "status"), ("wait_frame",),
                                               ("get_property", "status"))[1:]
        if not state["message"]:  # its time may be over
            state.update((name, now[name]) for name in ("message", "message_is_error"))
        return state

    def act(self, *action):
        """Carries out a key's action. Returns the state after it, and after the builds that it started."""
        return self.after("key", *action)

    def set(self, name, value):
        """Sets a property. Returns the state after it, and after the builds that it started."""
        return self.after("set_property", name, value)

    def shot(self):
        """Returns the RGB bytes of the last frame."""
        name = self.place_of_socket + ".png"
        self.control().ask_all(("wait_frame",), ("screenshot", name))
        pixels = picture(name)
        os.remove(name)
        return pixels

    def quit(self):
        self.control().ask("quit")
        return self.wait_end()

    def wait_end(self):
        if self.client:
            self.client.close()
        try:
            code = self.process.wait(timeout=90 * PATIENCE)  # it hangs if this expires
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.reader.join(timeout=10)
        self.errors.seek(0)
        return code, self.events[-1] if self.events else None, self.errors.read()


class Control:
    """A client of the control socket of a live view (--socket)."""

    def __init__(self, path, seconds=60, process=None):
        end = time.monotonic() + seconds * PATIENCE
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds * PATIENCE)
        while self.socket.connect_ex(path) != 0:  # it is not there yet
            assert time.monotonic() < end, "there is no socket %s" % path
            assert not process or process.poll() is None, "the view has ended"
            time.sleep(0.01)
        self.file = self.socket.makefile("rb")
        self.events = []
        self.number = 0

    def send(self, *command):
        self.number += 1
        self.socket.sendall(json.dumps({"command": command, "request_id": self.number}).encode() + b"\n")

    def line(self):
        """Returns the next line; None at the end."""
        try:
            text = self.file.readline()
        except ConnectionError:
            return None
        except TimeoutError as problem:
            raise AssertionError("no line came") from problem
        return json.loads(text) if text else None

    def reply(self):
        """Returns the next reply; keeps the events before it."""
        while (line := self.line()) and "event" in line:
            self.events.append(line)
        return line

    def ask(self, *command):
        """Returns the data of the reply, or an exception with its error."""
        self.send(*command)
        reply = self.reply()
        assert reply and reply["request_id"] == self.number, "%s: the reply is %s" % (command, reply)
        assert reply["error"] == "success", reply["error"]
        return reply["data"]

    def ask_all(self, *commands):
        """Sends the commands at once. Returns the data of each reply."""
        first = self.number + 1
        for command in commands:
            self.send(*command)
        replies = [self.reply() for _ in commands]
        for number, (command, reply) in enumerate(zip(commands, replies), first):
            assert reply and reply["request_id"] == number, "%s: the reply is %s" % (command, reply)
            assert reply["error"] == "success", reply["error"]
        return [reply["data"] for reply in replies]

    def error(self, *command):
        """Returns the error of the reply; '' on success."""
        try:
            self.ask(*command)
        except AssertionError as problem:
            return str(problem)
        return ""

    def get(self, name):
        return self.ask("get_property", name)

    def set(self, name, value):
        """Sets a property, and waits until a frame has the change."""
        self.ask("set_property", name, value)
        return self.ask("wait_frame")

    def key(self, *action):
        self.ask("key", *action)
        return self.ask("wait_frame")

    def event(self, name):
        """Returns the next change of an observed property."""
        while True:
            for event in self.events:
                if event["name"] == name:
                    self.events.remove(event)
                    return event
            line = self.line()
            assert line and line["event"] == "property-change", line
            self.events.append(line)

    def close(self):
        self.file.close()
        self.socket.close()


class ControlledView:
    """A live view with a control socket. Without --headless it has a window."""

    def __init__(self, binary, *args, path="m", **env):
        self.path = at(path)
        self.log = open(at("log"), "w+")
        self.process = subprocess.Popen([binary, "live", *args, "--json", "--socket", self.path], cwd=at(), text=True,
                                        stdin=subprocess.DEVNULL, stdout=open(at("out"), "w"), stderr=self.log,
                                        env=environment(**env))

    def client(self):
        return Control(self.path)

    def wait_end(self):
        """Returns the exit status, the last event and the log."""
        code = self.process.wait(timeout=60 * PATIENCE)
        self.log.seek(0)
        return code, events(open(at("out"), "rb").read())[-1], self.log.read()

    def end(self):
        client = self.client()
        client.ask("quit")
        client.close()
        return self.wait_end()


def ended(c, view, *what, lines=0):
    """Ends a ControlledView, and checks that it logged this number of lines."""
    code, last, log = view.end()
    c.check(code == 0 and last["event"] == "summary" and log.count("\n") == lines, *what, code, last["event"], log)
    c.check(not os.path.exists(view.path), "the socket is removed")


class Played:
    """The camera of played.c takes orders: the table in played.c."""
    count = 0

    def order(self, text):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(text.encode(), self.camera)


class PlayedCamera(Played, Live):
    """A live view of the played camera, without a window."""

    def __init__(self, binary, *args, source=("camera:0",), runs=True, **env):
        Played.count += 1
        self.camera = at("played%d" % Played.count)
        super().__init__(binary, at(), *source, *args, "--socket", self.camera + ".m", runs=False,
                         PLAYED_SOCKET=self.camera, **env)
        self.client = None
        if runs:
            self.control().ask("wait_frame", 1)
            self.find(lambda e: True)  # the thread that reads the events may be late

    def control(self):
        self.client = self.client or Control(self.camera + ".m")
        return self.client

    def more(self, frames=3):
        """Waits for more frames. Returns the status."""
        self.control().ask("wait_frame", self.control().get("frames") + frames)
        return self.control().get("status")


class Window(Live):
    """A live view in a window. The test waits on its control socket, unless `asks` is false."""

    def __init__(self, binary, cwd, *args, runs=True, asks=True, **more):
        super().__init__(binary, cwd, *args, runs=runs and asks, asks=asks, **more)
        if runs and not asks:
            self.wait(lambda e: e["event"] == "progress" and e["frames"] > 0)

    @functools.cached_property
    def window(self):
        """The window's number; None if the view ends without one."""
        found = []
        wait_until(lambda: found or self.process.poll() is not None or
                   found.extend(x_support.windows_of(self.process.pid)))
        return found[-1] if found else None

    def key(self, name):
        """Presses a key. Returns the state after it, and after the builds that it started."""
        since = len(self.events)
        assert self.window
        subprocess.run(["xdotool", "key", name], check=True)
        return self.state(self.find(lambda e: e["event"] == "state", since))

    def pixels(self):
        """Returns the RGB bytes of the window's content."""
        self.settled()  # the swap of this frame is over
        return x_support.pixels_of(self.window)

    def place(self):
        """Returns x, y, width and height of the window's content."""
        return x_support.place_of(self.window)

    def geometry(self):
        return self.place()[2:]

    def end(self, key="q"):
        """Presses a key, and waits for the end."""
        assert self.window
        subprocess.run(["xdotool", "key", key], check=True)
        return self.wait_end()
