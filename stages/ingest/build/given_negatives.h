/*
 * given_negatives - the nodes that form pairs without an edge, as files list them for single edges
 * of a split.
 *
 * Lines are collected as they are read, and matched with the edges once the edges of each split are
 * known. A line of validation or test belongs to a held-out edge, and each held-out edge has one; a
 * line of training belongs to an edge that stays. In an undirected graph the line of a held-out
 * edge may have its ends in either order; the edge is then held out in that order.
 *
 * Memory: 26 bytes a line and 4 bytes a listed node, up to twice that while lists grow; at most a
 * quarter of the budget.
 */
#ifndef STAGES_INGEST_BUILD_GIVEN_NEGATIVES_H
#define STAGES_INGEST_BUILD_GIVEN_NEGATIVES_H

#include "common/base/error.h"
#include "common/graph/edge_index.h"
#include "stages/ingest/build/edges/given_edge.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

struct negative_list { /* {0} has no file */
    char *where;       /* the file; owned */
    size_t count;
    uint32_t *source, *target; /* [count] */
    uint16_t *type;            /* [count] */
    int64_t *line;             /* [count]; for training, below 0 once its edge was seen */
    uint64_t *start;           /* [count + 1] */
    uint32_t *node;            /* [start[count]] */
    size_t source_capacity, target_capacity, type_capacity, line_capacity, start_capacity,
        node_capacity;
    struct edge_index index;
};

struct given_negatives {                  /* {0} has none, and is releasable */
    struct negative_list of[SPLIT_COUNT]; /* by enum split */
    uint64_t memory_bytes;                /* 0: no limit */
};

struct held_edges;

void given_negatives_release(struct given_negatives *given);
/* Notes `count` other ends of an edge of the split. Fails: ERROR_INPUT naming file and line for a
 * node out of range or of a type that neither end of the relation has, for nodes of several types,
 * and for an empty list; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code given_negatives_add(struct given_negatives *given, enum split split,
                                               const struct dataset_schema *schema,
                                               const struct given_edge *edge, const int64_t *node,
                                               size_t count, struct error *err);
/* Sorts the lines once all are noted. `ids` names nodes in messages. Fails: ERROR_INPUT for an edge
 * with two lines. */
MUST_CHECK enum error_code given_negatives_sort(struct given_negatives *given,
                                                const struct dataset_schema *schema,
                                                const struct node_ids *ids, struct error *err);
/* Notes that the edge stays in training. */
void given_negatives_see(struct given_negatives *given, uint32_t source, uint32_t target,
                         uint16_t type);
/* Puts the lists into the order of the held-out edges `held` [HELD_OUT_COUNT], whose ends it may
 * exchange, and into `splits`, which borrows them. Fails: ERROR_INPUT naming file and line for a
 * line whose edge is not in its split, and for a held-out edge without a line. */
MUST_CHECK enum error_code given_negatives_match(struct given_negatives *given,
                                                 const struct node_ids *ids,
                                                 struct held_edges *held,
                                                 struct edge_splits *splits, struct error *err);

#endif
