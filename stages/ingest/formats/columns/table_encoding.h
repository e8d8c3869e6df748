/*
 * table_encoding - finds how the columns of a table of nodes become numbers
 * (common/formats/text/column_encoding.h): which words are classes, and how ingest.feature_columns and
 * ingest.missing_values encode its columns.
 *
 * Each file is read in one pass. Words are in ascending order, so nothing depends on the order of
 * the lines. If ingest.column_encoding names a file, that file is the encoding, and nothing is
 * measured.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_TABLE_ENCODING_H
#define STAGES_INGEST_FORMATS_COLUMNS_TABLE_ENCODING_H

#include "common/base/error.h"
#include "common/formats/text/column_encoding.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/keyed_file.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdbool.h>

/* Returns whether the settings ask for columns of features to be encoded: there is a text file of
 * features, and a setting about its columns. */
bool table_encoding_is_wanted(const struct pipeline_settings *settings);
/* Finds the words of the labels' only column, if it has words. Without a file of labels, and for
 * tasks of numbers, it finds nothing. Notes which words that people use for missing values are
 * classes here, and which cells say that no class is known. Fails: ERROR_INPUT naming file and
 * line: words and numbers in one column. */
MUST_CHECK enum error_code
table_encoding_find_classes(struct keyed_file *labels, const struct named_nodes *nodes,
                            enum task_kind task, struct dataset_builder *builder,
                            struct column_encoding *out, struct error *err);
/* Finds the encoding of the columns of features, in the order of the file's values. Fails:
 * ERROR_INVALID for settings that cannot be parsed; ERROR_INPUT naming file and line. */
MUST_CHECK enum error_code table_encoding_find_columns(struct keyed_file *features,
                                                       const struct named_nodes *nodes,
                                                       const struct pipeline_settings *settings,
                                                       struct column_encoding *out,
                                                       struct error *err);
/* Reads the whole file that ingest.column_encoding names. Fails: ERROR_INPUT, ERROR_NOT_FOUND. */
MUST_CHECK enum error_code table_encoding_read(const char *path, struct column_encoding *out,
                                               struct error *err);
/* Writes the names of the columns as entries, for a choice of columns. Owns: *out. */
MUST_CHECK enum error_code table_encoding_names(const struct column_encoding *encoding, char **out,
                                                struct error *err);

#endif
