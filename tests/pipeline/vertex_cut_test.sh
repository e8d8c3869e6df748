#!/usr/bin/env bash
# Vertex cuts: training, validation and inference over one equal, bit for bit, those over an edge
# cut that has each node where its master is; for any number of workers; units replay; lost data of
# a part are reported and made again.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=800 --set partition.parts=5 --set sample.batch_size=40 --set epochs=3 \
    --set train-step.hidden=16)

# A run with the method, and another over the edge cut: same NAME METHOD [options]
same() {
    local name=$1 method=$2 hash of
    shift 2
    hash=$(run "$name" "$pipeline" "${small[@]}" --set partition.method="$method" "$@" |
        json weights_hash)
    "$bin/graphmill" export "$work/$name" --what assignment --output "$work/$name.txt" >/dev/null
    of=$(run "$name-edges" "$pipeline" "${small[@]}" --set partition.method=file \
        --set "partition.assignment=$work/$name.txt" "$@" | json weights_hash)
    [ -n "$hash" ] && [ "$hash" = "$of" ] || fail "$name: weights $hash, over an edge cut $of"
    [ "$(cat "$work/$name/metrics.jsonl")" = "$(cat "$work/$name-edges/metrics.jsonl")" ] ||
        fail "$name: other metrics"
    cmp "$work/$name/outputs/predictions.csv" "$work/$name-edges/outputs/predictions.csv" ||
        fail "$name: other predictions"
    "$bin/graphmill" verify "$work/$name" >"$work/verified" || fail "$name: $(cat "$work/verified")"
}
for method in dbh hdrf two_phase_hdrf; do same $method $method; done
same subgraphs two_phase --set sample.sampler=graphsaint_walk

hash=$(run hdrf "$pipeline" "${small[@]}" --set partition.method=hdrf | json weights_hash)
found=$(run hdrf-3 "$pipeline" "${small[@]}" --set partition.method=hdrf --workers 3 |
    json weights_hash)
[ "$found" = "$hash" ] || fail "3 workers: weights $found, expected $hash"
for stage in partition sample train-step infer; do replays hdrf-3 $stage; done

# Each edge is in one part: the files have no more edges than the dataset.
report() { "$bin/graphmill" export "$work/$1" --what report --output /dev/stdout; }
edges=$(report hdrf | json edge_count)
[ "$edges" = "$(report hdrf-edges | json edge_count)" ] || fail "$edges edges in the parts"
better() { awk -v a="$(report "$1" | json replication_factor)" -v b="$(report "$2" |
    json replication_factor)" 'BEGIN { exit !(a < b) }'; }
better hdrf dbh || fail "HDRF makes more replicas than DBH"
better two_phase_hdrf hdrf || fail "two phases make more replicas than HDRF alone"

# Damaged or lost data of a part are named, and made again from the assignment.
file=$(ls "$work"/hdrf/store/partition/*/part/*/topology | sed -n 3p)
sum=$(sha256sum <"$file")
for harm in damage loss; do
    if [ $harm = damage ]; then printf '\377' |
        dd of="$file" bs=1 seek=9000 conv=notrunc status=none; else rm "$file"; fi
    expect 65 "${file#"$work/hdrf/store/"}" "$bin/graphmill" verify "$work/hdrf" --remove
    found=$(run hdrf "$pipeline" "${small[@]}" --set partition.method=hdrf --workers 2 \
        --set train-step.hidden=$([ $harm = damage ] && echo 8 || echo 12) | json weights_hash)
    [ -n "$found" ] || fail "no run after $harm"
    [ "$(sha256sum <"$file")" = "$sum" ] || fail "another file after $harm"
    "$bin/graphmill" verify "$work/hdrf" >"$work/verified" ||
        fail "verify after $harm: $(cat "$work/verified")"
done

