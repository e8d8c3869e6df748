#include "stages/sampling/rows/known_nodes.h"

#include "tests/support/test.h"

enum { NODE_COUNT = 100 };

static void add_some(struct known_nodes *known)
{
    static const uint32_t node[] = {7, 99, 0, 50};
    for (uint32_t v = 0; v < NODE_COUNT; v++)
        assert_false(known_nodes_has(known, v));
    for (uint32_t i = 0; i < 4; i++)
        known_nodes_add(known, node[i]);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(known_nodes_has(known, node[i]));
        assert_int_equal(known_nodes_local(known, node[i]), i);
    }
    assert_false(known_nodes_has(known, 8));
    assert_int_equal(known->count, 4);
}

static void knows_what_was_added_until_it_forgets(void **state)
{
    (void)state;
    struct error err = {0};
    struct array_budget budget = {0};
    struct known_nodes known;
    assert_ok(known_nodes_init(&known, &budget, NODE_COUNT, &err), &err);
    for (int batch = 0; batch < 5; batch++) {
        add_some(&known);
        known_nodes_forget(&known);
    }
    known_nodes_release(&known, &budget);
    assert_int_equal(budget.used, 0);
}

/* Tests batches shortly before the numbers run out, and when they do. */
static void clears_the_table_when_the_numbers_run_out(void **state)
{
    (void)state;
    struct error err = {0};
    struct array_budget budget = {0};
    struct known_nodes known;
    assert_ok(known_nodes_init(&known, &budget, NODE_COUNT, &err), &err);
    known.base = UINT32_MAX - NODE_COUNT - 7;
    bool cleared = false;
    for (int batch = 0; batch < 5; batch++) {
        add_some(&known);
        known_nodes_forget(&known);
        cleared = cleared || known.base == 1;
        assert_true((uint64_t)known.base + NODE_COUNT <= UINT32_MAX);
    }
    assert_true(cleared);
    known_nodes_release(&known, &budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_was_added_until_it_forgets),
        cmocka_unit_test(clears_the_table_when_the_numbers_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
