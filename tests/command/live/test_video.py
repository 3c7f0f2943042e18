#!/usr/bin/env python3
"""test_video.py MONOCLE: videos through the installed ffmpeg: formats, bytes, refusals"""
import contextlib
import functools
import os
import socket
import subprocess
import sys
import threading

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs, slow
from live_support import events, picture, run, y4m_pictures
from video_support import ffmpeg, fields, film, films, live, need_ffmpeg

BINARY, = programs(1)
need_ffmpeg()
live = functools.partial(live, BINARY)


def formats(c):
    """Each container and pixel format plays completely, at its rate and in its colours."""
    check_formats(c, ("d.mov", ["-c:v", "mjpeg", "-pix_fmt", "yuvj444p"], "444p", "full"),
                  ("f.gif", [], "rgba", "limited"), ("-g.mp4", ["-pix_fmt", "yuv422p10le"], "422p", "limited"),
                  ("concat:h.avi", ["-c:v", "mpeg4"], "yu12", "limited"),
                  ("i.avif", ["-pix_fmt", "yuv420p", "-f", "mp4", "-brand", "avis"], "yu12", "limited"))


def transparency(c):
    """Alpha weighs the colours of a film that has alpha, and no other film pays for it."""
    formats = {"gbrp": False, "bgr0": False, "gbrap": True, "bgra": True}
    films(*((name + ".mkv", "-vf", "format=" + name, "-c:v", "ffv1") for name in formats), seconds=0.2)
    for pixel_format, alpha in formats.items():
        code, said, err = live(pixel_format + ".mkv", "-f", "scale=50")
        c.check(code == 0 and said[0]["pixel_format"] == "rgba", pixel_format, code, said[0], err)
        c.check(any("premultiply" in name for name in said[-1]["stages"]) == alpha, pixel_format, said[-1]["stages"])


@slow
def other_formats(c):
    check_formats(c, ("a.mp4", ["-pix_fmt", "yuv420p"], "yu12", "limited"),
                  ("c.webm", ["-c:v", "libvpx", "-b:v", "1M", "-deadline", "realtime"], "yu12", "limited"))


def check_formats(c, *rows):
    films(*((name, *args) for name, args, *_ in rows), seconds=0.4)
    for name, _, pixel_format, pixel_range in rows:
        code, said, err = live("./" + name if name[0] == "-" else name)
        start, end = said[0], said[-1]
        c.check(code == 0 and err == "", name, code, err)
        c.check((start.get("kind"), start.get("pixel_format"), start.get("range"), start.get("rate")) ==
                ("video", pixel_format, pixel_range, 25), name, start)
        c.check(end.get("frames") == 10, name, end.get("frames"), "frames")


def colours(c):
    """The matrix, the range and the rotation come from the file. An image and an unmoved GIF stay images."""
    films(("709.mp4", "-vf", "scale=out_range=full,setparams=range=pc:colorspace=bt709:color_primaries=bt709",
           "-pix_fmt", "yuv420p"), ("still.gif", "-frames:v", "1", "-loop", "-1"), ("moves.gif",),
          ("moves.png", "-f", "apng"), seconds=0.4)
    start = live("709.mp4")[1][0]
    c.check((start["matrix"], start["range"]) == ("709", "full"), start)
    try:
        ffmpeg("-display_rotation", "90", "-i", "709.mp4", "-c", "copy", "turned.mp4")
    except subprocess.CalledProcessError:  # FFmpeg 5
        ffmpeg("-i", "709.mp4", "-c", "copy", "-metadata:s:v", "rotate=90", "turned.mp4")
    start = live("turned.mp4")[1][0]
    c.check((start["width"], start["height"]) == (48, 64), "turned", start)
    c.check(live("still.gif")[1][0]["kind"] == "image", "a GIF without repetition")
    said = live("moves.png")[1]
    c.check(said[0]["kind"] == "video" and said[-1]["frames"] == 10, "an animated PNG", said[0], said[-1])
    c.check(live("moves.gif", PATH="/nonexistent")[1][0]["kind"] == "image", "a GIF without ffmpeg")
    code, _, err = run(BINARY, "batch", "-f", "gray", "-o", at("out"), "709.mp4", cwd=at())
    c.check(code == 3 and "it is a video; use monocle live" in err, "batch takes no video", code, err)


