#!/usr/bin/env python3
"""test_live.py MONOCLE: the live view without a window: sources, JSON, exit codes, signals, recordings, memory"""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, slow
from live_support import (PATIENCE, SANITIZED, environment, events, has_opencl, on_terminal, picture, png, run, y4m,
                          y4m_pictures)

BINARY, = programs(1)
STATE = {"fps": float, "low_fps": float, "age_ms": float, "frames": int, "skipped": int, "path": str, "sharing": str,
         "device": str, "chain": str, "building": bool, "selected": str, "split": str, "divider": float,
         "paused": bool, "mirror": bool, "flip": bool, "rotate": str, "camera": str, "titles": str, "overlay": str,
         "help": bool, "vsync": bool, "fullscreen": bool, "message": str}
SUMMARY = {"frames": int, "skipped": int, "path": str, "sharing": str, "device": str, "fps": float,
           "time_to_first_frame_ms": float, "age": dict, "stages": dict, "captured": int, "damaged": int, "lost": int,
           "outages": int, "in": str, "why": str, "camera": str, "chain": str, "titles": str}


def live(*args, **keywords):
    return run(BINARY, "live", *args, cwd=at(), **keywords)


def has_fields(c, event, fields):
    for name, kind in fields.items():
        ok = name in event and (isinstance(event[name], kind) or (kind is float and isinstance(event[name], int)))
        c.check(ok, event["event"], "field", name, "is", event.get(name))


def summary_of(c, args, frames, **keywords):
    """Runs headless with --json and checks the fields of the events. Returns the events."""
    code, out, err = live(*args, "--headless", "--json", **keywords)
    c.check(code == 0, args, "exit code", code, err)
    said = events(out)
    c.check(said and said[0]["event"] == "start", args, "starts with", said[:1])
    c.check(said and said[-1]["event"] == "summary", args, "ends with", said[-1:])
    last = said[-1]
    has_fields(c, last, SUMMARY)
    c.check(last["frames"] == frames, args, "frames", last["frames"], "not", frames)
    for name, stage in last["stages"].items():
        for figure in ("median_ms", "p95_ms", "p99_ms"):
            c.check(stage[figure] >= 0, args, name, figure)
        c.check(stage["median_ms"] <= stage["p95_ms"] <= stage["p99_ms"], args, name, "percentiles out of order")
        c.check(stage["clock"] in ("host", "device"), args, name, "clock")
    return said


def sources(c):
    words = " ".join(live("--help")[1].decode().split())
    named = words.partition("Pixel formats:")[2].partition(", and mjpeg")[0]
    formats = named.replace(",", " ").split()
    c.check(len(formats) > 10 and "nv12" in formats, "formats in the help:", formats)
    for name in formats:
        said = summary_of(c, ["pattern:64x48@100," + name, "-f", "gray", "-p", "cpu", "--frames", "3"], 3)
        c.check(said[0]["pixel_format"] == name, name, said[0])
    png(at("one.png"), 33, 17)
    summary_of(c, [at("one.png"), "-f", "blur", "-p", "cpu"], 1)
    os.makedirs(at("many"), exist_ok=True)
    for i in range(4):
        png(at("many/%d.png" % i), 20, 10)
    summary_of(c, [at("many"), "-p", "cpu", "--fast"], 4)
    for colour in ("420jpeg", "422", "444", "mono"):
        data = y4m(31, 17, colour, 5)
        with open(at("clip.y4m"), "wb") as f:
            f.write(data)
        last = events(live(at("clip.y4m"), "-p", "cpu", "--headless", "--json")[1])[-1]  # at the film's rate
        c.check(last["frames"] + last["skipped"] == 5, colour, last)
        summary_of(c, [at("clip.y4m"), "-p", "cpu", "--fast", "--loop", "--frames", "12"], 12)
        summary_of(c, ["-", "-p", "cpu", "--fast"], 5, stdin=data)
    with open(at("raw.nv21"), "wb") as f:
        f.write(bytes(range(256)) * 18)  # four frames of 32x24: 1152 bytes each
    summary_of(c, [at("raw.nv21"), "--size", "32x24", "--pixel-format", "nv21", "-p", "cpu", "--fast"], 4)


