#!/usr/bin/env bash
# A worker without work releases its CPU if asked to (--idle), and is started again later: infer
# waits for the end of training. The run ends like one without.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
pipeline=$source_folder/pipelines/karate.yaml
peace=$(run peace "$pipeline" | json weights_hash)

redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' >"$work/redis.txt" &
started+=($!)
for _ in $(seq 200); do [ -S "$work/redis.sock" ] && break || sleep 0.05; done
"$bin/graphmill" start "$pipeline" --directory "$work/shared" --redis "unix:$work/redis.sock" \
    --quiet >"$work/start.txt"
worker() { "$bin/graphmill-$1" --pipeline "$pipeline" --store "dir:$work/shared/store" \
    --redis "unix:$work/redis.sock" "${@:2}" 2>>"$work/$1.log"; }

expect 64 'is for stages that loop' "$bin/graphmill-ingest" --pipeline "$pipeline" --store "dir:$work/shared/store" --idle 1
status=0
worker infer --idle 1 || status=$?
[ $status -eq 75 ] || fail "infer with nothing to do ended with $status, expected 75"
grep -q 'no unit of infer came for 1 s' "$work/infer.log" ||
    fail "infer did not say why it ended: $(tail -1 "$work/infer.log")"

for stage in sample train-step aggregate checkpoint; do
    worker $stage --idle 60 &
    started+=($!)
done
for attempt in $(seq 60); do
    status=0
    worker infer --idle 1 || status=$?
    [ $status -eq 75 ] || break
done
[ $status -eq 0 ] || fail "infer ended with $status after $attempt tries"
for pid in "${started[@]:1}"; do wait "$pid" || fail "a worker ended with $?"; done
found=$("$bin/graphmill" run "$pipeline" --directory "$work/shared" --quiet --json |
    json weights_hash)
[ "$found" = "$peace" ] || fail "weights: expected $peace, found $found"
