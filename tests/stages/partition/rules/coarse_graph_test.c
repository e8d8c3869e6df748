/* Smaller graphs: clusters keep their bound and weights count the edges between clusters. Also the
 * parts of a large graph that are found through a smaller one. */
#include "common/base/memory.h"
#include "stages/partition/rules/coarse_graph.h"
#include "store/records/dataset/edge_chunk.h"

#include "tests/stages/partition/methods/communities.h"

#include <stdlib.h>

static struct communities graph;
static struct undirected_graph whole;

static void open_graph(struct store *store)
{
    struct error err = {0};
    communities_make(&graph, store, true, 8);
    assert_ok(undirected_graph_build(store, &graph.schema, &whole, &err), &err);
}

/* Counts the edges between every pair of clusters by hand, and compares. */
static void check_weights(const struct coarse_graph *coarse)
{
    const size_t n = coarse->node_count;
    uint32_t *between = calloc(n * n, sizeof *between), *size = calloc(n, sizeof *size);
    uint64_t entries = 0;
    assert_true(between && size);
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++) {
        assert_true(coarse->cluster[v] < n);
        size[coarse->cluster[v]]++;
        for (int32_t e = whole.row_start[v]; e < whole.row_start[v + 1]; e++)
            between[coarse->cluster[v] * n + coarse->cluster[whole.neighbor[e]]]++;
    }
    for (size_t c = 0; c < n; c++) {
        assert_int_equal(coarse->size[c], size[c]);
        assert_true(size[c] > 0);
        for (int32_t e = coarse->row_start[c]; e < coarse->row_start[c + 1]; e++) {
            uint32_t *expected = &between[c * n + (uint32_t)coarse->neighbor[e]];
            assert_true(*expected > 0);
            assert_int_equal(coarse->weight[e], *expected);
            *expected = 0; /* each pair of clusters may come only once */
            entries++;
        }
    }
    for (size_t i = 0; i < n * n; i++)
        assert_int_equal(between[i], 0);
    assert_int_equal(entries, coarse->row_start[n]);
    free(between);
    free(size);
}

static void weights_are_the_edges_between_clusters(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t wanted[] = {1, 20, 100, 500, COMMUNITY_NODES};
    open_graph(t->store);
    const long blocks = memory_live_blocks();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const uint32_t most = 2 * COMMUNITY_NODES / wanted[i];
        struct coarse_graph coarse = {0};
        assert_ok(coarse_graph_build(&whole, wanted[i], &coarse, &t->err), &t->err);
        check_weights(&coarse);
        for (uint32_t c = 0; c < coarse.node_count; c++)
            assert_true(coarse.size[c] <= most);
        assert_true(coarse.node_count <= 2 * wanted[i] || coarse.node_count < COMMUNITY_NODES / 8);
        coarse_graph_release(&coarse);
        assert_int_equal(memory_live_blocks(), blocks);
    }
    undirected_graph_release(&whole);
}

static void clusters_are_of_one_community(void **state)
{
    struct temp_store *t = *state;
    struct coarse_graph coarse = {0};
    uint32_t pure = 0;
    open_graph(t->store);
    assert_ok(coarse_graph_build(&whole, 100, &coarse, &t->err), &t->err);
    for (uint32_t c = 0; c < coarse.node_count; c++) {
        uint32_t of_group[GROUPS] = {0}, most = 0;
        for (uint32_t v = 0; v < COMMUNITY_NODES; v++)
            of_group[v % GROUPS] += coarse.cluster[v] == c;
        for (int g = 0; g < GROUPS; g++)
            most = of_group[g] > most ? of_group[g] : most;
        pure += most;
    }
    assert_true(pure > COMMUNITY_NODES * 2 / 3); /* by chance it would be an eighth and some */
    coarse_graph_release(&coarse);
    undirected_graph_release(&whole);
}

