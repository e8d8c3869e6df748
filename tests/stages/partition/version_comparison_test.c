/* The changes of a version that are found through the deltas since its base are those found by
 * comparing all rows, for chains of random updates. Readers see the same bytes of delta parts as of
 * parts written whole. */
#include "tests/stages/partition/compared_plans.h"
#include "tests/stages/partition/living_graph.h"

/* Runs a chain of versions. `rate`: amount of change. The base of the parts is the root, or the
 * version before if its parts are whole. */
static void run_chain(struct temp_store *t, bool undirected, int64_t feature_type, uint32_t rate)
{
    const struct pipeline_settings settings = settings_for(0.9, feature_type);
    const struct pipeline_settings whole = settings_for(0, feature_type);
    char id[ID_SIZE], other[ID_SIZE];
    begin_world_of(undirected);
    write_version(t->store);
    partition(t, &settings, id);
    for (int version = 1; version <= VERSIONS; version++) {
        step(t->store, rate);
        partition(t, &settings, id);
        compare_plans(t->store, &settings, MEMORY, id_of(world.version), id, STEP, false);
        partition(t, &whole, other);
        compare_partitions(t->store, id, other);
    }
}

static void an_undirected_graph(void **state)
{
    run_chain(*state, true, FEATURE_F32, 1);
}

static void a_directed_graph(void **state)
{
    run_chain(*state, false, FEATURE_F32, 1);
}

static void much_changes_and_features_are_rounded(void **state)
{
    run_chain(*state, true, FEATURE_BF16, 8);
}

static void much_changes_in_a_directed_graph(void **state)
{
    run_chain(*state, false, FEATURE_F32, 8);
}

/* A delta that lists less than has changed is found before the partition counts. */
static void a_delta_that_does_not_tell_is_found_out(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    char id[ID_SIZE];
    begin_world();
    write_version(t->store);
    partition(t, &settings, id);
    change_world(1);
    write_version(t->store);
    before_step.edge_count = 0; /* the delta then adds all edges and removes none */
    const struct world now = world;
    world.edge_count = 0;
    write_delta(t->store, &before_step);
    world = now;
    assert_fails(run_partition(t->store, &settings, MEMORY, false, &t->err), ERROR_CORRUPT,
                 "base and delta have", &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(an_undirected_graph),
        test_with_store(a_directed_graph),
        test_with_store(much_changes_and_features_are_rounded),
        test_with_store(much_changes_in_a_directed_graph),
        test_with_store(a_delta_that_does_not_tell_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
