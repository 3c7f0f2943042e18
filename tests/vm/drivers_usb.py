"""drivers_usb.py: checks of a USB camera, with the driver uvcvideo

Checks of test_drivers.py, in its machine. uvcsim.py is the camera. The directory $PICTURES has its MJPEG frames.
"""
import glob
import json
import os
import signal
import subprocess
import sys
import time

from checks import TESTS, at, slow
from drivers_signal import end, in_trouble, live, well_again
from live_support import events, run, y4m_pictures

BINARY = os.path.abspath(sys.argv[1])


class UsbCamera:
    """A USB camera, plugged in. It has two nodes: `node`, and one for metadata."""

    def __init__(self, *args):
        before = set(glob.glob("/dev/video*"))
        self.process = subprocess.Popen([sys.executable, "-S", "-E", os.path.join(TESTS, "vm", "uvcsim.py"), "--fps",
                                         "10", *args], stdout=subprocess.DEVNULL)
        new, limit = set(), time.monotonic() + 120
        while len(new) < 2:
            assert time.monotonic() < limit and self.process.poll() is None, "the USB camera does not appear"
            time.sleep(0.05)
            new = set(glob.glob("/dev/video*")) - before
        self.node, self.metadata = sorted(new)

    def send(self, number):
        self.process.send_signal(number)

    def unplug(self):
        self.send(signal.SIGUSR1)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.unplug()


def frames(camera, count, *args):
    """Returns the description and summary, and the standard error, of a run that takes a few frames. `camera`: "": the
    default."""
    names = [camera] if camera else []
    code, out, err = run(BINARY, "--headless", "-p", "cpu", "-n", str(count), "--json", *args, *names)
    assert code == 0, err
    said = events(out)
    return {**said[0], **said[-1]}, err


def listed_once(c, camera):
    """The camera's nodes count as one camera, which the bus and any case of its name mean."""
    code, _, err = run(BINARY, "--headless", "camera:" + camera.metadata)
    c.check(code == 3 and "metadata" in err, "a metadata node is refused", code, err)
    listed = json.loads(run(BINARY, "cameras", "--json")[1])
    usb, = (row for row in listed if row["driver"] == "uvcvideo")
    c.check([row["node"] for row in listed if row["driver"] == "vivid"][0] == "/dev/video0", listed)
    c.check(usb["node"] == camera.node, usb)
    c.check({o["format"] for o in usb["offers"] if o["usable"] and o["width"] == 640} == {"mjpeg", "yuyv"}, usb)
    text = run(BINARY, "cameras")[1].decode()
    c.check("\n%s  uvcsim camera" % camera.node in text, text)
    for name in usb["bus"], "UVCSIM":  # raw formats are preferred at the same rate
        last, _ = frames("camera:" + name, 2)
        c.check((last["width"], last["height"], last["pixel_format"]) == (640, 480, "yuyv"), name, last)


def mjpeg_decoded(c):
    """MJPEG is selected by name and decoded; damaged frames are left out and the others shown."""
    last, err = frames("camera:uvcsim", 8, "--pixel-format", "mjpeg", "--record", at("mjpeg.y4m"))
    c.check(last["frames"] == 8 and last["stages"]["decode"]["median_ms"] > 0 and last["damaged"] > 2, last)
    c.check(last["pixel_format"] in ("422p", "yu12") and (last["matrix"], last["range"]) == ("601", "full"), last)
    # An emulated camera may stall for a moment on a busy machine.
    lines = [line for line in err.splitlines() if "frame arrived for" not in line and "arrive again" not in line]
    c.check(len(lines) == 1, "one line on standard error", err)
    with open(at("mjpeg.y4m"), "rb") as file:
        for picture in y4m_pictures(file.read()):
            u, v = (picture[plane * 640 * 480:plane * 640 * 480 + 1280] for plane in (1, 2))
            c.check(max(u) < 110 and min(v) > 220, "red at the top", max(u), min(v))


