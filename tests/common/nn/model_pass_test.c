/* Forward and backward passes of whole models equal slow references, and give the same bits for any
 * number of threads. */
#include "common/math/bf16_product.h"
#include "common/nn/model_trace.h"
#include "common/nn/operators/sparse_rows.h"

#include "tests/common/nn/model_run.h"

/* Sizes around the tile of 512 rows, in both orders of projection and aggregation (GCN decides by
 * the widths). */
static const struct sizes all_sizes[] = {
    {1, {1, 1}, 3, 1, 2, 1},
    {1, {7, 30}, 4, 1, 6, 1},
    {2, {5, 20, 60}, 6, 5, 3, 1},
    {2, {1, 3, 9}, 3, 8, 4, 1},
    {3, {4, 9, 25, 70}, 9, 4, 5, 1},
    {4, {3, 8, 20, 40, 80}, 4, 6, 3, 1},
    {1, {513, 1100}, 2, 1, 3, 1},
    {2, {511, 512, 513}, 3, 2, 3, 1},
    {2, {512, 1024, 1030}, 2, 3, 2, 1},
    {2, {2, 1025, 1600}, 5, 3, 2, 1},
    {1, {8800, 9000}, 1, 1, 2, 1},   /* more tiles than groups of sums, in either order */
    {1, {33800, 34000}, 2, 1, 1, 1}, /* more than chains */
};

static void check_all_sizes(enum layer_kind kind, float dropout, bool mostly_zero)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    for (size_t i = 0; i < sizeof all_sizes / sizeof *all_sizes; i++) {
        struct run run;
        run_start(&run, kind, &all_sizes[i], dropout);
        if (mostly_zero)
            thin_out(&run, all_sizes[i].input);
        run_both(&run, dropout > 0 ? &stream : NULL, NULL);
        check_logits(&run, dropout > 0 ? &stream : NULL);
        check_gradient(&run, dropout > 0 ? &stream : NULL);
        run_end(&run);
    }
}

static void sage_agrees_with_the_reference_and_central_differences(void **state)
{
    (void)state;
    check_all_sizes(LAYER_SAGE, 0, false);
}

static void gcn_agrees_with_the_reference_and_central_differences(void **state)
{
    (void)state;
    check_all_sizes(LAYER_GCN, 0, false);
}

static void dropout_goes_through_forward_and_backward_alike(void **state)
{
    (void)state;
    check_all_sizes(LAYER_SAGE, 0.5F, false);
    check_all_sizes(LAYER_GCN, 0.3F, false);
}

static void mostly_zero_inputs_give_what_others_give(void **state)
{
    (void)state;
    check_all_sizes(LAYER_SAGE, 0.5F, true);
    check_all_sizes(LAYER_GCN, 0, true);
}

static void edge_values_go_through_forward_and_backward_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all_sizes / sizeof *all_sizes; i++)
        for (int turn = 0; turn < 4; turn++) {
            struct run run;
            run_start(&run, turn % 2 ? LAYER_GCN : LAYER_SAGE, &all_sizes[i], 0);
            block_fixture_value_edges(&run.blocks, all_sizes[i].layer_count, 3);
            if (turn / 2)
                thin_out(&run, all_sizes[i].input);
            run_both(&run, NULL, NULL);
            check_logits(&run, NULL);
            check_gradient(&run, NULL);
            run_end(&run);
        }
}

static void rows_compressed_beforehand_give_the_same_bits(void **state)
{
    static const struct sizes sizes = {2, {300, 700, 1500}, 30, 16, 5, 1};
    struct error err = {0};
    (void)state;
    for (enum layer_kind kind = LAYER_SAGE; kind <= LAYER_GCN; kind++) {
        struct run each, once;
        struct arena arena = {0};
        struct sparse_rows all;
        run_start(&each, kind, &sizes, 0);
        run_start(&once, kind, &sizes, 0);
        thin_out(&each, sizes.input);
        thin_out(&once, sizes.input);
        const struct input_rows rows = {.base = once.blocks.input.base,
                                        .stride = once.blocks.input.stride};
        assert_ok(sparse_rows_build(&rows, sizes.input, 1500, &arena, NULL, &all, &err), &err);
        once.blocks.input.compressed = &all;
        run_both(&each, NULL, NULL);
        run_both(&once, NULL, NULL);
        assert_memory_equal(once.logits, each.logits, each.logit_count * sizeof(float));
        assert_memory_equal(once.gradient, each.gradient, each.model.value_count * sizeof(float));
        arena_release(&arena);
        run_end(&each);
        run_end(&once);
    }
}

