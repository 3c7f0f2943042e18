#!/usr/bin/env python3
"""test_metadata.py MONOCLE: EXIF data copied between files of all formats, including TIFF directories

If ImageMagick is installed, it reads them as well.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

sys.path.append(sys.path[0] + "/../../support")
from batch_support import batch, outcome, png_chunk
from checks import Checks, at, programs, skip
from color_support import read_png
from live_support import png

BINARY, = programs(1)
BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED, SRATIONAL, LONG8, IFD8 = 1, 2, 3, 4, 5, 7, 10, 16, 18
BYTES = {BYTE: 1, ASCII: 1, SHORT: 2, LONG: 4, RATIONAL: 8, UNDEFINED: 1, SRATIONAL: 8, 13: 4, LONG8: 8, IFD8: 8}
ORIENTATION, EXIF, GPS, INTEROPERABILITY = 0x112, 0x8769, 0x8825, 0xa005
INNER = (EXIF, GPS, INTEROPERABILITY)
NO_MAIN = (0x10d, 0xabcd)  # tags that the main directory must not keep

# Tag: type, value; a number's or a ratio's value is a tuple.
CAMERA = {
    0x10d: (ASCII, b"document\0"), 0x10f: (ASCII, b"A maker\0"), 0x110: (ASCII, b"M1\0"), ORIENTATION: (SHORT, (6,)),
    0x11a: (RATIONAL, (300, 1)), 0x11b: (RATIONAL, (600, 2)), 0x128: (SHORT, (2,)),
    0x132: (ASCII, b"2026:11:21 10:11:12\0"), 0x13b: (ASCII, b"An artist\0"), 0x8298: (ASCII, b"nobody's\0"),
    EXIF: {
        0x829a: (RATIONAL, (1, 125)), 0x8827: (SHORT, (400,)), 0x9000: (UNDEFINED, b"0232"),
        0x9204: (SRATIONAL, (-1, 3)), 0x927c: (UNDEFINED, bytes(range(201))), 0xa002: (LONG, (40,)),
        INTEROPERABILITY: {1: (ASCII, b"R98\0"), 2: (UNDEFINED, b"0100")},
    },
    GPS: {0: (BYTE, (2, 3, 0, 0)), 1: (ASCII, b"N\0"), 2: (RATIONAL, (52, 1, 31, 1, 12, 10))},
    0x9c9b: (BYTE, tuple("Title\0".encode("utf-16-le"))), 0xabcd: (SHORT, (1,)),
}
# Arguments of ImageMagick, and its answer. Version 7 writes more digits.
IMAGEMAGICK = {
    "jpg": ("%[EXIF:Make] %[EXIF:DateTime] %[EXIF:ExposureTime] %x", "A maker 2026:11:21 10:11:12 1/125 300"),
    "tif": ("%[tiff:make] %[tiff:timestamp] %[EXIF:ExposureTime] %x", "A maker 2026:11:21 10:11:12 0[.]0080* 300"),
}


def pack(order, kind, value):
    if isinstance(value, bytes):
        return value
    letter = {SRATIONAL: "i", RATIONAL: "I"}.get(kind) or {1: "B", 2: "H", 4: "I", 8: "Q"}[BYTES[kind]]
    return struct.pack(order + str(len(value)) + letter, *value)


def make_directory(order, tags, place, big=None):
    """Returns the bytes of a directory at offset `place`, followed by its values and inner directories.

    big: the type of directory offsets in a BigTIFF file; None: a plain TIFF file.
    """
    entries, behind = b"", b""
    count_bytes, offset_bytes, offset = (8, 8, "Q") if big else (2, 4, "I")
    end = place + count_bytes + (4 + 2 * offset_bytes) * len(tags) + offset_bytes
    for tag, value in tags.items():
        inner = isinstance(value, dict)
        kind = (big or LONG) if inner else value[0]
        data = make_directory(order, value, end + len(behind), big) if inner else pack(order, *value)
        count = 1 if inner else len(data) // BYTES[kind]
        far = inner or len(data) > offset_bytes
        entries += struct.pack(order + "HH" + offset, tag, kind, count)
        entries += struct.pack(order + offset, end + len(behind)) if far else data.ljust(offset_bytes, b"\0")
        behind += data + b"\0" * (len(data) % 2) if far else b""
    return struct.pack(order + ("Q" if big else "H"), len(tags)) + entries + bytes(offset_bytes) + behind


def make_exif(order, tags):
    return {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HI", 42, 8) + make_directory(order, tags, 8)


def make_big_tiff(order, tags, pointer=IFD8, width=40, height=20):
    """Returns a BigTIFF file of a grey image."""
    layout = {0x100: (SHORT, (width,)), 0x101: (SHORT, (height,)), 0x102: (SHORT, (8,)), 0x103: (SHORT, (1,)),
              0x106: (SHORT, (1,)), 0x111: (LONG8, (16,)), 0x115: (SHORT, (1,)), 0x116: (SHORT, (height,)),
              0x117: (LONG8, (width * height,))}
    place = 16 + width * height
    head = {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HHHQ", 43, 8, 0, place)
    return head + bytes(width * height) + make_directory(order, dict(sorted({**tags, **layout}.items())), place,
                                                        pointer)


def read_directory(data, order, place):
    tags = {}
    for i in range(struct.unpack_from(order + "H", data, place)[0]):
        entry = place + 2 + 12 * i
        tag, kind, count = struct.unpack_from(order + "HHI", data, entry)
        size = BYTES[kind] * count
        where = entry + 8 if size <= 4 else struct.unpack_from(order + "I", data, entry + 8)[0]
        assert tag > max(tags, default=-1) and where + size <= len(data), (tags, tag)
        tags[tag] = (read_directory(data, order, struct.unpack_from(order + "I", data, where)[0]) if tag in INNER
                     else (kind, data[where:where + size]))
    return tags


def read_exif(data):
    order = {b"II": "<", b"MM": ">"}[data[:2]]
    assert struct.unpack_from(order + "H", data, 2)[0] == 42
    return order, read_directory(data, order, struct.unpack_from(order + "I", data, 4)[0])


def chunks(data, place, order, name_first):
    """Yields the name and the data of each chunk of a PNG or WebP file."""
    while place < len(data):
        head = struct.unpack_from(order + ("4sI" if name_first else "I4s"), data, place)
        name, size = head if name_first else head[::-1]
        yield name, data[place + 8:place + 8 + size]
        place += 8 + (size + size % 2 if name_first else size + 4)


def exif_of(path):
    """Returns the EXIF data of a file (of a TIFF, the whole file), or None."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] in (b"II", b"MM"):
        return data
    if data[:4] == b"RIFF":
        return dict(chunks(data, 12, "<", True)).get(b"EXIF")
    if data[:4] == b"\x89PNG":
        return dict(chunks(data, 8, ">", False)).get(b"eXIf")
    place = 2
    while data[place + 1] != 0xda:
        size = struct.unpack_from(">H", data, place + 2)[0]
        if data[place + 4:place + 10] == b"Exif\0\0":
            return data[place + 10:place + 2 + size]
        place += 2 + size
    return None


