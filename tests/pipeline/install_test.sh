#!/usr/bin/env bash
# The files that `cmake --install` installs work by themselves, and printed lines can be pasted into
# a shell.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cmake --install "$(dirname "$bin")" --prefix "$work/usr" >"$work/install" ||
    fail "not installed: $(tail -3 "$work/install")"
for program in graphmill \
    graphmill-{ingest,partition,sample,train-step,aggregate,checkpoint,infer}; do
    [ -x "$work/usr/bin/$program" ] || fail "$program is not installed"
done
for file in "$source_folder"/pipelines/*.yaml; do
    cmp -s "$file" "$work/usr/share/graphmill/pipelines/$(basename "$file")" ||
        fail "$(basename "$file") is not installed"
done
diff -r "$source_folder/pipelines/guide" "$work/usr/share/graphmill/pipelines/guide" ||
    fail "the guide is not installed whole"

# Man pages and completion agree with the tables.
man=$work/usr/share/man/man1
for page in graphmill graphmill-run graphmill-replay graphmill-gc graphmill-train-step; do
    [ -s "$man/$page.1" ] || fail "no man page of $page"
done
grep -q '^  \\-\\-dry\\-run .*change nothing' "$man/graphmill-gc.1" ||
    fail "the page of gc lacks an option: $(grep dry "$man/graphmill-gc.1")"
grep -q 'train\\-step\.hidden' "$man/graphmill-run.1" || fail "the page of run lacks the settings"
complete_word() { # words of a command line, the last to be completed
    PATH=$work/usr/bin:$PATH bash -c '
        source "$1"; shift
        compopt() { :; }
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _graphmill; printf "%s\n" "${COMPREPLY[@]}"' - \
            "$work/usr/share/bash-completion/completions/graphmill" "$@"
}
complete_in_zsh() \
    { # the same in zsh, which has its own file; compadd is given what is there, and matches it itself
    PATH=$work/usr/bin:$PATH zsh -f -c '
        compadd() { local suffix= word
            while [[ $1 == -* && $1 != -- ]]; do [[ $1 != -S ]] || { suffix=$2; shift; }; shift; done
            [[ $1 != -- ]] || shift
            for word in "$@"; do [[ $word != $PREFIX* ]] || print -r -- $word$suffix; done }
        _files() { : }
        file=$1; shift
        words=("$@") CURRENT=$# PREFIX=${@[-1]}
        source $file' - "$work/usr/share/zsh/site-functions/_graphmill" "$@"
}
for shell in complete_word complete_in_zsh; do
    [ $shell = complete_word ] || [ -n "$(command -v zsh)" ] || continue
    [ "$($shell graphmill rep | sort | xargs)" = 'replay report' ] ||
        fail "$shell rep: $($shell graphmill rep 2>&1)"
    [ "$($shell graphmill help glo)" = glossary ] ||
        fail "$shell help glo: $($shell graphmill help glo 2>&1)"
    [ "$($shell graphmill gc --k)" = --keep ] ||
        fail "$shell gc --k: $($shell graphmill gc --k 2>&1)"
    [ "$($shell graphmill run x.yaml --set train-step.hid)" = train-step.hidden= ] ||
        fail "$shell --set: $($shell graphmill run x.yaml --set train-step.hid 2>&1)"
    [ "$($shell graphmill replay runs/x agg)" = aggregate ] ||
        fail "$shell replay: $($shell graphmill replay runs/x agg 2>&1)"
done

# A Debian package, with its dependencies.
if [ -n "$(command -v dpkg-shlibdeps)" ] && ! sanitized; then
    (cd "$work" && cpack -G DEB --config "$(dirname "$bin")/CPackConfig.cmake" -B "$work/package" \
        >"$work/cpack.txt" 2>&1) ||
        fail "no package: $(tail -3 "$work/cpack.txt")"
    package=$(ls "$work"/package/*.deb)
    dpkg-deb -c "$package" >"$work/contents"
    for file in ./usr/bin/graphmill ./usr/bin/graphmill-train-step \
        ./usr/share/man/man1/graphmill-run.1 ./usr/share/graphmill/pipelines/quickstart.yaml; do
        grep -q " $file\$" "$work/contents" || fail "the package lacks $file"
    done
    depends=$(dpkg-deb -f "$package" Depends)
    for needed in redis-server librocksdb libopenblas; do
        [[ $depends == *"$needed"* ]] || fail "the package does not ask for $needed: $depends"
    done
fi

# The quickstart of the installed tree, in an empty folder elsewhere.
mkdir "$work/a home"
cd "$work/a home"
"$work/usr/share/graphmill/pipelines/quickstart.sh" >"$work/answer" 2>"$work/progress" ||
    fail "the installed quickstart ends with $?: $(tail -3 "$work/progress")"
grep -q '^MATCH train-step/' "$work/answer" || fail "no unit was replayed: $(cat "$work/answer")"
grep -qx "    export PATH=$work/usr/bin:\$PATH" "$work/answer" ||
    fail "how graphmill gets into PATH is not said"

# The printed line, pasted, from a folder with a space in its name, without and with the programs in
# PATH.
pasted() {
    bash -c "$(sed -n 's/^replay a unit *//p' "$work/answer")" >"$work/pasted" 2>&1 ||
        fail "pasted: $(cat "$work/pasted")"
    grep -q '^MATCH train-step/' "$work/pasted" || fail "pasted: $(cat "$work/pasted")"
}
"$work/usr/bin/graphmill" run "$work/usr/share/graphmill/pipelines/quickstart.yaml" \
    --directory "it's a run" \
    >"$work/answer" 2>"$work/progress" || fail "$(tail -3 "$work/progress")"
grep -q "^replay a unit *$work/usr/bin/graphmill replay 'it'" "$work/answer" ||
    fail "$(grep replay "$work/answer")"
pasted
PATH=$work/usr/bin:$PATH
graphmill run "$work/usr/share/graphmill/pipelines/quickstart.yaml" --directory "it's a run" \
    >"$work/answer" 2>"$work/progress" || fail "$(tail -3 "$work/progress")"
grep -q "^replay a unit *graphmill replay 'it'" "$work/answer" ||
    fail "$(grep replay "$work/answer")"
pasted
grep -q 'export PATH' <<<"$("$work/usr/share/graphmill/pipelines/quickstart.sh" 2>/dev/null)" &&
    fail "PATH is right and still explained"

# A bench without programs says so instead of printing zeros.
status=0
GRAPHMILL_BIN=$work/none "$source_folder/tests/bench/accuracy" 1 >"$work/answer" 2>&1 || status=$?
[ $status -eq 66 ] && grep -q "no program $work/none/graphmill" "$work/answer" ||
    fail "accuracy without programs: status $status: $(cat "$work/answer")"
