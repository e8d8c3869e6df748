#!/usr/bin/env bash
# Updates of datasets that learn labels of edges, or links with given negatives: a version equals
# what ingest makes of the whole graph, to the bits that training sees; an edge without negatives,
# without a label, or with a new class is named with file and line.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
# The same bits as for the whole graph: same_as_whole NAME FILE WHOLE_FILE
same_as_whole() {
    run "$1" "$2" --set partition.update=anew >"$1.version"
    run "$1-whole" "$3" --set partition.update=anew >"$1.whole"
    [ "$(json weights_hash <"$1.version")" = "$(json weights_hash <"$1.whole")" ] ||
        fail "$1: other weights than of the whole graph"
    local file
    for file in predictions.csv embeddings.npy; do
        cmp -s "$1/outputs/$file" "$1-whole/outputs/$file" ||
            fail "$1: other $file than of the whole graph"
    done
    grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/$1")" || fail "$1: verify"
    grep -q '^MATCH' <<<"$("$bin/graphmill" replay "$work/$1" ingest)" ||
        fail "$1: replay of a version"
}
# With nodes that keep their parts it is the same graph: placed NAME FILE
placed() {
    run "$1" "$2" >/dev/null
    grep -q '"method":"placed"' <("$bin/graphmill" export "$work/$1" --what report \
        --output /dev/stdout) || fail "$1: not placed"
    grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/$1")" || fail "$1: verify of placed nodes"
    grep -q '^MATCH' <<<"$("$bin/graphmill" replay "$work/$1" partition)" ||
        fail "$1: replay of placed nodes"
    cmp -s <(cut -d, -f1-3 "$1/outputs/predictions.csv") \
        <(cut -d, -f1-3 "$1-whole/outputs/predictions.csv") || fail "$1: other edges are held out"
}
update() { "$bin/graphmill" update "$@" --quiet; }
store_of() { (cd "$work/$1/store" && find dataset switch -type f | sort | xargs md5sum); }

# --- labels of edges ---

/usr/bin/python3 - <<'PYTHON'
import random
random.seed(3)
def write(name, head, rows):
    open(name, "w").write("".join(",".join(map(str, row)) + "\n" for row in ([head] if head else []) + rows))
head = ["src", "dst", "stars", "time"]
old = [(random.randrange(80), random.randrange(80), random.randrange(4), random.randrange(30)) for _ in range(1500)]
old = [edge for edge in old if edge[0] != edge[1]] + [(i, (i + 1) % 80, i % 4, 99) for i in range(80)]
gone = {old[i][:2] for i in (3, 70, 500, 900)}
new = [(random.randrange(80), 80 + random.randrange(6), random.randrange(4), 40 + i) for i in range(60)]
new += [edge[:2] + (random.randrange(4), 200) for edge in random.sample(old, 40)]          # other times of the same ends
new += [edge[:2] + (3 - edge[2], edge[3]) for edge in random.sample(old, 40)]              # repeated: the first stays
new = [edge for edge in new if edge[:2] not in gone]
write("ratings.csv", head, old)
write("all_ratings.csv", head, [edge for edge in old if edge[:2] not in gone] + new)
write("new_ratings.csv", ["time", "stars", "src", "dst"], [(t, r, s, d) for s, d, r, t in new])
write("gone_ratings.csv", None, sorted(gone))
write("new_people.csv", None, [(80 + i,) for i in range(6)])
PYTHON
cat >ratings.yaml <<'YAML'
name: ratings
epochs: 2
ingest: {format: edge_list, path: ratings.csv, direction: as_given, task: edge_classification, edge_label: stars, edge_split: random 70/10/20, features: random, random_dim: 8}
partition: {parts: 3, method: range}
sample: {fanouts: [4, 4], batch_size: 100}
train-step: {hidden: 8, decoder: concat, class_weights: balanced}
YAML
sed 's/path: ratings.csv/path: all_ratings.csv/' ratings.yaml >all_ratings.yaml
run ratings ratings.yaml >/dev/null
update "$work/ratings" --add-edges new_ratings.csv --remove-edges gone_ratings.csv \
    --add-nodes new_people.csv >/dev/null
same_as_whole ratings ratings.yaml all_ratings.yaml
placed ratings ratings.yaml
[ "$(wc -l <ratings/outputs/predictions.csv)" -gt 400 ] ||
    fail "$(wc -l <ratings/outputs/predictions.csv) labelled edges are held out"

before=$(store_of ratings)
bad() { # TEXT MESSAGE [options]
    printf "$1" >bad.csv
    expect 65 "$2" update "$work/ratings" --add-edges bad.csv "${@:3}"
}
bad '1,2,0,5\n' \
    "bad.csv:1: expected a header with a column 'stars', the labels of edges \(ingest.edge_label\), found none"
bad 'src,dst,time\n1,2,5\n' "bad.csv:1: expected a header with a column 'stars'"
bad 'src,dst,stars,time\n1,2,3,5\n3,4,4,5\n' 'bad.csv:3: the stars is class 4: expected one below 4'
bad 'src,dst,stars,time\n1,2,-1,5\n' 'bad.csv:2: the stars is -1: expected a class from 0 on for each edge'
bad 'src,dst,stars,time\n1,2,0.5,5\n' 'bad.csv:2: '
[ "$before" = "$(store_of ratings)" ] || fail 'a wrong file changed something'

# --- given negatives ---

