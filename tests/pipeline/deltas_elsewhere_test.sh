#!/usr/bin/env bash
# A graph that changes, with a store in a bucket of a real SeaweedFS, in a real Redis Cluster, and
# in both: two updates are trained bit for bit as in a folder, from another machine's cache;
# replayed, verified, repaired, and removed when no run needs them.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
. "$GRAPHMILL_SOURCE/tests/support/class_graph.sh"
. "$GRAPHMILL_SOURCE/tests/support/redis_cluster.sh"
command -v redis-server >/dev/null && command -v redis-cli >/dev/null ||
    { echo "skipped: no redis-server and redis-cli"; exit 77; }
seaweedfs
cluster_start
mkdir "$work/g" && cd "$work/g"

# 600 nodes in three classes, four columns of features, and two updates of them.
class_graph 600 4
for v in 1 2; do
    mkdir u$v
    awk -v v=$v 'BEGIN {for (i = 0; i < 6; i++) print "m" v i ",train," i % 3}' >u$v/nodes
    { class_rows 4 "${v}0" "${v}6" m 5 && class_rows 4 $((v * 40)) $((v * 40 + 9)) n 7; } >u$v/rows
    awk -v v=$v 'BEGIN {for (i = 0; i < 6; i++) {print "m" v i ",n" (v * 200 + i * 31) % 400 ",2"; print "m" v i ",n" (v * 211 + i * 17) % 400 ",3"}}' >u$v/edges
    awk -v v=$v 'BEGIN {for (i = 0; i < 5; i++) {a = v * 100 + i * 5; print "n" a ",n" (a * 7 + 22) % 600}}' >u$v/old_edges
    awk -v v=$v 'BEGIN {for (i = 0; i < 4; i++) print "n" 599 - v * 20 - 3 * i}' >u$v/old_nodes
done
update() { # FOLDER VERSION [options]
    "$bin/graphmill" update g.yaml --directory "$work/$1" --quiet --json --add-nodes u"$2"/nodes \
        --features u"$2"/rows --add-edges u"$2"/edges \
        --remove-edges u"$2"/old_edges --remove-nodes u"$2"/old_nodes "${@:3}" \
        2>"$work/update.log" || fail "$1: update $2: $(tail -3 "$work/update.log")"
}
hash_of() { # FOLDER [options]
    run "$1" g.yaml "${@:2}" 2>"$work/run.log" >"$work/answer" ||
        fail "$1: $(tail -3 "$work/run.log")"
    json weights_hash <"$work/answer"
}
version_of() { sed 's/,"trained".*//; s/,"run".*//'; }

expected=()
for v in 0 1 2; do
    [ $v = 0 ] || update local $v | version_of >"$work/local-$v.json"
    expected[v]=$(hash_of local)
    cp -rL "$work/local/outputs" "$work/local-outputs-$v"
done
[ "$(find "$work/local/store/partition" -name delta.record | wc -l)" = 2 ] ||
    fail 'the versions are no deltas'
cluster=$(cluster_uri deltas)

number=0
for store in "s3://graphmill/deltas?endpoint=$endpoint" "$cluster" \
    "tiered:$(cluster_uri rounds)^s3://graphmill/tiers?endpoint=$endpoint"; do
    number=$((number + 1))
    folder=away-$number
    for v in 0 1 2; do
        [ $v = 0 ] || update $folder $v --store "$store" | version_of >"$work/version.json"
        [ $v = 0 ] || cmp "$work/version.json" "$work/local-$v.json" ||
            fail "$store: another version $v"
        [ "$(hash_of $folder --store "$store")" = "${expected[v]}" ] ||
            fail "$store: version $v: weights $(json weights_hash \
            <"$work/answer"), in a folder ${expected[v]}"
        for file in predictions.csv embeddings.npy; do
            cmp "$work/$folder/outputs/$file" "$work/local-outputs-$v/$file" ||
                fail "$store: version $v: another $file"
        done
    done
    # The parts are deltas, and a new process reads them with their base, with only the address
    # given.
    "$bin/graphmill" verify --store "$store" --json >"$work/verify.json" 2>"$work/stderr" ||
        fail "$store: verify: $(cat "$work/verify.json" "$work/stderr")"
    [ "$(json verdict <"$work/verify.json")" = OK ] || fail "$store: $(cat "$work/verify.json")"
    for unit in partition sample train-step infer; do
        said=$("$bin/graphmill" replay --store "$store" $unit 2>"$work/stderr") ||
            fail "$store: replay $unit: $(tail -1 "$work/stderr")"
        [[ $said == MATCH* ]] || fail "$store: replay $unit said '$said'"
    done
    rm -rf "$work/scratch" && mkdir "$work/scratch" # a cache that has nothing yet
    TMPDIR=$work/scratch hash_of $folder-new --store "$store" --set seed=9 >"$work/other" ||
        fail "$store: another run with an empty cache"
    [ "$(cat "$work/other")" = "$(hash_of local --set seed=9)" ] ||
        fail "$store: another run with an empty cache: $(cat "$work/other")"
    case $store in
    redis*) found=$(for port in "${cluster_ports[@]}"; do redis-cli -p "$port" keys \
        '*partition/*/delta!record'; done | grep -c delta) ;;
    *) found=2 ;;
    esac
    [ "$found" = 2 ] || fail "$store: $found deltas, expected 2"
    # Versions that no run depends on are removed, and what other versions depend on stays.
    "$bin/graphmill" gc "$work/$folder" --grace 0 >"$work/gc.txt" 2>&1 ||
        fail "$store: gc: $(tail -3 "$work/gc.txt")"
    "$bin/graphmill" verify --store "$store" --json >"$work/verify.json" 2>"$work/stderr" ||
        fail "$store: verify after gc: $(cat "$work/verify.json" "$work/stderr")"
    [ "$(hash_of $folder --store "$store" --set seed=10)" = "$(hash_of local --set seed=10)" ] ||
        fail "$store: after gc another run"
done
