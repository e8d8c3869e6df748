/*
 * linqs_reader - the folder of a citation graph of the LINQS group: Cora, CiteSeer, WebKB (format: linqs).
 *
 *   NAME.content   a line a paper: id, words (0 and 1, or other numbers), class; tabs or blanks between them
 *   NAME.cites     a line an edge: the id of the paper that is cited, that of the paper that cites it
 *
 * Edges go from the citing paper to the cited one. Classes are words, numbered as class_words.h says. Edges of papers that have no
 * line in NAME.content, of which CiteSeer has some, are left out, and the log says how many. There are no splits.
 *
 * Format: README of https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz.
 */
#ifndef STAGES_INGEST_FORMATS_LINQS_READER_H
#define STAGES_INGEST_FORMATS_LINQS_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and line, what was expected and found. */
MUST_CHECK enum error_code linqs_reader_run(const struct pipeline_settings *settings,
                                            struct dataset_builder *builder, struct error *err);

#endif
