#!/usr/bin/env python3
"""test_lane.py MONOCLE: monocle lane on roads with known lines, on pictures without a road, and in a window"""
import json
import math
import os
import random
import re
import struct
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, slow
from lane_support import Window, is_blue, is_green, is_red, is_yellow, places
from live_support import Control, wait_until, y4m_pictures

BINARY, = programs(1)
SIZE = "640x360@30"
FRAMES = 90
# The smallest accuracy at each level of road:
LEVELS = {"clean": 0.99, "worn": 0.95, "shadows": 0.95, "pitch": 0.95, "cars": 0.95, "rain": 0.90, "night": 0.90,
          "concrete": 0.95, "changes": 0.95, "merge": 0.75}  # the least accuracy
MISSED = {"merge": 0.25}  # the most false lines, or missed lines; others: 0.1


# Wrong texts of a configuration file, and a part of the line that each gives.
POINTS = "points must be 8 numbers"
WRONG_FILES = [
    ("", "line 1: "), ("\0", "line 1: "), ("{", "line 1: "), ('{"pitch": NaN}', "line 1: "),
    ('{"pitch": 1e999}', "line 1: "), ('{"pitch": 1, "pitch": 2}', "line 1: "), ("[]", "it must be a JSON object"),
    ("{}" + " " * 70000, "cannot read it"), ('{"pitch": null}', "pitch must be a number"),
    ('{"pitch": "4"}', "pitch must be a number"), ('{"roll": 180}', "roll must be a number from -45"),
    ('{"height": -1.4}', "height must be a number from 0.2"), ('{"pich": 4}', "there is no key 'pich'"),
    ('{"points": []}', POINTS), ('{"points": {}}', POINTS), ('{"points": [1, 2, 3, 4, 5, 6, 7]}', POINTS),
    ('{"points": [1, 2, 3, 4, 5, 6, 7, "8"]}', POINTS), ('{"points": [1, 2, 3, 4, 5, 6, 7, 1e300]}', POINTS),
    ('{"lens": 7}', "lens must be a text"), ('{"lens": ""}', "lens must have arguments"),
    ('{"lens": "nan 900 640 360 0 0 0 0"}', "lens must have arguments"),
    ('{"lens": "0 0 0 0 0 0 0 0"}', "lens must have arguments"),
    ('{"size": [1280]}', "size must be two numbers"), ('{"size": [0, 720]}', "size must be two numbers"),
    ('{"size": [1280, 99999]}', "size must be two numbers"), ('{"size": "1280x720"}', "size must be two numbers"),
    ('{"gap": 1.2}', "there is no key 'gap'"), ('{"contrast": true}', "contrast must be a number"),
]


def run(*args, command="lane", code=0, **more):
    done = subprocess.run([BINARY, command, *args], cwd=at(), capture_output=True, text=True, timeout=300, **more)
    if done.returncode != code:
        raise AssertionError("%s: exit code %d: %s" % (args, done.returncode, done.stderr))
    return done


def find(source, *args):
    """Returns a dictionary for each frame."""
    lines = run(source, "--headless", "--fast", "--json", *args).stdout.splitlines()
    return [json.loads(line, parse_constant=lambda word: 1 / 0) for line in lines]  # NaN is not JSON


def score(results):
    text = "".join(json.dumps(frame) + "\n" for frame in results)
    return json.loads(run("--score", "truth.json", "--json", input=text).stdout)


@slow
def levels(c):
    for level, least in LEVELS.items():
        seed = 3 if level in ("pitch", "night") else 7  # the search must not fit one seed alone
        found = find("road:seed=%d,level=%s,size=%s" % (seed, level, SIZE), "-n", str(FRAMES), "--truth", "truth.json")
        total = score(found)
        c.check(len(found) == FRAMES and total["accuracy"] >= least, level, total)
        most = MISSED.get(level, 0.1)
        c.check(total["false_positives"] <= most and total["false_negatives"] <= most, level, total)


@slow
def paths(c):
    """Every path prints the same bytes but the times, and a table of stages. Two frames may be in flight."""
    road, texts = "road:seed=7,level=mixed,size=%s,nv21" % SIZE, {}
    for path in ("cpu", "opencl", "gl", "zerocopy"):
        args = [road, "--headless", "--fast", "-n", "40", "-p", path]
        out = run(*args, "--json", "--truth", path + ".json").stdout
        texts[path] = re.sub(r'"run_time":[0-9.]+,', "", out)
        with open(at(path + ".json"), encoding="utf-8") as file:
            texts[path] += file.read()
        lines = run(*args).stdout.splitlines()
        stages = {line[:line.index("  ")]: float(line.split()[-4]) for line in lines[4:]}
        c.check(lines[0].startswith("40 frames:") and lines[1].startswith("path %s" % path), lines)
        c.check(lines[1].count(path) == 1 + (path == "cpu"), "the path once", lines[1])  # "path cpu, device cpu"
        c.check("find lines" in stages and "measure" in stages and any("ridge" in name for name in stages), stages)
        c.check(path == "gl" or "download" not in stages, stages)
        c.check(all(ms >= 0 for ms in stages.values()) and stages["find lines"] > 0, stages)
    c.check(texts["cpu"].count("\n") == 80, len(texts["cpu"]))
    for path, text in texts.items():
        c.check(text == texts["cpu"], path)


