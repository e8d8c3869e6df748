/*
 * node_features - the features of the node types, and the position of the nodes of each type.
 *
 * Rows of a type are numbered among all nodes of the type (type_ranges.h). Each type has its own
 * source (feature_source.h). A type without features has none, and no type has one without
 * train-step.features. If all types fit the budget, all are resident. Otherwise the smallest types
 * that fit half of it are resident, and each batch reads its rows of the other types.
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
    /* NULL if the type's features are not read */
    struct feature_source *source[RELATION_TYPE_COUNT_MAX];
    /* whether most numbers of the rows are zero (sparse_features.h) */
    bool mostly_zero[RELATION_TYPE_COUNT_MAX];
    /* all rows of the type; without rows if they are not compressed */
    struct sparse_rows compressed[RELATION_TYPE_COUNT_MAX];
    struct arena memory; /* holds `compressed` */
};

/* Opens the features that the model reads, within the budget. Fails: ERROR_NOT_FOUND;
 * ERROR_CORRUPT naming the type whose rows do not have the width in the book; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_features_open(const struct stage_context *context,
                                              enum precision precision, uint64_t budget_bytes,
                                              struct node_features *out, struct error *err);
void node_features_close(struct node_features *features);

/* Finds the types whose rows are mostly zero, for a model that makes use of it. Compresses
 * resident rows of these types once for all batches if the budget has room for both forms.
 * Otherwise each batch compresses its own rows, with the same result, so running out of memory
 * here is no error. Fails: as feature_source_read(); ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_features_find_zeros(struct node_features *features,
                                                    uint64_t budget_bytes, struct thread_pool *pool,
                                                    struct error *err);

/* Returns whether each batch reads its rows of the type: the features are read, and are not
 * resident. */
static inline bool node_features_are_brought(const struct node_features *features, uint32_t type)
{
    return features->source[type] && !feature_source_is_resident(features->source[type]);
}
/* Returns whether no type has such rows. */
bool node_features_are_resident(const struct node_features *features);
/* Returns whether rows of all types of `part` can be read without opening a shard. */
bool node_features_hold(const struct node_features *features, int part);
/* Finds the rows of nodes [count] of a resident type. They are valid until the next call for the
 * type. For a type without features, out->base is NULL. */
MUST_CHECK enum error_code node_features_fetch(const struct node_features *features, uint32_t type,
                                               const uint32_t *number, uint32_t count,
                                               struct input_rows *out, struct error *err);
/* Return the bytes that are held by resident types, and by all types. */
uint64_t node_features_resident_bytes(const struct node_features *features);
uint64_t node_features_bytes(const struct node_features *features);
/* Limits the bytes that all types that are not resident hold from now on. A batch reads
 * row_count [types] of their rows (feature_shares.h). */
void node_features_limit(struct node_features *features, const uint32_t *row_count,
                         uint64_t budget_bytes);
/* Returns the bytes of a row of the type in memory; 0 if its rows are not read. */
size_t node_features_row_bytes(const struct node_features *features, uint32_t type);

#endif
