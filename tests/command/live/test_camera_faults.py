#!/usr/bin/env python3
"""test_camera_faults.py MONOCLE: cameras that stall, break, are removed and return while the live view runs

In the virtual machine of tests/vm, with vivid as /dev/video0 (a webcam), 20 (HDMI) and 21 (TV), v4l2loopback as
/dev/video10 (a camera always) and 11 (one while something writes to it), and uvcvideo for the USB camera of
vm/uvcsim.py.
"""
import glob
import os
import signal
import struct
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import TESTS, Checks, at, programs
from live_support import Live, wait_idle, wait_until, y4m_pictures

BINARY, = programs(1)
DRIVER = "/sys/bus/platform/drivers/vivid/"
NOBODY = 65534
CYCLES = 10
USUAL, OTHER, LARGE = (24, 16), (17, 13), (65000, 65000)


def live(source, *args, **more):
    return Live(BINARY, at(), source, "--headless", "-p", "cpu", "-n", "100000", *args, **more)


def end(c, run, what):
    """Ends a run as Ctrl-C does. Returns its summary and its standard error."""
    run.process.send_signal(signal.SIGINT)
    code, last, errors = run.wait_end()
    print("%s: said %r" % (what, errors), flush=True)
    c.check(code == 130, what, code, errors)
    return last, errors


def in_trouble(run, word):
    return run.wait(lambda e: word in e.get("trouble", ""), since=len(run.events))


def well_again(run, outages):
    """Waits until the outage is over and new frames arrive."""
    state = run.wait(lambda e: e.get("trouble") == "" and e.get("outages") == outages, since=len(run.events))
    return run.wait(lambda e: e.get("frames", 0) > state["frames"] + 3, since=len(run.events))


class UsbCamera:
    def __init__(self, *args):
        before = set(glob.glob("/dev/video*"))
        self.process = subprocess.Popen([sys.executable, os.path.join(TESTS, "vm", "uvcsim.py"), "--fps", "10", *args],
                                        stdout=subprocess.DEVNULL)
        for _ in range(300):
            if len(set(glob.glob("/dev/video*")) - before) == 2:
                return
            time.sleep(0.1)
        raise AssertionError("the USB camera does not appear")

    def send(self, number):
        self.process.send_signal(number)

    def unplug(self):
        self.send(signal.SIGUSR1)
        self.process.wait()


def usb(c):
    """A frame with the error bit, a stall, a pulled cable."""
    camera = UsbCamera()
    run = live("camera:uvcsim", "-s", "320x240")
    camera.send(signal.SIGUSR2)
    run.wait(lambda e: e.get("damaged") == 1)
    camera.send(signal.SIGHUP)
    in_trouble(run, "frame arrived for")
    camera.send(signal.SIGHUP)
    well_again(run, 1)
    camera.unplug()
    in_trouble(run, "reconnecting")
    camera = UsbCamera()
    state = well_again(run, 2)
    c.check(state["lost"] > 0 and state["damaged"] == 1, "counted", state)
    end(c, run, "usb")

    run = live("camera:uvcsim", "-s", "320x240")
    camera.send(signal.SIGHUP)
    in_trouble(run, "frame arrived for")
    end(c, run, "a stalled camera")
    camera.send(signal.SIGHUP)

    # A camera that does not answer blocks the thread that asks; the view must go on.
    run = live("camera:uvcsim", "-s", "320x240")
    camera.send(signal.SIGSTOP)
    try:
        in_trouble(run, "frame arrived for")
        run.wait(lambda e: e["event"] == "progress", since=len(run.events))
        run.wait(lambda e: e["event"] == "progress", since=len(run.events))
    finally:
        camera.send(signal.SIGCONT)
    well_again(run, 1)
    end(c, run, "a deaf camera")
    camera.unplug()


def jpegs():
    """Returns folders of MJPEG frames: the usual size with a few frames of another; the other size; too large."""
    with open(os.path.join(TESTS, "data", "small.jpg"), "rb") as file:
        picture = bytearray(file.read())
    place = picture.index(b"\xff\xc0") + 5  # height and width; they may grow within the same blocks
    for name, sizes in ("mixed", (USUAL, USUAL, OTHER)), ("other", (OTHER,)), ("large", (LARGE,)):
        folder = at(name)
        os.mkdir(folder)
        yield folder
        for i, (width, height) in enumerate(sizes):
            picture[place:place + 4] = struct.pack(">HH", height, width)
            with open(os.path.join(folder, "%d.jpg" % i), "wb") as file:
                file.write(picture)


