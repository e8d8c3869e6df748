/*
 * partition_id - what a partition is called: by everything its bytes depend on.
 *
 * <dataset id>-<8 hexadecimal digits>: a hash of the partition's settings and the seed. Of an assignment
 * file the content counts, not where it lies.
 */
#ifndef STAGES_PARTITION_PARTITION_ID_H
#define STAGES_PARTITION_PARTITION_ID_H

#include "common/base/error.h"
#include "stages/pipeline_settings.h"
#include "store/keys.h"

/* Fails: ERROR_NOT_FOUND and ERROR_IO for the assignment file; ERROR_INVALID when the id is too long. */
MUST_CHECK enum error_code partition_id(const struct pipeline_settings *settings,
                                        const char *dataset_id, char id[ID_SIZE],
                                        struct error *err);

#endif
