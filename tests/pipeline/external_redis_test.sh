#!/usr/bin/env bash
# Like on a cluster: a Redis with a password, `graphmill start`, and the stage programs started one
# by one in any order, one killed and replaced by another. The weights are those of a local run.
# Nothing here depends on speed: the state that a step examines cannot change before it has done so.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
pipeline=$source_folder/pipelines/karate.yaml
settings=(--set epochs=40)

# Another program may have the port; then another one is tried.
echo of-the-queue >"$work/password"
redis=
for attempt in 1 2 3 4 5 6 7 8 9 10; do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    : >"$work/redis.txt"
    redis-server --bind 127.0.0.1 --port $port --requirepass of-the-queue --dir "$work" --save '' \
        >"$work/redis.txt" &
    redis=$!
    until grep -q 'Ready to accept' "$work/redis.txt" ||
        ! kill -0 $redis 2>/dev/null; do sleep 0.05; done
    kill -0 $redis 2>/dev/null && break
    redis=
done
[ -n "$redis" ] || fail "no port for Redis: $(tail -3 "$work/redis.txt")"
started+=("$redis")
store=dir:$work/shared/store
lease_ms=1000
queue=(--redis "redis://127.0.0.1:$port" --redis-password-file "$work/password")

peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)

# Wrong ways to reach the queue fail with the reason.
start=("$bin/graphmill" start "$pipeline" --directory "$work/shared" "${settings[@]}" --quiet)
expect 78 'NOAUTH' "${start[@]}" --redis "redis://127.0.0.1:$port"
echo another >"$work/wrong"
expect 78 'WRONGPASS' "${start[@]}" --redis "redis://127.0.0.1:$port" \
    --redis-password-file "$work/wrong"
expect 65 'nowhere' "${start[@]}" --redis "redis://127.0.0.1:$port" \
    --redis-password-file "$work/nowhere"
expect 75 'Connection refused' "${start[@]}" --redis redis://127.0.0.1:1
expect 78 'mem://' "${start[@]}" --redis mem://127.0.0.1:1

# Workers first: they wait for the run. Without checkpoint there is no snapshot, so training cannot
# end meanwhile.
for stage in infer aggregate train-step sample; do worker $stage $stage-a; done
"${start[@]}" "${queue[@]}" >"$work/answer" || fail "start does not work"
until [ -n "$(find "$work/shared/store" -path '*/weights/0000000002*' 2>/dev/null)" ]; do
    kill -0 "${pid_of[train-step-a]}" 2>/dev/null ||
        fail "train-step-a ended: $(tail -3 "$work/train-step-a.log")"
    sleep 0.02
done
kill -KILL "${pid_of[train-step-a]}"
wait "${pid_of[train-step-a]}" 2>/dev/null || true
"$bin/graphmill" status "$work/shared" "${queue[@]}" --json >"$work/status" || fail "no status"
[ "$(json state <"$work/status")" = training ] ||
    fail "the state is not training: $(cat "$work/status")"
worker train-step train-step-b
worker checkpoint checkpoint-a
for name in infer-a checkpoint-a aggregate-a sample-a train-step-b; do join $name; done
state=$("$bin/graphmill" status "$work/shared" "${queue[@]}" --json | json state)
# The keys of the run in Redis expire with it: each key has an expiry, and until then status sees
# it.
ask() { redis-cli -p $port --no-auth-warning -a of-the-queue "$@"; }
ask --scan >"$work/keys"
grep -q ':life$' "$work/keys" || fail "the queue is gone at once: $(cat "$work/keys")"
while read -r key; do
    left=$(ask pttl "$key")
    [ "$left" -gt 0 ] && [ "$left" -le 600000 ] ||
        fail "$key of the finished run stays: it has $left ms"
done <"$work/keys"
[ "$state" = finished ] || fail "the run is not finished but $state"
found=$(run shared "$pipeline" "${settings[@]}" | json weights_hash)
[ "$found" = "$peace" ] || fail "by hand: weights $found, locally $peace"
[ -z "$(find "$work" -mindepth 1 -maxdepth 1 -name 'graphmill-*')" ] ||
    fail "left in the scratch folder: $(ls "$work")"

# A server that is too old is reported before any work: a listener that answers like Redis 6.0.
python3 -c 'import socketserver, sys
class Old(socketserver.StreamRequestHandler):
    def handle(self):
        while header := self.rfile.readline():
            words = [self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2] for _ in range(int(header[1:]))]
            text = b"redis_version:6.0.16\r\n"
            self.wfile.write(b"$%d\r\n%s\r\n" % (len(text), text) if words[0] == b"INFO" else b"+OK\r\n")
server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Old)
print(server.server_address[1], flush=True)
server.serve_forever()' >"$work/old" &
started+=($!)
for _ in $(seq 100); do [ -s "$work/old" ] && break || sleep 0.05; done
expect 78 'is version 6.0.16: expected 6.2 or a newer one, or Valkey' \
    "$bin/graphmill" start "$pipeline" --directory "$work/old-redis" \
    --redis "redis://127.0.0.1:$(cat "$work/old")"
