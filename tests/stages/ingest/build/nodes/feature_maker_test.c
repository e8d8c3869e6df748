#include "common/base/memory.h"
#include "stages/ingest/build/nodes/feature_maker.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/feature_statistics.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct fixture {
    struct temp_dir dir;
    struct store *store;
    struct pipeline_settings settings;
    struct feature_maker maker;
};

static struct fixture fixture;

static int open_fixture(void **state)
{
    (void)state;
    struct error err = {0};
    temp_dir_make(&fixture.dir);
    assert_ok(store_open(fixture.dir.path, 0, &fixture.store, &err), &err);
    pipeline_settings_defaults(&fixture.settings);
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    feature_maker_close(&fixture.maker);
    store_close(fixture.store);
    temp_dir_remove(&fixture.dir);
    assert_int_equal(memory_live_blocks(), 0);
    return 0;
}

static struct feature_maker *start(uint32_t node_count)
{
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    feature_maker_close(&fixture.maker);
    assert_ok(file_path(path, &err, "%s/rows", fixture.dir.path), &err);
    assert_ok(feature_maker_open(&fixture.maker, path, &fixture.settings, 0, node_count, &err),
              &err);
    return &fixture.maker;
}

/* Chooses, writes as dataset `id`, and returns all rows; free them with memory_free(). */
static float *finish(const char *id, uint64_t *chunk_count)
{
    struct error err = {0};
    struct feature_maker *maker = &fixture.maker;
    float *rows = NULL;
    uint32_t next = 0;
    assert_ok(feature_maker_choose(maker, &fixture.settings, &err), &err);
    *chunk_count = 0;
    assert_ok(feature_maker_write(maker, fixture.store, id, chunk_count, &err), &err);
    assert_ok(memory_new(&rows, (size_t)maker->node_count * maker->dim, "rows", &err), &err);
    for (uint64_t c = 0; c < *chunk_count; c++) {
        struct feature_chunk chunk;
        assert_ok(feature_chunk_get(fixture.store, id, (int64_t)c, &chunk, &err), &err);
        assert_int_equal(chunk.first_node, next);
        assert_int_equal(chunk.dim, maker->dim);
        memcpy(rows + (size_t)next * maker->dim, chunk.row,
               (size_t)chunk.node_count * maker->dim * sizeof *rows);
        next += chunk.node_count;
        store_release_record(&chunk.view);
    }
    assert_int_equal(next, maker->node_count);
    return rows;
}

static void given_rows_come_back_in_order_over_several_chunks(void **state)
{
    (void)state;
    enum { NODES = 700, DIM = 16384 };
    struct error err = {0};
    uint64_t chunks = 0;
    struct feature_maker *maker = start(NODES);
    float *row = NULL;
    assert_ok(memory_new(&row, DIM, "a row", &err), &err);
    for (int i = 0; i < NODES; i++) {
        row[0] = (float)i;
        row[DIM - 1] = (float)-i;
        assert_ok(feature_maker_add(maker, "x.npy", row, 1, DIM, &err), &err);
    }
    float *rows = finish("d", &chunks);
    assert_int_equal(chunks, 3);
    assert_string_equal(maker->origin, "given");
    for (int i = 0; i < NODES; i++) {
        assert_true(rows[(size_t)i * DIM] == (float)i);
        assert_true(rows[(size_t)i * DIM + DIM - 1] == (float)-i);
    }
    memory_free(rows);
    memory_free(row);
}

/* The expected numbers follow torch_geometric.transforms.NormalizeFeatures: x = x - x.min(); x /
 * x.sum(-1).clamp(min=1). */
static void rows_are_divided_by_their_sum_or_by_1(void **state)
{
    (void)state;
    /* sums above 1, 0, in (0, 1), 1 */
    static const float given[] = {1, 3, 0, 0, 0.25F, 0.5F, 0.5F, 0.5F};
    static const float expected[] = {0.25F, 0.75F, 0, 0, 0.25F, 0.5F, 0.5F, 0.5F};
    /* the smallest is -2, so the rows are: 3 5 | 2 2 | 0 3 | 2 0.5 */
    static const float negative[] = {1, 3, 0, 0, -2, 1, 0, -1.5F};
    static const float shifted[] = {0.375F, 0.625F, 0.5F, 0.5F, 0, 1, 0.8F, 0.2F};
    static const float huge[] = {3e38F, -3e38F, -3e38F, -3e38F, 0, 0, 3e38F, 3e38F};
    static const float bounded[] = {1, 0, 0, 0, 0.5F, 0.5F, 0.5F, 0.5F};
    const struct {
        const char *id;
        const float *given, *expected;
    } cases[] = {{"a", given, expected}, {"b", negative, shifted}, {"c", huge, bounded}};
    fixture.settings.ingest.normalise_rows = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        uint64_t chunks = 0;
        struct feature_maker *maker = start(4);
        assert_ok(feature_maker_add(maker, "x.npy", cases[i].given, 4, 2, &err), &err);
        float *rows = finish(cases[i].id, &chunks);
        assert_memory_equal(rows, cases[i].expected, 8 * sizeof(float));
        memory_free(rows);
    }
}

