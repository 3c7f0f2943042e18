"""video_support.py: films made by ffmpeg, and headless runs of the live view on them"""
import contextlib
import os
import shutil
import subprocess
import tempfile

from checks import at, skip
from live_support import events, run


def need_ffmpeg():
    """Skips the test if ffmpeg is not installed."""
    if not shutil.which("ffmpeg"):
        skip("ffmpeg is not installed")


def list_encoders_once():
    """Puts an ffmpeg into PATH that has the list of the installed one's encoders, which takes 0.2 s."""
    folder, real = tempfile.mkdtemp(), shutil.which("ffmpeg")
    place, known = os.path.join(folder, "ffmpeg"), os.path.join(folder, "list")
    with open(known, "wb") as file:
        subprocess.run([real, "-hide_banner", "-v", "level+error", "-encoders"], check=True, stdout=file)
    with open(place, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\ncase "$*" in *-encoders) exec cat %s;; esac\nexec %s "$@"\n' % (known, real))
    os.chmod(place, 0o755)
    os.environ["PATH"] = folder + ":" + os.environ["PATH"]


def ffmpeg(*args):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *args], check=True, cwd=at(), timeout=60)


def films(*rows, seconds=1, size="64x48", rate="25"):
    """Writes films: a name and its arguments. They need one start of ffmpeg, which takes 0.2 s."""
    outputs = [word for name, *args in rows for word in (*args, "file:" + name)]
    ffmpeg("-f", "lavfi", "-i", "testsrc=size=%s:rate=%s:duration=%s" % (size, rate, seconds), *outputs)


def film(*row, **more):
    films(row, **more)


class Bits:
    """The bits of a NAL unit (ITU-T H.264, 7.3)."""

    def __init__(self):
        self.text = ""

    def fixed(self, count, value):
        self.text += format(value, "0%db" % count)
        return self

    def golomb(self, *values):
        for value in values:
            code = format(value + 1, "b")
            self.text += "0" * (len(code) - 1) + code
        return self

    def aligned(self):
        self.text += "0" * (-len(self.text) % 8)
        return self

    def nal(self, head):
        self.fixed(1, 1).aligned()
        data, out = int(self.text, 2).to_bytes(len(self.text) // 8, "big"), bytearray()
        for byte in data:
            if out[-2:] == b"\0\0" and byte < 4:
                out.append(3)
            out.append(byte)
        return b"\0\0\0\1" + bytes([head]) + out


def fields(frames):
    """Returns an H.264 stream with a picture for each field: grey frames of 32x32 pixels, 25 per second (PCM)."""
    parameters = Bits().fixed(24, 77 << 16 | 30).golomb(0, 0, 2, 1).fixed(1, 0).golomb(1, 0).fixed(10, 0b0010100001)
    data = parameters.fixed(32, 1).fixed(32, 50).fixed(5, 0b10000).nal(0x67)
    data += Bits().golomb(0, 0).fixed(2, 0).golomb(0, 0, 0).fixed(3, 0).golomb(0, 0, 0).fixed(3, 0b100).nal(0x68)
    for i in range(frames):
        for bottom in 0, 1:
            field = Bits().golomb(0, 7, 0).fixed(6, 2 | bottom)
            field = field.fixed(1, 0) if bottom else field.golomb(i % 2).fixed(2, 0)
            field.golomb(0, 1)
            for _ in range(2):
                macroblock = bytes([20 + 10 * i]) * 256 + b"\x80" * 128
                field.golomb(25).aligned().fixed(8 * len(macroblock), int.from_bytes(macroblock, "big"))
            data += field.nal(0x61 if bottom else 0x65)
    return data


def live(binary, *args, **env):
    """Returns the exit code, the events and standard error of a headless run that takes every frame."""
    code, out, err = run(binary, "live", *args, "--headless", "--fast", "--json", "-p", "cpu", cwd=at(), **env)
    return code, events(out), err


def children(pid, name="ffmpeg"):
    """Returns the living children of a process that have this name."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError):
            with open("/proc/%s/stat" % entry, encoding="utf-8", errors="replace") as file:
                text = file.read()
            state, parent = text.rpartition(")")[2].split()[:2]
            if int(parent) == pid and "(%s)" % name in text and state != "Z":
                found.append(int(entry))
    return found
