#include "stages/ingest/formats/held_edge_files.h"

#include "common/base/text.h"
#include "stages/ingest/formats/keyed_file.h"

#include <inttypes.h>

struct held_file { /* one run */
    const char *path;
    enum held_out split;
    const struct named_nodes *names; /* NULL: ids are numbers */
    struct dataset_builder *builder;
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

static enum error_code take_edge(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    struct held_file *file = context;
    struct field second = {0};
    int64_t source = 0, target = 0;
    (void)delimited_next(values, &second);
    enum error_code rc = find_node(file, id, line, &source, err);
    if (rc == ERROR_NONE)
        rc = find_node(file, &second, line, &target, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_hold_out(file->builder, file->split, file->path, line, source, target,
                                      err);
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
        struct held_file file = {
            .path = lines.path, .split = (enum held_out)s, .names = names, .builder = builder};
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
