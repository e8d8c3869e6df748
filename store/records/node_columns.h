/*
 * node_columns - the words of classes, and what columns of features were encoded by.
 *
 * Written by ingest where labels are words, or ingest.feature_columns or ingest.missing_values ask for it, before the schema.
 * Read by infer, which writes classes as words, by reports, and where a model is applied to another graph, whose
 * columns are to be taken in the same way (graphmill infer). Other datasets have none.
 *
 *   key       dataset/<id>/node_columns
 *   sections  "text"  U8 [size]   as common/formats/column_encoding.h has it
 *   valid     a text that parses
 */
#ifndef STORE_RECORDS_NODE_COLUMNS_H
#define STORE_RECORDS_NODE_COLUMNS_H

#include "common/base/error.h"
#include "common/formats/column_encoding.h"
#include "store/objects/store.h"

#include <stdbool.h>

MUST_CHECK enum error_code node_columns_put(struct store *store, const char *dataset_id,
                                            const struct column_encoding *encoding,
                                            struct error *err);
/* Without the record *out is empty. Owns: *out; column_encoding_release(). Fails: ERROR_CORRUPT naming record and line. */
MUST_CHECK enum error_code node_columns_get(struct store *store, const char *dataset_id,
                                            struct column_encoding *out, struct error *err);
/* The check alone, of a record of any origin. Owns: *out. */
MUST_CHECK enum error_code node_columns_decode(const struct record_view *view,
                                               struct column_encoding *out, struct error *err);

#endif
