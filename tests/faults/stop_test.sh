#!/usr/bin/env bash
# A run that is asked to stop ends soon with status 75 in every stage, leaves no scratch files, and
# can be resumed.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml

# name, what its progress says, when to stop (a command that fails until then), settings
stopped_in() {
    local name=$1 says=$2 due=$3 status=0 before
    shift 3
    "$bin/graphmill" run "$pipeline" --directory "$work/$name" "$@" >"$work/stdout" \
        2>"$work/stderr" &
    local driver=$!
    until (cd "$work/$name" 2>/dev/null && eval "$due" >/dev/null 2>&1); do
        kill -0 $driver 2>/dev/null ||
            fail "$name: over before it could be stopped: $(tail -1 "$work/stderr")"
        sleep 0.02
    done
    before=$(date +%s)
    kill -TERM $driver
    wait $driver || status=$?
    [ $status -eq 75 ] || fail "$name: ended with $status, expected 75: $(tail -1 "$work/stderr")"
    [ $(($(date +%s) - before)) -le 3 ] || fail "$name: took $(($(date +%s) - before)) s to stop"
    grep -q "$says" "$work/stderr" ||
        fail "$name: did not say '$says' but $(tail -1 "$work/stderr")"
    [ -z "$(ls "$work/$name/store/tmp" 2>/dev/null)" ] ||
        fail "$name: left $(ls "$work/$name/store/tmp")"
}
large=(--set ingest.nodes=2000000)
stopped_in ingest 'during ingest' 'ls store/tmp/* ' "${large[@]}"
small=(--set ingest.nodes=100000 --set epochs=2)
stopped_in training 'goes on' 'ls store/run/*/weights' "${small[@]}"
hash=$(run training "$pipeline" "${small[@]}" | json weights_hash)
[ "$hash" = "$(run peace "$pipeline" "${small[@]}" | json weights_hash)" ] ||
    fail "other weights after a stop"
stopped_in partition 'during partition' 'ls store/dataset/*/schema* && sleep 0.2' \
    --set ingest.nodes=200000
