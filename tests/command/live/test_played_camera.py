#!/usr/bin/env python3
"""test_played_camera.py PLAYED: a camera's controls through the control socket, --on-demand, and a virtual camera

PLAYED is monocle linked with played.c, a camera and v4l2loopback without a kernel.
"""
import os
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from live_support import Control, Live, PlayedCamera, events, picture, run, wait_until, y4m, y4m_pictures
from loopback_support import expected, film

BINARY, = programs(1)
RUN = ["-p", "cpu", "--headless"]
BLACK, GREY, FRAME = bytes([16]), bytes([128]), 24 * 16 * 3 // 2  # luma; bytes of a frame


def controls(c):
    """Controls are properties: listed, read, set and observed."""
    view = Live(BINARY, at(), "camera:0", *RUN, "--socket", at("m"))
    m = Control(at("m"))
    listed = {row["name"]: row for row in m.get("controls")}
    want = {"name": "control/brightness", "type": "number", "value": 0, "locked": False, "min": -64, "max": 64,
            "step": 1, "default": 0}
    c.check(listed["control/brightness"] == want, listed)
    menu = listed["control/power_line_frequency"]
    c.check((menu["type"], menu["value"], menu["choices"]) == ("choice", "50_hz", ["disabled", "50_hz", "60_hz"]), menu)
    c.check(listed["control/white_balance_temperature"]["locked"], listed)
    m.ask("observe_property", 7, "control/brightness")
    c.check(m.event("control/brightness") == {"event": "property-change", "id": 7, "name": "control/brightness",
                                              "data": 0}, "the first value")
    rows = [("brightness", 12, 12), ("brightness", "-3", -3), ("white_balance_automatic", False, False),
            ("white_balance_temperature", 3000, 3000), ("power_line_frequency", "60_hz", "60_hz"),
            ("power_line_frequency", 0, "disabled"), ("White_Balance_Automatic", "on", True)]
    for name, value, got in rows:
        m.ask("set_property", "control/" + name, value)
        c.check(m.get("control/" + name) == got, name, m.get("control/" + name))
        if name == "brightness":
            seen = m.event("control/brightness")["data"]
            c.check(seen == got, "observed", seen)
    m.ask("key", "camera-next")
    m.ask("key", "camera-up")
    c.check(m.event("control/brightness")["data"] == -1, "a key", m.get("controls"))
    balance, frequency = "white_balance_automatic", "power_line_frequency"
    for key, name, got in (("next", balance, True), ("down", balance, False), ("next", frequency, "disabled"),
                           ("up", frequency, "50_hz"), ("down", frequency, "disabled"),
                           ("down", frequency, "disabled"), ("back", balance, False), ("up", balance, True)):
        m.ask("key", "camera-" + key)
        c.check(m.get("control/" + name) == got, "camera-" + key, m.get("controls"))
    for name, value, words in (("brightness", 65, "its range is -64 to 64"), ("brightnes", 1, "did you mean"),
                               ("white_balance_temperature", 4000, "locks it"), ("brightness", "a=b", "cannot set"),
                               ("brightness", "9" * 1000, "cannot set")):
        error = m.error("set_property", "control/" + name, value)
        c.check(words in error and "\n" not in error, name, value, error)
    for words, out in ((("get", "control/brightness"), "-1\n"),
                       (("set", "control/power_line_frequency", "60_hz"), ""),
                       (("get", "control/power_line_frequency"), "60_hz\n")):
        code, said, err = run(BINARY, "ctl", at("m"), *words)
        c.check((code, said.decode()) == (0, out), words, code, said, err)
    m.set("source", "pattern:64x48")
    error = m.error("get_property", "control/brightness")
    c.check(m.get("controls") == [] and "not a camera" in error, error)
    m.ask("quit")
    code, _, err = view.wait_end()
    c.check((code, err) == (0, ""), code, err)


def last_luma():
    with open(at("node"), "rb") as file:
        return set(file.read()[-FRAME:][:24 * 16])


