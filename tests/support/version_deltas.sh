# Versions whose parts are deltas, for tests: `source` it after tests/pipeline/library.sh, in the
# folder of g.yaml and of u1, u2, ..., the files of its updates. The run `deltas` has the versions;
# `hash` is that of its weights, `base` and `newest` are its first and last partition, which are in
# `parts`.
# shellcheck shell=bash
# shellcheck disable=SC2154 # bin and work are library.sh's

# update RUN VERSION [options]
update() {
    "$bin/graphmill" update g.yaml --directory "$work/$1" --quiet --add-nodes u"$2"/nodes \
        --features u"$2"/rows --add-edges u"$2"/edges \
        --remove-edges u"$2"/old_edges --remove-nodes u"$2"/old_nodes "${@:3}" >/dev/null
}
partitions() { ls "$work/$1/store/partition"; }
deltas() { find "$work/$1/store/partition" -name delta.record | wc -l; }
verified() { grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/deltas")" || fail "$1: verify"; }

# Compares weights, metrics and outputs of each version with those of a run on complete parts; of
# the last one also with more workers and in a replay. `fresh` is the run before the updates:
# compare_versions COUNT OUTPUT...
compare_versions() {
    local count=$1 v found file stage
    shift
    parts=$work/deltas/store/partition
    run deltas g.yaml >/dev/null
    run whole g.yaml --set partition.compact=0 >/dev/null
    base=$(partitions deltas)
    cp -r "$work/deltas" "$work/fresh"
    for v in $(seq "$count"); do
        update deltas "$v"
        update whole "$v"
        hash=$(run deltas g.yaml | json weights_hash)
        found=$(run whole g.yaml --set partition.compact=0 | json weights_hash)
        [ -n "$hash" ] && [ "$hash" = "$found" ] ||
            fail "version $v: weights $hash, over parts written whole $found"
        [ "$(cat "$work/deltas/metrics.jsonl")" = "$(cat "$work/whole/metrics.jsonl")" ] ||
            fail "version $v: other metrics"
        for file in "$@"; do
            cmp "$work/whole/outputs/$file" "$work/deltas/outputs/$file" ||
                fail "version $v: another $file"
        done
        [ "$(deltas deltas)/$(deltas whole)" = "$v/0" ] ||
            fail "version $v: $(deltas deltas) deltas, and $(deltas whole)"
    done
    newest=$(basename "$(ls -dt "$parts"/*/book.record | sed -n '1s:/book.record::p')")
    [ "$(run deltas-3 g.yaml --workers 3 --store "dir:$work/deltas/store" | json weights_hash)" = \
        "$hash" ] || fail '3 workers: other weights'
    rm -r "$work/deltas-3"
    for stage in partition sample train-step infer; do replays deltas $stage; done
    verified 'the newest version'
}

# Removes the earlier runs and their parts, except those that the newest is a delta of.
collect_versions() {
    "$bin/graphmill" gc "$work/deltas" --grace 0 >gc.txt
    [ "$(partitions deltas | sort)" = "$(printf '%s\n' "$base" "$newest" | sort)" ] ||
        fail "gc left $(partitions deltas), took $(cat gc.txt)"
    verified gc
}

# Checks that recent damage, also of the base, is named and repaired: mended WHAT PATTERN
mended() {
    expect 65 "$2" "$bin/graphmill" verify "$work/deltas" --remove
    grep -q "partition=.*$base" "$work/stdout" ||
        fail "verify does not name the base: $(tail -1 "$work/stdout")"
    [ "$(run deltas g.yaml | json weights_hash)" = "$hash" ] || fail "$1: other weights"
    verified "$1"
    [ "$(deltas deltas)" = 1 ] || fail "$1: not a delta any more"
}

# Damages topologies, the record of the delta, and what only it says.
damage_versions() {
    local piece
    for piece in "$base/part/0000000001/topology" "$newest/part/0000000002/topology"; do
        printf '\377' | dd of="$parts/$piece" bs=1 seek=9000 conv=notrunc status=none
        mended "$piece" "$piece"
    done
    damage "$parts/$newest/delta.record"
    mended 'the delta' 'delta'
    rm "$parts/$newest/delta.record" "$parts/$newest/placement.record"
    mended 'the delta and the placement' 'delta'
    rm "$parts/$newest/delta.record" "$parts/$base/book.record"
    mended 'the delta and the book of its base' 'delta'
}

# Kills partition after so many seconds; the same command ends with the same weights:
# kill_partitions COUNT PAUSE...
kill_partitions() {
    local count=$1 pause v
    shift
    for pause in "$@"; do
        rm -rf "$work/killed" && cp -r "$work/fresh" "$work/killed"
        for v in $(seq "$count"); do update killed "$v"; done
        timeout -s KILL "$pause" "$bin/graphmill-partition" --store "$work/killed/store" \
            --pipeline g.yaml >/dev/null 2>&1 || true
        [ "$(run killed g.yaml | json weights_hash)/$(deltas killed)" = "$hash/1" ] ||
            fail "killed after $pause s: other weights"
    done
}
