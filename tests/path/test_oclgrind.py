#!/usr/bin/env python3
"""test_oclgrind.py TEST_OCLGRIND: Oclgrind reports nothing in the variants generic and inside, and reports faults
that the test puts into them

Oclgrind simulates a device. It reports accesses outside buffers, uninitialised values, data races and wrong calls.
"""
import os
import shutil
import subprocess
import sys

sys.path.append(sys.path[0] + "/../support")
from checks import KERNELS, Checks, at, programs, skip

PROGRAM, = programs(1)

# Each loader, stencil and kind of output at least once. Pictures are tiny, because Oclgrind is slow.
CASES = [
    ("nv21", "14x6", "gray,gamma"),
    ("rgba", "9x5", "median"),
    ("rgba", "9x5", "ridge=2"),
    ("rgb24", "9x4", "blur=2,sepia,sobel"),
    ("yuyv", "8x4", "mirror,convolve=gaussian,maxrgb"),
    ("yu12", "7x5", "emboss,flip,contrast=2"),
]
INSIDE = ("grey", "11x3", "sharpen,threshold")  # for the variant `inside`; groups of two rows leave a row over
# Each fault: the file, a text in it, the faulty text that replaces it, and a part of Oclgrind's message.
FAULTS = [
    ("invert.cl", "255 - p.r", "255 - ARG(args, 1 << 20)", "Invalid read"),
    ("invert.cl", "p.r = 255 - p.r;", "volatile int unset[2]; p.r = unset[p.r & 1];", "ninitialized"),
    ("pass_io.cl", "to[y * layout.s7 + x] = pack(p)", "to[0] = pack(p) + x", "data race"),
]


def oclgrind(case, *arguments):
    """Returns Oclgrind's messages and the finished program."""
    done = subprocess.run(
        ["oclgrind", "--check-api", "--data-races", "--uninitialized", "--log", at("log"), PROGRAM, "opencl",
         "--variant", "generic", *arguments, "--case", *case],
        capture_output=True, text=True, env=dict(os.environ, XDG_CACHE_HOME="/dev/null"))
    with open(at("log"), encoding="utf-8", errors="replace") as messages:
        return messages.read()[:4000], done


def kernels(c):
    for case in CASES:
        messages, done = oclgrind(case)
        c.check(not messages.strip() and done.returncode == 0 and "Oclgrind Simulator" in done.stderr, case, messages,
                done.stderr[-2000:])


def inside(c):
    messages, done = oclgrind(INSIDE, "--variant", "inside:ROWS=2")
    c.check(not messages.strip() and done.returncode == 0, messages, done.stderr[-2000:])


def faults(c):
    for number, (file, text, fault, expected) in enumerate(FAULTS):
        with open(os.path.join(KERNELS, file), encoding="utf-8") as source:
            whole = source.read()
        c.check(text in whole, file, "lacks", text)
        broken = at(str(number))
        os.mkdir(broken)
        with open(os.path.join(broken, file), "w", encoding="utf-8") as copy:
            copy.write(whole.replace(text, fault))
        messages, done = oclgrind(("rgba", "9x5", "invert"), "--kernels", broken)
        c.check(expected in messages, "a fault in", file, "is not found:", expected, messages, done.stderr[-2000:])


if not shutil.which("oclgrind"):
    skip("oclgrind is not installed (package oclgrind)")
sys.exit(Checks().run(kernels, inside, faults))