def with_exif(path, exif):
    """Writes a JPEG file with this EXIF data."""
    with open(at("plain.jpg"), "rb") as f:
        data = f.read()
    with open(at(path), "wb") as f:
        f.write(data[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 8) + b"Exif\0\0" + exif + data[2:])


def convert(c, source, to, *args, said=""):
    outcome(c, BINARY, ["-p", "cpu", "--overwrite", *args, "-o", to, source], 0, said)


def bytes_of(order, tags):
    return {tag: bytes_of(order, value) if isinstance(value, dict) else (value[0], pack(order, *value))
            for tag, value in tags.items()}


def carried(c):
    """EXIF data pass through every format, and twice through TIFF, byte for byte."""
    for order in "<>":
        wanted = bytes_of(order, {tag: value for tag, value in CAMERA.items() if tag not in NO_MAIN})
        with_exif("0.jpg", make_exif(order, CAMERA))
        source = "0.jpg"
        for i, kind in enumerate(("tif", "png", "tif", "webp", "tif", "tif", "jpg")):
            name = "%d.%s" % (i + 1, kind)
            if kind == "webp" and not has_format("webp"):
                continue
            convert(c, source, name, "--orientation", "keep")
            found_order, found = read_exif(exif_of(at(name)))
            if kind == "tif":  # it also has tags of the image's layout
                found = {tag: value for tag, value in found.items() if tag in wanted}
            c.check((found_order, found) == (order, wanted), order, source, name, found)
            source = name
            if shutil.which("identify") and kind in IMAGEMAGICK:
                question, answer = IMAGEMAGICK[kind]
                said = subprocess.run(["identify", "-quiet", "-format", question, at(name)], capture_output=True,
                                      text=True)
                c.check(re.fullmatch(answer, said.stdout) and said.stderr == "", name, "as ImageMagick reads it:", said)
        convert(c, "5.tif", "turned.jpg")
        c.check(read_exif(exif_of(at("turned.jpg")))[1][ORIENTATION] == (SHORT, pack(order, SHORT, (1,))), "upright")
        convert(c, "1.tif", "none.jpg", "--metadata", "strip")
        c.check(exif_of(at("none.jpg")) is None, "stripped")


