#!/usr/bin/env bash
# A split in which no node has a class with a weight has no loss: it is undefined, in text, in JSON
# and in the choice of the best weights. The same holds for a round whose mini-batches have no such
# node.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
awk -v to="$work" 'BEGIN {
    srand(5)
    for (i = 0; i < 120; i++) print int(40 * rand()) "," int(40 * rand()) >(to "/edges.csv")
    for (i = 0; i < 40; i++) {
        print i "," (i < 5 ? 0 : 1 + i % 2) >(to "/labels.csv")
        print i "," rand() "," rand() "," rand() >(to "/features.csv")
        print i >(to (i < 5 ? "/train.csv" : i < 10 ? "/spare.csv" : i < 20 ? "/valid.csv" : "/test.csv"))
    }
}'
cat >"$work/unweighted.yaml" <<YAML
name: unweighted
epochs: 5
ingest: {format: edge_list, path: edges.csv, labels: labels.csv, features: features.csv, train: train.csv, valid: valid.csv, test: test.csv, direction: as_given}
sample: {fanouts: [-1], batch_size: 8}
train-step: {hidden: 4, class_weights: balanced}
checkpoint: {metric: loss, patience: 2}
YAML

# Only class 0 is in training, so no other class has a weight.
"$bin/graphmill" run "$work/unweighted.yaml" --directory "$work/run" >"$work/said" 2>&1 ||
    fail "$(cat "$work/said")"
grep -q '^valid.*loss undefined' "$work/said" ||
    fail "the loss of the validation is not undefined: $(cat "$work/said")"
grep -q '^rounds  *5 of 5, weights of round 5' "$work/said" ||
    fail "an undefined loss ended training: $(cat "$work/said")"
[ "$(grep -c '"valid_loss":null' "$work/run/metrics.jsonl")" -eq 5 ] ||
    fail "$(cat "$work/run/metrics.jsonl")"
grep -q '"valid":{[^}]*"loss":null' "$work/run/outputs/metrics.json" ||
    fail "$(cat "$work/run/outputs/metrics.json")"
"$bin/graphmill" status "$work/run" >"$work/said" 2>&1
grep -q 'validation undefined' "$work/said" || grep -q 'valid undefined' "$work/said" ||
    fail "status: $(cat "$work/said")"

# The same with label smoothing, whose other terms have weights even if the row's class has none,
# for labelled edges, graphs and nodes.
"$bin/graphmill" run "$work/unweighted.yaml" --directory "$work/smooth" \
    --set train-step.label_smoothing=0.1 >"$work/said" 2>&1 || fail "$(cat "$work/said")"
grep -q '^valid.*loss undefined' "$work/said" || fail "with label smoothing: $(cat "$work/said")"

# Class 0 has weight 0, and mini-batches have 1 node: rounds of class 0 alone teach nothing and have
# no loss, and the others have theirs.
cat "$work/spare.csv" >>"$work/train.csv"
"$bin/graphmill" run "$work/unweighted.yaml" --directory "$work/single" \
    --set train-step.class_weights='[0, 1, 1]' --set sample.batch_size=1 \
    --set checkpoint.metric=accuracy --set checkpoint.patience=0 >"$work/said" 2>&1 ||
    fail "rounds without weights: $(cat "$work/said")"
undefined=$(grep -c '"round".*"loss":null' "$work/single/metrics.jsonl")
known=$(grep -c '"round".*"loss":[0-9]' "$work/single/metrics.jsonl")
[ "$undefined" -eq 25 ] && [ "$known" -eq 25 ] ||
    fail "of 50 rounds $undefined have no loss and $known have one"
! grep -q '"train_loss":null' "$work/single/metrics.jsonl" ||
    fail "the training has no loss: $(grep train_loss "$work/single/metrics.jsonl")"
! grep -qE '"loss":0(\.0*)?[,}]' "$work/single/metrics.jsonl" ||
    fail "a loss of 0: $(grep '"loss":0' "$work/single/metrics.jsonl")"
