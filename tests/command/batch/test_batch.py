#!/usr/bin/env python3
"""test_batch.py MONOCLE PLAIN: the batch command: inputs, names, existing outputs, shards, equal bytes"""
import json
import os
import shutil
import struct
import subprocess
import sys
import time
import zlib

sys.path.append(sys.path[0] + "/../../support")
from batch_support import NONE, batch, digests, files, lines, outcome, png_chunk, tree
from checks import KERNELS, Checks, at, programs, slow
from live_support import has_opencl, picture, png, run

BINARY, PLAIN = programs(2)
CPU = ["-p", "cpu"]


def inputs(c):
    names = tree(at("in"), 12)
    with open(at("in/notes.txt"), "w") as f:
        f.write("no picture")
    png(at("in/.hidden.png"), 8, 8)
    outcome(c, BINARY, CPU + ["-o", "flat", "in"], 0)
    c.check(sorted(digests(at("flat"))) == [n for n in names if "/" not in n], "flat", digests(at("flat")))
    outcome(c, BINARY, CPU + ["-r", "-o", "deep", "in/"], 0)
    c.check(sorted(digests(at("deep"))) == names, "deep", digests(at("deep")))
    for null, end in ([], "\n"), (["-0"], "\0"):
        listed = "".join("./in/" + name + end for name in names).encode()
        outcome(c, BINARY, CPU + ["--files-from", "-", "-o", "listed" + end.strip("\0\n") + str(len(null))] + null, 0,
                stdin=listed)
        found = digests(at("listed%d" % len(null)))
        c.check(sorted(found) == ["in/" + name for name in names], null, sorted(found))
    odd = "in/new\nline \xff.png".encode("latin-1")
    os.rename(at("in/p000.png"), os.path.join(os.fsencode(at()), odd))
    outcome(c, BINARY, CPU + ["--files-from", "-", "-0", "-o", "odd", "--report", "odd.jsonl"], 0, stdin=odd + b"\0")
    row = lines(at("odd.jsonl"))[1]
    c.check(bytes.fromhex(row["input_hex"]) == odd, row)
    os.rename(os.path.join(os.fsencode(at()), odd), at("in/p000.png"))
    # Neither the output directory nor a name given twice adds inputs.
    outcome(c, BINARY, CPU + ["-r", "-o", "in/out", "in", "in/p000.png"], 0)
    outcome(c, BINARY, CPU + ["-r", "-o", "in/out", "in", "in/p000.png"], 0)
    c.check(sorted(digests(at("in/out"))) == names, "in/out", sorted(digests(at("in/out"))))
    subprocess.run(["rm", "-r", at("in/out")], check=True)
    template = CPU + ["-r", "-o", "in/out/{dir}{stem}-x{ext}", "in"]  # the same for the directory of a template
    outcome(c, BINARY, template, 0)
    outcome(c, BINARY, template, 0)
    c.check(len(digests(at("in/out"))) == 12, "in/out", sorted(digests(at("in/out"))))
    subprocess.run(["rm", "-r", at("in/out")], check=True)
    outcome(c, BINARY, CPU + ["-o", "x", "nothing-here"], 3, "nothing-here: No such file")
    os.makedirs(at("empty"), exist_ok=True)
    outcome(c, BINARY, CPU + ["-o", "x", "empty"], 3, "no images in empty\n")
    os.makedirs(at("empty/sub/sub"))
    outcome(c, BINARY, CPU + ["-o", "x", "empty"], 3, "in empty, only directories; add --recursive (-r)")
    outcome(c, BINARY, CPU + ["-o", "x", "-r", "empty"], 3, "no images in empty\n")
    outcome(c, BINARY, CPU + ["-o", "x", "--files-from", "no-list"], 3, "cannot read the list no-list")
    outcome(c, BINARY, CPU + ["-o", "x", "--files-from", "/dev/zero"], 3, "a name of more than 4095 bytes")
    outcome(c, BINARY, CPU + ["-o", "x", "--files-from", "/dev/zero", "-0"], 3, "a million empty names", timeout=20)
    outcome(c, BINARY, CPU + ["-o", "x", "--files-from", "-", "-0"], 3, "more than 4095", stdin=b"in\n" * 2000)
    outcome(c, BINARY, CPU + ["-o", "x", "--files-from", "-"], 1, "error: y/y/",
            stdin=b"\n\nin/p000.png\n" + b"y/" * 2046 + b"/x")
    for args in (["batch", *NONE, "-o", "x", "--files-from", "-"], ["report", "merge", "-"]):
        code, out, err = run("sh", "-c", 'exec "$@" <&-', "sh", BINARY, *args, cwd=at())
        c.check(code == 3 and err.endswith("on standard input: it is closed\n"), args, code, err)


def own_outputs(c):
    """A run that writes into its input directory does not read its own outputs. A run of another chain may."""
    names = tree(at("own-in"), 8)
    job = CPU + ["-r", "-f", "gray", "-o", "own-in/{dir}{stem}-g{ext}", "own-in"]
    for times in range(3):
        code, out, err = batch(BINARY, *job)
        c.check(code == 0 and err == "" and len(digests(at("own-in"))) == 16, times, out, err)
        c.check((b"8 left out (outputs of earlier runs)" in out) == (times > 0), times, out)
    code, out, err = batch(BINARY, *job, "--json")
    said = json.loads(out)
    c.check((said["files"], said["skipped"], said["left_out"]) == (8, 8, 8), said)
    out = batch(BINARY, *job, "-n")[1].splitlines()
    c.check(len(out) == 9 and out[-1] == b"8 left out (outputs of earlier runs)", out)
    # An output is an input if it is named, or if it changed since, or if outputs go elsewhere.
    made = "own-in/" + names[-1].replace(".", "-g.")
    outcome(c, BINARY, job + [made, "--report", "own.jsonl"], 0)
    c.check(len(files(at("own.jsonl"))) == 9 and made in files(at("own.jsonl")), files(at("own.jsonl")).keys())
    os.utime(at(made), (1, 1))
    outcome(c, BINARY, job, 1, made + ": ")  # its output was made from its earlier content
    outcome(c, BINARY, CPU + ["-r", "-f", "blur", "-o", "own-next", "own-in"], 0)
    c.check(len(digests(at("own-next"))) == 17, "in two steps", digests(at("own-next")))
    outcome(c, BINARY, ["-f", "gray", "-o", "own-x", "own-in/p000.png"], 0)
    os.makedirs(at("own-x/sub"))
    outcome(c, BINARY, CPU + ["-o", "own-x/{n}.png", "own-x"], 3, "no images in own-x except 1 made by earlier runs")


