#!/usr/bin/env bash
# graphmill status --store and graphmill fetch: a run is seen from anywhere, and its outputs are
# copied completely or not at all.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
pipeline=$source_folder/pipelines/karate.yaml
id=$(run club "$pipeline" | json run)
store=dir:$work/club/store

"$bin/graphmill" status --store "$store" >status.txt
grep -q "^run  *$id: finished" status.txt || fail "status: $(cat status.txt)"
"$bin/graphmill" status --store "$store" --run "$id" --json >status.json
[ "$(json state <status.json)" = finished ] || fail "status --json: $(cat status.json)"
expect 64 'takes --store or' "$bin/graphmill" status club --store "$store"
expect 64 'one run' "$bin/graphmill" status
expect 65 'nowhere' "$bin/graphmill" status --store "dir:$work/nowhere"
[ ! -e nowhere ] || fail "asking for the status made a store"

"$bin/graphmill" fetch "$id" results --store "$store" >fetch.txt
diff -r club/outputs/ results | grep -v 'Only in results: metrics.jsonl' >differs.txt || true
[ ! -s differs.txt ] || fail "outputs differ: $(cat differs.txt)"
cmp club/metrics.jsonl results/metrics.jsonl || fail "metrics differ"
grep -q 'test accuracy\|accuracy' fetch.txt || fail "no score: $(cat fetch.txt)"
[ -z "$("$bin/graphmill" fetch newest again --store "$store" --quiet)" ] || fail "--quiet prints"
diff -r results again || fail "newest is another run"

expect 64 'there already' "$bin/graphmill" fetch "$id" results --store "$store"
expect 64 'takes the id' "$bin/graphmill" fetch "$id" more
expect 65 'no-such-run' "$bin/graphmill" fetch no-such-run more --store "$store"
# A damaged file is reported, and nothing is left that looks like results.
file=$(readlink -f club/outputs)/metrics.json
chmod u+w "$(dirname "$file")" "$file"
sed -i 's/accuracy/accurakt/' "$file"
expect 65 'metrics.json' "$bin/graphmill" fetch "$id" more --store "$store"
[ ! -e more ] && [ ! -e more.partial ] || fail "damaged outputs left something behind"
"$bin/graphmill" run "$pipeline" --directory early --set epochs=100000 --quiet >early.json \
    2>early.log &
started+=($!)
for _ in $(seq 200); do [ -e early/metrics.jsonl ] && break || sleep 0.05; done
expect 75 'is not finished' "$bin/graphmill" fetch newest more --store "dir:$work/early/store"

# The log of checkpoint has a line for each snapshot.
grep -c ' snapshot round [0-9]* of ' club/logs/checkpoint*.log >count.txt ||
    fail "no line of a snapshot in $(ls club/logs)"
[ "$(cat count.txt)" -eq "$(grep -c '"snapshot":' club/metrics.jsonl)" ] ||
    fail "$(cat count.txt) lines of snapshots"
