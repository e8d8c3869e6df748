#!/usr/bin/env bash
# ingest and partition are killed, including METIS's process: they are started again, the run
# reports it, and the weights equal those of an undisturbed run. A program that crashes again and
# again ends the run with 70 and the name of the signal.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
settings=(--set ingest.nodes=100000 --set epochs=1)
peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)
[ ${#peace} -eq 32 ] || fail "no hash without faults"

"$bin/graphmill" run "$pipeline" --directory "$work/killed" "${settings[@]}" \
    --json >"$work/answer" 2>"$work/progress" &
driver=$!
kill_stage() { # stage, how often
    local killed=0 child
    while [ $killed -lt "$2" ]; do
        kill -0 $driver 2>/dev/null ||
            fail "over after $killed kills of $1: $(tail -2 "$work/progress")"
        child=$(ps -o pid= -o args= --ppid $driver |
            awk -v program="graphmill-$1" '$2 ~ program "$" {print $1}') || true
        if [ -n "$child" ] && kill -KILL "$child" 2>/dev/null; then killed=$((killed + 1)); fi
        sleep 0.1
    done
}
kill_stage ingest 5
kill_stage partition 5
status=0
wait $driver || status=$?
[ $status -eq 0 ] || fail "ended with $status: $(tail -2 "$work/progress")"
[ "$(json weights_hash <"$work/answer")" = "$peace" ] ||
    fail "other weights after kills of ingest and partition"
for stage in ingest partition; do
    grep -q "$stage was killed by signal 9 (Killed).*starting it again" "$work/progress" ||
        fail "no word of the kills of $stage"
done

# A program that always crashes, and one that is always killed.
mkdir "$work/bin"
cp "$bin"/graphmill* "$work/bin/"
bin=$work/bin
mv "$bin/graphmill-ingest" "$bin/real-ingest"
cat >"$bin/graphmill-ingest" <<'SCRIPT'
#!/bin/sh
[ "$TEST_SIGNAL" = 75 ] && { [ -e "$TEST_ONCE" ] || { : >"$TEST_ONCE"; exit 75; }; exec "$TEST_REAL" "$@"; }
kill -"$TEST_SIGNAL" $$
SCRIPT
chmod +x "$bin/graphmill-ingest"
TEST_SIGNAL=SEGV expect 70 'ingest was killed by signal 11' run crash "$pipeline"
TEST_SIGNAL=KILL expect 75 'ingest was killed by signal 9' run killed-always "$pipeline"

# A program that asks for another try itself gets it.
TEST_SIGNAL=75 TEST_ONCE=$work/once TEST_REAL=$work/bin/real-ingest run asks "$pipeline" \
    --set epochs=1 >/dev/null 2>&1 ||
    fail "75 of ingest ended the run"
[ -e "$work/once" ] || fail "the stand-in for ingest did not run"