def many_names(c):
    """6000 names, each of them twice, so that every list and table of names grows."""
    listed = b"".join(b"gone-%d.png\n" % (i % 3000) for i in range(6000))
    code, out, err = batch(BINARY, *CPU, "-n", "--json", "--files-from", "-", "-o", "many", stdin=listed, timeout=60)
    rows = [json.loads(line)["input"] for line in out.splitlines()]
    c.check(code == 3 and rows == ["gone-%d.png" % i for i in range(3000)], code, len(rows), err[:200])


def odd_lists(c):
    """Lists with a byte-order mark or carriage returns, and names that contain a newline."""
    tree(at("li"), 2)
    outcome(c, BINARY, CPU + ["--files-from", "-", "-o", "li-out"], 0,
            stdin=b"\xef\xbb\xbfli/p000.png\r\n\r\nli/a/p001.png\r\n\r")
    c.check(len(digests(at("li-out"))) == 2, digests(at("li-out")))
    outcome(c, BINARY, CPU + ["--files-from", "-", "-0", "-o", "li-out"], 3, "p000.png\\x0d: No",
            stdin=b"li/p000.png\r\0")
    os.makedirs(at("li/.h"))
    png(at("li/.h/p.png"), 8, 8)
    outcome(c, BINARY, CPU + ["--files-from", "-", "-o", "li-dots"], 0, stdin=b"li/.h/p.png\n")
    c.check(list(digests(at("li-dots"))) == ["li/.h/p.png"], "dots that lead nowhere", digests(at("li-dots")))
    # Absolute names and names with .. give outputs inside the output directory.
    os.makedirs(at("li-deep/here"))
    png(at("li-up.png"), 8, 8)
    png(at("li-deep/beside.png"), 8, 8)
    absolute = os.path.join(os.path.realpath(at()), "li/a/p001.png")
    for name, made in (("../../li-up.png", "li-up.png"), ("sub/../../beside.png", "beside.png"),
                       ("..//beside.png", "beside.png"), (absolute, "p001.png")):
        os.makedirs(at("li-deep/here/sub"), exist_ok=True)
        got = run(BINARY, "batch", *CPU, *NONE, "--overwrite", "--files-from", "-", "-o", "out/sub/sub",
                  cwd=at("li-deep/here"), stdin=name.encode() + b"\n")
        c.check(got[0] == 0 and list(digests(at("li-deep/here"))) == ["out/sub/sub/" + made], name, got,
                digests(at("li-deep")))
        subprocess.run(["rm", "-r", at("li-deep/here/out")], check=True)
    with open(at("li/bad\nname.png"), "w") as f:
        f.write("no picture")
    said = outcome(c, BINARY, CPU + ["-o", "li-bad", "li/bad\nname.png"], 3, "bad\\x0aname.png: it is not")
    c.check(len(said) == 1, said)
    png(at("li/\x1b[2J\n.png"), 8, 8)
    code, out, err = batch(BINARY, *CPU, "-n", "-o", "li-shown", "li/\x1b[2J\n.png")
    want = b"li/\\x1b[2J\\x0a.png -> li-shown/\\x1b[2J\\x0a.png\n"
    c.check(code == 0 and out.startswith(want) and b"\x1b" not in out and "\x1b" not in err, "escape codes", out, err)
    os.makedirs(at("li-bad/bad\nname.png"))
    for more in [], ["-n"]:
        said = outcome(c, BINARY, CPU + more + ["-o", "li-bad", "li/bad\nname.png"], 3, "bad\\x0aname.png exists")
        c.check(len(said) == 1, said)
    outcome(c, BINARY, CPU + ["-o", "y/" * 150 + "z" * 300, "li/p000.png"], 3, "File name too long")
    for plan in [], ["-n"]:
        outcome(c, BINARY, CPU + plan + ["-o", "li-z/" + "z" * 300 + "{ext}", "li/p000.png"], 3, "File name too long")


def spellings(c):
    """A file that is named twice is processed once. A link to it is another input."""
    tree_names = tree(at("sp"), 12)
    one, five = os.path.join(os.path.realpath(at("sp")), "p000.png"), "sp/a/../a/p005.png"
    outcome(c, BINARY, CPU + ["-o", "sp-out/{n}.png", "sp/p000.png", "./sp//p000.png", one, "sp/a/p005.png", five], 0)
    c.check(sorted(digests(at("sp-out"))) == ["000001.png", "000002.png"], digests(at("sp-out")))
    got = run(BINARY, "batch", *CPU, *NONE, "--files-from", "-", "-o", "../sp-up", "../sp/p000.png", cwd=at("sp"),
              stdin=b"a/../p000.png\n")
    c.check(got[0] == 0 and list(digests(at("sp-up"))) == ["p000.png"], got)
    for first in "sp", "./sp", os.path.dirname(one), "sp/../sp":
        outcome(c, BINARY, CPU + ["-r", "-o", "sp-tree", "--overwrite", first, "./sp/a/p001.png", one, "sp/."], 0)
        c.check(sorted(digests(at("sp-tree"))) == tree_names, first, digests(at("sp-tree")))
    places = [os.path.join(os.path.realpath(at()), name) for name in ("sp-1", "sp-2", "sp-23")]
    for place in places:
        os.makedirs(place)
        png(place + "/one.png", 8, 8)
    got = run(BINARY, "batch", *CPU, *NONE, "-o", "{n}.png", *(place + "/one.png" for place in places), cwd=places[1])
    c.check(got[0] == 0 and len(digests(places[1])) == 4, "beside where we are", got, digests(places[1]))
    os.symlink("sp", at("sp-near"))  # ".." follows no link here, so the name keeps the link
    outcome(c, BINARY, CPU + ["-o", "sp-one/{n}.png", "sp-near/p000.png", "sp-near/a/../p000.png"], 0)
    c.check(len(digests(at("sp-one"))) == 1, digests(at("sp-one")))
    os.makedirs(at("sp-far/in"))
    png(at("sp-far/p000.png"), 8, 8)
    os.symlink("../sp-far/in", at("sp/link"))  # sp/link/.. is sp-far
    os.symlink("a", at("sp/b"))
    os.link(at("sp/p000.png"), at("sp/c d/p000.png"))
    for other in "sp/link/../p000.png", "sp/c d/p000.png":
        said = outcome(c, BINARY, CPU + ["-o", "sp-no", "sp/p000.png", other], 3, "the same output")
        c.check(len(said) == 2, other, said)
    outcome(c, BINARY, CPU + ["-r", "-o", "sp-links", "sp"], 0)  # files behind links count as other files
    c.check(len(digests(at("sp-links"))) == 12 + 6 + 1, digests(at("sp-links")))


