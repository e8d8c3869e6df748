/*
 * typed_features - the features of the node types of a graph with relations, and where the nodes of each type stand.
 *
 * Rows of a type are numbered among all nodes of the type (type_ranges.h). Each type has a source of its own
 * (feature_source.h), or none: nothing is read of a type without features, nor of any without train-step.features.
 * All types are resident if they fit the budget; else the smallest ones that fit half of it, and the rows of the others are
 * brought batch by batch.
 */
#ifndef STAGES_TRAIN_STEP_TYPED_FEATURES_H
#define STAGES_TRAIN_STEP_TYPED_FEATURES_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "store/features/feature_source.h"
#include "store/records/type_ranges.h"

#include <stdbool.h>
#include <stdint.h>

struct typed_features { /* {0} is closed, or of a graph without relations */
    uint32_t type_count;
    struct type_ranges ranges;               /* borrowed from the partition book */
    uint32_t *book[RELATION_TYPE_COUNT_MAX]; /* [parts + 1]: type_ranges_book() */
    struct feature_source
        *source[RELATION_TYPE_COUNT_MAX]; /* NULL: no features are read of the type */
};

/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming the type whose rows have another width than the book says;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_features_open(const struct stage_context *context,
                                               uint64_t budget_bytes, struct typed_features *out,
                                               struct error *err);
void typed_features_close(struct typed_features *features);

/* Whether those of all types are. */
bool typed_features_are_resident(const struct typed_features *features);
/* Bytes held by resident ones, or by all. */
uint64_t typed_features_resident_bytes(const struct typed_features *features);
uint64_t typed_features_bytes(const struct typed_features *features);
/* From now on at most so many bytes for all that are not resident, of which a batch wants row_count [types] rows
 * (feature_shares.h). */
void typed_features_limit(struct typed_features *features, const uint32_t *row_count,
                          uint64_t budget_bytes);
/* Bytes of a row of the type as it is held; 0: none is read. */
size_t typed_features_row_bytes(const struct typed_features *features, uint32_t type);

#endif
