"""test_suite.py: the counts of tools/suite and .ci/run, flaky tests, wrong names; errors of tools/filters-page

Its argument is a build directory. .ci/run runs in a copy whose steps only print.
"""
import contextlib
import io
import json
import os
import shutil
import sys

sys.path.append(sys.path[0] + "/../support")
from checks import SOURCES, Checks, at, programs, skip, slow
from live_support import run

[build] = programs(1)
# A project whose test 'a flaky' fails only at its first run, 'odd' is skipped at its second, 'picky' fails with the
# argument "wrong".
# Test 'long' is slow and alone in its suite.
PROJECT = """project('toy')
sh = find_program('sh')
test('good', sh, args: ['-c', 'exit 0'], suite: 'a')
test('bad', sh, args: ['-c', 'exit 1'], suite: 'b')
test('absent', sh, args: ['-c', 'exit 77'], suite: 'a')
test('a flaky', sh, args: ['-c', 'test -e "$0" || ! touch "$0"', meson.current_build_dir() / 'ran'], suite: 'c')
test('odd', sh, args: ['-c', 'test -e "$0" && exit 77; ! touch "$0"', meson.current_build_dir() / 'odd'], suite: 'd')
test('long', sh, args: ['-c', 'exit 1'], suite: ['e', 'slow'])
test('picky', sh, args: ['-c', 'test "$1" != wrong', 'sh'], suite: 'd')
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)


def make_project():
    write(at("meson.build"), PROJECT)
    run("meson", "setup", at("build"), at())


def suite(*arguments):
    """Returns the exit code, the last two lines and standard error."""
    for mark in "ran", "odd":
        if os.path.exists(at("build", mark)):
            os.unlink(at("build", mark))
    code, out, err = run(os.path.join(SOURCES, "tools/suite"), at("build"), *arguments)
    return code, out.decode().splitlines()[-2:], err


def counts(c):
    make_project()
    code, lines, _ = suite()
    c.check(code == 1 and lines == ["suite: 1 flaky (passed when run again alone): 'a flaky'",
                                    "3 passed, 2 failed, 1 skipped"], code, lines)
    code, lines, _ = suite("absent", "picky", "--test-args=wrong")
    c.check(code == 1 and lines[1] == "0 passed, 1 failed, 1 skipped", "again with its arguments", code, lines)


@slow
def selections(c):
    """Counts of some tests and suites, with and without slow ones."""
    make_project()
    code, lines, _ = suite("--all", "--suite=a", "--suite=e")
    c.check(code == 1 and lines[1] == "1 passed, 1 failed, 1 skipped", "with the slow tests", code, lines)
    for arguments in (["--suite=slow"], ["long"], ["--all", "absent", "--suite=e"]):
        code, lines, _ = suite(*arguments)
        c.check(code == 1 and "1 failed" in lines[1] and "left out" not in lines[0], arguments, code, lines)
    code, lines, _ = suite("--suite=a", "--suite=e")
    c.check(code == 0 and lines == ["suite: left out 1 slow tests; --all runs them, too",
                                    "1 passed, 0 failed, 1 skipped"], code, lines)
    code, lines, _ = suite("absent", "good", "--suite=e")
    c.check(code == 0 and lines[1] == "1 passed, 0 failed, 1 skipped", "a slow test of a suite", code, lines)
    code, lines, _ = suite("--suite", "a", "--suite=c")
    c.check(code == 0 and lines == ["suite: 1 flaky (passed when run again alone): 'a flaky'",
                                    "2 passed, 0 failed, 1 skipped"], code, lines)
    code, lines, _ = suite("good")
    c.check(code == 0 and lines[1] == "1 passed, 0 failed, 0 skipped" and "flaky" not in lines[0], code, lines)
    code, lines, _ = suite("absent")
    c.check(code == 1 and lines[1] == "0 passed, 0 failed, 1 skipped", "nothing passed", code, lines)
    code, lines, _ = suite("picky", "--test-args=wrong")
    c.check(code == 1 and lines[1] == "0 passed, 1 failed, 0 skipped", "again with its arguments", code, lines)


def wrong_names(c):
    make_project()
    for arguments in (["good", "goood"], ["goood"], ["--suite", "a", "goood"], ["good", "--verbose", "goood"]):
        code, lines, err = suite(*arguments)
        c.check(code == 1 and lines == ["0 passed, 1 failed, 0 skipped"], arguments, code, lines)
        wanted = "no test has the name goood; there are: a flaky, absent, bad, good, long, odd, picky\n"
        c.check(wanted in err, arguments, err)
    for arguments in (["--suite", "a", "--suite", "aa"], ["--no-suite=aa"]):
        code, lines, err = suite(*arguments)
        c.check(code == 1 and lines == ["0 passed, 1 failed, 0 skipped"], arguments, code, lines)
        c.check("no suite has the name aa; there are: a, b, c, d, e, slow\n" in err, arguments, err)


def copy_run():
    """Copies .ci/run beside tools that do nothing."""
    write(at("copy/.ci/run"), open(os.path.join(SOURCES, ".ci/run"), encoding="utf-8").read())
    write(at("copy/tools/setup"), "#!/bin/sh\n")
    write(at("copy/tools/build"), "#!/bin/sh\n")


def known_names(c):
    """Each test and suite that .ci/run names for the sanitizers is in the build."""
    copy_run()
    write(at("copy/tools/suite"), "#!/bin/sh\nshift\nprintf '%s\\n' \"$@\" >>" + at("named") + "\n")
    run(at("copy/.ci/run"), "address", "thread")
    with open(os.path.join(build, "meson-info/intro-tests.json"), encoding="utf-8") as file:
        tests = json.load(file)
    known = {test["name"] for test in tests} | {suite.split(":")[-1] for test in tests for suite in test["suite"]}
    with open(at("named"), encoding="utf-8") as file:
        named = [line for line in file.read().splitlines() if line != "--suite"]
    c.check(len(named) > 20, named)
    # a build without Clang has no fuzzers
    c.check(set(named) - known - {"fuzz"} == set(), set(named) - known)


def summed(c):
    copy_run()
    write(at("copy/tools/test"), """#!/bin/sh
