/* Pairs of edges and of negatives, and what is left out of the rows of their ends: against going through all edges. */
#include "common/base/memory.h"
#include "stages/sampling/pairs/edge_positions.h"
#include "stages/sampling/pairs/negative_chances.h"
#include "stages/sampling/pairs/pair_drawer.h"
#include "stages/sampling/samplers/sampler.h"

#include "tests/support/memory_topology.h"
#include "tests/support/random_graph.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { NODE_COUNT = 300, HUB_DEGREE = 900, POSITIVES = 40, NEGATIVES = 5 };

static const uint32_t book[] = {0, 1, 100, 100, 150, 299, NODE_COUNT};
static const struct relation_reverses one_relation = {.count = 1};
enum { PARTS = sizeof book / sizeof *book - 1 };

struct fixture {
    struct random_graph graph;
    struct memory_topology memory;
    struct pair_drawer *drawer;
    struct known_pairs known;
    struct edge_positions positions;
    uint32_t source[POSITIVES], target[POSITIVES];
};

static void take_edge(struct fixture *f, uint32_t i, uint64_t position)
{
    const struct edge_place place = edge_positions_find(&f->positions, position);
    f->source[i] = place.source;
    f->target[i] = place.target;
}

static int set_up(void **state)
{
    struct fixture *f = memory_alloc(1, sizeof *f);
    struct error err = {0};
    must(f != NULL);
    random_graph_make(&f->graph, random_graph_seed(5), NODE_COUNT, HUB_DEGREE);
    memory_topology_make(&f->memory, f->graph.row_start, f->graph.neighbor, book, PARTS);
    must(pair_drawer_new(&f->memory.topology, 0, &f->drawer, &err) == ERROR_NONE);
    const struct known_pairs_config known = {.topology = &f->memory.topology};
    must(known_pairs_init(&f->known, &known, &err) == ERROR_NONE);
    must(edge_positions_init(&f->positions, &f->memory.topology, &one_relation, &err) ==
         ERROR_NONE);
    const uint64_t edges = f->graph.row_start[NODE_COUNT];
    for (uint32_t i = 0; i < POSITIVES; i++)
        take_edge(f, i, (uint64_t)i * 7919 % edges);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    known_pairs_release(&f->known);
    edge_positions_release(&f->positions);
    pair_drawer_free(f->drawer);
    memory_topology_release(&f->memory);
    random_graph_release(&f->graph);
    memory_free(f);
    return 0;
}

static struct pair_request request_of(const struct fixture *f, enum negative_kind negative)
{
    return (struct pair_request){.seed = 11,
                                 .round = 3,
                                 .slot = 2,
                                 .negative = negative,
                                 .negatives = NEGATIVES,
                                 .positive_count = POSITIVES,
                                 .source = f->source,
                                 .target = f->target,
                                 .excludes = EXCLUDE_REVERSES};
}

static bool is_edge(const struct fixture *f, uint32_t source, uint32_t target)
{
    for (uint64_t e = f->graph.row_start[target]; e < f->graph.row_start[target + 1]; e++)
        if (f->graph.neighbor[e] == source)
            return true;
    return false;
}

static uint64_t in_degree(const struct fixture *f, uint32_t node)
{
    return f->graph.row_start[node + 1] - f->graph.row_start[node];
}

static void every_position_is_an_edge(void **state)
{
    const struct fixture *f = *state;
    for (uint32_t node = 0; node < NODE_COUNT; node++)
        for (uint64_t e = f->graph.row_start[node]; e < f->graph.row_start[node + 1]; e++) {
            const struct edge_place place = edge_positions_find(&f->positions, e);
            assert_int_equal(place.source, f->graph.neighbor[e]);
            assert_int_equal(place.target, node);
            assert_int_equal(place.type, 0);
            assert_int_equal(*topology_neighbor(place.part, place.edge), place.source);
        }
}

