#!/usr/bin/env bash
# Times are read as 64-bit integers or dates, and no two of them become one; a column with both is
# refused. Numbers that floats cannot represent, weights of very different sizes and growing losses
# are named, with the remedy.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
dataset() { # NAME: one number of its report, from the last answer
    sed -n "s/.*\"dataset\":{[^}]*\"$1\":\([0-9]*\).*/\1/p" "$work/said.json"
}
pipeline() { # SETTINGS of ingest, one a line
    printf 'name: t\nepochs: 1\ningest:\n  format: edge_list\n  path: edges.csv\n  direction: as_given\n  task: link_prediction\n'
    printf '  edge_split: time 80/10/10\n%s\nsample: {sampler: temporal_neighbor, fanouts: [3]}\ntrain-step: {hidden: 4}\n' "${1-}"
}
brought() { # NAME LINES SETTINGS: edges with times, as the lines say
    printf 'src,dst,time\n%b' "$2" >"$work/edges.csv"
    pipeline "${3-}" >"$work/t.yaml"
    rm -rf "${work:?}/$1"
    run "$1" "$work/t.yaml" >"$work/said.json"
}
refused() { # PATTERN LINES SETTINGS
    printf 'src,dst,time\n%b' "$2" >"$work/edges.csv"
    pipeline "${3-}" >"$work/t.yaml"
    rm -rf "$work/refused"
    expect 65 "$1" "$bin/graphmill" run "$work/t.yaml" --directory "$work/refused" --quiet
}
times_of() { # NAME: the times of training edges, as they were stored
    rm -rf "$work/$1.parts"
    "$bin/graphmill" export "$work/$1" --what distdgl --output "$work/$1.parts" >/dev/null
    tail -c +129 "$work/$1.parts"/edge_data/*-time-0.npy | od -An -v -t d8 -w8 | tr -d ' ' |
        sort -n | tr '\n' ' '
}

# --- nanoseconds of one pair are edges of their own, which doubles would make one

brought nanoseconds "$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '0,1,156211200012345678%d\\n' $i; \
    done)"
[ "$(dataset edges)" = 8 ] || fail "of ten edges at ten nanoseconds $(dataset \
    edges) are trained on, expected 8"
[ "$(times_of nanoseconds)" = "$(seq -s ' ' 1562112000123456780 1562112000123456787) " ] ||
    fail "nanoseconds became $(times_of nanoseconds)"

# --- dates, by content and by a pattern, in the order of their instants

brought dates \
    '0,1,2019-01-01T00:00:00Z\n1,2,2019-01-01T00:30:00+01:00\n2,0,2019-01-01 00:00:00.000000001Z\n0,2,2020-06-01 00:00:00Z\n1,0,2021-01-01T00:00:00Z\n'
[ "$(times_of dates)" = \
    "1546299000000000000 1546300800000000000 1546300800000000001 1590969600000000000 " ] ||
    fail "dates became $(times_of dates)"
brought pattern \
    '0,1,31.12.1600 23:59\n1,2,01.01.1601 00:00\n2,0,1.1.2019 00:00\n0,2,2.1.2019 00:00\n1,0,3.1.2019 00:00\n' \
    '  time_format: "%d.%m.%Y %H:%M in seconds"'
[ "$(times_of pattern)" = "-11644473660 -11644473600 1546300800 1546387200 " ] ||
    fail "a pattern became $(times_of pattern)"

# --- fractions want a unit; a column is of one form

refused "edges.csv:3: time: expected an integer, found '1.5': add a line .time_format: number\*1000. below .ingest:." '0,1,1\n1,2,1.5\n'
brought scaled '0,1,1.5\n1,2,1\n2,0,2.25\n0,2,3\n1,0,1e1\n' '  time_format: number*100'
[ "$(times_of scaled)" = "100 150 225 300 " ] || fail "scaled times became $(times_of scaled)"
refused "edges.csv:3: time: expected a number, as the times before it" \
    '0,1,1546300800\n1,2,2019-01-01\n'
refused "edges.csv:4: time: expected a date without a zone" \
    '0,1,2019-01-01\n1,2,2019-01-02 12:00\n2,0,2019-01-01T00:00:00Z\n'
refused "edges.csv:2: time: expected an integer, or a date of ISO 8601.*time_format" \
    '0,1,01/02/2019\n'
expect 78 "ingest.time_format: expected auto, number" "$bin/graphmill" run "$work/t.yaml" \
    --directory "$work/refused" --quiet --set ingest.time_format=yesterday

# --- an update is of the unit that the dataset has

printf 'src,dst,time\n2,1,2019-03-01T00:00:00Z\n' >"$work/new.csv"
printf 'src,dst,time\n2,1,1546300800\n' >"$work/numbers.csv"
pipeline >"$work/t.yaml" # of `dates`
printf 'src,dst,time\n0,1,2019-01-01T00:00:00Z\n1,2,2019-01-01T00:30:00+01:00\n2,0,2019-01-01 00:00:00.000000001Z\n0,2,2020-06-01 00:00:00Z\n1,0,2021-01-01T00:00:00Z\n' >"$work/edges.csv"
expect 65 "numbers.csv:2: time: expected a date of ISO 8601" "$bin/graphmill" update \
    "$work/t.yaml" --directory "$work/dates" --add-edges "$work/numbers.csv" --quiet
"$bin/graphmill" update "$work/t.yaml" --directory "$work/dates" --add-edges "$work/new.csv" \
    --quiet >/dev/null
"$bin/graphmill" run "$work/t.yaml" --directory "$work/dates" --quiet --json >"$work/said.json"
[ "$(times_of dates)" = \
    "1546299000000000000 1546300800000000000 1546300800000000001 1551398400000000000 1590969600000000000 " ] ||
    fail "updated dates became $(times_of dates)"

# --- the time of nodes: nanoseconds and dates are told apart

awk 'BEGIN { for (i = 0; i < 40; i++) printf "%d,%d,2019-01-01T00:00:00.%09dZ\n", i, i % 2, 40 - i }' | sed '1i id,class,when' >"$work/labels.csv"
awk 'BEGIN { print "src,dst"; for (i = 0; i < 40; i++) print i "," (i + 1) % 40 }' \
    >"$work/edges.csv"
cat >"$work/nodes.yaml" <<'YAML'
name: nodes
epochs: 1
ingest: {format: edge_list, path: edges.csv, labels: labels.csv, id_column: id, label_columns: class, time_column: when, split: time 50/25/25, direction: undirected}
YAML
run nodes "$work/nodes.yaml" >"$work/said.json"
[ "$(dataset train) $(dataset valid) $(dataset test)" = "20 10 10" ] ||
    fail "splits by nanoseconds: $(cat "$work/said.json")"
awk -F, 'NR > 1 && (($1 < 10) != ($2 == "test")) { exit 1 }' "$work/nodes/outputs/predictions.csv" \
    ||
    fail "the latest nodes are not the test: $(head -3 "$work/nodes/outputs/predictions.csv")"

# --- integers that features cannot hold, of text and of arrays

printf 'src,dst\n0,1\n1,2\n2,0\n' >"$work/edges.csv"
printf 'id,a,b\n0,16777217,0.5\n1,16777216,1562112001\n2,4,7\n' >"$work/features.csv"
printf 'id,class\n0,0\n1,1\n2,0\n' >"$work/labels.csv"
cat >"$work/floats.yaml" <<'YAML'
name: floats
epochs: 1
ingest: {format: edge_list, path: edges.csv, labels: labels.csv, features: features.csv, split: random 40/30/30, direction: as_given}
YAML
warned() { grep -qE -- "$1" "$work/said" || fail "no warning '$1' in: $(cat "$work/said")"; }
"$bin/graphmill" run "$work/floats.yaml" --directory "$work/floats" \
    --quiet --json >"$work/said.json" 2>"$work/said"
warned 'warning: .*features.csv:2: column 2: 16777217 became 16777216'
warned 'warning: .*features.csv:3: column 3: 1562112001 became 1562112000'
warned 'warning: 2 integers in all were rounded'
grep -q '"warnings":\[.*1562112001' "$work/said.json" ||
    fail "the answer lacks the warning: $(cat "$work/said.json")"
python3 - "$work/features.npy" <<'PY'
import struct, sys
header = b"{'descr': '<i8', 'fortran_order': True, 'shape': (3, 2), }"
header += b" " * (117 - len(header)) + b"\n"
with open(sys.argv[1], "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<6q", 1, 2, 3, 4, 16777219, 6))
PY
"$bin/graphmill" run "$work/floats.yaml" --directory "$work/array" \
    --quiet --set ingest.features="$work/features.npy" >/dev/null 2>"$work/said"
warned 'features.npy: row 1: column 1: 16777219 became 16777220'
printf '%%%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 16777217\n2 3 1\n3 1 2\n' \
    >"$work/graph.mtx"
printf '3 2 001\n2 33554433\n1 33554433 3 1\n2 1\n' >"$work/graph.metis"
for form in "matrix_market graph.mtx:3: column weight: 16777217 became" \
    "metis graph.metis:2: column weight: 33554433 became"; do
    format=${form%% *}
    printf 'name: w\nepochs: 1\ningest: {format: %s, path: graph.%s, task: link_prediction}\n' \
        "$format" "$(tr -d _ <<<"${format/matrix_market/mtx}")" >"$work/w.yaml"
    "$bin/graphmill" run "$work/w.yaml" --directory "$work/w-$format" --quiet >/dev/null \
        2>"$work/said" || true # too small to train on
    warned "${form#* }"
done
"$bin/graphmill" run "$work/floats.yaml" --directory "$work/small" \
    --quiet --set 'ingest.feature_columns=b: log' >/dev/null 2>"$work/said"
! grep -q became "$work/said" || fail "a logarithm of a large number is no loss: $(cat \
    "$work/said")"

# --- weights of very different sizes, and what mends them; a loss above a million is told once, here and in metrics.jsonl

awk 'BEGIN { srand(2); print "src,dst,weight"; for (i = 0; i < 600; i++) printf "%d,%d,%d\n", i % 60, (i * 7 + int(rand() * 60)) % 60, 10 ^ (1 + i % 6) }' >"$work/edges.csv"
cat >"$work/weights.yaml" <<'YAML'
name: weights
epochs: 3
ingest: {format: edge_list, path: edges.csv, direction: undirected, task: link_prediction}
sample: {batch_size: 64, fanouts: [10]}
YAML
range='warning: weights of edges range from 10 to 1000000, .*weight_scale: log.*edge_weights: false'
"$bin/graphmill" run "$work/weights.yaml" --directory "$work/wide" --quiet >/dev/null 2>"$work/said"
warned "$range"
warned 'the loss is [0-9.e+]*, above 1,000,000'
[ "$(grep -c 'above 1,000,000' "$work/said")" = 1 ] ||
    fail "the loss is told more than once: $(cat "$work/said")"
[ "$(grep -c '"warning":"the loss is .*above 1,000,000' "$work/wide/metrics.jsonl")" = 1 ] ||
    fail "metrics.jsonl: $(cat "$work/wide/metrics.jsonl")"
grep -q 'above 1,000,000' "$work/wide/report.html" || fail "the report does not tell the loss"
for mended in ingest.weight_scale=log ingest.weight_scale=rank train-step.edge_weights=false; do
    "$bin/graphmill" run "$work/weights.yaml" --directory "$work/mended" --quiet --set $mended \
        >/dev/null 2>"$work/said"
    ! grep -qE 'weights of edges range|above 1,000,000' "$work/said" ||
        fail "$mended: $(cat "$work/said")"
done
"$bin/graphmill" run "$work/weights.yaml" --directory "$work/mended" --quiet >/dev/null \
    2>"$work/said" # of that dataset ingest said nothing
grep -qE 'weights of edges range from 10 to 1000000' "$work/said" ||
    fail "a dataset that is there already: $(cat "$work/said")"
(cd "$work" && "$bin/graphmill" init edges.csv --output started.yaml >/dev/null)
grep -q '^  weight_scale: log .*10 to 1000000' "$work/started.yaml" ||
    fail "init: $(cat "$work/started.yaml")"

# --- a version has the scale of its dataset; ranks do not survive an update

printf 'src,dst,weight\n61,62,2000\n' >"$work/new.csv"
printf '61\n62\n' >"$work/nodes.csv"
sed 's/task: link_prediction/weight_scale: log, features: degree, labels: labels.csv, split: random 60\/20\/20/; s/name: weights/name: log/; $ a partition: {compact: 0}' "$work/weights.yaml" >"$work/log.yaml"
awk 'BEGIN { for (i = 0; i < 60; i++) print i "," i % 2 }' >"$work/labels.csv"
"$bin/graphmill" run "$work/log.yaml" --directory "$work/log" --quiet >/dev/null
"$bin/graphmill" update "$work/log.yaml" --directory "$work/log" --add-nodes "$work/nodes.csv" \
    --add-edges "$work/new.csv" --quiet >/dev/null
"$bin/graphmill" run "$work/log.yaml" --directory "$work/log" --quiet >/dev/null
"$bin/graphmill" export "$work/log" --what distdgl --output "$work/log.parts" >/dev/null
tail -c +129 "$work"/log.parts/edge_data/*-weight-0.npy | od -An -v -t f4 -w4 |
    awk '{ n[$1]++ } END { for (w in n) if (w > 7.6014 && w < 7.6015) two = n[w]; exit !(two == 2 && length(n) == 7) }' ||
    fail "weights of the version: $(tail -c +129 "$work"/log.parts/edge_data/*-weight-0.npy |
    od -An -v -t f4 -w4 | sort | uniq -c)"
expect 78 'ingest.weight_scale is rank, and an update' "$bin/graphmill" update \
    "$work/weights.yaml" --directory "$work/mended" \
    --set ingest.weight_scale=rank --add-edges "$work/new.csv" --quiet
echo ok
