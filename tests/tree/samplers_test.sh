#!/usr/bin/env bash
# A sampler is known in its row alone: no code outside of its own file and of sampler_list.h names it, its number or one of its
# parameters. What others want to know of it is a field of struct sampler. (`neighbor` alone is a word of its own, so only its
# number is looked for.)
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
status=0
list=stages/sampling/sampler_list.h

# named WHAT PATTERN ALLOWED: lines of code outside of the files ALLOWED that match
named() {
    local found
    found=$(git grep -nE "$2" -- 'common/*.[ch]' 'store/*.[ch]' 'stages/*.[ch]' 'pipelines/*.[ch]' 2>/dev/null ||
        grep -rnE "$2" --include='*.[ch]' common store stages pipelines)
    found=$(grep -vE "^($list|$3):" <<<"$found" | grep -v '^$')
    [ -z "$found" ] || { echo "$1 is named outside of its row: $found"; status=1; }
}

rows=$(sed -n '/^#define SAMPLER_LIST(ROW)/,/[^\\]$/p' $list | sed -n 's/^ *ROW(\([A-Z_]*\), \([a-z_]*\),.*/\1 \2/p')
[ "$(wc -l <<<"$rows")" -ge 11 ] || { echo "$list: found the rows '$rows'"; status=1; }
while read -r number name; do
    named "$number" "\\b$number\\b" "stages/sampling/[a-z]*/${name}_sampler.c"
    [ "$name" = neighbor ] || named "the sampler $name" "\\b$name\\b" "stages/sampling/[a-z]*/${name}_sampler.c"
done <<<"$rows"

options=$(sed -n '/^#define SAMPLER_OPTION_LIST/,/[^\\]$/p' $list | sed -n 's/^ *[A-Z]*(\([a-z_]*\), "[a-z_,]*",.*/\1/p')
[ "$(wc -l <<<"$options")" -ge 7 ] || { echo "$list: found the parameters '$options'"; status=1; }
for name in $options; do
    named "the parameter $name" "\\bsample\\.$name\\b|\\boptions?(\\.|->)$name\\b" 'stages/sampling/[a-z_/]*\.[ch]'
done
exit $status
