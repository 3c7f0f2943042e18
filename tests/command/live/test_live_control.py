#!/usr/bin/env python3
"""test_live_control.py MONOCLE LATE: the control socket of the live view (--socket), and `monocle ctl`

Needs a display (with-display gives one) and xdotool. LATE is monocle linked with late.c.
"""
import functools
import json
import os
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
import x_support
from checks import Checks, at, programs
from live_support import (PATIENCE, Control, ControlledView, ended, has_opencl, need_window, picture, png, run,
                          wait_until)

BINARY, LATE = programs(2)
PATTERN = "pattern:160x120@30"
OPENCL = has_opencl(BINARY)
View = functools.partial(ControlledView, BINARY)
# Fields of the JSON state that are no setting or figure of their own:
NO_ROWS = set("kind width height pixel_format matrix range rate in why passes tuning control "
              "message_is_error".split())


def ctl(*words, **more):
    """Returns the exit status, standard output and the last line of standard error of one `monocle ctl`."""
    code, out, err = run(BINARY, "ctl", at("m"), *words, cwd=at(), **more)
    return code, out.decode(), err.strip()


def looks():
    return [(look["name"], look["chain"]) for look in json.loads(run(BINARY, "looks", "--json")[1])]


def check_both(c, m, left, right, width, height):
    """screenshot_both has the original on the left, and the result on the right with black below."""
    c.check(m.ask("screenshot_both", at("both.png")) == at("both.png"), "its name")
    both, row = picture(at("both.png")), 3 * (160 + width)
    os.remove(at("both.png"))
    c.check(len(both) == 120 * row, "the size of both", len(both))
    rows = [both[y * row:(y + 1) * row] for y in range(120)]
    c.check(b"".join(line[:3 * 160] for line in rows) == left, "the original")
    c.check(b"".join(line[3 * 160:] for line in rows) == right + bytes(3 * width * (120 - height)), "the result", width)


