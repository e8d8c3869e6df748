#!/usr/bin/env bash
# The benchmarks start and print parsable lines; people judge the figures, on an idle machine.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
bench=$source_folder/tests/bench
export GRAPHMILL_BIN
line='^[A-Za-z0-9_.%-]+ -?[0-9.]+(e[+-]?[0-9]+)? [^ ]+( [0-9.]+)?$'

# epoch: headline, a row for each kind of unit, memory; extrapolated from some rounds; a folder that
# is used again
"$bench/epoch" "$source_folder/pipelines/quickstart.yaml" --directory "$work/bench" \
    --quiet --workers 2 --rounds 20 \
    >"$work/epoch.txt" 2>"$work/epoch.log" || fail "epoch: $(tail -3 "$work/epoch.log")"
for name in epoch_training epoch_training_floor round start_up memory_together memory_train-step-1 \
    memory_redis-server; do
    grep -q "^$name " <<<"$(grep -E "$line" "$work/epoch.txt")" ||
        fail "epoch printed no line $name: $(head -40 "$work/epoch.txt")"
done
for unit in sample train-step aggregate; do
    grep -qE "^$unit  +2 " "$work/epoch.txt" || fail "epoch printed no row of two workers for $unit"
done
grep -q '^epoch_rounds 6 rounds$' "$work/epoch.txt" || fail "the quickstart's epoch has 6 rounds"

"$bench/epoch" "$source_folder/pipelines/quickstart.yaml" --directory "$work/bench" \
    --quiet --epochs 3 --json \
    >"$work/epoch.json" 2>"$work/epoch.log" || fail "epoch: $(tail -3 "$work/epoch.log")"
python3 - "$work/epoch.json" <<'CHECK'
import json, sys
answer = json.load(open(sys.argv[1]))
lines = {line["name"]: line for line in answer["lines"]}
stages = {row["unit"]: row for row in answer["stages"]}
assert lines["rounds_measured"]["value"] == 18, lines["rounds_measured"]
assert 0 < lines["epoch_training"]["value"] < lines["whole_command"]["value"]
assert lines["memory_together"]["value"] > 5
assert stages["train-step"]["units"] == 12 and stages["train-step"]["rows"] > 1000
assert stages["train-step"]["row_bytes"] == stages["train-step"]["rows"] * 32 * 4
assert stages["train-step"]["record_bytes_read"] > 0 and stages["sample"]["record_bytes_written"] > 0
assert stages["evaluate"]["units"] == 1 and stages["outputs"]["units"] == 1
CHECK

# it removes runs, but only in its own folders
run mine "$source_folder/pipelines/karate.yaml" >/dev/null
expect 73 'runs that this program did not make' "$bench/epoch" \
    "$source_folder/pipelines/karate.yaml" --directory "$work/mine"
[ -e "$work/mine/store/run" ] || fail "epoch removed runs that were not its own"
expect 64 'is no count' "$bench/epoch" "$source_folder/pipelines/karate.yaml" --rounds none
expect 78 'did you mean' "$bench/epoch" "$source_folder/pipelines/karate.yaml" \
    --directory "$work/bad" --set train-step.hiden=3

# loads: two lines for each run, compared with the run without
"$bench/loads" "$source_folder/pipelines/quickstart.yaml" --methods ldg --set ingest.nodes=2000 \
    --set epochs=1 >"$work/loads.txt" || fail "loads failed"
for name in 'ldg_remote [0-9.]+ rows 1.00' 'ldg_most [0-9.]+ of_mean 1.00' \
    'ldg_turn_1_remote [0-9.]+ rows [01].[0-9]+' 'ldg_turn_1_most [0-9.]+ of_mean [01].[0-9]+'; do
    grep -qxE "$name" "$work/loads.txt" ||
        fail "loads printed no line $name: $(cat "$work/loads.txt")"
done
expect 64 'tests/bench/loads FILE' "$bench/loads" "$work/none.yaml"
expect 70 'did you mean' "$bench/loads" "$source_folder/pipelines/quickstart.yaml" \
    --set partition.load=x

# inference: nothing about it is small, so here only its refusal is tested
expect 73 'files that this program did not make' "$bench/inference" --directory "$work"
expect 73 'files that this program did not make' "$bench/embeddings" --directory "$work"
expect 70 'hetero: the rival did not say its result' "$bench/hetero" "$work" \
    --rival 'echo nothing of'

# links: compared with a rival that prints given figures
mkdir "$work/small"
echo '{"num_nodes": 2000, "directed": false}' >"$work/small/meta.json"
awk 'BEGIN { print "src,dst"; for (i = 0; i < 2000; i++) for (k = 1; k <= 20; k++) print i "," (i + k * k * k) % 2000 }' >"$work/small/edges.csv"
cat >"$work/rival" <<'RIVAL'
#!/bin/sh
[ -z "${OPENBLAS_CORETYPE+set}" ] || exit 1
echo 'result {"batch_ms": 1000, "auc": 0.25, "peak_gb": 0.5}'
RIVAL
chmod +x "$work/rival"
OPENBLAS_CORETYPE=Haswell "$bench/links" "$work/small" --rival "$work/rival" --turns 1 --rounds 4 \
    --auc "$work/small" >"$work/links" 2>"$work/links.log" ||
    fail "links: $(tail -3 "$work/links.log")"
for name in 'rival_batch 1000.000 ms 1.00' 'batch [0-9.]+ ms 0.[0-9]+' 'memory [0-9.]+ MB [0-9.]+' \
    'rival_auc 0.2500' 'auc 0.[0-9]+'; do
    grep -qxE "$name" "$work/links" || fail "links printed no line $name: $(cat "$work/links")"
