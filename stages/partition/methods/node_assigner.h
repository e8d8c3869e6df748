/*
 * node_assigner - the part of every node, by the method that the settings name.
 *
 * metis: few cut edges, needs the graph in memory. hash: no memory, most edges cut. file: whatever made
 * the file (DGL's or ParMETIS's tools, a streaming partitioner, a person).
 */
#ifndef STAGES_PARTITION_METHODS_NODE_ASSIGNER_H
#define STAGES_PARTITION_METHODS_NODE_ASSIGNER_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

struct assigner_request { /* all borrowed */
    struct store *store;
    const struct pipeline_settings *settings;
    const struct dataset_schema *schema;
    const uint32_t *in_degree;  /* [node_count] */
    const uint8_t *split_marks; /* [node_count]: enum split plus 1, 0 for none */
    uint64_t budget_bytes;
};

/* Fills part [node_count]; every part has a node.
 * Fails: ERROR_NO_MEMORY when METIS would exceed the budget, naming both; ERROR_INPUT for a bad
 * assignment file; what the method fails with. */
MUST_CHECK enum error_code node_assigner_run(const struct assigner_request *request, uint32_t *part,
                                             struct error *err);

#endif
