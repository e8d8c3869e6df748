# Completion of graphmill for bash. It asks the program itself for commands and options: `graphmill
# help`, `graphmill help COMMAND`.
#
# It is installed as share/bash-completion/completions/graphmill, where bash-completion finds it;
# otherwise source this file.

_graphmill_words() { # of the first column of a help text: lines that begin with two spaces and $1
    sed -n "s/^  \($1[a-zA-Z0-9_.-]*\).*/\1/p"
}

_graphmill() {
    local command=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} \
        before=${COMP_WORDS[COMP_CWORD - 1]} chosen=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" help | _graphmill_words '[a-z]')" -- \
            "$word")
    elif [ "$before" = --set ]; then
        compopt -o nospace
        mapfile -t COMPREPLY < <(compgen -S = -W "$("$command" help run | sed -n '/^Settings/,$p' |
            _graphmill_words '[a-z]')" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" help "$chosen" 2>/dev/null |
            _graphmill_words '--')" -- "$word")
    elif [ "$chosen" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "glossary reference $("$command" help |
            _graphmill_words '[a-z]')" -- "$word")
    elif [ "$chosen" = replay ] && [ "$COMP_CWORD" -eq 3 ]; then
        mapfile -t COMPREPLY < <(compgen \
            -W 'ingest partition sample train-step aggregate checkpoint infer' -- "$word")
    else
        compopt -o default
    fi
}

complete -F _graphmill graphmill
