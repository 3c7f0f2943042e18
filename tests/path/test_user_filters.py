#!/usr/bin/env python3
"""test_user_filters.py MONOCLE: users' filters give the same bytes on all paths; files that are refused"""
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.append(sys.path[0] + "/../support")
from checks import SOURCES, Checks, at, programs, skip, slow
from hostile_filters import hostile_filters
from live_support import has_opencl, png, run, y4m_pictures
from random_filter import filter_text

MONOCLE, = programs(1)
SHIPPED = os.path.join(SOURCES, "assets", "filters")
HEAD = "//!SUMMARY a test\n//!KIND "
# Writes the place of each pixel, and the size of the picture.
PLACE = HEAD + """point
//!PARAM add
//!TYPE int
//!RANGE -9 9
//!DEFAULT 0
INLINE pixel filter_place(pixel p, int x, int y, arguments args)
{
    p.r = x + ARG(args, 0);
    p.g = y;
    p.b = WIDTH(args) + HEIGHT(args);
    p.a = 7; // ignored
    return p;
}
"""
# The index of an argument depends on the place.
PICK = HEAD + """point
//!PARAM left
//!TYPE int
//!RANGE 0 99
//!DEFAULT 77
//!PARAM right
//!TYPE int
//!RANGE 0 99
//!DEFAULT 55
INLINE pixel filter_pick(pixel p, int x, int y, arguments args)
{
    p.r = ARG(args, x > 3);
    p.g = p.r;
    p.b = p.r;
    return p;
}
"""
SHIFT = HEAD + """stencil
//!RADIUS 3
INLINE int filter_shift(view v, arguments args)
{
    return tap(v, v.x % 4, -9) + v.y; // a tap is clamped to the radius
}
"""
# Each of these ended monocle, or gave other bytes on another path.
UNSAFE = HEAD + """point
INLINE int two(int x)
{
    return x % 7 == 9 ? 0 : 2; /* a comment
    of two lines */
}
#define HALF(x) ((x) / two(x)) // a division in a macro
INLINE int unsafe_loop(int x)
{
    int turns = 0;
    for (int i = 0; i >= 0; )
        turns++;
    while (1 == 1)
        turns++;
    return turns;
}
INLINE pixel filter_unsafe(pixel p, int x, int y, arguments args)
{
    int least = -2147483647 - 1, zero = x - x, minus = -1 - zero;
    int sum = 100 / zero + 100 % zero + 7 / (y - y) * 3;
    least /= minus; // overflows
    p.r = sum + (least % minus) + (least == -2147483647 - 1 ? 40 : 50) + 12 / -(x % 3);
    p.g = HALF(p.g) + unsafe_loop(x) % 251 + ARG(args, 1000000000 + x) + (y - 20) % 7 + 128;
    p.b = -p.b / -p.g + y / x / zero;
    return p;
}
"""
WILD = HEAD + """stencil
//!RADIUS 1
INLINE int filter_wild(view v, arguments args)
{
    int value = tap(v, 1000000000 / (v.x - v.x), 2000000000);
    v.x = 1000000000;
    return value + tap(v, 1, v.y / 0) / (v.x - 1000000000);
}
"""
# Integers as conditions, and conditions as integers.
MIXED = HEAD + """point
INLINE int above(const int filter_mixed)
{
    return filter_mixed > 3;
}
INLINE pixel filter_mixed(pixel p, int x, int y, arguments args)
{
    int i, j;
    const int odd = x & 1, even = !odd;
    if (odd)
        p.r = (x < y) + 1;
    for (i = 3, j = 4; i; i--, j++)
        p.g = p.g ? p.g - 1 : !j;
    while (j)
        j--;
    p.b = (x && y) * 100 + ((x < 3) == (y < 3));
    p.b += even;
    x > 3 ? (p.r += 9) : (p.r -= 4);
    (p.r) += above(x) - -!x;
    p.g += (x++ > 3 && x < 9) << (y > 2);
    switch (x > 3) { case 1: p.g += 5; }
    do if (y = x) p.b += 3, p.g--; while (!x);
    return p;
}
"""
# The mean of its output and its input, and another pixel at each place.
ECHO = HEAD + """point
//!PREVIOUS
INLINE pixel filter_echo(pixel p, pixel previous, int x, int y, arguments args)
{
    p.r = (p.r + 3 * previous.r + x) / 4 % 256;
    p.g = (p.g + previous.g + y) / 2 % 256;
    p.b = previous.b + 1;
    return p;
}
"""
MOMENT = HEAD + """point
INLINE pixel filter_moment(pixel p, int x, int y, arguments args)
{
    p.r = FRAME(args) * 20;
    p.g = FRAME(args) * 20;
    p.b = TIME(args) / 10;
    return p;
}
"""
# Moves the picture 2.5 pixels to the left and 1.5 pixels down.
MOVE = HEAD + """warp
INLINE place filter_move(place p, arguments args)
{
    p.x += 640; // \u00e0 gauche
    p.y -= 384;
    return p;
}
"""
# Places far outside, also where the sums overflow, and near the middle, which moves with the frames.
FAR = HEAD + """warp
//!PARAM size
//!TYPE int
//!RANGE 1 9
INLINE place filter_far(place p, arguments args)
{
    p.x = p.x % 768 == 0 ? 2147483647 : WIDTH(args) * 128 + p.y / 3 - 256 * FRAME(args);
    p.y = p.y % 1024 == 0 ? -2147483647 : HEIGHT(args) * 128 + p.x / ARG(args, 0);
    return p;
}
"""
# The mean of a picture and the input; the picture's alpha and the parameter in blue.
COVER = HEAD + """point
//!PARAM first
//!TYPE int
//!RANGE 0 9
//!PARAM image
//!TYPE file
INLINE pixel filter_cover(pixel p, pixel picture, int x, int y, arguments args)
{
    p.r = (p.r + picture.r) / 2;
    p.g = (p.g + picture.g) / 2;
    p.b = picture.a / 2 + 16 * ARG(args, 1) + ARG(args, 0);
    return p;
}
"""
ONLY = HEAD + """point
//!PARAM image
//!TYPE file
INLINE pixel filter_only(pixel p, pixel picture, int x, int y, arguments args)
{
    return picture;
}
"""
POINT = "INLINE pixel filter_a(pixel p, int x, int y, arguments args)\n{\n    return p;\n}\n"
FAST = ["cpu", "gl"]
PATHS = FAST + (["opencl"] if has_opencl(MONOCLE) else [])  # PoCL takes seconds to compile


