/* Tests GraphSAINT's walks: the counts made beforehand against many batches. */
#include "stages/sampling/samplers/walk_norm.h"

#include "tests/stages/sampling/samplers/graphsaint_check.h"

enum { ROUNDS = 20000, ROOTS = 4, COVERAGE = 20000 };

/* Draws a batch whose roots are chosen as the schedule chooses them: some training nodes, all
 * equally likely. */
static enum error_code draw_shuffled(struct neighbor_sampler *sampler,
                                     const struct neighbor_request *request, struct mini_batch *out,
                                     struct error *err)
{
    const struct random_stream stream =
        random_stream_of(request->seed, RANDOM_SHUFFLE, request->round, 0, 0);
    struct neighbor_request shuffled = *request;
    uint32_t root[ROOTS];
    for (uint32_t i = 0; i < ROOTS; i++)
        root[i] = 2 * (uint32_t)random_permute(&stream, i, FIXTURE_NODES / 2);
    shuffled.seed_node = root;
    shuffled.seed_count = ROOTS;
    return sampler_of(SAMPLER_GRAPHSAINT_WALK)->draw(sampler, &shuffled, out, err);
}

static void counted_chances_make_it_unbiased(void **state)
{
    (void)state;
    static const struct sampler shuffled = {.name = "shuffled", .draw = draw_shuffled};
    struct sampler_fixture f;
    struct drawn_walks walks;
    struct walk_norm norm;
    struct error err = {0};
    uint64_t seen = 0;
    sampler_fixture_open(&f);
    struct neighbor_request request =
        sampler_fixture_request(&f, sampler_of(SAMPLER_GRAPHSAINT_WALK), 0);
    const struct sampler_options options = {.walk_length = 2, .sample_coverage = COVERAGE};
    request.options = &options;
    const struct walk_draw_config config = {.sampler = f.sampler,
                                            .request = &request,
                                            .train = f.train,
                                            .train_count = f.train_count,
                                            .roots = ROOTS};
    assert_ok(drawn_walks_count(&walks, &f.graph.topology, &config, &err), &err);
    for (uint32_t v = 0; v < FIXTURE_NODES; v++) {
        assert_true(walks.node[v] <= walks.drawn);
        seen += walks.node[v];
    }
    assert_true(seen >= (uint64_t)COVERAGE * FIXTURE_NODES);
    assert_true(seen < (uint64_t)COVERAGE * FIXTURE_NODES + FIXTURE_NODES);
    struct walk_counts counts = {.drawn = walks.drawn,
                                 .node_count = FIXTURE_NODES,
                                 .node = walks.node,
                                 .edge_count = f.graph.topology.edge_count,
                                 .edge = walks.edge,
                                 .view.key = "run/r/walk_counts"};
    assert_ok(walk_norm_init(&norm, &counts, &f.graph.topology, f.train, f.train_count, &err),
              &err);
    request.graph.walk_norm = &norm;
    /* The chance of a training node is its count divided by the number of subgraphs. The weights
     * use the mean of these chances. */
    double mean = 0;
    struct mini_batch batch;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        request.round = i;
        assert_ok(draw_shuffled(f.sampler, &request, &batch, &err), &err);
        mean += (double)batch.seed_count / f.train_count / ROUNDS;
    }
    graphsaint_check(&f, &shuffled, &request, mean, ROUNDS, 0.03);
    struct walk_norm other;
    counts.edge_count--;
    assert_fails(walk_norm_init(&other, &counts, &f.graph.topology, f.train, f.train_count, &err),
                 ERROR_CORRUPT, "run/r/walk_counts: counts of", &err);
    walk_norm_release(&norm);
    drawn_walks_release(&walks);
    sampler_fixture_close(&f);
}

static void without_counts_it_has_no_normalisation(void **state)
{
    (void)state;
    struct sampler_fixture f;
    struct mini_batch batch;
    struct error err = {0};
    sampler_fixture_open(&f);
    struct neighbor_request request =
        sampler_fixture_request(&f, sampler_of(SAMPLER_GRAPHSAINT_WALK), 0);
    request.wants_degree = true;
    assert_ok(sampler_of(SAMPLER_GRAPHSAINT_WALK)->draw(f.sampler, &request, &batch, &err), &err);
    graphsaint_check_edges(&f, &batch);
    assert_null(batch.edge_factor);
    assert_null(batch.seed_weight);
    for (uint32_t i = 0; i < batch.node_count; i++) /* degrees are those of the batch */
        assert_int_equal(batch.degree[i], batch.row_start[i + 1] - batch.row_start[i]);
    assert_true(batch.node_count <= 9);
    sampler_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_chances_make_it_unbiased),
        cmocka_unit_test(without_counts_it_has_no_normalisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
