/* Pairs on a graph with relations: which edges are learnt, negatives of the right type, seeds by type, and what is left out of the
 * neighbourhood, against going through all edges. */
#include "common/base/memory.h"
#include "stages/sampling/pairs/edge_positions.h"
#include "stages/sampling/pairs/negative_chances.h"
#include "stages/sampling/pairs/pair_drawer.h"
#include "stages/sampling/rows/neighbor_sampler.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"
#include "tests/support/typed_dataset.h"

#include <math.h>
#include <string.h>

enum { POSITIVES = 60, NEGATIVES = 7, TYPES = 3 };
enum { WRITES, CITES, IN, REV_WRITES };

static struct typed_edges edges;
/* The same graph with the reverse of each edge of `writes` as an edge of rev_writes, and none else. */
static struct typed_edges mirrored;

struct fixture {
    struct partition_book book;
    struct topology topology;
    struct pair_ends ends;
    struct edge_positions positions;
    struct pair_drawer *drawer;
    uint32_t source[POSITIVES], target[POSITIVES];
    uint16_t type[POSITIVES];
    struct error err;
};

static struct fixture f;

static void open_topology(struct store *store, const char *id, const struct typed_edges *of)
{
    f = (struct fixture){0};
    typed_topology_write(store, id, of);
    f.book = typed_book(id);
    assert_ok(topology_open(store, &f.book, &f.topology, &f.err), &f.err);
    assert_ok(topology_open_parts(&f.topology, NULL, &f.err), &f.err);
    assert_ok(pair_ends_init(&f.ends, &f.book, &f.err), &f.err);
    assert_ok(edge_positions_init(&f.positions, &f.topology, &f.ends.reverses, &f.err), &f.err);
    assert_ok(pair_drawer_new(&f.topology, 0, &f.drawer, &f.err), &f.err);
    const uint64_t count = edge_positions_count(&f.positions);
    for (uint32_t i = 0; i < POSITIVES; i++) {
        const struct edge_place place =
            edge_positions_find(&f.positions, (uint64_t)i * 7919 % count);
        f.source[i] = place.source;
        f.target[i] = place.target;
        f.type[i] = place.type;
    }
}

static void close_topology(void)
{
    pair_drawer_free(f.drawer);
    edge_positions_release(&f.positions);
    pair_ends_release(&f.ends);
    topology_close(&f.topology);
}

/* Every fourth edge of rev_writes is turned into the reverse of one of `writes`. */
static void mirror(void)
{
    uint32_t next = 0;
    mirrored = edges;
    for (uint32_t e = 0; e < TYPED_EDGES; e++) {
        if (edges.relation[e] != REV_WRITES)
            continue;
        while (next < TYPED_EDGES && edges.relation[next] != WRITES)
            next++;
        if (next == TYPED_EDGES)
            break;
        mirrored.source[e] = edges.target[next];
        mirrored.target[e] = edges.source[next];
        next++;
    }
    /* By target, source, relation again. */
    for (uint32_t i = 1; i < TYPED_EDGES; i++)
        for (uint32_t k = i; k > 0; k--) {
            const uint64_t a = (uint64_t)mirrored.target[k] << 40 |
                               (uint64_t)mirrored.source[k] << 8 | mirrored.relation[k];
            const uint64_t b = (uint64_t)mirrored.target[k - 1] << 40 |
                               (uint64_t)mirrored.source[k - 1] << 8 | mirrored.relation[k - 1];
            if (b <= a)
                break;
            const uint32_t source = mirrored.source[k], target = mirrored.target[k];
            const uint16_t relation = mirrored.relation[k];
            mirrored.source[k] = mirrored.source[k - 1];
            mirrored.target[k] = mirrored.target[k - 1];
            mirrored.relation[k] = mirrored.relation[k - 1];
            mirrored.source[k - 1] = source;
            mirrored.target[k - 1] = target;
            mirrored.relation[k - 1] = relation;
        }
}

static uint32_t type_of(uint32_t node)
{
    return node < TYPED_AUTHORS ? 0 : node < TYPED_AUTHORS + TYPED_PAPERS ? 1 : 2;
}

