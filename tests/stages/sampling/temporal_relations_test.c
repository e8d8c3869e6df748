/* Neighbourhoods of the past over several relations: against a slow sampler that follows the rule
 * edge by edge, against chance, and against edges of the future that give everything away. */
#include "stages/sampling/pairs/pair_drawer.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/objects/keys.h"

#include "tests/stages/sampling/relation_sampling.h"
#include "tests/stages/sampling/samplers/sampler_fixture.h"
#include "tests/support/slow_relations.h"

enum { HOPS = 2, SEEDS = 6, LATEST = 70 };

static struct typed_edges edges;
static struct slow_relations slow = {.edges = &edges};
static const struct relation *relation; /* [TYPED_RELATIONS] */

/* Two authors, three papers of which one stands twice, at two times, and a venue. */
static const uint32_t seed_node[SEEDS] = {4, 31, 70, 70, 101, TYPED_NODES - 2};
static const int64_t seed_time[SEEDS] = {50, 12, LATEST, 25, 60, 40};
static const int64_t few[TYPED_RELATIONS * HOPS] = {3, 2, 2, 2, -1, 1, 0, 3};
static const int64_t all[TYPED_RELATIONS * HOPS] = {-1, -1, -1, -1, -1, -1, -1, -1};
static const struct sampler_options last = {.temporal_strategy = TEMPORAL_LAST};

/* Opens a partition of that name, with the edges as they are now. */
static struct fixture *open_edges(void **state, const char *partition_id)
{
    static struct fixture f;
    const struct partition_book book = typed_book(partition_id);
    fixture_open(&f, state, partition_id, &edges, &book, false);
    relation = slow.relation = f.book.relation;
    return &f;
}

static struct fixture *open_fixture(void **state)
{
    typed_edges_fill(&edges);
    return open_edges(state, "p");
}

static struct neighbor_request request_of(const int64_t *fanout, uint32_t slot)
{
    return (struct neighbor_request){.seed = 11,
                                     .round = 3,
                                     .slot = slot,
                                     .hop_count = HOPS,
                                     .fanout = fanout,
                                     .seed_node = seed_node,
                                     .seed_count = SEEDS,
                                     .times = {.seed_time = seed_time},
                                     .options = &sampler_fixture_options,
                                     .wants_degree = true,
                                     .edge_columns = 1U << EDGE_WEIGHT | 1U << EDGE_TIME};
}

static struct mini_batch draw(struct fixture *f, const struct neighbor_request *request)
{
    struct mini_batch batch = {0};
    assert_ok(sampler_of(SAMPLER_TEMPORAL_NEIGHBOR)->draw(f->sampler, request, &batch, &f->err),
              &f->err);
    assert_int_equal(batch.form, BATCH_NESTED);
    return batch;
}

/* --- tests --- */

static void draws_follow_the_rule(void **state)
{
    struct fixture *f = open_fixture(state);
    for (uint32_t slot = 0; slot < 20; slot++) {
        const struct neighbor_request request = request_of(slot % 4 ? few : all, slot);
        const struct mini_batch batch = draw(f, &request);
        slow_draw(&slow, &request);
        slow_assert_same(&batch, &slow);
        assert_memory_equal(batch.seed_time, seed_time, sizeof seed_time);
    }
    close_fixture(f);
}

/* Whatever the strategy and the fan-outs. Degrees are of that time, too. */
static void no_edge_of_any_relation_is_later_than_its_seed(void **state)
{
    struct fixture *f = open_fixture(state);
    uint32_t seen = 0, reached[TYPED_RELATIONS] = {0};
    for (uint32_t slot = 0; slot < 500; slot++) {
        struct neighbor_request request = request_of(slot % 3 ? few : all, slot);
        request.options = slot % 2 ? &last : request.options;
        const struct mini_batch batch = draw(f, &request);
        const int64_t *time = batch.columns.data[EDGE_TIME];
        for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
            for (uint32_t i = batch.row_begin[r]; i < batch.row_begin[r + 1]; i++) {
                const uint32_t at = batch.node_begin[relation[r].target_type] + batch.row[i];
                const int64_t limit = seed_time[batch.seed_of[at]];
                uint32_t early = 0;
                for (uint32_t e = 0; e < TYPED_EDGES; e++)
                    early += edges.relation[e] == r && edges.target[e] == batch.node[at] &&
                             edges.time[e] <= limit;
                assert_int_equal(batch.degree[i], early);
                for (uint32_t e = batch.row_start[i + r]; e < batch.row_start[i + r + 1]; e++) {
                    assert_true(time[batch.edge_begin[r] + e] <= limit);
                    seen++;
                    reached[r]++;
                }
            }
    }
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
        assert_true(reached[r] > 500);
    assert_true(seen > 10000);
    close_fixture(f);
}

