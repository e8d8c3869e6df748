#!/usr/bin/env bash
# The reference and the glossary in pipelines/guide are, to the byte, what the programs print from
# their tables. So each row of a table is there whole, and nothing is there without a row.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compare FILE COMMAND...: the file is what the command prints
compare() {
    local file=$1
    shift
    "$@" >"$work/made" || { echo "$* ended with status $?"; status=1; return; }
    [ "$(wc -l <"$work/made")" -ge 40 ] || { echo "$*: printed too little"; status=1; }
    diff "$file" "$work/made" >"$work/diff" && return
    echo "$file is not what the tables say. Made anew by: build/bin/${*#"$GRAPHMILL_BIN/"} >$file"
    head -20 "$work/diff"
    status=1
}

compare pipelines/guide/reference.md "$GRAPHMILL_BIN/graphmill" help reference
compare pipelines/guide/glossary.md "$GRAPHMILL_BIN/graphmill" help glossary --markdown

# Help texts fit a terminal of 100 columns, but for what stands in no table of options or settings.
for command in run replay export update; do
    wide=$("$GRAPHMILL_BIN/graphmill" help $command | grep -E '^  +[-a-z0-9_.]+ ' |
        awk 'length > 100')
    [ -z "$wide" ] || { echo "graphmill help $command: more than 100 columns: $wide"; status=1; }
done

# A row that is changed, left out or put elsewhere is found.
planted() { # what sed does to the page
    sed "$1" pipelines/guide/reference.md >"$work/planted"
    ! cmp -s pipelines/guide/reference.md "$work/planted" || { echo "cannot plant: $1"; exit 1; }
    if (compare "$work/planted" "$GRAPHMILL_BIN/graphmill" help reference; exit $status) \
        >"$work/said"; then
        echo "not found: $1"
        exit 1
    fi
    grep -q 'is not what the tables say' "$work/said" || { cat "$work/said"; exit 1; }
}
[ $status -ne 0 ] || planted '/^| `ladies` |/d'
[ $status -ne 0 ] || planted 's/^\(| `train-step.hidden` |.*\) `64` |/\1 `65` |/'
exit $status
