#!/usr/bin/env bash
# A user's own tables: several files of edges and of nodes, columns by name, classes that are words,
# missing values, columns that become numbers in several ways, splits by a column, masks, class,
# time and hash; and the same for other nodes.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
folder=$work/own
mkdir -p "$folder"
# 240 people of three towns who mostly know people of their town; their taste depends on the town.
awk -v folder="$folder" 'BEGIN {
    srand(7)
    split("Aachen,Bonn \"\"am\"\" Rhein,Celle", town, ","); split("jazz|\"pop, rock\"|techno", taste, "|")
    head = "age,user,city,income,since,taste,fold,a,b,c"
    for (f = 0; f < 2; f++) {
        print head > folder "/people-" f ".csv"
        print "day,from,to,amount" > folder "/calls-" f ".csv"
    }
    for (i = 0; i < 240; i++) {
        c = i % 3 + 1; r = i % 10; f = int(i / 120)
        fold = r < 6 ? "train" : r < 8 ? "val" : "test"
        age = rand() < 0.1 ? "" : 20 + int(rand() * 50)
        printf "%s,u%d,\"%s\",%d,%d,%s,%s,%s,%s,%s\n", age, i, town[rand() < 0.7 ? c : 1 + int(rand() * 3)], 1000 * (1 + int(rand() * 9)), \
            1980 + int(rand() * 40), i % 40 == 39 ? "" : taste[c], i % 40 == 39 ? "" : fold, i % 40 != 39 && r < 6 ? "true" : "false", \
            i % 40 != 39 && (r == 6 || r == 7) ? "True" : "False", (i % 40 != 39 && r >= 8 ? 1 : 0) > folder "/people-" f ".csv"
        for (k = 0; k < 5; k++)
            printf "%d,u%d,u%d,%.2f\n", k, i, rand() < 0.8 ? 3 * int(rand() * 80) + i % 3 : int(rand() * 240), 1 + rand() > folder "/calls-" f ".csv"
    }
}'
cat >"$folder/own.yaml" <<'END'
name: own
epochs: 15
ingest:
  format: edge_list
  path: calls-*.csv
  edge_columns: "source: from; target: to; weight: amount; time: day"
  direction: undirected
  id_column: user
  labels: people-*.csv
  label_columns: taste
  features: people-*.csv
  feature_columns: "age: mean standardise; city: one_hot; income: log; since: buckets 1990 2000 2010"
  split: column fold
partition: {parts: 2}
sample: {fanouts: [5, 5], batch_size: 64, batches_per_round: 1}
train-step: {hidden: 16}
END
run own "$folder/own.yaml" >"$work/answer" || fail "own tables"
predictions=$work/own/outputs/predictions.csv
[ "$(wc -l <"$predictions")" -eq 241 ] || fail "not 240 predictions"
grep -q '"nodes":240,.*"features":9,"classes":3,' "$work/answer" ||
    fail "columns: $(cat "$work/answer")"
# Classes are words, quoted if they have a comma, next to the ids of the input.
grep -q '^u1,train,"pop, rock",' "$predictions" || fail "class of u1: $(grep '^u1,' "$predictions")"
grep -q '^u3,train,jazz,' "$predictions" || fail "class of u3: $(grep '^u3,' "$predictions")"
grep -q '^u39,,,' "$predictions" || fail "u39 has no class: $(grep '^u39,' "$predictions")"
[ "$(grep -c '^u[0-9]*,valid,' "$predictions")" -eq 48 ] || fail "not 48 nodes for validation"
awk -F, 'NR > 1 && $2 == "test" {sub(/^[^,]*,test,/, ""); n++; if (match($0, /^("[^"]*"|[^,]*),/)) {l = substr($0, 1, RLENGTH - 1); rest = substr($0, RLENGTH + 1); right += index(rest, l ",") == 1}}
    END {exit !(n > 40 && right > 0.6 * n)}' "$predictions" ||
        fail "words of the test nodes: $(grep -c test "$predictions")"
grep -q '<td>pop, rock</td>' "$work/own/report.html" || fail "the report has no words"