/* Everything that a batch holds, as one number. */
static uint64_t digest(const struct mini_batch *batch)
{
    uint64_t hash = 1;
    for (uint32_t i = 0; i < batch->node_count; i++)
        hash = (hash ^ batch->node[i] ^ (uint64_t)batch->seed_of[i] << 32) * 0x9E3779B97F4A7C15U;
    for (uint32_t e = 0; e < batch->edge_count; e++)
        hash = (hash ^ batch->neighbor[e]) * 0x9E3779B97F4A7C15U;
    for (uint32_t i = 0; i < batch->row_count; i++)
        hash = (hash ^ batch->row[i] ^ (uint64_t)batch->degree[i] << 32) * 0x9E3779B97F4A7C15U;
    return hash;
}

/* Edges that are planted after the latest seed, with other sources, are as if they were not
 * there. */
static void a_planted_future_changes_no_bit(void **state)
{
    enum { BATCHES = 40 };
    static uint64_t before[BATCHES], after[BATCHES];
    uint32_t planted = 0;
    struct fixture *f = open_fixture(state);
    for (uint32_t i = 0; i < BATCHES; i++) {
        const struct neighbor_request request = request_of(i % 4 ? few : all, i);
        const struct mini_batch batch = draw(f, &request);
        before[i] = digest(&batch);
    }
    close_fixture(f);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        if (edges.time[e] > LATEST) {
            edges.time[e] += INT64_C(1) << 40;
            planted++;
        }
    f = open_edges(state, "planted");
    for (uint32_t i = 0; i < BATCHES; i++) {
        const struct neighbor_request request = request_of(i % 4 ? few : all, i);
        const struct mini_batch batch = draw(f, &request);
        after[i] = digest(&batch);
    }
    close_fixture(f);
    assert_true(planted > 100);
    assert_memory_equal(before, after, sizeof before);
}

/* A node that appears at a time is drawn as if all edges from it had that time, or their own later
 * one. */
static void no_node_is_drawn_before_it_appears(void **state)
{
    enum { BATCHES = 40 };
    static int64_t appears[TYPED_NODES];
    static uint64_t found[BATCHES];
    uint32_t late = 0;
    struct fixture *f = open_fixture(state);
    for (uint32_t v = 0; v < TYPED_NODES; v++)
        appears[v] = v % 3 ? 41 * v % 100 : EDGE_TIME_FIRST;
    f->topology.node_time = appears;
    for (uint32_t i = 0; i < BATCHES; i++) {
        const struct neighbor_request request = request_of(i % 4 ? few : all, i);
        const struct mini_batch batch = draw(f, &request);
        found[i] = digest(&batch);
    }
    close_fixture(f);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        if (appears[edges.source[e]] > edges.time[e]) {
            edges.time[e] = appears[edges.source[e]];
            late++;
        }
    assert_true(late > 100);
    f = open_edges(state, "later");
    for (uint32_t i = 0; i < BATCHES; i++) {
        const struct neighbor_request request = request_of(i % 4 ? few : all, i);
        const struct mini_batch batch = draw(f, &request);
        assert_true(digest(&batch) == found[i]);
    }
    close_fixture(f);
}

static void a_seed_may_have_the_time_at_which_it_appears(void **state)
{
    static const struct sampler_options own = {.seed_time = SEED_TIME_NODE};
    static int64_t appears[TYPED_NODES], time[2][TYPED_NODES];
    static uint32_t node[TYPED_NODES];
    struct fixture *f = open_fixture(state);
    for (uint32_t v = 0; v < TYPED_NODES; v++) {
        node[v] = v;
        appears[v] = v % 3 ? v : EDGE_TIME_FIRST;
    }
    f->topology.node_time = appears;
    assert_ok(seed_times_find(&f->topology, &own, node, TYPED_NODES, time[0], &f->err), &f->err);
    assert_ok(seed_times_find(&f->topology, &last, node, TYPED_NODES, time[1], &f->err), &f->err);
    for (uint32_t v = 0; v < TYPED_NODES; v++)
        assert_true(time[0][v] == (v % 3 ? (int64_t)v : time[1][v]));
    close_fixture(f);
}

