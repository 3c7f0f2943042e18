#!/usr/bin/env python3
"""test_tuned.py MONOCLE: lists, exports, imports and removes the tuning results"""
import json
import os
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from live_support import environment, run

BINARY, = programs(1)
HEAD = "monocle tuned 1\n"
NAMES = ("pass size choice ms default_ms date device vendor type architecture compute_units driver source").split()


def entry(**fields):
    """Returns a line with these fields. The other fields have default values."""
    row = dict(zip(NAMES, ("rgba>blur2>buffer", "2M", "window:ROWS=8", "0.5000", "1.2500", "2026-11-23T15:00:00Z",
                           "NVIDIA H200", "NVIDIA", "gpu", "sm_90", "132", "550.1", "abc")))
    row.update(fields)
    return "\t".join(row[name] for name in NAMES) + "\n"


def write(name, *lines):
    with open(at(name), "w", encoding="utf-8") as file:
        file.write("".join(lines))


def read(name):
    with open(at(name), encoding="utf-8") as file:
        return file.read()


def tuned(*args, stdin=None):
    code, out, err = run(BINARY, "tuned", *args, cwd=at(), stdin=stdin, XDG_DATA_HOME=at("home"),
                         XDG_DATA_DIRS=at("system"))
    return code, out.decode(), err


def counts(*args, **more):
    """Returns the results of tuned, without the path of the user's file in the output."""
    code, out, err = tuned(*args, **more)
    return code, out.replace(at("home/monocle/tuned") + ": ", "", 1), err


def rows(*args):
    """Returns the entries that are not shipped."""
    return [row for row in json.loads(tuned("--json", *args)[1]) if row["level"] != "shipped"]


def prepare(c):
    """Makes two entries of the user and one of the system."""
    for place in "home", "system":
        os.makedirs(at(place, "monocle"), mode=0o755)
        write(place + "/monocle/tuned", HEAD)
        os.chmod(at(place, "monocle/tuned"), 0o644)
    write("home/monocle/tuned", HEAD, "# mine\n", entry(), entry(size="256K", ms="0.0000", date="-"))
    write("system/monocle/tuned", HEAD, entry(device="pthread-EPYC", vendor="AMD", type="cpu", choice="inside"))


def listing(c):
    code, out, err = tuned()
    lines = out.splitlines()
    c.check(code == 0 and err == "", code, err)
    c.check(lines[0].split() == "device pass size choice ratio level date".split(), out)
    mine = [line.split() for line in lines if " user " in line]
    c.check([row[:5] for row in mine] == [["NVIDIA", "H200", "rgba>blur2>buffer", size, "window:ROWS=8"]
                                           for size in ("256K", "2M")] and " 2.50 " in out, out)
    c.check(any(line.endswith("2026-11-23") for line in lines) and any(line.endswith("-") for line in lines), out)
    c.check(tuned("list")[1] == out, "list is the default")
    got = rows()
    c.check(len(got) == 3 and {row["level"] for row in got} == {"user", "system"}, got)
    whole = next(row for row in got if row["size"] == "2M" and row["level"] == "user")
    c.check([whole[name] for name in NAMES] == ["rgba>blur2>buffer", "2M", "window:ROWS=8", 0.5, 1.25,
                                                "2026-11-23T15:00:00Z", "NVIDIA H200", "NVIDIA", "gpu", "sm_90", 132,
                                                "550.1", "abc"] and whole["speed_up"] == 2.5, whole)
    unknown = next(row for row in got if row["size"] == "256K")
    c.check(unknown["ms"] is None and unknown["speed_up"] is None and unknown["date"] == "", unknown)
    found = [len(rows(*args)) for args in (("-d", "h200"), ("-d", "CPU"), ("--pass", "BLUR2"))]
    c.check(found == [2, 1, 3], found)
    code, out, err = tuned("--pass", "none of it")
    c.check(code == 3 and out == "" and err.count("\n") == 1 and "no entry has this device and pass" in err, err)


def exporting(c):
    code, out, err = tuned("export", "-")
    lines = out.splitlines(keepends=True)
    c.check(code == 0 and err == "" and lines[0] == HEAD and lines[1].startswith("# pass\t") and len(lines) == 5, out)
    c.check(lines[2] == read("system/monocle/tuned").splitlines(keepends=True)[1] and lines[3] == entry(), out)
    c.check(tuned("export", "all.tsv")[:2] == (0, "") and read("all.tsv") == out, "to a file")
    code, out, err = tuned("export", "-", "-d", "EPYC")
    c.check(code == 0 and out.count("\n") == 3 and "pthread-EPYC" in out, out)
    for args, code, says in (("none", "-d", "Arc"), 3, "nothing to export"), (("no/such/place",), 3, "No such file"), \
            (("-", "--json"), 2, "export writes no JSON"):
        got = tuned("export", *args)
        c.check(got[0] == code and got[1] == "" and got[2].count("\n") == 1 and says in got[2], args, got)
    c.check(not os.path.exists(at("none")), "an empty file was made")


