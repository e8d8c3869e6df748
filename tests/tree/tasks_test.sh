#!/usr/bin/env bash
# A task is known in its row alone: no code outside of its own file and of task_list.h names it or its number. Other code asks for a
# trait (task_has() in common/nn/tasks/task.h), and a stage that works otherwise for each kind of example has one table with
# a row for each of them. tests/tree/size.txt limits how often traits are asked for (`task_questions`).
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
status=0
list=common/nn/tasks/task_list.h
fail() { echo "$*"; status=1; }
# found PATTERN: FILE:LINE of the code that matches, comments left out
found() { grep -rnE "$1" --include='*.[ch]' common store stages pipelines | grep -vE '^[^:]*:[0-9]+: *(/?\*|//)'; }

# file, pattern that it may match, why
exceptions='
stages/ingest/generate/generator.c        TASK_SINGLE_LABEL   the labels of a generated graph, and not a question
pipelines/draft/input_draft.c                   "link_prediction"   writes pipeline files
pipelines/draft/table_draft.c                   "link_prediction"   writes pipeline files
'
tasks=$(sed -n '/^#define TASK_LIST(ROW)/,/[^\\]$/p' $list | sed -n 's/^ *ROW(\([A-Z_]*\), \([a-z_]*\)[,)].*/\1 \2/p')
[ "$(wc -l <<<"$tasks")" -ge 8 ] || fail "$list: found the rows '$tasks'"
names=''
while read -r number name; do
    names+=$(found "\\b$number\\b|\"$name\"" | grep -vE "^($list|common/nn/tasks/$name\.c):" | cut -d: -f1 |
        sed "s/$/ $number $name/")$'\n'
done <<<"$tasks"
while read -r file number name; do
    [ -z "$file" ] || grep -qE "^$file +($number|\"$name\") " <<<"$exceptions" ||
        fail "$file names the task $name: ask for a trait, with task_has() of common/nn/tasks/task.h"
done <<<"$names"
while read -r file pattern _; do
    [ -z "$file" ] || grep -qF -- "$pattern" "$file" || fail "$file no longer names $pattern: remove it from the exceptions of this test"
done <<<"$exceptions"

# The tables of what depends on the kind of example: all rows stand in each, where NULL is not the answer.
tables='common/nn/tasks/task.c pipelines/export/export_step.c stages/infer/outputs/output_writer.c stages/train-step/train_step.c'
kinds=$(grep -oE 'EXAMPLE_[A-Z]+' common/nn/tasks/task.h | sort -u | grep -v EXAMPLE_COUNT)
[ "$(wc -l <<<"$kinds")" -ge 4 ] || fail "common/nn/tasks/task.h: found the examples '$kinds'"
for table in $tables; do
    for kind in $kinds; do
        grep -qE "\[$kind\] = " "$table" || fail "$table has no row for $kind"
    done
done
others=$(found '\bEXAMPLE_[A-Z]+\b|\btask_example_of\(|\b(task|tally->task)->example\b' | grep -vF "task_examples[" | cut -d: -f1 | sort -u |
    grep -vxF -e common/nn/tasks/task.h -e stages/plan/model/pipeline_settings_check.c -f <(xargs -n1 <<<"$tables"))
while read -r file; do
    [ -z "$file" ] || grep -q '^const struct task task_' "$file" || fail "$file asks what the examples are: ask for a trait, or add a table of heads to this test"
done <<<"$others"
exit $status
