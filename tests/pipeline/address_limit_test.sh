#!/usr/bin/env bash
# A limit of addresses below the machine's memory, as batch systems set one, changes no weight. A
# budget above the limit is reduced, and the log says so.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
not_sanitized 'a sanitizer reserves terabytes of addresses'
printf 'name: q\nepochs: 1\ningest: {format: generated, nodes: 300, classes: 4, feature_dim: 8}\nsample: {fanouts: [5, 5], batch_size: 50}\n' >"$work/q.yaml"
expected=$(run free "$work/q.yaml" | json weights_hash)
total=$(awk '/MemTotal/{print $2}' /proc/meminfo)
for kib in $((total * 9 / 10)) $((total / 4)) $((2 << 20)); do
    found=$( (ulimit -v $kib && run "limited-$kib" "$work/q.yaml" --memory 1G) |
        json weights_hash) ||
        fail "with $kib KiB of addresses: $(tail -1 "$work/limited-$kib"/logs/*.log)"
    [ -n "$expected" ] && [ "$found" = "$expected" ] ||
        fail "with $kib KiB of addresses: weights $found, expected $expected"
done
(ulimit -v $((1 << 20)) && "$bin/graphmill-ingest" --store "dir:$work/s" --pipeline "$work/q.yaml" \
    --memory 1G) >"$work/out" 2>"$work/err" || fail "ingest: $(tail -1 "$work/err")"
grep -q 'memory: [0-9]* MiB instead of 1024 MiB: [0-9]* MiB of addresses are left' "$work/err" ||
    fail "the budget is not cut: $(cat "$work/err")"
