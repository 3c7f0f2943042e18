#!/usr/bin/env python3
"""test_live_faults.py MONOCLE LATE MISLED: the live view's messages and exit codes when something goes wrong

LATE is monocle linked with late.c, MISLED with misled.c.
"""
import contextlib
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from live_support import (PATIENCE, Compiler, Control, alive, environment, events, has_opencl, png, run, wait_idle,
                          wait_until, y4m, y4m_pictures)

BINARY, LATE, MISLED = programs(3)


def write(name, data):
    with open(at(name), "wb") as f:
        f.write(data)


def start(*args, **keywords):
    return subprocess.Popen([BINARY, "live", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            cwd=at(), env=environment(), **keywords)


def check_error(c, name, code, want, out, err, word):
    """Checks for one error event with the text of the one line on standard error; only a summary may follow it."""
    said = events(out)
    errors = [e for e in said if e["event"] == "error"]
    c.check(code == want, name, "exit code", code, "not", want, err)
    c.check(len(errors) == 1 and word in errors[0]["message"], name, "is logged as", errors)
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
        (["damaged.y4m", "--record", "damaged.y4m"], 2, "is the source"),
        (["-"], 3, "it is empty"),
    ]
    for args, want, word in rows:
        code, out, err = run(BINARY, "live", *args, "-p", "cpu", "--headless", "--json", cwd=at())
        check_error(c, args, code, want, out, err, word)
    code, out, err = run(BINARY, "live", "nothing.png", "--headless", "--json", "--log-level", "silent")
    c.check(code == 3 and err == "" and len(events(out)) == 1, "silence is for standard error alone", out, err)


def full_disk(c):
    process = start("pattern:32x24", "-p", "cpu", "--headless", "--frames", "90", "--record", "grown.y4m", "--json",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (51200, 51200)))
    out, err = process.communicate(timeout=60 * PATIENCE)
    check_error(c, "file limit", process.returncode, 1, out, err.decode(), "grown.y4m")
    code, out, err = run(LATE, "live", "pattern:32x24@200", "-p", "cpu", "--headless", "--frames", "3", "--json",
                         "--record", "late.y4m", cwd=at(), LATE_SYNC=str(errno.EIO))  # fails at the end
    check_error(c, "a failed sync", code, 1, out, err, "late.y4m")


def emptied(c):
    """A film that is truncated to zero bytes while it loops ends the run with an error."""
    write("emptied.y4m", y4m(64, 48, "420jpeg", 3))
    process = start("emptied.y4m", "--loop", "--frames", "100000", "-p", "cpu", "--headless", "--json", "--socket",
                    at("m"))
    client = Control(at("m"))
    client.ask("wait_frame", 4)  # it repeats
    client.close()
    head = process.stdout.readline()
    os.truncate(at("emptied.y4m"), 0)
    out, err = process.communicate(timeout=60 * PATIENCE)
    noticed = "monocle: warning: emptied.y4m was truncated while it played\n"  # except at the end of a loop
    check_error(c, "emptied", process.returncode, 1, head + out, err.decode().removeprefix(noticed),
                "emptied.y4m: it was truncated")


def interrupt(c, name, process, number):
    """Checks that one signal ends the process with its exit code."""
    c.check(process.poll() is None, name, "has ended by itself")
    process.send_signal(number)
    try:
        code = process.wait(timeout=60 * PATIENCE)  # it hangs if this expires
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    c.check(code == 128 + number, name, number, "exit code", code)


def signals_while_waiting(c):
    """Signals while the run waits for frames, and while it waits for the reader of its recording."""
    os.mkfifo(at("fifo.y4m"))
    for args, number in ((["fifo.y4m"], signal.SIGINT), (["-"], signal.SIGTERM),
                         (["pattern:32x24", "--record", "fifo.y4m", "-p", "cpu"], signal.SIGINT)):
        process = start(*args, "--headless", "--json", stdin=subprocess.PIPE)
        wait_idle(process)
        interrupt(c, args, process, number)
        out, err = process.communicate()
        c.check(out == b"" and err == b"", args, "says", out, err)