def settings():
    return {"XDG_CACHE_HOME": at("cache"), "XDG_CONFIG_HOME": at("config"), "XDG_DATA_DIRS": at("none"),
            "XDG_DATA_HOME": at("data")}


def write(name, text, mode=0o644):
    os.makedirs(at("filters"), exist_ok=True)
    path = at("filters", name)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)
    return path


def convert(path, chain, directory=None, **env):
    """Filters in.png. Returns the exit status, the bytes of the output and standard error."""
    code, _, err = run(MONOCLE, "batch", "--overwrite", "-p", path, "-f", chain, "--filters",
                       directory or at("filters"), "--compression", "1", at("in.png"), "-o", at("out.png"),
                       **{**settings(), **env})
    if code:
        return code, None, err
    with open(at("out.png"), "rb") as file:
        return code, file.read(), err


def prepare(c):
    os.mkdir(at("cache"))


def equal(c, chain, directory=None, paths=FAST):
    results = {path: convert(path, chain, directory) for path in paths}
    for path, (code, data, err) in results.items():
        if path == "gl" and "no GL context" in err:
            continue
        c.check(code == 0 and data == results["cpu"][1] and "runs on the cpu path" not in err, chain, path, code, err)
    return results["cpu"][1]


@slow
def shipped(c):
    """Each example, on pictures of odd sizes."""
    names = sorted(name[:-3] for name in os.listdir(SHIPPED))
    c.check("kaleidoscope" in names, names)
    png(at("in.png"), 131, 67)
    for name in names:
        equal(c, name, SHIPPED)
    png(at("in.png"), 1, 3)
    equal(c, ",".join(names), SHIPPED, PATHS)


@slow
def places(c):
    """Places and sizes are those of the filter's own picture, wherever mirrors and stencils stand."""
    write("place.cl", PLACE)
    write("shift.cl", SHIFT)
    write("div.cl", PLACE.replace("filter_place", "filter_div"))  # no name clashes with those of user.cl
    png(at("in.png"), 61, 131)  # so tall that the cpu path runs several passes in a band
    plain = equal(c, "place")
    c.check(equal(c, "div") == plain, "another name")
    names = ("common", "language", "pass", "user")  # the files of kernels have these names
    for name in names:
        write(name + ".cl", PLACE.replace("filter_place", "filter_" + name))
    same = convert("cpu", "shift,place,mirror,place,place,place=3,place")[1]
    c.check(equal(c, "shift,common,mirror,language,pass,place=3,user", paths=PATHS) == same, names)
    c.check(equal(c, "mirror,place") == plain, "a mirror before the filter changes its places")
    c.check(equal(c, "blur=2,mirror,place,flip,flip") == plain, "a mirror after a blur")
    mirrored = equal(c, "place,mirror")
    c.check(mirrored and mirrored != plain and equal(c, "place,mirror,mirror") == plain, "mirror after the filter")
    c.check(equal(c, "place=3") != plain, "the parameter has no effect")
    equal(c, "place,flip,shift,place=add=-2,mirror,gray", paths=PATHS)
    equal(c, "crop=40:30:3:2,place,shift")
    equal(c, "place,mirror,place=2,blur=1")


