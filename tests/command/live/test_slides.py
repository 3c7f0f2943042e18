#!/usr/bin/env python3
"""test_slides.py MONOCLE: a directory as a slide show: sizes, order, pause, next and previous, broken images, window"""
import os
import sys

sys.path.append(sys.path[0] + "/../../support")
from checks import Checks, at, programs
from live_support import Control, Live, Window, events, need_window, png, run, wait_until, y4m, y4m_pictures

BINARY, = programs(1)
SIZES = {"1.png": "32x24", "2.png": "40x30", "10.png": "17x9", "11.png": "17x9"}  # in natural order


def images():
    os.mkdir(at("shots"))
    for name, size in SIZES.items():
        png(at("shots", name), *map(int, size.split("x")))
    with open(at("shots", "3.png"), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\nbroken")
    with open(at("shots", "notes"), "w", encoding="utf-8") as file:
        file.write("no image")


def view(*args):
    running = Live(BINARY, at(), *args, "--headless", "-p", "cpu", "--socket", at("m"), runs=False)
    client = Control(at("m"))
    client.ask("wait_frame", 1)
    return running, client


def end(c, running, client, *words):
    client.ask("quit")
    client.close()
    code, _, err = running.wait_end()
    c.check(code == 0 and err.count("\n") == len(words) and all(word in err for word in words), code, err)


def keys(c):
    """Next and previous show each image at its own size, also while it is paused; a broken one is skipped once, and has
    no place in the show."""
    images()
    names, count = list(SIZES), 5  # the broken image counts until it is read
    running, client = view("shots", "-f", "sobel")
    c.check(client.get("duration") == 5 * 5 and client.get("position") == 0, client.get("duration"))
    for keys_of, paused in ((("forward", "rewind"), False), (("step", "step-back"), True)):
        client.set("position", 0)
        rows = [(0, 5, "40x30"), (0, 10, "17x9"), (0, 15, "17x9"), (1, 10, "17x9"), (1, 5, "40x30"), (1, 0, "32x24"),
                (1, 0, "32x24"), (0, 5, "40x30")]
        for key, position, size in rows:
            client.key(keys_of[key])
            found = client.get("position"), client.get("size"), client.get("paused")
            c.check(found == (position, size, paused), keys_of[key], found, "not", position, size, paused)
            count = 4 if position > 5 else count
            place = "%s  %d of %d" % (names[position // 5], position // 5 + 1, count)
            place += ", the last image" if position == 15 else ""
            c.check(client.get("message") == place, client.get("message"), "not", place)
    client.set("position", 1e6)
    client.key("step")
    c.check((client.get("position"), client.get("duration")) == (15, 20), "the end", client.get("position"))
    for key in ("step", "forward", "step-back", "forward", "forward"):
        client.key(key)
        last = key != "step-back"
        c.check(client.get("message") == ("11.png  4 of 4, the last image" if last else "10.png  3 of 4"), key,
                client.get("message"))
    end(c, running, client, "skipped shots/3.png: ")


def ends(c):
    """Next at the last image stays there, also before a broken file. With --loop, the first and the last image are
    neighbours."""
    images()
    os.rename(at("shots", "3.png"), at("shots", "99.png"))
    running, client = view("shots")
    client.set("position", 15)
    c.check(client.get("message").startswith("11.png  4 of "), client.get("message"))
    client.ask("key", "forward")
    c.check(wait_until(lambda: "11.png  4 of 4, the last image" in client.get("message")), client.get("message"))
    client.key("forward")
    client.key("rewind")
    c.check((client.get("position"), client.get("message")) == (10, "10.png  3 of 4"), client.get("message"))
    end(c, running, client, "skipped shots/99.png: ")
    os.remove(at("shots", "99.png"))
    os.remove(at("shots", "notes"))
    running, client = view("shots", "--loop")
    for key, position in (("rewind", 15), ("forward", 0), ("step-back", 15), ("rewind", 10), ("forward", 15)):
        client.key(key)
        c.check(client.get("position") == position, key, client.get("position"))
    end(c, running, client)


def pace(c):
    """--rate sets the time of an image. The show ends after the last image, or begins again with --loop."""
    images()
    code, out, err = run(BINARY, "live", "shots", "--headless", "-p", "cpu", "--rate", "20", "--json", cwd=at())
    c.check(code == 0 and b'"frames":4,' in out.splitlines()[-1], code, out.splitlines()[-1])
    c.check(out.count(b'"event":"reshaped"') == 2 and err.count("\n") == 1, out.count(b"reshaped"), err)
    running, client = view("shots", "--rate", "20", "--loop")
    client.ask("wait_frame", 30)
    client.set("paused", True)
    position = client.get("position")
    c.check(position == client.get("position") and position < 0.3, position)
    end(c, running, client, "skipped shots/3.png: ")


def lists(c):
    """A list is a slide show, too. An empty directory and one without images are refused in one line."""
    images()
    with open(at("list"), "w", encoding="utf-8") as file:
        file.write("shots/10.png\nshots/1.png\n")
    running, client = view("@list")
    client.key("forward")
    c.check((client.get("position"), client.get("size")) == (5, "32x24"), client.get("position"), client.get("size"))
    end(c, running, client)
    os.mkdir(at("empty"))
    for name in ("empty", "."):
        code, _, err = run(BINARY, "live", name, "--headless", cwd=at())
        c.check(code == 3 and "%s contains no image that monocle can read" % name in err, name, code, err)
        c.check(err.count("\n") == 1, name, err)


def recording(c):
    """A headless recording, and --fast, keep the size of the first image."""
    images()
    code, _, err = run(BINARY, "live", "shots", "--headless", "-p", "cpu", "--record", "a.y4m", cwd=at())
    c.check(code == 0 and "the first image has 32x24" in err, code, err)
    running, client = view("shots", "--record", "b.y4m", "--fast")
    end(c, running, client, "3.png", "2.png", "10.png", "11.png")
    c.check(sorted(n for n in os.listdir(at()) if n.endswith("y4m")) == ["a.y4m", "b.y4m"], os.listdir(at()))


def transparency(c):
    """In a recording, alpha weighs the colours of an image that follows one without alpha, in the same shape."""
    images()
    run(BINARY, "batch", "-f", "colorkey=black:0.2:0.8", "-p", "cpu", "-o", "2.png", "shots/1.png", cwd=at())
    found = []
    for names in ("shots/1.png\n2.png\n", "2.png\n"):
        with open(at("list"), "w", encoding="utf-8") as file:
            file.write(names)
        code, out, err = run(BINARY, "live", "@list", "--headless", "-p", "cpu", "-f", "scale=50", "--record", "a.y4m",
                             "--overwrite", "--json", cwd=at())
        c.check(code == 0 and b"reshaped" not in out, code, out, err)
        with open(at("a.y4m"), "rb") as file:
            found.append(y4m_pictures(file.read()))
    c.check(len(found[0]) == 2 and found[0][1:] == found[1], "the second image")


def works(c):
    """A key that works on the picture pauses the show, and others do not. At the end, the last image stays."""
    images()
    os.remove(at("shots", "3.png"))
    for key, arguments, paused in (("look", [2], True), ("add", [], True), ("mirror", [], True),
                                   ("screenshot", [], False), ("forward", [], False)):
        running, client = view("shots")
        client.ask("key", key, *arguments)
        c.check(client.get("paused") == paused, key, client.get("paused"))
        end(c, running, client)
    running, client = view("shots", "--rate", "10")
    c.check(wait_until(lambda: client.get("paused")), "the end")
    c.check((client.get("position"), client.get("frames")) == (0.3, 4), client.get("position"), client.get("frames"))
    client.set("chain", "invert")
    client.ask("wait_frame")
    client.set("paused", False)
    c.check(wait_until(lambda: client.get("position") < 0.3), "it begins again")
    end(c, running, client)


def several(c):
    """Several sources play one after another: image files as a slide show, then a video. --loop repeats all."""
    images()
    with open(at("film.y4m"), "wb") as file:
        file.write(y4m(20, 10, "420jpeg", 3))
    files = ["shots/1.png", "shots/2.png", "film.y4m", "shots/10.png"]
    code, out, err = run(BINARY, "live", *files, "--headless", "-p", "cpu", "--rate", "20", "--json", cwd=at())
    shown = [(e["source"], e["width"]) for e in events(out) if e["event"] in ("start", "reshaped")]
    c.check(code == 0 and not err and events(out)[-1]["frames"] == 6, code, err, events(out)[-1]["frames"])
    c.check(shown == [("2 images", 32), ("2 images", 40), ("film.y4m", 20), ("1 image", 17)], shown)
    running, client = view(*files[1:3], "--loop")
    for name in "1 image", "film.y4m", "1 image":
        c.check(wait_until(lambda want=name: client.get("source") == want), name, client.get("source"))
    end(c, running, client)
    running, client = view("film.y4m")
    client.set("source", "shots/1.png\nnowhere.png\nshots/2.png")
    c.check((client.get("source"), client.get("duration")) == ("3 images", 15), client.get("source"))
    client.key("forward")
    c.check((client.get("size"), client.get("duration")) == ("40x30", 10), client.get("size"), client.get("duration"))
    end(c, running, client, "skipped nowhere.png: ")
    running, client = view("film.y4m", "nowhere.y4m", "shots/1.png")
    c.check(wait_until(lambda: client.get("source") == "1 image"), "after a file that is missing", client.get("source"))
    end(c, running, client, "cannot open nowhere.y4m")


def rounds(c):
    """New files appear in the next round, removed ones disappear without a word, and a broken one is read again after a
    change. So does a show that was at its end."""
    images()
    running, client = view("shots", "--rate", "10", "--loop")
    c.check(wait_until(lambda: client.get("duration") == 0.4), "without the broken image", client.get("duration"))
    os.remove(at("shots", "2.png"))
    png(at("shots", "5.png"), 12, 34)
    png(at("shots", "12.png"), 56, 78)
    seen = set()

    def shows(want):
        seen.add(client.get("size"))
        return want <= seen

    c.check(wait_until(lambda: shows({"12x34", "56x78"})) and client.get("duration") == 0.5, client.get("duration"))
    png(at("shots", "new.png"), 21, 43)
    os.replace(at("shots", "new.png"), at("shots", "3.png"))
    c.check(wait_until(lambda: shows({"21x43"})) and client.get("duration") == 0.6, client.get("duration"))
    for name in os.listdir(at("shots")):
        if name != "1.png":
            os.remove(at("shots", name))
    c.check(wait_until(lambda: client.get("duration") == 0.1), "one is left", client.get("duration"))
    end(c, running, client, "skipped shots/3.png: ")
    running, client = view("shots", "--rate", "10")
    c.check(wait_until(lambda: client.get("paused")), "the end")
    png(at("shots", "7.png"), 12, 34)
    client.set("paused", False)
    c.check(wait_until(lambda: client.get("paused")), "the end again")
    client.set("paused", False)
    c.check(wait_until(lambda: client.get("size") == "12x34"), "a new image", client.get("size"))
    end(c, running, client)


def size(c):
    """The window does not have the size of the first image."""
    need_window()
    images()
    live = Window(BINARY, at(), "shots")
    c.check(live.geometry() == (1280, 720), live.geometry())
    live.end()


sys.exit(Checks().run(keys, ends, pace, lists, recording, transparency, works, several, rounds, size))
