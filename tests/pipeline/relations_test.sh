#!/usr/bin/env bash
# A graph with relations from its folder to its partition, by the programs; the same bytes for any
# memory; and errors in one are named before anything is partitioned.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

# 40 authors, 60 papers, 3 venues.
folder=$work/papers
papers_graph "$folder" 60

pipeline() { # folder, more lines of the ingest section
    printf 'name: papers\ningest:\n  path: %s\n  relations: true\n%b' "$1" "${2:-}" \
        >"$work/papers.yaml"
    printf 'partition:\n  parts: 3\nsample:\n  fanouts: [5, 5]\ntrain-step:\n  model: rgcn\n' \
        >>"$work/papers.yaml"
    echo "$work/papers.yaml"
}
program() { # stage, store, pipeline [options]
    local stage=$1 store=$2 file=$3
    shift 3
    "$bin/graphmill-$stage" --pipeline "$file" --store "dir:$work/$store" "$@" 2>>"$work/$store.log"
}

file=$(pipeline "$folder" '  add_reverse: true\n  missing_features: degree\n')
said=$(program ingest store "$file")
[[ $said == *" nodes=103 edges=480 types=3 relations=6 features=2 classes=3 train=21 valid=21 test=18 direction=directed"* ]] || fail "ingest: $said"
for line in 'nodes of type venue: 3, features: 2 columns, degree' \
    'relation rev_writes from paper to author: 120 edges'; do
    grep -q "$line" "$work/store.log" || fail "not said: $line; but $(cat "$work/store.log")"
done
said=$(program partition store "$file")
[[ $said == partition=papers-*" parts=3 "* ]] || fail "partition: $said"
[[ $(program partition store "$file") == unchanged* ]] || fail 'the partition was made again'

# With less memory the hashes are the same, and both replay.
program ingest small "$file" --memory 80M >/dev/null
program partition small "$file" --memory 80M >/dev/null
(cd "$work/store" && find dataset partition -name '*.record' | sort | xargs sha256sum) >"$work/sums"
[ "$(wc -l <"$work/sums")" -gt 20 ] || fail "too few records: $(cat "$work/sums")"
(cd "$work/small" && sha256sum --quiet -c "$work/sums") || fail 'the memory budget changes records'
[ "$(find "$work/store/partition" -path '*/type/*' -name shard_seal.record | wc -l)" -eq 6 ] ||
    fail 'not a shard for each type and part'

# Errors are named.
broken() { # file, sed script
    rm -rf "$work/broken" && cp -r "$folder" "$work/broken" && sed -i "$2" "$work/broken/$1"
}
refused() { # status, message, more lines of the ingest section
    expect "$1" "$2" "$bin/graphmill-ingest" --pipeline "$(pipeline "$work/broken" "${3:-}")" \
        --store "dir:$work/refused"
    [ -z "$(find "$work/refused" -name '*.record' -path '*dataset*' 2>/dev/null)" ] ||
        fail "records are left after: $2"
}
broken edges.csv '5s/.*/3,40,1/'
refused 65 'edges.csv:5: source: expected a node of type paper \(40 to 99\), found 3'
broken edge-types.csv '3s/paper,paper/paper,editor/'
refused 65 "edge-types.csv:3: expected a node type of node-types.csv, found 'editor'"
broken edge-types.csv '3s/cites/rev_writes/; 3s/paper,paper/paper,author/'
refused 65 'both rev_writes from paper to author: expected a name for each' '  add_reverse: true\n'
broken node-label.csv '1s/.*/2/'
refused 65 'node 0 of type author and node 40 of type paper both have a label or a split'
broken meta.json 's/true/false/'
refused 78 'those of writes go from author to paper: write `add_reverse: true`'
broken meta.json 's/x/x/'
refused 78 'features is given, but nodes of type author have none' '  features: given\n'
expect 78 'the model has no tensors to train' "$bin/graphmill-ingest" \
    --pipeline "$(pipeline "$folder")" --set train-step.model=identity --store "dir:$work/refused"
expect 78 "'cites: 3' has 1 fan-outs, expected 2" "$bin/graphmill-ingest" \
    --pipeline "$(pipeline "$folder")" --set 'sample.relation_fanouts=cites: 3' \
    --store "dir:$work/refused"