def header(c):
    """The header has the macros of each kernel's latest entry."""
    write("home/monocle/tuned", HEAD, entry(), entry(**{"pass": "kernel:sum-2"}, choice="A=1,B=x y,z,C_1=2"),
          entry(**{"pass": "kernel:sum-2"}, device="older", date="2020-01-01T00:00:00Z", choice="A=9"),
          entry(**{"pass": "kernel:mul"}, choice="GROUP=64,PAD=0")[:-1] + "\t{0}\n")
    code, out, err = tuned("export", "--header", "-")
    macros = [line for line in out.splitlines() if line.startswith("#define")]
    c.check(code == 0 and err == "" and macros == [
        "#define KERNEL_SUM_2_A 1", "#define KERNEL_SUM_2_B x y,z", "#define KERNEL_SUM_2_C_1 2",
        "#define KERNEL_MUL_GROUP 64", "#define KERNEL_MUL_PAD 0",
        "#define KERNEL_MUL_LAUNCHES {0}",
        '#define KERNEL_MUL_OPTIONS "-DGROUP=64 -DPAD=0"'], code, out, err)
    code, out, err = tuned("export", "--header", "-", "-d", "older")
    c.check(code == 0 and "KERNEL_SUM_2_A 9" in out and "MUL" not in out, out, err)
    code, out, err = tuned("export", "--header", "-", "--pass", "rgba")
    c.check(code == 3 and out == "" and "of a kernel of yours" in err, out, err)
    c.check(tuned("list", "--header")[0] == 2, "only export")


def importing(c):
    tuned("export", "all.tsv")
    os.unlink(at("home/monocle/tuned"))
    c.check(counts("import", "all.tsv") == (0, "3 new, 0 replaced, 0 skipped (not newer than yours), 0 damaged lines\n",
                                           ""), "new")
    c.check(json.loads(tuned("import", "--json", "all.tsv")[1]) == {"new": 0, "replaced": 0, "skipped": 3,
                                                                    "damaged_lines": 0}, "again")
    write("newer.tsv", HEAD, entry(date="2026-11-24T00:00:00Z", choice="sums"), "half a line\n",
          entry(source="a\033[2J"), entry(device="another"))
    code, out, err = counts("import", "newer.tsv")
    c.check(code == 1 and out == "1 new, 1 replaced, 0 skipped (not newer than yours), 2 damaged lines\n", out)
    c.check(err.count("\n") == 1 and "newer.tsv:3 is not used: it has 1 fields" in err and "1 more damaged" in err, err)
    c.check({row["choice"] for row in rows("-d", "H200") if row["size"] == "2M"} == {"sums"}, rows())
    two = HEAD + entry(device="a") + entry(device="another")
    code, out, err = counts("import", "-", "-d", "another", stdin=two.encode())
    c.check(code == 0 and out.startswith("0 new, 0 replaced, 1 skipped"), out, err)
    before = read("home/monocle/tuned")
    write("version.tsv", "monocle tuned 2\n", entry(device="b"))
    write("thesis.txt", "Chapter 1\n")
    for name, says in ("version.tsv", "version 2, and this program uses version 1"), (".", "Is a directory"), \
            ("thesis.txt", "its first line is not 'monocle tuned 1'"), ("none", "No such file"):
        code, out, err = tuned("import", name)
        c.check(code == 3 and out == "" and err.count("\n") == 1 and says in err, name, code, out, err)
    c.check(read("home/monocle/tuned") == before, "unchanged")


def clearing(c):
    shipped = len(json.loads(tuned("--json")[1])) - 3
    c.check(counts("clear", "--pass", "sobel") == (0, "0 entries removed; 0 shipped and system entries stay\n", "") or
            shipped > 0, "no such pass")
    code, out, err = counts("clear", "-d", "EPYC")
    c.check(code == 0 and out.startswith("0 entries removed; ") and "; 0 " not in out and err == "", out, err)
    c.check(len(rows()) == 3, "the system's entry stays")
    code, out, err = tuned("clear", "--json", "-d", "H200", "--pass", "blur")
    c.check(code == 0 and json.loads(out)["removed"] == 2, out, err)
    c.check(read("home/monocle/tuned") == HEAD + "# mine\n", "comments stay")


