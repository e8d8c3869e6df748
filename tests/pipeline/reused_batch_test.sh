#!/usr/bin/env bash
# A round that uses the mini-batch of the previous round again: what is prepared ahead for it is not
# overwritten by the next one, so each run has the same bits.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml # one mini-batch an epoch
settings=(--set epochs=400 --set sample.reuse_epochs=3 --set checkpoint.every_epochs=50)
expected=$(run first "$pipeline" "${settings[@]}" --threads 1 | json weights_hash)
for again in 1 2 3 4 5; do
    found=$(run again$again "$pipeline" "${settings[@]}" --set infer.weights=best |
        json weights_hash)
    [ "$found" = "$expected" ] || fail "run $again: weights: expected $expected, found $found"
done
