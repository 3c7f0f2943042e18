#!/usr/bin/env python3
"""test_virtual_camera.py MONOCLE: --virtual-camera against v4l2loopback, read by ffmpeg and gst-launch

For the machine of tests/vm/run, with v4l2loopback at /dev/video10 and /dev/video11 (the latter with exclusive_caps) and
a camera of vivid at /dev/video0.
"""
import fcntl
import glob
import json
import os
import signal
import struct
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from live_support import environment, events, run, y4m, y4m_pictures

BINARY, = programs(1)
NODE, EXCLUSIVE, CAMERA, MISSING = ("/dev/video%d" % n for n in (10, 11, 0, 99))
PATIENCE_S = 60
VIDIOC_S_FMT = 0xc0d05605
OUTPUT = 2


def means(plane, width, columns, rows, down):
    """Averages a full chroma plane (docs/pixels.md section 5) to a small one (section 6)."""
    result = bytearray()
    for y in range(0, rows, down):
        lines = [plane[(y + d) * width:(y + d) * width + columns] for d in range(down)]
        pairs = [sum(four) for four in zip(*(line[x::2] for line in lines for x in (0, 1)))]
        result += bytes((s + down) // (2 * down) for s in pairs)
    return result


def output_bytes(picture, width, height, pixel_format):
    """Returns the bytes that a reader must get for a frame of a C444 recording."""
    size = width * height
    y, u, v = (picture[i * size:(i + 1) * size] for i in range(3))
    columns, rows = width // 2 * 2, height // 2 * 2
    luma = b"".join(y[line * width:line * width + columns] for line in range(rows))
    if pixel_format == "yuyv":
        u, v = (means(p, width, columns, rows, 1) for p in (u, v))
        packed = bytearray(2 * len(luma))
        packed[0::2], packed[1::4], packed[3::4] = luma, u, v
        return bytes(packed)
    u, v = (means(p, width, columns, rows, 2) for p in (u, v))
    if pixel_format == "yu12":
        return luma + bytes(u) + bytes(v)
    pairs = bytearray(2 * len(u))
    pairs[0::2], pairs[1::2] = u, v
    return luma + bytes(pairs)


def film(name, width, height):
    """Writes a short film. Returns its path."""
    with open(at(name), "wb") as file:
        file.write(y4m(width, height, "422", 12, rate="20:1"))
    return at(name)


def expected(source, width, height, pixel_format, *args):
    """Returns the set of frames that the virtual camera may show, including the first, black one."""
    name = at("expected.y4m")
    code, _, err = run(BINARY, "live", source, *args, "--headless", "--record", name, "--overwrite", "-p", "cpu")
    assert code == 0, err
    with open(name, "rb") as file:
        pictures = y4m_pictures(file.read()) + [bytes([16]) * (width * height) + bytes([128]) * (2 * width * height)]
    return {output_bytes(p, width, height, pixel_format) for p in pictures}


class Writer:
    """monocle, which feeds a virtual camera until it is stopped."""

    def __init__(self, source, node, *args):
        self.process = subprocess.Popen([BINARY, "live", source, "--headless", "--loop", "--json", "-p", "cpu",
                                         "--virtual-camera", node, *args], env=environment(),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = self.process.stdout.readline()
        assert first, self.process.stderr.read()
        self.start = json.loads(first)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        said = events(out) if number != signal.SIGKILL else []
        return said[-1] if said else None, err.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def ffmpeg_reader(node, frames, name):
    return subprocess.Popen(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "v4l2", "-i", node, "-frames:v",
                             str(frames), "-c", "copy", "-f", "rawvideo", name], stderr=subprocess.PIPE)


def pictures_of(c, reader, name, size, frames, allowed, what, stale=0):
    """Checks that every frame that was read is allowed. Returns the frames."""
    try:
        err = reader.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        reader.kill()
        raise
    c.check(reader.returncode == 0, what, "reader fails:", err)
    if reader.returncode != 0:
        return []
    with open(name, "rb") as file:
        data = file.read()
    c.check(len(data) == frames * size, what, "is", len(data), "bytes, not", frames, "x", size)
    got = [data[i:i + size] for i in range(0, len(data), size)]
    wrong = [i for i, picture in enumerate(got) if picture not in allowed]
    c.check(len(wrong) <= stale and all(i < stale for i in wrong), what, "pictures", wrong, "are not as expected")
    return got


def wait_for(c, condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    c.check(condition(), "waiting for", what)


def set_format(node, width, height, fourcc, picture=None):
    """Opens the node and sets its output format. The first written frame fixes the format for readers."""
    fd = os.open(node, os.O_RDWR)
    pix = struct.pack("<IIIIIIIIIIII", width, height, struct.unpack("<I", fourcc)[0], 1, 0, 0, 0, 0, 0, 0, 0, 0)
    fcntl.ioctl(fd, VIDIOC_S_FMT, bytearray(struct.pack("<II", OUTPUT, 0) + pix.ljust(200, b"\0")))
    if picture:
        os.write(fd, picture)
    return fd


def frames_as_they_are(c):
    """Every format, even and odd sizes, a chain, and the JSON fields."""
    for pixel_format, fourcc, width, height in (("nv12", None, 96, 64), ("nv12", None, 95, 63),
                                                ("yuyv", b"YUYV", 95, 63), ("yu12", b"YU12", 95, 63)):
        source = film("film.y4m", width, height)
        what = "%s %dx%d" % (pixel_format, width, height)
        columns, rows = width // 2 * 2, height // 2 * 2
        allowed = expected(source, width, height, pixel_format, "-f", "sepia")
        size = len(next(iter(allowed)))
        held = set_format(NODE, columns, rows, fourcc, bytes(size)) if fourcc else None
        with Writer(source, NODE, "-f", "sepia") as writer:
            said = writer.start["virtual_camera"]
            c.check(said["pixel_format"] == pixel_format and (said["width"], said["height"]) == (columns, rows),
                    what, "is", said)
            c.check(said["matrix"] == "601" and NODE in said["name"], said)
            pictures = pictures_of(c, ffmpeg_reader(NODE, 8, at("out.raw")), at("out.raw"), size, 8, allowed, what,
                                   stale=1)
            c.check(len(set(pictures)) > 2, what, "moves")
            summary, err = writer.stop()
            c.check(summary and summary["virtual_camera"]["sent"] > 0, "counts", summary, err)
        if held is not None:
            os.close(held)


def read_by_gst(c):
    source = film("film.y4m", 96, 64)
    allowed = expected(source, 96, 64, "yuyv")
    held = set_format(NODE, 96, 64, b"YUYV", bytes(96 * 64 * 2))
    with Writer(source, NODE):
        reader = subprocess.Popen(["gst-launch-1.0", "-q", "v4l2src", "device=" + NODE, "num-buffers=5", "!",
                                   "filesink", "location=" + at("gst.raw")], stderr=subprocess.PIPE)
        pictures_of(c, reader, at("gst.raw"), 96 * 64 * 2, 5, allowed, "gst-launch", stale=1)
    os.close(held)


class FifoWriter(Writer):
    def __init__(self, fifo, film):
        self.process = subprocess.Popen([BINARY, "live", fifo, "--headless", "--json", "-p", "cpu",
                                         "--virtual-camera", NODE], env=environment(),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.feed = open(fifo, "wb")
        self.feed.write(film)
        self.feed.flush()
        self.start = json.loads(self.process.stdout.readline())


def late_frames(c):
    """If the source pauses, the last frame is repeated at the source's rate."""
    os.mkfifo(at("fifo.y4m"))
    film = y4m(64, 48, "444", 2, rate="20:1")
    with FifoWriter(at("fifo.y4m"), film) as writer:
        name = at("late.raw")
        reader = ffmpeg_reader(NODE, 20, name)  # more frames than were sent
        again, _, err = run(BINARY, "live", "-", "--headless", "--fast", "--record", at("late.y4m"), "-p", "cpu",
                            stdin=film)
        c.check(again == 0, err)
        with open(at("late.y4m"), "rb") as file:
            allowed = {output_bytes(p, 64, 48, "nv12") for p in y4m_pictures(file.read())[1:]}
        pictures_of(c, reader, name, 64 * 48 * 3 // 2, 20, allowed, "late frames", stale=2)
        writer.feed.close()
        out, err = writer.process.communicate(timeout=PATIENCE_S)
        counts = events(out)[-1]["virtual_camera"]
        c.check(1 <= counts["sent"] <= 2 and counts["repeated"] > 15, "counts", counts)  # the first may be skipped


def late_reader_and_killed_writer(c):
    """A reader that starts late; a reader whose writer is killed and replaced."""
    source = film("film.y4m", 96, 64)
    allowed = expected(source, 96, 64, "nv12")
    size = len(next(iter(allowed)))
    with Writer(source, NODE) as first:
        time.sleep(2)
        pictures_of(c, ffmpeg_reader(NODE, 3, at("late.raw")), at("late.raw"), size, 3, allowed, "late reader")
        reader = ffmpeg_reader(NODE, 60, at("killed.raw"))
        wait_for(c, lambda: os.path.exists(at("killed.raw")), "the reader to begin")
        first.stop(signal.SIGKILL)
    time.sleep(1)
    c.check(reader.poll() is None, "the reader waits for more when its writer dies", reader.poll())
    with Writer(source, NODE) as second:
        pictures_of(c, reader, at("killed.raw"), size, 60, allowed, "writer killed")
        summary, err = second.stop()
        c.check(summary is not None, "second writer", err)


def refused(c, node, *texts, prefix=(), source=("pattern:96x64",)):
    done = subprocess.run([*prefix, BINARY, "live", *source, "-p", "cpu", "--headless", "--frames", "2",
                           "--virtual-camera", node], env=environment(), capture_output=True, timeout=PATIENCE_S)
    err = done.stderr.decode()
    c.check(done.returncode == 3 and err.count("\n") == 1, node, "exit code", done.returncode, err)
    for text in texts:
        c.check(text in err, node, "does not say", repr(text), "but", err)


def wrong_nodes(c):
    with open(at("file"), "wb") as file:
        file.write(b"not a device")
    here = "virtual cameras on this machine: %s %s" % (NODE, EXCLUSIVE)
    refused(c, CAMERA, "it is a camera", here)
    refused(c, MISSING, "there is no such device", here)
    refused(c, at("file"), "not a V4L2 device", here)
    refused(c, "/dev/null", "not a V4L2 device")
    os.chmod(NODE, 0o600)
    refused(c, NODE, "Permission denied", "group video",
            prefix=("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"))
    os.chmod(NODE, 0o660)
    held = set_format(NODE, 128, 80, b"YUYV", bytes(128 * 80 * 2))
    refused(c, NODE, "fixed at 128x80", "--size 128x80")
    os.close(held)
    held = set_format(NODE, 96, 64, b"RGB3", bytes(96 * 64 * 3))
    refused(c, NODE, "fixed at the format RGB3")
    os.close(held)
    code, _, err = run(BINARY, "live", "camera:" + NODE, "--virtual-camera", NODE, "--headless")
    c.check(code == 2 and "its own source" in err, code, err)


def exclusive(c):
    """With exclusive_caps the device is a camera only while it is fed. It can be fed again."""
    source = film("film.y4m", 96, 64)
    allowed = expected(source, 96, 64, "nv12")
    size = len(next(iter(allowed)))
    for turn in ("first", "second"):
        with Writer(source, EXCLUSIVE) as writer:
            pictures_of(c, ffmpeg_reader(EXCLUSIVE, 3, at("exclusive.raw")), at("exclusive.raw"), size, 3, allowed,
                        turn + " exclusive writer", stale=1)
            refused(c, EXCLUSIVE, "another program writes to it already")
            writer.stop()


def on_demand(c):
    """With --on-demand the camera is open only while a program reads. v4l2loopback reports this since 0.13."""
    version = [0, 12]  # some of its packages have no version
    if os.path.exists("/sys/module/v4l2loopback/version"):
        with open("/sys/module/v4l2loopback/version") as file:
            version = [int(number) for number in file.read().split(".")[:2]]
    if version < [0, 13]:
        refused(c, NODE, "does not report", "version 0.13", source=("camera:" + CAMERA, "--on-demand"))
        return
    with Writer("camera:" + CAMERA, NODE, "-s", "320x180", "--on-demand") as writer:
        def is_open():
            files = glob.glob("/proc/%d/fd/*" % writer.process.pid)
            return any(os.path.realpath(file) == CAMERA for file in files)

        wait_for(c, lambda: not is_open(), "the camera to be closed without a reader")
        reader = ffmpeg_reader(NODE, 20, at("out.raw"))
        wait_for(c, is_open, "the camera to be opened for a reader")
        c.check(reader.wait(PATIENCE_S) == 0, reader.stderr.read())
        wait_for(c, lambda: not is_open(), "the camera to be closed after the reader")
        summary, err = writer.stop()
        c.check(summary and summary["outages"] == 0, summary, err)
        with open(at("out.raw"), "rb") as file:
            luma = [picture[:320 * 180] for picture in iter(lambda: file.read(320 * 180 * 3 // 2), b"")]
        c.check(max(luma[-1]) > 100, "the last picture is black", max(luma[-1]))


if __name__ == "__main__":
    sys.exit(Checks().run(frames_as_they_are, read_by_gst, late_frames, late_reader_and_killed_writer, wrong_nodes,
                          exclusive, on_demand))
