#!/usr/bin/env bash
# A store in a real SeaweedFS over https with a certificate of a throw-away authority: a client that
# does not trust it, or finds another name in it, fails at once; with ca= in the address or
# AWS_CA_BUNDLE a run ends with the weights of a local one.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
for program in redis-server openssl; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
. "$GRAPHMILL_SOURCE/tests/support/certificates.sh"
pipeline=${source_folder:?}/pipelines/karate.yaml
lease_ms=2000
settings=(--set epochs=5)
certificate server IP:127.0.0.1
certificate other DNS:other

redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' >"$work/redis.txt" &
started+=($!)
queue=(--redis "unix:$work/redis.sock")
seaweedfs -s3.cert.file="$work/server.pem" -s3.key.file="$work/server.key"
secure=${endpoint/http:/https:}
place="s3://graphmill/karate?endpoint=$secure"
store="$place&ca=$work/ca.pem"

ingest=("$bin/graphmill-ingest" --pipeline "$pipeline" "${settings[@]}")
expect 74 'certificate' "${ingest[@]}" --store "$place"
expect 74 'certificate' "${ingest[@]}" --store "$place&ca=$work/other.pem"
expect 74 'certificate' "${ingest[@]}" --store "${store/127.0.0.1/localhost}"
expect 78 'no-such' "${ingest[@]}" --store "$place&ca=$work/no-such.pem"
expect 78 'redis.txt' "${ingest[@]}" --store "$place&ca=$work/redis.txt"

"${ingest[@]}" --store "$store" 2>"$work/ingest.log" || fail "ingest: $(tail -3 "$work/ingest.log")"
export AWS_CA_BUNDLE=$work/ca.pem
store=$place
"$bin/graphmill-partition" --start --pipeline "$pipeline" "${settings[@]}" --store "$store" \
    "${queue[@]}" \
    2>"$work/partition.log" || fail "partition: $(tail -3 "$work/partition.log")"
for stage in infer checkpoint aggregate train-step sample; do worker $stage $stage; done
for stage in infer checkpoint aggregate train-step sample; do join $stage; done
found=$(sed -n 's/.*weights hash *//p' "$work/infer.log" | tail -1)
peace=$(run peace "$pipeline" "${settings[@]}" | json weights_hash)
[ "$found" = "$peace" ] || fail "by https: weights '$found', locally $peace"
"$bin/graphmill" doctor --store "$store" >"$work/doctor" 2>&1 ||
    fail "doctor: $(cat "$work/doctor")"
