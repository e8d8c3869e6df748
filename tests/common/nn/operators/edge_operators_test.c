/* Compares operators on edge slots with plain loops in double precision, and each backward pass
 * with central differences of its forward pass. Any range of rows must give the bits of all rows
 * at once. */
#include "common/base/arena.h"
#include "common/base/memory.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/edge_softmax.h"
#include "common/nn/operators/slot_aggregation.h"

#include "tests/support/block_fixture.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { DESTINATIONS = 30, SOURCES = 70, HEADS = 5, CHANNELS = 21, WIDTH = HEADS * CHANNELS };

struct fixture {
    struct block_fixture blocks;
    struct edge_shape shape;
    struct arena arena;
    struct transposed_edges edges;
    size_t slots; /* number of slots */
    float *x, *u, *a, *b, *weight, *out, *other;
};

static float element(size_t i)
{
    return (float)((i * 2654435761U >> 7) % 2001) / 1000 - 1;
}

static float *filled(struct fixture *f, size_t count, size_t first)
{
    struct error err = {0};
    float *value = NULL;
    assert_ok(arena_new(&f->arena, &value, count, "values", &err), &err);
    for (size_t i = 0; i < count; i++)
        value[i] = element(first + i);
    return value;
}

static void make(struct fixture *f)
{
    static const uint32_t hop_end[] = {DESTINATIONS, SOURCES};
    struct error err = {0};
    *f = (struct fixture){.slots = 0};
    block_fixture_make(&f->blocks, 1, hop_end, 1, 5);
    f->shape =
        (struct edge_shape){.block = f->blocks.block[0], .heads = HEADS, .channels = CHANNELS};
    f->slots = edge_slot_count(&f->shape.block) * HEADS;
    assert_ok(transposed_edges_number(&f->shape.block, true, &f->arena, &f->edges, &err), &err);
    f->x = filled(f, (size_t)SOURCES * WIDTH, 100);
    f->u = filled(f, (size_t)DESTINATIONS * WIDTH, 20000);
    f->a = filled(f, (size_t)SOURCES * HEADS, 40000);
    f->b = filled(f, (size_t)DESTINATIONS * HEADS, 50000);
    f->weight = filled(f, f->slots, 60000);
    f->out = filled(f, (size_t)SOURCES * WIDTH, 0);
    f->other = filled(f, (size_t)SOURCES * WIDTH, 0);
}

static void forget(struct fixture *f)
{
    block_fixture_release(&f->blocks);
    arena_release(&f->arena);
}

/* Returns a scalar that depends on all sums: the sum over slots of weight * x of the source * u
 * of the destination, head by head. */
static double scalar(const struct fixture *f)
{
    const struct message_block *block = &f->shape.block;
    double sum = 0;
    for (uint32_t i = 0; i < DESTINATIONS; i++)
        for (uint32_t k = 0; k < edge_slots_of(block, i); k++)
            for (uint32_t c = 0; c < WIDTH && !edge_slot_is_replaced(block, i, k); c++)
                sum += (double)f->weight[(edge_slot(block, i) + k) * HEADS + c / CHANNELS] *
                       (double)f->x[(size_t)edge_slot_source(block, i, k) * WIDTH + c] *
                       (double)f->u[(size_t)i * WIDTH + c];
    return sum;
}

/* Returns the derivative for *value. The form is linear in each argument, so one step is exact. */
static double slope_of(const struct fixture *f, float *value)
{
    const float kept = *value;
    *value = kept + 1;
    const double above = scalar(f);
    *value = kept;
    return (above - scalar(f)) / (double)((kept + 1) - kept);
}

static void slot_aggregation_is_linear_in_rows_and_weights(void **state)
{
    struct fixture f;
    (void)state;
    make(&f);
    slot_aggregation_forward(&f.shape, f.weight, f.x, 0, DESTINATIONS, f.out);
    for (size_t i = 0; i < (size_t)DESTINATIONS * WIDTH; i += 7)
        assert_float_equal(f.out[i], (float)slope_of(&f, &f.u[i]), 1e-4F);
    slot_aggregation_backward(&f.shape, &f.edges, f.weight, f.u, 0, SOURCES, f.out);
    for (size_t i = 0; i < (size_t)SOURCES * WIDTH; i += 13)
        assert_float_equal(f.out[i], (float)slope_of(&f, &f.x[i]), 1e-4F);
    float *dot = filled(&f, f.slots, 0);
    edge_score_dot(&f.shape, f.u, f.x, 0, DESTINATIONS, dot);
    for (uint32_t i = 0; i < DESTINATIONS; i++)
        for (uint32_t k = 0; k < edge_slots_of(&f.shape.block, i); k++) {
            const size_t at = (edge_slot(&f.shape.block, i) + k) * HEADS + 1;
            if (!edge_slot_is_replaced(&f.shape.block, i, k))
                assert_float_equal(dot[at], (float)slope_of(&f, &f.weight[at]), 1e-4F);
        }
    forget(&f);
}

