/*
 * feature_source - the rows of one tensor over all parts, within a memory budget.
 *
 * If all rows fit the budget, they are in one array on 2 MB pages, which all threads fill, part
 * after part. A row is found by its node id, and a batch copies nothing. All processes of a host
 * share one array (common/parallel/shared_area.h). If they do not fit, the rows that a batch needs
 * are visited in ascending order of their nodes, block after block: each block is read once, and
 * the rows that the caller chose to cache are in memory. The value of a row depends neither on the
 * budget nor on the cache.
 *
 * Rows are returned as floats, or as bf16 with half the bytes, whether they are stored as floats,
 * bf16 or f16. They are converted once, when their block is read.
 *
 * The budget covers all bytes that are held. The few MB that RocksDB needs for open shards, and a
 * block that is being read, come on top.
 */
#ifndef STORE_FEATURES_FEATURE_SOURCE_H
#define STORE_FEATURES_FEATURE_SOURCE_H

#include "common/base/error.h"
#include "common/math/precision.h"
#include "common/parallel/thread_pool.h"
#include "store/objects/store.h"
#include "store/records/round/tensor_spec.h"
#include "store/records/round/weights_identity.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows in the form that kernels read: row i of the batch starts at element row_index[i] * stride of
 * base and has `dim` elements. */
struct feature_rows {
    const void *base;
    enum precision precision;
    size_t stride; /* elements between rows: precision_stride() */
    uint32_t dim;
    const uint32_t *row_index; /* [count], or NULL for i itself */
};

/* Returns row i of fp32 rows. */
static inline const float *feature_row(const struct feature_rows *rows, size_t i)
{
    const size_t row = rows->row_index ? rows->row_index[i] : i;
    return (const float *)rows->base + row * rows->stride;
}
/* Copies the first `count` rows, one after the other, to `out` [count, dim]. */
void feature_rows_copy(const struct feature_rows *rows, size_t count, float *out);

/* The name of the only tensor in the shard of an infer layer; in a graph with relations, of node
 * type 0. */
extern const char layer_tensor[];
/* Writes the name of that tensor for a node type. */
void layer_tensor_of_type(uint32_t type, char name[TENSOR_NAME_SIZE]);

struct feature_source;

/* Tells whether the shards belong to a partition or to a layer of infer, which have different
 * keys. */
enum feature_origin { FEATURES_OF_PARTITION, FEATURES_OF_INFER_LAYER };

struct feature_source_config {
    struct store *store;
    enum feature_origin origin;
    const char *id; /* partition id, or run id for a layer */
    /* For FEATURES_OF_INFER_LAYER: the layer, and the weights that its rows must have been computed
     * with. */
    int layer;
    const struct weights_identity *weights;
    uint32_t node_type; /* of a partition; node ids then count within the type (type_ranges.h) */
    int part_count;
    const uint32_t *book; /* [part_count + 1], of the type's nodes; borrowed only during open */
    const char *tensor;
    enum precision precision; /* for the rows that are held; integers stay as they are */
    uint64_t budget_bytes;
    /* only feature_source_read() is used, once for each block: no rows are held, whatever the
     * budget */
    bool only_read;
    /* How many processes of this host are expected to hold the same rows. Each counts its portion
     * of the shared array. 0 and 1: this process alone. */
    int sharers;
    struct thread_pool *pool; /* threads that fill the array; or NULL */
};

/* Returns how much of an array of `bytes` each of `sharers` processes counts in its budget. Small
 * arrays are not shared. A budget must be at least this to hold the array. */
uint64_t feature_source_portion(uint64_t bytes, int sharers);

/* Opens the rows. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT; ERROR_NO_MEMORY when the budget is too
 * small for any batch. */
MUST_CHECK enum error_code feature_source_open(const struct feature_source_config *config,
                                               struct feature_source **out, struct error *err);