# Ids are numbers with gaps, which ingest sorts in ascending order, so that removed nodes leave the
# others in theirs.
/usr/bin/python3 - <<'PYTHON'
import os, random
random.seed(4)
ids = [10 + 3 * i for i in range(90)]
pairs = sorted({(min(a, b), max(a, b)) for a in ids for b in random.sample(ids, 6) if a != b})
random.shuffle(pairs)
split = {"valid": pairs[:40], "test": pairs[40:110], "train": pairs[110:]}
lines = {name: [((a, b) if random.random() < 0.5 else (b, a)) + tuple(random.sample(ids, random.randint(4, 12))) for a, b in of] for name, of in split.items()}
lines["train"] = lines["train"][: len(lines["train"]) // 2]
gone_nodes = set(random.sample(ids, 3))
lonely = next(node for node in ids if node not in gone_nodes and not any(node in pair for pair in split["valid"][:1]))
lines["valid"][0] = lines["valid"][0][:2] + (lonely,)          # has no other negative
while gone_nodes & set(lines["valid"][0]):
    gone_nodes = set(random.sample([node for node in ids if node != lonely], 3))
gone_pairs = set(split["valid"][3:5] + split["test"][7:9] + split["train"][5:9])
new_ids = [1000, 1001]
new_pairs = [(1000, ids[k]) for k in range(5)] + [(ids[k], 1001) for k in range(8, 14)]
new_pairs = [pair for pair in new_pairs if not gone_nodes & set(pair)]
def stays(pair):
    return tuple(sorted(pair[:2])) not in gone_pairs and not gone_nodes & set(pair[:2])
def write(name, rows):
    open(name, "w").write("".join(",".join(map(str, row)) + "\n" for row in rows))
os.mkdir("whole")
for name in split:
    write(f"{name}.csv", split[name])
    write(f"{name}_negatives.csv", lines[name])
    write(f"whole/{name}.csv", [pair for pair in split[name] if stays(pair)] + (new_pairs if name == "train" else []))
    left = [line[:2] + tuple(node for node in line[2:] if node not in gone_nodes) for line in lines[name] if stays(line)]
    write(f"whole/{name}_negatives.csv", [line for line in left if len(line) > 2])
write("new_links.csv", new_pairs)
write("gone_links.csv", [pair for pair in gone_pairs if not gone_nodes & set(pair)])
write("new_nodes.csv", [(node,) for node in new_ids])
write("gone_nodes.csv", [(node,) for node in gone_nodes])
write("lonely.csv", [(next(iter(gone_nodes)),), (lonely,)])
PYTHON
cat >given.yaml <<'YAML'
name: given
epochs: 2
ingest: {format: edge_list, path: train.csv, direction: undirected, features: random, random_dim: 8, task: link_prediction, edge_split: given, valid_edges: valid.csv, test_edges: test.csv, train_negatives: train_negatives.csv, valid_negatives: valid_negatives.csv, test_negatives: test_negatives.csv}
partition: {parts: 3, method: range}
sample: {fanouts: [4, 4], batch_size: 64, negatives: 3, negative: given}
train-step: {hidden: 8}
infer: {ranking: given}
YAML
cp given.yaml whole/given.yaml
run given given.yaml >/dev/null
before=$(store_of given)
expect 65 "lonely.csv:2: node [0-9]+ is removed, and with it the last of the given negatives of the valid edge from [0-9]+ to [0-9]+: expected at least one that stays" \
    update "$work/given" --remove-nodes lonely.csv
[ "$before" = "$(store_of given)" ] || fail 'a node that cannot go changed something'
update "$work/given" --add-nodes new_nodes.csv --add-edges new_links.csv \
    --remove-nodes gone_nodes.csv --remove-edges gone_links.csv >/dev/null
same_as_whole given given.yaml whole/given.yaml
placed given given.yaml

# On a version that is the same graph a model of links is as good as before.
tail -1 whole/train.csv >same.csv
update "$work/given" --remove-edges same.csv --add-edges same.csv \
    --json --set ingest.retrain_valid_drop=0.5 >same.json
[ -n "$(json valid_before <same.json)" ] &&
    [ "$(json valid_before <same.json)" = "$(json valid_now <same.json)" ] ||
    fail "the same graph: $(cat same.json)"

# With drawn splits, an edge drawn into a split with given negatives has none.
sed 's/edge_split: given.*/edge_split: random 80\/10\/10}/; s/, negative: given//; s/ranking: given/ranking: none/' given.yaml >drawn.yaml
run drawn drawn.yaml >/dev/null
awk -F, '$3 == "test" { print $1 "," $2 ",10,13,16" }' drawn/outputs/predictions.csv \
    >drawn_negatives.csv
sed 's/random 80.10.10/&, test_negatives: drawn_negatives.csv/; s/ranking: none/ranking: given/' \
    drawn.yaml >ranked.yaml
run ranked ranked.yaml >/dev/null
awk 'BEGIN { print "src,dst"; for (i = 0; i < 80; i++) print 10 + 3 * i "," 13 + 3 * ((i + 41) % 89) }' >many.csv
expect 65 'many.csv:[0-9]+: the edge draws the test split, whose edges have given negatives: expected an edge for training' update "$work/ranked" --add-edges many.csv
line=$(grep -o 'many.csv:[0-9]*' stderr | cut -d: -f2)
sed -n "${line}p" many.csv >one.csv
expect 65 'one.csv:1: the edge draws the test split' update "$work/ranked" --add-edges one.csv
head -$((line - 1)) many.csv >fine.csv
[ "$line" -gt 2 ] || fail "the first of many edges draws the test split: take other ones"
update "$work/ranked" --add-edges fine.csv >/dev/null
run ranked ranked.yaml >/dev/null
