# chroot.sh: runs commands in a chroot of another release; tools/distribution and tools/drivers read it
#
# The caller sets `tool` (its name), `root` (the sources) and `build` (a build directory below it). Mounts and processes
# are in their own namespaces and end with the script.

skip() {
    echo "skipped: $tool: $1" >&2
    exit 77
}

own=(unshare --mount --propagation private --pid --fork --kill-child --mount-proc)

# Runs a command in its own namespaces. The command ends with this script, even if SIGKILL ends the script.
contained() {
    local status=0 child
    setpriv --pdeathsig KILL "${own[@]}" bash -eu -c '"$@"' bash "$@" </dev/null &
    child=$!
    trap 'kill -KILL $child; exit 143' TERM INT HUP
    wait $child || status=$?
    trap - TERM INT HUP
    return $status
}

# inside CHROOT COMMAND...: runs a command in a chroot, in the sources' directory. The sources are read-only there; the
# build directory is not.
inside() {
    contained enter "$@"
}
enter() {
    local chroot=$1
    shift
    mount --bind "$chroot" "$chroot" # bwrap needs a mount as its root
    mount -t proc proc "$chroot/proc"
    mount --rbind /sys "$chroot/sys"
    mount --rbind /dev "$chroot/dev"
    mkdir -p "$chroot/monocle"
    mount --bind "$root" "$chroot/monocle"
    mount --bind "$root/$build" "$chroot/monocle/$build"
    mount -o remount,bind,ro "$chroot/monocle"
    cp -L /etc/resolv.conf "$chroot/etc/resolv.conf"
    # bash starts background commands with SIGINT ignored; --default-signal undoes that. Mesa 24.0 tries Vulkan first,
    # and writes two lines if there is none.
    env -i --default-signal GALLIUM_DRIVER=llvmpipe \
        HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
        ${http_proxy:+http_proxy="$http_proxy"} chroot "$chroot" sh -c 'cd /monocle && exec "$@"' sh "$@"
}
export -f enter
export root build

# Ubuntu's keys. Debian 12 has no package of them.
ubuntu_keyring=ubuntu-keyring_2023.11.28.1_all.deb
ubuntu_keyring_sha256=36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8

# prepare_ubuntu DIRECTORY: sets `mirrors` and `options` of debootstrap for a release of Ubuntu
prepare_ubuntu() {
    local keys=$1.keys
    mirrors=http://archive.ubuntu.com/ubuntu
    mkdir -p "$keys"
    python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' \
        "$mirrors/pool/main/u/ubuntu-keyring/$ubuntu_keyring" "$keys/deb" || skip "$mirrors cannot be reached"
    echo "$ubuntu_keyring_sha256  $keys/deb" | sha256sum --quiet -c || skip "$ubuntu_keyring is not the known file"
    dpkg-deb -x "$keys/deb" "$keys"
    options+=(--components=main,universe --keyring="$keys/usr/share/keyrings/ubuntu-archive-keyring.gpg")
    script=/usr/share/debootstrap/scripts/jammy # newer releases have the same
}

# make_chroot DIRECTORY RELEASE: makes a chroot. The caller's function `set_up CHROOT` installs its packages. The chroot
# has another name until it is complete, so that no run uses an incomplete chroot.
make_chroot() {
    local part=$1.part log=$1.log mirror mirrors script= options=(--force-check-gpg --variant=minbase)
    command -v debootstrap >/dev/null || skip "debootstrap is not installed (package debootstrap)"
    case $2 in
    noble | jammy) prepare_ubuntu "$1" ;;
    *) mirrors=$("$root/tools/mirrors") ;;
    esac
    for mirror in $mirrors; do
        echo "$tool: making a chroot of $2 from $mirror, which takes minutes" >&2
        rm -rf --one-file-system "$part"
        if contained debootstrap "${options[@]}" --include=ca-certificates "$2" "$part" "$mirror" $script \
            >"$log" 2>&1; then
            # A mirror may keep a release for longer than its files are valid; apt still checks their signatures.
            echo 'Acquire::Check-Valid-Until "false";' >"$part/etc/apt/apt.conf.d/90valid"
            set_up "$part" || return
            mv "$part" "$1"
            return
        fi
        tail -n 5 "$log" >&2
    done
    skip "no mirror provided $2; the last messages of debootstrap are above"
}

# open_cache DIRECTORY: makes and locks the directory of the chroots, for one run at a time. The directory must belong
# to root, because root runs the programs in it.
open_cache() {
    [ "$(id -u)" -eq 0 ] || skip "only root can make and enter a chroot"
    "${own[@]}" true 2>/dev/null || skip "this machine does not allow mounts in a namespace"
    mkdir -p -m 700 "$1"
    mkdir -p "$root/$build"
    if [ "$(stat -c '%u %a' "$1")" != "0 700" ]; then
        echo "$tool: $1 must belong to root, with mode 700; delete it or choose another XDG_CACHE_HOME" >&2
        exit 1
    fi
    exec 9>"$1/lock"
    flock -n 9 || { echo "$tool: waiting for another run" >&2 && flock 9; }
    local proxy=${http_proxy:-}
    eval "$(apt-config shell proxy Acquire::http::Proxy 2>/dev/null)"
    export http_proxy=$proxy
}
