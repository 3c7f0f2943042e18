#!/usr/bin/env python3
"""test_looks.py MONOCLE: the list of looks, the user's file of looks, and --look of live and batch"""
import json
import os
import shutil
import sys

sys.path.append(sys.path[0] + "/../support")
from checks import SOURCES, Checks, at, programs
from live_support import png, run

BINARY, = programs(1)


def looks(*args, **env):
    """Returns the exit code, the looks as pairs, and standard error."""
    code, out, errors = run(BINARY, "looks", "--json", *args, **env)
    return code, [(look["name"], look["chain"], look["user"]) for look in json.loads(out)], errors


def write(text):
    os.makedirs(at("config", "monocle"), exist_ok=True)
    with open(at("config", "monocle", "looks"), "w", encoding="utf-8") as file:
        file.write(text)
    return {"XDG_CONFIG_HOME": at("config")}


def shipped(c):
    """There are at least nine looks, each with a chain of its own that runs."""
    code, listed, errors = looks()
    c.check(code == 0 and errors == "" and len(listed) >= 9, code, listed, errors)
    c.check(len({chain for _, chain, _ in listed}) == len(listed), "two looks have the same chain")
    c.check(not any(user for _, _, user in listed), "a look of monocle is the user's", listed)
    text = run(BINARY, "looks")[1].decode()
    png(at("in.png"), 40, 30)
    for name, chain, _ in listed:
        c.check("%-12s %s\n" % (name, chain) in text, name, "is not in", text)
        code, _, errors = run(BINARY, "batch", "--look", name, "-p", "cpu", "-o", at(name + ".png"), at("in.png"))
        if "matte=" in chain:
            c.check((code, errors.count("monocle matte --install person")) == (2, 1), name, code, errors)
            continue
        c.check(code == 0, name, errors)
        run(BINARY, "batch", "-f", chain, "-p", "cpu", "-o", at("chain-%s.png" % name), at("in.png"))
        with open(at(name + ".png"), "rb") as one, open(at("chain-%s.png" % name), "rb") as other:
            c.check(one.read() == other.read(), name, "differs from its chain")


def own(c):
    """The user's looks come first and replace those of monocle; --look finds them."""
    names = [name for name, _, _ in looks()[1]]
    env = write("\ufeff# mine\n\n  soft =  blur=3 , gamma=1.4 \r\nink=gray\nsoft2 = blur\nsoft2 = median\n")
    code, listed, errors = looks(**env)
    c.check(code == 0 and errors == "", code, errors)
    want = [("soft", "blur=3 , gamma=1.4", True), ("ink", "gray", True), ("soft2", "median", True)]
    c.check(listed[:3] == want, listed[:3])
    c.check([name for name, _, _ in listed[3:]] == [name for name in names if name != "ink"], listed)
    for look, chain in (("soft", "blur=3,gamma=1.4"), ("ink", "gray")):
        code, out, errors = run(BINARY, "live", "pattern:32x32", "--look", look, "--headless", "--frames", "1",
                                "-p", "cpu", "--json", **env)
        c.check(code == 0 and json.loads(out.splitlines()[-1])["chain"] == chain, look, code, out, errors)
    code, listed, errors = looks(**write("look-1 = blur\nlook-x = invert\nlook-2 = gray\n"))
    c.check([name for name, _, _ in listed] == ["look-x", *names, "look-1", "look-2"], "saved looks are last", listed)
    png(at("config", "monocle", "logo.png"), 4, 4)
    code, listed, errors = looks(**write("mine = overlay=logo.png,gray\nmine = overlay=logo.png:4,gray"))
    name = at("config", "monocle", "logo.png")
    c.check(listed[0] == ("mine", "overlay=%s:4,gray" % name, True) and errors == "", "a file beside the looks",
            listed[0], errors)
    os.mkdir(at("config", "monocle", "filters"))
    with open(os.path.join(SOURCES, "assets/filters/thermal.cl")) as file:
        text = file.read().replace("filter_thermal", "filter_corners")
    with open(at("config", "monocle", "filters", "corners.cl"), "w") as file:
        file.write(text)
    code, listed, errors = looks(**write("mine = corners,gray"))
    c.check(listed[0] == ("mine", "corners,gray", True) and errors == "", "a user's filter", listed[0], errors)


