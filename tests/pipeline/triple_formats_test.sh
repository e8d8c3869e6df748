#!/usr/bin/env bash
# Knowledge graphs and typed graphs in published formats: OpenKE, N-Triples, SIF and HGB are the
# same dataset, by the hashes of its records, as a folder with the same graph; outputs have the
# names; and errors in each are named with their line.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
/usr/bin/python3 - <<'PYTHON' || fail "the inputs were not made"
import json, os
import random
random.seed(7)
def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)
# Triples: entities and relations are numbered in the order in which they appear.
relations, seen, triples = 3, {}, []
while len(triples) < 60:
    t = random.randrange(20), random.randrange(relations), random.randrange(20)
    if t[0] != t[2] and t not in triples:
        triples.append(t)
train, valid, test = triples[:44], [], []
known, kinds = {}, {}
for h, r, t in train:
    known.setdefault(h, len(known)), known.setdefault(t, len(known)), kinds.setdefault(r, len(kinds))
held = [t for t in triples[44:] if t[0] in known and t[2] in known]
valid, test = held[:5], held[5:]
number = lambda part: [(known[h], kinds[r], known[t]) for h, r, t in part]
write("plain/edges.csv", "src,dst,etype\n" + "".join(f"entity {h},entity {t},{r}\n" for h, r, t in number(train)))
write("plain/meta.json", json.dumps({"num_nodes": len(known), "directed": True}))
write("plain/relations.csv", "id,name\n" + "".join(f"{i},relation {i}\n" for i in range(len(kinds))))
write("plain/node-ids.csv", "".join(f"entity {i}\n" for i in range(len(known))))
held_named = lambda part: "source,target,type\n" + "".join(f"entity {h},entity {t},{r}\n" for h, r, t in number(part))
write("valid.csv", held_named(valid))
write("test.csv", held_named(test))
def openke(name, **change):
    files = {"train2id": train, "valid2id": valid, "test2id": test}
    texts = {f: f"{len(part)}\n" + "".join(f"{h} {t} {r}\n" for h, r, t in number(part)) for f, part in files.items()}
    order = list(range(len(known)))
    random.shuffle(order)
    texts["entity2id"] = f"{len(known)}\n" + "".join(f"entity {i}\t{i}\n" for i in order)
    texts["relation2id"] = f"{len(kinds)}\n" + "".join(f"relation {i}\t{i}\n" for i in range(len(kinds)))
    for f, text in {**texts, **change}.items():
        if text is not None:
            write(f"{name}/{f}.txt", text)
