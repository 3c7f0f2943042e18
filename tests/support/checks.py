"""checks.py: the arguments and the checks of a Python test, and a directory for each check

    SCRIPT PROGRAM... [CHECK...]    runs these checks, in this order; a wrong name lists them
                                    default: all checks but the slow ones
    SCRIPT PROGRAM... --slow        runs the slow checks

A check is a function with one parameter, which counts its comparisons. The decorator @slow marks a slow check, which
only `tools/test --all` runs. Checks run in any order, or alone: `tools/test 'batch' --test-args=inputs`.
"""
import os
import subprocess
import sys
import tempfile
import time

SKIP = 77
SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = os.path.join(SOURCES, "kernels")
TESTS = os.path.join(SOURCES, "tests")

names = []  # names of the checks to run
slow_checks = set()


def slow(check):
    """Marks a check that only `tools/test --all` runs."""
    slow_checks.add(check)
    return check


def programs(count):
    """Returns the script's first `count` arguments as absolute paths; the rest are names of checks."""
    if "--help" in sys.argv or len(sys.argv) <= count:
        print("%s\n\n%s" % (sys.modules["__main__"].__doc__.strip(), __doc__.strip()))
        sys.exit("--help" not in sys.argv and 2)
    names.extend(sys.argv[1 + count:])
    return [os.path.abspath(name) for name in sys.argv[1:1 + count]]


def skip(why):
    """Ends the script with the exit status of a skipped test."""
    print("skipped: " + why, file=sys.stderr)
    sys.exit(SKIP)


def at(*names):
    """Returns a path in the directory of the running check, which is empty at its start and removed at its end."""
    return os.path.join(Checks.directory, *names)


class Checks:
    """Counts comparisons and failures. A failure does not end the test, so one run shows them all."""
    directory = None

    def __init__(self):
        self.done = self.failed = 0

    def check(self, condition, *what):
        self.done += 1
        if not condition:
            self.failed += 1
            print("FAILED:", *what, file=sys.stderr)

    def run_one(self, test, before):
        outer, start = Checks.directory, (time.monotonic(), sum(os.times()[:4]))
        with tempfile.TemporaryDirectory(prefix="monocle-test-", ignore_cleanup_errors=True) as Checks.directory:
            try:
                if before:
                    before(self)
                test(self)
            except (AssertionError, subprocess.TimeoutExpired, ValueError, KeyError, IndexError) as problem:
                self.check(False, test.__name__, type(problem).__name__, problem)
        Checks.directory = outer
        print("%-30s %5.1f s, %5.1f s of processor time" % (test.__name__, time.monotonic() - start[0],
                                                            sum(os.times()[:4]) - start[1]), flush=True)

    def run(self, *tests, only=None, before=None):
        """Runs tests, or those named in `only` (default: the script's arguments). Returns the exit status.

        `before` runs at the start of each test, in its directory.
        """
        known = {test.__name__: test for test in tests}
        only = list(names if only is None else only)
        if only in ([], ["--slow"]):
            only = [test.__name__ for test in tests if (test in slow_checks) == bool(only)]
        unknown = [name for name in only if name not in known]
        if unknown:
            print("no test has the name %s; there are: %s" % (", ".join(unknown), ", ".join(known)), file=sys.stderr)
            return 2
        for name in only:
            self.run_one(known[name], before)
        if self.done == 0:
            print("FAILED: no check was made", file=sys.stderr)
        return 1 if self.failed or self.done == 0 else 0
