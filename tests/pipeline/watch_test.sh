#!/usr/bin/env bash
# `graphmill watch`: updates in the order of their names, each once; triggers, the better model,
# refusals, incomplete updates, the end by a signal, kills. tests/faults (experiment `updates`)
# kills it at each call.
. "$(dirname "$0")/library.sh"

ring_graph "$work/g" && cd "$work/g"
# a model that one trained at an absurd rate cannot be as good as
sed -i 's/^epochs: 2/epochs: 20/' g.yaml
watch() { # NAME of the folder of updates and of the run's, options...
    "$bin/graphmill" watch "$work/$1.in" g.yaml --directory "$work/$1" --quiet "${@:2}"
}
# Makes an update that appears completely at once: arrive FOLDER NAME FILE TEXT [FILE TEXT]...
arrive() {
    local part=$1/.$2
    mkdir -p "$part"
    for ((i = 3; i < $#; i += 2)); do local text=$((i + 1)); printf "${!text}" >"$part/${!i}.csv"; \
        done
    mv "$part" "$1/$2"
}
said() { json "$2" <"$work/a.in/done/$1.json"; }

# Without a model the first one is trained. Then an update that triggers nothing, one that triggers
# training, one that does not fit, and an incomplete one.
mkdir "$work/a.in"
arrive "$work/a.in" 01 add-edges 'n5,n6\n'
arrive "$work/a.in" 02 add-nodes 'zoe,train,1\nyan,,\n' features 'zoe,1,0.5\nyan,2,0.5\nn5,0,0\n' \
    add-edges 'zoe,n1\nyan,zoe\n' remove-nodes 'n59\n'
arrive "$work/a.in" 03 add-edges 'nobody,n6\n'
arrive "$work/a.in" 04 add-edges 'n5,n6\n'
mkdir "$work/a.in/.05" "$work/a.in/06.partial"
trigger=(--set ingest.retrain_touched=0.4)
expect 65 'refused' watch a --once "${trigger[@]}"
grep -q '^01: version 1, .*; not trained: no figure has come to its threshold; run g-[^ ]* stays$' \
    "$work/stdout" || fail "01: $(cat "$work/stdout")"
grep -q '^02: version 2, 61 nodes (2 added, 1 removed), .*; trained: ingest.retrain_touched: .*; validation accuracy .*: kept the' "$work/stdout" || fail "02: $(cat "$work/stdout")"
grep -q "^03: refused: .*/03/add-edges.csv:1: .*'nobody'" "$work/stdout" ||
    fail "03: $(cat "$work/stdout")"
grep -q '^04: version 3, ' "$work/stdout" ||
    fail "04: the same update again is another one: $(cat "$work/stdout")"
[ "$(cd "$work/a.in" && echo * .[0-9]*)" = '06.partial done refused watch.json watch.lock .05' ] ||
    fail "left: $(ls -A "$work/a.in")"
[ "$(said 01 retrain)/$(said 02 retrain)" = false/true ] ||
    fail "retrain: $(cat "$work/a.in/done/"*.json)"
grep -q "nobody" "$work/a.in/refused/03.json" && [ -e "$work/a.in/refused/03/add-edges.csv" ] ||
    fail 'no reason beside what was refused'
[ "$("$bin/graphmill" status "$work/a" --json | sed 's/.*"run":"\([^"]*\)".*/\1/')" = \
    "$(said 04 model)" ] || fail 'the newest run is not the model that was kept'
[ "$(said 04 trained)/$(said 04 model)" = "$(said 02 model)/$(said 02 model)" ] ||
    fail 'another model than the one that was kept'

# Its results equal those of the commands one by one.
run b g.yaml >"$work/b.json"
for name in 01 02 04; do
    files=()
    for file in "$work/a.in/done/$name/"*; do file_name=$(basename "$file" .csv) &&
        files+=("--$file_name" "$file"); done
    "$bin/graphmill" update "$work/b" --quiet --json "${files[@]}" --base "$(said $name base)" \
        >"$work/version.json" # by the folder of the run
    [ "$(json dataset <"$work/version.json")" = "$(said $name dataset)" ] ||
        fail "$name: another version than update makes"
done
for record in $(cd "$work/a/store" &&
    find dataset -type f); do cmp "$work/a/store/$record" "$work/b/store/$record"; done

# The better model stays: one trained with an absurd rate does not replace it. Then the old model is
# that of the newest version.
cp -r "$work/a" "$work/c" && mkdir "$work/c.in"
model=$(said 04 model)
arrive "$work/c.in" 01 add-edges 'n7,n9\n'
arrive "$work/c.in" 02 add-edges 'n9,n11\n'
watch c --once --json --set ingest.retrain_touched=0.0001 --warm aggregate.learning_rate=100 \
    --warm epochs=1 --set ingest.retrain_valid_drop=1e-9 >"$work/c.txt"
for turn in 1 2; do
    sed -n ${turn}p "$work/c.txt" >"$work/line"
    [ "$(json kept <"$work/line")" = old ] ||
        [ "$(awk -v a="$(json new_valid <"$work/line")" -v b="$(json old_valid <"$work/line")" \
        'BEGIN {print (a >= b)}')" = 1 ] ||
        fail "the worse model was kept: $(cat "$work/line")"
done
sed -n 1p "$work/c.txt" >"$work/line"
[ "$(json kept <"$work/line")" = old ] ||
    fail "a rate of 100 makes a better model: $(cat "$work/line")"
[ "$(json trained <"$work/line")" = "$model" ] || fail "trained: $(cat "$work/line")"
[ "$(sed -n 2p "$work/c.txt" | json trained)" = "$(json model <"$work/line")" ] ||
    fail 'the next update does not begin from what was kept'
weights() { "$bin/graphmill" export "$1" --run "$2" --output "$work/$2.safetensors" >/dev/null &&
    tail -c +$((9 + $(od -An -tu8 -N8 "$work/$2.safetensors"))) "$work/$2.safetensors"; }
cmp <(weights "$work/c" "$model") <(weights "$work/c" "$(json model <"$work/line")") ||
    fail 'the model that was kept has other weights'
[ "$(tail -n +2 "$work/c/outputs/predictions.csv" | wc -l)" = 61 ] ||
    fail 'no prediction for each node'
grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/c")" || fail verify

# Features with another meaning: the evaluated model is worse by more than the threshold.
mkdir "$work/d.in" && cp -r "$work/a" "$work/d"
moved=$(awk -F, '{printf "%s,%s,%s\\n", $1, 2 - $2, $3}' rows.csv |
    sed 's/n59,[^n]*n//; s/n59,[^\\]*\\n//')
arrive "$work/d.in" moved features "$moved"
watch d --once --json --set ingest.retrain_valid_drop=0.01 --set epochs=20 >"$work/d.json"
[ "$(json retrain <"$work/d.json")/$(json metric <"$work/d.json")" = true/accuracy ] ||
    fail "moved: $(cat "$work/d.json")"
grep -q 'ingest.retrain_valid_drop: .*, from 0.01 on' "$work/d.json" ||
    fail "moved: $(cat "$work/d.json")"
[ "$(awk -v d="$(json valid_drop <"$work/d.json")" -v b="$(json valid_before <"$work/d.json")" \
    -v n="$(json valid_now <"$work/d.json")" \
    'BEGIN {e = b - n - d; print (d > 0 && e < 1e-9 && e > -1e-9)}')" = 1 ] ||
    fail "the drop: $(cat "$work/d.json")"

# A name can be used once; a file that belongs to no update, two of one kind, and an empty update
# are refused, and the rest continues.
arrive "$work/a.in" 01 add-edges 'n1,n2\n'
arrive "$work/a.in" 10 add-eges 'n1,n2\n'
arrive "$work/a.in" 11
arrive "$work/a.in" 12 add-edges 'n1,n2\n' &&
    cp "$work/a.in/12/add-edges.csv" "$work/a.in/12/add-edges.txt"
arrive "$work/a.in" 13 remove-edges 'n0,n59\n'
arrive "$work/a.in" 14 add-nodes 'n1\n'
arrive "$work/a.in" 15 features 'n1,1,2,3\n'
arrive "$work/a.in" 16 add-edges 'n1,n2\n'
arrive "$work/a.in" 17 add-edges 'n1,nobody\n'
expect 65 'updates that were refused: 8' watch a --once
for reason in '01.*an update of this name was applied before' \
    '10.*add-eges.csv: expected a file called add-edges' \
    '11.*expected a file such as add-edges.csv' \
    '12.*expected one file of this name' "13.*remove-edges.csv:1: .*'n59'" \
    "14.*add-nodes.csv:1: node 'n1' is there already" '15.*features.csv:1: .*expected 2'; do
    grep -qE "^$reason" "$work/stdout" || fail "not refused as '$reason': $(cat "$work/stdout")"
done
grep -q '^16: version 4, ' "$work/stdout" || fail "the rest did not go on: $(cat "$work/stdout")"
# The last one was refused, and changed nothing: the folder does not show a failed ingest.
! [ -e "$work/a/state" ] || fail "a refused update is the state of the folder: $(cat \
    "$work/a/state")"

# It waits, processes what arrives, and ends by SIGTERM with status 0; nobody else may watch
# meanwhile.
"$bin/graphmill" watch "$work/a.in" g.yaml --directory "$work/a" --quiet --every 1 >"$work/live" \
    2>&1 &
watcher=$!
started+=($watcher)
sleep 0.5
expect 75 'another graphmill watch' watch a --once
arrive "$work/a.in" 20 add-edges 'n1,n3\n'
for _ in $(seq 300); do [ -e "$work/a.in/done/20" ] && break; sleep 0.1; done
kill -TERM $watcher
status=0 && wait $watcher || status=$?
[ $status -eq 0 ] || fail "ended by SIGTERM with $status: $(cat "$work/live")"
grep -q '^20: version 5, ' "$work/live" || fail "what came was not taken: $(cat "$work/live")"

# Stopped in the middle of its work: 75, and the same command resumes.
mkdir "$work/e.in"
arrive "$work/e.in" 01 add-edges 'n5,n6\n'
status=0
timeout -s TERM 0.7 "$bin/graphmill" watch "$work/e.in" g.yaml --directory "$work/e" \
    --quiet --once --set epochs=400 >"$work/stdout" 2>"$work/stderr" || status=$?
[ $status -eq 124 ] || fail "stopped in mid-training with $status" # timeout's word; its own:
"$bin/graphmill" watch "$work/e.in" g.yaml --directory "$work/e" --quiet --once --set epochs=400 \
    >"$work/stdout" 2>"$work/stderr" &
watcher=$!
sleep 0.4
kill -INT $watcher
status=0 && wait $watcher || status=$?
[ $status -eq 75 ] || fail "stopped by SIGINT with $status, expected 75: $(cat "$work/stderr")"
watch e --once --set epochs=4 >"$work/stdout"
grep -q '^01: version 1, ' "$work/stdout" || fail "it does not go on: $(cat "$work/stdout")"

# Killed at any moment, an update is applied once; a version that somebody else makes in between
# does no harm.
for pause in 0.05 0.1 0.2 0.4 0.8; do
    rm -rf "$work/k" "$work/k.in"
    cp -r "$work/b" "$work/k" && mkdir "$work/k.in"
    arrive "$work/k.in" 01 add-edges 'n1,n2\n'
    timeout -s KILL $pause "$bin/graphmill" watch "$work/k.in" g.yaml --directory "$work/k" \
        --quiet --once >/dev/null 2>&1 || true
    printf 'n3,n4\n' >between && printf 'n1,1,1\n' >last
    "$bin/graphmill" update g.yaml --directory "$work/k" --quiet --add-edges between >/dev/null
    watch k --once >/dev/null
    "$bin/graphmill" update "$work/k" --quiet --json --features last >"$work/k.json"
    [ "$(json version <"$work/k.json")" = 6 ] ||
        fail "killed after $pause s: expected the sixth version, found $(json version \
        <"$work/k.json")"
done

# A pipeline file in the folder of updates; impossible settings are reported first.
cp g.yaml edges.csv labels.csv rows.csv "$work/e.in" &&
    mv "$work/e.in/g.yaml" "$work/e.in/pipeline.yaml"
"$bin/graphmill" watch "$work/e.in" --once --quiet --directory "$work/f" >"$work/stdout" ||
    fail 'no pipeline file in the folder'
expect 64 'name the dataset' "$bin/graphmill" watch "$work/c.in"
expect 64 'takes FOLDER and DATASET' "$bin/graphmill" watch
expect 65 'expected a folder in which updates arrive' "$bin/graphmill" watch "$work/nothing" g.yaml
expect 78 'ingest.retrain_valid_drop' watch c --once --set ingest.retrain_valid_drop=-1
expect 65 'expected the folder of a run' "$bin/graphmill" update "$work/c.in" --add-edges between
