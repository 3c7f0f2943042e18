#!/bin/bash
# test_install.sh: meson install installs everything, and it works; meson setup refuses big-endian processors
#
#   test_install.sh MESON BUILD_DIRECTORY
set -u
sources=$(dirname "$(readlink -f "$0")")/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # check WHAT CONDITION...
    local what=$1
    shift
    "$@" >"$work/out" 2>&1 || { echo "failed: $what" >&2; cat "$work/out" >&2; failed=$((failed + 1)); }
}
finds() { # finds NAME : the one file of that name below the destination
    find "$work/root" -type f -path "*$1"
}

"$1" install -C "$2" --no-rebuild --quiet --destdir "$work/root" || exit 1
for file in /bin/monocle /man/man1/monocle.1 /bash-completion/completions/monocle /zsh/site-functions/_monocle \
    /fish/vendor_completions.d/monocle.fish /applications/monocle.desktop /hicolor/scalable/apps/monocle.svg \
    /metainfo/local.monocle.monocle.metainfo.xml /systemd/user/monocle-camera.service \
    /licenses/monocle/LICENSE /licenses/monocle/DejaVuSansMono-LICENSE.txt \
    /doc/monocle/README.md /doc/monocle/docs/bench.schema.json /doc/monocle/docs/guide.md \
    /doc/monocle/assets/filters/outline.cl \
    /monocle/tune/matmul.json /monocle/tune/matmul.cl; do
    check "$file is installed" test -s "$(finds "$file")"
done
monocle=$(finds /bin/monocle)
cat >"$work/cross" <<END
[binaries]
c = 'cc'
pkg-config = 'pkg-config'
[host_machine]
system = 'linux'
cpu_family = 's390x'
cpu = 's390x'
endian = 'big'
END
check "a big-endian processor is refused" \
    sh -c "! '$1' setup --cross-file '$work/cross' '$work/build' '$sources' >'$work/said' &&
        grep 'little-endian' '$work/said'"
cd / || exit 1 # away from the sources: kernels, shaders and font are in the binary
check "the program runs" "$monocle" live pattern:16x16 -p cpu -f blur --headless --frames 1
for shell in bash zsh fish; do
    check "its completion for $shell is the installed one" \
        sh -c "'$monocle' completion $shell | cmp - '$(find "$work/root" -path "*/$shell*onocle*" -type f)'"
done
check "so is its man page" sh -c "'$monocle' manual | cmp - '$(finds /man1/monocle.1)'"
check "so is the page of chains" sh -c "'$monocle' manual chains | cmp - '$(finds /man7/monocle-chains.7)'"
for command in $("$monocle" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    check "so is the page of $command" \
        sh -c "'$monocle' manual $command | cmp - '$(finds "/man1/monocle-$command.1")'"
done
if command -v desktop-file-validate >/dev/null; then
    check "the desktop entry is valid" desktop-file-validate "$(finds .desktop)"
fi
if command -v appstreamcli >/dev/null; then
    # The project has no address yet (docs/packaging.md), of which AppStream 1.0 warns; the copy has one.
    sed 's|^</component>|<url type="homepage">https://example.org</url>&|' "$(finds .metainfo.xml)" \
        >"$work/a.metainfo.xml"
    check "the metainfo is valid" appstreamcli validate --no-net "$work/a.metainfo.xml"
fi
documents=$(dirname "$(finds /doc/monocle/README.md)")
check "links in the documents lead to installed files" python3 "$sources/tests/structure/source.py" links "$documents"
check "the documents are no programs" sh -c "! find '$documents' -type f -perm /111 | grep ."
icon=$(sed -n 's/^Icon=//p' "$(finds .desktop)")
check "and has its icon" test -s "$(finds "/apps/$icon.svg")"
program=$(sed -n 's/^Exec=\([^ ]*\).*/\1/p' "$(finds .desktop)")
check "and its program" test -x "$(finds "/bin/$program")"
[ $failed -eq 0 ]
