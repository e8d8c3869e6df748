/*
 * row_table - rows of numbers, one for each node or graph, as an .npy file or as text with the ids of the input.
 *
 *   npy    float32 [rows, columns]: row i is that of the i-th node
 *   csv    node,<column>_0,<column>_1,...      numbers with nine digits, which read back as the same float32
 *          alice,0.25,-1.5,...
 */
#ifndef PIPELINES_EXPORT_ROW_TABLE_H
#define PIPELINES_EXPORT_ROW_TABLE_H

#include "common/formats/column_encoding.h"
#include "common/formats/npy_writer.h"
#include "store/records/node_ids.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The file lies beside `path` under another name until it is whole. */
struct row_table_config { /* borrowed until row_table_close() */
    const char *path;
    bool is_csv;
    uint32_t row_count, column_count;
    /* What follows is of csv alone. */
    const char *id_column,
        *column; /* names; those of columns get a number, or the word of a class */
    const struct column_encoding *words; /* of classes, a column each; NULL or none: numbers */
    const struct node_ids *ids;          /* without arrays: numbers from 0 on */
    uint32_t first_node;                 /* that of row 0 */
    const uint32_t *node;                /* [row_count] or NULL: the nodes of the rows */
};

struct row_table { /* {0} is closed */
    struct row_table_config config;
    struct npy_writer npy;
    FILE *csv;
    uint32_t row; /* the next one */
    char *field;  /* room for an id */
    size_t field_capacity;
    char temporary[FILE_PATH_SIZE];
};

MUST_CHECK enum error_code row_table_open(struct row_table *table,
                                          const struct row_table_config *config, struct error *err);
/* The next `rows` rows, one after the other. More than there are is our bug. */
MUST_CHECK enum error_code row_table_add(struct row_table *table, const float *value, uint32_t rows,
                                         struct error *err);
/* Flushes to disk and gives the file its name. All rows must have been added. */
MUST_CHECK enum error_code row_table_finish(struct row_table *table, struct error *err);
void row_table_close(struct row_table *table); /* removes a file that was not finished */

#endif
