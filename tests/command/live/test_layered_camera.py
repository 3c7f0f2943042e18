#!/usr/bin/env python3
"""test_layered_camera.py MONOCLE LAYER: a camera that only a layer above V4L2 has, such as libcamera's

LAYER is a library for LD_PRELOAD (tests/support/layer.c)."""
import os
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, skip
from live_support import SANITIZED, picture, run

MONOCLE, LAYER = programs(2)

if SANITIZED:
    skip("a sanitizer must be the first library")


def shown(c):
    """The first camera is the layer's, unless the machine has another one; its number selects it, too."""
    wanted = bytes(min(255, round(2 * x * 255 / 219)) for x in range(64) for _ in range(3))
    for source in ["camera:77"] + ([] if os.path.exists("/dev/video0") else ["camera"]):
        name = at("shot.png")
        code, _, err = run(MONOCLE, "live", source, "-p", "cpu", "--headless", "--frames", "2", "--screenshot", name,
                           "--overwrite", LD_PRELOAD=LAYER)
        c.check(code == 0 and err == "", source, code, err)
        row = picture(name)[:3 * 64] if code == 0 else b""
        c.check(len(row) == len(wanted) and all(abs(a - b) <= 1 for a, b in zip(row, wanted)), source, list(row))


def listed(c):
    code, out, err = run(MONOCLE, "cameras", LD_PRELOAD=LAYER)
    c.check(code == 0 and b"/dev/video77  layered" in out and b"yuyv\t64x48 at 30/s" in out, code, out, err)


sys.exit(Checks().run(shown, listed))
