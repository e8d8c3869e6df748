#!/usr/bin/env bash
# graphmill partition: with --compare a line for each method, with the figures of the partition
# itself, and nothing is stored; without it, only ingest and partition.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
file=$source_folder/pipelines/quickstart.yaml
partition() { "$bin/graphmill" partition "$file" --directory "$work/run" --set ingest.nodes=2000 \
    "$@"; }

partition --compare --json --quiet >"$work/table.json" 2>"$work/compare.log"
[ ! -e "$work/run/store/partition" ] || fail "a trial stored: $(ls "$work/run/store/partition")"
rows=$(sed -n '/^#define PARTITIONER_LIST/,/[^\\]$/s/^ *ROW([A-Z0-9_]*, \([a-z0-9_]*\),.*/\1/p' \
    "$source_folder/stages/plan/settings/partitioner_list.h")
# Prints the object of a method: line METHOD
line() { tr '{' '\n' <"$work/table.json" | grep -A3 "\"method\":\"$1\"" | tr -d '\n'; }
figure() { line "$1" | sed -n "s/.*\"$2\":\([0-9.e-]*\).*/\1/p"; }
for method in $rows; do
    case $method in file | auto) continue ;; esac
    [ -n "$(line "$method")" ] || fail "no line of $method"
    for key in seconds peak_bytes cut_share replication_factor batch_bytes; do
        [ -n "$(figure "$method" $key)" ] || fail "$method has no $key: $(line "$method")"
    done
done
[ "$(partition --compare --quiet --methods hash,ldg 2>/dev/null | grep -cE '^(hash|ldg) ')" -eq 2 \
    ] || fail "no table of two methods"

# The same figures as a real partition's.
for method in metis fennel range; do
    partition --set partition.method=$method 2>"$work/$method.log" >"$work/answer"
    said=$(sed -n 's/^partition .* replication=\([0-9.]*\) .*/\1/p' "$work/$method.log")
    [ "$(printf %.4f "$(figure $method replication_factor)")" = "$said" ] ||
        fail "$method: replication $said, in the table $(figure $method replication_factor)"
done
[ "$(partition --compare --json --quiet --methods auto 2>/dev/null | json chosen)" = metis ] ||
    fail "auto is not METIS here"

# What is wrong is said.
expect 64 "'metiss' is no method; did you mean 'metis'" "$bin/graphmill" partition "$file" --directory "$work/run" --compare --methods hash,metiss
expect 64 "'hash' stands there twice" "$bin/graphmill" partition "$file" --directory "$work/run" --compare --methods hash,hash
expect 64 '--methods goes with --compare' "$bin/graphmill" partition "$file" --directory "$work/run" --methods hash
expect 64 '--trial needs graphmill-partition' "$bin/graphmill-ingest" --store "dir:$work/run/store" --pipeline "$file" --trial "$work/x"
printf '0\n7\n' >"$work/parts"
partition --compare --quiet --methods file,range --set partition.method=file \
    --set "partition.assignment=$work/parts" >"$work/table" 2>/dev/null
grep -q "^file .*$work/parts" "$work/table" ||
    fail "the bad file is not named: $(cat "$work/table")"
grep -q '^range *[0-9]' "$work/table" || fail "the other method has no line"
