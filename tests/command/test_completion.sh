#!/bin/bash
# test_completion.sh: completions are right in bash and parse in zsh and fish; the man page parses
#
#   test_completion.sh MONOCLE
set -u
monocle=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
done=0

check() { # check WHAT CONDITION...
    local what=$1
    shift
    done=$((done + 1))
    "$@" || { echo "failed: $what" >&2; failed=$((failed + 1)); }
}

has() { [[ $1 == *"$2"* ]]; } # has TEXT PART; a grep for each option takes seconds

for shell in bash zsh fish; do
    check "completion $shell" "$monocle" completion "$shell" >"$work/$shell"
    if command -v "$shell" >/dev/null; then
        check "$shell reads its completion" "$shell" -n "$work/$shell"
    fi
done
check "manual" "$monocle" manual >"$work/monocle.1"
check "manual chains" "$monocle" manual chains >"$work/monocle-chains.7"
for section in COMMANDS "EXIT STATUS" ENVIRONMENT FILES BUGS "SEE ALSO"; do
    check "the manual has $section" grep -qx ".SH $section" "$work/monocle.1"
done
check "the manual has no internal command" sh -c "! grep -E 'monocle.*(probe|inspect|measure)' '$work/monocle.1'"
check "there is no page of one" sh -c "! '$monocle' manual probe 2>/dev/null"
chains=$(<"$work/monocle-chains.7")
for filter in $("$monocle" filters --json | awk -F'"' '/^    "name"/ { name = $4 } /"user": false/ { print name }'); do
    check "the page of chains has $filter" has "$chains" $'\n\\fB'"$filter"
done
for command in $("$monocle" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    check "manual $command" "$monocle" manual "$command" >"$work/monocle-$command.1"
    check "the manual has $command" grep -qF "monocle $command" "$work/monocle.1"
    page=$(<"$work/monocle-$command.1")
    words=$'\n'$("$monocle" completion words "$command" --)
    for option in $("$monocle" "$command" --help | sed -n 's/^  \(-., \|    \)--\([a-z0-9-]*\).*/\2/p'); do
        [ "$option" = help ] && continue
        check "the page of $command has --$option" has "$page" "\\-\\-${option//-/\\-}"
        check "the scripts can ask for --$option" has "$words" $'\n'"--$option"$'\t'
    done
done

if command -v man >/dev/null && command -v groff >/dev/null; then
    check "man reads the manual" man -l -Tascii --warnings "$work/monocle.1" >"$work/text" 2>"$work/warnings"
    check "groff reads the pages" groff -k -K utf8 -man -Tutf8 -ww -z "$work"/monocle-*.[17] 2>>"$work/warnings"
    check "they have nothing to say of them: $(head -n 3 "$work/warnings")" test ! -s "$work/warnings"
fi

check "zsh and fish can ask for -p" grep -q "^-p"$'\t' <("$monocle" completion words live -)

# Prints the words that bash offers for the last, incomplete word of a line.
offers() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _monocle
    echo "${COMPREPLY[*]}"
}
completes() { # completes WANT WORDS...
    local want=$1 got
    shift
    got=$(offers "$@")
    check "'$*' completes to '$got', not '$want'" test "$got" = "$want"
}
compopt() { :; } # works only while completing for real
monocle() { "$monocle" "$@"; }
# shellcheck source=/dev/null
. "$work/bash"
cd "$work" || exit 1
touch clip.y4m
completes "filters" monocle filt
completes "--version" monocle --vers
completes "--json" monocle filters --j
completes "sobel" monocle filters sob
completes "devices" monocle help dev
completes "" monocle devices clip
completes "--screenshot" monocle live --scr
completes "--screenshot" monocle --scr
completes "" monocle live -p
completes "zerocopy" monocle live -p z
completes "zerocopy" monocle live --path = z
completes "clip.y4m" monocle live cl
completes "clip.y4m" monocle live --frames 3 cl
completes "pattern" monocle live patt
touch lively.y4m merged.jsonl
completes "live lively.y4m" monocle liv
completes "merge" monocle report me
completes "merged.jsonl" monocle report merge me
completes "export" monocle tuned ex
completes "merged.jsonl" monocle tuned import -j me
completes "blur" monocle live -f blu
completes "2,sepia" monocle live -f blur = 2,sep
completes "average" monocle live -f gray = av
completes "brightness=" monocle live -f blur = 2,contrast = 1 : br
completes "paint" monocle live -f gray = mode = pa
completes "3,threshold" monocle -f blur = 1 : 3,thr
completes "yu12 yuyv" monocle live --pixel-format yu
completes "mjpeg" monocle live --pixel-format mj
completes "clip.y4m" monocle live --record cl
completes "gpu" monocle live --device = g
completes "accelerator all" monocle batch -d a
completes "png" monocle batch --format p
completes "filters" monocle bench filt
completes "memory.copy" monocle bench device compute -d gpu memory.c
completes "merged.jsonl" monocle bench filters mer
completes "clip.y4m" monocle ctl cli
completes "set" monocle ctl /tmp/m se
completes "params" monocle ctl /tmp/m get params
completes "path" monocle ctl /tmp/m set pat
completes "" monocle ctl /tmp/m set fp
completes "zerocopy" monocle ctl /tmp/m set path z
completes "on off" monocle ctl /tmp/m cycle vsync o
completes "2,sepia" monocle ctl /tmp/m set chain blur = 2,sep
completes "noir" monocle ctl /tmp/m set look noi
completes "clip.y4m" monocle ctl /tmp/m set source cl
completes "clip.y4m" monocle ctl /tmp/m screenshot cl
completes "save-both" monocle ctl /tmp/m key save-b
completes "chain" monocle ctl /tmp/m observe fps cha
completes "param/" monocle ctl /tmp/m set par

# The same for fish, whose command `complete -C` prints the words.
fish_completes() { # fish_completes WANT LINE
    local got
    got=$(fish -N -c "function monocle; $monocle \$argv; end; source $work/fish; complete -C '$2'" 2>&1 |
        sed 's/\t.*//' | paste -s -d ' ')
    check "fish completes '$2' to '$got', not '$1'" test "$got" = "$1"
}
if command -v fish >/dev/null; then
    fish_completes "filters" "monocle filt"
    fish_completes "--screenshot" "monocle --scr"
    fish_completes "-p" "monocle live -p"
    fish_completes "cpu opencl gl zerocopy" "monocle live --path "
    fish_completes "clip.y4m" "monocle live --record cl"
    fish_completes "2,sepia" "monocle live -f 2,sep"
    fish_completes "mjpeg" "monocle live --pixel-format mj"
    fish_completes "merge" "monocle report me"
    fish_completes "merged.jsonl" "monocle report merge me"
    fish_completes "" "monocle devices cl"
fi

echo "$failed of $done checks failed" >&2
[ $failed -eq 0 ]
