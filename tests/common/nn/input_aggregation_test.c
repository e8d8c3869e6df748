/* Rows that are aggregated tile by tile ahead of forward equal those of aggregation_forward(), and
 * the forward pass that uses them gives the bits of one that aggregates everything. */
#include "common/base/memory.h"
#include "common/nn/input_aggregation.h"
#include "common/nn/layers/layer.h"
#include "common/nn/layers/layer_pass.h"

#include "tests/support/block_fixture.h"
#include "tests/support/test.h"

#include <string.h>

enum { NODES = 3000, DESTINATIONS = 2 * TILE_ROWS + 77, DIM = 37, CLASSES = 8, THREADS = 3 };

static struct model model_of(enum layer_kind kind, uint32_t output_dim)
{
    struct error err = {0};
    struct model model;
    const struct model_outline config = {.layer.kind = kind,
                                         .hop_count = 1,
                                         .input_dim = DIM,
                                         .layer.output_dim = 1,
                                         .output_dim = output_dim};
    assert_ok(model_init_outline(&model, &config, &err), &err);
    return model;
}

static void make_block(struct block_fixture *blocks, enum precision precision)
{
    const uint32_t hop_end[] = {DESTINATIONS, NODES};
    block_fixture_make(blocks, 1, hop_end, DIM, 5);
    if (precision == PRECISION_BF16)
        block_fixture_round(blocks, DIM);
}

static void check_rows(enum layer_kind kind, enum precision precision, struct thread_pool *pool)
{
    struct error err = {0};
    struct arena arena = {0};
    struct block_fixture blocks;
    struct input_aggregation m;
    struct model model = model_of(kind, 2 * DIM);
    float scratch[DIM];
    void *expected = NULL;
    make_block(&blocks, precision);
    model.config.precision = precision;
    assert_true(input_aggregation_is_possible(&model, &blocks.input));
    assert_ok(
        input_aggregation_begin(&m, &model, &blocks.block[0], &blocks.input, THREADS, &arena, &err),
        &err);
    const size_t bytes = precision_bytes(precision) * DESTINATIONS *
                         precision_stride(precision, aggregation_width(&m.aggregation, DIM));
    assert_ok(arena_new_bytes(&arena, &expected, bytes, 1, "rows", &err), &err);
    aggregation_forward(&m.aggregation, &blocks.block[0], &blocks.input, DIM, 0, DESTINATIONS,
                        scratch, expected);
    memset(m.aggregated, 0x7f, bytes);
    assert_int_equal(m.aggregated_count, 0);
    assert_true(input_aggregation_advance(&m, 1, pool));
    assert_int_equal(m.aggregated_count, TILE_ROWS);
    assert_memory_equal(m.aggregated, expected, bytes / DESTINATIONS * TILE_ROWS);
    assert_false(input_aggregation_advance(&m, 5, pool));
    assert_int_equal(m.aggregated_count, DESTINATIONS);
    assert_memory_equal(m.aggregated, expected, bytes);
    assert_false(input_aggregation_advance(&m, 1, pool));
    assert_int_equal(m.aggregated_count, DESTINATIONS);
    arena_release(&arena);
    block_fixture_release(&blocks);
}

static void rows_are_those_of_the_gather(void **state)
{
    struct error err = {0};
    struct thread_pool *pool = NULL;
    (void)state;
    assert_ok(thread_pool_new(THREADS, &pool, &err), &err);
    for (enum precision p = PRECISION_FP32; p <= PRECISION_BF16; p++) {
        check_rows(LAYER_SAGE, p, NULL);
        check_rows(LAYER_GCN, p, pool);
        check_rows(LAYER_SAGE, p, pool);
        check_rows(LAYER_GIN, p, pool);
    }
    thread_pool_free(pool);
}

/* Computes logits, and behind them the gradient, after `tiles` tiles were aggregated ahead; below
 * 0: none, and without room for them. */
