#!/usr/bin/env bash
# The time of parts: workers record it for all kinds of mini-batches. For a graph with one part that
# is slow for its size the table names it as the one that others wait for, and a partition by the
# times of its nodes is balanced while one by rows read is not.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

# --- what workers keep ---

# The seconds of training units are distributed to parts completely, and each layer of each part has
# a line: kept NAME PARTS LAYERS
kept() {
    /usr/bin/python3 - "$work/$1" "$2" "$3" <<'PYTHON' || fail "$1: see above"
import glob, json, sys
folder, parts, layers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
lines = [json.loads(line) for path in glob.glob(folder + "/times/*.jsonl") for line in open(path)]
found, shared = sorted((l["layer"], l["part"]) for l in lines if "part" in l), set()
assert found == [(l, p) for l in range(1, layers + 1) for p in range(parts)], found
assert all(l["begun"] < l["ended"] and l["weights"] >= 0 for l in lines if "part" in l)
for l in lines:
    if "part_seconds" in l:
        seconds = sum(l[phase] for phase in ("read", "compute", "write", "hand_over"))
        assert len(l["part_seconds"]) == len(l["part_amounts"]) == parts
        assert abs(sum(l["part_seconds"]) - seconds) < 1e-6 * (1 + seconds), l
        if l["unit"] == "train-step" and l["rows"]:
            assert sum(l["part_amounts"]) == l["rows"], l
        shared.add(l["unit"])
assert shared >= {"sample", "train-step"} and "evaluate" not in shared, shared
PYTHON
}
# The rows of the table add up to those of the loads: tallies NAME
tallies() {
    "$bin/graphmill" export "$work/$1" --what parts --output "$work/$1.parts" >/dev/null
    "$bin/graphmill" export "$work/$1" --what loads --json --output "$work/$1.csv" \
        >"$work/$1.json" 2>/dev/null
    /usr/bin/python3 - "$work/$1.parts" "$work/$1.json" <<'PYTHON' || fail "$1: see above"
import csv, json, sys
rows, said = list(csv.DictReader(open(sys.argv[1]))), json.load(open(sys.argv[2]))
assert [{"reads": int(r["reads"]), "remote": int(r["remote"])} for r in rows] == said["parts"]
for p, row in enumerate(rows):
    own = int(row[f"from_{p}"])
    assert sum(int(r[f"from_{p}"]) for r in rows) == int(row["reads"]) and int(row["reads"]) - own == int(row["remote"])
    assert all(float(row[c]) > 0 for c in ("sample", "step", "infer")) and float(row["waited"]) >= 0, row
assert sum(int(r["last"]) for r in rows) > 0
PYTHON
}
ring_graph "$work/ring"
run plain "$work/ring/g.yaml" --set checkpoint.keep=0 >/dev/null
kept plain 3 2
tallies plain
run layers "$work/ring/g.yaml" --set checkpoint.keep=0 --set train-step.pipeline=layers >/dev/null
kept layers 3 2
tallies layers
run clusters "$work/ring/g.yaml" --set checkpoint.keep=0 --set sample.sampler=cluster_gcn \
    --set sample.clusters=1 >/dev/null
kept clusters 3 2
tallies clusters
papers_graph "$work/papers" 30
{ papers_pipeline "$work/papers" 1 2 'missing_features: degree'; \
    printf 'sample: {fanouts: [2, 2], batch_size: 6}\ntrain-step: {model: rgcn, hidden: 4}\n'; } \
    >"$work/papers.yaml"
run relations "$work/papers.yaml" --set checkpoint.keep=0 >/dev/null
parts=$("$bin/graphmill" export "$work/relations" --what assignment --output /dev/stdout |
    sort -u | wc -l)
kept relations "$parts" 2
tallies relations

# --- a slow part ---

