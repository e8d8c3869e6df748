/* A partition with each store call failing in turn: from nothing, and with the assignment of an
 * earlier attempt. */
#include "common/base/log.h"
#include "store/backends/memory/memory_backend.h"

#include "tests/stages/fault_walk.h"
#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/karate_graph.h"

enum { PARTS = 2, MEMORY = 1 << 30 };

static const char place[] = "partition-faults";

struct scene {
    struct store *store;
    struct pipeline_settings settings;
    char id[ID_SIZE];
    bool keeps_assignment; /* an earlier attempt has left one */
};

static enum error_code attempt(void *context, struct error *err)
{
    struct scene *scene = context;
    return run_partition(scene->store, &scene->settings, MEMORY, false, err);
}

static void remove_partition(void *context)
{
    const struct scene *scene = context;
    struct error err = {0};
    static const char *const of_all[] = {"book", "permutation", "report", "splits"};
    static const char *const of_part[] = {"topology", "topology_seal", "shard", "shard_seal"};
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        assert_ok(store_remove(scene->store, key_partition(scene->id, of_all[i]).text, &err), &err);
    for (int part = 0; part < PARTS; part++)
        for (size_t i = 0; i < sizeof of_part / sizeof *of_part; i++)
            assert_ok(store_remove(scene->store, key_part(scene->id, part, of_part[i]).text, &err),
                      &err);
    if (!scene->keeps_assignment)
        assert_ok(store_remove(scene->store, key_partition(scene->id, "assignment").text, &err),
                  &err);
}

static void keep_partition(void *context)
{
    (void)context;
}

static void walk_a_partition(enum partition_method method, int forms)
{
    static struct scene scene;
    struct error err = {0};
    uint32_t source[2 * KARATE_EDGE_COUNT], target[2 * KARATE_EDGE_COUNT];
    const struct small_dataset dataset = small_dataset_karate(source, target);
    scene = (struct scene){.store = store_faults_open(&memory_backend, place),
                           .settings = settings_of(dataset.name, method, PARTS)};
    write_dataset(scene.store, &dataset);
    assert_ok(attempt(&scene, &err), &err);
    assert_true(newest_partition(scene.store, &scene.settings, scene.id));
    struct fault_walk walk = {.context = &scene,
                              .store = scene.store,
                              .prefix = "partition",
                              .attempt = attempt,
                              .undo = remove_partition};
    fault_walk_some(&walk, 1, forms); /* RocksDB is slow */
    scene.keeps_assignment = true;
    fault_walk_some(&walk, 1, 1);
    walk.undo = keep_partition; /* the partition is there, and only the ref is set */
    fault_walk_all(&walk);
    store_close(scene.store);
    memory_store_forget(place);
    assert_int_equal(memory_live_blocks(), 0);
}

static void whichever_store_call_fails_a_partition_ends_alike(void **state)
{
    (void)state;
    walk_a_partition(PARTITION_HASH, 2);
}

static void whichever_store_call_fails_a_vertex_cut_ends_alike(void **state)
{
    (void)state;
    walk_a_partition(PARTITION_HDRF, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whichever_store_call_fails_a_partition_ends_alike),
        cmocka_unit_test(whichever_store_call_fails_a_vertex_cut_ends_alike),
    };
    log_open("test", LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
