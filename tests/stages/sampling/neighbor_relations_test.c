/* Compares the sampler of relations with a slow one that follows the rule edge by edge, and checks
 * its draws against their chances. */
#include "common/base/memory.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/objects/keys.h"
#include "store/topology/topology_ahead.h"

#include "tests/stages/sampling/relation_sampling.h"
#include "tests/stages/sampling/samplers/sampler_fixture.h"
#include "tests/support/slow_relations.h"

#include <stdlib.h>

enum { HOPS = 3, SEEDS = 20 };

static struct typed_edges edges;
static struct slow_relations slow = {.edges = &edges};
static const struct relation *relation; /* [TYPED_RELATIONS] */

static struct fixture *open_fixture(void **state)
{
    static struct fixture f;
    const struct partition_book book = typed_book("p");
    typed_edges_fill(&edges);
    fixture_open(&f, state, "p", &edges, &book, true);
    relation = slow.relation = f.book.relation;
    topology_read_at_random(&f.topology); /* rows are read ahead; the draws must not change */
    return &f;
}

static const int64_t few[TYPED_RELATIONS * HOPS] = {3, 2, 1, 2, 2, 2, -1, 1, 0, 4, 1, 1};
static const int64_t all[TYPED_RELATIONS * HOPS] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

static struct neighbor_request request_of(const int64_t *fanout, uint32_t slot)
{
    static uint32_t of_slot[32][SEEDS]; /* borrowed by the requests */
    uint32_t *seed_node = of_slot[slot];
    for (uint32_t i = 0; i < SEEDS; i++)
        seed_node[i] = TYPED_AUTHORS + (i * 7 + slot) % TYPED_PAPERS;
    return (struct neighbor_request){.seed = 11,
                                     .round = 3,
                                     .slot = slot,
                                     .hop_count = HOPS,
                                     .fanout = fanout,
                                     .seed_node = seed_node,
                                     .seed_count = SEEDS,
                                     .wants_degree = true,
                                     .options = &sampler_fixture_options,
                                     .edge_columns = 1U << EDGE_WEIGHT};
}

/* ---- tests
 * ------------------------------------------------------------------------------------ */

static void draws_follow_the_rule(void **state)
{
    struct fixture *f = open_fixture(state);
    for (uint32_t slot = 0; slot < 20; slot++) {
        const struct neighbor_request request = request_of(slot % 4 ? few : all, slot);
        struct mini_batch batch;
        assert_ok(neighbor_sampler_draw(f->sampler, &request, &batch, &f->err), &f->err);
        slow_draw(&slow, &request);
        slow_assert_same(&batch, &slow);
        for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
            for (uint32_t i = batch.row_begin[r]; i < batch.row_begin[r + 1]; i++) {
                const uint32_t target = relation[r].target_type;
                const uint32_t node = batch.node[batch.node_begin[target] + batch.row[i]];
                uint32_t degree = 0;
                for (uint32_t e = 0; e < TYPED_EDGES; e++)
                    degree += edges.relation[e] == r && edges.target[e] == node;
                assert_int_equal(batch.degree[i], degree);
            }
    }
    close_fixture(f);
}

static void a_batch_reads_back_as_it_was_drawn(void **state)
{
    struct fixture *f = open_fixture(state);
    const struct neighbor_request request = request_of(few, 5);
    struct mini_batch drawn, batch = {0};
    struct arena scratch = {0};
    const struct key key = key_mini_batch("r", 3, 5);
    assert_ok(neighbor_sampler_draw(f->sampler, &request, &drawn, &f->err), &f->err);
    assert_ok(mini_batch_put(f->temp->store, key.text, "r", &drawn, &scratch, &f->err), &f->err);
    /* After another draw the first request gives the same record again; otherwise storing it
     * fails. */
    const struct neighbor_request other = request_of(all, 6);
    assert_ok(neighbor_sampler_draw(f->sampler, &other, &drawn, &f->err), &f->err);
    assert_ok(neighbor_sampler_draw(f->sampler, &request, &drawn, &f->err), &f->err);
    assert_ok(mini_batch_put(f->temp->store, key.text, "r", &drawn, &scratch, &f->err), &f->err);
    assert_ok(mini_batch_get(f->temp->store, key.text, "r", &batch, &f->err), &f->err);
    slow_draw(&slow, &request);
    slow_assert_same(&batch, &slow);
    assert_memory_equal(batch.degree, drawn.degree, drawn.row_count * sizeof *drawn.degree);
    mini_batch_release(&batch);
    arena_release(&scratch);
    close_fixture(f);
}

/* Seeds may be of several types, such as the ends of edges. */
static void seeds_of_several_types_stand_first(void **state)
{
    struct fixture *f = open_fixture(state);
    const uint32_t seeds[] = {TYPED_NODES - 1, 3, TYPED_AUTHORS, 0};
    struct neighbor_request request = request_of(few, 1);
    struct mini_batch batch;
    request.seed_node = seeds;
    request.seed_count = 4;
    assert_ok(neighbor_sampler_draw(f->sampler, &request, &batch, &f->err), &f->err);
    assert_int_equal(mini_batch_known(&batch, 0, 0), 2);
    assert_int_equal(mini_batch_known(&batch, 1, 0), 1);
    assert_int_equal(mini_batch_known(&batch, 2, 0), 1);
    slow_draw(&slow, &request);
    slow_assert_same(&batch, &slow);
    close_fixture(f);
}

