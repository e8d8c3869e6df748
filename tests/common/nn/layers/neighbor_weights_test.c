/* Edges with factors: how each kind of layer aggregates them. */
#include "common/nn/layers/gcn_weights.h"
#include "common/nn/layers/neighbor_weights.h"

#include "tests/support/test.h"

#include <math.h>

/* Destination 0 has five edges in the whole graph; those from 2 and 3 were sampled. Destination 1
 * has two, one of them to itself, which was sampled. Rows begin at edge 1, as in the later hops of
 * a layered batch. */
static const uint32_t row_start[] = {1, 3, 5}, neighbor[] = {9, 2, 3, 1, 2},
                      degree[] = {5, 1, 3, 2};
static const float factor[] = {0, 2, 3, 1, 0.5F}, value[] = {0, 10, 20, 30, 40};
static const float value_sum[] = {4, 9, 16, 25};

static struct message_block block_of(bool has_values)
{
    return (struct message_block){.destination_count = 2,
                                  .source_count = 4,
                                  .row_start = row_start,
                                  .neighbor = neighbor,
                                  .degree = degree,
                                  .edge_factor = factor,
                                  .edge_value = has_values ? value : NULL,
                                  .value_sum = has_values ? value_sum : NULL};
}

static void assert_near(float a, double b)
{
    if (!(fabs((double)a - b) < 1e-6))
        fail_msg("%.9g, expected %.9g", (double)a, b);
}

static void a_sum_counts_edges_by_their_factors(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct error err = {0};
    struct aggregation out;
    struct model_layer layer = {.input_dim = 3, .config.option.aggr = LAYER_AGGR_ADD};
    struct message_block block = block_of(false);
    assert_ok(neighbor_weights(&layer, &block, &arena, &out, &err), &err);
    assert_ptr_equal(out.edge_value, factor);
    assert_near(out.destination_scale[0], 1); /* not multiplied by degree / number as well */
    block = block_of(true);
    assert_ok(neighbor_weights(&layer, &block, &arena, &out, &err), &err);
    for (int e = 1; e < 5; e++)
        assert_near(out.edge_value[e], (double)value[e] * (double)factor[e]);
    arena_release(&arena);
}

static void a_mean_divides_by_all_edges(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct error err = {0};
    struct aggregation out;
    const struct model_layer layer = {.input_dim = 3, .config.option.aggr = LAYER_AGGR_MEAN};
    const struct message_block block = block_of(false);
    assert_ok(neighbor_weights(&layer, &block, &arena, &out, &err), &err);
    assert_ptr_equal(out.edge_value, factor);
    assert_near(out.destination_scale[0], 1.0 / 5);
    assert_near(out.destination_scale[1], 1.0 / 2); /* one neighbour, and itself */
    arena_release(&arena);
}

static void the_greatest_takes_edges_as_they_are(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct error err = {0};
    struct aggregation out;
    const struct model_layer layer = {.input_dim = 3, .config.option.aggr = LAYER_AGGR_MAX};
    const struct message_block block = block_of(true);
    assert_ok(neighbor_weights(&layer, &block, &arena, &out, &err), &err);
    assert_ptr_equal(out.edge_value, value);
    arena_release(&arena);
}

static void gcn_scales_by_degrees_of_the_whole_graph(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct error err = {0};
    struct aggregation out;
    struct message_block block = block_of(false);
    assert_ok(gcn_weights(NULL, &block, &arena, &out, &err), &err);
    assert_ptr_equal(out.edge_value, factor);
    assert_near(out.destination_scale[0], 1 / sqrt(6)); /* not 5 / 2 times it */
    assert_near(out.source_scale[3], 1 / sqrt(3));
    assert_near(out.self_scale[0], 1.0 / 6);
    block = block_of(true);
    assert_ok(gcn_weights(NULL, &block, &arena, &out, &err), &err);
    assert_near(out.edge_value[2], 60);
    assert_near(out.destination_scale[1], 1.0 / 3);
    assert_near(out.self_scale[1], 30.0 / 9); /* the value of its own edge, without its factor */
    arena_release(&arena);
}

static void gcn_sums_the_values_of_several_loops(void **state)
{
    (void)state;
    static const uint32_t start[] = {0, 3, 4}, source[] = {0, 1, 0, 0}, degrees[] = {1, 1};
    static const float values[] = {0.5F, 2, 0.25F, 3}, sums[] = {2.75F, 4};
    const struct message_block block = {.destination_count = 2,
                                        .source_count = 2,
                                        .row_start = start,
                                        .neighbor = source,
                                        .degree = degrees,
                                        .edge_value = values,
                                        .value_sum = sums};
    struct arena arena = {0};
    struct error err = {0};
    struct aggregation out;
    assert_ok(gcn_weights(NULL, &block, &arena, &out, &err), &err);
    assert_near(out.self_scale[0], 0.75 / 2.75);
    assert_near(out.self_scale[1], 1.0 / 4); /* it has no loop, so one of value 1 replaces it */
    arena_release(&arena);
}

static void no_memory_is_said(void **state)
{
    (void)state;
    struct arena arena = {.limit = 1};
    struct error err = {0};
    struct aggregation out;
    const struct model_layer layer = {.input_dim = 3, .config.option.aggr = LAYER_AGGR_MEAN};
    const struct message_block block = block_of(true);
    assert_int_equal(neighbor_weights(&layer, &block, &arena, &out, &err), ERROR_NO_MEMORY);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_counts_edges_by_their_factors),
        cmocka_unit_test(a_mean_divides_by_all_edges),
        cmocka_unit_test(the_greatest_takes_edges_as_they_are),
        cmocka_unit_test(gcn_scales_by_degrees_of_the_whole_graph),
        cmocka_unit_test(gcn_sums_the_values_of_several_loops),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
