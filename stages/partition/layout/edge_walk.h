/*
 * edge_walk - passes over all edges of a dataset, chunk by chunk, in the order in which they are
 * stored. Chunks of a merged version are cut smaller.
 *
 * A chunk checks itself when it is read (its rows ascend and end where they should). This walk
 * checks what only the whole shows, once for all passes: chunks follow each other without a gap,
 * sources are nodes of the dataset, and the chunks add up to the counts of the schema.
 */
#ifndef STAGES_PARTITION_LAYOUT_EDGE_WALK_H
#define STAGES_PARTITION_LAYOUT_EDGE_WALK_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_chunk.h"

/* Receives one chunk, which is valid until it returns. */
typedef enum error_code (*edge_visitor)(void *context, const struct edge_chunk *chunk,
                                        struct error *err);

/* Calls `visit` for each chunk. Fails: what `visit` returns; ERROR_CORRUPT naming the chunk;
 * ERROR_UNAVAILABLE when the program was asked to stop. */
MUST_CHECK enum error_code edge_walk(struct store *store, const struct dataset_schema *schema,
                                     edge_visitor visit, void *context, struct error *err);
/* Calls `visit` for the rows of these nodes only, node [count], ascending: with some of them in
 * each call (store/versions/listed_rows.h). Fails as edge_walk(). */
MUST_CHECK enum error_code edge_rows_walk(struct store *store, const struct dataset_schema *schema,
                                          const uint32_t *node, uint64_t count, edge_visitor visit,
                                          void *context, struct error *err);

#endif
