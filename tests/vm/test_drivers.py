#!/usr/bin/env python3
"""test_drivers.py MONOCLE TEST-CAMERA: what only real drivers show: vivid, uvcvideo, v4l2loopback

Starts itself in the virtual machine of tests/vm/run, once for all its checks. /dev/video0, 1 and 2 are the same vivid
camera: single-planar, multi-planar, and with physically contiguous memory. /dev/video20 is HDMI, 21 a TV, 10 and 11
v4l2loopback, and USB cameras have the numbers from 3 on.
"""
import os
import subprocess
import sys
import tempfile

sys.path.append(sys.path[0] + "/../support")
from checks import TESTS, Checks, at, names, programs
from live_support import EMULATED, need_tools
import drivers_loopback as loop
import drivers_signal as signals
import drivers_usb as usb

BINARY, CAMERA = programs(2)
MODULES = ("vivid n_devs=5 node_types=0x1,0x1,0x1,0x1,0x1 num_inputs=1,1,1,1,1 input_types=0,0,0,3,1 "
           "multiplanar=1,2,1,1,1 allocators=0,0,1,0,0 ccs_cap_mode=-1,-1,-1,0,0 vid_cap_nr=0,1,2,20,21",
           "v4l2loopback video_nr=10,11 exclusive_caps=0,1", "vhci_hcd", "uvcvideo nodrop=1")


def machine(c):
    """The machine itself: the guest's changes of files are lost, except in shared directories."""
    with open("/usr/monocle-test", "w"):
        pass
    with open(os.path.join(os.environ["PICTURES"], "shared"), "w") as file:
        file.write("shared")
    c.check(os.uname().nodename == "vmguest", os.uname())


def vivid(c):
    """TEST-CAMERA (test_camera.c): the source alone: formats, interfaces, faults, a driver that is taken away."""
    done = subprocess.run([CAMERA], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=at())
    c.check(done.returncode == 0, done.stdout)
    print("\n".join(line for line in done.stdout.splitlines() if " took " in line), flush=True)


def start_guest(folder):
    """Returns the exit status of the guest."""
    for i in range(5):  # complete frames with 4:2:2 and 4:2:0 chroma, and truncated ones
        name = os.path.join(folder, "%d.jpg" % i)
        subprocess.run(["convert", "-size", "640x480", "gradient:red-blue", "-sampling-factor",
                        "4:2:0" if i == 3 else "4:2:2", "-quality", "85", name], check=True)
    for name, part in ("1.jpg", 2), ("2.jpg", 100):
        os.truncate(os.path.join(folder, name), os.path.getsize(os.path.join(folder, name)) // part)
    modules = [word for module in MODULES for word in ("--mod", module)]
    vm = [os.path.join(TESTS, "vm", "run"), *modules, "--cpus", "2", "--timeout", "900", "--rw", folder, "--"]
    done = subprocess.run([*vm, sys.executable, "-E", os.path.abspath(__file__), BINARY, CAMERA, *names],
                          env={**os.environ, "PICTURES": folder})
    return done.returncode


def shared(c):
    """The host's view of the check `machine`."""
    c.check(os.path.exists(os.path.join(FOLDER, "shared")), "a shared directory")
    c.check(not os.path.exists("/usr/monocle-test"), "a file written by the guest is left")


if EMULATED:
    sys.exit(Checks().run(machine, vivid, usb.usb, usb.usb_pulled, usb.usb_unread, loop.loopback,
                          usb.usb_stalled, usb.usb_bayer, signals.dead_writer, signals.permission, signals.grabber,
                          signals.television, loop.fixed_formats, loop.read_by_gst, loop.late_reader_and_killed_writer,
                          loop.wrong_nodes, loop.exclusive, loop.on_demand, loop.ten_sizes))
need_tools()
with tempfile.TemporaryDirectory() as FOLDER:
    code = start_guest(FOLDER)
    if code == 0 and (not names or machine.__name__ in names):
        code = Checks().run(shared, only=["shared"])
sys.exit(code)
