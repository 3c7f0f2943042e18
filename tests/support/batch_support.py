"""batch_support.py: helpers of the batch command's tests: trees of images, runs, reports"""
import hashlib
import json
import os
import struct
import zlib

from checks import at
from live_support import png, run

NONE = ["-f", "none"]

def tree(root, count, width=24, height=16):
    """Makes images of several sizes in nested directories. Returns their names relative to the root."""
    names = []
    for i in range(count):
        name = ("", "a/", "a/b/", "c d/")[i % 4] + "p%03d.png" % i
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        png(os.path.join(root, name), width + i % 7, height + i % 5)
        names.append(name)
    return sorted(names)


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def digests(root):
    """Returns the SHA-256 of every file below a directory, hidden files included, by name."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, root)] = hashlib.sha256(f.read()).hexdigest()
    return found


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def files(path):
    """Returns the lines of a report that are about files, by input."""
    return {row["input"]: row for row in lines(path) if "input" in row}


def batch(binary, *args, **keywords):
    """Runs a batch, with -f none if the arguments name no filter. Returns the same as run()."""
    return run(binary, "batch", *([] if "-f" in args else NONE), *args, cwd=at(), **keywords)


def outcome(c, binary, args, code, says="", **keywords):
    """Runs a batch and checks its exit code and a part of its standard error. Returns the lines of standard error."""
    got, out, err = batch(binary, *args, **keywords)
    c.check(got == code, args, "exit code", got, "not", code, err)
    c.check(says in err, args, "does not say", says, "but", err)
    c.check((says == "") == (err == ""), args, "says", err)
    return err.splitlines()
