/*
 * given_negatives - the other ends of pairs that are no edges, as files list them for single edges of a split.
 *
 * Lines are taken as they are read, and matched with the edges when it is known which those of each split are: one of validation or
 * test is of a held-out edge, each of which has one, and one of training of an edge that stays. Of an undirected graph a line of a
 * held-out edge may have its ends either way, which is then the way that the edge is held out.
 *
 * Memory: 26 bytes a line and 4 bytes an end, up to twice that while lists grow; at most a quarter of the budget.
 */
#ifndef STAGES_INGEST_BUILD_GIVEN_NEGATIVES_H
#define STAGES_INGEST_BUILD_GIVEN_NEGATIVES_H

#include "common/base/error.h"
#include "common/graph/edge_index.h"
#include "stages/ingest/build/given_edge.h"
#include "store/records/dataset_schema.h"
#include "store/records/edge_splits.h"
#include "store/records/node_ids.h"
#include "store/records/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

struct negative_list { /* {0} is of no file */
    char *where;       /* the file; owned */
    size_t count;
    uint32_t *source, *target; /* [count] */
    uint16_t *type;            /* [count] */
    int64_t *line;             /* [count]; below 0 once its edge was seen, of training */
    uint64_t *start;           /* [count + 1] */
    uint32_t *node;            /* [start[count]] */
    size_t source_capacity, target_capacity, type_capacity, line_capacity, start_capacity,
        node_capacity;
    struct edge_index index;
};

struct given_negatives {                  /* {0} has none, and is releasable */
    struct negative_list of[SPLIT_COUNT]; /* by enum split */
    uint64_t memory_bytes;                /* 0: any */
};

struct held_edges;

void given_negatives_release(struct given_negatives *given);
/* Notes `count` other ends of an edge of the split. Fails: ERROR_INPUT naming file and line for a node out of range or of a
 * type that is at neither end of the relation, for nodes of several types, and for no ends; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code given_negatives_add(struct given_negatives *given, enum split split,
                                               const struct dataset_schema *schema,
                                               const struct given_edge *edge, const int64_t *node,
                                               size_t count, struct error *err);
/* When all lines are noted. `ids` names nodes in messages. Fails: ERROR_INPUT for an edge with two lines. */
MUST_CHECK enum error_code given_negatives_sort(struct given_negatives *given,
                                                const struct dataset_schema *schema,
                                                const struct node_ids *ids, struct error *err);
/* An edge that stays. */
void given_negatives_see(struct given_negatives *given, uint32_t source, uint32_t target,
                         uint16_t type);
/* Brings the lists into the order of the held-out edges `held` [HELD_OUT_COUNT], which it may turn round, and into `splits`, which borrows them. Fails: ERROR_INPUT
 * naming file and line for a line of no edge of its split, and for a held-out edge without a line. */
MUST_CHECK enum error_code given_negatives_match(struct given_negatives *given,
                                                 const struct node_ids *ids,
                                                 struct held_edges *held,
                                                 struct edge_splits *splits, struct error *err);

#endif
