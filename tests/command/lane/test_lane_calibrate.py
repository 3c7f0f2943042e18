#!/usr/bin/env python3
"""test_lane_calibrate.py MONOCLE: monocle lane --calibrate: points moved by mouse and keys, and the file that gets them

Enter prints a line in any case, so a test waits for it and not for a time.
"""
import json
import math
import os
import select
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from lane_support import Window, is_red, is_yellow, places
from live_support import environment, wait_until

BINARY, = programs(1)
ROAD = "road:seed=7,level=clean,size=640x400@30"  # the window shows it at 1:1, with 320x400 pixels right of it
GOOD = [100, 390, 540, 390, 360, 220, 280, 220]


def corners(width=3.6, near=5, far=30):
    """Returns the points that the default angles give: 1.4 m high, 4 degrees down, 62 degrees wide."""
    focal, pitch, points = 320 / math.tan(math.radians(31)), math.radians(4), []
    for x, z in [(-width / 2, near), (width / 2, near), (width / 2, far), (-width / 2, far)]:
        depth = 1.4 * math.sin(pitch) + z * math.cos(pitch)
        points += [320 + focal * x / depth, 200 + focal * (1.4 * math.cos(pitch) - z * math.sin(pitch)) / depth]
    return points


def write(name, value):
    with open(at(name), "w", encoding="utf-8") as file:
        file.write(value if isinstance(value, str) else json.dumps(value))


def read(name):
    with open(at(name), encoding="utf-8") as file:
        return json.load(file)


def near(got, want, limit=0.011):
    return len(got) == len(want) and all(abs(a - b) <= limit for a, b in zip(got, want))


class Calibration(Window):
    def __init__(self, *args):
        source = () if args and args[0][0] != "-" else (ROAD,)
        super().__init__(BINARY, *source, *args, "--calibrate")

    def wait(self):
        """Waits for the first picture: its sky."""
        wait_until(lambda: sum(min(pixel) > 90 for row in self.shot()[60:90] for pixel in row[400:640]) > 3000)

    def enter(self, failed=False):
        """Presses Enter. Returns the line that it prints."""
        self.key("Return")
        stream = self.process.stderr if failed else self.process.stdout
        if not select.select([self.process.stdout, self.process.stderr], [], [], 60)[0]:
            raise AssertionError("Enter prints nothing")
        return stream.readline() if select.select([stream], [], [], 0)[0] else "another line"


def points(c):
    """Enter writes the points of the angles, then the points that keys and mouse have moved."""
    write("car.json", {"roll": 0, "width": 3.5, "near": 6, "far": 30, "points": corners(3.5, 6)})
    window, want = Calibration("--config", "car.json"), corners(3.5, 6)
    c.check(window.enter() == "wrote car.json\n", "the first line")
    found = read("car.json")
    c.check(near(found.pop("points"), want), found, want)
    c.check(found == {"roll": 0, "width": 3.5, "near": 6, "far": 30, "size": [640, 400]}, found)
    window.key("Tab", "Right", "Right", "Right", "Down", "Down", "Tab", "Left", "Up")
    window.enter()
    want = [a + b for a, b in zip(want, [0, 0, 3, 2, -1, -1, 0, 0])]
    c.check(near(read("car.json")["points"], want), "keys", read("car.json"), want)
    x, y = (round(v) for v in want[6:])
    window.drag((x + 4, y - 3), (x - 50, y + 90), (x - 2, y))
    window.drag((20, 20), (300, 210))  # no point is near
    window.drag((x - 7, y + 4), (x - 7, y + 5))
    window.enter()
    want = [a + b for a, b in zip(want, [0, 0, 0, 0, 0, 0, -6, 4])]
    c.check(near(read("car.json")["points"], want, 0.03), "mouse", read("car.json"), want)
    time.sleep(0.5)  # else the two presses are a double click
    window.drag((x - 6, y + 4), (900, 395))  # beyond the picture
    window.drag((640, 395), (x, y))
    window.enter()
    c.check(abs(read("car.json")["points"][6] - x) < 5, "back from the edge", read("car.json"))
    code, out, err = window.end()
    c.check((code, out, err) == (0, "", "") and os.listdir(at()) == ["car.json"], code, out, err, os.listdir(at()))


