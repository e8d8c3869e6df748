#!/usr/bin/env bash
# Damages every kind of file of a run's folder, finished and unfinished: deletes it, truncates it,
# flips a bit, or exchanges it with another file of its kind. verify names the damage and ends with
# 65. `verify --remove` and the same `run` make the file again, and the weights and all outputs
# equal those of an undisturbed run. They also do without verify wherever a run can detect the loss
# itself.
#
#   FAULTS=large   every damage of every kind, with more files of each (about 20 minutes); otherwise
#                  one damage of each kind
#   SEED=N         chooses the damage and the file of a kind (default 1)
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml
settings=(--set epochs=8 --set checkpoint.keep=2 --set partition.parts=2)
seed=${SEED:-1}

# Flips a bit of the byte two thirds into a file.
flip() {
    local at=$(($(stat -c %s "$1") * 2 / 3))
    printf "$(printf '\\%03o' $(($(od -An -tu1 -j$at -N1 "$1") ^ 1)))" |
        dd of="$1" bs=1 seek=$at conv=notrunc status=none
}

# Prints the results of a run, the hash of its weights and of every output file: answer NAME
answer() {
    run "$1" "$pipeline" "${settings[@]}" | json weights_hash &&
        (cd "$work/$1/outputs/" && sha256sum -- *)
}

# Prints a path without ids and numbers, so that files of one kind have one name.
kind_of() { sed -E 's#(dataset|partition|run|current/[a-z]*)/[^/]*#\1/ID#; s#[0-9]{3,}#N#g' \
    <<<"$1"; }

# Makes a fresh copy of $work/$1 as $work/hurt, which `hurt` and the cases below change.
copy() {
    rm -rf "${work:?}/hurt"
    cp -r "$work/$1" "$work/hurt"
    chmod -R u+w "$work/hurt"
}

# Damages a file: hurt DAMAGE FILE OTHER; FILE and OTHER are paths in $work/hurt. Fails when there
# is nothing to damage.
hurt() {
    case $1 in
    delete) rm "$work/hurt/$2" ;;
    cut) [ -s "$work/hurt/$2" ] && truncate -s $(($(stat -c %s "$work/hurt/$2") / 2)) \
        "$work/hurt/$2" ;;
    flip) [ -s "$work/hurt/$2" ] && flip "$work/hurt/$2" ;;
    swap) [ "$2" != "$3" ] && ! cmp -s "$work/hurt/$2" "$work/hurt/$3" &&
        cp "$work/hurt/$3" "$work/hurt/$2" ;;
    esac
}

# After the damage that $* names, verify must find it, and a run must repair it; $expected has the
# right answer.
mends() {
    local status=0
    "$bin/graphmill" verify "$work/hurt" >"$work/found" 2>&1 || status=$?
    [ $status -eq 65 ] || fail "$*: verify ended with $status: $(tail -2 "$work/found")"
    "$bin/graphmill" verify "$work/hurt" --remove >"$work/removed" 2>&1 || status=$?
    [ $status -eq 65 ] || fail "$*: verify --remove ended with $status: $(tail -2 "$work/removed")"
    runs_right "$*"
    "$bin/graphmill" verify "$work/hurt" >"$work/verified" 2>&1 ||
        fail "$*: still damaged: $(cat "$work/verified")"
}
runs_right() {
    answer hurt >"$work/answer" 2>"$work/run.log" || fail "$*: no run: $(cat "$work/run.log")"
    cmp -s "$expected" "$work/answer" ||
        fail "$*: other weights or outputs: $(diff "$expected" "$work/answer")"
}
trials=0

