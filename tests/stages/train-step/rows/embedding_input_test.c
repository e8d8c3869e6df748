/*
 * The rows of a gradient, computed from the gradient of the input: one row per node, in the order
 * of nodes, wherever they stand in the batch.
 */
#include "common/base/memory.h"
#include "stages/train-step/rows/embedding_input.h"
#include "store/records/round/gradient.h"

#include "tests/support/test.h"

#include <math.h>

enum { FEATURES = 2, WIDTH = 3, COUNT = 1500 };

/* Returns nodes 0 .. COUNT / 3 - 1 in no order, each at three places. */
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
    const struct partition_book book = {.part_count = 1};
    const struct schedule schedule = {.embeddings = {.count = 1, .tensor = {{.width = WIDTH}}}};
    const struct stage_context context = {.pool = pool, .book = &book, .schedule = &schedule};
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
    const struct embedding_nodes nodes = {
        .feature_dim = FEATURES, .count = COUNT, .node = node, .input_gradient = gradient};
    const enum error_code rc =
        embedding_input_gradient(&context, &nodes, 1, arena, arena, &out, &err);
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
    const struct gradient_rows *rows = gradient_rows_of(&alone, 0);
    must(alone.group_count == 1 && rows);
    assert_int_equal(rows->count, COUNT / 3);
    assert_int_equal(rows->width, WIDTH);
    for (uint32_t i = 0; i < rows->count; i++) {
        float sum[WIDTH] = {0};
        bool found = false;
        assert_int_equal(rows->node[i], i);
        for (uint32_t place = 0; place < COUNT; place++)
            for (uint32_t c = 0; node_at(place) == i && c < WIDTH; c++) {
                const float g = gradient_at(place, FEATURES + c);
                sum[c] = found ? sum[c] + g : g;
                found = found || c == WIDTH - 1;
            }
        assert_memory_equal(rows->gradient + (size_t)i * WIDTH, sum, sizeof sum);
    }
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    const struct gradient shared = gather(pool, &other, 0);
    assert_memory_equal(rows->gradient, gradient_rows_of(&shared, 0)->gradient,
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

/* In a graph with relations, each type with nodes in the batch has a group, one after the other. */
static void types_have_groups_of_their_own_widths(void **state)
{
    (void)state;
    static const uint32_t author[3] = {9, 4, 9}, venue[1] = {7};
    static const float of_author[6] = {1, 2, 3, 4, 5, 6}, of_venue[3] = {8, 10, 20};
    const struct partition_book book = {.part_count = 1};
    const struct schedule schedule = {
        .embeddings = {
            .count = 3,
            .tensor = {{.type = 1, .width = 2}, {.type = 2, .width = 5}, {.type = 6, .width = 2}}}};
    const struct stage_context context = {.book = &book, .schedule = &schedule};
    const struct embedding_nodes nodes[3] = {
        {.type = 1, .count = 3, .node = author, .input_gradient = of_author},
        {.type = 2},
        {.type = 6, .feature_dim = 1, .count = 1, .node = venue, .input_gradient = of_venue}};
    struct arena arena = {0};
    struct gradient out = {0};
    struct error err = {0};
    assert_ok(embedding_input_gradient(&context, nodes, 3, &arena, &arena, &out, &err), &err);
    assert_int_equal(out.group_count, 2);
    assert_null(gradient_rows_of(&out, 2));
    const struct gradient_rows *authors = gradient_rows_of(&out, 1);
    const struct gradient_rows *venues = gradient_rows_of(&out, 6);
    assert_true(authors->count == 2 && authors->width == 2 && venues->count == 1);
    assert_true(authors->node[0] == 4 && authors->node[1] == 9 && venues->node[0] == 7);
    static const float summed[4] = {3, 4, 1 + 5, 2 + 6}, own[2] = {10, 20};
    assert_memory_equal(authors->gradient, summed, sizeof summed);
    assert_memory_equal(venues->gradient, own, sizeof own);
    assert_true(venues->node == authors->node + 2 && venues->gradient == authors->gradient + 4);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_at_several_places_has_one_row_with_their_sum),
        cmocka_unit_test(types_have_groups_of_their_own_widths),
        cmocka_unit_test(a_gradient_that_is_not_finite_is_never_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
