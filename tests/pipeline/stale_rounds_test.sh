#!/usr/bin/env bash
# Rounds that start from weights some rounds old: the same bits for any number of workers and after
# kills; every unit replays; more epochs continue; lost or damaged weights of before a snapshot are
# made again; impossible settings are refused by name.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
# 180 training nodes, 9 batches, 3 rounds an epoch
small=(--set ingest.nodes=600 --set partition.parts=3 --set sample.batch_size=20 \
    --set sample.batches_per_round=3 --set epochs=6
    --set train-step.hidden=16)
stale=("${small[@]}" --set aggregate.staleness=3)
# The same bits for any number of workers. A staleness of 0 changes nothing.
plain=$(run plain "$pipeline" "${small[@]}" | json weights_hash)
[ "$(run zero "$pipeline" "${small[@]}" --set aggregate.staleness=0 | json weights_hash)" = \
    "$plain" ] || fail "no staleness is another run"
answer=$(run one "$pipeline" "${stale[@]}")
before=$(outcome one)
last=$(($(json rounds <<<"$answer") - 1))
seen=" $plain $(json weights_hash <<<"$answer") "
for workers in 2 5; do
    run w$workers "$pipeline" "${stale[@]}" --workers $workers >/dev/null
    as_before w$workers "$workers workers"
done

# Every compensation and related setting: each is a run of its own, and the same with 1 and 5
# workers.
for settings in "aggregate.staleness=1" "aggregate.compensation=none" \
    "aggregate.compensation=gradient aggregate.delay_lambda=2" "aggregate.delay_rate=0.1" \
    "sample.reuse_epochs=3" "aggregate.compensation=gradient aggregate.optimizer=sgd"; do
    set=()
    for setting in $settings; do set+=(--set "$setting"); done
    hash=$(run a1 "$pipeline" "${stale[@]}" "${set[@]}" | json weights_hash)
    [[ "$seen" != *" $hash "* ]] || fail "$settings changed nothing"
    seen+="$hash "
    [ "$(run a5 "$pipeline" "${stale[@]}" "${set[@]}" --workers 5 | json weights_hash)" = "$hash" \
        ] || fail "$settings: 5 workers make a difference"
    "$bin/graphmill" verify "$work/a5" >"$work/verified" ||
        fail "verify with $settings: $(cat "$work/verified")"
done
run stop1 "$pipeline" "${stale[@]}" --set epochs=40 --set checkpoint.patience=1 >/dev/null # early
run stop5 "$pipeline" "${stale[@]}" --set epochs=40 --set checkpoint.patience=1 --workers 5 \
    >/dev/null
[ "$(outcome stop1)" = "$(outcome stop5)" ] || fail "an early stop by 5 workers is another"
[ "$(wc -l <"$work/stop1/metrics.jsonl")" -lt 160 ] || fail "did not stop early"
"$bin/graphmill" verify "$work/stop5" >"$work/verified" ||
    fail "verify after an early stop: $(cat "$work/verified")"
hash=$(run s1 "$pipeline" "${stale[@]}" --set aggregate.ranges=3 --workers 2 | json weights_hash)
[ "$hash" = "$(json weights_hash <<<"$answer")" ] || fail "ranges make a difference to stale rounds"

# A round only waits for the rounds that made its weights: gradient and step name them.
run kept "$pipeline" "${stale[@]}" --set checkpoint.keep=0 --set aggregate.compensation=gradient \
    >/dev/null
for round in 0 1 3 4 9 $last; do
    replays kept train-step --round "$round" --slot 1
    replays kept aggregate --round "$round"
done
# of the oldest round that is kept, the weights are older than what is kept
for round in $((last - 2)) $last; do
    replays one train-step --round "$round"
    replays one aggregate --round "$round"
done
"$bin/graphmill" export "$work/one" --what step --round "$last" --slot 0 --output "$work/step" \
    >/dev/null || fail "a step is not exported"

# The driver is killed at any moment, with the programs that it started.
for after in 2 5 9 14; do
    folder=killed$after
    "$bin/graphmill" run "$pipeline" --directory "$work/$folder" --quiet "${stale[@]}" --workers 2 \
        >/dev/null 2>&1 &
    started+=($!)
    for _ in $(seq 3000); do
        [ -n "$(ls "$work/$folder"/store/run/*/weights/000000000$after.record \
            "$work/$folder"/store/run/*/weights/00000000$after.record 2>/dev/null)" ] && break
        kill -0 $! 2>/dev/null || break
        sleep 0.01
    done
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    run $folder "$pipeline" "${stale[@]}" >/dev/null || fail "after a kill behind weights $after"
    as_before $folder "killed behind weights $after"
done

# More epochs continue from the snapshot and the weights before it.
run w2 "$pipeline" "${stale[@]}" --set epochs=9 >"$work/answer" 2>&1
run nine "$pipeline" "${stale[@]}" --set epochs=9 >/dev/null
[ "$(outcome w2)" = "$(outcome nine)" ] || fail "9 epochs after 6 are not 9 epochs"

# Weights before the only kept snapshot: without them nothing can continue from it, so the run
# starts again, with the same bits.
for harm in damage loss; do
    folder=base-$harm
    run $folder "$pipeline" "${stale[@]}" --set checkpoint.keep=1 >/dev/null
    version=$((last + 1 - 2))
    file=$(echo "$work/$folder"/store/run/*/weights/"$(printf %010d $version)".record)
    if [ $harm = damage ]; then printf '\377' |
        dd of="$file" bs=1 seek=300 conv=notrunc status=none; else rm "$file"; fi
    expect 65 "weights/$(printf %010d $version)" "$bin/graphmill" verify "$work/$folder" --remove
    run $folder "$pipeline" "${stale[@]}" --set checkpoint.keep=1 >/dev/null ||
        fail "after $harm of weights $version"
    as_before $folder "after $harm of weights $version"
    "$bin/graphmill" verify "$work/$folder" >"$work/verified" ||
        fail "verify after $harm: $(cat "$work/verified")"
done

# Impossible settings.
expect 78 'aggregate.staleness is 4, but a snapshot is made every 3 rounds: expected at most that, or a checkpoint.every_epochs of 2' \
    run bad "$pipeline" "${small[@]}" --set aggregate.staleness=4
[ -z "$(find "$work/bad/store/run" -name '*.record' 2>/dev/null)" ] || fail "began a run that cannot be"
run wide "$pipeline" "${small[@]}" --set aggregate.staleness=4 --set checkpoint.every_epochs=2 >/dev/null
expect 78 'learnable rows \(train-step.embedding\) are held in one version' run bad2 "$pipeline" "${stale[@]}" --set train-step.embedding=4
expect 78 'train-step.gradient: top_k a slot adds the residual of the round before' run bad2 "$pipeline" "${stale[@]}" --set train-step.gradient=top_k
[ ! -e "$work/bad2/store/dataset" ] || fail "read the input of a pipeline that cannot be"
