/*
 * mini_batch - what a step trains on: ids and local edges, no features.
 *
 * Written by sample, read by train-step (and by infer's checks); lives until its round is older than
 * the oldest snapshot kept. Node ids are those of the partition.
 *
 *   key       run/<id>/round/<r>/slot/<k>/mini_batch, run/<id>/evaluation/<k>/mini_batch
 *   sections  "hop_end"     U32 [hop_count + 1]  nodes known after hop h; hop_end[0] = seed count
 *             "width"       U32 [4]  bits of a value of node, row_length, neighbor and degree, at most 32
 *             "node"        packed [hop_end[hop_count]]  in order of discovery; the seeds come first
 *             "row_length"  packed [hop_end[hop_count - 1]]  edges of each row (none with no hops)
 *             "is_new"      one bit for each edge: its source is the node after those known so far
 *             "neighbor"    packed [edges that are not new]  local indices of the sources of those
 *             "degree"      packed [hop_end[hop_count]]  in-degree in the whole graph without self
 *                                                        loops; only when the model asks for it
 *             "weight_sum"  F32 [hop_end[hop_count]]  sum of the weights of a node's edges in the whole graph
 *                           (topology_weight_sum()); only when the model asks for it
 *             edge columns  [edges]  those of one number that the model asks for (edge_sections.h), at most the weight,
 *                           type, ... that the graph has
 *             "form"        U32 [1]  enum batch_form; without it NESTED
 *             "edge_factor" F32 [edges]  how many edges of the whole graph an edge stands for; only of samplers that weigh
 *             "seed_weight" F32 [seeds]  what the loss of a seed counts; only of samplers that weigh
 *             "seed_of"     packed [nodes]  of a disjoint batch: the seed that a node was reached from; as many bits as
 *                           the number of the last seed takes
 *             "pair_..."    of a task of pairs: which seeds are the ends of which (seed_pairs.h)
 *             "position_width" U32 [1]  bits of a value of edge_position, at most 32
 *             "edge_position"  packed [edges]  which edge of the row of its destination in the topology an edge is: whoever
 *                           reads rows of edge features finds them by it; only when the model asks for them
 *   version   5; a batch without the last two sections is written as version 4, and with none of the sections from "form"
 *             on as version 3, in the bytes that it always had
 *   packed    U64 words as in common/base/packed_integers.h, of the width that the section "width" says; bits
 *             too; what is left of the last word is zero
 *   valid     rows and their neighbours are as the form says (batch_form.h; of NESTED: rows exist for the nodes known
 *             before the last hop, each once, and a row's neighbours are below hop_end[h + 1] for a node of hop h); no
 *             node twice, but in a disjoint batch, where no edge joins nodes of two seeds; degrees with edge factors
 *
 * Why packed: the file system touches each page of a new record for the first time, which is slow on virtual
 * machines and made writing a third of what sampling takes. Nodes are numbered as edges find them, so that three edges of four are told by a
 * bit (common/graph/edge_discovery.h), and the rest is bits that would be zero. A reader gets plain arrays back.
 *
 * NESTED: each node is expanded once, at the hop where it first appears, with that hop's fan-out (PyG's rule).
 * Layer l of L (from 1) computes the nodes below hop_end[L - l] from those below hop_end[L - l + 1]. So it does of a
 * LAYERED batch (FastGCN, LADIES), in which every hop draws for all nodes so far. A SUBGRAPH (GraphSAINT, Cluster-GCN,
 * ShaDow) has the same edges for all layers; its seeds are those nodes whose loss counts.
 *
 * Rows of edge features are no numbers but a payload, of any width, and stay in the topology (store/topology/edge_rows.h):
 * a position takes the bits of the longest row's length, 5 to 20. Version 4 had the rows themselves.
 *
 * What degree and weight_sum mean: those of the whole graph, to which the sampled edges are an estimate; but in a SUBGRAPH
 * without edge factors those in the subgraph, which its papers take for a graph of its own.
 */
#ifndef STORE_RECORDS_MINI_BATCH_H
#define STORE_RECORDS_MINI_BATCH_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/graph/message_block.h"
#include "store/objects/store.h"
#include "store/records/seed_pairs.h"

#include <stdint.h>

enum { HOP_COUNT_MAX = 16 };

/* Stored numbers: never renumber, only add. */
enum batch_form { BATCH_NESTED, BATCH_LAYERED, BATCH_SUBGRAPH, BATCH_FORM_COUNT };

struct mini_batch { /* {0} is empty; one that was read: mini_batch_release() */
    enum batch_form form;
    int hop_count;
    uint32_t seed_count, node_count, row_count, edge_count;
    uint32_t node_limit;              /* of a batch that was read: no node is this or above */
    const uint32_t *hop_end;          /* [hop_count + 1] */
    const uint32_t *node;             /* [node_count] */
    const uint32_t *row_start;        /* [row_count + 1] */
    const uint32_t *neighbor;         /* [edge_count] */
    const uint32_t *degree;           /* [node_count] or NULL */
    const float *weight_sum;          /* [node_count] or NULL */
    struct edge_columns_view columns; /* [edge_count] */
    const uint32_t *edge_position;    /* [edge_count] or NULL */
    const float *edge_factor;         /* [edge_count] or NULL; with degree */
    const float *seed_weight;         /* [seed_count] or NULL */
    const uint32_t *seed_of;          /* [node_count] or NULL */
    struct seed_pairs pairs;          /* of seeds; {0}: none */
    struct arena memory;              /* of a batch that was read: holds the arrays */
};

/* The edges of layer `layer` (from 0), borrowed from the batch; those of a layer that is none have no rows. Whoever computes
 * on a batch gets its edges here, whatever the form. */
struct message_block mini_batch_block(const struct mini_batch *batch, int layer);

/* `scratch` is reset, holds the packed arrays meanwhile, and may bound them by its limit. */
MUST_CHECK enum error_code mini_batch_put(struct store *store, const char *key, const char *run_id,
                                          const struct mini_batch *batch, struct arena *scratch,
                                          struct error *err);
/* Every index is checked, so that kernels need not: ERROR_CORRUPT names what is out of range. What *out held
 * is gone in any case, and its memory used again: reading batches one after the other allocates nothing
 * once the largest was seen. */
MUST_CHECK enum error_code mini_batch_get(struct store *store, const char *key, const char *run_id,
                                          struct mini_batch *out, struct error *err);
/* The same of a record of any origin, which is not needed afterwards. */
MUST_CHECK enum error_code mini_batch_decode(const struct record_view *view, struct mini_batch *out,
                                             struct error *err);
/* No batch any more; the memory stays for the next. */
void mini_batch_forget(struct mini_batch *batch);
void mini_batch_release(struct mini_batch *batch);

#endif
