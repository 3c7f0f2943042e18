#!/usr/bin/env python3
"""test_probe.py MONOCLE_MISLED MONOCLE: a variant runs only after a probe in a child process; faulty drivers

MONOCLE_MISLED makes every device a GPU, and makes its driver misbehave in the child (tests/support/misled.c)."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(sys.path[0] + "/../support")
from checks import KERNELS, Checks, at, programs, skip, slow
from live_support import alive, environment, has_opencl, png, run, wait_until

MISLED, MONOCLE = programs(2)
CHAIN = "invert"
GENERIC = "runs the generic kernel: variant"

if not has_opencl(MISLED):
    skip("there is no OpenCL device")


def settings(**more):
    """Returns the environment of a run. Time limits are long, because the machine may be busy."""
    return {"XDG_CACHE_HOME": at("cache"), "TEST_CHILDREN": at("children"), "TEST_LIMIT_MS": "100000",
            **more}


def prepare(c):
    os.mkdir(at("cache"))
    png(at("picture.png"), 200, 60)
    code, wanted, err = convert(binary=MONOCLE, path="cpu")
    c.check(code == 0, code, err)
    with open(at("wanted.png"), "wb") as file:
        file.write(wanted)


def wanted():
    with open(at("wanted.png"), "rb") as file:
        return file.read()


def convert(*args, binary=MISLED, path="opencl", chain=CHAIN, **env):
    """Runs a batch of one picture. Returns the exit code, the bytes of the output and standard error."""
    out = at("out.png")
    with contextlib.suppress(FileNotFoundError):
        os.remove(out)
    code, _, err = run(binary, "batch", "--log-level", "info", "-p", path, "-f", chain, *args,
                       at("picture.png"), "-o", out, **settings(**env))
    if not os.path.exists(out):
        return code, None, err
    with open(out, "rb") as file:
        return code, file.read(), err


def children():
    """Returns the ids of the processes that have probed since the last call."""
    if not os.path.exists(at("children")):
        return []
    with open(at("children"), encoding="utf-8") as file:
        found = [int(line) for line in file]
    os.remove(at("children"))
    return found


def entries(suffix):
    path = at("cache/monocle")
    return sorted(name for name in os.listdir(path) if name.endswith(suffix)) if os.path.isdir(path) else []


def forget():
    children()
    shutil.rmtree(at("cache"), ignore_errors=True)
    os.mkdir(at("cache"))


def verdict():
    """Returns the only verdict in the cache: the last bytes of its file, whose head has their number."""
    names = entries(".verdict")
    if len(names) != 1:
        return names
    with open(at("cache/monocle", names[0]), "rb") as file:
        entry = file.read()
    return entry[-int.from_bytes(entry[16:24], "little"):].decode()


def check_run(c, what, probes, failed=None, **env):
    """Checks that a run makes `probes` probes and the right picture. Returns its standard error."""
    code, got, err = convert(**env)
    made = children()
    c.check(code == 0 and got == wanted(), what, code, "picture", "same" if got == wanted() else "different", err)
    c.check(len(made) == probes, what, "probes", made, err)
    if failed:
        c.check(err.count(GENERIC) == 1 and err.count("failed its probe: " + failed) == 1, what, err)
    else:
        c.check("probe" not in err, what, err)
    return err


def passes(c):
    """The child stores the compiled program, and the parent loads it."""
    check_run(c, "first run", 1)
    c.check(verdict() == "passed", verdict())
    # The other one is byte_stores.cl.
    c.check(len(entries(".clbin")) == 2, "the child and the parent compile different programs", entries(".clbin"))
    check_run(c, "second run", 0)
    check_run(c, "another driver", 1, TEST_DRIVER="another")
    check_run(c, "the first driver again", 0)
    forget()
    check_run(c, "cache removed", 1)


@slow
def misbehaves(c):
    """The generic code replaces the variant. The first or, if the child died, the second run keeps the verdict."""
    for how, says, runs in [("crash", "it crashed with signal 11", 2),
                            ("leave", "the driver ended the process with status 0", 2),
                            ("fail", "it does not run", 2), ("refuse", "it does not compile", 1),
                            ("wrong", "it computes wrong bytes", 1), ("stray", "it computes wrong bytes", 1)]:
        forget()
        for number in range(runs):
            check_run(c, how, 1, says, TEST_MISBEHAVE=how)
            c.check(verdict() == ("once: " if number + 1 < runs else "") + says, how, number, verdict())
        check_run(c, how + ", the verdict is kept, also with a driver that behaves now", 0, says)
    check_run(c, "a new driver", 1, TEST_DRIVER="repaired")


@slow
def without_verdict(c):
    """A driver without memory, a damaged driver cache or a single crash does not disable a variant for later runs."""
    for how, says, made in [("kill", "it was killed by signal 9", 1), ("unstarted", "its process cannot be started", 0),
                            ("lose", "the driver cannot open the compiled kernels", 1),
                            ("crash", "it crashed with signal 11", 1)]:
        forget()
        for _ in range(1 if how == "crash" else 2):
            check_run(c, how, made, says, TEST_MISBEHAVE=how)
            c.check(how == "crash" or entries(".verdict") == [], how, entries(".verdict"))
        check_run(c, how + ", a driver that behaves now", 1)
        c.check(verdict() == "passed", how, verdict())


def hangs(c):
    """A driver that hangs takes no processor time."""
    check_run(c, "hang", 1, "it took longer than 30 s", TEST_MISBEHAVE="hang", TEST_LIMIT_MS="1000")
    c.check(verdict() == "once: it took longer than 30 s", verdict())


@slow
def loops(c):
    """A compiler that loops takes 10 s of processor time."""
    check_run(c, "loop", 1, "it took longer than 10 s of processor time", TEST_MISBEHAVE="loop", TEST_LIMIT_MS="")


def no_cache(c):
    """Without a cache directory the verdict is kept for the run."""
    other = at("other.png")
    png(other, 201, 61)
    for how, says in ("", None), ("crash", "it crashed with signal 11"):
        out = at("out" + how)
        code, _, err = run(MISLED, "batch", "--log-level", "info", "-p", "opencl", "-f", CHAIN, "--jobs", "2",
                           at("picture.png"), other, "-o", out,
                           **settings(XDG_CACHE_HOME="/dev/null", TEST_MISBEHAVE=how))
        made = children()
        c.check(code == 0 and len(os.listdir(out)) == 2 and len(made) == 1, how, code, made, err)
        c.check(err.count(GENERIC) == (1 if says else 0), how, err)


@slow
def passes_of_chains(c):
    """The child makes the same program as the parent for every pass of a chain, and every pass is trusted."""
    for source, chain, passes in [("nv21", "mirror,gray,sharpen,emboss,flip,invert", 2), ("rgba", "blur=6", 1),
                                  ("rgba", "sharpen,gray,sobel", 2)]:
        forget()
        code, _, err = run(MISLED, "live", "pattern:64x48", "--pixel-format", source, "--log-level", "info",
                           "--headless", "--frames", "1", "-p", "opencl", "-f", chain, "--record", os.devnull,
                           **settings())
        c.check(code == 0 and GENERIC not in err, chain, code, err)
        c.check(len(children()) == len(entries(".verdict")) == passes, chain, entries(".verdict"), err)


def interrupted(c):
    """A run that is interrupted twice leaves no child and no verdict."""
    env = environment(**settings(TEST_MISBEHAVE="hang", TEST_LIMIT_MS="600000"))
    with subprocess.Popen([MISLED, "live", "pattern:64x48", "--headless", "-p", "opencl", "-f", CHAIN], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        c.check(wait_until(lambda: os.path.exists(at("children")) and os.path.getsize(at("children")) > 0), "no probe")
        made = children()
        c.check(len(made) == 1 and alive(made[0]), made)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    c.check(wait_until(lambda: not alive(made[0])), "the child outlives its parent")
    c.check(entries(".verdict") == [], entries(".verdict"))
    check_run(c, "after the interrupted one", 1)


def on_processors(c):
    """The unchanged program on a CPU device: its variant passes the probe."""
    code, got, err = convert(binary=MONOCLE)
    c.check(code == 0 and got == wanted() and len(entries(".verdict")) == 1, code, err, entries(".verdict"))
    c.check(verdict() == "passed", verdict())


def unreadable(c):
    """If a variant in the kernel directory cannot be read, it is not used, and one message reports it."""
    kernels = at("kernels")
    os.makedirs(os.path.join(kernels, "variants", "window.cl"))
    shutil.copy(os.path.join(KERNELS, "invert.cl"), kernels)
    code, got, err = convert("--kernels", kernels)
    c.check(code == 0 and got == wanted() and not children(), code, err)
    c.check("instead of variant window: cannot read kernel " + kernels in err, err)


def ignored(c):
    """monocle inherits an ignored SIGCHLD, for example from a daemon."""
    ignoring = at("ignoring")
    with open(ignoring, "w", encoding="utf-8") as file:
        file.write("#!%s\nimport os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                   "os.execv(%r, sys.argv)\n" % (sys.executable, MISLED))
    os.chmod(ignoring, 0o700)
    code, got, err = convert(binary=ignoring)
    c.check(code == 0 and got == wanted() and GENERIC not in err, code, err)
    c.check(verdict() == "passed", verdict())


def command(c):
    """The hidden command, run by hand."""
    code, out, err = run(MONOCLE, "probe")
    c.check(code == 2 and "this command is internal" in err and out == b"", code, out, err)
    words = ["1", "rgba", "buffer", "0", "none", "", ""]
    code, out, err = run(MONOCLE, "probe", *words)
    c.check(code == 1 and out == b"", "a probe whose parent is not the process that asks", code, out, err)


@slow
def byte_stores(c):
    """A device that stores whole words only is refused."""
    os.mkdir(at("words"))
    with open(at("words/byte_stores.cl"), "w", encoding="utf-8") as file:
        file.write("__kernel void store_bytes(__global uint *to) { to[get_global_id(0) / 4] = 3; }")
    code, picture, err = convert("--kernels", at("words"))
    c.check(code == 3 and picture is None and "does not store single bytes" in err, code, err)
    code, picture, err = convert("--kernels", at("words"), binary=MONOCLE)
    c.check(code == 0 and picture == wanted(), "a CPU is not tested", code, err)


@slow
def wide_integers(c):
    """A filter that needs integers of 64 bits does not run on a device that computes them wrong."""
    os.mkdir(at("narrow"))
    with open(os.path.join(KERNELS, "language.cl"), encoding="utf-8") as file:
        text = file.read()
    c.check("typedef ulong wide;" in text, "the type of 64 bits")
    with open(at("narrow/language.cl"), "w", encoding="utf-8") as file:
        file.write(text.replace("typedef ulong wide;", "typedef uint wide;"))
    for folder, code in (KERNELS, 0), (at("narrow"), 3):
        got, picture, err = convert("--kernels", folder, binary=MONOCLE, chain="otsu")
        c.check(got == code and (picture is not None) == (code == 0), folder, got, err)
        c.check(("wrong integers of 64 bits" in err) == (code != 0), folder, err)


def users(c):
    """A user's filter at which a compiler fails in the child never reaches this compiler in the program itself."""
    os.mkdir(at("filters"))
    with open(at("filters/mine.cl"), "w", encoding="utf-8") as file:
        file.write("//!SUMMARY x\n//!KIND point\nINLINE pixel filter_mine(pixel p, int x, int y, arguments args)\n{\n"
                   "    p.r = 255 - p.r;\n    p.g = 255 - p.g;\n    p.b = 255 - p.b;\n    return p;\n}\n")
    mine = {"chain": "mine", "MONOCLE_FILTERS": at("filters")}
    fails = "failed at a user's filter, in a child process: it crashed with signal 11; simplify the "
    for path, how in (("opencl", {"TEST_MISBEHAVE": "crash"}),
                      ("gl", {"TEST_MISBEHAVE": "begin", "TEST_ONLY": "shader"})):
        code, got, err = convert(path=path, **mine, **how)
        if "no GL context" in err:
            continue
        c.check(code == 0 and got == wanted() and "runs on the cpu path" in err and fails in err, path, code, err)
        code, got, err = convert(path=path, TEST_DRIVER="repaired", **mine)
        c.check(code == 0 and got == wanted(), path, "a driver that behaves", code, err)
        children()
        code, got, err = convert(path=path, TEST_DRIVER="repaired", **mine)
        c.check(code == 0 and got == wanted() and not children(), path, "the verdict is kept", code, err)


def frames_and_counts(c):
    """Passes whose arguments depend on the frame, or on the counts of the input, pass their probe."""
    chain = "text='%H:%M:%S {frame}',equalize,otsu,grayworld"
    code, _, err = convert(binary=MONOCLE, chain=chain)
    c.check(code == 0 and GENERIC not in err, code, err)


sys.exit(Checks().run(passes, passes_of_chains, misbehaves, without_verdict, hangs, loops, no_cache, interrupted,
                      on_processors, unreadable, ignored, command, byte_stores, wide_integers, users,
                      frames_and_counts,
                      before=prepare))
