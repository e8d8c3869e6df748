/*
 * mini_batch - what a step trains on: ids and local edges, by node type and relation, without
 * features.
 *
 * sample writes it; train-step and infer's checks read it. It lives until its round is older than
 * the oldest snapshot that is kept. Node ids are those of the partition.
 *
 *   key       run/<id>/round/<r>/slot/<k>/mini_batch, run/<id>/evaluation/<k>/mini_batch
 *   sections  "shape"       U32 [2]  node types, relations. Without it there is one of each, and
 *                           every row is there, with or without edges; with it "row" lists the rows
 *             "ends"        U16 [relations, 2]  source and target type of each; with "shape"
 *             "hop_end"     U32 [types, hop_count + 1]  nodes of the type known after hop h; after
 *                           hop 0 its seeds
 *             "row_count"   U32 [relations], in a LAYERED batch [relations, hops]  the number of
 *                           rows that are listed; with "shape"
 *             "width"       U32 [4], with "shape" [5]  bits of a value of node, row_length,
 *                           neighbor, degree and row, at most 32
 *             "node"        packed [nodes]  type by type, in order of discovery inside the type;
 *                           the seeds come first
 *             "row"         packed [rows]  relation by relation, in a LAYERED batch hop by hop in
 *                           the relation: the nodes of the target type that have edges of it, as
 *                           local indices, ascending; with "shape"
 *             "row_length"  packed [rows]  edges of each row (none with no hops); at least 1 in a
 *                           row that is listed
 *             "is_new"      one bit for each edge: its source is the next node of the source type,
 *                           in the order of discovery (batch_discovery.h)
 *             "neighbor"    packed [edges that are not new]  local indices of their sources, in the
 *                           source type
 *             "degree"      packed; only if the model asks for it. Without "shape" [nodes]: the
 *                           in-degree in the whole graph without self loops. With it [rows]: edges
 *                           of the relation that end in the row's node, in the whole graph
 *             "weight_sum"  F32 [nodes]  sum of the weights of a node's edges in the whole graph
 *                           (topology_weight_sum()); only if the model asks for it. With "shape"
 *                           [ends]
 *             "back"        U16 [relations]  for each the relation that knows how many edges begin
 *                           at a source (relation_reverse.h: relation_source_degrees()); with
 *                           "shape", only if the model divides by the degrees of both ends
 *             "end_width"   U32 [1]  bits of a value of end_degree, at most 32; with "back"
 *             "end_degree"  packed [ends]  relation by relation, for all nodes of the target type
 *                           in the batch: edges of the relation that end in the node, in the whole
 *                           graph, without loops; with "back"
 *             edge columns  [edges]  the columns of one number that the model asks for
 *                           (edge_sections.h) and that the graph has: weight, type, ...
 *             "form"        U32 [1]  enum batch_form; without it NESTED
 *             "edge_factor" F32 [edges]  how many edges of the whole graph an edge stands for; only
 *                           of samplers that weigh edges
 *             "seed_weight" F32 [seeds]  the weight of a seed in the loss; only of samplers that
 *                           weigh seeds
 *             "seed_of"     packed [nodes]  in a disjoint batch: the seed that a node was reached
 *                           from; as wide as the number of the last seed
 *             "seed_time"   I64 [seeds]  the time at which each seed looks at the graph; only of
 *                           samplers that use times, and on request
 *             "pair_..."    in a task of pairs: which seeds are the ends of which edge
 *                           (seed_pairs.h)
 *             "position_width" U32 [1]  bits of a value of edge_position, at most 32
 *             "edge_position"  packed [edges]  the place of an edge in the row of its destination
 *                           in the topology, by which rows of edge features are found; only if the
 *                           model asks for them
 *   version   7. A batch without "back" is written as version 6; without "shape" and "seed_time" as
 *             version 5; without edge positions, too, as version 4; and without all sections from
 *             "form" on as version 3, with the same bytes as ever.
 *             Version 32 is read, too: batches with relations had it until version 6. It has
 *             "shape" [3] (hops, types, relations), widths of node, row, row_length, neighbor and
 *             degree, and all edges in "neighbor" without "is_new".
 *   packed    U64 words as in common/numbers/packed_integers.h, whose width is in the section
 *             "width"; bits are stored so, too; the rest of the last word is zero
 *   valid     rows and their neighbours are as the form requires (batch_form.h; for NESTED: rows
 *             exist for the nodes known before the last hop, each once, and the neighbours of a
 *             node of hop h are known after hop h + 1); no node is there twice, except in a
 *             disjoint batch, where no edge joins nodes of two seeds; degrees come with edge
 *             factors
 *
 * Seeds are numbered type by type: the number of a seed counts those of the types before.
 *
 * Why it is packed: the file system touches each page of a new record for the first time, which is
 * slow on virtual machines and made writing a third of the time of sampling. Nodes are numbered in
 * the order in which edges find them, so that one bit is enough for three edges of four
 * (common/graph/edge_discovery.h), and packing drops bits that would be zero. A reader gets plain
 * arrays back. Rows are listed if there are several relations, because a node has edges of few of
 * them.
 *
 * NESTED: each node is expanded once, at the hop where it first appears, with that hop's fan-out,
 * in every relation that ends in its type (PyG's rule). Layer l of L (from 1) computes the nodes
 * below hop_end[L - l] of each type from those below hop_end[L - l + 1]. The same holds for a
 * LAYERED batch (FastGCN, LADIES), in which every hop draws for all nodes so far. A SUBGRAPH
 * (GraphSAINT, Cluster-GCN, ShaDow) has the same edges for all layers; its seeds are the nodes
 * whose loss counts.
 *
 * Rows of edge features may be of any width, and stay in the topology (store/topology/edge_rows.h):
 * a position takes as many bits as the length of the longest row, 5 to 20. Version 4 had the rows
 * themselves.
 *
 * degree and weight_sum are those of the whole graph, which the sampled edges estimate. In a
 * SUBGRAPH without edge factors they are those in the subgraph, which its papers treat as a graph
 * of its own.
 */
