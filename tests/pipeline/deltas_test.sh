#!/usr/bin/env bash
# Parts of versions as deltas: a chain of three updates is trained and computed bit for bit as over parts that are written whole; replayed,
# verified, mended when base or delta is damaged, kept by gc as long as it is needed, killed at any moment; and on a store of two.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
. "$GRAPHMILL_SOURCE/tests/support/class_graph.sh"
mkdir "$work/g" && cd "$work/g"

# 1,200 nodes in three classes, six columns of features, and three updates of them.
class_graph 1200 6
for v in 1 2 3; do
    mkdir u$v
    awk -v v=$v 'BEGIN {for (i = 0; i < 9; i++) print "m" v i ",train," i % 3}' >u$v/nodes
    { class_rows 6 "${v}0" "${v}9" m 5 && class_rows 6 $((v * 40)) $((v * 40 + 15)) n 7; } >u$v/rows
    awk -v v=$v 'BEGIN {for (i = 0; i < 9; i++) {print "m" v i ",n" (v * 200 + i * 31) % 900 ",2"; print "m" v i ",n" (v * 211 + i * 17) % 900 ",3"}
        for (i = 0; i < 12; i++) print "n" v * 60 + i ",n" v * 90 + 2 * i + 1 ",4"}' >u$v/edges
    awk -v v=$v 'BEGIN {for (i = 0; i < 8; i++) {a = v * 300 + i * 5; print "n" a ",n" (a * 7 + 22) % 1200}}' >u$v/old_edges
    awk -v v=$v 'BEGIN {for (i = 0; i < 6; i++) print "n" 1199 - v * 20 - 3 * i}' >u$v/old_nodes
done
update() { # FOLDER VERSION
    "$bin/graphmill" update g.yaml --directory "$work/$1" --quiet --add-nodes u"$2"/nodes --features u"$2"/rows --add-edges u"$2"/edges \
        --remove-edges u"$2"/old_edges --remove-nodes u"$2"/old_nodes "${@:3}" >/dev/null
}
partitions() { ls "$work/$1/store/partition"; }
deltas() { find "$work/$1/store/partition" -name delta.record | wc -l; }

hash=
run deltas g.yaml >/dev/null
run whole g.yaml --set partition.compact=0 >/dev/null
base=$(partitions deltas)
cp -r "$work/deltas" "$work/fresh"
for v in 1 2 3; do
    update deltas $v
    update whole $v
    hash=$(run deltas g.yaml | json weights_hash)
    found=$(run whole g.yaml --set partition.compact=0 | json weights_hash)
    [ -n "$hash" ] && [ "$hash" = "$found" ] || fail "version $v: weights $hash, over parts written whole $found"
    [ "$(cat "$work/deltas/metrics.jsonl")" = "$(cat "$work/whole/metrics.jsonl")" ] || fail "version $v: other metrics"
    for file in predictions.csv embeddings.npy; do
        cmp "$work/whole/outputs/$file" "$work/deltas/outputs/$file" || fail "version $v: another $file"
    done
    [ "$(deltas deltas)/$(deltas whole)" = "$v/0" ] || fail "version $v: $(deltas deltas) deltas, and $(deltas whole)"
done
newest=$(basename "$(ls -dt "$work"/deltas/store/partition/*/book.record | sed -n '1s:/book.record::p')")
[ "$(run deltas-3 g.yaml --workers 3 --store "dir:$work/deltas/store" | json weights_hash)" = "$hash" ] || fail '3 workers: other weights'
rm -r "$work/deltas-3"
for stage in partition sample train-step infer; do replays deltas $stage; done
grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/deltas")" || fail 'verify'

# The runs before go, and their parts, but for what the newest is a delta of.
"$bin/graphmill" gc "$work/deltas" >gc.txt
[ "$(partitions deltas | sort)" = "$(printf '%s\n' "$base" "$newest" | sort)" ] || fail "gc left $(partitions deltas), took $(cat gc.txt)"
grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/deltas")" || fail 'verify after gc'

# What is damaged is named, of the base, too, and made again. The record of the delta may be lost as well.
mended() { # WHAT 'PATTERN'
    expect 65 "$2" "$bin/graphmill" verify "$work/deltas" --remove
    grep -q "partition=.*$base" "$work/stdout" || fail "verify does not name the base: $(tail -1 "$work/stdout")"
    [ "$(run deltas g.yaml | json weights_hash)" = "$hash" ] || fail "$1: other weights"
    grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/deltas")" || fail "$1: verify"
    [ "$(deltas deltas)" = 1 ] || fail "$1: not a delta any more"
}
parts=$work/deltas/store/partition
for piece in "$base/part/0000000001/topology" "$newest/part/0000000002/topology"; do
    printf '\377' | dd of="$parts/$piece" bs=1 seek=9000 conv=notrunc status=none
    mended "$piece" "$piece"
done
rm "$parts/$newest/part/0000000000/shard_seal.record"
mended 'a seal' 'shard'
rm "$parts/$base/part/0000000000/shard_seal.record"
mended 'a seal of the base' 'shard'
damage "$parts/$newest/delta.record"
mended 'the delta' 'delta'
damage "$parts/$newest/placement.record"
mended 'the placement' 'placement'
rm "$parts/$newest/placement.record"
mended 'a placement that is lost' 'placement'
rm "$parts/$newest/delta.record" "$parts/$newest/placement.record"
mended 'the delta and the placement' 'delta'
for record in permutation splits assignment; do
    [ ! -e "$parts/$newest/$record.record" ] || fail "the delta has a $record"
    rm "$parts/$base/$record.record"
    mended "the $record of the base" "$record"
done
rm "$parts/$newest/delta.record" "$parts/$base/book.record"
mended 'the delta and the book of its base' 'delta'

# A run alone is read with the base of its partition, and another update goes on from there.
run_id=$(run deltas g.yaml | json run)
grep -q "partition=.*$base" <<<"$("$bin/graphmill" verify "$work/deltas" --run "$run_id")" || fail 'verify of a run leaves the base out'
printf 'n3\n' >more
"$bin/graphmill" update g.yaml --directory "$work/deltas" --quiet --remove-nodes more >/dev/null
run deltas g.yaml >/dev/null
[ "$(deltas deltas)" = 2 ] || fail 'the update after is no delta'

# Killed at any moment: the same command ends in the same weights.
for pause in 0.05 0.1 0.15 0.2 0.3 0.5; do
    rm -rf "$work/killed" && cp -r "$work/fresh" "$work/killed"
    for v in 1 2 3; do update killed $v; done
    timeout -s KILL $pause "$bin/graphmill-partition" --store "$work/killed/store" --pipeline g.yaml >/dev/null 2>&1 || true
    [ "$(run killed g.yaml | json weights_hash)/$(deltas killed)" = "$hash/1" ] || fail "killed after $pause s: other weights"
done

# A store of two, of which one may be lost.
run two g.yaml --store "tiered:dir:$work/fast^dir:$work/slow" >/dev/null
for v in 1 2 3; do update two $v --store "tiered:dir:$work/fast^dir:$work/slow"; done
[ "$(run two g.yaml --store "tiered:dir:$work/fast^dir:$work/slow" | json weights_hash)" = "$hash" ] || fail 'a store of two: other weights'
[ "$(find "$work/slow/partition" -name delta.record | wc -l)" = 1 ] || fail 'a store of two: no delta'
