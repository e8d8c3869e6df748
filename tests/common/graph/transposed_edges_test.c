#include "common/graph/transposed_edges.h"

#include "tests/support/block_fixture.h"
#include "tests/support/test.h"

static uint32_t times(const uint32_t *list, uint32_t first, uint32_t end, uint32_t value)
{
    uint32_t count = 0;
    for (uint32_t e = first; e < end; e++)
        count += list[e] == value;
    return count;
}

static void check(const struct message_block *block, bool skip)
{
    struct error err = {0};
    struct arena arena = {0};
    struct transposed_edges edges;
    assert_ok(transposed_edges_build(block, skip, &arena, &edges, &err), &err);
    assert_int_equal(edges.start[0], 0);
    for (uint32_t j = 0; j < block->source_count; j++) {
        for (uint32_t i = 0; i < block->destination_count; i++) {
            const uint32_t there =
                times(block->neighbor, block->row_start[i], block->row_start[i + 1], j);
            const uint32_t here = times(edges.destination, edges.start[j], edges.start[j + 1], i);
            assert_int_equal(here, skip && i == j ? 0 : there);
        }
        for (uint32_t e = edges.start[j] + 1; e < edges.start[j + 1]; e++)
            assert_true(edges.destination[e - 1] <= edges.destination[e]);
    }
    arena_release(&arena);
}

static void each_edge_is_found_at_its_source(void **state)
{
    static const uint32_t hop_end[] = {30, 50, 80};
    struct block_fixture fixture;
    (void)state;
    block_fixture_make(&fixture, 2, hop_end, 1, 3);
    for (int layer = 0; layer < 2; layer++) {
        check(&fixture.block[layer], false);
        check(&fixture.block[layer], true);
    }
    block_fixture_release(&fixture);
}

static void a_block_may_start_inside_an_array(void **state)
{
    const uint32_t row_start[] = {2, 4, 4}, neighbor[] = {9, 9, 2, 0};
    const struct message_block block = {
        .destination_count = 2, .source_count = 3, .row_start = row_start, .neighbor = neighbor};
    (void)state;
    check(&block, false);
    check(&block, true);
}

static void a_graph_without_edges_is_fine(void **state)
{
    const uint32_t row_start[] = {0, 0};
    const struct message_block block = {
        .destination_count = 1, .source_count = 1, .row_start = row_start};
    (void)state;
    check(&block, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_edge_is_found_at_its_source),
        cmocka_unit_test(a_block_may_start_inside_an_array),
        cmocka_unit_test(a_graph_without_edges_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
