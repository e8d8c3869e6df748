/*
 * feature_text - the numbers of one feature row in a text file.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_FEATURE_TEXT_H
#define STAGES_INGEST_FORMATS_COLUMNS_FEATURE_TEXT_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/float_loss.h"

#include <stdint.h>

/* Counts the fields that are left in `cursor` (a copy). All rows must have as many as the first
 * one. `path` and `line` are for the message. Fails: ERROR_INPUT when there are none or too
 * many. */
MUST_CHECK enum error_code feature_text_dim(const char *path, int64_t line, struct delimited cursor,
                                            uint32_t *dim, struct error *err);
/* Parses the fields that are left in `cursor` into row [dim]. Fails: ERROR_INPUT naming file, line
 * and column (`before` columns are left of the first field) for another number of fields and for a
 * field that is no finite number. Integers that are rounded are noted in `loss`. */
MUST_CHECK enum error_code feature_text_parse(const char *path, int64_t line,
                                              struct delimited *cursor, uint32_t before,
                                              uint32_t dim, float *row, struct float_loss *loss,
                                              struct error *err);

#endif
