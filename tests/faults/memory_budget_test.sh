#!/usr/bin/env bash
# --memory is obeyed: train-step and infer stay within their budget plus what any such program needs
# (code, RocksDB, its share of Redis), with rows that fit the budget and rows that do not, sample
# with and without a copy of the topology, and weights and outputs are the same. It measures in a
# memory cgroup if one can be made, otherwise by the peak of the process in the kernel, which
# includes the pages of mapped files.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
beside_mb=64
not_sanitized 'a sanitizer takes memory of its own, more than the budgets here'
cat >"$work/budget.yaml" <<'YAML'
name: budget
epochs: 1
ingest:
  format: generated
  nodes: 150000
  average_degree: 10
  classes: 8
  feature_dim: 340
partition:
  method: hash
  parts: 4
sample:
  fanouts: [10, 5]
  batch_size: 4096
  evaluation_fanouts: [10, 5]
  evaluation_batch_size: 4096
train-step:
  model: sage
  hidden: 32
YAML

group=
make_group() { # limit in bytes; the folder of a new group in $group, or nothing
    local made=
    # Files on a tmpfs would be charged to the group, although they are not memory of the program.
    [ "$(stat -f -c %T "$work")" != tmpfs ] || return 0
    for made in /sys/fs/cgroup/graphmill-test-$$ /sys/fs/cgroup/memory/graphmill-test-$$; do
        mkdir "$made" 2>/dev/null || continue
        for file in memory.max memory.limit_in_bytes; do
            if [ -e "$made/$file" ] && echo "$1" >"$made/$file" 2>/dev/null &&
                [ -w "$made/cgroup.procs" ]; then
                group=$made
                return
            fi
        done
        rmdir "$made"
    done
}
remove_group() { [ -z "$group" ] || rmdir "$group" 2>/dev/null || true; }
leave() { # with the status that finish() looks at
    local status=$?
    set +e
    remove_group
    return $status
}
trap 'leave; finish' EXIT

