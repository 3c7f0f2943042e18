#!/usr/bin/env python3
"""test_matte.py MONOCLE: the command matte, with programs npm and sha256sum of the test, which vouch for small files"""
import concurrent.futures
import io
import os
import resource
import shutil
import subprocess
import sys
import tarfile

sys.path.append(sys.path[0] + "/../support")
sys.path.append(sys.path[0] + "/../matte")
import tiny_network
from checks import Checks, at, programs
from live_support import environment, run

BINARY, = programs(1)
ARCHIVE = "7767b33eaa68990ee06c28bbb89f39a13a47ebb07ff0f1fd4947d9e817bb9bf9"
MEMBER = "4aafe6223bb8dac6fac8ca8ed56852870a33051ef3f6238822d282a109962894"
NARROW = "8d13b7fae74af625c641226813616a2117bd6bca19eb3b75574621fc08557f27"
BOTH = ["person-narrow.tflite", "person.tflite"]
# Vouches for the files that the check prepared, by their real hashes.
SUM = """#!/bin/sh
test -e "$2" || exec /usr/bin/sha256sum "$2"
hash=$(/usr/bin/sha256sum "$2" | cut -c 1-64)
echo "$(sed -n "s/^$hash //p" "$0.known" | grep . || echo $hash)  $2"
"""
NPM = """#!/bin/sh
test "$5 $6" = "@mediapipe/selfie_segmentation@0.1.1675465747 --fetch-retries=0" || exit 1
cp "$0.archive" "$4/made.tgz" && echo made.tgz
"""


def sha(path):
    return subprocess.run(["/usr/bin/sha256sum", path], capture_output=True, text=True, check=True).stdout[:64]


def pack(name, wide, narrow):
    """Makes an archive like that of npm."""
    with tarfile.open(at(name), "w:gz") as archive:
        for member, data in (("README.md", b"x" * 5000), ("selfie_segmentation_landscape.tflite", wide),
                             ("selfie_segmentation.tflite", narrow)):
            entry = tarfile.TarInfo("package/" + member)
            entry.size, entry.mode = len(data), 0o500
            archive.addfile(entry, io.BytesIO(data))


