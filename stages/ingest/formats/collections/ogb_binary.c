#include "stages/ingest/formats/collections/ogb_binary.h"

#include "stages/ingest/formats/columns/feature_file.h"

/* The columns of edges by the names of their arrays, and as columns that edge_files.h reads. */
static const struct {
    const char *array;
    enum edge_column column;
} columns[] = {{"edge_feat", EDGE_FEATURE},
               {"edge_reltype", EDGE_TYPE},
               {"edge_weight", EDGE_WEIGHT},
               {"edge_year", EDGE_TIME}};

/* Renames the unpacked arrays to the names that edge_files.h reads. */
static enum error_code call_columns(const struct ogb_binary *binary, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof columns / sizeof *columns; i++) {
        char path[FILE_PATH_SIZE], known[FILE_PATH_SIZE];
        rc = npz_folder_find(&binary->arrays, "", columns[i].array, path, err);
        if (rc != ERROR_NONE || !path[0])
            continue;
        rc = file_path(known, err, "%s/%s.npy", binary->arrays.path,
                       edge_column[columns[i].column].file);
        if (rc == ERROR_NONE)
            rc = file_rename(path, known, err);
    }
    return rc;
}

enum error_code ogb_binary_open(struct ogb_binary *binary, const char *raw, bool of_graphs,
                                struct dataset_builder *builder, struct error *err)
{
    static const char *const wanted[] = {"edge_index",  "num_nodes_list", "num_edges_list",
                                         "node_feat",   "edge_feat",      "edge_reltype",
                                         "edge_weight", "edge_year",      NULL};
    binary->notes = dataset_builder_notes(builder);
    binary->label_array = of_graphs ? "graph_label" : "node_label";
    enum error_code rc = file_path(binary->data, err, "%s/data.npz", raw);
    if (rc == ERROR_NONE)
        rc = file_path(binary->label, err, "%s/%s-label.npz", raw, of_graphs ? "graph" : "node");
    if (rc == ERROR_NONE)
        rc = file_is_there(binary->data, &binary->is_there, err);
    if (rc != ERROR_NONE || !binary->is_there)
        return rc;
    rc = npz_folder_open(&binary->arrays, binary->data, "data.npz", wanted, builder, err);
    return rc == ERROR_NONE ? call_columns(binary, err) : rc;
}

enum error_code ogb_binary_columns(const struct ogb_binary *binary, struct edge_files *files,
                                   struct error *err)
{
    return edge_files_open(files, binary->arrays.path, binary->notes, err);
}

enum error_code ogb_binary_push_features(const struct ogb_binary *binary, uint64_t node_count,
                                         struct dataset_builder *builder, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct feature_file file = {0};
    enum error_code rc = npz_folder_find(&binary->arrays, "", "node_feat", path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    rc = feature_file_open(&file, path, NULL, node_count, 0, err);
    if (rc == ERROR_NONE)
        rc = feature_file_push(&file, builder, err);
    feature_file_close(&file);
    return rc;
}

enum error_code ogb_binary_labels(struct ogb_binary *binary, struct dataset_builder *builder,
                                  char path[FILE_PATH_SIZE], struct error *err)
{
    const char *const wanted[] = {binary->label_array, NULL};
    bool found = false;
    path[0] = '\0';
    enum error_code rc = file_is_there(binary->label, &found, err);
    if (rc != ERROR_NONE || !found)
        return rc;
    rc = npz_folder_open(&binary->labels, binary->label, "label.npz", wanted, builder, err);
    return rc == ERROR_NONE ? npz_folder_need(&binary->labels, "", binary->label_array, path, err)
                            : rc;
}