def progress(c):
    """Events of progress come at most once a second: counts of the test's own clock would depend on the load."""
    start = time.monotonic()
    said = summary_of(c, ["pattern:64x48@100", "-f", "blur=3,contrast", "-p", "cpu", "--frames", "120"], 120)
    took = time.monotonic() - start
    states = [s for s in said if s["event"] == "progress"]
    c.check(1 <= len(states) <= took + 1, "at most one progress event a second:", len(states))
    for s in states:
        has_fields(c, s, STATE)
        c.check(s["chain"] == "blur=3,contrast" and s["path"] == "cpu" and s["sharing"] == "cpu", s)
        c.check(s["fps"] > 0 or s["frames"] < 2, "fps", s["fps"], s["frames"])  # test_meter.c checks the value
    first = said[-1]["time_to_first_frame_ms"]
    c.check(0 < first < 1000 * took, "first frame after", first, "of", took, "s")
    c.check({"capture", "wait"} <= set(said[-1]["stages"]), said[-1]["stages"].keys())
    c.check(any(name.startswith("pass") for name in said[-1]["stages"]), said[-1]["stages"].keys())


def table(c):
    code, out, err = live("pattern:32x24@1000", "-p", "cpu", "--headless")
    text = out.decode()
    c.check(code == 0, "exit code", code, err)
    c.check("300 frames" in text and "median" in text and "p99" in text and "age" in text, text)
    c.check("ran 300 frames of test pattern without a window; the last frame is %s\n" % at("monocle-last.png") in err,
            err)
    os.unlink(at("monocle-last.png"))
    code, out, err = live("pattern:32x24@500", "-p", "cpu", "--headless", "--frames", "2", "--screenshot", "last.png")
    c.check(code == 0 and os.path.exists(at("last.png")) and not os.path.exists(at("monocle-last.png")), code, err)
    code, out, err = live("pattern:32x24", "-p", "cpu", "--headless", "-n", "2", "--output-size", "255x40",
                          "--screenshot", "sized.png")
    c.check(code == 0 and len(picture(at("sized.png"))) == 3 * 255 * 40, "--output-size", code, err)
    code, out, err = live("pattern:32x24@100", "-p", "cpu", "--frames", "4", DISPLAY="", WAYLAND_DISPLAY="")
    c.check(code == 0 and "a window" in err and err.count("\n") <= 3 and "4 frames" in out.decode(), code, out, err)


