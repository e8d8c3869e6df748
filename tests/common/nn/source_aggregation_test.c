/* Aggregation by source gives the bits of aggregation_forward(). */
#include "common/base/memory.h"
#include "common/nn/layers/layer.h"
#include "common/nn/source_aggregation.h"

#include "tests/support/block_fixture.h"
#include "tests/support/test.h"

#include <string.h>

enum { NODES = 900, DESTINATIONS = 300, DIM = 37, VISIT_MAX = 50 };

static struct model model_of(enum layer_kind kind, uint32_t input_dim, uint32_t output_dim)
{
    struct error err = {0};
    struct model model;
    const struct model_outline config = {.layer.kind = kind,
                                         .hop_count = 1,
                                         .input_dim = input_dim,
                                         .layer.output_dim = 1,
                                         .output_dim = output_dim};
    assert_ok(model_init_outline(&model, &config, &err), &err);
    return model;
}

/* Makes a block whose neighbours ascend by node, and its nodes: a permutation. */
static void make_block(struct block_fixture *blocks, uint32_t node[NODES])
{
    const uint32_t hop_end[] = {DESTINATIONS, NODES};
    block_fixture_make(blocks, 1, hop_end, DIM, 5);
    for (uint32_t i = 0; i < NODES; i++)
        node[i] = (i * 389 + 11) % NODES; /* 389 is prime, so each number occurs once */
    for (uint32_t i = 0; i < DESTINATIONS; i++)
        for (uint32_t a = blocks->row_start[i]; a < blocks->row_start[i + 1]; a++)
            for (uint32_t b = a; b > blocks->row_start[i]; b--) {
                uint32_t *pair = blocks->neighbor + b - 1;
                const uint32_t left = pair[0];
                if (node[pair[0]] <= node[pair[1]])
                    break;
                pair[0] = pair[1];
                pair[1] = left;
            }
}

/* Adds all sources, ascending by node, some at a time. */
static void add_all(const struct source_aggregation *aggregation,
                    const struct block_fixture *blocks, const uint32_t node[NODES])
{
    uint32_t at_node[NODES], source[VISIT_MAX], count = 0;
    const void *row[VISIT_MAX];
    for (uint32_t i = 0; i < NODES; i++)
        at_node[node[i]] = i;
    for (uint32_t n = 0; n < NODES; n++) {
        source[count] = at_node[n];
        row[count] = precision_at(blocks->input.precision, blocks->input.base,
                                  blocks->input.row_index[source[count]] * blocks->input.stride);
        if (++count >= 1 + n % VISIT_MAX || n == NODES - 1) {
            source_aggregation_add(aggregation, source, row, count);
            count = 0;
        }
    }
}

static void check_kind(enum layer_kind kind, enum precision precision, bool values)
{
    struct error err = {0};
    struct arena arena = {0};
    struct block_fixture blocks;
    struct source_aggregation aggregation;
    uint32_t node[NODES];
    struct model model = model_of(kind, DIM, 2 * DIM);
    const uint64_t floats = source_aggregation_floats(&model, DESTINATIONS);
    float *area = memory_alloc(floats, sizeof *area), scratch[DIM];
    void *expected = NULL;
    make_block(&blocks, node);
    model.config.precision = precision;
    if (precision == PRECISION_BF16)
        block_fixture_round(&blocks, DIM);
    if (values)
        block_fixture_value_edges(&blocks, 1, 7);
    assert_true(source_aggregation_is_exact(&blocks.block[0], node));
    memset(area, 0x7f, floats * sizeof *area); /* the old content of the area must not matter */
    assert_ok(source_aggregation_begin(&aggregation, &model, &blocks.block[0], area, &arena, &err),
              &err);
    add_all(&aggregation, &blocks, node);
    source_aggregation_finish(&aggregation);
    const size_t count =
        DESTINATIONS *
        precision_stride(precision, aggregation_width(&aggregation.aggregation, DIM));
    assert_ok(arena_new_bytes(&arena, &expected, count, precision_bytes(precision), "rows", &err),
              &err);
    aggregation_forward(&aggregation.aggregation, &blocks.block[0], &blocks.input, DIM, 0,
                        DESTINATIONS, scratch, expected);
    assert_ptr_equal(aggregation.aggregated, area);
    assert_memory_equal(aggregation.aggregated, expected, count * precision_bytes(precision));
    memory_free(area);
    arena_release(&arena);
    block_fixture_release(&blocks);
}

