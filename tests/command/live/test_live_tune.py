#!/usr/bin/env python3
"""test_live_tune.py MONOCLE_MISLED MONOCLE: `live --tune`: frames while it tunes, results, faulty drivers, signals

MONOCLE_MISLED makes every device a GPU, and makes its driver misbehave in the child (tests/support/misled.c)."""
import itertools
import json
import os
import signal
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, skip
from live_support import environment, events, has_opencl, run, wait_until, y4m_pictures

MISLED, MONOCLE = programs(2)
CHAIN = ("pattern:64x48@100,rgba", "-f", "invert", "--json")

if not has_opencl(MISLED):
    skip("there is no OpenCL device")


def settings(**more):
    """Returns the environment of a run. Without a display, a recording is not faster than the source."""
    return {"DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_CACHE_HOME": at("cache"), "XDG_DATA_HOME": at("data"),
            "TEST_LIMIT_MS": "100000", "TEST_CONFIGURATIONS": "4", "TEST_CHILDREN": at("children"),
            **more}


def prepare(c):
    os.mkdir(at("cache"))
    os.mkdir(at("data"))


def start(*args, **env):
    return subprocess.Popen([MISLED, "live", *CHAIN, "-p", "opencl", "--tune", "--frames", "1000000", *args],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=at(),
                            env=environment(**settings(**env)))


def check_frames(c, name, summary):
    """The recording has the frames of the cpu path, except skipped ones."""
    code, _, err = run(MONOCLE, "live", *CHAIN, "-p", "cpu", "--headless", "--frames", str(summary["captured"]),
                       "--record", "right.y4m", cwd=at())
    with open(at(name), "rb") as got, open(at("right.y4m"), "rb") as right:
        got, left = y4m_pictures(got.read()), iter(y4m_pictures(right.read()))
        c.check(code == 0 and len(got) >= summary["frames"], code, len(got), summary["frames"], err)
        c.check(all(frame in left for frame, _ in itertools.groupby(got)), "frames of", name)  # repeated: skipped ones


def stored(c):
    """Returns the results of the user."""
    code, out, err = run(MISLED, "tuned", "list", "--json", **settings())
    c.check(code == 0, code, err)
    return [entry for entry in json.loads(out) if entry["level"] == "user"]


def tunes(c):
    """It ends with a stored result, and never uses a configuration that computes wrong bytes. All frames are right."""
    process = start("--record", "all.y4m", TEST_MISBEHAVE="wrong", TEST_ONLY="generic")
    last, paths = None, set()
    for line in process.stdout:
        last = json.loads(line)
        paths |= {row["choice"] for row in last.get("passes", [])}
        if (last.get("tuning") or {}).get("state") in ("done", "ended"):
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate(timeout=200)
    c.check(process.returncode == 130 and err.count("\n") == 1, process.returncode, err)
    summary = json.loads(out.splitlines()[-1])
    tuning, (row,) = summary["tuning"], summary["passes"]
    c.check(tuning["state"] == "done" and tuning["tuned"] == 1 and tuning["pass"] == "invert", tuning)
    c.check(1 <= tuning["failed"] < tuning["tried"] == 4 and tuning["gain"] >= 1, tuning)
    c.check((row["from"], row["match"]) == ("run", "same device and size"), row)
    c.check(not any(choice.startswith("generic") for choice in paths), paths)
    check_frames(c, "all.y4m", summary)
    results = stored(c)
    c.check([(entry["pass"], entry["choice"]) for entry in results] == [("rgba>invert>buffer", row["choice"])], results)
    c.check(results and abs(results[0]["speed_up"] - tuning["gain"]) < 0.02, results, tuning)
    code, out, err = run(MISLED, "live", *CHAIN, "-p", "opencl", "--tune", "--frames", "20", "--headless",
                         cwd=at(), **settings())
    summary = events(out)[-1]
    c.check(summary["tuning"]["state"] == "done" and summary["tuning"]["tried"] == 0, "again", summary, err)
    c.check((summary["passes"][0]["from"], summary["passes"][0]["choice"]) == ("user", row["choice"]), summary)


def quits(c):
    """A signal ends the run while a child hangs. No frame of the recording is lost, and no child is left."""
    process = start("--record", "cut.y4m", "--socket", at("m"), TEST_MISBEHAVE="hang", TEST_ONLY="generic",
                    TEST_CHILDREN=at("hung"))
    frames = 0
    for line in process.stdout:
        event = json.loads(line)
        frames = event.get("frames", 0)
        with open(at("hung"), encoding="utf-8") as file:
            children = [int(number) for number in file]
        # the first child is the probe of the default, the second one its validation
        if len(children) >= 3 and frames > 0:
            break
    c.check(run(MISLED, "ctl", at("m"), "set", "tune", "off")[0] == 0, "off")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    c.check(process.returncode == 130 and err.count("\n") == 1, process.returncode, err)
    summary = json.loads(out.splitlines()[-1])
    c.check(summary["event"] == "summary" and summary["frames"] >= frames > 0, summary)
    c.check(summary["tuning"]["state"] == "paused", summary["tuning"])
    c.check(summary["tuning"]["text"].endswith(" (paused: tune is off)"), summary["tuning"])
    c.check(wait_until(lambda: not any(os.path.exists("/proc/%d" % child) for child in children)), "a child is left")
    c.check(stored(c) == [], "the search was cut short", stored(c))
    check_frames(c, "cut.y4m", summary)


def unstarted(c):
    """No child can be started, so no configuration is tested: nothing is stored, and no pass counts as tuned."""
    process = start("--headless", TEST_MISBEHAVE="unstarted")
    for line in process.stdout:
        if (json.loads(line).get("tuning") or {}).get("state") in ("done", "ended"):
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate(timeout=60)
    tuning = json.loads(out.splitlines()[-1])["tuning"]
    c.check(process.returncode == 130 and "could be timed" in err and err.count("\n") == 1, process.returncode, err)
    c.check((tuning["state"], tuning["tuned"], tuning["failed"]) == ("ended", 0, 4), tuning)
    c.check(stored(c) == [], stored(c))


def nothing(c):
    """The cpu path has nothing to tune, and says so."""
    args = ("live", *CHAIN, "-p", "cpu", "--headless", "--frames", "3")
    code, out, err = run(MONOCLE, *args, "--tune", cwd=at(), **settings())
    c.check(code == 0 and err.count("\n") == 1 and "nothing to tune" in err, code, err)
    c.check(events(out)[-1]["tuning"]["state"] == "nothing" and events(out)[-1]["passes"] == [], out)
    c.check(events(run(MONOCLE, *args)[1])[-1]["tuning"] is None, "without --tune")


sys.exit(Checks().run(tunes, quits, unstarted, nothing, before=prepare))
