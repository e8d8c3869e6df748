#include "store/objects/keys.h"
#include "store/records/partition/partition_report.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static struct store *store;

static int set_up(void **state)
{
    const int failed = temp_store_setup(state);
    store = ((struct temp_store *)*state)->store;
    return failed;
}

static struct part_figures figures[] = {
    {.nodes = 3, .edges = 9, .cut_edges = 2, .halo = 1, .train = 2},
    {.nodes = 2, .edges = 6, .cut_edges = 1, .halo = 1, .train = 0},
};

static struct partition_report some_report(void)
{
    return (struct partition_report){
        .id = "p-report",
        .method = "fennel",
        .part_count = 2,
        .node_count = 5,
        .edge_count = 15,
        .cut_edges = 3,
        .cut_share = 0.2,
        .halo = 2,
        .replication_factor = 1.4,
        .feature_dim = 10,
        .halo_bytes = 80,
        .nodes = {.least = 2, .most = 3, .ratio = 1.5, .variation = 0.2},
        .edges = {.least = 6, .most = 9, .ratio = 1.5, .variation = 0.2},
        .train = {.least = 0, .most = 2, .ratio = 0, .variation = 1},
        .part = figures,
    };
}

static void a_report_reads_back_as_written(void **state)
{
    (void)state;
    struct error err = {0};
    const struct partition_report written = some_report();
    struct partition_report read;
    assert_ok(partition_report_put(store, &written, &err), &err);
    assert_ok(partition_report_get(store, "p-report", &read, &err), &err);
    assert_memory_equal(read.part, figures, sizeof figures);
    struct partition_report same = read;
    same.part = figures;
    assert_string_equal(same.id, written.id);
    assert_string_equal(same.method, "fennel");
    assert_int_equal(same.part_count, 2);
    assert_int_equal(same.node_count, 5);
    assert_int_equal(same.edge_count, 15);
    assert_int_equal(same.cut_edges, 3);
    assert_true(same.cut_share == 0.2);
    assert_int_equal(same.halo, 2);
    assert_true(same.replication_factor == 1.4);
    assert_int_equal(same.feature_dim, 10);
    assert_int_equal(same.halo_bytes, 80);
    assert_memory_equal(&same.nodes, &written.nodes, sizeof same.nodes);
    assert_memory_equal(&same.edges, &written.edges, sizeof same.edges);
    assert_memory_equal(&same.train, &written.train, sizeof same.train);
    partition_report_release(&read);
}

static void put_text(const char *id, const char *text)
{
    struct error err = {0};
    struct record record = {.kind = RECORD_PARTITION_REPORT, .version = 1};
    record_add(&record, "json", ELEMENT_U8, text, strlen(text));
    assert_ok(store_put(store, key_partition(id, "report").text, id, &record, STORE_DURABLE, &err),
              &err);
}

static void a_report_that_lacks_a_figure_is_refused(void **state)
{
    (void)state;
    struct error err = {0};
    struct partition_report read;
    put_text("r-1", "{");
    assert_fails(partition_report_get(store, "r-1", &read, &err), ERROR_CORRUPT,
                 "partition/r-1/report", &err);
    put_text("r-2", "{\"part_count\": 2}");
    assert_fails(partition_report_get(store, "r-2", &read, &err), ERROR_CORRUPT,
                 "'node_count' is missing", &err);
    put_text("r-3", "{\"part_count\": -1}");
    assert_fails(partition_report_get(store, "r-3", &read, &err), ERROR_CORRUPT,
                 "'part_count' is missing or no whole number from 0", &err);
    assert_null(read.part);
    assert_fails(partition_report_get(store, "r-none", &read, &err), ERROR_NOT_FOUND, "r-none",
                 &err);
}

static void bytes_of_a_round_follow_the_formula(void **state)
{
    (void)state;
    struct partition_report report = some_report();
    const int64_t two_hops[] = {2, -1};
    const int64_t none[] = {1};
    report.node_count = 1000;
    report.edge_count = 4000;
    report.cut_share = 0.25;
    /* 10 seeds reach 20 and, by the mean degree of 4, 80 nodes; 40 bytes a row */
    assert_int_equal(partition_report_round_bytes(&report, two_hops, 2, 10),
                     (uint64_t)((20 * 0.25 + 80 * (1 - 0.75 * 0.75)) * 40));
    /* not more nodes than there are */
    assert_int_equal(partition_report_round_bytes(&report, two_hops, 2, 400),
                     (uint64_t)((800 * 0.25 + 200 * (1 - 0.75 * 0.75)) * 40));
    report.cut_share = 0.0;
    assert_int_equal(partition_report_round_bytes(&report, none, 1, 10), 0);
    report.node_count = 0;
    assert_int_equal(partition_report_round_bytes(&report, none, 1, 10), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_reads_back_as_written),
        cmocka_unit_test(a_report_that_lacks_a_figure_is_refused),
        cmocka_unit_test(bytes_of_a_round_follow_the_formula),
    };
    return cmocka_run_group_tests(tests, set_up, temp_store_teardown);
}
