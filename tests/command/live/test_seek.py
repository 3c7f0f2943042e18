#!/usr/bin/env python3
"""test_seek.py MONOCLE: pause, seek and step in films and videos, over the control socket"""
import os
import struct
import sys
import time
import zlib

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, slow
from live_support import Control, Live, picture, png, run, wait_until, y4m
from video_support import ffmpeg, need_ffmpeg

BINARY, = programs(1)
need_ffmpeg()
FRAMES, LEVEL = 50, 5  # the pixels of frame i have the value 5 i


def film(frames=FRAMES):
    """Writes film.y4m: grey frames at 25 per second."""
    with open(at("film.y4m"), "wb") as file:
        file.write(b"YUV4MPEG2 W32 H24 F25:1 Ip Cmono XCOLORRANGE=FULL\n")
        for i in range(frames):
            file.write(b"FRAME\n" + bytes([LEVEL * i]) * (32 * 24))


def view(name, *args):
    running = Live(BINARY, at(), name, *args, "--headless", "--overwrite", "-p", "cpu", "--socket", at("m"), runs=False)
    client = Control(at("m"))
    client.ask("wait_frame", 1)
    return running, client


def shown(client):
    """Returns the number of the frame on the screen."""
    client.ask("screenshot", at("shot.png"))
    with open(at("shot.png"), "rb") as file:
        data = file.read()
    place, rows = 8, b""
    while place < len(data):  # chunks: size, kind, bytes, checksum
        size, = struct.unpack(">I", data[place:place + 4])
        rows += data[place + 8:place + 8 + size] if data[place + 4:place + 8] == b"IDAT" else b""
        place += size + 12
    return round(zlib.decompress(rows)[1] / LEVEL)  # no filter changes the first pixel


def at_frame(c, client, number, *what):
    position = client.get("position")
    c.check(abs(position * 25 - number) < 0.02, *what, "position", position)
    frame = shown(client)
    c.check(frame == number, *what, "frame", frame, "not", number)


def end(c, running, client):
    client.ask("quit")
    client.close()
    code, last, err = running.wait_end()
    c.check(code == 0 and err == "", code, err)
    return last


def seek(c):
    """Seeks and steps show exactly the frame, in every kind of source that can seek."""
    check_seeks(c, "film.y4m", "film.mp4")


@slow
def seek_in_others(c):
    check_seeks(c, "film.mkv", "film.raw")


def check_seeks(c, *names):
    film()
    ffmpeg("-i", "film.y4m", "-c:v", "ffv1", "film.mkv", "-c:v", "libx264", "-g", "12", "-crf", "5", "-pix_fmt",
           "yuv420p", "film.mp4")
    with open(at("film.y4m"), "rb") as file:
        raw = file.read().split(b"FRAME\n")[1:]
    with open(at("film.raw"), "wb") as file:
        file.write(b"".join(raw))
    for name in names:
        args = ["--size", "32x24", "--pixel-format", "grey", "--rate", "25", "--range", "full"]
        args = args if name == "film.raw" else []
        running, client = view(name, *args)
        c.check(abs(client.get("duration") - 2) < 0.03, name, client.get("duration"))
        client.set("paused", True)
        whole = name in ("film.y4m", "film.mkv")  # each seek in a video starts ffmpeg
        for seconds, number in ((1, 25), (0.4, 10), (0.05, 1), (-3, 0), (1e9, FRAMES - 1))[2 * (not whole):]:
            client.set("position", seconds)
            at_frame(c, client, number, name, "seek to", seconds)
        for action, number in (("step", 49), ("step-back", 48), ("step-back", 47), ("step", 48), ("rewind", 0),
                               ("step-back", 0), ("step", 1), ("forward", 49))[:8 if whole else 2]:
            client.key(action)
            at_frame(c, client, number, name, action)
        client.set("position", "1.2")
        client.set("paused", "off")
        c.check(wait_until(lambda: client.get("position") > 1.3), name, "goes on")
        client.key("step")
        c.check(client.get("paused"), name, "a step pauses")
        end(c, running, client)


def beyond(c):
    """A seek beyond the end stays at the last frame, frozen; Space then begins at the start. Playing to the end ends
    the run. A loop goes on."""
    check_beyond(c, ("film.y4m", True))
    ffmpeg("-i", "film.y4m", "-c:v", "ffv1", "-f", "matroska", "-live", "1", "endless.mkv")
    running, client = view("endless.mkv")
    c.check(client.get("duration") is None, "the duration is unknown", client.get("duration"))
    client.ask("key", "forward")
    c.check(wait_until(lambda: client.get("paused")), "a seek beyond an unknown end")
    client.key("freeze")
    c.check(client.get("position") < 1 and not client.get("paused"), "again", client.get("position"))
    end(c, running, client)
    running, client = view("film.y4m", "--loop")
    client.key("forward")
    c.check(wait_until(lambda: client.get("position") < 1) and not client.get("paused"), "it repeats")
    end(c, running, client)


@slow
def beyond_videos(c):
    check_beyond(c, ("film.mkv", True), ("film.gif", False))


def check_beyond(c, *rows):
    film()
    ffmpeg("-i", "film.y4m", "-c:v", "ffv1", "film.mkv")
    ffmpeg("-i", "film.y4m", "film.gif")
    for name, exact in rows:
        running, client = view(name)
        client.key("forward")
        c.check(client.get("paused"), name, "is not frozen")
        if exact:
            at_frame(c, client, FRAMES - 1, name, "Right")
        client.key("forward")
        client.ask_all(*(("get_property", "position"),) * 9)  # the view goes on
        c.check(client.get("paused") and client.get("position") > 1.8, name, "Right again", client.get("position"))
        client.key("freeze")
        c.check(client.get("position") < 1 and not client.get("paused"), name, "again", client.get("position"))
        client.set("position", 1.8)
        client.close()
        code, _, err = running.wait_end()
        c.check(code == 0 and err == "", name, code, err)