def big(c):
    """A BigTIFF file keeps its orientation, profile and XMP data. Its other EXIF data are left out with a warning."""
    profile, xmp = bytes(range(16)) + b"GRAY" + bytes(300), b"<x:xmpmeta/>"
    for order, pointer in (("<", LONG8), (">", IFD8)):
        data = make_big_tiff(order, {**CAMERA, 0x8773: (UNDEFINED, profile), 0x2bc: (BYTE, tuple(xmp))}, pointer)
        with open(at("big.tif"), "wb") as f:
            f.write(data)
        for kind in "jpg", "tif", "png":
            convert(c, "big.tif", "of-big." + kind, "--orientation", "keep", "--color", "keep", said="left out")
            found = read_exif(exif_of(at("of-big." + kind)))[1]
            c.check(found[ORIENTATION] == (SHORT, pack(order, SHORT, (6,))) and EXIF not in found, order, kind, found)
        with open(at("of-big.tif"), "rb") as f:
            made = f.read()
        c.check(profile in made and xmp in made, order, "profile and XMP data")
    for tags in ({}, {0x10f: (ASCII, b"A maker\0")}, {0x132: (ASCII, b"2026:11:23 12:00:00\0")}, {GPS: CAMERA[GPS]}):
        with open(at("big.tif"), "wb") as f:
            f.write(make_big_tiff("<", tags))
        convert(c, "big.tif", "of-big.jpg", said="left out" if tags else "")
    for end in range(0, len(data), 97):  # a truncated file: any result but a crash
        with open(at("cut.tif"), "wb") as f:
            f.write(data[:end] + (bytes(len(data) - end) if end % 2 else b""))
        code = batch(BINARY, "-p", "cpu", "--overwrite", "-o", "cut.png", "cut.tif")[0]
        c.check(code in (0, 1, 3), "cut at", end, code)


def nothing_to_say(c):
    """A TIFF file without EXIF data gives a JPEG file without EXIF data."""
    convert(c, "plain.jpg", "plain.tif")
    convert(c, "plain.tif", "again.jpg")
    c.check(exif_of(at("again.jpg")) is None, exif_of(at("again.jpg")))


def damaged(c):
    """Damaged entries are left out with a warning. The others are kept, and the file is valid."""
    maker = (ASCII, b"A maker\0")
    good, far = {0x10f: maker}, 0xfffffff0
    broken = {
        "an unknown type": make_exif("<", good).replace(b"\x0f\x01\x02\0", b"\x0f\x01\x63\0"),
        "a value beyond the end": make_exif("<", {0x10f: (ASCII, b"x" * 60)})[:60],
        "no directory there": make_exif("<", {**good, EXIF: (LONG, (far,))}),
        "a directory in itself": make_exif("<", {**good, EXIF: (LONG, (8,)), GPS: (LONG, (8,))}),
        "shared values": make_exif("<", {EXIF: {0x9000 + i: (UNDEFINED, b"x" * 8) for i in range(400)}}),
        "no TIFF data": b"something else",
    }
    # 400 entries share the same 60 kB.
    shared = bytearray(broken["shared values"].ljust(65000, b"y"))
    for i in range(400):
        struct.pack_into("<II", shared, 8 + 2 + 12 + 4 + 2 + 12 * i + 4, 60000, 4000)
    broken["shared values"] = bytes(shared)
    for what, exif in broken.items():
        with_exif("bad.jpg", exif)
        convert(c, "bad.jpg", "bad.tif", said="left out")
        _, found = read_exif(exif_of(at("bad.tif")))
        c.check(0x100 in found and os.path.getsize(at("bad.tif")) < 1 << 21, what, found)
        c.check((found.get(0x10f) == maker) == (maker[1] in exif and "type" not in what), what, found)
        convert(c, "bad.tif", "bad.png")
        with open(at("bad.tif"), "rb") as f:
            whole = f.read()
        for end in range(len(whole) - 300, len(whole), 37):  # a truncated file: any result but a crash
            with open(at("cut.tif"), "wb") as f:
                f.write(whole[:end])
            code = batch(BINARY, "-p", "cpu", "--overwrite", "-o", "cut.png", "cut.tif")[0]
            c.check(code in (0, 1, 3), what, "cut at", end, code)


