/* Reads the files of removed and of added nodes. */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/update/update_node_file.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/version_fold.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- removed nodes
 * ----------------------------------------------------------------------------- */

static enum error_code remove_node(struct update_reader *reader, const struct node_line *line,
                                   struct error *err)
{
    const char *where = line->where;
    const struct field *id = line->id;
    const int64_t found = living_nodes_find(&reader->nodes, line->type, id);
    struct field more;
    uint32_t number = 0;
    if (delimited_next(line->values, &more))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected a node and nothing after it, found '%.*s'",
                         where, line->line, more.size < 40 ? (int)more.size : 40, more.text);
    if (found < 0 || reader->is_gone[found])
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node '%.*s' is removed%s, expected one that exists",
                         where, line->line, id->size < 40 ? (int)id->size : 40, id->text,
                         found < 0 ? " and is not there" : " twice");
    const enum error_code rc = living_nodes_expect(&reader->nodes, line->type, id, "node", where,
                                                   line->line, &number, err);
    if (rc != ERROR_NONE)
        return rc;
    reader->is_gone[found] = 1;
    reader->delta.gone_nodes++;
    return update_reader_take(reader, sizeof *reader->gone_node, err);
}

enum error_code update_nodes_remove(struct update_reader *reader, struct error *err)
{
    struct update_node_file file =
        update_node_file_of(reader, reader->request->remove_nodes, KEYED_ID_ONLY, false);
    uint64_t at = 0;
    enum error_code rc =
        memory_new(&reader->is_gone, reader->schema->node_count, "marks of nodes", err);
    if (rc == ERROR_NONE)
        rc = update_node_file_visit(&file, remove_node, err);
    keyed_file_release(&file.keyed);
    if (rc == ERROR_NONE && reader->delta.gone_nodes == reader->schema->node_count)
        rc = error_set(err, ERROR_INPUT, "%s: all nodes are removed, expected some that stay",
                       file.keyed.path);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->gone_node, reader->delta.gone_nodes, "nodes that go", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < reader->schema->node_count; node++)
        if (reader->is_gone[node])
            reader->gone_node[at++] = node;
    reader->delta.gone_node = reader->gone_node;
    return rc;
}

/* ---- added nodes
 * ------------------------------------------------------------------------------- */

static enum error_code note_node(struct update_reader *reader, const struct node_line *line,
                                 struct error *err)
{
    return living_nodes_add(&reader->nodes, line->type, line->id, line->where, line->line, err);
}

static enum error_code note_type(struct update_reader *reader, const struct node_line *line,
                                 struct error *err)
{
    (void)err;
    living_nodes_set_type(&reader->nodes, line->type, line->id);
    return ERROR_NONE;
}

/* Finds the number of an added node, counted from the first added one. */
static enum error_code find_added(struct update_reader *reader, const struct node_line *line,
                                  uint32_t *added, struct error *err)
{
    uint32_t node = 0;
    const enum error_code rc = living_nodes_expect(&reader->nodes, line->type, line->id, "node",
                                                   line->where, line->line, &node, err);
    *added = node - reader->nodes.base_count;
    return rc;
}

static enum error_code note_graph(struct update_reader *reader, const struct node_line *line,
                                  struct error *err)
{
    struct field field = {0};
    uint32_t added = 0;
    const enum error_code rc = find_added(reader, line, &added, err);
    (void)delimited_next(line->values, &field);
    return rc == ERROR_NONE
               ? update_graphs_note(&reader->graphs, added, &field, line->where, line->line, err)
               : rc;
}

static enum error_code take_split(const struct node_line *line, const struct field *field,
                                  uint8_t *split, struct error *err)
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
                     line->where, line->line, field->size < 40 ? (int)field->size : 40,
                     field->text);
}

/* Takes the remaining fields as a row of labels. Without fields, or if all are empty, the row has
 * no label. */