def safe(c):
    """Divisions by zero, loops without end and wild places have the same defined results on each path."""
    write("unsafe.cl", UNSAFE)
    write("wild.cl", WILD)
    write("mixed.cl", MIXED)
    png(at("in.png"), 61, 31)
    equal(c, "unsafe,mixed", paths=PATHS)
    equal(c, "wild", paths=PATHS)
    write("pick.cl", PICK)
    c.check(equal(c, "pick,threshold=60") == equal(c, "pick=55:77,invert,threshold=190"), "an argument by place")
    for name, index in ("last", "x + 1"), ("one", "1"):
        write(name + ".cl", PICK.replace("filter_pick", "filter_" + name).replace("x > 3", index))
    c.check(equal(c, "last") == equal(c, "one"), "ARG beyond the parameters")


def equal_at_random(c, seed, *chains):
    for i, kind in enumerate(("point", "stencil", "warp", "point")):
        write("r%d.cl" % i, filter_text("r%d" % i, kind, 4 * seed + i))
    for chain in chains:
        if not equal(c, chain, paths=PATHS):
            print("FAILED: the filters of the seed %d" % seed, file=sys.stderr)


def at_random(c):
    """Random filters give the same bytes on each path."""
    png(at("in.png"), 23, 11)
    equal_at_random(c, 0, "r0,r1,r2,r3")


@slow
def more_at_random(c):
    png(at("in.png"), 23, 11)
    for seed in range(1, 6):
        equal_at_random(c, seed, "r0", "r1", "r2", "r3")  # PoCL compiles some pairs for longer than 30 s


@slow
def warps(c):
    """A warp of a user's filter is that of the filter warp; mirrors, stencils and sizes around it count."""
    write("move.cl", MOVE)
    write("far.cl", FAR)
    write("place.cl", PLACE)
    png(at("in.png"), 61, 31)
    moved = equal(c, "move", paths=PATHS)
    c.check(moved == equal(c, "warp=1 0 -2.5 0 1 1.5 0 0 1"), "places")
    c.check(equal(c, "mirror,move,mirror") == equal(c, "warp=1 0 2.5 0 1 1.5 0 0 1"), "between mirrors")
    c.check(equal(c, "gray,move") == equal(c, "gray,warp=1 0 -2.5 0 1 1.5 0 0 1"), "a grey picture")
    c.check(equal(c, "far=3", paths=PATHS) == convert("cpu", "far=3", MONOCLE_VECTORS="plain")[1], "without vectors")
    equal(c, "crop=40:30:3:2,blur=2,far,place,mirror,move,gray,flip")
    for size in ((1, 1), (1, 9), (7, 1)):
        png(at("in.png"), *size)
        equal(c, "far,move")


@slow
def files(c):
    """A filter with an image file gets it scaled and cut to its own picture."""
    write("cover.cl", COVER)
    write("only.cl", ONLY)
    write("place.cl", PLACE)
    png(at("a=b.png"), 60, 20)
    shutil.copy(at("a=b.png"), at("in.png"))
    code, wanted, err = convert("cpu", "none")
    wide, tall, small = (convert("cpu", chain)[1] for chain in (
        "scale=90:30,crop=30:30", "scale=180:60,crop=21:60", "scale=15:5:method=area,crop=7:5"))
    c.check(equal(c, "only=image=" + at("a=b.png"), paths=PATHS) == wanted, "the picture itself")
    png(at("in.png"), 30, 30)
    c.check(equal(c, "only=image=" + at("a=b.png")) == wide, "its sides are cut")
    png(at("in.png"), 21, 60)
    c.check(equal(c, "only=image=" + at("a=b.png")) == tall, "larger")
    png(at("in.png"), 7, 5)
    c.check(equal(c, "only=image=" + at("a=b.png")) == small, "smaller")
    png(at("in.png"), 240, 160)
    equal(c, f"cover=2:image={at('a=b.png')},gamma=2,cover,mirror,blur=2,place,cover=image={at('a=b.png')}",
          paths=PATHS)
    os.rename(at("a=b.png"), at("home.png"))
    c.check(convert("cpu", "only=~/home.png", HOME=at())[0] == 0, "a file in the home directory")
    nothing = equal(c, "only")
    c.check(nothing == equal(c, "only=none") and nothing not in (wanted, small), "no file")
    for name, wanted in (("no.png", "cannot read the file"), ("x" * 256, "has more than 255 characters with")):
        code, _, err = convert("cpu", "only=" + at(name))
        c.check(code == 2 and wanted in err and err.count("\n") == 1, name, code, err)
    write("../broken.png", b"\x89PNG\r\n\x1a\n" + bytes(40))
    os.mkfifo(at("pipe"))
    for name in ("broken.png", "pipe", "filters"):
        for path in PATHS:
            code, _, err = convert(path, "only=" + at(name))
            c.check(code == 2 and f"only: cannot use the file '{at(name)}': " in err, path, name, code, err)


