#include "stages/ingest/formats/node_files.h"

#include "common/base/memory.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/formats/input_files.h"
#include "stages/ingest/formats/keyed_features.h"

#include <inttypes.h>
#include <string.h>

static const char *const split_names[SPLIT_COUNT] = {"train", "valid", "test"};

static struct keyed_file file_of(const char *path, enum keyed_form form)
{
    return (struct keyed_file){.path = path[0] ? path : NULL, .form = form};
}

struct node_files node_files_of(const struct pipeline_settings *settings)
{
    struct node_files files = {
        .labels = file_of(settings->ingest.labels, KEYED_VALUES),
        .features = file_of(settings->ingest.features.path, KEYED_VALUES),
        .feature_ids = file_of(settings->ingest.feature_ids, KEYED_ID_ONLY),
        .task = (enum task_kind)settings->ingest.task,
    };
    for (int s = 0; s < SPLIT_COUNT; s++)
        files.split[s] = file_of(settings->ingest.split_file[s], KEYED_ID_ONLY);
    if (pipeline_learns_pairs(settings)) { /* nothing is learnt of nodes */
        files.labels.path = NULL;
        for (int s = 0; s < SPLIT_COUNT; s++)
            files.split[s].path = NULL;
    }
    return files;
}

enum error_code node_files_check(const struct pipeline_settings *settings, struct error *err)
{
    struct split_shares shares;
    const enum error_code rc = pipeline_split_shares(settings, &shares, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!settings->ingest.labels[0])
        return error_set(err, ERROR_INPUT,
                         "%s has edges, but no labels to learn: add a line `labels: FILE` below "
                         "`ingest:`; the file has a line `id,class` for each node whose class is "
                         "known",
                         settings->ingest.path);
    if (!shares.is_random && !settings->ingest.split_file[SPLIT_TRAIN][0])
        return error_set(
            err, ERROR_INPUT,
            "%s has labels, but nothing says which nodes to train on: add a line "
            "`split: random 60/20/20` below `ingest:`, or `train: FILE` (and `valid:`, "
            "`test:`) with a node id a line",
            settings->ingest.path);
    return ERROR_NONE;
}

/* ---- ids -------------------------------------------------------------------------------------- */

struct note {
    struct named_nodes *nodes;
    const char *path;
};

static enum error_code note_id(void *context, const struct field *id, struct delimited *values,
                               int64_t line, struct error *err)
{
    const struct note *note = context;
    (void)values;
    return named_nodes_note(note->nodes, id, "node", note->path, line, err);
}

static enum error_code note_file(struct keyed_file *file, struct named_nodes *nodes,
                                 struct error *err)
{
    struct note note = {nodes, file->path};
    return file->path ? keyed_file_visit(file, nodes, note_id, &note, err) : ERROR_NONE;
}

enum error_code node_files_note(struct node_files *files, struct named_nodes *nodes,
                                struct error *err)
{
    enum error_code rc = note_file(&files->labels, nodes, err);
    if (rc != ERROR_NONE || !files->features.path)
        return rc;
    if (!input_files_ends_in(files->features.path, ".npy"))
        return note_file(&files->features, nodes, err);
    return files->feature_ids.path ? note_file(&files->feature_ids, nodes, err)
                                   : keyed_features_note_rows(files->features.path, nodes, err);
}

/* ---- labels ----------------------------------------------------------------------------------- */

struct labelling {
    struct keyed_file *file;
    const struct named_nodes *nodes;
    struct label_table table;
    uint8_t *is_labelled; /* [node_count] */
};

static enum error_code name_relabelled(struct labelling *labelling, int64_t node, int64_t line,
                                       struct error *err)
{
    char text[NODE_ID_TEXT_SIZE];
    int64_t first = 0;
    const enum error_code rc =
        keyed_file_line_of(labelling->file, labelling->nodes, node, &first, err);
    if (rc != ERROR_NONE)
        return rc;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": node %s has another label than in line %" PRId64
                     ": expected one label a node; remove one of the lines",
                     labelling->file->path, line, named_nodes_text(labelling->nodes, node, text),
                     first);
}

