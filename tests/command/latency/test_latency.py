#!/usr/bin/env python3
"""test_latency.py MONOCLE LOOP WIDTH HEIGHT FPS [NODE]: `monocle latency` finds a known delay

Under an X display. LOOP (screen_loop.c) feeds the screen back with a delay: through a pipe, or through NODE,
a device of v4l2loopback.
"""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, names, programs, slow
from live_support import SANITIZED, environment, events, run

BINARY, LOOP = programs(2)
WIDTH, HEIGHT, FPS = names[:3]
NODE = names[3] if len(names) > 3 and names[3].startswith("/dev/") else None
CHECKS = names[4 if NODE else 3:]
PATIENCE_S = 200
FLASHES = 5 if NODE else 4  # a flash takes seconds on an emulated machine
# Screen, pipe and frames are not synchronous, and the machine may be busy: only the quickest flash is meaningful, and
# with a sanitizer none.
TOLERANCE_MS, QUICKEST_MS = 150, 3000 if SANITIZED else 300


def measure(c, delay_ms, *loop_args):
    """Measures through a loop with this delay, and checks the whole report. Returns the quickest, in ms."""
    output = NODE or at("loop.y4m")
    if not NODE:
        os.mkfifo(output)
    loop = subprocess.Popen([LOOP, WIDTH, HEIGHT, FPS, str(delay_ms), output, *loop_args], stderr=subprocess.PIPE)
    if NODE:  # it becomes a camera with the first frame
        time.sleep(2 + delay_ms / 1000)
    try:
        code, out, err = run(BINARY, "latency", "camera:" + output if NODE else output, "-p", "cpu", "--vsync", "off",
                             "-n", str(FLASHES), "--json", "--log-level", "info", timeout=PATIENCE_S)
    finally:
        loop.kill()
        loop.communicate()
        if not NODE:
            os.unlink(output)
    said = events(out)
    seen = re.search("flash is visible in ([0-9]+) of ([0-9]+) cells", err)
    c.check(seen and 0.4 < int(seen[1]) / int(seen[2]) < 0.6, "half of the window flashes", err)
    c.check(code == 0 and said[0]["event"] == "start" and said[-1]["event"] == "summary", delay_ms, code, err, said)
    flashes = [e for e in said if e["event"] == "flash"]
    summary = said[-1]
    c.check(len(flashes) == FLASHES == summary["flashes"] and summary["missed"] == 0, delay_ms, summary)
    for flash in flashes:
        total, parts = flash["glass_to_glass_ms"], (flash["until_capture_ms"], flash["from_capture_ms"])
        c.check(abs(total - sum(parts)) < 0.01 and parts[1] > 0, "parts", flash)
        c.check(total > delay_ms, "faster than the delay", delay_ms, flash)
    figures = summary["glass_to_glass"]
    c.check(figures["min_ms"] < delay_ms + QUICKEST_MS, "slower than the delay", delay_ms, figures)
    c.check(figures["min_ms"] <= figures["median_ms"] <= figures["p95_ms"] <= figures["max_ms"], figures)
    print("delay %d ms: %s" % (delay_ms, figures), flush=True)
    return figures["min_ms"]


@slow
def delay_is_found(c):
    """Through the screen and a pipe. test_latency_loop.c checks the measurement itself."""
    # The mirror also shows the flash in the right half of the window, but later: only the left half must count.
    measure(c, 200, "mirror")


def delays_are_found(c):
    """Through a virtual camera."""
    without, with_it = measure(c, 0), measure(c, 400, "mirror")
    c.check(abs(with_it - without - 400) < TOLERANCE_MS, "put there", 400, "found", with_it - without)


def errors(c):
    code, out, err = run(BINARY, "latency", "/dev/video99", "-p", "cpu")
    c.check(code == 3 and err.count("\n") == 1, code, err)
    code, out, err = run(BINARY, "latency", "pattern", "-p", "cpu", DISPLAY="", WAYLAND_DISPLAY="")
    c.check(code == 3 and "cannot open a window for the flash" in err, code, err)
    code, out, err = run(BINARY, "latency", "pattern", "-f", "nonsense")
    c.check(code == 2, code, err)


def interrupted(c):
    process = subprocess.Popen([BINARY, "latency", "pattern:320x240@30", "-p", "cpu", "--vsync", "off"],
                               env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    c.check(process.returncode == 130 and err == b"", process.returncode, out, err)


if __name__ == "__main__":
    tests = (delays_are_found,) if NODE else (delay_is_found, errors, interrupted)
    sys.exit(Checks().run(*tests, only=CHECKS))
