#!/usr/bin/env python3
"""test_batch_faults.py MONOCLE LATE: a fault causes one message and one failed file; every existing output is complete

LATE is monocle linked with late.c.
"""
import errno
import functools
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

sys.path.append(sys.path[0] + "/../../support")
from batch_support import NONE, digests, files, lines, outcome, png_chunk, tree
from checks import Checks, at, programs, slow
from live_support import SANITIZED, environment, has_opencl, png, run

BINARY, LATE = programs(2)
KILLS = 6
CPU = ["-p", "cpu"]
NOBODY = 65534


def head_of_png(width, height):
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            png_chunk(b"IDAT", zlib.compress(bytes(1 << 20))) + png_chunk(b"IEND", b""))


def rgba_png(width, height):
    row = b"\0" + bytes(i % 256 for i in range(4 * width))
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            png_chunk(b"IDAT", zlib.compress(row * height)) + png_chunk(b"IEND", b""))


def write(name, data):
    os.makedirs(os.path.dirname(at(name)), exist_ok=True)
    with open(at(name), "wb") as f:
        f.write(data)


def bad_inputs(c):
    good = tree(at("bad"), 6)
    whole = open(at("bad/p000.png"), "rb").read()
    for name, data in (("empty.png", b""), ("cut.png", whole[:len(whole) // 2]), ("noise.png", bytes(range(256)) * 20),
                       ("noise.jpg", b"\xff\xd8\xff" + bytes(5000)), ("text.jpg", b"hello"),
                       ("bomb.png", head_of_png(12000, 12000)),
                       ("huge.png", head_of_png(100000, 100000))):
        write("bad/" + name, data)
    with open(at("bad/long.png"), "wb") as f:  # refused before it is read
        f.write(whole)
        f.truncate(300 << 20)
    os.symlink("self.png", at("bad/self.png"))
    os.symlink("..", at("bad/a/up"))
    os.symlink("nowhere.png", at("bad/dangling.png"))
    os.mkfifo(at("pipe.png"))
    with open(at("list"), "w") as f:
        f.write("vanished.png\npipe.png\nbad\n")
    said = outcome(c, BINARY, CPU + ["-r", "-o", "bad-out", "--memory", "256M", "--report", "bad.jsonl", "--files-from",
                                     "list", "bad"], 1, "error", timeout=60)  # a wait for memory would hang
    rows = files(at("bad.jsonl"))
    wanted = {"bad/empty.png": "format", "bad/cut.png": "damaged", "bad/noise.png": "format",
              "bad/noise.jpg": "damaged", "bad/text.jpg": "format", "bad/bomb.png": "limit", "bad/huge.png": "limit",
              "bad/long.png": "limit",
              "bad/self.png": "loop", "bad/a/up": "loop", "bad/dangling.png": "missing", "vanished.png": "missing",
              "pipe.png": "read", "bad": "read"}
    got = {name: row.get("error") for name, row in rows.items() if row["status"] == "failed"}
    c.check(got == wanted, "classes", {n: (got.get(n), wanted.get(n)) for n in got.keys() | wanted.keys()
                                       if got.get(n) != wanted.get(n)})
    c.check(len(said) == len(wanted), "lines", said)
    c.check("input_bytes" not in rows["bad/long.png"], "what is too long was read", rows["bad/long.png"])
    c.check(sorted(digests(at("bad-out"))) == good, "outputs", digests(at("bad-out")))
    short = "/sys/class/net/lo/mtu"  # it has fewer bytes than its size, like a file that is truncated meanwhile
    if os.path.exists(short):
        outcome(c, BINARY, CPU + ["-o", "bad-out", short], 3, "it is not a JPEG, PNG, ", timeout=20)
    png(at("wide.png"), 2000, 600)
    outcome(c, BINARY, CPU + ["-o", "bad-out", "--max-megapixels", "1", "wide.png"], 3, "2000x600")
    said = outcome(c, BINARY, CPU + ["-r", "-o", "bad-fast", "--fail-fast", "--jobs", "1", "bad"], 1, "error")
    c.check(len(digests(at("bad-fast"))) < len(good), "--fail-fast did all")


def cut_short(c):
    """A JPEG file that ends after some of its rows were filtered fails; complete files beside it do not."""
    png(at("tall.png"), 60, 300)
    os.mkdir(at("cs"))
    outcome(c, BINARY, CPU + ["-o", "cs/whole.jpg", "tall.png"], 0)
    with open(at("cs/whole.jpg"), "rb") as f:
        data = f.read()
    for i, share in enumerate((0.5, 0.7, 0.9)):
        write("cs/cut%d.jpg" % i, data[:int(share * len(data))])
    write("cs/z.jpg", data)
    said = outcome(c, BINARY, CPU + ["-f", "blur=2,gray", "-o", "cs-out", "--report", "cs.jsonl", "cs"], 1, "truncated")
    rows = files(at("cs.jsonl"))
    got = {name[3:]: row.get("error") for name, row in rows.items()}
    c.check(got == {"whole.jpg": None, "z.jpg": None, "cut0.jpg": "damaged", "cut1.jpg": "damaged",
                    "cut2.jpg": "damaged"} and len(said) == 3, got, said)
    c.check(all(set(row["ms"]) >= {"decode", "filter", "encode"} and min(row["ms"].values()) >= 0
                for row in rows.values() if row["status"] == "done"), rows)
    made = digests(at("cs-out"))
    c.check(sorted(made) == ["whole.jpg", "z.jpg"] and len(set(made.values())) == 1, made)


def orient(data, orientation):
    """Returns a JPEG file with this EXIF orientation."""
    tiff = b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIII", 0x112, 3, 1, orientation, 0)
    return data[:2] + b"\xff\xe1" + struct.pack(">H", len(tiff) + 2) + tiff + data[2:]


@slow
def turned_equally(c):
    """Images of one shape with four orientations: each is rotated according to its own."""
    os.mkdir(at("ta"))
    png(at("ta.png"), 64, 48)
    outcome(c, BINARY, CPU + ["-o", "ta.jpg", "ta.png"], 0)
    with open(at("ta.jpg"), "rb") as f:
        data = f.read()
    for number, orientation in enumerate((1, 2, 3, 4, 2, 1, 4, 3)):
        write("ta/%d.jpg" % number, orient(data, orientation))
        outcome(c, BINARY, CPU + ["-f", "emboss", "-o", "ta-each", "ta/%d.jpg" % number], 0)
    each = digests(at("ta-each"))
    c.check(len(set(each.values())) == 4, "the four differ", each)
    for path in [CPU] + [["-p", "opencl"]] * has_opencl(BINARY):
        outcome(c, BINARY, path + ["-f", "emboss", "--jobs", "1", "--overwrite", "-o", "ta-all", "ta"], 0)
        c.check(digests(at("ta-all")) == each, path, digests(at("ta-all")), each)


def made_apart(c):
    """Images of one shape; some of them become JPEG files."""
    os.mkdir(at("ap"))
    png(at("ap.png"), 64, 48)
    outcome(c, BINARY, CPU + ["-o", "ap.jpg", "--format", "jpeg", "--subsampling", "444", "ap.png"], 0)
    with open(at("ap.jpg"), "rb") as f:
        data = f.read()
    c.check(data[2:4] == b"\xff\xe0", "a JFIF file", data[:12])
    rgb = data[:2] + b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0" + data[20:]  # its three channels are RGB
    for number in range(0, 6, 2):
        write("ap/%d.jpg" % number, rgb)
        write("ap/%d.png" % (number + 1), rgba_png(64, 48))
    for name in sorted(os.listdir(at("ap"))):
        outcome(c, BINARY, CPU + ["-f", "emboss", "-o", "ap-each", "ap/" + name], 0)
    for path in [CPU] + [["-p", "opencl"]] * has_opencl(BINARY):
        outcome(c, BINARY, path + ["-f", "emboss", "--jobs", "1", "--overwrite", "-o", "ap-all", "ap"], 0)
        c.check(digests(at("ap-all")) == digests(at("ap-each")), path, digests(at("ap-all")), digests(at("ap-each")))


def turned_between(c):
    """Images that are processed by rows, between images of the same shape that are rotated first."""
    os.mkdir(at("tu"))
    for name, width, height in (("a", 60, 300), ("b", 300, 60), ("c", 60, 300), ("d", 300, 60)):
        png(at("tu-" + name + ".png"), width, height)
        outcome(c, BINARY, CPU + ["-o", "tu/%s.jpg" % name, "tu-%s.png" % name], 0)
        with open(at("tu/%s.jpg" % name), "rb") as f:
            data = f.read()
        if height == 60:
            write("tu/%s.jpg" % name, orient(data, 5))
    for name in "abcd":
        outcome(c, BINARY, CPU + ["-f", "blur=2,gray", "-o", "tu-each", "tu/%s.jpg" % name], 0)
    outcome(c, BINARY, CPU + ["-f", "blur=2,gray", "--jobs", "1", "-o", "tu-all", "tu"], 0)
    c.check(digests(at("tu-all")) == digests(at("tu-each")), digests(at("tu-all")), digests(at("tu-each")))


def tight(c):
    """Two workers that wait for memory do not block each other."""
    os.makedirs(at("ti"))
    png(at("ti/0.png"), 600, 400)
    for i in range(1, 12):
        shutil.copy(at("ti/0.png"), at("ti/%d.png" % i))
    for memory, jobs in ("1G", "1"), ("16M", "8"):  # one image takes 5 MiB
        outcome(c, BINARY, CPU + ["-f", "blur", "-o", "ti-" + memory, "--memory", memory, "-J", jobs, "ti"], 0,
                timeout=60)
    c.check(len(digests(at("ti-16M"))) == 12 and digests(at("ti-16M")) == digests(at("ti-1G")), digests(at("ti-16M")))
    image, profile = rgba_png(4, 4), zlib.compress(bytes(8 << 20))  # 8 KiB, which take twice 8 MiB
    write("ti-profile.png", image[:33] + png_chunk(b"iCCP", b"own\0\0" + profile) + image[33:])
    for memory, code, *said in ("1G", 0), ("16M", 3, "more than --memory allows"):
        outcome(c, BINARY, CPU + ["--color", "keep", "-o", "ti-%s.png" % memory, "--memory", memory, "ti-profile.png"],
                code, *said)


def few_files(c):
    """With a low limit on open files, fewer files are in flight, or the run is refused in one line."""
    names = tree(at("ff"), 150)

    def limited(files, *args):
        shutil.rmtree(at("ff-out"), ignore_errors=True)
        return run("sh", "-c", 'ulimit -n %d && exec "$@"' % files, "sh", BINARY, "batch", "-r", "-f", "blur", "-o",
                   "ff-out", *args, "ff", cwd=at())

    runs = [(8, "-p", "cpu"), (12, "-p", "cpu", "-J", "8"), (20, "-p", "cpu", "-J", "16")]
    for run_with in runs + ([(64, "-p", "opencl", "-J", "16")] if has_opencl(BINARY) else []):
        code, _, err = limited(*run_with)
        c.check(code == 0 and err == "", run_with, code, err[-300:])
        c.check(sorted(digests(at("ff-out"))) == names, run_with, "lost some")
    code, _, err = limited(6, "-p", "cpu")
    c.check(code == 3 and err.count("\n") == 1 and "raise it to 18 or more (ulimit -n)" in err, code, err)
    c.check(not os.path.exists(at("ff-out")), "too few files, and yet something was made")


def namespace(c, mount, *args):
    """Runs a batch into a new file system at `small`. Returns None if it cannot be mounted."""
    os.makedirs(at("small"), exist_ok=True)
    script = 'mount -t tmpfs -o %s none small && { "$@"; code=$?; find small -type f; exit $code; }' % mount
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", at("small")], capture_output=True).returncode:
        print("no file system of its own can be mounted here: left out")
        return None
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", BINARY, "batch", *CPU, *NONE, *args, "-o",
                           "small"], cwd=at(), env=environment(), capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def full_disk(c):
    """A full disk stops the run with one line, and incomplete files are removed."""
    tree(at("src"), 40, 80, 60)
    got = namespace(c, "size=100k", "-r", "--jobs", "2", "--report", "full.jsonl", "src")
    if got:
        code, out, err = got
        rows = files(at("full.jsonl")).values()
        done = [row for row in rows if row["status"] == "done"]
        full = [row for row in rows if row.get("error") == "full"]
        c.check(code == 1 and done and 0 < len(full) <= 2 and len(done) + len(full) == len(rows) < 40, code, err[:3])
        c.check(len(err) == 1 and "No space left on device; the run stops" in err[0], "full disk says", err[:3])
        c.check(sorted(out[1:]) == sorted(row["output"] for row in done), "full disk leaves", out)
        counts = len(done), len(full), 40 - len(rows)
        summary = r"%d of 40 files done in [0-9.]+ s \([0-9.]+ per second\), %d failed, %d not reached, path cpu"
        c.check(re.fullmatch(summary % counts, out[0]), "summary", out[0])
        merged = json.loads(run(BINARY, "report", "merge", "--json", "full.jsonl", cwd=at())[1])
        c.check((merged["done"], merged["failed"], merged["missing"]) == counts, merged)
        code, out, err = namespace(c, "nr_inodes=1", "-r", "--jobs", "2", "--json", "src")
        said = json.loads(out[0])
        c.check(code == 3 and len(err) == len(out) == 1 and said["done"] == 0 and
                said["not_reached"] == 40 - said["failed"] >= 38, "nothing fits", code, out, err)
    os.makedirs(at("many-small"))  # the disk is full at fsync
    png(at("many-small/0.png"), 8, 8)
    for i in range(1, 200):
        shutil.copy(at("many-small/0.png"), at("many-small/%d.png" % i))
    code, out, err = run(LATE, "batch", *CPU, *NONE, "--jobs", "2", "-o", "small-out", "--json", "many-small",
                         cwd=at(), LATE_SYNC=str(errno.ENOSPC))
    said = json.loads(out)
    c.check(code == 3 and err.count("\n") == 1 and "the run stops" in err and said["not_reached"] > 0 and
            digests(at("small-out")) == {}, code, said, err)
    # A limit on the size of a file is not a full disk: smaller files still fit.
    os.makedirs(at("fs"))
    for name, side in ("a", 300), ("b", 8), ("c", 300), ("d", 8):
        png(at("fs/%s.png" % name), side, side)
    code, _, err = run("sh", "-c", 'ulimit -f 4; exec "$@"', "sh", BINARY, "batch", *CPU, *NONE, "-o", "fs-out",
                       "--json", "fs", cwd=at())
    c.check(code == 1 and err.count("\n") == err.count("File too large\n") == 2, code, err)
    c.check(sorted(digests(at("fs-out"))) == ["b.png", "d.png"], digests(at("fs-out")))


def bad_directories(c):
    """A directory that cannot be written is reported once. Files with their output elsewhere do not fail."""
    tree(at("src"), 40, 80, 60)
    write("file", b"")
    for plan in [], ["-n"]:
        got = namespace(c, "ro", "-r", "src", *plan)
        if got:
            c.check(got[0] == 3 and got[2] == ["monocle: error: cannot write to small/: Read-only file system; every "
                                               "file with its output there fails"], plan, got)
        for out in "file/in/it", "file":
            said = outcome(c, BINARY, CPU + plan + ["-o", out, "src"], 3, "cannot write to %s/: Not a directory" % out)
            c.check(len(said) == 1, plan, said)
    # One of two directories cannot be written; files that were finished in it stay finished.
    write("half/a/b", b"")
    outcome(c, BINARY, CPU + ["-r", "-o", "half", "--report", "half.jsonl", "src"], 1,
            "cannot write to half/a/b/: Not a directory; every file")
    rows = files(at("half.jsonl"))
    failed = {name: row for name, row in rows.items() if row["status"] == "failed"}
    c.check(sorted(failed) == sorted(name for name in rows if name.startswith("src/a/b/")) and len(failed) == 10 and
            {(row["error"], row["why"]) for row in failed.values()} ==
            {("write", "cannot write to half/a/b/: Not a directory")}, failed)
    os.makedirs(at("ready/sub"))
    os.makedirs(at("ready-out"))
    png(at("ready/a.png"), 8, 8)
    png(at("ready/sub/a.png"), 8, 8)
    script = ('mount -t tmpfs none ready-out && "$@" >/dev/null && mount -o remount,bind,ro ready-out && '
              'cp ready/a.png ready/b.png && cp ready/a.png ready/sub/b.png && "$@"; code=$?; '
              '"$@" >/dev/null --dry-run; test $? = $code && exit $code')
    if got:
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", BINARY, "batch", *CPU, *NONE, "-r", "-o",
                               "ready-out", "ready"], cwd=at(), env=environment(), capture_output=True, text=True)
        c.check(done.stdout == "0 of 4 files done, 2 skipped (their outputs exist), 2 failed, path cpu\n", done.stdout)
        c.check(done.returncode == 1 and done.stderr ==
                2 * "monocle: error: cannot write to ready-out/: Read-only file system; every file with its "
                "output there fails\n", done)


