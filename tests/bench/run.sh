#!/usr/bin/env bash
# Compares every path with its floor and its goal: runs tests/bench/bench_* and round one after
# another.
#
#   tests/bench/run.sh               all; some minutes, at most 6 GB of memory and 2 GB in TMPDIR
#   tests/bench/run.sh NAME...       some: run.sh sampling dense
#   tests/bench/run.sh --json [NAME...]
#
# Installs and builds what is missing first. Prints one table: program, name, value, unit, ratio to
# the floor (1.00 is the floor itself), goal, OK or MISSED; lines without a goal explain the others.
# Exits 1 when a goal is missed, 70 when a program fails or prints something unexpected.
#
# The machine should be idle, because other work changes the figures. GRAPHMILL_BUILD is the
# absolute path of the build folder (default: build). BENCH_THREADS is for programs that take a
# number of threads (default: 1).
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${GRAPHMILL_BUILD:-$source/build}
export TMPDIR=${TMPDIR:-/tmp}

# The lines that have a goal: program, name of the line, compared figure, its maximum.
goals() {
    cat <<'GOALS'
sampling     sampling              ratio 1.3
sampling     sampling_stored       ratio 1.3
gather       gather_in_budget      ratio 1.1
gather_mean  gather_mean_*_ours    ratio 1.2
gather_mean  gather_weighted_*_ours ratio 1.2
edge_softmax edge_softmax_*_ours   ratio 8
dense        forward_*_ours        ratio 1.1
dense        backward_*_ours       ratio 1.1
round        round_hand_over       ratio 0.02
GOALS
}

usage() {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
    exit "$1"
}

json=
names=()
for word in "$@"; do
    case $word in
    --help | -h) usage 0 ;;
    --json) json=1 ;;
    -*) usage 64 >&2 ;;
    *) names+=("${word#bench_}") ;;
    esac
