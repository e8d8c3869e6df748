#!/usr/bin/env bash
# A graph with relations from its folder to the outputs: the same bytes for any workers, threads and
# memory, after a kill, and by replay of every stage; each kind of model of relations; and errors,
# named before anything is partitioned.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
papers_graph "$work/papers" 300

file=$work/papers.yaml
{ papers_pipeline "$work/papers" 3 6 'missing_features: degree+random' 'random_dim: 6'; cat; } \
    >"$file" <<END
sample:
  fanouts: [4, 3]
  relation_fanouts: "writes: 2,2; rev_in: 3,1"
  batch_size: 30
  batches_per_round: 2
train-step:
  model: rgcn
  hidden: 16
  dropout: 0.2
aggregate:
  learning_rate: 0.02
checkpoint:
  keep: 0
END

answer=$(run one "$file" --workers 1 --threads 1)
before=$(outcome one)
[ "$(wc -l <<<"$before")" -ge 5 ] || fail "too few outputs: $before"
# The venue of a paper determines its class, and so do the features of the venue.
awk -v a="$(json train_accuracy <<<"$(tail -1 "$work/one/metrics.jsonl")")" \
    'BEGIN {exit !(a > 0.8)}' ||
    fail "nothing is learnt: $(tail -1 "$work/one/metrics.jsonl")"
run two "$file" --workers 2 --threads 2 >/dev/null
as_before two '2 workers, 2 threads'
run five "$file" --workers 5 --threads 4 >/dev/null
as_before five '5 workers, 4 threads'

# The driver and all programs die, twice; the same command resumes.
for moment in 0.35 0.8; do
    killed_at $moment "$file"
done

rounds=$(json rounds <<<"$answer")
for threads in 1 2 4; do
    for round in 0 $((rounds - 1)); do
        replays one train-step --round "$round" --slot 0 --threads $threads
        replays one sample --round "$round" --slot 0 --threads $threads
        replays one aggregate --round "$round" --threads $threads
    done
    replays one train-step --evaluation --threads $threads
done
for stage in ingest partition checkpoint infer 'sample --evaluation'; do
    # shellcheck disable=SC2086 # a stage and its options
    replays one $stage
done
for layer in 1 2; do for part in 0 1 2; do replays one infer --layer $layer --part $part; done; done
"$bin/graphmill" verify "$work/one" >"$work/verified" || fail "verify: $(cat "$work/verified")"

# With so little memory that rows of the larger types are read batch by batch, and no rows of
# another type.
papers_graph "$work/many" 3000
run wide "$file" --set ingest.path="$work/many" --set ingest.random_dim=500 --set epochs=1 \
    --set sample.batch_size=100 >/dev/null
for memory in 1G 12M; do
    said=$("$bin/graphmill" replay "$work/wide" train-step --round 1 --slot 0 --memory $memory \
        --threads 1 2>"$work/stderr") ||
        fail "replay with $memory: $(tail -1 "$work/stderr")"
    [[ $said == MATCH* ]] || fail "replay with $memory said '$said'"
done
expect 71 'the rows of a mini-batch of [0-9]* nodes want .*, the budget of features is 2' \
    "$bin/graphmill" replay "$work/wide" train-step \
    --round 1 --slot 0 --memory 8M --threads 1