/* Columns: a large mean with a small spread, a constant, ordinary numbers. */
static void columns_get_mean_0_and_variance_1(void **state)
{
    (void)state;
    enum { NODES = 1000, DIM = 3 };
    struct error err = {0};
    uint64_t chunks = 0;
    float given[NODES * DIM];
    double mean[DIM] = {0}, square[DIM] = {0};
    for (size_t i = 0; i < NODES; i++) {
        given[i * DIM] = 8388608.0F + (float)(i % 2);
        given[i * DIM + 1] = 0.1F;
        given[i * DIM + 2] = (float)(i * 7 % 31) - 3.5F;
    }
    fixture.settings.ingest.standardise = true;
    struct feature_maker *maker = start(NODES);
    assert_ok(feature_maker_add(maker, "x.npy", given, NODES, DIM, &err), &err);
    float *rows = finish("d", &chunks);
    for (int i = 0; i < NODES * DIM; i++) {
        mean[i % DIM] += (double)rows[i] / NODES;
        square[i % DIM] += (double)rows[i] * (double)rows[i] / NODES;
    }
    for (int c = 0; c < DIM; c += 2) {
        assert_true(fabs(mean[c]) < 1e-6);
        assert_true(fabs(square[c] - 1.0) < 1e-6);
    }
    for (size_t i = 0; i < NODES; i++) {
        assert_true(fabsf(rows[i * DIM] - (i % 2 ? 1.0F : -1.0F)) < 1e-6F);
        assert_true(rows[i * DIM + 1] == 0.0F);
    }
    memory_free(rows);
}

/* The statistics of a dataset are stored. The same rows scaled by them are the same, and rows of
 * another graph are scaled by the same statistics. */
static void rows_are_scaled_by_what_another_dataset_kept(void **state)
{
    (void)state;
    enum { NODES = 50, DIM = 3 };
    struct error err = {0};
    struct feature_statistics kept;
    uint64_t chunks = 0;
    float given[NODES * DIM];
    char path[FILE_PATH_SIZE];
    for (size_t i = 0; i < (size_t)NODES * DIM; i++)
        given[i] = i % DIM == 1 ? 4.0F : (float)(i * 7 % 31) - 3.5F;
    fixture.settings.ingest.standardise = fixture.settings.ingest.normalise_rows = true;
    struct feature_maker *maker = start(NODES);
    assert_ok(feature_maker_add(maker, "x.npy", given, NODES, DIM, &err), &err);
    float *rows = finish("d", &chunks);
    assert_ok(feature_statistics_get(fixture.store, "d", 0, &kept, &err), &err);
    assert_true(kept.has_least && kept.dim == DIM);
    double mean[DIM], deviation[DIM];
    memcpy(mean, kept.mean, sizeof mean);
    memcpy(deviation, kept.deviation, sizeof deviation);
    const struct feature_scaling scaling = {
        .has_least = true, .least = kept.least, .dim = DIM, .mean = mean, .deviation = deviation};
    store_release_record(&kept.view);
    assert_ok(file_path(path, &err, "%s/scaling.csv", fixture.dir.path), &err);
    assert_ok(feature_scaling_write(path, &scaling, 1, &err), &err);
    (void)snprintf(fixture.settings.ingest.feature_statistics,
                   sizeof fixture.settings.ingest.feature_statistics, "%s", path);
    maker = start(20);
    assert_ok(feature_maker_add(maker, "x.npy", given + 9, 20, DIM, &err), &err);
    float *others = finish("e", &chunks);
    assert_memory_equal(others, rows + 9, sizeof(float) * 20 * DIM);
    memory_free(others);
    memory_free(rows);
    maker = start(NODES);
    assert_ok(feature_maker_add(maker, "x.npy", given, NODES, DIM - 1, &err), &err);
    assert_fails(feature_maker_choose(maker, &fixture.settings, &err), ERROR_INPUT,
                 "expected the mean and deviation of 2 feature columns (given), found 3", &err);
}

static void degrees_become_their_logarithms(void **state)
{
    (void)state;
    const uint32_t in[] = {0, 1, 99}, out[] = {7, 0, 1000000};
    uint64_t chunks = 0;
    fixture.settings.ingest.features.choice = FEATURES_DEGREE;
    struct feature_maker *maker = start(3);
    maker->in_degree = in;
    maker->out_degree = out;
    float *rows = finish("d", &chunks);
    assert_string_equal(maker->origin, "degree");
    assert_int_equal(maker->dim, 2);
    for (size_t i = 0; i < 3; i++) {
        assert_true(fabsf(rows[i * 2] - logf(1.0F + (float)in[i])) < 1e-6F);
        assert_true(fabsf(rows[i * 2 + 1] - logf(1.0F + (float)out[i])) < 1e-5F);
    }
    memory_free(rows);
}

