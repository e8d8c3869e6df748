/*
 * type_feature_files - the features of node types, each type in files of its own: .npy, or text
 * with a row of numbers in each line.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_TYPE_FEATURE_FILES_H
#define STAGES_INGEST_FORMATS_FOLDERS_TYPE_FEATURE_FILES_H

#include "common/base/error.h"
#include "stages/ingest/formats/folders/folder_meta.h"
#include "stages/ingest/formats/folders/typed_graph.h"

/* Pushes files [count]. The files of a type are in the order of their rows and cover the type. With
 * `has_relations` each type has its own width; without, all have one, and types without a file get
 * zeros. `where` is for messages about types. Fails: ERROR_INPUT naming file and shape or line. */
MUST_CHECK enum error_code
type_feature_files_push(const struct folder_meta *meta, bool has_relations,
                        const struct typed_rows *files, uint32_t count, const char *where,
                        struct dataset_builder *builder, struct error *err);

#endif
