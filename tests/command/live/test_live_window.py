#!/usr/bin/env python3
"""test_live_window.py MONOCLE MISLED: hotkeys of the live view, the bytes on the screen, kernels edited live

Needs a display (with-display gives one) and xdotool. MISLED is monocle linked with misled.c.
"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(sys.path[0] + "/../../support")
import x_support
from checks import KERNELS, Checks, at, programs, slow
from live_support import (Compiler, Live, Window, environment, has_opencl, need_window, picture, png, run, wait_until,
                          y4m, y4m_pictures)

BINARY, MISLED = programs(2)
WIDTH, HEIGHT = 320, 240
PATTERN = "pattern:%dx%d@30" % (WIDTH, HEIGHT)
SMALL = "pattern:64x48@100"

# Looks for the digits; a second press of 2 selects the last one.
LOOKS = ("none", "gray", "maxrgb", "blur", "convolve", "emboss", "sobel", "sharpen", "median", "ridge", "invert")
CONFIG = tempfile.TemporaryDirectory(prefix="monocle-test-")  # for checks that do not make a directory "config"
CACHES = tempfile.TemporaryDirectory(prefix="monocle-test-")  # of compiled kernels
os.mkdir(CONFIG.name + "/monocle", 0o700)
with open(CONFIG.name + "/monocle/looks", "w") as looks_file:
    looks_file.writelines("%s = %s\n" % (look, look) for look in LOOKS)


def view(*args, binary=BINARY, headless=False, **more):
    """Starts a live view, in a window unless `headless` is true."""
    more.setdefault("XDG_CONFIG_HOME", at("config") if os.path.exists(at("config")) else CONFIG.name)
    args = *args, "--recording-format", "y4m"
    if headless:
        return Live(binary, at(), *args, "--headless", asks=True, **more)
    return Window(binary, at(), *args, **more)


def presses(c, live, rows):
    """Carries out actions. Each row: an action, a field of the state, its value."""
    for action, field, value in rows:
        state = live.act(*action.split())
        c.check(state[field] == value, action, field, "is", state[field], "not", value)


def hotkeys(c):
    """Each key event does its action: all keys at once, so the states must come in this order."""
    live = view(PATTERN, "-p", "cpu")
    small = live.geometry()
    rows = [  # key, field, value
        ("4", "selected", "0:blur.radius"), ("plus", "message", "blur: radius 3"),
        ("minus", "message", "blur: radius 2"),
        ("8", "selected", "0:sharpen.amount"), ("plus", "message", "sharpen: amount 1.25"),
        ("5", "selected", "0:convolve.matrix"), ("bracketright", "selected", "0:convolve.div"),
        ("bracketright", "message", "convolve: bias 0"), ("bracketleft", "selected", "0:convolve.div"),
        ("a", "message", ""), ("g", None, None), ("r", None, None), ("Return", "selected", "1:gray.mode"),
        ("n", "selected", "1:maxrgb"), ("b", "selected", "1:gray.mode"),
        ("braceleft", "selected", "0:gray.mode"), ("braceright", "selected", "1:gray.mode"),
        ("Delete", "selected", "0:convolve.matrix"), ("u", "selected", "1:gray.mode"), ("w", "message_is_error", False),
        ("m", "mirror", True), ("m", "mirror", False), ("space", "paused", True), ("space", "paused", False),
        ("o", "overlay", "full"), ("o", "overlay", "large"), ("o", "overlay", "off"), ("o", "overlay", "small"),
        ("c", "scope", "histogram"), ("c", "scope", "columns"), ("c", "scope", "rows"), ("c", "scope", "off"),
        ("t", "message_is_error", True),  # the cpu path has nothing to tune
        ("v", "vsync", False), ("i", "shown", "0 of 2: the original"), ("i", "show", 1),
        ("i", "show", "all"), ("h", "message", ""), ("h", "help", False), ("v", "vsync", True), ("F1", "help", True),
        ("question", "help", False), ("Tab", "split", "original"), ("Tab", "split", "off"), ("k", "split", "path"),
        ("Tab", "split", "original"), ("Tab", "split", "off"), ("0", "selected", ""), ("r", "recording",
                                                                                       "monocle-0001.y4m"),
        ("r", "recording", None), ("s", "message", None), ("S", "message", None),
        ("Left", "message_is_error", True), ("comma", "message_is_error", False), ("p", "message", None),
        ("d", "message", None), ("F11", "fullscreen", True)]
    if not OPENCL:
        rows = [row for row in rows if row[1:] != ("split", "path")]
    since = len(live.events)
    live.window
    subprocess.run(["xdotool", "key", *(key for key, _, _ in rows)], check=True)
    for key, field, value in rows:
        if not field:
            continue
        number = live.find(lambda e: e["event"] == "state" and (value is None and field == "message" or
                                                                e[field] == value), since, seconds=20)
        since = number + 1
    c.check(wait_until(lambda: live.geometry() > small), "full screen", live.geometry())
    live.key("f")
    c.check(wait_until(lambda: live.geometry() == small), "back from full screen", live.geometry())
    c.check(small == (WIDTH, HEIGHT), "the window's size", small)
    c.check(os.path.exists(at("monocle-0001.png")), "screenshot")
    c.check(len(picture(at("monocle-0002.png"))) == 2 * 3 * WIDTH * HEIGHT, "the original and the result")
    live.key("f"), live.key("h")
    code, last, errors = live.end()
    c.check(code == 0 and last["event"] == "summary", "q quits at once", code, last["event"], errors)


def chosen(c):
    """The digits select looks, and parameters, paths, scopes and outputs change."""
    live = view(PATTERN, "-p", "cpu", headless=True)
    presses(c, live, [
        ("look 4", "chain", "blur"), ("up", "chain", "blur=3"), ("down", "message", "blur: radius 2"),
        ("down", "chain", "blur=1"), ("look 8", "selected", "0:sharpen.amount"), ("up", "chain", "sharpen=1.25"),
        ("mirror", "mirror", True), ("look 2", "chain", "gray"), ("mirror", "chain", "gray"),
        ("mirror", "mirror", True), ("mirror", "mirror", False), ("look 2", "chain", "invert"),
        ("look 0", "chain", "none"), ("freeze", "paused", True), ("look 3", "chain", "maxrgb"),
        ("freeze", "paused", False)])
    seen = [live.act("path") for _ in range(2 * OPENCL + 1)]
    c.check({e["chain"] for e in seen} == {"maxrgb"} and seen[0]["path"] != live.events[0]["path"], "p keeps the chain",
            [(e["path"], e["chain"]) for e in seen])
    devices = live.control().error("key", "device")
    c.check(live.control().get("message") == devices or not devices, "d says", devices)
    state = live.act("record")
    c.check(state["recording"] == "monocle-0001.y4m", "r records to", state["recording"])
    live.more(2)
    state = live.act("record")
    c.check(state["recording"] is None and "recorded " in state["message"] and
            "to monocle-0001.y4m" in state["message"], "r again", state["message"])
    c.check(len(y4m_pictures(open(at("monocle-0001.y4m"), "rb").read())) >= 2, "the recording")
    code, last, errors = live.quit()
    c.check(code == 0 and not errors, code, errors)


def looks(c):
    """The digits select looks, and a mirror stays. w saves the chain as a look, which a digit then selects."""
    os.makedirs(at("config", "monocle"))
    with open(at("config", "monocle", "looks"), "w") as file:
        file.write("soft = blur=3,gamma=1.4\nedges = gray,sobel")
    live = view(SMALL, headless=True)
    shipped = run(BINARY, "looks", "--json", XDG_CONFIG_HOME=at("config"))[1]
    third = json.loads(shipped)[2]["chain"]  # a saved look moves no digit
    rows = [("look 1", "chain", "blur=3,gamma=1.4"), ("look 1", "message", "poster: "),
            ("look 1", "message", "antique: "), ("look 1", "message", "blueprint: "), ("look 1", "message", "soft: "),
            ("mirror", "mirror", True), ("look 2", "chain", "gray,sobel"), ("mirror", "camera", "none"),
            ("look 1", "selected", "0:blur.radius"), ("up", "chain", "blur=4,gamma=1.4"),
            ("save-look", "message", "saved as look-1; "), ("look 3", "chain", third),
            ("look 0", "chain", "none"), ("save-look", "message", "there is no filter to save"),
            ("look 2", "chain", "gray,sobel"), ("save-look", "message", "not saved: the look edges has this chain"),
            ("next", "selected", "1:sobel"), ("remove", "chain", "gray"),
            ("save-look", "message", "saved as look-2; "), ("add", "chain", "gray,gray")]
    for action, field, value in rows:
        state = live.act(*action.split())
        same_value = value in state[field] if field == "message" else state[field] == value
        c.check(same_value, action, field, "is", state[field], "not", value)
    with open(at("config", "monocle", "looks")) as file:
        c.check(file.read() == "soft = blur=3,gamma=1.4\nedges = gray,sobel\nlook-1 = blur=4,gamma=1.4\n"
                "look-2 = gray\n", "the file of looks")
    os.chmod(at("config", "monocle", "looks"), 0o666)
    state = live.act("save-look")
    c.check(state["message_is_error"] and "another user can write" in state["message"], "an unsafe file", state)
    code, last, errors = live.quit()
    c.check(code == 0 and errors.count("\n") == 1, code, errors)


def by_hand(c):
    """Keys add, replace, move and remove filters of the chain. u takes each change back, a run of presses at once."""
    os.mkdir(at("own"))
    with open(at("own", "zebra.cl"), "w") as file:
        file.write("//!SUMMARY a test\n//!KIND point\nINLINE pixel filter_zebra(pixel p, int x, int y, arguments "
                   "args)\n{\n    return p;\n}\n")
    live = view(SMALL, "-p", "cpu", "--filters", at("own"), headless=True)
    rows = [("add", "gray"), ("filter-next", "maxrgb"), ("filter-next", "blur"), ("up", "blur=3"), ("up", "blur=4"),
            ("up", "blur=5"), ("add", "blur=5,gray"), ("filter-back", "blur=5,zebra"),
            ("filter-back", "blur=5,trails"), ("filter-next", "blur=5,zebra"), ("filter-next", "blur=5,gray"),
            ("move-left", "gray,blur=5"), ("move-left", "gray,blur=5"), ("next", "gray,blur=5"),
            ("filter-next", "gray,convolve"), ("remove", "gray"), ("remove", "none"), ("remove", "none"),
            ("look 3", "maxrgb"), ("mirror", "maxrgb"), ("undo", "maxrgb"), ("undo", "none"), ("undo", "gray"),
            ("undo", "gray,convolve"), ("undo", "gray,blur=5"), ("undo", "blur=5,gray"), ("undo", "blur=5,gray"),
            ("undo", "blur=5"), ("undo", "blur"), ("undo", "gray"), ("undo", "none"), ("undo", "none")]
    for number, (action, chain) in enumerate(rows):
        state = live.act(*action.split())
        c.check(state["chain"] == chain, number, action, "gives", state["chain"], "not", chain)
    c.check(state["message"] == "there is no change to undo", state["message"])
    # After an undo, a press begins another run.
    for action, chain in (("look 4", "blur"), ("up", "blur=3"), ("undo", "blur"), ("up", "blur=3"), ("undo", "blur"),
                          ("undo", "none")):
        state = live.act(*action.split())
        c.check(state["chain"] == chain, action, "gives", state["chain"], "not", chain)
    live.act("add")
    c.check(live.act("add")["selected"] == "1:gray.mode", "the new filter is selected", live.events[-1]["selected"])
    c.check(live.act("filter-next")["selected"] == "1:maxrgb", "a filter without a parameter")
    c.check(live.act("undo")["selected"] == "1:gray.mode", "undo selects what was selected")
    # 32 changes are kept; older ones are forgotten.
    live.set("chain", "none")
    for number in range(40):
        live.control().ask("set_property", "chain", "blur=%d" % (1 + number % 9))
    chains = [live.act("undo")["chain"] for _ in range(33)]
    want = ["blur=%d" % (1 + number % 9) for number in range(38, 6, -1)]
    c.check(chains == [chain.replace("blur=2", "blur") for chain in [*want, want[-1]]], chains)
    code, last, errors = live.quit()
    c.check(code == 0 and not errors, code, errors)
    # A mask limits no filter that moves pixels, however the chain is edited. Filters without effect are warned of.
    live = view(SMALL, "-p", "cpu", "-f", "rotate=180,keep,gray,inside", headless=True)
    state = live.act("move-right")
    c.check(state["chain"] == "rotate=180,keep,gray,inside" and "put rotate before keep" in state["message"], state)
    live.set("chain", "keep,gray,inside")
    chains = [live.act("filter-next")["chain"] for _ in range(80)]
    c.check("keep,pixelate,inside" in chains, "one that a mask can limit", chains[-1])
    c.check(not [chain for chain in chains if re.match("keep,(mirror|rotate|scale|crop|pad)", chain)], chains)
    live.set("chain", "keep,gray")
    live.set("chain", "inside")
    code, last, errors = live.quit()
    c.check(code == 0 and "keep: no mask follows it" in errors and "inside: it limits the filters before" in errors,
            code, errors)


def back(c):
    """Escape closes the list of keys, ends the zoom, leaves full screen, then quits. The words at the bottom name the
    keys of --keys."""
    live = view(PATTERN, "--fullscreen", "--keys", "split=T,quit=x")
    message = live.settled()["message"]
    c.check(message == "1-9\u00a0looks, T\u00a0compare, h\u00a0help, x\u00a0quit", message)
    live.act("looks"), live.act("back")  # closes the list
    live.set("help", True)
    zoom(live, 1)
    before = live.settled()
    for field in ("help", "zoom", "fullscreen"):
        state = live.act("back")
        changed = {name for name in ("help", "zoom", "fullscreen") if state[name] != before[name]}
        c.check(changed == {field}, "Escape changes", changed, "not", field)
        before = state
    c.check(wait_until(lambda: live.geometry() == (WIDTH, HEIGHT)), "the window's size", live.geometry())
    code, last, errors = live.end("Escape")
    c.check(code == 0 and last["event"] == "summary" and not errors, "then it quits", code, errors)
    live = view(PATTERN, "--record", "film.y4m")
    c.check(live.act("back")["message"] == "the recording runs: the same key again quits", "it asks")
    time.sleep(3.2)  # other messages end after 3 s
    c.check(live.settled()["message"] == "the recording runs: the same key again quits", "it still asks")
    code, _, errors = live.end("Escape")
    c.check(code == 0 and not errors, "the second one quits", code, errors)


def other_letters(c):
    """On a keyboard without Latin letters, keys work by their position on a US keyboard."""
    if subprocess.run(["setxkbmap", "ru"], stderr=subprocess.DEVNULL).returncode != 0:
        print("other_letters: setxkbmap cannot set a layout")
        return
    try:
        live = view(PATTERN, "-f", "blur", "--keys", "overlay=\u0448")
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
    if one != other:
        different = sum(a != b for a, b in zip(one, other))
        c.check(different == 0, *what, different, "bytes differ")


@slow
def paths(c):
    """Every path on every device shows the same bytes, which a screenshot has too. The split view follows."""
    several = {"POCL_DEVICES": "basic pthread"}
    both = OPENCL and run(BINARY, "devices", **several)[1].count(b"driver ") > 1
    live = view(PATTERN, "-f", "emboss", "-p", "opencl" if OPENCL else "cpu", "--overlay", "off",
                **(several if both else {}))
    first = live.settled()["device"]
    live.act("freeze")
    rows = [("path", "gl", None), ("path", "zerocopy", 0)] + both * [
        ("device", "zerocopy", 1), ("split-paths", "zerocopy", 1), ("device", "zerocopy", 0), ("split", "zerocopy", 0),
        ("split", "zerocopy", 0)] + [
            ("path", "cpu", None), ("device", "cpu", None), ("path", "opencl", int(both))]
    rows += both * [("device", "opencl", 0)]
    seen = [live.shot()]
    same(c, live.pixels(), seen[0], "window and screenshot")
    for action, path, device in rows if OPENCL else [("path", "gl", None)]:
        state = [live.act(action) for _ in range(1 + ((action, path) == ("path", "cpu")))][-1]  # auto is before cpu
        on = None if state["path"] in ("cpu", "gl") else int(state["device"] != first)
        c.check((state["path"], on) == (path, device), action, "gives", state["path"], state["device"])
        c.check(action != "device" or path != "cpu" or "does not use it" in state["message"], "cpu", state["message"])
        same(c, live.shot(), seen[0], path, device)
        if state["split"] == "off":
            same(c, live.pixels(), seen[0], path, device, "in the window")
    live.set("split", "off")
    live.act("mirror")  # also of the original
    filtered = live.pixels()
    live.act("split")
    split = live.pixels()
    live.act("split"), live.act("look", 0)
    original = live.pixels()
    c.check(original != filtered, "the filter does something")
    row = 3 * WIDTH
    middle = 3 * (WIDTH // 2)
    for y in range(0, HEIGHT, 7):  # the divider's line covers some pixels
        line, left, right = (p[y * row:(y + 1) * row] for p in (split, original, filtered))
        c.check(line[:middle - 12] == left[:middle - 12], "left of the divider, row", y)
        c.check(line[middle + 12:] == right[middle + 12:], "right of the divider, row", y)
    code, last, errors = live.quit()
    c.check(code == 0 and not errors, code, errors)


def no_device(c):
    live = view(SMALL, "-p", "cpu", OCL_ICD_VENDORS=at())
    c.check(live.act("path")["message"] == "path gl", live.events[-1])
    error = live.control().error("key", "device")
    c.check(error == live.control().get("message") == "there is no OpenCL device", error)
    c.check([live.act("path")["message"] for _ in range(2)] == ["path auto", "path cpu"], live.events[-1])
    code, last, errors = live.quit()
    c.check(code == 0 and not errors, code, errors)


def es(c):
    """The gl path in a window of OpenGL ES. Mesa offers no other GL here, because its desktop GL is too old."""
    live = view(PATTERN, "-f", "blur=2,emboss", "-p", "gl", "--overlay", "off", MESA_GL_VERSION_OVERRIDE="2.1")
    c.check("OpenGL ES 3" in live.events[0]["screen"], live.events[0]["screen"])
    c.check(live.settled()["path"] == "gl", live.events[-1])
    live.act("freeze")
    shots = []
    for path in "gl", "cpu":
        live.set("path", path)
        shots.append(live.shot())
        same(c, live.pixels(), shots[-1], path, "window and screenshot")
    same(c, shots[0], shots[1], "gl and cpu")
    code, last, errors = live.quit()
    c.check(code == 0 and not errors, code, errors)


def move(live, *words):
    subprocess.run(["xdotool", "mousemove", "--window", str(live.window), *words], check=True)


def zoom(live, steps):
    move(live, "0", "120", "keydown", "Control_L", *["click", "4"] * steps, "keyup", "Control_L")
    return live.until(lambda e: e["zoom"] > 1.25 ** steps - 0.01)


def regions(c):
    """A drag draws, moves and stretches the region of `inside`, also in a zoomed and a mirrored picture. The wheel
    changes its feather. Undo takes back a whole drag."""
    live = view(PATTERN, "-f", "invert,inside=50:50:25:25", "--overlay", "off")

    def drag(chain, begin, *ways):
        words = ["mousedown", "1"]
        for x, y in ways:
            words += ["mousemove", "--window", str(live.window), str(x), str(y)]
        move(live, str(begin[0]), str(begin[1]), *words, "mouseup", "1")
        return live.until(lambda e: e["chain"] == chain)

    state = drag("invert,inside=10:10:20:20", (32, 24), (60, 60), (96, 72))
    c.check(state["divider"] == 0.5, "the divider stays", state["divider"])
    move(live, "200", "200", *["click", "4"] * 3)
    live.until(lambda e: e["chain"] == "invert,inside=10:10:20:20:feather=3")
    drag("invert,inside=20:20:20:20:feather=3", (64, 48), (96, 72))
    drag("invert,inside=0:0:20:20:feather=3", (96, 72), (20, 10))
    live.act("undo")
    drag("invert,inside=20:20:40:20:feather=3", (128, 96), (192, 96))
    drag("invert,inside=70:80:20:10:feather=3", (288, 216), (250, 200), (224, 192))
    live.set("chain", "invert,inside=20:20:40:20,mirror")
    drag("invert,inside=10:20:40:20,mirror", (192, 72), (224, 72))
    drag("invert,inside=50:75:30:25,mirror", (160, 180), (64, 300))
    live.set("chain", "invert,inside=50:50:25:25")
    zoom(live, 2)
    drag("invert,inside=10:50:20:20", (50, 120), (150, 195))
    live.set("chain", "invert,inside=50:50:25:25,crop=300:200")
    move(live, "32", "24", "mousedown", "1", "mousemove", "--window", str(live.window), "96", "72", "mouseup", "1")
    c.check(live.more(5)["chain"] == "invert,inside=50:50:25:25,crop=300:200", "crop moves pixels")
    c.check(live.quit()[0] == 0, "the end")


def mouse(c):
    """A drag moves the divider. The wheel changes the parameter, Ctrl+wheel zooms, a drag then pans. A double click
    fills the screen. A new source ends the zoom."""
    live = view(PATTERN, "-f", "blur=2", "--overlay", "off")

    def act(test, *words):
        move(live, *words)
        return live.until(test)

    live.act("split")
    act(lambda e: abs(e["divider"] - 0.25) < 0.02, "160", "100", "mousedown", "1", "mousemove", "--window",
        str(live.window), "80", "100", "mouseup", "1")
    state = act(lambda e: e["divider"] > 0.9, "80", "100", "mousedown", "1", "mousemove", "--window", str(live.window),
                "400", "100", "mouseup", "1")
    c.check(state["divider"] == 1 and state["split"] == "original", "dragged out of the window", state["divider"])
    live.act("split"), live.set("divider", 0.5)

    c.check(act(lambda e: e["chain"] == "blur=4", "160", "120", "click", "4", "click", "4")["zoom"] == 0, "wheel")
    act(lambda e: e["chain"] == "blur=3", "160", "120", "click", "5")
    live.act("freeze")
    plain = live.pixels()
    state = zoom(live, 2)
    c.check(state["chain"] == "blur=3" and abs(state["zoom"] - 1.5625) < 0.001 and
            state["zoom_at"] == [0.32, 0.5], "Ctrl+wheel", state["zoom"])
    zoomed = live.pixels()
    c.check(zoomed != plain, "the picture is as before the zoom")
    state = act(lambda e: e["zoom_at"][0] > 0.32, "160", "120", "mousedown", "1", "mousemove_relative", "--", "-32",
                "0", "mouseup", "1")
    c.check(abs(state["zoom_at"][0] - 0.32 - 0.1 / 1.562) < 0.01 and state["divider"] == 0.5, "pan", state)
    c.check(live.pixels() != zoomed, "the picture is as before the pan")
    act(lambda e: e["zoom"] == 0, "160", "120", "keydown", "Control_L", "click", "--repeat", "5", "5", "keyup",
        "Control_L")
    c.check(live.pixels() == plain, "the picture after the zoom")
    zoom(live, 1)
    c.check(live.act("back")["zoom"] == 0, "Escape ends the zoom")
    zoom(live, 1)
    live.set("source", SMALL)
    c.check(live.settled()["zoom"] == 0, "a new source ends the zoom", live.settled()["zoom"])
    act(lambda e: e["fullscreen"], "100", "100", "click", "--repeat", "2", "--delay", "50", "1")
    c.check(wait_until(lambda: live.geometry() > (WIDTH, HEIGHT)), "full screen", live.geometry())
    c.check(live.quit()[0] == 0, "the end")


def figures(c):
    """The statistics count only frames of the running path."""
    if not OPENCL:
        return
    live = view(SMALL, "-f", "gray", "-p", "opencl", headless=True)
    live.more()
    c.check(live.settled()["path"] == "opencl", live.settled())
    live.set("path", "cpu")
    live.more(2)
    code, last, errors = live.quit()
    device = [name for name, stage in last["stages"].items() if stage["clock"] == "device"]
    c.check(code == 0 and "pass gray" in last["stages"] and not device and "download" not in last["stages"], last)


@slow
def kernel_reload(c):
    """Saved kernels and shaders are built again. While a build fails, the old chain keeps running. A broken kernel is
    one event, and one message on standard error."""
    shutil.copytree(KERNELS, at("kernels"))
    live = view(SMALL, "-f", "gray", "-p", "gl", "--overlay", "off", MONOCLE_KERNELS=at("kernels"))
    gray = at("kernels", "gray.cl")
    text = open(gray).read()
    for path, name, old, new in [("gl", "pass.glsl", "/ 255.0", "/ 510.0")] + OPENCL * [
            ("opencl", "gray.cl", "= y;", "= 0;")]:
        edited = at("kernels", name)
        other = open(edited).read()
        live.set("path", path)
        if not live.settled()["paused"]:
            live.act("freeze")
        before = live.shot()

        since = len(live.events)
        open(gray, "w").write(text.replace("return", "retrun"))
        error = live.wait(lambda e: e["event"] == "error", since=since)
        c.check("gray.cl" in error["message"], path, error["message"])
        state = live.state(since)
        c.check(state["message_is_error"] and "gray.cl" in state["message"], "the overlay says it", state["message"])
        same(c, live.shot(), before, path, "the old kernel runs on")
        c.check(len([e for e in live.events[since:] if e["event"] == "error"]) == 1, path, "one event")

        live.act("look", 2)  # invert works although gray is broken
        c.check(live.act("look", 0)["message_is_error"] is False, "a build that works clears the message")
        live.act("look", 2)

        open(gray, "w").write(text)
        since = len(live.events)
        open(edited + ".new", "w").write(other.replace(old, new))
        os.rename(edited + ".new", edited)
        live.wait(lambda e: e["event"] == "state" and not e["message_is_error"] and not e["building"], since=since)
        c.check(wait_until(lambda: live.shot() != before, 10), path, "the edited file shows")
        since = len(live.events)
        open(edited, "w").write(other)
        live.wait(lambda e: e["event"] == "state" and not e["building"], since=since)
        c.check(wait_until(lambda: live.shot() == before, 10), path, "the first file is back")
    code, last, said = live.quit()
    own = [line for line in said.splitlines() if line.startswith("monocle: ")]  # the driver may write others
    errors = ["monocle: error: " + e["message"].splitlines()[0] for e in live.events if e["event"] == "error"]
    c.check(own == errors and code == 0, code, said)


def building(c):
    """While a path or a chain is compiled, the cpu path or the last chain shows frames, and keys work. The device's
    statistics begin after that."""
    if not OPENCL:
        return
    compiler = Compiler("compile", CACHES.name)
    compiler.begin()
    live = view(PATTERN, "-f", "invert", "-p", "opencl", binary=MISLED, **compiler.env)
    c.check(live.events[0]["path"] == "cpu" and "opencl" in live.events[0]["why"], live.events[0])
    compiler.wait(live.process)
    for action in "help", "mirror":  # a path is opened beside the running one; a chain is prepared on the running path
        if action == "mirror":
            compiler.begin()
        live.control().ask("key", action)
        compiler.wait(live.process)
        state = live.more(5)
        c.check(state["building"] and state["help"], action, "is built before the compiler has finished", state)
        c.check(state["path"] == ("cpu" if action == "help" else "opencl"), action, state["path"])
        compiler.end()
        c.check(live.settled()["path"] == "opencl", action, "the requested path arrives")
    code, last, errors = live.quit()
    c.check(code == 0 and (last["path"], last["chain"], last["why"]) == ("opencl", "invert", "as requested"),
            code, last, errors)


def still_picture(c):
    """A tiny image is enlarged; every pixel becomes a square. It stays, a filter changes it, and a recording is refused
    with a message."""
    png(at("small.png"), 3, 2)
    live = view(at("small.png"), "--overlay", "off")
    before, size = live.pixels(), live.geometry()
    c.check(size == (318, 212), "the window's size", size)
    rows = [picture(at("small.png"))[9 * y:9 * y + 9] for y in range(2)]
    want = b"".join(b"".join(row[3 * x:3 * x + 3] * 106 for x in range(3)) * 106 for row in rows)
    same(c, before, want, "enlarged")
    live.act("look", 4)
    c.check(live.pixels() != before, "a filter changes it")
    state = live.act("record")
    c.check(state["recording"] is None and "save a screenshot instead" in state["message"], "no recording", state)
    c.check(live.process.poll() is None, "a still picture stays")
    code, last, errors = live.quit()
    c.check(code == 0 and not errors and os.listdir(at()) == ["small.png"], "no film", code, errors)
    c.check(last["frames"] == 1, last)
    for stage in ("draw", "swap"):  # also if another path has taken over
        c.check(stage in last["stages"], stage, "is missing in", list(last["stages"]))


def recordings(c):
    """A film of a picture that is repeated. A film without frames is removed, and the view says why."""
    png(at("still.png"), 64, 48)
    live = view(at("still.png"), "--loop", headless=True)
    live.act("record"), live.more(2), live.act("record")
    c.check(len(y4m_pictures(open(at("monocle-0001.y4m"), "rb").read())) > 1, "a picture that is repeated")
    live.act("freeze")
    name = live.act("record")["recording"]
    c.check(name == "monocle-0002.y4m" and os.path.exists(at(name)), name)
    state = live.act("record")
    c.check(state["message"] == "nothing recorded to %s: the view is paused" % name, state["message"])
    c.check(sorted(os.listdir(at())) == ["monocle-0001.y4m", "still.png"], os.listdir(at()))
    # Its name is free again, and the recording that follows begins with it.
    c.check(live.act("record")["recording"] == name, "the next recording")
    live.act("freeze"), live.more(), live.act("record")
    c.check(os.path.exists(at(name)), "it has frames")
    for name, path in (("mkv", None), ("y4m", at())):  # the default, with and without ffmpeg
        if name == "y4m" or shutil.which("ffmpeg"):
            other = Live(BINARY, at(), SMALL, "--headless", asks=True, **({"PATH": path} if path else {}))
            c.check(other.control().get("recording_format") == name, other.control().get("recording_format"))
            other.act("record"), other.more(2)
            c.check(other.act("record")["message_is_error"] is False, other.events[-1]["message"])
            other.control().ask("wait_frame")
            c.check(any(n.endswith("." + name) and os.path.getsize(at(n)) for n in os.listdir(at())), os.listdir(at()))
            other.quit()
    code, _, errors = live.quit()
    c.check(code == 0 and errors.count("\n") == 1 and "%s is removed" % name in errors, errors)


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
            live = Live(BINARY, place, "slow.y4m", "-p", "cpu", "--headless", runs=False, asks=True)
            live.control().ask("key", "screenshot")
            state = live.control().get("status")
            c.check(state["frames"] == 0 and not state["message_is_error"], "early", state)
            writer.write(film[head:size])
            if size > head:
                saved = "saved %s/monocle-0001.png" % place
                c.check(wait_until(lambda want=saved: want in live.control().get("message")), "the message")
            code, last, errors = live.quit()
        c.check(code == 0 and errors.count("\n") == (size == head), size, code, errors)
        c.check(os.path.exists(place + "/monocle-0001.png") == (size > head), size, "saved")


def named_path_fails(c):
    """If the requested path fails, the run ends."""
    if not OPENCL:
        return
    shutil.copytree(KERNELS, at("unusable"))
    with open(at("unusable/gray.cl"), "a") as f:
        f.write("broken\n")
    live = view(SMALL, "-f", "gray", "-p", "opencl", runs=False, MONOCLE_KERNELS=at("unusable"))
    code, last, errors = live.wait_end()
    c.check(code == 3 and "gray.cl" in errors, code, last, errors)


def full_disk(c):
    """On a full disk the recording stops and the view goes on. The exit code reports the failure."""
    frame = 3 * 64 * 48
    live = view(SMALL, "-p", "cpu", "--record", "grown.y4m",
                limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10 * frame, 10 * frame)))
    number = live.find(lambda e: e["event"] == "error")
    c.check("grown.y4m" in live.events[number]["message"], live.events[number])
    state = live.shown(12)
    c.check(state["recording"] is None and state["message_is_error"], state)
    c.check(live.more(2)["frames"] >= 14, "frames go on")
    code, last, errors = live.quit()
    pictures = y4m_pictures(open(at("grown.y4m"), "rb").read())
    c.check(code == 1 and len(pictures) == 9 and errors.count("\n") == 1, code, len(pictures), errors)


def sizes(c):
    """A change of the chain changes the size of the results, but not that of the recording. A signal ends the run with
    a complete file."""
    live = view(PATTERN, "-f", "crop=96:64,invert", "-p", "cpu", "--record", "film.y4m")
    width = 96
    for path in ["cpu", "gl"] + (["zerocopy"] if OPENCL else []):
        live.set("path", path)
        c.check(live.settled()["path"] == path, path, live.settled()["path"])
        width += 16
        state = live.act("up")
        c.check(state["chain"].startswith("crop=%d:64,invert,scale=96:" % width), path, state["chain"])
        live.more()
        c.check(live.settled()["recording"] == "film.y4m", path, live.settled()["recording"])
        live.act("split"), live.act("split-paths"), live.set("split", "off")
    live.process.send_signal(signal.SIGINT)
    code, last, errors = live.wait_end()
    c.check(code == 130 and errors.count("the outputs stay 96x64") == 1 and "error" not in errors, code, errors)
    with open(at("film.y4m"), "rb") as file:
        data = file.read()
    c.check(data.startswith(b"YUV4MPEG2 W96 H64 "), data[:40])
    frames = len(y4m_pictures(data))
    c.check(frames >= last["frames"], frames, "frames of", last["frames"])


def recording_time(c):
    """--record lasts as long as a view that stops again and again. test_recording.py has the other formats."""
    launch = time.monotonic()
    live = view("pattern:64x48@50", "-p", "cpu", "--record", "a.y4m")
    first = time.monotonic()
    for seconds in 0.1, 0.4:
        live.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        live.process.send_signal(signal.SIGCONT)
        last = time.monotonic()  # before the reply, which may be late
        live.more(2)
    code, end, errors = live.quit()
    ended = time.monotonic()
    start = launch + live.events[0]["setup_ms"] / 1000
    with open(at("a.y4m"), "rb") as file:
        frames = len(y4m_pictures(file.read()))
    c.check((code, errors) == (0, "") and frames > end["frames"], code, errors, frames, end["frames"])
    c.check(last - first - 0.03 < frames / 50 < ended - start + 0.03, frames / 50, "not", last - first, "to",
            ended - start)


need_window()
OPENCL = has_opencl(BINARY)
sys.exit(Checks().run(hotkeys, chosen, looks, by_hand, back, other_letters, paths, no_device, es, regions, mouse,
                      figures, kernel_reload, building, still_picture, recordings, early_screenshot, sizes,
                      recording_time, named_path_fails, full_disk))
