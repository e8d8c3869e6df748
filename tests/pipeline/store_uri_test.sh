#!/usr/bin/env bash
# The driver with a store elsewhere, in a bucket and in two: the same results as in the run's
# folder, by its folder and by the store's address alone.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
seaweedfs
pipeline=$source_folder/pipelines/karate.yaml
bucket="s3://graphmill/runs?endpoint=$endpoint"
tiers="tiered:dir:$work/fast^s3://graphmill/tiers?endpoint=$endpoint"
graphmill=$bin/graphmill
cd "$work"

peace=$(run peace "$pipeline" | json weights_hash)
expect 64 "expected the address of a store" "$graphmill" verify --store somewhere
expect 78 'expected the address of a store' run refused "$pipeline" --store somewhere

number=0
for store in "$bucket" "$tiers"; do
    number=$((number + 1))
    folder=away-$number
    [[ $(run $folder "$pipeline" --store "$store" --dry-run) == *'nothing is here yet'* ]] ||
        fail "$store: a dry run saw something"
    found=$(run $folder "$pipeline" --store "$store" | json weights_hash)
    [ "$found" = "$peace" ] || fail "$store: weights '$found', in a folder $peace"
    [ ! -e "$folder/store" ] || fail "$store: the folder has a store, too"
    same_outputs $folder peace
    cmp "$folder/metrics.jsonl" peace/metrics.jsonl || fail "$store: other metrics"
    [ -s "$folder/report.html" ] || fail "$store: no report"

    # The folder remembers its store, and accepts no other.
    [[ $(run $folder "$pipeline" 2>/dev/null) == *"$peace"* ]] ||
        fail "$store: the folder has forgotten it"
    [[ $(run $folder "$pipeline" --dry-run) != *'"runs":true'* ]] ||
        fail "$store: a dry run would do it again"
    expect 78 'has a store already' run $folder "$pipeline" --store "dir:$work/other"
    [[ $("$graphmill" status $folder --json) == *'"state":"finished"'* ]] ||
        fail "$store: no status of the folder"

    # From anywhere, with only the address.
    id=$("$graphmill" status --store "$store" --json | json run)
    "$graphmill" verify --store "$store" --json >verify.json || fail "$store: $(cat verify.json)"
    [ "$(json verdict <verify.json)" = OK ] || fail "$store: $(cat verify.json)"
    for unit in sample train-step "train-step --evaluation" aggregate checkpoint infer \
        "infer --layer 1 --part 1"; do
        # shellcheck disable=SC2086 # a stage and its options
        said=$("$graphmill" replay --store "$store" $unit 2>stderr) ||
            fail "$store: replay $unit: $(tail -1 stderr)"
        [[ $said == MATCH* ]] || fail "$store: replay $unit said '$said'"
    done
    "$graphmill" export --store "$store" --output model.safetensors >/dev/null
    "$graphmill" export peace --output peace.safetensors >/dev/null
    cmp <(tail -c 1000 model.safetensors) <(tail -c 1000 peace.safetensors) ||
        fail "$store: another model was exported"
    "$graphmill" report --store "$store" --output page.html >/dev/null
    grep -q "$id" page.html || fail "$store: the report is of another run"
    "$graphmill" report --store "$store" --classes >classes.txt
    cmp classes.txt <("$graphmill" report peace --classes) || fail "$store: other classes"
    [[ $("$graphmill" list "$store") == *"$id"* ]] || fail "$store: the run is not listed"
    expect 64 'or --store' "$graphmill" verify $folder --store "$store"
done

# start: for workers elsewhere, with the address that they need.
"$graphmill" start "$pipeline" --store "$bucket" --directory begun --set seed=9 2>begun.log \
    >begun.txt
[[ $(cat begun.txt) == run=karate-*" store=$bucket" ]] || fail "start said: $(cat begun.txt)"
grep -q -- "--store 's3://" begun.log || fail "start names another store: $(cat begun.log)"
