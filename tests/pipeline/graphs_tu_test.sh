#!/usr/bin/env bash
# Graphs in the format of the TU Dortmund collection: classes and numbers, ids from 1, splits by
# files and by a draw; the model on other graphs; logits and steps exported; bad input.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
for seed in 1 2; do python3 "$source_folder/tests/support/make_graphs.py" "$work/toy$seed" 160 \
    --tu TOY --seed $seed; done
cat >"$work/toy.yaml" <<'YAML'
name: toy
epochs: 4
ingest: {format: tu, path: "${TOY:-toy1}", task: graph_classification, split: random 70/15/15}
partition: {parts: 3}
sample: {fanouts: [-1, -1], batch_size: 32}
train-step: {model: gin, hidden: 16, dropout: 0, readout: sum}
checkpoint: {keep: 0}
YAML
answer=$(run one "$work/toy.yaml" --workers 1)
hash=$(json weights_hash <<<"$answer")
[[ $answer == *'"train":112,"valid":24,"test":24'* && $answer == *'"features":5,"classes":3'* ]] ||
    fail "the dataset: $answer"
# Ids start at 1, and classes become labels in their order: 1, 2 and 5.
awk -F, 'NR == FNR { label[FNR] = $1 == 1 ? 0 : $1 == 2 ? 1 : 2; next }
    FNR > 1 && ($1 != FNR - 1 || $3 != label[$1]) { exit 1 } END { exit FNR != 161 }' \
        "$work/toy1/TOY_graph_labels.txt" \
    "$work/one/outputs/predictions.csv" || fail "predictions.csv is not of the graphs of the input"
other=$(run two "$work/toy.yaml" --workers 2 | json weights_hash)
[ "$other" = "$hash" ] || fail "two workers give $other, one gave $hash"

# The same splits by files, whose graphs are numbered from 1: the same weights.
cp -r "$work/toy1" "$work/given"
for split in train valid test; do
    awk -F, -v name=$split '$2 == name { print $1 }' "$work/one/outputs/predictions.csv" \
        >"$work/given/$split.csv"
done
other=$(TOY=given run given "$work/toy.yaml" --set ingest.split=given | json weights_hash)
[ "$other" = "$hash" ] || fail "splits of files give $other, the same ones that were drawn $hash"

# The model on other graphs, from its folder and its file; on its own graphs it gives the same
# results.
TOY=toy1 "$bin/graphmill" infer "$work/one" --on "$work/toy.yaml" --directory "$work/again" \
    --quiet >/dev/null
awk -F, '{ print $1 "," $3 "," $4 "," $5 }' "$work/one/outputs/predictions.csv" >"$work/before"
awk -F, '{ print $1 "," $3 "," $4 "," $5 }' "$work/again/outputs/predictions.csv" |
    cmp -s - "$work/before" ||
    fail "the model says something else of its own graphs"
for model in one one/outputs/model.safetensors; do
    TOY=toy2 "$bin/graphmill" infer "$work/$model" --on "$work/toy.yaml" \
        --directory "$work/on-${model##*.}" --quiet >/dev/null
    [ "$(wc -l <"$work/on-${model##*.}/outputs/predictions.csv")" -eq 161 ] ||
        fail "$model on other graphs"
done
cmp -s "$work/on-one/outputs/predictions.csv" "$work/on-safetensors/outputs/predictions.csv" ||
    fail "file and folder of a model differ"
echo 1 >"$work/some.csv"
expect 78 'the model learns graphs, of which all are inferred' "$bin/graphmill" infer "$work/one" \
    --on "$work/toy.yaml" --nodes "$work/some.csv" \
    --directory "$work/some"

"$bin/graphmill" export "$work/one" --what logits --output "$work/logits.npy" >/dev/null
grep -aq "'shape': (160, 3)" <(head -c 80 "$work/logits.npy") ||
    fail "logits are not one row for each graph"
answer=$(run numbers "$work/toy.yaml" --set ingest.task=graph_regression)
[[ $answer == *'"rmse":'* ]] || fail "numbers: $answer"

expect 78 'ingest.format is tu, which has many graphs: expected ingest.task graph_classification' run bad "$work/toy.yaml" --set ingest.task=single_label
cp -r "$work/toy1" "$work/wrong"
echo '1, 3000' >>"$work/wrong/TOY_A.txt"
TOY=wrong expect 65 \
    'TOY_A.txt:[0-9]*: (an edge between nodes of two graphs, 1 and [0-9]*|expected a node from 1)' \
    run bad "$work/toy.yaml"
cp "$work/toy1/TOY_A.txt" "$work/wrong/TOY_A.txt"
sed -i '$d' "$work/wrong/TOY_graph_labels.txt"
TOY=wrong expect 65 'TOY_graph_labels.txt: expected 160 labels, one for each graph, found 159' run \
    bad "$work/toy.yaml"
printf '0\n' >"$work/given/train.csv"
TOY=given expect 65 'train.csv:1: graph 0 is out of range: expected a graph id from 1 to 160' run \
    bad "$work/toy.yaml" --set ingest.split=given
[ ! -e "$work/bad/store/partition" ] || fail "something was partitioned"