static void known_pairs_are_the_edges(void **state)
{
    const struct fixture *f = *state;
    const uint32_t source[] = {3, 8}, target[] = {250, 9};
    struct error err = {0};
    struct known_pairs known;
    for (int undirected = 0; undirected < 2; undirected++) {
        const struct edge_splits splits = {.undirected = undirected,
                                           .count = {1, 1},
                                           .source = {source, source + 1},
                                           .target = {target, target + 1}};
        struct known_pairs_config config = {.topology = &f->memory.topology, .splits = &splits};
        assert_ok(known_pairs_init(&known, &config, &err), &err);
        for (uint32_t a = 0; a < NODE_COUNT; a++)
            for (uint32_t b = 0; b < NODE_COUNT; b += 7) {
                const bool is_held = (a == 3 && b == 250) || (a == 8 && b == 9) ||
                                     (undirected && ((a == 250 && b == 3) || (a == 9 && b == 8)));
                assert_int_equal(known_pairs_has(&known, a, b, 0, 0), is_held || is_edge(f, a, b));
            }
        known_pairs_release(&known);
        config.budget_bytes = 31;
        assert_fails(known_pairs_init(&known, &config, &err), ERROR_NO_MEMORY,
                     "the held-out edges want", &err);
    }
}

/* Seeds are the distinct ends in the order in which they first stand there; the same request, the same draw. */
static void seeds_are_the_ends_of_the_pairs(void **state)
{
    static const uint64_t start[] = {0, 2}, list[POSITIVES] = {0, EDGE_INDEX_NONE};
    static const uint32_t node[] = {3, 9};
    static const struct negative_ends given = {start, node};
    struct fixture *f = *state;
    struct error err = {0};
    struct drawn_pairs drawn;
    uint32_t first[(1 + NEGATIVES) * POSITIVES];
    for (int kind = 0; kind < NEGATIVE_COUNT; kind++) {
        struct pair_request request = request_of(f, (enum negative_kind)kind);
        struct node_chances chances = {0};
        assert_ok(negative_chances_init(&chances, &f->memory.topology, 0, &err), &err);
        request.chances = &chances;
        request.given = &given;
        request.given_list = list;
        for (int again = 0; again < 2; again++) {
            assert_ok(pair_drawer_draw(f->drawer, &request, &drawn, &err), &err);
            assert_int_equal(drawn.pairs.positive_count, POSITIVES);
            assert_int_equal(drawn.pairs.negatives_each, NEGATIVES);
            for (uint32_t i = 0; i < drawn.seed_count; i++)
                for (uint32_t j = 0; j < i; j++)
                    assert_int_not_equal(drawn.seed_node[i], drawn.seed_node[j]);
            for (uint32_t i = 0; i < POSITIVES; i++) {
                assert_int_equal(drawn.seed_node[drawn.pairs.source[i]], f->source[i]);
                assert_int_equal(drawn.seed_node[drawn.pairs.target[i]], f->target[i]);
            }
            for (uint64_t i = 0; i < seed_pairs_count(&drawn.pairs); i++) {
                assert_true(drawn.pairs.target[i] < drawn.seed_count);
                if (again)
                    assert_int_equal(first[i], drawn.seed_node[drawn.pairs.target[i]]);
                first[i] = drawn.seed_node[drawn.pairs.target[i]];
            }
        }
        node_chances_release(&chances);
    }
}

static void negatives_of_a_batch_are_its_own(void **state)
{
    struct fixture *f = *state;
    struct error err = {0};
    struct drawn_pairs drawn;
    struct pair_request request = request_of(f, NEGATIVE_IN_BATCH);
    request.negatives = POSITIVES - 1;
    assert_ok(pair_drawer_draw(f->drawer, &request, &drawn, &err), &err);
    for (uint32_t i = 0; i < POSITIVES; i++) { /* all others, each once */
        uint32_t seen[POSITIVES] = {0};
        for (uint32_t k = 0; k < request.negatives; k++) {
            const uint32_t node = pair_drawer_negative(&request, NODE_COUNT, i, k);
            uint32_t j = 0;
            while (j < POSITIVES && (j == i || seen[j] || f->target[j] != node))
                j++;
            assert_true(j < POSITIVES);
            seen[j] = 1;
        }
    }
    request.positive_count = 1; /* there are no others */
    assert_true(pair_drawer_negative(&request, NODE_COUNT, 0, 0) < NODE_COUNT);
    request = request_of(f, NEGATIVE_SHARED);
    for (uint32_t k = 0; k < NEGATIVES; k++)
        for (uint32_t i = 1; i < POSITIVES; i++)
            assert_int_equal(pair_drawer_negative(&request, NODE_COUNT, i, k),
                             pair_drawer_negative(&request, NODE_COUNT, 0, k));
}

