#include "stages/sampling/samplers/subgraph.h"

static bool is_training(const struct neighbor_request *request, uint32_t node)
{
    return request->graph.is_training[node / 64] >> (node % 64) & 1;
}

/* Puts the training nodes of a type first and returns how many there are. */
static uint32_t order_type(struct batch_builder *b, const struct neighbor_request *request,
                           uint32_t type, uint32_t *other)
{
    const uint32_t count = b->lists->count[type];
    uint32_t *node = b->lists->node[type].data, others = 0, seeds = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_training(request, node[i]))
            node[seeds++] = node[i];
        else
            other[others++] = node[i];
    }
    for (uint32_t i = 0; i < others; i++)
        node[seeds + i] = other[i];
    for (uint32_t i = 0; i < count; i++) { /* updates the numbers of the known nodes */
        b->known->count = i;
        known_nodes_add(b->known, node[i]);
    }
    return seeds;
}

static void end_hops(struct batch_builder *b, const struct neighbor_request *request)
{
    for (int h = 1; h <= request->hop_count; h++)
        batch_builder_end_hop(b, h);
}

enum error_code subgraph_order(struct batch_builder *b, const struct neighbor_request *request,
                               uint32_t *seed_count, struct error *err)
{
    void *scratch = NULL;
    enum error_code rc = ERROR_NONE;
    *seed_count = 0;
    for (uint32_t t = 0; rc == ERROR_NONE && t < b->lists->type_count; t++) {
        rc = batch_builder_scratch(b, 3, (size_t)b->lists->count[t] + 1, 1, 0, &scratch, err);
        if (rc == ERROR_NONE)
            *seed_count += *batch_builder_known(b, t, 0) = order_type(b, request, t, scratch);
    }
    end_hops(b, request);
    return rc;
}

/* Returns the first node of the type in the graph. */
static uint32_t first_of_type(const struct type_ranges *ranges, uint32_t type)
{
    int part = 0;
    while (part + 1 < ranges->part_count && type_ranges_count(ranges, part, type) == 0)
        part++;
    return type_ranges_first(ranges, part, type);
}

enum error_code subgraph_stand_in(struct batch_builder *b, const struct neighbor_request *request,
                                  struct error *err)
{
    const uint32_t type = b->target_type;
    float *weight = NULL;
    uint32_t local = 0;
    enum error_code rc = ERROR_NONE;
    if (b->lists->count[type] == 0) /* the drawn parts have no node of the type */
        rc = batch_builder_enter(b, first_of_type(b->ranges, type), &local, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_weigh_seeds(b, 1, &weight, err);
    if (rc != ERROR_NONE)
        return rc;
    weight[0] = 0;
    *batch_builder_known(b, type, 0) = 1;
    end_hops(b, request);
    return ERROR_NONE;
}

enum { HOP_BITS = 4, RELATION_BITS = 4 };

_Static_assert(HOP_COUNT_MAX <= 1 << HOP_BITS, "a hop is part of a word of the counter");

/* The first 1 << RELATION_BITS relations use the purpose `first`. The others use the purposes set
 * aside for relations. */
static struct random_stream stream_of(uint64_t key, enum random_purpose first,
                                      const struct neighbor_request *request, uint32_t relation,
                                      uint32_t hop)
{
    const uint32_t low = relation & ((1U << RELATION_BITS) - 1), high = relation >> RELATION_BITS;
    const enum random_purpose purpose =
        high ? (enum random_purpose)(RANDOM_RELATION + high) : first;
    return random_stream_of(key, purpose, request->round, hop | low << HOP_BITS, request->slot);
}

struct random_stream subgraph_seed_stream(const struct neighbor_request *request, uint32_t index,
                                          uint32_t relation, uint32_t hop)
{
    const struct random_stream keys =
        random_stream_of(request->seed, RANDOM_SUBGRAPH, request->round, 0, request->slot);
    uint32_t word[4];
    random_block(&keys, index, 0, word);
    return stream_of((uint64_t)word[0] << 32 | word[1], RANDOM_NEIGHBOR, request, relation, hop);
}

struct random_stream subgraph_layer_stream(const struct neighbor_request *request,
                                           uint32_t relation, uint32_t hop)
{
    return stream_of(request->seed, RANDOM_SUBGRAPH, request, relation, hop);
}
