#!/bin/bash
# test_cameras.sh: vivid's and the USB camera's formats, faults and pulled plugs, in one virtual machine
#
#   test_cameras.sh TEST-CAMERA MONOCLE
set -u
here=$(dirname "$(readlink -f "$0")")
if [ "${3:-}" != guest ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    # Pictures of a camera: whole ones of both usual kinds of chroma, and three that are not whole.
    mkdir "$scratch/jpegs" "$scratch/out"
    for i in 0 1 2 3 4; do
        sampling=$([ $i = 3 ] && echo 4:2:0 || echo 4:2:2)
        convert -size 640x480 gradient:red-blue -sampling-factor $sampling -quality 85 \
            "$scratch/jpegs/$i.jpg" || exit 77
    done
    size=$(stat -c %s "$scratch/jpegs/0.jpg")
    head -c $((size / 2)) "$scratch/jpegs/0.jpg" >"$scratch/jpegs/1.jpg"
    head -c 100 "$scratch/jpegs/0.jpg" >"$scratch/jpegs/2.jpg"
    "$here/vm/run" --timeout 280 --rw "$scratch/out" --mod "vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0" \
        --mod vhci_hcd --mod uvcvideo -- bash "$0" "$1" "$2" guest "$scratch"
    exit
fi

test_camera=$1 monocle=$2 scratch=$4
failed=0
check() { # WHAT COMMAND...
    local what=$1
    shift
    "$@" || { echo "FAILED: $what" >&2; failed=1; }
}
plug_in() {
    python3 "$here/vm/uvcsim.py" --jpegs "$scratch/jpegs" --fps 10 >/dev/null &
    camera=$!
    for _ in {1..300}; do
        [ -e /dev/video2 ] && return
        sleep 0.1
    done
    echo "the USB camera does not appear" >&2
    exit 1
}
field() { # FILE EXPRESSION: of the last line of JSON
    tail -n 1 "$1" | python3 -c "import json, sys; s = json.loads(sys.stdin.readline()); print($2)"
}

"$test_camera" || failed=1
plug_in
"$monocle" --headless camera:/dev/video2 2>/tmp/metadata
check "a metadata node is refused" grep -q metadata /tmp/metadata

# MJPEG: chosen by name, decoded, what is damaged is left out and the others go on.
"$monocle" --headless -p cpu --pixel-format mjpeg --frames 12 --json --screenshot "$scratch/out/mjpeg.png" \
    camera:uvcsim >/tmp/mjpeg 2>/tmp/mjpeg.err
check "mjpeg runs: $(cat /tmp/mjpeg.err)" [ $? -eq 0 ]
check "mjpeg: 12 frames" [ "$(field /tmp/mjpeg "s['frames']")" = 12 ]
check "mjpeg: decoding is a stage" [ "$(field /tmp/mjpeg "s['stages']['decode']['median_ms'] > 0")" = True ]
check "mjpeg: damaged pictures are counted" [ "$(field /tmp/mjpeg "s['damaged'] > 2")" = True ]
check "mjpeg: 4:2:2, full range" grep -q '"pixel_format":"422p","matrix":"601","range":"full"' /tmp/mjpeg
check "mjpeg: one line on standard error: $(cat /tmp/mjpeg.err)" [ "$(wc -l </tmp/mjpeg.err)" -eq 1 ]
check "mjpeg: red at the top" [ "$(convert "$scratch/out/mjpeg.png" -crop 640x2+0+0 \
    -format '%[fx:mean.r>0.95&&mean.b<0.05]' info:)" = 1 ]
grep -h . /tmp/mjpeg.err
echo "decode: median $(field /tmp/mjpeg "s['stages']['decode']['median_ms']") ms, age $(field /tmp/mjpeg "s['age']")"
exit $failed
