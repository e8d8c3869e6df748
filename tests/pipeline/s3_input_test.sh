#!/usr/bin/env bash
# Input in a bucket of a real SeaweedFS: graphmill load copies it there, ingest reads it from there,
# as a folder and as single files, and the result equals that of the local files. Unchanged objects
# are not fetched again; errors are named by the object's address.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
seaweedfs
cd "$work"
load() { "$bin/graphmill" load "$@"; }
at() { echo "s3://graphmill/$1?endpoint=$endpoint"; }

# Single files, each by its setting.
ring_graph ring
before=$(run here ring/g.yaml | json weights_hash)
[[ $(load ring "$(at ring)") == '4 files, '* ]] || fail "load said something else"
files=(--set "ingest.path=$(at ring/edges.csv)" --set "ingest.labels=$(at ring/labels.csv)" \
    --set "ingest.features=$(at ring/rows.csv)")
run there ring/g.yaml "${files[@]}" >answer || fail "no run of files in a bucket"
[ "$(json weights_hash <answer)" = "$before" ] ||
    fail "another model: $(cat answer), expected $before"
dataset() { ls "$1/store/dataset"; }
[ "$(dataset here)" = "$(dataset there)" ] ||
    fail "another dataset: $(dataset there), expected $(dataset here)"
[ -z "$(find there/store -name edges.csv)" ] || fail "the copies are still there"

# Again with other training settings: nothing is fetched, because the versions of the objects are
# known.
grep -c 'progress graphmill-ingest fetching' there/logs/ingest.log >fetched || true
run there ring/g.yaml "${files[@]}" --set epochs=3 >answer
[ "$(grep -c 'progress graphmill-ingest fetching' there/logs/ingest.log)" = "$(cat fetched)" ] ||
    fail "it was fetched again"
grep -q 'input is unchanged' there/logs/ingest.log ||
    fail "it does not say that the input is unchanged"
[ "$(dataset there | wc -l)" -eq 1 ] || fail "two datasets"
# One file changes: another dataset, equal to that of the local file.
sed -i 's/^n1,.*/n1,1,0.5/' ring/rows.csv
load ring "$(at ring)" >answer
run there ring/g.yaml "${files[@]}" >answer
run here ring/g.yaml >answer
[ "$(dataset there | wc -l)" -eq 2 ] || fail "the change was not seen"
[ "$(dataset here)" = "$(dataset there)" ] || fail "another dataset after the change"

# A folder with subfolders, and another one whose name is a prefix.
papers_graph papers 90
papers_pipeline "$work/papers" 3 2 'missing_features: degree' >papers.yaml
"$bin/graphmill-ingest" --store "dir:$work/papers-here/store" --pipeline papers.yaml >answer \
    2>stderr
load papers "$(at graphs/papers)" >answer
load ring "$(at graphs/papers-other)" >answer
"$bin/graphmill-ingest" --store "dir:$work/papers-there/store" --pipeline papers.yaml \
    --set "ingest.path=$(at graphs/papers)" >answer 2>stderr
[ "$(dataset papers-here)" = "$(dataset papers-there)" ] || fail "another dataset of the folder"

# Patterns and lists: several files of edges and of nodes, in one folder and in several, some
# compressed, some local.
mkdir -p parts/days/1 parts/days/2
split -n l/4 -d -a 1 ring/edges.csv parts/edges-
split -n l/2 -d -a 1 ring/labels.csv parts/labels-
split -n l/3 -d -a 1 ring/rows.csv parts/rows-
for part in parts/edges-? parts/labels-? parts/rows-?; do mv "$part" "$part.csv"; done
gzip -n parts/edges-3.csv
cp parts/edges-0.csv parts/edges-1.csv parts/days/1
cp parts/edges-2.csv parts/edges-3.csv.gz parts/days/2
cp parts/edges-0.csv 'parts/odd[1].csv'
echo 'no edges' >parts/.edges-9.csv
load parts "$(at parts)" >answer
for part in parts/labels-?.csv; do load "$part" \
    "s3://graphmill/top-${part##*/}?endpoint=$endpoint" >answer; done
