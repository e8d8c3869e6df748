#include "stages/partition/rules/coarse_graph.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"

#include <string.h>

enum { PASSES = 3, LEVELS = 12 };

/* One step from the graph `from` to a smaller one. */
struct level {
    const struct coarse_graph *from; /* weight NULL: all 1; size NULL: all 1 */
    uint64_t size_most;
    uint32_t *cluster; /* [node_count]; owned, and so are the next */
    uint64_t *held;    /* [node_count]: the size of each cluster */
    uint64_t *sum;     /* [node_count]: the present row's weight to a cluster; otherwise 0 */
    uint32_t *met;     /* [node_count]: clusters of the present row's neighbours */
    uint32_t *member;  /* [node_count]: nodes sorted by cluster */
    uint32_t *start;   /* [node_count + 1]: ranges of the clusters in `member` */
    uint32_t met_count, cluster_count;
};

static uint32_t size_of(const struct coarse_graph *g, uint32_t node)
{
    return g->size ? g->size[node] : 1;
}

static enum error_code level_init(struct level *l, const struct coarse_graph *from,
                                  uint64_t size_most, struct error *err)
{
    const size_t n = from->node_count;
    static const char what[] = "the clusters of a graph";
    *l = (struct level){.from = from, .size_most = size_most};
    enum error_code rc = memory_new(&l->cluster, n, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&l->held, n, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&l->sum, n, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&l->met, n, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&l->member, n, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&l->start, n + 1, what, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < n; node++) {
        l->cluster[node] = node;
        l->held[node] = size_of(from, node);
    }
    return rc;
}

static void level_release(struct level *l)
{
    memory_free(l->cluster);
    memory_free(l->held);
    memory_free(l->sum);
    memory_free(l->met);
    memory_free(l->member);
    memory_free(l->start);
}

/* --- clusters --- */

/* Adds the weights of a row by cluster, with the loop of its own node only `with_loop`. */
static void sum_row(struct level *l, uint32_t node, bool with_loop)
{
    const struct coarse_graph *g = l->from;
    for (int32_t e = g->row_start[node]; e < g->row_start[node + 1]; e++) {
        const uint32_t cluster = l->cluster[g->neighbor[e]];
        if (!with_loop && (uint32_t)g->neighbor[e] == node)
            continue;
        if (l->sum[cluster] == 0)
            l->met[l->met_count++] = cluster;
        l->sum[cluster] += g->weight ? g->weight[e] : 1;
    }
}

static void forget_sums(struct level *l)
{
    for (uint32_t i = 0; i < l->met_count; i++)
        l->sum[l->met[i]] = 0;
    l->met_count = 0;
}

/* Moves a node to its best cluster. Returns whether it moved. */
static bool move_node(struct level *l, uint32_t node)
{
    const uint32_t own = l->cluster[node], size = size_of(l->from, node);
    uint32_t best = own;
    sum_row(l, node, false);
    l->held[own] -= size;
    for (uint32_t i = 0; i < l->met_count; i++) {
        const uint32_t cluster = l->met[i];
        if (l->held[cluster] + size > l->size_most || cluster == own)
            continue;
        if (l->sum[cluster] > l->sum[best] ||
            (l->sum[cluster] == l->sum[best] && best != own && cluster < best))
            best = cluster;
    }
    l->held[best] += size;
    l->cluster[node] = best;
    forget_sums(l);
    return best != own;
}

static enum error_code find_clusters(struct level *l, struct error *err)
{
    bool moved = true;
    for (int pass = 0; pass < PASSES && moved; pass++) {
        moved = false;
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        for (uint32_t node = 0; node < l->from->node_count; node++)
            moved |= move_node(l, node);
    }
    return ERROR_NONE;
}

/* Numbers the clusters that have nodes in the order of their first nodes, and sorts members by
 * cluster. */
static void number_clusters(struct level *l)
{
    const uint32_t n = l->from->node_count;
    uint32_t *number = l->met; /* unused between rows */
    memset(number, 0xff, n * sizeof *number);
    for (uint32_t node = 0; node < n; node++) {
        uint32_t *of = &number[l->cluster[node]];
        if (*of == UINT32_MAX)
            *of = l->cluster_count++;
        l->cluster[node] = *of;
        l->start[*of + 1]++;
    }
    for (uint32_t c = 0; c < l->cluster_count; c++)
        l->start[c + 1] += l->start[c];
    for (uint32_t node = n; node-- > 0;) {
        const uint32_t c = l->cluster[node];
        l->member[--l->start[c + 1]] = node;
    }
    /* start[c + 1] is now the first member of cluster c: one place too far. */
    memmove(l->start, l->start + 1, l->cluster_count * sizeof *l->start);
    l->start[l->cluster_count] = n;
}

