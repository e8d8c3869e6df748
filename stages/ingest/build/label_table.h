/*
 * label_table - the labels of nodes while they are read, in the form of their task.
 *
 * Readers differ in how a row finds its node (label_reader: by its position, node_labels_file: by
 * an id). The task determines what a row may hold.
 */
#ifndef STAGES_INGEST_BUILD_LABEL_TABLE_H
#define STAGES_INGEST_BUILD_LABEL_TABLE_H

#include "common/base/error.h"
#include "common/formats/text/column_encoding.h"
#include "common/formats/text/delimited.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdbool.h>
#include <stdint.h>

struct label_table { /* {0} is releasable */
    const char *path;
    uint64_t node_count;
    /* number of classes if known from elsewhere (a higher class is refused); 0: not known */
    uint32_t class_count;
    uint32_t column_count; /* 0 before label_table_columns() */
    enum task_kind task;   /* TASK_UNKNOWN until the columns show the task */
    /* the words of classes; NULL or empty: classes are numbers */
    const struct column_encoding *words;
    bool takes_missing_words; /* ingest.missing_words has an effect on this table */
    double *column;           /* [column_count], the current row */
    uint32_t width;           /* number of label elements in a row */
    uint32_t *row;            /* [width], the current row as labels */
    uint32_t *label;          /* [node_count, width] */
};

void label_table_release(struct label_table *table);
/* Sets the number of label columns of a row, which the first row shows. No node has a label then.
 * Fails: ERROR_INPUT when there are too many columns, or a number that the task does not allow. */
MUST_CHECK enum error_code label_table_columns(struct label_table *table, uint64_t count,
                                               struct error *err);
/* Reads the remaining fields of `cursor` into table->row; an empty field is NaN, which means no
 * label. Fails: ERROR_INPUT naming file and line. */
MUST_CHECK enum error_code label_table_parse(struct label_table *table, struct delimited *cursor,
                                             int64_t line, struct error *err);
/* Stores table->column as the labels of `node`. Fails: ERROR_INPUT naming file and line. */
MUST_CHECK enum error_code label_table_take(struct label_table *table, uint64_t node, int64_t line,
                                            struct error *err);
/* Returns whether table->column equals the labels that the table has for `node`. */
bool label_table_agrees(const struct label_table *table, uint64_t node);
/* Pushes all labels; row 0 is in line `first_line`. */
MUST_CHECK enum error_code label_table_push(const struct label_table *table, int64_t first_line,
                                            struct dataset_builder *builder, struct error *err);

#endif
