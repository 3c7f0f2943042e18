#!/usr/bin/env python3
"""test_bench.py MONOCLE: measurements: their rows, wrong results, comparisons, errors, interruption

Images are tiny and rounds few: this tests the measurement, not the speed."""
import contextlib
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(sys.path[0] + "/../../support")
from checks import KERNELS, Checks, at, programs, slow
from live_support import environment, has_opencl, on_terminal, run

BINARY, = programs(1)
ROW = ["case", "format", "width", "height", "path", "threads", "device", "ms_median", "ms_p95", "mpix_s",
       "copy_fraction"]
PARTS = ["copy_in_ms", "upload_ms", "passes_ms", "share_ms", "download_ms", "texture_ms"]
MATRIX = "convolve=0.5 0 0 0 1 0 0 0 -0.5:bias=3"
SMALL = ["--sizes", "64x48", "-n", "3"]
MEASURES = ["histogram", "columns", "rows", "levels"]

OPENCL = has_opencl(BINARY)


def bench(*args, **keywords):
    return run(BINARY, "bench", *args, cwd=at(), **keywords)


def rows_of(c, *args, code=0, says="", **keywords):
    got, out, err = bench(*args, "--json", **keywords)
    c.check(got == code and says in err, args, "exit code", got, err)
    rows = [json.loads(line) for line in out.decode().splitlines()]
    for row in rows:
        c.check(row["ms_p5"] <= row["ms_median"] <= row["ms_p95"], args, "percentiles out of order", row)
        c.check(row["load"] >= 0 and row["processors"] >= 1, args, row)
        c.check(row["ms_median"] > 0 and len(row["samples_ms"]) == row["rounds"] > 0, args, row)
    return rows


@slow
def rows(c):
    gl = bench("filters", *SMALL, "-p", "gl", "-f", "gray")[0] == 0
    for path in ["cpu"] + OPENCL * ["opencl", "zerocopy"] + gl * ["gl"]:
        found = rows_of(c, "filters", *SMALL, "-p", path, "-f", "blur=2", "-f", MATRIX, "--formats", "nv21,rgba",
                        "-t", "1,2")
        threads = {1, 2} if path == "cpu" else {r["threads"] for r in found}
        keys = {(r["case"], r["format"], r["threads"]) for r in found}
        c.check(keys == {(k, f, t) for k in ("blur=2", MATRIX) for f in ("nv21", "rgba") for t in threads}, path, keys)
        c.check(len(found) == len(keys), path, "rows twice")
        for r in found:
            c.check(list(r)[:len(ROW)] == ROW, path, list(r))
            c.check((r["path"], r["width"], r["height"], r["rounds"]) == (path, 64, 48, 3), r)
            c.check(abs(r["mpix_s"] - 64 * 48 / r["ms_median"] / 1e3) < 1e-3 * r["mpix_s"], "mpix_s", r)
            c.check(abs(r["copy_fraction"] - r["copy_ms_median"] / r["ms_median"]) < 1e-3, "copy_fraction", r)
    found = rows_of(c, "filters", "-p", "cpu", "-t", "1", *SMALL)
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


@slow
def measures(c):
    """A measure is a row beside a plain read or, on a device, beside a copy."""
    for path in ["cpu"] + OPENCL * ["opencl"]:
        args = ["filters", *SMALL, "-p", path, "-t", "1", "--measures"]
        found, wanted = rows_of(c, *args, ",".join(MEASURES)), MEASURES if path == "cpu" else MEASURES[:3]
        c.check([r["case"] for r in found] == wanted, path, found)
        for r in found:
            c.check(list(r)[:len(ROW)] == ROW and r["format"] == "rgba", r)
            c.check((r["copy_way"] == "read") == (path == "cpu") and r["copy_ms_median"] > 0, r)
        found = rows_of(c, *args, "rows", "-f", "gray", "--formats", "nv21")
        c.check([(r["case"], r["format"]) for r in found] == [("gray", "nv21"), ("rows", "rgba")], found)
        odd = ["filters", "--sizes", "33x7", "-n", "3", "-p", path, "-t", "2", "--measures", "columns"]
        c.check([(r["case"], r["width"]) for r in rows_of(c, *odd)] == [("columns", 33)], path)
    text = bench("filters", *SMALL, "-p", "cpu", "-t", "1", "--measures", "histogram,levels")[1].decode()
    c.check("copy by: read" in text and "levels" in text, text)


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
        c.check(len(found) > len(cases) or "plain" in found[0]["device"], path, "no variant fits", keys)
        generic = None
        for r in found:
            generic = r if r["variant"] == "generic" else generic
            c.check(all(generic[k] == r[k] for k in ("case", "format")) and r["path"] == path, r, generic)
            c.check(abs(r["speedup"] - generic["ms_median"] / r["ms_median"]) < 1e-3 * r["speedup"], r, generic)
    found = {r["case"] for r in rows_of(c, "variants", "-p", "cpu", *SMALL)}
    c.check({"none", "mirror", "blur=3", "gray,sobel"} <= found, "the examples of all filters", found)
    found = rows_of(c, "variants", "-p", "cpu", *SMALL, "-f", "emboss", MONOCLE_VECTORS="plain")
    c.check([r["variant"] for r in found] == ["generic"], "variants of the plain level", found)
    code, out, err = bench("variants", "-p", "cpu", *SMALL, "-f", "blur=3")
    c.check(code == 0 and "x generic" in out.decode() and "generic  " in out.decode(), out, err)