def sizes(c):
    """After the points, Tab selects the sizes of the rectangle on the road. The points stay."""
    write("car.json", {"width": 3.55, "points": corners(3.55)})
    window = Calibration("--config", "car.json")
    window.key(*["Tab"] * 4, "Right", "Right", "Up", "Left")
    window.key("Tab", "Down", "Tab", "Up", "Up", "Tab", "Right")
    window.enter()
    want, found = corners(3.55), read("car.json")
    want[0] += 1
    c.check(near(found.pop("points"), want), found, want)
    c.check(found == {"width": 3.75, "near": 4.9, "far": 30.2, "size": [640, 400]}, found)
    c.check(window.end()[0] == 0, "exit code")


def scaled(c):
    """Points and a lens of a file with another size are scaled to the frames, and Enter writes the scaled ones."""
    write("car.json", {"size": [1280, 800], "points": [2 * v for v in corners()],
                       "lens": "1000 1000 639.5 399.5 -0.1 0.02 0 0:zoom=0.9"})
    window = Calibration("--config", "car.json")
    c.check(window.enter() == "wrote car.json\n", "the line")
    found = read("car.json")
    c.check(near(found["points"], corners()) and found["size"] == [640, 400], found)
    numbers, model, zoom = found["lens"].split(":")
    want = [500, 500, 319.5, 199.5, -0.1, 0.02, 0, 0, 0]
    c.check(near([float(v) for v in numbers.split()], want, 1e-4), found)
    c.check((model, abs(float(zoom) - 0.9) < 1e-5) == ("radial", True) and window.end()[0] == 0, found)


def lines(c):
    """The file gives the lines of the road. lane.json is the default file; Escape does not write it."""
    window = Calibration()
    window.wait()
    c.check(window.enter() == "wrote lane.json\n", "the default file")
    before = read("lane.json")
    window.key("Left", "Left")
    code, out, err = window.end("Escape")
    c.check((code, out, err) == (0, "", "") and read("lane.json") == before, code, out, err)
    found = [json.loads(subprocess.run([BINARY, "lane", ROAD, "--headless", "--fast", "--json", "-n", "1", *args],
                                       cwd=at(), check=True, capture_output=True, text=True).stdout)["lanes"]
             for args in ([], ["--config", "lane.json"])]
    c.check(len(found[0]) == len(found[1]) >= 2, found)
    for a, b in zip(*found):
        c.check(near(a, b, 2), a, b)


def begin(c):
    """The rectangle begins on the lane of the first picture. A guess that nobody moved is not written at once."""
    window = Calibration("--camera", "pitch=9", "--lane-width", "3.3")
    window.wait()
    c.check(window.enter() == "wrote lane.json\n", "lines")
    found, focal = read("lane.json"), 320 / math.tan(math.radians(31))
    x0, y0, x1, y1, x2, y2, x3, y3 = found["points"]
    left, right = (x3 - x0) / (y3 - y0), (x2 - x1) / (y2 - y1)
    horizon = y0 + (x1 - x0) / (left - right)
    c.check(abs(horizon - (200 - focal * math.tan(math.radians(4)))) < 12 and abs(y0 - y1) < 1, horizon, found)
    c.check(abs(found["width"] - 3.3) < 0.05 and y0 > y3 + 50, found)
    c.check(window.end()[0] == 0, "exit code")
    os.remove(at("lane.json"))
    window = Calibration("noise:640x400@30")
    c.check("press Enter again" in window.enter(failed=True) and not os.path.exists(at("lane.json")), "no question")
    c.check(window.enter() == "wrote lane.json\n" and near(read("lane.json")["points"], corners()), "the second Enter")
    c.check(window.end()[0] == 0, "exit code")


