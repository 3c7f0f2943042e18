#!/bin/bash
# parallel.sh: runs a batch on several machines with GNU parallel and ssh, one job per shard
#
#   parallel.sh SHARDS LOGINS MONOCLE-ARGUMENTS...
#
# LOGINS is the argument of parallel's --sshlogin: node1,node2, or 2/node1 for two jobs at once on node1. The login ":"
# is this machine, without ssh: :,node1. Every machine must have the current directory under the same path. The
# arguments are those of `monocle batch`, without --shard and --report. Each batch has its own directory of reports. To
# continue an interrupted run, start it again with the same arguments: monocle skips finished outputs.
set -eu
if [ $# -lt 3 ] || [ "$1" = --help ]; then
    sed -n '2,/^[^#]/s/^# \?//p' "$0"
    exit 2
fi
for program in parallel "${MONOCLE:-monocle}"; do
    command -v "$program" >/dev/null || {
        echo "parallel.sh: cannot find $program; install it, or name monocle's path in MONOCLE" >&2
        exit 3
    }
done
shards=$1 logins=$2
shift 2
reports=reports/$(printf '%s\n' "$shards" "$@" | cksum | cut -d ' ' -f 1)
mkdir -p "$reports"
arguments=$(printf '%q ' "$@")
status=0
# {} is the shard's number. --retries moves a failed job to another machine, also if its machine has failed.
seq "$shards" | parallel --sshlogin "$logins" --workdir "$PWD" --retries 2 --joblog "$reports/jobs" \
    "${MONOCLE:-monocle} batch --shard {}/$shards --report $reports/{}.jsonl $arguments" || status=$?
"${MONOCLE:-monocle}" report merge "$reports"/*.jsonl || status=$?
exit "$status"
