#!/usr/bin/env bash
# newcomer/run.sh - the twelve lines of pipelines/README.md, "Twelve things", as a stranger types them, each timed.
#
#   tests/newcomer/run.sh [BIN]        with the programs in BIN (default: build/bin beside the source)
#   tests/newcomer/run.sh --debian     in a fresh root of Debian 12 made by debootstrap (as root; needs its mirror): installs what
#                                      pipelines/install.sh says, builds, and does the same there
#
# The lines are taken out of pipelines/README.md, so that what stands there is what runs; this script only makes the files that a
# stranger has, presses Ctrl-C, and looks at what came out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)

if [ "${1:-}" = --debian ]; then
    [ "$(id -u)" -eq 0 ] || { echo "newcomer: a root of its own takes the rights of root" >&2; exit 77; }
    command -v debootstrap >/dev/null || { echo "newcomer: debootstrap is missing: apt install debootstrap" >&2; exit 77; }
    root=$(mktemp -d "${TMPDIR:-/tmp}/graphmill-debian-XXXXXX")
    leave() {
        ! mountpoint -q "$root/proc" || umount "$root/proc"
        rm -rf --one-file-system "$root"
    }
    trap leave EXIT
    debootstrap --variant=minbase bookworm "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
        { tail -5 "$root.log" >&2; exit 74; }
    rm -f "$root.log"
    ! [ -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    mount -t proc proc "$root/proc"
    mkdir "$root/graphmill"
    tar -C "$source" --exclude=./build --exclude=./.git --exclude=./runs -cf - . | tar -C "$root/graphmill" -xf -
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash -ec 'cd /graphmill && pipelines/install.sh build && cmake -S . -B build -G Ninja -DBUILD_TESTING=OFF >/dev/null &&
        ninja -C build >/dev/null && tests/newcomer/run.sh'
    exit
fi

bin=$(cd "${1:-$source/build/bin}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/graphmill-newcomer-XXXXXX")
trap 'rm -rf "$work"' EXIT
export PATH=$bin:$PATH
cd "$work"

# --- what a stranger has ---

# calls.csv, people.csv: 300 people of three circles who mostly know their own.
awk 'BEGIN {
    srand(3)
    split("climbing,chess,choir", circle, ",")
    print "person,age,town,group" >"people.csv"
    print "caller,callee,minutes" >"calls.csv"
    for (i = 0; i < 300; i++) {
        c = i % 3 + 1
        printf "p%d,%d,%s,%s\n", i, 20 + 10 * c + int(rand() * 25), substr("AachenBonn  Celle ", 6 * int(rand() * 3) + 1, 6), circle[c] >"people.csv"
        for (k = 0; k < 5; k++)
            printf "p%d,p%d,%d\n", i, rand() < 0.8 ? 3 * int(rand() * 100) + i % 3 : int(rand() * 300), 1 + int(rand() * 30) >"calls.csv"
    }
}'
sed -i 's/^caller,callee/from,to/' calls.csv
printf 'p%d\n' 7 19 42 128 299 >five.txt

# club-ogb: the karate club as a raw folder of OGB.
karate=$source/tests/data/karate
mkdir -p club-ogb/raw club-ogb/split/random
tail -n +2 "$karate/edges.csv" | gzip >club-ogb/raw/edge.csv.gz
echo 34 | gzip >club-ogb/raw/num-node-list.csv.gz
tail -n +2 "$karate/edges.csv" | wc -l | gzip >club-ogb/raw/num-edge-list.csv.gz
gzip <"$karate/node-label.csv" >club-ogb/raw/node-label.csv.gz
for split in train valid test; do gzip <"$karate/$split.csv" >club-ogb/split/random/$split.csv.gz; done

# Whole numbers, one a line, as a NumPy array of int64.
npy() {
    local values=() value header
    mapfile -t values
    header="{'descr': '<i8', 'fortran_order': False, 'shape': (${#values[@]},), }"
    header=$(printf '%-117s' "$header") # with ten bytes before and a line end behind: 128
    printf '\x93NUMPY\x01\x00\x76\x00%s\n' "$header"
    for value in "${values[@]}"; do # below 128
        # shellcheck disable=SC2059
        printf "\\x$(printf %02x "$value")\0\0\0\0\0\0\0"
    done
}

