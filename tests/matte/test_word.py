#!/usr/bin/env python3
"""test_word.py MONOCLE: the filter matte with programs of the test, on each path, compared with docs/pixels.md"""
import os
import re
import sys
import textwrap

sys.path.append(sys.path[0] + "/../support")
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

    def level(x, y):
        return source(2 * x, 2 * y)[0] * 256

    for y in range(HEIGHT):
        v = min(max(((2 * y + 1) * (144 * 65536 // HEIGHT) >> 1) - 32768, 0), 143 << 16)
        top = min(v >> 16, 142)
        g = (v - (top << 16)) >> 8
        for x in range(WIDTH):
            u = min(max(((2 * x + 1) * (256 * 65536 // WIDTH) >> 1) - 32768, 0), 255 << 16)
            left = min(u >> 16, 254)
            f = (u - (left << 16)) >> 8
            a, b = ((level(left + i, top) * (256 - g) + level(left + i, top + 1) * g) >> 8 for i in (0, 1))
            m = ((a * (256 - f) + b * f) >> 8) >> 8
            m = 255 - m if turned else m
            out += bytes(mixed(255 - c, c, m) for c in source(x, y))
    return bytes(out)


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


def refused(c):
    """A run does not start without the program; the chain takes no paths."""
    png(at("in.png"), 8, 8)
    for chain, why in (("invert,matte=person", "monocle matte --install person"),
                       ("invert,matte=nobody", "there is no program 'nobody' in ~/.config/monocle/mattes"),
                       ("invert,matte=../red", "the name of a program has 1 to 32 letters"),
                       ("scale=9:9,invert,matte=red", "scale before it moves pixels; put scale after matte")):
        code, _, errors = filtered("cpu", chain, XDG_DATA_HOME=at("data"))
        c.check(code in (2, 3) and why in errors, chain, code, errors)


if __name__ == "__main__":
    sys.exit(Checks().run(pixels, edges, hidden, failures, reported, refused))
