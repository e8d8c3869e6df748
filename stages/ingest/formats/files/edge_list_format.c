/* The format edge_list: the files of edges that ingest.path names, and the files of nodes beside
 * them. */
#include "common/files/file_pattern.h"
#include "common/formats/bytes/file_kind.h"
#include "stages/ingest/formats/columns/node_files.h"
#include "stages/ingest/formats/files/edge_list_reader.h"
#include "stages/ingest/formats/shared/edge_shape.h"
#include "stages/ingest/formats/shared/input_format.h"

/* Checks that a file may be an edge list, unless a setting names its columns: then the user is
 * right. */
static enum error_code check_edge_file(void *context, const char *path, size_t index,
                                       struct error *err)
{
    const struct pipeline_settings *const *settings = context;
    (void)index;
    const enum error_code rc = file_kind_check_table(path, NULL, 0, "edges", err);
    return rc == ERROR_NONE && !(*settings)->ingest.edge_columns[0] ? edge_shape_check(path, err)
                                                                    : rc;
}

static enum error_code edge_list_run(const struct pipeline_settings *settings,
                                     uint64_t memory_bytes, struct dataset_builder *builder,
                                     struct error *err)
{
    struct node_files files;
    const struct edge_list_input input = {
        .name = settings->ingest.path,
        .nodes = &files,
        .edge_features = (enum edge_feature_choice)settings->ingest.edge_features,
        .settings = settings};
    const struct pipeline_settings *context = settings;
    enum error_code rc = node_files_open(&files, settings, err);
    if (rc == ERROR_NONE)
        rc = file_pattern_visit(settings->ingest.path, check_edge_file, &context, err);
    if (rc == ERROR_NONE)
        rc = edge_list_reader_run(&input, (enum id_type)settings->ingest.id_type, memory_bytes,
                                  builder, err);
    node_files_release(&files);
    return rc;
}

const struct input_format edge_list_format = {
    .is_file = true,
    .advice = {ADVICE_NODE_FILES},
    .form = "mend it so that each row is an edge or a node, all rows have as many columns as the "
            "first, and commas, tabs or blanks separate them; gzip and zstd are allowed",
    .run = edge_list_run,
};
