#include "common/base/memory.h"
#include "stages/sampling/rows/neighbor_sampler.h"

#include "tests/reference/slow_sampler.h"
#include "tests/support/memory_topology.h"
#include "tests/support/random_graph.h"
#include "tests/support/test.h"

enum { NODE_COUNT = 700, HUB_DEGREE = 9000, SEED_COUNT = 48 };

struct fixture {
    uint64_t seed;
    struct random_graph graph;
    struct memory_topology whole, cut;
    struct slow_batch *slow;
    uint32_t seed_node[SEED_COUNT];
};

static const uint32_t whole_book[] = {0, NODE_COUNT};
static const uint32_t cut_book[] = {0, 1, 100, 100, 350, 351, 699, NODE_COUNT};

static int set_up(void **state)
{
    struct fixture *f = memory_alloc(1, sizeof *f);
    must(f != NULL);
    f->seed = random_graph_seed(42);
    random_graph_make(&f->graph, f->seed, NODE_COUNT, HUB_DEGREE);
    memory_topology_make(&f->whole, f->graph.row_start, f->graph.neighbor, whole_book, 1);
    memory_topology_make(&f->cut, f->graph.row_start, f->graph.neighbor, cut_book, 7);
    f->cut.topology.is_at_random = true; /* rows are read ahead; the draws must not change */
    f->slow = memory_alloc(1, sizeof *f->slow);
    must(f->slow != NULL);
    const struct random_stream stream = random_stream_of(f->seed, RANDOM_SHUFFLE, 0, 0, 0);
    for (uint32_t i = 0; i < SEED_COUNT; i++)
        f->seed_node[i] = (uint32_t)random_permute(&stream, i, NODE_COUNT);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    memory_topology_release(&f->whole);
    memory_topology_release(&f->cut);
    random_graph_release(&f->graph);
    memory_free(f->slow);
    memory_free(f);
    return 0;
}

static struct neighbor_sampler *sampler_of(const struct topology *topology, bool has_self_loops)
{
    struct error err = {0};
    struct neighbor_sampler *sampler = NULL;
    const struct neighbor_sampler_config config = {.topology = topology,
                                                   .has_self_loops = has_self_loops};
    assert_ok(neighbor_sampler_new(&config, &sampler, &err), &err);
    return sampler;
}

static struct neighbor_request request_of(const struct fixture *f, uint32_t round, int hop_count,
                                          const int64_t *fanout, uint32_t seed_count)
{
    return (struct neighbor_request){.seed = f->seed,
                                     .round = round,
                                     .slot = round % 3,
                                     .hop_count = hop_count,
                                     .fanout = fanout,
                                     .seed_node = f->seed_node,
                                     .seed_count = seed_count};
}

static void assert_same_as_slow(const struct mini_batch *batch, const struct slow_batch *slow)
{
    assert_int_equal(batch->node_count, slow->node_count);
    assert_int_equal(batch->row_count, slow->row_count);
    assert_int_equal(batch->edge_count, slow->edge_count);
    assert_memory_equal(batch->hop_end, slow->hop_end, ((size_t)batch->hop_count + 1) * 4);
    assert_memory_equal(batch->node, slow->node, (size_t)slow->node_count * 4);
    assert_memory_equal(batch->row_start, slow->row_start, ((size_t)slow->row_count + 1) * 4);
    if (slow->edge_count)
        assert_memory_equal(batch->neighbor, slow->neighbor, (size_t)slow->edge_count * 4);
}

static void draw_and_compare(const struct fixture *f, struct neighbor_sampler *sampler,
                             const struct neighbor_request *request)
{
    struct error err = {0};
    struct mini_batch batch;
    const struct slow_request slow = {request->seed,      request->round,  request->slot,
                                      request->hop_count, request->fanout, request->seed_node,
                                      request->seed_count};
    slow_sample(f->slow, f->graph.row_start, f->graph.neighbor, &slow);
    assert_ok(neighbor_sampler_draw(sampler, request, &batch, &err), &err);
    assert_same_as_slow(&batch, f->slow);
    assert_int_equal(batch.seed_count, request->seed_count);
    assert_null(batch.degree);
    assert_null(batch.weight_sum);
    assert_int_equal(edge_widths_bytes(&batch.columns.width), 0);
}

