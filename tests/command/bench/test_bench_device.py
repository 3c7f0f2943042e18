#!/usr/bin/env python3
"""test_bench_device.py MONOCLE MISLED: measurements of a device: their figures, checks, faults of drivers, errors

The time is short: this tests the measurement, not the speed."""
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None

sys.path.append(sys.path[0] + "/../../support")
from browser import CHROMIUM, Browser
from checks import SOURCES, Checks, at, programs, skip, slow
from live_support import PATIENCE, environment, has_opencl, on_terminal, run, wait_until

BINARY, MISLED = programs(2)
QUICK = ["--time", "0.1"]
# memory.read and memory.write run the kernels of the other tests, but PoCL takes long to compile them for all types.
CASES = {"compute": 30, "memory.copy": 15, "memory.stride": 6,
         "memory.misaligned": 5, "memory.size": 9, "memory.local": 5, "memory.image": 6, "latency": 6,
         "transfer.frame": 48, "transfer.size": 40, "matmul.group": 22, "matmul.step": 16,
         "convolution": 6, "small": 12, "build": 9, "share": 4}
GPU_CASES = {"matmul.group": 40}  # processors measure every second shape

if not has_opencl(BINARY):
    skip("no OpenCL device")


def bench(*args, binary=BINARY, **environment):
    """PoCL takes compiled kernels from the cache, so that only the first check compiles them."""
    return run(binary, "bench", "device", *args, **environment)


def figures_of(c, *args, code=0, **keywords):
    got, out, err = bench(*args, "--json", **keywords)
    c.check(got == code and out.count(b"\n") == 1, args, "exit code", got, out, err)
    return json.loads(out)


@slow
def figures(c):
    # PoCL compiles the kernel for each shape of a work-group otherwise.
    found = figures_of(c, *CASES, *QUICK, POCL_WORK_GROUP_SPECIALIZATION="0", timeout=300)
    device = found["device"]
    c.check(found["format"] == 1 and device["compute_units"] > 0 and device["clock_mhz"] >= 0, found)
    c.check(all(device[key] for key in ("name", "vendor", "platform", "version", "driver", "memory_bytes")), device)
    c.check(figures_of(c, "latency", "-n", "2", "-d", "all")["figures"][0]["rounds"] == 2, "rounds")
    c.check(set(found["tests"]) == set(CASES) and all(t["unit"] and t["definition"] for t in found["tests"].values()))
    for test, count in (CASES if device["type"] == "cpu" else {**CASES, **GPU_CASES}).items():
        mine = [f for f in found["figures"] if f["test"] == test]
        keys = {json.dumps(f["parameters"]) for f in mine}
        c.check(len(keys) == len(mine) == count, test, "cases", keys)
        for f in mine:
            c.check(f["status"] in ("ok", "skipped"), f)
            if f["status"] == "ok":
                c.check(f["value"] > 0 and f["spread"] >= 0 and 3 <= f["rounds"] <= 9 and f["checked"], f)
            else:
                c.check(len(f["reason"]) > 10 and "value" not in f, f)
    copies = [f for f in found["figures"] if f["test"].startswith("transfer")]
    c.check(any(f.get("by_event", 0) > 0 or "note" in f for f in copies), "no event of a transfer")
    zero = [f["parameters"]["way"] for f in copies if "zero copy" in f.get("note", "")]
    c.check(zero == ["map-read"] * 2 or device["type"] != "cpu", "zero copy", zero)
    steps = [f for f in found["figures"] if f["test"] == "matmul.step" and f["status"] == "ok"]
    notes = [f.get("note", "") for f in steps if f["parameters"]["step"] == "peak"]
    c.check(len(notes) == 2 and all(re.match(r"steps in % of the peak: naive [\d.]+, local ", n) for n in notes), notes)
    image = [f for f in found["figures"] if f["test"] == "share" and f["parameters"]["way"] == "image"]
    c.check(image[0]["status"] == "ok", "an image needs no GL", image)
    done = {f["parameters"]["type"] for f in found["figures"] if f["test"] == "compute" and f["status"] == "ok"}
    c.check({"float", "int", "short", "char"} <= done, "types", done)


