/*
 * sparse_columns - the number of columns of sparse features whose files do not say it:
 * ingest.sparse_columns.
 *
 *   1902                          for all node types
 *   paper: 1902; author: 334      for some node types
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_SPARSE_COLUMNS_H
#define STAGES_INGEST_FORMATS_COLUMNS_SPARSE_COLUMNS_H

#include "common/base/error.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

/* Sets *out to the columns of the node type `name` (NULL: of a graph without types), or to 0 if the
 * setting does not name it. Fails: ERROR_INVALID naming the entry that cannot be parsed. */
MUST_CHECK enum error_code sparse_columns_of(const char *setting, const char *name, uint32_t *out,
                                             struct error *err);
/* Checks that each entry names one of `type` [count]. Fails: ERROR_INVALID naming an entry whose
 * type does not exist. */
MUST_CHECK enum error_code sparse_columns_check(const char *setting, const struct node_type *type,
                                                uint32_t count, struct error *err);

#endif