static void random_numbers_depend_on_seed_node_and_column_only(void **state)
{
    (void)state;
    enum { NODES = 5000, DIM = 7 };
    uint64_t chunks = 0;
    double mean = 0, square = 0;
    fixture.settings.ingest.features.choice = FEATURES_RANDOM;
    fixture.settings.ingest.random_dim = DIM;
    start(NODES);
    float *many = finish("many", &chunks);
    assert_string_equal(fixture.maker.origin, "random");
    start(10);
    float *few = finish("few", &chunks);
    assert_memory_equal(many, few, sizeof *few * 10 * DIM);
    for (int i = 0; i < NODES * DIM; i++) {
        mean += (double)many[i] / (NODES * DIM);
        square += (double)many[i] * (double)many[i] / (NODES * DIM);
    }
    assert_true(fabs(mean) < 0.03 && fabs(square - 1.0) < 0.03);
    fixture.settings.seed++;
    start(10);
    float *other = finish("other", &chunks);
    assert_true(few[0] != other[0] && few[DIM] != other[DIM]);
    memory_free(many);
    memory_free(few);
    memory_free(other);
}

static void degree_and_random_stand_side_by_side(void **state)
{
    (void)state;
    const uint32_t degree[] = {1, 2, 3, 4};
    uint64_t chunks = 0;
    fixture.settings.ingest.random_dim = 6; /* features is auto, and none are given */
    struct feature_maker *maker = start(4);
    maker->in_degree = maker->out_degree = degree;
    float *both = finish("both", &chunks);
    assert_string_equal(maker->origin, "degree+random");
    assert_int_equal(maker->dim, 8);
    fixture.settings.ingest.features.choice = FEATURES_RANDOM;
    start(4);
    float *random = finish("random", &chunks);
    for (size_t i = 0; i < 4; i++)
        assert_memory_equal(both + i * 8 + 2, random + i * 6, 6 * sizeof *both);
    memory_free(both);
    memory_free(random);
}

static void bad_rows_are_named(void **state)
{
    (void)state;
    const float rows[] = {1, 2, 3, 4, NAN, 6}, infinite[] = {1, INFINITY, 3};
    struct error err = {0};
    struct feature_maker *maker = start(3);
    assert_fails(feature_maker_add(maker, "x.npy", rows, 2, 3, &err), ERROR_INPUT,
                 "x.npy: row 1, column 1: the feature is nan: expected a finite number", &err);
    maker = start(3);
    assert_fails(feature_maker_add(maker, "x.npy", infinite, 1, 3, &err), ERROR_INPUT,
                 "x.npy: row 0, column 1: the feature is inf", &err);
    maker = start(3);
    assert_ok(feature_maker_add(maker, "x.npy", rows, 1, 3, &err), &err);
    assert_fails(feature_maker_add(maker, "x.npy", rows, 1, 2, &err), ERROR_INPUT,
                 "x.npy: row 1: expected 3 feature columns, found 2", &err);
    assert_fails(feature_maker_add(maker, "x.npy", rows, 3, 3, &err), ERROR_INPUT,
                 "x.npy: expected 3 feature rows, one for each node, found 4 or more", &err);
    assert_fails(feature_maker_choose(maker, &fixture.settings, &err), ERROR_INPUT,
                 "expected 3 feature rows, one for each node, found 1", &err);
}

static void features_that_are_not_there_cannot_be_used(void **state)
{
    (void)state;
    struct error err = {0};
    fixture.settings.ingest.features.choice = FEATURES_GIVEN;
    struct feature_maker *maker = start(3);
    assert_fails(feature_maker_choose(maker, &fixture.settings, &err), ERROR_INVALID,
                 "ingest.features is given, but the input has no features", &err);
    assert_fails(feature_maker_add(maker, "x.npy", NULL, 3, 0, &err), ERROR_INPUT,
                 "x.npy: expected 1 to 16777216 feature columns, found 0", &err);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(given_rows_come_back_in_order_over_several_chunks),
        TEST(rows_are_divided_by_their_sum_or_by_1),
        TEST(columns_get_mean_0_and_variance_1),
        TEST(rows_are_scaled_by_what_another_dataset_kept),
        TEST(degrees_become_their_logarithms),
        TEST(random_numbers_depend_on_seed_node_and_column_only),
        TEST(degree_and_random_stand_side_by_side),
        TEST(bad_rows_are_named),
        TEST(features_that_are_not_there_cannot_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