parts_of() { # store, edges, labels, features; further options: the id of the dataset
    "$bin/graphmill-ingest" --store "dir:$work/$1" --pipeline ring/g.yaml --set "ingest.path=$2" \
        --set "ingest.labels=$3" --set "ingest.features=$4" "${@:5}" 2>"$work/said" |
        sed 's/^unchanged //; s/ .*//'
}
p=$work/parts
one=$(parts_of parts-here "$p/edges-*" "$p/labels-*.csv" "$p/rows-*.csv")
case $one in dataset=g-*) ;; *) fail "several files: $one $(cat said)" ;; esac
same() { # what, then as parts_of
    local found
    found=$(parts_of "${@:2}")
    [ "$found" = "$one" ] || fail "$1: found '$found', expected $one: $(cat said)"
}
same patterns parts-there "$(at 'parts/edges-*')" "$(at 'parts/labels-*.csv')" \
    "$(at 'parts/rows-[0-2].csv')"
grep -q 'progress graphmill-ingest fetching' said || fail "nothing was fetched: $(cat said)"
same 'patterns again' parts-there "$(at 'parts/edges-*')" "$(at 'parts/labels-*.csv')" \
    "$(at 'parts/rows-[0-2].csv')"
grep -q 'progress graphmill-ingest fetching' said && fail "patterns were fetched again"
same 'a pattern of folders' folders-there "$(at 'parts/days/*/edges-*')" \
    "$(at 'parts/labels-*.csv')" "$(at 'parts/rows-*.csv')"
same 'a pattern at the top' top-there "$(at 'parts/edges-*')" "$(at 'top-labels-*')" \
    "$(at 'parts/rows-*.csv')"
same lists lists-there "[$(at parts/edges-0.csv), $(at 'parts/edges-[12].csv'), $(at \
    parts/edges-3.csv.gz)]" "[$(at parts/labels-0.csv),$(at parts/labels-1.csv)]" \
    "[$(at parts/rows-0.csv), $(at 'parts/rows-[1-9].csv')]"
same 'auto with a list' lists-there "[$(at parts/edges-0.csv), $(at 'parts/edges-[1-9].csv*')]" \
    "$(at 'parts/labels-*.csv')" "$(at 'parts/rows-*.csv')" --set ingest.format=auto
same 'files there and here' mixed-there \
    "[$(at parts/edges-0.csv), $p/edges-1.csv, $(at 'parts/edges-[2-9]*')]" "$p/labels-*.csv" \
    "[$p/rows-0.csv, $(at 'parts/rows-[12].csv')]"
same 'a name with brackets' odd-there "[$(at 'parts/odd[1].csv'), $(at 'parts/edges-[1-9]*')]" \
    "$(at 'parts/labels-*.csv')" "$(at 'parts/rows-*.csv')"
sed -i 's/^n1,.*/n1,1,0.75/' parts/rows-0.csv # what is here in part is looked at each time
again=$(parts_of mixed-there "[$(at parts/edges-0.csv), $p/edges-1.csv, $(at \
    'parts/edges-[2-9]*')]" "$p/labels-*.csv" "[$p/rows-0.csv, $(at 'parts/rows-[12].csv')]")
case $again in "$one") fail "a change of the file here was not seen" ;; dataset=g-*) ;; *) \
    fail "files there and here, changed: $again $(cat said)" ;; esac
load parts/rows-0.csv "$(at parts/rows-0.csv)" >answer # and one that fits the pattern
[ "$(parts_of parts-there "$(at 'parts/edges-*')" "$(at 'parts/labels-*.csv')" \
    "$(at 'parts/rows-*.csv')")" = "$again" ] ||
    fail "a change of an object was not seen: $(cat said)"