/* Gives the graphs columns whose values identify the edge, and sums that identify the node. */
static void give_columns(const struct fixture *f, struct memory_topology *whole,
                         struct memory_topology *cut, struct edge_columns *columns,
                         float *weight_sum)
{
    const uint64_t edges = f->graph.row_start[NODE_COUNT];
    const struct edge_widths width = {
        {[EDGE_WEIGHT] = 1, [EDGE_TYPE] = 1, [EDGE_TIME] = 1, [EDGE_ID] = 1, [EDGE_FEATURE] = 5}};
    struct error err = {0};
    assert_ok(edge_columns_new(columns, &width, edges, "edges", &err), &err);
    for (uint64_t e = 0; e < edges; e++) {
        ((float *)columns->data[EDGE_WEIGHT])[e] = (float)e;
        ((uint16_t *)columns->data[EDGE_TYPE])[e] = (uint16_t)(e % 500);
        ((int64_t *)columns->data[EDGE_TIME])[e] = (int64_t)e + 5;
        ((int64_t *)columns->data[EDGE_ID])[e] = (int64_t)e;
        for (int k = 0; k < 5; k++)
            ((float *)columns->data[EDGE_FEATURE])[e * 5 + (uint64_t)k] = (float)e + (float)k;
    }
    for (uint32_t i = 0; i < NODE_COUNT; i++)
        weight_sum[i] = (float)i + 0.25F;
    const struct edge_columns_view view = edge_columns_read(columns, 0);
    memory_topology_make(whole, f->graph.row_start, f->graph.neighbor, whole_book, 1);
    memory_topology_make(cut, f->graph.row_start, f->graph.neighbor, cut_book, 7);
    memory_topology_give(whole, &view, weight_sum);
    memory_topology_give(cut, &view, weight_sum);
}

/* The id column identifies the graph's edge for each edge of the batch, and all other columns must
 * be that edge's. Rows keep the order of the graph's rows, so ids ascend. */
static void assert_columns(const struct fixture *f, const struct mini_batch *batch)
{
    const int64_t *id = batch->columns.data[EDGE_ID];
    for (uint32_t i = 0; i < batch->row_count; i++)
        for (uint32_t e = batch->row_start[i]; e < batch->row_start[i + 1]; e++) {
            const uint32_t node = batch->node[i];
            const uint64_t edge = (uint64_t)id[e];
            assert_true(edge >= f->graph.row_start[node] && edge < f->graph.row_start[node + 1]);
            assert_true(e == batch->row_start[i] || id[e] > id[e - 1]);
            assert_int_equal(f->graph.neighbor[edge], batch->node[batch->neighbor[e]]);
            assert_true(((const float *)batch->columns.data[EDGE_WEIGHT])[e] == (float)edge);
            assert_int_equal(((const uint16_t *)batch->columns.data[EDGE_TYPE])[e], edge % 500);
            assert_true(((const int64_t *)batch->columns.data[EDGE_TIME])[e] == (int64_t)edge + 5);
            for (int k = 0; k < 5; k++)
                assert_true(
                    ((const float *)batch->columns.data[EDGE_FEATURE])[e * 5U + (unsigned)k] ==
                    (float)edge + (float)k);
        }
    for (uint32_t i = 0; i < batch->node_count; i++)
        assert_true(batch->weight_sum[i] == (float)batch->node[i] + 0.25F);
}

/* Draws in one part and in seven, with short, drawn, whole and long rows. The batch is the same as
 * without columns. */
