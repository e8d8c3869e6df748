#!/usr/bin/env bash
# A worker whose host fails (74: a disk; 71: memory) is started again after a pause and logs why.
# The run ends like an undisturbed one, whether the problem passes or other workers continue. A
# worker that reports bad data (65) ends the run at once, with its sentence and its log.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
settings=(--set ingest.nodes=5000 --set epochs=40)
peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)
[ ${#peace} -eq 32 ] || fail "no hash without faults"

mkdir "$work/bin"
cp "$bin"/graphmill* "$work/bin/"
bin=$work/bin
mv "$bin/graphmill-sample" "$bin/real-sample"
cat >"$bin/graphmill-sample" <<SCRIPT
#!/bin/sh
for word; do worker=\$word; [ "\$before" = --worker ] && break; before=\$word; done
left=\$(cat "$work/fail-\$worker" 2>/dev/null || echo 0)
[ "\$left" -gt 0 ] || exec "$bin/real-sample" "\$@"
echo \$((left - 1)) >"$work/fail-\$worker"
echo "2026-01-01T00:00:00.000Z error graphmill-sample the disk is made of cheese [stages/cheese.c:12]" >&2
exit \$TEST_STATUS
SCRIPT
chmod +x "$bin/graphmill-sample"

passes() { # name, status, failures of sample-0, of sample-1, workers
    local status=0
    echo "$3" >"$work/fail-sample-0"
    echo "$4" >"$work/fail-sample-1"
    TEST_STATUS=$2 "$bin/graphmill" run "$pipeline" --directory "$work/$1" "${settings[@]}" \
        --workers "$5" --json \
        >"$work/$1.json" 2>"$work/$1.err" || status=$?
    [ $status -eq 0 ] || fail "$1: ended with $status: $(tail -2 "$work/$1.err")"
    [ "$(json weights_hash <"$work/$1.json")" = "$peace" ] || fail "$1: other weights"
    grep -q "sample-0 ended with status $2: the disk is made of cheese; starting it again" \
        "$work/$1.err" ||
        fail "$1: no word of the failing worker: $(cat "$work/$1.err")"
    ! grep -q 'cheese\.c' "$work/$1.err" || fail "$1: a place in the source is shown"
}
passes disk 74 2 0 1     # it passes
passes memory 71 2 0 1
passes other 74 1000 0 2 # it does not, and the other worker carries on

echo 1000 >"$work/fail-sample-0"
TEST_STATUS=65 expect 65 \
    'sample-0 ended with status 65: the disk is made of cheese \(log: .*/bad/logs/sample-0.log\)' \
    run bad "$pipeline" "${settings[@]}"
TEST_STATUS=71 expect 71 'sample-0 ended with status 71: the disk is made of cheese' run never \
    "$pipeline" "${settings[@]}"
again=$(grep -c 'starting it again' "$work/stderr")
[ "$again" -ge 4 ] && [ "$again" -le 8 ] ||
    fail "started again $again times, expected 4, and those before units of others were done"
