"""color_support.py: ICC profiles of a matrix and curves (ICC.1:2022), their conversion to sRGB; PNG and TIFF files"""
import math
import struct
import zlib

from batch_support import png_chunk

# Primaries, adapted to D50: the columns are red, green and blue.
SRGB = ((0.4360747, 0.3850649, 0.1430804), (0.2225045, 0.7168786, 0.0606169), (0.0139322, 0.0971045, 0.7141733))
DISPLAY_P3 = ((0.515121, 0.291977, 0.157104), (0.241196, 0.692245, 0.066574), (-0.001053, 0.041885, 0.784073))
ADOBE_RGB = ((0.6097559, 0.2052401, 0.1492240), (0.3111242, 0.6256560, 0.0632197), (0.0194811, 0.0608902, 0.7448387))
BT2020 = ((0.673459, 0.165661, 0.125100), (0.279033, 0.675338, 0.045629), (-0.001931, 0.029984, 0.797147))
ROMM = ((0.7976749, 0.1351917, 0.0313534), (0.2880402, 0.7118741, 0.0000857), (0, 0, 0.82521))
SRGB_CURVE = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
D50 = (0.9642, 1, 0.8249)


def fixed(*values):
    return struct.pack(">%di" % len(values), *(round(v * 65536) for v in values))


def curve_bytes(curve):
    """A number: the exponent; a list: a table; a tuple: the parameters of function type 3."""
    if isinstance(curve, tuple):
        return b"para" + bytes(4) + struct.pack(">HH", 3, 0) + fixed(*curve)
    values = curve if isinstance(curve, list) else [round(curve * 256)]
    return b"curv" + bytes(4) + struct.pack(">I%dH" % len(values), len(values), *values)


def make_profile(tags, space=b"RGB ", kind=b"mntr"):
    tags = {b"desc": b"desc" + bytes(4) + struct.pack(">I", 2) + b"x\0" + bytes(78),
            b"cprt": b"text" + bytes(4) + b"-\0", b"wtpt": b"XYZ " + bytes(4) + fixed(*D50), **tags}
    table, data, place = b"", b"", 132 + 12 * len(tags)
    for name, value in tags.items():
        table += name + struct.pack(">II", place + len(data), len(value))
        data += value + bytes(-len(value) % 4)
    head = struct.pack(">I4sI4s4s4s6H4s", place + len(data), b"test", 0x02400000, kind, space, b"XYZ ",
                       2026, 1, 1, 0, 0, 0, b"acsp")
    return head.ljust(68, b"\0") + fixed(*D50) + bytes(48) + struct.pack(">I", len(tags)) + table + data


def rgb_profile(matrix, curve):
    columns = {name + b"XYZ": b"XYZ " + bytes(4) + fixed(*(row[i] for row in matrix)) for i, name in
               enumerate((b"r", b"g", b"b"))}
    return make_profile({**columns, **{name + b"TRC": curve_bytes(curve) for name in (b"r", b"g", b"b")}})


def grey_profile(curve):
    return make_profile({b"kTRC": curve_bytes(curve)}, b"GRAY")


def linear(curve, value):
    """Applies a curve to a value from 0 to 1."""
    if callable(curve):
        return curve(value)
    if isinstance(curve, tuple):
        g, a, b, c, d = curve
        return (a * value + b) ** g if value >= d else c * value
    if not isinstance(curve, list):
        return value ** curve
    place = value * (len(curve) - 1)
    i = min(int(place), len(curve) - 2)
    return (curve[i] + (curve[i + 1] - curve[i]) * (place - i)) / 65535


def pq(value):
    """Light of a value of SMPTE ST 2084; 1 is 203 cd/m2."""
    power = value ** (1 / 78.84375)
    return min((max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power)) ** (1 / 0.1593017578125) * 10000 / 203, 1)


def hlg(value):
    """Light of a value of BT.2100 HLG; 1 is that of the value 0.75."""
    def scene(v):
        return v * v / 3 if v <= 0.5 else (math.exp((v - 0.55991073) / 0.17883277) + 0.28466892) / 12
    return min((scene(value) / scene(0.75)) ** 1.2, 1)