/* Compares rows that heads share with the same rows copied for each head. */
static void shared_rows_are_rows_of_every_head_alike(void **state)
{
    struct fixture f;
    (void)state;
    make(&f);
    float *row = filled(&f, (size_t)SOURCES * CHANNELS, 70000);
    for (size_t j = 0; j < SOURCES; j++)
        for (size_t c = 0; c < WIDTH; c++)
            f.x[j * WIDTH + c] = row[j * CHANNELS + c % CHANNELS];
    const struct input_rows rows = {.base = row, .stride = CHANNELS};
    slot_aggregation_forward(&f.shape, f.weight, f.x, 0, DESTINATIONS, f.out);
    slot_aggregation_shared_forward(&f.shape, f.weight, &rows, CHANNELS, 0, 5, f.other);
    slot_aggregation_shared_forward(&f.shape, f.weight, &rows, CHANNELS, 5, DESTINATIONS,
                                    f.other + (size_t)5 * WIDTH);
    assert_memory_equal(f.other, f.out, (size_t)DESTINATIONS * WIDTH * sizeof *f.out);
    float *each = filled(&f, f.slots, 0), *shared = filled(&f, f.slots, 1);
    edge_score_dot(&f.shape, f.u, f.x, 0, DESTINATIONS, each);
    edge_score_dot_shared(&f.shape, f.u, &rows, CHANNELS, 0, 5, shared);
    edge_score_dot_shared(&f.shape, f.u + (size_t)5 * WIDTH, &rows, CHANNELS, 5, DESTINATIONS,
                          shared);
    assert_memory_equal(shared, each, f.slots * sizeof *each);
    slot_aggregation_backward(&f.shape, &f.edges, f.weight, f.u, 0, SOURCES, f.out);
    slot_aggregation_shared_backward(&f.shape, &f.edges, f.weight, f.u, CHANNELS, 0, SOURCES,
                                     f.other);
    for (size_t j = 0; j < SOURCES; j++)
        for (size_t c = 0; c < CHANNELS; c++) {
            float sum = 0;
            for (size_t h = 0; h < HEADS; h++)
                sum += f.out[j * WIDTH + h * CHANNELS + c];
            assert_float_equal(f.other[j * CHANNELS + c], sum, 1e-4F);
        }
    forget(&f);
}

/* Returns the sum over slots and heads of weight * softmax(leaky(a + b)). */
static double attention_scalar(const struct fixture *f, const double *a, const double *b)
{
    const struct message_block *block = &f->shape.block;
    double sum = 0;
    for (uint32_t i = 0; i < DESTINATIONS; i++)
        for (uint32_t h = 0; h < HEADS; h++) {
            double total = 0, weighted = 0;
            for (uint32_t k = 0; k < edge_slots_of(block, i); k++) {
                if (edge_slot_is_replaced(block, i, k))
                    continue;
                const double z = a[edge_slot_source(block, i, k) * HEADS + h] + b[i * HEADS + h];
                const double share = exp(z > 0 ? z : 0.2 * z);
                total += share;
                weighted += share * (double)f->weight[(edge_slot(block, i) + k) * HEADS + h];
            }
            sum += weighted / total;
        }
    return sum;
}

static void check_slopes(const struct fixture *f, double *a, double *b, double *value,
                         const float *gradient, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double kept = value[i], step = 1e-6;
        value[i] = kept + step;
        const double above = attention_scalar(f, a, b);
        value[i] = kept - step;
        const double below = attention_scalar(f, a, b);
        value[i] = kept;
        assert_float_equal(gradient[i], (float)((above - below) / (2 * step)), 1e-5F);
    }
}

static void score_and_softmax_agree_with_central_differences(void **state)
{
    double a[SOURCES * HEADS], b[DESTINATIONS * HEADS];
    struct fixture f;
    (void)state;
    make(&f);
    for (size_t i = 0; i < (size_t)SOURCES * HEADS; i++)
        a[i] = (double)f.a[i];
    for (size_t i = 0; i < (size_t)DESTINATIONS * HEADS; i++)
        b[i] = (double)f.b[i];
    float *share = filled(&f, f.slots, 0), *gradient = filled(&f, f.slots, 60000);
    edge_score_add(&f.shape, f.a, f.b, NULL, 0, DESTINATIONS, share);
    edge_softmax(&f.shape, 0, DESTINATIONS, share);
    double sum = 0;
    for (size_t i = 0; i < f.slots; i++)
        sum += (double)share[i] * (double)f.weight[i];
    assert_float_equal((float)sum, (float)attention_scalar(&f, a, b), 1e-4F);
    edge_softmax_backward(&f.shape, share, 0, DESTINATIONS, gradient);
    edge_score_add_backward(&f.shape, f.a, f.b, NULL, 0, DESTINATIONS, gradient, f.out);
    check_slopes(&f, a, b, b, f.out, (size_t)DESTINATIONS * HEADS);
    edge_score_add_transposed(&f.shape, &f.edges, gradient, 0, SOURCES, f.out);
    check_slopes(&f, a, b, a, f.out, (size_t)SOURCES * HEADS);
    forget(&f);
}

static void ranges_of_rows_give_the_bits_of_all(void **state)
{
    struct fixture f;
    (void)state;
    make(&f);
    float *whole = filled(&f, f.slots, 0), *parts = filled(&f, f.slots, 1);
    slot_aggregation_forward(&f.shape, f.weight, f.x, 0, DESTINATIONS, f.out);
    edge_score_dot(&f.shape, f.u, f.x, 0, DESTINATIONS, whole);
    edge_softmax(&f.shape, 0, DESTINATIONS, whole);
    for (uint32_t i = 0; i < DESTINATIONS; i += 7) {
        const uint32_t end = i + 7 < DESTINATIONS ? i + 7 : DESTINATIONS;
        slot_aggregation_forward(&f.shape, f.weight, f.x, i, end, f.other + (size_t)i * WIDTH);
        edge_score_dot(&f.shape, f.u, f.x, i, end, parts);
        edge_softmax(&f.shape, i, end, parts);
    }
    assert_memory_equal(f.other, f.out, (size_t)DESTINATIONS * WIDTH * sizeof *f.out);
    assert_memory_equal(parts, whole, f.slots * sizeof *whole);
    forget(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slot_aggregation_is_linear_in_rows_and_weights),
        cmocka_unit_test(shared_rows_are_rows_of_every_head_alike),
        cmocka_unit_test(score_and_softmax_agree_with_central_differences),
        cmocka_unit_test(ranges_of_rows_give_the_bits_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
