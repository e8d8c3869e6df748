#include "stages/ingest/update/update_node_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct update_node_file update_node_file_of(struct update_reader *reader, const char *path,
                                            enum keyed_form form, bool is_of_new)
{
    const bool has_types = reader->schema->node_type_count > 1;
    const bool has_graphs = update_graphs_are_many(&reader->graphs);
    return (struct update_node_file){
        .reader = reader,
        .keyed = {.path = path,
                  .form = has_types ? KEYED_WORDS : form,
                  .keeps_header = has_types || (has_graphs && is_of_new)},
        .needs_type = has_types && is_of_new,
        .tells_graph = has_graphs && is_of_new};
}

/* Writes "author, paper, venue", as far as there is room. */
static const char *name_types(const struct dataset_schema *schema, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t t = 0; t < schema->node_type_count && at < size; t++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", t ? ", " : "",
                               schema->node_type[t].name);
    return text;
}

/* Checks that a header names the column of graphs. */
static enum error_code check_graph(const struct update_node_file *file, int64_t line,
                                   struct error *err)
{
    char number[24];
    const struct field column = keyed_file_column(&file->keyed, file->has_type ? 1 : 0, number);
    if (!file->tells_graph || !file->keyed.header || field_is(&column, "graph") ||
        field_is(&column, "graph_id"))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": the header above names '%.*s' after the %s: expected graph, "
                     "the number of the node's graph",
                     file->keyed.path, line, column.size < 40 ? (int)column.size : 40, column.text,
                     file->has_type ? "type" : "id");
}

static enum error_code survey(struct update_node_file *file, int64_t line, struct error *err)
{
    const bool has_types = file->reader->schema->node_type_count > 1;
    char number[24], types[160];
    const struct field second = keyed_file_column(&file->keyed, 0, number);
    file->is_known = true;
    file->has_type = has_types && file->keyed.header && field_is(&second, "type");
    if (file->has_type || !file->needs_type)
        return check_graph(file, line, err);
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected a header above, with id and type as its first "
                     "columns, since nodes have several types: %s",
                     file->keyed.path, line, name_types(file->reader->schema, types, sizeof types));
}

static enum error_code take_type(const struct update_node_file *file, struct delimited *values,
                                 int64_t line, uint32_t *type, struct error *err)
{
    const struct dataset_schema *schema = file->reader->schema;
    struct field field = {0};
    char types[160];
    (void)delimited_next(values, &field);
    for (uint32_t t = 0; t < schema->node_type_count; t++)
        if (strlen(schema->node_type[t].name) == field.size &&
            memcmp(schema->node_type[t].name, field.text, field.size) == 0) {
            *type = t;
            return ERROR_NONE;
        }
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": type: expected one of the node types (%s), found '%.*s'",
                     file->keyed.path, line, name_types(schema, types, sizeof types),
                     field.size < 40 ? (int)field.size : 40, field.text);
}

static enum error_code visit_line(void *context, const struct field *id, struct delimited *values,
                                  int64_t line, struct error *err)
{
    struct update_node_file *file = context;
    struct node_line at = {.type = LIVING_ANY_TYPE,
                           .id = id,
                           .values = values,
                           .where = file->keyed.path,
                           .line = line};
    enum error_code rc = ERROR_NONE;
    if (!file->is_known && file->keyed.keeps_header)
        rc = survey(file, line, err);
    if (rc == ERROR_NONE && file->has_type)
        rc = take_type(file, values, line, &at.type, err);
    return rc == ERROR_NONE ? file->visit(file->reader, &at, err) : rc;
}

enum error_code update_node_file_visit(struct update_node_file *file,
                                       enum error_code (*visit)(struct update_reader *reader,
                                                                const struct node_line *line,
                                                                struct error *err),
                                       struct error *err)
{
    file->visit = visit;
    return file->keyed.path
               ? keyed_file_visit(&file->keyed, &file->reader->nodes.base, visit_line, file, err)
               : ERROR_NONE;
}
