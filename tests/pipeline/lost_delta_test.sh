#!/usr/bin/env bash
# The delta of a version is damaged or lost: verify names it and the repair, no run uses another
# version, and the same files make it again.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
random_graph . 1 1200
cat >g.yaml <<'END'
name: g
epochs: 2
ingest: {format: edge_list, path: edges.csv, labels: labels.csv, features: degree, split: hash 60/20/20, self_loops: remove}
sample: {fanouts: [5, 5], batch_size: 60}
partition: {compact: 1}
END
for update in 1 2; do
    echo 900$update,train,1 >nodes$update.csv
    echo 900$update,3 >edges$update.csv
done
update() { # number: gives its files
    "$bin/graphmill" update g.yaml --directory r --add-nodes nodes$1.csv --add-edges edges$1.csv \
        --quiet --json
}
run r g.yaml >/dev/null
one=$(update 1 | json dataset) two=$(update 2 | json dataset)
wanted=$(run r g.yaml | json weights_hash)
mkdir kept && cp -a r kept/

# Checks a change to the store, and the files that repair it. The second line of each is what verify
# says before the repair.
mended() {
    local what=$1 files=$2 status=0
    "$bin/graphmill" verify r >verify.txt 2>&1 && fail "$what: verify says OK"
    grep -q 'graphmill update with the files that version .* was made of makes its delta again' \
        verify.txt || fail "$what: verify says $(tail -1 verify.txt)"
    expect 65 'graphmill update with the files' "$bin/graphmill" run g.yaml --directory r \
        --quiet --set train-step.hidden=8
    for number in $files; do
        status=0
        update $number >answer.json 2>log ||
            status=$? # the first of two says that another one is lost
    done
    [ $status = 0 ] || fail "$what: update: $(cat log)"
    [ "$(json dataset <answer.json)" = "$two" ] || fail "$what: update made $(cat answer.json)"
    [ "$(run r g.yaml | json weights_hash)" = "$wanted" ] || fail "$what: another run"
    "$bin/graphmill" verify r >verify.txt 2>&1 || fail "$what: verify afterwards: $(cat verify.txt)"
    rm -rf r && cp -a kept/r r
}
flip() { printf '\377' | dd of="$1" bs=1 seek=200 conv=notrunc status=none; }
delta() { echo "r/store/dataset/$1/delta.record"; }
flip "$(delta "$two")" && mended 'the newest delta flipped' 2
rm "$(delta "$two")" && mended 'the newest delta lost' 2
flip "$(delta "$one")" && mended 'the first delta flipped' 1
rm "$(delta "$one")" && mended 'the first delta lost' 1
: >"$(delta "$one")" && flip "$(delta "$two")" && mended 'both deltas' '1 2'
flip "$(delta "$two")" && { "$bin/graphmill" verify --remove r >/dev/null 2>&1 || true; } &&
    mended 'the newest delta removed by verify' 2
rm r/store/switch/current/version/* "$(delta "$two")" && mended 'the newest delta and the switch' 2
rm "r/store/switch/current/next/${one##*-}" "$(delta "$two")" &&
    mended 'the newest delta and its link' 2

# Other files do not repair it.
flip "$(delta "$two")"
echo 5,9 >other.csv
expect 65 "$two" "$bin/graphmill" update g.yaml --directory r --add-edges other.csv --quiet
rm -rf r && cp -a kept/r r

# Refs and the schema of the newest version: a run finds the version and makes its lost records.
found() {
    [ "$(run r g.yaml --set epochs=3 | json id)" = "$two" ] || fail "$1: the run is not on $two"
    "$bin/graphmill" verify r >verify.txt 2>&1 || fail "$1: verify: $(cat verify.txt)"
    rm -rf r && cp -a kept/r r
}
old=$(cat kept/r/store/switch/current/version/*)
rm r/store/switch/current/version/* "r/store/dataset/$two/schema.record" &&
    found 'the switch and the schema'
rm r/store/switch/current/next/* "r/store/dataset/$two/schema.record" &&
    found 'the links and the schema'
rm r/store/switch/current/next/* r/store/switch/current/version/* && found 'all switches'
rm -rf r
run r g.yaml >/dev/null
update 1 >/dev/null
cp -a r/store/switch/current/version older
update 2 >/dev/null
cp older/* r/store/switch/current/version/ && found 'an older switch'
cp older/* r/store/switch/current/version/ && rm r/store/switch/current/next/* &&
    found 'an older switch and no links'
[ -n "$old" ]
