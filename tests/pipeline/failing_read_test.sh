#!/usr/bin/env bash
# One system call that fails once, in partition or infer: the run ends right, or it ends with a
# status and the next one ends right. FAULTS=large tries every read, otherwise some.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || {
    echo "skipped: no strace, or it may not trace here"
    exit 77
}
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # it traces, too, and two cannot
settings=(--set ingest.nodes=600 --set epochs=2 --set sample.batch_size=100 --set partition.parts=3)

# Prepares the programs; the first start of one of them has a failing call: prepare NAME STAGE CALL
# ERROR N
prepare() {
    local place=$work/$1 stage=$2 program
    mkdir -p "$place/bin"
    for program in "$bin"/graphmill-*; do ln -sf "$program" "$place/bin/"; done
    cp "$bin/graphmill" "$place/bin/"
    rm "$place/bin/graphmill-$stage"
    cat >"$place/bin/graphmill-$stage" <<END
#!/bin/sh
program=$bin/graphmill-$stage
if mkdir "$place/once" 2>/dev/null; then
    exec strace -D -f -qq -o "$place/trace" -e trace=$3 -e inject=$3:error=$4:when=$5 "\$program" "\$@"
fi
exec "\$program" "\$@"
END
    chmod +x "$place/bin/graphmill-$stage"
}
attempt() { # NAME: prints the answer; the status is the run's
    timeout 300 "$work/$1/bin/graphmill" run "$source_folder/pipelines/quickstart.yaml" \
        --directory "$work/$1/run" \
        --quiet --json "${settings[@]}" 2>"$work/$1/stderr"
}
outputs() { (cd "$work/$1/run/outputs/" && sha256sum embeddings.npy predictions.csv metrics.json); }

prepare plain infer none EIO 1
rm "$work/plain/bin/graphmill-infer"
ln -s "$bin/graphmill-infer" "$work/plain/bin/"
attempt plain >/dev/null || fail "without a failing call: $(cat "$work/plain/stderr")"
outputs plain >"$work/expected"

# fails STAGE CALL ERROR N: false if there were fewer calls
fails() {
    local name=$1-$2-$3-$4 status=0 injected
    prepare "$name" "$@"
    attempt "$name" >/dev/null || status=$?
    injected=$(grep -c INJECTED "$work/$name/trace" || true)
    [ "$status" -eq 0 ] || attempt "$name" >/dev/null ||
        fail "$name: ended with $status, and the next run with $?: $(cat "$work/$name/stderr")"
    outputs "$name" | cmp -s - "$work/expected" || fail "$name: other outputs, first status $status"
    rm -rf "${work:?}/$name"
    echo "$name: $status, injected $injected"
    [ "$injected" -gt 0 ]
}
if [ "${FAULTS:-}" = large ]; then
    for stage in partition infer; do
        for ((n = 3; n < 500; n++)); do fails "$stage" pread64 EIO "$n" || break; done
    done
else
    for n in 3 6 10 19 28 60 66; do fails partition pread64 EIO "$n" || true; done
    for n in 3 5 9 14 22 31; do fails infer pread64 EIO "$n" || true; done
fi
fails partition flock EIO 1 || true
fails partition link EPERM 1 || true
fails partition fsync EIO 3 || true

# The lock of the run folder: a folder that cannot be locked is not "at work".
mkdir "$work/lock"
status=0
strace -f -qq -o "$work/lock/trace" -e trace=flock -e inject=flock:error=EIO "$bin/graphmill" run \
    "$source_folder/pipelines/quickstart.yaml" --directory "$work/lock/run" --quiet >/dev/null \
    2>"$work/lock/stderr" ||
    status=$?
[ "$status" -eq 74 ] || fail "a lock that fails with EIO ended with $status: $(cat \
    "$work/lock/stderr")"
grep -q 'cannot be locked' "$work/lock/stderr" ||
    fail "a lock that fails is told as: $(cat "$work/lock/stderr")"
