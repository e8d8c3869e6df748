#!/usr/bin/env bash
# Files of an update in pieces: repeated options, patterns, lists, and the folders of `watch`. They
# are read as if they were one file, in their order, and errors have the file and the line.
. "$(dirname "$0")/library.sh"

ring_graph "$work/g" && cd "$work/g"
printf 'zoe,train,1\nyan,,\n' >nodes && printf 'xia,valid,0\n' >nodes.more
printf 'zoe,1,0.5\n' >rows-1 && printf 'yan,2,0.5\nn5,0,0\n' >rows-2 && printf 'xia,1,1\n' >rows-3
printf 'zoe,n1\n' >edges-1.csv && printf 'source,target\nyan,zoe\nn5,n6\n' >edges-2.csv &&
    printf '# nothing more\nxia,n2\n' | gzip >edges-3.csv.gz
printf 'n0,n11\n' >old-1 && printf 'n5,n46\n' >old-2
printf 'n59\n' >gone-1 && printf 'n58\nn57\n' >gone-2
cat nodes nodes.more >all.nodes && cat rows-? >all.rows && cat old-? >all.old &&
    cat gone-? >all.gone
{ cat edges-1.csv && tail -n +2 edges-2.csv && gzip -dc edges-3.csv.gz; } >all.edges
"$bin/graphmill-ingest" --store "$work/base" --pipeline g.yaml >/dev/null 2>&1
version() { # its id: version STORE [options]
    rm -rf "$work/$1" && cp -r "$work/base" "$work/$1"
    "$bin/graphmill-ingest" --store "$work/$1" --pipeline g.yaml "${@:2}" 2>"$work/said" |
        grep -o 'dataset=[^ ]*'
}
one=$(version one --add-nodes all.nodes --features all.rows --add-edges all.edges \
    --remove-edges all.old --remove-nodes all.gone)
[ -n "$one" ] || fail "one file of each kind: $(cat "$work/said")"
repeated=$(version repeated --add-nodes nodes --add-nodes nodes.more --features rows-1 \
    --features 'rows-[23]' --add-edges edges-1.csv --add-edges edges-2.csv \
    --add-edges edges-3.csv.gz --remove-edges old-1 --remove-edges old-2 --remove-nodes gone-1 \
    --remove-nodes gone-2)
[ "$repeated" = "$one" ] || fail "options that are repeated: '$repeated', expected '$one': $(cat \
    "$work/said")"
patterns=$(version patterns --add-nodes '[nodes, nodes.more]' --features 'rows-*' \
    --add-edges 'edges-?.csv*' --remove-edges 'old-[12]' --remove-nodes '[gone-*]')
[ "$patterns" = "$one" ] || fail "patterns: '$patterns', expected '$one': $(cat "$work/said")"
mkdir list && cp edges-* list
mixed=$(version mixed --add-nodes nodes --add-nodes '[nodes.more]' --features all.rows \
    --add-edges '[edges-1.csv, list/edges-2*]' --add-edges 'list/edges-3*' \
    --remove-edges all.old --remove-nodes 'gone-?')
[ "$mixed" = "$one" ] || fail "lists and options: '$mixed', expected '$one': $(cat "$work/said")"
# Their order is that of a single file.
turned=$(version turned --add-nodes nodes.more --add-nodes nodes --features all.rows \
    --add-edges all.edges --remove-edges all.old --remove-nodes all.gone)
[ -n "$turned" ] && [ "$turned" != "$one" ] ||
    fail "nodes in another order: '$turned', expected another version than '$one': $(cat \
    "$work/said")"
cat nodes.more nodes >turned.nodes
expected=$(version expected --add-nodes turned.nodes --features all.rows --add-edges all.edges \
    --remove-edges all.old --remove-nodes all.gone)
[ "$turned" = "$expected" ] || fail "nodes in another order: '$turned', expected '$expected'"

# By the driver, which passes them on; the same files again change nothing.
run r g.yaml >/dev/null
update() { "$bin/graphmill" update g.yaml --directory "$work/r" --quiet --json "$@"; }
for _ in 1 2; do
    update --add-nodes nodes --add-nodes nodes.more --features 'rows-*' --add-edges edges-1.csv \
        --add-edges 'edges-[23]*' --remove-edges 'old-*' \
        --remove-nodes gone-1 --remove-nodes gone-2 >version.json
    [ "dataset=$(json dataset <version.json)" = "$one" ] ||
        fail "by the driver: $(cat version.json)"
    [ "$(json version <version.json)" = 1 ] || fail "the same files again: $(cat version.json)"
done

# Errors have their own file and line.
bad() { # what is said, the text of the second file, its option, the first file
    printf "$2" >second
    expect 65 "$1" update "$3" "$4" "$3" second
}
printf 'n1,n3\n' >fine_edges && printf 'n1,n18\n' >fine_old && printf 'n7\n' >fine_gone &&
    printf 'n8,1,1\n' >fine_rows
