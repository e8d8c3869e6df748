#!/usr/bin/env bash
# Parts of versions as deltas: a chain of three updates is trained and computed bit for bit as with
# complete parts; replayed, verified, repaired when base or delta is damaged, kept by gc as long as
# needed, killed at any moment; and in a store of two.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
. "$GRAPHMILL_SOURCE/tests/support/class_graph.sh"
. "$GRAPHMILL_SOURCE/tests/support/version_deltas.sh"
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
compare_versions 3 predictions.csv embeddings.npy
collect_versions
damage_versions
rm "$parts/$newest/part/0000000000/shard_seal.record"
mended 'a seal' 'shard'
rm "$parts/$base/part/0000000000/shard_seal.record"
mended 'a seal of the base' 'shard'
damage "$parts/$newest/placement.record"
mended 'the placement' 'placement'
rm "$parts/$newest/placement.record"
mended 'a placement that is lost' 'placement'
for record in permutation splits assignment; do
    [ ! -e "$parts/$newest/$record.record" ] || fail "the delta has a $record"
    rm "$parts/$base/$record.record"
    mended "the $record of the base" "$record"
done

# A single run is read with the base of its partition, and another update starts from there.
run_id=$(run deltas g.yaml | json run)
grep -q "partition=.*$base" <<<"$("$bin/graphmill" verify "$work/deltas" --run "$run_id")" ||
    fail 'verify of a run leaves the base out'
printf 'n3\n' >more
"$bin/graphmill" update g.yaml --directory "$work/deltas" --quiet --remove-nodes more >/dev/null
run deltas g.yaml >/dev/null
[ "$(deltas deltas)" = 2 ] || fail 'the update after is no delta'

kill_partitions 3 0.05 0.1 0.15 0.2 0.3 0.5

# A store of two, one of which may be lost.
run two g.yaml --store "tiered:dir:$work/fast^dir:$work/slow" >/dev/null
for v in 1 2 3; do update two $v --store "tiered:dir:$work/fast^dir:$work/slow"; done
[ "$(run two g.yaml --store "tiered:dir:$work/fast^dir:$work/slow" | json weights_hash)" = "$hash" \
    ] || fail 'a store of two: other weights'
[ "$(find "$work/slow/partition" -name delta.record | wc -l)" = 1 ] ||
    fail 'a store of two: no delta'
