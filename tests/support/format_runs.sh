# Makes datasets of inputs in several formats, in runs/ below the current folder: `source` it after
# tests/pipeline/library.sh.
mkdir -p runs
pipeline() { # name, format, path, more lines of the ingest section
    printf 'name: %s\nepochs: 1\ningest:\n  format: %s\n  path: %s\n%bpartition:\n  parts: 2\nsample:\n  fanouts: [3, 3]\n' "$1" "$2" "$work/$3" "${4:-}" >"$1.yaml"
}
ingest() { # name, format, path, more; lists the records of $kinds in NAME.found
    pipeline "$@"
    "$bin/graphmill" partition "$1.yaml" --directory "runs/$1" >"$1.out" 2>"$1.err" ||
        fail "$1: $(tail -3 "$1.err")"
    [ -z "${kinds:-}" ] || records "$1" $kinds >"$1.found"
}
agree() { # name, the name of what it is compared with, the least number of records
    [ "$(wc -l <"$1.found")" -ge "${3:-2}" ] || fail "too few records of $1: $(cat "$1.found")"
    cmp -s "$1.found" "$2.found" ||
        fail "$1 is another dataset than $2: $(diff "$1.found" "$2.found")"
}
bad() { # pattern, format, path, more (else $lines_of_bad)
    pipeline bad "$2" "$3" "${4:-${lines_of_bad:-}}"
    expect 65 "$1" "$bin/graphmill" partition bad.yaml --directory runs/bad --quiet
    [ ! -e runs/bad/store/dataset ] ||
        [ -z "$(find runs/bad/store/dataset -name schema.record)" ] ||
        fail "a dataset was stored of $3"
}