static void memory_that_runs_out_leaves_nothing_behind(void **state)
{
    struct temp_store *t = *state;
    enum error_code rc = ERROR_NO_MEMORY;
    struct coarse_graph coarse = {0};
    open_graph(t->store);
    const long blocks = memory_live_blocks();
    for (int after = 0; rc != ERROR_NONE; after++) {
        memory_fail_after(after);
        rc = coarse_graph_build(&whole, 100, &coarse, &t->err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_true(rc == ERROR_NONE || memory_live_blocks() == blocks);
    }
    coarse_graph_release(&coarse);
    undirected_graph_release(&whole);
}

enum { RING_NODES = 132000, RING_EDGES = RING_NODES * 6, RING_GROUP = 50 };
static const size_t ring_ends = (size_t)2 * RING_EDGES; /* edges in both directions */

/* Sets the ends of an edge. Groups are on a ring, with an edge from each group to the next. There
 * are more nodes than the limit for eigenvectors of a whole graph. */
static void end_of(uint32_t edge, uint32_t *from, uint32_t *to)
{
    const struct random_stream stream = random_stream_of(5, RANDOM_GENERATOR, 0, 0, 0);
    *from = edge / 6;
    *to = edge % 6 == 0 ? (*from + RING_GROUP) % RING_NODES
                        : *from / RING_GROUP * RING_GROUP +
                              random_below(random_word(&stream, edge, 0), RING_GROUP);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Writes both directions, by target and then source. */
static void write_ring(struct store *store, uint64_t *row_start, uint32_t *neighbor)
{
    uint64_t *pair = calloc(ring_ends, sizeof *pair);
    struct error err = {0};
    assert_non_null(pair);
    for (uint32_t e = 0; e < RING_EDGES; e++) {
        uint32_t from = 0, to = 0;
        end_of(e, &from, &to);
        pair[2 * (size_t)e] = (uint64_t)from << 32 | to;
        pair[2 * (size_t)e + 1] = (uint64_t)to << 32 | from;
        row_start[from + 1]++;
        row_start[to + 1]++;
    }
    qsort(pair, ring_ends, sizeof *pair, compare);
    for (uint32_t v = 0; v < RING_NODES; v++)
        row_start[v + 1] += row_start[v];
    for (size_t e = 0; e < ring_ends; e++)
        neighbor[e] = (uint32_t)pair[e];
    free(pair);
    const struct edge_chunk chunk = {.node_count = RING_NODES,
                                     .edge_count = ring_ends,
                                     .row_start = row_start,
                                     .neighbor = neighbor};
    assert_ok(edge_chunk_put(store, "ring-1", 0, &chunk, &err), &err);
}

static void a_large_graph_is_cut_by_its_smaller_one(void **state)
{
    struct temp_store *t = *state;
    uint64_t *row_start = calloc(RING_NODES + 1, sizeof *row_start), cut = 0;
    uint32_t *neighbor = calloc(ring_ends, sizeof *neighbor);
    uint32_t *part = calloc(RING_NODES, sizeof *part), *degree = calloc(RING_NODES, sizeof *degree);
    uint8_t *marks = calloc(RING_NODES, 1);
    static struct dataset_schema schema = {
        .id = "ring-1", .node_count = RING_NODES, .edge_chunk_count = 1, .undirected = true};
    struct pipeline_settings settings;
    schema.edge_count = ring_ends;
    assert_true(row_start && neighbor && part && degree && marks);
    write_ring(t->store, row_start, neighbor);
    for (uint32_t v = 0; v < RING_NODES; v++)
        degree[v] = (uint32_t)(row_start[v + 1] - row_start[v]);
    pipeline_settings_defaults(&settings);
    settings.partition.parts = 4;
    const struct partition_request request = {.store = t->store,
                                              .settings = &settings,
                                              .schema = &schema,
                                              .in_degree = degree,
                                              .split_marks = marks,
                                              .budget_bytes = 1 << 30};
    assert_ok(spectral_partitioner.assign(&request, part, &t->err), &t->err);
    for (uint32_t v = 0; v < RING_NODES; v++)
        for (uint64_t e = row_start[v]; e < row_start[v + 1]; e++)
            cut += part[v] != part[neighbor[e]];
    assert_true(cut * 20 < ring_ends); /* hashed nodes would cut three in four */
    free(row_start);
    free(neighbor);
    free(degree);
    free(part);
    free(marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(weights_are_the_edges_between_clusters),
        test_with_store(clusters_are_of_one_community),
        test_with_store(memory_that_runs_out_leaves_nothing_behind),
        test_with_store(a_large_graph_is_cut_by_its_smaller_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