@slow
def paths(c):
    for display in (True, False):
        kinds = (["cpu", "opencl", "zerocopy"] if OPENCL else ["cpu"]) + (["gl"] if display else [])
        env = {} if display else {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
        found = rows_of(c, "paths", *SMALL, "-p", ",".join(kinds), "-f", "blur=2,emboss", **env)
        c.check([(r["path"], r["in_flight"]) for r in found] == [(k, d) for k in kinds for d in (1, 2)], found)
        for r in found:
            c.check(r["format"] == "nv21" and r["rung"] and r["why"], r)
            c.check((r["path"] in ("cpu", "gl")) == (r["passes"] == []) and all(p["choice"] for p in r["passes"]), r)
            c.check(r["passes_ms"] > 0 and r["latency_ms"] >= r["pinned_ms"] > 0, r)
            c.check(all(p in r for p in PARTS), r)
            c.check((r["copy_in_ms"] is None) == (r["path"] == "cpu"), "copy in", r)
            drawn = r["gl"] is None or r["rung"] in ("gl-shared", "gl")
            c.check((r["texture_ms"] is None) == drawn, "texture", r)
            c.check(r["in_flight"] == 2 or r["overlap"] == 1, "overlap", r)
            c.check(display or r["gl"] is None, "a window without a display", r)


def default_paths(c):
    """Without -p, all paths that work are measured; a line names the reason for each one that is left out."""
    cl, gl = {"OCL_ICD_VENDORS": "/proc/nowhere"}, {"__EGL_VENDOR_LIBRARY_FILENAMES": "/proc/nowhere"}
    has_gl = bench("filters", *SMALL, "-p", "gl", "-f", "gray", DISPLAY="", WAYLAND_DISPLAY="")[0] == 0
    for without in {}, cl, gl, {**cl, **gl}:
        code, out, err = bench("paths", *SMALL, "-f", "gray", "--json", DISPLAY="", WAYLAND_DISPLAY="", **without)
        found = [json.loads(line)["path"] for line in out.decode().splitlines()]
        device, draws = OPENCL and cl.items() - without.items(), has_gl and gl.items() - without.items()
        want = ["cpu"] + ["opencl"] * bool(device) + ["gl"] * bool(draws) + ["zerocopy"] * bool(device)
        c.check(code == 0 and found[::2] == want == found[1::2], without, code, found)
        c.check(("no OpenCL device" in err) == (not device), without, err)
        c.check(("no GL context" in err and "leaving out the gl path" in err) == (not draws), without, err)


@slow
def device_frames(c):
    """With a display, the frames of `bench device camera` end in textures."""
    if not OPENCL:
        return
    code, out, err = bench("device", "camera.stage", "--time", "0.1", "--json")
    found = [f["parameters"] for f in json.loads(out)["figures"]]
    c.check(code == 0 and {p["to"] for p in found} == {"texture"}, code, found, err)
    c.check({p["path"] for p in found if p["stage"] == "texture"} >= {"cpu", "opencl"}, found)


def tables(c):
    code, out, err = bench("filters", "-p", "cpu", "-t", "1", *SMALL, "-f", "gray", "-f", MATRIX)
    text = out.decode()
    c.check(code == 0 and err == "" and "Mpixel/s" in text and "of copy" in text and "gray" in text, text, err)
    code, out, err = bench("filters", "-p", "cpu", "-t", "1", *SMALL, "-f", "gray", "-f", "blur=2,gray", "--csv")
    table = list(csv.DictReader(io.StringIO(out.decode())))
    c.check(code == 0 and [r["case"] for r in table] == ["gray", "blur=2,gray"], out)
    c.check(list(table[0])[:len(ROW)] == ROW and float(table[1]["ms_median"]) > 0, table)


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


def scaled(rows, factor):
    """Returns the rows of a run whose cases took `factor` times as long, and whose copies took the same time."""
    made = []
    for r in rows:
        r = dict(r, ms_median=r["ms_median"] * factor, samples_ms=[s * factor for s in r["samples_ms"]])
        made.append(r)
    return made


def write(name, rows, as_array=False):
    with open(at(name), "w", encoding="utf-8") as f:
        f.write(json.dumps(rows) if as_array else "".join(json.dumps(r) + "\n" for r in rows))


def compare(c):
    args = ["filters", "-p", "cpu", "-t", "1", "--sizes", "64x48", "-n", "12", "-f", "gray", "-f", "blur=2"]
    base = rows_of(c, *args)
    write("fast.json", scaled(base, 0.02))
    found = rows_of(c, *args, "-c", at("fast.json"), code=1)
    c.check([r["verdict"] for r in found] == ["slower", "slower"], found)
    c.check(all(r["change"] > 5 and r["p"] < 0.001 for r in found), found)
    write("slow.json", scaled(base, 50), as_array=True)
    found = rows_of(c, *args, "-c", at("slow.json"))
    c.check([r["verdict"] for r in found] == ["faster", "faster"], found)
    # The plain copy is slower by the same factor: the machine is slower, not the filter.
    write("calm.json", [dict(r, copy_ms_median=r["copy_ms_median"] / 10000) for r in scaled(base, 0.02)])
    found = rows_of(c, *args, "-c", at("calm.json"))
    c.check([r["verdict"] for r in found] == ["same", "same"], found)
    # The medians differ, but the rounds scatter widely.
    write("wild.json", [dict(r, ms_median=r["ms_median"] / 50, samples_ms=[s * f for s in r["samples_ms"]
                                                                          for f in (0.01, 100)]) for r in base])
    found = rows_of(c, *args, "-c", at("wild.json"))
    c.check([r["verdict"] for r in found] == ["unclear", "unclear"], found)
    write("other.json", [dict(r, device="another") for r in base])
    found = rows_of(c, *args, "-c", at("other.json"))
    c.check([r["verdict"] for r in found] == ["new", "new"] and found[0]["change"] is None, found)
    code, out, err = bench(*args, "-c", at("fast.json"))
    c.check(code == 1 and out.decode().count("slower") >= 2 and "too few" not in err, out, err)
    code, out, err = bench(*["4" if a == "12" else a for a in args], "-c", at("fast.json"))
    c.check(code == 0 and "4 rounds are too few" in err, out, err)
    write("short.json", [dict(r, samples_ms=r["samples_ms"][:3]) for r in scaled(base, 0.02)])
    c.check("3 rounds are too few" in bench(*args, "-c", at("short.json"))[2], "too short a base")
    write("none.json", [dict(r, samples_ms=[], rounds=0) for r in scaled(base, 0.02)])
    code, out, err = bench(*args, "-c", at("none.json"), "--json")
    found = [json.loads(line) for line in out.splitlines()]
    c.check(code == 0 and [(r["verdict"], r["p"]) for r in found] == [("unclear", 1)] * 2, code, found)
    c.check(err.count("\n") == 1 and "0 rounds are too few" in err, err)


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
            (2, "--threads is '0', but must be between 1", ["filters", "-t", "1,0"]),
            (2, "is too long; give at most 16 items", ["filters", "-t", ",".join(["1"] * 17)]),
            (2, "contradict each other", ["filters", "-n", "3", "--time", "3"]),
            (2, "contradict each other", ["filters", "--json", "--csv"]),
            (2, "blurr", ["filters", "-f", "gray", "-f", "blurr"]),
            (2, "even width", ["filters", "-p", "cpu", "--formats", "yuyv", "--sizes", "33x7"]),
            (3, "nothing.json", ["filters", "-c", at("nothing.json")]),
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
        c.check(most < 79 or any(line.startswith(b"round 1,") for line in shown), columns, shown)
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
            names = {json.loads(line)["device"] for line in out.splitlines()}
            c.check(code == 0 and len(names) == 1 and names.pop().startswith(wanted), wanted, out, err)


def interrupted(c):
    master, terminal = os.openpty()  # it shows every round; 1000 rounds take at least ten seconds
    with subprocess.Popen([BINARY, "bench", "filters", "-p", "cpu", "-t", "1", "--sizes", "64x48", "-f", "gray",
                           "--time", "600", "--json"], stdout=subprocess.PIPE, stderr=terminal, env=environment()) as p:
        os.close(terminal)
        said = b""
        while b"round 2," not in said:
            said += os.read(master, 4096)
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=60)
    with contextlib.suppress(OSError):  # the other end is closed
        while more := os.read(master, 4096):
            said += more
    os.close(master)
    c.check(p.returncode == 130 and b"monocle:" not in said, p.returncode, said)
    found = [json.loads(line) for line in out.splitlines()]
    c.check(len(found) == 1 and found[0]["rounds"] > 0, "rows of an interrupted run", out)


sys.exit(Checks().run(rows, measures, variants, paths, default_paths, device_frames, tables, wrong_pictures, compare,
                      errors, narrow, processor_name, interrupted))