printf 'bob,train,1\n' >fine_nodes
bad "second:2: target: no node has the id 'bob'" 'n3,n4\nn4,bob\n' --add-edges fine_edges
bad 'second:1: expected 2 columns, found 3' 'n3,n4,1\n' --add-edges fine_edges
bad "second:2: the edge between 'n[0-9]*' and 'n[0-9]*' is removed, expected one that exists" '# a line\nn1,n30\n' --remove-edges fine_old
bad "second:1: the edge between 'n[0-9]*' and 'n[0-9]*' is removed twice, expected each once" 'n1,n18\n' --remove-edges fine_old
bad "second:3: node 'n59' is removed and is not there" 'n9\nn10\nn59\n' --remove-nodes fine_gone
bad "second:1: node 'n7' is removed twice" 'n7\n' --remove-nodes fine_gone
bad "second:2: node 'bob' is added twice" 'ann,,\nbob,,\n' --add-nodes fine_nodes
bad 'second:1: split: expected train' 'ann,later,1\n' --add-nodes fine_nodes
bad 'second:1: expected a row, since the first file has no header, found .id,split,label.' \
    'id,split,label\nann,,\n' --add-nodes fine_nodes
printf 'id,split,label\nbob,train,1\n' >headed
bad 'second:1: expected the header of the first file, found .ann,,.' 'ann,,\n' --add-nodes headed
bad "second:1: label: expected a number, found 'x'" 'ann,train,x\n' --add-nodes fine_nodes
bad "second:2: node 'n8' has a row already" 'n9,1,1\nn8,1,1\n' --features fine_rows
bad 'second:1: .*expected 2' 'n9,1\n' --features fine_rows
status=0
update --add-edges 'none-*' >answer 2>said || status=$?
[ $status -eq 66 ] || [ $status -eq 65 ] || fail "a pattern that nothing fits: status $status"
grep -q 'none-\*: expected files of such names, found none' said ||
    fail "a pattern that nothing fits: $(cat said)"
cp fine_edges 'a,b'
expect 64 '--add-edges: a,b: expected a path without a comma where there are several files' update \
    --add-edges fine_edges --add-edges a,b
grep -q "\"dataset\":\"${one#dataset=}\"" version.json &&
    [ "$(ls "$work/r/store/dataset" | wc -l)" = 2 ] || fail 'a wrong file made a version'
# A single file may have any name.
update --add-edges a,b >version.json
[ "$(json version <version.json)" = 2 ] || fail "a name with a comma: $(cat version.json)"

# A negative weight is remembered with its file.
mkdir weights && cd weights &&
    awk 'BEGIN {for (v = 0; v < 40; v++) print "m" v ",m" (v + 1) % 40 ",1"}' >edges.csv
printf 'm0,m2,1\n' >more-1 && printf 'm0,m3,1\nm0,m4,-2\n' >more-2
printf 'name: w\ningest:\n  format: edge_list\n  path: edges.csv\n  edge_columns: "source: 1; target: 2; weight: 3"\n  direction: as_given\n  task: link_prediction\n  edge_split: random 60/20/20\n' >w.yaml
"$bin/graphmill-ingest" --store "$work/w" --pipeline w.yaml >/dev/null 2>&1
"$bin/graphmill-ingest" --store "$work/w" --pipeline w.yaml --add-edges 'more-*' >answer 2>said ||
    fail "weights: $(cat said)"
grep -rqa 'more-2:2' "$work/w/dataset" || fail 'the place of a negative weight'
"$bin/graphmill-ingest" --store "$work/refuse" --pipeline w.yaml --set ingest.duplicates=refuse \
    >/dev/null 2>&1
seq -f 'm0,m%.0f,1' 5 19 >new-1 && { echo && cat new-1; } >new-2
expect 65 'new-2:[0-9]*: the edge from .*: expected one that is new' "$bin/graphmill-ingest" \
    --store "$work/refuse" --pipeline w.yaml \
    --set ingest.duplicates=refuse --add-edges 'new-[12]'
cd ..

# By `watch`: several files of a kind, in the order of their names.
mkdir -p "$work/in/01" && run v g.yaml >/dev/null
cp nodes "$work/in/01/add-nodes-1.csv" && cp nodes.more "$work/in/01/add-nodes-2.csv" &&
    cp all.rows "$work/in/01/features.csv"
for i in 1 2; do cp edges-$i.csv "$work/in/01/add-edges-$i.csv" &&
    cp old-$i "$work/in/01/remove-edges-$i" && cp gone-$i "$work/in/01/remove-nodes-$i.txt"; done
cp edges-3.csv.gz "$work/in/01/add-edges-3.csv.gz"
mkdir "$work/in/02" "$work/in/03" && cp fine_edges "$work/in/02/add-edges-1.csv" &&
    printf 'n1,n3\nn1,nobody\n' >"$work/in/02/add-edges-2.csv"
cp fine_edges "$work/in/03/add-edges-1.csv" && cp fine_edges "$work/in/03/add-edges-1.txt"
expect 65 'updates that were refused: 2' "$bin/graphmill" watch "$work/in" g.yaml --directory "$work/v" --quiet --once
[ "dataset=$(json dataset <"$work/in/done/01.json")" = "$one" ] || fail "watched: $(cat "$work/in/done/01.json")"
grep -q "add-edges-2.csv:2: target: no node has the id 'nobody'" "$work/in/refused/02.json" || fail "watched: $(cat "$work/in/refused/02.json")"
grep -q 'add-edges-1.txt: expected one file of this name' "$work/in/refused/03.json" || fail "watched: $(cat "$work/in/refused/03.json")"
