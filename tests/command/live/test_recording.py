#!/usr/bin/env python3
"""test_recording.py MONOCLE: recordings as MP4, MOV, MKV and WebM through the installed ffmpeg; faults of ffmpeg"""
import json
import os
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from fractions import Fraction

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, slow
from live_support import Control, Live, environment, picture, run, wait_until, y4m_pictures
from video_support import children, ffmpeg, list_encoders_once, need_ffmpeg

BINARY, = programs(1)
need_ffmpeg()
list_encoders_once()
RUN = ["-p", "cpu", "--headless"]


def record(name, *args, source="pattern:160x120@30", frames=8, **env):
    """Returns the exit code and standard error of a run that records every frame."""
    code, _, err = run(BINARY, "live", source, *RUN, "--frames", str(frames), "--record", name, *args, cwd=at(), **env)
    return code, err


def probe(name):
    """Returns the container's names and the video stream, with its number of frames counted."""
    out = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json",
                          "file:" + at(name)], check=True, stdout=subprocess.PIPE, timeout=60).stdout
    answer = json.loads(out)
    stream, = answer["streams"]
    return answer["format"]["format_name"], stream


def frames_of(name):
    """Returns the number of frames."""
    if not name.endswith(".y4m"):
        return int(probe(name)[1]["nb_read_frames"])
    with open(at(name), "rb") as file:
        return len(y4m_pictures(file.read()))


def decoded(name, size):
    """Returns the frames as 4:4:4 planes."""
    out = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", "file:" + at(name), "-f", "rawvideo", "-pix_fmt",
                          "yuv444p", "-"], check=True, stdout=subprocess.PIPE, timeout=60).stdout
    return [out[i:i + size] for i in range(0, len(out), size)]


def command_of(process):
    with open("/proc/%d/cmdline" % process, encoding="utf-8") as file:
        return file.read()


def difference(a, b):
    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)


def formats(c):
    """Each format has all frames, with the size, rate and colour of the view, and nearly its pixels."""
    check_formats(c, ("a.mp4", "mp4", "h264"), ("-a.webm", "webm", "vp9"))


@slow
def other_formats(c):
    check_formats(c, ("a.MOV", "mov", "h264"), ("a.mkv", "matroska", "h264"))


def check_formats(c, *rows):
    c.check(record("want.y4m", "-f", "sepia") == (0, ""), "Y4M")
    with open(at("want.y4m"), "rb") as file:
        want = y4m_pictures(file.read())
    for name, container, codec in rows:
        code, err = record(name, "-f", "sepia", "--record-quality", "95")
        c.check((code, err) == (0, ""), name, code, err)
        names, stream = probe(name)
        facts = [stream[k] for k in ("codec_name", "width", "height", "r_frame_rate", "pix_fmt", "color_range",
                                     "color_space", "nb_read_frames")]
        c.check(container in names.split(","), name, names)
        c.check(facts == [codec, 160, 120, "30/1", "yuv420p", "tv", "smpte170m", "8"], name, facts)
        got = decoded(name, len(want[0]))
        for i in (1, 6):
            far = difference(got[i], want[i])
            c.check(far < 3, name, "frame", i, "differs by", far)
            c.check(far < difference(got[i], want[7 - i]), name, "frame", i, "is another one")
        c.check(stat.S_IMODE(os.stat(at(name)).st_mode) == stat.S_IMODE(os.stat(at("want.y4m")).st_mode), "the rights")
    c.check(sorted(os.listdir(at())) == sorted([*(row[0] for row in rows), "want.y4m"]), os.listdir(at()))


def shapes(c):
    """Odd sizes keep all pixels, rates are exact, HD has its matrix, and the quality decides the size."""
    for name, source, want in (("a.mp4", "pattern:35x21@29.97", [35, 21, "30000/1001", "yuv444p", "smpte170m"]),
                               ("c.mp4", "pattern:36x21", [36, 21, "30/1", "yuv444p", "smpte170m"]),
                               ("a.webm", "pattern:35x21", [35, 21, "30/1", "yuv420p", "smpte170m"]),
                               ("b.mp4", "pattern:1280x720@25", [1280, 720, "25/1", "yuv420p", "bt709"])):
        code, err = record(name, source=source, frames=3)
        c.check((code, err) == (0, ""), name, code, err)
        stream = probe(name)[1]
        facts = [stream[k] for k in ("width", "height", "r_frame_rate", "pix_fmt", "color_space")]
        c.check(facts == want and stream["nb_read_frames"] == "3", name, facts)
    sizes = []
    for quality in ("1", "100"):
        c.check(record("q.mp4", "--overwrite", "--record-quality", quality)[0] == 0, quality)
        sizes.append(os.path.getsize(at("q.mp4")))
    c.check(sizes == sorted(set(sizes)), "bytes for each quality", sizes)
    for name in "r.y4m", "r.gif":
        code, err = record(name, "--record-quality", "50")
        c.check(code == 2 and ".mp4, .mov" in err and err.count("\n") == 1, name, code, err)


