#!/usr/bin/env python3
"""test_live_window_faults.py MONOCLE LATE MISLED: the live view's window when something goes wrong or is too large

Needs a display (with-display gives one) and xdotool. LATE is monocle linked with late.c, MISLED
with misled.c.
"""
import contextlib
import errno
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading

sys.path.append(sys.path[0] + "/../../support")
import x_support
from checks import Checks, at, programs, slow
from live_support import (PATIENCE, Compiler, Live, Window, alive, environment, has_opencl, need_window, picture,
                          wait_until, y4m_pictures)
from video_support import children

BINARY, LATE, MISLED = programs(3)
PATTERN = "pattern:320x240@30"
SMALL = "pattern:64x48@30"


def errors_of(live):
    return [e["message"] for e in live.events if e["event"] == "error"]


def unwritable(c):
    """A key that fails reports one error, and the view goes on."""
    os.mkdir(at("gone"))
    live = Live(BINARY, at("gone"), SMALL, "--headless", "--recording-format", "y4m", asks=True)
    os.rmdir(at("gone"))
    for action, name in (("screenshot", "monocle-0001.png"), ("record", "monocle-0001.y4m")):
        since = len(live.events)
        state = live.act(action)
        error = live.wait(lambda e: e["event"] == "error", since)["message"]
        c.check(name in error and "No such file" in error, action, "is logged as", error)
        c.check(state["message_is_error"] and state["recording"] is None, action, state)
    code, last, errors = live.quit()
    c.check(code == 0 and errors.count("\n") == 2, code, errors)


def check_left(c, name, last, frames, lost=0):
    """Checks that the recording and the trace have at least this number of frames. The recording lacks at most `lost`
    frames, and repeats others."""
    with open(at("left.y4m"), "rb") as f:
        pictures = y4m_pictures(f.read())
    with open(at("left.json")) as f:
        spans = json.load(f)
    c.check(last["event"] == "summary" and len(pictures) >= max(frames, last["frames"] - lost), name, len(pictures),
            last)
    c.check(len([s for s in spans if s["name"] == "swap"]) >= frames, name, "trace")


def leave(c, name, live, number, frames=1):
    """Ends the view by a signal, or by the key q if `number` is None, and checks its outputs."""
    c.check(live.process.poll() is None, name, "has ended by itself")
    if number:
        live.process.send_signal(number)
    else:  # repeated, because the window may not have the keyboard yet
        wait_until(lambda: subprocess.run(["xdotool", "key", "q"], check=True) and live.process.poll() is not None)
    code, last, errors = live.wait_end()
    c.check(code == (128 + number if number else 0), name, number, "exit code", code, errors)
    c.check("monocle: " not in errors, name, errors)  # the driver may write messages of its own
    if frames:
        check_left(c, name, last, frames)


def stalled_reader(c):
    """If the reader of a recording stalls, frames are dropped and reported. The view goes on, and a signal ends it."""
    stalls(c, (False, False), (True, True))


@slow
def stalled_reader_and_key(c):
    stalls(c, (False, True))


def stalls(c, *cases):
    os.mkfifo(at("stalled.y4m"))
    for resumes, key in cases:
        reader = os.open(at("stalled.y4m"), os.O_RDONLY | os.O_NONBLOCK)
        live = Window(BINARY, at(), PATTERN, "--record", "stalled.y4m")
        live.until(lambda e: "frames dropped" in e["message"])
        live.more(3)
        data = bytearray()
        if resumes:
            os.set_blocking(reader, True)
            taker = threading.Thread(target=lambda: data.extend(os.fdopen(os.dup(reader), "rb").read()))
            taker.start()
            live.until(lambda e: "frames dropped" not in e["message"])
        if not key:
            live.process.send_signal(signal.SIGINT)
        code, last, errors = live.quit() if key else live.wait_end()
        left_out = int(re.search("([0-9]+) frames are missing from stalled.y4m", errors)[1])
        if resumes:
            taker.join()
            pictures = len(y4m_pictures(data))
            c.check(code == 0 and errors.count("\n") == 1, "read again", code, errors)
            c.check(pictures + left_out >= last["frames"] and pictures > 1, pictures, left_out, last["frames"])
        else:
            c.check(code == (1 if key else 130), "never read", key, code)
            c.check(errors.count("\n") == 2 and "has stalled\n" in errors, "never read", errors)
            c.check(left_out == last["frames"] - 1, left_out, last["frames"])
        os.close(reader)


