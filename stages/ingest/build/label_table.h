/*
 * label_table - labels of nodes while they are read, in the form of their task.
 *
 * Readers differ in how a row finds its node (label_reader: by its place, node_labels_file: by an id);
 * what a row may hold is the same, and the task says it.
 */
#ifndef STAGES_INGEST_BUILD_LABEL_TABLE_H
#define STAGES_INGEST_BUILD_LABEL_TABLE_H

#include "common/base/error.h"
#include "common/formats/column_encoding.h"
#include "common/formats/delimited.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdbool.h>
#include <stdint.h>

struct label_table { /* {0} is releasable */
    const char *path;
    uint64_t node_count;
    uint32_t
        class_count; /* known from elsewhere: a class at or above it is refused; 0: not known */
    uint32_t column_count;               /* 0 before label_table_columns() */
    enum task_kind task;                 /* TASK_UNKNOWN until then: what the columns look like */
    const struct column_encoding *words; /* of classes; NULL or none: they are numbers */
    bool takes_missing_words;            /* ingest.missing_words has an effect on this table */
    double *column;                      /* [column_count], the row at hand */
    uint32_t width;                      /* elements of a row of labels */
    uint32_t *row;                       /* [width], of the row at hand */
    uint32_t *label;                     /* [node_count, width] */
};

void label_table_release(struct label_table *table);
/* How many label columns a row has, known from the first one; no node has a label then.
 * Fails: ERROR_INPUT when there are too many, or as many as the task does not take. */
MUST_CHECK enum error_code label_table_columns(struct label_table *table, uint64_t count,
                                               struct error *err);
/* Reads the fields that are left in `cursor` into table->row; an empty one is NaN, no label.
 * Fails: ERROR_INPUT naming file and line. */
MUST_CHECK enum error_code label_table_parse(struct label_table *table, struct delimited *cursor,
                                             int64_t line, struct error *err);
/* Makes table->column the labels of `node`. Fails: ERROR_INPUT naming file and line. */
MUST_CHECK enum error_code label_table_take(struct label_table *table, uint64_t node, int64_t line,
                                            struct error *err);
/* Whether table->column says of `node` what the table has. */
bool label_table_agrees(const struct label_table *table, uint64_t node);
/* Pushes all labels; row 0 stands in line `first_line`. */
MUST_CHECK enum error_code label_table_push(const struct label_table *table, int64_t first_line,
                                            struct dataset_builder *builder, struct error *err);

#endif
