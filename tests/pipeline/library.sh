# Shared by the tests of whole pipelines: `source` it first.
set -euo pipefail
bin=$GRAPHMILL_BIN
source_folder=$GRAPHMILL_SOURCE
work=$(mktemp -d "${TMPDIR:-/tmp}/graphmill-pipeline-XXXXXX")
failure=
started=() # processes in the background, ended when the test ends
# What failed is said last, after the ends of the logs.
finish() {
    local status=$? file pid
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    [ $status -eq 0 ] || [ $status -eq 77 ] || {
        for file in "$work"/*.log "$work"/*/logs/*.log; do [ -s "$file" ] && { echo "--- $file"; tail -3 "$file"; }; done
        echo "FAILED: ${failure:-line $last_line: a command ended with $status}"
    } >&2
    rm -rf "$work"
    exit $status
}
last_line=0
set -E
trap 'last_line=$LINENO' ERR
trap finish EXIT

fail() {
    failure=$*
    exit 1
}

# One string or number out of a line of JSON: json KEY
json() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" | sed -n 1p; }

# Ends the test as skipped where the programs have a sanitizer: not_sanitized 'why'
sanitized() { [[ $(ldd "$bin/graphmill") == *lib[atu]*san* ]]; }
not_sanitized() {
    ! sanitized || {
        echo "skipped: $1"
        exit 77
    }
}

# Runs a pipeline into $work/NAME: run NAME FILE [options]; prints the answer as JSON
run() {
    local name=$1 file=$2
    shift 2
    "$bin/graphmill" run "$file" --directory "$work/$name" --quiet --json "$@"
}

datasets() {
    local folder=${GRAPHMILL_DATASETS:-$source_folder/../shared/datasets}
    [ -d "$folder/$1" ] || {
        echo "skipped: no $1 in $folder; set GRAPHMILL_DATASETS"
        exit 77
    }
    export GRAPHMILL_DATASETS=$folder
}

# A command that must end with a status and say something on stderr: expect STATUS 'PATTERN' command...
expect() {
    local status=$1 pattern=$2 found=0
    shift 2
    "$@" >"$work/stdout" 2>"$work/stderr" || found=$?
    [ "$found" -eq "$status" ] || fail "'$*' ended with $found, expected $status: $(tail -3 "$work/stderr")"
    grep -qE -- "$pattern" "$work/stderr" || fail "'$*' did not say '$pattern' but: $(tail -3 "$work/stderr")"
}
