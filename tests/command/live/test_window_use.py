#!/usr/bin/env python3
"""test_window_use.py MONOCLE: the window for the user: without a camera, still images, zoom, showcase, the last run

Needs a display (with-display gives one) and xdotool.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(sys.path[0] + "/../../support")
import x_support
from checks import Checks, at, programs, slow
from live_support import Window, environment, need_window, picture, png, run, wait_until

BINARY, = programs(1)
WIDTH, HEIGHT = 320, 240
PATTERN = "pattern:%dx%d@30" % (WIDTH, HEIGHT)

LOOKS = ("none", "gray", "maxrgb", "blur")
CONFIG = tempfile.TemporaryDirectory(prefix="monocle-test-")
os.mkdir(CONFIG.name + "/monocle", 0o700)
with open(CONFIG.name + "/monocle/looks", "w") as looks_file:
    looks_file.writelines("%s = %s\n" % (look, look) for look in LOOKS)


def view(*args, **more):
    return Window(BINARY, at(), *args, **{"XDG_CONFIG_HOME": CONFIG.name, **more})


def no_rate(c):
    """Still images have no frame rate: a repeated image and a slide show have the overlay of one image."""
    os.mkdir(at("show"))
    for name in ("show/1.png", "show/2.png"):
        png(at(name), WIDTH, HEIGHT, lambda x, y: (90, 90, 90))
    seen = []
    for args in ("show/1.png",), ("show/1.png", "--loop"), ("show", "--rate", "20", "--loop"):
        live = view(*args, "-p", "cpu")
        subprocess.run(["xdotool", "windowsize", str(live.window), str(WIDTH), str(HEIGHT)], check=True)
        wait_until(lambda v=live: v.geometry() == (WIDTH, HEIGHT))
        live.more(3) if len(args) > 1 else live.settled()
        seen.append(live.pixels()[:3 * WIDTH * HEIGHT // 2])  # without the hint
        live.quit()
    for args, other in ("repeated", seen[1]), ("slides", seen[2]):
        c.check(seen[0] == other, args)


def real_size(c):
    """z shows a pixel of the image as a pixel of the screen, also after the window's size changes, and then the whole
    image. The property zoom can be set."""
    png(at("large.png"), 900, 700)
    large = picture(at("large.png"))
    live = view(at("large.png"), "--overlay", "off")
    subprocess.run(["xdotool", "windowsize", str(live.window), "300", "200"], check=True)
    wait_until(lambda: live.geometry() == (300, 200))
    c.check(live.act("zoom")["message"] == "zoom 100 %" and live.events[-1]["zoom"] == 1, live.events[-1]["message"])

    def shows(width, height):
        left, top = (900 - width) // 2, (700 - height) // 2
        want = b"".join(large[3 * (900 * y + left):3 * (900 * y + left + width)] for y in range(top, top + height))
        c.check(live.pixels() == want, width, height)

    shows(300, 200)
    subprocess.run(["xdotool", "windowsize", str(live.window), "400", "240"], check=True)
    wait_until(lambda: live.geometry() == (400, 240))
    shows(400, 240)
    live.set("zoom", 0.2)  # 180x140, with a black border
    pixels = live.pixels()
    c.check(pixels[:3 * 400 * 50] == bytes(3 * 400 * 50), "above the small picture")
    c.check(live.settled()["message"] == "zoom 20 %", live.settled()["message"])
    live.act("zoom")
    state = live.act("zoom")
    c.check(state["zoom"] == 0 and state["message"] == "zoom 34.3 %, fits the window", state["message"])
    c.check(live.quit()[0] == 0, "the end")


def showcase(c):
    """The showcase shows the first look beside the original, with a moving divider, until a key is pressed. Then the
    divider is in the middle. test_showcase.c checks its times."""
    live = view("raccoon:320x200@30", "--showcase", "--overlay", "full")
    state = live.settled()
    c.check((state["split"], state["chain"]) == ("original", LOOKS[0]), state["split"], state["chain"])
    c.check(state["message"] == "1-9\u00a0looks, Tab\u00a0compare, h\u00a0help, q\u00a0quit", state["message"])
    live.until(lambda e: e["divider"] > 0.55)
    state = live.act("vsync")
    c.check(state["message"] == "vsync off" and state["chain"] == LOOKS[0] and state["divider"] == 0.5, state)
    c.check(live.more(5)["divider"] == 0.5, "after a key")
    code, last, errors = live.quit()
    c.check(code == 0 and not errors, code, errors)


def without_camera(c):
    """Without a camera, monocle shows the looks on a photograph, also with options. Standard error and the window say
    what to do. A chain of the user stays."""
    if glob.glob("/dev/video*"):
        return
    for args in (), ("--overlay", "full", "--no-config"), ("-f", "gray"):
        live = view(*args)
        state = live.settled()
        showcase = (state["split"], state["chain"]) == ("original", LOOKS[0])
        c.check(showcase == ("-f" not in args), args, state["split"], state["chain"])
        first, _, second = state["message"].partition("\n")
        c.check("plug in a camera" in first and "drop a file here" in first, args, first)
        c.check(second == "1-9\u00a0looks, Tab\u00a0compare, h\u00a0help, q\u00a0quit", args, second)
        title = subprocess.run(["xdotool", "getwindowname", str(live.window)], text=True, capture_output=True).stdout
        c.check(title.strip() == "monocle: photograph of a raccoon", title)
        code, _, errors = live.quit()
        c.check(code == 0 and errors.count("\n") == 1 and "plug in a camera" in errors, args, code, errors)


def chooses(c):
    """Key a lists the filters, l the looks, the right button the actions. Typing finds, Enter and a click choose."""
    live = view(PATTERN, "-f", "blur")
    before = live.pixels()

    def keys(test, *names):
        since = len(live.events)
        subprocess.run(["xdotool", "key", *names], check=True)
        return live.events[live.find(lambda e: e["event"] == "state" and test(e), since)]

    live.key("a")
    c.check(live.pixels() != before, "the list is shown")
    state = keys(lambda e: e["chain"] != "blur", "s", "o", "x", "BackSpace", "b", "Return")
    c.check(state["chain"] == "blur,sobel", state["chain"])
    live.key("a")
    state = keys(lambda e: e["chain"] != "blur,sobel", "h", "Return")
    c.check(state["chain"] == "blur,sobel,hue", "a name that begins with the text comes first", state["chain"])
    live.act("undo")
    live.key("a")
    rows = json.loads(run(BINARY, "filters", "--json")[1])
    last = [row for row in rows if row["user"] or row["group"] == "masks"][-1]["name"]
    state = keys(lambda e: e["chain"] != "blur,sobel", "Home", "End", "Return")
    c.check(state["chain"].startswith("blur,sobel," + last), "End goes to the last row", state["chain"])
    live.act("undo")
    live.key("a")
    c.check(keys(lambda e: e["message"] == "vsync off", "q", "q", "Down", "Return", "Escape", "v")["chain"] ==
            "blur,sobel",
            "no filter has this text, and Escape closes")
    live.key("l")
    subprocess.run(["xdotool", "key", "Down", "Down"], check=True)  # the third look is shown before it is taken
    shown = live.control()
    c.check(wait_until(lambda: shown.get("chain") == "maxrgb"), "the selected look is shown", shown.get("chain"))
    subprocess.run(["xdotool", "key", "Escape"], check=True)
    c.check(wait_until(lambda: shown.get("chain") == "blur,sobel"), "Escape takes it back", shown.get("chain"))
    live.key("l")
    subprocess.run(["xdotool", "key", "m", "a", "x"], check=True)
    c.check(wait_until(lambda: shown.get("chain") == "maxrgb"), "a typed look is shown", shown.get("chain"))
    subprocess.run(["xdotool", "key", "Escape"], check=True)
    c.check(wait_until(lambda: shown.get("chain") == "blur,sobel"), "Escape takes it back, too", shown.get("chain"))
    live.key("l")
    keys(lambda e: e["chain"] == "gray", "Down", "Down", "Up", "Return")  # the second look
    c.check(live.act("undo")["chain"] == "blur,sobel", "a choice is one change")
    live.act("look", "2")
    for found, words in ((lambda e: e["mirror"], ["click", "3", "key", "m", "i", "r", "r", "o", "r", "Return"]),
                         (lambda e: not e["mirror"], ["click", "3", "mousemove_relative", "30", "32", "click", "1"])):
        since = len(live.events)
        if found({"mirror": False}):  # the first row that is listed for this text
            words[2:2] = ["key", "m", "i", "r", "r", "o", "r"]
        subprocess.run(["xdotool", "mousemove", "--window", str(live.window), "10", "10", *words], check=True)
        live.find(lambda e: e["event"] == "state" and found(e), since)
    c.check(live.quit()[0] == 0, "the end")


def scaled(c):
    """On a monitor with twice the usual pixels per inch, the window has twice the size; the next one has the same."""
    if not shutil.which("xprop"):
        print("scaled: xprop is missing (package x11-utils)")
        return
    subprocess.run(["xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", "Xft.dpi: 192"],
                   check=True)
    try:
        for _ in range(2):
            live = view(PATTERN, XDG_STATE_HOME=at("state"))
            c.check(live.geometry() == (640, 480), live.geometry())
            c.check(live.quit()[0] == 0, "the end")
    finally:
        subprocess.run(["xprop", "-root", "-remove", "RESOURCE_MANAGER"], check=True)


def error_window(c):
    """An error before the window appears is shown in a window until a key is pressed, if the desktop entry starts
    monocle."""
    for args, says, status in (["nowhere.png"], "cannot open nowhere.png", 3), (["-f", "nothing"], "nothing", 2):
        process = subprocess.Popen([BINARY, "live", "--error-window", *args], cwd=at(), stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True, env=environment())
        c.check(wait_until(lambda p=process: x_support.windows_of(p.pid) or p.poll() is not None), "a window")
        c.check(process.poll() is None and x_support.windows_of(process.pid), args, "the window stays")
        if process.poll() is None:
            shown = x_support.windows_of(process.pid)[0]
            c.check(wait_until(lambda w=shown: any(x_support.pixels_of(w))), "it has text")
            subprocess.run(["xdotool", "key", "Escape"], check=True)
        errors = process.communicate(timeout=60)[1]
        c.check(process.returncode == status and says in errors and errors.count("\n") == 1, args,
                process.returncode, errors)


def full_screen(c):
    """In full screen, the screen saver is off, and the pointer disappears while it rests."""
    subprocess.run(["xdotool", "mousemove", "100", "100"], check=True)
    c.check(x_support.screen_saver_seconds() > 0, "the X server has a screen saver")
    live = view(PATTERN)
    saver = x_support.screen_saver_seconds()
    live.act("fullscreen")
    c.check(wait_until(lambda: live.geometry() > (WIDTH, HEIGHT)), "full screen", live.geometry())
    c.check(saver > 0 and wait_until(lambda: x_support.screen_saver_seconds() == 0, 5), saver, "the screen saver")
    if x_support.pointer_shown() is not None:
        c.check(x_support.pointer_shown(), "the pointer")
        c.check(wait_until(lambda: not x_support.pointer_shown(), 10), "the pointer is hidden")
        subprocess.run(["xdotool", "mousemove", "200", "200"], check=True)
        c.check(wait_until(x_support.pointer_shown, 2), "a moved pointer is shown")
        c.check(wait_until(lambda: not x_support.pointer_shown(), 10), "the pointer is hidden again")
    live.act("fullscreen")
    c.check(wait_until(lambda: x_support.screen_saver_seconds() == saver, 5), "the screen saver again")
    c.check(x_support.pointer_shown() in (None, True), "the pointer in the window")
    live.quit()


def kept_file():
    return at("state", "monocle", "live")


def shows(c, live, place, overlay, chain, *what):
    state = live.settled()
    c.check((live.place(), state["overlay"], state["chain"]) == (place, overlay, chain), *what, live.place(), state)
    c.check(("blur of the last run, 0 removes it" in state["message"]) == (chain == "blur"), state["message"])


def quits(c, live, *what, lines=0):
    code, _, errors = live.quit()
    c.check(code == 0 and errors.count("\n") == lines, *what, code, errors)
    return errors


def last_run(c):
    """The window's size and place, the overlay and the chain stay for the next run, unless its options differ."""
    live = view(PATTERN, XDG_STATE_HOME=at("state"))
    first = live.place()
    quits(c, live, "a run without changes")
    c.check(not os.path.exists(kept_file()), "nothing is kept")
    live = view(PATTERN, XDG_STATE_HOME=at("state"))
    subprocess.run(["xdotool", "windowsize", str(live.window), "500", "400", "windowmove", str(live.window), "300",
                    "200"], check=True)
    c.check(wait_until(lambda: live.place() == (300, 200, 500, 400)), live.place())
    live.act("look", 4), live.act("overlay"), live.act("fullscreen"), live.act("mirror"), live.set("titles", "text")
    quits(c, live, "the changes")
    with open(kept_file()) as file:
        text = file.read()
    c.check({"size = 500x400", "place = 300,200", "overlay = full", "camera = mirror", "chain = blur",
             "titles = text"} <= set(text.splitlines()), text)
    c.check(os.stat(kept_file()).st_mode & 0o777 == 0o600, "mode", oct(os.stat(kept_file()).st_mode))
    rows = [((), (300, 200, 500, 400), "full", "blur"),
            (("-f", "gray", "--overlay", "off"), (300, 200, 500, 400), "off", "gray"),
            (("--look", "maxrgb"), (300, 200, 500, 400), "full", "maxrgb"),
            (("--record", "film.y4m"), (300, 200, 500, 400), "full", "none"),
            (("--no-config",), first, "small", "none")]
    for args, *want in rows:
        live = view(PATTERN, *args, XDG_STATE_HOME=at("state"))
        shows(c, live, *want, args)
        state = live.control().get("status")
        parts = ("mirror", "text") if args == () else ("none", "none")
        c.check((state["camera"], state["titles"]) == parts, args, state)
        if args == ("--no-config",):
            live.act("overlay"), live.act("look", 3)
        quits(c, live, args)
        with open(kept_file()) as file:
            c.check(file.read() == text, args, "changes the file")
    live = view(PATTERN, XDG_STATE_HOME=at("state"))
    live.act("up"), live.act("add"), live.key("Return")
    quits(c, live, "a chain that is no look")
    live = view(PATTERN, XDG_STATE_HOME=at("state"))
    state = live.settled()
    c.check(state["chain"] == "blur=3,gray", state["chain"])
    c.check(state["message"].startswith("filters of the last run, 0 removes them\n"), state["message"])
    live.act("look", 0)
    quits(c, live, "no filters")
    live = view(PATTERN, XDG_STATE_HOME=at("state"))
    said = live.settled()["message"]
    c.check(said == "1-9\u00a0looks, Tab\u00a0compare, h\u00a0help, q\u00a0quit", said)
    quits(c, live, "the last run without filters")


