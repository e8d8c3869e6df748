/* The files of an update that name nodes: those that go, those that come, and rows of features. */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/build/feature_measure.h"
#include "stages/ingest/formats/feature_text.h"
#include "stages/ingest/formats/keyed_file.h"
#include "stages/ingest/update/update_reader.h"
#include "store/records/node_splits.h"
#include "store/versions/version_fold.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- nodes that go ----------------------------------------------------------------------------- */

static enum error_code remove_node(void *context, const struct field *id, struct delimited *values,
                                   int64_t line, struct error *err)
{
    struct update_reader *reader = context;
    const char *where = reader->request->remove_nodes;
    const int64_t found = living_nodes_find(&reader->nodes, id);
    (void)values;
    if (found < 0 || reader->is_gone[found])
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node '%.*s' is removed%s, expected one that is there",
                         where, line, id->size < 40 ? (int)id->size : 40, id->text,
                         found < 0 ? " and is not there" : " twice");
    reader->is_gone[found] = 1;
    reader->delta.gone_nodes++;
    return update_reader_take(reader, sizeof *reader->gone_node, err);
}

enum error_code update_nodes_remove(struct update_reader *reader, struct error *err)
{
    struct keyed_file file = {.path = reader->request->remove_nodes, .form = KEYED_ID_ONLY};
    uint64_t at = 0;
    enum error_code rc =
        memory_new(&reader->is_gone, reader->schema->node_count, "marks of nodes", err);
    if (rc == ERROR_NONE && file.path)
        rc = keyed_file_visit(&file, &reader->nodes.base, remove_node, reader, err);
    if (rc == ERROR_NONE && reader->delta.gone_nodes == reader->schema->node_count)
        rc = error_set(err, ERROR_INPUT, "%s: all nodes are removed, expected some that stay",
                       file.path);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->gone_node, reader->delta.gone_nodes, "nodes that go", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < reader->schema->node_count; node++)
        if (reader->is_gone[node])
            reader->gone_node[at++] = node;
    reader->delta.gone_node = reader->gone_node;
    return rc;
}

/* ---- nodes that come --------------------------------------------------------------------------- */

static enum error_code note_node(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    struct update_reader *reader = context;
    (void)values;
    return living_nodes_add(&reader->nodes, id, reader->request->add_nodes, line, err);
}

static enum error_code take_split(const struct update_reader *reader, const struct field *field,
                                  int64_t line, uint8_t *split, struct error *err)
{
    static const char *const names[SPLIT_COUNT] = {"train", "valid", "test"};
    *split = 0;
    if (field->size == 0 || field_is(field, "none"))
        return ERROR_NONE;
    for (int s = 0; s < SPLIT_COUNT; s++)
        if (field_is(field, names[s])) {
            *split = (uint8_t)(1 + s);
            return ERROR_NONE;
        }
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": split: expected train, valid, test or nothing, found '%.*s'",
                     reader->request->add_nodes, line, field->size < 40 ? (int)field->size : 40,
                     field->text);
}

/* The fields that are left as a row of labels; of none, or nothing in them, a row without. */
static enum error_code take_label(const struct update_reader *reader, struct delimited *values,
                                  int64_t line, uint32_t *row, struct error *err)
{
    const struct task *task = version_label_task(reader->schema);
    const char *where = reader->request->add_nodes;
    const uint32_t expected = !task ? 0 : task->is_class_number ? 1 : reader->schema->class_count;
    double *column = NULL;
    struct field field;
    uint32_t found = 0;
    enum error_code rc = memory_new(&column, expected, "labels of a node", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < expected; i++)
        column[i] = (double)NAN;
    for (; rc == ERROR_NONE && delimited_next(values, &field); found++)
        if (found < expected && field.size && !text_double(field.text, field.size, &column[found]))
            rc = error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": label: expected a number, found '%.*s'", where, line,
                           field.size < 40 ? (int)field.size : 40, field.text);
    if (rc == ERROR_NONE && found && found != expected)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected %" PRIu32
                       " label columns, as the dataset has, found %" PRIu32,
                       where, line, expected, found);
    if (rc == ERROR_NONE && task) {
        rc = task->label_take(column, expected, reader->schema->class_count, row, err);
        if (rc == ERROR_NONE)
            rc = task->label_check(row, reader->schema->class_count, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, ERROR_INPUT, "%s:%" PRId64, where, line);
    }
    memory_free(column);
    return rc;
}

static enum error_code take_node(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    struct update_reader *reader = context;
    const struct task *task = version_label_task(reader->schema);
    struct field field;
    uint32_t node = 0;
    enum error_code rc = living_nodes_expect(&reader->nodes, id, "node", reader->request->add_nodes,
                                             line, &node, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t at = node - reader->nodes.base_count;
    uint32_t *row = reader->label + (size_t)at * reader->delta.label_width;
    if (delimited_next(values, &field))
        rc = take_split(reader, &field, line, &reader->split[at], err);
    if (rc == ERROR_NONE && reader->split[at] && task_learns_pairs(reader->schema->task))
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": split: expected nothing, since the dataset learns links, "
                       "found '%.*s'",
                       reader->request->add_nodes, line, (int)field.size, field.text);
    if (rc == ERROR_NONE)
        rc = take_label(reader, values, line, row, err);
    if (rc == ERROR_NONE && reader->split[at] == 1 + SPLIT_TRAIN &&
        (!task || !task->has_label(row)))
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": a training node without a label: expected one behind the "
                       "split",
                       reader->request->add_nodes, line);
    return rc;
}

