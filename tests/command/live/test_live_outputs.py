#!/usr/bin/env python3
"""test_live_outputs.py MONOCLE: outputs of the live view: screenshots, recordings, traces; refusals before the run"""
import json
import os
import re
import struct
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../support")
from batch_support import png_chunk
from checks import Checks, at, programs
from color_support import ADOBE_RGB, make_png, read_chunks, read_png, rgb_profile, to_srgb
from live_support import environment, events, has_opencl, picture, png, run, y4m, y4m_pictures

BINARY, = programs(1)
NOBODY = 65534
PATTERN = ["pattern:32x24@200", "-p", "cpu", "--headless", "--frames", "3"]
OUTPUTS = {"--screenshot": ".png", "--record": ".y4m", "--trace": ".json"}


def live(*args, **keywords):
    return run(BINARY, "live", *args, **{"cwd": at(), **keywords})


def refused(c, want, word, args, before=lambda: None, **keywords):
    """Checks that a run is refused with one line on standard error, and makes no file. Returns the line."""
    files = sorted(os.listdir(at()))
    done = subprocess.run([BINARY, "live", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, env=environment(), preexec_fn=before,
                          **{"cwd": at(), **keywords})
    err = done.stderr.decode("utf-8")
    c.check(done.returncode == want, args, "exit code", done.returncode, "not", want, err)
    c.check(word in err and err.count("\n") == 1, args, "lacks", repr(word), "says", err)
    c.check("frames" not in done.stdout.decode(), args, "ran:", done.stdout)
    c.check(sorted(os.listdir(at())) == files, args, "left", os.listdir(at()))
    return err


def unwritable(c):
    os.mkdir(at("folder"))
    for option, suffix in OUTPUTS.items():
        rows = [("", "has an empty file name"), ("n" * 252 + suffix, "too long"), ("folder", "is a directory"),
                ("new/", "is a directory"), ("nowhere/x" + suffix, "no directory nowhere;"),
                ("/proc/x" + suffix, "a file in /proc"), ("picture.png/x" + suffix, "a file in picture.png"),
                ("lost" + suffix, "a link to nowhere/x: No such file"), ("self" + suffix, "a link to self" + suffix)]
        os.symlink("nowhere/x", at("lost" + suffix))
        os.symlink("self" + suffix, at("self" + suffix))
        for name, word in rows:
            err = refused(c, 3, word, PATTERN + [option, name])
            c.check(not name or option in err, option, name, err)
    refused(c, 3, "no directory", PATTERN + ["--save-controls", "/nowhere/x"])
    refused(c, 3, "no directory", PATTERN + ["--record", "-", "--screenshot", "nowhere/x.png"])
    refused(c, 3, "the current directory", PATTERN[:-2], cwd="/proc")  # monocle-last.png would go there
    code, out, err = live(*PATTERN[:-2], "--record", "/dev/null", cwd="/proc")
    c.check(code == 0, "no picture, no matter", code, err)


def no_room(c):
    """A file that cannot be begun is removed. A file that existed before stays."""
    with open(at("there.y4m"), "wb"), open(at("there.json"), "wb"):
        files = sorted(os.listdir(at()))
    for option, name in (("--record", "begun.y4m"), ("--trace", "begun.json"), ("--record", "there.y4m"),
                         ("--trace", "there.json")):
        # The trap is for the thread sanitizer, which writes a file before the program starts.
        code, out, err = run("sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", BINARY, "live", *PATTERN, option,
                             name, "--overwrite", cwd=at())
        c.check(code == 3 and "File too large" in err and err.count("\n") == 1, option, code, err)
        c.check(sorted(os.listdir(at())) == files, option, "left", os.listdir(at()))


def full_trace(c):
    """A disk that fills during the run cuts the trace: exit code 1. An older trace stays."""
    with open(at("old.json"), "w", encoding="utf-8") as file:
        file.write("[1]")
    for name, place, lines in ("new.json", "new.json", 1), ("old.json", "old-2.json", 2):
        code, _, err = run("sh", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "sh", BINARY, "live", *PATTERN[:-1],
                           "60", "--trace", name, "--overwrite", cwd=at())
        c.check(code == 1 and "the trace %s is incomplete: File too large" % name in err, name, code, err)
        c.check(err.count("\n") == lines and (lines == 1 or "old.json is unchanged; the incomplete" in err), name, err)
        c.check(len(json.load(open(at(place), encoding="utf-8"))) > 2, place)
    c.check(json.load(open(at("old.json"), encoding="utf-8")) == [1], "the older trace")
    for option, name in ("--trace", "old.json"), ("--screenshot", "old.png"):
        with open(at(name), "a", encoding="utf-8"):
            pass
        code, _, err = live(*PATTERN, option, name)
        why = "monocle: error: %s exists; name another file, or add --overwrite\n" % name
        c.check((code, err) == (2, why), code, err)
    os.mkfifo(at("pipe.png"))
    for option in "--trace", "--screenshot":  # a run would wait for a reader
        code, _, err = live(*PATTERN, option, "pipe.png", "--overwrite")
        c.check(code == 2 and "pipe.png: it is a pipe" in err, option, code, err)
    code, _, err = live(*PATTERN, "--trace", "old.json", "--overwrite")
    c.check((code, err) == (0, "") and len(json.load(open(at("old.json"), encoding="utf-8"))) > 2, code, err)


def unprivileged(c):
    """Checks of permissions run as the user nobody, because root ignores permissions."""
    def become_nobody():
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    def may_run():
        done = subprocess.run([BINARY, "--version"], preexec_fn=become_nobody, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        return done.returncode == 0

    for suffix in OUTPUTS.values():
        open(at("there" + suffix), "wb").close()
        os.chmod(at("there" + suffix), 0o444)
    os.chmod(at(), 0o555)
    try:
        if not may_run():
            print("unprivileged: not tried, the program lies where others cannot run it")
            return
        for option, suffix in OUTPUTS.items():
            refused(c, 3, "Permission denied", PATTERN + [option, "new" + suffix], become_nobody)
            refused(c, 3, "there%s (%s): Permission denied" % (suffix, option),
                    PATTERN + [option, "there" + suffix, "--overwrite"], become_nobody)
        refused(c, 3, "monocle-last.png", PATTERN[:-2], become_nobody)
    except (OSError, subprocess.SubprocessError) as problem:
        print("unprivileged: not tried:", problem)
    finally:
        os.chmod(at(), 0o755)


def taken(c):
    """If another run makes the files during this run, both runs keep theirs."""
    os.mkfifo(at("pipe"))
    outputs = ["--record", "a.y4m", "--screenshot", "a.png", "--trace", "a.json"]
    with subprocess.Popen([BINARY, "live", "pipe", "-p", "cpu", "--headless", *outputs], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=at(), env=environment(), text=True) as first:
        with open(at("pipe"), "wb") as pipe:  # the first run has checked its names
            code, _, err = live(*PATTERN, *outputs)
            c.check((code, err) == (0, ""), code, err)
            theirs = {name: open(at(name), "rb").read() for name in outputs[1::2]}
            pipe.write(y4m(16, 8, "444", 9))
        err = first.stderr.read()
    c.check(first.returncode == 0 and err.count("\n") == 3, first.returncode, err)
    for name, data in theirs.items():
        other = name.replace(".", "-2.")
        c.check("another program has made %s during the run; monocle writes %s\n" % (name, other) in err, name, err)
        c.check(open(at(name), "rb").read() == data, name, "was replaced")
    with open(at("a-2.y4m"), "rb") as file:
        data = file.read()
    c.check(data.startswith(b"YUV4MPEG2 W16 H8 ") and len(y4m_pictures(data)) == 9, "the other recording", data[:40])
    c.check(sorted(os.listdir(at())) == sorted(["a-2.json", "a-2.png", "a-2.y4m", *theirs, "picture.png", "pipe"]),
            os.listdir(at()))


def standard_output(c):
    """Only one output can be standard output, under any name. The table then goes to standard error."""
    for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        refused(c, 2, "standard output", PATTERN + ["--json", "--record", name])
    for option in ("--screenshot", "--trace"):
        refused(c, 2, "standard output", PATTERN + ["--json", option, "/dev/stdout"])
    refused(c, 2, "standard output", PATTERN + ["--record", "-", "--screenshot", "/proc/self/fd/1"])
    want = live(*PATTERN, "--fast", "--record", "-")[1]
    c.check(want.startswith(b"YUV4MPEG2 W32 H24 ") and want.count(b"FRAME\n") == 3, "a film:", want[:80])
    code, out, err = live(*PATTERN, "--fast", "--record", "/dev/stdout")
    c.check(code == 0 and out == want and "3 frames" in err, "by its other name", code, err, out[:80])
    with open(at("both"), "wb") as file:
        code = subprocess.run([BINARY, "live", *PATTERN, "--json", "--record", "both"], stdout=file,
                              stderr=subprocess.DEVNULL, cwd=at(), timeout=60).returncode
    c.check(code == 2 and os.path.getsize(at("both")) == 0, "the file that standard output goes to", code)
    with open(at("both"), "wb") as file:
        code = subprocess.run([BINARY, "live", *PATTERN, "--fast", "--record", "both"], stdout=file,
                              stderr=subprocess.DEVNULL, cwd=at(), timeout=60).returncode
    c.check(code == 0 and open(at("both"), "rb").read() == want, "and a film alone in it", code)
    os.unlink(at("both"))
    code, out, err = live(*PATTERN, "--json", "--record", "/dev/null", "--trace", "t.json")
    c.check(code == 0 and len(events(out)) >= 2 and json.load(open(at("t.json"))), "all different", code, err)
    for arguments, word in ((["-", "<&-"], "standard input: it is closed"),
                            (["--record", "-", ">&-"], "standard output: it is closed"), ([">&-"], "it is closed")):
        shell = 'exec "$0" live %s' % " ".join(arguments if arguments[0] == "-" else PATTERN + arguments)
        done = subprocess.run(["sh", "-c", shell, BINARY], stderr=subprocess.PIPE, timeout=60, cwd=at(),
                              stdout=subprocess.DEVNULL, env=environment(DISPLAY="", WAYLAND_DISPLAY=""))
        err = done.stderr.decode()
        c.check(done.returncode in (1, 3) and word in err and err.count("\n") == 1, shell, done.returncode, err)


def existing(c):
    """A recording replaces a file only with --overwrite. A device is no file."""
    with open(at("talk.y4m"), "w", encoding="utf-8") as file:
        file.write("an earlier talk")
    os.symlink("talk.y4m", at("link.y4m"))
    for name in ("talk.y4m", "link.y4m"):
        refused(c, 2, "%s exists; name another file, or add --overwrite" % name, PATTERN + ["--record", name])
    c.check(open(at("talk.y4m"), encoding="utf-8").read() == "an earlier talk", "the talk was overwritten")
    for name, *more in (("talk.y4m", "--overwrite"), ("/dev/null",)):
        code, _, err = live(*PATTERN, "--record", name, *more)
        c.check(code == 0, name, code, err)
    c.check(open(at("talk.y4m"), "rb").read(9) == b"YUV4MPEG2", "--overwrite")


def rate_of(path):
    words = open(path, "rb").readline().split()
    return [w[1:].decode() for w in words if w.startswith(b"F")][0]


def rates(c):
    """The rate of a recording: a film's ratio is copied, a decimal rate becomes its nearest usual ratio."""
    for rate in ("30000:1001", "25:1", "60:2", "1:2147483647", "2147483647:1", "2147483647:2147483646", "1001:30000",
                 "7:3", "1:3600", "999983:999979"):
        with open(at("rate.y4m"), "wb") as f:
            f.write(y4m(8, 8, "420jpeg", 2, rate))
        code, _, err = live("rate.y4m", "-p", "cpu", "--headless", "--fast", "--record", "back.y4m", "--overwrite")
        c.check(code == 0 and rate_of(at("back.y4m")) == rate, rate, "becomes", rate_of(at("back.y4m")), err)
    for args, want in ((["rate.y4m", "--rate", "29.97"], "30000:1001"), (["rate.y4m", "--rate", "0.25"], "1:4"),
                       (["pattern:8x8@60000/1001", "--frames", "1"], "60000:1001"),
                       (["pattern:8x8@12.5", "--frames", "1"], "25:2"), (["picture.png"], "30:1")):
        code, _, err = live(*args, "-p", "cpu", "--headless", "--fast", "--record", "back.y4m", "--overwrite")
        c.check(code == 0 and rate_of(at("back.y4m")) == want, args, "becomes", rate_of(at("back.y4m")), err)


def formats(c):
    """--pixel-format of an image file: it is converted, or refused."""
    said = {}
    for name in ("rgba", "nv21", "yuyv", "grey"):
        code, out, err = live("picture.png", "--pixel-format", name, "-p", "cpu", "--headless", "--json", "--record",
                              "format.y4m", "--overwrite")
        c.check(code == 0 and events(out)[0]["pixel_format"] == name, name, code, err)
        said[name] = open(at("format.y4m"), "rb").read()
    c.check(said["grey"] != said["rgba"] and len(said["grey"]) == len(said["rgba"]), "grey is grey")
    png(at("odd.png"), 5, 4)
    for args, code, word in ((["odd.png", "--pixel-format", "yuyv"], 3, "yuyv"),
                             (["odd.png", "--pixel-format", "mjpeg"], 3, "mjpeg is only for cameras"),
                             (["pattern", "--pixel-format", "mjpeg"], 3, "mjpeg is only for cameras")):
        refused(c, code, word, args + ["--headless", "-p", "cpu"])


def sources(c):
    """A file that a run reads cannot be an output, under any name."""
    os.makedirs(at("pictures"))
    os.makedirs(at("edited"))
    png(at("pictures/a.png"), 4, 4)
    os.link(at("pictures/a.png"), at("hard.png"))
    os.link(at("pictures/a.png"), at("hard.gif"))
    for name, data in (("film.y4m", y4m(8, 8, "420jpeg", 2)), ("names", b"pictures/a.png\n"),
                       ("edited/blur.cl", b"mine"), ("pictures/old.y4m", b"an earlier film")):
        with open(at(name), "wb") as f:
            f.write(data)
    run_headless = ["--headless", "-p", "cpu", "--fast", "--overwrite"]
    before = {n: open(at(n), "rb").read() for n in ("pictures/a.png", "film.y4m", "edited/blur.cl", "names")}
    for option in OUTPUTS:
        suffixes = {"--screenshot": ".png", "--record": (".gif", ".y4m"), "--trace": ""}[option]
        for args in (["pictures", option, "pictures/a.png"], ["pictures/", option, "hard.png"],
                     ["pictures/", option, "hard.gif"], ["@names", option, "hard.gif"], ["@names", option, "hard.png"],
                     ["@names", option, "names"], ["film.y4m", option, "film.y4m"]):
            if args[-1].endswith(suffixes):
                refused(c, 2, args[-1] + " is the source", args + run_headless)
    refused(c, 2, "blur.cl is a kernel", PATTERN + ["--kernels", "edited", "--trace", "edited/blur.cl"])
    code, _, err = live(*PATTERN, "--kernels", "edited", "--record", "edited/film.y4m")
    c.check(code == 0, "another file beside kernels", code, err)
    code, _, err = live(*PATTERN, "--kernels", "edited", "--record", "edited/film.y4m", "--overwrite")
    c.check(code == 0, "and once it is there", code, err)
    for name in ("-", "raw:-"):
        with open(at("film.y4m"), "rb") as film:
            done = subprocess.run([BINARY, "live", name, "--size", "8x8", *run_headless, "--record", "film.y4m"] +
                                  (["--pixel-format", "grey"] if name != "-" else []), stdin=film,
                                  stderr=subprocess.PIPE, stdout=subprocess.PIPE, cwd=at(), timeout=60)
        c.check(done.returncode == 2 and b"film.y4m is the source" in done.stderr, name, done.stderr)
    for name, data in before.items():
        c.check(open(at(name), "rb").read() == data, name, "was overwritten")
    code, _, err = live("pictures", *run_headless, "--record", "pictures/old.y4m")
    c.check(code == 0 and open(at("pictures/old.y4m"), "rb").read(9) == b"YUV4MPEG2", "no picture:", code, err)
    with open(at("settings"), "w") as f:
        f.write("brightness=1\n")
    for option in ("--screenshot", "--trace", "--save-controls"):
        refused(c, 2, "the output settings is the file of --load-controls",
                PATTERN + ["--load-controls", "settings", option, "settings"])
    png(at("logo.png"), 4, 4)
    for option in ("--screenshot", "--trace"):
        refused(c, 2, "a filter of the chain reads the output logo.png",
                PATTERN + ["-f", "blend=logo.png", option, "logo.png"])
    for line in ("contrast", "=5", "contrast="):
        with open(at("settings"), "w") as f:
            f.write("# kept\r\n\nbrightness=1\n%s\n" % line)
        refused(c, 3, "error: settings:4: '%s' is not of the form NAME=VALUE; no control was set" % line,
                PATTERN + ["--load-controls", "settings"])


def last_pictures(c):
    """The last frame of a run without a window replaces that of an earlier run, but no source and no other file."""
    os.mkdir(at("kept"))
    png(at("kept/monocle.png"), 4, 4)
    with open(at("kept/monocle-0001.png"), "wb") as f:
        f.write(b"the user's own")
    rows = [("monocle.png", "monocle-last.png"), (PATTERN[0], "monocle-last.png"), (".", "monocle-last-2.png"),
            ("monocle-last.png", "monocle-last-3.png"), ("monocle.png", "monocle-2.png")]
    headless = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
    for source, new in rows:
        if new == "monocle-2.png":  # a link could lead anywhere
            os.rename(at("kept/monocle-last.png"), at("kept/other"))
            os.symlink("other", at("kept/monocle-last.png"))
        before = {name: open(at("kept/" + name), "rb").read() for name in os.listdir(at("kept")) if name != new}
        code, _, err = live(source, "-p", "cpu", "--fast", "--frames", "2", cwd=at("kept"), **headless)
        c.check(sorted(os.listdir(at("kept"))) == sorted([*before, new]), source, "makes", os.listdir(at("kept")))
        c.check(code == 0 and "without a window; the last frame is %s\n" % at("kept", new) in err, source, code, err)
        for name, data in before.items():
            c.check(open(at("kept/" + name), "rb").read() == data, source, "overwrites", name)
    files = os.listdir(at("kept"))
    code, _, err = live("-", cwd=at("kept"), stdin=y4m(64, 48, "444", 1)[:200], **headless)
    c.check(code == 3 and os.listdir(at("kept")) == files, "no picture, no file:", code, err, os.listdir(at("kept")))


def described(c):
    """Screenshots and the last picture are sRGB, and say so; they have the EXIF data of their image file."""
    def exif(maker, width):
        return (b"II*\0\x08\0\0\0\x03\0" + struct.pack("<HHII", 0x100, 4, 1, width) +
                struct.pack("<HHI4sHHII", 0x10f, 2, 4, maker, 0x112, 3, 1, 6) + bytes(4))

    def check_file(name, maker, size, *what):
        with open(at(name), "rb") as file:
            data = file.read()
        chunks = read_chunks(data)
        wanted = exif(maker, size[0]).replace(b"\x06\0\0\0\0\0\0\0", b"\x01\0\0\0\0\0\0\0") if maker else None
        c.check(chunks.get(b"eXIf") == wanted, *what, "EXIF", chunks.get(b"eXIf"))
        c.check(b"iCCP" not in chunks and chunks.get(b"sRGB") == b"\0", *what, sorted(chunks))
        return read_png(data)

    os.mkdir(at("slides"))
    icc, colour = rgb_profile(ADOBE_RGB, 563 / 256), (100, 150, 200)
    for number in range(2):
        with open(at("slides/%d.png" % number), "wb") as file:
            file.write(make_png([[colour] * 32] * 24, icc, chunks=png_chunk(b"eXIf", exif(b"me%d\0" % number, 32))))
    live("slides/0.png", "-p", "cpu", "--headless", "--screenshot", "shot.png")
    with open(at("shot.png"), "rb") as file:
        if b"iCCP" in read_chunks(file.read()):
            print("screenshots: this build has no lcms2")
            return
    want = [round(v) for v in to_srgb(colour, ADOBE_RGB, 563 / 256)]
    for source, maker in ("slides/0.png", b"me0\0"), ("slides", b"me1\0"), ("pattern:32x24", None):
        code, _, err = live(source, "-p", "cpu", "--headless", "--fast", "--frames", "2", "-f", "mirror", "--overwrite",
                            "--screenshot", "shot.png")
        c.check(code == 0, source, code, err)
        found = check_file("shot.png", maker, (24, 32), source)
        c.check(not maker or max(abs(a - b) for a, b in zip(found[5][5], want)) <= 1, source, found[5][5], "not", want)
    live("slides/1.png", "-p", "cpu", "--fast", DISPLAY="", WAYLAND_DISPLAY="")
    check_file("monocle-last.png", b"me1\0", (24, 32), "the last picture")
    with open(at("bad.png"), "wb") as file:
        file.write(make_png([[colour] * 32] * 24, b"no profile"))
    code, _, err = live("bad.png", "-p", "cpu", "--headless", "--frames", "9", "--screenshot", "bad-shot.png")
    c.check(code == 0 and err.count("bad.png: its colour profile is damaged") == 1, "a damaged profile:", code, err)


def words(c):
    """Wrong arguments are refused with a message."""
    rows = [
        (["--frames", "99999999999999"], 2, "between 1 and 2147483647"),
        (["--size", "99999999999999x5"], 2, "sides of 1 to 1000000 pixels"),
        (["--source", "x"], 2, "unknown option --source"),
        (["--camera", "0"], 2, "monocle live /dev/video0"),
    ]
    for args, code, word in rows:
        refused(c, code, word, PATTERN[:-2] + args)
    there_is_no = "there is no file '%s'; did you mean -f '%s'?\n"
    refused(c, 2, "-f takes its value without '='; write -f 'gray' or --filter='gray'\n", ["pattern", "-f=gray"])
    refused(c, 2, there_is_no % ("gray", "blur=2,gray"), ["-f", "blur=2", "gray", "picture.png"])
    refused(c, 2, there_is_no % ("gray", "blur=2,gray"), ["picture.png", "-f", "blur=2", "gray"])
    refused(c, 2, there_is_no % ("gray", "blur,gray"), ["-f", "blur", "gray"])
    refused(c, 2, there_is_no % ("blur=2", "blur=2"), ["blur=2"])
    refused(c, 2, there_is_no % ("2", "blur=2"), ["-f", "blur", "2", "picture.png"])
    code, out, err = live("picture.png", "pattern:8x8@500", "-f", "blur", "-p", "cpu", "--headless")
    c.check(code == 0 and b"301 frames" in out, "an image, then a source without an end", code, out, err)
    code, _, err = live("raccoon", "-f", "text", "--headless", "-n", "1", "-p", "cpu", "-o", "t.y4m")
    c.check(code == 0, "a source's word after a filter of a text", code, err)
    png(at("gray"), 4, 4)
    code, _, err = live("gray", "-f", "blur", "--headless", "-p", "cpu")
    c.check(code == 0, "a file with the name of a filter", code, err)
    os.unlink(at("gray"))
    refused(c, 2, "error: --keys: there is no action", ["pattern", "--keys", "nothing=x"])
    refused(c, 2, "did you mean path?", ["pattern", "--keys", "pth=P"])
    refused(c, 2, "did you mean --device gpu?", ["pattern", "-p", "gpu"])
    for name in "a.b.JPG", "a.b.mp4", "a.b.gif":
        refused(c, 2, "monocle writes screenshots as PNG; name it a.b.png", ["pattern", "--screenshot", name])
    for name, other in (("a.b.AVI", "a.b.mp4"), ("x.mp3", "x.mp4"), ("foo", "foo.mp4"), ("a.b/foo", "a.b/foo.mp4")):
        refused(c, 2, "%s: monocle records MP4, MOV, MKV, WebM, GIF, WebP and Y4M; name it %s\n" % (name, other),
                PATTERN + ["--record", name])
    for option in ("--screenshot", "--trace", "--save-controls"):
        refused(c, 2, option + " cannot be -", PATTERN + [option, "-"])
    os.mkdir(at("one"))
    os.symlink("one/film.y4m", at("other.y4m"))
    for other in ("./one/film.y4m", "one/../one/film.y4m", "other.y4m"):
        refused(c, 2, "are the same file; name another file for one",
                PATTERN + ["--record", "one/film.y4m", "--trace", other])
    c.check(os.listdir(at("one")) == [], "something was written", os.listdir(at("one")))
    refused(c, 2, "an argument is empty", ["", "--headless"])
    for source in "/dev/video7", "camera:/dev/video7":
        refused(c, 2, "cannot be its own source", [source, "--virtual-camera", "pipewire", "--virtual-camera",
                                                   "/dev/video7"])
    if b"not in this build" in run(BINARY, "live", "--help")[1]:
        for args in ["pipewire"], PATTERN + ["--virtual-camera", "pipewire:x"]:
            refused(c, 3, "built without pipewire; install the package libpipewire-0.3-dev", args)
    refused(c, 3, "cannot open x\\x1b[31my\\x07\\xffé:", [b"x\x1b[31my\x07\xff\xc3\xa9", "--headless"])
    os.mkdir(at("no-kernels"))
    open(at("no-kernels/notes.cl"), "w").close()
    for command in (["live", "pattern"], ["bench", "filters"], ["batch", "-f", "none", "-o", "x", "picture.png"]):
        code, out, err = run(BINARY, *command, "--kernels", at("no-kernels"))
        c.check(code == 2 and "contains no kernel" in err and "blur.cl" in err and err.count("\n") == 1, command, code,
                err)
    os.makedirs(at("directory/blur.cl"))  # each sharing mode fails, and sanitizers see whether each is freed
    if has_opencl(BINARY):
        refused(c, 3, "cannot read kernel directory/blur.cl: Is a directory",
                ["pattern", "--headless", "-p", "zerocopy", "-f", "blur", "--kernels", "directory"])
    os.makedirs(at("escape\x1bd"))
    png(at("escape\x1bd/one.png"), 4, 4)
    code, out, err = live("escape\x1bd", "-p", "cpu", "--headless", "--fast")
    c.check(code == 0 and b"escape\\x1bd through" in out and b"\x1b" not in out, "the table", code, out, err)


def prepare(c):
    png(at("picture.png"), 4, 4)


def config(c):
    """The options of the configuration file hold unless the command line or the environment decides otherwise."""
    path = at("config", "monocle", "config")
    os.makedirs(os.path.dirname(path), 0o700)
    base = ["pattern:32x24@200", "--headless", "--json"]

    def write(text):
        with open(path, "wb") as file:
            file.write(text)

    def chain(*args, **env):
        code, out, err = live(*base, *args, XDG_CONFIG_HOME=at("config"), **env)
        started = [o for o in (events(out) if code == 0 else []) if o["event"] == "summary"]
        return (started[0]["chain"], started[0]["frames"], err) if started else (code, err)

    write(b"# options for every run\n\nframes = 3\r\n filter=blur=2,gray\npath=cpu\nloop\nfullscreen\n")
    c.check(chain() == ("blur,gray", 3, ""), "the file", chain())
    c.check(chain("--frames", "2") == ("blur,gray", 2, ""), "the command line takes precedence", chain("--frames", "2"))
    c.check(chain("--look", "noir")[0].startswith("gray,gamma"), "--look contradicts filter", chain("--look", "noir"))
    found = chain("--no-config", "-n1", "-p", "cpu")
    c.check(found == ("none", 1, ""), "--no-config", found)
    write(b"frames=1\nfilters=one")
    os.mkdir(at("two"))
    code, err = chain(MONOCLE_FILTERS=at("nowhere"))
    c.check(code == 2 and at("nowhere") in err, "the environment takes precedence", code, err)
    for text, line, word in [(b"loop\noverlai=full", 2, "unknown option 'overlai'; did you mean 'overlay'?"),
                             (b"frames=many", 1, "must be a whole number"), (b"loop=yes", 1, "takes no value"),
                             (b"loop\n\nframes", 3, "write frames=N"), (b"frames=", 1, "needs a value"),
                             (b"matrix=huge", 1, "must be one of auto, 601"), (b"rate=1\nrate=2", 2, "given twice"),
                             (b"=", 1, "unknown option ''"), (b"\xff\0", 1, "unknown option"),
                             (b"loop\noverlay=huge", 2, "must be one of off, small"),
                             (b"vsync=maybe", 1, "must be one of on, off"), (b"no-config", 1, "remove this line"),
                             (b"loop\noverlay full", 2, "write overlay=full"),
                             (b"\nlook=nosuch", 2, "there is no look 'nosuch'"), (b"filter=blurr", 1, "mean 'blur'"),
                             (b"loop\npixel-format=x", 2, "no pixel format"), (b"filters=no", 1, "no: No such file"),
                             (b"x" * 3000, 1, "unknown option 'xxx"),
                             (b"help", 1, "unknown option 'help'; monocle live"),
                             (b"--overlay=full", 1, "options have no '-' here; write overlay=full\n"),
                             (b"-f gray", 1, "options have no '-' here; write filter=gray\n"),
                             (b"--loop", 1, "options have no '-' here; write loop\n"),
                             (b"look: ink", 1, "there is no '='; write look=ink\n"),
                             (b"look=ink # nice", 1, "write the comment on its own line, and here look=ink\n"),
                             (b"look = 'ink'", 1, "do not quote the value; write look=ink\n"),
                             (b"path=gpu", 1, "did you mean --device gpu?")]:
        write(text)
        code, err = chain()
        c.check(code == 2 and "%s:%d: " % (path, line) in err and word in err and err.count("\n") == 1, text[:40], err)
    png(at("config", "monocle", "logo.png"), 4, 4), os.mkdir(at("config", "monocle", "two"))
    write(b"frames=1\npath=cpu\nfilter=overlay=logo.png\ntitles=overlay=logo.png:4\ntrace=trace.json\nfilters=two\n"
          b"record=-")
    code, out, err = live("pattern:32x24@200", "--headless", XDG_CONFIG_HOME=at("config"))
    c.check(code == 0 and out.startswith(b"YUV4MPEG2 ") and os.path.exists(at("config", "monocle", "trace.json")) and
            not os.path.exists(at("trace.json")), "names beside the file", code, err)
    png(at("logo.png"), 4, 4)
    found = chain("-f", "overlay=logo.png", "--record", "here.y4m", "--overwrite")
    c.check(found[:2] == ("overlay=%s" % at("logo.png"), 1) and os.path.exists(at("here.y4m")), "of the command", found)
    write(b"filter=gray\nlook=noir\nframes=1")
    c.check(chain()[0].startswith("gray,gamma") and chain()[0].endswith(",gray"), "a look, then filters", chain())
    write(b"loop\nshowcase\nlook=ink")
    c.check(chain()[0] == 2 and "contradict each other" in chain()[1], "contradictions in the file", chain())
    write(b"filter=gray\nframes=1\n")
    os.chmod(path, 0o666)
    found = chain("-n1")
    c.check(found[:2] == ("none", 1) and "can be written by other users; run: chmod go-w " + path in found[2], found)
    os.chmod(path, 0o600)
    write(b"#" * (1 << 20) + b"\nframes=1")
    found = chain("-n1")
    c.check(found[:2] == ("none", 1) and "more than 1048576 bytes" in found[2], "a large file", found)
    write(b"filter=gray\nframes=1\nrecord=%s\n" % at("named.y4m").encode())
    if os.geteuid() == 0:
        os.chown(at("config"), 65534, 65534)
        found = chain("-n1", "-p", "cpu")
        c.check(found[:2] == ("none", 1) and found[2].count("\n") == 1, "a directory of another user", found)
        c.check("is below a directory of another user; move it" in found[2] and
                not os.path.exists(at("named.y4m")), "a directory of another user", found)


def stages(c):
    """--stages saves the image after each filter, as the shorter chain gives it, and a page with one row for each."""
    png(at("in.png"), 64, 48)
    filters = ["gray", "blur=3", "scale=32:24", "invert"]
    code, _, err = live("in.png", "--headless", "-p", "cpu", "--stages", "lesson", "-f", ",".join(filters))
    c.check(code == 0 and "5 images and their times are in lesson/index.html" in err, code, err)
    with open(at("lesson/index.html"), encoding="utf-8") as file:
        page = json.loads(re.search(r"^const page = (.*);$", file.read(), re.M)[1])
    rows = page["stages"]
    c.check((page["source"], page["path"], page["chain"]) == ("in.png", "cpu", ",".join(filters)), page)
    c.check([row["text"] for row in rows] == ["", *filters], rows)
    c.check([(row["width"], row["height"]) for row in rows] == 3 * [(64, 48)] + 2 * [(32, 24)], rows)
    c.check(all(row["ms"] > 0 and row["passes"] for row in rows), rows)
    c.check(sorted(os.listdir(at("lesson"))) == sorted([*(row["file"] for row in rows), "index.html"]),
            os.listdir(at("lesson")))
    for count, row in enumerate(rows):
        code, _, err = run(BINARY, "batch", "-p", "cpu", "-f", ",".join(filters[:count]) or "none", at("in.png"), "-o",
                           at(f"{count}.png"))
        c.check(code == 0 and picture(at("lesson", row["file"])) == picture(at(f"{count}.png")), row["file"], err)
    code, _, err = live("pattern:32x24", "--headless", "-p", "cpu", "--stages", "endless", "-f", "gray")
    c.check(code == 0 and not os.path.exists(at("monocle-last.png")), "the last frame of an endless source", code, err)
    with open(os.fsencode(at("caf")) + b"\xe9.cube", "w", encoding="utf-8") as file:
        file.write("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n")
    code, _, err = live("in.png", "--headless", "-p", "cpu", "--stages", "named", "-f",
                        os.fsdecode(b"lut=caf\xe9.cube"))
    c.check(code == 0 and os.path.exists(at("named/index.html")), "a name that is not UTF-8", code, err)
    refused(c, 2, "--stages needs --headless", ["in.png", "--stages", "other"])
    code, _, err = live("in.png", "--headless", "-p", "cpu", "--stages", "lesson")
    c.check(code == 2 and "cannot make the directory lesson: File exists; name a new one" in err, code, err)
    code, _, err = live("in.png", "--headless", "-p", "cpu", "--stages", "nowhere/lesson")
    c.check(code == 3 and "cannot make the directory nowhere/lesson: No such file" in err, code, err)


sys.exit(Checks().run(unwritable, no_room, full_trace, unprivileged, taken, standard_output, existing, rates, formats,
                      sources, last_pictures, described, words, config, stages, before=prepare))
