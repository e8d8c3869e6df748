/*
 * tu_features - the features of nodes in the files of the TU Dortmund collection (tu_reader.c).
 */
#ifndef STAGES_INGEST_FORMATS_COLLECTIONS_TU_FEATURES_H
#define STAGES_INGEST_FORMATS_COLLECTIONS_TU_FEATURES_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdint.h>

/* Pushes the features. `attributes` and `labels`: paths; "": there is no such file. Fails:
 * ERROR_INPUT naming file and line. */
MUST_CHECK enum error_code tu_features_push(const char *attributes, const char *labels,
                                            uint64_t node_count, struct dataset_builder *builder,
                                            struct error *err);

#endif
