#!/usr/bin/env python3
"""test_network.py: compares the runner of .tflite networks with the plain reference, and gives it wrong files

    test_network.py RUN_NETWORK [CHECK...]

MONOCLE_NETWORKS names a directory with real networks, for the check `real`.
"""
import glob
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import checks  # noqa: E402
import reference_network  # noqa: E402
import tiny_network  # noqa: E402

RUN_NETWORK, = checks.programs(1)


def run(data, values, env=None):
    """Returns the floats of all outputs, or the message."""
    with open(checks.at("it.tflite"), "wb") as file:
        file.write(data)
    done = subprocess.run([RUN_NETWORK, checks.at("it.tflite"), "2"], input=struct.pack(f"<{len(values)}f", *values),
                          capture_output=True, env=os.environ | (env or {}))
    if done.returncode:
        return done.stdout.decode()
    return list(struct.unpack(f"<{len(done.stdout) // 4}f", done.stdout))


def inputs(count, seed):
    numbers = random.Random(seed)
    return [struct.unpack("<f", struct.pack("<f", numbers.uniform(-2, 2)))[0] for _ in range(count)]


def compare(c, data, values, *what):
    got, want = run(data, values), [value for out in reference_network.run(data, values) for value in out]
    limit = 1e-5 * max(1, *map(abs, want))
    c.check(not isinstance(got, str) and len(got) == len(want) and
            max(abs(a - b) for a, b in zip(got, want)) < limit, *what, got[:3], want[:3])


def everything(c):
    compare(c, tiny_network.everything(), inputs(9 * 14 * 3, 1), "all operators")


def levels(c):
    """All levels of vector instructions give the same bytes."""
    values = inputs(9 * 14 * 3, 2)
    plain, best = (run(tiny_network.everything(), values, env) for env in ({"MONOCLE_VECTORS": "plain"}, {}))
    c.check(plain == best and len(plain) > 100, plain[:3], best[:3])


def convolutions(c):
    numbers = random.Random(3)
    for seed in range(40):
        height, width, channels, count = (numbers.randint(5, 11), numbers.randint(5, 20), numbers.randint(1, 17),
                                          numbers.randint(1, 17))
        network = tiny_network.Network([1, height, width, channels], seed)
        depthwise = seed % 2 == 1
        how = ((numbers.randint(1, 5), numbers.randint(1, 5)), (numbers.randint(1, 3), numbers.randint(1, 3)),
               numbers.random() < 0.5, numbers.choice((0, 1, 3)), depthwise)
        out = network.convolution(network.input, channels if depthwise else count, *how)
        compare(c, network.bytes([out]), inputs(height * width * channels, seed), seed, how)


def others(c):
    for seed, add in enumerate((
            lambda m: m.transposed(m.input, 3, (2, 3)), lambda m: m.transposed(m.input, 9, (1, 1)),
            lambda m: m.largest(m.input, (3, 2), (2, 1)), lambda m: m.largest(m.input, (3, 3), (1, 2), same=False),
            lambda m: m.resize(m.input, 13, 5), lambda m: m.resize(m.input, 3, 24, half=False),
            lambda m: m.resize(m.input, 1, 1), lambda m: m.mean(m.input), lambda m: m.each(14, m.input),
            lambda m: m.averaged(m.input, fused=1), lambda m: m.averaged(m.input),
            lambda m: m.each(117, m.input), lambda m: m.pad(m.input, [0, 0, 1, 0, 0, 2, 3, 1]),
            lambda m: m.two(18, m.mean(m.input), m.input), lambda m: m.two(0, m.input, m.input, fused=3))):
        network = tiny_network.Network([1, 6, 12, 5], seed)
        compare(c, network.bytes([add(network)]), inputs(360, seed), seed)


def activation_stays(c):
    """A result that another operator needs is not replaced by its activation."""
    network = tiny_network.Network([1, 4, 4, 3])
    first = network.convolution(network.input, 3)
    second = network.each(19, first)
    compare(c, network.bytes([network.two(0, first, second)]), inputs(48, 1), "used twice")
    compare(c, network.bytes([first, second]), inputs(48, 1), "an output")


def refused(c):
    def network_of(add, outputs=None):
        network = tiny_network.Network([1, 6, 6, 4])
        out = add(network)
        return network.bytes(outputs or [out])

    def reshaped(network):
        out = network.convolution(network.input, 4)
        network.tensors[out][0] = ("list i", [1, 6, 6, 5])
        return out

    def weights_from_input(network):
        return network.add(3, [network.input] * 3, [1, 6, 6, 4], {1: ("i", 1), 2: ("i", 1)})

    def later(network):
        network.add(19, [network.input + 2], [1, 6, 6, 4])
        return network.each(19, network.input)

    for data, why in ((b"", "it is no .tflite file"), (b"\0" * 100, "it is no .tflite file"),
                      (network_of(reshaped), "operator 2: the shapes do not fit"),
                      (network_of(weights_from_input), "operator 0: the shapes do not fit"),
                      (network_of(later), "operator 0: its tensors are wrong"),
                      (network_of(lambda m: m.each(99, m.input)), "operator 0: monocle does not know this operator"),
                      (network_of(lambda m: m.two(0, m.input, m.input, fused=2)), "operator 0: it has an option"),
                      (network_of(lambda m: m.averaged(m.input, less=1)), "operator 0: it has an option"),
                      (network_of(lambda m: m.each(19, m.input), [0]), "it does not compute its output"),
                      (tiny_network.everything()[:3000], "it is damaged: an offset leads outside of it")):
        got = run(data, inputs(144, 1))
        c.check(isinstance(got, str) and got.startswith(why), why, got)


@checks.slow
def real(c):
    """Networks of the directory MONOCLE_NETWORKS give the reference's values; takes seconds for each."""
    names = glob.glob(os.path.join(os.environ.get("MONOCLE_NETWORKS", "/nowhere"), "*.tflite"))
    for name in names:
        with open(name, "rb") as file:
            data = file.read()
        network = reference_network.Network(data)
        shape = network.shapes[network.inputs[0]]
        compare(c, data, inputs(shape[1] * shape[2] * shape[3], 1), name)
    c.check(True, f"{len(names)} networks")


if __name__ == "__main__":
    sys.exit(checks.Checks().run(everything, levels, convolutions, others, activation_stays, refused, real))
