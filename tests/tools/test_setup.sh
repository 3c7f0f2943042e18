#!/bin/bash
# test_setup.sh: tools/setup asks each family's program for its packages, and sudo only after a yes
#
#   test_setup.sh SETUP
set -u
setup=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "failed: $1" >&2
    failed=1
}

# Programs that write down how they are called. No package is installed; the user is not root.
mkdir "$work/bin"
for name in apt-get dnf pacman apk; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n' "$name" "$work" >"$work/bin/$name"
done
cat >>"$work/bin/pacman" <<'END'
[ "$1" != -T ] || { shift; printf '%s\n' "$@"; exit 127; }
END
echo '[ "$1" != info ]' >>"$work/bin/apk"
printf '#!/bin/sh\nexit 1\n' | tee "$work/bin/rpm" >"$work/bin/dpkg-query"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
printf '#!/bin/sh\necho sudo >>"%s/calls"\nexec "$@"\n' "$work" >"$work/bin/sudo"
chmod +x "$work"/bin/*

# on OS-RELEASE ARGUMENT... : the calls of tools/setup on such a system are in $work/calls
on() {
    printf "$1" >"$work/os-release"
    shift
    : >"$work/calls"
    OS_RELEASE=$work/os-release PATH=$work/bin:$PATH "$setup" "$@" </dev/null 2>"$work/said"
}
check() { # check WHAT PATTERN...
    local what=$1 pattern
    shift
    for pattern in "$@"; do
        grep -q -- "$pattern" "$work/calls" || fail "$what: no call has '$pattern': $(cat "$work/calls" "$work/said")"
    done
}
on 'ID=debian\nVERSION_ID=12\n' --build --test || fail "Debian: status $?"
check Debian '^sudo$' '^apt-get -q -y install .* libglfw3-dev ' ' bubblewrap .* chromium oclgrind'
on 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID=24.04\n' --build --test || fail "Ubuntu: status $?"
check Ubuntu '^apt-get -q -y install .* libjpeg-dev '
! grep -qE 'oclgrind|chromium' "$work/calls" || fail "Ubuntu: packages that only Debian has"
on 'ID=fedora\nVERSION_ID=43\n' --build --run || fail "Fedora: status $?"
check Fedora '^dnf -y install .* pkgconfig(OpenCL) .* stb-devel .*pocl'
on 'ID=manjaro\nID_LIKE=arch\n' --build --run || fail "Arch: status $?"
check Arch '^pacman -S --needed --noconfirm gcc meson .* stb .*pocl'
on 'ID=alpine\nVERSION_ID=3.22\n' --build --run || fail "Alpine: status $?"
check Alpine '^apk update$' '^apk add bash gcc .* opencl-icd-loader-dev .*mesa-gles'
on 'ID=plan9\n' --build || fail "an unknown system: status $?"
[ ! -s "$work/calls" ] && grep -q "docs/packaging.md" "$work/said" || fail "an unknown system: $(cat "$work/said")"

# On a terminal, no ends it.
printf 'ID=fedora\n' >"$work/os-release"
: >"$work/calls"
OS_RELEASE=$work/os-release PATH=$work/bin:$PATH script -qec "'$setup' --build" /dev/null <<<n >"$work/said"
[ ! -s "$work/calls" ] && grep -q "installed nothing" "$work/said" || fail "after no: $(cat "$work/calls" "$work/said")"
exit $failed
