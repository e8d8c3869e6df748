#!/usr/bin/env bash
# The answers of the driver: valid JSON whatever the name of a folder, exports to files, pipes and
# devices, the holder of a folder, a wrong Redis reported before the work, the next commands after
# `start`, and budgets that are kept.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml
odd=$work/$'say "no" \\ to\nthis \xc3\xbc'
is_json() { python3 -c 'import json, sys; json.load(sys.stdin)' || fail "no JSON: $*"; }
value() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# JSON of every command, in a folder whose name needs escapes.
mkdir "$odd"
"$bin/graphmill" run "$pipeline" --directory "$odd" --quiet --json >"$work/run.json"
is_json run <"$work/run.json"
[ "$(value outputs <"$work/run.json")" = "$odd/outputs" ] ||
    fail "run: outputs is $(value outputs <"$work/run.json")"
dataset() { python3 -c 'import json, sys; print(json.load(sys.stdin)["dataset"])' <"$1"; }
python3 -c 'import json, sys
data = json.load(sys.stdin)["dataset"]
report = data["report"]
assert (data["nodes"], data["classes"], data["train"], data["unused"]) == (34, 2, 8, ""), data
assert (report["labelled_nodes"], report["class_nodes"]) == (34, [17, 17]), report
assert isinstance(report["warnings"], list) and not report["isolated_nodes"], report' \
    <"$work/run.json" || fail "run: what is said of the data"
"$bin/graphmill" run "$pipeline" --directory "$odd" --quiet --json >"$work/again.json"
[ "$(dataset "$work/run.json")" = "$(dataset "$work/again.json")" ] ||
    fail "run: another answer about unchanged data"
"$bin/graphmill" status "$odd" --json | is_json status
"$bin/graphmill" replay "$odd" train-step --json | is_json replay
[ "$("$bin/graphmill" export "$odd" --output "$odd/model" --json | value output)" = "$odd/model" ] \
    || fail "export: another output"
[ "$("$bin/graphmill" start "$pipeline" --directory "$odd" --quiet --json | value store)" = \
    "dir:$odd/store" ] || fail "start: another store"

# Exports: a complete file, through a link, into a pipe, into our stdout; nothing else is touched.
"$bin/graphmill" export "$odd" --output "$work/model" >/dev/null
export_to() { "$bin/graphmill" export "$odd" --output "$@"; }
export_to /dev/stdout | cmp - "$work/model" || fail "/dev/stdout got something else"
export_to /dev/stdout >"$work/through_stdout"
cmp "$work/through_stdout" "$work/model" || fail "a file behind stdout got something else"
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/through_pipe" &
export_to "$work/pipe" >/dev/null
wait $!
cmp "$work/through_pipe" "$work/model" || fail "a pipe got something else"
[ -p "$work/pipe" ] || fail "the pipe is no pipe any more"
cp -p /dev/null "$work/plain" && ln -s plain "$work/link"
export_to "$work/link" >/dev/null
[ -L "$work/link" ] && cmp "$work/plain" "$work/model" ||
    fail "a link was replaced, or its file was not"
export_to /dev/null >/dev/null
[ -c /dev/null ] || fail "/dev/null was replaced"
mkdir "$work/folder"
expect 78 'is a folder, expected a file' export_to "$work/folder"
[ -z "$(ls "$work/folder")" ] || fail "a refused export left $(ls "$work/folder")"

# A file of somebody else is refused, and so is one of ours that somebody changed; one of ours, or
# an empty one, is not, and --force replaces any.
for command in export 'export --what logits' report exporter; do
    read -ra more <<<"${command#* }"
    words=("${command%% *}" "$odd")
    [ "${more[0]}" = "$command" ] || words+=("${more[@]}")
    echo 'of somebody' >"$work/theirs"
    expect 78 'theirs is there already, and not known to be made by this command: name another file, or replace it with --force' "$bin/graphmill" "${words[@]}" --output "$work/theirs"
    [ "$(cat "$work/theirs")" = 'of somebody' ] || fail "$command replaced somebody's file"
    "$bin/graphmill" "${words[@]}" --output "$work/theirs" --force >/dev/null ||
        fail "$command --force"
    cmp -s "$work/theirs" <<<'of somebody' && fail "$command --force replaced nothing"
    ! python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.graphmill.test", b"")' \
        "$work/theirs" 2>/dev/null || # a file system without such
        "$bin/graphmill" "${words[@]}" --output "$work/theirs" >/dev/null ||
            fail "$command refuses what it made"
