#!/usr/bin/env bash
# Workers killed at random, Redis too: no round is lost, the weights have the same bits as in peace, and the same with
# any number of workers.
#
# FAULTS=large: 300 kills of workers and 10 of Redis; else 24 and 2. SEED=n repeats a storm.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
settings=(--set ingest.nodes=3000 --set epochs=60 --set sample.batch_size=100)
worker_kills=24 redis_kills=2
[ "${FAULTS:-small}" = large ] && worker_kills=300 redis_kills=10 && settings+=(--set epochs=600)
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "SEED=$seed"

peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)
[ ${#peace} -eq 32 ] || fail "no hash without faults"

for workers in 2 5; do
    hash=$(run "workers-$workers" "$pipeline" "${settings[@]}" --workers $workers | json weights_hash)
    [ "$hash" = "$peace" ] || fail "$workers workers of each stage give $hash, one gives $peace"
done

# A storm: a kill every 50 to 250 ms from the start of the run's Redis on. How many fall into one run depends on the
# machine, so further runs, each in a folder of its own, go on until all have fallen.
storm() { # name, workers
    local killed=0 redis_killed=0 runs=0
    while [ $((killed + redis_killed)) -lt $((worker_kills + redis_kills)) ]; do
        runs=$((runs + 1))
        [ $runs -le $((worker_kills + redis_kills)) ] || fail "$1: $runs runs, and only $killed and $redis_killed kills"
        storm_run "$1-$runs" "$2"
    done
    echo "$1: $killed workers and $redis_killed Redis killed in $runs runs"
}

storm_run() { # folder name, workers; counts in the caller's killed and redis_killed
    local folder=$work/$1
    "$bin/graphmill" run "$pipeline" --directory "$folder" "${settings[@]}" --workers "$2" --lease 1000 --json \
        >"$work/answer" 2>"$work/progress" &
    local driver=$! hash victims
    until [ -e "$folder/redis/redis.pid" ] || ! kill -0 $driver 2>/dev/null; do sleep 0.02; done
    while kill -0 $driver 2>/dev/null && [ $((killed + redis_killed)) -lt $((worker_kills + redis_kills)) ]; do
        sleep "0.$(printf %03d $((RANDOM % 200 + 50)))"
        if [ $redis_killed -lt $redis_kills ] && [ $killed -ge $(((redis_killed + 1) * worker_kills / (redis_kills + 1))) ]; then
            kill -KILL "$(cat "$folder/redis/redis.pid")" 2>/dev/null && redis_killed=$((redis_killed + 1))
            continue
        fi
        mapfile -t victims < <(ps -o pid= -o comm= --ppid $driver | awk '$2 ~ /^graphmill-/ {print $1}')
        [ ${#victims[@]} -gt 0 ] || continue
        kill -KILL "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null && killed=$((killed + 1))
    done
    wait $driver || fail "$1: the run failed after $killed kills: $(tail -3 "$work/progress")"
    hash=$(json weights_hash <"$work/answer")
    [ "$hash" = "$peace" ] || fail "$1: the weights are $hash, in peace $peace"
    "$bin/graphmill" verify "$folder" | grep -q '^OK ' || fail "$1: verify does not say OK"
}
storm one-worker 1
storm two-workers 2

# Runs in $work/NAME until a third of the 300 rounds are done and sends the driver a signal; its exit status
# is in $status.
signalled_midway() { # name, signal
    local name=$1 driver
    "$bin/graphmill" run "$pipeline" --directory "$work/$name" "${settings[@]}" --json >/dev/null 2>"$work/progress" &
    driver=$!
    until compgen -G "$work/$name/store/run/*/weights/0000000[1-9][0-9][0-9].record" >/dev/null; do
        kill -0 $driver 2>/dev/null || fail "$name: over before it could be stopped: $(tail -3 "$work/progress")"
        sleep 0.01
    done
    kill "-$2" $driver
    status=0
    wait $driver || status=$?
}

# The driver itself killed, with all it started, and run again.
signalled_midway driver KILL
[ $status -eq 137 ] || fail "a killed run ended with $status, expected 137"
hash=$(run driver "$pipeline" "${settings[@]}" | json weights_hash)
[ "$hash" = "$peace" ] || fail "resumed after the death of the driver: $hash, in peace $peace"

# Stopped by SIGTERM it says that it can go on, and does.
signalled_midway stopped TERM
[ $status -eq 75 ] || fail "a stopped run ended with $status, expected 75: $(tail -3 "$work/progress")"
hash=$(run stopped "$pipeline" "${settings[@]}" | json weights_hash)
[ "$hash" = "$peace" ] || fail "resumed after SIGTERM: $hash, in peace $peace"
