#!/usr/bin/env bash
# Wrong input ends with a message that names it, the right exit status, and nothing half-written;
# with corrected input the same command works.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
data=$source_folder/tests/data/karate

# Makes a copy of the karate club that each case damages: spoil NAME, then commands on $copy
spoil() {
    copy=$work/data-$1
    rm -rf "$copy"
    cp -r "$data" "$copy"
}
graphmill_run() {
    "$bin/graphmill" run "$source_folder/pipelines/karate.yaml" --directory "$work/run-$1" --quiet \
        --set ingest.path="$copy" --set epochs=2 "${@:2}"
}
refused() { # name, status, pattern, more options
    local name=$1 status=$2 pattern=$3
    shift 3
    expect "$status" "$pattern" graphmill_run "$name" "$@"
    local leftovers
    leftovers=$(find "$work/run-$name/store" \( -name '*.record' -path '*/dataset/*schema*' \) \
        2>/dev/null | wc -l)
    [ "$leftovers" -eq 0 ] || fail "$name: a dataset was left behind"
    rm -rf "$copy"
    cp -r "$data" "$copy"
    graphmill_run "$name" "$@" >/dev/null || fail "$name: a re-run after the mend does not work"
}

spoil id-out-of-range; echo 5,34 >>"$copy/edges.csv"
refused id-out-of-range 65 'edges.csv:80.*34'
spoil negative-id; echo 5,-1 >>"$copy/edges.csv"
refused negative-id 65 'edges.csv:80.*-1'
spoil ragged-row; echo 5 >>"$copy/edges.csv"
refused ragged-row 65 'edges.csv:80'
spoil not-a-number; echo 5,six >>"$copy/edges.csv"
refused not-a-number 65 'edges.csv:80'
spoil label-below; sed -i '3s/.*/-2/' "$copy/node-label.csv"
refused label-below 65 'node-label.csv:3.*-2'
spoil too-few-labels; sed -i '$d' "$copy/node-label.csv"
refused too-few-labels 65 'node-label.csv.*34'
spoil unknown-split-id; echo 99 >>"$copy/train.csv"
refused unknown-split-id 65 'train.csv:9.*99'
spoil split-twice; head -1 "$copy/train.csv" >>"$copy/valid.csv"
refused split-twice 65 'valid.csv:7'
spoil truncated-gzip; gzip "$copy/edges.csv"; truncate -s -20 "$copy/edges.csv.gz"
refused truncated-gzip 65 'edges.csv.gz'
spoil broken-npy; \
    printf '\223NUMPY\001\000v\000{"descr": "<f4", "fortran_order": False, "shape": (34, 3), }' \
    >"$copy/node-feat.npy"
refused broken-npy 65 'node-feat.npy'
spoil empty-graph; sed -i 's/34/0/' "$copy/meta.json"
refused empty-graph 65 'graph|node'

copy=$data
expect 78 "train-step.hiden.*did you mean.*train-step.hidden" graphmill_run settings \
    --set train-step.hiden=3
expect 78 'fan-out of 0' graphmill_run settings --set sample.fanouts=5,0
expect 78 'train-step.hidden' graphmill_run settings --set train-step.hidden=wide
expect 78 'expected at most 34 parts' graphmill_run parts --set partition.parts=35
expect 64 'unknown option' graphmill_run settings --treads 4
printf 'sample:\n  fan_outs: [3]\n' >"$work/unknown.yaml"
expect 78 'unknown.yaml:2.*sample.fanouts' "$bin/graphmill" run "$work/unknown.yaml" \
    --directory "$work/unknown"
printf 'epochs: [1\n' >"$work/broken.yaml"
expect 78 'broken.yaml:' "$bin/graphmill" run "$work/broken.yaml" --directory "$work/broken"
expect 65 'no run was started|no such|nowhere' "$bin/graphmill" status "$work/nowhere"

# Unusual but valid: isolated nodes, and a graph of one node.
spoil isolated; sed -i 's/34/40/' "$copy/meta.json"; for i in 1 2 3 4 5 6; do echo -1 \
    >>"$copy/node-label.csv"; done
graphmill_run isolated >/dev/null || fail "isolated nodes are legal"
spoil one-node
printf 'src,dst\n' >"$copy/edges.csv"; echo 0 >"$copy/node-label.csv"; echo 0 >"$copy/train.csv"; \
    : >"$copy/valid.csv"; : >"$copy/test.csv"
echo '{"num_nodes": 1, "directed": false}' >"$copy/meta.json"
graphmill_run one-node --set partition.parts=1 >/dev/null || fail "a graph of one node is legal"
