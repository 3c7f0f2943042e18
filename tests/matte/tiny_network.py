#!/usr/bin/env python3
"""tiny_network.py: writes small .tflite networks with each operator of the networks that monocle runs

tiny_network.py FILE   writes the network that uses all of them
"""
import math
import random
import struct
import sys

FLOAT, HALF, INT = 0, 1, 2


class Writer:
    """Writes a FlatBuffer: a table is a dict of field number: (kind, value), or a list that the field refers to."""

    def __init__(self, top):
        self.data = bytearray(b"\0\0\0\0TFL3")
        self.patch(0, self.table(top))

    def patch(self, at, target):
        struct.pack_into("<I", self.data, at, target - at)

    def align(self):
        self.data += b"\0" * (-len(self.data) % 4)

    def table(self, fields):
        self.align()
        numbers = range(max(fields, default=-1) + 1)
        offsets = {number: 4 + 4 * i for i, number in enumerate(sorted(fields))}
        names = len(self.data)
        self.data += struct.pack("<HH", 4 + 2 * len(numbers), 4 + 4 * len(fields))
        self.data += b"".join(struct.pack("<H", offsets.get(number, 0)) for number in numbers)
        self.align()
        at = len(self.data)
        self.data += struct.pack("<i", at - names) + b"\0" * 4 * len(fields)
        for number, (kind, value) in fields.items():
            place = at + offsets[number]
            if kind in ("b", "i", "I"):
                struct.pack_into("<" + kind, self.data, place, value)
            else:
                self.patch(place, self.table(value) if kind == "table" else self.list(kind, value))
        return at

    def list(self, kind, values):
        self.align()
        at = len(self.data)
        if kind != "tables":
            self.data += struct.pack("<I", len(values)) + struct.pack(f"<{len(values)}{kind[-1]}", *values)
            return at
        self.data += struct.pack("<I", len(values)) + b"\0" * 4 * len(values)
        for i, value in enumerate(values):
            self.patch(at + 4 + 4 * i, self.table(value))
        return at


