#!/usr/bin/env python3
"""test_denoise.py MONOCLE: filters that get the previous frame, on every path, against docs/pixels.md"""
import math
import os
import random
import sys

sys.path.append(sys.path[0] + "/../support")
from checks import Checks, at, programs
from live_support import has_opencl, picture, run

MONOCLE, = programs(1)
PATHS = ["cpu", "gl"] + (["opencl"] if has_opencl(MONOCLE) else [])


def frame(c, path, chain, number):
    """Returns the RGB bytes of a frame; None: there is no GL."""
    code, _, err = run(MONOCLE, "live", at("film.y4m"), "--fast", "--headless", "--frames", str(number), "-f", chain,
                       "-p", path, "--screenshot", at("frame.png"), "--overwrite", XDG_CACHE_HOME=at("cache"),
                       XDG_CONFIG_HOME=at("config"), XDG_DATA_HOME=at("data"))
    if path == "gl" and "no GL context" in err:
        return None
    c.check(code == 0, path, chain, number, err)
    return picture(at("frame.png"))


def denoised(frames, strength, threshold):
    """Returns the last of the frames, after denoise."""
    made = frames[0]
    for new in frames[1:]:
        result = bytearray()
        for i in range(0, len(new), 3):
            d = max(abs(a - b) for a, b in zip(new[i:i + 3], made[i:i + 3]))
            k = 256 - math.floor(256 * strength * max(0, 1 - d * d / threshold ** 2) + 0.5)
            for a, b in zip(new[i:i + 3], made[i:i + 3]):
                v = (abs(a - b) * k + 255) // 256
                result.append(b + v if a >= b else b - v)
        made = bytes(result)
    return made


def rule(c):
    """Small, middle and large differences; alone, after another stencil, and with more filters around."""
    for before, after, strength, threshold in (("contrast=0.1", "", 0.75, 64), ("contrast=0.2,blur=1", "", 0.96875, 24),
                                               ("mirror,contrast=0.3", "flip", 0.5, 64), ("", "", 0.75, 64)):
        frames = [frame(c, "cpu", before or "none", n) for n in (1, 2, 3, 4)]
        c.check(len(set(frames)) == 4, "frames differ")
        expected = denoised(frames, strength, threshold)
        c.check(expected != frames[3], "denoise has an effect")
        filters = [before, f"denoise={strength}:{threshold}", after]
        for path in PATHS:
            got = frame(c, path, ",".join(text for text in filters if text), 4)
            if got is not None and after == "flip":
                rows = [got[i:i + 3 * 37] for i in range(0, len(got), 3 * 37)]
                got = b"".join(reversed(rows))
            c.check(got in (None, expected), path, filters)


def motion(c):
    """The difference from the previous input; and a user's filter that shows that input."""
    os.makedirs(at("config/monocle/filters"), exist_ok=True)
    with open(at("config/monocle/filters/late.cl"), "w", encoding="utf-8") as file:
        file.write("//!SUMMARY one frame late\n//!KIND point\n//!PREVIOUS input\n"
                   "INLINE pixel filter_late(pixel p, pixel previous, int x, int y, arguments args)\n"
                   "{\n    return previous;\n}\n")
    plain = [frame(c, "cpu", "contrast=0.3", n) for n in (1, 2, 3)]
    moved = bytes(min(255, 3 * abs(a - b)) for a, b in zip(plain[2], plain[1]))
    for path in PATHS:
        c.check(frame(c, path, "contrast=0.3,motion=3", 1) in (None, bytes(len(moved))), path, "the first frame")
        c.check(frame(c, path, "contrast=0.3,motion=3", 3) in (None, moved), path)
        c.check(frame(c, path, "contrast=0.3,late", 3) in (None, plain[1]), path, "a user's filter")
    sharp = [frame(c, "cpu", "median", n) for n in (2, 3)]
    moved = bytes(min(255, abs(a - b)) for a, b in zip(*sharp))
    for path in PATHS:  # a stencil makes several rows together
        c.check(frame(c, path, "median,motion=1", 3) in (None, moved), path, "after a stencil")
        c.check(frame(c, path, "median,late", 3) in (None, sharp[0]), path, "a user's filter after a stencil")


def within(c):
    """A filter applies where the mask is white, in each frame."""
    frame(c, "cpu", "threshold", 1)
    os.rename(at("frame.png"), at("mask.png"))
    mask = picture(at("mask.png"))
    for limited in ("median", "denoise,median"):
        plain, made = frame(c, "cpu", "none", 3), frame(c, "cpu", limited, 3)
        mixed = bytes(b if white else a for a, b, white in zip(plain, made, mask))
        c.check(mixed not in (plain, made), "the mask has an effect")
        for path in PATHS:
            got = frame(c, path, f"{limited},within={at('mask.png')}:filters=2", 3)
            c.check(got in (None, mixed), path, limited)


def prepare(c):
    """Makes a film of noise. With --fast, each of its frames is processed; a live source may lose some."""
    noise = random.Random(1)
    with open(at("film.y4m"), "wb") as file:
        file.write(b"YUV4MPEG2 W37 H19 F30:1 C444\n")
        for _ in range(4):
            file.write(b"FRAME\n" + noise.randbytes(37 * 19 * 3))


def images(c):
    """Image files have no previous output, not even of the image before."""
    os.mkdir(at("in"))
    for n in (1, 2):
        frame(c, "cpu", "contrast=0.1", n)
        os.rename(at("frame.png"), at("in", f"{n}.png"))
    code, _, err = run(MONOCLE, "batch", "-p", "cpu", "-f", "denoise=0.9", "-o", at("out"), at("in"),
                       XDG_CACHE_HOME=at("cache"), XDG_CONFIG_HOME=at("config"))
    c.check(code == 0, err)
    for n in (1, 2):
        c.check(picture(at("out", f"{n}.png")) == picture(at("in", f"{n}.png")), n)


sys.exit(Checks().run(rule, motion, within, images, before=prepare))