static void columns_are_those_of_the_edges_that_were_drawn(void **state)
{
    const struct fixture *f = *state;
    static const int64_t fanouts[][3] = {{10, 10, 0}, {-1, 2, -1}, {70, 5, 0}, {5, 300, 40}};
    static const int hops[] = {2, 3, 2, 3};
    static float weight_sum[NODE_COUNT];
    struct memory_topology in_one, in_seven;
    struct edge_columns columns;
    struct error err = {0};
    give_columns(f, &in_one, &in_seven, &columns, weight_sum);
    struct neighbor_sampler *whole = sampler_of(&in_one.topology, true);
    struct neighbor_sampler *cut = sampler_of(&in_seven.topology, true);
    for (uint32_t round = 0; round < 8; round++) {
        struct neighbor_request request =
            request_of(f, round, hops[round % 4], fanouts[round % 4], SEED_COUNT);
        draw_and_compare(f, whole, &request);
        request.wants_weight_sum = true;
        request.edge_columns = (1U << EDGE_COLUMN_COUNT) - 1;
        struct mini_batch batch;
        assert_ok(neighbor_sampler_draw(whole, &request, &batch, &err), &err);
        assert_same_as_slow(&batch, f->slow);
        assert_columns(f, &batch);
        assert_ok(neighbor_sampler_draw(cut, &request, &batch, &err), &err);
        assert_same_as_slow(&batch, f->slow);
        assert_columns(f, &batch);
        request.edge_columns = 1U << EDGE_WEIGHT;
        request.wants_weight_sum = false;
        assert_ok(neighbor_sampler_draw(cut, &request, &batch, &err), &err);
        assert_null(batch.weight_sum);
        assert_non_null(batch.columns.data[EDGE_WEIGHT]);
        assert_int_equal(edge_widths_bytes(&batch.columns.width), sizeof(float));
    }
    neighbor_sampler_free(whole);
    neighbor_sampler_free(cut);
    memory_topology_release(&in_one);
    memory_topology_release(&in_seven);
    edge_columns_release(&columns);
}

/* A graph without weights gives none even if a request wants them. */
static void columns_that_the_graph_lacks_are_left_out(void **state)
{
    const struct fixture *f = *state;
    static const int64_t few[] = {5, 5};
    struct neighbor_sampler *sampler = sampler_of(&f->whole.topology, true);
    struct neighbor_request request = request_of(f, 1, 2, few, SEED_COUNT);
    request.edge_columns = (1U << EDGE_COLUMN_COUNT) - 1;
    request.wants_weight_sum = true;
    draw_and_compare(f, sampler, &request);
    neighbor_sampler_free(sampler);
}

/* One sampler, used many times in any order, must also give what a fresh sampler gives. */
static void equals_the_slow_sampler(void **state)
{
    const struct fixture *f = *state;
    static const int64_t fanouts[][3] = {{10, 10, 0},  {15, 10, 5}, {1, 1, 1},  {-1, 2, -1},
                                         {-1, -1, -1}, {3, 0, 0},   {70, 5, 0}, {5, 300, 40}};
    static const int hops[] = {2, 3, 3, 3, 3, 1, 2, 3};
    struct neighbor_sampler *whole = sampler_of(&f->whole.topology, true);
    struct neighbor_sampler *cut = sampler_of(&f->cut.topology, true);
    for (uint32_t round = 0; round < 24; round++) {
        const uint32_t seeds = round % 2 ? SEED_COUNT : 1 + round;
        const struct neighbor_request request =
            request_of(f, round, hops[round % 8], fanouts[round % 8], seeds);
        draw_and_compare(f, whole, &request);
        draw_and_compare(f, cut, &request);
    }
    neighbor_sampler_free(whole);
    neighbor_sampler_free(cut);
}

static void the_same_request_gives_the_same_batch(void **state)
{
    const struct fixture *f = *state;
    static const int64_t few[] = {5, 5}, all[] = {-1, -1, -1};
    struct neighbor_sampler *sampler = sampler_of(&f->whole.topology, true);
    const struct neighbor_request request = request_of(f, 1, 2, few, SEED_COUNT);
    const struct neighbor_request other = request_of(f, 2, 3, all, SEED_COUNT);
    draw_and_compare(f, sampler, &request);
    draw_and_compare(f, sampler, &other);
    draw_and_compare(f, sampler, &request);
    neighbor_sampler_free(sampler);
}

