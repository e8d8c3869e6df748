/*
 * message_block - the edges of one layer in compressed sparse rows: which inputs send messages to
 * which destinations.
 *
 * Row i is destination i; its entries are the sources' positions among the layer's inputs. The
 * destinations are a prefix of the inputs: input i is destination i's own value. In a bipartite
 * block, such as that of a relation (relation_block.h), they are not: the inputs are the sources,
 * and the destinations' own values are elsewhere. The arrays are borrowed, for instance from a
 * mini-batch (mini_batch.h), where every layer is a prefix of one structure.
 */
#ifndef COMMON_GRAPH_MESSAGE_BLOCK_H
#define COMMON_GRAPH_MESSAGE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct message_block {
    uint32_t destination_count;
    uint32_t source_count; /* inputs; they include the destinations unless bipartite */
    /* [destination_count + 1], from row_start[0], which may be > 0. NULL: there are no edges to
     * read; edge_count says how many there would be, to count the memory that they would need
     * (arena.h). */
    const uint32_t *row_start;
    const uint32_t *neighbor; /* [row_start[destination_count]], each < source_count */
    /* In-degrees in the whole graph without self loops; NULL unless the layer uses them (GCN). */
    const uint32_t *degree; /* [source_count]; bipartite: [destination_count] */
    /* The number of edges of the whole graph that an edge represents, so that a sum over them
     * estimates the sum over all. It is set if a sampler chose edges with different probabilities;
     * then degree is set, too. NULL: all edges represent equally many. Indexed like neighbor. */
    const float *edge_factor;
    /* The factor of an edge in sums, for instance its weight, indexed like neighbor; NULL: 1. */
    const float *edge_value;
    /* The sum of the values of a node's edges in the whole graph; set with edge values if the layer
     * uses degrees. A self loop adds its value, and a node without one adds 1. */
    const float *value_sum; /* shape as degree */
    /* The same two for sources, over edges that begin there. They are set in a bipartite block
     * whose layer divides by the degrees of both ends. */
    const uint32_t *source_degree; /* [source_count] */
    const float *source_value_sum; /* [source_count] */
    /* Rows of edge features, row e is that of neighbor[e]; NULL: there are none, or the layer does
     * not use them. */
    const float *edge_feature; /* [row_start[destination_count], edge_feature_dim] */
    uint32_t edge_feature_dim;
    /* input i is not destination i: there are no self loops and no own rows */
    bool is_bipartite;
    /* a self loop counts in `degree` like any other edge, as in a relation */
    bool degree_has_loops;
    uint64_t edge_count; /* only without row_start */
};

static inline uint64_t message_block_edges(const struct message_block *block)
{
    return block->row_start ? block->row_start[block->destination_count] - block->row_start[0]
                            : block->edge_count;
}

#endif