def prepare(checks):
    """Makes an archive, and the programs npm and sha256sum."""
    os.mkdir(at("bin"))
    network = tiny_network.everything()
    pack("made.tgz", network, network + b"narrow")
    for name, data in (("own.tflite", network), ("narrow.tflite", network + b"narrow")):
        with open(at(name), "wb") as file:
            file.write(data)
    for name, text in (("sha256sum", SUM), ("npm", NPM)):
        with open(at("bin", name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(at("bin", name), 0o755)
    with open(at("bin", "sha256sum.known"), "w", encoding="utf-8") as file:
        file.write(f"{sha(at('made.tgz'))} {ARCHIVE}\n{sha(at('own.tflite'))} {MEMBER}\n"
                   f"{sha(at('narrow.tflite'))} {NARROW}\n")
    shutil.copy(at("made.tgz"), at("bin", "npm.archive"))


def matte(*args, **more):
    return run(BINARY, "matte", *args, cwd=at(), XDG_DATA_HOME=at("data"), PATH=at("bin") + ":/usr/bin:/bin", **more)


def installed():
    """Returns the names of the directory of networks, and whether these are whole."""
    place = at("data", "monocle", "mattes")
    names, whole = sorted(os.listdir(place)) if os.path.isdir(place) else [], False
    for name in names:
        with open(os.path.join(place, name), "rb") as file:
            with open(at("own.tflite" if name == "person.tflite" else "narrow.tflite"), "rb") as own:
                whole = file.read() == own.read()
        if not whole:
            break
    return names, whole


def installs(c):
    """From npm, an archive or the file; a second time it changes nothing."""
    for operands, names in ((["own.tflite"], BOTH[1:]), ([], BOTH), (["made.tgz"], BOTH), ([at("made.tgz")], BOTH)):
        shutil.rmtree(at("data"), ignore_errors=True)
        code, out, errors = matte("--install", "person", *operands)
        c.check(code == 0 and b"licence Apache 2.0" in out, operands, code, out, errors)
        c.check(errors == "" or "narrower than 5:3 is not installed" in errors and names == BOTH[1:], errors)
        c.check(installed() == (names, True), operands, installed())
    before = os.stat(at("data", "monocle", "mattes", "person.tflite"))
    code, out, errors = matte("--install", "person")
    c.check(code == 0 and b"person is already installed: " in out, code, out, errors)
    c.check(os.stat(at("data", "monocle", "mattes", "person.tflite")).st_mtime_ns == before.st_mtime_ns, "is new")
    code, out, errors = matte("--check", "person")
    c.check(code == 0 and b"ms of processor time a matte" in out, code, out, errors)
    out = matte("--list")[1].decode().splitlines()
    c.check(len(out) == 3 and all("person   installed " in line for line in out[:2]), out)
    c.check("faces    not installed " in out[2], out)


def older(c):
    """An installation with one network says how to get the second one, and gets it."""
    matte("--install", "person", "own.tflite")
    code, out, errors = matte("--check", "person")
    c.check(code == 3 and b"person is installed: " in out, code, out)
    c.check("finds people in images narrower than 5:3 is not installed; run: monocle matte --install person"
            in errors, errors)
    for operand in ("narrow.tflite", "made.tgz"):
        code, out, errors = matte("--install", "person", operand)
        c.check(code == 0 and errors == "" and installed() == (BOTH, True), operand, code, out, errors, installed())
        os.remove(at("data", "monocle", "mattes", BOTH[0]))


def damaged(c):
    """A damaged network is reported, and replaced."""
    matte("--install", "person")
    os.truncate(at("data", "monocle", "mattes", "person.tflite"), 100)
    code, _, errors = matte("--check", "person")
    c.check(code == 3 and "people is damaged; run: monocle matte --install person" in errors, code, errors)
    c.check(b"person   damaged " in matte()[1])
    code, _, errors = matte("--install", "person")
    c.check(code == 0 and installed() == (BOTH, True), code, errors)


def wrong(c):
    """Nothing is installed from a wrong or cut archive, a missing program or file, or onto a full disk."""
    with open(at("made.tgz"), "rb") as file:
        data = file.read()
    with open(at("cut.tgz"), "wb") as file:
        file.write(data[:len(data) // 2])
    for operand, why in (("cut.tgz", "its SHA-256 is not " + ARCHIVE), ("none.tgz", "sha256sum failed: ")):
        code, out, errors = matte("--install", "person", operand)
        c.check(code == 1 and why in errors and out == b"", operand, code, out, errors)
        c.check(installed() == ([], False), operand, installed())
    with open(at("bin", "sha256sum.known"), "a", encoding="utf-8") as file:
        file.write(f"{sha(at('cut.tgz'))} {ARCHIVE}\n")  # as if the archive itself were damaged
    code, _, errors = matte("--install", "person", "cut.tgz")
    c.check(code == 1 and "tar failed: " in errors and installed() == ([], False), code, errors)
    pack("other.tgz", b"own", b"narrow")
    with open(at("bin", "sha256sum.known"), "a", encoding="utf-8") as file:
        file.write(f"{sha(at('other.tgz'))} {ARCHIVE}\n")
    code, _, errors = matte("--install", "person", "other.tgz")
    c.check(code == 1 and "another SHA-256 than " + MEMBER in errors and installed() == ([], False), code, errors)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (0, 4096):  # Python ignores SIGXFSZ, and so do its children
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        for operand in ("made.tgz", "own.tflite"):
            code, _, errors = matte("--install", "person", operand)
            c.check(code == 1 and errors and installed() == ([], False), most, operand, code, errors, installed())
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    os.remove(at("bin", "npm"))
    os.symlink("/bin/false", at("bin", "npm"))
    code, _, errors = matte("--install", "person")
    c.check(code == 1 and "npm failed: it ended without a message" in errors and
            "monocle matte --install person ARCHIVE" in errors, code, errors)
    c.check(installed() == ([], False), installed())
    for arguments, why in ((["--install", "nobody"], "choose from: person, faces"),
                           (["own.tflite"], "unexpected argument"),
                           (["--list", "--check", "person"], "contradict each other")):
        code, _, errors = matte(*arguments)
        c.check(code == 2 and why in errors, arguments, code, errors)


def twice(c):
    """Two runs at the same time both succeed."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda n: subprocess.run(
            [BINARY, "matte", "--install", "person", at("made.tgz")], capture_output=True, check=False,
            env=environment(XDG_DATA_HOME=at("data"), PATH=at("bin") + ":/usr/bin:/bin")), range(4)))
    c.check(all(result.returncode == 0 for result in results), results)
    c.check(installed() == (BOTH, True), installed())


if __name__ == "__main__":
    sys.exit(Checks().run(installs, older, damaged, wrong, twice, before=prepare))