static void step(const struct model *model, const struct block_fixture *blocks, int64_t tiles,
                 float *out)
{
    struct error err = {0};
    struct arena arena = {0};
    struct input_aggregation m = {0};
    struct model_trace *trace = NULL;
    float *value = NULL;
    const struct model_workspace workspace = {.arena = &arena};
    assert_ok(arena_new(&arena, &value, model->value_count, "weights", &err), &err);
    model_initialise(model, 3, value);
    if (tiles >= 0)
        assert_ok(
            input_aggregation_begin(&m, model, &blocks->block[0], &blocks->input, 1, &arena, &err),
            &err);
    if (tiles > 0)
        (void)input_aggregation_advance(&m, tiles, NULL);
    const struct model_input input = {.block = blocks->block,
                                      .rows = blocks->input,
                                      .aggregated = m.aggregated,
                                      .aggregated_count = m.aggregated_count};
    assert_ok(model_forward(model, value, &input, &workspace, out, &trace, &err), &err);
    assert_ok(model_backward(model, value, trace, out, &workspace,
                             out + (size_t)DESTINATIONS * CLASSES, &err),
              &err);
    arena_release(&arena);
}

static void check_steps(enum layer_kind kind)
{
    struct block_fixture blocks;
    const struct model model = model_of(kind, CLASSES);
    const size_t count = (size_t)DESTINATIONS * CLASSES + model.value_count;
    float *expected = memory_alloc(count, sizeof *expected), *found = NULL;
    make_block(&blocks, PRECISION_FP32);
    step(&model, &blocks, -1, expected);
    for (int64_t tiles = 0; tiles <= 3; tiles++) {
        found = memory_alloc(count, sizeof *found);
        step(&model, &blocks, tiles, found);
        assert_memory_equal(found, expected, count * sizeof *found);
        memory_free(found);
    }
    memory_free(expected);
    block_fixture_release(&blocks);
}

static void a_step_does_what_is_left_with_the_same_bits(void **state)
{
    (void)state;
    check_steps(LAYER_SAGE);
    check_steps(LAYER_GIN);
}

/* With a trained eps the factor of the own row is known only with the weights. */
static void gin_that_trains_eps_aggregates_in_the_step(void **state)
{
    const struct input_rows rows = {0};
    struct model model = model_of(LAYER_GIN, CLASSES);
    (void)state;
    assert_true(input_aggregation_is_possible(&model, &rows));
    model.layer[0].config.option.train_eps = 1;
    assert_false(input_aggregation_is_possible(&model, &rows));
}

static void a_layer_that_projects_first_has_nothing_to_aggregate(void **state)
{
    struct input_rows rows = {0};
    (void)state;
    const struct model narrow = model_of(LAYER_GCN, 2), sage = model_of(LAYER_SAGE, 2);
    assert_false(input_aggregation_is_possible(&narrow, &rows));
    assert_true(input_aggregation_is_possible(&sage, &rows));
    rows.mostly_zero = true; /* neither does a layer over compressed rows */
    assert_false(input_aggregation_is_possible(&sage, &rows));
}

static void an_arena_without_room_says_so(void **state)
{
    struct error err = {0};
    struct arena arena = {.limit = 4096};
    struct block_fixture blocks;
    struct input_aggregation m;
    const struct model model = model_of(LAYER_SAGE, CLASSES);
    (void)state;
    make_block(&blocks, PRECISION_FP32);
    assert_int_equal(
        input_aggregation_begin(&m, &model, &blocks.block[0], &blocks.input, 1, &arena, &err),
        ERROR_NO_MEMORY);
    arena_release(&arena);
    block_fixture_release(&blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_gather),
        cmocka_unit_test(a_step_does_what_is_left_with_the_same_bits),
        cmocka_unit_test(gin_that_trains_eps_aggregates_in_the_step),
        cmocka_unit_test(a_layer_that_projects_first_has_nothing_to_aggregate),
        cmocka_unit_test(an_arena_without_room_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