MATRICES = {"bt709": (.2126, .0722), "bt470bg": (.299, .114), "smpte170m": (.299, .114), "bt2020nc": (.2627, .0593),
            "fcc": (.3, .11), "smpte240m": (.212, .087), "chroma-derived-nc": (.2126, .0722), "ycgco": None}
COLOURS = ((0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255), (200, 100, 50), (20, 180, 90))


def to_yuv(rgb, matrix, full):
    """Returns Y, Cb and Cr of 8 bits (ITU-T H.273)."""
    r, g, b = (value / 255 for value in rgb)
    if matrix == "ycgco":
        y, cb, cr = (r + 2 * g + b) / 4, (2 * g - r - b) / 4, (r - b) / 2
    else:
        kr, kb = MATRICES[matrix]
        y = kr * r + (1 - kr - kb) * g + kb * b
        cb, cr = (b - y) / 2 / (1 - kb), (r - y) / 2 / (1 - kr)
    luma, chroma, black = (255, 255, 0) if full else (219, 224, 16)
    return [min(255, round(value)) for value in (black + luma * y, 128 + chroma * cb, 128 + chroma * cr)]


def matrices(c):
    """The matrices that monocle converts itself, by ffmpeg, and from the primaries show the colours of the film."""
    check_matrices(c, "bt709", "smpte170m", "bt2020nc", "ycgco", "chroma-derived-nc")


@slow
def other_matrices(c):
    check_matrices(c, *MATRICES)


def check_matrices(c, *names):
    inputs, outputs = [], []
    for number, matrix in enumerate(names):
        full = number % 2 == 1
        with open(at(matrix + ".yuv"), "wb") as file:
            for plane in zip(*(to_yuv(rgb, matrix, full) for rgb in COLOURS)):
                file.write(b"".join(bytes([value]) * 4 for value in plane) * 3)
        inputs += ["-f", "rawvideo", "-pix_fmt", "yuv444p", "-s", "%dx3" % (4 * len(COLOURS)), "-i", matrix + ".yuv"]
        outputs += ["-map", str(number), "-c:v", "ffv1", "-colorspace", matrix, "-color_primaries", "bt709",
                    "-color_range", "pc" if full else "tv", matrix + ".mkv"]
    ffmpeg(*inputs, *outputs)
    for number, matrix in enumerate(names):
        full = number % 2 == 1
        code, _, err = live(matrix + ".mkv", "--screenshot", "a.png", "--overwrite")
        got = picture(at("a.png"))
        away = [max(abs(a - b) for a, b in zip(got[(4 * i + 1) * 3:], rgb)) for i, rgb in enumerate(COLOURS)]
        c.check(code == 0 and not err and max(away) <= 2, matrix, full, away, err)


def hdr(c):
    """Films with the transfer functions of ITU-R BT.2100 look like the film of BT.709 from which they were made."""
    film("sdr.mkv", "-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv444p,setparams=range=tv:"
         "colorspace=bt709:color_primaries=bt709:color_trc=bt709", "-c:v", "ffv1", seconds=0.2)
    live("sdr.mkv", "--screenshot", "sdr.png")
    want = picture(at("sdr.png"))
    transfers, outputs = ("smpte2084", "arib-std-b67"), []
    for transfer in transfers:
        bt2100 = "zscale=p=bt2020:t=%s:m=bt2020nc:r=limited:npl=203,format=yuv444p10le" % transfer
        outputs += ["-vf", bt2100, "-color_primaries", "bt2020", "-color_trc", transfer, "-colorspace", "bt2020nc",
                    "-color_range", "tv", "-c:v", "ffv1", transfer + ".mkv"]
    ffmpeg("-i", "sdr.mkv", *outputs)
    for transfer in transfers:
        start = live(transfer + ".mkv", "--screenshot", "hdr.png", "--overwrite")[1][0]
        c.check((start["matrix"], start["range"]) == ("709", "limited"), transfer, start)
        got = picture(at("hdr.png"))
        away = sum(abs(a - b) for a, b in zip(got, want)) / len(want)
        c.check(len(got) == len(want) and away < 25, transfer, "differs by", away)


