#!/usr/bin/env bash
# Sampling may run a thousand rounds ahead, but the Redis Cluster has room for some of them: the run
# continues as far as an epoch has room, and ends with the weights of a local one.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
. "$GRAPHMILL_SOURCE/tests/support/redis_cluster.sh"
command -v redis-server >/dev/null && command -v redis-cli >/dev/null ||
    { echo "skipped: no redis-server and redis-cli"; exit 77; }
cd "$work"
cat >g.yaml <<'Y'
name: g
epochs: 20
ingest: {format: generated, nodes: 40000, average_degree: 20, feature_dim: 32, classes: 4}
partition: {parts: 2}
sample: {fanouts: [15, 15], batch_size: 1000, batches_per_round: 1, run_ahead: 1000}
train-step: {hidden: 256}
checkpoint: {keep: 1}
Y
peace=$(run peace g.yaml | json weights_hash)
cluster_start
for port in "${cluster_ports[@]}"; do redis-cli -p "$port" config set maxmemory 18mb >>said; done
run there g.yaml --store "tiered:$(cluster_uri rounds)^dir:$work/slow" >answer ||
    fail "the run ended with $?"
[ "$(json weights_hash <answer)" = "$peace" ] ||
    fail "in a cluster that fills: weights $(json weights_hash <answer), locally $peace"
grep -q 'is sampled when there is room, or training has come to it' there/logs/sample-0.log ||
    fail "sampling never waited: $(tail -2 there/logs/sample-0.log)"
