#!/usr/bin/env bash
# Writes the man pages of graphmill and of its stage programs from their help texts, which come from
# the tables of options and settings.
#
#   man_pages.sh BIN FOLDER       FOLDER/graphmill.1, graphmill-run.1, ..., graphmill-sample.1, ...
set -euo pipefail
[ $# -eq 2 ] || {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 64
}
bin=$1 folder=$2
version=$("$bin/graphmill" --version | cut -d' ' -f2)
mkdir -p "$folder"

escape() { sed -e 's/\\/\\e/g' -e "s/^\([.']\)/\\\\\&\1/" -e 's/-/\\-/g'; }

# Writes one page: name, one line about it, then the help text on stdin
page() {
    local name=$1
    {
        printf '.TH %s 1 "" "graphmill %s"\n.SH NAME\n%s \\- ' \
            "$(tr '[:lower:]' '[:upper:]' <<<"$name" | escape)" "$version" "$(escape <<<"$name")"
        escape <<<"$2"
        printf '.SH DESCRIPTION\n.nf\n'
        escape
        printf '.fi\n.SH SEE ALSO\n.BR graphmill (1)\n'
    } >"$folder/$name.1"
}

"$bin/graphmill" help | page graphmill 'train graph neural networks as a replayable batch pipeline'
"$bin/graphmill" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | while read -r command; do
    [ "$command" != help ] || continue
    text=$("$bin/graphmill" help "$command")
    about=$(sed -n '1s/.* - //p' <<<"$text")
    page "graphmill-$command" "${about:-graphmill $command}" <<<"$text"
done
for program in "$bin"/graphmill-*; do
    text=$("$program" --help)
    page "$(basename "$program")" "$(sed -n '1s/.* - //p' <<<"$text")" <<<"$text"
done
