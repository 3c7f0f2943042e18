#!/usr/bin/env python3
"""test_batch_watch.py MONOCLE: batch --watch"""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from batch_support import digests, outcome
from checks import Checks, at, programs
from live_support import PATIENCE, environment, png

BINARY, = programs(1)
CPU = ["-p", "cpu"]


def appears(name):
    """Waits for a file; False if it does not appear."""
    end = time.monotonic() + 20 * PATIENCE
    while not os.path.exists(at(name)) and time.monotonic() < end:
        time.sleep(.02)
    return os.path.exists(at(name))


def watched(c):
    """--watch filters the files of a directory, and then each image that arrives; a signal ends it."""
    for name in "in", "ready":
        os.makedirs(at(name), exist_ok=True)
    png(at("in/first.png"), 8, 8)
    child = subprocess.Popen([BINARY, "batch", *CPU, "--format", "jpeg", "--watch", "--no-sync", "-o", "out",
                              "--report", "r.jsonl", "in"],
                             cwd=at(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    c.check(appears("out/first.jpg"), "a file that was there")
    for name in "moved.png", ".hidden.png", "notes.txt":
        png(at("ready/" + name), 8, 8)
        os.rename(at("ready/" + name), at("in/" + name))
    c.check(appears("out/moved.jpg"), "a file that was moved")
    with open(at("in/broken.png"), "w", encoding="utf-8") as file:
        file.write("no picture")
    png(at("ready/second.png"), 8, 8)
    with open(at("ready/second.png"), "rb") as whole, open(at("in/second.png"), "wb") as file:
        data = whole.read()
        file.write(data[:20])
        file.flush()
        png(at("in/third.png"), 8, 8)
        c.check(appears("out/third.jpg"), "a file that was written")
        file.write(data[20:])
    c.check(appears("out/second.jpg"), "a file that was open for long")
    before = os.stat(at("out/moved.jpg")).st_mtime_ns
    png(at("in/moved.png"), 16, 8)
    end = time.monotonic() + 20 * PATIENCE
    while os.stat(at("out/moved.jpg")).st_mtime_ns == before and time.monotonic() < end:
        time.sleep(.02)
    c.check(os.stat(at("out/moved.jpg")).st_mtime_ns > before, "a file that was written again")
    png(at("in/second.tiff.png"), 8, 8)
    c.check(appears("out/second.tiff.jpg"), "the last file")
    with open(at("in/moved.jpg"), "wb") as file, open(at("out/first.jpg"), "rb") as made:
        file.write(made.read())
    c.check(b"broken.png" in child.stderr.readline(), "the broken file")
    told = child.stderr.readline()
    c.check(told == b"monocle: error: in/moved.jpg: in/moved.png has the same output out/moved.jpg; use a template "
            b"such as -o 'DIR/{stem}-{type}{ext}'\n", told)
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=20 * PATIENCE)
    c.check(child.returncode == 1 and err == b"", child.returncode, out, err)
    lines = out.splitlines()
    c.check(lines[0] == b"in/first.png -> out/first.jpg", out)
    c.check(lines[2] == b"watching in for new images; Ctrl+C ends" and out.count(b"watching") == 1, out)
    c.check(lines.count(b"in/moved.png -> out/moved.jpg") + lines.count(
        b"in/moved.png -> out/moved.jpg (replaced)") == 2, out)
    with open(at("r.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    done = [row["input"] for row in rows if row.get("status") == "done"]
    c.check(done.count("in/moved.png") == 2 and {"in/first.png", "in/second.tiff.png"} < set(done), rows)
    c.check([row["input"] for row in rows if row.get("status") == "failed"] == ["in/broken.png", "in/moved.jpg"], rows)
    made = sorted(digests(at("out")))
    c.check(made == [name + ".jpg" for name in ("first", "moved", "second", "second.tiff", "third")], made)


def numbered(c):
    """The numbers {n} go on with the files that arrive. The end of all watched directories ends the run."""
    os.makedirs(at("many"), exist_ok=True)
    png(at("many/a.png"), 8, 8)
    child = subprocess.Popen([BINARY, "batch", *CPU, "-f", "gray", "--watch", "-o", "number/{n}", "many"], cwd=at(),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    c.check(appears("number/000001.png"), "the first number")
    png(at("many/b.png"), 8, 8)
    c.check(appears("number/000002.png"), "the second number")
    subprocess.run(["rm", "-r", at("many")], check=True)
    out, err = child.communicate(timeout=20 * PATIENCE)
    c.check(child.returncode == 1 and b"many was removed" in err and err.count(b"\n") == 1, child.returncode, out, err)


def late(c):
    """An image waits for its mask, whether it arrives before or during the run."""
    for name in "late", "masks":
        os.makedirs(at(name))
    png(at("late/a.png"), 8, 8), png(at("late/b.png"), 8, 8), png(at("masks/b.png"), 8, 8)
    child = subprocess.Popen([BINARY, "batch", *CPU, "-f", "gray,within='masks/{stem}.png'", "--watch", "--no-sync",
                              "-o", "mask", "late"], cwd=at(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment())
    c.check(appears("mask/b.png"), "an image with its mask")
    told = child.stderr.readline()
    c.check(told == b"monocle: warning: late/a.png waits for the file " + at("masks/a.png").encode() +
            b", which is missing\n", told)
    png(at("late/c.png"), 8, 8)
    c.check(b"late/c.png waits" in child.stderr.readline() and not os.path.exists(at("mask/a.png")), "a second one")
    png(at("masks/a.png"), 8, 8)
    c.check(appears("mask/a.png"), "a mask that arrives later")
    png(at("masks/c.png"), 8, 8)
    c.check(appears("mask/c.png"), "another one")
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=20 * PATIENCE)
    c.check(child.returncode == 0 and err == b"" and out.count(b"late/a.png -> mask/a.png") == 1 and
            b", 1 waiting for a file of a filter" in out and b"outputs exist" not in out, child.returncode,
            out, err)


def refused(c):
    """Outputs among the watched images, one output for all, and options that do not fit."""
    os.makedirs(at("in"), exist_ok=True)
    outcome(c, BINARY, CPU + ["-o", "./in/{stem}-small", "--watch", "in"], 2, "cannot write to ./in/, which it watches")
    outcome(c, BINARY, CPU + ["-o", "one.png", "--watch", "in"], 2, "cannot write all images to one file")
    outcome(c, BINARY, CPU + ["-o", "x", "--watch", "nothing-here"], 3, "cannot watch nothing-here: No such file")
    outcome(c, BINARY, CPU + ["-o", "x", "--watch", "--overwrite", "in"], 2, "contradict each other")
    png(at("in/a.png"), 8, 8)
    os.mkdir(at("png"))
    png(at("png/a.png"), 8, 8)
    outcome(c, BINARY, CPU + ["-o", "{type}/{stem}-x{ext}", "--watch", "png"], 2,
            "cannot write to png/, which it watches")
    c.check(os.listdir(at("png")) == ["a.png"], os.listdir(at("png")))
    outcome(c, BINARY, ["-p", "opencl", "-o", "x", "--watch", "in"], 3, "there is no OpenCL device",
            OCL_ICD_VENDORS="/proc/nowhere")


sys.exit(Checks().run(watched, numbered, late, refused))
