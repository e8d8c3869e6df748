/*
 * partition_trial - measures how good the parts of a method are, and what the method costs, without
 * writing any part.
 *
 * The figures are those of the report (partition_report.h), from the same code, beside the seconds
 * and the memory of the method alone: {"method", "seconds", "peak_bytes", "batch_bytes", "report":
 * {...}}. Nothing is stored.
 *
 * With the table of what a run read (context->trial_loads) the result also has "loads":
 * {"cut_share", "reads": {"ratio", "variation", "efficiency"}} (load_quality.h), and batch_bytes is
 * computed from that share of cut edges. partition.loads says whether the method itself uses loads.
 */
#ifndef STAGES_PARTITION_PARTITION_TRIAL_H
#define STAGES_PARTITION_PARTITION_TRIAL_H

#include "common/base/error.h"
#include "stages/partition/partition_input.h"

/* Writes context->trial_path, whole or not at all. `input` was read but not measured. Fails: what
 * the method fails with; ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code partition_trial(struct partition_input *input, struct error *err);

#endif
