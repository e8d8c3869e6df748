#!/usr/bin/env bash
# A graph whose labels only the weights of edges determine: each node has three neighbours of one
# kind and three of the other, and its label is the kind whose edges weigh more. For kinds of
# layers, parts, workers and formats; errors are reported; and the same with edge features, also
# damaged ones.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
awk -v to="$work" 'BEGIN {
    srand(7)
    for (i = 0; i < 600; i++) {
        label = int(2 * rand())
        print 100 + i "," label >(to "/labels")
        for (k = 0; k < 6; k++) { # nodes below 50 are of kind 0, those below 100 of kind 1
            kind = k % 2
            print 50 * kind + int(50 * rand()), 100 + i, kind == label ? 2 + rand() : 0.25 * rand() >(to "/edges")
        }
    }
    for (i = 0; i < 700; i++)
        print i "," (i < 50) "," (i >= 50 && i < 100) "," rand() >(to "/features")
}'
cat >"$work/weighted.yaml" <<YAML
name: weighted
seed: 3
epochs: 20
ingest: {format: edge_list, path: edges, labels: labels, features: features, split: random 60/20/20, direction: as_given}
partition: {parts: 1, method: hash}
sample: {fanouts: [-1], batch_size: 64}
train-step: {dropout: 0}
aggregate: {learning_rate: 0.05}
YAML
accuracy_of() { sed -n 's/.*"test":{[^}]*"accuracy":\([0-9.]*\).*/\1/p'; }
is_above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

# All kinds whose layers read weights: train-step.edge_weights is refused for the others.
kinds=$("$bin/graphmill" run --help |
    sed -n '/^  train-step\.model /,/^  train-step\.hidden /s/^      \([a-z0-9_]*\) .*/\1/p')
[ "$(wc -w <<<"$kinds")" -ge 15 ] || fail "graphmill run --help lists the kinds '$kinds'"
weighted=()
for model in $kinds; do
    status=0
    run "$model-told" "$work/weighted.yaml" --set train-step.model="$model" \
        --set train-step.edge_weights=true --set epochs=1 \
        >"$work/said" 2>&1 || status=$?
    case $status in
    0) weighted+=("$model") ;;
    78) grep -qE 'no layer of the model reads edge weights|the model has no tensors to train|as many columns as it reads|expected 0: one for each layer|for graphs with relations' "$work/said" || fail "$model: $(cat "$work/said")" ;;
    *) fail "$model ended with status $status: $(cat "$work/said")" ;;
    esac
