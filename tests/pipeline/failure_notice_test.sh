#!/usr/bin/env bash
# A stage that fails for good ends the others at once, with its sentence and status, when they wait
# for each other (--wait) as on a cluster; and the notice does not prevent the next attempt, once
# the cause is removed.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
cd "$work"
cp -r "$source_folder/tests/data/karate" graph
chmod -R u+w graph
sed 's#path: .*#path: graph#' "$source_folder/pipelines/karate.yaml" >karate.yaml
expected=$(run peace karate.yaml | json weights_hash)

redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' >redis.txt &
started+=($!)
for _ in $(seq 200); do [ -S redis.sock ] && break || sleep 0.05; done
program() { # stage, further options
    local redis=()
    case $1 in ingest | partition) ;; *) redis=(--redis "unix:$work/redis.sock") ;; esac
    "$bin/graphmill-$1" --pipeline karate.yaml --store "dir:$work/store" --wait 60 "${redis[@]}" \
        "${@:2}" >>"$1.log" 2>&1
}
# the one that fails last: the others wait already
stages=(partition sample train-step aggregate checkpoint infer ingest)
attempt() { # leaves the statuses in status[STAGE]
    declare -gA pid_of=() status=()
    local stage
    for stage in "${stages[@]}"; do
        [ $stage != "${stages[-1]}" ] || sleep 1
        case $stage in partition) program partition --start & ;; *) program $stage & ;; esac
        pid_of[$stage]=$!
        started+=($!)
    done
    for stage in "${stages[@]}"; do
        status[$stage]=0
        wait "${pid_of[$stage]}" || status[$stage]=$?
    done
}

edges=$(ls graph/edges* | head -1)
cp "$edges" whole
program sample --wait 1 && fail "sample did not wait" ||
    true # a store that is not there is no failure
echo 'this is no edge' >>"$edges"
before=$SECONDS
attempt
[ $((SECONDS - before)) -lt 40 ] ||
    fail "the others did not end at once: $(tail -v -n 4 ingest.log partition.log infer.log)"
for stage in "${stages[@]}"; do
    [ "${status[$stage]}" -eq 65 ] ||
        fail "$stage ended with ${status[$stage]}, expected 65: $(tail -1 $stage.log)"
    grep -q 'edges.csv:80: expected 2 columns' $stage.log ||
        fail "$stage does not say why: $(tail -1 $stage.log)"
done
grep -q 'ingest failed for good' infer.log ||
    fail "infer does not say who failed: $(tail -1 infer.log)"

cp whole "$edges"
attempt
for stage in "${stages[@]}"; do
    [ "${status[$stage]}" -eq 0 ] ||
        fail "mended: $stage ended with ${status[$stage]}: $(tail -1 $stage.log)"
done
grep -q "$expected" infer.log || fail "weights: expected $expected, found $(grep 'weights hash' \
    infer.log)"

# A record that a stage opens before its first unit is damaged: the others learn of that, too.
sed 's#^seed: .*##' karate.yaml >other.yaml
echo 'seed: 77' >>other.yaml
mv other.yaml karate.yaml
for stage in ingest partition; do
    program $stage $([ $stage = ingest ] || echo --start) || fail "$stage: $(tail -1 $stage.log)"
done
topology=$(ls -d store/partition/*/part/*0/topology* | head -1)
chmod -R u+w store/partition
python3 - "$topology" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(5000)
    byte = file.read(1)
    file.seek(5000)
    file.write(bytes([byte[0] ^ 1]))
END
stages=(aggregate checkpoint infer sample)
: | tee aggregate.log checkpoint.log infer.log sample.log
before=$SECONDS
attempt
[ $((SECONDS - before)) -lt 40 ] || fail "the others did not end at once: $(tail -v -n 4 ./*.log)"
for stage in "${stages[@]}"; do
    [ "${status[$stage]}" -eq 65 ] ||
        fail "a damaged topology: $stage ended with ${status[$stage]}: $(tail -1 $stage.log)"
    grep -q 'part/.*topology' $stage.log ||
        fail "$stage does not say what is damaged: $(tail -1 $stage.log)"
done
grep -q 'sample failed for good' aggregate.log ||
    fail "aggregate does not say who failed: $(tail -1 aggregate.log)"