def resized(c):
    """MJPEG frames of another size: single frames count as damaged, many in a row reshape the view. Frames that are
    too large are refused."""
    camera = UsbCamera(*(word for folder in jpegs() for word in ("--jpegs", folder)))
    run = live("camera:uvcsim", "--pixel-format", "mjpeg", "--record", "mjpeg.y4m")
    state = run.wait(lambda e: e.get("damaged", 0) > 1)
    c.check(all((e["width"], e["height"]) == USUAL for e in run.events if "width" in e), "the usual size", run.events)
    camera.send(signal.SIGWINCH)
    now = run.wait(lambda e: e["event"] == "reshaped")
    c.check((now["width"], now["height"]) == OTHER, "the new size", now)
    state = run.wait(lambda e: e.get("frames", 0) > state["frames"] + 9, since=len(run.events))
    c.check(state["outages"] == 0 and state["trouble"] == "", "without an outage", state)
    camera.send(signal.SIGWINCH)
    trouble = in_trouble(run, "32768 pixels")["trouble"]
    c.check("no valid frame arrived for 2 s" in trouble, trouble)
    camera.send(signal.SIGWINCH)
    well_again(run, 1)
    last, errors = end(c, run, "resized")
    camera.unplug()
    frames = 0
    for name, size in (("mjpeg.y4m", USUAL), ("mjpeg-2.y4m", OTHER)):
        with open(at(name), "rb") as file:
            data = file.read()
        c.check(data.startswith(b"YUV4MPEG2 W%d H%d " % size), name, data[:40])
        frames += len(y4m_pictures(data))
    c.check(frames == last["frames"] and errors.count("its frames are now") == 1, frames, last, errors)


def piped(c):
    """A recording into a pipe cannot change its size: the run ends with its summary."""
    os.mkfifo(at("pipe.y4m"))
    reader = subprocess.Popen(["cat", at("pipe.y4m")], stdout=subprocess.DEVNULL)
    camera = UsbCamera(*(word for folder in jpegs() for word in ("--jpegs", folder)))
    run = live("camera:uvcsim", "--pixel-format", "mjpeg", "--record", "pipe.y4m")
    camera.send(signal.SIGWINCH)
    code, last, errors = run.wait_end()
    print("piped: said %r" % errors, flush=True)
    c.check(code == 1 and last["event"] == "summary", code, last, errors)
    camera.unplug()
    reader.wait()


def uses_camera(process):
    """Returns true if the process has a camera open."""
    folder = "/proc/%d/fd/" % process.pid
    for name in os.listdir(folder):
        try:
            if os.readlink(folder + name).startswith("/dev/video"):
                return True
        except FileNotFoundError:  # closed meanwhile
            pass
    return False


def silent(c):
    """The view waits for an MJPEG camera that sends nothing at first, also if it is unplugged meanwhile."""
    folder = at("silent")
    os.mkdir(folder)
    jpeg = os.path.join(TESTS, "data", "small.jpg")
    with open(jpeg, "rb") as file, open(os.path.join(folder, "0.jpg"), "wb") as copy:
        copy.write(file.read())
    for unplugged in False, True:
        camera = UsbCamera("--jpegs", folder)
        camera.send(signal.SIGHUP)
        run = live("camera:uvcsim", "--pixel-format", "mjpeg", runs=False)
        if unplugged:
            c.check(wait_until(lambda: uses_camera(run.process)), "the camera is opened")
            wait_idle(run.process)  # waits for a frame
            camera.unplug()
            in_trouble(run, "reconnecting")
            camera = UsbCamera("--jpegs", folder)
        else:
            in_trouble(run, "no frame arrived for 2 s; reconnecting")
            camera.send(signal.SIGHUP)
        run.wait(lambda e: e["event"] == "reshaped")  # to the size of the frames, which differs from the mode's
        well_again(run, 1)
        last, errors = end(c, run, "silent")
        c.check("cannot decode" not in errors and ("unplugged" in errors) == unplugged, errors)
        camera.unplug()


def dead_writer(c):
    """The writer of v4l2loopback dies without notice; with exclusive_caps the device is no camera then."""
    for node in ("/dev/video10", "/dev/video11"):
        writer = live("pattern:320x240@10", "--virtual-camera", node)
        run = live("camera:" + node)
        writer.process.kill()
        in_trouble(run, "reconnecting")
        time.sleep(5)  # long enough for a reconnection
        again = live("pattern:320x240@10", "--virtual-camera", node)
        well_again(run, 1)
        end(c, run, node)
        end(c, again, "the writer of " + node)


def plug(word):
    with open(DRIVER + word, "w") as file:
        file.write("vivid.0")


def permission(c):
    """A node that the user may not open: at the start, and when a camera returns before its rights are set."""
    def as_nobody():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    for node in glob.glob("/dev/video*"):
        os.chmod(node, 0o600)
    for source in ["camera:/dev/video0"], []:  # the default is the pattern only if there is no camera
        done = subprocess.run([BINARY, "live", *source, "--headless", "-n", "1"], preexec_fn=as_nobody,
                              stderr=subprocess.PIPE, text=True)
        c.check(done.returncode == 3 and 'group video' in done.stderr and done.stderr.count("\n") == 1, done)
    os.chmod("/dev/video0", 0o666)
    run = live("camera:/dev/video0", "-s", "320x180", limit=as_nobody)
    plug("unbind")
    in_trouble(run, "reconnecting")
    plug("bind")
    os.chmod("/dev/video0", 0o600)
    in_trouble(run, "Permission denied")
    os.chmod("/dev/video0", 0o666)
    well_again(run, 1)
    end(c, run, "permission")