static void bits_are_those_of_the_gather(void **state)
{
    (void)state;
    for (enum precision p = PRECISION_FP32; p <= PRECISION_BF16; p++) {
        for (int values = 0; values < 2; values++) {
            check_kind(LAYER_SAGE, p, values);
            check_kind(LAYER_GCN, p, values);
            check_kind(LAYER_GIN, p, values);
        }
    }
}

static void a_forward_on_aggregated_rows_is_that_on_rows(void **state)
{
    struct error err = {0};
    struct arena arena = {0};
    struct block_fixture blocks;
    struct source_aggregation aggregation;
    struct model_trace *trace = NULL;
    uint32_t node[NODES];
    const struct model model = model_of(LAYER_SAGE, DIM, 8);
    const struct model_workspace workspace = {.arena = &arena};
    float *area = NULL, *value = NULL, *logits[2] = {NULL}, *gradient[2] = {NULL};
    (void)state;
    make_block(&blocks, node);
    struct model_input input = {.block = blocks.block, .rows = blocks.input};
    assert_ok(arena_new(&arena, &area, source_aggregation_floats(&model, DESTINATIONS), "a", &err),
              &err);
    assert_ok(arena_new(&arena, &value, model.value_count, "a", &err), &err);
    model_initialise(&model, 3, value);
    for (int way = 0; way < 2; way++) {
        assert_ok(arena_new(&arena, &logits[way], (size_t)DESTINATIONS * 8, "a", &err), &err);
        assert_ok(arena_new(&arena, &gradient[way], model.value_count, "a", &err), &err);
        assert_ok(model_forward(&model, value, &input, &workspace, logits[way], &trace, &err),
                  &err);
        assert_ok(
            model_backward(&model, value, trace, logits[way], &workspace, gradient[way], &err),
            &err);
        assert_ok(
            source_aggregation_begin(&aggregation, &model, &blocks.block[0], area, &arena, &err),
            &err);
        add_all(&aggregation, &blocks, node);
        source_aggregation_finish(&aggregation);
        input = (struct model_input){.block = blocks.block,
                                     .aggregated = aggregation.aggregated,
                                     .aggregated_count = blocks.block[0].destination_count};
    }
    assert_memory_equal(logits[0], logits[1], (size_t)DESTINATIONS * 8 * sizeof(float));
    assert_memory_equal(gradient[0], gradient[1], model.value_count * sizeof(float));
    arena_release(&arena);
    block_fixture_release(&blocks);
}

static void an_order_that_would_change_sums_is_noticed(void **state)
{
    struct block_fixture blocks;
    uint32_t node[NODES];
    (void)state;
    make_block(&blocks, node);
    uint32_t row = 0;
    while (blocks.row_start[row + 1] - blocks.row_start[row] < 2 ||
           blocks.neighbor[blocks.row_start[row]] == blocks.neighbor[blocks.row_start[row + 1] - 1])
        row++;
    uint32_t *first = &blocks.neighbor[blocks.row_start[row]];
    uint32_t *last = &blocks.neighbor[blocks.row_start[row + 1] - 1];
    const uint32_t swapped = *first;
    *first = *last;
    *last = swapped;
    assert_false(source_aggregation_is_exact(&blocks.block[0], node));
    block_fixture_release(&blocks);
}

static void a_layer_that_projects_first_has_nothing_to_aggregate_ahead(void **state)
{
    (void)state;
    const struct model narrow = model_of(LAYER_GCN, 40, 8), wide = model_of(LAYER_GCN, 8, 40);
    assert_int_equal(source_aggregation_floats(&narrow, 10), 0);
    assert_int_equal(source_aggregation_floats(&wide, 10), 160);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_the_gather),
        cmocka_unit_test(a_forward_on_aggregated_rows_is_that_on_rows),
        cmocka_unit_test(an_order_that_would_change_sums_is_noticed),
        cmocka_unit_test(a_layer_that_projects_first_has_nothing_to_aggregate_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
