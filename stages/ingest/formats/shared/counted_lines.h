/*
 * counted_lines - a text file whose first line is the number of the lines that follow, as OpenKE
 * writes them.
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_COUNTED_LINES_H
#define STAGES_INGEST_FORMATS_SHARED_COUNTED_LINES_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "stages/ingest/build/nodes/named_nodes.h"

#include <stdint.h>

enum { COUNTED_FIELDS_MAX = 3 };

/* Is called for each line; `field` [COUNTED_FIELDS_MAX] has the fields of the line. */
typedef enum error_code (*counted_visitor)(void *context, const struct field *field, int64_t line,
                                           struct error *err);
/* Visits each line after the first. Each has `field_count` fields, separated by tabs if the line
 * has one, else by blanks. Fails: ERROR_INPUT if the number of lines is not that of the first line,
 * and for another number of fields. */
MUST_CHECK enum error_code counted_lines_visit(const char *path, size_t field_count,
                                               counted_visitor visit, void *context,
                                               struct error *err);
/* Reads lines `name id` into `names`, as strings whose numbers are the ids. The caller has
 * initialised `names`. Fails: ERROR_INPUT unless the ids are 0, 1, 2, ..., each once, in any order,
 * and the names differ. */
MUST_CHECK enum error_code counted_lines_names(const char *path, struct named_nodes *names,
                                               struct error *err);

#endif
