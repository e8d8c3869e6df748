/*
 * edge_ends - edges whose ends are numbered within their node types, or within each of many graphs.
 *
 *   user:likes:item, 3 users before 5 items    "2,4" is the edge from node 2 to node 3 + 4
 *   graphs of 3 and 4 nodes, 2 and 1 edges     the third line "0,1" is in the second graph: it is
 *                                              the edge from node 3 to node 4
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_EDGE_ENDS_H
#define STAGES_INGEST_FORMATS_SHARED_EDGE_ENDS_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "common/graph/edge_column.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

enum { EDGE_ENDS_NO_TYPE = -1 };

struct edge_ends { /* edge_ends_place() advances it from edge to edge */
    /* the ranges of nodes that the ends belong to; with many graphs: the current graph */
    struct node_type source, target;
    int32_t type;             /* the type of all these edges, or EDGE_ENDS_NO_TYPE */
    enum delimiter delimiter; /* separates the two ends in text */
    /* For many graphs, borrowed: the number of nodes and of edges of each [graph_count]. NULL: the
     * ends have node types. */
    const int64_t *graph_nodes, *graph_edges;
    uint64_t graph_count, graph;
    int64_t edges_left; /* in the current graph */
};

/* Returns the ends of edges of `graph_count` graphs, beginning with the first graph. */
struct edge_ends edge_ends_of_graphs(const int64_t *graph_nodes, const int64_t *graph_edges,
                                     uint64_t graph_count);
/* Adds the columns that `ends` (NULL: none) has besides those of the file; all `count` edges have
 * the same values in them. */
void edge_ends_widen(const struct edge_ends *ends, struct edge_widths *width);
void edge_ends_fill(const struct edge_ends *ends, const struct edge_columns *columns,
                    uint64_t count);
/* Changes the ends of the next edge to numbers of nodes. Fails: ERROR_INPUT naming file, line, what
 * was expected and found. */
MUST_CHECK enum error_code edge_ends_place(struct edge_ends *ends, const char *where, int64_t line,
                                           int64_t *source, int64_t *target, struct error *err);

#endif
