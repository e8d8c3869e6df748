/* Tests subgraphs over several relations: exactly the nodes that the rule gives, with all edges
 * among them in every relation; and GraphSAINT's normalisation against many draws. */
#include "stages/sampling/samplers/graphsaint.h"
#include "stages/sampling/samplers/walk_norm.h"

#include "tests/stages/sampling/relation_sampling.h"
#include "tests/stages/sampling/samplers/sampler_fixture.h"

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

static uint32_t length_of(uint32_t r, uint32_t node)
{
    uint32_t length = 0;
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        length += edges.relation[e] == r && edges.target[e] == node;
    return length;
}

/* Checks that the batch's edges among nodes of seed `seed` are exactly the graph's edges with both
 * ends in `member`, each once. Returns how many there are. */
static uint32_t check_edges(const struct mini_batch *batch, uint32_t seed,
                            const bool member[TYPED_NODES])
{
    static bool seen[TYPED_EDGES];
    const float *weight = batch->columns.data[EDGE_WEIGHT]; /* a weight is the number of its edge */
    uint32_t found = 0, expected = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
        for (uint32_t i = batch->row_begin[r]; i < batch->row_begin[r + 1]; i++) {
            const uint32_t at = batch->node_begin[relation[r].target_type] + batch->row[i];
            const uint32_t begin = batch->row_start[i + r], end = batch->row_start[i + r + 1];
            if (batch->seed_of && batch->seed_of[at] != seed)
                continue;
            assert_int_equal(batch->degree[i],
                             batch->edge_factor ? length_of(r, batch->node[at])
                                                : end - begin); /* degrees are those of the batch */
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
    /* If no training node is drawn, one node of the type that trains becomes a seed with weight
     * 0. */
    memset(training, 0, sizeof training);
    assert_ok(sampler->draw(f->sampler, &request, &batch, &f->err), &f->err);
    assert_int_equal(batch.seed_count, 1);
    assert_int_equal(mini_batch_known(&batch, 1, 0), 1);
    assert_true(batch.seed_weight[0] <= 0);
    close_fixture(f);
}

/* Finds the nodes that a seed reaches within `depth` hops, in all relations. */
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

/* All neighbours in a relation are reached equally often. */
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

/* --- GraphSAINT --- */

enum { TRAINED = TYPED_PAPERS / 2, ROOTS = 30, NORM_DRAWS = 20000 };

/* Returns the bits of the training nodes, which are every second paper. */
static const uint64_t *training(uint32_t node[TRAINED])
{
    static uint64_t bits[TYPED_NODES / 64 + 1];
    for (uint32_t i = 0; i < TRAINED; i++) {
        node[i] = TYPED_AUTHORS + 2 * i;
        bits[node[i] / 64] |= UINT64_C(1) << node[i] % 64;
    }
    return bits;
}

static double x_of(uint32_t node)
{
    return 1 + node % 7;
}

/* The estimates over all draws. */
struct normalisation {
    struct estimate loss, there[TYPED_NODES], sum[TYPED_RELATIONS][TYPED_NODES];
    double weight[TYPED_NODES]; /* weight of a training node that was drawn */
};

static void add_batch(struct normalisation *n, const struct mini_batch *batch, double mean)
{
    bool is_there[TYPED_NODES] = {false};
    double own = 0;
    for (uint32_t i = 0; i < batch->node_count; i++)
        is_there[batch->node[i]] = true;
    for (uint32_t v = 0; v < TYPED_NODES; v++)
        estimate_add(&n->there[v], is_there[v]);
    for (uint32_t i = 0; i < batch->seed_count; i++) {
        const uint32_t v = batch->node[batch->node_begin[1] + i];
        n->weight[v] = (double)batch->seed_weight[i];
        own += n->weight[v] * x_of(v);
    }
    estimate_add(&n->loss, own / (mean * TRAINED));
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
        const uint32_t to = batch->node_begin[relation[r].target_type];
        const uint32_t from = batch->node_begin[relation[r].source_type];
        uint32_t row = batch->row_begin[r];
        for (uint32_t i = to; i < batch->node_begin[relation[r].target_type + 1]; i++) {
            double sum = 0; /* a row without edges is not listed */
            const bool has_row = row < batch->row_begin[r + 1] && batch->row[row] == i - to;
            for (uint32_t e = has_row ? batch->row_start[row + r] : 0;
                 has_row && e < batch->row_start[row + r + 1]; e++)
                sum += (double)batch->edge_factor[batch->edge_begin[r] + e] *
                       x_of(batch->node[from + batch->neighbor[batch->edge_begin[r] + e]]);
            row += has_row;
            estimate_add(&n->sum[r][batch->node[i]], sum);
        }
    }
}

/* Checks that nodes are in batches as often as the weights of their losses say, that weighted
 * losses add up to those of all training nodes on average, and that sums over each relation equal
 * those over all its edges on average. Sums are checked at nodes all of whose edges are among
 * `counts`; NULL: at all nodes. */