def names(c):
    tree(at("in"), 12)
    for template, made in (("t1/{dir}{stem}-x{ext}", "t1/a/p001-x.png"), ("t2/{n}.png", "t2/000001.png"),
                           ("t3/{stem}", "t3/p001.png"), ("t4/{dir}", "t4/a/p001.png"),
                           ("t5//./{dir}{n}{stem}.PNG", "t5/a/000004p001.PNG"),
                           ("t9/{stem}-{type}{ext}", "t9/p001-png.png")):
        outcome(c, BINARY, CPU + ["-r", "-o", template, "in"], 0)
        c.check(os.path.exists(at(made)) and len(digests(at(template[:2]))) == 12, template, digests(at(template[:2])))
    png(at("...png"), 8, 8)
    outcome(c, BINARY, CPU + ["-o", "t6/{stem}/{n}.png", "...png"], 0)  # its stem is not ..
    c.check(list(digests(at("t6"))) == ["...png/000001.png"], digests(at("t6")))
    outcome(c, BINARY, CPU + ["-o", "t7/{stem}.v2", "--format", "png", "...png"], 0)
    c.check(os.listdir(at("t7")) == ["...png.v2.png"], os.listdir(at("t7")))
    outcome(c, BINARY, CPU + ["-o", "one.png", "in/p000.png"], 0)
    c.check(os.path.isfile(at("one.png")), "one.png")
    os.mkdir(at("broken"))
    png(at("broken/a.png"), 8, 8), png(at("broken/c.png"), 8, 8)
    os.symlink("absent", at("broken/b.png"))
    outcome(c, BINARY, CPU + ["-o", "t8/{n}.png", "broken"], 1, "broken/b.png")
    c.check(sorted(os.listdir(at("t8"))) == ["000001.png", "000003.png"], "a broken file has a number",
            os.listdir(at("t8")))
    for args, says in ((["-o", "x/{name}.png"], "unknown field {name}"), (["-o", ""], "empty"),
                       (["-o", "x/{ste}"], "did you mean {stem}"), (["-o", "x/{stem"], "unclosed brace: {stem;"),
                       (["-o", "-"], "cannot be standard output (-)"),
                       (["-o", "x/{stem}.xyz"], "--output ends in .xyz, but the formats are jpeg, png"),
                       (["-o", "x.bmp"], "a format that monocle cannot write"),
                       (["-o", "x", "--format", "bmp"], "must be one of jpeg"), ([], "no output is given"),
                       (["-o", "x.png", "--format", "jpeg"], "leave out one"), (["-o", "x", "-0"], "--files-from"),
                       (["-o", "x", "--memory", "1"], "at least 16M"), (["-o", "x", "--memory", "9Q"], "at least 16M"),
                       (["-o", "x", "-f", "blurr"], "blur"), (["-o", "x", "--overwrite", "--skip-newer"], "contradict"),
                       (["-o", "x", "-f", ",".join(["gray"] * 15)], "or 16 with --orientation keep")):
        lines_said = outcome(c, BINARY, CPU + args + ["in"], 2, says)
        c.check(len(lines_said) == 1, args, lines_said)
    outcome(c, BINARY, CPU + ["-o", "long", "-f", ",".join(["gray"] * 16), "--orientation", "keep", "in"], 0)
    outcome(c, BINARY, CPU + ["-o", "x"], 2, "no input file is given")
    got = run(BINARY, "batch", *CPU, "-o", "x-none", "in", cwd=at())  # a missing -f must not convert all files
    c.check(got[0] == 2 and "or --format to convert only" in got[2] and got[2].count("\n") == 1, got)
    c.check(not os.path.exists(at("x-none")), "something was made")
    # Two inputs with the same output: both are refused before anything is written. The others are processed.
    os.makedirs(at("clash/one"), exist_ok=True)
    os.makedirs(at("clash/two"), exist_ok=True)
    for name in ("one/same.png", "two/same.png", "two/other.png"):
        png(at("clash", name), 9, 9)
    said = outcome(c, BINARY, CPU + ["-r", "-o", "clashed/{stem}{ext}", "clash"], 1, "the same output")
    c.check(len(said) == 2 and list(digests(at("clashed"))) == ["other.png"], said, digests(at("clashed")))
    for odd in b"clash/./two//", b"clash//two/./":  # also if a list spells their directory in two ways
        said = outcome(c, BINARY, CPU + ["--overwrite", "-o", "odd-clash/{dir}k.png", "--files-from", "-"], 3,
                       "the same output", stdin=odd + b"same.png\nclash/two/other.png\n")
        c.check(len(said) == 2 and not os.path.exists(at("odd-clash")), odd, said)


def own_masks(c):
    """A mask's file may depend on the image's name. An image without its file fails, and the others do not."""
    os.makedirs(at("in/sub"))
    os.makedirs(at("masks/sub"))
    for name, edge in (("a", 16), ("b", None), ("sub/c", 48), ("wrong", 0)):
        png(at("in", name + ".png"), 64, 32, lambda x, y: (0, 0, 255))
        if edge:
            png(at("masks", name + ".png"), 64, 32, lambda x, y, edge=edge: (255 * (x < edge),) * 3)
    with open(at("masks/wrong.png"), "w", encoding="utf-8") as file:
        file.write("no image")
    chain = ["-r", "-f", "fill=red,within='masks/{dir}{stem}.png'", "in"]
    for path in ["cpu"] + ["opencl"] * has_opencl(BINARY):
        code, _, errors = batch(BINARY, "-p", path, "-o", path, *chain)
        c.check(code == 1 and errors.count("\n") == 2, path, code, errors)
        c.check("in/b.png: within: cannot use the file" in errors and "masks/b.png': No such file" in errors, errors)
        c.check("in/wrong.png: the filters failed: within: cannot use the file" in errors, errors)
        c.check(sorted(digests(at(path))) == ["a.png", "sub/c.png"], digests(at(path)))
        for name, edge in (("a", 16), ("sub/c", 48)):
            row = b"\xff\0\0" * edge + b"\0\0\xff" * (64 - edge)
            c.check(picture(at(path, name + ".png")) == row * 32, path, name)
    before = digests(at("masks"))
    code, _, errors = batch(BINARY, "-p", "cpu", "--overwrite", "-o", "masks", *chain)
    c.check(code == 3 and errors.count("or a filter reads it") == 3 and digests(at("masks")) == before, code, errors)
    for field, says in ("{n}", "within has the unknown field {n}"), ("{foo}", "unknown field {foo}; the fields are"):
        chain[2] = "fill=red,within='masks/{stem}%s.png'" % field
        outcome(c, BINARY, ["-o", "none", *chain], 2, says)
    chain[2] = "fill=red,within='masks/{dir}{stem}.png'"
    png(at("masks/a.png"), 64, 32, lambda x, y: (255, 255, 255))
    batch(BINARY, "-p", "cpu", "--overwrite", "-o", "cpu", *chain)
    c.check(picture(at("cpu/a.png")) == b"\xff\0\0" * 64 * 32, "another mask makes another output")