def same_bytes(c):
    """monocle decodes to the bytes of ffmpeg, twice with --loop, and follows --pixel-format."""
    films(("a.mkv", "-pix_fmt", "yuv420p", "-c:v", "ffv1"), ("a.y4m", "-pix_fmt", "yuv420p"), size="35x21")

    def record(*args):
        code, out, err = run(BINARY, "live", *args, "--headless", "--record", "-", "-p", "cpu", cwd=at())
        c.check(code == 0, args, code, err)
        return y4m_pictures(out)

    want = record("a.y4m")
    c.check(len(want) == 25 and record("a.mkv") == want, "the frames of a film")
    c.check(record("a.mkv", "--loop", "--frames", "60") == (want * 3)[:60], "the frames of a film that repeats")
    start = live("a.mkv", "--pixel-format", "nv12")[1][0]
    c.check(start["pixel_format"] == "nv12", start)


def times(c):
    """A headless recording takes each frame once, at its time, and in its shape. JPEGs in one file are a film. A
    picture for each field does not double the rate."""
    film("steps.mkv", "-vf", "select='lt(n,2)+eq(n,6)+eq(n,7)',setsar=2", "-c:v", "ffv1", seconds=0.4)
    film("wide.y4m", "-vf", "setsar=2", "-pix_fmt", "yuv420p", seconds=0.16)
    ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.2", "-f", "mjpeg", "cam.jpg")
    with open(at("fields.264"), "wb") as file:
        file.write(fields(6))
    ffmpeg("-i", "fields.264", "-c", "copy", "fields.ts", "-c", "copy", "samples.mp4")  # each field is a sample of MP4
    for name, frames, want, size in (("steps.mkv", 4, "01111123", (128, 48)), ("wide.y4m", 4, "0123", (128, 48)),
                                     ("cam.jpg", 5, "01234", (64, 48)), ("fields.ts", 6, "012345", (32, 32)),
                                     ("samples.mp4", 6, "012345", (32, 32))):
        code, out, err = run(BINARY, "live", name, "--headless", "--record", "a.y4m", "--overwrite", "-p", "cpu",
                             "--json", cwd=at())
        end = events(out)[-1]
        c.check((code, end["frames"]) == (0, frames), name, code, err, end["frames"])
        c.check(err.count("\n") == err.count(name + " is interlaced") == (size == (32, 32)), name, err)
        with open(at("a.y4m"), "rb") as file:
            data = file.read()
        head = data.partition(b"\n")[0].split()
        c.check(head[1:6] == [b"W%d" % size[0], b"H%d" % size[1], b"F25:1", b"Ip", b"A1:1"], name, head)
        pictures = y4m_pictures(data)
        kinds = sorted(set(pictures), key=pictures.index)
        got = "".join(str(kinds.index(p)) for p in pictures)
        c.check(got.startswith(want) and len(got) <= 10, name, got)