void feature_source_close(struct feature_source *source);
uint32_t feature_source_dim(const struct feature_source *source);
bool feature_source_is_resident(const struct feature_source *source);
/* Returns whether reading rows of `part` opens no shard: its shard is open, it has no rows, or all
 * rows are held. Threads: any. */
bool feature_source_holds(struct feature_source *source, int part);
/* Returns the bytes of a row as it is held. */
size_t feature_source_row_bytes(const struct feature_source *source);
/* Returns the bytes held, with the portion of a shared array. For heartbeats and the plan printed
 * at start. */
uint64_t feature_source_bytes(const struct feature_source *source);

/* Makes the rows of `node` [count] (any order, repeats allowed) readable through *rows until the
 * next call. Threads: only one may call this function and those below at a time. Fails:
 * ERROR_CORRUPT naming the shard; ERROR_NO_MEMORY naming the bytes needed and the budget. */
MUST_CHECK enum error_code feature_source_fetch(struct feature_source *source, const uint32_t *node,
                                                size_t count, struct feature_rows *rows,
                                                struct error *err);

/* Frees the memory of the last fetch or visit, whose rows become invalid. Keeps the cache. */
void feature_source_rest(struct feature_source *source);

/* --- rows that do not fit the budget, for callers that know what they will read --- */

/* Returns the node after the last one in the block that holds the row of `node`. */
uint32_t feature_source_block_end(const struct feature_source *source, uint32_t node);
/* Copies the rows of nodes first .. end - 1, as they are held, to `out`. A block is read once if
 * one call asks for all its rows. Threads: any number may call this function at once, but no other.
 * Fails: ERROR_CORRUPT naming shard, tensor, block. */
MUST_CHECK enum error_code feature_source_read(struct feature_source *source, uint32_t first,
                                               uint32_t end, void *out, struct error *err);

enum { FEATURE_VISIT_MAX = 1024 };

/* Some rows of a batch. Nodes ascend within a visit and from visit to visit. */
struct feature_visit {
    uint32_t count;        /* 1 to FEATURE_VISIT_MAX */
    const uint32_t *place; /* [count]: position of each in the batch */
    const void *const
        *row; /* [count], dim elements each; floats may be unaligned; borrowed during the visit */
};

typedef void (*feature_visitor)(void *context, const struct feature_visit *visit);

/* Visits all rows of `node` [count]. `stop` may be NULL; if another thread sets it, the visit ends
 * early with ERROR_BUSY. Needs room for the order of the batch: feature_source_visit_bytes(). */
MUST_CHECK enum error_code feature_source_visit(struct feature_source *source, const uint32_t *node,
                                                size_t count, feature_visitor visitor,
                                                void *context, const atomic_bool *stop,
                                                struct error *err);

/* Sorts the batch, which is the first half of a visit, for a walk over it
 * (store/features/feature_walk.h). */
MUST_CHECK enum error_code feature_source_visit_begin(struct feature_source *source,
                                                      const uint32_t *node, size_t count,
                                                      struct error *err);
uint64_t feature_source_visit_bytes(const struct feature_source *source, size_t count);

/* Reads the rows of `node` [count], best first, each once, and caches as many as fit into `bytes`,
 * in place of those cached so far. If a visit or a fetch needs the room, the last ones are
 * dropped. */
MUST_CHECK enum error_code feature_source_cache(struct feature_source *source, const uint32_t *node,
                                                size_t count, uint64_t bytes, struct error *err);
/* Returns how many rows a cache of `bytes` holds. */
size_t feature_source_cache_capacity(const struct feature_source *source, uint64_t bytes);
uint32_t feature_source_cached(const struct feature_source *source);
uint64_t feature_source_cache_bytes(const struct feature_source *source);
bool feature_source_has_cached(const struct feature_source *source, uint32_t node);
/* Sets a new budget; cached rows are dropped if they no longer fit. */
void feature_source_limit(struct feature_source *source, uint64_t budget_bytes);

#endif
