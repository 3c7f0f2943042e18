#!/usr/bin/env python3
"""test_live_window.py MONOCLE MISLED: every hotkey of the live view, the bytes on the screen, kernels edited live

Needs a display (with-display gives one), xdotool and ImageMagick's import. MISLED is monocle linked with misled.c.
"""
import glob
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(sys.path[0] + "/../../support")
from checks import KERNELS, Checks, at, programs
from live_support import (Compiler, Window, environment, has_opencl, need_window, picture, png, run, wait_until, y4m,
                          y4m_pictures)

BINARY, MISLED = programs(2)
WIDTH, HEIGHT = 320, 240
PATTERN = "pattern:%dx%d@30" % (WIDTH, HEIGHT)


# Looks for the digits; a second press of 2 selects the last one.
LOOKS = ("none", "gray", "maxrgb", "blur", "convolve", "emboss", "sobel", "sharpen", "median", "ridge", "invert")
CONFIG = tempfile.TemporaryDirectory(prefix="monocle-test-")  # for checks that do not make a directory "config"
CACHES = tempfile.TemporaryDirectory(prefix="monocle-test-")  # of compiled kernels
os.mkdir(CONFIG.name + "/monocle", 0o700)
with open(CONFIG.name + "/monocle/looks", "w") as looks_file:
    looks_file.writelines("%s = %s\n" % (look, look) for look in LOOKS)


class Live(Window):
    def __init__(self, *args, binary=BINARY, **keywords):
        own = os.path.exists(at("config"))
        super().__init__(binary, at(), *args, XDG_CONFIG_HOME=at("config") if own else CONFIG.name, **keywords)


def record(c, live, name):
    """Records a few frames by key."""
    state = live.key("r")
    c.check(state["recording"] == name, "r records to", state["recording"], "not", name)
    live.shown(state["frames"] + 2)
    c.check(live.key("r")["recording"] is None, "r again")
    live.wait(lambda e: "recorded " in e.get("message", "") and "to %s" % name in e["message"])


def hotkeys(c):
    live = Live(PATTERN)
    rows = [  # key, field, value
        ("4", "chain", "blur"), ("plus", "chain", "blur=3"), ("minus", "message", "blur: radius 2"),
        ("minus", "chain", "blur=1"),
        ("8", "selected", "0:sharpen.amount"), ("plus", "chain", "sharpen=1.25"),
        ("5", "selected", "0:convolve.matrix"), ("bracketright", "selected", "0:convolve.div"),
        ("bracketright", "message", "convolve: bias 0"), ("bracketleft", "selected", "0:convolve.div"),
        ("m", "mirror", True), ("2", "chain", "gray,mirror"), ("m", "chain", "gray"), ("m", "mirror", True),
        ("m", "mirror", False), ("2", "chain", "invert"), ("0", "chain", "none"),
        ("space", "frozen", True), ("3", "chain", "maxrgb"), ("space", "frozen", False),
        ("o", "overlay", "full"), ("o", "overlay", "large"), ("o", "overlay", "off"), ("o", "overlay", "small"),
        ("c", "scope", "histogram"), ("c", "scope", "columns"), ("c", "scope", "rows"), ("c", "scope", "off"),
        ("t", "message", "tuning on"), ("t", "message", "tuning paused"),
        ("v", "vsync", False), ("h", "message", ""), ("h", "help", False), ("v", "vsync", True),
        ("Tab", "split", "original"), ("Tab", "split", "off"), ("k", "split", "path"),
        ("Tab", "split", "original"), ("k", "split", "path"), ("k", "split", "off"),
    ]
    for key, field, value in rows:
        state = live.key(key)
        c.check(state[field] == value, key, field, "is", state[field], "not", value)
    record(c, live, "monocle-0001.y4m")
    if OPENCL:
        for want in ("opencl", "gl", "zerocopy", "cpu"):
            state = live.key("p")
            c.check(state["path"] == want and state["chain"] == "maxrgb", "p gives", state["path"], "not", want)
    state = live.key("d")
    c.check("device" in state["message"], "d says", state["message"])
    small = live.geometry()
    live.key("f")
    c.check(wait_until(lambda: live.geometry() > small), "full screen", live.geometry())
    live.key("f")
    c.check(wait_until(lambda: live.geometry() == small), "back from full screen", live.geometry())
    c.check(small == (WIDTH, HEIGHT), "the window's size", small)
    for number in (1, 2):
        live.key("s")
        c.check(os.path.exists(at("monocle-%04d.png" % number)), "screenshot", number)
    live.key("S")
    c.check(len(picture(at("monocle-0003.png"))) == 2 * 3 * WIDTH * HEIGHT, "the original and the result")
    c.check(y4m_pictures(open(at("monocle-0001.y4m"), "rb").read()) is not None, "recording")
    code, last, errors = live.end()
    c.check(code == 0 and last["event"] == "summary" and not errors, code, last["event"], errors)


