#!/usr/bin/env bash
# Nodes that appear at times (ingest.node_times), edges without: nodes of the future that give the answer away move no byte, in a graph
# of one type and of several; the same bits for any workers and under replay; bad files and settings.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
# 240 papers of three classes appear one after the other, cite papers of any time and have one of 60 authors. Each has a sign, a node
# that appears later than all papers, whose features are of the class of the paper, where the future tells, or of any.
graph() { # tells | silent
    local folder=$work/$1
    mkdir "$folder"
    echo '{"num_nodes": 540, "directed": true, "num_classes": 3}' >"$folder/meta.json"
    printf 'name,first_id,count\nauthor,0,60\npaper,60,240\nsign,300,240\n' >"$folder/node-types.csv"
    printf 'id,name,source,target\n0,writes,author,paper\n1,cites,paper,paper\n2,points,sign,paper\n' >"$folder/edge-types.csv"
    awk 'BEGIN { srand(11)
        print "src,dst,etype"
        for (i = 0; i < 240; i++) {
            print (rand() < 0.6 ? int(rand() * 20) * 3 + i % 3 : int(rand() * 60)) "," 60 + i ",0"
            for (k = 0; k < 3; k++) {
                j = rand() < 0.6 ? int(rand() * 80) * 3 + i % 3 : int(rand() * 240)
                if (j != i) print 60 + j "," 60 + i ",1"
            }
        }
        for (i = 0; i < 240; i++) print 300 + i "," 60 + i ",2" }' >"$folder/edges.csv"
    awk 'BEGIN { for (v = 0; v < 540; v++) print (v >= 60 && v < 300 ? v % 3 : -1) }' >"$folder/node-label.csv"
    awk 'BEGIN { for (v = 60; v < 300; v++) if (v % 10 < 5) print v }' >"$folder/train.csv"
    awk 'BEGIN { for (v = 60; v < 300; v++) if (v % 10 > 4 && v % 10 < 7) print v }' >"$folder/valid.csv"
    awk 'BEGIN { for (v = 60; v < 300; v++) if (v % 10 > 6) print v }' >"$folder/test.csv"
    python3 - "$folder" "$1" <<'PY'
import random, struct, sys
random.seed(5)
every = []
for name, rows in (("author", 60), ("paper", 240), ("sign", 240)):
    big = 9.0 if name == "sign" else 0.4
    told = 1 if name != "sign" or sys.argv[2] == "tells" else 3
    values = [big * (c == v // told % 3) + random.random() - 0.5 for v in range(rows) for c in range(4)]
    every += values
    for file, data, count in ((name, values, rows), ("node", every, 540)):
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, 4), }}".ljust(117) + "\n"
        open(f"{sys.argv[1]}/{file}-feat.npy", "wb").write(
            b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(data)}f", *data))
PY
}
graph silent
graph tells
# Authors were always there. Papers have the times of a shuffled order.
awk 'BEGIN { print "id,time"; for (v = 60; v < 300; v++) print v "," (v * 77) % 240; for (v = 300; v < 540; v++) print v "," 1000 + v }' >"$work/times.csv"
for kind in silent tells; do # the same as one type of nodes and edges
    mkdir "$work/plain-$kind"
    cp "$work/$kind"/{meta.json,node-label.csv,train.csv,valid.csv,test.csv,node-feat.npy} "$work/plain-$kind/"
    cut -d, -f1,2 "$work/$kind/edges.csv" >"$work/plain-$kind/edges.csv"
    rm "$work/$kind/node-feat.npy"
done
settings() { # INGEST_LINES
    printf 'name: nodes\nepochs: 5\ningest:\n  path: %s\n  node_times: times.csv\n%s' "$1" "$2"
    cat <<'YAML'
partition:
  parts: 3
sample:
  sampler: temporal_neighbor
  seed_time: node
  fanouts: [5, 5]
  batch_size: 50
train-step:
  hidden: 16
  dropout: 0
checkpoint:
  keep: 0
YAML
}
settings plain-silent '  direction: undirected
' >"$work/plain.yaml"
settings silent '  relations: true
  add_reverse: true