def encoder(c):
    """If ffmpeg stalls while it records, frames are dropped. If it is killed, the recording ends. The view goes on."""
    if not shutil.which("ffmpeg"):
        print("encoder: not tried, ffmpeg is not installed")
        return
    for how in (signal.SIGSTOP, signal.SIGKILL):
        live = Window(BINARY, at(), PATTERN, "-p", "cpu", "--record", "film.mkv", "--overwrite")
        ffmpeg, = children(live.process.pid)
        os.kill(ffmpeg, how)
        words = "frames dropped" if how == signal.SIGSTOP else "recording to film.mkv stopped"
        live.until(lambda e: words in e["message"])
        live.more(3)
        if how == signal.SIGSTOP:
            os.kill(ffmpeg, signal.SIGCONT)
            live.until(lambda e: "frames dropped" not in e["message"])
        code, last, errors = live.quit()
        if how == signal.SIGSTOP:
            left_out = int(re.search("([0-9]+) frames are missing from film.mkv", errors)[1])
            found = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames",
                                    "-of", "csv=p=0", at("film.mkv")], check=True, stdout=subprocess.PIPE).stdout
            c.check(code == 0 and int(found) + left_out >= last["frames"], code, found, left_out, last["frames"])
        else:
            c.check(code == 1 and "ffmpeg was killed by signal 9" in errors, code, errors)
        c.check(errors.count("\n") == 1, errors)


def unsynced(c):
    """If a recording cannot be finished, a message and the exit code report it."""
    live = Live(LATE, at(), SMALL, "-p", "cpu", "--headless", asks=True, LATE_SYNC=str(errno.EIO))
    name = live.act("record")["recording"]
    live.more()
    state = live.act("record")
    c.check(state["message_is_error"] and name in state["message"] and "failed" in state["message"], state)
    code, last, errors = live.quit()
    c.check(code == 1 and errors.count("\n") == 1 and name in errors, code, errors)


