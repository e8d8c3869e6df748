/*
 * partition_input - what partition knows of a dataset before it cuts it: schema, degrees, splits, and what memory there is.
 */
#ifndef STAGES_PARTITION_PARTITION_INPUT_H
#define STAGES_PARTITION_PARTITION_INPUT_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/partition/methods/partitioner.h"
#include "store/objects/keys.h"
#include "store/records/dataset_schema.h"
#include "store/records/graph_index.h"

#include <stdint.h>

struct partition_input { /* {0} is empty; large for a stack */
    const struct stage_context *context;
    struct dataset_schema schema;
    char id[ID_SIZE];      /* of the partition */
    uint64_t budget_bytes; /* what arrays of nodes leave of the memory */
    uint32_t *in_degree;   /* [node_count], owned; likewise below */
    uint8_t *
        split_marks; /* [node_count]: enum split plus 1, 0 for none; of graphs that of a node's own */
    struct graph_index graphs;   /* of a task of graphs */
    struct measured_loads loads; /* once they are taken */
};

/* Finds the newest dataset of the settings. Fails: ERROR_UNAVAILABLE when there is none yet. */
MUST_CHECK enum error_code partition_input_dataset(const struct stage_context *context,
                                                   char dataset_id[ID_SIZE], struct error *err);
/* Finds the newest dataset of the settings, and what the partition is called. Borrows `context`.
 * Fails: ERROR_UNAVAILABLE when there is none yet; ERROR_INVALID for settings that do not fit it. */
MUST_CHECK enum error_code partition_input_read(struct partition_input *input,
                                                const struct stage_context *context,
                                                struct error *err);
/* The same of a dataset that is named. */
MUST_CHECK enum error_code partition_input_of(struct partition_input *input,
                                              const struct stage_context *context,
                                              const char *dataset_id, struct error *err);
/* Degrees and splits. Fails: ERROR_CORRUPT naming the record; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code partition_input_measure(struct partition_input *input,
                                                   struct error *err);
/* Reads partition.loads, where it is set; only who gives parts to all nodes needs it. Needs the degrees.
 * Fails: what measured_loads_read() fails with. */
MUST_CHECK enum error_code partition_input_take_loads(struct partition_input *input,
                                                      struct error *err);
/* What a partitioner gets; borrows `input`. */
struct partition_request partition_input_request(const struct partition_input *input);
void partition_input_release(struct partition_input *input);

#endif
