/*
 * relation_batch - one sampled neighbourhood of a graph with relations: ids by type and local edges by relation.
 *
 * What mini_batch.h is of a graph without: the same kind of record under the same key, written by sample and read by
 * train-step, of another version.
 *
 *   version   32; those below are mini_batch.h's
 *   sections  "shape"      U32 [3]  hops, node types, relations
 *             "ends"       U16 [relations, 2]  source and target type of each
 *             "hop_end"    U32 [types, hops + 1]  nodes of the type known after hop h; after hop 0 its seeds
 *             "row_count"  U32 [relations]  rows with edges
 *             "width"      U32 [5]  bits of a value of node, row, row_length, neighbor and degree, at most 32
 *             "node"       packed [nodes]  partition ids, type by type, in order of discovery inside the type
 *             "row"        packed [rows]   relation by relation: the nodes of the target type that have edges of it, as
 *                                          local indices, ascending
 *             "row_length" packed [rows]   edges of each, at least 1
 *             "neighbor"   packed [edges]  local indices inside the source type
 *             "degree"     packed [rows]   edges of the relation that end in the node, in the whole graph; only when the model
 *                                          asks for it
 *             edge columns [edges]         as mini_batch.h has them
 *             the sections of seed_pairs.h, of a task of pairs: a seed's number counts those of the types before
 *   packed    as mini_batch.h says
 *   valid     seeds in all, and all else in order: of a row that was known before hop h, the sources are known after it; no
 *             node twice; degrees of at least the row's edges
 *
 * Each node is expanded once, at the hop where it first appears, for every relation that ends in its type (PyG's rule of a
 * heterogeneous NeighborLoader). Rows without edges are left out: of many relations a node has edges of few.
 */
#ifndef STORE_RECORDS_RELATION_BATCH_H
#define STORE_RECORDS_RELATION_BATCH_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/graph/relation_block.h"
#include "store/objects/store.h"
#include "store/records/mini_batch.h"
#include "store/records/seed_pairs.h"
#include "store/records/type_ranges.h"

#include <stdint.h>

struct relation_batch { /* {0} is empty; one that was read: relation_batch_release() */
    int hop_count;
    uint32_t type_count, relation_count;
    uint32_t node_count, row_count, edge_count; /* of all types, of all relations */
    const uint16_t *ends;                       /* [relation_count, 2] source and target type */
    const uint32_t *hop_end;                    /* [type_count, hop_count + 1] */
    const uint32_t *node_begin; /* [type_count + 1] where the nodes of a type begin */
    const uint32_t *node;       /* [node_count] */
    const uint32_t *row_begin;  /* [relation_count + 1] where the rows of a relation begin */
    const uint32_t *edge_begin; /* [relation_count + 1] and its edges */
    const uint32_t *row;        /* [row_count] */
    const uint32_t *row_start;  /* [row_count + relation_count] a relation's rows + 1, from 0 */
    const uint32_t *neighbor;   /* [edge_count] */
    const uint32_t *degree;     /* [row_count] or NULL */
    struct edge_columns_view columns; /* [edge_count] */
    struct seed_pairs pairs;          /* {0}: the seeds are examples themselves */
    struct arena memory;              /* of a batch that was read: holds the arrays */
};

/* Nodes of a type that are known after `hop` hops; the first of them are its seeds. */
static inline uint32_t relation_batch_known(const struct relation_batch *batch, uint32_t type,
                                            int hop)
{
    return batch->hop_end[(size_t)type * ((size_t)batch->hop_count + 1) + (size_t)hop];
}

/* Seeds of all types before `type`; of `type_count` all of them. */
static inline uint32_t relation_batch_seeds(const struct relation_batch *batch, uint32_t type)
{
    uint32_t seeds = 0;
    for (uint32_t t = 0; t < type; t++)
        seeds += relation_batch_known(batch, t, 0);
    return seeds;
}

/* What layer `layer` (from 0) computes on: fills the arrays of `out`, which are the caller's: destination_count and
 * source_count [type_count], edges [relation_count]. What they point to is the batch's. Edge values are the weights of the batch, if
 * it has any. */
void relation_batch_block(const struct relation_batch *batch, int layer,
                          uint32_t *destination_count, uint32_t *source_count,
                          struct relation_edges *edges, struct relation_block *out);

/* The numbers of a type's nodes in the batch among all nodes of the type (type_ranges.h), into out [nodes of the type].
 * `type_book` is that of the type. Fails: ERROR_CORRUPT for a node that is of another type. */
MUST_CHECK enum error_code relation_batch_numbers(const struct relation_batch *batch, uint32_t type,
                                                  const struct type_ranges *ranges,
                                                  const uint32_t *type_book, uint32_t *out,
                                                  struct error *err);

/* As mini_batch_put(), mini_batch_get() and so on. */
MUST_CHECK enum error_code relation_batch_put(struct store *store, const char *key,
                                              const char *run_id,
                                              const struct relation_batch *batch,
                                              struct arena *scratch, struct error *err);
MUST_CHECK enum error_code relation_batch_get(struct store *store, const char *key,
                                              const char *run_id, struct relation_batch *out,
                                              struct error *err);
MUST_CHECK enum error_code relation_batch_decode(const struct record_view *view,
                                                 struct relation_batch *out, struct error *err);
void relation_batch_forget(struct relation_batch *batch);
void relation_batch_release(struct relation_batch *batch);

#endif
