/*
 * edge_files - columns of edges in files of their own beside the edges: edge-weight.npy, edge-type.npy,
 * edge-time.npy, edge-id.npy and edge-feat.npy of a folder (common/graph/edge_column.h has their names), and the text
 * files of an OGB folder (edge_text.h).
 *
 * Row i is that of edge i of the table: [edges], and edge-feat.npy [edges, width]. Weights and features are numbers of
 * any kind, the others integers.
 */
#ifndef STAGES_INGEST_FORMATS_EDGE_FILES_H
#define STAGES_INGEST_FORMATS_EDGE_FILES_H

#include "common/base/error.h"
#include "common/formats/npy_reader.h"
#include "common/graph/edge_column.h"
#include "stages/ingest/formats/edge_text.h"

#include <stddef.h>
#include <stdint.h>

struct edge_files { /* {0} has none */
    struct npy_reader reader[EDGE_COLUMN_COUNT];
    struct edge_text *text[EDGE_COLUMN_COUNT]; /* NULL: the column is in `reader`, or nowhere */
    struct edge_widths width;
    struct value_notes *notes;
};

/* Those that there are in `folder`. `notes` is borrowed. Fails: ERROR_INPUT naming file and shape. */
MUST_CHECK enum error_code edge_files_open(struct edge_files *files, const char *folder,
                                           struct value_notes *notes, struct error *err);
/* The same of text files: stem[column] is the name of one without its ending, NULL that there is none. */
MUST_CHECK enum error_code edge_files_open_text(struct edge_files *files, const char *folder,
                                                const char *const stem[EDGE_COLUMN_COUNT],
                                                const char *const *endings,
                                                struct value_notes *notes, struct error *err);
void edge_files_close(struct edge_files *files);
/* Of the table's columns `width` and these. Fails: ERROR_INPUT for a column that is in both. */
MUST_CHECK enum error_code edge_files_join(const struct edge_files *files, const char *table,
                                           struct edge_widths *width, struct error *err);
/* The highest type in edge-type.npy, plus one; 0 without such a file. Fails: ERROR_INPUT naming file and row. */
MUST_CHECK enum error_code edge_files_count_types(const struct edge_files *files,
                                                  uint32_t *type_count, struct error *err);
/* Rows `first`.. into edges 0.. of `out`; text files are read from row 0 on without gaps.
 * Fails: ERROR_INPUT naming file and row or line. */
MUST_CHECK enum error_code edge_files_read(const struct edge_files *files, uint64_t first,
                                           size_t count, const struct edge_columns *out,
                                           struct error *err);
/* Fails: ERROR_INPUT unless each file has as many rows as there were edges. */
MUST_CHECK enum error_code edge_files_check(const struct edge_files *files, uint64_t edge_count,
                                            struct error *err);

#endif