def bad_input(c):
    png(at("good.png"), 8, 8)
    with open(at("cut.png"), "wb") as f:
        f.write(open(at("good.png"), "rb").read()[:40])
    with open(at("huge.y4m"), "wb") as f:
        f.write(b"YUV4MPEG2 W100000 H100000 F25:1 C420jpeg\nFRAME\n")
    with open(at("cut.y4m"), "wb") as f:
        f.write(y4m(32, 16, "420jpeg", 3)[:-10])
    with open(at("short.raw"), "wb") as f:
        f.write(b"x" * 10)
    os.makedirs(at("empty"), exist_ok=True)
    pattern = "pattern:32x24@100"
    rows = [
        (["--nonsense"], 2, "--nonsense"),
        (["--headles"], 2, "--headless"),
        ([pattern, "-f", "blurr"], 2, "blur"),
        ([pattern, "-f", "blur=99"], 2, "blur"),
        ([pattern, "-f", "blur="], 2, ""),
        ([pattern, "-f", ",".join(["gray"] * 17)], 2, "16"),
        ([pattern, "-p", "opncl"], 2, "opencl"),
        ([pattern, "--frames", "0"], 2, "frames"),
        ([pattern, "--size", "10"], 2, "size"),
        ([pattern, "--pixel-format", "nv2l"], 2, "nv21"),
        ([pattern, "--keys", "wrong=x"], 2, "wrong"),
        ([pattern, "--kernels", at("nowhere")], 2, "nowhere"),
        ([pattern, "--record", "-", "--json"], 2, "standard output"),
        ([pattern, "--record", "x.y4m", "--trace", "x.y4m"], 2, "same file"),
        ([pattern, "--headless", "--fullscreen"], 2, "fullscreen"),
        (["-", "--loop"], 2, "loop"),
        ([at("nothing.png")], 3, "nothing.png"),
        ([at("cut.png")], 3, "cut.png"),
        ([at("huge.y4m")], 3, "huge.y4m"),
        ([at("short.raw"), "--size", "32x24", "--pixel-format", "nv21"], 3, "short.raw"),
        ([at("short.raw")], 3, "short.raw"),
        ([at("empty")], 3, "empty"),
        (["pattern:31x24,yuyv"], 3, "even"),
        (["camera:/dev/null"], 3, "/dev/null"),
        ([pattern, "-p", "opencl", "-d", "no-such-device"], 3, "no-such-device"),
        ([pattern, "--screenshot", "/nowhere/x.png"], 3, "/nowhere/x.png"),
        ([pattern, "--record", "/nowhere/x.y4m"], 3, "/nowhere/x.y4m"),
        ([pattern, "--trace", "/nowhere/x.json"], 3, "/nowhere/x.json"),
        ([pattern, "--screenshot", at("empty")], 3, "directory"),
        ([pattern, "--output-size", "32769x2"], 2, "--output-size has at most 32768 pixels on a side"),
        ([pattern, "--output-size", "16385x16384"], 2, "--output-size has at most 32768 pixels on a side and 2684"),
        ([at("cut.y4m"), "--fast", "-p", "cpu"], 0, "cut.y4m"),
    ]
    for args, want, word in rows:
        headless = [] if "--headless" in args or "--keys" in args else ["--headless"]
        limit = [] if "--frames" in args else ["--frames", "5"]
        code, out, err = live(*args, *headless, *limit)
        c.check(code == want, args, "exit code", code, "not", want, err)
        c.check(word in err and 1 <= err.count("\n") <= 3, args, "says", err)
    for args, env in ((["-d", "nope"], {}), ([], {"MONOCLE_DEVICE": "nope"})):
        code, out, err = live(pattern, "-p", "opencl", *args, "--headless", **env)
        c.check(code == 3 and ("matches 'nope' (from MONOCLE_DEVICE);" in err) == (args == []), args, env, err)
    code, out, err = live(pattern, "-p", "opencl", "--headless", "--frames", "2", OCL_ICD_VENDORS="/nowhere")
    c.check(code == 3 and "OpenCL" in err, "no platform, asked for", code, err)
    code, out, err = live(pattern, "--headless", "--frames", "2", "--json", OCL_ICD_VENDORS="/nowhere")
    c.check(code == 0 and "cpu" in err and events(out)[-1]["path"] == "cpu", "no platform", code, err)
    code, out, err = live(at("nothing.png"), "--headless", "--json")
    c.check(code == 3 and events(out)[-1]["event"] == "error", "error event", out)


def words(c):
    """The summary of a run with few frames, and of one without frames."""
    png(at("one.png"), 33, 17)
    rows = [
        ([at("one.png"), "-p", "cpu"], ["path cpu (as requested)", "\n1 frame, first"], ["fps", "skipped"]),
        (["pattern:32x24@200", "-p", "cpu", "--frames", "3"], ["3 frames, "], ["fps", "1% low"]),
        (["pattern:32x24@200", "-p", "cpu", "--frames", "20"], [" fps, first"], ["1% low"]),
        (["pattern:32x24@200", "-p", "cpu", "--frames", "120"], [" fps, 1% low "], []),
    ]
    for args, said, unsaid in rows:
        code, out, err = live(*args, "--headless")
        text = out.decode()
        c.check(code == 0 and all(s in text for s in said) and not any(s in text for s in unsaid), args, text, err)
    code, out, err = live("-", "--headless", stdin=y4m(64, 48, "444", 1)[:200])
    c.check(code == 3 and out == b"" and "has no frames" in err, "cut in the first picture", code, out, err)


