#!/usr/bin/env bash
# Tests pipelines/compose.yaml offline: its Redis is reachable from this machine alone, is the one
# of the Kubernetes manifests, and a server with its arguments runs a pipeline.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
python3 -c 'import yaml' 2>/dev/null || { echo "skipped: no python3-yaml"; exit 77; }
cd "$work"
python3 - "$source_folder" <<'PYTHON' || fail "see above"
import pathlib, re, sys, yaml
source = pathlib.Path(sys.argv[1])
compose = yaml.safe_load((source / "pipelines/compose.yaml").read_text())
assert set(compose) == {"name", "services"} and set(compose["services"]) == {"redis"}, compose
redis = compose["services"]["redis"]
assert f"image: {redis['image']}\n" in (source / "k8s/base/lasting/redis.yaml").read_text(), redis["image"]
assert re.search(r":(?!latest$)[\w.-]+$", redis["image"]), redis["image"]
assert all(re.fullmatch(r"127\.0\.0\.1:\$\{\w+:-6379\}:6379", port) for port in redis["ports"]), redis["ports"]
assert redis["read_only"] and redis["cap_drop"] == ["ALL"] and redis["user"] != "0", redis
assert redis["command"][0] == "valkey-server", redis["command"]
open("arguments", "w").write("".join(word + "\0" for word in redis["command"][1:]))
PYTHON
mapfile -d '' arguments <arguments
redis-server "${arguments[@]}" --port 0 --unixsocket "$work/redis.sock" --dir "$work" >redis.txt &
started+=($!)
for _ in $(seq 200); do [ -S redis.sock ] && break || sleep 0.05; done
pipeline=$source_folder/pipelines/karate.yaml
expected=$(run private "$pipeline" | json weights_hash)
found=$(run compose "$pipeline" --redis "unix:$work/redis.sock" | json weights_hash)
[ "$found" = "$expected" ] || fail "weights: expected $expected, found $found"
[ ! -e dump.rdb ] && [ ! -e appendonlydir ] || fail "the server keeps something on disk"