def drive(c, *args):
    """Properties, keys, parameters and screenshots."""
    view = View(PATTERN, *args)
    m = view.client()
    c.check(m.ask("wait_frame", 3) >= 3 and m.get("frames") >= 3, "wait_frame 3")
    c.check(stat.S_IMODE(os.stat(view.path).st_mode) == 0o600, "the mode of the socket")
    for name, value in [("chain", "blur=3,contrast=2"), ("param/blur/radius", 5), ("param/1/amount", 1.25),
                        ("param/0/radius", "2"), ("chain", "emboss=ne"), ("param/emboss/direction", "se"),
                        ("chain", "gray"), ("mirror", True), ("camera", "mirror"), ("mirror", False),
                        ("camera", "none"), ("look", "ink"), ("mirror", True), ("look", "poster"),
                        ("mirror", False), ("look", "poster"), ("flip", True), ("rotate", "90"),
                        ("camera", "rotate,flip"), ("rotate", "0"), ("flip", False), ("camera", "none"),
                        ("chain", "none"), ("look", None), ("path", "cpu"), ("paused", True), ("paused", "off"),
                        ("paused", "on")]:
        if value is not None:
            m.set(name, value)
        got = m.get(name)
        want = {"2": 2, "on": True, "off": False}.get(value, value)
        c.check(got == want, name, "is", got, "not", want)
    frame = m.get("frames")
    for path in ("cpu", "opencl") if OPENCL else ("cpu",):  # the frozen frame is filtered again
        m.set("path", path)
        c.check(m.get("sharing") == path, "sharing", m.get("sharing"))
        for chain in "none", "invert":
            m.set("chain", chain)
            c.check(m.get("status")["chain"] == chain, "the frame has the chain", m.get("status")["chain"])
            shot = at(path + chain + ".png")
            c.check(m.ask("screenshot", shot) == shot, "screenshot")
        plain, inverted = picture(at(path + "none.png")), picture(at(path + "invert.png"))
        c.check(len(plain) == 3 * 160 * 120 and all(a + b == 255 for a, b in zip(plain, inverted)), path, "inverts")
        check_both(c, m, plain, inverted, 160, 120)
        m.set("chain", "invert,crop=64:32")
        m.ask("screenshot", at(path + "crop.png"))
        check_both(c, m, plain, picture(at(path + "crop.png")), 64, 32)
        m.set("chain", "invert"), m.set("camera", "rotate,mirror")
        both = picture(m.ask("screenshot_both", at(path + "turned.png")))
        halves = [(both[row:row + 360], both[row + 360:row + 720]) for row in range(0, 160 * 720, 720)]
        c.check(len(both) == 160 * 720 and all(a + b == 255 for half in halves for a, b in zip(*half)), "turned")
        m.set("camera", "none")
    for number in range(len(json.loads(run(BINARY, "devices", "--json")[1])), 32):
        c.check("no OpenCL device matches" in m.error("set_property", "device", number), "device", number)
    c.check(m.get("frames") == frame, "a paused view shows no new frame")
    m.set("path", "cpu"), m.set("output_size", "64x48"), m.set("paused", False)
    c.check(m.ask("wait_frame", m.get("frames") + 2) and m.get("message") == "output_size 64x48", m.get("message"))
    c.check("268435456 in all" in m.error("set_property", "output_size", "16385x16384"), "a large output_size")
    m.set("output_size", "auto"), m.set("paused", True)
    for name, value in ("chain", "blur=7"), ("chain", "blur=2"), ("param/blur/radius", 7):
        m.set(name, value)
        m.ask("screenshot", at("%s-%s.png" % (name.partition("/")[0], value)))
    blurred, other, changed = (picture(at(name + ".png")) for name in ("chain-blur=7", "chain-blur=2", "param-7"))
    c.check(changed == blurred != other, "the image of a changed parameter")
    m.set("chain", "flip")
    m.key("mirror"), m.key("look", 4)
    c.check(m.get("chain") == "gray,gamma=0.9,curves=0/0 64/34 128/122 192/222 255/255,grain=28,"
            "vignette=0.7:0.2" and m.get("camera") == "mirror", "keys", m.get("chain"))
    m.key("flip"), m.key("rotate")  # mirrored and flipped: clockwise again
    c.check((m.get("camera"), m.get("rotate"), m.get("flip")) == ("rotate,mirror,flip", "90", True), m.get("camera"))
    m.key("mirror"), m.key("rotate"), m.key("flip")
    c.check((m.get("camera"), m.get("rotate"), m.get("mirror")) == ("none", "0", False), m.get("camera"))
    c.check("rotate is 0, 90, 180 or 270" in m.error("set_property", "rotate", 45), "an angle")
    m.set("chain", "blur")
    m.set("param/blur/radius", 7)
    m.key("undo")
    m.key("up")
    c.check(m.get("param/blur/radius") == 3 and m.get("selected") == "0:blur.radius", m.get("params"))
    for name, value, selected, message in (
            ("chain", "sobel,gray,blur=3", "1:gray.mode", "gray: mode average"),
            ("chain", "sobel,invert", "0:sobel", "no filter of the chain has a parameter"),
            ("look", "poster", "0:median.radius", "median: radius 2")):
        m.ask("set_property", name, value), m.ask("key", "up")
        c.check((m.get("selected"), m.get("message")) == (selected, message), value, m.get("selected"),
                m.get("message"))
    for chain, key, changed, message in (
            ("scale", "up", "scale=176", "scale: width 176"), ("crop=0:64", "down", "crop=144:64", "crop: width 144"),
            ("scale=20", "down", "scale=4", "scale: width 4"),
            ("scale=16", "down", "scale=16", "scale: width 16, the minimum"),
            ("scale=factor=0.5", "up", "scale=factor=0.5",
             "scale: give only one of these: a size (width, height), factor, most"),
            ("blur=15", "up", "blur=15", "blur: radius 15, the maximum"),
            ("gamma=2.3", "up", "gamma=2.4", "gamma: value 2.4"),
            ("gray", "down", "gray", "gray: mode luma, the first"),
            ("overlay", "up", "overlay", "overlay: no file; name one in the chain, as in -f overlay=file=FILE")):
        m.ask("set_property", "chain", chain), m.ask("key", key)
        c.check((m.get("chain"), m.get("message")) == (changed, message), chain, m.get("chain"), m.get("message"))
        m.ask("key", "undo")
    for words in ("set_property", "chain", "scale"), ("key", "next"), ("key", "next"), ("key", "next"), ("key", "down"):
        m.ask(*words)
    c.check(m.get("chain") == "scale=most=144", m.get("chain"))
    m.set("chain", "overlay,gray")
    params = {param["name"]: (param.get("value"), param.get("max")) for param in m.get("params")}
    c.check(params["param/0/file"] == ("none", None) and params["param/0/scale"][1] == 1000, params)
    c.check(m.get("params")[-1]["choices"] == ["luma", "average", "paint"], m.get("params")[-1])
    m.set("look", "none")
    c.check(m.get("chain") == "none", m.get("chain"))
    error = m.error("set_property", "chain", "overlay=a,b.jpg")
    c.check("cannot read the file 'a': No such file or directory; a name with , : ; | ! or = needs" in error,
            error)
    for _ in range(33):
        m.ask("key", "undo")
    c.check(m.get("message") == "there is no change to undo", m.get("message"))
    m.set("chain", "sobel,median")
    m.ask("key", "previous"), m.ask("key", "up")
    c.check(m.get("message") == "sobel has no parameter; ] selects the next filter", m.get("message"))
    if "--headless" in args:  # in a window, the key opens a list
        m.ask("set_property", "camera", "none")
        m.ask("set_property", "chain", ",".join(["gray"] * 15)), m.ask("key", "add")
        c.check(m.get("message") == "gray: mode luma" and m.get("chain").count("gray") == 16, m.get("message"))
        m.ask("key", "add")
        c.check(m.get("message") == "a chain has at most 16 filters", m.get("message"))
    m.set("chain", "none")
    name = m.ask("screenshot")
    c.check(name == "monocle-0001.png" and os.path.exists(at(name)), name)
    m.set("paused", False)
    c.check(m.ask("wait_frame", frame + 5) >= frame + 5, "it goes on")
    stages = m.get("stages")
    c.check(any(name.startswith("pass") and stages[name]["median_ms"] > 0 for name in stages), stages)
    c.check(m.get("size") == "160x120" and m.get("source") == "test pattern", m.get("size"), m.get("source"))
    listed = {row["name"]: row for row in m.ask("list_properties")}
    c.check({"scope", "levels", "mirror", "zoom"} <= set(listed), sorted(listed))
    for name in set(listed) - {"param/", "control/"}:
        c.check(m.error("get_property", name) == "", name, m.error("get_property", name))
        writable = "cannot be set" not in m.error("set_property", name, [])
        c.check(listed[name]["writable"] == writable, name, listed[name])
    m.close()
    return view


