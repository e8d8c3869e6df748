/*
 * feature_source_state - the fields of a feature source, shared by feature_source.c and
 * feature_walk.c. No other file may use them.
 */
#ifndef STORE_FEATURES_FEATURE_SOURCE_STATE_H
#define STORE_FEATURES_FEATURE_SOURCE_STATE_H

#include "common/parallel/shared_area.h"
#include "store/features/feature_parts.h"
#include "store/features/feature_source.h"
#include "store/features/feature_walk.h"
#include "store/features/row_order.h"

/* The feature cache: rows that stay in memory. {0} is empty. */
struct feature_cache {
    char *row; /* [count] rows */
    size_t mapped_bytes;
    uint32_t *slot_of; /* [node_count]: slot + 1, or 0 */
    uint32_t *node;    /* [count]: node of each slot */
    uint32_t count;
};

struct feature_source {
    uint32_t dim;
    enum tensor_type type;    /* of the stored rows */
    enum precision precision; /* of the rows that are held and handed out */
    uint32_t node_count;
    int part_count;
    uint32_t *book; /* [part_count + 1] */
    char tensor[TENSOR_NAME_SIZE];
    uint64_t budget_bytes;

    int sharers; /* 1 at least */
    struct feature_parts parts;
    struct shared_area resident; /* [node_count] rows, or {0}: out of the budget */

    /* Used only if the rows do not fit the budget: */
    struct row_order order;
    struct feature_cache cache;
    struct feature_stripe stripe;
    char *rows; /* [row_capacity] of the last fetch */
    size_t row_capacity;
};

/* Returns whether rows are held in another form than they are stored in. */
bool feature_source_converts(const struct feature_source *source);

#endif
