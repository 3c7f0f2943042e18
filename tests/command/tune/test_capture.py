#!/usr/bin/env python3
"""test_capture.py MONOCLE: `--capture` of the live view and of a batch; `monocle tune --from`"""
import json
import os
import stat
import sys
import tempfile

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from live_support import has_opencl, png, run

MONOCLE, = programs(1)
LIVE = ("live", "--headless", "--frames", "3", "pattern:64x48@200,nv21")


# The cache of monocle is shared by all checks: it changes only the duration.
cache = tempfile.TemporaryDirectory()


def settings():
    return {"XDG_CACHE_HOME": cache.name, "XDG_DATA_HOME": at("data")}


def prepare(c):
    os.mkdir(at("data"))


def monocle(*args):
    """Returns the exit code, standard output and the lines of standard error."""
    code, out, err = run(MONOCLE, *args, cwd=at(), timeout=250, **settings())
    return code, out, err.splitlines()


def captures(name="work"):
    """Returns the first lines and the numbers of bytes of the frames, in the order of the chains and widths."""
    found = []
    for file in os.listdir(at(name)):
        with open(at(name, file), "rb") as data:
            head, pixels = data.read().split(b"\n", 1)
        found.append((json.loads(head), len(pixels)))
    return sorted(found, key=lambda row: (row[0]["chain"], row[0]["width"]))