/* Chi-square over nodes: sum of (found - wanted)^2 / wanted is near the number of nodes. */
static double chi_square(const struct fixture *f, struct pair_request *request,
                         const double *chance)
{
    enum { ROUNDS = 2000 };
    static double found[NODE_COUNT];
    double sum = 0;
    memset(found, 0, sizeof found);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        request->round = round;
        for (uint32_t i = 0; i < POSITIVES; i++)
            for (uint32_t k = 0; k < NEGATIVES; k++)
                found[pair_drawer_negative(request, f->memory.topology.node_count, i, k)]++;
    }
    for (uint32_t node = 0; node < NODE_COUNT; node++) {
        const double wanted = chance[node] * ROUNDS * POSITIVES * NEGATIVES;
        sum += wanted > 0 ? (found[node] - wanted) * (found[node] - wanted) / wanted
                          : 1e6 * found[node];
    }
    return sum;
}

static void negatives_have_their_chances(void **state)
{
    const struct fixture *f = *state;
    struct error err = {0};
    double chance[NODE_COUNT], all = 0;
    struct node_chances chances;
    const double most = NODE_COUNT + 5 * sqrt(2.0 * NODE_COUNT);
    struct pair_request request = request_of(f, NEGATIVE_UNIFORM);
    for (uint32_t node = 0; node < NODE_COUNT; node++)
        chance[node] = 1.0 / NODE_COUNT;
    assert_true(chi_square(f, &request, chance) < most);
    for (uint32_t node = 0; node < NODE_COUNT; node++) {
        chance[node] = pow((double)(f->graph.row_start[node + 1] - f->graph.row_start[node]), 0.75);
        all += chance[node];
    }
    for (uint32_t node = 0; node < NODE_COUNT; node++)
        chance[node] /= all;
    assert_true(chi_square(f, &request, chance) > 2 * most); /* the test can tell them apart */
    assert_ok(negative_chances_init(&chances, &f->memory.topology, 0, &err), &err);
    request = request_of(f, NEGATIVE_DEGREE);
    request.chances = &chances;
    assert_true(chi_square(f, &request, chance) < most);
    node_chances_release(&chances);
    assert_fails(negative_chances_init(&chances, &f->memory.topology, 100, &err), ERROR_NO_MEMORY,
                 "sample.negative is degree", &err);
}

static void filtered_negatives_are_no_edges(void **state)
{
    const struct fixture *f = *state;
    struct pair_request request = request_of(f, NEGATIVE_UNIFORM);
    int edges = 0;
    for (int filters = 0; filters < 2; filters++) {
        request.known = filters ? &f->known : NULL;
        for (request.round = 0; request.round < 50; request.round++)
            for (uint32_t i = 0; i < POSITIVES; i++)
                for (uint32_t k = 0; k < NEGATIVES; k++) {
                    const uint32_t node = pair_drawer_negative(&request, NODE_COUNT, i, k);
                    const bool is_bad = node == f->source[i] || is_edge(f, f->source[i], node);
                    edges += is_bad && !filters;
                    assert_false(is_bad && filters);
                }
    }
    assert_true(edges > 10);
}

/* The other way round: the negative leads to the target, by no edge unless most nodes have one there; and the draws of edges that
 * keep their source are as before. */
static void sources_are_corrupted(void **state)
{
    struct fixture *f = *state;
    struct error err = {0};
    struct drawn_pairs drawn;
    struct pair_request request = request_of(f, NEGATIVE_UNIFORM), plain = request;
    int kept_sources = 0, edges = 0, corrupted = 0;
    request.known = plain.known = &f->known;
    request.corrupt = CORRUPT_BOTH;
    for (request.round = 0; request.round < 20; request.round++) {
        plain.round = request.round;
        assert_ok(pair_drawer_draw(f->drawer, &request, &drawn, &err), &err);
        assert_int_equal(drawn.pairs.corrupt, CORRUPT_BOTH);
        for (uint32_t i = 0; i < POSITIVES; i++)
            for (uint32_t k = 0; k < NEGATIVES; k++) {
                const uint32_t node =
                    drawn.seed_node[drawn.pairs.target[POSITIVES + i * NEGATIVES + k]];
                if (i % 2) {
                    corrupted++;
                    edges += in_degree(f, f->target[i]) < NODE_COUNT / 2 &&
                             (node == f->target[i] || is_edge(f, node, f->target[i]));
                    continue;
                }
                assert_int_equal(node, pair_drawer_negative(&plain, NODE_COUNT, i, k));
                kept_sources++;
            }
    }
    assert_true(kept_sources > 0);
    assert_true(corrupted > 0);
    assert_int_equal(edges, 0);
}