def one_name(c):
    """A property has one name at all doors. A key, `cycle` and `set` do the same."""
    png(at("still.png"), 64, 48)
    view = View(at("still.png"), "--headless", "-p", "cpu", "-f", ",".join(["gray"] * 16))
    m = view.client()
    m.ask("wait_frame")
    error = m.error("set_property", "mirror", True)
    c.check(error == "camera: camera, chain and titles have at most 16 filters together", error)
    c.check(m.error("key", "mirror") == error == m.error("cycle", "mirror"), "other doors")
    c.check(m.get("message") == error and m.get("status")["message_is_error"], "the key's message", m.get("message"))
    m.ask("key", "undo")
    c.check(m.get("message") == "there is no change to undo", "a refused mirror is no change", m.get("message"))
    m.ask("set_property", "recording_format", "mp4")
    c.check(m.get("message") == "recording_format mp4", "the message of set", m.get("message"))
    error = m.error("key", "tune")
    c.check("the cpu path has nothing to tune; " in error and error == m.get("message"), error, m.get("message"))
    c.check(m.get("tune") is False, "nothing is tuned")
    m.ask("set_property", "chain", "none")
    for words, value in ((), True), ((), False), (("on", "off"), True), (("on", "off"), False), (("true",), True):
        m.ask("cycle", "paused", *words)
        status = m.get("status")
        c.check(m.get("paused") is value is status["paused"], words, value, status["paused"])
    m.ask("cycle", "look", "ink", "none")
    c.check(m.get("look") == "ink", m.get("look"))
    for words, why in (("cycle", "look"), "needs the values"), (("cycle", "fps"), "cannot be set"), (
            ("cycle", "fps", "1"), "cannot be set"), (("cycle", "overlay"), "needs a window"), (("cycle", 1), "text"):
        c.check(why in m.error(*words), words, m.error(*words))
    m.ask("wait_frame")
    status = m.get("status")
    c.check(status["sharing"] == m.get("sharing") == "cpu", status)
    c.check(status["frames"] == m.get("frames"), status)
    rows = {row["name"]: row for row in m.ask("list_properties")}
    c.check(rows["scope"]["choices"] == "off|histogram|columns|rows" and rows["divider"]["max"] == 1, rows["scope"])
    c.check(set(status) - set(rows) == NO_ROWS, "fields without a row of property_table.c",
            set(status) - set(rows) ^ NO_ROWS)
    m.close()
    ended(c, view)


def inside(c):
    """`show` shows the image after a filter of the chain, also in a group of a mask: as the shorter chain does."""
    png(at("still.png"), 64, 48)
    filters = ["keep", "blur=3", "gray", "inside=30", "emboss"]
    view = View(at("still.png"), "--headless", "-p", "cpu", "-f", ",".join(filters))
    m = view.client()
    m.ask("wait_frame")

    def seen(name):
        m.ask("screenshot", at(name))
        return picture(at(name))

    whole = seen("whole.png")
    for count in range(len(filters)):
        m.set("show", count)
        name = filters[count - 1] if count else "the original"
        c.check((m.get("show"), m.get("shown")) == (count, f"{count} of 5: {name}"), count, m.get("shown"))
        c.check(m.get("message") == m.get("shown"), m.get("message"), m.get("chain"))
        shown = seen(f"shown-{count}.png")
        code, _, err = run(BINARY, "batch", "-p", "cpu", "-f", ",".join(filters[:count]) or "none", at("still.png"),
                           "-o", at(f"wanted-{count}.png"))
        c.check(code == 0 and shown == picture(at(f"wanted-{count}.png")), count, "the image", err)
    m.set("show", "all")
    c.check(m.get("shown") is None and m.get("message") == "the result" and seen("all.png") == whole, m.get("shown"))
    numbers = []
    for _ in range(6):
        m.ask("key", "inside")
        numbers.append(m.get("show"))
    c.check(numbers == [0, 1, 2, 3, 4, "all"], "the key i", numbers)
    m.set("show", 5)
    c.check((m.get("show"), m.get("shown")) == ("all", None) and seen("five.png") == whole, "all five", m.get("show"))
    for value in 6, -1, "x", "", "2 ":
        c.check("0 (the original) to 5" in m.error("set_property", "show", value), value)
    m.set("show", 3)
    m.set("chain", "gray")
    c.check(m.get("shown") is None, "a shorter chain is whole", m.get("shown"))
    m.ask("key", "remove")
    error = m.error("key", "inside")
    c.check(error == "the chain has no filter", "no filter", error)
    m.close()
    ended(c, view)


def parts(c):
    """A look and a mirror change the picture under a logo, which stays as it is. Undo takes the parts back together."""
    logo = [(0, 0, 0) if (x + y) % 3 else (255, 255, 255) for y in range(24) for x in range(32)]
    png(at("still.png"), 160, 120)
    png(at("logo.png"), 32, 24, lambda x, y: logo[y * 32 + x])
    view = View(at("still.png"), "--headless", "-p", "cpu", "--look", "ink", "-f", "sepia", "--camera", "rotate=180",
                "--titles", "overlay=logo.png:x=4:y=8")
    m = view.client()

    def taken(name):
        """Returns the rows of the picture, and those inside the logo."""
        m.ask("screenshot", at(name + ".png"))
        pixels = picture(at(name + ".png"))
        rows = [pixels[480 * y:480 * (y + 1)] for y in range(120)]
        return rows, b"".join(row[3 * 4:3 * 36] for row in rows[8:32])

    titles = "overlay=%s:4:8" % at("logo.png")

    def all_parts():
        return tuple(m.get(name) for name in ("camera", "chain", "titles", "look"))

    c.check(all_parts() == ("rotate=180", dict(looks())["ink"] + ",sepia", titles, None), all_parts())
    m.ask("wait_frame", 1)
    m.set("chain", "none")
    plain, drawn = taken("plain")
    c.check(drawn == b"".join(bytes(pixel) for pixel in logo), "the logo")
    m.key("mirror")
    mirrored, drawn = taken("mirrored")
    c.check(drawn == b"".join(bytes(pixel) for pixel in logo), "the logo of a mirrored picture")
    c.check(mirrored[119] == b"".join(plain[119][x:x + 3] for x in range(477, -3, -3)) != plain[119], "the picture")
    m.set("look", "noir")
    filtered, drawn = taken("noir")
    c.check(drawn == b"".join(bytes(pixel) for pixel in logo) and filtered[119] != mirrored[119], "the logo of a look")
    now = ("rotate=180,mirror", dict(looks())["noir"], titles, "noir")
    c.check(all_parts() == now and m.get("mirror") is True, all_parts())
    status = m.get("status")
    c.check((status["camera"], status["chain"], status["titles"]) == now[:3], status)
    error = m.error("set_property", "titles", "overlay=nosuch.png")
    c.check(error.startswith("titles: overlay: cannot read the file 'nosuch.png'") and all_parts() == now, error)
    m.set("titles", "none")
    c.check(taken("bare")[1] != drawn, "no logo")
    for want in now, ("rotate=180,mirror", "none", titles, None), (
            "rotate=180", "none", titles, None):
        m.key("undo")
        c.check(all_parts() == want, all_parts())
    m.close()
    ended(c, view)


