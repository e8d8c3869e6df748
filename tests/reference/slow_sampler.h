/*
 * slow_sampler - samples neighbours in the simplest way: no blocks, no tables, no parts.
 *
 * It finds known nodes by comparing with all of them, and marks chosen positions in an array of
 * flags.
 */
#ifndef TESTS_REFERENCE_SLOW_SAMPLER_H
#define TESTS_REFERENCE_SLOW_SAMPLER_H

#include "common/numbers/random.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOW_NODES_MAX = 1 << 14, SLOW_EDGES_MAX = 1 << 20 };

struct slow_batch {
    uint32_t hop_end[17];
    uint32_t node_count, row_count, edge_count;
    uint32_t node[SLOW_NODES_MAX];
    uint32_t row_start[SLOW_NODES_MAX + 1];
    uint32_t neighbor[SLOW_EDGES_MAX];
};

/* Runs Floyd's algorithm with one flag for each position. */
static inline void slow_choose(const struct random_stream *stream, uint64_t item, uint32_t length,
                               uint32_t count, bool *chosen)
{
    memset(chosen, 0, length);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t j = length - count + i;
        const uint32_t drawn = random_below(random_word(stream, item, i), j + 1);
        chosen[chosen[drawn] ? j : drawn] = true;
    }
}

static inline uint32_t slow_local(struct slow_batch *batch, uint32_t node)
{
    for (uint32_t i = 0; i < batch->node_count; i++)
        if (batch->node[i] == node)
            return i;
    batch->node[batch->node_count] = node;
    return batch->node_count++;
}

static inline void slow_expand(struct slow_batch *batch, const uint64_t *row_start,
                               const uint32_t *neighbor, uint32_t local, int64_t fanout,
                               const struct random_stream *stream)
{
    const uint32_t node = batch->node[local];
    const uint32_t length = (uint32_t)(row_start[node + 1] - row_start[node]);
    bool *chosen = malloc((size_t)length + 1);
    if (!chosen)
        abort();
    if (fanout < 0 || fanout >= length)
        memset(chosen, 1, length);
    else
        slow_choose(stream, node, length, (uint32_t)fanout, chosen);
    for (uint32_t k = 0; k < length; k++)
        if (chosen[k])
            batch->neighbor[batch->edge_count++] = slow_local(batch, neighbor[row_start[node] + k]);
    batch->row_start[++batch->row_count] = batch->edge_count;
    free(chosen);
}

struct slow_request {
    uint64_t seed;
    uint32_t round, slot;
    int hop_count;
    const int64_t *fanout;
    const uint32_t *seed_node;
    uint32_t seed_count;
};

static inline void slow_sample(struct slow_batch *batch, const uint64_t *row_start,
                               const uint32_t *neighbor, const struct slow_request *request)
{
    batch->node_count = batch->row_count = batch->edge_count = 0;
    batch->row_start[0] = 0;
    for (uint32_t i = 0; i < request->seed_count; i++)
        batch->node[batch->node_count++] = request->seed_node[i];
    for (int hop = 0; hop < request->hop_count; hop++) {
        const struct random_stream stream = random_stream_of(
            request->seed, RANDOM_NEIGHBOR, request->round, (uint32_t)hop, request->slot);
        batch->hop_end[hop] = batch->node_count;
        while (batch->row_count < batch->hop_end[hop])
            slow_expand(batch, row_start, neighbor, batch->row_count, request->fanout[hop],
                        &stream);
    }
    batch->hop_end[request->hop_count] = batch->node_count;
}

#endif
