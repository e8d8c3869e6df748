/*
 * version_comparison - finds the nodes of a version that have other edges, another row of features
 * or another label than in a base.
 *
 * For each node and relation it adds the hashes of the version's edges and subtracts those of the
 * edges in the base's topology, with the base's ids translated: the sum is 0 if nothing has changed
 * (row_sums.h). Rows of features are compared by their hashes, labels directly. In a graph with
 * relations the hash of an edge includes its relation. Only the rows that the deltas between base
 * and version touched (changed_nodes.h) are read, or, for a test, all rows. The result is the same,
 * so it does not depend on how the version was made.
 */
#ifndef STAGES_PARTITION_VERSION_COMPARISON_H
#define STAGES_PARTITION_VERSION_COMPARISON_H

#include "common/base/error.h"
#include "stages/partition/changed_nodes.h"
#include "stages/partition/layout/part_delta.h"
#include "stages/partition/partition_input.h"
#include "stages/partition/row_sums.h"
#include "store/records/partition/partition_book.h"
#include "store/records/round/tensor_spec.h"

#include <stdbool.h>
#include <stdint.h>

struct delta_base;

struct version_comparison {
    const struct partition_input *input;
    const struct delta_base *base;
    const struct numbering *numbering;
    enum tensor_type feature_type;
    bool reads_all; /* compare all rows, whatever the deltas say */
    struct part_delta *delta;
    struct partition_book book; /* the book of the base */
    /* [node_count] by the version's ids: the base's id, or DELTA_GONE. */
    uint32_t *base_node;
    /* So far the version may be a delta of the base. */
    bool fits;
    /* Used during the comparison: */
    struct changed_nodes changed;
    struct row_sums rows; /* sums of edges */
    uint32_t relation_width;
    uint64_t *sum; /* [node_count] hashes of rows of features, by the version's ids */
    char *bytes;   /* the bytes of an edge, or of a row */
};

/* Fills delta->other and the changed rows of relations; record and translation of `c` are there.
 * For nodes that the base does not have, everything has changed. c->fits is false if the base's
 * columns or tensors differ from those of the version. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_compare(struct version_comparison *c, struct error *err);

#endif