def existing(c):
    tree(at("ex"), 8)
    job = CPU + ["-f", "blur", "-r", "-o", "ex-out", "ex"]
    outcome(c, BINARY, job, 0)
    first = {n: os.stat(at("ex-out", n)).st_mtime_ns for n in digests(at("ex-out"))}

    def changed():
        return sorted(n for n in first if os.stat(at("ex-out", n)).st_mtime_ns != first[n])

    outcome(c, BINARY, job + ["--report", "ex.jsonl"], 0)  # the same run again does nothing
    c.check(changed() == [], "done again", changed())
    c.check({row["why"] for row in files(at("ex.jsonl")).values()} == {"already done"}, files(at("ex.jsonl")))
    other = CPU + ["-f", "gray", "-r", "-o", "ex-out", "ex"]
    said = outcome(c, BINARY, other, 3, "exists; add --overwrite")  # made by another job
    c.check(len(said) == 8 and changed() == [], said)
    with open(at("ex-out/p000.png"), "ab") as f:
        f.write(b"more")  # edited since
    first["p000.png"] = os.stat(at("ex-out/p000.png")).st_mtime_ns
    outcome(c, BINARY, job, 1, "ex/p000.png: ex-out/p000.png exists")
    outcome(c, BINARY, other + ["--skip-existing"], 0)
    outcome(c, BINARY, job + ["--skip-newer"], 0)
    c.check(changed() == [], "skipped", changed())
    os.utime(at("ex/a/p001.png"), (time.time() + 5, time.time() + 5))
    outcome(c, BINARY, job + ["--skip-newer", "--report", "newer.jsonl"], 0)
    c.check(changed() == ["a/p001.png"], "newer", changed())
    outcome(c, BINARY, job + ["--skip-newer"], 0)
    reasons = {name: row["why"] for name, row in files(at("newer.jsonl")).items() if row["status"] == "skipped"}
    c.check(reasons.pop("ex/p000.png") == "the output is newer" and set(reasons.values()) == {"already done"}, reasons)
    # Outputs of another job are replaced, except the edited one. If an output has no mark, its time decides.
    os.removexattr(at("ex-out/a/p005.png"), "user.monocle.done")
    outcome(c, BINARY, other + ["--skip-newer"], 0)
    c.check(changed() == sorted(set(first) - {"p000.png", "a/p005.png"}), "of another job", changed())
    gray = digests(at("ex-out"))
    outcome(c, BINARY, other + ["--skip-newer"], 0)
    c.check(digests(at("ex-out")) == gray, "again")
    outcome(c, BINARY, job + ["--overwrite"], 0)
    c.check(len(changed()) == 8, "overwritten", changed())
    # Other kernels may give other images.
    outcome(c, BINARY, job, 3, "exists; add --overwrite", MONOCLE_KERNELS=KERNELS)
    # An output never replaces its input, under any name.
    before = digests(at("ex"))
    os.symlink("ex", at("ex-link"))
    said = outcome(c, BINARY, CPU + ["-f", "gray", "-r", "--overwrite", "-o", "ex-link/", "ex"], 3, "is also an input")
    c.check(len(said) == 8 and digests(at("ex")) == before, "inputs")
    outcome(c, BINARY, CPU + ["-o", "ex", "ex/p000.png"], 3, "ex/p000.png is also an input")
    # Nor a file that a filter reads.
    png(at("ex-logo.png"), 3, 3)
    with open(at("ex-logo.png"), "rb") as f:
        logo = f.read()
    outcome(c, BINARY, CPU + ["-f", "overlay=ex-logo.png", "--overwrite", "-o", "ex-logo.png", "ex/p000.png"], 3,
            "a filter reads it")
    with open(at("ex-logo.png"), "rb") as f:
        c.check(f.read() == logo, "replaced the file of a filter")
    # It replaces no other input of the run.
    os.makedirs(at("ex-pair"))
    for i, name in enumerate(("000002.png", "000001.png")):
        png(at("ex-pair", name), 20 + i, 10)
        os.utime(at("ex-pair", name), (i + 1, i + 1))
    pair, turned = digests(at("ex-pair")), ["ex-pair/000002.png", "ex-pair/000001.png"]
    for rule, failed in ("--overwrite", 2), ("--skip-newer", 1):  # the newer one would replace the older
        said = outcome(c, BINARY, CPU + [rule, "-o", "ex-pair/{n}.png", *turned], (3 if failed == 2 else 1),
                       "is also an input")
        c.check(len(said) == failed and digests(at("ex-pair")) == pair, rule, "replaced an input", said)
    # It follows no link.
    os.makedirs(at("ex-dir"), exist_ok=True)
    os.symlink(at("ex/p000.png"), at("ex-dir/p000.png"))
    outcome(c, BINARY, CPU + ["--overwrite", "-o", "ex-dir", "ex/p000.png"], 3, "is not a regular file")
    c.check(digests(at("ex")) == before, "inputs")
    code, out, err = batch(BINARY, *CPU, "-n", "-r", "-o", "ex-dry", "ex")
    c.check(code == 0 and b"ex/a/p001.png -> ex-dry/a/p001.png\n" in out and not os.path.exists(at("ex-dry")), out, err)


def rights(c):
    """An output gives the group and others no more rights than its input, or than the file that it replaces."""
    modes = (0o600, 0o640, 0o644, 0o666, 0o604, 0o444, 0o755)

    def check(mask, expected, *more):
        old = os.umask(mask)
        try:
            outcome(c, BINARY, CPU + ["-J", "4", "-o", "ri-out", "ri", *more], 0)
        finally:
            os.umask(old)
        for i in range(3 * len(modes)):
            found = os.stat(at("ri-out/%02d.png" % i)).st_mode & 0o7777
            c.check(found == expected(i) & ~mask, more, "umask %o, input %o: %o" % (mask, modes[i % len(modes)], found))

    def expected(i):
        return modes[i % len(modes)] & 0o066 | 0o600

    os.makedirs(at("ri"))
    for i in range(3 * len(modes)):
        png(at("ri/%02d.png" % i), 8, 8)
        os.chmod(at("ri/%02d.png" % i), modes[i % len(modes)])
    for mask in (0, 0o022, 0o027, 0o077):
        check(mask, expected)
        check(mask, expected, "--overwrite")
        for name in os.listdir(at("ri-out")):
            os.chmod(at("ri-out", name), 0o640)
        check(mask, lambda i: expected(i) & 0o640, "--overwrite")
        for name in os.listdir(at("ri-out")):
            os.chmod(at("ri-out", name), 0o666)
        check(mask, expected, "--overwrite")
        subprocess.run(["rm", "-r", at("ri-out")], check=True)
    if os.geteuid() != 0:
        return
    for i in range(3 * len(modes)):  # the output's group is not the input's
        os.chown(at("ri/%02d.png" % i), -1, 12345)
    check(0, lambda i: expected(i) & 0o606 | expected(i) & expected(i) << 3 & 0o060)


