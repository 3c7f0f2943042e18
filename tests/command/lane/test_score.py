#!/usr/bin/env python3
"""test_score.py MONOCLE: monocle lane --score against the definitions (reference.py), and its errors"""
import json
import os
import random
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs

import reference

BINARY, = programs(1)


def write(name, text):
    with open(at(name), "w", encoding="utf-8") as file:
        file.write(text)
    return name


def line(rows, lanes, name=None):
    return json.dumps({"h_samples": rows, "lanes": lanes, **({"raw_file": name} if name else {})}) + "\n"


def run(truth, results, *args):
    with open(at(write("results.json", results)), encoding="utf-8") as file:
        done = subprocess.run([BINARY, "lane", "--score", write("truth.json", truth), *args], stdin=file, cwd=at(),
                              capture_output=True, text=True, timeout=200)
    return done.returncode, done.stdout, done.stderr


def score(c, truth, results, *args):
    code, out, err = run(truth, results, "--json", *args)
    c.check((code, err) == (0, ""), code, err)
    return json.loads(out)


def random_lane(rng, rows, size):
    """Returns a curved line with a part of the rows."""
    x, slope, bend = rng.uniform(0, size[0]), rng.uniform(-2, 2), rng.uniform(-0.004, 0.004)
    first, last = sorted(rng.sample(range(len(rows) + 1), 2))
    points = [x + slope * (y - rows[-1]) + bend * (y - rows[-1]) ** 2 for y in rows]
    return [round(p, 2) if first <= i < last and 0 <= p < size[0] else -2 for i, p in enumerate(points)]


def near_lane(rng, lane, size):
    """Returns the line with an error, and without some points."""
    shift, tilt, lost = rng.gauss(0, 12), rng.gauss(0, 0.4), rng.choice([0, 0.05, 0.2])
    return [x if x < 0 or not 0 <= x + shift + tilt * i < size[0] else -2 if rng.random() < lost else
            round(x + shift + tilt * i, 2) for i, x in enumerate(lane)]


