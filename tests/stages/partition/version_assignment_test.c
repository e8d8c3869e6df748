/* The parts of a version of a dataset: nodes that stay, new nodes, and a graph that has changed
 * entirely. */
#include "stages/partition/version_assignment.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/partition/partition_report.h"
#include "store/versions/merged_parts.h"

#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/edge_difference.h"

enum {
    GROUPS = 4,
    GROUP = 50, /* nodes */
    NODES = GROUPS * GROUP,
    ADDED = 12,
    EDGES_MAX = 8000,
    MEMORY = 1 << 30
};

static uint32_t source_node[EDGES_MAX], target_node[EDGES_MAX];
static uint64_t edge_count;

static void add_edge(uint32_t a, uint32_t b)
{
    source_node[edge_count] = target_node[edge_count + 1] = a;
    target_node[edge_count] = source_node[edge_count + 1] = b;
    edge_count += 2;
}

/* Makes a graph in which node v is in group v % GROUPS and has neighbours only in its group. */
static void make_groups(void)
{
    edge_count = 0;
    for (uint32_t v = 0; v < NODES; v++)
        for (uint32_t k = 1; k <= 4; k++)
            add_edge(v, (v + GROUPS * k * k) % NODES);
}

/* Writes the dataset. If there is a node `gone`, its edges are left out, and the numbers after it
 * fall by one. */
static void write(struct store *store, const char *id, uint32_t nodes, uint32_t gone)
{
    static uint32_t from[EDGES_MAX], to[EDGES_MAX], name[NODES + ADDED];
    uint64_t kept = 0;
    for (uint32_t v = 0; v < nodes; v++)
        name[v] = v + (v >= gone);
    for (uint64_t e = 0; e < edge_count; e++)
        if (source_node[e] != gone && target_node[e] != gone) {
            from[kept] = source_node[e] - (source_node[e] > gone);
            to[kept++] = target_node[e] - (target_node[e] > gone);
        }
    const struct small_dataset dataset = {.id = id,
                                          .name = "living",
                                          .node_count = nodes,
                                          .edge_count = kept,
                                          .source = from,
                                          .target = to,
                                          .undirected = true,
                                          .named = name};
    write_dataset(store, &dataset);
}

/* The edges when the version before was written. */
static uint64_t old_count;
static uint32_t old_source[EDGES_MAX], old_target[EDGES_MAX];

static void keep_edges(void)
{
    old_count = edge_count;
    memcpy(old_source, source_node, sizeof old_source);
    memcpy(old_target, target_node, sizeof old_target);
}

static void list_edges(const uint32_t *source, const uint32_t *target, uint64_t count,
                       uint32_t gone, struct plain_edges *out)
{
    for (uint64_t e = 0; e < count; e++)
        if (source[e] <= target[e] && source[e] != gone && target[e] != gone)
            plain_edges_add(out, source[e], target[e], 0);
}

static void write_delta(struct store *store, const char *id, uint32_t gone)
{
    static const int64_t new_id[ADDED] = {0};
    static const uint8_t split[ADDED] = {0};
    struct error err = {0};
    struct plain_edges before = {0}, now = {0};
    struct edge_difference difference;
    struct dataset_delta delta = {.base = "living-0",
                                  .root = "living-0",
                                  .depth = 1,
                                  .base_nodes = NODES,
                                  .gone_nodes = gone < NODES,
                                  .gone_node = &gone,
                                  .added_nodes = ADDED,
                                  .new_ids = {.node_count = ADDED, .integer = new_id},
                                  .new_split = split};
    list_edges(old_source, old_target, old_count, gone, &before);
    list_edges(source_node, target_node, edge_count, gone, &now);
    edge_difference_make(&before, &now, &difference);
    edge_difference_fill(&difference, false, &delta);
    assert_ok(dataset_delta_put(store, id, &delta, &err), &err);
    edge_difference_release(&difference);
    memory_free(before.edge);
    memory_free(now.edge);
}

static void read_parts(struct store *store, const struct pipeline_settings *settings,
                       uint32_t *part, uint32_t nodes, char method[64])
{
    struct error err = {0};
    char id[ID_SIZE];
    struct node_assignment stored;
    assert_true(newest_partition(store, settings, id));
    assert_ok(merged_assignment_get(store, id, &stored, &err), &err);
    assert_int_equal(stored.node_count, nodes);
    memcpy(part, stored.part, nodes * sizeof *part);
    memcpy(method, stored.method, sizeof stored.method);
    store_release_record(&stored.view);
}

static struct pipeline_settings settings_for(void)
{
    struct pipeline_settings settings = settings_of("living", PARTITION_METIS, GROUPS);
    settings.partition.balance_train = false; /* the training nodes are all in one group */
    return settings;
}