def messages(c):
    """The keys say the place in the film."""
    with open(at("film.y4m"), "wb") as file:
        file.write(y4m(32, 24, "420jpeg", 300, "25:1"))
    running, client = view("film.y4m")
    client.set("paused", True)
    for key, message in (("step", " of 0:12.0"), ("forward", " of 0:12.0"), ("forward", "0:1"),
                         ("forward", "0:12.0 of 0:12.0"), ("step", "0:12.0 of"), ("rewind", "0:07.0 of 0:12.0"),
                         ("step-back", "0:06.9 of 0:12.0")):
        client.ask("key", key)
        c.check(message in client.get("message") and client.get("paused"), key, client.get("message"))
        client.ask("wait_frame")
    end(c, running, client)


def pause(c):
    """During a pause, a video waits: afterwards no frame is missing."""
    film(25)
    ffmpeg("-i", "film.y4m", "-c:v", "ffv1", "film.mkv")
    for name in ("film.y4m", "film.mkv"):
        running, client = view(name)
        client.set("paused", True)
        position, frames = client.get("position"), client.get("captured")
        time.sleep(0.1)  # some frames long
        c.check((client.get("position"), client.get("captured") - frames) in ((position, 0), (position, 1)), name)
        client.ask("set_property", "paused", False)
        client.close()
        code, last, err = running.wait_end()  # it plays to its end
        c.check(code == 0 and err == "" and last["captured"] == 25, name, code, last["captured"], err)
    running, client = view("film.mkv", "--loop")
    client.set("position", 0.8)
    c.check(wait_until(lambda: client.get("position") < 0.5), "it repeats")
    c.check(end(c, running, client)["captured"] > 5, "frames")


def refusals(c):
    """Sources that cannot seek say so, and go on."""
    running, client = view("pattern:32x24")
    error = client.error("set_property", "position", 1)
    c.check("cannot seek in " in error, error)
    c.check(client.get("position") is None and client.get("duration") is None, client.get("position"))
    client.key("step-back")
    c.check("cannot seek in " in client.get("message") and not client.get("paused"), client.get("message"))
    end(c, running, client)
    png(at("one.png"), 32, 24)
    running, client = view("one.png")
    client.key("step-back")
    c.check("cannot seek in one.png: it is one image" in client.get("message"), client.get("message"))
    end(c, running, client)
    with open(at("odd.y4m"), "wb") as file:
        file.write(b"YUV4MPEG2 W32 H24 F25:1 Ip Cmono\n")
        for i in range(20):
            file.write(b"FRAME I%s\n" % (b"p" * (i + 1)) + bytes(32 * 24))
    running, client = view("odd.y4m", "--loop")
    for wrong in ("x", "nan", "", [1], None):
        c.check(client.error("set_property", "position", wrong) != "", wrong)
    client.set("position", 0.5)
    client.ask("quit")
    client.close()
    code, _, err = running.wait_end()
    c.check(code == 0 and "cannot seek in odd.y4m: its frame headers differ" in err, code, err)


def often(c):
    """A flood of seeks: the last one wins, and nothing is left behind."""
    film()
    ffmpeg("-i", "film.y4m", "-c:v", "ffv1", "film.mkv")
    for name in ("film.y4m", "film.mkv"):
        running, client = view(name, "--loop")
        client.set("paused", True)
        for i in range(30):
            client.ask("set_property", "position", i % 7 / 5)
        client.set("position", 1)
        at_frame(c, client, 25, name, "after many")
        for _ in range(5):
            client.ask("key", "step-back")
        client.ask("wait_frame")
        at_frame(c, client, 20, name, "after quick steps")
        end(c, running, client)


MOMENT = """//!SUMMARY the moment of the frame
//!KIND point
INLINE pixel filter_moment(pixel p, int x, int y, arguments args)
{
    p.r = FRAME(args) % 256;
    p.g = TIME(args) / 20 % 256;
    p.b = TIME(args) / 20 / 256;
    return p;
}
"""


def moments(c):
    """Filters get the number and the time that a frame has in its film: after a seek, in the next round, and with
    intervals that differ."""
    film()
    ffmpeg("-i", "film.y4m", "-vf", "select='not(mod(n,3))+gt(n,40)',setpts=PTS-STARTPTS", "-fps_mode", "passthrough",
           "-c:v", "ffv1", "vfr.mkv")
    os.mkdir(at("filters"))
    with open(at("filters", "moment.cl"), "w", encoding="utf-8") as file:
        file.write(MOMENT)
    code, _, err = run(BINARY, "live", "vfr.mkv", "--headless", "--fast", "-p", "cpu", "-f", "moment", "--filters",
                       at("filters"), "--screenshot", "last.png", cwd=at())
    red, green, blue = picture(at("last.png"))[:3]
    c.check(code == 0 and (red, green, blue) == (22, 98, 0), code, err, red, green, blue)
    running, client = view("film.y4m", "-f", "moment", "--filters", at("filters"), "--loop")
    client.set("paused", True)
    for number in 40, 3, 49, 0:
        client.set("position", number / 25)
        client.ask("wait_frame")
        client.ask("screenshot", at("shot.png"))
        red, green, blue = picture(at("shot.png"))[:3]
        c.check((red, green + 256 * blue) == (number, 2 * number), number, (red, green, blue))
    end(c, running, client)


sys.exit(Checks().run(moments, seek, seek_in_others, beyond, beyond_videos, messages, pause, refusals, often))
