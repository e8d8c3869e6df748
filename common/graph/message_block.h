/*
 * message_block - the edges of one layer: who sends to whom, as compressed sparse rows.
 *
 * Row i is destination i; its entries are the sources' positions among the layer's inputs. The
 * destinations are a prefix of the inputs: input i is destination i's own value. Only in a bipartite block, such as that of
 * a relation (relation_block.h), they are not: its inputs are the sources, and what a destination itself has lies elsewhere.
 * Borrowed arrays, for instance out of a mini-batch (mini_batch.h), where every layer is a prefix of one structure.
 */
#ifndef COMMON_GRAPH_MESSAGE_BLOCK_H
#define COMMON_GRAPH_MESSAGE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct message_block {
    uint32_t destination_count;
    uint32_t source_count; /* inputs, destinations included unless bipartite */
    /* [destination_count + 1], from row_start[0], which may be > 0. NULL: there are no edges to read, but
     * edge_count of them would be, for whoever only counts what memory they take (arena.h). */
    const uint32_t *row_start;
    const uint32_t *neighbor; /* [row_start[destination_count]], each < source_count */
    /* In-degree in the whole graph without self loops; NULL unless the layer asks for it (GCN). */
    const uint32_t *degree; /* [source_count]; bipartite: [destination_count] */
    /* How many edges of the whole graph an edge stands for, where a sampler chose edges with chances that differ, so that a
     * sum over them estimates that over all; it has degree, too. NULL: each as many as the others. Indexed like neighbor. */
    const float *edge_factor;
    /* What an edge counts, its weight for instance, indexed like neighbor; NULL: 1. */
    const float *edge_value;
    /* With edge values, where a layer asks for its degree: the sum of the values of a node's edges in the whole graph,
     * where an edge from itself counts what it has, and 1 if there is none. */
    const float *value_sum; /* likewise */
    /* A bipartite block whose layer divides by what both ends have needs the same two of sources:
     * edges that begin at a source. */
    const uint32_t *source_degree; /* [source_count] */
    const float *source_value_sum; /* [source_count] */
    /* Rows of edges, row e is that of neighbor[e]; NULL: there are none, or no layer asks for them. */
    const float *edge_feature; /* [row_start[destination_count], edge_feature_dim] */
    uint32_t edge_feature_dim;
    bool is_bipartite;     /* input i is not destination i: there are no loops and no own rows */
    bool degree_has_loops; /* an edge from a node to itself counts in `degree` as any other, as in a
                            * relation */
    uint64_t edge_count;   /* only without row_start */
};

static inline uint64_t message_block_edges(const struct message_block *block)
{
    return block->row_start ? block->row_start[block->destination_count] - block->row_start[0]
                            : block->edge_count;
}

#endif
