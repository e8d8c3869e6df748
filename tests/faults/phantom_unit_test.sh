#!/usr/bin/env bash
# The queues of a run get units that nobody asked for: too early, of another run, of another stage,
# of slots and parts that do not exist, and malformed names. The run ends by itself with the weights
# and every output of an undisturbed one, and its store has no layer or output of other weights.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null && command -v redis-cli >/dev/null ||
    { echo "skipped: no redis-server and redis-cli"; exit 77; }
pipeline=$source_folder/pipelines/quickstart.yaml
epochs=250 # long enough for some turns on a quick machine
settings=(--set ingest.nodes=1500 --set epochs=$epochs --set sample.batch_size=100 --workers 2)
peace=$(run peace "$pipeline" "${settings[@]}")

socket=$work/redis.sock
redis-server --port 0 --unixsocket "$socket" --dir "$work" --save '' >"$work/redis.log" &
redis=$!
leave() { # with the status that finish() looks at
    local status=$?
    set +e
    kill $redis 2>/dev/null
    return $status
}
trap 'leave; finish' EXIT
ask() { redis-cli -s "$socket" --raw "$@"; }
until ask ping >"$work/pong" 2>&1; do sleep 0.05; kill -0 $redis || fail "no Redis"; done

run storm "$pipeline" "${settings[@]}" --redis "unix:$socket" >"$work/answer" 2>"$work/storm.err" &
driver=$!
sent=0
send() { # stage, units: behind what waits there
    local stage=$1 unit
    shift
    for unit in "$@"; do
        ask xadd "${stem}queue:$stage" '*' unit "$unit" >/dev/null
        sent=$((sent + 1))
    done
}
# Prints the newest snapshot's version, from the names of its records.
newest() {
    local name
    name=$({ find "$work/storm/store/run" -path '*/snapshot/*.record' 2>/dev/null || true; } |
        sort | tail -1) # some vanish
    name=${name##*/}
    name=${name%.record}
    [ -z "$name" ] || echo $((10#$name))
}
until version=$(newest) && [ -n "$version" ]; do sleep 0.01; kill -0 $driver ||
    fail "the run ended: $(tail -3 "$work/storm.err")"; done
stem=$(ask keys '*:life' | sed 's/life$//')
[ -n "$stem" ] || fail "no queue in Redis"
rounds=$((version * epochs)) # one snapshot an epoch: the first is of the rounds of one
turns=0
while kill -0 $driver 2>/dev/null && [ $turns -lt 25 ]; do
    version=$(newest)
    send infer "infer/$version/1/0" "infer/$version/2/1" "outputs/$version" "infer/$rounds/1/0" \
        "infer/$rounds/2/0" \
        "outputs/$rounds" "infer/$rounds/1/70000" "infer/$rounds/9/0" infer/1/0 outputs \
        "train-step/$version/0"
    send checkpoint "checkpoint/$rounds" checkpoint/1000000 checkpoint/0 sample/0/0
    send aggregate "aggregate/$((rounds - 1))" "aggregate/$((version + 1))" aggregate/1000000 \
        initialise
    send train-step "train-step/$((rounds - 1))/0" train-step/0/0 train-step/0/70000 \
        "evaluate/$rounds/0" evaluate/1000000/0
    send sample "sample/$((rounds - 1))/0" sample/0/70000 sample/1000000/0 sample-evaluation/70000 \
        nonsense
    turns=$((turns + 1))
    sleep 0.1
done
wait $driver || fail "the driver ended with $?: $(tail -3 "$work/storm.err")"
[ $turns -ge 3 ] || fail "the run was over after $turns turns: nothing was shown"

for key in weights_hash weights_version rounds; do
    [ "$(json $key <"$work/answer")" = "$(json $key <<<"$peace")" ] ||
        fail "$key: $(cat "$work/answer"), in peace $peace"
done
for file in "$work"/peace/outputs/*; do
    cmp -s "$file" "$work/storm/outputs/${file##*/}" || fail "${file##*/} differs"
done
made=$(cd "$work/storm/store/run"/* && ls -d infer/* outputs/* | sed 's/_seal.record//' | sort -u)
used=$(printf '%010d' "$(json weights_version <"$work/answer")")
[ "$made" = "infer/$used"$'\n'"outputs/$used" ] ||
    fail "expected layers and outputs of weights $used, found: $made"
"$bin/graphmill" verify "$work/storm" >"$work/verified" || fail "verify: $(cat "$work/verified")"
echo "phantom units: $sent in $turns turns, 0 wrong outputs"
