#!/usr/bin/env bash
# Learnable embeddings from the pipeline file to the outputs: the same bytes for any workers,
# threads and memory; every unit replays; more epochs continue from a sibling; lost or damaged
# records are made again; impossible settings are refused with the setting to change.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=600 --set partition.parts=3 --set sample.batch_size=40 --set epochs=4 \
    --set train-step.hidden=16)
rows=("${small[@]}" --set train-step.embedding=12 --set aggregate.embedding_rate=0.05)

# Instead of the 20,000 nodes of the quickstart there are 600: the embeddings are 600 x 12 numbers,
# next to 32 features.
answer=$(run one "$pipeline" "${rows[@]}" --workers 1 --threads 1)
before=$(outcome one)
run two "$pipeline" "${rows[@]}" --workers 2 --threads 2 >/dev/null
as_before two "2 workers of 2 threads"
run five "$pipeline" "${rows[@]}" --workers 5 --threads 3 >/dev/null
as_before five "5 workers of 3 threads"
plain=$(run plain "$pipeline" "${small[@]}")
[ "$(json weights_hash <<<"$plain")" != "$(json weights_hash <<<"$answer")" ] ||
    fail "the embeddings changed nothing"

# The rows are the same however they are divided into shards.
for policy in range hash whole; do
    run $policy "$pipeline" "${rows[@]}" --set aggregate.embedding_policy=$policy \
        --set aggregate.embedding_shards=5 >/dev/null
    as_before $policy "policy $policy"
done

# Every kind of unit replays, also with so little memory that rows are in a file.
rounds=$(json rounds <<<"$answer")
for memory in 1G 2M; do
    replays one train-step --memory $memory
    replays one aggregate --memory $memory
    for part in 0 1 2; do
        replays one train-step --seal --part $part --memory $memory
    done
done
replays one train-step --round $((rounds - 2))
replays one train-step --evaluation
replays one checkpoint
replays one infer --layer 0 --part 2
replays one infer --layer 1 --part 1
replays one infer
expect 64 'no shard 3: there are shards 0 to 2' "$bin/graphmill" replay "$work/one" train-step \
    --seal --part 3 --round $rounds
expect 64 'the run has none' "$bin/graphmill" replay "$work/plain" train-step --seal --part 0 \
    --round $rounds
"$bin/graphmill" verify "$work/one" >"$work/verified" || fail "verify: $(cat "$work/verified")"

# The table in the order of the input has 600 rows of 12; a run without embeddings has none.
"$bin/graphmill" export "$work/one" --what embedding --output "$work/embedding.npy" >/dev/null
[[ $(head -c 128 "$work/embedding.npy" | tr -d '\0') == *"'shape': (600, 12)"* ]] ||
    fail "embedding.npy: $(head -c 100 "$work/embedding.npy" | tr -d '\0')"
[ "$(stat -c %s "$work/embedding.npy")" -eq $((128 + 600 * 12 * 4)) ] ||
    fail "embedding.npy has $(stat -c %s "$work/embedding.npy") bytes"
expect 78 'has no learnable embedding' "$bin/graphmill" export "$work/plain" --what embedding \
    --output "$work/none.npy"

# More epochs continue from the sibling's snapshot and manifests, with the results of a run from
# scratch.
run one "$pipeline" "${rows[@]}" --set epochs=6 --set checkpoint.keep=0 >/dev/null
run six "$pipeline" "${rows[@]}" --set epochs=6 >/dev/null
[ "$(outcome one)" = "$(outcome six)" ] || fail "6 epochs after 4 are not 6 epochs"

# Other optimizers, and embeddings alone: each replays, and differs from the others.
seen=
for settings in "aggregate.embedding_optimizer=adagrad" "aggregate.embedding_optimizer=sgd" \
    "train-step.features=false" "train-step.model=gcn" "checkpoint.patience=2" \
    "sample.sampler=shadow sample.fanouts=-1,-1 sample.num_neighbors=3" \
    "sample.sampler=ladies sample.fanouts=60,60" \
    "ingest.task=link_prediction ingest.edge_split=random_80/10/10 sample.batch_size=400"; do
    set=()
    for setting in $settings; do set+=(--set "${setting/random_/random }"); done
    hash=$(run other "$pipeline" "${rows[@]}" "${set[@]}" | json weights_hash)
    [[ " $seen " != *" $hash "* ]] || fail "$settings changed nothing"
    seen+=" $hash"
    replays other train-step
    replays other train-step --seal --part 1
done

# Nodes without features: the embeddings are the only input, and without them nothing is
# partitioned.
bare=("${rows[@]}" --set ingest.features=none)
answer=$(run bare "$pipeline" "${bare[@]}")
grep -q "features: none" "$work/bare/logs/ingest.log" ||
    fail "ingest did not say that there are no features"
[ "$(json weights_hash <<<"$answer")" = \
    "$(run featureless "$pipeline" "${rows[@]}" --set train-step.features=false |
    json weights_hash)" ] ||
    fail "features that are not there and features that are not read make a difference"
run bare5 "$pipeline" "${bare[@]}" --workers 5 >/dev/null
[ "$(outcome bare)" = "$(outcome bare5)" ] || fail "without features: 5 workers make a difference"
replays bare infer --layer 0 --part 1
"$bin/graphmill" verify "$work/bare" >"$work/verified" ||
    fail "verify without features: $(cat "$work/verified")"
expect 65 'none are learnt for them: write `embedding: 64`' run bad "$pipeline" "${small[@]}" \
    --set ingest.features=none
[ -z "$(find "$work/bad/store" -path '*partition*' -name '*.record' 2>/dev/null)" ] ||
    fail "partitioned what cannot be trained"

# Damaged or lost records are made again: verify finds them, --remove makes room, and the run ends
# with the same bytes.
store=$(echo "$work"/two/store/run/*)
for what in "embedding/*/shard/0000000001" "round/*/slot/00000/gradient" \
    "infer/*/00000/part/0000000000/shard_seal"; do
    file=$(ls "$store"/$what.record | tail -1)
    damage "$file"
    expect 65 'damaged' "$bin/graphmill" verify "$work/two" --remove
    run two "$pipeline" "${rows[@]}" >/dev/null || fail "after damage of $what"
    as_before two "after damage of $what"
    "$bin/graphmill" verify "$work/two" >"$work/verified" ||
        fail "verify after $what: $(cat "$work/verified")"
done

# Impossible settings.
expect 78 'train-step.features is false and train-step.embedding is 0' run bad "$pipeline" \
    "${small[@]}" --set train-step.features=false
expect 78 'expected fp32 with train-step.embedding' run bad "$pipeline" "${rows[@]}" \
    --set train-step.precision=bf16
