/*
 * mini_batch - one sampled neighbourhood: ids and local edges, no features.
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
 *             edge columns  [edges]  those that the model asks for (edge_sections.h), at most the weight, type, ... that
 *                           the graph has
 *   packed    U64 words as in common/base/packed_integers.h, of the width that the section "width" says; bits
 *             too; what is left of the last word is zero
 *   valid     rows exist for the nodes known before the last hop, each node once; a row's neighbours
 *             are below hop_end[h + 1] for a node of hop h; no node twice
 *
 * Why packed: the file system touches each page of a new record for the first time, which is slow on virtual
 * machines and made writing a third of what sampling takes. Nodes are numbered as edges find them, so that three edges of four are told by a
 * bit (common/graph/edge_discovery.h), and the rest is bits that would be zero. A reader gets plain arrays back.
 *
 * Each node is expanded once, at the hop where it first appears, with that hop's fan-out (PyG's rule).
 * Layer l of L (from 1) computes the nodes below hop_end[L - l] from those below hop_end[L - l + 1].
 */
#ifndef STORE_RECORDS_MINI_BATCH_H
#define STORE_RECORDS_MINI_BATCH_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "store/objects/store.h"

#include <stdint.h>

enum { HOP_COUNT_MAX = 16 };

struct mini_batch { /* {0} is empty; one that was read: mini_batch_release() */
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
    struct arena memory;              /* of a batch that was read: holds the arrays */
};

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
