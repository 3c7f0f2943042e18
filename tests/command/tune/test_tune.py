#!/usr/bin/env python3
"""test_tune.py MONOCLE_MISLED MONOCLE: `monocle tune` on a device: its trials, its choice, faulty drivers

MONOCLE_MISLED makes every device a GPU, and makes its driver misbehave in the child (tests/support/misled.c)."""
import glob
import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, skip, slow
from live_support import has_opencl, png, run, wait_until

MISLED, MONOCLE = programs(2)
SMALL = ("-f", "invert", "-s", "64x48")

if not has_opencl(MISLED):
    skip("there is no OpenCL device")


def settings(**more):
    """Returns the environment of a run. The limit of a child is long, because the machine may be busy."""
    return {"XDG_CACHE_HOME": at("cache"), "XDG_DATA_HOME": at("data"), "TEST_LIMIT_MS": "100000",
            "TEST_CHILDREN": at("children"), **more}


def prepare(c):
    os.mkdir(at("cache"))
    os.mkdir(at("data"))


def tune(*args, binary=MISLED, **env):
    """Returns the exit code, the JSON objects of the passes, and standard error."""
    code, out, err = run(binary, "tune", "--json", *args, timeout=500, **settings(**env))
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
    c.check("default_mj" not in found or "energy_counter" in found, found)
    c.check(found["pass"] == "invert" and found["width"] == 64 and found["format"] == "rgba", found)


@slow
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


def alone(c):
    """The only configuration that was tried is not stored."""
    for chain, extra in ((SMALL, {"TEST_CONFIGURATIONS": "1"}),
                         (("-p", "cpu", "-t", "1", *SMALL, "--budget", "1"), {})):
        code, (found,), err = tune(*chain, **extra)
        c.check(code == 0 and err == "" and found["best"] == found["used"] and found["speedup"] == 1, found, err)
        c.check(not os.path.exists(at("data/monocle/tuned")), chain)


def says_where(c):
    """The table ends with the file of the results. A child tests several configurations."""
    code, out, err = run(MISLED, "tune", *SMALL, "--budget", "6", **settings())
    with open(at("children"), encoding="utf-8") as file:
        children = file.read().split()
    c.check(len(set(children)) < len(children), children)
    path = at("data", "monocle", "tuned")
    lines = out.decode().splitlines()
    c.check(code == 0 and "default ms" in lines[0] and "search s" in lines[0], out, err)
    c.check(os.path.exists(path) and lines[-1].startswith("stored in " + path + "; "), out, err)
    code, out, err = run(MONOCLE, "tune", "-p", "cpu", "-t", "1", *SMALL, "--budget", "1", **settings())
    lines = out.decode().splitlines()
    c.check(" - " in lines[1] and "1.00" not in lines[1] and "only 1 of " in lines[2], "no speed-up of one time", lines)


def tunes_cpu(c):
    """The cpu path has parameters, too. The winner is in the database, and the cpu path uses it."""
    png(at("picture.png"), 64, 48)
    code, (found,), err = tune("-p", "cpu", "-t", "1", "-f", "emboss", "-s", "64x48", "--formats", "rgb24", "--t4",
                               at("t4.json"), binary=MONOCLE)
    c.check(code == 0 and err == "", code, err)
    c.check((found["pass"], found["default"]) == ("emboss", "rows:PREFETCH=2"), found)
    c.check(found["tried"] == found["configurations"] == 4 and found["failed"] == 0 and found["device"], found)
    with open(at("t4.json"), encoding="utf-8") as file:
        results = json.load(file)["results"]
    c.check(len(results) == 4 and all(row["configuration"]["STREAM"] == "-" for row in results), results)
    code, out, err = run(MONOCLE, "tuned", "list", "--json", "-d", "cpu", "--pass", "cpu:", **settings())
    (row,) = json.loads(out)
    c.check((row["pass"], row["choice"]) == ("cpu:rgb24>emboss1>rgba", found["best"]), row)
    c.check((row["device"], row["type"], row["compute_units"]) == (found["device"], "cpu", 1), row)
    code, _, err = run(MONOCLE, "batch", "-p", "cpu", "-f", "emboss", "--log-level", "info", at("picture.png"),
                       "-o", at("made.png"), **settings())
    c.check(code == 0 and "uses the tuned " + found["best"] + " (same " in err, err)


def not_stored(c):
    """If the database can be neither read nor written, the run prints the result and the reasons, and fails."""
    os.rmdir(at("data"))
    with open(at("data"), "w", encoding="utf-8"):
        pass
    code, found, err = tune(*SMALL, "--search", "random", "--budget", "2", binary=MONOCLE)
    c.check(code == 1 and len(found) == 1, code, found)
    c.check(err.count("\n") == 2 and "cannot write " + at("data") in err, err)