def webp(name):
    """Returns width, height, and the duration of each frame in milliseconds, of an animated WebP."""
    with open(at(name), "rb") as file:
        data = file.read()
    assert data[:4] + data[8:16] == b"RIFFWEBPVP8X" and struct.unpack("<I", data[4:8])[0] + 8 == len(data), data[:32]
    place, durations = 12, []
    while place < len(data):
        word, size = struct.unpack("<4sI", data[place:place + 8])
        if word == b"ANMF":
            durations.append(int.from_bytes(data[place + 20:place + 23], "little"))
        place += 8 + size + size % 2
    return tuple(int.from_bytes(data[i:i + 3], "little") + 1 for i in (24, 27)) + (durations,)


def animations(c):
    """GIF and WebP have at most 15 frames per second and a width of 640. The key g makes a GIF of at most 10 s."""
    for name, source, size in (("a.gif", "pattern:800x40@30", (640, 32)), ("b.gif", "pattern:35x21@11.988", (35, 21))):
        code, err = record(name, "-f", "sepia", source=source, frames=10)
        c.check((code, err) == (0, ""), name, code, err)
        names, stream = probe(name)
        got = names, (stream["width"], stream["height"]), stream["nb_read_frames"]
        c.check(got == ("gif", size, "5" if name == "a.gif" else "10"), got)
        rate = float(Fraction(stream["r_frame_rate"]))  # a GIF has whole hundredths of a second
        c.check(abs(rate - (15 if name == "a.gif" else 12)) < 0.2, name, rate)
    code, err = record("a.webp", "-f", "sepia", source="pattern:800x40@30", frames=10)
    width, height, durations = webp("a.webp")
    c.check((code, err) == (0, "") and (width, height) == (640, 32), code, err, width, height)
    c.check(len(durations) == 5 and all(60 <= ms <= 70 for ms in durations), durations)

    view = Live(BINARY, at(), "pattern:64x48@4", *RUN, "--fast", asks=True)
    client = view.control()
    client.ask("observe_property", 1, "recording")
    client.ask("key", "animation")
    names = [client.event("recording")["data"] for _ in range(3)]
    c.check(names == [None, "monocle-0001.gif", None], names)
    client.ask("set_property", "paused", True)
    client.ask("wait_frame")
    c.check("recorded 10.2 s to monocle-0001.gif" in client.get("message"), client.get("message"))
    client.ask_all(("key", "animation"), ("set_property", "paused", False), ("wait_frame", client.get("frames") + 5),
                   ("set_property", "paused", True), ("key", "animation"), ("wait_frame",))
    client.ask("set_property", "recording", "talk.mkv")
    client.ask_all(("set_property", "paused", False), ("wait_frame", client.get("frames") + 2),
                   ("set_property", "paused", True))
    client.ask("key", "animation")
    c.check(client.get("recording") == "talk.mkv" and "talk.mkv is being recorded" in client.get("message"),
            "a GIF does not end another recording", client.get("message"))
    code, _, err = view.quit()
    c.check((code, err) == (0, ""), code, err)
    c.check(frames_of("monocle-0001.gif") == 41, frames_of("monocle-0001.gif"))
    c.check(frames_of("monocle-0002.gif") >= 5, probe("monocle-0002.gif"))


