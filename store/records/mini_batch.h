/*
 * mini_batch - one sampled neighbourhood: ids and local edges, no features.
 *
 * Written by sample, read by train-step (and by infer's checks); lives until its round is older than
 * the oldest snapshot kept. Node ids are those of the partition.
 *
 *   key       run/<id>/round/<r>/slot/<k>/mini_batch, run/<id>/evaluation/<k>/mini_batch
 *   sections  "hop_end"    U32 [hop_count + 1]  nodes known after hop h; hop_end[0] = seed count
 *             "node"       U32 [hop_end[hop_count]]  in order of discovery; the seeds come first
 *             "row_start"  U32 [hop_end[hop_count - 1] + 1]  (one row with no hops: 1 entry)
 *             "neighbor"   U32 [row_start[last]]  local indices of the sources of each row's edges
 *             "degree"     U32 [hop_end[hop_count]]  in-degree in the whole graph without self
 *                                                    loops; only when the model asks for it
 *             "weight"     F32 [edges]  only for weighted graphs
 *   valid     rows exist for the nodes known before the last hop, each node once; a row's neighbours
 *             are below hop_end[h + 1] for a node of hop h; no node twice
 *
 * Each node is expanded once, at the hop where it first appears, with that hop's fan-out (PyG's rule).
 * Layer l of L (from 1) computes the nodes below hop_end[L - l] from those below hop_end[L - l + 1].
 */
#ifndef STORE_RECORDS_MINI_BATCH_H
#define STORE_RECORDS_MINI_BATCH_H

#include "common/base/error.h"
#include "store/store.h"

#include <stdint.h>

enum { HOP_COUNT_MAX = 16 };

struct mini_batch {
    int hop_count;
    uint32_t seed_count, node_count, row_count, edge_count;
    uint32_t node_limit;       /* of a batch that was read: no node is this or above */
    const uint32_t *hop_end;   /* [hop_count + 1] */
    const uint32_t *node;      /* [node_count] */
    const uint32_t *row_start; /* [row_count + 1] */
    const uint32_t *neighbor;  /* [edge_count] */
    const uint32_t *degree;    /* [node_count] or NULL */
    const float *weight;       /* [edge_count] or NULL */
    struct record_view view;   /* release with store_release_record() */
};

MUST_CHECK enum error_code mini_batch_put(struct store *store, const char *key, const char *run_id,
                                          const struct mini_batch *batch, struct error *err);
/* Every index is checked, so that kernels need not: ERROR_CORRUPT names what is out of range. */
MUST_CHECK enum error_code mini_batch_get(struct store *store, const char *key, const char *run_id,
                                          struct mini_batch *out, struct error *err);
/* The check alone, of a decoded record of any origin. */
MUST_CHECK enum error_code mini_batch_decode(const struct record_view *view, struct mini_batch *out,
                                             struct error *err);

#endif
