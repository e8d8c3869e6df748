/*
 * output_nodes - the nodes that have outputs: all nodes; in a graph with relations, the nodes of
 * one type. That is the target type, or in a task of pairs each type in turn. In a task of graphs,
 * graphs take the place of nodes, and their rows are their numbers.
 *
 * Nodes have two orders. By number, they stand as in the shards (type_ranges.h); in a graph
 * without relations the number is the partition id. By row, they stand as in the outputs, in the
 * order of the input.
 */
#ifndef STAGES_INFER_OUTPUTS_OUTPUT_NODES_H
#define STAGES_INFER_OUTPUTS_OUTPUT_NODES_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "store/records/dataset/node_columns.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/node_permutation.h"

#include <stdint.h>

struct output_nodes {             /* {0} is empty; release with output_nodes_release() */
    struct column_encoding words; /* names of classes, or none */
    uint32_t count;
    uint32_t type;        /* node type; 0 without relations */
    uint32_t first_node;  /* row i is node first_node + i of the dataset */
    const uint32_t *book; /* [part_count + 1]: the first number of each part */
    /* to_dataset maps numbers to rows, to_partition maps rows to numbers; empty for graphs */
    struct node_permutation permutation;
    /* of all nodes of the dataset, or of graphs; without arrays, ids are 0 .. N-1 */
    struct node_ids ids;
    uint32_t split_count[SPLIT_COUNT];
    /* [count] by number: enum split + 1, 0 for none; owned, like the following fields */
    uint8_t *split_of;
    uint32_t *own_book; /* `book` of a graph with relations */
    struct type_permutation of_type;
};

/* Opens the nodes of `type` in a graph with relations, otherwise all. Fails: ERROR_CORRUPT for
 * records that do not fit the partition; as the store does. */
MUST_CHECK enum error_code output_nodes_open(const struct stage_context *context, uint32_t type,
                                             struct output_nodes *out, struct error *err);
void output_nodes_release(struct output_nodes *nodes);

#endif
