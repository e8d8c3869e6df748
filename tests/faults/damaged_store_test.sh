#!/usr/bin/env bash
# One byte flipped, or a file gone, in every kind of stored thing: verify names each and ends with 65, `verify --remove`
# and the same `run` again make them anew, and the weights keep their bits. Damage in the middle of a run heals or is
# named.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml
settings=(--set checkpoint.keep=0 --set epochs=10)

# Flips a bit of the byte two thirds into a file.
flip() {
    local at=$(($(stat -c %s "$1") * 2 / 3))
    chmod u+w "$1"
    printf "$(printf '\\%03o' $(($(od -An -tu1 -j$at -N1 "$1") ^ 1)))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
}
# The first file under the store of $work/$name whose path matches.
stored() {
    local path
    path=$(find "$work/$name/store" -type f -path "$1" | sort | head -1)
    [ -n "$path" ] || fail "nothing stored matches $1"
    echo "$path"
}
key_of() { sed "s,^$work/$name/store/,,; s,\.record$,,; s,/shard/.*,/shard,; s,/outputs/\([^/]*\)/.*,/outputs/\1," <<<"$1"; }

hash=$(run whole "$pipeline" "${settings[@]}" | json weights_hash)
[ ${#hash} -eq 32 ] || fail "no hash of the weights"

heals() { # how it was damaged
    expect 65 'verify --remove' "$bin/graphmill" verify "$work/$name"
    "$bin/graphmill" verify "$work/$name" --remove >/dev/null 2>&1 || true
    local found
    found=$(run "$name" "$pipeline" "${settings[@]}" | json weights_hash) || fail "$1: no run after verify --remove"
    [ "$found" = "$hash" ] || fail "$1: mended to weights $found, before $hash"
    "$bin/graphmill" verify "$work/$name" >"$work/verified" || fail "$1: still damaged: $(cat "$work/verified")"
}

# What holds up a run: each alone stops the driver or is passed over, all together are named and mended.
kinds=('*/dataset/*/edges/*' '*/dataset/*/features/*' '*/dataset/*/labels*' '*/dataset/*/splits*'
    '*/partition/*/assignment*' '*/partition/*/splits*' '*/partition/*/report*' '*/partition/*/topology'
    '*/partition/*/0000000001/topology_seal*' '*/partition/*/shard/*.sst' '*/partition/*/0000000001/shard_seal*'
    '*/run/*/infer/*/shard/*.sst' '*/run/*/outputs/*/predictions.csv' '*/run/*/snapshot/*' '*/run/*/weights/*'
    '*/run/*/optimizer/*' '*/run/*/gradient*' '*/run/*/slot/*/mini_batch*' '*/run/*/evaluation/*/mini_batch*')
for damage in flip 'rm -f'; do
    name=many
    rm -rf "${work:?}/many"
    cp -r "$work/whole" "$work/many"
    damaged=()
    for kind in "${kinds[@]}"; do
        path=$(stored "$kind")
        $damage "$path"
        # Round records that are gone may have been pruned: only the damaged ones are named.
        [[ $damage = rm* && $kind =~ (snapshot|weights|optimizer|gradient|mini_batch) ]] || damaged+=("$(key_of "$path")")
    done
    "$bin/graphmill" verify "$work/many" >"$work/verified" 2>/dev/null && fail "$damage: verify found nothing"
    for key in "${damaged[@]}"; do
        grep -q "^DAMAGED .*$key" "$work/verified" || fail "$damage: verify did not name $key"
    done
    heals "$damage"
done

# Records that every command needs first.
for kind in '*/run/*/plan*' '*/partition/*/book*' '*/dataset/*/schema*'; do
    name=one
    rm -rf "${work:?}/one"
    cp -r "$work/whole" "$work/one"
    path=$(stored "$kind")
    flip "$path"
    expect 65 "$(key_of "$path"): " "$bin/graphmill" verify "$work/one"
    "$bin/graphmill" verify "$work/one" --remove >/dev/null 2>&1 || true
    found=$(run one "$pipeline" "${settings[@]}" | json weights_hash)
    [ "$found" = "$hash" ] || fail "$kind: mended to weights $found, before $hash"
done

# What training stands on: the run goes back to the whole snapshot before it, or to its start, and ends as it did.
# An outputs' hash of its own, so that weights are not all that is compared.
answer() { # name: what a finished run gives; its files with their hashes
    run "$1" "$pipeline" "${settings[@]}" "${@:2}" | json weights_hash
    (cd "$work/$1/outputs/" && cat metrics.json && sha256sum -- *)
}
position() { echo "$work/back/store/switch/run/"*/current_snapshot; }
snapshots() { find "$work/back/store" -path '*/snapshot/*' | sort; }
answer whole >"$work/whole.answer"
cases=('flip "$(snapshots | tail -1)"' 'rm "$(snapshots | tail -1)"' 'rm $(snapshots | tail -3)' 'rm $(snapshots)'
    'flip "$(position)"' ': >"$(position)"' 'truncate -s 5 "$(position)"' 'rm "$(position)"' 'echo 7 >"$(position)"'
    'rm "$(position)" $(snapshots)' 'rm -r "$work"/back/store/run/*/{round,snapshot,weights}'
    'flip "$(position)"; flip "$(snapshots | tail -1)"')
for case in "${cases[@]}"; do
    for verified in yes no; do
        rm -rf "${work:?}/back"
        cp -r "$work/whole" "$work/back"
        eval "$case"
        [ $verified = no ] || "$bin/graphmill" verify "$work/back" --remove >/dev/null 2>&1 || true
        answer back >"$work/back.answer" || fail "$case: no run (verified: $verified)"
        cmp -s "$work/whole.answer" "$work/back.answer" ||
            fail "$case: other weights or outputs (verified: $verified): $(diff "$work/whole.answer" "$work/back.answer")"
        grep -q "^[1-9][0-9]* [0-9]* v1:[0-9a-f]*$" "$(position)" || fail "$case: the switch is '$(cat "$(position)")'"
    done
done

# A record of another name in the place of one.
name=foreign
cp -r "$work/whole" "$work/foreign"
cp -f "$(stored '*/round/0000000003/slot/00000/gradient*')" "$(stored '*/round/0000000004/slot/00000/gradient*')"
expect 65 'round/0000000004/slot/00000/gradient' "$bin/graphmill" verify "$work/foreign"

# Killed in the middle, with damage in what the next rounds read.
name=middle
"$bin/graphmill" run "$pipeline" --directory "$work/middle" "${settings[@]}" --set epochs=60 --quiet >/dev/null 2>&1 &
driver=$!
until [ -n "$(find "$work/middle/store" -path '*/snapshot/0000000012*' 2>/dev/null)" ]; do
    kill -0 $driver 2>/dev/null || fail "the run ended too early"
    sleep 0.02
done
kill -KILL $driver
wait $driver 2>/dev/null || true
sleep 0.5 # its children end by themselves
for kind in weights optimizer gradient mini_batch; do
    flip "$(find "$work/middle/store" -type f -path "*/run/*/$kind*" | sort | tail -1)"
done
peace=$(run peace "$pipeline" "${settings[@]}" --set epochs=60 | json weights_hash)
found=$(run middle "$pipeline" "${settings[@]}" --set epochs=60 | json weights_hash)
[ "$found" = "$peace" ] || fail "damaged in the middle: weights $found, in peace $peace"
