/*
 * edge_files - columns of edges in files of their own beside the edges: edge-weight.npy,
 * edge-type.npy, edge-time.npy, edge-id.npy and edge-feat.npy of a folder
 * (common/graph/edge_column.h has their names), and the text files of an OGB folder (edge_text.h).
 *
 * Row i belongs to edge i of the table: [edges], and edge-feat.npy [edges, width]. Weights and
 * features are numbers of any type, the others are integers.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_EDGE_FILES_H
#define STAGES_INGEST_FORMATS_COLUMNS_EDGE_FILES_H

#include "common/base/error.h"
#include "common/formats/arrays/npy_reader.h"
#include "common/graph/edge_column.h"
#include "stages/ingest/formats/columns/edge_text.h"

#include <stddef.h>
#include <stdint.h>

struct edge_files { /* {0} has no files */
    struct npy_reader reader[EDGE_COLUMN_COUNT];
    struct edge_text *text[EDGE_COLUMN_COUNT]; /* NULL: the column is in `reader`, or nowhere */
    struct edge_widths width;
    struct value_notes *notes;
};

/* Opens the files that exist in `folder`. `notes` is borrowed. Fails: ERROR_INPUT naming file and
 * shape. */
MUST_CHECK enum error_code edge_files_open(struct edge_files *files, const char *folder,
                                           struct value_notes *notes, struct error *err);
/* Does the same for text files: stem[column] is the name of a file without its ending, NULL if the
 * column has none. */
MUST_CHECK enum error_code edge_files_open_text(struct edge_files *files, const char *folder,
                                                const char *const stem[EDGE_COLUMN_COUNT],
                                                const char *const *endings,
                                                struct value_notes *notes, struct error *err);
void edge_files_close(struct edge_files *files);
/* Adds the columns of these files to the table's columns `width`. Fails: ERROR_INPUT for a column
 * that both have. */
MUST_CHECK enum error_code edge_files_join(const struct edge_files *files, const char *table,
                                           struct edge_widths *width, struct error *err);
/* Sets *type_count to the highest type in edge-type.npy plus one, or to 0 without such a file.
 * Fails: ERROR_INPUT naming file and row. */
MUST_CHECK enum error_code edge_files_count_types(const struct edge_files *files,
                                                  uint32_t *type_count, struct error *err);
/* Reads rows from `first` on into edges 0.. of `out`. Text files must be read from row 0 on without
 * gaps. Fails: ERROR_INPUT naming file and row or line. */
MUST_CHECK enum error_code edge_files_read(const struct edge_files *files, uint64_t first,
                                           size_t count, const struct edge_columns *out,
                                           struct error *err);
/* Checks that each file has `edge_count` rows. Fails: ERROR_INPUT if not. */
MUST_CHECK enum error_code edge_files_check(const struct edge_files *files, uint64_t edge_count,
                                            struct error *err);

#endif