done
grep -qx 'OPENBLAS_CORETYPE=Haswell is left out, on both sides' "$work/links.log" ||
    fail "links says nothing of the kernels: $(cat "$work/links.log")"

# stragglers: a line for each staleness, with the same weights whether a worker is slow or not
"$bench/stragglers" --pairs 1 --workers 2 --staleness 0 2 --slow 3 \
    "$source_folder/pipelines/quickstart.yaml" --set ingest.nodes=2000 \
    --set sample.batch_size=100 --set sample.batches_per_round=2 --set epochs=4 \
    >"$work/stragglers" 2>"$work/stragglers.log" ||
    fail "stragglers: $(tail -3 "$work/stragglers.log")"
for staleness in 0 2; do
    grep -qxE "$staleness [0-9.]+ [0-9.]+ [0-9.]+ 0\.[0-9]+" "$work/stragglers" ||
        fail "stragglers printed no line of $staleness: $(cat "$work/stragglers")"
done

# scaling: the measured figures, and those extrapolated to hosts that do not exist
"$bench/scaling" "$source_folder/pipelines/quickstart.yaml" --workers 1 --hosts 1 4 --slots 4 \
    --ranges 2 --set ingest.nodes=2000 \
    --set sample.batch_size=50 --epochs 4 >"$work/scaling" 2>"$work/scaling.log" ||
    fail "scaling: $(tail -3 "$work/scaling.log")"
for name in measured_1 reckoned_1 busy_1 bytes_train-step hosts_1 hosts_4 hosts_4_moved \
    hosts_4_busy hosts_4_recovery; do
    grep -q "^$name " <<<"$(grep -E "$line" "$work/scaling")" ||
        fail "scaling printed no line $name: $(cat "$work/scaling")"
done
[ "$(awk '$1 == "hosts_4" { print ($4 > 1 && $4 <= 4) }' "$work/scaling")" = 1 ] ||
    fail "four hosts are no faster than one: $(cat "$work/scaling")"
[ "$(awk '$1 == "hosts_4_recovery" { print ($2 > 5000) }' "$work/scaling")" = 1 ] ||
    fail "a host that dies costs no lease: $(cat "$work/scaling")"

# topologies: each method and each strategy of a shape
"$bench/topologies" --nodes 3000 --parts 2 --epochs 5 --shapes grid --methods metis,range \
    >"$work/shapes" 2>"$work/shapes.log" ||
    fail "topologies: $(tail -3 "$work/shapes.log")"
for name in 'metis [0-9.]+ s cut 0.[0-9]+ .*' 'range .*' \
    'synchronous [0-9.]+ ms .* accuracy 0.[0-9]+' 'top_k .*'; do
    grep -qxE "grid $name" "$work/shapes" ||
        fail "topologies printed no line $name: $(cat "$work/shapes")"
done
expect 2 "there is no 'ball'" "$bench/topologies" --shapes ball

# updates: each compared with training from scratch, and a planted drift
"$bench/updates" --generated 1500 --updates 2 --epochs 6 --warm-epochs 2 --batch 128 \
    >"$work/updates" 2>"$work/updates.log" ||
    fail "updates: $(tail -3 "$work/updates.log") $(cat "$work/updates")"
for name in 'update 5-7 1125 [0-9]+ 0\.[0-9]+ 0\.[0-9]+ -?0\.[0-9]+ [0-9.]+ [0-9.]+ [0-9.]+ [0-9.]+ [0-9]+' 'update 7-9 1500 .*' 'worst difference -?0\.[0-9]+' \
    'worst ratio [0-9.]+' 'drift ordinary False .*no_figure.*' \
    'drift planted True .*ingest.retrain_valid_drop:.*'; do
    grep -qxE "$name" "$work/updates" ||
        fail "updates printed no line $name: $(cat "$work/updates")"
done
[ "$(awk '$1 == "worst" && $2 == "difference" {print ($3 > -0.05)}' "$work/updates")" = 1 ] ||
    fail "a warm model is far from one from nothing: $(cat "$work/updates")"

# large: in a memory cgroup if this machine allows one
limit=()
! (cd "$bench" && python3 -Bc 'import memory_limit; memory_limit.MemoryLimit(2 << 30).close()') \
    2>/dev/null || limit=(--limit 2G)
"$bench/large" --nodes 20000 --rounds 20 --memory 500M "${limit[@]}" >"$work/large" \
    2>"$work/large.log" || fail "large: $(tail -3 "$work/large.log")"
for name in ingest partition start_up first_rounds back rest ingest_memory partition_memory \
    first_rounds_memory rest_memory ${limit:+killed} disk; do
    grep -q "^$name " "$work/large" || fail "large printed no line $name: $(cat "$work/large")"
done
[ -z "${limit:-}" ] || grep -qx 'killed 0 programs' "$work/large" ||
    fail "large: $(grep killed "$work/large")"

# the programs that can be limited to little work
tests=${GRAPHMILL_BIN%/bin}/tests
try() { # program, arguments
    local program=$1
    shift
    [ -x "$tests/$program" ] || fail "$program was not built"
    "$tests/$program" "$@" >"$work/lines" 2>"$work/stderr" ||
        fail "$program ended with $?: $(tail -3 "$work/stderr")"
    [ -s "$work/lines" ] || fail "$program printed nothing"
    ! grep -vE "$line" "$work/lines" ||
        fail "$program printed the lines above, which are not 'name value unit [ratio]'"
}
try bench_sampling 3000 10 2
try bench_queue_hop 50

expect 64 'there is no tests/bench/bench_nothing' "$bench/run.sh" nothing
