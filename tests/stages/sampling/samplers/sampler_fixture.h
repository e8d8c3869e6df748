/*
 * sampler_fixture - a small undirected graph, and estimators, for tests of samplers.
 *
 * The graph has thirty nodes with degrees from 1 to some 15; half of them are training nodes; x is
 * a number for each node. An estimator takes the numbers of many draws and checks how far their
 * mean is from the expected value, in standard errors.
 */
#ifndef TESTS_STAGES_SAMPLING_SAMPLERS_SAMPLER_FIXTURE_H
#define TESTS_STAGES_SAMPLING_SAMPLERS_SAMPLER_FIXTURE_H

#include "stages/sampling/rows/node_chances.h"
#include "stages/sampling/samplers/sampler.h"

#include "tests/support/memory_topology.h"
#include "tests/support/random_graph.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { FIXTURE_NODES = 30, FIXTURE_EDGES_MAX = FIXTURE_NODES * FIXTURE_NODES };

struct sampler_fixture {
    bool linked[FIXTURE_NODES][FIXTURE_NODES];
    uint64_t row_start[FIXTURE_NODES + 1];
    uint32_t neighbor[FIXTURE_EDGES_MAX], degree[FIXTURE_NODES];
    int64_t time[FIXTURE_EDGES_MAX];
    float weight[FIXTURE_EDGES_MAX], weight_sum[FIXTURE_NODES];
    double x[FIXTURE_NODES], sum[FIXTURE_NODES]; /* sum: of x over the neighbours */
    uint64_t is_training[1];
    uint32_t train[FIXTURE_NODES], train_count;
    struct memory_topology graph;
    struct neighbor_sampler *sampler;
    struct node_chances *chances; /* one table */
};

/* Opens the graph, cut into parts at book [part_count + 1]. */
static inline void sampler_fixture_open_parts(struct sampler_fixture *f, const uint32_t *book,
                                              int part_count)
{
    struct error err = {0};
    uint32_t at = 0;
    struct edge_columns_view columns = {0};
    const struct random_stream stream = random_stream_of(5, RANDOM_GENERATOR, 0, 0, 0);
    *f = (struct sampler_fixture){0};
    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
        for (uint32_t v = 0; v < u;
             v++) /* low numbers have high degrees; a ring gives every node an edge */
            f->linked[u][v] = f->linked[v][u] =
                u - v == 1 ||
                (double)random_word(&stream, u * 64 + v, 0) * 0x1p-32 < 0.8 / (1 + 0.4 * v);
    for (uint32_t u = 0; u < FIXTURE_NODES; u++) {
        f->x[u] = 1 + 3 * (double)random_word(&stream, 5000 + u, 0) * 0x1p-32;
        f->weight_sum[u] = 1;
        if (u % 2 == 0) {
            f->is_training[0] |= UINT64_C(1) << u;
            f->train[f->train_count++] = u;
        }
    }
    for (uint32_t v = 0; v < FIXTURE_NODES; v++) {
        for (uint32_t u = 0; u < FIXTURE_NODES; u++) {
            if (!f->linked[v][u])
                continue;
            f->time[at] = (int64_t)((u * v + u + v) % 100);
            f->weight[at] = 1 + (float)((u + v) % 5);
            f->weight_sum[v] += f->weight[at];
            f->neighbor[at++] = u;
            f->degree[v]++;
            f->sum[v] += f->x[u];
        }
        f->row_start[v + 1] = at;
    }
    memory_topology_make(&f->graph, f->row_start, f->neighbor, book, part_count);
    columns.width.of[EDGE_TIME] = columns.width.of[EDGE_WEIGHT] = 1;
    columns.data[EDGE_TIME] = f->time;
    columns.data[EDGE_WEIGHT] = f->weight;
    memory_topology_give(&f->graph, &columns, f->weight_sum);
    const struct neighbor_sampler_config config = {.topology = &f->graph.topology};
    assert_ok(neighbor_sampler_new(&config, &f->sampler, &err), &err);
}

