#include "common/base/memory.h"
#include "stages/partition/check/partition_quality.h"

#include "tests/support/random_edges.h"
#include "tests/support/test.h"

#include <math.h>

enum { NODES = 50, EDGES = 300, PARTS = 4 };

static const uint32_t book[PARTS + 1] = {0, 10, 10, 37, 50};

static int part_of(uint32_t node)
{
    int part = 0;
    while (node >= book[part + 1])
        part++;
    return part;
}

static void figures_agree_with_a_count_by_hand(void **state)
{
    (void)state;
    static uint32_t source[EDGES], target[EDGES], neighbor[EDGES];
    static bool halo[PARTS][NODES];
    struct error err = {0};
    struct partition_quality quality;
    uint64_t cut = 0, halo_count = 0;
    random_edges_fill(8, NODES, EDGES, source, target);
    const struct dataset_schema schema = {.node_count = NODES, .feature_dim = 16};
    assert_ok(partition_quality_init(&quality, "p-1", &schema, PARTS, &err), &err);
    for (int p = PARTS - 1; p >= 0; p--) {
        uint64_t row_start[NODES + 1] = {0}, at = 0;
        for (uint32_t v = book[p]; v < book[p + 1]; v++) {
            for (uint32_t e = 0; e < EDGES; e++)
                if (target[e] == v)
                    neighbor[at++] = source[e];
            row_start[v - book[p] + 1] = at;
        }
        const struct topology_arrays rows = {.first_node = book[p],
                                             .node_count = book[p + 1] - book[p],
                                             .edge_count = at,
                                             .row_start = row_start,
                                             .neighbor = neighbor};
        const struct part_measure measure = {p, book[p], book[p + 1] - book[p], (uint64_t)p};
        partition_quality_add(&quality, &measure, &rows);
    }
    for (uint32_t e = 0; e < EDGES; e++) {
        const int owner = part_of(target[e]);
        if (part_of(source[e]) == owner)
            continue;
        cut++;
        halo_count += !halo[owner][source[e]];
        halo[owner][source[e]] = true;
    }
    const struct partition_report *report = partition_quality_finish(&quality);
    assert_string_equal(report->id, "p-1");
    assert_int_equal(report->edge_count, EDGES);
    assert_int_equal(report->cut_edges, cut);
    assert_true(fabs(report->cut_share - (double)cut / EDGES) < 1e-15);
    assert_int_equal(report->halo, halo_count);
    assert_true(fabs(report->replication_factor - (double)(NODES + halo_count) / NODES) < 1e-15);
    assert_int_equal(report->halo_bytes, halo_count * 64);
    assert_int_equal(report->nodes.least, 0);
    assert_int_equal(report->nodes.most, 27);
    assert_true(report->nodes.ratio == 0.0);
    /* nodes 10, 0, 27, 13: mean 12.5, variance (6.25 + 156.25 + 210.25 + 0.25) / 4 */
    assert_true(fabs(report->nodes.variation - sqrt(373.0 / 4) / 12.5) < 1e-12);
    assert_int_equal(report->train.most, 3);
    for (int p = 0; p < PARTS; p++) {
        uint64_t count = 0;
        for (uint32_t v = 0; v < NODES; v++)
            count += halo[p][v];
        assert_int_equal(report->part[p].halo, count);
        assert_int_equal(report->part[p].nodes, book[p + 1] - book[p]);
    }
    partition_quality_release(&quality);
}

static void one_part_has_no_cut_and_no_halo(void **state)
{
    (void)state;
    static const uint64_t row_start[] = {0, 2, 2};
    static const uint32_t neighbor[] = {0, 1};
    const struct topology_arrays rows = {
        .node_count = 2, .edge_count = 2, .row_start = row_start, .neighbor = neighbor};
    struct error err = {0};
    struct partition_quality quality;
    const struct dataset_schema schema = {.node_count = 2, .feature_dim = 16};
    const struct part_measure measure = {.node_count = 2, .train_count = 2};
    assert_ok(partition_quality_init(&quality, "p-1", &schema, 1, &err), &err);
    partition_quality_add(&quality, &measure, &rows);
    const struct partition_report *report = partition_quality_finish(&quality);
    assert_int_equal(report->cut_edges, 0);
    assert_int_equal(report->halo, 0);
    assert_true(report->replication_factor == 1.0);
    assert_true(report->nodes.ratio == 1.0 && report->nodes.variation == 0.0);
    partition_quality_release(&quality);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_agree_with_a_count_by_hand),
        cmocka_unit_test(one_part_has_no_cut_and_no_halo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
