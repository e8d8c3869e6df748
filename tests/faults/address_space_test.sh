#!/usr/bin/env bash
# With 80 to 400 MB of addresses (ulimit -v) every program ends either successfully or with status
# 71 and a line that says why: never by a signal, never as a bug, never hanging. RocksDB throws, and
# OpenBLAS spins, if they get no thread.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml
not_sanitized 'a sanitizer reserves terabytes of addresses'
short() { # megabytes, name, command...
    local megabytes=$1 name=$2 status=0
    shift 2
    (ulimit -v $((megabytes << 10)) &&
        exec timeout -s KILL 60 "$@") >"$work/stdout" 2>"$work/stderr" || status=$?
    [ $status -eq 0 ] || [ $status -eq 71 ] ||
        fail "$name with $megabytes MB: ended with $status: $(tail -1 "$work/stderr")"
    [ $status -eq 0 ] || grep -qi -e 'memory' "$work/stderr" ||
        fail "$name with $megabytes MB: 71, and said: $(tail -1 "$work/stderr")"
    echo "$name with $megabytes MB: $status"
}
run whole "$pipeline" --set checkpoint.keep=0 >/dev/null
for megabytes in 80 100 150 200 250 300 400; do
    for stage in ingest partition; do
        rm -rf "$work/fresh"
        [ $stage = ingest ] || "$bin/graphmill-ingest" --store "$work/fresh" \
            --pipeline "$pipeline" >/dev/null 2>&1
        short $megabytes $stage "$bin/graphmill-$stage" --store "$work/fresh" --pipeline "$pipeline"
    done
    for unit in sample/0/0 train-step/29/0 aggregate/29 checkpoint/30; do
        short $megabytes "replay of $unit" "$bin/graphmill-${unit%%/*}" \
            --store "$work/whole/store" --pipeline "$pipeline" \
            --set checkpoint.keep=0 --replay "$unit"
    done
    short $megabytes verify "$bin/graphmill" verify "$work/whole"
    rm -rf "$work/fresh"
    short $megabytes run "$bin/graphmill" run "$pipeline" --directory "$work/fresh"
done
