#include "stages/plan/settings/update_request.h"

#include "common/files/file_pattern.h"
#include "store/records/dataset/dataset_types.h"

#include <stdio.h>
#include <string.h>

#define KIND(option, field)                                                                        \
    {                                                                                              \
        option, offsetof(struct update_request, field)                                             \
    }
const struct update_kind update_kind_table[UPDATE_KIND_COUNT] = {
    KIND("--add-edges", add_edges), KIND("--remove-edges", remove_edges),
    KIND("--add-nodes", add_nodes), KIND("--remove-nodes", remove_nodes),
    KIND("--features", features)};

const char **update_request_files(struct update_request *request, size_t kind)
{
    return (const char **)(void *)((char *)request + update_kind_table[kind].offset);
}

/* Appends the items of `files`, which are several, to those of `list`, which has no closing bracket
 * yet. */
static enum error_code add_items(char list[UPDATE_FILES_SIZE], const char *files, struct error *err)
{
    const char *at = NULL, *item = NULL;
    size_t size = 0, used = strlen(list);
    while (file_pattern_next(files, &at, &item, &size)) {
        if (memchr(item, ',', size))
            return error_set(err, ERROR_INVALID,
                             "%.*s: expected a path without a comma where there are several files",
                             (int)size, item);
        if (used + size + sizeof ", ]" > UPDATE_FILES_SIZE)
            return error_set(err, ERROR_INVALID,
                             "%.*s: the paths of all files together are longer than %d bytes; a "
                             "pattern such as 'part-*.csv' is shorter",
                             (int)size, item, UPDATE_FILES_SIZE);
        used += (size_t)snprintf(list + used, UPDATE_FILES_SIZE - used, "%s%.*s", used ? ", " : "[",
                                 (int)size, item);
    }
    return ERROR_NONE;
}

enum error_code update_files_add(char text[UPDATE_FILES_SIZE], const char *more, struct error *err)
{
    char list[UPDATE_FILES_SIZE] = "";
    enum error_code rc = ERROR_NONE;
    if (!text[0] && strlen(more) < UPDATE_FILES_SIZE) {
        (void)snprintf(text, UPDATE_FILES_SIZE, "%s", more);
        return ERROR_NONE;
    }
    if (text[0])
        rc = add_items(list, text, err);
    if (rc == ERROR_NONE)
        rc = add_items(list, more, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t size = strlen(list);
    list[size] = ']'; /* add_items() has left room for it */
    list[size + 1] = '\0';
    (void)snprintf(text, UPDATE_FILES_SIZE, "%s", list);
    return ERROR_NONE;
}

enum error_code update_options_read(struct update_options *options, struct update_request *out,
                                    struct error *err)
{
    const struct option_list *const all[UPDATE_KIND_COUNT] = {
        &options->add_edges, &options->remove_edges, &options->add_nodes, &options->remove_nodes,
        &options->features};
    *out = (struct update_request){.base = options->base};
    for (size_t kind = 0; kind < UPDATE_KIND_COUNT; kind++)
        for (int i = 0; i < all[kind]->count; i++) {
            const enum error_code rc =
                update_files_add(options->text[kind], all[kind]->item[i], err);
            if (rc != ERROR_NONE)
                return error_context(err, ERROR_USAGE, "%s", update_kind_table[kind].option);
            *update_request_files(out, kind) = options->text[kind];
        }
    return ERROR_NONE;
}

uint32_t update_relation_count(const struct dataset_schema *schema,
                               const struct pipeline_settings *settings)
{
    const bool has_reverses = settings->ingest.relations && settings->ingest.add_reverse;
    return has_reverses ? schema->edge_type_count / 2 : schema->edge_type_count;
}

enum error_code update_check_dataset(const struct dataset_schema *schema, struct error *err)
{
    for (uint32_t t = 0; t < dataset_type_count(schema); t++)
        if (!dataset_type_origin(schema, t)[0])
            return error_set(
                err, ERROR_INVALID,
                "dataset %s was made by an earlier release, which did not store the origin of the "
                "features of each type: expected a dataset that is made again, in another folder",
                schema->id);
    return ERROR_NONE;
}
