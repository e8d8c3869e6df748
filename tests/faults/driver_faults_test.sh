#!/usr/bin/env bash
# The driver is killed: nothing that it started survives, not even a suspended worker, and the same
# command resumes. Its Redis is suspended: it is replaced, and the run ends well. The driver is
# suspended and continued: nothing happens.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
settings=(--set ingest.nodes=20000 --set epochs=60)
peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)
[ ${#peace} -eq 32 ] || fail "no hash without faults"

begin() { # name: a run in the background, $driver, until weights are stored
    "$bin/graphmill" run "$pipeline" --directory "$work/$1" "${settings[@]}" \
        --json >"$work/$1.json" 2>"$work/$1.err" &
    driver=$!
    until compgen -G "$work/$1/store/run/*/weights/*[1-9]*" >/dev/null; do
        kill -0 $driver 2>/dev/null || fail "$1: over too soon: $(tail -2 "$work/$1.err")"
        sleep 0.02
    done
}
children() { ps -o pid= --ppid "$1" | tr -d ' ' || true; }
ends_in_peace() { # name
    local status=0
    wait $driver || status=$?
    [ $status -eq 0 ] || fail "$1: ended with $status: $(tail -2 "$work/$1.err")"
    [ "$(json weights_hash <"$work/$1.json")" = "$peace" ] || fail "$1: other weights"
}

begin killed
mapfile -t pids < <(children $driver)
[ ${#pids[@]} -ge 6 ] || fail "only ${#pids[@]} children"
kill -STOP "${pids[1]}"
kill -KILL $driver
wait $driver 2>/dev/null || true
for pid in "${pids[@]}"; do
    for i in {1..40}; do [ -d "/proc/$pid" ] || break; sleep 0.05; done
    [ ! -d "/proc/$pid" ] || fail "$(cat "/proc/$pid/comm") outlived the driver by two seconds"
done
[ "$(run killed "$pipeline" "${settings[@]}" | json weights_hash)" = "$peace" ] ||
    fail "other weights after a kill"

begin stopped
kill -STOP $driver
sleep 1
kill -CONT $driver
ends_in_peace stopped

# A worker that is suspended for ever is replaced.
begin hung
victim=$(ps -o pid= -o args= --ppid $driver | awk '$2 ~ /graphmill-train-step$/ {print $1}')
kill -STOP "$victim"
ends_in_peace hung
grep -q 'train-step-0 gives no sign of life.*killing it' "$work/hung.err" ||
    fail "no word of the stopped worker: $(tail -3 "$work/hung.err")"

begin mute
kill -STOP "$(cat "$work/mute/redis/redis.pid")"
ends_in_peace mute
grep -q 'Redis died or did not answer and was started again' "$work/mute.err" ||
    fail "no word of the stopped Redis"
