#!/usr/bin/env bash
# report.html is complete, needs no other files, and agrees with the run's other outputs. Two runs
# next to each other.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
run one "$source_folder/pipelines/karate.yaml" --set partition.parts=3 --set name='one' \
    >"$work/one.json"
run two "$source_folder/pipelines/karate.yaml" --set partition.parts=3 --set name='two' \
    --set seed=7 >"$work/two.json"
[ -s one/report.html ] || fail "run wrote no report"
mv one/report.html first.html
[ "$("$bin/graphmill" report one)" = one/report.html ] || fail "the answer is not the path"
cmp first.html one/report.html || fail "the same run, another page"
mv one/report.html first.html
"$bin/graphmill" run "$source_folder/pipelines/karate.yaml" --directory one \
    --set partition.parts=3 --set name='one' >unchanged.txt 2>/dev/null
[ -s one/report.html ] || fail "a finished run without its page does not get it back"
grep -q '^report  *one/report.html$' unchanged.txt || fail "the summary does not name the page"
"$bin/graphmill" report one --output /dev/stdout >stdout.html
cmp one/report.html stdout.html || fail "another page on stdout"
"$bin/graphmill" report one two --output both.html >/dev/null
python3 - <<'PYTHON' || fail "see above"
import csv, html.parser, json, re

class Page(html.parser.HTMLParser):
    VOID = {"meta"}
    def __init__(self, path):
        super().__init__()
        self.open, self.cells, self.row, self.text, self.tags = [], [], None, "", {}
        text = open(path, encoding="utf-8").read()
        assert not re.search(r"(src|href)\s*=|https?://|@import|url\(", text), "the page asks for something from elsewhere"
        assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", text.lower()), "a number that is none is shown"
        self.feed(text)
        assert not self.open, self.open
    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.row = []
    def handle_startendtag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()
        if tag == "tr":
            self.cells.append(self.row)
    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.row.append(data)

one = json.load(open("one.json"))
page = Page("one/report.html")
assert one["weights_hash"] in page.text and one["run"] in page.text
scores = {row[0]: row for row in page.cells if row and row[0] in ("train", "valid", "test") and len(row) > 2}
heads = next(row for row in page.cells if row[:1] == ["split"])
for split, row in scores.items():
    told = dict(zip(heads, row))
    assert abs(float(told["accuracy"]) - one["metrics"][split]["accuracy"]) < 5.1e-5, (split, told)
# Scores by class are those of the predictions.
lines = list(csv.DictReader(open("one/outputs/predictions.csv")))
for c in sorted({l["label"] for l in lines if l["split"] == "test"}):
    of = [l for l in lines if l["split"] == "test" and l["label"] == c]
    hit = sum(l["prediction"] == c for l in of)
    row = next(r for r in page.cells if r[:1] == [c] and len(r) == 6)
    assert int(row[1]) == len(of) and abs(float(row[4]) - hit / len(of)) < 5.1e-5, (c, row, hit, len(of))
for stage in ("ingest", "partition", "sample", "train-step", "aggregate", "checkpoint", "infer"):
    assert any(r[:1] == [stage] for r in page.cells), stage
assert page.tags["svg"] >= 5, page.tags
for words in ("No warning in any worker", "graphmill verify", "Edges between parts", "Nodes by in-degree"):
    assert words in page.text.replace("/graphmill ", "graphmill ") or words in page.text, words

two = json.load(open("two.json"))
both = Page("both.html")
for run in (one, two):
    assert run["run"] in both.text and run["weights_hash"][:12] in both.text
assert ["seed", "3", "7"] in both.cells and ["name", "one", "two"] in both.cells, "the difference in settings is not told"
assert not any(row[:1] == ["partition.parts"] for row in both.cells), "a setting that is the same is told"
PYTHON
# An unfinished run has a page, too, and missing data are named.
rm -rf one/times
"$bin/graphmill" report one >/dev/null
mv one/store/logs one/store/elsewhere
"$bin/graphmill" report one >/dev/null
grep -q 'Left out: metrics by round' one/report.html || fail "what is missing is not told"
expect 64 'takes the folders of 1 to 8 runs' "$bin/graphmill" report
expect 65 'no-such' "$bin/graphmill" report no-such
expect 64 'FOLDER:ID' "$bin/graphmill" report one two --run x
expect 65 'no-such-run' "$bin/graphmill" report one:no-such-run
