#!/usr/bin/env python3
"""source.py: checks one rule of docs/architecture.md on the source

source.py RULE ROOT   exit status: 0 the source keeps the rule, 1 it does not (prints each place), 77 not checked
"""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

FILE_LINES = 1200
FUNCTION_LINES = 60
COLUMNS = 120

# Each layer, a directory of src, and the layers that it may include from, besides itself. A directory in a layer that
# is not named here is a room of the layer.
LAYERS = {
    "base": [],
    "image": ["base"],
    "matte": ["image", "base"],
    "road": [],
    "source": ["road", "image", "base"],
    "sink": ["image", "base"],
    "filter": ["matte", "image", "base"],
    "compute": ["base"],
    "path": ["compute", "filter", "image", "base"],
    "tune": ["path", "compute", "filter", "image", "base"],
    "tune/kernel": ["tune", "path", "compute", "filter", "image", "base"],
    "screen": ["image", "base"],
    "bench": ["path", "screen", "compute", "filter", "image", "base"],
    "lane": ["source", "road", "path", "compute", "filter", "image", "base"],
    "batch": ["matte", "path", "compute", "filter", "image", "base"],
    "inspect": ["matte", "source", "road", "path", "screen", "compute", "filter", "image", "base"],
    "stream": ["matte", "tune", "source", "road", "sink", "screen", "path", "compute", "filter", "image", "base"],
    "control": ["stream", "matte", "tune", "source", "road", "sink", "screen", "path", "compute", "filter", "image",
                "base"],
    "command": ["control", "stream", "inspect", "batch", "lane", "bench", "tune", "tune/kernel", "matte",
                "source", "road", "sink", "screen", "path", "compute", "filter", "image", "base"],
    "": ["command", "base"],  # main.c
}

# Headers that src/filter/meson.build generates.
GENERATED = {"filter/filter_kernels.h", "filter/filter_list.h"}

# Headers of third-party libraries, and the only files that may include them.
HOMES = {
    r"linux/videodev2\.h": r"src/image/videodev\.h",
    r"linux/close_range\.h": r"src/base/child\.c",
    r"libv4l.*": r"src/(image/videodev|source/camera_device)\.c",
    r"stb_image.*": r"src/image/codec/stb\.c",
    r"stb_truetype\.h": r"src/(screen/canvas|image/font)\.c",
    r"jpeglib\.h|jerror\.h": r"src/image/codec/jpeg\.c",
    r"libheif/heif\.h": r"src/image/codec/heif\.c",
    r"jxl/decode\.h": r"src/image/codec/jxl\.c",
    r"lcms2\.h": r"src/image/codec/profile\.c",
    r"gif_lib\.h": r"src/image/codec/gif\.c",
    r"webp/.*": r"src/image/codec/webp\.c",
    r"tiffio\.h": r"src/image/codec/tiff\.c",
    r"libdeflate\.h": r"src/image/codec/png(_chunk)?\.c|src/tune/study\.c",
    r"(pipewire|spa)/.*": r"src/(image|source)/pipewire(_nodes)?\.c|src/sink/pipewire_camera\.c",
    r"GLFW/.*": r"src/screen/window\.c",
    r"X11/.*": r"src/screen/window\.c",
    r"dlfcn\.h": r"src/(base/library|screen/window|compute/gl_context|inspect/inspect|path/user_rows)\.c",
    r"epoxy/.*|GL/.*|EGL/.*":
        r"src/screen/.*|src/base/gl_handles\.c|src/compute/(texture|gl_context)\.c|src/path/(gl.*|zerocopy)\.c",
    r"CL/cl_gl\.h": r"src/compute/.*\.c",
    r"CL/.*": r"src/compute/cl\.h",
    r"xxhash\.h": r"src/base/hash\.c",
    r"immintrin\.h": r"src/base/vector\.h",
    r"arm_neon\.h": r"src/base/vector\.h",
    r"jansson\.h":
        r"src/(command/.*|control/.*|bench/(bench|results)|inspect/.*|batch/(batch|merge|report)|"
        r"tune/(kernel/(spec_read|user_kernel)|space|study)|base/(json_text|trace)|"
        r"lane/(lane_camera|score)|path/backend|source/video_info)\.c",
}
# Rows of tables, and the only files that may name them. Other code reads columns, so that it works with new rows.
ROWS = {
    r"PATH_(OPENCL|ZEROCOPY)":
        r"src/path/.*|src/batch/(batch|choose|runner)\.c|src/inspect/inspect\.c",
    r"PIXFMT_(?!RGBA|GREY|COUNT|PLANES)\w+":  # formats of files, cameras and measurements, and defaults
        r"src/(image/(pixfmt|image|y4m|codec/).*|sink/virtual_camera\.c|source/(camera.*|generated|video_info)\.c|"
        r"bench/(filters|paths|pool)\.c|batch/worker\.c|matte/programs\.c)",
    # The name of a kind of source.
    r"str\w*cmp\(.*(?:info->kind|kinds\S*->name|\"(?:camera|pattern|noise|y4m|raw|video|list))":
        r"src/source/source\.c",
}
# Headers that any file may include: C11, POSIX and Linux.
SYSTEM = re.compile(
    r"(assert|ctype|dirent|errno|fcntl|float|ftw|glob|grp|inttypes|limits|locale|math|poll|pthread|sched|setjmp|signal|"
    r"spawn|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|time|unistd|sys/[a-z]+|"
    r"linux/[a-z-]+)\.h")

