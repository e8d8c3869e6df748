#include "stages/ingest/formats/columns/held_edge_files.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/formats/columns/keyed_file.h"
#include "stages/ingest/formats/columns/node_time_file.h"

#include <inttypes.h>

struct held_file { /* the state of one run */
    const char *path;
    enum split split;
    const struct named_nodes *names; /* NULL: ids are numbers */
    struct dataset_builder *builder;
    uint32_t type_count; /* 0: edges have no types */
    uint64_t count;
    int64_t *node; /* the listed negatives of a line */
    size_t capacity;
};

/* Finds a node by its id. `side`: 0 is the source of an edge, 1 the target. */
static enum error_code find_node(const struct held_file *file, int side, const struct field *id,
                                 int64_t line, int64_t *node, struct error *err)
{
    const int shown = id->size < 40 ? (int)id->size : 40;
    /* the builder checks the range */
    if (!file->names && text_int64(id->text, id->size, node))
        return ERROR_NONE;
    if (file->names)
        *node = named_nodes_find_end(file->names, side, id);
    if (file->names && *node >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": node '%.*s' is in no other file: expected the id of a node "
                     "of the input"
                     ": " ADVICE "write the id of a node that has an edge, or remove the line",
                     file->path, line, shown, id->text);
}

/* Reads the type, which follows the two ends if edges have types. */
static enum error_code find_type(const struct held_file *file, struct delimited *values,
                                 int64_t line, uint16_t *type, struct error *err)
{
    struct field field = {0};
    const bool has_field = delimited_next(values, &field);
    const int shown = field.size < 40 ? (int)field.size : 40;
    const int32_t found =
        has_field ? dataset_builder_find_edge_type(file->builder, field.text, field.size) : -1;
    *type = (uint16_t)found;
    if (found >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s%.*s%s after source and target: expected the type of the "
                     "edge, by its name or from 0 to %" PRIu32
                     ", as the edges of the input have one",
                     file->path, line, has_field ? "'" : "nothing", shown,
                     has_field ? field.text : "", has_field ? "'" : "", file->type_count - 1);
}

/* Reads the beginning that both kinds of lines share. */
static enum error_code read_edge(struct held_file *file, const struct field *id,
                                 struct delimited *values, struct given_edge *edge,
                                 struct error *err)
{
    struct field second = {0};
    (void)delimited_next(values, &second);
    file->count++;
    enum error_code rc = find_node(file, 0, id, edge->line, &edge->source, err);
    if (rc == ERROR_NONE)
        rc = find_node(file, 1, &second, edge->line, &edge->target, err);
    return rc == ERROR_NONE && file->type_count
               ? find_type(file, values, edge->line, &edge->type, err)
               : rc;
}

static enum error_code take_edge(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    struct held_file *file = context;
    struct given_edge edge = {.where = file->path, .line = line};
    const enum held_out held = file->split == SPLIT_VALID ? HELD_OUT_VALID : HELD_OUT_TEST;
    const enum error_code rc = read_edge(file, id, values, &edge, err);
    return rc == ERROR_NONE ? dataset_builder_hold_out(file->builder, held, &edge, err) : rc;
}

static enum error_code take_negatives(void *context, const struct field *id,
                                      struct delimited *values, int64_t line, struct error *err)
{
    struct held_file *file = context;
    struct given_edge edge = {.where = file->path, .line = line};
    struct field field;
    size_t count = 0;
    enum error_code rc = read_edge(file, id, values, &edge, err);
    while (rc == ERROR_NONE && delimited_next(values, &field)) {
        rc = memory_grow(&file->node, &file->capacity, count + 1, "given negatives", err);
        if (rc == ERROR_NONE)
            rc = find_node(file, 1, &field, line, &file->node[count++], err);
    }
    return rc == ERROR_NONE ? dataset_builder_give_negatives(file->builder, file->split, &edge,
                                                             file->node, count, err)
                            : rc;
}

static enum error_code visit(struct held_file *file, keyed_visitor take, struct error *err)
{
    static const struct named_nodes none;
    struct keyed_file lines = {.path = file->path,
                               .form = KEYED_VALUES,
                               .is_uneven = true,
                               .lists_nodes = file->names != NULL};
    const enum error_code rc =
        keyed_file_visit(&lines, file->names ? file->names : &none, take, file, err);
    keyed_file_release(&lines);
    memory_free(file->node);
    return rc;
}

/* Refuses given splits without files. The check of the settings cannot refuse them for formats
 * whose inputs may have held-out edges of their own; this input has none. */
static enum error_code need_files(const struct pipeline_settings *settings, struct error *err)
{
    if (!pipeline_gives_edges(settings))
        return ERROR_NONE;
    if (!settings->ingest.edge_file[2][0] && !pipeline_may_have_edge_splits(settings))
        return error_set(err, ERROR_INVALID,
                         "ingest.edge_split is given, but ingest.test_edges is empty: expected a "
                         "file with a line `source,target` an edge");
    return ERROR_NONE;
}

enum error_code held_edge_files_push(const struct pipeline_settings *settings,
                                     const struct named_nodes *names,
                                     struct dataset_builder *builder, struct error *err)
{
    static const char *const split_name[SPLIT_COUNT] = {
        [SPLIT_TRAIN] = "training", [SPLIT_VALID] = "valid", [SPLIT_TEST] = "test"};
    enum error_code rc = need_files(settings, err);
    if (rc == ERROR_NONE)
        rc = node_time_file_push(settings, names, builder, err);
    for (int i = 0; rc == ERROR_NONE && i < 2 * SPLIT_COUNT && !pipeline_reads_targets(settings);
         i++) {
        const int split = i % SPLIT_COUNT;
        const bool lists_edges = i < SPLIT_COUNT;
        struct held_file file = {.path = lists_edges ? settings->ingest.edge_file[split]
                                                     : settings->ingest.negative_file[split],
                                 .split = (enum split)split,
                                 .names = names,
                                 .builder = builder,
                                 .type_count = dataset_builder_edge_types(builder)};
        if (!file.path[0] || (!lists_edges && task_has(settings->ingest.task, TASK_LABELS_EDGES)))
            continue;
        rc = visit(&file, lists_edges ? take_edge : take_negatives, err);
        if (rc == ERROR_NONE && file.count == 0)
            rc = error_set(err, ERROR_INPUT,
                           "%s: expected a line `source,target%s` for each edge of the %s split, "
                           "found none",
                           file.path, lists_edges ? "" : ",node,node,...", split_name[split]);
    }
    return rc;
}
