#!/usr/bin/env python3
"""test_tune.py MONOCLE_MISLED MONOCLE: `monocle tune` on a device: its trials, its choice, faulty drivers

MONOCLE_MISLED makes every device a GPU, and makes its driver misbehave in the child (tests/support/misled.c)."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, skip
from live_support import has_opencl, png, run

MISLED, MONOCLE = programs(2)
SMALL = ("-f", "invert", "-s", "64x48")

if not has_opencl(MISLED):
    skip("there is no OpenCL device")

# PoCL's own cache is shared by all checks: it changes only their duration.
pocl = tempfile.TemporaryDirectory()


def settings(**more):
    """Returns the environment of a run. The limit of a child is long, because the machine may be busy."""
    return {"XDG_CACHE_HOME": at("cache"), "XDG_DATA_HOME": at("data"), "TEST_LIMIT_MS": "100000",
            "TEST_CHILDREN": at("children"), "POCL_CACHE_DIR": pocl.name, **more}


def prepare(c):
    os.mkdir(at("cache"))
    os.mkdir(at("data"))


def tune(*args, binary=MISLED, **env):
    """Returns the exit code, the JSON objects of the passes, and standard error."""
    code, out, err = run(binary, "tune", "--json", *args, **settings(**env))
    return code, [json.loads(line) for line in out.splitlines()], err


def tries(c):
    """Each configuration is tried once, the default first. The winner is one of them."""
    code, (found,), err = tune(*SMALL, "--search", "random", "--budget", "6", binary=MONOCLE)
    choices = [trial["choice"] for trial in found["trials"]]
    c.check(code == 0 and err == "", code, err)
    c.check(found["tried"] == 6 == len(set(choices)), found)
    c.check(found["failed"] == 0 and all(trial["ms"] > 0 for trial in found["trials"]), found)
    c.check(choices[0] == found["default"] and found["best"] in choices, found)
    c.check((found["speedup"] == 1) == (found["best"] == found["default"]), found)
    c.check(found["pass"] == "invert" and found["width"] == 64 and found["format"] == "rgba", found)


def stores(c):
    """The winner is in the user's database, and the next run uses it. Another tuning replaces it."""
    png(at("picture.png"), 64, 48)
    for seed in ("1", "2"):
        code, (found,), err = tune(*SMALL, "--formats", "rgb24", "--search", "random", "--budget", "4", "--seed", seed,
                                   binary=MONOCLE)
        c.check(code == 0, code, err)
        code, out, err = run(MONOCLE, "tuned", "list", "--json", **settings())
        rows = [row for row in json.loads(out) if row["level"] == "user"]
        c.check(code == 0 and len(rows) == 1, code, out, err)
        c.check((rows[0]["pass"], rows[0]["choice"]) == ("rgb24>invert>buffer", found["best"]), rows, found["best"])
        code, _, err = run(MONOCLE, "batch", "-p", "opencl", "-f", "invert", "--log-level", "info", at("picture.png"),
                           "-o", at(seed + ".png"), **settings())
        c.check(code == 0 and "runs the tuned variant " + found["best"] + " (same device and size, user)" in err, err)


def not_stored(c):
    """If the result cannot be stored, the run prints the result and the reason, and fails."""
    os.rmdir(at("data"))
    with open(at("data"), "w", encoding="utf-8"):
        pass
    code, found, err = tune(*SMALL, "--search", "random", "--budget", "2", binary=MONOCLE)
    c.check(code == 1 and len(found) == 1, code, found)
    c.check(err.count("\n") == 1 and at("data") in err, err)


def repeats(c):
    """The same seed gives the same search."""
    runs = [tune(*SMALL, "--search", "random", "--budget", "5", "--seed", seed, binary=MONOCLE)[1][0]["trials"]
            for seed in ("7", "7", "8")]
    choices = [[trial["choice"] for trial in trials] for trials in runs]
    c.check(choices[0] == choices[1] != choices[2], choices)


def passes(c):
    """Each pass of a chain is tuned. A device without tiles has one plan, in which the conversion is a pass."""
    code, found, err = tune("-f", "blur=5,emboss", "--formats", "nv21", "-s", "64x48", "--budget", "2", binary=MONOCLE)
    c.check(code == 0, code, err)
    c.check([row["pass"] for row in found] == ["convert", "blur", "emboss"], found)
    c.check([row["plan"] for row in found] == [None] * 3, found)


def plans(c):
    """A device with tiles has two plans: one pass converts and filters, or two passes do."""
    code, found, err = tune("-f", "emboss", "--formats", "nv21", "-s", "64x48", "--budget", "2", "--search", "random")
    c.check(code == 0, code, err)
    c.check([(row["plan"], row["pass"]) for row in found] ==
            [("fused", "emboss"), ("split", "convert"), ("split", "emboss")], found)


