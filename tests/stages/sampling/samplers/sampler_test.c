/* Tests the table of samplers, and the inputs and outputs of a choice of edges. */
#include "common/base/memory.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/sampling/samplers/sampler.h"

#include "tests/support/memory_topology.h"
#include "tests/support/test.h"

#include <string.h>

enum { NODES = 40, EDGES = NODES * (NODES - 1) };

struct fixture { /* a complete graph */
    uint64_t row_start[NODES + 1];
    uint32_t neighbor[EDGES];
    struct memory_topology graph;
    struct neighbor_sampler *sampler;
};

static const uint32_t book[] = {0, 17, NODES};

static int set_up(void **state)
{
    static struct fixture f;
    struct error err = {0};
    uint32_t at = 0;
    for (uint32_t node = 0; node < NODES; node++) {
        for (uint32_t other = 0; other < NODES; other++)
            if (other != node)
                f.neighbor[at++] = other;
        f.row_start[node + 1] = at;
    }
    memory_topology_make(&f.graph, f.row_start, f.neighbor, book, 2);
    const struct neighbor_sampler_config config = {.topology = &f.graph.topology};
    must(neighbor_sampler_new(&config, &f.sampler, &err) == ERROR_NONE);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    neighbor_sampler_free(f->sampler);
    memory_topology_release(&f->graph);
    return 0;
}

static void every_row_is_a_choice_of_the_setting(void **state)
{
    (void)state;
    struct pipeline_settings settings;
    struct error err = {0};
    pipeline_settings_defaults(&settings);
    assert_int_equal(settings.sample.sampler, SAMPLER_NEIGHBOR);
    for (enum sampler_kind kind = 0; kind < SAMPLER_COUNT; kind++) {
        const struct sampler *sampler = sampler_of(kind);
        assert_non_null(sampler->draw);
        assert_ok(
            pipeline_settings_assign(&settings, "sample.sampler", sampler->name, "test", &err),
            &err);
        assert_int_equal(settings.sample.sampler, kind);
    }
}

static void columns_that_are_not_there_are_named(void **state)
{
    struct fixture *f = *state;
    static const float weight[EDGES] = {0};
    struct edge_columns_view columns = {.data[EDGE_WEIGHT] = weight};
    struct error err = {0};
    const struct sampler needy = {.name = "needy", .needs = 1U << EDGE_WEIGHT};
    assert_ok(sampler_check(sampler_of(SAMPLER_NEIGHBOR), &f->graph.topology, &err), &err);
    assert_fails(sampler_check(&needy, &f->graph.topology, &err), ERROR_INVALID,
                 "sample.sampler is needy, which needs the column weight of the edges", &err);
    columns.width.of[EDGE_WEIGHT] = 1;
    memory_topology_give(&f->graph, &columns, NULL);
    assert_ok(sampler_check(&needy, &f->graph.topology, &err), &err);
}

/* Keeps the last positions, after it has checked the scratch. */
static enum error_code choose_last(const struct row_choice *row, uint32_t *position,
                                   uint64_t *scratch, struct error *err)
{
    if (row->node == 7 && row->count == 3)
        return error_set(err, ERROR_INPUT, "node 7 of a bad kind");
    for (uint32_t k = 0; k < row->count; k++) {
        must(scratch[k] == 0);
        scratch[k] = UINT64_MAX;
        position[k] = row->length - row->count + k;
    }
    return ERROR_NONE;
}

static struct mini_batch draw(struct fixture *f, edge_choice choose, int64_t fanout)
{
    static const uint32_t seeds[] = {3, 30};
    struct error err = {0};
    struct mini_batch batch = {0};
    const struct neighbor_request request = {.seed = 1,
                                             .hop_count = 1,
                                             .fanout = &fanout,
                                             .seed_node = seeds,
                                             .seed_count = 2,
                                             .choose = choose};
    assert_ok(neighbor_sampler_draw(f->sampler, &request, &batch, &err), &err);
    return batch;
}

static void a_choice_is_asked_for_rows_above_the_fanout_alone(void **state)
{
    struct fixture *f = *state;
    static const int64_t fanouts[] = {1, 2, 38};
    for (size_t i = 0; i < sizeof fanouts / sizeof *fanouts; i++) {
        const uint32_t fanout = (uint32_t)fanouts[i];
        const struct mini_batch batch = draw(f, choose_last, fanouts[i]);
        assert_int_equal(batch.row_start[1], fanout);
        for (uint32_t k = 0; k < fanout; k++) {
            const uint32_t node = 39 - fanout + k; /* position 39 - fanout + k of node 3's row */
            assert_int_equal(batch.node[batch.neighbor[k]], node + (node >= 3));
        }
    }
    assert_int_equal(draw(f, choose_last, FANOUT_ALL).edge_count, 2 * (NODES - 1));
    assert_int_equal(draw(f, choose_last, 39).edge_count, 2 * (NODES - 1));
}

static void what_a_choice_refuses_ends_the_batch(void **state)
{
    struct fixture *f = *state;
    static const uint32_t seven[] = {7};
    const int64_t fanout = 3;
    struct error err = {0};
    struct mini_batch batch = {0};
    const struct neighbor_request request = {.hop_count = 1,
                                             .fanout = &fanout,
                                             .seed_node = seven,
                                             .seed_count = 1,
                                             .choose = choose_last};
    assert_fails(neighbor_sampler_draw(f->sampler, &request, &batch, &err), ERROR_INPUT,
                 "node 7 of a bad kind", &err);
    /* the next batch is not affected */
    const struct mini_batch after = draw(f, NULL, 5);
    assert_int_equal(after.edge_count, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_a_choice_of_the_setting),
        cmocka_unit_test(columns_that_are_not_there_are_named),
        cmocka_unit_test(a_choice_is_asked_for_rows_above_the_fanout_alone),
        cmocka_unit_test(what_a_choice_refuses_ends_the_batch),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
