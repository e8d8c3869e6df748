#!/usr/bin/env bash
# Runs on a Redis that others use too: two copies of one unfinished run at the same time, keys that
# vanish, a server that begins to evict keys. Weights and outputs equal those of an undisturbed run,
# and nothing hangs.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null && command -v redis-cli >/dev/null ||
    { echo "skipped: no redis-server"; exit 77; }
pipeline=$source_folder/pipelines/quickstart.yaml
settings=(--set ingest.nodes=800 --set epochs=24 --set sample.batch_size=60)
socket=$work/r.sock
redis-server --port 0 --unixsocket "$socket" --dir "$work" --save '' >"$work/redis.txt" &
started+=($!)
until redis-cli -s "$socket" ping >/dev/null 2>&1; do sleep 0.05; done
redis() { redis-cli -s "$socket" --raw "$@"; }

answer_of() { # what a run ends in: weights and outputs
    "$bin/graphmill" run "$pipeline" "${settings[@]}" --directory "$work/$1" \
        --quiet --json >"$work/$1.json" 2>/dev/null ||
        fail "$1 is not finished"
    echo "$(json weights_hash <"$work/$1.json") $(sha256sum <"$work/$1/outputs/embeddings.npy" |
        cut -c1-16)"
}
start_run() { # NAME: in the background, on the shared server
    timeout 240 "$bin/graphmill" run "$pipeline" "${settings[@]}" --directory "$work/$1" \
        --quiet --lease 1000 \
        --redis "unix:$socket" >"$work/$1.out" 2>"$work/$1.err" &
    last=$!
    started+=($last)
}
reach() { # NAME ROUND PID: until weights of that round are there
    until [ -n "$(find "$work/$1/store" -path "*/weights/$(printf %010d "$2")*" 2>/dev/null)" ]; do
        kill -0 "$3" 2>/dev/null || break
        sleep 0.01
    done
}
end_run() { # NAME PID
    local status=0
    wait "$2" || status=$?
    [ $status -eq 0 ] || fail "$1 ended with $status: $(tail -3 "$work/$1.err")"
    found=$(answer_of "$1")
    [ "$found" = "$peace" ] || fail "$1: $found, undisturbed $peace"
}

peace=$(answer_of peace)

# Two copies of a stopped run at once: same identity, same run, one server. If the machine is fast,
# the run may end before the signal arrives; then it is started again.
for attempt in 1 2 3 4 5; do
    rm -rf "$work/first"
    start_run first
    half=$last
    reach first 3 "$half"
    kill "$half" 2>/dev/null && break
    [ "$attempt" -lt 5 ] || fail "no run could be stopped half-way"
done
wait "$half" 2>/dev/null || true
cp -a "$work/first" "$work/second"
start_run first
a=$last
start_run second
b=$last
end_run first "$a"
end_run second "$b"

# Keys that are lost in the middle of a run come back within seconds.
number=0
for loss in "del KEYqueue:train-step KEYqueue:sample" "del KEYqueued" "flushall" \
    "config set maxmemory 2500000 maxmemory-policy allkeys-random"; do
    number=$((number + 1))
    redis flushall >/dev/null
    rm -rf "$work/run$number"
    cp -a "$work/peace" "$work/run$number"
    rm -rf "$work/run$number"/store/run "$work/run$number"/store/switch/run "$work/run$number"/redis
    before=$(date +%s)
    start_run run$number
    pid=$last
    reach run$number 10 "$pid"
    key=$(redis --scan --pattern '*:life' | sed -n 1p)
    redis ${loss//KEY/"${key%life}"} >/dev/null
    end_run run$number "$pid"
    [ $(($(date +%s) - before)) -lt 120 ] || fail "'$loss' took $(($(date +%s) - before)) s"
done

# A server that evicts keys is refused at the start of a run.
rm -rf "$work/refused"
expect 78 'expected maxmemory-policy noeviction, found allkeys-random' "$bin/graphmill" run \
    "$pipeline" "${settings[@]}" \
    --directory "$work/refused" --quiet --redis "unix:$socket"
