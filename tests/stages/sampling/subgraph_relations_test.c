/* Subgraphs over several relations: the nodes that the rule says, all edges among them in every
 * relation, and nothing else. */
#include "tests/stages/sampling/relation_sampling.h"
#include "tests/stages/sampling/sampler_fixture.h"

enum { TYPES = 3, HOPS = 2 };

static struct typed_edges edges;
static const struct relation *relation; /* [TYPED_RELATIONS] */
static const int64_t all[TYPED_RELATIONS * HOPS] = {-1, -1, -1, -1, -1, -1, -1, -1};

static struct fixture *open_fixture(void **state)
{
    static struct fixture f;
    struct partition_book book = typed_book("p");
    book.target_type = 1;
    typed_edges_fill(&edges);
    fixture_open(&f, state, "p", &edges, &book, false);
    relation = f.book.relation;
    return &f;
}

static struct neighbor_request request_of(const struct sampler_options *options)
{
    return (struct neighbor_request){.seed = 11,
                                     .hop_count = HOPS,
                                     .fanout = all,
                                     .options = options,
                                     .wants_degree = true,
                                     .edge_columns = 1U << EDGE_WEIGHT};
}

/* The edges of the batch among nodes of seed `seed` are, each once, those of the graph that has
 * both ends among `member`. Returns how many there are. */
static uint32_t check_edges(const struct mini_batch *batch, uint32_t seed,
                            const bool member[TYPED_NODES])
{
    static bool seen[TYPED_EDGES];
    const float *weight = batch->columns.data[EDGE_WEIGHT]; /* is the number of the edge */
    uint32_t found = 0, expected = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
        for (uint32_t i = batch->row_begin[r]; i < batch->row_begin[r + 1]; i++) {
            const uint32_t at = batch->node_begin[relation[r].target_type] + batch->row[i];
            const uint32_t begin = batch->row_start[i + r], end = batch->row_start[i + r + 1];
            if (batch->seed_of && batch->seed_of[at] != seed)
                continue;
            assert_int_equal(batch->degree[i], end - begin); /* a graph of its own */
            for (uint32_t k = batch->edge_begin[r] + begin; k < batch->edge_begin[r] + end; k++) {
                const uint32_t e = (uint32_t)weight[k];
                const uint32_t from = batch->node_begin[relation[r].source_type];
                assert_true(!seen[e] && edges.relation[e] == r);
                assert_int_equal(edges.target[e], batch->node[at]);
                assert_int_equal(edges.source[e], batch->node[from + batch->neighbor[k]]);
                seen[e] = true;
                found++;
            }
        }
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        expected += member[edges.source[e]] && member[edges.target[e]];
    assert_int_equal(found, expected);
    return found;
}

static void a_cluster_has_the_edges_of_all_relations(void **state)
{
    struct fixture *f = open_fixture(state);
    static uint64_t training[TYPED_NODES / 64 + 1];
    static bool member[TYPED_NODES];
    static const uint32_t part = 0;
    struct mini_batch batch;
    struct neighbor_request request = request_of(&sampler_fixture_options);
    for (uint32_t v = 0; v < TYPED_NODES; v++)
        member[v] = true;
    for (uint32_t v = TYPED_AUTHORS; v < TYPED_AUTHORS + TYPED_PAPERS; v += 3)
        training[v / 64] |= UINT64_C(1) << v % 64;
    request.part = &part;
    request.part_count = 1;
    request.graph.is_training = training;
    const struct sampler *sampler = sampler_of(SAMPLER_CLUSTER_GCN);
    assert_ok(sampler->draw(f->sampler, &request, &batch, &f->err), &f->err);
    assert_int_equal(batch.form, BATCH_SUBGRAPH);
    assert_int_equal(batch.seed_count, TYPED_PAPERS / 3);
    assert_int_equal(mini_batch_known(&batch, 1, 0), TYPED_PAPERS / 3);
    for (uint32_t i = 0; i < batch.seed_count; i++)
        assert_int_equal((batch.node[batch.node_begin[1] + i] - TYPED_AUTHORS) % 3, 0);
    assert_int_equal(check_edges(&batch, 0, member), TYPED_EDGES);
    /* Without a node that trains one of the type that does stands in, and counts 0. */
    memset(training, 0, sizeof training);
    assert_ok(sampler->draw(f->sampler, &request, &batch, &f->err), &f->err);
    assert_int_equal(batch.seed_count, 1);
    assert_int_equal(mini_batch_known(&batch, 1, 0), 1);
    assert_true(batch.seed_weight[0] <= 0);
    close_fixture(f);
}

