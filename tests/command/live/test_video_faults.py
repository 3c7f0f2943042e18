#!/usr/bin/env python3
"""test_video_faults.py MONOCLE: videos through ffmpeg when something goes wrong: damage, dead processes, servers"""
import contextlib
import functools
import http.server
import os
import signal
import socketserver
import sys
import threading
import time

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from live_support import Live, alive, events, run, wait_until, y4m_pictures
from video_support import children, film, live, need_ffmpeg

BINARY, = programs(1)
need_ffmpeg()
live = functools.partial(live, BINARY)


def new_size(c):
    """A film that changes its frame size goes on at its first size, and the run says so."""
    film("1.ts", "-c:v", "mpeg2video")
    film("2.ts", "-c:v", "mpeg2video", size="32x96")
    with open(at("both.ts"), "wb") as both:
        for name in ("1.ts", "2.ts"):
            with open(at(name), "rb") as file:
                both.write(file.read())
    code, said, err = live("both.ts")
    c.check(code == 0 and said[-1]["frames"] >= 49, code, said[-1])
    c.check("frame size of both.ts changes to 32x96; monocle scales all frames to 64x48" in err, err)


def damage(c):
    """A film that is damaged in the middle is reported once, and plays."""
    film("a.mkv", "-c:v", "mpeg4", seconds=2)
    with open(at("a.mkv"), "rb") as file:
        data = file.read()
    with open(at("cut.mkv"), "wb") as file:
        file.write(data[:len(data) * 2 // 3])
    code, said, err = live("cut.mkv")
    c.check(code == 0 and 10 < said[-1]["frames"] < 50, code, said[-1])
    c.check(err.count("\n") == 1 and "cut.mkv is damaged: " in err, err)


def killed(c):
    """If ffmpeg is killed, monocle starts it again and shows all frames. tests/source/test_video.c has its other
    ends."""
    film("a.mkv", "-c:v", "mpeg4", size="320x240")  # its frames do not fit into a pipe
    view = Live(BINARY, at(), "a.mkv", "--headless", "-p", "cpu", asks=True)
    view.shown(3)
    view.act("freeze")
    victim, = children(view.process.pid)
    os.kill(victim, signal.SIGKILL)
    view.control().ask("key", "freeze")
    code, end, err = view.wait_end()
    c.check(code == 0 and end["outages"] == 1 and 23 <= end["captured"] <= 27, code, end, err)
    c.check("ffmpeg was killed by signal 9 at " in err, err)


def processes(c):
    """ffmpeg has no input, no other open file and no terminal's signals, and ends with monocle however that ends."""
    film("a.mkv", "-c:v", "mpeg4", seconds=20)  # each round has its own ffmpeg
    for how in (signal.SIGINT, signal.SIGKILL):
        view = Live(BINARY, at(), "a.mkv", "--headless", "--loop", "-p", "cpu")
        child, = children(view.process.pid)
        c.check(os.readlink("/proc/%d/fd/0" % child) == "/dev/null", "its standard input")
        c.check(os.getpgid(child) == child, "its process group", os.getpgid(child))
        with open("/proc/%d/cmdline" % child, "rb") as file:
            words = file.read().split(b"\0")
        c.check(words[words.index(b"-protocol_whitelist") + 1] == b"file,crypto,data" and b"file:a.mkv" in words, words)
        view.process.send_signal(how)
        code = view.wait_end()[0]
        c.check(code == (130 if how == signal.SIGINT else -how), how, code)
        c.check(wait_until(lambda: not os.path.exists("/proc/%d" % child), 5), how, "leaves ffmpeg behind")


def orphans(c):
    """An ffmpeg that writes nothing, so that no closed pipe can end it, ends with monocle, too."""
    film("a.mkv", "-c:v", "mpeg4")
    with open(at("ffmpeg"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhead -c 100000 /dev/zero\nexec sleep 60\n")
    os.chmod(at("ffmpeg"), 0o755)
    view = Live(BINARY, at(), "a.mkv", "--headless", "-p", "cpu", asks=True, PATH=at() + ":" + os.environ["PATH"])
    child, = children(view.process.pid, "sleep")
    view.process.kill()
    view.wait_end()
    c.check(wait_until(lambda: not alive(child), 5), "it outlives monocle")
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def switched(c):
    """The thread that opens another source ends, but the ffmpeg of the new source goes on."""
    film("a.mkv", "-c:v", "mpeg4", seconds=10)
    view = Live(BINARY, at(), "pattern:64x48@30", "--headless", "-p", "cpu", asks=True)
    for _ in range(2):
        view.set("source", "a.mkv")
        view.more(10)
    c.check(view.settled()["outages"] == 0, view.settled())
    code, _, err = view.quit()
    c.check(code == 0 and err == "", code, err)


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves the files of a directory; a name that begins with "half-" stops in the middle."""

    def log_message(self, *args):
        pass

    def copyfile(self, source, outputfile):
        data = source.read()
        with contextlib.suppress(OSError):
            if "half-" in self.path:
                outputfile.write(data[:len(data) // 2])
                outputfile.flush()
                time.sleep(60)
            else:
                outputfile.write(data)


@contextlib.contextmanager
def server():
    """Serves the directory of the check. Yields its URL."""
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), functools.partial(Server, directory=at())) as host:
        threading.Thread(target=host.serve_forever, args=(0.01,), daemon=True).start()
        yield "http://127.0.0.1:%d/" % host.server_address[1]
        host.shutdown()


def urls(c):
    """A video plays over HTTP. A missing one is refused."""
    film("a.mkv", "-c:v", "mpeg4")
    with server() as url:
        code, said, err = live(url + "a.mkv")
        c.check(code == 0 and said[0]["kind"] == "video" and said[-1]["frames"] == 25, code, err)
        code, _, err = live(url + "nothing.mkv")
        c.check(code == 3 and "404" in err, code, err)


def stopped(c):
    """While ffmpeg is stopped, the view waits and says so; the socket, a seek and a recording work meanwhile."""
    film("a.mkv", "-c:v", "mpeg4", size="320x240", seconds=20)
    view = Live(BINARY, at(), "a.mkv", "--headless", "-p", "cpu", "--record", "a.y4m", asks=True)
    view.shown(3)
    victim, = children(view.process.pid)
    os.kill(victim, signal.SIGSTOP)
    client = view.control()
    c.check(wait_until(lambda: client.get("trouble") == "waiting for ffmpeg, which delivers no frames", 20),
            client.get("trouble"))
    os.kill(victim, signal.SIGCONT)
    c.check(wait_until(lambda: not client.get("trouble"), 20), client.get("trouble"))
    os.kill(victim, signal.SIGSTOP)
    client.set("position", 10)
    client.ask("wait_frame")
    c.check(client.get("position") >= 10 and client.get("outages") == 0, client.get("position"))
    code, _, err = view.quit()
    c.check(code == 0 and err == "", code, err)


class Chunks(http.server.BaseHTTPRequestHandler):
    """Serves a file without its length: in 0.5 s, a tenth each 50 ms, as a broadcast would come; files whole."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        with open(at(self.path[1:]), "rb") as file:
            data = file.read()
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            for i in range(10):
                self.wfile.write(data[i * len(data) // 10:(i + 1) * len(data) // 10])
                time.sleep(0.05)


def live_urls(c):
    """A stream from a server with neither a duration nor a length is live."""
    film("a.ts", "-c:v", "mpeg2video", "-f", "mpegts", seconds=2)
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Chunks) as host:
        threading.Thread(target=host.serve_forever, args=(0.01,), daemon=True).start()
        view = Live(BINARY, at(), "http://127.0.0.1:%d/a.ts" % host.server_address[1], "--headless", "-p", "cpu",
                    asks=True)
        view.shown(1)
        error = view.control().error("set_property", "position", 0.5)
        c.check("only video files and slide shows have a position" in error, error)
        host.shutdown()


def live_parts(c):
    """JPEGs in parts, which have no times, are a live stream: the newest frame, and as long as on the clock."""
    film("%d.jpg", size="64x48")
    jpegs = []
    for number in range(1, 26):
        with open(at("%d.jpg" % number), "rb") as file:
            jpegs.append(file.read())

    class Parts(http.server.BaseHTTPRequestHandler):
        """Sends 25 JPEGs in 2.5 s."""

        def log_message(self, *args):
            pass

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=part")
            self.end_headers()
            with contextlib.suppress(OSError):
                for jpeg in jpegs:
                    length = b"Content-Length: %d\r\n" % len(jpeg) if self.path == "/long" else b""
                    self.wfile.write(b"--part\r\nContent-Type: image/jpeg\r\n" + length + b"\r\n" + jpeg + b"\r\n")
                    time.sleep(0.1)
                self.wfile.write(b"--part--\r\n")

    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Parts) as host:
        threading.Thread(target=host.serve_forever, args=(0.01,), daemon=True).start()
        for path in "long", "short":
            code, out, err = run(BINARY, "live", "http://127.0.0.1:%d/%s" % (host.server_address[1], path),
                                 "--headless", "--json", "-p", "cpu", "--record", path + ".y4m", cwd=at())
            said = events(out)
            c.check(code == 0 and said[-1]["captured"] == 25, path, code, said[-1], err)
            with open(at(path + ".y4m"), "rb") as file:
                frames = len(y4m_pictures(file.read()))
            with open(at(path + ".y4m"), "rb") as file:
                head = file.readline()
            c.check(b" F10:1 " in head and 22 <= frames <= 32, path, head, frames)  # ffmpeg's rate gave 1 s
        host.shutdown()


sys.exit(Checks().run(new_size, damage, killed, processes, orphans, switched, urls, stopped, live_urls, live_parts))
