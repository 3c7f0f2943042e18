"""loopback_support.py: the frames that programs must get from a virtual camera"""
from checks import at
from live_support import run, y4m, y4m_pictures


def means(plane, width, columns, rows, down):
    """Averages a full chroma plane (docs/pixels.md section 5) to a small one (section 6)."""
    result = bytearray()
    for y in range(0, rows, down):
        lines = [plane[(y + d) * width:(y + d) * width + columns] for d in range(down)]
        pairs = [sum(four) for four in zip(*(line[x::2] for line in lines for x in (0, 1)))]
        result += bytes((s + down) // (2 * down) for s in pairs)
    return result


def output_bytes(picture, width, height, pixel_format):
    """Returns the bytes that a reader must get for a frame of a C444 recording."""
    size = width * height
    y, u, v = (picture[i * size:(i + 1) * size] for i in range(3))
    columns, rows = width // 2 * 2, height // 2 * 2
    luma = b"".join(y[line * width:line * width + columns] for line in range(rows))
    if pixel_format == "yuyv":
        u, v = (means(p, width, columns, rows, 1) for p in (u, v))
        packed = bytearray(2 * len(luma))
        packed[0::2], packed[1::4], packed[3::4] = luma, u, v
        return bytes(packed)
    u, v = (means(p, width, columns, rows, 2) for p in (u, v))
    if pixel_format == "yu12":
        return luma + bytes(u) + bytes(v)
    pairs = bytearray(2 * len(u))
    pairs[0::2], pairs[1::2] = u, v
    return luma + bytes(pairs)


def film(name, width, height, frames=12):
    """Writes a short film. Returns its path."""
    with open(at(name), "wb") as file:
        file.write(y4m(width, height, "422", frames, rate="20:1"))
    return at(name)


def expected(binary, source, width, height, pixel_format, *args):
    """Returns the set of frames that the virtual camera may show, including the first, black one."""
    name = at("expected.y4m")
    code, _, err = run(binary, "live", source, *args, "--headless", "--record", name, "--overwrite", "-p", "cpu")
    assert code == 0, err
    with open(name, "rb") as file:
        pictures = y4m_pictures(file.read()) + [bytes([16]) * (width * height) + bytes([128]) * (2 * width * height)]
    return {output_bytes(p, width, height, pixel_format) for p in pictures}
