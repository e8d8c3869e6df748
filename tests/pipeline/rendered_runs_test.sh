#!/usr/bin/env bash
# graphmill render: what it refuses and names; and two printed runs side by side with one store and
# one Redis: the scripts of their Pods are run here, restarted while they end with 75, and give the
# weights of graphmill run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
python3 -c 'import yaml' 2>/dev/null || { echo "skipped: no python3-yaml"; exit 77; }
cd "$work"
pipeline=$work/karate.yaml
sed "s#\.\./tests/#$source_folder/tests/#" "$source_folder/pipelines/karate.yaml" >"$pipeline"
render=("$bin/graphmill" render "$pipeline" --image r/graphmill:1 --store dir:/data/store)
expect 64 'takes one pipeline file' "$bin/graphmill" render --image r/graphmill:1 \
    --store dir:/data/store
expect 64 'tag other than latest' "${render[@]}" --image r/graphmill:latest
expect 64 'tag other than latest' "${render[@]}" --image localhost:5000/graphmill
expect 64 'expected a folder of the claim' "${render[@]}" --store dir:/mnt/store
expect 64 'of one process alone' "${render[@]}" --store memory:a
expect 64 "did you mean 'jobs'" "${render[@]}" --form job
expect 64 'lower-case letters' "${render[@]}" --name Mine
expect 64 'lower-case letters' "${render[@]}" --name "$(printf 'a%.0s' $(seq 41))"
expect 64 'train-step=4,16Gi' "${render[@]}" --resources train-step=4
expect 64 'train-step=4,16Gi' "${render[@]}" --resources train-step=0,16Gi
expect 64 'train-step=4,16Gi' "${render[@]}" --resources train-step=4,16GB
expect 64 'expected a stage' "${render[@]}" --resources train=4,16Gi
expect 64 'ports of 1 to 65535' "${render[@]}" --egress 65536
expect 64 'cannot be handed on' "${render[@]}" --set 'name=$(POD_NAME)'
expect 78 'unknown' "${render[@]}" --set sample.fanout=3

# The same input gives the same output; any change gives another name, and environment variables of
# the file are passed on.
"${render[@]}" >one.yaml 2>stderr.log
"${render[@]}" >two.yaml 2>stderr.log
cmp one.yaml two.yaml || fail "two of the same differ"
"${render[@]}" --set seed=9 --resources train-step=4,16Gi >other.yaml 2>stderr.log
python3 - one.yaml other.yaml "$pipeline" <<'PYTHON' || fail "see above"
import sys, yaml
one, other = ([d for d in yaml.safe_load_all(open(f))] for f in sys.argv[1:3])
names = {d["metadata"]["name"] for d in one}
assert names.isdisjoint({d["metadata"]["name"] for d in other}), names
assert {d["metadata"]["labels"]["app.kubernetes.io/instance"] for d in one} == {one[0]["metadata"]["name"]}
assert one[0]["data"]["pipeline.yaml"] == open(sys.argv[3]).read()
step = next(d for d in other if d["metadata"]["name"].endswith("-train-step"))["spec"]["template"]["spec"]["containers"][0]
assert step["resources"]["requests"] == {"cpu": "4000m", "memory": "16384Mi"}, step["resources"]
assert "--threads=4" in step["args"] and "--set=seed=9" in step["args"], step["args"]
PYTHON
printf 'name: a\ningest: {format: folder, path: "${INPUT_OF_RUN}/graph"}\n' >variable.yaml
INPUT_OF_RUN='/data/"in"' "$bin/graphmill" render variable.yaml --image r/g:1 \
    --store dir:/data/store >variable.out 2>stderr.log
grep -A1 'name: INPUT_OF_RUN' variable.out >found.txt || fail "the Pods do not have INPUT_OF_RUN"
grep -qF 'value: "/data/\"in\""' found.txt || fail "INPUT_OF_RUN: found $(cat found.txt)"

