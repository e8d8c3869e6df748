#!/usr/bin/env bash
# Causes faults and compares the results with an undisturbed run: one line for each promise.
#
#   tests/faults/run.sh --quick [EXPERIMENT...]   minutes; CI runs it, one ctest for each experiment
#   tests/faults/run.sh --full [EXPERIMENT...]    everything; after a stop it resumes
#
# SEED=n repeats a run. GRAPHMILL_BIN is the folder of the programs (default: build/bin). README.md
# has the figures.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export GRAPHMILL_BIN=${GRAPHMILL_BIN:-$here/../../build/bin} PYTHONDONTWRITEBYTECODE=1
if [[ $(ldd "$GRAPHMILL_BIN/graphmill") == *lib[atu]*san* ]]; then
    echo "skipped: a sanitizer wants to be the first library, and is slow"
    exit 77
fi
cd "$here"
exec python3 -m harness "$@"
