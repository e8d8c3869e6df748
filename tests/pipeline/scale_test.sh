#!/usr/bin/env bash
# graphmill scale: more and fewer workers of a stage during a run change no bit of the result;
# refusals; the patch for a run on Kubernetes.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
cd "$work"
pipeline=$source_folder/pipelines/quickstart.yaml
set=(--set ingest.nodes=4000 --set sample.batch_size=50 --set sample.batches_per_round=6 \
    --set epochs=400 --set checkpoint.every_epochs=20)
scale() { "$bin/graphmill" scale "$@"; }

expect 64 'takes a run, a stage and a number of workers' scale runs/my train-step
expect 64 "found 'train-stop'; did you mean 'train-step'" scale runs/my train-stop 2
expect 64 'ingest is one unit of work' scale runs/my ingest 2
expect 64 "expected 1 to 64 workers of train-step, found '0'" scale runs/my train-step 0
expect 64 "expected 1 to 64 workers of train-step, found '65'" scale runs/my train-step 65
expect 64 "expected 1 to 64 workers of train-step, found 'many'" scale runs/my train-step many
expect 65 'none: there is no such folder' scale none train-step 2

[ "$(scale my-49cfabd4 train-step 6 --form jobs)" = \
    "kubectl -n graphmill patch job my-49cfabd4-train-step --type=merge -p '{\"spec\":{\"parallelism\":6,\"completions\":6}}'" ] || fail "another patch"
[[ $(scale sample 200 --form base --namespace mine) == \
    "kubectl -n mine patch job sample "*'"parallelism":200,"completions":200'* ]] ||
    fail "another patch of the base"
expect 64 'apply what graphmill render' scale my train-step 6 --form argo
expect 64 'expected jobs or base' scale my train-step 6 --form job
expect 64 'lower-case letters' scale 'My;run' train-step 6 --form jobs
expect 64 'expected 1 to 10000' scale my train-step 0 --form jobs

run peace "$pipeline" "${set[@]}" --workers 1 >/dev/null
before=$(outcome peace)
expect 75 'no graphmill run is at work there' scale peace train-step 2

"$bin/graphmill" run "$pipeline" --directory "$work/scaled" "${set[@]}" --workers 2 --memory 1G \
    >answer 2>progress &
driver=$!
started+=($driver)
log=$work/scaled/logs/workers.log
for _ in $(seq 400); do [ -s scaled/times/train-step-0.jsonl ] && break || sleep 0.05; done
pids() { pgrep -P $driver -f "graphmill-$1 " | wc -l; }
becomes() { # stage, how many
    for _ in $(seq 200); do
        [ "$(pids "$1")" -ne "$2" ] || return 0
        kill -0 $driver 2>/dev/null || fail "the run was over before there were $2 of $1"
        sleep 0.05
    done
    fail "there are $(pids "$1") of $1, expected $2: $(tail -3 progress)"
}
scaled() { # stage, how many, how many before
    [ "$(scale scaled "$1" "$2" 2>stderr)" = "$1: $2 workers, where $3 were" ] ||
        fail "scale $1 $2: $(cat stderr)"
    becomes "$1" "$2"
}
becomes train-step 2
scaled train-step 5 2
for stage in sample aggregate checkpoint infer; do becomes $stage 2; done
# Memory is divided again among all: the shares that workers are given add up to the total.
sum=0
for pid in $(pgrep -P $driver -f graphmill-); do
    share=$(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n '/^--memory$/{n;p;}')
    sum=$((sum + ${share:-0}))
done
[ $sum -gt $((256 << 20)) ] && [ $sum -le $((1 << 30)) ] || fail "shares of memory add up to $sum"
scaled sample 1 2
scaled train-step 1 5
scaled aggregate 3 2
scaled train-step 4 1
expect 78 'the memory budget is 1.0 GiB, expected at least .* 64 of train-step' scale scaled \
    train-step 64
becomes train-step 4
wait $driver || fail "the run ended with $?: $(tail -3 progress)"
cat "$log"
grep -q '5 of train-step, where 2 were: as asked for$' "$log" || fail "it did not write it down"
grep -q '^workers  *1 of sample, where 2 were' progress || fail "it did not say so: $(cat progress)"
grep -q 'restarts=0$' progress || fail "workers were started again: $(cat progress)"
as_before scaled 'workers that come and go'

# After --workers auto a number given by hand stays.
"$bin/graphmill" run "$pipeline" --directory "$work/auto" "${set[@]}" --workers auto >answer \
    2>progress &
driver=$!
started+=($driver)
for _ in $(seq 400); do [ -s auto/times/train-step-0.jsonl ] && break || sleep 0.05; done
scale auto train-step 3 >/dev/null
becomes train-step 3
lines=$(grep -c 'trying\|kept' auto/logs/workers.log || true)
wait $driver || fail "auto ended with $?: $(tail -3 progress)"
[ "$(grep -c 'trying\|kept' auto/logs/workers.log || true)" -eq "$lines" ] ||
    fail "auto went on: $(cat auto/logs/workers.log)"
as_before auto 'workers by hand'
