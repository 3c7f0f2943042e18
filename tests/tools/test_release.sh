#!/bin/bash
# test_release.sh: tools/release writes the same bytes in another clone with other settings, and they are right
#
#   test_release.sh RELEASE
set -eu
release=$1
sources=$(dirname "$(dirname "$release")")
if ! git -C "$sources" rev-parse HEAD >/dev/null 2>&1; then
    echo "skipped: the sources have no commit" >&2
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$release" one
umask 077
git clone -q "$sources" clone
git -C clone config core.autocrlf true
git -C clone config tar.umask 0007
TZ=JST-9 LANG=de_DE.UTF-8 clone/tools/release two
diff -r one two
(cd one && sha256sum --check --strict --quiet SHA256SUMS)
version=$(sed -n "s/^  version: '\\(.*\\)',/\\1/p" "$sources/meson.build")
tar -xzf "one/monocle-$version.tar.gz"
test -x "monocle-$version/tools/run"
python3 - "one/monocle-$version.cdx.json" "$version" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    bom = json.load(file)
assert bom["metadata"]["component"]["version"] == sys.argv[2], bom["metadata"]
names = {part["name"]: part["scope"] for part in bom["components"]}
want = {"uPlot": "required", "DejaVu Sans Mono": "required", "OpenCL": "required", "libjpeg": "required",
        "stb": "required", "libwebp": "optional", "libtiff-4": "optional", "gif": "optional"}
assert want.items() <= names.items(), names
END