/* Each early source of the longest row of a relation is the one that is kept as often as the
 * others. */
static void early_edges_are_as_likely_as_each_other(void **state)
{
    enum { DRAWS = 30000, AT = 60 };
    static const int64_t one[TYPED_RELATIONS] = {0, 1, 0, 0};
    static const int64_t time = AT;
    struct fixture *f = open_fixture(state);
    uint32_t best = 0, most = 0, seen[TYPED_NODES] = {0};
    double chance[TYPED_NODES] = {0};
    for (uint32_t v = TYPED_AUTHORS; v < TYPED_AUTHORS + TYPED_PAPERS; v++) {
        uint32_t early = 0;
        for (uint32_t e = 0; e < TYPED_EDGES; e++)
            early += edges.relation[e] == 1 && edges.target[e] == v && edges.time[e] <= AT;
        best = early > most ? v : best;
        most = early > most ? early : most;
    }
    assert_true(most > 3);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        if (edges.relation[e] == 1 && edges.target[e] == best && edges.time[e] <= AT)
            chance[edges.source[e]] += 1.0 / most;
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct neighbor_request request = request_of(one, 0);
        request.round = i;
        request.hop_count = 1;
        request.seed_node = &best;
        request.seed_count = 1;
        request.times.seed_time = &time;
        const struct mini_batch batch = draw(f, &request);
        assert_int_equal(batch.edge_count, 1);
        seen[batch.node[batch.node_begin[1] + batch.neighbor[0]]]++;
    }
    chi_square_check(seen, chance, TYPED_NODES);
    close_fixture(f);
}

/* The time of a node is that of an edge in any relation that ends in its type. */
static void a_node_has_the_time_of_an_edge_of_any_relation(void **state)
{
    static const struct sampler_options first = {.seed_time = SEED_TIME_FIRST_EDGE};
    struct fixture *f = open_fixture(state);
    static uint32_t node[TYPED_NODES];
    static int64_t time[2][TYPED_NODES];
    for (uint32_t v = 0; v < TYPED_NODES; v++)
        node[v] = v;
    assert_ok(seed_times_find(&f->topology, &last, node, TYPED_NODES, time[0], &f->err), &f->err);
    assert_ok(seed_times_find(&f->topology, &first, node, TYPED_NODES, time[1], &f->err), &f->err);
    for (uint32_t v = 0; v < TYPED_NODES; v++) {
        int64_t latest = EDGE_TIME_FIRST, earliest = EDGE_TIME_LAST;
        for (uint32_t e = 0; e < TYPED_EDGES; e++)
            if (edges.target[e] == v) {
                latest = edges.time[e] > latest ? edges.time[e] : latest;
                earliest = edges.time[e] < earliest ? edges.time[e] : earliest;
            }
        assert_true(time[0][v] == latest && time[1][v] == earliest);
    }
    node[0] = TYPED_NODES;
    assert_fails(seed_times_find(&f->topology, &last, node, 1, time[0], &f->err), ERROR_CORRUPT,
                 "node 160: expected below 160", &f->err);
    close_fixture(f);
}

/* Makes the edge an example of the drawer, with a negative, and draws all that its seeds see. */
static struct mini_batch draw_pair(struct fixture *f, struct pair_drawer *drawer,
                                   const struct pair_ends *ends, uint32_t e,
                                   enum excluded_edges_kind kind, struct time_limits *limits)
{
    struct drawn_pairs drawn;
    const struct pair_request pair = {.seed = 5,
                                      .negatives = 1,
                                      .ends = ends,
                                      .positive_count = 1,
                                      .source = &edges.source[e],
                                      .target = &edges.target[e],
                                      .type = &edges.relation[e],
                                      .time = {.word = &edges.time[e]},
                                      .excludes = kind};
    assert_ok(pair_drawer_draw(drawer, &pair, &drawn, &f->err), &f->err);
    assert_int_equal(drawn.seed_count, 3);
    struct neighbor_request request = request_of(all, e);
    request.seed_node = drawn.seed_node;
    request.seed_count = drawn.seed_count;
    request.times = *limits = drawn.times;
    for (uint32_t i = 0; i < 3; i++)
        assert_true(limits->seed_time[i] == edges.time[e] && limits->edge[i] == 0);
    return draw(f, &request);
}

