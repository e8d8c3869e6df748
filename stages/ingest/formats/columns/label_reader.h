/*
 * label_reader - the labels of all nodes, from a .csv[.gz] or .npy file with one row a node.
 *
 * The task says what the columns are (common/nn/tasks); without a task (TASK_UNKNOWN) their number
 * shows it.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_LABEL_READER_H
#define STAGES_INGEST_FORMATS_COLUMNS_LABEL_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdint.h>

/* Reads the labels and pushes them. `class_count`: known from elsewhere, a higher label is refused;
 * 0: not known. Fails: ERROR_INPUT naming file, line, what was expected and found;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code label_reader_run(const char *path, uint64_t node_count,
                                            uint32_t class_count, enum task_kind task,
                                            struct dataset_builder *builder, struct error *err);

#endif
