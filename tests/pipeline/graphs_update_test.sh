#!/usr/bin/env bash
# A dataset of many graphs that changes: graphs are added, removed and changed. A version equals
# what ingest makes of the same graphs, read merged or complete, to the bits of the weights; runs on
# it, a warm start, `watch`; kills, damage, and files that do not fit.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
python3 "$source_folder/tests/support/make_graphs.py" shapes 90
cat >graphs.py <<'PYTHON'
# graphs.py make: the files of three updates of shapes/. graphs.py whole OUT UPDATE...: the folder
# of the resulting graphs, renumbered
import os, random, struct, sys

def lines(path): return [line.split(",") for line in open(path).read().split("\n") if line] if os.path.exists(path) else []
def write(path, rows):
    with open(path, "w") as out: out.writelines(",".join(map(str, row)) + "\n" for row in rows)
def write_npy(path, rows):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for row in rows: out.write(struct.pack("<%df" % len(row), *row))
def read_npy(path, columns):
    data = open(path, "rb").read()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return [list(struct.unpack_from("<%df" % columns, data, 4 * columns * i)) for i in range(len(data) // (4 * columns))]

owner = {str(v): line[0] for v, line in enumerate(lines("shapes/node-graph.csv"))}  # node -> graph, by the names that users have
rows = {str(v): row for v, row in enumerate(read_npy("shapes/node-feat.npy", 3))}
edges = [tuple(line) for line in lines("shapes/edges.csv")[1:]]
graphs = [str(g) for g, _ in enumerate(lines("shapes/graph-label.csv"))]
label = {str(g): line[0] for g, line in enumerate(lines("shapes/graph-label.csv"))}
split = {line[0]: s for s in ("train", "valid", "test") for line in lines(f"shapes/{s}.csv")}

def apply(update):
    for line in lines(update + "/remove-nodes.csv"):
        del owner[line[0]]
        edges[:] = [e for e in edges if line[0] not in e]
    for gone in [g for g in graphs if g not in owner.values()]:
        graphs.remove(gone), split.pop(gone, None), label.pop(gone)
    for line in lines(update + "/remove-edges.csv")[1:]:
        edges[:] = [e for e in edges if e != (line[0], line[1]) and e != (line[1], line[0])]
    added = lines(update + "/add-nodes.csv")[1:]
    for g in sorted({line[1] for line in added} - set(graphs), key=int):
        first = next(line for line in added if line[1] == g)
        graphs.append(g)
        label[g] = first[3] if len(first) > 3 else "-1"
        if len(first) > 2 and first[2]: split[g] = first[2]
    for line in sorted(added, key=lambda line: int(line[0])): owner[line[0]] = line[1]
    for line in lines(update + "/features.csv"): rows[line[0]] = [float(x) for x in line[1:]]
    edges.extend((line[0], line[1]) for line in lines(update + "/add-edges.csv")[1:])

def whole(out):
    os.mkdir(out)
    number = {g: i for i, g in enumerate(graphs)}
    write(out + "/meta.json", [['{"num_nodes": %d' % len(owner), ' "directed": false', ' "num_classes": 3}']])
    write(out + "/node-ids.csv", [[v] for v in owner])
    write(out + "/node-graph.csv", [[number[g]] for g in owner.values()])
    write(out + "/edges.csv", [("src", "dst")] + edges)
    write(out + "/graph-label.csv", [[label[g]] for g in graphs])
    write(out + ".names", [[g] for g in graphs])
    write_npy(out + "/node-feat.npy", [rows[v] for v in owner])
    for s in ("train", "valid", "test"):
        write(f"{out}/{s}.csv", [[number[g]] for g in graphs if split.get(g) == s])

def make():
    rng = random.Random(7)
    fresh = iter(rng.sample(range(5000, 9000), 400))
    def of(graph): return [v for v in owner if owner[v] == graph]
    def row(): return [rng.randrange(3), rng.randrange(2), 0.5]
    def update(name, gone, losing, growing, coming):
        """Graphs that go, lose two nodes, grow by two, and that come, some called as one that goes."""
        os.mkdir(name)
        gone_nodes = [v for g in gone for v in of(g)] + [v for g in losing for v in of(g)[1:3]]
        old = [v for g in growing for v in of(g) if v not in gone_nodes]
        nodes, links = [], []
        for g in growing:
            new = [str(next(fresh)) for _ in range(2)]
            nodes += [(v, g) for v in new]
            links += [(new[0], new[1]), (new[1], next(v for v in old if owner[v] == g))]
        for g in coming:
            new = [str(next(fresh)) for _ in range(rng.randint(3, 8))]
            target = (rng.choice(["train", "train", "valid", "test"]), rng.randrange(3))
            nodes += [(new[0], g) + target, (new[1], g) + target] + [(v, g) for v in new[2:]]
            links += [(new[i], rng.choice(new[:i])) for i in range(1, len(new))]
        links += rng.sample([(a, b) for a in old for b in old if a < b and owner[a] == owner[b] and (a, b) not in edges and (b, a) not in edges], 5)
        removed = rng.sample([e for e in edges if not set(gone_nodes) & set(e)], 4)
        links = [e for e in links if e not in removed]
        write(name + "/remove-nodes.csv", [(v,) for v in gone_nodes])
        write(name + "/remove-edges.csv", [("src", "dst")] + [(a, b) if i % 2 else (b, a) for i, (a, b) in enumerate(removed)])
        write(name + "/add-nodes.csv", [("id", "graph", "split", "label")] + nodes)
        write(name + "/add-edges.csv", [("src", "dst")] + links)
        changed = rng.sample([v for v in owner if v not in gone_nodes], 5)
        write(name + "/features.csv", [(v,) + tuple(row()) for v in [n[0] for n in nodes] + changed])
        touched = {owner[v] for v in changed + [v for e in removed for v in e] + [v for e in links for v in e if v in owner]}
        apply(name)
        train = [g for g in graphs if split.get(g) == "train"]
        touched |= set(losing) | set(growing) | set(coming)
        write(name + ".touched", [("%.4f" % (sum(g in touched for g in train) / len(train)),)])
    update("one", ["3", "50"], ["7", "20"], ["7", "8"], ["200", "150", "95"])
    update("two", ["150", "11"], ["200", "30"], ["200", "60"], ["3", "201"])
    update("three", ["10"], ["3"], ["9"], ["10", "150"])

if sys.argv[1] == "make":
    make()
else:
    for name in sys.argv[3:]: apply(name)
    whole(sys.argv[2])
PYTHON
python3 graphs.py make
cat >g.yaml <<'YAML'
name: shapes
seed: 5
epochs: 3
ingest: {format: folder, path: shapes, task: graph_classification, class_count: 3, direction: undirected}
partition: {parts: 3}
sample: {fanouts: [-1, -1], batch_size: 12}
train-step: {model: gin, hidden: 8, readout: sum}
aggregate: {learning_rate: 0.01}
checkpoint: {keep: 0}
YAML
files() { for name in add-nodes features add-edges remove-edges remove-nodes; \
    do [ ! -e "$1/$name.csv" ] || echo "--$name $1/$name.csv"; done; }
# shellcheck disable=SC2046 # a list of options
update() { "$bin/graphmill" update g.yaml --directory "$1" --quiet --json $(files "$2") "${@:3}"; }
hash() { json weights_hash <"$1"; }
verified() { grep -q '^OK' <<<"$("$bin/graphmill" verify "$1")" || fail "verify of $1"; }

# Each version merged (m), written completely (x) and made from scratch (w) has the same weights,
# and the same predictions except for the names of graphs, which are permanent in versions.
merged=(--set partition.compact=1)
run m g.yaml "${merged[@]}" >first.json
run x g.yaml --set partition.compact=0 >/dev/null
done=()
for version in one two three; do
    done+=($version)
    update m $version "${merged[@]}" --set ingest.retrain_touched=0.01 >$version.json
    update x $version --set partition.compact=0 >x.json
    id=$(json dataset <$version.json)
    [ "$(json dataset <x.json)" = "$id" ] || fail "$version: another id where it is written whole"
    [ "$(cd "m/store/dataset/$id" && echo *)" = 'delta.record merge.record schema.record' ] ||
        fail "$version: $(ls "m/store/dataset/$id")"
    [ -e "x/store/dataset/$id/graphs.record" ] && [ ! -e "x/store/dataset/$id/merge.record" ] ||
        fail "$version whole: $(ls "x/store/dataset/$id")"
    python3 graphs.py whole "w-$version" "${done[@]}"
    sed "s/path: shapes/path: w-$version/" g.yaml >whole.yaml
    run w-run-$version whole.yaml >whole.json
    run m g.yaml "${merged[@]}" >merged.json
    run x g.yaml --set partition.compact=0 >x.json
    [ -n "$(hash merged.json)" ] && [ "$(hash merged.json)" = "$(hash whole.json)" ] ||
        fail "$version: other weights than of the same graphs from nothing"
    [ "$(hash x.json)" = "$(hash whole.json)" ] || fail "$version written whole: other weights"
    [ "$(hash merged.json)" != "$(hash first.json)" ] || fail "$version: the run is the same"
    cmp m/outputs/predictions.csv x/outputs/predictions.csv ||
        fail "$version: other predictions where it is written whole"
    cmp m/outputs/embeddings.npy "w-run-$version/outputs/embeddings.npy" ||
        fail "$version: other embeddings"
    cmp <(cut -d, -f2- m/outputs/predictions.csv) \
        <(cut -d, -f2- "w-run-$version/outputs/predictions.csv") ||
        fail "$version: other predictions"
    cmp <(cut -d, -f1 m/outputs/predictions.csv | tail -n +2) "w-$version.names" ||
        fail "$version: other names of graphs"
    verified m
    verified x
done
grep -q '^150,' m/outputs/predictions.csv && ! grep -qE '^(50|11),' m/outputs/predictions.csv ||
    fail 'names of graphs'
[ "$(tail -1 m/outputs/predictions.csv | cut -d, -f1)" = 150 ] || fail 'the order of new graphs'
replay_each m ingest partition 'sample --round 0 --slot 0' 'train-step --round 0 --slot 0' \
    'aggregate --round 0' checkpoint infer
replay_each x ingest partition
# The retraining trigger counts training graphs.
for version in one two three; do
    [ "$(json retrain <$version.json)" = true ] || fail "drift: $(cat $version.json)"
    [ "$(printf %.4f "$(json touched <$version.json)")" = "$(cat $version.touched)" ] ||
        fail "touched: $(cat $version.json), expected $(cat $version.touched)"
done
# Exports have the names, too; other workers and a warm start continue.
for what in embeddings logits; do
    "$bin/graphmill" export m --what $what --form csv --output $what.csv >/dev/null
    cmp <(cut -d, -f1 $what.csv) <(cut -d, -f1 m/outputs/predictions.csv) ||
        fail "$what: other names of graphs"
done
[ "$(run of-3 g.yaml "${merged[@]}" --workers 3 --store "dir:$work/m/store" | json weights_hash)" \
    = "$(hash merged.json)" ] || fail '3 workers: other weights'
run m g.yaml "${merged[@]}" --set "train-step.initial=$(json run <first.json)" >warm.json
[ "$(hash warm.json)" != "$(hash merged.json)" ] || fail 'the warm start is the cold one'
verified m

# Damage: lost records of a version, or of its parts, are made again.
id=$(json dataset <three.json)
damage "x/store/dataset/$id/graphs.record"
expect 65 "$id/graphs" "$bin/graphmill" verify x --remove
[ "$(run x g.yaml --set partition.compact=0 | json weights_hash)" = "$(hash x.json)" ] ||
    fail 'other weights after damage'
verified x
rm "m/store/dataset/$id/schema.record" "m/store/dataset/$id/merge.record"
[ "$(run m g.yaml "${merged[@]}" --set "train-step.initial=$(json run <first.json)" |
    json weights_hash)" = "$(hash warm.json)" ] || fail 'other weights after a loss'
verified m
"$bin/graphmill" gc m --grace 0 >/dev/null
verified m

# Killed at any moment: the same command ends with the same version, merged and complete.
for form in 1 0; do
    sed "s/parts: 3/parts: 3, compact: $form/" g.yaml >k.yaml
    # shellcheck disable=SC2046
    killed_updates k.yaml "$(json dataset <one.json)" $(files one)
done

# Files that do not fit are named, and change nothing.
run b g.yaml >/dev/null
store_of() { find b/store/dataset b/store/switch -type f | sort | xargs md5sum; }
before=$(store_of)
bad() { # the text of the file, its option, what is said, [options]
    printf "$1" >bad
    expect 65 "$3" "$bin/graphmill" update g.yaml --directory b --quiet "$2" bad "${@:4}"
}
node_of() { awk -F, -v g="$1" -v k="$2" '$1 == g && ++n == k {print NR - 1; exit}' \
    shapes/node-graph.csv; } # the k-th of a graph
a=$(node_of 7 1) b=$(node_of 8 1)
awk -F, '{print NR - 1}' shapes/node-graph.csv >all
printf '9999,1,0,0\n9998,1,0,0\n' >new_rows
bad '9999\n' --add-nodes "bad:1: graph: expected a number from 0 on after the id, found ''"
bad '9999,train,1\n' --add-nodes "bad:1: graph: expected a number from 0 on after the id, found 'train'"
bad '9999,-1\n' --add-nodes "bad:1: graph: expected a number from 0 on after the id, found '-1'"
bad 'id,split,graph\n9999,,7\n' --add-nodes "bad:2: the header above names 'split' after the id: expected graph, the number of the node.s graph"
bad '9999,7,train,1\n' --add-nodes 'bad:1: graph 7 is there already, and keeps its split and its label: expected no other split and label'
bad '9999,500,train,1\n9998,500,valid,1\n' --add-nodes 'bad:2: graph 500 began before with its split and its label: expected no other'
bad '9999,500,train,1\n9998,500,train,2\n' --add-nodes 'bad:2: graph 500 began before'
bad '9999,500,train\n' --add-nodes 'bad:1: a training graph without a label: expected one after the split'
bad '9999,500,train,3\n' --add-nodes 'bad:1: .*expected a class from 0 to 2'
bad '9999,500,train,1,1\n' --add-nodes \
    'bad:1: expected 1 label columns, as the dataset has, found 2'
bad '9999,500,later,1\n' --add-nodes \
    "bad:1: split: expected train, valid, test or nothing, found 'later'"
bad "$a,500,train,1\n" --add-nodes "bad:1: node $a is there already"
bad '9999,500,train,1\n' --add-nodes '--features: no row for the new node 9999: expected 3 features'
bad "$a,$b\n" \
    --add-edges 'bad:1: an edge between nodes of two graphs, 7 and 8: expected both ends in one graph'
printf '9999,500,test,1\n9998,7\n' >new_nodes
bad "$a,9998\n9999,9998\n" --add-edges 'bad:2: an edge between nodes of two graphs, 500 and 7' --add-nodes new_nodes --features new_rows
bad "$a,9999\n" --add-edges 'bad:1: an edge between nodes of two graphs, 7 and 500' --add-nodes new_nodes --features new_rows
bad "$a,$b\n" --remove-edges 'bad:1: the edge between .* is removed, expected one that exists'
expect 65 'all: all nodes are removed' "$bin/graphmill" update g.yaml --directory b --quiet --remove-nodes all
awk -F, 'FNR == NR {is[$1] = 1; next} $1 in is {print FNR - 1}' shapes/train.csv shapes/node-graph.csv >training
expect 65 'training: no training graph stays, expected one at least' "$bin/graphmill" update g.yaml --directory b --quiet --remove-nodes training
[ "$before" = "$(store_of)" ] || fail 'a wrong file changed something'
# Repeated statements and empty updates do no harm; an unlabelled graph may be in no split.
printf 'id,graph,split,label\n9999,500,test,1\n9998,500,test,1\n9997,500,,\n9996,501,none\n9995,7,none,\n' >new_nodes
printf '%s,1,0,0\n' 9999 9998 9997 9996 9995 >new_rows
"$bin/graphmill" update g.yaml --directory b --quiet --json --add-nodes new_nodes \
    --features new_rows >said.json
[ "$(json added_nodes <said.json)" = 5 ] || fail "$(cat said.json)"
"$bin/graphmill" update g.yaml --directory b --quiet --json --add-nodes new_nodes \
    --features new_rows >again.json
[ "$(json dataset <again.json)" = "$(json dataset <said.json)" ] ||
    fail 'the same files made a version more'
run b g.yaml >/dev/null
grep -q '^500,test,1,' b/outputs/predictions.csv && grep -q '^501,,,' b/outputs/predictions.csv ||
    fail "$(tail -2 b/outputs/predictions.csv)"

# The same by `watch`.
mkdir in && for version in one two; do cp -r $version in/$version; done
mv in/one in/01 && mv in/two in/02 && mkdir in/03 && printf '%s,%s\n' "$a" "$b" >in/03/add-edges.csv
run v g.yaml >/dev/null
expect 65 refused "$bin/graphmill" watch in g.yaml --directory v \
    --quiet --json --once --warm epochs=1 --set ingest.retrain_touched=0.01 \
    --set ingest.retrain_valid_drop=0.5
[ "$(json dataset <in/done/02.json)" = "$(json dataset <two.json)" ] ||
    fail "watch: $(cat in/done/02.json)"
[ "$(json retrain <in/done/01.json)" = true ] && [ -n "$(json new_valid <in/done/01.json)" ] ||
    fail "watch: $(cat in/done/01.json)"
grep -q 'an edge between nodes of two graphs, 7 and 8' in/refused/03.json ||
    fail "watch: $(cat in/refused/03.json)"

# Files of the TU collection, whose graphs and nodes are numbered from 1, also in updates; several
# numbers for each graph are learned.
python3 "$source_folder/tests/support/make_graphs.py" tu 60 --tu NCI
awk '{print $1 + 0.25 "," NR % 7 / 10}' tu/NCI_graph_attributes.txt >both &&
    mv both tu/NCI_graph_attributes.txt
sed 's/path: shapes.*/path: tu, task: graph_regression, split: random 70\/15\/15, seed: 5}/; s/format: folder/format: tu/; s/, seed: 5}/}/' g.yaml >tu.yaml
run tu-run tu.yaml >/dev/null
first=$(awk '$1 == 2 {print NR; exit}' tu/NCI_graph_indicator.txt) \
    count=$(wc -l <tu/NCI_graph_indicator.txt)
awk '$1 == 1 {print NR}' tu/NCI_graph_indicator.txt >gone
printf 'id,graph,split,label,label\n%d,61,train,0.5,-1.5\n%d,2\n%d,61\n' $((count + 1)) \
    $((count + 2)) $((count + 3)) >new_nodes
awk -v n="$count" 'BEGIN {for (i = 1; i <= 3; i++) print n + i ",0.5,1,0,1,0"}' >new_rows
printf '%d,%d\n%d,%d\n' $((count + 1)) $((count + 3)) $((count + 2)) "$first" >new_edges
tu() { "$bin/graphmill" update tu.yaml --directory tu-run --quiet "$@"; }
printf '%d,%d\n' "$first" $((count + 1)) >bad
expect 65 'bad:1: an edge between nodes of two graphs, 2 and 61' tu --add-nodes new_nodes \
    --features new_rows --add-edges bad
printf '0\n' >bad
expect 65 "bad:1: node '0' is removed and is not there" tu --remove-nodes bad
printf '%d,62\n' "$count" >bad
expect 65 "bad:1: node $count is there already" tu --add-nodes bad
printf '%d,0\n' $((count + 1)) >bad
expect 65 "bad:1: graph: expected a number from 1 on after the id, found '0'" tu --add-nodes bad
tu --remove-nodes gone --add-nodes new_nodes --features new_rows --add-edges new_edges >/dev/null
run tu-run tu.yaml >/dev/null
cut -d, -f1 tu-run/outputs/predictions.csv | tail -n +2 | cmp - <(seq 2 61) ||
    fail 'names of the graphs of tu'
grep -q '^61,train,0.5 -1.5,' tu-run/outputs/predictions.csv ||
    fail "tu: $(tail -1 tu-run/outputs/predictions.csv)"
verified tu-run
replays tu-run ingest
