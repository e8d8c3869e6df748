#!/usr/bin/env bash
# Parts of versions of a graph with relations as deltas: two updates are trained and computed bit
# for bit as with complete parts; replayed, verified, repaired when base or delta is damaged, kept
# by gc as long as needed, and killed at any moment.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
. "$GRAPHMILL_SOURCE/tests/support/version_deltas.sh"
papers_graph "$work/g" 600 && cd "$work"

# Authors and papers have given features, venues have none and learn embeddings. The updates have
# the rows of new nodes.
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
    { echo src,dst,etype && awk -F, -v v=$v '$3 == "1" && NR % 211 == v * 17' g/edges.csv; } \
        >u$v/old_edges
    awk -v v=$v 'BEGIN {for (i = 0; i < 3; i++) {print 390 - 20 * v - i; print 980 - 20 * v - i}}' \
        >u$v/old_nodes
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

compare_versions 2 predictions.csv
collect_versions
damage_versions
rm "$parts/$newest/part/0000000000/type/00001/shard_seal.record"
mended 'a seal of papers' 'type/00001/shard'
rm "$parts/$base/part/0000000000/shard_seal.record"
mended 'a seal of authors in the base' 'shard'

kill_partitions 2 0.05 0.1 0.2 0.3 0.5
