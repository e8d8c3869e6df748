#!/usr/bin/env bash
# Tables that grow by one file and one row: each row has its source file, its test and its line of documentation, and there
# is no such file without a row.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
status=0
fail() { echo "$*"; status=1; }

# rows HEADER LIST: the names in ROW(NUMBER, name, ...) of a list
rows() { sed -n "/^#define $2(ROW)/,/[^\\\\]\$/p" "$1" | sed -n 's/^ *ROW([A-Z0-9_]*, \([a-z0-9_]*\)[,)].*/\1/p'; }
# row_has NAME FILE...: each of the files is there
row_has() {
    local name=$1 file
    shift
    for file in "$@"; do [ -f "$file" ] || fail "$name: there is no $file"; done
}

tasks=$(rows common/nn/tasks/task_list.h TASK_LIST)
[ "$(wc -w <<<"$tasks")" -ge 2 ] || fail "common/nn/tasks/task_list.h: found the rows '$tasks'"
for name in $tasks; do
    row_has "task $name" "common/nn/tasks/$name.c" "tests/common/nn/tasks/${name}_test.c"
    grep -q "^| \`$name\` |" pipelines/README.md || fail "pipelines/README.md: no line | \`$name\` | of the task"
done
[ "$(grep -l '^const struct task task_' common/nn/tasks/*.c | xargs -n1 basename -s .c | sort | xargs)" = "$(sort <<<"$tasks" | xargs)" ] ||
    fail "common/nn/tasks: another task than the rows of task_list.h"
for name in $(rows common/nn/tasks/task_list.h METRIC_LIST); do
    grep -q "^| .*\`$name\`" pipelines/README.md || fail "pipelines/README.md: no task has the metric $name"
done
losses=$(rows common/nn/tasks/task_list.h LOSS_LIST)
[ "$(wc -w <<<"$losses")" -ge 5 ] || fail "common/nn/tasks/task_list.h: found the losses '$losses'"
for name in $losses; do
    grep -q "^| [^|]*| [^|]*| [^|]*\`$name\`[^|]*|" pipelines/README.md || fail "pipelines/README.md: no task has the loss $name"
done

decoders=$(rows common/nn/links/link_lists.h DECODER_LIST)
[ "$(wc -w <<<"$decoders")" -ge 5 ] || fail "common/nn/links/link_lists.h: found the rows '$decoders'"
for name in $decoders; do
    row_has "decoder $name" "common/nn/links/${name}_decoder.c"
    grep -q "DECODER_[A-Z]*, $name}" tests/common/nn/links/decoder_test.c || fail "decoder_test.c: no trial of $name"
done
[ "$(ls common/nn/links/*_decoder.c | xargs -n1 basename -s _decoder.c | sort | xargs)" = "$(sort <<<"$decoders" | xargs)" ] ||
    fail "common/nn/links: another decoder than the rows of link_lists.h"
for name in $decoders $(rows common/nn/links/link_lists.h LINK_LOSS_LIST) $(rows stages/sampling/negative_list.h NEGATIVE_LIST) \
    $(rows common/nn/links/link_lists.h CORRUPT_LIST); do
    grep -q "^| \`$name\` |" pipelines/README.md || fail "pipelines/README.md: no line | \`$name\` | of link prediction"
done

samplers=$(rows stages/sampling/sampler_list.h SAMPLER_LIST)
[ "$(wc -w <<<"$samplers")" -ge 1 ] || fail "stages/sampling/sampler_list.h: found the rows '$samplers'"
for name in $samplers; do
    row_has "sampler $name" "stages/sampling/${name}_sampler.c" "tests/stages/sampling/${name}_sampler_test.c"
    grep -q "^| \`$name\` |" pipelines/README.md || fail "pipelines/README.md: no line | \`$name\` | of the sampler"
done

partitioners=$(rows stages/plan/partitioner_list.h PARTITIONER_LIST)
[ "$(wc -w <<<"$partitioners")" -ge 3 ] || fail "stages/plan/partitioner_list.h: found the rows '$partitioners'"
for name in $partitioners; do
    row_has "partitioner $name" "stages/partition/methods/${name}_partitioner.c"
    grep -q "^| \`$name\` |" pipelines/README.md || fail "pipelines/README.md: no line | \`$name\` | of the partitioner"
done
[ "$(ls stages/partition/methods/*_partitioner.c | xargs -n1 basename -s _partitioner.c | sort | xargs)" = "$(sort <<<"$partitioners" | xargs)" ] ||
    fail "stages/partition/methods: another partitioner than the rows of partitioner_list.h"

layers=$(rows common/nn/layers/layer_list.h LAYER_LIST)
[ "$(wc -w <<<"$layers")" -ge 4 ] || fail "common/nn/layers/layer_list.h: found the rows '$layers'"
for name in $layers; do
    row_has "layer $name" "common/nn/layers/${name}_layer.c"
    grep -q "^| \`$name\` |" pipelines/README.md || fail "pipelines/README.md: no line | \`$name\` | of the kind of layer"
done
[ "$(ls common/nn/layers/*_layer.c | xargs -n1 basename -s _layer.c | grep -v '^sparse$' | sort | xargs)" = "$(sort <<<"$layers" | xargs)" ] ||
    fail "common/nn/layers: another kind than the rows of layer_list.h"
exit $status