def zoomed(c):
    """zoom_output zooms the outputs as the window, under the titles, and the window shows that picture whole."""
    need_window()
    png(at("still.png"), 160, 120)
    view = View(at("still.png"), "-p", "cpu", "-f", "invert", "--titles", "text=hi", "--overlay", "off")
    m = view.client()
    m.ask("wait_frame", 1)
    width, height = x_support.place_of(x_support.windows_of(view.process.pid)[0])[-2:]
    fit = min(width / 160, height / 120)
    m.set("zoom", 2 * fit)
    m.ask("wait_frame")
    for on, chain in ((False, "invert,text=hi"), (True, "invert,crop=80:60,scale=160:120,text=hi")):
        m.set("zoom_output", on)
        shot, want = at(f"shot-{on}.png"), at(f"want-{on}.png")
        m.ask("wait_frame")
        m.ask("screenshot", shot)
        code, _, err = run(BINARY, "batch", "-p", "cpu", "-f", chain, at("still.png"), "-o", want)
        c.check(code == 0 and picture(shot) == picture(want), "the zoomed output", on, err)
    pixels = x_support.pixels_of(x_support.windows_of(view.process.pid)[0])
    m.set("chain", "invert,crop=80:60,scale=160:120"), m.set("zoom", 0)
    m.set("zoom_output", False)
    m.ask("wait_frame")
    m.ask("wait_frame")
    c.check(x_support.pixels_of(x_support.windows_of(view.process.pid)[0]) == pixels, "the window")
    m.close()
    ended(c, view)


def headless(c):
    view = drive(c, "--headless")
    m = view.client()
    for command in ("key", "split"), ("key", "fullscreen"), ("set_property", "overlay", "full"):
        c.check("needs a window" in m.error(*command), command, m.error(*command))
    m.close()
    ended(c, view, "headless")


def window(c):
    need_window()
    view = drive(c)
    m = view.client()
    choices = {row["name"]: row["choices"].split("|")[::-1] for row in m.ask("list_properties") if "choices" in row}
    del choices["path"]
    c.check({"split", "overlay", "scope"} <= set(choices), choices)
    for name, values in {**choices, "divider": (0.25, 1, 0.5), "help": (True, False), "vsync": (False, True),
                         "fullscreen": (True, False)}.items():
        for value in values if OPENCL else set(values) - {"path"}:
            m.set(name, value)
            c.check(m.get(name) == value, name, "is", m.get(name), "not", value)
    m.key("split")
    c.check(m.get("split") == "original", "a key", m.get("split"))
    m.ask("set_property", "help", "on")
    c.check(m.get("message") == "", "the list of keys clears the message, which would hide a part", m.get("message"))
    for words, message in (("set_property", "scope", "rows"), "scope rows"), (("key", "scope"), "scope off"), (
            ("key", "vsync"), "vsync off"), (("set_property", "vsync", True), "vsync on"):
        m.ask(*words)
        c.check(m.get("message") == message, words, m.get("message"))
    for divider in -0.1, 1.1, "x", "nan", "0.5x":
        error = m.error("set_property", "divider", divider)
        c.check("is not a number from 0 to 1" in error, divider, error)
    m.close()
    ended(c, view, "window")


def list_of_keys(c):
    """The list of keys names the digits' looks. A look that was just saved moves none of them."""
    need_window()
    png(at("still.png"), 64, 48)
    view = View(at("still.png"), "-f", "invert", "-p", "cpu", "--overlay", "off", HOME=at(),
                XDG_CONFIG_HOME=at("config"))
    m = view.client()
    m.ask("wait_frame", 1)

    def listed():
        m.key("help")
        pixels = x_support.pixels_of(x_support.windows_of(view.process.pid)[0])
        m.key("help")
        return pixels

    before = listed()
    c.check(listed() == before, "the same list")
    m.key("save-look")
    c.check(m.get("message").startswith("saved as look-1; "), m.get("message"))
    c.check(listed() == before, "the saved look moves no digit")
    m.ask("key", "screenshot")
    m.ask("wait_frame")
    c.check(m.get("message") == "saved ~/still-look-1.png", m.get("message"))
    m.close()
    ended(c, view)


def overwriting(c):
    """A screenshot replaces neither the source nor the recording, and does not wait for the reader of a pipe."""
    png(at("still.png"), 100, 60)
    png(at("other.png"), 100, 60)
    os.mkfifo(at("pipe"))
    os.symlink("still.png", at("link.png"))
    os.symlink("film.y4m", at("film.png"))
    os.symlink("trace", at("trace.png"))
    view = View(at("still.png"), "--headless", "--loop", "--record", at("film.y4m"), "--trace", at("trace"))
    m = view.client()
    m.ask("wait_frame")

    def refused(name, why):
        for command in ("screenshot", "screenshot_both"):
            error = m.error(command, at(name))
            c.check(why in error, command, name, error)

    refused("still.png", "is the source")
    refused("link.png", "is the source")
    refused("film.y4m", "as PNG")
    refused("film.png", "already writes")
    refused("trace.png", "already writes")
    refused("pipe", "is a pipe")
    m.set("source", at("other.png"))
    refused("other.png", "is the source")
    refused("still.png", "exists; name another file")  # no source now
    with open(at("film.y4m"), "rb") as film:
        c.check(film.read(9) == b"YUV4MPEG2", "the recording")
    m.close()
    code, _, log = view.end()
    c.check(code == 0 and log.count("monocle: error: ") == 16, code, log)