def moments(c):
    """The number and the time of a frame, and the previous output, in passes of few and of many arguments."""
    write("moment.cl", MOMENT)
    write("echo.cl", ECHO)
    write("far.cl", FAR)
    write("shift.cl", SHIFT)
    source = "pattern:32x16@10,rgba"
    chains = {"blur,moment,gamma=2,gamma=0.5,moment,gray": PATHS, "blur=3,gray,echo,mirror,echo,shift,flip": PATHS,
              "crop=20:10,echo,echo,gamma=2,far=2,moment": PATHS + ["gl es"]}
    for chain, paths in chains.items():
        films = {}
        for path in paths:
            es = {"MESA_GL_VERSION_OVERRIDE": "2.1"} if path == "gl es" else {}  # then Mesa has only OpenGL ES 3
            code, _, err = run(MONOCLE, "live", source, "--headless", "--frames", "3", "-f", chain, "-p",
                               path.split()[0], "--filters", at("filters"), "--record", at("film.y4m"),
                               "--overwrite", **settings(), **es)
            path = path.split()[0]
            if path == "gl" and "no GL context" in err:
                continue
            with open(at("film.y4m"), "rb") as film:
                films[path] = film.read()
            c.check(code == 0 and films[path] == films["cpu"], chain, path, code, err)
        pictures = y4m_pictures(films["cpu"])
        c.check(len(pictures) == 3 and len(set(pictures)) == 3, chain, "frames differ")
    write("hold.cl", HEAD + "point\n//!PREVIOUS\nINLINE pixel filter_hold(pixel p, pixel previous, int x, int y, "
          "arguments args)\n{\n    return previous;\n}\n")
    code, _, err = run(MONOCLE, "live", source, "--headless", "--frames", "4", "-f", "hold", "--filters", at("filters"),
                       "--record", at("film.y4m"), "--overwrite", "-p", "cpu", **settings())
    with open(at("film.y4m"), "rb") as film:
        pictures = y4m_pictures(film.read())
    c.check(code == 0 and len(set(pictures)) == 1, "the first frame stays", err)
    # The third frame: number 2, 200 ms.
    code, _, err = run(MONOCLE, "live", source, "--headless", "--frames", "3", "-f", "moment", "-p", "cpu", "--filters",
                       at("filters"), "--screenshot", at("in.png"), **settings())
    write("same.cl", HEAD + "point\nINLINE pixel filter_same(pixel p, int x, int y, arguments args)\n{\n    p.r = 40;\n"
          "    p.g = 40;\n    p.b = 20;\n    return p;\n}\n")
    c.check(code == 0 and convert("cpu", "same")[1] == convert("cpu", "none")[1], code, err)


def levels(c):
    """A filter that was compiled for one level of vectors is not loaded for another one."""
    png(at("in.png"), 8, 8)
    write("a.cl", HEAD + "point\n" + POINT)
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        two = "avx2" in file.read() and "MONOCLE_VECTORS" not in os.environ
    for level, files in (("plain", 1), ("avx2", 2 if two else 1), ("plain", 2 if two else 1)):
        code, _, err = convert("cpu", "a", MONOCLE_VECTORS=level)
        kept = [name for name in os.listdir(at("cache", "monocle")) if name.endswith(".so")]
        c.check(code == 0 and len(kept) == files, level, kept, code, err)