enum error_code update_nodes_add(struct update_reader *reader, struct error *err)
{
    struct keyed_file file = {.path = reader->request->add_nodes, .form = KEYED_WORDS};
    const struct task *task = version_label_task(reader->schema);
    struct dataset_delta *delta = &reader->delta;
    enum error_code rc = ERROR_NONE;
    if (file.path)
        rc = keyed_file_visit(&file, &reader->nodes.base, note_node, reader, err);
    living_nodes_finish(&reader->nodes);
    const uint64_t count = reader->nodes.added.ids.count;
    if (rc == ERROR_NONE && count >= UINT32_MAX - 1 - reader->schema->node_count)
        rc = error_set(err, ERROR_INPUT, "%s: expected at most %u nodes in all", file.path,
                       UINT32_MAX - 1);
    delta->added_nodes = (uint32_t)count;
    delta->label_width = task ? task->label_width(reader->schema->class_count) : 0;
    if (rc == ERROR_NONE)
        rc = update_reader_take(reader, count * (delta->label_width * 4ULL + 1), err);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->label, count * delta->label_width, "labels of new nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->split, count, "splits of new nodes", err);
    if (rc == ERROR_NONE && file.path)
        rc = keyed_file_visit(&file, &reader->nodes.base, take_node, reader, err);
    delta->new_ids = node_id_assigner_view(&reader->nodes.added.ids);
    delta->new_label = reader->label;
    delta->new_split = reader->split;
    return rc;
}

/* ---- rows of features ---------------------------------------------------------------------------- */

/* As ingest scaled those of the dataset. */
static void scale(const struct feature_statistics *by, uint32_t dim, float *row)
{
    if (by->has_least)
        feature_measure_normalise(row, dim, by->least);
    for (uint32_t c = 0; c < by->dim; c++)
        row[c] = feature_measure_standardise(row[c], by->mean[c], by->deviation[c]);
}

static enum error_code take_row(void *context, const struct field *id, struct delimited *values,
                                int64_t line, struct error *err)
{
    struct update_reader *reader = context;
    const char *where = reader->request->features;
    const uint32_t dim = reader->schema->feature_dim;
    struct dataset_delta *delta = &reader->delta;
    uint32_t node = 0;
    enum error_code rc = living_nodes_expect(&reader->nodes, id, "node", where, line, &node, err);
    if (rc == ERROR_NONE && node < reader->nodes.base_count && reader->is_gone[node])
        rc = error_set(err, ERROR_INPUT, "%s:%" PRId64 ": node '%.*s' is removed by --remove-nodes",
                       where, line, id->size < 40 ? (int)id->size : 40, id->text);
    if (rc == ERROR_NONE && reader->has_row[node])
        rc = error_set(err, ERROR_INPUT, "%s:%" PRId64 ": node '%.*s' has a row already", where,
                       line, id->size < 40 ? (int)id->size : 40, id->text);
    if (rc == ERROR_NONE)
        rc = update_reader_take(reader, (dim + 1ULL) * 4, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->row_node, &reader->room.row_node, delta->rows + 1,
                         "nodes with features", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->row, &reader->room.row, (delta->rows + 1) * dim, "features", err);
    if (rc != ERROR_NONE)
        return rc;
    float *row = reader->row + delta->rows * dim;
    rc = feature_text_parse(where, line, values, 1, dim, row, err);
    if (rc != ERROR_NONE)
        return rc;
    scale(&reader->statistics, dim, row);
    reader->has_row[node] = 1;
    reader->row_node[delta->rows++] = node;
    return ERROR_NONE;
}

/* Features that are counted or drawn are made for new nodes as for others. */
static enum error_code check_given(const struct update_reader *reader, bool are_given,
                                   struct error *err)
{
    char text[NODE_ID_TEXT_SIZE];
    if (!are_given && reader->request->features)
        return error_set(
            err, ERROR_INVALID,
            "%s: features of this dataset are made (%s), expected no file of --features",
            reader->request->features, reader->schema->feature_origin);
    for (uint32_t i = 0; are_given && i < reader->delta.added_nodes; i++) {
        const uint32_t node = reader->nodes.base_count + i;
        if (!reader->has_row[node])
            return error_set(
                err, ERROR_INPUT, "%s: no row for the new node %s: expected %" PRIu32 " features",
                reader->request->features ? reader->request->features : "--features",
                living_nodes_text(&reader->nodes, node, text), reader->schema->feature_dim);
    }
    return ERROR_NONE;
}

enum error_code update_nodes_features(struct update_reader *reader, struct error *err)
{
    struct keyed_file file = {.path = reader->request->features, .form = KEYED_WORDS};
    const bool are_given = strcmp(reader->schema->feature_origin, "given") == 0;
    const size_t count = (size_t)reader->schema->node_count + reader->delta.added_nodes;
    enum error_code rc = memory_new(&reader->has_row, count, "marks of nodes", err);
    if (rc == ERROR_NONE)
        rc = feature_statistics_get(reader->store, reader->schema->id, 0, &reader->statistics, err);
    if (rc == ERROR_NOT_FOUND) /* as they were given */
        rc = ERROR_NONE;
    if (rc == ERROR_NONE && file.path && are_given)
        rc = keyed_file_visit(&file, &reader->nodes.base, take_row, reader, err);
    reader->delta.feature_dim = are_given ? reader->schema->feature_dim : 0;
    reader->delta.row_node = reader->row_node;
    reader->delta.row = reader->row;
    return rc == ERROR_NONE ? check_given(reader, are_given, err) : rc;
}