# The ports that its Pods reach are those in the addresses, unless they are given.
ports_of() { # options: the ports of the policy
    "${render[@]}" "$@" 2>stderr.log >ports.yaml || fail "render $*: $(cat stderr.log)"
    python3 -c 'import sys, yaml
found = [d for d in yaml.safe_load_all(open("ports.yaml")) if d["kind"] == "NetworkPolicy"]
print(*[p["port"] for d in found for p in d["spec"]["egress"][0]["ports"]])'
}
expect_ports() { # ports, options
    local found
    found=$(ports_of "${@:2}")
    [ "$found" = "$1" ] || fail "ports of ${*:2}: expected '$1', found '$found'"
}
expect_ports '' --store dir:/data/store
expect_ports 443 --store s3://bucket/store
expect_ports 8333 --store 's3://bucket/store?region=x&endpoint=http://weed.storage:8333'
expect_ports 80 --store 's3://bucket/store?endpoint=http://weed.storage/&region=x'
expect_ports 443 --store 's3://bucket/store?endpoint=https://weed.storage'
expect_ports '7000 7001 9000' --store \
    'tiered:redis+cluster://a:7000,b:7001,c:7000/rounds^s3://bucket/store?endpoint=https://[fd00::1]:9000'
expect_ports '6380' --store dir:/data/store --redis rediss://queue.elsewhere:6380
expect_ports '443 6379' --store s3://bucket/store --redis redis://queue.elsewhere:6379
expect_ports '8333 9001' --store s3://bucket/store --egress 8333 --egress 9001 --egress 8333 \
    --redis redis://queue.elsewhere:6380
expect 78 '--store: .*expected redis.+cluster' "${render[@]}" \
    --store tiered:redis+cluster://a:x/rounds^s3://bucket/store
expect 78 '--redis: ' "${render[@]}" --redis http://queue

# Two runs, like Pods of the form indexed.
mkdir -p data scratch queue
printf secret >queue/password
redis-server --port 0 --unixsocket "$work/redis.sock" --requirepass secret --dir "$work" --save '' \
    >redis.txt &
started+=($!)
for _ in $(seq 200); do [ -S redis.sock ] && break || sleep 0.05; done
pod() { # run, number: again while it ends with 75, as its Job does
    local status=75
    while [ $status -eq 75 ]; do
        status=0
        POD_NAME=$1-$2 JOB_COMPLETION_INDEX=$2 PATH=$bin:$PATH sh -euc "$(cat "$1/script")" \
            2>>"$1/$2.log" || status=$?
    done
    echo $status >"$1/$2.status"
}
for seed in 1 2; do
    mkdir -p run$seed/config
    "${render[@]}" --form indexed --workers 2 --name run$seed --set seed=$seed \
        --redis "unix:$work/redis.sock" >run$seed/run.yaml 2>stderr.log
    python3 - run$seed "$work" <<'PYTHON'
import sys, yaml
folder, work = sys.argv[1:]
config, job = yaml.safe_load_all(open(f"{folder}/run.yaml"))
open(f"{folder}/config/pipeline.yaml", "w").write(config["data"]["pipeline.yaml"])
script = job["spec"]["template"]["spec"]["containers"][0]["args"][0]
for inside, here in (("dir:/data", f"dir:{work}/data"), ("/etc/graphmill/run", f"{work}/{folder}/config"), ("/run/graphmill/redis", f"{work}/queue"),
                     ("=/scratch", f"={work}/scratch"), ("--wait=60", "--wait=1"), ("--idle=60", "--idle=1")):
    assert inside in script, inside
    script = script.replace(inside, here)
open(f"{folder}/script", "w").write(script)
open(f"{folder}/pods", "w").write(str(job["spec"]["completions"]))
PYTHON
done
crews=()
for seed in 1 2; do
    for number in $(seq 0 $(($(cat run$seed/pods) - 1))); do
        pod run$seed $number &
        crews+=($!)
    done
done
for pid in "${crews[@]}"; do wait "$pid"; done
for seed in 1 2; do
    for status in run$seed/*.status; do [ "$(cat "$status")" = 0 ] ||
        fail "$status: $(cat "$status"); $(tail -1 "${status%.status}.log")"; done
    [ "$(ls run$seed/*.status | wc -l)" -eq "$(cat run$seed/pods)" ] ||
        fail "run$seed: not all Pods ended"
    expected=$(run peace$seed "$pipeline" --set seed=$seed | json weights_hash)
    grep -qh "$expected" run$seed/*.log ||
        fail "run$seed: no Pod said $expected: $(grep -h 'weights hash' run$seed/*.log)"
done
