#!/usr/bin/env python3
"""test_live_filters.py MONOCLE: users' filters are taken again when their files are saved

Needs a display (with-display gives one) and xdotool.
"""
import os
import shutil
import signal
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, skip
from hostile_filters import hostile_filters
from live_support import Control, Live, Window, has_opencl, need_window, picture, png, wait_until

MONOCLE, = programs(1)
PATTERN = "pattern:64x48@30"
HEAD = "//!SUMMARY a test\n//!KIND point\n"
CODE = """//!PARAM red
//!TYPE int
//!RANGE 0 255
//!DEFAULT 10
INLINE pixel filter_tint(pixel p, int x, int y, arguments args)
{
    p.r = %s;
    p.g = p.b = 0;
    return p;
}
"""
CARD = """//!SUMMARY a test
//!KIND point
//!PARAM image
//!TYPE file
INLINE pixel filter_tint(pixel p, pixel picture, int x, int y, arguments args)
{
    p.r = picture.r + %s;
    p.g = p.b = 0;
    return p;
}
"""
PATHS = ["cpu", "gl"] + (["opencl", "zerocopy"] if has_opencl(MONOCLE) else [])


def save(text):
    """Saves as an editor does: the new file replaces the old one."""
    with open(at("filters", "new"), "w") as file:
        file.write(text)
    os.rename(at("filters", "new"), at("filters", "tint.cl"))


def settings():
    return {"XDG_CONFIG_HOME": at("config"), "XDG_DATA_DIRS": at("none"), "XDG_CACHE_HOME": at("cache")}


def prepare(c):
    os.mkdir(at("cache"))
    os.mkdir(at("filters"))
    with open(at("filters", "broken.cl"), "w") as file:  # it does not disturb the others
        file.write("no filter\n")


def is_tint(pixels, red):
    """Returns true if most pixels have the colour: a message may cover the others."""
    found = list(zip(pixels[::3], pixels[1::3], pixels[2::3]))
    return found.count((red, 0, 0)) > len(found) // 2


def fails(c, live, path, text, place, red):
    """A wrong file is reported with its line, and the picture stays."""
    since = len(live.events)
    save(text)
    live.wait(lambda e: e["event"] == "error" and place in e["message"], since=since)
    state = live.wait(lambda e: e["event"] == "state" and e["message_is_error"], since=since)
    c.check(place in state["message"], path, "the overlay says it", state["message"])
    c.check(is_tint(live.pixels(), red), path, place, "the last chain runs on")


def window(c):
    """In the window, on each path. The parameter keeps its value."""
    save(HEAD + CODE % "ARG(args, 0)")
    live = Window(MONOCLE, at(), PATTERN, "-f", "tint=red=20", "-p", "gl", "--filters", at("filters"), "--overlay",
                  "off", **settings())
    live.act("freeze")
    for path in PATHS:
        save(HEAD + CODE % "ARG(args, 0)")
        live.set("path", path)
        c.check(wait_until(lambda: is_tint(live.pixels(), 20), 20), path, "the filter runs")
        fails(c, live, path, HEAD + CODE % "none_such", "tint.cl:9", 20)
        state = live.act("up")
        c.check(state["chain"] == "tint=21" and wait_until(lambda: is_tint(live.pixels(), 21), 20), path, "it changes",
                state)
        live.act("down")
        fails(c, live, path, HEAD + "//!PARM x\n", "tint.cl:3: there is no declaration 'PARM'", 20)
        since = len(live.events)
        save(HEAD + CODE % "ARG(args, 0)")  # the last text that was not refused
        live.wait(lambda e: e["event"] == "state" and not e["message_is_error"], since=since)
        save(HEAD + CODE % "ARG(args, 0) + 100")
        c.check(wait_until(lambda: is_tint(live.pixels(), 120), 20), path, "the edited filter runs")
        state = live.settled()
        c.check(not state["message_is_error"] and state["chain"] == "tint=20", path, state)
    code, _, errors = live.quit()
    c.check(code == 0, code, errors)


