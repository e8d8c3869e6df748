/*
 * partition_trial - how good the parts of a method are and what it takes to find them, without laying anything out.
 *
 * The figures are those of the report (partition_report.h), by the same code, beside the seconds and the memory of the
 * method alone: {"method", "seconds", "peak_bytes", "batch_bytes", "report": {...}}. Nothing is stored.
 *
 * With the table of what a run read (context->trial_loads) there is "loads": {"cut_share", "reads": {"ratio", "variation", "efficiency"}}
 * (load_quality.h), too, and batch_bytes goes by that share of cut edges. Whether the method goes by loads partition.loads says.
 */
#ifndef STAGES_PARTITION_PARTITION_TRIAL_H
#define STAGES_PARTITION_PARTITION_TRIAL_H

#include "common/base/error.h"
#include "stages/partition/partition_input.h"

/* Writes context->trial_path, whole or not at all. `input`: read, not measured yet.
 * Fails: what the method fails with; ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code partition_trial(struct partition_input *input, struct error *err);

#endif