def late_directory(c):
    """A directory that is writable according to access(), but refuses the first file, as a file server can."""
    if os.getuid() != 0 or SANITIZED:  # LeakSanitizer cannot look into a process whose rights have changed
        print("left out: needs root, and a build without sanitizers")
        return
    tree(at("src"), 40, 80, 60)
    os.chmod(at(), 0o755)
    os.makedirs(at("late-dir"))
    shutil.copy(BINARY, at("monocle"))  # the sources may be in a directory that only root reads

    def lose_rights():  # except the real user's, which access() checks
        os.seteuid(NOBODY)

    done = subprocess.run(["./monocle", "batch", *CPU, *NONE, "-r", "--jobs", "2", "-o", "late-dir", "--json", "src"],
                          cwd=at(), env=environment(), capture_output=True, text=True, preexec_fn=lose_rights)
    c.check(done.returncode == 3 and done.stderr.count("\n") == 1 and
            "cannot write to late-dir/: Permission denied" in done.stderr, done)
    c.check(json.loads(done.stdout)["errors"] == {"write": 40}, done)


def make_many():
    """Makes 150 images: enough work to be interrupted."""
    if os.path.isdir(at("many")):
        return
    os.makedirs(at("many/sub"))
    png(at("many/0.png"), *((64, 48) if SANITIZED else (320, 240)))
    for i in range(1, 150):
        shutil.copy(at("many/0.png"), at("many/" + ("sub/" if i % 2 else "") + "%d.png" % i))