# A damaged mini-batch is made again.
store=$(echo "$work"/five/store/run/*)
damage "$(find "$store/round" -name 'mini_batch.record' | sort | tail -1)"
expect 65 'damaged' "$bin/graphmill" verify "$work/five" --remove
run five "$file" >/dev/null
as_before five 'a damaged mini-batch'

# Each kind of model, and settings of relations: all differ, and replay.
seen=
for settings in 'train-step.model=hgt train-step.heads=2' \
    'train-step.model=rgat train-step.heads=2' 'train-step.model=sage' \
    'train-step.model=gat train-step.heads=2' 'train-step.model=gatv2 train-step.heads=2' \
    'train-step.model=gin' \
    'train-step.model=gin train-step.train_eps=true' 'train-step.model=le' \
    'train-step.model=graph_conv' 'train-step.bases=2' \
    'train-step.model=gcn' 'train-step.model=gcn sample.sampler=neighbor_with_replacement' \
    'train-step.model=sgc train-step.projection=linear' \
    'train-step.model=appnp train-step.projection=linear' \
    'train-step.projection=relu' 'train-step.model=sage train-step.relation_aggr=mean' \
    'train-step.model=sage train-step.relation_aggr=max' \
    'train-step.residual=true train-step.norm=batch' \
    'train-step.jumping_knowledge=cat' 'train-step.jumping_knowledge=max' \
    'sample.evaluation_fanouts=3,3' 'sample.sampler=neighbor_with_replacement' \
    'train-step.aggr=max' 'sample.reuse_epochs=2 checkpoint.patience=3'; do
    set=()
    for setting in $settings; do set+=(--set "$setting"); done
    hash=$(run kind "$file" "${set[@]}" --set epochs=3 | json weights_hash)
    [ ${#hash} -eq 32 ] || fail "$settings: no hash of weights"
    [[ " $seen " != *" $hash "* ]] || [[ $settings == sample.evaluation* ]] ||
        fail "$settings changed nothing"
    seen+=" $hash"
    said=$("$bin/graphmill" replay "$work/kind" train-step --threads 3 2>&1) ||
        fail "replay with $settings: $said"
    [[ $said == *MATCH* ]] || fail "replay with $settings: $said"
    rm -rf "$work/kind"
done

# Features of edges by relation: the same bytes for any workers and by replay, other ones without them, and PyG's names.
cp -r "$work/papers" "$work/featured"
awk -F, -v OFS=, 'NR == 1 {print $0, "feat_0", "feat_1"} NR > 1 {print $0, $1 * 7 % 10 / 10, $2 % 3}' "$work/papers/edges.csv" >"$work/featured/edges.csv"
for model in gat gatv2; do
    with=(--set ingest.path="$work/featured" --set train-step.model=$model --set train-step.heads=2 --set epochs=3)
    without=$(run kind "$file" "${with[@]}" --set train-step.edge_features=false | json weights_hash)
    hash=$(run flagged "$file" "${with[@]}" --set train-step.edge_features=true --workers 1 --threads 1 | json weights_hash)
    [ "$hash" != "$without" ] || fail "$model: edge features change nothing"
    grep -q 'convs.0.convs.<author___writes___paper>.lin_edge.weight' "$work/flagged/outputs/model.safetensors" || fail "$model: no lin_edge"
    before=$(outcome flagged)
    run flagged3 "$file" "${with[@]}" --set train-step.edge_features=true --workers 3 --threads 2 >/dev/null
    as_before flagged3 "edge features, $model"
    for stage in sample train-step 'train-step --evaluation' 'infer --layer 1 --part 1' 'infer --layer 2 --part 0'; do
        # shellcheck disable=SC2086 # a stage and its options
        replays flagged $stage --threads 3
    done
    "$bin/graphmill" verify "$work/flagged" >"$work/verified" || fail "verify: $(cat "$work/verified")"
    rm -rf "$work/kind" "$work/flagged" "$work/flagged3"
done

# In bf16 the bits are others, and the same for any workers and by replay.
if grep -q avx512_bf16 /proc/cpuinfo; then
    for settings in 'train-step.model=rgcn' 'train-step.model=sage train-step.projection=relu'; do
        # shellcheck disable=SC2086 # some settings
        set -- --set train-step.precision=bf16 --set epochs=3 $(printf -- '--set %s ' $settings)
        run rounded "$file" "$@" --workers 1 --threads 1 >/dev/null
        before=$(outcome rounded)
        run rounded2 "$file" "$@" --workers 2 --threads 3 >/dev/null
        as_before rounded2 "bf16, $settings"
        replays rounded train-step --threads 2
        rm -rf "$work/rounded" "$work/rounded2"
    done
fi

# No data are reported as unused, because all are used.
! grep -rqs 'DOES NOT USE' "$work"/one/logs "$work/stderr" || fail 'types are said to be unused'

# Impossible settings.
refused() { # status, pattern, settings
    local set=() setting
    for setting in "${@:3}"; do set+=(--set "$setting"); done
    expect "$1" "$2" "$bin/graphmill" run "$file" --directory "$work/refused" "${set[@]}"
    [ -z "$(find "$work/refused" -path '*partition*' -name '*.record' 2>/dev/null)" ] ||
        fail "it was partitioned: $2"
    rm -rf "$work/refused"
}
refused 65 'nodes of type author have no features, and none are learnt for them' \
    ingest.missing_features=none
refused 78 "expected a relation of the graph, such as writes, found 'quotes'" \
    'sample.relation_fanouts=quotes: 3,3'
refused 78 'sample.metapath: writes ends in paper, but writes, which comes next, begins in author: write one that ends in author there: rev_writes' \
    sample.sampler=graphsaint_walk sample.metapath=writes
refused 78 'train-step.precision is bf16, expected fp32' train-step.precision=bf16 train-step.model=hgt train-step.heads=2
refused 78 'layer 1 of the model \(hgt\): it sums what its relations give, and train-step.relation_aggr is max' train-step.model=hgt \
    train-step.heads=2 train-step.relation_aggr=max
refused 65 'the edges have no column .weight., which ingest.edge_label names' ingest.task=edge_classification ingest.edge_label=weight train-step.decoder=concat
refused 78 'the model has no tensors to train' train-step.model=identity
refused 78 'train-step.edge_weights is true, but no layer of the model reads edge weights' \
    train-step.edge_weights=true
refused 78 'layer 2 of the model .rgcn.: its 4 blocks do not divide the widths 16 and 3' \
    train-step.blocks=4
refused 78 'no relation leads to type author, .* declare the reverses of relations .add_reverse.' \
    ingest.add_reverse=false train-step.model=gat 'sample.relation_fanouts='
