#!/usr/bin/env bash
# A graph with relations that changes: a version equals what ingest makes of the whole graph, read
# merged or complete; a run on it, a warm start, `watch`; kills, damage, and files that do not fit.
. "$(dirname "$0")/library.sh"

papers_graph "$work/g" 90 && cd "$work"
python3 "$source_folder/tests/support/changed_papers.py" g
{ papers_pipeline g 5 3 'missing_features: degree'; cat; } >g.yaml <<END
  update: anew
sample:
  fanouts: [4, 3]
  batch_size: 15
train-step:
  model: rgcn
  hidden: 8
aggregate:
  learning_rate: 0.02
checkpoint:
  keep: 0
END
sed 's/path: g$/path: whole/' g.yaml >whole.yaml

mkdir one two
printf 'id,type,split,label\n900,paper,train,1\n901,author\n902,venue\n903,paper,valid,2\n' \
    >one/add-nodes.csv
printf '900,0.5,1,0.25,2\n903,1,0,0,1\n70,0,0,1,1\n' >one/features.csv
printf 'src,dst,etype\n901,900,writes\n900,70,cites\n900,902,2\n7,903,author:writes:paper\n903,903,1\n' >one/add-edges.csv
sed -n '2p;4p' g/edges.csv >some
{ echo source,target,relation && sed -n 1p some &&
    sed -n '2s/1$/cites/p' some; } >one/remove-edges.csv
printf '3\n149\n' >one/remove-nodes.csv
printf 'src,dst,etype\n901,100,0\n900,80,1\n80,900,cites\n' >two/add-edges.csv
printf '901\n5\n' >two/remove-nodes.csv
sed -i '/^901,/d' two/add-edges.csv # it goes
files() { for name in add-nodes features add-edges remove-edges remove-nodes; \
    do [ ! -e "$1/$name.csv" ] || echo "--$name $1/$name.csv"; done; }
# shellcheck disable=SC2046 # a list of options
update() { "$bin/graphmill" update g.yaml --directory "$1" --quiet --json $(files "$2") "${@:3}"; }
hash() { json weights_hash <"$1"; }

# Versions, and runs on them, equal those of the whole graph. Values computed from degrees change
# for every node, and are stored; everything else is merged.
run r g.yaml >first.json
for version in one two; do
    update r $version --set ingest.retrain_touched=0.01 >$version.json
    [ "$(json retrain <$version.json)" = true ] || fail "drift: $(cat $version.json)"
    awk -v t="$(json touched <$version.json)" 'BEGIN {exit !(t > 0)}' ||
        fail "touched: $(cat $version.json)"
done
[ "$(json added_nodes <one.json)/$(json removed_nodes <one.json)/$(json nodes <one.json)" = \
    4/2/155 ] &&
    [ "$(json added_edges <one.json)/$(json removed_edges <one.json)" = 5/2 ] ||
    fail "update: $(cat one.json)"
id=$(json dataset <two.json)
[ "$(cd "r/store/dataset/$id" && ls | tr '\n' ' ')" = \
    'delta.record features merge.record schema.record ' ] || fail "two: $(ls "r/store/dataset/$id")"
run r g.yaml >second.json
python3 "$source_folder/tests/support/changed_papers.py" g one two whole
run w whole.yaml >whole.json
[ "$(hash second.json)" = "$(hash whole.json)" ] ||
    fail 'a run on the version has other weights than one on the whole graph'
[ "$(hash second.json)" != "$(hash first.json)" ] || fail 'the run is the same'
# ids of papers, and classes
cmp <(cut -d, -f1,3 r/outputs/predictions.csv) <(cut -d, -f1,3 w/outputs/predictions.csv)
grep -q '^900,' r/outputs/predictions.csv && ! grep -qE '^(149|901),' r/outputs/predictions.csv ||
    fail 'ids of the version'