static inline void sampler_fixture_open(struct sampler_fixture *f)
{
    static const uint32_t book[] = {0, 11, FIXTURE_NODES};
    sampler_fixture_open_parts(f, book, 2);
}

static inline void sampler_fixture_close(struct sampler_fixture *f)
{
    node_chances_free(f->chances, 1);
    neighbor_sampler_free(f->sampler);
    memory_topology_release(&f->graph);
}

static const struct sampler_options sampler_fixture_options = {
    .walk_length = 2, .depth = 2, .num_neighbors = 2};

/* Makes a request with everything that a sampler may need; makes the chances if the sampler has a
 * rule. */
static inline struct neighbor_request
sampler_fixture_request(struct sampler_fixture *f, const struct sampler *sampler, uint32_t round)
{
    static const int64_t fanout[] = {4, 4};
    static const int64_t seed_time[] = {50, 20, 80};
    static const uint32_t part[] = {0};
    static uint64_t seed;
    struct error err = {0};
    seed = seed ? seed : random_graph_seed(23);
    if (sampler->chances && !f->chances)
        assert_ok(node_chances_new(sampler->chances, &f->graph.topology, &f->chances, &err), &err);
    return (struct neighbor_request){
        .seed = seed,
        .round = round,
        .hop_count = 2,
        .fanout = fanout,
        .seed_node = f->train,
        .seed_count = 3,
        .times = {.seed_time = seed_time},
        .draw_count = 8,
        .part = part,
        .part_count = 1,
        .graph = {.is_training = f->is_training, .chances = f->chances},
        .options = &sampler_fixture_options};
}

/* The numbers whose mean is checked. */
struct estimate {
    double count, sum, squares;
};

static inline void estimate_add(struct estimate *e, double value)
{
    e->count++;
    e->sum += value;
    e->squares += value * value;
}

/* Checks that the mean is within five standard errors plus `slack` of the expected value. */
static inline void estimate_check(const struct estimate *e, double expected, double slack,
                                  const char *what, uint32_t number)
{
    const double mean = e->sum / e->count;
    const double variance = e->squares / e->count - mean * mean;
    const double error = sqrt((variance > 0 ? variance : 0) / e->count);
    if (e->count < 100 || !(fabs(mean - expected) <= 5 * error + slack * fabs(expected) + 1e-9))
        fail_msg("%s %u: mean %.6g of %.0f, expected %.6g (standard error %.2g)", what,
                 (unsigned)number, mean, e->count, expected, error);
}

/* Returns the value that chi-square with `freedom` degrees exceeds once in a million (Wilson and
 * Hilferty). */
static inline double chi_square_limit(double freedom)
{
    const double part = 2.0 / (9.0 * freedom);
    return freedom * pow(1.0 - part + 4.753 * sqrt(part), 3.0);
}

/* Compares seen [count] with chances that add up to 1. A node with chance 0 must not be seen. */
static inline void chi_square_check(const uint32_t *seen, const double *chance, uint32_t count)
{
    double total = 0, chi_square = 0, freedom = -1;
    for (uint32_t i = 0; i < count; i++)
        total += seen[i];
    for (uint32_t i = 0; i < count; i++) {
        const double expected = total * chance[i];
        if (expected > 0) {
            chi_square += (seen[i] - expected) * (seen[i] - expected) / expected;
            freedom++;
        } else {
            assert_int_equal(seen[i], 0);
        }
    }
    if (chi_square > chi_square_limit(freedom))
        fail_msg("chi-square %.1f above %.1f", chi_square, chi_square_limit(freedom));
}

/* Returns the sum of x that row i of the last layer estimates. */
static inline double sum_of_row(const struct sampler_fixture *f, const struct mini_batch *batch,
                                uint32_t i)
{
    const struct message_block block = mini_batch_block(batch, batch->hop_count - 1);
    double sum = 0;
    for (uint32_t e = block.row_start[i]; e < block.row_start[i + 1]; e++)
        sum += (block.edge_factor ? (double)block.edge_factor[e] : 1) *
               f->x[batch->node[block.neighbor[e]]];
    return sum;
}

#endif