def start(out, report=None, *more, binary=BINARY, **variables):
    """Starts a batch of 150 images."""
    make_many()
    args = [*CPU, "-f", "blur,emboss", "-r", "-o", out, "many", *(["--report", report] if report else []), *more]
    return subprocess.Popen([binary, "batch", *args], cwd=at(), env=environment(**variables),
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@functools.cache
def reference():
    """Returns the outputs of an undisturbed run of start()."""
    process = start("whole")
    said = process.communicate()[1]
    assert process.returncode == 0, said
    return digests(at("whole"))


def signals(c):
    whole = reference()
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        out, report = "sig-%d" % code, "sig-%d.jsonl" % code
        # The program stops in its first group of outputs, so that it cannot finish all files before the signal.
        process = start(out, report, "--jobs", "1", binary=LATE, LATE_NUMBER="5", LATE_STOP="1")
        os.waitpid(process.pid, os.WUNTRACED)
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.0005)
        process.send_signal(number)  # as timeout(1) does: to the process, then to its group
        err = process.communicate()[1]
        c.check(process.returncode == code and len(err.splitlines()) == 1, code, process.returncode, err)
        made, end = digests(at(out)), lines(at(report))[-1]
        c.check(0 < len(made) < 150 and all(whole[n] == d for n, d in made.items()), code, "has", len(made))
        c.check(end["end"]["signal"] == number and end["end"]["done"] == len(made), code, "report", end)
        c.check(start(out).wait() == 0 and digests(at(out)) == whole, code, "and again")