@slow
def energy(c):
    """The energy of frames on a board with a sensor of 20 W; without a counter, the reason."""
    for name, text in [("name", "ina3221"), ("in1_label", "VDD_IN"), ("in1_input", "10000"), ("curr1_input", "2000")]:
        path = at("root", "sys", "class", "hwmon", "hwmon0", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    want = [(on, name) for on in ("device", "cpu-path") for name in ("none", "blur", "emboss")]
    for root, status in (("none", "skipped"), ("root", "ok")):
        found = figures_of(c, "energy", "-n", "1", binary=MISLED, TEST_ENERGY=at(root))["figures"]
        c.check([(f["parameters"]["on"], f["parameters"]["filter"]) for f in found] == want, found)
        c.check(all(f["status"] == status for f in found), root, found)
        c.check(status == "ok" or all(re.match("no energy counter: .*INA3221", f["reason"]) for f in found), found)
    for f in found:
        mj, watts = re.fullmatch("(.*) mJ per frame at (.*) W; counter: INA3221, VDD_IN", f["note"]).groups()
        c.check(f["checked"] and .5 < f["value"] * float(watts) < 1e6, "Mpixel/s", f)
        c.check(abs(float(mj) * f["value"] / (1920 * 1080 / 1e3) - 1) < .01, f)


def tables(c):
    """All outputs have the same figures, in every locale."""
    code, out, err = bench("latency", *QUICK, LC_ALL="de_DE.UTF-8")
    c.check(code == 0 and "latency, µs (less is better):\n" in out.decode() and "roundtrip" in out.decode(), out, err)
    code, out, err = bench("latency", "latency", *QUICK, "--csv", LC_ALL="de_DE.UTF-8")
    rows = list(csv.DictReader(io.StringIO(out.decode())))
    c.check(code == 0 and len(rows) == CASES["latency"], "a test that is named twice", out, err)
    c.check(all(float(row["value"]) > 0 and row["unit"] == "µs" and row["checked"] == "yes" for row in rows), rows)
    code, said = on_terminal(BINARY, "bench", "device", "latency", *QUICK)
    c.check(code == 0 and b"test 1 of 1, latency: round 3 of 9" in said, said)


@slow
def faults(c):
    """A driver that misbehaves in one test: the test has the reason, and the others go on."""
    for how, reason, limit in [("crash", "crashed with signal 11", ""), ("leave", "status 0", ""),
                               ("hang", "it took longer than", str(6000 * PATIENCE)), ("wrong", "wrong result", ""),
                               ("fail", "CL_OUT_OF_RESOURCES", "")]:
        found = figures_of(c, "compute", "latency", *QUICK, code=1, binary=MISLED, TEST_MISBEHAVE=how,
                           TEST_ONLY="compute", TEST_LIMIT_MS=limit)
        failed = [f for f in found["figures"] if f["status"] == "failed"]
        c.check(failed and all(f["test"] == "compute" and reason in f["reason"] for f in failed), how, failed)
        good = [f for f in found["figures"] if f["test"] == "latency" and f["status"] == "ok"]
        c.check(len(good) == CASES["latency"], how, good)


@slow
def talkative(c):
    """A driver that prints text changes no figure."""
    found = figures_of(c, "latency", *QUICK, binary=MISLED, TEST_MISBEHAVE="print")["figures"]
    c.check([f["status"] for f in found] == ["ok"] * CASES["latency"], found)


@slow
def unwritten(c):
    """Only the first work-group runs. The right results of the others are not 0, as the memory is before the test."""
    found = figures_of(c, "memory.stride", *QUICK, code=1, binary=MISLED, TEST_MISBEHAVE="wrong")
    c.check(len(found["figures"]) == CASES["memory.stride"] and
            all("wrong result" in f.get("reason", "") for f in found["figures"]), found["figures"])


@slow
def shapes(c):
    """A driver allows large work-groups only to kernels that name their shape."""
    found = figures_of(c, "matmul.step", *QUICK, binary=MISLED, TEST_GROUP="256", POCL_WORK_GROUP_SPECIALIZATION="0")
    c.check([f["status"] for f in found["figures"]] == ["ok"] * CASES["matmul.step"], found["figures"])


@slow
def little_memory(c):
    """A device with little memory gets fewer small images."""
    found = figures_of(c, "small", *QUICK, binary=MISLED, TEST_MEMORY="1000000")["figures"]
    c.check([f["status"] for f in found] == ["ok"] * CASES["small"], found)


def with_kernels(c, test, old, new, code=1, file=None):
    """Returns the figures of a test whose kernel file has `new` instead of `old`."""
    name = os.path.join("bench", (file or test.partition(".")[0]) + ".cl")
    with open(os.path.join(SOURCES, "kernels", name), encoding="utf-8") as file:
        text = file.read()
    c.check(old in text, name, "lacks", old)
    os.makedirs(at("kernels", "bench"), exist_ok=True)
    with open(at("kernels", name), "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))
    return figures_of(c, test, *QUICK, "--kernels", at("kernels"), code=code)["figures"]


def launches(c):
    """The check of launches finds some that did not run."""
    found = with_kernels(c, "latency", "launches[0]++", "if (launches[0] < 9) launches[0]++", file="empty")
    c.check(len(found) == CASES["latency"] and all("wrong result" in f.get("reason", "") for f in found), found)


@slow
def last_column(c):
    """The check of a product finds a last column that the kernel does not write."""
    found = with_kernels(c, "matmul.step", "c[y * n + x] = sum", "if (x < n - 1) c[y * n + x] = sum")
    naive = [f for f in found if f["parameters"]["step"] == "naive"]
    c.check(len(naive) == 2 and all("wrong result" in f.get("reason", "") for f in naive), naive)


@slow
def builds(c):
    """A compiler's first error; a cache that stores nothing."""
    found = with_kernels(c, "build", "uint sum = 0;", "uint sum = nonsense;")
    c.check([f["parameters"]["step"] for f in found] == ["build"] * 3 and
            all("error:" in f["reason"] and "nonsense" in f["reason"] for f in found), found)
    found = figures_of(c, "build", *QUICK, XDG_CACHE_HOME="/dev/null/none")["figures"]
    c.check([(f["parameters"]["text"], f["status"]) for f in found] ==
            [("new", "ok")] * 3 + [("same", "ok")] * 3 + [("kept", "skipped")], found)
    c.check("cannot store the compiled kernel" in found[-1]["reason"], found[-1])


@slow
def one_round(c):
    """One round has no spread."""
    args = ["latency", "-n", "1"]
    c.check(all(f["spread"] is None for f in figures_of(c, *args)["figures"]), "spread")
    code, out, err = bench(*args)
    c.check(code == 0 and "±" not in out.decode().partition("(less is better)")[2], out, err)
    code, out, err = bench(*args, "--csv")
    c.check(code == 0 and all(r["spread"] == "" for r in csv.DictReader(io.StringIO(out.decode()))), out, err)


@slow
def escaped(c):
    """Names with separators and control characters, in every output."""
    name = 'a "b", c\n\x1b\x7f\x85\u202e'
    file, shown = write("escaped.json", result(name, one=(1, 0))), 'a "b", c\\x0a\\x1b\\x7f\\xc2\\x85\\xe2\\x80\\xae'
    code, out, err = bench(file, "--json")
    c.check(code == 0 and not re.search("[\0-\t\v-\x1f\x7f-\x9f\u202e]", out.decode()), out)
    c.check(json.loads(out)["device"]["name"] == name, out)
    code, out, err = bench(file, "--csv")
    rows = list(csv.reader(io.StringIO(out.decode()), strict=True))
    c.check(code == 0 and rows[1][1] == shown and len(rows[1]) == len(rows[0]), rows)
    code, out, err = bench(file, "-c", file)
    c.check(code == 0 and out.decode().count(shown) == 2, out)


@slow
def failed_table(c):
    code, out, err = bench("latency", *QUICK, binary=MISLED, TEST_MISBEHAVE="crash")
    c.check(code == 1 and "latency failed: it crashed with signal 11" in out.decode(), out, err)


def listed(c):
    """The program has no test that the checks above leave out."""
    _, _, err = bench("speed")
    names = err.strip().split("choose from: ")[-1].split(", ")
    c.check(set(names) == set(CASES) | {"memory.read", "memory.write", "energy"}, "CASES", names)


def errors(c):
    for code, text, args in [
            (2, "did you mean compute?", ["comptue"]), (2, "did you mean latency?", ["latency", "latncy"]),
            (2, "there is no test 'speed'; choose from: compute, memory.read,", ["speed"]),
            (2, "--filter is not an option of 'bench device'", ["-f", "gray"]),
            (2, "--sizes is not an option of 'bench device'", ["--sizes", "64x64"]),
            (2, "must be", ["-n", "0"]), (2, "contradict each other", ["--json", "--csv"]),
            (3, "no OpenCL device matches 'nothing'", ["-d", "nothing"])]:
        got, out, err = bench(*args)
        c.check(got == code and text in err and err.count("\n") == 1 and out == b"", args, got, err)
    code, out, err = bench("latency", OCL_ICD_VENDORS="/proc/nowhere")
    c.check(code == 3 and "no OpenCL device" in err, code, err)
    code, out, err = run(BINARY, "bench_test", "1", "2", cwd=at())
    c.check(code == 2 and "internal" in err, code, err)


def result(name="GPU", number=0, **values):
    """A device's result, one=(2, .1) is the figure "part=one" with value, spread."""
    items = [{"test": "latency", "parameters": {"part": part}, "status": "ok", "value": value[0], "spread": value[1],
              "rounds": 9, "checked": True} if value else
             {"test": "latency", "parameters": {"part": part}, "status": "skipped", "reason": "lacks it"}
             for part, value in values.items()]
    return {"format": 1, "monocle": "1", "device": {"name": name, "number": number, "driver": "2"}, "figures": items,
            "tests": {"latency": {"unit": "µs", "definition": "a launch"}}}


def write(name, *results):
    with open(at(name), "w", encoding="utf-8") as file:
        file.write("".join(json.dumps(r) + "\n" for r in results))
    return at(name)


def compared(c):
    """The verdict of each figure, from two files."""
    base = write("base.json", result("other"), result(more=(10, .01), less=(10, .01), noisy=(10, .2), near=(10, 0),
                                                      lone=(10, None), gone=(10, 0), lost=(10, 0), came=None,
                                                      never=None))
    new = write("new.json", result(more=(11, .01), less=(9, .01), noisy=(15, .05), lone=(11, 0), near=(10.2, 0),
                                   lost=None, came=(10, 0), never=None))
    found = figures_of(c, new, "--compare", base, code=1)
    got = {f["parameters"]["part"]: f.get("verdict") for f in found["figures"]}
    c.check(got == {"more": "slower", "less": "faster", "noisy": "unclear", "lone": "unclear", "near": "same",
                    "lost": "missing", "came": "new", "never": None}, got)
    c.check([f["parameters"]["part"] for f in found["missing"]] == ["gone"], found["missing"])
    for unit, verdict in ("GB/s", "faster"), ("pixel/J", "faster"), ("J/frame", "slower"), ("ms", "slower"):
        tests = {"latency": {"unit": unit, "definition": ""}}
        files = [write(f"{value}.json", dict(result(a=(value, .02)), tests=tests)) for value in (10, 12)]
        found = figures_of(c, files[1], "--compare", files[0], code=verdict == "slower")
        c.check(found["figures"][0]["verdict"] == verdict, unit, found["figures"])
    found = figures_of(c, write("skipped.json", result(a=None)), "--compare", files[0], code=1)
    c.check([f["verdict"] for f in found["figures"]] == ["missing"], "a figure that was skipped", found["figures"])
    code, out, err = bench(new, "--compare", base)
    counts = "1 slower, 2 missing, 2 unclear, 1 faster, 1 new, 1 same"
    c.check(code == 1 and counts in out.decode() and not err, out, err)
    c.check("unclear  latency, part=lone: 10.0 -> 11.0 ±0.0% µs (+10.0%)\n" in out.decode(), out)
    code, out, err = bench(new, "--compare", new)
    c.check(code == 0 and "0 slower, 0 missing, 0 unclear, 0 faster, 0 new, 6 same" in out.decode(), out, err)
    code, out, err = bench(new, "--compare", base, "--csv")
    rows = [(r["verdict"], r["base_value"], r["base_spread"]) for r in csv.DictReader(io.StringIO(out.decode()))]
    c.check(rows == [("slower", "10.0", "0.01"), ("faster", "10.0", "0.01"), ("unclear", "10.0", "0.2"),
                     ("unclear", "10.0", ""), ("same", "10.0", "0.0"), ("missing", "10.0", "0.0"), ("new", "", ""),
                     ("", "", "")], rows)
    code, out, err = bench(write("b.json", result("B", more=(1, 0))), "-c", base)
    c.check("the base is from another device: other; this one: B" in err and err.count("\n") == 1, err)
    two = write("two.json", *[result(number=n, more=(n + 10, 0)) for n in range(2)])
    code, out, err = bench(two, "-c", two)
    c.check(code == 0 and not err and out.count(b" 1 same") == 2, "two devices of one name", out, err)
    found = figures_of(c, new, "--compare", base, code=1)
    found["figures"][0]["parameters"] = {"part": "unknown"}
    found = figures_of(c, write("compared.json", found), "-c", new, code=1)["figures"][0]
    c.check(found["verdict"] == "new" and not found.keys() & {"base_value", "base_spread", "change"}, found)


@slow
def compared_run(c):
    """The verdicts of a new run."""
    code, out, err = bench("latency", *QUICK, "--json")
    c.check(code == 0, out, err)
    with open(at("saved.json"), "wb") as file:
        file.write(out)
    again = figures_of(c, at("saved.json"), "-c", at("saved.json"))
    c.check({f["verdict"] for f in again["figures"]} == {"same"}, again)
    code, out, err = bench("latency", *QUICK, "-c", at("saved.json"))
    c.check(code in (0, 1) and "compared with" in out.decode() and "0 missing" in out.decode(), out, err)


def members(value, schema, root):
    """Yields each pair of an object in the value and the name of a member that its schema requires."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, list):
        for item in value:
            yield from members(item, schema.get("items", {}), root)
    if isinstance(value, dict):
        then = schema.get("then" if value.get("status") == "ok" else "else", {})
        for name in schema.get("required", []) + then.get("required", []):
            yield value, name
        for key, names in schema.get("dependentRequired", {}).items():
            yield from ((value, name) for name in names if key in value)
        for name, member in value.items():
            of = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
            yield from members(member, of if isinstance(of, dict) else {}, root)


def schema(c):
    """The output matches docs/bench.schema.json. Output that breaks a rule of the schema does not match."""
    if not jsonschema:
        print("schema: not checked, because the package python3-jsonschema is missing")
        return
    with open(os.path.join(SOURCES, "docs", "bench.schema.json"), encoding="utf-8") as file:
        rules = json.load(file)
    jsonschema.Draft202012Validator.check_schema(rules)
    good = jsonschema.Draft202012Validator(rules)
    now = figures_of(c, "latency", "memory.size", *QUICK)
    crashed = figures_of(c, "latency", *QUICK, code=1, binary=MISLED, TEST_MISBEHAVE="crash")
    now["figures"][1]["spread"] = 0
    older = json.loads(json.dumps(now))
    older["figures"][0]["parameters"] = {"part": "other"}
    older["figures"][1]["value"] *= 1000
    files = [write("now.json", now), write("older.json", older)]
    compared = figures_of(c, files[0], "--compare", files[1], code=1)
    c.check(compared["figures"][1]["verdict"] == "slower" and compared["missing"], compared)
    for value in now, crashed, compared:
        c.check(good.is_valid(value), [error.message for error in good.iter_errors(value)])
        found = list(members(value, rules, rules))
        c.check(len(found) > 20, "members", len(found))
        for item, name in found:
            member = item.pop(name)
            c.check(not good.is_valid(value), "valid without", name)
            item[name] = member
        value["figures"][0]["more"] = 1
        c.check(not good.is_valid(value), "valid with an unknown member")


TABLE = """
a, ms (less is better):
  it takes\\x1b[1m
        width
  type           1         12
  int     1.50 ±3%  1234 ±30%
  long  failed         -
  int: far
  long 1 failed: wrong
  long 12 skipped: none
"""


def shown(c):
    """Tables from files: each figure with its spread, notes with all their figures, no control character."""
    def figure(parameters, value=None, spread=0.0, note=None, status="ok"):
        more = {"value": value, "spread": spread, "rounds": 9, "checked": True} if value else {"reason": note}
        return {"test": "a", "parameters": parameters, "status": status, **more, **({"note": note} if note else {})}

    def table(*figures, args=()):
        saved = dict(result(), figures=figures, tests={"a": {"unit": "ms", "definition": "it takes\x1b[1m"}})
        code, out, err = bench(write("shown.json", saved), *args)
        c.check(code == any(f["status"] == "failed" for f in figures) and not err, code, err)
        return out.decode()

    both = [figure({"type": "int", "width": 1}, 1.5, .03, "far"), figure({"type": "int", "width": 12}, 1234, .3, "far")]
    text = table(*both, figure({"type": "long", "width": 1}, None, 0, "wrong", "failed"),
                 figure({"type": "long", "width": 12}, None, 0, "none", "skipped"))
    c.check(TABLE in text, text)
    text = table(*[figure({"size": size, "path": path}, 1, 0, path == "gl" and "llvmpipe")
                   for size in ("640x480", "1280x720") for path in ("cpu", "gl")])
    c.check("\n  gl: llvmpipe\n" in text, "a note of a column", text)
    text = table(*[figure({"type": "int", "size": n}, n, .01) for n in range(1, 21)])
    c.check("  type int\n  size\n" in text and "  20    20.0 ±1%\n" in text, "too many columns become rows", text)
    many = [figure({"type": t, "size": n}, n, .01) for t in range(10) for n in range(10, 20)]
    text = table(*many)
    c.check(max(map(len, text.splitlines())) <= 80 and text.count(" ±1%") == 100, "two blocks of columns", text)
    text = table(*both, figure({"part": "other"}, 2), figure({"part": "third"}, 0.0012))
    c.check("\n  part\n  other    2.00 ±0.0%\n  third  0.0012 ±0.0%\n" in text, "other parameters", text)
    rows = list(csv.DictReader(io.StringIO(bench(*2 * [at("shown.json")], "--csv")[1].decode())))
    c.check([float(row["value"]) for row in rows] == 2 * [1.5, 1234, 2, 0.0012], "one header line", rows)


def sensors(c):
    """The table has the clock and the temperature, where both values are known."""
    saved = result(one=(1, 0))
    saved["device"].update(start={"clock_mhz": 1980, "temperature_c": 40}, end={"clock_mhz": 1410})
    code, out, err = bench(write("hot.json", saved))
    c.check(code == 0 and "\nclock at start and end: 1980, 1410 MHz\n" in out.decode() and b"temp" not in out, out)


EVIL = "</script><script>document.title = 'evil'</script><!-- <img src=x onerror=alert(1)> & \u2028 ü"


def make_page(c):
    """Writes the report of two devices and a base, with several tests. Returns its text."""
    skipped = result(EVIL, one=(1, 0), two=(2, .1), three=None)
    skipped["figures"] += [{"test": "own", "parameters": {"way": way, "n": n}, "status": "ok", "value": value,
                            "spread": .25, "rounds": 9, "checked": True, "by_event": 77}
                           for way, values in (("in", (1, 2, 40)), ("out", (3, 4, 5)))
                           for n, value in zip((1, 2, 40), values)]
    skipped["tests"].update(own={"unit": "x/s", "definition": "of another program"},
                            gone={"unit": "s", "definition": "ends early"})
    skipped["figures"].append({"test": "gone", "parameters": {}, "status": "failed", "reason": "it crashed"})
    files = [write("a.json", skipped), write("b.json", result("B", one=(3, 0)))]
    code, out, err = bench(*files, "--compare", files[0], "--report", at("report.html"))
    c.check("another device" in err, code, out, err)
    with open(at("report.html"), encoding="utf-8") as file:
        return file.read()


def page(c):
    """The page has the results of all devices, and no address of a network."""
    text = make_page(c)
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", text, re.S)
    c.check(len(scripts) == 3 == text.count("</script"), len(scripts))
    results = json.loads(scripts[0])
    c.check([r["device"]["name"] for r in results] == [EVIL, EVIL, "B"] and results[0]["label"] == "base", results)
    c.check("innerHTML" not in text and "default-src 'none'" in text and "{{" not in scripts[2], "not safe")
    c.check(not re.search(r"""(src|href|url)\s*[=(]\s*["']?(https?:)?//""", text), "an address")


# The number of pixels of each canvas, the number that are not transparent, and the colours of the series in it.
CANVASES = """Array.from(document.querySelectorAll("canvas"), (canvas) => {
  const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, found = {};
  let drawn = 0;
  for (let i = 0; i < bytes.length; i += 4) {
    drawn += bytes[i + 3] > 0;
    const name = "#" + [0, 1, 2].map((k) => bytes[i + k].toString(16).padStart(2, "0")).join("");
    if (bytes[i + 3] === 255 && colours.includes(name)) found[name] = (found[name] || 0) + 1;
  }
  return [bytes.length / 4, drawn, found];
})"""


def page_in_browser(c):
    """Chromium draws the charts and bars, on a screen, on a phone and on paper. Text stays text."""
    make_page(c)
    if not CHROMIUM:
        print("page_in_browser: left out: chromium is not installed")
        return
    browser = Browser(at("report.html"))
    try:
        shown = browser.value("document.querySelector('main').innerHTML")
        for part in ("same", "slower +200%", "three: skipped: lacks it", "A, B failed: it crashed", "event clock 77.0",
                     "40.0 </span><small>±25%", "of another program", "(base)</h3>",
                     "latency, µs (less is better)</h2>", "own, x/s</h2>", "<canvas", "&lt;script&gt;document"):
            c.check(part in shown, "the page lacks", part, shown)
        c.check("<img" not in shown, "a text became an element")
        c.check(browser.value("document.title").startswith("Benchmark: </script>"), "a text became code")
        canvases = browser.value(CANVASES)
        c.check(len(canvases) == 2, "a chart for each run with several sizes", canvases)
        for pixels, drawn, colours in canvases:
            c.check(pixels > 20000 and 500 < drawn < pixels and len(colours) == 2 and min(colours.values()) > 200,
                    "two series", pixels, drawn, colours)
        bars = browser.value("Array.from(document.querySelectorAll('.bar i'), i => i.getBoundingClientRect().width)")
        c.check(len(bars) >= 5 and max(bars) > 100 and max(bars) >= 2.9 * sorted(bars)[0], "bars", bars)
        wide = "document.documentElement.scrollWidth"
        c.check(browser.value(wide + " <= innerWidth"), "as wide as the window", browser.value(wide))
        browser.resize(360, 740, mobile=True)
        c.check(browser.value(wide) == 360, "as wide as a phone", browser.value(wide))
        narrow = browser.value("Array.from(document.querySelectorAll('canvas'), c => c.getBoundingClientRect().right)")
        c.check(len(narrow) == len(canvases) and max(narrow) <= 360, "charts as wide as a phone", narrow)
        pdf = browser.pdf()
        c.check(pdf.startswith(b"%PDF-") and pdf.rstrip().endswith(b"%%EOF") and len(pdf) > 20000, "paper", len(pdf))
        if os.environ.get("KEEP_PICTURE"):
            with open(os.environ["KEEP_PICTURE"], "wb") as file:
                file.write(browser.picture())
    finally:
        browser.close()
    c.check(not browser.errors, "errors of the page", browser.errors)


def bad_results(c):
    """Files that are no results of this format: one clear line."""
    good = write("good.json", result(one=(1, 0)))
    bad = {"empty": "", "cut": json.dumps(result(one=(1, 0)))[:-9], "list": "[]", "number": "1", "nul": "{}\0",
           "figure": '{"format": 1, "device": {"name": "x"}, '
           '"tests": {}, "figures": [{"test": "latency", "parameters": {}, "status": "ok", "value": 1, "rounds": 9}]}'}
    one = result(one=(1, 0))
    for name, member, value in [("value", "value", "1"), ("spread", "spread", "0"), ("event", "by_event", "1"),
                                ("change", "change", "1"), ("rounds", "rounds", 0)]:
        bad[name] = json.dumps(dict(one, figures=[dict(one["figures"][0], **{member: value})]))
    bad.update(measured=json.dumps(dict(one, measured=1)), tests=json.dumps(dict(one, tests=dict.fromkeys(
        ["latency", *map(str, range(256))], one["tests"]["latency"]))), missing=json.dumps(dict(one, base=one)))
    cases = [(3, "format 2, but this version reads format 1", [write("new.json", dict(result(), format=2))]),
             (3, "No such file", [at("none.json")]), (3, "No such file", [good, "-c", at("none.json")]),
             (2, "give only one", [good, "latency"]), (2, "have no effect", [good, "-n", "3"]),
             (2, "have no effect", [good, "-d", "0"]), (2, "would replace", [good, "--report", good]),
             (2, "cannot write", [good, "--report", at("none/report.html")])]
    for name, text in bad.items():
        with open(at(name + ".json"), "w", encoding="utf-8") as file:
            file.write(text)
        cases.append((3, "has no results of 'monocle bench --json'", [good, "-c", at(name + ".json")]))
    for code, text, args in cases:
        got, out, err = bench(*args)
        c.check(got == code and text in err and err.count("\n") == 1, args, got, out, err)
    if os.path.exists("/dev/full"):
        code, out, err = bench(good, "--report", "/dev/full")
        c.check(code == 1 and "cannot write /dev/full: No space left" in err and err.count("\n") == 1, code, err)


@slow
def stopped(c):
    """A run that is interrupted before the first figure keeps the page of an earlier run."""
    page = write("report.html")
    with subprocess.Popen([MISLED, "bench", "device", "latency", "--json", "--report", page], stdout=subprocess.PIPE,
                          env=environment(TEST_MISBEHAVE="hang",
                                          TEST_CHILDREN=at("children"))) as process:
        wait_until(lambda: os.path.exists(at("children")))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60 * PATIENCE)
    c.check(json.loads(out)["tests"] == {}, "tests without figures", out)
    c.check(process.returncode == 130 and os.path.getsize(page) == 0, process.returncode, os.path.getsize(page))


sys.exit(Checks().run(figures, energy, tables, listed, faults, talkative, unwritten, shapes,
                      little_memory, launches, last_column, builds, one_round, escaped, failed_table, errors, compared,
                      compared_run, shown, sensors, schema, page, page_in_browser, bad_results, stopped))