#ifndef STORE_RECORDS_BATCH_MINI_BATCH_H
#define STORE_RECORDS_BATCH_MINI_BATCH_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/graph/message_block.h"
#include "common/graph/relation_block.h"
#include "store/objects/store.h"
#include "store/records/batch/seed_pairs.h"
#include "store/records/partition/type_ranges.h"

#include <stdint.h>

enum { HOP_COUNT_MAX = 16 };

/* Stored numbers: never renumber, only add. */
enum batch_form { BATCH_NESTED, BATCH_LAYERED, BATCH_SUBGRAPH, BATCH_FORM_COUNT };

struct mini_batch { /* {0} is empty; after reading, call mini_batch_release() */
    enum batch_form form;
    int hop_count;
    uint32_t type_count, relation_count;                    /* 0 means 1 */
    uint32_t seed_count, node_count, row_count, edge_count; /* of all types, of all relations */
    uint32_t node_limit;     /* in a batch that was read: every node is below this */
    const uint16_t *ends;    /* [relation_count, 2] source and target type; NULL: type 0 */
    const uint32_t *hop_end; /* [type_count, hop_count + 1] */
    /* [type_count + 1] where nodes of a type begin; NULL: there is one type */
    const uint32_t *node_begin;
    const uint32_t *node; /* [node_count] */
    /* [relation_count + 1] where the rows of a relation begin; NULL: there is one relation */
    const uint32_t *row_begin;
    /* [relation_count + 1] where its edges begin; NULL: there is one relation */
    const uint32_t *edge_begin;
    /* [row_count] the node of the target type of each row; NULL: there is one relation, and rows
     * exist for all nodes that the form requires */
    const uint32_t *row;
    /* [relation_count, hop_count + 1] where rows of a hop begin in the relation; in a LAYERED batch
     * that lists rows, otherwise NULL */
    const uint32_t *hop_row;
    /* [row_count + relation_count] row starts of each relation, one more than its rows, from 0 */
    const uint32_t *row_start;
    const uint32_t *neighbor; /* [edge_count] */
    const uint32_t *degree;   /* [node_count], with `row` [row_count]; or NULL */
    const float *weight_sum;  /* [node_count], with `row` [ends]; or NULL */
    /* [relation_count] or NULL; RELATION_COUNT_MAX: no relation has the degrees, and then the array
     * is not stored */
    const uint16_t *back;
    const uint32_t *end_degree;       /* [ends], mini_batch_ends(); or NULL; with `back` */
    struct edge_columns_view columns; /* [edge_count] */
    const uint32_t *edge_position;    /* [edge_count] or NULL */
    const float *edge_factor;         /* [edge_count] or NULL; with degree */
    const float *seed_weight;         /* [seed_count] or NULL */
    const uint32_t *seed_of;          /* [node_count] or NULL */
    const int64_t *seed_time;         /* [seed_count] or NULL */
    struct seed_pairs pairs;          /* pairs of the seeds; {0}: none */
    struct arena memory;              /* holds the arrays of a batch that was read */
};

static inline uint32_t mini_batch_types(const struct mini_batch *batch)
{
    return batch->type_count ? batch->type_count : 1;
}

static inline uint32_t mini_batch_relations(const struct mini_batch *batch)
{
    return batch->relation_count ? batch->relation_count : 1;
}

/* Returns the nodes of a type that are known after `hop` hops; the first of them are its seeds. */
static inline uint32_t mini_batch_known(const struct mini_batch *batch, uint32_t type, int hop)
{
    return batch->hop_end[(size_t)type * ((size_t)batch->hop_count + 1) + (size_t)hop];
}

/* Returns the seeds of all types before `type`; for mini_batch_types() all seeds. */
static inline uint32_t mini_batch_seeds(const struct mini_batch *batch, uint32_t type)
{
    uint32_t seeds = 0;
    for (uint32_t t = 0; t < type; t++)
        seeds += mini_batch_known(batch, t, 0);
    return seeds;
}

