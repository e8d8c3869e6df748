#!/usr/bin/env bash
# The keys of GraphML say what is a class, a feature or a weight: coordinates and names are none of
# these, settings name other keys, words such as none are classes, and an edge without a weight has
# the default of the key, or 1.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
mkdir runs
# graphml FILE 'NAME:TYPE[=DEFAULT] ...' 'EDGE KEY or nothing' <lines: each line has the values of a
# node in the order of the keys; - is none
graphml() {
    awk -v keys="$2" -v edge="${3:-}" 'BEGIN {
        print "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
        n = split(keys, key, " ")
        for (k = 1; k <= n; k++) {
            split(key[k], part, /[:=]/)
            printf "<key id=\"d%d\" for=\"node\" attr.name=\"%s\" attr.type=\"%s\">%s</key>\n", k, part[1], part[2], part[3] == "" ? "" : "<default>" part[3] "</default>"
        }
        if (edge) { split(edge, part, "="); printf "<key id=\"e\" for=\"edge\" attr.name=\"%s\" attr.type=\"double\">%s</key>\n", part[1], part[2] == "" ? "" : "<default>" part[2] "</default>" }
        print "<graph edgedefault=\"undirected\">"
    }
    {
        printf "<node id=\"%d\">", NR
        for (k = 1; k <= NF; k++) if ($k != "-") printf "<data key=\"d%d\">%s</data>", k, $k
        print "</node>"
    }
    END {
        for (i = 1; i <= NR; i++) printf "<edge source=\"%d\" target=\"%d\">%s</edge>\n", i, i % NR + 1, (edge && i > 2 ? "<data key=\"e\">2.5</data>" : "")
        print "</graph></graphml>"
    }' >"$1.graphml"
}
pipeline() { # name, more lines of the ingest section
    printf 'name: %s\nepochs: 1\ningest:\n  format: auto\n  path: %s.graphml\n  split: random 60/20/20\n%bsample:\n  fanouts: [3, 3]\n' "$1" "$1" "${2:-}" >"$1.yaml"
}
ingest() { # name, more
    pipeline "$@"
    "$bin/graphmill" partition "$1.yaml" --directory "runs/$1" >"$1.out" 2>"$1.err" ||
        fail "$1: $(tail -3 "$1.err")"
}
said() { grep -qE "$2" "runs/$1/logs/ingest.log" ||
    fail "$1 does not say '$2': $(cat "runs/$1/logs/ingest.log")"; }
bad() { # status, pattern, name, more
    pipeline "$3" "${4:-}"
    expect "$1" "$2" "$bin/graphmill" partition "$3.yaml" --directory runs/bad --quiet
}

# Coordinates, recognised by name and by type.
seq 12 | awk '{printf "%.3f %.3f\n", 37.8 + $1 % 4 / 1000, -122 - $1 / 1000}' |
    graphml streets 'y:string x:string'
bad 65 'expected labels, found that no node has a label' streets
ingest streets '  task: link_prediction\n'
said streets 'streets.graphml: y, x are not used'
said streets 'the input has no features'
seq 12 | awk '{print 37.8 + $1 % 4 / 1000}' | graphml alone 'y:string'
bad 65 'expected labels, found that no node has a label' alone
seq 12 | awk '{print $1 % 2, $1 % 3}' | graphml whole 'y:int x:int'
bad 65 'expected labels, found that no node has a label' whole
seq 12 | awk '{print 37.8 + $1 % 4}' | graphml real 'label:double'
bad 65 'expected labels, found that no node has a label' real
# A setting names them; a class called y without x is a class.
ingest whole '  label_columns: y\n  feature_columns: "x"\n'
said whole 'whole.graphml: y is the class; x is features'
said whole 'labels: 12 nodes with one of 2 classes'
seq 12 | awk '{print $1 % 3, $1 / 4, $1}' | graphml class 'y:int x_0:double x_1:double'
ingest class
said class 'y is the class; x_0, x_1 are features'
said class 'features: 2 columns, of the input|features: 2 columns'
said class 'labels: 12 nodes with one of 3 classes'

# The class has another key than the usual names.
seq 12 | awk '{printf "n%02d %s\n", $1, $1 % 2 ? "red" : "blue"}' |
    graphml club 'label:string club:string'
ingest club '  label_columns: club\n'
said club 'club is the class; label is not used'
said club 'labels: 12 nodes with one of 2 classes'
bad 65 'club.graphml: key label: expected classes, found another word in each of 12 nodes, as names are: write `label_columns: NAME`' club
ingest club '  task: link_prediction\n'
bad 65 'expected a key of nodes with attr.name="team", as ingest.label_columns says, found none' club '  label_columns: team\n'
bad 78 'ingest.feature_columns: .label: one_hot.: expected only names of keys' club '  label_columns: club\n  feature_columns: "label: one_hot"\n'
bad 65 'expected the key club for one thing, found it again in ingest.feature_columns' club '  label_columns: club\n  feature_columns: club\n'
bad 78 'ingest.id_column is .club., but ingest.format is graphml, which does not read it: remove the line' club '  id_column: club\n'
seq 12 | awk '{print $1 % 2, $1 % 3 == 0}' | graphml both 'a:int b:int'
ingest both '  label_columns: "a; b"\n'
said both 'labels: 12 nodes with several labels each of 2 classes'
seq 12 | awk '{print $1 + 0.25}' | graphml height 'height:double'
ingest height '  label_columns: height\n  task: node_regression\n'
said height 'labels: 12 nodes with a number|labels: 12 nodes'

# none and NA are classes like any other word.
seq 12 | awk '{split("none NA red", word, " "); print word[$1 % 3 + 1]}' |
    graphml words 'label:string'
ingest words
said words 'labels: 12 nodes with one of 3 classes'

# Weights: two edges of twelve have none.
seq 12 | awk '{print $1 % 2}' | graphml weighted 'label:int' weight
ingest weighted
grep -q 'warning: .*weighted.graphml: 2 edges have no weight, and its key has no <default>: they weigh 1' weighted.err || fail "not said: $(cat weighted.err)"
seq 12 | awk '{print $1 % 2}' | graphml defaults 'label:int' weight=2.5
ingest defaults
! grep -q 'have no weight' defaults.err || fail "a default is none: $(cat defaults.err)"
