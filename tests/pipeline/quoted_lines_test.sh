#!/usr/bin/env bash
# Quoted fields that contain line ends (RFC 4180), in each kind of table: ids come back unchanged,
# the graph is that of plain ids, and messages name the line where a row begins.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
cd "$work"
python3 - <<'MAKE'
import csv, gzip, os, random
random.seed(1)
count = 60
plain = [f"n{i}" for i in range(count)]
odd = [(f'a{i}\nb "{i}", c', f"{i}\r\n\r\n", f"n{i}")[i % 3] for i in range(count)]
edges = [(random.randrange(count), random.randrange(count)) for _ in range(300)]
order = random.sample(range(count), count)
def write(path, rows, delimiter=",", open=open):
    with open(path, "wt", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
for name, ids in ("plain", plain), ("odd", odd):
    os.mkdir(name)
    table = [(ids[a], ids[b], w) for w, (a, b) in enumerate(edges)]
    write(f"{name}/edges.csv", [("from", "to", "weight")] + table)
    write(f"{name}/edges.tsv", table, "\t")
    write(f"{name}/edges.csv.gz", [("from", "to", "weight")] + table, open=gzip.open)
    write(f"{name}/nodes.csv", [("id", "class", "x", "note")] +
          [(ids[i], ("red", "blue")[i % 2], i * i % 11, i % 5) for i in order])
    write(f"{name}/train.csv", [(ids[i],) for i in order[:30]])
    write(f"{name}/test.csv", [(ids[i],) for i in order[30:]])
    write(f"{name}/some.csv", [(ids[i],) for i in range(6)])
    # a folder, and DGL's
    os.mkdir(f"{name}/folder")
    write(f"{name}/folder/node-ids.csv", [(i,) for i in ids])
    write(f"{name}/folder/edges.csv", [("src", "dst")] + [row[:2] for row in table])
    write(f"{name}/folder/node-label.csv", [(i % 2,) for i in range(count)])
    write(f"{name}/folder/train.csv", [(ids[i],) for i in order[:30]])
    open(f"{name}/folder/meta.json", "w").write(f'{{"num_nodes": {count}, "directed": true}}')
    os.mkdir(f"{name}/dgl")
    open(f"{name}/dgl/meta.yaml", "w").write("dataset_name: d\nedge_data:\n- file_name: edges.csv\nnode_data:\n- file_name: nodes.csv\n")
    write(f"{name}/dgl/nodes.csv", [("node_id", "label", "feat", "train_mask")] + [(ids[i], i % 2, "1,2,3", int(i < 30)) for i in order])
    write(f"{name}/dgl/edges.csv", [("src_id", "dst_id")] + [row[:2] for row in table])
MAKE
. "$source_folder/tests/support/format_runs.sh"
agree() { # name, format, path, more, kinds: the same of odd ids as of plain ones
    local ids
    for ids in plain odd; do
        ingest "$1_$ids" "$2" "$ids/$3" "${4//IDS/$work/$ids}"
    done
    [ "$(records "$1_plain" $5 | wc -l)" -ge "$(wc -w <<<"$5")" ] || fail "$1: too few records"
    cmp <(records "$1_plain" $5) <(records "$1_odd" $5) ||
        fail "$1: a graph with line ends in its ids is another"
}
all='edge_chunk feature_chunk node_labels node_splits'
beside='  labels: IDS/nodes.csv\n  id_column: id\n  label_columns: class\n  features: IDS/nodes.csv\n  feature_columns: x\n  train: IDS/train.csv\n  test: IDS/test.csv\n'
agree commas edge_list edges.csv "$beside" "$all"
agree tabs edge_list edges.tsv "$beside" "$all"
agree packed edge_list edges.csv.gz "$beside" "$all"
agree folder folder folder '' 'edge_chunk node_labels node_splits'
agree dgl dgl_csv dgl '' "$all"

# Ids come back, and can list nodes to infer.
"$bin/graphmill" run commas_odd.yaml --directory runs/commas_odd --quiet >/dev/null || fail "no run"
"$bin/graphmill" infer runs/commas_odd --on commas_odd.yaml --nodes odd/some.csv \
    --directory runs/some --quiet >/dev/null || fail "no nodes inferred"
python3 - <<'CHECK' || fail "ids are others than they were"
import csv
ids = lambda path, column: [row[column] for row in csv.reader(open(path, newline=""))]
table = set(ids("odd/nodes.csv", 0)[1:])
assert set(ids("runs/commas_odd/outputs/predictions.csv", 0)[1:]) == table
assert set(ids("runs/some/outputs/predictions.csv", 0)[1:]) == set(ids("odd/some.csv", 0))
CHECK

# A file that init writes runs; a column that no line of settings can name is refused.
"$bin/graphmill" init odd/edges.csv odd/nodes.csv --output init.yaml >/dev/null || fail "no init"
"$bin/graphmill" partition init.yaml --directory runs/init --quiet >/dev/null 2>init.err ||
    fail "init wrote a pipeline that does not run: $(cat init.err)"
printf 'id,class\na,"red\nish"\nb,blue\nc,"red\nish"\nd,blue\n' >words.csv
printf 'from,to\na,b\nb,c\nc,d\n' >few.csv
"$bin/graphmill" init few.csv words.csv --output words.yaml >/dev/null ||
    fail "no init with words of two lines"
"$bin/graphmill" run words.yaml --directory runs/words --dry-run >/dev/null ||
    fail "init wrote what is no YAML: $(cat words.yaml)"
printf 'id,"cl\nass"\na,1\nb,2\n' >named.csv
expect 65 'named.csv:1: expected the name of column 2 on one line, found a line end in it: rename the column' \
    "$bin/graphmill" init few.csv named.csv --output named.yaml

expect 65 "words.csv:2: expected a word without tab or line end, found 'red ish' with one" \
    "$bin/graphmill" partition words.yaml --directory runs/words --quiet

# Messages have the line where the row begins, and say how many lines it has.
bad() { # pattern, path of the edges, more
    pipeline bad edge_list "$2" "${3:-  task: link_prediction\n}"
    expect 65 "$1" "$bin/graphmill" partition bad.yaml --directory runs/bad --quiet
}
printf 'from,to,weight\n"a\nb",c,1\n"d\n\ne",f,x\n' >number.csv
bad "number.csv:4: weight: .*'x'" number.csv
printf 'from,to,weight\n"a\nb",c,1\n"d\n\ne",f\ng,h,2\n' >short.csv
bad 'short.csv:4: expected 3 columns, found 2 in lines 4 to 6, which a field in quotes makes one row' short.csv
printf 'from,to,weight\n"a\nb",c,1\nd,"e,1\nf,g,1\nh,i,1\n' >open.csv
bad 'open.csv:4: expected a quote that closes the one in column 3, found none up to line 6: close it, or write two quotes' open.csv
printf 'id,class\n"a\nb",red\nc,"blue\n' >open_labels.csv
bad 'open_labels.csv:4: expected a quote that closes the one in column 3, found none up to line 4' \
    number.csv \
    "  edge_columns: \"source: from; target: to\"\n  labels: $work/open_labels.csv\n  split: random 60/20/20\n"