@slow
def last_run_faults(c):
    """A wrong file of the last run is ignored, an unsafe one is reported, and a missing directory is no fault."""
    os.makedirs(at("state", "monocle"), 0o700)
    with open(kept_file(), "w") as file:
        file.write("size = 0x5\nplace = 5000,5000\noverlay = huge\nchain = nowhere\nfoo\n\0")
    live = view(PATTERN, XDG_STATE_HOME=at("state"))
    shows(c, live, live.place(), "small", "none", "a wrong file")
    c.check(live.geometry() == (WIDTH, HEIGHT) and live.place()[0] < 1920, live.place())
    c.check("the filters of the last run are left out" in live.settled()["message"], live.settled()["message"])
    c.check("no filter 'nowhere'" in quits(c, live, "a wrong file", lines=1), "a wrong file")
    code, _, errors = run(BINARY, "live", PATTERN, "--virtual-camera", "/dev/video99", XDG_STATE_HOME=at("state"))
    c.check(code == 2 and "cannot use the filters of the last run" in errors, errors)
    os.chmod(kept_file(), 0o666)
    live = view(PATTERN, XDG_STATE_HOME=at("state"))
    live.act("overlay")
    c.check("chmod go-w %s" % kept_file() in quits(c, live, "an unsafe file", lines=1), "an unsafe file")
    with open(kept_file()) as file:
        c.check(file.read().startswith("size = 0x5"), "an unsafe file is not written")
    live = view(PATTERN, XDG_STATE_HOME="/proc/self/nowhere")
    live.act("overlay")
    quits(c, live, "a directory that cannot be made")


need_window()
sys.exit(Checks().run(no_rate, real_size, showcase, without_camera, chooses, scaled, error_window, full_screen,
                      last_run, last_run_faults))
