#!/usr/bin/env bash
# Training that begins with the weights of another run: what depends on it, what it no longer needs,
# damage, kills, and models that do not fit.
. "$(dirname "$0")/library.sh"

ring_graph "$work/g" && cd "$work/g"
printf 'checkpoint: {keep: 0}\n' >>g.yaml
hash() { json weights_hash <"$work/$1.json"; }
run cold g.yaml >"$work/cold.json"
first_loss() { sed -n 's/.*"train_loss":\([0-9.]*\).*/\1/p' "$work/$1/metrics.jsonl" | sed -n 1p; }
before=$(first_loss cold)
run warm g.yaml --set "train-step.initial=$work/cold" >"$work/warm.json"
id=$(json run <"$work/warm.json")
[ "$(hash cold)" != "$(hash warm)" ] || fail 'the weights are those of the run before'

# From the file of the model, from the pipeline file's folder, or as a run of the same folder: the
# same run, bit for bit.
run file g.yaml --set "train-step.initial=$work/cold/outputs/model.safetensors" >"$work/file.json"
cp -r "$work/cold" here && cp -r here "$work/same"
(cd / && run place "$work/g/g.yaml" --set train-step.initial=here >"$work/place.json")
run same g.yaml --set "train-step.initial=$(json run <"$work/cold.json")" >"$work/same.json"
for name in file place same; do
    [ "$(hash $name)/$(json run <"$work/$name.json")" = "$(hash warm)/$id" ] ||
        fail "$name: $(cat "$work/$name.json")"
done

[[ $("$bin/graphmill" run g.yaml --directory "$work/warm" \
    --dry-run --set "train-step.initial=$work/cold") == *'train      unchanged'* ]] ||
    fail 'the preview knows no warm run'

# It begins where the other one ended: its first loss is below that of a run from scratch.
awk -v cold="$before" -v warm="$(first_loss warm)" 'BEGIN {exit !(warm > 0 && warm < cold)}' ||
    fail "first loss: $before, warm $(first_loss warm)"

# Every unit replays; the initial weights are a record of their own, which is needed when nothing
# else is left of the run.
for unit in 'aggregate --initial' 'train-step --round 0' 'aggregate --round 0'; do
    grep -q '^MATCH' <<<"$("$bin/graphmill" replay "$work/warm" $unit)" || fail "replay of $unit"
done
rm -rf "$work/warm/store/run/$id/"{weights,optimizer,snapshot,round,outputs*} \
    "$work/warm/store/switch/run/$id"
run warm g.yaml --set "train-step.initial=$work/cold" >"$work/again.json"
[ "$(hash again)" = "$(hash warm)" ] || fail 'other weights from the start'

# A damaged record is named, and is made again by the next start.
printf x | dd of="$work/warm/store/run/$id/initial.record" bs=1 seek=200 conv=notrunc status=none
expect 65 'initial' "$bin/graphmill" verify "$work/warm" --remove
run warm g.yaml --set "train-step.initial=$work/cold" >"$work/again.json"
[ -e "$work/warm/store/run/$id/initial.record" ] ||
    fail 'the weights that it began with are not there again'
grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/warm")" || fail verify

# Killed at any moment, it ends with the same results.
for pause in 0.05 0.15 0.3 0.5; do
    rm -rf "$work/killed"
    timeout -s KILL $pause "$bin/graphmill" run g.yaml --directory "$work/killed" \
        --quiet --set "train-step.initial=$work/cold" >/dev/null 2>&1 || true
    run killed g.yaml --set "train-step.initial=$work/cold" >"$work/killed.json"
    [ "$(hash killed)" = "$(hash warm)" ] || fail "killed after $pause s: other weights"
done

# Differences are reported before the graph is partitioned.
bad() { # status, what is said, options
    rm -rf "$work/bad"
    expect "$1" "$2" run bad g.yaml "${@:3}"
    [ ! -e "$work/bad/store/partition" ] || fail "partitioned before '$2'"
}
awk 'BEGIN {for (v = 0; v < 60; v++) print "n" v "," v % 3 "," v % 5 / 4 ",1"}' >wide.csv
awk 'BEGIN {for (v = 0; v < 60; v++) print "n" v "," v % 4}' >four.csv
cold=train-step.initial=$work/cold
bad 65 'train-step.initial: .*does not fit the model of run g-.*: 3 feature columns, expected 2' \
    --set "$cold" --set ingest.features=wide.csv
bad 65 '4 classes, expected 3' --set "$cold" --set ingest.labels=four.csv
bad 65 'the settings make another model than that of run g-.*line 1 of the parameter table: expected .* 9.*, found .* 8' --set "$cold" --set train-step.hidden=9
bad 65 'the settings make another model' --set "$cold" --set train-step.model=gat
bad 65 "train-step.initial is 'nowhere': expected the folder of a run" \
    --set train-step.initial=nowhere
bad 65 'g.yaml' --set train-step.initial=g.yaml
bad 78 'train-step.initial is .*, expected none with train-step.embedding' --set "$cold" \
    --set train-step.embedding=4
sed "s|hidden: 8|hidden: 8, initial: $work/cold|" g.yaml >warm.yaml
"$bin/graphmill-ingest" --store "$work/alone" --pipeline warm.yaml >/dev/null
expect 78 'expected a run that graphmill run or graphmill start began' "$bin/graphmill-partition" \
    --store "$work/alone" --pipeline warm.yaml --start
[ ! -e "$work/alone/partition" ] || fail 'partitioned before train-step.initial was looked at'
