"""drivers_signal.py: checks of cameras that lose their signal, their node or their rights, with real drivers

Checks of test_drivers.py, in its machine. tests/command/live/test_played_faults.py has more faults, played.
"""
import os
import signal
import subprocess
import sys

from checks import at, slow
from live_support import Live, environment, y4m_pictures

BINARY = os.path.abspath(sys.argv[1])
NOBODY = 65534
DRIVER = "/sys/bus/platform/drivers/vivid/"


def live(source, *args, **more):
    return Live(BINARY, at(), source, "--headless", "-p", "cpu", "-n", "100000", *args, **more)


def end(c, run, what):
    """Ends a run as Ctrl-C does. Returns its summary and its standard error."""
    run.process.send_signal(signal.SIGINT)
    code, last, errors = run.wait_end()
    print("%s: said %r" % (what, errors), flush=True)
    c.check(code == 130, what, code, errors)
    return last, errors


def in_trouble(run, word):
    return run.wait(lambda e: word in e.get("trouble", ""), since=len(run.events))


def well_again(run, outages):
    """Waits until the outage is over and new frames arrive."""
    state = run.wait(lambda e: e.get("trouble") == "" and e.get("outages") == outages, since=len(run.events))
    return run.wait(lambda e: e.get("frames", 0) > state["frames"] + 3, since=len(run.events))


@slow
def dead_writer(c):
    """The writer of v4l2loopback dies without notice; with exclusive_caps the device is no camera then."""
    for node in ("/dev/video10", "/dev/video11"):
        writer = live("pattern:320x240@10", "--virtual-camera", node)
        run = live("camera:" + node)
        writer.process.kill()
        in_trouble(run, "reconnecting")
        again = live("pattern:320x240@10", "--virtual-camera", node)
        well_again(run, 1)
        end(c, run, node)
        end(c, again, "the writer of " + node)


def plug(word):
    with open(DRIVER + word, "w") as file:
        file.write("vivid.0")


@slow
def permission(c):
    """A node that the user may not open: at the start, and when a camera returns before its rights are set."""
    def as_nobody():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    nodes = ["/dev/" + name for name in os.listdir("/dev") if name.startswith("video")]
    for node in nodes:
        os.chmod(node, 0o600)
    for source in ["camera:/dev/video0"], []:  # the default is the pattern only if there is no camera
        done = subprocess.run([BINARY, "live", *source, "--headless", "-n", "1"], preexec_fn=as_nobody,
                              env=environment(), stderr=subprocess.PIPE, text=True)
        c.check(done.returncode == 3 and 'group video' in done.stderr and done.stderr.count("\n") == 1, done)
    os.chmod("/dev/video0", 0o666)
    run = live("camera:/dev/video0", "-s", "320x180", limit=as_nobody)
    plug("unbind")
    in_trouble(run, "reconnecting")
    plug("bind")
    os.chmod("/dev/video0", 0o600)
    in_trouble(run, "Permission denied")
    os.chmod("/dev/video0", 0o666)
    well_again(run, 1)
    end(c, run, "permission")
    for node in nodes:
        os.chmod(node, 0o666)


def set_camera(node, setting):
    subprocess.run(["v4l2-ctl", "-d", node, "-c", setting], check=True)


def ask_camera(node, question):
    return subprocess.run(["v4l2-ctl", "-d", node, question], stdout=subprocess.PIPE, check=True, text=True).stdout


@slow
def grabber(c):
    """The signal of a grabber changes its size, its colours, its size: the recording and the virtual camera keep their
    size. The frames are scaled because the disk of the machine is small."""
    def hdmi(setting):
        set_camera("/dev/video20", setting)

    def scaled(shape):
        return shape[0] // 4, shape[1] // 4

    selected, small, wide = "dv_timings_signal_mode=4", "dv_timings=0", "dv_timings=2"
    hdmi(selected), hdmi(small)
    run = live("camera:/dev/video20", "--pixel-format", "yuyv", "-f", "scale=factor=0.25", "--record", "grab.y4m",
               "--virtual-camera", "/dev/video10")
    start = run.events[0]
    c.check((start["width"], start["height"]) == (640, 480), "its own size", start)
    shapes, outages = [(640, 480, "601")], 0
    for setting in (wide, "colorspace=1", small):
        since = len(run.events)
        hdmi(setting)
        now = run.wait(lambda e: e["event"] == "reshaped", since=since)
        outages += 1
        state = well_again(run, outages)
        shapes.append((now["width"], now["height"], now["matrix"]))
        run.wait(lambda e: e.get("virtual_camera") and e["virtual_camera"]["sent"] > state["virtual_camera"]["sent"],
                 since=len(run.events))
        fed = ask_camera("/dev/video10", "--get-fmt-video")
        c.check("%d/%d" % scaled(shapes[0]) in fed, "the virtual camera's size", shapes[-1], fed)
    last, errors = end(c, run, "grabber")
    c.check(shapes == [(640, 480, "601"), (720, 480, "601"), (720, 480, "709"), (640, 480, "601")], shapes)
    with open(at("grab.y4m"), "rb") as file:
        data = file.read()
    c.check(data.startswith(b"YUV4MPEG2 W%d H%d " % scaled(shapes[0])), data[:40])
    c.check(len(y4m_pictures(data)) >= last["frames"] and errors.count("the outputs stay 160x120") == 1, last, errors)


@slow
def television(c):
    """The TV standard of a grabber changes, and with it the size."""
    selected, ntsc, pal = "standard_signal_mode=4", "standard=0", "standard=4"
    set_camera("/dev/video21", selected), set_camera("/dev/video21", pal)
    run = live("camera:/dev/video21", "--pixel-format", "yuyv")
    sizes = [(run.events[0]["width"], run.events[0]["height"])]
    for outages, setting in enumerate((ntsc, pal), 1):
        since = len(run.events)
        set_camera("/dev/video21", setting)
        now = run.wait(lambda e: e["event"] == "reshaped", since=since)
        well_again(run, outages)
        sizes.append((now["width"], now["height"]))
    end(c, run, "television")
    c.check(sizes == [(720, 576), (720, 480), (720, 576)], sizes)
