#!/usr/bin/env bash
# A FIFO, a socket or a device among the files of a user is refused by name, with status 65 (or 78
# for a pipeline file) and at once: if opened, a FIFO without a writer blocks for ever and /dev/zero
# has no end.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
mkfifo fifo
graph() { # a fresh dataset in folder g, and a pipeline file of it
    rm -rf g && mkdir g
    echo '{"num_nodes": 4, "directed": false}' >g/meta.json
    printf '0,1\n1,2\n2,3\n' >g/edges.csv
    printf '0\n1\n0\n1\n' >g/node-label.csv
    printf '1,2\n2,3\n3,4\n4,5\n' >g/node-feat.csv
    printf 'name: g\ningest: {path: g, split: hash 60/20/20}\n' >g.yaml
}
refused() { # name, kind, command...
    local name=$1 kind=$2 status=0
    shift 2
    timeout -s KILL 20 "$@" >stdout 2>stderr || status=$?
    [ $status -eq 65 ] || fail "$name as a $kind: status $status: $(tail -2 stderr)"
    grep -qE "$name is a $kind.*expected a file" stderr ||
        fail "$name as a $kind, and said: $(tail -2 stderr)"
}
ingest() { "$bin/graphmill-ingest" --store "dir:$work/store-$RANDOM$RANDOM" --pipeline "$@"; }
for file in edges.csv node-label.csv node-feat.csv meta.json; do
    graph
    rm "g/$file" && mkfifo "g/$file"
    refused "$file" FIFO "$bin/graphmill-ingest" --store "dir:$work/s1" --pipeline g.yaml
    rm "g/$file" && ln -s /dev/zero "g/$file"
    refused "$file" device "$bin/graphmill-ingest" --store "dir:$work/s1" --pipeline g.yaml
done
for file in edges.npy node-feat.npy; do
    graph
    rm "g/${file%.npy}.csv" && mkfifo "g/$file"
    refused "$file" FIFO "$bin/graphmill-ingest" --store "dir:$work/s1" --pipeline g.yaml
done

# Files that settings name, each in place of a good one.
printf 'a,b\nb,c\nc,d\n' >edges.csv
printf 'a,x\nb,y\nc,x\nd,y\n' >labels.csv
for setting in path labels features train; do
    case $setting in
    path) lines='path: fifo, labels: labels.csv' ;;
    labels) lines='path: edges.csv, labels: fifo' ;;
    features) lines='path: edges.csv, labels: labels.csv, features: fifo' ;;
    train) lines='path: edges.csv, labels: labels.csv, features: degree, train: fifo' ;;
    esac
    [ $setting = train ] || lines+=', split: hash 60/20/20'
    printf 'name: s\ningest: {format: edge_list, %s}\n' "$lines" >s.yaml
    refused fifo FIFO "$bin/graphmill-ingest" --store "dir:$work/s2" --pipeline s.yaml
done
for format in graphml matrix_market metis npz auto; do
    beside=
    [[ $format != m* ]] || beside=', labels: labels.csv, split: hash 60/20/20, features: degree'
    printf 'name: s\ningest: {format: %s, path: fifo%s}\n' $format "$beside" >s.yaml
    refused fifo FIFO "$bin/graphmill-ingest" --store "dir:$work/s3" --pipeline s.yaml
done
refused fifo FIFO "$bin/graphmill" init fifo --output made.yaml
if command -v python3 >/dev/null; then # a socket
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    printf 'name: s\ningest: {format: edge_list, path: socket, labels: labels.csv, features: degree, split: hash 60/20/20}\n' >s.yaml
    refused socket socket "$bin/graphmill-ingest" --store "dir:$work/s4" --pipeline s.yaml
fi

# Updates, and the file of an assignment of parts.
printf 'name: u\nepochs: 1\ningest: {format: edge_list, path: edges.csv, labels: labels.csv, features: degree, split: hash 60/20/20}\n' >u.yaml
"$bin/graphmill-ingest" --store "dir:$work/u/store" --pipeline u.yaml >/dev/null 2>&1 ||
    fail 'the good files are not read'
refused fifo FIFO "$bin/graphmill" update u.yaml --directory "$work/u" --quiet --add-edges fifo
refused fifo FIFO "$bin/graphmill-partition" --store "dir:$work/u/store" --pipeline u.yaml \
    --set partition.method=file --set partition.assignment="$work/fifo"
# The pipeline file itself.
status=0
timeout -s KILL 20 "$bin/graphmill" run fifo --directory r >stdout 2>stderr || status=$?
[ $status -eq 65 ] || [ $status -eq 78 ] ||
    fail "a pipeline file that is a FIFO: status $status: $(tail -2 stderr)"
grep -q 'fifo is a FIFO' stderr || fail "a pipeline file that is a FIFO, and said: $(tail -2 \
    stderr)"
