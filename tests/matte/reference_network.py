"""reference_network.py: runs a .tflite network slowly, from the contracts of its operators alone; in 64-bit floats

The last steps of a file are read as the FlatBuffers schema of TensorFlow Lite says. run(FILE, VALUES) returns the
outputs. Tensors are flat lists in the order row, column, channel.
"""
import math
import operator
import struct
import sys


class Table:
    """A table of a FlatBuffer."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def place(self, number):
        names = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        offset = 4 + 2 * number
        if offset >= struct.unpack_from("<H", self.data, names)[0]:
            return 0
        found = struct.unpack_from("<H", self.data, names + offset)[0]
        return found and self.at + found

    def number(self, number, kind, missing=0):
        at = self.place(number)
        return struct.unpack_from("<" + kind, self.data, at)[0] if at else missing

    def follow(self, number):
        at = self.place(number)
        return at and at + struct.unpack_from("<I", self.data, at)[0]

    def list(self, number, kind):
        at = self.follow(number)
        count = struct.unpack_from("<I", self.data, at)[0] if at else 0
        return list(struct.unpack_from(f"<{count}{kind}", self.data, at + 4)) if count else []

    def table(self, number):
        at = self.follow(number)
        return Table(self.data, at) if at else None

    def tables(self, number):
        at = self.follow(number)
        return [Table(self.data, at + 4 + 4 * i + offset) for i, offset in enumerate(self.list(number, "I"))]


def windows(size, kernel, stride, same):
    """Returns the size of the output, and the zeros before the first value."""
    if not same:
        return (size - kernel) // stride + 1, 0
    out = -(-size // stride)
    return out, max(0, (out - 1) * stride + kernel - size) // 2


def dot(a, b):
    return sum(map(operator.mul, a, b))


class Network:
    def __init__(self, data):
        top = Table(data, struct.unpack_from("<I", data)[0])
        self.codes = [(max(code.number(0, "b"), code.number(3, "i")), bytes(code.list(1, "B")).decode())
                      for code in top.tables(1)]
        graph, = top.tables(2)
        buffers = [bytes(buffer.list(0, "B")) for buffer in top.tables(4)]
        self.shapes, self.values = [], {}
        for index, tensor in enumerate(graph.tables(0)):
            self.shapes.append(tensor.list(0, "i"))
            content, kind = buffers[tensor.number(2, "I")], {0: "f", 1: "e", 2: "i"}.get(tensor.number(1, "b"))
            if content:
                self.values[index] = list(struct.unpack(f"<{len(content) // struct.calcsize(kind)}{kind}", content))
        self.inputs, self.outputs, self.operators = graph.list(1, "i"), graph.list(2, "i"), graph.tables(3)

    def run(self, values):
        self.values[self.inputs[0]] = values
        for step in self.operators:
            code, name = self.codes[step.number(0, "I")]
            inputs, (out,) = step.list(1, "i"), step.list(2, "i")
            kind = OPERATORS[name or code]
            self.values[out] = kind(self, step, [self.values[i] for i in inputs], [self.shapes[i] for i in inputs],
                                    self.shapes[out])
            assert len(self.values[out]) == math.prod(self.shapes[out]), (name or code, self.shapes[out])
        return [self.values[out] for out in self.outputs]


def clamp(values, fused):
    low, high = {0: (-math.inf, math.inf), 1: (0, math.inf), 3: (0, 6)}[fused]
    return [min(max(value, low), high) for value in values]


def places(x, shape, kernel, stride, before):
    """Yields (place in the window, place in the input) of a window on one axis, without the zeros around the input."""
    for k in range(kernel):
        if 0 <= x * stride - before + k < shape:
            yield k, x * stride - before + k


def convolution(network, step, values, shapes, shape):
    options = step.table(4)
    same, sx, sy = options.number(0, "b") == 0, options.number(1, "i"), options.number(2, "i")
    (_, height, width, channels), (count, kh, kw, _) = shapes[0], shapes[1]
    (rows, top), (columns, left) = windows(height, kh, sy, same), windows(width, kw, sx, same)
    out = []
    for y in range(rows):
        for x in range(columns):
            window = [0.0] * (kh * kw * channels)
            for ky, ay in places(y, height, kh, sy, top):
                for kx, ax in places(x, width, kw, sx, left):
                    at, to = (ay * width + ax) * channels, (ky * kw + kx) * channels
                    window[to:to + channels] = values[0][at:at + channels]
            size = len(window)
            out += [values[2][o] + dot(window, values[1][o * size:(o + 1) * size]) for o in range(count)]
    return clamp(out, options.number(3, "b"))


def depthwise(network, step, values, shapes, shape):
    options = step.table(4)
    same, sx, sy = options.number(0, "b") == 0, options.number(1, "i"), options.number(2, "i")
    (_, height, width, channels), (_, kh, kw, _) = shapes[0], shapes[1]
    (rows, top), (columns, left) = windows(height, kh, sy, same), windows(width, kw, sx, same)
    out = []
    for y in range(rows):
        for x in range(columns):
            pairs = [(((ay * width) + ax) * channels, (ky * kw + kx) * channels)
                     for ky, ay in places(y, height, kh, sy, top) for kx, ax in places(x, width, kw, sx, left)]
            out += [values[2][c] + sum(values[0][a + c] * values[1][k + c] for a, k in pairs) for c in range(channels)]
    return clamp(out, options.number(4, "b"))


def transposed(network, step, values, shapes, shape):
    (_, height, width, channels), (count, kh, kw, _) = shapes[0], shapes[1]
    out = [0.0] * (height * kh * width * kw * count)
    for y in range(height * kh):
        for x in range(width * kw):
            at = (y // kh * width + x // kw) * channels
            for o in range(count):
                weights = ((o * kh + y % kh) * kw + x % kw) * channels
                out[(y * width * kw + x) * count + o] = values[2][o] + dot(
                    values[0][at:at + channels], values[1][weights:weights + channels])
    return out


def largest(network, step, values, shapes, shape):
    options = step.table(4)
    same, sx, sy, kw, kh = options.number(0, "b") == 0, *(options.number(i, "i") for i in (1, 2, 3, 4))
    _, height, width, channels = shapes[0]
    (rows, top), (columns, left) = windows(height, kh, sy, same), windows(width, kw, sx, same)
    return clamp([max(values[0][(ay * width + ax) * channels + c] for _, ay in places(y, height, kh, sy, top)
                      for _, ax in places(x, width, kw, sx, left))
                  for y in range(rows) for x in range(columns) for c in range(channels)], options.number(5, "b"))


def two(function):
    def compute(network, step, values, shapes, shape):
        lists = [values[i] * (math.prod(shape) // len(values[i])) for i in (0, 1)]  # a value for each channel repeats
        return clamp(list(map(function, *lists)), step.table(4).number(0, "b"))
    return compute


def each(function):
    return lambda network, step, values, shapes, shape: [function(value) for value in values[0]]


def mean(network, step, values, shapes, shape):
    channels = shapes[0][3]
    return [sum(values[0][c::channels]) * channels / len(values[0]) for c in range(channels)]


def averaged(network, step, values, shapes, shape):
    options = step.table(4)
    assert (options.number(4, "i"), options.number(3, "i")) == tuple(shapes[0][1:3]), "windows are not the whole input"
    return clamp(mean(network, step, values, shapes, shape), options.number(5, "b"))


def resize(network, step, values, shapes, shape):
    half = step.table(4).number(3, "b")
    (_, height, width, channels), (_, rows, columns, _) = shapes[0], shape
    out = []

    def place(at, size, count):
        exact = max(0, (at + 0.5) * size / count - 0.5 if half else at * size / count)
        first = min(int(exact), size - 1)
        return first, min(first + 1, size - 1), exact - first

    for y in range(rows):
        top, bottom, v = place(y, height, rows)
        for x in range(columns):
            left, right, h = place(x, width, columns)
            for c in range(channels):
                a, b, d, e = (values[0][(ay * width + ax) * channels + c] for ay in (top, bottom)
                              for ax in (left, right))
                out.append((a * (1 - h) + b * h) * (1 - v) + (d * (1 - h) + e * h) * v)
    return out


def pad(network, step, values, shapes, shape):
    (_, height, width, channels), around = shapes[0], values[1]
    out = [0.0] * math.prod(shape)
    for y in range(height):
        for x in range(width):
            at = ((y + around[2]) * shape[2] + x + around[4]) * shape[3] + around[6]
            out[at:at + channels] = values[0][(y * width + x) * channels:][:channels]
    return out


def joined(network, step, values, shapes, shape):
    return [value for part in values for value in part]


OPERATORS = {
    0: two(operator.add), 1: averaged, 2: joined, 3: convolution, 4: depthwise, 6: each(float),
    14: each(lambda value: 1 / (1 + math.exp(-max(value, -700)))), 17: largest, 18: two(operator.mul),
    19: each(lambda value: max(value, 0)), 22: lambda network, step, values, shapes, shape: values[0], 23: resize,
    "Convolution2DTransposeBias": transposed, 34: pad, 40: mean,
    117: each(lambda value: value * min(max(value + 3, 0), 6) / 6),
}


def run(data, values):
    return Network(data).run(values)


def main():
    """reference_network.py FILE < floats > floats"""
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    given = sys.stdin.buffer.read()
    for out in run(data, list(struct.unpack(f"<{len(given) // 4}f", given))):
        sys.stdout.buffer.write(struct.pack(f"<{len(out)}f", *out))


if __name__ == "__main__":
    main()
