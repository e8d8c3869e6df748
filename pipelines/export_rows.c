/* Rows of all nodes, from shards in the order of the partition to one array in that of the input. */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/formats/npy.h"
#include "pipelines/export_arrays.h"
#include "stages/plan/chain.h"
#include "stages/plan/run_model.h"
#include "store/features/feature_source.h"
#include "store/records/node_permutation.h"
#include "store/records/snapshot.h"

#include <string.h>

enum { PIECE_ROWS = 4096 };

/* Rows of a layer of inference: `layer` may be 0 with learnable embeddings. */
static enum error_code open_layer(const struct run_folder *folder, int layer,
                                  struct feature_source **out, struct error *err)
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
        .layer = layer,
        .weights = &identity,
        .part_count = run->book.part_count,
        .book = run->book.book,
        .tensor = layer_tensor,
        .budget_bytes = host_memory_bytes() / 4,
    };
    return feature_source_open(&config, out, err);
}

static enum error_code open_last_layer(const struct run_folder *folder, struct feature_source **out,
                                       struct error *err)
{
    if (folder->run.schedule.infers_some)
        return error_set(
            err, ERROR_INVALID,
            "run %s is inference of some nodes, which keeps no rows beside its outputs",
            folder->run.plan.id);
    return open_layer(folder, folder->run.schedule.layer_count, out, err);
}

static enum error_code open_input(const struct run_folder *folder, struct feature_source **out,
                                  struct error *err)
{
    if (folder->run.schedule.embedding_shards == 0)
        return error_set(err, ERROR_INVALID,
                         "run %s has no learnable embedding: train-step.embedding is 0",
                         folder->run.plan.id);
    return open_layer(folder, 0, out, err);
}

/* The columns from `first_column` on. */
static enum error_code write_piece(struct feature_source *source, const uint32_t *node,
                                   size_t count, uint32_t first_column, float *piece,
                                   struct npy_writer *writer, struct error *err)
{
    struct feature_rows rows = {0};
    const enum error_code rc = feature_source_fetch(source, node, count, &rows, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t dim = rows.dim - first_column;
    for (size_t i = 0; i < count; i++)
        memcpy(piece + i * dim, feature_row(&rows, i) + first_column, dim * sizeof *piece);
    return npy_writer_add(writer, piece, count * dim, err);
}

static enum error_code write_rows(struct feature_source *source,
                                  const struct node_permutation *permutation, uint32_t first_column,
                                  const char *path, struct error *err)
{
    const uint32_t dim = feature_source_dim(source) - first_column,
                   node_count = permutation->node_count;
    struct npy_writer writer = {0};
    float *piece = NULL;
    enum error_code rc = memory_new(&piece, (size_t)PIECE_ROWS * dim, "a piece of rows", err);
    if (rc == ERROR_NONE)
        rc = npy_writer_open(&writer, path, NPY_F32, node_count, dim, err);
    for (uint32_t first = 0, count = 0; rc == ERROR_NONE && first < node_count; first += count) {
        count = node_count - first < PIECE_ROWS ? node_count - first : PIECE_ROWS;
        rc = write_piece(source, permutation->to_partition + first, count, first_column, piece,
                         &writer, err);
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
                                   uint32_t first_column, const char *path, struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    struct node_permutation permutation = {0};
    struct feature_source *source = NULL;
    enum error_code rc = open(folder, &source, err);
    if (rc == ERROR_NONE)
        rc = node_permutation_get(folder->store, book->id, book->node_count, &permutation, err);
    if (rc == ERROR_NONE)
        rc = write_rows(source, &permutation, first_column, path, err);
    store_release_record(&permutation.view);
    feature_source_close(source);
    return rc;
}

enum error_code export_logits(const struct run_folder *folder, const char *path, struct error *err)
{
    return export_rows(folder, open_last_layer, 0, path, err);
}

enum error_code export_features(const struct run_folder *folder, const char *path,
                                struct error *err)
{
    return export_rows(folder, open_features, 0, path, err);
}

enum error_code export_embedding(const struct run_folder *folder, const char *path,
                                 struct error *err)
{
    const struct run_binding *run = &folder->run;
    return export_rows(folder, open_input, run_model_feature_dim(&run->settings, &run->book), path,
                       err);
}
