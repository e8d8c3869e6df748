#!/usr/bin/env bash
# Mini-batches without a training node: clusters that have none, and subgraphs that found none. They
# teach nothing, and the run continues.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
awk -v to="$work" 'BEGIN {
    srand(3)
    for (i = 0; i < 100; i++) print int(40 * rand()) "," int(40 * rand()) >(to "/edges.csv")
    for (i = 0; i < 40; i++) {
        print i "," i % 3 >(to "/labels.csv")
        print i "," rand() "," rand() "," (i % 3 == 0) >(to "/features.csv")
        print i >(to (i < 10 ? "/train.csv" : i < 20 ? "/valid.csv" : "/test.csv"))
        print i % 12 >(to "/assignment.txt") # no training node is in parts 10 and 11
    }
}'
cat >"$work/seedless.yaml" <<YAML
name: seedless
epochs: 25
seed: 3
ingest: {format: edge_list, path: edges.csv, labels: labels.csv, features: features.csv, train: train.csv, valid: valid.csv, test: test.csv, direction: as_given}
partition: {parts: 12, method: file, assignment: assignment.txt}
sample: {sampler: cluster_gcn, fanouts: [-1, -1], clusters: 2}
train-step: {model: sage, hidden: 4}
checkpoint: {keep: 0}
YAML

for with in "" "train-step.norm=batch" "train-step.embedding=4" "sample.batches_per_round=2"; do
    name=run-${with//[^a-z0-9]/-}
    set -- ${with:+--set "$with"}
    answer=$(run "$name" "$work/seedless.yaml" "$@") || fail "$with: $answer"
    test -s "$work/$name/outputs/predictions.csv" || fail "$with: no predictions"
    hash=${hash:-$(json weights_hash <<<"$answer")} # of the first
    round=$(sed -n 's/.*"round":\([0-9]*\).*"loss":null.*/\1/p' "$work/$name/metrics.jsonl" |
        head -1)
    case $with in
    *per_round*) ;; # such slots stand beside others
    *) [ -n "$round" ] ||
        fail "$with: every round has a loss, so no mini-batch was without training nodes" ;;
    esac
    grep -q 'warn.*has no training node, so it teaches nothing' "$work/$name"/logs/sample-*.log ||
        fail "$with: no warning"
    [ "$(cat "$work/$name"/logs/sample-*.log | grep -c 'teaches nothing')" \
        -le "$(ls "$work/$name"/logs/sample-*.log | wc -l)" ] ||
        fail "$with: warned more than once a worker"
    for stage in sample train-step; do
        "$bin/graphmill" replay "$work/$name" $stage --round "${round:-0}" --slot 0 >"$work/said" \
            2>&1 || fail "$with: replay of $stage: $(cat "$work/said")"
    done
    "$bin/graphmill" verify "$work/$name" >"$work/said" 2>&1 ||
        fail "$with: verify: $(cat "$work/said")"
done
other=$(run three-workers "$work/seedless.yaml" --workers 3 | json weights_hash)
[ "$other" = "$hash" ] || fail "three workers give $other, one gave $hash"

# Labels of nodes that stand in for seeds do not count: with other labels of non-training nodes the
# weights are the same.
awk -F, '{ print $1 "," ($1 < 20 ? $2 : ($2 + 1) % 3) }' "$work/labels.csv" \
    >"$work/other-labels.csv"
other=$(run other "$work/seedless.yaml"  --set ingest.labels="$work/other-labels.csv" |
    json weights_hash)
[ "$other" = "$hash" ] || fail "labels of test nodes changed the weights: $hash, $other"

# One training node among 40, and subgraphs of one or two nodes.
head -1 "$work/train.csv" >"$work/one.csv"
for sampler in graphsaint_node graphsaint_edge; do
    run $sampler "$work/seedless.yaml" --set ingest.train="$work/one.csv" --set partition.parts=1 \
        --set partition.method=hash --set sample.sampler=$sampler \
        --set sample.batch_size=1 --set epochs=40 >"$work/said" 2>&1 ||
        fail "$sampler: $(cat "$work/said")"
done
