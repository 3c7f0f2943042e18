#!/usr/bin/env python3
"""test_color.py MONOCLE: images with a colour profile become sRGB, as ICC.1 and IEC 61966-2-1 define it, and say so"""
import functools
import os
import random
import struct
import sys

sys.path.append(sys.path[0] + "/../../support")
from batch_support import batch, digests, lines, outcome, png_chunk
from checks import Checks, at, programs, skip
from color_support import (ADOBE_RGB, BT2020, DISPLAY_P3, ROMM, SRGB, SRGB_CURVE, grey_profile, hlg, make_png,
                           make_profile, make_tiff, pq, read_chunks, read_png, rgb_profile, to_srgb)

BINARY, = programs(1)
CPU = ["-p", "cpu", "--overwrite"]
WIDTH, HEIGHT = 65, 21  # more than one group of pixels
TABLE = [round(65535 * (i / 40) ** 2) for i in range(41)]
SPACES = {"Display P3": (DISPLAY_P3, SRGB_CURVE), "Adobe RGB": (ADOBE_RGB, 563 / 256), "ROMM": (ROMM, 461 / 256),
          "a table": (DISPLAY_P3, TABLE)}
WARNING = "its colour profile is damaged, unknown or not for its pixels, so they count as sRGB"


def write(name, data):
    with open(at(name), "wb") as f:
        f.write(data)


def read(name):
    with open(at(name), "rb") as f:
        return f.read()


def noise(channels, most, seed=1):
    """Pixels of all brightnesses and saturations."""
    random.seed(seed)

    def pixel():
        light = random.random() ** 2
        return tuple(int(most * (light + (1 - light) * random.random() * random.randint(0, 1)))
                     for _ in range(channels))

    return [[pixel() for _ in range(WIDTH)] for _ in range(HEIGHT)]


def farthest(found, pixels, matrix, curve, most=255):
    """Returns the largest difference to the reference, in 1/255."""
    return max(abs(value - right) for row, source in zip(found, pixels) for pixel, before in zip(row, source)
               for value, right in zip(pixel[:3], to_srgb(before, matrix, curve, most)))


