#include "stages/ingest/formats/shared/edge_ends.h"

#include <inttypes.h>
#include <stdio.h>

static void name_graph(struct edge_ends *ends)
{
    (void)snprintf(ends->source.name, sizeof ends->source.name, "%" PRIu64, ends->graph);
    ends->target = ends->source;
}

struct edge_ends edge_ends_of_graphs(const int64_t *graph_nodes, const int64_t *graph_edges,
                                     uint64_t graph_count)
{
    struct edge_ends ends = {.type = EDGE_ENDS_NO_TYPE,
                             .delimiter = DELIMITER_COMMA,
                             .graph_nodes = graph_nodes,
                             .graph_edges = graph_edges,
                             .graph_count = graph_count};
    if (graph_count) {
        ends.source.node_count = (uint32_t)graph_nodes[0];
        ends.edges_left = graph_edges[0];
    }
    name_graph(&ends);
    return ends;
}

void edge_ends_widen(const struct edge_ends *ends, struct edge_widths *width)
{
    if (ends && ends->type != EDGE_ENDS_NO_TYPE)
        width->of[EDGE_TYPE] = 1;
}

void edge_ends_fill(const struct edge_ends *ends, const struct edge_columns *columns,
                    uint64_t count)
{
    uint16_t *type = columns->data[EDGE_TYPE];
    if (!ends || ends->type == EDGE_ENDS_NO_TYPE)
        return;
    for (uint64_t i = 0; i < count; i++)
        type[i] = (uint16_t)ends->type;
}

/* Advances to the graph of the next edge. Returns false after the last edge of the last graph. */
static bool find_graph(struct edge_ends *ends)
{
    const uint64_t before = ends->graph;
    while (ends->edges_left == 0 && ends->graph + 1 < ends->graph_count) {
        ends->source.first_node += ends->source.node_count;
        ends->graph++;
        ends->source.node_count = (uint32_t)ends->graph_nodes[ends->graph];
        ends->edges_left = ends->graph_edges[ends->graph];
    }
    if (ends->graph != before)
        name_graph(ends);
    return ends->edges_left-- > 0;
}

static enum error_code place(const struct edge_ends *ends, const struct node_type *type,
                             const char *what, const char *where, int64_t line, int64_t *node,
                             struct error *err)
{
    if (*node < 0 || *node >= (int64_t)type->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": %s: expected a node of %s %s, which has %" PRIu32
                         ", numbered from 0, found %" PRId64,
                         where, line, what, ends->graph_nodes ? "graph" : "type", type->name,
                         type->node_count, *node);
    *node += type->first_node;
    return ERROR_NONE;
}

enum error_code edge_ends_place(struct edge_ends *ends, const char *where, int64_t line,
                                int64_t *source, int64_t *target, struct error *err)
{
    if (ends->graph_nodes && !find_graph(ends))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected no edge after those of the last of %" PRIu64
                         " graphs",
                         where, line, ends->graph_count);
    const enum error_code rc = place(ends, &ends->source, "source", where, line, source, err);
    return rc == ERROR_NONE ? place(ends, &ends->target, "target", where, line, target, err) : rc;
}
