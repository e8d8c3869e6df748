/*
 * feature_window - the feature rows of a node type in the order of the partition, a window at a
 * time.
 *
 * Nodes are numbered within their type, as in type_ranges.h; with one type these are the new ids. A
 * part's rows come from many feature chunks. A window is as many consecutive new ids as the budget
 * has room for. One pass over the chunks in their stored order fills it, so every chunk is read
 * once for each window. If all rows fit there is one pass.
 */
#ifndef STAGES_PARTITION_LAYOUT_FEATURE_WINDOW_H
#define STAGES_PARTITION_LAYOUT_FEATURE_WINDOW_H

#include "common/base/error.h"
#include "stages/partition/layout/part_rows.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

struct feature_window { /* {0} is empty */
    struct store *store;
    const struct dataset_schema *schema;
    const struct numbering *numbering;
    struct node_type type;
    uint32_t type_number;
    const uint32_t *type_book; /* [part_count + 1] */
    uint32_t capacity;         /* in rows */
    uint32_t first, count;
    float *row; /* [capacity, feature_dim of the type], owned */
};

/* Allocates a window of at least 256 rows, whatever the budget. Borrows all arguments; `type_book`
 * is that of the type. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code feature_window_init(struct feature_window *window, struct store *store,
                                               const struct dataset_schema *schema,
                                               const struct numbering *numbering, uint32_t type,
                                               const uint32_t *type_book, uint64_t budget_bytes,
                                               struct error *err);
/* Sets *row to the rows of the nodes from `first` on: *count of them, at least one and at most
 * `wanted`, valid until the next call. Ascending calls make the fewest passes. Fails: ERROR_CORRUPT
 * naming the chunk; ERROR_UNAVAILABLE when asked to stop. */
MUST_CHECK enum error_code feature_window_rows(struct feature_window *window, uint32_t first,
                                               uint32_t wanted, const float **row, uint32_t *count,
                                               struct error *err);
void feature_window_release(struct feature_window *window);

/* Calls `visit` with each feature chunk of the type in order, checked against the schema. */
struct feature_chunk;
typedef enum error_code (*feature_visitor)(void *context, const struct feature_chunk *chunk,
                                           struct error *err);
MUST_CHECK enum error_code feature_walk(struct store *store, const struct dataset_schema *schema,
                                        uint32_t type, feature_visitor visit, void *context,
                                        struct error *err);
/* Does the same for these nodes of the dataset only, node [count], of the type, ascending: with
 * some of them in each call (store/versions/listed_rows.h). */
MUST_CHECK enum error_code feature_rows_walk(struct store *store,
                                             const struct dataset_schema *schema, uint32_t type,
                                             const uint32_t *node, uint64_t count,
                                             feature_visitor visit, void *context,
                                             struct error *err);

#endif
