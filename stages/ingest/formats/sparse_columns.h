/*
 * sparse_columns - how many columns sparse features have, where their files do not say: ingest.sparse_columns.
 *
 *   1902                          of all node types
 *   paper: 1902; author: 334      of some node types
 */
#ifndef STAGES_INGEST_FORMATS_SPARSE_COLUMNS_H
#define STAGES_INGEST_FORMATS_SPARSE_COLUMNS_H

#include "common/base/error.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

/* *out: columns of the node type `name` (NULL: of a graph without types); 0 where the setting says
 * nothing of it. Fails:
 * ERROR_INVALID naming the entry that is not understood. */
MUST_CHECK enum error_code sparse_columns_of(const char *setting, const char *name, uint32_t *out,
                                             struct error *err);
/* Fails: ERROR_INVALID naming an entry whose type is none of `type` [count]. */
MUST_CHECK enum error_code sparse_columns_check(const char *setting, const struct node_type *type,
                                                uint32_t count, struct error *err);

#endif