TEXT = re.compile(r"\.(c|h|cl|glsl|py|sh|md|build|txt|vert|frag|desktop|svg)$|^(tools|tests/\w+|\.ci)/[a-z-]+$|"
                  r"^\.[a-z-]+$")


def files(root, pattern):
    """Returns the project's files that match the pattern, relative to the root."""
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], check=True,
                                capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):  # a release without git
        listed = [os.path.relpath(os.path.join(folder, name), root)
                  for folder, folders, names in os.walk(root) for name in names
                  if not re.search(r"/(build|\.git)", folder)]
    found = sorted(name for name in listed if re.search(pattern, name) and os.path.isfile(os.path.join(root, name)))
    if not found:
        sys.exit(f"no file looks like {pattern}: the rule checks nothing")
    return found


def lines(root, name):
    with open(os.path.join(root, name), encoding="utf-8", newline="") as file:
        return file.read().split("\n")


def includes(root, pattern):
    """Yields (file, line number, '"' or '<', header) of every #include."""
    for name in files(root, pattern):
        for number, line in enumerate(lines(root, name), 1):
            found = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
            if found:
                yield name, number, found[1], found[2]


def layer_of(directory):
    """Returns the layer of a directory below src, and the room in it."""
    if directory in LAYERS:
        return directory, ""
    layer, _, room = directory.partition("/")
    return layer, room


def rule_layers(root):
    """A layer includes only lower layers. A subdirectory of a layer includes the layer's files, not its siblings."""
    for name, number, kind, header in includes(root, r"^src/.*\.[ch]$"):
        if kind != '"':
            continue
        layer, room = layer_of(os.path.dirname(name)[len("src/"):])
        target, target_room = layer_of(os.path.dirname(header))
        if header not in GENERATED and not os.path.isfile(os.path.join(root, "src", header)):
            yield f"{name}:{number}: {header} is not below src"
        elif layer not in LAYERS:
            yield f"{name}:{number}: src/{layer} is no layer"
        elif target != layer and target not in LAYERS[layer]:
            yield f"{name}:{number}: {layer or 'main'} may not include from {target}"
        elif room and target == layer and target_room not in ("", room):
            yield f"{name}:{number}: {layer}/{room} may not include from {target}/{target_room}"


def rule_homes(root):
    """Only the files in HOMES include a third-party library."""
    for name, number, kind, header in includes(root, r"^src/.*\.[ch]$"):
        if kind != "<":
            continue
        home = next((HOMES[library] for library in HOMES if re.fullmatch(library, header)), None)
        if home is None and not SYSTEM.fullmatch(header):
            yield f"{name}:{number}: <{header}> has no home; see HOMES in tests/structure/source.py"
        elif home is not None and not re.fullmatch(home, name):
            yield f"{name}:{number}: <{header}> may be included in {home} alone"


def rule_rows(root):
    """Only the files in ROWS name a row of a table."""
    for name in files(root, r"^src/.*\.[ch]$"):
        for number, line in enumerate(lines(root, name), 1):
            for row, homes in ROWS.items():
                found = re.search(rf"\b(?:{row})\b", line)
                if found and not re.fullmatch(homes, name):
                    yield f"{name}:{number}: {found[0]} is named here; ask for a column of its row"


