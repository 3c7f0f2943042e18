#!/usr/bin/env python3
"""test_live_sources.py MONOCLE: the source of a running view changes through the control socket

Needs a display (with-display gives one) and xdotool.
"""
import functools
import glob
import os
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
import x_support
from checks import Checks, at, programs, slow
from live_support import (PATIENCE, Control, ControlledView, Window, ended, events, has_opencl, need_window, picture,
                          png, wait_until, y4m, y4m_pictures)

BINARY, = programs(1)
PATTERN = "pattern:320x240@30"
View = functools.partial(ControlledView, BINARY)


def sources(c, *args):
    """The source changes while the view runs, also its size, and again before the change is done. A wrong one changes
    nothing. The counts go on."""
    png(at("a.png"), 64, 48)
    png(at("b.png"), 33, 21)
    with open(at("c.y4m"), "wb") as file:
        file.write(y4m(48, 32, "444", 200))
    open(at("empty"), "w").close()
    view = View(PATTERN, "-f", "invert", "--overwrite", *args)
    m = view.client()
    before = m.ask("wait_frame", 5)
    for name, size in ("a.png", "64x48"), ("c.y4m", "48x32"), ("b.png", "33x21"), ("pattern:80x60", "80x60"):
        frames = m.set("source", name if ":" in name else at(name))
        c.check(m.get("size") == size and frames > before, name, m.get("size"), frames)
        if name.endswith(".png"):
            m.ask("screenshot", at("shot.png"))
            c.check(picture(at("shot.png")) == bytes(255 - byte for byte in picture(at(name))), name, "is inverted")
        before = frames
    for wrong, why in {at("absent.mp4"): "No such file", "/dev/null": "not a regular file",
                       at("empty"): "is empty"}.items():
        error = m.error("set_property", "source", wrong)
        c.check(wrong in error and why in error and m.get("message") == error, wrong, error, m.get("message"))
    for wrong, why in (at("out"), "ffmpeg cannot read it; for raw frames"), ("camera:/dev/null", "not a V4L2 device"):
        error = m.error("set_property", "source", wrong)
        c.check(why in error and m.get("size") == "80x60" and m.get("message") == error, wrong, error, m.get("message"))
        c.check(m.ask("wait_frame", m.get("frames") + 2), "the old source goes on")
    other = view.client()
    for number in range(50):
        (m, other)[number % 2].send("set_property", "source", at("ab"[number % 2] + ".png"))
    replies = [(m, other)[number % 2].reply()["error"] for number in range(50)]
    c.check(set(replies) <= {"success", "a later request replaced this source"}, "many requests", set(replies))
    c.check(replies[48:].count("success") > 0, "the latest of many", replies[48:])
    os.mkfifo(at("stalled"))
    m.send("set_property", "source", at("stalled"))
    c.check(wait_until(lambda: other.get("message") == "opening " + at("stalled")), "it opens", other.get("message"))
    other.send("set_property", "source", at("b.png"))
    c.check(m.reply()["error"] == "a later request replaced this source", "a request that another client replaced")
    # The view may have closed the pipe already, so that it has no reader.
    with open(os.open(at("stalled"), os.O_RDWR | os.O_NONBLOCK), "w", encoding="utf-8") as file:
        file.write("no Y4M header\n")
    c.check(other.reply()["error"] == "success" and m.get("size") == "33x21", "the latest request", m.get("size"))
    c.check(m.get("captured") >= m.get("frames"), m.get("captured"), m.get("frames"))
    m.ask("set_property", "source", at("c.y4m"))
    code, last, log = view.end()
    c.check(code == 0 and log.count("error") == 3, code, log)


