/* Reads the labels of added edges. Declared in update_reader.h. */
#include "stages/ingest/update/update_reader.h"

#include <inttypes.h>
#include <string.h>

enum error_code update_labels_open(struct update_reader *reader, struct error *err)
{
    return task_has(reader->schema->task, TASK_LABELS_EDGES)
               ? edge_labels_init(&reader->labels, reader->settings, err)
               : ERROR_NONE;
}

const char *update_labels_column(const struct update_reader *reader)
{
    return reader->labels.task && reader->labels.from == EDGE_LABEL ? reader->labels.name : NULL;
}

enum error_code update_labels_expect(const struct update_reader *reader, struct edge_fields *fields,
                                     const char *where, int64_t line, struct error *err)
{
    const struct edge_labels *labels = &reader->labels;
    if (!labels->task)
        return ERROR_NONE;
    if (fields->width.of[labels->from] == 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected a header with a column '%s', the labels of "
                         "edges (ingest.edge_label), found none",
                         where, line, labels->name);
    fields->width.of[EDGE_LABEL] = 1;
    return ERROR_NONE;
}

enum error_code update_labels_take(struct update_reader *reader, const char *where, int64_t line,
                                   const struct edge_columns *value, struct error *err)
{
    struct edge_labels *labels = &reader->labels;
    struct edge_piece piece = {.where = where, .count = 1, .columns = edge_columns_read(value, 0)};
    if (!labels->task)
        return ERROR_NONE;
    enum error_code rc = edge_labels_give(labels, &piece, err);
    if (rc == ERROR_NONE)
        rc = edge_labels_check(labels, &piece, 0, err);
    if (rc == ERROR_NONE && labels->class_count > reader->schema->class_count)
        rc = error_set(err, ERROR_INPUT, "the %s is class %" PRIu32 ": expected one below %" PRIu32,
                       labels->name, labels->class_count - 1, reader->schema->class_count);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s:%" PRId64, where, line);
    memcpy(value->data[EDGE_LABEL], labels->value, sizeof *labels->value);
    return ERROR_NONE;
}