class Cases:
    """Images of which one batch makes PNG files, with what to compare them with."""

    def __init__(self, folder):
        self.folder, self.found = folder, []
        os.makedirs(at(folder))

    def add(self, what, data, *reference):
        name = "%d.%s" % (len(self.found), "png" if data[1:4] == b"PNG" else "tif")
        write(self.folder + "/" + name, data)
        self.found.append((what, *reference))

    def check(self, c):
        """At most 1 from the reference; alpha stays; grey stays grey."""
        code, _, err = batch(BINARY, *CPU, "-o", self.folder + "/out/{stem}.png", self.folder)
        c.check(code == 0 and WARNING not in err, self.folder, code, err)
        for i, (what, pixels, matrix, curve, most) in enumerate(self.found):
            found = read_png(read("%s/out/%d.png" % (self.folder, i)))
            colours_of = [[p if len(p) > 2 else p[:1] * 3 for p in row] for row in found]
            off = farthest(colours_of, pixels, matrix, curve, most)
            c.check(off <= 1, self.folder, what, "off by", off)
            c.check(len(found[0][0]) % 2 or all(a[-1] == (b[-1] * 255 + most // 2) // most
                                                for row, source in zip(found, pixels) for a, b in zip(row, source)),
                    self.folder, what, "alpha")
            chunks = read_chunks(read("%s/out/%d.png" % (self.folder, i)))
            c.check(b"iCCP" not in chunks and b"sRGB" in chunks, self.folder, what, sorted(chunks))


def colours(c):
    """PNG and TIFF files of 8 and 16 bits, with alpha, interlaced."""
    cases = Cases("colours")
    for name, (matrix, curve) in SPACES.items():
        icc = rgb_profile(matrix, curve)
        for depth in (8, 16):
            most = (1 << depth) - 1
            for channels, interlaced in ((3, False), (4, True)):
                pixels = noise(channels, most)
                data = make_png(pixels, icc, depth, interlaced=interlaced)
                cases.add((name, channels, depth, interlaced), data, pixels, matrix, curve, most)
            if has_tiff():
                pixels = noise(3, most)
                cases.add((name, "TIFF", depth), make_tiff(pixels, icc, depth), pixels, matrix, curve, most)
    cases.check(c)


def greys(c):
    """Grey images with a grey profile, or with one for RGB. A grey profile also fits grey with alpha."""
    cases = Cases("greys")
    for curve, icc in ((1.0, grey_profile(1.0)), (TABLE, grey_profile(TABLE)), (461 / 256, rgb_profile(ROMM, 1.8))):
        for depth in (8, 16):
            most = (1 << depth) - 1
            for channels in (1, 2):
                pixels = noise(channels, most)
                cases.add((channels, depth), make_png(pixels, icc, depth), pixels, None, curve, most)
            for inverted in (False, True) if has_tiff() else ():
                pixels = noise(1, most)
                stored = [[(most - p[0],) if inverted else p for p in row] for row in pixels]
                cases.add(("TIFF", depth, inverted), make_tiff(stored, icc, depth, inverted), pixels, None, curve, most)
    cases.check(c)


def profile_in(name):
    """Returns the name of the colour profile of a file, or None."""
    data = read(name)
    place = data.find(b"acsp")
    return None if place < 0 else "sRGB" if b"s\0R\0G\0B" in data[place:place + 700] else "other"


def said(c):
    """PNG files say that they are sRGB with a chunk, others with a profile; --metadata strip leaves out the profile."""
    pixels = noise(3, 255)
    write("p3.png", make_png(pixels, rgb_profile(DISPLAY_P3, SRGB_CURVE)))
    write("srgb.png", make_png(pixels, rgb_profile(SRGB, SRGB_CURVE)))
    write("none.png", make_png(pixels))
    for kind in formats():
        for source, keep, strip, want in (("p3", 0, 0, "sRGB"), ("p3", 0, 1, None), ("p3", 1, 0, "other"),
                                          ("p3", 1, 1, "other"), ("srgb", 0, 0, "other"), ("srgb", 0, 1, None),
                                          ("none", 0, 0, None), ("none", 1, 0, None)):
            outcome(c, BINARY, [*CPU, "--color", ("srgb", "keep")[keep], "--metadata", ("keep", "strip")[strip], "-o",
                                "out." + kind, source + ".png"], 0)
            found = profile_in("out." + kind)
            if kind != "png":
                c.check(found == want, kind, source, keep, strip, "profile", found)
                continue
            chunks = read_chunks(read("out.png"))
            own = want == "other"
            c.check((b"iCCP" in chunks) == own and (b"sRGB" in chunks) == (not own and not keep), source, keep, strip,
                    sorted(chunks))
            c.check((read_png(read("out.png")) == pixels) == (source != "p3" or bool(keep)), source, keep, "pixels")
    outcome(c, BINARY, [*CPU, "-f", "gray", "-o", "grey.jpg", "p3.png"], 0)
    c.check(profile_in("grey.jpg") is None, "a grey JPEG has a profile")


def replaced(c):
    """Other texts about the colours go with the profile: PNG chunks, the colour space in EXIF and XMP data."""
    exif = (b"II*\0\x08\0\0\0\x01\0" + struct.pack("<HHII", 0x8769, 4, 1, 26) + bytes(4) + b"\x02\0" +
            struct.pack("<HHII", 0xa001, 3, 1, 0xffff) + struct.pack("<HHII", 0xa005, 4, 1, 56) + bytes(4) + b"\x01\0" +
            struct.pack("<HHI4s", 1, 2, 4, b"R03\0") + bytes(4))
    xmp = (b"XML:com.adobe.xmp\0\0\0\0\0<d xmlns:exif='http://ns.adobe.com/exif/1.0/' exif:ColorSpace='65535' "
           b"xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/' photoshop:ICCProfile='Adobe RGB (1998)'/>")
    more = (png_chunk(b"gAMA", struct.pack(">I", 45455)) + png_chunk(b"cHRM", bytes(3) + b"\x01" + bytes(28)) +
            png_chunk(b"tEXt", b"Author\0Nobody") + png_chunk(b"eXIf", exif) + png_chunk(b"iTXt", xmp))
    write("in.png", make_png(noise(3, 255), rgb_profile(ADOBE_RGB, 563 / 256), chunks=more))
    for way in "srgb", "keep":
        outcome(c, BINARY, [*CPU, "--color", way, "-o", "out.png", "in.png"], 0, "cHRM")
        data, keep = read("out.png"), way == "keep"
        chunks = read_chunks(data)
        c.check((b"gAMA" in chunks) == keep and b"tEXt" in chunks, way, sorted(chunks))
        c.check((b"R03" in data, b"R98" in data) == (keep, not keep), way, "interoperability index")
        c.check((b"ColorSpace='65535'" in data, b"ColorSpace='1'" in data) == (keep, not keep), way, "XMP")
        c.check((b"Adobe RGB (1998)" in data) == keep, way, "photoshop:ICCProfile")
        c.check((struct.pack("<HHII", 0xa001, 3, 1, 1) in data) == (not keep), way, "EXIF")


def codes(c):
    """The chunk cICP is stronger than a profile. Its colours are converted, HDR up to white; unknown ones stay."""
    cases = Cases("codes")
    other = rgb_profile(ROMM, 1.8)
    for kind, matrix, curve in (((12, 13), DISPLAY_P3, SRGB_CURVE), ((9, 1), BT2020, SRGB_CURVE), ((9, 8), BT2020, 1.0),
                                ((9, 16), BT2020, pq), ((12, 18), DISPLAY_P3, hlg), ((1, 4), SRGB, 2.2)):
        for depth, icc in ((8, None), (16, other)):
            most = (1 << depth) - 1
            pixels = noise(3, most)
            chunk = png_chunk(b"cICP", bytes(kind) + b"\0\1")
            cases.add((kind, depth), make_png(pixels, icc, depth, chunk), pixels, matrix, curve, most)
    cases.check(c)
    pixels = noise(3, 255)
    for kind, full, found in (((9, 16), 1, "it is HDR"), ((9, 99), 1, WARNING), ((99, 13), 1, WARNING),
                              ((9, 13), 0, None), ((1, 13), 1, None)):
        for way in "srgb", "keep":
            write("in.png", make_png(pixels, chunks=png_chunk(b"cICP", bytes((*kind, 0, full)))))
            _, _, err = batch(BINARY, *CPU, "--color", way, "-o", "out.png", "in.png")
            c.check((found or "warning") in err if found and way == "srgb" else not err, kind, way, err)
            chunks = read_chunks(read("out.png"))
            converted = found == "it is HDR" and way == "srgb"
            c.check((read_png(read("out.png")) != pixels) == converted and (b"cICP" in chunks) != converted, kind, way)


def containers(c):
    """AVIF with code points: the pixels of --color keep, whose profile says the same, become sRGB."""
    with open(sys.path[0] + "/../../data/small.avif", "rb") as f:
        data = f.read()
    place = data.find(b"colrnclx") + 8
    for kind, matrix, curve in (((12, 13), DISPLAY_P3, SRGB_CURVE), ((9, 8), BT2020, 1.0)):
        write("in.avif", data[:place] + struct.pack(">HH", *kind) + data[place + 4:])
        for way in "srgb", "keep":
            code, _, err = batch(BINARY, *CPU, "--color", way, "-o", way + ".png", "in.avif")
            if "libheif" in err:
                return
            c.check(place > 8 and code == 0, kind, way, err)
        off = farthest(read_png(read("srgb.png")), read_png(read("keep.png")), matrix, curve)
        c.check(off <= 1 and b"iCCP" in read_chunks(read("keep.png")), kind, "off by", off)
        outcome(c, BINARY, [*CPU, "-o", "again.png", "keep.png"], 0)
        c.check(read_png(read("again.png")) == read_png(read("srgb.png")), kind, "the profile differs")


def jpegs(c):
    """JPEG files: each path, a path by rows and a turned image give the same pixels, and those of the reference."""
    pixels = [[(96 + x, 96 + 3 * y, 160 - x) for x in range(WIDTH)] for y in range(HEIGHT)]
    icc = rgb_profile(DISPLAY_P3, SRGB_CURVE)
    write("in.png", make_png(pixels, icc))
    for chroma in "444", "420":
        outcome(c, BINARY, [*CPU, "--color", "keep", "--quality", "100", "--subsampling", chroma, "-o", "in.jpg",
                            "in.png"], 0)
        outcome(c, BINARY, [*CPU, "-o", "out.png", "in.jpg"], 0)
        off = farthest(read_png(read("out.png")), pixels, DISPLAY_P3, SRGB_CURVE)
        c.check(off <= 4, chroma, "off by", off)
        same = set()
        for i, way in enumerate((["-p", "cpu"], ["-p", "gl"], ["-p", "opencl"])):
            name = "out%s%d" % (chroma, i)
            if batch(BINARY, *way, "--overwrite", "-f", "invert", "-o", name, "in.jpg")[0] == 0:
                same.add(digests(at(name))["in.jpg"])
        c.check(len(same) == 1, chroma, "the paths differ:", len(same))


def wrong(c):
    """A damaged profile, or one for other pixels: one warning, and the pixels count as sRGB."""
    good, pixels = rgb_profile(DISPLAY_P3, SRGB_CURVE), noise(3, 255)
    bad = {"cut": good[:200], "one byte": b"x", "no tags": good[:128] + bytes(4), "grey": grey_profile(2.2),
           "inks": make_profile({}, b"CMYK", b"prtr"), "a link": make_profile({}, b"RGB ", b"link"),
           "far tags": good.replace(struct.pack(">I", good.index(b"para")), b"\xff" * 4),
           "many tags": good[:128] + struct.pack(">I", 0x7fffffff) + good[132:], "noise": random.randbytes(5000),
           "no acsp": good.replace(b"acsp", b"asdf")}
    for name, icc in bad.items():
        write("in.png", make_png(pixels, icc))
        said_lines = outcome(c, BINARY, [*CPU, "-o", "out.png", "in.png"], 0, WARNING)
        c.check(len(said_lines) == 1, name, said_lines)
        chunks = read_chunks(read("out.png"))
        c.check(read_png(read("out.png")) == pixels, name, "pixels")
        c.check(b"iCCP" not in chunks and b"sRGB" in chunks, name, sorted(chunks))
    for seed in range(60):  # any result but a crash
        random.seed(seed)
        icc = bytearray(good)
        for _ in range(random.randint(1, 9)):
            icc[random.randrange(len(icc))] = random.randrange(256)
        os.makedirs(at("many"), exist_ok=True)
        write("many/%d.png" % seed, make_png(pixels[:2], bytes(icc)))
    code, _, err = batch(BINARY, *CPU, "--report", "r.jsonl", "-o", "many-out", "many")
    c.check(code == 0 and sum(row.get("status") == "done" for row in lines(at("r.jsonl"))) == 60, code, err)


def inks(c):
    """A CMYK JPEG XL whose profile means ideal inks: no or full ink of each kind."""
    code, _, err = batch(BINARY, *CPU, "-o", "inks.png", sys.path[0] + "/../../data/inks.jxl")
    if "has no libjxl" in err or "need libjxl" in err:
        return
    want = [[tuple(0 if i & bit or i & 8 else 255 for bit in (4, 2, 1)) for i in row]
            for row in (range(8), range(8, 16))]
    c.check(code == 0 and not err and read_png(read("inks.png")) == want, code, err)
    outcome(c, BINARY, [*CPU, "--color", "keep", "-o", "x.png", sys.path[0] + "/../../data/inks.jxl"], 3, "CMYK")


@functools.cache
def formats():
    return [kind for kind in ("png", "jpg", "webp", "tif")
            if batch(BINARY, *CPU, "-o", "x." + kind, "none.png")[0] == 0]


def has_tiff():
    return "tif" in formats()


def prepare(c):
    write("none.png", make_png(noise(3, 255)))
    write("p3.png", make_png([[(255, 0, 0)]], rgb_profile(DISPLAY_P3, SRGB_CURVE)))
    batch(BINARY, *CPU, "--metadata", "strip", "-o", "x.png", "p3.png")
    if b"iCCP" in read_chunks(read("x.png")):
        skip("this build has no lcms2")


sys.exit(Checks().run(colours, greys, said, replaced, codes, containers, jpegs, inks, wrong, before=prepare))