# Returns whether the run keeps the round or version of a path: rounds before those that it prunes
# are gone, and rounds after its current snapshot are made again when the run continues.
is_kept() {
    local number version oldest rest
    number=$(grep -oE '/[0-9]{10}' <<<"$1" | tail -1)
    [[ $1 = ./store/run/* && -n $number && $1 != */infer/* && $1 != */outputs/* ]] || return 0
    read -r version oldest rest <"$(echo "$work/hurt/store/switch/run/"*/current_snapshot)"
    number=$((10#${number#/}))
    ((number >= oldest && number < version))
}

# Damages every kind of file of $work/$1 in turn.
every_kind() {
    local path kind files other damage n=0 damages=(delete cut flip swap) chosen
    declare -A of_kind=()
    while read -r path; do
        kind=$(kind_of "$path")
        of_kind[$kind]+="$path "
    done < <(cd "$work/$1" && find . -type f | sort)
    while read -r kind; do
        read -ra files <<<"${of_kind[$kind]}"
        n=$((n + 1))
        chosen=("${damages[@]}")
        [ "${FAULTS:-small}" = large ] ||
            chosen=("${damages[(n + seed) % 4]}" "${damages[(n + seed + 1) % 4]}")
        for damage in "${chosen[@]}"; do
            path=${files[(n * 7 + seed * 3) % ${#files[@]}]}
            other=${files[(n * 7 + seed * 3 + 1) % ${#files[@]}]}
            copy "$1"
            hurt "$damage" "$path" "$other" || continue
            trials=$((trials + 1))
            case $kind:$damage in
            ./store/tmp/* | ./logs/* | ./times/* | ./redis/* | ./lock:* | ./state:* | ./redis.url:* | ./pipeline.json:* | ./metrics.jsonl:* | ./report.html:* | ./store/logs/*) # no part of the result
                runs_right "$1: $damage $path" ;;
            */current_snapshot:delete) mends "$1: $damage $path" ;;
            ./store/identity.record:delete) # made anew by the first who asks
                runs_right "$1: $damage $path" ;;
            ./store/switch/*:delete) # which others there should be is known to nobody
                runs_right "$1: $damage $path" ;;
            *:delete) if is_kept "$path"; then mends "$1: $damage $path"; else runs_right \
                "$1: $damage $path"; fi ;;
            *) mends "$1: $damage $path" ;;
            esac
            [ "${FAULTS:-small}" = large ] || break
        done
    done < <(printf '%s\n' "${!of_kind[@]}" | sort)
}

# --- a finished run ---

expected=$work/expected
answer whole >"$expected"
"$bin/graphmill" verify "$work/whole" >"$work/verified" ||
    fail "a sound store: $(cat "$work/verified")"
grep -q "^OK run=karate-[0-9a-f]* partition=[^ *]* dataset=[^ *]* records=" "$work/verified" ||
    fail "verify says $(cat "$work/verified")"
every_kind whole
echo "finished: $trials files damaged, 0 other results"

# Much of what training depends on is damaged at once: the run itself returns to an intact state,
# with and without verify.
position() { echo "$work/hurt/store/switch/run/"*/current_snapshot; }
snapshots() { find "$work/hurt/store" -path '*/snapshot/*' | sort; }
cases=('flip "$(snapshots | tail -1)"' 'rm "$(snapshots | tail -1)"' 'rm $(snapshots)' \
    'flip "$(position)"'
    ': >"$(position)"' 'echo 7 >"$(position)"' 'rm "$(position)" $(snapshots)' \
        'rm -r "$work"/hurt/store/run/*'
    'rm -r "$work"/hurt/store/run/*/round' 'rm -r "$work"/hurt/store/run/*/{round,snapshot,weights}'
    'rm "$work"/hurt/outputs/metrics.json' 'flip "$work"/hurt/outputs/predictions.csv' \
        'rm -r "$work"/hurt/store/run/*/outputs'
    'rm -r "$work"/hurt/store/{run,partition}/*' 'rm -r "$work"/hurt/store/{dataset,switch}/*'
    'flip "$(position)"; flip "$(snapshots | tail -1)"' \
        'rm -r "$work"/hurt/{logs,times,outputs,metrics.jsonl,report.html}')
for case in "${cases[@]}"; do
    for verified in yes no; do
        copy whole
        eval "$case"
        [ $verified = no ] || "$bin/graphmill" verify "$work/hurt" --remove >/dev/null 2>&1 || true
        runs_right "$case (verified: $verified)"
        grep -q "^[1-9][0-9]* [0-9]* v1:[0-9a-f]*$" "$(position)" ||
            fail "$case: the switch is '$(cat "$(position)")'"
    done
done

# A record that says what must exist is lost together with some of that: one verify --remove and one
# run are enough.
one() { find "$work/hurt/store" -path "*/run/*/$1*" | sort | tail -1; }
book() { echo "$work/hurt/store/partition/"*/book.record; }
plan() { echo "$work/hurt/store/run/"*/plan.record; }
schema() { echo "$work/hurt/store/dataset/"*/schema.record; }
together=('flip "$(book)"; flip "$(one round/*/mini_batch)"' \
    'rm "$(book)"; rm "$(one evaluation/*/result/)"'
    'rm "$(plan)"; cut "$(one round/*/gradient)"' \
        'flip "$(plan)"; rm "$(one weights/)"; flip "$(one optimizer/)"'
    'rm "$(plan)" "$(book)" "$(schema)"; flip "$(snapshots | tail -1)"; rm "$(one evaluation/00000/mini_batch)"'
    'flip "$(book)"; rm -r "$work"/hurt/store/run/*/round; flip "$(one infer/*/part/*/shard_seal)"')
cut() { truncate -s $(($(stat -c %s "$1") / 2)) "$1"; }
for case in "${together[@]}"; do
    copy whole
    eval "$case"
    mends "$case"
done

# The newest run is found without its ref, as long as it is the only run.
copy whole
for damage in 'echo x >' 'rm'; do
    eval "$damage \"$work/hurt/store/switch/current/run/newest\""
    "$bin/graphmill" export "$work/hurt" --output "$work/model" >/dev/null 2>"$work/stderr" ||
        fail "$damage the switch of the newest run: $(cat "$work/stderr")"
done

# With several runs in one folder, verify reads all of them, or the requested one.
copy whole
older=$(basename "$work/hurt/store/run/"*)
run hurt "$pipeline" --set epochs=3 --set seed=9 --set ingest.random_dim=8 >/dev/null
newer=$(ls "$work/hurt/store/run" | grep -v "$older")
flip "$(find "$work/hurt/store/dataset" -path '*/edges/*' | sort | head -1)"
"$bin/graphmill" verify "$work/hurt" >"$work/verified" 2>&1 &&
    fail "a damaged dataset beside another is passed over"
grep -q "run=.*$older" "$work/verified" && grep -q "run=.*$newer" "$work/verified" ||
    fail "verify does not name both runs"
found=$(for id in "$older" "$newer"; do "$bin/graphmill" verify "$work/hurt" --run "$id" \
    >/dev/null 2>&1 && echo whole || echo damaged; done)
[ "$(sort <<<"$found" | tr '\n' ' ')" = 'damaged whole ' ] ||
    fail "one of two runs stands on the damaged dataset, found $found"
expect 65 'nosuch' "$bin/graphmill" verify "$work/hurt" --run nosuch

# A store with a dataset and a partition but no run: intact, and with an unreadable shard.
copy whole
rm -r "$work"/hurt/store/{run,switch/run,switch/current/run}
"$bin/graphmill" verify "$work/hurt" >"$work/verified" || fail "no run: $(cat "$work/verified")"
grep -q '^OK run=none partition=karate' "$work/verified" ||
    fail "no run: verify says $(cat "$work/verified")"
rm "$work"/hurt/store/partition/*/book.record # half a partition
flip "$(find "$work/hurt/store/partition" -name '*.sst' | head -1)"
mends 'half a partition, a damaged shard'
copy whole
rm -r "$work"/hurt/store/{run,partition,switch}
flip "$work"/hurt/store/dataset/*/labels.record
mends 'a dataset alone, damaged labels'

# --- one that was killed ---

# Makes a run that is killed after its twentieth snapshot: kill_midway NAME. On a fast machine it
# may end before the kill; then it is repeated. A longer run would make every trial below longer.
kill_midway() {
    local driver try
    for try in 1 2 3 4 5; do
        rm -rf "${work:?}/$1"
        "$bin/graphmill" run "$pipeline" --directory "$work/$1" "${settings[@]}" \
            --quiet >/dev/null 2>&1 &
        driver=$!
        until [ -n "$(find "$work/$1/store" -path '*/snapshot/000000002*' 2>/dev/null)" ] ||
            ! kill -0 $driver 2>/dev/null; do
            sleep 0.01
        done
        if kill -KILL $driver 2>/dev/null; then
            wait $driver 2>/dev/null || true
            sleep 0.5 # its children end by themselves
            [ -e "$work/$1/outputs/metrics.json" ] || return 0
        fi
        wait $driver 2>/dev/null || true
    done
    fail "each of 5 runs ended before it was killed"
}

settings[1]=epochs=90
answer peace >"$expected"
kill_midway killed
trials=0
every_kind killed
echo "killed: $trials files damaged, 0 other results"

# Damage in records that the next rounds read, without verify: the workers make them again.
copy killed
for kind in weights optimizer gradient mini_batch snapshot evaluation/00000/mini_batch; do
    flip "$(find "$work/hurt/store" -type f -path "*/run/*/$kind*" | sort | tail -1)"
done
runs_right 'killed: the newest records'

# The same with sampling passes that serve several epochs.
settings+=(--set sample.reuse_epochs=3)
answer peace >"$expected"
kill_midway reused
copy reused
find "$work/hurt/store" -name 'mini_batch*' | while read -r path; do flip "$path"; done
runs_right 'reused: every mini-batch'
