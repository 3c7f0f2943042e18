#!/usr/bin/env python3
"""test_camera_window.py MONOCLE DISCRETE: a camera in the live view: controls by key, outages, a whole run

Starts itself under an X display in the virtual machine of tests/vm, with vivid as /dev/video0 and uvcvideo. The host
does the work that needs no camera, because it is 15 times as fast. The check whole_run leaves its images in the
directory $CAMERA_PICTURES, if that is set. DISCRETE is monocle linked with discrete.c.
"""
import os
import subprocess
import sys
import tempfile
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import TESTS, Checks, at, names, programs
from live_support import EMULATED, Live, Window, need_tools, need_window, picture, run, y4m

BINARY, DISCRETE = programs(2)
DRIVER = "/sys/bus/platform/drivers/vivid/"
WINDOW, SCREENSHOT = "camera-window.rgb", "monocle-0001.png"

temporary = tempfile.TemporaryDirectory()
PICTURES = os.environ.get("CAMERA_PICTURES", temporary.name)  # host and guest share it


def open_live(*args, kind=Window, binary=BINARY, cwd=None, **more):
    return kind(binary, cwd or at(), *args, **more)


def brightness():
    said = subprocess.run(["v4l2-ctl", "-d", "/dev/video0", "--get-ctrl", "brightness"], stdout=subprocess.PIPE,
                          check=True, text=True).stdout
    return int(said.split(":")[1])


def set_camera(setting):
    subprocess.run(["v4l2-ctl", "-d", "/dev/video0", "--set-ctrl", setting], check=True)


def plug(word):
    with open(DRIVER + word, "w") as file:
        file.write("vivid.0")


def vivid(*args):
    """Opens a live view of vivid, with all frames equal."""
    set_camera("osd_text_mode=2")
    return open_live("camera:vivid", "-s", "320x180", "-p", "cpu", "--vsync", "off", *args)


def unexpected(errors):
    """Returns the messages except those about stalls, which an emulated camera may have on a busy machine."""
    stalls = "frame arrived for", "frames arrive again"
    return [line for line in errors.splitlines() if not any(words in line for words in stalls)]


def differing(one, other):
    c = sum(a != b for a, b in zip(one, other))
    return c / len(one) if len(one) == len(other) else 1


def controls(c):
    live = vivid()
    size = live.geometry()
    rows = [  # key, name, value
        ("period", "brightness", "128"), ("greater", "brightness", "133"), ("period", "contrast", "128"),
        ("less", "contrast", "123"), ("comma", "brightness", "133"), ("greater", "brightness", "138"),
    ]
    for key, name, value in rows:
        state = live.key(key)
        c.check(state["control"] == {"name": name, "value": value} and not state["message_is_error"], key, state)
    c.check(brightness() == 138, "the camera has it", brightness())
    first = live.key("comma")["control"]["name"]
    c.check(first != "brightness" and live.key("period")["control"]["name"] == "brightness", "around the ends", first)

    # A camera that is removed and returns gets its setting again. Meanwhile nothing can be set.
    before = live.pixels()
    plug("unbind")
    live.wait(lambda e: e.get("trouble"), since=len(live.events))
    state = live.key("greater")
    c.check(state["message_is_error"] and "no signal" in state["message"], "nothing to set", state["message"])
    share = differing(before, live.pixels())
    c.check(0.01 < share < 0.6, "the last picture stays, with a label", share)
    plug("bind")
    live.wait(lambda e: e.get("trouble") == "" and e.get("outages") == 1, since=len(live.events))
    c.check(brightness() == 138, "the setting is back", brightness())

    # Other colours reshape the view, and the setting stays.
    since = len(live.events)
    set_camera("colorspace=1")
    now = live.wait(lambda e: e["event"] == "reshaped", since=since)
    c.check(now["matrix"] == "709", "the colours follow", now)
    state = live.wait(lambda e: e.get("trouble") == "" and e.get("outages") == 2, since=since)
    live.wait(lambda e: e.get("frames", 0) > state["frames"], since=since)
    c.check(brightness() == 138 and live.geometry() == size, "window and setting stay", brightness(), live.geometry())

    # The view can be ended while the camera is away.
    plug("unbind")
    live.wait(lambda e: e.get("trouble"), since=len(live.events))
    code, last, errors = live.end()
    c.check(code == 0 and last["outages"] == 3 and "no signal" in last["trouble"], code, errors)
    plug("bind")


