#include "stages/partition/rules/undirected_graph.h"

#include "common/base/memory.h"
#include "stages/partition/layout/edge_walk.h"
#include "store/records/dataset/edge_chunk.h"

#include <inttypes.h>
#include <stdbool.h>

/* Rows are built with room for in- and out-neighbours side by side: a pass in node order fills both
 * halves of a row in ascending order, so that merging them gives the row without sorting. */
struct building {
    struct undirected_graph *graph;
    uint32_t *in_count, *out_count; /* [node_count] filled so far */
    uint32_t *out_degree;           /* [node_count] */
    /* Each edge is stored in both directions, so rows are complete as they are read. */
    bool both_ways;
};

static enum error_code count_edges(void *context, const struct edge_chunk *chunk, struct error *err)
{
    struct building *b = context;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint32_t target = chunk->first_node + row;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            const uint32_t source = chunk->neighbor[e];
            if (source == target || (e > chunk->row_start[row] && chunk->neighbor[e - 1] == source))
                continue;
            b->in_count[target]++;
            if (!b->both_ways)
                b->out_degree[source]++;
        }
    }
    return ERROR_NONE;
}

static enum error_code fill_edges(void *context, const struct edge_chunk *chunk, struct error *err)
{
    struct building *b = context;
    struct undirected_graph *g = b->graph;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint32_t target = chunk->first_node + row;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            const uint32_t source = chunk->neighbor[e];
            if (source == target || (e > chunk->row_start[row] && chunk->neighbor[e - 1] == source))
                continue;
            const int32_t out_end = g->row_start[source] + (int32_t)b->out_count[source];
            const int32_t in_start = g->row_start[target] + (int32_t)b->out_degree[target];
            g->neighbor[in_start + (int32_t)b->in_count[target]++] = (int32_t)source;
            if (b->both_ways)
                continue;
            g->neighbor[out_end] = (int32_t)target;
            b->out_count[source]++;
        }
    }
    return ERROR_NONE;
}

/* Sets row offsets with room for both halves. */
static enum error_code place_rows(struct building *b, struct error *err)
{
    struct undirected_graph *g = b->graph;
    int64_t total = 0;
    for (uint32_t node = 0; node < g->node_count; node++) {
        g->row_start[node] = (int32_t)total;
        total += (int64_t)b->in_count[node] + b->out_degree[node];
        b->in_count[node] = 0;
        if (total > INT32_MAX)
            return error_set(err, ERROR_INVALID,
                             "the graph has more edges, both directions counted, than METIS's "
                             "limit of %d; " ADVICE "use partition.method: fennel or hash",
                             INT32_MAX);
    }
    g->row_start[g->node_count] = (int32_t)total;
    return memory_new(&g->neighbor, (size_t)total, "the graph for METIS", err);
}

/* Merges two ascending halves into `out`, each node once. Returns how many nodes that are. */
static int32_t merge_halves(const int32_t *a, uint32_t a_count, const int32_t *b, uint32_t b_count,
                            int32_t *out)
{
    uint32_t i = 0, j = 0;
    int32_t count = 0;
    while (i < a_count || j < b_count) {
        const bool take_a = j == b_count || (i < a_count && a[i] <= b[j]);
        const int32_t node = take_a ? a[i++] : b[j++];
        if (count == 0 || out[count - 1] != node)
            out[count++] = node;
    }
    return count;
}

static enum error_code merge_rows(struct building *b, struct error *err)
{
    struct undirected_graph *g = b->graph;
    int32_t *scratch = NULL, end = 0;
    uint32_t widest = 0;
    for (uint32_t node = 0; node < g->node_count; node++)
        if (b->in_count[node] + b->out_count[node] > widest)
            widest = b->in_count[node] + b->out_count[node];
    const enum error_code rc = memory_new(&scratch, widest, "a row of the graph", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t node = 0; node < g->node_count; node++) {
        const int32_t *row = &g->neighbor[g->row_start[node]];
        const int32_t count = merge_halves(row, b->out_count[node], row + b->out_count[node],
                                           b->in_count[node], scratch);
        g->row_start[node] = end;
        for (int32_t i = 0; i < count; i++)
            g->neighbor[end++] = scratch[i];
    }
    g->row_start[g->node_count] = end;
    memory_free(scratch);
    return ERROR_NONE;
}

