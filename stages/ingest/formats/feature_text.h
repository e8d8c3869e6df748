/*
 * feature_text - the numbers of one feature row in a text file.
 */
#ifndef STAGES_INGEST_FORMATS_FEATURE_TEXT_H
#define STAGES_INGEST_FORMATS_FEATURE_TEXT_H

#include "common/base/error.h"
#include "common/formats/delimited.h"
#include "common/formats/float_loss.h"

#include <stdint.h>

/* How many fields are left in `cursor` (a copy): what the first row says of all. `path` and `line` are for
 * the message. Fails: ERROR_INPUT when there are none or too many. */
MUST_CHECK enum error_code feature_text_dim(const char *path, int64_t line, struct delimited cursor,
                                            uint32_t *dim, struct error *err);
/* The fields left in `cursor` as row [dim]. Fails: ERROR_INPUT naming file, line and column (`before`
 * columns stand left of the first), for another number of them and for what is no finite number.
 * Integers that are rounded are noted in
 * `loss`. */
MUST_CHECK enum error_code feature_text_parse(const char *path, int64_t line,
                                              struct delimited *cursor, uint32_t before,
                                              uint32_t dim, float *row, struct float_loss *loss,
                                              struct error *err);

#endif
