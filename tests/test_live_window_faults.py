#!/usr/bin/env python3
"""test_live_window_faults.py MONOCLE: what the live view's window does when something goes wrong or is too large

Needs a display (with-display gives one), xdotool and ImageMagick's import.
"""
import os
import shutil
import sys
import tempfile

from live_support import SKIP, Checks, Window, has_opencl

BINARY = os.path.abspath(sys.argv[1])
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels")

directory = tempfile.TemporaryDirectory()


def at(name):
    return os.path.join(directory.name, name)


def errors_of(live):
    return [e["message"] for e in live.events if e["event"] == "error"]


def unwritable(c):
    """Keys that fail say why, once each, and the view goes on."""
    os.mkdir(at("gone"))
    live = Window(BINARY, at("gone"), "pattern:64x48@30")
    os.rmdir(at("gone"))
    for key, name in (("s", "monocle-0001.png"), ("r", "monocle-0001.y4m")):
        said = len(errors_of(live))
        state = live.key(key)
        errors = errors_of(live)[said:]
        c.check(len(errors) == 1 and name in errors[0] and "No such file" in errors[0], key, "is told as", errors)
        c.check(state["message_is_error"] and state["recording"] is None, key, state)
    code, last, errors = live.end()
    c.check(code == 0 and errors.count("\n") == 2, code, errors)


def broken_kernel(c):
    """A kernel that no longer compiles is one event, and one message on standard error."""
    if not has_opencl(BINARY):
        return
    shutil.copytree(KERNELS, at("kernels"))
    live = Window(BINARY, directory.name, "pattern:64x48@30", "-f", "gray", "-p", "opencl",
                  MONOCLE_KERNELS=at("kernels"))
    with open(at("kernels/gray.cl"), "a") as f:
        f.write("broken\n")
    live.wait(lambda e: e["event"] in ("state", "progress") and e["message_is_error"])
    code, last, said = live.end()
    errors = errors_of(live)
    c.check(len(errors) == 1 and "gray.cl" in errors[0] and last["event"] == "summary", errors, last)
    own = [line for line in said.splitlines() if line.startswith("monocle: ")]  # the driver may have words of its own
    c.check(own == ["monocle: error: " + errors[0].splitlines()[0]] and code == 0, code, said)


if not os.environ.get("DISPLAY"):
    print("skipped: there is no display", file=sys.stderr)
    sys.exit(SKIP)
for tool in ("xdotool", "import"):
    if not shutil.which(tool):
        print("skipped: %s is not installed" % tool, file=sys.stderr)
        sys.exit(SKIP)
checks = Checks()
sys.exit(checks.run(unwritable, broken_kernel))
