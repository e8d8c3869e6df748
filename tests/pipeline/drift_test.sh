#!/usr/bin/env bash
# The figures of an update about training again: each is compared with one computed here; a planted
# drift triggers training, and another one does not.
. "$(dirname "$0")/library.sh"

ring_graph "$work/g" && cd "$work/g"
cat >figures.py <<'PYTHON'
# figures.py EDGES ROWS EDGES_NOW ROWS_NOW TRAIN HOPS: touched, degree and feature drift, each by
# its definition
import bisect, statistics, sys
def read(path): return [line.split(",") for line in open(path).read().split()]
def graph(edges, rows):
    near = {r[0]: set() for r in rows}
    for a, b in edges:
        near[a].add(b), near[b].add(a)
    return near, {r[0]: tuple(map(float, r[1:])) for r in rows}
(near, rows), (near2, rows2) = (graph(read(sys.argv[i]), read(sys.argv[i + 1])) for i in (1, 3))
train, hops = open(sys.argv[5]).read().split(), int(sys.argv[6])
def looks(v, hop): # is what `hop` layers over v read as it was?
    if rows.get(v) != rows2[v]: return True
    return hop > 0 and (near.get(v) != near2[v] or any(looks(u, hop - 1) for u in near2[v]))
touched = sum(looks(v, hops) for v in train) / len(train)
before, now = (sorted(map(len, g.values())) for g in (near, near2))
below = lambda all, d: bisect.bisect_right(all, d) / len(all)
degrees = max(abs(below(before, d) - below(now, d)) for d in range(len(near2) + 1))
def columns(rows): return list(zip(*rows.values()))
features = max(abs(statistics.fmean(b) - statistics.fmean(a)) / statistics.pstdev(a) for a, b in zip(columns(rows), columns(rows2)))
print(touched, degrees, features)
PYTHON

# Updates a copy of the trained folder and writes NAME.json: drift NAME [option of update]...
drift() {
    rm -rf "$work/now" && cp -r "$work/r" "$work/now"
    "$bin/graphmill" update g.yaml --directory "$work/now" --quiet --json "${@:2}" >"$work/$1.json"
}
figure() { json "$2" <"$work/$1.json"; }
# The figures are those by definition of the graph in these files: agrees NAME EDGES ROWS
agrees() {
    read -r touched degrees features < <(python3 figures.py edges.csv rows.csv "$2" "$3" train 2)
    awk -v a="$touched $degrees $features" \
        -v b="$(figure "$1" touched) $(figure "$1" degree_drift) $(figure "$1" feature_drift)" '
        BEGIN {split(a, x); split(b, y); for (i = 1; i <= 3; i++) if (y[i] == "" || x[i] - y[i] > 1e-4 || y[i] - x[i] > 1e-4) exit 1}' ||
        fail "$1: expected $touched $degrees $features, found $(cat "$work/$1.json")"
}
asks() { # NAME yes|no
    [ "$(figure "$1" retrain)" = "$([ "$2" = yes ] && echo true || echo false)" ] ||
        fail "$1: expected $2: $(cat "$work/$1.json")"
}

run r g.yaml >"$work/run.json"
awk -F, '$2 == "train" {print $1}' "$work/r/outputs/predictions.csv" >train
[ "$(wc -l <train)" = 36 ] || fail "training nodes: $(wc -l <train)"

# One new edge changes some neighbourhoods, and hardly the degrees and features.
printf 'n5,n6\n' >one
cat edges.csv one >edges_one
drift one --add-edges one --set ingest.retrain_touched=0.9 --set ingest.retrain_degree_drift=0.1 \
    --set ingest.retrain_feature_drift=0.1
agrees one edges_one rows.csv
asks one no
[ "$(figure one trained)" = "$(json run <"$work/run.json")" ] ||
    fail "trained: $(cat "$work/one.json")"
drift touched --add-edges one --set "ingest.retrain_touched=$(figure one touched)"
asks touched yes
grep -q 'ingest.retrain_touched: .*, from .* on' "$work/touched.json" ||
    fail "no reason: $(cat "$work/touched.json")"
drift off --add-edges one
asks off no

# A hub: many degrees grow by one.
awk 'BEGIN {for (v = 0; v < 60; v++) if (v % 11) print "n" v ",n11"}' >hub
cat edges.csv hub >edges_hub
drift hub --add-edges hub --set ingest.retrain_degree_drift=0.3
agrees hub edges_hub rows.csv
asks hub yes
drift less --add-edges one --set ingest.retrain_degree_drift=0.3
asks less no

# Changed rows: all values of one column move.
awk -F, '{print $1 "," $2 "," $3 + 0.5}' rows.csv >rows_moved
drift moved --features rows_moved --set ingest.retrain_feature_drift=0.5
agrees moved edges.csv rows_moved
asks moved yes
awk -F, 'NR == 1 {print $1 "," $2 "," $3 + 0.5}' rows.csv >row_moved
awk -F, 'NR == 1 {print $1 "," $2 "," $3 + 0.5; next} {print}' rows.csv >rows_one
drift little --features row_moved --set ingest.retrain_feature_drift=0.5
agrees little edges.csv rows_one
asks little no

