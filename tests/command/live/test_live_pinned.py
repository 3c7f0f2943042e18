#!/usr/bin/env python3
"""test_live_pinned.py DISCRETE: sources that put their frames into pinned memory of a discrete device

DISCRETE is monocle linked with discrete.c.
"""
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, skip
from live_support import Window, events, has_opencl, need_window, png, run, y4m, y4m_pictures

BINARY, = programs(1)


def record(c, *args):
    """Compares headless recordings of the cpu path and of the device. Returns the summary of the device's run."""
    made = []
    for kind in ("cpu", "opencl"):
        code, out, errors = run(BINARY, "live", *args, "-p", kind, "-f", "blur=1", "--headless", "--json", "--record",
                                at("out.y4m"), "--overwrite", "--frames", "9")
        c.check(code == 0 and not errors, args, code, errors)
        with open(at("out.y4m"), "rb") as file:
            made.append(y4m_pictures(file.read()))
        last = events(out)[-1]
    c.check(len(made[0]) > 1 and made[0] == made[1], args, "differs from the cpu path")
    c.check(last["device"] and last["device"] == last["device"].strip(), "a device's name:", last["device"])
    return last


def headless(c):
    for name, data in ("film.y4m", y4m(64, 40, "420jpeg", 9)), ("film.nv12", bytes(n * 7 % 251 for n in range(34560))):
        with open(at(name), "wb") as file:
            file.write(data)
    png(at("still.png"), 52, 31)
    rows = [  # source, the way its frames arrive
        (["pattern:64x40,nv21"], "pinned"),
        (["pattern:62x33,rgba"], "copy"),  # kernels cannot read rows of this length in place
        ([at("film.y4m")], "pinned"),
        (["raw:" + at("film.nv12"), "-s", "64x40", "--pixel-format", "nv12"], "pinned"),
        ([at("still.png"), "--loop"], "pinned"),
    ]
    for source, way in rows:
        last = record(c, *source)
        c.check(last["in"] == way and ("copy in" in last["stages"]) == (way == "copy") and "upload" in last["stages"],
                source, last["in"], list(last["stages"]))


def switching(c):
    """Each switch of the path moves the frames to other memory, while one frame still lies in the old one."""
    need_window()
    live = Window(BINARY, at(), "pattern:64x40", "-p", "opencl", "--vsync", "off")
    ways = {"opencl": "pinned", "gl": "copy", "zerocopy": "pinned", "cpu": "host-ptr"}
    seen = set()
    for _ in range(7):
        state = live.wait(lambda e: e["event"] == "progress" and not e["building"], since=len(live.events))
        c.check(state["in"] == ways[state["path"]], state["path"], state["in"])
        seen.add(state["path"])
        live.key("p")
    live.key("Tab")
    live.key("space"), live.key("p"), live.key("p"), live.key("space")  # a frozen frame does not move
    state = live.wait(lambda e: e["event"] == "progress" and not e["building"], since=len(live.events))
    c.check(state["in"] == ways[state["path"]], state["path"], state["in"])
    code, last, errors = live.end()
    c.check(seen == set(ways) and code == 0 and not errors, seen, code, errors)


if not has_opencl(BINARY):
    skip("there is no OpenCL device")
sys.exit(Checks().run(headless, switching))