def transparent(c):
    """Transparent pixels stay transparent, or one warning names the formats in which they do."""
    box = [24 <= x < 48 and 12 <= y < 36 for y in range(48) for x in range(64)]
    planes = b"".join(bytes(red if inside else lime for inside in box)
                      for lime, red in ((145, 81), (54, 90), (34, 240)))
    with open(at("box.y4m"), "wb") as file:
        file.write(b"YUV4MPEG2 W64 H48 F10:1 C444\n" + 4 * (b"FRAME\n" + planes))
    inputs, outputs, names = [], [], ("a.gif", "a.mkv", "a.mov", "a.mp4", "a.webp")
    for number, name in enumerate(names):
        code, err = record(name, "-f", "colorkey=lime:0.3:0", source="box.y4m", frames=4)
        opaque = name == "a.mp4"
        c.check(code == 0 and err.count("monocle:") == opaque == ("%s cannot be transparent" % name in err), name, err)
        if name != "a.webp":  # which ffmpeg cannot read
            inputs += [*(("-c:v", "libvpx-vp9") if name == "a.mkv" else ()), "-i", at(name)]
            outputs += ["-map", str(number), "-f", "rawvideo", "-pix_fmt", "rgba", at(name + ".raw")]
    ffmpeg(*inputs, *outputs)
    for name in names[:-1]:
        with open(at(name + ".raw"), "rb") as file:
            alpha = file.read()[3::4]
        frames = [alpha[i:i + 64 * 48] for i in range(0, len(alpha), 64 * 48)]
        want = 255 * (name == "a.mp4")
        c.check(len(frames) == 4 and all(f[24 * 64 + 32] == 255 and f[2 * 64 + 2] == want for f in frames), name,
                [(f[24 * 64 + 32], f[2 * 64 + 2]) for f in frames])
    with open(at("a.webp"), "rb") as file:
        head = file.read(21)
    c.check(head[12:16] == b"VP8X" and head[20] & 16, head)
    code, err = record("b.webm", frames=4)
    c.check("alpha_mode" not in probe("b.webm")[1].get("tags", {}), "an opaque film")
    with open(at("one.y4m"), "wb") as file:
        file.write(b"YUV4MPEG2 W64 H48 F30:1 C444\nFRAME\n" + planes)
    code, err = record("c.gif", "-f", "colorkey=lime:0.3:0", source="one.y4m", frames=1)
    c.check(code == 0 and frames_of("c.gif") == 1, "one frame at twice the rate of an animation", err)


def next_names(c):
    """After --record talk.mp4, the key r records to the next free name. The property recording takes a new name."""
    with open(at("talk-2.y4m"), "w", encoding="utf-8") as file:
        file.write("older")
    view = Live(BINARY, at(), "pattern:64x48@50", *RUN, "--record", "talk.y4m", asks=True)
    client = view.control()

    def recorded(name, begin, end):
        begin()
        c.check(client.get("recording") == name, client.get("recording"))
        c.check(wait_until(lambda: client.get("message") == "recording " + name), client.get("message"))
        client.ask("wait_frame", client.get("frames") + 2)
        end()
        client.ask("wait_frame")
        c.check(client.get("recording") is None and "to %s" % name in client.get("message"), client.get("message"))
        c.check(frames_of(name) >= 2, name)

    def press():
        client.ask("key", "record")

    client.ask("wait_frame", 5)
    error = client.error("set_property", "recording", "talk.y4m")
    c.check("talk.y4m exists" in error and client.get("recording") == "talk.y4m", error)
    press()
    client.ask("wait_frame")  # the recording has ended
    recorded("talk-3.y4m", press, press)
    recorded("x.mkv", lambda: client.ask("set_property", "recording", "x.mkv"), press)
    recorded("x-2.mkv", press, lambda: client.ask("set_property", "recording", "none"))
    client.ask("set_property", "recording", "none")
    for name, why in (("talk.y4m", "talk.y4m exists; name another file"), ("x.mp3", "x.mp3: monocle records MP4"),
                      ("-", "standard output"), ("/dev/null", "exists"), ("no/x.mp4", "No such file")):
        error = client.error("set_property", "recording", name)
        c.check(why in error and client.get("recording") is None, name, error)
    client.ask("set_property", "recording", "y.y4m")
    c.check(client.get("message") == "recording y.y4m", client.get("message"))
    error = client.error("set_property", "recording", "no/z.y4m")
    c.check("No such file" in error and client.get("recording") == "y.y4m", "a recording goes on", error)
    client.ask("wait_frame", client.get("frames") + 2)
    code, _, err = view.quit()
    c.check(code == 0 and err.count("\n") == 7, code, err)
    c.check(open(at("talk-2.y4m"), encoding="utf-8").read() == "older", "talk-2.y4m")