/* Returns where the edges begin that are left out of the rows of seed `seed`. */
static uint32_t excluded_from(const struct drawn_pairs *drawn, uint32_t seed)
{
    uint32_t at = drawn->excluded.begin[0];
    while (at < drawn->excluded.begin[1] && drawn->excluded.seed[at] < seed)
        at++;
    return at;
}

static void edges_and_reverses_are_left_out(void **state)
{
    struct fixture *f = *state;
    struct error err = {0};
    struct drawn_pairs drawn;
    const struct pair_request request = request_of(f, NEGATIVE_UNIFORM);
    uint32_t reverses = 0;
    assert_ok(pair_drawer_draw(f->drawer, &request, &drawn, &err), &err);
    assert_true(drawn.has_excluded);
    for (uint32_t s = 0; s < drawn.seed_count; s++) {
        const uint32_t node = drawn.seed_node[s];
        const uint64_t start = f->graph.row_start[node];
        uint32_t at = excluded_from(&drawn, s);
        for (uint64_t e = start; e < f->graph.row_start[node + 1]; e++) {
            bool is_example = false;
            for (uint32_t i = 0; i < POSITIVES; i++) {
                const bool back = f->source[i] == node && f->target[i] == f->graph.neighbor[e];
                is_example = is_example || back ||
                             (f->target[i] == node && f->source[i] == f->graph.neighbor[e]);
                reverses += back;
            }
            if (is_example)
                assert_int_equal(drawn.excluded.position[at++], e - start);
        }
        assert_int_equal(at, excluded_from(&drawn, s + 1));
    }
    assert_true(reverses > 0);
}

/* The graph without what is left out of the seeds' rows. */
static void make_thin(const struct fixture *f, const struct drawn_pairs *drawn,
                      struct random_graph *thin, const float *weight, float *thin_weight)
{
    uint64_t to = 0;
    thin->row_start = memory_alloc(NODE_COUNT + 1, sizeof *thin->row_start);
    thin->neighbor = memory_alloc(f->graph.row_start[NODE_COUNT], sizeof *thin->neighbor);
    for (uint32_t node = 0; node < NODE_COUNT; node++) {
        const uint64_t start = f->graph.row_start[node];
        uint32_t s = 0;
        while (s < drawn->seed_count && drawn->seed_node[s] != node)
            s++;
        uint32_t at = s < drawn->seed_count ? excluded_from(drawn, s) : 0;
        const uint32_t end = s < drawn->seed_count ? excluded_from(drawn, s + 1) : 0;
        for (uint64_t e = start; e < f->graph.row_start[node + 1]; e++) {
            if (at < end && drawn->excluded.position[at] == e - start) {
                at++;
                continue;
            }
            thin_weight[to] = weight[e];
            thin->neighbor[to++] = f->graph.neighbor[e];
        }
        thin->row_start[node + 1] = to;
    }
}

static struct neighbor_sampler *sampler_on(const struct topology *topology)
{
    struct error err = {0};
    struct neighbor_sampler *sampler = NULL;
    const struct neighbor_sampler_config config = {.topology = topology};
    assert_ok(neighbor_sampler_new(&config, &sampler, &err), &err);
    return sampler;
}

