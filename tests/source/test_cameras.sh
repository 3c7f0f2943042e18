#!/bin/bash
# test_cameras.sh: formats, faults and unplugging with real camera drivers, in a virtual machine
#
#   test_cameras.sh vivid TEST-CAMERA   tests the source alone, with vivid
#   test_cameras.sh usb MONOCLE         tests the program, with a USB camera and vivid
set -u
vm=$(dirname "$(readlink -f "$0")")/../vm
if [ "$1" != vivid ] && [ "$1" != usb ]; then
    echo "test_cameras.sh: no part has the name $1; there are: vivid, usb" >&2
    exit 2
fi
if [ "$1" = vivid ]; then
    # The same camera three times: single-planar, multi-planar, and with physically contiguous memory.
    exec "$vm/run" --timeout 900 --mod "vivid n_devs=3 node_types=0x1,0x1,0x1 num_inputs=1,1,1 input_types=0,0,0 \
multiplanar=1,2,1 allocators=0,0,1" -- "$2"
fi
if [ "${3:-}" != guest ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    # MJPEG frames: complete ones with 4:2:2 and 4:2:0 chroma, and truncated ones.
    mkdir "$scratch/jpegs" "$scratch/out"
    for i in 0 1 2 3 4; do
        sampling=$([ $i = 3 ] && echo 4:2:0 || echo 4:2:2)
        convert -size 640x480 gradient:red-blue -sampling-factor $sampling -quality 85 \
            "$scratch/jpegs/$i.jpg" || exit 77
    done
    size=$(stat -c %s "$scratch/jpegs/0.jpg")
    head -c $((size / 2)) "$scratch/jpegs/0.jpg" >"$scratch/jpegs/1.jpg"
    head -c 100 "$scratch/jpegs/0.jpg" >"$scratch/jpegs/2.jpg"
    "$vm/run" --timeout 900 --rw "$scratch/out" --mod "vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0" \
        --mod vhci_hcd --mod uvcvideo -- bash "$0" usb "$2" guest "$scratch" || exit
    [ "$(convert "$scratch/out/mjpeg.png" -crop 640x2+0+0 -format '%[fx:mean.r>0.95&&mean.b<0.05]' info:)" = 1 ] ||
        { echo "FAILED: mjpeg: red at the top" >&2 && exit 1; }
    [ "$(convert "$scratch/out/bayer.png" -format '%[fx:mean.r>0.7&&mean.g<0.1&&mean.b<0.1]' info:)" = 1 ] ||
        { echo "FAILED: bayer: red" >&2 && exit 1; }
    exit
fi

monocle=$2 scratch=$4
failed=0
check() { # WHAT COMMAND...
    local what=$1
    shift
    "$@" || { echo "FAILED: $what" >&2; failed=1; }
}
plug_in() {
    python3 "$vm/uvcsim.py" --jpegs "$scratch/jpegs" --fps 10 >/dev/null &
    camera=$!
    for _ in {1..300}; do
        [ -e /dev/video2 ] && return
        sleep 0.1
    done
    echo "the USB camera does not appear" >&2
    exit 1
}
fields() { # FILE EXPRESSION...: a line each, of a list, or of the last line of several
    python3 -c 'import json, sys
with open(sys.argv[1]) as file:
    text = file.read()
s = json.loads(text if text[0] == "[" else text.splitlines()[-1])
for expression in sys.argv[2:]:
    print(eval(expression))' "$@"
}

plug_in
"$monocle" --headless camera:/dev/video2 2>/tmp/metadata
check "a metadata node is refused" grep -q metadata /tmp/metadata

# The list: the USB camera's nodes count as one camera; one mode of it and one of vivid are listed.
"$monocle" cameras --json >/tmp/cameras.json
mapfile -t cameras <<<"$(fields /tmp/cameras.json "' '.join(c['node'] + ':' + c['driver'] for c in s)" \
    "' '.join(sorted({o['format'] for o in s[1]['offers'] if o['usable'] and o['width'] == 640}))" \
    "s[1]['bus']")"
check "cameras: nodes" [ "${cameras[0]}" = "/dev/video0:vivid /dev/video1:uvcvideo" ]
check "cameras: modes" [ "${cameras[1]}" = "mjpeg yuyv" ]
"$monocle" cameras >/tmp/cameras
check "cameras: for people" grep -q "^/dev/video1  uvcsim camera" /tmp/cameras
grep -A5 video1 /tmp/cameras
for name in "${cameras[2]}" UVCSIM; do # raw formats are preferred at the same rate
    "$monocle" --headless -p cpu --frames 2 --json --screenshot /tmp/x.png "camera:$name" >/tmp/named 2>/tmp/named.err
    check "camera:$name $(cat /tmp/named.err)" \
        grep -q 'uvcsim.*"width":640,"height":480,"pixel_format":"yuyv"' /tmp/named
done

# MJPEG: selected by name and decoded; damaged frames are left out and the others shown.
"$monocle" --headless -p cpu --pixel-format mjpeg --frames 12 --json --screenshot "$scratch/out/mjpeg.png" \
    camera:uvcsim >/tmp/mjpeg 2>/tmp/mjpeg.err
code=$?
check "mjpeg runs: $(cat /tmp/mjpeg.err)" [ $code -eq 0 ]
mapfile -t mjpeg <<<"$(fields /tmp/mjpeg "s['frames']" "s['stages']['decode']['median_ms'] > 0" "s['damaged'] > 2" \
    "s['stages']['decode']['median_ms']" "s['age']")"
check "mjpeg: 12 frames" [ "${mjpeg[0]}" = 12 ]
check "mjpeg: decoding is a stage" [ "${mjpeg[1]}" = True ]
check "mjpeg: damaged pictures are counted" [ "${mjpeg[2]}" = True ]
check "mjpeg: format, full range" grep -Eq '"pixel_format":"(422p|yu12)","matrix":"601","range":"full"' /tmp/mjpeg
# An emulated camera may stall for a moment on a busy machine.
check "mjpeg: one line on standard error: $(cat /tmp/mjpeg.err)" \
    [ "$(grep -Evc 'frame arrived for|frames arrive again' /tmp/mjpeg.err)" -eq 1 ]
grep -h . /tmp/mjpeg.err
echo "decode: median ${mjpeg[3]} ms, age ${mjpeg[4]}"

# Controls: set, listed, saved and loaded; a wrong one is logged in a line.
"$monocle" --headless -p cpu -n 1 --control brightness=200 --save-controls /tmp/saved --screenshot /tmp/x.png \
    camera:uvcsim >/dev/null
check "controls: saved: $(cat /tmp/saved)" grep -qx brightness=200 /tmp/saved
v4l2-ctl -d /dev/video1 --set-ctrl brightness=7
"$monocle" --headless -p cpu -n 1 --load-controls /tmp/saved --screenshot /tmp/x.png camera:uvcsim >/dev/null
"$monocle" camera:uvcsim --list-controls >/tmp/controls
check "controls: $(cat /tmp/controls)" grep -q "^brightness  *200 (0 to 255" /tmp/controls
for wrong in brightness=900 brightness nothing=1; do
    "$monocle" --headless --control $wrong camera:uvcsim 2>/tmp/wrong
    code=$?
    check "$wrong is refused: $(cat /tmp/wrong)" [ $code -eq 3 -a "$(wc -l </tmp/wrong)" -eq 1 ]
done

# A run continues if its camera is unplugged and plugged in again.
"$monocle" --headless -p cpu -s 320x180 -n 80 --json camera:vivid >/tmp/replug 2>/tmp/replug.err &
run=$!
for _ in {1..200}; do
    grep -q '"frames":[1-9]' /tmp/replug && break
    sleep 0.1
done
echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind
sleep 1
echo vivid.0 >/sys/bus/platform/drivers/vivid/bind
wait $run
code=$?
check "a pulled camera: $(cat /tmp/replug.err)" [ $code -eq 0 ]
check "80 frames, one outage, some lost" [ "$(fields /tmp/replug \
    "(s['frames'], s['outages'], s['lost'] > 10, s['trouble'])")" = "(80, 1, True, '')" ]
cat /tmp/replug.err

# A camera without a format that monocle reads: libv4l2 converts its frames.
python3 "$vm/uvcsim.py" --bayer --fps 10 --port 1 >/dev/null &
for _ in {1..300}; do
    grep -l "uvcsim" /sys/class/video4linux/*/name | wc -l | grep -q 4 && break
    sleep 0.1
done
bayer=$("$monocle" cameras | sed -n 's/^\(\/dev\/video[0-9]*\)  uvcsim.*/\1/p' | tail -n 1)
"$monocle" --headless -p cpu -n 3 --json --screenshot "$scratch/out/bayer.png" "camera:$bayer" >/tmp/bayer \
    2>/tmp/bayer.err
code=$?
check "bayer runs: $(cat /tmp/bayer.err)" [ $code -eq 0 ]
check "bayer: converted to RGB: $(cat /tmp/bayer)" grep -q '"pixel_format":"rgb24"' /tmp/bayer
exit $failed
