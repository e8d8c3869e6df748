#include "common/base/memory.h"
#include "stages/plan/model/sparse_features.h"
#include "store/features/feature_shard.h"
#include "store/objects/keys.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { NODES = 700, DIM = 40 };

#define PARTITION "partition-1"

static const uint32_t book[] = {0, 100, NODES}; /* the rows that are read are in both parts */

static void put_shards(struct store *store, const float *feature)
{
    struct error err = {0};
    for (int part = 0; part < 2; part++) {
        struct feature_shard_writer *writer = NULL;
        const uint32_t count = book[part + 1] - book[part];
        const struct tensor_spec tensor = {
            .name = "features", .type = TENSOR_F32, .dim = DIM, .row_count = count};
        const struct key key = key_part(PARTITION, part, "shard");
        const struct key seal = key_part(PARTITION, part, "shard_seal");
        assert_ok(feature_shard_writer_new(store, key.text, seal.text, PARTITION, &writer, &err),
                  &err);
        assert_ok(feature_shard_writer_begin(writer, &tensor, &err), &err);
        assert_ok(feature_shard_writer_add(writer, feature + (size_t)book[part] * DIM, count, &err),
                  &err);
        assert_ok(feature_shard_writer_finish(writer, &err), &err);
    }
}

static bool detect(struct store *store, uint64_t budget_bytes)
{
    struct error err = {0};
    struct feature_source *source = NULL;
    bool mostly_zero = false;
    const struct feature_source_config config = {.store = store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = PARTITION,
                                                 .part_count = 2,
                                                 .book = book,
                                                 .tensor = "features",
                                                 .budget_bytes = budget_bytes};
    assert_ok(feature_source_open(&config, &source, &err), &err);
    assert_int_equal(feature_source_is_resident(source), budget_bytes == UINT64_MAX);
    assert_ok(sparse_features_detect(source, NODES, &mostly_zero, &err), &err);
    feature_source_close(source);
    return mostly_zero;
}

/* Makes every `step`-th element of the first 256 rows nonzero, and all elements of the other rows.
 * Returns what is detected. */
static bool detect_share(struct temp_store *temp, size_t step)
{
    float *feature = memory_alloc((size_t)NODES * DIM, sizeof *feature);
    for (size_t i = 0; i < (size_t)NODES * DIM; i++)
        feature[i] = i >= (size_t)256 * DIM || i % step == 0 ? 1 : 0;
    put_shards(temp->store, feature);
    const bool resident = detect(temp->store, UINT64_MAX);
    assert_int_equal(detect(temp->store, 90000), resident);
    memory_free(feature);
    return resident;
}

static void one_element_of_eight_in_the_first_rows_is_mostly_zero(void **state)
{
    assert_true(detect_share(*state, 8));
}

static void one_of_seven_is_not(void **state)
{
    assert_false(detect_share(*state, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(one_element_of_eight_in_the_first_rows_is_mostly_zero),
        test_with_store(one_of_seven_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
