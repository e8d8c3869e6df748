#!/usr/bin/env bash
# Installs what is missing, builds, and runs tests.
#
#   tests/run.sh            one build with gcc and the quick tests: some minutes
#   tests/run.sh all        what CI runs: gcc and clang, all tests, sanitizers, format and lint; more than an hour on two cores
#   tests/run.sh deep       all, then what takes hours: every damage, every fuzzer for a minute, the fault harness in full
#
# GRAPHMILL_DATASETS (default: ../shared/datasets beside the source): real graphs; tests that need one are skipped without,
# and say so. FUZZ_SECONDS=n: `all` also fuzzes each parser for n seconds (without it, the corpora are replayed).
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source"
mode=${1:-quick}
case $mode in
quick | all) ;;
deep)
    export FAULTS=large GRAPHMILL_SLOW_TESTS=1
    FUZZ_SECONDS=${FUZZ_SECONDS:-60}
    ;;
*)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 64
    ;;
esac
jobs=$(nproc)
side_by_side=$((jobs * 2)) # tests: they wait for half of their time
started=$SECONDS
section() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - started)); }

# Tests flush thousands of small files; where memory has room for them that takes a tenth of the time of a disk.
disk=${TMPDIR:-/tmp}
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "$(df --output=avail -k /dev/shm | tail -1)" -gt 2000000 ]; then
    TMPDIR=$(mktemp -d /dev/shm/graphmill-XXXXXX)
    export TMPDIR
    scratch=$TMPDIR
fi
finish() {
    [ -z "${lint:-}" ] || kill "$lint" 2>/dev/null || true
    [ -z "${scratch:-}" ] || rm -rf "$scratch"
}
trap finish EXIT

section 'packages'
pipelines/install.sh build test

build() { # folder, target, then cmake's arguments
    local folder=$1 target=$2
    shift 2
    cmake -S . -B "$folder" -G Ninja -DWERROR=ON "$@" >"$folder.configure.log" 2>&1 ||
        { cat "$folder.configure.log"; exit 1; }
    ninja -C "$folder" "$target" >"$folder.build.log" 2>&1 || { grep -vE '^\[[0-9]+/' "$folder.build.log" | head -60; exit 1; }
}

run_tests() { # folder, then ctest's arguments
    local folder=$1
    shift
    (cd "$folder" && ctest --output-on-failure -j "$side_by_side" "$@") | tee "$folder.tests.log"
    counts+=("$(printf '%-12s %3d tests passed, %d skipped' "$folder" \
        "$(grep -c '   Passed ' "$folder.tests.log")" "$(grep -c '\*\*\*Skipped ' "$folder.tests.log")")")
}
counts=()

section 'gcc: build without warnings'
build build-test all -DCMAKE_C_COMPILER=gcc

# A quick test that takes more than five seconds, once beside others and once alone, is in the wrong tier. A machine that is
# busy with something else cannot say so.
check_quick() {
    local name late load
    for name in $(awk '$NF == "sec" && $(NF - 1) > 5 { print $4 }' build-test.tests.log); do
        read -r load _ </proc/loadavg
        late=$(cd build-test && ctest -R "^$name\$" | awk '$1 == "1/1" && $(NF - 1) > 5 { print $(NF - 1) }')
        [ -n "$late" ] || continue
        echo "$name took $late s: a quick test takes 5 at most (tests/tiers.cmake)" >&2
        [ "${load%.*}" -gt "$side_by_side" ] || exit 1
    done
}
if [ "$mode" = quick ]; then
    section 'gcc: quick tests'
    run_tests build-test -L quick --no-tests=error
    check_quick
    section 'done'
    printf '%s\n' "${counts[@]}"
    echo "not run: $(cd build-test && ctest -N -LE quick | grep -c '  Test ') longer tests, clang, the sanitizers, format and lint (tests/run.sh all)"
    echo "not run: the fault harness in full and the fuzzers (tests/run.sh deep)"
    exit 0
fi
section 'clang: build without warnings'
build build-clang all -DCMAKE_C_COMPILER=clang

# The analyser takes what the tests leave of the processors, since many of those wait: its verdict comes last.
git ls-files '*.c' | nice -n 19 xargs -P "$jobs" -n 4 clang-tidy -p build-clang --quiet >build-clang.tidy.log 2>/dev/null &
lint=$!

section 'gcc: all tests'
run_tests build-test --no-tests=error

# On a disk, where flushes and direct reads are real.
section 'clang: tests of all but whole stages'
TMPDIR=$disk run_tests build-clang -L 'unit|store|fuzz' -LE slow --no-tests=error

section 'address and undefined-behaviour sanitizers'
build build-asan all -DCMAKE_C_COMPILER=gcc -DSANITIZE=address,undefined -DCMAKE_C_FLAGS_RELEASE='-O1 -g'
run_tests build-asan -L 'unit|store|stage|fuzz|quick' -LE 'slow|tree' --no-tests=error

section 'thread sanitizer'
build build-tsan thread-tests -DCMAKE_C_COMPILER=clang -DSANITIZE=thread -DCMAKE_C_FLAGS_RELEASE='-O1 -g'
TSAN_OPTIONS="suppressions=$source/tests/thread_sanitizer.supp" run_tests build-tsan -L threads --no-tests=error

if [ -n "${FUZZ_SECONDS:-}" ]; then
    section "fuzzing, $FUZZ_SECONDS s each"
    build build-fuzz all -DCMAKE_C_COMPILER=clang -DFUZZ=ON -DSANITIZE=address,undefined -DCMAKE_C_FLAGS_RELEASE='-O1 -g'
    for fuzzer in build-fuzz/tests/fuzz_*; do
        name=${fuzzer##*/fuzz_}
        found=$(mktemp -d)
        "$fuzzer" -max_total_time="$FUZZ_SECONDS" -print_final_stats=0 -artifact_prefix="$source/build-fuzz/" \
            "$found" "tests/fuzz/corpus/$name" >"build-fuzz/$name.log" 2>&1 || { tail -30 "build-fuzz/$name.log"; exit 1; }
        echo "$name: $(grep -oE '^Done [0-9]+ runs' "build-fuzz/$name.log")"
        rm -rf "$found"
    done
fi

section 'format'
git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror

section 'lint'
wait "$lint" ||
    { grep -E 'error|warning' build-clang.tidy.log | sort -u | head -40; exit 1; }
lint=
echo "clang-tidy: $(git ls-files '*.c' | wc -l) files without a finding"

section 'done'
printf '%s\n' "${counts[@]}"
echo 'the ten slowest tests with gcc:'
awk '$NF == "sec" { print $(NF - 1), $4 }' build-test.tests.log | sort -rn | head -10

if [ "$mode" = deep ]; then
    section 'address and undefined-behaviour sanitizers: longer pipelines'
    run_tests build-asan -L pipeline -LE 'slow|quick' --no-tests=error

    section 'the fault harness in full'
    for graph in generated links relations relation_links embeddings subgraphs times stale stale_up_to warm ranges layers vertex_cut gradients; do
        GRAPHMILL_BIN=$source/build-test/bin tests/faults/run.sh --full --graph "$graph"
    done
    for place in tiered bucket cluster; do
        GRAPHMILL_BIN=$source/build-test/bin GRAPHMILL_WEED=$source/build-test/seaweedfs/bin/weed \
            tests/faults/run.sh --full --place "$place"
    done
    section 'done'
else
    echo 'not run: the fault harness in full and the fuzzers (tests/run.sh deep)'
fi
