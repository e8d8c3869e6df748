/*
 * slow_relations - neighbour sampling over the relations of typed_dataset.h in the simplest way:
 * edge by edge, without blocks, tables and parts.
 *
 * A request with times is one of temporal_neighbor: each seed has nodes of its own, and no edge is
 * later than its seed.
 */
#ifndef TESTS_SUPPORT_SLOW_RELATIONS_H
#define TESTS_SUPPORT_SLOW_RELATIONS_H

#include "stages/sampling/rows/distinct_positions.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "stages/sampling/samplers/subgraph.h"

#include "tests/support/test.h"
#include "tests/support/typed_dataset.h"

#include <string.h>

enum { SLOW_TYPES = 3, SLOW_HOPS = 4, SLOW_MAX = 20000 };

struct slow_relations {
    const struct typed_edges *edges;
    const struct relation *relation; /* [TYPED_RELATIONS] */
    uint32_t count[SLOW_TYPES], hop_end[SLOW_TYPES][SLOW_HOPS + 1];
    uint32_t node[SLOW_TYPES][SLOW_MAX], seed[SLOW_TYPES][SLOW_MAX];
    uint32_t edge_count[TYPED_RELATIONS];
    /* target and source in the batch, number of the edge */
    uint32_t edge[TYPED_RELATIONS][SLOW_MAX][3];
};

static inline uint32_t slow_type(uint32_t node)
{
    return node < TYPED_AUTHORS ? 0 : node < TYPED_AUTHORS + TYPED_PAPERS ? 1 : 2;
}

/* Returns the node of a seed; a seed is always a node of its own. */
static inline uint32_t slow_local(struct slow_relations *slow, uint32_t seed, uint32_t node,
                                  bool is_seed)
{
    const uint32_t type = slow_type(node);
    for (uint32_t i = 0; i < slow->count[type] && !is_seed; i++)
        if (slow->node[type][i] == node && slow->seed[type][i] == seed)
            return i;
    must(slow->count[type] < SLOW_MAX);
    slow->node[type][slow->count[type]] = node;
    slow->seed[type][slow->count[type]] = seed;
    return slow->count[type]++;
}

static inline void slow_row(struct slow_relations *slow, const struct neighbor_request *request,
                            uint32_t r, int hop, uint32_t local)
{
    static uint64_t scratch[1024];
    const int64_t *time = request->times.seed_time;
    const struct typed_edges *edges = slow->edges;
    const uint32_t type = slow->relation[r].target_type;
    const uint32_t node = slow->node[type][local], seed = slow->seed[type][local];
    const int64_t fanout = request->fanout[r * (uint32_t)request->hop_count + (uint32_t)hop];
    const struct random_stream stream =
        time ? subgraph_seed_stream(request, seed, r, (uint32_t)hop)
             : random_stream_of(request->seed, (enum random_purpose)(RANDOM_RELATION + (r >> 4)),
                                request->round, (uint32_t)hop | (r & 15) << 4, request->slot);
    uint32_t own[TYPED_EDGES], length = 0, position[TYPED_EDGES];
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        if (edges->relation[e] == r && edges->target[e] == node &&
            (!time || edges->time[e] <= time[seed]))
            own[length++] = e;
    const uint32_t kept = fanout < 0 || fanout > length ? length : (uint32_t)fanout;
    for (uint32_t k = 0; k < kept; k++)
        position[k] = k;
    if (kept > 0 && kept < length)
        distinct_positions_draw(&stream, node, length, kept, scratch, position);
    for (uint32_t k = 0; k < kept; k++) {
        const uint32_t e = own[position[k]];
        must(slow->edge_count[r] < SLOW_MAX);
        uint32_t *out = slow->edge[r][slow->edge_count[r]++];
        out[0] = local;
        out[1] = slow_local(slow, seed, edges->source[e], false);
        out[2] = e;
    }
}

/* Draws a batch; the caller has set the edges and relations of `slow`. */
static inline void slow_draw(struct slow_relations *slow, const struct neighbor_request *request)
{
    const bool is_disjoint = request->times.seed_time != NULL;
    must(request->hop_count <= SLOW_HOPS);
    memset(slow->count, 0, sizeof slow->count);
    memset(slow->edge_count, 0, sizeof slow->edge_count);
    for (uint32_t i = 0; i < request->seed_count; i++)
        (void)slow_local(slow, is_disjoint ? i : 0, request->seed_node[i], true);
    for (uint32_t t = 0; t < SLOW_TYPES; t++)
        slow->hop_end[t][0] = slow->count[t];
    for (int hop = 0; hop < request->hop_count; hop++) {
        for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
            const uint32_t *end = slow->hop_end[slow->relation[r].target_type];
            for (uint32_t i = hop ? end[hop - 1] : 0; i < end[hop]; i++)
                slow_row(slow, request, r, hop, i);
        }
        for (uint32_t t = 0; t < SLOW_TYPES; t++)
            slow->hop_end[t][hop + 1] = slow->count[t];
    }
}

static inline void slow_assert_nodes(const struct mini_batch *batch,
                                     const struct slow_relations *slow)
{
    for (uint32_t t = 0; t < SLOW_TYPES; t++) {
        const uint32_t begin = batch->node_begin[t];
        const size_t bytes = slow->count[t] * sizeof(uint32_t);
        assert_int_equal(batch->node_begin[t + 1] - begin, slow->count[t]);
        assert_memory_equal(batch->node + begin, slow->node[t], bytes);
        if (batch->seed_of)
            assert_memory_equal(batch->seed_of + begin, slow->seed[t], bytes);
        for (int hop = 0; hop <= batch->hop_count; hop++)
            assert_int_equal(mini_batch_known(batch, t, hop), slow->hop_end[t][hop]);
    }
}

/* Asserts that the batch, which has the weights of edges, equals the one of the slow sampler. */
static inline void slow_assert_same(const struct mini_batch *batch,
                                    const struct slow_relations *slow)
{
    const float *weight = batch->columns.data[EDGE_WEIGHT];
    slow_assert_nodes(batch, slow);
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
        uint32_t at = 0;
        for (uint32_t i = batch->row_begin[r]; i < batch->row_begin[r + 1]; i++)
            for (uint32_t e = batch->row_start[i + r]; e < batch->row_start[i + r + 1]; e++, at++) {
                const uint32_t *expected = slow->edge[r][at];
                assert_int_equal(batch->row[i], expected[0]);
                assert_int_equal(batch->neighbor[batch->edge_begin[r] + e], expected[1]);
                assert_true(weight[batch->edge_begin[r] + e] == slow->edges->weight[expected[2]]);
            }
        assert_int_equal(at, slow->edge_count[r]);
        assert_int_equal(batch->edge_begin[r + 1] - batch->edge_begin[r], slow->edge_count[r]);
    }
}

#endif