/* Returns the paper with the longest row of relation 1. */
static uint32_t longest_row(uint32_t *length)
{
    uint32_t best = 0;
    *length = 0;
    for (uint32_t v = TYPED_AUTHORS; v < TYPED_AUTHORS + TYPED_PAPERS; v++) {
        uint32_t own = 0;
        for (uint32_t e = 0; e < TYPED_EDGES; e++)
            own += edges.relation[e] == 1 && edges.target[e] == v;
        best = own > *length ? v : best;
        *length = own > *length ? own : *length;
    }
    return best;
}

/* Each source of the longest row is kept equally often: chi-square of 8 to 30 degrees of freedom at
 * p = 1e-6. */
static void each_neighbor_is_as_likely_as_the_others(void **state)
{
    enum { DRAWS = 4000, FANOUT = 3 };
    struct fixture *f = open_fixture(state);
    uint32_t length = 0, hits[TYPED_NODES] = {0};
    const uint32_t best = longest_row(&length);
    assert_in_range(length, FANOUT + 2, 31);
    const int64_t fanout[TYPED_RELATIONS] = {0, FANOUT, 0, 0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct mini_batch batch;
        const struct neighbor_request request = {.seed = 1,
                                                 .round = i,
                                                 .hop_count = 1,
                                                 .fanout = fanout,
                                                 .seed_node = &best,
                                                 .seed_count = 1};
        assert_ok(neighbor_sampler_draw(f->sampler, &request, &batch, &f->err), &f->err);
        assert_int_equal(batch.edge_count, FANOUT);
        for (uint32_t e = 0; e < FANOUT; e++)
            hits[batch.node[batch.node_begin[1] + batch.neighbor[e]]]++;
    }
    const double expected = (double)DRAWS * FANOUT / length;
    double chi_square = 0.0;
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        if (edges.relation[e] == 1 && edges.target[e] == best) {
            const double off = hits[edges.source[e]] - expected;
            chi_square += off * off / expected;
        }
    assert_true(chi_square < 90.0);
    close_fixture(f);
}

/* --- what other samplers choose in a relation --- */

/* Counts how often each source of that row is the only one that a sampler keeps. */
static void count_choices(struct fixture *f, enum sampler_kind kind, uint32_t seed,
                          uint32_t seen[TYPED_NODES])
{
    enum { DRAWS = 20000 };
    static const int64_t one[TYPED_RELATIONS] = {0, 1, 0, 0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct mini_batch batch;
        const struct neighbor_request request = {.seed = 7,
                                                 .round = i,
                                                 .hop_count = 1,
                                                 .fanout = one,
                                                 .seed_node = &seed,
                                                 .seed_count = 1};
        assert_ok(sampler_of(kind)->draw(f->sampler, &request, &batch, &f->err), &f->err);
        assert_int_equal(batch.edge_count, 1);
        assert_int_equal(batch.edge_begin[2] - batch.edge_begin[1], 1);
        seen[batch.node[batch.node_begin[1] + batch.neighbor[0]]]++;
    }
}

static void weights_are_those_of_the_relation(void **state)
{
    struct fixture *f = open_fixture(state);
    uint32_t length = 0, seen[TYPED_NODES] = {0};
    double chance[TYPED_NODES] = {0}, sum = 0;
    const uint32_t seed = longest_row(&length);
    count_choices(f, SAMPLER_WEIGHTED_NEIGHBOR, seed, seen);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        sum += edges.relation[e] == 1 && edges.target[e] == seed ? (double)edges.weight[e] : 0;
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        if (edges.relation[e] == 1 && edges.target[e] == seed)
            chance[edges.source[e]] += (double)edges.weight[e] / sum;
    chi_square_check(seen, chance, TYPED_NODES);
    close_fixture(f);
}

/* Two draws from one row give the same edge as often as chance says. */
static void draws_with_replacement_are_independent(void **state)
{
    enum { DRAWS = 20000 };
    struct fixture *f = open_fixture(state);
    static const int64_t two[TYPED_RELATIONS] = {0, 2, 0, 0};
    uint32_t length = 0, seen[TYPED_NODES] = {0};
    double chance[TYPED_NODES] = {0};
    struct estimate twice = {0};
    const uint32_t seed = longest_row(&length);
    count_choices(f, SAMPLER_NEIGHBOR_WITH_REPLACEMENT, seed, seen);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        if (edges.relation[e] == 1 && edges.target[e] == seed)
            chance[edges.source[e]] += 1.0 / length;
    chi_square_check(seen, chance, TYPED_NODES);
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct mini_batch batch;
        const struct neighbor_request request = {.seed = 7,
                                                 .round = i,
                                                 .hop_count = 1,
                                                 .fanout = two,
                                                 .seed_node = &seed,
                                                 .seed_count = 1,
                                                 .edge_columns = 1U << EDGE_WEIGHT};
        assert_ok(sampler_of(SAMPLER_NEIGHBOR_WITH_REPLACEMENT)
                      ->draw(f->sampler, &request, &batch, &f->err),
                  &f->err);
        const float *weight =
            batch.columns.data[EDGE_WEIGHT]; /* a weight is the number of its edge */
        estimate_add(&twice, weight[0] == weight[1]);
    }
    estimate_check(&twice, 1.0 / length, 0, "the same edge twice of", length);
    close_fixture(f);
}

