#!/usr/bin/env bash
# Runs the inference of a trained run repeatedly: with one to four workers, with little memory, and
# with workers that are killed or suspended at random. Every output file is the same each time, byte
# for byte.
#
# FAULTS=large: 200 kills and stops, otherwise 16. SEED=n repeats a storm.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
settings=(--set ingest.nodes=12000 --set epochs=2 --set partition.parts=8 \
    --set sample.fanouts=5,5,5 --set train-step.hidden=64)
wanted=16
[ "${FAULTS:-small}" = large ] && wanted=200
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "SEED=$seed"

run it "$pipeline" "${settings[@]}" >"$work/first"
store=$(echo "$work"/it/store/run/*)
cp -rL "$work/it/outputs" "$work/good"
# seals and all: nothing to compare with but our copy
forget() { rm -rf "$store"/outputs "$store"/infer; }
same() { # what was done
    local file
    for file in "$work"/good/*; do
        cmp -s "$file" "$work/it/outputs/${file##*/}" || fail "$1: ${file##*/} is not what it was"
    done
    [ "$(ls "$work/good")" = "$(ls "$work/it/outputs/")" ] ||
        fail "$1: other files: $(ls "$work/it/outputs/")"
}

for workers in 2 3 4; do
    forget
    run it "$pipeline" "${settings[@]}" --workers $workers >"$work/answer"
    same "$workers workers"
done
forget
run it "$pipeline" "${settings[@]}" --memory 192M --threads 1 >"$work/answer"
same "little memory"

done_so_far=0 runs=0
while [ $done_so_far -lt $wanted ]; do
    runs=$((runs + 1))
    [ $runs -le $((4 * wanted)) ] || fail "$runs runs, and only $done_so_far kills and stops"
    forget
    "$bin/graphmill" run "$pipeline" --directory "$work/it" "${settings[@]}" \
        --workers $((runs % 3 + 1)) --lease 1000 --json \
        >"$work/answer" 2>"$work/progress" &
    driver=$!
    while kill -0 $driver 2>/dev/null && [ $done_so_far -lt $wanted ]; do
        sleep "0.$(printf %03d $((RANDOM % 100 + 20)))"
        mapfile -t victims < <(ps -o pid= -o comm= --ppid $driver |
            awk '$2 ~ /^graphmill-infer/ {print $1}')
        [ ${#victims[@]} -gt 0 ] || continue
        victim=${victims[RANDOM % ${#victims[@]}]}
        if [ $((RANDOM % 4)) -eq 0 ]; then
            kill -STOP "$victim" 2>/dev/null && done_so_far=$((done_so_far + 1)) && { sleep 1.5 &&
                kill -CONT "$victim" 2>/dev/null || true; }
        else
            kill -KILL "$victim" 2>/dev/null && done_so_far=$((done_so_far + 1))
        fi
    done
    wait $driver || fail "storm $runs: the run failed after $done_so_far: $(tail -3 \
        "$work/progress")"
    same "storm $runs"
done
"$bin/graphmill" verify "$work/it" >"$work/verified" || fail "verify: $(cat "$work/verified")"
echo "inference: $done_so_far kills and stops in $runs runs, 4 quiet ones, 0 other bytes"