def whole_run(c):
    """MJPEG of a USB camera through OpenCL into the window. screenshot() compares the window with the screenshot."""
    camera = subprocess.Popen([sys.executable, os.path.join(TESTS, "vm", "uvcsim.py"), "--jpegs",
                               os.path.join(PICTURES, "jpegs"), "--fps", "5"], stdout=subprocess.DEVNULL)
    while not os.path.exists("/dev/video2"):
        time.sleep(0.2)
    live = open_live("camera:uvcsim", "--pixel-format", "mjpeg", "-s", "320x240", "-f", "invert", "-p", "zerocopy",
                     "--overlay", "full", "--vsync", "off", cwd=PICTURES)
    # The new path replaces the first one, and its statistics begin anew.
    state = live.wait(lambda e: e["event"] == "progress" and e["frames"] > 5 and not e["building"] and e["age_ms"] > 0)
    c.check(state["path"] == "zerocopy" and state["rung"] == "mapped" and state["in"] == "host-ptr", state)
    live.key("o"), live.key("o")
    state = live.key("space")
    c.check(state["overlay"] == "off" and state["frozen"], state)
    live.key("s")
    with open(os.path.join(PICTURES, WINDOW), "wb") as file:
        file.write(live.pixels())
    code, last, errors = live.end()
    c.check(code == 0 and last["stages"]["decode"]["median_ms"] > 0 and not unexpected(errors), code, errors)
    live = open_live("camera:uvcsim", "--pixel-format", "mjpeg", "-p", "opencl", "--headless", "-n", "4", runs=False,
                     kind=Live, binary=DISCRETE)
    code, last, errors = live.wait_end()
    c.check(code == 0 and last["in"] == "pinned" and not unexpected(errors), last, errors)
    camera.terminate()
    camera.wait()


def in_place(c):
    """The driver's buffers as input of the kernels, or of the upload: the same bytes as on the CPU."""
    set_camera("osd_text_mode=2")
    saved = []
    rows = (BINARY, "cpu", "userptr"), (BINARY, "opencl", "userptr"), (DISCRETE, "opencl", "pinned")
    for binary, path, way in rows:
        name = at("in-place.png")
        live = open_live("camera:vivid", "-s", "320x180", "-p", path, "-f", "invert", "--headless", "-n", "14",
                         "--screenshot", name, runs=False, kind=Live, binary=binary)
        code, last, errors = live.wait_end()
        c.check(code == 0 and last["path"] == path and last["in"] == way, code, last, errors)
        with open(name, "rb") as file:
            saved.append(file.read())
    c.check(saved[0] == saved[1] == saved[2], "one picture")


def prepare():
    """Makes the USB camera's image, and compiles kernels into the cache that the guest reads. The guest compiles its
    own if its processor differs too much."""
    os.makedirs(os.path.join(PICTURES, "jpegs"), exist_ok=True)
    subprocess.run(["convert", "-size", "320x240", "plasma:red-blue", "-quality", "85",
                    os.path.join(PICTURES, "jpegs", "0.jpg")], check=True)
    film = os.path.join(PICTURES, "mjpeg.y4m")
    with open(film, "wb") as file:
        file.write(y4m(320, 240, "420jpeg", 4))
    for binary, *args in (BINARY, film, "-f", "invert"), (BINARY, "pattern", "-f", "invert"), (DISCRETE, film):
        run(binary, "live", *args, "-p", "opencl", "--headless", "-n", "4")


def screenshot(c):
    """The guest's two files: the window's content and the screenshot are equal."""
    with open(os.path.join(PICTURES, WINDOW), "rb") as file:
        c.check(file.read() == picture(os.path.join(PICTURES, SCREENSHOT)), "the screenshot is the window's picture")


def start_guest():
    """Returns the guest's exit status."""
    vm = [os.path.join(TESTS, "vm", "run"), "--mod", "vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0",
          "--mod", "vhci_hcd", "--mod", "uvcvideo", "--cpus", "2", "--mem", "3072", "--timeout", "900", "--rw",
          PICTURES, "--", os.path.join(TESTS, "support", "with-display"), sys.executable]
    return subprocess.run([*vm, os.path.abspath(__file__), BINARY, DISCRETE, *names],
                          env={**os.environ, "CAMERA_PICTURES": PICTURES}).returncode


if EMULATED:
    need_window()
    sys.exit(Checks().run(controls, whole_run, in_place))
need_tools()
prepare()
code = start_guest()
if code == 0 and (not names or whole_run.__name__ in names):
    code = Checks().run(screenshot, only=["screenshot"])
sys.exit(code)