# Ingest keeps its whole process within a large or a small budget, and makes the same records. A
# budget that is too small is refused before the edges are read, if their number is known.
command -v /usr/bin/python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
mkdir "$work/ingest"
/usr/bin/python3 - "$work/ingest" <<'MAKE'
import gzip, random, sys
random.seed(2)
nodes, edges = 400000, 5000000
with gzip.open(sys.argv[1] + "/edges.csv.gz", "wt", compresslevel=1) as file:
    for _ in range(edges // 50000):
        ends = random.choices(range(nodes), k=100000)
        file.write("".join(f"{a},{b}\n" for a, b in zip(ends[::2], ends[1::2])))
open(sys.argv[1] + "/classes.csv", "w").write("".join(f"{i},{i % 10}\n" for i in range(0, nodes, 100)))
MAKE
cat >"$work/ingest/edges.yaml" <<YAML
name: edges
ingest: {format: edge_list, path: $work/ingest/edges.csv.gz, labels: $work/ingest/classes.csv, split: random 60/20/20, direction: undirected,
    features: degree+random, random_dim: 30}
YAML
ingests() { # name, budget in MB
    local peak
    peak=$(/usr/bin/python3 - "$bin/graphmill-ingest" --store "dir:$work/ingest/$1" \
        --pipeline "$work/ingest/edges.yaml" --memory "${2}M" 2>"$work/ingest/$1.log" <<'PYTHON'
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(status)
PYTHON
    ) || fail "ingest with ${2}M: $(tail -1 "$work/ingest/$1.log")"
    echo "ingest: budget $2 MB, peak of the process $peak MB"
    [ "$peak" -le "$2" ] || fail "ingest with ${2}M: a peak of $peak MB"
}
ingests roomy 512
ingests tight 88
diff <(cd "$work/ingest/roomy/dataset" && find . -name '*.record' -exec sha256sum {} + | sort) \
    <(cd "$work/ingest/tight/dataset" && find . -name '*.record' -exec sha256sum {} + |
    sort) >/dev/null || fail 'the budget of ingest changes records'
[ "$(find "$work/ingest/tight/dataset" -name '*.record' | wc -l)" -ge 5 ] ||
    fail 'too few records of ingest'
refused() { # pattern, budget, pipeline file
    local began=$SECONDS
    expect 71 "$1" "$bin/graphmill-ingest" --store "dir:$work/ingest/refused" --pipeline "$3" \
        --memory "$2"
    [ "$((SECONDS - began))" -le 20 ] ||
        fail "a budget of $2 is refused after $((SECONDS - began)) s"
}
refused 'the memory budget is 16.0 MiB: expected at least 32.0 MiB, .*give more --memory' 16M \
    "$work/ingest/edges.yaml"
sed 's/nodes: 150000/nodes: 4000000/; s/average_degree: 10/average_degree: 200/' \
    "$work/budget.yaml" >"$work/many.yaml"
refused 'a chunk of edges and its buffers take .* beside what ingest holds by then: expected a memory budget above' 64M "$work/many.yaml"
rm -r "$work/ingest"

# The other programs; one of them joins the group and gets the budget.
mkdir "$work/bin"
for program in "$bin"/graphmill*; do cp "$program" "$work/bin/"; done
for stage in train-step sample infer; do
    mv "$work/bin/graphmill-$stage" "$work/bin/real-$stage"
    cat >"$work/bin/graphmill-$stage" <<SCRIPT
#!/bin/sh
[ "\$TEST_STAGE" = $stage ] || exec "$work/bin/real-$stage" "\$@"
[ -z "\$TEST_GROUP" ] || echo \$\$ >"\$TEST_GROUP/cgroup.procs"
exec "$work/bin/real-$stage" "\$@" --memory "\$TEST_MEMORY"
SCRIPT
    chmod +x "$work/bin/graphmill-$stage"
done
bin=$work/bin

train() { # name, the stage with a budget, that in MB, what it says of its memory, pipeline file
    local name=$1 stage=$2 budget=$3 says=$4 pipeline=${5:-budget} bound peak
    bound=$(((budget + beside_mb) << 20))
    group=
    make_group $bound
    TEST_STAGE=$stage TEST_GROUP=$group TEST_MEMORY=${budget}M run "$name" "$work/$pipeline.yaml" \
        --threads 2 --set name="$name" >"$work/$name.json"
    grep -q "$says" "$work/$name/logs/$stage-0.log" ||
        fail "$name: the log of $stage has no '$says'"
    peak=$(sed -n 's/.*"peak_bytes":\([0-9]*\).*/\1/p' "$work/$name/times/$stage-0.jsonl" | tail -1)
    [ "$peak" -gt 0 ] || fail "$name: no peak in its times"
    if [ -n "$group" ]; then
        echo "$name: budget $budget MB, finished in a group of $((budget + beside_mb)) MB ($group), peak of the process $((peak >> 20)) MB"
    else
        echo "$name: budget $budget MB, no group can be made here, peak of the process $((peak >> 20)) MB"
        [ "$peak" -le "$bound" ] || fail "$name: a peak of $peak bytes, expected at most $bound"
    fi
    remove_group
    group=
}
train roomy train-step 512 'which all fit'
train tight train-step 128 'which are read as batches want them'
train copied sample 40 'for a copy of the topology$'
train mapped sample 12 'too little for a copy of the topology'
a=$(json weights_hash <"$work/roomy.json")
for name in tight copied mapped; do
    b=$(json weights_hash <"$work/$name.json")
    [ -n "$a" ] && [ "$a" = "$b" ] || fail "weights $a of roomy, $b of $name"
done

# The outputs have many wide rows: layers, embeddings, logits and labels are each nearly as large as
# their shares.
sed 's/nodes: 150000/nodes: 40000/; s/feature_dim: 340/feature_dim: 200/; s/classes: 8/classes: 120/; s/hidden: 32/hidden: 240/' \
    "$work/budget.yaml" >"$work/wide.yaml"
train open infer 256 'rows that layer 2 reads, which all fit' wide
train close infer 72 'rows that layer 2 reads, which are summed in windows' wide
for file in embeddings.npy predictions.csv; do # the others have the name of the run in them
    cmp -s "$work/open/outputs/$file" "$work/close/outputs/$file" ||
        fail "$file differs between the budgets of infer"
done
