"""test_pipewire.py: cameras of a PipeWire daemon of its own, of which each check has a picture of known bytes

    test_pipewire.py MONOCLE PROVIDER READER PLAYED [CHECK...]

PLAYED is monocle linked with played.c, v4l2loopback without a kernel.
"""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from checks import TESTS, Checks, at, programs, slow
from color_support import make_png
from live_support import PATIENCE, Control, environment, picture, run, wait_until
from pipewire_support import daemon, equal, need_servers, pixels

MONOCLE, PROVIDER, READER, PLAYED = programs(4)
need_servers()

JPEG = os.path.join(TESTS, "data", "small.jpg")
FORMATS = ["nv12", "nv21", "yu12", "yv12", "422p", "yuyv", "uyvy", "rgb24", "bgr24", "444p", "grey"]


def layouts(c):
    """The pixels are equal to those of a raw file, for each format and layout of the memory."""
    cases = [(name, ()) for name in FORMATS] + [
        ("nv12", ("pad=64",)), ("nv12", ("no-stride",)), ("nv12", ("planes", "pad=32", "start=64")),
        ("yu12", ("planes",)), ("yu12", ("pad=32", "start=128")), ("yuyv", ("pad=12", "wild")), ("bgr24", ("pad=5",)),
        ("nv12", ("dma", "pad=32"))]
    with daemon() as server:
        for i, (name, more) in enumerate(cases):
            raw = at("frame.raw")
            process = server.provide("camera%d" % i, name, "70x46", "30", "dump=" + raw, *more)
            code, start, seen, err = pixels(server, "pipewire:camera%d" % i)
            expected = pixels(server, "raw:" + raw, "--size", "70x46", "--pixel-format", name)[2]
            equal(c, code, 0, name, more, err)
            equal(c, start.get("pixel_format"), name, more)
            c.check(seen and seen == expected, "pixels of", name, more)
            equal(c, start.get("in"), "host-ptr", name, more)
            server.remove(process)


def converted(c):
    """RGBx and BGRx are copied, without their fourth byte."""
    with daemon() as server:
        for name, order in ("rgbx", (0, 1, 2)), ("bgrx", (2, 1, 0)):
            raw, rgb = at("frame.raw"), at("rgb.raw")
            process = server.provide(name, name, "70x46", "30", "dump=" + raw)
            code, start, seen, err = pixels(server, "pipewire:" + name)
            data = open(raw, "rb").read()
            with open(rgb, "wb") as file:
                file.write(bytes(data[i + k] for i in range(0, len(data), 4) for k in order))
            equal(c, code, 0, name, err)
            expected = pixels(server, "raw:" + rgb, "--size", "70x46", "--pixel-format", "rgb24")[2]
            c.check(seen and seen == expected, "pixels of", name)
            server.remove(process)