done
if [ ${#names[@]} -eq 0 ]; then
    for file in "$source"/tests/bench/bench_*.c; do
        name=${file##*/bench_}
        names+=("${name%.c}")
    done
    names+=(round)
fi
targets=(graphmill)
for name in "${names[@]}"; do
    [ "$name" = round ] && { # a script, which runs whole pipelines
        targets+=(all)
        continue
    }
    targets+=("bench_$name")
    [ -e "$source/tests/bench/bench_$name.c" ] || {
        echo "run.sh: there is no tests/bench/bench_$name.c" >&2
        exit 64
    }
done

{
    grep -q bench_sampling "$build/build.ninja" 2>/dev/null ||
        { # none yet, or one without tests and benchmarks
        "$source/pipelines/install.sh" build test
        cmake -S "$source" -B "$build" -G Ninja -DBUILD_TESTING=ON
    }
    ninja -C "$build" "${targets[@]}"
} >"$build.bench.log" 2>&1 || {
    tail -30 "$build.bench.log" >&2
    exit 70
}
rm -f "$build.bench.log"

# Uses the kernels of the BLAS that a run would use here, unless the caller chose some.
if [ -z "${OPENBLAS_CORETYPE+set}" ]; then
    core=$("$build/bin/graphmill" doctor --json 2>/dev/null |
        sed -n 's/.*"products":{"ok":true,"value":"\([A-Za-z0-9]*\) .*/\1/p')
    [ -z "$core" ] || export OPENBLAS_CORETYPE=$core
fi

of_processor() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -1; }
[ -n "$json" ] ||
    printf 'machine: %s (family %s model %s), %d cores, %.1f GB, %s; BLAS kernels %s\n' \
    "$(of_processor 'model name')" \
    "$(of_processor 'cpu family')" "$(of_processor model)" "$(nproc)" \
    "$(awk '/^MemTotal/ { print $2 / 1e6 }' /proc/meminfo)" "$(date +%F)" \
    "${OPENBLAS_CORETYPE:-as OpenBLAS picks}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
lines=$scratch/lines
: >"$lines"
status=0
for name in "${names[@]}"; do
    if [ "$name" = round ]; then
        command=("$source/tests/bench/round")
    elif grep -qE "^ \* +bench_$name \[threads" "$source/tests/bench/bench_$name.c"; then
        command=("$build/tests/bench_$name" "${BENCH_THREADS:-1}")
    else
        command=("$build/tests/bench_$name")
    fi
    [ -t 2 ] && printf '%s ...\n' "$name" >&2
    code=0
    (cd "$scratch" && GRAPHMILL_BIN=$build/bin "${command[@]}") >"$lines.out" 2>"$lines.err" ||
        code=$?
    if [ $code -ne 0 ]; then
        echo "$name ended with status $code: $(tail -3 "$lines.err")" >&2
        status=70
    elif [ ! -s "$lines.out" ]; then
        echo "$name has nothing to measure here: $(tail -1 "$lines.err")" >&2
    fi
    rm -f "$lines.err"
    awk -v name="$name" '
        /^ *[A-Za-z0-9_.%-]+ -?[0-9.]+(e[+-]?[0-9]+)? [^ ]+( -?[0-9.]+)?$/ { print name, $0; next }
        /^core [A-Za-z0-9]+ threads [0-9]+$/ { next }
        { printf "%s printed a line that is not \"name value unit [ratio]\": %s\n", name, $0 > "/dev/stderr"; bad = 1 }
        END { exit bad }' "$lines.out" >>"$lines" || status=70
done

goals | awk -v json="$json" '
    function matches(name, pattern) {
        gsub(/\*/, ".*", pattern)
        return name ~ ("^" pattern "$")
    }
    function goal_of(program, name,    i) {
        for (i = 1; i <= goals; i++)
            if (goal_program[i] == program && matches(name, goal_name[i]))
                return i
        return 0
    }
    function quoted(text) { return "\"" text "\"" }
    FILENAME == "-" {
        goals++
        goal_program[goals] = $1; goal_name[goals] = $2; goal_field[goals] = $3; goal_most[goals] = $4
        next
    }
    {
        rows++
        goal = goal_of($1, $2)
        row[rows, 1] = $1; row[rows, 2] = $2; row[rows, 3] = $3; row[rows, 4] = $4; row[rows, 5] = $5
        if (goal) {
            found = goal_field[goal] == "ratio" ? $5 : $3
            verdict = found != "" && found + 0 <= goal_most[goal] + 0 ? "OK" : "MISSED"
            row[rows, 6] = goal_most[goal] (goal_field[goal] == "ratio" ? "" : $4); row[rows, 7] = verdict
            missed += verdict == "MISSED"
        }
    }
    END {
        split("program name value unit ratio goal verdict", head)
        for (i = 1; i <= 7; i++) {
            width[i] = length(head[i])
            for (r = 1; r <= rows; r++)
                if (length(row[r, i]) > width[i])
                    width[i] = length(row[r, i])
        }
        for (r = 0; r <= rows && !json; r++) {
            text = ""
            for (i = 1; i <= 7; i++) {
                cell = r ? row[r, i] : head[i]
                right = i == 3 || i == 5 || i == 6
                text = text sprintf(right ? "%" width[i] "s  " : "%-" width[i] "s  ", cell)
            }
            sub(/ +$/, "", text)
            print text
        }
        for (r = 1; r <= rows && json; r++)
            print (r == 1 ? "[" : ",") "{" quoted("program") ":" quoted(row[r, 1]) "," quoted("name") ":" quoted(row[r, 2]) \
                "," quoted("value") ":" row[r, 3] "," quoted("unit") ":" quoted(row[r, 4]) \
                "," quoted("ratio") ":" (row[r, 5] == "" ? "null" : row[r, 5]) \
                "," quoted("verdict") ":" (row[r, 7] == "" ? "null" : quoted(row[r, 7])) "}" (r == rows ? "]" : "")
        if (missed)
            printf "%d of the goals missed\n", missed > "/dev/stderr"
        exit missed > 0
    }' - "$lines" || [ $status -ne 0 ] || status=1
exit $status