def late_signal(c):
    """A signal after the last file does not change the exit code."""
    tree(at("late"), 3)
    for more, code in ([], 0), (["nowhere.png"], 1):
        for name in "SIGINT", "SIGTERM":
            got, out, err = run(LATE, "batch", *CPU, *NONE, "-r", "--overwrite", "--report", "late.jsonl", "-o",
                                "late-out", "late", *more, cwd=at(), LATE_SIGNAL=str(int(getattr(signal, name))))
            c.check(got == code and len(err.splitlines()) == len(more) and out, name, more, got, out, err)
        got = run(LATE, "batch", *CPU, *NONE, "-r", "--overwrite", "--jobs", "1", "-o", "late-out", *more, "late",
                  cwd=at(), LATE_NUMBER="3")  # all files were in flight
        c.check(got[0] == code and b"3 of %d files done" % (3 + len(more)) in got[1], more, got)
    c.check(len(digests(at("late-out"))) == 3, digests(at("late-out")))


def late_files(c):
    """A file that another program creates at the output's name during the run is not replaced."""
    png(at("lf.png"), 8, 8)
    for old in {}, {"LATE_OLD": "1"}:
        for more, to in ([], ""), ([], "nowhere"), (["--overwrite"], "../lf.png"):
            shutil.rmtree(at("lf"), ignore_errors=True)
            os.mkdir(at("lf"))
            if more:
                write("lf/lf.png", b"replaced, but for the link that comes")
            late = {"LATE_FILE": "lf/lf.png", **({"LATE_TO": to} if to else {}), **old}
            said = outcome(c, LATE, CPU + more + ["-o", "lf", "lf.png"], 3, "another program created lf/lf.png", **late)
            c.check(len(said) == 1 and os.listdir(at("lf")) == ["lf.png"], more, late, said)
            c.check(os.readlink(at("lf/lf.png")) == to if to else open(at("lf/lf.png")).read() == "another's", late)
        outcome(c, LATE, CPU + ["-o", "lf-new", "lf.png"], 0, **old)
        outcome(c, LATE, CPU + ["-o", "lf-new", "--overwrite", "lf.png"], 0, **old)
        shutil.rmtree(at("lf-new"))
    outcome(c, LATE, CPU + ["-o", "lf-new", "--report", "lf.jsonl", "lf.png"], 0)
    shutil.rmtree(at("lf-new"))  # another run removes the temporary file: it is made again
    outcome(c, LATE, CPU + ["-o", "lf-new", "lf.png"], 0, LATE_CLEAN="1")
    c.check(os.listdir(at("lf-new")) == ["lf.png"], os.listdir(at("lf-new")))
    merged = run(LATE, "report", "merge", "-o", "lf-all.jsonl", "lf.jsonl", cwd=at())
    c.check(merged[0] == 0 and merged[2] == "", "a merged report", merged)
    shutil.rmtree(at("lf-new"))
    outcome(c, LATE, CPU + ["-o", "lf-new", "lf.png"], 3, "Input/output error", LATE_SYNC=str(errno.EIO))
    c.check(os.listdir(at("lf-new")) == [], os.listdir(at("lf-new")))


