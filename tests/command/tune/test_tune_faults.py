#!/usr/bin/env python3
"""test_tune_faults.py MONOCLE_MISLED: `monocle tune` loses nothing on full disks, with a damaged database, and
beside another run"""
import json
import os
import resource
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, skip, slow
from live_support import environment, has_opencl, run

MISLED, = programs(1)
HEAD = "monocle tuned 1\n"
ENTRY = "rgba>other>buffer\t2M\tgeneric\t0.5000\t1.0000\t2026-01-01T00:00:00Z\tD\tV\tgpu\t-\t1\t1.0\t-\n"
DAMAGE = b"rgba>\xff damaged\n"

if not has_opencl(MISLED):
    skip("there is no OpenCL device")


def settings(**more):
    return {"XDG_CACHE_HOME": at("cache"), "XDG_DATA_HOME": at("data"), "TEST_LIMIT_MS": "100000",
            "TEST_CHILDREN": at("children"), **more}


def words(chain, *more):
    return ["tune", "--json", "-f", chain, "-s", "64x48", "--search", "random", "--budget", "3", *more]


def prepare(c):
    os.mkdir(at("cache"))
    os.makedirs(at("data", "monocle"))


def write(data):
    with open(at("data", "monocle", "tuned"), "wb") as file:
        file.write(data)


def read():
    with open(at("data", "monocle", "tuned"), "rb") as file:
        return file.read()


def start(*args, caches=None, **more):
    return subprocess.Popen([MISLED, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment(**(caches or settings())), **more)


def end(process):
    """Returns the exit code, the JSON objects, and standard error."""
    out, err = process.communicate(timeout=200)
    return process.returncode, [json.loads(line) for line in out.splitlines()], err.decode("utf-8", "replace")


@slow
def full_disk(c):
    """The run prints its result, reports each file that it cannot write once, and changes no entry."""
    caches = settings(POCL_CACHE_DIR=at("pocl"))  # no other test must get the kernels that do not fit on the disk
    code, _, err = run(MISLED, *words("invert"), **caches)  # fills the cache of PoCL, which needs the disk
    c.check(code == 0, code, err)
    write((HEAD + ENTRY).encode())
    process = start(*words("invert"), caches=caches,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)))
    code, found, err = end(process)
    c.check(code == 1 and len(found) == 1 and found[0]["tried"] == 3 and found[0]["best_ms"] > 0, code, found, err)
    c.check(err.count("\n") == 1 and err.count("File too large") == 1, err)
    c.check("error: cannot write " + at("data", "monocle", "tuned") in err, err)
    c.check(read() == (HEAD + ENTRY).encode() and sorted(os.listdir(at("data", "monocle"))) == ["tuned", "tuned.lock"],
            read(), os.listdir(at("data", "monocle")))
    code, out, err = run(MISLED, *words("invert"), **settings())
    c.check(code == 0 and ENTRY.encode() in read() and b"rgba>invert>buffer" in read(), code, err, read())


def damaged(c):
    """Damaged lines stay in the database, also those that appear during the run. So does a file of another kind."""
    write(HEAD.encode() + DAMAGE + ENTRY.encode())
    process = start(*words("invert"))
    limit = time.monotonic() + 200
    while time.monotonic() < limit and not os.path.exists(at("children")):
        time.sleep(0.01)
    with open(at("data", "monocle", "tuned"), "ab") as file:
        file.write(DAMAGE)
    code, found, err = end(process)
    c.check(code == 0 and len(found) == 1, code, err)
    c.check(read().count(DAMAGE) == 2 and ENTRY.encode() in read() and b"rgba>invert>buffer" in read(), read())
    write(b"a letter\n")
    code, out, err = run(MISLED, *words("invert"), **settings())
    c.check(code == 1 and json.loads(out)["tried"] == 3, code, out, err)
    c.check(read() == b"a letter\n" and err.count("error:") == 1 and "its entries are unchanged" in err, err, read())


@slow
def two_at_once(c):
    """Several runs share the database."""
    runs = [start(*words(chain)) for chain in ("invert", "gray", "invert")]
    for process in runs:
        code, found, err = end(process)
        c.check(code == 0 and len(found) == 1 and found[0]["tried"] == 3, code, found, err)
    c.check(read().count(b"rgba>invert>buffer") == 1 and read().count(b"rgba>gray>buffer") == 1, read())


sys.exit(Checks().run(full_disk, damaged, two_at_once, before=prepare))
