/*
 * feature_source - the rows of one tensor over all parts, within a memory budget.
 *
 * When all rows fit the budget they lie in one array on 2 MB pages, filled by all threads, part after part, and a
 * row is found by its node id: nothing is copied for a batch. All processes of a host hold one array
 * (common/parallel/shared_area.h). When they do not, the rows that a batch
 * wants are visited in ascending order of their nodes, block after block: each block that is needed is
 * read once, and rows that the caller chose to keep are in memory. What a row is does not depend on the
 * budget, nor on what is cached.
 *
 * Rows are handed out as floats, or in bf16 at half the bytes, whichever of these or f16 they are stored in: they are
 * converted once, when their block is read.
 *
 * The bytes of everything held count in the budget; RocksDB's own few MB for open shards and a block on
 * its way come on top.
 */
#ifndef STORE_FEATURES_FEATURE_SOURCE_H
#define STORE_FEATURES_FEATURE_SOURCE_H

#include "common/base/error.h"
#include "common/math/precision.h"
#include "common/parallel/thread_pool.h"
#include "store/objects/store.h"
#include "store/records/tensor_spec.h"
#include "store/records/weights_identity.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows as kernels read them: row i of the batch starts at element row_index[i] * stride of base, and has
 * `dim` elements. */
struct feature_rows {
    const void *base;
    enum precision precision;
    size_t stride; /* elements from row to row: precision_stride() */
    uint32_t dim;
    const uint32_t *row_index; /* [count], or NULL for i itself */
};

/* Row i of fp32 rows. */
static inline const float *feature_row(const struct feature_rows *rows, size_t i)
{
    const size_t row = rows->row_index ? rows->row_index[i] : i;
    return (const float *)rows->base + row * rows->stride;
}
/* The first `count` of them, one after the other, into `out` [count, dim]. */
void feature_rows_copy(const struct feature_rows *rows, size_t count, float *out);

/* The one tensor in the shard of a layer of infer; of a graph with relations that of node type 0. */
extern const char layer_tensor[];
/* That of a node type. */
void layer_tensor_of_type(uint32_t type, char name[TENSOR_NAME_SIZE]);

struct feature_source;

/* How the shards of the parts are named. */
enum feature_origin { FEATURES_OF_PARTITION, FEATURES_OF_INFER_LAYER };

struct feature_source_config {
    struct store *store;
    enum feature_origin origin;
    const char *id; /* partition id, or run id for a layer */
    /* For FEATURES_OF_INFER_LAYER: which layer, and the weights that it must have been computed with. */
    int layer;
    const struct weights_identity *weights;
    uint32_t node_type; /* of a partition; nodes are then numbers in the type (type_ranges.h) */
    int part_count;
    const uint32_t *book; /* [part_count + 1] of the type's nodes, borrowed only during open */
    const char *tensor;
    enum precision precision; /* what its rows are held in; integers stay as they are */
    uint64_t budget_bytes;
    bool
        only_read; /* by feature_source_read(), each block once: no rows are held, whatever the budget */
    /* So many processes of this host are expected to hold the same rows, and each counts its portion of an array that
     * they share; 0 and 1: this one alone. */
    int sharers;
    struct thread_pool *pool; /* fills the array; or NULL */
};

/* Of an array of `bytes` that `sharers` processes want, what each of them counts: small ones are not shared. A budget that is to
 * have room for the array is at least this. */
uint64_t feature_source_portion(uint64_t bytes, int sharers);

/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT; ERROR_NO_MEMORY when not even a batch's minimum fits. */
MUST_CHECK enum error_code feature_source_open(const struct feature_source_config *config,
                                               struct feature_source **out, struct error *err);
void feature_source_close(struct feature_source *source);
uint32_t feature_source_dim(const struct feature_source *source);
bool feature_source_is_resident(const struct feature_source *source);
/* Whether no shard has to be opened for rows of `part`: it is open, has none, or all rows are held. Threads: any. */
bool feature_source_holds(struct feature_source *source, int part);
/* Bytes of a row as it is held. */
size_t feature_source_row_bytes(const struct feature_source *source);
/* Bytes held, of a shared array its portion; for heartbeats and the plan printed at start. */
uint64_t feature_source_bytes(const struct feature_source *source);

/* Makes the rows of `node` [count] (any order, repeats allowed) readable through *rows until the next
 * call. Threads: one caller at a time, of this and what follows.
 * Fails: ERROR_CORRUPT naming the shard; ERROR_NO_MEMORY naming bytes wanted and budget. */
MUST_CHECK enum error_code feature_source_fetch(struct feature_source *source, const uint32_t *node,
                                                size_t count, struct feature_rows *rows,
                                                struct error *err);

/* Gives back what the last fetch or visit took, whose rows are gone then; the cache stays. */
void feature_source_rest(struct feature_source *source);

/* --- out of the budget, for callers that know what is coming --- */

/* One past the last node of the block that holds the row of `node`. */
uint32_t feature_source_block_end(const struct feature_source *source, uint32_t node);
/* Copies the rows of the nodes first .. end - 1, as they are held, to `out`. A block of which all rows are wanted in one
 * call is read once. Threads: any number, beside each other alone. Fails: ERROR_CORRUPT naming shard, tensor, block. */
MUST_CHECK enum error_code feature_source_read(struct feature_source *source, uint32_t first,
                                               uint32_t end, void *out, struct error *err);

enum { FEATURE_VISIT_MAX = 1024 };

/* Some rows of a batch; their nodes ascend, from visit to visit too. */
struct feature_visit {
    uint32_t count;        /* 1 to FEATURE_VISIT_MAX */
    const uint32_t *place; /* [count]: where in the batch each stands */
    const void *const
        *row; /* [count], dim elements each; floats at any address, not aligned; borrowed during
                 the visit */
};

typedef void (*feature_visitor)(void *context, const struct feature_visit *visit);

/* Visits all rows of `node` [count]. `stop`, which may be NULL: when another thread sets it, the visit
 * ends early with ERROR_BUSY. Needs room for the order of the batch: feature_source_visit_bytes(). */
MUST_CHECK enum error_code feature_source_visit(struct feature_source *source, const uint32_t *node,
                                                size_t count, feature_visitor visitor,
                                                void *context, const atomic_bool *stop,
                                                struct error *err);

/* Its first half: puts the batch in order, for a walk over it (store/features/feature_walk.h). */
MUST_CHECK enum error_code feature_source_visit_begin(struct feature_source *source,
                                                      const uint32_t *node, size_t count,
                                                      struct error *err);
uint64_t feature_source_visit_bytes(const struct feature_source *source, size_t count);

/* Reads the rows of `node` [count], each once, best first, and caches as many of them as fit into `bytes`,
 * instead of those cached so far. When a visit or a fetch needs their room, the last ones go. */
MUST_CHECK enum error_code feature_source_cache(struct feature_source *source, const uint32_t *node,
                                                size_t count, uint64_t bytes, struct error *err);
/* How many rows a cache of `bytes` holds. */
size_t feature_source_cache_capacity(const struct feature_source *source, uint64_t bytes);
uint32_t feature_source_cached(const struct feature_source *source);
uint64_t feature_source_cache_bytes(const struct feature_source *source);
bool feature_source_has_cached(const struct feature_source *source, uint32_t node);
/* From now on at most so many bytes; cached rows go when need be. */
void feature_source_limit(struct feature_source *source, uint64_t budget_bytes);

#endif