done
[ ${#weighted[@]} -ge 4 ] || fail "kinds that read weights: ${weighted[*]}; all kinds: $kinds"

for model in "${weighted[@]}"; do
    with=(--set train-step.model=$model)
    answer=$(run $model "$work/weighted.yaml" "${with[@]}")
    hash=$(json weights_hash <<<"$answer")
    found=$(accuracy_of <<<"$answer")
    is_above "$found" 0.95 || fail "$model: test accuracy with weights is $found"
    without=$(run $model-without "$work/weighted.yaml" "${with[@]}" \
        --set train-step.edge_weights=false | accuracy_of)
    is_above 0.75 "$without" || fail "$model: test accuracy without weights is $without"
    other=$(run $model-3 "$work/weighted.yaml" "${with[@]}" --workers 3 --threads 1 |
        json weights_hash)
    [ "$other" = "$hash" ] || fail "$model: three workers give $other, one gave $hash"
    found=$(run $model-parts "$work/weighted.yaml" "${with[@]}" --set partition.parts=4 |
        accuracy_of)
    is_above "$found" 0.95 || fail "$model: test accuracy with weights in four parts is $found"
    "$bin/graphmill" verify "$work/$model-parts" >"$work/said" 2>&1 ||
        fail "verify of $model: $(cat "$work/said")"
    for stage in sample train-step; do
        "$bin/graphmill" replay "$work/$model-parts" $stage --round 119 --slot 0 >"$work/said" \
            2>&1 ||
            fail "replay of $stage: $(cat "$work/said")"
    done
done

# Several self loops of a node count as one with the sum of their weights, in training and
# inference: the same bits.
{ cat "$work/edges"; awk 'NR % 12 == 0 { print $2, $2, 1.25 }' "$work/edges"; } >"$work/one-loop"
{ awk '{ print } NR % 12 == 0 { print $2, $2, 0.5 }' "$work/edges"; \
    awk 'NR % 12 == 0 { print $2, $2, 0.75 }' "$work/edges"; } >"$work/loops"
for model in gcn sgc appnp; do
    with=(--set ingest.duplicates=keep --set train-step.model=$model --set epochs=3 \
        --set partition.parts=3)
    [ $model != sgc ] || with+=(--set 'sample.fanouts=[-1, -1]')
    one=$(run $model-one-loop "$work/weighted.yaml" "${with[@]}" \
        --set ingest.path="$work/one-loop" | json weights_hash)
    found=$(run $model-loops "$work/weighted.yaml" "${with[@]}" --set ingest.path="$work/loops" |
        json weights_hash)
    [ "$found" = "$one" ] || fail "$model: weights of loops that stand twice: $found, merged: $one"
    cmp "$work/$model-loops/outputs/predictions.csv" \
        "$work/$model-one-loop/outputs/predictions.csv" ||
        fail "$model: other predictions with loops that stand twice"
done

# Sampled neighbourhoods, and less memory than all rows would need.
found=$(run sampled "$work/weighted.yaml" --set sample.fanouts=[4] | accuracy_of)
is_above "$found" 0.8 || fail "test accuracy with weights of four neighbours is $found"

# Only edge features determine which neighbours count: a layer that scores edges learns it.
{
    echo 'src dst weight feat_0 feat_1 price'
    awk '{ print $0, ($3 > 1), 1 - ($3 > 1), NR % 5 }' "$work/edges"
} >"$work/flagged"
for model in gat gatv2; do
    with=(--set ingest.path="$work/flagged" --set ingest.edge_features=named \
        --set train-step.model=$model --set train-step.heads=2
        --set checkpoint.keep=0)
    answer=$(run $model "$work/weighted.yaml" "${with[@]}")
    hash=$(json weights_hash <<<"$answer")
    found=$(accuracy_of <<<"$answer")
    is_above "$found" 0.95 || fail "$model: test accuracy with edge features is $found"
    without=$(run $model-without "$work/weighted.yaml" "${with[@]}" \
        --set ingest.edge_features=none | accuracy_of)
    is_above 0.75 "$without" || fail "$model: test accuracy without edge features is $without"
    other=$(run $model-3 "$work/weighted.yaml" "${with[@]}" --workers 3 --threads 1 |
        json weights_hash)
    [ "$other" = "$hash" ] || fail "$model: three workers give $other, one gave $hash"
    for round in 0 119; do
        replays $model sample --round $round --slot 0
        replays $model train-step --round $round --slot 0
    done
    for round in 6 120; do replays $model train-step --evaluation --round $round --slot 0; done
    replays $model infer --layer 1 --part 0
done

# Damage in columns: the file that has them is found, and the same run makes it again.
result() { run "$1" "$work/weighted.yaml" "${with[@]}" --set epochs=4 | json weights_hash &&
    (cd "$work/$1/outputs/" && sha256sum -- *); }
result whole >"$work/expected"
for path in 'dataset/*/edges/*.record' 'partition/*/part/*/topology' 'run/*/mini_batch.record'; do
    rm -rf "$work/hurt" && cp -r "$work/whole" "$work/hurt" && chmod -R u+w "$work/hurt"
    file=$(find "$work/hurt/store" -type f -path "$work/hurt/store/$path" | sort | tail -1)
    at=$(($(stat -c %s "$file") / 2))
    printf "$(printf '\\%03o' $(($(od -An -tu1 -j$at -N1 "$file") ^ 1)))" |
        dd of="$file" bs=1 seek=$at conv=notrunc status=none
    expect 65 '' "$bin/graphmill" verify "$work/hurt"
    expect 65 '' "$bin/graphmill" verify "$work/hurt" --remove
    result hurt >"$work/found"
    cmp -s "$work/expected" "$work/found" ||
        fail "$path, damaged: $(diff "$work/expected" "$work/found")"
    "$bin/graphmill" verify "$work/hurt" >"$work/said" 2>&1 ||
        fail "$path: still damaged: $(cat "$work/said")"
done

# The same graph in a folder, with the weights in the table.
mkdir "$work/folder"
{ echo 'src,dst,weight'; tr ' ' , <"$work/edges"; } >"$work/folder/edges.csv"
{ for ((i = 0; i < 100; i++)); do echo -1; done; cut -d, -f2 "$work/labels"; } \
    >"$work/folder/node-label.csv"
echo '{"num_nodes": 700, "directed": true}' >"$work/folder/meta.json"
sed "s,^ingest:.*,ingest: {format: folder\, path: folder\, split: random 60/20/20\, features: degree+random}," "$work/weighted.yaml" >"$work/folder.yaml"
run folder-run "$work/folder.yaml" --set epochs=1 --set train-step.edge_weights=true \
    >"$work/answer" || fail "folder: $(cat "$work/answer")"

# Errors.
sed -i '7s/ [^ ]*$/ -0.5/' "$work/edges"
expect 65 "edges:7: the weight is below 0, as are 1 in all" run negative "$work/weighted.yaml" \
    --set train-step.model=gcn
run negative-sage "$work/weighted.yaml" --set epochs=1 >"$work/answer" ||
    fail "negative weights and sage: $(cat "$work/answer")"
cut -d' ' -f1,2 "$work/edges" >"$work/plain" && mv "$work/plain" "$work/edges"
expect 65 'train-step.edge_weights is true, but the graph has no edge weights: expected a column "weight"' \
    run plain "$work/weighted.yaml" --set train-step.edge_weights=true
expect 78 'train-step.edge_weights is true, but no layer of the model reads edge weights' \
    run plain-gat "$work/weighted.yaml" --set train-step.edge_weights=true \
    --set train-step.model=gat
finish
