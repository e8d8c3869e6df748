/*
 * input_format - the formats of ingest.format, a row each: which files they read, who reads them, what to write where something
 * lacks. A format more is a reader, a value of enum ingest_format and a row here.
 */
#ifndef STAGES_INGEST_FORMATS_INPUT_FORMAT_H
#define STAGES_INGEST_FORMATS_INPUT_FORMAT_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/plan/pipeline_settings.h"

#include <stdbool.h>
#include <stdint.h>

struct input_format {
    bool is_file;           /* ingest.path is one file; else a folder */
    bool has_folders;       /* which has folders of files in it */
    const char *endings[8]; /* of the files in it that are read, NULL-terminated */
    struct training_advice advice;
    enum error_code (*run)(const struct pipeline_settings *settings, uint64_t memory_bytes,
                           struct dataset_builder *builder, struct error *err);
};

const struct input_format *input_format_of(enum ingest_format format);
/* What a task of graphs lacks. */
extern const struct training_advice input_format_graph_advice;

#endif
