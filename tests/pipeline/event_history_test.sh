#!/usr/bin/env bash
# An event of validation or test sees all events before it (infer.history): scores, ranks and
# EdgeBank are compared with a slow reference; training sees none of them; the same bits for any
# workers and under replay; every layer kind in validation and in inference; bad settings.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
# 700 events among 48 nodes, two at each time. Pairs are repeated, but not within a split of
# held-out events.
events() { # WEIGHTS of held-out events: plain | other
    awk -v weights="$1" 'BEGIN { srand(9)
        print "src,dst,weight,time"
        for (i = 0; i < 700; i++) {
            split_of = i < 420 ? 0 : i < 526 ? 1 : 2
            do {
                old = i > 200 && rand() < 0.4
                k = int(rand() * (i < 420 ? i : 420 + (i - 420) * (rand() < 0.5)))
                s = old ? from[k] : int(rand() * 48); t = old ? to[k] : rand() < 0.7 ? int(rand() * 12) * 4 + s % 4 : int(rand() * 48)
            } while (s == t || (split_of && (split_of, s, t) in is_held) || (i && s == from[i - 1] && t == to[i - 1]))
            is_held[split_of, s, t] = 1
            from[i] = s; to[i] = t
            w = 0.25 + int(rand() * 8) / 4
            if (split_of == 1 && weights == "other") w += 5
            print s "," t "," w "," 1000 + int(i / 2)
        } }'
}
events plain >"$work/events.csv"
events other >"$work/other.csv"
awk 'BEGIN { srand(5); for (i = 0; i < 48; i++) { printf "%d", i; for (k = 0; k < 6; k++) printf ",%.4f", 2 * rand() - 1 + (k == i % 4); print "" } }' \
    >"$work/features.csv"
cat >"$work/events.yaml" <<'YAML'
name: events
epochs: 3
ingest:
  format: edge_list
  path: events.csv
  direction: as_given
  features: features.csv
  task: link_prediction
  edge_split: time 60/15/25
partition:
  parts: 3
sample:
  sampler: temporal_neighbor
  fanouts: [5, 5]
  batch_size: 64
  batches_per_round: 2
train-step:
  hidden: 12
  dropout: 0
checkpoint:
  keep: 0
infer:
  weights: last
  ranking: all
  ranked_end: both
YAML
check() { # RUN HISTORY
    python3 "$source_folder/tests/pipeline/event_checks.py" "$work/$1/outputs" "$work/events.csv" \
        "$work/features.csv" 60/15/25 "$2" ||
        fail "$1: not what the reference says"
}
answer=$(run one "$work/events.yaml" --workers 1)
all=$(check one all)
training=$(run frozen "$work/events.yaml" --set infer.history=training)
frozen=$(check frozen training)
awk -v a="$all" -v f="$frozen" \
    'BEGIN { split(a, all); split(f, frozen); exit !(all[1] > frozen[1] && all[1] > all[2] && frozen[1] > 0) }' ||
    fail "EdgeBank knows $all of the test events, and frozen $frozen"
