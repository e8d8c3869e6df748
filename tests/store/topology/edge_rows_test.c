/* Tests edge features by the positions of a mini-batch, for any form, number of parts and number of
 * threads. */
#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/topology/edge_rows.h"

#include "tests/support/memory_topology.h"
#include "tests/support/test.h"

#include <stdio.h>

enum { NODES = 400, ROW_EDGES_MAX = 40, EDGES_MAX = NODES * ROW_EDGES_MAX, WIDTH = 3 };

/* A graph in which row v has v % 41 edges, and edge e the features {e, e + 0.5, -e}. */
struct graph {
    uint64_t row_start[NODES + 1];
    uint32_t neighbor[EDGES_MAX];
    float feature[EDGES_MAX][WIDTH];
    struct memory_topology topology;
};

static void open_graph(struct graph *g, const uint32_t *book, int part_count)
{
    struct edge_columns_view columns = {0};
    for (uint32_t v = 0; v < NODES; v++)
        g->row_start[v + 1] = g->row_start[v] + v % (ROW_EDGES_MAX + 1);
    for (uint64_t e = 0; e < g->row_start[NODES]; e++) {
        g->feature[e][0] = (float)e;
        g->feature[e][1] = (float)e + 0.5F;
        g->feature[e][2] = -(float)e;
    }
    columns.width.of[EDGE_FEATURE] = WIDTH;
    columns.data[EDGE_FEATURE] = g->feature;
    memory_topology_make(&g->topology, g->row_start, g->neighbor, book, part_count);
    memory_topology_give(&g->topology, &columns, NULL);
}

/* A batch with every edge of these rows, the last first. */
struct batch {
    uint32_t hop_end[3], node[NODES], row_start[2 * NODES + 1];
    uint32_t position[2 * EDGES_MAX], expected[2 * EDGES_MAX];
    struct mini_batch batch;
};

static void add_row(const struct graph *g, struct batch *b, uint32_t node)
{
    struct mini_batch *batch = &b->batch;
    const uint32_t length = (uint32_t)(g->row_start[node + 1] - g->row_start[node]);
    for (uint32_t i = length; i > 0; i--) {
        b->position[batch->edge_count] = i - 1;
        b->expected[batch->edge_count++] = (uint32_t)g->row_start[node] + i - 1;
    }
    b->row_start[++batch->row_count] = batch->edge_count;
}

static void open_batch(const struct graph *g, struct batch *b, enum batch_form form)
{
    const struct random_stream stream = {0};
    *b = (struct batch){.hop_end = {20, form == BATCH_SUBGRAPH ? NODES : 150, NODES}};
    for (uint32_t i = 0; i < NODES; i++)
        b->node[i] = (uint32_t)random_permute(&stream, i, NODES);
    b->batch = (struct mini_batch){.form = form,
                                   .hop_count = 2,
                                   .seed_count = 20,
                                   .node_count = NODES,
                                   .node_limit = NODES,
                                   .hop_end = b->hop_end,
                                   .node = b->node,
                                   .row_start = b->row_start,
                                   .edge_position = b->position};
    for (uint32_t i = 0; form == BATCH_LAYERED && i < b->hop_end[0]; i++)
        add_row(g, b, b->node[i]);
    for (uint32_t i = 0; i < b->hop_end[1]; i++)
        add_row(g, b, b->node[i]);
}

static void rows_are_those_of_the_edges(void **state)
{
    (void)state;
    static const uint32_t books[][5] = {{0, NODES}, {0, 0, 7, 200, NODES}};
    static const int part_count[] = {1, 4};
    static struct batch b;
    struct thread_pool *pool = NULL;
    struct error err = {0};
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    for (int cut = 0; cut < 2; cut++) {
        static struct graph g;
        open_graph(&g, books[cut], part_count[cut]);
        for (enum batch_form form = 0; form < BATCH_FORM_COUNT; form++)
            for (int threads = 1; threads <= 3; threads += 2) {
                open_batch(&g, &b, form);
                assert_true(form == BATCH_LAYERED || b.batch.edge_count > 0);
                assert_ok(edge_rows_fetch(&g.topology.topology, &b.batch, threads > 1 ? pool : NULL,
                                          &err),
                          &err);
                assert_int_equal(b.batch.columns.width.of[EDGE_FEATURE], WIDTH);
                const float *row = b.batch.columns.data[EDGE_FEATURE];
                for (uint32_t e = 0; e < b.batch.edge_count; e++)
                    assert_memory_equal(row + (size_t)e * WIDTH, g.feature[b.expected[e]],
                                        sizeof g.feature[0]);
                assert_ok(edge_rows_fetch(&g.topology.topology, &b.batch, NULL, &err), &err);
                assert_ptr_equal(b.batch.columns.data[EDGE_FEATURE], row);
                arena_release(&b.batch.memory);
            }
        memory_topology_release(&g.topology);
        memset(&g, 0, sizeof g);
    }
    thread_pool_free(pool);
    assert_int_equal(memory_live_blocks(), 0);
}

static void a_position_beyond_its_row_is_named(void **state)
{
    (void)state;
    static const uint32_t book[] = {0, NODES};
    static struct graph g;
    static struct batch b;
    struct error err = {0};
    open_graph(&g, book, 1);
    open_batch(&g, &b, BATCH_SUBGRAPH);
    const uint32_t row = 17, edge = b.row_start[row], node = b.node[row];
    const uint32_t length = (uint32_t)(g.row_start[node + 1] - g.row_start[node]);
    char expected[100];
    assert_true(length > 0);
    b.position[edge] = length;
    (void)snprintf(expected, sizeof expected,
                   "edge_position[%u]: expected below %u, the edges of node %u in the topology, "
                   "found %u",
                   edge, length, node, length);
    assert_fails(edge_rows_fetch(&g.topology.topology, &b.batch, NULL, &err), ERROR_CORRUPT,
                 expected, &err);
    assert_int_equal(b.batch.columns.width.of[EDGE_FEATURE], 0);
    b.position[edge] = 0;
    memory_fail_after(0);
    const enum error_code rc = edge_rows_fetch(&g.topology.topology, &b.batch, NULL, &err);
    memory_fail_after(-1);
    arena_release(&b.batch.memory);
    assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
    memory_topology_release(&g.topology);
    assert_int_equal(memory_live_blocks(), 0);
}

static void a_batch_without_edges_has_no_rows(void **state)
{
    (void)state;
    static const uint32_t book[] = {0, NODES}, none[] = {0}, seeds[] = {1}, node[] = {3};
    static struct graph g;
    struct error err = {0};
    struct mini_batch batch = {.seed_count = 1,
                               .node_count = 1,
                               .node_limit = 4,
                               .hop_end = seeds,
                               .node = node,
                               .row_start = none,
                               .edge_position = none};
    open_graph(&g, book, 1);
    assert_ok(edge_rows_fetch(&g.topology.topology, &batch, NULL, &err), &err);
    assert_int_equal(batch.columns.width.of[EDGE_FEATURE], WIDTH);
    arena_release(&batch.memory);
    memory_topology_release(&g.topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_edges),
        cmocka_unit_test(a_position_beyond_its_row_is_named),
        cmocka_unit_test(a_batch_without_edges_has_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
