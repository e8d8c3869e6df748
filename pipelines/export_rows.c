/* Rows of all nodes, from shards in the order of the partition to one array in that of the input. */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/formats/npy.h"
#include "pipelines/export_arrays.h"
#include "stages/plan/chain.h"
#include "store/features/feature_source.h"
#include "store/records/node_permutation.h"
#include "store/records/snapshot.h"

#include <string.h>

enum { PIECE_ROWS = 4096 };

static enum error_code open_last_layer(const struct run_folder *folder, struct feature_source **out,
                                       struct error *err)
{
    const struct run_binding *run = &folder->run;
    struct snapshot snapshot = {0};
    const float *value = NULL;
    enum error_code rc = snapshot_get_current(folder->store, run->plan.id, &snapshot, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct weights_identity identity =
        weights_identity_of(&snapshot, run->schedule.infers_best, &value);
    const bool ended = chain_weights_version(&run->schedule, &snapshot) >= 0;
    store_release_record(&snapshot.view);
    if (!ended)
        return error_set(err, ERROR_NOT_FOUND, "run %s has not ended: nothing is inferred yet",
                         run->plan.id);
    const struct feature_source_config config = {
        .store = folder->store,
        .origin = FEATURES_OF_INFER_LAYER,
        .id = run->plan.id,
        .layer = run->schedule.layer_count,
        .weights = &identity,
        .part_count = run->book.part_count,
        .book = run->book.book,
        .tensor = layer_tensor,
        .budget_bytes = host_memory_bytes() / 4,
    };
    return feature_source_open(&config, out, err);
}

static enum error_code write_piece(struct feature_source *source, const uint32_t *node,
                                   size_t count, float *piece, struct npy_writer *writer,
                                   struct error *err)
{
    struct feature_rows rows = {0};
    const enum error_code rc = feature_source_fetch(source, node, count, &rows, err);
    if (rc != ERROR_NONE)
        return rc;
    feature_rows_copy(&rows, count, piece);
    return npy_writer_add(writer, piece, count * rows.dim, err);
}

static enum error_code write_rows(struct feature_source *source,
                                  const struct node_permutation *permutation, const char *path,
                                  struct error *err)
{
    const uint32_t dim = feature_source_dim(source), node_count = permutation->node_count;
    struct npy_writer writer = {0};
    float *piece = NULL;
    enum error_code rc = memory_new(&piece, (size_t)PIECE_ROWS * dim, "a piece of rows", err);
    if (rc == ERROR_NONE)
        rc = npy_writer_open(&writer, path, NPY_F32, node_count, dim, err);
    for (uint32_t first = 0, count = 0; rc == ERROR_NONE && first < node_count; first += count) {
        count = node_count - first < PIECE_ROWS ? node_count - first : PIECE_ROWS;
        rc = write_piece(source, permutation->to_partition + first, count, piece, &writer, err);
    }
    if (rc == ERROR_NONE)
        rc = npy_writer_finish(&writer, err);
    npy_writer_close(&writer);
    memory_free(piece);
    return rc;
}

static enum error_code open_features(const struct run_folder *folder, struct feature_source **out,
                                     struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    const struct feature_source_config config = {
        .store = folder->store,
        .origin = FEATURES_OF_PARTITION,
        .id = book->id,
        .part_count = book->part_count,
        .book = book->book,
        .tensor = "features",
        .budget_bytes = host_memory_bytes() / 4,
    };
    return feature_source_open(&config, out, err);
}

static enum error_code export_rows(const struct run_folder *folder,
                                   enum error_code (*open)(const struct run_folder *,
                                                           struct feature_source **,
                                                           struct error *),
                                   const char *path, struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    struct node_permutation permutation = {0};
    struct feature_source *source = NULL;
    enum error_code rc = open(folder, &source, err);
    if (rc == ERROR_NONE)
        rc = node_permutation_get(folder->store, book->id, book->node_count, &permutation, err);
    if (rc == ERROR_NONE)
        rc = write_rows(source, &permutation, path, err);
    store_release_record(&permutation.view);
    feature_source_close(source);
    return rc;
}

enum error_code export_logits(const struct run_folder *folder, const char *path, struct error *err)
{
    return export_rows(folder, open_last_layer, path, err);
}

enum error_code export_features(const struct run_folder *folder, const char *path,
                                struct error *err)
{
    return export_rows(folder, open_features, path, err);
}