def foreign(c):
    """Filters and a cache in a directory that other users can replace: one line, and none is used."""
    png(at("in.png"), 8, 8)
    write("a.cl", HEAD + "point\n" + POINT)
    os.makedirs(at("cache", "monocle"), 0o700)
    os.chmod(at("cache"), 0o777)
    code, _, err = convert("cpu", "a,a")
    c.check(code == 0 and err.count("\n") == 1 and "cannot store compiled kernels: " in err and
            "is below a directory that all users can write" in err, code, err)
    os.chmod(at("cache"), 0o700)
    os.makedirs(at("theirs", "mine"))
    shutil.move(at("filters"), at("theirs", "mine", "filters"))
    os.symlink(at("theirs", "mine", "filters"), at("link"))
    if os.geteuid() == 0:
        os.chown(at("theirs"), 65534, 65534)
        why = "is below a directory of another user"
    else:
        os.chmod(at("theirs"), 0o777)
        why = "is below a directory that all users can write"
    for place in at("theirs", "mine", "filters"), at("link"):
        code, _, err = convert("cpu", "a", place)
        c.check(code == 2 and err.count("\n") == 1 and
                "error: cannot use the filters in %s: it %s; move it to a directory of your own" % (place, why) in err,
                place, code, err)
    # The options of a configuration there are not used, nor its filters and looks.
    os.makedirs(at("theirs", "mine", "monocle"))
    shutil.move(at("theirs", "mine", "filters"), at("theirs", "mine", "monocle", "filters"))
    for name, text in ("config", "mistake = 1\n"), ("looks", "ours = gray\n"):
        with open(at("theirs", "mine", "monocle", name), "w", encoding="utf-8") as file:
            file.write(text)
    live = ["live", "pattern:8x8", "--headless", "--frames", "1", "-p", "cpu"]
    for more, wanted, lines in ([], 0, 2), (["--look", "ours"], 2, 4):
        code, _, err = run(MONOCLE, *live, *more, **{**settings(), "XDG_CONFIG_HOME": at("theirs", "mine")})
        c.check(code == wanted and err.count("\n") == lines and err.count(why) == lines - bool(more), more, code, err)


def lists(c):
    code, out, err = run(MONOCLE, "filters", "--json", **settings())
    own = {row["name"] for row in json.loads(out) if row["user"]}
    c.check(own == {name[:-3] for name in os.listdir(SHIPPED)}, "the examples are in the program", own)
    write("place.cl", PLACE)
    code, out, err = run(MONOCLE, "filters", "place", "--json", "--filters", at("filters"), **settings())
    row = json.loads(out)[0]
    c.check(code == 0 and row["parameters"][0]["min"] == -9 and row["summary"] == "a test", out, err)
    os.makedirs(at("config", "monocle"))
    shutil.move(at("filters"), at("config", "monocle", "filters"))
    code, out, err = run(MONOCLE, "filters", "place", **settings())
    c.check(code == 0 and b"add" in out, out, err)
    code, out, err = run(MONOCLE, "completion", "words", "filters", "pla", **settings())
    c.check(b"place\ta test" in out, out)


def errors(c):
    """An error of a compiler names the file and the line."""
    png(at("in.png"), 8, 8)
    write("a.cl", HEAD + "point\n" + POINT)
    os.mkdir(at("kernels"))
    with open(os.path.join(SOURCES, "kernels", "user.cl"), encoding="utf-8") as file:
        text = file.read()
        write("../kernels/user.cl", text + "INLINE int user_wrong(int x) { return wrong(x); }\n")
    place = f"user.cl:{text.count(chr(10)) + 1}"
    for path in PATHS:
        code, _, err = run(MONOCLE, "live", "pattern:16x16", "--headless", "--frames", "1", "-p", path, "-f", "a",
                           "--filters", at("filters"), "--kernels", at("kernels"), **settings())
        c.check(path == "cpu" or "no GL context" in err or
                (code == 3 and place in err and "'wrong'" in err and "a.cl" not in err.replace("user.cl", "") and
                 err.startswith("monocle: error: ")), path, code, err)
    # The helper b_c of the filter a and the helper c of the filter a_b.
    write("a.cl", HEAD + "point\nINLINE int b_c(int x) { return x; }\n" + POINT)
    write("a_b.cl", HEAD + "point\nINLINE int c(int x) { return x; }\n" + POINT.replace("filter_a", "filter_a_b"))
    c.check(equal(c, "a,a_b") == convert("cpu", "none")[1], "equal names")
    write("a.cl", HEAD + "point\n" + POINT)
    os.mkdir(at("bin"))
    if shutil.which("ld"):
        os.symlink(shutil.which("ld"), at("bin", "ld"))  # PoCL needs it
    code, _, err = convert("cpu", "a", PATH=at("bin"), XDG_CACHE_HOME=at("other"))
    c.check(code == 3 and "the C compiler cc, which is missing" in err, code, err)
    wanted = convert("cpu", "a")[1]
    no_opencl = {"OCL_ICD_VENDORS": "/proc/nowhere"}  # PoCL takes seconds to compile
    code, data, err = convert("auto", "a", PATH=at("bin"), XDG_CACHE_HOME=at("other"), **no_opencl)
    c.check((code == 0 and data == wanted and "cc for users' filters, which is missing; using the" in err) or
            "no GL context" in err, code, err)
    wrapped = ["-c", 'ulimit -n 10; exec "$@"', "sh", MONOCLE, "batch", "--overwrite", "-p", "cpu", "-f", "a",
               "--filters", at("filters"), at("in.png"), "-o", at("out.png")]
    code, _, err = run("sh", *wrapped, **{**settings(), "XDG_CACHE_HOME": at("few")})
    c.check(code == 0 or "the limit of open files is 10" in err, code, err)
    live = ["live", "pattern:32x16", "--headless", "--frames", "2", "-f", "a", "--filters", at("filters"), "--json"]
    needed = b'"path":"cpu"' in run(MONOCLE, *live, **settings(), **no_opencl)[1]  # else a GPU runs the filters
    code, _, err = run(MONOCLE, *live, **{**settings(), **no_opencl, "PATH": at("bin"), "XDG_CACHE_HOME": at("other")})
    c.check((code == 0 and ("which is missing; using the" in err) == needed) or "no GL context" in err, code, err)


