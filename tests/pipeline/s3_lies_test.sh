#!/usr/bin/env bash
# A store in a bucket, and an input there, behind a relay that spoils the first answer about each
# object: it flips a byte, sends nothing or half of it. Every record, ref, list, sealed file and
# input is read a second time before it counts as damaged: the run ends with the weights and outputs
# of a local one, and verify finds nothing. A stop is obeyed within seconds although the store takes
# 20 s for each answer.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
seaweedfs
cd "$work"
start_relay() { # folder, which gets its port, and its plan from the test
    mkdir "$1"
    python3 "$source_folder/tests/support/s3_relay.py" "${endpoint#http://}" "$work/$1" &
    started+=($!)
    for _ in $(seq 100); do [ -s "$1/port" ] && break; sleep 0.1; done
}
start_relay relay
relay=http://127.0.0.1:$(cat relay/port)

# The input: 300 nodes, whose edges are in the bucket.
mkdir graph
random_graph graph 5 1500
settings='epochs: 2
ingest: {format: edge_list, path: PLACE/edges.csvQUERY, labels: PLACE/labels.csvQUERY, features: degree, split: hash 60/20/20, self_loops: remove}
partition: {parts: 2}
sample: {fanouts: [5, 5], batch_size: 60}'
{ echo 'name: lies'; sed "s|PLACE|graph|; s|PLACE|graph|; s/QUERY//g" <<<"$settings"; } >here.yaml
{ echo 'name: lies'; sed "s|PLACE|s3://graphmill/graph|g; s|QUERY|?endpoint=$relay|g" \
    <<<"$settings"; } >there.yaml
for file in edges labels; do
    curl -sf -T graph/$file.csv "$objects/graph/$file.csv" || fail "the input cannot be put"
done
peace=$(run peace here.yaml | json weights_hash)

echo lies >relay/plan
store="s3://graphmill/store?endpoint=$relay"
run lied there.yaml --store "$store" >lied.json 2>lied.txt ||
    fail "a run behind lies: $(tail -3 lied.txt)"
found=$(json weights_hash <lied.json)
[ "$found" = "$peace" ] || fail "behind lies: weights '$found', locally $peace"
for word in flip empty short; do
    [ "$(grep -c "^$word" relay/lies)" -ge 3 ] ||
        fail "the relay did not lie: $(sort relay/lies | cut -d' ' -f1 | uniq -c)"
done
for file in metrics.json predictions.csv; do
    cmp "peace/outputs/$file" "lied/outputs/$file" || fail "outputs/$file is another one"
done
rm relay/lies # and anew, for a process that reads everything
kill "${started[-1]}"
start_relay again
echo lies >again/plan
again="s3://graphmill/store?endpoint=http://127.0.0.1:$(cat again/port)"
"$bin/graphmill" verify --store "$again" >verify.txt 2>&1 ||
    fail "verify behind lies: $(tail -3 verify.txt)"
[ "$(wc -l <again/lies)" -ge 20 ] || fail "verify was told no lies: $(cat again/lies)"

# Damage in the bucket itself stays damage, however often it is read.
schema=$(curl -sf "$objects/store/dataset/?limit=100" -H 'Accept: application/json' |
    grep -o '/[^"]*/dataset/lies-[^"/]*' | head -1)
object="$objects/store/dataset/${schema##*/}/schema!record"
curl -sf "$object" >schema || fail "no $object"
printf '\377' | dd of=schema bs=1 seek=100 conv=notrunc status=none
curl -sf -T schema "$object" || fail "$object cannot be put"
"$bin/graphmill" verify --store "$again" >verify.txt 2>&1 && fail "a damaged schema is OK"
grep -q 'DAMAGED.*schema' verify.txt || fail "verify says: $(cat verify.txt)"

# A stop, while each answer takes 20 s.
echo crawl >again/plan
"$bin/graphmill-ingest" --store "$again" --pipeline here.yaml 2>slow.log &
slow=$!
started+=($slow)
sleep 2
begun=$(date +%s)
kill -TERM $slow
status=0
wait $slow || status=$?
[ $status = 75 ] && [ $(($(date +%s) - begun)) -le 6 ] ||
    fail "SIGTERM behind a slow store: status $status after $(($(date +%s) - begun)) s: $(tail -2 \
    slow.log)"
