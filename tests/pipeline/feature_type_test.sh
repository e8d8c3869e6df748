#!/usr/bin/env bash
# Features stored in half the bytes: as good within noise, with the same bits for any workers.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=4000 --set epochs=4)

accuracy_of() { sed -n 's/.*"test":{[^}]*"accuracy":\([0-9.]*\).*/\1/p'; }

reference=$(run f32 "$pipeline" "${small[@]}" | accuracy_of)
for type in f16 bf16; do
    with=("${small[@]}" --set partition.feature_type=$type)
    answer=$(run $type "$pipeline" "${with[@]}")
    hash=$(json weights_hash <<<"$answer")
    [ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
    found=$(accuracy_of <<<"$answer")
    awk -v a="$found" -v b="$reference" 'BEGIN { exit !(a > b - 0.02 && a < b + 0.02) }' ||
        fail "test accuracy with features in $type: $found, in f32: $reference"
    "$bin/graphmill" verify "$work/$type" >"$work/said" 2>&1 ||
        fail "verify of $type: $(cat "$work/said")"
    other=$(run $type-3 "$pipeline" "${with[@]}" --workers 3 --threads 1 | json weights_hash)
    [ "$other" = "$hash" ] || fail "$type: three workers give $other, one gave $hash"
    cmp -s "$work/$type/outputs/embeddings.npy" "$work/$type-3/outputs/embeddings.npy" ||
        fail "$type: three workers give other embeddings"
done
[ "$(stat -c %s "$work/f16/outputs/embeddings.npy")" = \
    "$(stat -c %s "$work/f32/outputs/embeddings.npy")" ] ||
    fail "embeddings of another size"

# A value that f16 cannot represent is named.
printf '0 1\n1 2\n2 0\n' >"$work/edges"
printf '0,1\n1,0\n2,1\n' >"$work/labels"
printf '0,1,2\n1,70000,3\n2,5,6\n' >"$work/features"
cat >"$work/own.yaml" <<YAML
name: own
ingest: {format: edge_list, path: edges, labels: labels, features: features, split: random 40/30/30}
partition: {parts: 1, method: hash, feature_type: f16}
YAML
expect 65 'feature 0 of node 1 of the dataset is 70000: partition.feature_type f16 holds numbers up to 65504' \
    run own "$work/own.yaml"
finish
