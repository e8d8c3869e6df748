/* Tests that rows joined with other edges equal those of a topology of all edges, to the byte, for
 * any number of parts, and that errors name their cause. */
#include "common/numbers/random.h"
#include "store/topology/topology_join.h"

#include "tests/support/memory_topology.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 120, EDGES = 3000, PARTS = 4, WIDTH = 3 };

/* Includes a part without nodes and a part with one. */
static const uint32_t bounds[PARTS + 1] = {0, 0, 1, 70, NODES};

struct edge { /* sorted by target, then source; `key` tells edges with equal ends apart */
    uint64_t key;
    bool is_other;
};

struct graph {
    uint64_t row_start[NODES + 1];
    uint32_t neighbor[EDGES], source[EDGES], target[EDGES];
    double time[EDGES];
    float weight[EDGES], feature[EDGES][WIDTH], weight_sum[NODES];
    uint64_t count;
};

static struct edge edge[EDGES];

static int compare(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->is_other > y->is_other) - (x->is_other < y->is_other);
}

static void draw_edges(void)
{
    const struct random_stream stream = random_stream_of(3, RANDOM_GENERATOR, 0, 0, 0);
    for (uint32_t e = 0; e < EDGES; e++) {
        uint32_t word[4];
        random_block(&stream, e, 0, word);
        edge[e].key = (uint64_t)random_below(word[0], NODES - 10) << 32 | random_below(word[1], 40);
        edge[e].is_other = word[2] % 3 == 0;
    }
    qsort(edge, EDGES, sizeof *edge, compare);
}

/* Makes a graph of all edges, of the topology's, or of the others. Values depend on the index among
 * all edges. */
static void make(struct graph *graph, bool topology, bool others)
{
    *graph = (struct graph){.count = 0};
    for (uint32_t e = 0; e < EDGES; e++) {
        const uint64_t at = graph->count;
        if (edge[e].is_other ? !others : !topology)
            continue;
        graph->source[at] = graph->neighbor[at] = (uint32_t)edge[e].key;
        graph->target[at] = (uint32_t)(edge[e].key >> 32);
        graph->time[at] = e * 0.25;
        graph->weight[at] = (float)e * 0.37F;
        for (int k = 0; k < WIDTH; k++)
            graph->feature[at][k] = (float)e + (float)k * 0.125F;
        graph->row_start[graph->target[at] + 1]++;
        graph->count++;
    }
    for (uint32_t v = 0; v < NODES; v++)
        graph->row_start[v + 1] += graph->row_start[v];
}

static struct edge_columns_view columns_of(const struct graph *graph)
{
    struct edge_columns_view columns = {
        .width = {.of = {[EDGE_WEIGHT] = 1, [EDGE_TIME] = 1, [EDGE_FEATURE] = WIDTH}}};
    columns.data[EDGE_WEIGHT] = graph->weight;
    columns.data[EDGE_TIME] = graph->time;
    columns.data[EDGE_FEATURE] = graph->feature;
    return columns;
}

static void open_graph(const struct graph *graph, struct memory_topology *out)
{
    const struct edge_columns_view columns = columns_of(graph);
    memory_topology_make(out, graph->row_start, graph->neighbor, bounds, PARTS);
    memory_topology_give(out, &columns, graph->weight_sum);
}

static struct other_edges others_of(const struct graph *graph)
{
    return (struct other_edges){.count = graph->count,
                                .source = graph->source,
                                .target = graph->target,
                                .columns = columns_of(graph)};
}

static void check_part(const struct topology *found, const struct topology *expected, int number)
{
    const struct topology_part *a = topology_rows(found, number, 0);
    const struct topology_part *b = topology_rows(expected, number, 0);
    assert_int_equal(a->first_node, b->first_node);
    assert_int_equal(a->node_count, b->node_count);
    for (uint32_t row = 0; row <= a->node_count; row++)
        assert_int_equal(topology_row_start(a, row), topology_row_start(b, row));
    for (uint64_t e = 0; e < topology_row_start(b, b->node_count); e++) {
        assert_int_equal(*topology_neighbor(a, e), *topology_neighbor(b, e));
        assert_memory_equal(topology_column(a, EDGE_WEIGHT, e), topology_column(b, EDGE_WEIGHT, e),
                            sizeof(float));
        assert_memory_equal(topology_column(a, EDGE_TIME, e), topology_column(b, EDGE_TIME, e),
                            sizeof(double));
        assert_memory_equal(topology_column(a, EDGE_FEATURE, e),
                            topology_column(b, EDGE_FEATURE, e), WIDTH * sizeof(float));
    }
}

static void joined_rows_are_those_of_all_edges(void **state)
{
    struct temp_store *t = *state;
    static struct graph all, some, others;
    struct memory_topology whole, part;
    struct joined_topology joined;
    draw_edges();
    make(&all, true, true);
    make(&some, true, false);
    make(&others, false, true);
    assert_true(some.count > 500 && others.count > 500 && some.count + others.count == all.count);
    open_graph(&all, &whole);
    open_graph(&some, &part);
    const struct other_edges list = others_of(&others);
    assert_ok(topology_join(t->store, &part.topology, &list, &joined, &t->err), &t->err);
    assert_int_equal(joined.topology.edge_count, EDGES);
    for (int p = 0; p < PARTS; p++)
        if (bounds[p + 1] > bounds[p])
            check_part(&joined.topology, &whole.topology, p);
    assert_true(part.topology.edge_count == some.count); /* unchanged */
    joined_topology_close(&joined);
    memory_topology_release(&part);
    memory_topology_release(&whole);
}

static void wrong_edges_are_named(void **state)
{
    struct temp_store *t = *state;
    static struct graph some, others;
    struct memory_topology part;
    struct joined_topology joined;
    draw_edges();
    make(&some, true, false);
    make(&others, false, true);
    open_graph(&some, &part);
    struct other_edges list = others_of(&others);
    list.columns.width.of[EDGE_FEATURE] = 2;
    assert_fails(topology_join(t->store, &part.topology, &list, &joined, &t->err), ERROR_CORRUPT,
                 "expected the columns of the topology", &t->err);
    list = others_of(&others);
    others.source[7] = NODES;
    assert_fails(topology_join(t->store, &part.topology, &list, &joined, &t->err), ERROR_CORRUPT,
                 "edge 7 to join", &t->err);
    make(&others, false, true);
    others.target[9] = others.target[others.count - 1];
    assert_fails(topology_join(t->store, &part.topology, &list, &joined, &t->err), ERROR_CORRUPT,
                 "edge 10 to join", &t->err);
    memory_topology_release(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(joined_rows_are_those_of_all_edges),
        test_with_store(wrong_edges_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
