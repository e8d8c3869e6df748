#!/usr/bin/env bash
# SIGTERM 0 to 200 ms after the start ends the driver and each stage program with status 75, never
# by the signal, and never with 0 unless the work is done, within a second (5 on a busy machine),
# and leaves no child behind. Programs are started with the signal blocked, as the driver starts
# them; a program started by a shell can still be killed by it in the milliseconds of the dynamic
# loader.
#
# FAULTS=large: 100 starts of each, otherwise 8.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
starts=8
[ "${FAULTS:-small}" = large ] && starts=100
env --block-signal=TERM true 2>/dev/null || {
    echo "skipped: env has no --block-signal"
    exit 77
}
settings=(--set ingest.nodes=1000000 --set epochs=500)
redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --dir "$work" >/dev/null &
redis=$!
leave() { # with the status that finish() looks at
    local status=$?
    set +e
    kill $redis 2>/dev/null || true
    wait $redis 2>/dev/null || true
    return $status
}
trap 'leave; finish' EXIT
until [ -S "$work/redis.sock" ]; do sleep 0.05; done
"$bin/graphmill" start "$pipeline" --directory "$work/started" --set epochs=500 \
    --redis "unix:$work/redis.sock" --quiet >"$work/start"
id=$(sed -n 's/^run=\([^ ]*\).*/\1/p' "$work/start")

stops() { # name, command...: one line for each start: milliseconds, status, milliseconds to the end
    local name=$1 i ms status before took slowest=0
    shift
    for ((i = 0; i < starts; i++)); do
        ms=$((i * 200 / starts))
        rm -rf "$work/fresh"
        env --block-signal=TERM "$@" >"$work/stdout" 2>"$work/stderr" &
        local program=$!
        until [[ $(cat /proc/$program/comm 2>/dev/null ||
            echo graphmill) == graphmill* ]]; do :; done # not env any more
        sleep "0.$(printf %03d $ms)"
        before=$(date +%s%3N)
        kill -TERM $program || fail "$name: over $ms ms after its start: $(tail -2 "$work/stderr")"
        status=0
        wait $program || status=$?
        took=$(($(date +%s%3N) - before))
        [ $took -gt $slowest ] && slowest=$took
        [ $status -eq 75 ] || fail "$name: ended with $status after SIGTERM at $ms ms: $(tail -2 \
            "$work/stderr")"
        [ $took -le 5000 ] || fail "$name: took $took ms to stop"
        grep -q stop "$work/stderr" ||
            fail "$name: stopped at $ms ms it said: $(tail -2 "$work/stderr")"
        ! pgrep -f -- "$work/fresh" >/dev/null || fail "$name: left $(pgrep -af -- "$work/fresh")"
    done
    echo "$name: $starts starts, slowest stop $slowest ms"
}
stops run "$bin/graphmill" run "$pipeline" --directory "$work/fresh" "${settings[@]}"
stops start "$bin/graphmill" start "$pipeline" --directory "$work/fresh" "${settings[@]}" \
    --redis "unix:$work/redis.sock"
for stage in ingest partition; do
    stops $stage "$bin/graphmill-$stage" --store "$work/fresh" --pipeline "$pipeline" \
        "${settings[@]}" --wait 60
done
for stage in sample train-step aggregate checkpoint infer; do
    stops $stage "$bin/graphmill-$stage" --store "$work/started/store" --run "$id" \
        --redis "unix:$work/redis.sock" \
        --worker "fresh-$stage"
done