' >"$work/typed.yaml"
same_outputs() { # NAME OTHER
    local file
    for file in predictions.csv embeddings.npy; do
        cmp -s <(rows "$1" $file) <(rows "$2" $file) || fail "$2 has another $file than $1"
    done
}
# Signs of a graph of one type have outputs, too, which differ.
rows() {
    case $2 in
    predictions.csv) awk -F, 'NR == 1 || $1 < 300' "$work/$1/outputs/$2" ;;
    *) head -c $((128 + 300 * 16 * 4)) "$work/$1/outputs/$2" ;;
    esac
}
for kind in plain typed; do
    prefix=$([ $kind = plain ] && echo plain- || true)
    answer=$(run $kind "$work/$kind.yaml" --workers 1)
    hash=$(json weights_hash <<<"$answer")
    [ ${#hash} -eq 32 ] || fail "$kind: no hash of the weights in: $answer"
    # Outputs are what validation saw: the same scores of the same nodes, at their times.
    best=$(sed -n 's/.*"valid_accuracy":\([0-9.]*\).*/\1/p' "$work/$kind/metrics.jsonl" | sort -g | tail -1)
    awk -v a="$best" -v b="$(measure "$answer" valid accuracy)" 'BEGIN { d = a - b; exit !(a > 0 && d < 1e-6 && d > -1e-6) }' ||
        fail "$kind: validation said $best, outputs say $(measure "$answer" valid accuracy)"
    answer=$(run $kind-telling "$work/$kind.yaml" --set ingest.path="$work/${prefix}tells")
    [ "$(json weights_hash <<<"$answer")" = "$hash" ] || fail "$kind: the future moves the weights"
    same_outputs $kind $kind-telling
    # A sampler that looks at all nodes gains by the future.
    before=$(measure "$(run all "$work/$kind.yaml" --set sample.sampler=neighbor)" test accuracy)
    after=$(measure "$(run all-telling "$work/$kind.yaml" --set sample.sampler=neighbor --set ingest.path="$work/${prefix}tells")" test accuracy)
    awk -v a="$before" -v b="$after" 'BEGIN { exit !(b > a + 0.02) }' || fail "$kind: what is planted tells nothing: $before, then $after"
    [ "$(run $kind-three "$work/$kind.yaml" --workers 3 --threads 1 | json weights_hash)" = "$hash" ] || fail "$kind: three workers give other weights"
    same_outputs $kind $kind-three
    for unit in ingest "sample --round 1 --slot 0" "sample --evaluation" "infer --layer 1 --part 0" "infer --layer 2 --part 1"; do
        # shellcheck disable=SC2086
        said=$("$bin/graphmill" replay "$work/$kind" $unit) || fail "$kind: replay of $unit: $said"
        [[ $said == MATCH* ]] || fail "$kind: replay of $unit said $said"
    done
    rm -rf "$work/all" "$work/all-telling"
done
# Dates are times, too: the same order of the same nodes, so that only what stands in the file differs.
awk -F, 'NR == 1 { print; next } { printf "%d,%s\n", $1, strftime("%Y-%m-%d", 86400 * $2, 1) }' "$work/times.csv" >"$work/dates.csv" 2>/dev/null &&
    [ "$(wc -l <"$work/dates.csv")" -eq 481 ] && {
    [ "$(run dates "$work/typed.yaml" --set ingest.node_times="$work/dates.csv" | json weights_hash)" = "$hash" ] || fail "dates give other weights"
}

bad() { # STATUS PATTERN LINE_OF_TIMES [options]
    printf 'id,time\n%s\n' "$3" >"$work/bad.csv"
    expect "$1" "$2" run bad "$work/typed.yaml" --set ingest.node_times="$work/bad.csv" "${@:4}"
}
bad 65 'bad.csv:2: expected a node from 0 to 539, found 540' 540,3
bad 65 "bad.csv:2: node 'x' is in no other file" x,3
bad 65 "bad.csv:2: expected .*, found 'soon'" 3,soon
bad 65 'bad.csv:3: the node has a time in a line before' $'3,1\n3,2'
bad 65 'bad.csv: expected a line `id,time` a node, found none' ''
expect 78 'sample.seed_time is node, but ingest.node_times is empty' run bad "$work/typed.yaml" --set ingest.node_times=
printf '3\n' >"$work/gone.csv"
expect 78 "ingest.node_times is .*, and an update has no times for nodes" "$bin/graphmill" update "$work/typed" --remove-nodes "$work/gone.csv"
