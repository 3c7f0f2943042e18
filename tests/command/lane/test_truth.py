#!/usr/bin/env python3
"""test_truth.py MONOCLE: --truth of monocle live and monocle lane"""
import json
import os
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs

BINARY, = programs(1)
ROAD = "road:seed=7,level=clean,size=320x180@30"


def run(*args, stdin=subprocess.DEVNULL):
    done = subprocess.run([BINARY, *args], cwd=at(), stdin=stdin, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def read(name):
    with open(at(name), encoding="utf-8") as file:
        return [json.loads(text) for text in file]


def live(c):
    """The truth has each frame that is recorded."""
    code, _, err = run("live", ROAD, "-p", "cpu", "--headless", "-n", "7", "--record", "road.y4m", "--truth", "t.json")
    c.check((code, err) == (0, ""), code, err)
    frames = read("t.json")
    c.check([f["raw_file"] for f in frames] == ["%s#%d" % (ROAD, i) for i in range(7)], frames)
    for f in frames:
        c.check(f["h_samples"] == [(16 + i) * 180 // 72 for i in range(56)], f["h_samples"])
        c.check(2 <= len(f["lanes"]) <= 4 and all(len(lane) == 56 for lane in f["lanes"]), f["lanes"])
        c.check(all(x == -2 or 0 <= x < 320 for lane in f["lanes"] for x in lane), f["lanes"])
    c.check(not [name for name in os.listdir(at()) if name not in ("road.y4m", "t.json")], os.listdir(at()))


def lane(c):
    """The results of monocle lane have the names and rows of the truth, so they can be scored."""
    code, out, err = run("lane", ROAD, "--headless", "--fast", "-n", "5", "--truth", "t.json", "--json")
    c.check((code, err) == (0, ""), code, err)
    c.check([json.loads(text)["raw_file"] for text in out.splitlines()] == [f["raw_file"] for f in read("t.json")], out)
    with open(at("r.json"), "w", encoding="utf-8") as file:
        file.write(out)
    with open(at("r.json"), encoding="utf-8") as file:
        code, out, err = run("lane", "--score", "t.json", stdin=file)
    c.check((code, err) == (0, "") and "(5 frames)" in out, code, out, err)


def perfect(c):
    """The truth has full marks; without a road, there is nothing to find."""
    for level, lines in (("mixed", None), ("empty", 0)):
        source = "road:seed=3,level=%s,size=320x180" % level
        run("live", source, "-p", "cpu", "--headless", "--fast", "-n", "3", "--truth", "t.json")
        with open(at("t.json"), encoding="utf-8") as file:
            code, out, err = run("lane", "--score", "t.json", "--json", stdin=file)
        c.check((code, err) == (0, ""), code, err)
        found = json.loads(out)
        c.check(found["accuracy"] == found["f1"] == 1 and found["false_negatives"] == 0, found)
        c.check(lines is None or found["truth_lines"] == lines, found)


def errors(c):
    for command in ("live", "lane"):
        def refused(want, text, *args):
            code, _, err = run(command, *args, "--headless", "-n", "2")
            c.check(code == want and err.count("\n") == 1 and text in err, command, args, code, err)

        refused(3, "--truth needs a source whose lane lines are known, such as road:seed=7; test pattern is none",
                "pattern", "--truth", "t.json")
        refused(3, "cannot write none/t.json (--truth)", ROAD, "--truth", "none/t.json")
        refused(3, "cannot write . (--truth)", ROAD, "--truth", ".")
        c.check(not os.listdir(at()), os.listdir(at()))


sys.exit(Checks().run(live, lane, perfect, errors))
