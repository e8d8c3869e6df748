#!/usr/bin/env bash
# Every way to read a graph, from files to predictions with the ids of the input; and graphs that
# cannot be trained on.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
karate=$source_folder/tests/data/karate

pipeline() { # format, path, more lines of the ingest section
    printf 'name: formats\nepochs: 2\ningest:\n  format: %s\n  path: %s\n%b' "$1" "$2" "${3:-}" \
        >"$work/$1.yaml"
    printf 'partition:\n  parts: 2\nsample:\n  fanouts: [5, 5]\n' >>"$work/$1.yaml"
    echo "$work/$1.yaml"
}
rows() { [ "$(wc -l <"$work/$1/outputs/predictions.csv")" -eq $(($2 + 1)) ] ||
    fail "$1: not $2 predictions"; }

run folder "$(pipeline folder "$karate")" >/dev/null
rows folder 34

# The same graph in the layout of the Open Graph Benchmark: the same model, because features are
# made by rule.
mkdir -p "$work/benchmark/raw" "$work/benchmark/split/time"
tail -n +2 "$karate/edges.csv" | gzip >"$work/benchmark/raw/edge.csv.gz"
echo 34 | gzip >"$work/benchmark/raw/num-node-list.csv.gz"
tail -n +2 "$karate/edges.csv" | wc -l | gzip >"$work/benchmark/raw/num-edge-list.csv.gz"
gzip <"$karate/node-label.csv" >"$work/benchmark/raw/node-label.csv.gz"
for split in train valid test; do gzip <"$karate/$split.csv" \
    >"$work/benchmark/split/time/$split.csv.gz"; done
# edges are listed once: that means both ways here
run ogb "$(pipeline ogb "$work/benchmark")" >/dev/null 2>"$work/stderr"
rows ogb 34
cmp -s "$work/folder/outputs/predictions.csv" "$work/ogb/outputs/predictions.csv" ||
    fail "ogb and folder differ"
grep -q 'warning: .*each was taken as undirected; if they are directed, add a line `direction: as_given`' "$work/stderr" ||
    fail "an assumed direction was not said: $(cat "$work/stderr")"
run directed "$(pipeline ogb "$work/benchmark" '  direction: as_given\n')" >/dev/null \
    2>"$work/stderr"
! grep -q undirected "$work/stderr" || fail "a direction that was given is said to be assumed"
! cmp -s "$work/folder/outputs/predictions.csv" "$work/directed/outputs/predictions.csv" ||
    fail "direction: as_given changes nothing"

# Ids of a folder may be names: the same model, and predictions with these names.
cp -r "$karate" "$work/named"
seq 0 33 | sed 's/.*/member &, of the club/' >"$work/named/node-ids.csv"
sed -i '1!s/\([0-9]*\),\([0-9]*\)/"member \1, of the club","member \2, of the club"/' \
    "$work/named/edges.csv"
sed -i 's/.*/member &, of the club/' "$work"/named/{train,valid,test}.csv
run named "$(pipeline folder "$work/named")" >/dev/null
sed -i 's/^"member \([0-9]*\), of the club"/\1/' "$work/named/outputs/predictions.csv"
cmp -s "$work/folder/outputs/predictions.csv" "$work/named/outputs/predictions.csv" ||
    fail "names of nodes change more than names"
cp -r "$work/named" "$work/unnamed" && sed -i '3s/member/visitor/' "$work/unnamed/edges.csv"
expect 65 "edges.csv:3: source: expected an id of node-ids.csv, found 'visitor" "$bin/graphmill" \
    run "$(pipeline folder "$work/unnamed")" \
    --directory "$work/run-unnamed"

# Near-miss names are reported, and so are generated replacements for them.
cp -r "$karate" "$work/near"
mv "$work/near/valid.csv" "$work/near/val.csv"
: >"$work/near/node_feat.npy"
run near "$(pipeline folder "$work/near")" --set epochs=1 >/dev/null 2>"$work/stderr"
for said in 'node_feat.npy was not read; did you mean node-feat.npy?' \
    'val.csv was not read; did you mean valid.csv?' \
    'the input has no features: degree+random were made up' 'no validation nodes'; do
    grep -q "warning: $said" "$work/stderr" || fail "not said: $said; but $(cat "$work/stderr")"