# The same with ids that are the numbers of the nodes.
mkdir -p "$folder/numbered"
for table in "$folder"/people-*.csv "$folder"/calls-*.csv; do sed 's/,u\([0-9]\)/,\1/g' "$table" \
    >"$folder/numbered/${table##*/}"; done
cp "$folder/own.yaml" "$folder/numbered/"
run numbered "$folder/numbered/own.yaml" --set epochs=1 >/dev/null || fail "ids that are numbers"
grep -q '^1,train,"pop, rock",' "$work/numbered/outputs/predictions.csv" ||
    fail "class of 1: $(grep '^1,' "$work/numbered/outputs/predictions.csv")"

# A list of files has its own order, a pattern that of names; auto looks at the first file of
# either.
sed 's/path: calls-\*.csv/path: [calls-0.csv, "calls-1.csv"]/; s/labels: people-\*.csv/labels: [people-0.csv, people-1.csv]/; s/features: people-\*.csv/features:\n    - people-0.csv\n    - people-1.csv/; s/format: edge_list/format: auto/' \
    "$folder/own.yaml" >"$folder/list.yaml"
grep -q 'path: \[calls-0.csv' "$folder/list.yaml" || fail "no list: $(cat "$folder/list.yaml")"
ingest_as() { "$bin/graphmill-ingest" --store "dir:$work/lists" --pipeline "$folder/$1.yaml" \
    "${@:2}"; }
dataset() { ingest_as "$@" 2>"$work/said" | sed 's/^unchanged //; s/ .*//'; }
pattern=$(dataset own)
case $pattern in dataset=own-*) ;; *) fail "a pattern: $pattern $(cat "$work/said")" ;; esac
[ "$(dataset list)" = "$pattern" ] || fail "a list is not $pattern: $(cat "$work/said")"
[ "$(dataset list --set "ingest.path=$folder/calls-*.csv")" = "$pattern" ] ||
    fail "auto with a pattern is not $pattern: $(cat "$work/said")"
[ "$(dataset list --set "ingest.path=[$folder/calls-?.csv]" \
    --set "ingest.labels=[$folder/people-0.csv,$folder/people-*1.csv]")" = "$pattern" ] ||
    fail "a list of patterns is not $pattern: $(cat "$work/said")"
expect 78 'ingest.path is a list, and ingest.format is metis: expected one file or folder, or .format: edge_list.' ingest_as list --set ingest.format=metis --set ingest.edge_columns=
expect 78 'ingest.features lists .*a.npy.: expected tables of text, or one .npy file' \
    ingest_as list --set "ingest.features=[$folder/a.npy,$folder/b.npy]" \
    --set ingest.format=edge_list --set ingest.feature_columns=
sed '1s/.*/day,amount,from,to/' "$folder/calls-1.csv" >"$folder/other.csv"
expect 65 'other.csv:1: expected the header of the first file, .day,from,to,amount., found .day,amount,from,to.' \
    ingest_as list --set "ingest.path=[$folder/calls-0.csv,$folder/other.csv]"

# Columns of edges that are not named are skipped: no edge features.
run narrow "$folder/own.yaml" --set 'ingest.edge_columns=source: from; target: to' --set epochs=1 \
    >"$work/answer" || fail "two columns of edges"
grep -q '"unused":""' "$work/answer" ||
    fail "edges have other columns than those that are named: $(cat "$work/answer")"

# The order of columns in the file does not matter; that of the setting only affects the row; the
# masks agree with the column.
run masks "$folder/own.yaml" --set 'ingest.split=masks a; b; c' >/dev/null || fail "masks"
cmp -s "$predictions" "$work/masks/outputs/predictions.csv" ||
    fail "masks give other splits than the column"
run one "$folder/own.yaml" --set 'ingest.split=stratified 50/25/25' --set epochs=1 >/dev/null ||
    fail "stratified"
awk '{t = /,train,/; if (/,jazz,/ || /,techno,/ || /"pop, rock"/) {}} /^u[0-9]*,train,/ {sub(/^[^,]*,train,/, ""); c[substr($0, 1, 4)]++} END {exit !(c["jazz"] == 39 && c["tech"] == 39 && c["\"pop"] == 39)}' \
    "$work/one/outputs/predictions.csv" ||
    fail "strata: $(grep -c ,train, "$work/one/outputs/predictions.csv")"
