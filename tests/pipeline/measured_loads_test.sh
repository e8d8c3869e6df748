#!/usr/bin/env bash
# Parts by the reads of a run: if few nodes are for training, the next run reads fewer rows for
# seeds of other parts, and the most read part is read less. The same table gives the same bits,
# whatever its name; errors are named before the work.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

cat >"$work/g.yaml" <<'YAML'
name: g
epochs: 6
ingest: {format: generated, nodes: 6000, average_degree: 6, classes: 5, homophily: 0.8, feature_dim: 8, train_share: 0.02, valid_share: 0.02}
partition: {parts: 6}
sample: {fanouts: [5, 5], batch_size: 10}
train-step: {hidden: 8}
checkpoint: {keep: 0}
YAML
# Trains NAME, and writes its reads to NAME.csv and NAME.json: measured NAME [options]
measured() {
    run "$1" "$work/g.yaml" "${@:2}" >"$work/$1.answer"
    "$bin/graphmill" export "$work/$1" --what loads --json --output "$work/$1.csv" \
        >"$work/$1.json" 2>/dev/null
}
figure() { json "$2" <"$work/$1.json"; }
is_below() { awk -v a="$1" -v b="$2" -v f="$3" 'BEGIN { exit !(a < f * b) }'; }
parts_of() { "$bin/graphmill" export "$work/$1" --what assignment --output /dev/stdout |
    sha256sum; }

for direction in as_given undirected; do
    for method in metis fennel ldg; do
        name=$method-$direction
        options=(--set partition.method=$method --set ingest.direction=$direction)
        measured "$name" "${options[@]}"
        measured "$name-loads" "${options[@]}" --set "partition.loads=$work/$name.csv"
        is_below "$(figure "$name-loads" remote)" "$(figure "$name" remote)" 0.97 ||
            fail "$name: $(figure "$name" \
            remote) rows for seeds of another part, by loads $(figure "$name-loads" remote)"
        is_below "$(figure "$name-loads" most_by_mean)" "$(figure "$name" most_by_mean)" 0.95 ||
            fail "$name: the largest part is read $(figure "$name" \
            most_by_mean) times the mean, by loads $(figure "$name-loads" most_by_mean)"
    done
done

# The content of the table counts: a copy elsewhere gives the same partition, another table another
# one.
name=metis-as_given
gzip -c "$work/$name.csv" >"$work/packed.csv.gz"
cp "$work/$name.csv" "$work/copy.csv"
measured again --set "partition.loads=$work/copy.csv" --set ingest.direction=as_given
[ "$(parts_of again)" = "$(parts_of $name-loads)" ] || fail "the same loads give other parts"
[ "$(json run <"$work/again.answer")" = "$(json run <"$work/$name-loads.answer")" ] ||
    fail "the same loads are another run"
[ "$(json weights_hash <"$work/again.answer")" = \
    "$(json weights_hash <"$work/$name-loads.answer")" ] || fail "the same loads give other weights"
measured packed --set "partition.loads=$work/packed.csv.gz" --set ingest.direction=as_given
[ "$(parts_of packed)" = "$(parts_of again)" ] || fail "packed loads give other parts"
measured other --set "partition.loads=$work/fennel-as_given.csv" --set ingest.direction=as_given
[ "$(json run <"$work/other.answer")" != "$(json run <"$work/again.answer")" ] ||
    fail "other loads are the same run"
replays again partition

# The comparison measures all methods with the table, and tries those that can use it without and
# with it: line METHOD WITH_LOADS
"$bin/graphmill" partition "$work/g.yaml" --directory "$work/again" \
    --set "partition.loads=$work/copy.csv" --set ingest.direction=as_given \
    --compare --methods metis,hash --quiet --json >"$work/table.json"
line() { tr '{' '\n' <"$work/table.json" |
    awk -v m="\"method\":\"$1\"" -v w="$2" \
    'index($0, "\"method\"") {on = index($0, m) && !!index($0, "by_loads") == w} on'; }
cut_of() { line "$1" "$2" | sed -n 's/.*"sampled_cut_share":\([0-9.e-]*\).*/\1/p'; }
is_below "$(cut_of metis 1)" "$(cut_of metis 0)" 0.9 ||
    fail "metis cuts $(cut_of metis 0) of what is sampled, by loads $(cut_of metis 1)"
is_below "$(cut_of metis 0)" "$(cut_of hash 0)" 1 ||
    fail "hash cuts $(cut_of hash 0) of what is sampled"
[ -z "$(line hash 1)" ] || fail "hash by loads: $(line hash 1)"
bytes() { line "$1" "$2" | sed -n 's/.*"batch_bytes":\([0-9]*\).*/\1/p'; }
is_below "$(bytes metis 1)" "$(bytes metis 0)" 0.95 ||
    fail "bytes a batch $(bytes metis 0), by loads $(bytes metis 1)"
expect 64 '--trial-loads goes with --trial' "$bin/graphmill-partition" \
    --store "dir:$work/again/store" --pipeline "$work/g.yaml" --trial-loads "$work/copy.csv"

# A version of the dataset keeps the parts, without reading the table again.
printf '0,3000\n3000,0\n' >"$work/more.csv"
"$bin/graphmill" update "$work/again" --add-edges "$work/more.csv" >/dev/null 2>"$work/update.log" \
    || fail "update: $(tail -2 "$work/update.log")"
run again "$work/g.yaml" --set "partition.loads=$work/copy.csv" --set ingest.direction=as_given \
    >/dev/null
grep -q '"method":"placed"' <("$bin/graphmill" export "$work/again" --what report \
    --output /dev/stdout) || fail "the version was not placed"
[ "$(parts_of again)" = "$(parts_of packed)" ] || fail "nodes of a version have moved"

# Errors are reported.
partition() { "$bin/graphmill" partition "$work/g.yaml" --directory "$work/bad" --quiet "$@"; }
expect 78 'partition.loads is given, but partition.method is hash, which cannot use loads' \
    partition --set "partition.loads=$work/$name.csv" --set partition.method=hash
[ ! -e "$work/bad" ] || fail "the method was refused after work"
expect 65 "partition.loads: $work/none.csv" partition --set "partition.loads=$work/none.csv"
head -100 "$work/$name.csv" >"$work/short.csv"
expect 65 "partition.loads: $work/short.csv: expected 6000 lines, one for each node of the dataset, below the first, found 99" \
    partition --set "partition.loads=$work/short.csv"
sed '7s/,[0-9]*/,-3/' "$work/$name.csv" >"$work/negative.csv"
expect 65 "partition.loads: $work/negative.csv:7: expected as reads a whole number from 0 to 4294967295, found '-3'" \
    partition --set "partition.loads=$work/negative.csv"
ring_graph "$work/ring"
run ring-run "$work/ring/g.yaml" --set checkpoint.keep=0 >/dev/null
"$bin/graphmill" export "$work/ring-run" --what loads --output "$work/ring.csv" >/dev/null 2>&1
expect 65 "partition.loads: $work/ring.csv:2: expected node '0', number 0 of the dataset, found 'n0': these are the loads of another graph" \
    partition --set "partition.loads=$work/ring.csv"
