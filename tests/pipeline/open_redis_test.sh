#!/usr/bin/env bash
# A Redis on all addresses without a password gives a warning, and one on 127.0.0.1 gives none; a
# password file that everybody may read gives one.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo 'skipped: no redis-server'; exit 77; }
pipeline=$source_folder/pipelines/quickstart.yaml
serve() { # options of the server; the port in $port
    local attempt
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        : >"$work/redis.txt"
        redis-server --port $port --dir "$work" --save '' "$@" >"$work/redis.txt" &
        started+=($!)
        until grep -q 'Ready to accept' "$work/redis.txt" ||
            ! kill -0 $! 2>/dev/null; do sleep 0.05; done
        kill -0 $! 2>/dev/null && return
    done
    fail "no port for Redis: $(tail -3 "$work/redis.txt")"
}
train() { run "r$RANDOM" "$pipeline" --set epochs=1 --redis "redis://127.0.0.1:$port" "$@" \
    >/dev/null 2>"$work/stderr" || fail "$(tail -2 "$work/stderr")"; }
serve --bind 0.0.0.0
train
grep -q "needs no password and listens on '0.0.0.0'" "$work/stderr" ||
    fail "no warning: $(cat "$work/stderr")"
serve --bind 127.0.0.1
train
! grep -q 'password' "$work/stderr" || fail "a warning of a closed server: $(cat "$work/stderr")"
echo secret >"$work/password"
serve --bind 0.0.0.0 --requirepass secret
for mode in 644 600; do
    chmod $mode "$work/password"
    train --redis-password-file "$work/password"
    found=$(grep -c 'may be read by every user' "$work/stderr" || true)
    [ "$found" = $([ $mode = 644 ] && echo 1 || echo 0) ] ||
        fail "mode $mode: $(cat "$work/stderr")"
    ! grep -q 'needs no password' "$work/stderr" || fail 'a warning of a server with a password'
done