/* Forms of input: floats, floats that are mostly zero, and bf16 where the processor can multiply
 * it. */
static int form_count(void)
{
    if (bf16_product_is_possible())
        return 3;
    print_message("not in bf16: this processor has no avx512_bf16\n");
    return 2;
}

static void take_form(struct run *run, int form)
{
    if (form == 1)
        thin_out(run, run->model.config.input_dim);
    if (form == 2)
        run_in_bf16(run);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static const struct sizes sizes = {3, {600, 1100, 9000, 12000}, 20, 17, 9, 1};
    static const int thread_counts[] = {1, 2, 4, 33, 64};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    (void)state;
    for (int turn = 0; turn < 2 * form_count(); turn++) {
        const enum layer_kind kind = turn % 2 ? LAYER_GCN : LAYER_SAGE;
        struct run alone;
        run_start(&alone, kind, &sizes, 0.5F);
        take_form(&alone, turn / 2);
        run_both(&alone, &stream, NULL);
        for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
            const int threads = thread_counts[t];
            struct error err = {0};
            struct thread_pool *pool = NULL;
            struct run run;
            assert_ok(thread_pool_new(threads, &pool, &err), &err);
            run_start(&run, kind, &sizes, 0.5F);
            take_form(&run, turn / 2);
            run_both(&run, &stream, pool);
            assert_memory_equal(run.logits, alone.logits, run.logit_count * sizeof(float));
            assert_memory_equal(run.gradient, alone.gradient,
                                run.model.value_count * sizeof(float));
            run_end(&run);
            thread_pool_free(pool);
        }
        run_end(&alone);
    }
}

/* Returns the Euclidean distance of two vectors, relative to the second's length. */
static double distance(const float *a, const float *b, uint64_t count)
{
    double apart = 0, length = 0;
    for (uint64_t i = 0; i < count; i++) {
        apart += pow((double)a[i] - (double)b[i], 2);
        length += pow((double)b[i], 2);
    }
    return sqrt(apart / length);
}

/* Rounding moves an operand by at most 2^-9 of itself, and the errors have random signs. The trials
 * have dense tiles, tiles without zeros (dropout), odd widths, and both orders of projection and
 * aggregation. */
static void in_bf16_logits_and_gradient_are_close_to_those_in_floats(void **state)
{
    static const struct sizes sizes[] = {{3, {100, 700, 1500, 3000}, 40, 33, 7, 1},
                                         {2, {600, 1100, 2000}, 33, 16, 5, 1},
                                         {2, {5, 20, 60}, 6, 5, 3, 1}};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    (void)state;
    if (form_count() < 3)
        skip();
    for (int i = 0; i < 12; i++) {
        struct run exact, rounded;
        run_start(&exact, i % 2 ? LAYER_GCN : LAYER_SAGE, &sizes[i / 4], i & 2 ? 0.5F : 0);
        run_start(&rounded, i % 2 ? LAYER_GCN : LAYER_SAGE, &sizes[i / 4], i & 2 ? 0.5F : 0);
        run_in_bf16(&rounded);
        run_both(&exact, i & 2 ? &stream : NULL, NULL);
        run_both(&rounded, i & 2 ? &stream : NULL, NULL);
        const double logits = distance(rounded.logits, exact.logits, exact.logit_count);
        const double gradient = distance(rounded.gradient, exact.gradient, exact.model.value_count);
        if (!(logits > 0 && logits < 0.01 && gradient > 0 && gradient < 0.08))
            fail_msg("case %d: logits are %g apart, gradients %g", i, logits, gradient);
        run_end(&exact);
        run_end(&rounded);
    }
}

static void a_warm_step_makes_no_allocation(void **state)
{
    static const struct sizes sizes = {2, {300, 700, 1500}, 30, 16, 5, 1};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    struct error err = {0};
    struct thread_pool *pool = NULL;
    (void)state;
    assert_ok(thread_pool_new(2, &pool, &err), &err);
    for (int turn = 0; turn < 2 * form_count(); turn++) {
        struct run run;
        run_start(&run, turn % 2 ? LAYER_GCN : LAYER_SAGE, &sizes, 0.5F);
        take_form(&run, turn / 2);
        run_both(&run, &stream, pool);
        const long before = memory_allocation_count();
        for (int k = 0; k < 3; k++)
            run_both(&run, &stream, pool);
        assert_int_equal(memory_allocation_count(), before);
        run_end(&run);
    }
    thread_pool_free(pool);
}

