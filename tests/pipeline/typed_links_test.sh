#!/usr/bin/env bash
# Links of a graph with several node types and relations, from its folder to the outputs: the same
# bytes for any workers, threads and memory, by replay of every stage; ranks computed again from the
# outputs; partners; errors, named.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
papers_graph "$work/papers" 150
rm "$work/papers"/{train,valid,test,node-label}.csv # neither is read

file=$work/links.yaml
cat >"$file" <<END
name: typed-links
seed: 3
epochs: 4
ingest:
  path: $work/papers
  relations: true
  add_reverse: true
  missing_features: random
  random_dim: 8
  task: link_prediction
  edge_split: random 70/10/20
partition:
  parts: 3
sample:
  fanouts: [4, 3]
  relation_fanouts: "in: 2,0"
  batch_size: 100
  batches_per_round: 2
  negatives: 2
  evaluation_negatives: 2
  corrupt: both
train-step:
  model: rgcn
  hidden: 16
  dropout: 0.2
  decoder: distmult
aggregate:
  learning_rate: 0.02
checkpoint:
  metric: mrr
  keep: 0
infer:
  ranking: all
  ranked_end: both
END

run one "$file" --workers 1 --threads 1 >/dev/null
before=$(outcome one)
run two "$file" --workers 2 --threads 2 >/dev/null
as_before two '2 workers, 2 threads'
run five "$file" --workers 5 --threads 3 >/dev/null
as_before five '5 workers, 3 threads'
run little "$file" --memory 192M >/dev/null
as_before little 'little memory'

# 600 edges of three relations, and as many reverses, which are no examples: not learned, not held
# out, not predicted.
predictions=$work/one/outputs/predictions.csv
[ "$(head -1 "$predictions")" = source,target,type,split,score,rank,source_rank ] ||
    fail "header: $(head -1 "$predictions")"
[ -z "$(awk -F, 'NR > 1 && $3 > 2' "$predictions")" ] || fail "a reverse was held out"
held=$(($(wc -l <"$predictions") - 1))
grep -q "links: $((600 - held)) stored edges to train on" "$work/one/logs/ingest.log" ||
    fail "of 600 edges $held are held out: $(grep links: "$work/one/logs/ingest.log")"

for unit in "ingest" "partition" "sample --round 0 --slot 1" "sample --evaluation" \
    "train-step --round 2 --slot 0" \
    "train-step --evaluation" "aggregate --round 1" "checkpoint" "infer --layer 2 --part 1" \
    "infer"; do
    # shellcheck disable=SC2086
    said=$("$bin/graphmill" replay "$work/one" $unit) || fail "replay of $unit: $said"
    [[ $said == MATCH* ]] || fail "replay of $unit said $said"
done

# Ranks and scores computed again, by numpy, over the nodes of the right type.
python3 "$source_folder/tests/pipeline/typed_link_checks.py" "$work/papers" "$work/one" ||
    fail "see above"

# Scores of pairs are those of the table; partners are of the right type, and --new ones are no
# edges.
awk -F, 'NR > 1 {print $1 "," $2 "," $3}' "$predictions" >"$work/pairs.csv"
"$bin/graphmill" predict links "$work/one" --pairs "$work/pairs.csv" --output "$work/scores.csv" \
    >/dev/null
paste -d, <(awk -F, 'NR > 1 {print $1 "," $2 "," $3 "," $5}' "$predictions") \
    <(sed 1d "$work/scores.csv") |
    awk -F, '{d = $4 - $8} $1 != $5 || $2 != $6 || $3 != $7 || d > 1e-6 || d < -1e-6 {exit 1}' ||
    fail "scores of predict links are not those of predictions.csv"
"$bin/graphmill" predict links "$work/one" --node 3 --type 0 --best 500 \
    --output "$work/papers.csv" >/dev/null
[ "$(awk -F, 'NR > 1 && $2 >= 100 && $2 < 250' "$work/papers.csv" | wc -l)" -eq 150 ] &&
    [ "$(wc -l <"$work/papers.csv")" -eq 151 ] ||
    fail "partners of an author are not the 150 papers: $(wc -l <"$work/papers.csv")"
"$bin/graphmill" predict links "$work/one" --node 3 --type 0 --best 500 \
    --new --output "$work/new.csv" >/dev/null
[ "$(wc -l <"$work/new.csv")" -lt 151 ] || fail "--new leaves out no edge"

# Errors, before the work.
with() { # NAME LINE...: the pipeline with other settings
    local name=$1
    shift
    "$bin/graphmill" run "$file" --directory "$work/$name" --quiet "${@/#/--set=}"
}
expect 78 'sample.evaluation_negatives is 3, expected fewer than nodes of type venue: the dataset has 3' \
    with many sample.evaluation_negatives=3
# Pairs of walks are of the relation of the edge at which the walk begins: their ends are of its types, and some are no edges.
"$bin/graphmill" run "$file" --directory "$work/walks" --quiet --set sample.pairs=walks --set sample.pair_walk_length=4
"$bin/graphmill" run "$file" --directory "$work/walks-three" --quiet --workers 3 --set sample.pairs=walks --set sample.pair_walk_length=4
cmp -s "$work/walks/outputs/predictions.csv" "$work/walks-three/outputs/predictions.csv" || fail "walks: three workers give other scores"
said=$("$bin/graphmill" replay "$work/walks" sample --round 1 --slot 0) || fail "replay of walks: $said"
"$bin/graphmill" export "$work/walks" --what step --round 1 --output "$work/step.safetensors" >/dev/null
python3 - "$source_folder/tests/pipeline" "$work" >"$work/said" 2>&1 <<'CHECK' || fail "$(tail -1 "$work/said")"
import csv, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from link_checks import read_step
work = sys.argv[2]
edges = {(int(e["src"]), int(e["dst"]), int(e["etype"])) for e in csv.DictReader(open(f"{work}/papers/edges.csv"))}
tensors, _, _ = read_step(f"{work}/step.safetensors")
kinds = ("author", "paper", "venue")
seeds = [(n, kind) for kind in kinds for n in tensors[f"mini_batch.node.{kind}"][: tensors[f"mini_batch.hop_end.{kind}"][0]]]
ends = {0: ("author", "paper"), 1: ("paper", "paper"), 2: ("paper", "venue")}
positives = len(tensors["pair_source"])
pairs = list(zip(tensors["pair_source"], tensors["pair_target"][:positives], tensors["pair_type"]))
assert len(pairs) >= 80, len(pairs)
for source, target, kind in pairs:
    assert (seeds[source][1], seeds[target][1]) == ends[kind], (seeds[source], seeds[target], kind)
far = {kind: sum((seeds[s][0], seeds[t][0], k) not in edges for s, t, k in pairs if k == kind) for kind in ends}
assert all(far.values()), f"pairs that are no edges, by relation: {far}"
CHECK
expect 78 'no relation leads to type author' with one_way ingest.add_reverse=false train-step.model=hgt
printf 'source,target,type\n3,4,0\n' >"$work/wrong.csv"
expect 65 'wrong.csv:2: target 4 of relation writes: expected a node of type paper, found one of type author' \
    with given ingest.edge_split=given "ingest.test_edges=$work/wrong.csv"
printf 'source,target,type\n0,100,0\n' >"$work/leak.csv"
expect 65 'leak.csv:2: .*the split leaks' with leak ingest.edge_split=given \
    "ingest.test_edges=$work/leak.csv"
expect 65 "wrong.csv:2: node '4' is of type author, expected one of type paper as the target of relation writes" \
    "$bin/graphmill" predict links "$work/one" --pairs "$work/wrong.csv"
