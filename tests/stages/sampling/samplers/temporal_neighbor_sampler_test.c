/* Neighbourhoods of the past: nothing later than the seed, whatever the fan-out; draws by chi-square; the latest by hand. */
#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { DRAWS = 30000 };

static struct mini_batch draw(struct sampler_fixture *f, const struct neighbor_request *request)
{
    struct error err = {0};
    struct mini_batch batch = {0};
    assert_ok(sampler_of(SAMPLER_TEMPORAL_NEIGHBOR)->draw(f->sampler, request, &batch, &err), &err);
    assert_int_equal(batch.form, BATCH_NESTED);
    return batch;
}

static const struct sampler_options last = {.temporal_strategy = TEMPORAL_LAST};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t time_of(const struct sampler_fixture *f, uint32_t v, uint32_t u)
{
    for (uint64_t e = f->row_start[v]; e < f->row_start[v + 1]; e++)
        if (f->neighbor[e] == u)
            return f->time[e];
    return EDGE_TIME_LAST;
}

/* The graph of a dataset of an earlier release, whose times are doubles in the same order: half as
 * large, so that some have fractions. */
static void times_that_are_doubles_give_the_same_batches(void **state)
{
    (void)state;
    struct sampler_fixture now, before;
    static double old_time[FIXTURE_EDGES_MAX];
    int64_t old_seed_time[3];
    struct edge_columns_view columns = {.width = {{[EDGE_WEIGHT] = 1, [EDGE_TIME_F64] = 1}}};
    sampler_fixture_open(&now);
    sampler_fixture_open(&before);
    for (uint64_t e = 0; e < before.row_start[FIXTURE_NODES]; e++)
        old_time[e] = (double)before.time[e] / 2;
    columns.data[EDGE_WEIGHT] = before.weight;
    columns.data[EDGE_TIME_F64] = old_time;
    memory_topology_give(&before.graph, &columns, before.weight_sum);
    for (uint32_t i = 0; i < 200; i++) {
        struct neighbor_request request =
            sampler_fixture_request(&now, sampler_of(SAMPLER_TEMPORAL_NEIGHBOR), i);
        request.options = i % 2 ? &last : request.options;
        const struct mini_batch batch = draw(&now, &request);
        for (int s = 0; s < 3; s++)
            old_seed_time[s] = edge_time_of_double((double)request.times.seed_time[s] / 2);
        request.times.seed_time = old_seed_time;
        const struct mini_batch old = draw(&before, &request);
        assert_int_equal(old.node_count, batch.node_count);
        assert_memory_equal(old.node, batch.node, batch.node_count * sizeof *batch.node);
        assert_int_equal(old.edge_count, batch.edge_count);
        assert_memory_equal(old.neighbor, batch.neighbor,
                            batch.edge_count * sizeof *batch.neighbor);
    }
    sampler_fixture_close(&before);
    sampler_fixture_close(&now);
}

static void no_edge_is_later_than_its_seed(void **state)
{
    (void)state;
    struct sampler_fixture f;
    bool has_state[3] = {false}; /* a node seen by two seeds in two states */
    sampler_fixture_open(&f);
    for (uint32_t i = 0; i < 2000; i++) {
        struct neighbor_request request =
            sampler_fixture_request(&f, sampler_of(SAMPLER_TEMPORAL_NEIGHBOR), i);
        static const int64_t all[] = {FANOUT_ALL, FANOUT_ALL};
        request.fanout = i % 3 ? request.fanout : all;
        request.options = i % 2 ? &last : request.options;
        request.wants_degree = request.wants_weight_sum = true;
        request.edge_columns = 1U << EDGE_TIME | 1U << EDGE_WEIGHT;
        const struct mini_batch batch = draw(&f, &request);
        for (uint32_t row = 0; row < batch.row_count; row++) {
            const int64_t seed_time = request.times.seed_time[batch.seed_of[row]];
            uint32_t early = 0;
            double weights = 1;
            for (uint32_t u = 0; u < FIXTURE_NODES; u++)
                if (f.linked[batch.node[row]][u] && time_of(&f, batch.node[row], u) <= seed_time) {
                    early++;
                    weights += 1 + (batch.node[row] + u) % 5;
                }
            assert_int_equal(batch.degree[row], early); /* of that time, not of the whole graph */
            assert_true(fabs((double)batch.weight_sum[row] - weights) < 1e-5);
            const uint32_t kept = batch.row_start[row + 1] - batch.row_start[row];
            assert_int_equal(kept, request.fanout[0] < 0 || early < 4 ? early : 4);
            for (uint32_t e = batch.row_start[row]; e < batch.row_start[row + 1]; e++) {
                const uint32_t u = batch.node[batch.neighbor[e]];
                assert_true(((const int64_t *)batch.columns.data[EDGE_TIME])[e] <= seed_time);
                assert_true(time_of(&f, batch.node[row], u) <= seed_time);
                assert_int_equal(batch.seed_of[batch.neighbor[e]], batch.seed_of[row]);
            }
            has_state[batch.seed_of[row]] |= row >= 3 && batch.node[row] == f.train[0];
        }
    }
    assert_true(has_state[1] || has_state[2]);
    sampler_fixture_close(&f);
}