def sizes(c):
    """Sizes, resolutions and orientation in EXIF and XMP data are those of the output, in every format."""
    exif = make_exif("<", {0x100: (LONG, (40,)), 0x101: (LONG, (20,)), ORIENTATION: (SHORT, (6,)),
                           0x11a: (RATIONAL, (300, 1)), 0x11b: (RATIONAL, (150, 1)), 0x128: (SHORT, (2,)),
                           EXIF: {0xa002: (SHORT, (40,)), 0xa003: (SHORT, (20,))}})
    xmp = (b"<d xmlns:tiff='http://ns.adobe.com/tiff/1.0/' tiff:Orientation='6'><tiff:ImageWidth>40</tiff:ImageWidth>"
           b"<tiff:ImageLength>20</tiff:ImageLength></d>")
    app1 = b"http://ns.adobe.com/xap/1.0/\0" + xmp
    with_exif("sized.jpg", exif)
    with open(at("sized.jpg"), "rb") as f:
        data = f.read()
    with open(at("sized.jpg"), "wb") as f:
        f.write(data[:2] + b"\xff\xe1" + struct.pack(">H", len(app1) + 2) + app1 + data[2:])
    cases = [("none", 20, 40, True), ("scale=most=10", 5, 10, True), ("rotate=90", 40, 20, False),
             ("crop=8:6", 8, 6, True)]
    for suffix in "jpg", "png", "webp", "tif":
        for chain, width, height, turned in cases:
            if suffix == "webp" and not has_format("webp"):
                continue
            out = "sized-out." + suffix
            outcome(c, BINARY, ["-p", "cpu", "--overwrite", "-f", chain, "-o", out, "sized.jpg"], 0)
            _, found = read_exif(exif_of(at(out)))
            numbers = [int.from_bytes(value, "little") for value in (
                found[0x100][1], found[0x101][1], found[EXIF][0xa002][1],
                found[EXIF][0xa003][1], found[ORIENTATION][1])]
            c.check(numbers == [width, height, width, height, 1], suffix, chain, numbers)
            first = struct.unpack("<II", found[0x11a][1])
            c.check(first[0] == (150 if turned else 300) * first[1], suffix, chain, first)
            with open(at(out), "rb") as f:
                text = f.read()
            expected = (b"tiff:Orientation='1'><tiff:ImageWidth>%d</tiff:ImageWidth><tiff:ImageLength>%d</tiff"
                        % (width, height))
            c.check(expected in text, suffix, chain, text[text.find(b"<d xmlns"):][:200])