def given_up(c):
    """A source that is being opened is given up when another one is wanted: here, ffprobe does not end."""
    png(at("b.png"), 33, 21)
    os.mkdir(at("bin"))
    for name, text in ("bin/ffprobe", "#!/bin/sh\nexec sleep 300\n"), ("film.mkv", "a film"):
        with open(at(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(at(name), 0o755)
    view = View(PATTERN, "--headless", PATH=at("bin") + ":" + os.environ["PATH"])
    m, other = view.client(), view.client()
    m.send("set_property", "source", at("film.mkv"))
    c.check(wait_until(lambda: other.get("message") == "opening " + at("film.mkv")), "it opens", other.get("message"))
    other.set("source", at("b.png"))
    c.check(other.get("size") == "33x21", "the other source", other.get("size"))
    c.check(m.reply()["error"] == "a later request replaced this source", "the first request")
    m.close()
    other.close()
    ended(c, view)


def counts(c):
    """The counts of captured and skipped frames go on with another source."""
    png(at("a.png"), 64, 48)
    view = View("pattern:16x16@500", "-p", "cpu", "--headless")
    m = view.client()
    m.set("paused", True)  # the camera goes on, and its frames are skipped
    c.check(wait_until(lambda: m.get("skipped") > 5), "frames are skipped")
    skipped, captured = m.get("skipped"), m.get("captured")
    m.set("source", at("a.png"))
    c.check(m.get("skipped") >= skipped and m.get("captured") > captured, m.get("skipped"), skipped)
    c.check(m.get("paused") is False, "the new source plays")
    ended(c, view, "with counts")


def paused_early(c):
    """A pause before the first frame of a source shows this frame and no other."""
    os.mkfifo(at("film"))
    view = View("pattern:64x48@30", "-p", "cpu", "--headless")
    m = view.client()
    m.send("set_property", "source", at("film"))
    with open(at("film"), "wb", buffering=0) as film:
        whole = y4m(48, 32, "444", 3)
        begin = whole.index(b"\n") + 1
        film.write(whole[:begin])
        other = view.client()
        c.check(wait_until(lambda: other.get("size") == "48x32"), other.get("size"))
        other.ask("set_property", "paused", True)
        before = other.get("frames")
        film.write(whole[begin:])
        c.check(m.reply()["error"] == "success" and m.ask("wait_frame") == before + 1, before, m.get("frames"))
    m.ask("screenshot", at("first.png"))
    c.check(m.get("frames") == before + 1, "the view is paused", m.get("frames"))
    ended(c, view, "paused early")


def first_frame(c):
    """The reply to a new source comes with its first frame. Until then, the window keeps the old picture."""
    png(at("a.png"), 64, 48)
    os.mkfifo(at("film"))
    whole = y4m(48, 36, "444", 1)
    begin = whole.index(b"\n") + 1
    for path in "cpu", "gl":
        view = Window(BINARY, at(), at("a.png"), "-p", path, "--overlay", "off")
        before = view.pixels()
        m, other = view.control(), Control(view.place_of_socket)
        c.check(other.get("status")["path"] == path, path, other.get("status")["path"])
        m.send("set_property", "source", at("film"))
        with open(at("film"), "wb", buffering=0) as film:
            film.write(whole[:begin])
            c.check(wait_until(lambda: other.get("size") == "48x36"), "the source", other.get("size"))
            time.sleep(0.5)
            c.check(x_support.pixels_of(view.window) == before, path, "the old picture")
            m.socket.settimeout(0.5)
            try:
                c.check(False, path, "a reply before the frame:", m.line())
            except AssertionError:
                m.file = m.socket.makefile("rb")
            m.socket.settimeout(60 * PATIENCE)
            film.write(whole[begin:])
            c.check(m.reply()["error"] == "success", path, "the reply")
            c.check(not other.error("screenshot", at(path + ".png")), path, "a screenshot at once")
            other.ask("quit")
            view.wait_end()


def spared(c):
    """A file that the run writes cannot become its source."""
    os.mkdir(at("show"))
    png(at("show/last.png"), 64, 48)
    view = View("pattern:64x48@30", "-p", "cpu", "--headless", "--record", at("film.y4m"), "--screenshot",
                at("show/last.png"), "--overwrite")
    m = view.client()
    m.ask("wait_frame", 2)
    for name, output in ("film.y4m", "film.y4m"), ("show", "show/last.png"):
        error = m.error("set_property", "source", at(name))
        c.check("%s is the source" % at(output) in error, name, error)
        c.check(m.get("source") == "test pattern" and m.get("message") == error, name, m.get("message"))
    frames = m.get("frames")
    c.check(m.ask("wait_frame", frames + 2) >= frames + 2, "the old source goes on")
    code, _, log = view.end()
    c.check(code == 0 and log.count("\n") == 2, code, log)
    with open(at("film.y4m"), "rb") as film:
        c.check(b" W64 H48 " in film.read(60), "the recording")


def source_of_another_size(c):
    """A recording that is a pipe continues with a source of another size."""
    os.mkfifo(at("pipe"))
    with open(at("copy"), "wb") as copy:
        reader = subprocess.Popen(["cat", at("pipe")], stdout=copy)
    view = View("pattern:16x16@30", "-p", "cpu", "--headless", "--record", at("pipe"))
    m = view.client()
    m.ask("wait_frame", 2)
    m.set("source", "pattern:32x32")
    c.check(m.ask("wait_frame", m.get("frames") + 3), "it goes on")
    code, last, log = view.end()
    reader.wait()
    with open(at("copy"), "rb") as file:
        data = file.read()
    c.check(code == 0 and len(y4m_pictures(data)) >= 5 and "the outputs stay 16x16" in log, code, last, log)


@slow
def source_during_builds(c):
    """A new source arrives even if the chain changes faster than it is built."""
    if not has_opencl(BINARY):
        return
    view = View("pattern:64x48@30", "-p", "opencl", "--headless", XDG_CACHE_HOME=at(), POCL_CACHE_DIR=at())
    m, other = view.client(), view.client()
    m.ask("wait_frame", 2)
    end = time.monotonic() + 60 * PATIENCE
    filters = "gray", "sepia", "emboss", "sharpen", "sobel", "invert", "hue"
    changes = 0
    while other.get("size") != "80x60" and time.monotonic() < end:
        chain = "blur=%d,%s,%s" % (1 + changes % 9, filters[changes % 7], filters[changes // 63 % 7])
        other.ask("set_property", "chain", chain)
        changes += 1
        if changes == 20:
            m.send("set_property", "source", "pattern:80x60@30")
    c.check(other.get("size") == "80x60" and m.reply()["error"] == "success", changes)
    m.set("source", "pattern:40x30@30,yuyv")
    c.check(m.get("path") == "opencl" and not m.get("building"), m.get("path"))
    ended(c, view, "during builds")
    with open(at("out"), "rb") as file:
        paths = [event["path"] for event in events(file.read()) if event["event"] == "reshaped"]
    c.check(paths == ["cpu", "cpu"], "the cpu path serves until the build is complete", paths)


def sources_in_a_window(c):
    """The window's title names the new source, and the split view stays."""
    png(at("a.png"), 64, 48)
    view = View(PATTERN, "-f", "invert")
    m = view.client()
    m.set("split", "original")
    os.mkdir(at("show"))
    for number, size in enumerate(((20, 10), (30, 40))):
        png(at("show", "%d.png" % number), *size)
    m.set("source", at("show"))
    c.check(m.get("size") == "20x10" and m.get("duration") == 10, "a slide show", m.get("size"), m.get("duration"))
    m.key("forward")
    c.check(m.get("size") == "30x40" and m.get("position") == 5, "its next image", m.get("size"), m.get("position"))
    m.set("source", at("a.png"))
    c.check(m.get("split") == "original" and m.get("size") == "64x48", m.get("split"), m.get("size"))
    window = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(view.process.pid)], text=True,
                            capture_output=True).stdout.split()[-1]
    title = subprocess.run(["xdotool", "getwindowname", window], capture_output=True, text=True).stdout.strip()
    c.check(title == "monocle: %s" % at("a.png"), title)
    ended(c, view, "with a window")


def no_source(c):
    """Without a source and without a camera, a window shows the photograph, and the looks stay as they are."""
    view = View("--look", "ink")
    m = view.client()
    missing = not glob.glob("/dev/video*")
    if missing:
        c.check(m.get("source") == "photograph of a raccoon", m.get("source"))
    c.check((m.get("look"), m.get("split")) == ("ink", "off"), m.get("look"), m.get("split"))
    ended(c, view, "without a source", lines=missing)


def no_source_for_truth(c):
    """A run with --truth keeps its source."""
    view = View("road", "--truth", "t.json", "--headless")
    m = view.client()
    c.check("--truth" in m.error("set_property", "source", "pattern"), "the source of --truth")
    ended(c, view, "with --truth")


def headless_sources(c):
    sources(c, "--headless")


need_window()
sys.exit(Checks().run(sources, headless_sources, given_up, counts, paused_early, first_frame, spared,
                      source_of_another_size, source_during_builds, sources_in_a_window, no_source,
                      no_source_for_truth))