def wrong(c):
    """Each bad line, size and right is a warning, but not hundreds, and the other looks work."""
    shipped_looks = looks()[1]
    rows = [
        ("ok = gray\nbad\n", 1, "looks:2: write 'name = chain'"),
        ("ok = gray\nb d = gray\n", 1, "looks:2: a name has 1 to 24"),
        ("ok = gray\n\nbad = blurr\n", 1, "looks:3: there is no filter 'blurr'"),
        ("bad = blur=99\nok = gray\nbad2 = \n", 1, "looks:1: blur: radius is 99", "looks:3: "),
        ("ok = gray\n" + "long = " + "gray," * 2000 + "gray\n", 1, "looks:2: a chain has at most"),
        ("".join("n%d = gray\n" % i for i in range(500)), 400, "looks:401: there are more than 400 looks",
         "looks:402: ", "looks:403: ", "looks:404: ", "looks:405: ", "more looks are left out: 95"),
        ("ok = gray\n" * 1000000, 0, "more than 1048576 bytes"),
    ]
    for text, count, *says in rows:
        code, listed, errors = looks(**write(text))
        own_looks = [look for look in listed if look[2]]
        c.check(code == 0 and len(own_looks) == count, text[:40], code, own_looks[:5])
        c.check(count == 400 or listed[count:] == shipped_looks, text[:40], "the other looks", listed)
        c.check(all(one in errors for one in says) and errors.count("\n") == len(says), text[:40], errors)
    env = write("ok = gray\nbad\n")
    for args, count in (("-f", "gray"), 0), (("--look", "ok"), 1), (("-f", "blurr"), 1):  # a warning, or the error
        errors = run(BINARY, "live", "pattern:32x32", "--headless", "-n", "1", "-p", "cpu", *args, **env)[2]
        c.check(errors.count("\n") == count and ("looks:2: " in errors) == (args[0] == "--look"), args, errors)
    env = write("ok = gray\n")
    os.chmod(at("config", "monocle", "looks"), 0o622)
    code, listed, errors = looks(**env)
    c.check(code == 0 and listed == shipped_looks and "can be written by other users; run: chmod go-w " in errors and
            errors.count("\n") == 1, errors)
    os.remove(at("config", "monocle", "looks"))
    os.mkfifo(at("config", "monocle", "looks"))
    code, listed, errors = looks(**env)
    c.check(code == 0 and listed == shipped_looks and "are not used: it is not a regular file\n" in errors, errors)
    if os.geteuid() == 0:
        os.remove(at("config", "monocle", "looks"))
        write("ok = gray\n")
        os.chown(at("config"), 65534, 65534)
        code, listed, errors = looks(**env)
        c.check(code == 0 and listed == shipped_looks and errors.count("\n") == 1, errors)
        c.check("is below a directory of another user; move it" in errors and "chmod" not in errors, errors)


def arguments(c):
    for args, says in [(("--look", "inc"), "there is no look 'inc'; did you mean ink"),
                       (("--look", "zzzzzz"), "'monocle looks' lists"),
                       (("--look", "sobel"), "there is no look 'sobel', but a filter; use -f sobel"),
                       (("-f", "ink"), "there is no filter 'ink', but a look; use --look ink"),
                       (("--look", "ink", "--showcase"), "contradict"),
                       (("--look", "ink", "-f", "blurr"), "did you mean 'blur'"),
                       (("--titles", "txet"), "titles: there is no filter 'txet'"),
                       (("-f", "keep,blur,matte", "--camera", "rotate=30"),
                        "matte: rotate of camera before it moves pixels; put rotate into chain, after matte")]:
        code, _, errors = run(BINARY, "live", "pattern:32x32", "--headless", *args)
        c.check(code == 2 and says in errors and errors.count("\n") == 1, args, code, errors)
    words = run(BINARY, "completion", "words", "live", "--look", "")[1].decode()
    c.check("ink\t" in words, words)


sys.exit(Checks().run(shipped, own, wrong, arguments))
