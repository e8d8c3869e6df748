#!/usr/bin/env bash
# A partition that is killed between parts keeps the completed parts, and ends with the records of
# an undisturbed one. So does one that two programs make at once, whatever their number of threads.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
parts=48
settings=(--set ingest.nodes=60000 --set partition.parts=$parts --set partition.method=hash)

prepare() { # FOLDER: a store with the dataset
    mkdir "$work/$1"
    "$bin/graphmill-ingest" --store "$work/$1" --pipeline "$pipeline" "${settings[@]}" \
        2>>"$work/ingest.log" >/dev/null || fail "ingest of $1"
}
partition() { # FOLDER OPTIONS: what it says goes to FOLDER.log
    "$bin/graphmill-partition" --store "$work/$1" --pipeline "$pipeline" "${settings[@]}" "${@:2}" \
        2>>"$work/$1.log"
}
# Manifests have the hashes of parts, so equal records mean equal parts.
records() { (cd "$work/$1/partition" && find . -name '*.record' | sort | xargs sha256sum); }
sealed() { find "$work/$1/partition" -name "${2}_seal.record" 2>/dev/null | wc -l; }
kept() { sed -n "s/.*$2 of \([0-9]*\) of $parts parts are there already and are kept.*/\1/p" "$work/$1.log" | tail -1; }

prepare peace
answer=$(partition peace --threads 1)
expected=$(records peace)
[ "$(sealed peace topology)" = $parts ] || fail "not a seal for each part: $(sealed peace topology)"
! grep -q 'are there already' "$work/peace.log" || fail 'an undisturbed partition found parts'

# Killed while it writes topologies, and while it writes shards.
for what in topology shard; do
    for least in 3 20; do
        folder=$what$least
        prepare $folder
        "$bin/graphmill-partition" --store "$work/$folder" --pipeline "$pipeline" "${settings[@]}" \
            >/dev/null 2>>"$work/$folder.log" &
        program=$!
        started+=($program)
        until [ "$(sealed $folder $what)" -ge $least ]; do kill -0 $program 2>/dev/null ||
            break; done
        kill -KILL $program 2>/dev/null || true
        wait $program 2>/dev/null || true
        [ ! -e "$(echo "$work/$folder"/partition/*/book.record)" ] ||
            fail "$folder: it had ended before it was killed"
        topologies=$(sealed $folder topology) shards=$(sealed $folder shard)
        [ "$(partition $folder)" = "$answer" ] || fail "$folder: another answer"
        [ "$(kept $folder topologies)" = "$topologies" ] ||
            fail "$folder: kept $(kept $folder topologies) topologies of $topologies"
        [ "$shards" = 0 ] || [ "$(kept $folder shards)" = "$shards" ] ||
            fail "$folder: kept $(kept $folder shards) shards of $shards"
        [ "$(records $folder)" = "$expected" ] || fail "$folder: other records"
    done
done

# Two at once, and a lost part.
prepare both
for number in 1 2; do
    partition both --threads $number >"$work/both.$number" &
    started+=($!)
done
wait "${started[-2]}" || fail "the first of two: $(tail -3 "$work/both.log")"
wait "${started[-1]}" || fail "the second of two: $(tail -3 "$work/both.log")"
[ "$(records both)" = "$expected" ] || fail 'two programs made other records'
rm "$work"/both/partition/*/book.record \
    "$work"/both/partition/*/part/0000000007/topology{,_seal.record}
[ "$(partition both)" = "$answer" ] || fail 'another answer after a loss'
[ "$(kept both topologies)/$(kept both shards)" = "$((parts - 1))/$parts" ] ||
    fail "kept $(kept both topologies) and $(kept both shards) after a loss"
[ "$(records both)" = "$expected" ] || fail 'other records after a loss'