def keeps_time(c):
    """A view that stops again and again records files that last as long as their recordings, in whole frames."""
    view = Live(BINARY, at(), "pattern:64x48@25", *RUN, "--recording-format", "y4m", asks=True)
    client = view.control()
    def started():
        return not (client.get("message") or "").startswith("starting")

    for name, rate, begin, end in (("monocle-0001.y4m", 25, ("key", "record"), ("key", "record")),
                                   ("a.mp4", 25, ("set_property", "recording", "a.mp4"), ("key", "record")),
                                   ("monocle-0001.gif", 15, ("key", "animation"), ("key", "animation"))):
        before = time.monotonic()
        client.ask(*begin)
        c.check(wait_until(started), client.get("message"))
        client.ask("wait_frame", client.get("frames") + 1)  # this frame or the one before is the first recorded one
        first = time.monotonic()
        for seconds in 0.1, 0.4, 0.2:
            view.process.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            view.process.send_signal(signal.SIGCONT)
            last = time.monotonic()  # before the reply, which may be late
            client.ask("wait_frame", client.get("frames") + 2)
        client.ask(*end)
        after = time.monotonic()
        client.ask("wait_frame")
        seconds = frames_of(name) / rate
        said = client.get("message")
        c.check("recorded %.1f s to %s" % (seconds, name) in said or rate == 15, said, seconds)  # a GIF: fewer frames
        c.check(last - first - 1.5 / rate < seconds < after - before + 1.5 / rate, name, "lasts", seconds, "not",
                last - first, "to", after - before)
    code, _, err = view.quit()
    c.check((code, err) == (0, ""), code, err)