static void check_normalisation(const struct normalisation *n, const bool counts[TYPED_EDGES],
                                double mean, double slack)
{
    double losses = 0;
    uint32_t checked = 0;
    for (uint32_t i = 0; i < TRAINED; i++) {
        const uint32_t v = TYPED_AUTHORS + 2 * i;
        estimate_check(&n->there[v], mean / n->weight[v], slack, "node", v);
        losses += x_of(v);
    }
    estimate_check(&n->loss, losses / TRAINED, slack, "loss", 0);
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
        for (uint32_t v = 0; v < TYPED_NODES; v++) {
            double sum = 0;
            bool is_known = true;
            for (uint32_t e = 0; e < TYPED_EDGES; e++)
                if (edges.relation[e] == r && edges.target[e] == v) {
                    sum += x_of(edges.source[e]);
                    is_known &= !counts || counts[e];
                }
            if (!is_known || !(n->sum[r][v].count > 0) || !(sum > 0))
                continue;
            estimate_check(&n->sum[r][v], sum, slack, relation[r].name, v);
            checked++;
        }
    assert_true(checked > 60);
}

static void check_batch_edges(const struct mini_batch *batch)
{
    bool member[TYPED_NODES] = {false};
    for (uint32_t i = 0; i < batch->node_count; i++)
        member[batch->node[i]] = true;
    (void)check_edges(batch, 0, member);
}

static void chances_in_closed_form_make_it_unbiased(void **state)
{
    static const enum sampler_kind kinds[] = {SAMPLER_GRAPHSAINT_NODE, SAMPLER_GRAPHSAINT_EDGE};
    static struct normalisation found;
    struct fixture *f = open_fixture(state);
    uint32_t node[TRAINED];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct sampler *sampler = sampler_of(kinds[k]);
        struct neighbor_request request = request_of(&sampler_fixture_options);
        fixture_fill(f, sampler, &request);
        request.graph.is_training = training(node);
        f->chances->mean = graphsaint_mean(f->chances, request.draw_count, node, TRAINED);
        memset(&found, 0, sizeof found);
        for (uint32_t i = 0; i < NORM_DRAWS; i++) {
            struct mini_batch batch;
            request.round = i;
            assert_ok(sampler->draw(f->sampler, &request, &batch, &f->err), &f->err);
            if (i % 1000 == 0)
                check_batch_edges(&batch);
            add_batch(&found, &batch, f->chances->mean);
        }
        check_normalisation(&found, NULL, f->chances->mean, 0.005);
    }
    close_fixture(f);
}

/* Draws a batch whose roots are some training nodes, all equally likely. */
static struct mini_batch draw_walks(struct fixture *f, const struct neighbor_request *like,
                                    uint32_t round)
{
    const struct random_stream stream = random_stream_of(like->seed, RANDOM_SHUFFLE, round, 0, 0);
    struct neighbor_request request = *like;
    struct mini_batch batch;
    uint32_t root[ROOTS];
    for (uint32_t i = 0; i < ROOTS; i++)
        root[i] = TYPED_AUTHORS + 2 * (uint32_t)random_permute(&stream, i, TRAINED);
    request.round = round;
    request.seed_node = root;
    request.seed_count = ROOTS;
    assert_ok(sampler_of(SAMPLER_GRAPHSAINT_WALK)->draw(f->sampler, &request, &batch, &f->err),
              &f->err);
    return batch;
}

static void counted_walks_make_it_unbiased(void **state)
{
    enum { COVERAGE = 8000, ROUNDS = 10000, MANY = 1500 };
    static const struct sampler_options options = {.walk_length = 2, .sample_coverage = COVERAGE};
    static struct normalisation found;
    struct fixture *f = open_fixture(state);
    struct neighbor_request request = request_of(&options);
    struct drawn_walks walks;
    struct walk_norm norm;
    uint32_t node[TRAINED], at = 0;
    bool counted[TYPED_EDGES]; /* edges counted so often that the count is near the chance */
    double mean = 0;
    request.graph.is_training = training(node);
    const struct walk_draw_config config = {.sampler = f->sampler,
                                            .request = &request,
                                            .train = node,
                                            .train_count = TRAINED,
                                            .roots = ROOTS};
    assert_ok(drawn_walks_count(&walks, &f->topology, &config, &f->err), &f->err);
    const struct walk_counts counts = {.drawn = walks.drawn,
                                       .node_count = TYPED_NODES,
                                       .node = walks.node,
                                       .edge_count = TYPED_EDGES,
                                       .edge = walks.edge,
                                       .view.key = "run/r/walk_counts"};
    assert_ok(walk_norm_init(&norm, &counts, &f->topology, node, TRAINED, &f->err), &f->err);
    request.graph.walk_norm = &norm;
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) /* in the order of the topology */
        for (uint32_t e = 0; e < TYPED_EDGES; e++)
            if (edges.relation[e] == r)
                counted[e] = walks.edge[at++] > MANY;
    for (uint32_t i = 0; i < ROUNDS; i++)
        mean += (double)draw_walks(f, &request, i).seed_count / TRAINED / ROUNDS;
    memset(&found, 0, sizeof found);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct mini_batch batch = draw_walks(f, &request, i);
        if (i % 1000 == 0)
            check_batch_edges(&batch);
        add_batch(&found, &batch, mean);
    }
    check_normalisation(&found, counted, mean, 0.03);
    walk_norm_release(&norm);
    drawn_walks_release(&walks);
    close_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_cluster_has_the_edges_of_all_relations),
        test_with_store(a_shadow_is_what_its_seed_reaches_in_all_relations),
        test_with_store(a_shadow_draws_in_each_relation),
        test_with_store(chances_in_closed_form_make_it_unbiased),
        test_with_store(counted_walks_make_it_unbiased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
