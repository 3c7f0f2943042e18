"""test_suite.py: what tools/suite and .ci/run count: flaky tests, names that do not exist; errors of tools/filters-page

    test_suite.py SOURCES      .ci/run runs in a copy, on steps that only print
"""
import contextlib
import io
import os
import shutil
import sys
import tempfile

sys.path.append(sys.path[0] + "/../support")
from live_support import SKIP, Checks, run

SOURCES = os.path.abspath(sys.argv[1])
# A project whose test 'flaky' fails at its first run only, and 'odd' is skipped at its second.
PROJECT = """project('toy')
sh = find_program('sh')
test('good', sh, args: ['-c', 'exit 0'], suite: 'a')
test('bad', sh, args: ['-c', 'exit 1'], suite: 'b')
test('absent', sh, args: ['-c', 'exit 77'], suite: 'a')
test('a flaky', sh, args: ['-c', 'test -e "$0" || ! touch "$0"', meson.current_build_dir() / 'ran'], suite: 'c')
test('odd', sh, args: ['-c', 'test -e "$0" && exit 77; ! touch "$0"', meson.current_build_dir() / 'odd'], suite: 'd')
"""
directory = tempfile.TemporaryDirectory()


def at(*names):
    return os.path.join(directory.name, *names)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)


def suite(*arguments):
    """Exit code, the last two lines, standard error."""
    for mark in "ran", "odd":
        if os.path.exists(at("build", mark)):
            os.unlink(at("build", mark))
    code, out, err = run(os.path.join(SOURCES, "tools/suite"), at("build"), *arguments)
    return code, out.decode().splitlines()[-2:], err


def counts(c):
    code, lines, _ = suite()
    c.check(code == 1 and lines == ["suite: 1 flaky (passed when run again alone): 'a flaky'",
                                    "2 passed, 2 failed, 1 skipped"], code, lines)
    code, lines, _ = suite("--suite", "a", "--suite=c")
    c.check(code == 0 and lines == ["suite: 1 flaky (passed when run again alone): 'a flaky'",
                                    "2 passed, 0 failed, 1 skipped"], code, lines)
    code, lines, _ = suite("good")
    c.check(code == 0 and lines[1] == "1 passed, 0 failed, 0 skipped" and "flaky" not in lines[0], code, lines)
    code, lines, _ = suite("absent")
    c.check(code == 1 and lines[1] == "0 passed, 0 failed, 1 skipped", "nothing passed", code, lines)


def wrong_names(c):
    for arguments in (["good", "goood"], ["goood"], ["--suite", "a", "goood"], ["good", "--verbose", "goood"]):
        code, lines, err = suite(*arguments)
        c.check(code == 1 and lines == ["0 passed, 1 failed, 0 skipped"], arguments, code, lines)
        c.check("no test has the name goood; there are: a flaky, absent, bad, good, odd\n" in err, arguments, err)
    for arguments in (["--suite", "a", "--suite", "aa"], ["--no-suite=aa"]):
        code, lines, err = suite(*arguments)
        c.check(code == 1 and lines == ["0 passed, 1 failed, 0 skipped"], arguments, code, lines)
        c.check("no suite has the name aa; there are: a, b, c, d\n" in err, arguments, err)


def summed(c):
    write(at("copy/.ci/run"), open(os.path.join(SOURCES, ".ci/run"), encoding="utf-8").read())
    write(at("copy/tools/setup"), "#!/bin/sh\n")
    write(at("copy/tools/build"), "#!/bin/sh\n")
    write(at("copy/tools/test"), """#!/bin/sh
echo "suite: 2 flaky (passed when run again alone): 'live', 'latency camera'"
echo 5 passed, 0 failed, 1 skipped
""")
    code, out, err = run(at("copy/.ci/run"), "test", "test", "clang")
    c.check(code == 0 and out.decode().splitlines()[-2:] == [
        "run: 4 flaky (passed when run again alone): 'live' (test), 'latency camera' (test), 'live' (test), "
        "'latency camera' (test)", "12 passed, 0 failed, 2 skipped"], code, out, err)
    code, out, err = run(at("copy/.ci/run"), "clang", "tset")
    lines = out.decode().splitlines()
    c.check(code == 1 and lines[-1] == "2 passed, 1 failed, 0 skipped", code, out, err)
    c.check("no step has the name tset; there are: gcc" in err and "flaky" not in lines[-2], out, err)


def scripts_checks(c):
    """A script that makes no check, or is asked for a test that it does not have, fails."""
    def one(checks):
        checks.check(True)

    def other(checks):
        checks.check(False, "ran")

    rows = (
        ((), (), 1, "no check was made"),
        ((one, other), ("one",), 0, ""),
        ((one, other), ("oen", "one"), 2, "are: one, other"),
        ((one, other), (), 1, "ran"),
    )
    for tests, only, code, says in rows:
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
            got = Checks().run(*tests, only=only)
        c.check(got == code and says in said.getvalue(), tests, only, got, said.getvalue())


def pages(c):
    """tools/filters-page reports a program that fails in one line."""
    for program, says in (("/nonexistent", "cannot run /nonexistent: No such file"),
                          (shutil.which("false"), "exit status 1"), (shutil.which("true"), "is not monocle")):
        code, _, err = run(os.path.join(SOURCES, "tools/filters-page"), "--check", program)
        c.check(code == 1 and says in err and err.count("\n") == 1, program, code, err)


if not shutil.which("meson"):
    print("skipped: meson is not installed", file=sys.stderr)
    sys.exit(SKIP)
write(at("meson.build"), PROJECT)
run("meson", "setup", at("build"), directory.name)
sys.exit(Checks().run(counts, wrong_names, summed, scripts_checks, pages, only=sys.argv[2:]))
