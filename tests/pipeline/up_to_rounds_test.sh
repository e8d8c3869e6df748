#!/usr/bin/env bash
# Rounds that start from the newest existing weights: a record says which these were, from which
# every unit replays with the same bits, whatever happened; a run that was killed resumes; a lost
# record is reconstructed from the gradients.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
# 180 training nodes, 9 batches, 3 rounds an epoch
settings=(--set ingest.nodes=600 --set partition.parts=3 --set sample.batch_size=20 \
    --set sample.batches_per_round=3 --set epochs=8
    --set train-step.hidden=16 --set checkpoint.keep=0 --set "aggregate.staleness=up_to 3")
verified() { "$bin/graphmill" verify "$work/$1" >"$work/verified" ||
    fail "verify of $1: $(cat "$work/verified")"; }
base_file() { echo "$work/$1"/store/run/*/round/"$(printf %010d "$2")"/base.record; }

for compensation in rate gradient none; do
    for workers in 1 3; do
        folder=$compensation$workers
        answer=$(run $folder "$pipeline" "${settings[@]}" \
            --set aggregate.compensation=$compensation --workers $workers)
        last=$(($(json rounds <<<"$answer") - 1))
        [ "$(find "$work/$folder/store/run" -path '*/round/*/base.record' | wc -l)" = \
            "$((last + 1))" ] || fail "$folder: not a base for each round"
        for round in 0 1 5 $((last - 1)) "$last"; do
            replays $folder train-step --round "$round" --slot 1
            replays $folder aggregate --round "$round"
        done
        verified $folder
    done
done
"$bin/graphmill" export "$work/rate3" --what step --round "$last" --slot 0 --output "$work/step" \
    >/dev/null || fail "a step is not exported"

# With ranges, and with an early stop.
run ranges "$pipeline" "${settings[@]}" --set aggregate.ranges=3 --workers 2 >/dev/null
replays ranges train-step --round 7 --slot 2
replays ranges aggregate --round 7
verified ranges

# Killed, and gone on.
for after in 2 7 12; do
    folder=killed$after
    "$bin/graphmill" run "$pipeline" --directory "$work/$folder" --quiet "${settings[@]}" \
        --workers 2 >/dev/null 2>&1 &
    started+=($!)
    for _ in $(seq 3000); do
        [ -n "$(ls "$work/$folder"/store/run/*/weights/"$(printf %010d $after)".record \
            2>/dev/null)" ] && break
        kill -0 $! 2>/dev/null || break
        sleep 0.01
    done
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    run $folder "$pipeline" "${settings[@]}" >/dev/null || fail "after a kill behind weights $after"
    for round in $((after - 1)) $after $((after + 1)) "$last"; do
        replays $folder train-step --round "$round"
        replays $folder aggregate --round "$round"
    done
    verified $folder
done

# The record of the choice is lost or damaged, with and without the gradients: this is reported, and
# the run can be repaired.
for harm in loss damage; do
    folder=harm-$harm
    run $folder "$pipeline" "${settings[@]}" --set checkpoint.keep=2 >/dev/null
    file=$(base_file $folder "$last")
    [ -f "$file" ] || fail "no base of round $last"
    if [ $harm = damage ]; then printf '\377' |
        dd of="$file" bs=1 seek=200 conv=notrunc status=none; else rm "$file"; fi
    expect 65 "round/$(printf %010d "$last")/base" "$bin/graphmill" verify "$work/$folder" --remove
    run $folder "$pipeline" "${settings[@]}" --set checkpoint.keep=2 >/dev/null ||
        fail "after $harm of a base"
    verified $folder
    replays $folder train-step --round "$last"
    replays $folder aggregate --round "$last"
done

# The choices alone lead to the same weights and outputs again: from the start, and from a snapshot
# that lost weights before it.
hash_of() { json weights_hash <<<"$1"; }
answer=$(run again "$pipeline" "${settings[@]}" --workers 2)
id=$(json run <<<"$answer")
records=$work/again/store/run/$id
outputs=$(sha256sum "$work"/again/outputs/* | cut -d' ' -f1)
rm "$records/weights/$(printf %010d $((last - 2)))".record \
    "$records/weights/$(printf %010d "$last")".record
expect 65 "2 missing" "$bin/graphmill" verify "$work/again" --remove
[ "$(hash_of "$(run again "$pipeline" "${settings[@]}")")" = "$(hash_of "$answer")" ] ||
    fail 'other weights after weights were lost'
verified again
find "$records/round" -name '*.record' ! -name base.record -delete
rm -rf "$records"/{weights,optimizer,snapshot,evaluation,infer} "$records"/outputs* \
    "$work/again/store/switch/run/$id" "$work/again/store/switch/current/run/$id"
[ "$(hash_of "$(run again "$pipeline" "${settings[@]}" --workers 2)")" = "$(hash_of "$answer")" ] \
    || fail 'the choices lead to other weights'
[ "$(sha256sum "$work"/again/outputs/* | cut -d' ' -f1)" = "$outputs" ] ||
    fail 'the choices lead to other outputs'
verified again

# A choice is lost with all that shows it: its results are removed, and another choice is made.
middle=$((last / 2))
rm -r "$records/round/$(printf %010d $middle)"
expect 65 "9 missing" "$bin/graphmill" verify "$work/again" --remove
[ ! -e "$records/weights/$(printf %010d $((middle + 1)))".record ] ||
    fail 'weights of a lost choice are still there'
run again "$pipeline" "${settings[@]}" --workers 2 >/dev/null || fail 'after the loss of a choice'
verified again
for round in 1 $((middle - 1)) $middle $((middle + 1)) $((middle + 4)) "$last"; do
    replays again train-step --round "$round" --slot 1
    replays again aggregate --round "$round"
done

# Impossible settings.
expect 78 "aggregate.staleness.*'up_to 0', expected at least 1 behind" run bad "$pipeline" \
    "${settings[@]}" --set "aggregate.staleness=up_to 0"
expect 78 'aggregate.staleness is 4, but a snapshot is made every 3 rounds' run bad "$pipeline" \
    "${settings[@]}" --set "aggregate.staleness=up_to 4"
