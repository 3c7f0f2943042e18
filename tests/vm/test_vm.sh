#!/bin/bash
# test_vm.sh: the virtual machine of the camera tests: output, exit status, shared files, every driver, the USB camera
set -u
here=$(dirname "$(readlink -f "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
check() { # WHAT COMMAND...
    local what=$1
    shift
    "$@" || { echo "FAILED: $what" >&2; failed=1; }
}

cat >"$scratch/guest" <<'GUEST'
echo to standard output
echo to standard error >&2
echo shared >"$1/result"
echo lost >/usr/monocle-test
v4l2-ctl -d /dev/video20 --info | grep -q vivid && echo vivid
v4l2-ctl -d /dev/video10 --info | grep -q 'v4l2 loopback' && echo loopback
python3 "$2/uvcsim.py" &
camera=$!
for i in {1..200}; do
    [ -e /dev/video0 ] && break
    sleep 0.3
done
v4l2-ctl -d /dev/video0 --set-fmt-video=width=320,height=240,pixelformat=YUYV --stream-mmap --stream-count=2 \
    --stream-to=/tmp/frames >/dev/null 2>&1 && [ "$(stat -c %s /tmp/frames)" -eq 307200 ] && echo uvc
kill -USR1 $camera
wait $camera
[ ! -e /dev/video0 ] && echo unplugged
exit 3
GUEST
"$here/run" --rw "$scratch" --timeout 120 \
    --mod "vivid n_devs=1 node_types=1 num_inputs=1 input_types=0 vid_cap_nr=20" \
    --mod "v4l2loopback video_nr=10" --mod vhci_hcd --mod uvcvideo -- \
    bash "$scratch/guest" "$scratch" "$here" >"$scratch/out" 2>"$scratch/err"
status=$?
if [ $status -eq 77 ]; then
    cat "$scratch/err" >&2
    exit 77
fi
check "exit status 3, not $status" [ $status -eq 3 ]
for line in "to standard output" vivid loopback uvc "uvcsim: unplugged after" unplugged; do
    check "no line '$line'" grep -q "^$line" "$scratch/out"
done
check "standard error" grep -qx "to standard error" "$scratch/err"
check "a shared directory" grep -qx shared "$scratch/result"
check "a file written by the guest is left" [ ! -e /usr/monocle-test ]
[ $failed -eq 0 ] || cat "$scratch/out" "$scratch/err" >&2
exit $failed
