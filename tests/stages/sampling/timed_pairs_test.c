/* Pairs at times: each end of each pair is a seed of its own, at the time of its edge, and an edge is known from its time on. */
#include "common/base/memory.h"
#include "stages/sampling/pairs/negative_chances.h"
#include "stages/sampling/pairs/pair_drawer.h"

#include "tests/support/memory_topology.h"
#include "tests/support/test.h"

enum { NODES = 40, EDGES = 4 * NODES, POSITIVES = 24, NEGATIVES = 3 };

static const uint32_t book[] = {0, 15, NODES};

struct fixture {
    uint64_t row_start[NODES + 1];
    uint32_t neighbor[EDGES];
    int64_t time[EDGES];
    uint16_t type[EDGES];
    struct memory_topology memory;
    uint32_t source[POSITIVES], target[POSITIVES];
    int64_t when[POSITIVES];
};

/* Node v has edges from v + 1, v + 2 and v + 3, the last twice: at times 10 v, 10 v + 1, ... */
static int set_up(void **state)
{
    struct fixture *f = memory_alloc(1, sizeof *f);
    must(f != NULL);
    for (uint32_t v = 0; v < NODES; v++) {
        uint32_t row[4], count = 0;
        for (uint32_t k = 1; k <= 4; k++) { /* ascending */
            const uint32_t u = (v + (k < 4 ? k : 3)) % NODES;
            uint32_t at = count++;
            for (; at > 0 && row[at - 1] > u; at--)
                row[at] = row[at - 1];
            row[at] = u;
        }
        for (uint32_t k = 0; k < 4; k++) {
            f->neighbor[4 * v + k] = row[k];
            f->time[4 * v + k] = 10 * v + k;
            f->type[4 * v + k] = (uint16_t)(k % 2);
        }
        f->row_start[v + 1] = f->row_start[v] + 4;
    }
    memory_topology_make(&f->memory, f->row_start, f->neighbor, book, 2);
    const struct edge_columns_view columns = {.width.of[EDGE_TIME] = 1,
                                              .data[EDGE_TIME] = f->time,
                                              .width.of[EDGE_TYPE] = 1,
                                              .data[EDGE_TYPE] = f->type};
    memory_topology_give(&f->memory, &columns, NULL);
    for (uint32_t i = 0; i < POSITIVES; i++) {
        f->target[i] = i;
        f->source[i] = f->neighbor[4 * i + i % 4];
        f->when[i] = f->time[4 * i + i % 4];
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    memory_topology_release(&f->memory);
    memory_free(f);
    return 0;
}

static void each_end_is_a_seed_at_its_time(void **state)
{
    static const uint64_t start[] = {0, 2}, list[POSITIVES] = {0, EDGE_INDEX_NONE};
    static const uint32_t node[] = {3, 9};
    static const struct negative_ends given = {start, node};
    const struct fixture *f = *state;
    struct error err = {0};
    struct drawn_pairs drawn;
    struct pair_drawer *drawer = NULL;
    assert_ok(pair_drawer_new(&f->memory.topology, 0, &drawer, &err), &err);
    for (int kind = 0; kind < NEGATIVE_COUNT; kind++) {
        struct node_chances chances = {0};
        assert_ok(negative_chances_init(&chances, &f->memory.topology, 0, &err), &err);
        const struct pair_request request = {.seed = 3,
                                             .negative = (enum negative_kind)kind,
                                             .negatives = NEGATIVES,
                                             .chances = &chances,
                                             .given = &given,
                                             .given_list = list,
                                             .positive_count = POSITIVES,
                                             .source = f->source,
                                             .target = f->target,
                                             .time = {.word = f->when},
                                             .excludes = EXCLUDE_REVERSES};
        assert_ok(pair_drawer_draw(drawer, &request, &drawn, &err), &err);
        assert_int_equal(drawn.seed_count, POSITIVES * (2 + NEGATIVES));
        assert_false(drawn.has_excluded);
        const struct time_limits limits = drawn.times;
        assert_int_equal(limits.exclusion, EXCLUDE_REVERSES);
        for (size_t i = 0; i < POSITIVES; i++) {
            assert_int_equal(drawn.pairs.source[i], 2 * i);
            assert_int_equal(drawn.pairs.target[i], 2 * i + 1);
            assert_int_equal(drawn.seed_node[2 * i], f->source[i]);
            assert_int_equal(drawn.seed_node[2 * i + 1], f->target[i]);
            for (uint32_t k = 0; k < NEGATIVES; k++) {
                const uint32_t seed = drawn.pairs.target[POSITIVES + i * NEGATIVES + k];
                assert_int_equal(seed, (size_t)2 * POSITIVES + i * NEGATIVES + k);
                assert_int_equal(drawn.seed_node[seed],
                                 pair_drawer_negative(&request, NODES, (uint32_t)i, k));
                assert_int_equal(limits.edge[seed], i);
                assert_memory_equal(&limits.seed_time[seed], &f->when[i], sizeof *f->when);
            }
            for (size_t end = 2 * i; end < 2 * i + 2; end++) {
                assert_int_equal(limits.edge[end], i);
                assert_memory_equal(&limits.seed_time[end], &f->when[i], sizeof *f->when);
            }
        }
        node_chances_release(&chances);
    }
    pair_drawer_free(drawer);
}

static const uint32_t held_source[] = {5, 5, 7}, held_target[] = {20, 20, 30};
static const uint16_t held_type[] = {0, 0, 1};
static const int64_t held_time[] = {600, 500, 550};

/* By going through all edges. */
static bool is_known(const struct fixture *f, uint32_t source, uint32_t target, uint16_t type,
                     int64_t time, bool typed)
{
    for (uint64_t e = f->row_start[target]; e < f->row_start[target + 1]; e++)
        if (f->neighbor[e] == source && f->time[e] <= time && (!typed || f->type[e] == type))
            return true;
    for (int i = 0; i < 3; i++)
        if (held_source[i] == source && held_target[i] == target && held_time[i] <= time &&
            (!typed || held_type[i] == type))
            return true;
    return false;
}

static void an_edge_is_known_from_its_time_on(void **state)
{
    const struct fixture *f = *state;
    struct error err = {0};
    uint32_t answers[2] = {0};
    for (int typed = 0; typed < 2; typed++) {
        struct known_pairs known;
        struct edge_splits splits = {.is_timed = true,
                                     .count = {2, 1},
                                     .source = {held_source, held_source + 2},
                                     .target = {held_target, held_target + 2},
                                     .time = {{.word = held_time}, {.word = held_time + 2}}};
        struct known_pairs_config config = {.topology = &f->memory.topology,
                                            .splits = &splits,
                                            .type_count = typed ? 2 : 0,
                                            .is_timed = true};
        if (typed) {
            splits.type[0] = held_type;
            splits.type[1] = held_type + 2;
        }
        assert_ok(known_pairs_init(&known, &config, &err), &err);
        for (int at = -1; at < 700; at += 7)
            for (uint32_t s = 0; s < NODES; s++)
                for (uint32_t t = 0; t < NODES; t++)
                    for (int k = 0; k <= typed; k++) {
                        const uint16_t type = (uint16_t)k;
                        const bool wanted = is_known(f, s, t, type, at, typed);
                        assert_int_equal(known_pairs_has(&known, s, t, type, at), wanted);
                        answers[wanted]++;
                    }
        known_pairs_release(&known);
        config.is_timed = false; /* at any time */
        assert_ok(known_pairs_init(&known, &config, &err), &err);
        assert_true(known_pairs_has(&known, 5, 20, 0, -1));
        known_pairs_release(&known);
        config.is_timed = true;
        splits.is_timed = false;
        assert_fails(known_pairs_init(&known, &config, &err), ERROR_CORRUPT,
                     "expected times of held-out edges, found none", &err);
        known_pairs_release(&known);
    }
    assert_true(answers[0] > 1000 && answers[1] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_end_is_a_seed_at_its_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_edge_is_known_from_its_time_on, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