static bool same_edges(const struct fixture *f, const struct neighbor_request *a,
                       const struct neighbor_request *b)
{
    struct error err = {0};
    struct mini_batch first, second;
    struct neighbor_sampler *one = sampler_of(&f->whole.topology, true);
    struct neighbor_sampler *two = sampler_of(&f->whole.topology, true);
    assert_ok(neighbor_sampler_draw(one, a, &first, &err), &err);
    assert_ok(neighbor_sampler_draw(two, b, &second, &err), &err);
    const bool same = first.node_count == second.node_count &&
                      memcmp(first.node, second.node, (size_t)first.node_count * 4) == 0;
    neighbor_sampler_free(one);
    neighbor_sampler_free(two);
    return same;
}

static void seed_round_and_slot_each_change_the_draws(void **state)
{
    const struct fixture *f = *state;
    static const int64_t few[] = {5, 5};
    const struct neighbor_request usual = request_of(f, 1, 2, few, SEED_COUNT);
    struct neighbor_request other = usual;
    assert_true(same_edges(f, &usual, &other));
    other.round++;
    assert_false(same_edges(f, &usual, &other));
    other = usual;
    other.slot++;
    assert_false(same_edges(f, &usual, &other));
    other = usual;
    other.seed++;
    assert_false(same_edges(f, &usual, &other));
}

static void keeps_to_the_fanout_and_knows_each_node_once(void **state)
{
    const struct fixture *f = *state;
    static const int64_t fanout[] = {6, 4, 3};
    static bool known[NODE_COUNT];
    struct error err = {0};
    struct mini_batch batch;
    struct neighbor_sampler *sampler = sampler_of(&f->cut.topology, true);
    const struct neighbor_request request = request_of(f, 9, 3, fanout, SEED_COUNT);
    assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    memset(known, 0, sizeof known);
    for (uint32_t i = 0; i < batch.node_count; i++) {
        assert_false(known[batch.node[i]]);
        known[batch.node[i]] = true;
    }
    for (uint32_t hop = 0, i = 0; hop < 3; hop++)
        for (; i < batch.hop_end[hop]; i++) {
            const uint64_t *start = f->graph.row_start + batch.node[i];
            const uint64_t degree = start[1] - start[0], most = (uint64_t)fanout[hop];
            const uint32_t count = batch.row_start[i + 1] - batch.row_start[i];
            assert_int_equal(count, degree < most ? degree : most);
            for (uint32_t e = batch.row_start[i]; e < batch.row_start[i + 1]; e++)
                assert_true(batch.neighbor[e] < batch.hop_end[hop + 1]);
        }
    neighbor_sampler_free(sampler);
}

static uint32_t slow_degree(const struct random_graph *graph, uint32_t node)
{
    uint32_t degree = 0;
    for (uint64_t e = graph->row_start[node]; e < graph->row_start[node + 1]; e++)
        degree += graph->neighbor[e] != node;
    return degree;
}

static void degrees_are_those_of_the_whole_graph_without_self_loops(void **state)
{
    const struct fixture *f = *state;
    static const int64_t fanout[] = {4, 4};
    struct error err = {0};
    struct mini_batch batch;
    struct neighbor_sampler *sampler = sampler_of(&f->cut.topology, true);
    struct neighbor_sampler *trusting = sampler_of(&f->cut.topology, false);
    struct neighbor_request request = request_of(f, 9, 2, fanout, SEED_COUNT);
    uint32_t loops = 0;
    request.wants_degree = true;
    assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    for (uint32_t i = 0; i < batch.node_count; i++) {
        const uint32_t node = batch.node[i];
        assert_int_equal(batch.degree[i], slow_degree(&f->graph, node));
        loops +=
            (uint32_t)(f->graph.row_start[node + 1] - f->graph.row_start[node]) - batch.degree[i];
    }
    assert_true(loops > 0); /* otherwise the graph tests nothing */
    assert_ok(neighbor_sampler_draw(trusting, &request, &batch, &err), &err);
    for (uint32_t i = 0; i < batch.node_count; i++)
        assert_int_equal(batch.degree[i],
                         f->graph.row_start[batch.node[i] + 1] - f->graph.row_start[batch.node[i]]);
    neighbor_sampler_free(sampler);
    neighbor_sampler_free(trusting);
}

