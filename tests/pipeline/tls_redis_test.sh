#!/usr/bin/env bash
# Queue and store behind TLS with users of an ACL that have only the rights they need, with
# certificates of a throw-away authority: the queue's server requires our own certificate, too. The
# weights are those of a local run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
. "$GRAPHMILL_SOURCE/tests/support/redis_cluster.sh"
for program in redis-server redis-cli openssl; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
pipeline=${source_folder:?}/pipelines/karate.yaml
settings=(--set epochs=5)
. "$GRAPHMILL_SOURCE/tests/support/certificates.sh"

certificate server IP:127.0.0.1,DNS:localhost
certificate client DNS:client
tls=(--tls-cert-file "$work/server.pem" --tls-key-file "$work/server.key" \
    --tls-ca-cert-file "$work/ca.pem")
echo 'secret of the queue' >"$work/queue-password"
echo 'secret of the store' >"$work/store-password"
hash_of() { head -1 "$1" | tr -d '\n' | sha256sum | cut -d' ' -f1; }

# The rights that the README names.
rights='+@read +@write +@scripting +@connection +info +time'
cat >"$work/queue.acl" <<Y
user default off
user worker on #$(hash_of "$work/queue-password") ~{* resetchannels -@all $rights
Y
cat >"$work/store.acl" <<Y
user default on nopass ~* &* +@all
user keeper on #$(hash_of "$work/store-password") ~karate{* resetchannels -@all $rights +wait +asking +cluster|slots
Y

# shellcheck disable=SC2034 # counts
for attempt in 1 2 3 4 5; do
    port=$((22000 + (RANDOM * 32768 + RANDOM) % 8000))
    redis-server --port 0 --tls-port $port --bind 127.0.0.1 "${tls[@]}" --tls-auth-clients yes \
        --aclfile "$work/queue.acl" --dir "$work" --save '' \
        >"$work/redis.txt" &
    started+=($!)
    until grep -q 'Ready to accept' "$work/redis.txt"; do kill -0 $! 2>/dev/null ||
        continue 2; sleep 0.1; done
    break
done
queue="rediss://worker@localhost:$port?ca=$work/ca.pem&cert=$work/client.pem&key=$work/client.key"
cluster_login=(--tls --cacert "$work/ca.pem")
cluster_start "${tls[@]}" --tls-auth-clients no --tls-cluster yes --tls-replication yes \
    --aclfile "$work/store.acl"
place="keeper@127.0.0.1:${cluster_ports[0]},127.0.0.1:${cluster_ports[1]}/karate?password-file=$work/store-password"
store="rediss+cluster://$place&ca=$work/ca.pem"

# A party that is not trusted, or does not trust, fails at once; no secret is shown.
ingest=("$bin/graphmill-ingest" --pipeline "$pipeline" "${settings[@]}")
run_with() { run refused "$pipeline" "${settings[@]}" --redis "$1" --redis-password-file "$2"; }
expect 74 'certificate is refused' "${ingest[@]}" \
    --store "rediss+cluster://$place&ca=$work/client.pem"
expect 78 'expected certificates' "${ingest[@]}" \
    --store "rediss+cluster://$place&ca=$work/queue.acl"
expect 78 'WRONGPASS' "${ingest[@]}" --store "${store/store-password/queue-password}"
expect 78 'NOPERM' "${ingest[@]}" --store "${store/\/karate\?/\/other\?}"
expect 78 'WRONGPASS' run_with "$queue" "$work/store-password"
# A server that requires our certificate says so after the handshake of TLS 1.3, and may reset the
# connection before that is read.
status=0
run_with "${queue%%&cert*}" "$work/queue-password" >/dev/null 2>"$work/uncertified.log" || status=$?
[[ $status == 74 || $status == 75 ]] ||
    fail "without a certificate of our own: $status, $(cat "$work/uncertified.log")"
expect 74 'certificate is refused' run_with "${queue/ca.pem/client.pem}" "$work/queue-password"
! grep -rq 'secret of' "$work"/*.log "$work"/std* || fail "a password is shown"

"${ingest[@]}" --store "$store" 2>"$work/ingest.log" || fail "ingest: $(tail -3 "$work/ingest.log")"
with=(--pipeline "$pipeline" "${settings[@]}" --store "$store" --redis "$queue" \
    --redis-password-file "$work/queue-password")
"$bin/graphmill-partition" --start "${with[@]}" 2>"$work/partition.log" ||
    fail "partition: $(tail -3 "$work/partition.log")"
declare -A pid_of
for stage in infer checkpoint aggregate train-step sample; do
    "$bin/graphmill-$stage" "${with[@]}" --worker $stage --scratch "$work" --wait 300 \
        >"$work/$stage.out" 2>"$work/$stage.log" &
    pid_of[$stage]=$!
    started+=($!)
done
for stage in infer checkpoint aggregate train-step sample; do
    wait "${pid_of[$stage]}" || fail "$stage: $(tail -3 "$work/$stage.log")"
done
found=$(sed -n 's/.*weights hash *//p' "$work/infer.log" | tail -1)
peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)
[ "$found" = "$peace" ] || fail "behind TLS: weights '$found', locally $peace"
