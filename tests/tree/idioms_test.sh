#!/usr/bin/env bash
# What is done everywhere is done in one way:
#   - an array that grows: memory_grow(); memory_resize() is for what shrinks, or grows within a limit of its own
#   - a failure that nothing depends on: error_ignore(), not a variable that nobody reads
#   - a file under a temporary name: file_create_temporary(), which no other process meets
#   - what a dataset has: store/versions/merged_records.h, for which a version need not be stored whole
#   - JSON: the writer of common/base/json.h, which knows what to escape
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
failed=0
sources=$(find common store stages pipelines -name '*.c')

only_in() { # what, files that may, lines found
    local found
    found=$(grep -vE "^($2):" <<<"$3" | grep -v '^$') || true
    [ -z "$found" ] || { echo "$1: $found"; failed=1; }
}

only_in 'memory_resize() outside of memory_grow()' \
    'common/base/memory.c|common/formats/text/line_reader.c|store/features/feature_source.c|stages/ingest/build/nodes/node_id_assigner.c' \
    "$(grep -n 'memory_resize(' $sources)"
only_in 'an error that nobody reads; say error_ignore() or pass NULL' none \
    "$(grep -nE 'struct error (ignored|unused)|\(void\)(rc|code|removed|ignored);' $sources)"
only_in 'a temporary name of its own making' 'common/files/file.c' "$(grep -nE '\.tmp"' $sources)"
only_in 'JSON that is printed' none "$(grep -nE 'printf\(.*"[^"]*\{?\\"[a-z_]+\\":' $sources)"
only_in 'a record of a dataset that a version may not have; see store/versions/merged_records.h' \
    'store/(records|versions)/[a-z_/]*\.c|stages/ingest/update/version_count.c' \
    "$(grep -nE '\b(edge_chunk|feature_chunk|node_labels|node_ids)_get\(|node_splits_get\([^;]*key_dataset' $sources)"
only_in 'a record of a partition that a version may not have; see store/versions/merged_parts.h, merged_links.h' \
    'store/(records|versions)/[a-z_/]*\.c' \
    "$(grep -nE '\b(node_permutation|assignment|node_splits|edge_splits)_get\(' $sources)"
exit $failed
