/*
 * listed_rows - reads the rows of some nodes of a dataset, stored or merged, without a pass over
 * all nodes.
 *
 * The nodes must ascend. For a merged version (records/dataset/dataset_merge.h) only their rows are made,
 * from the chunks of the base that have them; for a whole dataset its chunks are opened and read in
 * place. A visitor gets the same arrays as from merged_records.h, valid until it returns: some
 * consecutive ones of the listed nodes, and no others.
 *
 * Fails: as the visitor; as the functions of merged_records.h. Threads: any at once.
 */
#ifndef STORE_VERSIONS_LISTED_ROWS_H
#define STORE_VERSIONS_LISTED_ROWS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"

#include <stdint.h>

typedef enum error_code (*edge_rows_visitor)(void *context, const struct edge_chunk *rows,
                                             struct error *err);
typedef enum error_code (*feature_rows_visitor)(void *context, const struct feature_chunk *rows,
                                                struct error *err);

/* node [count]: numbers below schema->node_count. */
MUST_CHECK enum error_code
listed_edge_rows(struct store *store, const struct dataset_schema *schema, const uint32_t *node,
                 uint64_t count, edge_rows_visitor visit, void *context, struct error *err);
/* node [count]: nodes of the type, which must have features. */
MUST_CHECK enum error_code listed_feature_rows(struct store *store,
                                               const struct dataset_schema *schema, uint32_t type,
                                               const uint32_t *node, uint64_t count,
                                               feature_rows_visitor visit, void *context,
                                               struct error *err);

#endif
