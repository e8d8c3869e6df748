#!/usr/bin/env bash
# Like nodes that share no volume: the stage programs are started one by one, with a store in a real
# Redis Cluster of three masters, each with a replica. While they train, slots move from one master
# to another, and a master and a worker are killed. The weights are those of a local run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
. "$GRAPHMILL_SOURCE/tests/support/redis_cluster.sh"
command -v redis-server >/dev/null && command -v redis-cli >/dev/null ||
    { echo "skipped: no redis-server and redis-cli"; exit 77; }
pipeline=$source_folder/pipelines/karate.yaml
lease_ms=2000
settings=(--set epochs=20)

redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' >"$work/redis.txt" &
started+=($!)
queue=(--redis "unix:$work/redis.sock")
cluster_start replicas
store=$(cluster_uri karate)
peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)

# Wrong addresses fail at once with the reason, and show no secret.
ingest=("$bin/graphmill-ingest" --pipeline "$pipeline" "${settings[@]}")
expect 78 'expected redis\+cluster://' "${ingest[@]}" --store redis+cluster://host:x/p
expect 78 "found 'color'" "${ingest[@]}" --store "$store?color=red"
expect 78 'a password has no place in an address' "${ingest[@]}" \
    --store redis+cluster://user:hushhush@127.0.0.1:1/x
! grep -q hushhush "$work/stderr" || fail "the password is shown: $(cat "$work/stderr")"

"${ingest[@]}" --store "$store" 2>"$work/ingest.log" || fail "ingest: $(tail -3 "$work/ingest.log")"
"$bin/graphmill-partition" --start --pipeline "$pipeline" "${settings[@]}" --store "$store" \
    "${queue[@]}" \
    2>"$work/partition.log" || fail "partition: $(tail -3 "$work/partition.log")"
# Without checkpoint there is no snapshot, so training cannot end before the next steps.
for stage in infer aggregate train-step sample; do worker $stage $stage-a; done
cluster_move 300 || fail "slots do not move: $(tail -3 "$work/reshard.txt")"
cluster_kill 2
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
[ "$found" = "$peace" ] || fail "in the cluster: weights '$found', locally $peace"

"$bin/graphmill" doctor --store "$store" >"$work/doctor" 2>&1 ||
    fail "doctor: $(cat "$work/doctor")"