def rule_lengths(root):
    """No file has more than FILE_LINES lines."""
    for name in files(root, r"^(src|kernels|shaders|tests|tools)/.*\.(c|h|cl|glsl|vert|frag|py|sh)$"):
        count = len(lines(root, name)) - 1
        if count > FILE_LINES:
            yield f"{name}: {count} lines; the most is {FILE_LINES}"


def functions(root, pattern):
    """Yields (name, file, first line, lines, is static) of each function in the files that match."""
    if not shutil.which("ctags"):
        print("skipped: ctags is not installed (package universal-ctags)")
        sys.exit(77)
    tags = subprocess.run(["ctags", "--languages=C", "--langmap=C:+.cl", "--kinds-C=f", "--fields=+nef", "-o", "-",
                           "--sort=no", *files(root, pattern)], cwd=root, check=True, capture_output=True,
                          text=True).stdout
    for tag in tags.splitlines():
        found = re.search(r"^(\w+)\t([^\t]+)\t.*\tline:(\d+).*\tend:(\d+)", tag)
        if found:
            static = re.search(r"\tfile:|\^VECTOR_INLINE", tag)
            yield found[1], found[2], int(found[3]), int(found[4]) - int(found[3]) + 1, static


def rule_functions(root):
    """No function has more than FUNCTION_LINES lines."""
    count = 0
    for name, file, line, length, _ in functions(root, r"^(src|kernels|tests)/.*\.(c|h|cl)$"):
        count += 1
        if length > FUNCTION_LINES:
            yield f"{file}:{line}: {name} has {length} lines; the most is {FUNCTION_LINES}"
    if count < 100:
        yield f"ctags found {count} functions only: the rule checks nothing"


def rule_names(root):
    """No two functions that other files can call have the same name: the linker would choose one of two libraries."""
    seen = {}
    for name, file, line, _, static in functions(root, r"^src/.*\.c$"):
        if static or name == "VECTORS_NAME":  # a macro that makes a name
            continue
        if name in seen:
            yield f"{file}:{line}: {name} is also a function of {seen[name]}"
        seen[name] = file
    if len(seen) < 100:
        yield f"ctags found {len(seen)} functions only: the rule checks nothing"


def rule_unique(root):
    """A tag of a struct, union or enum that a header names has one meaning in src."""
    named, defined = set(), collections.defaultdict(set)
    for name in files(root, r"^src/.*\.[ch]$"):
        text = "\n".join(lines(root, name))
        if name.endswith(".h"):
            named.update(re.findall(r"\b(?:struct|union|enum) (\w+)", text))
        for tag in re.findall(r"\b(?:struct|union|enum) (\w+) \{$", text, re.M):
            defined[tag].add(name)
    for tag in sorted(named & defined.keys()):
        if len(defined[tag]) > 1:
            yield f"{', '.join(sorted(defined[tag]))}: the tag {tag} is defined more than once, and a header names it"


def rule_headers(root):
    """Every header compiles alone, and when it is included twice.

    A header that a file of src includes first, before all others, compiles alone if this file does.
    """
    first = set()
    for name in files(root, r"^src/.*\.c$"):
        found = re.search(r'^\s*#\s*(if|include)\b\s*("([^"]*)")?', "\n".join(lines(root, name)), re.M)
        if found and found[3]:
            first.add("src/" + found[3])
    for name in files(root, r"^src/.*\.h$"):
        once = any(line.strip() == "#pragma once" for line in lines(root, name))
        if name in first and once:
            continue
        header = name[len("src/"):]
        text = f'#include "{header}"\n#include "{header}"\n'
        done = subprocess.run([*os.environ.get("CC", "cc").split(), "-xc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall",
                               "-Wextra", "-Werror", "-fsyntax-only", "-I", os.path.join(root, "src"), "-"],
                              input=text, capture_output=True, text=True)
        if done.returncode:
            yield f"{name}: does not compile alone\n{done.stderr}"


LANGUAGE = '#include "language.cl"\n#include "common.cl"\n'
# The text that src/path/pass_text.c writes before a template for a pass with a stencil.
PASS = LANGUAGE + """#define PASS_STENCIL filter_%s
#define PASS_STENCIL_AT 0
#define PASS_RADIUS 2
#define ROWS 2
"""