def kills(c):
    whole = reference()
    pauses = random.Random(5)
    leftovers = 0
    for i in range(KILLS):
        process = start("killed", "killed.jsonl")
        time.sleep(pauses.uniform(0.02, 0.4) * (4 if SANITIZED else 1))
        process.kill()
        process.communicate()
        found = digests(at("killed")) if os.path.isdir(at("killed")) else {}
        for name, digest in found.items():
            if os.path.basename(name).startswith(".monocle-batch-"):
                leftovers += 1
            else:
                c.check(whole.get(name) == digest, "after kill", i, name, "is not whole")
        if len(found) >= 140:
            shutil.rmtree(at("killed"))
    process = start("killed", "killed.jsonl")
    c.check(process.wait() == 0, process.stderr.read())
    c.check(digests(at("killed")) == whole, "after all", len(digests(at("killed"))))
    code, out, _ = run(BINARY, "report", "merge", "--json", "killed.jsonl", cwd=at())
    c.check(code == 0 and json.loads(out)["files"] == 150, out)
    print("%d kills, %d leftovers seen" % (KILLS, leftovers))


def two_at_once(c):
    """Two runs of the same job at once: both succeed."""
    whole = reference()
    pair = [start("two", "two-%d.jsonl" % i) for i in range(2)]
    said = [process.communicate()[1] for process in pair]
    c.check([process.returncode for process in pair] == [0, 0] and said == ["", ""], said[0][-300:], said[1][-300:])
    c.check(digests(at("two")) == whole, "two at once", len(digests(at("two"))))
    code, out, err = run(BINARY, "report", "merge", "two-0.jsonl", "two-1.jsonl", cwd=at())
    c.check(code == 0, out, err)