def wrong(c):
    for args, says in (("remove",), "unknown action 'remove'"), (("import",), "name a file"), \
            (("clear", "all"), "unexpected argument 'all'"), \
            (("list", "a"), "unexpected argument 'a'"), (("export", "a", "b"), "unexpected argument 'b'"):
        code, out, err = tuned(*args)
        c.check(code == 2 and out == "" and err.count("\n") == 1 and says in err, args, code, out, err)


def full_disk(c):
    """A full disk gives one error line, and the file keeps its entries."""
    write("many.tsv", HEAD, *(entry(device="device %d" % i) for i in range(2000)))
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", at("system")], capture_output=True).returncode:
        print("no file system of its own can be mounted here: left out")
        return
    script = ('mount -t tmpfs -o size=100k none home && "$0" tuned import few.tsv && '
              '{ "$0" tuned import many.tsv; code=$?; "$0" tuned export -; ls -A home/monocle; exit $code; }')
    write("few.tsv", HEAD, entry())
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, BINARY], cwd=at(), capture_output=True, text=True,
                          env=environment(XDG_DATA_HOME=at("home"), XDG_DATA_DIRS=at("none")))
    lines = done.stdout.splitlines(keepends=True)
    c.check(done.returncode == 3 and done.stderr.count("\n") == 1 and
            "tuned: No space left on device; its entries are unchanged" in done.stderr, done)
    c.check(lines[3:] == [entry(), "tuned\n", "tuned.lock\n"], done.stdout)


def damaged(c):
    """A damaged file of the user or the system gives one warning. The other entries are used."""
    write("home/monocle/tuned", HEAD, entry(), "\x00\x01\x02\n", entry(size="3M"))
    write("system/monocle/tuned", "monocle tuned 7\n")
    code, out, err = tuned()
    c.check(code == 0 and err.count("\n") == 2 and "home/monocle/tuned:3 is not used: it is not text, and 1 more" in
            err and "system/monocle/tuned is not used: it has version 7" in err, err)
    c.check(len(rows()) == 1, out)
    os.chmod(at("home/monocle/tuned"), 0o666)
    code, out, err = tuned("clear")
    c.check(code == 3 and err.count("\n") == 1 and "cannot write" in err and "only you and root can write" in err, err)


def in_use(c):
    """The live view runs a tuned variant if it passes its probe, and reports it. The frames are the same."""
    devices = json.loads(run(BINARY, "devices", "--json")[1] or b"[]")
    if not devices:
        print("no OpenCL device: left out")
        return
    device = devices[0]

    def live(*choices, **changes):
        fields = {name: device[name] for name in ("vendor", "type", "driver")}
        fields.update(device=device["name"], size="4K", source="-", compute_units=str(device["compute_units"]))
        fields["pass"] = "rgba>blur3>buffer"  # no result for it ships with the program
        write("home/monocle/tuned", HEAD, *(entry(choice=choice, **{**fields, **changes}) for choice in choices))
        code, out, err = run(BINARY, "live", "pattern:80x50", "-d", "0", "-p", "opencl", "-f", "blur=3", "--headless",
                             "--frames", "1", "-o", "frame.y4m", "--overwrite", "--log-level", "info", "--json",
                             cwd=at(), XDG_DATA_HOME=at("home"), XDG_CACHE_HOME=at("cache"))
        c.check(code == 0, choices, err)
        used = [line.partition("runs the tuned variant ")[2] for line in err.splitlines() if "tuned" in line]
        passes = json.loads(out.splitlines()[-1])["passes"]
        c.check([row["pass"] for row in passes] == ["convert", "blur"] and passes[0]["from"] == "default", passes)
        blur = passes[-1]
        with open(at("frame.y4m"), "rb") as file:
            return used, file.read(), (blur["from"], blur["match"], blur["stale"], blur["choice"])

    used, frame, facts = live()
    c.check(used == [] and facts[:3] == ("default", None, False), used, facts)
    for choice in "generic:GROUP_WIDTH=64:GROUP_HEIGHT=2", "inside:GROUP_WIDTH=64:ROWS=2":
        got = live(choice, "sums")  # sums does not fit this pass
        c.check(got == ([choice + " (same device and size, user)"], frame,
                        ("user", "same device and size", False, choice)), got[0], got[2])
    for changes, match, stale in [({"driver": "old"}, "same device, other driver", True),
                                  ({"size": "2M"}, "same device, other size", False),
                                  ({"device": "another", "architecture": "-"}, "same vendor and type", False)]:
        got = live(choice, **changes)
        c.check(got[2] == ("user", match, stale, choice), changes, got[2])


sys.exit(Checks().run(listing, exporting, header, importing, clearing, wrong, full_disk, damaged, in_use,
                      before=prepare))
