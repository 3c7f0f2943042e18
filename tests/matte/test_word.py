#!/usr/bin/env python3
"""test_word.py MONOCLE: the filter matte with programs of the test, on each path, compared with docs/pixels.md"""
import inspect
import os
import re
import sys
import textwrap

sys.path.append(sys.path[0] + "/../support")
import tiny_network
from checks import Checks, at, programs
from live_support import events, has_opencl, picture, png, run, y4m

BINARY, = programs(1)
# The program for mattes of the guide: copies the red of each pixel.
with open(sys.path[0] + "/../../docs/guide.md", encoding="utf-8") as guide:
    RED = textwrap.dedent(re.search(r"(    #!/usr/bin/env python3\n(    .*\n)+)", guide.read()).group(1))
WIDTH, HEIGHT = 512, 288  # twice the size of a matte


def program(name, text):
    os.makedirs(at("monocle", "mattes"), mode=0o700, exist_ok=True)
    with open(at("monocle", "mattes", name), "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(at("monocle", "mattes", name), 0o755)


def filtered(path, chain, name="in.png", **env):
    """Returns the exit code, the pixels and the messages."""
    code, _, errors = run(BINARY, "batch", "-p", path, "-f", chain, "-o", at("out.png"), "--overwrite", at(name),
                          XDG_CONFIG_HOME=at(), **env)
    return code, picture(at("out.png")) if code == 0 else b"", errors


def source(x, y):
    return (x // 2 * 3 + y // 2) % 256, x * 5 % 256, y * 3 % 256  # the red is equal in each square of 2 x 2 pixels


def mixed(p, kept, m):
    return (p * m + kept * (255 - m) + 127) // 255


def expected(turned):
    """The inverted picture, where its red is high or low; a matte with plain edges."""
    out = bytearray()
    shares = matte(WIDTH, HEIGHT, lambda x, y: source(2 * x, 2 * y)[0])
    for i, m in enumerate(shares):
        m = 255 - m if turned else m
        out += bytes(mixed(255 - c, c, m) for c in source(i % WIDTH, i // WIDTH))
    return bytes(out)


def matte(width, height, level, rows=144):
    """The numbers m of a picture's pixels from those of a matte, with plain edges."""
    def places(size, of):  # of the two neighbours in the matte, and the second one's share of 256
        for i in range(size):
            v = min(max(((2 * i + 1) * (of * 65536 // size) >> 1) - 32768, 0), (of - 1) << 16)
            first = min(v >> 16, of - 2)
            yield first, (v - (first << 16)) >> 8

    levels, columns, out = [[256 * level(x, y) for x in range(256)] for y in range(rows)], [*places(width, 256)], []
    for top, g in places(height, rows):
        line = [(a * (256 - g) + b * g) >> 8 for a, b in zip(levels[top], levels[top + 1])]
        out += [(line[left] * (256 - f) + line[left + 1] * f) >> 16 for left, f in columns]
    return out


def pixels(c):
    """All paths and levels give the bytes of the rule."""
    program("red", RED)
    png(at("in.png"), WIDTH, HEIGHT, source)
    for where in ("front", "behind"):
        want = expected(where == "behind")
        for path in ["cpu", "gl"] + (["opencl"] if has_opencl(BINARY) else []):
            for vectors in ("plain", None) if path == "cpu" else (None,):
                code, got, errors = filtered(path, f"invert,matte=red:{where}:edge=plain", MONOCLE_VECTORS=vectors)
                if path == "gl" and code == 3:  # no display
                    continue
                c.check(code == 0 and got == want, where, path, vectors, code, errors,
                        [i for i, (a, b) in enumerate(zip(got, want)) if a != b][:5])


def copier(name, rows, channel):
    """Installs a network that copies a channel."""
    network = tiny_network.Network([1, rows, 256, 3])
    tensors = [network.tensor([1, 1, 1, 3], 0, [float(i == channel) for i in range(3)]), network.tensor([1], 0, [0.0])]
    out = network.add(3, [0, *tensors], [1, rows, 256, 1], {0: ("b", 0), 1: ("i", 1), 2: ("i", 1)})
    os.makedirs(at("data", "monocle", "mattes"), mode=0o700, exist_ok=True)
    with open(at("data", "monocle", "mattes", name + ".tflite"), "wb") as file:
        file.write(network.bytes([out]))


def networks(c):
    """A narrow image gets a matte of 256 x 256 pixels from the second network of person, if that is installed."""
    def shown(x, y):
        return x // 2 * 3 % 256, (x // 2 * 5 + y // 2 * 3) % 256, 9
    for size in (512, 288):
        png(at(f"{size}.png"), 512, size, shown)
    for name, rows, channel in (("person", 144, 0), ("person-narrow", 256, 1)):
        copier(name, rows, channel)
        for size in (512, 288):
            used = (144, 0) if size == 288 else (rows, channel)
            kept = picture(at(f"{size}.png"))
            m = matte(512, size, lambda x, y, of=used[1]: shown(2 * x, 2 * y)[of], used[0])
            want = bytes(mixed(255 - v, v, m[i // 3]) for i, v in enumerate(kept))
            for path in ("cpu", "gl", "opencl") if rows == size // 2 else ("cpu",):  # each size of a matte once
                code, got, errors = filtered(path, "invert,matte=person:edge=plain", f"{size}.png",
                                             XDG_DATA_HOME=at("data"))
                c.check(code == 3 and path != "cpu" or got == want, name, size, path, code, errors,
                        [i for i, (a, b) in enumerate(zip(got, want)) if a != b][:5])


def edges(c):
    """All paths give equal bytes with edges of the image, after a stencil and a mirror."""
    program("red", RED)
    png(at("in.png"), 200, 111)
    chain = "mirror,keep,blur=3,gray,matte=red:behind:1.5:1,invert"
    want = filtered("cpu", chain)
    c.check(want[0] == 0, want)
    for path, vectors in (("cpu", "plain"), ("gl", None), ("opencl", None)):
        code, got, errors = filtered(path, chain, MONOCLE_VECTORS=vectors)
        c.check(code == 3 or got == want[1], path, code, errors)


def turned(c):
    """After turns, the program gets the turned picture: the bytes are those of a picture that was turned before."""
    for name in ("person", "person-narrow"):  # a network of 256 x 256 pixels: each has equal parts of the frame
        copier(name, 144 if name == "person" else 256, 0)
    program("red", RED)
    png(at("in.png"), 512, 256, lambda x, y: (x * 5 % 256, (x * y) % 256, y))
    for turn, name, paths in (("rotate=90,mirror", "red", "cpu"), ("flip,rotate=90", "person", "cpu gl opencl"),
                              ("mirror,rotate=180,rotate=90,flip,rotate=0", "person", "cpu")):
        code, out, errors = run(BINARY, "batch", "-f", turn, "-o", at("turned.png"), "--overwrite", at("in.png"))
        c.check(code == 0, turn, code, out, errors)
        chain = f"keep,blur=3,gray,matte={name}:behind"
        want = filtered("cpu", chain, "turned.png", XDG_DATA_HOME=at("data"))
        for path in paths.split():
            code, got, errors = filtered(path, f"{turn},{chain}", XDG_DATA_HOME=at("data"))
            c.check(code == 3 and path != "cpu" or got == want[1], turn, path, code, errors)
    code, _, errors = run(BINARY, "live", "-p", "cpu", "--headless", "-n", "1", "--camera", "flip,rotate=90", "-f",
                          "invert,matte=red", "--screenshot", at("shot.png"), at("in.png"), XDG_CONFIG_HOME=at(),
                          XDG_STATE_HOME=at("state"))
    c.check(code == 0 and picture(at("shot.png")) == filtered("cpu", "flip,rotate=90,invert,matte=red")[1], errors)


def disc(x, y):
    away = ((x - 125)**2 + (y - 70)**2)**0.5
    return min(max(int(40 - away) * 8, 0), 255), 210 if away < 35 else 40, x // 4


def shares(c, before, edge):
    """Returns the matte of each pixel, after these filters."""
    white, black = (filtered("cpu", f"{before}keep,fill={color},matte=red:edge={edge}") for color in ("white", "black"))
    c.check(white[0] == black[0] == 0, before, white, black)
    return [a - b for a, b in zip(white[1], black[1])]


def follows(c):
    """Edges follow those of the kept picture, if each pixel comes from one of the frame; else they are plain."""
    program("red", RED)
    png(at("in.png"), 256, 144, disc)
    image, plain, inverted = shares(c, "", "image"), shares(c, "", "plain"), shares(c, "mirror,invert,mirror,", "image")
    c.check(max(abs(a - b) for a, b in zip(image, plain)) > 40, "edges are plain")
    c.check(max(abs(a - b) for a, b in zip(image, inverted)) < 6, "edges of the inverted picture")
    for before in ("blur=2,", "autolevels,"):
        c.check(shares(c, before, "image") == plain, before)


def swept(values, width, height, weights, half, shift):
    """A weighted sum along rows, then along columns; both divided with `shift`, or, if it is 0, at the end."""
    reach = len(weights) // 2
    for across in (True, False):
        out = []
        for y in range(height):
            for x in range(width):
                at = ((min(max(x + i, 0), width - 1), y) if across else (x, min(max(y + i, 0), height - 1))
                      for i in range(-reach, reach + 1))
                total = sum(w * values[v * width + u] for w, (u, v) in zip(weights, at))
                out.append((total + half) >> shift if shift else total)
        values = out
    return values if shift else [(v + half) // len(weights)**2 for v in values]


def weighed(planes, kept, m, width, height, blurs):
    """Blurs three planes of colours that m weighs."""
    planes = [[(c * k + 127) // 255 for c, k in zip(plane, m)] for plane in planes] + [m]
    for weights, half, shift in blurs:
        planes = [swept(plane, width, height, weights, half, shift) for plane in planes]
    return [[min(255, (255 * c + a // 2) // a) if a else k for c, a, k in zip(planes[i], planes[3], kept[i])]
            for i in range(3)]


def block(x, y):
    """A matte of blocks, in which most weights are 0, and a dot, which is too weak for a weight."""
    if 97 < x < 104 and 17 < y < 24:
        return 252
    return 0 if (x // 40 + y // 36) % 2 else min(255, 3 * x)


BLOCKS = f"""#!/usr/bin/env python3
import sys
{inspect.getsource(block)}
while sys.stdin.buffer.read(256 * 144 * 3):
    sys.stdout.buffer.write(bytes(block(x, y) for y in range(144) for x in range(256)))
    sys.stdout.buffer.flush()
"""


def halo(c):
    """Blurs weigh colours by the matte: the colours where it is 0 are not seen beside it."""
    width, height = 75, 41
    program("blocks", BLOCKS)
    png(at("in.png"), width, height, lambda x, y: (x * y % 256, x * 37 % 256, (x + y) * 3 % 256))
    kept = [picture(at("in.png"))[i::3] for i in range(3)]
    m = [255 - v for v in matte(width, height, block)]
    box, bell = ([1] * 7, 24, 0), ([4, 1744, 12888, 1744, 4], 1 << 13, 14)  # blur=3, gaussian=0.5
    planes = weighed(kept, kept, m, width, height, [box, bell])
    planes = weighed([[255 - v for v in plane] for plane in planes], kept, m, width, height, [([1] * 5, 12, 0)])
    want = bytes(mixed(p[i], k[i], m[i]) for i in range(width * height) for p, k in zip(planes, kept))
    chain = "keep,blur=3,gaussian=0.5,invert,blur=2,matte=blocks:behind:edge=plain"
    for path, vectors in (("cpu", "plain"), ("cpu", None), ("gl", None), ("opencl", None)):
        code, got, errors = filtered(path, chain, MONOCLE_VECTORS=vectors)
        c.check(code == 3 or got == want, path, vectors, code, errors,
                [(i, a, b) for i, (a, b) in enumerate(zip(got, want)) if a != b][:5])


def hidden(c):
    """Without a matte, the filters apply everywhere: not one pixel is as in the picture."""
    png(at("in.png"), 64, 36, lambda x, y: (x, 200, y))
    program("ends", "#!/bin/sh\nexit 3\n")
    program("crashes", "#!/bin/sh\nkill -SEGV $$\n")
    program("talks", "#!/bin/sh\nhead -c 200000 /dev/zero\nsleep 60\n")
    for name in ("ends", "crashes", "talks"):
        code, _, errors = run(BINARY, "live", "-p", "cpu", "--headless", "-n", "1", "--overwrite", "-f",
                              f"fill=teal,matte={name}:behind", "--screenshot", at("shot.png"), at("in.png"),
                              XDG_CONFIG_HOME=at(), XDG_STATE_HOME=at("state"))
        c.check(code == 0 and picture(at("shot.png")) == b"\x00\x80\x80" * 64 * 36, name, code, errors)
    with open(at("in.y4m"), "wb") as file:
        file.write(y4m(64, 36, "420jpeg", 5))
    code, _, errors = run(BINARY, "live", "-p", "cpu", "--headless", "--fast", "-f", "fill=teal,matte=ends:behind",
                          at("in.y4m"), XDG_CONFIG_HOME=at(), XDG_STATE_HOME=at("state"))
    c.check(code == 1 and "frames were made without a matte, because its program failed" in errors, code, errors)


def failures(c):
    """A file without a matte fails. The run tries a program four times, and says why it failed."""
    program("ends", f"#!/bin/sh\necho run >> {at('runs')}\nexit 3\n")
    for name in "abcd":
        png(at(name + ".png"), 64, 36)
    code, _, errors = run(BINARY, "batch", "-p", "cpu", "-J", "1", "-f", "gray,matte=ends:behind", "-o", at("out"),
                          *(at(name + ".png") for name in "abcd"), cwd=at(), XDG_CONFIG_HOME=at())
    c.check(code == 3 and not os.path.exists(at("out", "a.png")), code, errors)
    c.check(errors.count("the program of a matte gave none") == 4, errors)
    c.check(errors.count("the program of the matte 'ends' failed 4 times: it exited with status 3") == 1, errors)
    with open(at("runs"), encoding="utf-8") as file:
        c.check(file.read() == "run\n" * 4, "runs")
    # What a program writes before its first matte moves all mattes: they are not used.
    for size in 1, 5000:
        program("talks", RED.replace("while", f"sys.stdout.buffer.write(b'-' * {size})\nwhile", 1))
        code, _, errors = run(BINARY, "batch", "-p", "cpu", "-J", "1", "-f", "gray,matte=talks:behind", "-o", at("out"),
                              *(at(name + ".png") for name in "abc"), cwd=at(), XDG_CONFIG_HOME=at())
        c.check(code == 3 and "it wrote more than a matte for each frame" in errors, size, code, errors)


def reported(c):
    """The JSON events have each program."""
    program("red", RED)
    with open(at("in.y4m"), "wb") as file:
        file.write(y4m(64, 36, "420jpeg", 5))
    code, out, errors = run(BINARY, "live", "-p", "cpu", "--headless", "--fast", "--json", "-f",
                            "invert,matte=red:behind", at("in.y4m"), XDG_CONFIG_HOME=at(), XDG_STATE_HOME=at("state"))
    said = events(out)
    c.check(code == 0, code, errors)
    (matte,) = said[-1]["mattes"]
    c.check(matte["name"] == "red" and matte["state"] == "running" and matte["trouble"] == "", matte)
    c.check((matte["late"], matte["restarts"], matte["age_ms"]) == (0, 0, 0), matte)
    c.check(matte["rate"] > 0 and matte["wait_ms"] >= matte["program_ms"] > 0, matte)


def still(c):
    """A still image waits for its matte, also with --matte-wait 0: no later frame shows it."""
    program("red", RED)
    png(at("in.png"), WIDTH, HEIGHT, source)
    want = filtered("cpu", "invert,matte=red")
    code, _, errors = run(BINARY, "live", "-p", "cpu", "--headless", "-n", "1", "--matte-wait", "0", "-f",
                          "invert,matte=red", "--screenshot", at("shot.png"), at("in.png"), XDG_CONFIG_HOME=at(),
                          XDG_STATE_HOME=at("state"))
    c.check(code == 0 and picture(at("shot.png")) == want[1], code, errors)


def refused(c):
    """A run does not start without the program; the chain takes no paths."""
    png(at("in.png"), 8, 8)
    for chain, why in (("invert,matte=person", "monocle matte --install person"),
                       ("invert,matte=nobody", "there is no program 'nobody' in ~/.config/monocle/mattes"),
                       ("invert,matte=../red", "the name of a program has 1 to 32 letters"),
                       ("rotate=45,invert,matte=red", "rotate before it moves pixels; put rotate after matte")):
        code, _, errors = filtered("cpu", chain, XDG_DATA_HOME=at("data"))
        c.check(code in (2, 3) and why in errors, chain, code, errors)


if __name__ == "__main__":
    sys.exit(Checks().run(pixels, networks, edges, turned, follows, halo, hidden, failures, reported, still, refused))
