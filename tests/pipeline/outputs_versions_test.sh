#!/usr/bin/env bash
# Other settings for the outputs of a finished run: only inference runs again, outputs of other
# weights or with other files are next to the first ones, never over them, and the link points to
# those requested last.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
settings=(--set ingest.nodes=1500 --set epochs=12 --set sample.batch_size=100 \
    --set checkpoint.metric=accuracy)
said() { # what the run says, with these settings
    "$bin/graphmill" run "$pipeline" --directory "$work/it" "${settings[@]}" "$@" >"$work/answer" \
        2>"$work/said" ||
        fail "$*: $(tail -3 "$work/said")"
}
version() { basename "$(readlink "$work/it/outputs")"; }
sum() { (cd "$1" && sha256sum -- *); }
said
best=$(version)
sum "$work/it/outputs/" >"$work/best"
weights=$(cd "$work/it/store" && find run -path '*/weights/*' -name '*.record' -exec stat \
    -c '%n %i' {} + | sort)

said --set infer.weights=last
last=$(version)
[ "$last" != "$best" ] || { echo "skipped: the last weights are the best"; exit 77; }
cmp -s "$work/it/outputs/model.safetensors" \
    "$work/it/store/run"/*/outputs/"$best"/model.safetensors && fail "the same weights twice"
said --set infer.weights=last --set infer.embeddings=false
[[ $(version) == "$last"-???????? ]] || fail "outputs without embeddings are $(version)"
[ ! -e "$work/it/outputs/embeddings.npy" ] && [ -s "$work/it/outputs/predictions.csv" ] ||
    fail "files: $(ls "$work/it/outputs/")"
said
[ "$(version)" = "$best" ] && grep -q unchanged "$work/said" ||
    fail "back again: $(version), $(cat "$work/said")"
sum "$work/it/outputs/" | cmp -s - "$work/best" || fail "the first outputs are not what they were"

[ "$(cd "$work/it/store" && find run -path '*/weights/*' -name '*.record' -exec stat -c '%n %i' {} \
    + | sort)" = "$weights" ] ||
    fail "weights were made again"
layers=$(ls "$work/it/store/run"/*/infer)
[ "$layers" = "$(printf '%s\n' "$best" "$last" | sort)" ] || fail "layers of weights: $layers"
"$bin/graphmill" verify "$work/it" >"$work/verified" 2>&1 || fail "verify: $(cat "$work/verified")"
