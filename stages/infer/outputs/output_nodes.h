/*
 * output_nodes - the nodes that outputs are of: all, or of a graph with relations those of one type, which is the target type, or
 * of a task of pairs each one after the other; of a task of graphs these, which are rows and numbers alike, in place of nodes.
 *
 * They are counted in two ways. By number they stand as in the shards (type_ranges.h), which for a graph without relations is
 * the partition id; by row as in the outputs, in the order of the input.
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
    struct column_encoding words; /* of classes, or none */
    uint32_t count;
    uint32_t type;        /* of nodes; 0 without relations */
    uint32_t first_node;  /* of the dataset: row i is its node first_node + i */
    const uint32_t *book; /* [part_count + 1]: the numbers of each part */
    struct node_permutation
        permutation; /* to_dataset is number -> row, to_partition row -> number; of graphs empty */
    struct node_ids ids; /* of all nodes of the dataset, or of graphs; without arrays: 0 .. N-1 */
    uint32_t split_count[SPLIT_COUNT];
    uint8_t
        *split_of; /* [count] by number: enum split + 1, 0 for none; owned, as are those below */
    uint32_t *own_book; /* of a graph with relations */
    struct type_permutation of_type;
};

/* Those of `type`, of a graph with relations. Fails: ERROR_CORRUPT for records that do not suit the partition; as the store does. */
MUST_CHECK enum error_code output_nodes_open(const struct stage_context *context, uint32_t type,
                                             struct output_nodes *out, struct error *err);
void output_nodes_release(struct output_nodes *nodes);

#endif
