/*
 * feature_source - the rows of one tensor over all parts, within a memory budget.
 *
 * When all rows fit the budget they lie in one array on 2 MB pages, filled by one ordered pass, and a
 * row is found by its node id: nothing is copied for a batch. When they do not, the rows that a batch
 * wants are read block by block in order and copied side by side. A reader of rows sees the same
 * thing either way: base, stride, and an index for each wanted node.
 */
#ifndef STORE_FEATURE_SOURCE_H
#define STORE_FEATURE_SOURCE_H

#include "common/base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows as kernels read them: row i of the batch is base + row_index[i] * stride, `dim` floats. */
struct feature_rows {
    const float *base;
    size_t stride; /* floats from row to row */
    uint32_t dim;
    const uint32_t *row_index; /* [count] */
};

struct feature_source;

/* How the shards of the parts are named. */
enum feature_origin { FEATURES_OF_PARTITION, FEATURES_OF_INFER_LAYER };

struct feature_source_config {
    struct store *store;
    enum feature_origin origin;
    const char *id; /* partition id, or run id for a layer */
    int layer;      /* for FEATURES_OF_INFER_LAYER */
    int part_count;
    const uint32_t *book; /* [part_count + 1], borrowed only during open */
    const char *tensor;
    uint64_t budget_bytes;
};

/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT; ERROR_NO_MEMORY when not even a batch's minimum fits. */
MUST_CHECK enum error_code feature_source_open(const struct feature_source_config *config,
                                               struct feature_source **out, struct error *err);
void feature_source_close(struct feature_source *source);
uint32_t feature_source_dim(const struct feature_source *source);
bool feature_source_is_resident(const struct feature_source *source);
/* Bytes held, for heartbeats and the plan printed at start. */
uint64_t feature_source_bytes(const struct feature_source *source);

/* Makes the rows of `node` [count] (any order, repeats allowed) readable through *rows until the next
 * call. Threads: one caller at a time.
 * Fails: ERROR_CORRUPT naming the shard; ERROR_NO_MEMORY naming bytes wanted and budget. */
MUST_CHECK enum error_code feature_source_fetch(struct feature_source *source, const uint32_t *node,
                                                size_t count, struct feature_rows *rows,
                                                struct error *err);

#endif