def shards(c):
    names_of = tree(at("sh"), 60)
    whole = CPU + ["-f", "emboss", "-r"]
    outcome(c, BINARY, whole + ["-o", "sh-whole", "sh"], 0)
    for count in (1, 3, 7):
        reports, seen = [], []
        for k in range(1, count + 1):
            reports.append("sh-%d-%d.jsonl" % (count, k))
            outcome(c, BINARY, whole + ["-o", "sh-%d" % count, "--shard", "%d/%d" % (k, count), "--report",
                                        reports[-1], "sh"], 0)
            seen += files(at(reports[-1]))
        c.check(len(seen) == len(set(seen)) == 60, count, "shards hold", len(seen), "of them", len(set(seen)))
        c.check(digests(at("sh-%d" % count)) == digests(at("sh-whole")), count, "shards differ from the whole")
        code, out, err = run(BINARY, "report", "merge", "--json", "-o", at("all.jsonl"), *reports, cwd=at())
        said = json.loads(out)
        c.check(code == 0 and said["done"] == said["files"] == 60 and said["shards"] == count, said, err)
        merged = list(files(at("all.jsonl")))
        c.check(sorted(merged) == ["sh/" + n for n in names_of], "merged")
        c.check(count > 1 or merged == sorted(merged), "merged, in order of names", merged)
        again = run(BINARY, "report", "merge", "--json", "all.jsonl", "-o", at("all.jsonl"), cwd=at())
        c.check(again == (0, out, ""), "merged again", again)
        c.check(run(BINARY, "report", "merge", "--json", "all.jsonl", cwd=at()) == again, "onto itself")
        if count > 1:
            part = run(BINARY, "report", "merge", "--json", "-o", at("part.jsonl"), *reports[1:], cwd=at())
            again = run(BINARY, "report", "merge", "--json", "part.jsonl", cwd=at())
            c.check(part[0] == 1 and again == part, "merged in part", part, again)
            code, out, err = run(BINARY, "report", "merge", *reports[1:], cwd=at())
            c.check(code == 1 and b"shard 1/%d has no report" % count in out, out, err)
    # One more file does not move the others to another shard.
    before = {n: k for k in range(1, 8) for n in files(at("sh-7-%d.jsonl" % k))}
    png(at("sh/a/another.png"), 20, 20)
    for k in range(1, 8):
        outcome(c, BINARY, whole + ["-o", "sh-7", "--shard", "%d/7" % k, "--report", "sh-8-%d.jsonl" % k, "sh"], 0)
    after = {n: k for k in range(1, 8) for n in files(at("sh-8-%d.jsonl" % k))}
    c.check(len(after) == 61 and all(after[n] == before[n] for n in before), "files have moved")
    # Task numbers of a cluster, from 0 or from 1; one task run again alone.
    for first, variable in ((0, "SLURM_ARRAY_TASK_ID"), (1, "SLURM_ARRAY_TASK_ID"), (0, "JOB_COMPLETION_INDEX")):
        seen = []
        for number in range(first, first + 3):
            out = batch(BINARY, *whole, "-n", "-o", "sh-x", "--shard", "3", "sh", **{variable: str(number)})[1]
            seen += out.decode().splitlines()
        c.check(len(seen) == len(set(seen)) == 61, first, variable, len(seen))
    for args, env, says in ((["0/3"], {}, "K from 1 to N"), (["4/3"], {}, "K from 1 to N"), (["x"], {}, "K from 1"),
                            (["3"], {}, "does not say which part"), (["1/3x"], {}, "K from 1"),
                            (["3"], {"SLURM_ARRAY_TASK_ID": "x"}, "whole number"),
                            (["3"], {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MIN": "0",
                                     "SLURM_ARRAY_TASK_MAX": "3"}, "the same part"),
                            (["3"], {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "3",  # of --array=0-4:2
                                     "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "4"}, "the same part")):
        outcome(c, BINARY, whole + ["-o", "sh-x", "--shard"] + args + ["sh"], 2, says, **env)


def too_wide_for_gl(c):
    """The cpu path filters an image that is larger than GL's textures, and a line reports it. Some GPUs have textures
    that are large enough."""
    png(at("wide.png"), 32768, 8)
    png(at("small.png"), 40, 8)
    if batch(BINARY, "-p", "gl", "-o", "one", "small.png")[0] == 3:
        return
    code, out, said = batch(BINARY, "-p", "gl", "-f", "blur=2", "-o", "gl", "wide.png", "small.png")
    line = "an image of 32768x8 pixels runs on the cpu path: this GL driver allows"
    c.check(code == 0 and (said == "" or line in said and said.count("\n") == 1), code, said)
    c.check(out.endswith(b", path gl; the cpu path filtered 1\n" if said else b", path gl\n"), out)
    outcome(c, BINARY, CPU + ["-f", "blur=2", "-o", "cpu", "wide.png", "small.png"], 0)
    c.check(digests(at("gl")) == digests(at("cpu")) and len(os.listdir(at("gl"))) == 2, os.listdir(at("gl")))


def contradictions(c):
    tree(at("no"), 1)
    for args, says in ((["--format", "png", "--quality", "50"], "--quality has no effect on png"),
                       (["--format", "png", "--subsampling", "444"], "--subsampling has no effect"),
                       (["--format", "jpeg", "--compression", "9"], "--compression has no effect on jpeg"),
                       (["-d", "all"], "-p cpu does not use one"),
                       (["--kernels", KERNELS], "--kernels selects OpenCL kernels, but -p cpu does not use them"),
                       (["-f", "blur=2", "gray"], "there is no file 'gray'; did you mean -f 'blur=2,gray'?"),
                       (["-f", "blur", "2"], "there is no file '2'; did you mean -f 'blur=2'?")):
        c.check(len(outcome(c, BINARY, CPU + args + ["-o", "no-out", "no"], 2, says)) == 1, args)
    said = outcome(c, BINARY, ["-p", "gl", "-d", "0", "-o", "no-out", "no"], 2, "-p gl does not use one")
    c.check(len(said) == 1, said)
    said = outcome(c, BINARY, ["-p", "gl", "-o", "no-out", "no"], 3, "there is no GL context: ",
                   __EGL_VENDOR_LIBRARY_FILENAMES="/proc/nowhere")
    c.check(len(said) == 1, said)
    png(at("gray"), 8, 8)
    outcome(c, BINARY, CPU + ["--quality", "50", "-o", "no-out", "no", "gray"], 0, MONOCLE_DEVICE="all",
            MONOCLE_KERNELS=KERNELS)
    for option, least, most in (("--quality", 1, 100), ("--compression", 1, 9)):
        for value in least - 1, least, most, most + 1:
            code = batch(BINARY, *CPU, option, str(value), "--dry-run", "--overwrite", "-o", "no-out", "no")[0]
            c.check(code == (0 if least <= value <= most else 2), option, value, code)
    if batch(BINARY, *CPU, "--format", "tiff", "-o", "no-tiff", "no")[0] == 0:
        outcome(c, BINARY, CPU + ["--format", "tiff", "--compression", "9", "-o", "no-9", "no"], 0)
        outcome(c, BINARY, CPU + ["--format", "tiff", "--quality", "50", "-o", "no-9", "no"], 2, "no effect on tiff")


@slow
def devices(c):
    """PoCL's drivers `basic` and `pthread` are two devices. PoCL 3.1 sometimes ends a process in which both run
    kernels, with an assertion about the list of loaded kernels that they share. Such a run, and no other, is repeated.
    """
    two = {"POCL_DEVICES": "basic pthread"}
    if run(BINARY, "devices", **two)[1].count(b"compute  ") < 2:
        return
    tree(at("de"), 24, 60, 40)
    outcome(c, BINARY, CPU + ["-f", "blur", "-r", "-o", "de-cpu", "de"], 0)
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})  # a single thread would use one device
    for jobs, expected in ([], 2), (["--jobs", "1"], 1), (["--jobs", "5"], 2):
        out = "de-out" + "".join(jobs)
        for _ in range(5):
            code, _, err = batch(BINARY, "-p", "opencl", "-d", "all", *jobs, "-f", "blur", "-r", "--overwrite", "-o",
                                 out, "--report", out + ".jsonl", "de", **two)
            if "pocl_release_dlhandle_cache: Assertion" not in err:
                break
            print("devices: PoCL ended the process; this run is repeated:", err.strip())
            os.remove(at(out + ".jsonl"))
        c.check(code == 0 and err == "", jobs, code, err)
        rows = files(at(out + ".jsonl")).values()
        used = {row["device_number"] for row in rows}
        c.check(all([p["pass"] for p in row["passes"]][-1] == "blur" for row in rows), jobs, "passes")
        c.check(len(used) == expected and used <= {0, 1} and digests(at(out)) == digests(at("de-cpu")), jobs, used)
    os.sched_setaffinity(0, cpus)


def named_device(c):
    """A device that the user names is used, even for one file; MONOCLE_DEVICE leaves the choice to auto."""
    if not has_opencl(BINARY):
        return
    png(at("nd.png"), 8, 8)
    for arguments, environment, path in (["-d", "0"], {}, "opencl"), ([], {"MONOCLE_DEVICE": "0"}, "cpu"):
        code, out, err = batch(BINARY, "-f", "gray", "--json", "--overwrite", *arguments, "-o", "nd-out", "nd.png",
                               **environment)
        c.check(code == 0 and json.loads(out)["path"] == path, arguments, code, out, err)


def auto_path(c):
    """For 100 small files no device is opened: it would take longer to start than it could save."""
    tree(at("au"), 100)
    code, out, err = batch(BINARY, "-f", "blur", "-r", "--json", "-o", "au-out", "au")
    summary = json.loads(out)
    c.check(code == 0 and summary["path"] == "cpu" and summary["done"] == 100, code, summary, err)
    c.check(summary.get("path_why", "").startswith("a device would take longer"), summary)
    for name in sorted(digests(at("au-out")))[50:]:
        os.unlink(at("au-out", name))
    code, out, err = batch(BINARY, "-f", "blur", "-r", "--json", "-o", "au-out", "au")
    c.check(code == 0 and json.loads(out).get("path_why", "").startswith("a device would"), "continued", out, err)
    code, out, err = batch(BINARY, "-f", "blur", "-r", "--json", "-p", "cpu", "-o", "au-cpu", "au")
    c.check(code == 0 and "path_why" not in json.loads(out), out)
    os.makedirs(at("au-large"))  # the first image is large: for 100 such images a device could save time
    png(at("au-large/0.png"), 3000, 2000)
    for i in range(1, 100):
        png(at("au-large/%d.png" % i), 8, 8)
    code, out, err = batch(BINARY, "-f", ",".join(["median"] * 10), "-J", "1", "--json", "-o", "au-none", "au-large",
                           OCL_ICD_VENDORS="/proc/nowhere")
    summary = json.loads(out)
    c.check(code == 0 and summary["path"] == "cpu", code, summary, err)
    c.check(summary.get("path_why") == "there is no OpenCL device", summary)


def own_kernels(c):
    """If the user's kernels fail, the built-in kernels do not replace them."""
    os.makedirs(at("unread/blur.cl"))
    os.makedirs(at("wrong"))
    with open(at("wrong/blur.cl"), "w") as f:
        f.write("nonsense\n")
    png(at("own.png"), 9, 9)
    outcome(c, BINARY, ["-f", "blur", "--kernels", "wrong", "-o", "own", "own.png"], 3,
            "use -p cpu without kernel files", OCL_ICD_VENDORS="/proc/nowhere")
    c.check(not os.path.exists(at("own/own.png")), "an output without a device")
    if not has_opencl(BINARY):
        return
    for kernels, says, path in (("unread", "cannot read kernel unread/blur.cl: Is a directory", ["-p", "opencl"]),
                                ("wrong", "blur.cl:1", [])):  # kernels are only for devices
        said = outcome(c, BINARY, path + ["-f", "blur", "--kernels", kernels, "-o", "own", "own.png"], 3, says)
        c.check(len([line for line in said if line.startswith("monocle: ")]) == 1, kernels, said)
        c.check(not os.path.exists(at("own/own.png")), kernels, "an output")


def add_profile(path, number):
    """Adds a compressed ICC profile, different for each number, to a PNG file."""
    with open(path, "rb") as f:
        data = f.read()
    profile = bytes(16) + b"RGB " + bytes([number]) * 400
    with open(path, "wb") as f:
        f.write(data[:33] + png_chunk(b"iCCP", b"own\0\0" + zlib.compress(profile)) + data[33:])


def equal_bytes(c):
    for number, name in enumerate(tree(at("png"), 10, 150, 90)):
        add_profile(at("png", name), number)
    for kind, share in ("420", "1/2"), ("444", "2/2"):
        outcome(c, BINARY, CPU + ["-r", "-o", "eq", "--format", "jpeg", "--subsampling", kind, "--shard", share,
                                  "--color", "keep", "png"], 0)
    subprocess.run(["cp", "-r", at("png"), at("eq")], check=True)
    seen = {}
    ways = [CPU + ["--jobs", n] for n in ("1", "2", "5")] + [CPU + ["--memory", "16M"]]
    if has_opencl(BINARY):
        ways += [["-p", "opencl", "--jobs", n] for n in ("1", "3")] + [["-p", "opencl", "-d", "all"]]
    tree(at("one"), 1)
    if batch(BINARY, "-p", "gl", "-o", "one-gl", "one")[0] == 0:
        ways.append(["-p", "gl", "--jobs", "2"])
    for i, way in enumerate(ways):
        outcome(c, BINARY, way + ["-f", "blur=2,gray,emboss,sepia", "--color", "keep", "-r", "-o", "eq-%d" % i, "eq"],
                0)
        seen[i] = digests(at("eq-%d" % i))
        c.check(len(seen[i]) == 20 and seen[i] == seen[0], way, "differs from", ways[0])
    for number, name in enumerate(sorted(name for name in seen[0] if name.startswith("png/"))):
        with open(at("eq-0", name), "rb") as f:
            data = f.read()
        found = data[data.index(b"iCCP") + 4:].split(b"\0\0", 1)[1]
        c.check(zlib.decompressobj().decompress(found)[-400:] == bytes([number]) * 400, name, "has another's profile")


def channels(path):
    with open(path, "rb") as f:
        data = f.read()
    return {0: 1, 2: 3, 4: 2, 6: 4}[data[25]] if path.endswith("png") else data[data.index(b"\xff\xc0") + 9]


def colour_from_grey(c):
    """Grey images become grey files. A chain that colours them gives files with colours."""
    os.mkdir(at("rgb"))
    png(at("rgb/a.png"), 16, 8)
    for before in ("png", "jpg"):
        outcome(c, BINARY, CPU + ["-f", "gray", "--format", before, "-o", "grey-" + before, "rgb/a.png"], 0)
        for after in ("png", "jpg"):
            source, out = "grey-%s/a.%s" % (before, before), "of-%s-%s" % (before, after)
            outcome(c, BINARY, CPU + ["-f", "sepia", "--format", after, "-o", out, source], 0)
            found = channels(at(source)), channels(at(out + "/a." + after))
            c.check(found == (1, 3), before, after, "channels", found)
    with open(at("rgb/clear.png"), "wb") as f:  # transparency stays
        f.write(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 8, 8, 6, 0, 0, 0)) +
                png_chunk(b"IDAT", zlib.compress((b"\0" + bytes(range(64))) * 8)) + png_chunk(b"IEND", b""))
    outcome(c, BINARY, CPU + ["-f", "gray", "-o", "grey-clear", "rgb/clear.png"], 0)
    c.check(channels(at("grey-clear/clear.png")) == 2, "alpha was lost")
    for source, count in ("of-jpg-jpg/a.jpg", 4), ("grey-jpg/a.jpg", 2):
        outcome(c, BINARY, CPU + ["-f", "colorkey", "--overwrite", "--format", "png", "-o", "keyed", source], 0)
        c.check(channels(at("keyed/a.png")) == count, source, channels(at("keyed/a.png")))