def looks(c):
    """The digits select looks, and a mirror stays. w saves the chain as a look, which a digit then selects."""
    os.makedirs(at("config", "monocle"))
    with open(at("config", "monocle", "looks"), "w") as file:
        file.write("soft = blur=3,gamma=1.4\nedges = gray,sobel")
    live = Live(PATTERN)
    rows = [("1", "chain", "blur=3,gamma=1.4"), ("1", "message", "ember: "), ("1", "message", "heat: "),
            ("1", "message", "soft: "),
            ("m", "mirror", True), ("2", "chain", "gray,sobel,mirror"), ("m", "chain", "gray,sobel"),
            ("1", "selected", "0:blur.radius"), ("plus", "chain", "blur=4,gamma=1.4"),
            ("w", "message", "saved as look-1: key 3"), ("3", "chain", "blur=4,gamma=1.4"), ("0", "chain", "none"),
            ("w", "message", "there is no filter to save"), ("2", "chain", "gray,sobel"),
            ("w", "message", "this is the look edges"), ("bracketright", "selected", "1:sobel"),
            ("Delete", "chain", "gray"), ("w", "message", "saved as look-2: key 4"), ("a", "chain", "gray,gray")]
    for key, field, value in rows:
        state = live.key(key)
        same_value = value in state[field] if field == "message" else state[field] == value
        c.check(same_value, key, field, "is", state[field], "not", value)
    with open(at("config", "monocle", "looks")) as file:
        c.check(file.read() == "soft = blur=3,gamma=1.4\nedges = gray,sobel\nlook-1 = blur=4,gamma=1.4\n"
                "look-2 = gray\n", "the file of looks")
    os.chmod(at("config", "monocle", "looks"), 0o666)
    state = live.key("w")
    c.check(state["message_is_error"] and "other users can write" in state["message"], "an unsafe file", state)
    code, last, errors = live.end()
    c.check(code == 0 and errors.count("\n") == 2, code, errors)


def by_hand(c):
    """Keys add, replace, move and remove filters of the chain. u takes each change back, a run of presses at once."""
    os.mkdir(at("own"))
    with open(at("own", "zebra.cl"), "w") as file:
        file.write("//!SUMMARY a test\n//!KIND point\nINLINE pixel filter_zebra(pixel p, int x, int y, arguments "
                   "args)\n{\n    return p;\n}\n")
    live = Live(PATTERN, "--filters", at("own"))
    plus = ["plus"] * 3
    rows = [("a", "gray"), ("n", "maxrgb"), ("n", "blur")] + list(zip(plus, ("blur=3", "blur=4", "blur=5"))) + [
        ("a", "blur=5,gray"), ("b", "blur=5,zebra"), ("b", "blur=5,vignette"), ("n", "blur=5,zebra"),
        ("n", "blur=5,gray"), ("braceleft", "gray,blur=5"),
        ("braceleft", "gray,blur=5"), ("bracketright", "gray,blur=5"), ("n", "gray,convolve"), ("Delete", "gray"),
        ("Delete", "none"), ("Delete", "none"), ("3", "maxrgb"), ("m", "maxrgb,mirror"), ("u", "maxrgb"),
        ("u", "none"), ("u", "gray"), ("u", "gray,convolve"), ("u", "gray,blur=5"), ("u", "blur=5,gray"),
        ("u", "blur=5,gray"), ("u", "blur=5"), ("u", "blur"), ("u", "gray"), ("u", "none"), ("u", "none")]
    for number, (key, chain) in enumerate(rows):
        state = live.key(key)
        c.check(state["chain"] == chain, number, key, "gives", state["chain"], "not", chain)
    live.key("a")
    c.check(live.key("a")["selected"] == "1:gray.mode", "the new filter is selected", live.events[-1]["selected"])
    c.check(live.key("n")["selected"] == "1:maxrgb", "a filter without a parameter", live.events[-1]["selected"])
    small = live.geometry()
    live.key("F11")
    c.check(wait_until(lambda: live.geometry() > small), "F11: full screen", live.geometry())
    code, last, errors = live.end()
    c.check(code == 0 and not errors, code, errors)


