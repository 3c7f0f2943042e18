#!/usr/bin/env python3
"""test_batch_reports.py MONOCLE: reports of batches and their paths, merged reports; dry runs; the progress line"""
import fcntl
import json
import os
import re
import struct
import sys
import zlib

sys.path.append(sys.path[0] + "/../../support")
from batch_support import NONE, batch, digests, files, lines, outcome, png_chunk, tree
from checks import Checks, at, programs
from live_support import on_terminal, run

BINARY, = programs(1)
CPU = ["-p", "cpu"]


def reports(c):
    tree(at("re"), 6)
    with open(at("re/bad.png"), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
    job = CPU + ["-r", "-o", "re-out", "--report", "re.jsonl", "--json", "re"]
    code, out, err = batch(BINARY, *job)
    said, rows = json.loads(out), files(at("re.jsonl"))
    c.check(code == 1 and said["done"] == 6 and said["failed"] == 1 and said["errors"] == {"damaged": 1}, said, err)
    c.check(rows["re/bad.png"]["status"] == "failed" and rows["re/bad.png"]["error"] == "damaged", rows["re/bad.png"])
    good = rows["re/a/p001.png"]
    c.check(good["device"] == "cpu" and "device_number" not in good and good["output"] == "re-out/a/p001.png" and
            good["width"] == 25, good)
    c.check(set(good["ms"]) == {"read", "decode", "filter", "encode", "write"}, good["ms"])
    c.check(good["output_bytes"] == os.path.getsize(at(good["output"])), good)
    with open(at("re.jsonl"), "a") as f:
        f.write('{"input":"re/a/p0')  # as if the run was killed while it wrote the line
    os.unlink(at("re-out/p000.png"))
    code, out, err = batch(BINARY, *job)
    c.check(json.loads(out)["skipped"] == 5 and json.loads(out)["done"] == 1, out, err)
    code, out, err = run(BINARY, "report", "merge", "--json", "re.jsonl", cwd=at())
    said = json.loads(out)
    c.check(code == 1 and said["done"] == 6 and said["failed"] == 1 and said["torn_lines"] == 1, said, err)
    c.check(said["errors"] == {"damaged": 1}, said)
    c.check(run(BINARY, "report", "merge", "no.jsonl", cwd=at())[0] == 3, "no report")
    with open(at("re.jsonl")) as f:
        whole = f.read().splitlines(keepends=True)
    c.check(sum(line.startswith('{"start":') for line in whole) == 2, "a run that begins in half a line", whole)
    out = run(BINARY, "report", "merge", "re.jsonl", cwd=at())[1].decode()
    c.check("\n  damaged: 1\n" in out and out.count(": 1\n") == 2, out)  # one of them is for the incomplete line
    with open(at("re-first.jsonl"), "w") as f:
        f.write(whole[0] + '{"input":"a","output":"b","status":"failed","error":"missing"}\n')
    out = run(BINARY, "report", "merge", "re-first.jsonl", cwd=at())[1].decode()
    c.check("\n  missing: 1\n" in out, "the first of all faults", out)
    done, exists = ('{"input":"a","output":"b","status":"%s"%s}\n' % pair
                    for pair in (("done", ""), ("failed", ',"error":"exists"')))
    left_out = '{"input":"a.cr2","status":"skipped","why":"camera raw"}\n'
    start, end = '{"start":{"files":1,"shard":1,"shards":1}}\n', '{"end":{}}\n'
    for text, code, says in (("", 1, "does not begin"), ("".join(whole[1:]), 1, "does not begin"),
                             ("a letter\n", 1, "does not begin"), (done + end, 1, "does not begin"),
                             (done + start + done + end, 1, "does not begin"), (start + done, 1, ""),
                             (start + done + end, 0, ""), (start + done + exists + end, 0, ""),
                             (start + exists + done + end, 0, ""), (start + exists + end, 1, ""),
                             (start.replace(":1,", ":2,", 1) + exists + end, 1, ""),
                             (start.replace(":1,", ":-1,", 1) + done + end, 1, "does not begin"),
                             (start.replace(":1,", ":2,", 1) + left_out + done + end, 1, ""),
                             (start + left_out + done + end, 0, ""),
                             ('{"reports_without_start":-1}\n' + start + done + end, 1, "")):
        with open(at("re-part.jsonl"), "w") as f:
            f.write(text)
        got = run(BINARY, "report", "merge", "re-part.jsonl", cwd=at())
        c.check(got[0] == code and says in got[2] and (says == "") == (got[2] == ""), text[:60], got)
        c.check((b"shard 1/1 did not finish" in got[1]) == (text == start + done), text[:60], got)
        merged = [run(BINARY, "report", "merge", "--json", "-o", to, what, cwd=at())[:2] for what, to in
                  (("re-part.jsonl", "re-all.jsonl"), ("re-all.jsonl", "re-again.jsonl"))]
        said = [{k: v for k, v in json.loads(out).items() if k not in ("torn_lines", "done_twice")}
                for _, out in merged]
        c.check(merged[0][0] == merged[1][0] == code and said[0] == said[1], text[:60], "merged twice", merged)
    for shard, name in (1, "re-one.jsonl"), (2, "re-two.jsonl"):
        with open(at(name), "w") as f:
            f.write(start.replace('"shard":1,"shards":1', '"shard":%d,"shards":2' % shard) + done + end)
    code, out, err = run(BINARY, "report", "merge", "re-one.jsonl", "re-two.jsonl", cwd=at())
    c.check(b"done by two shards: 1\n" in out, code, out, err)
    code, out, err = run(BINARY, "report", "merge", "re-one.jsonl", "re-one.jsonl", cwd=at())
    c.check(b"done by two shards" not in out, code, out, err)
    with open(at("re-far.jsonl"), "w") as f:
        f.write(start.replace('"shard":1,"shards":1', '"shard":900000,"shards":1000000') + done + end)
    for first, other in ("re-one.jsonl", "re-far.jsonl"), ("re-far.jsonl", "re-one.jsonl"):
        got = run(BINARY, "report", "merge", first, other, cwd=at())
        c.check(got[0] == 3 and "different numbers of shards" in got[2] and got[2].count("\n") == 1, first, got)
    # Files done by earlier runs count only if those runs were of the same job as the last one.
    other = [done.replace('"a"', '"%d"' % i) for i in range(3)]
    job = ['{"start":{"files":2,"shard":1,"shards":1,"work":"%s"}}\n' % work for work in "xy"]
    for text, missing in (([job[0]] + other[:2] + [end, job[1], other[2], end], 1),
                          ([job[0]] + other[:2] + [end, job[1], other[1], end], 1),
                          ([job[0]] + other[:2] + [end, job[1]] + other[1:] + [end], 0),
                          ([job[0]] + other[:2] + [end, job[0], end], 0), ([job[1], job[0]] + other[:2] + [end], 0),
                          ([job[0]] + other[:2] + [end, job[1], end, job[0], other[0], end], 0)):
        with open(at("re-part.jsonl"), "w") as f:
            f.write("".join(text))
        for report in "re-part.jsonl", "re-all.jsonl":
            code, out, err = run(BINARY, "report", "merge", "--json", "-o", "re-all.jsonl", report, cwd=at())
            c.check(code == (missing > 0) and json.loads(out)["missing"] == missing, text, report, out, err)
    works = [batch(BINARY, *CPU, *args, "-o", "re-works", "--report", "re-works.jsonl", "re") and
             [row["start"]["work"] for row in lines(at("re-works.jsonl")) if "start" in row][-1]
             for args in ([], ["-J", "1", "re/p000.png"], ["-f", "blur"], ["-r"])]
    c.check(works[0] == works[1] and len(set(works)) == 3, works)
    with open(at("re-notes"), "w") as f:
        f.write("notes")
    for args in ([], ["merge"], ["mend", "re.jsonl"], ["merge", "-o", "-", "re.jsonl"],
                 ["merge", "-o", "re-notes", "re.jsonl"]):
        c.check(run(BINARY, "report", *args, cwd=at())[0] == 2, args)
    c.check(open(at("re-notes")).read() == "notes", "a merged report replaced another file")
    outcome(c, BINARY, CPU + ["-r", "-o", "re-2", "--report", "no/dir.jsonl", "re"], 3, "no file is processed")
    c.check(not os.path.exists(at("re-2")), "worked without a report")


def report_places(c):
    tree(at("rp"), 2)
    os.symlink("rp/p000.png", at("rp-link.jsonl"))
    os.symlink("nowhere", at("rp-nowhere.jsonl"))
    os.mkfifo(at("rp-pipe"))
    os.makedirs(at("rp-out"))
    open(at("rp/empty.png"), "w").close()
    with open(at("rp/list"), "w") as f:
        f.write("rp/p000.png\n")
    with open(at("rp/text"), "w") as f:
        f.write("a letter\n")
    before = digests(at("rp"))
    for report, args, says in (("rp/p000.png", ["rp"], "also an input"), ("rp/empty.png", ["rp"], "also an input"),
                               ("rp-link.jsonl", ["rp"], "is also an input"),
                               ("rp-out/new.png", ["rp", "rp-out/new.png"], "is also an input"),
                               ("rp/list", ["--files-from", "rp/list"], "is also the list"),
                               ("./rp-out/../rp-out/p000.png", ["--overwrite", "rp"], "is also an output"),
                               ("rp/text", ["rp"], "is not a report"), ("rp-nowhere.jsonl", ["rp"], "dangling"),
                               ("-", ["rp"], "standard output, which has the summary"),
                               ("rp-pipe", ["rp"], "not a regular file"), ("rp-out", ["rp"], "not a regular file")):
        said = outcome(c, BINARY, CPU + ["-o", "rp-out", "--report", report] + args, 2, says)
        c.check(len(said) == 1, said)
    for shard in "1/2", "2/2":  # also if another shard would write it
        outcome(c, BINARY, CPU + ["-o", "rp-out", "--shard", shard, "--report", "rp-out/p000.png", "rp"], 2,
                "is also an output")
    outcome(c, BINARY, CPU + ["-o", "rp-new", "--report", "rp-new/p000.png", "rp"], 2, "is also an output")
    c.check(digests(at("rp")) == before and digests(at("rp-out")) == {}, "something was touched")
    with open(at("rp.jsonl"), "w") as f:
        f.write('{"start":{"filt')  # left by a run that was killed
    outcome(c, BINARY, CPU + ["-o", "rp-out", "--report", "rp.jsonl", "rp/p000.png"], 0)


def in_use(c):
    """A report that another run writes to is refused: the lines of two runs would mix."""
    tree(at("iu"), 2)
    with open(at("iu.jsonl"), "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        said = outcome(c, BINARY, CPU + ["-r", "-o", "iu-out", "--report", "iu.jsonl", "iu"], 3, "another run is")
        c.check(len(said) == 1 and not os.path.exists(at("iu-out")), said)
    outcome(c, BINARY, CPU + ["-r", "-o", "iu-out", "--report", "iu.jsonl", "iu"], 0)


def full_disk(c):
    """A report that cannot be written is reported once and by the exit code. The outputs are made."""
    names = tree(at("fd"), 8)
    code, out, err = run("sh", "-c", 'ulimit -f 1; exec "$@"', "sh", BINARY, "batch", *CPU, *NONE, "-r", "-o", "fd-out",
                         "--report", "fd.jsonl", "fd", cwd=at())
    c.check(code == 1 and "fd.jsonl: File too large" in err and err.count("\n") == 1, code, err)
    c.check(b"8 of 8 files done" in out and sorted(digests(at("fd-out"))) == names, out, digests(at("fd-out")))


def endless(c):
    """A file that is not a report is refused in one line, also if it is endless."""
    start = json.dumps({"start": {"work": "1", "shard": 1, "shards": 1, "files": 0}})
    for name, text, says in (("long", start + "\n" + "x" * (1 << 20) + "x\n", "a line of more than 1 MiB"),
                             ("words", "no report\n" * 1001, "1000 lines in a row"),
                             ("nothing", start + "\n" * 1001, "1000 lines in a row"),
                             ("objects", '{"status":"else"}\n' * 1001, "1000 lines in a row")):
        with open(at(name), "w", encoding="ascii") as f:
            f.write(text)
        code, out, err = run(BINARY, "report", "merge", at(name))
        c.check(code == 3 and says in err and err.count("\n") == 1 and not out, name, code, err)
    code, out, err = run(BINARY, "report", "merge", "/dev/zero")
    c.check(code == 3 and "1 MiB" in err, code, err)
    with open(at("long"), "w", encoding="ascii") as f:  # the longest line allowed, and incomplete lines between others
        f.write((start + "\n") * 10 + "x" * (1 << 20) + "\n" + ("torn\n" * 900 + start + "\n") * 2)
    code, out, err = run(BINARY, "report", "merge", at("long"))
    c.check(code == 1 and b"incomplete lines: 1801" in out, code, out, err)


def dry_runs(c):
    tree(at("dry"), 3)
    open(at("dry/bad.png"), "w").close()
    job = CPU + ["-r", "-o", "dry-out", "dry"]
    outcome(c, BINARY, job + ["dry/p000.png"], 1, "the file is empty")
    os.unlink(at("dry-out/a/p001.png"))
    os.utime(at("dry/p000.png"), (1, 1))
    before = [digests(at(name)) for name in ("dry", "dry-out")]
    code, out, err = batch(BINARY, *job, "--dry-run", "--json", "gone.png")
    rows = {row["input"]: row for row in map(json.loads, out.splitlines())}
    c.check(code == 1 and len(rows) == 5, code, rows, err)
    c.check(rows["dry/a/p001.png"] == {"input": "dry/a/p001.png", "output": "dry-out/a/p001.png", "status": "planned"})
    c.check(rows["dry/a/b/p002.png"]["status"] == "skipped" and rows["dry/p000.png"]["error"] == "exists" and
            rows["gone.png"]["error"] == "missing", rows)
    code, out, err = batch(BINARY, *job, "--dry-run", "--json", "--overwrite")
    rows = {row["input"]: row for row in map(json.loads, out.splitlines())}
    c.check(rows["dry/p000.png"].get("replaces") is True, rows)
    c.check([digests(at(name)) for name in ("dry", "dry-out")] == before, "something was done")


def progress(c):
    """On a terminal a progress line is shown; messages and the summary replace it."""
    tree(at("far"), 3)
    with open(at("far/bad.png"), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
    code, said = on_terminal(BINARY, "batch", *CPU, *NONE, "-r", "-o", "far-out", "far", cwd=at(), TERM="xterm")
    c.check(code == 1 and said.endswith(b"\r\x1b[K") and said.count(b"monocle: error: far/bad.png") == 1, code, said)
    c.check(re.search(rb"\r\x1b\[K[0-4] of 4(, 1 failed)?(, [0-9.]+ per second, [0-9:]+ left)?\r\x1b\[K", said), said)
    code, said = on_terminal(BINARY, "batch", *CPU, *NONE, "-r", "-o", "far-out", "far", cwd=at(), TERM="dumb")
    c.check(code == 1 and said.startswith(b"monocle: ") and said.count(b"\n") == 1, "a plain one", code, said)


def lossy_inputs(c):
    """16 bits and further frames are lost: one warning for each kind, and the report names each file."""
    head, end = b"\x89PNG\r\n\x1a\n", png_chunk(b"IEND", b"")

    def write(name, *parts):
        with open(at("lossy", name), "wb") as f:
            f.write(b"".join(parts))

    def header(depth):
        return png_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, depth, 0, 0, 0, 0))

    os.mkdir(at("lossy"))
    deep, plain = (png_chunk(b"IDAT", zlib.compress(bytes(1 + size))) for size in (2, 1))
    frames, frame = (png_chunk(b"acTL", struct.pack(">II", count, 0)) for count in (2, 1))
    gif = b"GIF89a\1\0\1\0\x80\0\0" + bytes(6)
    picture_of_gif = b",\0\0\0\0\1\0\1\0\0\2\2\x44\1\0"
    tags = ((256, 1), (257, 1), (258, 16), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 2))
    write("deep.png", head, header(16), deep, end)
    write("film.png", head, header(8), frames, plain, end)
    write("both.png", head, header(16), frames, deep, end)
    write("one.png", head, header(8), frame, plain, end)
    write("one.gif", gif, picture_of_gif, b";")
    write("film.gif", gif, picture_of_gif * 2, b";")
    write("deep.tif", b"II*\0\x0a\0\0\0\0\0", struct.pack("<H", len(tags)),
          b"".join(struct.pack("<HHII", tag, 4 if tag == 273 else 3, 1, value) for tag, value in tags), bytes(4))
    write("IMG.JXR"), write("img.cr2"), write("notes.txt")
    said = {"deep.png": "more than 8 bits", "film.png": "an animation",
            "both.png": "are reduced to 8; it is an animation",
            "film.gif": "an animation", "deep.tif": "more than 8 bits", "one.png": "", "one.gif": ""}
    _, _, err = batch(BINARY, *CPU, "--metadata", "strip", "--report", "lossy.jsonl", "-o", "lossless/{n}.png", "lossy")
    rows = files(at("lossy.jsonl"))
    c.check("warning: 2 images are left out: monocle cannot read camera raw, JPEG XR" in err, err)
    os.rename(at("lossy/deep.tif"), at("lossy/deep.KDC"))
    _, _, raw = batch(BINARY, *CPU, "-o", "raw", "lossy/deep.KDC")
    c.check("deep.KDC: camera raw: develop it first with darktable-cli" in raw, raw)
    for name, text in said.items():
        why = rows["lossy/" + name].get("why", "")
        if "this build of monocle has no" in why:
            continue
        c.check(text in why if text else not why, name, "not", text, why)
    frames_lost = sum("an animation" in row.get("why", "") for row in rows.values())
    for line in ("both.png and 2 more: its channels have more than 8 bits and are reduced to 8\n",
                 "both.png and %d more: it is an animation: all" % (frames_lost - 1)):
        c.check(err.count("warning: lossy/" + line) == 1, err)
    c.check(err.count("warning:") == 3, err)
    for name, why in ("IMG.JXR", "convert it first with ImageMagick"), ("img.cr2", "camera raw: develop it first with"):
        row = rows["lossy/" + name]
        c.check(row["status"] == "skipped" and why in row["why"], row)
    os.mkdir(at("bad"))
    for number in range(22):
        with open(at("bad", "%02d.png" % number), "wb") as f:
            f.write(b"no image")
    batch(BINARY, *CPU, "--report", "bad.jsonl", "-o", "x/{n}.png", "bad")
    _, out, _ = run(BINARY, "report", "merge", "bad.jsonl", cwd=at())
    c.check(out.count(b"\n  bad/") == 20 and b"bad/00.png: it is not a" in out and b"and 2 more" in out, out)
    _, out, _ = run(BINARY, "report", "merge", "--json", "bad.jsonl", cwd=at())
    named = sorted(row["input"] for row in json.loads(out)["failures"])
    c.check(named == ["bad/%02d.png" % number for number in range(22)], named)


sys.exit(Checks().run(reports, lossy_inputs, report_places, in_use, full_disk, endless, dry_runs, progress))
