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
    grep -rnE '#include "stages/[^/"]+/' pipelines
    for stage in stages/*/; do
        grep -rnE '#include "stages/[^/"]+/' "$stage" | grep -v "\"$stage"
    done
    for f in stages/*.[ch]; do grep -nHE '#include "stages/[^/"]+/' "$f"; done
    one_file() { # header pattern, the one file that may name it
        grep -rlE "#include <$1" common store stages pipelines --include='*.[ch]' | grep -vx "$2" |
            sed "s|\$|: only $2 may include <$1|"
    }
    one_file 'rocksdb/' store/shard_database.c
    one_file 'lmdb\.h' store/topology.c
    one_file 'hiredis' store/redis_connection.c
    one_file 'metis\.h' stages/partition/metis_partitioner.c
    one_file 'cblas' common/math/blas.c
    one_file 'libxsmm' common/math/bf16_product.c
    one_file 'jansson' common/base/json.c
    one_file 'yaml\.h' common/base/yaml.c
    one_file 'xxhash' common/base/checksum.c
    one_file 'Random123' common/base/random.c
    one_file 'zlib' common/formats/byte_source.c
)
[ -z "$bad" ] || { echo "$bad"; exit 1; }
