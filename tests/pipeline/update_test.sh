#!/usr/bin/env bash
# A graph that changes: `graphmill update`, a run on the new version with the user's ids, a kill at
# any moment, damage, wrong files.
. "$(dirname "$0")/library.sh"

ring_graph "$work/g" && cd "$work/g"
printf 'id,split,label\nzoe,train,1\nyan,,\n' >new_nodes
printf 'zoe,1,0.5\nyan,2,0.5\nn5,0,0\n' >new_rows
printf 'zoe,n1\nyan,zoe\nn5,n6\n' >new_edges
printf 'n0,n11\n' >old_edges
printf 'n59\nn58\n' >old_nodes
files=(--add-nodes new_nodes --features new_rows --add-edges new_edges --remove-edges old_edges \
    --remove-nodes old_nodes)
update() { "$bin/graphmill" update g.yaml --directory "$1" --quiet "${@:2}"; }

run r g.yaml >first.json
update "$work/r" "${files[@]}" --json >version.json
[ "$(json added_nodes <version.json)/$(json removed_nodes <version.json)/$(json nodes \
    <version.json)" = 2/2/60 ] ||
    fail "update: $(cat version.json)"
# what no run stands on yet stays: it is the newest version
"$bin/graphmill" gc "$work/r" --grace 0 >/dev/null
run r g.yaml >second.json
"$bin/graphmill" gc "$work/r" --grace 0 | tail -1 >gc.txt
[ "$(ls "$work/r/store/dataset" | wc -l)/$(ls "$work/r/store/run" | wc -l)" = 2/1 ] ||
    fail "gc: $(cat gc.txt)"
[ "$(json weights_hash <first.json)" != "$(json weights_hash <second.json)" ] ||
    fail 'the run is the same'
predictions=$work/r/outputs/predictions.csv
grep -q '^zoe,train,1,' "$predictions" && grep -q '^yan,,*' "$predictions" ||
    fail "new ids: $(tail -3 "$predictions")"
! grep -qE '^n5[89],' "$predictions" || fail 'a removed node has a prediction'
[ "$(tail -n +2 "$predictions" | wc -l)" = 60 ] || fail 'not a line for each node'

grep -q '"method":"placed"' <<<"$("$bin/graphmill" export "$work/r" --what report \
    --output /dev/stdout)" || fail 'nodes that stayed were partitioned again'

# The same again; and lost records of the version, without the files of the update.
# what a run says of it meanwhile is another matter
update "$work/r" "${files[@]}" --json >again.json
cmp <(sed 's/,"trained".*//' again.json) <(sed 's/,"trained".*//' version.json)
id=$(json dataset <version.json)
root=$(ls "$work/r/store/dataset" | grep -v "$id")
[ "$(cd "$work/r/store/dataset/$id" && ls | tr '\n' ' ')" = \
    'delta.record merge.record schema.record ' ] ||
    fail "the version is written whole: $(ls "$work/r/store/dataset/$id")"
mkdir away && mv new_* old_* away
printf x | dd of="$work/r/store/dataset/$id/merge.record" bs=1 seek=200 conv=notrunc status=none
expect 65 "$id/merge" "$bin/graphmill" verify "$work/r" --remove
run r g.yaml >third.json
[ "$(json weights_hash <second.json)" = "$(json weights_hash <third.json)" ] ||
    fail 'another run after damage'
grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/r")" || fail 'verify'
grep -q '^MATCH' <<<"$("$bin/graphmill" replay "$work/r" ingest)" || fail 'replay of a version'
# The versions that it is merged from are read with it, and made again if lost; without its delta it
# is not read.
printf x | dd of="$work/r/store/dataset/$root/features/0000000000.record" bs=1 seek=300 \
    conv=notrunc status=none
expect 65 "$root/features/0000000000" "$bin/graphmill" verify "$work/r" --remove
run r g.yaml >third.json
[ "$(json weights_hash <second.json)" = "$(json weights_hash <third.json)" ] ||
    fail 'another run once its base was damaged'
grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/r")" || fail 'verify, the base made again'
mv "$work/r/store/dataset/$id/delta.record" delta
expect 65 "dataset/$id/delta" "$bin/graphmill" verify "$work/r"
expect 65 "expected the record dataset/$id/delta" run r g.yaml
mv delta "$work/r/store/dataset/$id/delta.record"
mv away/* .

# Killed at any moment: the same command ends with the same version.
killed_updates g.yaml "$id" "${files[@]}"

# With the folder of the run in place of the file, from anywhere: the same version.
cp -r "$work/r" "$work/f" && absolute=()
for word in "${files[@]}"; do [[ $word == --* ]] && absolute+=("$word") ||
    absolute+=("$work/g/$word"); done
(cd / && "$bin/graphmill" update "$work/f" --quiet --json "${absolute[@]}" >"$work/folder.json")
[ "$(json dataset <"$work/folder.json")" = "$id" ] ||
    fail "by the folder: $(cat "$work/folder.json")"
mkdir "$work/none"
expect 65 'expected the folder of a run, in which graphmill run noted its pipeline file' \
    "$bin/graphmill" update "$work/none" "${files[@]}"

# The ref that names the newest version is lost: the version is found, and the ref is set again.
switch=$(echo "$work"/f/store/switch/current/version/*)
cp "$switch" "$work/switch" && rm "$switch"
"$bin/graphmill-ingest" --store "$work/f/store" --pipeline g.yaml >/dev/null 2>&1
cmp "$switch" "$work/switch"

# Wrong files are named, and change nothing.
before=$(cd "$work/r/store" && find dataset switch -type f | sort | xargs md5sum)
bad() { # the text of the file, its option, what is said
    printf "$1" >bad
    expect 65 "$3" update "$work/r" "$2" bad
}
bad 'n0,n11\n' --remove-edges "bad:1: the edge between 'n.*' and 'n.*' is removed, expected one that exists"
bad 'n59\n' --remove-nodes "bad:1: node 'n59' is removed and is not there"
bad 'zoe\n' --add-nodes "bad:1: node 'zoe' is there already"
bad 'bob,train,3\n' --add-nodes 'bad:1: .*expected a class from 0 to 2'
bad 'n1,1,2,3\n' --features 'bad:1: .*expected 2'
bad 'n1,n2\nn1,bob\n' --add-edges "bad:2: target: no node has the id 'bob'"
bad 'n1,n2,0.5\n' --add-edges 'bad:1: expected 2 columns, found 3'
bad 'n1,n2\nn1\n' --add-edges 'bad:2: expected 2 columns, found 1'
bad 'n5,n6\nn5,n6\n' --remove-edges \
    "bad:2: the edge between 'n5' and 'n6' is removed twice, expected each once"
bad 'n1\nn2\nn1\n' --remove-nodes "bad:3: node 'n1' is removed twice"
bad 'bob\nann\nbob\n' --add-nodes "bad:3: node 'bob' is added twice"
bad 'n1,1,0\nn1,0,1\n' --features "bad:2: node 'n1' has a row already"
bad 'bob,1,2\n' --features "bad:1: node: no node has the id 'bob'"
bad 'n1,x,2\n' --features "bad:1: feature in column 2: expected a finite number, found 'x'"
bad 'bob,later,1\n' \
    --add-nodes "bad:1: split: expected train, valid, test or nothing, found 'later'"
bad 'bob,train,1\n' --add-nodes "--features: no row for the new node 'bob': expected 2 features"
bad 'bob,n1\n' --remove-edges "bad:1: source: no node has the id 'bob'"
expect 65 'nothing.csv' update "$work/r" --add-edges nothing.csv
expect 65 'the files are for version g-0, but the newest is' update "$work/r" \
    --remove-nodes old_edges --base g-0
expect 64 'nothing to do' update "$work/r"
[ "$before" = "$(cd "$work/r/store" && find dataset switch -type f | sort | xargs md5sum)" ] ||
    fail 'a wrong file changed something'

! [ -e "$work/r/state" ] || fail "a refused update is the state of the folder: $(cat \
    "$work/r/state")"

# Links: held-out ones stay held out, some new ones are held out, too; training edges are never
# tested.
links=(--set ingest.task=link_prediction --set ingest.labels= --set ingest.split=given \
    --set 'ingest.edge_split=random 60/20/20')
run l g.yaml "${links[@]}" >first.json
held() { tail -n +2 "$work/l/outputs/predictions.csv" | cut -d, -f1-3 | sort; }
held >held.1
gone=$(grep ',test$' held.1 | head -1)
stays=$(grep ',valid$' held.1 | head -1)
awk 'BEGIN { for (i = 0; i < 40; i++) printf "n%d,n%d\n", i, (i * 7 + 20) % 58 }' |
    awk -F, '$1 != $2' >more_edges
echo "$stays" | cut -d, -f1,2 >>more_edges # it is held out already
echo "$gone" | cut -d, -f1,2 >gone_edges
printf 'zoe\nyan\n' >link_nodes
update "$work/l" "${links[@]}" --add-edges more_edges --remove-edges gone_edges \
    --add-nodes link_nodes --features new_rows --json >version.json
run l g.yaml "${links[@]}" >second.json
held >held.2
! grep -qxF "$gone" held.2 || fail "the removed link $gone is tested"
[ -z "$(comm -23 <(grep -vxF "$gone" held.1) held.2)" ] ||
    fail 'a link that was held out is not any more'
[ "$(wc -l <held.2)" -gt "$(wc -l <held.1)" ] || fail 'none of the links that came is held out'
[ "$(json nodes <version.json)" = 62 ] || fail "links: $(cat version.json)"
grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/l")" || fail 'verify of links'
grep -q '^MATCH' <<<"$("$bin/graphmill" replay "$work/l" ingest)" ||
    fail 'replay of a version with links'
printf 'bob,train\n' >bad
expect 65 'bad:1: split: expected nothing, since the dataset learns links' update "$work/l" \
    "${links[@]}" --add-nodes bad
cut -d, -f1,2 <<<"$gone" >bad
expect 65 'bad:1: the edge between .* is removed, expected one that exists' update "$work/l" "${links[@]}" --remove-edges bad
cut -d, -f1,2 <<<"$stays" >bad
expect 65 'change nothing: the links of its edges are held out already' update "$work/l" "${links[@]}" --add-edges bad