done
"$bin/graphmill" export "$odd" --output "$work/changed" >/dev/null
echo 'a word of somebody' >>"$work/changed"
expect 78 'changed is there already' "$bin/graphmill" export "$odd" --output "$work/changed"

# The message names the holder of a folder.
"$bin/graphmill" run "$pipeline" --directory "$work/held" --set ingest.format=generated \
    --set ingest.path= \
    --set ingest.nodes=2000000 --quiet >/dev/null 2>&1 &
holder=$!
until [ -s "$work/held/state" ]; do sleep 0.05; done
expect 75 "with pid $holder" run held "$pipeline"
grep -q "^ingest .*pid $holder" <<<"$("$bin/graphmill" status "$work/held")" ||
    fail "status in ingest: $("$bin/graphmill" status "$work/held" 2>&1)"
[ "$("$bin/graphmill" status "$work/held" --json | value state)" = ingest ] ||
    fail "the JSON of status in ingest"
kill -KILL $holder
wait $holder 2>/dev/null || true
grep -q '^ingest  *ended without a word' <<<"$("$bin/graphmill" status "$work/held")" ||
    fail "status after a kill in ingest"
# The state of each stage in every state of the run.
grep -q '^partition  *waiting$' <<<"$("$bin/graphmill" status "$work/held")" &&
    grep -q '^infer  *waiting$' <<<"$("$bin/graphmill" status "$work/held")" ||
    fail "stages after a kill in ingest: $("$bin/graphmill" status "$work/held")"

# A Redis that is missing, or needs another password, is reported before any work.
expect 75 '^graphmill: --redis: no work queue; does a redis-server listen there, and on that port: Redis at redis://127.0.0.1:1: Connection refused$' run no-redis "$pipeline" --redis redis://127.0.0.1:1
[ ! -e "$work/no-redis" ] || fail "a folder was made before Redis was asked"

# A budget that is too small is refused before the work; a sufficient one is kept by all processes
# together.
expect 71 'expected at least 192.0 MiB' run poor "$pipeline" --memory 128M
[ ! -e "$work/poor" ] || fail "a folder was made before the budget was looked at"
sanitized || {
    run tight "$source_folder/pipelines/quickstart.yaml" --memory 256M >/dev/null
    sum=0
    for times in "$work"/tight/times/*-0.jsonl; do
        sum=$((sum + $(sed -n 's/.*"peak_bytes":\([0-9]*\).*/\1/p' "$times" | tail -1)))
    done
    [ $sum -gt 0 ] && [ $sum -le $((256 << 20)) ] || fail "the workers took $sum bytes of 256 MiB"
    echo "a run with --memory 256M: the peaks of its workers add up to $((sum >> 20)) MiB"
}

# Logs and times that cannot be written do not end a run.
mkdir -p "$work/full/logs"
touch "$work/full/times"
for log in ingest sample-0 infer-0; do ln -s /nowhere/log "$work/full/logs/$log.log"; done
run full "$pipeline" >/dev/null 2>"$work/stderr" || fail "ended by a log: $(tail -2 "$work/stderr")"

# The lines that `start` prints, pasted into a shell, make the outputs; status links them.
redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --dir "$work" >/dev/null &
redis=$!
until [ -S "$work/redis.sock" ]; do sleep 0.05; done
"$bin/graphmill" start "$pipeline" --directory "$work/started" --redis "unix:$work/redis.sock" \
    2>"$work/next" >/dev/null
sed -n 's/^    //p' "$work/next" >"$work/lines"
[ "$(wc -l <"$work/lines")" -eq 6 ] || fail "lines to type: $(cat "$work/next")"
bash "$work/lines" >"$work/status" 2>&1 ||
    fail "the lines of start failed: $(tail -3 "$work/status")"
kill $redis
# Workers that had not seen the end before Redis stopped find it in storage.
for ((i = 0; i < 300; i++)); do
    left=$(pgrep -f -- "--store dir:$work/started/store") || break
    sleep 0.1
done
[ -z "$left" ] || {
    kill $left
    fail "still there without Redis 30 s after the run was finished: $left"
}
for stage in ingest partition sample train-step aggregate checkpoint infer; do
    grep -q "^$stage  *done$" <<<"$("$bin/graphmill" status "$work/started")" ||
        fail "stages of a finished run: $("$bin/graphmill" status "$work/started")"
done
grep -q finished "$work/status" && [ -e "$work/started/outputs/predictions.csv" ] ||
    fail "no outputs link: $(tail -3 "$work/status")"

