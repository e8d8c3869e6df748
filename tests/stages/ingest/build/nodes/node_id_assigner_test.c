#include "common/base/memory.h"
#include "stages/ingest/build/nodes/node_id_assigner.h"
#include "store/records/dataset/node_ids.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns a fixed sequence of scattered integers of both signs, with repetitions. */
static int64_t scattered(uint64_t i)
{
    uint64_t x = (i % 5000) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 29;
    return (int64_t)(x % 3 == 0 ? x : x % 100000);
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void agrees_with_sorting_and_searching(void **state)
{
    (void)state;
    enum { DRAWS = 12000 };
    struct error err = {0};
    struct node_id_assigner ids;
    int64_t *sorted = memory_alloc(DRAWS, sizeof *sorted);
    assert_non_null(sorted);
    node_id_assigner_init(&ids, false, 0);
    for (uint64_t i = 0; i < DRAWS; i++) {
        sorted[i] = scattered(i);
        assert_ok(node_id_assigner_add_integer(&ids, sorted[i], &err), &err);
    }
    node_id_assigner_finish(&ids);
    qsort(sorted, DRAWS, sizeof *sorted, ascending);
    uint64_t count = 0;
    for (uint64_t i = 0; i < DRAWS; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[count++] = sorted[i];
    assert_int_equal(ids.count, count);
    const struct node_ids view = node_id_assigner_view(&ids);
    assert_memory_equal(view.integer, sorted, count * sizeof *sorted);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(node_id_assigner_find_integer(&ids, sorted[i]), i);
    assert_int_equal(node_id_assigner_find_integer(&ids, INT64_MIN), -1);
    assert_false(node_id_assigner_is_consecutive(&ids));
    node_id_assigner_release(&ids);
    memory_free(sorted);
}

static void sees_consecutive_ids_in_any_order(void **state)
{
    (void)state;
    struct error err = {0};
    struct node_id_assigner ids;
    node_id_assigner_init(&ids, false, 0);
    for (int64_t i = 0; i < 3000; i++)
        assert_ok(node_id_assigner_add_integer(&ids, i * 7 % 3000, &err), &err);
    node_id_assigner_finish(&ids);
    assert_true(node_id_assigner_is_consecutive(&ids));
    assert_int_equal(node_id_assigner_find_integer(&ids, 2999), 2999);
    assert_int_equal(node_id_assigner_find_integer(&ids, 3000), -1);
    assert_int_equal(node_id_assigner_find_integer(&ids, -1), -1);
    node_id_assigner_release(&ids);
}

static void keeps_strings_in_order_of_appearance(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct error err = {0};
    struct node_id_assigner ids;
    char text[32];
    node_id_assigner_init(&ids, true, 0);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++) {
            const int size = snprintf(text, sizeof text, "node/%d", i * 31 % COUNT);
            assert_ok(node_id_assigner_add_text(&ids, text, (size_t)size, &err), &err);
        }
    node_id_assigner_finish(&ids);
    assert_int_equal(ids.count, COUNT);
    const struct node_ids view = node_id_assigner_view(&ids);
    for (int i = 0; i < COUNT; i++) {
        const int size = snprintf(text, sizeof text, "node/%d", i * 31 % COUNT);
        assert_int_equal(node_id_assigner_find_text(&ids, text, (size_t)size), i);
        assert_int_equal(view.offset[i + 1] - view.offset[i], size);
        assert_memory_equal(view.text + view.offset[i], text, (size_t)size);
    }
    assert_int_equal(node_id_assigner_find_text(&ids, "node/", 5), -1);
    node_id_assigner_release(&ids);
}

static void stays_inside_its_budget(void **state)
{
    (void)state;
    struct error err = {0};
    struct node_id_assigner ids;
    enum error_code rc = ERROR_NONE;
    node_id_assigner_init(&ids, false, 100000);
    for (int64_t i = 0; rc == ERROR_NONE && i < 100000; i++)
        rc = node_id_assigner_add_integer(&ids, i * 1000, &err);
    assert_int_equal(rc, ERROR_NO_MEMORY);
    assert_true(ids.count > 100000 / 32); /* the budget was used up, not refused at once */
    assert_non_null(strstr(err.message, "the memory budget leaves 97.7 KiB"));
    node_id_assigner_release(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_sorting_and_searching),
        cmocka_unit_test(sees_consecutive_ids_in_any_order),
        cmocka_unit_test(keeps_strings_in_order_of_appearance),
        cmocka_unit_test(stays_inside_its_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
