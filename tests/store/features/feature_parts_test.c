/* Tests when shards are opened, and by which threads, in a store without paths, where each shard is
 * downloaded. */
#include "common/base/memory.h"
#include "store/backends/memory/memory_backend.h"
#include "store/features/feature_parts.h"

#include "tests/support/store_watch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <pthread.h>

enum { PART_COUNT = 3, PART_ROWS = 5, DIM = 2 };

static const char place[] = "feature-parts";
static const uint32_t bounds[PART_COUNT + 1] = {0, 5, 10, 15};

struct scene {
    struct temp_dir dir;
    struct store *store;
    struct feature_parts parts;
    struct error err;
};

static void write_shard(struct scene *s, int part)
{
    const struct tensor_spec tensor = {
        .name = "features", .type = TENSOR_F32, .dim = DIM, .row_count = PART_ROWS};
    struct feature_shard_writer *writer = NULL;
    float rows[PART_ROWS * DIM];
    for (int i = 0; i < PART_ROWS * DIM; i++)
        rows[i] = (float)(100 * part + i);
    assert_ok(feature_shard_writer_new(s->store, key_part("p", part, "shard").text,
                                       key_part("p", part, "shard_seal").text, "p", &writer,
                                       &s->err),
              &s->err);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &s->err), &s->err);
    assert_ok(feature_shard_writer_add(writer, rows, PART_ROWS, &s->err), &s->err);
    assert_ok(feature_shard_writer_finish(writer, &s->err), &s->err);
}

static int set_up(void **state)
{
    static struct scene s;
    s = (struct scene){.store = store_watch_open(&memory_backend, place)};
    temp_dir_make(&s.dir);
    must(store_cache_set(s.store, s.dir.path, UINT64_MAX, false, &s.err) == ERROR_NONE);
    for (int p = 0; p < PART_COUNT; p++)
        write_shard(&s, p);
    const struct feature_source_config config = {.store = s.store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = "p",
                                                 .part_count = PART_COUNT,
                                                 .book = bounds,
                                                 .tensor = "features"};
    store_watch_begin(PART_COUNT);
    assert_ok(feature_parts_open(&config, &s.parts, &s.err), &s.err);
    assert_int_equal(store_watch_end().calls, 1); /* for all seals together */
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    feature_parts_close(&s->parts);
    store_close(s->store);
    memory_store_forget(place);
    temp_dir_remove(&s->dir);
    return memory_live_blocks() == 0 ? 0 : -1;
}

struct reader {
    pthread_t thread;
    struct feature_parts *parts;
    struct feature_shard *shard;
    int part;
    bool good;
};

static void *read_part(void *argument)
{
    struct reader *reader = argument;
    struct error err = {0};
    float rows[PART_ROWS * DIM] = {0};
    reader->good =
        feature_parts_shard(reader->parts, reader->part, &reader->shard, &err) == ERROR_NONE &&
        feature_shard_read_all(reader->shard, "features", rows, DIM, &err) == ERROR_NONE &&
        rows[3] == (float)(100 * reader->part + 3);
    return NULL;
}

static void run(struct reader *reader, int count)
{
    for (int i = 0; i < count; i++)
        must(pthread_create(&reader[i].thread, NULL, read_part, &reader[i]) == 0);
    for (int i = 0; i < count; i++) {
        (void)pthread_join(reader[i].thread, NULL);
        assert_true(reader[i].good);
    }
}

static void threads_open_different_shards_side_by_side(void **state)
{
    struct scene *s = *state;
    struct reader reader[PART_COUNT];
    for (int p = 0; p < PART_COUNT; p++)
        reader[p] = (struct reader){.parts = &s->parts, .part = p};
    store_watch_begin(PART_COUNT);
    run(reader, PART_COUNT);
    assert_in_range(store_watch_end().most, PART_COUNT, 2 * PART_COUNT);
}

static void threads_that_want_the_same_shard_open_it_once(void **state)
{
    struct scene *s = *state;
    struct reader reader[4];
    for (int i = 0; i < 4; i++)
        reader[i] = (struct reader){.parts = &s->parts, .part = 1};
    store_watch_begin(0);
    run(reader, 4);
    assert_int_equal(store_watch_end().most, 1);
    for (int i = 0; i < 4; i++)
        assert_ptr_equal(reader[i].shard, reader[0].shard);
    assert_null(s->parts.part[0].shard);
}

#define with_scene(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_scene(threads_open_different_shards_side_by_side),
        with_scene(threads_that_want_the_same_shard_open_it_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
