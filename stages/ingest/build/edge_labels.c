#include "stages/ingest/build/edge_labels.h"

#include "common/base/memory.h"
#include "stages/tables/edge_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum error_code edge_labels_init(struct edge_labels *labels,
                                 const struct pipeline_settings *settings, struct error *err)
{
    *labels = (struct edge_labels){0};
    if (!task_has(settings->ingest.task, TASK_LABELS_EDGES))
        return ERROR_NONE;
    const struct field name = {settings->ingest.edge_label, strlen(settings->ingest.edge_label)};
    *labels = (struct edge_labels){
        .task = task_of((enum task_kind)settings->ingest.task),
        .name = settings->ingest.edge_label,
        .from = edge_word_label(&name),
        .is_sign = settings->ingest.edge_label_form == EDGE_LABEL_SIGN,
    };
    if (labels->from == EDGE_LABEL || labels->from == EDGE_WEIGHT)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "ingest.edge_label is '%s', the column of %s: expected weight, or the name of "
                     "a column that is nothing else",
                     labels->name, edge_column[labels->from].plural);
}

void edge_labels_release(struct edge_labels *labels)
{
    memory_free(labels->value);
    *labels = (struct edge_labels){0};
}

enum error_code edge_labels_give(struct edge_labels *labels, struct edge_piece *piece,
                                 struct error *err)
{
    if (!labels->task)
        return ERROR_NONE;
    const float *given = piece->columns.data[labels->from];
    if (!given)
        return error_set(err, ERROR_INPUT,
                         "%s: the edges have no column '%s', which ingest.edge_label names: "
                         "expected it in the header of the edges%s"
                         ": " ADVICE "write the name as the header has it, or add the column",
                         piece->where, labels->name,
                         labels->from == EDGE_LABEL ? ", or `edge_label: weight`" : "");
    const enum error_code rc =
        memory_grow(&labels->value, &labels->capacity, piece->count, "the labels of edges", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < piece->count; i++)
        labels->value[i] = !labels->is_sign ? given[i]
                           : given[i] > 0   ? 1.0F
                           : given[i] < 0   ? 0.0F
                                            : -1.0F;
    piece->columns.width.of[EDGE_LABEL] = 1;
    piece->columns.data[EDGE_LABEL] = labels->value;
    return ERROR_NONE;
}

enum error_code edge_labels_check(struct edge_labels *labels, const struct edge_piece *piece,
                                  size_t i, struct error *err)
{
    char row[sizeof(float)]; /* the label in the task's form */
    if (!labels->task)
        return ERROR_NONE;
    const float value = ((const float *)piece->columns.data[EDGE_LABEL])[i];
    const double column = (double)value;
    const enum error_code rc = labels->task->label_take(&column, 1, 0, row, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!labels->task->has_label(row))
        return error_set(err, ERROR_INPUT,
                         labels->is_sign ? "the %s is 0, which has no sign: expected another "
                                           "number, or `edge_label_form: as_given`"
                                         : "the %s is -1: expected a class from 0 on for each edge",
                         labels->name);
    const uint32_t classes = labels->task->is_in_class ? (uint32_t)value + 1 : 1;
    labels->class_count = classes > labels->class_count ? classes : labels->class_count;
    return ERROR_NONE;
}
