#!/usr/bin/env bash
# The twelve lines of pipelines/README.md, as a newcomer types them: tests/newcomer/run.sh on small
# tables.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
"$source_folder/tests/newcomer/run.sh" "$bin" >"$work/answer" 2>&1 || fail "$(cat "$work/answer")"
[ "$(grep -c '^ *[0-9]*  *[0-9.]* s  ' "$work/answer")" -eq 12 ] ||
    fail "not twelve: $(cat "$work/answer")"