def bird(c):
    """The view from above follows the points. With the right ones, the road's lines are 3.6 m apart."""
    window = Calibration()
    window.wait()
    window.key("space")
    shot = []

    def shown():
        shot[:] = window.shot()
        held = shot == window.shot() and len(shot[0]) == 960
        return held and len(places([row[640:] for row in shot], is_yellow)) > 200

    c.check(wait_until(shown), "the rectangle in the view from above")
    right = [row[640:] for row in shot[250:380]]
    white = sorted(x for x in range(320) if sum(min(row[x]) > 180 for row in right) > 15)
    lanes = [x for i, x in enumerate(white) if i == 0 or x > white[i - 1] + 5]
    c.check(len(lanes) >= 2 and all(abs(b - a - 72) < 8 for a, b in zip(lanes, lanes[1:])), "lines at", white)
    still, moved = window.shot(), []
    window.key(*["Right"] * 40)

    def changes():
        moved[:] = window.shot()
        return sum(a != b for p, q in zip(still, moved) for a, b in zip(p[640:], q[640:]))

    c.check(wait_until(lambda: changes() > 10000), "changed pixels of the view:", changes())
    c.check([r[:200] for r in still[80:200]] == [r[:200] for r in moved[80:200]], "the picture is not held")

    def panel(rows):
        return sum(max(pixel) < 100 for row in rows[:50] for pixel in row[:300])

    window.key("o")
    c.check(panel(moved) > 1000 and wait_until(lambda: panel(window.shot()) == 0), "o hides the text", panel(moved))
    c.check(window.end()[0] == 0, "exit code")


def wrong(c):
    """Impossible points are red, have a reason, and are not written."""
    def refused(text):
        line = window.enter(failed=True)
        c.check(line == "monocle: error: lane.json is not written: %s\n" % text, line)
        c.check(not os.path.exists(at("lane.json")), "the file is written")

    window = Calibration("--points", "100,390,300,390,500,390,280,220")
    refused("three points are in a line")

    def red():
        shot = window.shot()
        dark = sum(max(pixel) < 40 for row in shot for pixel in row[640:])
        return len(places([row[:640] for row in shot], is_red)) > 500 and dark > 100000

    c.check(wait_until(red), "not shown as wrong")
    window.drag((500, 390), (200, 250))
    refused("two sides cross, or a corner points inwards")
    window.drag((200, 250), (360, 220))
    window.drag((300, 390), (540, 390))
    c.check(window.enter() == "wrote lane.json\n" and near(read("lane.json")["points"], GOOD), read("lane.json"))
    c.check(wait_until(lambda: not red()), "still shown as wrong")
    os.remove(at("lane.json"))
    write("lane.json", "[]")
    c.check("lane.json is not written: it must be a JSON object such as" in window.enter(failed=True), "other file")
    c.check(read("lane.json") == [] and window.end()[0] == 0, "the other file is kept")
    os.remove(at("lane.json"))
    window = Calibration("--points", "540,390,100,390,280,220,360,220")
    refused("the points must be the corners near left, near right, far right, far left of a rectangle on the road; "
            "change the calibration")
    c.check(window.end()[0] == 0, "exit code")
    window = Calibration("--config", "none/lane.json", "--points", ",".join(map(str, GOOD)))
    c.check("none/lane.json is not written: cannot write it: No such file" in window.enter(failed=True), "no folder")
    c.check(window.end()[0] == 0, "exit code")


def ends(c):
    """At the end of a film, the last picture stays. A signal ends the run."""
    subprocess.run([BINARY, "live", ROAD, "--headless", "-p", "cpu", "-n", "2", "--record", "a.y4m"], cwd=at(),
                   check=True, capture_output=True)
    window = Window(BINARY, "a.y4m", "--calibrate")
    c.check(wait_until(lambda: len(places(window.shot(), is_yellow)) > 200), "the last picture")
    window.process.terminate()
    out, err = window.process.communicate(timeout=60)
    c.check((window.process.returncode, out, err) == (143, "", ""), window.process.returncode, out, err)


def errors(c):
    def refused(code, text, *args, **env):
        done = subprocess.run([BINARY, "lane", ROAD, "--calibrate", *args], cwd=at(), capture_output=True, text=True,
                              timeout=60, env=environment(**env))
        c.check(done.returncode == code and text in done.stderr and done.stderr.count("\n") == 1, args, done)

    refused(2, "--headless", "--headless")
    refused(2, "--json", "--json")
    write("lane.json", '{"near": 30, "far": 10}')
    refused(2, "'near' must be less than 'far'")
    write("lane.json", "{")
    refused(2, "--config: line 1")
    refused(2, "the camera does not see the road ahead", "--config", "new.json", "--camera", "pitch=80")
    refused(3, "--calibrate needs a window, which cannot be opened", "--config", "new.json", DISPLAY=":none")
    c.check(os.listdir(at()) == ["lane.json"], os.listdir(at()))


sys.exit(Checks().run(points, sizes, scaled, lines, begin, bird, wrong, ends, errors))