openke("openke")
openke("openke-bare", entity2id=None, relation2id=None)
openke("openke-one", entity2id=None, relation2id=None, valid2id=None, test2id=None)
openke("openke-no-count", train2id="".join(f"{h} {t} {r}\n" for h, r, t in number(train)))
openke("openke-count", train2id="7\n0 1 0\n1 0 1\n")
openke("openke-range", train2id="1\n0 99 0\n")
openke("openke-order", train2id=f"1\n0 1 {len(kinds)}\n")
openke("openke-twice", entity2id="2\nentity 0\t0\nentity 0\t1\n")
openke("openke-gap", entity2id="2\nentity 0\t0\nentity 1\t2\n")
openke("openke-again", entity2id="2\nentity 0\t0\nentity 1\t0\n")
openke("openke-columns", train2id="1\n0 1\n")
openke("openke-untested", test2id=None)
names = [f"http://ex.org/{i}" for i in range(len(known))]
nt = "# triples\n" + "".join(f"<{names[h]}> <http://ex.org/r{r}> <{names[t]}> .\n" for h, r, t in number(train))
write("g.nt", nt + f'<{names[0]}> <http://ex.org/name> "a \\" name ."@en .\n')
write("blank.nt", nt.replace("<http://ex.org/3>", "_:b3"))
write("cut.nt", nt + "<http://ex.org/1> <http://ex.org/r0>\n")
write("nothing.nt", '<a:b> <a:c> "d" .\n')
write("g.sif", "".join(f"{names[h]} r{r} {names[t]}\n" for h, r, t in number(train)))
write("grouped.sif", "a pp b c\nb\tpd\tname with blanks\nalone\n")
write("short.sif", "a pp b\na pp\n")
# Two authors, four papers, one venue.
nodes = [(0, "Ann", 0, None), (1, 'Bo "B"', 0, None)] + [(2 + i, f"paper {i}", 1, f"{i}.5,1") for i in range(4)] + [(6, "venue", 2, None)]
links = [(0, 2, 0, 1), (0, 3, 0, 2), (1, 4, 0, 1), (1, 5, 0, 1), (2, 3, 1, 1), (4, 5, 1, 3), (2, 6, 2, 1), (3, 6, 2, 1), (4, 6, 2, 1)]
def hgb(name, nodes=nodes, links=links, labels=((2, 0), (3, 1)), tests=((4, 0), (5, 1)), more={}):
    line = lambda row: "\t".join(str(v) for v in row if v is not None) + "\n"
    write(name + "/node.dat", "".join(map(line, nodes)))
    write(name + "/link.dat", "".join(map(line, links)))
    write(name + "/label.dat", "".join(line((i, f"paper {i}", 1, c)) for i, c in labels))
    write(name + "/label.dat.test", "".join(line((i, f"paper {i}", 1, c)) for i, c in tests))
    for f, text in more.items():
        write(f"{name}/{f}", text)
hgb("hgb")
order = [6, 3, 0, 5, 1, 4, 2] # of ids: types do not lie one behind the other
turned = {old: new for old, new in zip(range(7), order)}
by_type = sorted(range(7), key=lambda old: (nodes[old][2], turned[old]))
hgb("hgb-mixed", sorted((turned[i], n, t, f) for i, n, t, f in nodes), [(turned[a], turned[b], r, w) for a, b, r, w in links],
    [(turned[i], c) for i, c in ((2, 0), (3, 1))], [(turned[i], c) for i, c in ((4, 0), (5, 1))])
hgb("hgb-many", labels=((2, "0,2"), (3, "1")), tests=((4, "2"), (5, "0,1,2")))
hgb("hgb-test", more={"link.dat.test": "2\t4\t1\t1\n"})
hgb("hgb-twice", nodes + [(3, "again", 1, "1,1")])
hgb("hgb-gap", nodes[:-1] + [(9, "venue", 2, None)])
hgb("hgb-ends", links=links + [(6, 0, 0, 1)])
hgb("hgb-outside", links=links + [(0, 7, 0, 1)])
hgb("hgb-weight", links=links + [(0, 2, 0, "x")])
hgb("hgb-weights", links=links + [(1, 2, 0, None)])
hgb("hgb-wide", [(i, n, t, "1,2,3" if i == 4 else f) for i, n, t, f in nodes])
hgb("hgb-class", labels=((2, "zero"), (3, 1)))
write("typed/meta.json", json.dumps({"num_nodes": 7, "directed": True}))
write("typed/node-types.csv", "name,first_id,count\n0,0,2\n1,2,4\n2,6,1\n")
write("typed/edge-types.csv", "id,name,source,target\n0,0,0,1\n1,1,1,1\n2,2,1,2\n")
write("typed/edges.csv", "src,dst,weight,etype\n" + "".join(f"{a},{b},{w},{r}\n" for a, b, r, w in links))
write("typed/node-label.csv", "-1\n-1\n0\n1\n0\n1\n-1\n")
write("typed/train.csv", "2\n3\n")
write("typed/test.csv", "4\n5\n")
import numpy
numpy.save("typed/1-feat.npy", numpy.array([[i + 0.5, 1] for i in range(4)], dtype=numpy.float32))
PYTHON

. "$source_folder/tests/support/format_runs.sh"
kinds='edge_chunk feature_chunk node_labels node_splits edge_splits'
links='  task: link_prediction\n  features: degree\n'
given="$links  edge_split: given\n"