hash=$(json weights_hash <<<"$answer")
[ ${#hash} -eq 32 ] && [ "$(json weights_hash <<<"$training")" = "$hash" ] ||
    fail "what validation sees moves the weights"
[ "$(measure "$answer" test roc_auc)" != "$(measure "$training" test roc_auc)" ] ||
    fail "the history has no effect on test scores"
[ "$(grep -c '"valid_loss"' "$work/one/metrics.jsonl")" -gt 0 ] || fail "no validation"
[ "$(grep -o '"valid_loss":[^,]*' "$work/one/metrics.jsonl")" != \
    "$(grep -o '"valid_loss":[^,]*' "$work/frozen/metrics.jsonl")" ] ||
    fail "the history has no effect on validation"
for said in 'test, EdgeBank<' 'valid, EdgeBank of a time window<' 'sees all events before it'; do
    grep -q "$said" "$work/one/report.html" || fail "the report does not say '$said'"
done
grep -q 'events of training alone' "$work/frozen/report.html" ||
    fail "the report does not say that the history is frozen"

# The weights of held-out events are in messages: those of validation change no weight of the model
# and no score up to the first of them, but later scores.
[ "$(run heavy "$work/events.yaml" --set ingest.path="$work/other.csv" | json weights_hash)" = \
    "$hash" ] || fail "a held-out weight moves the model"
scores() { grep ",$2," "$work/$1/outputs/predictions.csv" | cut -d, -f1-4 | sort; }
[ "$(scores one test)" != "$(scores heavy test)" ] ||
    fail "weights of held-out events move no later score"
first=$(awk -F, 'NR == 422 { print $1 "," $2 ",valid" }' "$work/events.csv")
[ "$(scores one valid | grep "^$first,")" = "$(scores heavy valid | grep "^$first,")" ] ||
    fail "the first held-out event sees itself or a later one"

[ "$(run three "$work/events.yaml" --workers 3 --threads 1 --memory 600M | json weights_hash)" = \
    "$hash" ] || fail "three workers give other weights"
same_outputs one three
# After kills and restarts the result is the same.
for pause in 0.8 1.2; do
    timeout -s KILL $pause "$bin/graphmill" run "$work/events.yaml" --directory "$work/killed" \
        --quiet >/dev/null 2>&1 || true
done
[ "$(run killed "$work/events.yaml" | json weights_hash)" = "$hash" ] ||
    fail "after kills the weights are others"
same_outputs one killed
replay_each one ingest partition "sample --round 1 --slot 1" "sample --evaluation" \
    "train-step --evaluation" infer

# Labelled events have no drawn pairs, so validation in training and inference measure the same. The
# two computations agree for layers of all kinds, with weights, types and features of events,
# learnable embeddings, both directions, sampled or not.
awk -F, 'BEGIN { srand(3) } NR == 1 { print "src,dst,label,weight,etype,time,feature" } NR > 1 { print $1 "," $2 "," int(rand() * 3) "," $3 "," NR % 2 "," $4 "," rand() }' \
    "$work/events.csv" >"$work/labelled.csv"
agrees() { # NAME options: validation of the last snapshot is that of the outputs
    local answer in_training
    answer=$(run "$1" "$work/events.yaml" --set ingest.path="$work/labelled.csv" \
        --set ingest.task=edge_classification --set ingest.edge_label=label \
        --set train-step.decoder=concat --set epochs=2 "${@:2}")
    in_training=$(grep -o '"valid_loss":[^,]*' "$work/$1/metrics.jsonl" | tail -1 | cut -d: -f2)
    awk -v a="$in_training" -v b="$(measure "$answer" valid loss)" \
        'BEGIN { d = a - b; exit !(a > 0 && d < 1e-5 && d > -1e-5) }' ||
        fail "$1: validation says $in_training: $answer"
}
agrees sage
agrees weighted --set train-step.edge_weights=true --set train-step.embedding=8
agrees gcn --set train-step.model=gcn --set ingest.direction=undirected
agrees gat --set train-step.model=gat --set train-step.heads=4
agrees gatv2 --set train-step.model=gatv2 --set train-step.heads=4 \
    --set train-step.jumping_knowledge=cat
agrees mixed --set \
    'train-step.layers=[{kind: mlp}, {kind: sage, norm: batch}, {kind: graph_conv}]' \
    --set ingest.direction=undirected

expect 78 'infer.history is training, which has an effect only on events' run bad \
    "$work/events.yaml" --set infer.history=training \
    --set sample.sampler=neighbor
expect 78 'infer.history is training, which has an effect only on events' run bad \
    "$work/events.yaml" --set infer.history=training \
    --set sample.sampler=neighbor --set ingest.edge_split='random 80/10/10'
expect 78 "expected one of all, training" run bad "$work/events.yaml" --set infer.history=future