class Network:
    """A network under construction. Each method adds an operator and returns the number of its result."""

    def __init__(self, shape, seed=1):
        self.random = random.Random(seed)
        self.codes, self.tensors, self.buffers, self.operators = [], [], [{}], []
        self.input = self.tensor(shape)

    def tensor(self, shape, kind=FLOAT, values=None):
        buffer = 0
        if values is not None:
            content = struct.pack(f"<{len(values)}{'fei'[kind]}", *values)
            buffer = len(self.buffers)
            self.buffers.append({0: ("list B", list(content))})
        self.tensors.append({0: ("list i", shape), 1: ("b", kind), 2: ("I", buffer)})
        return len(self.tensors) - 1

    def shape(self, tensor):
        return self.tensors[tensor][0][1]

    def add(self, code, inputs, shape, options=None, custom=None, name=None):
        row = {0: ("b", min(code, 127)), 3: ("i", code)}
        if name:
            row[1] = ("list B", list(name.encode()))
        if row not in self.codes:
            self.codes.append(row)
        out = self.tensor(shape)
        step = {0: ("I", self.codes.index(row)), 1: ("list i", inputs), 2: ("list i", [out])}
        if options is not None:
            step[4] = ("table", options)
        if custom:
            step[5] = ("list B", list(custom))
        self.operators.append(step)
        return out

    def weights(self, shape, half):
        values = [self.random.uniform(-1, 1) for _ in range(math.prod(shape))]
        if not half:
            return self.tensor(shape, FLOAT, values)
        return self.add(6, [self.tensor(shape, HALF, values)], shape)

    def convolution(self, at, count, kernel=(1, 1), stride=(1, 1), same=True, fused=0, depthwise=False, half=True):
        _, height, width, channels = self.shape(at)
        sides = [-(-size // s) if same else (size - k) // s + 1
                 for size, k, s in zip((height, width), kernel, stride)]
        weights = [1, *kernel, channels] if depthwise else [count, *kernel, channels]
        options = {0: ("b", not same), 1: ("i", stride[1]), 2: ("i", stride[0]), 3: ("b", fused)}
        if depthwise:
            options |= {3: ("i", 1), 4: ("b", fused)}
        return self.add(4 if depthwise else 3, [at, self.weights(weights, half), self.weights([count], half)],
                        [1, *sides, count], options)

    def transposed(self, at, count, kernel):
        _, height, width, channels = self.shape(at)
        return self.add(32, [at, self.weights([count, *kernel, channels], True), self.weights([count], False)],
                        [1, height * kernel[0], width * kernel[1], count],
                        custom=struct.pack("<iii", 1, kernel[1], kernel[0]), name="Convolution2DTransposeBias")

    def largest(self, at, kernel, stride, same=True):
        _, height, width, channels = self.shape(at)
        sides = [-(-size // s) if same else (size - k) // s + 1
                 for size, k, s in zip((height, width), kernel, stride)]
        return self.add(17, [at], [1, *sides, channels], {0: ("b", not same), 1: ("i", stride[1]),
                        2: ("i", stride[0]), 3: ("i", kernel[1]), 4: ("i", kernel[0])})

    def two(self, code, a, b, fused=0):
        return self.add(code, [a, b], max(self.shape(a), self.shape(b), key=math.prod), {0: ("b", fused)})

    def each(self, code, at):
        return self.add(code, [at], self.shape(at))

    def mean(self, at):
        return self.add(40, [at, self.tensor([2], INT, [1, 2])], [1, 1, 1, self.shape(at)[3]], {0: ("b", 1)})

    def averaged(self, at, fused=0, less=0):
        _, height, width, channels = self.shape(at)
        return self.add(1, [at], [1, 1, 1, channels], {0: ("b", 1), 1: ("i", 1), 2: ("i", 1), 3: ("i", width),
                        4: ("i", height - less), 5: ("b", fused)})

    def resize(self, at, rows, columns, half=True):
        return self.add(23, [at, self.tensor([2], INT, [rows, columns])], [1, rows, columns, self.shape(at)[3]],
                        {3: ("b", half)})

    def pad(self, at, around):
        shape = [side + a + b for side, a, b in zip(self.shape(at), around[::2], around[1::2])]
        return self.add(34, [at, self.tensor([4, 2], INT, around)], shape)

    def reshape(self, at, shape):
        return self.add(22, [at], shape, {})

    def joined(self, parts):
        shape = self.shape(parts[0])
        return self.add(2, parts, [1, sum(self.shape(part)[1] for part in parts), *shape[2:]], {0: ("i", 1)})

    def bytes(self, outputs):
        graph = {0: ("tables", self.tensors), 1: ("list i", [self.input]), 2: ("list i", outputs),
                 3: ("tables", self.operators)}
        return bytes(Writer({0: ("i", 3), 1: ("tables", self.codes), 2: ("tables", [graph]),
                             4: ("tables", self.buffers)}).data)


def everything():
    """Returns a network with every operator, of odd sizes and channels."""
    network = Network([1, 9, 14, 3])
    first = network.each(117, network.convolution(network.input, 13, (3, 3), (2, 2)))
    wide = network.each(19, network.convolution(first, 20))
    deep = network.convolution(wide, 20, (5, 5), depthwise=True, fused=3)
    means = network.two(0, network.mean(deep), network.averaged(wide))
    weight = network.each(14, network.convolution(means, 20, same=False, half=False))
    scaled = network.two(18, weight, deep)
    small = network.convolution(scaled, 8, (3, 3), (2, 2), depthwise=False, fused=1)
    pooled = network.largest(scaled, (2, 2), (2, 2))
    both = network.two(0, network.pad(small, [0, 0, 0, 0, 0, 0, 4, 8]), pooled, fused=1)
    large = network.two(0, network.resize(both, 5, 7), wide)
    matte = network.each(14, network.transposed(large, 1, (2, 2)))
    parts = [network.reshape(network.convolution(at, 3 * n), [1, n * math.prod(network.shape(at)[1:3]), 3])
             for at, n in ((both, 2), (large, 1))]
    return network.bytes([matte, network.joined(parts)])


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(everything())
