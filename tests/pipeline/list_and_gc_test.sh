#!/usr/bin/env bash
# list, compare, gc: the contents of a folder of runs, and what is removed after newer runs replaced
# it. The next gc completes one that was killed.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
mkdir "$work/runs"
cd "$work"
pipeline=$source_folder/pipelines/karate.yaml
one=$(run runs/club "$pipeline" | json run)
two=$(run runs/club "$pipeline" --set train-step.hidden=8 | json run)
three=$(run runs/club "$pipeline" --set partition.parts=3 | json run)
run runs/other "$pipeline" --set seed=9 >other.json
before=$("$bin/graphmill" export runs/club --run "$three" --what logits --output three.npy --json |
    json run; sha256sum <three.npy)

"$bin/graphmill" list >list.txt
[ "$(wc -l <list.txt)" -eq 4 ] || fail "4 runs, listed: $(cat list.txt)"
grep -q "runs/club .*$two .*finished .*24/\|runs/club .*$two .*finished" list.txt ||
    fail "no line of $two"
grep -q "test accuracy" list.txt || fail "no score"
"$bin/graphmill" list runs/club --all --json >list.json
python3 - "$one" "$two" "$three" <<'PYTHON' || fail "see above"
import json, os, sys
entries = json.load(open("list.json"))
runs = [e for e in entries if e["kind"] == "run"]
assert sorted(e["id"] for e in runs) == sorted(sys.argv[1:]), runs
assert [e["id"] for e in runs if e["newest"]] == [sys.argv[3]] and runs[0]["newest"]
assert len([e for e in entries if e["kind"] == "partition"]) == 2 and len([e for e in entries if e["kind"] == "dataset"]) == 1
for e in entries:
    size = sum(os.lstat(os.path.join(f, n)).st_blocks * 512 for f, _, names in os.walk("runs/club/store/%s/%s" % (e["kind"], e["id"])) for n in names)
    assert e["bytes"] == size > 0, (e, size)
PYTHON

"$bin/graphmill" compare "runs/club:$one" "runs/club:$two" runs/other >compare.txt
grep -q "train-step.hidden 16 -> 8\|train-step.hidden [0-9]* -> 8" compare.txt ||
    fail "compare does not say what differs: $(cat compare.txt)"
grep -q "^test accuracy" compare.txt || fail "compare has no scores"
"$bin/graphmill" compare "runs/club:$one" "runs/club:$one" --json >same.json
python3 -c 'import json; a, b = json.load(open("same.json")); assert a == b and a["scores"]["test_accuracy"] > 0 and len(a["weights_hash"]) == 32, (a, b)' || fail "see above"

# A dry run changes nothing; it lists exactly what is then removed.
find runs -type f -o -type l | sort >files.before
"$bin/graphmill" gc runs/club --dry-run --grace 0 >dry.txt
find runs -type f -o -type l | sort | cmp - files.before || fail "a dry run changed something"
for gone in "$one" "$two"; do grep -q "would remove run .*$gone" dry.txt ||
    fail "$gone would stay: $(cat dry.txt)"; done
grep -q "would remove partition" dry.txt || fail "the first partition would stay"
! grep -q "dataset\|$three" dry.txt || fail "what the newest run stands on would go: $(cat dry.txt)"

# Killed at the first removals, and again a few later: the rest is intact for the staying runs, and
# the next gc completes it.
traced=yes
strace -o /dev/null true 2>/dev/null || traced=
for calls in ${traced:+1 3 9}; do
    strace -f -o /dev/null -e trace=unlink,unlinkat,rmdir \
        -e inject=unlink,unlinkat:signal=KILL:when=$calls \
        "$bin/graphmill" gc runs/club --grace 0 >/dev/null 2>&1 &&
        fail "gc was not killed at call $calls"
    "$bin/graphmill" verify runs/club --run "$three" >/dev/null ||
        fail "killed at call $calls: the newest run is damaged"
done
"$bin/graphmill" gc runs/club --grace 0 >gone.txt
[ "$("$bin/graphmill" list runs/club | wc -l)" -eq 1 ] || fail "other runs are still listed"
! grep -rlq "$one\|$two" runs/club/store/switch ||
    fail "a switch names what is gone: $(grep -rl "$one\|$two" runs/club/store/switch)"
[ -z "$(find runs/club/store -type f -path "*$one*" -o -type f -path "*$two*")" ] ||
    fail "something of the runs is left: $(find runs/club/store -type f)"
"$bin/graphmill" verify runs/club >/dev/null || fail "the store is damaged"
after=$("$bin/graphmill" export runs/club --what logits --output three.npy --json |
    json run; sha256sum <three.npy)
[ "$before" = "$after" ] || fail "the run that stayed gives other logits"
"$bin/graphmill" gc runs/club --grace 0 >again.txt
grep -q "freed 0 pieces" again.txt || fail "a second gc found something"

# Removed data are made again, equal; more epochs start from an existing sibling, or from scratch if
# it is gone.
[ "$(run runs/club "$pipeline" | json run)" = "$one" ] || fail "the first run is another one now"
[ "$("$bin/graphmill" list runs/club | wc -l)" -eq 2 ] || fail "the first run is not listed again"
more=$(run runs/club "$pipeline" --set epochs=40 | json weights_hash)
"$bin/graphmill" gc runs/club --grace 0 --run "$one" >/dev/null
[ "$(run elsewhere "$pipeline" --set epochs=40 | json weights_hash)" = "$more" ] ||
    fail "other weights beside a sibling"
"$bin/graphmill" verify runs/club >/dev/null || fail "damaged without the sibling"
run runs/club "$pipeline" --set epochs=50 >/dev/null ||
    fail "a lineage with a run that is gone stops a new one"

expect 65 'no run nothing-here' "$bin/graphmill" gc runs/club --grace 0 --run nothing-here
expect 64 'one run.s folder' "$bin/graphmill" gc
expect 65 'no such folder' "$bin/graphmill" list nowhere
expect 64 '2 to 8 runs' "$bin/graphmill" compare runs/club
"$bin/graphmill" help gc >help.txt
grep -q -- --dry-run help.txt || fail "help COMMAND does not help"
"$bin/graphmill" help >help.txt
grep -q 'graphmill COMMAND --help' help.txt || fail "help does not help"
expect 64 "did you mean 'list'" "$bin/graphmill" help lits