def encoded(value):
    value = min(max(value, 0), 1)
    return 255 * (12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055)


def inverse(m):
    def minor(r, c):
        a, b = [[m[y][x] for x in range(3) if x != c] for y in range(3) if y != r]
        return a[0] * b[1] - a[1] * b[0]

    whole = sum((-1) ** c * m[0][c] * minor(0, c) for c in range(3))
    return [[(-1) ** (r + c) * minor(c, r) / whole for c in range(3)] for r in range(3)]


def to_srgb(pixel, matrix, curve, most=255):
    """Returns the sRGB values, from 0 to 255 but not rounded, of a pixel; matrix None: of a grey."""
    values = [linear(curve, v / most) for v in pixel[:3]]
    if matrix is None:
        return [encoded(values[0])] * 3
    xyz = [sum(row[i] * values[i] for i in range(3)) for row in matrix]
    return [encoded(sum(row[i] * xyz[i] for i in range(3))) for row in inverse(SRGB)]


def make_png(pixels, icc=None, depth=8, chunks=b"", interlaced=False):
    """Returns a PNG file of rows of pixels with 1 to 4 channels. An interlaced one has only passes of few pixels."""
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[len(pixels[0][0])]
    head = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), depth, kind, 0, 0, interlaced)
    letter = "B" if depth == 8 else "H"
    parts = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    data = b""
    for x, y, across, down in parts if interlaced else [(0, 0, 1, 1)]:
        for row in pixels[y::down]:
            values = [v for pixel in row[x::across] for v in pixel]
            data += b"\0" + struct.pack(">%d%s" % (len(values), letter), *values) if values else b""
    profile = png_chunk(b"iCCP", b"x\0\0" + zlib.compress(icc)) if icc else b""
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + profile + chunks +
            png_chunk(b"IDAT", zlib.compress(data)) + png_chunk(b"IEND", b""))


def make_tiff(pixels, icc, depth=16, grey_inverted=False):
    """Returns a TIFF file of rows of pixels with 1 or 3 channels."""
    channels, width, height = len(pixels[0][0]), len(pixels[0]), len(pixels)
    data = struct.pack("<%d%s" % (channels * width * height, "B" if depth == 8 else "H"),
                       *(v for row in pixels for pixel in row for v in pixel))
    photometric = 2 if channels == 3 else 0 if grey_inverted else 1
    place = 8 + 2 + 11 * 12 + 4
    bits = struct.pack("<3H", depth, depth, depth)
    entries = [(256, 4, 1, width), (257, 4, 1, height),
               (258, 3, channels, place if channels == 3 else depth), (259, 3, 1, 1), (262, 3, 1, photometric),
               (273, 4, 1, place + 8 + len(icc)), (277, 3, 1, channels), (278, 4, 1, height), (279, 4, 1, len(data)),
               (284, 3, 1, 1), (34675, 7, len(icc), place + 8)]
    table = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + table + bytes(4) + bits + bytes(2) + icc + data


def read_chunks(data):
    """Returns the chunks of a PNG file by name; those of the same name joined."""
    found, place = {}, 8
    while place < len(data):
        size, name = struct.unpack_from(">I4s", data, place)
        found[name] = found.get(name, b"") + data[place + 8:place + 8 + size]
        place += size + 12
    return found


def read_png(data):
    """Returns the rows of pixels of a PNG file of 8 bits that is not interlaced."""
    chunks = read_chunks(data)
    width, height, depth, kind = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    step = {0: 1, 4: 2, 2: 3, 6: 4}[kind]
    assert depth == 8
    packed, above, rows = zlib.decompress(chunks[b"IDAT"]), bytes(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        method, row = packed[start], bytearray(packed[start + 1:start + 1 + width * step])
        for i, value in enumerate(row):
            a, b, c = (row[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = (value + (0, a, b, (a + b) // 2, near)[method]) & 255
        rows.append([tuple(row[x:x + step]) for x in range(0, len(row), step)])
        above = row
    return rows