def live(c):
    """The live view keeps its chain, a frame in the camera's format, and the device. A second run adds nothing."""
    for path in ("cpu", "opencl") if has_opencl(MONOCLE) else ("cpu",):
        for _ in range(2):
            code, out, err = monocle(*LIVE, "-f", "gray,invert", "-p", path, "--capture", path)
            c.check(code == 0 and err == [], code, err)
            (head, size), = captures(path)
            c.check(size == 64 * 48 * 3 // 2, size)
            c.check((head["chain"], head["format"], head["width"], head["height"]) == ("gray,invert", "nv21", 64, 48),
                    head)
            c.check((head["output"], head["device"] == "cpu", head["threads"] > 0) ==
                    ("buffer", path == "cpu", path == "cpu"), head)
    c.check(stat.S_IMODE(os.stat(at("cpu")).st_mode) == 0o700, os.stat(at("cpu")))


def batch(c):
    """A batch keeps an image of each size, also if its files go by rows or in several threads."""
    sizes = [(24, 16), (40, 30), (24, 16)]
    for i, size in enumerate(sizes):
        png(at("%d.png" % i), *size)
    code, out, err = monocle("batch", "-f", "none", "--format", "jpeg", "-o", "jpeg", "0.png", "1.png", "2.png")
    c.check(code == 0, code, err)
    for path in ("cpu", "opencl") if has_opencl(MONOCLE) else ("cpu",):
        names = ["jpeg/%d.jpg" % i for i in range(3)]
        plain = monocle("batch", "-p", path, "-f", "gray", "-o", path + "-plain", *names)
        code, out, err = monocle("batch", "-p", path, "-f", "gray", "-o", path + "-out", "--capture", path, *names)
        c.check(code == plain[0] == 0 and err == plain[2], code, err, plain)
        found = captures(path)
        c.check([(head["width"], size) for head, size in found] == [(24, 24 * 16 * 3 // 2), (40, 40 * 30 * 3 // 2)],
                found)
        c.check(all(head["threads"] == 0 for head, size in found), "JPEG files are converted", found)
        for name in os.listdir(at(path + "-out")):
            with open(at(path + "-out", name), "rb") as a, open(at(path + "-plain", name), "rb") as b:
                c.check(a.read() == b.read(), "a capture changes no output", path, name)


def unwritable(c):
    """A directory that cannot be used gives one line. The run goes on and ends with code 1."""
    os.mkdir(at("open"))
    os.chmod(at("open"), 0o777)
    png(at("a.png"), 24, 16)
    for name, says in (("/proc/x", "No such file"), ("open", "it can be written by other users"),
                       ("a.png", "it is a file or a symbolic link")):
        code, out, err = monocle(*LIVE, "-p", "cpu", "--capture", name, "--record", "out.y4m", "--overwrite")
        c.check(code == 1 and b"3 frames" in out, code, out)
        c.check(len(err) == 1 and says in err[0] and name in err[0], err)
        code, out, err = monocle("batch", "-p", "cpu", "-f", "gray", "-o", "out", "--overwrite", "--capture", name,
                                 "a.png")
        c.check(code == 1 and os.path.exists(at("out/a.png")), code, out)
        c.check(len([line for line in err if says in line and name in line]) == 1, err)


def tune(*args):
    """Returns the exit code, the JSON objects of the passes, and the lines of standard error."""
    code, out, err = monocle("tune", "--json", "--budget", "1", *args)
    return code, [json.loads(line) for line in out.splitlines()], err


def tunes(c):
    """--from tunes the passes of the captured chain for its device. The live view then uses the results."""
    if not has_opencl(MONOCLE):
        return
    view = (*LIVE, "-f", "invert,blur", "-p", "opencl")
    code, out, err = monocle(*view, "--capture", "work")
    device = captures()[0][0]["device"]
    code, found, err = tune("--from", "work")
    c.check(code == 0 and err == [], code, err)
    c.check([row["pass"] for row in found] == ["invert", "blur"], found)
    c.check(all((row["chain"], row["format"], row["width"], row["height"], row["device"]) ==
                ("invert,blur", "nv21", 64, 48, device) for row in found), found)
    code, out, err = monocle(*view, "--log-level", "info")
    for row in found:
        says = "pass %s on '%s' runs the tuned variant %s (same device and size, user)"
        says %= row["pass"], device, row["best"]
        c.check(any(line.endswith(says) for line in err), says, err)


def tunes_cpu(c):
    """--from tunes the cpu path if the chain ran there, with its number of threads. The live view uses the result."""
    view = (*LIVE, "-f", "invert", "-p", "cpu", "--threads", "2")
    code, out, err = monocle(*view, "--capture", "work")
    c.check(captures()[0][0]["threads"] == 2, captures())
    code, (found,), err = tune("--from", "work")
    c.check(code == 0 and err == [] and (found["pass"], found["format"]) == ("invert", "nv21"), code, found, err)
    code, out, err = monocle(*view, "--log-level", "info")
    says = "on the cpu path uses the tuned %s (same device and size, user)" % found["best"]
    c.check(any(line.endswith(says) for line in err), says, err)


def not_utf8(c):
    """A chain that JSON cannot have is not captured. The message names the reason."""
    with open(at("a\udcff.cube"), "w") as file:
        file.write("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n")
    code, out, err = monocle(*LIVE, "-f", "lut=a\udcff.cube", "-p", "cpu", "--capture", "work")
    c.check(code == 1 and len(err) == 1 and "has a name that is not UTF-8" in err[0], code, err)


def damaged(c):
    """A damaged capture gives one line with its name. The others are tuned."""
    monocle(*LIVE, "-f", "invert", "-p", "cpu", "--capture", "work")
    good, = os.listdir(at("work"))
    with open(at("work", good), "rb") as file:
        head, pixels = file.read().split(b"\n", 1)
    with open(at("work", "00.capture"), "wb") as file:
        file.write(head + b"\n" + pixels[:-1])
    wrong = "cannot use the capture work/00.capture: its frame has 4607 bytes instead of 4608; remove it"
    code, found, err = tune("--from", "work")
    c.check(code == 1 and [row["pass"] for row in found] == ["invert"], code, found)
    c.check(len(err) == 1 and err[0].endswith(wrong), err)
    if has_opencl(MONOCLE):
        with open(at("work", good), "wb") as file:
            other = json.dumps({**json.loads(head), "device": "removed", "threads": 0})
            file.write(other.encode() + b"\n" + pixels)
        code, found, err = tune("--from", "work")
        c.check(code == 1 and [row["pass"] for row in found] == ["invert"], code, found)
        says = "cannot tune chain invert for 'removed', on which it ran; tuning it for '"
        c.check(len(err) == 2 and says in err[1], err)
        code, found, err = tune("--from", "work", "-d", "0")
        c.check(code == 1 and len(found) == 1 and len(err) == 1, "-d names the device", code, err)
    os.remove(at("work", good))
    code, found, err = tune("--from", "work")
    c.check(code == 3 and found == [] and len(err) == 1 and err[0].endswith(wrong), code, found, err)
    os.remove(at("work/00.capture"))
    for name, says in (("work", "there are no captures in work"), ("nowhere", "No such file")):
        code, found, err = tune("--from", name)
        c.check(code == 3 and len(err) == 1 and says in err[0], code, err)
    for args in (("-f", "gray"), ("--sizes", "64x48"), ("--formats", "nv21"), ("-p", "opencl"), ("--replay", "x")):
        code, found, err = tune("--from", "work", *args)
        c.check(code == 2 and len(err) == 1 and "--from" in err[0], args, code, err)


sys.exit(Checks().run(live, batch, unwritable, tunes, tunes_cpu, not_utf8, damaged, before=prepare))
