#!/usr/bin/env bash
# The display on a terminal: one panel from the first moment of ingest to the last of inference, cut
# to the width, with rates and time left; nothing of it scrolls away or stays behind, also when a
# warning is printed in between. Elsewhere there are plain lines and no colour.
source "$(dirname "$0")/library.sh"
not_sanitized 'the panel is drawn by the clock'

pipeline=$source_folder/pipelines/quickstart.yaml
# A worker that dies in training makes the driver warn while the panel is shown.
PYTHONDONTWRITEBYTECODE=1 python3 - "$source_folder/tests/support" "$bin/graphmill" "$pipeline" \
    "$work" <<'PYTHON' || fail "the panel"
import os, re, signal, subprocess, sys
sys.path.insert(0, sys.argv[1])
import screen

program, pipeline, work = sys.argv[2:]
stages = ("sample", "train-step", "aggregate", "checkpoint", "infer")
panel_line = re.compile(r"(sample|train-step|aggregate|checkpoint|infer) +[0-9]+ +[0-9.]+/s|(training|inference) +[0-9.]+ s .*%")


def watch(columns, rows, **environment):
    states, killed = [], []

    def see(seen):
        states.append(list(seen.lines))
        assert not any(panel_line.match(line) for line in seen.above), seen.above[-3:]
        for stage in stages:
            assert sum(bool(re.match(rf"{stage} +[0-9]+ +[0-9.]+/s", line)) for line in seen.lines) <= 1, seen.lines
        if not killed and any(re.match(r"training .* [1-9][0-9]? %", line) for line in seen.lines):
            for pid in subprocess.run(["pgrep", "-f", f"graphmill-sample.*{work}/{columns}/"], capture_output=True, text=True).stdout.split():
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)

    command = [program, "run", pipeline, "--directory", f"{work}/{columns}", "--set", "epochs=30", "--workers", "1"]
    seen, text, status = screen.run(columns, rows, command, see, **environment)
    assert status == 0, "\n".join(seen.all())
    assert killed and any("starting it again" in line for line in "".join(seen.all()).splitlines()), seen.all()
    assert not any(panel_line.match(line) for line in seen.all()), [line for line in seen.all() if panel_line.match(line)]
    return states, text


def lines(states, pattern):
    return [line for state in states for line in state if re.search(pattern, line)]


for columns in (60, 40):
    states, text = watch(columns, 24, LC_ALL="C", NO_COLOR="1")
    assert "\x1b[1m" not in text and "\x1b[3" not in text, "colour in spite of NO_COLOR"
    assert any(re.match(r"ingest +0\.[0-9] s  at work", line) for line in states[0] + states[1] + states[2]), states[:3]
    assert lines(states, r"^partition +[0-9.]+ s  at work")
    left = lines(states, r"^training .* [0-9]+ %  [0-9]+ s left")
    assert left and all(0 < int(re.search(r"([0-9]+) s left", line)[1]) < 300 for line in left), left[:3]
    assert lines(states, r"^train-step +[0-9]+ +[0-9]*[1-9][0-9.]*/s") and lines(states, r"^loss [0-9.]+  valid 0\.[0-9]+  best 0\.")
    assert lines(states, r"^round [1-9][0-9]* of 180, epoch [1-9][0-9]* of 30")
    late = lines(states, r"^inference ")
    assert not any(" 0 s left" in line for line in late), late
    assert (columns < 60) != bool(lines(states, r"^training .* #+\.* ")), "the bar"
# Few rows: the panel is shorter than they are. Colour, and a bar of blocks, if the terminal
# supports them.
states, text = watch(59, 5, LC_ALL="C.UTF-8", NO_COLOR="", TERM="xterm")
assert "\x1b[1m" in text and "\u2588" in text
PYTHON

# Into a file: lines, without anything that is meant for a screen.
"$bin/graphmill" run "$pipeline" --directory "$work/plain" --set epochs=2 >"$work/stdout" \
    2>"$work/stderr"
grep -q $'\033' "$work/stdout" "$work/stderr" && fail "escape sequences in a file"
grep -q $'\r' "$work/stderr" && fail "carriage returns in a file"
exit 0
