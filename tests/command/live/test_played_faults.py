#!/usr/bin/env python3
"""test_played_faults.py PLAYED: cameras that stall, break, change, are removed and return while the live view runs

PLAYED is monocle linked with played.c, a camera and v4l2loopback without a kernel. tests/vm/test_drivers.py shows that
real drivers behave like this camera.
"""
import os
import signal
import struct
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import TESTS, Checks, at, programs
from live_support import Control, PlayedCamera, wait_idle, wait_until, y4m_pictures

BINARY, = programs(1)
CYCLES = 4
USUAL, OTHER, LARGE = (24, 16), (17, 13), (65000, 65000)


def live(*args, **more):
    return PlayedCamera(BINARY, *args, "--headless", "-p", "cpu", **more)


def end(c, run, *what):
    """Ends a run as Ctrl-C does. Returns its summary and its standard error."""
    run.process.send_signal(signal.SIGINT)
    code, last, errors = run.wait_end()
    c.check(code == 130, *what, code, errors)
    return last, errors


def well_again(run, outages):
    """Waits until the outage is over and new frames arrive. Returns the status."""
    run.until(lambda s: s["trouble"] == "" and s["outages"] == outages)
    return run.more()


def in_trouble(run, word):
    return run.until(lambda s: word in s["trouble"])


def stalls(c):
    """A frame with the error bit; a stall; a camera that does not answer, which blocks the thread that asks."""
    run, stalled, deaf = live(), live(), live()
    run.order("damage=")
    run.until(lambda s: s["damaged"] == 1)
    run.more()
    for one in run, stalled:
        one.order("stall=1")
    deaf.order("deafen=1")
    deaf.order("stall=1")
    in_trouble(run, "no frame arrived for 2 s; reconnecting")
    run.order("stall=0")
    state = well_again(run, 1)
    c.check(state["damaged"] == 1, "counted", state)
    _, errors = end(c, run, "stalls")
    c.check(errors.count("no signal") == 1 == errors.count("frames arrive again"), errors)

    in_trouble(deaf, "frame arrived for")
    since = len(deaf.events)
    deaf.find(lambda e: e["event"] == "progress", since)
    deaf.order("deafen=0")
    deaf.order("stall=0")
    well_again(deaf, 1)
    end(c, deaf, "deaf")

    in_trouble(stalled, "frame arrived for")
    end(c, stalled, "a stalled camera")


def changed(c):
    """While a camera does not answer, a change of the source waits for it and says so; the socket works meanwhile."""
    run = live()
    run.order("deafen=1")
    run.order("stall=1")
    in_trouble(run, "frame arrived for")
    client, other = run.control(), Control(run.camera + ".m")
    client.send("set_property", "source", "pattern:64x48@30")
    c.check(wait_until(lambda: "which does not answer" in (other.get("message") or ""), 20), other.get("message"))
    run.order("deafen=0")
    run.order("stall=0")
    c.check(client.reply()["error"] == "success" and client.get("source") == "test pattern", client.get("source"))
    end(c, run, "a change of the source")


def resources(process):
    files = len(os.listdir("/proc/%d/fd" % process.pid))
    with open("/proc/%d/maps" % process.pid) as maps:
        mappings = len(maps.readlines())
    return files, mappings


def replugged(c):
    """A camera is removed and returns again and again, while it is recorded. Its rights may come later."""
    run = live("--control", "brightness=20", "--record", "cycles.y4m")
    seen = []
    for i in range(CYCLES):
        run.order("plug=0")
        in_trouble(run, "the camera was unplugged; reconnecting")
        if i == 0:
            run.order("forbid=1")
            run.order("plug=1")
            in_trouble(run, "Permission denied")
            run.order("forbid=0")
        run.order("reset=")
        run.order("plug=1")
        well_again(run, i + 1)
        c.check(run.control().get("control/brightness") == 20, "set again")
        seen.append(resources(run.process))
    c.check(seen[-1][0] <= seen[1][0] and seen[-1][1] <= seen[1][1] + 2, "files and mappings grow", seen)
    last, _ = end(c, run, "cycles")
    with open(at("cycles.y4m"), "rb") as file:
        c.check(len(y4m_pictures(file.read())) >= last["frames"] and last["outages"] == CYCLES, "recorded", last)
    c.check(last["lost"] > 10 * CYCLES, "lost frames are counted", last)


def jpegs():
    """Returns MJPEG frames: the usual size; the usual size with a frame of another; the other size; too large."""
    with open(os.path.join(TESTS, "data", "small.jpg"), "rb") as file:
        picture = bytearray(file.read())
    place = picture.index(b"\xff\xc0") + 5  # height and width; they may grow within the same blocks
    names = {}
    for name, (width, height) in ("usual", USUAL), ("other", OTHER), ("large", LARGE):
        picture[place:place + 4] = struct.pack(">HH", height, width)
        names[name] = at(name + ".jpg")
        with open(names[name], "wb") as file:
            file.write(picture)
    usual, other, large = names.values()
    return usual, ":".join((usual, usual, other)), other, large