def signals_while_compiling(c):
    """A driver that compiles cannot be stopped. A signal does not wait for it, in the program or in a probe's child."""
    if not has_opencl(MISLED):
        return
    for how, number in ("hang", signal.SIGINT), ("compile", signal.SIGTERM):  # in the child, in the program
        compiler = Compiler(how)
        compiler.begin()
        process = subprocess.Popen([MISLED, "live", "pattern:32x24", "-p", "opencl", "-f", "invert", "--headless",
                                    "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=at(),
                                   env=environment(**compiler.env))
        where = compiler.wait(process)
        interrupt(c, how, process, number)
        out, err = process.communicate()
        c.check(out == b"" and err == b"", how, "says", out, err)
        c.check(wait_until(lambda: not alive(where), seconds=10), how, number, "leaves a child behind")


def socket_while_compiling(c):
    """The control socket answers while the first path is built: beside the cpu path, and before the first frame."""
    if not has_opencl(MISLED):
        return
    for frames in (), ("--frames", "9"):
        compiler = Compiler("compile", at("caches"))
        compiler.begin()
        process = subprocess.Popen([MISLED, "live", "pattern:32x24", "-p", "opencl", "-f", "invert", "--headless",
                                    "--json", "--socket", at("m"), *frames], stdout=subprocess.PIPE, cwd=at(),
                                   env=environment(**compiler.env))
        compiler.wait(process)
        m = Control(at("m"), process=process)
        c.check(m.get("building") and m.get("path") == "opencl", frames, "building")
        if frames:
            c.check(m.get("frames") == 0 and "no frame" in m.error("screenshot", at("a.png")), frames, "has a frame")
            m.ask("set_property", "paused", True)
            m.ask("set_property", "paused", False)
            m.ask("set_property", "chain", "gray")
        else:
            m.ask("wait_frame", 1)
        compiler.end()
        if not frames:
            m.ask("wait_frame")
            c.check(not m.get("building"), "is built")
            m.ask("quit")
        out = process.communicate()[0]
        last = json.loads(out.splitlines()[-1])
        c.check(process.returncode == 0 and last["path"] == "opencl", frames, process.returncode, last)
        c.check(last["chain"] == ("gray" if frames else "invert"), frames, last["chain"])


def socket_of_slides(c):
    """The next image of a slide show has another size while the path for the last one is still being built."""
    if not has_opencl(MISLED):
        return
    os.mkdir(at("slides"))
    png(at("slides/a.png"), 32, 24)
    png(at("slides/b.png"), 24, 32)
    compiler = Compiler("compile")
    compiler.begin()
    process = subprocess.Popen([MISLED, "live", "slides", "-p", "opencl", "-f", "invert", "--headless", "--json",
                                "--socket", at("m")], stdout=subprocess.DEVNULL, cwd=at(),
                               env=environment(**compiler.env))
    m = Control(at("m"), process=process)
    m.ask("wait_frame", 1)
    compiler.wait(process)
    m.ask("set_property", "position", 5)
    for _ in range(20):
        c.check(m.get("building"), "is built")
        time.sleep(0.02)
    compiler.end()
    m.ask("wait_frame")
    c.check((m.get("path"), m.get("size")) == ("opencl", "24x32"), m.get("path"), m.get("size"))
    m.ask("quit")
    c.check(process.wait() == 0, "quits", process.returncode)


def signals_before_pictures(c):
    """A signal before the first frame: no error says that the screenshot could not be written."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start("-", "-p", "cpu", "--headless", "--screenshot", "none.png", "--json", stdin=subprocess.PIPE)
        process.stdin.write(b"YUV4MPEG2 W2 H2\n")
        process.stdin.flush()
        c.check(json.loads(process.stdout.readline())["event"] == "start", "starts")
        interrupt(c, "no picture yet", process, number)
        out, err = process.communicate()
        c.check(err == b"" and events(out)[-1]["event"] == "summary", "says", out, err)
        c.check(not os.path.exists(at("none.png")), "a picture of nothing")


def stalled_reader(c):
    """If the reader of a recording stalls, a signal still ends the run. The frames before are complete."""
    os.mkfifo(at("stalled.y4m"))
    reader = os.open(at("stalled.y4m"), os.O_RDONLY | os.O_NONBLOCK)
    process = start("pattern:160x120@100", "-p", "cpu", "--headless", "--json", "--frames", "100000", "--record",
                    "stalled.y4m", "--trace", "stalled.json")
    wait_idle(process)
    interrupt(c, "a stalled reader", process, signal.SIGINT)
    out, err = process.communicate()
    said = events(out)
    errors = [e["message"] for e in said if e["event"] == "error"]
    c.check(said[-1]["event"] == "summary" and len(errors) == 1 and "stalled" in errors[0], said[-1], errors)
    c.check(len(json.load(open(at("stalled.json")))) > 3, "trace")
    data = b""
    while chunk := os.read(reader, 1 << 16):
        data += chunk
    os.close(reader)
    head, picture = data.index(b"\n") + 1, 6 + 3 * 160 * 120
    pictures = y4m_pictures(data[:head + (len(data) - head) // picture * picture])
    c.check(len(pictures) >= 1 and len(set(pictures)) == len(pictures), len(pictures), "pictures")

    reader, writer = os.pipe()
    process = subprocess.Popen([BINARY, "live", "pattern:160x120@100", "-p", "cpu", "--headless", "--record", "-"],
                               stdout=writer, stderr=subprocess.PIPE, env=environment())
    wait_idle(process)
    interrupt(c, "a stalled pipe", process, signal.SIGTERM)

    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writer, bytes(4096)):
            pass
    os.set_blocking(writer, True)
    process = subprocess.Popen([BINARY, "live", "pattern:32x24", "-p", "cpu", "--headless", "--json"], stdout=writer,
                               stderr=subprocess.PIPE, env=environment())
    wait_idle(process)
    interrupt(c, "a stalled reader of events", process, signal.SIGTERM)


sys.exit(Checks().run(json_errors, full_disk, emptied, signals_while_waiting, signals_while_compiling,
                      socket_while_compiling, socket_of_slides, signals_before_pictures, stalled_reader))
