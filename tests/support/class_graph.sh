# Makes a graph of three classes whose columns show them, for tests of versions: `source` it after
# tests/pipeline/library.sh.
# shellcheck shell=bash

# Prints rows of COLUMNS features: class_rows COLUMNS FROM END NAME BY
class_rows() {
    awk -v columns="$1" -v from="$2" -v end="$3" -v name="$4" -v by="$5" \
        'BEGIN {for (v = from; v < end; v++) {
        printf "%s%d", name, v
        for (c = 0; c < columns; c++) printf ",%g", (v % 3 == c) + (v * (c + 3) * by) % 17 / 16
        print ""}}'
}

# Writes edges.csv, labels.csv, rows.csv and g.yaml here: class_graph NODES COLUMNS
class_graph() {
    awk -v n="$1" \
        'BEGIN {print "source,target,weight"; for (v = 0; v < n; v++) for (k = 1; k <= 3; k++) print "n" v ",n" (v * 7 + k * 11) % n "," (v + k) % 9 + 1}' >edges.csv
    awk -v n="$1" 'BEGIN {for (v = 0; v < n; v++) print "n" v "," v % 3}' >labels.csv
    class_rows "$2" 0 "$1" n 1 >rows.csv
    cat >g.yaml <<'Y'
name: g
epochs: 2
ingest: {format: edge_list, path: edges.csv, labels: labels.csv, features: rows.csv, split: random 60/20/20, direction: undirected}
partition: {parts: 3, drift: 100}
sample: {fanouts: [3, 3], batch_size: 64}
train-step: {hidden: 8}
Y
}
