#!/usr/bin/env bash
# Processors of another type would give other bits: they do not continue a run, unless it pins a
# type that they share. A finished run is read anywhere, and a replay that differs says why.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
grep -qw avx2 /proc/cpuinfo || { echo "skipped: no AVX2, so there is no other type to act"; exit \
    77; }
pipeline=$source_folder/pipelines/karate.yaml

first=$(run here "$pipeline" | json weights_hash)
elsewhere() { OPENBLAS_CORETYPE=Nehalem "$@"; }
elsewhere "$bin/graphmill" verify "$work/here" >/dev/null || fail "verify elsewhere"
[ "$(elsewhere run here "$pipeline" | json weights_hash)" = "$first" ] ||
    fail "a finished run is not read elsewhere"
if elsewhere "$bin/graphmill" replay "$work/here" train-step --round 29 >"$work/stdout" \
    2>"$work/stderr"; then
    grep -q ^MATCH "$work/stdout" || fail "no verdict: $(cat "$work/stdout")"
else
    grep -q 'another environment: .*here OpenBLAS [0-9.]* Nehalem' "$work/stderr" ||
        fail "no reason: $(cat "$work/stderr")"
fi

# An unfinished run is refused before anything is trained, and so is a worker.
expect 75 'no run of these settings' "$bin/graphmill-sample" --store "$work/here/store" \
    --pipeline "$pipeline" --set epochs=31 --redis redis://127.0.0.1:9
"$bin/graphmill" start "$pipeline" --set epochs=31 --directory "$work/here" >/dev/null 2>&1
OPENBLAS_CORETYPE=Nehalem expect 78 \
    "here OpenBLAS [0-9.]* Nehalem: its bits would differ. Finish it where.*portable: true" \
    run here "$pipeline" --set epochs=31
OPENBLAS_CORETYPE=Nehalem expect 78 "its bits would differ" \
    "$bin/graphmill-sample" --store "$work/here/store" --pipeline "$pipeline" --set epochs=31 \
    --redis redis://127.0.0.1:9
GRAPHMILL_CPU_LEVEL=plain expect 78 "here kernels [0-9]* plain: its bits would differ" run here \
    "$pipeline" --set epochs=31
GRAPHMILL_CPU_LEVEL=sse9 expect 64 "not one of plain, avx2, avx512, bf16" run here "$pipeline"

first=$(run portable "$pipeline" --set portable=true | json weights_hash)
second=$(GRAPHMILL_CPU_LEVEL=plain OPENBLAS_CORETYPE=Nehalem run portable-elsewhere "$pipeline" \
    --set portable=true | json weights_hash)
[ "$first" = "$second" ] || fail "portable runs differ: $first and $second"
grep -q ^MATCH <<<"$(GRAPHMILL_CPU_LEVEL=avx2 OPENBLAS_CORETYPE=Nehalem "$bin/graphmill" replay \
    "$work/portable" train-step --round 29)" || fail "a portable unit does not replay elsewhere"
