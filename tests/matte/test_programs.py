#!/usr/bin/env python3
"""test_programs.py MONOCLE: the built-in programs that make mattes, with small networks made by the test"""
import math
import os
import sys

sys.path.append(sys.path[0] + "/../support")
import reference_network
import tiny_network
from checks import Checks, at, programs
from live_support import run

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
    # A white block of 8 x 8 pixels of the network, a place of the grid of 8. Its box is 3 pixels right of the centre.
    for width, height, left, top in ((256, 144, 64, 48), (144, 256, 40, 64), (256, 256, 24, 32)):
        before, above = max(0, height - width) // 4, max(0, width - height) // 4
        frame = bytearray(width * height * 3)
        for y in range(2 * (top - above), 2 * (top + 8 - above)):
            frame[(y * width + 2 * (left - before)) * 3:(y * width + 2 * (left + 8 - before)) * 3] = b"\xff" * 48
        code, out, errors = program("faces", width, height, bytes(frame) + bytes(len(frame)))
        c.check(code == 0 and errors == "" and len(out) == 2 * width * height, code, errors)
        cx, cy, rx, ry = (left + 4 - before + 3) * 2, (top + 4 - above) * 2 - 4, 30, 36
        wrong = 0
        for y in range(height):
            for x in range(width):
                away = ((x + 0.5 - cx) / rx) ** 2 + ((y + 0.5 - cy) / ry) ** 2
                value = out[y * width + x]
                wrong += value not in (0, 255) or (away < 0.94 and value == 0) or (away > 1.06 and value == 255)
        c.check(wrong == 0, width, height, wrong, "pixels are not those of the ellipse")
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


def sizes(c):
    """Frames of 256 x 256 pixels go to the second network of person."""
    for name, rows, bias in (("person", 144, -1.0), ("person-narrow", 256, 1.0)):
        network = tiny_network.Network([1, rows, 256, 3])
        weights = [network.tensor([1, 1, 1, 3], 0, [0.0] * 3), network.tensor([1], 0, [bias])]
        same = {0: ("b", 0), 1: ("i", 1), 2: ("i", 1)}
        install(name, network.bytes([network.each(14, network.add(3, [0, *weights], [1, rows, 256, 1], same))]))
    for rows, share in ((144, 1 / (1 + math.exp(1))), (256, 1 / (1 + math.exp(-1)))):
        code, out, errors = program("person", 256, rows, bytes(rows * 256 * 3))
        c.check(code == 0 and out == bytes([round(255 * share)]) * rows * 256, rows, code, errors, out[:5])


if __name__ == "__main__":
    sys.exit(Checks().run(person, faces, refused, sizes))