@slow
def begins(c):
    """After the defaults, the search tries the stored results of other sizes and of similar devices."""
    tune(*SMALL, "--budget", "2", binary=MONOCLE)
    path = at("data/monocle/tuned")
    with open(path, encoding="utf-8") as file:
        head, entry = file.read().rstrip("\n").rsplit("\n", 1)
    fields = entry.split("\t")
    wanted = ["generic:GROUP_WIDTH=16:GROUP_HEIGHT=16", "generic:GROUP_WIDTH=8:GROUP_HEIGHT=8"]
    lines = [head, "\t".join([*fields[:2], wanted[0], *fields[3:]]),
             "\t".join([*fields[:2], wanted[1], *fields[3:6], "another device", *fields[7:]]),
             "\t".join([*fields[:2], "no variant", *fields[3:6], "a third device", *fields[7:]])]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    code, (found,), err = tune("-f", "invert", "-s", "640x480", "--search", "random", "--budget", "4", binary=MONOCLE)
    c.check(code == 0 and [trial["choice"] for trial in found["trials"]][2:] == wanted, code, found["trials"], err)


@slow
def repeats(c):
    """The same seed gives the same search, if the stored results are the same."""
    runs = []
    for seed, number in zip("778", "123"):
        os.mkdir(at(number))
        runs.append(tune(*SMALL, "--search", "random", "--budget", "5", "--seed", seed, binary=MONOCLE,
                         XDG_DATA_HOME=at(number))[1][0]["trials"])
    choices = [[trial["choice"] for trial in trials] for trials in runs]
    c.check(choices[0] == choices[1] != choices[2], choices)


@slow
def passes(c):
    """Each pass of a chain is tuned. On a device without tiles, the conversion is a pass."""
    code, found, err = tune("-f", "blur=5,emboss", "--formats", "nv21", "-s", "64x48", "--budget", "2", binary=MONOCLE)
    c.check(code == 0, code, err)
    c.check([row["pass"] for row in found] == ["convert", "blur", "emboss"], found)


def fused(c):
    """On a device with tiles, one pass converts and filters. A variant that only fits such passes runs."""
    code, found, err = tune("-f", "emboss", "--formats", "nv21", "-s", "64x48", "--budget", "2", "--search", "random")
    c.check(code == 0 and [row["pass"] for row in found] == ["emboss"], found, err)
    c.check(found[0]["failed"] == 0 and found[0]["trials"][1]["choice"].startswith("local:"), found[0]["trials"])


def misbehave(c, faults):
    for how, why in faults:
        code, (found,), err = tune(*SMALL, "--search", "random", "--budget", "8", TEST_MISBEHAVE=how,
                                   TEST_ONLY="GROUP_HEIGHT=8")
        failed = {trial["choice"]: trial["failed"] for trial in found["trials"] if "failed" in trial}
        c.check(code == 0, how, code, err)
        c.check(len(failed) == found["failed"] > 0 and found["tried"] == 8, how, found)
        c.check(all("GROUP_HEIGHT=8" in choice for choice in failed), how, failed)
        c.check(set(failed.values()) == {why}, how, failed)
        c.check("GROUP_HEIGHT=8" not in found["best"] and found["best_ms"] > 0, how, found["best"])


@slow
def faults(c):
    """A configuration that misbehaves fails with a reason, and is never chosen. The others are measured."""
    misbehave(c, [("crash", "it crashed with signal 11"), ("wrong", "it computes wrong bytes"),
                  ("refuse", "it does not compile")])


@slow
def other_faults(c):
    """The tests of probes and of descriptions have these faults, too."""
    misbehave(c, [("stray", "it computes wrong bytes"), ("fail", "it does not run"),
                  ("kill", "it was killed by signal 9"), ("leave", "the driver ended the process with status 0")])


@slow
def hangs(c):
    """A configuration that hangs, but only on large pictures, fails after the time limit. The run continues."""
    start = time.monotonic()
    code, (found,), err = tune("-f", "invert", "-s", "640x480", "--search", "random", "--budget", "6",
                               TEST_MISBEHAVE="endless", TEST_ONLY="GROUP_HEIGHT=8", TEST_LIMIT_MS="20000")
    failed = [trial for trial in found["trials"] if "failed" in trial]
    c.check(code == 0 and 0 < len(failed) < 6, code, found, err)
    c.check(all(trial["failed"].startswith("it took longer than") for trial in failed), failed)
    c.check(time.monotonic() - start < 300, "hangs")


@slow
def nothing_runs(c):
    """If no configuration runs, the command reports this and fails."""
    code, found, err = tune(*SMALL, "--budget", "3", TEST_MISBEHAVE="fail")
    c.check(code == 1 and found == [], code, found)
    c.check(err.count("\n") == 1 and "no default configuration runs" in err, err)


