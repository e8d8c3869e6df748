/*
 * node_features - the features of the node types, and where the nodes of each type stand.
 *
 * Rows of a type are numbered among all nodes of the type (type_ranges.h). Each type has a source
 * of its own (feature_source.h), or none: nothing is read of a type without features, nor of any
 * without train-step.features. All types are resident if they fit the budget; else the smallest
 * ones that fit half of it, and the rows of the others are brought batch by batch.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_NODE_FEATURES_H
#define STAGES_TRAIN_STEP_ROWS_NODE_FEATURES_H

#include "common/base/error.h"
#include "common/nn/operators/gather.h"
#include "common/nn/operators/sparse_rows.h"
#include "stages/engine/stage.h"
#include "store/features/feature_source.h"
#include "store/records/partition/type_ranges.h"

#include <stdbool.h>
#include <stdint.h>

struct node_features { /* {0} is closed */
    uint32_t type_count;
    enum precision precision;                /* of all rows */
    struct type_ranges ranges;               /* borrowed from the partition book */
    uint32_t *book[RELATION_TYPE_COUNT_MAX]; /* [parts + 1]: type_ranges_book() */
    struct feature_source
        *source[RELATION_TYPE_COUNT_MAX]; /* NULL: no features are read of the type */
    bool
        mostly_zero[RELATION_TYPE_COUNT_MAX]; /* the rows of the type, as sparse_features.h tells */
    struct sparse_rows compressed[RELATION_TYPE_COUNT_MAX]; /* all of them; else no rows */
    struct arena memory;                                    /* of `compressed` */
};

/* Opens the features that the model reads, within the budget. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT
 * naming the type whose rows have another width than the book says; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_features_open(const struct stage_context *context,
                                              enum precision precision, uint64_t budget_bytes,
                                              struct node_features *out, struct error *err);
void node_features_close(struct node_features *features);

/* Finds out which types have rows that are mostly zero, for a model that makes use of it.
 * Compresses those that are resident once for all batches when the budget has room for both forms.
 * Without it each batch does that for its own rows, with the same result: running out of memory is
 * no error. Fails: as feature_source_read(); ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_features_find_zeros(struct node_features *features,
                                                    uint64_t budget_bytes, struct thread_pool *pool,
                                                    struct error *err);

/* Says whether the rows of a type are brought batch by batch: they are read, and not resident. */
static inline bool node_features_are_brought(const struct node_features *features, uint32_t type)
{
    return features->source[type] && !feature_source_is_resident(features->source[type]);
}
/* Says whether no type has such rows. */
bool node_features_are_resident(const struct node_features *features);
/* Says whether rows of all types of `part` can be read without opening a shard. */
bool node_features_hold(const struct node_features *features, int part);
/* Finds the rows of nodes [count] of a type that are not brought. They may be read until the next
 * call for the type. Rows of a type without features have no base. */
MUST_CHECK enum error_code node_features_fetch(const struct node_features *features, uint32_t type,
                                               const uint32_t *number, uint32_t count,
                                               struct input_rows *out, struct error *err);
/* Return the bytes that are held by resident types, and by all types. */
uint64_t node_features_resident_bytes(const struct node_features *features);
uint64_t node_features_bytes(const struct node_features *features);
/* Limits what all types that are not resident may hold from now on. A batch wants row_count [types]
 * of their rows (feature_shares.h). */
void node_features_limit(struct node_features *features, const uint32_t *row_count,
                         uint64_t budget_bytes);
/* Returns the bytes of a row of the type as it is held; 0: none is read. */
size_t node_features_row_bytes(const struct node_features *features, uint32_t type);

#endif
