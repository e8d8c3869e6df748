#!/usr/bin/env bash
# `graphmill predict links`: scores are those of predictions.csv, partners those of the ranks of all
# pairs; bad questions are named.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
# 90 nodes with their own ids, one of them with a comma.
awk 'BEGIN { srand(2); for (i = 0; i < 90; i++) for (k = 0; k < 8; k++) { j = (i % 9) + 9 * int(rand() * 10)
    if (i != j) print (i == 4 ? "\"n,4\"" : "n" i) "," (j == 4 ? "\"n,4\"" : "n" j) } }' \
        >"$work/edges.csv"
cat >"$work/links.yaml" <<'YAML'
name: links
epochs: 4
ingest:
  format: edge_list
  path: edges.csv
  direction: undirected
  task: link_prediction
  edge_split: random 80/10/10
partition:
  parts: 3
sample:
  fanouts: [5]
  batch_size: 64
train-step:
  hidden: 8
  decoder: bilinear
  dropout: 0
infer:
  ranking: all
YAML
run one "$work/links.yaml" >/dev/null
predict() { "$bin/graphmill" predict links "$work/one" "$@"; }

# Scores of the held-out edges are those that the run wrote.
cut -d, -f1,2 "$work/one/outputs/predictions.csv" | grep -v '"' >"$work/pairs.csv"
predict --pairs "$work/pairs.csv" >"$work/scores.csv"
[ "$(head -1 "$work/scores.csv")" = source,target,score ] ||
    fail "header: $(head -1 "$work/scores.csv")"
grep -v '"' "$work/one/outputs/predictions.csv" | sed 1d | cut -d, -f1,2,4 |
    cmp -s - <(sed 1d "$work/scores.csv") || fail "other scores than the run's"

# Partners: every pair with the node, sorted by score.
for end in target source; do
    if [ $end = target ]; \
        then awk 'BEGIN { for (i = 0; i < 90; i++) if (i != 7 && i != 4) print "n7,n" i }'
    else awk 'BEGIN { for (i = 0; i < 90; i++) if (i != 7 && i != 4) print "n" i ",n7" }'; fi \
        >"$work/all.csv"
    predict --pairs "$work/all.csv" | sed 1d | sort -t, -k3,3gr >"$work/sorted.csv"
    predict --node n7 --best 95 --end $end >"$work/best.csv"
    [ "$(head -1 "$work/best.csv")" = source,target,score,rank ] ||
        fail "header: $(head -1 "$work/best.csv")"
    [ "$(sed 1d "$work/best.csv" | wc -l)" -eq 89 ] ||
        fail "$(wc -l <"$work/best.csv") lines of 89 partners"
    grep -q '"n,4"' "$work/best.csv" || fail "the node with a comma is no partner"
    paste -d, "$work/sorted.csv" <(sed 1d "$work/best.csv" | grep -v '"') |
        awk -F, '{ d = $3 - $6; if (d > 1e-6 || d < -1e-6) exit 1 }' ||
        fail "partners of $end differ from the sorted scores"
    predict --node n7 --best 5 --end $end | cmp -s - <(head -6 "$work/best.csv") ||
        fail "the best 5 are not the first 5"
done

# New partners are no edges of the input, in any split; many nodes at once, with little memory, give
# the same as one by one.
predict --node n7 --best 95 --new | sed 1d | cut -d, -f1,2 | tr -d '"' | sort >"$work/new.csv"
{ grep -v '"' "$work/edges.csv"; grep -v '"' "$work/edges.csv" | awk -F, '{ print $2 "," $1 }'; } |
    sort -u >"$work/both.csv"
[ -s "$work/new.csv" ] || fail "no new partners"
[ -z "$(comm -12 "$work/new.csv" "$work/both.csv")" ] ||
    fail "known edges: $(comm -12 "$work/new.csv" "$work/both.csv" | head -3)"
seq -f 'n%g' 5 60 >"$work/nodes.txt"
predict --nodes "$work/nodes.txt" --best 3 --output "$work/many.csv"
predict --nodes "$work/nodes.txt" --best 3 --threads 3 --memory 4M | cmp -s - "$work/many.csv" ||
    fail "other partners with little memory"
predict --node n30 --best 3 | sed 1d | cmp -s - <(grep '^n30,' "$work/many.csv") ||
    fail "one node has other partners alone"

bad() { # PATTERN STATUS arguments
    local pattern=$1 status=$2
    shift 2
    expect "$status" "$pattern" predict "$@"
}
printf 'source,target\nn1,n2\nn1,n200\n' >"$work/unknown.csv"
bad "unknown.csv:3: expected the id of a node of the graph, found 'n200'" 65 \
    --pairs "$work/unknown.csv"
printf 'n1,n2,3\n' >"$work/wide.csv"
bad "wide.csv:1: expected source,target, found 3 columns" 65 --pairs "$work/wide.csv"
: >"$work/empty.csv"
bad 'empty.csv: expected a line for each pair, found none' 65 --pairs "$work/empty.csv"
bad "node: expected the id of a node of the graph, found 'x'" 65 --node x
bad 'type: expected no type, as edges have none' 65 --node n1 --type 2
bad 'takes one of --pairs, --node and --nodes' 64 --node n1 --pairs "$work/pairs.csv"
bad "end is 'both', expected target or source" 64 --node n1 --end both
run karate "$source_folder/pipelines/karate.yaml" >/dev/null
expect 78 'learns single_label, not links' "$bin/graphmill" predict links "$work/karate" --node 1