def long_end(c):
    """A recording has the last picture for all its time. The duration of a film that was cut is wrong."""
    film("last.gif", "-final_delay", "1200", seconds=1, size="32x24", rate="2")
    film("whole.mkv", "-c:v", "mpeg4", seconds=60, size="32x24", rate="2")
    with open(at("whole.mkv"), "rb") as whole, open(at("cut.mkv"), "wb") as cut:
        cut.write(whole.read()[:os.path.getsize(at("whole.mkv")) // 2])
    for name, least, most in ("last.gif", 374, 376), ("cut.mkv", 10, 110):
        code, out, err = run(BINARY, "live", name, "--headless", "--record", "-", "-p", "cpu", cwd=at())
        frames = len(y4m_pictures(out))
        c.check(code == 0 and least <= frames <= most, name, code, frames, err)


def schemes(c):
    """file://PATH is a film or an image; tcp:// is played as it arrives."""
    film("a.ts", "-pix_fmt", "yuv420p")
    ffmpeg("-i", "a.ts", "-frames:v", "1", "a.png")
    for scheme in "file://", "FILE://":
        code, _, err = live(scheme + at("a.ts"))
        c.check(code == 0 and not err, scheme, code, err)
    os.rename(at("a.png"), at("a %41%.png"))
    for name in "file://%s/a%%20%%2541%%.png", "file://localhost%s/%%61 %%2541%%25.png", "%s/a %%41%%.png":
        code, found, err = live(name % at(""))
        c.check(code == 0 and found[0]["kind"] == "image", name, found, err)
    code, _, err = live("file://" + at("a%00.ts"))
    c.check(code == 3 and "a%00.ts" in err, "a name with a NUL", code, err)
    with open(at("a.ts"), "rb") as file:
        data = file.read()
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        for _ in range(2):
            with contextlib.suppress(OSError), server.accept()[0] as connection:
                while True:
                    connection.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    code, found, err = live("TCP://127.0.0.1:%d" % server.getsockname()[1], "--frames", "5")
    c.check(code == 0 and found[-1]["frames"] == 5, code, found, err)


def refusals(c):
    """Each fault is one line, with the exit status."""
    film("a.mp4", "-pix_fmt", "yuv420p")
    with open(at("a.mp4"), "rb") as file:
        data = file.read()
    with open(at("cut.mp4"), "wb") as file:
        file.write(data[:2000])
    with open(at("text.txt"), "w", encoding="utf-8") as file:
        file.write("hello\n" * 100)
    ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "sound.mp3")
    os.mkdir(at("empty"))
    with open(at("list.txt"), "w", encoding="utf-8") as file:
        file.write("a.mp4\n")
    with open(at("film.cube"), "w", encoding="utf-8") as file:
        file.write("LUT_3D_SIZE 2\n" + 8 * "0 0 0\n")
    with open(at("text.png"), "w", encoding="utf-8") as file:
        file.write("hello\n")
    with open(at("a.J2K"), "wb") as file:
        file.write(b"\xff\x4f\xff\x51" + bytes(20))
    with open(at("a.kdc"), "wb") as file:
        file.write(b"MM\0*\0\0\0\x08\0\0\0\0\0\0")
    os.mkfifo(at("pipe"))
    rows = [(["a.J2K"], {}, 3, "monocle cannot read JPEG 2000 files"),
            (["a.kdc"], {}, 3, "camera raw: develop it first with"),
            (["cut.mp4"], {}, 3,
             "cannot play cut.mp4: moov atom not found: the end of the file, with its index, is missing\n"),
            (["file://" + at("text.txt")], {}, 3, "text.txt: it is a text file"),
            (["gopher://a/b.mp4"], {}, 3, "plays rtsp, rtsps, http, https, rtmp, rtmps, srt, udp, rtp, tcp, ftp and"),
            (["text.txt"], {}, 3, "text.txt: it is a text file; name a video, or @FILE for a list of images"),
            (["list.txt"], {}, 3, "add --size and --pixel-format, for a list of files name @list.txt"),
            (["text.png"], {}, 3, "cannot show text.png: it is not an image, despite its name; name an image"),
            (["sound.mp3"], {}, 3, "it contains no video"),
            (["video:pipe"], {}, 3, "cannot play pipe: it is not a regular file"),
            (["video:nothing.mp4"], {}, 3, "cannot play nothing.mp4: No such file"),
            (["video:"], {}, 3, "video needs a file"),
            (["HTTP://127.0.0.1:1/a.mp4"], {}, 3, "Connection refused"),
            (["tcp://127.0.0.1:1"], {}, 3, "Connection refused"),
            (["rtmp://127.0.0.1:1/a"], {}, 3, "Connection refused"),
            (["rtsp://host.invalid/a"], {}, 3, "Failed to resolve hostname host.invalid: "),
            (["film.cube"], {}, 3, "it is a table of colours; name an image or a video"),
            (["a.mp4", "--size", "32x32"], {}, 3, "leave out --size"),
            (["a.mp4", "--pixel-format", "yv12"], {}, 3, "cannot convert a.mp4 to yv12"),
            (["a.mp4"], {"PATH": at("empty")}, 3, "ffprobe is not installed; run: sudo apt install ffmpeg")]
    if b" srt\n" in run("ffmpeg", "-protocols")[1]:
        rows.append((["srt://127.0.0.1:1"], {}, 3, "Input/output error; check that a program listens at this UDP port"))
    for args, env, want, word in rows:
        code, _, err = live(*args, **env)
        c.check(code == want and word in err and err.count("\n") == 1, args, code, err)


sys.exit(Checks().run(formats, transparency, times, long_end, other_formats, colours, matrices, other_matrices, hdr,
                      same_bytes, schemes, refusals))
