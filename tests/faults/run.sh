#!/usr/bin/env bash
# Breaks what can break and compares what comes out with an undisturbed run: one line for each promise.
#
#   tests/faults/run.sh --quick [EXPERIMENT...]   minutes; what CI runs, an experiment a ctest
#   tests/faults/run.sh --full [EXPERIMENT...]    all of it; stopped, it goes on where it was
#
# SEED=n repeats what a run did. GRAPHMILL_BIN: the programs (default: build/bin). README.md has the figures.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export GRAPHMILL_BIN=${GRAPHMILL_BIN:-$here/../../build/bin} PYTHONDONTWRITEBYTECODE=1
if [[ $(ldd "$GRAPHMILL_BIN/graphmill") == *lib[atu]*san* ]]; then
    echo "skipped: a sanitizer wants to be the first library, and is slow"
    exit 77
fi
cd "$here"
exec python3 -m harness "$@"