/* Returns where the nodes of a type begin; for mini_batch_types(), how many nodes there are. The
 * next two do so for relations. */
static inline uint32_t mini_batch_node_begin(const struct mini_batch *batch, uint32_t type)
{
    return batch->node_begin ? batch->node_begin[type] : type ? batch->node_count : 0;
}

static inline uint32_t mini_batch_row_begin(const struct mini_batch *batch, uint32_t relation)
{
    return batch->row_begin ? batch->row_begin[relation] : relation ? batch->row_count : 0;
}

static inline uint32_t mini_batch_edge_begin(const struct mini_batch *batch, uint32_t relation)
{
    return batch->edge_begin ? batch->edge_begin[relation] : relation ? batch->edge_count : 0;
}

static inline uint32_t mini_batch_source_type(const struct mini_batch *batch, uint32_t relation)
{
    return batch->ends ? batch->ends[2 * (size_t)relation] : 0;
}

static inline uint32_t mini_batch_target_type(const struct mini_batch *batch, uint32_t relation)
{
    return batch->ends ? batch->ends[2 * (size_t)relation + 1] : 0;
}

/* Returns the index of seed number `seed` among all nodes of the batch. */
static inline uint32_t mini_batch_seed_place(const struct mini_batch *batch, uint32_t seed)
{
    uint32_t type = 0;
    for (; type + 1 < mini_batch_types(batch) && seed >= mini_batch_known(batch, type, 0); type++)
        seed -= mini_batch_known(batch, type, 0);
    return mini_batch_node_begin(batch, type) + seed;
}

/* Returns where the nodes of the target type of `relation` begin among those of all relations, one
 * behind the other; for mini_batch_relations(), how many ends there are. */
static inline uint64_t mini_batch_ends(const struct mini_batch *batch, uint32_t relation)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < relation; r++) {
        const uint32_t type = mini_batch_target_type(batch, r);
        count += mini_batch_node_begin(batch, type + 1) - mini_batch_node_begin(batch, type);
    }
    return count;
}

/* Returns the number of elements of weight_sum, if it is there. */
static inline uint64_t mini_batch_weight_sums(const struct mini_batch *batch)
{
    return batch->row ? mini_batch_ends(batch, mini_batch_relations(batch)) : batch->node_count;
}

/* Returns the row starts of a relation [its rows + 1], from 0. */
static inline const uint32_t *mini_batch_row_starts(const struct mini_batch *batch,
                                                    uint32_t relation)
{
    return batch->row_start + mini_batch_row_begin(batch, relation) + relation;
}

/* Returns the edges of layer `layer` (from 0) of a batch of one relation that does not list its
 * rows, borrowed from the batch. A layer that does not exist has no rows. Every computation on such
 * a batch gets its edges from this function, whatever the form. */
struct message_block mini_batch_block(const struct mini_batch *batch, int layer);

/* Finds the block of layer `layer` (from 0) of any batch: fills the arrays of `out`, which are the
 * caller's: destination_count and source_count [types], edges [relations]. The edges point into the
 * batch. Edge values are the weights of the batch, if it has any. */
void mini_batch_relation_block(const struct mini_batch *batch, int layer,
                               uint32_t *destination_count, uint32_t *source_count,
                               struct relation_edges *edges, struct relation_block *out);

/* Writes the numbers of a type's nodes in the batch among all nodes of the type (type_ranges.h)
 * into out [nodes of the type]. `type_book` is that of the type. Fails: ERROR_CORRUPT for a node of
 * another type. */
MUST_CHECK enum error_code mini_batch_numbers(const struct mini_batch *batch, uint32_t type,
                                              const struct type_ranges *ranges,
                                              const uint32_t *type_book, uint32_t *out,
                                              struct error *err);

/* Stores a mini-batch. Resets `scratch`, which holds the packed arrays meanwhile; its limit bounds
 * them. */
MUST_CHECK enum error_code mini_batch_put(struct store *store, const char *key, const char *run_id,
                                          const struct mini_batch *batch, struct arena *scratch,
                                          struct error *err);
/* Reads a mini-batch and checks every index, so that kernels need not. Fails: ERROR_CORRUPT naming
 * the value that is out of range. Discards the old content of *out in any case and uses its memory
 * again: reading batches one after the other allocates nothing once the largest was read. */
MUST_CHECK enum error_code mini_batch_get(struct store *store, const char *key, const char *run_id,
                                          struct mini_batch *out, struct error *err);
/* Does the same with a record of any origin, which is not needed afterwards. */
MUST_CHECK enum error_code mini_batch_decode(const struct record_view *view, struct mini_batch *out,
                                             struct error *err);
/* Empties the batch but keeps its memory for the next one. */
void mini_batch_forget(struct mini_batch *batch);
void mini_batch_release(struct mini_batch *batch);

#endif
