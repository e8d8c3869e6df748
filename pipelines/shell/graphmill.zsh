#compdef graphmill
# Completion of graphmill for zsh. It asks the program itself what there is: `graphmill help`, `graphmill help COMMAND`.
#
# Installed as share/zsh/site-functions/_graphmill.

_graphmill_words() { # of the first column of a help text: lines that begin with two spaces and $1
    sed -n "s/^  \($1[a-zA-Z0-9_.-]*\).*/\1/p"
}

_graphmill() {
    local program=$words[1] chosen=$words[2]
    [[ $chosen != help ]] || ((CURRENT != 3)) || compadd glossary reference
    if ((CURRENT == 2)) || { ((CURRENT == 3)) && [[ $chosen == help ]]; }; then
        compadd -- ${(f)"$($program help | _graphmill_words '[a-z]')"}
    elif [[ $words[CURRENT-1] == --set ]]; then
        compadd -S = -- ${(f)"$($program help run | sed -n '/^Settings/,$p' | _graphmill_words '[a-z]')"}
    elif [[ $PREFIX == -* ]]; then
        compadd -- ${(f)"$($program help $chosen 2>/dev/null | _graphmill_words '--')"}
    elif [[ $chosen == replay ]] && ((CURRENT == 4)); then
        compadd ingest partition sample train-step aggregate checkpoint infer
    else
        _files
    fi
}

_graphmill "$@"
