/*
 * partition_input - everything that partition needs of a dataset before it cuts it: schema,
 * degrees, splits, and the memory budget.
 */
#ifndef STAGES_PARTITION_PARTITION_INPUT_H
#define STAGES_PARTITION_PARTITION_INPUT_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/partition/rules/partitioner.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/graph_index.h"

#include <stdint.h>

struct partition_input { /* {0} is empty; too large for a stack */
    const struct stage_context *context;
    struct dataset_schema schema;
    char id[ID_SIZE];      /* id of the partition */
    uint64_t budget_bytes; /* memory that is left beside the arrays of nodes */
    uint32_t *in_degree;   /* [node_count], owned, and so are the next */
    /* [node_count]: enum split plus 1, 0 for none. In a task of graphs the split of the node's
     * graph. */
    uint8_t *split_marks;
    struct graph_index graphs;   /* for a task of graphs */
    struct measured_loads loads; /* after partition_input_take_loads() */
};

/* Finds the newest dataset of the settings. Fails: ERROR_UNAVAILABLE while there is none. */
MUST_CHECK enum error_code partition_input_dataset(const struct stage_context *context,
                                                   char dataset_id[ID_SIZE], struct error *err);
/* Finds the newest dataset of the settings and the id of its partition. Borrows `context`. Fails:
 * ERROR_UNAVAILABLE while there is none; ERROR_INVALID for settings that do not fit it. */
MUST_CHECK enum error_code partition_input_read(struct partition_input *input,
                                                const struct stage_context *context,
                                                struct error *err);
/* Does the same for a given dataset. */
MUST_CHECK enum error_code partition_input_of(struct partition_input *input,
                                              const struct stage_context *context,
                                              const char *dataset_id, struct error *err);
/* Reads degrees and splits. Fails: ERROR_CORRUPT naming the record; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code partition_input_measure(struct partition_input *input,
                                                   struct error *err);
/* Reads partition.loads, if it is set. Only programs that assign all nodes need it.
 * partition_input_measure() comes first. Fails: what measured_loads_read() fails with. */
MUST_CHECK enum error_code partition_input_take_loads(struct partition_input *input,
                                                      struct error *err);
/* Returns the request for a partitioner. It borrows `input`. */
struct partition_request partition_input_request(const struct partition_input *input);
void partition_input_release(struct partition_input *input);

#endif
