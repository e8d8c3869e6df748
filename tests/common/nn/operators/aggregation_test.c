/* Compares both directions of aggregation with plain loops, bit for bit, with and without the
 * processor's vector instructions. */
#include "common/base/arena.h"
#include "common/base/memory.h"
#include "common/nn/operators/aggregation.h"
#include "common/numbers/cpu_level.h"

#include "tests/support/block_fixture.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { DESTINATIONS = 40, SOURCES = 90, FIRST = 3, EDGES_MAX = 6 * DESTINATIONS, KINDS = 16 };

/* These cover less than a vector, whole vectors and parts of one, and one and several blocks of
 * columns. */
static const uint32_t dims[] = {1,   7,   15,  16,  17,  31,  48,  100, 127,
                                128, 129, 143, 240, 241, 256, 257, 300, 530};

struct fixture {
    struct block_fixture blocks;
    struct aggregation aggregation;
    uint32_t dim;
    size_t width;
    float destination_scale[DESTINATIONS], self_scale[DESTINATIONS], source_scale[SOURCES];
    float edge_value[EDGES_MAX];
    float *expected, *actual, *scratch, *gradient;
};

static float element(size_t i)
{
    return (float)((i * 2654435761U >> 7) % 2001) / 1000 - 1;
}

/* Each bit of `kind` is a choice. The combinations cover all that layers use, and more. */
static void make(struct fixture *f, uint32_t dim, unsigned kind)
{
    const uint32_t hop_end[] = {DESTINATIONS, SOURCES};
    *f = (struct fixture){.dim = dim};
    block_fixture_make(&f->blocks, 1, hop_end, dim, 5);
    for (size_t i = 0; i < SOURCES; i++)
        f->source_scale[i] = element(i + 100);
    for (size_t i = 0; i < DESTINATIONS; i++) {
        f->destination_scale[i] = element(i + 200);
        f->self_scale[i] = element(i + 300);
    }
    for (size_t e = 0; e < EDGES_MAX; e++)
        f->edge_value[e] = element(e + 500);
    f->aggregation = (struct aggregation){.destination_count = DESTINATIONS,
                                          .destination_scale = f->destination_scale,
                                          .source_scale = kind & 1 ? f->source_scale : NULL,
                                          .edge_value = kind & 8 ? f->edge_value : NULL,
                                          .self_scale = kind & 4 ? NULL : f->self_scale,
                                          .skip_self_loops = kind & 2,
                                          .self_beside = kind & 4};
    f->width = aggregation_width(&f->aggregation, dim);
    f->expected = memory_alloc(SOURCES * (f->width + 1), sizeof *f->expected);
    f->actual = memory_alloc(SOURCES * (f->width + 1), sizeof *f->actual);
    f->scratch = memory_alloc(dim, sizeof *f->scratch);
    f->gradient = memory_alloc(DESTINATIONS * f->width, sizeof *f->gradient);
    for (size_t i = 0; i < DESTINATIONS * f->width; i++)
        f->gradient[i] = element(i + 400);
}

static void release(struct fixture *f)
{
    block_fixture_release(&f->blocks);
    memory_free(f->expected);
    memory_free(f->actual);
    memory_free(f->scratch);
    memory_free(f->gradient);
}

static float input_element(const struct fixture *f, uint32_t row, size_t column)
{
    const struct input_rows *input = &f->blocks.input;
    const size_t at = input->row_index[row] * input->stride + column;
    if (input->precision == PRECISION_BF16)
        return bf16_to_float(((const bf16 *)input->base)[at]);
    return ((const float *)input->base)[at];
}

static float aggregated_element(const struct fixture *f, uint32_t i, size_t column)
{
    const struct message_block *block = &f->blocks.block[0];
    float sum = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
        const uint32_t j = block->neighbor[e];
        float scale = f->aggregation.source_scale ? f->source_scale[j] : 1;
        if (f->aggregation.edge_value)
            scale *= f->edge_value[e];
        if (!f->aggregation.skip_self_loops || j != i)
            sum = fmaf(scale, input_element(f, j, column), sum);
    }
    sum *= f->destination_scale[i];
    if (f->aggregation.self_scale)
        sum = fmaf(f->self_scale[i], input_element(f, i, column), sum);
    return sum;
}

