#!/usr/bin/env bash
# Cora end to end: a useful model, the same meaning with many parts as with one, early stopping,
# GCN, reuse of samples.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
datasets cora
pipeline=$source_folder/pipelines/cora.yaml

accuracy() { sed -n 's/.*"test":{[^}]*"accuracy":\([0-9.]*\).*/\1/p'; }
at_least() { awk -v a="$2" -v b="$3" 'BEGIN { exit !(a >= b) }' ||
    fail "$1: test accuracy $2, expected at least $3"; }

found=$(run sage "$pipeline" --set epochs=60 | accuracy)
at_least 'GraphSAGE' "$found" 0.75
found=$(run parts "$pipeline" --set epochs=60 --set partition.parts=7 --set partition.method=hash |
    accuracy)
at_least 'seven hashed parts' "$found" 0.75
found=$(run gcn "$pipeline" --set epochs=60 --set train-step.model=gcn --set sample.fanouts=-1,-1 |
    accuracy)
at_least 'GCN' "$found" 0.77
found=$(run reuse "$pipeline" --set epochs=60 --set sample.reuse_epochs=10 \
    --set sample.batch_size=35 | accuracy)
at_least 'reused samples' "$found" 0.74

answer=$(run early "$pipeline" --set checkpoint.patience=5)
rounds=$(json rounds <<<"$answer")
[ "$rounds" -lt 200 ] || fail "patience 5 did not stop before round 200"
grep -q ^MATCH <<<"$("$bin/graphmill" replay "$work/early" checkpoint --round "$rounds")" ||
    fail "the last checkpoint does not replay"