def saving(c):
    """While screenshots are written, the view answers. The end of the run waits for them."""
    os.mkdir(at("hold"))
    view = ControlledView(LATE, PATTERN, "--headless", LATE_HOLD=at("hold"))
    m, other = view.client(), view.client()
    m.ask("wait_frame")
    m.set("paused", True)
    m.send("screenshot", at("first.png"))
    c.check(other.get("frames") > 0, "an answer")
    for name in "monocle-0001.png", "monocle-0002.png":
        other.ask("key", "screenshot")
        c.check(other.get("message") == "saving %s" % at(name), other.get("message"))
    left = view.client()
    left.send("screenshot", at("left.png"))
    other.get("frames")
    left.close()
    left = view.client()
    c.check(left.get("frames") > 0, "the next client need not wait")
    other.ask("quit")
    c.check(not select.select([m.socket], [], [], 0.1)[0], "the first screenshot is not complete")
    os.rmdir(at("hold"))
    c.check(m.reply()["data"] == at("first.png") and view.wait_end()[0] == 0, "its answer, and the end")
    for name in "first.png", "monocle-0001.png", "monocle-0002.png", "left.png":
        with open(at(name), "rb") as file:
            data = file.read()
        c.check(data[16:24] == struct.pack(">II", 160, 120) and data[-8:-4] == b"IEND", name)


def still(c):
    """A still image stays, also without a window, and a filter changes it."""
    png(at("still.png"), 100, 60)
    view = View(at("still.png"), "--headless", "-f", "invert")
    m = view.client()
    m.ask("wait_frame")
    m.ask("screenshot", at("a.png"))
    m.set("chain", "rotate=90")
    c.check(m.get("size") == "60x100", m.get("size"))
    m.set("chain", "none")
    m.ask("screenshot", at("b.png"))
    c.check(all(a + b == 255 for a, b in zip(picture(at("a.png")), picture(at("b.png")))), "inverted")
    c.check(m.get("frames") == 1, m.get("frames"))
    m.close()
    ended(c, view, "still")


def observers(c):
    """Two clients observe, and get a change that a third one makes."""
    view = View(PATTERN, "--headless")
    one, two, third = view.client(), view.client(), view.client()
    one.ask("observe_property", 7, "chain")
    two.ask("observe_property", 8, "chain")
    two.ask("observe_property", 9, "frames")
    c.check(one.event("chain") == {"event": "property-change", "id": 7, "name": "chain", "data": "none"}, "at once")
    c.check(two.event("chain")["data"] == "none", "the second client")
    third.set("chain", "gray")
    c.check(one.event("chain") == {"event": "property-change", "id": 7, "name": "chain", "data": "gray"}, "a change")
    c.check(two.event("chain")["id"] == 8, "the id")
    frames = [two.event("frames")["data"] for _ in range(5)]
    c.check(frames == sorted(set(frames)), "each change once", frames)
    one.ask("observe_property", 6, "paused")
    c.check(one.ask("unobserve_property", 7) == 1 and one.ask("unobserve_property", 7) == 0, "unobserve")
    one.event("paused")
    third.set("paused", True)
    c.check(one.event("paused") == {"event": "property-change", "id": 6, "name": "paused", "data": True}, "the other")
    third.set("paused", False)
    c.check(one.ask("unobserve_property", 6) == 1, "unobserve the other")
    one.events = []
    third.set("chain", "sobel")
    c.check(two.event("chain")["data"] == "sobel", "the other observer stays")
    one.get("chain")
    c.check(not one.events, "no more events", one.events)
    c.check("at most 32" in [third.error("observe_property", i, "fps") for i in range(33)][-1], "33 observers")
    c.check("no property 'chian'" in one.error("observe_property", 1, "chian"), "unknown")
    two.close()
    third.ask("wait_frame", third.get("frames") + 3)  # its place is free
    four = view.client()
    third.set("chain", "emboss")
    c.check(four.get("chain") == "emboss" and not four.events, "the next client in its place observes nothing",
            four.events)
    for client in one, third, four:
        client.close()
    ended(c, view)


def in_parts(c):
    """Replies that the socket does not take at once arrive whole and in order."""
    view = View(PATTERN, "--headless")
    m = view.client()
    one = m.ask("list_properties")
    replies = 700000 // len(json.dumps(one))  # more than the socket holds, and less than the queue of a client
    first = m.number + 1
    for _ in range(replies):
        m.send("list_properties")
    other = view.client()
    other.ask("wait_frame", other.get("frames") + 5)
    for number in range(first, first + replies):
        reply = m.reply()
        c.check(reply["request_id"] == number and reply["data"] == one, "reply", number, "of", replies)
    for client in m, other:
        client.close()
    ended(c, view)


def not_built(c):
    """A path that cannot be built leaves the earlier one in use, also for the next chain."""
    if not OPENCL:
        return
    os.mkdir(at("kernels"))
    with open(at("kernels/common.cl"), "w") as file:
        file.write("#error no path\n")
    view = View(PATTERN, "--headless", "-p", "cpu", "--kernels", at("kernels"))
    m = view.client()
    m.ask("set_property", "path", "opencl")
    c.check(wait_until(lambda: "cannot build" in m.get("message")), "the error", m.get("message"))
    c.check(m.get("path") == "cpu", "the path", m.get("path"))
    m.set("chain", "gray")
    c.check(m.get("status")["path"] == "cpu" and m.get("status")["chain"] == "gray", "the next chain", m.get("status"))
    m.close()
    code, _, log = view.end()
    c.check(code == 0 and "no path" in log, code, log)