static void expect_element(const struct fixture *f, size_t at, float value)
{
    if (f->blocks.input.precision == PRECISION_BF16)
        ((bf16 *)f->expected)[at] = bf16_of_float(value);
    else
        f->expected[at] = value;
}

/* Returns the size of the expected result in bytes. */
static size_t expect_forward(const struct fixture *f)
{
    const enum precision precision = f->blocks.input.precision;
    const size_t stride = precision_stride(precision, f->width);
    const uint32_t rows = DESTINATIONS - FIRST;
    memset(f->expected, 0, rows * stride * sizeof(float));
    for (uint32_t i = 0; i < rows; i++)
        for (size_t column = 0; column < f->dim; column++) {
            expect_element(f, i * stride + column, aggregated_element(f, FIRST + i, column));
            if (f->aggregation.self_beside)
                expect_element(f, i * stride + f->dim + column,
                               input_element(f, FIRST + i, column));
        }
    return rows * stride * precision_bytes(precision);
}

static void expect_backward(const struct fixture *f, const struct transposed_edges *edges)
{
    const struct aggregation *aggregation = &f->aggregation;
    for (uint32_t j = FIRST; j < SOURCES; j++)
        for (size_t column = 0; column < f->dim; column++) {
            float sum = 0;
            for (uint32_t e = edges->start[j]; e < edges->start[j + 1]; e++) {
                const uint32_t i = edges->destination[e];
                const float scale = aggregation->edge_value
                                        ? f->destination_scale[i] * f->edge_value[edges->edge[e]]
                                        : f->destination_scale[i];
                sum = fmaf(scale, f->gradient[i * f->width + column], sum);
            }
            if (aggregation->source_scale)
                sum *= f->source_scale[j];
            if (j < DESTINATIONS && aggregation->self_beside)
                sum += f->gradient[j * f->width + f->dim + column];
            else if (j < DESTINATIONS && aggregation->self_scale)
                sum = fmaf(f->self_scale[j], f->gradient[j * f->width + column], sum);
            f->expected[(size_t)(j - FIRST) * f->dim + column] = sum;
        }
}

static void check_forward(const struct fixture *f)
{
    const size_t bytes = expect_forward(f);
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++) {
        cpu_level_limit((enum cpu_level)level);
        memset(f->actual, 0x7f, bytes);
        aggregation_forward(&f->aggregation, &f->blocks.block[0], &f->blocks.input, f->dim, FIRST,
                            DESTINATIONS, f->scratch, f->actual);
        assert_memory_equal(f->actual, f->expected, bytes);
    }
}

static void check_backward(const struct fixture *f)
{
    struct error err = {0};
    struct arena arena = {0};
    struct transposed_edges edges;
    assert_ok(transposed_edges_number(&f->blocks.block[0], f->aggregation.skip_self_loops, &arena,
                                      &edges, &err),
              &err);
    expect_backward(f, &edges);
    const size_t bytes = (size_t)(SOURCES - FIRST) * f->dim * sizeof(float);
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++) {
        cpu_level_limit((enum cpu_level)level);
        memset(f->actual, 0x7f, bytes);
        aggregation_backward(&f->aggregation, &edges, f->gradient, f->dim, FIRST, SOURCES,
                             f->actual);
        assert_memory_equal(f->actual, f->expected, bytes);
    }
    arena_release(&arena);
}

static void for_all_kinds(void (*check)(const struct fixture *f), enum precision precision)
{
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (unsigned kind = 0; kind < KINDS; kind++) {
            struct fixture f;
            make(&f, dims[d], kind);
            if (precision == PRECISION_BF16)
                block_fixture_round(&f.blocks, f.dim);
            check(&f);
            release(&f);
        }
    cpu_level_limit(CPU_BF16);
}

static void forward_has_the_bits_of_plain_loops(void **state)
{
    (void)state;
    for_all_kinds(check_forward, PRECISION_FP32);
}

static void gathers_rows_in_bf16_and_rounds_once(void **state)
{
    (void)state;
    for_all_kinds(check_forward, PRECISION_BF16);
}

