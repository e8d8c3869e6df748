#!/usr/bin/env bash
# Processors of another type would give other bits: they are refused, unless the run pins a type they share.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
grep -qw avx2 /proc/cpuinfo || { echo "skipped: no AVX2, so there is no other type to act"; exit 77; }
pipeline=$source_folder/pipelines/karate.yaml

run here "$pipeline" >/dev/null
OPENBLAS_CORETYPE=Nehalem expect 78 "this process is 'Nehalem.*portable: true" \
    "$bin/graphmill" replay "$work/here" train-step --round 29

first=$(run portable "$pipeline" --set portable=true | json weights_hash)
second=$(OPENBLAS_CORETYPE=Nehalem run portable-elsewhere "$pipeline" --set portable=true | json weights_hash)
[ "$first" = "$second" ] || fail "portable runs differ: $first and $second"
OPENBLAS_CORETYPE=Nehalem "$bin/graphmill" replay "$work/portable" train-step --round 29 | grep -q ^MATCH || fail "a portable unit does not replay elsewhere"
