/* Tests the degrees and sums of weights at both ends of edges, by relation, for each sampler: those
 * of the whole graph, those that a seed sees at its time, or those of a subgraph. */
#include "tests/stages/sampling/relation_sampling.h"
#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { HOPS = 2, SEEDS = 8, CITES = 1, IN = 2 };

static struct typed_edges edges;
static const struct relation *relation; /* [TYPED_RELATIONS] */

static struct fixture *open_fixture(void **state)
{
    static struct fixture f;
    const struct partition_book book = typed_book("p");
    typed_edges_fill(&edges);
    fixture_open(&f, state, "p", &edges, &book, true);
    relation = f.book.relation;
    return &f;
}

static bool has_node(const struct mini_batch *batch, uint32_t seed, uint32_t node)
{
    bool is_there = false;
    for (uint32_t i = 0; i < batch->node_count; i++)
        is_there |= batch->node[i] == node && (!batch->seed_of || batch->seed_of[i] == seed);
    return is_there;
}

/* Returns whether edge `e` counts at node number `at` of the batch. */
static bool counts(const struct mini_batch *batch, uint32_t e, uint32_t at)
{
    const uint32_t seed = batch->seed_of ? batch->seed_of[at] : 0;
    if (batch->form == BATCH_SUBGRAPH && !batch->edge_factor)
        return has_node(batch, seed, edges.source[e]) && has_node(batch, seed, edges.target[e]);
    return !batch->seed_time || edges.time[e] <= batch->seed_time[seed];
}

/* Returns the number of edges of relation `r` that end in node number `at`, without self-loops.
 * With `weights` it returns the sum of their weights instead; within one type a self-loop of weight
 * 1 is added if there is none. */
static double at_end(const struct mini_batch *batch, uint32_t r, uint32_t at, bool weights)
{
    bool has_loop = relation[r].source_type != relation[r].target_type;
    double sum = 0;
    for (uint32_t e = 0; e < TYPED_EDGES; e++) {
        const bool is_loop = edges.source[e] == edges.target[e];
        if (edges.relation[e] != r || edges.target[e] != batch->node[at] || !counts(batch, e, at))
            continue;
        has_loop |= is_loop;
        sum += weights ? (double)edges.weight[e] : is_loop ? 0 : 1;
    }
    return weights && !has_loop ? sum + 1 : sum;
}

static void check_relation(const struct mini_batch *batch, uint32_t r, uint32_t destinations,
                           uint32_t sources, const struct relation_edges *found)
{
    const uint32_t back = r == CITES ? CITES : r == 0 ? 3 : 0;
    if (r == IN) { /* the relation has no reverse */
        assert_null(found->source_degree);
        return;
    }
    assert_int_equal(batch->back[r], back);
    for (uint32_t j = 0; j < sources; j++) {
        const uint32_t at = batch->node_begin[relation[r].source_type] + j;
        assert_true(found->source_degree[j] == at_end(batch, back, at, false));
        assert_true(found->source_sum[j] == (float)at_end(batch, back, at, true));
    }
    for (uint32_t i = 0; i < destinations; i++) {
        const uint32_t at = batch->node_begin[relation[r].target_type] + i;
        assert_true(found->target_sum[i] == (float)at_end(batch, r, at, true));
    }
}

/* In this graph the declared reverse has other edges than the relation; the declaration decides. */
static void both_ends_of_edges_have_what_the_form_says(void **state)
{
    static const int64_t few[TYPED_RELATIONS * HOPS] = {20, 10, 9, 9, -1, 1, 0, 9};
    static uint32_t seed_node[SEEDS];
    struct fixture *f = open_fixture(state);
    for (uint32_t i = 0; i < SEEDS; i++)
        seed_node[i] = TYPED_AUTHORS + i * 7;
    for (enum sampler_kind kind = 0; kind < SAMPLER_COUNT; kind++) {
        const struct sampler *sampler = sampler_of(kind);
        struct neighbor_request request = {.seed = 11,
                                           .hop_count = HOPS,
                                           .fanout = few,
                                           .seed_node = seed_node,
                                           .seed_count = SEEDS,
                                           .options = &sampler_fixture_options,
                                           .wants_ends = true,
                                           .wants_weight_sum = true,
                                           .edge_columns = 1U << EDGE_WEIGHT};
        struct relation_edges found[TYPED_RELATIONS];
        struct relation_block block;
        struct mini_batch batch;
        uint32_t destinations[3], sources[3];
        fixture_fill(f, sampler, &request);
        assert_ok(sampler->draw(f->sampler, &request, &batch, &f->err), &f->err);
        mini_batch_relation_block(&batch, 0, destinations, sources, found, &block);
        for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
            check_relation(&batch, r, destinations[relation[r].target_type],
                           sources[relation[r].source_type], &found[r]);
        assert_true(batch.edge_count > SEEDS);
    }
    close_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(both_ends_of_edges_have_what_the_form_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
