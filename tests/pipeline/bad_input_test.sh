#!/usr/bin/env bash
# Each malformed input ends graphmill-ingest with status 65 and one message that names it, stores
# nothing, and the corrected input can be read into the same store.
set -u
bin=${GRAPHMILL_BIN:?} source=${GRAPHMILL_SOURCE:?}
[ -x "$bin/graphmill-ingest" ] || { echo "no graphmill-ingest"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# A folder with a pipeline file has the expected message in the file `expected`, without its own
# path.
ingest_tables() { # folder
    "$bin/graphmill-ingest" --store "$work/store" --pipeline "$1/pipeline.yaml" >"$work/out" \
        2>"$work/err"
    local status=$? said
    said=$(sed -n "s,^[^ ]* error graphmill-ingest ,,p" "$work/err")
    said=${said//"$1/"/}
    [ "$said" = "$(cat "$1/expected")" ] ||
        fail "$(basename "$1"): said '$said', expected '$(cat "$1/expected")'"
    return $status
}

ingest() { # folder
    if [ -e "$1/pipeline.yaml" ]; then
        ingest_tables "$1"
        return
    fi
    "$bin/graphmill-ingest" --store "$work/store" --pipeline "$work/pipeline.yaml" \
        --set "ingest.path=$1" >"$work/out" 2>"$work/err"
}

# What each message contains: a position (a file, and a line, byte, row or item in it, or that the
# whole file is meant), what was expected, what was found, and advice.
places=':[0-9]+|(byte|row|element|line|item|column) [0-9]|[.a-z_-]+(json|yaml): "|: (expected|found|no |format|shape|column )|^expected |is (text|a zip|no XML|not there)|lies column'
finds='found|: [^:]* (is|has|stands) |: (the|an) [a-z]+ (is|are|lies|between)|is (text|a zip|not there)'
verbs='write|give|remove|add|close|save|rename|leave|make|keep|name|set|raise|are|copy|mend|change|use|sort|in Python'
five_parts() { # name, message
    [[ $2 =~ \.(csv|npy|npz|json|yaml|txt|mtx|metis|graphml|content|cites|pt|gz|zst) ||
        $2 =~ tests/data/bad/ || $2 =~ ^empty\ graph ]] || fail "$1: no file in: $2"
    [[ $2 =~ $places || $2 =~ ^empty\ graph ]] || fail "$1: no place in: $2"
    [[ $2 =~ expected ]] || fail "$1: nothing expected in: $2"
    [[ $2 =~ $finds ]] || fail "$1: nothing found in: $2"
    [[ $2 =~ (:|\;|,|,\ or|\()\ ($verbs)[\ ,] ]] || fail "$1: nothing to do in: $2"
}

printf 'name: sample\n' >"$work/pipeline.yaml"
mistakes=0
declare -A of_format=()
for folder in "$source"/tests/data/bad/*/; do
    name=$(basename "$folder")
    ingest "${folder%/}"
    status=$?
    [ $status = 65 ] || fail "$name: status $status, expected 65: $(cat "$work/err")"
    five_parts "$name" "$(sed -n 's,^[^ ]* error graphmill-ingest ,,p' "$work/err")"
    format=$(sed -n 's/^ *format: *//p' "$folder/pipeline.yaml" 2>/dev/null)
    of_format[${format:-folder}]=$((${of_format[${format:-folder}]:-0} + 1))
    mistakes=$((mistakes + 1))
    [ "$(grep -c "tests/data/bad/$name\|empty graph" "$work/err")" = 1 ] ||
        fail "$name: not named once: $(cat "$work/err")"
    [ -s "$work/out" ] && fail "$name: printed an answer: $(cat "$work/out")"
    [ -z "$(find "$work/store" -type f -path '*dataset*' 2>/dev/null)" ] ||
        fail "$name: left something"
done

# Each supported format has some mistakes.
[ $mistakes -ge 150 ] || fail "$mistakes mistakes, expected at least 150"
for format in folder ogb edge_list tu matrix_market metis npz graphsaint graphbolt distdgl dgl_csv \
    graphml linqs; do
    echo "$format: ${of_format[$format]:-0} mistakes"
    [ "${of_format[$format]:-0}" -ge 5 ] ||
        fail "$format has ${of_format[$format]:-0} mistakes, expected at least 5"
done

# Advice depends on the mistake and not on words of the user: here names of files begin like advice.
# The driver passes the advice on.
for name in 'a: write it; remove b' 'found both is out of range' 'in the header'; do
    cp -r "$source/tests/data/bad/metis-lines-too-few" "$work/$name"
    chmod -R u+w "$work/$name"
    ingest_tables "$work/$name"
    [ $? = 65 ] || fail "$name: ended with another status than 65"
    "$bin/graphmill" run "$work/$name/pipeline.yaml" --directory "$work/run $name" >"$work/out" \
        2>"$work/err" && fail "$name: a run of it ends well"
    [[ $(tail -1 "$work/err") == *"$(cat "$work/$name/expected") (log: "* ]] ||
        fail "$name: the driver does not pass on the advice: $(tail -1 "$work/err")"
    message=$("$bin/graphmill" status "$work/run $name" --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["failure"])')
    [[ $message == *"$(cat "$work/$name/expected") (log: "* ]] ||
        fail "$name: status does not pass on the advice: $message"
done

# The source position is only shown to users who ask for it.
"$bin/graphmill-ingest" --store "$work/store" \
    --pipeline "$source/tests/data/bad/table-row-short/pipeline.yaml" --debug >"$work/out" \
    2>"$work/err"
grep -q 'found 9; .* \[.*table_look.c:[0-9]*\]$' "$work/err" || fail "--debug: $(cat "$work/err")"

ingest "$source/tests/data/karate" || fail "good input after bad: $(cat "$work/err")"
grep -q '^dataset=sample-[0-9a-f]\{16\} nodes=34 edges=156 ' "$work/out" ||
    fail "answer: $(cat "$work/out")"
exit $failed
