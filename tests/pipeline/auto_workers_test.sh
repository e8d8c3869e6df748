#!/usr/bin/env bash
# --workers auto tries numbers of workers during the run; a worker that brings no speed is removed
# without harm, and the bits are those of a fixed number. infer does not take part.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
pipeline=$source_folder/pipelines/quickstart.yaml
set=(--set ingest.nodes=4000 --set sample.batch_size=50 --set sample.batches_per_round=6 \
    --set checkpoint.every_epochs=20)
log=$work/auto/logs/workers.log

expect 64 "workers is 'many', expected a whole number from 1 to 64, or auto" "$bin/graphmill" run \
    "$pipeline" --workers many
expect 64 'goes by the rounds of training' "$bin/graphmill" infer "$work/none" --on "$pipeline" \
    --workers auto

# On one processor a second worker hardly helps. The run is made longer until it has enough rounds
# for a decision, because the speed of the machine is unknown.
for epochs in 200 400 800 1600 3200; do
    rm -rf "$work/auto"
    taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$bin/graphmill" run "$pipeline" \
        --directory "$work/auto" "${set[@]}" \
        --set epochs=$epochs --workers auto --threads 2 >"$work/answer" 2>"$work/stderr"
    ! grep -qE 'kept|taken back' "$log" 2>/dev/null || break
done
cat "$log"
grep -qE '1 of each stage: [0-9.]+ rounds a second; trying 2$' "$log" ||
    fail "it did not try a second one"
grep -qE '2 of each stage: [0-9.]+ rounds a second, with 1 [0-9.]+: (kept|taken back)' "$log" ||
    fail "it did not decide about the second one"
grep -q '^workers  *1 of each stage: .*trying 2$' "$work/stderr" ||
    fail "it did not say so: $(cat "$work/stderr")"
grep -q 'restarts=0$' "$work/stderr" || fail "workers were started again: $(cat "$work/stderr")"
for stage in sample train-step aggregate checkpoint infer; do
    [ -e "$work/auto/times/$stage-1.jsonl" ] || fail "no second worker of $stage was started"
done
before=$(outcome auto)
run fixed "$pipeline" "${set[@]}" --set epochs="$epochs" --workers 2 --threads 2 >/dev/null
as_before fixed 'workers that come and go'
