#!/usr/bin/env bash
# Updates of datasets whose links are held out in both directions, whose repeated links are examples
# each, or whose edges join two sides: a version equals what ingest makes of the whole graph, and no
# update brings the reverse of a held-out edge into training.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
/usr/bin/python3 - <<'PYTHON'
import random
random.seed(5)
def write(name, rows):
    open(name, "w").write("".join(",".join(map(str, row)) + "\n" for row in rows))
pairs = set()
while len(pairs) < 700:
    a, b = random.randrange(100), random.randrange(100)
    if a != b:
        pairs.add((min(a, b), max(a, b)))
pairs = sorted(pairs)
random.shuffle(pairs)
old = [(i, (i + 1) % 100) for i in range(100)] + [((i + 1) % 100, i) for i in range(100)]
for i, (a, b) in enumerate(pairs[:600]):
    if b - a not in (1, 99):
        old += [(a, b), (b, a)] if i % 5 else [(a, b)]
late = [(b, a) for i, (a, b) in enumerate(pairs[:600]) if b - a not in (1, 99) and i % 5 == 0]     # edges back of old ones
new = [edge for a, b in pairs[600:] if b - a not in (1, 99) for edge in ((a, b), (b, a))]
write("old.csv", old); write("new.csv", late + new); write("all.csv", old + late + new); write("late.csv", late)
timed = [edge + (t,) for t, edge in enumerate(random.choices(old, k=2000))] + [edge + (5000,) for edge in old]
again = [edge + (6000 + t,) for t, edge in enumerate(random.choices(old, k=300))]
head = [("src", "dst", "time")]
write("timed_old.csv", head + timed); write("timed_new.csv", head + again); write("timed_all.csv", head + timed + again)
sides = sorted({(random.randrange(40), 100 + random.randrange(60)) for _ in range(900)} | {(i % 40, 100 + i) for i in range(60)})
more = sorted({(200 + random.randrange(5), 100 + random.randrange(60)) for _ in range(40)} | {(random.randrange(40), 210 + i) for i in range(8)}
              | {(200 + i, 210 + i) for i in range(5)})
write("sides_old.csv", sides); write("sides_new.csv", more); write("sides_all.csv", sides + more)
write("sides_nodes.csv", [(i,) for i in list(range(200, 205)) + list(range(210, 218))])
PYTHON
pipeline() { # NAME INPUT INGEST SAMPLE
    cat >"$1.yaml" <<YAML
name: $1
epochs: 2
ingest: {format: edge_list, path: $2, task: link_prediction, features: random, random_dim: 8, $3}
partition: {parts: 3, method: range}
sample: {fanouts: [4, 4], batch_size: 100, negatives: 3, $4}
train-step: {hidden: 8}
infer: {ranking: all}
YAML
}
# The same bits as for the whole graph: same_as_whole NAME INGEST SAMPLE [options of the update]
same_as_whole() {
    local name=$1 file
    pipeline "$name" "${name}_old.csv" "$2" "$3"
    pipeline "$name-whole" "${name}_all.csv" "$2" "$3"
    run "$name" "$name.yaml" >/dev/null
    "$bin/graphmill" update "$work/$name" --add-edges "${name}_new.csv" "${@:4}" --quiet >/dev/null
    run "$name" "$name.yaml" --set partition.update=anew >"$name.version"
    run "$name-whole" "$name-whole.yaml" --set partition.update=anew >"$name.whole"
    for file in predictions.csv embeddings.npy; do
        cmp -s "$name/outputs/$file" "$name-whole/outputs/$file" ||
            fail "$name: other $file than of the whole graph"
    done
    [ "$(json weights_hash <"$name.version")" = "$(json weights_hash <"$name.whole")" ] ||
        fail "$name: other weights than of the whole graph"
    grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/$name")" || fail "$name: verify"
    grep -q '^MATCH' <<<"$("$bin/graphmill" replay "$work/$name" ingest)" ||
        fail "$name: replay of a version"
}
# Counts the held-out edges of NAME among the edges in FILE whose reverse in FILE is not held out.
leaks() { # NAME FILE
    awk -F, 'NR == FNR {if (FNR > 1) held[$1 "," $2] = 1; next} ($2 "," $1) in held && !(($1 "," $2) in held) {n++} END {print n + 0}' \
        "$work/$1/outputs/predictions.csv" "$2"
}
for name in old new all; do cp $name.csv both_$name.csv && cp timed_$name.csv kept_$name.csv; done
same_as_whole both 'edge_split: random 70/10/20' 'corrupt: both'
[ "$(leaks both all.csv)" -eq 0 ] ||
    fail "both: $(leaks both all.csv) edges back of held-out edges are trained on"
[ "$(wc -l <both/outputs/predictions.csv)" -gt 200 ] || fail 'both: few edges are held out'

# Links with the same ends at several times, which are examples each.
same_as_whole kept 'edge_split: random 70/10/20, duplicates: keep, direction: as_given' \
    'corrupt: target'
lines=$(awk -F, \
    'NR == FNR {if (FNR > 1) held[$1 "," $2] = 1; next} FNR > 1 && ($1 "," $2) in held {n++} END {print n}' kept/outputs/predictions.csv timed_all.csv)
[ "$(wc -l <kept/outputs/predictions.csv)" -eq $((lines + 1)) ] ||
    fail "kept: $(wc -l <kept/outputs/predictions.csv) lines for $lines links that are held out"
[ "$(tail -n +2 kept/outputs/predictions.csv | cut -d, -f1,2 | sort | uniq -d | wc -l)" -gt 50 ] ||
    fail 'kept: no link is held out twice'

# New reverses of held-out edges are held out, too, even if nothing is drawn.
pipeline one old.csv 'edge_split: leave_one_out' 'corrupt: target'
run one one.yaml >/dev/null
before=$(wc -l <one/outputs/predictions.csv)
[ "$(leaks one late.csv)" -gt 5 ] || fail 'one: no new edge is the way back of a held-out one'
"$bin/graphmill" update "$work/one" --add-edges late.csv --quiet >/dev/null
run one one.yaml >/dev/null
cat old.csv late.csv >both.csv
[ "$(leaks one both.csv)" -eq 0 ] ||
    fail "one: $(leaks one both.csv) edges back of held-out edges are trained on"
[ "$(wc -l <one/outputs/predictions.csv)" -gt "$before" ] || fail 'one: no new edge is held out'

# Two sides, as a directed and an undirected graph; new nodes join the side that their edges show.
for direction in as_given undirected; do
    rm -rf sides sides-whole
    same_as_whole sides "edge_split: random 70/10/20, direction: $direction" 'corrupt: both' \
        --add-nodes sides_nodes.csv
    grep -q 'all edges go from 45 nodes to 68 others' sides-whole/logs/ingest.log ||
        fail "$direction: $(grep 'links:' -A3 sides-whole/logs/ingest.log)"
    awk -F, 'NR > 1 {least = $5 < least || NR == 2 ? $5 : least; most = $5 > most ? $5 : most} END {exit !(most <= 68)}' sides/outputs/predictions.csv ||
        fail "$direction: a target is ranked behind more nodes than its side has"
done
