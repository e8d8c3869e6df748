/*
 * version_comparison - which nodes of a version have other edges, another row of features or another label than in a base.
 *
 * A sum of hashes over the edges of each node and relation, of the version's edges, less those of the base's topology with its ids shifted, is 0 where nothing has
 * changed (row_sums.h); rows of features are compared by a hash of each, labels as they are. The rows that the deltas between touched (changed_nodes.h) are read, and
 * no others, or, for a test, all. Of a graph with relations an edge is hashed with its relation. Either way the same comes out, so it does not matter how the version came about.
 */
#ifndef STAGES_PARTITION_VERSION_COMPARISON_H
#define STAGES_PARTITION_VERSION_COMPARISON_H

#include "common/base/error.h"
#include "stages/partition/changed_nodes.h"
#include "stages/partition/layout/part_delta.h"
#include "stages/partition/partition_input.h"
#include "stages/partition/row_sums.h"
#include "store/records/partition_book.h"
#include "store/records/tensor_spec.h"

#include <stdbool.h>
#include <stdint.h>

struct delta_base;

struct version_comparison {
    const struct partition_input *input;
    const struct delta_base *base;
    const struct numbering *numbering;
    enum tensor_type feature_type;
    bool reads_all; /* compares all rows, whatever deltas say */
    struct part_delta *delta;
    struct partition_book book; /* of the base */
    uint32_t *base_node;        /* [node_count] by the version's ids: the base's, or DELTA_GONE */
    bool fits;                  /* so far: the version may be a delta */
    /* While it is compared: */
    struct changed_nodes changed;
    struct row_sums rows; /* of edges */
    uint32_t relation_width;
    uint64_t *sum; /* [node_count] of rows of features, by the version's ids */
    char *bytes;   /* of an edge, or of a row */
};

/* Fills delta->other and which rows of relations are, of which the record and the shift are there; nodes that the base has not are other in everything. c->fits is false when the base's
 * columns or tensors are not those of the version. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_compare(struct version_comparison *c, struct error *err);

#endif