def interrupted(c):
    """A signal ends a compiler that does not end."""
    png(at("in.png"), 8, 8)
    write("a.cl", HEAD + "point\n" + POINT)
    os.mkdir(at("bin"))
    for program in ("cc", "ld"):  # PoCL calls ld
        write("../bin/" + program, "#!/bin/sh\necho > %s\nexec sleep 300\n" % at("started"), 0o755)
    for path in (path for path in PATHS if path != "gl"):
        with subprocess.Popen([MONOCLE, "batch", "-p", path, "-f", "a", "--filters", at("filters"), at("in.png"), "-o",
                               at("out.png")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **settings(), "PATH": at("bin") + ":" + os.environ["PATH"]}) as batch:
            while not os.path.exists(at("started")) and batch.poll() is None:
                time.sleep(0.05)
            c.check(batch.poll() is None, path, "ends before the signal")
            start = time.monotonic()
            batch.terminate()
            out, err = batch.communicate()
        c.check(time.monotonic() - start < 20 and "interrupted" in err, path, err)
        c.check(batch.returncode == 143 and "0 of 1 files done, 1 not reached" in out, path, batch.returncode, out)
        os.remove(at("started"))


def foreign_cache(c):
    """The cpu path reports once that it cannot store the compiled filter, because other users can write the cache."""
    png(at("in.png"), 8, 8)
    write("a.cl", HEAD + "point\n" + POINT)
    write("b.cl", HEAD + "point\n" + POINT.replace("filter_a", "filter_b"))
    os.mkdir(at("cache", "monocle"))
    os.chmod(at("cache", "monocle"), 0o777)
    code, _, err = convert("cpu", "a,b")
    c.check(code == 0 and err.count("\n") == 1, code, err)
    c.check(at("cache", "monocle") + " can be written by other users" in err, err)
    c.check(os.listdir(at("cache", "monocle")) == [], "is used")


