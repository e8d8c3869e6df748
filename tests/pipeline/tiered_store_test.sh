#!/usr/bin/env bash
# The stage programs, one by one, with a store of two: records of rounds in a fast folder, the rest
# in a durable one. While they work, the whole fast folder is lost twice, the second time with
# killed workers. Nothing is done by hand, and the weights are those of a local run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
pipeline=$source_folder/pipelines/karate.yaml
lease_ms=1000
settings=(--set epochs=1200 --set checkpoint.patience=0)
store=tiered:dir:$work/fast^dir:$work/durable

redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' >"$work/redis.txt" &
started+=($!)
queue=(--redis "unix:$work/redis.sock")
peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)

ingest=("$bin/graphmill-ingest" --pipeline "$pipeline" "${settings[@]}")
expect 78 'expected two stores' "${ingest[@]}" --store "tiered:dir:$work/fast"
expect 78 'need one that all of them see' "${ingest[@]}" --store "tiered:memory:x^dir:$work/durable"
rm -rf "$work/durable"

# Prints the position of the run: the version of the snapshot that the ref names.
position() { cat "$work"/durable/switch/run/*/current_snapshot 2>/dev/null |
    sed -n 's/^\([0-9]*\) .*/\1/p'; }
wait_for_snapshot_after() {
    local now=
    until now=$(position) && [ "$now" ] && { [ "$now" -gt "$1" ] || [ "$now" -eq 1200 ]; }; do
        kill -0 "${pid_of[checkpoint-a]}" 2>/dev/null ||
            fail "checkpoint ended: $(tail -3 "$work/checkpoint-a.log")"
        sleep 0.05
    done
}
"${ingest[@]}" --store "$store" 2>"$work/ingest.log" || fail "ingest: $(tail -3 "$work/ingest.log")"
"$bin/graphmill-partition" --start --pipeline "$pipeline" "${settings[@]}" --store "$store" \
    "${queue[@]}" \
    2>"$work/partition.log" || fail "partition: $(tail -3 "$work/partition.log")"
# infer starts last, so that the run cannot end before the loss.
for stage in checkpoint aggregate train-step sample; do worker $stage $stage-a; done
wait_for_snapshot_after 0
mv "$work/fast" "$work/lost-1"
wait_for_snapshot_after "$(position)"
for name in train-step-a aggregate-a; do kill -KILL "${pid_of[$name]}"; done
mv "$work/fast" "$work/lost-2"
wait "${pid_of[train-step-a]}" "${pid_of[aggregate-a]}" 2>/dev/null || true
for stage in train-step aggregate; do worker $stage $stage-b; done
worker infer infer-a
for name in infer-a checkpoint-a aggregate-b sample-a train-step-b; do join $name; done
found=$(sed -n 's/.*weights hash *//p' "$work/infer-a.log" | tail -1)
[ "$found" = "$peace" ] || fail "with a lost store: weights '$found', in peace $peace"

# The places of records: nothing of a round is durable, and the records that define the run do not
# need the fast store.
[ -z "$(find "$work/durable" -name gradient.record -print -quit)" ] ||
    fail "a gradient is in the durable store"
rm -rf "$work/fast"
for of in "$store" "dir:$work/durable"; do
    "$bin/graphmill" status --store "$of" --json >"$work/status" || fail "no status of $of"
    [ "$(json state <"$work/status")" = finished ] ||
        fail "$of: the run is not finished: $(cat "$work/status")"
done
"$bin/graphmill" fetch newest "$work/fetched" --store "$store" --quiet ||
    fail "the outputs cannot be fetched"
cmp "$work/fetched/predictions.csv" "$work/peace/outputs/predictions.csv" ||
    fail "other predictions"
