/*
 * load_quality - how good parts are by what a run read, whatever made them.
 */
#ifndef STAGES_PARTITION_CHECK_LOAD_QUALITY_H
#define STAGES_PARTITION_CHECK_LOAD_QUALITY_H

#include "common/base/error.h"
#include "stages/partition/methods/measured_loads.h"
#include "store/records/partition_report.h"

#include <stdint.h>

struct load_quality {
    double cut_share; /* of the edges that were sampled, those with ends in two parts; 0 without */
    struct balance reads; /* rows of a part that were read; by a table with times what it took */
    double efficiency;    /* of these: mean by most */
};

/* part [nodes of the schema], each below `part_count`. Reads the edges once.
 * Fails: what edge_walk() fails with; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code load_quality_measure(struct store *store,
                                                const struct dataset_schema *schema,
                                                const struct measured_loads *loads,
                                                const uint32_t *part, int part_count,
                                                struct load_quality *out, struct error *err);

#endif
