#!/usr/bin/env bash
# What `cmake --install` installs works by itself, and lines that are printed can be pasted into a shell.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cmake --install "$(dirname "$bin")" --prefix "$work/usr" >"$work/install" || fail "not installed: $(tail -3 "$work/install")"
for program in graphmill graphmill-{ingest,partition,sample,train-step,aggregate,checkpoint,infer}; do
    [ -x "$work/usr/bin/$program" ] || fail "$program is not installed"
done
for file in "$source_folder"/pipelines/*.yaml; do
    cmp -s "$file" "$work/usr/share/graphmill/pipelines/$(basename "$file")" || fail "$(basename "$file") is not installed"
done

# The quickstart of the installed tree, in another folder, where nothing else is.
mkdir "$work/a home"
cd "$work/a home"
"$work/usr/share/graphmill/pipelines/quickstart.sh" >"$work/answer" 2>"$work/progress" ||
    fail "the installed quickstart ends with $?: $(tail -3 "$work/progress")"
grep -q '^MATCH train-step/' "$work/answer" || fail "no unit was replayed: $(cat "$work/answer")"
grep -qx "    export PATH=$work/usr/bin:\$PATH" "$work/answer" || fail "how graphmill gets into PATH is not said"

# The printed line, pasted, from a folder with a space in its name, without and with the programs in PATH.
pasted() {
    bash -c "$(sed -n 's/^replay a unit *//p' "$work/answer")" >"$work/pasted" 2>&1 || fail "pasted: $(cat "$work/pasted")"
    grep -q '^MATCH train-step/' "$work/pasted" || fail "pasted: $(cat "$work/pasted")"
}
"$work/usr/bin/graphmill" run "$work/usr/share/graphmill/pipelines/quickstart.yaml" --directory "it's a run" \
    >"$work/answer" 2>"$work/progress" || fail "$(tail -3 "$work/progress")"
grep -q "^replay a unit *$work/usr/bin/graphmill replay 'it'" "$work/answer" || fail "$(grep replay "$work/answer")"
pasted
PATH=$work/usr/bin:$PATH
graphmill run "$work/usr/share/graphmill/pipelines/quickstart.yaml" --directory "it's a run" \
    >"$work/answer" 2>"$work/progress" || fail "$(tail -3 "$work/progress")"
grep -q "^replay a unit *graphmill replay 'it'" "$work/answer" || fail "$(grep replay "$work/answer")"
pasted
grep -q 'export PATH' <<<"$("$work/usr/share/graphmill/pipelines/quickstart.sh" 2>/dev/null)" && fail "PATH is right and still explained"

# A bench without programs says so instead of printing zeros.
status=0
GRAPHMILL_BIN=$work/none "$source_folder/tests/bench/accuracy" 1 >"$work/answer" 2>&1 || status=$?
[ $status -eq 66 ] && grep -q "no program $work/none/graphmill" "$work/answer" || fail "accuracy without programs: status $status: $(cat "$work/answer")"
