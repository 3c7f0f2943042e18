#!/usr/bin/env python3
"""test_bench.py MONOCLE: measurements: their rows, wrong results, comparisons, errors, interruption

Images are tiny and rounds few: this tests the measurement, not the speed."""
import contextlib
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

sys.path.append(sys.path[0] + "/../../support")
from checks import KERNELS, SOURCES, Checks, at, programs, slow
from live_support import environment, has_opencl, on_terminal, run

BINARY, = programs(1)
PARAMETERS = ["case", "format", "path", "threads", "size"]
COLUMNS = ["device", "name", "test", "parameters", "status", "value", "by_event", "unit", "spread", "rounds", "checked"]
MATRIX = "convolve=0.5 0 0 0 1 0 0 0 -0.5:bias=3"
SMALL = ["--sizes", "64x48", "-n", "3"]
MEASURES = ["histogram", "columns", "rows", "levels"]

OPENCL = has_opencl(BINARY)


def bench(*args, **keywords):
    return run(BINARY, "bench", *args, cwd=at(), **keywords)


def result_of(c, *args, code=0, says="", **keywords):
    got, out, err = bench(*args, "--json", **keywords)
    c.check(got == code and says in err and out.count(b"\n") == 1, args, "exit code", got, err)
    found = json.loads(out)
    c.check(found["device"]["load"] >= 0 and found["device"]["processors"] >= 1, args, found["device"])
    for f in found["figures"]:
        c.check(f["status"] == "failed" or (f["value"] > 0 and f["checked"]), args, f)
    return found


