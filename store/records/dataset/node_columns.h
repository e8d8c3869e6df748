/*
 * node_columns - the words of classes, and the encoding of columns of features.
 *
 * ingest writes it before the schema if labels are words, or if ingest.feature_columns or
 * ingest.missing_values ask for it. infer reads it to write classes as words; reports read it; and
 * so does graphmill infer when it applies a model to another graph, whose columns are to be encoded
 * in the same way. Other datasets have none.
 *
 *   key       dataset/<id>/node_columns
 *   sections  "text"  U8 [size]   in the form of common/formats/text/column_encoding.h
 *   valid     the text can be parsed
 */
#ifndef STORE_RECORDS_DATASET_NODE_COLUMNS_H
#define STORE_RECORDS_DATASET_NODE_COLUMNS_H

#include "common/base/error.h"
#include "common/formats/text/column_encoding.h"
#include "store/objects/store.h"

#include <stdbool.h>

MUST_CHECK enum error_code node_columns_put(struct store *store, const char *dataset_id,
                                            const struct column_encoding *encoding,
                                            struct error *err);
/* Without the record *out is empty. The caller owns *out: column_encoding_release(). Fails:
 * ERROR_CORRUPT naming record and line. */
MUST_CHECK enum error_code node_columns_get(struct store *store, const char *dataset_id,
                                            struct column_encoding *out, struct error *err);
/* Checks and reads a record that is in memory. The caller owns *out. */
MUST_CHECK enum error_code node_columns_decode(const struct record_view *view,
                                               struct column_encoding *out, struct error *err);

#endif
