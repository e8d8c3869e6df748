#!/usr/bin/env bash
# A run that was killed between two snapshots resumes from the last round that has weights, and says
# so.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
set=(--set epochs=60 --set checkpoint.every_epochs=30)

newest() { { ls "$work"/run/store/run/*/weights 2>/dev/null || true; } |
    sed -n 's/^0*\([0-9]\{1,\}\)\.record$/\1/p' | sort -n | tail -1; }

# 6 rounds an epoch: snapshots of weights 180 and 360; the second is far away when everything is
# killed
setsid "$bin/graphmill" run "$pipeline" --directory "$work/run" "${set[@]}" >"$work/first.log" \
    2>&1 &
driver=$!
started+=("$driver")
for _ in $(seq 1200); do
    found=$(newest)
    [ "${found:-0}" -lt 200 ] || break
    sleep 0.02
done
kill -KILL -- "-$driver"
wait "$driver" 2>/dev/null || true
stood_at=$(newest)
[ "$stood_at" -ge 200 ] && [ "$stood_at" -lt 360 ] ||
    fail "the run stood at round $stood_at when it was killed, expected 200 to 359"

"$bin/graphmill" run "$pipeline" --directory "$work/run" "${set[@]}" >"$work/answer" \
    2>"$work/second.log"
grep -qx "resuming   from round $stood_at of 360" "$work/second.log" ||
    fail "expected to resume from round $stood_at: $(grep resuming "$work/second.log")"
