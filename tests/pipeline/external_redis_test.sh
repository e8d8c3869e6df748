#!/usr/bin/env bash
# As on a cluster: a Redis with a password, `graphmill start`, and the stage programs started one by one in any order, one
# killed and replaced by another. The weights are those of a local run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
pipeline=$source_folder/pipelines/karate.yaml
settings=(--set epochs=40)
port=$((20000 + RANDOM % 20000))
started=()
stop_all() { for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done; }
trap 'stop_all; rm -rf "$work"' EXIT

echo of-the-queue >"$work/password"
redis-server --bind 127.0.0.1 --port $port --requirepass of-the-queue --dir "$work" --save '' >"$work/redis.log" &
started+=($!)
until grep -q 'Ready to accept' "$work/redis.log"; do sleep 0.05; kill -0 "${started[0]}" || fail "no Redis on port $port"; done
redis=(--redis "redis://127.0.0.1:$port" --redis-password-file "$work/password")

peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)

# Wrong ways to reach the queue end with their reason.
start=("$bin/graphmill" start "$pipeline" --directory "$work/shared" "${settings[@]}" --quiet)
expect 78 'NOAUTH' "${start[@]}" --redis "redis://127.0.0.1:$port"
echo another >"$work/wrong"
expect 78 'WRONGPASS' "${start[@]}" --redis "redis://127.0.0.1:$port" --redis-password-file "$work/wrong"
expect 65 'nowhere' "${start[@]}" --redis "redis://127.0.0.1:$port" --redis-password-file "$work/nowhere"
expect 75 'Connection refused' "${start[@]}" --redis redis://127.0.0.1:1
expect 78 'rediss://' "${start[@]}" --redis rediss://127.0.0.1:1

worker() { # stage, name
    "$bin/graphmill-$1" --pipeline "$pipeline" "${settings[@]}" --store "dir:$work/shared/store" --worker "$2" \
        --scratch "$work" --lease 1000 --wait 60 "${redis[@]}" >"$work/$2.out" 2>"$work/$2.log" &
    started+=($!)
}
finish() { wait "$1" || fail "$2 ended with $?: $(tail -3 "$work/$2.log")"; }

# Workers first: they wait for the run.
for stage in infer checkpoint aggregate train-step sample; do worker $stage $stage-a; done
train=${started[4]}
"${start[@]}" "${redis[@]}" >"$work/answer" || fail "start does not work"
until [ -n "$(find "$work/shared/store" -path '*/snapshot/*' 2>/dev/null)" ]; do sleep 0.02; done
kill -KILL "$train"
wait "$train" 2>/dev/null || true
"$bin/graphmill" status "$work/shared" "${redis[@]}" --json >"$work/status" || fail "no status"
[ "$(json state <"$work/status")" = training ] || fail "the state is not training: $(cat "$work/status")"
worker train-step train-step-b
finish "${started[1]}" infer-a
finish "${started[2]}" checkpoint-a
finish "${started[3]}" aggregate-a
finish "${started[5]}" sample-a
finish "${started[6]}" train-step-b
[ "$("$bin/graphmill" status "$work/shared" --json | json state)" = finished ] || fail "the run is not finished"
found=$(run shared "$pipeline" "${settings[@]}" | json weights_hash)
[ "$found" = "$peace" ] || fail "by hand: weights $found, locally $peace"
[ -z "$(find "$work" -mindepth 1 -maxdepth 1 -name 'graphmill-*')" ] || fail "left in the scratch folder: $(ls "$work")"