def goes_on(c):
    """The view goes on while ffmpeg writes the end of a recording. Its client waits for the file."""
    with open(at("ffmpeg"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n%s \"$@\" || exit\ncase \"$*\" in *pipe:0*) cat %s;; esac\n" %
                   (shutil.which("ffmpeg"), at("hold")))
    os.chmod(at("ffmpeg"), 0o755)
    os.mkfifo(at("hold"))
    view = Live(BINARY, at(), "pattern:64x48@50", *RUN, asks=True, PATH=at() + ":" + os.environ["PATH"])
    client, other = view.control(), Control(view.place_of_socket)

    def records(name):
        c.check(wait_until(lambda: other.get("message") == "recording " + name), other.get("message"))
        other.ask("wait_frame", other.get("frames") + 5)

    client.ask("set_property", "recording", "talk.mp4")
    records("talk.mp4")
    client.send("set_property", "recording", "none")
    c.check(wait_until(lambda: other.get("recording") is None), "it does not end")
    other.ask("wait_frame", other.get("frames") + 5)
    c.check(other.get("message") == "finishing talk.mp4",
            other.get("message"))
    c.check("exists" in other.error("set_property", "recording", "talk.mp4"), "talk.mp4 again")
    third = Control(view.place_of_socket)
    third.send("set_property", "recording", "x.mp4")
    records("x.mp4")  # beside one that ends
    other.send("set_property", "recording", "none")
    with open(at("hold"), "w"):  # ffmpeg may end now
        os.unlink(at("hold"))
    open(at("hold"), "w").close()
    c.check(client.reply()["error"] == "success" and frames_of("talk.mp4") >= 5, "talk.mp4")
    c.check(third.reply()["error"] == other.reply()["error"] == "success", "x.mp4")
    c.check(frames_of("x.mp4") >= 5, "x.mp4")
    client.ask("set_property", "recording", "y.mp4")
    records("y.mp4")
    ffmpeg, = [child for child in children(view.process.pid) if "pipe:0" in command_of(child)]
    client.send("set_property", "recording", "none")
    os.kill(ffmpeg, signal.SIGKILL)
    c.check("ffmpeg was killed by signal 9" in client.reply()["error"], "a killed ffmpeg")
    client.ask("set_property", "paused", True)
    client.ask("set_property", "recording", "z.webp")
    client.ask("set_property", "recording", "none")
    c.check("nothing recorded to z.webp" in client.get("message") and not os.path.exists(at("z.webp")), "no frame")
    client.ask("set_property", "paused", False)
    client.ask("set_property", "recording", "w.mp4")
    records("w.mp4")
    client.send("set_property", "recording", "none")
    other.ask("quit")
    c.check(client.reply()["error"] == "success" and probe("w.mp4"), "the run waits for the end of a recording")
    code, _, err = view.wait_end()
    c.check(code == 1 and err.count("\n") == 3 and "ffmpeg was killed by signal 9" in err, code, err)


def new_size(c):
    """If the size of the frames changes, the recording keeps its size. A signal ends it completely."""
    view = Live(BINARY, at(), "pattern:64x48@50", *RUN, "--record", "film.mkv", asks=True)
    client = view.control()
    client.ask("wait_frame", 3)
    client.set("chain", "scale=32:24")
    c.check((client.get("recording"), client.get("size")) == ("film.mkv", "64x48"), client.get("size"))
    c.check("keeps its size" in client.error("set_property", "output_size", "32x24"), "the size of a recording")
    client.set("chain", "crop=16:48")
    client.ask("wait_frame", client.get("frames") + 3)
    client.ask("screenshot", at("bars.png"))
    before = client.get("frames")
    client.set("recording", "next.y4m")
    client.ask("wait_frame", client.get("frames") + 3)
    client.set("recording", "none")
    c.check(wait_until(lambda: client.get("size") == "16x48"), "without a recording", client.get("size"))
    client.set("output_size", "32x32"), client.set("output_fit", "fill")
    client.ask("wait_frame", client.get("frames") + 2)
    client.ask("screenshot", at("filled.png"))
    view.process.send_signal(signal.SIGTERM)
    code, _, err = view.wait_end()
    c.check(code == 143 and err.count("the outputs stay 64x48") == 1, code, err)
    stream = probe("film.mkv")[1]
    c.check((stream["width"], stream["height"]) == (64, 48) and int(stream["nb_read_frames"]) >= before - 1, stream)
    with open(at("next.y4m"), "rb") as file:
        c.check(len(y4m_pictures(file.read())) >= 3, "the next recording")
    bars, filled = picture(at("bars.png")), picture(at("filled.png"))
    black = [bars[3 * (64 * y + x):3 * (64 * y + x) + 3] == bytes(3) for y in range(48)
             for x in (*range(24), *range(40, 64))]
    c.check(len(bars) == 3 * 64 * 48 and all(black) and any(bars), "the bars", len(bars), black.count(False))
    c.check(len(filled) == 3 * 32 * 32 and any(filled[:6]) and any(filled[-6:]), "filled", len(filled))
    c.check(sorted(os.listdir(at())) == ["bars.png", "filled.png", "film.mkv", "next.y4m"], os.listdir(at()))


def late_ffmpeg(c):
    """ffmpeg starts late, when another file has the name of the recording: that file stays."""
    with open(at("ffmpeg"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\ncase \"$*\" in *pipe:0*) read line <%s;; esac\nexec %s \"$@\"\n" %
                   (at("hold"), shutil.which("ffmpeg")))
    os.chmod(at("ffmpeg"), 0o755)
    os.mkfifo(at("hold"))
    process = subprocess.Popen([BINARY, "live", "noise:64x48@50", *RUN, "-n", "60", "--record", "a.mp4"], cwd=at(),
                               env=environment(PATH=at() + ":" + os.environ["PATH"]), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    c.check(wait_until(lambda: os.path.exists(at("a.mp4"))), "the file is made before ffmpeg starts")
    os.unlink(at("a.mp4"))
    with open(at("a.mp4"), "w", encoding="utf-8") as file:
        file.write("of another program")
    with open(at("hold"), "w", encoding="utf-8") as hold:  # ffmpeg may go on now
        hold.write("\n")
    _, err = process.communicate(timeout=60)
    with open(at("a.mp4"), encoding="utf-8", errors="replace") as file:
        c.check(process.returncode in (1, 3) and err.count("\n") == 1 and file.read() == "of another program",
                process.returncode, err)


def slow_start(c):
    """While ffmpeg does not start, frames are shown and requests are served. A second request, or the end, ends it."""
    script("ffmpeg", 'PATH=${PATH#*:}\ncase "$*" in *pipe:0*) read line <%s;; esac\nexec ffmpeg "$@"\n' % at("hold"))
    os.mkfifo(at("hold"))
    path = at("bin") + ":" + os.environ["PATH"]

    def release():
        try:
            hold = os.open(at("hold"), os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # no ffmpeg waits
            return False
        os.write(hold, b"\n")
        os.close(hold)
        return True

    def started(name):
        release()
        return other.get("message") == "recording " + name

    view = Live(BINARY, at(), "pattern:64x48@50", *RUN, asks=True, PATH=path)
    client, other = view.control(), Control(view.place_of_socket)
    client.send("set_property", "recording", "a.mp4")
    c.check(wait_until(lambda: other.get("message") == "starting to record a.mp4"), other.get("message"))
    begun = other.get("frames")
    other.ask("wait_frame", begun + 5)
    third = Control(view.place_of_socket)
    third.send("set_property", "recording", "a-2.mp4")  # it follows without a gap
    c.check(wait_until(lambda: other.get("recording") == "a-2.mp4"), other.get("recording"))
    c.check(wait_until(lambda: started("a-2.mp4")), other.get("message"))
    c.check(client.reply()["error"] == third.reply()["error"] == "success", "two starts")
    now = other.get("frames")
    other.ask("wait_frame", now + 5)
    client.ask("set_property", "recording", "none")
    frames = [frames_of(name) for name in ("a.mp4", "a-2.mp4")]
    c.check(min(frames) >= 5 - 1 and now + 5 - begun - 2 <= sum(frames), frames, "from", begun, "to", now + 5)
    client.send("set_property", "recording", "b.mp4")
    c.check(wait_until(lambda: other.get("recording") == "b.mp4"), other.get("recording"))
    other.ask("set_property", "recording", "none")
    c.check(client.reply()["error"] == "success" and "had not started" in other.get("message"), other.get("message"))
    client.send("set_property", "recording", "c.mp4")
    c.check(wait_until(lambda: other.get("recording") == "c.mp4"), other.get("recording"))
    c.check(client.reply()["error"] == "success" and client.get("recording") == "c.mp4", "a slow start")
    code, _, err = view.quit()
    names = sorted(os.listdir(at()))
    c.check(code == 0 and err.count(" is removed\n") == 2 and names == ["a-2.mp4", "a.mp4", "bin", "hold"], err, names)
    view = Live(BINARY, at(), "pattern:64x48@50", *RUN, "--record", "d.mp4", asks=True, PATH=path)
    client = view.control()
    client.ask("wait_frame", 20)
    view.process.send_signal(signal.SIGTERM)
    code, _, err = view.wait_end()
    c.check(code == 143 and "no frame was recorded" in err and not os.path.exists(at("d.mp4")), code, err)
    script("ffmpeg", 'case "$*" in *-encoders) echo " libx264 "; exit;; esac\nread line <%s\nexit 1\n' % at("hold"))
    with subprocess.Popen([BINARY, "live", "pattern:64x48@50", *RUN, "-n", "20", "--record", "e.mp4"], cwd=at(),
                          env=environment(PATH=path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        time.sleep(2.5)  # all frames are shown
        c.check(wait_until(release), "ffmpeg does not start")
        _, err = process.communicate(timeout=60)
    c.check(process.returncode == 1 and "cannot record e.mp4: ffmpeg reports" in err and err.count("\n") == 1, err)


def killed(c):
    """If ffmpeg is killed, the run ends with status 1. An MKV has the frames before. Older files stay."""
    for name in ("a.mkv", "a.mp4"):
        with open(at(name), "w", encoding="utf-8") as file:
            file.write("older")
        view = Live(BINARY, at(), "noise:64x48@50", *RUN, "--record", name, "--overwrite", asks=True)
        victim, = children(view.process.pid)
        c.check(wait_until(lambda: os.path.getsize(at(name.replace(".", "-2."))) > 50000), name, "does not grow")
        os.kill(victim, signal.SIGKILL)
        code, _, err = view.wait_end()
        word = "cannot record more frames to %s: ffmpeg was killed by signal 9" % name
        part = "a.mkv is unchanged; the incomplete file is a-2.mkv" if name == "a.mkv" else ""
        c.check(code == 1 and err.count("\n") == (2 if part else 1) and word in err and part in err, code, err)
        with open(at(name), encoding="utf-8") as file:
            c.check(file.read() == "older", "the older", name)
    c.check(sorted(os.listdir(at())) == ["a-2.mkv", "a.mkv", "a.mp4"], os.listdir(at()))
    c.check(frames_of("a-2.mkv") > 10, "frames of the MKV")


def no_room(c):
    """A full disk ends the run with ffmpeg's reason, and leaves no draft."""
    code, _, err = run("sh", "-c", 'trap "" XFSZ; ulimit -f 64; exec "$@"', "sh", BINARY, "live", "noise:320x240",
                       *RUN, "--frames", "1000", "--record", "a.mp4", cwd=at())
    c.check(code == 1 and "File too large" in err and "to a.mp4: ffmpeg" in err and err.count("\n") == 1, code, err)
    c.check(os.listdir(at()) == [], os.listdir(at()))


def last_bytes(c):
    """A disk that is full at the end, when ffmpeg writes all of a short video: exit code 1, and older files stay."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))

    for name in "a.gif", "b.gif", "c.mkv", "d.mp4":
        older = name != "a.gif"
        if older:
            with open(at(name), "w", encoding="utf-8") as file:
                file.write("older")
        done = subprocess.run([BINARY, "live", "noise:64x48@10", *RUN, "--frames", "3", "--overwrite", "--record",
                               name], cwd=at(), env=environment(), stdin=subprocess.DEVNULL, text=True, timeout=60,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit)
        c.check(done.returncode == 1 and "cannot complete %s: ffmpeg reports: " % name in done.stderr and
                "File too large" in done.stderr, name, done.returncode, done.stderr)
        if older:
            with open(at(name), encoding="utf-8") as file:
                c.check(file.read() == "older", "the older", name)
    c.check(sorted(os.listdir(at())) == ["b.gif", "c-2.mkv", "c.mkv", "d.mp4"], os.listdir(at()))


def script(name, text):
    os.makedirs(at("bin"), exist_ok=True)
    with open(at("bin", name), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(at("bin", name), 0o755)


def other_ffmpeg(c):
    """An ffmpeg that is missing, that fails, or that lacks an encoder."""
    os.mkdir(at("bin"))
    code, err = record("a.mp4", PATH=at("bin"))
    c.check(code == 3 and "ffmpeg is not installed; run: sudo apt install ffmpeg" in err and err.count("\n") == 1, err)
    path = at("bin") + ":" + os.environ["PATH"]
    less = 'PATH=${PATH#*:}\ncase "$*" in *-encoders) ffmpeg "$@" | grep -v %s;; *) exec ffmpeg "$@";; esac\n'
    script("ffmpeg", less % "libx264")
    code, err = record("a.mp4", PATH=path)
    c.check(code == 0 and "MPEG-4 part 2" in err and probe("a.mp4")[1]["codec_name"] == "mpeg4", code, err)
    c.check(probe("a.mp4")[1]["nb_read_frames"] == "8", "frames")
    script("ffmpeg", less % "vp9")
    code, err = record("a.webm", PATH=path)
    c.check(code == 3 and "lacks the encoder libvpx-vp9" in err and err.count("\n") == 1, code, err)
    for text, word in (("echo '[fatal] out of luck' >&2\nexit 1\n", "ffmpeg reports: out of luck"),
                       ("echo '[error] x: No space left on device' >&2\nexit 1\n", "on device; free some space"),
                       ("kill -9 $$\n", "ffmpeg was killed by signal 9")):
        script("ffmpeg", 'case "$*" in *-encoders) echo " libx264 "; exit;; esac\n' + text)
        code, err = record("b.mp4", PATH=path)
        # 3: ffmpeg ends before the first frame; 1: later, on a busy machine
        c.check(code in (1, 3) and word in err and err.count("\n") == 1, code, err)
    os.mkfifo(at("c.mp4"))
    code, err = record("c.mp4")
    c.check(code == 3 and "not a regular file" in err and err.count("\n") == 1, code, err)
    c.check(sorted(os.listdir(at())) == ["a.mp4", "bin", "c.mp4"], os.listdir(at()))


def early_signal(c):
    """A signal while ffmpeg starts ends the run: no new file, no draft, and an older file stays."""
    with open(at("b.mp4"), "w", encoding="utf-8") as file:
        file.write("older")
    for step, name, number in (("-encoders", "a.mkv", "INT"), ("pipe:0", "a.mp4", "TERM"),
                               ("-encoders", "b.mp4", "INT"), ("pipe:0", "b.mp4", "TERM")):
        script("ffmpeg", 'case "$*" in *%s*) kill -%s $PPID; sleep 0.1;; esac\nPATH=${PATH#*:}\nexec ffmpeg "$@"\n' %
               (step, number))
        code, err = record(name, "--overwrite", frames=100000, PATH=at("bin") + ":" + os.environ["PATH"])
        c.check(code == (130 if number == "INT" else 143) and "error" not in err, step, name, code, err)
        c.check(sorted(os.listdir(at())) == ["b.mp4", "bin"], step, name, os.listdir(at()))
    with open(at("b.mp4"), encoding="utf-8") as file:
        c.check(file.read() == "older", "the older MP4")


def outlived(c):
    """If monocle is killed, the files play: ffmpeg completes the MP4, and Y4M needs no end. Older files stay."""
    # An ffmpeg that begins to write only when its input has ended, as a slow one may
    script("ffmpeg", 'PATH=${PATH#*:}\ncase "$*" in *pipe:0*) cat >%s; exec ffmpeg "$@" <%s;; esac\nexec ffmpeg "$@"\n'
           % (at("bin", "all"), at("bin", "all")))
    for name, place in ("a.mp4", "a.mp4"), ("b.y4m", "b-2.y4m"):
        if name != place:
            with open(at(name), "w", encoding="utf-8") as file:
                file.write("older")
        grown = at("bin", "all") if name == "a.mp4" else at(place)
        with subprocess.Popen([BINARY, "live", "noise:64x48@50", *RUN, "--frames", "100000", "--overwrite", "--record",
                               name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=at(),
                              env=environment(PATH=at("bin") + ":" + os.environ["PATH"])) as process:
            c.check(wait_until(lambda g=grown: os.path.exists(g) and os.path.getsize(g) > 500000), name)
            victims = children(process.pid)
            process.kill()
        c.check(wait_until(lambda v=victims: not any(os.path.exists("/proc/%d" % child) for child in v), 20), "ffmpeg")
        code, out, err = run(BINARY, "live", place, *RUN, "--fast", "--json", cwd=at())
        c.check(code == 0 and json.loads(out.splitlines()[-1])["frames"] > 10, name, code, err)
    with open(at("b.y4m"), encoding="utf-8") as file:
        c.check(file.read() == "older", "the older Y4M")
    c.check(sorted(os.listdir(at())) == ["a.mp4", "b-2.y4m", "b.y4m", "bin"], os.listdir(at()))


def two_runs(c):
    """Two runs do not record to the same file. A file that another program puts there during the run stays."""
    for name, older in ("a.mp4", False), ("b.y4m", True):
        if older:
            with open(at(name), "w", encoding="utf-8") as file:
                file.write("older")
            os.link(at(name), at("link"))
        view = Live(BINARY, at(), "noise:64x48@50", *RUN, "--record", name, "--overwrite", asks=True)
        client = view.control()
        client.ask("wait_frame", 3)
        code, err = record(name, "--overwrite")
        c.check(code == 3 and "cannot record to %s: another run writes it; name another file\n" % name in err and
                err.count("\n") == 1, name, code, err)
        if older:
            with open(at("new"), "w", encoding="utf-8") as file:
                file.write("theirs")
            os.rename(at("new"), at(name))
        code, _, err = view.quit()
        word = "another program has replaced b.y4m during the run; monocle has written b-2.y4m\n" if older else ""
        c.check(code == 0 and word in err and err.count("\n") == older, name, code, err)
    c.check(frames_of("a.mp4") >= 3 and frames_of("b-2.y4m") >= 3, "frames")
    for name, text in ("link", "older"), ("b.y4m", "theirs"):
        with open(at(name), encoding="utf-8") as file:
            c.check(file.read() == text, name)
    c.check(sorted(os.listdir(at())) == ["a.mp4", "b-2.y4m", "b.y4m", "link"], os.listdir(at()))


sys.exit(Checks().run(formats, other_formats, shapes, animations, transparent, next_names, keeps_time, goes_on,
                      new_size, late_ffmpeg, slow_start, killed, no_room, last_bytes, other_ffmpeg, early_signal,
                      outlived, two_runs))
