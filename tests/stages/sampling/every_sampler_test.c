/* Tests the properties that every row of the table of samplers must have. */
#include "store/records/batch/batch_form.h"

#include "tests/stages/sampling/samplers/sampler_fixture.h"
#include "tests/support/temp_store.h"

/* Compares two batches in everything that their records hold. */
static void assert_same(const struct mini_batch *a, const struct mini_batch *b)
{
    assert_int_equal(a->form, b->form);
    assert_int_equal(a->seed_count, b->seed_count);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->edge_count, b->edge_count);
    assert_memory_equal(a->hop_end, b->hop_end, 3 * sizeof *a->hop_end);
    assert_memory_equal(a->node, b->node, a->node_count * sizeof *a->node);
    assert_memory_equal(a->row_start, b->row_start, (a->row_count + 1) * sizeof *a->row_start);
    assert_memory_equal(a->neighbor, b->neighbor, a->edge_count * sizeof *a->neighbor);
    assert_memory_equal(a->degree, b->degree, a->node_count * sizeof *a->degree);
    assert_memory_equal(a->columns.data[EDGE_TIME], b->columns.data[EDGE_TIME],
                        a->edge_count * sizeof(double));
    assert_true(!a->edge_factor == !b->edge_factor && !a->seed_weight == !b->seed_weight);
    if (a->edge_factor)
        assert_memory_equal(a->edge_factor, b->edge_factor, a->edge_count * sizeof(float));
    if (a->seed_weight)
        assert_memory_equal(a->seed_weight, b->seed_weight, a->seed_count * sizeof(float));
}

static struct neighbor_request request_of(struct sampler_fixture *f, const struct sampler *sampler,
                                          uint32_t round)
{
    struct neighbor_request request = sampler_fixture_request(f, sampler, round);
    request.wants_degree = request.wants_weight_sum = true;
    request.edge_columns = 1U << EDGE_TIME | 1U << EDGE_WEIGHT;
    return request;
}

/* The batch of every sampler is valid as a record, the same when drawn again after others and with
 * other parts, and different in another round. */
static void every_sampler_is_a_function_of_its_request(void **state)
{
    static const uint32_t two_parts[] = {0, 11, FIXTURE_NODES},
                          four_parts[] = {0, 11, 12, 25, FIXTURE_NODES};
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch stored = {0}, again, other;
    for (enum sampler_kind kind = 0; kind < SAMPLER_COUNT; kind++) {
        const struct sampler *sampler = sampler_of(kind);
        struct sampler_fixture f, parts;
        char key[] = "batch-0";
        struct error err = {0};
        int others = 0;
        key[6] = (char)('a' + (int)kind);
        sampler_fixture_open_parts(&f, two_parts, 2);
        sampler_fixture_open_parts(&parts, four_parts, 4);
        const struct neighbor_request first = request_of(&f, sampler, 7),
                                      there = request_of(&parts, sampler, 7);
        assert_ok(sampler->draw(f.sampler, &first, &again, &err), &err);
        assert_int_equal(again.form, sampler->form);
        assert_ok(mini_batch_put(t->store, key, "r", &again, &scratch, &err), &err);
        assert_ok(mini_batch_get(t->store, key, "r", &stored, &err), &err);
        for (uint32_t round = 100; round < 110; round++) {
            const struct neighbor_request next = request_of(&f, sampler, round);
            assert_ok(sampler->draw(f.sampler, &next, &other, &err), &err);
            others += other.edge_count != stored.edge_count ||
                      memcmp(other.neighbor, stored.neighbor,
                             other.edge_count * sizeof *other.neighbor) != 0 ||
                      memcmp(other.node, stored.node, stored.node_count * sizeof *other.node) != 0;
        }
        assert_true(others > 5 || sampler->unit == SAMPLER_OF_CLUSTERS);
        assert_ok(sampler->draw(f.sampler, &first, &again, &err), &err);
        assert_same(&again, &stored);
        assert_ok(sampler->draw(parts.sampler, &there, &again, &err), &err);
        assert_same(&again, &stored); /* clusters draw the first part, the same in both */
        sampler_fixture_close(&f);
        sampler_fixture_close(&parts);
    }
    mini_batch_release(&stored);
    arena_release(&scratch);
}

/* The position of an edge leads to an edge with the same source and the same time. */
static void positions_of_edges_are_those_in_their_rows(void **state)
{
    static const uint32_t four_parts[] = {0, 11, 12, 25, FIXTURE_NODES};
    (void)state;
    for (enum sampler_kind kind = 0; kind < SAMPLER_COUNT; kind++) {
        struct sampler_fixture f;
        struct mini_batch batch;
        struct error err = {0};
        uint64_t edges = 0;
        sampler_fixture_open_parts(&f, four_parts, 4);
        const struct topology *topology = &f.graph.topology;
        for (uint32_t round = 1; round < 6; round++) {
            struct neighbor_request request = request_of(&f, sampler_of(kind), round);
            request.wants_edge_positions = true;
            assert_ok(sampler_of(kind)->draw(f.sampler, &request, &batch, &err), &err);
            assert_non_null(batch.edge_position);
            edges += batch.edge_count;
            for (uint32_t row = 0; row < batch.row_count; row++)
                for (uint32_t e = batch.row_start[row]; e < batch.row_start[row + 1]; e++) {
                    const uint32_t node = batch.node[batch_form_node_of_row(&batch, 0, row)];
                    const struct topology_part *part =
                        &topology->part[topology_part_of(topology, node)];
                    const uint64_t at =
                        topology_row_start(part, node - part->first_node) + batch.edge_position[e];
                    assert_true(at < topology_row_start(part, node - part->first_node + 1));
                    assert_int_equal(*topology_neighbor(part, at), batch.node[batch.neighbor[e]]);
                    assert_memory_equal(topology_column(part, EDGE_TIME, at),
                                        (const int64_t *)batch.columns.data[EDGE_TIME] + e,
                                        sizeof(double));
                }
        }
        assert_true(edges > 20);
        sampler_fixture_close(&f);
    }
}

static void every_sampler_stays_in_its_budget(void **state)
{
    static const uint32_t book_of_one[] = {0, FIXTURE_NODES};
    (void)state;
    for (enum sampler_kind kind = 0; kind < SAMPLER_COUNT; kind++) {
        struct sampler_fixture f;
        struct mini_batch batch;
        struct error err = {0};
        sampler_fixture_open_parts(&f, book_of_one, 1);
        const struct neighbor_sampler_config tight = {.topology = &f.graph.topology,
                                                      .budget_bytes = 200};
        neighbor_sampler_free(f.sampler);
        f.sampler = NULL;
        assert_ok(neighbor_sampler_new(&tight, &f.sampler, &err), &err);
        const struct neighbor_request request = request_of(&f, sampler_of(kind), 1);
        assert_fails(sampler_of(kind)->draw(f.sampler, &request, &batch, &err), ERROR_NO_MEMORY,
                     "of the budget of 200", &err);
        sampler_fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(every_sampler_is_a_function_of_its_request),
        cmocka_unit_test(positions_of_edges_are_those_in_their_rows),
        cmocka_unit_test(every_sampler_stays_in_its_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
