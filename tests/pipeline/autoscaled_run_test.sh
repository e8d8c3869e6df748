#!/usr/bin/env bash
# graphmill render --form keda: queries the metric of its ScaledJobs from the exporter that it
# starts, with a real Redis. The metric counts the waiting units of that run and of no other; it is
# 0 once a stage has failed for good, and when the run is finished.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
python3 -c 'import yaml' 2>/dev/null || { echo "skipped: no python3-yaml"; exit 77; }
cd "$work"
mkdir -p config scratch queue
printf secret >queue/password
redis-server --port 0 --unixsocket "$work/redis.sock" --requirepass secret --dir "$work" --save '' \
    >redis.txt &
started+=($!)
for _ in $(seq 200); do [ -S redis.sock ] && break || sleep 0.05; done
sed "s#\.\./tests/#$source_folder/tests/#" "$source_folder/pipelines/karate.yaml" >karate.yaml
"$bin/graphmill" render karate.yaml --image r/graphmill:1 --store dir:/data/store --form keda \
    --workers 3 --metrics http://prometheus:9090 \
    --redis "unix:$work/redis.sock" --set seed=5 >run.yaml 2>stderr.log
"$bin/graphmill" render karate.yaml --image r/graphmill:1 --store dir:/data/store --form keda \
    --workers 3 --metrics http://prometheus:9090 \
    --redis "unix:$work/redis.sock" --set seed=6 >other.yaml 2>stderr.log
python3 - "$work" <<'PYTHON'
import sys, yaml
work = sys.argv[1]
INSIDE = (("dir:/data", f"dir:{work}"), ("/etc/graphmill/run", f"{work}/config"), ("/run/graphmill/redis", f"{work}/queue"), ("=/scratch", f"={work}/scratch"),
          ("0.0.0.0:9464", "127.0.0.1:0"))
def here(text):
    for inside, outside in INSIDE:
        text = text.replace(inside, outside)
    return text
for run in ("run", "other"):
    documents = list(yaml.safe_load_all(open(f"{work}/{run}.yaml")))
    open(f"{work}/config/pipeline.yaml", "w").write(documents[0]["data"]["pipeline.yaml"])
    queries = [d["spec"]["triggers"][0]["metadata"]["query"] for d in documents if d["kind"] == "ScaledJob"]
    assert len(queries) == 3, queries
    open(f"{work}/{run}.queries", "w").write("\n".join(queries))
    script = next(d for d in documents if d["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][0]["args"][0]
    open(f"{work}/{run}.exporter", "w").write(here(script))
    for job in (d for d in documents if d["kind"] == "Job"):
        container = job["spec"]["template"]["spec"]["containers"][0]
        words = container["command"] + [here(a).replace("--wait=60", "--wait=20") for a in container["args"]]
        open(f"{work}/{run}-{container['name']}.words", "w").write("\n".join(words))
PYTHON
pod() { # run, stage
    local words
    mapfile -t words <"$1-$2.words"
    PATH=$bin:$PATH "${words[@]/\$(POD_NAME)/$1-$2}" >>"$1-$2.log" 2>&1
}
# Prints the sum of a query, as Prometheus computes it; nothing if there is no value: then KEDA
# makes no Job.
ask() { # run
    python3 - "$(cat "$1.address")" "$1.queries" <<'PYTHON'
import re, sys, urllib.request
text = urllib.request.urlopen(sys.argv[1]).read().decode()
lines = [(m, dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)) for m, labels, value in re.findall(r"^(\w+)\{([^}]*)\} (\S+)$", text, re.M)]
total = []
for query in open(sys.argv[2]).read().splitlines():
    metric, wanted = re.fullmatch(r"sum\((\w+)\{([^}]*)\}\)", query).groups()
    wanted = dict(re.findall(r'(\w+)="([^"]*)"', wanted))
    assert len(wanted) == 2, query
    found = [v for m, labels, v in lines if m == metric and wanted.items() <= labels.items()]
    total += [int(sum(found))] if found else ["nothing"]
print(*total)
PYTHON
}
expect_waiting() { # run, pattern of the three sums, when
    local found=
    for _ in $(seq 100); do
        found=$(ask "$1") || fail "$1, $3: the exporter does not answer: $(tail -1 \
            "$1.exporter.log")"
        [[ $found =~ ^$2$ ]] && return
        sleep 0.1
    done
    fail "$1, $3: expected units that wait as $2, found '$found'"
}
pod run ingest || fail "ingest: $(tail -1 run-ingest.log)"
for run in run other; do
    PATH=$bin:$PATH sh -euc "$(cat $run.exporter)" >$run.address 2>$run.exporter.log &
    started+=($!)
done
for run in run other; do
    for _ in $(seq 100); do [ -s $run.address ] && break || sleep 0.1; done
    expect_waiting $run 'nothing nothing nothing' 'before it is started'
done

# Both runs are started, and their queues are filled by a stage without work so far.
pod run partition || fail "partition: $(tail -1 run-partition.log)"
pod other ingest && pod other partition || fail "other: $(tail -1 other-partition.log)"
declare -A pid_of
begin() { # run, stages
    local stage
    for stage in "${@:2}"; do
        pod "$1" "$stage" &
        pid_of[$1-$stage]=$!
        started+=($!)
    done
}
expect_waiting other '(nothing|0) (nothing|0) (nothing|0)' 'when it is started'
begin run aggregate
expect_waiting run '[1-9][0-9]* 0 0' 'when its units of sample wait'
expect_waiting other '(nothing|0) (nothing|0) (nothing|0)' 'when units of another wait'

# A topology is damaged: sample fails for good, and no more workers are wanted.
flip() {
    chmod -R u+w store/partition
    python3 -c 'import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(5000); byte = file.read(1)[0]; file.seek(5000); file.write(bytes([byte ^ 1]))' "$1"
}
for topology in $(find store/partition -path '*/part/*/topology' -type f); do flip "$topology"; done
begin run sample
wait "${pid_of[run-sample]}" && fail "sample read a damaged topology" || [ $? -eq 65 ] ||
    fail "sample: $(tail -1 run-sample.log)"
expect_waiting run '0 0 0' 'when sample has failed for good'
wait "${pid_of[run-aggregate]}" && fail "aggregate went on" || [ $? -eq 65 ] ||
    fail "aggregate: $(tail -1 run-aggregate.log)"

# The damage is repaired: the failed stage starts again, and so does the metric.
for topology in $(find store/partition -path '*/part/*/topology' -type f); do flip "$topology"; done
begin run sample
expect_waiting run '[0-9]+ [1-9][0-9]* 0' 'when mini-batches wait for a step'
begin run train-step aggregate checkpoint infer
for stage in sample train-step aggregate checkpoint infer; do
    wait "${pid_of[run-$stage]}" || fail "$stage ended with $?: $(tail -1 run-$stage.log)"
done
expect_waiting run '0 0 0' 'when it is finished'
expect 64 'label: expected NAME=VALUE' "$bin/graphmill" exporter "dir:$work/store" --label stage=x
expect 64 'label: expected NAME=VALUE' "$bin/graphmill" exporter "dir:$work/store" --label render
expect 64 'give one' "$bin/graphmill" exporter "dir:$work/store" --run x --pipeline karate.yaml
expect 64 'give both' "$bin/graphmill" exporter "dir:$work/store" --set seed=1
