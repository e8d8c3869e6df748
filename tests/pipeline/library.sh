# Functions shared by the tests of whole pipelines: `source` it first.
set -euo pipefail
bin=$GRAPHMILL_BIN
source_folder=$GRAPHMILL_SOURCE
work=$(mktemp -d "${TMPDIR:-/tmp}/graphmill-pipeline-XXXXXX")
failure=
started=() # processes in the background, ended when the test ends
# Ends the started processes and waits for their end, so that nobody writes into a folder that is
# being removed.
end_started() {
    local pid turns=100
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null && kill -CONT "$pid" 2>/dev/null ||
        true; done
    for pid in "${started[@]}"; do
        while kill -0 "$pid" 2>/dev/null && [ $((turns--)) -gt 0 ]; do sleep 0.1; done
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}
# Prints the failure last, after the ends of the logs.
finish() {
    local status=$? file
    end_started
    [ $status -eq 0 ] || [ $status -eq 77 ] || {
        for file in "$work"/*.log "$work"/*/logs/*.log; do [ -s "$file" ] &&
            { echo "--- $file"; tail -3 "$file"; }; done
        echo "FAILED: ${failure:-line $last_line: a command ended with $status}"
    } >&2
    # a worker that outlived its killed driver for a moment
    rm -rf "$work" || { sleep 1; rm -rf "$work"; }
    exit $status
}
last_line=0
set -E
trap 'last_line=$LINENO' ERR
trap finish EXIT

fail() {
    failure=$*
    exit 1
}

# Prints one string or number of a line of JSON: json KEY
json() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" | sed -n 1p; }

# Skips the test if the programs have a sanitizer: not_sanitized 'why'
sanitized() { [[ $(ldd "$bin/graphmill") == *lib[atu]*san* ]]; }
not_sanitized() {
    ! sanitized || {
        echo "skipped: $1"
        exit 77
    }
}

# Runs a pipeline into $work/NAME: run NAME FILE [options]; prints the answer as JSON
run() {
    local name=$1 file=$2
    shift 2
    "$bin/graphmill" run "$file" --directory "$work/$name" --quiet --json "$@"
}

datasets() {
    local folder=${GRAPHMILL_DATASETS:-$source_folder/../shared/datasets}
    [ -d "$folder/$1" ] || {
        echo "skipped: no $1 in $folder; set GRAPHMILL_DATASETS"
        exit 77
    }
    export GRAPHMILL_DATASETS=$folder
}

# Runs a command that must end with a status and print a pattern on stderr: expect STATUS 'PATTERN'
# command...
expect() {
    local status=$1 pattern=$2 found=0
    shift 2
    "$@" >"$work/stdout" 2>"$work/stderr" || found=$?
    [ "$found" -eq "$status" ] || fail "'$*' ended with $found, expected $status: $(tail -3 \
        "$work/stderr")"
    grep -qE -- "$pattern" "$work/stderr" ||
        fail "'$*' did not say '$pattern' but: $(tail -3 "$work/stderr")"
}

# Writes edges.csv and labels.csv with 300 nodes of four classes: random_graph FOLDER SEED EDGES
random_graph() {
    python3 - "$@" <<'PYTHON'
import random
import sys
dice = random.Random(int(sys.argv[2]))
with open(sys.argv[1] + "/edges.csv", "w") as file:
    file.writelines("%d,%d\n" % (dice.randrange(300), dice.randrange(300)) for _ in range(int(sys.argv[3])))
with open(sys.argv[1] + "/labels.csv", "w") as file:
    file.writelines("%d,%d\n" % (node, dice.randrange(4)) for node in range(300))
PYTHON
}

# Makes a graph with relations: N papers in three classes, 2 N / 3 authors numbered before them, 3
# venues after them, one for each class: papers_graph FOLDER N
papers_graph() {
    local folder=$1 papers=$2 authors=$((2 * $2 / 3)) split=$((4 * $2 / 3))
    mkdir "$folder"
    echo "{\"num_nodes\": $((authors + papers + 3)), \"directed\": true, \"num_classes\": 3}" \
        >"$folder/meta.json"
    printf 'name,first_id,count\nauthor,0,%d\npaper,%d,%d\nvenue,%d,3\n' $authors $authors \
        "$papers" $((authors + papers)) >"$folder/node-types.csv"
    printf 'id,name,source,target\n0,writes,author,paper\n1,cites,paper,paper\n2,in,paper,venue\n' \
        >"$folder/edge-types.csv"
    awk -v n="$papers" -v a=$authors 'BEGIN {
        print "src,dst,etype"
        for (p = 0; p < n; p++) {
            printf "%d,%d,0\n%d,%d,0\n", p * 7 % a, a + p, (p * 11 + 3) % a, a + p
            printf "%d,%d,1\n%d,%d,2\n", a + p, a + (p * 13 + 5) % n, a + p, a + n + p % 3
        }
    }' >"$folder/edges.csv"
    awk -v n="$papers" -v a=$authors \
        'BEGIN {for (v = 0; v < a + n + 3; v++) print (v >= a && v < a + n ? v % 3 : -1)}' \
        >"$folder/node-label.csv"
    seq $authors 2 "$split" >"$folder/train.csv"
    seq $((authors + 1)) 2 $((split + 1)) >"$folder/valid.csv"
    seq $((split + 2)) $((authors + papers - 1)) >"$folder/test.csv"
}

# Prints the head of a pipeline file for such a graph, up to its parts: papers_pipeline FOLDER SEED
# EPOCHS [LINE_OF_INGEST...]
papers_pipeline() {
    printf 'name: papers\nseed: %d\nepochs: %d\n' "$2" "$3"
    printf 'ingest:\n  path: %s\n  relations: true\n  add_reverse: true\n' "$1"
    [ $# -le 3 ] || printf '  %s\n' "${@:4}"
    printf 'partition:\n  parts: 3\n'
}

# Prints the hashes of all results of $work/RUN, without the names of runs: outcome RUN
outcome() {
    local header name
    header=$(od -An -tu8 -N8 "$work/$1/outputs/model.safetensors")
    tail -c +$((header + 9)) "$work/$1/outputs/model.safetensors" | sha256sum
    for name in $(cd "$work/$1/outputs" && ls); do
        [ "$name" = model.safetensors ] ||
            echo "$name $(sed 's/"run":"[^"]*"//' "$work/$1/outputs/$name" | sha256sum)"
    done
    sha256sum <"$work/$1/metrics.jsonl"
}
# Requires that the results equal $before: as_before RUN WHY
as_before() { [ "$(outcome "$1")" = "$before" ] || fail "$2: other outputs"; }

# Computes a unit again, which must give the same bytes: replays RUN STAGE [options]
replays() {
    local said
    said=$("$bin/graphmill" replay "$work/$1" "${@:2}" 2>"$work/stderr") ||
        fail "replay ${*:2} of $1: $(tail -1 "$work/stderr")"
    [[ $said == MATCH* ]] || fail "replay ${*:2} of $1 said '$said'"
}

# Replays several units, each with its options: replay_each RUN UNIT...
replay_each() {
    local unit
    # shellcheck disable=SC2086 # a stage and its options
    for unit in "${@:2}"; do replays "$1" $unit; done
}

# Kills an update at any moment; the same command ends with the same version: killed_updates FILE ID
# options of files of the update...
killed_updates() {
    local file=$1 id=$2 pause again
    shift 2
    for pause in 0.005 0.01 0.02 0.03 0.05 0.08; do
        rm -rf "$work/killed"
        "$bin/graphmill-ingest" --store "$work/killed" --pipeline "$file" >/dev/null 2>&1
        timeout -s KILL $pause "$bin/graphmill-ingest" --store "$work/killed" --pipeline "$file" \
            "$@" >/dev/null 2>&1 || true
        again=$("$bin/graphmill-ingest" --store "$work/killed" --pipeline "$file" "$@" 2>/dev/null)
        [[ $again == *"dataset=$id "* ]] || fail "killed after $pause s: another version: $again"
    done
}

# Kills the driver and all programs at that moment; the same command resumes, with the results in
# $before: killed_at SECONDS FILE
killed_at() {
    local driver
    rm -rf "$work/killed"
    setsid "$bin/graphmill" run "$2" --directory "$work/killed" --quiet --lease 1000 >/dev/null \
        2>&1 &
    driver=$!
    sleep "$1"
    kill -KILL -- -$driver 2>/dev/null || true
    wait $driver 2>/dev/null || true
    run killed "$2" >/dev/null
    as_before killed "killed after $1 s"
}

# Damages one byte of a record: damage FILE
damage() { printf '\377' | dd of="$1" bs=1 seek=300 conv=notrunc status=none; }

# Prints a metric of a split from a run's answer: measure ANSWER SPLIT METRIC
measure() { sed -n "s/.*\"$2\":{[^}]*\"$3\":\(-\{0,1\}[0-9.]*\).*/\1/p" <<<"$1"; }

# Requires equal outputs: same_outputs RUN OTHER
same_outputs() {
    local file
    for file in predictions.csv embeddings.npy metrics.json; do
        cmp -s "$work/$1/outputs/$file" "$work/$2/outputs/$file" ||
            fail "$2 has another $file than $1"
    done
}

# Makes 60 nodes n0 to n59 in three classes, three edges each, two columns of features, and a
# pipeline file for them: ring_graph FOLDER
ring_graph() {
    mkdir "$1"
    awk 'BEGIN {for (v = 0; v < 60; v++) for (k = 1; k <= 3; k++) print "n" v ",n" (v * 7 + k * 11) % 60}' >"$1/edges.csv"
    awk 'BEGIN {for (v = 0; v < 60; v++) print "n" v "," v % 3}' >"$1/labels.csv"
    awk 'BEGIN {for (v = 0; v < 60; v++) print "n" v "," v % 3 "," v % 5 / 4}' >"$1/rows.csv"
    cat >"$1/g.yaml" <<'Y'
name: g
epochs: 2
ingest: {format: edge_list, path: edges.csv, labels: labels.csv, features: rows.csv, split: random 60/20/20, direction: undirected}
partition: {parts: 3}
sample: {fanouts: [3, 3], batch_size: 16}
train-step: {hidden: 8}
Y
}

# Starts a stage program and stores its process in pid_of[NAME]: worker STAGE NAME. It uses the
# variables of the test: pipeline, settings, store, lease_ms, queue (options of the work queue). Its
# log is $work/NAME.log.
declare -A pid_of
worker() {
    "$bin/graphmill-$1" --pipeline "$pipeline" "${settings[@]}" --store "$store" --worker "$2" \
        --scratch "$work" --lease "$lease_ms" \
        --wait 300 "${queue[@]}" >"$work/$2.out" 2>"$work/$2.log" &
    pid_of[$2]=$!
    started+=($!)
}
# Waits for the end of a worker, which must be successful: join NAME
join() {
    local status=0
    wait "${pid_of[$1]}" || status=$?
    [ $status -eq 0 ] || fail "$1 ended with $status: $(tail -3 "$work/$1.log")"
}

# Starts a real SeaweedFS with the bucket "graphmill", which ends with the test. Sets $endpoint to
# its address, $objects to that of its objects as files, and the credentials in the environment.
# Without the program the test is skipped.
seaweedfs() {
    local weed=${GRAPHMILL_WEED:-} ready= attempt second port weed_pid
    [ -x "$weed" ] || weed=$(command -v weed) ||
        { echo "skipped: there is no SeaweedFS (program weed) here"; exit 77; }
    export AWS_ACCESS_KEY_ID=testkey AWS_SECRET_ACCESS_KEY=test/secret+key
    cat >"$work/s3.json" <<'END'
{"identities": [{"name": "test", "credentials": [{"accessKey": "testkey", "secretKey": "test/secret+key"}],
                 "actions": ["Admin", "Read", "Write", "List"]}]}
END
    mkdir "$work/weed"
    # Another program may have a port; then others are tried.
    for attempt in 1 2 3 4 5; do
        port=$((12000 + (RANDOM * 32768 + RANDOM) % 8000))
        # It takes long to end when asked: timeout asks, and then kills.
        timeout -k 1 300 "$weed" -logdir="$work/weed" server -dir="$work/weed" -ip=127.0.0.1 \
            -ip.bind=127.0.0.1 -master.port=$port \
            -volume.port=$((port + 1)) -filer.port=$((port + 2)) -s3 -s3.port=$((port + 3)) \
            -s3.port.iceberg=0 -s3.port.lance=0 \
            -s3.config="$work/s3.json" -master.volumeSizeLimitMB=64 "$@" >"$work/weed.log" 2>&1 &
        weed_pid=$!
        started+=($weed_pid)
        for second in $(seq 60); do
            kill -0 $weed_pid 2>/dev/null || break
            echo 's3.bucket.create -name graphmill' |
                timeout 20 "$weed" -logdir="$work/weed" shell -master=127.0.0.1:$port \
                -filer=127.0.0.1:$((port + 2)) >"$work/shell.log" 2>&1 &&
                grep -q 'create[d]* bucket' "$work/shell.log" && ready=yes && break
            sleep 1
        done
        [ -z "$ready" ] || break
    done
    [ -n "$ready" ] || fail "SeaweedFS does not start: $(tail -3 "$work/weed.log" \
        "$work/shell.log")"
    endpoint=http://127.0.0.1:$((port + 3))
    # shellcheck disable=SC2034 # for those who source this
    objects=http://127.0.0.1:$((port + 2))/buckets/graphmill
}

# Prints the records of the dataset of a run in runs/, a line `kind version key hash` for each
# record of the kinds: records RUN KIND...
records() {
    local name=$1 kind
    shift
    "$bin/graphmill" verify "runs/$name" --list >"$name.list"
    for kind in "$@"; do
        awk -v k="$kind" \
            '$2 == k && $4 ~ /^dataset\// {sub(/dataset\/[^\/]*\//, "", $4); print $2, $3, $4, $1}' "$name.list"
    done
}
