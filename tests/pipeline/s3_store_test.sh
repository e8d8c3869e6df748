#!/usr/bin/env bash
# Like nodes that share no volume: the stage programs are started one by one, with a store in a
# bucket of a real SeaweedFS; a worker is killed and replaced. The weights are those of a local run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
pipeline=$source_folder/pipelines/karate.yaml
lease_ms=2000
settings=(--set epochs=20)

redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' >"$work/redis.txt" &
started+=($!)
queue=(--redis "unix:$work/redis.sock")
seaweedfs
store="s3://graphmill/karate?endpoint=$endpoint"

peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)

# Wrong addresses and credentials fail at once with the reason.
ingest=("$bin/graphmill-ingest" --pipeline "$pipeline" "${settings[@]}")
expect 78 'expected s3://BUCKET' "${ingest[@]}" --store s3://A/x
expect 78 "found 'color'" "${ingest[@]}" --store "$store&color=red"
expect 74 'SignatureDoesNotMatch' env AWS_SECRET_ACCESS_KEY=wrong "${ingest[@]}" --store "$store"
expect 74 'no credentials for S3' env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY HOME="$work" \
    "${ingest[@]}" --store "$store"

"${ingest[@]}" --store "$store" 2>"$work/ingest.log" || fail "ingest: $(tail -3 "$work/ingest.log")"
"$bin/graphmill-partition" --start --pipeline "$pipeline" "${settings[@]}" --store "$store" \
    "${queue[@]}" \
    2>"$work/partition.log" || fail "partition: $(tail -3 "$work/partition.log")"
# Without checkpoint there is no snapshot, so training cannot end before the kill.
for stage in infer aggregate train-step sample; do worker $stage $stage-a; done
sleep 2
kill -0 "${pid_of[train-step-a]}" 2>/dev/null ||
    fail "train-step-a ended: $(tail -3 "$work/train-step-a.log")"
kill -KILL "${pid_of[train-step-a]}"
wait "${pid_of[train-step-a]}" 2>/dev/null || true
worker train-step train-step-b
worker checkpoint checkpoint-a
for name in infer-a checkpoint-a aggregate-a sample-a train-step-b; do join $name; done
"$bin/graphmill" status --store "$store" --json >"$work/status" || fail "no status"
[ "$(json state <"$work/status")" = finished ] ||
    fail "the run is not finished: $(cat "$work/status")"
found=$(sed -n 's/.*weights hash *//p' "$work/infer-a.log" | tail -1)
[ "$found" = "$peace" ] || fail "in a bucket: weights '$found', locally $peace"
