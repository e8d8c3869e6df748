#!/usr/bin/env bash
# graphmill exporter: the metrics of a running and of a finished run for Prometheus, by HTTP and as
# a file; and the dashboard uses only metrics that exist.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
"$bin/graphmill" run "$source_folder/pipelines/karate.yaml" --directory busy --set epochs=2000 \
    --quiet >busy.json 2>busy.log &
run=$!
started+=($run)
for _ in $(seq 200); do
    [ -e busy/metrics.jsonl ] && grep -q snapshot busy/metrics.jsonl && break
    sleep 0.1
done
"$bin/graphmill" exporter busy --listen 127.0.0.1:0 >address 2>exporter.log &
exporter=$!
started+=($exporter)
for _ in $(seq 100); do [ -s address ] && break || sleep 0.1; done
python3 - "$(cat address)" "$source_folder/k8s/grafana/graphmill.json" <<'PYTHON' || fail "see above"
import json, re, sys, time, urllib.error, urllib.request
url, dashboard = sys.argv[1:]
LINE = re.compile(r'^([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\} (\S+)$')

def scrape():
    with urllib.request.urlopen(url) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), answer.headers
        text = answer.read().decode()
    values, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in types, name
            types[name] = kind
        elif not line.startswith("# HELP "):
            name, labels, value = LINE.match(line).groups()
            assert name in types, line
            assert (types[name] == "counter") == name.endswith("_total"), line
            key = name, labels
            assert key not in values, line
            values[key] = float(value)
    return values

for attempt in range(100):
    first = scrape()
    if any(name == "graphmill_worker_busy_ratio" for name, _ in first):
        break
    time.sleep(0.1)
time.sleep(1)
then = scrape()
def total(values, name, label):
    return sum(v for (n, l), v in values.items() if n == name and label in l)
assert total(then, "graphmill_units_done_total", 'stage="train-step"') > total(first, "graphmill_units_done_total", 'stage="train-step"') > 0
assert total(then, "graphmill_queue_up", "") == 1 and total(then, "graphmill_rounds", "") > total(then, "graphmill_rounds_done", "") > 0
assert any(n == "graphmill_run_state" and 'state="training"' in l for n, l in then), then
assert {re.search('stage="([^"]*)"', l).group(1) for n, l in then if n == "graphmill_units_waiting"} >= {"sample", "train-step", "aggregate", "checkpoint", "infer"}

board = json.load(open(dashboard))
known = {n for n, _ in then}
ids = [p["id"] for p in board["panels"]]
assert len(ids) == len(set(ids)) and board["schemaVersion"] >= 36 and board["uid"] and board["title"]
taken = set()
for panel in board["panels"]:
    at = panel["gridPos"]
    cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
    assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
    taken |= cells
    for target in panel["targets"]:
        names = set(re.findall(r"graphmill_[a-z_]+", target["expr"]))
        assert names and names <= known, (panel["title"], names - known)
assert set(re.findall(r"graphmill_[a-z_]+", json.dumps(board["templating"]))) <= known

for request, status in ((urllib.request.Request(url[:-1]), 404), (urllib.request.Request(url, data=b"x"), 405)):
    try:
        urllib.request.urlopen(request)
        sys.exit(f"{request.full_url} was answered")
    except urllib.error.HTTPError as error:
        assert error.code == status, (error.code, status)
PYTHON
expect 75 'listen: 127.0.0.1 port [0-9]*: Address already in use' "$bin/graphmill" exporter busy \
    --listen "$(sed 's|http://\(.*\)/metrics|\1|' address)"
kill $exporter
wait $exporter || fail "the exporter ends with $? when it is asked to stop"
kill $run
wait $run || true

# A finished run without its Redis: the metrics of storage. A name with a quote stays one label.
run done "$source_folder/pipelines/karate.yaml" >/dev/null
"$bin/graphmill" exporter done --output metrics.prom --every 1 # ends by itself
grep -q '^graphmill_finished{run="karate-[0-9a-f]*"} 1$' metrics.prom ||
    fail "not finished: $(cat metrics.prom)"
grep -q '^graphmill_queue_up{.*} 0$' metrics.prom || fail "a queue that is gone is up"
! grep -q graphmill_units metrics.prom || fail "units without a queue"
expect 64 'ADDRESS:PORT' "$bin/graphmill" exporter done --listen 9464
expect 64 'ADDRESS:PORT' "$bin/graphmill" exporter done --listen 127.0.0.1:99999
expect 78 'expected an address' "$bin/graphmill" exporter done --listen localhost:0
expect 65 'no such folder' "$bin/graphmill" exporter nowhere --output x
