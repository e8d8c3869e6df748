#!/usr/bin/env bash
# A file that is no table is refused by its kind, whichever setting names it: as edges, labels,
# features, splits, held-out pairs, in an update and by init; so are texts that look like rows but
# are no edge list. The conversion in a message works where it is tried.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
karate=$source_folder/tests/data/karate
awk -F, 'NR == 1 {print "src,dst"; next} {print $1 "," $2}' "$karate/edges.csv" >edges.csv
awk '{print NR - 1 "," $1}' "$karate/node-label.csv" >labels.csv
for ((i = 0; i < 12; i++)); do printf '{"source": "n%d", "target": "n%d"}\n' $i $(((i + 1) % 12)); \
    done >g.jsonl
printf '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}\n' >g.json
printf 'PAR1\025\004\025\000' >g.parquet
printf '<?xml version="1.0"?>\n<gexf></gexf>\n' >g.gexf
printf 'graph [\n directed 0\n node [ id 1 ]\n]\n' >g.gml
printf '*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2\n' >g.net
xz -k edges.csv
bzip2 -k edges.csv
tar czf edges.tar.gz edges.csv
gzip -c edges.csv.gz 2>/dev/null >twice.gz || gzip -c edges.csv | gzip -c >twice.gz
iconv -f UTF-8 -t UTF-16 edges.csv >utf16.csv
python3 -c 'import pickle; pickle.dump({1: [2]}, open("g.pkl", "wb"), 2); pickle.dump({1: [2]}, open("g0.pkl", "wb"), 0)'

pipeline() { # lines of the ingest section
    printf 'name: door\nepochs: 1\ningest:\n  split: random 60/20/20\n' >p.yaml
    printf '  %s\n' "$@" >>p.yaml
}
refused() { # pattern, lines of the ingest section
    pipeline "${@:2}"
    expect 65 "$1" "$bin/graphmill" run p.yaml --directory run --quiet
}
kinds=('g.jsonl:JSON lines' 'g.json:JSON' 'g.parquet:a Parquet file' 'g.gexf:GEXF' 'g.gml:GML' \
    'g.net:a Pajek network'
    'edges.csv.xz:an xz file' 'edges.csv.bz2:a bzip2 file' 'edges.tar.gz:a tar archive' \
        'twice.gz:a gzip file inside' 'utf16.csv:text in UTF-16'
    'g.pkl:a pickle of Python' 'g0.pkl:a pickle of Python')
for kind in "${kinds[@]}"; do
    for format in auto edge_list; do
        refused "${kind%%:*}: expected a table of edges, found ${kind#*:}" "format: $format" \
            "path: ${kind%%:*}" 'task: link_prediction'
    done
    refused "${kind%%:*}: expected a table of [a-z]*, found ${kind#*:}" 'format: edge_list' \
        'path: edges.csv' "labels: ${kind%%:*}"
    refused "${kind%%:*}: expected a table of [a-z]*, found ${kind#*:}" 'format: edge_list' \
        'path: edges.csv' 'labels: labels.csv' "features: ${kind%%:*}"
    refused "${kind%%:*}: expected a table of [a-z]*, found ${kind#*:}" 'format: edge_list' \
        'path: edges.csv' 'task: link_prediction' \
        'edge_split: given' "test_edges: ${kind%%:*}"
    expect 65 "${kind%%:*}: expected a table of [a-z]*, found ${kind#*:}" "$bin/graphmill" init \
        "${kind%%:*}" --force
done
printf 'name: door\nepochs: 1\ningest: {format: edge_list, path: edges.csv, labels: labels.csv, train: g.parquet}\n' >p.yaml
expect 65 'g.parquet: expected a table of [a-z]*, found a Parquet file' "$bin/graphmill" run \
    p.yaml --directory run --quiet
cp -r "$karate" folder
for file in edges.csv node-label.csv train.csv; do
    cp "$karate/$file" keep && cp g.parquet "folder/$file"
    printf 'name: door\nepochs: 1\ningest: {format: folder, path: folder}\n' >p.yaml
    expect 65 "folder/$file: expected a table of text, found a Parquet file" "$bin/graphmill" run \
        p.yaml --directory run --quiet
    cp keep "folder/$file"
done
printf 'name: door\nepochs: 1\ningest: {format: edge_list, path: edges.csv, labels: labels.csv, split: random 60/20/20}\n' >p.yaml
run good p.yaml >/dev/null
expect 65 'g.jsonl: expected a table of [a-z]*, found JSON lines' "$bin/graphmill" update good \
    --add-edges g.jsonl

# Rows that are no edges.
shape() { # pattern, text
    printf "$2" >shape.txt
    refused "shape.txt: expected an edge a line, source and target in columns of their own, found $1" 'format: auto' 'path: shape.txt' 'task: link_prediction'
}
shape 'a dense matrix: ' '0,1,0,1\n1,0,1,0\n0,1,0,1\n1,0,1,0\n'
shape 'a dense matrix: ' "$(seq 8 |
    awk '{for (c = 1; c <= 8; c++) printf "%s%s", $1 == c ? 0 : 0.5, c < 8 ? " " : "\\n"}')"
shape 'a dense matrix with names' ',a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n'
shape 'an adjacency list' '1 2 3 4\n2 1\n3 1 4 5 6\n4 1 3\n'
shape 'an edge list with attributes in braces' "a b {'weight': 1}\nb c {'weight': 2}\n"
shape 'a list of OpenKE' '2\n0 1 5\n1 2 4\n'
# Tables that resemble them a little.
for text in '0,1,1,0\n1,0,1,0\n0,1,0,1\n1,1,0,0\n1,0,0,1\n' 'a b\nb c\nc a\n' \
    '1 2\n2 3\n3 4\n4 5 6\n'; do
    printf "$text" >shape.txt
    pipeline 'format: edge_list' 'path: shape.txt' 'task: link_prediction'
    "$bin/graphmill" run p.yaml --directory run --quiet >/dev/null 2>said || true
    ! grep -q 'in columns of their own' said || fail "a table is refused: $(cat said)"
done

# A conversion works.
python3 -c "import json; g = json.load(open('g.json')); [print(e['source'], e['target'], sep=',') for e in g.get('links') or g['edges']]" >out.csv
[ "$(cat out.csv)" = 1,2 ] || fail "JSON: $(cat out.csv)"
xz -dkc edges.csv.xz | cmp -s - edges.csv || fail "xz"
printf '1 2 3\n2 1\n' >adjacency.txt
[ "$(awk '{for (i = 2; i <= NF; i++) print $1 "," $i}' adjacency.txt | xargs)" = '1,2 1,3 2,1' ] ||
    fail "an adjacency list"
