#!/usr/bin/env bash
# A second worker of aggregate or of checkpoint is a hot standby: when the first is suspended or
# killed the run continues within two leases, and ends with the weights of an undisturbed run. The
# unit of a suspended worker of sample or train-step is done by another one long before its lease
# ends.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
not_sanitized 'it measures time'
cd "$work"
pipeline=$source_folder/pipelines/karate.yaml
# A round takes some milliseconds of products, so the run has not ended when the last worker is
# suspended.
settings=(--set epochs=600 --set 'sample.fanouts=[5, 5, 5]' --set train-step.hidden=256)
lease_ms=3000
expected=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)

redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' >redis.txt &
started+=($!)
for _ in $(seq 200); do [ -S redis.sock ] && break || sleep 0.05; done
"$bin/graphmill" start "$pipeline" --directory "$work/shared" "${settings[@]}" \
    --redis "unix:$work/redis.sock" --quiet >start.txt

declare -A pid_of
worker() { # stage, name, [lease]
    "$bin/graphmill-$1" --pipeline "$pipeline" "${settings[@]}" --store "dir:$work/shared/store" \
        --redis "unix:$work/redis.sock" \
        --lease "${3:-$lease_ms}" --threads 1 --worker "$2" 2>>"$2.log" &
    pid_of[$2]=$!
    started+=($!)
}
read_round() { # into $round
    "$bin/graphmill" status --store "dir:$work/shared/store" --json >status.json 2>status.err ||
        fail "status ended with $?: $(cat status.err)"
    round=$(json snapshot_round <status.json)
    [ -n "$round" ] || fail "no snapshot in the status: $(cat status.json)"
}
milliseconds() { date +%s%3N; }
goes_on() { # what was done: a later snapshot within two leases
    local since before
    since=$(milliseconds)
    read_round
    before=$round
    while read_round; [ "$round" -le $((before + 2)) ]; do # one may have been under way
        [ $(($(milliseconds) - since)) -le $((2 * lease_ms)) ] || {
            kill -CONT "${pid_of[@]}" 2>/dev/null || true # what is stopped cannot end
            fail "$1: no snapshot for $((2 * lease_ms)) ms after round $before"
        }
    done
    echo "$1: round $before to $round in $(($(milliseconds) - since)) ms"
}

long_ms=600000
worker infer infer-0
for stage in sample train-step; do worker $stage $stage-0 $long_ms; worker $stage $stage-1 \
    $long_ms; done
for stage in aggregate checkpoint; do worker $stage $stage-0; worker $stage $stage-1; done
for _ in $(seq 200); do read_round; [ "$round" -gt 5 ] && break || sleep 0.05; done
for stage in aggregate checkpoint; do
    kill -STOP "${pid_of[$stage-0]}"
    goes_on "$stage-0 was stopped"
    kill -CONT "${pid_of[$stage-0]}"
    goes_on "$stage-0 is there again"
    kill -KILL "${pid_of[$stage-0]}"
    goes_on "$stage-0 was killed"
done
lease_ms=4000 # twice that: five seconds until a worker without experience begins, and what it takes
for stage in sample train-step; do
    kill -STOP "${pid_of[$stage-0]}"
    goes_on "$stage-0 was stopped"
    kill -CONT "${pid_of[$stage-0]}"
done
[ "$("$bin/graphmill" status --store "dir:$work/shared/store" --json | json state)" != finished ] \
    || fail "the run was over before all was tried"
for name in sample-0 sample-1 train-step-0 train-step-1 infer-0 aggregate-1 checkpoint-1; do wait \
    "${pid_of[$name]}" || fail "$name ended with $?"; done
found=$("$bin/graphmill" run "$pipeline" --directory "$work/shared" "${settings[@]}" \
    --quiet --json | json weights_hash)
[ "$found" = "$expected" ] || fail "weights: expected $expected, found $found"
