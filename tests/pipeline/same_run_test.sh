#!/usr/bin/env bash
# The same run, whatever the name of its pipeline and the spelling of its paths; and what --dry-run
# says about changes that make another run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

mkdir -p "$work/data/karate" "$work/deep/er"
data=$work/data/karate
printf 'src,dst\n' >"$data/edges.csv"
for ((i = 0; i < 40; i++)); do echo "$i,$(((i * 7 + 3) % 40))"; done >>"$data/edges.csv"
printf '{"num_nodes": 40, "directed": false}' >"$data/meta.json"
for ((i = 0; i < 40; i++)); do echo $((i % 2)); done >"$data/node-label.csv"
seq 0 19 >"$data/train.csv"
seq 20 29 >"$data/valid.csv"
seq 30 39 >"$data/test.csv"
ln -s data/karate "$work/linked"
cat >"$work/small.yaml" <<'Y'
epochs: 2
ingest:
  path: ${SMALL_DATA:-data/karate}
aggregate:
  learning_rate: 0.001
Y
same() { # what, command...
    local what=$1 found
    shift
    found=$("$@" --directory "$work/run" --quiet --json) || fail "$what: $found"
    found=$(json run <<<"$found")
    [ "$found" = "$id" ] || fail "$what: run $found, expected $id"
}
id=$("$bin/graphmill" run "$work/small.yaml" --directory "$work/run" --quiet --json | json run)
trained=$(find "$work/run/store/run/$id" -name '*.record' | sort | xargs sha256sum)
same 'relative, from its folder' env -C "$work" "$bin/graphmill" run small.yaml
same 'relative, from below' env -C "$work/deep/er" "$bin/graphmill" run ../../small.yaml
same 'another spelling of the variable' env SMALL_DATA="$work/deep/../data//karate" \
    "$bin/graphmill" run "$work/small.yaml"
same 'a link' env SMALL_DATA=linked "$bin/graphmill" run "$work/small.yaml"
same 'on the command line' env -C "$work/data" "$bin/graphmill" run ../small.yaml \
    --set ingest.path=karate/
same 'a number in other words' "$bin/graphmill" run "$work/small.yaml" \
    --set aggregate.learning_rate=1e-3
same 'another name' "$bin/graphmill" run "$work/small.yaml" --set name=other
same 'settings of operation' "$bin/graphmill" run "$work/small.yaml" --set checkpoint.keep=0 \
    --set sample.run_ahead=9
mv "$data" "$work/moved"
rm "$work/linked"
same 'moved data' env SMALL_DATA=moved "$bin/graphmill" run "$work/small.yaml"
[ "$(find "$work/run/store/run/$id" -name '*.record' | sort | xargs sha256sum)" = "$trained" ] ||
    fail "something was trained again"
mv "$work/moved" "$data"

# What would run, and why; asking writes nothing.
everything() { find "$work/run" -type f -not -path '*/logs/*' | sort | xargs sha256sum; }
dry() { "$bin/graphmill" run "$work/small.yaml" --directory "$work/run" --dry-run "$@" \
    >"$work/said" 2>&1 || fail "dry run $*: $(cat "$work/said")"; }
says() { grep -qE "^$1" "$work/said" || fail "not '$1' but: $(cat "$work/said")"; }
before=$(everything)
dry
says 'ingest +unchanged'
says 'partition +unchanged'
says 'train +unchanged'
says "infer +nothing: run $id is finished"
dry --set train-step.hidden=128
says 'partition +unchanged'
says 'train +runs: train-step.hidden 64 -> 128 \(a new run\)'
says 'infer +runs: train runs'
dry --set epochs=4
says "train +runs: epochs 2 -> 4 \(a new run, from round 2 of run $id on\)"
dry --set infer.embeddings=false
says 'train +unchanged'
says 'infer +runs: infer.embeddings true -> false'
dry --set partition.parts=2
says 'ingest +unchanged'
says 'partition +runs: partition.parts 1 -> 2'
says 'train +runs: partition runs'
dry --set ingest.random_dim=32
says 'ingest +runs: ingest.random_dim 64 -> 32'
[ "$("$bin/graphmill" start "$work/small.yaml" --directory "$work/run" \
    --dry-run --json --set partition.parts=2 |
    grep -c '"stage":"partition","runs":true,"why":"partition.parts 1 -> 2"')" -eq 1 ] ||
    fail "JSON"
echo 5 >>"$data/train.csv" && sed -i '$d' "$data/train.csv"
dry
says 'ingest +unchanged' # the same content again
sed -i '$d' "$data/train.csv"
dry
says 'ingest +runs: this input was not read here before'
grep -q '^ingest *runs: nothing is here yet' \
    <<<"$("$bin/graphmill" run "$work/small.yaml" --directory "$work/nowhere" --dry-run)" ||
    fail "an empty folder"
[ ! -e "$work/nowhere" ] || fail "a dry run made a folder"
[ "$(everything)" = "$before" ] || fail "a dry run changed something"
expect 78 "expected one of" "$bin/graphmill" run "$work/small.yaml" --directory "$work/run" \
    --dry-run --set train-step.model=perceptron

# A real run says the same in one line.
grep -q '^other run' <<<"$("$bin/graphmill" run "$work/small.yaml" --directory "$work/run" \
    --set infer.embeddings=false 2>&1)" || fail "no word on other data"
grep -q '^same run *infer.embeddings false -> true' \
    <<<"$("$bin/graphmill" run "$work/small.yaml" --directory "$work/run" \
    --set infer.embeddings=true 2>&1)" || fail "no word on other outputs"
"$bin/graphmill" run "$work/small.yaml" --directory "$work/run" --set epochs=3 >"$work/said" 2>&1
says 'other run +epochs 2 -> 3, against run '
says ' +begun from round 2 of run '
