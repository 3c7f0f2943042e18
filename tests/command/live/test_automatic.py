#!/usr/bin/env python3
"""test_automatic.py MONOCLE_OFFERED: -p auto times the paths while frames run, and loses no frame

Needs a display (with-display gives one) and an OpenCL device.
"""
import json
import re
import signal
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, skip
from live_support import ControlledView, ended, environment, events, has_opencl, need_window, run, wait_until

BINARY, = programs(1)
TIMES = re.compile(r"auto: (\w+) ([\d.]+) ms((?:, \w+ [\d.]+)*)$")


def chosen(c, why, kinds):
    """Returns the path that `why` names first. It must be the fastest, or within 10 % of it, and name these kinds."""
    found = TIMES.match(why)
    c.check(found, "the reason is", why)
    times = {found[1]: float(found[2])}
    times.update((name, float(ms)) for name, ms in (pair.split() for pair in found[3].split(", ")[1:]))
    c.check(set(times) == set(kinds), "timed", times, "not", kinds)
    c.check(times[found[1]] * 0.89 <= min(times.values()) + 0.01, "the fastest", times)
    return found[1]


def decided(m):
    """Waits until a choice was made. Returns the state."""
    wait_until(lambda: m.get("status")["why"].startswith("auto: "))
    m.ask("wait_frame", 20)  # the chosen path is built meanwhile
    return m.get("status")


def window(c):
    """A window: all three paths run, and the recording has the bytes of the cpu path."""
    chain = ("-f", "blur=2,gray")
    view = ControlledView(BINARY, "pattern:160x120", *chain, "--fast", "--vsync", "off", "--record", at("auto.y4m"))
    m = view.client()
    c.check(m.get("path") == "auto", "the default", m.get("path"))
    path = chosen(c, decided(m)["why"], ("cpu", "opencl", "gl"))
    wait_until(lambda: m.get("status")["path"] == path)
    m.close()
    ended(c, view, "a window")
    said = events(open(at("out"), "rb").read())
    c.check({"cpu", "opencl", "gl"} <= {event["path"] for event in said}, "paths", [event["path"] for event in said])
    last = said[-1]
    c.check(last["path"] == path and last["why"].startswith("auto: " + path), "summary", last["why"])
    film = open(at("auto.y4m"), "rb").read()
    run(BINARY, "live", "pattern:160x120", *chain, "-p", "cpu", "--headless", "--fast", "--frames",
        str(last["frames"]), "--record", at("cpu.y4m"), cwd=at())
    c.check(last["skipped"] == 0, last["skipped"], "frames were skipped")
    c.check(film == open(at("cpu.y4m"), "rb").read(), "the recording differs from that of the cpu path")


def again(c):
    """Another chain is timed again; a path by name ends the choice."""
    view = ControlledView(BINARY, "pattern:160x120", "--fast", "--vsync", "off")
    m = view.client()
    before = decided(m)["why"]
    m.set("chain", "emboss")
    c.check(wait_until(lambda: m.get("status")["why"] not in (before, "as requested")), "not timed again")
    chosen(c, m.get("status")["why"], ("cpu", "opencl", "gl"))
    m.set("path", "opencl")
    m.ask("wait_frame", 60)
    c.check(m.get("path") == "opencl" and m.get("sharing") == "opencl", "by name", m.get("path"), m.get("sharing"))
    m.set("path", "auto")
    c.check(m.get("path") == "auto" and decided(m)["path"] in ("cpu", "opencl", "gl"), "auto again")
    m.close()
    ended(c, view, "another chain")


def headless(c):
    """Without a window there is no GL: that path is out, and the run goes on."""
    view = subprocess.Popen([BINARY, "live", "pattern:160x120", "--headless", "--fast", "--frames", "200000", "--json",
                             "--log-level", "info"], cwd=at(), stdout=subprocess.PIPE, stderr=open(at("log"), "w"),
                            env=environment())
    path = None
    for line in view.stdout:
        event = json.loads(line)
        if event["why"].startswith("auto: ") and not path:
            path = chosen(c, event["why"], ("cpu", "opencl"))
        if path == event["path"] and event["event"] == "progress":
            view.send_signal(signal.SIGINT)
    c.check(view.wait() == 130 and event["event"] == "summary" and event["path"] == path, "the end", event)
    c.check(event["skipped"] == 0 and event["captured"] - event["frames"] <= 4, "frames", event)
    c.check("the gl path cannot be built" in open(at("log")).read(), "the log")


if __name__ == "__main__":
    need_window()
    if not has_opencl(BINARY):
        skip("there is no OpenCL device")
    sys.exit(Checks().run(window, again, headless))
