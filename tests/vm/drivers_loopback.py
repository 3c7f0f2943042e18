"""drivers_loopback.py: checks of --virtual-camera against v4l2loopback, read by v4l2-ctl, ffmpeg and gst-launch

Checks of test_drivers.py, in its machine: v4l2loopback is /dev/video10 and /dev/video11 (the latter with
exclusive_caps), and /dev/video0 a camera of vivid.
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

from checks import at, slow
from live_support import Control, environment, events, png, wait_until
from loopback_support import expected, film

BINARY = os.path.abspath(sys.argv[1])
NODE, EXCLUSIVE, CAMERA = ("/dev/video%d" % n for n in (10, 11, 0))
PATIENCE_S = 60
VIDIOC_S_FMT = 0xc0d05605
OUTPUT = 2


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


def v4l2_reader(node, frames, name):
    return subprocess.Popen(["v4l2-ctl", "-d", node, "--stream-mmap", "--stream-count=%d" % frames,
                             "--stream-to=" + name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


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


def loopback(c):
    """A program reads what monocle writes; the device can have one writer."""
    source = film("film.y4m", 32, 24, 6)
    allowed = expected(BINARY, source, 32, 24, "nv12")
    size = len(next(iter(allowed)))
    for node in NODE, EXCLUSIVE:
        with Writer(source, node) as writer:
            said = writer.start["virtual_camera"]
            c.check((said["pixel_format"], said["matrix"]) == ("nv12", "601") and node in said["name"], said)
            pictures = pictures_of(c, v4l2_reader(node, 6, at("out.raw")), at("out.raw"), size, 6, allowed, node,
                                   stale=1)
            c.check(len(set(pictures)) > 2, node, "moves")
            if node == EXCLUSIVE:
                refused(c, EXCLUSIVE, "another program writes to it already")
            summary, err = writer.stop()
            c.check(summary and summary["virtual_camera"]["sent"] > 0, "counts", summary, err)


@slow
def ten_sizes(c):
    """A call goes on while the results change their size ten times: ffmpeg reads all frames, with the first size."""
    png(at("photo.png"), 30, 40)
    film("film.y4m", 32, 24, 6)
    size = 64 * 48 * 3 // 2
    with Writer("pattern:64x48@8", NODE, "--socket", at("m")) as writer:
        m = Control(at("m"))
        reader = subprocess.Popen(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "v4l2", "-i", NODE, "-c", "copy",
                                   "-flush_packets", "1", "-f", "rawvideo", at("call.raw")], stderr=subprocess.PIPE)

        def counts():
            """Returns the number of frames that were read, and of those that were written."""
            camera = m.get("virtual_camera")
            read = os.path.getsize(at("call.raw")) // size if os.path.exists(at("call.raw")) else 0
            return read, camera["sent"] - camera["skipped"] + camera["repeated"]

        try:
            wait_for(c, lambda: counts()[0] > 3, "the reader")
            read, written = counts()
            for name, value in (("chain", "rotate=90"), ("chain", "crop=20:16"), ("chain", "scale=100"),
                                ("chain", "none"), ("source", at("photo.png")), ("source", "pattern:80x60@8"),
                                ("camera", "rotate=30"), ("source", at("film.y4m")), ("camera", "none"),
                                ("source", "pattern:64x48@8")):
                sent = m.get("virtual_camera")["sent"]
                m.set(name, value)
                assert wait_until(lambda: m.get("virtual_camera")["sent"] > sent, 5), (name, value)
            now_read, now_written = counts()
            missing = (now_written - written) - (now_read - read)
            c.check(missing <= 2, "frames of the call are missing:", missing, "of", now_written - written)
            print("ten sizes: %d frames written, %d read" % (now_written - written, now_read - read))
            reader.send_signal(signal.SIGINT)
            err = reader.communicate(timeout=PATIENCE_S)[1]
            c.check(os.path.getsize(at("call.raw")) % size == 0 and not err.strip(), "the size of frames", err)
        finally:
            reader.kill()
        last, err = writer.stop()
        c.check(last and last["virtual_camera"]["width"] == 64, last, err)


@slow
def fixed_formats(c):
    """Another program fixes the format. An odd size."""
    for pixel_format, fourcc in ("yuyv", b"YUYV"), ("yu12", b"YU12"):
        source = film("film.y4m", 31, 23, 6)
        allowed = expected(BINARY, source, 31, 23, pixel_format)
        size = len(next(iter(allowed)))
        held = set_format(NODE, 30, 22, fourcc, bytes(size))
        reader = ffmpeg_reader if pixel_format == "yuyv" else v4l2_reader
        with Writer(source, NODE) as writer:
            c.check(writer.start["virtual_camera"]["pixel_format"] == pixel_format, writer.start)
            pictures_of(c, reader(NODE, 8, at("out.raw")), at("out.raw"), size, 8, allowed, pixel_format,
                        stale=1)
        os.close(held)


@slow
def read_by_gst(c):
    source = film("film.y4m", 32, 24, 6)
    allowed = expected(BINARY, source, 32, 24, "yuyv")
    held = set_format(NODE, 32, 24, b"YUYV", bytes(32 * 24 * 2))
    with Writer(source, NODE):
        reader = subprocess.Popen(["gst-launch-1.0", "-q", "v4l2src", "device=" + NODE, "num-buffers=5", "!",
                                   "filesink", "location=" + at("gst.raw")], stderr=subprocess.PIPE)
        pictures_of(c, reader, at("gst.raw"), 32 * 24 * 2, 5, allowed, "gst-launch", stale=1)
    os.close(held)


@slow
def late_reader_and_killed_writer(c):
    """A reader that starts late; a reader whose writer is killed and replaced."""
    source = film("film.y4m", 32, 24, 6)
    allowed = expected(BINARY, source, 32, 24, "nv12")
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


@slow
def wrong_nodes(c):
    with open(at("file"), "wb") as file:
        file.write(b"not a device")
    here = "virtual cameras on this machine: %s %s" % (NODE, EXCLUSIVE)
    refused(c, CAMERA, "it is a camera", here)
    refused(c, at("file"), "not a V4L2 device", here)
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


@slow
def exclusive(c):
    """With exclusive_caps the device is a camera only while it is fed. It can be fed again."""
    source = film("film.y4m", 32, 24, 6)
    allowed = expected(BINARY, source, 32, 24, "nv12")
    size = len(next(iter(allowed)))
    for turn in ("first", "second"):
        with Writer(source, EXCLUSIVE) as writer:
            pictures_of(c, ffmpeg_reader(EXCLUSIVE, 3, at("exclusive.raw")), at("exclusive.raw"), size, 3, allowed,
                        turn + " exclusive writer", stale=1)
            refused(c, EXCLUSIVE, "another program writes to it already")
            writer.stop()


@slow
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