done
grep -q ' info .*labels: 34 nodes with one of 2 classes (0: 17, 1: 17)' \
    "$work/near/logs/ingest.log" || fail "no summary: $(cat "$work/near/logs/ingest.log")"

run generated "$(pipeline generated '' '  nodes: 100\n')" >/dev/null
rows generated 100

# An undefined metric is called so, and is never 0: the ROC AUC of a split with one class, and
# without validation nodes.
cp -r "$karate" "$work/one-class"
awk 'NR == FNR {label[FNR - 1] = $1; next} label[$1] == 0' "$karate/node-label.csv" \
    "$karate/test.csv" >"$work/one-class/test.csv"
rm "$work/one-class/valid.csv"
"$bin/graphmill" run "$(pipeline folder "$work/one-class")" --directory "$work/one" \
    --quiet --set checkpoint.metric=roc_auc >"$work/answer"
grep -q '^test  accuracy .*  ROC AUC undefined  loss ' "$work/answer" ||
    fail "undefined ROC AUC: $(cat "$work/answer")"
grep -q '^train accuracy .*  ROC AUC [01]\.' "$work/answer" ||
    fail "defined ROC AUC: $(cat "$work/answer")"
grep -q '"roc_auc":null' "$work/one/outputs/metrics.json" ||
    fail "undefined ROC AUC in JSON: $(cat "$work/one/outputs/metrics.json")"
grep -q 'validation undefined, best undefined' <<<"$("$bin/graphmill" status "$work/one")" ||
    fail "status: $("$bin/graphmill" status "$work/one")"
"$bin/graphmill" run "$(pipeline folder "$work/one-class")" --directory "$work/one" --set epochs=3 \
    >"$work/answer" 2>&1
! grep -iqE '[^a-z]-?nan' "$work/answer" || fail "nan in $(cat "$work/answer")"
run folder "$(pipeline folder "$karate")" >/dev/null

# Several labels for each node.
cp -r "$karate" "$work/many"
sed 's/0/1,0,1/; t; s/1/0,1,0/' "$karate/node-label.csv" >"$work/many/node-label.csv"
run many "$(pipeline folder "$work/many")" --set checkpoint.metric=micro_f1 >"$work/answer"
grep -q '"micro_f1"' "$work/answer" || fail "no micro F1 for several labels: $(cat "$work/answer")"
expect 78 'r2, which multi_label with 3 classes does not have' run r2 "$work/folder.yaml" \
    --set checkpoint.metric=r2

# Data that training lacks are reported before partitioning, with the line to add; then it works.
edges_only() { # name, nodes, labels
    expect 65 'no labels to learn: add a line `labels: FILE` below `ingest:`' \
        "$bin/graphmill" run "$(pipeline edge_list "$work/$1")" --directory "$work/run-$1"
    ! grep -q '^partition' "$work/stderr" ||
        fail "$1: partitioned without labels: $(cat "$work/stderr")"
    printf '%b' "$3" >"$work/classes-$1"
    expect 65 'add a line `split: random 60/20/20` below `ingest:`, or `train: FILE`' \
        "$bin/graphmill" run "$(pipeline edge_list "$work/$1" "  labels: classes-$1\n")" \
        --directory "$work/run-$1"
    run "run-$1" "$(pipeline edge_list "$work/$1" \
        "  labels: classes-$1\n  split: random 60/20/20\n")" >/dev/null
    rows "run-$1" "$2"
}
printf '# Directed graph\n# FromNodeId\tToNodeId\n9223372036854775807\t-5\n-5\t4611686018427387904\n17 9223372036854775807\n' |
    tr ' ' '\t' >"$work/sparse.txt"
edges_only sparse.txt 4 '-5 0\n17 1\n4611686018427387904 1\n'
printf 'source,target\n"Doe, Jane","Roe, Richard"\n"Roe, Richard",Ann\nAnn,"Doe, Jane"\n' \
    >"$work/names.csv"
edges_only names.csv 3 '"Doe, Jane",0\nAnn,1\n"Roe, Richard",1\n'