[ -z "$(find ./*-there -name 'edges-*')" ] || fail "copies are still there"

# Errors.
ingest() { "$bin/graphmill-ingest" --store "dir:$work/bad" --pipeline ring/g.yaml "$@"; }
expect 65 'ingest.path: s3://graphmill/none: there is no object none, and none below none/' ingest \
    --set "ingest.path=$(at none)"
expect 65 'ingest.path: s3://graphmill/parts/none-\*.csv: expected objects of such names at .*, found none that fits parts/none-\*.csv' ingest --set "ingest.path=$(at 'parts/none-*.csv')"
expect 65 'ingest.labels: s3://graphmill/parts/nobody: there is no object' ingest \
    --set "ingest.labels=[$(at parts/labels-0.csv), $(at parts/nobody)]"
expect 78 'ingest.path is a list, and ingest.format is metis' ingest \
    --set "ingest.path=[$(at parts/edges-0.csv), $(at parts/edges-1.csv)]" --set ingest.format=metis
printf 'n1,n2\nn3\n' >parts/edges-1.csv
load parts/edges-1.csv "$(at parts/edges-1.csv)" >answer
expect 65 's3://graphmill/parts/edges-1.csv:2: expected 2 columns' ingest \
    --set "ingest.path=$(at 'parts/edges-*.csv')"
expect 65 's3://graphmill/parts/edges-1.csv:2: expected 2 columns' ingest \
    --set "ingest.path=[$(at parts/edges-0.csv),$(at parts/edges-1.csv)]"
expect 64 "expected the name of a file or a folder, found 'e\*'" load parts "$(at 'parts/e*')"
expect 78 'expected s3://BUCKET' ingest --set ingest.path=s3://A
expect 74 'SignatureDoesNotMatch' env AWS_SECRET_ACCESS_KEY=wrong "$bin/graphmill-ingest" \
    --store "dir:$work/bad" --pipeline ring/g.yaml --set "ingest.path=$(at ring/edges.csv)"
printf 'n1,n2\nn3\n' >broken.csv
load broken.csv "$(at broken/edges.csv)" >answer
expect 65 's3://graphmill/broken/edges.csv:2: expected 2 columns' ingest \
    --set "ingest.path=$(at broken/edges.csv)"
[ -z "$(find bad -name edges.csv)" ] || fail "the copy of a broken file is still there"
load broken.csv "$(at full/other.csv)" >answer
expect 64 'full in graphmill is not empty, and holds files that ring does not have, such as full/other.csv' load ring "$(at full)"
expect 65 'nowhere: there is no such file' load nowhere "$(at nowhere)"
mkdir empty
expect 65 'there is no file in it' load empty "$(at empty)"
expect 64 'takes a file or folder and an address' load ring
[ "$(curl -s -o /dev/null -w '%{http_code}' "$objects/full/other.csv")" = 200 ] ||
    fail "what was there is gone"

# Files of an update, remote or local: the same version; a file that does not fit is named by its
# address, and no copy stays.
printf 'n1,n9\nn60,n2\nn3,n60\n' >new_edges.csv
echo n60,train,1 >new_nodes.csv
echo n60,2,0.5 >new_rows.csv
echo n7 >gone_nodes.csv
for file in new_edges new_nodes new_rows gone_nodes; do load $file.csv "$(at updates/$file.csv)" \
    >answer; done
updated() { "$bin/graphmill-ingest" --store "dir:$work/$1" --pipeline ring/g.yaml "${@:2}" 2>said |
    grep -o 'dataset=[^ ]*'; }
here=$(updated updated-here --add-edges new_edges.csv --add-nodes new_nodes.csv \
    --features new_rows.csv --remove-nodes gone_nodes.csv)