def rate_limit(c):
    """An observed property is reported at most every 8 ms, not with each frame."""
    view = View("pattern:16x16", "-p", "cpu", "--headless", "--fast")
    m = view.client()
    m.ask("observe_property", 1, "frames")
    first = m.event("frames")["data"]
    m.ask("wait_frame", first + 2000)
    m.ask("unobserve_property", 1)
    c.check(1 <= len(m.events) < 1000, len(m.events), "events for 2000 frames")
    m.close()
    ended(c, view)


def order(c):
    """Replies come in the order of the requests, also behind a wait; a client that ends its side gets them all."""
    view = View(PATTERN, "--headless")
    m = view.client()
    all_properties = m.ask("list_properties")
    count = 400000 // len(json.dumps(all_properties))  # more than the socket holds: replies are sent in part
    for _ in range(count):
        m.send("list_properties")
    other = view.client()
    c.check(other.get("frames") >= 0, "another client is answered")
    other.close()
    replies = [m.reply() for _ in range(count)]
    c.check([r["request_id"] for r in replies] == list(range(2, count + 2)), "in part", len(replies))
    c.check(all(r["data"] == all_properties for r in replies), "whole replies")
    now, first = m.get("frames"), m.number + 1
    for number in range(200):
        m.send("get_property", "frames")
        if number == 100:
            m.send("wait_frame", now + 20)
    m.socket.shutdown(socket.SHUT_WR)
    replies = []
    while line := m.line():
        replies.append(line)
    c.check([r["request_id"] for r in replies] == list(range(first, first + 201)), "the order of", len(replies))
    c.check(all(r["data"] >= now + 20 for r in replies[101:]), "the wait delays the rest", replies[101])
    m.close()
    ended(c, view)


MALFORMED = [  # line, part of the error, request_id
    (b"get_property chain", "not JSON", 0), (b"{", "not JSON", 0), (b"[]", "request has the form", 0),
    (b"{}", "request has the form", 0), (b'{"command": "quit"}', "request has the form", 0),
    (b'{"command": []}', "request has the form", 0), (b'{"command": [1], "request_id": 5}', "has the form", 5),
    (b'{"command": ["quit"], "request_id": 1.5}', "request_id is not", 0),
    (b'{"command": ["quit"], "request_id": 99999999999999999999}', "not JSON", 0),
    (b'{"command": ["quit"], "command": ["quit"]}', "not JSON", 0),
    (b'{"command": ["get_property", "\xff\xfe"], "request_id": 3}', "not JSON", 0),
    (b'{"command": ["get_property", "a\\u0000b"], "request_id": 3}', "not JSON", 0),
    (b'{"command": ["quit\x00"]}', "not JSON", 0), (b'{"a":' * 5000, "not JSON", 0), (b"[" * 60000, "not JSON", 0),
    (b'{"command": ["quti"], "request_id": -9223372036854775808}', "did you mean quit", -9223372036854775808),
    (b'{"command": ["quit", 1], "request_id": 6}', "wrong number of arguments", 6),
    (b'{"command": ["get_property"], "request_id": 6}', "usage: get_property NAME", 6),
    (b'{"command": ["get_property", 5], "request_id": 6}', "not a text", 6),
    (b'{"command": ["get_property", "chian"], "request_id": 6}', "did you mean chain", 6),
    (b'{"command": ["get_property", "xyz"], "request_id": 6}', "`monocle ctl SOCKET list` lists them", 6),
    (b'{"command": ["set_property", "look", "inc"], "request_id": 6}', "did you mean ink?", 6),
    (b'{"command": ["set_property", "look", "x y"], "request_id": 6}', "'monocle looks' lists the looks", 6),
    (b'{"command": ["get_property", "param/blur/radius"], "request_id": 6}', "no stage 'blur'", 6),
    (b'{"command": ["set_property", "chain", "blurr"], "request_id": 6}', "blur", 6),
    (b'{"command": ["set_property", "chain", {"a": 1}], "request_id": 6}', "must be a text", 6),
    (b'{"command": ["set_property", "chain", "' + b"gray," * 2000 + b'"], "request_id": 6}', "at most 4095 bytes", 6),
    (b'{"command": ["set_property", "chain", "scale=30000x30000"], "request_id": 6}', "scale", 6),
    (b'{"command": ["set_property", "fps", 5], "request_id": 6}', "cannot be set", 6),
    (b'{"command": ["set_property", "paused", "perhaps"], "request_id": 6}', "not on or off", 6),
    (b'{"command": ["set_property", "path", "gpu"], "request_id": 6}', "cpu, opencl", 6),
    (b'{"command": ["set_property", "device", "no such"], "request_id": 6}', "no OpenCL device", 6),
    (b'{"command": ["wait_frame", -1], "request_id": 6}', "not a whole number", 6),
    (b'{"command": ["wait_frame", 1e300], "request_id": 6}', "not a whole number", 6),
    (b'{"command": ["observe_property", "x", "fps"], "request_id": 6}', "not a whole number", 6),
    (b'{"command": ["key", "pth"], "request_id": 6}', "did you mean path", 6),
    (b'{"command": ["key", "look"], "request_id": 6}', "the digit", 6),
    (b'{"command": ["key", "look", 10], "request_id": 6}', "0 to 9", 6),
    (b'{"command": ["screenshot", "/nonexistent/a.png"], "request_id": 6}', "/nonexistent/a.png: No such file", 6),
    (b'{"command": ["screenshot", "a.jpg"], "request_id": 6}', "screenshots as PNG; name it a.png", 6),
    (b"x" * 70000, "longer than 65536", 0), (b'{"command": ["get_property", "' + b"y" * 300000, "longer than 65536", 0),
]


