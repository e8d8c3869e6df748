/*
 * edge_text - one column of edges in a text file of its own, plain or gzip, without a header. Line
 * i has the numbers of edge i, separated by commas (OGB's edge-feat.csv.gz and
 * edge_reltype.csv.gz).
 *
 * The file is read from the first line to the last, a piece at a time.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_EDGE_TEXT_H
#define STAGES_INGEST_FORMATS_COLUMNS_EDGE_TEXT_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "stages/tables/value_notes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct edge_text;

/* Opens the file. The first line shows the width of the column. Owns: *out; free with
 * edge_text_close(). Fails: ERROR_INPUT for an empty file, or one wider than the column may be. */
MUST_CHECK enum error_code edge_text_open(const char *path, enum edge_column column,
                                          struct edge_text **out, struct error *err);
/* Does the same for the bytes `data` [size], which are borrowed until edge_text_close(); messages
 * call them `name`. */
MUST_CHECK enum error_code edge_text_open_memory(const char *name, const void *data, size_t size,
                                                 enum edge_column column, struct edge_text **out,
                                                 struct error *err);
void edge_text_close(struct edge_text *text); /* NULL is allowed */
uint32_t edge_text_width(const struct edge_text *text);
const char *edge_text_path(const struct edge_text *text);
/* Returns whether all lines are read. */
bool edge_text_is_done(const struct edge_text *text);
/* Sets how times are written, and where findings about values are noted; borrowed. Call it before
 * lines are read. */
void edge_text_set_notes(struct edge_text *text, struct value_notes *notes);
/* Reads the next `count` lines into data [count, width], in the type of the column. Fails:
 * ERROR_INPUT naming file, line, what was expected and found. */
MUST_CHECK enum error_code edge_text_read(struct edge_text *text, size_t count, void *data,
                                          struct error *err);

#endif
