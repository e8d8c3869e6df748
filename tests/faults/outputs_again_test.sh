#!/usr/bin/env bash
# Outputs are deleted, truncated, edited or damaged, with or without their manifest, with or without
# the layers of inference: the next `run` reports it and writes the same bytes again. The first
# manifest stays, or an equal one is made.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml
settings=(--set partition.parts=3 --set partition.method=hash --set sample.fanouts=5,5,5)
run it "$pipeline" "${settings[@]}" >"$work/first" 2>"$work/quiet"
[ ! -s "$work/quiet" ] || fail "said: $(cat "$work/quiet")"
store=$work/it/store
folder=$store/$(cd "$store" && echo run/*/outputs/??????????)
layers=$(echo "$store"/run/*/infer)
cp -r "$folder" "$work/good"
seal=$(sha256sum <"${folder}_seal.record")
[ "$(readlink -f "$work/it/outputs")" = "$folder" ] ||
    fail "the link outputs is $(readlink "$work/it/outputs")"

flip() { # file, offset
    chmod u+w "$1"
    printf "$(printf '\\%03o' $(($(od -An -tu1 -j"$2" -N1 "$1") ^ 1)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
trials=0
# Checks what the next run does after a change to a finished run, and what it says: again 'PATTERN'
# WHAT
again() {
    local pattern=$1 what=$2 file
    "$what"
    run it "$pipeline" "${settings[@]}" >"$work/answer" 2>"$work/said" ||
        fail "$what: the run ends with $?: $(tail -3 "$work/said")"
    grep -q -- "$pattern" "$work/said" ||
        fail "$what: did not say '$pattern' but: $(cat "$work/said")"
    for file in embeddings.npy metrics.json model.safetensors predictions.csv; do
        cmp -s "$work/good/$file" "$work/it/outputs/$file" || fail "$what: $file is not what it was"
    done
    [ "$(sha256sum <"${folder}_seal.record")" = "$seal" ] ||
        fail "$what: the seal is not what it was"
    [ "$(json weights_hash <"$work/answer")" = "$(json weights_hash <"$work/first")" ] ||
        fail "$what: $(cat "$work/answer")"
    "$bin/graphmill" verify "$work/it" >"$work/verified" 2>&1 ||
        fail "$what: verify: $(cat "$work/verified")"
    trials=$((trials + 1))
}

delete_folder() { rm -rf "$folder"; }
delete_a_file() { rm -f "$folder/predictions.csv"; }
edit_a_file() { chmod u+w "$folder/predictions.csv" &&
    echo "34,,,1,0.5" >>"$folder/predictions.csv"; }
flip_a_bit() { flip "$folder/embeddings.npy" 200; }
empty_a_file() { chmod u+w "$folder/model.safetensors" && : >"$folder/model.safetensors"; }
delete_the_seal() { rm -f "${folder}_seal.record"; }
delete_seal_and_flip() { delete_the_seal && flip_a_bit; }
damage_the_seal() { flip "${folder}_seal.record" 300; }
delete_outputs_and_layers() { rm -rf "$folder" "$layers"; }
delete_outputs_and_shards() { rm -rf "$folder" &&
    find "$layers" -name shard -type d -exec rm -rf {} +; }
delete_outputs_and_a_layer() { rm -rf "$folder" "$layers"/*/00002; }
delete_outputs_and_a_seal() { rm -rf "$folder" &&
    rm -f "$layers"/*/00003/part/0000000001/shard_seal.record; }
damage_a_layer() { rm -rf "$folder" &&
    flip "$(find "$layers"/*/00003/part/0000000002/shard -name '*.sst')" 100; }
damage_the_layer_below() { rm -rf "$folder" &&
    flip "$(find "$layers"/*/00002/part/0000000000/shard -name '*.sst')" 100; }
damage_a_layer_seal() { rm -rf "$folder" &&
    flip "$layers"/*/00003/part/0000000000/shard_seal.record 300; }
again 'outputs: gone, written again' delete_folder
again 'outputs: .*predictions.csv.*; written again' delete_a_file
again 'outputs: .*predictions.csv: expected [0-9]* bytes, found [0-9]*; written again' edit_a_file
again "outputs: .*embeddings.npy: expected 'embeddings.npy [0-9]* .*written again" flip_a_bit
again 'outputs: .*model.safetensors: expected [0-9]* bytes, found 0; written again' empty_a_file
again 'outputs: without a seal that is whole, written again' delete_the_seal
again 'outputs: without a seal that is whole, written again' delete_seal_and_flip
again 'outputs: without a seal that is whole, written again' damage_the_seal
again 'outputs: gone, written again' delete_outputs_and_layers
again 'outputs: gone, written again' delete_outputs_and_shards
again 'outputs: gone, written again' delete_outputs_and_a_layer
again 'outputs: gone, written again' delete_outputs_and_a_seal
again 'outputs: gone, written again' damage_a_layer
again 'outputs: gone, written again' damage_the_layer_below
again 'outputs: gone, written again' damage_a_layer_seal

# Without damage nothing is reported and nothing is written; a link that is gone or wrong is set.
inode=$(stat -c %i "$folder/metrics.json")
rm "$work/it/outputs" && ln -s nowhere "$work/it/outputs"
run it "$pipeline" "${settings[@]}" >"$work/answer" 2>"$work/said"
[ ! -s "$work/said" ] || fail "said of whole outputs: $(cat "$work/said")"
[ "$(stat -c %i "$folder/metrics.json")" = "$inode" ] || fail "whole outputs were written again"
[ "$(readlink -f "$work/it/outputs")" = "$folder" ] ||
    fail "the link outputs is $(readlink "$work/it/outputs")"

# A link that cannot be set is a failure, because nobody would find the outputs.
rm "$work/it/outputs" && mkdir -p "$work/it/outputs/of another"
expect 74 'outputs cannot be linked to' run it "$pipeline" "${settings[@]}"
rm -r "$work/it/outputs"
run it "$pipeline" "${settings[@]}" >/dev/null 2>&1 &&
    [ "$(readlink -f "$work/it/outputs")" = "$folder" ] || fail "no link again"
echo "outputs lost or damaged: $trials trials, 0 other bytes"
