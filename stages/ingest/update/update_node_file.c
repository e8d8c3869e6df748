#include "stages/ingest/update/update_node_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct update_node_file update_node_file_of(struct update_reader *reader, const char *path,
                                            enum keyed_form form, bool needs_type)
{
    const bool has_types = reader->schema->node_type_count > 1;
    return (struct update_node_file){
        .reader = reader,
        .keyed = {.path = path, .form = has_types ? KEYED_WORDS : form, .keeps_header = has_types},
        .needs_type = has_types && needs_type};
}

/* "author, paper, venue", as far as there is room. */
static const char *name_types(const struct dataset_schema *schema, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t t = 0; t < schema->node_type_count && at < size; t++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", t ? ", " : "",
                               schema->node_type[t].name);
    return text;
}

static enum error_code survey(struct update_node_file *file, int64_t line, struct error *err)
{
    char number[24], types[160];
    const struct field second = keyed_file_column(&file->keyed, 0, number);
    file->is_known = true;
    file->has_type = file->keyed.header && field_is(&second, "type");
    if (file->has_type || !file->needs_type)
        return ERROR_NONE;
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
    if (!file->is_known && file->reader->schema->node_type_count > 1)
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
