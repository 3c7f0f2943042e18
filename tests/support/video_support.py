"""video_support.py: films made by ffmpeg, and headless runs of the live view on them"""
import contextlib
import os
import shutil
import subprocess

from checks import at, skip
from live_support import events, run


def need_ffmpeg():
    """Skips the test if ffmpeg is not installed."""
    if not shutil.which("ffmpeg"):
        skip("ffmpeg is not installed")


def ffmpeg(*args):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *args], check=True, cwd=at(), timeout=60)


def film(name, *args, seconds=1, size="64x48", rate="25"):
    ffmpeg("-f", "lavfi", "-i", "testsrc=size=%s:rate=%s:duration=%s" % (size, rate, seconds), *args, "file:" + name)


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
