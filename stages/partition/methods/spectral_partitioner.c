/*
 * Spectral clustering: Ng, Jordan and Weiss, "On spectral clustering: analysis and an algorithm",
 * NIPS 2001.
 *
 * The eigenvectors of the normalised Laplacian I - D^-1/2 A D^-1/2 with the smallest eigenvalues
 * are those of D^-1/2 A D^-1/2 with the largest. Each is a column of an embedding, whose rows
 * k-means clusters (embedded_parts.h). Real graphs have many small components and fringes, and the
 * first eigenvectors would show only these. So an edge of weight (mean degree) / n is added between
 * any two nodes (Zhang and Rohe, "Understanding regularized spectral clustering via graph
 * conductance", NeurIPS 2018), which costs a sum in each product.
 *
 * For a graph with more than LARGE nodes the eigenvectors are those of a smaller graph
 * (coarse_graph.h), and a node has the row of its cluster: ARPACK's products take most of the time,
 * and clusters of some ten nodes get the same parts as their nodes. The streams after k-means read
 * the whole graph.
 *
 * Elements are rounded to 2^-20, so that the last bits of the BLAS below ARPACK do not count, as
 * far as rounding can do that.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/math/eigenvectors.h"
#include "stages/partition/rules/coarse_graph.h"
#include "stages/partition/rules/embedded_parts.h"
#include "stages/partition/rules/undirected_graph.h"

#include <math.h>
#include <string.h>

enum { LARGE = 1 << 17, COARSE_NODES = 1 << 15 };

/* A graph; weight NULL: all weights are 1. */
struct weighted_graph {
    uint32_t node_count;
    const int32_t *row_start, *neighbor;
    const uint32_t *weight;
};

struct adjacency {
    const struct weighted_graph *graph;
    double added;  /* the weight that is added between any two nodes */
    double *scale; /* [node_count] the diagonal of D^-1/2, owned, and so is the next */
    double *x;     /* [node_count] */
};

static void product(void *context, const double *x, double *y)
{
    const struct adjacency *a = context;
    const struct weighted_graph *g = a->graph;
    double sum = 0.0;
    for (uint32_t node = 0; node < g->node_count; node++) {
        a->x[node] = a->scale[node] * x[node];
        sum += a->x[node];
    }
    for (uint32_t node = 0; node < g->node_count; node++) {
        double row = a->added * sum;
        for (int32_t e = g->row_start[node]; e < g->row_start[node + 1]; e++)
            row += g->weight ? g->weight[e] * a->x[g->neighbor[e]] : a->x[g->neighbor[e]];
        y[node] = a->scale[node] * row;
    }
}

static double degree_of(const struct weighted_graph *g, uint32_t node)
{
    double degree = 0.0;
    for (int32_t e = g->row_start[node]; e < g->row_start[node + 1]; e++)
        degree += g->weight ? g->weight[e] : 1;
    return degree;
}

static enum error_code adjacency_init(struct adjacency *a, const struct weighted_graph *graph,
                                      struct error *err)
{
    const uint32_t n = graph->node_count;
    double total = 0.0;
    *a = (struct adjacency){.graph = graph};
    enum error_code rc = memory_new(&a->scale, n, "the degrees of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&a->x, n, "a product", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < n; node++) {
        a->scale[node] = degree_of(graph, node);
        total += a->scale[node];
    }
    a->added = (total > 0 ? total / n : 1) / n;
    for (uint32_t node = 0; rc == ERROR_NONE && node < n; node++)
        a->scale[node] = 1.0 / sqrt(a->scale[node] + a->added * n);
    return rc;
}