static void backward_has_the_bits_of_plain_loops(void **state)
{
    (void)state;
    for_all_kinds(check_backward, PRECISION_FP32);
}

/* Returns the first edge of i with the maximum of a column, or UINT32_MAX. */
static uint32_t greatest_edge(const struct fixture *f, uint32_t i, size_t column, float *value)
{
    const struct message_block *block = &f->blocks.block[0];
    uint32_t greatest = UINT32_MAX;
    *value = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
        const float scale = f->aggregation.edge_value ? f->edge_value[e] : 1;
        const float term = scale * input_element(f, block->neighbor[e], column);
        if (greatest == UINT32_MAX || term > *value) {
            *value = term;
            greatest = e;
        }
    }
    return greatest;
}

/* Checks the forward pass and leaves the expected result of the backward pass in f->expected. */
static void check_greatest_forward(const struct fixture *f)
{
    const size_t stride = precision_stride(f->blocks.input.precision, f->width);
    float *slope = f->expected;
    memset(slope, 0, (size_t)SOURCES * f->dim * sizeof *slope);
    aggregation_forward(&f->aggregation, &f->blocks.block[0], &f->blocks.input, f->dim, 0, FIRST,
                        f->scratch, f->actual);
    aggregation_forward(&f->aggregation, &f->blocks.block[0], &f->blocks.input, f->dim, FIRST,
                        DESTINATIONS, f->scratch,
                        (char *)f->actual +
                            FIRST * stride * precision_bytes(f->blocks.input.precision));
    for (uint32_t i = 0; i < DESTINATIONS; i++)
        for (size_t column = 0; column < f->dim; column++) {
            float value = 0;
            const uint32_t e = greatest_edge(f, i, column, &value);
            const size_t at = i * stride + column;
            const bool rounds = f->blocks.input.precision == PRECISION_BF16;
            assert_int_equal(f->aggregation.greatest[(size_t)i * f->dim + column], e);
            assert_true(rounds ? ((bf16 *)f->actual)[at] == bf16_of_float(value)
                               : f->actual[at] == value);
            slope[(size_t)i * f->dim + column] += f->gradient[i * f->width + f->dim + column];
            if (e != UINT32_MAX)
                slope[(size_t)f->blocks.neighbor[e] * f->dim + column] +=
                    f->gradient[i * f->width + column] *
                    (f->aggregation.edge_value ? f->edge_value[e] : 1);
        }
}

static void check_greatest_backward(const struct fixture *f)
{
    struct error err = {0};
    struct arena arena = {0};
    struct transposed_edges edges;
    assert_ok(transposed_edges_number(&f->blocks.block[0], false, &arena, &edges, &err), &err);
    aggregation_backward(&f->aggregation, &edges, f->gradient, f->dim, 0, FIRST, f->actual);
    aggregation_backward(&f->aggregation, &edges, f->gradient, f->dim, FIRST, SOURCES,
                         f->actual + (size_t)FIRST * f->dim);
    for (size_t at = 0; at < (size_t)SOURCES * f->dim; at++)
        assert_float_equal(f->actual[at], f->expected[at], 1e-5F);
    arena_release(&arena);
}

static void the_greatest_of_each_column_and_its_edge_alone(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (unsigned turn = 0; turn < 4; turn++) {
            struct fixture f;
            make(&f, dims[d], turn & 1 ? 4 | 8 : 4);
            if (turn & 2)
                block_fixture_round(&f.blocks, f.dim);
            f.aggregation.greatest = memory_alloc((size_t)DESTINATIONS * f.dim, sizeof(uint32_t));
            for (int level = CPU_PLAIN; level <= CPU_AVX512; level++) {
                cpu_level_limit((enum cpu_level)level);
                check_greatest_forward(&f);
                check_greatest_backward(&f);
            }
            memory_free(f.aggregation.greatest);
            release(&f);
        }
    cpu_level_limit(CPU_BF16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_has_the_bits_of_plain_loops),
        cmocka_unit_test(gathers_rows_in_bf16_and_rounds_once),
        cmocka_unit_test(backward_has_the_bits_of_plain_loops),
        cmocka_unit_test(the_greatest_of_each_column_and_its_edge_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