static void evaluation_gives_the_bits_of_training_without_dropout(void **state)
{
    static const struct sizes sizes = {2, {300, 700, 1500}, 30, 16, 5, 1};
    (void)state;
    for (int turn = 0; turn < 2 * form_count(); turn++) {
        struct run run;
        run_start(&run, turn % 2 ? LAYER_GCN : LAYER_SAGE, &sizes, 0.5F);
        take_form(&run, turn / 2);
        run_check_forward_alone(&run);
        run_end(&run);
    }
}

/* Infers all layers one after the other over the whole graph. */
static float *infer_whole(const struct run *run, const struct block_fixture *whole)
{
    struct error err = {0};
    struct arena arena = {0};
    const struct model_workspace workspace = {.arena = &arena};
    struct input_rows rows = whole->input;
    float *input = NULL, *output = NULL;
    for (int layer = 0; layer < run->model.config.layer_count; layer++) {
        const uint32_t dim = model_layer_output_dim(&run->model, layer);
        output = memory_alloc((size_t)whole->node_count * dim, sizeof *output);
        struct one_relation relation;
        struct relation_block block;
        model_trace_take_block(whole->block, &relation, &block);
        const struct typed_layer_input one = {
            .block = &block, .count = &relation.destination_count, .rows = &rows};
        assert_ok(
            model_infer_types(&run->model, run->value, layer, &one, 0, &workspace, output, &err),
            &err);
        memory_free(input);
        input = output;
        rows = (struct input_rows){.base = output, .stride = dim};
        arena_reset(&arena);
    }
    arena_release(&arena);
    return output;
}

static void layer_by_layer_inference_equals_forward_on_whole_neighbourhoods(void **state)
{
    static const struct sizes sizes = {3, {40, 50, 60, 70}, 8, 12, 5, 1};
    struct error err = {0};
    (void)state;
    for (enum layer_kind kind = LAYER_SAGE; kind <= LAYER_GCN; kind++) {
        struct run run;
        struct block_fixture whole, part;
        run_start(&run, kind, &sizes, 0.5F);
        block_fixture_whole(&whole, 3, 700, sizes.input, 77);
        block_fixture_neighborhood(&part, &whole, 3, 40);
        assert_true(part.node_count < 700);
        float *expected = infer_whole(&run, &whole);
        const struct model_workspace workspace = {.arena = &run.arena};
        const struct model_input input = {.block = part.block, .rows = part.input};
        assert_ok(model_forward(&run.model, run.value, &input, &workspace, run.logits, NULL, &err),
                  &err);
        for (size_t i = 0; i < run.logit_count; i++)
            assert_float_equal(run.logits[i], expected[i], 2e-5F);
        memory_free(expected);
        block_fixture_release(&part);
        block_fixture_release(&whole);
        run_end(&run);
    }
}

static void a_nan_in_the_features_reaches_the_logits(void **state)
{
    static const struct sizes sizes = {2, {3, 9, 20}, 4, 5, 3, 1};
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        struct run run;
        run_start(&run, turn % 2 ? LAYER_GCN : LAYER_SAGE, &sizes, 0);
        if (turn >= 2)
            thin_out(&run, sizes.input);
        check_nan_reaches_logits(&run);
        run_end(&run);
    }
}

static void memory_that_runs_out_is_an_error_at_any_point(void **state)
{
    static const struct sizes sizes = {2, {300, 700, 1500}, 30, 16, 5, 1};
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        struct run run;
        run_start(&run, turn % 2 ? LAYER_GCN : LAYER_SAGE, &sizes, 0);
        if (turn >= 2)
            thin_out(&run, sizes.input);
        check_memory_refusals(&run);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sage_agrees_with_the_reference_and_central_differences),
        cmocka_unit_test(gcn_agrees_with_the_reference_and_central_differences),
        cmocka_unit_test(dropout_goes_through_forward_and_backward_alike),
        cmocka_unit_test(mostly_zero_inputs_give_what_others_give),
        cmocka_unit_test(edge_values_go_through_forward_and_backward_alike),
        cmocka_unit_test(rows_compressed_beforehand_give_the_same_bits),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(in_bf16_logits_and_gradient_are_close_to_those_in_floats),
        cmocka_unit_test(a_warm_step_makes_no_allocation),
        cmocka_unit_test(evaluation_gives_the_bits_of_training_without_dropout),
        cmocka_unit_test(layer_by_layer_inference_equals_forward_on_whole_neighbourhoods),
        cmocka_unit_test(a_nan_in_the_features_reaches_the_logits),
        cmocka_unit_test(memory_that_runs_out_is_an_error_at_any_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
