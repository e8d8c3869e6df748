#include "common/base/memory.h"
#include "common/parallel/shared_area.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"
#include "store/objects/keys.h"

#include "tests/support/shard_damage.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <sys/wait.h>
#include <unistd.h>

enum { PARTS = 3, NODES = 4000, DIM = 100, THREADS = 3, ALL_BYTES = NODES * DIM * 4 };

static const uint32_t bounds[PARTS + 1] = {0, 1000, 1000, NODES};

static float value_of(uint32_t node, uint32_t column)
{
    return (float)(node % 97) + (float)column / 128;
}

static void write_part(struct store *store, int part)
{
    struct feature_shard_writer *writer = NULL;
    struct error err = {0};
    const struct tensor_spec tensor = {.name = "features",
                                       .type = TENSOR_F32,
                                       .dim = DIM,
                                       .row_count = bounds[part + 1] - bounds[part]};
    float row[DIM];
    assert_ok(feature_shard_writer_new(store, key_part("p", part, "shard").text,
                                       key_part("p", part, "shard_seal").text, "p", &writer, &err),
              &err);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &err), &err);
    for (uint32_t node = bounds[part]; node < bounds[part + 1]; node++) {
        for (uint32_t c = 0; c < DIM; c++)
            row[c] = value_of(node, c);
        assert_ok(feature_shard_writer_add(writer, row, 1, &err), &err);
    }
    assert_ok(feature_shard_writer_finish(writer, &err), &err);
}

static int setup(void **state)
{
    struct temp_store *temp = NULL;
    if (temp_store_setup(state) != 0)
        return 1;
    temp = *state;
    for (int p = 0; p < PARTS; p++)
        write_part(temp->store, p);
    shared_area_folder_set(temp->dir.path);
    return 0;
}

static int teardown(void **state)
{
    shared_area_folder_set("/dev/shm");
    return temp_store_teardown(state);
}

static struct feature_source_config config_of(void **state)
{
    const struct temp_store *temp = *state;
    return (struct feature_source_config){.store = temp->store,
                                          .origin = FEATURES_OF_PARTITION,
                                          .id = "p",
                                          .part_count = PARTS,
                                          .book = bounds,
                                          .tensor = "features",
                                          .budget_bytes = ALL_BYTES};
}

static bool rows_are_right(struct feature_source *source)
{
    uint32_t node[500];
    struct feature_rows rows;
    struct error err = {0};
    for (uint32_t i = 0; i < 500; i++)
        node[i] = i * 1237 % NODES;
    if (feature_source_fetch(source, node, 500, &rows, &err) != ERROR_NONE)
        return false;
    for (uint32_t i = 0; i < 500; i++) {
        const size_t at = rows.row_index ? rows.row_index[i] : i;
        const float *row = (const float *)rows.base + at * rows.stride;
        for (uint32_t c = 0; c < DIM; c++)
            if (row[c] != value_of(node[i], c))
                return false;
    }
    return true;
}

/* Tests that the second process uses the array that the first has filled: the shards are gone by
 * then. */
static void the_second_of_a_host_reads_no_shard(void **state)
{
    const struct temp_store *temp = *state;
    struct feature_source_config config = config_of(state);
    struct feature_source *source[2] = {NULL};
    struct error err = {0};
    int status = -1;
    config.sharers = 2;
    assert_ok(thread_pool_new(THREADS, &config.pool, &err), &err);
    assert_ok(feature_source_open(&config, &source[0], &err), &err);
    shard_damage_empty_tables(temp->store, key_part("p", 0, "shard"));
    assert_ok(feature_source_open(&config, &source[1], &err), &err);
    for (int i = 0; i < 2; i++) {
        assert_true(feature_source_is_resident(source[i]));
        assert_int_equal(feature_source_bytes(source[i]), ALL_BYTES / 2);
        assert_true(rows_are_right(source[i]));
    }
    thread_pool_free(config.pool);
    config.pool = NULL;
    const pid_t child = fork();
    if (child == 0) {
        struct feature_source *own = NULL;
        const bool good = feature_source_open(&config, &own, &err) == ERROR_NONE &&
                          feature_source_is_resident(own) && rows_are_right(own);
        feature_source_close(own);
        _exit(good ? 0 : 1);
    }
    must(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    feature_source_close(source[0]);
    assert_true(rows_are_right(source[1]));
    feature_source_close(source[1]);
    assert_fails(feature_source_open(&config, &source[0], &err), ERROR_CORRUPT,
                 "partition/p/part/0000000000/shard", &err);
}

/* Tests that other rows, or the same in another form, have another array. */
static void unlike_rows_are_not_shared(void **state)
{
    struct feature_source_config config = config_of(state);
    struct feature_source *source[2] = {NULL};
    struct feature_rows rows[2];
    const uint32_t node = 17;
    struct error err = {0};
    assert_ok(feature_source_open(&config, &source[0], &err), &err);
    config.precision = PRECISION_BF16;
    config.budget_bytes = ALL_BYTES;
    assert_ok(feature_source_open(&config, &source[1], &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(feature_source_fetch(source[i], &node, 1, &rows[i], &err), &err);
    assert_int_equal(rows[0].precision, PRECISION_FP32);
    assert_int_equal(rows[1].precision, PRECISION_BF16);
    assert_true(rows_are_right(source[0]));
    feature_source_close(source[0]);
    feature_source_close(source[1]);
}

static void small_arrays_are_counted_whole(void **state)
{
    (void)state;
    assert_int_equal(feature_source_portion(SHARED_AREA_BYTES_MIN, 2), SHARED_AREA_BYTES_MIN / 2);
    assert_int_equal(feature_source_portion(SHARED_AREA_BYTES_MIN, 0), SHARED_AREA_BYTES_MIN);
    assert_int_equal(feature_source_portion(SHARED_AREA_BYTES_MIN - 1, 2),
                     SHARED_AREA_BYTES_MIN - 1);
}

/* Tests two processes, each with a budget for half the rows: together they hold all if they can
 * share, and otherwise neither does. */
static void a_portion_has_to_fit_when_it_is_shared_and_all_when_not(void **state)
{
    struct feature_source_config config = config_of(state);
    struct feature_source *source = NULL;
    struct error err = {0};
    config.budget_bytes = ALL_BYTES / 2;
    for (int sharers = 1; sharers <= 2; sharers++)
        for (int possible = 0; possible < 2; possible++) {
            const struct temp_store *temp = *state;
            shared_area_folder_set(possible ? temp->dir.path : "");
            config.sharers = sharers;
            assert_ok(feature_source_open(&config, &source, &err), &err);
            assert_int_equal(feature_source_is_resident(source), possible && sharers == 2);
            assert_true(feature_source_bytes(source) <= config.budget_bytes);
            assert_true(rows_are_right(source));
            assert_true(feature_source_bytes(source) <= config.budget_bytes);
            feature_source_close(source);
        }
    shared_area_folder_set("");
    config.budget_bytes = ALL_BYTES;
    assert_ok(feature_source_open(&config, &source, &err), &err);
    assert_true(feature_source_is_resident(source));
    assert_int_equal(feature_source_bytes(source), ALL_BYTES); /* private, so all of it counts */
    feature_source_close(source);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_second_of_a_host_reads_no_shard),
        TEST(unlike_rows_are_not_shared),
        cmocka_unit_test(small_arrays_are_counted_whole),
        TEST(a_portion_has_to_fit_when_it_is_shared_and_all_when_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