def faults(c):
    """A configuration that misbehaves fails with a reason, and is never chosen. The others are measured."""
    for how, why in [("crash", "it crashed with signal 11"), ("wrong", "it computes wrong bytes"),
                     ("stray", "it computes wrong bytes"), ("refuse", "it does not compile"),
                     ("fail", "it does not run"), ("leave", "the driver ended the process with status 0")]:
        code, (found,), err = tune(*SMALL, "--search", "full", "--budget", "8", TEST_MISBEHAVE=how,
                                   TEST_ONLY="GROUP_HEIGHT=2")
        failed = {trial["choice"]: trial["failed"] for trial in found["trials"] if "failed" in trial}
        c.check(code == 0, how, code, err)
        c.check(len(failed) == found["failed"] > 0 and found["tried"] == 8, how, found)
        c.check(all("GROUP_HEIGHT=2" in choice for choice in failed), how, failed)
        c.check(set(failed.values()) == {why}, how, failed)
        c.check("GROUP_HEIGHT=2" not in found["best"] and found["best_ms"] > 0, how, found["best"])


def hangs(c):
    """A configuration whose driver hangs fails after the time limit. The run continues."""
    start = time.monotonic()
    code, (found,), err = tune(*SMALL, "--search", "full", "--budget", "6", TEST_MISBEHAVE="hang",
                               TEST_ONLY="GROUP_HEIGHT=2", TEST_LIMIT_MS="20000")
    failed = [trial for trial in found["trials"] if "failed" in trial]
    c.check(code == 0 and 0 < len(failed) < 6, code, found, err)
    c.check(all(trial["failed"].startswith("it took longer than") for trial in failed), failed)
    c.check(time.monotonic() - start < 300, "hangs")


def nothing_runs(c):
    """If no configuration runs, the command reports this and fails."""
    code, found, err = tune(*SMALL, "--budget", "3", TEST_MISBEHAVE="fail")
    c.check(code == 1 and found == [], code, found)
    c.check(err.count("\n") == 1 and "no default configuration runs" in err, err)


def interrupted(c):
    """SIGINT ends the search. The results so far are compared and printed."""
    process = subprocess.Popen([MISLED, "tune", "--json", *SMALL, "--search", "full"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env={**os.environ, **settings()})
    end = time.monotonic() + 200
    while time.monotonic() < end and (not os.path.exists(at("children")) or
                                      len(open(at("children"), encoding="utf-8").readlines()) < 7):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    c.check(process.returncode == 130, process.returncode, err)
    rows = [json.loads(line) for line in out.splitlines()]
    c.check(len(rows) == 1 and 1 <= rows[0]["tried"] < rows[0]["configurations"], rows, err)
    c.check(rows and rows[0]["failed"] == 0, rows)


def stops(c):
    """The search ends when it reaches its target, or after its time."""
    code, (found,), err = tune(*SMALL, "--target", "0.001", binary=MONOCLE)
    c.check(code == 0 and found["tried"] == 1, found["tried"], err)
    code, (found,), err = tune(*SMALL, "--budget", "0.001s", binary=MONOCLE)
    c.check(code == 0 and found["tried"] == 1, found["tried"], err)


def table(c):
    """--t4 writes the results and the kinds of failures. --replay reads them."""
    code, (found,), err = tune(*SMALL, "--search", "full", "--budget", "8", "--t4", at("t4.json"),
                               TEST_MISBEHAVE="wrong", TEST_ONLY="GROUP_HEIGHT=2")
    with open(at("t4.json"), encoding="utf-8") as file:
        results = json.load(file)["results"]
    c.check(code == 0 and len(results) == 8, code, len(results), err)
    for result, trial in zip(sorted(results, key=str), sorted(found["trials"], key=str)):
        wrong = str(result["configuration"]["GROUP_HEIGHT"]) == "2"
        c.check(result["invalidity"] == ("correctness" if wrong else "correct"), result)
    code, out, err = run(MONOCLE, "tune", "--replay", at("t4.json"), "--json", **settings())
    c.check(code == 0 and json.loads(out)["configurations"] == 8, code, out, err)


def refuses(c):
    """Each wrong argument gives one line with a remedy."""
    for args, says in [((), "name a chain to tune, such as -f blur=2"), (("-f", "blurr"), "did you mean 'blur'"),
                       ((*SMALL, "--budget", "3m"), "--budget is '3m'"), ((*SMALL, "--budget", "0"), "--budget is '0'"),
                       ((*SMALL, "--search", "best"), "there is no search 'best'"),
                       ((*SMALL, "--search", "all"), "several searches need --replay"),
                       ((*SMALL, "--kernels", at("none")), "none"), (("-f", "invert", "-s", "64"), "--sizes is '64'")]:
        code, found, err = tune(*args, binary=MONOCLE)
        c.check(code == 2 and found == [] and err.count("\n") == 1 and says in err, args, code, err)


sys.exit(Checks().run(tries, stores, not_stored, repeats, passes, plans, faults, hangs, nothing_runs, interrupted,
                      stops, table, refuses, before=prepare))
