#!/usr/bin/env python3
"""test_pocl.py MONOCLE: PoCL with an unusable cache or low limits: it does not abort and leaves no files"""
import json
import os
import shutil
import sys
import tempfile

sys.path.append(sys.path[0] + "/../support")
from checks import Checks, at, programs, skip, slow
from live_support import SANITIZED, png, run

BINARY, = programs(1)
RUN = ["live", "pattern:16x16", "-p", "opencl", "--headless", "--frames", "1"]
UNWRITABLE = "/proc/nowhere"  # for root too


def made(name):
    """Creates a directory in the check's directory. Returns its path."""
    os.makedirs(at(name), exist_ok=True)
    return at(name)


@slow
def finds_a_place(c):
    temporary = made("temporary")
    for unusable in ({"XDG_CACHE_HOME": UNWRITABLE}, {"XDG_CACHE_HOME": "", "HOME": UNWRITABLE},
                     {"XDG_CACHE_HOME": "/dev/null"}):
        code, out, err = run(BINARY, *RUN, TMPDIR=temporary, **unusable)
        c.check(code == 0 and b"path opencl" in out, unusable, "exit code", code, err)
        c.check("POCL_CACHE_DIR" in err and err.count("\n") == 1, unusable, "is logged once:", err)
        c.check(os.listdir(temporary) == [], unusable, "left", os.listdir(temporary))
    code, out, err = run(BINARY, "filters", "none", TMPDIR=temporary, XDG_CACHE_HOME=UNWRITABLE)
    c.check(code == 0 and not err and os.listdir(temporary) == [], "nothing to log without OpenCL", code, err)
    png(made("few") + "/a.png", 8, 8)
    code, out, err = run(BINARY, "batch", "-f", "none", "-o", made("out"), made("few"), TMPDIR=temporary,
                         XDG_CACHE_HOME=UNWRITABLE)
    c.check(code == 0 and not err, "no device is opened for a few files", code, err)
    code, out, err = run(BINARY, *RUN, TMPDIR=UNWRITABLE, XDG_CACHE_HOME=UNWRITABLE)
    c.check(code == 0 and "POCL_CACHE_DIR" in err, "a temporary directory that is none", code, err)


@slow
def leaves_alone(c):
    """A usable cache is used; POCL_CACHE_DIR comes first."""
    temporary = made("temporary")
    for again in (False, True):  # again after it was deleted, while monocle's own cache exists
        code, out, err = run(BINARY, *RUN, TMPDIR=temporary, XDG_CACHE_HOME=made("cache"))
        place = made("cache") + "/pocl"
        c.check(code == 0 and not err and os.path.isdir(place + "/kcache"), "its own place", again, code, err)
        shutil.rmtree(place, ignore_errors=True)
    code, out, err = run(BINARY, *RUN, TMPDIR=temporary, XDG_CACHE_HOME=UNWRITABLE, POCL_CACHE_DIR=made("mine"))
    c.check(code == 0 and not err and os.listdir(made("mine")), "POCL_CACHE_DIR", code, err, os.listdir(made("mine")))
    code, out, err = run(BINARY, *RUN, TMPDIR=temporary, POCL_CACHE_DIR=UNWRITABLE)
    c.check(code == 0 and UNWRITABLE in err and err.count("\n") == 1, "a wrong POCL_CACHE_DIR", code, err)
    c.check(os.listdir(temporary) == [], "left", os.listdir(temporary))


@slow
def unsafe(c):
    """A cache that another user could have written is not used. One message names each cache."""
    temporary = made("temporary")
    ways = [("can be written by other users", lambda path: os.chmod(path, 0o777))]
    if os.geteuid() == 0:
        ways.append(("belongs to another user", lambda path: os.chown(path, 65534, 65534)))
    for number, (why, spoil) in enumerate(ways):
        home = made("unsafe-%d" % number)
        own, chosen, programs = (made("unsafe-%d/%s" % (number, name)) for name in ("pocl/kcache", "chosen", "monocle"))
        for place in own, chosen, programs:
            spoil(place)
        for place, env in (own, {}), (chosen, {"POCL_CACHE_DIR": chosen}):
            code, out, err = run(BINARY, *RUN, TMPDIR=temporary, XDG_CACHE_HOME=home, **env)
            c.check(code == 0 and b"path opencl" in out, why, env, "exit code", code, err)
            c.check(err.count(place + ": " + why) == 1 and err.count(programs + " " + why) == 1 and
                    err.count("\n") == 2, why, env, "is logged once each:", err)
            c.check(not os.listdir(place) and not os.listdir(programs) and not os.listdir(temporary), why, env,
                    "is used", os.listdir(place), os.listdir(programs), os.listdir(temporary))


