/*
 * load_quality - measures how good parts are by what a run read, whatever method made them.
 */
#ifndef STAGES_PARTITION_CHECK_LOAD_QUALITY_H
#define STAGES_PARTITION_CHECK_LOAD_QUALITY_H

#include "common/base/error.h"
#include "stages/partition/rules/measured_loads.h"
#include "store/records/partition/partition_report.h"

#include <stdint.h>

struct load_quality {
    /* The share of sampled edges with ends in two parts; 0 if none was sampled. */
    double cut_share;
    /* The rows of each part that were read; with a table that has times, their time. */
    struct balance reads;
    double efficiency; /* mean of these by the largest */
};

/* Measures part [nodes of the schema], each below `part_count`. Reads the edges once. Fails: what
 * edge_walk() fails with; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code load_quality_measure(struct store *store,
                                                const struct dataset_schema *schema,
                                                const struct measured_loads *loads,
                                                const uint32_t *part, int part_count,
                                                struct load_quality *out, struct error *err);

#endif
