#!/usr/bin/env bash
# `graphmill watch .` in the folder of the updates, which its help allows: the run's folder, its
# store, the data of the dataset, the folder of another run and hidden files are no updates.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
mkdir -p "$work/in/data" && cd "$work/in"
for i in $(seq 0 299); do echo "$i,$(((i * 7 + 3) % 300))"; echo "$i,$(((i * 11 + 5) % 300))"; \
    done >data/edges.csv
for i in $(seq 0 299); do echo "$i,$((i % 4))"; done >data/labels.csv
printf 'name: g\nepochs: 2\ningest: {format: edge_list, path: data/edges.csv, labels: data/labels.csv, features: degree, split: hash 60/20/20, self_loops: remove}\nsample: {fanouts: [5, 5], batch_size: 60}\n' >pipeline.yaml
mkdir -p other/store .hidden
update() { mkdir "$1" && echo "$2,train,1" >"$1/add-nodes.csv" && echo "$2,3" >"$1/add-edges.csv"; }
kept() { for name in "$@"; do [ -e "$name" ] ||
    fail "$name was taken for an update: $(ls refused done)"; done; }
"$bin/graphmill" run pipeline.yaml --quiet >/dev/null 2>&1 || fail 'the first run'
update u1 9000
"$bin/graphmill" watch . --once --quiet >stdout 2>stderr || fail "watch: $(tail -2 stderr)"
kept runs/g/outputs data/edges.csv other/store .hidden done/u1
update u2 9001
"$bin/graphmill" watch . --once --quiet --directory here --store "dir:$PWD/stored" >stdout \
    2>stderr || fail "watch with a store: $(tail -2 stderr)"
kept runs/g/outputs data/edges.csv other/store .hidden here stored done/u2
[ -z "$(ls refused)" ] || fail "refused: $(ls refused)"
