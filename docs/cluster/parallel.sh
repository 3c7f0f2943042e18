#!/bin/bash
# parallel.sh: a batch over several machines by GNU parallel and ssh, a shard a job
#
#   parallel.sh SHARDS LOGINS MONOCLE-ARGUMENTS...
#
# LOGINS is what parallel's --sshlogin takes: node1,node2, or 2/node1 for two jobs at once there. Every machine sees the
# directory we are in under the same name. The arguments are those of `monocle batch`, without --shard and --report. Run
# it again after whatever happened: what is done is not done again.
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
mkdir -p reports
arguments=$(printf '%q ' "$@")
status=0
# {} is the shard's number. --retries moves a job that failed, also by a machine's death, to another machine.
seq "$shards" | parallel --sshlogin "$logins" --workdir "$PWD" --retries 2 --joblog reports/jobs \
    "${MONOCLE:-monocle} batch --shard {}/$shards --report reports/{}.jsonl $arguments" || status=$?
"${MONOCLE:-monocle}" report merge reports/*.jsonl || status=$?
exit "$status"