# The model on the new version: its validation metric is that of inference on the whole graph from
# files, and the folder's run and outputs stay as they were. Without the setting nothing is
# evaluated.
[ -z "$(figure one valid_drop)" ] || fail "evaluated without being asked: $(cat "$work/one.json")"
awk -F, '{print $1 "," 2 - $2 "," 1 - $3}' rows.csv >rows_other
drift other --features rows_other --set ingest.retrain_valid_drop=0.01
sed 's/rows.csv/rows_other/' g.yaml >other.yaml
"$bin/graphmill" infer "$work/r" --on other.yaml --directory "$work/on" \
    --quiet --json >"$work/on.json"
expected=$(measure "$(cat "$work/on.json")" valid accuracy) \
    before=$(measure "$(cat "$work/run.json")" valid accuracy)
awk -v a="$expected" -v b="$(figure other valid_now)" -v c="$before" \
    -v d="$(figure other valid_before)" -v e="$(figure other valid_drop)" 'BEGIN {
    exit !(a != "" && b != "" && a - b < 1e-6 && b - a < 1e-6 && c - d < 1e-6 && d - c < 1e-6 && c - a - e < 1e-6 && e - c + a < 1e-6)}' ||
    fail "other: expected $expected after $before, found $(cat "$work/other.json")"
asks other "$(awk -v d="$(figure other valid_drop)" 'BEGIN {print (d >= 0.01 ? "yes" : "no")}')"
[ "$(figure other metric)" = accuracy ] || fail "metric: $(cat "$work/other.json")"
[ "$(readlink "$work/now/outputs")" = "$(readlink "$work/r/outputs")" ] ||
    fail 'an evaluation changed the outputs that people see'
[ "$("$bin/graphmill" status "$work/now" --json | sed 's/.*"run":"\([^"]*\)".*/\1/')" = \
    "$(json run <"$work/run.json")" ] || fail 'an evaluation is the newest run'
"$bin/graphmill" update g.yaml --directory "$work/now" --quiet --json --features rows_other \
    --set ingest.retrain_valid_drop=0.01 >"$work/again.json"
cmp "$work/again.json" "$work/other.json"
drift loss --features rows_other --set ingest.retrain_valid_drop=0.0001 \
    --set checkpoint.metric=loss # of another run than the newest, but by its metric
[ "$(figure loss metric)" = accuracy ] || fail "loss: $(cat "$work/loss.json")"

# Nodes are removed and added over two versions: numbers of nodes change, ids do not.
printf 'n7\nn30\n' >gone
grep -vE '(^|,)(n7|n30)(,|$)' edges.csv >edges_two
grep -vE '^(n7|n30),' rows.csv >rows_two
printf 'zoe,,\n' >new && printf 'zoe,1,0.5\n' >new_row && printf 'zoe,n3\n' >new_edge
cat new_row >>rows_two && cat new_edge >>edges_two
grep -vxE 'n7|n30' train >train_two && mv train_two train
drift first --remove-nodes gone
"$bin/graphmill" update g.yaml --directory "$work/now" --quiet --json --add-nodes new \
    --features new_row --add-edges new_edge >"$work/two.json"
[ "$(figure two version)" = 2 ] || fail "two: $(cat "$work/two.json")"
agrees two edges_two rows_two

# The text for people; a folder without a run has nothing to compare with; the same update for the
# next version is another one.
"$bin/graphmill" update g.yaml --directory "$work/now" --quiet --add-edges one \
    --set ingest.retrain_touched=0.01 >text
grep -q '^retrain  *yes: ingest.retrain_touched: ' text || fail "text: $(cat text)"
"$bin/graphmill" update g.yaml --directory "$work/fresh" --quiet --json --add-edges one \
    >"$work/fresh.json"
[ -z "$(figure fresh retrain)" ] || fail "fresh: $(cat "$work/fresh.json")"
printf 'n5,1,1\n' >same_row
"$bin/graphmill" update g.yaml --directory "$work/fresh" --quiet --json --features same_row \
    >"$work/once.json"
"$bin/graphmill" update g.yaml --directory "$work/fresh" --quiet --json --features same_row \
    >"$work/again.json"
[ "$(figure again version)" = 2 ] || fail "given once more: $(cat "$work/again.json")"
"$bin/graphmill" update g.yaml --directory "$work/fresh" --quiet --json --features same_row \
    --base "$(figure once dataset)" >"$work/next.json"
[ "$(figure next version)" = 3 ] || fail "for the next version: $(cat "$work/next.json")"
expect 78 'ingest.retrain_touched.*expected' "$bin/graphmill" update g.yaml \
    --directory "$work/fresh" --add-edges one --set ingest.retrain_touched=2