def file(c):
    """A filter's image file: keys hide and show it, the control socket sets it, and an edited filter keeps it."""
    save(CARD % "1")
    for name, red in (("one.png", 50), ("two.png", 60)):
        png(at(name), 8, 6, lambda x, y: (red, 0, 0))
    with open(at("broken.png"), "w") as broken:
        broken.write("no picture")
    live = Live(MONOCLE, at(), PATTERN, "-f", "tint=one.png", "-p", "cpu", "--filters", at("filters"), "--headless",
                asks=True, **settings())
    control = live.control()
    c.check(wait_until(lambda: is_tint(live.shot(), 51), 20), "the file")
    c.check(control.get("param/tint/image") == at("one.png"), control.get("params"))
    since = len(live.events)
    shutil.copy(at("filters", "tint.cl"), at("filters", ".#tint.cl"))
    control.ask("wait_frame", control.get("frames") + 3)
    c.check("state" not in [e["event"] for e in live.events[since:]], "the hidden file of an editor is no filter")
    state = live.act("down")
    c.check(state["chain"] == "tint" and wait_until(lambda: is_tint(live.shot(), 1), 20), "hidden", state)
    state = live.act("up")
    c.check(state["chain"] == "tint=" + at("one.png"), state)
    c.check(wait_until(lambda: is_tint(live.shot(), 51), 20), "shown again")
    control.set("param/0/image", at("two.png"))
    c.check(wait_until(lambda: is_tint(live.shot(), 61), 20), "another file")
    png(at("two.png"), 8, 6, lambda x, y: (70, 0, 0))
    c.check(wait_until(lambda: is_tint(live.shot(), 71), 20), "the edited file")
    png(at("two.png"), 8, 6, lambda x, y: (60, 0, 0))
    save(CARD % "2")
    c.check(wait_until(lambda: is_tint(live.shot(), 62), 20), "the edited filter")
    with open(at("two.png"), "w") as broken:
        broken.write("no picture")
    control.set("source", "pattern:32x24@30")
    c.check(wait_until(lambda: is_tint(live.shot(), 62), 20), "the last pixels of a damaged file, in another size")
    os.remove(at("two.png"))
    save(CARD % "3")
    c.check(wait_until(lambda: is_tint(live.shot(), 63), 20), "the pixels of a file that has gone")
    c.check("cannot read the file" in control.error("set_property", "param/0/image", "none.png"), "no file")
    refused = control.error("set_property", "param/0/image", "broken.png")
    c.check("it is not a JPEG" in refused and is_tint(live.shot(), 63), "the last chain runs on", refused)
    control.set("param/0/image", "none")
    c.check(wait_until(lambda: is_tint(live.shot(), 3), 20), "none")
    state = live.act("up")
    c.check(state["chain"] == "tint", "there is no file to show", state)
    code, _, errors = live.quit()
    c.check(code == 0, code, errors)


def names(c):
    """The control socket shows a file's name that is not UTF-8, and refuses names that make the chain too long."""
    save(CARD % "1")
    long = "./" * ((49 - len(at())) // 2) + "x" * 204  # 254 characters with the directory
    for name in (b"\xff", long.encode()):
        png(os.path.join(os.fsencode(at()), name), 8, 6)
    live = Live(MONOCLE, at(), PATTERN, "-f", b"tint=image=\xff" + 15 * b",tint", "-p", "cpu", "--filters",
                at("filters"), "--headless", "--socket", at("socket"), **settings())
    control = Control(at("socket"))
    c.check(control.get("param/0/image") == at("\ufffd") and len(control.get("params")) == 16, control.get("params"))
    errors = [control.error("set_property", f"param/{i}/image", long) for i in range(16)]
    c.check(not any(errors[:15]) and "longer than 4094 characters" in errors[15], errors)
    c.check(control.error("set_property", "chain", control.get("chain")) == "", control.get("chain"))
    control.ask("quit")
    code, _, errors = live.wait_end()
    c.check(code == 0, code, errors)


def headless(c):
    """Without a window, the next frames have the edited filter."""
    for path in ["cpu"] + ["opencl"] * ("opencl" in PATHS):
        save(HEAD + CODE % "ARG(args, 0)")
        live = Live(MONOCLE, at(), PATTERN, "-f", "tint", "-p", path, "--filters", at("filters"), "--headless",
                    "--frames", "1000000000", "--screenshot", at("last.png"),
                    "--overwrite", **settings())
        since = len(live.events)
        save(HEAD + CODE % "none_such")
        live.wait(lambda e: e["event"] == "error" and "tint.cl:9" in e["message"], since=since)
        for text, line, says in hostile_filters("tint"):
            since, wanted = len(live.events), "tint.cl:%d: %s" % (line, says)
            save(text)
            live.wait(lambda e, wanted=wanted: e["event"] == "error" and wanted in e["message"], since=since)
        since = len(live.events)
        save(HEAD + CODE % "77")
        live.wait(lambda e: e["event"] == "state" and not e["building"] and not e["message_is_error"], since=since)
        frames = live.events[-1]["frames"]
        live.wait(lambda e: e["event"] == "progress" and e["frames"] > frames, since=len(live.events))
        live.process.send_signal(signal.SIGINT)
        code, _, errors = live.wait_end()
        c.check(code == 130 and is_tint(picture(at("last.png")), 77), path, code, errors)


if not shutil.which("cc"):
    skip("there is no C compiler")
need_window()
sys.exit(Checks().run(window, file, names, headless, before=prepare))