static struct pair_request request_of(enum negative_kind negative, enum corrupted_end corrupt)
{
    return (struct pair_request){.seed = 3,
                                 .round = 2,
                                 .slot = 1,
                                 .negative = negative,
                                 .negatives = NEGATIVES,
                                 .ends = &f.ends,
                                 .positive_count = POSITIVES,
                                 .source = f.source,
                                 .target = f.target,
                                 .type = f.type,
                                 .corrupt = corrupt,
                                 .excludes = EXCLUDE_REVERSES};
}

static void every_edge_but_those_of_reverses_is_learnt(void **state)
{
    struct temp_store *temp = *state;
    uint32_t count = 0, found[TYPED_EDGES] = {0};
    typed_edges_fill(&edges);
    open_topology(temp->store, "p", &edges);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        count += edges.relation[e] != REV_WRITES;
    assert_int_equal(edge_positions_count(&f.positions), count);
    for (uint64_t at = 0; at < count; at++) {
        const struct edge_place place = edge_positions_find(&f.positions, at);
        for (uint32_t e = 0; e < TYPED_EDGES; e++)
            found[e] += edges.source[e] == place.source && edges.target[e] == place.target &&
                        edges.relation[e] == place.type;
    }
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        assert_int_equal(found[e], edges.relation[e] != REV_WRITES);
    close_topology();
}

static void check_negatives(const struct pair_request *request)
{
    struct drawn_pairs drawn;
    bool differs = false;
    assert_ok(pair_drawer_draw(f.drawer, request, &drawn, &f.err), &f.err);
    for (uint32_t i = 1; i < drawn.seed_count; i++)
        assert_true(type_of(drawn.seed_node[i - 1]) <= type_of(drawn.seed_node[i]));
    for (uint64_t i = 0; i < seed_pairs_count(&drawn.pairs); i++) {
        const uint32_t positive = seed_pairs_positive(&drawn.pairs, i);
        const struct relation *relation = &f.book.relation[f.type[positive]];
        const uint32_t source = drawn.seed_node[drawn.pairs.source[positive]];
        const uint32_t other = drawn.seed_node[drawn.pairs.target[i]];
        const bool is_source = i >= POSITIVES && corrupts_source(request->corrupt, positive);
        assert_int_equal(source, f.source[positive]);
        if (i < POSITIVES)
            assert_int_equal(other, f.target[positive]);
        assert_int_equal(type_of(other), is_source ? relation->source_type : relation->target_type);
        differs |= i >= POSITIVES && other != (is_source ? source : f.target[positive]);
    }
    assert_true(differs);
}

static void negatives_are_of_the_type_of_the_end(void **state)
{
    struct temp_store *temp = *state;
    struct node_chances chances[TYPES] = {{0}};
    typed_edges_fill(&edges);
    open_topology(temp->store, "q", &edges);
    assert_ok(negative_chances_by_type(chances, &f.topology, &f.ends, 0, &f.err), &f.err);
    for (int negative = 0; negative < NEGATIVE_GIVEN; negative++) /* lists are of no relation */
        for (int corrupt = 0; corrupt < CORRUPT_COUNT; corrupt++) {
            struct pair_request request =
                request_of((enum negative_kind)negative, (enum corrupted_end)corrupt);
            request.chances = chances;
            check_negatives(&request);
        }
    assert_fails(negative_chances_by_type(chances, &f.topology, &f.ends, 100, &f.err),
                 ERROR_NO_MEMORY, "sample.negative is degree", &f.err);
    for (int t = 0; t < TYPES; t++)
        node_chances_release(&chances[t]);
    close_topology();
}

/* Nodes of a type come as often as their degree to the power of 3/4 says, and others never. */
static void chances_go_by_the_edges_of_all_relations(void **state)
{
    struct temp_store *temp = *state;
    struct node_chances chances[TYPES] = {{0}};
    double degree[TYPED_NODES] = {0}, sum = 0;
    typed_edges_fill(&edges);
    open_topology(temp->store, "c", &edges);
    assert_ok(negative_chances_by_type(chances, &f.topology, &f.ends, 0, &f.err), &f.err);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        degree[edges.target[e]]++;
    for (uint32_t i = 0; i < TYPED_PAPERS; i++) {
        const double root = sqrt(degree[TYPED_AUTHORS + i]);
        sum += root * sqrt(root);
        assert_true(fabs(chances[1].end[i] - sum) <= 1e-9 * sum);
    }
    for (int t = 0; t < TYPES; t++)
        node_chances_release(&chances[t]);
    close_topology();
}