def no_reader(c):
    """If the reader of the events closes the pipe, the view ends. Its recording is complete."""
    process = subprocess.Popen([BINARY, "live", PATTERN, "-p", "cpu", "--json", "--record", "left.y4m", "--trace",
                                "left.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=at(),
                               env=environment())
    first = json.loads(process.stdout.readline())
    process.stdout.close()
    try:
        code = process.wait(timeout=60 * PATIENCE)  # it hangs if this expires
    except subprocess.TimeoutExpired:
        code = process.kill()
    errors = process.stderr.read().decode()
    c.check(first["screen"] and code == 1, "nobody reads the events", code)
    c.check(errors == "", errors)
    with open(at("left.y4m"), "rb") as f:
        c.check(len(y4m_pictures(f.read())) > 0, "recording")

    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([BINARY, "latency", PATTERN, "-p", "cpu", "--json"], stdout=writer, stderr=subprocess.PIPE,
                          env=environment(), timeout=60 * PATIENCE)
    os.close(writer)
    c.check(done.returncode == 1 and not done.stderr, "latency", done.returncode, done.stderr)


@contextlib.contextmanager
def display():
    """Starts another X server. Yields its process and its display name."""
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
                              pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as number:
        name = ":" + number.readline().strip()
    try:
        yield server, name
    finally:
        server.kill()
        server.wait()


def stalled_events(c):
    """If the reader of the events stalls, the view goes on, q ends it, and the number of lost lines is reported."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writer, bytes(4096)):
            pass
    os.set_blocking(writer, True)
    process = subprocess.Popen([BINARY, "live", PATTERN, "-p", "cpu", "--json"], stdout=writer,
                               stderr=subprocess.PIPE, text=True, env=environment())
    wait_until(lambda: x_support.windows_of(process.pid) or process.poll() is not None)
    # The first key may come before the view listens.
    wait_until(lambda: subprocess.run(["xdotool", "key", "q"], check=True) and process.poll() is not None)
    code = process.poll()
    process.kill()
    errors = process.communicate()[1]
    c.check(code == 0, "a stalled reader of events", code, errors)
    c.check(re.fullmatch("monocle: .*stalled; [0-9]+ lines were dropped\n", errors), errors)
    os.close(reader)
    os.close(writer)


def display_dies(c, *paths):
    for path in paths:
        with display() as (server, name):
            live = Live(BINARY, at(), PATTERN, "-p", path, "--record", "left.y4m", "--overwrite", "--trace",
                        "left.json", "--screenshot", "left.png", asks=True, DISPLAY=name)
            live.settled()
            texture = live.control().get("sharing") == "gl"  # zerocopy may find gl faster
            c.check(texture or path != "gl", path, "runs", live.control().get("sharing"))
            server.kill()
            code, last, errors = live.wait_end()
            c.check(code == 4 and last["event"] == "summary", path, "exit code", code, last)
            messages = 2 if texture else 1
            c.check(errors.count("\n") == messages and "lost the display %s" % name in errors, path, errors)
            c.check(len(errors_of(live)) == messages, path, errors_of(live))
            c.check(not texture or "left.png: the last frame, a texture, was lost with the display" in errors, errors)
            check_left(c, path, last, 1, lost=texture)
            written = os.path.exists(at("left.png"))
            c.check(written != texture, path, "screenshot")
            if written:
                c.check(len(picture(at("left.png"))) == 3 * 320 * 240, path, "screenshot")
                os.remove(at("left.png"))


def lost_display(c):
    """If the X server dies, the view ends with one message and exit code 4. Its outputs are complete. The last frame of
    the gl path is a texture, which is lost. So there is no screenshot, and a second message.
    """
    display_dies(c, "cpu", "gl")
    with display() as (server, name):
        process = subprocess.Popen([BINARY, "latency", PATTERN, "-p", "cpu"], env=environment(DISPLAY=name),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        server.kill()
        out, errors = process.communicate(timeout=60 * PATIENCE)
        c.check(process.returncode == 4 and errors.count("\n") == 1 and "lost the display" in errors,
                process.returncode, errors)


@slow
def lost_display_of_a_device(c):
    display_dies(c, "zerocopy")


def closed(c):
    """The window manager's close button ends the view as q does."""
    live = Window(BINARY, at(), PATTERN, "--record", "left.y4m", "--trace", "left.json")
    x_support.end_window("close", live.window)
    code, last, errors = live.wait_end()
    c.check(code == 0 and not errors, "closed", code, errors)
    check_left(c, "closed", last, 1)


def window_ends(c, *cases):
    for request, said, path in cases:
        live = Window(BINARY, at(), PATTERN, "-p", path, "--record", "left.y4m", "--overwrite", "--trace", "left.json")
        texture = live.settled()["sharing"] == "gl"
        x_support.end_window(request, live.window)
        code, last, errors = live.wait_end()
        c.check(code == 4 and last["event"] == "summary", request, path, "exit code", code, last)
        c.check(errors.count("\n") == 1 and said in errors and len(errors_of(live)) == 1, request, path, errors)
        check_left(c, request, last, 1, lost=texture)


DESTROYED, KILLED = ("XDestroyWindow", "rejected a request"), ("XKillClient", "lost the display")


def lost_window(c):
    """Another program destroys the window, or closes the view's connection to the X server."""
    window_ends(c, (*DESTROYED, "cpu"), (*KILLED, "gl"))


@slow
def lost_window_of_other_paths(c):
    window_ends(c, (*KILLED, "cpu"), (*DESTROYED, "gl"), (*DESTROYED, "zerocopy"), (*KILLED, "zerocopy"))


AT_ONCE = """import ctypes, sys
xlib = ctypes.CDLL("libX11.so.6")
xlib.XOpenDisplay.restype, xlib.XDefaultRootWindow.restype = ctypes.c_void_p, ctypes.c_ulong
display, event = ctypes.c_void_p(xlib.XOpenDisplay(None)), (ctypes.c_long * 24)()
xlib.XSelectInput(display, ctypes.c_ulong(xlib.XDefaultRootWindow(display)), ctypes.c_long(1 << 19))
xlib.XSync(display, 0)
print("ready", flush=True)
while ctypes.c_int.from_buffer(event).value != 19:  # MapNotify
    xlib.XNextEvent(display, event)
getattr(xlib, sys.argv[1])(display, ctypes.c_ulong(event[5]))
xlib.XSync(display, 0)"""


def lost_at_once(c):
    """The window is destroyed when it appears, before the first frame."""
    for request, said in DESTROYED, KILLED:
        with display() as (_, name):
            killer = subprocess.Popen([sys.executable, "-c", AT_ONCE, request], env=environment(DISPLAY=name),
                                      stdout=subprocess.PIPE, text=True)
            killer.stdout.readline()
            run = subprocess.run([BINARY, "live", PATTERN, "-p", "cpu"], cwd=at(), capture_output=True,
                                 text=True, env=environment(DISPLAY=name), timeout=20 * PATIENCE)
            killer.communicate(timeout=60 * PATIENCE)
            c.check(run.returncode == 4 and run.stderr.count("\n") == 1 and said in run.stderr, request, run.returncode,
                    run.stderr)


def leave_builds(c, *cases):
    if not has_opencl(MISLED):
        return
    outputs = ["--record", "left.y4m", "--overwrite", "--trace", "left.json"]
    os.mkdir(at("caches"))
    for how, where, number in cases:
        compiler = Compiler(how, at("caches"))
        if where == "the first path":  # of a run with --frames: no frame is shown yet
            compiler.begin()
            live = Window(MISLED, at(), PATTERN, "-f", "invert", "-p", "opencl", "--frames", "9", runs=False,
                          **compiler.env)
        elif where == "beside the cpu path":  # which shows the first frames
            compiler.begin()
            live = Window(MISLED, at(), PATTERN, "-f", "invert", *outputs, **compiler.env)
        else:  # kernels of the same driver run, and may wait for the compiler
            live = Window(MISLED, at(), PATTERN, "-f", "gray", "-p", "opencl", *outputs, **compiler.env)
            c.check(live.settled()["path"] == "opencl", how, where, live.events[-1])
            compiler.begin()
            live.control().ask("set_property", "chain", "invert")
        child = compiler.wait(live.process)
        leave(c, how + ", " + where, live, number, 0 if where == "the first path" else 1)
        c.check(where != "the first path" or not live.events, how, where, live.events)
        c.check(wait_until(lambda: not alive(child), seconds=10), how, number, "leaves a child behind")


@slow
def leaving_a_build(c):
    """A driver that compiles cannot be stopped, in the child of a probe or in the program. The end of the view does not
    wait for it."""
    leave_builds(c, ("hang", "beside the cpu path", signal.SIGINT), ("stall", "the first path", signal.SIGTERM),
                 ("stall", "beside kernels", None))


@slow
def leaving_other_builds(c):
    leave_builds(c, ("hang", "the first path", None), ("hang", "beside kernels", signal.SIGTERM),
                 ("stall", "beside the cpu path", signal.SIGTERM))


def oversized(c):
    """An image larger than a GL texture is shown smaller, with one message. A screenshot has the full size."""
    live = Window(BINARY, at(), "pattern:20000x64@10", "-p", "cpu", "--overlay", "off")
    live.act("split")
    shown = live.pixels()
    colours = {shown[i:i + 3] for i in range(0, len(shown), 3)}
    c.check(len(colours) > 100, "few colours in the window:", len(colours))
    live.act("screenshot")
    code, last, errors = live.quit()
    c.check(code == 0 and errors.count("\n") == 1 and "1/2" in errors, code, errors)
    with open(at("monocle-0001.png"), "rb") as f:
        c.check(struct.unpack(">II", f.read(24)[16:]) == (20000, 64), "the screenshot's size")


need_window()
sys.exit(Checks().run(unwritable, leaving_a_build, leaving_other_builds, stalled_reader, stalled_reader_and_key,
                      encoder, unsynced, stalled_events, no_reader, lost_display, lost_display_of_a_device, closed,
                      lost_window, lost_window_of_other_paths, lost_at_once, oversized))
