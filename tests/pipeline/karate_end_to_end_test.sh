#!/usr/bin/env bash
# The smallest graph through every stage: the outputs exist and are right, every unit replays, a
# second run skips.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml

answer=$(run karate "$pipeline" --set checkpoint.keep=0)
hash=$(json weights_hash <<<"$answer")
[ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"

outputs=$work/karate/outputs
for file in model.safetensors embeddings.npy predictions.csv metrics.json; do
    [ -s "$outputs/$file" ] || fail "outputs/$file is missing"
done
[ "$(head -1 "$outputs/predictions.csv")" = node,split,label,prediction,probability ] ||
    fail "header of predictions.csv"
[ "$(wc -l <"$outputs/predictions.csv")" -eq 35 ] || fail "predictions.csv has not 34 rows"
cut -d, -f1 "$outputs/predictions.csv" | tail -n +2 | cmp -s - <(seq 0 33) ||
    fail "predictions are not in the order of the input"
cut -d, -f3 "$outputs/predictions.csv" | tail -n +2 |
    cmp -s - "$source_folder/tests/data/karate/node-label.csv" ||
    fail "labels do not belong to their nodes"
# A person sees only the log of a Job, so the log of the worker that wrote the outputs has the
# result, too.
grep -q "weights hash   $hash" "$work"/karate/logs/infer-*.log ||
    fail "infer's log has no weights hash"
grep -qE "test +accuracy 0\.[0-9]{4}" "$work"/karate/logs/infer-*.log ||
    fail "infer's log has no accuracy"
[ -s "$work/karate/metrics.jsonl" ] || fail "metrics.jsonl is missing"
# The file is made from stored records: after deletion it comes back.
cp "$work/karate/metrics.jsonl" "$work/metrics"
rm "$work"/karate/store/logs/*/metrics.jsonl
run karate "$pipeline" --set checkpoint.keep=0 >/dev/null
cmp "$work/metrics" "$work/karate/metrics.jsonl" || fail "metrics.jsonl came back otherwise"

# Every unit of every stage computes the same bits again.
replays karate ingest
replays karate partition
replays karate aggregate --initial
replays karate sample --evaluation --slot 0
for round in 0 7 29; do
    replays karate sample --round $round --slot 0
    replays karate train-step --round $round --slot 0
    replays karate aggregate --round $round
    replays karate checkpoint --round $((round + 1))
    replays karate train-step --evaluation --round $((round + 1)) --slot 0
done
for layer in 1 2; do for part in 0 1; do replays karate infer --layer $layer --part $part; done; \
    done
replays karate infer

grep -q '^OK ' <<<"$("$bin/graphmill" verify "$work/karate")" || fail "verify does not say OK"

# The same command again: nothing is computed, the answer is the same.
"$bin/graphmill" run "$pipeline" --directory "$work/karate" --set checkpoint.keep=0 \
    2>"$work/again" >/dev/null
[ "$(grep -c unchanged "$work/again")" -ge 3 ] ||
    fail "a second run does not say that nothing changed: $(cat "$work/again")"

# The same in another folder, with other threads and more workers.
other=$(run other "$pipeline" --set checkpoint.keep=0 --workers 3 --threads 1 | json weights_hash)
[ "$other" = "$hash" ] || fail "three workers give $other, one gave $hash"

# A stored input with one bit flipped is named.
record=$(find "$work/karate/store" -path '*round/0000000007/slot/00000/mini_batch*' -type f)
[ -n "$record" ] || fail "no mini-batch of round 7"
chmod u+w "$record"
printf "$(printf '\\%03o' $(($(od -An -tu1 -j200 -N1 "$record") ^ 1)))" |
    dd of="$record" bs=1 seek=200 conv=notrunc status=none
expect 65 'round/0000000007/slot/00000/mini_batch' "$bin/graphmill" replay "$work/karate" \
    train-step --round 7 --slot 0
expect 65 'round/0000000007/slot/00000/mini_batch' "$bin/graphmill" verify "$work/karate"