/* Each sampler gives the same batch for the same request, valid as a record, within the fan-outs of
 * each relation. */
static void every_sampler_of_relations_is_a_function_of_its_request(void **state)
{
    struct fixture *f = open_fixture(state);
    struct arena scratch = {0};
    struct mini_batch stored = {0};
    for (enum sampler_kind kind = 0; kind < SAMPLER_COUNT; kind++) {
        const struct sampler *sampler = sampler_of(kind);
        struct neighbor_request request = request_of(few, 9), other = request_of(all, 10);
        const struct key key = key_mini_batch("r", 1, (int32_t)kind);
        struct mini_batch batch;
        fixture_fill(f, sampler, &request);
        fixture_fill(f, sampler, &other);
        assert_ok(sampler->draw(f->sampler, &request, &batch, &f->err), &f->err);
        for (uint32_t r = 0; sampler->has_neighborhoods && r < TYPED_RELATIONS; r++)
            for (uint32_t i = batch.row_begin[r]; i < batch.row_begin[r + 1]; i++) {
                const uint32_t kept = batch.row_start[i + r + 1] - batch.row_start[i + r];
                int hop = 0;
                while (hop < HOPS &&
                       batch.row[i] >= mini_batch_known(&batch, relation[r].target_type, hop))
                    hop++;
                assert_in_range(hop, 0, HOPS - 1);
                if (hop >= HOPS)
                    break;
                const int64_t fanout = few[r * HOPS + (uint32_t)hop];
                assert_int_equal(kept,
                                 fanout < 0 || fanout > batch.degree[i] ? batch.degree[i] : fanout);
            }
        assert_ok(mini_batch_put(f->temp->store, key.text, "r", &batch, &scratch, &f->err),
                  &f->err);
        assert_ok(sampler->draw(f->sampler, &other, &batch, &f->err), &f->err);
        assert_ok(sampler->draw(f->sampler, &request, &batch, &f->err), &f->err);
        assert_ok(mini_batch_put(f->temp->store, key.text, "r", &batch, &scratch, &f->err),
                  &f->err);
        assert_ok(mini_batch_get(f->temp->store, key.text, "r", &stored, &f->err), &f->err);
        assert_memory_equal(stored.neighbor, batch.neighbor,
                            batch.edge_count * sizeof *batch.neighbor);
        assert_memory_equal(stored.node, batch.node, batch.node_count * sizeof *batch.node);
    }
    mini_batch_release(&stored);
    arena_release(&scratch);
    close_fixture(f);
}

static void bad_seeds_are_named(void **state)
{
    struct fixture *f = open_fixture(state);
    const uint32_t twice[] = {5, 6, 5}, far[] = {TYPED_NODES};
    struct neighbor_request request = request_of(few, 1);
    struct mini_batch batch;
    request.seed_node = twice;
    request.seed_count = 3;
    assert_fails(neighbor_sampler_draw(f->sampler, &request, &batch, &f->err), ERROR_CORRUPT,
                 "seed 2 is node 5, which is a seed already", &f->err);
    request.seed_node = far;
    request.seed_count = 1;
    assert_fails(neighbor_sampler_draw(f->sampler, &request, &batch, &f->err), ERROR_CORRUPT,
                 "seed 0 is node 160, expected below 160", &f->err);
    close_fixture(f);
}

static void a_budget_is_kept(void **state)
{
    struct fixture *f = open_fixture(state);
    const struct neighbor_sampler_config config = {
        .topology = &f->topology, .book = &f->book, .budget_bytes = 1000};
    struct neighbor_sampler *small = NULL;
    const enum error_code rc = neighbor_sampler_new(&config, &small, &f->err);
    if (rc == ERROR_NONE) {
        struct mini_batch batch;
        const struct neighbor_request request = request_of(all, 0);
        assert_fails(neighbor_sampler_draw(small, &request, &batch, &f->err), ERROR_NO_MEMORY,
                     "mini-batch", &f->err);
    } else {
        assert_int_equal(rc, ERROR_NO_MEMORY);
    }
    neighbor_sampler_free(small);
    close_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(draws_follow_the_rule),
        test_with_store(a_batch_reads_back_as_it_was_drawn),
        test_with_store(seeds_of_several_types_stand_first),
        test_with_store(each_neighbor_is_as_likely_as_the_others),
        test_with_store(weights_are_those_of_the_relation),
        test_with_store(draws_with_replacement_are_independent),
        test_with_store(every_sampler_of_relations_is_a_function_of_its_request),
        test_with_store(bad_seeds_are_named),
        test_with_store(a_budget_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