def back(c):
    """Escape closes the list of keys, then leaves full screen, then quits; q quits at once."""
    live = Live(PATTERN)
    live.key("f")
    live.key("h")
    for field in ("help", "fullscreen"):
        before = live.events[-1]
        state = live.key("Escape")
        changed = {name for name in ("help", "fullscreen") if state[name] != before[name]}
        c.check(changed == {field}, "Escape changes", changed, "not", field)
    c.check(wait_until(lambda: live.geometry() == (WIDTH, HEIGHT)), "the window's size", live.geometry())
    code, last, errors = live.end("Escape")
    c.check(code == 0 and last["event"] == "summary" and not errors, "then it quits", code, errors)
    live = Live(PATTERN, "--fullscreen")
    live.key("h")
    code, last, errors = live.end("q")
    c.check(code == 0 and last["event"] == "summary" and not errors, "q quits at once", code, errors)


def other_letters(c):
    """On a keyboard without Latin letters, keys work by their position on a US keyboard."""
    if subprocess.run(["setxkbmap", "ru"], stderr=subprocess.DEVNULL).returncode != 0:
        print("other_letters: setxkbmap cannot set a layout")
        return
    try:
        live = Live(PATTERN, "-f", "blur", "--keys", "overlay=\u0448")
        rows = [("Cyrillic_softsign", "mirror", True), ("Cyrillic_softsign", "mirror", False),
                ("Cyrillic_HARDSIGN", "message", "blur: radius 2"), ("Cyrillic_sha", "overlay", "full")]
        for key, field, value in rows:
            state = live.key(key)
            c.check(state[field] == value, key, field, "is", state[field], "not", value)
        code, last, errors = live.end("Cyrillic_shorti")
        c.check(code == 0 and not errors, code, errors)
    finally:
        subprocess.run(["setxkbmap", "us"], check=True)


def same(c, one, other, *what):
    c.check(len(one) == len(other), *what, "sizes", len(one), len(other))
    different = sum(a != b for a, b in zip(one, other))
    c.check(different == 0, *what, different, "bytes differ")


