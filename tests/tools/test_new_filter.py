"""test_new_filter.py: tools/new-filter makes complete filters in a copy of the source, and refuses the others"""
import os
import shutil
import subprocess
import sys

sys.path.append(sys.path[0] + "/../support")
from checks import SOURCES, Checks, at
from live_support import run

PARTS = ["src/filter", "src/image", "src/base", "kernels", "docs", "tests/reference", "tests/path", "tests/structure",
         "tools"]


def copy_source():
    for part in PARTS:
        shutil.copytree(os.path.join(SOURCES, part), at("source", part),
                        ignore=shutil.ignore_patterns("*.png", "*.jpg", "*.webp"))
    shutil.copy(os.path.join(SOURCES, ".clang-format"), at("source"))
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", "-C", at("source"), *command], check=True)


def changed():
    out = subprocess.run(["git", "-C", at("source"), "status", "--porcelain"], check=True, capture_output=True,
                         text=True).stdout
    return {line[3:] for line in out.splitlines() if line[1] != " "}


def read(path):
    with open(at("source", path), encoding="utf-8") as file:
        return file.read()


def make(name, *template):
    return run(at("source/tools/new-filter"), name, *template)


def refuses(c):
    """Names that are taken or wrong, and filters that it cannot copy, change nothing."""
    for args, says in ((("blur",), "the name blur is taken"), (("chain",), "the name chain is taken"),
                       (("Tint",), "NAME must be"), (("a_b",), "NAME must be"), (("tint", "blurr"), "no filter blurr"),
                       (("tint", "lut"), "copy another filter"), (("tint", "erode"), "copy another filter")):
        code, _, err = make(*args)
        c.check(code == 1 and says in err and err.count("\n") == 1 and not changed(), args, code, err, changed())


def copies(c):
    """Each kind of filter: the files, their rows, and the rules of the source; the C files compile."""
    for name, template in (("tint", None), ("edgy", "sharpen"), ("halo", "vignette"), ("steps", "posterize"),
                           ("smooth", "bilateral")):
        code, out, err = make(name, *[template] if template else [])
        c.check(code == 0 and err == "", name, code, out, err)
        code = read(f"src/filter/{name}.c")
        c.check(f"filter_{name} = {{" in code and ".color" not in code and (template or "saturation") not in code, code)
        c.check(os.path.exists(at("source/kernels", name + ".cl")) == (name != "steps"), name)
        c.check(f"`{name}`" in read("docs/pixels.md"), name, "has a rule")
        c.check(f", '{name}'" in read("kernels/meson.build") or f"\n  '{name}'" in read("kernels/meson.build"), name)
        c.check(f'    "{name}",\n' in read("tests/path/paths_cases.c"), name, "runs on the paths")
        for place in out.decode().splitlines()[1:-1]:
            path, line = place.split(":")[:2]
            c.check(name in read(path.strip()).splitlines()[int(line) - 1], place)
    for path in sorted(changed()):
        if path.endswith(".c") and "<stb_" not in read(path) and "paths_cases" not in path:
            done = subprocess.run(["cc", "-std=gnu11", "-Wall", "-Werror", "-fsyntax-only", "-Isrc", "-Itests/support",
                                   "-Itests/reference", path], cwd=at("source"), capture_output=True, text=True)
            c.check(done.returncode == 0, path, done.stderr)
    for rule in ("text", "lengths", "first_lines"):
        code, out, _ = run(sys.executable, at("source/tests/structure/source.py"), rule, at("source"))
        c.check(code in (0, 77), rule, out)


def both(c):
    copy_source()
    refuses(c)
    copies(c)


sys.exit(Checks().run(both))