# Names for the one node type and relation change nothing.
mkdir "$work/people"
echo '{"num_nodes": 300, "directed": true, "num_classes": 3}' >"$work/people/meta.json"
printf 'name,first_id,count\nperson,0,300\n' >"$work/people/node-types.csv"
printf 'id,name,source,target\n0,knows,person,person\n' >"$work/people/edge-types.csv"
awk 'BEGIN { print "src,dst,etype"; for (v = 0; v < 300; v++) for (k = 1; k < 8; k++) printf "%d,%d,0\n", v, (v * 7 + k * k * 11) % 300 }' >"$work/people/edges.csv"
awk 'BEGIN { for (v = 0; v < 300; v++) print v % 3 }' >"$work/people/node-label.csv"
for split in train:0:99 valid:100:199 test:200:299; do IFS=: read -r name first last <<<"$split" &&
    seq "$first" "$last" >"$work/people/$name.csv"; done
printf 'name: people\nepochs: 1\ningest:\n  path: %s\n  relations: true\n  missing_features: degree\npartition:\n  parts: 3\ntrain-step:\n  model: rgcn\n' "$work/people" >"$work/people.yaml"
[ -n "$(run cut-people "$work/people.yaml" --set partition.method=hdrf | json weights_hash)" ] ||
    fail "people were not cut"
"$bin/graphmill" verify "$work/cut-people" >"$work/verified" ||
    fail "verify of people: $(cat "$work/verified")"

# Several node types and relations: a part has the edges of each, with and without columns of edges.
papers_graph "$work/papers" 300
{ papers_pipeline "$work/papers" 3 3 'missing_features: degree'; printf 'train-step:\n  model: rgcn\n'; } >"$work/papers.yaml"
pipeline=$work/papers.yaml
small=(--set partition.parts=5 --set sample.batch_size=40 --set train-step.hidden=16)
for method in dbh hdrf two_phase_hdrf; do same papers-$method $method; done
for stage in partition sample train-step infer; do replays papers-hdrf $stage; done
edges=$(report papers-hdrf | json edge_count)
[ "$edges" = "$(report papers-hdrf-edges | json edge_count)" ] || fail "$edges edges in the parts of papers"
[ "$(report papers-hdrf | grep -o '"name"' | wc -l)" = "$(report papers-hdrf-edges | grep -o '"name"' | wc -l)" ] || fail "other relations in the report"
file=$(ls "$work"/papers-hdrf/store/partition/*/part/*/topology | sed -n 2p)
sum=$(sha256sum <"$file")
rm "$file"
expect 65 "${file#"$work/papers-hdrf/store/"}" "$bin/graphmill" verify "$work/papers-hdrf" --remove
[ -n "$(run papers-hdrf "$pipeline" "${small[@]}" --set partition.method=hdrf --set train-step.hidden=8 | json weights_hash)" ] || fail "no run of papers after a loss"
[ "$(sha256sum <"$file")" = "$sum" ] || fail "another file of papers after a loss"
awk -F, 'NR == 1 { print $0 ",weight,time" } NR > 1 { print $0 "," 1 + NR % 7 "," NR * 31 % 1000 }' "$work/papers/edges.csv" >"$work/edges"
mv "$work/edges" "$work/papers/edges.csv"
same papers-weights two_phase --set train-step.model=gcn
same papers-times hdrf --set sample.sampler=temporal_neighbor
pipeline=$source_folder/pipelines/quickstart.yaml

# What a vertex cut is not for is said before the work of cutting.
expect 78 'partition.method cuts graphs' "$bin/graphmill" run "$source_folder/pipelines/shapes.yaml" --directory "$work/graphs" --quiet --set partition.method=hdrf
expect 78 'hdfr.*expected one of .*hdrf' "$bin/graphmill" run "$pipeline" --directory "$work/misspelt" --quiet --set partition.method=hdfr
expect 71 'partition.method dbh takes less' "$bin/graphmill" run "$pipeline" --directory "$work/little" --quiet --set partition.method=hdrf --set ingest.nodes=150000 --set ingest.average_degree=100 --memory 192M