def status_line(c):
    """On a terminal, a run without a window that takes more than 2 s shows its progress, and clears it at the end."""
    args = ["live", "pattern:32x24@30", "-p", "cpu", "--headless"]
    code, said = on_terminal(BINARY, *args, "--frames", "75", TERM="xterm")
    lines = said.split(b"\r\033[K")
    c.check(code == 0 and b" frames, " in lines[1] and b" fps" in lines[1] and lines[0] == lines[-1] == b"", code, said)
    code, said = on_terminal(BINARY, *args, "--frames", "75", "--json", TERM="xterm")
    c.check(code == 0 and said == b"", "--json", code, said)


def broken_outputs(c):
    pattern = ["pattern:32x24@200", "-p", "cpu", "--headless"]
    read, write = os.pipe()
    os.close(read)
    for args, code in ((["--json"], 1), (["--record", "-"], 3), (["--frames", "3"], 1)):
        done = subprocess.run([BINARY, "live", *pattern, *args], stdout=write, stderr=subprocess.PIPE, timeout=60,
                              cwd=at(), env=environment())
        c.check(done.returncode == code and not done.stderr, args, done.returncode, done.stderr)
    os.close(write)
    done = subprocess.run(["sh", "-c", 'exec "$0" live pattern:32x24@200 -p cpu --headless --frames 3 >&-', BINARY],
                          stderr=subprocess.PIPE, timeout=60, cwd=at(), env=environment())
    c.check(done.returncode == 1, "closed stdout", done.returncode, done.stderr)
    done = subprocess.run(["sh", "-c", 'ulimit -f 100; exec "$0" live pattern:32x24 -p cpu --headless --frames 90 '
                           "--record grown.y4m", BINARY], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          cwd=at(), env=environment())
    err = done.stderr.decode()
    pictures = y4m_pictures(open(at("grown.y4m"), "rb").read())
    c.check(done.returncode == 1 and "grown.y4m" in err and err.count("\n") == 1, "file limit", done.returncode, err)
    c.check(10 < len(pictures) < 90, "file limit", len(pictures))
    code, out, err = live(*pattern, "--frames", "50", "--record", "/dev/full")
    c.check(code in (1, 3) and "No space" in err and err.count("\n") == 1, "full disk", code, err)