# OpenKE: the same triples, including held-out ones, with the names of the entities.
ingest plain folder plain "$given  valid_edges: $work/valid.csv\n  test_edges: $work/test.csv\n"
ingest openke openke openke "$given"
agree openke plain 3
ingest bare auto openke-bare "$given"
agree bare plain 3
grep -q 'openke-bare has train2id.txt, so it is read as openke' runs/bare/logs/ingest.log ||
    fail "auto: $(cat runs/bare/logs/ingest.log)"
run openke openke.yaml --set train-step.decoder=distmult --set train-step.features=false \
    --set train-step.model=identity --set train-step.embedding=8 \
    --set train-step.hidden=8 --set 'sample.fanouts=[]' --set infer.ranking=all >/dev/null ||
    fail "a run of OpenKE"
grep -q '^entity [0-9]*,entity [0-9]*,[0-2],test,' "$work/openke/outputs/predictions.csv" ||
    fail "no names: $(head -3 "$work/openke/outputs/predictions.csv")"
ingest drawn openke openke "$links"
grep -q 'warning: .*test2id.txt is not used, and neither is valid2id.txt: ingest.edge_split is .random 85/5/10.' drawn.err || fail "not said: $(cat drawn.err)"
ingest one openke openke-one "$links"
bad 'train2id.txt:1: expected the number of the lines that follow, alone, found' openke openke-no-count "$given"
bad 'train2id.txt: expected 7 lines after the first, as the first says, found 2' openke openke-count "$given"
bad 'train2id.txt:2: tail: expected a number from 0 to [0-9]* \(head, tail, relation\), found .99.' openke openke-range "$given"
bad 'train2id.txt:2: relation: expected a number from 0 to 2' openke openke-order "$given"
bad 'train2id.txt:2: expected 3 columns, found 2' openke openke-columns "$given"
bad 'entity2id.txt:3: expected another name for each number, found .entity 0. of an earlier line again' openke openke-twice "$given"
bad 'entity2id.txt: expected the numbers 0, 1, 2, ..., found 2 names up to number 2' openke \
    openke-gap "$given"
bad 'entity2id.txt:3: expected each number once, found 0 of line 2 again' openke openke-again \
    "$given"
bad 'test2id.txt is not there, but ingest.edge_split is given' openke openke-untested "$given"
bad 'found a list of OpenKE, a count and then head, tail and relation: name the file train2id.txt, and write `format: openke`' edge_list openke/train2id.txt "$links"

# N-Triples and SIF: the same edges and types.
ingest drawn_plain folder plain "$links"
ingest ntriples auto g.nt "$links"
ingest sif auto g.sif "$links"
for name in ntriples sif drawn drawn_plain; do sed -i '/^edge_splits/d' $name.found; done
agree drawn drawn_plain 1
agree ntriples drawn_plain 1
agree sif drawn_plain 1
grep -q 'warning: .*1 lines have a literal for their object, the first is line 46: left out' \
    ntriples.err || fail "not said: $(cat ntriples.err)"
run ntriples ntriples.yaml >/dev/null || fail "a run of N-Triples"
grep -q '^http://ex.org/[0-9]*,http://ex.org/' "$work/ntriples/outputs/predictions.csv" ||
    fail "no names: $(head -3 "$work/ntriples/outputs/predictions.csv")"
ingest blank ntriples blank.nt "$links"
ingest grouped sif grouped.sif "$links  edge_split: random 100/0/0\n"
grep -q 'graph: 5 nodes (1 without an edge to another), 3 edges' runs/grouped/logs/ingest.log ||
    fail "grouped: $(cat runs/grouped/logs/ingest.log)"
bad 'cut.nt:46: expected `<subject> <predicate> <object> .`, found' ntriples cut.nt "$links"
bad 'nothing.nt: expected lines with two nodes, found none' ntriples nothing.nt "$links"
bad 'short.sif:2: expected `node relation node`, or a node alone, found .a pp.' sif short.sif \
    "$links"
