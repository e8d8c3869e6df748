#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/features/row_order.h"

#include "tests/support/test.h"

#include <stdbool.h>

/* Checks a batch of `count` nodes below `node_count`; a small range gives repeats. */
static void check_order(struct row_order *order, uint32_t node_count, size_t count)
{
    struct error err = {0};
    const struct random_stream stream = {.seed = node_count + count};
    uint32_t *node = memory_alloc(count, sizeof *node);
    bool *found = memory_alloc(count, sizeof *found);
    for (size_t i = 0; i < count; i++)
        node[i] = random_below(random_word(&stream, i, 0), node_count);
    assert_ok(row_order_reserve(order, count, node_count, &err), &err);
    row_order_sort(order, node, count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t place = order->place[i], before = order->place[i ? i - 1 : 0];
        assert_true(place < count && !found[place]);
        found[place] = true;
        if (i > 0) /* ascending, and equal nodes in their order */
            assert_true(node[before] < node[place] ||
                        (node[before] == node[place] && before < place));
    }
    memory_free(found);
    memory_free(node);
}

static void nodes_come_out_ascending_and_equal_ones_in_turn(void **state)
{
    static const uint32_t ranges[] = {1, 2, 255, 256, 257, 5000, 3000000, UINT32_MAX};
    struct row_order order = {0};
    (void)state;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges - 1; r++)
        for (size_t count = 0; count < 3000; count += 271)
            check_order(&order, ranges[r], count);
    row_order_release(&order);
    row_order_release(&order);
}

static void a_smaller_batch_allocates_nothing(void **state)
{
    struct row_order order = {0};
    struct error err = {0};
    (void)state;
    check_order(&order, 100000, 500);
    const long allocations = memory_allocation_count();
    assert_ok(row_order_reserve(&order, 499, 90000, &err), &err);
    assert_int_equal(memory_allocation_count(), allocations);
    row_order_release(&order);
}

static void every_refused_allocation_leaves_it_empty(void **state)
{
    struct error err = {0};
    (void)state;
    for (long n = 0; n < 3; n++) {
        struct row_order order = {0};
        const long blocks = memory_live_blocks();
        memory_fail_after(n);
        assert_int_equal(row_order_reserve(&order, 10, 10, &err), ERROR_NO_MEMORY);
        memory_fail_after(-1);
        assert_int_equal(memory_live_blocks(), blocks);
        assert_int_equal(order.capacity, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_come_out_ascending_and_equal_ones_in_turn),
        cmocka_unit_test(a_smaller_batch_allocates_nothing),
        cmocka_unit_test(every_refused_allocation_leaves_it_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
