#!/usr/bin/env bash
# More or fewer epochs continue from existing snapshots: the same weights, predictions and metrics
# as a run from scratch, without its rounds. If the schedule does not allow it, a run starts from
# the beginning, and gives the right weights too.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=300 --set sample.batch_size=20)
place=here

go_on() { answer=$(run $place "$pipeline" "${small[@]}" "$@") ||
    fail "$*: $answer"; id=$(json run <<<"$answer"); }
rounds_done() { find "$work/$place/store/run/$id/round" -mindepth 1 -maxdepth 1 2>/dev/null |
    wc -l; }
first_round() { find "$work/$place/store/run/$id/round" -mindepth 1 -maxdepth 1 2>/dev/null |
    sort | head -1 | sed 's/.*\/0*//'; }
# The newest run of `here` equals a run from scratch: as_from_scratch NAME settings...
as_from_scratch() {
    local name=$1
    shift
    run "$name" "$pipeline" "${small[@]}" "$@" >/dev/null || fail "$name"
    [ "$(outcome $place)" = "$(outcome "$name")" ] ||
        fail "$name: $(outcome $place), from scratch $(outcome "$name")"
    "$bin/graphmill" verify "$work/$place" >"$work/verified" ||
        fail "$name: $(cat "$work/verified")"
}

# 300 nodes, 90 of them for training, 20 in a batch, 2 batches a round: 3 rounds an epoch. Nothing
# is pruned, so that the trained rounds are visible.
keep=(--set checkpoint.keep=0)
go_on --set epochs=3 "${keep[@]}"
three=$id
hash=$(json weights_hash <<<"$answer")
go_on --set epochs=6 "${keep[@]}"
[ "$id" != "$three" ] && [ "$(first_round)" -eq 9 ] && [ "$(rounds_done)" -eq 9 ] ||
    fail "6 epochs after 3 trained $(rounds_done) rounds from $(first_round)"
as_from_scratch six --set epochs=6 "${keep[@]}"
grep -q ^MATCH <<<"$("$bin/graphmill" replay "$work/$place" train-step --round 17 --slot 0)" ||
    fail "a round after the snapshot does not replay"

# Going back to 3 finds the finished run; 5 is what 6 had after its fifth epoch, and nothing is left
# to train.
go_on --set epochs=3 "${keep[@]}"
[ "$id" = "$three" ] && [ "$(json weights_hash <<<"$answer")" = "$hash" ] ||
    fail "3 epochs again: $answer"
go_on --set epochs=5 "${keep[@]}"
[ "$(rounds_done)" -eq 0 ] || fail "5 epochs trained $(rounds_done) rounds"
as_from_scratch five --set epochs=5 "${keep[@]}"

# A run that was stopped in the middle, with snapshots pruned as usual.
place=stopped
"$bin/graphmill" run "$pipeline" --directory "$work/$place" "${small[@]}" \
    --quiet --set epochs=4000 >/dev/null 2>&1 &
driver=$!
snapshots() { find "$work/$place/store/run" -path '*/snapshot/*.record' 2>/dev/null |
    sed 's/.*\/0*//; s/\.record//' | sort -n || true; }
for ((i = 0; i < 600; i++)); do
    stood=$(snapshots | tail -1)
    [ "${stood:-0}" -lt 15 ] || break
    sleep 0.1
done
kill -TERM "$driver"
wait "$driver" && fail "it was not stopped"
# It reads the store and not metrics.jsonl: a busy machine stops the driver long after that was
# written
stood=$(snapshots | tail -1)
go_on --set epochs=$((stood / 3 + 10)) "${keep[@]}"
[ "$(rounds_done)" -eq 30 ] && [ "$(first_round)" -eq "$stood" ] ||
    fail "stopped at $stood, $(rounds_done) rounds from $(first_round)"
as_from_scratch whole --set epochs=$((stood / 3 + 10)) "${keep[@]}"
go_on --set epochs=$((stood / 3)) # its metrics may not have been written yet when it was stopped
as_from_scratch less --set epochs=$((stood / 3))
place=here

# A sibling with a damaged snapshot cannot be used, which only costs time.
place=damaged
go_on --set epochs=3
for file in "$work/$place/store/run/$id"/snapshot/*.record \
    "$work/$place/store/run/$id"/evaluation/*/result/*.record; do
    printf '\377' | dd of="$file" bs=1 seek=200 conv=notrunc status=none
done
go_on --set epochs=4
[ "$(json weights_hash <<<"$answer")" = "$(run sound "$pipeline" "${small[@]}" --set epochs=4 |
    json weights_hash)" ] || fail "after damage: $answer"
place=here

# Cases that do not allow it: a cosine schedule depends on the number of epochs, a last snapshot off
# the interval is not one of the longer run, and less patience might have stopped earlier.
for setting in aggregate.schedule=cosine checkpoint.every_epochs=2; do
    go_on --set "$setting" --set epochs=3 "${keep[@]}"
    go_on --set "$setting" --set epochs=4 "${keep[@]}"
    [ "$setting" = checkpoint.every_epochs=2 ] && from=6 || from=0
    [ "$(first_round)" = "${from/#0/}" ] ||
        fail "$setting: 4 epochs after 3 began at round $(first_round)"
    as_from_scratch "${setting%%.*}" --set "$setting" --set epochs=4 "${keep[@]}"
done
go_on --set epochs=12 --set checkpoint.patience=3 "${keep[@]}"
[ "$(first_round)" = "" ] || fail "patience after none began at round $(first_round)"
as_from_scratch patient --set epochs=12 --set checkpoint.patience=3 "${keep[@]}"
go_on --set epochs=12 --set checkpoint.patience=5 "${keep[@]}"
[ "$(first_round)" != "" ] || [ "$(rounds_done)" -eq 0 ] || fail "more patience began anew"
as_from_scratch more_patient --set epochs=12 --set checkpoint.patience=5 "${keep[@]}"
