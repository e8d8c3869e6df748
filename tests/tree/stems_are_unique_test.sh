#!/usr/bin/env bash
# A file's stem is the name of one concept, so that it can be searched for.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
twice=$(find common store stages pipelines -name '*.c' -printf '%f\n' | sort | uniq -d)
[ -z "$twice" ] || { echo "stems that stand twice: $twice"; exit 1; }