def bitmap(path, alpha=None):
    """Writes a BMP file of 24x16 pixels. `alpha`: of the pixel at x; None: the file has none."""
    pixel_bytes = 3 if alpha is None else 4
    rows = b"".join(bytes([x * 10, y * 15, 255 - x * y % 256] + ([] if alpha is None else [alpha(x)]))
                    for y in range(16) for x in range(24))
    masks = struct.pack("<IIII", 0xff0000, 0xff00, 0xff, 0xff000000)
    head = struct.pack("<IiiHHI20x", 108, 24, 16, 1, 8 * pixel_bytes, 0 if alpha is None else 3)
    head += masks + bytes(108 - len(head) - len(masks))
    with open(path, "wb") as f:
        f.write(b"BM" + struct.pack("<IHHI", 14 + len(head) + len(rows), 0, 0, 14 + len(head)) + head + rows)


def transparency(c):
    """Alpha weighs colours only in files that have it. Such a file and another one of its size share no path."""
    os.mkdir(at("alpha"))
    bitmap(at("alpha/1.bmp"))
    bitmap(at("alpha/2.bmp"), lambda x: 255)
    bitmap(at("alpha/3.bmp"), lambda x: x * 11)
    bitmap(at("alpha/4.bmp"))
    for way in [CPU] + [["-p", "opencl"]] * has_opencl(BINARY):
        args = way + ["-f", "scale=50,rotate=30", "--overwrite", "--format", "png"]
        outcome(c, BINARY, args + ["--jobs", "1", "-o", "alpha-all", "alpha"], 0)
        seen = []
        for name in "1234":
            outcome(c, BINARY, args + ["-o", "alpha-one", "alpha/%s.bmp" % name], 0)
            seen.append(picture(at("alpha-one/%s.png" % name)))
            c.check(seen[-1] == picture(at("alpha-all/%s.png" % name)), way, name, "differs in a batch")
        c.check(seen[0] == seen[1] == seen[3], way, "alpha of 255 changes pixels")
        c.check(seen[0] != seen[2], way, "alpha does not weigh")


