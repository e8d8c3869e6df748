#!/usr/bin/env bash
# Tasks of nodes, end to end: losses, class weights, label smoothing, and the metrics of each task.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
karate=$source_folder/tests/data/karate

pipeline() { # path, more lines of the ingest section, of train-step
    printf 'name: tasks\nepochs: 6\ningest:\n  format: folder\n  path: %s\n%b' "$1" "${2:-}"
    printf 'partition:\n  parts: 2\nsample:\n  fanouts: [5, 5]\n  batches_per_round: 2\n  batch_size: 4\ncheckpoint:\n  keep: 0\n'
    printf 'train-step:\n  hidden: 8\n%b' "${3:-}"
}
# One worker and two give the same hash, and each unit replays: proof NAME FILE
proof() {
    run "$1" "$2" >"$work/answer"
    run "$1-two" "$2" --workers 2 >"$work/answer-two"
    [ "$(json weights_hash <"$work/answer")" = "$(json weights_hash <"$work/answer-two")" ] ||
        fail "$1: one worker and two: $(cat "$work/answer" "$work/answer-two")"
    cmp "$work/$1/outputs/predictions.csv" "$work/$1-two/outputs/predictions.csv" ||
        fail "$1: other predictions by two workers"
    "$bin/graphmill" replay "$work/$1" train-step --round 1 --slot 1 >"$work/replay"
    grep -q '^MATCH' "$work/replay" || fail "$1: $(cat "$work/replay")"
}
hash_of() { json weights_hash <"$work/answer"; }

# Other class weights make another model; weights equal to those of balanced make the same one.
cp -r "$karate" "$work/uneven"
awk -F, 'NR == FNR {label[FNR - 1] = $1; next} label[$1] == 0 || !seen++' "$karate/node-label.csv" \
    "$karate/train.csv" >"$work/uneven/train.csv"
pipeline "$work/uneven" >"$work/plain.yaml"
pipeline "$work/uneven" '' '  class_weights: balanced\n  label_smoothing: 0.1\n' \
    >"$work/balanced.yaml"
proof plain "$work/plain.yaml"
plain=$(hash_of)
proof balanced "$work/balanced.yaml"
[ "$(hash_of)" != "$plain" ] || fail "class weights and label smoothing change nothing"
balanced=$(hash_of)
weights=$(awk -F, \
    'NR == FNR {label[FNR - 1] = $1; next} {n[label[$1]]++; all++} END {printf "[%.17g, %.17g]", all / 2 / n[0], all / 2 / n[1]}' \
    "$karate/node-label.csv" "$work/uneven/train.csv")
run given "$work/balanced.yaml" --set "train-step.class_weights=$weights" >"$work/answer"
[ "$(hash_of)" = "$balanced" ] && [ "$weights" != '[1, 1]' ] ||
    fail "class_weights $weights are not those of balanced"
expect 78 'class_weights has 3 numbers, expected one for each of 2 classes' run three \
    "$work/plain.yaml" --set 'train-step.class_weights=[1,2,3]'
expect 78 "class_weights is 'even', expected one of none, balanced" run even "$work/plain.yaml" \
    --set 'train-step.class_weights=even'
expect 78 'train-step.loss is huber, which single_label does not have: expected one of auto, cross_entropy' \
    run wrong "$work/plain.yaml" --set train-step.loss=huber
[ ! -e "$work/three/store/run" ] || fail "a run was begun with class weights that do not fit"

# Several labels for each node: the best weights by average precision, weighted positives.
cp -r "$karate" "$work/many"
sed 's/0/1,0,1/; t; s/1/0,1,0/' "$karate/node-label.csv" >"$work/many/node-label.csv"
pipeline "$work/many" '' '  class_weights: balanced\n' >"$work/many.yaml"
printf '  metric: average_precision\n' >"$work/metric" &&
    sed -i "/keep: 0/r $work/metric" "$work/many.yaml"
proof many-run "$work/many.yaml"
grep -q '"average_precision":0\.[0-9]\|"average_precision":1' \
    "$work/many-run/outputs/metrics.json" ||
    fail "no average precision: $(cat "$work/many-run/outputs/metrics.json")"
grep -q '"roc_auc":[01]' "$work/many-run/outputs/metrics.json" ||
    fail "no ROC AUC: $(cat "$work/many-run/outputs/metrics.json")"
grep -q '"valid_average_precision":0' "$work/many-run/metrics.jsonl" ||
    fail "no average precision of validation: $(tail -1 "$work/many-run/metrics.jsonl")"

# A number for each node: each loss makes a model of its own, and R2 is measured.
cp -r "$karate" "$work/number"
awk '{print NR % 7 + $1 * 2.5}' "$karate/node-label.csv" >"$work/number/node-label.csv"
pipeline "$work/number" '  task: node_regression\n' >"$work/number.yaml"
seen=
for loss in l2 l1 huber; do
    sed "s/hidden: 8/&\n  loss: $loss/" "$work/number.yaml" >"$work/$loss.yaml"
    proof "$loss" "$work/$loss.yaml"
    [[ $seen != *$(hash_of)* ]] || fail "$loss: the weights of another loss"
    seen="$seen $(hash_of)"
    for metric in rmse mae r2 loss; do
        grep -q "\"$metric\":-\?[0-9]" "$work/$loss/outputs/metrics.json" ||
            fail "$loss: no $metric in $(cat "$work/$loss/outputs/metrics.json")"
    done
done
run same "$work/number.yaml" >"$work/answer"
[[ $seen = \ $(hash_of)* ]] || fail "l2 is not the loss of auto"
run r2 "$work/number.yaml" --set checkpoint.metric=r2 >/dev/null
grep -q '"valid_r2":' "$work/r2/metrics.jsonl" ||
    fail "no R2 of validation: $(tail -1 "$work/r2/metrics.jsonl")"
expect 78 'class_weights are given, but node_regression has no classes' run no-classes \
    "$work/number.yaml" --set train-step.class_weights=balanced
expect 78 'label_smoothing is 0.1, expected 0: node_regression has nothing to smooth' run smooth \
    "$work/number.yaml" --set train-step.label_smoothing=0.1