case $here in dataset=g-*) ;; *) fail "an update of files here: $here $(cat said)" ;; esac
there=$(updated updated-there --add-edges "$(at updates/new_edges.csv)" \
    --add-nodes "$(at updates/new_nodes.csv)" --features new_rows.csv \
    --remove-nodes "$(at updates/gone_nodes.csv)")
[ "$there" = "$here" ] ||
    fail "an update of files in a bucket: found '$there', expected '$here': $(cat said)"
both=$(updated updated-both --set "ingest.path=$(at ring/edges.csv)" \
    --set "ingest.labels=$(at ring/labels.csv)" --set "ingest.features=$(at ring/rows.csv)" \
    --add-edges "$(at updates/new_edges.csv)" --add-nodes new_nodes.csv \
    --features "$(at updates/new_rows.csv)" --remove-nodes gone_nodes.csv)
[ "$both" = "$here" ] ||
    fail "an update of input in a bucket: found '$both', expected '$here': $(cat said)"
[ -z "$(find updated-there updated-both -name new_edges.csv)" ] ||
    fail "copies of an update are still there"
refused() { expect "$1" "$2" "$bin/graphmill-ingest" --store "dir:$work/updated-here" \
    --pipeline ring/g.yaml "${@:3}"; }
printf 'n1,n2\nn3,nobody\n' >bad_edges.csv
load bad_edges.csv "$(at updates/bad_edges.csv)" >answer
refused 65 's3://graphmill/updates/bad_edges.csv:2: target: no node has the id .nobody' --add-edges "$(at updates/bad_edges.csv)"
refused 65 '--add-edges: s3://graphmill/updates/none.csv: there is no object' --add-edges "$(at updates/none.csv)"
refused 78 '--add-nodes: s3://graphmill/updates: expected the address of an object or a pattern of objects, found a folder' --add-nodes "$(at updates)"
refused 65 '--remove-edges: s3://graphmill/updates/none-\*: expected objects of such names' \
    --remove-edges "$(at 'updates/none-*')"
# Several files of a kind, by patterns and lists, remote and local; the message has the line of the
# object that does not fit.
sed -n 1,2p new_edges.csv >edges-1.csv && sed -n 3p new_edges.csv >edges-2.csv
for i in 1 2; do load edges-$i.csv "$(at pieces/edges-$i.csv)" >answer; done
for how in "$(at 'pieces/edges-*.csv')" "[edges-1.csv, $(at pieces/edges-2.csv)]" \
    "[$(at 'pieces/*-1.csv'), edges-2.csv]"; do
    rm -rf updated-pieces
    pieces=$(updated updated-pieces --add-edges "$how" --add-nodes new_nodes.csv \
        --features new_rows.csv --remove-nodes gone_nodes.csv)
    [ "$pieces" = "$here" ] || fail "an update of $how: found '$pieces', expected '$here': $(cat \
        said)"
    [ -z "$(find updated-pieces -name 'edges-*')" ] || fail "copies of $how are still there"
done
rm -rf updated-pieces
pieces=$(updated updated-pieces --add-edges edges-1.csv --add-edges "$(at pieces/edges-2.csv)" \
    --add-nodes new_nodes.csv --features new_rows.csv --remove-nodes gone_nodes.csv)
[ "$pieces" = "$here" ] ||
    fail "an update of repeated options: found '$pieces', expected '$here': $(cat said)"
load bad_edges.csv "$(at pieces/edges-3.csv)" >answer
refused 65 's3://graphmill/pieces/edges-3.csv:2: target: no node has the id .nobody' --add-edges "$(at 'pieces/edges-*.csv')"
[ -z "$(find updated-here -name '*_edges.csv')" ] || fail "copies of a refused update are still there"

# A file of several pieces, and a missing one.
head -c 40000000 /dev/urandom >large.bin
: >nothing.bin
mkdir two
mv large.bin nothing.bin two
load two "$(at two)" >answer
curl -s "$objects/two/large.bin" | cmp - two/large.bin || fail "the large file is another one there"