def damaged_pictures(c):
    """Damaged image files in a directory are reported, also by a build that lacks their codec."""
    os.makedirs(at("dam"))
    png(at("dam/a.png"), 8, 8)
    for name, data in (("cut.webp", b"RIFF\x20\0\0\0WEBPVP8 "), ("cut.tif", b"II*\0\x08\0\0\0"),
                       ("cut.TIFF", b"MM\0*\0\0\0\x08"), ("cut.jpg", b"\xff\xd8\xff"),
                       ("a.webp", b"RIFF")):  # must not stop a.png, although both have the stem a
        with open(at("dam", name), "wb") as f:
            f.write(data)
    has_all = all(batch(BINARY, *CPU, "--format", kind, "-o", "dam-" + kind, "dam/a.png")[0] == 0
                  for kind in ("webp", "tiff"))
    for binary in [PLAIN] + [BINARY] * has_all:
        plain, report = binary == PLAIN, "dam-%d.jsonl" % (binary == PLAIN)
        outcome(c, binary, CPU + ["--overwrite", "-o", "dam-out", "--report", report, "dam"], 1, "dam/cut.webp: ")
        rows = files(at(report))
        bad = "unsupported" if plain else "damaged"
        wanted = {"dam/cut.jpg": "damaged", "dam/cut.webp": bad, "dam/cut.tif": bad, "dam/cut.TIFF": bad,
                  "dam/a.webp": "unsupported" if plain else "format"}
        c.check({name: row["error"] for name, row in rows.items() if "error" in row} == wanted, plain, rows)
        for name, library in ("cut.webp", "libwebp"), ("cut.tif", "libtiff"), ("cut.TIFF", "libtiff"):
            why = rows["dam/" + name]["why"]
            c.check(not plain or "a build of monocle with " + library in why, name, why)
        said = outcome(c, binary, CPU + ["-o", "dam-each/{n}.png", "dam/cut.tif"], 3, "dam/cut.tif: ")
        c.check(not plain or "this build of monocle has no libtiff and cannot read TIFF files" in said[0], said)
        code, _, err = run(binary, "live", "dam", "-p", "cpu", "--headless", "--fast", cwd=at())
        for name in ("cut.webp", "cut.tif", "cut.TIFF", "cut.jpg"):
            c.check(code == 0 and "skipped dam/%s: " % name in err, plain, name, code, err)
        with open(at("dam-text.webp"), "w") as f:
            f.write("no picture")
        said = outcome(c, binary, CPU + ["-o", "dam-out", "dam-text.webp"], 3, "it is not a JPEG, PNG, ")
        c.check(("WebP" in said[0], "TIFF" in said[0]) == (not plain, not plain), plain, said)
    outcome(c, PLAIN, CPU + ["-o", "dam-none", "--format", "webp", "dam"], 2, "'webp', but must be one of jpeg, png")