/* Finds what a seed reaches in so many hops, in all relations. */
static uint32_t reach(uint32_t seed, int64_t depth, bool member[TYPED_NODES])
{
    uint32_t count = 1;
    memset(member, 0, TYPED_NODES * sizeof *member);
    member[seed] = true;
    for (int64_t hop = 0; hop < depth; hop++) {
        bool before[TYPED_NODES];
        memcpy(before, member, sizeof before);
        for (uint32_t e = 0; e < TYPED_EDGES; e++)
            if (before[edges.target[e]] && !member[edges.source[e]]) {
                member[edges.source[e]] = true;
                count++;
            }
    }
    return count;
}

static void a_shadow_is_what_its_seed_reaches_in_all_relations(void **state)
{
    enum { SEEDS = 5 };
    static const uint32_t seed_node[SEEDS] = {60, 75, 76, 90, 149};
    struct fixture *f = open_fixture(state);
    const struct sampler *sampler = sampler_of(SAMPLER_SHADOW);
    for (int64_t depth = 1; depth <= 2; depth++) {
        const struct sampler_options options = {.depth = depth, .num_neighbors = FANOUT_ALL};
        struct neighbor_request request = request_of(&options);
        struct mini_batch batch;
        uint32_t nodes = 0, found = 0;
        request.seed_node = seed_node;
        request.seed_count = SEEDS;
        assert_ok(sampler->draw(f->sampler, &request, &batch, &f->err), &f->err);
        assert_int_equal(batch.form, BATCH_SUBGRAPH);
        assert_int_equal(mini_batch_known(&batch, 1, 0), SEEDS);
        for (uint32_t s = 0; s < SEEDS; s++) {
            bool member[TYPED_NODES];
            uint32_t own = 0;
            assert_int_equal(batch.node[batch.node_begin[1] + s], seed_node[s]);
            const uint32_t expected = reach(seed_node[s], depth, member);
            for (uint32_t i = 0; i < batch.node_count; i++)
                if (batch.seed_of[i] == s) {
                    assert_true(member[batch.node[i]]);
                    own++;
                }
            assert_int_equal(own, expected);
            nodes += own;
            found += check_edges(&batch, s, member);
        }
        assert_int_equal(nodes, batch.node_count);
        assert_int_equal(found, batch.edge_count);
        assert_true(found > 5 * SEEDS);
    }
    close_fixture(f);
}

/* A neighbour is reached as often as each other of the same relation. */
static void a_shadow_draws_in_each_relation(void **state)
{
    enum { DRAWS = 20000, SEED = 70 };
    static const struct sampler_options options = {.depth = 1, .num_neighbors = 1};
    struct fixture *f = open_fixture(state);
    static const uint32_t seed_node[] = {SEED};
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t seen[TYPED_NODES] = {0}, length = 0;
        double chance[TYPED_NODES] = {0};
        const uint32_t type = relation[r].source_type;
        for (uint32_t e = 0; e < TYPED_EDGES; e++)
            length += edges.relation[e] == r && edges.target[e] == SEED;
        for (uint32_t e = 0; e < TYPED_EDGES; e++)
            if (edges.relation[e] == r && edges.target[e] == SEED)
                chance[edges.source[e]] += 1.0 / length;
        assert_true(length > 1 && chance[SEED] <= 0);
        for (uint32_t i = 0; i < DRAWS; i++) {
            struct neighbor_request request = request_of(&options);
            struct mini_batch batch;
            request.round = i;
            request.seed_node = seed_node;
            request.seed_count = 1;
            assert_ok(sampler_of(SAMPLER_SHADOW)->draw(f->sampler, &request, &batch, &f->err),
                      &f->err);
            for (uint32_t k = batch.node_begin[type]; k < batch.node_begin[type + 1]; k++)
                if (batch.node[k] != SEED)
                    seen[batch.node[k]]++;
        }
        chi_square_check(seen, chance, TYPED_NODES);
    }
    close_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_cluster_has_the_edges_of_all_relations),
        test_with_store(a_shadow_is_what_its_seed_reaches_in_all_relations),
        test_with_store(a_shadow_draws_in_each_relation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
