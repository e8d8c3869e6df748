/* Tests samplers of layers over several relations: nodes are chosen in each relation by the paper's
 * chances of its own rows; sums are unbiased (FastGCN) or close (LADIES); and if all candidates are
 * taken, the batch is the whole neighbourhood. */
#include "tests/stages/sampling/relation_sampling.h"
#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { HOPS = 2, SEEDS = 3, DRAWS = 20000 };

static struct typed_edges edges;
static const struct relation *relation; /* [TYPED_RELATIONS] */
static const uint32_t seed_node[SEEDS] = {70, 75, 101};

static struct fixture *open_fixture(void **state)
{
    static struct fixture f;
    const struct partition_book book = typed_book("p");
    typed_edges_fill(&edges);
    fixture_open(&f, state, "p", &edges, &book, false);
    relation = f.book.relation;
    return &f;
}

static struct mini_batch draw(struct fixture *f, enum sampler_kind kind, const int64_t *fanout,
                              int hops, uint32_t round)
{
    struct neighbor_request request = {.seed = 5,
                                       .round = round,
                                       .hop_count = hops,
                                       .fanout = fanout,
                                       .seed_node = seed_node,
                                       .seed_count = SEEDS,
                                       .edge_columns = 1U << EDGE_WEIGHT};
    struct mini_batch batch = {0};
    fixture_fill(f, sampler_of(kind), &request);
    assert_ok(sampler_of(kind)->draw(f->sampler, &request, &batch, &f->err), &f->err);
    assert_int_equal(batch.form, BATCH_LAYERED);
    assert_non_null(batch.edge_factor);
    return batch;
}

static uint32_t length_of(uint32_t r, uint32_t node)
{
    uint32_t length = 0;
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        length += edges.relation[e] == r && edges.target[e] == node;
    return length;
}

static bool is_seed(uint32_t node)
{
    return node == seed_node[0] || node == seed_node[1] || node == seed_node[2];
}

static uint32_t edges_from(uint32_t r, uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        count += edges.relation[e] == r && edges.source[e] == node;
    return count;
}

/* The expected chance is the squared norm of a node's column in GCN's matrix of the relation,
 * divided by the sum of all. The degree of a node is the number of edges that end in it if it has a
 * row, otherwise of those that begin at it. */
static void chances_of_fastgcn_are_squared_norms_of_columns(void **state)
{
    struct fixture *f = open_fixture(state);
    struct neighbor_request request = {0};
    fixture_fill(f, sampler_of(SAMPLER_FASTGCN), &request);
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
        const bool is_own = relation[r].source_type == relation[r].target_type;
        double norm[TYPED_NODES] = {0}, all = 0;
        uint32_t listed = 0;
        for (uint32_t e = 0; e < TYPED_EDGES; e++) {
            const uint32_t u = edges.source[e], v = edges.target[e];
            if (edges.relation[e] != r || u == v)
                continue;
            const double of_u = is_own ? length_of(r, u) : edges_from(r, u);
            norm[u] += 1 / ((length_of(r, v) + 1.0) * (of_u + 1.0));
        }
        for (uint32_t v = 0; v < TYPED_NODES; v++)
            all += norm[v];
        for (uint32_t v = 0; v < TYPED_NODES; v++) {
            if (!(norm[v] > 0))
                continue;
            assert_int_equal(request.graph.chances[r].node[listed], v);
            assert_true(fabs(request.graph.chances[r].chance[listed++] - norm[v] / all) < 1e-12);
        }
        assert_int_equal(request.graph.chances[r].node_count, listed);
    }
    close_fixture(f);
}

/* Authors are drawn in one relation and papers in another, independently. */
static void nodes_are_there_as_often_as_importance_says(void **state)
{
    static const int64_t fanout[TYPED_RELATIONS] = {4, 5, 0, 3};
    struct fixture *f = open_fixture(state);
    static struct estimate there[2][TYPED_NODES];
    double chance[2][TYPED_NODES] = {{0}}, all[2] = {0};
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        if (edges.relation[e] < 2 && is_seed(edges.target[e])) {
            const double entry = 1 / (length_of(edges.relation[e], edges.target[e]) + 1.0);
            chance[edges.relation[e]][edges.source[e]] += entry * entry;
            all[edges.relation[e]] += entry * entry;
        }
    memset(there, 0, sizeof there);
    for (uint32_t i = 0; i < DRAWS; i++) {
        const struct mini_batch batch = draw(f, SAMPLER_LADIES, fanout, 1, i);
        for (uint32_t r = 0; r < 2; r++) {
            bool is_there[TYPED_NODES] = {false};
            const uint32_t from = batch.node_begin[relation[r].source_type];
            for (uint32_t e = batch.edge_begin[r]; e < batch.edge_begin[r + 1]; e++)
                is_there[batch.node[from + batch.neighbor[e]]] = true;
            for (uint32_t v = 0; v < TYPED_NODES; v++)
                if (chance[r][v] > 0)
                    estimate_add(&there[r][v], is_there[v]);
                else
                    assert_false(is_there[v]);
        }
    }
    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t v = 0; v < TYPED_NODES; v++)
            if (chance[r][v] > 0)
                estimate_check(&there[r][v], 1 - pow(1 - chance[r][v] / all[r], (double)fanout[r]),
                               0, "node", v);
    close_fixture(f);
}

