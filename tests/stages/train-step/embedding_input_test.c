/* The rows of a gradient out of that of the input: in the order of nodes, one for each, whatever their places. */
#include "common/base/memory.h"
#include "stages/train-step/embedding_input.h"

#include "tests/support/test.h"

#include <math.h>

enum { FEATURES = 2, WIDTH = 3, COUNT = 1500 };

/* Nodes 0 .. COUNT / 3 - 1 in no order, each at three places. */
static uint32_t node_at(uint32_t place)
{
    return (place * 769) % (COUNT / 3);
}

static float gradient_at(uint32_t place, uint32_t column)
{
    return sinf((float)place * 1.7F + (float)column);
}

static struct gradient gather(struct thread_pool *pool, struct arena *arena, float bad)
{
    const struct stage_context context = {.pool = pool};
    const struct embedding_input input = {.feature_dim = FEATURES, .width = WIDTH};
    struct gradient out = {0};
    struct error err = {0};
    uint32_t *node = NULL;
    float *gradient = NULL;
    const size_t dim = FEATURES + WIDTH;
    assert_ok(arena_new(arena, &node, COUNT, "nodes", &err), &err);
    assert_ok(arena_new(arena, &gradient, COUNT * dim, "gradients", &err), &err);
    for (uint32_t i = 0; i < COUNT; i++) {
        node[i] = node_at(i);
        for (uint32_t c = 0; c < dim; c++)
            gradient[i * dim + c] = gradient_at(i, c);
    }
    gradient[7 * dim + FEATURES] += bad;
    const enum error_code rc =
        embedding_input_gradient(&context, &input, node, COUNT, gradient, arena, &out, &err);
    if (bad != 0)
        assert_failed(rc, ERROR_INPUT, "the gradient of the embedding of partition node", &err);
    else
        assert_ok(rc, &err);
    return out;
}

static void a_node_at_several_places_has_one_row_with_their_sum(void **state)
{
    (void)state;
    struct arena arena = {0}, other = {0};
    struct thread_pool *pool = NULL;
    struct error err = {0};
    const struct gradient alone = gather(NULL, &arena, 0);
    assert_int_equal(alone.row_count, COUNT / 3);
    assert_int_equal(alone.row_width, WIDTH);
    for (uint32_t i = 0; i < alone.row_count; i++) {
        float sum[WIDTH] = {0};
        bool found = false;
        assert_int_equal(alone.row_node[i], i);
        for (uint32_t place = 0; place < COUNT; place++)
            for (uint32_t c = 0; node_at(place) == i && c < WIDTH; c++) {
                const float g = gradient_at(place, FEATURES + c);
                sum[c] = found ? sum[c] + g : g;
                found = found || c == WIDTH - 1;
            }
        assert_memory_equal(alone.row_gradient + (size_t)i * WIDTH, sum, sizeof sum);
    }
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    const struct gradient shared = gather(pool, &other, 0);
    assert_memory_equal(alone.row_gradient, shared.row_gradient,
                        (size_t)COUNT / 3 * WIDTH * sizeof(float));
    thread_pool_free(pool);
    arena_release(&arena);
    arena_release(&other);
}

static void a_gradient_that_is_not_finite_is_never_published(void **state)
{
    (void)state;
    struct arena arena = {0};
    (void)gather(NULL, &arena, INFINITY);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_at_several_places_has_one_row_with_their_sum),
        cmocka_unit_test(a_gradient_that_is_not_finite_is_never_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
