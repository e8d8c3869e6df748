#!/usr/bin/env bash
# Updates of graphs with relations that learn pairs: links with given negatives, links with drawn
# splits, and labels of edges. A version equals what ingest makes of the whole graph, read merged or
# complete; runs on it, placed parts, `watch`; kills, damage, and files that do not fit.
. "$(dirname "$0")/library.sh"
cd "$work"
changed() { python3 "$source_folder/tests/support/changed_papers.py" "$@"; }
hash() { json weights_hash <"$1"; }
files() { for name in add-nodes features add-edges remove-edges remove-nodes; \
    do [ ! -e "$1/$name.csv" ] || echo "--$name $1/$name.csv"; done; }
# shellcheck disable=SC2046 # a list of options: update RUN FILE FOLDER [options]
update() { "$bin/graphmill" update "$2" --directory "$1" --quiet --json $(files "$3") "${@:4}"; }
verified() { grep -q '^OK' <<<"$("$bin/graphmill" verify "$1")" || fail "verify of $1"; }
# The run on a version in its folder equals one on the whole graph: same_as_whole RUN WHOLE
same_as_whole() {
    [ "$(hash "$1.json")" = "$(hash "$2.json")" ] ||
        fail "$1: other weights than on the whole graph"
    local file
    for file in predictions.csv embeddings.npy; do cmp "$1/outputs/$file" "$2/outputs/$file" ||
        fail "$1: another $file"; done
    verified "$1"
}
training() {
    cat <<'YAML'
sample:
  fanouts: [4, 3]
  batch_size: 60
  negatives: 2
train-step:
  model: rgcn
  hidden: 8
  decoder: distmult
aggregate:
  learning_rate: 0.02
checkpoint:
  keep: 0
YAML
}

# --- links with given negatives ---