/* Whether edge `k` may be seen by the ends of edge `e`. */
static bool may_be_seen(uint32_t e, uint32_t k, enum excluded_edges_kind kind)
{
    enum { WRITES = 0, REV_WRITES = 3 };
    const bool forth = edges.source[k] == edges.source[e] && edges.target[k] == edges.target[e];
    const bool back = edges.source[k] == edges.target[e] && edges.target[k] == edges.source[e];
    const bool is_reverse = edges.relation[e] == WRITES && edges.relation[k] == REV_WRITES;
    if (edges.time[k] != edges.time[e] || kind == EXCLUDE_NONE)
        return edges.time[k] <= edges.time[e];
    if (edges.relation[k] == edges.relation[e])
        return !(forth || (back && kind == EXCLUDE_REVERSES));
    return !(is_reverse && back && kind == EXCLUDE_REVERSES);
}

/* The edge of a pair is in no row of its ends in its own relation, nor is its reverse in the
 * reverse relation; edges of other relations and earlier ones are. */
static void the_edge_of_a_pair_is_in_none_of_its_rows(void **state)
{
    static struct pair_ends ends;
    struct pair_drawer *drawer = NULL;
    uint32_t left_out[3] = {0};
    typed_edges_fill(&edges);
    for (uint32_t k = 0; k < TYPED_EDGES; k++) /* an edge back stands at the same time */
        for (uint32_t e = 0; e < k; e++)
            if (edges.source[k] == edges.target[e] && edges.target[k] == edges.source[e])
                edges.time[k] = edges.time[e];
    struct fixture *f = open_edges(state, "pairs");
    assert_ok(pair_ends_init(&ends, &f->book, &f->err), &f->err);
    assert_ok(pair_drawer_new(&f->topology, 0, &drawer, &f->err), &f->err);
    for (uint32_t n = 0; n < 3 * TYPED_EDGES; n++) {
        const enum excluded_edges_kind kind = (enum excluded_edges_kind)(n % 3);
        const uint32_t i = n / 3;
        struct time_limits limits;
        const struct mini_batch batch = draw_pair(f, drawer, &ends, i, kind, &limits);
        for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
            for (uint32_t row = batch.row_begin[r]; row < batch.row_begin[r + 1]; row++) {
                const uint32_t at = batch.node_begin[relation[r].target_type] + batch.row[row];
                uint32_t seen = 0, early = 0;
                for (uint32_t k = 0; k < TYPED_EDGES; k++)
                    if (edges.relation[k] == r && edges.target[k] == batch.node[at]) {
                        seen += may_be_seen(i, k, kind);
                        early += edges.time[k] <= edges.time[i];
                    }
                assert_int_equal(batch.row_start[row + r + 1] - batch.row_start[row + r], seen);
                assert_int_equal(batch.degree[row], seen);
                left_out[kind] += early - seen;
            }
    }
    assert_int_equal(left_out[EXCLUDE_NONE], 0);
    assert_true(left_out[EXCLUDE_EDGES] > 100);
    assert_true(left_out[EXCLUDE_REVERSES] > left_out[EXCLUDE_EDGES]);
    pair_drawer_free(drawer);
    pair_ends_release(&ends);
    close_fixture(f);
}

static void a_batch_reads_back_as_it_was_drawn(void **state)
{
    struct fixture *f = open_fixture(state);
    const struct neighbor_request request = request_of(few, 5);
    const struct mini_batch drawn = draw(f, &request);
    const struct key key = key_mini_batch("r", 3, 5);
    struct mini_batch batch = {0};
    struct arena scratch = {0};
    assert_ok(mini_batch_put(f->temp->store, key.text, "r", &drawn, &scratch, &f->err), &f->err);
    assert_ok(mini_batch_get(f->temp->store, key.text, "r", &batch, &f->err), &f->err);
    assert_int_equal(batch.node_count, drawn.node_count);
    assert_true(digest(&batch) == digest(&drawn));
    assert_memory_equal(batch.seed_time, seed_time, sizeof seed_time);
    mini_batch_release(&batch);
    arena_release(&scratch);
    close_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(draws_follow_the_rule),
        test_with_store(no_edge_of_any_relation_is_later_than_its_seed),
        test_with_store(a_planted_future_changes_no_bit),
        test_with_store(early_edges_are_as_likely_as_each_other),
        test_with_store(no_node_is_drawn_before_it_appears),
        test_with_store(a_seed_may_have_the_time_at_which_it_appears),
        test_with_store(a_node_has_the_time_of_an_edge_of_any_relation),
        test_with_store(the_edge_of_a_pair_is_in_none_of_its_rows),
        test_with_store(a_batch_reads_back_as_it_was_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