static enum error_code build(struct store *store, const struct dataset_schema *schema,
                             struct building *b, struct error *err)
{
    const size_t n = schema->node_count;
    enum error_code rc = memory_new(&b->graph->row_start, n + 1, "the rows for METIS", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&b->in_count, n, "in-degrees", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&b->out_count, n, "out-degrees", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&b->out_degree, n, "out-degrees", err);
    if (rc == ERROR_NONE)
        rc = edge_walk(store, schema, count_edges, b, err);
    if (rc == ERROR_NONE)
        rc = place_rows(b, err);
    if (rc == ERROR_NONE)
        rc = edge_walk(store, schema, fill_edges, b, err);
    if (rc == ERROR_NONE)
        rc = merge_rows(b, err);
    return rc;
}

enum error_code undirected_graph_build(struct store *store, const struct dataset_schema *schema,
                                       struct undirected_graph *out, struct error *err)
{
    *out = (struct undirected_graph){.node_count = schema->node_count};
    struct building b = {.graph = out, .both_ways = schema->undirected};
    if (schema->node_count > INT32_MAX - 1 || schema->edge_count > INT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "%" PRIu32 " nodes and %" PRIu64
                         " edges: METIS's limit is %d of each; " ADVICE
                         "use partition.method: fennel or hash",
                         schema->node_count, schema->edge_count, INT32_MAX);
    enum error_code rc = build(store, schema, &b, err);
    memory_free(b.in_count);
    memory_free(b.out_count);
    memory_free(b.out_degree);
    if (rc != ERROR_NONE)
        undirected_graph_release(out);
    return rc;
}

/* --- what edges cost --- */

struct costing {
    struct undirected_graph *graph;
    const uint32_t *cost; /* [node_count] */
    double scale;         /* at most 1 */
};

