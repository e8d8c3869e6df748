#!/usr/bin/env bash
# The pipeline file that README.md prints under "Your own graph" runs as printed, with generated
# files of string ids; and each missing line is named with the line to add, before anything is
# partitioned.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
folder=$work/own
mkdir -p "$folder"
# Prints the first indented block below the heading, without its indentation.
awk '/^## /{inside = ($0 == "## Your own graph")} inside && /^    /{print substr($0, 5); found = 1; next} found && inside && NF {exit}' \
    "$source_folder/README.md" >"$folder/friends.yaml"
grep -q '^name: friends' "$folder/friends.yaml" || fail "no pipeline file in README.md"

# 300 people in three circles that mostly know people of their own; the features show the circle
# with much noise.
awk -v folder="$folder" 'BEGIN {
    srand(5)
    for (i = 0; i < 300; i++) {
        name = "person " i ", of circle " i % 3
        print "\"" name "\"," i % 3 > folder "/classes.csv"
        printf "\"%s\",%.3f,%.3f,%.3f\n", name, rand() + (i % 3 == 0), rand() + (i % 3 == 1), rand() * 9 > folder "/profiles.csv"
        for (k = 0; k < 6; k++) {
            j = rand() < 0.8 ? 3 * int(rand() * 100) + i % 3 : int(rand() * 300)
            print "\"" name "\"\t\"person " j ", of circle " j % 3 "\""
        }
    }
}' | gzip >"$folder/friends.tsv.gz"

run friends "$folder/friends.yaml" >"$work/answer"
[ "$(wc -l <"$work/friends/outputs/predictions.csv")" -eq 301 ] || fail "not 300 predictions"
grep -q '^"person 7, of circle 1",' "$work/friends/outputs/predictions.csv" ||
    fail "ids are not those of the input"
# The given label of a node is next to its id, and the model has learned it.
awk -F'"' 'NR > 1 {split($2, word, " "); split($3, rest, ","); if (rest[3] != word[5]) exit 1; right += rest[3] == rest[4]}
    END {exit right < 240}' "$work/friends/outputs/predictions.csv" ||
        fail "labels moved, or nothing was learnt"
[ "$(cut -d'"' -f3 "$work/friends/outputs/predictions.csv" | cut -d, -f2 | grep -c train)" -eq 180 \
    ] || fail "not 60 % for training"

without() { # line to leave out, expected message
    grep -v "^  $1:" "$folder/friends.yaml" >"$folder/without.yaml"
    expect 65 "$2" "$bin/graphmill" run "$folder/without.yaml" --directory "$work/without-$1"
    ! grep -q '^partition' "$work/stderr" || fail "partitioned without $1"
}
without labels \
    'friends.tsv.gz has edges, but no labels to learn: add a line `labels: FILE` below `ingest:`'
without split 'add a line `split: random 60/20/20` below `ingest:`, or `train: FILE`'
# Without features the graph alone must be enough.
grep -v '^  features:' "$folder/friends.yaml" >"$folder/bare.yaml"
run bare "$folder/bare.yaml" --set epochs=1 >/dev/null || fail "features are optional"

# Splits by file work like those of an edge list of integers: the written ids are those of the
# input.
printf '10 20\n20 30\n30 10\n40 10\n' >"$folder/edges.txt"
printf 'id,label\n10,0\n20,1\n30,1\n40,0\n50,1\n' >"$folder/labels.csv"
printf '10\n20\n' >"$folder/train.txt"
printf '50\n' >"$folder/test.txt"
printf 'ingest:\n  format: edge_list\n  path: edges.txt\n  labels: labels.csv\n  train: train.txt\n  test: test.txt\n' >"$folder/given.yaml"
run given "$folder/given.yaml" --set epochs=1 >/dev/null
cut -d, -f1-3 "$work/given/outputs/predictions.csv" |
    cmp -s - <(printf 'node,split,label\n10,train,0\n20,train,1\n30,,1\n40,,0\n50,test,1\n') ||
    fail "splits by file: $(cat "$work/given/outputs/predictions.csv")"
printf '60\n' >>"$folder/test.txt"
expect 65 "test.txt:2: node '60' is in no other file" "$bin/graphmill" run "$folder/given.yaml" \
    --directory "$work/given"