@slow
def interrupted(c):
    """SIGINT ends the search. The results so far are compared and printed."""
    process = subprocess.Popen([MISLED, "tune", "--json", *SMALL, "--search", "random"], stdout=subprocess.PIPE,
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


def ends_at_once(c):
    """SIGINT ends a child whose driver hangs. Its configuration has not failed."""
    process = subprocess.Popen([MISLED, "tune", "--json", *SMALL], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**os.environ, **settings(TEST_MISBEHAVE="hang")})
    wait_until(lambda: os.path.exists(at("children")), 60)
    with open(at("children"), encoding="utf-8") as file:
        children = len(file.readlines())
    wait_until(lambda: len(open(at("children"), encoding="utf-8").readlines()) > children, 5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    c.check(process.returncode == 130 and time.monotonic() - start < 50, process.returncode, time.monotonic() - start)
    c.check(out == "" and err == "", err)


@slow
def energy(c):
    """If the device has a counter, the energy per frame is reported, and may be the objective."""
    for name, text in [("name", "ina3221"), ("in1_label", "VDD_IN"), ("in1_input", "10000"), ("curr1_input", "2000")]:
        path = at("root", "sys", "class", "hwmon", "hwmon0", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")  # 20 W
    for objective in ("time", "energy"):
        code, (found,), err = tune(*SMALL, "--budget", "2", "--objective", objective, TEST_ENERGY=at("root"))
        c.check(code == 0 and found["energy_counter"] == "INA3221, VDD_IN", objective, code, found, err)
        c.check(all(found[name + "_mj"] > 0 for name in ("default", "best")), found)
    code, found, err = tune(*SMALL, "--budget", "2", "--objective", "energy", TEST_ENERGY=at("none"))
    c.check(code == 3 and found == [] and err.count("\n") == 1 and "needs an energy counter" in err, code, err)


def stops(c):
    """The search ends after its time."""
    code, (found,), err = tune(*SMALL, "--budget", "0.001s", binary=MONOCLE)
    c.check(code == 0 and found["tried"] == 1, found["tried"], err)


@slow
def table(c):
    """--t4 writes the results and the kinds of failures. --replay reads them. A file that appears during the run
    stays."""
    def appear():
        wait_until(lambda: os.path.exists(at("children")))
        with open(at("t4"), "w", encoding="utf-8") as file:
            file.write("theirs")

    other = threading.Thread(target=appear)
    other.start()
    code, (found,), err = tune(*SMALL, "--search", "random", "--budget", "8", "--t4", at("t4"),
                               TEST_MISBEHAVE="wrong", TEST_ONLY="GROUP_HEIGHT=8", TEST_CHILDREN=at("children"))
    other.join()
    with open(at("t4"), encoding="utf-8") as file:
        c.check(file.read() == "theirs" and "monocle writes %s\n" % at("t4-2") in err, "the other file", err)
    with open(at("t4-2"), encoding="utf-8") as file:
        results = json.load(file)["results"]
    c.check(code == 0 and len(results) == 8, code, len(results), err)
    for result, trial in zip(sorted(results, key=str), sorted(found["trials"], key=str)):
        wrong = str(result["configuration"]["GROUP_HEIGHT"]) == "8"
        c.check(result["invalidity"] == ("correctness" if wrong else "correct"), result)
    code, out, err = run(MONOCLE, "tune", "--replay", at("t4-2"), "--json", **settings())
    c.check(code == 0 and json.loads(out)["configurations"] == 8, code, out, err)


def refuses(c):
    """Each wrong argument gives one line with a remedy."""
    for args, says in [((), "name a chain to tune, such as -f blur=2"), (("-f", "blurr"), "did you mean 'blur'"),
                       ((*SMALL, "--budget", "3m"), "--budget is '3m'"), ((*SMALL, "--budget", "0"), "--budget is '0'"),
                       ((*SMALL, "--search", "best"), "--search is 'best'"),
                       ((*SMALL, "-p", "cpu", "-d", "0"), "-p cpu does not use one"),
                       ((*SMALL, "-p", "cpu", "--kernels", "."), "-p cpu does not use them"),
                       ((*SMALL, "-t", "2"), "--threads needs -p cpu"), ((*SMALL, "--seeds", "2"), "needs --replay"),
                       ((*SMALL, "--t4", "a.cl"), "such as a.json"), ((*SMALL, "--t4", "a.png"), "such as a.json"),
                       ((*SMALL, "--kernels", at("none")), "none"), (("-f", "invert", "-s", "64"), "--sizes is '64'")]:
        code, found, err = tune(*args, binary=MONOCLE)
        c.check(code == 2 and found == [] and err.count("\n") == 1 and says in err, args, code, err)


sys.exit(Checks().run(tries, stores, alone, says_where, tunes_cpu, not_stored, begins, repeats, passes, fused,
                      faults, other_faults, hangs, nothing_runs, interrupted, ends_at_once,
                      energy, stops, table, refuses,
                      before=prepare))