/* Left-out edges are as if the graph had them not, for every fan-out and sampler. */
static void a_batch_is_that_of_the_graph_without_them(void **state)
{
    struct fixture *f = *state;
    static const int64_t fanouts[][2] = {{3, 4}, {70, 2}, {FANOUT_ALL, 2}, {200, FANOUT_ALL}};
    struct error err = {0};
    struct drawn_pairs drawn;
    struct random_graph thin;
    struct memory_topology thin_memory;
    const struct pair_request request = request_of(f, NEGATIVE_UNIFORM);
    assert_ok(pair_drawer_draw(f->drawer, &request, &drawn, &err), &err);
    const uint64_t edges = f->graph.row_start[NODE_COUNT];
    float *weight = memory_alloc(edges, sizeof *weight);
    float *thin_weight = memory_alloc(edges, sizeof *thin_weight);
    for (uint64_t e = 0; e < edges; e++)
        weight[e] = (float)(1 + e % 17);
    make_thin(f, &drawn, &thin, weight, thin_weight);
    memory_topology_make(&thin_memory, thin.row_start, thin.neighbor, book, PARTS);
    struct edge_columns_view columns = {.width.of[EDGE_WEIGHT] = 1, .data[EDGE_WEIGHT] = weight};
    memory_topology_give(&f->memory, &columns, NULL);
    columns.data[EDGE_WEIGHT] = thin_weight;
    memory_topology_give(&thin_memory, &columns, NULL);
    struct neighbor_sampler *full = sampler_on(&f->memory.topology);
    struct neighbor_sampler *other = sampler_on(&thin_memory.topology);
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < sizeof fanouts / sizeof *fanouts; i++) {
            const struct sampler *sampler =
                sampler_of(kind ? SAMPLER_WEIGHTED_NEIGHBOR : SAMPLER_NEIGHBOR);
            struct mini_batch a, b;
            struct neighbor_request wanted = {.seed = 9,
                                              .round = (uint32_t)i,
                                              .hop_count = 2,
                                              .fanout = fanouts[i],
                                              .seed_node = drawn.seed_node,
                                              .seed_count = drawn.seed_count,
                                              .edge_columns = 1U << EDGE_WEIGHT};
            assert_ok(sampler->draw(other, &wanted, &b, &err), &err);
            wanted.excluded = &drawn.excluded;
            assert_ok(sampler->draw(full, &wanted, &a, &err), &err);
            assert_int_equal(a.node_count, b.node_count);
            assert_int_equal(a.edge_count, b.edge_count);
            assert_memory_equal(a.node, b.node, a.node_count * sizeof *a.node);
            assert_memory_equal(a.row_start, b.row_start, (a.row_count + 1) * sizeof *a.row_start);
            assert_memory_equal(a.neighbor, b.neighbor, a.edge_count * sizeof *a.neighbor);
            assert_memory_equal(a.columns.data[EDGE_WEIGHT], b.columns.data[EDGE_WEIGHT],
                                a.edge_count * sizeof *weight);
        }
    neighbor_sampler_free(full);
    neighbor_sampler_free(other);
    memory_topology_release(&thin_memory);
    memory_free(thin.row_start);
    memory_free(thin.neighbor);
    memory_free(weight);
    memory_free(thin_weight);
}

static void a_node_out_of_range_is_named(void **state)
{
    struct fixture *f = *state;
    struct error err = {0};
    struct drawn_pairs drawn;
    const struct pair_request request = request_of(f, NEGATIVE_UNIFORM);
    f->target[7] = NODE_COUNT;
    assert_fails(pair_drawer_draw(f->drawer, &request, &drawn, &err), ERROR_CORRUPT,
                 "edge 7 joins nodes", &err);
}

#define PAIR_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Without their reverses the edges alone are left out. */
static void labelled_edges_say_what_is_left_out(void **state)
{
    struct fixture *f = *state;
    struct error err = {0};
    struct drawn_pairs drawn;
    float label[POSITIVES];
    struct pair_request request = request_of(f, NEGATIVE_UNIFORM);
    request.negatives = 0;
    request.label = label;
    uint32_t left_out[EXCLUDE_REVERSES + 1] = {0};
    for (int kind = EXCLUDE_NONE; kind <= EXCLUDE_REVERSES; kind++) {
        request.excludes = (enum excluded_edges_kind)kind;
        assert_ok(pair_drawer_draw(f->drawer, &request, &drawn, &err), &err);
        assert_ptr_equal(drawn.pairs.label, label);
        assert_int_equal(drawn.has_excluded, kind != EXCLUDE_NONE);
        if (drawn.has_excluded)
            left_out[kind] = drawn.excluded.begin[1];
    }
    assert_true(left_out[EXCLUDE_EDGES] > 0);
    assert_true(left_out[EXCLUDE_REVERSES] > left_out[EXCLUDE_EDGES]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(sources_are_corrupted),
        PAIR_TEST(every_position_is_an_edge),
        PAIR_TEST(known_pairs_are_the_edges),
        PAIR_TEST(seeds_are_the_ends_of_the_pairs),
        PAIR_TEST(negatives_of_a_batch_are_its_own),
        PAIR_TEST(negatives_have_their_chances),
        PAIR_TEST(filtered_negatives_are_no_edges),
        PAIR_TEST(edges_and_reverses_are_left_out),
        PAIR_TEST(a_batch_is_that_of_the_graph_without_them),
        PAIR_TEST(a_node_out_of_range_is_named),
        cmocka_unit_test_setup_teardown(labelled_edges_say_what_is_left_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
