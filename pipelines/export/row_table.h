/*
 * row_table - writes rows of numbers, one for each node or graph, as an .npy file, or as text with
 * the ids of the input.
 *
 *   npy    float32 [rows, columns]: row i is that of the i-th node
 *   csv    node,<column>_0,<column>_1,...      numbers have nine digits, so that the same
 *          alice,0.25,-1.5,...                float32 is read back
 */
#ifndef PIPELINES_EXPORT_ROW_TABLE_H
#define PIPELINES_EXPORT_ROW_TABLE_H

#include "common/formats/arrays/npy_writer.h"
#include "common/formats/text/column_encoding.h"
#include "store/records/dataset/node_ids.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The file has another name next to `path` until it is complete. All pointers are borrowed until
 * row_table_close(). */
struct row_table_config {
    const char *path;
    bool is_csv;
    uint32_t row_count, column_count;
    /* The fields below are only for csv. */
    const char *id_column,
        *column; /* names; names of columns get a number, or the name of a class */
    /* names of classes, one for each column; NULL or none: numbers */
    const struct column_encoding *words;
    const struct node_ids *ids; /* without arrays: numbers from 0 */
    uint32_t first_node;        /* the node of row 0 */
    const uint32_t *node;       /* [row_count] or NULL: the nodes of the rows */
};

struct row_table { /* {0} is closed */
    struct row_table_config config;
    struct npy_writer npy;
    FILE *csv;
    uint32_t row; /* the next row */
    char *field;  /* buffer for an id */
    size_t field_capacity;
    char temporary[FILE_PATH_SIZE];
};

MUST_CHECK enum error_code row_table_open(struct row_table *table,
                                          const struct row_table_config *config, struct error *err);
/* Adds the next `rows` rows, one after another. More rows than announced are ERROR_BUG. */
MUST_CHECK enum error_code row_table_add(struct row_table *table, const float *value, uint32_t rows,
                                         struct error *err);
/* Flushes the file to disk and renames it. All rows must have been added. */
MUST_CHECK enum error_code row_table_finish(struct row_table *table, struct error *err);
void row_table_close(struct row_table *table); /* removes an unfinished file */

#endif