def refused(c):
    """A format that monocle does not read, frames that are too short, and names without a camera."""
    with daemon() as server:
        server.provide("odd", "p010")
        offers = [node for node in server.cameras() if node["id"] == "odd"][0]["offers"]
        equal(c, [offer["usable"] for offer in offers], [False])
        code, _, _, err = pixels(server, "pipewire:odd")
        c.check(code == 3 and "offers no format" in err, code, err)
        code, _, _, err = pixels(server, "pipewire:nobody")
        c.check(code == 3 and "PipeWire has no camera named nobody" in err, code, err)
        server.provide("cut", "nv12", "64x48", "30", "short")
        run_ = subprocess.Popen([MONOCLE, "live", "pipewire:cut", "--headless", "--json"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment(**server.env), text=True)
        time.sleep(3.5 * PATIENCE)
        run_.send_signal(signal.SIGINT)
        out, err = run_.communicate(timeout=20)
        c.check("the buffer is shorter than a frame" in err, err)
        c.check(json.loads(out.splitlines()[-1])["damaged"] > 10, out)


def jpeg(c):
    """MJPEG is decoded like that of another camera, and a garbage time is replaced."""
    with daemon() as server:
        server.provide("jpeg", "mjpeg", "17x13", "30", "jpeg=" + JPEG, "wild")
        code, start, seen, err = pixels(server, "pipewire:jpeg", "--pixel-format", "mjpeg")
        equal(c, code, 0, err)
        c.check(", mjpeg" in start.get("source", ""), start)
        expected = pixels(server, JPEG)[2]
        c.check(seen and seen == expected, "pixels")


def few(c):
    """A producer with two buffers: the frames are copied, and arrive."""
    with daemon() as server:
        raw = at("frame.raw")
        server.provide("few", "nv12", "64x48", "30", "buffers=2", "dump=" + raw)
        code, start, seen, err = pixels(server, "pipewire:few")
        expected = pixels(server, "raw:" + raw, "--size", "64x48", "--pixel-format", "nv12")[2]
        equal(c, code, 0, err)
        c.check(seen and seen == expected, "pixels")


def listed(c):
    """The camera is in the list, in doctor, and is the default without another one."""
    with daemon() as server:
        server.provide("v4l2_input.raw", "nv12", "64x48")
        equal(c, server.cameras()[0]["passed_over"], "V4L2 has this camera, too")
        if not any(name.startswith("video") for name in os.listdir("/dev")):
            err = run(MONOCLE, "live", "--headless", "-n", "2", **server.env)[2]
            c.check("showing the" in err, err)
        server.provide("listed", "nv12", "320x240", "25")
        node = [node for node in server.cameras() if node["id"] == "listed"][0]
        equal(c, node["name"], "Provider")
        equal(c, node["driver"], "pipewire")
        equal(c, node["offers"], [{"format": "nv12", "usable": True, "width": 320, "height": 240, "width_least": 320,
                                  "height_least": 240, "rates": [25.0]}])
        if not any(name.startswith("video") for name in os.listdir("/dev")):
            code, out, err = run(MONOCLE, "live", "--headless", "-n", "2", "--json", **server.env)
            equal(c, json.loads(out.splitlines()[0])["source"], "Provider (%s)" % node["node"], err)
        err = run(MONOCLE, "live", "pipewire:listed", "--headless", "-n", "2", "--control", "a=1", **server.env)[2]
        c.check("--control has no effect" in err, err)


@slow
def doctor(c):
    """doctor names the camera."""
    with daemon() as server:
        server.provide("listed")
        out = run(MONOCLE, "doctor", **server.env)[1].decode()
        c.check("'Provider' is a camera of PipeWire" in out, out)
        c.check(any(os.path.exists("/dev/video%d" % i) for i in range(64)) or "; monocle shows pipewire:" in out, out)


class Watched:
    """A run that writes JSON events."""

    def __init__(self, server, source, *more, program=MONOCLE, **env):
        self.out, self.err = open(at("out"), "w+"), open(at("err"), "w+")
        self.process = subprocess.Popen([program, "live", source, "--headless", "--json", *more], stdout=self.out,
                                        stderr=self.err, env=environment(**server.env, **env))

    def wait(self, text, seconds):
        """Returns the seconds until a line on standard error has the text; None: it never has."""
        begun = time.monotonic()
        while time.monotonic() - begun < seconds * PATIENCE:
            if text in open(at("err")).read():
                return time.monotonic() - begun
            time.sleep(0.02)
        return None

    def until(self, test):
        """Waits until the virtual camera is in a state. Returns it."""
        def state():
            with open(at("out")) as file:
                said = [json.loads(line).get("virtual_camera") for line in file.read().split("\n")[:-1]]
            return said[-1] if said and said[-1] and test(said[-1]) else None

        assert wait_until(state), "the virtual camera"
        return state()

    def forget(self):
        os.truncate(at("err"), 0)
        self.err.seek(0)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


def lost(c):
    """The camera is removed and comes back; the daemon ends and comes back; another size follows."""
    with daemon() as server:
        camera = server.provide("lost", "nv12", "64x48")
        watched = Watched(server, "pipewire:lost")
        time.sleep(1.5)
        server.remove(camera)
        c.check(watched.wait("the camera was removed; reconnecting", 5), "removal")
        camera = server.provide("lost", "nv12", "64x48")
        back = watched.wait("frames arrive again", 5)
        c.check(back is not None and back < 1 * PATIENCE, "node back after", back)
        watched.forget()
        server.kill()
        c.check(watched.wait("the PipeWire daemon has ended; reconnecting", 5), "end of the daemon")
        server.remove(camera)
        server.start()
        camera = server.provide("lost", "nv12", "64x48")
        back = watched.wait("frames arrive again", 5)
        c.check(back is not None and back < 3 * PATIENCE, "daemon back after", back)
        server.remove(camera)
        server.provide("lost", "yuyv", "80x60")
        c.check(watched.wait("its frames are now 80x60 yuyv (601, limited) instead of 64x48 nv12 (601, limited)", 5),
                open(at("err")).read())
        equal(c, watched.end(), 130)


def read(server, serial, keep, frames, limit):
    """Returns the seconds that a program needs for this many frames of a camera; None: longer than the limit."""
    try:
        done = subprocess.run([READER, serial, str(keep), str(frames)], env={**os.environ, **server.env},
                              capture_output=True, text=True, timeout=limit * PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    return float(done.stdout)


def sink(c):
    """The virtual camera: its pixels, a program that ends with all buffers, and one that keeps them."""
    with daemon() as server:
        watched = Watched(server, "pattern:1280x720@30", "-p", "cpu", "--virtual-camera", "pipewire:Filtered picture",
                          "--socket", at("s"))
        serial = server.serial("monocle")
        node = server.cameras()[0]
        equal(c, node["name"], "Filtered picture")
        equal(c, node["offers"], [{"format": "nv12", "usable": True, "width": 1280, "height": 720,
                                   "width_least": 1280, "height_least": 720, "rates": [30.0]}])
        c.check(node["passed_over"], "the camera of a monocle is the default")
        took = read(server, serial, 0, 60, 10)
        c.check(took and 1.5 < took < 3 * PATIENCE, "60 frames in", took)
        reader = subprocess.Popen([READER, serial, "8", "1000"], env={**os.environ, **server.env},
                                  stdout=subprocess.PIPE, text=True)
        equal(c, reader.stdout.readline(), "held\n")
        client = Control(at("s"))
        c.check(wait_until(lambda: client.get("virtual_camera")["watched"]), "it is watched")
        client.ask("key", "back")
        equal(c, client.get("message"), "the virtual camera runs: the same key again quits")
        took = read(server, serial, 0, 30, 5)
        c.check(took, "beside a program that keeps all buffers")
        reader.kill()
        reader.wait()
        took = read(server, serial, 0, 30, 5)
        c.check(took, "after a program that was killed with all buffers")
        code, start, _, err = pixels(server, "pipewire:Filtered")
        equal(c, (code, start.get("in"), start.get("matrix")), (0, "host-ptr", "601"), err)
        for size, width in ("640x360", 640), ("auto", 1280):
            client.ask("set_property", "output_size", size)
            c.check(wait_until(lambda w=width: any(n["offers"] and n["offers"][0]["width"] == w
                                                   for n in server.cameras())), "output_size", size)
        server.destroy("monocle")
        c.check(watched.wait("PipeWire has removed it; reconnecting", 5), "end of the node")
        c.check(read(server, server.serial("monocle"), 0, 30, 10), "after the end of the node")
        server.kill()
        c.check(watched.wait("the PipeWire daemon has ended; reconnecting", 5), "end of the daemon")
        server.start()
        c.check(read(server, server.serial("monocle"), 0, 30, 10), "after the end of the daemon")
        watched.forget()
        server.kill()
        c.check(watched.wait("the PipeWire daemon has ended; reconnecting", 5), "second end of the daemon")
        equal(c, client.error("set_property", "output_size", "640x360"), "the virtual camera stopped")
        equal(c, watched.process.wait(timeout=20), 1)


def still(c):
    """The picture of one frame, which is repeated, is that of docs/pixels.md: equal to an image's."""
    with daemon() as server:
        image = at("plain.png")
        with open(image, "wb") as file:
            file.write(make_png([[(100, 150, 200)] * 64] * 48))
        watched = Watched(server, image, "--loop", "-p", "cpu", "--virtual-camera", "pipewire", "--socket", at("s"))
        server.serial("monocle")
        png = at("out.png")
        code = run(MONOCLE, "live", "pipewire:monocle", "--headless", "-p", "cpu", "-n", "5", "--screenshot", png,
                   **server.env)[0]
        equal(c, code, 0)
        seen = picture(png)
        c.check(max(abs(a - b) for a, b in zip(seen, (100, 150, 200) * 64 * 48)) <= 2, seen[:3])
        client = Control(at("s"))
        c.check(wait_until(lambda: client.get("virtual_camera")["watched"] is False), "no program reads it")
        client.ask("key", "back")
        equal(c, watched.process.wait(timeout=20), 0)


def beside(c):
    """A V4L2 device and PipeWire get the same frames, in the device's format; monocle names both."""
    with daemon() as server:
        node, raw, image = at("node"), at("last.raw"), at("colour.png")
        open(node, "wb").close()
        with open(image, "wb") as file:
            file.write(make_png([[(4 * x, 5 * y, 200) for x in range(64)] for y in range(48)]))
        watched = Watched(server, image, "--loop", "-p", "cpu", "--virtual-camera", "pipewire:Twin", "--virtual-camera",
                          node, program=PLAYED, PLAYED_OUTPUT="YUYV")
        equal(c, watched.until(lambda state: state["sent"] > 0)["name"], "%s (played output), pipewire (Twin)" % node)
        server.serial("monocle")
        equal(c, server.cameras()[0]["offers"][0]["format"], "yuyv")
        code, start, seen, err = pixels(server, "pipewire:Twin")
        equal(c, (code, start.get("matrix"), watched.end()), (0, "601", 130), err)
        with open(node, "rb") as file, open(raw, "wb") as last:
            last.write(file.read()[-64 * 48 * 2:])
        expected = pixels(server, "raw:" + raw, "--size", "64x48", "--pixel-format", "yuyv")[2]
        c.check(seen and seen == expected, "pixels")


def late_reader(c):
    """The source has stalled before a program reads the virtual camera: it gets the last frame, and no older one."""
    os.mkfifo(at("fifo.y4m"))
    with daemon() as server:
        watched = Watched(server, at("fifo.y4m"), "-p", "cpu", "--virtual-camera", "pipewire")
        with open(at("fifo.y4m"), "wb") as feed:
            feed.write(b"YUV4MPEG2 W64 H48 F20:1 C420jpeg\n")
            for luma in 60, 180:
                feed.write(b"FRAME\n" + bytes([luma]) * (64 * 48) + bytes([128]) * (64 * 24))
            feed.flush()
            server.serial("monocle")
            watched.until(lambda state: state["sent"] == 2)
            for turn in range(2):
                code, _, err = run(MONOCLE, "live", "pipewire:monocle", "--headless", "-p", "cpu", "-n", "1",
                                   "--screenshot", at("out.png"), "--overwrite", **server.env)
                equal(c, (code, set(picture(at("out.png")))), (0, {191}), turn, err)
        equal(c, watched.process.wait(20), 0)


def on_demand(c):
    """The camera is open while a program reads the virtual camera, and 2 s longer."""
    with daemon() as server:
        watched = Watched(server, "camera:0", "-p", "cpu", "--virtual-camera", "pipewire", "--on-demand",
                          program=PLAYED, PLAYED_STREAMS=at("streams"))
        serial = server.serial("monocle")
        sent = watched.until(lambda state: state["resting"] and state["watched"] is False)["sent"]
        c.check(wait_until(lambda: not os.path.exists(at("streams"))), "the camera streams without a reader")
        took = read(server, serial, 0, 60, 20)
        c.check(took and took > 1.5, "60 frames in", took)
        watched.until(lambda state: state["sent"] > sent)
        watched.until(lambda state: state["resting"])
        c.check(wait_until(lambda: not os.path.exists(at("streams"))), "the camera stays open")
        equal(c, watched.end(), 130)


@slow
def connects(c):
    """1,000 connections to the same camera leak no descriptor, buffer or thread of the daemon."""
    def held(process):
        return len(os.listdir("/proc/%d/fd" % process.pid)), len(os.listdir("/proc/%d/task" % process.pid))

    with daemon() as server:
        camera = server.provide("many", "nv12", "64x48", "60")
        before = None
        for i in range(1000):
            code = run(MONOCLE, "live", "pipewire:many", "--headless", "-p", "cpu", "-n", "2", **server.env)[0]
            if code != 0:
                equal(c, code, 0, "run", i)
                return
            if i == 20:
                before = [held(process) for process in (*server.servers, camera)]
        time.sleep(1)
        after = [held(process) for process in (*server.servers, camera)]
        for a, b in zip(before, after):
            c.check(abs(a[0] - b[0]) <= 8 and abs(a[1] - b[1]) <= 1, before, after)


sys.exit(Checks().run(layouts, converted, refused, jpeg, few, listed, doctor, lost, sink, still, beside,
                      late_reader, on_demand, connects))