def resized(c):
    """MJPEG frames of another size: single frames count as damaged, many in a row reshape the view. Frames that are
    too large are refused."""
    usual, mixed, other, large = jpegs()
    run = live("--pixel-format", "mjpeg", "--record", "mjpeg.y4m", PLAYED_MODE="mjpeg 24x16", PLAYED_FILES=usual)
    run.order("files=" + mixed)
    run.until(lambda s: s["damaged"] > 1)
    c.check(all((e["width"], e["height"]) == USUAL for e in run.events if "width" in e), "the usual size", run.events)
    run.order("files=" + other)
    now = run.wait(lambda e: e["event"] == "reshaped")
    c.check((now["width"], now["height"]) == OTHER, "the new size", now)
    state = run.more(9)
    c.check(state["outages"] == 0 and state["trouble"] == "", "without an outage", state)
    run.order("files=" + large)
    trouble = in_trouble(run, "32768 pixels")["trouble"]
    c.check("no valid frame arrived for 2 s" in trouble, trouble)
    run.order("files=" + other)
    well_again(run, 1)
    last, errors = end(c, run, "resized")
    with open(at("mjpeg.y4m"), "rb") as file:
        data = file.read()
    c.check(data.startswith(b"YUV4MPEG2 W%d H%d " % USUAL), data[:40])
    frames = len(y4m_pictures(data))
    c.check(frames >= last["frames"] and errors.count("its frames are now") == 1, frames, last, errors)


def silent(c):
    """The view waits for an MJPEG camera that sends nothing at first, also if it is unplugged meanwhile."""
    _, _, other, _ = jpegs()
    runs = [live("--pixel-format", "mjpeg", runs=False, PLAYED_MODE="mjpeg 24x16", PLAYED_FILES=other,
                 PLAYED_STALLED="1") for _ in range(2)]
    for run, unplugged in zip(runs, (True, False)):
        if unplugged:
            wait_idle(run.process)  # waits for a frame
            run.order("plug=0")
            in_trouble(run, "unplugged")
            run.order("plug=1")
        else:
            in_trouble(run, "no frame arrived for 8 s; reconnecting")
        run.order("stall=0")
        run.wait(lambda e: e["event"] == "reshaped")  # to the size of the frames, which differs from the mode's
        well_again(run, 1)
        _, errors = end(c, run, "silent")
        c.check("cannot decode" not in errors and ("unplugged" in errors) == unplugged, errors)


def grabber(c):
    """The signal of a grabber changes its size, its colours, its size: the recording and the virtual camera keep their
    size."""
    with open(at("node"), "w"):
        pass
    run = live("--pixel-format", "yuyv", "--record", "grab.y4m", "--virtual-camera", at("node"),
               PLAYED_SIGNAL="24x16")
    shapes = [(24, 16, "601")]
    for outages, order in enumerate(("signal=32x20", "colors=3", "signal=24x16"), 1):  # V4L2_COLORSPACE_REC709
        since = len(run.events)
        run.order(order)
        now = run.wait(lambda e: e["event"] == "reshaped", since=since)
        state = well_again(run, outages)
        shapes.append((now["width"], now["height"], now["matrix"]))
        run.until(lambda s: s["virtual_camera"]["sent"] > state["virtual_camera"]["sent"])
        fed = run.control().get("status")["virtual_camera"]
        c.check((fed["width"], fed["height"]) == shapes[0][:2], "the virtual camera's size", shapes[-1], fed)
        files = "/proc/%d/fd/" % run.process.pid
        writers = [name for name in os.listdir(files) if os.path.realpath(files + name) == at("node")]
        c.check(len(writers) == 1, "v4l2loopback keeps its format while a writer has it open", writers)
    last, errors = end(c, run, "grabber")
    c.check(shapes == [(24, 16, "601"), (32, 20, "601"), (32, 20, "709"), (24, 16, "709")], shapes)
    c.check(errors.count("its video signal has changed its size or timing") == 3, errors)
    with open(at("grab.y4m"), "rb") as file:
        data = file.read()
    c.check(data.startswith(b"YUV4MPEG2 W24 H16 "), data[:40])
    c.check(len(y4m_pictures(data)) >= last["frames"] and errors.count("the outputs stay 24x16") == 1, last, errors)


def television(c):
    """The TV standard of a grabber changes, and with it the size."""
    run = live("--pixel-format", "yuyv", PLAYED_STANDARD="pal")
    sizes = [(run.events[0]["width"], run.events[0]["height"])]
    for outages, standard in enumerate(("ntsc", "pal"), 1):
        since = len(run.events)
        run.order("standard=" + standard)
        now = run.wait(lambda e: e["event"] == "reshaped", since=since)
        well_again(run, outages)
        sizes.append((now["width"], now["height"]))
    end(c, run, "television")
    c.check(sizes == [(24, 16), (24, 12), (24, 16)], sizes)


def permission(c):
    """A camera that the user may not open is an error: the default is the pattern only if there is no camera."""
    for source in ["camera:0"], []:
        run = live(source=source, runs=False, PLAYED_FORBIDDEN="1")
        code, _, errors = run.wait_end()
        c.check(code == 3 and "group video" in errors and errors.count("\n") == 1, code, errors)


if __name__ == "__main__":
    sys.exit(Checks().run(stalls, changed, replugged, resized, silent, grabber, television, permission))