# Features of a type: a row for each of its 40 nodes, all of one width, as .npy.
npy() { # ROWS COLUMNS: zeros
    python3 -c 'import struct, sys; rows, columns = map(int, sys.argv[1:])
head = f"{{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": ({rows}, {columns}), }}".replace(chr(34), chr(39)).ljust(117) + "\n"
sys.stdout.buffer.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(4 * rows * columns))' "$@"
}
broken meta.json 's/x/x/'
npy 39 2 >"$work/broken/author-feat.npy"
refused 65 'author-feat.npy: expected 2 dimensions with 40 rows, one for each node, found 39 rows' \
    '  add_reverse: true\n'
npy 40 2 >"$work/broken/author-feat.npy"
truncate -s -4 "$work/broken/author-feat.npy" # the last row is shorter
refused 65 'author-feat.npy' '  add_reverse: true\n'

# So are data that training on it lacks, by the driver and before there is a partition.
expect 65 'nodes of type author have no features, and none are learnt for them: add author-feat.npy' "$bin/graphmill" run \
    "$(pipeline "$folder")" --directory "$work/bare"
[ ! -e "$work/bare/partition" ] && [ -z "$(find "$work/bare" -path '*partition*' \
    -name '*.record')" ] || fail 'it was partitioned'
unlike() { # STATUS MESSAGE [options]: of a graph whose types all have features
    expect "$1" "$2" "$bin/graphmill" run \
        "$(pipeline "$folder" '  add_reverse: true\n  missing_features: degree\n')" \
        --directory "$work/unlike" "${@:3}"
    [ -z "$(find "$work/unlike" -path '*partition*' -name '*.record' 2>/dev/null)" ] ||
        fail "it was partitioned: $2"
}
unlike 65 'sample.sampler is weighted_neighbor, which reads edge weights, but the graph has none' --set sample.sampler=weighted_neighbor
unlike 65 'sample.sampler is temporal_neighbor, which reads edge times, but the graph has none' --set sample.sampler=temporal_neighbor
links=(--set ingest.task=link_prediction --set train-step.decoder=distmult)
unlike 65 'ingest.edge_split is by time, but the edges have no times' "${links[@]}" \
    --set 'ingest.edge_split=time 80/10/10'
unlike 78 'sample.negatives is 3, expected fewer than nodes of type venue: the dataset has 3' \
    "${links[@]}" \
    --set 'ingest.edge_split=random 80/10/10' --set sample.negatives=3

# If only some relations have tables with times and weights, the run names the first without.
mixed=$work/mixed
mkdir "$mixed"
cat >"$mixed/meta.yaml" <<'YAML'
dataset_name: mixed
node_data:
  - file_name: author.csv
    ntype: author
  - file_name: paper.csv
    ntype: paper
edge_data:
  - file_name: writes.csv
    etype: [author, writes, paper]
  - file_name: cites.csv
    etype: [paper, cites, paper]
YAML
awk 'BEGIN { print "node_id,feat"; for (i = 0; i < 20; i++) print i ",\"" i ", 1\"" }' \
    >"$mixed/author.csv"
awk 'BEGIN { print "node_id,feat,label,train_mask,val_mask,test_mask"
    for (i = 0; i < 30; i++) print i ",\"" i ", 1\"," i % 3 "," (i % 3 == 0) "," (i % 3 == 1) "," (i % 3 == 2) }' >"$mixed/paper.csv"
awk 'BEGIN { print "src_id,dst_id,time,weight"; for (i = 0; i < 30; i++) print i % 20 "," i "," i ",2" }' >"$mixed/writes.csv"
awk 'BEGIN { print "src_id,dst_id,weight"; for (i = 0; i < 30; i++) print i "," (i + 1) % 30 ",3" }' >"$mixed/cites.csv"
lacking() { # MESSAGE SAMPLER
    expect 65 "$1" "$bin/graphmill" run \
        "$(pipeline "$mixed" '  format: dgl_csv\n  add_reverse: true\n')" \
        --directory "$work/lacking" --set sample.sampler="$2"
    [ -z "$(find "$work/lacking" -path '*partition*' -name '*.record' 2>/dev/null)" ] ||
        fail "it was partitioned: $1"
    rm -rf "$work/lacking"
}
lacking 'reads edge times of all relations, but relation cites has none: add a column "time" to its table of edges' temporal_neighbor
sed -i 's/,[0-9a-z]*$//' "$mixed/cites.csv"
lacking 'reads edge weights of all relations, but relation cites has none: add a column "weight"' weighted_neighbor
run weighted "$(pipeline "$mixed" '  format: dgl_csv\n  add_reverse: true\n')" --set sample.sampler=neighbor >/dev/null
