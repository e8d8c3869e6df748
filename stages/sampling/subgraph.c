#include "stages/sampling/subgraph.h"

static bool is_training(const struct neighbor_request *request, uint32_t node)
{
    return request->graph.is_training[node / 64] >> (node % 64) & 1;
}

enum error_code subgraph_order(struct batch_builder *b, const struct neighbor_request *request,
                               uint32_t *seed_count, struct error *err)
{
    void *scratch = NULL;
    const uint32_t count = b->node_count;
    enum error_code rc = batch_builder_scratch(b, 3, (size_t)count + 1, 1, 0, &scratch, err);
    uint32_t *other = scratch, others = 0, seeds = 0;
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = b->node.data[i];
        if (is_training(request, node))
            b->node.data[seeds++] = node;
        else
            other[others++] = node;
    }
    for (uint32_t i = 0; i < others; i++)
        b->node.data[seeds + i] = other[i];
    known_nodes_forget(b->known);
    for (uint32_t i = 0; i < count; i++)
        known_nodes_add(b->known, b->node.data[i]);
    b->hop_end[0] = *seed_count = seeds;
    for (int h = 0; h < request->hop_count; h++)
        b->hop_end[h + 1] = count;
    return ERROR_NONE;
}

enum error_code subgraph_stand_in(struct batch_builder *b, const struct neighbor_request *request,
                                  struct error *err)
{
    float *weight = NULL;
    uint32_t local = 0;
    enum error_code rc = b->node_count
                             ? ERROR_NONE
                             : batch_builder_enter(b, 0, &local, err); /* parts without nodes */
    if (rc == ERROR_NONE)
        rc = batch_builder_weigh_seeds(b, 1, &weight, err);
    if (rc != ERROR_NONE)
        return rc;
    weight[0] = 0;
    b->hop_end[0] = 1;
    for (int h = 0; h < request->hop_count; h++)
        b->hop_end[h + 1] = b->node_count;
    return ERROR_NONE;
}

struct random_stream subgraph_seed_stream(const struct neighbor_request *request, uint32_t index,
                                          uint32_t hop)
{
    const struct random_stream keys =
        random_stream_of(request->seed, RANDOM_SUBGRAPH, request->round, 0, request->slot);
    uint32_t word[4];
    random_block(&keys, index, 0, word);
    return random_stream_of((uint64_t)word[0] << 32 | word[1], RANDOM_NEIGHBOR, request->round, hop,
                            request->slot);
}