def random_frame(rng, size):
    rows = list(range(size[1] // 3, size[1], 40))
    truth = [random_lane(rng, rows, size) for _ in range(rng.choice([0, 1, 2, 4, 5]))]
    found = [near_lane(rng, lane, size) for lane in truth if rng.random() < 0.9]
    found += [random_lane(rng, rows, size) for _ in range(rng.choice([0, 0, 1, 2]))]
    rng.shuffle(found)
    return rows, truth, found


def tusimple(c):
    rng = random.Random(1)
    frames = [random_frame(rng, (1280, 720)) for _ in range(400)]
    got = score(c, "".join(line(r, t) for r, t, _ in frames), "".join(line(r, f) for r, _, f in frames))
    want = [sum(column) / len(frames) for column in zip(*(reference.tusimple(*frame) for frame in frames))]
    for name, value in zip(("accuracy", "false_positives", "false_negatives"), want):
        c.check(abs(got[name] - value) < 1e-5, name, got[name], value)
    c.check(0.2 < got["accuracy"] < 0.95 and got["frames"] == 400, "the frames are no test", got)


def culane(c):
    rng, sure = random.Random(2), 0
    for size in ((1280, 720), (640, 400)):
        for _ in range(12):
            rows, truth, found = random_frame(rng, size)
            shares = reference.overlaps(rows, truth, found, size)
            if any(abs(share - 0.5) < 0.01 for row in shares for share in row):
                continue  # the program rounds points to 1/16 pixel
            got = score(c, line(rows, truth), line(rows, found), "--size", "%dx%d" % size)
            want = reference.matches(shares)
            c.check(got["matches"] == want, size, got, shares)
            c.check(got["truth_lines"] == len(shares), got, shares)
            sure += want
    c.check(sure > 10, "only", sure, "pairs")


def assignment(c):
    """Two found lines match the first truth line, one of them also the second: there are two pairs."""
    rows = list(range(200, 720, 40))
    truth, found = [[500] * 13, [510] * 13], [[505] * 13, [494] * 13]
    for order in (found, found[::-1]):
        c.check(score(c, line(rows, truth), line(rows, order))["matches"] == 2, order)


def frames(c):
    rows, lane = [300, 400, 500], [100, 200, 300]
    other, none = [700, 600, 500], [-2, -2, -2]

    def last(truth, results, want):
        code, out, err = run(truth, results)
        c.check((code, err) == (0, "") and out.splitlines()[-1] == want, truth, results, code, out, err)

    perfect = "accuracy 1.000, false positives 0.000, false negatives 0.000, F1 1.000 "
    two = line(rows, [lane], "a") + line(rows, [other, none], "b")
    last(two, two, perfect + "(2 frames)")
    last(two, "".join(reversed(two.splitlines(True))) + '\n{"event": "summary"}\n', perfect + "(2 frames)")
    last(two, line(rows, [lane]) + json.dumps({"lanes": [other]}), perfect + "(2 frames)")
    last(line(rows, []), line(rows, []), perfect + "(1 frame)")
    last(line(rows, []), json.dumps({"lanes": []}), perfect + "(1 frame)")
    last(line(rows, []), line(rows, [lane]),
         "accuracy 0.000, false positives 1.000, false negatives 0.000, F1 0.000 (1 frame)")
    last(line(rows, [lane]), line(rows, []),
         "accuracy 0.000, false positives 0.000, false negatives 1.000, F1 0.000 (1 frame)")
    last(line(rows, [none]), line(rows, []), perfect + "(1 frame)")


def order(c):
    """Frames with other names are compared in order; the size of the pictures is in the names of a road's frames."""
    two = line([200, 290], [[10, 300]], "road:size=640x300@30#0") + line([200, 290], [], "road:size=640x300@30#1")
    code, out, err = run(two, two.replace("road:size=640x300@30", "clip.y4m"))
    c.check(code == 0 and "F1 1.000 (2 frames)" in out, out)
    c.check(err == "monocle: warning: truth.json has no frame clip.y4m#0; the frames are compared in order\n", err)
    near = line([200, 290], [[100, 100]], "a"), line([200, 290], [[107, 107]], "a")  # 7 pixels: 9 or 18 of 1640
    c.check(score(c, *near)["matches"] == 1, "at 1280x720")
    c.check(score(c, *near, "--size", "640x300")["matches"] == 0, "at 640x300")
    c.check(score(c, *(text.replace('"a"', '"road:size=640x300@30#0"') for text in near))["matches"] == 0, "named")


def errors(c):
    good = line([300, 400], [[1, 2]], "a")

    def refused(truth, results, *texts):
        code, out, err = run(truth, results)
        c.check(code == 3 and not out and err.count("\n") == 1, code, out, err[:500])
        for text in texts:
            c.check(text in err, text, "is not in", err[:500])

    refused(good * 2 + good[:-9], good, "cannot use truth.json: line 3: column")
    refused(good, good[:-9], "cannot use the results on standard input: line 1: column")
    refused(good, good + "[5]\n", "line 2: it is not a JSON object")
    refused("", good, "there are no frames in truth.json")
    refused(good, "\n", "there are no frames in the results on standard input")
    refused(good, "\0\n", "line 1: column")
    for lanes in ("7", "{}", "null", "[7]", '["x"]', "[[1]]", "[[1, 2, 3]]", '[[1, "2"]]', "[[1, 2e9]]", "[[1, null]]"):
        text = '{"h_samples": [300, 400], "lanes": %s}\n' % lanes
        refused(text, good, "cannot use truth.json: line 1: ", "lane")
    for rows in ("[]", "7", "[400, 300]", "[1, 1]", "[-1, 2]", "[1.5, 2]", "[1, 1e99]", str(list(range(1001)))):
        refused(good, '{"h_samples": %s, "lanes": [[1, 2]]}\n' % rows, "line 1: 'h_samples' ")
    refused('{"raw_file": 7, "h_samples": [1, 2], "lanes": [[1, 2]]}', good, "line 1: 'raw_file' is not a text")
    refused(good, '{"lanes": [%s[]]}' % ("[]," * 300000), "line 1: 'lanes' is not an array of at most 32 lanes")
    refused(good, '{"lanes": [%s[]]}' % ("[]," * 1000000), "line 1: it has more than 1048576 bytes")
    refused(good, '{"lanes": %s' % ("[" * 100000), "line 1: column")
    refused(good, "x" * 10000000, "line 1: it has more than 1048576 bytes")
    refused(good, good * 2, "line 2: an earlier line has the same 'raw_file'")
    refused(good * 2, good, "lines 1 and 2 have the same 'raw_file', a")
    refused(good, good + good.replace('"a"', '"b"'), "line 2: the truth has no such frame")
    refused(good + line([300], [[1]]), good, "truth.json: line 2: there is no 'raw_file'")
    refused(good, line([300], [[1]]), "line 1: its rows are not those of line 1 of truth.json")
    refused(good, line([300, 401], [[1, 2]]), "line 1: its rows are not those of line 1 of truth.json")
    refused(good + line([1], [], "b"), good, "the results lack the frame of line 2 of truth.json")
    refused(good, good + line([300, 400], [[1, 2]]), "line 2: either all frames have 'raw_file' or none")
    refused('{"lanes": []}', '{"lanes": []}', "truth.json: line 1: there is no 'h_samples'")


def cut(c):
    """A file that is cut anywhere is refused with one line, or scores its whole frames."""
    rows, lane = [300, 400], [[10, 20]]
    lines = [line(rows, lane, "a"), line(rows, lane, "b")]
    whole, scored = "".join(lines), 0
    ends = {len(part) + near for part in (lines[0], whole) for near in (-3, -2, -1, 0, 1)}
    for size in sorted(ends & set(range(len(whole))) | set(range(0, len(whole), 9))):
        for truth, results in ((whole[:size], whole), (whole, whole[:size]), (whole[:size], whole[:size])):
            code, out, err = run(truth, results)
            c.check((code == 3 and not out and err.count("\n") == 1 and "nan" not in err) or
                    (code == 0 and not err and "F1 1.000" in out and truth[:size].rstrip() == results[:size].rstrip()),
                    size, code, out, err)
            scored += code == 0
    c.check(scored == 5, scored)  # both after frame 1, with and without its newline; three times all but the last byte


def arguments(c):
    def refused(want, text, *args):
        done = subprocess.run([BINARY, "lane", *args], cwd=at(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)
        c.check(done.returncode == want and text in done.stderr and not done.stdout, args, done)

    os.mkdir(at("directory"))
    refused(2, "--score", "--score")
    refused(2, "unexpected argument 'x'", "--score", "truth.json", "x")
    refused(3, "cannot read none.json: No such file", "--score", "none.json")
    refused(3, "cannot read directory: Is a directory", "--score", "directory")


def confidence(c):
    """The tool's table counts the right lines of each confidence: within 20 pixels of a vertical line of the truth."""
    rows = list(range(100, 200, 10))
    truth = write("truth.json", line(rows, [[50] * 10, [90] * 10]))
    found = json.dumps({"h_samples": rows, "lanes": [[69] * 10, [111] * 10, [-2] * 2 + [90] * 8, [-2] * 1 + [90] * 9],
                        "confidences": [0.95, 0.91, 0.33, 1]}) + "\n"
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/lane-confidence")
    done = subprocess.run([sys.executable, tool, truth, write("found.json", found)], cwd=at(), capture_output=True,
                          text=True, timeout=60)
    c.check(done.stdout.splitlines()[2:] == ["| 0.3 to 0.4 | 1 | 0.00 |", "| 0.9 to 1.0 | 3 | 0.67 |"], done)


sys.exit(Checks().run(tusimple, culane, assignment, frames, order, errors, cut, arguments, confidence))
