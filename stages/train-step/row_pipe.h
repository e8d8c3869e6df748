/*
 * row_pipe - a visit of feature rows on three threads: two read and check blocks, one does the work on rows.
 *
 * Rows come to the visitor in the same order as from feature_source_visit(), on the calling thread, the rows
 * of a stripe at a time. The others read every second stripe each (feature_source_visit_share()) and copy the
 * wanted rows into rings of some hundred kilobytes. Reading takes about twice as long as mixing, so two cores
 * have the same to do.
 */
#ifndef STAGES_TRAIN_STEP_ROW_PIPE_H
#define STAGES_TRAIN_STEP_ROW_PIPE_H

#include "common/base/error.h"
#include "store/feature_source.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes that a visit takes beside those of feature_source_visit(). */
uint64_t row_pipe_bytes(size_t row_bytes);
/* As feature_source_visit(), with visits of any count. */
MUST_CHECK enum error_code row_pipe_visit(struct feature_source *source, const uint32_t *node,
                                          size_t count, feature_visitor visitor, void *context,
                                          struct error *err);

#endif