static enum error_code take_label(void *context, const struct field *id, struct delimited *values,
                                  int64_t line, struct error *err)
{
    struct labelling *labelling = context;
    struct label_table *table = &labelling->table;
    const int64_t node = named_nodes_find(labelling->nodes, id);
    enum error_code rc = ERROR_NONE;
    if (node < 0)
        return named_nodes_unknown(labelling->nodes, id, table->path, line, err);
    if (table->column_count == 0) {
        struct delimited all = *values;
        struct field field;
        uint64_t count = 0;
        while (delimited_next(&all, &field))
            count++;
        rc = label_table_columns(table, count, err);
    }
    if (rc == ERROR_NONE)
        rc = label_table_parse(table, values, line, err);
    if (rc != ERROR_NONE)
        return rc;
    if (labelling->is_labelled[node])
        return label_table_agrees(table, (uint64_t)node)
                   ? ERROR_NONE
                   : name_relabelled(labelling, node, line, err);
    labelling->is_labelled[node] = 1;
    return label_table_take(table, (uint64_t)node, line, err);
}

static enum error_code push_labels(struct node_files *files, const struct named_nodes *nodes,
                                   struct dataset_builder *builder, struct error *err)
{
    struct labelling labelling = {.file = &files->labels, .nodes = nodes};
    if (!files->labels.path)
        return ERROR_NONE;
    labelling.table = (struct label_table){
        .path = files->labels.path, .node_count = nodes->ids.count, .task = files->task};
    enum error_code rc =
        memory_new(&labelling.is_labelled, nodes->ids.count, "which nodes have labels", err);
    if (rc == ERROR_NONE)
        rc = keyed_file_visit(&files->labels, nodes, take_label, &labelling, err);
    if (rc == ERROR_NONE && labelling.table.column_count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected a line `id,class` a node, found none",
                       files->labels.path);
    if (rc == ERROR_NONE)
        rc = label_table_push(&labelling.table, 0, builder, err);
    label_table_release(&labelling.table);
    memory_free(labelling.is_labelled);
    return rc;
}

/* ---- splits ----------------------------------------------------------------------------------- */

struct selection {
    const struct keyed_file *file;
    const struct named_nodes *nodes;
    int64_t *node; /* [capacity] */
    uint64_t count, capacity;
    int64_t first_line;
};

static enum error_code select_node(void *context, const struct field *id, struct delimited *values,
                                   int64_t line, struct error *err)
{
    struct selection *selection = context;
    const int64_t node = named_nodes_find(selection->nodes, id);
    (void)values;
    if (node < 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node '%.*s' is in no other file: expected the id of a "
                         "node with an edge, a label or features",
                         selection->file->path, line, id->size < 40 ? (int)id->size : 40, id->text);
    if (selection->count ==
        selection->capacity) /* one more than all nodes: one stands there twice */
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected at most %" PRIu64 " nodes, found more",
                         selection->file->path, line, selection->capacity);
    if (selection->count == 0)
        selection->first_line = line;
    selection->node[selection->count++] = node;
    return ERROR_NONE;
}

enum error_code node_files_push_split(struct keyed_file *file, enum split split,
                                      const struct named_nodes *nodes,
                                      struct dataset_builder *builder, struct error *err)
{
    struct selection selection = {.file = file, .nodes = nodes, .capacity = nodes->ids.count + 1};
    enum error_code rc = memory_new(&selection.node, selection.capacity, "a split", err);
    if (rc == ERROR_NONE)
        rc = keyed_file_visit(file, nodes, select_node, &selection, err);
    if (rc == ERROR_NONE && selection.count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected the ids of the %s nodes, found none",
                       file->path, split_names[split]);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(builder, split, file->path, selection.first_line,
                                       selection.node, selection.count, err);
    memory_free(selection.node);
    return rc;
}

enum error_code node_files_push(struct node_files *files, const struct named_nodes *nodes,
                                struct dataset_builder *builder, struct error *err)
{
    enum error_code rc = push_labels(files, nodes, builder, err);
    if (rc == ERROR_NONE && files->features.path)
        rc = keyed_features_push(&files->features, &files->feature_ids, nodes, builder, err);
    for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++)
        if (files->split[split].path)
            rc =
                node_files_push_split(&files->split[split], (enum split)split, nodes, builder, err);
    return rc;
}