/* --- the smaller graph --- */

static enum error_code allocate(const struct level *l, struct coarse_graph *out, struct error *err)
{
    const size_t edges = (size_t)l->from->row_start[l->from->node_count];
    enum error_code rc = memory_new(&out->row_start, (size_t)l->cluster_count + 1, "rows", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->neighbor, edges + 1, "the edges of a smaller graph", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->weight, edges + 1, "the weights of a smaller graph", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->size, l->cluster_count, "the sizes of clusters", err);
    return rc;
}

static enum error_code contract(struct level *l, struct coarse_graph *out, struct error *err)
{
    int32_t at = 0;
    number_clusters(l);
    out->node_count = l->cluster_count;
    const enum error_code rc = allocate(l, out, err);
    for (uint32_t c = 0; rc == ERROR_NONE && c < l->cluster_count; c++) {
        for (uint32_t i = l->start[c]; i < l->start[c + 1]; i++) {
            sum_row(l, l->member[i], true);
            out->size[c] += size_of(l->from, l->member[i]);
        }
        for (uint32_t i = 0; i < l->met_count; i++, at++) {
            out->neighbor[at] = (int32_t)l->met[i];
            out->weight[at] = (uint32_t)l->sum[l->met[i]];
        }
        out->row_start[c + 1] = at;
        forget_sums(l);
    }
    return rc;
}

static void release_rows(struct coarse_graph *g)
{
    memory_free(g->row_start);
    memory_free(g->neighbor);
    memory_free(g->weight);
    memory_free(g->size);
}

/* Replaces `graph` by the graph of its clusters, and updates cluster [cluster_count]. */
static enum error_code shrink(struct coarse_graph *graph, bool is_first, uint64_t size_most,
                              uint32_t *cluster, uint32_t cluster_count, struct error *err)
{
    struct coarse_graph smaller = {0};
    struct level level;
    enum error_code rc = level_init(&level, graph, size_most, err);
    if (rc == ERROR_NONE)
        rc = find_clusters(&level, err);
    if (rc == ERROR_NONE)
        rc = contract(&level, &smaller, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < cluster_count; node++)
        cluster[node] = level.cluster[cluster[node]];
    level_release(&level);
    if (rc != ERROR_NONE) {
        release_rows(&smaller);
        return rc;
    }
    if (!is_first)
        release_rows(graph);
    *graph = smaller;
    return rc;
}

enum error_code coarse_graph_build(const struct undirected_graph *graph, uint32_t wanted,
                                   struct coarse_graph *out, struct error *err)
{
    const uint32_t n = graph->node_count;
    const uint64_t size_most = 2 * (uint64_t)n / wanted > 2 ? 2 * (uint64_t)n / wanted : 2;
    /* The first graph is the caller's, without weights. */
    struct coarse_graph now = {
        .node_count = n, .row_start = graph->row_start, .neighbor = graph->neighbor};
    uint32_t *cluster = NULL, before = 0;
    int levels = 0;
    *out = (struct coarse_graph){0};
    enum error_code rc = memory_new(&cluster, n, "the clusters of nodes", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < n; node++)
        cluster[node] = node;
    do {
        before = now.node_count;
        if (rc == ERROR_NONE)
            rc = shrink(&now, levels++ == 0, size_most, cluster, n, err);
    } while (rc == ERROR_NONE && levels < LEVELS && now.node_count > wanted &&
             now.node_count < before - before / 20);
    if (rc == ERROR_NONE) {
        log_info("coarse_graph levels=%d nodes=%u of=%u", levels, now.node_count, n);
        *out = now;
        out->cluster = cluster;
        return rc;
    }
    if (now.row_start != graph->row_start)
        release_rows(&now);
    memory_free(cluster);
    return rc;
}

uint64_t coarse_graph_bytes(uint64_t node_count, uint64_t neighbor_count)
{
    /* Counts two graphs, while one is made from the other, and the arrays of struct level. */
    return 2 * neighbor_count * (sizeof(int32_t) + sizeof(uint32_t)) +
           node_count * (2 * sizeof(uint64_t) + 9 * sizeof(uint32_t));
}

void coarse_graph_release(struct coarse_graph *graph)
{
    release_rows(graph);
    memory_free(graph->cluster);
    *graph = (struct coarse_graph){0};
}