def resources(process):
    files = len(os.listdir("/proc/%d/fd" % process.pid))
    with open("/proc/%d/maps" % process.pid) as maps:
        mappings = len(maps.readlines())
    with open("/proc/%d/statm" % process.pid) as statm:
        pages = int(statm.read().split()[1])
    return files, mappings, pages * 4


def cycles_while_recording(c):
    run = live("camera:/dev/video0", "-s", "320x180", "--control", "brightness=200", "--record", "cycles.y4m")
    seen = []
    for i in range(CYCLES):
        plug("unbind")
        in_trouble(run, "reconnecting")
        plug("bind")
        well_again(run, i + 1)
        seen.append(resources(run.process))
    node, = glob.glob("/dev/video[0-9]")  # 0 may still be in use
    said = ask_camera(node, "--get-ctrl=brightness")
    c.check(said.split() == ["brightness:", "200"], "set again", said)
    print("files, mappings, kB:", *seen, flush=True)
    for number, what, more in ((0, "files", 0), (1, "mappings", 2), (2, "kB", 1000)):
        c.check(seen[-1][number] <= seen[1][number] + more, what, "grow", seen)
    last, errors = end(c, run, "cycles")
    with open(at("cycles.y4m"), "rb") as file:
        c.check(len(y4m_pictures(file.read())) >= last["frames"] and last["outages"] == CYCLES, "recorded", last)


def set_camera(node, setting):
    subprocess.run(["v4l2-ctl", "-d", node, "-c", setting], check=True)


def ask_camera(node, question):
    return subprocess.run(["v4l2-ctl", "-d", node, question], stdout=subprocess.PIPE, check=True, text=True).stdout


def grabber(c):
    """The signal of a grabber changes its size, its colours, its size: the recording continues in a new file, and the
    virtual camera follows."""
    def hdmi(setting):
        set_camera("/dev/video20", setting)

    selected, small, wide = "dv_timings_signal_mode=4", "dv_timings=0", "dv_timings=2"
    hdmi(selected), hdmi(small)
    run = live("camera:/dev/video20", "--pixel-format", "yuyv", "--record", "grab.y4m", "--virtual-camera",
               "/dev/video10")
    start = run.events[0]
    c.check((start["width"], start["height"]) == (640, 480), "its own size", start)
    shapes, outages = [(640, 480, "601")], 0
    for setting in (wide, "colorspace=1", small):
        since = len(run.events)
        hdmi(setting)
        now = run.wait(lambda e: e["event"] == "reshaped", since=since)
        outages += 1
        state = well_again(run, outages)
        shapes.append((now["width"], now["height"], now["matrix"]))
        run.wait(lambda e: e.get("virtual_camera") and e["virtual_camera"]["sent"] > state["virtual_camera"]["sent"],
                 since=len(run.events))
        fed = ask_camera("/dev/video10", "--get-fmt-video")
        c.check("%d/%d" % shapes[-1][:2] in fed, "the virtual camera's size", shapes[-1], fed)
    last, errors = end(c, run, "grabber")
    c.check(shapes == [(640, 480, "601"), (720, 480, "601"), (720, 480, "709"), (640, 480, "601")], shapes)
    files = [at("grab%s.y4m" % n) for n in ("", "-2", "-3")]
    frames = 0
    for name, shape in zip(files, (shapes[0], shapes[1], shapes[3])):
        with open(name, "rb") as file:
            data = file.read()
        c.check(data.startswith(b"YUV4MPEG2 W%d H%d " % shape[:2]), name, data[:40])
        frames += len(y4m_pictures(data))
    c.check(frames >= last["frames"] and errors.count("recording continues in") == 2, frames, last, errors)


def television(c):
    """The TV standard of a grabber changes, and with it the size."""
    selected, ntsc, pal = "standard_signal_mode=4", "standard=0", "standard=4"
    set_camera("/dev/video21", selected), set_camera("/dev/video21", pal)
    run = live("camera:/dev/video21", "--pixel-format", "yuyv")
    sizes = [(run.events[0]["width"], run.events[0]["height"])]
    for outages, setting in enumerate((ntsc, pal), 1):
        since = len(run.events)
        set_camera("/dev/video21", setting)
        now = run.wait(lambda e: e["event"] == "reshaped", since=since)
        well_again(run, outages)
        sizes.append((now["width"], now["height"]))
    end(c, run, "television")
    c.check(sizes == [(720, 576), (720, 480), (720, 576)], sizes)


if __name__ == "__main__":
    sys.exit(Checks().run(usb, resized, piped, silent, dead_writer, permission, cycles_while_recording, grabber,
                          television))
