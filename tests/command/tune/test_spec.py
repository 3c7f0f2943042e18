#!/usr/bin/env python3
"""test_spec.py MONOCLE_MISLED MONOCLE: `monocle tune SPEC.json` on a device: the examples, wrong kernels, wrong files

MONOCLE_MISLED has a time limit for children that the test sets (tests/support/misled.c)."""
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import SOURCES, Checks, at, programs, skip, slow
from live_support import SANITIZED, has_opencl, run

MISLED, MONOCLE = programs(2)
EXAMPLES = os.path.join(SOURCES, "assets", "tune")

if not has_opencl(MISLED):
    skip("there is no OpenCL device")

# HOW selects a fault. `out` of 4 work-items in one work-group.
KERNEL = """
#if HOW == 2
#error refused
#endif
kernel void k(int n, global float *in, global float *out, global float *both, global float *count)
{
    const int i = get_global_id(0);
    if (HOW == 16)
        return;
    if (HOW == 15 && i == 0 && ++count[0] > 2) // it crashes only while it is timed
        *(global int *)(size_t)n = 7;
    const float before = out[i];
    out[i] = in[i] * n + both[i];
    both[i] += 1;
    if (HOW == 3 && i == 1)
        out[i] += 5;
    if (HOW == 4)
        out[i < 2 ? -1 - i : n + i] = 1; // before and after it
    if (HOW == 5 || HOW == 12 || HOW == 13)
        in[i] = 7;
    if (HOW == 6)
        *(global int *)(size_t)n = 7;
    if (HOW >= 20) // the byte HOW behind it
        ((global char *)(out + 4))[HOW - 20] = 1;
    if (HOW < -20) // before it
        ((global char *)out)[HOW + 20] = 1;
    if (HOW == 14 && out[4096] == 0) // the probability is low
        out[i] += 5;
    if (HOW == 11 && before == out[i])
        out[i] = 0;
    if (HOW == 7)
        while (out[i] != -1.25f)
            barrier(CLK_GLOBAL_MEM_FENCE);
}
"""
REFERENCE = """
kernel void r(int n, global const float *in, global float *out, global float *both)
{
    const int i = get_global_id(0);
    out[i] = in[i] * n + both[i];
}
"""
WHY = {2: "refused", 3: "out[1] is ", 4: "it writes out of bounds: byte -",
       5: "it writes to 'in', which is ReadOnly", 6: "signal 11", 7: "it took longer than",
       8: "a work-group of 1048576 work-items; the device allows "}
KIND = {1: "correct", 2: "compile", 3: "correctness", 4: "correctness", 5: "correctness", 6: "runtime", 7: "timeout",
        8: "runtime"}


def settings(**more):
    """Returns the environment of a run. The limit of a child is long, because the machine may be busy."""
    return {"XDG_CACHE_HOME": at("cache"), "XDG_DATA_HOME": at("data"), "TEST_LIMIT_MS": "100000",
            **more}


def prepare(c):
    os.mkdir(at("cache"))
    os.mkdir(at("data"))


def vector(name, access, **more):
    return {"Name": name, "Type": "float", "MemoryType": "Vector", "AccessType": access, "Size": "4", **more}