def filters(root):
    """Returns (file, name, return type of the function) of every filter."""
    found = [(name, *definition) for name in files(root, r"^kernels/[^/]*\.cl$") for definition in
             re.findall(r"^INLINE (pixel|int) filter_(\w+)\(", "\n".join(lines(root, name)), re.M)]
    if len(found) < 10:
        sys.exit(f"{len(found)} filters are found only: the rule checks nothing")
    return [(file, name, kind) for file, kind, name in found]


def kernel_texts(root):
    """Yields (name, text) of every program to compile: the filters together, each other kernel file alone, and the
    templates with a stencil and with those that have code of their own for a window."""
    stencils = [name for _, name, kind in filters(root) if kind == "int"]
    together = "typedef struct {\n    int at;\n} view;\nint tap(view v, int dx, int dy);\n#define RADIUS(v) 2\n"
    for name in files(root, r"^kernels/.*\.cl$"):
        short = name[len("kernels/"):]
        if f'"{short}"' in LANGUAGE:
            continue
        if f"filter_{short[:-3]}" in "\n".join(lines(root, name)):
            together += f'#include "{short}"\n'
        elif not short.endswith("_window.cl"):
            yield name, f'{LANGUAGE}#include "{short}"\n'
    yield "the filters", LANGUAGE + together
    for number, stencil in enumerate(stencils):
        own = f"variants/{stencil}_window.cl"
        windowed = os.path.isfile(os.path.join(root, "kernels", own))
        templates = [("pass.cl", f"{stencil}.cl"), ("variants/inside.cl", f"{stencil}.cl"),
                     ("variants/window.cl", own if windowed else f"{stencil}.cl")]
        for template, file in templates if number == 0 or windowed else []:
            filter_defines = "#define PASS_WINDOW_FILTER\n" if file == own else ""
            yield (f"{template} with {file}",
                   f'{PASS % stencil}{filter_defines}#include "{template}"\n#include "{file}"\n')


def rule_kernels(root):
    """Every kernel file compiles for AVX2: clang gives some warnings only when it generates code."""
    if not shutil.which("clang"):
        print("skipped: clang is not installed (package clang)")
        sys.exit(77)
    for name, text in kernel_texts(root):
        done = subprocess.run(["clang", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-Xclang",
                               "-fdeclare-opencl-builtins", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
                               "-S", "-emit-llvm", "-o", os.devnull, "--target=x86_64-linux-gnu", "-march=haswell",
                               "-I", "kernels", "-"], cwd=root, input=text, capture_output=True, text=True)
        if done.returncode:
            yield f"{name}: does not compile\n{done.stderr}"


def rule_glsl(root):
    """Every filter compiles as GLSL ES 3.00."""
    if not shutil.which("glslangValidator"):
        print("skipped: glslangValidator is not installed (package glslang-tools)")
        sys.exit(77)
    for file, name, kind in filters(root):
        with open(os.path.join(root, file), encoding="utf-8") as opened:
            definition = opened.read()
        language = "".join("\n".join(lines(root, f"kernels/{part}")) for part in ("language.glsl", "common.cl"))
        view = ("struct view {\n    int at;\n};\n"
                "int tap(view v, int dx, int dy) { return dx + dy; }\n#define RADIUS(v) 2\n")
        second = f"filter_{name}(pixel p, pixel second," in definition
        placed = second or f"filter_{name}(pixel p, int x, int y," in definition
        pixels = "pixel(int(gl_FragCoord.x), 2, 3, 255), " * (1 + second)
        call = (f"filter_{name}({pixels}{'1, 2, ' if placed else ''}0).r" if kind == "pixel" else
                f"filter_{name}(view(int(gl_FragCoord.x)), 0)")
        text = ("#version 300 es\nprecision highp float;\nprecision highp int;\nout ivec4 result;\n" + language + view +
                f"#line 1\n{definition}void main()\n{{\n    result = ivec4({call}, 0, 0, 255);\n}}\n")
        done = subprocess.run(["glslangValidator", "--stdin", "-S", "frag"], input=text, capture_output=True, text=True)
        if done.returncode:
            yield f"{file}: is not GLSL ES 3.00\n{done.stdout}"


