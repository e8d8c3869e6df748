/* export - the model of a run as safetensors, for PyG or DGL. */
#include "common/base/options.h"
#include "common/nn/model_file.h"
#include "pipelines/commands.h"
#include "pipelines/run_folder.h"
#include "stages/run_model.h"
#include "store/records/snapshot.h"

#include <stdio.h>
#include <string.h>

struct export_options {
    const char *flavor, *output, *weights, *run;
};

/* clang-format off */
#define AT(field) offsetof(struct export_options, field)
static const struct option_spec option_table[] = {
    {"flavor", OPTION_TEXT, AT(flavor), "pyg", 0, 0, "NAME", "whose parameter names: pyg or dgl"},
    {"output", OPTION_TEXT, AT(output), "model.safetensors", 0, 0, "FILE", "where to write"},
    {"weights", OPTION_TEXT, AT(weights), "best", 0, 0, "WHICH", "best (validation) or last"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID", "which run, when the folder has several (default: the newest)"},
    {.name = NULL},
};
/* clang-format on */

static enum error_code write_model(const struct run_folder *folder,
                                   const struct export_options *options, struct error *err)
{
    const char *run_id = folder->run.plan.id;
    const bool best = strcmp(options->weights, "best") == 0;
    const bool dgl = strcmp(options->flavor, "dgl") == 0;
    struct snapshot snapshot = {0};
    struct model model;
    int64_t version = -1;
    if (!best && strcmp(options->weights, "last") != 0)
        return error_set(err, ERROR_USAGE, "--weights is '%s', expected best or last",
                         options->weights);
    if (!dgl && strcmp(options->flavor, "pyg") != 0)
        return error_set(err, ERROR_USAGE, "--flavor is '%s', expected pyg or dgl",
                         options->flavor);
    enum error_code rc = run_model_init(&model, &folder->run.settings, &folder->run.book, err);
    if (rc == ERROR_NONE)
        rc = snapshot_current_version(folder->store, run_id, &version, err);
    if (rc == ERROR_NONE)
        rc = snapshot_get(folder->store, run_id, version, &snapshot, err);
    if (rc != ERROR_NONE)
        return rc;
    if (snapshot.value_count != model.value_count)
        rc = error_set(err, ERROR_CORRUPT, "the snapshot does not fit the model of run %s", run_id);
    else
        rc = model_file_write(&model, best ? snapshot.best_value : snapshot.value, run_id,
                              best ? snapshot.best_version : version,
                              dgl ? MODEL_FLAVOR_DGL : MODEL_FLAVOR_PYG, options->output, err);
    store_release_record(&snapshot.view);
    return rc;
}

enum error_code command_export(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct export_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill export RUN [options] - write the model for PyG or DGL\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill export takes one run's folder");
    if (rc == ERROR_NONE)
        rc = run_folder_open(&folder, rest.item[0], options.run, err);
    if (rc == ERROR_NONE)
        rc = write_model(&folder, &options, err);
    if (rc == ERROR_NONE)
        printf("%s\n", options.output);
    run_folder_close(&folder);
    return rc;
}
