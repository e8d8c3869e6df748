#!/usr/bin/env bash
# Rows with the ids of the input: text next to arrays of the same numbers, for ids and classes that
# are words, one node type, some nodes, and graphs.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

# The text has the ids, in the order of the predictions, and every number of the array: same RUN
# THING COLUMN
same() {
    "$bin/graphmill" export "$work/$1" --what "$2" --output "$work/$1-$2.npy" >/dev/null ||
        fail "$1: $2 as an array"
    "$bin/graphmill" export "$work/$1" --what "$2" --output "$work/$1-$2.csv" >/dev/null ||
        fail "$1: $2 as text"
    /usr/bin/python3 - "$work/$1-$2" "$work/$1/outputs/predictions.csv" "$3" <<'PYTHON' || fail "$1: $2: see above"
import csv, sys
import numpy as np
array = np.load(sys.argv[1] + ".npy")
header, *rows = csv.reader(open(sys.argv[1] + ".csv", newline=""))
first, *lines = csv.reader(open(sys.argv[2], newline=""))
assert header[0] == first[0] and all(name.startswith(sys.argv[3] + "_") for name in header[1:]), header
assert [row[0] for row in rows] == [line[0] for line in lines], "other ids"
assert np.array_equal(np.array([row[1:] for row in rows], np.float64).astype(np.float32), array), "other numbers"
if sys.argv[3] == "logit":
    best = [header[1 + int(row.argmax())] for row in array]
    assert best == ["logit_" + line[3] for line in lines], "the columns are not the classes"
PYTHON
}

ring_graph "$work/ring"
sed -i 's/n7,/"n, ""7""",/; s/,n7$/,"n, ""7"""/' "$work"/ring/*.csv
sed -i -E 's/,0$/,"rock, ""hard"""/; s/,1$/,jazz/; s/,2$/,folk/' "$work/ring/labels.csv"
run ring "$work/ring/g.yaml" >/dev/null
for of in logits:logit embeddings:embedding features:feat; do same ring ${of%:*} ${of#*:}; done
cmp "$work/ring-embeddings.npy" "$work/ring/outputs/embeddings.npy" ||
    fail "the embeddings are not those of the outputs"
grep -q '^"n, ""7""",' "$work/ring-logits.csv" ||
    fail "no node n, \"7\": $(head -3 "$work/ring-logits.csv")"
[ "$(head -1 "$work/ring-logits.csv")" = 'node,logit_folk,logit_jazz,"logit_rock, ""hard"""' ] ||
    fail "columns: $(head -1 "$work/ring-logits.csv")"

printf 'n9\nn3\n' >"$work/some"
"$bin/graphmill" infer "$work/ring" --on "$work/ring/g.yaml" --nodes "$work/some" \
    --directory "$work/two" --quiet >/dev/null
same two embeddings embedding
[ "$(cut -d, -f1 "$work/two-embeddings.csv" | paste -sd,)" = node,n3,n9 ] ||
    fail "some nodes: $(cat "$work/two-embeddings.csv")"

printf '"n, ""7"""\n' >"$work/quoted"
"$bin/graphmill" infer "$work/ring" --on "$work/ring/g.yaml" --nodes "$work/quoted" \
    --directory "$work/one" --quiet >/dev/null
grep -q '^"n, ""7""",' "$work/one/outputs/predictions.csv" ||
    fail "a quoted id of a list: $(cat "$work/one/outputs/predictions.csv")"

papers_graph "$work/papers" 30
{ papers_pipeline "$work/papers" 1 2 'missing_features: degree'; \
    printf 'sample: {fanouts: [3]}\ntrain-step: {model: rgcn, hidden: 4}\n'; } >"$work/papers.yaml"
run typed "$work/papers.yaml" >/dev/null
same typed logits logit
same typed embeddings embedding

python3 "$source_folder/tests/support/make_graphs.py" "$work/shapes" 60
SHAPES=$work/shapes run graphs "$source_folder/pipelines/shapes.yaml" --set epochs=2 \
    --set infer.weights=last >/dev/null
same graphs logits logit
same graphs embeddings embedding

# Text without a name that says so, and things that do not exist.
"$bin/graphmill" export "$work/ring" --what logits --form csv --output /dev/stdout |
    cmp - "$work/ring-logits.csv" || fail "other text in a pipe"
(cd "$work" && "$bin/graphmill" export ring --what logits --form csv) >"$work/said"
[ "$(cat "$work/said")" = logits.csv ] || fail "said $(cat "$work/said")"
cmp "$work/logits.csv" "$work/ring-logits.csv" || fail "other text by --form"
expect 64 "form is 'cvs', expected npy or csv" "$bin/graphmill" export "$work/ring" --what logits \
    --form cvs
expect 64 'is of rows, and --what model is none' "$bin/graphmill" export "$work/ring" --form csv
run bare "$work/ring/g.yaml" --set infer.embeddings=false >/dev/null
expect 65 'wrote no embeddings: infer.embeddings is false' "$bin/graphmill" export "$work/bare" \
    --what embeddings --output "$work/none"
[ ! -e "$work/none" ] || fail "a refused export left a file"