def malformed(c):
    """Each wrong line has one reply, which says what is wrong, and changes nothing."""
    view = View(PATTERN, "--headless", "-f", "blur=2")
    m = view.client()
    m.set("chain", "none")
    for line, error, number in MALFORMED:
        m.socket.sendall(b"\n \n" + line + b"\n")
        reply = m.reply()
        c.check(error in reply["error"] and reply["request_id"] == number and "data" not in reply, line[:60], reply)
    m.number = 100
    c.check(m.get("chain") == "none" and m.get("paused") is False, "nothing has changed")
    m.close()
    code, last, log = view.end()
    c.check(code == 0 and last["event"] == "summary", code, last)
    c.check(log.count("\n") == 2 and "/nonexistent/a.png" in log, log)


def has_place(view):
    """Returns true if the view accepts another client. It closes the connection of a client that it refuses, so each
    step may fail."""
    client = view.client()
    try:
        return client.get("fps") is not None
    except (AssertionError, OSError):
        return False
    finally:
        client.close()


def clients(c):
    """Clients that vanish, flood, do not read, or are too many: the others and the frames go on."""
    view = View(PATTERN, "--headless")
    m = view.client()
    half = view.client()
    half.socket.sendall(b'{"command": ["set_property", "chain", "gray"]}')  # no newline
    half.close()
    for number in range(50):
        gone = view.client()
        if number % 2:
            gone.send("wait_frame", 10 ** 9)  # nothing is sent to it that could fail
        else:
            gone.send("observe_property", 1, "frames")
        gone.close()
    c.check(m.get("chain") == "none", "a half line is not carried out")
    c.check(wait_until(lambda: has_place(view)), "they are forgotten")
    flood = view.client()
    flood.get("chain")
    flood.socket.setblocking(False)
    dropped = False
    end = time.monotonic() + 60 * PATIENCE
    line = b'{"command": ["list_properties"]}\n' * 1000
    while not dropped and time.monotonic() < end:
        try:
            flood.socket.send(line)
        except BlockingIOError:
            time.sleep(0.001)
        except OSError:
            dropped = True
    c.check(dropped, "a client that does not read is dropped")
    flood.close()
    frame = m.get("frames")
    c.check(m.ask("wait_frame", frame + 5) >= frame + 5, "frames go on")
    others = [view.client() for _ in range(7)]
    for other in others:
        c.check(other.get("chain") == "none", "8 clients")
    ninth = view.client()
    reply = ninth.line()
    c.check("8 clients are connected" in reply["error"] and ninth.line() is None, "the ninth client", reply)
    others.pop().close()
    c.check(wait_until(lambda: has_place(view)), "a place is free again")
    m.close()
    for other in others:
        other.close()
    code, last, log = view.end()
    c.check(code == 0 and log.count("does not read") == 1, code, log)


def end(c):
    """A request that waits is refused at the end; a signal and an early failure remove the socket."""
    view = View(PATTERN, "--headless", "--frames", "30")
    m = view.client()
    m.send("wait_frame", 1000)
    c.check(m.line()["error"] == "the run has ended" and m.line() is None, "a wait")
    c.check(view.wait_end()[0] == 0 and not os.path.exists(view.path), "after --frames")
    view = View(PATTERN, "--headless")
    m = view.client()
    m.ask("wait_frame", 1)
    view.process.send_signal(signal.SIGTERM)
    c.check(m.line() is None, "the end of the connection")
    c.check(view.wait_end()[0] == 143 and not os.path.exists(view.path), "after SIGTERM")
    view = View("/nonexistent.y4m", "--headless")
    c.check(view.wait_end()[0] == 3 and not os.path.exists(view.path), "no such source")


def refused(c, view, *what):
    code, last, log = view.wait_end()
    c.check(code == 3 and last["event"] == "error", view.path, code, last)
    for part in what:
        c.check(part in log, view.path, "log", log, "lacks", part)


def files(c):
    """A living socket, other files, links and unsafe directories are refused; a stale socket is replaced."""
    view = View(PATTERN, "--headless")
    m = view.client()
    c.check(m.get("version"), "it lives")
    refused(c, View(PATTERN, "--headless"), "another program listens")
    c.check(m.get("version"), "it lives on")
    view.process.kill()
    view.process.wait()
    m.close()
    c.check(os.path.exists(view.path), "a killed view leaves its socket")
    view = View(PATTERN, "--headless")
    ended(c, view, "a stale socket")
    open(at("victim"), "w").write("kept")
    os.symlink("victim", at("link"))
    os.symlink("nothing", at("dangling"))
    for name in "victim", "link", "dangling":
        refused(c, View(PATTERN, "--headless", path=name), "is not a socket")
    c.check(open(at("victim")).read() == "kept" and not os.path.lexists(at("nothing")), "links are not followed")
    os.mkdir(at("shared"))
    os.chmod(at("shared"), 0o777)
    refused(c, View(PATTERN, "--headless", path="shared/m"), "other users can write its directory")
    os.symlink("shared", at("linked"))
    refused(c, View(PATTERN, "--headless", path="linked/m"), "a file or a symbolic link")
    refused(c, View(PATTERN, "--headless", path="missing/m"), "No such file")
    refused(c, View(PATTERN, "--headless", path="shared/"), "names a directory")
    refused(c, View(PATTERN, "--headless", path="x" * 200), "too long")
    if os.geteuid() == 0:
        os.mkdir(at("theirs"), 0o755)
        os.chown(at("theirs"), 12345, 12345)
        refused(c, View(PATTERN, "--headless", path="theirs/m"), "belongs to another user")
    os.chmod(at("shared"), 0o1777)  # as /tmp
    deep = os.path.join("shared", *["d" * 100] * 5)
    os.makedirs(at(deep))
    ended(c, View(PATTERN, "--headless", path="shared/m"), "a sticky directory")
    view = View(PATTERN, "--headless", path=deep + "/m")
    wait_until(lambda: os.path.exists(view.path))
    c.check(run(BINARY, "ctl", view.path, "quit")[0] == 0 and view.wait_end()[0] == 0, "a long path")
    view = View(PATTERN, "--headless")
    m = view.client()
    m.ask("wait_frame", 1)
    os.rename(view.path, at("moved"))
    open(view.path, "w").write("mine")
    m.ask("quit")
    c.check(view.wait_end()[0] == 0 and open(view.path).read() == "mine", "a file in its place stays")