run time "$folder/own.yaml" --set 'ingest.split=time 60/20/20' --set ingest.time_column=since \
    --set epochs=1 >/dev/null || fail "time"
awk -F, 'NR == FNR {since[$2] = $(NF - 5); next} FNR > 1 && $2 == "train" && since[$1] > last {last = since[$1]} FNR > 1 && $2 == "test" {if (first == "" || since[$1] < first) first = since[$1]} END {exit !(last < first)}' \
    <(sed 's/"[^"]*"/x/g' "$folder"/people-*.csv) "$work/time/outputs/predictions.csv" ||
    fail "a node for training is later than one for the test"
run hash "$folder/own.yaml" --set 'ingest.split=hash 60/20/20' --set epochs=1 >/dev/null ||
    fail "hash"
cut -d, -f1,2 "$work/hash/outputs/predictions.csv" | sort >"$work/before"
# Other nodes next to them do not change the splits of nodes.
sed '2,$s/^\([^,]*\),u/\1,v/' "$folder/people-1.csv" >"$folder/people-2.csv"
run more "$folder/own.yaml" --set 'ingest.split=hash 60/20/20' --set epochs=1 >/dev/null ||
    fail "hash of more"
cut -d, -f1,2 "$work/more/outputs/predictions.csv" | grep -v '^v' | sort |
    cmp -s - "$work/before" || fail "hash: nodes moved"
rm "$folder/people-2.csv"

# A model reads other nodes with its own encoding: an unknown town is none, its classes are words.
mkdir -p "$folder/new"
head -1 "$folder/people-0.csv" >"$folder/new/people.csv"
printf ',n1,Aachen,2000,1985,,,,,\n44,n2,Dresden,5000,2015,,,,,\n' >>"$folder/new/people.csv"
printf 'day,from,to,amount\n0,n1,n2,1\n' >"$folder/new/calls.csv"
sed -e 's/people-\*/people/' -e 's/calls-\*/calls/' -e '/label/d' -e '/split/d' "$folder/own.yaml" \
    >"$folder/new/own.yaml"
"$bin/graphmill" infer "$work/own" --on "$folder/new/own.yaml" --directory "$work/new" \
    >"$work/answer" 2>"$work/stderr" || fail "infer: $(cat "$work/stderr")"
grep -Eq '^n1,,,(jazz|"pop, rock"|techno),' "$work/new/outputs/predictions.csv" ||
    fail "infer: $(cat "$work/new/outputs/predictions.csv")"
# Ingested alone it would have other columns.
grep -q 'one_hot	refuse	0	Aachen	Bonn "am" Rhein	Celle' "$work/new/model/column_encoding.csv" ||
    fail "encoding: $(cat "$work/new/model/column_encoding.csv")"

refused() { # expected message, settings...
    local expected=$1
    shift
    expect 65 "$expected" "$bin/graphmill" run "$folder/own.yaml" --directory "$work/refused" "$@"
    ! grep -q '^partition' "$work/stderr" || fail "partitioned: $expected"
}
refused "people-0.csv:1: expected a column 'taste2' in the header, found age,user,city" \
    --set ingest.label_columns=taste2
refused "column age: expected a value, found none: give it one, or write \`missing_values: mean\`" \
    --set "ingest.feature_columns=age"
refused "column city: expected a finite number, found 'Aachen': write a number there, or for words \`one_hot\`" --set "ingest.feature_columns=city"
refused "ingest.edge_columns names 'sum': expected the name of one column, or a number from 1 to 4, found the header day,from,to,amount" --set 'ingest.edge_columns=source: from; target: sum'
refused "split: expected train, valid, test or nothing, found 'Aachen'" \
    --set 'ingest.split=column city'
refused "split: expected true or false, found '" --set 'ingest.split=masks a; b; income'
refused "city: expected an integer, or a date of" --set 'ingest.split=time 60/20/20' \
    --set ingest.time_column=city
sed 's/^day/Day/' "$folder/calls-1.csv" >"$folder/calls-2.csv"
refused "calls-2.csv:1: expected the header of the first file, 'day,from,to,amount', found 'Day,from,to,amount'"
