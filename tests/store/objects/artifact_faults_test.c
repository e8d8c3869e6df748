/* Tests shards and topologies with a store whose n-th call fails, for every n: while they are built
 * for the first time, again, and over a damaged one, and while they are opened and verified. See
 * tests/stages/fault_walk.h. */
#include "store/backends/directory/directory.h"
#include "store/features/feature_shard.h"
#include "store/objects/keys.h"
#include "store/records/partition/topology_seal.h"
#include "store/topology/topology.h"

#include "tests/stages/fault_walk.h"
#include "tests/support/failing_calls.h"
#include "tests/support/shard_damage.h"
#include "tests/support/temp_dir.h"

#include <errno.h>
#include <unistd.h>

static const uint32_t bounds[] = {0, 3};

struct scene {
    struct temp_dir dir;
    struct store *store;
    struct partition_book book;
};

static int set_up(void **state)
{
    static struct scene scene;
    scene = (struct scene){.book = {.id = "p", .part_count = 1, .node_count = 3, .book = bounds}};
    temp_dir_make(&scene.dir);
    scene.store = store_faults_open(&directory_backend, scene.dir.path);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    store_close(scene->store);
    temp_dir_remove(&scene->dir);
    return memory_live_blocks() == 0 ? 0 : -1;
}

static enum error_code write_shard(void *context, struct error *err)
{
    const struct scene *scene = context;
    static const float rows[300 * 2] = {1, 2, 3};
    const struct tensor_spec tensors[2] = {
        {.name = "features", .type = TENSOR_F32, .dim = 2, .row_count = 300},
        {.name = "empty", .type = TENSOR_I32, .dim = 1}};
    struct feature_shard_writer *writer = NULL;
    enum error_code rc =
        feature_shard_writer_new(scene->store, key_part("p", 0, "shard").text,
                                 key_part("p", 0, "shard_seal").text, "p", &writer, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int i = 0; rc == ERROR_NONE && i < 2; i++) {
        rc = feature_shard_writer_begin(writer, &tensors[i], err);
        if (rc == ERROR_NONE)
            rc = feature_shard_writer_add(writer, rows, tensors[i].row_count, err);
    }
    if (rc == ERROR_NONE)
        return feature_shard_writer_finish(writer, err);
    feature_shard_writer_abandon(writer);
    return rc;
}

static enum error_code verify_shard(void *context, struct error *err)
{
    const struct scene *scene = context;
    struct feature_shard *shard = NULL;
    enum error_code rc = feature_shard_open(scene->store, key_part("p", 0, "shard").text,
                                            key_part("p", 0, "shard_seal").text, "p", &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_verify(shard, err);
    feature_shard_close(shard);
    return rc;
}

static enum error_code write_topology(void *context, struct error *err)
{
    const struct scene *scene = context;
    static const uint64_t row_start[] = {0, 2, 2, 3};
    static const uint32_t neighbor[] = {1, 2, 0};
    const struct topology_arrays arrays = {
        .node_count = 3, .edge_count = 3, .row_start = row_start, .neighbor = neighbor};
    return topology_write(scene->store, "p", 0, &arrays, err);
}

static enum error_code open_topology(void *context, struct error *err)
{
    const struct scene *scene = context;
    struct topology topology = {0};
    enum error_code rc = topology_open(scene->store, &scene->book, &topology, err);
    if (rc == ERROR_NONE)
        rc = topology_open_part(&topology, 0, err);
    if (rc == ERROR_NONE)
        assert_int_equal(*topology_neighbor(&topology.part[0], 2), 0);
    topology_close(&topology);
    return rc;
}

static enum error_code verify_topology(void *context, struct error *err)
{
    const struct scene *scene = context;
    return topology_seal_verify(scene->store, "p", 0, err);
}

/* --- the state before --- */

static void remove_all(void *context)
{
    const struct scene *scene = context;
    struct error err = {0};
    static const char *const names[] = {"shard", "shard_seal", "topology", "topology_seal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_ok(store_remove(scene->store, key_part("p", 0, names[i]).text, &err), &err);
}

static void keep_all(void *context)
{
    (void)context;
}

/* Damages the artifact as a power cut or a disk does: it no longer matches its seal, or has
 * none. */
static void damage_shard(void *context)
{
    const struct scene *scene = context;
    struct error err = {0};
    static int turn;
    remove_all(context);
    assert_ok(write_shard(context, &err), &err);
    shard_damage_empty_tables(scene->store, key_part("p", 0, "shard"));
    if (turn++ % 2)
        assert_ok(store_remove(scene->store, key_part("p", 0, "shard_seal").text, &err), &err);
}

static void damage_topology(void *context)
{
    const struct scene *scene = context;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    static int turn;
    remove_all(context);
    assert_ok(write_topology(context, &err), &err);
    assert_ok(store_artifact(scene->store, key_part("p", 0, "topology").text, path, &err), &err);
    assert_int_equal(truncate(path, 100), 0);
    if (turn++ % 2)
        assert_ok(store_remove(scene->store, key_part("p", 0, "topology_seal").text, &err), &err);
}

static void whichever_store_call_fails_an_artifact_is_whole_or_told(void **state)
{
    struct scene *scene = *state;
    static const struct {
        enum error_code (*attempt)(void *context, struct error *err);
        void (*undo)(void *context);
    } walks[] = {
        {write_shard, remove_all},         {write_shard, keep_all},
        {write_shard, damage_shard},       {verify_shard, keep_all},
        {write_topology, remove_all},      {write_topology, keep_all},
        {write_topology, damage_topology}, {open_topology, keep_all},
        {verify_topology, keep_all},
    };
    for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
        const struct fault_walk walk = {.context = scene,
                                        .store = scene->store,
                                        .prefix = "partition/p",
                                        .attempt = walks[i].attempt,
                                        .undo = walks[i].undo};
        fault_walk_some(&walk, 1, 2); /* RocksDB is slow */
    }
    struct error err = {0};
    assert_ok(verify_topology(scene, &err), &err);
    assert_ok(write_shard(scene, &err), &err);
    assert_ok(verify_shard(scene, &err), &err);
}

/* Tests that any failure of the host during opening and reading is reported, and leaves nothing
 * open. */
static void whichever_call_fails_while_reading_it_is_told(void **state)
{
    struct scene *scene = *state;
    static enum error_code (*const reads[])(void *context, struct error *err) = {
        verify_shard, open_topology, verify_topology};
    static const enum failing_call calls[] = {CALL_OPEN, CALL_STAT, CALL_FSTAT, CALL_MMAP};
    struct error err = {0};
    assert_ok(write_shard(scene, &err), &err);
    assert_ok(write_topology(scene, &err), &err);
    for (size_t r = 0; r < sizeof reads / sizeof *reads; r++)
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
            for (long passed = 0, failed = 1; failed; passed++) {
                const long blocks = memory_live_blocks();
                failing_calls_plan(calls[c], passed, -1, EIO);
                const enum error_code rc = reads[r](scene, &err);
                failed = failing_calls_end();
                if (rc != ERROR_NONE && rc != ERROR_IO && rc != ERROR_CORRUPT)
                    fail_msg("read %zu, call %ld of %d: code %d: %s", r, passed, (int)calls[c],
                             (int)rc, err.message);
                if (rc != ERROR_NONE)
                    assert_true(strlen(err.message) > 0);
                assert_int_equal(memory_live_blocks(), blocks);
                assert_ok(reads[r](scene, &err), &err);
            }
}

#define with_scene(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_scene(whichever_store_call_fails_an_artifact_is_whole_or_told),
        with_scene(whichever_call_fails_while_reading_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