static void isolated_seeds_have_empty_rows(void **state)
{
    const struct fixture *f = *state;
    static const uint32_t isolated[] = {7, 15, 695};
    static const int64_t fanout[] = {10, -1};
    struct error err = {0};
    struct mini_batch batch;
    struct neighbor_sampler *sampler = sampler_of(&f->cut.topology, false);
    struct neighbor_request request = request_of(f, 0, 2, fanout, 3);
    request.seed_node = isolated;
    assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.node_count, 3);
    assert_int_equal(batch.row_count, 3);
    assert_int_equal(batch.edge_count, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(batch.hop_end[i], 3);
        assert_int_equal(batch.row_start[i + 1], 0);
        assert_int_equal(batch.node[i], isolated[i]);
    }
    neighbor_sampler_free(sampler);
}

static void a_graph_of_one_node_is_a_graph(void **state)
{
    (void)state;
    static const uint64_t row_start[] = {0, 2};
    static const uint32_t neighbor[] = {0, 0}, book[] = {0, 1}, seed_node[] = {0};
    static const int64_t fanout[] = {1, 5};
    struct error err = {0};
    struct mini_batch batch;
    struct memory_topology graph;
    memory_topology_make(&graph, row_start, neighbor, book, 1);
    struct neighbor_sampler *sampler = sampler_of(&graph.topology, true);
    const struct neighbor_request request = {.hop_count = 2,
                                             .fanout = fanout,
                                             .seed_node = seed_node,
                                             .seed_count = 1,
                                             .wants_degree = true};
    assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.node_count, 1);
    assert_int_equal(batch.row_count, 1);
    assert_int_equal(batch.edge_count, 1);
    assert_int_equal(batch.neighbor[0], 0);
    assert_int_equal(batch.degree[0], 0);
    neighbor_sampler_free(sampler);
    memory_topology_release(&graph);
}

static void no_hops_give_the_seeds_alone(void **state)
{
    const struct fixture *f = *state;
    struct error err = {0};
    struct mini_batch batch;
    struct neighbor_sampler *sampler = sampler_of(&f->whole.topology, true);
    const struct neighbor_request request = request_of(f, 0, 0, NULL, 5);
    assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.node_count, 5);
    assert_int_equal(batch.row_count, 0);
    assert_int_equal(batch.hop_end[0], 5);
    assert_int_equal(batch.row_start[0], 0);
    neighbor_sampler_free(sampler);
}

/* Each position of a row may be kept, so with repeated edges a neighbour may be kept twice. */
static void repeated_edges_are_kept_as_edges(void **state)
{
    (void)state;
    static const uint64_t row_start[] = {0, 4, 4};
    static const uint32_t neighbor[] = {1, 1, 1, 1}, book[] = {0, 2}, seed_node[] = {0};
    static const int64_t fanout[] = {3};
    struct error err = {0};
    struct mini_batch batch;
    struct memory_topology graph;
    memory_topology_make(&graph, row_start, neighbor, book, 1);
    struct neighbor_sampler *sampler = sampler_of(&graph.topology, true);
    const struct neighbor_request request = {
        .hop_count = 1, .fanout = fanout, .seed_node = seed_node, .seed_count = 1};
    assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.edge_count, 3);
    assert_int_equal(batch.node_count, 2);
    for (int e = 0; e < 3; e++)
        assert_int_equal(batch.neighbor[e], 1);
    neighbor_sampler_free(sampler);
    memory_topology_release(&graph);
}

static void a_warm_sampler_does_not_allocate(void **state)
{
    const struct fixture *f = *state;
    static const int64_t fanout[] = {15, 10, 5};
    struct error err = {0};
    struct mini_batch batch;
    struct neighbor_sampler *sampler = sampler_of(&f->cut.topology, true);
    struct neighbor_request request = request_of(f, 0, 3, fanout, SEED_COUNT);
    request.wants_degree = true;
    assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    const long before = memory_allocation_count();
    for (request.round = 0; request.round < 20; request.round++)
        assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    assert_int_equal(memory_allocation_count(), before);
    neighbor_sampler_free(sampler);
}

