#include "stages/infer/rows/input_rows.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/nn/sparse_optimizer.h"
#include "stages/infer/rows/layer_shard.h"
#include "stages/plan/model/embedding_shards.h"
#include "stages/plan/model/run_model.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"
#include "store/records/round/embedding_rows.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS_AT_ONCE = 1024 };

/* The sealed rows of one shard that has nodes of the part. */
struct shard_rows {
    struct embedding_shard nodes;
    struct embedding_rows seal;
    uint64_t at; /* next row of the seal */
};

struct input { /* the input of the nodes of one type; {0} may be released */
    const struct stage_context *context;
    const struct embedding_tensor *tensor;
    uint32_t feature_dim, width;
    uint32_t *book;                  /* [part_count + 1]: type_ranges_book() */
    struct feature_source *features; /* NULL: the model reads none */
    struct shard_rows *shard;        /* [tensor->shard_count] */
    /* shard of the previous node; if shards are by hash, the next node is in the next shard */
    int32_t newest;
    float *row;     /* [ROWS_AT_ONCE, feature_dim + width] */
    float *feature; /* [ROWS_AT_ONCE, feature_dim] */
};

static void release_input(struct input *in)
{
    for (int32_t s = in->tensor->shard_count - 1; in->shard && s >= 0; s--)
        store_release_record(&in->shard[s].seal.view);
    memory_free(in->shard);
    memory_free(in->book);
    feature_source_close(in->features);
    memory_free(in->row);
    memory_free(in->feature);
}

static enum error_code open_features(struct input *in, struct error *err)
{
    const struct stage_context *context = in->context;
    const struct feature_source_config config = {.store = context->store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = context->book->id,
                                                 .node_type = in->tensor->type,
                                                 .part_count = context->book->part_count,
                                                 .book = in->book,
                                                 .tensor = "features",
                                                 .budget_bytes = context->memory_bytes / 2,
                                                 .sharers = context->sharers,
                                                 .pool = context->pool};
    return in->feature_dim ? feature_source_open(&config, &in->features, err) : ERROR_NONE;
}

/* Opens a shard. `number` is its place among the shards of the tensor. */
static enum error_code open_shard(struct input *in, int64_t version, int32_t number, int part,
                                  struct error *err)
{
    const struct stage_context *context = in->context;
    const int32_t shard = in->tensor->first_shard + number;
    struct shard_rows *rows = &in->shard[number];
    rows->nodes = embedding_shard_of(&context->schedule->embeddings, context->book, shard);
    if (rows->nodes.first >= in->book[part + 1] || rows->nodes.end <= in->book[part])
        return ERROR_NONE;
    const enum error_code rc =
        embedding_rows_get(context->store, context->run_id, version, shard, &rows->seal, err);
    if (rc == ERROR_NONE && rows->seal.width != in->width)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: rows of %" PRIu32 " values, expected %" PRIu32,
                         rows->seal.view.key, rows->seal.width, in->width);
    return rc;
}

static enum error_code open_input(struct input *in, int64_t version, int part, struct error *err)
{
    const struct stage_context *context = in->context;
    const struct type_ranges ranges = partition_book_ranges(context->book);
    const int32_t shard_count = in->tensor->shard_count;
    in->feature_dim = run_model_type_dim(context->settings, context->book, in->tensor->type);
    in->width = in->tensor->width;
    enum error_code rc =
        memory_new(&in->book, (size_t)ranges.part_count + 1, "the ranges of a node type", err);
    if (rc == ERROR_NONE)
        type_ranges_book(&ranges, in->tensor->type, in->book);
    if (rc == ERROR_NONE)
        rc = memory_new(&in->shard, (size_t)shard_count, "shards of embeddings", err);
    for (int32_t s = 0; s < shard_count && rc == ERROR_NONE; s++)
        rc = open_shard(in, version, s, part, err);
    if (rc == ERROR_NONE)
        rc = open_features(in, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&in->row, (size_t)ROWS_AT_ONCE * (in->feature_dim + in->width),
                        "input rows", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&in->feature, (size_t)ROWS_AT_ONCE * in->feature_dim, "feature rows", err);
    return rc;
}

