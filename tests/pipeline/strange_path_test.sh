#!/usr/bin/env bash
# --json prints valid JSON whatever bytes a path has.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
for name in $'a\xff' $'\xc0\x80' $'\xed\xa0\x80' $'cut\xe2\x82' $'sp\xc3\xa4t'; do
    run "$name" "$source_folder/pipelines/quickstart.yaml" --set epochs=1 >"$work/answer" ||
        fail "a run in '$name'"
    python3 -c 'import json, sys; json.loads(sys.stdin.buffer.read().decode("utf-8"))' \
        <"$work/answer" || fail "no JSON: $(cat "$work/answer")"
    rm -rf "$work/$name"
done
