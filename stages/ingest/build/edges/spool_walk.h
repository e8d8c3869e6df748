/*
 * spool_walk - visits all edges in a spool in the order of the input.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_SPOOL_WALK_H
#define STAGES_INGEST_BUILD_EDGES_SPOOL_WALK_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "stages/ingest/build/edges/edge_spool.h"

#include <stdint.h>

struct visited_edge {
    uint32_t source, target;
    int64_t time;  /* 0 without times */
    uint16_t type; /* 0 without types */
};
typedef enum error_code (*edge_visitor)(void *context, const struct visited_edge *edge,
                                        struct error *err);

/* Returns the type of edge `edge`; 0 without the column. */
uint16_t visited_type(const struct edge_columns_view *columns, uint64_t edge);
/* Calls `visit` for each edge except self loops. Fails: ERROR_IO; the first error of `visit`, at
 * once. */
MUST_CHECK enum error_code spool_walk(struct edge_spool *spool, edge_visitor visit, void *context,
                                      struct error *err);

#endif
