/*
 * keyed_layout - finds the layout of a file that is keyed by nodes: its separator, its header, and
 * which columns are wanted.
 *
 * The first row is a header
 *
 *   - if settings name columns;
 *   - else, unless its first cell is a node, if that cell is a word such as "id" or "node", or if a
 *     cell does not fit the type of the column below;
 *   - else if its first cell is no node although all others are, and none of its words occurs
 *     below. The run reports that this was a guess. If some other rows name unknown nodes, too, the
 *     file is refused.
 *
 * In a file of ids alone the whole line is the id.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_KEYED_LAYOUT_H
#define STAGES_INGEST_FORMATS_COLUMNS_KEYED_LAYOUT_H

#include "common/base/error.h"
#include "stages/ingest/formats/columns/keyed_file.h"

/* Finds the layout of the current file, whose first row is `line`. Fails: ERROR_INPUT naming file
 * and line, with the line to add; ERROR_NO_MEMORY, ERROR_IO. */
MUST_CHECK enum error_code keyed_layout_find(struct keyed_file *file,
                                             const struct named_nodes *nodes,
                                             const struct text_line *line, struct error *err);
/* Returns whether a column of ids may have this name: "id", "node", "paper_id", ":ID". */
bool keyed_layout_heads_ids(const struct field *name);

#endif
