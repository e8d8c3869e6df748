#include "stages/ingest/formats/held_edge_files.h"

#include "common/base/text.h"
#include "stages/ingest/formats/keyed_file.h"

#include <inttypes.h>

struct held_file { /* one run */
    const char *path;
    enum held_out split;
    const struct named_nodes *names; /* NULL: ids are numbers */
    struct dataset_builder *builder;
    uint32_t type_count; /* 0: edges have no types */
    uint64_t count;
};

static enum error_code find_node(const struct held_file *file, const struct field *id, int64_t line,
                                 int64_t *node, struct error *err)
{
    const int shown = id->size < 40 ? (int)id->size : 40;
    if (!file->names && text_int64(id->text, id->size, node))
        return ERROR_NONE; /* the builder knows the range */
    if (file->names)
        *node = named_nodes_find(file->names, id);
    if (file->names && *node >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": node '%.*s' is in no other file: expected the id of a node "
                     "of the input",
                     file->path, line, shown, id->text);
}

/* Behind the two ends, where edges have types. */
static enum error_code find_type(const struct held_file *file, struct delimited *values,
                                 int64_t line, uint16_t *type, struct error *err)
{
    struct field field = {0};
    int64_t number = -1;
    const bool has_field = delimited_next(values, &field);
    const int shown = field.size < 40 ? (int)field.size : 40;
    if (!text_int64(field.text, field.size, &number) || number < 0 ||
        number >= (int64_t)file->type_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": %s%.*s%s behind source and target: expected the type of "
                         "the edge, from 0 to %" PRIu32 ", as the edges of the input have one",
                         file->path, line, has_field ? "'" : "nothing", shown,
                         has_field ? field.text : "", has_field ? "'" : "", file->type_count - 1);
    *type = (uint16_t)number;
    return ERROR_NONE;
}

static enum error_code take_edge(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    struct held_file *file = context;
    struct field second = {0};
    struct given_edge edge = {.where = file->path, .line = line};
    (void)delimited_next(values, &second);
    enum error_code rc = find_node(file, id, line, &edge.source, err);
    if (rc == ERROR_NONE)
        rc = find_node(file, &second, line, &edge.target, err);
    if (rc == ERROR_NONE && file->type_count)
        rc = find_type(file, values, line, &edge.type, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_hold_out(file->builder, file->split, &edge, err);
    file->count++;
    return rc;
}

enum error_code held_edge_files_push(const struct pipeline_settings *settings,
                                     const struct named_nodes *names,
                                     struct dataset_builder *builder, struct error *err)
{
    static const struct named_nodes none;
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT && pipeline_learns_pairs(settings);
         s++) {
        struct keyed_file lines = {.path = settings->ingest.edge_file[1 + s], .form = KEYED_VALUES};
        struct held_file file = {.path = lines.path,
                                 .split = (enum held_out)s,
                                 .names = names,
                                 .builder = builder,
                                 .type_count = dataset_builder_edge_types(builder)};
        if (!lines.path[0])
            continue;
        rc = keyed_file_visit(&lines, names ? names : &none, take_edge, &file, err);
        if (rc == ERROR_NONE && file.count == 0)
            rc = error_set(err, ERROR_INPUT,
                           "%s: expected a line `source,target` for each edge of the %s split, "
                           "found none",
                           file.path, held_out_name[s]);
    }
    return rc;
}