/* Returns the index of `to` in the row of `from`; -1 if it is not there. */
static int32_t find_edge(const struct undirected_graph *g, uint32_t from, uint32_t to)
{
    int32_t low = g->row_start[from], high = g->row_start[from + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if ((uint32_t)g->neighbor[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->row_start[from + 1] && (uint32_t)g->neighbor[low] == to ? low : -1;
}

static enum error_code add_cost(struct costing *c, uint32_t source, uint32_t target,
                                struct error *err)
{
    const int32_t there = find_edge(c->graph, source, target);
    const int32_t back = find_edge(c->graph, target, source);
    if (there < 0 || back < 0)
        return error_set(err, ERROR_CORRUPT,
                         "the edge between nodes %" PRIu32 " and %" PRIu32
                         " is there in one direction only",
                         source, target);
    const int32_t cost = (int32_t)(c->cost[target] * c->scale);
    c->graph->edge_cost[there] += cost;
    c->graph->edge_cost[back] += cost;
    return ERROR_NONE;
}

static enum error_code add_costs(void *context, const struct edge_chunk *chunk, struct error *err)
{
    struct costing *c = context;
    enum error_code rc = ERROR_NONE;
    for (uint32_t row = 0; rc == ERROR_NONE && row < chunk->node_count; row++) {
        const uint32_t target = chunk->first_node + row;
        for (uint64_t e = chunk->row_start[row]; rc == ERROR_NONE && e < chunk->row_start[row + 1];
             e++) {
            const uint32_t source = chunk->neighbor[e];
            if (source == target || (e > chunk->row_start[row] && chunk->neighbor[e - 1] == source))
                continue;
            rc = add_cost(c, source, target, err);
        }
    }
    return rc;
}

enum error_code undirected_graph_set_cost(struct undirected_graph *graph, struct store *store,
                                          const struct dataset_schema *schema, const uint32_t *cost,
                                          struct error *err)
{
    const int32_t entries = graph->row_start[graph->node_count];
    double most = 0; /* the sum that all costs together may reach */
    enum error_code rc = memory_new(&graph->edge_cost, (size_t)entries, "the costs of edges", err);
    if (rc != ERROR_NONE)
        return rc;
    for (int32_t e = 0; e < entries; e++)
        graph->edge_cost[e] = 1;
    for (uint32_t node = 0; node < graph->node_count; node++)
        most += 2.0 * cost[node] * (graph->row_start[node + 1] - graph->row_start[node]);
    const double room = INT32_MAX - entries;
    struct costing costing = {.graph = graph, .cost = cost, .scale = most > room ? room / most : 1};
    return edge_walk(store, schema, add_costs, &costing, err);
}

uint64_t undirected_graph_bytes(const struct dataset_schema *schema)
{
    return 16ULL * schema->node_count + 4ULL * schema->edge_count * (schema->undirected ? 1 : 2);
}

void undirected_graph_release(struct undirected_graph *graph)
{
    memory_free(graph->row_start);
    memory_free(graph->neighbor);
    memory_free(graph->edge_cost);
    *graph = (struct undirected_graph){0};
}

static enum error_code check_row(const struct undirected_graph *g, int32_t node, struct error *err)
{
    for (int32_t e = g->row_start[node]; e < g->row_start[node + 1]; e++) {
        const int32_t other = g->neighbor[e];
        if (other < 0 || (uint32_t)other >= g->node_count)
            return error_set(err, ERROR_CORRUPT, "node %d has neighbour %d, expected 0 to %" PRIu32,
                             node, other, g->node_count - 1);
        if (other == node)
            return error_set(err, ERROR_CORRUPT, "node %d has an edge to itself", node);
        if (e > g->row_start[node] && g->neighbor[e - 1] >= other)
            return error_set(err, ERROR_CORRUPT, "neighbours of node %d do not ascend", node);
    }
    return ERROR_NONE;
}

static enum error_code check_rows(const struct undirected_graph *g, struct error *err)
{
    if (g->row_start[0] != 0)
        return error_set(err, ERROR_CORRUPT, "rows start at %d, expected 0", g->row_start[0]);
    for (uint32_t node = 0; node < g->node_count; node++) {
        if (g->row_start[node + 1] < g->row_start[node])
            return error_set(err, ERROR_CORRUPT, "row %" PRIu32 " ends before it starts", node);
        const enum error_code rc = check_row(g, (int32_t)node, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    return ERROR_NONE;
}

/* Checks that each edge has its reverse. Nodes are visited in ascending order and rows ascend, so
 * the visits to a row must meet its entries one after the other: `met` counts them. */
static enum error_code check_symmetry(const struct undirected_graph *g, int32_t *met,
                                      struct error *err)
{
    for (int32_t node = 0; (uint32_t)node < g->node_count; node++)
        for (int32_t e = g->row_start[node]; e < g->row_start[node + 1]; e++) {
            const int32_t other = g->neighbor[e], at = g->row_start[other] + met[other]++;
            if (at >= g->row_start[other + 1] || g->neighbor[at] != node)
                return error_set(err, ERROR_CORRUPT,
                                 "the edge between nodes %d and %d is there in one direction only",
                                 node, other);
        }
    return ERROR_NONE;
}

enum error_code undirected_graph_check(const struct undirected_graph *graph, struct error *err)
{
    int32_t *met = NULL;
    enum error_code rc = check_rows(graph, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&met, graph->node_count, "the symmetry check", err);
    if (rc == ERROR_NONE)
        rc = check_symmetry(graph, met, err);
    memory_free(met);
    return rc;
}