def rows_of(c, *args, **keywords):
    """Returns the figures that were measured as dictionaries with their parameters, and with the values of the tests
    that follow from them: "filters.copy" is "copy"."""
    found = result_of(c, *args, **keywords)["figures"]
    rows = [dict(f, **f["parameters"]) for f in found if f["test"] == args[0] and f["status"] == "ok"]
    for row in rows:
        c.check(len(row["samples"]) == row["rounds"] > 0, args, row)
        c.check(row["value"] == sorted(row["samples"])[(row["rounds"] - 1) // 2], args, "the median", row)
        for f in found:
            more = f["parameters"].items() - row["parameters"].items()
            if f["test"] != args[0] and f["parameters"].items() >= row["parameters"].items():
                row["-".join([f["test"].partition(".")[2]] + [v for _, v in more])] = f["value"]
    return rows


@slow
def rows(c):
    gl = bench("filters", *SMALL, "-p", "gl", "-f", "gray")[0] == 0
    chains = "blur=2", MATRIX, "text"
    for path in ["cpu"] + OPENCL * ["opencl", "zerocopy"] + gl * ["gl"]:
        named = [word for chain in chains for word in ("-f", chain)]
        found = rows_of(c, "filters", *SMALL, "-p", path, *named, "--formats", "nv21,rgba", "-t", "1,2")
        threads = {1, 2} if path == "cpu" else {r["threads"] for r in found}
        keys = {(r["case"], r["format"], r["threads"]) for r in found}
        c.check(keys == {(k, f, t) for k in chains for f in ("nv21", "rgba") for t in threads}, path, keys)
        c.check(len(found) == len(keys), path, "rows twice")
        for r in found:
            c.check(list(r["parameters"]) == PARAMETERS, path, list(r))
            c.check((r["path"], r["size"], r["rounds"]) == (path, "64x48", 3), r)
            c.check(abs(r["speed"] - 64 * 48 / r["value"] / 1e3) < 1e-3 * r["speed"] and r["copy"] > 0, "speed", r)
            c.check(("host" in r) == (path != "cpu"), "the host's clock", r)
    found = rows_of(c, "filters", "-p", "cpu", "-t", "1", *SMALL)
    c.check(found[5]["case"].startswith("convolve=0.11 -0.07 ") and "0.05.." not in found[5]["case"], found[5])
    formats = ["nv21", "yuyv"] + 5 * ["rgba"] + ["nv21"] + 7 * ["rgba"]
    c.check([r["format"] for r in found] == formats, "default cases", found)
    c.check([r["case"] for r in found[7:]] == ["blur=2,gray,emboss", "otsu", "ridge=3", "warp=road"] + MEASURES, found)
    found = rows_of(c, "filters", "-p", "cpu", "-t", "1", *SMALL, "--formats", "YUY2,grey")
    c.check(len(found) == 20, "default chains in two formats", len(found))
    found = rows_of(c, "filters", "-p", "cpu", "-t", "1", *SMALL, "-f", "all")
    c.check({"none", "median", "flip"} < {r["case"] for r in found}, "all filters", found)
    found = rows_of(c, "filters", "-p", "cpu", "-t", "1", "--sizes", "1x1,33x7", "-f", "none", "--time", "0.1")
    c.check(len(found) == 2 and found[0]["rounds"] >= 3, "rounds that fit", found)
    found = rows_of(c, "filters", "-p", "cpu", "-t", "1", "--sizes", "640x480", "-f", "median", "--time", "0.1")
    c.check(3 <= found[0]["rounds"] < 30, "rounds of 10 ms at the least that fit", found)


def masks(c):
    """The expected result of a mask needs the filters that it limits."""
    shutil.copy(os.path.join(SOURCES, "tests/data/small.png"), at("m.png"))
    chains = "blur=2,within=m.png", "gray,keep,blur=2,emboss,within=m.png,sharpen", "keep,blur,keep,gray,within=m.png"
    found = rows_of(c, "filters", *SMALL, "-p", "cpu", "-t", "1", *(word for f in chains for word in ("-f", f)))
    c.check([r["case"] for r in found] == list(chains), found)


@slow
def measures(c):
    """A measure is a row beside a plain read or, on a device, beside a copy."""
    for path in ["cpu"] + OPENCL * ["opencl"]:
        args = ["filters", *SMALL, "-p", path, "-t", "1", "--measures"]
        found, wanted = rows_of(c, *args, ",".join(MEASURES)), MEASURES if path == "cpu" else MEASURES[:3]
        c.check([r["case"] for r in found] == wanted, path, found)
        for r in found:
            c.check(list(r["parameters"]) == PARAMETERS and r["format"] == "rgba" and r["copy"] > 0, r)
        found = rows_of(c, *args, "rows", "-f", "gray", "--formats", "nv21")
        c.check([(r["case"], r["format"]) for r in found] == [("gray", "nv21"), ("rows", "rgba")], found)
        odd = ["filters", "--sizes", "33x7", "-n", "3", "-p", path, "-t", "2", "--measures", "columns"]
        c.check([(r["case"], r["size"]) for r in rows_of(c, *odd)] == [("columns", "33x7")], path)
    text = bench("filters", *SMALL, "-p", "cpu", "-t", "1", "--measures", "histogram,levels")[1].decode()
    c.check("\nfilters.copy, %:\n" in text and "levels" in text, text)


@slow
def variants(c):
    """Each case has a row for the generic code, then one for each variant that fits."""
    for path, chains in [("cpu", ["emboss", "mirror,median"]), ("opencl", ["blur=3", "mirror,blur=9"])]:
        if path == "opencl" and not OPENCL:
            continue
        found = rows_of(c, "variants", "-p", path, *SMALL, "-f", chains[0], "-f", chains[1], "--formats", "rgba,nv21")
        cases = [(r["case"], r["format"]) for r in found if r["variant"] == "generic"]
        c.check(cases == [(k, f) for k in chains for f in ("rgba", "nv21")], path, cases)
        keys = {(r["case"], r["format"], r["variant"]) for r in found}
        c.check(len(keys) == len(found), path, "rows twice", keys)
        c.check(len(found) > len(cases), path, "no variant fits", keys)
        generic = None
        for r in found:
            generic = r if r["variant"] == "generic" else generic
            c.check(all(generic[k] == r[k] for k in ("case", "format")) and r["path"] == path, r, generic)
            c.check(abs(r["speedup"] - generic["value"] / r["value"]) < 1e-3 * r["speedup"], r, generic)
    found = {r["case"] for r in rows_of(c, "variants", "-p", "cpu", *SMALL)}
    c.check({"none", "mirror", "blur=3", "gray,sobel"} <= found, "the examples of all filters", found)
    found = rows_of(c, "variants", "-p", "cpu", *SMALL, "-f", "emboss", MONOCLE_VECTORS="plain")
    c.check([r["variant"] for r in found] == ["generic"], "variants of the plain level", found)
    code, out, err = bench("variants", "-p", "cpu", *SMALL, "-f", "blur=3")
    c.check(code == 0 and "variants.speedup, x:" in out.decode() and " generic " in out.decode(), out, err)


@slow
def paths(c):
    for display in (True, False):
        kinds = (["cpu", "opencl", "zerocopy"] if OPENCL else ["cpu"]) + (["gl"] if display else [])
        env = {} if display else {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
        found = rows_of(c, "paths", *SMALL, "-p", ",".join(kinds), "-f", "blur=2,emboss", **env)
        c.check([(r["path"], r["frames"]) for r in found] == [(k, d) for k in kinds for d in (1, 2)], found)
        for r in found:
            stages = {key.partition("-")[2] for key in r if key.startswith("stage-")}
            c.check(r["format"] == "nv21" and r["to"] == ("texture" if display else "memory"), r)
            c.check(r["stage-passes"] > 0 and r["stage-latency"] >= r["stage-pinned"] > 0, r)
            c.check(abs(r["speed"] - 1e3 / r["value"]) < 1e-3 * r["speed"], r)
            c.check(("copy_in" in stages) == (r["path"] != "cpu"), "copy in", r)
            drawn = not display or r["path"] == "gl" or "mode gl-shared" in r.get("note", "")
            c.check(("texture" in stages) == (not drawn), "texture", r)
            c.check(r["path"] == "gl" or ("sharing mode" in r.get("note", "")) == (r["path"] != "cpu"), "note", r)


def default_paths(c):
    """Without -p, all paths that work are measured; a line names the reason for each one that is left out."""
    cl, gl = {"OCL_ICD_VENDORS": "/proc/nowhere"}, {"__EGL_VENDOR_LIBRARY_FILENAMES": "/proc/nowhere"}
    has_gl = bench("filters", *SMALL, "-p", "gl", "-f", "gray", DISPLAY="", WAYLAND_DISPLAY="")[0] == 0
    for without in {}, cl, gl, {**cl, **gl}:
        code, out, err = bench("paths", *SMALL, "-f", "gray", "--json", DISPLAY="", WAYLAND_DISPLAY="", **without)
        found = [f["parameters"]["path"] for f in json.loads(out)["figures"] if f["test"] == "paths"]
        device, draws = OPENCL and cl.items() - without.items(), has_gl and gl.items() - without.items()
        want = ["cpu"] + ["opencl"] * bool(device) + ["gl"] * bool(draws) + ["zerocopy"] * bool(device)
        c.check(code == 0 and found[::2] == want == found[1::2], without, code, found)
        c.check(("no OpenCL device" in err) == (not device), without, err)
        c.check(("no GL context" in err and "leaving out the gl path" in err) == (not draws), without, err)


def tables(c):
    args = "filters", "-p", "cpu", "-t", "1", *SMALL
    code, out, err = bench(*args, "-f", "gray", "-f", MATRIX)
    text = out.decode()
    c.check(code == 0 and err == "" and "\nfilters, ms (less is better):\n" in text, text, err)
    c.check("\nfilters.speed, Mpixel/s:\n" in text and "\n  gray  " in text and "; path cpu; " in text, text)
    c.check("\n  convolve=0.5 0 0 ..-0.5:bias=3  " in text.replace("\xa0", " "), "a long chain", text)
    code, out, err = bench(*args, "-f", "gray", "-f", "blur=2,gray", "--csv")
    table = [r for r in csv.DictReader(io.StringIO(out.decode())) if r["test"] == "filters"]
    c.check(code == 0 and [r["parameters"].partition(" ")[0] for r in table] == ["case=gray", "case=blur=2,gray"], out)
    c.check(list(table[0])[:len(COLUMNS)] == COLUMNS and float(table[1]["value"]) > 0 and not table[0]["device"], table)
    c.check([(r["case"], r["format"], r["path"], r["size"]) for r in table] ==
            [("gray", "rgba", "cpu", "64x48"), ("blur=2,gray", "rgba", "cpu", "64x48")], "a column each", out)
    long = "convolve=" + " ".join(f"0.1{n:02}" for n in range(25))
    found = rows_of(c, *args, "-f", long, "-f", long[:-1] + "5")
    c.check(found[0]["case"] != found[1]["case"], "chains that differ at their end", found)


def saved(c):
    """Saved results match the schema, are shown again, and are a page with charts."""
    code, out, err = bench("paths", "-p", "cpu", *SMALL, "-f", "gray", "--json", "--report", at("paths.html"))
    c.check(code == 0 and "frames/s" in out.decode(), out, err)
    with open(at("paths.json"), "wb") as file:
        file.write(out)
    if jsonschema:
        with open(os.path.join(SOURCES, "docs", "bench.schema.json"), encoding="utf-8") as file:
            jsonschema.Draft202012Validator(json.load(file)).validate(json.loads(out))
    with open(at("paths.html"), encoding="utf-8") as file:
        c.check('"paths.stage"' in file.read(), "the page")
    code, again, err = bench("paths", at("paths.json"), "--json")
    c.check(code == 0 and json.loads(again) == json.loads(out), again, err)
    code, again, err = bench("paths", at("paths.json"))
    table = again.decode().partition("\npaths, ms (less is better):\n")[2]
    c.check(code == 0 and re.search(r" frame +fps +wait +copies +filters +latency\n(  [12] .*\n){2}\n", table), table)
    c.check("paths.stage" not in table and max(map(len, table.splitlines())) <= 80, "one row for each path", table)


def concludes(c):
    """The fastest path, the reason and doubts, in the table and on the page."""
    def figure(test, value, spread, path, **more):
        return {"test": test, "status": "ok", "value": value, "spread": spread, "rounds": 9, "checked": True,
                "parameters": {"case": "gray", "format": "nv21", "to": "memory", "path": path, "threads": 2,
                               "frames": 1, "size": "640x480", **more}}

    def says(load, spread, slower, **device):
        stages = [figure("paths.stage", ms, spread, "opencl", stage=stage)
                  for stage, ms in (("copy_in", .25), ("upload", .5), ("passes", .125))]
        result = {"format": 1, "monocle": "1.0.0", "measured": "2026-11-29T00:00:00Z", "tests":
                  {name: {"unit": "ms", "definition": name} for name in ("paths", "paths.stage")},
                  "device": {"name": "d", "processors": 2, "load": load, **device}, "figures":
                  [figure("paths", 4, spread, "cpu", frames=2), figure("paths", 2, spread, "cpu"),
                   figure("paths", slower, spread, "opencl"), *stages]}
        with open(at("r.json"), "w", encoding="utf-8") as file:
            json.dump(result, file)
        code, out, err = bench("paths", at("r.json"), "--report", at("r.html"))
        with open(at("r.html"), encoding="utf-8") as file:
            page = file.read()
        text = " ".join(out.decode().split())
        c.check(code == 0, err)
        for name in "doubt", "conclusions":
            told = json.loads(re.search(f'"{name}": ("[^"]*"|\\[[^]]*\\])', page)[1])
            c.check(all(line in text for line in ([told] if isinstance(told, str) else told)), name, told, text)
        return text

    text = says(0.5, .01, 6)
    c.check("cpu is fastest for 640x480 and gray: 2 ms per frame, 500 frames/s, 1 in flight, because there is no GPU; "
            "opencl takes 3.0 times as long." in text and "say little" not in text, text)
    text = says(0.5, .01, 380)
    c.check("opencl takes 190 times as long." in text, text)
    text = says(0.5, .01, 6, type="gpu")
    c.check("1 in flight: opencl needs 0.75 ms for copies and 0.125 ms for the filters; opencl" in text, text)
    text = says(11, .01, .5, type="gpu")
    c.check("opencl is fastest" in text and "its filters take 0.125 ms" in text, text)
    c.check("say little: at the start the load was 11.0 on 2 processors. Measure" in text, text)
    text = says(2, 1.15, 2.5)
    c.check("cpu or opencl for 640x480" in text and "the spread hides which one is fastest" in text, text)
    c.check("on 2 processors, and most figures have a spread above 20%." in text, text)


def wrong_pictures(c):
    """A kernel that computes wrong bytes is an error and is not measured."""
    if not OPENCL:
        return
    shutil.copytree(KERNELS, at("kernels"))
    with open(at("kernels/gray.cl"), encoding="utf-8") as f:
        text = f.read()
    c.check("p.r = y;" in text, "gray.cl is not as this test expects it")
    with open(at("kernels/gray.cl"), "w", encoding="utf-8") as f:
        f.write(text.replace("p.r = y;", "p.r = y ^ 1;"))
    args = ["filters", "-p", "opencl", *SMALL, "-f", "gray", "-f", "invert", "--kernels", at("kernels")]
    found = rows_of(c, *args, code=1, says="gray from rgba 64x48 on the opencl path differs from the cpu path")
    c.check([r["case"] for r in found] == ["invert"], "only the right one is measured", found)
    with open(at("kernels/measures.cl"), "a+", encoding="utf-8") as f:
        f.seek(0)
        text = f.read()
        c.check("values[first + y] = total;" in text, "measures.cl is not as this test expects it")
        f.truncate(0)
        f.write(text.replace("values[first + y] = total;", "values[first + y] = total + 1;"))
    measured = ["filters", "-p", "opencl", *SMALL, "--measures", "rows,columns", "--kernels", at("kernels")]
    found = rows_of(c, *measured, code=1,
                    says="rows from rgba 64x48 on the opencl path differs from the cpu path: value 0 is")
    c.check([r["case"] for r in found] == ["columns"], "only the right measure", found)
    code, _, err = bench("variants", "-p", "opencl", *SMALL, "-f", "gray", "--kernels", at("kernels"))
    c.check(code == 1 and "variant generic differs from the cpu path" in err, code, err)
    code, _, err = bench("paths", "-p", "opencl", *SMALL, "-f", "gray", "--kernels", at("kernels"))
    c.check(code == 1 and "differs from the cpu path" in err, code, err)


def changed(found, values=1.0, samples=None, copies=1.0, **device):
    """Returns the result of a run whose cases took `values` times as long, and whose copies `copies` times."""
    made = json.loads(json.dumps(found))
    made["device"].update(device)
    for f in made["figures"]:
        if f["test"] == "filters":
            f["value"] *= values
            f["samples"] = [s * k for s in f["samples"] for k in samples or [values]]
        if f["test"] == "filters.copy":
            f["value"] *= copies / values
    return made


def write(name, value):
    with open(at(name), "w", encoding="utf-8") as f:
        f.write(json.dumps(value) + "\n")
    return at(name)


def compare(c):
    args = ["filters", "-p", "cpu", "-t", "1", "--sizes", "64x48", "-n", "12", "-f", "gray", "-f", "blur=2"]
    base = result_of(c, *args)

    def verdicts(code, name, **how):
        found = result_of(c, *args, "-c", write(name, changed(base, **how)), code=code)["figures"]
        c.check(all("verdict" not in f for f in found if f["test"] != "filters"), "a derived figure is judged", found)
        return [f for f in found if f["test"] == "filters"]

    found = verdicts(1, "fast.json", values=0.02)
    c.check([r["verdict"] for r in found] == ["slower", "slower"], found)
    c.check(all(r["change"] > 5 and r["p"] < 0.001 for r in found), found)
    found = verdicts(0, "slow.json", values=50)
    c.check([r["verdict"] for r in found] == ["faster", "faster"], found)
    # The plain copy is slower by the same factor: the machine is slower, not the filter.
    found = verdicts(0, "calm.json", values=0.02, copies=1e-4)
    c.check([r["verdict"] for r in found] == ["same", "same"], found)
    # The medians differ, but the rounds scatter widely.
    found = verdicts(0, "wild.json", values=0.02, samples=(0.01, 100))
    c.check([r["verdict"] for r in found] == ["unclear", "unclear"], found)
    code, out, err = bench(*args, "-c", write("other.json", changed(base, name="another")))
    c.check("the base is from another device: another" in err and "compared with another" in out.decode(), out, err)
    code, out, err = bench(*args, "-c", at("fast.json"))
    c.check(code == 1 and out.decode().count("slower") >= 2 and "too few" not in err, out, err)
    code, out, err = bench(*["4" if a == "12" else a for a in args], "-c", at("fast.json"))
    c.check(code == 0 and "4 rounds are too few" in err, out, err)
    short = changed(base, values=0.02)
    for f in short["figures"]:
        f["samples"] = f.get("samples", [])[:3]
    c.check("3 rounds are too few" in bench(*args, "-c", write("short.json", short))[2], "too short a base")
    gone = changed(base)
    gone["figures"] = [dict(f, parameters=dict(f["parameters"], case="gone")) for f in gone["figures"]]
    found = result_of(c, *args, "-c", write("gone.json", gone), code=1)
    c.check([f["verdict"] for f in found["figures"] if "verdict" in f] == ["new", "new"], found)
    c.check([f["test"] for f in found["missing"]] == ["filters", "filters"], found["missing"])


def errors(c):
    write("empty.json", [])
    with open(at("broken.json"), "w", encoding="utf-8") as f:
        f.write('{"case":"gray"')
    for code, text, args in [
            (2, "name a measurement", []), (2, "did you mean filters?", ["filter"]),
            (2, "unexpected argument", ["filters", "paths"]),
            (2, "--sizes is '640'", ["filters", "--sizes", "640"]),
            (2, "did you mean yuyv?", ["filters", "--formats", "rgba,yuvy"]),
            (2, "did you mean rows?", ["filters", "--measures", "histogram,row"]),
            (2, "--measures is an option of 'bench filters'", ["variants", "--measures", "rows"]),
            (2, "there is no pixel format ''", ["filters", "--formats", "rgba,"]),
            (2, "did you mean opencl?", ["filters", "-p", "opencv"]),
            (2, "-p cpu does not use one", ["filters", "-p", "cpu", "-d", "0"]),
            (2, "-p cpu does not use one", ["paths", "-p", "cpu", "-d", "cpu"]),
            (2, "-p cpu does not use them", ["filters", "-p", "cpu", "--kernels", KERNELS]),
            (2, "--threads is '0', but must be between 1", ["filters", "-t", "1,0"]),
            (2, "is too long; give at most 16 items", ["filters", "-t", ",".join(["1"] * 17)]),
            (2, "contradict each other", ["filters", "-n", "3", "--time", "3"]),
            (2, "contradict each other", ["filters", "--json", "--csv"]),
            (2, "blurr", ["filters", "-f", "gray", "-f", "blurr"]),
            (2, "even width", ["filters", "-p", "cpu", "--formats", "yuyv", "--sizes", "33x7"]),
            (3, "nothing.json", ["filters", "-c", at("nothing.json")]),
            (2, "takes only files of saved results", ["filters", "gray"]),
            (3, "has no results of 'monocle bench --json'", ["filters", "-c", at("empty.json")]),
            (3, "has no results of 'monocle bench --json'", ["filters", "-c", at("broken.json")])]:
        got, out, err = bench(*args)
        c.check(got == code and text in err and err.count("\n") == 1 and out == b"", args, got, err)
    code, out, err = bench("filters", *SMALL, "-p", "opencl", "-f", "gray", OCL_ICD_VENDORS="/proc/nowhere")
    c.check(code == 3 and "no OpenCL device" in err, code, err)
    code, out, err = bench("filters", *SMALL, "-f", "gray", OCL_ICD_VENDORS="/proc/nowhere")
    c.check(code == 0 and "leaving out the paths that need one" in err and out, code, err)


def narrow(c):
    """A progress line fits into the terminal's width. A terminal that cannot replace a line gets none."""
    args = "bench", "filters", *SMALL, "-p", "cpu", "-t", "1", "-f", "gray"
    for columns, most in (20, 19), (80, 79), (1, 0), (0, 200):
        code, said = on_terminal(BINARY, *args, columns=columns)
        shown = said.split(b"\r\x1b[K")[1:]
        c.check(code == 0 and len(shown) > 3, columns, code, said)
        c.check(max(len(line) for line in shown) <= most, columns, shown)
        c.check(most < 79 or any(line.startswith(b"filters: round 1 of 3") for line in shown), columns, shown)
    code, said = on_terminal(BINARY, *args, TERM="dumb")
    c.check(code == 0 and said == b"", "a terminal that replaces nothing", code, said)


def processor_name(c):
    """The model name is optional: Linux on ARM has none in /proc/cpuinfo. Mounts such a file over it."""
    for text, wanted in (("model name\t: Vector 9000 @ 1 GHz\n", "Vector 9000 @ 1 GHz, "),
                         ("CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n", os.uname().machine + ", ")):
        with tempfile.NamedTemporaryFile("w") as cpuinfo:
            cpuinfo.write("processor\t: 0\n" + text)
            cpuinfo.flush()
            mounted = ["unshare", "--map-root-user", "--mount", "sh", "-c",
                       'mount --bind "$0" /proc/cpuinfo && exec "$@"', cpuinfo.name]
            if subprocess.run([*mounted, "true"], capture_output=True).returncode != 0:
                print("processor_name: skipped: nothing can be mounted here")
                return
            code, out, err = run(*mounted, BINARY, "bench", "filters", "-p", "cpu", "-t", "1", *SMALL, "-f", "none",
                                 "--json")
            c.check(code == 0 and json.loads(out)["device"]["name"].startswith(wanted), wanted, out, err)


def interrupted(c):
    master, terminal = os.openpty()  # it shows every round; 1000 rounds take at least ten seconds
    with subprocess.Popen([BINARY, "bench", "filters", "-p", "cpu", "-t", "1", "--sizes", "64x48", "-f", "gray",
                           "--time", "600", "--json"], stdout=subprocess.PIPE, stderr=terminal, env=environment()) as p:
        os.close(terminal)
        said = b""
        while b"round 2 of" not in said:
            said += os.read(master, 4096)
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=60)
    with contextlib.suppress(OSError):  # the other end is closed
        while more := os.read(master, 4096):
            said += more
    os.close(master)
    c.check(p.returncode == 130 and b"monocle:" not in said, p.returncode, said)
    found = [f["rounds"] for f in json.loads(out)["figures"] if f["test"] == "filters"]
    c.check(len(found) == 1 and found[0] > 0, "figures of an interrupted run", out)


sys.exit(Checks().run(rows, masks, measures, variants, paths, default_paths, tables, saved, concludes, wrong_pictures,
                      compare, errors, narrow, processor_name, interrupted))