def facts(c):
    """The reported numbers fit the road: an own lane 3.6 m wide, whose middle is less than 1.8 m away."""
    for frame in find("road:seed=3,size=" + SIZE, "-n", "20")[5:]:
        c.check(frame["state"] == "seen" and 0.5 < frame["confidence"] <= 1, frame)
        c.check(abs(frame["offset_m"]) < 1.8 and (frame["radius_m"] is None or abs(frame["radius_m"]) > 100), frame)
        c.check(len(frame["h_samples"]) == 56 and all(len(lane) == 56 for lane in frame["lanes"]), frame)
        c.check(2 <= len(frame["lanes"]) <= 4 and frame["run_time"] > 0, frame)
        c.check(all(x == -2 or 0 <= x <= 639 for lane in frame["lanes"] for x in lane), frame)


def none(c):
    """There are no lines without a road, in a small picture, and in a picture that is upside down."""
    for name, chain in (("flipped.y4m", "flip"), ("turned.y4m", "mirror,flip")):
        run("road:seed=11,size=" + SIZE, "--headless", "-f", chain, "-p", "cpu", "-n", "12", "--record", name,
            command="live")
    sources = ["road:seed=11,level=empty,size=" + SIZE, "noise:" + SIZE, "pattern:" + SIZE, "flipped.y4m", "turned.y4m",
               "noise:320x180@30"]
    for source in sources:
        for frame in find(source, "-n", "12"):
            c.check(frame["lanes"] == [] and frame["state"] == "none" and frame["confidence"] == 0, source, frame)
            c.check(frame["offset_m"] is None and frame["radius_m"] is None, source, frame)


def bend(lane, rows):
    """Returns the curvature of a line of the truth on the ground: positive to the right."""
    focal, pitch, ground = 320 / math.tan(math.radians(31)), math.radians(4), []
    for x, y in zip(lane, rows):
        if x >= 0:
            z = 1.4 / math.tan(pitch + math.atan((y - 180) / focal))
            ground.append((z, (x - 320) / focal * (z * math.cos(pitch) + 1.4 * math.sin(pitch))))
    (z0, x0), (z1, x1), (z2, x2) = ground[0], ground[len(ground) // 3], ground[-1]
    return ((x0 - x1) / (z0 - z1) - (x1 - x2) / (z1 - z2)) / (z0 - z2) * 2


@slow
def bends(c):
    """The radius is negative in a curve to the left, as in the truth. A mirrored film has the other sign."""
    for seed, right in ((3, True), (5, False)):
        road = "road:seed=%d,size=%s" % (seed, SIZE)
        run(road, "--headless", "-f", "mirror", "-p", "cpu", "-n", "60", "--record", "mirrored.y4m",
            "--overwrite", command="live")
        plain, mirrored = find(road, "-n", "60", "--truth", "truth.json"), find("mirrored.y4m")
        with open(at("truth.json"), encoding="utf-8") as file:
            truths = [json.loads(line) for line in file]
        for truth, found, other in list(zip(truths, plain, mirrored))[20:]:
            longest = max(truth["lanes"], key=lambda lane: sum(x >= 0 for x in lane))
            c.check((bend(longest, truth["h_samples"]) > 0) == right, "the road is no test", truth)
            c.check((found["radius_m"] > 0) == right and (other["radius_m"] < 0) == right, found, other)
            c.check(abs(found["radius_m"] + other["radius_m"]) < 0.2 * abs(found["radius_m"]), found, other)


def film(c):
    """A film gives nearly the same lines and scores as the road that it shows."""
    road = "road:seed=5,size=" + SIZE
    run(road, "--headless", "-p", "cpu", "-n", "24", "--record", "road.y4m", command="live")
    roads, films = find(road, "-n", "24", "--truth", "truth.json"), find("road.y4m")
    c.check(len(films) == 24, len(films))
    want, got = score(roads), score(films)
    for name in ("accuracy", "false_positives", "false_negatives", "f1"):
        c.check(abs(want[name] - got[name]) <= 0.002, name, want, got)
    for direct, film in list(zip(roads, films))[:20]:
        c.check(len(direct["lanes"]) == len(film["lanes"]), direct["raw_file"])
        for a, b in zip(direct["lanes"], film["lanes"]):
            c.check(all(abs(x - y) <= 3 for x, y in zip(a, b) if x >= 0 and y >= 0), a, b)


def solve(matrix, right):
    """Solves three linear equations by Cramer's rule."""
    def determinant(m):
        return sum(m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3])
                   for i in range(3))
    return [determinant([[right[i] if k == column else matrix[i][k] for k in range(3)] for i in range(3)]) /
            determinant(matrix) for column in range(3)]


def calibration(c):
    """Four points of the picture give the same lines as the angles of the camera."""
    focal, pitch, corners = 320 / math.tan(math.radians(31)), math.radians(4), []
    for x, z in [(-1.8, 5), (1.8, 5), (1.8, 30), (-1.8, 30)]:
        depth = 1.4 * math.sin(pitch) + z * math.cos(pitch)
        corners += [320 + focal * x / depth, 180 + focal * (1.4 * math.cos(pitch) - z * math.sin(pitch)) / depth]
    road = "road:seed=5,size=" + SIZE
    with open(at("camera.json"), "w", encoding="utf-8") as file:
        json.dump({"points": corners, "width": 3.6, "near": 5, "far": 30}, file)
    want = [frame["lanes"] for frame in find(road, "-n", "10")]
    for args in (["--points", ",".join(map(str, corners))], ["--config", "camera.json"]):
        done = run(road, "--headless", "--fast", "--json", "-n", "10", *args)
        got = [json.loads(line)["lanes"] for line in done.stdout.splitlines()]
        c.check(not done.stderr, args, done.stderr)
        c.check(all(abs(x - y) <= 2 for a, b in zip(want, got) for p, q in zip(a, b) for x, y in zip(p, q)), args)
        c.check([len(lanes) for lanes in want] == [len(lanes) for lanes in got], args)


