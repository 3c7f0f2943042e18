#!/usr/bin/env python3
"""test_pipewire_guest.py MONOCLE PROVIDER: PipeWire's cameras that need a kernel with udmabuf: DMA buffers, libcamera

Starts itself in the virtual machine of tests/vm/run, with the kernel and the libcamera of Debian 13.
"""
import os
import subprocess
import sys
import tempfile

sys.path.append(sys.path[0] + "/../support")
from checks import TESTS, Checks, at, names, programs, skip
from live_support import EMULATED, picture, wait_until
from pipewire_support import daemon, equal, need_servers, pixels

BINARY, PROVIDER = programs(2)
MACHINE = {**os.environ, "VM_SUITE": "trixie"}


def wait_connected(server, name):
    """Waits until WirePlumber connects a camera: its start takes seconds here."""
    assert wait_until(lambda: pixels(server, "pipewire:" + name)[0] == 0, 20), name


def dma_buffers(c):
    """DMA buffers are mapped and read in place, or copied if there are few; a memory for each plane."""
    c.check(os.path.exists("/dev/udmabuf"), "the provider has no driver")
    with daemon() as server:
        server.provide("usual")
        wait_connected(server, "usual")
        for i, more in enumerate(((), ("pad=32", "start=64"), ("planes",), ("buffers=2",))):
            raw = at("frame.raw")
            camera = server.provide("dma%d" % i, "nv12", "70x46", "10", "dma", "dump=" + raw, *more)
            code, _, seen, err = pixels(server, "pipewire:dma%d" % i)
            expected = pixels(server, "raw:" + raw, "--size", "70x46", "--pixel-format", "nv12")[2]
            equal(c, code, 0, more, err)
            c.check(seen and seen == expected, "pixels", more)
            server.remove(camera)


def libcamera(c):
    """A camera of libcamera, which PipeWire reads: eight bars, which move."""
    root = os.environ["PIPEWIRE_ROOT"]
    for folder in "/dev", "/proc", "/sys", "/run", tempfile.gettempdir():
        os.makedirs(root + folder, exist_ok=True)
        subprocess.run(["mount", "--rbind", folder, root + folder], check=True)
    files = (root + "/usr/share/libcamera/pipeline/virtual/virtual.yaml",
             '"Virtual0":\n  supported_formats:\n  - {width: 640, height: 360, frame_rates: [30, 30]}\n'
             '  test_pattern: "bars"\n'), (
            at("config", "pipewire", "pipewire.conf.d", "camera.conf"),
            "context.objects = [ { factory = spa-node-factory args = { factory.name = api.libcamera.source\n"
            "  node.name = bars node.description = Bars media.class = Video/Source media.role = Camera\n"
            "  api.libcamera.path = Virtual0 } } ]\n")
    for name, text in files:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w") as file:
            file.write(text)
    with daemon(root) as server:
        server.serial("bars")
        wait_connected(server, "bars")
        code, start, first, err = pixels(server, "pipewire:bars")
        equal(c, (code, start.get("width"), start.get("height"), start.get("pixel_format")), (0, 640, 360, "nv12"), err)
        rows = picture(at("picture.png"))
        row, middle = rows[:640 * 3], rows[180 * 640 * 3:181 * 640 * 3]
        bars = {tuple(value > 127 for value in row[i:i + 3]) for i in range(0, len(row), 3)}
        c.check(row == middle and len(bars) == 8, bars)
        second = pixels(server, "pipewire:bars")[2]
        c.check(first and second and first != second, "the bars stand still")


if EMULATED:
    sys.exit(Checks().run(dma_buffers, libcamera))
need_servers()
where = subprocess.run([os.path.join(TESTS, "vm", "setup"), "where"], env=MACHINE, stdout=subprocess.PIPE, text=True)
if where.returncode != 0:
    skip("no virtual machine")
MACHINE["PIPEWIRE_ROOT"] = where.stdout.splitlines()[2]
vm = [os.path.join(TESTS, "vm", "run"), "--mod", "v4l2loopback", "--cpus", "2", "--timeout", "900", "--"]
sys.exit(subprocess.run([*vm, sys.executable, "-E", os.path.abspath(__file__), BINARY, PROVIDER, *names],
                        env=MACHINE).returncode)