static void works_in_the_bytes_it_says_and_no_fewer(void **state)
{
    const struct fixture *f = *state;
    static const int64_t fanout[] = {-1, -1};
    struct error err = {0};
    struct mini_batch batch;
    struct neighbor_sampler *sampler = NULL;
    struct neighbor_sampler_config config = {.topology = &f->whole.topology,
                                             .budget_bytes = (uint64_t)NODE_COUNT * 4 - 1};
    const struct neighbor_request request = request_of(f, 0, 2, fanout, SEED_COUNT);
    assert_fails(neighbor_sampler_new(&config, &sampler, &err), ERROR_NO_MEMORY,
                 "the table of known nodes: 2800 bytes", &err);
    assert_null(sampler);
    config.budget_bytes = 100000;
    assert_ok(neighbor_sampler_new(&config, &sampler, &err), &err);
    assert_fails(neighbor_sampler_draw(sampler, &request, &batch, &err), ERROR_NO_MEMORY,
                 "of the budget of 100000 are used", &err);
    assert_null(batch.node);
    assert_true(neighbor_sampler_bytes(sampler) < 200000);
    neighbor_sampler_free(sampler);
}

static void fails_cleanly_at_every_allocation(void **state)
{
    const struct fixture *f = *state;
    static const int64_t fanout[] = {15, 10, 5};
    struct error err = {0};
    const long live = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long allowed = 0; rc != ERROR_NONE; allowed++) {
        struct neighbor_sampler *sampler = NULL;
        struct mini_batch batch;
        const struct neighbor_sampler_config config = {.topology = &f->cut.topology};
        struct neighbor_request request = request_of(f, 0, 3, fanout, SEED_COUNT);
        request.wants_degree = true;
        memory_fail_after(allowed);
        rc = neighbor_sampler_new(&config, &sampler, &err);
        if (rc == ERROR_NONE)
            rc = neighbor_sampler_draw(sampler, &request, &batch, &err);
        memory_fail_after(-1);
        neighbor_sampler_free(sampler);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), live);
        assert_true(allowed < 1000);
    }
}

static void a_failed_draw_does_not_disturb_the_next(void **state)
{
    const struct fixture *f = *state;
    static const uint32_t twice[] = {3, 5, 3};
    static const int64_t fanout[] = {5, 5};
    struct error err = {0};
    struct mini_batch batch;
    struct neighbor_sampler *sampler = sampler_of(&f->whole.topology, true);
    struct neighbor_request request = request_of(f, 4, 2, fanout, 3);
    request.seed_node = twice;
    assert_fails(neighbor_sampler_draw(sampler, &request, &batch, &err), ERROR_CORRUPT,
                 "seed 2 is node 3, which is a seed already", &err);
    request = request_of(f, 4, 2, fanout, SEED_COUNT);
    draw_and_compare(f, sampler, &request);
    neighbor_sampler_free(sampler);
}

static void names_a_seed_out_of_range(void **state)
{
    const struct fixture *f = *state;
    static const uint32_t seeds[] = {3, NODE_COUNT};
    static const int64_t fanout[] = {5};
    struct error err = {0};
    struct mini_batch batch;
    struct neighbor_sampler *sampler = sampler_of(&f->whole.topology, true);
    struct neighbor_request request = request_of(f, 4, 1, fanout, 2);
    request.seed_node = seeds;
    assert_fails(neighbor_sampler_draw(sampler, &request, &batch, &err), ERROR_CORRUPT,
                 "seed 1 is node 700, expected below 700", &err);
    neighbor_sampler_free(sampler);
}

static void names_a_broken_topology(void **state)
{
    (void)state;
    static const uint32_t book[] = {0, 3}, neighbor[] = {1, 2, 0, 1}, seed_node[] = {0};
    static const uint64_t row_start[] = {0, 2, 3, 4};
    static const int64_t fanout[] = {-1, -1};
    struct error err = {0};
    struct mini_batch batch;
    struct memory_topology graph;
    memory_topology_make(&graph, row_start, neighbor, book, 1);
    struct neighbor_sampler *sampler = sampler_of(&graph.topology, true);
    const struct neighbor_request request = {
        .hop_count = 2, .fanout = fanout, .seed_node = seed_node, .seed_count = 1};
    graph.neighbor[2] = 3;
    assert_fails(neighbor_sampler_draw(sampler, &request, &batch, &err), ERROR_CORRUPT,
                 "hop 2: topology: a neighbour of node 1 is 3, expected below 3", &err);
    graph.neighbor[2] = 0;
    graph.row_start[1] = 5;
    assert_fails(neighbor_sampler_draw(sampler, &request, &batch, &err), ERROR_CORRUPT,
                 "hop 1: topology: the row of node 0 is 0 to 5", &err);
    graph.row_start[1] = 2;
    graph.row_start[2] = 1;
    assert_fails(neighbor_sampler_draw(sampler, &request, &batch, &err), ERROR_CORRUPT,
                 "hop 2: topology: the row of node 1 is 2 to 1", &err);
    neighbor_sampler_free(sampler);
    memory_topology_release(&graph);
}

