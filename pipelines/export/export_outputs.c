/* Exports the embeddings in a run's outputs, whose rows are in the order of the other output
 * files. */
#include "common/base/memory.h"
#include "common/formats/arrays/npy_reader.h"
#include "pipelines/export/export_arrays.h"
#include "pipelines/export/export_ids.h"
#include "pipelines/export/row_table.h"
#include "stages/plan/chain/chain_state.h"
#include "store/objects/keys.h"
#include "store/records/dataset/graph_index.h"
#include "store/records/dataset/wanted_nodes.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/round/outputs_seal.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>

enum { PIECE_ROWS = 4096 };

/* The nodes or graphs that the rows belong to. */
struct output_owners {
    struct export_ids ids;
    struct wanted_nodes wanted; /* for a run that infers only some nodes */
    uint32_t first_node, count;
    const char *what; /* "node" or "graph" */
};

static void close_owners(struct output_owners *owners)
{
    export_ids_close(&owners->ids);
    store_release_record(&owners->wanted.view);
}

/* Finds the first dataset node of the target type, and the number of its nodes. */
static enum error_code find_target(const struct run_folder *folder, struct output_owners *owners,
                                   struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    const struct type_ranges ranges = partition_book_ranges(book);
    struct node_permutation all = {.node_count = 0};
    struct type_permutation of_type = {.first_node = 0};
    enum error_code rc =
        merged_permutation_get(folder->store, book->id, book->node_count, &all, err);
    if (rc == ERROR_NONE)
        rc = type_permutation_find(&all, &ranges, book->target_type, &of_type, err);
    owners->first_node = of_type.first_node;
    owners->count = of_type.of.node_count;
    type_permutation_release(&of_type);
    store_release_record(&all.view);
    return rc;
}

static enum error_code find_graphs(const struct run_folder *folder, struct output_owners *owners,
                                   struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    struct graph_index index = {.node_count = 0};
    const enum error_code rc =
        graph_index_of_partition(folder->store, book->id, book->node_count, &index, err);
    owners->what = "graph";
    owners->count = index.graph_count;
    owners->ids.of = graph_index_ids(&index, &owners->first_node);
    owners->ids.of.view = index.view;
    return rc;
}

static enum error_code open_owners(const struct run_folder *folder, struct output_owners *owners,
                                   struct error *err)
{
    const struct run_binding *run = &folder->run;
    const struct partition_book *book = &run->book;
    owners->what = "node";
    owners->count = book->node_count;
    if (book->graph_count > 0)
        return find_graphs(folder, owners, err);
    enum error_code rc = export_ids_open(folder, &owners->ids, err);
    if (rc == ERROR_NONE && run->schedule.infers_some) {
        rc = wanted_nodes_get(folder->store, run->plan.id, book->node_count, &owners->wanted, err);
        owners->count = owners->wanted.count;
    } else if (rc == ERROR_NONE && book->type_count &&
               !task_has(book->task, TASK_SEEDS_ALL_TYPES)) {
        rc = find_target(folder, owners, err);
    }
    return rc;
}

static enum error_code copy_rows(const struct npy_reader *reader, struct row_table *table,
                                 struct error *err)
{
    const uint32_t rows = table->config.row_count, columns = table->config.column_count;
    float *piece = NULL;
    enum error_code rc = memory_new(&piece, (size_t)PIECE_ROWS * columns, "a piece of rows", err);
    for (uint32_t first = 0, count = 0; rc == ERROR_NONE && first < rows; first += count) {
        count = rows - first < PIECE_ROWS ? rows - first : PIECE_ROWS;
        rc = npy_reader_float(reader, (uint64_t)first * columns, (size_t)count * columns, piece,
                              err);
        if (rc == ERROR_NONE)
            rc = row_table_add(table, piece, count, err);
    }
    memory_free(piece);
    return rc;
}

static enum error_code write_rows(const struct npy_reader *reader,
                                  const struct output_owners *owners,
                                  const struct array_target *target, struct error *err)
{
    const struct npy_header *header = &reader->header;
    struct row_table table = {.csv = NULL};
    if (header->dimension_count != 2 || header->shape[0] != owners->count ||
        header->shape[1] > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: expected a row for each of %" PRIu32 " %ss, found %" PRIu64,
                         reader->path, owners->count, owners->what, header->shape[0]);
    const struct row_table_config config = {.path = target->path,
                                            .is_csv = target->is_csv,
                                            .row_count = owners->count,
                                            .column_count = (uint32_t)header->shape[1],
                                            .id_column = owners->what,
                                            .column = "embedding",
                                            .ids = &owners->ids.of,
                                            .first_node = owners->first_node,
                                            .node = owners->wanted.node};
    enum error_code rc = row_table_open(&table, &config, err);
    if (rc == ERROR_NONE)
        rc = copy_rows(reader, &table, err);
    if (rc == ERROR_NONE)
        rc = row_table_finish(&table, err);
    row_table_close(&table);
    return rc;
}

static enum error_code open_embeddings(const struct run_folder *folder,
                                       struct artifact_handle *files, struct npy_reader *reader,
                                       struct error *err)
{
    const struct run_binding *run = &folder->run;
    struct chain_state state = {0};
    char path[FILE_PATH_SIZE];
    enum error_code rc = chain_state_read(&run->schedule, folder->store, run->plan.id, &state, err);
    if (rc == ERROR_NONE && !state.finished)
        rc = error_set(err, ERROR_NOT_FOUND, "run %s has not ended: there are no outputs yet",
                       run->plan.id);
    if (rc != ERROR_NONE)
        return rc;
    const struct key key =
        key_outputs(run->plan.id, state.weights_version, run->schedule.outputs_tag);
    rc = outputs_acquire(folder->store, key.text, NULL, files, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/embeddings.npy", files->path);
    if (rc == ERROR_NONE)
        rc = npy_reader_open(reader, path, err);
    return rc == ERROR_NOT_FOUND
               ? error_set(err, rc, "run %s wrote no embeddings: infer.embeddings is false",
                           run->plan.id)
               : rc;
}

enum error_code export_outputs(const struct run_folder *folder, const struct array_target *target,
                               struct error *err)
{
    struct artifact_handle files = {0};
    struct npy_reader reader = {.fd_plus_one = 0};
    struct output_owners owners = {.first_node = 0};
    enum error_code rc = open_embeddings(folder, &files, &reader, err);
    if (rc == ERROR_NONE)
        rc = open_owners(folder, &owners, err);
    if (rc == ERROR_NONE)
        rc = write_rows(&reader, &owners, target, err);
    close_owners(&owners);
    npy_reader_close(&reader);
    artifact_release(&files);
    return rc;
}