/* With only_earlier an edge at the seed's own time is not there either, nor in degrees and sums. */
static void an_edge_at_the_time_of_the_seed_may_be_left_out(void **state)
{
    (void)state;
    static const int64_t all[] = {FANOUT_ALL, FANOUT_ALL};
    struct sampler_fixture f;
    uint32_t at_the_time = 0;
    sampler_fixture_open(&f);
    for (uint32_t v = 0; v < FIXTURE_NODES; v++)
        for (uint64_t e = f.row_start[v]; e < f.row_start[v + 1]; e++) {
            const int64_t time = f.time[e];
            struct neighbor_request request =
                sampler_fixture_request(&f, sampler_of(SAMPLER_TEMPORAL_NEIGHBOR), 0);
            request.fanout = all;
            request.hop_count = 2;
            request.seed_node = &v;
            request.seed_count = 1;
            request.times.seed_time = &time;
            request.times.only_earlier = true;
            request.wants_degree = request.wants_weight_sum = true;
            request.edge_columns = 1U << EDGE_TIME | 1U << EDGE_WEIGHT;
            const struct mini_batch batch = draw(&f, &request);
            for (uint32_t row = 0; row < batch.row_count; row++) {
                uint32_t early = 0;
                double weights = 1;
                for (uint32_t u = 0; u < FIXTURE_NODES; u++) {
                    const int64_t own =
                        f.linked[batch.node[row]][u] ? time_of(&f, batch.node[row], u) : INT64_MAX;
                    early += own < time;
                    weights += own < time ? 1 + (batch.node[row] + u) % 5 : 0;
                    at_the_time += own == time;
                }
                assert_int_equal(batch.row_start[row + 1] - batch.row_start[row], early);
                assert_int_equal(batch.degree[row], early);
                assert_true(fabs((double)batch.weight_sum[row] - weights) < 1e-5);
            }
        }
    assert_true(at_the_time > 100);
    sampler_fixture_close(&f);
}

/* An edge that is planted in the future is as if it were not there. */
static void a_planted_future_changes_no_bit(void **state)
{
    (void)state;
    struct sampler_fixture f;
    static uint32_t neighbor[2][4096], node[2][4096];
    uint32_t edges[2] = {0}, nodes[2] = {0};
    for (int planted = 0; planted < 2; planted++) {
        sampler_fixture_open(&f);
        for (uint64_t e = 0; planted && e < f.row_start[FIXTURE_NODES]; e++)
            if (f.time[e] > 80)
                f.time[e] = 1000000000; /* the latest seed's time is 80 */
        for (uint32_t i = 0; i < 20; i++) {
            const struct neighbor_request request =
                sampler_fixture_request(&f, sampler_of(SAMPLER_TEMPORAL_NEIGHBOR), i);
            const struct mini_batch batch = draw(&f, &request);
            must(edges[planted] + batch.edge_count < 4096 &&
                 nodes[planted] + batch.node_count < 4096);
            memcpy(neighbor[planted] + edges[planted], batch.neighbor,
                   batch.edge_count * sizeof *batch.neighbor);
            memcpy(node[planted] + nodes[planted], batch.node,
                   batch.node_count * sizeof *batch.node);
            edges[planted] += batch.edge_count;
            nodes[planted] += batch.node_count;
        }
        sampler_fixture_close(&f);
    }
    assert_int_equal(edges[0], edges[1]);
    assert_int_equal(nodes[0], nodes[1]);
    assert_memory_equal(neighbor[0], neighbor[1], edges[0] * sizeof **neighbor);
    assert_memory_equal(node[0], node[1], nodes[0] * sizeof **node);
}

static uint64_t place_of(const struct sampler_fixture *f, uint32_t v, uint32_t u)
{
    uint64_t e = f->row_start[v];
    while (f->neighbor[e] != u)
        e++;
    return e;
}

/* Whether the edge from u to v at that time may be in the rows of the ends of the edge from s to t at `time`. */
static bool may_be_seen(enum excluded_edges_kind kind, uint32_t u, uint32_t v, int64_t own,
                        uint32_t s, uint32_t t, int64_t time)
{
    if (own > time)
        return false;
    const bool is_edge = u == s && v == t, is_reverse = u == t && v == s;
    return own < time ||
           !((is_edge && kind != EXCLUDE_NONE) || (is_reverse && kind == EXCLUDE_REVERSES));
}

/* Two seeds for each edge and one for a negative, which all see what was there before it, at all hops; its reverse is of the same
 * time, or earlier. */