def rule_text(root):
    """Text files are plain: no tabs, no space at the end of a line, no long lines, one newline at the end."""
    for name in files(root, TEXT):
        if name.startswith(("assets/DejaVu", "assets/uPlot/", "tests/data/", "tests/reference/golden/",
                            "tests/fuzz/corpus/")):
            continue
        text = lines(root, name)
        if text[-1] or (len(text) > 1 and not text[-2].strip()):
            yield f"{name}: does not end with one newline"
        for number, line in enumerate(text, 1):
            if "\t" in line:
                yield f"{name}:{number}: has a tab"
            if line != line.rstrip():
                yield f"{name}:{number}: has space at its end"
            if len(line) > COLUMNS and not name.endswith((".md", ".svg", ".desktop")):
                yield f"{name}:{number}: {len(line)} columns; the most is {COLUMNS}"


def rule_format(root):
    """clang-format changes no file."""
    if not shutil.which("clang-format"):
        print("skipped: clang-format is not installed (package clang-format)")
        sys.exit(77)
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    if "version 14." not in version:
        print(f"skipped: clang-format 14 lays the source out, here is {version.strip()}")
        sys.exit(77)
    names = files(root, r"^((src|tests)/.*\.[ch]|kernels/.*\.(cl|h))$")
    done = subprocess.run(["clang-format", "--dry-run", "--Werror", *names], cwd=root, capture_output=True, text=True)
    if done.returncode:
        yield "\n".join(done.stderr.splitlines()[:20]) + "\nrun clang-format -i on these files"


def rule_first_lines(root):
    """The first line of a file has its name and its purpose."""
    for name in files(root, r"^(src|kernels|tests)/.*\.(c|h|cl|glsl)$"):
        first = lines(root, name)[0]
        if not re.match(rf"// {re.escape(os.path.basename(name))}: \S", first):
            yield f"{name}:1: does not begin with '// {os.path.basename(name)}: its job'"


def rule_globals(root):
    """Global variables are constant, except the state of the log, a lock, the signal that has arrived, the running
    driver calls, the temporary directories that a signal removes, the cameras that a thread asks, the users' filters,
    the programs that make mattes, the resources from files and a thread's photograph."""
    allowed = {"src/base/driver_call.c": "driver_calls", "src/base/gl_handles.c": "software",
               "src/base/log.c": "log_state", "src/base/process.c": "interrupted",
               "src/compute/drivers.c": "directories", "src/source/cameras.c": "busy",
               "src/filter/user_filter.c": "registry", "src/filter/file_resource.c": "resources",
               "src/filter/text.c": "known", "src/matte/source.c": "sources"}
    for name in files(root, r"^src/.*\.c$"):
        for number, line in enumerate(lines(root, name), 1):
            found = re.match(r"(?:static )?(?!const|extern|typedef|return|struct \w+ \{|enum|union)"
                             r"((?:\w+ )+\**)(\w+)(?:\[[^]]*\])*(?: =.*|;)$", line)
            if found and " const " not in f" {found[1]} " and "(" not in line and allowed.get(name) != found[2]:
                yield f"{name}:{number}: {found[2]} can change"


def anchors(root, name):
    """Returns the anchors of a document: its headings, as GitHub names them."""
    headings = (line.lstrip("#").strip().lower() for line in lines(root, name) if line.startswith("#"))
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}


def rule_links(root):
    """Links in documents have existing targets. A link from a function's name to a .c file leads to its definition."""
    for name in files(root, r"\.md$"):
        for number, line in enumerate(lines(root, name), 1):
            for text, target, anchor in re.findall(r"\[([^]]*)\]\(([^)#\s]*)#?([^)\s]*)[^)]*\)", line):
                path = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
                if "://" in target:
                    continue
                if not os.path.exists(os.path.join(root, path)):
                    yield f"{name}:{number}: there is no {target}"
                elif anchor and anchor not in anchors(root, path):
                    yield f"{name}:{number}: {path} has no heading #{anchor}"
                elif re.fullmatch(r"`\w+`", text) and path.endswith(".c") and not re.search(
                        rf"^\w.*\b{text[1:-1]}\(.*[^;]$", "\n".join(lines(root, path)), re.M):
                    yield f"{name}:{number}: {path} does not define {text}"