def controls_kept(c, camera):
    """Controls are set, listed, saved and loaded."""
    frames("camera:uvcsim", 1, "--control", "brightness=200", "--save-controls", at("saved"))
    with open(at("saved")) as file:
        c.check("brightness=200\n" in file.readlines(), "saved")
    subprocess.run(["v4l2-ctl", "-d", camera.node, "--set-ctrl", "brightness=7"], check=True)
    frames("camera:uvcsim", 1, "--load-controls", at("saved"))
    text = run(BINARY, "camera:uvcsim", "--list-controls")[1].decode()
    c.check("brightness 200 (0 to 255" in " ".join(text.split()), text)


def usb(c):
    """Names, MJPEG and controls of a USB camera."""
    with UsbCamera("--jpegs", os.environ["PICTURES"]) as camera:
        listed_once(c, camera)
        mjpeg_decoded(c)
        controls_kept(c, camera)


@slow
def usb_pulled(c):
    """A frame with the error bit; a pulled cable."""
    camera = UsbCamera()
    view = live("camera:uvcsim", "-s", "320x240")
    camera.send(signal.SIGUSR2)
    view.wait(lambda e: e.get("damaged") == 1)
    camera.unplug()
    in_trouble(view, "reconnecting")
    camera = UsbCamera()
    state = well_again(view, 1)
    c.check(state["lost"] > 0 and state["damaged"] == 1, "counted", state)
    end(c, view, "usb")
    camera.unplug()


@slow
def usb_stalled(c):
    """A stall; a camera that does not answer, which blocks the thread that asks: the view must go on."""
    with UsbCamera() as camera:
        view = live("camera:uvcsim", "-s", "320x240")
        camera.send(signal.SIGHUP)
        in_trouble(view, "frame arrived for")
        camera.send(signal.SIGHUP)
        well_again(view, 1)
        camera.send(signal.SIGSTOP)
        try:
            in_trouble(view, "frame arrived for")
            for _ in range(2):
                view.wait(lambda e: e["event"] == "progress", since=len(view.events))
        finally:
            camera.send(signal.SIGCONT)
        well_again(view, 2)
        end(c, view, "stalled")


@slow
def usb_unread(c):
    """A camera with only H264, which libv4l2 lists as rgb24, comes after a camera that monocle reads."""
    for node in glob.glob("/dev/video*"):  # the other cameras of the machine
        os.rename(node, node.replace("/dev/", "/dev/hidden-"))
    try:
        with UsbCamera("--only", "H264", "--port", "0") as unread:
            code, _, err = run(BINARY, "--headless", "-n", "1", "camera:" + unread.node)
            c.check(code == 3 and "only the format H264, which neither" in err and "ffmpeg -f h264" in err, code, err)
            with UsbCamera("--port", "1") as good:
                last, err = frames("", 2)
                c.check(good.node in last["source"] and err == "", last, err)
                listed = {row["node"]: row for row in json.loads(run(BINARY, "cameras", "--json")[1])}
                c.check("H264" in listed[unread.node]["passed_over"], listed)
                c.check("passed over" in run(BINARY, "cameras")[1].decode(), "text")
                c.check(listed[good.node]["passed_over"] is None, listed)
    finally:
        for node in glob.glob("/dev/hidden-*"):
            os.rename(node, node.replace("hidden-", ""))


@slow
def usb_bayer(c):
    """A camera without a format that monocle reads: libv4l2 converts its frames."""
    with UsbCamera("--only", "BA81"):
        listed, = (row for row in json.loads(run(BINARY, "cameras", "--json")[1]) if row["driver"] == "uvcvideo")
        c.check("libv4l2 converts" in listed["passed_over"], listed)
        last, _ = frames("camera:uvcsim", 3, "--record", at("bayer.y4m"))
    c.check(last["pixel_format"] == "rgb24", last)
    with open(at("bayer.y4m"), "rb") as file:
        picture = y4m_pictures(file.read())[-1]
    u, v = (sum(picture[plane * 640 * 480:(plane + 1) * 640 * 480]) / 640 / 480 for plane in (1, 2))
    c.check(u < 118 and v > 200, "red", u, v)
