#include "stages/ingest/formats/columns/node_time_file.h"

#include "common/base/text.h"
#include "common/formats/text/time_text.h"
#include "stages/ingest/formats/columns/keyed_file.h"

#include <inttypes.h>

struct time_file { /* one run */
    const char *path;
    const struct named_nodes *names; /* NULL: ids are numbers */
    struct dataset_builder *builder;
    uint64_t count;
};

static int shown(const struct field *field)
{
    return field->size < 40 ? (int)field->size : 40;
}

static enum error_code find_node(const struct time_file *file, const struct field *id, int64_t line,
                                 int64_t *node, struct error *err)
{
    const bool is_number = !file->names && text_int64(id->text, id->size, node);
    if (file->names)
        *node = named_nodes_find(file->names, id);
    if (file->names ? *node >= 0 : is_number)
        return ERROR_NONE; /* the builder knows the range */
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": node '%.*s' is in no other file: " ADVICE
                     "write the id of a node of the input, or remove the line",
                     file->path, line, shown(id), id->text);
}

static enum error_code take_line(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    struct time_file *file = context;
    struct time_format *format = &dataset_builder_notes(file->builder)->time;
    struct field field = {.text = "", .size = 0};
    struct time_fault fault;
    int64_t node = 0, time = 0;
    enum error_code rc = find_node(file, id, line, &node, err);
    if (rc != ERROR_NONE)
        return rc;
    file->count++;
    (void)delimited_next(values, &field);
    time_format_narrow(format, field.text, field.size);
    if (!time_text_value(format, field.text, field.size, &time, &fault))
        return time_fault_advise(&fault,
                                 error_set(err, ERROR_INPUT,
                                           "%s:%" PRId64 ": expected %s, found '%.*s'", file->path,
                                           line, fault.expected, shown(&field), field.text),
                                 err);
    rc = dataset_builder_set_time(file->builder, node, time, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s:%" PRId64, file->path, line);
}

enum error_code node_time_file_push(const struct pipeline_settings *settings,
                                    const struct named_nodes *names,
                                    struct dataset_builder *builder, struct error *err)
{
    static const struct named_nodes none;
    struct time_file file = {
        .path = settings->ingest.node_times, .names = names, .builder = builder};
    struct keyed_file lines = {.path = file.path, .form = KEYED_VALUES};
    if (!file.path[0])
        return ERROR_NONE;
    enum error_code rc = keyed_file_visit(&lines, names ? names : &none, take_line, &file, err);
    keyed_file_release(&lines);
    if (rc == ERROR_NONE && file.count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected a line `id,time` a node, found none",
                       file.path);
    return rc;
}
