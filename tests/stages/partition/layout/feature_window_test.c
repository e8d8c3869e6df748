#include "common/base/memory.h"
#include "stages/partition/layout/feature_window.h"
#include "stages/partition/layout/renumbering.h"
#include "store/objects/keys.h"

#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { NODES = 700, DIM = 8192, PARTS = 3 }; /* chunks of 512 rows: two of them */

static void every_budget_gives_the_rows_in_new_order(void **state)
{
    struct temp_store *t = *state;
    static uint32_t part[NODES];
    static const uint64_t budgets[] = {0, 300ULL * DIM * 4, 1ULL << 30};
    const struct small_dataset dataset = {
        .id = "wide-1", .name = "wide", .node_count = NODES, .feature_dim = DIM};
    struct dataset_schema schema;
    struct renumbering r;
    small_dataset_write(t->store, &dataset);
    assert_ok(dataset_schema_get(t->store, "wide-1", &schema, &t->err), &t->err);
    assert_int_equal(schema.feature_chunk_count, 2);
    for (uint32_t v = 0; v < NODES; v++)
        part[v] = v * 7 % PARTS;
    assert_ok(renumbering_init(&r, part, NODES, PARTS, &t->err), &t->err);
    const struct numbering numbering = renumbering_view(&r);
    for (size_t b = 0; b < 3; b++) {
        struct feature_window window;
        const float *row = NULL;
        uint32_t count = 0;
        assert_ok(feature_window_init(&window, t->store, &schema, &numbering, 0, r.book, budgets[b],
                                      &t->err),
                  &t->err);
        for (uint32_t v = 0; v < NODES; v += count) {
            assert_ok(feature_window_rows(&window, v, 100, &row, &count, &t->err), &t->err);
            assert_in_range(count, 1, 100);
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t node = r.to_dataset[v + i];
                assert_true(row[(size_t)i * DIM] == small_dataset_feature(node, 0));
                assert_true(row[(size_t)i * DIM + DIM - 1] == small_dataset_feature(node, DIM - 1));
            }
        }
        feature_window_release(&window);
    }
    schema.feature_dim = 5;
    struct feature_window window;
    const float *row = NULL;
    uint32_t count = 0;
    assert_ok(feature_window_init(&window, t->store, &schema, &numbering, 0, r.book, 0, &t->err),
              &t->err);
    assert_fails(feature_window_rows(&window, 0, 1, &row, &count, &t->err), ERROR_CORRUPT,
                 "features/0000000000: holds 512 rows of 8192 from node 0, expected rows of 5",
                 &t->err);
    feature_window_release(&window);
    schema.feature_dim = DIM;
    assert_ok(store_remove(t->store, key_feature_chunk("wide-1", 1).text, &t->err), &t->err);
    assert_ok(feature_window_init(&window, t->store, &schema, &numbering, 0, r.book, 0, &t->err),
              &t->err);
    assert_fails(feature_window_rows(&window, 0, 1, &row, &count, &t->err), ERROR_NOT_FOUND,
                 "features/0000000001", &t->err);
    feature_window_release(&window);
    renumbering_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(every_budget_gives_the_rows_in_new_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