# 1,200 nodes; those of the first part of four, a range, have ten times the edges of the others.
mkdir "$work/hubs"
awk 'BEGIN { for (v = 0; v < 1200; v++) for (k = 1; k <= (v < 300 ? 40 : 4); k++) print (v * 7 + k * 29) % 1200 "," v }' >"$work/hubs/edges.csv"
awk 'BEGIN { for (v = 0; v < 1200; v++) print v "," v % 3 }' >"$work/hubs/labels.csv"
cat >"$work/hubs/g.yaml" <<'YAML'
name: hubs
epochs: 2
ingest: {format: edge_list, path: edges.csv, labels: labels.csv, split: random 60/20/20, direction: as_given, features: degree}
partition: {parts: 4, method: range}
sample: {fanouts: [5, 5], batch_size: 100}
train-step: {hidden: 8}
checkpoint: {keep: 0}
YAML
id=$(run hubs "$work/hubs/g.yaml" | json run)
# The clocks of this machine are not reliable, so times are made up: a layer takes a microsecond for
# each edge of a part, and in part 0 three.
rm "$work"/hubs/times/*.jsonl
"$bin/graphmill" export "$work/hubs" --what parts --output "$work/untimed.parts" >/dev/null
[ "$(sed -n 2p "$work/untimed.parts" | cut -d, -f6-10)" = ",,,," ] ||
    fail "times without times: $(cat "$work/untimed.parts")"
expect 65 "no times of the parts of run $id" "$bin/graphmill" export "$work/hubs" --what loads \
    --times --output "$work/none.csv"
[ ! -e "$work/none.csv" ] || fail "a table without times was written"
awk -F, -v run="$id" \
    'NR > 1 { edges[NR - 2] = $3 } END { for (l = 1; l <= 2; l++) for (p = 0; p < 4; p++)
    printf "{\"stage\":\"infer\",\"worker\":\"infer-%d\",\"run\":\"%s\",\"part\":%d,\"layer\":%d,\"weights\":6,\"begun\":%d,\"ended\":%.9f}\n",
        p, run, p, l, l, l + edges[p] * (p ? 1 : 3) / 1e6 }' "$work/untimed.parts" \
            >"$work/hubs/times/infer-0.jsonl"
"$bin/graphmill" export "$work/hubs" --what parts --output "$work/slow.parts" >/dev/null
/usr/bin/python3 - "$work/slow.parts" <<'PYTHON' || fail "the slow part is not the one that others wait for: $(cat "$work/slow.parts")"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [int(r["last"]) for r in rows] == [2, 0, 0, 0]
took = [int(r["edges"]) * (1 if p else 3) / 1e6 for p, r in enumerate(rows)]
assert int(rows[0]["edges"]) > 5 * int(rows[1]["edges"])
for r, seconds in zip(rows, took):
    assert abs(float(r["infer"]) - 2 * seconds) < 2e-6 and abs(float(r["waited"]) - 2 * (took[0] - seconds)) < 2e-6
PYTHON
"$bin/graphmill" report "$work/hubs" >/dev/null
grep -o 'Time by part.*' "$work/hubs/report.html" |
    sed 's/<\/tr>.*<tbody>//; s/<\/table>.*//; s/<\/tr>/\n/g' >"$work/told"
grep -q '<tr><td>0</td><td>300</td>.*<td>0.000</td><td>2</td>$' "$work/told" ||
    fail "the report has no such part: $(cat "$work/told")"

# The weights of its nodes add up to the time of the part; a partition by that is balanced in time,
# one by rows read is not.
"$bin/graphmill" export "$work/hubs" --what loads --output "$work/reads.csv" >/dev/null 2>&1
"$bin/graphmill" export "$work/hubs" --what loads --times --output "$work/times.csv" >/dev/null 2>&1
[ "$(sed -n 1p "$work/times.csv")" = node,reads,remote,edges,nanoseconds ] ||
    fail "columns $(sed -n 1p "$work/times.csv")"
cmp -s "$work/reads.csv" <(cut -d, -f1-4 "$work/times.csv") || fail "times change the counts"
# Prints the greatest nanoseconds of a part divided by the mean: evenness NAME
evenness() {
    "$bin/graphmill" export "$work/$1" --what assignment --output /dev/stdout |
        paste -d, - <(tail -n +2 "$work/times.csv" | cut -d, -f5) |
        awk -F, '{ sum[$1] += $2; all += $2 } END { for (p in sum) { if (sum[p] > most) most = sum[p]; n++ } print most * n / all }'
}
is_below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }
for method in fennel ldg metis; do
    run "$method-reads" "$work/hubs/g.yaml" --set partition.method=$method \
        --set "partition.loads=$work/reads.csv" >/dev/null
    run "$method-times" "$work/hubs/g.yaml" --set partition.method=$method \
        --set "partition.loads=$work/times.csv" >/dev/null
    is_below "$(evenness "$method-times")" 1.25 ||
        fail "$method: by times the largest part takes $(evenness "$method-times") times the mean"
    is_below "$(evenness "$method-times")" "$(evenness "$method-reads")" ||
        fail "$method: $(evenness "$method-times") by times, $(evenness "$method-reads") by rows"
    echo "$method: range $(evenness hubs), by reads $(evenness \
        "$method-reads"), by times $(evenness "$method-times")"
done
is_below 2 "$(evenness hubs)" || fail "the planted part is not slow: $(evenness hubs)"

# Errors are reported.
expect 64 '--times is of --what loads, and --what is parts' "$bin/graphmill" export "$work/hubs" \
    --what parts --times --output "$work/none.csv"
sed '5s/[0-9]*$/x/' "$work/times.csv" >"$work/bad.csv"
expect 65 "partition.loads: $work/bad.csv:5: expected as nanoseconds a whole number from 0 to 9223372036854775807, found 'x'" \
    "$bin/graphmill" partition "$work/hubs/g.yaml" --directory "$work/bad" \
    --quiet --set partition.method=fennel --set "partition.loads=$work/bad.csv"
run gone "$work/hubs/g.yaml" --set epochs=6 --set checkpoint.keep=1 >/dev/null
rm "$work"/gone/times/*.jsonl
expect 65 'keeps no mini-batch \(checkpoint.keep: 0 keeps every one\), and its folder has no times of parts' \
    "$bin/graphmill" export "$work/gone" --what parts --output "$work/none.csv"
