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
# Vouches for the files that the check prepared, by their real hashes.
SUM = """#!/bin/sh
test -e "$2" || exec /usr/bin/sha256sum "$2"
hash=$(/usr/bin/sha256sum "$2" | cut -c 1-64)
echo "$(sed -n "s/^$hash //p" "$0.known" | grep . || echo $hash)  $2"
"""
NPM = """#!/bin/sh
test "$5" = "@mediapipe/selfie_segmentation@0.1.1675465747" || exit 1
cp "$0.archive" "$4/made.tgz" && echo made.tgz
"""


def sha(path):
    return subprocess.run(["/usr/bin/sha256sum", path], capture_output=True, text=True, check=True).stdout[:64]


def prepare(checks):
    """Makes an archive, and the programs npm and sha256sum."""
    os.mkdir(at("bin"))
    network = tiny_network.everything()
    with tarfile.open(at("made.tgz"), "w:gz") as archive:
        for name, data in (("package/README.md", b"x" * 5000),
                           ("package/selfie_segmentation_landscape.tflite", network)):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o500
            archive.addfile(entry, io.BytesIO(data))
    with open(at("own.tflite"), "wb") as file:
        file.write(network)
    for name, text in (("sha256sum", SUM), ("npm", NPM)):
        with open(at("bin", name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(at("bin", name), 0o755)
    with open(at("bin", "sha256sum.known"), "w", encoding="utf-8") as file:
        file.write(f"{sha(at('made.tgz'))} {ARCHIVE}\n{sha(at('own.tflite'))} {MEMBER}\n")
    shutil.copy(at("made.tgz"), at("bin", "npm.archive"))


def matte(*args, **more):
    return run(BINARY, "matte", *args, cwd=at(), XDG_DATA_HOME=at("data"), PATH=at("bin") + ":/usr/bin:/bin", **more)


def installed():
    """Returns the names of the directory of networks, and whether person's is whole."""
    place = at("data", "monocle", "mattes")
    names = sorted(os.listdir(place)) if os.path.isdir(place) else []
    with open(at("own.tflite"), "rb") as own:
        want = own.read()
    if "person.tflite" not in names:
        return names, False
    with open(os.path.join(place, "person.tflite"), "rb") as file:
        return names, file.read() == want


def installs(c):
    """From npm, an archive or the file; a second time it changes nothing."""
    for operands in ([], ["made.tgz"], [at("made.tgz")], ["own.tflite"]):
        shutil.rmtree(at("data"), ignore_errors=True)
        code, out, errors = matte("--install", "person", *operands)
        c.check(code == 0 and errors == "" and b"licence Apache 2.0" in out, operands, code, out, errors)
        c.check(installed() == (["person.tflite"], True), operands, installed())
    before = os.stat(at("data", "monocle", "mattes", "person.tflite"))
    code, out, errors = matte("--install", "person")
    c.check(code == 0 and b"person is already installed: " in out, code, out, errors)
    c.check(os.stat(at("data", "monocle", "mattes", "person.tflite")).st_mtime_ns == before.st_mtime_ns, "is new")
    code, out, errors = matte("--check", "person")
    c.check(code == 0 and b"ms of processor time a matte" in out, code, out, errors)
    out = matte("--list")[1].decode().splitlines()
    c.check(len(out) == 2 and "person   installed " in out[0] and "faces    not installed " in out[1], out)


def damaged(c):
    """A damaged network is reported, and replaced."""
    matte("--install", "person")
    os.truncate(at("data", "monocle", "mattes", "person.tflite"), 100)
    code, _, errors = matte("--check", "person")
    c.check(code == 3 and "person is damaged; run: monocle matte --install person" in errors, code, errors)
    c.check(b"person   damaged " in matte()[1])
    code, _, errors = matte("--install", "person")
    c.check(code == 0 and installed() == (["person.tflite"], True), code, errors)


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
    c.check(code == 1 and "npm failed: " in errors and "monocle matte --install person ARCHIVE" in errors, code, errors)
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
    c.check(installed() == (["person.tflite"], True), installed())


if __name__ == "__main__":
    sys.exit(Checks().run(installs, damaged, wrong, twice, before=prepare))
