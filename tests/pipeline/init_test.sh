#!/usr/bin/env bash
# graphmill init writes a pipeline file that runs without changes: with a table of nodes, with
# string ids in another column than the first, with its own splits, compressed, and without a table
# of nodes; input that it cannot use is reported by line.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
folder=$work/tables
mkdir -p "$folder"
cd "$folder" || exit 1
# The karate club with names and words: tests/data/karate.
awk -F, 'NR == 1 {print "from,to"; next} {print "member " $1 "," "member " $2}' \
    "$source_folder/tests/data/karate/edges.csv" | gzip >club.csv.gz
awk 'BEGIN {print "side,hours,who,town"} {i = NR - 1; printf "%s,%s,member %d,%s\n", $1 ? "officer" : "hi", i % 7 ? i % 5 + ($1 ? 0 : 4) : "", i, i % 2 ? "A" : "B"}' \
    "$source_folder/tests/data/karate/node-label.csv" >members.csv
"$bin/graphmill" init club.csv.gz members.csv >answer 2>next || fail "init: $(cat next)"
[ "$(cat answer)" = club.yaml ] && grep -q 'graphmill run club.yaml$' next ||
    fail "answer: $(cat answer next)"
grep -q 'label_columns: "side" *# 2 classes: hi, officer; 34 of 34 nodes have one' club.yaml ||
    fail "classes: $(cat club.yaml)"
grep -q 'id_column: "who"' club.yaml || fail "ids: $(cat club.yaml)"
grep -q 'feature_columns: "hours: standardise mean; town: one_hot"' club.yaml ||
    fail "features: $(cat club.yaml)"
run club club.yaml >run.json || fail "the file does not run"
grep -q '^member 7,[a-z]*,hi,' "$work/club/outputs/predictions.csv" ||
    fail "predictions: $(head -3 "$work/club/outputs/predictions.csv")"
awk -F, 'NR > 1 {n++; right += $3 == $4} END {exit !(n == 34 && right >= 29)}' \
    "$work/club/outputs/predictions.csv" ||
    fail "accuracy: $(cat "$work/club/outputs/metrics.json")"
# The same files give the same text; an existing file stays.
cp club.yaml before
expect 64 'club.yaml is there already: name another file with --output, or replace it with --force' "$bin/graphmill" init club.csv.gz members.csv
"$bin/graphmill" init club.csv.gz members.csv --force >/dev/null 2>&1 && cmp -s club.yaml before ||
    fail "another text"
mkdir -p elsewhere
"$bin/graphmill" init club.csv.gz members.csv --output elsewhere/other.yaml >/dev/null 2>&1 ||
    fail "--output"
run elsewhere elsewhere/other.yaml --set epochs=1 >/dev/null || fail "a file elsewhere does not run"

# A column that assigns nodes to splits is used.
awk -F, -v OFS=, \
    'NR == 1 {print $0, "fold"; next} {print $0, NR % 5 ? NR % 5 == 1 ? "val" : "train" : "test"}' \
    members.csv >folds.csv
"$bin/graphmill" init club.csv.gz folds.csv --output folds.yaml >/dev/null 2>&1
grep -q 'split: "column fold"' folds.yaml || fail "fold: $(cat folds.yaml)"
run folds folds.yaml --set epochs=1 >run.json &&
    grep -q '"train":21,"valid":6,"test":7' run.json || fail "folds: $(cat run.json)"

# Words such as NA among numbers mean a missing value; among words they are classes, and ingest says
# so.
awk -F, -v OFS=, 'NR == 1 {print $0, "score"; next} {print $0, NR % 7 ? NR / 2 : "NA"}' \
    members.csv >gaps.csv
"$bin/graphmill" init club.csv.gz gaps.csv --output gaps.yaml >/dev/null 2>&1 || fail "gaps"
grep -q 'score: standardise mean' gaps.yaml && grep -q 'missing_words: \["NA"\]' gaps.yaml ||
    fail "gaps: $(cat gaps.yaml)"
run gaps gaps.yaml --set epochs=1 >/dev/null || fail "a file with gaps does not run"

# Edges alone: links are learned.
printf '# pairs\n' >pairs.txt
awk -F, 'NR > 1 {print $1 "\t" $2}' "$source_folder/tests/data/karate/edges.csv" >>pairs.txt
"$bin/graphmill" init pairs.txt >/dev/null 2>&1 || fail "edges alone"
grep -q 'task: link_prediction' pairs.yaml || fail "edges alone: $(cat pairs.yaml)"
run pairs pairs.yaml --set epochs=1 >/dev/null || fail "edges alone do not run"

printf 'a,1\nb,2\n' >headless.csv
expect 65 "headless.csv: expected a header with a name for each column" "$bin/graphmill" init \
    club.csv.gz headless.csv --force
printf 'who,side\nmember 1,hi,3\n' >ragged.csv
expect 65 "ragged.csv:2: expected 2 columns, found 3" "$bin/graphmill" init club.csv.gz ragged.csv \
    --force
printf 'who,a:b\nmember 1,2\n' >colon.csv
expect 65 "colon.csv: column 2: expected a name of at most 60 bytes without" "$bin/graphmill" init \
    club.csv.gz colon.csv --force
expect 64 "takes EDGES and perhaps NODES" "$bin/graphmill" init
: >empty.csv
expect 65 "empty.csv: expected edges, found none" "$bin/graphmill" init empty.csv