def command(c):
    """monocle ctl: values, errors and exit statuses."""
    code, out, err = ctl("get", "fps")
    c.check(code == 3 and "cannot connect to" in err, code, err)
    view = View(PATTERN, "--headless", "-f", "blur=3")
    view.client().ask("wait_frame", 1)
    rows = [(("get", "chain"), "blur=3\n"), (("set", "chain", "sobel,blur"), ""), (("get", "param/blur/radius"), "2\n"),
            (("cycle", "param/blur/radius", "2", "7"), ""), (("get", "param/blur/radius"), "7\n"),
            (("cycle", "param/blur/radius", "2", "7"), ""), (("get", "param/1/radius"), "2\n"),
            (("set", "matte_wait", "1"), ""), (("cycle", "matte_wait", "1", "5"), ""), (("get", "matte_wait"), "5.0\n"),
            (("set", "param/1/radius", "4"), ""), (("get", "paused"), "false\n"), (("key", "freeze"), ""),
            (("get", "paused"), "true\n"), (("cycle", "paused"), ""), (("get", "paused"), "false\n"),
            (("key", "freeze"), ""), (("key", "look", "0"), ""), (("get", "chain"), "none\n"),
            (("get", "recording"), "null\n"), (("screenshot", "a.png"), at("a.png") + "\n")]
    for words, want in rows:
        code, out, err = ctl(*words)
        c.check((code, out, err) == (0, want, ""), words, code, out, err)
    c.check(len(picture(at("a.png"))) == 3 * 160 * 120, "screenshot")
    code, out, err = ctl("wait-frame")
    c.check(code == 0 and int(out) > 0, "wait-frame", out, err)
    code, out, err = ctl("get", "status")
    c.check(json.loads(out)["chain"] == "none", out)
    code, out, err = ctl("list")
    c.check(code == 0 and "\n* path " in out and "\n  fps " in out, out)
    for words, code, part in [(("get", "fpss"), 1, "did you mean fps"), (("set", "fps", "3"), 1, "cannot be set"),
                              (("gte", "fps"), 2, "did you mean get"), (("get",), 2, "usage"), ((), 2, "is missing"),
                              (("set", "chain", "a\xff".encode("latin-1")), 2, "not UTF-8")]:
        got, out, err = ctl(*words)
        c.check(got == code and part in err and not out and err.count("\n") == 0, words, got, out, err)
    os.mkdir(at("there"))
    png(at("there/b.png"), 8, 6)
    for words in ("source", "b.png"), ("source", "pattern:32x32"), ("recording", "c.mkv"), ("recording", "none"):
        code, out, err = run(BINARY, "ctl", at("m"), "set", *words, cwd=at("there"))
        c.check((code, out, err) == (0, b"", ""), words, code, out, err)
    c.check(ctl("get", "message")[1].endswith(" to %s\n" % at("there/c.mkv")), "in the directory of ctl",
            ctl("get", "message"))
    ctl("set", "paused", "true")
    watch = subprocess.Popen([BINARY, "ctl", view.path, "observe", "chain", "paused"], stdout=subprocess.PIPE,
                             text=True)
    got = sorted(watch.stdout.readline() for _ in range(2))
    c.check(got == ["chain\tnone\n", "paused\ttrue\n"], got)
    ctl("set", "chain", "sobel")
    c.check(watch.stdout.readline() == "chain\tsobel\n", "a change")
    code, out, err = ctl("quit")
    c.check(code == 0 and view.wait_end()[0] == 0, "quit", code, err)
    c.check(watch.communicate()[0] == "" and watch.returncode == 0, "observe ends with the view", watch.returncode)


def hostile(c):
    """No control character of another program's answer reaches the terminal."""
    bad = "a\x1b]0;b\x07\nc"
    row = {"name": bad, "type": bad, "help": bad, "choices": bad, "writable": True}
    for words, event in (("list",), None), (("observe", "fps"), {"event": "x", "name": bad, "data": bad}):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(at("m"))
            server.listen()
            with subprocess.Popen([BINARY, "ctl", at("m"), *words], stdout=subprocess.PIPE) as process:
                client, _ = server.accept()
                with client:
                    client.recv(4096)
                    for message in [event] * (event is not None) + [{"error": "success", "data": [row]}]:
                        client.sendall(json.dumps(message).encode() + b"\n")
                out, _ = process.communicate(timeout=60)
        os.remove(at("m"))
        c.check(out.startswith((b"* a\\x1b]0;b\\x07", b"a\\x1b]0;b\\x07")), words, out)
        c.check(not any(byte < 32 and byte not in b"\t\n" for byte in out) and out.count(b"\n") == 1, words, out)


sys.exit(Checks().run(one_name, inside, parts, zoomed, headless, window, list_of_keys, overwriting, saving, still,
                      observers, in_parts, not_built, rate_limit, order, malformed, clients, end, files, command,
                      hostile))
