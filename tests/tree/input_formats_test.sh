#!/usr/bin/env bash
# An input format is one row and one file: each row of format_list.h has its reader, its section in the guide, a test and a
# fuzz target with a corpus, and no other source file knows a format by its name.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
list=stages/plan/settings/format_list.h
status=0
fail() { echo "$*"; status=1; }

formats=$(sed -n 's/^    ROW(\([a-z0-9_]*\), .*/\1/p' $list)
[ "$(wc -w <<<"$formats")" -ge 18 ] || fail "$list: found the rows '$formats'"
rows=$(grep -rhoE '^const struct input_format [a-z0-9_]+_format = ' stages/ingest | sed 's/.* \(.*\)_format = /\1/' | sort)
[ "$rows" = "$(sort <<<"$formats")" ] ||
    fail "stages/ingest defines input_format rows for '$(xargs <<<"$rows")', and $list lists '$(sort <<<"$formats" | xargs)'"

# The reference has a line for each format, which the program makes (reference_test.sh); the guide
# has a section for each.
for name in $formats; do
    grep -q "^| \`$name\` |" pipelines/guide/reference.md || fail "pipelines/guide/reference.md has no line | \`$name\` |"
    grep -qx "## $name" pipelines/guide/formats.md || fail "pipelines/guide/formats.md has no section ## $name"
    row=$(sed -n "/^    ROW($name, /,/^    ROW(\|^\/\*/{/^    ROW($name, /p;/^    ROW(/!p}" $list)
    grep -rqE "\b${name}_(format|reader_run)\b" tests/stages/ingest --include='*_test.c' ||
        grep -qsw -- "$name" tests/pipeline/*formats*_test.sh "tests/pipeline/${name}_test.sh" ||
        fail "$name: no test of tests/stages/ingest reads it, and no tests/pipeline/*formats*_test.sh or ${name}_test.sh"
    grep -q 'FORMAT_IS_GENERATED' <<<"$row" && continue # it reads no bytes
    targets=$(grep -lE "\b${name}_(format|reader_run)\b" tests/fuzz/fuzz_*.c)
    [ -n "$targets" ] || fail "$name: no tests/fuzz/fuzz_*.c reads this format"
    for target in $targets; do
        corpus=tests/fuzz/corpus/$(basename "${target#*fuzz_}" .c | sed 's/^fuzz_//')
        [ -n "$(ls "$corpus" 2>/dev/null)" ] || fail "$target: $corpus has no inputs"
    done
done

# Those that include the list are compiled again with each new row.
includers=$(grep -rl '"stages/plan/settings/format_list.h"' common store stages pipelines | sort | xargs)
[ "$includers" = 'pipelines/draft/input_facts.c stages/ingest/formats/shared/input_format.c stages/plan/settings/dataset_format.c' ] ||
    fail "$list is included by $includers"

# file, formats that it may name, why
exceptions='
common/formats/bytes/file_kind.c                npz matrix_market graphml ntriples  says which format reads a kind of file
stages/plan/settings/setting_table.c               folder metis                        the default of ingest.format; partition.method
stages/ingest/formats/shared/edge_shape.c        sif hgb openke npz metis            says what a file is that is no table of edges
stages/ingest/formats/folders/dgl_csv_meta.c      folder                              says which format has many graphs
stages/tables/edge_list_survey.c          matrix_market                       says what a file is that is no table of edges
pipelines/draft/table_draft.c                   edge_list                           writes pipeline files for tables
pipelines/run/command_infer.c                 folder                              writes pipeline files for folders
pipelines/store/command_list.c                  folder                              a key of its JSON
pipelines/export/command_export.c                graphbolt distdgl                   names of what it writes
pipelines/export/distdgl_folder.c         metis                               the partitioner, in DGL'"'"'s words
store/backends/artifact_manifest.c        folder                              no file, but a folder
'
found=$(python3 - $formats <<'PYTHON'
import pathlib, re, sys

formats = "|".join(sys.argv[1:])
mention = re.compile(rf'"({formats})"|format(?:: |=| is )({formats})\b|\b({formats})_(?:format|reader_run)\b|\bFORMAT_({formats.upper()})\b')
token = re.compile(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*', re.S)  # strings stay, comments go
for folder in ("common", "store", "stages", "pipelines"):
    for path in sorted(pathlib.Path(folder).rglob("*.[ch]")):
        if str(path) == "stages/plan/settings/format_list.h":
            continue
        code = path.read_text()
        if not mention.search(code):
            continue
        code = token.sub(lambda m: m.group(1) or " ", code)
        for name in sorted({next(filter(None, found)).lower() for found in mention.findall(code)}):
            if not path.stem.startswith(name + "_") and f"const struct input_format {name}_format = " not in code:
                print(path, name)
PYTHON
)
allowed=$(awk 'NF {for (i = 2; $i ~ /^[a-z_]+$/ && index(" '"$(xargs <<<"$formats")"' ", " " $i " "); i++) print $1, $i}' <<<"$exceptions" | sort)
while read -r file name; do
    [ -z "$file" ] || grep -qxF "$file $name" <<<"$allowed" || fail "$file names the format $name: ask for a trait of its row (dataset_format.h)"
done <<<"$found"
while read -r file name; do
    grep -qxF "$file $name" <<<"$found" || fail "$file no longer names $name: remove it from the exceptions of this test"
done <<<"$allowed"
exit $status
