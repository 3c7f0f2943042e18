#!/usr/bin/env python3
"""test_live_faults.py MONOCLE: what the live view says, and to whom, when something goes wrong on the way"""
import os
import resource
import subprocess
import sys
import tempfile
import time

from live_support import PATIENCE, Checks, environment, events, run, y4m

BINARY = os.path.abspath(sys.argv[1])

directory = tempfile.TemporaryDirectory()


def at(name):
    return os.path.join(directory.name, name)


def write(name, data):
    with open(at(name), "wb") as f:
        f.write(data)


def start(*args, **keywords):
    return subprocess.Popen([BINARY, "live", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            cwd=directory.name, env=environment(), **keywords)


def check_error(c, name, code, want, out, err, word):
    """One error event with the words of the one line on standard error, which come last but for a summary."""
    said = events(out)
    errors = [e for e in said if e["event"] == "error"]
    c.check(code == want, name, "exit code", code, "not", want, err)
    c.check(len(errors) == 1 and word in errors[0]["message"], name, "is told as", errors)
    c.check(err == "monocle: error: %s\n" % errors[0]["message"] if errors else False, name, "says", err)
    last = [e["event"] for e in said[-2:]]
    c.check(last[-1] == "error" or last == ["error", "summary"], name, "ends with", last)


def json_errors(c):
    """Every error is an event of its own, with its reason."""
    film = y4m(32, 16, "420jpeg", 3)
    second = film.index(b"FRAME", film.index(b"FRAME") + 1)
    write("damaged.y4m", film[:second] + b"f" + film[second + 1:])
    rows = [
        (["damaged.y4m", "--fast"], 1, "does not begin with FRAME"),
        (["nothing.png"], 3, "nothing.png"),
        (["pattern:32x24", "--record", "/nowhere/x.y4m"], 3, "no directory /nowhere"),
        (["damaged.y4m", "--record", "damaged.y4m"], 2, "destroy"),
        (["-"], 3, "nothing in it"),
    ]
    for args, want, word in rows:
        code, out, err = run(BINARY, "live", *args, "-p", "cpu", "--headless", "--json", cwd=directory.name)
        check_error(c, args, code, want, out, err, word)
    code, out, err = run(BINARY, "live", "nothing.png", "--headless", "--json", "--log-level", "silent")
    c.check(code == 3 and err == "" and len(events(out)) == 1, "silence is for standard error alone", out, err)


def full_disk(c):
    process = start("pattern:32x24", "-p", "cpu", "--headless", "--frames", "90", "--record", "grown.y4m", "--json",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (51200, 51200)))
    out, err = process.communicate(timeout=60 * PATIENCE)
    check_error(c, "file limit", process.returncode, 1, out, err.decode(), "grown.y4m")


def emptied(c):
    """A film that is emptied while it plays over and over ends the run, with a word."""
    write("emptied.y4m", y4m(64, 48, "420jpeg", 3))
    process = start("emptied.y4m", "--loop", "--frames", "100000", "-p", "cpu", "--headless", "--json")
    head = process.stdout.readline() + process.stdout.readline()  # the first second has been played
    os.truncate(at("emptied.y4m"), 0)
    since = time.monotonic()
    out, err = process.communicate(timeout=60 * PATIENCE)
    check_error(c, "emptied", process.returncode, 1, head + out, err.decode(), "emptied.y4m again")
    c.check(time.monotonic() - since < 5 * PATIENCE, "it ends soon")


checks = Checks()
sys.exit(checks.run(json_errors, full_disk, emptied))
