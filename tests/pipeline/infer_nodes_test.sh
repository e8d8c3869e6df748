#!/usr/bin/env bash
# Inference of some nodes (graphmill infer --nodes): the same bytes as in inference of all nodes,
# computed from their neighbourhood alone, for layers with every kind of input; replayed, verified,
# and refused without enough room.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
graph=(--set ingest.nodes=4000 --set partition.parts=3)
printf '17\n3999\n1234\n' >"$work/ids"

# The rows of those nodes in $work/NAME-some equal those in $work/NAME-all: same NAME
same() {
    python3 - "$work/$1-all/outputs" "$work/$1-some/outputs" <<'PYTHON' || fail "$1: other rows of some nodes"
import struct, sys
def table(folder):
    data = open(folder + "/embeddings.npy", "rb").read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    rows = eval(data[10:start])["shape"]
    size = rows[1] * 4
    return [data[start + i * size : start + (i + 1) * size] for i in range(rows[0])], open(folder + "/predictions.csv").read().split("\n")
all_rows, all_lines = table(sys.argv[1])
rows, lines = table(sys.argv[2])
nodes = [17, 1234, 3999]
assert len(all_rows) == 4000 and len(rows) == 3, (len(all_rows), len(rows))
for i, node in enumerate(nodes):
    assert rows[i] == all_rows[node], f"embedding of node {node}"
    assert lines[i + 1] == all_lines[node + 1], f"{lines[i + 1]} is not {all_lines[node + 1]}"
assert lines[4:] == [""], lines
PYTHON
}
try() { # NAME, settings of the model
    local name=$1
    shift
    run "$name" "$pipeline" "${graph[@]}" --set epochs=1 --set train-step.hidden=12 "$@" >/dev/null
    for how in all some; do
        local more=()
        [ $how = all ] || more=(--nodes "$work/ids")
        "$bin/graphmill" infer "$work/$name" --on "$pipeline" "${graph[@]}" \
            --directory "$work/$name-$how" --quiet --json "${more[@]}" \
            >"$work/answer" || fail "$name: inference of $how nodes"
    done
    same "$name"
}
try sage
try one-layer --set sample.fanouts=[4]
try gcn --set train-step.model=gcn --set train-step.norm=layer
try gat --set train-step.model=gat --set train-step.heads=2 --set train-step.residual=true
try joined --set train-step.model=graph_conv --set train-step.jumping_knowledge=cat \
    --set sample.fanouts=[3,3,3]
try appnp --set train-step.model=appnp --set sample.fanouts=[3,3]

grep -ho 'of whose neighbourhood [0-9]* of 4000' "$work/sage-some"/logs/infer-*.log >"$work/read" \
    || fail "nobody says how much was read"
read -r _ _ _ count _ <"$work/read"
[ "$count" -lt 2500 ] || fail "$count of 4000 nodes were read for three"
[ -z "$(find "$work/sage-some/store/run" -path '*/infer/*')" ] ||
    fail "layers of all nodes were stored"
"$bin/graphmill" verify "$work/sage-some" >"$work/said" || fail "verify: $(cat "$work/said")"
"$bin/graphmill" replay "$work/sage-some" infer >"$work/said" || fail "replay: $(cat "$work/said")"
grep -q '^MATCH outputs/' "$work/said" || fail "replay: $(cat "$work/said")"
expect 64 'has no layers of their own' "$bin/graphmill" replay "$work/sage-some" infer --layer 1
expect 78 'inference of some nodes, which keeps no rows' "$bin/graphmill" export "$work/sage-some" \
    --what logits --output "$work/logits"
