/* What has changed in a version by what the deltas since its base say, beside the comparison of all rows, which is the reference: the same
 * plan, of chains of random updates, and parts that read as those which are written whole. */
#include "stages/partition/kept_assignment.h"
#include "stages/partition/version_delta.h"
#include "stages/partition/version_numbering.h"

#include "tests/stages/partition/living_graph.h"

/* A dataset as partition has it when it plans. */
struct planned {
    struct partition_input input;
    struct kept_assignment kept;
    struct renumbering renumbering;
    struct delta_base base;
};

static void prepare(const struct stage_context *context, const char *dataset_id,
                    const char *partition_id, struct planned *p)
{
    struct error err = {0};
    *p = (struct planned){.base = {.partition_id = ""}};
    assert_ok(partition_input_of(&p->input, context, dataset_id, &err), &err);
    assert_string_equal(p->input.id, partition_id);
    assert_ok(partition_input_measure(&p->input, &err), &err);
    assert_ok(kept_assignment_find(&p->input, &p->kept, &err), &err);
    assert_ok(version_numbering(&p->input, p->kept.part, p->kept.method, &p->renumbering, &err),
              &err);
    assert_ok(delta_base_find(context, dataset_id, partition_id, &p->base, &err), &err);
    assert_true(p->base.is_chosen && p->base.is_there);
}

static void release(struct planned *p)
{
    renumbering_release(&p->renumbering);
    kept_assignment_release(&p->kept);
    partition_input_release(&p->input);
}

static void plan(const struct planned *p, enum tensor_type type, bool reads_all,
                 struct part_delta *out)
{
    struct error err = {0};
    bool is_delta = false;
    const struct numbering numbering = renumbering_view(&p->renumbering);
    assert_ok(
        version_delta_plan(&p->input, &p->base, &numbering, type, reads_all, out, &is_delta, &err),
        &err);
    assert_true(is_delta);
}

static void compare_plans(struct store *store, const struct pipeline_settings *settings,
                          const char *partition_id)
{
    const struct stage_context context = {
        .store = store, .settings = settings, .threads = 1, .memory_bytes = MEMORY};
    const enum tensor_type type =
        settings->partition.feature_type == FEATURE_BF16 ? TENSOR_BF16 : TENSOR_F32;
    struct planned p;
    struct part_delta named, all;
    uint32_t marks[3] = {0};
    prepare(&context, id_of(world.version), partition_id, &p);
    plan(&p, type, false, &named);
    plan(&p, type, true, &all);
    const uint32_t nodes = p.input.schema.node_count;
    for (uint32_t node = 0; node < nodes; node++) {
        if (named.other[node] != all.other[node])
            fail_msg("node %u: %u by the deltas, %u by comparing all", node, named.other[node],
                     all.other[node]);
        for (int bit = 0; bit < 3; bit++)
            marks[bit] += named.other[node] >> bit & 1;
    }
    for (int bit = 0; bit < 3; bit++)
        assert_in_range(marks[bit], STEP, nodes / 10 * 9);
    assert_int_equal(named.record.gone_count, all.record.gone_count);
    part_delta_release(&named);
    part_delta_release(&all);
    release(&p);
}

/* `rate`: of change. The parts are over those of the root, or of the version before where its parts are whole. */
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
        compare_plans(t->store, &settings, id);
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

/* Deltas that say less than has changed are found out before the partition counts. */
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
    before_step.edge_count = 0; /* as if all edges came, and none went */
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