def bytes_on_screen(c):
    live = Live(PATTERN, "-f", "blur", "--overlay", "off", "--keys", "screenshot=F5")
    live.key("space")
    seen = []
    for number, path in enumerate(("p", "p", "p") if OPENCL else ("o",), 1):
        state = live.key(path)
        live.key("F5")
        name = at("monocle-%04d.png" % number)
        same(c, live.pixels(), picture(name), state["path"], "window and screenshot")
        seen.append(picture(name))
    for other in seen[1:]:
        same(c, seen[0], other, "the paths' screenshots")

    state = live.key("Tab")
    filtered = seen[0]
    split = live.pixels()
    live.key("Tab"), live.key("0")
    original = live.pixels()
    c.check(original != filtered, "the filter does something")
    row = 3 * WIDTH
    middle = 3 * (WIDTH // 2)
    for y in range(0, HEIGHT, 7):  # the divider's line covers some pixels
        line, left, right = (p[y * row:(y + 1) * row] for p in (split, original, filtered))
        c.check(line[:middle - 12] == left[:middle - 12], "left of the divider, row", y)
        c.check(line[middle + 12:] == right[middle + 12:], "right of the divider, row", y)
    live.end("Escape")


def devices(c):
    """Every path on every device gives the same bytes after each switch, and the split view follows."""
    several = {"POCL_DEVICES": "basic pthread"}
    if run(BINARY, "devices", **several)[1].count(b"driver ") < 2:
        print("devices: there is only one")
        return
    live = Live(PATTERN, "-f", "blur,emboss", "-p", "opencl", "--overlay", "off", "--keys", "screenshot=F5", **several)
    first = live.settled()["device"]
    live.key("space")
    rows = [("Tab", "opencl", 0), ("d", "opencl", 1), ("p", "gl", None), ("p", "zerocopy", 1), ("d", "zerocopy", 0),
            ("k", "zerocopy", 0), ("d", "zerocopy", 1), ("p", "cpu", None), ("d", "cpu", None),
            ("p", "opencl", 0), ("k", "opencl", 0)]
    seen = []
    for number, (key, path, device) in enumerate(rows, 1):
        state = live.key(key)
        on = None if state["path"] in ("cpu", "gl") else int(state["device"] != first)
        c.check((state["path"], on) == (path, device), key, "gives", state["path"], state["device"])
        c.check(key != "d" or path != "cpu" or "does not use it" in state["message"], "cpu", state["message"])
        live.key("F5")
        seen.append(picture(at("monocle-%04d.png" % number)))
        same(c, seen[-1], seen[0], path, device)
    same(c, live.pixels(), seen[0], "in the window")
    code, last, errors = live.end()
    c.check(code == 0 and not errors, code, errors)


def no_device(c):
    live = Live(PATTERN, "-p", "cpu", OCL_ICD_VENDORS="/nonexistent")
    for key, message in ("p", "path gl"), ("d", "there is no OpenCL device"), ("p", "path cpu"):
        state = live.key(key)
        c.check(message in state["message"], key, state["message"])
    code, last, errors = live.end()
    c.check(code == 0 and not errors, code, errors)


def es(c):
    """The gl path in a window of OpenGL ES. Mesa offers no other GL here, because its desktop GL is too old."""
    live = Live(PATTERN, "-f", "blur=2,emboss", "-p", "gl", "--overlay", "off", "--keys", "screenshot=F5",
                MESA_GL_VERSION_OVERRIDE="2.1")
    c.check("OpenGL ES 3" in live.events[0]["screen"], live.events[0]["screen"])
    c.check(live.settled()["path"] == "gl", live.events[-1])
    live.key("space")
    seen = []
    for number in 1, 2:
        live.key("F5")
        seen.append(picture(at("monocle-%04d.png" % number)))
        same(c, live.pixels(), seen[-1], live.events[-1]["path"], "window and screenshot")
        while number == 1 and live.key("p")["path"] != "cpu":
            pass
    same(c, seen[0], seen[1], "gl and cpu")
    code, last, errors = live.end()
    c.check(code == 0 and not errors, code, errors)


def divider(c):
    live = Live(PATTERN, "--overlay", "off")
    live.key("Tab")
    subprocess.run(["xdotool", "mousemove", "--window", live.window, "160", "100", "mousedown", "1", "mousemove",
                    "--window", live.window, "80", "100", "mouseup", "1"], check=True)
    state = live.until(lambda e: abs(e["divider"] - 0.25) < 0.02)
    c.check(state["split"] == "original", state["split"])
    subprocess.run(["xdotool", "mousemove", "--window", live.window, "80", "100", "mousedown", "1", "mousemove",
                    "--window", live.window, "400", "100", "mouseup", "1"], check=True)
    state = live.until(lambda e: e["divider"] > 0.9)
    c.check(state["divider"] == 1, "dragged out of the window", state["divider"])
    live.end()


def mouse(c):
    """The wheel changes the parameter, Ctrl+wheel zooms, a drag pans. Clicks show the help and fill the screen."""
    live = Live(PATTERN, "-f", "blur=2", "--overlay", "off")

    def act(test, *input):
        subprocess.run(["xdotool", "mousemove", "--window", live.window, *input], check=True)
        return live.until(test)

    c.check(act(lambda e: e["chain"] == "blur=4", "160", "120", "click", "4", "click", "4")["zoom"][0] == 1, "wheel")
    act(lambda e: e["chain"] == "blur=3", "160", "120", "click", "5")
    plain = live.pixels()
    state = act(lambda e: e["zoom"][0] > 1.5, "0", "120", "keydown", "Control_L", "click", "4", "click", "4", "keyup",
                "Control_L")
    c.check(state["chain"] == "blur=3" and abs(state["zoom"][0] - 1.5625) < 0.001 and
            state["zoom"][1:] == [0.32, 0.5], "Ctrl+wheel", state["zoom"])
    zoomed = live.pixels()
    c.check(zoomed != plain, "the picture is as before the zoom")
    state = act(lambda e: e["zoom"][1] > 0.32, "160", "120", "mousedown", "1", "mousemove_relative", "--", "-32", "0",
                "mouseup", "1")
    c.check(abs(state["zoom"][1] - 0.32 - 0.1 / 1.562) < 0.01 and state["divider"] == 0.5, "pan", state)
    c.check(live.pixels() != zoomed, "the picture is as before the pan")
    act(lambda e: e["zoom"][0] == 1, "160", "120", "keydown", "Control_L", "click", "--repeat", "5", "5", "keyup",
        "Control_L")
    act(lambda e: e["zoom"][0] > 1, "160", "120", "keydown", "Control_L", "click", "4", "keyup", "Control_L")
    c.check(live.key("Escape")["zoom"] == [1, 0.5, 0.5], "Escape ends the zoom")
    c.check(act(lambda e: e["help"], "10", "10", "click", "3")["help"], "right click")
    act(lambda e: not e["help"], "10", "10", "click", "3")
    act(lambda e: e["fullscreen"], "100", "100", "click", "--repeat", "2", "--delay", "50", "1")
    c.check(wait_until(lambda: live.geometry() > (WIDTH, HEIGHT)), "full screen", live.geometry())
    live.end()


def messages(c):
    """A message disappears by itself."""
    live = Live(PATTERN)
    c.check(live.key("v")["message"] == "vsync off", "a message", live.events[-1])
    live.until(lambda e: e["message"] == "")
    live.end()


def figures(c):
    """The statistics count only frames of the running path."""
    if not OPENCL:
        return
    live = Live(PATTERN, "-f", "gray", "-p", "opencl")
    c.check(live.settled()["path"] == "opencl", live.settled())
    live.more()
    while live.key("p")["path"] != "cpu":
        pass
    live.more(2)
    code, last, errors = live.end()
    device = [name for name, stage in last["stages"].items() if stage["clock"] == "device" and name != "draw on gpu"]
    c.check(code == 0 and "pass gray" in last["stages"] and not device and "download" not in last["stages"], last)


def kernel_reload(c):
    """Saved kernels and shaders are built again. While a build fails, the old chain keeps running."""
    for path, name, old, new in [("gl", "pass.glsl", "/ 255.0", "/ 510.0")] + OPENCL * [
            ("opencl", "gray.cl", "= y;", "= 0;")]:
        shutil.copytree(KERNELS, at(path))
        gray, edited = at(path, "gray.cl"), at(path, name)
        text, other = open(gray).read(), open(edited).read()
        live = Live(PATTERN, "-f", "gray", "-p", path, "--overlay", "off", MONOCLE_KERNELS=at(path))
        live.settled()
        live.key("space")
        before = live.pixels()

        since = len(live.events)
        open(gray, "w").write(text.replace("return", "retrun"))
        error = live.wait(lambda e: e["event"] == "error", since=since)
        c.check("gray.cl" in error["message"], path, error["message"])
        state = live.state(since)
        c.check(state["message_is_error"] and "gray.cl" in state["message"], "the overlay says it", state["message"])
        same(c, live.pixels(), before, path, "the old kernel runs on")

        live.key("2")  # invert works although gray is broken
        c.check(live.key("0")["message_is_error"] is False, "a build that works clears the message")
        live.key("2")

        open(gray, "w").write(text)
        since = len(live.events)
        open(edited + ".new", "w").write(other.replace(old, new))
        os.rename(edited + ".new", edited)
        live.wait(lambda e: e["event"] == "state" and not e["message_is_error"] and not e["building"], since=since)
        wait_until(lambda: live.pixels() != before, 10)
        after = live.pixels()
        c.check(after != before, path, "the edited file shows")
        since = len(live.events)
        open(edited, "w").write(other)
        live.wait(lambda e: e["event"] == "state" and not e["building"], since=since)
        same(c, live.pixels(), before, path, "the first file is back")
        live.end()


def switching_keeps_the_picture(c):
    """Frames are shown while a path or a chain is compiled."""
    if not OPENCL:
        return
    compiler = Compiler("compile", CACHES.name)
    live = Live(PATTERN, "-f", "invert", "-p", "cpu", binary=MISLED, **compiler.env)
    for key in "p", "m":  # opens a path beside the running one; prepares a chain on the running path
        compiler.begin()
        since = len(live.events)
        subprocess.run(["xdotool", "key", key], check=True)
        state = live.wait(lambda e: e["event"] == "state" and e["building"], since)
        compiler.wait(live.process)
        shown = live.shown(state["frames"] + 21)
        c.check(shown["building"], key, "is built before the compiler has finished", shown)
        compiler.end()
        live.state(len(live.events))
    code, last, errors = live.end()
    c.check(code == 0 and last["path"] == "opencl" and last["chain"] == "invert,mirror", code, last, errors)


def still_picture(c):
    png(at("still.png"), 200, 100)
    live = Live(at("still.png"), "--overlay", "off")
    before = live.pixels()
    live.wait(lambda e: e["event"] == "progress", len(live.events))
    c.check(live.process.poll() is None, "a still picture stays")
    live.key("4")
    c.check(live.pixels() != before, "a filter changes it")
    code, last, errors = live.end()
    c.check(code == 0 and last["frames"] == 1, code, last, errors)
    for stage in ("draw", "swap"):  # also if another path has taken over
        c.check(stage in last["stages"], stage, "is missing in", list(last["stages"]))


def recording_a_picture(c):
    """A still image cannot be recorded, and the view says so. With --loop it can."""
    png(at("still.png"), 64, 48)
    live = Live(at("still.png"))
    state = live.key("r")
    c.check(state["recording"] is None and "save a screenshot instead" in state["message"], "a still picture", state)
    code, last, errors = live.end()
    c.check(code == 0 and not errors and os.listdir(at()) == ["still.png"], "no film", code, errors)
    live = Live(at("still.png"), "--loop")
    record(c, live, "monocle-0001.y4m")
    live.end()
    pictures = y4m_pictures(open(at("monocle-0001.y4m"), "rb").read())
    c.check(len(pictures) > 1, "a film of a picture that is played again")


def recording_a_frozen_view(c):
    """A film without frames is removed, and the view says why."""
    live = Live(PATTERN)
    live.key("space")
    name = live.key("r")["recording"]
    c.check(name and os.path.exists(at(name)), name)
    live.key("r")
    live.wait(lambda e: e.get("message") == "nothing recorded to %s: the view is frozen" % name)
    c.check(os.listdir(at()) == [], os.listdir(at()))
    errors = live.end()[2]
    c.check(errors.count("\n") == 1 and "%s is removed" % name in errors, errors)


def seeking(c):
    """The arrow keys seek and step in a film, which stays at its end while it is frozen."""
    with open(at("film.y4m"), "wb") as file:
        file.write(y4m(32, 24, "420jpeg", 300, "25:1"))
    live = Live("film.y4m")
    live.key("space")
    for key, message in (("Up", " of 0:12.0"), ("Right", " of 0:12.0"), ("Right", "0:1"), ("Right", "0:12.0 of 0:12.0"),
                         ("Up", "0:12.0 of"), ("Left", "0:07.0 of 0:12.0"), ("Down", "0:06.9 of 0:12.0")):
        state = live.key(key)
        c.check(message in state["message"] and state["frozen"], key, state["message"])
    c.check(live.end()[0] == 0, "the end")
    live = Live(PATTERN)
    state = live.key("Left")
    c.check("cannot seek in" in state["message"] and not state["frozen"], state["message"])
    live.end()


def small_picture(c):
    """A tiny image is enlarged; every pixel becomes a square."""
    png(at("small.png"), 3, 2)
    live = Live(at("small.png"), "--overlay", "off")
    shown, size = live.pixels(), live.geometry()
    c.check(size == (318, 212), "the window's size", size)
    rows = [picture(at("small.png"))[9 * y:9 * y + 9] for y in range(2)]
    want = b"".join(b"".join(row[3 * x:3 * x + 3] * 106 for x in range(3)) * 106 for row in rows)
    same(c, shown, want, "enlarged")
    live.end()


def early_screenshot(c):
    """A screenshot that is requested before the first frame saves the first frame."""
    film = y4m(64, 48, "420jpeg", 2)
    head = film.index(b"FRAME")
    for size in (len(film), head):
        place = at("early%d" % size)
        os.mkdir(place)
        os.mkfifo(place + "/slow.y4m")
        with open(os.open(place + "/slow.y4m", os.O_RDWR), "wb", buffering=0) as writer:
            writer.write(film[:head])
            live = Window(BINARY, place, "slow.y4m", "-p", "cpu", runs=False)
            state = live.key("s")
            c.check(state["frames"] == 0 and not state["message_is_error"], "early", state)
            writer.write(film[head:size])
            if size > head:
                live.wait(lambda e: "saved %s/monocle-0001.png" % place in e.get("message", ""))
            code, last, errors = live.end()
        c.check(code == 0 and errors.count("\n") == (size == head), size, code, errors)
        c.check(os.path.exists(place + "/monocle-0001.png") == (size > head), size, "saved")


def keys_while_building(c):
    """While the requested path is built, the cpu path shows frames and keys work."""
    if not OPENCL:
        return
    compiler = Compiler("compile", CACHES.name)
    compiler.begin()
    live = Live(PATTERN, "-f", "invert", "-p", "opencl", binary=MISLED, **compiler.env)
    c.check(live.events[0]["path"] == "cpu" and "opencl" in live.events[0]["why"], live.events[0])
    since = len(live.events)
    subprocess.run(["xdotool", "key", "h"], check=True)
    state = live.wait(lambda e: e["event"] == "state", since)
    c.check(state["help"] and state["building"] and state["path"] == "cpu", "a key while building", state)
    compiler.end()
    c.check(live.state(since)["path"] == "opencl", "the path asked for comes")
    code, last, errors = live.end()
    c.check(code == 0 and last["why"] == "as requested", code, last, errors)


def named_path_fails(c):
    """If the requested path fails, the run ends."""
    if not OPENCL:
        return
    shutil.copytree(KERNELS, at("unusable"))
    with open(at("unusable/gray.cl"), "a") as f:
        f.write("broken\n")
    live = Live(PATTERN, "-f", "gray", "-p", "opencl", runs=False, MONOCLE_KERNELS=at("unusable"))
    code, last, errors = live.wait_end()
    c.check(code == 3 and "gray.cl" in errors, code, last, errors)


def interrupted(c):
    live = Live(PATTERN, "--record", "window.y4m")
    live.process.send_signal(signal.SIGINT)
    code, last, errors = live.wait_end()
    pictures = y4m_pictures(open(at("window.y4m"), "rb").read())
    c.check(code == 130 and len(pictures) == last["frames"], code, len(pictures), last["frames"])


def full_disk(c):
    """On a full disk the recording stops and the view goes on. The exit code reports the failure."""
    limit = 40 * 3 * WIDTH * HEIGHT
    live = Live(PATTERN, "--record", "grown.y4m",
                limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    number = live.find(lambda e: e["event"] == "error")
    c.check("grown.y4m" in live.events[number]["message"], live.events[number])
    state = live.shown(61)
    c.check(state["recording"] is None and state["message_is_error"], state)
    code, last, errors = live.end()
    pictures = y4m_pictures(open(at("grown.y4m"), "rb").read())
    c.check(code == 1 and 30 < len(pictures) < 40 and errors.count("\n") == 1, code, len(pictures), errors)


def quick_start(c):
    """The cpu path shows frames until the device's kernels are compiled."""
    compiler = Compiler("compile", CACHES.name)
    compiler.begin()
    rows = [("blur", BINARY, {}), ("invert", MISLED, compiler.env)]
    for chain, binary, env in rows if OPENCL else rows[:1]:
        live = Live(PATTERN, "-f", chain, "--frames", "40", binary=binary, **env)
        code, last, errors = live.wait_end()
        c.check(code == 0 and last["frames"] == 40, chain, code, last["frames"], errors)
        c.check(not env or last["path"] == "cpu", chain, "all pictures", last)
        for stage in ("capture", "texture upload", "draw", "swap"):
            c.check(stage in last["stages"], stage, "is missing in", list(last["stages"]))


need_window()
OPENCL = has_opencl(BINARY)
def sizes(c):
    """A change of the chain changes the size of the results: the window shows them, and the recording continues."""
    for path in ["cpu", "gl"] + (["zerocopy"] if OPENCL else []):
        live = Live(PATTERN, "-f", "crop=96:64,invert", "-p", path, "--record", "%s.y4m" % path)
        live.until(lambda e: e["path"] == path)
        state = live.key("plus")
        c.check(state["chain"] == "crop=112:64,invert", path, state)
        live.until(lambda e: e["recording"] == "%s-2.y4m" % path)
        live.more()
        for key in ("Tab", "k", "k"):
            live.key(key)
        code, last, errors = live.end()
        c.check(code == 0 and "the frame size changed" in errors and "error" not in errors, path, code, errors)
        for name, width in (("%s.y4m" % path, 96), ("%s-2.y4m" % path, 112)):
            with open(at(name), "rb") as file:
                data = file.read()
            c.check(data.startswith(b"YUV4MPEG2 W%d H64 " % width) and y4m_pictures(data), name, data[:40])


def captures(c):
    """--capture keeps each chain that a key selects, and nothing for the same chain again."""
    live = Live(PATTERN, "-p", "cpu", "--capture", "work")
    for key, count in ((None, 1), ("2", 2), ("0", 2), ("3", 3)):
        if key:
            live.key(key)
        c.check(wait_until(lambda n=count: len(os.listdir(at("work"))) == n), key, os.listdir(at("work")))
    live.end()
    heads = []
    for name in os.listdir(at("work")):
        with open(at("work", name), "rb") as file:
            heads.append(json.loads(file.readline()))
    c.check(sorted(head["chain"] for head in heads) == ["gray", "maxrgb", "none"], heads)


def showcase(c):
    """The showcase shows the looks beside the original until a key is pressed. Then the divider is in the middle."""
    live = Live("raccoon:320x200@30", "--showcase", "--overlay", "full")
    state = live.until(lambda e: e["chain"] == LOOKS[1])
    c.check(state["split"] == "original", state)
    c.check(state["message"] == "1-9 looks, Tab compare, h help, q quit", state["message"])
    places = {e["divider"] for e in live.events if e["event"] == "progress"}
    c.check(len(places) > 2 and 0.1 <= min(places) < max(places) <= 0.9, "the divider moves", places)
    state = live.key("v")
    c.check(state["message"] == "vsync off" and state["chain"] == LOOKS[1] and state["divider"] == 0.5, state)
    later = [live.shown(state["frames"] + 60 * n) for n in range(1, 4)]
    c.check({(e["chain"], e["split"], e["divider"]) for e in later} ==
            {(state["chain"], state["split"], state["divider"])}, "after a key", later)
    code, last, errors = live.end()
    c.check(code == 0 and not errors, code, errors)


def without_arguments(c):
    """monocle alone shows the photograph, if there is no camera. The words at the bottom name the keys of --keys."""
    process = subprocess.Popen([BINARY], cwd=at(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment(XDG_CONFIG_HOME=CONFIG.name), text=True)

    def ask(*command):
        return subprocess.run(["xdotool", *command], capture_output=True, text=True).stdout.split("\n")[0]

    wait_until(lambda: ask("search", "--onlyvisible", "--pid", str(process.pid)) or process.poll() is not None)
    title = ask("getwindowname", ask("search", "--onlyvisible", "--pid", str(process.pid)))
    subprocess.run(["xdotool", "key", "q"], check=True)
    out, errors = process.communicate(timeout=60)
    c.check(process.returncode == 0 and not errors, process.returncode, errors)
    if not glob.glob("/dev/video*"):
        c.check(title == "monocle: photograph of a raccoon" and "photograph of a raccoon through" in out, title, out)
    live = Live(PATTERN, "--keys", "split=T,quit=x")
    message = live.settled()["message"]
    c.check(message == "1-9 looks, T compare, h help, x quit", message)
    live.end("x")


def last_run(c):
    """The window's size and place, the overlay and the look stay for the next run, unless its options differ."""
    kept = at("state", "monocle", "live")

    def view(*args):
        return Live(PATTERN, *args, XDG_STATE_HOME=at("state"))

    def ended(live, *what, lines=0):
        code, _, errors = live.end()
        c.check(code == 0 and errors.count("\n") == lines, *what, code, errors)
        return errors

    def shows(live, place, overlay, chain, *what):
        state = live.settled()
        c.check((live.place(), state["overlay"], state["chain"]) == (place, overlay, chain), *what, live.place(), state)
        c.check(("look blur of the last run, 0 removes it" in state["message"]) == (chain == "blur"), state["message"])

    live = view()
    first = live.place()
    ended(live, "a run without changes")
    c.check(not os.path.exists(kept), "nothing is kept")
    live = view()
    subprocess.run(["xdotool", "windowsize", live.window, "500", "400", "windowmove", live.window, "300", "200"],
                   check=True)
    c.check(wait_until(lambda: live.place() == (300, 200, 500, 400)), live.place())
    live.key("4"), live.key("o"), live.key("f")
    ended(live, "the changes")
    with open(kept) as file:
        text = file.read()
    c.check(text == "size = 500x400\nplace = 300,200\noverlay = full\nlook = blur\n", text)
    c.check(os.stat(kept).st_mode & 0o777 == 0o600, "mode", oct(os.stat(kept).st_mode))

    rows = [((), (300, 200, 500, 400), "full", "blur"),
            (("-f", "gray", "--overlay", "off"), (300, 200, 500, 400), "off", "gray"),
            (("--record", "film.y4m"), (300, 200, 500, 400), "full", "none"),
            (("--no-config",), first, "small", "none")]
    for args, *want in rows:
        live = view(*args)
        shows(live, *want, args)
        if args == ("--no-config",):
            live.key("o"), live.key("3")
        ended(live, args)
        with open(kept) as file:
            c.check(file.read() == text, args, "changes the file")

    with open(kept, "w") as file:
        file.write("size = 0x5\nplace = 5000,5000\noverlay = huge\nlook = nowhere\nfoo\n\0")
    live = view()
    shows(live, first, "small", "none", "a wrong file")
    ended(live, "a wrong file")
    os.chmod(kept, 0o666)
    live = view()
    live.key("o")
    c.check("chmod go-w %s" % kept in ended(live, "an unsafe file", lines=1), "an unsafe file")
    with open(kept) as file:
        c.check(file.read().startswith("size = 0x5"), "an unsafe file is not written")
    live = Live(PATTERN, XDG_STATE_HOME="/proc/self/nowhere")
    live.key("o")
    ended(live, "a directory that cannot be made")


sys.exit(Checks().run(hotkeys, looks, by_hand, back, other_letters, bytes_on_screen, devices, no_device, es, divider,
                      mouse, messages, figures, kernel_reload, switching_keeps_the_picture, still_picture,
                      recording_a_picture, recording_a_frozen_view, seeking, small_picture, early_screenshot, sizes,
                      captures, keys_while_building, named_path_fails, interrupted, full_disk, quick_start, showcase,
                      without_arguments, last_run))