# club-graphbolt: the same as GraphBolt's OnDiskDataset.
mkdir -p club-graphbolt
tail -n +2 "$karate/edges.csv" >club-graphbolt/edges.csv
sets=
for split in train valid test; do
    npy <"$karate/$split.csv" >club-graphbolt/$split-seeds.npy
    while read -r node; do sed -n "$((node + 1))p" "$karate/node-label.csv"; done <"$karate/$split.csv" | npy >club-graphbolt/$split-labels.npy
    sets+="    ${split/valid/validation}_set: [{data: [{name: seeds, format: numpy, path: $split-seeds.npy}, {name: labels, format: numpy, path: $split-labels.npy}]}]
"
done
cat >club-graphbolt/metadata.yaml <<END
dataset_name: club
graph:
  nodes: [{num: 34}]
  edges: [{format: csv, path: edges.csv}]
tasks:
  - num_classes: 2
$sets
END

# --- the lines ---

# What pipelines/README.md says for task N, without its comment.
line() { sed -n "s/^    \(graphmill .*\|echo .*[^ ]\)  *# $1: .*/\1/p" "$source/pipelines/README.md"; }
describe() { sed -n "s/^    .*  # $1: //p" "$source/pipelines/README.md"; }

failed=0
seconds() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN {printf "%6.1f s", b - a}'; }
# Runs line N, its answer to N.out; `check N COMMAND...` looks at what came out.
type_line() {
    local text status=0
    text=$(line "$1" | sed 's, *$,,')
    [ -n "$text" ] || { echo "pipelines/README.md has no line $1"; failed=1; return 1; }
    began=$EPOCHREALTIME
    bash -c "$text" >"$1.out" 2>"$1.err" </dev/null || status=$?
    [ $status -eq 0 ] || { echo "FAILED $1: '$text' ended with $status: $(tail -3 "$1.err")"; failed=1; return 1; }
}
check() {
    local number=$1
    shift
    if "$@"; then
        printf '%2d  %s  %s\n' "$number" "$(seconds "$began")" "$(describe "$number")"
    else
        echo "FAILED $number: $(line "$number"): $* was not so"
        failed=1
    fi
}

says() { grep -Eq -- "$2" "$1" || { head -c 500 "$1"; return 1; }; }

type_line 1 && check 1 says runs/calls/outputs/predictions.csv '^p7,[a-z]*,chess,(chess|choir|climbing),0\.'
type_line 2 && check 2 says runs/ogb/outputs/predictions.csv '^33,[a-z]*,[01],[01],'
type_line 3 && check 3 says runs/bolt/outputs/predictions.csv '^33,[a-z]*,[01]?,[01],'

# Ctrl-C, once the run has made snapshots; then the line, which goes on.
rm -rf runs/calls
sed -i 's/^epochs: .*/epochs: 300/' calls.yaml
graphmill run calls.yaml >interrupted.out 2>&1 &
pid=$!
for _ in $(seq 600); do
    grep -q '"snapshot_round":[1-9]' <<<"$(graphmill status runs/calls --json 2>/dev/null)" && break
    sleep 0.1
done
kill -INT $pid
status=0
wait $pid || status=$?
[ $status -eq 75 ] || { echo "FAILED 4: Ctrl-C ended a run with $status: $(tail -2 interrupted.out)"; failed=1; }
type_line 4 && check 4 says 4.err '^resuming +from round [1-9]'

type_line 5 && check 5 says 5.out 'train'
type_line 6 && check 6 says 6.out 'accuracy'
type_line 7 && {
    if python3 -c 'import torch, safetensors, torch_geometric' 2>/dev/null; then
        check 7 python3 - <<'END'
from safetensors.torch import load_file
from torch_geometric.nn import GraphSAGE
state = load_file("model.safetensors")
width = state["convs.0.lin_l.weight"].shape
GraphSAGE(width[1], width[0], 2, state["convs.1.lin_l.weight"].shape[0]).load_state_dict(state, strict=True)
END
    else
        check 7 test -s model.safetensors
        echo "    (without torch, safetensors and PyG here: that it loads is skipped)"
    fi
}
type_line 8 && check 8 says runs/calls/report.html '<td>chess</td>'
type_line 9 && check 9 says 9.out '^(chess|choir|climbing) '
graphmill run calls.yaml --set epochs=2 --set train-step.hidden=8 --quiet >/dev/null 2>&1 # one more, so that there is an old one
type_line 10 && check 10 says 10.out 'runs?'
type_line 11 && check 11 says 11.out '^MATCH '
type_line 12 && check 12 says 12.out '.' && {
    [ "$(wc -l <runs/calls-on-calls/outputs/predictions.csv)" -eq 6 ] || { echo "FAILED 12: not five nodes"; failed=1; }
    [ -s runs/calls-on-calls/outputs/embeddings.npy ] || { echo "FAILED 12: no embeddings"; failed=1; }
}
exit $failed