papers_graph g 90
rm g/{train,valid,test,node-label}.csv # none is read
# Every fifth edge is held out. A line has other targets of the relation; the first validation line
# is of the relation cites.
python3 - <<'PYTHON'
import random
random.seed(5)
edges = list(dict.fromkeys(tuple(line.split(",")) for line in open("g/edges.csv").read().split()[1:]))
targets = {"0": range(60, 149), "1": range(60, 149), "2": range(150, 153)}
split = {"valid": edges[0::10], "test": edges[5::10], "train": [edge for i, edge in enumerate(edges) if i % 5]}
def write(path, head, rows): open(path, "w").write("".join(",".join(map(str, row)) + "\n" for row in head + rows))
write("g/edges.csv", [("src", "dst", "etype")], split["train"])
for name, of in split.items():
    given = [edge + tuple(random.sample(targets[edge[2]], random.randint(3, 9 if edge[2] != "2" else 3))) for edge in of]
    if name == "train": given = given[: len(given) // 2]
    else: write(f"g/held-{name}.csv", [("source", "target", "type")], of)
    if name == "valid":
        lonely = next(i for i, line in enumerate(given) if line[2] == "1")
        given[lonely] = given[lonely][:3] + ("149",)
    write(f"g/negatives-{name}.csv", [], given)
PYTHON
changed g
lonely=$(awk -F, 'NF == 4' g/negatives-valid.csv)
given() { # FOLDER
    papers_pipeline "$1" 5 2 'missing_features: degree' 'task: link_prediction' \
        'edge_split: given' "valid_edges: $1/held-valid.csv" \
        "test_edges: $1/held-test.csv" "train_negatives: $1/negatives-train.csv" \
        "valid_negatives: $1/negatives-valid.csv" "test_negatives: $1/negatives-test.csv"
    printf '  update: anew\n'
    training | sed 's/negatives: 2/&\n  negative: given/'
    printf 'infer:\n  ranking: given\n'
}
given g >given.yaml && given whole >whole.yaml
mkdir one two
printf 'id,type\n900,paper\n901,author\n902,venue\n903,paper\n' >one/add-nodes.csv
printf '900,0.5,1,0.25,2\n903,1,0,0,1\n70,0,0,1,1\n' >one/features.csv
printf 'src,dst,etype\n901,900,writes\n900,70,cites\n900,902,2\n7,903,author:writes:paper\n903,903,1\n' >one/add-edges.csv
{ echo source,target,relation && sed -n '4p' g/held-valid.csv && sed -n '6,7p' g/held-test.csv &&
    sed -n '2p;9p' g/edges.csv; } >one/remove-edges.csv
printf '3\n147\n' >one/remove-nodes.csv
sed -i '/^3,\|,147,/d' one/remove-edges.csv # they go with the nodes
printf 'src,dst,etype\n7,100,0\n900,80,1\n80,900,cites\n' >two/add-edges.csv
{ echo source,target,etype && echo 903,903,cites; } >two/remove-edges.csv
printf '901\n5\n' >two/remove-nodes.csv

run r given.yaml >first.json
for version in one two; do
    update r given.yaml $version --set ingest.retrain_touched=0.01 >$version.json
    [ "$(json retrain <$version.json)" = true ] || fail "drift: $(cat $version.json)"
done
[ "$(json added_nodes <one.json)/$(json removed_nodes <one.json)" = 4/2 ] &&
    [ "$(json added_edges <one.json)" = 5 ] &&
    [ "$(json removed_edges <one.json)" = $(($(wc -l <one/remove-edges.csv) - 1)) ] ||
    fail "update: $(cat one.json)"
id=$(json dataset <two.json)
[ "$(cd "r/store/dataset/$id" && ls | tr '\n' ' ')" = \
    'delta.record features merge.record schema.record ' ] || fail "two: $(ls "r/store/dataset/$id")"
run r given.yaml >r.json
changed g one two whole
run w whole.yaml >w.json
same_as_whole r w
[ "$(hash r.json)" != "$(hash first.json)" ] || fail 'the run is the same'
[ "$(wc -l <r/outputs/predictions.csv)" -lt "$(cat g/held-*.csv | wc -l)" ] ||
    fail 'nothing that was held out is gone'
replay_each r ingest partition 'sample --round 0 --slot 0' 'sample --evaluation' \
    'train-step --round 0 --slot 0' 'aggregate --round 0' checkpoint infer

# The same written completely, in its own folder.
run x given.yaml --set partition.compact=0 >/dev/null
for version in one two; do update x given.yaml $version --set partition.compact=0 >x.json; done
[ "$(json dataset <x.json)" = "$id" ] && [ -e "x/store/dataset/$id/edge_splits.record" ] ||
    fail "written whole: $(ls "x/store/dataset/$id")"
run x given.yaml --set partition.compact=0 >x.json
same_as_whole x w

# Placed parts: staying nodes keep theirs, and parts are deltas; training on them equals that on
# complete parts.
for name in p q; do
    compact=(--set partition.update=place --set partition.drift=1000 \
        --set "partition.compact=$([ $name = q ] || echo 0.9)")
    [ $name = p ] || compact[5]=partition.compact=0
    run $name given.yaml "${compact[@]}" >/dev/null
    for version in one two; do update $name given.yaml $version "${compact[@]}" >/dev/null; done
    run $name given.yaml "${compact[@]}" >$name.json
    grep -q '"method":"placed"' <<<"$("$bin/graphmill" export $name --what report \
        --output /dev/stdout)" || fail "$name: nodes that stayed were partitioned again"
done
same_as_whole p q
[ "$(find p/store/partition -name delta.record |
    wc -l)/$(find q/store/partition -name delta.record | wc -l)" = 1/0 ] ||
    fail 'parts that are deltas'
cmp <(cut -d, -f1-4 p/outputs/predictions.csv) <(cut -d, -f1-4 w/outputs/predictions.csv) ||
    fail 'placed: other edges are held out'
replay_each p partition sample infer

# Damage: lost records of the version, or of the versions it is merged from, are made again.
damage "r/store/dataset/$(json base <one.json)/edge_splits.record"
expect 65 'edge_splits' "$bin/graphmill" verify r --remove
run r given.yaml >again.json
[ "$(hash again.json)" = "$(hash r.json)" ] || fail 'another run after damage'
verified r

# Killed at any moment: the same command ends with the same version.
# shellcheck disable=SC2046
killed_updates given.yaml "$(json dataset <one.json)" $(files one)

# Files that do not fit are named, and change nothing.
state() { (cd "$1/store" && find dataset switch -type f | sort | xargs md5sum); }
bad() { # RUN FILE; the text of the file, its option, what is said
    printf "$3" >bad
    expect 65 "$5" "$bin/graphmill" update "$2" --directory "$1" --quiet "$4" bad
}
run f given.yaml >/dev/null
before=$(state f)
bad f given.yaml 'id,type\n7,author\n149,paper\n' --remove-nodes \
    "bad:3: node 149 is removed, and with it the last of the given negatives of the valid edge from ${lonely%%,*} to $(cut -d, -f2 <<<"$lonely") of relation cites: expected at least one that stays"
bad f given.yaml 'id,type,split\n950,paper,train\n' --add-nodes 'bad:2: split: expected nothing, since the dataset learns links'
bad f given.yaml 'src,dst\n70,80\n' --add-edges 'bad:1: expected a header with a column etype, since edges have several relations: writes, cites, in'
bad f given.yaml 'src,dst,etype\n70,80,rev_cites\n' --add-edges "bad:2: relation: expected the name or number of a relation .*found 'rev_cites'"
sed -n '2p' g/held-test.csv | cut -d, -f1,2 >pair # of relation writes, and of no other
bad f given.yaml "src,dst,etype\n$(cat pair),writes\n" --add-edges 'the files of the update change nothing: the links of its edges are held out already'
bad f given.yaml "src,dst,etype\n$(cat pair),in\n" --remove-edges "bad:2: source: node '[0-9]+' is of type author, expected one of type paper"
[ "$before" = "$(state f)" ] || fail 'a wrong file changed something'

# Such a node may be removed with its edge.
cp -r f fine
printf '149\n' >node && { echo source,target,etype && cut -d, -f1-3 <<<"$lonely"; } >edge
"$bin/graphmill" update given.yaml --directory fine --quiet --remove-nodes node \
    --remove-edges edge >/dev/null

# The same by `watch`.
mkdir in && cp -r one in/01 && cp -r two in/02 && mkdir in/03 &&
    printf 'src,dst,etype\n70,80,writes\n' >in/03/add-edges.csv
expect 65 refused "$bin/graphmill" watch in given.yaml --directory f \
    --quiet --json --once --warm epochs=1 --set ingest.retrain_touched=0.01
[ "$(json dataset <in/done/02.json)" = "$id" ] || fail "watch: $(cat in/done/02.json)"
[ "$(json retrain <in/done/01.json)" = true ] && [ -n "$(json new_valid <in/done/01.json)" ] ||
    fail "watch: $(cat in/done/01.json)"
grep -q "of type paper, expected one of type author" in/refused/03.json ||
    fail "watch: $(cat in/refused/03.json)"

# --- links that draw ---

# New nodes are of the last type, so that no other node is renumbered. Two relations with the same
# ends are updated together, and so are reverses.
papers_graph h 90
rm h/{train,valid,test,node-label}.csv
changed h
drawn() { # FOLDER
    papers_pipeline "$1" 5 2 'task: link_prediction' 'edge_split: random 60/20/20' \
        'missing_features: random' 'random_dim: 8'
    printf '  update: anew\n'
    training
}
drawn h >drawn.yaml && drawn whole_drawn >whole_drawn.yaml
mkdir more
printf 'id,type\n902,venue\n903,venue\n' >more/add-nodes.csv
awk 'BEGIN {print "src,dst,etype"; for (i = 0; i < 40; i++) print 60 + 2 * i ",90" 2 + i % 2 ",in\n" 60 + i "," 60 + (i * 17 + 9) % 90 ",cites\n" i ",1" 10 + i % 40 ",writes"}' >more/add-edges.csv
{ echo source,target,etype && awk -F, 'NR % 23 == 9 && !seen[$1 "," $2 "," $3]++' h/edges.csv; } \
    >more/remove-edges.csv
run d drawn.yaml >/dev/null
update d drawn.yaml more >more.json
run d drawn.yaml >d.json
changed h more whole_drawn
run dw whole_drawn.yaml >dw.json
same_as_whole d dw
grep -qE '^[0-9]+,90[23],2,(valid|test)' d/outputs/predictions.csv || fail 'no new edge is held out'

# --- labels of edges ---

awk -F, 'NR == 1 {print "src,dst,rating,etype"; next} !seen[$0]++ {print $1 "," $2 "," ($2 + $3) % 3 "," $3}' h/edges.csv >edges && mv edges h/edges.csv
labelled() { drawn "$1" |
    sed 's/link_prediction/edge_classification\n  edge_label: rating/; /negatives: 2/d; s/distmult/concat\n  class_weights: balanced/'; }
labelled h >labelled.yaml && labelled whole_labelled >whole_labelled.yaml
cp -r more rated && awk -F, 'NR == 1 {print "src,dst,etype,rating"; next} {print $0 "," NR % 3}' \
    more/add-edges.csv >rated/add-edges.csv
run l labelled.yaml >/dev/null
update l labelled.yaml rated >rated.json
run l labelled.yaml >l.json
changed h rated whole_labelled
run lw whole_labelled.yaml >lw.json
same_as_whole l lw
before=$(state l)
bad l labelled.yaml 'src,dst,etype\n70,80,cites\n' \
    --add-edges "bad:1: expected a header with a column 'rating', the labels of edges \(ingest.edge_label\), found none"
bad l labelled.yaml 'src,dst,etype,rating\n70,80,cites,1\n70,81,cites,3\n' \
    --add-edges 'bad:3: the rating is class 3: expected one below 3'
[ "$before" = "$(state l)" ] || fail 'a wrong file changed something'
# On a version that is the same graph a model is as good as before.
mkdir same && sed -n '1p;4p;50p' h/edges.csv >same/add-edges.csv &&
    awk -F, '{print $1 "," $2 "," $4}' same/add-edges.csv >same/remove-edges.csv
update l labelled.yaml same --set ingest.retrain_valid_drop=0.5 >same.json
[ -n "$(json valid_before <same.json)" ] &&
    [ "$(json valid_before <same.json)" = "$(json valid_now <same.json)" ] ||
    fail "the same graph: $(cat same.json)"
# Removing a node removes its pairs, in every relation.
printf '70\n' >bad
"$bin/graphmill" update labelled.yaml --directory l --quiet --remove-nodes bad >/dev/null
run l labelled.yaml >/dev/null
! grep -qE '^70,|^[0-9]+,70,' l/outputs/predictions.csv ||
    fail 'an edge of a node that is gone is held out'
verified l