def refused(c):
    """One line says what is wrong with a file, and the other files are used."""
    png(at("in.png"), 8, 8)
    cases = [
        ("b" * 10_000_000, "it is larger than 256 KiB"),
        (HEAD + "point\n\x1b[31m", "a.cl:3: the byte 0x1b is not plain ASCII text"),
        (b"\0" * 50, "a.cl:1: the byte 0x00"),
        ("", "a.cl:1: the file has no line '//!SUMMARY text'"),
        (HEAD + "warps\n", "a.cl:2: KIND is 'warps', but must be point, stencil or warp"),
        (HEAD + "warp\n//!PREVIOUS\n", "only a filter with KIND point has PREVIOUS"),
        (HEAD + "warp\n//!RADIUS 1\n", "only a stencil has a RADIUS"),
        (HEAD + "warp\n//!PARAM f\n//!TYPE file\n", "only a filter with KIND point has a parameter with TYPE file"),
        (HEAD + "point\n//!PARAM f\n//!TYPE file\n//!RANGE 0 1\n", "can have only DESC"),
        (HEAD + "point\n//!PARAM f\n//!TYPE file\n//!PARAM g\n//!TYPE file\n", "has only one second picture"),
        (HEAD + "point\n//!PREVIOUS\n//!PARAM f\n//!TYPE file\n", "has only one second picture"),
        ("//!SUMMARY x\n", "has no line '//!KIND"),
        (HEAD + "stencil\n", "a stencil needs a RADIUS"),
        (HEAD + "stencil\n//!RADIUS 99\n", "a.cl:3: RADIUS is '99'"),
        (HEAD + "stencil\n//!RADIUS\n", "a.cl:3: RADIUS is ''"),
        (HEAD + "point\n//!PARAM a\n//!RANGE 0 1e38\n", "exceeds 1073741824"),
        (HEAD + "point\n//!PARAM a\n//!RANGE nan inf\n", "a.cl:4: RANGE"),
        (HEAD + "point\n//!RANGE 0 1\n", "a.cl:3: RANGE needs a PARAM before it"),
        (HEAD + "stencil\n//!RADIUS 1\n//!PREVIOUS\n", "only a filter with KIND point has PREVIOUS"),
        (HEAD + "point\n//!WHAT 1\n", "a.cl:3: there is no declaration 'WHAT'"),
        (HEAD + "point\n", "no function filter_a; write: INLINE pixel filter_a(pixel p, int x, int y, arguments args)"),
        (HEAD + "point\n" + POINT.replace("filter_a", "filter_ab"), "has no function filter_a;"),
        (HEAD + "point\nINLINE int f(int filter_a) { return filter_a; }\n" + POINT.replace("int y, ", ""), "a.cl:4: "),
        (HEAD + "point\n" + POINT.replace("int y, ", ""), "a.cl:3: the function's types do not fit its kind; write: "),
        (HEAD + "stencil\n//!RADIUS 1\n" + POINT, "a.cl:4: the function's types do not fit its kind; write: INLINE i"),
        (HEAD + "point\n//!PREVIOUS\n" + POINT, "write: INLINE pixel filter_a(pixel p, pixel previous, int x"),
        (HEAD + "point\n//!PARAM f\n//!TYPE file\n" + POINT, "write: INLINE pixel filter_a(pixel p, pixel picture"),
        (HEAD + "warp\n" + POINT, "do not fit its kind; write: INLINE place filter_a(place p, arguments args)"),
        (HEAD + "point\n//!PARAM a\n//!PARAM b\n//!RANGE 0 1\n", "a.cl:3: the parameter a has no RANGE"),
        (HEAD + "point\n//!SUMARY x\n", "a.cl:3: there is no declaration 'SUMARY'; did you mean 'SUMMARY'?"),
        (HEAD + "point\n//!PARAM a\n//!DESC \u00e9\n", "a.cl:4: a declaration must be plain ASCII text"),
        (HEAD + "point\n// \u00e9 /* \u00e9 */\n" + POINT.replace("return", "\u00e9; return"), "a.cl:6: the byte 0xc3"),
        (HEAD + "point\n" + POINT.replace("return", "p.r = lum(p); return"), "a.cl:5: there is no function 'lum'; a"),
        (HEAD + "point\n#define A_N(x) sqrt(x)\n" + POINT.replace("return", "p.r = A_N(4); return"),
         "a.cl:6: there is no function 'sqrt'"),
        (HEAD + "point\nINLINE int a_f(int abort)\n{\n    return abort;\n}\n" +
         POINT.replace("return", "abort(); return"), "a.cl:9: there is no function 'abort'"),
        (HEAD + "point\n" + POINT.replace("return p", "return q"), "a.cl:5: there is no variable 'q'"),
        (HEAD + "point\n" + POINT.replace("return p", "p"), "a.cl:6: the end of the function 'filter_a' has no return"),
        (HEAD + "point\n" + POINT.replace("return", "int b, kill(int); return"), "a function cannot be declared"),
        (HEAD + "point\n#include </etc/passwd>\n" + POINT, "a.cl:3: #include is not allowed"),
        (HEAD + "point\n" + POINT.replace("return", "int t[3]; return"), "a.cl:5: a filter cannot have arrays"),
        (HEAD + "point\n" + POINT.replace("return", "*&p; return"), "a.cl:5: a filter cannot have pointers"),
        (HEAD + "point\n" + POINT.replace("return", "p.r = 2.5; return"), "a.cl:5: the number 2.5 is not"),
        (HEAD + "point\n" + POINT.replace("return", "float f; return"),
         "a.cl:5: a filter cannot have 'float'; it computes with int"),
        (HEAD + "point\n" + POINT.replace("INLINE", "inline"),
         "a.cl:3: a filter cannot have 'inline'; its functions begin with INLINE"),
        (HEAD + "point\n" + POINT.replace("return p", "return filter_a(p, x, y, args)"), "a.cl:5: the function"),
        (HEAD + "point\n" + POINT.replace("return", "if (x { return"), "a.cl:5: "),
        (HEAD + "point\n#if '/*'\n#endif\n" + POINT, "a.cl:3: #if is not allowed"),
        (HEAD + "point\n#define X '/*'\n" + POINT, "a.cl:3: the kernel language has no"),
        (HEAD + "point\n#define X(1) 1\n" + POINT, "a.cl:3: the parameters of a macro must be names"),
        (HEAD + "point\n#define if while\n" + POINT, "a.cl:3: 'if' cannot be a macro"),
        (HEAD + "point\n#define user_turns x\n" + POINT, "a.cl:3: the name 'user_turns' belongs to monocle"),
        (HEAD + "point\n" + POINT.replace("return", "\n#define X 1\nreturn"), "a #define must stand outside functions"),
        (HEAD + "point\n" + POINT.replace("return", "__builtin_trap(); return"),
         "'__builtin_trap' belongs to compilers"),
        (HEAD + "point\n" + POINT.replace("return", "int gl_a; return"), "the name 'gl_a' belongs to compilers"),
        (HEAD + "point\n" + POINT.replace("return", "int a<:4:>; return"), "a.cl:5: '<' cannot stand here"),
        (HEAD + "point\nint a_n;\n" + POINT, "a.cl:3: outside functions there can be only"),
        (HEAD + "point\nINLINE int a_f(int x), a_d;\n" + POINT, "a.cl:3: outside functions there can be only"),
        (HEAD + "point\nINLINE int a_f(int x)\n{\n    return a_f\n(x);\n}\n" + POINT,
         "a.cl:5: the function 'a_f' calls"),
        (HEAD + "point\n#define A_R a_f\nINLINE int a_f(int x)\n{\n    return A_R(x);\n}\n" + POINT,
         "a.cl:6: the function 'a_f' calls itself"),
        (HEAD + "point\nINLINE int f(int x);\n" + POINT, "a.cl:3: a function cannot be declared without its body"),
    ]
    cases += [(text, "a.cl:%d: %s" % (line, says)) for text, line, says in hostile_filters("a")]
    for number, (text, _) in enumerate(cases):  # in one run: each file is refused, whatever the others contain
        write("c%d.cl" % number, text if isinstance(text, bytes) else text.replace("filter_a", "filter_c%d" % number))
    code, out, err = run(MONOCLE, "filters", "blur", "--filters", at("filters"), **settings())
    c.check(code == 0 and err.count("\n") == err.count("warning: ") == len(cases) and "\x1b" not in err, code, err)
    for number, (_, wanted) in enumerate(cases):
        wanted = wanted.replace("a.cl", "c%d.cl" % number).replace("filter_a", "filter_c%d" % number)
        found = [line for line in err.splitlines() if "/c%d.cl" % number in line]
        c.check(len(found) == 1 and wanted in found[0], wanted, found)
    shutil.rmtree(at("filters"))
    write("a.cl", "")
    code, _, err = convert("cpu", "a")
    c.check(code == 2 and "/a.cl: " in err and err.count("\n") == 1, code, err)
    code, _, err = convert("cpu", "blur=1")
    c.check(code == 0 and err == "", "a refused file disturbs no chain without it", code, err)
    write("a.cl", HEAD + "point\n" + POINT, 0o666)
    write("blur.cl", HEAD + "point\n" + POINT)
    write("g__h.cl", HEAD + "point\n" + POINT)
    os.mkfifo(at("filters", "c.cl"))
    os.symlink("/dev/zero", at("filters", "d.cl"))
    code, _, err = run(MONOCLE, "filters", "blur", "--filters", at("filters"), **settings())
    for wanted in ("a.cl: it can be written by other users", "g__h.cl: the name of a filter's file must be",
                   "blur.cl: monocle has a filter of this name", "c.cl: it is not a regular file", "d.cl: it "):
        c.check(code == 0 and wanted in err, wanted, code, err)
    if os.geteuid() == 0:
        os.remove(at("filters", "d.cl"))
        os.chown(write("e.cl", HEAD + "point\n" + POINT), 65534, 65534)
        os.symlink(at("filters", "e.cl"), at("filters", "d.cl"))
        code, _, err = run(MONOCLE, "filters", "blur", "--filters", at("filters"), **settings())
        c.check("d.cl: it belongs to another user" in err, err)
    os.chmod(at("filters"), 0o777)
    code, _, err = run(MONOCLE, "filters", "--filters", at("filters"), **settings())
    c.check(code == 2 and "error: cannot use the filters in" in err and err.count("\n") == 1, code, err)
    code, _, err = run(MONOCLE, "filters", "--filters", at("nothing"), **settings())
    c.check(code == 2 and "correct --filters or MONOCLE_FILTERS" in err, code, err)


def kernels(c):
    """A kernel of --kernels that is too large, or that has no end, is refused with its name and the reason."""
    os.mkdir(at("kernels"))
    gray = at("kernels", "gray.cl")
    for make, wanted in ((lambda: write("../kernels/gray.cl", "/" * 10_000_000), "File too large"),
                         (lambda: os.mkfifo(gray), "it is not a regular file"),
                         (lambda: os.symlink("/dev/zero", gray), "it is not a regular file")):
        make()
        code, _, err = run(MONOCLE, "live", "pattern:16x16", "--headless", "--frames", "1", "-p", "gl", "-f", "gray",
                           "--kernels", at("kernels"), **settings())
        c.check((code == 3 and "kernels/gray.cl: " + wanted in err and err.count("\n") == 1) or "no GL context" in err,
                code, err)
        os.remove(gray)


if not shutil.which("cc"):
    skip("there is no C compiler")
sys.exit(Checks().run(shipped, places, safe, at_random, more_at_random, warps, files, moments, levels, foreign,
                      foreign_cache, lists, errors, interrupted, refused, kernels, before=prepare))
