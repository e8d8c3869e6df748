#!/usr/bin/env bash
# Links of a real graph with its example pipeline file: test AUC of at least 0.95.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
datasets facebook-pages
answer=$(run facebook "$source_folder/pipelines/facebook-links.yaml" --set epochs=2 \
    --set infer.ranking=sampled --set infer.candidates=100)
auc=$(sed -n 's/.*"test":{[^}]*"roc_auc":\([0-9.]*\).*/\1/p' <<<"$answer")
awk -v a="$auc" 'BEGIN { exit !(a >= 0.95 && a <= 1) }' ||
    fail "test AUC is $auc, expected at least 0.95: $answer"