/* Returns the sealed row of a node, from the one shard that has the node; NULL if the row never
 * changed. Nodes must come in ascending order. */
static const float *sealed_row(struct input *in, uint32_t node)
{
    while (!embedding_shard_has(&in->shard[in->newest].nodes, node))
        in->newest = (in->newest + 1) % in->tensor->shard_count;
    struct shard_rows *rows = &in->shard[in->newest];
    while (rows->at < rows->seal.count && rows->seal.node[rows->at] < node)
        rows->at++;
    return rows->at < rows->seal.count && rows->seal.node[rows->at] == node
               ? rows->seal.value + rows->at * in->width
               : NULL;
}

static void learnt_row(struct input *in, uint32_t node, float *out)
{
    const float *row = sealed_row(in, node);
    if (row)
        memcpy(out, row, in->width * sizeof *out);
    else
        sparse_first_values(in->context->schedule->seed, in->tensor->type, node, in->width, out);
}

/* Joins the rows of nodes first .. end - 1 in in->row. */
static enum error_code join_rows(struct input *in, uint32_t first, uint32_t end, struct error *err)
{
    const size_t dim = in->feature_dim + (size_t)in->width;
    const uint32_t count = end - first;
    uint32_t node[ROWS_AT_ONCE];
    struct feature_rows rows = {0};
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; i < count; i++)
        node[i] = first + i;
    if (in->features)
        rc = feature_source_fetch(in->features, node, count, &rows, err);
    if (rc == ERROR_NONE && in->features)
        feature_rows_copy(&rows, count, in->feature);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        float *out = in->row + i * dim;
        memcpy(out, in->feature + (size_t)i * in->feature_dim, in->feature_dim * sizeof *out);
        learnt_row(in, node[i], out + in->feature_dim);
    }
    return rc;
}

static enum error_code write_rows(struct input *in, int part, struct feature_shard_writer *writer,
                                  struct error *err)
{
    const uint32_t *book = in->book;
    struct tensor_spec tensor = {.type = TENSOR_F32,
                                 .dim = in->feature_dim + in->width,
                                 .row_count = book[part + 1] - book[part]};
    layer_tensor_of_type(in->tensor->type, tensor.name);
    enum error_code rc = feature_shard_writer_begin(writer, &tensor, err);
    for (uint32_t first = book[part], end = 0; rc == ERROR_NONE && first < book[part + 1];
         first = end) {
        end = book[part + 1] - first < ROWS_AT_ONCE ? book[part + 1] : first + ROWS_AT_ONCE;
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        rc = join_rows(in, first, end, err);
        if (rc == ERROR_NONE)
            rc = feature_shard_writer_add(writer, in->row, end - first, err);
    }
    return rc;
}

struct part_of_input {
    const struct stage_context *context;
    int64_t version;
    int part;
};

/* Writes a tensor for each type that has learnable rows. */
static enum error_code write_types(void *opaque, struct feature_shard_writer *writer,
                                   struct error *err)
{
    const struct part_of_input *of = opaque;
    const struct embedding_tensors *tensors = &of->context->schedule->embeddings;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < tensors->count && rc == ERROR_NONE; i++) {
        struct input in = {.context = of->context, .tensor = &tensors->tensor[i]};
        rc = open_input(&in, of->version, of->part, err);
        if (rc == ERROR_NONE)
            rc = write_rows(&in, of->part, writer, err);
        release_input(&in);
    }
    return rc;
}

enum error_code input_rows_run(const struct stage_context *context,
                               const struct weights_identity *identity, int part, struct error *err)
{
    struct part_of_input of = {context, identity->version, part};
    return layer_shard_write(context, identity, 0, part, write_types, &of, err);
}