def on_demand(c):
    """The camera streams only while a program reads the virtual camera, which is black at other times."""
    with open(at("node"), "w"):
        pass
    readers, streams = at("readers"), at("streams")
    view = PlayedCamera(BINARY, *RUN, "--virtual-camera", at("node"), "--on-demand", runs=False,
                        PLAYED_READERS=readers, PLAYED_STREAMS=streams)

    def rests(value):
        return view.until(lambda s: s["virtual_camera"]["resting"] is value)

    def read(value):
        if value:
            with open(readers, "w"):
                pass
        else:
            os.remove(readers)

    for turn in range(2):
        state = rests(True)["virtual_camera"]
        sent = state["sent"]
        c.check(state["watched"] is False, "no program reads", state)
        c.check(wait_until(lambda: not os.path.exists(streams)), turn, "the camera streams without a reader")
        c.check(wait_until(lambda: last_luma() == set(BLACK)), turn, "not black", last_luma())
        if turn == 1:
            break
        read(True)
        rests(False)
        view.until(lambda s: s["virtual_camera"]["sent"] > sent + 10)
        c.check(os.path.exists(streams) and wait_until(lambda: last_luma() == set(GREY)), last_luma())
        # A program that opens the camera again at once, with another mode.
        sent = view.control().get("status")["virtual_camera"]["sent"]
        read(False)
        time.sleep(0.5)
        read(True)
        states = []
        view.until(lambda s: states.append(s["virtual_camera"]) or states[-1]["sent"] > sent + 60)
        c.check(not any(state["resting"] for state in states), "it rests between two modes")
        c.check(states[-1]["watched"] is True, "a program reads", states[-1])
        read(False)
    view.process.terminate()
    code, last, err = view.wait_end()
    c.check((code, err) == (143, "") and last["outages"] == 0, code, err, last)


def refused(c):
    for args, code, words in ((["camera:0", *RUN, "--on-demand"], 2, "needs --virtual-camera and --headless"),
                              (["camera:0", "--virtual-camera", at("node"), "--on-demand"], 2, "and --headless"),
                              (["pattern", *RUN, "--virtual-camera", at("node"), "--on-demand"], 2, "needs a camera"),
                              (["camera:0", *RUN, "--virtual-camera", at("node"), "--on-demand"], 3, "version 0.13")):
        with open(at("node"), "w"):
            pass
        got, _, err = run(BINARY, "live", *args, PLAYED_OLD="1")
        c.check(got == code and words in err and err.count("\n") == 1, args, got, err)