static void the_edge_of_a_pair_is_in_none_of_its_rows(void **state)
{
    (void)state;
    struct sampler_fixture f;
    static const int64_t all[] = {FANOUT_ALL, FANOUT_ALL};
    uint32_t tried = 0;
    sampler_fixture_open(&f);
    for (uint32_t t = 0; t < FIXTURE_NODES; t++)
        for (uint32_t s = 0; s < FIXTURE_NODES; s++)
            for (uint32_t i = 0; i < 6 && s != t && f.linked[t][s] && f.linked[s][t]; i++) {
                const enum excluded_edges_kind kind = (enum excluded_edges_kind)(i / 2);
                int64_t *back = &f.time[place_of(&f, s, t)];
                const int64_t time = time_of(&f, t, s), kept = *back;
                const uint32_t seeds[] = {s, t, (s + t) % FIXTURE_NODES};
                const int64_t times[] = {time, time, time};
                const uint32_t edges[] = {0, 0, 0};
                struct neighbor_request request =
                    sampler_fixture_request(&f, sampler_of(SAMPLER_TEMPORAL_NEIGHBOR), i);
                *back = i % 2 ? time : time - 1;
                request.seed_node = seeds;
                request.times.seed_time = times;
                request.seed_count = 3;
                request.times.edge = edges;
                request.times.source = seeds;
                request.times.target = seeds + 1;
                request.fanout = all;
                request.wants_degree = true;
                request.times.exclusion = kind;
                const struct mini_batch batch = draw(&f, &request);
                for (uint32_t row = 0; row < batch.row_count; row++) {
                    const uint32_t v = batch.node[row];
                    uint32_t expected = 0;
                    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
                        expected += f.linked[v][u] &&
                                    may_be_seen(kind, u, v, time_of(&f, v, u), s, t, time);
                    assert_int_equal(batch.row_start[row + 1] - batch.row_start[row], expected);
                    assert_int_equal(batch.degree[row], expected);
                    for (uint32_t e = batch.row_start[row]; e < batch.row_start[row + 1]; e++) {
                        const uint32_t u = batch.node[batch.neighbor[e]];
                        assert_true(may_be_seen(kind, u, v, time_of(&f, v, u), s, t, time));
                    }
                }
                *back = kept;
                tried++;
            }
    assert_true(tried > 100);
    sampler_fixture_close(&f);
}

static void early_edges_are_as_likely_as_each_other(void **state)
{
    (void)state;
    struct sampler_fixture f;
    const int64_t one = 1;
    uint32_t seen[FIXTURE_NODES] = {0}, early = 0;
    double chance[FIXTURE_NODES] = {0};
    sampler_fixture_open(&f);
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct neighbor_request request =
            sampler_fixture_request(&f, sampler_of(SAMPLER_TEMPORAL_NEIGHBOR), i);
        request.hop_count = 1;
        request.fanout = &one;
        const struct mini_batch batch = draw(&f, &request);
        seen[batch.node[batch.neighbor[0]]]++;
    }
    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
        early += f.linked[f.train[0]][u] && time_of(&f, f.train[0], u) <= 50;
    assert_true(early > 3);
    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
        if (f.linked[f.train[0]][u] && time_of(&f, f.train[0], u) <= 50)
            chance[u] = 1.0 / early;
    chi_square_check(seen, chance, FIXTURE_NODES);
    sampler_fixture_close(&f);
}

static void the_last_ones_are_the_latest(void **state)
{
    (void)state;
    struct sampler_fixture f;
    const int64_t two = 2;
    sampler_fixture_open(&f);
    struct neighbor_request request =
        sampler_fixture_request(&f, sampler_of(SAMPLER_TEMPORAL_NEIGHBOR), 0);
    request.hop_count = 1;
    request.fanout = &two;
    request.options = &last;
    const struct mini_batch batch = draw(&f, &request);
    for (uint32_t s = 0; s < 3; s++) {
        int64_t least = EDGE_TIME_LAST;
        uint32_t later = 0;
        for (uint32_t e = batch.row_start[s]; e < batch.row_start[s + 1]; e++)
            least = smaller(least, time_of(&f, f.train[s], batch.node[batch.neighbor[e]]));
        for (uint32_t u = 0; u < FIXTURE_NODES; u++) {
            const int64_t time =
                f.linked[f.train[s]][u] ? time_of(&f, f.train[s], u) : EDGE_TIME_LAST;
            later += time > least && time <= request.times.seed_time[s];
        }
        assert_true(later <= 1);
    }
    sampler_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_edge_is_later_than_its_seed),
        cmocka_unit_test(times_that_are_doubles_give_the_same_batches),
        cmocka_unit_test(an_edge_at_the_time_of_the_seed_may_be_left_out),
        cmocka_unit_test(a_planted_future_changes_no_bit),
        cmocka_unit_test(the_edge_of_a_pair_is_in_none_of_its_rows),
        cmocka_unit_test(early_edges_are_as_likely_as_each_other),
        cmocka_unit_test(the_last_ones_are_the_latest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