@slow
def full(c):
    """A cache on a full file system, where PoCL would end the process."""
    def on_full(*command, **env):
        return run("unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=64k none "$0" && exec "$@"', made("full"),
                   *command, **env)

    code, out, err = on_full("true")
    if code != 0:
        print("full: not tried:", err)
        return
    for name in ("POCL_CACHE_DIR", "XDG_CACHE_HOME"):
        code, out, err = on_full(BINARY, *RUN, **{name: made("full")})
        c.check(code == 0 and b"path opencl" in out, name, "exit code", code, err)
        c.check(made("full") in err and " is full;" in err and err.count("\n") == 1, name, "is logged once:", err)


@slow
def pipe_in_cache(c):
    """A named pipe at the name of a compiled program is replaced."""
    programs = made("pipes/monocle")
    run(BINARY, *RUN, XDG_CACHE_HOME=made("pipes"))
    kept = sorted(os.listdir(programs))
    for name in kept:
        os.unlink(os.path.join(programs, name))
        os.mkfifo(os.path.join(programs, name))
    code, out, err = run(BINARY, *RUN, XDG_CACHE_HOME=made("pipes"))
    c.check(code == 0 and not err and kept, "pipes in the cache", code, err, kept)
    c.check(all(os.path.isfile(os.path.join(programs, name)) for name in kept), "still pipes", kept)


@slow
def too_large(c):
    """An image for which the device lacks memory is refused in one line."""
    code, out, err = run(BINARY, "live", "pattern:16384x16384@1,grey", *RUN[2:], POCL_MEMORY_LIMIT="1")
    c.check(code == 3 and err.count("\n") == 1 and "larger than the device allows" in err, "too large", code, err)


def damaged_cache(c):
    """Empty programs in PoCL's cache, as a full disk leaves them: the message names the directory to delete."""
    run(BINARY, *RUN, XDG_CACHE_HOME=made("damaged"))
    shutil.rmtree(made("damaged/monocle"))  # it would be used instead
    for folder, _, names in os.walk(made("damaged/pocl")):
        for name in names:
            os.truncate(os.path.join(folder, name), 0)
    code, out, err = run(BINARY, *RUN, XDG_CACHE_HOME=made("damaged"))
    c.check(code == 0 or code == 3 and "cache is damaged: delete it" in err, "a damaged cache", code, err)


def wrong_devices(c):
    """If POCL_DEVICES names no device, the message names POCL_DEVICES, not the cache."""
    for names in ("nonsense", ""):
        code, out, err = run(BINARY, *RUN, POCL_DEVICES=names)
        c.check(code == 3 and err.count("\n") == 1, "POCL_DEVICES", names, "exit code", code, err)
        c.check("POCL_DEVICES" in err and "POCL_CACHE_DIR" not in err, "POCL_DEVICES", names, "is logged:", err)


def limits(c):
    """A soft limit is raised if possible. If a limit is too low, OpenCL is refused instead of an abort. monocle itself
    needs 130 kB of stack."""
    rows = ("-Sn 12", 0), ("-n 12", 3), ("-d 200000", 3), ("-s 512", 3), ("-v 300000", 3)
    for limit, want in rows[:2] if SANITIZED else rows:  # sanitizers need all addresses
        code, out, err = run("sh", "-c", 'ulimit %s && exec "$@"' % limit, "sh", BINARY, *RUN)
        c.check(code == want and err.count("\n") == (want > 0), limit, "exit code", code, err)
        c.check(("ulimit " + limit[:2] in err) == (want > 0), limit, err)


# The user's own cache may be unusable, which monocle reports.
os.environ.pop("POCL_CACHE_DIR", None)
home = tempfile.TemporaryDirectory()
os.environ.update(HOME=home.name, XDG_CACHE_HOME=home.name)
code, out, err = run(BINARY, "devices", "--json")
if code != 0 or all(device["platform"] != "Portable Computing Language" for device in json.loads(out)):
    skip("no device of PoCL: " + err)
sys.exit(Checks().run(finds_a_place, leaves_alone, unsafe, full, pipe_in_cache, too_large, damaged_cache, wrong_devices,
                      limits))