/* Whether edge `e` of `of` is an example, the reverse of one, or of the same relation the way back of one, or that one's reverse. */
static bool gives_away(const struct typed_edges *of, uint32_t e)
{
    for (uint32_t i = 0; i < POSITIVES; i++) {
        const bool there = of->source[e] == f.source[i] && of->target[e] == f.target[i];
        const bool back = of->source[e] == f.target[i] && of->target[e] == f.source[i];
        if (of->relation[e] == f.type[i] && (there || (back && f.type[i] == CITES)))
            return true;
        if (f.type[i] == WRITES && of->relation[e] == REV_WRITES && back)
            return true;
    }
    return false;
}

/* With all neighbours the rows of seeds have every edge but those. */
static void examples_and_their_reverses_are_in_no_row(void **state)
{
    struct temp_store *temp = *state;
    struct neighbor_sampler *sampler = NULL;
    struct drawn_pairs drawn;
    struct mini_batch batch;
    uint32_t expected = 0, left_out[TYPED_RELATIONS] = {0};
    static const int64_t all[TYPED_RELATIONS] = {FANOUT_ALL, FANOUT_ALL, FANOUT_ALL, FANOUT_ALL};
    typed_edges_fill(&edges);
    mirror();
    open_topology(temp->store, "m", &mirrored);
    const struct neighbor_sampler_config config = {.topology = &f.topology, .book = &f.book};
    assert_ok(neighbor_sampler_new(&config, &sampler, &f.err), &f.err);
    const struct pair_request request = request_of(NEGATIVE_UNIFORM, CORRUPT_BOTH);
    assert_ok(pair_drawer_draw(f.drawer, &request, &drawn, &f.err), &f.err);
    assert_true(drawn.has_excluded);
    const struct neighbor_request neighbors = {.seed = 3,
                                               .round = 2,
                                               .slot = 1,
                                               .hop_count = 1,
                                               .fanout = all,
                                               .seed_node = drawn.seed_node,
                                               .seed_count = drawn.seed_count,
                                               .excluded = &drawn.excluded};
    assert_ok(neighbor_sampler_draw(sampler, &neighbors, &batch, &f.err), &f.err);
    for (uint32_t e = 0; e < TYPED_EDGES; e++) {
        bool is_seed = false;
        for (uint32_t i = 0; i < drawn.seed_count; i++)
            is_seed |= drawn.seed_node[i] == mirrored.target[e];
        left_out[mirrored.relation[e]] += is_seed && gives_away(&mirrored, e);
        expected += is_seed && !gives_away(&mirrored, e);
    }
    assert_true(left_out[WRITES] && left_out[CITES] && left_out[IN] && left_out[REV_WRITES]);
    assert_int_equal(batch.edge_count, expected);
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
        const struct relation *relation = &f.book.relation[r];
        for (uint32_t i = batch.row_begin[r]; i < batch.row_begin[r + 1]; i++)
            for (uint32_t k = batch.row_start[i + r]; k < batch.row_start[i + r + 1]; k++) {
                const uint32_t source = batch.node[batch.node_begin[relation->source_type] +
                                                   batch.neighbor[batch.edge_begin[r] + k]];
                const uint32_t target =
                    batch.node[batch.node_begin[relation->target_type] + batch.row[i]];
                bool found = false;
                for (uint32_t e = 0; e < TYPED_EDGES; e++)
                    if (mirrored.source[e] == source && mirrored.target[e] == target &&
                        mirrored.relation[e] == r) {
                        assert_false(gives_away(&mirrored, e));
                        found = true;
                    }
                assert_true(found);
            }
    }
    neighbor_sampler_free(sampler);
    close_topology();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(every_edge_but_those_of_reverses_is_learnt),
        test_with_store(negatives_are_of_the_type_of_the_end),
        test_with_store(chances_go_by_the_edges_of_all_relations),
        test_with_store(examples_and_their_reverses_are_in_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
