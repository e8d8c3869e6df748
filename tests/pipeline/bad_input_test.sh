#!/usr/bin/env bash
# Each malformed input ends graphmill-ingest with status 65 and one message that names it, stores
# nothing, and does not keep the mended input from being read into the same store.
set -u
bin=${GRAPHMILL_BIN:?} source=${GRAPHMILL_SOURCE:?}
[ -x "$bin/graphmill-ingest" ] || { echo "no graphmill-ingest"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

ingest() { # folder
    "$bin/graphmill-ingest" --store "$work/store" --pipeline "$work/pipeline.yaml" \
        --set "ingest.path=$1" >"$work/out" 2>"$work/err"
}

printf 'name: sample\n' >"$work/pipeline.yaml"
for folder in "$source"/tests/data/bad/*/; do
    name=$(basename "$folder")
    ingest "${folder%/}"
    status=$?
    [ $status = 65 ] || fail "$name: status $status, expected 65: $(cat "$work/err")"
    [ "$(grep -c "tests/data/bad/$name\|empty graph" "$work/err")" = 1 ] || fail "$name: not named once: $(cat "$work/err")"
    [ -s "$work/out" ] && fail "$name: printed an answer: $(cat "$work/out")"
    [ -z "$(find "$work/store" -type f -path '*dataset*' 2>/dev/null)" ] || fail "$name: left something"
done

ingest "$source/tests/data/karate" || fail "good input after bad: $(cat "$work/err")"
grep -q '^dataset=sample-[0-9a-f]\{16\} nodes=34 edges=156 ' "$work/out" || fail "answer: $(cat "$work/out")"
exit $failed