def start(*args):
    return subprocess.Popen([BINARY, "live", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            cwd=at(), env=environment())


def signals(c):
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = start("pattern:64x48@100", "-f", "blur", "-p", "cpu", "--headless", "--json", "--frames", "100000",
                        "--record", "cut.y4m", "--overwrite", "--trace", "cut.json")
        while json.loads(process.stdout.readline()).get("frames", 0) <= 5:
            pass
        process.send_signal(number)
        out, err = process.communicate(timeout=60 * PATIENCE)
        c.check(process.returncode == code, number, "exit code", process.returncode, err)
        last = events(out)[-1]
        pictures = y4m_pictures(open(at("cut.y4m"), "rb").read())
        c.check(last["event"] == "summary" and len(pictures) == last["frames"] > 5, len(pictures), last)
        c.check(len(json.load(open(at("cut.json")))) > 5, "trace")


def trace(c):
    for path in ["cpu"] + (["opencl"] if has_opencl(BINARY) else []):
        code, out, err = live("pattern:64x48", "-f", "blur,median", "-p", path, "--headless", "--fast",
                              "--frames", "12", "--trace", "spans.json", "--overwrite")
        c.check(code == 0, code, err)
        events = json.load(open(at("spans.json")))
        spans = sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"])
        names = {s["name"] for s in spans}
        c.check("capture" in names and any(n.startswith("pass") for n in names), path, names)
        for track in {s["tid"] for s in spans}:  # a trace viewer draws a track as one row
            row = [s for s in spans if s["tid"] == track]
            for one, next_one in zip(row, row[1:]):
                c.check(one["dur"] >= 0 and one["ts"] + one["dur"] <= next_one["ts"] + 2, path, one, "overlaps",
                        next_one)


def recordings(c):
    """Every frame of a file, in order, and the same bytes on every path."""
    data = y4m(48, 33, "420jpeg", 12)
    paths = ["cpu", "opencl", "zerocopy"] if has_opencl(BINARY) else ["cpu"]
    seen = {}
    for path in paths + ["gl"]:
        code, out, err = live("-", "-f", "blur=2,gray", "-p", path, "--headless", "--fast", "--record", "-", stdin=data)
        if path == "gl" and "there is no GL context" in err:
            continue
        c.check(code == 0, path, code, err)
        seen[path] = y4m_pictures(out)
        c.check(len(seen[path]) == 12 and len(set(seen[path])) == 12, path, len(seen[path]))
        c.check("12 frames" in err, "the table goes to standard error", err)
    for path in seen:
        c.check(seen[path] == seen["cpu"], path, "differs from cpu")
    code, out, err = live("-", "-f", "blur=2,gray", "-p", "cpu", "--headless", "--record", "-", stdin=data)
    c.check(code == 0 and y4m_pictures(out) == seen["cpu"], "paced differs from fast")


def sizes(c):
    """A recording has the size of the chain's results."""
    data = y4m(48, 33, "420jpeg", 3)
    cases = (("crop=20:10:1:2", 20, 10), ("scale=100", 100, 69), ("rotate=90", 33, 48), ("warp=road:7:5,rotate", 5, 7))
    for path in ["cpu"] + (["zerocopy"] if has_opencl(BINARY) else []):
        for chain, width, height in cases:
            code, out, err = live("-", "-f", chain, "-p", path, "--headless", "--fast", "--record", "-", stdin=data)
            head = out[:out.index(b"\n")].decode().split()
            c.check(code == 0 and head[1:3] == ["W%d" % width, "H%d" % height], path, chain, code, head, err)
            c.check(len(y4m_pictures(out)) == 3, path, chain, len(out))
    code, out, err = live("pattern:640x480", "-f", "scale=factor=90", "--headless", "-p", "cpu")
    c.check(code == 3 and "scale: the result of 640x480 pixels would have" in err, code, err)


def resident_kib(process):
    with open("/proc/%d/status" % process.pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


@slow
def memory(c):
    """Frames leak no memory: a leak of 64 bytes per frame would be 0.6 MiB in the last 10000 frames.

    The test reads the recording to learn how far the run is, because the pipe holds few frames.
    """
    if SANITIZED:
        return
    frame_bytes = 6 + 3 * 64 * 48
    for path in ["cpu"] + (["zerocopy"] if has_opencl(BINARY) else []):
        process = start("pattern:64x48", "--fast", "-f", "blur,gray", "-p", path, "--headless", "--record", "-",
                        "--frames", "15100")
        process.stdout.read(5000 * frame_bytes)
        early = resident_kib(process)
        process.stdout.read(10000 * frame_bytes)
        late = resident_kib(process)
        _, err = process.communicate(timeout=60 * PATIENCE)
        c.check(process.returncode == 0, path, process.returncode, err)
        c.check(late - early < 384, path, "grew from", early, "to", late, "KiB")


sys.exit(Checks().run(words, sources, progress, table, bad_input, status_line, broken_outputs, signals,
                      trace, recordings, sizes, memory))