def no_place(c):
    """--metadata no-location removes all places from EXIF, XMP and IPTC data, in every format, and nothing else."""
    spaces = {"exif": "http://ns.adobe.com/exif/1.0/", "photoshop": "http://ns.adobe.com/photoshop/1.0/",
              "core": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
              "ext": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"}
    xmp = ("<d %s exif:GPSLatitude='52,31N' photoshop:City='Berlin' photoshop:Headline='kept'>"
           "<exif:GPSMapDatum>WGS-84</exif:GPSMapDatum><core:Location>Mitte</core:Location>"
           "<ext:LocationCreated><x>Spree</x></ext:LocationCreated><exif:Flash>1</exif:Flash></d>"
           % " ".join("xmlns:%s='%s'" % space for space in spaces.items())).encode()
    iptc = b"".join(b"\x1c\x02" + bytes((kind, 0, len(text))) + text for kind, text in
                    ((5, b"Title"), (90, b"Berlin"), (92, b"Mitte"), (101, b"Germany"), (105, b"Headline")))
    blocks = b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + struct.pack(">I", len(iptc)) + iptc + b"\0" * (len(iptc) % 2)
    app1 = b"http://ns.adobe.com/xap/1.0/\0" + xmp
    places = b"52,31N", b"Berlin", b"WGS-84", b"Mitte", b"Spree", b"Germany", struct.pack("<6I", 52, 1, 31, 1, 12, 10)
    kept = {"jpg": (b"Title", b"Headline", b"kept", b"Flash", b"A maker"), "tif": (b"Headline", b"kept", b"A maker"),
            "png": (b"kept", b"Flash", b"A maker"), "webp": (b"kept", b"Flash", b"A maker")}
    with_exif("placed.jpg", make_exif("<", CAMERA))
    with open(at("placed.jpg"), "rb") as f:
        data = f.read()
    with open(at("placed.jpg"), "wb") as f:
        f.write(data[:2] + b"\xff\xe1" + struct.pack(">H", len(app1) + 2) + app1 + b"\xff\xed" +
                struct.pack(">H", len(blocks) + 2) + blocks + data[2:])
    for kind, texts in kept.items():
        if kind == "webp" and not has_format("webp"):
            continue
        for way in "keep", "no-location":
            batch(BINARY, "-p", "cpu", "--overwrite", "--metadata", way, "-o", "place-out." + kind, "placed.jpg")
            with open(at("place-out." + kind), "rb") as f:
                made = f.read()
            found = [place for place in places if place in made]
            c.check(len(found) >= 5 if way == "keep" else not found, kind, way, found)
            c.check(all(text in made for text in texts), kind, way, [text for text in texts if text not in made])
            c.check((GPS in read_exif(exif_of(at("place-out." + kind)))[1]) == (way == "keep"), kind, way, "GPS")


def burnt_in(c):
    """{date} and {model} of the filter text are those of the photograph; a too wide text gets smaller letters."""
    tags = {**CAMERA, EXIF: {**CAMERA[EXIF], 0x9003: (ASCII, b"2026:11:21 10:11:12\0")}}
    tags = {tag: {key: value[key] for key in sorted(value)} if isinstance(value, dict) else value
            for tag, value in tags.items()}
    with_exif("dated.jpg", make_exif("<", tags))
    made = []
    for i, text in enumerate(("{date} {model}", "2026-11-21 M1", "2026-11-21 M2")):
        outcome(c, BINARY, ["-p", "cpu", "--overwrite", "-f", "scale=200,text='%s':size=90" % text, "-o",
                            "burnt%d.png" % i, "dated.jpg"], 0)
        with open(at("burnt%d.png" % i), "rb") as f:
            made.append(read_png(f.read()))
    c.check(made[0] == made[1], "date and model")
    c.check(made[1] != made[2], "the last letter is cut off")


def jpeg_in_tiff(c):
    """TIFF files with JPEG data have the pixels of the JPEG file."""
    for chroma, photometric in ("444", 6), ("grey", 1):
        chain = "gray" if chroma == "grey" else "none"
        outcome(c, BINARY, ["-p", "cpu", "--overwrite", "-f", chain, "--quality", "95", "--subsampling", "444", "-o",
                            "strip.jpg", "plain.png"], 0)
        with open(at("strip.jpg"), "rb") as f:
            jpeg = f.read()
        channels = 1 if chroma == "grey" else 3
        tags = [(256, 4, 1, 40), (257, 4, 1, 20), (258, 3, channels, 8 if channels == 1 else 200), (259, 3, 1, 7),
                (262, 3, 1, photometric), (273, 4, 1, 206), (277, 3, 1, channels), (278, 4, 1, 20),
                (279, 4, 1, len(jpeg)), (530, 3, 2, 0x10001)]
        head = b"II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
        with open(at("jpeg.tif"), "wb") as f:
            f.write(head.ljust(200, b"\0") + struct.pack("<3H", 8, 8, 8) + jpeg)
        outcome(c, BINARY, ["-p", "cpu", "--overwrite", "-o", "of-tiff.png", "jpeg.tif"], 0)
        outcome(c, BINARY, ["-p", "cpu", "--overwrite", "-o", "of-jpeg.png", "strip.jpg"], 0)
        images = []
        for name in "of-tiff.png", "of-jpeg.png":
            with open(at(name), "rb") as f:
                images.append(read_png(f.read()))
        off = max(abs(a - b) for rows in zip(*images) for pixels in zip(*rows) for a, b in zip(*pixels))
        c.check(off <= 2, chroma, "off by", off)


def transparent(c):
    """A JPEG file of an image with transparent pixels, not of one whose alpha is 255 everywhere, gets a remark."""
    for name, alpha, said in ("clear", 0, "hidden colours"), ("opaque", 255, ""):
        rows = (b"\0" + bytes((0, 255, 0, alpha)) + bytes((255, 0, 0, 255))) * 2
        with open(at(name + ".png"), "wb") as f:
            f.write(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 6, 0, 0, 0)) +
                    png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b""))
        outcome(c, BINARY, ["-p", "cpu", "--overwrite", "-o", name + ".jpg", name + ".png"], 0, said)
        outcome(c, BINARY, ["-p", "cpu", "--overwrite", "-o", name + "-2.png", name + ".png"], 0)


def has_format(name):
    return batch(BINARY, "-p", "cpu", "--overwrite", "--format", name, "-o", "x-" + name, "plain.png")[0] == 0


def prepare(c):
    png(at("plain.png"), 40, 20)
    if not has_format("tiff"):
        skip("this build has no TIFF")
    convert(c, "plain.png", "plain.jpg")


sys.exit(Checks().run(carried, big, nothing_to_say, damaged, sizes, no_place, burnt_in, jpeg_in_tiff,
                      transparent, before=prepare))