/* Returns the sum of a row's source numbers; *factors is the sum of its factors. */
static double sum_of_listed(const struct mini_batch *batch, uint32_t r, uint32_t i, double *factors)
{
    const uint32_t from = batch->node_begin[relation[r].source_type];
    double sum = 0;
    *factors = 0;
    for (uint32_t e = batch->row_start[i + r]; e < batch->row_start[i + r + 1]; e++) {
        const uint32_t edge = batch->edge_begin[r] + e;
        const uint32_t u = batch->node[from + batch->neighbor[edge]];
        sum += (double)batch->edge_factor[edge] * (1 + u % 7);
        *factors += (double)batch->edge_factor[edge];
    }
    return sum;
}

/* LADIES normalises rows, which has a bias that shrinks with the number of draws. */
static void check_sums(struct fixture *f, enum sampler_kind kind, double slack)
{
    static const int64_t fanout[TYPED_RELATIONS] = {12, 12, 0, 0};
    struct estimate mean[2][SEEDS] = {{{0}}};
    for (uint32_t i = 0; i < DRAWS; i++) {
        const struct mini_batch batch = draw(f, kind, fanout, 1, i);
        double row_sum[2][SEEDS] = {{0}};
        for (uint32_t r = 0; r < 2; r++)
            for (uint32_t row = batch.row_begin[r]; row < batch.row_begin[r + 1]; row++) {
                const uint32_t s = batch.row[row], length = length_of(r, seed_node[s]);
                double factors = 0;
                row_sum[r][s] = sum_of_listed(&batch, r, row, &factors);
                assert_int_equal(batch.degree[row], length);
                assert_true(kind == SAMPLER_FASTGCN || fabs(factors - length) < 1e-4);
            }
        for (uint32_t r = 0; r < 2; r++)
            for (uint32_t s = 0; s < SEEDS; s++)
                if (kind == SAMPLER_FASTGCN || row_sum[r][s] > 0)
                    estimate_add(&mean[r][s], row_sum[r][s]);
    }
    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t s = 0; s < SEEDS; s++) {
            double sum = 0;
            for (uint32_t e = 0; e < TYPED_EDGES; e++)
                if (edges.relation[e] == r && edges.target[e] == seed_node[s])
                    sum += 1 + edges.source[e] % 7;
            if (sum > 0)
                estimate_check(&mean[r][s], sum, slack, "seed", s);
        }
}

static void sums_over_each_relation_are_those_of_all_edges(void **state)
{
    struct fixture *f = open_fixture(state);
    check_sums(f, SAMPLER_FASTGCN, 0);
    check_sums(f, SAMPLER_LADIES, 0.05);
    close_fixture(f);
}

/* With more draws than candidates every hop has all edges to the nodes so far, each once. */
static void few_candidates_are_all_taken(void **state)
{
    enum { MANY = TYPED_NODES };
    static const int64_t many[TYPED_RELATIONS * HOPS] = {MANY, MANY, MANY, -1, MANY, MANY, -1, -1};
    struct fixture *f = open_fixture(state);
    const struct mini_batch batch = draw(f, SAMPLER_LADIES, many, HOPS, 0);
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
        const uint32_t target = relation[r].target_type;
        uint32_t row = batch.row_begin[r];
        for (int hop = 0; hop < HOPS; hop++)
            for (uint32_t i = 0; i < mini_batch_known(&batch, target, hop); i++) {
                const uint32_t length = length_of(r, batch.node[batch.node_begin[target] + i]);
                if (length == 0)
                    continue;
                assert_int_equal(batch.row[row], i);
                assert_int_equal(batch.row_start[row + r + 1] - batch.row_start[row + r], length);
                row++;
            }
        assert_int_equal(row, batch.row_begin[r + 1]);
    }
    for (uint32_t e = 0; e < batch.edge_count; e++)
        assert_true(batch.edge_factor[e] == 1);
    close_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(nodes_are_there_as_often_as_importance_says),
        test_with_store(chances_of_fastgcn_are_squared_norms_of_columns),
        test_with_store(sums_over_each_relation_are_those_of_all_edges),
        test_with_store(few_candidates_are_all_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