/* Adds nodes. New node i has two neighbours, which are in one group. */
static void add_friends(void)
{
    for (uint32_t i = 0; i < ADDED; i++) {
        add_edge(NODES + i, i % GROUPS + GROUPS);
        add_edge(NODES + i, i % GROUPS + 2 * GROUPS);
    }
}

static void nodes_that_stay_keep_their_part_and_new_ones_go_to_their_neighbours(void **state)
{
    enum { GONE = 17, ALL = NODES - 1 + ADDED };
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for();
    static uint32_t old[NODES], part[ALL];
    char method[64];
    make_groups();
    write(t->store, "living-0", NODES, UINT32_MAX);
    keep_edges();
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    read_parts(t->store, &settings, old, NODES, method);
    assert_string_equal(method, "");
    add_friends();
    write(t->store, "living-1", ALL, GONE);
    write_delta(t->store, "living-1", GONE);
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    read_parts(t->store, &settings, part, ALL, method);
    assert_string_equal(method, "placed");
    for (uint32_t v = 0; v < NODES; v++)
        if (v != GONE)
            assert_int_equal(part[v - (v > GONE)], old[v]);
    for (uint32_t i = 0; i < ADDED; i++)
        assert_int_equal(part[NODES - 1 + i], old[i % GROUPS + GROUPS]);
    struct store *replay = NULL;
    assert_ok(store_open(t->dir.path, STORE_REPLAY, &replay, &t->err), &t->err);
    assert_ok(run_partition(replay, &settings, MEMORY, true, &t->err), &t->err);
    assert_true(store_replay_report(replay).matched > 0);
    assert_int_equal(store_replay_report(replay).differed, 0);
    store_close(replay);
}

/* A program that partitions the version first also makes the parts of the version before it: the
 * result is the same. */
static void it_does_not_matter_who_was_partitioned_before(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for();
    static uint32_t one[NODES + ADDED], other[NODES + ADDED];
    char method[64];
    for (int round = 0; round < 2; round++) {
        make_groups();
        write(t->store, "living-0", NODES, UINT32_MAX);
        keep_edges();
        if (round == 0)
            assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
        add_friends();
        write(t->store, "living-1", NODES + ADDED, UINT32_MAX);
        write_delta(t->store, "living-1", UINT32_MAX);
        assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
        read_parts(t->store, &settings, round ? other : one, NODES + ADDED, method);
        assert_string_equal(method, "placed");
        store_close(t->store);
        temp_dir_remove(&t->dir);
        temp_dir_make(&t->dir);
        assert_ok(store_open(t->dir.path, 0, &t->store, &t->err), &t->err);
    }
    assert_memory_equal(one, other, sizeof one);
}

/* The groups are now halves of the numbers, so the old parts cut many edges. */
static void a_graph_that_drifted_is_partitioned_again(void **state)
{
    struct temp_store *t = *state;
    struct pipeline_settings settings = settings_for();
    static uint32_t part[NODES + ADDED], anew[NODES + ADDED];
    char method[64];
    make_groups();
    write(t->store, "living-0", NODES, UINT32_MAX);
    keep_edges();
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    edge_count = 0;
    for (uint32_t v = 0; v < NODES + ADDED; v++)
        for (uint32_t k = 1; k <= 4; k++)
            add_edge(v, (v + k * k) % (NODES + ADDED));
    write(t->store, "living-1", NODES + ADDED, UINT32_MAX);
    write_delta(t->store, "living-1", UINT32_MAX);
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    read_parts(t->store, &settings, part, NODES + ADDED, method);
    assert_string_equal(method, "");
    settings.partition.update = UPDATE_ANEW;
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    read_parts(t->store, &settings, anew, NODES + ADDED, method);
    assert_memory_equal(part, anew, sizeof part);
    /* With a drift that allows any cut the parts are kept. */
    settings.partition.update = UPDATE_PLACE;
    settings.partition.drift = 1000;
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    read_parts(t->store, &settings, part, NODES + ADDED, method);
    assert_string_equal(method, "placed");
}

static void an_assignment_of_another_base_is_refused(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for();
    make_groups();
    write(t->store, "living-0", NODES, UINT32_MAX);
    keep_edges();
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    write(t->store, "living-1", NODES, UINT32_MAX); /* the delta says that nodes were added */
    write_delta(t->store, "living-1", UINT32_MAX);
    assert_fails(run_partition(t->store, &settings, MEMORY, false, &t->err), ERROR_CORRUPT,
                 "has 200 nodes, expected 212 of 1 types by its delta", &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(nodes_that_stay_keep_their_part_and_new_ones_go_to_their_neighbours),
        test_with_store(it_does_not_matter_who_was_partitioned_before),
        test_with_store(a_graph_that_drifted_is_partitioned_again),
        test_with_store(an_assignment_of_another_base_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
