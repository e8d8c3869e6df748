#!/usr/bin/env bash
# A step as a pipeline of layers: the weights and metrics of the whole step for 1, 2 and 4 workers
# and each kind of model; every pass replays; killed workers, damaged and lost records change
# nothing; conflicting settings are refused.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=600 --set partition.parts=3 --set sample.batch_size=30 \
    --set sample.batches_per_round=6 --set epochs=2
    --set train-step.hidden=15)
layers=(--set train-step.pipeline=layers)
same() { # what, answer, folder, reference
    [ "$(json weights_hash <<<"$2")" = "$(json weights_hash <"$work/$4.answer")" ] ||
        fail "$1: $2, expected $(cat "$work/$4.answer")"
    [ "$(cat "$work/$3/metrics.jsonl")" = "$(cat "$work/$4/metrics.jsonl")" ] ||
        fail "$1: other metrics"
}

deep=("${small[@]}" --set 'sample.fanouts=[5, 4, 3]')
run whole "$pipeline" "${deep[@]}" >"$work/whole.answer"
for workers in 1 2 4; do
    same "$workers workers" "$(run layers$workers "$pipeline" "${deep[@]}" "${layers[@]}" \
        --workers $workers)" layers$workers whole
done
last=$(($(json rounds <"$work/whole.answer") - 1))
for pass in 1 2 3 4; do replays layers2 train-step --pass $pass --round $last --slot 1; done
replays layers2 train-step --round $last --slot 1
expect 64 'no pass 5: there are passes 1 to 4' "$bin/graphmill" replay "$work/layers2" train-step \
    --pass 5 --round $last
expect 64 'pipeline is whole' "$bin/graphmill" replay "$work/whole" train-step --pass 1 \
    --round $last
"$bin/graphmill" verify "$work/layers4" >"$work/verified" || fail "verify: $(cat "$work/verified")"

# Layers that read more than the layer below, tails with statistics of the batch, few bytes, sums by
# range.
number=0
for settings in "train-step.norm=batch train-step.residual=true" \
    "train-step.jumping_knowledge=max aggregate.ranges=2" \
    "train-step.model=gat train-step.hidden=16 train-step.gradient=top_k" \
    "train-step.model=appnp sample.reuse_epochs=2"; do
    set=()
    for setting in $settings; do set+=(--set "$setting"); done
    number=$((number + 1))
    run kind$number "$pipeline" "${small[@]}" "${set[@]}" >"$work/kind$number.answer"
    same "$settings" "$(run passes$number "$pipeline" "${small[@]}" "${set[@]}" "${layers[@]}" \
        --workers 2)" passes$number kind$number
done

# A graph with several node types and relations: rows and gradients go from layer to layer type by type.
papers_graph "$work/papers" 300
papers_pipeline "$work/papers" 3 2 'missing_features: degree+random' 'random_dim: 6' >"$work/papers.yaml"
wide=(--set train-step.hidden=16 --set sample.batch_size=20 --set sample.batches_per_round=3)
number=0
for settings in "train-step.model=rgcn" "train-step.model=sage train-step.norm=batch train-step.residual=true train-step.projection=relu" \
    "train-step.model=hgt train-step.gradient=top_k" "train-step.model=sage train-step.jumping_knowledge=cat aggregate.ranges=2" "train-step.model=gcn train-step.relation_aggr=max sample.sampler=ladies"; do
    set=("${wide[@]}")
    for setting in $settings; do set+=(--set "$setting"); done
    number=$((number + 1))
    run types$number "$work/papers.yaml" "${set[@]}" >"$work/types$number.answer"
    same "$settings" "$(run typed$number "$work/papers.yaml" "${set[@]}" "${layers[@]}" --workers 2)" typed$number types$number
done
last_typed=$(($(json rounds <"$work/types1.answer") - 1))
for pass in 1 2; do replays typed1 train-step --pass $pass --round $last_typed --slot 1; done
replays typed1 train-step --round $last_typed --slot 1
round=$(echo "$work"/typed1/store/run/*)/round/$(printf '%010d' "$last_typed")
damage "$round"/pass/001/slot/00001/pass_output.record
rm "$round"/pass/002/slot/00000/pass_gradient.record
expect 65 '' "$bin/graphmill" verify "$work/typed1" --remove
same "harm of types" "$(run typed1 "$work/papers.yaml" "${wide[@]}" --set train-step.model=rgcn "${layers[@]}")" typed1 types1
"$bin/graphmill" verify "$work/typed1" >"$work/verified" || fail "verify after harm of types: $(cat "$work/verified")"

# What is damaged or lost is made again.
store=$(echo "$work"/layers1/store/run/*)
damage "$store"/round/0000000001/pass/001/slot/00001/pass_output.record
rm "$store"/round/0000000001/pass/003/slot/00000/pass_gradient.record
expect 65 '' "$bin/graphmill" verify "$work/layers1" --remove
same "harm" "$(run layers1 "$pipeline" "${deep[@]}" "${layers[@]}")" layers1 whole
"$bin/graphmill" verify "$work/layers1" >"$work/verified" ||
    fail "verify after harm: $(cat "$work/verified")"

# The driver and all its programs die in the middle of a step, at each of its passes.
before=$(outcome layers1)
for pass in 001 004; do
    rm -rf "$work/killed"
    setsid "$bin/graphmill" run "$pipeline" --directory "$work/killed" --quiet "${deep[@]}" \
        "${layers[@]}" --workers 2 >/dev/null 2>&1 &
    driver=$!
    started+=("$driver")
    until [ -n "$(ls "$work"/killed/store/run/*/round/*/pass/$pass/slot/*/*.record 2>/dev/null)" ] \
        || ! kill -0 $driver 2>/dev/null; do sleep 0.01; done
    kill -KILL -- -$driver 2>/dev/null || true
    wait $driver 2>/dev/null || true
    run killed "$pipeline" "${deep[@]}" "${layers[@]}" >/dev/null ||
        fail "after a kill at pass $pass"
    as_before killed "killed at pass $pass"
done

refused() { # pattern, setting...
    local pattern=$1 set=()
    shift
    for setting; do set+=(--set "$setting"); done
    expect 78 "train-step.pipeline is layers, but $pattern" run bad "$pipeline" "${small[@]}" \
        "${layers[@]}" "${set[@]}"
    [ ! -e "$work/bad/store/dataset" ] || fail "read the input of a pipeline that cannot be"
}
refused 'aggregate.staleness' aggregate.staleness=1
refused 'aggregate.staleness' 'aggregate.staleness=up_to 2' checkpoint.every_epochs=2
refused 'train-step.embedding' train-step.embedding=8
refused 'ingest.task is link_prediction' ingest.task=link_prediction
refused 'ingest.task is graph_classification' ingest.task=graph_classification ingest.format=tu \
    ingest.path=nowhere
refused 'the model has one layer' 'sample.fanouts=[5]'