static enum error_code take_label(const struct update_reader *reader, const struct node_line *line,
                                  uint32_t *row, struct error *err)
{
    const struct task *task = version_label_task(reader->schema);
    const uint32_t expected = !task ? 0 : task->is_class_number ? 1 : reader->schema->class_count;
    double *column = NULL;
    struct field field;
    uint32_t found = 0;
    enum error_code rc = memory_new(&column, expected, "labels of a node", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < expected; i++)
        column[i] = (double)NAN;
    for (; rc == ERROR_NONE && delimited_next(line->values, &field); found++)
        if (found < expected && field.size && !text_double(field.text, field.size, &column[found]))
            rc = error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": label: expected a number, found '%.*s'", line->where,
                           line->line, field.size < 40 ? (int)field.size : 40, field.text);
    if (rc == ERROR_NONE && found && found != expected)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected %" PRIu32
                       " label columns, as the dataset has, found %" PRIu32,
                       line->where, line->line, expected, found);
    if (rc == ERROR_NONE && task) {
        rc = task->label_take(column, expected, reader->schema->class_count, row, err);
        if (rc == ERROR_NONE)
            rc = task->label_check(row, reader->schema->class_count, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, ERROR_INPUT, "%s:%" PRId64, line->where, line->line);
    }
    memory_free(column);
    return rc;
}

/* Checks that the node has the type whose nodes have labels and splits. */
static enum error_code check_target(const struct update_reader *reader,
                                    const struct node_line *line, const uint32_t *row,
                                    uint8_t split, struct error *err)
{
    const struct dataset_schema *schema = reader->schema;
    const struct task *task = version_label_task(schema);
    if (!schema->has_relations || schema->node_type_count == 1 || line->type == schema->target_type)
        return ERROR_NONE;
    const bool has_label = task && task->has_label(row);
    if (!split && !has_label)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INPUT,
        "%s:%" PRId64 ": %s: expected nothing, since nodes of type %s alone have labels "
        "and splits, found one of a node of type %s",
        line->where, line->line, split ? "split" : "label",
        schema->node_type[schema->target_type].name, schema->node_type[line->type].name);
}

/* Takes the fields after the id, the type and the graph: a split and a row of labels. */
static enum error_code take_target(struct update_reader *reader, const struct node_line *line,
                                   uint8_t *split, uint32_t *row, struct error *err)
{
    const struct task *task = version_label_task(reader->schema);
    const char *where = line->where;
    struct field field;
    enum error_code rc = ERROR_NONE;
    *split = 0;
    if (delimited_next(line->values, &field))
        rc = take_split(line, &field, split, err);
    if (rc == ERROR_NONE && *split && task_has(reader->schema->task, TASK_HOLDS_OUT_EDGES))
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": split: expected nothing, since the dataset learns links, "
                       "found '%.*s'",
                       where, line->line, (int)field.size, field.text);
    if (rc == ERROR_NONE)
        rc = take_label(reader, line, row, err);
    if (rc == ERROR_NONE)
        rc = check_target(reader, line, row, *split, err);
    if (rc == ERROR_NONE && *split == 1 + SPLIT_TRAIN && (!task || !task->has_label(row)))
        rc =
            error_set(err, ERROR_INPUT,
                      "%s:%" PRId64 ": a training %s without a label: expected one after the split",
                      where, line->line, task_subject(reader->schema->task));
    return rc;
}

/* Takes split and labels for the node's graph, or compares them if another line gave them
 * before. */
