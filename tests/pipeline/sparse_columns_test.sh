#!/usr/bin/env bash
# Sparse features do not say how many columns they have. A graph whose last columns are 0 is read
# with those of the model, of meta.json or of a setting; plain, and by node type.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
# Makes 60 nodes with features in the first COLUMNS columns of 6: folder NAME COLUMNS STEM
folder() {
    mkdir "$work/$1"
    python3 - "$work/$1" "$2" "$3" <<'PYTHON'
import random, struct, sys
folder, columns, stem = sys.argv[1], int(sys.argv[2]), sys.argv[3]
random.seed(columns)
def put(name, descr, code, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, len(values))
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(f"{folder}/{stem}_{name}.npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), code), *values))
start, index, value = [0], [], []
for node in range(60):
    for column in sorted({node % 3, random.randrange(columns)}):
        index.append(column)
        value.append(1.0 + random.random())
    start.append(len(index))
put("indptr", "<i8", "q", start)
put("indices", "<i4", "i", index)
put("values", "<f4", "f", value)
with open(folder + "/edges.csv", "w") as f:
    f.write("src,dst,etype\n" if stem != "feat" else "src,dst\n")
    for node in range(60):
        f.write(f"{node},{(node + 3) % 60}{',0' if stem != 'feat' else ''}\n")
with open(folder + "/node-label.csv", "w") as f:
    f.writelines(f"{node % 3}\n" for node in range(60))
PYTHON
    echo '{"num_nodes": 60, "directed": true}' >"$work/$1/meta.json"
    [ "$3" = feat ] || {
        echo "name,first_id,count
paper,0,60" >"$work/$1/node-types.csv"
        echo "name,source,target
cites,paper,paper" >"$work/$1/edge-types.csv"
    }
}
pipeline() { printf \
    'epochs: 2\ningest: {format: folder, path: %s, split: random 60/20/20, relations: %s}\nsample: {fanouts: [3]}\n' "$work/$1" "$2" >"$work/$1.yaml"; }

for kind in "plain feat false" "typed paper-feat true"; do
    read -r name stem relations <<<"$kind"
    folder "$name-six" 6 "$stem" && pipeline "$name-six" "$relations"
    folder "$name-four" 4 "$stem" && pipeline "$name-four" "$relations"
    run "$name" "$work/$name-six.yaml" >"$work/said" 2>&1 || fail "$name: $(cat "$work/said")"
    for on in "$name-four" "$name-four.yaml"; do
        "$bin/graphmill" infer "$work/$name" --on "$work/$on" --directory "$work/on-$on" \
            --quiet >"$work/said" 2>&1 ||
            fail "infer --on $on, whose last two columns are 0: $(cat "$work/said")"
        [ "$(wc -l <"$work/on-$on/outputs/predictions.csv")" -eq 61 ] ||
            fail "$on: $(head -3 "$work/on-$on/outputs/predictions.csv")"
    done
done

# A run of its own uses its file, or the setting.
features() { json features; }
[ "$(run four "$work/plain-four.yaml" | features)" = 4 ] ||
    fail "a run of its own has other columns than its file"
[ "$(run more "$work/plain-four.yaml" --set ingest.sparse_columns=9 | features)" = 9 ] ||
    fail "ingest.sparse_columns has no effect"
run typed-more "$work/typed-four.yaml" --set 'ingest.sparse_columns=paper: 9' >"$work/said" ||
    fail "$(cat "$work/said")"
"$bin/graphmill" infer "$work/typed-more" --on "$work/typed-six" --directory "$work/on-typed-six" \
    --quiet >"$work/said" 2>&1 || fail "a wider model: $(cat "$work/said")"
expect 65 'expected a column from 0 to 2' run fewer "$work/plain-six.yaml" \
    --set ingest.sparse_columns=3
expect 65 'expected a node type venue, which ingest.sparse_columns names' run unknown \
    "$work/typed-four.yaml" --set 'ingest.sparse_columns=venue: 9'
expect 78 'expected a number of columns from 1 to .*found .many.' run words \
    "$work/plain-four.yaml" --set ingest.sparse_columns=many
echo '{"num_nodes": 60, "directed": true, "num_features": 8}' >"$work/plain-four/meta.json"
[ "$(run meta "$work/plain-four.yaml" | features)" = 8 ] ||
    fail "num_features of meta.json has no effect"
expect 65 'num_features": expected 9 as ingest.sparse_columns says, found 8' run both \
    "$work/plain-four.yaml" --set ingest.sparse_columns=9