bad 'g.nt: expected a table of edges, found N-Triples, which `format: ntriples` reads' edge_list \
    g.nt "$links"
bad 'g.sif: .* found SIF: write `format: sif`' edge_list g.sif "$links"

# HGB: typed nodes, weighted links, labels and splits.
relations='  relations: true\n  missing_features: degree\n'
ingest typed folder typed "$relations"
ingest hgb auto hgb "$relations"
agree hgb typed 4
grep -q 'hgb has node.dat, so it is read as hgb' runs/hgb/logs/ingest.log ||
    fail "auto: $(cat runs/hgb/logs/ingest.log)"
ingest flat hgb hgb
ingest flat_folder folder typed
cmp -s <(grep edge_chunk flat.found) <(grep edge_chunk flat_folder.found) ||
    fail "without relations hgb has other edges"
ingest mixed hgb hgb-mixed "$relations  add_reverse: true\n"
run mixed mixed.yaml --set train-step.model=sage >/dev/null || fail "a run of hgb-mixed"
cut -d, -f1,2,3 "$work/mixed/outputs/predictions.csv" | sort >found.csv
[ "$(grep -cE '^(0|5|1|4),(train|test),' found.csv)" -eq 4 ] ||
    fail "other ids than those of node.dat: $(cat found.csv)"
ingest many hgb hgb-many "$relations"
grep -q 'several labels each of 3 classes' runs/many/logs/ingest.log ||
    fail "lists of classes: $(cat runs/many/logs/ingest.log)"
pipeline tested hgb hgb-test "$relations  task: link_prediction\n  edge_split: given\n"
"$bin/graphmill" partition tested.yaml --directory runs/tested --quiet >/dev/null 2>&1 ||
    true # one venue alone has no negatives
grep -q '1 for the test' runs/tested/logs/ingest.log ||
    fail "link.dat.test: $(cat runs/tested/logs/ingest.log)"
bad 'link.dat.test is not there, but ingest.edge_split is given' hgb hgb \
    "$relations  task: link_prediction\n  edge_split: given\n"
bad 'node.dat:8: expected one line a node, found node 3 again' hgb hgb-twice "$relations"
bad 'node.dat: expected a line for each node from 0 to 9, found none of node 6' hgb hgb-gap \
    "$relations"
bad 'link.dat:10: expected a link of type 0 from a node of type 0 to one of type 1 as its first, found one from type 2 to type 0' hgb hgb-ends "$relations"
bad 'link.dat:10: target: expected a number from 0 to 6, found .7.' hgb hgb-outside "$relations"
bad 'link.dat:10: weight: expected a finite number, found .x.' hgb hgb-weight "$relations"
bad 'link.dat: expected a weight in each line or in none, found it in some' hgb hgb-weights \
    "$relations"
bad 'node.dat:5: .*expected 2' hgb hgb-wide "$relations"
bad 'label.dat:1: class: expected a number from 0 to' hgb hgb-class "$relations"
bad 'found a file of the Heterogeneous Graph Benchmark: write `format: hgb`' auto hgb/link.dat \
    "$links"

# init writes a file that runs for each of them.
mkdir init
for name in openke openke-one hgb hgb-many g.nt g.sif; do
    "$bin/graphmill" init "$name" --output "init/$name.yaml" >init.out 2>init.err ||
        fail "init $name: $(cat init.err)"
    "$bin/graphmill" run "init/$name.yaml" --directory "runs/init-$name" --set epochs=1 \
        --quiet >run.out 2>run.err ||
        fail "the file of init $name does not run: $(tail -3 run.err) $(cat "init/$name.yaml")"
done
grep -q 'edge_split: given' init/openke.yaml || fail "openke: $(cat init/openke.yaml)"
grep -q 'edge_split: random' init/openke-one.yaml || fail "openke-one: $(cat init/openke-one.yaml)"
grep -q 'relations: true' init/hgb.yaml || fail "hgb: $(cat init/hgb.yaml)"
