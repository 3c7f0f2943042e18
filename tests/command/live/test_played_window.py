#!/usr/bin/env python3
"""test_played_window.py PLAYED DISCRETE: a camera in the window: controls by key, outages, MJPEG, frames in place

PLAYED is monocle linked with played.c, a camera without a kernel; DISCRETE also with discrete.c.
"""
import os
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from live_support import Played, PlayedCamera, Window, gradient, need_window, picture, run

BINARY, DISCRETE = programs(2)
WIDTH, HEIGHT = 320, 240


class PlayedWindow(Played, Window):
    """A live view of the played camera in a window."""

    def __init__(self, binary, *args, **env):
        Played.count += 1
        self.camera = at("played%d" % Played.count)
        super().__init__(binary, at(), "camera:0", *args, PLAYED_SOCKET=self.camera, **env)


def differing(one, other):
    c = sum(a != b for a, b in zip(one, other))
    return c / len(one) if len(one) == len(other) else 1


def controls(c):
    live = PlayedWindow(BINARY, "-p", "cpu", "--vsync", "off", PLAYED_MODE="yuyv 320x240")
    size = live.geometry()
    rows = [  # key, name, value
        ("period", "brightness", "0"), ("greater", "brightness", "2"), ("period", "white_balance_automatic", "on"),
        ("less", "white_balance_automatic", "off"), ("comma", "brightness", "2"), ("greater", "brightness", "4"),
    ]
    for key, name, value in rows:
        state = live.key(key)
        c.check(state["control"] == {"name": name, "value": value} and not state["message_is_error"], key, state)
    c.check(live.control().get("control/brightness") == 4, "the camera has it")
    first = live.key("comma")["control"]["name"]
    c.check(first != "brightness" and live.key("period")["control"]["name"] == "brightness", "around the ends", first)

    # A camera that is removed and returns gets its setting again. Meanwhile nothing can be set.
    before = live.pixels()
    live.order("plug=0")
    live.until(lambda s: s["trouble"])
    state = live.key("greater")
    c.check(state["message_is_error"] and "no signal" in state["message"], "nothing to set", state["message"])
    share = differing(before, live.pixels())
    c.check(0.01 < share < 0.6, "the last picture stays, with a label", share)
    live.order("reset=")
    live.order("plug=1")
    live.until(lambda s: s["trouble"] == "" and s["outages"] == 1)
    c.check(live.control().get("control/brightness") == 4, "the setting is back")

    # Other colours reshape the view, and the setting stays.
    since = len(live.events)
    live.order("colors=3")
    now = live.wait(lambda e: e["event"] == "reshaped", since=since)
    c.check(now["matrix"] == "709", "the colours follow", now)
    live.until(lambda s: s["trouble"] == "" and s["outages"] == 2)
    live.more()
    c.check(live.control().get("control/brightness") == 4 and live.geometry() == size, "window and setting stay",
            live.geometry())

    # The view can be ended while the camera is away.
    live.order("plug=0")
    live.until(lambda s: s["trouble"])
    code, last, errors = live.end()
    c.check(code == 0 and last["outages"] == 3 and "no signal" in last["trouble"], code, errors)


def mjpeg(c):
    """MJPEG through OpenCL into the window. The window has the same pixels as the screenshot."""
    picture_at(at("0.jpg"))
    camera = {"PLAYED_MODE": "mjpeg %dx%d" % (WIDTH, HEIGHT), "PLAYED_FILES": at("0.jpg")}
    live = PlayedWindow(BINARY, "-f", "invert", "-p", "zerocopy", "--overlay", "full", "--vsync", "off", **camera)
    # The new path replaces the first one, and its statistics begin anew.
    state = live.until(lambda s: s["frames"] > 5 and not s["building"] and s["age_ms"] > 0)
    c.check(state["path"] == "zerocopy" and state["sharing"] == "mapped" and state["in"] == "host-ptr", state)
    live.key("o"), live.key("o")
    state = live.key("space")
    c.check(state["overlay"] == "off" and state["paused"], state)
    live.key("s")
    pixels = live.pixels()
    code, last, errors = live.end()
    c.check(code == 0 and last["stages"]["decode"]["median_ms"] > 0 and not errors, code, errors)
    c.check(pixels == picture(at("monocle-0001.png")), "the screenshot is the window's picture")
    code, last, errors = whole(DISCRETE, "-p", "opencl", "-n", "4", **camera)
    c.check(code == 0 and last["in"] == "pinned" and not errors, last, errors)


def picture_at(path):
    """Writes a picture as a JPEG file, or as YUYV bytes."""
    if path.endswith(".jpg"):
        run("convert", "-size", "%dx%d" % (WIDTH, HEIGHT), "plasma:red-blue", "-quality", "85", path)
        return
    with open(path, "wb") as file:
        file.write(bytes(value for i in range(WIDTH * HEIGHT) for value in gradient(i % WIDTH, i // WIDTH)[:2]))


def whole(binary, *args, **camera):
    """Returns the end of a run without a window."""
    return PlayedCamera(binary, "--headless", *args, runs=False, **camera).wait_end()


def in_place(c):
    """The driver's buffers as input of the kernels, or of the upload: the same bytes as on the CPU."""
    picture_at(at("picture"))
    saved = []
    rows = (BINARY, "cpu", "userptr"), (BINARY, "opencl", "userptr"), (DISCRETE, "opencl", "pinned")
    for binary, path, way in rows:
        name = at("in-place-%s.png" % way)
        code, last, errors = whole(binary, "-p", path, "-f", "invert", "-n", "14", "--screenshot", name, "--overwrite",
                                   PLAYED_MODE="yuyv %dx%d" % (WIDTH, HEIGHT), PLAYED_FILES=at("picture"))
        c.check(code == 0 and last["path"] == path and last["in"] == way, code, last, errors)
        with open(name, "rb") as file:
            saved.append(file.read())
    c.check(saved[0] == saved[1] == saved[2], "one picture")


if __name__ == "__main__":
    need_window()
    sys.exit(Checks().run(controls, mjpeg, in_place))
