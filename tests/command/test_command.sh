#!/bin/sh
# test_command.sh: the command line: exit codes, one line per error, the output of each command
#
#   test_command.sh MONOCLE LEVEL...     levels of vector instructions that it has, sorted
set -u
LC_ALL=C
export LC_ALL
unset MONOCLE_DEVICE MONOCLE_KERNELS MONOCLE_VECTORS POCL_CACHE_DIR
monocle=$1
shift
levels=$*
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out
err=$scratch/err
# The user's own cache may be unusable, which monocle reports.
HOME=$scratch XDG_CACHE_HOME=$scratch/cache
export HOME XDG_CACHE_HOME
failed=0
done=0

fail() {
    failed=$((failed + 1))
    echo "failed: $1" >&2
    sed 's/^/    stdout: /' "$out" | head -n 5 >&2
    sed 's/^/    stderr: /' "$err" | head -n 5 >&2
}

# works WORDS... : exit code 0, nothing on standard error
works() {
    done=$((done + 1))
    "$monocle" "$@" >"$out" 2>"$err"
    code=$?
    { [ $code -eq 0 ] && [ ! -s "$err" ]; } || fail "monocle $* (exit code $code)"
}

# says TEXT : the last command's standard output has the text
says() {
    done=$((done + 1))
    grep -qF -- "$1" "$out" || fail "no '$1'"
}

# refuses CODE TEXT WORDS... : that exit code, one line on standard error that has the text, nothing on standard output
refuses() {
    want=$1 text=$2
    shift 2
    done=$((done + 1))
    "$monocle" "$@" >"$out" 2>"$err" </dev/null
    code=$?
    { [ $code -eq "$want" ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -qF -- "$text" "$err" && [ ! -s "$out" ]; } ||
        fail "monocle $* (exit code $code, not $want with '$text')"
}

works --version
says "monocle "
works help
cp "$out" "$out.help"
works --help
cmp -s "$out" "$out.help" || fail "--help differs from help"
for command in $(sed -n 's/^  \([a-z]*\)  .*/\1/p' "$out"); do
    works "$command" --help
    says "Usage: monocle $command"
    says "-h, --help"
    says "Examples:"
    works help "$command"
    refuses 2 "unknown option --no-such-thing" "$command" --no-such-thing
done
works help live
for name in .png .jpg .webp .tiff .bmp .tga .psd .gif .y4m; do
    says "$name"
done
refuses 2 "did you mean monocle filters?" fliters
refuses 2 "there is no command and no file named 'quux'" quux
refuses 2 "lists the commands" completoin # a hidden command is no suggestion
refuses 2 "did you mean monocle filters?" help filter
refuses 2 "unexpected argument" help filters more
refuses 2 "live is a command; write it before the options" --log-level info live noise

works filters
names=$("$monocle" filters --json | sed -n 's/^    "name": "\([a-z]*\)",$/\1/p')
[ "$(echo "$names" | wc -w)" -ge 16 ] || fail "filters --json names these filters: $names"
for name in $names; do
    works filters "$name"
    says "$name"
    says "-f '"
done
works filters blur
says "1 to 15 (default: 2)"
works filters --json
python3 -c '
import json, sys
filters = json.load(open(sys.argv[1]))
assert len(filters) >= 16
blur = [f for f in filters if f["name"] == "blur"][0]
assert blur["parameters"][0]["name"] == "radius" and blur["parameters"][0]["max"] == 15
assert all(f["summary"] and f["example"] for f in filters)
' "$out" || fail "filters --json"
done=$((done + 1))
refuses 2 "did you mean 'blur'?" filters blurr
refuses 2 "there is no filter 'edges'; did you mean 'sobel'?" filters edges
refuses 2 "there is no filter 'gblur'; did you mean 'gaussian'?" filters gblur
touch plates.png
refuses 2 "No such file or directory; did you mean 'plates.png'?" live -f blur,within=plate.png
refuses 2 "No such file or directory; name another file" live -f blur,within=nothing.png
rm plates.png
refuses 2 "did you mean --json?" filters --jsno

"$monocle" devices >/dev/null 2>&1
if [ $? -ne 3 ]; then # there is a device
    works devices
    says "opencl"
    says "gl-shared"
    works devices --json
    python3 -c '
import json, sys
device = json.load(open(sys.argv[1]))[0]
assert device["number"] == 0 and device["name"] and device["opens"]
assert [r["mode"] for r in device["sharing"]] == ["gl-shared", "mapped", "opencl"]
assert all(r["why"] for r in device["sharing"]) and device["sharing"][2]["works"]
' "$out" || fail "devices --json"
fi
refuses 2 "unexpected argument" devices 0
export OCL_ICD_VENDORS=/proc/nowhere
refuses 3 "the cpu path (-p cpu) works without one" devices -d 0
"$monocle" devices >"$out" 2>"$err" && fail "devices without an OpenCL device"
says "   headless   " # GL
unset OCL_ICD_VENDORS

# MONOCLE_VECTORS: results of bench name the level; an unknown level is reported and has no effect.
measure="bench filters -p cpu -t 1 --sizes 64x64 --formats rgba -f gray -n 1"
export MONOCLE_VECTORS=plain
works $measure
says ", plain"
export MONOCLE_VECTORS=wide
done=$((done + 1))
{ "$monocle" $measure >"$out" 2>"$err" && [ "$(wc -l <"$err")" -eq 1 ] &&
    said=$(sed -n 's/.*MONOCLE_VECTORS=wide is ignored: it must be //p' "$err" | sed 's/, \| or /\n/g' | sort) &&
    [ "$(echo $said)" = "$levels" ]; } || fail "MONOCLE_VECTORS=wide"
unset MONOCLE_VECTORS

# Standard output that cannot be written.
for target in '/dev/full No space left' '&- it is closed'; do
    done=$((done + 1))
    eval "\"\$monocle\" filters >${target%% *}" 2>"$err"
    code=$?
    { [ $code -eq 1 ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q "standard output: ${target#* }" "$err"; } ||
        fail "filters >$target (exit code $code)"
done
done=$((done + 1))
"$monocle" live pattern:64x48 -p cpu --headless --fast --frames 3 --json >/dev/full 2>"$err"
code=$?
{ [ $code -eq 1 ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q "standard output: No space left on device" "$err"; } ||
    fail "live --json >/dev/full (exit code $code)"
done=$((done + 1))
# cat ends when the reader has gone. monocle then ends without a word.
for words in --version help "help batch" filters looks manual "completion bash" tuned "cameras --help" \
    "live pattern:32x24 -p cpu --headless --frames 3" "live pattern:32x24@200 -p cpu --headless --json" \
    "live pattern:32x24@200 -p cpu --headless --record -"; do
    { cat /dev/zero 2>/dev/null; "$monocle" $words 2>"$err"; echo $? >"$out"; } | :
    case $(cat "$out") in 1 | 3) [ ! -s "$err" ] ;; *) false ;; esac ||
        fail "$words | : (exit code $(cat "$out")): $(cat "$err")"
    done=$((done + 1))
done

echo "$failed of $done checks failed" >&2
[ $failed -eq 0 ]
