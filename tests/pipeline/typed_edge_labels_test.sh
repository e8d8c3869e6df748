#!/usr/bin/env bash
# Classes and numbers of the edges of relations through every stage: the learned and predicted
# labels are those of the input, no message passes over an edge that is asked for; the same bytes
# for any workers and memory, after a kill and by replay; bad input.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
folder=$work/papers
papers_graph "$folder" 150
rm "$folder"/{train,valid,test,node-label}.csv # none is read
# A class of each edge that follows from its relation and one end.
awk -F, 'NR == 1 {print "src,dst,rating,etype"; next} !seen[$0]++ {print $1 "," $2 "," ($2 + $3) % 3 "," $3}' "$folder/edges.csv" >"$work/edges"
mv "$work/edges" "$folder/edges.csv"

file=$work/labels.yaml
{
    papers_pipeline "$folder" 3 8 'missing_features: degree+random' 'random_dim: 8' \
        'task: edge_classification' 'edge_label: rating' \
        'edge_split: random 70/10/20'
    cat <<'YAML'
sample:
  fanouts: [4, 3]
  batch_size: 100
  batches_per_round: 2
train-step:
  model: rgcn
  hidden: 16
  embedding: 16
  decoder: concat
  class_weights: balanced
aggregate:
  learning_rate: 0.02
  embedding_rate: 0.05
checkpoint:
  metric: macro_f1
  keep: 0
YAML
} >"$file"

answer=$(run one "$file" --workers 1 --threads 1)
before=$(outcome one)
run five "$file" --workers 5 --threads 2 >/dev/null
as_before five '5 workers, 2 threads'
run little "$file" --memory 216M >/dev/null
as_before little 'little memory'
killed_at 1 "$file"
for unit in ingest partition "sample --round 0 --slot 1" "sample --evaluation" \
    "train-step --round 2 --slot 0" "train-step --evaluation" \
    "aggregate --round 1" checkpoint "infer --layer 2 --part 1" infer; do
    # shellcheck disable=SC2086
    said=$("$bin/graphmill" replay "$work/one" $unit) || fail "replay of $unit: $said"
    [[ $said == MATCH* ]] || fail "replay of $unit said $said"
done
for metric in accuracy macro_f1 loss; do
    [ -n "$(measure "$answer" test $metric)" ] && [ -n "$(measure "$answer" valid $metric)" ] ||
        fail "no $metric in: $answer"
done

"$bin/graphmill" export "$work/one" --what step --round 1 --output "$work/step.safetensors" \
    >/dev/null
python3 - "$source_folder/tests/pipeline" "$work" >"$work/said" 2>&1 <<'CHECK' || fail "$(tail -1 "$work/said")"
import csv, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from link_checks import read_step
work = sys.argv[2]
label = {}
for line in csv.DictReader(open(f"{work}/papers/edges.csv")):
    label[int(line["src"]), int(line["dst"]), int(line["etype"])] = int(line["rating"])
lines = list(csv.DictReader(open(f"{work}/one/outputs/predictions.csv")))
held = set()
for line in lines:
    edge = tuple(int(line[key]) for key in ("source", "target", "type"))
    assert label[edge] == int(line["label"]), line
    held.add(edge)
assert len(held) == len(lines) and 0.25 < len(lines) / len(label) < 0.35, (len(lines), len(label))
right = [line["label"] == line["prediction"] for line in lines if line["split"] == "test"]
assert sum(right) / len(right) > 0.5, f"{sum(right)} of {len(right)} are right"  # a third by chance

tensors, _, _ = read_step(f"{work}/step.safetensors")
kinds = ("author", "paper", "venue")
node = {kind: tensors[f"mini_batch.node.{kind}"] for kind in kinds}
seeds = [n for kind in kinds for n in node[kind][: tensors[f"mini_batch.hop_end.{kind}"][0]]]
ends = {0: ("author", "paper"), 1: ("paper", "paper"), 2: ("paper", "venue")}
pairs = list(zip(*([seeds[i] for i in tensors[f"pair_{end}"]] for end in ("source", "target")), tensors["pair_type"]))
assert len(pairs) >= 80 and len(tensors["pair_target"]) == len(pairs), len(pairs)
for edge, value in zip(pairs, tensors["pair_label"]):
    assert label[edge] == value and edge not in held, (edge, value)
for r, (source, target) in ends.items():
    for relation, ways in ((r, 1), (r + 3, -1)):
        flat = tensors[f"mini_batch.edge_index.{relation}"]
        above, below = flat[: len(flat) // 2], flat[len(flat) // 2 :]
        kinds_of = (source, target)[::ways]
        for a, b in zip(above, below):
            edge = ((node[kinds_of[0]][a], node[kinds_of[1]][b])[::ways]) + (r,)
            assert edge in label and edge not in held and edge not in pairs, (relation, edge)
CHECK

# Numbers, and a decoder with an embedding for each relation.
answer=$(run numbers "$file" --set ingest.task=edge_regression --set checkpoint.metric=rmse \
    --set train-step.class_weights=none \
    --set train-step.decoder=distmult)
awk -v a="$(measure "$answer" test rmse)" 'BEGIN { exit !(a > 0 && a < 2) }' || fail "rmse: $answer"
answer=$(run classes "$file" --set train-step.decoder=distmult)
[ -n "$(measure "$answer" test accuracy)" ] || fail "no accuracy with distmult: $answer"

# Errors are named before anything is partitioned.
bad() { # PATTERN STATUS [settings]
    local pattern=$1 status=$2
    shift 2
    expect "$status" "$pattern" run bad "$file" "$@"
    [ ! -e "$work/bad/store/partition" ] || fail "$pattern: something was partitioned"
}
bad "the edges have no column 'stars', which ingest.edge_label names" 65 \
    --set ingest.edge_label=stars
sed -i '7s/,[0-9],\([0-9]\)$/,-1,\1/' "$folder/edges.csv"
bad 'edges.csv:7: the rating is -1: expected a class from 0 on for each edge' 65