def two_jobs_at_once(c):
    """Two jobs with the same outputs at once: each file belongs to one and is an error of the other."""
    make_many()
    pair = [subprocess.Popen([BINARY, "batch", *CPU, "-f", filters, "-r", "-o", "both", "--report", filters + ".jsonl",
                              "many"], cwd=at(), env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
            for filters in ("gray", "invert")]
    said = [process.communicate()[1].count(b"\n") for process in pair]
    rows = [files(at(name + ".jsonl")) for name in ("gray", "invert")]
    done = [{row["output"] for row in of.values() if row["status"] == "done"} for of in rows]
    lost = [[row["error"] for row in of.values() if row["status"] == "failed"] for of in rows]
    made = {os.path.join("both", name) for name in digests(at("both"))}
    c.check(len(made) == 150 and done[0] | done[1] == made and not done[0] & done[1], [len(d) for d in done])
    c.check([len(of) for of in lost] == said and set(lost[0] + lost[1]) == {"exists"}, said, lost)


def locked(c):
    """A run removes temporary files of ended runs only; it leaves those of a running one, links and other files."""
    live, link, other = ".monocle-batch-" + "0" * 16, ".monocle-batch-" + "1" * 16, ".monocle-batch-notes"
    tree(at("lk"), 2)
    os.makedirs(at("lk-out"))
    write("lk-out/.monocle-batch-0123456789abcdef", b"x")
    write("lk-out/" + other, b"x")
    os.symlink("../lk/p000.png", at("lk-out", link))
    with open(at("lk-out", live), "wb"):
        holder = subprocess.Popen(["flock", "--no-fork", "-x", at("lk-out", live), "sleep", "60"])
        while subprocess.run(["flock", "-n", at("lk-out", live), "true"]).returncode == 0:
            time.sleep(0.01)
        os.utime(at("lk-out", live), (1, 1))
        outcome(c, BINARY, CPU + ["-o", "lk-out", "lk"], 0)
        holder.kill()
        holder.wait()
    left = [n for n in digests(at("lk-out")) if n.startswith(".")]
    c.check(sorted(left) == [live, link, other], left)


sys.exit(Checks().run(bad_inputs, cut_short, turned_between, turned_equally, made_apart, tight, few_files, full_disk,
                      bad_directories, late_directory, signals, late_signal, late_files, kills, two_at_once,
                      two_jobs_at_once, locked))