/* Computes row [node_count, dim] from the eigenvectors. */
static enum error_code embed(const struct weighted_graph *graph, uint32_t dim, int64_t seed,
                             float *row, struct error *err)
{
    static const double tolerance = 1e-4, grid = 1048576.0;
    const size_t n = graph->node_count;
    struct adjacency a = {0};
    double *vector = NULL, value[64];
    int found = 0;
    must(dim <= sizeof value / sizeof *value);
    enum error_code rc = adjacency_init(&a, graph, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&vector, n * dim, "eigenvectors", err);
    const struct symmetric_matrix matrix = {.size = (int32_t)n, .product = product, .context = &a};
    if (rc == ERROR_NONE)
        rc = eigenvectors_largest(&matrix, (int)dim, tolerance, seed, vector, value, &found, err);
    if (rc == ERROR_NONE)
        log_info("spectral eigenvectors=%d of=%u", found, dim);
    for (size_t node = 0; rc == ERROR_NONE && node < n; node++)
        for (uint32_t c = 0; c < dim; c++)
            row[node * dim + c] =
                (float)(floor(vector[c * n + node] * sqrt((double)n) * grid + 0.5) / grid);
    memory_free(vector);
    memory_free(a.scale);
    memory_free(a.x);
    return rc;
}

static enum error_code embed_whole(const struct undirected_graph *graph, uint32_t dim, int64_t seed,
                                   float *row, struct error *err)
{
    const struct weighted_graph whole = {.node_count = graph->node_count,
                                         .row_start = graph->row_start,
                                         .neighbor = graph->neighbor};
    return embed(&whole, dim, seed, row, err);
}

static enum error_code embed_coarse(const struct undirected_graph *graph, uint32_t dim,
                                    int64_t seed, float *row, struct error *err)
{
    struct coarse_graph coarse = {0};
    float *of_cluster = NULL;
    enum error_code rc = coarse_graph_build(graph, COARSE_NODES, &coarse, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&of_cluster, (size_t)coarse.node_count * dim, "the rows of clusters", err);
    const struct weighted_graph small = {.node_count = coarse.node_count,
                                         .row_start = coarse.row_start,
                                         .neighbor = coarse.neighbor,
                                         .weight = coarse.weight};
    if (rc == ERROR_NONE)
        rc = embed(&small, dim, seed, of_cluster, err);
    for (size_t node = 0; rc == ERROR_NONE && node < graph->node_count; node++)
        memcpy(&row[node * dim], &of_cluster[(size_t)coarse.cluster[node] * dim],
               dim * sizeof *row);
    memory_free(of_cluster);
    coarse_graph_release(&coarse);
    return rc;
}

/* Returns the bytes for a graph of n nodes whose eigenvectors are computed. */
static uint64_t eigen_bytes(uint64_t n, uint32_t dim)
{
    return eigenvectors_bytes(n, (int)dim) + n * sizeof(double) * (dim + 2);
}

static uint64_t bytes_of(const struct partition_request *request)
{
    const uint64_t n = request->schema->node_count;
    const uint32_t dim = embedded_parts_dim((uint32_t)request->settings->partition.parts);
    const uint64_t rest = embedded_parts_bytes(request);
    const uint64_t neighbors = request->schema->edge_count * (request->schema->undirected ? 1 : 2);
    if (n <= LARGE)
        return rest + eigen_bytes(n, dim);
    /* There may be more clusters than wanted: as many as half of the nodes are allowed for. */
    return rest + coarse_graph_bytes(n, neighbors) + eigen_bytes(n / 2, dim);
}

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    const uint32_t n = request->schema->node_count;
    uint32_t dim = embedded_parts_dim((uint32_t)request->settings->partition.parts);
    struct undirected_graph graph = {0};
    float *row = NULL;
    if (n < 2 * dim) /* too few nodes for so many eigenvectors */
        return range_partitioner.assign(request, part, err);
    enum error_code rc = embedded_parts_check(request, "spectral", bytes_of(request), err);
    if (rc == ERROR_NONE)
        rc = undirected_graph_build(request->store, request->schema, &graph, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&row, (size_t)n * dim, "the embedding of nodes", err);
    if (rc == ERROR_NONE)
        rc = (n > LARGE ? embed_coarse : embed_whole)(&graph, dim, request->settings->seed, row,
                                                      err);
    undirected_graph_release(&graph);
    if (rc == ERROR_NONE)
        rc = embedded_parts(request, "spectral", row, dim, part, err);
    memory_free(row);
    return rc;
}

const struct partitioner spectral_partitioner = {.assign = assign, .bytes = bytes_of};