def description(values):
    """Returns a description of KERNEL, and writes the kernels' files."""
    for name, text in ("k.cl", KERNEL), ("r.cl", REFERENCE):
        with open(at(name), "w", encoding="utf-8") as file:
            file.write(text)
    return {
        "ConfigurationSpace": {"TuningParameters": [{"Name": "HOW", "Values": values, "Default": values[0]}]},
        "KernelSpecification": {
            "Language": "OpenCL", "KernelName": "k", "KernelFile": "k.cl",
            "GlobalSize": {"X": 4}, "LocalSize": {"X": "4 if HOW != 8 else 2 ** 20"},
            "Arguments": [{"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4},
                          vector("in", "ReadOnly", FillType="Random", FillValue=1.0),
                          vector("out", "WriteOnly", Output=1),
                          vector("both", "ReadWrite", FillType="Constant", FillValue=2),
                          vector("count", "WriteOnly")]},
        "ReferenceKernel": {
            "Arguments": ["n", "in", "out", "both"],
            "KernelName": "r", "KernelFile": "r.cl", "GlobalSize": {"X": 4}, "LocalSize": {"X": 4}}}


def tune(spec, *args, binary=MISLED, **env):
    """Writes the description. Returns the exit code, the JSON objects, and standard error."""
    with open(at("spec.json"), "w", encoding="utf-8") as file:
        file.write(spec if isinstance(spec, str) else json.dumps(spec))
    code, out, err = run(binary, "tune", at("spec.json"), "--json", *args, timeout=500, **settings(**env))
    return code, [json.loads(line) for line in out.splitlines()], err


def results(path):
    with open(path, encoding="utf-8") as file:
        return {result["configuration"]["HOW"]: result["invalidity"] for result in json.load(file)["results"]}


@slow
def examples(c):
    """Each example that is installed runs, also at odd sizes. --replay reads its T4 file."""
    for name, problem, values in [("matmul", [67, 67], {"WORK_X": 2, "WORK_Y": 2, "PAD": 1}),
                                  ("convolution", [61, 35], {"WORK_X": 2, "TILE": 1, "UNROLL": 1, "VECTOR": 2}),
                                  ("reduction", 12345, {"VECTOR": 4, "PASSES": 1, "GROUPS": 4}),
                                  ("sort", 3001, {"BITS": 8, "ITEMS": 2}),
                                  ("bicg", [131, 77], {"FUSED": 1, "CHUNK": 4, "ROWS": 32, "QUEUES": 2}),
                                  ("coulomb", [13, 256], {"ITEMS": 4, "CONSTANT": 1, "APART": 1}),
                                  ("hotspot", [67, 35], {"STEPS": 4, "ROWS": 2, "POWER": 1}),
                                  ("nbody", 131, {"ITEMS": 4, "TILE": 2, "VECTOR": 4, "UNROLL": 2}),
                                  ("gemm_batch", 37, {"BATCH": 4, "ROWS": 4, "LOCAL_A": 1, "PAD": 1}),
                                  ("gemm", [128, 256, 32], {"SA": 1, "VWM": 2, "VWN": 4, "STRN": 1}),
                                  ("xgemm", [61, 35, 43], {"SB": 1, "VWM": 4, "STRM": 1})]:
        with open(os.path.join(EXAMPLES, name + ".json"), encoding="utf-8") as file:
            spec = json.load(file)
        kernels = spec["KernelSpecification"]
        kernel = kernels[0] if isinstance(kernels, list) else kernels
        for of in kernel, spec["ReferenceKernel"]:
            files = of["KernelFile"] if isinstance(of["KernelFile"], list) else [of["KernelFile"]]
            of["KernelFile"] = [os.path.join(EXAMPLES, file) for file in files]
        kernel["ProblemSize"] = problem
        for parameter in spec["ConfigurationSpace"]["TuningParameters"]: # one configuration, so that the test is fast
            parameter["Default"] = values.get(parameter["Name"], parameter["Default"])
        code, found, err = tune(spec, "--budget", "1", "--t4", at("t4.json"), binary=MONOCLE)
        c.check(code == 0 and len(found) == 1, name, code, err)
        c.check(err.count("\n") == err.count("which is outside its directory") >= 2, name, err)
        c.check(found[0]["tried"] == 1 and found[0]["trials"][0]["ms"] > 0, name, found)
        c.check(found[0]["spec"] == at("spec.json") and found[0]["configurations"] >= 100, name, found)
        c.check(name != "gemm" or found[0]["configurations"] == 241600, "as published for CLTune", found)
        code, out, err = run(MONOCLE, "tune", "--replay", at("t4.json"), "--json", "--seeds", "2", **settings())
        c.check(code == 0 and json.loads(out)["configurations"] == 1, name, code, err)


def launches(c):
    """A composition: a kernel repeated with swapped vectors, another scalar and macro in each launch; a fused kernel
    instead; a condition. Vectors are as large as the configuration says."""
    with open(at("k.cl"), "w", encoding="utf-8") as file:
        file.write("""
#ifndef BASE
#define BASE 0
#endif
kernel void add(global const int *from, global int *to, int of)
{
    const int i = get_global_id(0);
    to[i] = from[i] * BASE + of + (HOW == 3);
    if (HOW == 4)
        to[4 * SPARE + i] = 0;
}
kernel void fused(global int *from)
{
    const int i = get_global_id(0);
    for (int k = 0; k < 2; k++)
        from[i] = from[i] * (k + 2) + 10 * k;
}
""")
    with open(at("r.cl"), "w", encoding="utf-8") as file:
        file.write("kernel void r(global int *from) { const int i = get_global_id(0);"
                   "from[i] = from[i] * 2 * 3 + 10; }")
    values = [{"Name": "HOW", "Values": [1, 2, 3, 4], "Default": 1}, {"Name": "SPARE", "Values": [1, 4], "Default": 1}]
    numbers = {"Type": "int", "Size": "4 * SPARE", "FillType": "Generator", "DataSource": "i + 1"}
    spec = {"ConfigurationSpace": {"TuningParameters": values, "Conditions": ["HOW == 4 or SPARE == 1"]},
            "KernelSpecification": [
                {"KernelName": "add", "KernelFile": "k.cl", "GlobalSize": {"X": 4}, "LocalSize": {"X": 4},
                 "Arguments": [{"Name": "from", "Output": 1, **numbers}, {"Name": "to", **numbers},
                               {"Name": "of", "Type": "int", "MemoryType": "Scalar"}]},
                {"KernelName": "fused", "GlobalSize": {"X": 4}, "LocalSize": {"X": 4}, "Arguments": ["from"]}],
            "Launches": [{"KernelName": "add", "Condition": "HOW != 2", "Repeat": "2", "Swap": ["from", "to"],
                          "Arguments": {"of": "10 * i"}, "Macros": {"BASE": "i + 2"}},
                         {"KernelName": "fused", "Condition": "HOW == 2", "LocalSize": {"X": 1},
                          "GlobalSize": {"X": 4}}],
            "ReferenceKernel": {"KernelName": "r", "KernelFile": "r.cl", "GlobalSize": {"X": 4}, "LocalSize": {"X": 4},
                                "Arguments": ["from"]}}
    code, (found,), err = tune(spec)
    failed = {trial["choice"]: trial.get("failed") for trial in found["trials"]}
    c.check(code == 0 and found["tried"] == 5 and err == "", code, found, err)
    rows = [(row["kernel"], row["launches"], row["global"], row["local"]) for row in found["launches"]]
    c.check(rows == [("add", 2, [4, 1, 1], [4, 1, 1]) if found["best"] == "HOW=1,SPARE=1" else
                     ("fused", 1, [4, 1, 1], [1, 1, 1])], found["launches"])
    c.check(found["launches"][0]["ms"] > 0, found["launches"])
    row = '"add", 2, {4, 1, 1}, {4, 1, 1}' if rows[0][0] == "add" else '"fused", 1, {4, 1, 1}, {1, 1, 1}'
    out = run(MISLED, "tuned", "export", "--header", "-", **settings())[1].decode()
    c.check("#define KERNEL_SPEC_LAUNCHES {" + row + "}\n" in out, out)
    c.check(failed["HOW=1,SPARE=1"] is None and failed["HOW=2,SPARE=1"] is None, failed)
    c.check(failed["HOW=3,SPARE=1"] == "from[0] is 20 instead of 16", failed)
    for spare in 1, 4:
        says = f"it writes out of bounds: byte {16 * spare} of "
        c.check(says in (failed[f"HOW=4,SPARE={spare}"] or ""), failed)


def queues(c):
    """Launches in two queues have the order of their arguments. Each run starts and ends in both queues together."""
    spec = description([0, 1])
    with open(at("k.cl"), "w", encoding="utf-8") as file:
        file.write("""
kernel void slow(global int *from, global int *to)
{
    volatile int n = 3000000;
    while (n > 0)
        n--;
    to[0] = ++from[0];
}
kernel void twice(global int *from, global int *to) { to[0] = 2 * from[0]; }
""")
    with open(at("r.cl"), "w", encoding="utf-8") as file:
        file.write("kernel void r(global int *three, global int *all) { three[0] = 8; all[0] = 16; }")
    number = {"Type": "int", "Size": "1", "FillValue": 3}
    three, all_ = ({"Name": name, "Output": 1, **number} for name in ("three", "all"))
    kernel = {"KernelFile": "k.cl", "GlobalSize": {"X": 1}, "LocalSize": {"X": 1}}
    big = {"Name": "from", **number, "Size": "2 ** 22"}
    spec["KernelSpecification"] = [
        {**kernel, "KernelName": "slow", "Arguments": [big, {"Name": "to", **number}]},
        {**kernel, "KernelName": "twice", "Arguments": [three, all_]}]
    spec["ReferenceKernel"] = {**kernel, "KernelName": "r", "KernelFile": "r.cl", "Arguments": ["three", "all"]}
    spec["Launches"] = [
        {"KernelName": "twice", "Queue": "HOW", "Arguments": {"three": "from", "all": "three"}}, # three: 6
        {"KernelName": "slow", "Arguments": {"from": "three"}}, # three: 7
        {"KernelName": "twice", "Queue": "HOW", "Arguments": {"three": "to"}}, # all: 14
        {"KernelName": "slow", "Queue": "1 - HOW", "Arguments": {"from": "three"}}, # three: 8
        {"KernelName": "slow", "Queue": "HOW", "Arguments": {"from": "all"}},
        {"KernelName": "slow", "Queue": "HOW", "Arguments": {"from": "all"}}] # all: 16
    code, (found,), err = tune(spec)
    c.check(code == 0 and found["failed"] == 0 and err == "", found, err)
    spec["Launches"][0]["Queue"] = "HOW + 1"
    code, _, err = tune(spec)
    c.check(code == 3 and "Queue 'HOW + 1': it is 2, but must be a whole number from 0 to 1" in err, code, err)


def images(c):
    """Images of odd sizes are inputs and outputs, like vectors: with integers, with one channel, with normalized
    numbers. They are restored for each run, change places, and are as large as the configuration says."""
    spec = description([1, 2, 3])
    with open(at("k.cl"), "w", encoding="utf-8") as file:
        file.write("""
const sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void k(read_only image2d_t in, read_only image2d_t unit, write_only image2d_t out, write_only image2d_t one)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1)), size = get_image_dim(out);
    if (any(at >= size))
        return;
    uint4 pixel = read_imageui(in, edge, at + (int2)(1, 0));
    pixel.w += HOW == 2 && all(at == size - 1);
    write_imageui(out, at, pixel);
    write_imagef(one, at, read_imagef(unit, edge, at) + 3 * at.y + (HOW == 3));
}
kernel void add(read_only image2d_t from, write_only image2d_t to)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagei(to, at, 2 * read_imagei(from, edge, at) + at.x + 100 * at.y + (HOW == 3));
}
kernel void r(write_only image2d_t to)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagei(to, at, 20 + 3 * (at.x + 100 * at.y));
}
""")
    def image(name, type_, access, **more):
        return {"Name": name, "Type": type_, "MemoryType": "Image", "AccessType": access, "Size": [37, "11"], **more}
    pixels = bytes(i % 251 for i in range(37 * 11 * 4))
    with open(at("out.bin"), "wb") as file:
        file.write(b"".join(pixels[i + 4:i + 148] + pixels[i + 144:i + 148] for i in range(0, len(pixels), 148)))
    with open(at("one.bin"), "wb") as file:
        file.write(struct.pack("<407f", *(51 / 255 + 3 * (i // 37) for i in range(407))))
    arguments = [image("in", "uchar4", "ReadOnly", FillType="Generator", DataSource="i % 251"),
                 image("unit", "uint8", "ReadOnly", FillValue=51, Normalized=True),
                 image("out", "uchar4", "WriteOnly"), image("one", "float", "WriteOnly")]
    kernel = spec["KernelSpecification"] = {
        "KernelName": "k", "KernelFile": "k.cl", "GlobalSize": {"X": 37, "Y": 11}, "LocalSize": {"X": 8, "Y": 2},
        "Arguments": arguments, "ReferenceArguments": [
            {"TargetName": name, "FillType": "BinaryRaw", "DataSource": name + ".bin"} for name in ("out", "one")]}
    del spec["ReferenceKernel"]
    code, (found,), err = tune(spec)
    failed = {trial["choice"]: trial.get("failed") for trial in found["trials"]}
    c.check(code == 0 and failed["HOW=1"] is None and err == "", found, err)
    c.check(failed["HOW=2"] == f"out[1627] is {pixels[1627] + 1} instead of {pixels[1627]}", failed)
    c.check(failed["HOW=3"] == "one[0] is 1.2 instead of 0.2", failed)
    code, (checked,), err = tune(spec, "--check")
    c.check(code == 0 and ("unchecked" in checked or checked["faults"] == []), checked, err)
    for change, says in [({"Size": [2 ** 18, 1]}, "the device has no image of 262144x1 pixels of the type of 'in'"),
                         ({"Type": "uchar2"}, "the device has no image of 37x11 pixels of the type of 'in'")]:
        if "Type" in change and "pthread" not in found["device"] and "cpu-" not in found["device"]:
            continue # other devices than PoCL's may have this type
        code, none, err = tune({**spec, "KernelSpecification": {**kernel, "Arguments": [{**arguments[0], **change},
                                                                                        *arguments[1:]]}})
        c.check(code == 1 and none == [] and err.count("\n") == 1 and says in err, change, code, err)
    numbers = image("a", "int", "ReadWrite", FillType="Generator", DataSource="5", Size=["16 * HOW + 1", "HOW + 2"])
    sizes = {"KernelFile": "k.cl", "GlobalSize": {"X": "16 * HOW + 1", "Y": "HOW + 2"}, "LocalSize": {"X": 1}}
    spec.update(KernelSpecification={**sizes, "KernelName": "add",
                                     "Arguments": [{**numbers, "Output": 1}, {**numbers, "Name": "b"}]},
                Launches=[{"KernelName": "add", "Repeat": 2, "Swap": ["a", "b"], "Queue": "i"}],
                ReferenceKernel={**sizes, "KernelName": "r", "Arguments": ["a"]})
    spec["ConfigurationSpace"]["TuningParameters"][0]["Default"] = 2
    code, (found,), err = tune(spec)
    failed = {trial["choice"]: trial.get("failed") for trial in found["trials"]}
    c.check(code == 0 and failed == {"HOW=1": None, "HOW=2": None, "HOW=3": "a[0] is 23 instead of 20"}, found, err)
    spec["KernelSpecification"]["CompilerOptions"] = "-cl-std=CL1.2"
    with open(at("k.cl"), "a", encoding="utf-8") as file:
        file.write("kernel void both(read_write image2d_t to) { write_imagei(to, (int2)(0, 0), 0); }")
    code, found, err = tune(spec)
    c.check(code == 1 and "'read_write'" in err, code, err)


def fits(c):
    """Configurations that run in turns have buffers of their own sizes. A write to those of another one would fail."""
    spec = description([1, 2])
    with open(at("k.cl"), "w", encoding="utf-8") as file:
        file.write("kernel void k(global float *a, global float *b) { volatile int n = HOW == 1 ? 1000000 : 0;"
                   "while (n > 0) n--; a[HOW == 1 ? 0xfffff : 3] = b[HOW == 1 ? 3 : 0xfffff] = n; }")
    kernel = {"KernelName": "k", "KernelFile": "k.cl", "GlobalSize": {"X": 1}, "LocalSize": {"X": 1},
              "Arguments": [vector("a", "WriteOnly", Size="2 ** 20 if HOW == 1 else 4"),
                            vector("b", "WriteOnly", Size="4 if HOW == 1 else 2 ** 20")]}
    spec.update(KernelSpecification=kernel, ReferenceKernel={**kernel, "Arguments": ["a", "b"]})
    code, found, err = tune(spec)
    c.check(code == 0 and found[0]["failed"] == 0 and found[0]["best"] == "HOW=2" and err == "", found, err)


def objective(c):
    """The winner is the configuration with the best metric, not the fastest one."""
    spec = description([1, 9, 19])
    general = spec["General"] = {"Objective": "score",
                                 "Metrics": {"score": "HOW ** 14 / time", "none": "1 / (HOW - 1)"}}
    for minimize, best in (True, 1), (False, 19):
        general["Minimize"] = minimize
        code, (found,), err = tune(spec, "--t4", at("t4.json"))
        c.check(code == 0 and found["best"] == f"HOW={best}" and err == "", minimize, found, err)
        c.check(math.isclose(found["best_metrics"]["score"], best ** 14 / found["best_ms"]), found)
        c.check([trial.get("metrics", {}).get("none") for trial in found["trials"]] == [None, 1 / 8, 1 / 18], found)
        with open(at("t4.json"), encoding="utf-8") as file:
            rows = [{of["name"]: of["value"] for of in row["measurements"]} for row in json.load(file)["results"]]
        for how, row in zip((1, 9, 19), rows, strict=True):
            c.check(math.isclose(row["score"], how ** 14 / row["time"]) and ("none" in row) == (how > 1), how, row)
        listed = json.loads(run(MISLED, "tuned", "list", "--json", **settings())[1])
        stored = [row["default_ms"] for row in listed if row["level"] == "user"]
        c.check(len(stored) == 1 and 0 < stored[0] < 1000, "the default's time, not its cost", stored)
        os.remove(at("data/monocle/tuned"))
    code, out, err = run(MISLED, "tune", at("spec.json"), **settings())
    c.check(code == 0 and b"\n  score: default " in out, out)
    general["Metrics"] = {}
    code, (found,), err = tune(spec)
    c.check(code == 0 and "no effect: Objective" in err and "metrics" not in found["trials"][0], found, err)


def check(c):
    """--check runs the default and the stored configuration, and reports accesses out of bounds with their lines."""
    spec = description([1, 2, 22])
    code, (found,), err = tune(spec, "--check")
    c.check(code == 0 and found["choice"] == "HOW=1" and found["which"] == "default" and err == "", found, err)
    launch, = found["launches"]
    c.check(launch["kernel"] == "k" and launch["launches"] == 1 and launch["ms"] > 0, launch)
    c.check(launch["global"] == launch["local"] == [4, 1, 1], launch)
    c.check("unchecked" in found or found["faults"] == [], found)
    stored = description([1])
    tune(stored, "-b", "1")
    code, found, err = tune(stored, "--check")
    c.check(code == 0 and [of["which"] for of in found] == ["stored"], "it is also the default", code, found, err)
    spec["ConfigurationSpace"]["TuningParameters"][0]["Default"] = 2
    code, (found,), err = tune(spec, "--check")
    c.check(code == 1 and "refused" in found["failed"] and err == "", found, err)
    os.mkdir(at("bin"))
    with open(at("bin/oclgrind"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhead -c 20M /dev/zero > $2\nshift 2\nexec \"$@\"\n")
    os.chmod(at("bin/oclgrind"), 0o755)
    code, found, err = tune(stored, "--check", PATH=at("bin") + ":" + os.environ["PATH"])
    c.check(code == 0 and found[0]["unchecked"] == "its log cannot be read: File too large", code, found, err)
    code, _, err = run(MISLED, "tune", "--check", "-f", "gray", **settings())
    c.check(code == 2 and "--check needs SPEC.json" in err, code, err)


@slow
def bounds(c):
    """Oclgrind names the kernel and the line of an access out of bounds, also in local memory."""
    if not shutil.which("oclgrind") or SANITIZED:
        print("left out: needs oclgrind, and a build without sanitizers")
        return
    spec = description([1])
    kernel = {"KernelName": "k", "KernelFile": "k.cl", "GlobalSize": {"X": 4}, "LocalSize": {"X": 4},
              "Arguments": [vector("out", "WriteOnly")]}
    spec.update(KernelSpecification=kernel, ReferenceKernel={**kernel, "KernelName": "r", "KernelFile": "r.cl",
                                                             "Arguments": ["out"]})
    with open(at("r.cl"), "w", encoding="utf-8") as file:
        file.write("kernel void r(global float *out) { out[get_global_id(0)] = 0; }")
    for what, memory, line in [
            ("write", "global", "out[HOW + 3] = 1;"), ("read", "global", "out[i] = out[HOW + 3] * 0;"),
            ("write", "local", "tile[HOW + 3] = 1;"), ("read", "local", "out[i] = tile[HOW + 3];")]:
        with open(at("k.cl"), "w", encoding="utf-8") as file:
            file.write("kernel void k(global float *out)\n{\n    local float tile[4], more[4];\n"
                       "    const int i = get_global_id(0);\n    tile[i] = more[i] = out[i] = 0;\n"
                       f"    if (HOW > 0)\n        {line}\n    out[i] += tile[i] * more[i];\n}}\n")
        code, found, err = tune(spec, "--check")
        c.check(code == 1 and err == "" and found[0]["faults"] ==
                [f"k.cl:7: kernel k: Invalid {what} of size 4 at {memory} memory address"], what, code, found, err)
    code, out, err = run(MISLED, "tune", at("spec.json"), "--check", **settings())
    c.check(code == 1 and b"\n  k.cl:7: kernel k: Invalid " in out, out, err)


@slow
def faults(c):
    """Each fault costs one configuration, which is recorded with its kind."""
    values = [1, 2, 3, 4, 5, 6, 8]
    code, (found,), err = tune(description(values), "--t4", at("t4.json"))
    failed = {int(trial["choice"][4:]): trial["failed"] for trial in found["trials"] if "failed" in trial}
    c.check(code == 0 and found["best"] == "HOW=1" and found["tried"] == 7, code, found, err)
    c.check(sorted(failed) == values[1:], failed)
    for how, why in failed.items():
        # A sanitizer turns the crash into an exit status.
        c.check(WHY[how] in why or (how == 6 and "ended the process with status" in why), how, why)
    c.check(results(at("t4.json")) == {how: KIND[how] for how in values}, results(at("t4.json")))


def far(c):
    """A kernel that writes outside its buffer fails in a child process, at each distance. So does one that writes
    nothing, after a correct one in the same child."""
    behind = [0, 4095, 16 << 20]
    values = [1, 16, *(20 + i for i in behind), -21, -20 - (16 << 20), 14]
    code, (found,), err = tune(description(values))
    failed = {int(trial["choice"][4:]): trial.get("failed") for trial in found["trials"]}
    c.check(code == 0 and found["best"] == "HOW=1" and found["tried"] == len(values), code, found, err)
    c.check(failed[16] and failed[16].startswith("out[0] is "), failed)
    for i in behind:
        c.check(failed[20 + i] == f"it writes out of bounds: byte {16 + i} of 'out' (16 bytes)", i, failed)
    for i in -1, -(16 << 20):
        c.check(failed[-20 + i] == f"it writes out of bounds: byte {i} of 'out' (16 bytes)", i, failed)
    if "pthread" in found["device"] or "cpu-" in found["device"]: # of PoCL: between pages without access
        c.check(failed[14] == "it reads out of bounds: byte 16384 of 'out' (16 bytes)", failed)


@slow
def loops(c):
    """A kernel that never ends fails after the time limit."""
    code, (found,), err = tune(description([1, 7]), "--t4", at("t4.json"), TEST_LIMIT_MS="8000")
    c.check(code == 0 and found["best"] == "HOW=1" and WHY[7] in found["trials"][1]["failed"], code, found, err)
    c.check(results(at("t4.json")) == {1: "correct", 7: "timeout"}, results(at("t4.json")))


def timing_crashes(c):
    """A kernel that crashes only while it is timed fails, and does not end the program. The next child goes on."""
    code, (found,), err = tune(description([1, 15, 3]))
    failed = {trial["choice"]: trial.get("failed") for trial in found["trials"]}
    c.check(code == 0 and found["best"] == "HOW=1" and failed["HOW=1"] is None, found, err)
    c.check(failed["HOW=15"] == "it cannot be timed" and failed["HOW=3"].startswith(WHY[3]), failed)


def included(c):
    """A file that a kernel includes belongs to the verdicts, the compiled programs and the log of results. A kernel
    that depends on data of an earlier run is wrong."""
    spec = description([1, 11])
    with open(at("k.cl"), "w", encoding="utf-8") as file:
        file.write("#include \"of.h\"\n" + KERNEL.replace("in[i] * n + both[i]", "in[i] * OF + both[i]"))
    spec["KernelSpecification"]["CompilerOptions"] = ["-I" + at("inc")]
    os.mkdir(at("inc"))
    hashes = []
    for of, code in ("n", 0), ("n + 1", 1), ("n", 0):
        with open(at("inc/of.h"), "w", encoding="utf-8") as file:
            file.write(f"#define OF ({of})\n")
        got, found, err = tune(spec, "--t4", at("t4.json"))
        c.check(got == code, of, got, found, err)
        c.check(code or "out[0] is " in found[0]["trials"][1].get("failed", ""), "depends on an earlier run", found)
        hashes.append(len(os.listdir(at("cache/monocle"))))
    c.check(hashes[0] < hashes[1], "the changed file is compiled", hashes)


@slow
def references(c):
    """The reference is a file, or by default the default configuration."""
    spec = description([1, 3])
    del spec["ReferenceKernel"]
    code, (found,), err = tune(spec)
    c.check(code == 0 and found["failed"] == 1 and err.count("\n") == 1 and "no ReferenceKernel" in err, found, err)
    spec["KernelSpecification"]["Arguments"][1].update(FillType="Generator", DataSource="i * 0.5")
    reference = {"TargetName": "out", "FillType": "BinaryRaw", "DataSource": "out.bin"}
    spec["KernelSpecification"]["ReferenceArguments"] = [reference]
    for values, failed in ((2, 4, 6, 8), 1), ((2, 4.01, 6, 8), 2), ((2, 9, 6, 8), 1):
        with open(at("out.bin"), "wb") as file:
            file.write(struct.pack("<4f", *values))
        code, found, err = tune(spec)
        if failed == 2 or values[1] == 9: # the default is wrong
            c.check(code == 1 and found == [] and "no default configuration runs on this device: out[" in err, err)
        else:
            c.check(code == 0 and found[0]["failed"] == failed and err == "", values, found, err)
    reference.update(ValidationThreshold=6)
    code, (found,), err = tune(spec)
    c.check(code == 0 and found["failed"] == 0, found, err)


def limits(c):
    """The limits of the description apply without --budget. A kernel that writes to a ReadOnly argument is wrong."""
    spec = description([1, 5, 12, 13])
    spec["Budget"] = [{"Type": "ConfigurationCount", "BudgetValue": 2}]
    code, (found,), err = tune(spec)
    c.check(code == 0 and found["tried"] == 2 and err == "", found, err)
    c.check(WHY[5] in found["trials"][1].get("failed", ""), found)
    code, (found,), err = tune(spec, "-b", "3", "-b", "1idle")
    c.check(code == 0 and found["tried"] == 2, "the second one is not faster", found, err)
    code, found, err = tune(spec, "-b", "1.5idle")
    c.check(code == 2 and found == [] and "such as 20idle" in err, code, err)


def stored(c):
    """The winner is stored for the description and the kernels. The next run compares with it, and keeps the entry if
    no other one is faster. Another kernel text has no entry."""
    spec = description(["1", "1 + 0", "1,HOW=1"])
    spec["KernelSpecification"]["ProblemSize"] = [64, 64]
    spec["ConfigurationSpace"]["TuningParameters"].append({"Name": "X", "Values": [0, 1]}) # 1 is the first one allowed
    spec["ConfigurationSpace"]["Conditions"] = ["HOW != '1,HOW=1'", "X > 0"]
    code, (found,), err = tune(spec, "-b", "2")
    c.check(code == 0 and found["used"] == found["default"] == "HOW=1,X=1", found, err)
    path = at("data/monocle/tuned")
    with open(path, encoding="utf-8") as file:
        before = file.read()
    fields = before.splitlines()[-1].split("\t")
    c.check(fields[:3] == ["kernel:spec", "4K", found["best"]], fields)
    code, out, err = run(MISLED, "tuned", "list", "--json", **settings())
    ratio = [row["speed_up"] for row in json.loads(out) if row["pass"] == "kernel:spec"]
    c.check(len(ratio) == 1 and math.isclose(ratio[0], found["speedup"], rel_tol=1e-3), ratio, found["speedup"])
    edited = before.replace("HOW=1,X=1", "HOW=1 + 0,X=1")
    with open(path, "w", encoding="utf-8") as file:
        file.write(edited)
    code, (found,), err = tune(spec, "-b", "2")
    c.check(code == 0 and found["used"] == "HOW=1 + 0,X=1" and found["default"] == "HOW=1,X=1", found, err)
    with open(path, encoding="utf-8") as file:
        now = file.read()
    c.check((found["best"] == found["used"]) == (now == edited), found, now)
    with open(at("k.cl"), "a", encoding="utf-8") as file:
        file.write("// another text")
    code, out, err = run(MISLED, "tune", at("spec.json"), "--json", "-b", "1", **settings())
    c.check(code == 0 and json.loads(out)["used"] == "HOW=1,X=1", out, err)


def places(c):
    """A result is found again from another directory. Kernels with equal names have results of their own."""
    spec = description([1])
    for name in "a", "b":
        os.mkdir(at(name))
        for file, text in [("of.h", f"// {name}"), ("r.cl", REFERENCE), ("k.cl", "#include \"of.h\"\n" + KERNEL),
                           ("spec.json", json.dumps(spec))]:
            with open(at(name + "/" + file), "w", encoding="utf-8") as out:
                out.write(text)
    for cwd, path, count in [(at("."), "a/spec.json", 1), (at("a"), "spec.json", 1), (at("data"), at("a/spec.json"), 1),
                             (at("."), "b/spec.json", 2), (at("."), "a/spec.json", 2)]:
        code, out, err = run(MISLED, "tune", path, "-b", "1", cwd=cwd, **settings())
        with open(at("data/monocle/tuned"), encoding="utf-8") as file:
            found = [line for line in file if line.startswith("kernel:spec\t")]
        c.check(code == 0 and len(found) == count, cwd, path, found, out, err)


def several(c):
    """A kernel has several files, and includes files of their directory. Limits of the budget combine."""
    spec = description([1, 2])
    os.mkdir(at("sub"))
    for name, text in [("sub/of.h", "#define OF n\n"), ("sub/of.cl", "#include \"of.h\"\n#define ALL OF * 1"),
                       ("k.cl", KERNEL.replace("in[i] * n + both[i]", "in[i] * ALL + both[i]"))]:
        with open(at(name), "w", encoding="utf-8") as file:
            file.write(text)
    spec["KernelSpecification"]["KernelFile"] = ["sub/of.cl", "k.cl"]
    for budget, tried in ("1", 1), ("2", 2):
        code, (found,), err = tune(spec, "-b", budget, "-b", "200s")
        c.check(code == 0 and found["tried"] == tried and err == "", found, err)
    c.check("refused" in found["trials"][1]["failed"], found)


def cuda(c):
    """A description of a CUDA kernel runs the OpenCL kernel of the same name, and is refused without one. An argument
    may be a struct of a file."""
    spec = description([1])
    pair = {"Name": "p", "Type": "custom", "TypeSize": 8, "MemoryType": "Scalar", "FillType": "BinaryRaw",
            "DataSource": "pair.bin"}
    spec["KernelSpecification"].update(Language="CUDA", KernelFile="twin.cu", GlobalSize={"X": 1},
                                       CompilerOptions=["-use_fast_math"])
    spec["KernelSpecification"]["Arguments"].append(pair)
    with open(at("pair.bin"), "wb") as file:
        file.write(struct.pack("<if", 8, .5))
    code, found, err = tune(spec)
    c.check(code == 3 and found == [] and "its kernel is CUDA, and there is no OpenCL kernel '" in err, code, err)
    with open(at("twin.cl"), "w", encoding="utf-8") as file:
        file.write("struct pair { int a; float b; };\n" + KERNEL.replace("*count)", "*count, struct pair p)")
                   .replace("in[i] * n + both[i]", "in[i] * (p.a * p.b) + both[i]"))
    code, found, err = tune(spec)
    c.check(code == 0 and found[0]["best"] == "HOW=1" and found[0]["failed"] == 0, code, found, err)
    c.check("monocle runs the OpenCL kernel '" in err and "no effect: CompilerOptions" in err, err)


@slow
def kinds(c):
    """An argument of another kind than the description says gives one line. A Symbol is a scalar."""
    spec = description([1])
    arguments = spec["KernelSpecification"]["Arguments"] = [vector("out", "WriteOnly"), vector("a", "ReadOnly")]
    spec["KernelSpecification"].update(GlobalSize={"X": 4}, LocalSize={"X": 4})
    del spec["ReferenceKernel"]
    of = {"Name": "a", "Type": "float", "Size": "4", "FillValue": 0}
    for kernel, memory, says in [
            ("read_only image2d_t a", "Vector", "Vector, but image2d_t in the kernel: use Image"),
            ("read_only image2d_t a", "Image", None),
            ("global float *a", "Image", "Image, but float* in the kernel: use Vector"),
            ("read_only image3d_t a", "Image", "Image, but image3d_t in the kernel: use image2d_t"),
            ("image_side a", "Scalar", None), # a type of the kernel file
            ("sampler_t a", "Scalar", "Scalar, but sampler_t in the kernel: use a constant there"),
            ("global float *a", "Scalar", "Scalar, but float* in the kernel: use Vector"),
            ("constant float *a", "Vector", None),
            ("global float *a", "Local", "Local, but float* in the kernel: use Vector"),
            ("local float *a", "Vector", "Vector, but float* in the kernel: use Local"),
            ("float a", "Vector", "Vector, but float in the kernel: use Scalar"), ("float a", "Symbol", None)]:
        with open(at("k.cl"), "w", encoding="utf-8") as file:
            file.write("typedef float image_side;\n"
                       f"kernel void k(global float *out, {kernel}) {{ out[get_global_id(0)] = 0; }}")
        arguments[1] = {**of, "MemoryType": memory, "AccessType": "ReadOnly"}
        if memory == "Image":
            arguments[1]["Size"] = [2, 2]
        code, found, err = tune(spec, "-b", "1")
        c.check((code == 0) == (says is None), kernel, code, found, err)
        c.check(err.count("\n") == 1 + bool(says) and f"Arguments[1] 'a' is {says}" in err or not says, kernel, err)
    with open(at("k.cl"), "w", encoding="utf-8") as file:
        file.write("kernel void k(global float *out, local float *a) { a[0] = 0; out[get_global_id(0)] = a[0]; }")
    arguments[1].update(MemoryType="Local", Size="10 ** 9")
    code, found, err = tune(spec)
    c.check(code == 3 and ("4000000000 bytes of local memory; the device has " in err or "CL_" in err), code, err)
    for member, value, says in [("CompilerOptions", "--none", "the compiler refuses CompilerOptions '--none"),
                                ("KernelName", "none", "KernelFile has no kernel none")]:
        code, found, err = tune({**spec, "KernelSpecification": {**spec["KernelSpecification"], member: value}})
        c.check(code == 3 and says in err, member, code, err)


def refuses(c):
    """Each wrong description or argument gives one line, before a kernel runs."""
    good, missing, size, large, unknown, binary, lines, both = (description([1]) for _ in range(8))
    metrics, listed, image, same, pipe, longer = (description([1]) for _ in range(6))
    os.mkfifo(at("pipe"))
    pipe["KernelSpecification"]["KernelFile"] = "pipe"
    longer["KernelSpecification"]["Arguments"][1].update(FillType="BinaryRaw", DataSource="k.cl")
    same.update(KernelSpecification=2 * [same["KernelSpecification"]], Launches=[{"KernelName": "k"}])
    same["KernelSpecification"][1] = {**same["KernelSpecification"][0], "Arguments": ["n"]}
    image["KernelSpecification"]["Arguments"][1]["MemoryType"] = "Texture"
    metrics["General"] = {"Metrics": {"GB/s": "16 / time"}, "Objective": "GBs"}
    listed["General"] = {"Metrics": ["16 / time"]}
    lines["KernelSpecification"]["Arguments"][1]["Size"] = "SIZE\n\n+ 1"
    both["Unknown\nmember"] = {}
    both["KernelSpecification"]["KernelFile"] = "none\n.cl"
    missing["KernelSpecification"]["KernelFile"] = "none.cl"
    size["KernelSpecification"]["GlobalSize"]["X"] = "HOW / 2"
    large["KernelSpecification"]["Arguments"][1]["Size"] = "2 ** 36"
    unknown["KernelSpecification"]["Arguments"][1]["Size"] = "SIZE"
    binary["KernelSpecification"]["Arguments"][1].update(FillType="BinaryRaw", DataSource="none.bin")
    for spec, args, code, says in [
            ("{", (), 3, "line 1: "), ("[]", (), 3, "the object KernelSpecification is missing"),
            (missing, (), 3, "none.cl' of "), (size, (), 3, "must be a whole number"),
            (large, (), 3, "argument 'in' has 262144 MiB"), (unknown, (), 3, "there is no name 'SIZE'"),
            (binary, (), 3, "cannot read 'none.bin' for argument 'in'"), (pipe, (), 3, ": it is not a regular file"),
            (longer, (), 3, "'k.cl' has over 16 bytes, the size of argument 'in' of "),
            (lines, (), 3, "'SIZE  + 1': there is no name 'SIZE'"), (both, (), 3, "none .cl' of "),
            (metrics, (), 3, "no metric has the name 'GBs'"),
            (listed, (), 3, "General.Metrics: it is not an object"),
            (image, (), 3, "MemoryType is 'Texture', but must be one of Vector, Scalar, Local, Symbol, Image"),
            (same, (), 3, "Launches[0]: two kernels of KernelSpecification have this KernelName"),
            (good, ("--sizes", "64x48"), 2, "--sizes does not apply"),
            (good, ("-f", "gray"), 2, "--filter does not apply"),
            (good, ("other.json",), 2, "other.json")]:
        got, found, err = tune(spec, *args, binary=MONOCLE)
        c.check(got == code and found == [] and err.count("\n") == 1 and says in err, says, got, err)
    code, _, err = run(MONOCLE, "tune", at("absent.json"), **settings())
    c.check(code == 3 and err.count("\n") == 1 and "No such file" in err, code, err)
    for path, says in ("data", "Is a directory"), ("pipe", "it is not a regular file"):
        code, _, err = run(MONOCLE, "tune", at(path), **settings())
        c.check(code == 3 and err.count("\n") == 1 and says in err, code, err)


def overwrites(c):
    """An output does not replace the description or a file that it names."""
    spec = description([1])
    os.symlink(at("k.cl"), at("link.json"))
    for output in "link.json", "spec.json":
        code, found, err = tune(spec, "--t4", at(output))
        c.check(code == 2 and found == [] and err.count("\n") == 1 and "name another" in err, output, code, err)
        with open(at("spec.json"), encoding="utf-8") as file:
            c.check(json.load(file) == spec, output)
        with open(at("k.cl"), encoding="utf-8") as file:
            c.check(file.read() == KERNEL, output)


def names(c):
    """A file's name with control characters and cut letters is printed as text. Such values are refused."""
    spec = description(["1"])
    values = ["/*" + "\u00e9" * 80 + "*/"]
    spec["ConfigurationSpace"]["TuningParameters"].append({"Name": "T", "Values": values})
    for name in b"\xff\x1b[31m.json", b"a" + "\u00e9".encode() * 40 + b".json":
        path = os.path.join(os.fsencode(at(".")), name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec, file)
        code, out, err = run(MISLED, "tune", path, **settings())
        c.check(code == 0 and b"HOW=1,T=/*\xc3\xa9" in out and b"\x1b" not in out and err == "", name, code, out, err)
    values[0] = "\x1b[31m"
    code, found, err = tune(spec)
    c.check(code == 3 and found == [] and "a value has over 200 bytes, or a control character" in err, code, err)


def twins(c):
    """The kernels run on the second one of two equal devices, not on the first one, which crashes here."""
    env = {"POCL_DEVICES": "pthread pthread", "TEST_MISBEHAVE": "crash"}
    code, found, err = tune(description([1]), "-d", "1", "-b", "1", TEST_ONLY="none", **env)
    if code != 0 or "pthread" not in found[0]["device"]:
        print("left out: needs PoCL, and no other device")
        return
    for device in 0, 1:
        code, found, err = tune(description([1]), "-d", str(device), "-b", "1", TEST_ONLY=" 0", **env)
        c.check((code == 0) == (device == 1), device, code, found, err)


@slow
def endless(c):
    """A signal ends a run whose inputs or reference take forever."""
    generator, reference = description([1]), description([7])
    generator["KernelSpecification"]["Arguments"][1].update(
        Type="uint8", Size="2 ** 28", FillType="Generator", DataSource="i" + " + i - i" * 400)
    generator["Unknown"] = {}
    del reference["ReferenceKernel"]
    for number, spec in enumerate((generator, reference)):
        with open(at("spec.json"), "w", encoding="utf-8") as file:
            json.dump(spec, file)
        process = subprocess.Popen([MONOCLE, "tune", at("spec.json"), "--log-level", "info"], stderr=subprocess.PIPE,
                                   env={**os.environ, **settings()})
        said = b""
        while not any(word in said for word in (b"Unknown", b"no ReferenceKernel", b"error")):
            said = process.stderr.readline() # the inputs or the reference come next
        process.send_signal(signal.SIGINT)
        try:
            c.check(process.wait(60) == 130, number, process.returncode)
        except subprocess.TimeoutExpired:
            c.check(False, number, "it does not end")
            process.kill()
        process.communicate()


sys.exit(Checks().run(examples, launches, queues, images, fits, objective, check, bounds, faults, far, loops,
                      timing_crashes, included, references, limits, stored, places, several, cuda, kinds, refuses,
                      overwrites, names, twins, endless, before=prepare))
