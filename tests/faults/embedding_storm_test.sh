#!/usr/bin/env bash
# Trains with learnable embeddings while workers of all stages are killed or suspended at random,
# with rows in memory and on disk: the outputs equal those of an undisturbed run, byte for byte.
#
# FAULTS=large: 300 kills and stops, otherwise 30. SEED=n repeats a storm.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
settings=(--set ingest.nodes=1500 --set epochs=30 --set partition.parts=3 \
    --set sample.batch_size=100 --set train-step.hidden=16
    --set train-step.embedding=24)
wanted=30
[ "${FAULTS:-small}" = large ] && wanted=300
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "SEED=$seed"

run peace "$pipeline" "${settings[@]}" >"$work/first"
same() { # folder
    local file
    for file in predictions.csv embeddings.npy; do
        cmp -s "$work/peace/outputs/$file" "$work/$1/outputs/$file" ||
            fail "$1: $file is not that of the undisturbed run"
    done
    cmp -s "$work/peace/metrics.jsonl" "$work/$1/metrics.jsonl" || fail "$1: metrics.jsonl"
}

done_so_far=0 runs=0
while [ $done_so_far -lt $wanted ]; do
    runs=$((runs + 1))
    [ $runs -le $wanted ] || fail "$runs runs, and only $done_so_far kills and stops"
    rm -rf "$work/storm"
    "$bin/graphmill" run "$pipeline" --directory "$work/storm" "${settings[@]}" \
        --workers $((runs % 3 + 1)) --lease 1000 --json \
        >"$work/answer" 2>"$work/progress" &
    driver=$!
    while kill -0 $driver 2>/dev/null; do
        sleep "0.$(printf %03d $((RANDOM % 150 + 50)))"
        mapfile -t victims < <(ps -o pid= -o comm= --ppid $driver |
            awk '$2 ~ /^graphmill-(agg|tra|sam|che|inf)/ {print $1}')
        [ ${#victims[@]} -gt 0 ] || continue
        victim=${victims[RANDOM % ${#victims[@]}]}
        if [ $((RANDOM % 4)) -eq 0 ]; then
            kill -STOP "$victim" 2>/dev/null && done_so_far=$((done_so_far + 1)) && { sleep 1.2 &&
                kill -CONT "$victim" 2>/dev/null || true; }
        else
            kill -KILL "$victim" 2>/dev/null && done_so_far=$((done_so_far + 1))
        fi
        [ $done_so_far -lt $wanted ] || break
    done
    wait $driver || fail "storm $runs: the run failed after $done_so_far: $(tail -3 \
        "$work/progress")"
    same storm
done
"$bin/graphmill" verify "$work/storm" >"$work/verified" || fail "verify: $(cat "$work/verified")"
echo "embeddings: $done_so_far kills and stops in $runs runs, 0 other bytes"
