#!/usr/bin/env bash
# Every sampler trains Cora to a reasonable accuracy, replays, and gives the same weights with one
# worker and two; a temporal neighbourhood does not look ahead; data that a sampler lacks are
# reported before anything is partitioned.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
is_above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

# --- no look-ahead: labels are told by the features of neighbours, whose edges are all later than the seeds' first ones

awk -v to="$work" 'BEGIN {
    srand(11)
    print "source target weight time" >(to "/edges")
    for (i = 0; i < 800; i++) {
        label = int(2 * rand())
        print 100 + i "," label >(to "/labels")
        for (k = 0; k < 4; k++) # at first of either kind, later of that of the label
            print int(100 * rand()), 100 + i, 1, k ? 1 : 0 >(to "/edges")
        for (k = 0; k < 8; k++)
            print 50 * label + int(50 * rand()), 100 + i, 1, 10 + k >(to "/edges")
    }
    for (i = 0; i < 900; i++)
        print i "," (i < 50) "," (i >= 50 && i < 100) >(to "/features")
}'
cat >"$work/times.yaml" <<YAML
name: times
seed: 3
epochs: 15
ingest: {format: edge_list, path: edges, labels: labels, features: features, split: random 60/20/20, direction: as_given}
partition: {parts: 2, method: hash}
sample: {fanouts: [6], batch_size: 64}
train-step: {dropout: 0}
aggregate: {learning_rate: 0.05}
YAML
valid_of() { sed -n 's/.*"valid_accuracy":\([0-9.]*\).*/\1/p' "$work/$1/metrics.jsonl" | sort -n |
    tail -1; }
seen() { # name, settings
    local name=$1
    shift
    run "$name" "$work/times.yaml" "$@" >"$work/said.json"
    valid_of "$name"
}
found=$(seen ahead)
is_above "$found" 0.9 || fail "with edges of any time validation accuracy is $found"
found=$(seen first --set sample.sampler=temporal_neighbor --set sample.seed_time=first_edge)
is_above 0.68 "$found" || fail "a sampler that must not look ahead gets $found"
found=$(seen last --set sample.sampler=temporal_neighbor --set sample.temporal_strategy=last)
is_above "$found" 0.9 ||
    fail "with the last edges until the seed's last one validation accuracy is $found"
hash=$(json weights_hash <"$work/said.json")
other=$(run last-2 "$work/times.yaml" --set sample.sampler=temporal_neighbor \
    --set sample.temporal_strategy=last \
    --workers 2 --threads 1 | json weights_hash)
[ "$other" = "$hash" ] || fail "temporal_neighbor: two workers give $other, one gave $hash"
"$bin/graphmill" replay "$work/last" sample --round 119 --slot 0 >"$work/said" 2>&1 ||
    fail "replay: $(cat "$work/said")"

# --- what is missing or cannot be, before anything is partitioned

sed '1s/ time$//; s/ [0-9.]*$//; s/ 1$/ -1/' "$work/edges" >"$work/untimed"
refused() { # pattern, settings
    local pattern=$1
    shift
    expect 65 "$pattern" "$bin/graphmill" run "$work/times.yaml" --directory "$work/refused" \
        --quiet \
        --set ingest.path="$work/untimed" "$@"
    [ -z "$(find "$work/refused" -name 'topology*')" ] || fail "$pattern: partitioned all the same"
}
refused 'temporal_neighbor, which reads edge times, but the graph has none' --set sample.sampler=temporal_neighbor
refused 'the weight is below 0.*sample.sampler weighted_neighbor' --set sample.sampler=weighted_neighbor
expect 78 'sample.clusters is 3, expected at most the 2 of partition.parts' "$bin/graphmill" run "$work/times.yaml" \
    --directory "$work/refused" --quiet --set sample.sampler=cluster_gcn --set sample.clusters=3

# --- Cora

datasets cora
pipeline=$source_folder/pipelines/cora.yaml
common=(--set train-step.model=gcn --set epochs=40 --set partition.parts=4)
settings_of() {
    case $1 in
    neighbor_with_replacement) echo sample.fanouts=[5,5] ;;
    fastgcn) echo sample.fanouts=[400,400] sample.batch_size=70 sample.batches_per_round=2 ;;
    ladies) echo sample.fanouts=[256,256] sample.batch_size=70 sample.batches_per_round=2 ;;
    graphsaint_node) echo sample.fanouts=[-1,-1] sample.batch_size=1200 ;;
    graphsaint_edge) echo sample.fanouts=[-1,-1] sample.batch_size=600 ;;
    graphsaint_walk) echo sample.fanouts=[-1,-1] sample.batch_size=70 sample.batches_per_round=2 ;;
    cluster_gcn) echo sample.fanouts=[-1,-1] sample.clusters=2 sample.batches_per_round=2 ;;
    shadow) echo sample.fanouts=[-1,-1] sample.batch_size=70 sample.batches_per_round=2 ;;
    esac
}
for sampler in neighbor_with_replacement fastgcn ladies graphsaint_node graphsaint_edge \
    graphsaint_walk cluster_gcn shadow; do
    with=("${common[@]}" --set sample.sampler=$sampler)
    for setting in $(settings_of $sampler); do with+=(--set "$setting"); done
    answer=$(run $sampler "$pipeline" "${with[@]}")
    found=$(sed -n 's/.*"test":{[^}]*"accuracy":\([0-9.]*\).*/\1/p' <<<"$answer")
    least=0.76
    [ $sampler != graphsaint_node ] ||
        least=0.66 # a third of the training nodes in a batch, and those by importance
    is_above "$found" $least || fail "$sampler: test accuracy on Cora is $found"
    hash=$(json weights_hash <<<"$answer")
    for stage in sample train-step; do
        "$bin/graphmill" replay "$work/$sampler" $stage --round 39 --slot 0 >"$work/said" 2>&1 ||
            fail "replay of $stage of $sampler: $(cat "$work/said")"
    done
    case $sampler in
    ladies | graphsaint_walk | shadow)
        other=$(run $sampler-2 "$pipeline" "${with[@]}" --workers 2 --threads 1 | json weights_hash)
        [ "$other" = "$hash" ] || fail "$sampler: two workers give $other, one gave $hash"
        ;;
    esac
    if [ $sampler = graphsaint_walk ]; \
        then # what it counted is a record: promised, made again, replayed
        "$bin/graphmill" replay "$work/$sampler" sample --walks >"$work/said" 2>&1 ||
            fail "replay of the counts: $(cat "$work/said")"
        counts=$(find "$work/$sampler/store/run" -name 'walk_counts*')
        cp "$counts" "$work/counts"
        rm "$counts"
        "$bin/graphmill" verify "$work/$sampler" >"$work/said" 2>&1 &&
            fail "verify does not miss the counts of walks"
        grep -q walk_counts "$work/said" ||
            fail "verify says nothing of the counts: $(cat "$work/said")"
        run $sampler "$pipeline" "${with[@]}" --set epochs=50 >/dev/null
        counts=$(find "$work/$sampler/store/run" -name 'walk_counts*' | head -1)
        cmp -s <(tail -c +129 "$counts") <(tail -c +129 "$work/counts") ||
            fail "the counts made again are others"
    fi
    rm -rf "${work:?}/$sampler" "${work:?}/$sampler-2"
done
