#!/usr/bin/env bash
# pipelines -> stages -> store -> common, never back; a stage never includes another; each third-party library is
# named in one .c file.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
bad=$(
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
    one_file() { # header pattern, the one file that may name it; of a library with two uses, two
        local header=$1
        shift
        grep -rlE "#include <$header" common store stages pipelines --include='*.[ch]' |
            grep -vxF "$(printf '%s\n' "$@")" | sed "s|\$|: only $* may include <$header|"
    }
    one_file 'rocksdb/' store/features/shard_database.c store/features/row_database.c
    one_file 'lmdb\.h' store/topology/topology_file.c
    one_file 'hiredis' store/redis/redis_connection.c
    one_file 'metis\.h' stages/partition/methods/metis_partitioner.c
    one_file 'cblas' common/math/blas.c
    one_file 'libxsmm' common/math/bf16_product.c
    one_file 'arpack' common/math/eigenvectors.c
    one_file 'jansson' common/base/json.c
    one_file 'yaml\.h' common/base/yaml.c
    one_file 'xxhash' common/base/checksum.c
    one_file 'Random123' common/base/random.c
    one_file 'zlib' common/formats/byte_source.c
    one_file 'zstd' common/formats/zstd_unpacker.c
    one_file 'microhttpd' pipelines/http_server.c
    one_file 'minizip' common/formats/zip_archive.c
    one_file 'curl/' store/backends/curl_library.h
    one_file 'openssl/' store/backends/s3_signature.c store/redis/redis_tls.c
    one_file 'expat' common/base/xml_stream.c
)
[ -z "$bad" ] || { echo "$bad"; exit 1; }