static enum error_code take_graph(struct update_reader *reader, const struct node_line *line,
                                  uint32_t added, struct error *err)
{
    const struct update_graphs *graphs = &reader->graphs;
    const uint32_t graph = graphs->graph_of[added], there = graphs->index.graph_count;
    const size_t width = reader->delta.label_width;
    const uint32_t own = graph < there ? 0 : graph - there;
    const bool is_first = graph >= there && !graphs->is_begun[own];
    uint32_t *row = reader->label + (is_first ? own : graphs->added_count) * width;
    uint8_t split = 0;
    const enum error_code rc = take_target(reader, line, &split, row, err);
    if (rc != ERROR_NONE)
        return rc;
    if (is_first) {
        graphs->is_begun[own] = 1;
        reader->split[own] = split;
        return ERROR_NONE;
    }
    if (!split && !version_label_task(reader->schema)->has_label(row))
        return ERROR_NONE;
    if (graph >= there && split == reader->split[own] &&
        memcmp(row, reader->label + own * width, width * sizeof *row) == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": graph %" PRId64 " %s: expected no other split and label",
                     line->where, line->line, graphs->member_of[added],
                     graph < there ? "is there already, and keeps its split and its label"
                                   : "began before with its split and its label");
}

static enum error_code take_node(struct update_reader *reader, const struct node_line *line,
                                 struct error *err)
{
    struct field graph;
    uint32_t at = 0;
    const enum error_code rc = find_added(reader, line, &at, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!update_graphs_are_many(&reader->graphs))
        return take_target(reader, line, &reader->split[at],
                           reader->label + (size_t)at * reader->delta.label_width, err);
    (void)delimited_next(line->values, &graph);
    return take_graph(reader, line, at, err);
}

/* Finds the graphs of added nodes, and which of these are new. */
static enum error_code note_graphs(struct update_reader *reader, struct update_node_file *file,
                                   struct error *err)
{
    if (!update_graphs_are_many(&reader->graphs))
        return ERROR_NONE;
    enum error_code rc = update_graphs_begin(reader, err);
    if (rc == ERROR_NONE)
        rc = update_node_file_visit(file, note_graph, err);
    return rc == ERROR_NONE ? update_graphs_settle(reader, err) : rc;
}

/* Finds the added nodes and their types. */
static enum error_code note_nodes(struct update_reader *reader, struct update_node_file *file,
                                  struct error *err)
{
    enum error_code rc = update_node_file_visit(file, note_node, err);
    if (rc == ERROR_NONE)
        rc = living_nodes_finish(&reader->nodes, err);
    if (rc == ERROR_NONE &&
        reader->nodes.added.ids.count >= UINT32_MAX - 1 - (uint64_t)reader->schema->node_count)
        rc = error_set(err, ERROR_INPUT, "%s: expected at most %u nodes in all", file->keyed.path,
                       UINT32_MAX - 1);
    if (rc == ERROR_NONE && reader->schema->node_type_count > 1)
        rc = update_node_file_visit(file, note_type, err);
    return rc == ERROR_NONE && reader->schema->node_type_count > 1
               ? living_nodes_order(&reader->nodes, reader->added_of_type, err)
               : rc;
}

enum error_code update_nodes_add(struct update_reader *reader, struct error *err)
{
    struct update_node_file file =
        update_node_file_of(reader, reader->request->add_nodes, KEYED_WORDS, true);
    const struct task *task = version_label_task(reader->schema);
    struct dataset_delta *delta = &reader->delta;
    enum error_code rc = note_nodes(reader, &file, err);
    delta->added_nodes = (uint32_t)reader->nodes.added.ids.count;
    if (rc == ERROR_NONE)
        rc = note_graphs(reader, &file, err);
    const uint64_t count = dataset_delta_targets(delta);
    delta->label_width = task ? task->label_width(reader->schema->class_count) : 0;
    if (rc == ERROR_NONE)
        rc = update_reader_take(reader, count * (delta->label_width * 4ULL + 1), err);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->label, (count + 1) * delta->label_width, "labels of new nodes",
                        err);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->split, count, "splits of new nodes", err);
    if (rc == ERROR_NONE)
        rc = update_node_file_visit(&file, take_node, err);
    keyed_file_release(&file.keyed);
    if (rc == ERROR_NONE)
        delta->new_ids = living_nodes_added_ids(&reader->nodes);
    delta->new_label = reader->label;
    delta->new_split = reader->split;
    return rc;
}