def virtual_camera(c):
    """Every format of the virtual camera, even and odd sizes, a chain: programs get exactly these bytes."""
    for fourcc, name, width, height in (("NV12", "nv12", 32, 24), ("NV12", "nv12", 31, 23), ("YUYV", "yuyv", 31, 23),
                                        ("YU12", "yu12", 31, 23)):
        with open(at("node"), "wb"):
            pass
        source = film("film.y4m", width, height, 6)
        allowed = expected(BINARY, source, width, height, name, "-f", "sepia")
        size = len(next(iter(allowed)))
        code, out, err = run(BINARY, "live", source, "-f", "sepia", *RUN, "--json", "--virtual-camera", at("node"),
                             PLAYED_OUTPUT=fourcc)
        said, last = (events(out)[i]["virtual_camera"] for i in (0, -1))
        c.check(code == 0 and (said["pixel_format"], said["width"], said["height"], said["matrix"]) ==
                (name, width // 2 * 2, height // 2 * 2, "601"), said, err)
        with open(at("node"), "rb") as file:
            data = file.read()
        got = [data[i:i + size] for i in range(0, len(data), size)]
        c.check(len(got) > 2 and all(frame in allowed for frame in got), name, width, len(data) / size)
        black = len(got) - (last["sent"] - last["skipped"] + last["repeated"])
        c.check(len(set(got)) > 2 and black in (0, 1), last, len(got))  # 0: the first frame came before it was written


def two_nodes(c):
    """Two virtual cameras get the same frames: in the format of the first, which the second cannot change."""
    for name in "node", "other":
        with open(at(name), "wb"):
            pass
    nodes = ["--virtual-camera", at("node"), "--virtual-camera", at("other")]
    source = film("film.y4m", 32, 24, 6)
    code, out, err = run(BINARY, "live", source, *RUN, "--json", *nodes, PLAYED_OUTPUT="YUYV")
    said, last = (events(out)[i]["virtual_camera"] for i in (0, -1))
    c.check(code == 0 and said["pixel_format"] == "yuyv" and
            said["name"] == "%s (played output), %s (played output)" % (at("node"), at("other")), said, err)
    c.check(last["sent"] == 6, last)
    allowed, size, written = expected(BINARY, source, 32, 24, "yuyv"), 32 * 24 * 2, 0
    for name in "node", "other":
        with open(at(name), "rb") as file:
            data = file.read()
        got = [data[i:i + size] for i in range(0, len(data), size)]
        written += len(got)
        c.check(len(set(got)) > 2 and all(frame in allowed for frame in got), name, len(got))
    c.check(written - (12 - last["skipped"] + last["repeated"]) in (0, 1, 2), "black frames", written, last)
    os.symlink("/proc/self/oom_score_adj", at("full"))  # a regular file that refuses frames
    for order in ("node", "full"), ("full", "node"):
        with open(at("node"), "wb"):
            pass
        both = [word for name in order for word in ("--virtual-camera", at(name))]
        code, out, err = run(BINARY, "live", "pattern:32x24@50", *RUN, "--json", "-n", "60", *both)
        last = events(out)[-1]["virtual_camera"] or {}
        c.check(code == 1 and err.count("\n") == 1 and "full (played output): Invalid argument" in err and
                (last.get("name"), last.get("sent")) == (at("node") + " (played output)", 60) and
                os.path.getsize(at("node")) > 30 * 32 * 24 * 3 // 2, "one of two nodes fails", code, err, last)
    code, _, err = run(BINARY, "live", "pattern:96x64", *RUN, "-n", "2", *nodes[:3], "/dev/null")
    c.check(code == 3 and "/dev/null: it is not a V4L2 device" in err and err.count("\n") == 1, code, err)


def late_frames(c):
    """If the source pauses, the last frame is repeated at the source's rate."""
    os.mkfifo(at("fifo.y4m"))
    with open(at("node"), "wb"):
        pass
    view = PlayedCamera(BINARY, *RUN, "--virtual-camera", at("node"), source=(at("fifo.y4m"),), runs=False)
    film, frame = y4m(64, 48, "444", 2, rate="20:1"), len("FRAME\n") + 64 * 48 * 3
    with open(at("fifo.y4m"), "wb") as feed:
        feed.write(film[:-frame])
        feed.flush()
        view.until(lambda s: s["virtual_camera"]["sent"] == 1)  # a view that is late would skip it
        feed.write(film[-frame:])
        feed.flush()
        before = view.until(lambda s: s["virtual_camera"]["sent"] == 2)["virtual_camera"]["repeated"]
        counts = view.until(lambda s: s["virtual_camera"]["repeated"] > before + 10)["virtual_camera"]
    code, last, err = view.wait_end()
    c.check(code == 0 and counts["sent"] == 2 == last["virtual_camera"]["sent"], code, last, err)
    size = 64 * 48 * 3 // 2
    with open(at("node"), "rb") as file:
        data = file.read()
    got = [data[i:i + size] for i in range(0, len(data), size)]
    c.check(got[-1] == got[-8] != got[0], "the last frame is repeated", [frame[:4] for frame in got])


def first_frames(c):
    """A camera's first two frames are garbage: stills and recordings do not have them."""
    for args, whole in (((), True), (("--settle", "1"), False), (("--settle", "9"), True)):
        code, _, err = run(BINARY, "live", "camera:0", *RUN, "-n", "3", "-o", "settled.y4m", "--overwrite", *args,
                           PLAYED_GARBAGE="2")
        with open("settled.y4m", "rb") as file:
            grey = [abs(frame[0] - GREY[0]) < 10 for frame in y4m_pictures(file.read())]
        c.check(code == 0 and grey[0] == whole and grey[-1], args, grey, err)
    code, _, err = run(BINARY, "live", "camera:0", *RUN, "-n", "1", "--screenshot", "still.png", PLAYED_GARBAGE="2")
    c.check(code == 0 and abs(picture("still.png")[0] - GREY[0]) < 10, picture("still.png")[:3], err)


def claimed_rate(c):
    """A camera claims 3 frames per second and delivers 28: recordings have at least 95 % of them."""
    for name in ("claim.y4m", "claim.mkv"):
        code, _, err = run(BINARY, "live", "camera:0", *RUN, "-n", "40", "-o", name, PLAYED_CLAIM="3")
        _, out, _ = run("ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of",
                        "csv=p=0", name)
        c.check(code == 0 and err == "" and int(out) >= 38, name, code, out, err)


def wrong_nodes(c):
    rows = (("/dev/video0", "it is a camera, not", {}), ("/dev/video99", "there is no such device", {}),
            ("/dev/null", "not a V4L2 device", {}),
            ("/dev/video0", "then log in again\n", {"PLAYED_FORBIDDEN": "1"}),
            (at("node"), "fixed at 128x80 pixels", {"PLAYED_OUTPUT": "NV12 128x80"}),
            (at("node"), "--size 128x80", {"PLAYED_OUTPUT": "NV12 128x80"}),
            (at("node"), "fixed at the format RGB3", {"PLAYED_OUTPUT": "RGB3"}))
    with open(at("node"), "w"):
        pass
    for node, words, env in rows:
        code, _, err = run(BINARY, "live", "pattern:96x64", *RUN, "-n", "2", "--virtual-camera", node, **env)
        c.check(code == 3 and words in err and err.count("\n") == 1, node, code, err)
    code, _, err = run(BINARY, "live", "camera:/dev/video0", *RUN, "--virtual-camera", "/dev/video0")
    c.check(code == 2 and "its own source" in err, code, err)


sys.exit(Checks().run(controls, on_demand, refused, virtual_camera, two_nodes, late_frames, first_frames, claimed_rate,
                      wrong_nodes))
