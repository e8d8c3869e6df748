#!/usr/bin/env bash
# pipelines -> stages -> store -> common, never back; a stage never includes another; each third-party library is
# named in one .c file.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
found_in() ( # tree
    cd "$1" || exit 1
    grep -rnE '#include "(store|stages|pipelines)/' common
    grep -rnE '#include "(stages|pipelines)/' store
    grep -rnE '#include "pipelines/' stages
    grep -rnE '#include "tests/' common store stages pipelines
    # Stages, and the rooms that all of them share.
    grep -rnE '#include "stages/' pipelines | grep -vE '"stages/(engine|plan|sampling|tables)/'
    for room in stages/*/; do
        grep -rnE '#include "stages/' "$room" | grep -vE "\"($room|stages/(engine|plan|sampling|tables)/)"
    done
    # The plan runs nothing; a sampler knows neither, and nor do tables know stages.
    grep -rnE '#include "stages/(engine)/' stages/plan stages/sampling stages/tables
    grep -rnE '#include "stages/plan/' stages/sampling
    # The queue knows no other room of the store but the one that speaks to Redis, which knows none; records know no artifacts.
    grep -rnE '#include "store/' store/redis | grep -v '"store/redis/'
    grep -rnE '#include "store/' store/queue | grep -vE '"store/(queue|redis)/'
    grep -rnE '#include "store/' store/records | grep -vE '"store/(records|objects)/'
    grep -rnE '#include "store/' store/backends | grep -vE '"store/(backends|objects|redis)/'
    # Operators know no layers, layers no model's file.
    grep -rnE '#include "common/nn/' common/nn/operators | grep -v '"common/nn/operators/'
    one_file() { # header pattern, the one file that may name it, and does; of a library with two uses, two
        local header=$1 found file
        shift
        found=$(grep -rlE "#include <$header" common store stages pipelines --include='*.[ch]')
        grep -vxF "$(printf '%s\n' "$@")" <<<"$found" | grep . | sed "s|\$|: only $* may include <$header|"
        for file in "$@"; do grep -qxF "$file" <<<"$found" || echo "$file may include <$header and does not, or is not there"; done
    }
    one_file 'rocksdb/' store/features/shard_database.c
    one_file 'lmdb\.h' store/topology/topology_file.c
    one_file 'hiredis' store/redis/redis_connection.c
    one_file 'metis\.h' stages/partition/methods/metis_partitioner.c
    one_file 'cblas' common/math/blas.c
    one_file 'libxsmm' common/math/bf16_product.c
    one_file 'arpack' common/math/eigenvectors.c
    one_file 'jansson' common/base/json.c
    one_file 'yaml\.h' common/base/yaml.c
    one_file 'xxhash' common/files/checksum.c
    one_file 'Random123' common/numbers/random.c
    one_file 'zlib' common/formats/bytes/byte_source.c
    one_file 'zstd' common/formats/bytes/zstd_unpacker.c
    one_file 'microhttpd' pipelines/questions/http_server.c
    one_file 'minizip' common/formats/bytes/zip_archive.c
    one_file 'curl/' store/backends/s3/curl_library.h
    one_file 'openssl/' store/backends/s3/s3_signature.c store/redis/redis_tls.c
    one_file 'expat' common/base/xml_stream.c
)
bad=$(found_in .)
[ -z "$bad" ] || { echo "$bad"; exit 1; }

# What is planted is found.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plant() { # what is said, the command that plants the fault; in a fresh copy of the sources
    rm -rf "$work/tree"
    mkdir "$work/tree"
    find common store stages pipelines -name '*.[ch]' -print0 | tar --null -cf - -T - | tar -xf - -C "$work/tree"
    (cd "$work/tree" && eval "$2")
    grep -q "$1" <<<"$(found_in "$work/tree")" || { echo "not found: '$1' after: $2"; missed=1; }
}
missed=0
plant '^common/base/text.c:.*store/objects/keys.h' "sed -i '1i #include \"store/objects/keys.h\"' common/base/text.c"
plant '^store/objects/keys.c:.*stages/plan/chain/unit.h' "sed -i '1i #include \"stages/plan/chain/unit.h\"' store/objects/keys.c"
plant '^stages/infer/infer.c:.*stages/sample/' "sed -i '1i #include \"stages/sample/sample_room.h\"' stages/infer/infer.c"
plant '^stages/sampling/samplers/sampler.c:.*stages/plan/' "sed -i '1i #include \"stages/plan/chain/unit.h\"' stages/sampling/samplers/sampler.c"
plant '^store/queue/.*store/objects/' "sed -i '1i #include \"store/objects/keys.h\"' store/queue/work_queue.c"
plant 'store/objects/keys.c: only .* may include <rocksdb/' "sed -i '1i #include <rocksdb/c.h>' store/objects/keys.c"
plant 'shard_database.c may include <rocksdb/ and does not' 'mv store/features/shard_database.c store/features/other_database.c'
exit $missed
