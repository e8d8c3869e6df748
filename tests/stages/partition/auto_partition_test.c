/* partition.method auto: METIS if it fits, or else Fennel. A program that goes on, or replays, uses
 * the method that was chosen. */
#include "stages/partition/rules/partitioner.h"
#include "store/records/partition/partition_report.h"

#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/random_edges.h"

enum { NODES = 400, EDGES = 3000, PARTS = 3, ENOUGH = 1 << 30 };
/* 64 MB and 40 bytes a node are set aside; METIS takes 80 bytes an edge and direction, which is
 * 520 kB here. */
enum { LITTLE = (64 << 20) + 40 * NODES + 300000 };

static uint32_t source_node[EDGES], target_node[EDGES];

static void write_graph(struct store *store)
{
    random_edges_fill(3, NODES, EDGES, source_node, target_node);
    const struct small_dataset dataset = {.id = "auto-1",
                                          .name = "auto",
                                          .node_count = NODES,
                                          .edge_count = EDGES,
                                          .source = source_node,
                                          .target = target_node};
    write_dataset(store, &dataset);
}

/* Reads the assignment [NODES] and the method in the report. */
static void read_partition(struct store *store, const struct pipeline_settings *settings,
                           uint32_t part[NODES], char method[64])
{
    struct error err = {0};
    char id[ID_SIZE];
    const uint32_t *stored = NULL;
    uint32_t count = 0;
    struct record_view view;
    struct partition_report report;
    assert_true(newest_partition(store, settings, id));
    assert_ok(assignment_get(store, id, &stored, &count, &view, &err), &err);
    assert_int_equal(count, NODES);
    memcpy(part, stored, NODES * sizeof *part);
    store_release_record(&view);
    assert_ok(partition_report_get(store, id, &report, &err), &err);
    (void)snprintf(method, 64, "%s", report.method);
    partition_report_release(&report);
}

static void it_is_metis_where_that_fits_and_else_fennel(void **state)
{
    struct temp_store *t = *state;
    static const struct {
        uint64_t memory;
        enum partition_method method;
        const char *name;
    } cases[] = {{ENOUGH, PARTITION_METIS, "metis"}, {LITTLE, PARTITION_FENNEL, "fennel"}};
    uint32_t part[NODES], same[NODES];
    char method[64];
    write_graph(t->store);
    for (int c = 0; c < 2; c++) {
        struct pipeline_settings settings = settings_of("auto", cases[c].method, PARTS + c);
        assert_ok(run_partition(t->store, &settings, ENOUGH, false, &t->err), &t->err);
        read_partition(t->store, &settings, part, method);
        assert_string_equal(method, "");
        settings.partition.method = PARTITION_AUTO;
        assert_ok(run_partition(t->store, &settings, cases[c].memory, false, &t->err), &t->err);
        read_partition(t->store, &settings, same, method);
        assert_string_equal(method, cases[c].name);
        assert_memory_equal(part, same, sizeof part);
    }
}

static void metis_alone_says_what_it_would_take(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_of("auto", PARTITION_METIS, PARTS);
    write_graph(t->store);
    assert_fails(run_partition(t->store, &settings, LITTLE, false, &t->err), ERROR_NO_MEMORY,
                 "METIS takes about 507.8 KiB", &t->err);
}

/* The second program has less or more memory than the first. */
static void a_replay_and_who_goes_on_keep_to_it(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_of("auto", PARTITION_AUTO, PARTS);
    uint32_t part[NODES], same[NODES];
    char method[64], id[ID_SIZE];
    write_graph(t->store);
    assert_ok(run_partition(t->store, &settings, LITTLE, false, &t->err), &t->err);
    read_partition(t->store, &settings, part, method);
    struct store *replay = NULL;
    assert_ok(store_open(t->dir.path, STORE_REPLAY, &replay, &t->err), &t->err);
    assert_ok(run_partition(replay, &settings, ENOUGH, true, &t->err), &t->err);
    const struct store_replay seen = store_replay_report(replay);
    assert_int_equal(seen.differed, 0);
    assert_int_equal(seen.absent, 0);
    assert_true(seen.matched >= 4);
    store_close(replay);
    /* As after a kill before the book was stored. */
    assert_true(newest_partition(t->store, &settings, id));
    assert_ok(store_remove(t->store, key_partition(id, "book").text, &t->err), &t->err);
    assert_ok(store_remove(t->store, key_partition(id, "report").text, &t->err), &t->err);
    assert_ok(run_partition(t->store, &settings, ENOUGH, false, &t->err), &t->err);
    read_partition(t->store, &settings, same, method);
    assert_string_equal(method, "fennel");
    assert_memory_equal(part, same, sizeof part);
}

/* Choosing reads the schema only, so it can be tested for graphs of any size. The budget is
 * unlimited here. */
static enum partition_method chosen(const struct dataset_schema *schema, bool balance_edges,
                                    bool balance_train)
{
    struct pipeline_settings settings = settings_of("auto", PARTITION_AUTO, PARTS);
    settings.partition.balance_edges = balance_edges;
    settings.partition.balance_train = balance_train;
    const struct partition_request request = {
        .settings = &settings, .schema = schema, .budget_bytes = UINT64_MAX - 1};
    return auto_partitioner.choose(&request);
}

static void edges_past_32_bits_are_not_for_metis(void **state)
{
    (void)state;
    struct dataset_schema schema = {.node_count = 1000, .undirected = true};
    schema.edge_count = INT32_MAX; /* both directions are stored */
    assert_int_equal(chosen(&schema, true, true), PARTITION_METIS);
    schema.edge_count++;
    assert_int_equal(chosen(&schema, true, true), PARTITION_FENNEL);
    schema.undirected = false; /* METIS gets each edge twice */
    schema.edge_count = INT32_MAX / 2;
    assert_int_equal(chosen(&schema, true, true), PARTITION_METIS);
    schema.edge_count++;
    assert_int_equal(chosen(&schema, true, true), PARTITION_FENNEL);
}

static void nodes_and_their_loads_past_32_bits_are_not_for_metis(void **state)
{
    (void)state;
    struct dataset_schema schema = {.node_count = INT32_MAX - 1, .edge_count = 1000};
    assert_int_equal(chosen(&schema, false, false), PARTITION_METIS);
    schema.node_count++;
    assert_int_equal(chosen(&schema, false, false), PARTITION_FENNEL);
    schema.node_count = INT32_MAX / 3; /* nodes, edges and training nodes are balanced */
    assert_int_equal(chosen(&schema, true, true), PARTITION_METIS);
    schema.node_count++;
    assert_int_equal(chosen(&schema, true, true), PARTITION_FENNEL);
    assert_int_equal(chosen(&schema, true, false), PARTITION_METIS);
    assert_int_equal(chosen(&schema, false, true), PARTITION_METIS);
    schema.has_relations = true; /* each of four types is a load */
    schema.node_type_count = 4;
    assert_int_equal(chosen(&schema, false, false), PARTITION_FENNEL);
    schema.node_type_count = 3;
    assert_int_equal(chosen(&schema, false, false), PARTITION_FENNEL);
    schema.node_type_count = 2;
    assert_int_equal(chosen(&schema, false, false), PARTITION_METIS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(it_is_metis_where_that_fits_and_else_fennel),
        test_with_store(metis_alone_says_what_it_would_take),
        test_with_store(a_replay_and_who_goes_on_keep_to_it),
        cmocka_unit_test(edges_past_32_bits_are_not_for_metis),
        cmocka_unit_test(nodes_and_their_loads_past_32_bits_are_not_for_metis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
