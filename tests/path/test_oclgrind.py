"""test_oclgrind.py: Oclgrind reports nothing in the generic kernels, and reports faults that the test puts into them

    test_oclgrind.py TEST_OCLGRIND KERNELS      the program test_oclgrind, the directory of the .cl files

Oclgrind simulates a device. It reports accesses outside buffers, uninitialised values, data races and wrong calls.
"""
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, KERNELS = sys.argv[1:3]
SKIP = 77

# Each loader, stencil and kind of output at least once. Pictures are tiny, because Oclgrind is slow.
CASES = [
    ("nv21", "14x6", "gray,gamma"),
    ("rgba", "9x5", "median"),
    ("rgb24", "9x4", "blur=2,sepia,sobel"),
    ("yuyv", "8x4", "mirror,convolve=gaussian,maxrgb"),
    ("yu12", "7x5", "emboss,flip,contrast=2"),
    ("grey", "11x3", "sharpen,threshold"),
]
# Each fault: the file, a text in it, the faulty text that replaces it, and a part of Oclgrind's message.
FAULTS = [
    ("invert.cl", "255 - p.r", "255 - ARG(args, 1 << 20)", "Invalid read"),
    ("invert.cl", "p.r = 255 - p.r;", "volatile int unset[2]; p.r = unset[p.r & 1];", "ninitialized"),
    ("pass_io.cl", "to[y * layout.s7 + x] = pack(p)", "to[0] = pack(p) + x", "data race"),
]


def oclgrind(directory, case, *arguments):
    """Returns Oclgrind's messages and the finished program."""
    log = os.path.join(directory, "log")
    done = subprocess.run(
        ["oclgrind", "--check-api", "--data-races", "--uninitialized", "--log", log, PROGRAM, "opencl", "--variant",
         "generic", *arguments, "--case", *case],
        capture_output=True, text=True, env=dict(os.environ, XDG_CACHE_HOME="/dev/null"))
    with open(log, encoding="utf-8", errors="replace") as messages:
        return messages.read(), done


def main():
    if not shutil.which("oclgrind"):
        print("skipped: oclgrind is not installed (package oclgrind)")
        return SKIP
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for case in CASES:
            messages, done = oclgrind(directory, case)
            wrong = messages.strip() or done.returncode != 0 or "Oclgrind Simulator" not in done.stderr
            failed += bool(wrong)
            print("failed" if wrong else "passed", *case)
            if wrong:
                print(messages[:4000], done.stderr[-2000:])
        for number, (file, text, fault, expected) in enumerate(FAULTS):
            broken = os.path.join(directory, str(number))
            os.mkdir(broken)
            with open(os.path.join(KERNELS, file), encoding="utf-8") as source:
                whole = source.read()
            if text not in whole:
                print(f"failed: {file} has no '{text}' any more")
                failed += 1
                continue
            with open(os.path.join(broken, file), "w", encoding="utf-8") as copy:
                copy.write(whole.replace(text, fault))
            messages, done = oclgrind(directory, ("rgba", "9x5", "invert"), "--kernels", broken)
            found = expected in messages
            failed += not found
            print("passed" if found else "failed", f"a fault in {file} is found: {expected}")
            if not found:
                print(messages[:4000], done.stderr[-2000:])
    return 1 if failed else 0


sys.exit(main())