echo "suite: 2 flaky (passed when run again alone): 'live', 'latency camera'"
echo 5 passed, 0 failed, 1 skipped
""")
    code, out, err = run(at("copy/.ci/run"), "test", "gcc")
    c.check(code == 0 and out.decode().splitlines()[-2:] == [
        "run: 2 flaky (passed when run again alone): 'live' (test), 'latency camera' (test)",
        "7 passed, 0 failed, 1 skipped"], code, out, err)
    code, out, err = run(at("copy/.ci/run"), "test", "test", "gcc")
    c.check(code == 1 and out.decode().splitlines()[-3:] == [
        "run: 4 flaky (passed when run again alone): 'live' (test), 'latency camera' (test), 'live' (test), "
        "'latency camera' (test)", "run: flaky in two steps, so failed: 'latency camera', 'live'",
        "12 passed, 1 failed, 2 skipped"], code, out, err)
    code, out, err = run(at("copy/.ci/run"), "gcc", "tset")
    lines = out.decode().splitlines()
    c.check(code == 1 and lines[-1] == "2 passed, 1 failed, 0 skipped", code, out, err)
    c.check("no step has the name tset; there are: subjects gcc" in err and "flaky" not in lines[-2], out, err)


def scripts_checks(c):
    """The checks of a script: selection, order, an empty directory for each, the exit code."""
    ran = []

    def one(checks):
        checks.check(os.listdir(at()) == [])
        write(at("file"), "")
        ran.append("one")

    def other(checks):
        one(checks)
        checks.check(False, "other ran")
        ran[-1] = "other"

    @slow
    def late(checks):
        one(checks)
        ran[-1] = "late"

    rows = (
        ((), (), 1, "no check was made", []),
        ((one, other), ("one",), 0, "", ["one"]),
        ((one, other), ("one", "one"), 0, "", ["one", "one"]),
        ((one, other), ("oen", "one"), 2, "are: one, other", []),
        ((one, other), (), 1, "other ran", ["one", "other"]),
        ((one, other), ("other", "one"), 1, "other ran", ["other", "one"]),
        ((one, late), (), 0, "", ["one"]),
        ((one, late), ("--slow",), 0, "", ["late"]),
        ((one, late), ("late", "one"), 0, "", ["late", "one"]),
        ((one,), ("--slow",), 1, "no check was made", []),
    )
    for tests, only, code, says, wanted in rows:
        ran.clear()
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
            got = Checks().run(*tests, only=only)
        c.check(got == code and says in said.getvalue() and ran == wanted, tests, only, got, said.getvalue(), ran)


def pages(c):
    """tools/filters-page reports a program that fails in one line."""
    for program, says in (("/proc/nowhere", "cannot run /proc/nowhere: No such file"),
                          (shutil.which("false"), "exit status 1"), (shutil.which("true"), "is not monocle")):
        code, _, err = run(os.path.join(SOURCES, "tools/filters-page"), "--check", program)
        c.check(code == 1 and says in err and err.count("\n") == 1, program, code, err)


if not shutil.which("meson"):
    skip("meson is not installed")
sys.exit(Checks().run(counts, selections, wrong_names, known_names, summed, scripts_checks, pages))