grep -q '^OK' <<<"$("$bin/graphmill" verify r)" || fail 'verify'
for unit in ingest partition 'sample --round 0 --slot 0' 'train-step --round 0 --slot 0' \
    'aggregate --round 0' checkpoint infer; do
    # shellcheck disable=SC2086 # a stage and its options
    replays r $unit
done
# The same written completely, in its own folder.
run x g.yaml --set partition.compact=0 >/dev/null
for version in one two; do update x $version --set partition.compact=0 >x.json; done
[ "$(json dataset <x.json)" = "$id" ] && [ ! -e "x/store/dataset/$id/merge.record" ] ||
    fail "written whole: $(ls "x/store/dataset/$id")"
run x g.yaml --set partition.compact=0 >third.json
[ "$(hash third.json)" = "$(hash whole.json)" ] || fail 'the version that is written whole'

# Placed parts: staying nodes keep theirs.
place=(--set partition.update=place)
run p g.yaml "${place[@]}" >/dev/null
for version in one two; do update p $version "${place[@]}" >p.json; done
run p g.yaml "${place[@]}" >placed.json
grep -q '"method":"placed"' <<<"$("$bin/graphmill" export p --what report --output /dev/stdout)" ||
    fail 'nodes that stayed were partitioned again'
grep -q '^OK' <<<"$("$bin/graphmill" verify p)" || fail 'verify of placed parts'
replays p partition
replays p infer

# Types without relations: all nodes have rows, zeros where none were given. Edges still have their
# type.
named=(--set ingest.relations=false --set ingest.add_reverse=false --set train-step.model=sage)
cp -r one named && printf '901,0,0,0,0\n902,0,0,0,0\n' >>named/features.csv
run n g.yaml "${named[@]}" >/dev/null
update n named "${named[@]}" >named.json
update n two "${named[@]}" >named.json
run n g.yaml "${named[@]}" >named.json
run m whole.yaml "${named[@]}" >whole_named.json
[ "$(hash named.json)" = "$(hash whole_named.json)" ] ||
    fail 'types that are names: other weights than of the whole graph'
grep -q '^OK' <<<"$("$bin/graphmill" verify n)" || fail 'verify of types that are names'

# Damage: lost records of the version, or of the versions it is merged from, are made again.
printf x | dd of="r/store/dataset/$id/features/0000000000.record" bs=1 seek=300 conv=notrunc \
    status=none
expect 65 "$id/features/0000000000" "$bin/graphmill" verify r --remove
run r g.yaml >again.json
[ "$(hash again.json)" = "$(hash second.json)" ] || fail 'another run after damage'
grep -q '^OK' <<<"$("$bin/graphmill" verify r)" || fail 'verify after damage'

# Killed at any moment: the same command ends with the same version.
# shellcheck disable=SC2046
killed_updates g.yaml "$(json dataset <one.json)" $(files one)

# Files that do not fit are named, and change nothing.
before=$(find r/store/dataset r/store/switch -type f | sort | xargs md5sum)
bad() { # the text of the file, its option, what is said
    printf "$1" >bad
    expect 65 "$3" "$bin/graphmill" update g.yaml --directory r --quiet "$2" bad
}
bad '950\n' --add-nodes \
    'bad:1: expected a header above, with id and type as its first columns, since nodes have several types: author, paper, venue'
bad 'id,split\n950,\n' --add-nodes 'bad:2: expected a header above, with id and type'
bad 'id,type\n950,book\n' --add-nodes \
    "bad:2: type: expected one of the node types \(author, paper, venue\), found 'book'"
bad 'id,type\n950\n' --add-nodes "bad:2: type: expected one of the node types .*, found ''"
bad 'id,type\n900,paper\n' --add-nodes 'bad:2: node 900 is there already'
bad 'id,type\n950,author\n950,paper\n' --add-nodes "bad:3: node '950' is added twice"
bad 'id,type,split,label\n950,author,train,1\n' \
    --add-nodes 'bad:2: split: expected nothing, since nodes of type paper alone have labels and splits, found one of a node of type author'
