#!/usr/bin/env bash
# Learnable embeddings by node type, from the folder of a graph with relations to the outputs: the
# same bytes for any workers, threads, memory and shards, after kills, losses and damage; every unit
# replays; a new epoch continues from a sibling.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
papers_graph "$work/papers" 300

file=$work/papers.yaml
{ papers_pipeline "$work/papers" 5 5; cat; } >"$file" <<END
sample:
  fanouts: [4, 3]
  batch_size: 30
  batches_per_round: 2
train-step:
  model: rgcn
  hidden: 16
  dropout: 0.2
  embedding: 16
  type_embedding: "venue: 6"
aggregate:
  learning_rate: 0.02
  embedding_rate: 0.02
END

answer=$(run one "$file" --workers 1 --threads 1)
before=$(outcome one)
[ "$(wc -l <<<"$before")" -ge 5 ] || fail "too few outputs: $before"
for workers in 2 3 5; do
    run "w$workers" "$file" --workers $workers --threads $((workers % 3 + 1)) >/dev/null
    as_before "w$workers" "$workers workers"
done
run small "$file" --memory 208M >/dev/null
as_before small '208 MB'

# The rows are the same however those of a type are divided into shards.
for policy in 'author: hash 4; venue: whole' 'paper: range 5; venue: hash 7'; do
    rm -rf "$work/policy"
    run policy "$file" --set "aggregate.type_embedding_policy=$policy" >/dev/null
    as_before policy "policy $policy"
done

# The driver and all programs die, twice; the same command resumes.
for moment in 0.4 0.9; do
    killed_at $moment "$file"
done

# Every kind of unit, with rows in memory and in a file; shards 0 to 2 are of authors, 3 to 5 of
# papers, 6 to 8 of venues.
rounds=$(json rounds <<<"$answer")
for memory in 1G 4M; do
    replays one train-step --memory $memory
    replays one aggregate --memory $memory
    for shard in 0 4 8; do
        replays one train-step --seal --part $shard --memory $memory
    done
done
replays one train-step --evaluation
for part in 0 1 2; do replays one infer --layer 0 --part $part &&
    replays one infer --layer 1 --part $part; done
replays one infer
expect 64 'no shard 9: there are shards 0 to 8' "$bin/graphmill" replay "$work/one" train-step \
    --seal --part 9 --round $rounds
"$bin/graphmill" verify "$work/one" >"$work/verified" || fail "verify: $(cat "$work/verified")"

# More epochs continue from the sibling's snapshot and manifests, with the results of a run from
# scratch.
run one "$file" --set epochs=7 --set checkpoint.keep=0 >/dev/null
run seven "$file" --set epochs=7 >/dev/null
[ "$(outcome one)" = "$(outcome seven)" ] || fail "7 epochs after 5 are not 7 epochs"

# Damaged or lost records are made again.
store=$(echo "$work"/w2/store/run/*)
for what in "embedding/*/shard/0000000007" "round/*/slot/*/gradient" \
    "infer/*/00000/part/0000000000/shard_seal"; do
    damage "$(ls "$store"/$what.record | tail -1)"
    expect 65 'damaged' "$bin/graphmill" verify "$work/w2" --remove
    run w2 "$file" >/dev/null || fail "after damage of $what"
    as_before w2 "after damage of $what"
done
rm "$(ls "$store"/embedding/*/shard/0000000003.record | tail -1)"
expect 65 '1 missing' "$bin/graphmill" verify "$work/w2" --remove
run w2 "$file" >/dev/null
as_before w2 'after a seal was lost'
"$bin/graphmill" verify "$work/w2" >"$work/verified" || fail "verify: $(cat "$work/verified")"

# Other models, and embeddings next to features: all differ, and replay.
seen=
for settings in 'train-step.model=sage' 'train-step.model=hgt train-step.heads=2' \
    'aggregate.embedding_optimizer=adagrad' \
    'aggregate.type_embedding_rate=venue: 0.1' 'train-step.type_embedding=venue: 5' \
    'ingest.missing_features=degree train-step.type_embedding=paper: 4;author: 8'; do
    set=()
    while read -r setting; do set+=(--set "$setting"); done < \
        <(sed 's/ \([a-z-]*\.[a-z_]*=\)/\n\1/g' <<<"$settings")
    hash=$(run kind "$file" "${set[@]}" | json weights_hash)
    [[ ${#hash} -eq 32 && " $seen " != *" $hash "* ]] || fail "$settings changed nothing"
    seen+=" $hash"
    said=$("$bin/graphmill" replay "$work/kind" train-step --seal --part 1 2>&1) ||
        fail "replay with $settings: $said"
    [[ $said == *MATCH* ]] || fail "replay with $settings: $said"
    rm -rf "$work/kind"
done

# Impossible settings, before anything is partitioned.
refused() { # status, pattern, setting
    expect "$1" "$2" "$bin/graphmill" run "$file" --directory "$work/refused" --set "$3"
    [ -z "$(find "$work/refused" -path '*partition*' -name '*.record' 2>/dev/null)" ] ||
        fail "it was partitioned: $2"
    rm -rf "$work/refused"
}
refused 65 'nodes of type author have no features, and none are learnt for them' \
    train-step.embedding=0
refused 65 'nodes of type venue have no features, and none are learnt for them' \
    'train-step.type_embedding=venue: 0'
refused 78 "expected a node type of the graph, such as author, found 'journal'" \
    'train-step.type_embedding=journal: 4'
refused 78 "found 'author: parts'" 'aggregate.type_embedding_policy=author: parts'
refused 78 "found 'author: fast'" 'aggregate.type_embedding_rate=author: fast'
refused 78 "found 'journal'" 'aggregate.type_embedding_rate=journal: 0.1'