def rule_paths(root):
    """Files that documents name exist. A name may contain * or NAME, which stand for any text.

    The top folder has documents, files of the build and dot files only.
    """
    for name in files(root, r"^[^/]+$"):
        if not re.fullmatch(r"[A-Z]+(\.md)?|meson(_options\.txt|\.build)|\..+", name):
            yield f"{name}: is in the top folder; move or delete it"
    for name in files(root, r"\.md$"):
        for number, line in enumerate(lines(root, name), 1):
            for path in re.findall(r"`((?:assets|docs|kernels|shaders|src|tests|tools)/[\w.*/-]+)`", line):
                if not glob.glob(os.path.join(root, path.replace("NAME", "*"))):
                    yield f"{name}:{number}: there is no {path}"


def rule_documents(root):
    """pixels.md names every filter and pixel format; every property has a help text, for `ctl SOCKET list`."""
    tables = ["src/command/live/property_table.c", "src/control/properties.c"]
    read = {name: "\n".join(lines(root, name)) for name in
            ["docs/pixels.md", "kernels/meson.build", "src/image/pixfmt.c", *tables]}
    listed = re.search(r"filter_names = \[(.*?)\]", read["kernels/meson.build"], re.DOTALL)
    filters = re.findall(r"'(\w+)'", listed[1] if listed else "") + ["none", "mirror", "flip"]
    formats = re.findall(r"\[PIXFMT_\w+\] = \{\"(\w+)\"", read["src/image/pixfmt.c"])
    properties = [(table, row[1], row[0]) for table in tables
                  for row in re.finditer(r'^    \{"([\w/]+)"(?:.|\n)*?\},$', read[table], re.M)]
    if min(len(filters), len(formats), len(properties)) < 10:
        yield (f"{len(filters)} filters, {len(formats)} formats and {len(properties)} properties are found only: the "
               "rule checks nothing")
    for name in filters + formats:
        if f"`{name}`" not in read["docs/pixels.md"]:
            yield f"docs/pixels.md: does not name `{name}`"
    for table, name, row in properties:
        if not re.search(r'\.help =\s*"..', row):
            yield f"{table}: the property {name} has no help text"


def rule_versions(root):
    """CHANGELOG.md and debian/changelog name the version of meson.build; the metainfo has it once it has a date."""
    version = re.search(r"version: '([\d.]+)'", "\n".join(lines(root, "meson.build")))[1]
    heading = next(line for line in lines(root, "CHANGELOG.md") if line.startswith("## "))
    found = re.fullmatch(r"## \[([\d.]+)\] - (unreleased|\d{4}-\d\d-\d\d)", heading)
    if not found or found[1] != version:
        yield f"CHANGELOG.md: the first heading is {heading!r}, not '## [{version}] - unreleased' or a date"
    elif found[2] != "unreleased":
        (name,) = files(root, r"\.metainfo\.xml$")
        release = f'<release version="{version}" date="{found[2]}"'
        if release not in "\n".join(lines(root, name)):
            yield f"{name}: has no {release}"
    if not lines(root, "debian/changelog")[0].startswith(f"monocle ({version}-"):
        yield f"debian/changelog: does not begin with version {version}"


BIG_ENDIAN = """[binaries]
c = 'cc'
[host_machine]
system = 'linux'
cpu_family = 's390x'
cpu = 's390x'
endian = 'big'
[properties]
skip_sanity_check = true
"""


def rule_endian(root):
    """meson refuses to build for a big-endian processor and says why."""
    with tempfile.TemporaryDirectory() as folder:
        cross = os.path.join(folder, "s390x.ini")
        with open(cross, "w", encoding="utf-8") as file:
            file.write(BIG_ENDIAN)
        done = subprocess.run(["meson", "setup", "--cross-file", cross, os.path.join(folder, "build"), root],
                              capture_output=True, text=True)
    if done.returncode == 0 or ": monocle needs a little-endian processor" not in done.stdout:
        yield f"meson.build: a big-endian processor is not refused\n{done.stdout[-2000:]}{done.stderr}"


RULES = {name[len("rule_"):]: rule for name, rule in list(globals().items()) if name.startswith("rule_")}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in RULES:
        sys.exit(f"usage: source.py RULE ROOT; rules: {' '.join(RULES)}")
    broken = collections.Counter()
    for place in RULES[sys.argv[1]](sys.argv[2]):
        broken[sys.argv[1]] += 1
        print(place)
    print(f"{sys.argv[1]}: {broken[sys.argv[1]]} places break the rule" if broken else f"{sys.argv[1]}: kept")
    sys.exit(1 if broken else 0)


main()