def width(c):
    """--lane-width gives the height of the camera; JSON says where pitch and height come from. One line says that no
    frame has a lane."""
    road = "road:seed=5,level=clean,size=" + SIZE
    for args, frames, height, origin in ((["--lane-width", "3"], 34, 1.4 * 3 / 3.6, ("lines", "lines")),
                                         (["--camera", "height=1.7"], 2, 1.7, ("lines", "user"))):
        frame = find(road, "-n", str(frames), *args)[-1]
        c.check(abs(frame["height_m"] - height) < 0.06, args, frame["height_m"])
        c.check((frame["pitch_from"], frame["height_from"]) == origin, args, frame)
        c.check(abs(frame["width_m"] - 3.6 * height / 1.4) < 0.15, args, frame["width_m"])
    guess = "no frame of 3 has both lines of a lane, so the pitch of %s degrees and the height of %s m are a guess; "
    for args, told, origin in ((["-n", "3"], guess % ("4.0", "1.40"), "assumed"),
                               (["-n", "3", "--camera", "pitch=5,height=2"], guess % ("5.0", "2.00"), "user"),
                               (["-n", "91", "--points", "20,85,140,85,90,40,70,40"],
                                "no frame of 90 has both lines of a lane; move the points", "user")):
        done = run("road:level=empty,size=160x90@30", "--headless", "--fast", "--json", "-p", "cpu", *args)
        c.check(told in done.stderr and "--calibrate" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
        last = json.loads(done.stdout.splitlines()[-1])
        c.check(last["pitch_from"] == last["height_from"] == origin, last)


def pitch(c):
    """A pitch that is wrong by 5 degrees is found in the first frame, is said, and is right after 3 seconds. Without
    lines, it stays."""
    road = "road:seed=5,level=%s,size=" + SIZE
    want = find(road % "clean", "-n", "100")
    c.check(abs(want[-1]["pitch_deg"] - 4) <= 0.3 and abs(want[-1]["yaw_deg"]) <= 0.5, want[-1])
    for wrong, side in ((9, "below"), (-1, "above")):
        done = run(road % "clean", "--headless", "--fast", "--json", "-p", "cpu", "-n", "100", "--camera",
                   "pitch=%d" % wrong)
        got = [json.loads(line) for line in done.stdout.splitlines()]
        said = "pixels %s the horizon of --camera: pitch about " % side
        c.check(done.stderr.count("\n") == 1 and said in done.stderr, done.stderr)
        c.check(abs(got[-1]["pitch_deg"] - 4) <= 0.3, wrong, got[-1])
        for mine, other in (0, 0), (50, 50), (99, 99):
            c.check(len(got[mine]["lanes"]) == len(want[other]["lanes"]) > 1, wrong, got[mine], want[other])
            c.check(abs(got[mine]["offset_m"] - want[other]["offset_m"]) < 0.15, wrong, got[mine], want[other])
    with open(at("car.json"), "w", encoding="utf-8") as file:
        file.write('{"pitch": 8, "height": 1.4}')
    run(road % "clean", "--headless", "--fast", "-p", "cpu", "-n", "100", "--config", "car.json")
    with open(at("car.json"), encoding="utf-8") as file:
        kept = json.load(file)
    c.check(abs(kept["pitch"] - 4) <= 0.3 and abs(kept["yaw"]) <= 0.5 and kept["height"] == 1.4, kept)
    for frame in find(road % "empty", "-n", "40", "--camera", "pitch=2"):
        c.check(frame["pitch_deg"] == 2 and not frame["lanes"], frame)


def noise(c):
    """A film with noise has the lines of the road."""
    road, frames, rng = "road:seed=5,level=clean,size=" + SIZE, 3, random.Random(3)
    run(road, "--headless", "-p", "cpu", "-n", str(frames), "--record", "clean.y4m", command="live")
    with open(at("clean.y4m"), "rb") as file:
        head, data = file.readline(), bytearray(file.read())
    grain, luma, size = [round(rng.gauss(0, 16)) for _ in range(65537)], 640 * 360, len(data) // frames
    for frame in range(frames):
        start = frame * size + size - luma * 3 // 2 if b"C420" in head else frame * size + size - luma * 3
        for i in range(start, start + luma):
            data[i] = min(max(data[i] + grain[(i * 7 + frame) % 65537], 16), 235)
    with open(at("noisy.y4m"), "wb") as file:
        file.write(head + data)
    want, got = (sum(len(frame["lanes"]) for frame in find(name)) for name in ("clean.y4m", "noisy.y4m"))
    c.check(want >= 3 * frames and got == want, want, got)


def independent(c):
    """Each picture of a list is filtered, and has the lines, the pitch and the name that it has alone. The numbers fit
    the lines."""
    os.mkdir(at("list"))
    for seed in (5, 7, 9):
        run("road:seed=%d,level=clean,size=%s" % (seed, SIZE), "--headless", "-p", "cpu", "-n", "1", "--screenshot",
            "list/%d.png" % seed, command="live")
    wrong = ["--camera", "pitch=8", "--independent"]
    together = find("list", *wrong)
    c.check([frame["raw_file"] for frame in together] == ["list/%d.png" % seed for seed in (5, 7, 9)], together)
    for frame in together:
        alone, = find(frame["raw_file"], *wrong)
        c.check(all(alone[name] == frame[name] for name in alone if name not in ("run_time", "time_s")), alone, frame)
        c.check(abs(frame["pitch_deg"] - 4) < 0.3 and abs(frame["width_m"] - 3.6) < 0.15, frame)
        c.check(len(frame["confidences"]) == len(frame["lanes"]), frame)
        left, right = (frame["lanes"][i] for i in frame["own"])
        c.check(any(x > 0 for x in frame["centre"]), frame)
        c.check(all(a < x < b for a, x, b in zip(left, frame["centre"], right) if min(a, x, b) >= 0), frame)
    # However slow the search is, no picture is left out; and the one whose pitch was found is the screenshot.
    done = run("list", *wrong, "--headless", "--json", "-p", "cpu")
    c.check(done.stdout.count("\n") == 3, done.stdout)
    run("list/5.png", *wrong[:2], "--headless", "-p", "cpu", "--screenshot", "found.png")
    c.check(os.path.getsize(at("found.png")) > 1000, "the screenshot")


def several_sizes(c):
    """Pictures of several sizes have the lines that each has alone. A tiny one has none. Points fit only one size."""
    os.mkdir(at("list"))
    for name, size in (("a", "640x480"), ("b", SIZE), ("c", "128x80"), ("d", "640x480")):
        run("noise:" + size if name == "c" else "road:seed=5,size=" + size, "--headless", "-p", "cpu", "-n", "1",
            "--screenshot", "list/%s.png" % name, command="live")
    frames = find("list", "--independent", "-p", "cpu", "--screenshot", "last.png", "--measures")
    c.check([frame["raw_file"][5] for frame in frames] == list("abcd"), frames)
    c.check([len(frame["lanes"]) > 1 for frame in frames] == [True, True, False, True], frames)
    c.check(frames[2]["peaks_m"] == [] and not any(frames[2]["histogram"]), "the measures of a tiny one")
    for frame in frames[:2]:
        alone, = find(frame["raw_file"], "-p", "cpu")
        c.check(alone["lanes"] == frame["lanes"], alone, frame)
    c.check(frames[0]["lanes"] == frames[3]["lanes"], "the first size again")
    with open(at("last.png"), "rb") as file:
        c.check(struct.unpack(">2I", file.read(24)[16:]) == (640, 480), "the screenshot's size")
    done = run("list", "--independent", "--headless", "--json", "-p", "cpu", "--points",
               "200,470,440,470,360,260,280,260")
    c.check(done.stdout.count("\n") == 2 and done.stderr.count("skipped list/") == 2, done)


def scaled(c):
    """A calibration that has its size gives the same lines of a smaller film; another aspect ratio is refused."""
    k = 320 / math.tan(math.radians(31))
    points = []
    for x, z in ((-1.8, 5), (1.8, 5), (1.8, 30), (-1.8, 30)):
        depth = 1.4 * math.sin(math.radians(4)) + z * math.cos(math.radians(4))
        down = 1.4 * math.cos(math.radians(4)) - z * math.sin(math.radians(4))
        points += [320 + k * x / depth, 180 + k * down / depth]
    with open(at("car.json"), "w", encoding="utf-8") as file:
        json.dump({"size": [640, 360], "points": points}, file)
    small, large = ([frame["lanes"] for frame in find("road:seed=5,size=" + size, "--config", "car.json", "-n", "3")]
                    for size in (SIZE, "1280x720@30"))
    c.check(len(small[2]) == len(large[2]) > 1, small, large)
    for a, b in zip(small[2], large[2]):
        c.check(all(abs(2 * x - y) < 6 for x, y in zip(a, b) if min(x, y) >= 0), a, b)
    given = find("road:seed=5,size=1280x720@30", "--config", "car.json", "-n", "3", "--points",
                 ",".join(str(2 * v) for v in points))
    c.check([frame["lanes"] for frame in given] == large, "points of the command line are those of the frames")
    done = run("road:size=640x480@30", "--headless", "--config", "car.json", code=2)
    c.check("frames of 640x480: the calibration is for frames of 640x360, another aspect ratio" in done.stderr, done)


def loop(c):
    run("road:seed=5,size=" + SIZE, "--headless", "-p", "cpu", "-n", "2", "--record", "a.y4m", command="live")
    done = run("a.y4m", "--loop", "--headless", "--fast", "-n", "5", "-p", "cpu")
    c.check(done.stdout.startswith("5 frames: "), done.stdout)
    c.check(run("a.y4m", "--headless", "-n", "1", "-p", "cpu").stdout.startswith("1 frame: "), "one frame")
    c.check("--loop cannot repeat standard input" in run("-", "--loop", "--headless", code=2).stderr, "a pipe")


def lens(c):
    """A film through a lens with distortion gives the lines of the road, at their places in the film. The film is the
    road's picture, moved by the inverse of the lens: a lens whose terms are fitted to it."""
    focal, centre, (k1, k2) = 320 / math.tan(math.radians(31)), (319.5, 179.5), (-0.25, 0.06)
    matrix, right = [[0] * 3 for _ in range(3)], [0] * 3
    for i in range(1, 80):
        r = i / 100
        bent = r * (1 + k1 * r ** 2 + k2 * r ** 4)
        row = [bent ** 3, bent ** 5, bent ** 7]
        for a in range(3):
            right[a] += row[a] * (r - bent)
            for b in range(3):
                matrix[a][b] += row[a] * row[b]
    inverse = solve(matrix, right)
    pixels = "%f %f %f %f " % (focal, focal, *centre)
    road = "road:seed=5,size=" + SIZE
    run(road, "--headless", "-p", "cpu", "-n", "15", "--record", "bent.y4m", "-f",
        "undistort=%s %.9f %.9f 0 0 %.9f" % (pixels, *inverse), command="live")
    with open(at("lens.json"), "w", encoding="utf-8") as file:
        json.dump({"lens": pixels + "%f %f 0 0:zoom=0.8" % (k1, k2)}, file)

    def bend(x, y):
        a, b = (x - centre[0]) / focal, (y - centre[1]) / focal
        m = 1 + k1 * (a * a + b * b) + k2 * (a * a + b * b) ** 2
        return a * m * focal + centre[0], b * m * focal + centre[1]

    distances, offsets, moved = [], [], 0
    for got, want in list(zip(find("bent.y4m", "--config", "lens.json"), find(road, "-n", "15")))[5:]:
        c.check(len(got["lanes"]) == len(want["lanes"]) > 1, got, want)
        offsets.append(abs(got["offset_m"] - want["offset_m"]))
        for found, lane in zip(got["lanes"], want["lanes"]):
            plain = [(x, y) for x, y in zip(lane, want["h_samples"]) if x >= 0]
            line = [bend(x, y) for x, y in plain]
            moved = max([moved, *map(math.dist, plain, line)])
            for x, y in zip(found, got["h_samples"]):
                distances += [abs((x - x0) * (y1 - y0) - (x1 - x0) * (y - y0)) / math.dist((x0, y0), (x1, y1))
                              for (x0, y0), (x1, y1) in zip(line, line[1:]) if x >= 0 and y0 <= y < y1]
    # The search may see one line a little longer in one of the two pictures, so single frames may differ more.
    distances.sort()
    c.check(len(distances) > 800 and distances[len(distances) * 9 // 10] <= 2, len(distances), distances[-1])
    c.check(sorted(offsets)[len(offsets) * 8 // 10] < 0.03, offsets)
    c.check(moved > 20, "the lens is no test", moved)


def settings(c):
    """The configuration counts as soon as it is written. A wrong one is a line, and the former one stays."""
    def write(text):
        with open(at("new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(at("new"), at("lane.json"))

    write('{"smoothing": 0.5}')
    args = ["road:seed=5,size=" + SIZE, "--headless", "--json", "-p", "cpu", "-n", "9999", "--config", "lane.json"]
    with subprocess.Popen([BINARY, "lane", *args], cwd=at(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        def wait(state):
            for _ in range(300):
                if json.loads(process.stdout.readline())["state"] == state:
                    return
            raise AssertionError("no frame has the state " + state)

        wait("seen")
        write('{"contrast": 1000}')
        wait("none")
        for text, error in (('{"noise": ', "--config: line 1: "),
                            ('{"contrast": 0}', "--config: contrast must be a number "),
                            ('{"pitch": 80}', "the camera does not fit frames of 640x360: the camera does not see")):
            write(text)
            line = process.stderr.readline()
            c.check(error in line and line.endswith("; the former configuration stays in use\n"), line)
            c.check(json.loads(process.stdout.readline())["lanes"] == [], text)
        write("{}")
        wait("seen")
        process.terminate()
        _, err = process.communicate(timeout=60)
        c.check(process.returncode == 143 and not err, process.returncode, err)


# A program that answers with LINES, in metres from the camera, and exits after MOST frames. Its later starts exit at
# once.
DRAWS = """#!/usr/bin/env python3
import math, os, sys
width, height = int(sys.argv[1]), int(sys.argv[2])
focal, pitch = 320 / math.tan(math.radians(31)), math.radians(4)
matte = bytearray(width * height)
for row in range(height):
    angle = pitch + math.atan(((row + 0.5) * 360 / height - 180) / focal)
    if angle <= 0.005:
        continue
    depth = 1.4 / math.tan(angle) * math.cos(pitch) + 1.4 * math.sin(pitch)
    for middle in LINES:
        left, right = ((320 + focal * (middle + side) / depth) * width / 640 for side in (-0.15, 0.15))
        for x in range(max(int(left), 0), min(int(right) + 1, width)):
            share = min(right, x + 1) - max(left, x)
            matte[row * width + x] = max(matte[row * width + x], min(255, int(255 * share)))
for number in range(MOST if not os.path.exists("ended") else 0):
    if len(sys.stdin.buffer.read(width * height * 3)) < width * height * 3:
        sys.exit(0)
    sys.stdout.buffer.write(matte)
    sys.stdout.buffer.flush()
open("ended", "w").close()
sys.exit(3)
"""


def marks(c):
    """The lines of a program's matte are found in noise. Without its matte, there are no lines."""
    wide = 10  # pixels, as TuSimple's 20 of 1280
    lines, focal = (-5.4, -1.8, 1.8), 320 / math.tan(math.radians(31))
    env = {**os.environ, "XDG_CONFIG_HOME": at()}
    os.makedirs(at("monocle", "mattes"), mode=0o700)
    for name, most in (("drawn", 1000), ("dies", 10)):
        with open(at("monocle", "mattes", name), "w", encoding="utf-8") as file:
            file.write(DRAWS.replace("LINES", str(lines)).replace("MOST", str(most)))
        os.chmod(at("monocle", "mattes", name), 0o755)
    args = ["noise:" + SIZE, "--headless", "--fast", "--json", "-n", "30", "--marks"]
    found = [json.loads(line) for line in run(*args, "drawn", env=env).stdout.splitlines()]
    for frame in found:
        c.check(len(frame["lanes"]) == 3, frame)
        for middle, lane in zip(lines, frame["lanes"]):
            points = [(x, y) for x, y in zip(lane, frame["h_samples"]) if x >= 0]
            wrong = [(x, y) for x, y in points if abs(x - 320 - focal * middle / depth_of(y + 0.5, focal)) > wide]
            c.check(len(points) > 10 and not wrong, middle, wrong, frame)
    done = run(*args, "dies", env=env, code=1)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    c.check(len(found) == 30 and len(found[9]["lanes"]) == 3 and found[29]["lanes"] == [], found)
    c.check(done.stderr.count("the program of the matte 'dies' failed 4 times: it exited with status 3") == 1,
            done.stderr)
    for name, why in (("nobody", "there is no program 'nobody' in ~/.config/monocle/mattes"),
                      ("../drawn", "the name has letters, digits, '-' and '_'"),
                      ("person", "run: monocle matte --install person")):
        done = run(*args, name, env={**env, "XDG_DATA_HOME": at("data")}, code=2)
        c.check(why in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, name, done.stderr)


def depth_of(y, focal):
    """Returns the distance of the road in this row along the camera's axis."""
    pitch = math.radians(4)
    return 1.4 / math.tan(pitch + math.atan((y - 180) / focal)) * math.cos(pitch) + 1.4 * math.sin(pitch)


def errors(c):
    with open(at("lens.json"), "w", encoding="utf-8") as file:
        file.write('{"lens": "1 2 3"}')
    for args, text in ((["--config", "lens.json"], "--config: lens must have arguments of the undistort filter: "),
                       (["--camera", "height=nan"], "--camera: height must be a number from 0.2 to 10"),
                       (["--points", "1,1,1,1,1,1,1,1"], "the points must be the corners"),
                       (["--config", "none.json"], "--config: cannot read it: No such file"),
                       (["--camera", "pitch=80"], "the camera does not see the road ahead"),
                       (["-p", "cpu", "-d", "cpu"], "-d selects an OpenCL device, but -p cpu does not use one")):
        done = run("pattern:" + SIZE, "--headless", "-n", "1", *args, code=2)
        c.check(text in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, args, done.stderr)
    for size in ("159x90@30", "2x2@30", "640x88@30"):
        done = run("noise:" + size, "--headless", "-n", "1", code=2)
        c.check("too small to find lanes; give at least 160x90" in done.stderr and not done.stdout, size, done.stderr)


def pictures(name):
    with open(at(name), "rb") as file:
        return y4m_pictures(file.read())


def outputs(c):
    """The recording and the screenshot show the lines. They replace neither an input nor a file."""
    road = "road:seed=7,size=" + SIZE
    args = road, "--headless", "-p", "cpu", "-n", "8"
    run(*args, "--record", "plain.y4m", command="live")
    done = run(*args, "--record", "lines.y4m", "--screenshot", "last.png", "--trace", "trace.json")
    run("last.png", "--headless", "-p", "cpu", "--record", "last.y4m", command="live")
    plain, lines, last = pictures("plain.y4m"), pictures("lines.y4m"), pictures("last.y4m")
    c.check(len(lines) == len(plain) == 8 and last == lines[-1:] and not done.stderr, len(lines), done.stderr)
    third = 640 * 360
    red = [[sum(value > 190 for value in picture[2 * third:]) for picture in film] for film in (plain, lines)]
    c.check(max(red[0]) == 0 and min(red[1][2:]) > 1000, "red lines", red)
    with open(at("trace.json"), encoding="utf-8") as file:
        names = {event["name"] for event in json.load(file)}
    c.check({"find lines", "record"} <= names, sorted(names))
    with open(at("c.json"), "w", encoding="utf-8") as file:
        file.write("{}")
    for more, text in (["--record", "lines.y4m"], "exists; name another file, or add --overwrite"), (
            ["--record", "plain.y4m", "--overwrite"], "the output plain.y4m is the source"), (
            ["--json", "--record", "-"], "both write to standard output"), (
            ["--screenshot", "x.jpg"], "writes screenshots as PNG"), (
            ["--config", "c.json", "--trace", "c.json"], "is the file of --config"):
        done = run("plain.y4m", "--headless", *more, code=2)
        c.check(text in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, more, done.stderr)
    out = subprocess.run([BINARY, "lane", *args, "--record", "-"], cwd=at(), capture_output=True, check=True)
    c.check(y4m_pictures(out.stdout) == lines and b"8 frames:" in out.stderr, "a pipe", out.stderr)


def culane(c):
    """CULane's files have the points of the lines, from the bottom up: 10 rows apart, as in JSON."""
    os.mkdir(at("culane"))
    frames = find("road:seed=5,size=" + SIZE, "-n", "3", "--culane", "culane")
    names = ["road:seed=5,level=clean,size=640x360@30-%d.lines.txt" % number for number in range(3)]
    c.check(sorted(os.listdir(at("culane"))) == names, os.listdir(at("culane")))
    for frame, name in zip(frames, names):
        with open(at("culane/" + name), encoding="utf-8") as file:
            lines = [[float(word) for word in line.split()] for line in file]
        c.check(len(lines) == len(frame["lanes"]) >= 2, name, len(lines))
        for line, lane in zip(lines, frame["lanes"]):
            ys, want = line[1::2], dict(zip(frame["h_samples"], lane))
            c.check(len(ys) > 5 and all(a - b == 10 for a, b in zip(ys, ys[1:])) and ys[0] % 10 == 9, name, ys)
            near = [abs(x - want[y + 1]) for x, y in zip(line[::2], ys) if want.get(y + 1, -1) >= 0]
            c.check(len(near) > 2 and max(near) < 8, name, near)
    for directory in "none", "":
        done = run("road:seed=5,size=" + SIZE, "--headless", "-p", "cpu", "-n", "1", "--culane", directory, code=3)
        c.check("to '%s' (--culane); name an existing, writable directory" % directory in done.stderr, done.stderr)
    done = run("road:seed=5,size=" + SIZE, "--headless", "-p", "cpu", "-n", "1", "--culane", "culane", code=1)
    c.check("File exists; name another directory, or add --overwrite" in done.stderr, done.stderr)
    run("road:seed=5,size=" + SIZE, "--headless", "-p", "cpu", "-n", "1", "--culane", "culane", "--overwrite")


def culane_pictures(c):
    """A `#` in a picture's name is no frame number. Listed pictures keep their directories, without `..`."""
    for name in "one", "two", "one/a", "out", "flat":
        os.mkdir(at(name))
    home = os.path.basename(os.path.normpath(at()))
    names = ["one/x.png", "./two/x.png", "../%s/one/a/x#7.png" % home, at("two/y#.png")]
    for name in names:
        run("road:seed=5,size=" + SIZE, "--headless", "-p", "cpu", "-n", "1", "--screenshot", name, command="live")
    with open(at("list.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(names) + "\n")
    find("@list.txt", "--independent", "--culane", "out")
    got = sorted(os.path.relpath(os.path.join(place, name), at("out")) for place, _, files in os.walk(at("out"))
                 for name in files)
    want = sorted(["one/x.lines.txt", "two/x.lines.txt", home + "/one/a/x#7.lines.txt",
                   at("two/y#.lines.txt").lstrip("/")])
    c.check(got == want, got, want)
    find("two", "--independent", "--culane", "flat")
    c.check(sorted(os.listdir(at("flat"))) == ["x.lines.txt", "y#.lines.txt"], os.listdir(at("flat")))


def measures(c):
    """The sums, their histogram and its peaks: the lines are at the peaks, a lane apart."""
    plain = find("road:seed=5,size=" + SIZE, "-n", "3")
    frames = find("road:seed=5,size=" + SIZE, "-n", "3", "--measures")
    for frame, without in zip(frames, plain):
        sums, histogram, peaks = frame["sums"], frame["histogram"], frame["peaks_m"]
        c.check(len(sums) == 40 and all(len(strip) == 320 for strip in sums) and len(histogram) == 320, len(sums))
        c.check(frame["lanes"] == without["lanes"] and "sums" not in without, without.keys())
        c.check(0 < max(map(max, sums)) <= 2550 and min(map(min, sums)) >= 0, max(map(max, sums)))
        c.check(len(peaks) >= 2 and all(histogram[int((peak + 8) * 20)] > 0.1 for peak in peaks), peaks)
        near = sorted(peaks)
        c.check(all(abs(b - a - 3.6) < 0.3 for a, b in zip(near, near[1:])), near)
    done = run("road:seed=5,size=" + SIZE, "--headless", "-n", "1", "--measures", code=2)
    c.check("--measures prints nothing without --json" in done.stderr, done.stderr)


def yellow(c):
    """A yellow line on concrete of the same luma is found, beside a white one."""
    focal, pitch = 320 / math.tan(math.radians(31)), math.radians(4)
    pixels = bytearray(bytes((170, 170, 170)) * (640 * 360))
    for y in range(150, 360):
        angle = pitch + math.atan((y + 0.5 - 180) / focal)
        z = 1.4 / math.tan(angle) if angle > 0.02 else 100
        for x in range(640 if z < 70 else 0):
            place = (x + 0.5 - 320) / focal * (z * math.cos(pitch) + 1.4 * math.sin(pitch))
            for at_m, colour in (-1.8, (74, 170, 200)), (1.8, (230, 230, 230)):  # blue, green, red
                if abs(place - at_m) < 0.08:
                    pixels[3 * (640 * y + x):3 * (640 * y + x) + 3] = bytes(colour)
    with open(at("yellow.tga"), "wb") as file:
        file.write(bytes((0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)) + struct.pack("<HHBB", 640, 360, 24, 32) + pixels)
    frame, = find("yellow.tga", "--independent")
    c.check(frame["own"] == [0, 1] and abs(frame["width_m"] - 3.6) < 0.2, frame["own"], frame["width_m"])


def asked(c):
    """Through the socket: the lines, figures, a pause, a screenshot and a recording with the lines, and the end."""
    process = subprocess.Popen([BINARY, "lane", "road:seed=7,size=" + SIZE, "--headless", "-p", "cpu", "--json",
                                "--socket", at("s")], cwd=at(), stdout=subprocess.PIPE, text=True)
    client = Control(at("s"), process=process)
    client.ask("wait_frame", 3)
    client.ask("set_property", "paused", True)
    shown, lines = client.ask("wait_frame"), client.get("lines")
    c.check((client.get("paused"), client.get("path"), client.get("size")) == (True, "cpu", "320x400"),
            client.get("status"))
    name = client.ask("screenshot")
    c.check(client.get("frames") == shown, "frames while it is paused", client.get("frames"), shown)
    client.ask("set_property", "paused", False)
    client.ask("set_property", "recording", "lines.y4m")
    client.ask("wait_frame", shown + 4)
    client.ask("set_property", "recording", "none")
    for command, error in ((("set_property", "chain", "gray"), "chain cannot be set"),
                           (("set_property", "source", "road"), "the source cannot change in this command"),
                           (("key", "record"), "this run has no keys")):
        c.check(error in client.error(*command), command, client.error(*command))
    client.ask("quit")
    out = [json.loads(line) for line in process.communicate(timeout=60)[0].splitlines()]
    c.check(process.returncode == 0 and lines == out[shown - 1] and lines["state"] == "seen", lines, out[shown - 1])
    run(name, "--headless", "-p", "cpu", "--record", "shot.y4m", command="live")
    drawn = pictures("shot.y4m") + pictures("lines.y4m")
    red = [sum(value > 190 for value in picture[2 * 640 * 360:]) for picture in drawn]
    c.check(len(red) > 2 and min(red) > 1000, "red lines", red)
    c.check(not os.path.exists(at("s")), "the socket stays")


def files(c):
    """A wrong configuration is one line that names the member, and exit code 2."""
    for text, said in WRONG_FILES:
        with open(at("wrong.json"), "w", encoding="utf-8") as file:
            file.write(text)
        done = run("pattern:" + SIZE, "--headless", "-n", "1", "--config", "wrong.json", code=2)
        c.check("--config: " in done.stderr and said in done.stderr and done.stderr.count("\n") == 1, text, done.stderr)
        c.check(not done.stdout, text, done.stdout)
    os.mkdir(at("directory"))
    done = run("pattern:" + SIZE, "--headless", "-n", "1", "--config", "directory", code=2)
    c.check("--config: cannot read it: " in done.stderr and done.stderr.count("\n") == 1, done.stderr)


@slow
def degenerate(c):
    """Points of any kind are refused with one line, or give numbers."""
    rng = random.Random(5)
    good = [100, 350, 540, 350, 360, 200, 280, 200]
    tried = [[0] * 8, [1e5] * 8, [-1e5] * 8, good[::-1], good[4:] + good[:4], [640 - v for v in good],
             [100, 200, 540, 200, 360, 350, 280, 350], [100, 350, 540, 350, 540, 350, 100, 350],
             [-1e5, 1e5, 1e5, 1e5, 321, 170, 319, 170], [100, 350, 540, 350, 320.001, 200, 320, 200],
             [100, 350, 540, 350, 540, 200, 100, 200], [100, 350, 540, 350, 640, 200, 0, 200]]
    tried += [[v + rng.gauss(0, rng.choice((1, 30, 150))) for v in good] for _ in range(60)]
    seen = 0
    for points in tried:
        args = ["road:seed=5,size=" + SIZE, "--headless", "--fast", "--json", "-p", "cpu", "-n", "3", "--points",
                ",".join(map(repr, points))]
        done = subprocess.run([BINARY, "lane", *args], cwd=at(), capture_output=True, text=True, timeout=60)
        frames = [json.loads(line, parse_constant=lambda word: 1 / 0) for line in done.stdout.splitlines()]
        refused = done.returncode == 2 and not frames and "; change the calibration" in done.stderr
        c.check(refused or (done.returncode == 0 and len(frames) == 3), points, done)
        said = re.fullmatch(r"monocle: warning: no frame of 3 has both lines of a lane; move the points with "
                            r"--calibrate\n|", done.stderr)
        c.check(done.stderr.count("\n") == 1 if refused else said, points, done.stderr)
        seen += not refused
    c.check(3 < seen < len(tried) - 10, seen, "of", len(tried))


def window(c):
    """The keys 1 to 6 choose the camera, a stage or the search, Tab the split view, and q ends the run.

    The recording has the camera.
    """
    run_in = Window(BINARY, "road:seed=7,size=640x400@30", "--record", "keys.y4m")
    wanted = {"1": (is_red,), "2": (is_red,), "3": (is_red,), "4": (is_red,), "5": (is_blue, is_yellow),
              "6": (is_red, is_green, is_yellow)}
    shots, last = {}, None
    for key, tests in wanted.items():
        run_in.key(key)

        def shown():
            shots[key] = run_in.shot()
            return shots[key] != last and all(len(places(shots[key], test)) > 100 for test in tests)

        c.check(wait_until(shown), "key", key, [len(places(shots[key], test)) for test in tests])
        last = shots[key]
    run_in.key("o")
    last = places(shots["6"][:40], lambda *pixel: min(pixel) > 200)  # the text and some of the marks
    c.check(wait_until(lambda: 4 * len(places(run_in.shot()[:40], lambda *pixel: min(pixel) > 200)) < len(last)), "o")
    run_in.key("1")
    for split in (True, False):  # the picture without lines is on the left
        run_in.key("Tab")

        def sides():
            red = [x < len(shot[0]) // 2 for shot in [run_in.shot()] for x, _ in places(shot, is_red)]
            return red.count(False) > 100 and (red.count(True) == 0) == split

        c.check(wait_until(sides), "split view", split)
        if split:  # with the divider at the right edge, the picture without lines is all
            run_in.drag((320, 200), (639, 200))
            c.check(wait_until(lambda: not places(run_in.shot(), is_red)), "the divider moves")
            run_in.drag((639, 200), (320, 200))
    code, out, err = run_in.end()
    c.check(code == 0 and "none in 0;" in out and not err, code, out, err)
    c.check([name for name in os.listdir(at()) if "keys" in name] == ["keys.y4m"], os.listdir(at()))
    with open(at("keys.y4m"), "rb") as file:
        c.check(file.read(23) == b"YUV4MPEG2 W640 H400 F30", "the size of the recording")
    sums_and_windows(c, shots["5"], shots["6"])


def sums_and_windows(c, sums, windows):
    """The peaks of the sums are a lane apart. The windows of a line are around their points."""
    marks = sorted({x for x, _ in places(sums[380:395], is_yellow)})  # 320x400 pixels show 16x56 m
    peaks = [mark for i, mark in enumerate(marks) if i == 0 or mark > marks[i - 1] + 2]
    metres = [b / 20 - a / 20 for a, b in zip(peaks, peaks[1:])]
    c.check(len(peaks) >= 2 and all(abs(m - 3.6) < 0.3 for m in metres), "peaks at", marks, metres)
    green, around = {}, 0
    for x, y in places(windows, is_green):
        green.setdefault(y, set()).add(x)
    points = [(x, y) for x, y in places(windows, is_yellow) if y in green]
    for x, y in points:
        around += any(x - 15 <= g < x for g in green[y]) and any(x < g <= x + 15 for g in green[y])
    c.check(len(points) > 100 and around >= 0.98 * len(points), "windows around points:", around, "of", len(points))


sys.exit(Checks().run(levels, paths, facts, none, bends, film, calibration, width, pitch, noise, independent,
                      several_sizes, scaled, loop, lens, settings, marks, errors, outputs, culane, culane_pictures,
                      measures, yellow, asked, files, degenerate, window))
