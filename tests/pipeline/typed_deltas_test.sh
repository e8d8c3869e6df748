#!/usr/bin/env bash
# Parts of versions of a graph with relations as deltas: two updates are trained and computed bit for bit as over parts that are written whole;
# replayed, verified, mended when base or delta is damaged, kept by gc as long as they are needed, and killed at any moment.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
papers_graph "$work/g" 600 && cd "$work"

# Authors and papers have given features, venues have none and learn theirs. Of new nodes rows stand in the updates.
cat >rows.py <<'PYTHON'
import struct, sys
def row(node, dim): return [((node * 37 + c * 11) % 23) / 8 for c in range(dim)]
def write(path, first, count, dim):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (count, dim)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for node in range(first, first + count): out.write(struct.pack("<%df" % dim, *row(node, dim)))
write("g/author-feat.npy", 0, 400, 16)
write("g/paper-feat.npy", 400, 600, 24)
for v in (1, 2):
    with open("u%d/rows" % v, "w") as out:
        named = [(2000 + 100 * v + i, 16 if i < 3 else 24) for i in range(8)] # authors, then papers
        named += [(40 * v + i, 16) for i in range(4)] + [(500 + 60 * v + i, 24) for i in range(6)]
        for node, dim in named: out.write(",".join(map(str, [node] + row(node + 7 * v, dim))) + "\n")
PYTHON
mkdir u1 u2 && python3 rows.py
for v in 1 2; do
    awk -v v=$v 'BEGIN {print "id,type,split,label"; for (i = 0; i < 8; i++) print 2000 + 100 * v + i "," (i < 3 ? "author," : "paper,train," i % 3)}' >u$v/nodes
    awk -v v=$v 'BEGIN {print "src,dst,etype"
        for (i = 3; i < 8; i++) {n = 2000 + 100 * v + i; print 2000 + 100 * v + i % 3 "," n ",writes"; print n "," 410 + 30 * v + i ",cites"; print n "," 1000 + i % 3 ",in"}
        for (i = 0; i < 5; i++) print 20 * v + i "," 700 + 9 * v + i ",writes"}' >u$v/edges
    { echo src,dst,etype && awk -F, -v v=$v '$3 == "1" && NR % 211 == v * 17' g/edges.csv; } >u$v/old_edges
    awk -v v=$v 'BEGIN {for (i = 0; i < 3; i++) {print 390 - 20 * v - i; print 980 - 20 * v - i}}' >u$v/old_nodes
done
{ papers_pipeline g 5 2 && cat; } >g.yaml <<END
  drift: 1000
sample:
  fanouts: [4, 3]
  batch_size: 60
train-step:
  model: rgcn
  hidden: 8
  embedding: 4
checkpoint:
  keep: 0
END
update() { # RUN VERSION
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
for v in 1 2; do
    update deltas $v
    update whole $v
    hash=$(run deltas g.yaml | json weights_hash)
    found=$(run whole g.yaml --set partition.compact=0 | json weights_hash)
    [ -n "$hash" ] && [ "$hash" = "$found" ] || fail "version $v: weights $hash, over parts written whole $found"
    [ "$(cat "$work/deltas/metrics.jsonl")" = "$(cat "$work/whole/metrics.jsonl")" ] || fail "version $v: other metrics"
    cmp "$work/whole/outputs/predictions.csv" "$work/deltas/outputs/predictions.csv" || fail "version $v: other predictions"
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

# What is damaged is named, of the base, too, and made again: a part, the shard of a type, a record.
mended() { # WHAT 'PATTERN'
    expect 65 "$2" "$bin/graphmill" verify "$work/deltas" --remove
    [ "$(run deltas g.yaml | json weights_hash)" = "$hash" ] || fail "$1: other weights"
    grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/deltas")" || fail "$1: verify"
    [ "$(deltas deltas)" = 1 ] || fail "$1: not a delta any more"
}
parts=$work/deltas/store/partition
for piece in "$base/part/0000000001/topology" "$newest/part/0000000002/topology"; do
    printf '\377' | dd of="$parts/$piece" bs=1 seek=9000 conv=notrunc status=none
    mended "$piece" "$piece"
done
rm "$parts/$newest/part/0000000000/type/00001/shard_seal.record"
mended 'a seal of papers' 'type/00001/shard'
rm "$parts/$base/part/0000000000/shard_seal.record"
mended 'a seal of authors in the base' 'shard'
damage "$parts/$newest/delta.record"
mended 'the delta' 'delta'
rm "$parts/$newest/delta.record" "$parts/$newest/placement.record"
mended 'the delta and the placement' 'delta'
rm "$parts/$newest/delta.record" "$parts/$base/book.record"
mended 'the delta and the book of its base' 'delta'

# Killed at any moment: the same command ends in the same weights.
for pause in 0.05 0.1 0.2 0.3 0.5; do
    rm -rf "$work/killed" && cp -r "$work/fresh" "$work/killed"
    for v in 1 2; do update killed $v; done
    timeout -s KILL $pause "$bin/graphmill-partition" --store "$work/killed/store" --pipeline g.yaml >/dev/null 2>&1 || true
    [ "$(run killed g.yaml | json weights_hash)/$(deltas killed)" = "$hash/1" ] || fail "killed after $pause s: other weights"
done
