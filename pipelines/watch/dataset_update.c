#include "pipelines/watch/dataset_update.h"

#include "pipelines/shared/run_state.h"

#include <string.h>

static void add_argument(struct option_list *list, const char *option, const char *value)
{
    if (!value)
        return;
    list->item[list->count++] = option;
    list->item[list->count++] = value;
}

/* Returns the files as arguments of graphmill-ingest. */
static struct option_list arguments_of(const struct update_request *update)
{
    struct update_request files = *update;
    struct option_list list = {0};
    for (size_t kind = 0; kind < UPDATE_KIND_COUNT; kind++)
        add_argument(&list, update_kind_table[kind].option, *update_request_files(&files, kind));
    add_argument(&list, "--base", update->base);
    return list;
}

enum error_code dataset_newest_id(const struct pipeline_options *options,
                                  const struct run_folder *folder, char id[ID_SIZE],
                                  struct error *err)
{
    struct key newest;
    const enum error_code rc = run_input_switch(&options->settings, "dataset", &newest, err);
    return rc == ERROR_NONE ? store_switch_get(folder->store, newest.text, id, ID_SIZE, err) : rc;
}

/* Reads the id of the version that these files made from "dataset=ID" in the answer. The newest
 * version may by now be that of another update. */
static enum error_code read_answer(const char *answer, char id[ID_SIZE], struct error *err)
{
    static const char name[] = "dataset=";
    const char *at = strstr(answer, name);
    const size_t size = at ? strcspn(at + sizeof name - 1, " ") : 0;
    if (size == 0 || size >= ID_SIZE)
        return error_set(err, ERROR_BUG,
                         "ingest: expected \"dataset=ID\" in its answer, found '%s'", answer);
    (void)memcpy(id, at + sizeof name - 1, size);
    id[size] = '\0';
    return ERROR_NONE;
}

enum error_code dataset_update_apply(const struct pipeline_options *options,
                                     struct run_folder *folder,
                                     const struct update_request *request,
                                     struct dataset_version *out, struct error *err)
{
    const struct option_list files = arguments_of(request);
    char id[ID_SIZE] = "";
    char answer[CHILD_TEXT_SIZE] = "";
    enum error_code rc = pipeline_run_stage_with(options, folder, "ingest", &files, answer, err);
    const bool is_refused = rc == ERROR_INPUT && strcmp(answer, UPDATE_REFUSED) == 0;
    if (rc == ERROR_INPUT && !is_refused)
        /* the exit status is the same, but the dataset is at fault and not these files */
        rc = ERROR_CORRUPT;
    /* nothing was changed, so the folder's recorded state stays valid */
    if (rc == ERROR_NONE || is_refused)
        run_state_remove(folder->path);
    if (rc == ERROR_NONE)
        rc = read_answer(answer, id, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(folder->store, id, &out->schema, err);
    if (rc == ERROR_NONE)
        rc = dataset_delta_get(folder->store, id, &out->delta, err);
    if (rc != ERROR_NONE)
        return rc;
    const bool has_reverses =
        update_relation_count(&out->schema, &options->settings) < out->schema.edge_type_count;
    out->added_edges = out->delta.added_edges >> has_reverses;
    out->removed_edges = out->delta.gone_edges >> has_reverses;
    return ERROR_NONE;
}

void dataset_version_release(struct dataset_version *version)
{
    store_release_record(&version->delta.view);
    *version = (struct dataset_version){0};
}

void dataset_version_put(struct json_writer *json, const struct dataset_version *version)
{
    const struct dataset_delta *d = &version->delta;
    const struct {
        const char *name;
        uint64_t value;
    } count[] = {{"version", d->depth},
                 {"nodes", version->schema.node_count},
                 {"edges", version->schema.edge_count},
                 {"added_nodes", d->added_nodes},
                 {"removed_nodes", d->gone_nodes},
                 {"added_edges", version->added_edges},
                 {"removed_edges", version->removed_edges},
                 {"feature_rows", d->rows}};
    json_put_string(json, "dataset", version->schema.id);
    json_put_string(json, "base", d->base);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        json_put_int64(json, count[i].name, (int64_t)count[i].value);
}