def jpeg_says(path):
    """Returns the width, the height and the EXIF orientation (None if absent) of a JPEG file."""
    with open(path, "rb") as f:
        data = f.read()
    at_byte, orientation = 2, None
    while data[at_byte] == 0xff:
        marker, size = data[at_byte + 1], struct.unpack(">H", data[at_byte + 2:at_byte + 4])[0]
        body = data[at_byte + 4:at_byte + 2 + size]
        if marker == 0xe1 and body.startswith(b"Exif"):
            orientation = struct.unpack("<H", body[24:26])[0]
        if marker in (0xc0, 0xc1, 0xc2):
            return struct.unpack(">HH", body[1:5])[::-1] + (orientation,)
        at_byte += 2 + size
    return None


def pixels(path):
    """Returns the data of a PNG file's IDAT chunks."""
    with open(path, "rb") as f:
        data = f.read()
    found, at_byte = b"", 8
    while at_byte < len(data):
        size = struct.unpack(">I", data[at_byte:at_byte + 4])[0]
        if data[at_byte + 4:at_byte + 8] == b"IDAT":
            found += data[at_byte + 8:at_byte + 8 + size]
        at_byte += 12 + size
    return found


def upright(c):
    png(at("wide.png"), 40, 20)
    outcome(c, BINARY, CPU + ["-o", "wide.jpg", "wide.png"], 0)
    with open(at("wide.jpg"), "rb") as f:
        data = f.read()
    data = data[:13] + struct.pack(">BHH", 1, 300, 150) + data[18:]  # pixels per inch (JFIF)
    for orientation, sides in ((1, (40, 20)), (2, (40, 20)), (3, (40, 20)), (4, (40, 20)), (6, (20, 40)),
                               (8, (20, 40))):
        tiff = b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIII", 0x112, 3, 1, orientation, 0)
        with open(at("turned.jpg"), "wb") as f:
            f.write(data[:2] + b"\xff\xe1" + struct.pack(">H", len(tiff) + 2) + tiff + data[2:])
        for name, args, wanted in (("up", [], sides + (1,)), ("keep", ["--orientation", "keep"], (40, 20, orientation)),
                                   ("strip", ["--metadata", "strip"], sides + (None,))):
            outcome(c, BINARY, CPU + args + ["--overwrite", "-o", name + ".jpg", "turned.jpg"], 0)
            c.check(jpeg_says(at(name + ".jpg")) == wanted, orientation, name, jpeg_says(at(name + ".jpg")), wanted)
        with open(at("up.jpg"), "rb") as f:
            density = struct.unpack(">BHH", f.read(18)[13:])
        c.check(density == ((1, 300, 150) if sides == (40, 20) else (1, 150, 300)), orientation, density)
        # Orientation 2 gives the same pixels as the filter mirror.
        if orientation == 2:
            outcome(c, BINARY, CPU + ["-f", "mirror", "--overwrite", "-o", "flat.png", "wide.jpg"], 0)
            outcome(c, BINARY, CPU + ["--overwrite", "-o", "up.png", "turned.jpg"], 0)
            c.check(pixels(at("flat.png")) == pixels(at("up.png")), "mirrored")
        for name, copy in ("turned", "mixed"), ("up", "alone"):
            os.makedirs(at(copy), exist_ok=True)
            shutil.copy(at(name + ".jpg"), at(copy, "%d.jpg" % orientation))
    # In one run, each image has its own turn.
    outcome(c, BINARY, CPU + ["--jobs", "1", "-o", "together", "mixed"], 0)
    for name in sorted(os.listdir(at("alone"))):
        with open(at("alone", name), "rb") as alone, open(at("together", name), "rb") as together:
            c.check(alone.read() == together.read(), name)


@slow
def sizes(c):
    """Results whose size is not that of the input."""
    png(at("wide.png"), 40, 20)
    outcome(c, BINARY, CPU + ["-o", "wide.jpg", "wide.png"], 0)
    with open(at("wide.jpg"), "rb") as f:
        data = f.read()
    tiff = b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIII", 0x112, 3, 1, 6, 0)
    with open(at("turned.jpg"), "wb") as f:
        f.write(data[:2] + b"\xff\xe1" + struct.pack(">H", len(tiff) + 2) + tiff + data[2:])
    for chain, sides, turned in (("crop=13:7", (13, 7), (13, 7)), ("scale=90", (90, 45), (90, 180)),
                                 ("rotate=90", (20, 40), (40, 20)), ("blur,scale=7:50,gray,sobel", (7, 50), (7, 50))):
        seen = set()
        compiled = chain.startswith("scale") and has_opencl(BINARY)  # each chain takes seconds to compile
        for way in [CPU] + [["-p", "opencl"]] * compiled:
            outcome(c, BINARY, way + ["-f", chain, "--overwrite", "-o", "sizes", "wide.jpg", "turned.jpg"], 0)
            for name, wanted in (("wide.jpg", sides), ("turned.jpg", turned)):
                c.check(jpeg_says(at("sizes", name))[:2] == wanted, chain, way, name, jpeg_says(at("sizes", name)))
            seen.add(str(digests(at("sizes"))))
        c.check(len(seen) == 1, chain, "the paths differ")
    outcome(c, BINARY, CPU + ["-f", "rotate", "--overwrite", "-o", "flat.png", "wide.jpg"], 0)
    outcome(c, BINARY, CPU + ["--overwrite", "-o", "up.png", "turned.jpg"], 0)
    c.check(pixels(at("flat.png")) == pixels(at("up.png")), "rotated")
    outcome(c, BINARY, CPU + ["-f", "scale=factor=100,scale=factor=10", "-o", "large", "wide.png"], 3,
            "scale: the result of 4000x2000 pixels would have 40000x20000")


sys.exit(Checks().run(inputs, own_outputs, many_names, odd_lists, spellings, names, own_masks, existing, rights, shards,
                      too_wide_for_gl, contradictions, upright, sizes, equal_bytes, colour_from_grey, transparency,
                      damaged_pictures, devices, named_device, auto_path, own_kernels))