bad 'id,type,split,label\n950,author,,1\n' --add-nodes 'bad:2: label: expected nothing'
bad 'id,type,split,label\n950,paper,train,9\n' --add-nodes 'bad:2: .*expected a class from 0 to 2'
bad 'id,type\n950,paper\n' --add-nodes \
    '--features: no row for the new node 950: expected 4 features'
bad '7,1,2,3,4\n' \
    --features "bad:1: node '7' is of type author, whose features are not given \(degree\): expected no row"
bad '70,1,2,3\n' --features 'bad:1: .*expected 4'
bad 'id,type,x\n70,author,1,2,3,4\n' \
    --features "bad:2: node: node '70' is of type paper, expected one of type author"
bad '70,80\n' \
    --add-edges 'bad:1: expected a header with a column etype, since edges have several relations: writes, cites, in'
bad 'src,dst\n70,80\n' --remove-edges 'bad:1: expected a header with a column etype'
bad 'src,dst,etype\n70,80,writes\n' --add-edges "bad:2: source: node '70' is of type paper, expected one of type author"
bad 'src,dst,etype\n70,7,cites\n' --add-edges "bad:2: target: node '7' is of type author, expected one of type paper"
bad 'src,dst,etype\n70,80,3\n' --add-edges "bad:2: relation: expected the name or number of a relation \(writes, cites, in\), found '3'"
bad 'src,dst,etype\n70,80,rev_cites\n' --add-edges "bad:2: relation: expected the name or number of a relation .*found 'rev_cites'"
bad 'src,dst,etype\n80,900,cites\n80,901,cites\n' --add-edges "bad:3: target: no node has the id '901'"
bad 'src,dst,etype,weight\n70,80,cites,1\n' --add-edges "bad:1: the dataset's edges have 0 columns of edge weights, found 1"
bad 'src,dst,etype\n900,80,cites\n900,80,cites\n' --remove-edges 'bad:3: the edge between 900 and 80 of relation cites is removed twice, expected each once'
sed -n 's/^\([0-9]*,[0-9]*\),0$/src,dst,etype\\n\1,2\\n/p' g/edges.csv | sed -n 30p >kind # a pair that is of another relation
bad "$(sed 's/,2\\n$/,writes\\n/; s/dst,etype\\n[0-9]*/dst,etype\\n8/' kind)" --remove-edges 'bad:2: the edge between 8 and [0-9]* of relation writes is removed, expected one that exists'
bad '901\n' --remove-nodes "bad:1: node '901' is removed and is not there"
bad 'id,type\n900,author\n' --remove-nodes "bad:2: node: node '900' is of type paper, expected one of type author"
bad '900,70\n' --remove-nodes "bad:1: expected a node and nothing after it, found '70'"
[ "$before" = "$(find r/store/dataset r/store/switch -type f | sort | xargs md5sum)" ] || fail 'a wrong file changed something'

# From the existing model, on the version; and the same by `watch`.
run r g.yaml --set "train-step.initial=$(json run <first.json)" >warm.json
[ "$(hash warm.json)" != "$(hash second.json)" ] || fail 'the warm start is the cold one'
grep -q '^OK' <<<"$("$bin/graphmill" verify r)" || fail 'verify of the warm start'
mkdir in && cp -r one in/01 && cp -r two in/02 && mkdir in/03 &&
    printf 'src,dst,etype\n70,80,writes\n' >in/03/add-edges.csv
run v g.yaml >/dev/null
expect 65 refused "$bin/graphmill" watch in g.yaml --directory v \
    --quiet --json --once --warm epochs=1 --set ingest.retrain_touched=0.01 \
    --set ingest.retrain_valid_drop=0.5
[ "$(json dataset <in/done/02.json)" = "$id" ] || fail "watch: $(cat in/done/02.json)"
[ "$(json retrain <in/done/01.json)" = true ] && [ -n "$(json new_valid <in/done/01.json)" ] ||
    fail "watch: $(cat in/done/01.json)"
grep -q "of type paper, expected one of type author" in/refused/03.json ||
    fail "watch: $(cat in/refused/03.json)"
