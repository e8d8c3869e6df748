#!/usr/bin/env bash
# graphmill status in every state of a run, stage by stage, with and without a queue, in words and
# as JSON.
source "$(dirname "$0")/library.sh"

pipeline=$source_folder/pipelines/karate.yaml
status() { "$bin/graphmill" status "$@" --json; }
# Prints the state of a stage: stage NAME <json
stage() { sed -n "s/.*\"$1\":{\"state\":\"\([^\"]*\).*/\1/p"; }
# Checks the output of status: says PATTERN ARGUMENTS...
says() {
    local pattern=$1
    shift
    "$bin/graphmill" status "$@" >"$work/said" 2>&1 || fail "status $*: $(cat "$work/said")"
    grep -Eq -- "$pattern" "$work/said" ||
        fail "status $* did not say '$pattern' but: $(cat "$work/said")"
}
# Checks the states of some stages, as JSON and in words: stages NAME=STATE... -- ARGUMENTS...
stages() {
    local wanted=() text one
    while [ "$1" != -- ]; do wanted+=("$1") && shift; done
    shift
    text=$(status "$@")
    for one in "${wanted[@]}"; do
        [ "$(stage "${one%%=*}" <<<"$text")" = "${one#*=}" ] ||
            fail "${one%%=*} is not ${one#*=}: $text"
        says "^${one%%=*} +${one#*=}" "$@"
    done
}
# Waits until status shows a state: await STATE ARGUMENTS...
await() {
    local state=$1
    shift
    for _ in $(seq 600); do
        [ "$(status "$@" 2>/dev/null | json state)" != "$state" ] || return 0
        sleep 0.05
    done
    fail "it is never $state: $(status "$@")"
}

# Ingest that cannot continue, before there is a run: only the reason is shown.
expect 65 'nowhere' run bad "$pipeline" --set ingest.path=/nowhere
[ "$(status "$work/bad" | json state)" = failed ] ||
    fail "after a failed ingest: $(status "$work/bad")"
stages ingest=failed partition=waiting sample=waiting infer=waiting -- "$work/bad"
says '^ingest +failed after [0-9]+ s' "$work/bad"
says '^failed +ingest: .*/nowhere: No such file' "$work/bad"
timeout 20 "$bin/graphmill" status "$work/bad" --watch >/dev/null ||
    fail "--watch does not end where a run has failed"

# Training: running, then stopped by Ctrl-C, then killed; without a queue it says what is safe.
long=(--set epochs=100000 --set checkpoint.every_epochs=1 --set train-step.hidden=17)
"$bin/graphmill" run "$pipeline" --directory "$work/long" "${long[@]}" --quiet >/dev/null 2>&1 &
driver=$!
started+=($driver)
await training "$work/long"
for _ in $(seq 600); do [[ $(status "$work/long") == *'"snapshot_round":'[1-9]* ]] && break ||
    sleep 0.05; done
stages ingest=done partition=done infer=waiting -- "$work/long"
says "^training +[0-9]+ s .*pid $driver" "$work/long"
says '^aggregate +(at work|waiting) +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+$' "$work/long"
[[ $(status "$work/long") == *'"redis":true'*'"train-step":{"state":"'*'","done":'*'"workers":['* \
    ]] || fail "JSON in training: $(status "$work/long")"
kill -INT $driver
wait $driver || true
[ "$(status "$work/long" | json state)" = stopped ] || fail "after Ctrl-C: $(status "$work/long")"
says '^training +was stopped after [0-9]+ s; the same command goes on' "$work/long"
says '^train-step +stopped; round [1-9][0-9]* of 100000 is safe' "$work/long"
[[ $(status "$work/long") == \
    *'"outcome":"stopped"'*'"redis":false'*'"train-step":{"state":"stopped"}'* ]] ||
    fail "JSON after Ctrl-C: $(status "$work/long")"
"$bin/graphmill" run "$pipeline" --directory "$work/long" "${long[@]}" --quiet >/dev/null 2>&1 &
driver=$!
started+=($driver)
await training "$work/long"
kill -KILL $driver
wait $driver 2>/dev/null || true
await stopped "$work/long"
says '^training +ended without a word' "$work/long"

# A unit that cannot be done: the run has failed, and the reason is shown.
"$bin/graphmill" run "$pipeline" --directory "$work/hurt" --quiet >/dev/null 2>&1
feature=$(find "$work/hurt/store/partition" -name '*.sst' | head -1)
[ -n "$feature" ] || fail "no shard to damage"
printf 'damaged' | dd of="$feature" bs=1 seek=100 conv=notrunc status=none
rm -f "$work/hurt/outputs"
expect 65 . run hurt "$pipeline" --set train-step.hidden=5
[ "$(status "$work/hurt" | json state)" = failed ] ||
    fail "after a failed run: $(status "$work/hurt")"
says '^failed +[a-z-]+: ' "$work/hurt"

# A run for workers elsewhere: its Redis is known from the start, and no worker is there yet; then
# Redis is gone.
redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --dir "$work" >/dev/null &
redis=$!
started+=($redis)
until [ -S "$work/redis.sock" ]; do sleep 0.05; done
"$bin/graphmill" start "$pipeline" --directory "$work/away" --redis "unix:$work/redis.sock" \
    --quiet >/dev/null
[ "$(status "$work/away" | json state)" = 'waiting for workers' ] ||
    fail "before any worker: $(status "$work/away")"
stages ingest=done partition=done sample=waiting train-step=waiting infer=waiting -- "$work/away"
stages ingest=done sample=waiting -- --store "dir:$work/away/store" --redis "unix:$work/redis.sock"
says 'no Redis runs for dir:.*; workers elsewhere are seen with --redis URL' \
    --store "dir:$work/away/store"
stages ingest=done partition=done 'sample=not running' infer=waiting -- \
    --store "dir:$work/away/store"
"$bin/graphmill-sample" --store "dir:$work/away/store" --run "$(status "$work/away" | json run)" \
    --redis "unix:$work/redis.sock" >/dev/null 2>&1 &
worker=$!
started+=($worker)
await training "$work/away"
says '^  .* done .* beat [0-9]+ s ago' "$work/away"
kill $worker $redis
wait $worker $redis 2>/dev/null || true
says 'Redis at unix:.* does not answer' "$work/away"
[ "$(status "$work/away" | json state)" = 'not running' ] ||
    fail "without Redis: $(status "$work/away")"

# A store without a partition yet, and one of Jobs whose ingest failed: no run, but an answer.
"$bin/graphmill-ingest" --store "dir:$work/begun" --pipeline "$pipeline" >/dev/null 2>&1
stages ingest=done partition=waiting sample=waiting -- --store "dir:$work/begun"
"$bin/graphmill-ingest" --store "dir:$work/broken" --pipeline "$pipeline" \
    --set ingest.path=/nowhere --wait 1 >/dev/null 2>&1 && fail "ingest of nothing"
stages ingest=failed partition=waiting -- --store "dir:$work/broken"
says '^failed +ingest: .*/nowhere: No such file' --store "dir:$work/broken"
mkdir "$work/empty"
expect 65 'no run was started here' "$bin/graphmill" status "$work/empty"

# A finished run is finished, whether anything runs or not.
run done "$pipeline" >/dev/null 2>&1
[ "$(status "$work/done" | json state)" = finished ] || fail "at the end: $(status "$work/done")"
stages ingest=done partition=done sample=done train-step=done aggregate=done checkpoint=done \
    infer=done -- "$work/done"
timeout 20 "$bin/graphmill" status "$work/done" --watch >/dev/null ||
    fail "--watch does not end where a run is finished"