/* Draws from a row that spans two chunks of 2^27 edges. The memory between is reserved but never
 * touched. */
static void a_row_may_lie_across_chunks(void **state)
{
    (void)state;
    enum { CHUNK = 1 << TOPOLOGY_CHUNK_SHIFT, SIDE = 3 };
    static const uint32_t book[] = {0, 8}, seed_node[] = {0};
    static const uint64_t row_start[] = {CHUNK - SIDE, CHUNK + SIDE, CHUNK + SIDE,
                                         CHUNK + SIDE, CHUNK + SIDE, CHUNK + SIDE,
                                         CHUNK + SIDE, CHUNK + SIDE, CHUNK + SIDE};
    static const int64_t fanout[] = {-1};
    struct error err = {0};
    struct mini_batch batch;
    uint32_t *before = memory_map((size_t)CHUNK * 4);
    uint32_t after[SIDE];
    assert_non_null(before);
    for (uint32_t i = 0; i < SIDE; i++) {
        before[CHUNK - SIDE + i] = 1 + i;
        after[i] = 1 + SIDE + i;
    }
    const uint32_t *neighbor_chunk[] = {before, after};
    const uint64_t *row_start_chunk[] = {row_start};
    struct topology_part part = {.node_count = 8,
                                 .edge_count = CHUNK + SIDE,
                                 .row_start_chunk = row_start_chunk,
                                 .neighbor_chunk = neighbor_chunk};
    const struct topology topology = {
        .part_count = 1, .node_count = 8, .edge_count = CHUNK + SIDE, .book = book, .part = &part};
    struct neighbor_sampler *sampler = sampler_of(&topology, false);
    const struct neighbor_request request = {
        .hop_count = 1, .fanout = fanout, .seed_node = seed_node, .seed_count = 1};
    assert_ok(neighbor_sampler_draw(sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.edge_count, 2 * SIDE);
    for (uint32_t i = 0; i < batch.node_count; i++)
        assert_int_equal(batch.node[i], i);
    neighbor_sampler_free(sampler);
    memory_unmap(before, (size_t)CHUNK * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_slow_sampler),
        cmocka_unit_test(columns_are_those_of_the_edges_that_were_drawn),
        cmocka_unit_test(columns_that_the_graph_lacks_are_left_out),
        cmocka_unit_test(the_same_request_gives_the_same_batch),
        cmocka_unit_test(seed_round_and_slot_each_change_the_draws),
        cmocka_unit_test(keeps_to_the_fanout_and_knows_each_node_once),
        cmocka_unit_test(degrees_are_those_of_the_whole_graph_without_self_loops),
        cmocka_unit_test(isolated_seeds_have_empty_rows),
        cmocka_unit_test(a_graph_of_one_node_is_a_graph),
        cmocka_unit_test(no_hops_give_the_seeds_alone),
        cmocka_unit_test(repeated_edges_are_kept_as_edges),
        cmocka_unit_test(a_warm_sampler_does_not_allocate),
        cmocka_unit_test(works_in_the_bytes_it_says_and_no_fewer),
        cmocka_unit_test(fails_cleanly_at_every_allocation),
        cmocka_unit_test(a_failed_draw_does_not_disturb_the_next),
        cmocka_unit_test(names_a_seed_out_of_range),
        cmocka_unit_test(names_a_broken_topology),
        cmocka_unit_test(a_row_may_lie_across_chunks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
