#!/usr/bin/env bash
# A small compressed file that expands to something large stays within --memory: it is read, or
# refused by name.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
not_sanitized 'a sanitizer takes memory of its own'
budget_mb=128 beside_mb=64 # beside the budget: code, RocksDB
printf '1 0\n2 1\n3 0\n' >"$work/labels.txt"

# Ingests $work/NAME.gz, and stores its status in $status and its peak memory according to the
# kernel in $peak_mb: ingest NAME
ingest() {
    local said
    said=$(python3 -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[3:], stdout=open(sys.argv[1], "w"), stderr=open(sys.argv[2], "w")).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' \
        "$work/$1.out" "$work/$1.err" "$bin/graphmill-ingest" --store "$work/store-$1" \
        --pipeline "$work/$1.yaml" --memory ${budget_mb}M)
    status=${said% *} peak_mb=${said#* }
    [ "$peak_mb" -gt 0 ] || fail "$1: no peak was seen"
    [ "$peak_mb" -le $((budget_mb + beside_mb)) ] ||
        fail "$1: $peak_mb MiB with --memory ${budget_mb}M"
}
bomb() { # name, MiB, text to repeat
    (yes "$3" || true) | head -c "$2"M | gzip -1 >"$work/$1.gz"
    [ "$(stat -c %s "$work/$1.gz")" -lt 2000000 ] || fail "$1 is no bomb"
    printf 'name: %s\ningest:\n  format: edge_list\n  path: %s.gz\n  labels: labels.txt\n  split: random 100/0/0\n' "$1" "$1" >"$work/$1.yaml"
}

# One edge, 16 million times: it is the same edge, and no second copy is kept.
bomb same 64 '1 2'
ingest same
[ $status -eq 0 ] || fail "same: status $status: $(cat "$work/same.err")"
grep -q ' nodes=3 edges=1 ' "$work/same.out" || fail "same: $(cat "$work/same.out")"

# Two alternating edges into one node: its row does not fit, which is reported.
bomb turns 64 $'1 2\n3 2'
ingest turns
[ $status -eq 71 ] || fail "turns: status $status, expected 71: $(cat "$work/turns.err")"
grep -q 'memory budget' "$work/turns.err" || fail "turns: $(cat "$work/turns.err")"
[ -z "$(find "$work/store-turns" -path '*dataset*' -type f 2>/dev/null)" ] ||
    fail "turns: left something"

# A line without an end.
bomb line 64 1 && head -c 64M /dev/zero | tr '\0' 1 | gzip -1 >"$work/line.gz"
ingest line
[ $status -eq 65 ] || fail "line: status $status, expected 65: $(cat "$work/line.err")"
grep -q 'line.gz:1: line is longer than' "$work/line.err" || fail "line: $(cat "$work/line.err")"
